/* What is of no more use to a shelf goes to its litter: each block once, when it is of no more use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "kube/pod.h"
#include "kube/shelf.h"

struct fixture {
    struct litter litter;
    struct shelf shelf;
    struct symtab *syms;
};

static const struct pod *put(struct fixture *f, const char *name)
{
    struct sym_pair label = {sym_intern(f->syms, SPAN("app")), sym_intern(f->syms, SPAN("web"))};
    struct pod pod = {.meta = {.ns = SPAN("web"), .name = span_of(name), .labels = {&label, 1}}};
    struct shelf_head head = {.born = f->litter.sequence + 1};
    const void *object = shelf_pack(&f->shelf, &pod_schema, &pod, f->syms, f->syms, head);
    shelf_put(&f->shelf, object);
    return object;
}

/* As when a snapshot is published: what stands is seen from now on. */
static void publish(struct fixture *f)
{
    f->litter.sequence++;
}

static uint32_t dropped(const struct fixture *f, const void *object)
{
    uint32_t times = 0;
    for (size_t i = f->litter.at; i < f->litter.count; i++)
        times += f->litter.items[i].block == shelf_head(object);
    return times;
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->syms = kube_symtab_new();
    shelf_init(&f->shelf, &f->litter);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    shelf_release(&f->shelf);
    litter_collect(&f->litter, f->litter.sequence + 1);
    litter_release(&f->litter);
    symtab_unref(f->syms);
    free(f);
    return 0;
}

static void test_what_is_replaced_is_thrown_away(void **state)
{
    struct fixture *f = *state;
    const struct pod *first = put(f, "a"), *other = put(f, "b");
    publish(f);
    const struct pod *second = put(f, "a");
    assert_int_equal(dropped(f, first), 1);
    assert_int_equal(dropped(f, other), 0);
    assert_int_equal(dropped(f, second), 0);
    publish(f);
    put(f, "a");
    assert_int_equal(dropped(f, first), 1);
    assert_int_equal(dropped(f, second), 1);
    assert_int_equal(f->shelf.count, 2);
}

static void test_what_is_removed_is_thrown_away(void **state)
{
    struct fixture *f = *state;
    const struct pod *one = put(f, "a"), *other = put(f, "b");
    publish(f);
    assert_true(shelf_remove(&f->shelf, SPAN("web"), SPAN("a")));
    assert_false(shelf_remove(&f->shelf, SPAN("web"), SPAN("a")));
    assert_int_equal(dropped(f, one), 1);
    assert_int_equal(dropped(f, other), 0);
    assert_int_equal(shelf_sweep(&f->shelf, 1), 1); /* of a list that has not seen it */
    assert_int_equal(dropped(f, other), 1);
    assert_int_equal(f->shelf.count, 0);
}

/* Objects that say the same have one block of it, which goes with the last of them. */
static void test_what_was_shared_goes_with_the_last(void **state)
{
    struct fixture *f = *state;
    put(f, "a");
    put(f, "b");
    publish(f);
    uint32_t shared = f->shelf.commons.count;
    assert_true(shared > 0);
    shelf_remove(&f->shelf, SPAN("web"), SPAN("a"));
    assert_int_equal(f->shelf.commons.count, shared);
    put(f, "b");
    assert_int_equal(f->shelf.commons.count, shared);
    shelf_remove(&f->shelf, SPAN("web"), SPAN("b"));
    assert_int_equal(f->shelf.commons.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_replaced_is_thrown_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_removed_is_thrown_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_shared_goes_with_the_last, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
