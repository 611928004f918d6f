#include "reconciler/termination/drain.h"
#include "tests/reconciler/support_objects.h"

#define POD(name, spec) "metadata: {name: " name ", namespace: d, uid: u-" name "}\nspec: {nodeName: m" spec "}\n"
#define OWNED(name, kind, spec)                                                                    \
    "metadata: {name: " name ", namespace: d, uid: u-" name                                        \
    ", ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: o, uid: o}]}\n"               \
    "spec: {nodeName: m" spec "}\n"
#define ENDING(name, at, spec)                                                                     \
    "metadata: {name: " name ", namespace: d, uid: u-" name ", deletionTimestamp: '" at "'}\n"     \
    "spec: {nodeName: m" spec "}\n"
#define CRITICAL ", priority: 2000001000"

static const char *const act_names[DRAIN_ACT_COUNT] = {"leave", "wait", "blocked", "evict",
                                                       "delete"};

static const struct {
    const char *label;
    const char *pods[4];
    wall_ms deadline; /* 0: none */
    enum drain_act want[4];
    int64_t grace[4];
    uint32_t waiting;
} rows[] = {
    {"no pods", {0}, 0, {0}, {0}, 0},
    {"203: tiers: plain pods first",
     {POD("app", ""), OWNED("ds", "DaemonSet", ""), POD("crit", CRITICAL),
      OWNED("critds", "DaemonSet", CRITICAL)},
     0, {DRAIN_EVICT, DRAIN_WAIT, DRAIN_WAIT, DRAIN_WAIT}, {0}, 4},
    {"203: then DaemonSet pods",
     {OWNED("ds", "DaemonSet", ""), POD("crit", CRITICAL)},
     0, {DRAIN_EVICT, DRAIN_WAIT}, {0}, 2},
    {"203: then critical ones", {POD("crit", CRITICAL), OWNED("critds", "DaemonSet", CRITICAL)},
     0, {DRAIN_EVICT, DRAIN_WAIT}, {0}, 2},
    {"203: and last DaemonSets' critical ones", {OWNED("critds", "DaemonSet", CRITICAL)}, 0, {DRAIN_EVICT}, {0}, 1},
    {"203: a pod that is ending holds its tier",
     {ENDING("app", NOW_TEXT, ""), OWNED("ds", "DaemonSet", "")},
     0, {DRAIN_WAIT, DRAIN_WAIT}, {0}, 2},
    {"206: stuck for more than a minute: not waited for",
     {ENDING("app", "2026-01-02T03:03:04Z", ""), OWNED("ds", "DaemonSet", "")},
     0, {DRAIN_LEAVE, DRAIN_EVICT}, {0}, 1},
    {"206: a minute: still waited for", {ENDING("app", "2026-01-02T03:03:05Z", "")}, 0, {DRAIN_WAIT}, {0}, 1},
    {"206: 59 s: waited for", {ENDING("app", "2026-01-02T03:03:06Z", "")}, 0, {DRAIN_WAIT}, {0}, 1},
    {"204: who tolerates the taint stays",
     {POD("agent", ", tolerations: [{operator: Exists}]")}, 0, {DRAIN_LEAVE}, {0}, 0},
    {"205: a static pod stays",
     {"metadata: {name: s, namespace: d, uid: s, ownerReferences: [{apiVersion: v1, kind: Node, "
      "name: m, uid: m}]}\nspec: {nodeName: m}\n"},
     0, {DRAIN_LEAVE}, {0}, 0},
    {"205: who has ended stays, and nobody waits for him",
     {"metadata: {name: s, namespace: d, uid: s}\nspec: {nodeName: m}\nstatus: {phase: Succeeded}\n",
      "metadata: {name: f, namespace: d, uid: f}\nspec: {nodeName: m}\nstatus: {phase: Failed}\n",
      OWNED("ds", "DaemonSet", "")},
     0, {DRAIN_LEAVE, DRAIN_LEAVE, DRAIN_EVICT}, {0}, 1},
    {"217: do-not-disrupt holds",
     {"metadata: {name: p, namespace: d, uid: p, annotations: {karpenter.sh/do-not-disrupt: "
      "'true'}}\nspec: {nodeName: m}\n"},
     0, {DRAIN_BLOCKED}, {0}, 1},
    {"212, 217: do-not-disrupt, past the deadline less its grace: deleted",
     {"metadata: {name: p, namespace: d, uid: p, annotations: {karpenter.sh/do-not-disrupt: "
      "'true'}}\nspec: {nodeName: m, terminationGracePeriodSeconds: 300}\n"},
     NOW + 60 * MS_SECOND, {DRAIN_DELETE}, {60}, 1},
    {"211: 180 s of grace, 180 s left: not yet",
     {POD("app", ", terminationGracePeriodSeconds: 180")},
     NOW + 180 * MS_SECOND, {DRAIN_EVICT}, {0}, 1},
    {"211: 180 s of grace, a second less left: deleted",
     {POD("app", ", terminationGracePeriodSeconds: 180")},
     NOW + 179 * MS_SECOND, {DRAIN_DELETE}, {179}, 1},
    {"213: past the deadline: one second, all tiers at once",
     {POD("app", ", terminationGracePeriodSeconds: 30"),
      POD("crit", CRITICAL ", terminationGracePeriodSeconds: 30")},
     NOW - MS_SECOND, {DRAIN_DELETE, DRAIN_DELETE}, {1, 1}, 2},
    {"212, 214: a critical pod is overdue while the first tier waits",
     {POD("app", ", terminationGracePeriodSeconds: 10"),
      POD("crit", CRITICAL ", terminationGracePeriodSeconds: 300")},
     NOW + 60 * MS_SECOND, {DRAIN_EVICT, DRAIN_DELETE}, {0, 60}, 2},
    {"216: no grace given: never forced", {POD("app", "")}, NOW - MS_HOUR, {DRAIN_EVICT}, {0}, 1},
    {"215: ending later than the deadline: shortened",
     {ENDING("app", "2026-01-02T03:14:05Z", ", terminationGracePeriodSeconds: 600")},
     NOW + 60 * MS_SECOND, {DRAIN_DELETE}, {60}, 1},
    {"215: ending before it: left alone",
     {ENDING("app", "2026-01-02T03:04:35Z", ", terminationGracePeriodSeconds: 30")},
     NOW + 60 * MS_SECOND, {DRAIN_WAIT}, {0}, 1},
};

static void picks(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const struct pod *pods[4];
        uint32_t count = 0;
        objects_begin();
        while (count < 4 && rows[r].pods[count] != NULL) {
            pods[count] = pod_of(rows[r].pods[count]);
            count++;
        }
        struct drain d = drain_pick(objects_arena(), pods, count, rows[r].deadline, NOW);
        for (uint32_t i = 0; i < count; i++)
            if (d.pods[i].act != rows[r].want[i] || d.pods[i].grace != rows[r].grace[i])
                fail_msg("%s: pod %u: %s %lld, not %s %lld", rows[r].label, i,
                         act_names[d.pods[i].act], (long long)d.pods[i].grace,
                         act_names[rows[r].want[i]], (long long)rows[r].grace[i]);
        if (d.waiting != rows[r].waiting)
            fail_msg("%s: %u wait, not %u", rows[r].label, d.waiting, rows[r].waiting);
        objects_clear();
    }
}

#define KEPT(name) "metadata: {name: " name ", namespace: d, uid: u-" name                                  \
                   ", annotations: {karpenter.sh/do-not-disrupt: 'true'}}\nspec: {nodeName: m}\n"
#define KEPT_DAEMON                                                                                         \
    "metadata: {name: ds, namespace: d, uid: u-ds, annotations: {karpenter.sh/do-not-disrupt: 'true'}, "    \
    "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: o, uid: o}]}\nspec: {nodeName: m}\n"
#define BUDGET "metadata: {name: b, namespace: d, uid: b}\nspec: {selector: {}}\nstatus: {disruptionsAllowed: 0}\n"

static const struct {
    const char *label;
    const char *pods[3];
    const char *budget, *want;
} said[] = {
    {"no pods", {0}, NULL, ""},
    {"on their way", {POD("a", ""), POD("b", "")}, NULL, "2 pods wait to be evicted"},
    {"one that is ending", {ENDING("a", NOW_TEXT, "")}, BUDGET, "1 pod waits to be evicted"},
    {"held by its annotation", {POD("a", ""), KEPT("b")}, NULL,
     "2 pods wait to be evicted: pod d/b has annotation karpenter.sh/do-not-disrupt"},
    {"held by a budget", {POD("a", "")}, BUDGET,
     "1 pod waits to be evicted: PodDisruptionBudget d/b allows no eviction"},
    {"held when its turn comes", {POD("a", ""), KEPT_DAEMON}, NULL,
     "2 pods wait to be evicted"},
};

static void what_is_said(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(said); r++) {
        const struct pod *pods[3];
        uint32_t count = 0;
        objects_begin();
        for (; count < 3 && said[r].pods[count] != NULL; count++)
            pods[count] = pod_of(said[r].pods[count]);
        const struct disruption_budget *budget =
            said[r].budget != NULL ? budget_of(said[r].budget) : NULL;
        struct arena *a = objects_arena();
        struct drain d = drain_pick(a, pods, count, 0, NOW);
        struct pod_budgets budgets = pod_budgets_make(a, &budget, budget != NULL);
        struct empty_answer x = drain_judge(a, &d, &budgets, NOW);
        struct span got = drain_sentence(a, &d, &x);
        if (!span_eq(got, span_of(said[r].want)))
            fail_msg("%s: \"%.*s\"", said[r].label, SPAN_ARG(got));
        objects_clear();
    }
}

/* When a drain has to look at a pod again though nothing changes. */
static void when_time_alone_decides(void **state)
{
    static const struct {
        const char *label, *pod;
        span_ms deadline, want; /* from NOW; 0: none */
    } at[] = {
        {"never", POD("a", ", terminationGracePeriodSeconds: 30"), 0, 0},
        {"as it is forced", POD("a", ", terminationGracePeriodSeconds: 30"), 100 * MS_SECOND, 70 * MS_SECOND + 1},
        {"it is forced already", POD("a", ", terminationGracePeriodSeconds: 30"), 20 * MS_SECOND, 0},
        {"without a grace it never is", POD("a", ""), 100 * MS_SECOND, 0},
        {"as it is stuck", ENDING("a", NOW_TEXT, ""), 0, MS_MINUTE + 1},
        {"it is stuck already", ENDING("a", HOUR_AGO, ""), 0, 0},
        {"one that is ending is not forced", ENDING("a", NOW_TEXT, ", terminationGracePeriodSeconds: 30"), 40 * MS_SECOND, MS_MINUTE + 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        objects_begin();
        wall_ms got = drain_due(pod_of(at[i].pod), at[i].deadline != 0 ? NOW + at[i].deadline : 0, NOW);
        if (got != (at[i].want != 0 ? NOW + at[i].want : 0))
            fail_msg("%s: in %lld ms", at[i].label, (long long)(got - NOW));
        objects_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks), cmocka_unit_test(what_is_said),
                                       cmocka_unit_test(when_time_alone_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
