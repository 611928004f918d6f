/* What a provider says of drift, live (spec disruption 13.1, scenarios 185 and 186, api 5.9): kwok, whose answer is the
 * test's. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

enum { CLAIMS = 3, MANY = 150 };

static struct { /* of the provider that is being asked */
    struct provider_ops ops;
    const char *reason;  /* "": not drifted */
    enum err_kind fails; /* instead */
    bool hangs;
    uint32_t asked, most_at_once;
    wall_ms last;  /* when */
    uint32_t at_once;
    struct sim *sim;
} told;

static uint64_t is_drifted(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    struct machine_result r = {.syms = order->syms, .drift = span_of(told.reason)};
    (void)p;
    told.at_once = told.last == sim_now(told.sim) ? told.at_once + 1 : 1;
    told.most_at_once = told.at_once > told.most_at_once ? told.at_once : told.most_at_once;
    told.last = sim_now(told.sim);
    told.asked++;
    assert_true(order->claim->provider_id.len != 0);
    if (told.fails != ERR_NONE)
        err_set(&r.err, told.fails, "the cloud is away");
    if (!told.hangs)
        done(user, &r);
    return told.asked;
}

static void load_claim(struct sim *s, int i)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"one-%d\",\"uid\":\"of-%d\","
             "\"labels\":{\"karpenter.sh/nodepool\":\"general\",\"karpenter.kwok.sh/kwoknodeclass\":\"default\"}},\"spec\":{\"nodeClassRef\":{\"group\":"
             "\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":"
             "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"small\"]},{\"key\":"
             "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]}]}}",
             i, i);
    load(s, text);
}

#define NOBODY_LEAVES "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}"

/* A loop with so many claims and no pods. */
static struct sim *begin(struct loop *l, const char *disruption, int claims)
{
    struct sim *s = new_sim(node_class_yaml());
    *l = (struct loop){.catalogue = two_types};
    load(s, pool_yaml("general", disruption, ""));
    for (int i = 0; i < claims; i++)
        load_claim(s, i);
    loop_begin(l, s);
    memset(&told, 0, sizeof(told));
    told.ops = *l->provider->ops;
    told.ops.is_drifted = is_drifted;
    told.reason = "";
    told.sim = s;
    l->provider->ops = &told.ops;
    return s;
}

static void expect_drifted(struct sim *s, const char *reason) /* NULL: no such condition */
{
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *c, *x;
    size_t i, k;
    json_array_foreach(claims, i, c)
    {
        const char *is = NULL;
        json_array_foreach(tree_get(c, "status.conditions"), k, x) if (tree_is(x, "type", "Drifted"))
        {
            is = json_string_value(tree_get(x, "reason"));
            assert_true(tree_is(x, "status", "True"));
            assert_string_equal(json_string_value(tree_get(x, "message")), is);
        }
        if (reason == NULL ? is != NULL : is == NULL || strcmp(is, reason) != 0)
            fail_msg("Drifted: %s, not %s", is != NULL ? is : "-", reason != NULL ? reason : "-");
    }
    json_decref(claims);
}

/* 186 */
static void what_it_says_becomes_the_condition_and_is_taken_back(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    run_for(s, MS_MINUTE);
    expect_drifted(s, NULL);
    told.reason = "AMIDrift";
    run_for(s, 5 * MS_MINUTE + 10 * MS_SECOND);
    expect_drifted(s, "AMIDrift");
    told.reason = "";
    run_for(s, 5 * MS_MINUTE + 10 * MS_SECOND);
    expect_drifted(s, NULL);
    loop_end(&l);
}

static void it_is_asked_every_five_minutes(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    run_for(s, MS_MINUTE);
    assert_int_equal(told.asked, CLAIMS);
    run_for(s, MS_HOUR);
    assert_in_range(told.asked, CLAIMS * 12, CLAIMS * 13);
    loop_end(&l);
}

static void it_is_asked_as_pool_or_class_change(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    run_for(s, MS_MINUTE);
    told.reason = "NodeClassDrift";
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", "{\"spec\":{\"weight\":7}}", 200);
    run_for(s, 12 * MS_SECOND);
    expect_drifted(s, "NodeClassDrift");
    told.reason = "";
    do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", "{\"spec\":{\"nodeRegistrationDelay\":\"1s\"}}", 200);
    run_for(s, 12 * MS_SECOND);
    expect_drifted(s, NULL);
    assert_int_equal(told.asked, 3 * CLAIMS);
    loop_end(&l);
}

static void an_error_leaves_the_condition_as_it_is(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    told.reason = "AMIDrift";
    run_for(s, MS_MINUTE);
    expect_drifted(s, "AMIDrift");
    told.reason = "";
    told.fails = ERR_RETRY;
    run_for(s, 12 * MS_MINUTE);
    expect_drifted(s, "AMIDrift");
    loop_end(&l);
}

static void a_new_leader_keeps_it_until_it_is_told_otherwise(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    told.reason = "AMIDrift";
    run_for(s, MS_MINUTE);
    told.fails = ERR_RETRY;
    reconciler_lead(l.reconciler, false);
    run_for(s, 15 * MS_SECOND);
    reconciler_lead(l.reconciler, true);
    uint32_t before = told.asked;
    run_for(s, MS_MINUTE);
    assert_int_not_equal(told.asked, before);
    expect_drifted(s, "AMIDrift");
    told.fails = ERR_NONE;
    told.reason = "";
    run_for(s, MS_MINUTE);
    expect_drifted(s, NULL);
    loop_end(&l);
}

static void who_is_drifted_by_what_is_seen_is_not_asked_about(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, CLAIMS);
    run_for(s, MS_MINUTE);
    told.reason = "AMIDrift";
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"team\",\"operator\":\"Exists\"}]}}}}", 200);
    run_for(s, 12 * MS_SECOND);
    uint32_t asked = told.asked;
    run_for(s, 20 * MS_MINUTE);
    expect_drifted(s, "RequirementsDrifted");
    assert_int_equal(told.asked, asked);
    loop_end(&l);
}

/* 185 */
static void who_is_not_launched_is_not_asked_about(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, 0);
    do_request(s, API_DELETE, KIND_KWOK_NODE_CLASS, NULL, "default", NULL, 200);
    load_claim(s, 0);
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(told.asked, 0);
    loop_end(&l);
}

static void many_are_not_asked_about_at_once(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, MANY);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(told.asked, MANY); /* all of them */
    assert_in_range(told.most_at_once, 1, 32);
    run_for(s, 10 * MS_MINUTE);
    assert_in_range(told.asked, 2 * MANY, 4 * MANY);
    loop_end(&l);
}

/* Half of what may be under way is left to machines that come and go. */
static void one_that_hangs_on_it_still_launches(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, NOBODY_LEAVES, MANY);
    told.ops.limits.calls = 20;
    told.hangs = true;
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(told.asked, 10);
    load_claim(s, MANY);
    run_for(s, 5 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, "one-150");
    assert_true(tree_condition_is(claim, "Initialized", "True"));
    json_decref(claim);
    loop_end(&l);
}

/* 73, 79: to the end. */
static void a_drifted_machine_leaves(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"100%\"}]}",
                          1);
    run_for(s, 5 * MS_MINUTE);
    assert_false(is_gone(s, KIND_NODE_CLAIM, NULL, "one-0"));
    told.reason = "AMIDrift";
    run_for(s, 6 * MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE_CLAIM, NULL, "one-0"));
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_becomes_the_condition_and_is_taken_back),
        cmocka_unit_test(it_is_asked_every_five_minutes),
        cmocka_unit_test(it_is_asked_as_pool_or_class_change),
        cmocka_unit_test(an_error_leaves_the_condition_as_it_is),
        cmocka_unit_test(a_new_leader_keeps_it_until_it_is_told_otherwise),
        cmocka_unit_test(who_is_drifted_by_what_is_seen_is_not_asked_about),
        cmocka_unit_test(who_is_not_launched_is_not_asked_about),
        cmocka_unit_test(many_are_not_asked_about_at_once),
        cmocka_unit_test(one_that_hangs_on_it_still_launches),
        cmocka_unit_test(a_drifted_machine_leaves),
    };
    return cmocka_run_group_tests_name("loop_drifted", tests, NULL, NULL);
}
