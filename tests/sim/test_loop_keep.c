/* Why nodes stay, and for how long that is said. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define BUDGET(name_)                                                                              \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\n"                                           \
    "metadata: {name: " name_ ", namespace: default}\n"                                            \
    "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n"

/* The sentence that holds for the cluster's one node. */
static void expect_why(const struct loop *l, const char *label, const char *want)
{
    const char *got = strstr(l->last[DECISION_KEEP], "  stays: ");
    got = got != NULL ? got + strlen("  stays: ") : l->last[DECISION_KEEP];
    if (strcmp(got, want) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", label, got, want);
}

static uint32_t count_lines(struct loop *l, const char *begins, const char *ends)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&l->history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, span_of(begins)) && span_has_suffix(line, span_of(ends));
    }
    return found;
}

static void what_blocks_a_node_is_told_of_it_and_of_its_claim(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    load(s, BUDGET("web"));
    loop_begin(&l, s);
    for (int i = 0; i < 60 && strstr(l.last[DECISION_KEEP], "allows no eviction") == NULL; i++)
        run_for(s, MS_SECOND);
    run_for(s, 10 * MS_SECOND); /* as often as Karpenter looks */
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_true(span_contains(buf_span(&l.history),
                              SPAN(": Pdb prevents pod evictions (PodDisruptionBudget=[default/web], Pod=default/web-")));
    assert_true(span_contains(buf_span(&l.history), SPAN(", ReplicaSet=web-")));
    assert_int_equal(count_lines(&l, "event DisruptionBlocked general-", ""), 2);
    assert_int_equal(count_lines(&l, "event DisruptionBlocked ", ""), 2); /* what lasted less is not told */
    buf_release(&l.history);
    loop_end(&l);
}

static void load_kept(struct sim *s, const char *name, const char *value)
{
    char yaml[512];
    snprintf(yaml, sizeof(yaml),
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: default}\n"
             "spec:\n  replicas: 1\n  selector: {matchLabels: {app: %s}}\n"
             "  template:\n    metadata: {labels: {app: %s}, annotations: {karpenter.sh/do-not-disrupt: '%s'}}\n"
             "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}\n",
             name, name, name, value);
    load(s, yaml);
}

static uint32_t count_posted(struct sim *s, const char *kind, const char *text)
{
    size_t i;
    json_t *event, *list = objects_of(s, KIND_EVENT);
    uint32_t found = 0;
    json_array_foreach(list, i, event)
        found += strcmp(json_string_value(tree_get(event, "reason")), "DisruptionBlocked") == 0 &&
                 strcmp(json_string_value(tree_get(event, "regarding.kind")), kind) == 0 &&
                 strstr(json_string_value(tree_get(event, "note")), text) != NULL;
    json_decref(list);
    return found;
}

/* Each answer is told once, so that none may be lost to what was told a moment ago. */
static void what_blocks_it_next_is_an_event_too(void **state)
{
    static const char *const kinds[] = {"Node", "NodeClaim"};
    (void)state;
    struct loop l = {.posts = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    load_kept(s, "kept", "true");
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    load(s, BUDGET("web"));
    do_request(s, API_DELETE, KIND_DEPLOYMENT, "default", "kept", NULL, 200);
    run_for(s, MS_MINUTE);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(count_posted(s, kinds[i], "do-not-disrupt"), 1);
        assert_int_equal(count_posted(s, kinds[i], "PodDisruptionBudget=[default/web]"), 1);
    }
    loop_end(&l);
}

/* All at once would be more than is sent of a reason, and each is told once. */
static void however_many_are_blocked_each_is_told(void **state)
{
    enum { NODES = 24 };
    (void)state;
    struct loop l = {.posts = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]}", ""));
    load(s, deployment_yaml("web", NODES, "500m",
                            ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                            "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":"
                            "\"kubernetes.io/hostname\"}]}}"));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"
            "spec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}\n");
    loop_begin(&l, s);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), NODES);
    assert_int_equal(count_posted(s, "Node", "PodDisruptionBudget=[default/web]"), NODES);
    assert_int_equal(count_posted(s, "NodeClaim", "PodDisruptionBudget=[default/web]"), NODES);
    loop_end(&l);
}

static void a_claim_without_a_node_says_so(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"1m\"}}");
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_lines(&l, "event DisruptionBlocked general-",
                                 ": Nodeclaim does not have an associated node"),
                     1);
    buf_release(&l.history);
    loop_end(&l);
}

static void what_is_said_of_a_node_is_so_today(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    expect_why(&l, "its pods say enough", "");
    load(s, BUDGET("web"));
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "a budget",
               "PodDisruptionBudget default/web allows no eviction (2 of 2 must stay)");
    load(s, BUDGET("twin"));
    run_for(s, 5 * MS_SECOND);
    assert_non_null(strstr(l.last[DECISION_KEEP], "which eviction does not support"));
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "twin", NULL, 200);
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "one again",
               "PodDisruptionBudget default/web allows no eviction (2 of 2 must stay)");
    scale(s, "web", 3);
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "one may go", "");
    loop_end(&l);
}

/* Its budget says something else, and nothing else has changed; three times within the time after which all is looked
 * at again whatever has changed. */
static void a_budget_that_changes_is_heard_at_once(void **state)
{
    static const struct {
        int least;
        const char *why;
    } changes[] = {{1, ""}, {2, "PodDisruptionBudget default/web allows no eviction (2 of 2 must stay)"}, {0, ""}};
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    load(s, BUDGET("web"));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    expect_why(&l, "at first", changes[1].why);
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        char patch[64];
        snprintf(patch, sizeof(patch), "{\"spec\":{\"minAvailable\":%d}}", changes[i].least);
        do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "web", patch, 200);
        run_for(s, 2 * MS_SECOND);
        expect_why(&l, patch, changes[i].why);
    }
    loop_end(&l);
}

/* Disruption 19, 21 */
static void an_annotation_says_what_it_comes_to(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load_kept(s, "mistyped", "tru");
    load_kept(s, "negative", "-5m");
    load_kept(s, "timed", "5m");
    load_kept(s, "always", "true");
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_lines(&l, "event InvalidDoNotDisruptAnnotation mistyped-",
                                 ": Invalid karpenter.sh/do-not-disrupt annotation: \"tru\" is neither \"true\" nor a "
                                 "positive duration like 8h30m, ignoring annotation"),
                     1);
    assert_int_equal(count_lines(&l, "event InvalidDoNotDisruptAnnotation negative-", ""), 1);
    assert_int_equal(count_lines(&l, "event InvalidDoNotDisruptAnnotation ", ""), 2);
    assert_int_equal(count_lines(&l, "event DoNotDisruptUntil timed-", "Z"), 1);
    assert_int_equal(count_lines(&l, "event DoNotDisrupt", ""), 1);
    run_for(s, 6 * MS_MINUTE);
    assert_int_equal(count_lines(&l, "event DoNotDisruptGracePeriodElapsed timed-", "pod is now disruptable"), 1);
    assert_int_equal(count_lines(&l, "event DoNotDisrupt", ""), 2);
    assert_int_equal(count_lines(&l, "event InvalidDoNotDisruptAnnotation ", ""), 2);
    loop_stop(&l);
    loop_start(&l); /* the next leader does not report what had ended before it looked */
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_lines(&l, "event DoNotDisruptGracePeriodElapsed ", ""), 1);
    buf_release(&l.history);
    loop_end(&l);
}

/* A node that nothing has to be asked about until something of it changes: a plan changes it. */
static void who_rests_hears_that_pods_are_planned_there(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .options.idle = 10 * MS_MINUTE}; /* when all is looked at, whether it is called or not */
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 1, "600m", ""));
    loop_begin(&l, s);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_null(strstr(l.last[DECISION_KEEP], "planned"));
    load(s, "apiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: default}\n" /* nobody binds it */
            "spec: {schedulerName: nobody, containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}\n"
            "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n");
    for (int i = 0; i < 40 && strstr(l.last[DECISION_KEEP], "planned") == NULL; i++)
        run_for(s, MS_SECOND / 4);
    assert_non_null(strstr(l.last[DECISION_KEEP], "planned"));
    buf_release(&l.history);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_a_node_is_so_today),
        cmocka_unit_test(who_rests_hears_that_pods_are_planned_there),
        cmocka_unit_test(a_budget_that_changes_is_heard_at_once),
        cmocka_unit_test(what_blocks_a_node_is_told_of_it_and_of_its_claim),
        cmocka_unit_test(what_blocks_it_next_is_an_event_too),
        cmocka_unit_test(however_many_are_blocked_each_is_told),
        cmocka_unit_test(a_claim_without_a_node_says_so),
        cmocka_unit_test(an_annotation_says_what_it_comes_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
