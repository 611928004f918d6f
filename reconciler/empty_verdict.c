/* The judgement, and how it is said. */
#include "reconciler/empty.h"

static void look_at(struct empty_looks *x, uint32_t budget)
{
    if (x != NULL)
        ARENA_PUSH(x->arena, x->budgets, x->count, x->capacity, budget);
}

/* As long as its annotation says. */
static bool is_kept(const struct empty_facts *f, const struct pod *p)
{
    span_ms length;
    bool kept = pod_do_not_disrupt(p, f->now);
    if (!kept || f->looks == NULL || p->start_time == 0 || pod_keep(p, &length) != POD_KEEP_FOR)
        return kept;
    wall_ms end = p->start_time + length;
    if (f->looks->until == 0 || end < f->looks->until)
        f->looks->until = end;
    return kept;
}

static bool budgets_hold(const struct empty_facts *f, const struct pod *p, struct empty_answer *out)
{
    uint32_t at[2];
    if (!pod_is_evictable(p, f->now))
        return false;
    uint32_t matching = pod_budgets_of(f->budgets, p, at);
    for (uint32_t i = 0; i < matching; i++)
        look_at(f->looks, at[i]);
    if (matching == 0)
        return false;
    const struct disruption_budget *match = f->budgets->items[at[0]];
    if (matching == 2) { /* the eviction API refuses two */
        *out = (struct empty_answer){
            .verdict = EMPTY_POD_BUDGETS, .pod = p, .budget = match, .other = f->budgets->items[at[1]]};
        return true;
    }
    if ((match->evict_unhealthy && p->unready) || match->disruptions_allowed > 0)
        return false;
    *out = (struct empty_answer){.verdict = EMPTY_POD_BUDGET, .pod = p, .budget = match};
    return true;
}

struct empty_answer empty_judge_pods(const struct empty_facts *f)
{
    struct empty_answer x = {.verdict = EMPTY_YES};
    for (uint32_t i = 0; i < f->pod_count; i++)
        if (f->pods[i]->meta.deleted == 0 && is_kept(f, f->pods[i]))
            return (struct empty_answer){.verdict = EMPTY_POD_DO_NOT_DISRUPT, .pod = f->pods[i]};
    for (uint32_t i = 0; i < f->pod_count; i++)
        if (budgets_hold(f, f->pods[i], &x))
            return x;
    return x;
}

static enum empty_verdict judge_node(const struct empty_facts *f)
{
    if (f->claim == NULL)
        return EMPTY_UNMANAGED;
    if (conditions_true(f->claim->conditions, SPAN("Rebooting")))
        return EMPTY_REBOOTING;
    if (f->claim->meta.deleted != 0 || f->node->meta.deleted != 0 ||
        conditions_true(f->claim->conditions, SPAN("InstanceTerminating")))
        return EMPTY_LEAVING;
    if (!node_is_initialized(f->node))
        return sym_pairs_get(f->node->meta.labels, SYM_REGISTERED) == SYM_TRUE
                   ? EMPTY_NOT_INITIALIZED
                   : EMPTY_NOT_REGISTERED;
    if (f->nominated)
        return EMPTY_NOMINATED;
    if (span_eq(annotations_get(f->node->meta.annotations, SYM_DO_NOT_DISRUPT), SPAN("true")))
        return EMPTY_DO_NOT_DISRUPT;
    if (f->pool == NULL)
        return f->pool_name.len == 0 ? EMPTY_NO_LABEL : EMPTY_NO_POOL;
    return EMPTY_YES;
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
    return conditions_true(f->claim->conditions, SPAN("Consolidatable")) ? EMPTY_YES
                                                                         : EMPTY_NOT_CONSOLIDATABLE;
}

struct empty_answer empty_judge(const struct empty_facts *f)
{
    struct empty_answer x = {.verdict = judge_node(f)};
    if (x.verdict == EMPTY_YES)
        x = empty_judge_pods(f);
    if (x.verdict == EMPTY_YES)
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

static const char *event_text(enum empty_verdict v)
{
    static const char *const texts[EMPTY_VERDICT_COUNT] = {
        [EMPTY_REBOOTING] = "Node is rebooting",
        [EMPTY_LEAVING] = "Node is deleting or marked for deletion",
        [EMPTY_NOT_REGISTERED] = "Node isn't initialized nor registered",
        [EMPTY_NOT_INITIALIZED] = "Node isn't initialized",
        [EMPTY_NOMINATED] = "Node is nominated for a pending pod",
        [EMPTY_DO_NOT_DISRUPT] =
            "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation",
        [EMPTY_NO_LABEL] = "Node doesn't have required label (label=karpenter.sh/nodepool)",
        [EMPTY_NO_POOL] = "NodePool not found",
        [EMPTY_POD_DO_NOT_DISRUPT] = "Pod has \"karpenter.sh/do-not-disrupt\" annotation",
        [EMPTY_POD_BUDGET] = "Pdb prevents pod evictions",
        [EMPTY_POD_BUDGETS] = "Eviction does not support multiple PDBs",
        [EMPTY_NEVER] = "has consolidation disabled",
    };
    return v < EMPTY_VERDICT_COUNT ? texts[v] : NULL;
}

struct span empty_event(struct arena *a, const struct empty_answer *x)
{
    const char *text = event_text(x->verdict);
    if (text == NULL)
        return (struct span){0};
    if (x->verdict == EMPTY_NO_POOL)
        return arena_printf(a, "%s (NodePool=%.*s)", text, SPAN_ARG(x->pool_name));
    if (x->verdict == EMPTY_NEVER)
        return arena_printf(a, "NodePool \"%.*s\" %s", SPAN_ARG(x->pool_name), text);
    if (x->other != NULL && x->budget != NULL)
        return arena_printf(a, "%s (PodDisruptionBudget(s)=[%.*s %.*s])", text,
                            SPAN_ARG(full_name(a, &x->budget->meta)),
                            SPAN_ARG(full_name(a, &x->other->meta)));
    if (x->budget != NULL)
        return arena_printf(a, "%s (PodDisruptionBudget=[%.*s])", text,
                            SPAN_ARG(full_name(a, &x->budget->meta)));
    if (x->pod != NULL)
        return arena_printf(a, "%s (Pod=%.*s)", text, SPAN_ARG(full_name(a, &x->pod->meta)));
    return span_of(text);
}
