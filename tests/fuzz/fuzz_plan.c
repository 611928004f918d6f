/* Bytes that draw a cluster: its plan obeys every rule, and is the same whatever the order of the input.
 * One byte is one draw, so that changing one changes one thing about the cluster. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "../planner/support_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { DRAWS_MAX = 4096 }; /* a hundred pods; more only makes it slower */
    struct draws d = {.bytes = data, .left = size < DRAWS_MAX ? size : DRAWS_MAX};
    struct random_cluster r;
    struct random_tally tally = {0};
    struct buf wrong = {0};
    if (size == 0)
        return 0;
    random_cluster_make(&r, &d);
    bool good = random_cluster_holds(&r, &tally, &wrong);
    for (uint32_t i = 0; !good && i < r.count; i++)
        fprintf(stderr, "%s", r.docs[i].ptr);
    if (!good)
        fprintf(stderr, "%s", wrong.ptr);
    assert(good);
    buf_release(&wrong);
    random_cluster_release(&r);
    return 0;
}
