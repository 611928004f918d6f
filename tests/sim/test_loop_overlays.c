/* NodeOverlays say whether they have the effect that was meant, and have it. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static struct sim *cluster(void)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

static void overlay(struct sim *s, const char *name, const char *spec)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"karpenter.sh/v1alpha1\",\"kind\":\"NodeOverlay\",\"metadata\":{\"name\":\"%s\"},"
             "\"spec\":{\"requirements\":[],%s}}",
             name, spec);
    load(s, text);
}

static void begin(struct loop *l, struct sim *s)
{
    l->keeps = true;
    l->world.node_overlay = true;
    loop_begin(l, s);
    run_for(s, 5 * MS_SECOND);
}

static void expect(struct sim *s, const char *name, const char *type, const char *want)
{
    char text[512] = "";
    json_t *o = object_of(s, KIND_NODE_OVERLAY, NULL, name);
    json_t *c = tree_condition(o, type);
    if (c != NULL)
        snprintf(text, sizeof(text), "%.*s %.*s: %.*s", SPAN_ARG(tree_string(c, "status")),
                 SPAN_ARG(tree_string(c, "reason")), SPAN_ARG(tree_string(c, "message")));
    if (strcmp(text, want) != 0)
        fail_msg("%s of %s is %s, not %s", type, name, text, want);
    json_decref(o);
}

#define FINE "True ValidationSucceeded: "
#define CONFLICT "False Conflict: conflict with another overlay"

static void each_says_whether_it_counts(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    overlay(s, "heavy", "\"price\":\"1.5\",\"weight\":10");
    overlay(s, "second", "\"priceAdjustment\":\"+10%\"");
    overlay(s, "first", "\"price\":\"0.5\"");
    overlay(s, "disks", "\"capacity\":{\"smarter-devices/fuse\":\"1\"}");
    overlay(s, "wrong", "\"price\":\"cheap\"");
    begin(&l, s);
    expect(s, "heavy", "ValidationSucceeded", FINE);
    expect(s, "heavy", "Ready", "True Ready: ");
    expect(s, "second", "ValidationSucceeded", FINE); /* of equal weight the last by name goes first */
    expect(s, "first", "ValidationSucceeded", CONFLICT);
    expect(s, "first", "Ready", "False UnhealthyDependents: ValidationSucceeded=False");
    expect(s, "disks", "ValidationSucceeded", FINE);
    expect(s, "wrong", "ValidationSucceeded",
           "False RuntimeValidation: spec.price: \"cheap\" is not a price like \"0.25\"");
    /* what was in the way goes */
    do_request(s, API_DELETE, KIND_NODE_OVERLAY, NULL, "second", NULL, 200);
    do_request(s, API_MERGE, KIND_NODE_OVERLAY, NULL, "wrong", "{\"spec\":{\"price\":\"2\",\"weight\":20}}", 200);
    run_for(s, 2 * MS_SECOND);
    expect(s, "first", "ValidationSucceeded", FINE);
    expect(s, "first", "Ready", "True Ready: ");
    expect(s, "wrong", "ValidationSucceeded", FINE);
    uint64_t version = sim_cluster_version(sim_cluster(s));
    run_for(s, MS_MINUTE); /* and nothing more is written */
    assert_int_equal(sim_cluster_version(sim_cluster(s)), version);
    loop_end(&l);
}

/* A price that an overlay sets decides what is planned, and the claim says so. */
static void what_is_planned_follows(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"karpenter.sh/v1alpha1\",\"kind\":\"NodeOverlay\",\"metadata\":{\"name\":\"o\"},"
            "\"spec\":{\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"In\","
            "\"values\":[\"m-4x-amd64-linux\"]}],\"price\":\"0.0001\"}}");
    load(s, deployment_yaml("web", 1, "500m", ""));
    begin(&l, s);
    run_for(s, MS_MINUTE);
    /* the provider chooses among the claim's types by prices of its own */
    assert_non_null(strstr(l.last[DECISION_BUY], "  m-4x-amd64-linux or another  for web"));
    json_t *claims = objects_of(s, KIND_NODE_CLAIM);
    assert_int_equal(json_array_size(claims), 1);
    const json_t *annotations = tree_get(json_array_get(claims, 0), "metadata.annotations");
    assert_string_equal(json_string_value(json_object_get(annotations, "karpenter.sh/price-overlay-applied")),
                        "true");
    json_decref(claims);
    loop_end(&l);
}

/* Of its types some had another price, or more to give: either is said, and nothing else. */
static void a_claim_says_what_was_laid_over_its_types(void **state)
{
    (void)state;
    static const struct {
        const char *sets;
        bool price, capacity;
    } rows[] = {
        {"\"price\":\"0.0001\"", true, false},
        {"\"capacity\":{\"example.com/gadget\":\"2\"}", false, true},
        {"\"priceAdjustment\":\"-10%\",\"capacity\":{\"example.com/gadget\":\"2\"}", true, true},
        {"\"weight\":1", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct loop l = {0};
        struct sim *s = cluster();
        char text[512];
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"karpenter.sh/v1alpha1\",\"kind\":\"NodeOverlay\",\"metadata\":{\"name\":\"o\"},"
                 "\"spec\":{\"requirements\":[],%s}}",
                 rows[i].sets);
        load(s, text);
        load(s, deployment_yaml("web", 1, "500m", ""));
        begin(&l, s);
        run_for(s, MS_MINUTE);
        json_t *claims = objects_of(s, KIND_NODE_CLAIM);
        assert_int_equal(json_array_size(claims), 1);
        const json_t *annotations = tree_get(json_array_get(claims, 0), "metadata.annotations");
        const json_t *p = json_object_get(annotations, "karpenter.sh/price-overlay-applied");
        const json_t *c = json_object_get(annotations, "karpenter.sh/capacity-overlay-applied");
        if ((p != NULL) != rows[i].price || (c != NULL) != rows[i].capacity)
            fail_msg("%s: price is %s, capacity is %s", rows[i].sets, p != NULL ? "said" : "not said",
                     c != NULL ? "said" : "not said");
        json_decref(claims);
        loop_end(&l);
    }
}

static void without_the_gate_overlays_are_left_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    overlay(s, "o", "\"price\":\"1.5\"");
    loop_begin(&l, s);
    run_for(s, 5 * MS_SECOND);
    expect(s, "o", "ValidationSucceeded", "");
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_says_whether_it_counts),
        cmocka_unit_test(what_is_planned_follows),
        cmocka_unit_test(a_claim_says_what_was_laid_over_its_types),
        cmocka_unit_test(without_the_gate_overlays_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
