/* Commands whose replacements are long in coming, and writes of theirs that fail: scenarios of spec disruption 20.10, by
 * their numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_moves.h"

#define BOOTS "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}},\"spec\":{\"startupTaints\":[{\"key\":" \
              "\"boot\",\"effect\":\"NoSchedule\"}]}}}}"

static bool said(const struct loop *l, const char *text)
{
    return span_contains(buf_span(&l->history), span_of(text));
}

static json_t *node_taint(struct sim *s, const char *node, const char *key)
{
    json_t *object = object_of(s, KIND_NODE, NULL, node), *taint, *found = NULL;
    size_t i;
    json_array_foreach(tree_get(object, "spec.taints"), i, taint)
        if (tree_is(taint, "key", key))
            found = taint;
    json_incref(found);
    json_decref(object);
    return found;
}

static bool is_tainted(struct sim *s, const char *node, const char *key)
{
    json_t *taint = node_taint(s, node, key);
    bool is = taint != NULL;
    json_decref(taint);
    return is;
}

static bool has_started(struct sim *s, const char *claim, const char *condition)
{
    json_t *object = object_of(s, KIND_NODE_CLAIM, NULL, claim);
    bool is = tree_is(tree_condition(object, condition), "status", "True");
    json_decref(object);
    return is;
}

static size_t count_with_reason(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *one;
    size_t i, n = 0;
    json_array_foreach(all, i, one)
        n += tree_is(tree_condition(one, "DisruptionReason"), "status", "True");
    json_decref(all);
    return n;
}

static bool is_leaving(struct sim *s, const char *claim)
{
    json_t *object = object_of(s, KIND_NODE_CLAIM, NULL, claim);
    bool is = object == NULL || tree_get(object, "metadata.deletionTimestamp") != NULL;
    json_decref(object);
    return is;
}

/* Names of the NodeClaims that are not in `before`. */
static uint32_t newcomers(struct sim *s, json_t *before, char names_out[][64], uint32_t most)
{
    json_t *now = names(s), *name;
    const char *uid;
    uint32_t n = 0;
    json_object_foreach(now, uid, name)
        if (json_object_get(before, uid) == NULL && n < most)
            snprintf(names_out[n++], 64, "%s", json_string_value(name));
    json_decref(now);
    return n;
}

static const char *first_name(json_t *claims)
{
    return json_string_value(json_object_iter_value(json_object_iter(claims)));
}

/* ---- replacements that are long in coming ---- */

/* A large machine, whose pods need two small ones from now on, which wait for whoever takes their startup taints off. */
static json_t *begin_split(struct loop *l)
{
    struct sim *s = new_sim(node_class_yaml());
    l->catalogue = two_types;
    l->keeps = true;
    load(s, pool_yaml("general", drifts, ""));
    load(s, deployment_yaml("web", 3, "9", ""));
    loop_begin(l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    assert_int_equal(json_object_size(before), 1);
    return before;
}

static void boot(struct sim *s, const char *node)
{
    do_request(s, API_MERGE, KIND_NODE, NULL, node, "{\"spec\":{\"taints\":[]}}", 200);
}

/* 8, 147: one of several that are to come is not enough, and who waits for them keeps the marks. 150: what becomes of one that was ready once holds nobody up. */
static void all_replacements_are_waited_for(void **state)
{
    (void)state;
    struct loop l = {0};
    char come[4][64];
    json_t *before = begin_split(&l);
    struct sim *s = l.sim;
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", BOOTS, 200);
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\","
               "\"operator\":\"In\",\"values\":[\"small\"]}]}}}}",
               200);
    run_for(s, 60 * MS_SECOND);
    uint32_t count = newcomers(s, before, come, COUNT_OF(come));
    assert_true(count >= 2);
    for (uint32_t i = 0; i + 1 < count; i++)
        boot(s, come[i]);
    run_for(s, 10 * MS_SECOND);
    assert_true(has_started(s, come[0], "Initialized"));
    set_ready(s, come[0], "False");
    run_for(s, 5 * MS_MINUTE);
    assert_false(is_leaving(s, first_name(before)));
    assert_true(is_tainted(s, first_name(before), "karpenter.sh/disrupted"));
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    boot(s, come[count - 1]);
    run_for(s, 10 * MS_SECOND);
    assert_true(is_leaving(s, first_name(before)));
    set_ready(s, come[0], "True");
    run_for(s, 2 * MS_MINUTE);
    expect_calm(s, 3);
    json_decref(before);
    loop_end(&l);
}

/* 149, 157, 305: a replacement that never joins is waited for ten minutes, and nothing else is bought for those pods. */
static void what_never_joins_is_waited_for_ten_minutes(void **state)
{
    static const struct {
        const char *disruption, *label;
        bool drift;
    } rows[] = {{drifts, "decision=replace reason=drifted consolidation_type= 1\n", true},
                {moves, "decision=replace reason=underutilized consolidation_type=single 1\n", false}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct loop l = {.catalogue = two_types, .keeps = true};
        struct census claims;
        char line[128];
        struct sim *s = cluster(rows[i].disruption, 2, "2");
        if (!rows[i].drift)
            load(s, deployment_yaml("big", 1, "20", ""));
        loop_begin(&l, s);
        run_for(s, 60 * MS_SECOND);
        json_t *before = names(s);
        assert_int_equal(json_object_size(before), 1);
        do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", "{\"spec\":{\"nodeRegistrationDelay\":\"1h\"}}", 200);
        if (rows[i].drift)
            change_template(s);
        else
            scale(s, "big", 0);
        for (int t = 0; t < 120 && count_objects(s, KIND_NODE_CLAIM) == 1; t++)
            run_for(s, MS_SECOND);
        census_begin(&claims, s, KIND_NODE_CLAIM);
        run_for(s, 9 * MS_MINUTE + 50 * MS_SECOND);
        assert_int_equal(count_marked(s), 1);
        assert_int_equal(census_count(&claims), 2);
        run_for(s, 20 * MS_SECOND);
        assert_int_equal(count_marked(s), 0);
        assert_int_equal(count_with_reason(s), 0);
        assert_int_equal(count_kept(s, before), 1);
        assert_int_equal(count_bound(s, "web"), 2);
        assert_int_equal(l.decided[DECISION_DRAIN], 0);
        snprintf(line, sizeof(line), "karpenter_voluntary_disruption_queue_failures_total %s", rows[i].label);
        if (!said(&l, line))
            fail_msg("not told: %s", line);
        census_end(&claims);
        json_decref(before);
        loop_end(&l);
    }
}

/* 301: who goes before another has come, since no other can, is counted by why. */
static void who_goes_first_is_counted(void **state)
{
    (void)state;
    struct loop l = {.options = {.static_capacity = true, .terminate_first_drift = true}, .keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", drifts, ""));
    patch_pool(s, "{\"spec\":{\"replicas\":1,\"limits\":{\"nodes\":1}}}");
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    assert_int_equal(json_object_size(before), 1);
    change_template(s);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_kept(s, before), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_true(said(&l, "karpenter_voluntary_disruption_decisions_total decision=terminate-first reason=drifted "
                         "consolidation_type= 1\n"));
    assert_true(said(&l, "karpenter_voluntary_disruption_terminate_first_decisions_total nodepool=general reason=drifted "
                         "terminate_first_reason=static-at-limit 1\n"));
    json_decref(before);
    loop_end(&l);
}

/* ---- writes that fail ---- */

struct refuser {
    enum api_verb verb;
    enum kind kind;
    const char *part, *name; /* of the body; of the object, NULL: any */
    int status;
    uint32_t left, refused;
};

static enum sim_fate refuse(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct refuser *x = user;
    (void)number;
    if (x->left == 0 || r->verb != x->verb || r->kind != x->kind || r->subresource.len != 0 ||
        (x->part != NULL && !span_contains(r->body, span_of(x->part))) ||
        (x->name != NULL && !span_eq(r->name, span_of(x->name))))
        return SIM_PASS;
    x->left--;
    x->refused++;
    *refusal = (struct sim_refusal){.status = x->status, .reason = x->status == 409 ? "Conflict" : "InternalError",
                                    .message = "not now"};
    return SIM_REFUSE;
}

/* 155: by the time that its nodes are marked its pool has more than it may: nothing is made, and nothing stays marked. */
static void what_the_pool_may_not_buy_is_not_waited_for(void **state)
{
    (void)state;
    struct refuser x = {API_MERGE, KIND_NODE, "karpenter.sh/disrupted", NULL, 500, 0, 0};
    struct loop l = {.faults = {.user = &x, .before = refuse}, .keeps = true};
    struct sim *s = cluster(drifts, 3, "900m");
    struct census claims;
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    x.left = 3;
    change_template(s);
    for (int t = 0; t < 300 && x.refused == 0; t++)
        run_for(s, 100);
    patch_pool(s, "{\"spec\":{\"limits\":{\"cpu\":\"1\"}}}");
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(x.left, 0);
    assert_true(said(&l, "stowage_purchases_held_total reason=limit 1\n"));
    assert_int_equal(census_count(&claims), json_object_size(before));
    assert_int_equal(count_kept(s, before), json_object_size(before));
    assert_int_equal(count_with_reason(s), 0);
    assert_int_equal(l.decided[DECISION_DRAIN], 0);
    expect_calm(s, 3);
    census_end(&claims);
    json_decref(before);
    loop_end(&l);
}

/* 151: it is asked for again, and its node stays marked meanwhile. */
static void a_deletion_that_fails_is_tried_again(void **state)
{
    (void)state;
    struct refuser x = {API_DELETE, KIND_NODE_CLAIM, NULL, NULL, 500, 5, 0};
    struct loop l = {.faults = {.user = &x, .before = refuse}};
    struct sim *s = cluster(drifts, 2, "500m");
    struct census claims;
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    change_template(s);
    for (int t = 0; t < 600 && x.refused == 0; t++)
        run_for(s, 100);
    for (; x.refused < 5; run_for(s, 100))
        assert_int_equal(count_marked(s), 1);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(census_count(&claims), 2);
    assert_int_equal(count_kept(s, before), 0);
    expect_calm(s, 2);
    census_end(&claims);
    json_decref(before);
    loop_end(&l);
}

static const char *const zones[] = {"a", "b", "c"};

/* Three machines in three zones, which are empty at the end. */
static json_t *begin_three(struct loop *l, struct sim *s)
{
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        char more[128];
        snprintf(more, sizeof(more), ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-%s\"}", zones[i]);
        load(s, deployment_yaml(zones[i], 1, "500m", more));
    }
    loop_begin(l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *before = names(s);
    assert_int_equal(json_object_size(before), 3);
    return before;
}

/* 154: who cannot be marked stays, and of those that are deleted alone the others go. With a replacement the whole is
 * taken back, and nothing is bought. */
static void who_cannot_be_marked_stays(void **state)
{
    (void)state;
    struct refuser x = {API_MERGE, KIND_NODE, "karpenter.sh/disrupted", NULL, 500, 0, 0};
    struct loop l = {.faults = {.user = &x, .before = refuse}};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", moves, ""));
    json_t *before = begin_three(&l, s);
    x.name = first_name(before);
    x.left = UINT32_MAX;
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        scale(s, zones[i], 0);
    run_for(s, 2 * MS_MINUTE);
    assert_true(x.refused > 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_false(is_leaving(s, x.name));
    x.left = 0;
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    json_decref(before);
    loop_end(&l);

    x = (struct refuser){API_MERGE, KIND_NODE, "karpenter.sh/disrupted", NULL, 500, 0, 0};
    l = (struct loop){.faults = {.user = &x, .before = refuse}};
    s = cluster(drifts, 2, "500m");
    struct census claims;
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    x.left = UINT32_MAX;
    change_template(s);
    run_for(s, 12 * MS_MINUTE);
    assert_true(x.refused > 0);
    assert_int_equal(census_count(&claims), 1);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(l.decided[DECISION_DRAIN], 0);
    census_end(&claims);
    loop_end(&l);
}

/* As a leader before wrote it. */
static void put_reason(struct sim *s, const char *claim)
{
    json_t *object = object_of(s, KIND_NODE_CLAIM, NULL, claim);
    json_t *list = json_deep_copy(tree_get(object, "status.conditions"));
    json_array_append_new(list, json_pack("{ssssssssss}", "type", "DisruptionReason", "status", "True", "reason", "Drifted",
                                          "message", "Drifted", "lastTransitionTime", "2026-01-02T03:05:00Z"));
    json_t *patch = json_pack("{s{so}}", "status", "conditions", list);
    char *body = json_dumps(patch, 0);
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = API_MERGE, .kind = KIND_NODE_CLAIM, .name = span_of(claim),
                            .subresource = SPAN("status"), .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(s), &a, &r).status, 200);
    arena_release(&a);
    free(body);
    json_decref(patch);
    json_decref(object);
}

/* 6, 7, 10: the marks of nobody's command go, and what is written meanwhile only delays it; those of who is deleted stay. */
static void a_mark_of_nobody_goes(void **state)
{
    (void)state;
    struct refuser x = {API_MERGE, KIND_NODE, "\"taints\":[]", NULL, 409, 3, 0};
    struct loop l = {.faults = {.user = &x, .before = refuse}, .keeps = true};
    struct sim *s = apart(drifts, 2);
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *all = objects_of(s, KIND_NODE);
    const char *node = json_string_value(tree_get(json_array_get(all, 0), "metadata.name"));
    x.name = node;
    put_reason(s, node);
    do_request(s, API_MERGE, KIND_NODE, NULL, node,
               "{\"spec\":{\"taints\":[{\"key\":\"karpenter.sh/disrupted\",\"effect\":\"NoSchedule\"}]}}", 200);
    buf_clear(&l.history);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(x.refused, 3);
    assert_false(is_tainted(s, node, "karpenter.sh/disrupted"));
    assert_int_equal(count_with_reason(s), 0);
    assert_false(said(&l, "_errors_total") || said(&l, "queue_failures_total"));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"
            "spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}\n");
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, node, NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    assert_true(is_tainted(s, node, "karpenter.sh/disrupted"));
    assert_int_equal(count_marked(s), 1);
    json_decref(all);
    loop_end(&l);
}

/* 10: it is tried again at a pace, as long as it may take. */
static void a_mark_that_cannot_be_taken_off_is_tried_at_a_pace(void **state)
{
    (void)state;
    struct refuser x = {API_MERGE, KIND_NODE, "\"taints\":[]", NULL, 409, UINT32_MAX, 0};
    struct loop l = {.faults = {.user = &x, .before = refuse}, .keeps = true};
    struct sim *s = apart(drifts, 2);
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *all = names(s);
    do_request(s, API_MERGE, KIND_NODE, NULL, first_name(all),
               "{\"spec\":{\"taints\":[{\"key\":\"karpenter.sh/disrupted\",\"effect\":\"NoSchedule\"}]}}", 200);
    run_for(s, 5 * MS_MINUTE);
    print_message("%u attempts\n", x.refused);
    assert_in_range(x.refused, 5, 40);
    json_decref(all);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_replacements_are_waited_for),
        cmocka_unit_test(what_never_joins_is_waited_for_ten_minutes),
        cmocka_unit_test(who_goes_first_is_counted),
        cmocka_unit_test(what_the_pool_may_not_buy_is_not_waited_for),
        cmocka_unit_test(a_deletion_that_fails_is_tried_again),
        cmocka_unit_test(who_cannot_be_marked_stays),
        cmocka_unit_test(a_mark_of_nobody_goes),
        cmocka_unit_test(a_mark_that_cannot_be_taken_off_is_tried_at_a_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
