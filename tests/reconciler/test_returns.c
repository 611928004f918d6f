/* What the needs of the last hour say of the next. */
#include "reconciler/disruption/returns.h"
#include "tests/reconciler/support_objects.h"

enum { POOL = 1, OTHER = 2, MOST = 6 };

#define AT(minute) (NOW + (minute) * MS_MINUTE)
#define SMALL {.cpu = 1000, .memory = 1, .pods = 1}
#define LARGE {.cpu = 8000, .memory = 1, .pods = 1}

static const struct {
    const char *label;
    struct need needs[MOST];
    wall_ms until; /* of a node of four CPUs; 0: none */
    uint32_t nodes;
} rows[] = {
    {"nothing was needed", {{0}}, 0, 0},
    {"once is not again", {{AT(0), POOL, SMALL}}, 0, 0},
    {"nor is a wave", {{AT(0), POOL, SMALL}, {AT(0), POOL, SMALL}, {AT(1) - 1, POOL, SMALL}}, 0, 0},
    {"two waves, and the least time", {{AT(0), POOL, SMALL}, {AT(1), POOL, SMALL}}, AT(16), 1},
    {"twice the longest pause", {{AT(0), POOL, SMALL}, {AT(12), POOL, SMALL}, {AT(14), POOL, SMALL}}, AT(38), 2},
    {"never longer than asked for", {{AT(0), POOL, SMALL}, {AT(40), POOL, SMALL}}, AT(100), 1},
    {"the largest wave does not count", {{AT(0), POOL, SMALL}, {AT(5), POOL, SMALL}, {AT(5), POOL, SMALL},
                                         {AT(5), POOL, SMALL}}, AT(20), 1},
    {"what came before that time does not count", {{AT(0), POOL, SMALL}, {AT(9), POOL, SMALL}, {AT(16), POOL, SMALL},
                                                   {AT(18), POOL, SMALL}, {AT(18), POOL, SMALL}}, AT(36), 2},
    {"another pool's do not count", {{AT(0), OTHER, SMALL}, {AT(5), POOL, SMALL}}, 0, 0},
    {"nor what it has no room for", {{AT(0), POOL, LARGE}, {AT(5), POOL, SMALL}, {AT(9), POOL, LARGE}}, 0, 0},
    {"a pause is one between its like", {{AT(0), POOL, SMALL}, {AT(5), POOL, LARGE}, {AT(10), POOL, SMALL}}, AT(30), 1},
};

static void awaited(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct need needs[MOST];
        memcpy(needs, rows[r].needs, sizeof(needs));
        struct returns x = {.items = needs};
        while (x.count < MOST && needs[x.count].at != 0)
            x.count++;
        struct node_size room = {.cpu = 4000, .memory = 1, .pods = 110};
        struct awaited got = returns_awaited(&x, POOL, &room, MS_HOUR);
        if (got.until != rows[r].until || got.nodes != rows[r].nodes)
            fail_msg("%s: %u until %lld, not %u until %lld", rows[r].label, got.nodes, (long long)(got.until - NOW),
                     rows[r].nodes, (long long)(rows[r].until - NOW));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(awaited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
