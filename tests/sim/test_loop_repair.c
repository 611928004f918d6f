/* Nodes that say that they are not well, by the policies of provider kwok (spec api 7.6): KWOKUnhealthy is tolerated for
 * 30 s, and the drain is over 45 s after the deletion (spec disruption 8.10, 16; numbers are those of its scenarios). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_ward.h"

/* ---- who is repaired, and who is not ---- */

static const struct patient {
    const char *label, *budgets, *annotation; /* of the node: key and value as JSON, or NULL */
    bool off, closed, goes;                   /* no gate; a PodDisruptionBudget that lets nobody go */
    const char *grace;                        /* of the claims; "" for none */
    const char *type;                         /* of the condition */
    span_ms lasts;                            /* then the node is well again; 0: it never is */
    const char *says; /* in Events and metrics; or NULL */
} patients[] = {
    {"252: it goes", BUDGETS("1"), NULL, false, false, true, "", "KWOKUnhealthy", 0,
     "karpenter_nodeclaims_created_total reason=unhealthy nodepool=general "},
    {"249: the gate is off", BUDGETS("1"), NULL, true, false, false, "", "KWOKUnhealthy", 0, NULL},
    {"a condition that no policy names", BUDGETS("1"), NULL, false, false, false, "", "Other", 0, NULL},
    {"226: it is well again in time", BUDGETS("1"), NULL, false, false, false, "", "KWOKUnhealthy", 25 * MS_SECOND, NULL},
    {"228: budget 0", BUDGETS("0"), NULL, false, false, false, "", "KWOKUnhealthy", 0,
     "event DisruptionBlocked general: No allowed disruptions for disruption reason Unhealthy due to blocking budget"},
    {"228: do-not-disrupt on the node", BUDGETS("1"), "karpenter.sh/do-not-disrupt\":\"true", false, false, true, "",
     "KWOKUnhealthy", 0, NULL},
    {"260: do-not-repair", BUDGETS("1"), "karpenter.sh/do-not-repair\":\"true", false, false, false, "", "KWOKUnhealthy", 0,
     ": repair is blocked through the \"karpenter.sh/do-not-repair\" annotation"},
    {"260: do-not-repair, but not true", BUDGETS("1"), "karpenter.sh/do-not-repair\":\"yes", false, false, true, "",
     "KWOKUnhealthy", 0, NULL},
    {"257: a closed budget, and a bound of the drain", BUDGETS("1"), NULL, false, true, true, "", "KWOKUnhealthy", 0,
     "karpenter_nodeclaims_unhealthy_disrupted_total condition=kwok_unhealthy nodepool=general capacity_type=on-demand "
     "image_id= termination_mode=eventual 1\n"},
};

static void expect_outcome(const struct patient *x)
{
    struct ward w = {.l = {.options = {.node_repair = !x->off}}};
    char patch[256];
    ward_begin(&w, x->budgets, x->grace);
    if (x->annotation != NULL) {
        snprintf(patch, sizeof(patch), "{\"metadata\":{\"annotations\":{\"%s\"}}}", x->annotation);
        do_request(w.sim, API_MERGE, KIND_NODE, NULL, w.first, patch, 200);
    }
    if (x->closed)
        load(w.sim, CLOSED);
    say(&w, w.first, x->type, "True");
    run_for(w.sim, 25 * MS_SECOND);
    if (x->lasts != 0)
        say(&w, w.first, x->type, "False");
    assert_true(is_there(&w, w.first));
    run_for(w.sim, 4 * MS_MINUTE);
    if (is_there(&w, w.first) == x->goes)
        fail_msg("%s: the node %s", x->label, x->goes ? "stays" : "is gone");
    if (x->says != NULL && !said(&w, x->says))
        fail_msg("%s: nothing says \"%s\"", x->label, x->says);
    ward_expect_calm(&w);
    ward_end(&w);
}

static void who_is_not_well_goes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(patients); i++)
        expect_outcome(&patients[i]);
}

/* ---- how ---- */

/* 252, 257: the other is there first; the drain's end is counted from the deletion. */
static void the_drain_is_bound_from_the_deletion_on(void **state)
{
    static const struct {
        const char *more;
        span_ms bound;
    } rows[] = {{"", 45 * MS_SECOND},
                {",\"terminationGracePeriod\":\"10s\"", 10 * MS_SECOND}, /* 258 */
                {",\"terminationGracePeriod\":\"1h\"", 45 * MS_SECOND}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ward w = {.l = {.options = {.node_repair = true}}};
        ward_begin(&w, BUDGETS("1"), rows[i].more);
        load(w.sim, CLOSED);
        fall_ill(&w, w.first);
        wall_ms deleted = wait_for_deletion(&w, w.first);
        span_ms bound = deadline_of(&w, w.first) - deleted;
        assert_int_equal(count_objects(w.sim, KIND_NODE), PODS + 1);
        assert_true(bound <= rows[i].bound && bound >= rows[i].bound - 3 * MS_SECOND);
        run_for(w.sim, 2 * MS_MINUTE);
        assert_false(is_there(&w, w.first));
        ward_expect_calm(&w);
        ward_end(&w);
    }
}

/* 270: whom its budget held goes as it would have gone, once that lifts. */
static void who_had_to_wait_goes_by_the_same_policy(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    ward_begin(&w, BUDGETS("0"), "");
    load(w.sim, CLOSED);
    fall_ill(&w, w.first);
    run_for(w.sim, 5 * MS_MINUTE);
    assert_false(is_leaving(&w, w.first));
    do_request(w.sim, API_MERGE, KIND_NODE_POOL, NULL, "general", "{\"spec\":{\"disruption\":{\"budgets\":[{\"nodes\":\"1\"}]}}}",
               200);
    wall_ms deleted = wait_for_deletion(&w, w.first);
    span_ms bound = deadline_of(&w, w.first) - deleted;
    assert_true(bound <= 45 * MS_SECOND && bound >= 42 * MS_SECOND);
    run_for(w.sim, 2 * MS_MINUTE);
    ward_expect_calm(&w);
    ward_end(&w);
}

static enum sim_fate refuse_bound(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    uint32_t *left = user;
    (void)number;
    (void)refusal;
    if (*left == 0 || r->kind != KIND_NODE_CLAIM || !span_contains(r->body, SPAN("termination-timestamp")))
        return SIM_PASS;
    --*left;
    return SIM_REFUSE;
}

/* 259: nobody is deleted whose drain has no end yet. */
static void who_has_no_deadline_yet_is_not_deleted(void **state)
{
    (void)state;
    uint32_t left = 3;
    struct ward w = {.l = {.options = {.node_repair = true}, .faults = {.user = &left, .before = refuse_bound}}};
    ward_begin(&w, BUDGETS("1"), "");
    fall_ill(&w, w.first);
    for (int i = 0; i < 120 && left != 0; i++) {
        assert_false(is_leaving(&w, w.first));
        run_for(w.sim, MS_SECOND);
    }
    assert_int_equal(left, 0);
    wait_for_deletion(&w, w.first);
    assert_true(deadline_of(&w, w.first) != 0);
    ward_end(&w);
}

/* 227, 269: when so many are not well, the nodes are hardly the cause. */
static void who_is_not_well_among_many_stays(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    ward_begin(&w, BUDGETS("100%"), "");
    fall_ill(&w, w.first);
    fall_ill(&w, w.second);
    run_for(w.sim, 5 * MS_MINUTE);
    assert_true(is_there(&w, w.first) && is_there(&w, w.second));
    char event[256];
    snprintf(event, sizeof(event), "event NodeRepairBlocked %s: more than 20%% of nodes in nodepool \"general\"", w.first);
    assert_true(said(&w, event));
    assert_true(said(&w, "event NodeRepairBlocked general: more than 20% of nodes in nodepool \"general\" are unhealthy"));
    say(&w, w.second, "KWOKUnhealthy", "False");
    run_for(w.sim, 3 * MS_MINUTE);
    assert_true(!is_there(&w, w.first) && is_there(&w, w.second));
    ward_expect_calm(&w);
    ward_end(&w);
}

/* A leader that takes over while the other is on its way ends the repair, drain's end and all. */
static void a_repair_survives_the_death_of_its_leader(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}, .restart_after = MS_SECOND}};
    ward_begin(&w, BUDGETS("1"), "");
    load(w.sim, CLOSED);
    fall_ill(&w, w.first);
    for (int i = 0; i < 600 && count_objects(w.sim, KIND_NODE_CLAIM) == PODS; i++)
        run_for(w.sim, 200);
    assert_int_equal(count_objects(w.sim, KIND_NODE_CLAIM), PODS + 1);
    loop_stop(&w.l);
    assert_false(is_leaving(&w, w.first));
    wall_ms deleted = wait_for_deletion(&w, w.first);
    assert_in_range(deadline_of(&w, w.first) - deleted, 40 * MS_SECOND, 45 * MS_SECOND);
    run_for(w.sim, 3 * MS_MINUTE);
    assert_int_equal(count_objects(w.sim, KIND_NODE), PODS);
    ward_expect_calm(&w);
    ward_end(&w);
}

/* ---- reboots ---- */

static void begin_reboot(struct ward *w)
{
    ward_begin(w, BUDGETS("1"), "");
    say(w, w->first, "KWOKRebootRequired", "True");
    wait_for_state(w, "True RebootRequested", 60);
}

static void expect_rebooted(struct ward *w)
{
    run_for(w->sim, 2 * MS_MINUTE);
    assert_true(has_boot(w));
    assert_string_equal(state_of(w, "Rebooting"), "False RebootSucceeded");
    assert_string_equal(state_of(w, "Initialized"), "True Initialized");
    assert_string_equal(state_of(w, "Ready"), "True Ready");
    assert_string_equal(state_of(w, "DisruptionReason"), "");
    assert_string_equal(annotation_of(w, "karpenter.sh/reboot-pre-boot-id"), "");
    json_t *n = object_of(w->sim, KIND_NODE, "", w->first);
    assert_int_equal(json_array_size(tree_get(n, "spec.taints")), 0);
    json_decref(n);
    assert_int_equal(count_objects(w->sim, KIND_NODE), PODS);
    ward_expect_calm(w);
}

/* 274, 276, 278, 282, 287 */
static void a_node_is_rebooted_in_its_place(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    begin_reboot(&w);
    wall_ms requested = sim_now(w.sim);
    assert_string_equal(state_of(&w, "DisruptionReason"), "True Unhealthy");
    assert_string_equal(annotation_of(&w, "karpenter.sh/reboot-termination-grace-period"), "1m0s");
    wait_for_state(&w, "True RebootIssued", 30);
    assert_true(sim_now(w.sim) >= requested + 4 * MS_SECOND);
    assert_string_equal(state_of(&w, "Initialized"), "Unknown Rebooting");
    assert_string_equal(state_of(&w, "Ready"), "Unknown ReconcilingDependents");
    assert_string_equal(state_of(&w, "DisruptionReason"), "True Unhealthy");
    say(&w, w.first, "KWOKRebootRequired", "False");
    expect_rebooted(&w);
    assert_true(said(&w, "karpenter_voluntary_disruption_decisions_total decision=reboot reason=unhealthy "));
    assert_true(said(&w, "karpenter_voluntary_disruption_decisions_by_nodepool_total nodepool=general decision=reboot "
                         "reason=unhealthy consolidation_type= 1"));
    assert_true(said(&w, "event RebootObserved "));
    assert_true(said(&w, "karpenter_nodes_reboots_total result=succeeded 1"));
    assert_int_equal(w.l.measured[MEASURE_REBOOTS], 1);
    assert_int_equal(w.l.measured[MEASURE_CLAIMS_DISRUPTED], 1);
    assert_true(said(&w, "karpenter_nodeclaims_unhealthy_disrupted_total condition=kwok_reboot_required nodepool=general "
                         "capacity_type=on-demand image_id= termination_mode=eventual 1\n"));
    assert_int_equal(w.l.measured[MEASURE_PODS_DISRUPTED], 1);
    assert_int_equal(w.l.decided[DECISION_REMOVE], 0);
    ward_end(&w);
}

/* 277: they ride it. */
static void pods_that_may_not_go_ride_the_reboot(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    ward_begin(&w, BUDGETS("1"), "");
    load(w.sim, CLOSED);
    size_t before = count_pods(w.sim, "web", w.first);
    say(&w, w.first, "KWOKRebootRequired", "True");
    wait_for_state(&w, "True RebootRequested", 60);
    run_for(w.sim, 50 * MS_SECOND);
    assert_string_equal(state_of(&w, "Rebooting"), "True RebootRequested");
    wait_for_state(&w, "True RebootIssued", 20);
    say(&w, w.first, "KWOKRebootRequired", "False");
    assert_int_equal(count_pods(w.sim, "web", w.first), before);
    expect_rebooted(&w);
    assert_int_equal(count_pods(w.sim, "web", w.first), before);
    ward_end(&w);
}

/* 288: what two of them do not cure is replaced. */
static void who_was_rebooted_twice_is_replaced(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    begin_reboot(&w);
    run_for(w.sim, 10 * MS_MINUTE);
    assert_false(is_there(&w, w.first));
    assert_int_equal(w.l.measured[MEASURE_REBOOTS], 2);
    ward_expect_calm(&w);
    ward_end(&w);
}

struct refusal {
    uint32_t left;
    int status;
};

static enum sim_fate refuse_reboot(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct refusal *x = user;
    (void)number;
    if (x->left == 0 || r->kind != KIND_NODE || !span_contains(r->body, SPAN("bootID")))
        return SIM_PASS;
    x->left--;
    *refusal = (struct sim_refusal){.status = x->status, .reason = x->status == 404 ? "NotFound" : "InternalError",
                                    .message = "not now"};
    return SIM_REFUSE;
}

/* 279, 280 */
static void who_cannot_be_rebooted_goes(void **state)
{
    static const struct {
        struct refusal refusal;
        bool goes;
        span_ms after;
    } rows[] = {{{3, 500}, false, 0}, {{1, 404}, true, 0}, {{UINT32_MAX, 500}, true, 4 * MS_MINUTE}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct refusal x = rows[i].refusal;
        struct ward w = {.l = {.options = {.node_repair = true}, .faults = {.user = &x, .before = refuse_reboot}}};
        begin_reboot(&w);
        say(&w, w.first, "KWOKRebootRequired", "False");
        run_for(w.sim, rows[i].after);
        assert_true(!rows[i].goes || !is_leaving(&w, w.first));
        if (rows[i].goes) {
            run_for(w.sim, 4 * MS_MINUTE);
            assert_false(is_there(&w, w.first));
            assert_true(said(&w, "event RebootFailed "));
            assert_true(said(&w, "karpenter_nodes_reboots_total result=provider_error 1"));
            ward_expect_calm(&w);
        } else {
            expect_rebooted(&w);
        }
        ward_end(&w);
    }
}

struct stubborn { /* no reboot is to be had, nor, at first, a deletion */
    struct refusal reboot;
    uint32_t left, refused;
};

static enum sim_fate refuse_both(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct stubborn *x = user;
    if (r->verb != API_DELETE || r->kind != KIND_NODE_CLAIM || x->left == 0)
        return refuse_reboot(&x->reboot, number, r, refusal);
    x->left--;
    x->refused++;
    *refusal = (struct sim_refusal){.status = 409, .reason = "Conflict", .message = "it has changed"};
    return SIM_REFUSE;
}

/* 286: it is said to have failed once the claim is deleted, and not before. */
static void a_deletion_that_fails_says_nothing_yet(void **state)
{
    (void)state;
    struct stubborn x = {{1, 404}, 4, 0};
    struct ward w = {.l = {.options = {.node_repair = true}, .faults = {.user = &x, .before = refuse_both}}};
    begin_reboot(&w);
    for (int i = 0; i < 1200 && x.refused < 4; i++) {
        assert_false(said(&w, "event RebootFailed "));
        run_for(w.sim, 100);
    }
    assert_int_equal(x.refused, 4);
    run_for(w.sim, 4 * MS_MINUTE);
    assert_true(said(&w, "event RebootFailed "));
    assert_int_equal(w.l.measured[MEASURE_REBOOTS], 1);
    assert_false(is_there(&w, w.first));
    ward_expect_calm(&w);
    ward_end(&w);
}

/* 285 */
static void a_request_that_cannot_be_read_fails(void **state)
{
    (void)state;
    struct ward w = {.l = {.options = {.node_repair = true}}};
    begin_reboot(&w);
    say(&w, w.first, "KWOKRebootRequired", "False");
    do_request(w.sim, API_MERGE, KIND_NODE_CLAIM, NULL, w.first,
               "{\"metadata\":{\"annotations\":{\"karpenter.sh/reboot-termination-grace-period\":\"abc\"}}}", 200);
    run_for(w.sim, 2 * MS_MINUTE);
    assert_string_equal(state_of(&w, "Rebooting"), "False RebootFailed");
    assert_true(is_there(&w, w.first) && !is_leaving(&w, w.first) && !has_boot(&w));
    assert_true(said(&w, "event RebootFailed "));
    ward_expect_calm(&w);
    ward_end(&w);
}

/* By its label. */
static bool is_initialized(struct ward *w)
{
    json_t *n = object_of(w->sim, KIND_NODE, "", w->first);
    bool is = json_object_get(tree_get(n, "metadata.labels"), "karpenter.sh/initialized") != NULL;
    json_decref(n);
    return is;
}

/* 283: it has booted, and is not ready. */
static void who_does_not_come_back_goes(void **state)
{
    static const struct {
        const char *annotations; /* of the claim, meanwhile */
        const char *until;       /* its deadline once it leaves; "": none; NULL: a minute after the deletion */
    } rows[] = {
        {NULL, NULL},
        {"\"karpenter.sh/reboot-termination-grace-period\":null", ""},
        {"\"karpenter.sh/nodeclaim-termination-timestamp\":\"2026-01-02T03:20:00Z\"", "2026-01-02T03:20:00Z"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ward w = {.l = {.options = {.node_repair = true}}, .by_hand = true};
        char body[256];
        begin_reboot(&w);
        wait_for_state(&w, "True RebootIssued", 30);
        say(&w, w.first, "KWOKRebootRequired", "False");
        set_ready(w.sim, w.first, "False");
        /* somebody else's finalizer, so that it can be looked at while it leaves */
        snprintf(body, sizeof(body),
                 "{\"metadata\":{\"finalizers\":[\"karpenter.sh/termination\",\"example.com/hold\"],\"annotations\":{%s}}}", rows[i].annotations != NULL ? rows[i].annotations : "");
        do_request(w.sim, API_MERGE, KIND_NODE_CLAIM, NULL, w.first, body, 200);
        wall_ms issued = sim_now(w.sim), until;
        run_for(w.sim, 20 * MS_MINUTE - 2 * MS_SECOND);
        assert_false(is_leaving(&w, w.first));
        assert_string_equal(state_of(&w, "Rebooting"), "True RebootIssued");
        assert_false(is_initialized(&w)); /* 278 */
        run_for(w.sim, 4 * MS_SECOND);
        assert_true(is_leaving(&w, w.first));
        const char *has = annotation_of(&w, "karpenter.sh/nodeclaim-termination-timestamp");
        if (rows[i].until != NULL)
            assert_string_equal(has, rows[i].until);
        else if (!time_parse(span_of(has), &until) || until < issued + 21 * MS_MINUTE - 3 * MS_SECOND ||
                 until > issued + 21 * MS_MINUTE + 3 * MS_SECOND)
            fail_msg("its deadline is %s", has);
        assert_true(said(&w, "karpenter_nodes_reboots_total result=recovery_timeout 1"));
        ward_end(&w);
    }
}

/* A Node that is gone, and with it what says so: its claim is not registered, or it would be collected first. */
static void lose_node(struct ward *w)
{
    char body[512];
    json_t *claim = object_of(w->sim, KIND_NODE_CLAIM, "", w->first), *list = json_deep_copy(tree_get(claim, "status.conditions")), *one;
    size_t i;
    json_array_foreach(list, i, one)
        if (tree_is(one, "type", "Registered")) {
            json_object_set_new(one, "status", json_string("Unknown"));
            json_object_set_new(one, "lastTransitionTime", json_string("2026-01-02T03:30:00Z"));
        }
    char *conditions = json_dumps(list, 0);
    char *patch = malloc(strlen(conditions) + sizeof(body));
    sprintf(patch, "{\"status\":{\"conditions\":%s}}", conditions);
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = API_MERGE, .kind = KIND_NODE_CLAIM, .name = span_of(w->first),
                            .subresource = SPAN("status"), .body = span_of(patch)};
    assert_int_equal(sim_cluster_do(sim_cluster(w->sim), &a, &r).status, 200);
    arena_release(&a);
    free(patch);
    free(conditions);
    json_decref(list);
    json_decref(claim);
    do_request(w->sim, API_MERGE, KIND_NODE, NULL, w->first, "{\"metadata\":{\"finalizers\":null}}", 200);
    do_request(w->sim, API_DELETE, KIND_NODE, NULL, w->first, NULL, 200);
}

/* 284 */
static void whose_node_is_gone_goes(void **state)
{
    static const struct {
        const char *at, *result;
        span_ms after;
    } rows[] = {
        {"True RebootRequested", "karpenter_nodes_reboots_total result=provider_error 1", 5 * MS_MINUTE},
        {"True RebootIssued", "karpenter_nodes_reboots_total result=recovery_timeout 1", 20 * MS_MINUTE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ward w = {.l = {.options = {.node_repair = true}}};
        begin_reboot(&w);
        wait_for_state(&w, rows[i].at, 30);
        lose_node(&w);
        run_for(w.sim, rows[i].after - 2 * MS_SECOND);
        assert_string_equal(state_of(&w, "Rebooting"), rows[i].at);
        assert_false(is_leaving(&w, w.first));
        run_for(w.sim, 10 * MS_SECOND);
        assert_false(is_there(&w, w.first));
        assert_true(said(&w, rows[i].result));
        ward_end(&w);
    }
}

/* 281, 292: whenever its leader dies, and though the next one repairs nothing. */
static void a_reboot_survives_the_death_of_its_leader(void **state)
{
    (void)state;
    for (span_ms at = 0; at < 10 * MS_SECOND; at += 700) {
        struct ward w = {.l = {.options = {.node_repair = true}, .restart_after = MS_SECOND}};
        begin_reboot(&w);
        say(&w, w.first, "KWOKRebootRequired", "False");
        run_for(w.sim, at);
        loop_stop(&w.l);
        w.l.options.node_repair = false;
        expect_rebooted(&w);
        ward_end(&w);
    }
}

static enum sim_fate dies_once_it_boots(void *user, uint64_t number, const struct api_request *r)
{
    bool *dead = user;
    (void)number;
    if (*dead || r->kind != KIND_NODE || !span_contains(r->body, SPAN("bootID")))
        return SIM_PASS;
    *dead = true;
    return SIM_KILL;
}

/* 281: nobody heard that the machine has booted, but it says so itself. */
static void a_boot_that_has_happened_is_not_asked_for_again(void **state)
{
    (void)state;
    bool dead = false;
    struct ward w = {.l = {.options = {.node_repair = true}, .restart_after = MS_SECOND,
                           .faults = {.user = &dead, .after = dies_once_it_boots}}};
    begin_reboot(&w);
    say(&w, w.first, "KWOKRebootRequired", "False");
    expect_rebooted(&w);
    assert_true(dead);
    assert_false(said(&w, " method=Reboot "));
    ward_end(&w);
}

/* ---- the former way ---- */

/* 225, 227, 228, 231, 273: by force, whatever stands against it, but not where many are unwell. */
static void the_legacy_way_forces(void **state)
{
    static const char policies[] =
        "[{\"conditionType\":\"KWOKUnhealthy\",\"conditionStatus\":\"True\",\"tolerationDuration\":\"30s\","
        "\"action\":\"ReplaceNode\"},{\"conditionType\":\"KWOKUnhealthy\",\"conditionStatus\":\"True\","
        "\"reasonRegex\":\"Inj\",\"tolerationDuration\":\"5s\",\"action\":\"RebootNode\"}]";
    static char catalogue[4096];
    (void)state;
    snprintf(catalogue, sizeof(catalogue), "{\"instanceTypes\":%s,\"repairPolicies\":%s}", two_types, policies);
    struct ward w = {.l = {.options = {.legacy_node_repair = true}, .catalogue = catalogue}};
    ward_begin(&w, BUDGETS("0"), ",\"terminationGracePeriod\":\"1h\"");
    load(w.sim, CLOSED);
    do_request(w.sim, API_MERGE, KIND_NODE, NULL, w.first,
               "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-repair\":\"true\"}}}", 200);
    fall_ill(&w, w.first);
    fall_ill(&w, w.second);
    run_for(w.sim, 2 * MS_MINUTE);
    assert_true(is_there(&w, w.first) && is_there(&w, w.second));
    assert_true(said(&w, ": more than 20% nodes are unhealthy in the nodepool"));
    say(&w, w.first, "KWOKUnhealthy", "False");
    say(&w, w.second, "KWOKUnhealthy", "False");
    run_for(w.sim, MS_MINUTE);
    fall_ill(&w, w.first);
    wall_ms ill = sim_now(w.sim), deleted = wait_for_deletion(&w, w.first);
    assert_in_range(deleted - ill, 28 * MS_SECOND, 33 * MS_SECOND);
    assert_in_range(deadline_of(&w, w.first), deleted - 3 * MS_SECOND, deleted);
    run_for(w.sim, 2 * MS_MINUTE);
    assert_true(!is_there(&w, w.first) && is_there(&w, w.second));
    assert_true(said(&w, "karpenter_nodeclaims_unhealthy_disrupted_total condition=kwok_unhealthy nodepool=general "));
    ward_expect_calm(&w);
    ward_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_not_well_goes),
        cmocka_unit_test(the_drain_is_bound_from_the_deletion_on),
        cmocka_unit_test(who_has_no_deadline_yet_is_not_deleted),
        cmocka_unit_test(who_is_not_well_among_many_stays),
        cmocka_unit_test(a_repair_survives_the_death_of_its_leader),
        cmocka_unit_test(a_node_is_rebooted_in_its_place),
        cmocka_unit_test(pods_that_may_not_go_ride_the_reboot),
        cmocka_unit_test(who_was_rebooted_twice_is_replaced),
        cmocka_unit_test(who_cannot_be_rebooted_goes),
        cmocka_unit_test(who_had_to_wait_goes_by_the_same_policy),
        cmocka_unit_test(a_deletion_that_fails_says_nothing_yet),
        cmocka_unit_test(a_request_that_cannot_be_read_fails),
        cmocka_unit_test(a_boot_that_has_happened_is_not_asked_for_again),
        cmocka_unit_test(who_does_not_come_back_goes),
        cmocka_unit_test(whose_node_is_gone_goes),
        cmocka_unit_test(the_legacy_way_forces),
        cmocka_unit_test(a_reboot_survives_the_death_of_its_leader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
