/* Stowage dies before its k-th write reaches the cluster, or after it was applied and before the reply,
 * for every k; what starts again ends in the same state, with no machine too many and none forgotten.
 * What a step of the provider is, is a write too. */
#ifndef TESTS_SUPPORT_CRASH_H
#define TESTS_SUPPORT_CRASH_H

#include <stdbool.h>

void crash_every_write(bool after);

#endif
