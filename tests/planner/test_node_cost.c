/* What a NodePool says that a node costs beside its price: what is bought for it, and what is told of it. */
#include "support_cluster.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "planner/plan/plan_json.h"
#include "planner/plan/plan_table.h"

/* Three pods of 4 CPUs each: three nodes of 1.0, or one of 3.2. */
#define TYPE(name_, cpu_, price_)                                                                  \
    "- {name: " name_ ", resources: {cpu: " cpu_ ", memory: 64Gi, pods: 110}, offerings: [{zone: " \
    "z1, capacity: on-demand, price: " price_ "}]}\n"
#define POD(n_)                                                                                    \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a-" n_ "}\nspec: {containers: [{name: c, "   \
    "resources: {requests: {cpu: 3900m, memory: 1Gi}}}]}\n"                                        \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n"
#define LABELS                                                                                     \
    "karpenter.sh/nodepool: default, karpenter.sh/registered: 'true', karpenter.sh/initialized: "  \
    "'true', node.kubernetes.io/instance-type: third, topology.kubernetes.io/zone: z1, "           \
    "karpenter.sh/capacity-type: on-demand"
static const char NODE[] =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: there, labels: {" LABELS "}}\n"
    "spec: {providerID: p-1}\n"
    "status: {capacity: {cpu: 1, memory: 1Gi, pods: 1}, allocatable: {cpu: 1, memory: 1Gi, pods: 1}, "
    "conditions: [{type: Ready, status: 'True'}]}\n"
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: there, labels: {" LABELS "}}\n"
    "spec: {requirements: []}\nstatus: {providerID: p-1, nodeName: there}\n";

/* `cost`: the annotation's value; NULL: none. */
static const struct plan *plan_with(struct cluster *c, const char *cost, bool beside)
{
    char pool[256];
    snprintf(pool, sizeof(pool), "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default%s%s%s}\n"
             "spec: {template: {spec: {requirements: []}}}\n", cost != NULL ? ", annotations: {stowage.dev/node-cost: '" : "",
             cost != NULL ? cost : "", cost != NULL ? "'}" : "");
    cluster_init(c);
    cluster_add(c, "kind: InstanceTypes\nitems:\n" TYPE("third", "4", "1.0") TYPE("whole", "12", "3.2"));
    cluster_add(c, pool);
    cluster_add(c, POD("0") POD("1") POD("2"));
    if (beside)
        cluster_add(c, NODE);
    c->plan_options.search = SEARCH_CHEAPEST;
    return cluster_plan(c);
}

static void one_large_node_for_three_small(void **state)
{
    (void)state;
    static const struct {
        const char *cost;
        uint32_t nodes;
        double after;
    } rows[] = {{NULL, 3, 3}, {"0", 3, 3}, {"0.05", 3, 3.15}, {"0.15", 1, 3.35}, {"2", 1, 5.2}, {"20.00", 1, 23.2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        const struct plan *p = plan_with(&c, rows[i].cost, false);
        const char *label = rows[i].cost != NULL ? rows[i].cost : "none";
        if (p->claim_count != rows[i].nodes || fabs(p->cost_after - rows[i].after) > 1e-9)
            fail_msg("%s: %u nodes for %g, want %u for %g", label, p->claim_count, p->cost_after, rows[i].nodes,
                     rows[i].after);
        double beside = rows[i].cost != NULL ? strtod(rows[i].cost, NULL) : 0;
        if (fabs(p->claims[0].price - p->cost_after / p->claim_count) > 1e-9 ||
            fabs(p->node_costs - beside * p->claim_count) > 1e-9)
            fail_msg("%s: a claim's price is %g, of the cost %g are of nodes", label, p->claims[0].price, p->node_costs);
        /* Twelve CPUs, of which the pods need 11.7, cannot be had for less. */
        double least = fmin(11.7 / 12 * (3.2 + beside), 11.7 / 4 * (1 + beside));
        if (p->lower_bound < least - 1e-6 || p->lower_bound > p->cost_after + 1e-9)
            fail_msg("%s: the bound is %g, want %g or more", label, p->lower_bound, least);
        cluster_release(&c);
    }
}

static void a_node_that_stands_costs_it_too(void **state)
{
    (void)state;
    struct cluster c;
    const struct plan *p = plan_with(&c, "0.25", true);
    assert_true(fabs(p->cost_before - 1.25) < 1e-9);
    assert_true(fabs(p->cost_after - (1.25 + 3.45)) < 1e-9);
    assert_true(fabs(p->node_costs - 0.5) < 1e-9);
    cluster_release(&c);
}

static void what_cannot_be_read_is_told_and_counts_nothing(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "cheap", "-1", "+1", ".5", "1.", "1.2.3", "1e3", "0x10", "nan", " 1", "$1",
                                        "0.1234567890123456789"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct cluster c;
        char want[256];
        snprintf(want, sizeof(want), "NodePool default: metadata.annotations[stowage.dev/node-cost]: \"%s\" has no "
                 "effect. Fix: write dollars per hour, like \"0.01\"", wrong[i]);
        const struct plan *p = plan_with(&c, wrong[i], false);
        if (p->warning_count != 1 || !span_eq(p->warnings[0], span_of(want)))
            fail_msg("%s: %u warnings, %.*s", wrong[i], p->warning_count,
                     SPAN_ARG(p->warning_count != 0 ? p->warnings[0] : SPAN("none")));
        assert_true(fabs(p->cost_after - 3) < 1e-9 && p->node_costs <= 0);
        cluster_release(&c);
    }
}

static void it_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *cost, *json, *table;
    } rows[] = {{"0.15", "\"nodeCosts\":0.15", "Of that, $0.150/h is what NodePools say that nodes cost beside their price."},
                {NULL, NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf json = {0}, table = {0};
        const struct plan *p = plan_with(&c, rows[i].cost, false);
        struct json j = {.out = &json};
        plan_json(&j, p, NULL, 0);
        plan_table(&table, p, &(struct plan_table_options){.width = 200});
        if (rows[i].json != NULL) {
            assert_non_null(strstr(json.ptr, rows[i].json));
            assert_non_null(strstr(table.ptr, rows[i].table));
        } else {
            assert_null(strstr(json.ptr, "nodeCosts"));
            assert_null(strstr(table.ptr, "beside their price"));
        }
        buf_release(&json);
        buf_release(&table);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_large_node_for_three_small),
                                       cmocka_unit_test(a_node_that_stands_costs_it_too),
                                       cmocka_unit_test(what_cannot_be_read_is_told_and_counts_nothing),
                                       cmocka_unit_test(it_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
