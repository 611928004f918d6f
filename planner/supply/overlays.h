/* overlays: the catalogue as NodeOverlays change it (spec api 7.7).
 *
 * Of several overlays on one offering the heaviest sets the price (ties: the name that comes last goes
 * first); capacities add up, of one resource the heaviest's counts. An overlay that sets what another
 * of equal weight sets already is in conflict and has no effect at all, anywhere.
 *
 * An overlay can select by pool, so a type may come out in several entries, one for each set of
 * pools that see it alike. Pure. */
#ifndef PLANNER_SUPPLY_OVERLAYS_H
#define PLANNER_SUPPLY_OVERLAYS_H

#include "kube/instance_type.h"
#include "kube/node.h"
#include "kube/overlay.h"

struct world;

struct overlay_fault {
    const struct node_overlay *overlay;
    struct span why;  /* one sentence */
    const struct node_overlay *rival; /* of equal weight, with which it is in conflict; NULL: it is wrong in itself */
};

struct overlaid {
    const struct catalogue *catalogue; /* the one given unless it is changed */
    bool changed;
    const struct overlay_fault *faults; /* overlays without effect, in the order of weight */
    uint32_t fault_count;
};

/* Everything new lives in `a`; what is not changed is shared with `catalogue`. */
struct overlaid overlays_apply(struct arena *a, struct symtab *syms,
                               const struct catalogue *catalogue,
                               const struct node_overlay *const *overlays, size_t overlay_count,
                               const struct node_pool *const *pools, size_t pool_count);
/* Those of the world; NULL without the gate. */
const struct overlaid *world_overlaid(const struct world *w);

#endif
