/* Whose turn it is when a pool's budget lets only some of its empty nodes go. */
#include <stdio.h>
#include <string.h>

#include "kube/meta.h"
#include "tests/sim/support_loop.h"

#define ONE                                                                                        \
    "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"1\"}]}"

/* Of "web" at this size, on a machine of its own. */
static void deploy_apart(struct sim *s, const char *name, const char *cpu, const char *type)
{
    char more[128];
    snprintf(more, sizeof(more), ",\"nodeSelector\":{\"node.kubernetes.io/instance-type\":\"%s\"}", type);
    load(s, deployment_yaml(name, 1, cpu, more));
}

static const char *node_under(struct sim *s, const char *app)
{
    static char name[64];
    json_t *pods = objects_of(s, KIND_POD), *pod;
    size_t i;
    name[0] = '\0';
    json_array_foreach(pods, i, pod) if (tree_is(pod, "metadata.labels.app", app))
        snprintf(name, sizeof(name), "%.*s", SPAN_ARG(tree_string(pod, "spec.nodeName")));
    json_decref(pods);
    assert_true(name[0] != '\0');
    return name;
}

static bool is_leaving(struct sim *s, const char *claim)
{
    json_t *c = object_of(s, KIND_NODE_CLAIM, NULL, claim);
    bool leaving = c == NULL || tree_get(c, "metadata.deletionTimestamp") != NULL;
    json_decref(c);
    return leaving;
}

static void expect_told(struct loop *l, const char *line, bool want)
{
    if (span_contains(buf_span(&l->history), span_of(line)) != want)
        fail_msg("%s%s", want ? "not told: " : "told: ", line);
}

/* Three that are empty at once: their names do not tell the order, their prices do. */
static void the_dearest_goes_first(void **state)
{
    static const struct {
        const char *app, *type;
    } rows[] = {{"a", "c-2x-amd64-linux"}, {"b", "c-8x-amd64-linux"}, {"c", "c-4x-amd64-linux"}};
    static const size_t order[] = {1, 2, 0};
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    char nodes[COUNT_OF(rows)][64];
    load(s, pool_yaml("general", ONE, ""));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        deploy_apart(s, rows[i].app, "500m", rows[i].type);
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        snprintf(nodes[i], sizeof(nodes[i]), "%s", node_under(s, rows[i].app));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        scale(s, rows[i].app, 0);
    for (size_t gone = 0; gone < COUNT_OF(order); gone++) {
        for (int i = 0; i < 600 && !is_leaving(s, nodes[order[gone]]); i++)
            run_for(s, 100);
        for (size_t i = 0; i < COUNT_OF(order); i++)
            if (is_leaving(s, nodes[order[i]]) != (i <= gone))
                fail_msg("with %zu on their way: %s", gone + 1, rows[order[i]].type);
    }
    loop_end(&l);
}

/* One that is broken is disruption enough. */
static void a_node_that_is_not_ready_uses_the_budget_up(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim_with(&(struct sim_options){.delays = {.node_ready = MS_HOUR}}, node_class_yaml());
    load(s, pool_yaml("general", ONE, ""));
    deploy_apart(s, "stays", "500m", "c-2x-amd64-linux");
    deploy_apart(s, "goes", "500m", "c-4x-amd64-linux");
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    json_t *nodes = objects_of(s, KIND_NODE), *node;
    size_t i;
    assert_int_equal(json_array_size(nodes), 2);
    json_array_foreach(nodes, i, node) set_ready(s, json_string_value(tree_get(node, "metadata.name")), "True");
    json_decref(nodes);
    run_for(s, 40 * MS_SECOND);
    char broken[64], empty[64];
    snprintf(broken, sizeof(broken), "%s", node_under(s, "stays"));
    snprintf(empty, sizeof(empty), "%s", node_under(s, "goes"));
    buf_clear(&l.history);
    set_ready(s, broken, "False");
    scale(s, "goes", 0);
    run_for(s, 2 * MS_MINUTE);
    assert_false(is_leaving(s, empty));
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    expect_told(&l, "karpenter_nodepools_allowed_disruptions nodepool=general reason=empty 1\n", true);
    expect_told(&l, "karpenter_nodepools_nodes_consuming_budgets nodepool=general reason=empty 1\n", true);
    expect_told(&l, "event DisruptionBlocked general:", false); /* it does let one go */
    set_ready(s, broken, "True");
    run_for(s, MS_MINUTE);
    assert_true(is_leaving(s, empty));
    assert_false(is_leaving(s, broken));
    loop_end(&l);
}

/* The window that holds the empty node back ends in the moment in which another expires: that one asks nobody, and is
 * the one that leaves. */
static void who_expires_uses_the_budget_up(void **state)
{
    enum { ENDS = 355 }; /* 03:10:00, seconds from the start */
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    char empty[64], old[64];
    load(s, pool_yaml("general",
                      "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"1\"},"
                      "{\"nodes\":\"0\",\"schedule\":\"0 3 * * *\",\"duration\":\"10m\"}]}",
                      ",\"expireAfter\":\"354s\""));
    deploy_apart(s, "expires", "500m", "c-8x-amd64-linux");
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    deploy_apart(s, "goes", "500m", "c-4x-amd64-linux");
    run_for(s, 40 * MS_SECOND);
    snprintf(empty, sizeof(empty), "%s", node_under(s, "goes"));
    snprintf(old, sizeof(old), "%s", node_under(s, "expires"));
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, old);
    wall_ms created;
    assert_true(time_parse(tree_string(claim, "metadata.creationTimestamp"), &created));
    assert_int_equal(created + 354 * MS_SECOND, START + ENDS * MS_SECOND);
    json_decref(claim);
    scale(s, "goes", 0);
    run_for(s, START + ENDS * MS_SECOND - 1 - sim_now(s));
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, MS_SECOND);
    assert_true(is_leaving(s, old));
    assert_false(is_leaving(s, empty));
    run_for(s, 20 * MS_SECOND);
    assert_true(is_leaving(s, empty));
    loop_end(&l);
}

/* 60: budgets are no matter to who expires. */
static void all_expire_whatever_budgets_say(void **state)
{
    enum { NODES = 5 };
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    struct census claims;
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"0\"}]}", ",\"expireAfter\":\"2m\""));
    load(s, deployment_yaml("web", NODES, "500m",
                            ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                            "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":"
                            "\"kubernetes.io/hostname\"}]}}"));
    loop_begin(&l, s);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    run_for(s, 90 * MS_SECOND);
    assert_int_equal(census_count(&claims), NODES);
    run_for(s, 45 * MS_SECOND);
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *claim;
    size_t i, leaving = 0;
    json_array_foreach(all, i, claim) leaving += tree_get(claim, "metadata.deletionTimestamp") != NULL;
    assert_true(leaving + census_count(&claims) - json_array_size(all) >= NODES);
    json_decref(all);
    census_end(&claims);
    loop_end(&l);
}

/* Whoever looks at the pool learns why nothing goes, once. */
static void a_budget_that_lets_nothing_go_is_told(void **state)
{
    static const char event[] =
        "event DisruptionBlocked general: No allowed disruptions for disruption reason Empty due to blocking budget\n";
    static const char *const reasons[] = {"underutilized", "drifted", "unhealthy"};
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general",
                      "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"0\","
                      "\"reasons\":[\"Empty\"]},{\"nodes\":\"100%\"}]}",
                      ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    expect_told(&l, event, true);
    expect_told(&l, "karpenter_nodepools_allowed_disruptions nodepool=general reason=empty 0\n", true);
    for (size_t i = 0; i < COUNT_OF(reasons); i++) { /* 306 */
        char line[128];
        snprintf(line, sizeof(line), "karpenter_nodepools_allowed_disruptions nodepool=general reason=%s 1\n", reasons[i]);
        expect_told(&l, line, true);
    }
    struct span rest, told = buf_span(&l.history);
    for (; told.len != 0 && !span_has_prefix(told, span_of(event)); told = rest)
        span_cut(told, '\n', &rest);
    span_cut(told, '\n', &rest);
    assert_false(span_contains(rest, span_of(event)));
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dearest_goes_first),
        cmocka_unit_test(a_node_that_is_not_ready_uses_the_budget_up),
        cmocka_unit_test(who_expires_uses_the_budget_up),
        cmocka_unit_test(all_expire_whatever_budgets_say),
        cmocka_unit_test(a_budget_that_lets_nothing_go_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
