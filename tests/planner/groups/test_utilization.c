/* How much of a node is used (spec node-groups 4.3, scenarios 116 to 120). */
#include "planner/groups/down/utilization.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { GPU = 10000, NOON = 1000000000 };

enum sort { PLAIN, DAEMON, MIRROR, OVERDUE, ENDING };

static struct owner daemon_set = {.kind = SYM_KIND_DAEMON_SET, .controller = true};
static struct annotation mirror = {SYM_MIRROR, SPAN_INIT("x")};

static const struct {
    const char *label;
    amount cpu, memory, gpus; /* of the node; below 0: does not say */
    struct {
        amount cpu, memory, gpus;
        enum sort sort;
    } pods[3];
    bool is_gpu_node, ignore_daemons, ignore_mirrors;
    double want; /* NAN: nothing can be said */
} rows[] = {
    {"empty", 4000, 100, -1, {{0}}, false, false, false, 0},
    {"116: half", 4000, 100, -1, {{1000, 20, 0, PLAIN}, {1000, 30, 0, PLAIN}}, false, false, false, 0.5},
    {"117: memory is the greater", 1000, 100, -1, {{100, 60, 0, PLAIN}}, false, false, false, 0.6},
    {"118: GPUs alone count", 1000, 100, 4, {{900, 100, 0, PLAIN}}, true, false, false, 0},
    {"118: one of four", 1000, 100, 4, {{100, 10, 1, PLAIN}}, true, false, false, 0.25},
    {"119: no GPU there yet", 1000, 100, 0, {{900, 10, 1, PLAIN}}, true, false, false, 0},
    {"119: nor told of", 1000, 100, -1, {{900, 10, 1, PLAIN}}, true, false, false, 0},
    {"120: DaemonSets count", 1000, 1000, -1, {{400, 0, 0, DAEMON}, {150, 0, 0, PLAIN}}, false, false, false, 0.55},
    {"120: are ignored", 1000, 1000, -1, {{400, 0, 0, DAEMON}, {150, 0, 0, PLAIN}}, false, true, false, 0.25},
    {"120: mirror pods are not DaemonSets'", 1000, 1000, -1, {{400, 0, 0, MIRROR}, {150, 0, 0, PLAIN}}, false, true, false,
     0.55},
    {"mirror pods are ignored", 1000, 1000, -1, {{400, 0, 0, MIRROR}, {150, 0, 0, PLAIN}}, false, false, true, 0.25},
    {"ignored pods take all", 1000, 1000, -1, {{1000, 0, 0, DAEMON}}, false, true, false, 0},
    {"and more is asked for", 1000, 1000, -1, {{1000, 0, 0, DAEMON}, {1, 0, 0, PLAIN}}, false, true, false, 1e9},
    {"long ended", 1000, 1000, -1, {{400, 0, 0, OVERDUE}, {150, 0, 0, PLAIN}}, false, false, false, 0.15},
    {"ending", 1000, 1000, -1, {{400, 0, 0, ENDING}, {150, 0, 0, PLAIN}}, false, false, false, 0.55},
    {"no CPU", 0, 1000, -1, {{0}}, false, false, false, NAN},
    {"no memory told", 1000, -1, -1, {{0}}, false, false, false, NAN},
    {"more than can be counted", 1000, INT64_MAX, -1, {{0, INT64_MAX, 0, PLAIN}, {0, INT64_MAX, 0, PLAIN}}, false, false,
     false, 1},
};

static struct resources amounts(struct resource *items, amount cpu, amount memory, amount gpus)
{
    struct resource all[] = {{SYM_CPU, cpu}, {SYM_MEMORY, memory}, {GPU, gpus}};
    struct resources out = {items, 0};
    for (size_t i = 0; i < 3; i++)
        if (all[i].value >= 0)
            items[out.count++] = all[i];
    return out;
}

static void make(struct pod *p, struct resource *items, size_t row, size_t i)
{
    enum sort sort = rows[row].pods[i].sort;
    *p = (struct pod){.requests = amounts(items, rows[row].pods[i].cpu, rows[row].pods[i].memory, rows[row].pods[i].gpus)};
    if (sort == DAEMON)
        p->meta.owners = (struct owners){&daemon_set, 1};
    if (sort == MIRROR)
        p->meta.annotations = (struct annotations){&mirror, 1};
    if (sort == OVERDUE || sort == ENDING)
        p->meta.deleted = NOON - 60000 - (sort == OVERDUE);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        struct resource node_items[3], pod_items[3][3];
        struct pod pods[3];
        const struct pod *list[3] = {&pods[0], &pods[1], &pods[2]};
        struct node n = {.allocatable = amounts(node_items, rows[row].cpu, rows[row].memory, rows[row].gpus)};
        struct utilization_policy policy = {rows[row].ignore_daemons, rows[row].ignore_mirrors, NOON};
        double got;
        for (size_t i = 0; i < 3; i++)
            make(&pods[i], pod_items[i], row, i);
        bool said = utilization_of(&policy, &n, rows[row].is_gpu_node ? GPU : SYM_NONE, list, 3, &got);
        if (said == (isnan(rows[row].want) != 0) || (said && fabs(got - rows[row].want) > 1e-12))
            fail_msg("%s: %f", rows[row].label, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
