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
    int32_t known_target; /* as it was when ranges were last worked out: health and status go by it */
    struct group_readiness nodes;
    uint32_t failed;      /* of them, machines that could not be made and have not gone yet; as upstream has it: 0 */
    bool healthy, backed_off; /* both as scale-up asks */
    bool growing;             /* there is a scale-up request */
    int32_t increase;
    uint32_t upcoming;        /* nodes that are still to come, registered ones that are not ready yet included */
    int32_t deletions;        /* under way, of state.deletions */
    uint32_t first_copy;      /* of its upcoming nodes, in `copies`: registered ones first */
    uint32_t registered;      /* so many of them are */
    uint32_t machines;        /* and so many are not, what this pass asks for included */
    uint8_t *gone;            /* by instance: this pass has deleted it */
    uint32_t gone_count;
};

struct group_copy { /* of a template, in the snapshot: an upcoming node */
    uint32_t group;
    int32_t row;      /* in whose place it stands; -1: it has not registered */
    struct span name; /* of its machine, as `places` had it; absent: not yet met */
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
    uint64_t *machines;   /* bits: there is a machine for it in its group */
    uint64_t *starting;   /* bits: not ready, and young enough to become so */
    uint64_t *upcoming;   /* bits: registered, not ready, of a growing group: a copy of the template stands in the
                           * snapshot instead, and it is no candidate for removal */
    uint64_t *deleting;   /* bits: in state.deletions */
    uint64_t *bought;     /* bits: no Node yet (bought.h): in no sum; NULL: none is */
    uint32_t bought_count;
    wall_ms *unneeded_since, *unremovable_until; /* of the passes before; 0: none */
    uint32_t deleting_empty, deleting_drain;
    bool recount;         /* machines were deleted that had failed: what was counted with them is not so any more */

    struct snapshot *snapshot; /* the cluster after `pending`, then after `up` */
    struct group_copy *copies; /* numbered in the snapshot from copy_base on */
    uint32_t copy_base, copy_count;
    const struct pod **pending; /* who asks; in the order of listing, by namespace and name */
    uint32_t pending_count;
    bool hold_down; /* no removal in this pass: all pods are new */
    struct group_pass *out;
};

static inline bool group_row_bought(const struct group_run *r, uint32_t row)
{
    return r->bought_count != 0 && bits_has(r->bought, row);
}

/* registry.c: who is there and well; requests and back-off. */
void groups_registry(struct group_run *r);
void groups_find_upcoming(struct group_run *r); /* after repairs: `upcoming`, of groups and of rows */
bool group_instance_unregistered(const struct group_instance *i); /* and is expected to register */
bool group_instance_overdue(const struct group_run *r, const struct group_now *g, const struct group_instance *i);
bool group_machine_failed(const struct group_machine *m); /* could not be made */
/* Ranges are worked out anew, and what follows from them. */
void group_recount(struct group_run *r, uint32_t group);
/* IncreaseSize: the target, the request, and a line of the answer. False: above the maximum. */
bool group_grow(struct group_run *r, uint32_t group, int32_t delta, bool for_min_size);
void groups_status(struct group_run *r); /* r->out->status */

/* repairs.c: what never came or came broken goes (gates G2 to G5 of spec 1.5). False: the pass ends here. */
bool groups_repair(struct group_run *r);
void group_note_decrease(struct group_run *r, uint32_t group, int32_t by);

/* pass.c: a group grows, in the answer. */
void group_note_decision(struct group_run *r, uint32_t group, int32_t delta, bool for_min_size);

/* min_size.c: --enforce-node-group-min-size. Whether anything was asked for. */
bool groups_grow_to_min(struct group_run *r);

/* pending (spec 3.2 to 3.4): makes the snapshot, upcoming nodes in it; leaves in r->pending who still asks. */
void groups_pending(struct group_run *r);
/* coming.c: who has a place on which upcoming node. */
void groups_number_copies(struct group_run *r, uint32_t base); /* as build_snapshot adds them, from `base` on */
bool groups_seat_as_planned(struct group_run *r, const struct pod *p, uint32_t class_id); /* where objects->places has it */
void groups_note_seat(struct group_run *r, const struct pod *p, uint32_t node); /* nothing, unless that is a copy */
void groups_note_coming(struct group_run *r, const struct pod *p, uint32_t group, uint32_t machine);
/* How long it has waited; one that is made up: as long as anybody asks for. */
span_ms group_pod_age(const struct group_run *r, const struct pod *p);
/* serve.c (6.1): pods that wait for a request do not ask; who has room keeps it; and who waits for it. */
void groups_drop_consuming(struct group_run *r);
void groups_book(struct group_run *r);
bool groups_has_request(const struct group_run *r);
void groups_serve_requests(struct group_run *r); /* there is one */
/* up (3.6 to 3.13), salvo included: r->out->up, by group_grow. Called when pods ask, and it is not too early. */
void groups_scale_up(struct group_run *r);
/* One group, and those like it, for all of these pods, or nothing. Whether it grew. */
bool groups_scale_up_whole(struct group_run *r, const struct pod **pods, uint32_t count);
/* How many of n more nodes of the group the resource limits allow (3.7, 3.11). */
int32_t groups_allowed(struct group_run *r, uint32_t group, int32_t n);

/* down (4): unneeded nodes, always; what goes, unless `cooldown`. r->out->down. */
void groups_scale_down(struct group_run *r, bool cooldown);
/* Instead of it, in a pass that does not come so far: what was unneeded still is. */
void groups_keep_unneeded(struct group_run *r);

#endif
