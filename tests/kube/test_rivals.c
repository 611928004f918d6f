#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "kube/rivals.h"
#include "support_fake_api.h"

struct world {
    struct fake_api api;
    struct rivals *rivals;
    mono_ms now;
    int renewals;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    const struct span names[] = {SPAN("karpenter-leader-election"), SPAN("cluster-autoscaler")};
    fake_api_init(&w->api);
    w->rivals = rivals_new(&w->api.api, names, COUNT_OF(names), SPAN("me"));
    w->now = 5000;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    rivals_free(w->rivals);
    fake_api_release(&w->api);
    free(w);
    return 0;
}

static void put(struct world *w, const char *ns, const char *name, const char *holder, int seconds)
{
    char text[512];
    snprintf(
        text, sizeof(text),
        "{\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"renewTime\":\"%d\"}}",
        holder, seconds, w->renewals++);
    fake_api_put(&w->api, KIND_LEASE, ns, name, text);
}

static enum rivals_verdict pass(struct world *w, span_ms ms)
{
    for (mono_ms end = w->now + ms; w->now < end; w->now += 100) {
        rivals_step(w->rivals, w->now);
        while (fake_api_answer(&w->api) != 0)
            rivals_step(w->rivals, w->now);
    }
    return rivals_verdict(w->rivals);
}

static void test_nobody_else(void **state)
{
    struct world *w = *state;
    rivals_step(w->rivals, w->now);
    assert_int_equal(rivals_verdict(w->rivals), RIVALS_UNKNOWN);
    assert_int_equal(pass(w, 100), RIVALS_NONE);
    assert_int_equal(rivals_text(w->rivals).len, 0);
}

static void test_one_that_renews_is_live(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 60; i++) {
        put(w, "karpenter", "karpenter-leader-election", "karpenter-7f9", 15);
        assert_int_equal(pass(w, 2000), RIVALS_LIVE);
    }
    assert_string_equal(rivals_text(w->rivals).ptr,
                        "karpenter/karpenter-leader-election, held by karpenter-7f9");
}

static void test_one_left_behind_ages_out(void **state)
{
    struct world *w = *state;
    put(w, "kube-system", "cluster-autoscaler", "ca-1", 15);
    assert_int_equal(pass(w, 14900), RIVALS_LIVE);
    assert_int_equal(pass(w, 300), RIVALS_NONE);
    put(w, "kube-system", "cluster-autoscaler", "ca-1", 15); /* and comes back */
    assert_int_equal(pass(w, 10100), RIVALS_LIVE);
}

static const struct {
    const char *label, *name, *holder;
    enum rivals_verdict want;
} rows[] = {
    {"nobody holds it", "cluster-autoscaler", "", RIVALS_NONE},
    {"we hold it", "karpenter-leader-election", "me", RIVALS_NONE},
    {"somebody holds it", "karpenter-leader-election", "not-me", RIVALS_LIVE},
    {"another name", "kube-scheduler", "x", RIVALS_NONE},
};

static void test_rows(void **state)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        teardown(state);
        setup(state);
        struct world *w = *state;
        put(w, "some-namespace", rows[i].name, rows[i].holder, 15);
        if (pass(w, 100) != rows[i].want)
            fail_msg("%s", rows[i].label);
    }
}

static void test_a_lease_without_a_duration_has_the_usual_one(void **state)
{
    struct world *w = *state;
    fake_api_put(&w->api, KIND_LEASE, "x", "cluster-autoscaler",
                 "{\"spec\":{\"holderIdentity\":\"ca\"}}");
    assert_int_equal(pass(w, 14900), RIVALS_LIVE);
    assert_int_equal(pass(w, 300), RIVALS_NONE);
}

static void test_not_known_until_every_name_was_answered(void **state)
{
    struct world *w = *state;
    w->api.fail = 403;
    assert_int_equal(pass(w, 60000), RIVALS_UNKNOWN);
    assert_int_equal(rivals_error(w->rivals)->kind, ERR_FORBIDDEN);
    w->api.fail = -1;
    assert_int_equal(pass(w, 10100), RIVALS_NONE);
}

static void test_a_failed_look_keeps_what_was_known(void **state)
{
    struct world *w = *state;
    put(w, "karpenter", "karpenter-leader-election", "karpenter-7f9", 60);
    assert_int_equal(pass(w, 100), RIVALS_LIVE);
    w->api.fail = 0;
    assert_int_equal(pass(w, 30000), RIVALS_LIVE);
    assert_int_equal(pass(w, 30100), RIVALS_NONE);
}

static void test_one_that_is_deleted_is_gone(void **state)
{
    struct world *w = *state;
    put(w, "karpenter", "karpenter-leader-election", "karpenter-7f9", 3600);
    assert_int_equal(pass(w, 100), RIVALS_LIVE);
    fake_api_remove(&w->api, KIND_LEASE, "karpenter", "karpenter-leader-election");
    assert_int_equal(pass(w, 10100), RIVALS_NONE);
}

static void test_more_than_can_be_kept_count_as_live(void **state)
{
    struct world *w = *state;
    char ns[32];
    for (int i = 0; i < RIVALS_MAX + 1; i++) {
        snprintf(ns, sizeof(ns), "ns-%d", i);
        put(w, ns, "cluster-autoscaler", "", 15);
    }
    assert_int_equal(pass(w, 100), RIVALS_LIVE);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nobody_else),
        TEST(test_one_that_renews_is_live),
        TEST(test_one_left_behind_ages_out),
        TEST(test_rows),
        TEST(test_a_lease_without_a_duration_has_the_usual_one),
        TEST(test_not_known_until_every_name_was_answered),
        TEST(test_a_failed_look_keeps_what_was_known),
        TEST(test_one_that_is_deleted_is_gone),
        TEST(test_more_than_can_be_kept_count_as_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
