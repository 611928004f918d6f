#include "kube/instance_type.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct arena arena;
static struct symtab *syms;

static void test_allocatable(void **state)
{
    (void)state;
    sym huge = sym_intern(syms, SPAN("hugepages-2Mi")),
        gpu = sym_intern(syms, SPAN("example.com/gpu"));
    struct resource capacity[] = {{SYM_CPU, 4000}, {SYM_MEMORY, 1000}, {huge, 300}};
    struct resource overhead[] = {{SYM_CPU, 100}, {SYM_MEMORY, 200}, {gpu, 5}};
    struct instance_type t = {.capacity = {capacity, 3}, .overhead = {overhead, 3}};
    instance_type_finish(&arena, &t, syms);
    assert_int_equal(resources_get(t.allocatable, SYM_CPU), 3900);
    assert_int_equal(resources_get(t.allocatable, SYM_MEMORY), 500);
    assert_int_equal(t.allocatable.count, 3); /* overhead of what is not there is passed over */
    capacity[2].value = 2000;
    instance_type_finish(&arena, &t, syms);
    assert_int_equal(resources_get(t.allocatable, SYM_MEMORY), 0); /* not below zero */
    capacity[2].value = 0;
    overhead[0].value = 5000;
    instance_type_finish(&arena, &t, syms);
    assert_int_equal(resources_get(t.allocatable, SYM_CPU), -1000); /* kept: fits nothing */
}

static void test_overrides(void **state)
{
    (void)state;
    struct resource capacity[] = {{SYM_CPU, 4000}, {SYM_MEMORY, 1000}};
    struct resource overhead[] = {{SYM_CPU, 100}, {SYM_MEMORY, 200}};
    struct resource more[] = {{SYM_MEMORY, 3000}, {SYM_PODS, 10}};
    struct resource less[] = {{SYM_CPU, 50}};
    struct instance_type t = {.capacity = {capacity, 2}, .overhead = {overhead, 2}};
    instance_type_finish(&arena, &t, syms);
    struct offering o = {.has_capacity_override = true,
                         .capacity_override = {more, 2},
                         .has_overhead_override = true,
                         .overhead_override = {less, 1}};
    struct resources got = offering_allocatable(&arena, &t, &o, syms);
    assert_int_equal(resources_get(got, SYM_CPU), 3950);
    assert_int_equal(resources_get(got, SYM_MEMORY), 2800);
    assert_int_equal(resources_get(got, SYM_PODS), 10);
    assert_int_equal(resources_get(t.allocatable, SYM_MEMORY), 800); /* the base stays */
}

static void test_launchable(void **state)
{
    (void)state;
    static const struct {
        sym kind; /* capacity type; SYM_NONE: not said */
        bool available;
        int64_t left;
        bool want;
    } rows[] = {
        {SYM_ON_DEMAND, true, 0, true},  {SYM_ON_DEMAND, false, 0, false},
        {SYM_RESERVED, true, 0, false},  {SYM_RESERVED, true, 1, true},
        {SYM_RESERVED, false, 1, false}, {SYM_NONE, true, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct requirement r = requirement_in(&arena, syms, SYM_CAPACITY_TYPE, rows[i].kind);
        struct offering o = {.available = rows[i].available,
                             .reservation_capacity = rows[i].left,
                             .requirements = {&r, rows[i].kind != SYM_NONE}};
        if (offering_launchable(&o, syms) != rows[i].want)
            fail_msg("row %zu: want %d", i, rows[i].want);
    }
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocatable),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_launchable),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
