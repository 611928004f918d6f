/* The judgement, and how it is said. */
#include "reconciler/disruption/empty.h"

#include "kube/disruption_mode.h"

/* What stops any disruption, as a verdict; EMPTY_YES: nothing. */
static const enum empty_verdict verdicts[BLOCKED_COUNT] = {
    [BLOCKED_UNMANAGED] = EMPTY_UNMANAGED,
    [BLOCKED_REBOOTING] = EMPTY_REBOOTING,
    [BLOCKED_LEAVING] = EMPTY_LEAVING,
    [BLOCKED_NOT_REGISTERED] = EMPTY_NOT_REGISTERED,
    [BLOCKED_NOT_INITIALIZED] = EMPTY_NOT_INITIALIZED,
    [BLOCKED_NOMINATED] = EMPTY_NOMINATED,
    [BLOCKED_DO_NOT_DISRUPT] = EMPTY_DO_NOT_DISRUPT,
    [BLOCKED_NO_LABEL] = EMPTY_NO_LABEL,
    [BLOCKED_NO_POOL] = EMPTY_NO_POOL,
    [BLOCKED_POD_DO_NOT_DISRUPT] = EMPTY_POD_DO_NOT_DISRUPT,
    [BLOCKED_POD_BUDGET] = EMPTY_POD_BUDGET,
    [BLOCKED_POD_BUDGETS] = EMPTY_POD_BUDGETS,
};

static struct empty_answer answer_of(const struct blocked_answer *b)
{
    return (struct empty_answer){.verdict = verdicts[b->what], .pod = b->pod, .budget = b->budget,
                                 .other = b->other, .pool_name = b->pool_name};
}

/* The other way; BLOCKED_NOT: it is about emptiness alone. */
static struct blocked_answer blocked_of(const struct empty_answer *x)
{
    struct blocked_answer b = {.pod = x->pod, .budget = x->budget, .other = x->other, .pool_name = x->pool_name};
    for (uint32_t i = BLOCKED_NOT + 1; i < BLOCKED_COUNT && b.what == BLOCKED_NOT; i++)
        if (verdicts[i] == x->verdict)
            b.what = (enum blocked)i;
    return b;
}

static struct blocked_facts facts_of(const struct empty_facts *f)
{
    return (struct blocked_facts){
        .node = f->node, .claim = f->claim, .class = DISRUPT_GRACEFUL, .nominated = f->nominated,
        .has_pool = f->pool != NULL, .pool_name = f->pool_name, .pods = f->pods, .pod_count = f->pod_count,
        .budgets = f->budgets, .now = f->now, .looks = f->looks};
}

static bool is_leaving(const struct empty_facts *f)
{
    return f->claim != NULL && (f->claim->meta.deleted != 0 || f->node->meta.deleted != 0 ||
                                conditions_true(f->claim->conditions, SPAN("InstanceTerminating")));
}

struct empty_answer empty_judge_pods(const struct empty_facts *f)
{
    struct blocked_facts facts = facts_of(f);
    struct blocked_answer x = blocked_judge_pods(&facts);
    return answer_of(&x);
}

/* Whom nothing stops: whether it is its turn. */
static enum empty_verdict judge_pool(const struct empty_facts *f)
{
    if (f->pool->has_replicas)
        return EMPTY_STATIC;
    for (uint32_t i = 0; i < f->pod_count; i++)
        if (pod_is_reschedulable(f->pods[i]))
            return EMPTY_HAS_PODS;
    if (!f->pool->has_consolidate_after)
        return EMPTY_NEVER;
    if (!conditions_true(f->claim->conditions, SPAN("Consolidatable")))
        return EMPTY_NOT_CONSOLIDATABLE;
    enum disruption_mode mode = disruption_mode_of(f->pool, REASON_EMPTY);
    return mode == MODE_ACT ? EMPTY_YES : mode == MODE_RECOMMEND ? EMPTY_RECOMMENDED : EMPTY_OBSERVED;
}

struct empty_answer empty_judge(const struct empty_facts *f)
{
    struct blocked_facts facts = facts_of(f);
    facts.leaving = is_leaving(f);
    struct blocked_answer b = blocked_judge(&facts);
    struct empty_answer x = answer_of(&b);
    if (b.what == BLOCKED_NOT)
        x.verdict = judge_pool(f);
    x.pool_name = f->pool_name;
    return x;
}

static const char *plain_sentence(enum empty_verdict v)
{
    static const char *const texts[EMPTY_VERDICT_COUNT] = {
        [EMPTY_YES] = "nothing runs on it",
        [EMPTY_UNMANAGED] = "no dynamic NodePool of ours owns it",
        [EMPTY_REBOOTING] = "it is rebooting",
        [EMPTY_LEAVING] = "it is leaving already",
        [EMPTY_NOT_REGISTERED] = "it has not joined yet",
        [EMPTY_NOT_INITIALIZED] = "it is not ready yet",
        [EMPTY_NOMINATED] = "pods are planned for it, or were a moment ago",
        [EMPTY_DO_NOT_DISRUPT] = "it has annotation karpenter.sh/do-not-disrupt",
        [EMPTY_NO_LABEL] = "its NodeClaim names no NodePool",
        [EMPTY_NO_POOL] = "its NodePool does not exist",
        [EMPTY_POD_DO_NOT_DISRUPT] = "has annotation karpenter.sh/do-not-disrupt",
        [EMPTY_POD_BUDGET] = "allows no eviction",
        [EMPTY_POD_BUDGETS] = "which eviction does not support",
        [EMPTY_STATIC] = "its NodePool has replicas",
        [EMPTY_HAS_PODS] = "pods run on it",
        [EMPTY_BUFFERED] = "a CapacityBuffer keeps it",
        [EMPTY_NEVER] = "consolidateAfter of its NodePool is Never",
        [EMPTY_NOT_CONSOLIDATABLE] = "consolidateAfter of its NodePool is not over",
        [EMPTY_RECOMMENDED] = "stowage.dev/mode of its NodePool has its removal only recommended",
        [EMPTY_OBSERVED] = "stowage.dev/mode of its NodePool has it only observed",
        [EMPTY_AWAITED] = "its like was needed again and again within the hour, and may be once more",
        [EMPTY_UNSEEN] = "nobody has looked at it yet",
    };
    return v < EMPTY_VERDICT_COUNT ? texts[v] : "";
}

/* " (2 of 2 must stay)", with how many are ready when not all are; "" before anybody has counted. */
static struct span count_of(struct arena *a, const struct disruption_budget *b)
{
    if (b == NULL || b->expected == 0)
        return SPAN("");
    if (b->healthy >= b->expected)
        return arena_printf(a, " (%d of %d must stay)", b->desired, b->expected);
    return arena_printf(a, " (%d of %d must stay, %d %s ready)", b->desired, b->expected, b->healthy,
                        b->healthy == 1 ? "is" : "are");
}

static struct span full_name(struct arena *a, const struct meta *m)
{
    return arena_printf(a, "%.*s/%.*s", SPAN_ARG(m->ns), SPAN_ARG(m->name));
}

struct span empty_sentence(struct arena *a, const struct empty_answer *x)
{
    const char *text = plain_sentence(x->verdict);
    struct span pod = x->pod != NULL ? full_name(a, &x->pod->meta) : SPAN("");
    struct span budget = x->budget != NULL ? full_name(a, &x->budget->meta) : SPAN("");
    struct span other = x->other != NULL ? full_name(a, &x->other->meta) : SPAN("");
    if (x->verdict == EMPTY_POD_DO_NOT_DISRUPT)
        return arena_printf(a, "pod %.*s %s", SPAN_ARG(pod), text);
    if (x->verdict == EMPTY_POD_BUDGET)
        return arena_printf(a, "PodDisruptionBudget %.*s %s%.*s", SPAN_ARG(budget), text,
                            SPAN_ARG(count_of(a, x->budget)));
    if (x->verdict == EMPTY_POD_BUDGETS)
        return arena_printf(a, "PodDisruptionBudgets %.*s and %.*s both select pod %.*s, %s",
                            SPAN_ARG(budget), SPAN_ARG(other), SPAN_ARG(pod), text);
    return span_of(text);
}

struct span empty_event(struct arena *a, const struct empty_answer *x)
{
    struct blocked_answer b = blocked_of(x);
    if (x->verdict == EMPTY_NEVER)
        return pool_disabled_event(a, x->pool_name);
    if (x->verdict == EMPTY_AWAITED)
        return SPAN("Nodes like it were needed again and again within the hour");
    return blocked_event(a, &b);
}
