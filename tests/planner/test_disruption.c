/* What the methods decide (spec disruption 1 and 8, scenarios by their numbers): commands and notes as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define ZERO D_POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"0\"}]", "", "")
#define BUDGET(name_, nodes_) D_POOL(name_, "consolidateAfter: 0s, budgets: [{nodes: \"" nodes_ "\"}]", "", "")
#define NO_BUDGET(pool_, reason_)                                                                  \
    "DisruptionBlocked pool/" pool_ ": No allowed disruptions for disruption reason " reason_ " due to blocking budget\n"
#define PRICED(name_, type_, conditions_) D_NODE_OF(name_, "default", type_, D_PLACE, "", "", "", conditions_, D_READY)
#define IN_POOL(name_, pool_, conditions_)                                                         \
    D_NODE_OF(name_, pool_, "default-instance-type", D_PLACE, "", "", "", conditions_, D_READY)
#define COMING(name_)                                                                              \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                   \
    ", labels: {karpenter.sh/nodepool: default}}\nspec: {requirements: []}\n"

struct decided {
    const char *label;
    const char *objects[8];
    const char *commands, *notes;
    const char *nominated, *buffered, *queued;
    bool all;
};

static void hold(const struct decided *row)
{
    struct deciding x;
    deciding_init(&x, NULL);
    for (size_t i = 0; i < COUNT_OF(row->objects) && row->objects[i] != NULL; i++)
        cluster_add(&x.c, row->objects[i]);
    x.nominated[0] = row->nominated;
    x.buffered[0] = row->buffered;
    x.queued[0] = row->queued;
    x.o.all = row->all;
    struct span commands = deciding_commands(&x), notes = deciding_notes(&x);
    if (!span_eq(commands, span_of(row->commands)) || !span_eq(notes, span_of(row->notes)))
        fail_msg("%s: got\n%.*s%.*swant\n%s%s", row->label, SPAN_ARG(commands), SPAN_ARG(notes), row->commands,
                 row->notes);
    assert_true(x.d->complete);
    deciding_release(&x);
}

#define HOLD_ALL(rows_)                                                                            \
    for (size_t i_ = 0; i_ < COUNT_OF(rows_); i_++)                                                \
    hold(&(rows_)[i_])

static void emptiness(void **state)
{
    (void)state;
    static const struct decided rows[] = {
        {"nothing at all", {D_ANY}, "", "", .all = false},
        {"61: DaemonSet pods alone", {D_ANY, D_NODE("n1", D_EMPTY), D_POD("a", "n1", "1", D_OWNER("DaemonSet"))},
         "Emptiness delete n1\n", "", .all = false},
        {"62: a pod that is ending",
         {D_ANY, D_NODE("n1", D_EMPTY),
          D_POD("a", "n1", "1", D_OWNER("ReplicaSet") "deletionTimestamp: \"2026-01-01T11:59:00Z\", ")},
         "Emptiness delete n1\n", "", .all = false},
        {"63: Consolidatable is absent", {D_ANY, D_NODE("n1", "")}, "", "", .all = false},
        {"64: with policy WhenEmpty too",
         {D_POOL("default", "consolidateAfter: 0s, consolidationPolicy: WhenEmpty, budgets: [{nodes: \"100%\"}]", "", ""),
          D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY), D_POD("a", "n2", "4", "")},
         "Emptiness delete n1\n", "", .all = false},
        {"65: never", {D_POOL("default", "consolidateAfter: Never", "", ""), D_NODE("n1", D_EMPTY)}, "",
         "Unconsolidatable n1: NodePool \"default\" has consolidation disabled\n", .all = false},
        {"66: one command for two pools",
         {D_ANY, BUDGET("other", "1"), D_NODE("n1", D_EMPTY), IN_POOL("n2", "other", D_EMPTY)},
         "Emptiness delete n1 n2\n", "", .all = false},
        {"71: capacity buffers", {D_ANY, D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\n",
         "Unconsolidatable n1: Node has buffer pods\n", .buffered = "n1"},
        {"72: a static pool",
         {D_POOL("default", "budgets: [{nodes: \"100%\"}]", "replicas: 1, ", ""), D_NODE("n1", D_EMPTY)}, "", "",
         .all = false},
        {"57: no budget", {ZERO, D_NODE("n1", D_EMPTY)}, "", NO_BUDGET("default", "Empty"), .all = false},
        {"57: another pool acts",
         {ZERO, BUDGET("other", "100%"), D_NODE("n1", D_EMPTY), IN_POOL("n2", "other", D_EMPTY)},
         "Emptiness delete n2\n", NO_BUDGET("default", "Empty"), .all = false},
        {"58: as many as the budget lets go, the dearest first",
         {BUDGET("default", "2"), D_NODE("n1", D_EMPTY), PRICED("n2", "arm-instance-type", D_EMPTY),
          PRICED("n3", "small-instance-type", D_EMPTY), PRICED("n4", "nothing-known", D_EMPTY)},
         "Emptiness delete n2 n1\n", "", .all = false},
        {"14: a nominated one", {D_ANY, D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\n",
         "DisruptionBlocked n1: Node is nominated for a pending pod\n", .nominated = "n1"},
        {"one that a command has, silently, and it takes from the budget",
         {BUDGET("default", "2"), D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY), D_NODE("n3", D_EMPTY)},
         "Emptiness delete n2\n", "", .queued = "n1"},
        {"a reason is told once, whoever asks", {D_ANY, COMING("n1")}, "",
         "DisruptionBlocked n1: Nodeclaim does not have an associated node\n", .all = true},
    };
    HOLD_ALL(rows);
}

static void a_budget_that_holds_somebody_back_is_known(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, BUDGET("default", "1") D_NODE("n1", D_EMPTY) D_NODE("n2", D_EMPTY));
    deciding_commands(&x);
    assert_int_equal(x.d->constrained, 1 << METHOD_EMPTINESS);
    deciding_release(&x);
    deciding_init(&x, D_ANY D_NODE("n1", D_EMPTY) D_NODE("n2", D_EMPTY));
    deciding_commands(&x);
    assert_int_equal(x.d->constrained, 0);
    deciding_release(&x);
}

/* What an empty node costs is saved; what its pool says that a node costs beside its price too. */
static void what_is_saved(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, D_ANY D_NODE("n1", D_EMPTY) D_POD("a", "n1", "1", D_OWNER("DaemonSet")));
    deciding_commands(&x);
    double price = world_node_at(x.c.world, deciding_row(&x, "n1"))->price;
    assert_true(price > 0);
    assert_true(x.d->commands[0].savings == price);
    assert_true(x.d->commands[0].cost == 708.0 / 720); /* a twelfth hour of thirty days is over */
    deciding_release(&x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(emptiness),
        cmocka_unit_test(a_budget_that_holds_somebody_back_is_known),
        cmocka_unit_test(what_is_saved),
    };
    return cmocka_run_group_tests_name("disruption", tests, NULL, NULL);
}
