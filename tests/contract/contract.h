/* contract: what Stowage relies on in an API server, asked through `struct api`. The same questions
 * go to the in-memory cluster (tests/sim/test_contract.c) and to a real API server
 * (contract_real.c), so that whatever runs against the one may be trusted with the other. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H

#include "base/units.h"
#include "kube/api.h"

struct contract_target {
    struct api *api;
    struct span ns; /* a namespace that exists and is empty */
    void *user;
    /* Lets the API thread run for about this long, callbacks included; returns early when it can. */
    void (*poll)(void *user, span_ms for_at_most);
    mono_ms (*now)(void *user);
    /* Breaks the watch of a kind for a moment. NULL: this target cannot. */
    void (*break_watch)(void *user, enum kind k, bool expired);
    bool has_controllers; /* garbage collection and the budget controller run */
    bool verbose;         /* print each case */
};

/* Runs all cases; prints those that fail with what was expected and seen. Returns how many failed. */
uint32_t contract_run(const struct contract_target *t);

#endif
