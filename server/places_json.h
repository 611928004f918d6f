/* places_json: which places are held, who waits without one, and which nodes are to leave: what GET /plan answers. The reconciler
 * keeps no plan: claims have become NodeClaims, and what is left of it are places. docs/plan.md has the
 * fields; what is not known is absent. */
#ifndef SERVER_PLACES_JSON_H
#define SERVER_PLACES_JSON_H

#include "base/buf.h"
#include "kube/store.h"
#include "planner/places.h"
#include "reconciler/move.h"

struct places_view {
    const struct places *places;     /* may be NULL: none is held */
    const struct snapshot *snapshot; /* may be NULL: then every place is told, and nobody waits */
    const struct world *world;       /* may be NULL: no price is known */
    const struct moves *moves;       /* may be NULL: none is known of */
    wall_ms now;
    /* Why a pod has no place; absent: it was not planned yet. NULL: nobody knows of any. */
    struct span (*why)(void *user, struct arena *a, const struct pod *p);
    void *user;
    /* Which node group a Node is of, in `a`, and what it costs an hour (NAN: not known); false: none. NULL: there are none. Of
     * the fleet alone. */
    bool (*group_of)(void *user, struct span node, struct arena *a, struct span *group_out, double *price_out);
};

/* Targets by name, pods by namespace and name. */
void places_json(const struct places_view *v, struct buf *out);

#endif
