/* memo: what the reconciler remembers of an object between passes, by the object's UID. Nothing
 * that would be missed is kept here: a new leader begins with none.
 *
 * A memo stays while its object is seen (memos_at marks it) or a call for it is under way. */
#ifndef RECONCILER_MEMO_H
#define RECONCILER_MEMO_H

#include "base/arena.h"
#include "base/units.h"

/* One write at a time, and the next decision only once the snapshot shows the last one. */
struct gate {
    uint32_t under_way;
    uint32_t failures; /* in a row */
    uint64_t version;  /* resourceVersion that our last write gave the object */
    mono_ms retry_at;
};

enum { GATE_RETRY_FIRST_MS = 100, GATE_RETRY_MAX_MS = 10 * MS_SECOND };

static inline bool gate_open(const struct gate *g, uint64_t version_seen, mono_ms now)
{
    return g->under_way == 0 && version_seen >= g->version && now >= g->retry_at;
}
/* 100 ms, doubled with each failure in a row, at most 10 s. */
void gate_fail(struct gate *g, mono_ms now);

struct memo { /* first member of what is remembered */
    struct memo *next;
    struct span key;
    uint64_t hash;
    bool seen;
    uint32_t held; /* calls that will want it */
    struct gate gate;
};

struct memos {
    struct memo **slots;
    uint32_t slot_count, count;
    size_t size;                     /* of one, struct memo included */
    void (*release)(struct memo *m); /* frees what it holds; may be NULL */
};

void memos_init(struct memos *t, size_t size, void (*release)(struct memo *m));
void memos_release(struct memos *t);
void *memos_find(const struct memos *t, struct span key); /* or NULL */
void *memos_at(struct memos *t, struct span key);         /* zeroed when new; marked as seen */
/* Drops what was not seen since the last sweep and has no call under way. */
void memos_sweep(struct memos *t);

#endif
