/* kept: the world of the last pass over the groups, for the next one. As long as nothing changes that it is made of it is
 * the very same; where pods, Nodes, CSINodes, PodDisruptionBudgets or templates are others the next one is made of it by
 * delta (planner/world.h), and so costs what has changed. So it is where NodePools see pods otherwise than before (pooled.h).
 * Where that cannot be, or where so much has changed that it would not pay, it is let go and one is built.
 *
 * Memory: one world, whose parts are bounded by the cluster; the templates of one model; what NodePools see otherwise; and
 * the objects of one snapshot, those that were replaced since included: it is let go when it is older than GROUP_KEPT_MS and not the newest any more,
 * so that those are bounded by what changes in that time. */
#ifndef RECONCILER_GROUPS_KEPT_H
#define RECONCILER_GROUPS_KEPT_H

#include "kube/store.h"
#include "planner/groups/model.h"
#include "planner/world.h"

struct pass;
struct pooled;

enum {
    GROUP_KEPT_MS = 30 * MS_SECOND, /* three passes by default (--scan-interval): who makes fewer does not mind what one costs */
    GROUP_KEPT_SHARE = 16,          /* of the pods, beside GROUP_KEPT_LEAST: where more are others, building costs no more */
    GROUP_KEPT_LEAST = 1000,        /* than looking for each */
};

struct group_kept { /* zero: none */
    struct world *world;
    const struct snapshot *snapshot; /* a reference; all objects of the world are its, but for those below */
    mono_ms seen;                    /* when it was the newest */
    struct arena arena;              /* of the templates, and of the requests' pods */
    const struct group_model *model; /* the world has its templates; in the arena */
    struct capacity_requests *requests; /* their pods are in it; in the arena */
    struct pooled *pooled; /* as which it has the pods, of the snapshot's; NULL: there are no NodePools */
};

enum kept_state {
    KEPT_NOT,   /* there is none that could go on */
    KEPT_MOVED, /* pods, Nodes, CSINodes or budgets are others */
    KEPT_SAME,
};
enum kept_state group_kept_state(const struct group_kept *k, const struct pass *p);
/* The model has the templates that the world was made with. */
bool group_kept_has_templates(const struct group_kept *k, const struct group_model *m, enum kept_state state);
struct group_kept_of { /* a world is */
    const struct group_model *model;    /* in the arena, which becomes the kept world's; NULL: of the same templates as before */
    struct capacity_requests *requests; /* in the arena; of account with a model alone */
    const struct arena *arena;
    struct pooled *pooled; /* the kept world's from then on; the very one that it has: pods are seen as before */
};
/* Goes on to the world of this pass, where it is KEPT_MOVED or of others than before. False: it can only be built; nothing
 * was done. */
bool group_kept_move(struct group_kept *k, const struct pass *p, const struct group_kept_of *next);
/* A world that was built for the pass. None was kept. */
void group_kept_take(struct group_kept *k, const struct pass *p, struct world *w, const struct group_kept_of *of);

/* In every pass of the reconciler: what cannot go on is let go. */
void group_kept_look(struct pass *p);
void group_kept_drop(struct group_kept *k);

/* What NodePools could buy, and for whom: of no account to worlds of groups. */
bool group_world_leaves_out(enum kind k);

#endif
