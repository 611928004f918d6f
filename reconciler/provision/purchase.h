/* purchase: NodeClaims on their way into the API, and what bounds them. For this folder only.
 *
 * A claim that was sent is remembered until a snapshot shows it or the API says that there is none, so
 * that nobody decides on it twice. Its name is decided by who buys, from what the API says alone: a
 * name that is there already (409) is our own earlier write, not seen yet. */
#ifndef RECONCILER_PROVISION_PURCHASE_H
#define RECONCILER_PROVISION_PURCHASE_H

#include "planner/plan/plan.h"
#include "reconciler/state.h"

/* True while a claim is on its way; asks the API about those that take long. Once a pass. */
bool purchases_unseen(struct pass *p);
/* No claim is on its way, into the API or to a machine: what there will be is known, and anything may be decided on it
 * (spec disruption 1.2, provisioning 2.3). */
bool purchases_settled(struct pass *p);
/* How many are on their way for the pool of this uid. */
uint32_t purchases_for(const struct pass *p, struct span pool_uid);
/* A claim of this name is in the snapshot or on its way. */
bool purchases_name_taken(const struct pass *p, struct span name);

struct purse {       /* of what is bought in one go */
    double per_hour; /* of the cluster, with what was bought */
    uint32_t held_minute, held_price;
};
struct purse purse_open(const struct pass *p);

struct purchase { /* a NodeClaim that is to be created; texts, so that it can wait while worlds come and go */
    char id[16];             /* of the decision: on the claim, too */
    struct span name;        /* under which it is created */
    struct span pool, pool_uid;
    struct span type;        /* the cheapest; absent: any */
    bool has_others;         /* types */
    double price;            /* per hour; NAN: not known */
    struct span relaxed;     /* what it says of its minValues; absent: none were counted */
    struct span body;
    struct span for_whom;    /* of the log line */
    struct span why;         /* metrics' reason */
    struct pool_memo *paced; /* its gate paces what fails; NULL: whoever asked sees to it */
    mono_ms asked;           /* end of the batch window; -1: none */
};
/* Of a claim that has its name: what is told of it, and a new id; neither body nor for whom. Borrows. */
struct purchase purchase_of(struct pass *p, const struct plan_claim *c);
/* False: a limit of the pool, --max-nodes-per-minute or --max-hourly-price is in the way, and that was
 * told; or the pool is gone. Else the claim's price counts from now on. */
bool purse_take(struct pass *p, const struct purchase *b, struct purse *purse);
void purchase_send(struct pass *p, const struct purchase *b);
/* It has been asked for, and there will be none. */
bool purchase_failed(const struct pass *p, struct span name);

#endif
