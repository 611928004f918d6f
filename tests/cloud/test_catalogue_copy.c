/* A copy for another table of symbols is what the list is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cloud/catalogue.h"
#include "kube/kind.h"

/* Each requirement as text, in the order of its keys' ids, which has to be that of the table. */
static struct span text_of(struct arena *a, const struct requirements *r, const struct symtab *syms)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < r->count; i++) {
        assert_true(i == 0 || r->items[i - 1].key < r->items[i].key);
        for (uint32_t v = 1; v < r->items[i].count; v++)
            assert_true(r->items[i].values[v - 1] < r->items[i].values[v]);
    }
    requirements_put(&out, r, syms);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

static void expect_same_amounts(struct resources x, const struct symtab *xs, struct resources y, const struct symtab *ys)
{
    assert_int_equal(x.count, y.count);
    for (uint32_t i = 0; i < x.count; i++) {
        assert_true(span_eq(sym_text(xs, x.items[i].name), sym_text(ys, y.items[i].name)));
        assert_int_equal(x.items[i].value, y.items[i].value);
    }
}

static void expect_same(struct arena *a, const struct instance_type *x, const struct symtab *xs,
                        const struct instance_type *y, const struct symtab *ys)
{
    assert_true(span_eq(x->name, y->name) && span_eq(sym_text(ys, y->name_sym), x->name));
    assert_true(span_eq(text_of(a, &x->requirements, xs), text_of(a, &y->requirements, ys)));
    expect_same_amounts(x->capacity, xs, y->capacity, ys);
    expect_same_amounts(x->allocatable, xs, y->allocatable, ys);
    assert_int_equal(x->offering_count, y->offering_count);
    for (uint32_t i = 0; i < x->offering_count; i++) {
        assert_true(x->offerings[i].price == y->offerings[i].price);
        assert_true(span_eq(text_of(a, &x->offerings[i].requirements, xs), text_of(a, &y->offerings[i].requirements, ys)));
    }
}

static void a_copy_is_the_same_in_another_table(void **state)
{
    struct arena a;
    struct catalogue from, to;
    struct symtab *xs = kube_symtab_new(), *ys = kube_symtab_new();
    struct catalogue_source *source = catalogue_builtin();
    (void)state;
    arena_init(&a, 0);
    catalogue_build(source, &a, xs, &from);
    catalogue_source_free(source);
    for (uint32_t s = symtab_limit(xs) - 1; s > 0; s--) /* all of it the other way round */
        sym_intern(ys, sym_text(xs, s));
    catalogue_copy(&from, xs, &a, ys, &to);
    assert_int_equal(to.count, from.count);
    assert_true(from.count > 100);
    for (uint32_t i = 0; i < from.count; i++)
        expect_same(&a, &from.items[i], xs, &to.items[i], ys);
    assert_int_equal(to.well_known.count, from.well_known.count);
    for (uint32_t i = 1; i < to.well_known.count; i++)
        assert_true(to.well_known.items[i - 1] < to.well_known.items[i]);
    assert_int_equal(to.domain_count, from.domain_count);
    symtab_unref(xs);
    symtab_unref(ys);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_copy_is_the_same_in_another_table)};
    return cmocka_run_group_tests_name("catalogue_copy", tests, NULL, NULL);
}
