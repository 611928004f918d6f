/* chain: all that keeps a class of pods out of one pool. A rule that is in the way is taken as put right
 * and the next one asked, so that whoever follows every fix of a chain gets a place. */
#ifndef PLANNER_EXPLAIN_CHAIN_H
#define PLANNER_EXPLAIN_CHAIN_H

#include "planner/explain/stop.h"

enum { CHAIN_MOST = 4 };

enum chain_apart { /* what the pod itself says of the pool, by its labels */
    CHAIN_WANTED,
    CHAIN_UNLIKE,   /* the pool has not the label that somebody has given to other pools */
    CHAIN_NOT_THIS, /* it is not the pool that is asked for by name */
};

struct chain {
    const struct attempt *try; /* that comes furthest; the weakest of those */
    struct stop stops[CHAIN_MOST];
    uint32_t count;  /* 0: nothing is in the way */
    uint32_t labels; /* of them are about taints and labels, which come first */
    enum chain_apart apart;
    bool whole;    /* all that is in the way is there */
    bool finished;
};

/* Taints and labels, else the first rule of the others: what costs little. q->try is not looked at. */
void chain_begin(const struct group_question *q, uint32_t option, struct chain *out);
/* The rest, as far as it can be told. */
void chain_finish(const struct group_question *q, uint32_t option, struct chain *c);
/* Whether the pod is nearer to the pool of x than to that of y. */
bool chain_nearer(const struct chain *x, const struct chain *y);

/* "does not tolerate …; it also asks for …" and "tolerate …; and let pool …"; absent without a stop. */
struct span chain_sentence(struct plan *p, const struct chain *c);
struct span chain_fix(const struct group_question *q, uint32_t option, const struct chain *c);

#endif
