/* budget: the limits of one review. Any client that reaches the webhook's port may post one, with any object, and reviews
 * share one thread.
 *
 * A review beyond its limits is allowed, with a warning that it was not fully checked. The API server, too, goes on without an
 * answer after timeoutSeconds (1 s), and the reconciler leaves out objects with faults. Work on one object takes n log n of its
 * size; work that also depends on other objects calls `stop`. */
#ifndef WEBHOOK_BUDGET_H
#define WEBHOOK_BUDGET_H

#include <stdbool.h>

enum {
    /* Of the body, with the object as it is and as it was. An object with 1,000 entries in each list has some 100 kB. One of
     * 512 KiB takes up to some 40 ms, and at the most 64 MiB of memory (tests/webhook/test_large.c). */
    REVIEW_BYTES_MAX = 512 * 1024,
    /* A tenth of what the API server waits. Most take less than 1 ms, and none should take more than 5 ms. */
    REVIEW_MS_MAX = 100,
};

struct review_budget {
    bool (*stop)(void *user); /* NULL, or whether the time is over */
    void *user;
};

#endif
