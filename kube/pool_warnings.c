#include "kube/pool_warnings.h"

#include "base/safe_text.h"
#include "kube/allow_windows.h"
#include "kube/budget.h"
#include "kube/disruption_mode.h"
#include "kube/node_asks.h"
#include "kube/own_annotations.h"

struct look {
    struct arena *arena;
    const struct node_pool *pool;
    struct symtab *syms;
    struct findings *found;
};

static void warn(struct look *l, struct span path, struct span text)
{
    finding_add(l->arena, l->found, false, path, text);
}

/* ---- our annotations ---- */

/* Each returns whether it can be read; *err, where that says more than `fix` can. */

static bool reads_cost(const struct node_pool *p, struct err *err)
{
    double cost;
    (void)err;
    return node_pool_cost(p, &cost);
}

static bool reads_savings(const struct node_pool *p, struct err *err)
{
    struct min_savings least;
    (void)err;
    return node_pool_min_savings(p, &least);
}

static bool reads_room(const struct node_pool *p, struct err *err)
{
    bool asked;
    (void)err;
    return node_pool_daemon_room(p, &asked);
}

#define NO_EFFECT " has no effect. Fix: "
static const struct row {
    sym key;
    bool (*reads)(const struct node_pool *p, struct err *err);
    const char *effect, *fix; /* of a value that cannot be read */
} rows[] = {
    {SYM_NODE_COST, reads_cost, NO_EFFECT, "write dollars per hour, like \"0.01\""},
    {SYM_MIN_SAVINGS, reads_savings, NO_EFFECT,
     "write dollars per hour, a share or a time, like \"0.05\", \"10%\" or \"30m\""},
    {SYM_ALLOW_WINDOWS, allow_windows_valid, " cannot be read, and until that is fixed no node of the pool is disrupted: ", ""},
    {SYM_MODE, disruption_mode_valid, " cannot be read, and until that is fixed moves of the pool are only recommended: ", ""},
    {SYM_DAEMON_ROOM, reads_room, NO_EFFECT, "write \"true\" or \"false\""},
};

static struct span annotation_path(struct look *l, const char *where, struct span key)
{
    return arena_printf(l->arena, "%s.annotations[%.*s]", where, SPAN_ARG(key));
}

static const struct row *row_of(struct span key)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (span_eq(key, wellknown_text[rows[i].key - 1]))
            return &rows[i];
    return NULL;
}

static void look_at_annotations(struct look *l)
{
    const struct annotations *all = &l->pool->meta.annotations;
    own_annotations_warnings(l->arena, *all, KIND_NODE_POOL, l->syms, l->found);
    for (uint32_t i = 0; i < all->count && !findings_closed(l->found); i++) {
        struct span key = sym_text(l->syms, all->items[i].key), value = all->items[i].value;
        struct err err = {.msg = ""};
        const struct row *row = row_of(key);
        if (row != NULL && !row->reads(l->pool, &err))
            warn(l, annotation_path(l, "metadata", key),
                 arena_printf(l->arena, "\"%.*s\"%s%s%s", SPAN_ARG(safe_value(l->arena, value)), row->effect, row->fix, err.msg));
    }
    const struct plain_labels *given = &l->pool->annotations;
    for (uint32_t i = 0; i < given->count && !findings_closed(l->found); i++)
        if (row_of(given->items[i].key) != NULL)
            warn(l, annotation_path(l, "spec.template.metadata", given->items[i].key),
                 SPAN("is for nodes, and has no effect there. Fix: write it into the NodePool's own metadata.annotations"));
}

/* ---- limits ---- */

struct span pool_limit_path(struct arena *a, struct span resource)
{
    bool dotted = span_contains(resource, SPAN("."));
    return arena_printf(a, "spec.limits%s%.*s%s", dotted ? "[" : ".", SPAN_ARG(resource), dotted ? "]" : "");
}

/* A limit below nothing: upstream takes it, and buys nothing. */
static void look_at_limits(struct look *l)
{
    for (uint32_t i = 0; i < l->pool->limits.count && !findings_closed(l->found); i++) {
        struct span name = sym_text(l->syms, l->pool->limits.items[i].name);
        if (l->pool->limits.items[i].value < 0)
            warn(l, pool_limit_path(l->arena, name), SPAN("is negative, so that no node is bought for the pool. Fix: write 0, or remove it"));
    }
}

/* ---- disruption ---- */

/* Why nothing of the pool is disrupted for a reason, whatever its budgets say; absent: it may be. */
static struct span never_disrupted_for(const struct node_pool *p, struct span reason)
{
    bool underutilized = span_eq(reason, disruption_reason_name(REASON_UNDERUTILIZED));
    if (!underutilized && !span_eq(reason, disruption_reason_name(REASON_EMPTY)))
        return (struct span){NULL, 0};
    if (p->has_replicas)
        return SPAN("the pool has spec.replicas");
    if (!p->has_consolidate_after)
        return SPAN("spec.disruption.consolidateAfter is Never");
    if (underutilized && p->policy == CONSOLIDATE_EMPTY)
        return SPAN("spec.disruption.consolidationPolicy is WhenEmpty");
    return (struct span){NULL, 0};
}

static struct span budget_without_effect(struct look *l, const struct budget *b, enum budget_times times)
{
    struct span why = {NULL, 0};
    if (times == BUDGET_NEVER)
        return arena_printf(l->arena, "never holds: its schedule \"%.*s\" with the duration \"%.*s\" comes at no time. Fix: change "
                                      "one of them",
                            SPAN_ARG(b->schedule), SPAN_ARG(b->duration));
    for (uint32_t i = 0; i < b->reasons.count; i++) {
        why = never_disrupted_for(l->pool, b->reasons.items[i]);
        if (why.ptr == NULL)
            break;
    }
    if (why.ptr == NULL)
        return why;
    return arena_printf(l->arena, "has no effect: nothing is disrupted for %s, since %.*s. Fix: change that, or remove the budget",
                        b->reasons.count == 1 ? "its reason" : "its reasons", SPAN_ARG(why));
}

static bool allows_none(const struct budget *b)
{
    return span_eq(b->nodes, SPAN("0")) || span_eq(b->nodes, SPAN("0%"));
}

static struct span budget_path(const struct look *l, uint32_t at)
{
    return arena_printf(l->arena, "spec.disruption.budgets[%u]", at);
}

static void look_at_budget(struct look *l, uint32_t at)
{
    const struct budget *b = &l->pool->budgets.items[at];
    struct err err;
    if (!budget_valid(b, &err)) {
        warn(l, budget_path(l, at), arena_printf(l->arena, "%s; until that is fixed, no node of the pool is disrupted", err.msg));
        return;
    }
    enum budget_times times = budget_times_of(b);
    struct span text = budget_without_effect(l, b, times);
    if (text.ptr == NULL && times == BUDGET_ALWAYS && allows_none(b) && b->reasons.count == 0)
        text = SPAN("allows none at any time, so that no node of the pool is ever emptied, consolidated, replaced for drift "
                    "or repaired. Fix, unless that is meant: give it reasons, or a schedule and a duration");
    if (text.ptr != NULL)
        warn(l, budget_path(l, at), text);
}

/* To know at what times a budget holds, a year's hits are counted: of more budgets than the API server admits (maxItems),
 * nothing is said. */
static void look_at_disruption(struct look *l)
{
    enum { BUDGETS_MAX = 50 };
    for (uint32_t i = 0; i < l->pool->budgets.count && i < BUDGETS_MAX && !findings_closed(l->found); i++)
        look_at_budget(l, i);
    struct span why = never_disrupted_for(l->pool, disruption_reason_name(REASON_UNDERUTILIZED));
    if (why.ptr != NULL && annotations_get(l->pool->meta.annotations, SYM_MIN_SAVINGS).ptr != NULL)
        warn(l, annotation_path(l, "metadata", wellknown_text[SYM_MIN_SAVINGS - 1]),
             arena_printf(l->arena, "has no effect: nothing is consolidated, since %.*s. Fix: change that, or remove the annotation",
                          SPAN_ARG(why)));
}

void pool_warnings(struct arena *a, const struct node_pool *p, struct symtab *syms, struct findings *out)
{
    struct look l = {a, p, syms, out};
    look_at_annotations(&l);
    struct node_asks asks = node_asks_of_pool(p);
    node_asks_warnings(a, &asks, syms, out);
    look_at_limits(&l);
    look_at_disruption(&l);
}
