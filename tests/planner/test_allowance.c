/* How many nodes of a pool may be disrupted now (spec disruption 5, scenarios 46 to 59 and 290). */
#include "planner/disruption/allowance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define POOL(budgets_) D_POOL("default", "consolidateAfter: 0s" budgets_, "", "")
#define BUDGET(text_) POOL(", budgets: [{nodes: \"" text_ "\"}]")
#define UNREADY "{type: Ready, status: \"False\"}"

/* Of ten nodes the first so many are … */
struct fleet {
    int nodes, unready, deleted, terminating, rebooting, uninitialized, queued;
};

static void add_node(struct cluster *c, int number, const struct fleet *f)
{
    char text[4000];
    int unready = f->unready, deleted = unready + f->deleted, terminating = deleted + f->terminating;
    int rebooting = terminating + f->rebooting, coming = rebooting + f->uninitialized;
    snprintf(text, sizeof(text),
             "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n%02d, %slabels: "
             "{karpenter.sh/nodepool: default}}\nspec: {requirements: []}\nstatus: {providerID: \"x://%d\", conditions: [%s]}\n"
             "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%02d, labels: {karpenter.sh/nodepool: default, "
             "karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"%s\"}}\nspec: {providerID: \"x://%d\"}\n"
             "status: {conditions: [%s]}\n",
             number, number >= unready && number < deleted ? "deletionTimestamp: \"2026-01-01T11:59:00Z\", " : "",
             number,
             number >= deleted && number < terminating      ? D_TRUE("InstanceTerminating")
             : number >= terminating && number < rebooting ? D_TRUE("Rebooting")
                                                           : "",
             number, number >= terminating && number < coming ? "false" : "true", number,
             number < unready ? UNREADY : D_READY);
    cluster_add(c, text);
}

static const struct {
    const char *label, *pool;
    struct fleet fleet;
    int want[REASON_COUNT]; /* Empty, Underutilized, Drifted, Unhealthy */
} rows[] = {
    {"46: a tenth of ten", BUDGET("10%"), {.nodes = 10}, {1, 1, 1, 1}},
    {"46: a tenth of one, rounded up", BUDGET("10%"), {.nodes = 1}, {1, 1, 1, 1}},
    {"46: of none", BUDGET("10%"), {.nodes = 0}, {0, 0, 0, 0}},
    {"47: who is not ready counts, but for who is to repair it", BUDGET("3"), {.nodes = 10, .unready = 2}, {1, 1, 1, 3}},
    {"48: never below nothing", BUDGET("3"), {.nodes = 10, .deleted = 4}, {0, 0, 0, 0}},
    {"49: who is not initialised is no share", BUDGET("50%"), {.nodes = 15, .uninitialized = 5}, {5, 5, 5, 5}},
    {"50: nor whose machine is being terminated", BUDGET("50%"), {.nodes = 10, .terminating = 4}, {3, 3, 3, 3}},
    {"51: a budget of one reason", POOL(", budgets: [{nodes: \"5\"}, {nodes: \"1\", reasons: [Drifted]}]"),
     {.nodes = 10}, {5, 5, 1, 5}},
    {"52: none is said", D_POOL("default", "", "", ""), {.nodes = 10}, {1, 1, 1, 1}},
    {"52: there are none", POOL(", budgets: []"), {.nodes = 10}, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}},
    {"53: a broken one closes for every reason",
     POOL(", budgets: [{nodes: \"10\"}, {nodes: \"5\", reasons: [Empty], schedule: \"a b\", duration: 1h}]"),
     {.nodes = 10}, {0, 0, 0, 0}},
    {"54: a window that is open", POOL(", budgets: [{nodes: \"0\", schedule: \"0 9 * * 4\", duration: 8h}]"),
     {.nodes = 10}, {0, 0, 0, 0}},
    {"55: one that begins anew before it ends", POOL(", budgets: [{nodes: \"0\", schedule: \"0 13 * * *\", duration: 25h}]"),
     {.nodes = 10}, {0, 0, 0, 0}},
    {"56: one that is not says nothing", POOL(", budgets: [{nodes: \"0\", schedule: \"0 9 * * 5\", duration: 8h}]"),
     {.nodes = 10}, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}},
    {"290: who reboots counts for every reason, initialised or not", BUDGET("10"), {.nodes = 10, .rebooting = 2},
     {8, 8, 8, 8}},
    {"who is in a command", BUDGET("5"), {.nodes = 10, .queued = 2}, {3, 3, 3, 3}},
};

static void what_is_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        deciding_init(&x, rows[i].pool);
        for (int n = 0; n < rows[i].fleet.nodes; n++)
            add_node(&x.c, n, &rows[i].fleet);
        deciding_world(&x);
        uint64_t queued = (UINT64_C(1) << rows[i].fleet.queued) - 1;
        for (uint32_t r = 0; r < REASON_COUNT; r++) {
            struct allowances got = allowances_make(&x.c.arena, x.c.world, (enum disruption_reason)r, &queued,
                                                    x.c.plan_options.now);
            int want = rows[i].want[r];
            assert_int_equal(got.count, 1);
            if (got.items[0].left != want)
                fail_msg("%s, %.*s: got %d, want %d", rows[i].label,
                         SPAN_ARG(disruption_reason_name((enum disruption_reason)r)), got.items[0].left, want);
        }
        deciding_release(&x);
    }
}

static void each_takes_one(void **state)
{
    (void)state;
    struct allowance items[] = {{.left = 1}, {.left = 2}};
    struct allowances x = {items, 2};
    assert_true(allowances_take(&x, 0));
    assert_false(allowances_take(&x, 0));
    assert_true(allowances_take(&x, 1));
    assert_true(allowances_take(&x, 1));
    assert_false(allowances_take(&x, 1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left),
        cmocka_unit_test(each_takes_one),
    };
    return cmocka_run_group_tests_name("allowance", tests, NULL, NULL);
}
