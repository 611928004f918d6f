/* Pools with replicas have that many nodes: no more, no fewer, whatever waits and whatever fails. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static const char slow_class[] =
    "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{\"name\":"
    "\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"5m\"}}";

static void patch_pool(struct sim *s, const char *name, const char *spec)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"spec\":%s}", spec);
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, name, body, 200);
}

static void set_replicas(struct sim *s, int replicas)
{
    char spec[64];
    snprintf(spec, sizeof(spec), "{\"replicas\":%d}", replicas);
    patch_pool(s, "fixed", spec);
}

static void add_pool(struct sim *s, const char *more, int replicas)
{
    load(s, pool_yaml("fixed", "", more));
    set_replicas(s, replicas);
}

static struct sim *cluster(int replicas)
{
    struct sim *s = new_sim(node_class_yaml());
    add_pool(s, "", replicas);
    return s;
}

static void begin(struct loop *l, struct sim *s)
{
    l->options.static_capacity = true;
    loop_begin(l, s);
}

static void expect_fleet(struct sim *s, size_t nodes)
{
    if (count_objects(s, KIND_NODE) != nodes || count_objects(s, KIND_NODE_CLAIM) != nodes)
        fail_msg("%zu nodes and %zu claims, not %zu", count_objects(s, KIND_NODE),
                 count_objects(s, KIND_NODE_CLAIM), nodes);
    assert_no_orphans(s);
}

/* ---- more ---- */

/* 193 */
static void a_pool_gets_its_nodes(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(3);
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    expect_fleet(s, 3);
    assert_string_equal(l.last[DECISION_PLAN], "fixed  0 of 3 nodes; asking for 3");
    assert_non_null(strstr(l.last[DECISION_BUY], "  for 3 replicas"));
    assert_true(span_contains(buf_span(&l.history),
                              SPAN("karpenter_nodeclaims_created_total reason=provisioned "
                                   "nodepool=fixed min_values_relaxed= 1\n")));
    set_replicas(s, 5);
    run_for(s, 30 * MS_SECOND);
    expect_fleet(s, 5);
    assert_string_equal(l.last[DECISION_PLAN], "fixed  3 of 5 nodes; asking for 2");
    assert_int_equal(l.decided[DECISION_PLAN], 2); /* each step is told once */
    assert_int_equal(l.decided[DECISION_BUY], 5);
    loop_end(&l);
}

/* The template and nothing else: which type it becomes is the provider's to say. */
static void a_claim_is_made_of_the_template_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(1);
    patch_pool(s, "fixed",
               "{\"template\":{\"metadata\":{\"labels\":{\"team\":\"a\"},\"annotations\":{"
               "\"example.com/owner\":\"shop\"}}}}");
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *pool = object_of(s, KIND_NODE_POOL, NULL, "fixed");
    assert_int_equal(json_array_size(claims), 1);
    const json_t *claim = json_array_get(claims, 0), *r;
    json_t *annotations = tree_get(claim, "metadata.annotations");
    json_t *pools = tree_get(pool, "metadata.annotations");
    size_t i, seen = 0;
    assert_null(json_object_get(annotations, "karpenter.sh/nodeclaim-min-values-relaxed"));
    assert_null(json_object_get(annotations, "stowage.dev/planned"));
    assert_string_equal(json_string_value(json_object_get(annotations, "example.com/owner")), "shop");
    assert_string_equal(json_string_value(json_object_get(annotations, "karpenter.sh/nodepool-hash")),
                        json_string_value(json_object_get(pools, "karpenter.sh/nodepool-hash")));
    assert_string_equal(json_string_value(json_array_get(tree_get(claim, "metadata.finalizers"), 0)),
                        "karpenter.sh/termination");
    assert_string_equal(json_string_value(tree_get(json_array_get(tree_get(claim, "metadata.ownerReferences"), 0), "name")),
                        "fixed");
    assert_string_equal(json_string_value(json_object_get(tree_get(claim, "metadata.labels"), "team")), "a");
    assert_null(tree_get(claim, "spec.resources"));
    json_array_foreach(tree_get(claim, "spec.requirements"), i, r)
    {
        assert_false(tree_is(r, "key", "node.kubernetes.io/instance-type"));
        seen += tree_is(r, "key", "kubernetes.io/arch") || tree_is(r, "key", "karpenter.sh/nodepool");
    }
    assert_int_equal(seen, 2);
    /* the cheapest of the pool's types */
    assert_string_equal(json_string_value(json_object_get(tree_get(claim, "metadata.labels"),
                                                          "node.kubernetes.io/instance-type")),
                        "c-1x-amd64-linux");
    json_decref(claims);
    json_decref(pool);
    loop_end(&l);
}

/* 193 */
static void the_limit_on_nodes_holds_and_says_so(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(5);
    patch_pool(s, "fixed", "{\"limits\":{\"nodes\":\"4\"}}");
    begin(&l, s);
    run_for(s, 5 * MS_MINUTE);
    expect_fleet(s, 4);
    assert_string_equal(l.last[DECISION_PLAN], "fixed  0 of 5 nodes; asking for 4, limits.nodes is 4");
    assert_string_equal(l.last[DECISION_HOLD], "NodePool fixed: 4 of 5 nodes; limits.nodes is 4");
    assert_int_equal(l.decided[DECISION_HOLD], 1);
    patch_pool(s, "fixed", "{\"limits\":{\"nodes\":\"9\"}}");
    run_for(s, 35 * MS_SECOND);
    expect_fleet(s, 5);
    loop_end(&l);
}

static void expect_said(const struct loop *l, const char *what)
{
    if (!span_contains(buf_span(&l->history), span_of(what)))
        fail_msg("it was not said: %s", what);
}

/* 301 */
static void who_goes_first_for_want_of_room_is_counted(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .options = {.terminate_first_drift = true}};
    struct sim *s = cluster(2);
    patch_pool(s, "fixed", "{\"limits\":{\"nodes\":\"2\"}}");
    begin(&l, s);
    run_for(s, MS_MINUTE);
    expect_fleet(s, 2);
    patch_pool(s, "fixed", "{\"template\":{\"metadata\":{\"labels\":{\"team\":\"b\"}}}}");
    run_for(s, 5 * MS_MINUTE);
    expect_fleet(s, 2);
    expect_said(&l, "karpenter_voluntary_disruption_decisions_by_nodepool_total nodepool=fixed decision=terminate-first "
                    "reason=drifted consolidation_type= 1\n");
    expect_said(&l, "karpenter_voluntary_disruption_terminate_first_decisions_total nodepool=fixed reason=drifted "
                    "terminate_first_reason=static-at-limit 1\n");
    assert_int_equal(l.measured[MEASURE_TERMINATE_FIRST], 2);
    assert_int_equal(l.measured[MEASURE_POOL_DECISIONS], l.measured[MEASURE_DISRUPTION_DECISIONS]);
    loop_end(&l);
}

/* By what the watch tells, once for each change; a condition that is new has been nothing before. */
static void conditions_tell_how_long_they_were_what_they_were(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(1);
    do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", slow_class, 200);
    begin(&l, s);
    run_for(s, 6 * MS_MINUTE);
    expect_fleet(s, 1);
    expect_said(&l, "operator_nodeclaim_status_condition_transition_seconds type=Registered status=Unknown to_status=True 30");
    expect_said(&l, "operator_status_condition_transition_seconds group=karpenter.sh kind=NodeClaim type=Registered "
                    "status=Unknown to_status=True 30");
    do_request(s, API_DELETE, KIND_KWOK_NODE_CLASS, NULL, "default", NULL, 200);
    run_for(s, MS_MINUTE);
    expect_said(&l, "operator_nodepool_status_condition_transition_seconds type=NodeClassReady status=True to_status=False ");
    uint32_t registered = 0;
    static const struct span one = SPAN_INIT("operator_nodeclaim_status_condition_transition_seconds type=Registered ");
    for (struct span rest = buf_span(&l.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        registered += line.len > one.len && memcmp(line.ptr, one.ptr, one.len) == 0;
    }
    assert_int_equal(registered, 1);
    loop_end(&l);
}

/* Who is leaving still counts against the limit. */
static void a_leaving_node_counts_until_it_is_gone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct census c;
    struct sim *s = cluster(2);
    patch_pool(s, "fixed", "{\"limits\":{\"nodes\":\"2\"}}");
    begin(&l, s);
    census_begin(&c, s, KIND_NODE_CLAIM);
    run_for(s, 30 * MS_SECOND);
    json_t *claims = objects_of(s, KIND_NODE_CLAIM);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL,
               json_string_value(tree_get(json_array_get(claims, 0), "metadata.name")), NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    assert_int_equal(c.most, 2);
    assert_int_equal(census_count(&c), 3);
    json_decref(claims);
    census_end(&c);
    loop_end(&l);
}

static void the_cap_on_nodes_a_minute_holds(void **state)
{
    (void)state;
    struct loop l = {.options = {.max_nodes_per_minute = 2}};
    struct sim *s = cluster(5);
    begin(&l, s);
    run_for(s, 50 * MS_SECOND);
    expect_fleet(s, 2);
    run_for(s, 5 * MS_MINUTE);
    expect_fleet(s, 5);
    loop_end(&l);
}

static void a_template_without_a_type_asks_for_nothing(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"fixed\"},"
            "\"spec\":{\"replicas\":2,\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":"
            "\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{"
            "\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"abacus\"]}]}}}}");
    begin(&l, s);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 0);
    assert_int_equal(l.decided[DECISION_BUY], 0);
    assert_string_equal(l.last[DECISION_HOLD], "NodePool fixed: 0 of 2 nodes; no type that its "
                                               "template allows can be had now");
    assert_int_equal(l.decided[DECISION_HOLD], 1);
    patch_pool(s, "fixed",
               "{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"kubernetes.io/arch\",\"operator\":"
               "\"In\",\"values\":[\"arm64\"]}]}}}");
    run_for(s, 35 * MS_SECOND);
    expect_fleet(s, 2);
    loop_end(&l);
}

/* ---- who gets none ---- */

static void without_the_gate_a_pool_is_left_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(2);
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    loop_stop(&l);
    l.options.static_capacity = false;
    set_replicas(s, 5);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    set_replicas(s, 0);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    loop_end(&l);
}

/* 196 */
static void a_pool_that_is_not_ready_or_goes_gets_none(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(pool_yaml("fixed", "", ""));
    set_replicas(s, 2);
    begin(&l, s);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 0); /* its class is missing */
    load(s, node_class_yaml());
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "fixed",
               "{\"metadata\":{\"finalizers\":[\"example.com/kept\"]},\"spec\":{\"replicas\":4}}", 200);
    do_request(s, API_DELETE, KIND_NODE_POOL, NULL, "fixed", NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    assert_int_equal(l.decided[DECISION_BUY], 2);
    loop_end(&l);
}

/* ---- what fails ---- */

struct refusals {
    uint32_t left, every; /* of `every` creates of claims one is refused, while any are left */
    uint32_t seen;
    enum sim_fate fate;
    bool after;
};

static enum sim_fate refuse(struct refusals *f, const struct api_request *r)
{
    if (r->verb != API_CREATE || r->kind != KIND_NODE_CLAIM || f->seen++ % f->every != 0 || f->left == 0)
        return SIM_PASS;
    f->left--;
    return f->fate;
}

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r,
                            struct sim_refusal *refusal)
{
    struct refusals *f = user;
    (void)number;
    (void)refusal;
    return f->after ? SIM_PASS : refuse(f, r);
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    struct refusals *f = user;
    (void)number;
    return f->after ? refuse(f, r) : SIM_PASS;
}

static void what_fails_is_asked_for_again_and_never_twice(void **state)
{
    (void)state;
    struct refusals rows[] = {
        {.left = 4, .every = 2, .fate = SIM_REFUSE},
        {.left = 6, .every = 1, .fate = SIM_REFUSE},
        {.left = 3, .every = 2, .fate = SIM_LOSE},
        {.left = 3, .every = 1, .fate = SIM_LOSE, .after = true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct loop l = {.faults = {.user = &rows[i], .before = before, .after = after}};
        struct census c;
        struct sim *s = cluster(4);
        begin(&l, s);
        census_begin(&c, s, KIND_NODE_CLAIM);
        run_for(s, 3 * MS_MINUTE);
        assert_int_equal(rows[i].left, 0);
        expect_fleet(s, 4);
        assert_int_equal(census_count(&c), 4);
        assert_true(l.decided[DECISION_FAIL] > 0);
        census_end(&c);
        loop_end(&l);
    }
}

/* What was counted for it is given back with the answer; one of the same name begins anew. */
static void a_pool_that_goes_while_claims_are_made_changes_nothing(void **state)
{
    (void)state;
    struct refusals f = {.left = UINT32_MAX, .every = 1, .fate = SIM_REFUSE};
    struct loop l = {.faults = {.user = &f, .before = before}};
    struct sim_options slow = {.cluster = {.reply_delay = 2 * MS_SECOND}};
    struct sim *s = new_sim_with(&slow, node_class_yaml());
    add_pool(s, "", 3);
    begin(&l, s);
    while (f.seen == 0)
        run_for(s, 100);
    do_request(s, API_DELETE, KIND_NODE_POOL, NULL, "fixed", NULL, 200);
    run_for(s, MS_MINUTE);
    expect_fleet(s, 0);
    f.left = 0;
    add_pool(s, "", 2);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 2);
    loop_end(&l);
}

/* ---- fewer ---- */

static void put_pod(struct sim *s, const char *name, const char *node, const char *annotations)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
             "\"default\",\"annotations\":{%s}},\"spec\":{\"nodeName\":\"%s\",\"terminationGracePeriodSeconds\":1,\"containers\":[{\"name\":"
             "\"c\",\"image\":\"i\"}]},\"status\":{\"phase\":\"Running\"}}",
             name, annotations, node);
    load(s, text);
}

static bool is_there(struct sim *s, enum kind k, const char *name)
{
    json_t *o = object_of(s, k, NULL, name);
    bool there = o != NULL;
    json_decref(o);
    return there;
}

/* 194 */
static void who_can_be_spared_goes_first(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(4);
    char names[4][64];
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *nodes = objects_of(s, KIND_NODE);
    for (size_t i = 0; i < 4; i++)
        snprintf(names[i], sizeof(names[i]), "%s",
                 json_string_value(tree_get(json_array_get(nodes, i), "metadata.name")));
    put_pod(s, "kept", names[0], "\"karpenter.sh/do-not-disrupt\":\"true\"");
    put_pod(s, "dear", names[1], "\"karpenter.sh/disruption-cost\":\"1000000000\"");
    put_pod(s, "plain", names[2], "");
    load(s, slow_class);
    set_replicas(s, 5);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 5);
    assert_int_equal(count_objects(s, KIND_NODE), 4);
    static const struct {
        int replicas;
        const char *why;
    } steps[] = {{4, "; no Node yet"},
                 {3, "; empty"},
                 {2, "; none empty, its pods are the cheapest to move"},
                 {1, "; none empty, its pods are the cheapest to move"}};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        set_replicas(s, steps[i].replicas);
        run_for(s, 40 * MS_SECOND);
        expect_fleet(s, (size_t)steps[i].replicas);
        if (strstr(l.last[DECISION_REMOVE], steps[i].why) == NULL)
            fail_msg("to %d: %s", steps[i].replicas, l.last[DECISION_REMOVE]);
        for (int n = 0; n < steps[i].replicas; n++)
            if (!is_there(s, KIND_NODE, names[n]))
                fail_msg("to %d: node %d is gone", steps[i].replicas, n);
    }
    assert_string_equal(l.last[DECISION_PLAN], "fixed  2 of 1 node; removing 1");
    json_decref(nodes);
    loop_end(&l);
}

/* 196: budgets are for others, and a pool need not be Ready to shrink. */
static void many_leave_at_once_whatever_the_budgets_say(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(5);
    patch_pool(s, "fixed", "{\"disruption\":{\"budgets\":[{\"nodes\":\"0\"}]}}");
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    expect_fleet(s, 5);
    do_request(s, API_DELETE, KIND_KWOK_NODE_CLASS, NULL, "default", NULL, 200);
    set_replicas(s, 1);
    run_for(s, 30 * MS_SECOND);
    expect_fleet(s, 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 4);
    assert_int_equal(l.decided[DECISION_BUY], 5);
    loop_end(&l);
}

/* Passes go on while what they have sent is not to be seen yet. */
static void pass_often(struct sim *s, int tenths)
{
    char body[128];
    for (int i = 0; i < tenths; i++) {
        snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"example.com/turn\":\"%d\"}}}", i);
        do_request(s, API_MERGE, KIND_NAMESPACE, NULL, "default", body, 200);
        run_for(s, 100);
    }
}

static void what_is_on_its_way_counts(void **state)
{
    (void)state;
    struct loop l = {0};
    struct census c;
    struct sim_options slow = {.cluster = {.apply_delay = 300, .reply_delay = 700, .watch_delay = 500}};
    struct sim *s = new_sim_with(&slow, node_class_yaml());
    add_pool(s, "", 4);
    begin(&l, s);
    census_begin(&c, s, KIND_NODE_CLAIM);
    pass_often(s, 600);
    expect_fleet(s, 4);
    assert_int_equal(l.decided[DECISION_BUY], 4);
    set_replicas(s, 2);
    pass_often(s, 600);
    expect_fleet(s, 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 2);
    assert_int_equal(l.decided[DECISION_BUY], 4);
    assert_int_equal(census_count(&c), 4);
    census_end(&c);
    loop_end(&l);
}

/* 195: who is to come for one that has drifted is neither bought again nor trimmed. */
static void a_replacement_on_its_way_is_let_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct census c;
    struct sim *s = cluster(2);
    patch_pool(s, "fixed", "{\"disruption\":{\"budgets\":[{\"nodes\":\"1\"}]}}");
    begin(&l, s);
    census_begin(&c, s, KIND_NODE_CLAIM);
    run_for(s, 30 * MS_SECOND);
    expect_fleet(s, 2);
    do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", "{\"spec\":{\"nodeRegistrationDelay\":\"5m\"}}", 200);
    patch_pool(s, "fixed", "{\"template\":{\"metadata\":{\"labels\":{\"team\":\"b\"}}}}");
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 3);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    assert_int_equal(census_count(&c), 3);
    run_for(s, 10 * MS_MINUTE);
    expect_fleet(s, 2);
    assert_int_equal(census_count(&c), 4);
    assert_int_equal(c.most, 3);
    census_end(&c);
    loop_end(&l);
}

/* ---- beside the rest ---- */

static void its_nodes_take_pods_and_none_is_bought_for_them(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(3);
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 3, "500m", ""));
    begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 3);
    expect_fleet(s, 3);
    assert_no_overcommit(s);
    /* what does not fit is bought for, from the other pool */
    load(s, deployment_yaml("big", 1, "30", ""));
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "big"), 1);
    expect_fleet(s, 4);
    scale(s, "big", 0);
    run_for(s, 3 * MS_MINUTE);
    expect_fleet(s, 3);
    loop_end(&l);
}

static void empty_nodes_of_it_stay(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(3);
    begin(&l, s);
    run_for(s, 10 * MS_MINUTE);
    expect_fleet(s, 3);
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *claim;
    size_t i;
    json_array_foreach(claims, i, claim)
    {
        assert_true(tree_condition_is(claim, "Initialized", "True"));
        assert_null(tree_condition(claim, "Consolidatable"));
    }
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    json_decref(claims);
    loop_end(&l);
}

/* 197 */
static void a_node_that_is_taken_away_is_replaced(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster(2);
    begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *nodes = objects_of(s, KIND_NODE);
    do_request(s, API_DELETE, KIND_NODE, NULL,
               json_string_value(tree_get(json_array_get(nodes, 0), "metadata.name")), NULL, 200);
    run_for(s, MS_MINUTE);
    expect_fleet(s, 2);
    assert_int_equal(l.decided[DECISION_BUY], 3);
    json_decref(nodes);
    loop_end(&l);
}

/* ---- Stowage dies in the middle ---- */

struct crash {
    uint64_t at, seen; /* over all lives */
    bool after, done;
};

static enum sim_fate fate(struct crash *c, bool is_after)
{
    c->seen += !is_after;
    if (c->done || c->seen != c->at || c->after != is_after)
        return SIM_PASS;
    c->done = true;
    return SIM_KILL;
}

static enum sim_fate kill_before(void *user, uint64_t number, const struct api_request *r,
                                 struct sim_refusal *refusal)
{
    (void)number;
    (void)r;
    (void)refusal;
    return fate(user, false);
}

static enum sim_fate kill_after(void *user, uint64_t number, const struct api_request *r)
{
    (void)number;
    (void)r;
    return fate(user, true);
}

/* One type: what is made is not the question here, and worlds are built quickly. */
static const char one_type[] =
    "[{\"name\":\"small\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{"
    "\"cpu\":\"4\",\"memory\":\"8Gi\"},\"offerings\":[{\"Price\":0.4,\"Requirements\":[{\"key\":"
    "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},{\"key\":"
    "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"test-zone-a\"]}]}]}]";

/* One life of the pool, up and down again; whether it was long enough to die at that write. */
static bool survives(uint64_t at, bool is_after)
{
    struct crash c = {.at = at, .after = is_after};
    struct loop l = {.restart_after = 2 * MS_SECOND,
                     .catalogue = one_type,
                     .faults = {.user = &c, .before = kill_before, .after = kill_after}};
    struct census census;
    struct sim *s = cluster(3);
    begin(&l, s);
    census_begin(&census, s, KIND_NODE_CLAIM);
    run_for(s, MS_MINUTE);
    expect_fleet(s, 3);
    set_replicas(s, 1);
    run_for(s, 2 * MS_MINUTE);
    expect_fleet(s, 1);
    if (census_count(&census) != 3)
        fail_msg("killed %s write %llu: %zu claims were made", is_after ? "after" : "before",
                 (unsigned long long)at, census_count(&census));
    census_end(&census);
    loop_end(&l);
    return c.done;
}

static void who_takes_over_makes_as_many(void **state)
{
    uint64_t before_at = 1, after_at = 1;
    (void)state;
    while (survives(before_at, false))
        before_at++;
    while (survives(after_at, true))
        after_at++;
    assert_true(before_at > 10 && after_at > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_gets_its_nodes),
        cmocka_unit_test(a_claim_is_made_of_the_template_alone),
        cmocka_unit_test(the_limit_on_nodes_holds_and_says_so),
        cmocka_unit_test(who_goes_first_for_want_of_room_is_counted),
        cmocka_unit_test(conditions_tell_how_long_they_were_what_they_were),
        cmocka_unit_test(a_leaving_node_counts_until_it_is_gone),
        cmocka_unit_test(the_cap_on_nodes_a_minute_holds),
        cmocka_unit_test(a_template_without_a_type_asks_for_nothing),
        cmocka_unit_test(without_the_gate_a_pool_is_left_alone),
        cmocka_unit_test(a_pool_that_is_not_ready_or_goes_gets_none),
        cmocka_unit_test(what_fails_is_asked_for_again_and_never_twice),
        cmocka_unit_test(a_pool_that_goes_while_claims_are_made_changes_nothing),
        cmocka_unit_test(who_can_be_spared_goes_first),
        cmocka_unit_test(many_leave_at_once_whatever_the_budgets_say),
        cmocka_unit_test(what_is_on_its_way_counts),
        cmocka_unit_test(a_replacement_on_its_way_is_let_alone),
        cmocka_unit_test(its_nodes_take_pods_and_none_is_bought_for_them),
        cmocka_unit_test(empty_nodes_of_it_stay),
        cmocka_unit_test(a_node_that_is_taken_away_is_replaced),
        cmocka_unit_test(who_takes_over_makes_as_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
