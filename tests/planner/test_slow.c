/* No input makes the planner slow: what one tenant can create costs steps in proportion to its size, and
 * `stop` ends a plan wherever it is. Times are measured by `./dev bench adversarial`. */
#include "planner/columns.h"
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POD                                                                                        \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%05u, labels: {app: web}}\n"                \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n"

#define SPREAD(key_)                                                                               \
    "  - {maxSkew: 1, topologyKey: " key_ ", whenUnsatisfiable: DoNotSchedule, "                   \
    "labelSelector: {matchLabels: {app: web}}}\n"

#define APART(key_)                                                                                \
    "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "              \
    "[{topologyKey: " key_ ", labelSelector: {matchLabels: {app: web}}}]}}\n"

/* A pool with so many custom labels of so many values each. */
static void start(struct cluster *c, unsigned keys, unsigned values)
{
    struct buf b = {0};
    cluster_init(c);
    cluster_types_c1(c, 5);
    buf_addf(&b, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: "
                 "{spec: {requirements: [");
    for (unsigned k = 0; k < keys; k++) {
        buf_addf(&b, "%s{key: example.com/k%u, operator: In, values: [", k != 0 ? ", " : "", k);
        for (unsigned v = 0; v < values; v++)
            buf_addf(&b, "%sv%u", v != 0 ? ", " : "", v);
        buf_addf(&b, "]}");
    }
    buf_addf(&b, "]}}}\n");
    cluster_add(c, b.ptr);
    buf_release(&b);
}

static void add_pods(struct cluster *c, unsigned count, const char *rest)
{
    struct buf b = {0};
    for (unsigned i = 0; i < count; i++) {
        buf_addf(&b, POD, i);
        buf_add(&b, span_of(rest));
    }
    cluster_add(c, b.ptr);
    buf_release(&b);
}

static const char three_keys[] = "  topologySpreadConstraints:\n" SPREAD("example.com/k0")
    SPREAD("example.com/k1") SPREAD("example.com/k2") APART("topology.kubernetes.io/zone");

/* There are 64,000 ways to choose three labels, and none of them makes a fourth zone. */
static void labels_do_not_multiply(void **state)
{
    struct cluster c;
    (void)state;
    start(&c, 3, 40);
    add_pods(&c, 4, three_keys);
    const struct plan *p = cluster_plan_unchecked(&c);
    assert_int_equal(p->claim_count, 3);
    assert_int_equal(p->unschedulable_count, 1);
    assert_true(p->complete);
    assert_true(p->steps < 500);
    cluster_release(&c);
}

static uint64_t steps_apart(unsigned pods)
{
    struct cluster c;
    start(&c, 0, 0);
    add_pods(&c, pods, APART("kubernetes.io/hostname"));
    const struct plan *p = cluster_plan_unchecked(&c);
    assert_int_equal(p->claim_count, pods);
    uint64_t steps = p->steps;
    cluster_release(&c);
    return steps;
}

static void pods_apart_are_linear(void **state)
{
    (void)state;
    assert_true(steps_apart(2000) <= 2 * steps_apart(1000) + 64);
}

/* A pod that prefers so many labels that nobody has. */
static uint64_t steps_preferring(unsigned count)
{
    struct cluster c;
    struct buf b = {0};
    start(&c, 0, 0);
    buf_addf(&b, "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [");
    for (unsigned i = 0; i < count; i++)
        buf_addf(&b, "%s{weight: %u, preference: {matchExpressions: [{key: example.com/none, operator: In, "
                     "values: [v%u]}]}}", i != 0 ? ", " : "", 1 + i % 100, i);
    buf_addf(&b, "]}}\n");
    add_pods(&c, 1, b.ptr);
    buf_release(&b);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 1);
    uint64_t steps = p->steps;
    cluster_release(&c);
    return steps;
}

static void preferences_are_given_up_together(void **state)
{
    (void)state;
    assert_true(steps_preferring(31) > steps_preferring(30)); /* as long as they are few, one by one */
    assert_true(steps_preferring(1000) <= steps_preferring(31) + 2);
}

/* Each of 400 terms would be stated with 400 labels; the other pod does not wait for it. */
static void who_states_too_much_is_left_out(void **state)
{
    struct cluster c;
    struct buf b = {0};
    (void)state;
    start(&c, 0, 0);
    add_pods(&c, 1, "");
    buf_addf(&b, POD "  nodeSelector: {", 7);
    for (unsigned i = 0; i < 400; i++)
        buf_addf(&b, "%sl%u: x", i != 0 ? ", " : "", i);
    buf_addf(&b, "}\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                 "{nodeSelectorTerms: [");
    for (unsigned i = 0; i < 400; i++)
        buf_addf(&b, "%s{matchExpressions: [{key: t%u, operator: Exists}]}", i != 0 ? ", " : "", i);
    buf_addf(&b, "]}}}\n");
    cluster_add(&c, b.ptr);
    buf_release(&b);
    const struct plan *p = cluster_plan_unchecked(&c);
    assert_int_equal(p->claim_count, 1);
    assert_int_equal(p->unschedulable_count, 1);
    assert_int_equal(p->unschedulable[0].reason, UNSCHEDULABLE_IGNORED);
    assert_non_null(strstr(p->unschedulable[0].why.sentence.ptr, "more than is planned for"));
    const struct pod *pod = p->unschedulable[0].pod;
    assert_true(world_class_of(c.world, pod) >= 0);
    assert_int_equal(classes_find(&c.world->classes, pod), world_class_of(c.world, pod));
    cluster_release(&c);
}

static bool at_once(void *user)
{
    ++*(unsigned *)user;
    return true;
}

/* In the middle of one question. */
static bool at_second(void *user)
{
    return ++*(unsigned *)user == 2;
}

static void stops_at_once(void **state)
{
    struct cluster c;
    unsigned asked = 0;
    (void)state;
    start(&c, 3, 40);
    add_pods(&c, 4, three_keys);
    c.plan_options.stop = at_once;
    c.plan_options.user = &asked;
    const struct plan *p = cluster_plan_unchecked(&c);
    assert_false(p->complete);
    assert_int_equal(p->claim_count, 0);
    assert_int_equal(p->unschedulable_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(p->unschedulable[i].reason, UNSCHEDULABLE_NOT_REACHED);
    assert_int_equal(asked, 1);
    cluster_release(&c);
}

/* What was placed before stays, and the rest is said not to have been looked at. */
static void stops_within_a_pass(void **state)
{
    struct cluster c;
    unsigned asked = 0;
    (void)state;
    start(&c, 0, 0);
    add_pods(&c, 200, APART("kubernetes.io/hostname"));
    c.plan_options.stop = at_second;
    c.plan_options.user = &asked;
    const struct plan *p = cluster_plan_unchecked(&c);
    assert_false(p->complete);
    assert_int_equal(asked, 2);
    assert_true(p->claim_count > 0 && p->claim_count < 200);
    assert_int_equal(p->claim_count + p->unschedulable_count, 200);
    assert_int_equal(p->unschedulable[0].reason, UNSCHEDULABLE_NOT_REACHED);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_do_not_multiply),
        cmocka_unit_test(pods_apart_are_linear),
        cmocka_unit_test(preferences_are_given_up_together),
        cmocka_unit_test(who_states_too_much_is_left_out),
        cmocka_unit_test(stops_at_once),
        cmocka_unit_test(stops_within_a_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
