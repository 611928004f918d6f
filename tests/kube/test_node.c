/* What NodePools' own annotations say, and which pods a Node lets in. */
#include "kube/node.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "kube/kind.h"
#include "kube/pod.h"

#define ANNOTATED(key, text) {.meta = {.annotations = {&(struct annotation){key, span_of(text)}, 1}}}

static void test_min_savings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fine;
        double share, per_hour;
        span_ms payback;
    } rows[] = {
        {"10%", true, 0.1, 0, INT64_MAX},
        {"0%", true, 0, 0, INT64_MAX},
        {"100%", true, 1, 0, INT64_MAX},
        {"101%", false, 0, 0, 0},
        {"%", false, 0, 0, 0},
        {"-1%", false, 0, 0, 0},
        {"0.05", true, 0, 0.05, INT64_MAX},
        {"2", true, 0, 2, INT64_MAX},
        {"1.2.3", false, 0, 0, 0},
        {".5", false, 0, 0, 0},
        {"5.", false, 0, 0, 0},
        {"123456789012345", true, 0, 123456789012345, INT64_MAX},
        {"1234567890123456", false, 0, 0, 0},
        {"24h", true, 0, 0, 24 * MS_HOUR},
        {"0s", true, 0, 0, 0},
        {"-1h", false, 0, 0, 0},
        {"", false, 0, 0, 0},
        {"much", false, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct node_pool p = ANNOTATED(SYM_MIN_SAVINGS, rows[i].text);
        struct min_savings m;
        bool fine = node_pool_min_savings(&p, &m);
        if (fine != rows[i].fine || (fine && (fabs(m.share - rows[i].share) > 1e-9 || fabs(m.per_hour - rows[i].per_hour) > 1e-9 ||
                                              m.payback != rows[i].payback)))
            fail_msg("\"%s\": %s, %f, %f, %lld", rows[i].text, fine ? "fine" : "refused", m.share, m.per_hour, (long long)m.payback);
    }
    struct min_savings none;
    assert_true(node_pool_min_savings(&(struct node_pool){.weight = 0}, &none));
    assert_true(none.share <= 0 && none.per_hour <= 0 && none.payback == INT64_MAX);
}

static void test_cost_and_daemon_room(void **state)
{
    (void)state;
    double cost;
    bool room;
    struct node_pool bare = {.weight = 0}, dear = ANNOTATED(SYM_NODE_COST, "0.5"), wrong = ANNOTATED(SYM_NODE_COST, "0,5"),
                     on = ANNOTATED(SYM_DAEMON_ROOM, "true"), off = ANNOTATED(SYM_DAEMON_ROOM, "false"),
                     odd = ANNOTATED(SYM_DAEMON_ROOM, "yes");
    assert_true(node_pool_cost(&bare, &cost) && cost <= 0);
    assert_true(node_pool_cost(&dear, &cost) && fabs(cost - 0.5) < 1e-9);
    assert_false(node_pool_cost(&wrong, &cost));
    assert_true(node_pool_daemon_room(&bare, &room) && !room);
    assert_true(node_pool_daemon_room(&on, &room) && room);
    assert_true(node_pool_daemon_room(&off, &room) && !room);
    assert_false(node_pool_daemon_room(&odd, &room));
}

static struct condition is_ready = {.type = SPAN_INIT("Ready"), .status = CONDITION_TRUE},
                        is_not = {.type = SPAN_INIT("Ready"), .status = CONDITION_FALSE};
static struct taint prefers = {.key = SYM_DISRUPTED, .effect = TAINT_PREFER_NO_SCHEDULE},
                    hard = {.key = SYM_DISRUPTED, .effect = TAINT_NO_SCHEDULE},
                    evicts = {.key = SYM_DISRUPTED, .effect = TAINT_NO_EXECUTE},
                    starts = {.key = SYM_NOT_READY, .effect = TAINT_NO_SCHEDULE};
static struct resource four[] = {{SYM_CPU, 4000}, {SYM_MEMORY, 1024}}, three[] = {{SYM_CPU, 3000}, {SYM_MEMORY, 1024}};
#define READY_NODE .conditions = {&is_ready, 1}, .allocatable = {four, 2}

static void test_lets_in(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct node node;
        bool lets, lets_tolerant;
    } rows[] = {
        {"ready", {READY_NODE}, true, true},
        {"not ready", {.conditions = {&is_not, 1}, .allocatable = {four, 2}}, false, false},
        {"no conditions", {.allocatable = {four, 2}}, false, false},
        {"terminating", {READY_NODE, .meta = {.deleted = 1}}, false, false},
        {"cordoned", {READY_NODE, .unschedulable = true}, false, false},
        {"exactly as much as it asks for", {READY_NODE}, true, true},
        {"too small", {.conditions = {&is_ready, 1}, .allocatable = {three, 2}}, false, false},
        {"a taint that is only preferred", {READY_NODE, .taints = {&prefers, 1}}, true, true},
        {"a taint", {READY_NODE, .taints = {&hard, 1}}, false, true},
        {"a taint that evicts", {READY_NODE, .taints = {&evicts, 1}}, false, true},
        {"the taint of a node that was not ready", {READY_NODE, .taints = {&starts, 1}}, true, true},
    };
    static struct toleration all = {.op = TOLERATION_EXISTS};
    const struct pod pod = {.requests = {four, 2}}, tolerant = {.requests = {four, 2}, .tolerations = {&all, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (node_lets_in(&rows[i].node, &pod, NULL) != rows[i].lets)
            fail_msg("%s: want %d", rows[i].label, rows[i].lets);
        if (node_lets_in(&rows[i].node, &tolerant, NULL) != rows[i].lets_tolerant)
            fail_msg("%s, of a pod that tolerates all: want %d", rows[i].label, rows[i].lets_tolerant);
    }
}

static void test_ephemeral_taints(void **state)
{
    (void)state;
    struct symtab *syms = kube_symtab_new();
    sym readiness = sym_intern(syms, SPAN("readiness.k8s.io/cni")), other = sym_intern(syms, SPAN("example.com/x"));
    const struct {
        struct taint taint;
        bool ephemeral;
    } rows[] = {
        {{.key = SYM_NOT_READY, .effect = TAINT_NO_SCHEDULE}, true},
        {{.key = SYM_NOT_READY, .effect = TAINT_NO_EXECUTE}, true},
        {{.key = SYM_NOT_READY, .effect = TAINT_PREFER_NO_SCHEDULE}, false},
        {{.key = SYM_UNREACHABLE, .effect = TAINT_NO_SCHEDULE}, true},
        {{.key = SYM_UNREACHABLE, .effect = TAINT_NO_EXECUTE}, false},
        {{.key = SYM_CLOUD_UNINITIALIZED, .effect = TAINT_NO_SCHEDULE}, true},
        {{.key = SYM_CLOUD_UNINITIALIZED, .effect = TAINT_NO_EXECUTE}, false},
        {{.key = SYM_UNREGISTERED, .effect = TAINT_NO_EXECUTE}, true},
        {{.key = SYM_UNREGISTERED, .effect = TAINT_NO_SCHEDULE}, false},
        {{.key = readiness, .effect = TAINT_NO_SCHEDULE}, true},
        {{.key = other, .effect = TAINT_NO_SCHEDULE}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (taint_is_ephemeral(&rows[i].taint, syms) != rows[i].ephemeral)
            fail_msg("row %zu: want %d", i, rows[i].ephemeral);
    symtab_unref(syms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_savings),
        cmocka_unit_test(test_cost_and_daemon_room),
        cmocka_unit_test(test_lets_in),
        cmocka_unit_test(test_ephemeral_taints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
