#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "kube/lease.h"
#include "support_fake_api.h"

/* Replicas of one program on one fake API server, each with a lease and a view of its own. */
struct replica {
    struct lease *lease;
    int changes;
    bool leading;
    char holder[64];
};

struct world {
    struct fake_api api;
    struct replica a, b;
    mono_ms now, due; /* when the requests under way are answered; 0: there are none */
};

enum {
    WALL = 1767323045, /* 2026-01-02T03:04:05Z */
    TAKES_MS = 300,    /* from a request to its answer */
    GAIN_MS = 3 * TAKES_MS, /* to look, to find no Lease and to create it, and to see that it is ours */
};

static void on_changed(void *user, bool leading, struct span holder)
{
    struct replica *r = user;
    r->changes++;
    r->leading = leading;
    size_t n = holder.len < sizeof(r->holder) ? holder.len : sizeof(r->holder) - 1;
    if (n != 0)
        memcpy(r->holder, holder.ptr, n);
    r->holder[n] = '\0';
}

static void start(struct world *w, struct replica *r, const char *identity)
{
    struct lease_config config = {.ns = SPAN("stowage-system"),
                                  .name = SPAN("stowage-leader-election"),
                                  .identity = span_of(identity),
                                  .seed = 7};
    struct err err;
    assert_true(lease_new(&config, &w->api.api,
                          &(struct lease_listener){.user = r, .changed = on_changed}, &r->lease,
                          &err));
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    fake_api_init(&w->api);
    w->now = 1000000;
    start(w, &w->a, "pod-a_1");
    start(w, &w->b, "pod-b_2");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    lease_free(w->a.lease);
    lease_free(w->b.lease);
    fake_api_release(&w->api);
    free(w);
    return 0;
}

static wall_ms wall_of(const struct world *w)
{
    return WALL * (wall_ms)1000 + w->now - 1000000;
}

static void step(struct world *w, struct replica *r)
{
    if (w->due != 0 && w->now >= w->due) {
        fake_api_answer(&w->api);
        w->due = 0;
    }
    lease_step(r->lease, w->now, wall_of(w));
    if (w->due == 0 && w->api.answered < w->api.count)
        w->due = w->now + TAKES_MS;
}

/* Lets time pass in small steps for those given; NULL: the process is gone or stopped. */
static void pass(struct world *w, struct replica *one, struct replica *two, span_ms ms)
{
    for (mono_ms end = w->now + ms; w->now < end; w->now += 100) {
        if (one != NULL)
            step(w, one);
        if (two != NULL)
            step(w, two);
        if (one != NULL && two != NULL)
            assert_false(lease_leads_until(one->lease) > w->now &&
                         lease_leads_until(two->lease) > w->now);
    }
}

static const char *field(struct world *w, const char *path)
{
    return fake_api_get(&w->api, KIND_LEASE, "stowage-system", "stowage-leader-election", path);
}

static void test_the_first_creates_and_leads(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    assert_true(w->a.leading);
    assert_string_equal(w->a.holder, "pod-a_1");
    assert_string_equal(field(w, "spec.holderIdentity"), "pod-a_1");
    assert_string_equal(field(w, "spec.leaseDurationSeconds"), "15");
    assert_string_equal(field(w, "spec.leaseTransitions"), "0");
    assert_string_equal(field(w, "spec.acquireTime"), "2026-01-02T03:04:05.300000Z");
    assert_string_equal(field(w, "spec.renewTime"), "2026-01-02T03:04:05.300000Z");
}

static void test_renewal_keeps_when_it_was_acquired(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, 60000);
    assert_string_equal(field(w, "spec.acquireTime"), "2026-01-02T03:04:05.300000Z");
    assert_string_equal(field(w, "spec.renewTime"), "2026-01-02T03:05:03.300000Z");
    assert_string_equal(field(w, "spec.leaseTransitions"), "0");
    assert_int_equal(w->a.changes, 2);     /* nobody leads, we lead */
    assert_in_range(w->api.count, 30, 34); /* every two seconds: one request */
}

static void test_only_one_leads(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, &w->b, 60000);
    assert_true(w->a.leading);
    assert_false(w->b.leading);
    assert_string_equal(w->b.holder, "pod-a_1");
}

static void test_the_other_takes_over_from_a_dead_one(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, &w->b, 10000);
    mono_ms died = w->now;
    while (!w->b.leading && w->now < died + 60000)
        pass(w, NULL, &w->b, 100);
    assert_true(w->b.leading);
    assert_in_range(w->now - died, 11000, 15000 + 2000 * 2.2 + 200);
    assert_string_equal(field(w, "spec.leaseTransitions"), "1");
    assert_string_equal(field(w, "spec.holderIdentity"), "pod-b_2");
    /* The first comes back (SIGSTOP, SIGCONT): its own clock has told it before it asks anyone. */
    assert_true(lease_leads_until(w->a.lease) < w->now);
    step(w, &w->a);
    assert_false(w->a.leading);
    pass(w, &w->a, NULL, GAIN_MS);
    assert_string_equal(w->a.holder, "pod-b_2");
    assert_int_equal(w->api.acts_cancelled, 1);
}

static void test_an_unreachable_api_server_ends_it_in_time(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, 1000);
    mono_ms until = lease_leads_until(w->a.lease);
    w->api.fail = 0;
    while (w->now < until) {
        assert_true(w->a.leading);
        pass(w, &w->a, NULL, GAIN_MS);
    }
    pass(w, &w->a, NULL, GAIN_MS);
    assert_false(w->a.leading);
    assert_int_equal(w->api.acts_cancelled, 1);
    assert_int_equal(lease_leads_until(w->a.lease), 0);
    w->api.fail = -1; /* back again, and nobody took it */
    pass(w, &w->a, NULL, 5000);
    assert_true(w->a.leading);
    assert_string_equal(field(w, "spec.leaseTransitions"), "0");
}

static void test_silence_ends_it_in_time(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    for (int i = 0; i < 101; i++) { /* requests are never answered */
        w->now += 100;
        lease_step(w->a.lease, w->now, wall_of(w));
    }
    assert_false(w->a.leading);
}

/* The others count from when the API server had our renewal, which is after we sent it and may be long
 * before we hear so. */
static void test_leadership_counts_from_when_the_renewal_was_sent(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    mono_ms sent = w->now += 2000;
    lease_step(w->a.lease, w->now, wall_of(w));
    w->now += 4000;
    assert_int_equal(fake_api_answer(&w->api), 1);
    lease_step(w->a.lease, w->now, wall_of(w));
    assert_true(w->a.leading);
    assert_int_equal(lease_leads_until(w->a.lease), sent + 10000);
}

static void test_an_answer_that_comes_too_late_is_none(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    w->now += 2000;
    lease_step(w->a.lease, w->now, wall_of(w));
    w->now += 10001;
    assert_int_equal(fake_api_answer(&w->api), 1);
    lease_step(w->a.lease, w->now, wall_of(w));
    assert_false(w->a.leading);
    assert_true(lease_leads_until(w->a.lease) <= w->now);
}

static void test_a_lost_reply_is_looked_up(void **state)
{
    struct world *w = *state;
    lease_step(w->a.lease, w->now, wall_of(w));
    fake_api_answer(&w->api); /* 404 */
    lease_step(w->a.lease, w->now, wall_of(w));
    fake_api_lose(&w->api); /* created, and we do not know */
    lease_step(w->a.lease, w->now, wall_of(w));
    assert_false(w->a.leading);
    pass(w, &w->a, NULL, 5000);
    assert_true(w->a.leading);
    assert_string_equal(field(w, "spec.leaseTransitions"), "0");
}

static void test_a_lost_renewal_does_not_cost_the_lead(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    w->now += 2000;
    lease_step(w->a.lease, w->now, wall_of(w));
    assert_int_equal(fake_api_lose(&w->api), 1);
    lease_step(w->a.lease, w->now, wall_of(w));
    pass(w, &w->a, &w->b, 30000);
    assert_true(w->a.leading);
    assert_int_equal(w->a.changes, 2); /* nobody leads, we lead */
}

static void test_release_lets_the_other_lead_at_once(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, &w->b, 10000);
    lease_release(w->a.lease);
    assert_int_equal(lease_leads_until(w->a.lease), 0);
    pass(w, &w->a, NULL, GAIN_MS);
    assert_true(lease_released(w->a.lease));
    assert_string_equal(field(w, "spec.holderIdentity"), "");
    assert_string_equal(field(w, "spec.leaseDurationSeconds"), "1"); /* for those who count on by it */
    mono_ms released = w->now;
    while (!w->b.leading && w->now < released + 60000)
        pass(w, NULL, &w->b, 100);
    assert_in_range(w->now - released, 0, 4500);
}

static void test_release_of_a_follower_touches_nothing(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, &w->b, 10000);
    lease_release(w->b.lease);
    pass(w, NULL, &w->b, 100);
    assert_true(lease_released(w->b.lease));
    assert_string_equal(field(w, "spec.holderIdentity"), "pod-a_1");
}

static void test_release_with_a_renewal_under_way(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    w->now += 2000;
    lease_step(w->a.lease, w->now, wall_of(w)); /* sends the renewal */
    lease_release(w->a.lease);
    lease_step(w->a.lease, w->now, wall_of(w));
    assert_false(lease_released(w->a.lease));
    pass(w, &w->a, NULL, GAIN_MS);
    assert_true(lease_released(w->a.lease));
    assert_string_equal(field(w, "spec.holderIdentity"), "");
}

static void test_release_ends_when_the_api_server_is_gone(void **state)
{
    struct world *w = *state;
    pass(w, &w->a, NULL, GAIN_MS);
    w->api.fail = 0;
    lease_release(w->a.lease);
    pass(w, &w->a, NULL, 3 * GAIN_MS);
    assert_true(lease_released(w->a.lease));
}

static void test_a_wall_clock_that_jumps_means_nothing(void **state)
{
    struct world *w = *state;
    fake_api_put(&w->api, KIND_LEASE, "stowage-system", "stowage-leader-election",
                 "{\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,"
                 "\"renewTime\":\"2001-01-01T00:00:00.000000Z\",\"leaseTransitions\":4}}");
    pass(w, &w->a, NULL, 14000);
    assert_false(w->a.leading); /* renewed long ago by its text; to us it has just been seen */
    pass(w, &w->a, NULL, 6000);
    assert_true(w->a.leading);
    assert_string_equal(field(w, "spec.leaseTransitions"), "5");
}

static void test_durations_that_cannot_work_are_refused(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *label;
        span_ms duration, deadline, retry;
    } rows[] = {
        {"half a second", 500, 300, 100},
        {"not whole seconds", 2500, 1500, 300},
        {"deadline as long as the lease", 2000, 2000, 300},
        {"retry as long as the deadline", 15000, 10000, 9000},
        {"deadline of exactly 1.2 retries", 15000, 12000, 10000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct lease_config config = {.ns = SPAN("n"),
                                      .name = SPAN("l"),
                                      .identity = SPAN("i"),
                                      .duration = rows[i].duration,
                                      .renew_deadline = rows[i].deadline,
                                      .retry = rows[i].retry};
        struct lease *lease;
        struct err err;
        if (lease_new(&config, &w->api.api, &(struct lease_listener){0}, &lease, &err))
            fail_msg("%s: accepted", rows[i].label);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_creates_and_leads),
        TEST(test_renewal_keeps_when_it_was_acquired),
        TEST(test_only_one_leads),
        TEST(test_the_other_takes_over_from_a_dead_one),
        TEST(test_an_unreachable_api_server_ends_it_in_time),
        TEST(test_silence_ends_it_in_time),
        TEST(test_leadership_counts_from_when_the_renewal_was_sent),
        TEST(test_an_answer_that_comes_too_late_is_none),
        TEST(test_a_lost_reply_is_looked_up),
        TEST(test_a_lost_renewal_does_not_cost_the_lead),
        TEST(test_release_lets_the_other_lead_at_once),
        TEST(test_release_of_a_follower_touches_nothing),
        TEST(test_release_with_a_renewal_under_way),
        TEST(test_release_ends_when_the_api_server_is_gone),
        TEST(test_a_wall_clock_that_jumps_means_nothing),
        TEST(test_durations_that_cannot_work_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
