/* inner: what the steps of a pass share. Everybody else uses planner/groups/pass.h.
 *
 * In this order (spec node-groups 1.6): registry (who is there and well), pending (who asks), up, down, minimum sizes.
 * Each step is a function of struct group_run, and writes its own part of the answer. */
#ifndef PLANNER_GROUPS_INNER_H
#define PLANNER_GROUPS_INNER_H

#include "planner/bits.h"
#include "planner/columns.h"
#include "planner/groups/pass.h"

struct snapshot;

/* A group as the pass goes: what it was told of, and what has been done to it since. By position in the model. */
struct group_now {
    const struct group *group;
    int32_t template_row; /* -1: no template: "not ready for scale-up" */
    int32_t target;       /* goes with what this pass asks for */
    struct group_readiness nodes;
    bool healthy, backed_off; /* both as scale-up asks */
    bool growing;             /* there is a scale-up request */
    int32_t increase;
    uint32_t upcoming;        /* nodes that are still to come, registered ones that are not ready yet included */
    int32_t deletions;        /* under way, of state.deletions */
    uint32_t instances_gone;  /* that this pass has deleted */
};

struct group_run {
    const struct world *world;
    const struct group_model *model;
    const struct group_flags *flags;
    const struct group_objects *objects;
    wall_ms now;
    struct arena *arena; /* the answer's, and all else */
    struct group_now *groups;

    /* By row of the world, which has templates' rows among the others. */
    const uint32_t *rows; /* of the cluster's Nodes, by name: those of templates are left out */
    uint32_t row_count;
    int32_t *owners;      /* the group; of a template's row, too. -1: none */
    uint64_t *templates;  /* bits */
    uint64_t *ready;      /* bits: as spec node-groups 2.5 has it, start-up taints and GPUs included */
    uint64_t *upcoming;   /* bits: registered, not ready, of a growing group: a copy of the template stands in the
                           * snapshot instead, and it is no candidate for removal */
    uint64_t *deleting;   /* bits: in state.deletions */
    wall_ms *unneeded_since, *unremovable_until; /* of the passes before; 0: none */
    uint32_t deleting_empty, deleting_drain;

    struct snapshot *snapshot; /* the cluster after `pending`, then after `up` */
    const struct pod **pending; /* who asks; in the order of listing, by namespace and name */
    uint32_t pending_count;
    bool hold_down; /* no removal in this pass: all pods are new */
    struct group_pass *out;
};

/* registry.c: readiness, requests, back-off, health; repairs. False: the pass ends here. */
bool groups_registry(struct group_run *r);
/* IncreaseSize and what follows from it; false: above the maximum, or backed off meanwhile. */
bool group_grow(struct group_run *r, uint32_t group, int32_t delta, bool for_min_size);
/* Of more than a few or a large part of the nodes too many are missing (3.1): what `healthy` was made of. */
void group_refresh(struct group_run *r, uint32_t group);

/* pending (spec 3.2 to 3.4): makes the snapshot, upcoming nodes in it; leaves in r->pending who still asks. */
void groups_pending(struct group_run *r);
/* up (3.6 to 3.13), salvo included: r->out->up, by group_grow. Called when pods ask, and it is not too early. */
void groups_scale_up(struct group_run *r);
/* How many of n more nodes of the group the resource limits allow (3.7, 3.11). */
int32_t groups_allowed(struct group_run *r, uint32_t group, int32_t n);

/* down (4): unneeded nodes, always; what goes, unless `cooldown`. r->out->down. */
void groups_scale_down(struct group_run *r, bool cooldown);

#endif
