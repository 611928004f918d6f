/* hung: a provider that is asked and does not answer, unless the test says so. It lists the built-in types, and has node
 * classes HungNodeClass of group test.stowage.dev, which are kwok's objects: one of these is there. */
#ifndef TESTS_SUPPORT_HUNG_H
#define TESTS_SUPPORT_HUNG_H

#include "cloud/provider.h"

struct loop;

enum { HUNG_KEPT = 64, HUNG_CALLS = 5, HUNG_PATIENCE_MS = 30 * MS_SECOND };

struct hung {
    struct provider provider; /* first */
    uint32_t asked[PROVIDER_METHOD_COUNT], cancelled;
    uint32_t under_way, most; /* not answered */
    void (*listing)(void *arg); /* asked for its types, and does not say; NULL: nobody asks */
    void *listing_arg;
    struct {
        machine_done *done;
        void *user;
    } calls[HUNG_KEPT];
};

void hung_init(struct hung *h);
/* Answers all that was ever asked: it could not be done. */
void hung_answer(struct hung *h);

/* A loop that has it beside its own provider asks it for its types, and it does not say until it is told to. */
void hung_withholds(struct hung *h, struct loop *l);
void hung_lists(struct hung *h);

#endif
