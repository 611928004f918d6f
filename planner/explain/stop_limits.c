/* Limits: what the pool has left of them is too little. */
#include "planner/explain/stop_inner.h"

struct counted { /* of a limit */
    amount limit, used, planned;
};

/* `before` was left of it before the plan. A node that the plan takes away gives back what stood there. */
static struct counted count_up(amount limit, amount before, amount left)
{
    amount used = limit - (left > before ? left : before);
    return (struct counted){limit, used, limit - left - used};
}

/* "8Gi: 6Gi used, 2Gi planned" */
static struct span counted_text(struct plan *p, struct span limit, struct span used, struct span planned)
{
    return arena_printf(&p->arena, "%.*s: %.*s used%s%.*s%s", SPAN_ARG(limit), SPAN_ARG(used),
                        planned.len != 0 ? ", " : "", SPAN_ARG(planned),
                        planned.len != 0 ? " planned" : "");
}

void stop_nodes(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = stop_option(q, option);
    struct span pool = stop_pool(q, option);
    struct counted n = count_up(resources_get(o->pool->limits, SYM_NODES), o->nodes_left,
                                q->t->nodes_left[option]);
    struct span planned =
        n.planned != 0 ? arena_printf(&p->arena, "%lld", (long long)n.planned) : SPAN("");
    s->sentence = arena_printf(
        &p->arena, "finds pool %.*s at its limit of nodes (%.*s)", SPAN_ARG(pool),
        SPAN_ARG(counted_text(p, arena_printf(&p->arena, "%lld", (long long)n.limit),
                              arena_printf(&p->arena, "%lld", (long long)n.used), planned)));
    s->fix = arena_printf(&p->arena, "raise spec.limits.nodes of pool %.*s", SPAN_ARG(pool));
}

/* Whether the limit of this column leaves no type that holds the pod, whatever the others say. */
static bool limit_binds(const struct group_question *q, uint32_t option, uint32_t column)
{
    const struct world *w = q->p->world;
    const struct spec *s = stop_spec(q, option);
    const amount *requests = classes_requests(&w->classes, q->class_id);
    amount left = world_vector(w, q->t->budgets, option)[column];
    if (left == INT64_MAX)
        return false;
    for (BITS_EACH(type, s->types, w->types.words))
        if (spec_type_holds(w, s, type, requests) &&
            world_vector(w, w->types.capacity, type)[column] <= left)
            return false;
    return true;
}

static void tell_limit(const struct group_question *q, uint32_t option, struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = stop_option(q, option);
    uint32_t c = s->column;
    amount left = world_vector(p->world, q->t->budgets, option)[c];
    struct span pool = stop_pool(q, option);
    struct counted n = count_up(resources_get(o->pool->limits, p->world->columns[c]), o->budget[c], left);
    s->sentence = arena_printf(&p->arena,
                               "finds only %.*s left within the limits of pool %.*s (%.*s), and every "
                               "type that would hold it has more",
                               SPAN_ARG(words_amount(p, c, left > 0 ? left : 0)), SPAN_ARG(pool),
                               SPAN_ARG(counted_text(p, words_number(p, c, n.limit),
                                                     words_number(p, c, n.used),
                                                     n.planned != 0 ? words_number(p, c, n.planned)
                                                                    : SPAN(""))));
    s->fix = arena_printf(&p->arena, "raise spec.limits.%.*s of pool %.*s",
                          SPAN_ARG(sym_text(p->syms, p->world->columns[c])),
                          SPAN_ARG(pool));
}

void stop_limits(const struct group_question *q, uint32_t option, struct stop *s)
{
    const struct world *w = q->p->world;
    const amount *budget = world_vector(w, q->t->budgets, option);
    uint32_t column = 0;
    while (column < w->column_count && !limit_binds(q, option, column))
        column++;
    if (column == w->column_count) /* they do together: any that there is */
        for (column = 0; column + 1 < w->column_count && budget[column] == INT64_MAX;)
            column++;
    s->column = column;
    tell_limit(q, option, s);
}

bool stop_spent(const struct group_question *q, uint32_t option, uint32_t column, struct stop *out)
{
    const struct world *w = q->p->world;
    const amount *budget = world_vector(w, q->t->budgets, option);
    const amount *requests = classes_requests(&w->classes, q->class_id);
    while (column < w->column_count &&
           (requests[column] <= budget[column] || stop_is_mistyped(w, column, requests[column])))
        column++;
    if (column == w->column_count)
        return false;
    *out = (struct stop){.rule = OPEN_LIMITS, .column = column};
    tell_limit(q, option, out);
    return true;
}
