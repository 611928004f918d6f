/* Pods that must spread over zones, and groups of one zone each: all of these grow in one pass, and no zone has more than the
 * pods allow. Groups are "a", "b" and "c" of the zones of these names, with nodes of 4 cores; pods ask for 1.5. */
#include "planner/groups/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support_pass.h"

enum { NOON_DAY = 20454 };
#define NOON (NOON_DAY * 24 * MS_HOUR + 12 * MS_HOUR)
#define GROUP_OF(name, max, zone, more)                                                                                \
    "- {name: " name ", minSize: 0, maxSize: " max ", template: {metadata: {labels: {topology.kubernetes.io/zone: " zone  \
    "}}, status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, capacity: {cpu: 4, memory: 16Gi, pods: 110}}}" more "}\n"
#define GROUP(name) GROUP_OF(name, "99", name, "")
#define SPREAD(skew, unsatisfiable)                                                                                    \
    "topologySpreadConstraints: [{maxSkew: " skew ", topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: " unsatisfiable \
    ", labelSelector: {matchLabels: {app: web}}}], "
#define HARD SPREAD("1", "DoNotSchedule")

static void add_pods(struct cluster *c, uint32_t count, const char *spec)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[900];
        snprintf(text, sizeof(text),
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-%03u, namespace: shop, uid: u%u, labels: {app: web}, "
                 "creationTimestamp: '2026-01-01T11:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: "
                 "r, controller: true}]}\nspec: {%scontainers: [{name: c, resources: {requests: {cpu: 1500m}}}]}\nstatus: {phase: "
                 "Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n",
                 i, i, spec);
        cluster_add(c, text);
    }
}

#define NODE_IN(zone, name)                                                                                            \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {topology.kubernetes.io/zone: " zone            \
    ", kubernetes.io/hostname: " name "}}\nspec: {providerID: " name "}\nstatus: {allocatable: {cpu: 1, memory: 16Gi, pods: 110}, "  \
    "capacity: {cpu: 1, memory: 16Gi, pods: 110}, conditions: [{type: Ready, status: 'True'}]}\n"
#define RUNS(name, node)                                                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, uid: " name ", labels: {app: web}}\nspec: {nodeName: "  \
    node ", containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n"

static void as_upstream(struct group_flags *f) { f->as_upstream = true; }
static void five_nodes(struct group_flags *f) { f->max_nodes_total = 5; }
static void twenty_cores(struct group_flags *f) { f->cores_max = 20; }
static void six_nodes(struct group_flags *f) { f->max_nodes_total = 6; }
static void three_at_once(struct group_flags *f) { f->max_nodes_per_scale_up = 3; }
static void twelve_cores(struct group_flags *f) { f->cores_max = 12; }

#define ABC GROUP("a") GROUP("b") GROUP("c")
#define ZONED(zone) "nodeSelector: {topology.kubernetes.io/zone: " zone "}, "

/* want: how each group grows, and, in brackets, how many pods have a place on it; then how many have none. */
static const struct {
    const char *label, *groups, *objects, *spec;
    uint32_t pods;
    void (*set)(struct group_flags *f);
    const char *want;
} cases[] = {
    {"three each, two a node", ABC, "", HARD, 9, NULL, "a+2[3] b+2[3] c+2[3] 0"},
    {"as upstream, all in one zone", ABC, "", HARD, 9, as_upstream, "a+5[9] 0"},
    {"who need not spread stays together", ABC, "", "", 9, NULL, "a+5[9] 0"},
    {"nor who would like to", ABC, "", SPREAD("1", "ScheduleAnyway"), 9, NULL, "a+5[9] 0"},
    {"one more in one zone", ABC, "", SPREAD("2", "DoNotSchedule"), 7, NULL, "a+2[3] b+1[2] c+1[2] 0"},
    {"where two have pods already the third", ABC, NODE_IN("a", "n1") NODE_IN("b", "n2") RUNS("p", "n1") RUNS("q", "n2"), HARD, 1, NULL,
     "c+1[1] 0"},
    {"a zone that is full holds up all but one more of each other", GROUP_OF("a", "1", "a", "") GROUP("b") GROUP("c"), "", HARD, 20, NULL,
     "a+1[2] b+2[3] c+2[3] 12"},
    {"a zone that is behind catches up, and then all grow", ABC, NODE_IN("a", "n1") NODE_IN("b", "n2") RUNS("p", "n1") RUNS("q", "n2"), HARD,
     4, NULL, "a+1[1] b+1[1] c+1[2] 0"},
    {"a zone that cannot grow is none", GROUP_OF("a", "0", "a", "") GROUP("b") GROUP("c"), "", HARD, 8, NULL, "b+2[4] c+2[4] 0"},
    {"a larger machine is another choice", GROUP("a") GROUP("b")
         "- {name: c, minSize: 0, maxSize: 99, template: {metadata: {labels: {topology.kubernetes.io/zone: c}}, status: {allocatable: "
         "{cpu: 16, memory: 64Gi, pods: 110}, capacity: {cpu: 16, memory: 64Gi, pods: 110}}}}\n",
     "", HARD, 8, NULL, "a+2[4] b+2[4] 0"},
    {"who asks for one zone has it", ABC, "", HARD ZONED("b"), 4, NULL, "b+2[4] 0"},
    {"six nodes are all that the cluster may have", ABC, "", HARD, 30, six_nodes, "a+2[4] b+2[4] c+2[4] 18"},
    {"no more cores than there may be", ABC, "", HARD, 30, twelve_cores, "a+1[2] b+1[2] c+1[2] 24"},
    {"three nodes in a pass", ABC, "", HARD, 30, three_at_once, "a+1[2] b+1[2] c+1[2] 24"},
    {"where fewer would find cores, one zone", ABC, "", HARD, 30, twenty_cores, "a+5[10] 20"},
    {"where fewer would have a place, one zone", ABC, "", HARD, 30, five_nodes, "a+5[10] 20"},
    {"two groups of one zone are no two zones", GROUP_OF("a", "99", "a", "") GROUP_OF("b", "99", "a", ""), "", HARD, 9, NULL, "a+5[9] 0"},
    {"many", ABC, "", HARD, 300, NULL, "a+50[100] b+50[100] c+50[100] 0"},
};

static struct span tell(struct cluster *c, const struct group_pass *p, uint32_t pods)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < p->decision_count; i++) {
        uint32_t placed = 0;
        for (uint32_t k = 0; k < p->coming_count; k++)
            placed += p->coming[k].group == p->decisions[i].group;
        buf_addf(&b, "%.*s+%d[%u] ", SPAN_ARG(p->model->groups[p->decisions[i].group].spec->name), p->decisions[i].delta, placed);
    }
    buf_addf(&b, "%u", pods - p->coming_count);
    struct span out = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return out;
}

static void test_rows(void **state)
{
    (void)state;
    uint32_t failed = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        struct node_groups file = {.gpu_label = SYM_NONE};
        struct group_flags flags = group_flags_default();
        struct world *w;
        struct buf yaml = {0};
        cluster_init(&c);
        cluster_add(&c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
        cluster_add(&c, "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: shop, uid: r}\nspec: {replicas: 9}\n");
        if (*cases[i].objects != '\0')
            cluster_add(&c, cases[i].objects);
        add_pods(&c, cases[i].pods, cases[i].spec);
        buf_addf(&yaml, "groups:\n%s", cases[i].groups);
        pass_read(&c, yaml.ptr, &node_groups_schema, &file);
        if (cases[i].set != NULL)
            cases[i].set(&flags);
        struct group_objects objects = pass_objects(&c);
        const struct group_pass *p = pass_run(&c, &objects, &file, &flags, NOON, &c.arena, &w);
        struct span got = tell(&c, p, cases[i].pods);
        if (!span_eq(got, span_of(cases[i].want))) {
            print_error("%s: %.*s\n", cases[i].label, SPAN_ARG(got));
            failed++;
        }
        world_free(w);
        buf_release(&yaml);
        cluster_release(&c);
    }
    assert_int_equal(failed, 0);
}

/* --- random clusters --- */

enum { ROUNDS = 150, ZONES = 4, PODS = 16, PODS_A_NODE = 2 };

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* Zones of which some have pods already, on nodes that are full. */
static void add_zones(struct cluster *c, struct buf *groups, uint32_t zones, uint32_t *counts)
{
    buf_addf(groups, "groups:\n");
    for (uint32_t z = 0; z < zones; z++) {
        char text[4096];
        buf_addf(groups, "- {name: g%u, minSize: 0, maxSize: 99, template: {metadata: {labels: {topology.kubernetes.io/zone: z%u}}, status: "
                         "{allocatable: {cpu: 4, memory: 16Gi, pods: 110}, capacity: {cpu: 4, memory: 16Gi, pods: 110}}}}\n", z, z);
        counts[z] = draw(2) == 0 ? 0 : draw(5);
        for (uint32_t i = 0; i < counts[z]; i++) {
            snprintf(text, sizeof(text), NODE_IN("z%u", "n%u-%u") RUNS("r%u-%u", "n%u-%u"), z, i, z, z, i, z, i, z, i, z, i, z, i);
            cluster_add(c, text);
        }
    }
}

/* Every pod has a place, no zone that somebody came to has more than the constraint allows, and no node is without a pod. */
static void test_random(void **state)
{
    (void)state;
    for (uint64_t of = 1; of <= ROUNDS; of++) {
        struct cluster c;
        struct node_groups file = {.gpu_label = SYM_NONE};
        struct group_flags flags = group_flags_default();
        struct world *w;
        struct buf groups = {0};
        char spec[400];
        uint32_t counts[ZONES], came[ZONES] = {0}, least = UINT32_MAX;
        seed = of * UINT64_C(0x9e3779b97f4a7c15);
        uint32_t zones = 2 + draw(ZONES - 1), pods = 1 + draw(PODS), skew = 1 + draw(3);
        cluster_init(&c);
        cluster_add(&c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
        add_zones(&c, &groups, zones, counts);
        snprintf(spec, sizeof(spec), SPREAD("%u", "DoNotSchedule"), skew);
        add_pods(&c, pods, spec);
        pass_read(&c, groups.ptr, &node_groups_schema, &file);
        struct group_objects objects = pass_objects(&c);
        const struct group_pass *p = pass_run(&c, &objects, &file, &flags, NOON, &c.arena, &w);
        for (uint32_t i = 0; i < p->coming_count; i++)
            came[p->coming[i].group]++;
        for (uint32_t z = 0; z < zones; z++)
            least = counts[z] + came[z] < least ? counts[z] + came[z] : least;
        if (p->coming_count != pods)
            fail_msg("seed %u: %u of %u pods have a place", (unsigned)of, p->coming_count, pods);
        for (uint32_t i = 0; i < p->decision_count; i++) {
            uint32_t z = p->decisions[i].group;
            if (came[z] != 0 && counts[z] + came[z] > least + skew)
                fail_msg("seed %u: zone %u has %u pods, another %u; maxSkew %u", (unsigned)of, z, counts[z] + came[z], least, skew);
            if ((uint32_t)p->decisions[i].delta != (came[z] + PODS_A_NODE - 1) / PODS_A_NODE)
                fail_msg("seed %u: %d nodes in zone %u for %u pods", (unsigned)of, p->decisions[i].delta, z, came[z]);
        }
        world_free(w);
        buf_release(&groups);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
