/* option: something that can be bought. A NodePool is an option of many shapes; a node group stands here
 * as a pool of a single one (planner/groups/offers.h). A search sees options only, in the order in which they
 * are to be tried. */
#ifndef PLANNER_SUPPLY_OPTION_H
#define PLANNER_SUPPLY_OPTION_H

#include "kube/node.h"
#include "planner/supply/room.h"
#include "planner/supply/types.h"

/* DaemonSet pods that come to every node of some rows (spec provisioning 2.8). */
struct daemon_group {
    amount *overhead;
    amount *unsure; /* of it: of those that select a label which the option leaves open, a rack say */
    struct host_ports ports;
    const uint32_t *members; /* numbers of the world's DaemonSets */
    uint32_t member_count;
};

struct least_values { /* that many different values of the key, among the types of a claim */
    sym key;
    uint32_t count;
};

struct option {
    const struct node_pool *pool;
    struct requirements requirements; /* what every node of it has, simulated labels included */
    struct sym_pairs labels;          /* template, nodepool, nodeclass */
    struct taints taints;
    bool soft_taints; /* some are PreferNoSchedule */
    const struct least_values *least; /* its pool's minValues */
    uint32_t least_count;
    uint64_t *types;  /* those left by `requirements` alone, with room for DaemonSet pods */
    uint64_t *kinds;  /* of offerings */
    struct daemon_group *daemons;
    uint32_t daemon_count;
    uint32_t *first_row; /* by type, count + 1: a row for every room that its offerings have */
    uint32_t *row_of;    /* by offering (types.offers) of `types` and `kinds` */
    uint32_t *daemon_of; /* by row: its group of DaemonSets */
    amount *room;        /* by row: allocatable less DaemonSets; negative when unusable */
    struct room_column *by_room; /* a column each */
    uint64_t *several;   /* types with more than one row */
    uint64_t *twins;     /* of them those with offerings of one kind in several rows: only overrides tell these apart */
    /* Each keeps a claim to offerings that get the same DaemonSets, by the labels that DaemonSets select: to zone-b,
     * say; where some type's offerings have overrides, to one kind. None when all offerings have the same room. */
    struct requirements *niches;
    uint32_t niche_count;
    double node_cost; /* in an hour, of each node beside its price: as the pool says */
    bool limited;
    struct room_column *by_capacity; /* of a limited pool: what a type counts against the limits */
    amount *budget;      /* what the limits leave; INT64_MAX: no limit */
    amount nodes_left;   /* INT64_MAX: no limit */
};

struct world;

/* Fills everything but the budget. */
void option_build(struct option *o, struct world *w, const struct node_pool *pool);
/* Limits less what the pool's standing nodes have: `used` is a vector, `nodes` their number. */
void option_budget(struct option *o, const struct world *w, const amount *used, amount nodes);

struct span option_name(const struct option *o);
/* Weight descending, then name descending (spec provisioning 1.6). For qsort over pointers. */
int option_order(const void *a, const void *b);
bool node_pool_ready(const struct node_pool *p, bool ready_when_unstated);

#endif
