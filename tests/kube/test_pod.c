#include "kube/pod.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { START = 1000000 };

static struct owner daemon_owner = {.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_DAEMON_SET};
static struct owner node_owner = {.api_version = SYM_API_V1, .kind = SYM_KIND_NODE};
static struct owner replica_owner = {.api_version = SYM_API_APPS_V1, .kind = SYM_KIND_REPLICA_SET};
static struct owner stateful_owner = {.api_version = SYM_API_APPS_V1,
                                      .kind = SYM_KIND_STATEFUL_SET};
static struct toleration tolerates_all = {.op = TOLERATION_EXISTS};
static struct annotation stays = {SYM_DO_NOT_DISRUPT, SPAN_INIT("true")};

#define OWNED(o) .meta = {.owners = {&(o), 1}}

static const struct {
    const char *label;
    struct pod pod;
    bool pending, reschedulable, evictable;
} rows[] = {
    {"unschedulable", {.unschedulable = true}, true, true, true},
    {"never seen by a scheduler", {.node = SYM_NONE}, false, true, true},
    {"bound", {.unschedulable = true, .node = 1}, false, true, true},
    {"preempting", {.unschedulable = true, .nominated_node = 1}, false, true, true},
    {"nominated by us", {.unschedulable = true, .nominated_node = 1, .meta = {.wrote_status = true}}, true, true, true},
    {"of a DaemonSet", {.unschedulable = true, OWNED(daemon_owner)}, false, false, true},
    {"mirror pod", {.unschedulable = true, OWNED(node_owner)}, false, false, false},
    {"of a ReplicaSet", {.unschedulable = true, OWNED(replica_owner)}, true, true, true},
    {"terminating", {.unschedulable = true, .meta = {.deleted = 1}}, true, false, false},
    {"terminating, of a StatefulSet",
     {.unschedulable = true, .meta = {.deleted = 1, .owners = {&stateful_owner, 1}}},
     true,
     true,
     false},
    {"failed", {.node = 1, .phase = POD_FAILED}, false, false, false},
    {"succeeded", {.node = 1, .phase = POD_SUCCEEDED}, false, false, false},
    {"tolerates everything", {.node = 1, .tolerations = {&tolerates_all, 1}}, false, true, false},
    {"do not disrupt", {.node = 1, .meta = {.annotations = {&stays, 1}}}, false, true, false},
};

static void test_predicates(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct pod *p = &rows[i].pod;
        if (pod_is_pending(p) != rows[i].pending)
            fail_msg("%s: pending, want %d", rows[i].label, rows[i].pending);
        if (pod_is_reschedulable(p) != rows[i].reschedulable)
            fail_msg("%s: reschedulable, want %d", rows[i].label, rows[i].reschedulable);
        if (pod_is_evictable(p, START) != rows[i].evictable)
            fail_msg("%s: evictable, want %d", rows[i].label, rows[i].evictable);
    }
    assert_true(pod_is_daemon(&(struct pod){OWNED(daemon_owner)}));
    assert_true(pod_is_static(&(struct pod){OWNED(node_owner)}));
    assert_false(pod_is_static(&(struct pod){OWNED(replica_owner)}));
}

/* Which pods no scheduler has looked at yet. */
static void test_unseen(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct pod pod;
        bool unseen;
    } at[] = {
        {"new", {.node = SYM_NONE}, true},
        {"of a ReplicaSet", {OWNED(replica_owner)}, true},
        {"bound", {.node = 1}, false},
        {"nominated", {.nominated_node = 1}, false},
        {"unschedulable", {.unschedulable = true}, false},
        {"gated", {.gated = true}, false},
        {"of a DaemonSet", {OWNED(daemon_owner)}, false},
        {"mirror pod", {OWNED(node_owner)}, false},
        {"terminating", {.meta = {.deleted = 1}}, false},
        {"failed", {.phase = POD_FAILED}, false},
    };
    for (size_t i = 0; i < COUNT_OF(at); i++)
        if (pod_is_unseen(&at[i].pod) != at[i].unseen)
            fail_msg("%s: %s", at[i].label, at[i].unseen ? "seen" : "unseen");
}

static void test_same_controller(void **state)
{
    (void)state;
    static struct owner web = {.kind = SYM_KIND_REPLICA_SET, .name = SPAN_INIT("web"), .controller = true},
                        api = {.kind = SYM_KIND_REPLICA_SET, .name = SPAN_INIT("api"), .controller = true},
                        set = {.kind = SYM_KIND_STATEFUL_SET, .name = SPAN_INIT("web"), .controller = true},
                        no_controller = {.kind = SYM_KIND_REPLICA_SET, .name = SPAN_INIT("web")};
#define OF(o, namespace) {.meta = {.ns = SPAN_INIT(namespace), .owners = {&(o), 1}}}
    static const struct pod one = OF(web, "a"), twin = OF(web, "a"), other = OF(api, "a"), kind = OF(set, "a"),
                            elsewhere = OF(web, "b"), loose = OF(no_controller, "a");
    assert_true(pod_same_controller(&one, &twin));
    assert_false(pod_same_controller(&one, &other));
    assert_false(pod_same_controller(&one, &kind));
    assert_false(pod_same_controller(&one, &elsewhere));
    assert_false(pod_same_controller(&one, &loose));
    assert_false(pod_same_controller(&loose, &loose));
}

static void test_do_not_disrupt(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        wall_ms start, now;
        bool want;
    } at[] = {
        {"true", START, START, true},
        {"false", START, START, false},
        {"", START, START, false},
        {"True", START, START, false},
        {"1h", START, START + MS_HOUR - 1, true},
        {"1h", START, START + MS_HOUR, false},
        {"1h", 0, 2 * MS_HOUR, true}, /* not started yet */
        {"0s", START, START, false},
        {"-1h", START, START, false},
        {"1d", START, START, false},
        {"1.5h30m", START, START + 2 * MS_HOUR - 1, true},
    };
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        struct annotation a = {SYM_DO_NOT_DISRUPT, span_of(at[i].value)};
        struct pod p = {.meta = {.annotations = {&a, 1}}, .start_time = at[i].start};
        if (pod_do_not_disrupt(&p, at[i].now) != at[i].want)
            fail_msg("\"%s\" at %lld: want %d", at[i].value, (long long)at[i].now, at[i].want);
    }
    assert_false(pod_do_not_disrupt(&(struct pod){.node = SYM_NONE}, START));
}

static void test_keep(void **state)
{
    (void)state;
    static const struct {
        const char *value; /* NULL: no annotation */
        enum pod_keep want;
        span_ms length;
    } at[] = {
        {NULL, POD_KEEP_NOT, 0},
        {"true", POD_KEEP_ALWAYS, 0},
        {"90s", POD_KEEP_FOR, 90 * MS_SECOND},
        {"0s", POD_KEEP_INVALID, 0}, /* no positive duration, and told as mistyped */
        {"-1h", POD_KEEP_INVALID, -MS_HOUR},
        {"yes", POD_KEEP_INVALID, 0},
        {"", POD_KEEP_INVALID, 0},
    };
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        struct annotation a = {SYM_DO_NOT_DISRUPT, at[i].value != NULL ? span_of(at[i].value) : (struct span){0}};
        struct pod p = {.meta = {.annotations = {&a, at[i].value != NULL}}};
        span_ms length;
        if (pod_keep(&p, &length) != at[i].want || length != at[i].length)
            fail_msg("\"%s\": %d for %lld ms", at[i].value != NULL ? at[i].value : "absent", pod_keep(&p, &length),
                     (long long)length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_unseen),
        cmocka_unit_test(test_same_controller),
        cmocka_unit_test(test_do_not_disrupt),
        cmocka_unit_test(test_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
