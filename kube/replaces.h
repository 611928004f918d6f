/* replaces: the annotation stowage.dev/replaces of a NodeClaim that was bought in place of others, which leave as soon
 * as all that were bought with it are initialised: "2 web-b7k2/3f0c…,web-c9d4/81aa…". First how many were bought in
 * place of them, then their names and UIDs. It is written with the claim and never changed. */
#ifndef KUBE_REPLACES_H
#define KUBE_REPLACES_H

#include "kube/node.h"

struct replaced { /* one of them */
    struct span name, uid;
};

struct replaces {
    uint32_t bought; /* 0: the claim replaces nobody */
    struct span rest; /* not read yet */
};

/* Of a claim; one whose annotation is not as above replaces nobody. Borrows. */
struct replaces replaces_of(const struct node_claim *c);
bool replaces_next(struct replaces *r, struct replaced *out); /* false: there are no more */

/* Writes it. */
struct span replaces_text(struct arena *a, uint32_t bought, const struct replaced *list, uint32_t count);

#endif
