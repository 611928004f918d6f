/* Stowage dies before its k-th write reaches the cluster, or after it was applied and before the reply,
 * for every k; what starts again ends in the same state, with no machine too many and none forgotten.
 * What a step of the provider is, is a write too. */
#ifndef TESTS_SUPPORT_CRASH_H
#define TESTS_SUPPORT_CRASH_H

#include "sim/cluster.h"

struct crash {
    uint64_t at, seen; /* writes, over all lives */
    bool after;
    bool unarmed; /* none is counted yet */
    bool done;
};
/* Of a loop that is to die so: `c` is read and written as long as it lives. */
struct sim_faults crash_faults(struct crash *c);

void crash_every_write(bool after);

#endif
