#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/share.h"

enum { ROUNDS = 20000, READERS = 3 };

struct pair { /* a torn or freed object would show two different numbers */
    struct shared shared;
    uint64_t a, b;
};

static uint64_t destroyed;

static void destroy(struct shared *s)
{
    struct pair *p = (struct pair *)s;
    p->a = 1;
    p->b = 2;
    destroyed++;
    free(p);
}

static struct shared *pair_new(uint64_t n)
{
    struct pair *p = mem_new(sizeof(*p));
    p->a = n;
    p->b = n;
    return &p->shared;
}

static void *reader(void *user)
{
    struct share *s = user;
    struct share_cache c = {0};
    uint64_t last = 0;
    bool ok = true;
    while (last < ROUNDS) {
        const struct pair *p = (const struct pair *)share_read(s, &c);
        ok = ok && p->a == p->b && p->a >= last;
        last = p->a;
    }
    share_drop(&c);
    return ok ? user : NULL;
}

static void test_readers_see_whole_objects_in_order(void **state)
{
    (void)state;
    destroyed = 0;
    struct share s;
    share_init(&s, destroy);
    share_publish(&s, pair_new(0));
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &s), 0);
    for (uint64_t n = 1; n <= ROUNDS; n++) {
        share_publish(&s, pair_new(n));
        share_reap(&s);
    }
    for (int i = 0; i < READERS; i++) {
        void *ok;
        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
    share_release(&s);
    assert_int_equal(destroyed, ROUNDS + 1);
}

static void test_a_reference_outlives_publication(void **state)
{
    (void)state;
    destroyed = 0;
    struct share s;
    share_init(&s, destroy);
    share_publish(&s, pair_new(7));
    struct shared *mine = share_take(&s);
    share_publish(&s, pair_new(8));
    share_reap(&s);
    assert_int_equal(destroyed, 0);
    assert_int_equal(((struct pair *)mine)->a, 7);
    shared_unref(mine);
    share_reap(&s);
    assert_int_equal(destroyed, 1);
    share_release(&s);
    assert_int_equal(destroyed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_see_whole_objects_in_order),
        cmocka_unit_test(test_a_reference_outlives_publication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
