/* returns: which empty nodes stay, since the last hour says that their like is needed again. For this folder only.
 *
 * A need is a node that was bought for waiting pods, or one that would have gone, was kept, and got pods again. For an
 * empty node those count that its pool had within the hour and that it would have done for (node_size.h). Needs that
 * come within a minute of the first of them are one wave: a plan is bought in one go, and a Deployment in a few. With two
 * waves or more there is a pause between them, and what came again after the longest one may well come after another.
 * So empty nodes stay for twice the longest pause after the last need, a quarter of an hour at least, an hour at most;
 * and as many of them as were needed in the time of that length before it, without the largest wave: what came in that
 * number once is not awaited. Who is cheap stays sooner than who is dear.
 *
 * So the fall after a first rise removes what it always did, and where nothing is bought and nothing kept is used, none
 * stays for this after an hour.
 *
 * A leader that takes over knows what was bought by the NodeClaims that are still there, and not the rest. With
 * --search greedy, or unless --empty-return asks for it, nothing is kept. Memory: RETURNS_MOST needs of 40 bytes. */
#ifndef RECONCILER_DISRUPTION_RETURNS_H
#define RECONCILER_DISRUPTION_RETURNS_H

#include "base/units.h"
#include "reconciler/disruption/node_size.h"

struct pass;
struct node_view;

enum {
    RETURNS_MOST = 512, /* the last ones; a cluster that buys more within the hour has short pauses between them */
    RETURNS_WAVE_MS = MS_MINUTE,
    RETURNS_PAUSES = 2, /* with thrice the longest that bench pays a tenth more, for as many undone */
    /* A few short pauses say little of the longest that there will be: of the nodes that `./dev bench undone` removes
     * 5 were bought again without this, 3 with ten minutes, 1 with fifteen and 1 with twenty. */
    RETURNS_LEAST_MS = 15 * MS_MINUTE,
};

struct need {
    wall_ms at;
    uint64_t pool; /* span_hash of its UID */
    struct node_size wanted;
};

struct returns { /* zero: nothing is remembered */
    struct need *items; /* malloc'ed; the oldest first */
    uint32_t count;
    bool keeping; /* some node stays for it */
};
void returns_release(struct returns *r);

struct awaited {
    wall_ms until;  /* 0: none is */
    uint32_t nodes; /* as many */
};
/* Of a pool's nodes of that room, by the needs of the last `within`, the oldest first. Pure. */
struct awaited returns_awaited(const struct returns *r, uint64_t pool, const struct node_size *room, span_ms within);

/* Takes notice of what was bought, and says in the memory of each empty node until when it stays (awaited_until). */
void returns_look(struct pass *p);
/* A node that was kept has pods again. */
void returns_needed(struct pass *p, const struct node_view *n);

#endif
