/* When a pass may be made at all: what has to be known of the cluster before anything is bought. */
#include "tests/sim/support_loop.h"

static struct sim *cluster(void)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

/* 244: one kind is not listed yet: what is there of it might make a purchase needless. */
static void nothing_is_bought_before_the_cluster_is_known(void **state)
{
    static const enum kind kinds[] = {KIND_NODE, KIND_POD, KIND_NODE_CLAIM, KIND_DAEMON_SET};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct loop l = {0};
        struct sim *s = cluster();
        load(s, deployment_yaml("web", 2, "500m", ""));
        loop_begin(&l, s);
        sim_client_break_watch(l.api, kinds[i], sim_now(s) + MS_MINUTE, true);
        run_for(s, 50 * MS_SECOND);
        if (count_objects(s, KIND_NODE_CLAIM) != 0)
            fail_msg("bought without knowing any %s", kind_info(kinds[i])->name);
        run_for(s, MS_MINUTE);
        if (count_bound(s, "web") != 2)
            fail_msg("%s: %zu pods bound once it is known", kind_info(kinds[i])->name,
                     count_bound(s, "web"));
        loop_end(&l);
    }
}

static enum sim_fate no_node(void *user, uint64_t number, const struct api_request *r,
                             struct sim_refusal *refusal)
{
    const bool *closed = user;
    (void)number;
    (void)refusal;
    return *closed && r->kind == KIND_NODE && r->verb == API_CREATE ? SIM_REFUSE : SIM_PASS;
}

/* 1, 244: what a claim without a machine will be is not known: its pods would be planned for twice. */
static void nothing_is_planned_while_a_claim_has_no_machine(void **state)
{
    (void)state;
    bool closed = true;
    struct loop l = {.faults = {.user = &closed, .before = no_node}};
    struct sim *s = cluster();
    load(s, deployment_yaml("a", 1, "500m",
                            ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-a\"}"));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    load(s, deployment_yaml("b", 1, "500m",
                            ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-b\"}"));
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    closed = false;
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    assert_int_equal(count_bound(s, "a"), 1);
    assert_int_equal(count_bound(s, "b"), 1);
    loop_end(&l);
}

/* A leader answers for its own time: not for that before it lost the lead, nor for the other's. */
static void a_new_leader_has_waited_for_no_machine_yet(void **state)
{
    (void)state;
    bool closed = true;
    struct loop l = {.faults = {.user = &closed, .before = no_node}};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_in_range((int)l.measured[MEASURE_STATE_UNSYNCED], 40, 60);
    reconciler_lead(l.reconciler, false);
    run_for(s, 2 * MS_MINUTE);
    reconciler_lead(l.reconciler, true);
    run_for(s, 30 * MS_SECOND);
    assert_in_range((int)l.measured[MEASURE_STATE_UNSYNCED], 1, 30);
    loop_end(&l);
}

struct editor {
    struct sim *sim;
    bool done;
};

/* Somebody changes the pool after the plan was made and before its claim is there. */
static enum sim_fate edit_pool(void *user, uint64_t number, const struct api_request *r,
                               struct sim_refusal *refusal)
{
    struct editor *e = user;
    (void)number;
    (void)refusal;
    if (r->kind == KIND_NODE_CLAIM && r->verb == API_CREATE && !e->done) {
        e->done = true;
        do_request(e->sim, API_MERGE, KIND_NODE_POOL, NULL, "general",
                   "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}", 200);
    }
    return SIM_PASS;
}

static json_t *hash_of_first(struct sim *s, enum kind k)
{
    json_t *all = objects_of(s, k);
    json_t *hash = json_object_get(tree_get(json_array_get(all, 0), "metadata.annotations"),
                                   "karpenter.sh/nodepool-hash");
    json_incref(hash);
    json_decref(all);
    return hash;
}

/* Else a claim of the old template would pass for one of the new, and never be seen to drift. */
static void a_claim_keeps_the_hash_that_it_was_planned_from(void **state)
{
    (void)state;
    struct sim *s = new_sim(node_class_yaml());
    struct editor e = {.sim = s};
    struct loop l = {.faults = {.user = &e, .before = edit_pool}};
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"0\"}]}", "")); /* nobody leaves */
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    json_t *planned = hash_of_first(s, KIND_NODE_POOL);
    load(s, deployment_yaml("web", 1, "500m", ""));
    run_for(s, 30 * MS_SECOND);
    json_t *claim = hash_of_first(s, KIND_NODE_CLAIM), *edited = hash_of_first(s, KIND_NODE_POOL);
    assert_true(e.done);
    assert_non_null(planned);
    assert_true(json_equal(claim, planned));
    assert_false(json_equal(edited, planned));
    json_decref(planned);
    json_decref(claim);
    json_decref(edited);
    loop_end(&l);
}

static void count_otherwise(struct sim *s, enum kind k, const char *name)
{
    do_request(s, API_MERGE, k, NULL, name,
               "{\"metadata\":{\"annotations\":{\"karpenter.sh/nodepool-hash\":\"1\",\"karpenter.sh/nodepool-hash-version\":"
               "\"v0\"}}}", 200);
}

/* 184: what another version has counted is counted anew, and is no drift. */
static void a_new_way_to_count_is_no_drift(void **state)
{
    (void)state;
    struct sim *s = new_sim(node_class_yaml());
    struct loop l = {0};
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\"}", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *hash = hash_of_first(s, KIND_NODE_POOL), *all = objects_of(s, KIND_NODE_CLAIM);
    assert_int_equal(json_array_size(all), 1);
    const char *claim = json_string_value(tree_get(json_array_get(all, 0), "metadata.name"));
    count_otherwise(s, KIND_NODE_CLAIM, claim);
    run_for(s, 5 * MS_SECOND); /* of two versions nothing is said */
    count_otherwise(s, KIND_NODE_POOL, "general");
    run_for(s, MS_MINUTE);
    json_t *now = object_of(s, KIND_NODE_CLAIM, NULL, claim), *of_pool = hash_of_first(s, KIND_NODE_POOL);
    const json_t *notes = tree_get(now, "metadata.annotations");
    assert_true(json_equal(of_pool, hash));
    assert_true(json_equal(json_object_get(notes, "karpenter.sh/nodepool-hash"), hash));
    assert_string_equal(json_string_value(json_object_get(notes, "karpenter.sh/nodepool-hash-version")), "v3");
    assert_false(tree_condition_is(now, "Drifted", "True"));
    json_decref(hash);
    json_decref(of_pool);
    json_decref(now);
    json_decref(all);
    loop_end(&l);
}

/* 184: nor does it make of who has drifted one that has not. */
static void who_has_drifted_stays_so_however_it_is_counted(void **state)
{
    (void)state;
    struct sim *s = new_sim(node_class_yaml());
    struct loop l = {0};
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    const char *name = json_string_value(tree_get(claim, "metadata.name"));
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}", 200);
    run_for(s, 10 * MS_SECOND);
    json_t *before = object_of(s, KIND_NODE_CLAIM, NULL, name);
    assert_true(tree_condition_is(before, "Drifted", "True"));
    count_otherwise(s, KIND_NODE_CLAIM, name);
    count_otherwise(s, KIND_NODE_POOL, "general");
    run_for(s, 10 * MS_MINUTE);
    json_t *now = object_of(s, KIND_NODE_CLAIM, NULL, name);
    assert_true(tree_condition_is(now, "Drifted", "True"));
    assert_string_equal(json_string_value(json_object_get(tree_get(now, "metadata.annotations"), "karpenter.sh/nodepool-hash-version")), "v3");
    json_decref(now);
    json_decref(before);
    json_decref(claim);
    loop_end(&l);
}

/* Pods whose machine is on its way are planned again and again, and keep their places without a word; who comes
 * later alone is told of his. */
static void who_keeps_a_place_is_not_told_again(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim("{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{"
                            "\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"5m\"}}");
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 25 * MS_SECOND);
    uint32_t told = l.decided[DECISION_PLACE];
    assert_true(told >= 3);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_PLACE], told);
    load(s, deployment_yaml("late", 1, "100m", ""));
    run_for(s, 25 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_PLACE], told + 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    run_for(s, 6 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 3);
    assert_int_equal(count_bound(s, "late"), 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_bought_before_the_cluster_is_known),
        cmocka_unit_test(nothing_is_planned_while_a_claim_has_no_machine),
        cmocka_unit_test(a_new_leader_has_waited_for_no_machine_yet),
        cmocka_unit_test(who_keeps_a_place_is_not_told_again),
        cmocka_unit_test(a_claim_keeps_the_hash_that_it_was_planned_from),
        cmocka_unit_test(a_new_way_to_count_is_no_drift),
        cmocka_unit_test(who_has_drifted_stays_so_however_it_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
