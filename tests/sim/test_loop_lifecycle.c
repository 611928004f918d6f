/* NodeClaims and Nodes from launch to end: scenarios of spec disruption 20.11 to 20.14, by their numbers, that the tables
 * of tests/reconciler/ cannot show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define PDB(name)                                                                                                       \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " name ", namespace: default}\n"                \
    "spec: {minAvailable: 0, selector: {matchLabels: {app: web}}}\n"

static struct sim *begin(struct loop *l, const char *more, int pods)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", more));
    load(s, deployment_yaml("web", pods, "500m", ""));
    l->keeps = true;
    loop_begin(l, s);
    run_for(s, 60 * MS_SECOND);
    return s;
}

static void end(struct loop *l)
{
    loop_end(l);
}

static const char *name_of(json_t *object)
{
    return json_string_value(tree_get(object, "metadata.name"));
}

/* Of the provider, in `history`. */
static uint32_t count_calls(const struct loop *l, const char *method)
{
    char words[64];
    uint32_t n = 0;
    snprintf(words, sizeof(words), " method=%s ", method);
    struct span rest = buf_span(&l->history), line;
    while (rest.len != 0) {
        line = span_cut(rest, '\n', &rest);
        n += span_has_prefix(line, SPAN("karpenter_cloudprovider_duration_seconds ")) && span_contains(line, span_of(words));
    }
    return n;
}

/* 208: the eviction API refuses a pod that two budgets select; who else stands there goes. */
static void a_pod_of_two_budgets_holds_the_drain_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 30 * MS_SECOND);
    load(s, PDB("one"));
    load(s, PDB("two"));
    json_t *node = only(s, KIND_NODE);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_pods(s, "web", name_of(node)), 1);
    assert_int_equal(count_pods(s, "other", name_of(node)), 0);
    assert_true(span_contains(buf_span(&l.history), SPAN("eviction does not support multiple PDBs (Pod=default/web")));
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "two", NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE, "", name_of(node)));
    assert_int_equal(count_bound(s, "web"), 1);
    json_decref(node);
    end(&l);
}

/* 304: nobody is asked to go from where nothing stands any more. */
static void with_its_node_a_drain_is_over(void **state)
{
    static const char asked[] = "karpenter_nodes_eviction_requests_total ";
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    load(s, PDB("one"));
    do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "one", "{\"spec\":{\"minAvailable\":1}}", 200);
    json_t *node = only(s, KIND_NODE);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 30 * MS_SECOND);
    assert_true(span_contains(buf_span(&l.history), span_of(asked)));
    do_request(s, API_DELETE, KIND_NODE, NULL, name_of(node), NULL, 200);
    do_request(s, API_MERGE, KIND_NODE, NULL, name_of(node), "{\"metadata\":{\"finalizers\":null}}", 200);
    run_for(s, 5 * MS_SECOND); /* what is under way ends */
    l.history.len = 0;
    run_for(s, 5 * MS_MINUTE);
    assert_false(span_contains(buf_span(&l.history), span_of(asked)));
    assert_true(is_gone(s, KIND_NODE_CLAIM, NULL, name_of(node)));
    assert_int_equal(count_bound(s, "web"), 1);
    json_decref(node);
    end(&l);
}

/* 218, 223 */
static void what_a_node_that_leaves_wears(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, ",\"terminationGracePeriod\":\"1h\"", 1);
    load(s, PDB("one"));
    do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "one", "{\"spec\":{\"minAvailable\":1}}", 200);
    json_t *node = only(s, KIND_NODE), *taint;
    size_t i, taints = 0;
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 30 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, "", name_of(node));
    json_t *until = json_incref(tree_get(claim, "metadata.annotations"));
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriod\":\"1s\"}}}}", 200);
    run_for(s, 5 * MS_MINUTE);
    json_t *later = object_of(s, KIND_NODE_CLAIM, "", name_of(node)), *leaving = object_of(s, KIND_NODE, "", name_of(node));
    assert_non_null(json_object_get(until, "karpenter.sh/nodeclaim-termination-timestamp"));
    assert_true(json_equal(until, tree_get(later, "metadata.annotations")));
    json_array_foreach(tree_get(leaving, "spec.taints"), i, taint)
        taints += tree_is(taint, "key", "karpenter.sh/disrupted");
    assert_int_equal(taints, 1);
    assert_string_equal(json_string_value(json_object_get(tree_get(leaving, "metadata.labels"),
                                                          "node.kubernetes.io/exclude-from-external-load-balancers")),
                        "karpenter");
    json_decref(until);
    json_decref(claim);
    json_decref(later);
    json_decref(leaving);
    json_decref(node);
    end(&l);
}

/* status.lastPodEventTime of the one claim; "" when there is none. */
static void last_event(struct sim *s, char out[64])
{
    json_t *claim = only(s, KIND_NODE_CLAIM);
    struct span text = tree_string(claim, "status.lastPodEventTime");
    snprintf(out, 64, "%.*s", SPAN_ARG(text));
    json_decref(claim);
}

/* 188, 189 */
static void pod_events_are_written_now_and_then(void **state)
{
    static const char agent[] =
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\n"
        "spec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
        "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 10m}}}]}\n";
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    char before[64], now[64];
    last_event(s, before);
    run_for(s, MS_MINUTE);
    load(s, agent);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "agent"), 1);
    last_event(s, now);
    assert_string_equal(now, before);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 3 * MS_SECOND);
    last_event(s, now);
    assert_string_not_equal(now, before);
    scale(s, "other", 2);
    run_for(s, 4 * MS_SECOND);
    assert_int_equal(count_bound(s, "other"), 2);
    last_event(s, before);
    assert_string_equal(now, before);
    end(&l);
}

/* 202: nothing runs on a machine that is gone; that it is gone is believed of a node that does not say it is ready. */
static void a_machine_that_is_gone_is_not_drained(void **state)
{
    static const char *const ready[] = {"True", "False"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ready); i++) {
        struct loop l = {0};
        struct sim *s = begin(&l, "", 1);
        json_t *node = only(s, KIND_NODE);
        load(s, PDB("one"));
        do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "one", "{\"spec\":{\"minAvailable\":1}}", 200);
        run_for(s, MS_SECOND);
        set_ready(s, name_of(node), ready[i]);
        do_request(s, API_DELETE, KIND_NODE, NULL, name_of(node), NULL, 200); /* kwok's instances are Nodes */
        run_for(s, 5 * MS_MINUTE);
        assert_int_equal(is_gone(s, KIND_NODE, "", name_of(node)), i == 1);
        assert_int_equal(is_gone(s, KIND_NODE_CLAIM, "", name_of(node)), i == 1);
        json_decref(node);
        end(&l);
    }
}

/* What has been seen of a claim's end, in the order in which it was. */
struct ending {
    struct sim *sim;
    const char *name;
    struct buf seen;
    uint64_t version;
};

static void see(struct ending *e, bool is, const char *what)
{
    if (is && !span_contains(buf_span(&e->seen), span_of(what)))
        buf_addf(&e->seen, "%s\n", what);
}

static wall_ms look(void *user, wall_ms now)
{
    struct ending *e = user;
    (void)now;
    if (sim_cluster_version(sim_cluster(e->sim)) == e->version)
        return INT64_MAX;
    e->version = sim_cluster_version(sim_cluster(e->sim));
    json_t *claim = object_of(e->sim, KIND_NODE_CLAIM, NULL, e->name), *node = object_of(e->sim, KIND_NODE, NULL, e->name);
    see(e, tree_get(node, "metadata.deletionTimestamp") != NULL, "its Node is deleted");
    see(e, tree_condition_is(claim, "Drained", "True"), "drained");
    see(e, tree_condition_is(claim, "VolumesDetached", "True"), "detached");
    see(e, tree_condition_is(claim, "InstanceTerminating", "True"), "its machine ends");
    see(e, node == NULL, "its Node is gone");
    see(e, claim == NULL, "the claim is gone");
    json_decref(claim);
    json_decref(node);
    return INT64_MAX;
}

/* 198 */
static void a_claim_ends_step_by_step(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    json_t *node = only(s, KIND_NODE);
    struct ending e = {.sim = s, .name = name_of(node)};
    char text[512];
    snprintf(text, sizeof(text),
             "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: csi-1}\n"
             "spec: {attacher: a, nodeName: %s, source: {persistentVolumeName: pv-1}}\n", e.name);
    load(s, text);
    sim_add_actor(s, (struct sim_actor){.user = &e, .step = look});
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, e.name, NULL, 200);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_calls(&l, "Delete"), 0);
    do_request(s, API_DELETE, KIND_VOLUME_ATTACHMENT, NULL, "csi-1", NULL, 200);
    run_for(s, MS_MINUTE);
    buf_add_char(&e.seen, '\0');
    assert_string_equal(e.seen.ptr,
                        "its Node is deleted\ndrained\ndetached\nits machine ends\nits Node is gone\nthe claim is gone\n");
    assert_true(count_calls(&l, "Delete") >= 1);
    buf_release(&e.seen);
    json_decref(node);
    end(&l);
}

/* 207: whom a budget holds is asked again and again, more and more seldom; who else stands there goes. */
static void a_pod_that_a_budget_holds_is_asked_at_a_pace(void **state)
{
    static const char asked[] = "karpenter_nodes_eviction_requests_total code=429 1";
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 30 * MS_SECOND);
    load(s, PDB("one"));
    do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "one", "{\"spec\":{\"minAvailable\":1}}", 200);
    json_t *node = only(s, KIND_NODE);
    uint32_t times = 0;
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_pods(s, "other", name_of(node)), 0);
    run_for(s, 5 * MS_MINUTE);
    for (struct span rest = buf_span(&l.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        times += span_eq(line, span_of(asked));
    }
    assert_in_range(times, 10, 60);
    assert_int_equal(count_pods(s, "web", name_of(node)), 1);
    assert_true(span_contains(buf_span(&l.history), SPAN("event FailedDraining ")));
    json_decref(node);
    end(&l);
}

/* ---- launch ---- */

static enum sim_fate no_launch_is_written(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    uint32_t *left = user;
    (void)number, (void)refusal;
    if (*left == 0 || r->kind != KIND_NODE_CLAIM || !span_contains(r->body, SPAN("\"providerID\"")))
        return SIM_PASS;
    --*left;
    return SIM_REFUSE;
}

/* 163: what the provider has made is remembered until the claim says so. */
static void a_launch_that_cannot_be_written_makes_no_second_machine(void **state)
{
    (void)state;
    uint32_t refused = 5;
    struct loop l = {.faults = {.user = &refused, .before = no_launch_is_written}, .keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    struct census machines;
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    census_begin(&machines, s, KIND_NODE);
    run_for(s, 60 * MS_SECOND);
    assert_int_equal(refused, 0);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(census_count(&machines), 1);
    assert_int_equal(count_calls(&l, "Create"), 1);
    census_end(&machines);
    assert_no_orphans(s);
    end(&l);
}

/* Condition NodeRegistrationHealthy of the pool: "True", or "Unknown AwaitingReconciliation". Static storage. */
static const char *health_of_pool(struct sim *s)
{
    static char text[64];
    json_t *pool = object_of(s, KIND_NODE_POOL, NULL, "general"), *one;
    size_t i;
    text[0] = '\0';
    json_array_foreach(tree_get(pool, "status.conditions"), i, one)
        if (tree_is(one, "type", "NodeRegistrationHealthy"))
            snprintf(text, sizeof(text), "%.*s %.*s", SPAN_ARG(tree_string(one, "status")), SPAN_ARG(tree_string(one, "reason")));
    json_decref(pool);
    return text;
}

/* 177: what is known of launches is of the NodeClass as it was. */
static void another_node_class_empties_what_is_known_of_launches(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    assert_true(span_has_prefix(span_of(health_of_pool(s)), SPAN("True ")));
    do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", "{\"spec\":{\"nodeRegistrationDelay\":\"1s\"}}", 200);
    run_for(s, 30 * MS_SECOND);
    assert_string_equal(health_of_pool(s), "Unknown AwaitingReconciliation");
    end(&l);
}

static enum sim_fate no_machine_while_closed(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)number, (void)refusal;
    return *(const bool *)user && r->verb == API_CREATE && r->kind == KIND_NODE ? SIM_REFUSE : SIM_PASS;
}

/* 176: one failure is no verdict on a pool that nobody knows, a second one is; as many successes as push one of them out of
 * the last four take it back. */
static void two_failures_make_a_pool_unhealthy(void **state)
{
    static const struct {
        span_ms after;
        const char *health;
    } rows[] = {{4 * MS_MINUTE, "Unknown AwaitingReconciliation"},
                {4 * MS_MINUTE, "Unknown AwaitingReconciliation"},
                {4 * MS_MINUTE, "False LaunchFailed"}};
    (void)state;
    bool closed = true;
    struct loop l = {.faults = {.user = &closed, .before = no_machine_while_closed}, .keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    load(s, deployment_yaml("big", 0, "250", "")); /* each on a machine of its own */
    loop_begin(&l, s);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        run_for(s, rows[i].after);
        if (strcmp(health_of_pool(s), rows[i].health) != 0)
            fail_msg("after %zu launches that failed the pool is %s", i, health_of_pool(s));
    }
    assert_true(span_contains(buf_span(&l.history), SPAN("karpenter_nodeclaims_disrupted_total reason=launch_timeout "))); /* 173 */
    closed = false;
    for (int i = 0; i < 3; i++) {
        assert_string_equal(health_of_pool(s), "False LaunchFailed");
        scale(s, "big", i);
        run_for(s, 2 * MS_MINUTE);
        assert_int_equal(count_objects(s, KIND_NODE), i + 1);
    }
    assert_string_equal(health_of_pool(s), "True NodeRegistrationHealthy");
    end(&l);
}

/* 1, 2: what will be there is not known before; then who drifted goes. */
static void nobody_goes_while_a_claim_has_no_machine(void **state)
{
    (void)state;
    bool closed = false;
    struct loop l = {.faults = {.user = &closed, .before = no_machine_while_closed}};
    struct sim *s = begin(&l, "", 1);
    json_t *node = only(s, KIND_NODE);
    closed = true;
    load(s, deployment_yaml("big", 1, "15600m", ""));
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}", 200);
    run_for(s, 90 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_MOVE], 0);
    assert_false(is_gone(s, KIND_NODE, NULL, name_of(node)));
    closed = false;
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_bound(s, "big"), 1);
    assert_true(is_gone(s, KIND_NODE, NULL, name_of(node)));
    json_decref(node);
    end(&l);
}

/* ---- two claims for one Node ---- */

/* 224: whose the Node is nobody can say: it is drained and let go, and no machine is asked for. */
static void a_node_of_two_claims_goes_without_its_machine(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = begin(&l, "", 2);
    json_t *node = only(s, KIND_NODE), *twin = only(s, KIND_NODE_CLAIM);
    char *text;
    tree_set(twin, "metadata.name", json_string("twin"));
    tree_set(twin, "metadata.uid", json_string("of-twin"));
    text = json_dumps(twin, 0);
    load(s, text);
    free(text);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    do_request(s, API_DELETE, KIND_NODE, NULL, name_of(node), NULL, 200);
    for (int i = 0; i < 600 && !is_gone(s, KIND_NODE, NULL, name_of(node)); i++) {
        assert_int_equal(count_calls(&l, "Delete"), 0);
        run_for(s, 100);
    }
    assert_true(is_gone(s, KIND_NODE, NULL, name_of(node)));
    assert_int_equal(count_pods(s, "web", name_of(node)), 0);
    assert_true(l.decided[DECISION_DRAIN] >= 1);
    json_decref(twin);
    json_decref(node);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_of_two_budgets_holds_the_drain_alone),
        cmocka_unit_test(with_its_node_a_drain_is_over),
        cmocka_unit_test(what_a_node_that_leaves_wears),
        cmocka_unit_test(pod_events_are_written_now_and_then),
        cmocka_unit_test(a_machine_that_is_gone_is_not_drained),
        cmocka_unit_test(a_claim_ends_step_by_step),
        cmocka_unit_test(a_pod_that_a_budget_holds_is_asked_at_a_pace),
        cmocka_unit_test(a_launch_that_cannot_be_written_makes_no_second_machine),
        cmocka_unit_test(another_node_class_empties_what_is_known_of_launches),
        cmocka_unit_test(two_failures_make_a_pool_unhealthy),
        cmocka_unit_test(nobody_goes_while_a_claim_has_no_machine),
        cmocka_unit_test(a_node_of_two_claims_goes_without_its_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
