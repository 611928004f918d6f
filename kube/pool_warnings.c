#include "kube/pool_warnings.h"

#include "base/nearest.h"
#include "kube/allow_windows.h"
#include "kube/budget.h"
#include "kube/disruption_mode.h"

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

#define PREFIX "stowage.dev/"

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

static struct span after_prefix(struct span key)
{
    return (struct span){key.ptr + strlen(PREFIX), key.len - strlen(PREFIX)};
}

static void tell_unknown(struct look *l, struct span key)
{
    static const sym of_workloads[] = {SYM_ON_DEMAND_BASE, SYM_SPOT_PERCENT, SYM_SHAPE_POOL, SYM_SHAPE_SCHEDULER};
    struct span path = annotation_path(l, "metadata", key);
    for (size_t i = 0; i < COUNT_OF(of_workloads); i++)
        if (span_eq(key, wellknown_text[of_workloads[i] - 1])) {
            warn(l, path, SPAN("has no effect on a NodePool. Fix: write it on the template of the workload's pods"));
            return;
        }
    struct nearest n = {.given = after_prefix(key)};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        nearest_try(&n, after_prefix(wellknown_text[rows[i].key - 1]));
    if (n.best.ptr != NULL)
        warn(l, path, arena_printf(l->arena, "there is no such annotation. Fix: write " PREFIX "%.*s", SPAN_ARG(n.best)));
    else
        warn(l, path, SPAN("there is no such annotation. Fix: remove it"));
}

static void look_at_annotations(struct look *l)
{
    const struct annotations *all = &l->pool->meta.annotations;
    for (uint32_t i = 0; i < all->count; i++) {
        struct span key = sym_text(l->syms, all->items[i].key), value = all->items[i].value;
        struct err err = {.msg = ""};
        const struct row *row = row_of(key);
        if (row == NULL && span_has_prefix(key, SPAN(PREFIX)))
            tell_unknown(l, key);
        if (row != NULL && !row->reads(l->pool, &err))
            warn(l, annotation_path(l, "metadata", key),
                 arena_printf(l->arena, "\"%.*s\"%s%s%s", SPAN_ARG(value), row->effect, row->fix, err.msg));
    }
    const struct plain_labels *given = &l->pool->annotations;
    for (uint32_t i = 0; i < given->count; i++)
        if (row_of(given->items[i].key) != NULL)
            warn(l, annotation_path(l, "spec.template.metadata", given->items[i].key),
                 SPAN("is for nodes, and has no effect there. Fix: write it into the NodePool's own metadata.annotations"));
}

/* ---- requirements ---- */

static struct span words(struct look *l, const struct requirement *r)
{
    struct buf b = {0};
    requirement_put(&b, r, l->syms);
    struct span text = arena_dup(l->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

/* As an API server compares what a key must be with what it must not (spec api 6.2). */
static bool allows_absence(const struct requirement *r)
{
    enum op op = requirement_op(r);
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

static bool contradicts(struct look *l, const struct requirement *x, const struct requirement *y)
{
    return !requirement_intersects(x, y, l->syms) && !(allows_absence(x) && allows_absence(y));
}

/* False: with those before it no value is left, and it is not added. */
static bool add_requirement(struct look *l, struct requirements *all, uint32_t index)
{
    const struct expression *e = &l->pool->requirements.items[index];
    struct err err;
    if (e->op == OP_NONE || !expression_operands_valid(e, l->syms, &err))
        return true; /* refused */
    struct requirement r = requirement_of(l->arena, l->syms, e);
    const struct requirement *before = requirements_get(all, r.key);
    if (before != NULL && contradicts(l, before, &r)) {
        warn(l, arena_printf(l->arena, "spec.template.spec.requirements[%u]", index),
             arena_printf(l->arena, "%.*s leaves no value after %.*s: nodes are bought without the label, or, where every "
                                    "instance type has it, not at all. Fix: remove one of them",
                          SPAN_ARG(words(l, &r)), SPAN_ARG(words(l, before))));
        return false;
    }
    requirements_add(l->arena, all, &r, l->syms);
    return true;
}

static void look_at_min_values(struct look *l, const struct requirements *all)
{
    for (uint32_t i = 0; i < l->pool->requirements.count; i++) {
        const struct expression *e = &l->pool->requirements.items[i];
        const struct requirement *r = requirements_get(all, requirement_key(l->syms, e->key));
        if (r == NULL || e->min_values == 0 || requirement_op(r) != OP_IN || r->count >= (uint32_t)e->min_values ||
            (e->op == OP_IN && e->values.count < (uint32_t)e->min_values))
            continue;
        warn(l, arena_printf(l->arena, "spec.template.spec.requirements[%u].minValues", i),
             arena_printf(l->arena, "%d cannot be met: the pool's requirements together leave %u (%.*s). Fix: lower it, or "
                                    "allow more values",
                          e->min_values, r->count, SPAN_ARG(words(l, r))));
    }
}

static void look_at_requirements(struct look *l)
{
    struct requirements all = {NULL, 0};
    for (uint32_t i = 0; i < l->pool->requirements.count; i++)
        if (!add_requirement(l, &all, i))
            return; /* what else they come to nobody knows */
    look_at_min_values(l, &all);
    for (uint32_t i = 0; i < l->pool->labels.count; i++) {
        const struct sym_pair *label = &l->pool->labels.items[i];
        const struct requirement *r = requirements_get(&all, requirement_key(l->syms, label->key));
        if (r == NULL || requirement_has(r, label->value, l->syms))
            continue;
        warn(l, arena_printf(l->arena, "spec.template.metadata.labels[%.*s]", SPAN_ARG(sym_text(l->syms, label->key))),
             arena_printf(l->arena, "\"%.*s\" is not what the pool's requirements allow (%.*s): no pod that asks for the "
                                    "label gets a node, and where every instance type has it, nobody. Fix: change one of them",
                          SPAN_ARG(sym_text(l->syms, label->value)), SPAN_ARG(words(l, r))));
    }
}

/* A limit below nothing: upstream takes it, and buys nothing. */
static void look_at_limits(struct look *l)
{
    for (uint32_t i = 0; i < l->pool->limits.count; i++) {
        struct span name = sym_text(l->syms, l->pool->limits.items[i].name);
        bool dotted = span_contains(name, SPAN("."));
        if (l->pool->limits.items[i].value < 0)
            warn(l, arena_printf(l->arena, "spec.limits%s%.*s%s", dotted ? "[" : ".", SPAN_ARG(name), dotted ? "]" : ""),
                 SPAN("is negative, so that no node is bought for the pool. Fix: write 0, or remove it"));
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

static void look_at_budget(struct look *l, uint32_t at)
{
    const struct budget *b = &l->pool->budgets.items[at];
    struct span path = arena_printf(l->arena, "spec.disruption.budgets[%u]", at);
    struct err err;
    if (!budget_valid(b, &err)) {
        warn(l, path, arena_printf(l->arena, "%s; until that is fixed, no node of the pool is disrupted", err.msg));
        return;
    }
    enum budget_times times = budget_times_of(b);
    struct span text = budget_without_effect(l, b, times);
    if (text.ptr == NULL && times == BUDGET_ALWAYS && allows_none(b) && b->reasons.count == 0)
        text = SPAN("allows none at any time, so that no node of the pool is ever emptied, consolidated, replaced for drift "
                    "or repaired. Fix, unless that is meant: give it reasons, or a schedule and a duration");
    if (text.ptr != NULL)
        warn(l, path, text);
}

static void look_at_disruption(struct look *l)
{
    for (uint32_t i = 0; i < l->pool->budgets.count; i++)
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
    look_at_requirements(&l);
    look_at_limits(&l);
    look_at_disruption(&l);
}
