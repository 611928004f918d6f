/* roll: the objects of one kind by name, each with its memo, from pass to pass. What did not change since the last
 * pass is neither sorted nor looked up again.
 *
 * As many entries as the cluster has objects of the kind: 20 bytes each. */
#ifndef RECONCILER_VIEWS_ROLL_H
#define RECONCILER_VIEWS_ROLL_H

#include "kube/store.h"
#include "reconciler/memo.h"

struct roll { /* zero: to be made */
    const struct meta **objects; /* by name, as the snapshot of `sequence` has them */
    struct memo **memos;         /* theirs */
    uint32_t *changed;           /* positions that were another object in the last pass */
    uint32_t count, capacity, changed_count;
    uint64_t sequence; /* 0: none, or their memos are no more */
};

/* Calls the roll of a snapshot. `previous`: of the last pass, which still has its objects, or NULL. False: positions
 * are not those of the last pass, and `changed` says nothing. */
bool roll_call(struct roll *r, const struct snapshot *s, const struct snapshot *previous, enum kind k,
               struct memos *memos);
void roll_see(const struct roll *r); /* marks every memo as seen: before a sweep */
void roll_release(struct roll *r);

#endif
