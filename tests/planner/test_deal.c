/* Pods that spread: how many go to each domain is decided before machines are filled, so that a rule about numbers
 * costs what it must and no more. */
#include "support_cluster.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ZONE "topology.kubernetes.io/zone"
#define CAPACITY "karpenter.sh/capacity-type"

/* Lean holds four thin pods, fat four heavy ones. */
static const char TYPES[] =
    "kind: InstanceTypes\nitems:\n"
    "- {name: lean, resources: {cpu: 4, memory: 8Gi, pods: 110}, offerings: [{zone: z1, capacity: on-demand, "
    "price: 1.0}, {zone: z2, capacity: on-demand, price: 1.0}, {zone: z3, capacity: on-demand, price: 1.0}]}\n"
    "- {name: fat, resources: {cpu: 4, memory: 32Gi, pods: 110}, offerings: [{zone: z1, capacity: on-demand, "
    "price: 1.6}, {zone: z2, capacity: on-demand, price: 1.6}, {zone: z3, capacity: on-demand, price: 1.6}]}\n"
    "- {name: giant, resources: {cpu: 16, memory: 128Gi, pods: 110}, offerings: [{zone: z1, capacity: on-demand, "
    "price: 7.0}, {zone: z2, capacity: on-demand, price: 7.0}, {zone: z3, capacity: on-demand, price: 7.0}]}\n";

static const char TWO_KINDS[] =
    "kind: InstanceTypes\nitems:\n"
    "- {name: small, resources: {cpu: 4, memory: 16Gi, pods: 110}, offerings: [{zone: z1, capacity: on-demand, "
    "price: 1.0}, {zone: z1, capacity: spot, price: 0.3}, {zone: z2, capacity: on-demand, price: 1.0}, {zone: z2, "
    "capacity: spot, price: 0.3}]}\n";

static const char POOL[] =
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: "
    "{spec: {requirements: []}}}\n";

struct workload {
    const char *app;
    unsigned pods;
    const char *cpu, *memory;
};

static void add_workload(struct cluster *c, struct workload w, const char *key, int skew, const char *key2)
{
    for (unsigned i = 0; i < w.pods; i++) {
        struct buf b = {0};
        buf_addf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%02u, labels: {app: %s}}\nspec: {"
                     "containers: [{name: c, resources: {requests: {cpu: %s, memory: %s}}}]", w.app, i, w.app, w.cpu,
                 w.memory);
        const char *keys[] = {key, key2};
        if (key != NULL)
            buf_addf(&b, ", topologySpreadConstraints: [");
        for (unsigned k = 0; k < 2 && keys[k] != NULL; k++)
            buf_addf(&b, "%s{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: "
                         "{matchLabels: {app: %s}}}", k != 0 ? ", " : "", skew, keys[k], w.app);
        buf_addf(&b, "%s}\nstatus: {conditions: [{type: PodScheduled, status: \"False\", reason: "
                     "Unschedulable}]}\n", key != NULL ? "]" : "");
        cluster_add(c, b.ptr);
        buf_release(&b);
    }
}

static void begin(struct cluster *c, const char *types, const char *pools)
{
    cluster_init(c);
    c->plan_options.search = SEARCH_CHEAPEST;
    cluster_add(c, types);
    if (pools[0] != 0)
        cluster_add(c, pools);
}

static void assert_price(double got, double want)
{
    if (fabs(got - want) > 1e-9)
        fail_msg("price %.6g, not %.6g", got, want);
}

/* Pods on claims that are in this domain. */
static unsigned pods_in(const struct plan *p, const char *key, const char *value)
{
    unsigned pods = 0;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct requirement *r =
            requirements_get(&p->claims[i].requirements, sym_find(p->syms, span_of(key)));
        if (r != NULL && !r->complement && r->count == 1 &&
            span_eq(sym_text(p->syms, r->values[0]), span_of(value)))
            pods += p->claims[i].pod_count;
    }
    return pods;
}

/* A machine of each kind a zone, all full: what the same pods cost that do not spread. */
static void zones_cost_nothing(void **state)
{
    (void)state;
    for (int skew = 1; skew <= 3; skew += 2)
        for (int spread = 0; spread <= 1; spread++) {
            struct cluster c;
            begin(&c, TYPES, POOL);
            add_workload(&c, (struct workload){"thin", 12, "900m", "1500Mi"}, spread ? ZONE : NULL, skew, NULL);
            add_workload(&c, (struct workload){"heavy", 12, "900m", "7500Mi"}, spread ? ZONE : NULL, skew, NULL);
            const struct plan *p = cluster_plan(&c);
            assert_int_equal(p->unschedulable_count, 0);
            assert_price(p->cost_after, 3 * 1.0 + 3 * 1.6);
            assert_true(p->complete);
            cluster_release(&c);
        }
}

/* Of twelve pods, six have to be on demand at maxSkew 1, and four at maxSkew 4. The bound knows it. */
static void the_cheap_side_first(void **state)
{
    (void)state;
    static const struct { int skew; unsigned on_demand; double price; } rows[] =
        {{1, 6, 2 * 1.0 + 2 * 0.3}, {4, 4, 1.0 + 2 * 0.3}, {12, 0, 3 * 0.3}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        begin(&c, TWO_KINDS, POOL);
        add_workload(&c, (struct workload){"web", 12, "900m", "1Gi"}, CAPACITY, rows[i].skew, NULL);
        const struct plan *p = cluster_plan(&c);
        assert_int_equal(p->unschedulable_count, 0);
        assert_price(p->cost_after, rows[i].price);
        assert_int_equal(pods_in(p, CAPACITY, "on-demand"), rows[i].on_demand);
        assert_int_equal(pods_in(p, CAPACITY, "spot"), 12 - rows[i].on_demand);
        assert_true(p->lower_bound >= 0.9 / 4 * (rows[i].on_demand * 1.0 + (12 - rows[i].on_demand) * 0.3) - 1e-3);
        cluster_release(&c);
    }
}

/* By zone and by capacity type: two full machines of each. */
static void two_keys(void **state)
{
    (void)state;
    struct cluster c;
    begin(&c, TWO_KINDS, POOL);
    add_workload(&c, (struct workload){"a", 8, "900m", "1Gi"}, ZONE, 1, CAPACITY);
    add_workload(&c, (struct workload){"b", 8, "900m", "1Gi"}, ZONE, 1, CAPACITY);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_price(p->cost_after, 2 * 1.0 + 2 * 0.3);
    assert_int_equal(pods_in(p, ZONE, "z1"), 8);
    assert_int_equal(pods_in(p, CAPACITY, "spot"), 8);
    cluster_release(&c);
}

/* A label that the NodeClaim gets: two racks, of either pool. */
static void a_label_of_the_pool(void **state)
{
    (void)state;
    struct cluster c;
    begin(&c, TYPES, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: "
                     "{spec: {requirements: [{key: rack, operator: In, values: [r1, r2, r3]}]}}}\n");
    add_workload(&c, (struct workload){"thin", 12, "900m", "1500Mi"}, "rack", 1, NULL);
    add_workload(&c, (struct workload){"heavy", 12, "900m", "7500Mi"}, "rack", 1, NULL);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_price(p->cost_after, 3 * 1.0 + 3 * 1.6);
    assert_int_equal(pods_in(p, "rack", "r2"), 8);
    cluster_release(&c);
}

static void add_node(struct cluster *c, const char *name, const char *zone, unsigned pods)
{
    struct buf b = {0};
    buf_addf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {" ZONE ": %s}}\nspec: {}\n"
                 "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n", name, zone);
    for (unsigned i = 0; i < pods; i++)
        buf_addf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: old-%s-%u, labels: {app: thin}}\nspec: "
                     "{nodeName: %s, containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n"
                     "status: {phase: Running}\n", name, i, name);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* Four stand in z1: who comes goes to the others, where two machines hold eight. */
static void beside_what_stands(void **state)
{
    (void)state;
    struct cluster c;
    begin(&c, TYPES, POOL);
    add_node(&c, "n1", "z1", 4);
    add_workload(&c, (struct workload){"thin", 8, "900m", "1500Mi"}, ZONE, 1, NULL);
    add_workload(&c, (struct workload){"heavy", 12, "900m", "7500Mi"}, ZONE, 1, NULL);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->unschedulable_count, 0);
    assert_price(p->cost_after, 2 * 1.0 + 3 * 1.6);
    cluster_release(&c);
}

/* In z3 nothing can be bought for want of a limit's rest: nobody is left out who had a place before. */
static void what_cannot_be_bought(void **state)
{
    (void)state;
    unsigned placed[2];
    for (int greedy = 0; greedy <= 1; greedy++) {
        struct cluster c;
        begin(&c, TYPES, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: "
                         "{spec: {requirements: [{key: " ZONE ", operator: In, values: [z1, z2]}]}}}\n"
                         "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: b}\nspec: {limits: {cpu: "
                         "4}, template: {spec: {requirements: [{key: " ZONE ", operator: In, values: [z3]}]}}}\n");
        add_workload(&c, (struct workload){"thin", 30, "900m", "1500Mi"}, ZONE, 1, NULL);
        c.plan_options.search = greedy ? SEARCH_GREEDY : SEARCH_CHEAPEST;
        placed[greedy] = 30 - cluster_plan(&c)->unschedulable_count;
        cluster_release(&c);
    }
    assert_int_equal(placed[0], placed[1]);
    assert_int_equal(placed[0], 4 + 5 + 5);
}

/* A fifth on demand, four fifths on spot by four racks, whose limit holds four small machines and not a byte more: no
 * claim may become a large one, no rack is left out, and none has all the limit for itself. */
static void as_much_as_a_limit_holds(void **state)
{
    (void)state;
    static const struct { const char *limit; unsigned placed; } rows[] = {
        {"64Gi", 10}, {"100Gi", 10}, {"1000Gi", 10}, {"60Gi", 9}}; /* no node stands in r5 */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf b = {0};
        begin(&c, "kind: InstanceTypes\nitems:\n"
                  "- {name: small, resources: {cpu: 2, memory: 16Gi, pods: 110}, offerings: [{zone: z1, capacity: "
                  "on-demand, price: 1.0}, {zone: z1, capacity: spot, price: 0.6}]}\n"
                  "- {name: large, resources: {cpu: 8, memory: 64Gi, pods: 110}, offerings: [{zone: z1, capacity: "
                  "on-demand, price: 4.0}, {zone: z1, capacity: spot, price: 2.4}]}\n", "");
        buf_addf(&b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: od}\nspec: {template: {spec: "
                     "{requirements: [{key: " CAPACITY ", operator: In, values: [on-demand]}, {key: rack, operator: "
                     "In, values: [r1]}]}}}\n"
                     "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: spot}\nspec: {limits: "
                     "{memory: %s}, template: {spec: {requirements: [{key: " CAPACITY ", operator: In, values: "
                     "[spot]}, {key: rack, operator: In, values: [r2, r3, r4, r5]}]}}}\n", rows[i].limit);
        cluster_add(&c, b.ptr);
        buf_release(&b);
        add_workload(&c, (struct workload){"web", 10, "900m", "1Gi"}, "rack", 1, NULL);
        const struct plan *p = cluster_plan(&c);
        if (10 - p->unschedulable_count != rows[i].placed)
            fail_msg("limit %s: %u placed", rows[i].limit, 10 - p->unschedulable_count);
        for (const char *const *rack = (const char *const[]){"r1", "r2", "r3", "r4", "r5", NULL};
             *rack != NULL && rows[i].placed == 10; rack++)
            assert_int_equal(pods_in(p, "rack", *rack), 2);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(zones_cost_nothing),
                                       cmocka_unit_test(the_cheap_side_first),
                                       cmocka_unit_test(two_keys),
                                       cmocka_unit_test(a_label_of_the_pool),
                                       cmocka_unit_test(beside_what_stands),
                                       cmocka_unit_test(what_cannot_be_bought),
                                       cmocka_unit_test(as_much_as_a_limit_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
