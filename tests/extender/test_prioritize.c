/* The scores of nodes that the scheduler is told: it packs, then saves, then avoids moving twice. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "extender/score.h"
#include "support_ask.h"

/* A node of which a NodePool's claim tells its price and its end. */
#define BOUGHT(name, capacity, expires)                                                            \
    NODE(name, "  labels: {karpenter.sh/nodepool: p, karpenter.sh/registered: 'true', "            \
               "karpenter.sh/initialized: 'true', node.kubernetes.io/instance-type: "              \
               "s-4x-amd64-linux, topology.kubernetes.io/zone: test-zone-a, "                      \
               "karpenter.sh/capacity-type: " capacity "}\n")                                      \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\n"                                          \
    "metadata: {name: c-" name ", uid: uid-c-" name ", creationTimestamp: '2026-10-10T10:00:00Z', "  \
    "labels: {karpenter.sh/nodepool: p}}\n"                                                        \
    "spec: {expireAfter: " expires ", requirements: []}\n"                                         \
    "status: {nodeName: " name ", providerID: 'kwok://" name "'}\n"

static const char bare_yaml[] =
    NODE("bare", "") NODE("part", "") NODE("held", "")
    NODE("going", "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n")
    POD("running", "1", BOUND("part"), "") POD("large", "3", "", WAITS) POD("small", "1", "", WAITS)
    POD("picky", "1", "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 1, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]}}\n", WAITS);
static const char bought_yaml[] = BOUGHT("cheap", "spot", "Never") BOUGHT("dear", "on-demand", "Never")
    BOUGHT("soon", "spot", "2h") BOUGHT("late", "spot", "25h");

static void open_all(struct cluster *c)
{
    char yaml[sizeof(bare_yaml) + sizeof(bought_yaml)];
    snprintf(yaml, sizeof(yaml), "%s%s", bare_yaml, bought_yaml);
    cluster_open_priced(c, yaml);
    cluster_place(c, "large", "held");
}

/* As kube-scheduler counts it: who is not in the answer has 0. */
static int64_t score_of(json_t *list, const char *node)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(entry, "Host")), node) == 0)
            return json_integer_value(json_object_get(entry, "Score"));
    }
    return 0;
}

#define IN_SIGHT "bare part held cheap dear soon late"
#define ALL IN_SIGHT " going new"

/* The caller's reference. */
static json_t *scores(struct cluster *c, const char *pod, const char *names)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    ask_put_args(&body, pod, NULL, names);
    assert_true(extender_prioritize(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err));
    json_t *list = ask_parsed(&reply);
    buf_release(&body);
    buf_release(&reply);
    return list;
}

static void test_prioritize_packs(void **state)
{
    (void)state;
    static const struct {
        const char *label, *better, *worse;
    } rows[] = {
        {"the fuller", "part", "bare"},
        {"what is held counts as taken", "held", "part"},
        {"the cheaper to keep", "cheap", "dear"},
        {"what expires later", "late", "soon"},
    };
    struct cluster c;
    open_all(&c);
    assert_true(time_parse(SPAN("2026-10-10T11:00:00Z"), &c.view.wall));
    json_t *list = scores(&c, "small", ALL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t better = score_of(list, rows[i].better), worse = score_of(list, rows[i].worse);
        if (better <= worse || better > SCORE_MAX || worse < 0)
            fail_msg("%s: %s has %d, %s has %d", rows[i].label, rows[i].better, (int)better,
                     rows[i].worse, (int)worse);
    }
    assert_int_equal(json_array_size(list), 7); /* a node about to go and one not in sight have none */
    assert_int_equal(score_of(list, "going"), 0);
    assert_int_equal(score_of(list, "new"), 0);
    assert_int_equal(score_of(list, "late"), score_of(list, "cheap")); /* more than a day is enough */
    json_decref(list);
    cluster_close(&c);
}

/* kube-scheduler adds its own scores for what a pod prefers: they decide. */
static void test_preferences_come_first(void **state)
{
    (void)state;
    struct cluster c;
    open_all(&c);
    json_t *plain = scores(&c, "small", ALL), *picky = scores(&c, "picky", ALL);
    assert_true(score_of(plain, "held") > 2);
    for (size_t i = 0; i < json_array_size(picky); i++)
        assert_in_range(json_integer_value(json_object_get(json_array_get(picky, i), "Score")), 0, 2);
    assert_true(score_of(picky, "held") > score_of(picky, "bare")); /* of equal ones the fuller still */
    json_decref(plain);
    json_decref(picky);
    cluster_close(&c);
}

/* What all have in common is left out, and who has no more is not named: kube-scheduler takes the highest sum. */
static void test_only_differences_are_told(void **state)
{
    (void)state;
    static const char *const nodes[] = {"bare", "part", "held", "cheap", "dear", "soon", "late"};
    static const char *const pods[] = {"small", "picky"};
    struct cluster c;
    open_all(&c);
    assert_true(time_parse(SPAN("2026-10-10T11:00:00Z"), &c.view.wall));
    for (size_t p = 0; p < COUNT_OF(pods); p++) {
        json_t *whole = scores(&c, pods[p], ALL), *apart = scores(&c, pods[p], IN_SIGHT);
        int64_t common = score_of(whole, "bare") - score_of(apart, "bare");
        size_t named = 0;
        assert_true(score_of(whole, "part") > 0); /* more than those have that are not scored */
        for (size_t i = 0; i < COUNT_OF(nodes); i++) {
            assert_int_equal(score_of(whole, nodes[i]) - score_of(apart, nodes[i]), common);
            named += score_of(apart, nodes[i]) != 0;
        }
        assert_int_equal(json_array_size(apart), named);
        assert_true(named != 0 && named < COUNT_OF(nodes));
        json_decref(whole);
        json_decref(apart);
    }
    json_t *alike = scores(&c, "small", "bare part bare");
    assert_int_equal(json_array_size(alike), 1);
    json_decref(alike);
    alike = scores(&c, "small", "bare");
    assert_int_equal(json_array_size(alike), 0);
    json_decref(alike);
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prioritize_packs),
        cmocka_unit_test(test_preferences_come_first),
        cmocka_unit_test(test_only_differences_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
