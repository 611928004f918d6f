/* inner: scale-up as its own files see it (spec node-groups 3.6 to 3.13). */
#ifndef PLANNER_GROUPS_UP_INNER_H
#define PLANNER_GROUPS_UP_INNER_H

#include "planner/groups/inner.h"
#include "planner/groups/snapshot/snapshot.h"

struct pod_kind { /* pods that are alike: one controller, one class, the same labels */
    const struct pod **pods;
    uint32_t *ranks; /* theirs, by namespace and name among all that are tried */
    uint32_t count, capacity;
    uint32_t class_id;
    uint64_t *fits; /* bits by group */
    int32_t wish;   /* the group where they want to go, or a plan has them go; -1: none */
    bool schedulable;
    const char *refused; /* why no group that it fits will do after all */
};

struct growth {
    uint32_t group;
    int32_t nodes;
    const struct pod **pods;
    uint32_t *at;    /* of each the node, numbered as in the snapshot while it was estimated */
    uint32_t first;  /* of the nodes that it adds, likewise */
    uint32_t pod_count;
    uint32_t *taken;   /* by kind: how many of its first pods those are */
    uint64_t *similar; /* bits by group */
    uint64_t *seated;  /* of one that was planned (planned.c): bits by rank of pod. NULL: it was not */
    /* Of a growth over several groups (several.h); NULL: `nodes` are dealt out to the group and those similar. */
    int32_t *shares;   /* by group */
    struct seat {
        uint32_t group, node; /* node: of those that it adds to the group, from 0 */
    } * seats;         /* of each pod; `at` and `first` mean nothing */
};

enum { LIMIT_CORES, LIMIT_MEMORY, LIMIT_NODES, LIMIT_GPU };

struct limits { /* what is left, and what a node of each group costs */
    struct span *names; /* of resources; from LIMIT_GPU on types of GPUs */
    uint32_t count;
    struct limit_quota {
        struct span id;
        const struct label_selector *selector; /* NULL: of all nodes */
        int64_t *left;                         /* by resource; INT64_MAX: no limit */
    } *quotas; /* that of the flags is the first */
    uint32_t quota_count;
    int64_t **costs; /* by group */
};

struct up {
    struct group_run *r;
    struct pod_kind *kinds;
    uint32_t kind_count, kind_capacity;
    const struct pod **by_rank;
    uint32_t pod_count;
    bool *valid;              /* by group */
    struct spans *skipped;    /* by group: why not */
    struct limits limits;
    uint32_t nodes;           /* of the cluster, as the pass began */
    struct growth *options;
    uint32_t option_count;
    struct arena scratch;
    bool whole;   /* all pods or none */
    bool partial; /* some group would do for some of them */
};

/* kinds.c. A pod's wish; NULL: a plan has none. */
const struct group_wish *up_wish(const struct up *u, const struct pod *p);
void up_make_kinds(struct up *u, const struct pod **pods, uint32_t count);

/* limits.c */
void limits_measure(struct group_run *r, struct limits *l);
/* Of n more nodes of the group; which quotas stand in the way, with their resources by name, as upstream says it. */
int32_t limits_allow(const struct group_run *r, const struct limits *l, uint32_t group, int32_t n,
                     struct spans *exceeded_out);
void limits_take(const struct group_run *r, struct limits *l, uint32_t group, int32_t n);

/* estimate.c */
void up_estimate(struct up *u, struct growth *o);
struct ranked { /* a kind, by how much of a node its pods ask for */
    double score;
    uint32_t kind;
};
/* Those that fit the group, the largest first; returns how many. */
uint32_t up_rank(const struct up *u, uint32_t group, struct ranked *out);
/* Nodes that flags let the cluster have more of; INT64_MAX: no limit. */
int64_t up_permits(const struct up *u);
int64_t up_room(const struct up *u, uint32_t group); /* and its own maximum */

/* spread.c: the same pods over the group and those alike, when they must spread over something in which these differ; limits are
 * taken. False: they need not, or fewer than `least` would find a place. */
bool up_spread(struct up *u, const struct growth *of, uint32_t least, struct growth *out);

/* planned.c: the pods of wishes, where they go by them. False: none does. */
bool up_planned(struct up *u, struct growth *out);

/* similar.c: by group, those to which nodes of it are dealt out, too; none without --balance-similar-node-groups. */
void up_find_similar(const struct up *u, uint32_t group, uint64_t *out);
/* Whatever the flag says; those, too, that pods may not come to now for the others of theirs. */
void up_find_alike(const struct up *u, uint32_t group, uint64_t *out);

/* expanders.c: narrows the options down; returns how many are left, the first ones of `at`. */
uint32_t up_expand(struct up *u, uint32_t *at, uint32_t count);

/* tell.c */
void up_tell_options(struct up *u, const uint32_t *best, uint32_t best_count);
void up_tell_left(struct up *u);

#endif
