/* Who asks, what the simulated cluster says, and which group grows (spec node-groups 8.3 to 8.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "planner/groups/inner.h"
#include "planner/groups/snapshot/snapshot.h"
#include "tests/planner/support_cluster.h"

enum { NOW = 1000 * 3600, MOST_GROUPS = 6 };

struct scene {
    struct cluster c;
    struct world *w;
    struct arena a;
    struct node_groups file;
    struct node_group specs[MOST_GROUPS];
    struct group groups[MOST_GROUPS];
    struct group_now now[MOST_GROUPS];
    struct group_flags flags;
    struct group_objects objects;
    struct group_model model;
    struct group_pass out;
    struct group_run r;
};

#define NODE(name_, cpu_, labels_, spec_)                                                                              \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {kubernetes.io/hostname: " name_ labels_     \
    "}}\nspec: {" spec_ "}\nstatus: {capacity: {cpu: \"" cpu_ "\", memory: 16Gi, pods: \"10\"}, allocatable: {cpu: \"" \
    cpu_ "\", memory: 16Gi, pods: \"10\"}}\n"
#define POD(name_, owner_, cpu_, spec_)                                                                                \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: default, uid: " name_                      \
    ", labels: {app: " owner_ "}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " owner_             \
    ", uid: " owner_ ", controller: true}]}\nspec: {" spec_ "containers: [{name: c, resources: {requests: {cpu: \"" cpu_ \
    "\", memory: 1Gi}}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "     \
    "Unschedulable}]}\n"
#define APART                                                                                                          \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "                     \
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}]}}, "
#define SPREAD(key_)                                                                                                   \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key_                                                      \
    ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}], "

static void scene_init(struct scene *s, const char *yaml)
{
    memset(s, 0, sizeof(*s));
    cluster_init(&s->c);
    cluster_add(&s->c, yaml);
    arena_init(&s->a, 0);
    s->flags = group_flags_default();
    struct world_input in = cluster_input(&s->c);
    s->w = world_build(&in);
    s->objects = (struct group_objects){.syms = in.syms, .nodes = in.nodes, .node_count = in.node_count, .pods = in.pods,
                                        .pod_count = in.pod_count};
    s->model = (struct group_model){.file = &s->file, .groups = s->groups};
    s->r = (struct group_run){.world = s->w, .model = &s->model, .flags = &s->flags, .objects = &s->objects, .now = NOW,
                              .arena = &s->a, .groups = s->now, .out = &s->out};
    uint32_t *rows = ARENA_ARRAY(&s->a, uint32_t, in.node_count);
    s->r.owners = ARENA_ARRAY(&s->a, int32_t, in.node_count);
    s->r.templates = ARENA_ARRAY(&s->a, uint64_t, bits_words((uint32_t)in.node_count));
    s->r.upcoming = ARENA_ARRAY(&s->a, uint64_t, bits_words((uint32_t)in.node_count));
    s->out.decisions = ARENA_ARRAY(&s->a, struct group_decision, 2 * MOST_GROUPS);
    for (uint32_t row = 0; row < in.node_count; row++) {
        s->r.owners[row] = -1;
        if (!span_has_prefix(world_node_at(s->w, row)->name, SPAN("template-")))
            rows[s->r.row_count++] = row;
    }
    s->r.rows = rows;
}

static void scene_release(struct scene *s)
{
    world_free(s->w);
    arena_release(&s->a);
    cluster_release(&s->c);
}

static uint32_t row_of(const struct scene *s, const char *name)
{
    int32_t row = world_find_node(s->w, span_of(name));
    assert_true(row >= 0);
    return (uint32_t)row;
}

/* A group whose template is the Node of that name. */
static void add_group(struct scene *s, const char *name, const char *template, int32_t target, int32_t max)
{
    uint32_t g = s->model.group_count++;
    uint32_t row = row_of(s, template);
    s->specs[g] = (struct node_group){.name = span_of(name), .max = max};
    s->groups[g] = (struct group){.spec = &s->specs[g], .target = target, .scaling = s->flags.scaling,
                                  .template = {.node = world_node_at(s->w, row)->node}};
    s->now[g] = (struct group_now){.group = &s->groups[g], .target = target, .healthy = true,
                                   .template_row = (int32_t)row};
    bits_add(s->r.templates, row);
    s->r.owners[row] = (int32_t)g;
}

static const struct pod *pod_of(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->objects.pod_count; i++)
        if (span_eq(s->objects.pods[i]->meta.name, span_of(name)))
            return s->objects.pods[i];
    fail_msg("no pod %s", name);
    return NULL;
}

static void stand(struct scene *s)
{
    s->r.snapshot = snapshot_create(&s->a, s->w, -10);
    for (uint32_t i = 0; i < s->r.row_count; i++)
        snapshot_add_row(s->r.snapshot, s->r.rows[i]);
}

static const char *refusal(struct scene *s, const char *node, const char *pod)
{
    struct spans why = snapshot_refusal(s->r.snapshot, &s->a, row_of(s, node), snapshot_class_of(s->w, pod_of(s, pod)));
    struct span text = SPAN("");
    for (uint32_t i = 0; i < why.count; i++)
        text = arena_printf(&s->a, "%.*s%s%.*s", SPAN_ARG(text), i == 0 ? "" : "; ", SPAN_ARG(why.items[i]));
    return arena_cstr(&s->a, text);
}

static uint32_t seat(struct scene *s, const char *pod)
{
    struct snapshot_among all = {.but = SNAPSHOT_NONE};
    const struct pod *p = pod_of(s, pod);
    return snapshot_seat(s->r.snapshot, p, snapshot_class_of(s->w, p), &all);
}

static void test_words(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "1", ", zone: a", "") NODE("n2", "8", "", "unschedulable: true")
                       NODE("n3", "8", "", "taints: [{key: k, effect: NoSchedule}]") POD("p1", "a", "2", "")
                           POD("p2", "b", "1", "nodeSelector: {zone: b}, ")
                               POD("p3", "a", "1", SPREAD("zone")) POD("p4", "a", "1", APART));
    stand(&s);
    assert_string_equal(refusal(&s, "n1", "p1"), "Insufficient cpu");
    assert_string_equal(refusal(&s, "n2", "p1"), "node(s) were unschedulable");
    assert_string_equal(refusal(&s, "n3", "p1"), "node(s) had untolerated taint(s)");
    assert_string_equal(refusal(&s, "n1", "p2"), "node(s) didn't match Pod's node affinity/selector");
    assert_string_equal(refusal(&s, "n1", "p3"), "");
    const struct pod *p = pod_of(&s, "p4");
    snapshot_fork(s.r.snapshot);
    snapshot_place(s.r.snapshot, row_of(&s, "n2"), p, snapshot_class_of(s.w, p));
    assert_string_equal(refusal(&s, "n1", "p4"), "");
    snapshot_place(s.r.snapshot, row_of(&s, "n1"), p, snapshot_class_of(s.w, p));
    assert_string_equal(refusal(&s, "n1", "p3"), "Insufficient cpu");
    snapshot_revert(s.r.snapshot);
    assert_string_equal(refusal(&s, "n1", "p4"), "");
    scene_release(&s);
}

#define ON_PORT(name_, port_, ip_, protocol_)                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: default, uid: " name_ "}\nspec: {containers: [{name: c, "  \
    "ports: [{containerPort: 80, hostPort: " port_ ", hostIP: " ip_ ", protocol: " protocol_ "}]}]}\nstatus: {phase: Pending, "      \
    "conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

/* A port of a host is taken for a protocol and an address; 0.0.0.0 is each of them. */
static void test_ports(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "8", "", "") ON_PORT("p", "8080", "10.0.0.1", "TCP") ON_PORT("same", "8080", "10.0.0.1", "TCP")
                       ON_PORT("all", "8080", "0.0.0.0", "TCP") ON_PORT("other", "8080", "10.0.0.2", "TCP")
                           ON_PORT("udp", "8080", "10.0.0.1", "UDP") ON_PORT("next", "8081", "10.0.0.1", "TCP")
                           ON_PORT("usual", "8080", "10.0.0.1", "''"));
    stand(&s);
    const struct pod *p = pod_of(&s, "p");
    const char *taken = "node(s) didn't have free ports for the requested pod ports";
    snapshot_place(s.r.snapshot, row_of(&s, "n1"), p, snapshot_class_of(s.w, p));
    assert_string_equal(refusal(&s, "n1", "same"), taken);
    assert_string_equal(refusal(&s, "n1", "all"), taken);
    assert_string_equal(refusal(&s, "n1", "other"), "");
    assert_string_equal(refusal(&s, "n1", "udp"), "");
    assert_string_equal(refusal(&s, "n1", "next"), "");
    p = pod_of(&s, "all");
    snapshot_unplace(s.r.snapshot, row_of(&s, "n1"), pod_of(&s, "p"));
    snapshot_place(s.r.snapshot, row_of(&s, "n1"), p, snapshot_class_of(s.w, p));
    assert_string_equal(refusal(&s, "n1", "other"), taken);
    assert_string_equal(refusal(&s, "n1", "usual"), taken); /* TCP where nothing is said */
    assert_string_equal(refusal(&s, "n1", "udp"), "");
    scene_release(&s);
}

/* Which taints keep pods off, and which pods tolerate a cordon. */
static void test_taints(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "8", "", "taints: [{key: k, effect: NoExecute}]") NODE("n2", "8", "", "taints: [{key: k, effect: "
                       "PreferNoSchedule}]") NODE("n3", "8", "", "unschedulable: true")
                       POD("p1", "a", "1", "") POD("p2", "b", "1", "tolerations: [{key: k, operator: Exists, effect: NoExecute}], ")
                           POD("p3", "c", "1", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}], "));
    stand(&s);
    assert_string_equal(refusal(&s, "n1", "p1"), "node(s) had untolerated taint(s)");
    assert_string_equal(refusal(&s, "n1", "p2"), "");
    assert_string_equal(refusal(&s, "n2", "p1"), "");
    assert_string_equal(refusal(&s, "n3", "p1"), "node(s) were unschedulable");
    assert_string_equal(refusal(&s, "n3", "p3"), "");
    scene_release(&s);
}

#define TERMS(terms_)                                                                                                  \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" terms_ "]}}}, "
#define TERM(key_, op_, values_) "{matchExpressions: [{key: " key_ ", operator: " op_ ", values: [" values_ "]}]}"
#define BARE(key_, op_) "{matchExpressions: [{key: " key_ ", operator: " op_ "}]}"
#define NAMED(op_, values_) "{matchFields: [{key: metadata.name, operator: " op_ ", values: [" values_ "]}]}"

/* Required node affinity, as kube-scheduler reads it: of node n1 with labels disk=ssd, size=8, none="". */
static void test_node_affinity(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool fits;
    } rows[] = {
        {"", true},
        {TERMS(TERM("disk", "In", "ssd, hdd")), true},
        {TERMS(TERM("disk", "In", "hdd")), false},
        {TERMS(TERM("rack", "In", "r1")), false},
        {TERMS(TERM("disk", "NotIn", "hdd")), true},
        {TERMS(TERM("disk", "NotIn", "ssd")), false},
        {TERMS(TERM("rack", "NotIn", "r1")), true},
        {TERMS(BARE("disk", "Exists")), true},
        {TERMS(BARE("rack", "Exists")), false},
        {TERMS(BARE("disk", "DoesNotExist")), false},
        {TERMS(BARE("rack", "DoesNotExist")), true},
        {TERMS(BARE("none", "Exists")), true},
        {TERMS(TERM("none", "In", "''")), true},
        {TERMS(TERM("none", "NotIn", "''")), false},
        {TERMS(TERM("size", "Gt", "'7'")), true},
        {TERMS(TERM("size", "Gt", "'8'")), false},
        {TERMS(TERM("size", "Lt", "'9'")), true},
        {TERMS(TERM("size", "Lt", "'8'")), false},
        {TERMS(TERM("rack", "Lt", "'8'")), false},
        {TERMS(TERM("disk", "Gt", "'0'")), false},
        {TERMS("{matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: size, operator: In, values: ['8']}]}"), true},
        {TERMS("{matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: size, operator: In, values: ['9']}]}"), false},
        {TERMS(TERM("disk", "In", "hdd") ", " TERM("size", "In", "'8'")), true},
        {TERMS(NAMED("In", "n1")), true},
        {TERMS(NAMED("In", "n2")), false},
        {TERMS(NAMED("NotIn", "n2")), true},
        {TERMS("{matchExpressions: [{key: disk, operator: In, values: [ssd]}], matchFields: [{key: metadata.name, operator: In, "
               "values: [n2]}]}"), false},
        {TERMS("{}"), false},
        {TERMS("{}, " TERM("disk", "In", "ssd")), true},
        {"nodeSelector: {disk: ssd, size: '8'}, ", true},
        {"nodeSelector: {disk: ssd, size: '9'}, ", false},
        {"nodeSelector: {none: ''}, ", true},
        {"nodeSelector: {rack: ''}, ", false},
        {"nodeSelector: {disk: ssd}, " TERMS(TERM("size", "In", "'9'")), false},
        {"nodeSelector: {disk: hdd}, " TERMS(TERM("size", "In", "'8'")), false},
        {"nodeSelector: {disk: ssd}, " TERMS(TERM("size", "In", "'8'")), true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene s;
        struct buf yaml = {0};
        buf_addf(&yaml, "%s", NODE("n1", "8", ", disk: ssd, size: '8', none: ''", ""));
        buf_addf(&yaml, POD("p", "a", "1", "%s"), rows[i].spec);
        buf_add_char(&yaml, '\0');
        scene_init(&s, yaml.ptr);
        stand(&s);
        const char *why = refusal(&s, "n1", "p");
        if ((why[0] == '\0') != rows[i].fits)
            fail_msg("%s: \"%s\"", rows[i].spec, why);
        scene_release(&s);
        buf_release(&yaml);
    }
}

/* Both ways: who wants to be alone, and whoever comes to it. */
static void test_apart(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "8", "", "") NODE("n2", "8", "", "") POD("p1", "a", "1", APART) POD("p2", "a", "1", ""));
    stand(&s);
    const struct pod *p1 = pod_of(&s, "p1"), *p2 = pod_of(&s, "p2");
    snapshot_place(s.r.snapshot, row_of(&s, "n1"), p1, snapshot_class_of(s.w, p1));
    snapshot_place(s.r.snapshot, row_of(&s, "n2"), p2, snapshot_class_of(s.w, p2));
    assert_string_equal(refusal(&s, "n1", "p2"), "node(s) didn't satisfy existing pods anti-affinity rules");
    assert_string_equal(refusal(&s, "n2", "p1"), "node(s) didn't match pod anti-affinity rules");
    snapshot_unplace(s.r.snapshot, row_of(&s, "n2"), p2);
    assert_string_equal(refusal(&s, "n2", "p1"), "");
    scene_release(&s);
}

/* A domain is there while a node stands in it, and no longer. */
static void test_spread_over_what_stands(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "8", ", zone: a", "") NODE("n2", "8", ", zone: b", "") NODE("n3", "8", "", "")
                       POD("p1", "a", "1", SPREAD("zone")) POD("p2", "a", "1", SPREAD("zone")));
    stand(&s);
    const struct pod *p = pod_of(&s, "p1");
    const char *keeps_off = "node(s) didn't match pod topology spread constraints";
    assert_string_equal(refusal(&s, "n3", "p2"),
                        "node(s) didn't match pod topology spread constraints (missing required label)");
    snapshot_place(s.r.snapshot, row_of(&s, "n1"), p, snapshot_class_of(s.w, p));
    assert_string_equal(refusal(&s, "n1", "p2"), keeps_off);
    snapshot_fork(s.r.snapshot);
    snapshot_remove(s.r.snapshot, row_of(&s, "n2"));
    assert_string_equal(refusal(&s, "n1", "p2"), "");
    snapshot_revert(s.r.snapshot);
    assert_string_equal(refusal(&s, "n1", "p2"), keeps_off);
    scene_release(&s);
}

/* Each pod goes to the node behind the one that was found last; a ghost takes nobody. */
static void test_in_turn(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, NODE("n1", "2", "", "") NODE("n2", "2", "", "") NODE("n3", "1", "", "") POD("p1", "a", "1", ""));
    stand(&s);
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n2"));
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n3"));
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n1"));
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n2"));
    snapshot_fork(s.r.snapshot);
    snapshot_ghost(s.r.snapshot, row_of(&s, "n1"));
    assert_int_equal(seat(&s, "p1"), SNAPSHOT_NONE);
    snapshot_revert(s.r.snapshot);
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n1"));
    assert_int_equal(seat(&s, "p1"), SNAPSHOT_NONE);
    snapshot_unplace(s.r.snapshot, row_of(&s, "n3"), pod_of(&s, "p1"));
    assert_int_equal(seat(&s, "p1"), row_of(&s, "n3"));
    scene_release(&s);
}

/* --- scale-up --- */

#define FOUR(pod_, spec_)                                                                                              \
    POD("p1", "a", pod_, spec_) POD("p2", "a", pod_, spec_) POD("p3", "a", pod_, spec_) POD("p4", "a", pod_, spec_)
#define SMALL NODE("template-small", "4", "", "")
#define LARGE NODE("template-large", "16", "", "")

/* "GROUP+DELTA", joined by spaces, behind the options "GROUP:NODES/PODS". */
static const char *scaled(struct scene *s)
{
    struct span text = SPAN("");
    groups_scale_up(&s->r);
    for (uint32_t i = 0; i < s->out.up.option_count; i++) {
        const struct group_option *o = &s->out.up.options[i];
        text = arena_printf(&s->a, "%.*s%.*s:%d/%u ", SPAN_ARG(text), SPAN_ARG(s->specs[o->group].name), o->nodes,
                            o->pod_count);
    }
    for (uint32_t g = 0; g < s->model.group_count; g++)
        if (s->now[g].target != s->groups[g].target)
            text = arena_printf(&s->a, "%.*s%.*s+%d ", SPAN_ARG(text), SPAN_ARG(s->specs[g].name),
                                s->now[g].target - s->groups[g].target);
    return arena_cstr(&s->a, text);
}

static const char *grown(struct scene *s)
{
    groups_pending(&s->r);
    return scaled(s);
}

static const char *left(const struct scene *s)
{
    assert_int_not_equal(s->out.up.left_count, 0);
    struct span text = SPAN("");
    for (uint32_t i = 0; i < s->out.up.left[0].reasons.count; i++)
        text = arena_printf((struct arena *)&s->a, "%.*s%.*s.", SPAN_ARG(text),
                            SPAN_ARG(s->out.up.left[0].reasons.items[i]));
    return arena_cstr((struct arena *)&s->a, text);
}

static void use(struct scene *s, enum expander e)
{
    s->flags.expanders[0] = e;
    s->flags.expander_count = 1;
}

static void test_expanders(void **state)
{
    (void)state;
    static const struct {
        enum expander by;
        const char *want;
    } cases[] = {
        {EXPANDER_LEAST_WASTE, "large:1/4 small:2/4 small+2 "},
        {EXPANDER_LEAST_NODES, "large:1/4 small:2/4 large+1 "},
        {EXPANDER_MOST_PODS, "large:1/4 small:2/4 large+1 "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene s;
        scene_init(&s, SMALL LARGE FOUR("1500m", ""));
        add_group(&s, "large", "template-large", 0, 10);
        add_group(&s, "small", "template-small", 0, 10);
        use(&s, cases[i].by);
        assert_string_equal(grown(&s), cases[i].want);
        scene_release(&s);
    }
}

static void test_price(void **state)
{
    (void)state;
    struct scene s;
    struct resource_price prices[] = {{SYM_CPU, 0.03}, {SYM_MEMORY, 0.004}};
    scene_init(&s, SMALL LARGE FOUR("1500m", ""));
    s.file.pod_prices = (struct resource_prices){prices, COUNT_OF(prices)};
    add_group(&s, "large", "template-large", 0, 10);
    add_group(&s, "small", "template-small", 0, 10);
    s.specs[0].has_price = s.specs[1].has_price = true;
    s.specs[0].price = 0.1;
    s.specs[1].price = 5;
    use(&s, EXPANDER_PRICE);
    assert_string_equal(grown(&s), "large:1/4 small:2/4 large+1 ");
    scene_release(&s);
    scene_init(&s, SMALL FOUR("1500m", ""));
    add_group(&s, "small", "template-small", 0, 10);
    use(&s, EXPANDER_PRICE); /* nobody says what it costs */
    assert_string_equal(grown(&s), "small:2/4 ");
    assert_string_equal(left(&s), "1 expansion options filtered out and no longer considered.");
    scene_release(&s);
}

/* At one price a cluster grows by nodes of the size that the expander prefers for its number of nodes (3.9). */
static void test_price_prefers_a_size(void **state)
{
    static const struct {
        int nodes;
        const char *want;
    } rows[] = {{0, "1"}, {2, "1"}, {3, "2"}, {6, "2"}, {7, "4"}, {20, "4"}, {21, "8"}, {60, "8"}, {61, "16"}, {200, "16"}, {201, "32"}};
    static const char *const sizes[] = {"1", "2", "4", "8", "16", "32"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene s;
        struct buf yaml = {0}, want = {0};
        struct resource_price prices[] = {{SYM_CPU, 0.03}, {SYM_MEMORY, 0.004}};
        for (int k = 0; k < rows[i].nodes; k++)
            buf_addf(&yaml, NODE("full-%d", "0", "", ""), k, k);
        for (size_t k = 0; k < COUNT_OF(sizes); k++)
            buf_addf(&yaml, NODE("template-%s", "%s", "", ""), sizes[k], sizes[k], sizes[k], sizes[k]);
        buf_addf(&yaml, "%s", POD("p", "a", "100m", ""));
        buf_add_char(&yaml, '\0');
        scene_init(&s, yaml.ptr);
        s.file.pod_prices = (struct resource_prices){prices, COUNT_OF(prices)};
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            char template[32];
            snprintf(template, sizeof(template), "template-%s", sizes[k]);
            add_group(&s, sizes[k], template, 0, 1);
            s.specs[k].has_price = true;
            s.specs[k].price = 1;
        }
        use(&s, EXPANDER_PRICE);
        buf_addf(&want, "1:1/1 2:1/1 4:1/1 8:1/1 16:1/1 32:1/1 %s+1 ", rows[i].want);
        const char *got = grown(&s);
        if (!span_eq(span_of(got), buf_span(&want)))
            fail_msg("%d nodes: \"%s\", not \"%.*s\"", rows[i].nodes, got, SPAN_ARG(buf_span(&want)));
        scene_release(&s);
        buf_release(&yaml);
        buf_release(&want);
    }
}

/* Scenario 188: pods that spread over hosts find places on old nodes, too; as upstream counts, those are bought as well. */
static void expect_beside_an_old_node(bool as_upstream, const char *want)
{
    struct scene s;
    scene_init(&s, NODE("old", "3", "", "") SMALL POD("p0", "a", "1", SPREAD("kubernetes.io/hostname"))
                       FOUR("1", SPREAD("kubernetes.io/hostname")));
    add_group(&s, "small", "template-small", 0, 9);
    stand(&s); /* nobody has tried the old node yet */
    s.r.pending = (const struct pod **)s.objects.pods;
    s.r.pending_count = (uint32_t)s.objects.pod_count;
    s.flags.as_upstream = as_upstream;
    assert_string_equal(scaled(&s), want);
    scene_release(&s);
}

static void test_old_nodes_count(void **state)
{
    (void)state;
    expect_beside_an_old_node(true, "small:2/5 small+2 ");
    expect_beside_an_old_node(false, "small:1/5 small+1 ");
}

static void test_max_size_and_limits(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, SMALL FOUR("3", ""));
    add_group(&s, "small", "template-small", 1, 3);
    assert_string_equal(grown(&s), "small:2/2 small+2 ");
    scene_release(&s);
    scene_init(&s, SMALL FOUR("3", ""));
    add_group(&s, "small", "template-small", 0, 9);
    s.flags.cores_max = 13;
    assert_string_equal(grown(&s), "small:4/4 small+3 ");
    scene_release(&s);
    scene_init(&s, SMALL FOUR("3", ""));
    add_group(&s, "small", "template-small", 0, 9);
    s.flags.cores_max = 3;
    assert_string_equal(grown(&s), "");
    assert_string_equal(left(&s), "1 exceeded quota: \"cluster-wide\", resources: cpu.");
    scene_release(&s);
    scene_init(&s, SMALL FOUR("3", ""));
    add_group(&s, "small", "template-small", 0, 9);
    s.flags.max_nodes_per_scale_up = 2;
    assert_string_equal(grown(&s), "small:2/2 small+2 ");
    scene_release(&s);
}

static void test_skipped(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, SMALL LARGE FOUR("30", ""));
    add_group(&s, "large", "template-large", 0, 9);
    add_group(&s, "small", "template-small", 9, 9);
    add_group(&s, "small2", "template-small", 0, 9);
    add_group(&s, "small3", "template-small", 0, 9);
    s.now[2].healthy = false;
    s.now[3].backed_off = true;
    assert_string_equal(grown(&s), "");
    assert_string_equal(left(&s), "1 Insufficient cpu.1 in backoff after failed scale-up.1 max node group size reached."
                                  "1 not ready for scale-up.");
    assert_int_equal(s.out.up.skipped_count, 3);
    scene_release(&s);
}

/* The smaller first, one at a time; a group with other labels keeps out. */
static void test_balanced(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, SMALL NODE("template-other", "4", ", tier: x", "") FOUR("3", ""));
    add_group(&s, "a", "template-small", 2, 9);
    add_group(&s, "b", "template-small", 0, 9);
    add_group(&s, "c", "template-other", 0, 9);
    s.flags.balance_similar = true;
    assert_string_equal(grown(&s), "a:4/4 b:4/4 c:4/4 a+1 b+3 ");
    scene_release(&s);
}

static void test_zero_or_max(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, SMALL FOUR("3", ""));
    add_group(&s, "small", "template-small", 0, 7);
    s.groups[0].scaling.zero_or_max = true;
    assert_string_equal(grown(&s), "small:7/4 small+7 ");
    scene_release(&s);
}

static void test_salvo(void **state)
{
    (void)state;
    for (int salvo = 0; salvo < 2; salvo++) {
        struct scene s;
        scene_init(&s, SMALL LARGE POD("p1", "a", "3", "") POD("p2", "b", "12", "nodeSelector: {kubernetes.io/hostname: x}, ")
                           POD("p3", "c", "3", "") POD("p4", "d", "15", ""));
        add_group(&s, "large", "template-large", 0, 1);
        add_group(&s, "small", "template-small", 0, 9);
        s.flags.salvo = salvo != 0;
        use(&s, EXPANDER_LEAST_WASTE);
        assert_string_equal(grown(&s), salvo ? "large:1/1 small:2/2 large+1 small+2 " : "large:1/1 small:2/2 large+1 ");
        assert_int_equal(s.out.up.triggered_count, salvo ? 3 : 1);
        assert_int_equal(s.out.up.left_count, 1);
        scene_release(&s);
    }
}

/* Who fits what is there or on its way asks for nothing. */
static void test_upcoming(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, SMALL FOUR("2", ""));
    add_group(&s, "small", "template-small", 1, 9);
    s.now[0].upcoming = 1;
    assert_string_equal(grown(&s), "small:1/2 small+1 ");
    assert_int_equal(s.r.pending_count, 2);
    scene_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_apart),
        cmocka_unit_test(test_spread_over_what_stands), cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_expanders),       cmocka_unit_test(test_price),
        cmocka_unit_test(test_price_prefers_a_size), cmocka_unit_test(test_ports),
        cmocka_unit_test(test_taints),          cmocka_unit_test(test_node_affinity), cmocka_unit_test(test_old_nodes_count),
        cmocka_unit_test(test_max_size_and_limits),
        cmocka_unit_test(test_skipped),         cmocka_unit_test(test_balanced),
        cmocka_unit_test(test_zero_or_max),     cmocka_unit_test(test_salvo),
        cmocka_unit_test(test_upcoming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
