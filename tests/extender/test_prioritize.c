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

static int64_t score_of(json_t *list, const char *node)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(entry, "Host")), node) == 0)
            return json_integer_value(json_object_get(entry, "Score"));
    }
    return -1;
}

/* Of all nodes at once; the caller's reference. */
static json_t *scores(struct cluster *c, const char *pod)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    ask_put_args(&body, pod, NULL, "bare part held going new cheap dear soon late");
    assert_true(extender_prioritize(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err));
    json_t *list = ask_parsed(&reply);
    assert_int_equal(json_array_size(list), 7); /* a node about to go and one not in sight have none */
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
    json_t *list = scores(&c, "small");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t better = score_of(list, rows[i].better), worse = score_of(list, rows[i].worse);
        if (better <= worse || better > SCORE_MAX || worse < 0)
            fail_msg("%s: %s has %d, %s has %d", rows[i].label, rows[i].better, (int)better,
                     rows[i].worse, (int)worse);
    }
    assert_int_equal(score_of(list, "going"), -1);
    assert_int_equal(score_of(list, "new"), -1);
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
    json_t *plain = scores(&c, "small"), *picky = scores(&c, "picky");
    assert_true(score_of(plain, "held") > 2);
    for (size_t i = 0; i < json_array_size(picky); i++)
        assert_in_range(json_integer_value(json_object_get(json_array_get(picky, i), "Score")), 0, 2);
    assert_true(score_of(picky, "held") > score_of(picky, "bare")); /* of equal ones the fuller still */
    json_decref(plain);
    json_decref(picky);
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prioritize_packs),
        cmocka_unit_test(test_preferences_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
