/* Nodes that hold pods leave for a reason: they have drifted, or their pods fit elsewhere for less (spec disruption 8, 9). */
#include <stdlib.h>
#include <string.h>

#include "kube/replaces.h"
#include "tests/sim/support_moves.h"

/* Objects that have the key in what is there by the path. */
static size_t count_with(struct sim *s, enum kind k, const char *path, const char *key)
{
    json_t *all = objects_of(s, k), *one;
    size_t i, n = 0;
    json_array_foreach(all, i, one)
        n += json_object_get(tree_get(one, path), key) != NULL;
    json_decref(all);
    return n;
}

/* CPUs that the fleet has: a machine's price goes by them. */
static int64_t sum_of_sizes(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE), *one;
    int64_t sum = 0, size = 0;
    size_t i;
    json_array_foreach(all, i, one) {
        json_t *labels = tree_get(one, "metadata.labels");
        assert_true(span_int64(span_of(json_string_value(json_object_get(labels, "karpenter.kwok.sh/instance-size"))), &size));
        sum += size;
    }
    json_decref(all);
    return sum;
}

/* ---- consolidation ---- */

/* 6.6 CPUs are left of 28.8: no machines together are smaller than 7. */
static void pods_that_fit_elsewhere_let_their_node_go(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 12, "900m");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    size_t before = count_objects(s, KIND_NODE);
    load(s, deployment_yaml("big", 6, "3", ""));
    run_for(s, 30 * MS_SECOND);
    size_t most = count_objects(s, KIND_NODE);
    assert_true(most > before);
    scale(s, "big", 1);
    scale(s, "web", 4);
    run_for(s, 15 * MS_MINUTE);
    expect_calm(s, 4);
    assert_int_equal(count_bound(s, "big"), 1);
    assert_true(count_objects(s, KIND_NODE) < most);
    assert_true(sum_of_sizes(s) <= 8);
    assert_true(span_contains(buf_span(&l.history), SPAN("event ConsolidationCandidate general-")));
    assert_true(span_contains(buf_span(&l.history), SPAN("event DisruptionTerminating general-")));
    /* 158 */
    assert_true(span_contains(buf_span(&l.history),
                              SPAN("karpenter_nodeclaims_disrupted_total reason=underutilized nodepool=general capacity_type="
                                   "on-demand consolidation_policy=when_empty_or_underutilized termination_mode=graceful 1\n")));
    assert_int_equal(l.measured[MEASURE_CLAIMS_DISRUPTED], l.decided[DECISION_REMOVE]);
    assert_true(l.measured[MEASURE_PODS_DISRUPTED] > 0);
    buf_release(&l.history);
    loop_end(&l);
}

static void a_node_is_replaced_by_a_cheaper_one(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 12, "900m");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *before = names(s);
    scale(s, "web", 1);
    run_for(s, 5 * MS_MINUTE);
    expect_calm(s, 1);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_kept(s, before), 0);
    assert_int_equal(count_with(s, KIND_NODE_CLAIM, "metadata.annotations", "stowage.dev/replaces"), 1);
    assert_true(span_contains(buf_span(&l.history), SPAN("karpenter_nodeclaims_created_total reason=underutilized ")));
    json_decref(before);
    buf_release(&l.history);
    loop_end(&l);
}

/* What is paid twice while a node comes up goes by how long the last ones took. */
static void a_move_is_priced_by_how_long_nodes_take(void **state)
{
    (void)state;
    struct loop l = {.catalogue = two_types};
    struct sim *s = new_sim("{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":"
                            "{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"540s\"}}");
    load(s, pool_yaml("general", moves, ""));
    load(s, deployment_yaml("web", 1, "2", ""));
    load(s, deployment_yaml("big", 1, "20", ""));
    loop_begin(&l, s);
    run_for(s, 12 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 1);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    scale(s, "big", 0);
    run_for(s, 2 * MS_MINUTE);
    assert_non_null(strstr(l.last[DECISION_MOVE], " -> buy small (underutilized): saves $0.4000/h, evicts 1 pod, pays back in "));
    assert_non_null(strstr(l.last[DECISION_MOVE], " (evictions $0.0010, warm-up $0.060")); /* nine minutes of $0.4 */
    loop_end(&l);
}

/* Its pods have nowhere to go and nothing is cheaper: it stays as it is, and says so once. */
static void what_is_as_cheap_as_can_be_stays(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 3, "900m");
    loop_begin(&l, s);
    run_for(s, 3 * MS_MINUTE);
    json_t *before = names(s);
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), json_object_size(before));
    assert_int_equal(l.decided[DECISION_MOVE], 0);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    assert_true(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    assert_true(l.measured[MEASURE_LAST_FULL_SWEEP] < 5 * 60 + 20); /* as often as it looks at all */
    assert_true(span_contains(buf_span(&l.history), SPAN("stowage_consolidation_last_full_sweep_seconds 120\n")));
    json_decref(before);
    buf_release(&l.history);
    loop_end(&l);
}

/* How many nodes were told that they cannot go. */
static size_t count_told(struct loop *l)
{
    json_t *all = objects_of(l->sim, KIND_NODE), *one;
    size_t i, n = 0;
    char told[128];
    json_array_foreach(all, i, one) {
        snprintf(told, sizeof(told), "event Unconsolidatable %s:", json_string_value(tree_get(one, "metadata.name")));
        n += span_contains(buf_span(&l->history), span_of(told));
    }
    json_decref(all);
    return n;
}

/* With steps for one node each, searches go on where they stopped: the two pools have their turns, and only when all four
 * were looked at is that a full sweep. Then there is nothing more to look for. */
static void searches_go_on_until_all_were_looked_at(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .catalogue = two_types, .options = {.look_steps = 1}};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", moves, ""));
    load(s, pool_yaml("other", moves, ""));
    load(s, deployment_yaml("web", 2, "25", ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"general\"}"));
    load(s, deployment_yaml("api", 2, "25", ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"other\"}"));
    loop_begin(&l, s);
    size_t told = 0;
    double since = 0;
    for (int i = 0; i < 300 && told < 4; i++) {
        run_for(s, MS_SECOND);
        size_t now = count_told(&l);
        assert_true(now <= told + 1);
        if (told != 0 && now != told && now < 4) /* not yet: it grows */
            assert_true(l.measured[MEASURE_LAST_FULL_SWEEP] >= since + 5);
        since = now != told ? l.measured[MEASURE_LAST_FULL_SWEEP] : since;
        told = now;
    }
    assert_int_equal(told, 4);
    assert_true(l.measured[MEASURE_LAST_FULL_SWEEP] < 2);
    double searches = l.measured[MEASURE_CONSOLIDATION_TIMEOUTS];
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(l.measured[MEASURE_CONSOLIDATION_TIMEOUTS], searches);
    assert_int_equal(count_objects(s, KIND_NODE), 4);
    buf_release(&l.history);
    loop_end(&l);
}

static size_t count_passes(const struct loop *l)
{
    size_t n = 0;
    for (struct span rest = buf_span(&l->history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        n += span_eq(line, SPAN("controller_runtime_reconcile_total controller=stowage result=success 1"));
    }
    return n;
}

/* 5, 122: the planner would say the same of the same: nobody hears it again within the hour. Of what has changed it is asked. */
static void what_has_not_changed_is_not_asked_anew(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 3, "900m");
    loop_begin(&l, s);
    run_for(s, 3 * MS_MINUTE);
    assert_true(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    buf_clear(&l.history);
    run_for(s, 40 * MS_MINUTE);
    assert_false(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    assert_in_range(count_passes(&l), 40 * 6, 40 * 7 + 20); /* 5: every ten seconds, and for what kubelets say */
    run_for(s, 30 * MS_MINUTE);
    assert_true(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    run_for(s, 20 * MS_MINUTE); /* so long at least between Events of one node */
    buf_clear(&l.history);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_true(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    buf_release(&l.history);
    loop_end(&l);
}

/* 122: within five minutes, though nothing has changed but the time. */
static void a_window_that_opens_is_noticed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(moves, 12, "900m");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    patch_pool(s, "{\"metadata\":{\"annotations\":{\"stowage.dev/allow-windows\":\"30 4 * * * 30m +01:00\"}}}");
    scale(s, "web", 5);
    run_for(s, 24 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 110 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 5 * MS_MINUTE + 30 * MS_SECOND);
    assert_true(l.decided[DECISION_REMOVE] > 0);
    loop_end(&l);
}

/* A pod that was moved is let alone for a while, though it could be moved to what is cheaper still. */
static void who_was_moved_is_let_alone_for_a_while(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(moves, 12, "900m");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 5);
    for (int i = 0; i < 120 && l.decided[DECISION_REMOVE] == 0; i++)
        run_for(s, MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 5);
    uint32_t told = l.decided[DECISION_MOVE];
    scale(s, "web", 1);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 1);
    assert_true(sum_of_sizes(s) > 1);
    assert_int_equal(l.decided[DECISION_MOVE], told);
    run_for(s, 8 * MS_MINUTE);
    assert_int_equal(sum_of_sizes(s), 1);
    expect_calm(s, 1);
    loop_end(&l);
}

/* Who was left out for a while comes into question by time alone: no change says so. */
static void who_was_let_alone_is_looked_at_again_at_once(void **state)
{
    (void)state;
    struct loop l = {.options = {.cool_down = 2 * MS_MINUTE}};
    struct sim *s = cluster(moves, 12, "900m");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 5);
    for (int i = 0; i < 120 && l.decided[DECISION_REMOVE] == 0; i++)
        run_for(s, MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    run_for(s, 30 * MS_SECOND);
    uint32_t told = l.decided[DECISION_MOVE];
    scale(s, "web", 1);
    run_for(s, 80 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_MOVE], told);
    run_for(s, 60 * MS_SECOND);
    assert_true(l.decided[DECISION_MOVE] > told);
    loop_end(&l);
}

/* One consolidation has begun, and more pods have gone meanwhile: whom its pods go to is not in the next one, or that would be
 * dropped after its wait, and one after it. At most half of the nodes may go at once. */
static void whom_pods_go_to_is_in_no_set_already(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .catalogue = two_types};
    struct sim *s = cluster("{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"50%\"}]}", 170, "3");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 17);
    scale(s, "web", 150);
    for (int i = 0; i < 60 && !span_contains(buf_span(&l.history), SPAN("event ConsolidationCandidate ")); i++)
        run_for(s, MS_SECOND);
    scale(s, "web", 40);
    run_for(s, 60 * MS_SECOND);
    assert_false(span_contains(buf_span(&l.history), SPAN("event ConsolidationRejected ")));
    assert_in_range(count_objects(s, KIND_NODE), 4, 8);
    expect_calm(s, 40);
    buf_release(&l.history);
    loop_end(&l);
}

/* ---- drift ---- */

static void nodes_that_drifted_are_replaced_one_by_one(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct watch w;
    struct sim *s = apart(drifts, 5);
    json_t *before = begin_drift(&l, &w, s);
    assert_int_equal(json_object_size(before), 5);
    assert_int_equal(count_bound(s, "web"), 5);
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    assert_int_equal(count_with(s, KIND_NODE, "metadata.labels", "new"), count_objects(s, KIND_NODE));
    assert_int_equal(w.most_leaving, 1);
    expect_calm(s, 5);
    assert_true(span_contains(buf_span(&l.history), SPAN("karpenter_nodeclaims_created_total reason=drifted ")));
    assert_true(span_contains(buf_span(&l.history),
                              SPAN("karpenter_nodeclaims_disrupted_total reason=drifted nodepool=general capacity_type="
                                   "on-demand consolidation_policy= termination_mode=graceful 1\n")));
    assert_true(span_contains(buf_span(&l.history), SPAN("karpenter_pods_disruption_initiated_total reason=drifted ")));
    assert_int_equal(l.measured[MEASURE_PODS_DISRUPTED], 5);
    json_decref(before);
    buf_release(&l.history);
    loop_end(&l);
}

/* One first, then twice as many each time; all that budgets allow where it is to be as Karpenter does it. */
static void drift_goes_in_waves(void **state)
{
    (void)state;
    for (int greedy = 0; greedy < 2; greedy++) {
        struct loop l = {.options.plan.search = greedy != 0 ? SEARCH_GREEDY : SEARCH_CHEAPEST};
        struct watch w;
        struct sim *s = apart(all_drift, 5);
        json_t *before = begin_drift(&l, &w, s);
        run_for(s, 10 * MS_MINUTE);
        assert_int_equal(count_kept(s, before), 0);
        expect_calm(s, 5);
        if (greedy != 0) {
            assert_true(w.most_leaving > 2);
        } else {
            assert_int_equal(w.peak_count, 3);
            assert_int_equal(w.peaks[0], 1);
            assert_int_equal(w.peaks[1], 2);
            assert_int_equal(w.peaks[2], 2); /* of 4: no more are left */
        }
        json_decref(before);
        loop_end(&l);
    }
}

/* Pods take three minutes to be ready where they come to. */
static void drift_pauses_until_pods_run_again(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = apart_in(new_sim_with(&(struct sim_options){.delays = {.pod_start = 3 * MS_MINUTE}}, node_class_yaml()),
                             all_drift, 3);
    loop_begin(&l, s);
    run_for(s, 5 * MS_MINUTE);
    json_t *before = names(s);
    change_template(s);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 2);
    assert_true(span_contains(buf_span(&l.history), SPAN("event DriftPaused general: ")));
    assert_true(span_contains(buf_span(&l.history), SPAN("drift of general waits: 1 pod that came to its new nodes is not ready")));
    assert_false(span_contains(buf_span(&l.history), SPAN("drift of general waits no more")));
    run_for(s, 6 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    assert_true(span_contains(buf_span(&l.history), SPAN("drift of general waits no more")));
    expect_calm(s, 3);
    json_decref(before);
    buf_release(&l.history);
    loop_end(&l);
}

/* Who takes over does not know how far it was, and begins again with one. */
static void a_new_leader_begins_with_a_small_wave(void **state)
{
    (void)state;
    struct loop l = {0};
    struct watch w;
    struct sim *s = apart(all_drift, 5);
    json_t *before = begin_drift(&l, &w, s);
    for (int i = 0; i < 600 && (w.peak_count != 1 || w.peak != 2); i++)
        run_for(s, MS_SECOND);
    assert_int_equal(w.peak, 2);
    loop_stop(&l);
    loop_start(&l);
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    expect_calm(s, 5);
    assert_int_equal(w.peak_count, 4);
    assert_int_equal(w.peaks[2], 1);
    assert_int_equal(w.peaks[3], 1); /* of 2: no more are left */
    json_decref(before);
    loop_end(&l);
}

/* It is 03:04 as it begins. */
static void who_drifted_goes_while_a_window_is_open(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = apart(drifts, 2);
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    patch_pool(s, "{\"metadata\":{\"annotations\":{\"stowage.dev/allow-windows\":\"30 4 * * * 30m +01:00\"}}}");
    change_template(s);
    run_for(s, 24 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 2);
    run_for(s, 25 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    expect_calm(s, 2);
    json_decref(before);
    loop_end(&l);
}

/* ---- what does not come about ---- */

/* 135: who stops while it waits has done nothing, and it is nobody's failure. Who takes over decides anew. */
static void a_wait_that_is_cut_short_leaves_no_trace(void **state)
{
    (void)state;
    for (int dies = 0; dies < 2; dies++) {
        struct loop l = {.keeps = true, .restart_after = 5 * MS_MINUTE};
        struct sim *s = cluster(moves, 12, "900m");
        loop_begin(&l, s);
        run_for(s, 30 * MS_SECOND);
        scale(s, "web", 1);
        for (int i = 0; i < 120 && !span_contains(buf_span(&l.history), SPAN("event ConsolidationCandidate ")); i++)
            run_for(s, MS_SECOND);
        double failed = l.measured[MEASURE_FAILED_VALIDATIONS];
        if (dies != 0)
            loop_stop(&l);
        else
            reconciler_lead(l.reconciler, false);
        json_t *before = names(s);
        run_for(s, 5 * MS_MINUTE);
        assert_int_equal(count_kept(s, before), json_object_size(before));
        assert_int_equal(count_objects(s, KIND_NODE_CLAIM), json_object_size(before));
        assert_int_equal(l.decided[DECISION_REMOVE], 0);
        expect_calm(s, 1);
        if (dies == 0)
            reconciler_lead(l.reconciler, true);
        run_for(s, 2 * MS_SECOND);
        assert_true(l.measured[MEASURE_FAILED_VALIDATIONS] == failed);
        run_for(s, 10 * MS_MINUTE);
        assert_int_equal(count_kept(s, before), 0);
        json_decref(before);
        loop_end(&l);
    }
}

static bool none(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)type;
    (void)zone;
    (void)capacity_type;
    return !*(bool *)user;
}

/* No machine is to be had: nobody is evicted, nothing stays marked, and it is not tried without end. */
static void a_replacement_that_cannot_be_had_takes_its_command_back(void **state)
{
    (void)state;
    bool sold_out = false;
    struct loop l = {.in_stock = none, .in_stock_user = &sold_out};
    struct sim *s = cluster(drifts, 4, "900m");
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    sold_out = true;
    change_template(s);
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), json_object_size(before));
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(l.decided[DECISION_DRAIN], 0);
    assert_true(l.decided[DECISION_BUY] <= 8);
    sold_out = false;
    run_for(s, 40 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    expect_calm(s, 4);
    json_decref(before);
    loop_end(&l);
}

struct marks_seen {
    struct sim *sim;
    size_t most; /* at a time */
};

static wall_ms look_for_marks(void *user, wall_ms now)
{
    struct marks_seen *m = user;
    (void)now;
    size_t marked = count_marked(m->sim);
    m->most = marked > m->most ? marked : m->most;
    return INT64_MAX;
}

/* While it waits its node fills up again: it is dropped before anybody is marked or evicted, and says why. */
static void a_command_that_is_overtaken_is_dropped(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 12, "900m");
    struct marks_seen marks = {.sim = s};
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 1);
    for (int i = 0; i < 120 && !span_contains(buf_span(&l.history), SPAN("event ConsolidationCandidate ")); i++)
        run_for(s, MS_SECOND);
    assert_int_equal(l.moves.under_way, 1);
    json_t *before = names(s), *pod = only(s, KIND_POD);
    sim_add_actor(s, (struct sim_actor){.user = &marks, .step = look_for_marks});
    scale(s, "web", 12); /* while it waits */
    run_for(s, 2 * MS_MINUTE);
    assert_true(span_contains(buf_span(&l.history), SPAN("event ConsolidationRejected ")));
    if (strstr(l.last[DECISION_MOVE], "dropped, it does not stand after its wait (") != l.last[DECISION_MOVE] ||
        strstr(l.last[DECISION_MOVE], "): remove general-") == NULL)
        fail_msg("%s", l.last[DECISION_MOVE]);
    assert_true(span_contains(buf_span(&l.history),
                              SPAN("karpenter_voluntary_disruption_failed_validations_total consolidation_type=single 1\n")));
    assert_int_equal(l.measured[MEASURE_EVICTIONS], 0);
    assert_int_equal(marks.most, 0);
    assert_int_equal(l.moves.under_way, 0);
    assert_int_equal(count_kept(s, before), json_object_size(before));
    json_t *same = object_of(s, KIND_POD, "default", json_string_value(tree_get(pod, "metadata.name")));
    assert_true(same != NULL && tree_get(same, "metadata.deletionTimestamp") == NULL); /* who ran there still does */
    expect_calm(s, 12);
    json_decref(same);
    json_decref(pod);
    json_decref(before);
    buf_release(&l.history);
    loop_end(&l);
}

/* Waits until somebody is told so after that place in the history. Returns where, and whom. */
static size_t await_event(struct sim *s, struct loop *l, size_t from, const char *reason, char name_out[64])
{
    char told[64];
    const char *at = NULL;
    snprintf(told, sizeof(told), "event %s ", reason);
    for (int i = 0; i < 180 && at == NULL; i++) {
        run_for(s, MS_SECOND);
        at = from < l->history.len ? strstr(l->history.ptr + from, told) : NULL;
    }
    assert_non_null(at);
    struct span rest, name = span_cut(span_of(at + strlen(told)), ':', &rest);
    snprintf(name_out, 64, "%.*s", SPAN_ARG(name));
    return (size_t)(at - l->history.ptr);
}

/* 120: who was to go has to stay, which the command does not survive; another one goes. */
static void what_is_rejected_lets_others_go(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(moves, 12, "900m");
    char first[64], rejected[64], other[64];
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    load(s, deployment_yaml("big", 6, "3", ""));
    run_for(s, 5 * MS_MINUTE);
    size_t from = l.history.len;
    scale(s, "big", 3);
    scale(s, "web", 4);
    from = await_event(s, &l, from, "ConsolidationCandidate", first);
    do_request(s, API_MERGE, KIND_NODE, NULL, first,
               "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}}}", 200);
    from = await_event(s, &l, from, "ConsolidationRejected", rejected);
    assert_string_equal(rejected, first);
    await_event(s, &l, from, "ConsolidationCandidate", other);
    assert_string_not_equal(other, first);
    run_for(s, 10 * MS_MINUTE);
    assert_false(is_gone(s, KIND_NODE, NULL, first));
    assert_int_equal(count_bound(s, "web"), 4);
    buf_release(&l.history);
    loop_end(&l);
}

/* ---- what holds a drain ---- */

/* A budget that closes once its replacement is on its way: nobody is evicted as long as it is. */
static void a_drain_that_could_not_end_does_not_begin(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(drifts, 1, "500m");
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *old = names(s);
    change_template(s);
    for (int i = 0; i < 60 && count_objects(s, KIND_NODE_CLAIM) == 1; i++)
        run_for(s, MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    load(s, "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"web\","
            "\"namespace\":\"default\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}}");
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_kept(s, old), 1);
    assert_int_equal(count_marked(s), 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    assert_non_null(strstr(l.last[DECISION_MOVE], "is not drained yet: Pdb prevents pod evictions "
                                                  "(PodDisruptionBudget=[default/web], Pod=default/web-"));
    char event[128];
    snprintf(event, sizeof(event), "event DisruptionBlocked %s: Pdb ",
             json_string_value(json_object_iter_value(json_object_iter(old))));
    assert_true(span_contains(buf_span(&l.history), span_of(event)));
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "web", NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_kept(s, old), 0);
    expect_calm(s, 1);
    json_decref(old);
    buf_release(&l.history);
    loop_end(&l);
}

static void keep_pod(struct sim *s, const char *value)
{
    char body[128];
    json_t *pods = objects_of(s, KIND_POD);
    snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":%s}}}", value);
    assert_int_equal(json_array_size(pods), 1);
    do_request(s, API_MERGE, KIND_POD, "default",
               json_string_value(tree_get(json_array_get(pods, 0), "metadata.name")), body, 200);
    json_decref(pods);
}

/* While it waits, nobody takes what has come in its place for empty. */
static void a_replacement_is_kept_for_whom_it_is(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(drifts, 1, "500m");
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    patch_pool(s, "{\"spec\":{\"disruption\":{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\",\"budgets\":[{"
                  "\"nodes\":\"100%\"}]}}}");
    json_t *old = names(s);
    change_template(s);
    for (int i = 0; i < 60 && count_objects(s, KIND_NODE_CLAIM) == 1; i++)
        run_for(s, MS_SECOND);
    keep_pod(s, "\"true\"");
    run_for(s, 3 * MS_MINUTE);
    json_t *both = names(s);
    assert_int_equal(json_object_size(both), 2);
    assert_int_equal(count_kept(s, old), 1);
    keep_pod(s, "null");
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_kept(s, old), 0);
    assert_int_equal(count_kept(s, both), 1);
    expect_calm(s, 1);
    json_decref(old);
    json_decref(both);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_fit_elsewhere_let_their_node_go),
        cmocka_unit_test(a_node_is_replaced_by_a_cheaper_one),
        cmocka_unit_test(a_move_is_priced_by_how_long_nodes_take),
        cmocka_unit_test(what_is_as_cheap_as_can_be_stays),
        cmocka_unit_test(searches_go_on_until_all_were_looked_at),
        cmocka_unit_test(what_has_not_changed_is_not_asked_anew),
        cmocka_unit_test(a_window_that_opens_is_noticed),
        cmocka_unit_test(who_was_moved_is_let_alone_for_a_while),
        cmocka_unit_test(who_was_let_alone_is_looked_at_again_at_once),
        cmocka_unit_test(whom_pods_go_to_is_in_no_set_already),
        cmocka_unit_test(nodes_that_drifted_are_replaced_one_by_one),
        cmocka_unit_test(drift_goes_in_waves),
        cmocka_unit_test(drift_pauses_until_pods_run_again),
        cmocka_unit_test(a_new_leader_begins_with_a_small_wave),
        cmocka_unit_test(who_drifted_goes_while_a_window_is_open),
        cmocka_unit_test(a_replacement_that_cannot_be_had_takes_its_command_back),
        cmocka_unit_test(a_command_that_is_overtaken_is_dropped),
        cmocka_unit_test(a_wait_that_is_cut_short_leaves_no_trace),
        cmocka_unit_test(what_is_rejected_lets_others_go),
        cmocka_unit_test(a_drain_that_could_not_end_does_not_begin),
        cmocka_unit_test(a_replacement_is_kept_for_whom_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
