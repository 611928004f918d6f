/* pass: what Cluster Autoscaler's loop decides about node groups in one round (spec groups-contract 4).
 *
 * First `groups_templates` makes, for each group, the node that one more would be, and the pods that will stand on it at
 * once: they go into the world beside what there is (a row each; see `group_template`). Then `groups_pass` decides.
 * Pure: `now` is given, and equal input has an equal answer: ties are broken by name. */
#ifndef PLANNER_GROUPS_PASS_H
#define PLANNER_GROUPS_PASS_H

#include "planner/groups/down/unremovable.h"
#include "planner/groups/found.h"
#include "planner/groups/model.h"
#include "planner/world.h"

enum scale_up_result {
    SCALE_UP_NOT_TRIED,
    SCALE_UP_SUCCESSFUL,
    SCALE_UP_ERROR,
    SCALE_UP_NO_OPTIONS,
    SCALE_UP_NOT_NEEDED,
    SCALE_UP_IN_COOLDOWN,
    SCALE_UP_LIMITED_BY_MAX_NODES,
    SCALE_UP_UNSAID, /* "": the step for minimum sizes was the last, and no pod was tried */
};
const char *scale_up_result_name(enum scale_up_result r);

enum scale_down_result {
    SCALE_DOWN_NOT_TRIED,
    SCALE_DOWN_DELETE_STARTED,
    SCALE_DOWN_NO_NODE_DELETED,
    SCALE_DOWN_IN_COOLDOWN,
    SCALE_DOWN_NO_CANDIDATES,
    SCALE_DOWN_ERROR,
};
const char *scale_down_result_name(enum scale_down_result r);

/* Groups below are positions in the model's list, rows the world's. */

struct group_decision {
    uint32_t group;
    int32_t delta, target; /* the new one */
    bool for_min_size;     /* --enforce-node-group-min-size; else for pods */
};

struct group_option {
    uint32_t group;
    int32_t nodes;
    const struct pod **pods; /* by namespace and name */
    uint32_t pod_count;
    uint32_t *similar; /* groups, ascending */
    uint32_t similar_count;
};

struct group_skip {
    uint32_t group;
    struct spans reasons;
};

struct pod_left { /* that no group takes */
    const struct pod *pod;
    struct spans reasons; /* "2 Insufficient cpu", sorted */
};

struct group_scale_up {
    enum scale_up_result result;
    struct span error; /* absent: none */
    struct group_option *options; /* before the expander, by group */
    uint32_t *equally_good;       /* groups, ascending */
    struct group_skip *skipped;   /* by group */
    const struct pod **triggered, **awaiting; /* by namespace and name */
    struct pod_left *left;        /* in the same order */
    uint32_t option_count, equally_good_count, skipped_count, triggered_count, awaiting_count, left_count;
};

struct node_unneeded {
    uint32_t row;
    wall_ms since;
};

struct node_unremovable {
    uint32_t row;
    enum unremovable why;
    const struct pod *blocking; /* NULL: no pod does */
    const char *block_reason;   /* drain_block_name; NULL */
};

struct node_used {
    uint32_t row;
    double utilization;
};

struct group_scale_down {
    enum scale_down_result result;
    struct node_used *used;             /* all lists by row's name */
    struct node_unneeded *unneeded;
    struct node_unremovable *unremovable;
    uint32_t *empty, *drain;            /* rows: what this pass starts to delete */
    uint32_t *moved;                    /* of each of `drain`: its pods that need a place elsewhere */
    uint32_t used_count, unneeded_count, unremovable_count, empty_count, drain_count;
};

/* A pod that waits and was found to fit a machine on its way, those that this pass asks for included. */
struct group_coming {
    const struct pod *pod;
    uint32_t group;
    uint32_t machine; /* of those of the group that have not registered, from 1 */
    int32_t row;      /* the Node, which has registered and is not ready; -1: there is none yet */
};

enum group_gate { GATE_UNREGISTERED, GATE_FAILED }; /* G2, G4 of spec node-groups 1.5 */

struct group_deletion { /* of a machine; all of a group and a gate in one call */
    struct span id;
    uint32_t group;
    enum group_gate why;
};

struct group_repair {
    uint32_t group;
    int32_t decreased; /* of its target */
};

struct group_repairs {
    struct group_deletion *deleted; /* by id */
    struct group_repair *decreased;
    uint32_t deleted_count, decreased_count;
};

enum group_growth { GROWTH_NO_ACTIVITY, GROWTH_IN_PROGRESS, GROWTH_UNHEALTHY, GROWTH_BACKOFF };
const char *group_growth_name(enum group_growth g);

struct group_status { /* as the status ConfigMap has it at the end of the pass */
    uint32_t group;
    int32_t target;
    bool healthy;
    enum group_growth growth;
    struct group_readiness nodes;
};

struct group_pass {
    const struct world *world;
    const struct group_model *model;
    struct group_decision *decisions; /* by group; for pods first */
    struct group_scale_up up;
    struct group_scale_down down;
    struct group_repairs repairs;
    struct request_told *requests; /* each once */
    const struct pod **consuming;  /* pods that found no room and wait for a ProvisioningRequest: nothing grows for them */
    bool requests_turn;            /* the next pass's, where both ask */
    struct group_coming *coming; /* each pod once */
    struct group_found *found;   /* of each group, by its position in the model; NULL: nobody is ready, and
                                  * --scale-up-from-zero=false: the pass ended before it looked (G1) */
    struct group_status *status; /* by group */
    struct group_readiness all;  /* of the cluster's Nodes, those of no group included, and of the groups' machines */
    bool unhealthy;              /* too many of them are unready: the pass ended there (G3) */
    struct span error; /* the pass ended early with it; absent: it did not */
    uint32_t decision_count, status_count, coming_count, coming_capacity;
    uint32_t request_count, request_capacity, consuming_count;
};

int32_t group_of_row(const struct group_pass *p, uint32_t row);  /* of a Node, its group; -1: it has none */
int group_pods_by_name(const void *a, const void *b); /* of const struct pod *: by namespace and name */

/* The world has a row for each template of the model (by its name), and its pods. All of the answer is in `a`. */
struct group_pass *groups_pass(const struct world *w, const struct group_model *m, const struct group_flags *flags,
                               const struct group_objects *objects, wall_ms now, struct arena *a);

#endif
