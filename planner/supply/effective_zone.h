/* effective_zone: in which zone each pod that waits will have to end, for a metric.
 *
 * By what must hold of the pod (its zone selector and required affinity, its volumes, topology spread and
 * required pod affinity over the zone) at the start of a pass, as Karpenter v1.15.0 counts it in
 * karpenter_scheduler_pending_pods_by_effective_zone_count. Pure. */
#ifndef PLANNER_SUPPLY_EFFECTIVE_ZONE_H
#define PLANNER_SUPPLY_EFFECTIVE_ZONE_H

#include "planner/world.h"

struct zone_count {
    struct span zone; /* a zone's name, "flexible" (several are left) or "none" (none is) */
    uint32_t pods;
};

/* Unbound pods of the world (CapacityBuffers' left out) that pass validation, by zone, sorted by its name. In `a`. */
const struct zone_count *effective_zones(struct arena *a, const struct world *w,
                                         uint32_t *count_out);

#endif
