/* Who is asked when for his types, and who has which list meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cloud/listings.h"
#include "kube/kind.h"

enum { LISTS = 200 }; /* that a thread makes while another one copies */

struct seller { /* a provider with nothing but a name for its list */
    struct provider provider; /* first */
    _Atomic(uint64_t) generation;
    bool fails, moves; /* while it says what it sells, that becomes something else */
    uint32_t asked; /* in all */
};

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out, struct err *err)
{
    struct seller *x = (struct seller *)p;
    x->asked++;
    if (x->fails)
        return err_set(err, ERR_RETRY, "not now");
    *out = (struct catalogue){.name = arena_printf(a, "list %llu", (unsigned long long)x->generation)};
    out->well_known = (struct syms){ARENA_ARRAY(a, sym, 1), 1};
    out->well_known.items[0] = sym_intern(syms, out->name);
    x->generation += x->moves;
    return true;
}

static uint64_t generation(struct provider *p)
{
    return ((struct seller *)p)->generation;
}

static const struct provider_ops ops = {.name = "seller", .types = types, .generation = generation};

struct fixture {
    struct seller sellers[2];
    struct listings *listings;
    void (*job[2])(void *arg); /* asked and not done; NULL: none */
    void *arg[2];
    uint32_t fresh;
};

static void keep_job(void *user, uint32_t provider, void (*job)(void *arg), void *arg)
{
    struct fixture *f = user;
    assert_null(f->job[provider]); /* one at a time */
    f->job[provider] = job;
    f->arg[provider] = arg;
}

static void count_fresh(void *user)
{
    ((struct fixture *)user)->fresh++;
}

static void answer(struct fixture *f, uint32_t provider)
{
    void (*job)(void *arg) = f->job[provider];
    assert_non_null(job);
    f->job[provider] = NULL;
    job(f->arg[provider]);
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct listings_worker worker = {.user = f, .run = keep_job, .fresh = count_fresh};
    struct providers providers = {.count = 2};
    for (uint32_t i = 0; i < 2; i++) {
        f->sellers[i].provider.ops = &ops;
        f->sellers[i].generation = 1;
        providers.items[i] = &f->sellers[i].provider;
    }
    f->listings = listings_new(&providers, &worker);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    listings_free(f->listings);
    free(f);
    return 0;
}

/* The name of the list that a copy has; the copy's own table knows it. */
static void expect_list(struct listings *listings, uint32_t provider, const char *name)
{
    struct arena a;
    struct symtab *syms = kube_symtab_new();
    struct catalogue c;
    arena_init(&a, 0);
    uint64_t number = listings_copy(listings, provider, &a, syms, &c);
    assert_true(c.partial == (name == NULL));
    assert_true((number == 0) == (name == NULL));
    if (name != NULL) {
        assert_true(span_eq(c.name, span_of(name)));
        assert_true(span_eq(sym_text(syms, c.well_known.items[0]), span_of(name)));
    }
    symtab_unref(syms);
    arena_release(&a);
}

static void one_that_is_silent_leaves_the_others(void **state)
{
    struct fixture *f = *state;
    listings_look(f->listings, 5);
    answer(f, 0);
    expect_list(f->listings, 0, "list 1");
    expect_list(f->listings, 1, NULL);
    assert_int_equal(f->fresh, 1);
    f->sellers[0].generation = 2;
    listings_look(f->listings, 6);
    expect_list(f->listings, 0, "list 1"); /* until the next one is there */
    answer(f, 0);
    expect_list(f->listings, 0, "list 2");
    assert_int_equal(listings_number(f->listings, 0), 2);
    assert_int_equal(listings_number(f->listings, 1), 0);
    answer(f, 1);
    expect_list(f->listings, 1, "list 1");
    assert_int_equal(f->fresh, 3);
}

static void who_sells_the_same_is_not_asked_again(void **state)
{
    struct fixture *f = *state;
    listings_look(f->listings, 0);
    listings_look(f->listings, MS_HOUR); /* still asked */
    answer(f, 0);
    listings_look(f->listings, 2 * MS_HOUR);
    assert_null(f->job[0]);
    assert_int_equal(f->sellers[0].asked, 1);
    answer(f, 1);
}

static void what_changes_meanwhile_is_asked_for_again(void **state)
{
    struct fixture *f = *state;
    f->sellers[0].moves = true;
    listings_look(f->listings, 0);
    answer(f, 0);
    f->sellers[0].moves = false;
    listings_look(f->listings, 1);
    answer(f, 0);
    expect_list(f->listings, 0, "list 2");
    listings_look(f->listings, 2);
    assert_null(f->job[0]);
    answer(f, 1);
}

static void who_cannot_say_is_asked_again_later(void **state)
{
    struct fixture *f = *state;
    listings_look(f->listings, 0);
    answer(f, 0);
    answer(f, 1);
    f->sellers[0].generation = 2;
    f->sellers[0].fails = true;
    listings_look(f->listings, 100);
    answer(f, 0);
    expect_list(f->listings, 0, "list 1"); /* the list before stays */
    assert_int_equal(f->fresh, 2);
    listings_look(f->listings, 100 + LISTINGS_AGAIN_MS - 1);
    assert_null(f->job[0]);
    f->sellers[0].fails = false;
    listings_look(f->listings, 100 + LISTINGS_AGAIN_MS);
    answer(f, 0);
    expect_list(f->listings, 0, "list 2");
}

static void a_first_list_is_waited_for_a_while(void **state)
{
    struct fixture *f = *state;
    assert_false(listings_awaited(f->listings)); /* nobody was asked */
    listings_look(f->listings, 1000);
    assert_true(listings_awaited(f->listings));
    answer(f, 0);
    assert_true(listings_awaited(f->listings));
    listings_look(f->listings, 1000 + LISTINGS_FIRST_MS - 1);
    assert_true(listings_awaited(f->listings));
    listings_look(f->listings, 1000 + LISTINGS_FIRST_MS);
    assert_false(listings_awaited(f->listings));
    answer(f, 1);
}

static void who_says_that_he_cannot_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    listings_look(f->listings, 1000);
    f->sellers[1].fails = true;
    answer(f, 0);
    answer(f, 1);
    assert_false(listings_awaited(f->listings));
}

/* ---- on threads ---- */

struct threads {
    struct seller seller;
    struct listings *listings;
    pthread_t thread;
    uint32_t begun;
    struct {
        void (*job)(void *arg);
        void *arg;
    } asked;
};

static void *work(void *user)
{
    struct threads *t = user;
    t->asked.job(t->asked.arg);
    return NULL;
}

static void run_on_thread(void *user, uint32_t provider, void (*job)(void *arg), void *arg)
{
    struct threads *t = user;
    (void)provider;
    if (t->begun++ != 0)
        pthread_join(t->thread, NULL);
    t->asked.job = job;
    t->asked.arg = arg;
    assert_int_equal(pthread_create(&t->thread, NULL, work, t), 0);
}

static void lists_are_copied_while_newer_ones_are_made(void **state)
{
    struct threads t = {.seller = {.provider = {&ops}, .generation = 1}};
    struct listings_worker worker = {.user = &t, .run = run_on_thread};
    struct symtab *syms = kube_symtab_new();
    struct catalogue c;
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    t.listings = listings_new(&(struct providers){{&t.seller.provider}, 1}, &worker);
    for (uint64_t last = 0; t.begun < LISTS; arena_clear(&a)) {
        listings_look(t.listings, 0);
        t.seller.generation++;
        uint64_t number = listings_copy(t.listings, 0, &a, syms, &c);
        assert_true(number >= last && number <= t.begun);
        last = number;
    }
    pthread_join(t.thread, NULL);
    assert_true(listings_number(t.listings, 0) == LISTS);
    listings_free(t.listings);
    symtab_unref(syms);
    arena_release(&a);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_that_is_silent_leaves_the_others),
        TEST(who_sells_the_same_is_not_asked_again),
        TEST(what_changes_meanwhile_is_asked_for_again),
        TEST(who_cannot_say_is_asked_again_later),
        TEST(a_first_list_is_waited_for_a_while),
        TEST(who_says_that_he_cannot_is_not_waited_for),
        cmocka_unit_test(lists_are_copied_while_newer_ones_are_made),
    };
    return cmocka_run_group_tests_name("listings", tests, NULL, NULL);
}
