/* Default topology spread, by the numbers of the checklist in spec provisioning 6.16. */
#include "planner/pods/default_spread.h"
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define OWNED(name_, labels_, owner_)                                                              \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: shop, labels: {"       \
    labels_ "}, ownerReferences: [" owner_ "]}\nspec: {}\n"
#define BY(version_, kind_, name_)                                                                 \
    "{apiVersion: " version_ ", kind: " kind_ ", name: " name_ ", controller: true}"
#define BESIDE(version_, kind_, name_)                                                             \
    "{apiVersion: " version_ ", kind: " kind_ ", name: " name_ "}"
#define SET(kind_, name_, selector_)                                                               \
    "---\napiVersion: apps/v1\nkind: " kind_ "\nmetadata: {name: " name_                           \
    ", namespace: shop}\nspec: {selector: {" selector_ "}}\n"
#define REPLICATION(name_, selector_)                                                              \
    "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: " name_                    \
    ", namespace: shop}\nspec: {selector: {" selector_ "}}\n"
#define SERVICE_IN(ns_, name_, spec_)                                                              \
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: " name_ ", namespace: " ns_ "}\n"        \
    "spec: {" spec_ "}\n"
#define SERVICE(name_, selector_) SERVICE_IN("shop", name_, "selector: {" selector_ "}")
#define ZONE "topology.kubernetes.io/zone"
#define CONFIG(constraints_) "{podTopologySpread: {defaultConstraints: [" constraints_ "]}}"
#define SOFT_ZONE "{maxSkew: 1, topologyKey: " ZONE ", whenUnsatisfiable: ScheduleAnyway}"
#define HARD_HOST                                                                                  \
    "{maxSkew: 2, minDomains: 3, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: "         \
    "DoNotSchedule, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}"

struct fixture {
    struct cluster cluster;
    struct arena arena;
    struct default_spread_config config;
    struct default_spread spread;
};

static void start(struct fixture *f, const char *config, const char *yaml)
{
    struct err err;
    cluster_init(&f->cluster);
    arena_init(&f->arena, 0);
    if (!default_spread_decode(&f->arena, span_of(config), &f->config, &err))
        fail_msg("%s", err.msg);
    cluster_add(&f->cluster, yaml);
    struct world_input in = cluster_input(&f->cluster);
    default_spread_init(&f->spread, &f->arena, &in, &f->config);
}

static void end(struct fixture *f)
{
    arena_release(&f->arena);
    cluster_release(&f->cluster);
}

static const struct pod *pod_of(const struct fixture *f, const char *name)
{
    const struct cluster_list *l = &f->cluster.kinds[KIND_POD];
    for (size_t i = 0; i < l->count; i++)
        if (span_eq(((const struct pod *)l->items[i])->meta.name, span_of(name)))
            return l->items[i];
    fail_msg("no pod %s", name);
    return NULL;
}

static void put_sym(struct buf *b, const struct fixture *f, sym s)
{
    buf_add(b, sym_text(f->cluster.syms, s));
}

/* "app=web,tier=front; app In [web], x Exists" of the first constraint; "none". */
static struct span selector_text(struct fixture *f, const char *pod)
{
    struct spreads s = default_spread_of(&f->spread, pod_of(f, pod));
    struct buf b = {0};
    if (s.count == 0)
        buf_add(&b, SPAN("none"));
    const struct label_selector *l = s.count != 0 ? &s.items[0].selector : NULL;
    for (uint32_t i = 0; l != NULL && i < l->match_labels.count; i++) {
        buf_add(&b, i != 0 ? SPAN(",") : SPAN(""));
        put_sym(&b, f, l->match_labels.items[i].key);
        buf_add(&b, SPAN("="));
        put_sym(&b, f, l->match_labels.items[i].value);
    }
    for (uint32_t i = 0; l != NULL && i < l->match_expressions.count; i++) {
        const struct expression *e = &l->match_expressions.items[i];
        buf_add(&b, i != 0 ? SPAN(", ") : SPAN("; "));
        put_sym(&b, f, e->key);
        buf_addf(&b, " %s", op_name(e->op));
        for (uint32_t k = 0; k < e->values.count; k++) {
            buf_add(&b, SPAN(" "));
            put_sym(&b, f, e->values.items[k]);
        }
    }
    struct span text = arena_dup(&f->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static void test_selector(void **state) /* 185, 187, 188 */
{
    (void)state;
    static const struct {
        const char *label, *objects, *want;
    } rows[] = {
        {"185: neither owner nor service", OWNED("p", "app: web", ""), "none"},
        {"188: a ReplicaSet's labels and expressions, as they are",
         OWNED("p", "app: web", BY("apps/v1", "ReplicaSet", "web-1"))
             SET("ReplicaSet", "web-1", "matchLabels: {app: web}, matchExpressions: [{key: tier, operator: NotIn, values: [back]}]"),
         "; app In web, tier NotIn back"},
        {"a StatefulSet's", OWNED("p", "app: db", BY("apps/v1", "StatefulSet", "db")) SET("StatefulSet", "db", "matchLabels: {app: db}"),
         "; app In db"},
        {"a ReplicationController's labels", OWNED("p", "app: old", BY("v1", "ReplicationController", "old")) REPLICATION("old", "app: old"),
         "app=old"},
        {"187: a Job's pod with a Service", OWNED("p", "app: web", BY("batch/v1", "Job", "j")) SERVICE("web", "app: web"),
         "app=web"},
        {"187: a Job's pod without", OWNED("p", "app: web", BY("batch/v1", "Job", "j")), "none"},
        {"Service and ReplicaSet beside each other",
         OWNED("p", "app: web, tier: front", BY("apps/v1", "ReplicaSet", "web-1")) SERVICE("web", "tier: front")
             SET("ReplicaSet", "web-1", "matchLabels: {app: web}"),
         "tier=front; app In web"},
        {"188: a ReplicationController overwrites a Service's label",
         OWNED("p", "app: web", BY("v1", "ReplicationController", "old")) SERVICE("web", "app: web") REPLICATION("old", "app: old, x: z"),
         "app=old,x=z"},
        {"all Services that select the pod, the last name's value winning",
         OWNED("p", "app: web, tier: front", "") SERVICE("b", "tier: front") SERVICE("a", "app: web") SERVICE("c", "app: other"),
         "app=web,tier=front"},
        {"188: a Service without selector, and one with an empty one",
         OWNED("p", "app: web", "") SERVICE_IN("shop", "a", "externalName: x") SERVICE("b", ""), "none"},
        {"188: an empty one does not get in another's way",
         OWNED("p", "app: web", "") SERVICE("a", "") SERVICE("b", "app: web"), "app=web"},
        {"a Service that asks for two labels, of which the pod has one",
         OWNED("p", "app: web", "") SERVICE("web", "app: web, tier: front"), "none"},
        {"188: another namespace's Service", OWNED("p", "app: web", "") SERVICE_IN("other", "web", "selector: {app: web}"), "none"},
        {"188: the owner is gone, the Service counts",
         OWNED("p", "app: web", BY("apps/v1", "ReplicaSet", "gone")) SERVICE("web", "app: web"), "app=web"},
        {"188: the owner is gone", OWNED("p", "app: web", BY("apps/v1", "ReplicaSet", "gone")), "none"},
        {"188: an owner that does not control",
         OWNED("p", "app: web", BESIDE("apps/v1", "ReplicaSet", "web-1")) SET("ReplicaSet", "web-1", "matchLabels: {app: web}"),
         "none"},
        {"another group's ReplicaSet is none",
         OWNED("p", "app: web", BY("example.com/v1", "ReplicaSet", "web-1")) SET("ReplicaSet", "web-1", "matchLabels: {app: web}"),
         "none"},
        {"a set that selects by nothing adds nothing",
         OWNED("p", "app: web", BY("apps/v1", "ReplicaSet", "web-1")) SET("ReplicaSet", "web-1", ""), "none"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        start(&f, CONFIG(SOFT_ZONE), rows[i].objects);
        struct span got = selector_text(&f, "p");
        if (!span_eq(got, span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\", want \"%s\"", rows[i].label, SPAN_ARG(got), rows[i].want);
        end(&f);
    }
}

/* 188: what Service and ReplicaSet contradict each other about selects nothing. */
static void test_conflict(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, CONFIG(SOFT_ZONE), OWNED("p", "app: web", BY("apps/v1", "ReplicaSet", "r")) SERVICE("web", "app: web")
                                     SET("ReplicaSet", "r", "matchLabels: {app: other}"));
    struct spreads s = default_spread_of(&f.spread, pod_of(&f, "p"));
    assert_int_equal(s.count, 1);
    assert_false(label_selector_matches(&s.items[0].selector, pod_of(&f, "p")->meta.labels));
    end(&f);
}

static void test_constraints_are_carried(void **state) /* 183, 184 */
{
    (void)state;
    struct fixture f;
    start(&f, CONFIG(SOFT_ZONE ", " HARD_HOST),
          OWNED("p", "app: web", "") SERVICE("web", "app: web")
          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: own, namespace: shop, labels: {app: web}}\n"
          "spec: {topologySpreadConstraints: [{maxSkew: 5, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}\n");
    struct spreads s = default_spread_of(&f.spread, pod_of(&f, "p"));
    assert_int_equal(s.count, 2);
    assert_true(s.items[0].max_skew == 1 && s.items[0].min_domains == 0 && !s.items[0].hard);
    assert_true(s.items[0].topology_key == SYM_ZONE && s.items[0].has_selector);
    assert_false(s.items[0].ignore_affinity || s.items[0].honor_taints);
    assert_true(s.items[1].max_skew == 2 && s.items[1].min_domains == 3 && s.items[1].hard);
    assert_true(s.items[1].ignore_affinity && s.items[1].honor_taints);
    s = default_spread_of(&f.spread, pod_of(&f, "own")); /* its own, and only they */
    assert_true(s.count == 1 && s.items[0].max_skew == 5);
    end(&f);
}

static void test_nothing_configured(void **state) /* 185 */
{
    (void)state;
    static const char *const configs[] = {"", "{}", "# nothing\n", "podTopologySpread:\n",
                                          "podTopologySpread: {defaultConstraints: []}"};
    for (size_t i = 0; i < COUNT_OF(configs); i++) {
        struct fixture f;
        start(&f, configs[i], OWNED("p", "app: web", "") SERVICE("web", "app: web"));
        if (default_spread_of(&f.spread, pod_of(&f, "p")).count != 0)
            fail_msg("\"%s\" gives constraints", configs[i]);
        end(&f);
    }
    struct cluster c;
    struct arena a;
    cluster_init(&c);
    arena_init(&a, 0);
    struct world_input in = cluster_input(&c);
    struct default_spread d;
    struct pod p = {0};
    default_spread_init(&d, &a, &in, NULL);
    assert_int_equal(default_spread_of(&d, &p).count, 0);
    arena_release(&a);
    cluster_release(&c);
}

/* 189: one deduction a workload, another for other labels; what is kept is what a fresh one gives. */
static void test_kept(void **state)
{
    (void)state;
#define RS BY("apps/v1", "ReplicaSet", "r")
    static const char objects[] = SET("ReplicaSet", "r", "matchLabels: {app: web}") SERVICE("web", "tier: front")
        OWNED("a", "app: web, tier: front", RS) OWNED("b", "tier: front, app: web", RS)
        OWNED("c", "app: web, tier: back", RS) OWNED("d", "app: web, tier: front", "");
    struct fixture f;
    start(&f, CONFIG(SOFT_ZONE), objects);
    struct spreads a = default_spread_of(&f.spread, pod_of(&f, "a"));
    assert_ptr_equal(default_spread_of(&f.spread, pod_of(&f, "b")).items, a.items); /* order of labels */
    assert_ptr_not_equal(default_spread_of(&f.spread, pod_of(&f, "c")).items, a.items);
    static const struct {
        const char *pod, *want;
    } rows[] = {{"a", "tier=front; app In web"}, {"b", "tier=front; app In web"}, {"c", "; app In web"},
                {"d", "tier=front"}, {"a", "tier=front; app In web"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span got = selector_text(&f, rows[i].pod);
        if (!span_eq(got, span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\"", rows[i].pod, SPAN_ARG(got));
    }
    end(&f);
}

static void test_configuration_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {CONFIG("{topologyKey: a, whenUnsatisfiable: DoNotSchedule}"),
         "podTopologySpread.defaultConstraints[0].maxSkew: must be greater than 0"},
        {CONFIG(SOFT_ZONE ", {maxSkew: -1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}"),
         "podTopologySpread.defaultConstraints[1].maxSkew: must be greater than 0"},
        {CONFIG("{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}"), "[0].topologyKey: is missing"},
        {CONFIG("{maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: DoNotSchedule}"),
         "[0].topologyKey: is not a label name"},
        {CONFIG("{maxSkew: 1, topologyKey: a}"), "[0].whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway"},
        {CONFIG("{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Maybe}"), "[0].whenUnsatisfiable: must be"},
        {CONFIG("{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"),
         "[0].labelSelector: must not be set"},
        {CONFIG("{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [x]}"),
         "[0].matchLabelKeys: must not be set"},
        {CONFIG(SOFT_ZONE ", " HARD_HOST ", " SOFT_ZONE), "[2]: is [0] again"},
        {"{podTopologySpred: {}}", "podTopologySpred"},
        {"{podTopologySpread: {defaultingType: List}}", "podTopologySpread.defaultingType"},
        {CONFIG("{maxSkw: 1}"), "podTopologySpread.defaultConstraints[0].maxSkw"},
        {CONFIG("{maxSkew: one}"), "podTopologySpread.defaultConstraints[0].maxSkew: \"one\" is not an integer"},
        {"[1]", "list"},
        {"{a", "line "},
        {"{}\n---\n{}\n", "more than one document"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err = {0};
        struct default_spread_config c;
        arena_init(&a, 0);
        if (default_spread_decode(&a, span_of(rows[i].text), &c, &err))
            fail_msg("%s: accepted", rows[i].text);
        if (strstr(err.msg, rows[i].want) == NULL)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].text, err.msg, rows[i].want);
        arena_release(&a);
    }
}

static void test_configuration_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = { /* one in each form; null is absent; the pair tells two apart */
        "podTopologySpread:\n  defaultConstraints:\n  - maxSkew: 1\n    topologyKey: " ZONE
        "\n    whenUnsatisfiable: DoNotSchedule\n    labelSelector: null\n    matchLabelKeys: []\n"
        "  - {maxSkew: 1, topologyKey: " ZONE ", whenUnsatisfiable: ScheduleAnyway}\n",
        "{\"podTopologySpread\": {\"defaultConstraints\": [\n\t{\"maxSkew\": 1, \"topologyKey\": \"" ZONE
        "\", \"whenUnsatisfiable\": \"DoNotSchedule\"},\n\t{\"maxSkew\": 1, \"topologyKey\": \"" ZONE
        "\", \"whenUnsatisfiable\": \"ScheduleAnyway\"}]}}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct arena a;
        struct err err = {0};
        struct default_spread_config c;
        arena_init(&a, 0);
        if (!default_spread_decode(&a, span_of(texts[i]), &c, &err))
            fail_msg("%s: %s", texts[i], err.msg);
        assert_int_equal(c.count, 2);
        assert_true(c.items[0].hard && !c.items[1].hard && c.items[0].max_skew == 1);
        assert_true(span_eq(c.items[1].topology_key, SPAN(ZONE)));
        arena_release(&a);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selector),
        cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_constraints_are_carried),
        cmocka_unit_test(test_nothing_configured),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_configuration_is_checked),
        cmocka_unit_test(test_configuration_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
