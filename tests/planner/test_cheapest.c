/* Cheapest, by hand: what it finds, what it leaves alone, and where it stops. */
#include "support_cluster.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/places.h"

static const char TYPES[] =
    "kind: InstanceTypes\nitems:\n"
    "- {name: lean, resources: {cpu: 4, memory: 8Gi, pods: 110}, offerings: [{zone: z1, capacity: "
    "on-demand, price: 1.0}]}\n"
    "- {name: fat, resources: {cpu: 4, memory: 32Gi, pods: 110}, offerings: [{zone: z1, capacity: "
    "on-demand, price: 1.6}]}\n"
    "- {name: giant, resources: {cpu: 64, memory: 512Gi, pods: 110}, offerings: [{zone: z1, "
    "capacity: on-demand, price: 40.0}]}\n";

static const char POOL[] =
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: "
    "{spec: {requirements: []}}}\n";

static void add_pods(struct cluster *c, const char *name, unsigned count, const char *cpu,
                     const char *memory, int priority)
{
    for (unsigned i = 0; i < count; i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%u}\nspec: {priority: %d, "
                 "containers: [{name: c, resources: {requests: {cpu: %s, memory: %s}}}]}\nstatus: "
                 "{conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n",
                 name, i, priority, cpu, memory);
        cluster_add(c, text);
    }
}

static void add_ruled_pod(struct cluster *c, const char *name, const char *app, const char *cpu,
                          const char *rules)
{
    char text[1024];
    snprintf(text, sizeof(text), "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: %s}}\n"
             "spec: {%s, containers: [{name: c, resources: {requests: {cpu: %s, memory: 1Gi}}}]}\nstatus: "
             "{conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n",
             name, app, rules, cpu);
    cluster_add(c, text);
}

/* Greedy lets one claim grow until only the giant holds it; four small machines cost a fifth. */
static void no_giants(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, TYPES);
    cluster_add(&c, POOL);
    add_pods(&c, "thin", 8, "1", "2Gi", 0);
    add_pods(&c, "thick", 8, "1", "8Gi", 0);
    c.plan_options.search = SEARCH_GREEDY;
    assert_true(cluster_plan(&c)->cost_after > 39);
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_true(fabs(p->cost_after - 5.2) < 1e-9); /* two lean, two fat: that is the bound */
    assert_true(p->complete);
    cluster_release(&c);
}

/* A pool with room for one more node: greedy gives it to the largest pod, cheapest to the dearest. */
static void priority_where_limits_bind(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n- {name: only, resources: {cpu: 4, memory: 8Gi, "
                    "pods: 110}, offerings: [{zone: z1, capacity: on-demand, price: 1.0}]}\n");
    cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"
                    "spec: {limits: {nodes: 1}, template: {spec: {requirements: []}}}\n");
    add_pods(&c, "large", 1, "3", "1Gi", 0);
    add_pods(&c, "urgent", 1, "2", "1Gi", 1000);
    c.plan_options.search = SEARCH_GREEDY;
    cluster_plan(&c);
    assert_non_null(cluster_failed(&c, "urgent-0"));
    c.plan_options.search = SEARCH_CHEAPEST;
    cluster_plan(&c);
    assert_non_null(cluster_failed(&c, "large-0"));
    cluster_release(&c);
}

/* A pool's weight says which is to be used first, whatever it costs. */
static void weight_before_price(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n"
                    "- {name: dear, nodePools: [heavy], resources: {cpu: 4, memory: 8Gi, pods: 110}, "
                    "offerings: [{zone: z1, capacity: on-demand, price: 3.0}]}\n"
                    "- {name: cheap, nodePools: [light], resources: {cpu: 4, memory: 8Gi, pods: 110}, "
                    "offerings: [{zone: z1, capacity: on-demand, price: 1.0}]}\n");
    cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: heavy}\n"
                    "spec: {weight: 10, template: {spec: {requirements: []}}}\n"
                    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: light}\n"
                    "spec: {template: {spec: {requirements: []}}}\n");
    add_pods(&c, "a", 3, "3", "1Gi", 0);
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 3);
    for (uint32_t i = 0; i < p->claim_count; i++)
        assert_true(span_eq(p->claims[i].pool->meta.name, SPAN("heavy")));
    cluster_release(&c);
}

/* A claim counts against the limits what it may still become. Greedy's first claim may become the giant,
 * so there is no room for a second; cheapest promises less and places all. */
static void limits_by_what_is_bought(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, TYPES);
    cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"
                    "spec: {limits: {cpu: 64}, template: {spec: {requirements: []}}}\n");
    add_pods(&c, "a", 16, "4", "4Gi", 0); /* each fills a lean node */
    c.plan_options.search = SEARCH_GREEDY;
    assert_true(cluster_plan(&c)->cost_after > 39);
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_true(fabs(p->cost_after - 16) < 1e-9);
    cluster_release(&c);
}

/* Where the DaemonSet is not, two of the middle pods fill a node; three such nodes hold all. */
static void where_no_daemon_is(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n- {name: only, resources: {cpu: 1, memory: 64Gi, pods: 10}, "
                    "offerings: [{zone: z1, capacity: on-demand, price: 1.32}, {zone: z2, capacity: "
                    "on-demand, price: 0.56}]}\n");
    cluster_add(&c, POOL);
    cluster_add(&c, "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: {}, "
                    "template: {spec: {nodeSelector: {topology.kubernetes.io/zone: z1}, containers: "
                    "[{name: c, resources: {requests: {cpu: 100m}}}]}}}\n");
    add_pods(&c, "large", 1, "900m", "1Gi", 0);
    add_pods(&c, "seven", 1, "700m", "1Gi", 0);
    add_pods(&c, "half", 2, "500m", "1Gi", 0);
    add_pods(&c, "small", 1, "200m", "1Gi", 0);
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_true(fabs(p->cost_after - 3 * 0.56) < 1e-9);
    assert_true(p->lower_bound <= p->cost_after * (1 + 1e-9));
    for (uint32_t i = 0; i < p->claim_count; i++) { /* only who needs it gives up the other zone */
        const struct requirement *zone =
            requirements_get(&p->claims[i].requirements, SYM_ZONE);
        bool needs = p->claims[i].pod_count == 2 && p->claims[i].pods[0]->meta.name.ptr[0] == 'h';
        assert_int_equal(needs, zone != NULL && !zone->complement && zone->count == 1);
    }
    cluster_release(&c);
}

/* Three pods of 4 CPUs: three nodes of 1.0, or one. */
static void fewer_nodes_at_the_same_price(void **state)
{
    (void)state;
    static const struct {
        const char *label, *whole; /* the price of one for all */
        uint32_t nodes;
    } rows[] = {{"the same", "3.0", 1}, {"less", "2.9", 1}, {"0.07 % more", "3.002", 1}, {"0.13 % more", "3.004", 3}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char text[1024];
        cluster_init(&c);
        snprintf(text, sizeof(text), "kind: InstanceTypes\nitems:\n"
                 "- {name: a-third, resources: {cpu: 4, memory: 64Gi, pods: 110}, offerings: [{zone: z1, "
                 "capacity: on-demand, price: 1.0}]}\n"
                 "- {name: whole, resources: {cpu: 12, memory: 64Gi, pods: 110}, offerings: [{zone: z1, "
                 "capacity: on-demand, price: %s}]}\n"
                 "- {name: fat, resources: {cpu: 12, memory: 64Gi, pods: 110}, offerings: [{zone: z1, "
                 "capacity: on-demand, price: 9.0}]}\n", rows[i].whole);
        cluster_add(&c, text);
        cluster_add(&c, POOL);
        add_pods(&c, "a", 3, "3900m", "1Gi", 0);
        c.plan_options.search = SEARCH_CHEAPEST;
        const struct plan *p = cluster_plan(&c);
        double price = rows[i].nodes == 1 ? strtod(rows[i].whole, NULL) : 3;
        if (p->claim_count != rows[i].nodes || fabs(p->cost_after - price) > 1e-9)
            fail_msg("%s: %u nodes for %g", rows[i].label, p->claim_count, p->cost_after);
        cluster_release(&c);
    }
}

#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define TOLERANT "tolerations: [{operator: Exists}]"

/* Two pods, each half of a machine: of the same price, or all but. */
static void preferences_at_the_same_price(void **state)
{
    (void)state;
    static const struct {
        const char *label, *rules;
        const char *whole; /* its price; a half costs 1.1 */
        bool one;          /* is bought */
    } rows[] = {
        {"none", TOLERANT, "2.2", true},
        {"a node of its own", TOLERANT ", affinity: {podAntiAffinity: {" PREFERRED ": [{weight: 1, podAffinityTerm: {topologyKey: "
         "kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}}]}}", "2.2", false},
        {"a zone of its own", TOLERANT ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
         "whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: a}}}]", "2.2", false},
        {"a type", TOLERANT ", affinity: {nodeAffinity: {" PREFERRED ": [{weight: 1, preference: {matchExpressions: [{key: "
         "node.kubernetes.io/instance-type, operator: In, values: [half]}]}}]}}", "2.2", false},
        {"no taint", "priority: 0", "2.2", false},
        {"0.1 % are no price", "priority: 0", "2.199", false},
        {"the price comes first", "priority: 0", "2.197", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char text[1024];
        cluster_init(&c);
        snprintf(text, sizeof(text), "kind: InstanceTypes\nitems:\n"
                 "- {name: half, nodePools: [small], resources: {cpu: 2, memory: 8Gi, pods: 110}, offerings: "
                 "[{zone: z1, capacity: on-demand, price: 1.1}, {zone: z2, capacity: on-demand, price: 1.1}]}\n"
                 "- {name: whole, nodePools: [big], resources: {cpu: 4, memory: 16Gi, pods: 110}, offerings: "
                 "[{zone: z1, capacity: on-demand, price: %s}]}\n", rows[i].whole);
        cluster_add(&c, text);
        cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: small}\nspec: {template: "
                        "{spec: {requirements: []}}}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: "
                        "{name: big}\nspec: {template: {spec: {requirements: [], taints: [{key: dear, effect: "
                        "PreferNoSchedule}]}}}\n");
        add_ruled_pod(&c, "a-0", "a", "1500m", rows[i].rules);
        add_ruled_pod(&c, "a-1", "a", "1500m", rows[i].rules);
        c.plan_options.search = SEARCH_CHEAPEST;
        cluster_plan(&c);
        const char *want = rows[i].one ? "big-1 whole/1: a-0 a-1\n" : "small-1 half/1: a-0\nsmall-2 half/1: a-1\n";
        if (!span_eq(cluster_summary(&c), span_of(want)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(cluster_summary(&c)));
        cluster_release(&c);
    }
}

/* Pods that fill fourteen machines to the last tenth of a CPU, if one finds out how. Machines of a few pods
 * each are filled well only when one pod may give way to another: one after the other takes sixteen. */
static void few_pods_on_a_machine(void **state)
{
    (void)state;
    static const uint8_t tenths[] = {
        35, 24, 21, 34, 24, 22, 22, 26, 32, 30, 25, 25, 28, 27, 25, 29, 29, 22, 31, 21, 28,
        30, 20, 30, 26, 22, 32, 34, 19, 27, 31, 30, 19, 26, 35, 19, 33, 27, 20, 24, 27, 29,
    };
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n- {name: only, resources: {cpu: 8, memory: 64Gi, pods: 110}, "
                    "offerings: [{zone: z1, capacity: on-demand, price: 1.0}]}\n");
    cluster_add(&c, POOL);
    for (size_t i = 0; i < COUNT_OF(tenths); i++) {
        char name[32], cpu[32];
        snprintf(name, sizeof(name), "a%zu", i);
        snprintf(cpu, sizeof(cpu), "%u00m", tenths[i]);
        add_pods(&c, name, 1, cpu, "1Gi", 0);
    }
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_in_range(p->claim_count, 14, 15);
    cluster_release(&c);
}

/* 5,000 pods of as many sizes: default effort ends before the packer's first run does. What it has bought by
 * then counts, greedy places the rest; and with the effort for a whole run it is no dearer. */
static void a_run_that_ends_early(void **state)
{
    (void)state;
    double before = INFINITY;
    for (uint64_t effort = 0; effort <= 2; effort++) {
        struct cluster c;
        cluster_init(&c);
        cluster_add(&c, TYPES);
        cluster_add(&c, POOL);
        for (unsigned i = 0; i < 5000; i++) {
            char name[32], cpu[32];
            snprintf(name, sizeof(name), "a%u", i);
            snprintf(cpu, sizeof(cpu), "%um", 100 + i % 1250);
            add_pods(&c, name, 1, cpu, i % 4 < 2 ? "200Mi" : "6Gi", 0);
        }
        c.plan_options.search = effort == 0 ? SEARCH_GREEDY : SEARCH_CHEAPEST;
        c.plan_options.effort = effort == 2 ? 900000 : 0;
        const struct plan *p = cluster_plan_unchecked(&c);
        assert_int_equal(p->unschedulable_count, 0);
        assert_true(p->complete == (effort == 0));
        assert_true(effort == 1 ? p->cost_after < 0.95 * before : p->cost_after <= before);
        before = p->cost_after;
        cluster_release(&c);
    }
}

static void add_node(struct cluster *c, const char *name, const char *cpu)
{
    char text[256];
    snprintf(text, sizeof(text), "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s}\nspec: {}\n"
             "status: {allocatable: {cpu: %s, memory: 64Gi, pods: 110}}\n", name, cpu);
    cluster_add(c, text);
}

/* --- stopped --- */

/* Fifty pods on a node, one on a new one: what stays where greedy put it counts against the effort, too. */
static void little_effort(void **state)
{
    (void)state;
    uint64_t steps[3];
    for (uint64_t effort = 0; effort < COUNT_OF(steps); effort++) {
        struct cluster c;
        cluster_init(&c);
        cluster_add(&c, TYPES);
        cluster_add(&c, POOL);
        add_node(&c, "n1", "60");
        add_pods(&c, "a", 50, "1", "1Gi", 0);
        add_pods(&c, "large", 1, "61", "1Gi", 0);
        c.plan_options.search = effort == 0 ? SEARCH_GREEDY : SEARCH_CHEAPEST;
        c.plan_options.effort = effort;
        const struct plan *p = cluster_plan(&c);
        assert_int_equal(p->unschedulable_count, 0);
        steps[effort] = p->steps;
        cluster_release(&c);
    }
    assert_in_range(steps[1], steps[0] + 1, steps[0] + 8);
    assert_in_range(steps[2], steps[0] + 2, steps[0] + 8);
}

static bool after_so_many(void *user)
{
    uint32_t *left = user;
    return *left == 0 || --*left == 0;
}

/* Whenever it is stopped: who had no turn is told so, nobody else; and once greedy's plan is there it only
 * gets better. */
static void stopped_early(void **state)
{
    (void)state;
    enum { STEPS = 40 }; /* between two calls, at most; a pod takes one or more */
    double before = INFINITY;
    bool complete = false, cut = false;
    uint32_t without = 300, earlier = 1;
    for (uint32_t calls = 1; !complete; calls = calls < 4 ? calls + 1 : calls * 2) {
        struct cluster c;
        uint32_t left = calls;
        cluster_init(&c);
        cluster_add(&c, TYPES);
        cluster_add(&c, POOL);
        add_pods(&c, "thin", 150, "1", "2Gi", 0);
        add_pods(&c, "thick", 150, "1", "8Gi", 0);
        c.plan_options.search = SEARCH_CHEAPEST;
        c.plan_options.stop = after_so_many;
        c.plan_options.user = &left;
        const struct plan *p = cluster_plan(&c);
        for (uint32_t i = 0; i < p->unschedulable_count; i++)
            assert_int_equal(p->unschedulable[i].reason, UNSCHEDULABLE_NOT_REACHED);
        complete = p->complete;
        cut |= !complete && p->unschedulable_count == 0; /* while it looked for something cheaper */
        assert_true(p->unschedulable_count <= without &&
                    without - p->unschedulable_count <= (calls - earlier) * STEPS);
        without = p->unschedulable_count;
        earlier = calls;
        assert_true(p->unschedulable_count != 0 || p->cost_after <= before);
        before = p->unschedulable_count != 0 ? before : p->cost_after;
        cluster_release(&c);
    }
    assert_true(cut);
    assert_true(fabs(before - 300 / 8.0 * 2.6) < 1); /* half lean, half fat */
}

/* --- groups that must be on one node --- */

/* Pods of an app that must be where others of it are; `on` (NULL: none) has the first one bound. */
static void add_group(struct cluster *c, const char *app, unsigned count, const char *cpu, const char *on)
{
    for (unsigned i = 0; i < count; i++) {
        char text[768];
        snprintf(text, sizeof(text),
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%u, uid: u-%s-%u, labels: {app: %s}}\n"
                 "spec: {%s%s%s affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}, "
                 "containers: [{name: c, resources: {requests: {cpu: %s, memory: 1Gi}}}]}\nstatus: "
                 "{conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n",
                 app, i, app, i, app, i == 0 && on != NULL ? "nodeName: " : "",
                 i == 0 && on != NULL ? on : "", i == 0 && on != NULL ? "," : "", app, cpu);
        cluster_add(c, text);
    }
}

/* First fit would put the first where it alone fits, and leave the others out for good. */
static void a_node_for_the_whole_group(void **state)
{
    (void)state;
    static const struct {
        const char *label, *large; /* CPUs of a second node; NULL: none */
        unsigned count;
        const char *bound, *kept; /* node on which the first is, or on which it has a place */
        const char *summary;
    } rows[] = {
        {"a new one", NULL, 3, NULL, NULL, "default-1 lean/2: g-0 g-1 g-2\n"},
        {"one that stands", "3500m", 3, NULL, NULL, "node n2: g-0 g-1 g-2\n"},
        {"not one that is too small too", "2500m", 3, NULL, NULL, "default-1 lean/2: g-0 g-1 g-2\n"},
        {"a place from before does not tear it", NULL, 3, NULL, "n1", "default-1 lean/2: g-0 g-1 g-2\n"},
        {"one that is bound has decided", NULL, 3, "n1", NULL, "g-1 Unschedulable\ng-2 Unschedulable\n"},
        {"none is large enough", NULL, 5, NULL, NULL,
         "node n1: g-0\ng-1 Unschedulable\ng-2 Unschedulable\ng-3 Unschedulable\ng-4 Unschedulable\n"},
        {"all fit anyway", NULL, 1, NULL, NULL, "node n1: g-0\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_add(&c, TYPES);
        cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: "
                        "{limits: {cpu: 12}, template: {spec: {requirements: []}}}\n");
        add_node(&c, "n1", "1500m");
        if (rows[i].large != NULL)
            add_node(&c, "n2", rows[i].large);
        add_group(&c, "g", rows[i].count, "1", rows[i].bound);
        struct place place = {.uid = SPAN("u-g-0"), .target = SPAN("n1")};
        struct places places = {.items = &place, .count = 1};
        c.plan_options.places = rows[i].kept != NULL ? &places : NULL;
        c.plan_options.search = SEARCH_CHEAPEST;
        cluster_plan(&c);
        if (!span_eq(cluster_summary(&c), span_of(rows[i].summary)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(cluster_summary(&c)));
        cluster_release(&c);
    }
}

/* A node that attaches one volume takes all who share it. */
static void a_volume_for_the_whole_group(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, TYPES);
    cluster_add(&c, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: "
                    "{limits: {nodes: 0}, template: {spec: {requirements: []}}}\n");
    add_node(&c, "n1", "1500m");
    add_node(&c, "n2", "3500m");
    cluster_add(&c, "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n2}\nspec: {drivers: "
                    "[{name: csi.example.com, nodeID: n2, allocatable: {count: 1}}]}\n"
                    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {csi: {driver: "
                    "csi.example.com, volumeHandle: h}}\n"
                    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, annotations: "
                    "{pv.kubernetes.io/bind-completed: \"yes\"}}\nspec: {volumeName: pv}\n");
    for (unsigned i = 0; i < 3; i++) {
        char text[768];
        snprintf(text, sizeof(text),
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {name: g-%u, uid: u-g-%u, labels: {app: g}}\nspec: "
                 "{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                 "kubernetes.io/hostname, labelSelector: {matchLabels: {app: g}}}]}}, volumes: [{name: v, "
                 "persistentVolumeClaim: {claimName: data}}], containers: [{name: c, resources: {requests: {cpu: 1, "
                 "memory: 1Gi}}}]}\nstatus: {conditions: [{type: PodScheduled, status: \"False\", reason: "
                 "Unschedulable}]}\n", i, i);
        cluster_add(&c, text);
    }
    c.plan_options.search = SEARCH_CHEAPEST;
    cluster_plan(&c);
    assert_string_equal(cluster_summary(&c).ptr, "node n2: g-0 g-1 g-2\n");
    cluster_release(&c);
}

/* Two groups, and what is packed around them is still packed well. */
static void groups_beside_a_crowd(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_add(&c, TYPES);
    cluster_add(&c, POOL);
    add_node(&c, "n1", "1500m");
    add_node(&c, "n2", "1500m");
    add_group(&c, "g", 3, "1300m", NULL);
    add_group(&c, "h", 2, "1200m", NULL);
    add_pods(&c, "thin", 8, "1", "2Gi", 0);
    add_pods(&c, "thick", 8, "1", "8Gi", 0);
    c.plan_options.search = SEARCH_GREEDY;
    assert_int_equal(cluster_plan(&c)->unschedulable_count, 3);
    c.plan_options.search = SEARCH_CHEAPEST;
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_true(p->cost_after < 8);
    cluster_release(&c);
}

/* --- spreads that leave somebody out --- */

#define SPREAD(key_, skew_, more_)                                                                 \
    "topologySpreadConstraints: [{topologyKey: " key_ ", maxSkew: " skew_ ", whenUnsatisfiable: "  \
    "DoNotSchedule, labelSelector: {matchLabels: {app: a}}" more_ "}]"
#define ZONE "topology.kubernetes.io/zone"
#define TERM(kind_, key_, app_)                                                                    \
    kind_ ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " key_                \
    ", labelSelector: {matchLabels: {app: " app_ "}}}]}"
#define NEAR(key_, app_) ", affinity: {" TERM("podAffinity", key_, app_) "}"
#define HOST "kubernetes.io/hostname"
#define IN_Z1 ", nodeSelector: {" ZONE ": z1}"

static void add_node_with(struct cluster *c, const char *name, const char *key, const char *value,
                          const char *cpu)
{
    char text[512];
    snprintf(text, sizeof(text), "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {%s"
             ": %s, " HOST ": %s}}\nspec: {}\nstatus: {allocatable: {cpu: %s, memory: 64Gi, pods: 110}}\n",
             name, key, value, name, cpu);
    cluster_add(c, text);
}

/* Two zones to buy in; n1, with so many CPUs, stands in z1, and "other" on it. */
static void open_beside_other(struct cluster *c, const char *cpu)
{
    cluster_init(c);
    cluster_add(c, "kind: InstanceTypes\nitems:\n- {name: lean, resources: {cpu: 4, memory: 8Gi, pods: 110}, "
                   "offerings: [{zone: z1, capacity: on-demand, price: 1.0}, {zone: z2, capacity: "
                   "on-demand, price: 1.0}]}\n");
    cluster_add(c, POOL);
    add_node_with(c, "n1", ZONE, "z1", cpu);
    add_ruled_pod(c, "other", "other", "100m", "nodeName: n1");
}

static void add_three(struct cluster *c, const char *rules)
{
    static const char *const names[] = {"a-0", "a-1", "a-2"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        add_ruled_pod(c, names[i], "a", "1", rules);
}

/* Domains in which no node stands count for a plan as long as something may be bought there, but not for
 * the scheduler: who would be left out by them alone is not. */
static void spread_over_what_stands(void **state)
{
    (void)state;
    static const char beside[] = SPREAD(ZONE, "1", "") NEAR(ZONE, "other");
    /* as beside, and each on a node of its own */
    static const char alone[] = SPREAD(ZONE, "1", "") ", affinity: {" TERM("podAffinity", ZONE, "other") ", "
        TERM("podAntiAffinity", HOST, "a") "}";
    static const char one_node[] = SPREAD(HOST, "2", "") IN_Z1 NEAR(HOST, "a");
    static const struct {
        const char *label, *rules;
        const char *other; /* zone of another node, full but for a little; NULL: none */
        const char *big;   /* rules of a pod that needs a new node; NULL: none */
        const char *summary;
    } rows[] = {
        {"no node in the other zone", beside, NULL, NULL, "node n1: a-0 a-1 a-2\n"},
        {"one there", beside, "z2", NULL, "node n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n"},
        {"one may come there", beside, NULL, "priority: 1",
         "default-1 lean/1: big\nnode n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n"},
        {"one comes elsewhere", beside, NULL, "priority: 1" IN_Z1, "default-1 lean/1: big\nnode n1: a-0 a-1 a-2\n"},
        {"on new nodes in the zone", alone, NULL, NULL, "default-1 lean/1: a-1\ndefault-2 lean/1: a-2\nnode n1: a-0\n"},
        {"not while a node stands in another", alone, "z2", NULL,
         "node n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n"},
        {"fewer zones than are asked for", SPREAD(ZONE, "1", ", minDomains: 2") NEAR(ZONE, "other"), NULL, NULL,
         "node n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n"},
        {"no other node that the pod selects", one_node, "z2", NULL, "node n1: a-0 a-1 a-2\n"},
        {"one", one_node, "z1", NULL, "node n1: a-0 a-1\na-2 Unschedulable\n"},
        {"fewer nodes than are asked for", SPREAD(HOST, "2", ", minDomains: 2") IN_Z1 NEAR(HOST, "a"), NULL, NULL,
         "node n1: a-0 a-1\na-2 Unschedulable\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        open_beside_other(&c, "3500m");
        if (rows[i].other != NULL)
            add_node_with(&c, "n2", ZONE, rows[i].other, "100m");
        if (rows[i].big != NULL)
            add_ruled_pod(&c, "big", "big", "3500m", rows[i].big);
        add_three(&c, rows[i].rules);
        c.plan_options.search = SEARCH_CHEAPEST;
        cluster_plan(&c);
        if (!span_eq(cluster_summary(&c), span_of(rows[i].summary)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(cluster_summary(&c)));
        cluster_release(&c);
    }
}

/* a-2 has its place because no other node stands in z1, b-1 would have one on a new node there. */
static void nobody_is_unseated(void **state)
{
    (void)state;
    static const char together[] = SPREAD(HOST, "2", "") IN_Z1 NEAR(HOST, "a");
    static const char alone[] =
        "topologySpreadConstraints: [{topologyKey: " ZONE ", maxSkew: 1, whenUnsatisfiable: DoNotSchedule, "
        "labelSelector: {matchLabels: {app: b}}}], affinity: {" TERM("podAffinity", ZONE, "other") ", "
        TERM("podAntiAffinity", HOST, "b") "}";
    struct cluster c;
    open_beside_other(&c, "3800m");
    add_three(&c, together);
    add_ruled_pod(&c, "b-0", "b", "200m", alone);
    add_ruled_pod(&c, "b-1", "b", "200m", alone);
    c.plan_options.search = SEARCH_CHEAPEST;
    cluster_plan(&c);
    if (!span_eq(cluster_summary(&c), SPAN("node n1: a-0 a-1 b-0 a-2\nb-1 Unschedulable\n")))
        fail_msg("%.*s", SPAN_ARG(cluster_summary(&c)));
    cluster_release(&c);
}

#define RACK "example.com/rack"
#define THREE "operator: In, values: [r1, r2, r3]"
#define IN_RACK(rack_) ", nodeSelector: {" RACK ": " rack_ "}"

static sym rack_with(const struct cluster *c, const char *pod)
{
    sym key = sym_find(c->syms, SPAN(RACK));
    for (uint32_t i = 0; i < c->plan->claim_count; i++)
        for (uint32_t k = 0; k < c->plan->claims[i].pod_count; k++)
            if (span_eq(c->plan->claims[i].pods[k]->meta.name, span_of(pod)))
                return sym_pairs_get(c->plan->claims[i].labels, key);
    return SYM_NONE;
}

/* A custom label that a claim leaves open is written by the plan: the scheduler will see one value, not any.
 * So a claim is in the way of a spread only where it will be, and where is chosen so that it is not. */
static void labels_that_claims_leave_open(void **state)
{
    (void)state;
    static const char together[] = SPREAD(RACK, "1", "") NEAR(HOST, "a");
    static const char beside[] = SPREAD(RACK, "1", "") NEAR(HOST, "other");
    static const struct {
        const char *label, *rules, *big; /* rules of a pod on another new node */
        const char *node;                /* rack of a node with the pod "other"; NULL: none */
        const char *pool;                /* what it says of racks */
        const char *summary, *rack;      /* of big's node */
    } rows[] = {
        {"together", together, "priority: 1", NULL, THREE, "default-1 lean/1: big\ndefault-2 lean/1: a-0 a-1 a-2\n", "r1"},
        {"another in a rack of its own", together, "priority: 1" IN_RACK("r2"), NULL, THREE,
         "default-1 lean/1: big\ndefault-2 lean/1: a-0\na-1 Unschedulable\na-2 Unschedulable\n", "r2"},
        {"where their rack is given", beside, "priority: 1", "r2", THREE,
         "default-1 lean/1: big\nnode n1: a-0 a-1 a-2\n", "r2"},
        {"in a rack that nobody buys", beside, "priority: 1", "r4", THREE,
         "default-1 lean/1: big\nnode n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n", "r1"},
        {"any rack", beside, "priority: 1", "r4", "operator: Exists",
         "default-1 lean/1: big\nnode n1: a-0 a-1 a-2\n", "r4"},
        {"any rack but theirs", beside, "priority: 1", "r4", "operator: NotIn, values: [r4]",
         "default-1 lean/1: big\nnode n1: a-0\na-1 Unschedulable\na-2 Unschedulable\n", "0"},
        {"with somebody in any rack", "priority: 0" NEAR(RACK, "other"), "priority: 1" NEAR(RACK, "other"), "r4",
         "operator: Exists", "default-1 lean/1: big\nnode n1: a-0 a-1 a-2\n", "r4"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char pool[256];
        snprintf(pool, sizeof(pool), "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"
                 "spec: {template: {spec: {requirements: [{key: " RACK ", %s}]}}}\n", rows[i].pool);
        cluster_init(&c);
        cluster_add(&c, "kind: InstanceTypes\nitems:\n- {name: lean, resources: {cpu: 4, memory: 8Gi, pods: 110}, "
                        "offerings: [{zone: z1, capacity: on-demand, price: 1.0}]}\n");
        cluster_add(&c, pool);
        if (rows[i].node != NULL) {
            add_node_with(&c, "n1", RACK, rows[i].node, "3500m");
            add_ruled_pod(&c, "other", "other", "100m", "nodeName: n1");
        }
        add_ruled_pod(&c, "big", "big", "3500m", rows[i].big);
        add_three(&c, rows[i].rules);
        c.plan_options.search = SEARCH_CHEAPEST;
        cluster_plan(&c);
        if (!span_eq(cluster_summary(&c), span_of(rows[i].summary)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(cluster_summary(&c)));
        if (!span_eq(sym_text(c.plan->syms, rack_with(&c, "big")), span_of(rows[i].rack)))
            fail_msg("%s: big's node is elsewhere", rows[i].label);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_giants),
                                       cmocka_unit_test(priority_where_limits_bind),
                                       cmocka_unit_test(weight_before_price),
                                       cmocka_unit_test(limits_by_what_is_bought),
                                       cmocka_unit_test(where_no_daemon_is),
                                       cmocka_unit_test(fewer_nodes_at_the_same_price),
                                       cmocka_unit_test(preferences_at_the_same_price),
                                       cmocka_unit_test(few_pods_on_a_machine),
                                       cmocka_unit_test(a_run_that_ends_early),
                                       cmocka_unit_test(little_effort),
                                       cmocka_unit_test(stopped_early),
                                       cmocka_unit_test(a_node_for_the_whole_group),
                                       cmocka_unit_test(a_volume_for_the_whole_group),
                                       cmocka_unit_test(groups_beside_a_crowd),
                                       cmocka_unit_test(spread_over_what_stands),
                                       cmocka_unit_test(nobody_is_unseated),
                                       cmocka_unit_test(labels_that_claims_leave_open)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
