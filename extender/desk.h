/* desk: what one thread answers from: the room that is held, and whose place is whose, for the snapshot,
 * places and ledger it saw last. Made anew for a new snapshot or new places; in between only the ledger's
 * news are entered.
 *
 * Places of equal pods, of one class of the world and one workload, are as good as each other. The scheduler
 * takes pods in its own order, and in that order a spread, say, may allow a pod only the place of another:
 * then it takes that one, and the other gets its place. The ledger tells of it until the published places
 * do.
 *
 * A pod that has to leave its node has a place, too. It never asks for it: who comes in its stead does, and inherits it. */
#ifndef EXTENDER_DESK_H
#define EXTENDER_DESK_H

#include "extender/ledger.h"
#include "kube/store.h"
#include "planner/held.h"

struct extender_view;

struct seat { /* who has which place by now: the pod of one published place, the target of another */
    const struct place *pod, *place;
    int32_t row;      /* of the place; -1: not in sight */
    int32_t class_id; /* of the pod; -1: it does not wait any more */
};

struct leaver { /* a pod that has to leave its node: its place is for who comes after it */
    struct seat *seat;
    const struct pod *pod; /* it, or who has its name since */
};

struct sent_replica { /* a pod that was let onto one node, and is not seen there yet */
    uint64_t id, controller; /* span_hash of its uid, replicas_controller */
    uint32_t row;
};

struct desk { /* zero: nothing laid out yet */
    struct arena arena; /* of `held`; emptied with it */
    bool laid;
    size_t bytes; /* of the arena when it was laid and the ledger's bookings were entered */
    /* What it was laid out for. An address may come again, so that it takes more to be the same. */
    const struct snapshot *snapshot;
    const struct places *places;
    uint64_t sequence, planned_on;
    wall_ms made;
    uint32_t place_count;
    struct held *held;
    uint64_t version; /* of the ledger */
    struct seat *seats;  /* in the order of the places */
    struct seat **of;    /* whose seat each place is by now */
    struct seat **mates; /* the seats, by class */
    uint32_t *mates_of;  /* where those of a class begin; of the one after the last, too */
    uint32_t class_count;
    struct leaver *leavers; /* in the order of the places */
    uint32_t leaver_count, leaver_capacity;
    uint64_t *traders;   /* ids of the pods by whose booking seats were exchanged or inherited */
    uint32_t trader_count, trader_capacity;
    struct split_sent *sent; /* pods of split workloads that have a booking and still have to come */
    uint32_t sent_count, sent_capacity;
    struct sent_replica *replicas; /* those with a controller */
    uint32_t replica_count, replica_capacity;
};

/* Brings the desk up to the view, whose world is there. A booking whose pod the snapshot shows bound, or
 * no longer has, holds nothing here, and the ledger is told. */
const struct held *desk_open(struct desk *d, const struct extender_view *v);
/* Of an open desk. NULL: the pod has no place. */
struct seat *desk_seat(const struct desk *d, struct span uid);
/* The seats of the class, of pods that have been let onto a node included. */
struct seat *const *desk_mates(const struct desk *d, int32_t class_id, uint32_t *count_out);
const struct leaver *desk_leavers(const struct desk *d, uint32_t *count_out);
void desk_release(struct desk *d);

#endif
