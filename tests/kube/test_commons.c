/* What objects share is there as long as one of them is, and no longer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "kube/commons.h"

static char *join(struct commons *c, uint64_t digest, size_t size, uint32_t *number, bool fresh)
{
    bool is_fresh;
    char *at = commons_join(c, digest, size, 1, number, &is_fresh);
    assert_int_equal(is_fresh, fresh);
    if (is_fresh)
        memset(at, (int)digest & 0x7f, size);
    return at;
}

static void the_same_is_there_once(void **state)
{
    struct commons c = {.count = 0};
    struct litter litter = {.sequence = 5};
    uint32_t a, b, other, longer;
    (void)state;
    char *at = join(&c, 7, 16, &a, true);
    assert_ptr_equal(join(&c, 7, 16, &b, false), at);
    assert_int_equal(a, b);
    assert_ptr_not_equal(join(&c, 8, 16, &other, true), at);
    assert_ptr_not_equal(join(&c, 7, 24, &longer, true), at);
    commons_leave(&c, a, &litter);
    assert_ptr_equal(join(&c, 7, 16, &a, false), at);
    commons_leave(&c, a, &litter);
    commons_leave(&c, b, &litter);
    assert_int_equal(at[15], 7); /* a snapshot of before may look */
    join(&c, 7, 16, &a, true);
    litter_collect(&litter, 6);
    commons_release(&c);
    litter_release(&litter);
}

/* Many come and go, as templates do; each finds its own content. The address sanitizer sees what is left. */
static void each_finds_its_own(void **state)
{
    enum { DIGESTS = 300, STEPS = 20000 };
    static uint32_t number[DIGESTS], users[DIGESTS];
    static char *at[DIGESTS];
    struct commons c = {.count = 0};
    struct litter litter = {.sequence = 0};
    uint64_t draw = 1;
    (void)state;
    for (unsigned i = 0; i < STEPS; i++) {
        draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned d = (unsigned)(draw >> 33) % DIGESTS;
        if ((draw >> 60) < 8 && users[d] != 0) {
            assert_int_equal(at[d][d], d & 0x7f);
            commons_leave(&c, number[d], &litter);
            users[d]--;
            continue;
        }
        char *found = join(&c, d, d + 1, &number[d], users[d] == 0);
        assert_true(users[d] == 0 || found == at[d]);
        at[d] = found;
        users[d]++;
    }
    uint32_t in_use = 0;
    for (unsigned d = 0; d < DIGESTS; d++)
        in_use += users[d] != 0;
    assert_int_equal(c.count, in_use);
    assert_true(c.item_count <= DIGESTS);
    commons_release(&c);
    litter_collect(&litter, 1);
    litter_release(&litter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_there_once),
        cmocka_unit_test(each_finds_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
