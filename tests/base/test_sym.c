#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/sym.h"

static const struct span fixed[] = {SPAN_INIT(""), SPAN_INIT("cpu"), SPAN_INIT("memory")};

static struct span number(char *at, size_t size, int i)
{
    int n = snprintf(at, size, "label-%d", i);
    return (struct span){at, (size_t)n};
}

static void test_fixed_ids(void **state)
{
    (void)state;
    struct symtab *t = symtab_new(fixed, COUNT_OF(fixed));
    assert_int_equal(sym_find(t, SPAN("cpu")), 2);
    assert_int_equal(sym_intern(t, SPAN("memory")), 3);
    assert_int_equal(sym_intern(t, SPAN("")), 1);
    assert_int_equal(sym_intern(t, (struct span){NULL, 0}), SYM_NONE);
    assert_int_equal(sym_find(t, SPAN("nothing")), SYM_NONE);
    assert_null(sym_text(t, SYM_NONE).ptr);
    symtab_unref(t);
}

static void test_many_keep_their_ids(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct symtab *t = symtab_new(fixed, COUNT_OF(fixed));
    static sym ids[COUNT];
    char text[32];
    for (int i = 0; i < COUNT; i++)
        ids[i] = sym_intern(t, number(text, sizeof(text), i));
    for (int i = 0; i < COUNT; i++) {
        struct span want = number(text, sizeof(text), i);
        assert_int_equal(sym_intern(t, want), ids[i]);
        assert_int_equal(sym_find(t, want), ids[i]);
        assert_true(span_eq(sym_text(t, ids[i]), want));
        assert_true(ids[i] < symtab_limit(t));
    }
    symtab_unref(t);
}

/* One text too many is refused, and those that are there stay; a local table over it goes on. */
static void test_full(void **state)
{
    (void)state;
    enum { MOST = 1024 };
    struct symtab *t = symtab_new_limited(fixed, COUNT_OF(fixed), MOST);
    struct arena a;
    char text[32];
    arena_init(&a, 0);
    for (int i = 0; i < MOST - (int)COUNT_OF(fixed); i++)
        assert_int_not_equal(sym_intern(t, number(text, sizeof(text), i)), SYM_NONE);
    assert_int_equal(symtab_refused(t), 0);
    assert_int_equal(sym_intern(t, SPAN("one too many")), SYM_NONE);
    assert_int_equal(symtab_refused(t), 1);
    struct span seven = number(text, sizeof(text), 7);
    assert_true(span_eq(sym_text(t, sym_intern(t, seven)), seven));
    assert_int_equal(symtab_refused(t), 1);
    struct symtab *local = symtab_new_local(t, &a);
    assert_true(span_eq(sym_text(local, sym_intern(local, SPAN("one too many"))), SPAN("one too many")));
    arena_release(&a);
    symtab_unref(t);
}

static void test_local_lies_over_shared(void **state)
{
    (void)state;
    struct symtab *t = symtab_new(fixed, COUNT_OF(fixed));
    struct arena a;
    arena_init(&a, 0);
    struct symtab *local = symtab_new_local(t, &a);
    assert_int_equal(sym_intern(local, SPAN("cpu")), 2);
    char text[32];
    static sym ids[10000];
    for (int i = 0; i < 10000; i++)
        ids[i] = sym_intern(local, number(text, sizeof(text), i));
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(sym_find(local, number(text, sizeof(text), i)), ids[i]);
        assert_true(span_eq(sym_text(local, ids[i]), number(text, sizeof(text), i)));
    }
    assert_int_equal(sym_find(t, SPAN("label-1")), SYM_NONE); /* the shared table learnt nothing */
    /* What the writer learns meanwhile does not give a text a second id within one request. */
    sym later = sym_intern(t, SPAN("label-1"));
    assert_int_not_equal(later, ids[1]);
    assert_int_equal(sym_intern(local, SPAN("label-1")), ids[1]);
    assert_int_equal(sym_find(local, SPAN("label-1")), ids[1]);
    arena_release(&a);
    symtab_unref(t);
}

enum { RACE_COUNT = 30000 };

struct race {
    struct symtab *t;
    _Atomic(int) given; /* label-0 … label-(given-1) are interned */
    _Atomic(bool) wrong;
};

static void *read_along(void *user)
{
    struct race *r = user;
    char text[32];
    for (int known = 0; known < RACE_COUNT;) {
        known = atomic_load(&r->given);
        for (int i = known > 50 ? known - 50 : 0; i < known; i++) {
            struct span want = number(text, sizeof(text), i);
            sym id = sym_find(r->t, want);
            if (id == SYM_NONE || !span_eq(sym_text(r->t, id), want))
                atomic_store(&r->wrong, true);
        }
    }
    return NULL;
}

static void test_readers_beside_the_writer(void **state)
{
    (void)state;
    struct race r = {.t = symtab_new(fixed, COUNT_OF(fixed))};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_along, &r), 0);
    char text[32];
    for (int i = 0; i < RACE_COUNT; i++) {
        sym_intern(r.t, number(text, sizeof(text), i));
        atomic_store(&r.given, i + 1);
    }
    pthread_join(thread, NULL);
    assert_false(atomic_load(&r.wrong));
    symtab_unref(r.t);
}

static void *intern_all(void *user)
{
    struct race *r = user;
    static const int step = 7919; /* not in the order of the other */
    char text[32];
    for (int i = 0; i < RACE_COUNT; i++) {
        struct span want = number(text, sizeof(text), (int)((long)i * step % RACE_COUNT));
        sym id = sym_intern(r->t, want);
        if (!span_eq(sym_text(r->t, id), want))
            atomic_store(&r->wrong, true);
    }
    return NULL;
}

static void test_two_that_intern_the_same(void **state)
{
    (void)state;
    struct race r = {.t = symtab_new(fixed, COUNT_OF(fixed))};
    pthread_t thread;
    char text[32];
    assert_int_equal(pthread_create(&thread, NULL, intern_all, &r), 0);
    for (int i = 0; i < RACE_COUNT; i++) {
        struct span want = number(text, sizeof(text), i);
        sym id = sym_intern(r.t, want);
        if (!span_eq(sym_text(r.t, id), want))
            atomic_store(&r.wrong, true);
    }
    pthread_join(thread, NULL);
    assert_false(atomic_load(&r.wrong));
    assert_int_equal(symtab_limit(r.t), COUNT_OF(fixed) + RACE_COUNT + 1); /* one id a text */
    symtab_unref(r.t);
}

/* ---- texts that were chosen so that their places are the same ---- */

enum { CHOSEN = 3000, PLACES = 8192, CHOSEN_LEN = 8 }; /* so many places has the index of so many texts */

/* The next text of eight letters. */
static void count_up(char *text)
{
    for (size_t i = 0; i < CHOSEN_LEN; i++) {
        if (text[i] != 'z') {
            text[i]++;
            return;
        }
        text[i] = 'a';
    }
}

static double seconds_to_intern(char (*texts)[CHOSEN_LEN])
{
    enum { TRIES = 5 };
    double least = 1e9;
    for (int try = 0; try < TRIES; try++) {
        struct symtab *t = symtab_new(fixed, COUNT_OF(fixed));
        clock_t before = clock();
        for (int i = 0; i < CHOSEN; i++)
            sym_intern(t, (struct span){texts[i], CHOSEN_LEN});
        double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
        symtab_unref(t);
    }
    return least;
}

/* Labels are chosen by their sender: a hash that anyone can compute must not be the place in the index. */
static void test_chosen_texts(void **state)
{
    (void)state;
    enum { SLOWER_MOST = 10 };
    static char chosen[CHOSEN][CHOSEN_LEN], plain[CHOSEN][CHOSEN_LEN];
    char text[] = "aaaaaaaa";
    for (int found = 0, all = 0; found < CHOSEN; count_up(text)) {
        if (all < CHOSEN)
            memcpy(plain[all++], text, CHOSEN_LEN);
        if ((span_hash((struct span){text, CHOSEN_LEN}) & (PLACES - 1)) == 0)
            memcpy(chosen[found++], text, CHOSEN_LEN);
    }
    double of_plain = seconds_to_intern(plain), of_chosen = seconds_to_intern(chosen);
    if (of_chosen > SLOWER_MOST * of_plain)
        fail_msg("%.4f s for texts that were chosen, %.4f s for others", of_chosen, of_plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_ids),
        cmocka_unit_test(test_many_keep_their_ids),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_local_lies_over_shared),
        cmocka_unit_test(test_readers_beside_the_writer),
        cmocka_unit_test(test_two_that_intern_the_same),
        cmocka_unit_test(test_chosen_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
