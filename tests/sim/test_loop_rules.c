/* What may be bought and what may be removed, as whoever watches the cluster sees it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/places.h"
#include "tests/sim/support_loop.h"

static struct sim *cluster(const char *disruption, const char *more)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", disruption, more));
    return s;
}

static json_t *first_of(struct sim *s, enum kind k)
{
    json_t *all = objects_of(s, k);
    json_t *first = json_incref(json_array_get(all, 0));
    json_decref(all);
    return first;
}

/* The status, reason and message of a condition as one text; static storage. */
static const char *condition_text(const json_t *object, const char *type)
{
    static char text[512];
    const json_t *c = tree_condition(object, type);
    snprintf(text, sizeof(text), "%.*s %.*s %.*s", SPAN_ARG(tree_string(c, "status")),
             SPAN_ARG(tree_string(c, "reason")), SPAN_ARG(tree_string(c, "message")));
    return c != NULL ? text : "";
}

static void a_claim_says_what_it_is(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", ",\"taints\":[{\"key\":\"team\",\"value\":\"a\",\"effect\":"
                                "\"NoSchedule\"}],\"startupTaints\":[{\"key\":\"warming\","
                                "\"effect\":\"NoExecute\"}],\"terminationGracePeriod\":\"5m\"");
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"example.com/owner\":"
               "\"shop\"}}}}}",
               200);
    load(s, deployment_yaml("web", 3, "500m",
                            ",\"tolerations\":[{\"key\":\"team\",\"operator\":\"Exists\"}]"));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *claim = first_of(s, KIND_NODE_CLAIM), *node = first_of(s, KIND_NODE);
    assert_non_null(claim);
    assert_non_null(node);
    assert_string_equal(condition_text(claim, "Launched"), "True Launched ");
    assert_string_equal(condition_text(claim, "Registered"), "True Registered ");
    assert_string_equal(condition_text(claim, "Initialized"),
                        "Unknown StartupTaintsExist StartupTaint \"warming:NoExecute\" still "
                        "exists");
    assert_true(tree_is(claim, "spec.terminationGracePeriod", "5m0s"));
    assert_true(tree_is(claim, "spec.nodeClassRef.name", "default"));
    json_t *labels = tree_get(node, "metadata.labels");
    assert_string_equal(json_string_value(json_object_get(labels, "karpenter.sh/registered")),
                        "true");
    assert_string_equal(json_string_value(json_object_get(labels, "karpenter.sh/nodepool")),
                        "general");
    assert_non_null(json_object_get(labels, "karpenter.kwok.sh/kwoknodeclass"));
    assert_string_equal(json_string_value(json_object_get(tree_get(node, "metadata.annotations"),
                                                          "example.com/owner")),
                        "shop");
    assert_true(span_eq(tree_string(node, "metadata.name"), tree_string(claim, "metadata.name")));
    assert_string_equal(json_string_value(json_array_get(tree_get(node, "metadata.finalizers"), 0)),
                        "karpenter.sh/termination");
    assert_int_equal(json_array_size(tree_get(node, "metadata.ownerReferences")), 1);

    /* The one who put the startup taint there takes it off: then the node is ready for pods. */
    do_request(s, API_MERGE, KIND_NODE, NULL, json_string_value(tree_get(node, "metadata.name")),
               "{\"spec\":{\"taints\":[{\"key\":\"team\",\"value\":\"a\",\"effect\":\"NoSchedule\"}"
               "]}}",
               200);
    run_for(s, 5 * MS_SECOND);
    json_decref(claim);
    claim = first_of(s, KIND_NODE_CLAIM);
    assert_string_equal(condition_text(claim, "Ready"), "True Ready ");
    assert_int_equal(count_bound(s, "web"), 3);
    json_decref(claim);
    json_decref(node);
    loop_end(&l);
}

static void a_pool_says_what_it_has(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *pool = first_of(s, KIND_NODE_POOL);
    assert_string_equal(condition_text(pool, "Ready"), "True Ready ");
    assert_string_equal(condition_text(pool, "NodeRegistrationHealthy"),
                        "True NodeRegistrationHealthy ");
    assert_int_equal(tree_int(pool, "status.nodes", 0), 1);
    assert_true(tree_is(pool, "status.resources.nodes", "1"));
    assert_true(tree_is(pool, "status.resources.cpu", "2"));
    assert_non_null(
        json_object_get(tree_get(pool, "metadata.annotations"), "karpenter.sh/nodepool-hash"));
    json_decref(pool);
    loop_end(&l);
}

static void a_broken_pool_is_set_aside_and_another_goes_on(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, pool_yaml("broken", "",
                      ",\"taints\":[{\"key\":\"bad key!\",\"effect\":"
                      "\"NoSchedule\"}]"));
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *pool = object_of(s, KIND_NODE_POOL, NULL, "broken");
    assert_true(tree_condition_is(pool, "ValidationSucceeded", "False"));
    assert_true(tree_condition_is(pool, "Ready", "False"));
    assert_int_equal(count_bound(s, "web"), 3);
    assert_int_equal(l.decided[DECISION_SET_ASIDE], 1);
    json_decref(pool);
    loop_end(&l);
}

static void a_pool_without_its_class_is_not_used(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *pool = first_of(s, KIND_NODE_POOL);
    assert_string_equal(condition_text(pool, "NodeClassReady"),
                        "False NodeClassNotFound NodeClass not found on cluster: there is no "
                        "KWOKNodeClass default");
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    json_decref(pool);
    load(s, node_class_yaml());
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 3);
    loop_end(&l);
}

/* ---- what cannot be had ---- */

static bool only_zone_d(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)type;
    (void)capacity_type;
    ++*(uint32_t *)user;
    return span_eq(zone, SPAN("test-zone-d"));
}

static bool nothing(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)type;
    (void)zone;
    (void)capacity_type;
    return *(bool *)user;
}

static void a_failed_launch_is_tried_elsewhere(void **state)
{
    (void)state;
    uint32_t asked = 0;
    struct loop l = {.in_stock = only_zone_d, .in_stock_user = &asked};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 3);
    json_t *node = first_of(s, KIND_NODE);
    assert_string_equal(json_string_value(json_object_get(tree_get(node, "metadata.labels"),
                                                          "topology.kubernetes.io/zone")),
                        "test-zone-d");
    assert_true(asked > 1);
    json_decref(node);
    loop_end(&l);
}

/* As counted: why a claim went. */
static void expect_disrupted(struct loop *l, const char *reason)
{
    char line[96];
    snprintf(line, sizeof(line), "karpenter_nodeclaims_disrupted_total reason=%s ", reason);
    if (!span_contains(buf_span(&l->history), span_of(line)))
        fail_msg("not counted: %s", line);
}

static void no_capacity_at_all_is_told_and_tried_again(void **state)
{
    (void)state;
    bool open = false;
    struct loop l = {.in_stock = nothing, .in_stock_user = &open, .keeps = true};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 1, "500m",
                            ",\"nodeSelector\":{\"node.kubernetes.io/"
                            "instance-type\":\"s-4x-amd64-linux\"}"));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_true(l.decided[DECISION_LAUNCH] > 0);
    expect_disrupted(&l, "insufficient_capacity"); /* 160 */
    open = true;
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 1);
    loop_end(&l);
}

struct closer {
    struct sim *sim;
    bool done;
};

/* The class is not ready any more when its first machine is to be made. */
static enum sim_fate close_class(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct closer *c = user;
    (void)number;
    (void)refusal;
    if (r->kind != KIND_NODE_CLAIM || r->verb != API_CREATE || c->done)
        return SIM_PASS;
    c->done = true;
    json_t *class = object_of(c->sim, KIND_KWOK_NODE_CLASS, NULL, "default");
    tree_condition_set(class, "Ready", "False", "Broken", "it is broken", sim_now(c->sim));
    json_t *patch = json_pack("{s{sO}}", "status", "conditions", tree_get(class, "status.conditions"));
    char *body = json_dumps(patch, 0);
    struct arena a;
    arena_init(&a, 0);
    struct api_request q = {.verb = API_MERGE, .kind = KIND_KWOK_NODE_CLASS, .name = SPAN("default"),
                            .subresource = SPAN("status"), .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(c->sim), &a, &q).status, 200);
    arena_release(&a);
    free(body);
    json_decref(patch);
    json_decref(class);
    return SIM_PASS;
}

/* 161 */
static void a_class_that_is_not_ready_ends_the_launch(void **state)
{
    (void)state;
    struct sim *s = cluster("", "");
    struct closer c = {.sim = s};
    struct loop l = {.faults = {.user = &c, .before = close_class}, .keeps = true};
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_true(c.done);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    expect_disrupted(&l, "nodeclass_not_ready");
    assert_non_null(strstr(l.last[DECISION_REMOVE], "its node class is not ready"));
    loop_end(&l);
}

static void a_node_that_never_comes_is_given_up(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("", "");
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"1h\"}}");
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    json_t *claim = first_of(s, KIND_NODE_CLAIM);
    assert_string_equal(condition_text(claim, "Registered"),
                        "Unknown NodeNotFound Node not registered with cluster");
    run_for(s, 15 * MS_MINUTE);
    expect_disrupted(&l, "registration_timeout"); /* 174 */
    json_t *next = first_of(s, KIND_NODE_CLAIM); /* of the same name: the same pods wait */
    assert_false(span_eq(tree_string(next, "metadata.uid"), tree_string(claim, "metadata.uid")));
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    json_decref(next);
    json_decref(claim);
    loop_end(&l);
}

static void a_delayed_node_comes_though_stowage_restarts(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"30s\"}}");
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    loop_stop(&l);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    loop_end(&l);
}

/* ---- caps ---- */

static void the_cap_on_nodes_a_minute_holds(void **state)
{
    (void)state;
    struct loop l = {.options = {.max_nodes_per_minute = 1}};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("a", 1, "500m",
                            ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-a\"}"));
    load(s, deployment_yaml("b", 1, "500m",
                            ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-b\"}"));
    loop_begin(&l, s);
    run_for(s, 50 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_true(l.decided[DECISION_HOLD] > 0);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    loop_end(&l);
}

static void the_cap_on_the_price_holds(void **state)
{
    (void)state;
    struct loop l = {.options = {.max_hourly_price = 0.03}};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 1, "3", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_true(l.decided[DECISION_HOLD] > 0);
    loop_end(&l);
}

/* ---- what may leave ---- */

static void empty_nodes_stay(const char *label, const char *disruption, const char *node_patch)
{
    struct loop l = {0};
    struct sim *s = cluster(disruption, "");
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 15 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 3);
    json_t *node = first_of(s, KIND_NODE);
    if (node_patch[0] != '\0')
        do_request(s, API_MERGE, KIND_NODE, NULL,
                   json_string_value(tree_get(node, "metadata.name")), node_patch, 200);
    json_decref(node);
    scale(s, "web", 0);
    run_for(s, 2 * MS_MINUTE);
    if (count_objects(s, KIND_NODE) != 1)
        fail_msg("%s: %zu nodes", label, count_objects(s, KIND_NODE));
    node = first_of(s, KIND_NODE);
    if (tree_get(node, "spec.taints") != NULL)
        fail_msg("%s: the node is tainted", label);
    json_decref(node);
    loop_end(&l);
}

static void empty_nodes_stay_where_they_must(void **state)
{
    (void)state;
    empty_nodes_stay("consolidateAfter Never",
                     "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"Never\"}", "");
    empty_nodes_stay("budget 0",
                     "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\","
                     "\"budgets\":[{\"nodes\":\"0\"}]}",
                     "");
    empty_nodes_stay("do-not-disrupt", "",
                     "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}}}");
    empty_nodes_stay("consolidateAfter not over",
                     "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"10m\"}", "");
}

/* 144 */
static void all_policies_let_empty_nodes_go(void **state)
{
    static const char *const policies[] = {"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        struct loop l = {0};
        char disruption[128];
        snprintf(disruption, sizeof(disruption),
                 "{\"consolidationPolicy\":\"%s\",\"consolidateAfter\":\"10s\"}", policies[i]);
        struct sim *s = cluster(disruption, "");
        load(s, deployment_yaml("web", 3, "500m", ""));
        loop_begin(&l, s);
        run_for(s, 15 * MS_SECOND);
        scale(s, "web", 0);
        run_for(s, MS_MINUTE);
        if (count_objects(s, KIND_NODE) != 0)
            fail_msg("%s: %zu nodes", policies[i], count_objects(s, KIND_NODE));
        loop_end(&l);
    }
}

static void a_pod_that_comes_in_the_wait_keeps_the_node(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND); /* no plan protects the node any more */
    scale(s, "web", 0);
    run_for(s, 10 * MS_SECOND);
    scale(s, "web", 2);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    loop_end(&l);
}

static void budgets_let_one_go_after_the_other(void **state)
{
    static const char *const zones[] = {"a", "b", "c", "d"};
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\","
                            "\"budgets\":[{\"nodes\":\"1\"}]}",
                            "");
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        char more[128];
        snprintf(more, sizeof(more),
                 ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-%s\"}", zones[i]);
        load(s, deployment_yaml(zones[i], 1, "500m", more));
    }
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 4);
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        scale(s, zones[i], 0);
    run_for(s, 19 * MS_SECOND);
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *c;
    size_t i, leaving = 0;
    json_array_foreach(claims, i, c) leaving += tree_get(c, "metadata.deletionTimestamp") != NULL;
    assert_int_equal(leaving, 1);
    json_decref(claims);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

/* ---- the way out ---- */

/* 198 */
static void a_deleted_claim_is_drained_and_its_pods_planned_anew(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 4, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *claim = first_of(s, KIND_NODE_CLAIM);
    const char *name = json_string_value(tree_get(claim, "metadata.name"));
    size_t nodes = count_objects(s, KIND_NODE);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name, NULL, 200);
    run_for(s, 90 * MS_SECOND);
    assert_null(object_of(s, KIND_NODE, NULL, name));
    assert_null(object_of(s, KIND_NODE_CLAIM, NULL, name));
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    assert_no_orphans(s);
    json_decref(claim);
    loop_end(&l);
}

/* 199 */
static void a_deleted_node_takes_its_claim_along(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 4, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *node = first_of(s, KIND_NODE);
    const char *name = json_string_value(tree_get(node, "metadata.name"));
    do_request(s, API_DELETE, KIND_NODE, NULL, name, NULL, 200);
    run_for(s, 90 * MS_SECOND);
    assert_null(object_of(s, KIND_NODE_CLAIM, NULL, name));
    assert_int_equal(count_bound(s, "web"), 4);
    assert_no_orphans(s);
    json_decref(node);
    loop_end(&l);
}

/* 211 */
static void a_budget_holds_the_drain_until_the_grace_period_ends(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", ",\"terminationGracePeriod\":\"2m\"");
    load(s, deployment_yaml("web", 2, "500m", ",\"terminationGracePeriodSeconds\":30"));
    load(s, "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":"
            "\"web\",\"namespace\":\"default\"},\"spec\":{\"maxUnavailable\":0,\"selector\":{"
            "\"matchLabels\":{\"app\":\"web\"}}}}");
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *claim = first_of(s, KIND_NODE_CLAIM);
    const char *name = json_string_value(tree_get(claim, "metadata.name"));
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name, NULL, 200);
    run_for(s, 80 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", name), 2); /* refused, again and again */
    run_for(s, 60 * MS_SECOND);
    assert_null(object_of(s, KIND_NODE, NULL, name));
    assert_int_equal(count_bound(s, "web"), 2);
    json_decref(claim);
    loop_end(&l);
}

/* 192 */
static void a_node_whose_claim_is_gone_is_removed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"lost\","
            "\"annotations\":{\"stowage.dev/nodeclaim-uid\":\"no-such-uid\"}},\"spec\":{"
            "\"providerID\":\"kwok://lost\"}}");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

static void a_claim_expires(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", ",\"expireAfter\":\"2m\"");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *claim = first_of(s, KIND_NODE_CLAIM);
    const char *name = json_string_value(tree_get(claim, "metadata.name"));
    run_for(s, 80 * MS_SECOND);
    json_t *still = object_of(s, KIND_NODE_CLAIM, NULL, name);
    assert_non_null(still);
    assert_null(tree_get(still, "metadata.deletionTimestamp"));
    json_decref(still);
    run_for(s, 70 * MS_SECOND);
    assert_null(object_of(s, KIND_NODE_CLAIM, NULL, name));
    assert_int_equal(count_bound(s, "web"), 2);
    json_decref(claim);
    loop_end(&l);
}

static enum sim_fate count_deletes(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    uint32_t *n = user;
    (void)number;
    (void)refusal;
    *n += r->verb == API_DELETE && r->kind == KIND_NODE_CLAIM;
    return SIM_PASS;
}

/* 190: not who is on its way out already, nor who never does. */
static void who_does_not_expire(void **state)
{
    static const char *const after[] = {"2m", "Never"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(after); i++) {
        char more[64];
        uint32_t deletes = 0;
        struct loop l = {.faults = {.user = &deletes, .before = count_deletes}, .keeps = true};
        snprintf(more, sizeof(more), ",\"expireAfter\":\"%s\"", after[i]);
        struct sim *s = cluster("", more);
        load(s, deployment_yaml("web", 2, "500m", ""));
        load(s, "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                "\"default\"},\"spec\":{\"maxUnavailable\":0,\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}}");
        loop_begin(&l, s);
        run_for(s, 30 * MS_SECOND);
        json_t *claim = first_of(s, KIND_NODE_CLAIM);
        if (i == 0) /* by somebody else, and its drain is held */
            do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, json_string_value(tree_get(claim, "metadata.name")), NULL, 200);
        run_for(s, i == 0 ? 10 * MS_MINUTE : MS_HOUR);
        assert_int_equal(deletes, 0);
        assert_false(span_contains(buf_span(&l.history), SPAN("reason=expired")));
        json_t *still = object_of(s, KIND_NODE_CLAIM, NULL, json_string_value(tree_get(claim, "metadata.name")));
        assert_non_null(still);
        json_decref(still);
        json_decref(claim);
        loop_end(&l);
    }
}

/* ---- stepping back ---- */

static void an_observer_writes_nothing(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    reconciler_observe(l.reconciler, SPAN("karpenter holds its Lease"));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(sim_client_writes(l.api), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_string_equal(l.last[DECISION_OBSERVE], "only observing: karpenter holds its Lease");
    reconciler_observe(l.reconciler, (struct span){0});
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    loop_end(&l);
}

static void a_new_leader_knows_the_places(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"1m\"}}");
    load(s, deployment_yaml("web", 3, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 5 * MS_SECOND);
    loop_stop(&l);
    run_for(s, 200);
    json_t *claim = first_of(s, KIND_NODE_CLAIM);
    struct places *p = (struct places *)share_take(&l.places);
    assert_non_null(p);
    assert_int_equal(p->count, 3);
    for (uint32_t i = 0; i < p->count; i++)
        assert_true(span_eq(p->items[i].target, tree_string(claim, "metadata.name")));
    shared_unref(&p->shared);
    json_decref(claim);
    loop_end(&l);
}

static void a_taint_of_an_earlier_leader_is_taken_off(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    json_t *node = first_of(s, KIND_NODE);
    const char *name = json_string_value(tree_get(node, "metadata.name"));
    loop_stop(&l);
    do_request(s, API_MERGE, KIND_NODE, NULL, name,
               "{\"spec\":{\"taints\":[{\"key\":\"karpenter.sh/disrupted\",\"effect\":"
               "\"NoSchedule\"}]}}",
               200);
    run_for(s, 10 * MS_SECOND);
    json_decref(node);
    node = first_of(s, KIND_NODE);
    assert_int_equal(json_array_size(tree_get(node, "spec.taints")), 0);
    json_decref(node);
    loop_end(&l);
}

static void a_node_that_is_smaller_than_its_type_is_told(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    json_t *claim = first_of(s, KIND_NODE_CLAIM), *node = first_of(s, KIND_NODE);
    assert_string_equal(condition_text(claim, "ConsistentStateFound"), "True ConsistentStateFound ");
    struct arena a;
    arena_init(&a, 0);
    struct sim_answer answer = sim_cluster_do(
        sim_cluster(s), &a,
        &(struct api_request){.verb = API_MERGE,
                              .kind = KIND_NODE,
                              .name = tree_string(node, "metadata.name"),
                              .subresource = SPAN("status"),
                              .body = SPAN("{\"status\":{\"capacity\":{\"cpu\":\"1500m\"}}}")});
    assert_int_equal(answer.status, 200);
    arena_release(&a);
    run_for(s, 11 * MS_MINUTE);
    json_decref(claim);
    claim = first_of(s, KIND_NODE_CLAIM);
    assert_string_equal(condition_text(claim, "ConsistentStateFound"),
                        "False ConsistencyCheckFailed Consistency Check Failed");
    buf_add_char(&l.history, '\0');
    const char *event = strstr(l.history.ptr, "event FailedConsistencyCheck general-");
    assert_non_null(event);
    assert_non_null(strstr(event, ": expected 2 of resource cpu, but found 1500m (75.0% of expected)\n"));
    assert_null(strstr(event + 1, "event FailedConsistencyCheck")); /* once */
    json_decref(node);
    json_decref(claim);
    buf_release(&l.history);
    loop_end(&l);
}

/* 179, 180, 186, 246 */
static void a_claim_says_that_its_pool_has_changed(void **state)
{
    static const struct {
        const char *spec, *back, *reason;
    } changes[] = {
        {"{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"team\":\"a\"}}}}}",
         "{\"spec\":{\"template\":{\"metadata\":{\"labels\":null}}}}",
         "True NodePoolDrifted NodePoolDrifted"},
        {"{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":"
         "\"In\",\"values\":[\"spot\"]}]}}}}",
         "{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":"
         "\"In\",\"values\":[\"spot\",\"on-demand\"]}]}}}}",
         "True RequirementsDrifted RequirementsDrifted"},
        {"{\"spec\":{\"weight\":7}}", "{\"spec\":{\"weight\":8}}", ""},
        {"{\"spec\":{\"limits\":{\"cpu\":\"100\"}}}", "{\"spec\":{\"limits\":null}}", ""},
        {"{\"spec\":{\"disruption\":{\"consolidateAfter\":\"1h\"}}}", "{\"spec\":{\"disruption\":{\"consolidateAfter\":\"2h\"}}}", ""},
        {"{\"metadata\":{\"annotations\":{\"example.com/note\":\"new\"}}}", "{\"metadata\":{\"annotations\":{\"example.com/note\":null}}}",
         ""},
    };
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster("", "");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", changes[i].spec, 200);
        run_for(s, 5 * MS_SECOND);
        json_t *claim = first_of(s, KIND_NODE_CLAIM);
        assert_string_equal(condition_text(claim, "Drifted"), changes[i].reason);
        json_decref(claim);
        do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", changes[i].back, 200);
        run_for(s, 5 * MS_SECOND);
        claim = first_of(s, KIND_NODE_CLAIM);
        assert_string_equal(condition_text(claim, "Drifted"), "");
        json_decref(claim);
    }
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_says_what_it_is),
        cmocka_unit_test(a_claim_says_that_its_pool_has_changed),
        cmocka_unit_test(a_pool_says_what_it_has),
        cmocka_unit_test(a_node_that_is_smaller_than_its_type_is_told),
        cmocka_unit_test(a_broken_pool_is_set_aside_and_another_goes_on),
        cmocka_unit_test(a_pool_without_its_class_is_not_used),
        cmocka_unit_test(a_failed_launch_is_tried_elsewhere),
        cmocka_unit_test(no_capacity_at_all_is_told_and_tried_again),
        cmocka_unit_test(a_class_that_is_not_ready_ends_the_launch),
        cmocka_unit_test(who_does_not_expire),
        cmocka_unit_test(a_node_that_never_comes_is_given_up),
        cmocka_unit_test(a_delayed_node_comes_though_stowage_restarts),
        cmocka_unit_test(the_cap_on_nodes_a_minute_holds),
        cmocka_unit_test(the_cap_on_the_price_holds),
        cmocka_unit_test(empty_nodes_stay_where_they_must),
        cmocka_unit_test(all_policies_let_empty_nodes_go),
        cmocka_unit_test(a_pod_that_comes_in_the_wait_keeps_the_node),
        cmocka_unit_test(budgets_let_one_go_after_the_other),
        cmocka_unit_test(a_deleted_claim_is_drained_and_its_pods_planned_anew),
        cmocka_unit_test(a_deleted_node_takes_its_claim_along),
        cmocka_unit_test(a_budget_holds_the_drain_until_the_grace_period_ends),
        cmocka_unit_test(a_node_whose_claim_is_gone_is_removed),
        cmocka_unit_test(a_claim_expires),
        cmocka_unit_test(an_observer_writes_nothing),
        cmocka_unit_test(a_new_leader_knows_the_places),
        cmocka_unit_test(a_taint_of_an_earlier_leader_is_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
