#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "reconciler/memo.h"

struct thing {
    struct memo memo;
    int value;
};

static void what_is_seen_stays(void **state)
{
    struct memos t;
    (void)state;
    memos_init(&t, sizeof(struct thing), NULL);
    for (int i = 0; i < 500; i++) {
        char key[16];
        int n = snprintf(key, sizeof(key), "uid-%d", i);
        ((struct thing *)memos_at(&t, (struct span){key, (size_t)n}))->value = i;
    }
    memos_sweep(&t);
    assert_int_equal(t.count, 500);
    assert_int_equal(((struct thing *)memos_find(&t, SPAN("uid-321")))->value, 321);
    ((struct thing *)memos_find(&t, SPAN("uid-7")))->memo.gate.under_way = 1;
    ((struct thing *)memos_find(&t, SPAN("uid-8")))->memo.held = 1;
    memos_at(&t, SPAN("uid-9"));
    memos_sweep(&t);
    assert_int_equal(t.count, 3);
    assert_null(memos_find(&t, SPAN("uid-321")));
    assert_non_null(memos_find(&t, SPAN("uid-7")));
    memos_release(&t);
}

static void gates(void **state)
{
    struct gate g = {0};
    (void)state;
    assert_true(gate_open(&g, 0, 0));
    g.version = 10;
    assert_false(gate_open(&g, 9, 0)); /* our own write is not seen yet */
    assert_true(gate_open(&g, 10, 0));
    static const mono_ms waits[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        gate_fail(&g, 1000);
        assert_int_equal(g.retry_at, 1000 + waits[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_seen_stays),
        cmocka_unit_test(gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
