/* Several providers beside each other: whose a pool, a claim or a Node is, its node class says, and one that does not
 * answer holds up nobody else's. */
#include <stdio.h>
#include <string.h>

#include "reconciler/call.h"
#include "tests/sim/support_hung.h"
#include "tests/sim/support_loop.h"

enum { GENERAL_PODS = 40, HUNG_CLAIMS = 8 };

static const char hung_pool[] =
    "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"hung\"},\"spec\":{"
    "\"disruption\":{\"consolidateAfter\":\"Never\"},\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":"
    "\"test.stowage.dev\",\"kind\":\"HungNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":"
    "\"kubernetes.io/os\",\"operator\":\"In\",\"values\":[\"linux\"]}]}}}}";

static const char *deployment_of(const char *pool, int replicas, const char *more)
{
    static char spec[512];
    snprintf(spec, sizeof(spec), ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"%s\"}%s", pool, more);
    return deployment_yaml(pool, replicas, "1", spec);
}

/* Of pool "hung", as the reconciler would write it. */
static void load_hung_claim_with(struct sim *s, const char *name, const char *status)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"%s\",\"uid\":\"of-%s\","
             "\"labels\":{\"karpenter.sh/nodepool\":\"hung\",\"kubernetes.io/os\":\"linux\"}},\"spec\":{\"nodeClassRef\":{\"group\":"
             "\"test.stowage.dev\",\"kind\":\"HungNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":"
             "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"c-2x-amd64-linux\"]}]}%s}",
             name, name, status);
    load(s, text);
}

static void load_hung_claim(struct sim *s, const char *name)
{
    load_hung_claim_with(s, name, "");
}

static void load_hung_claims(struct sim *s)
{
    char name[32];
    for (int i = 0; i < HUNG_CLAIMS; i++) {
        snprintf(name, sizeof(name), "hung-%d", i);
        load_hung_claim(s, name);
    }
}

/* A Node whose claim never was: kwok's own list shows it. */
static void load_orphan(struct sim *s)
{
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"orphan\",\"annotations\":{"
            "\"stowage.dev/nodeclaim-uid\":\"of-nobody\"}},\"spec\":{\"providerID\":\"kwok://orphan\"}}");
}

struct life { /* of pool general: when what happened, in ms from the start; -1: never */
    wall_ms bought, bound, collected, lost, ended;
};

static wall_ms when(struct sim *s, wall_ms limit, bool (*is_so)(struct sim *s))
{
    for (wall_ms began = sim_now(s); sim_now(s) < began + limit; run_for(s, 100))
        if (is_so(s))
            return sim_now(s) - START;
    return -1;
}

static uint32_t general_claims(struct sim *s)
{
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *c;
    uint32_t count = 0;
    size_t i;
    json_array_foreach(claims, i, c) count += strncmp(json_string_value(tree_get(c, "metadata.name")), "general", 7) == 0;
    json_decref(claims);
    return count;
}

static bool all_bought(struct sim *s)
{
    return general_claims(s) != 0;
}

static bool all_bound(struct sim *s)
{
    return count_bound(s, "general") == GENERAL_PODS;
}

static bool is_collected(struct sim *s)
{
    return is_gone(s, KIND_NODE, NULL, "orphan");
}

static bool all_gone(struct sim *s)
{
    return general_claims(s) == 0;
}

/* A machine goes behind our back, and with it its Node. */
static char lost[64];

static void lose_a_machine(struct sim *s)
{
    assert_int_not_equal(count_objects(s, KIND_NODE), 0);
    json_t *nodes = objects_of(s, KIND_NODE);
    snprintf(lost, sizeof(lost), "%s", json_string_value(tree_get(json_array_get(nodes, 0), "metadata.name")));
    json_decref(nodes);
    do_request(s, API_MERGE, KIND_NODE, NULL, lost, "{\"metadata\":{\"finalizers\":null}}", 200);
    do_request(s, API_DELETE, KIND_NODE, NULL, lost, NULL, 200);
}

static bool is_given_up(struct sim *s)
{
    return is_gone(s, KIND_NODE_CLAIM, NULL, lost);
}

static struct life live(struct hung *h)
{
    struct loop l = {.beside = h != NULL ? &h->provider : NULL};
    struct sim *s = new_sim(node_class_yaml());
    struct life t;
    load(s, pool_yaml("general", "", ""));
    load(s, hung_pool);
    load_hung_claims(s);
    loop_begin(&l, s);
    run_for(s, CALLS_STALL_MS + 5 * MS_SECOND); /* so long the claims are taken for launching ones */
    load(s, deployment_of("general", GENERAL_PODS, ""));
    t.bought = when(s, MS_MINUTE, all_bought);
    t.bound = when(s, 2 * MS_MINUTE, all_bound);
    load_orphan(s);
    t.collected = when(s, 5 * MS_MINUTE, is_collected);
    lose_a_machine(s);
    t.lost = when(s, 10 * MS_MINUTE, is_given_up);
    scale(s, "general", 0);
    t.ended = when(s, 10 * MS_MINUTE, all_gone);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), HUNG_CLAIMS);
    loop_end(&l);
    return t;
}

static void one_that_never_answers_stops_nobody_else(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct life alone = live(NULL), beside = live(&h);
    assert_true(alone.bought > 0 && alone.bound > 0 && alone.collected > 0 && alone.lost > 0 && alone.ended > 0);
    assert_int_equal(beside.bought, alone.bought);
    assert_int_equal(beside.bound, alone.bound);
    assert_int_equal(beside.collected, alone.collected);
    assert_int_equal(beside.lost, alone.lost);
    assert_int_equal(beside.ended, alone.ended);
    assert_true(h.asked[PROVIDER_CREATE] != 0 && h.asked[PROVIDER_LIST] != 0);
}

static void what_it_holds_on_to_is_bounded(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider};
    struct sim *s = new_sim(node_class_yaml());
    load(s, hung_pool);
    load_hung_claims(s);
    loop_begin(&l, s);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(h.most, HUNG_CALLS); /* and not one more, however often they were given up */
    assert_int_equal(h.cancelled, HUNG_CALLS);
    loop_end(&l);
}

/* 1.12.2 of the NodeClaim's life: a create that failed is told by its condition, and tried again. */
static void its_claims_say_whom_they_wait_for(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider};
    struct sim *s = new_sim(node_class_yaml());
    load(s, hung_pool);
    load_hung_claim(s, "hung-0");
    loop_begin(&l, s);
    run_for(s, HUNG_PATIENCE_MS + 5 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, "hung-0");
    assert_true(tree_condition_is(claim, "Launched", "Unknown"));
    char *text = json_dumps(claim, 0);
    assert_non_null(strstr(text, "provider hung: no answer to Create within 30 s"));
    assert_int_equal(h.asked[PROVIDER_CREATE], 2);
    free(text);
    json_decref(claim);
    loop_end(&l);
}

/* A claim that is told that there is no capacity is deleted; who answers too late tells nobody. */
static void what_comes_too_late_is_not_looked_at(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider};
    struct sim *s = new_sim(node_class_yaml());
    load(s, hung_pool);
    load_hung_claim(s, "hung-0");
    loop_begin(&l, s);
    run_for(s, HUNG_PATIENCE_MS / 2);
    reconciler_observe(l.reconciler, SPAN("the test looks on")); /* and gives up what it waits for */
    run_for(s, MS_SECOND);
    hung_answer(&h);
    reconciler_observe(l.reconciler, (struct span){NULL, 0});
    run_for(s, 5 * MS_SECOND);
    assert_false(is_gone(s, KIND_NODE_CLAIM, NULL, "hung-0"));
    assert_int_equal(h.asked[PROVIDER_CREATE], 2);
    hung_answer(&h); /* in time */
    run_for(s, 5 * MS_SECOND);
    assert_true(is_gone(s, KIND_NODE_CLAIM, NULL, "hung-0"));
    loop_end(&l);
}

static void a_new_time_of_leading_does_not_wait_for_old_calls(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, hung_pool);
    load_hung_claims(s);
    loop_begin(&l, s);
    run_for(s, 5 * MS_SECOND);
    reconciler_lead(l.reconciler, false);
    run_for(s, 2 * MS_SECOND);
    load(s, deployment_of("general", GENERAL_PODS, ""));
    reconciler_lead(l.reconciler, true);
    run_for(s, HUNG_PATIENCE_MS / 2);
    assert_true(all_bound(s));
    assert_int_equal(h.under_way, HUNG_CALLS);
    loop_end(&l);
}

/* Both sell types of the same names. */
static void pods_of_a_pool_are_bought_what_its_provider_sells(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider, .catalogue = two_types};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, hung_pool);
    load(s, deployment_of("general", 1, ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
                                        "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                                        "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":["
                                        "\"c-2x-amd64-linux\"]}]}]}}}"));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(general_claims(s), 0); /* the other one's type */
    load(s, deployment_of("hung", 1, ""));
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_true(tree_is(claim, "spec.nodeClassRef.kind", "HungNodeClass"));
    json_decref(claim);
    assert_true(h.asked[PROVIDER_CREATE] != 0);
    loop_end(&l);
}

static const char joined[] = ",\"status\":{\"providerID\":\"hung://0\",\"conditions\":["
                             "{\"type\":\"Launched\",\"status\":\"True\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"},"
                             "{\"type\":\"Registered\",\"status\":\"True\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}";

/* The loop's own provider lists its machines every ten seconds, and this one's is none of them. */
static void what_one_does_not_list_may_be_anothers(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, hung_pool);
    load_hung_claim_with(s, "hung-0", joined);
    loop_begin(&l, s);
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_null(tree_get(claim, "metadata.deletionTimestamp"));
    json_decref(claim);
    loop_end(&l);
}

/* One that was never heard, since we began. */
static void one_that_does_not_say_what_it_has_stops_nobody_else(void **state)
{
    (void)state;
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider, .keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    hung_withholds(&h, &l);
    load(s, pool_yaml("general", "", ""));
    load(s, hung_pool);
    load(s, deployment_of("general", GENERAL_PODS, ""));
    load(s, deployment_of("hung", 1, ""));
    loop_begin(&l, s);
    run_for(s, LISTINGS_FIRST_MS - MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0); /* it may still be in time */
    run_for(s, 30 * MS_SECOND);
    assert_true(all_bound(s));
    json_t *pool = object_of(s, KIND_NODE_POOL, NULL, "hung");
    assert_true(tree_condition_is(pool, "ValidationSucceeded", "Unknown"));
    json_decref(pool);
    assert_non_null(strstr(l.history.ptr, "its provider has not listed its types yet"));
    hung_lists(&h);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(h.asked[PROVIDER_CREATE], 1); /* its pool joins */
    pool = object_of(s, KIND_NODE_POOL, NULL, "hung");
    assert_true(tree_condition_is(pool, "ValidationSucceeded", "True"));
    json_decref(pool);
    loop_end(&l);
}

/* "large" goes from the catalogue, and the Stowage that finds it gone never hears the other provider. */
static void types_are_missed_though_another_has_not_listed_his(void **state)
{
    (void)state;
    static const char small[] =
        "[{\"name\":\"small\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":"
        "\"16\",\"memory\":\"32Gi\"},\"offerings\":[{\"Price\":0.4,\"Requirements\":[{\"key\":"
        "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},{\"key\":"
        "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"test-zone-a\"]}]}]}]";
    struct hung h;
    hung_init(&h);
    struct loop l = {.beside = &h.provider, .catalogue = two_types};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"budgets\":[{\"nodes\":\"0\"}],\"consolidateAfter\":\"Never\"}", ""));
    load(s, hung_pool);
    load(s, deployment_yaml("general", 1, "20", ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"general\"}"));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(general_claims(s), 1);
    loop_stop(&l);
    l.catalogue = small;
    hung_withholds(&h, &l);
    load_hung_claim_with(s, "hung-0", joined);
    run_for(s, 2 * MS_HOUR);
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *c;
    size_t i;
    json_array_foreach(claims, i, c)
    {
        bool general = strncmp(json_string_value(tree_get(c, "metadata.name")), "general", 7) == 0;
        assert_true(tree_condition_is(c, "Drifted", "True") == general);
    }
    json_decref(claims);
    loop_end(&l);
}

/* Nobody's: pools and claims of a class that no provider has. */
static void what_is_of_no_provider_is_left_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, hung_pool);
    load_hung_claims(s);
    loop_begin(&l, s);
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), HUNG_CLAIMS);
    json_t *pool = object_of(s, KIND_NODE_POOL, NULL, "hung");
    assert_null(tree_get(pool, "status.conditions"));
    json_decref(pool);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_never_answers_stops_nobody_else),
        cmocka_unit_test(what_it_holds_on_to_is_bounded),
        cmocka_unit_test(its_claims_say_whom_they_wait_for),
        cmocka_unit_test(what_comes_too_late_is_not_looked_at),
        cmocka_unit_test(a_new_time_of_leading_does_not_wait_for_old_calls),
        cmocka_unit_test(pods_of_a_pool_are_bought_what_its_provider_sells),
        cmocka_unit_test(what_one_does_not_list_may_be_anothers),
        cmocka_unit_test(one_that_does_not_say_what_it_has_stops_nobody_else),
        cmocka_unit_test(types_are_missed_though_another_has_not_listed_his),
        cmocka_unit_test(what_is_of_no_provider_is_left_alone),
    };
    return cmocka_run_group_tests_name("loop_providers", tests, NULL, NULL);
}
