/* plan_workloads: a plan by who asked for it: each workload's pods, where they go, and what they add to the bill. */
#ifndef PLANNER_PLAN_PLAN_WORKLOADS_H
#define PLANNER_PLAN_PLAN_WORKLOADS_H

#include "planner/plan/plan.h"
#include "planner/pods/pod_workload.h"

struct plan_workload_part {
    struct span pool; /* of new nodes */
    uint32_t pods;
};

struct plan_workload {
    struct pod_workload who;   /* pods without a controller are one workload for each namespace, of kind "Pod"; nameless
                                * where they are several */
    uint32_t pods;             /* that wait: bought + existing + left */
    uint32_t bought, existing, left;
    const struct plan_workload_part *parts; /* of `bought`, by pool */
    uint32_t part_count;
    /* Dollars per hour of the new nodes, each shared out among its pods by the largest part of it that each asks of any
     * resource, so that what nobody uses is paid by those for whom it was bought; NAN: a price is not known. Room on
     * nodes that exist is paid for already. */
    double price;
};

/* Dearest first, those whose price is not known before all; then by namespace, kind and name. */
uint32_t plan_workloads(struct arena *a, const struct plan *p, const struct plan_workload **out);
/* "shop/web 3, shop/api": whose these pods are, and how many where they are several; "3 pods of shop" are of nobody. */
struct span plan_workloads_of(struct arena *a, const struct plan *p, const struct pod *const *pods, uint32_t count);
/* "Deployment shop/web"; "Pods of shop". */
struct span plan_workload_name(struct arena *a, const struct pod_workload *w);
/* "new general 4, existing 2, no place 1"; without numbers where one says it all: "new general". */
struct span plan_workload_where(struct arena *a, const struct plan_workload *w);

#endif
