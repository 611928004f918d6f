/* subject: the pod that is asked about, and what it has to leave on each node. */
#ifndef EXTENDER_SUBJECT_H
#define EXTENDER_SUBJECT_H

#include "extender/args.h"

struct subject {
    const struct pod *pod; /* the snapshot's, or read from the request while no snapshot can have it */
    bool fresh;            /* the latter */
    const struct symtab *syms; /* of the pod's symbols, and of the snapshot's */
    uint64_t id;           /* span_hash of its uid */
    const amount *requests;
    bool daemon;
    enum split_side side;  /* of its owner's split between spot and on-demand */
    uint64_t workload;     /* that one; 0: its side is not for us to choose */
    const struct desk *desk; /* who was let where */
    const struct held *held;
    bool holds;            /* something is held for itself */
    amount *scratch;
};

/* False: no opinion on it. */
bool subject_find(struct extender_scratch *s, const struct extender_view *v,
                  const struct extender_args *args, struct subject *out);

/* Again at what is held and who was sent where, which others have changed. */
void subject_look(struct extender_scratch *s, const struct extender_view *v, struct subject *x);

/* What others hold on the row against it; NULL: nothing. Valid until the next call. *placed_out: some of
 * it is a place or a nomination. */
const amount *subject_leaves(const struct subject *s, uint32_t row, bool *placed_out);
/* A hard affinity to its own kind: where the first goes, the others have to follow. */
bool subject_seeks_its_kind(const struct subject *s);
/* Whether the other pod, of the same namespace, is of the kind that `pod` seeks. */
bool subject_is_kin(const struct pod *pod, const struct pod *other);
/* How full the node would be with it, 0 to 1: the mean of CPU and memory, held room counted as taken. */
double subject_fullness(const struct extender_view *v, const struct subject *s, uint32_t row);
/* Some of its volumes still have to be bound, which the scheduler waits for before it binds the pod. */
bool subject_awaits_volumes(const struct snapshot *snapshot, const struct pod *pod);
/* Row of the node that the scheduler has freed for it, so its status says in the request: others had to go. -1: none, or
 * it was we who nominated the pod, and nobody had to. */
int32_t subject_freed(const struct subject *s, const struct world *w, struct span nominated);
/* It says itself which nodes it prefers. */
bool subject_prefers(const struct subject *s);

#endif
