/* How long a reboot waits for its node's pods, and what becomes of them: scenarios of spec disruption 20.18 and 20.20, by
 * their numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_ward.h"

#define BOUND "karpenter.sh/reboot-termination-grace-period"

/* A fleet of which reboots take so long at most to drain, as their policy has it (NULL: it says nothing). */
static void begin(struct ward *w, const char *bound, const char *more)
{
    static char catalogue[4096];
    char grace[64] = "";
    if (bound != NULL)
        snprintf(grace, sizeof(grace), ",\"terminationGracePeriod\":\"%s\"", bound);
    snprintf(catalogue, sizeof(catalogue),
             "{\"instanceTypes\":%s,\"repairPolicies\":[{\"conditionType\":\"KWOKUnhealthy\",\"conditionStatus\":\"True\","
             "\"tolerationDuration\":\"30s\",\"action\":\"ReplaceNode\"},{\"conditionType\":\"KWOKRebootRequired\","
             "\"conditionStatus\":\"True\",\"reasonRegex\":\"Inj\",\"tolerationDuration\":\"5s\",\"action\":\"RebootNode\"%s}]}",
             two_types, grace);
    w->l.options.node_repair = true;
    w->l.catalogue = catalogue;
    ward_begin(w, BUDGETS("1"), more);
}

static void annotate(struct ward *w, const char *value)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"" BOUND "\":\"%s\"}}}", value);
    do_request(w->sim, API_MERGE, KIND_NODE_CLAIM, NULL, w->first, body, 200);
}

/* When the reboot was asked for, as its claim says. */
static wall_ms requested_at(struct ward *w)
{
    wall_ms at = 0;
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", w->first);
    assert_true(time_parse(tree_string(condition_of(claim, "Rebooting"), "lastTransitionTime"), &at));
    json_decref(claim);
    return at;
}

/* Runs until the machine boots, and returns how long after the request that was. */
static span_ms wait_for_boot(struct ward *w)
{
    for (int i = 0; i < 1200 && !has_boot(w); i++)
        run_for(w->sim, 100);
    assert_true(has_boot(w));
    return sim_now(w->sim) - requested_at(w);
}

/* 275: the policy's, else the claim's, else none, whatever stood there before. */
static void a_request_says_how_long_its_drain_may_take(void **state)
{
    static const struct {
        const char *label, *policy, *claim, *before, *want;
    } rows[] = {
        {"274: the policy's", "5m", "", NULL, "5m0s"},
        {"nobody says anything", NULL, "", NULL, ""},
        {"a stale one goes", NULL, "", "7m0s", ""},
        {"a stale one is written anew", "5m", "", "7m0s", "5m0s"},
        {"only the claim has one", NULL, ",\"terminationGracePeriod\":\"10m\"", NULL, "10m0s"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ward w = {.sim = NULL};
        begin(&w, rows[i].policy, rows[i].claim);
        if (rows[i].before != NULL)
            annotate(&w, rows[i].before);
        say(&w, w.first, "KWOKRebootRequired", "True");
        wait_for_state(&w, "True RebootRequested", 60);
        if (strcmp(annotation_of(&w, BOUND), rows[i].want) != 0)
            fail_msg("%s: \"%s\"", rows[i].label, annotation_of(&w, BOUND));
        ward_end(&w);
    }
}

/* The one node that has no pod becomes the first. */
static void take_empty_node(struct ward *w)
{
    json_t *all, *one;
    size_t i;
    scale(w->sim, "web", PODS - 1);
    run_for(w->sim, 10 * MS_SECOND);
    all = objects_of(w->sim, KIND_NODE);
    json_array_foreach(all, i, one)
        if (count_pods(w->sim, "web", json_string_value(tree_get(one, "metadata.name"))) == 0)
            snprintf(w->first, sizeof(w->first), "%s", json_string_value(tree_get(one, "metadata.name")));
    assert_int_equal(count_pods(w->sim, "web", w->first), 0);
    json_decref(all);
}

/* 276: who has not seen the taint yet may still bind a pod. */
static void an_empty_node_is_let_alone_for_five_seconds(void **state)
{
    (void)state;
    struct ward w = {.sim = NULL};
    begin(&w, NULL, "");
    take_empty_node(&w);
    say(&w, w.first, "KWOKRebootRequired", "True");
    assert_in_range(wait_for_boot(&w), 5 * MS_SECOND, 7 * MS_SECOND);
    ward_end(&w);
}

/* 276: no time at all means that nobody is asked to go. */
static void without_time_to_drain_pods_ride_the_reboot(void **state)
{
    (void)state;
    struct ward w = {.sim = NULL};
    begin(&w, "0s", "");
    assert_int_equal(count_pods(w.sim, "web", w.first), 1);
    say(&w, w.first, "KWOKRebootRequired", "True");
    assert_in_range(wait_for_boot(&w), 0, 2 * MS_SECOND);
    say(&w, w.first, "KWOKRebootRequired", "False");
    run_for(w.sim, MS_MINUTE);
    assert_string_equal(state_of(&w, "Rebooting"), "False RebootSucceeded");
    assert_int_equal(count_pods(w.sim, "web", w.first), 1);
    assert_false(said(&w, "karpenter_nodes_eviction_requests_total "));
    ward_end(&w);
}

/* 277: where nothing ends the wait, nothing does. */
static void without_a_bound_pods_are_waited_for(void **state)
{
    (void)state;
    struct ward w = {.sim = NULL};
    begin(&w, NULL, "");
    say(&w, w.first, "KWOKRebootRequired", "True");
    /* where pods may not go before, nobody is rebooted without a bound */
    for (int i = 0; i < 2000 && strcmp(state_of(&w, "Rebooting"), "True RebootRequested") != 0; i++)
        run_for(w.sim, 10);
    load(w.sim, CLOSED);
    run_for(w.sim, 3 * MS_HOUR);
    assert_string_equal(state_of(&w, "Rebooting"), "True RebootRequested");
    assert_false(has_boot(&w) || is_leaving(&w, w.first));
    ward_expect_calm(&w);
    do_request(w.sim, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "web", NULL, 200);
    wait_for_boot(&w);
    assert_int_equal(count_pods(w.sim, "web", w.first), 0);
    ward_end(&w);
}

/* Of the pod on the first node. */
static bool is_pod_leaving(struct ward *w)
{
    json_t *all = objects_of(w->sim, KIND_POD), *one;
    size_t i;
    bool is = true;
    json_array_foreach(all, i, one)
        if (span_eq(tree_string(one, "spec.nodeName"), span_of(w->first)))
            is = tree_get(one, "metadata.deletionTimestamp") != NULL;
    json_decref(all);
    return is;
}

#define SLOW ",\"terminationGracePeriodSeconds\":120"

/* 303: the drain of a reboot forces nobody, however little time it leaves a pod; what ends it says nothing of the pod. */
static void the_drain_of_a_reboot_forces_nobody(void **state)
{
    (void)state;
    struct ward w = {.pods = SLOW};
    begin(&w, "1m", "");
    load(w.sim, CLOSED);
    say(&w, w.first, "KWOKRebootRequired", "True");
    wait_for_state(&w, "True RebootRequested", 60);
    run_for(w.sim, 50 * MS_SECOND);
    assert_false(has_boot(&w) || is_pod_leaving(&w));
    buf_clear(&w.l.history);
    assert_in_range(wait_for_boot(&w), 59 * MS_SECOND, 62 * MS_SECOND);
    assert_false(said(&w, "event Disrupted "));
    buf_clear(&w.l.history);
    say(&w, w.first, "KWOKRebootRequired", "False");
    run_for(w.sim, 5 * MS_MINUTE);
    assert_string_equal(state_of(&w, "Rebooting"), "False RebootSucceeded");
    assert_false(is_pod_leaving(&w));
    assert_false(said(&w, "karpenter_nodes_eviction_requests_total "));
    assert_false(said(&w, "event Disrupted ") || said(&w, "event FailedDraining "));
    ward_end(&w);
}

/* 303: once its claim is deleted, the drain is that of the deletion, which forces. */
static void who_is_deleted_meanwhile_is_drained_by_force(void **state)
{
    (void)state;
    struct ward w = {.pods = SLOW};
    begin(&w, NULL, ",\"terminationGracePeriod\":\"3m\"");
    load(w.sim, CLOSED);
    say(&w, w.first, "KWOKRebootRequired", "True");
    wait_for_state(&w, "True RebootRequested", 60);
    run_for(w.sim, 10 * MS_SECOND);
    do_request(w.sim, API_DELETE, KIND_NODE_CLAIM, NULL, w.first, NULL, 200);
    run_for(w.sim, 50 * MS_SECOND);
    assert_false(is_pod_leaving(&w));
    run_for(w.sim, 20 * MS_SECOND); /* two minutes of the three are its pod's own */
    assert_true(is_pod_leaving(&w));
    assert_true(said(&w, "event Disrupted "));
    run_for(w.sim, 4 * MS_MINUTE);
    assert_false(is_there(&w, w.first));
    assert_false(said(&w, " method=Reboot "));
    ward_end(&w);
}

/* Condition Rebooting of the first claim, as if it had been asked for. */
static void request_reboot(struct ward *w)
{
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", w->first);
    json_t *list = json_deep_copy(tree_get(claim, "status.conditions"));
    json_t *one = json_pack("{ssssssssss}", "type", "Rebooting", "status", "True", "reason", "RebootRequested", "message", "",
                            "lastTransitionTime", "2026-01-02T03:06:00Z");
    json_array_append_new(list, one);
    json_t *patch = json_pack("{s{so}}", "status", "conditions", list);
    char *body = json_dumps(patch, 0);
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = API_MERGE, .kind = KIND_NODE_CLAIM, .name = span_of(w->first),
                            .subresource = SPAN("status"), .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(w->sim), &a, &r).status, 200);
    arena_release(&a);
    free(body);
    json_decref(patch);
    json_decref(claim);
}

/* 303: a reboot that is asked for of who is deleted already changes nothing. */
static void a_reboot_does_not_hold_up_who_is_deleted(void **state)
{
    (void)state;
    struct ward w = {.pods = SLOW};
    begin(&w, NULL, ",\"terminationGracePeriod\":\"3m\"");
    load(w.sim, CLOSED);
    do_request(w.sim, API_DELETE, KIND_NODE_CLAIM, NULL, w.first, NULL, 200);
    run_for(w.sim, 20 * MS_SECOND);
    wall_ms deadline = deadline_of(&w, w.first);
    request_reboot(&w);
    annotate(&w, "1h0m0s");
    run_for(w.sim, 30 * MS_SECOND);
    assert_false(is_pod_leaving(&w));
    assert_true(deadline_of(&w, w.first) == deadline);
    run_for(w.sim, 20 * MS_SECOND);
    assert_true(is_pod_leaving(&w));
    run_for(w.sim, 4 * MS_MINUTE);
    assert_false(is_there(&w, w.first));
    assert_false(said(&w, " method=Reboot "));
    ward_end(&w);
}

static void reboot_once(struct ward *w)
{
    say(w, w->first, "KWOKRebootRequired", "True");
    wait_for_state(w, "True RebootIssued", 90);
    say(w, w->first, "KWOKRebootRequired", "False");
    run_for(w->sim, 3 * MS_MINUTE);
    assert_string_equal(state_of(w, "Rebooting"), "False RebootSucceeded");
}

/* 288: two of a day are remembered, by who has ordered them: the third is a replacement. */
static void two_reboots_of_a_day_are_remembered(void **state)
{
    static const struct {
        const char *label;
        span_ms passes;
        bool dies, reboots;
    } rows[] = {{"the same day", MS_HOUR, false, false},
                {"a day later", 24 * MS_HOUR, false, true},
                {"another leader", MS_HOUR, true, true}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        /* a day is long: what nothing calls for is looked at less often */
        struct ward w = {.l = {.restart_after = MS_SECOND, .options.idle = 10 * MS_MINUTE}};
        begin(&w, "1m", "");
        reboot_once(&w);
        reboot_once(&w);
        run_for(w.sim, rows[i].passes);
        if (rows[i].dies)
            loop_stop(&w.l);
        run_for(w.sim, 30 * MS_SECOND);
        if (rows[i].reboots) {
            reboot_once(&w);
            assert_false(is_leaving(&w, w.first));
        } else {
            say(&w, w.first, "KWOKRebootRequired", "True");
            run_for(w.sim, 5 * MS_MINUTE);
            if (!is_leaving(&w, w.first))
                fail_msg("%s: it stays", rows[i].label);
        }
        ward_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_says_how_long_its_drain_may_take),
        cmocka_unit_test(an_empty_node_is_let_alone_for_five_seconds),
        cmocka_unit_test(without_time_to_drain_pods_ride_the_reboot),
        cmocka_unit_test(without_a_bound_pods_are_waited_for),
        cmocka_unit_test(the_drain_of_a_reboot_forces_nobody),
        cmocka_unit_test(who_is_deleted_meanwhile_is_drained_by_force),
        cmocka_unit_test(a_reboot_does_not_hold_up_who_is_deleted),
        cmocka_unit_test(two_reboots_of_a_day_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
