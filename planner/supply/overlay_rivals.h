/* overlay_rivals: which NodeOverlays a NodeOverlay is in conflict with, to be told as warnings (kube/finding.h) where it is
 * written. Pure. */
#ifndef PLANNER_SUPPLY_OVERLAY_RIVALS_H
#define PLANNER_SUPPLY_OVERLAY_RIVALS_H

#include "kube/finding.h"
#include "planner/supply/overlays.h"

struct overlay_company {
    const struct catalogue *catalogue; /* as it is, or as overlays leave it: conflicts are the same */
    const struct node_overlay *const *overlays; /* one of its name among them is what it was before */
    size_t overlay_count;
    const struct node_pool *const *pools;
    size_t pool_count;
};

/* Each overlay that has no effect because of this one, and the one because of which this has none. As overlays_apply goes
 * over them: nothing where no pool is offered what both select. Symbols of all are of `syms`. */
void overlay_rivals_warnings(struct arena *a, const struct node_overlay *o, const struct overlay_company *among,
                             struct symtab *syms, struct findings *out);

#endif
