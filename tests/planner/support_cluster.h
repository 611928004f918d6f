/* support_cluster: a cluster written as YAML, its plan, and the plan in one line per place.
 *
 * Objects are what kubectl prints. One kind is the tests' own:
 *   kind: InstanceTypes
 *   reservationIDLabel: example.com/id  (and an offering's `reservation: r1, reservations: 2`)
 *   wellKnown: [size]
 *   items:
 *   - {name: small, resources: {cpu: 2, memory: 2Gi, pods: 5}, labels: {size: small, special: "!"},
 *      overhead: {cpu: 100m}, volumeLimits: {csi.example.com: 2}, nodePools: [a],
 *      offerings: [{zone: z1, capacity: spot, price: 0.1}]}
 * A label is a value, values with commas between, or "!": the type does not have it. */
#ifndef TESTS_PLANNER_SUPPORT_CLUSTER_H
#define TESTS_PLANNER_SUPPORT_CLUSTER_H

#include "kube/kind.h"
#include "planner/explain/tell.h"

struct cluster_list {
    const void **items;
    size_t count, capacity;
};

struct cluster {
    struct arena arena;
    struct symtab *syms;
    struct cluster_list kinds[KIND_STORED_COUNT];
    struct catalogue catalogue;
    struct world_options options;
    struct plan_options plan_options;
    struct span removed[4]; /* names of nodes that the plan is to do without; none: empty */
    uint32_t removed_rows[4];
    struct world *world;
    struct plan *plan;
};

void cluster_init(struct cluster *c);
void cluster_release(struct cluster *c);
void cluster_add(struct cluster *c, const char *yaml); /* fails the test on any mistake */
void cluster_types_c0(struct cluster *c);              /* catalogue C0 of spec provisioning 6 */
void cluster_types_c1(struct cluster *c, unsigned count); /* C1(n) */
void cluster_shuffle(struct cluster *c, uint64_t seed);
/* What the world is built from; lists stay the cluster's, until more is added. */
struct world_input cluster_input(const struct cluster *c);
/* Builds the world and plans it; again after more was added. Fails the test when the plan breaks a
 * rule (check/check.h). */
const struct plan *cluster_plan(struct cluster *c);
const struct plan *cluster_plan_unchecked(struct cluster *c);

/* "default-1 small-instance-type/6: a b\nnode n1: c\nd Unschedulable\n": claim, cheapest type and how
 * many, pods; nodes; pods without a place. Pods of namespace default go by name alone. */
struct span cluster_summary(struct cluster *c);
const struct plan_unschedulable *cluster_failed(const struct cluster *c, const char *pod);

#endif
