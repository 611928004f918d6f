/* purchase: NodeClaims on their way into the API, and what bounds them. For this folder only.
 *
 * A claim that was sent is remembered until a snapshot shows it or the API says that there is none, so
 * that nobody decides on it twice. Its name is decided by who buys, from what the API says alone: a
 * name that is there already (409) is our own earlier write, not seen yet. */
#ifndef RECONCILER_PURCHASE_H
#define RECONCILER_PURCHASE_H

#include "planner/plan/plan.h"
#include "reconciler/state.h"

/* True while a claim is on its way; asks the API about those that take long. Once a pass. */
bool purchases_unseen(struct pass *p);
/* How many are on their way for the pool of this uid. */
uint32_t purchases_for(const struct pass *p, struct span pool_uid);
/* A claim of this name is in the snapshot or on its way. */
bool purchases_name_taken(const struct pass *p, struct span name);

struct purse {       /* of what is bought in one go */
    double per_hour; /* of the cluster, with what was bought */
    uint32_t held_minute, held_price;
};
struct purse purse_open(const struct pass *p);
/* False: a limit of the pool, --max-nodes-per-minute or --max-hourly-price is in the way, and that was
 * told. Else the claim's price counts from now on. */
bool purse_take(struct pass *p, const struct plan_claim *c, struct purse *purse);

struct purchase {
    const struct plan_claim *claim; /* under the name that it gets */
    struct symtab *syms;            /* of its symbols */
    struct span planned;            /* stowage.dev/planned; absent: none */
    struct span for_whom;           /* of the log line */
    struct pool_memo *paced;        /* its gate paces what fails; NULL: the next plan does */
    mono_ms asked;                  /* end of the batch window; -1: none */
};
void purchase_send(struct pass *p, const struct purchase *b);

#endif
