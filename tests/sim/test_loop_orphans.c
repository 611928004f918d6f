/* Machines and claims that do not belong together: whose machine it is tells the UID, and the API server has the
 * last word. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

/* A claim of pool "general", as the reconciler would write it. */
static void load_claim(struct sim *s, const char *name, const char *uid)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
             "\"labels\":{\"karpenter.sh/nodepool\":\"general\"}},\"spec\":{\"nodeClassRef\":{\"group\":"
             "\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":"
             "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"c-2x-amd64-linux\"]}]}}",
             name, uid);
    load(s, text);
}

/* The Node of a machine that was made for the claim of this UID. */
static void load_machine(struct sim *s, const char *name, const char *claim_uid)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"annotations\":{"
             "\"stowage.dev/nodeclaim-uid\":\"%s\"}},\"spec\":{\"providerID\":\"kwok://%s\"}}",
             name, claim_uid, name);
    load(s, text);
}

/* Without pods no empty node is to leave while the test looks. */
static struct sim *cluster(void)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\"}", ""));
    return s;
}

static void expect_owned(struct sim *s, const char *name, const char *claim_uid)
{
    json_t *node = object_of(s, KIND_NODE, NULL, name);
    assert_non_null(node);
    assert_string_equal(json_string_value(json_object_get(tree_get(node, "metadata.annotations"),
                                                          "stowage.dev/nodeclaim-uid")),
                        claim_uid);
    json_decref(node);
}

/* Its machine goes, is taken for nobody else's, and the new claim gets one of its own. */
static void a_machine_of_an_earlier_claim_of_the_name_is_removed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load_machine(s, "same", "of-the-first");
    load_claim(s, "same", "of-the-second");
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    expect_owned(s, "same", "of-the-second");
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, "same");
    assert_true(tree_is(claim, "metadata.uid", "of-the-second"));
    assert_true(tree_condition_is(claim, "Initialized", "True"));
    json_decref(claim);
    loop_end(&l);
}

static void a_machine_of_another_is_not_taken_for_ones_own(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    loop_begin(&l, s);
    run_for(s, 2 * MS_SECOND); /* the first look for orphans is over */
    load_machine(s, "same", "of-the-first");
    load_claim(s, "same", "of-the-second");
    run_for(s, 5 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, "same");
    assert_false(tree_condition_is(claim, "Launched", "True"));
    json_decref(claim);
    loop_end(&l);
}

/* 192: we have not seen its claim yet. */
static void the_api_server_is_asked_before_a_machine_is_removed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    loop_begin(&l, s);
    run_for(s, 15 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE_CLAIM, sim_now(s) + 45 * MS_SECOND, false);
    load_claim(s, "young", "of-young");
    load_machine(s, "young", "of-young");
    json_t *before = only(s, KIND_NODE);
    run_for(s, 40 * MS_SECOND);
    json_t *after = only(s, KIND_NODE);
    assert_true(span_eq(tree_string(after, "metadata.uid"), tree_string(before, "metadata.uid")));
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 20 * MS_SECOND); /* the claim is seen */
    expect_owned(s, "young", "of-young");
    json_decref(before);
    json_decref(after);
    loop_end(&l);
}

/* The provider does not list its machine any more, while we still see its Node. */
static bool goes_unlisted(const char *ready)
{
    struct loop l = {0};
    struct sim *s = new_sim_with(&(struct sim_options){.delays = {.node_ready = MS_HOUR}}, node_class_yaml());
    /* it is not as its pool would have it */
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}", ""));
    load_claim(s, "one", "of-one");
    loop_begin(&l, s);
    run_for(s, 5 * MS_SECOND);
    set_ready(s, "one", "True");
    run_for(s, 20 * MS_SECOND);
    set_ready(s, "one", ready);
    run_for(s, MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 45 * MS_SECOND, false);
    do_request(s, API_DELETE, KIND_NODE, NULL, "one", NULL, 200); /* our finalizer holds it */
    run_for(s, 40 * MS_SECOND);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    bool goes = tree_get(claim, "metadata.deletionTimestamp") != NULL;
    json_decref(claim);
    assert_int_equal(l.decided[DECISION_REMOVE], goes);
    if (goes)
        assert_non_null(strstr(l.last[DECISION_REMOVE], "its machine is gone"));
    loop_end(&l);
    return goes;
}

/* 191: the list may lag; a kubelet that lives does not. */
static void a_claim_stays_while_its_node_is_ready(void **state)
{
    (void)state;
    assert_true(goes_unlisted("False"));
    assert_false(goes_unlisted("True"));
}

/* The Node of a claim that ends meanwhile, unseen by us, is not written when its time comes. */
static void nothing_is_made_for_a_claim_that_is_being_deleted(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"30s\"}}");
    load_claim(s, "late", "of-late");
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_true(tree_condition_is(claim, "Launched", "True"));
    sim_client_break_watch(l.api, KIND_NODE_CLAIM, sim_now(s) + 45 * MS_SECOND, false);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, "late", NULL, 200);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1); /* our finalizer holds it */
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    json_decref(claim);
    loop_end(&l);
}

/* 191: what has not joined in time is for liveness to give up (lifecycle): the provider may list late. */
static void a_machine_that_has_not_joined_may_be_unlisted(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"45s\"}}");
    load_claim(s, "late", "of-late");
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND); /* it was looked for four times */
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_true(tree_condition_is(claim, "Launched", "True"));
    assert_null(tree_get(claim, "metadata.deletionTimestamp"));
    json_decref(claim);
    run_for(s, 30 * MS_SECOND);
    expect_owned(s, "late", "of-late");
    loop_end(&l);
}

/* 200: two Nodes say that they are its machine, so that it never registers: one of them may be another's. The machine
 * goes; with provider kwok that is the Node of the claim's name. */
static void nodes_of_an_unregistered_claim_are_not_deleted(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"another\"},\"spec\":{\"providerID\":\"kwok://one\"}}");
    load_claim(s, "one", "of-one");
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_true(tree_condition_is(claim, "Launched", "True"));
    assert_false(tree_condition_is(claim, "Registered", "True"));
    json_decref(claim);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, "one", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    json_t *left = only(s, KIND_NODE);
    assert_true(tree_is(left, "metadata.name", "another"));
    assert_null(tree_get(left, "metadata.deletionTimestamp"));
    json_decref(left);
    loop_end(&l);
}

/* 245: of another provider: neither its age nor its end is ours. */
static void claims_of_another_class_are_left_alone(void **state)
{
    static const char *const names[] = {"old", "ends"};
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"%s\","
                 "\"finalizers\":[\"karpenter.sh/termination\"]},\"spec\":{\"expireAfter\":\"1m\","
                 "\"requirements\":[],\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\",\"kind\":"
                 "\"EC2NodeClass\",\"name\":\"default\"}}}",
                 names[i]);
        load(s, text);
    }
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, "ends", NULL, 200);
    loop_begin(&l, s);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    json_t *old = object_of(s, KIND_NODE_CLAIM, NULL, "old");
    assert_null(tree_get(old, "metadata.deletionTimestamp"));
    assert_null(tree_get(old, "status"));
    json_decref(old);
    loop_end(&l);
}

static enum sim_fate nodes_are_stuck(void *user, uint64_t number, const struct api_request *r,
                                     struct sim_refusal *refusal)
{
    (void)number, (void)refusal;
    return *(const bool *)user && r->kind == KIND_NODE && r->verb != API_CREATE ? SIM_REFUSE : SIM_PASS;
}

/* 222: its machine has not joined and cannot be removed: nobody would know whose it is. */
static void a_claim_stays_until_its_machine_is_gone(void **state)
{
    (void)state;
    bool stuck = true;
    struct loop l = {.faults = {.user = &stuck, .before = nodes_are_stuck}};
    struct sim *s = cluster();
    load_claim(s, "one", "of-one");
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, "one", NULL, 200);
    run_for(s, MS_MINUTE);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    assert_string_equal(json_string_value(json_array_get(tree_get(claim, "metadata.finalizers"), 0)), "karpenter.sh/termination");
    json_decref(claim);
    stuck = false;
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_of_an_earlier_claim_of_the_name_is_removed),
        cmocka_unit_test(a_machine_of_another_is_not_taken_for_ones_own),
        cmocka_unit_test(the_api_server_is_asked_before_a_machine_is_removed),
        cmocka_unit_test(a_claim_stays_while_its_node_is_ready),
        cmocka_unit_test(nothing_is_made_for_a_claim_that_is_being_deleted),
        cmocka_unit_test(a_machine_that_has_not_joined_may_be_unlisted),
        cmocka_unit_test(nodes_of_an_unregistered_claim_are_not_deleted),
        cmocka_unit_test(claims_of_another_class_are_left_alone),
        cmocka_unit_test(a_claim_stays_until_its_machine_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
