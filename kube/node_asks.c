#include "kube/node_asks.h"

#include <stdlib.h>

struct look {
    struct arena *arena;
    const struct node_asks *asks;
    struct symtab *syms;
    struct findings *found;
};

struct node_asks node_asks_of_pool(const struct node_pool *p)
{
    return (struct node_asks){.requirements = p->requirements,
                              .labels = p->labels,
                              .at = "spec.template.spec",
                              .whose = "the pool's",
                              .undone = "no node is bought for the pool"};
}

struct node_asks node_asks_of_claim(const struct node_claim *c)
{
    return (struct node_asks){.requirements = c->requirements,
                              .at = "spec",
                              .whose = "the claim's",
                              .undone = "no node comes of the claim"};
}

static void warn(struct look *l, struct span path, struct span text)
{
    finding_add(l->arena, l->found, false, path, text);
}

/* As an API server compares what a key must be with what it must not (spec api 6.2). */
static bool allows_absence(const struct requirement *r)
{
    enum op op = requirement_op(r);
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

/* ---- requirements that leave no value, each with those of its key before it ---- */

struct ask {
    struct requirement r;
    uint32_t at; /* in the list as it was written */
};

static int by_key_and_place(const void *x, const void *y)
{
    const struct ask *a = x, *b = y;
    if (a->r.key != b->r.key)
        return a->r.key < b->r.key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Those that are not refused anyway. Returns how many. */
static uint32_t valid_asks(struct look *l, struct ask *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->asks->requirements.count && !findings_closed(l->found); i++) {
        const struct expression *e = &l->asks->requirements.items[i];
        struct err err;
        if (e->op != OP_NONE && expression_operands_valid(e, l->syms, &err))
            out[n++] = (struct ask){requirement_of(l->arena, l->syms, e), i};
    }
    if (n > 1)
        qsort(out, n, sizeof(*out), by_key_and_place);
    return n;
}

static bool leave_no_value(struct look *l, const struct requirement *run, uint32_t count)
{
    struct requirement all = requirement_and_all(l->arena, run, count, l->syms);
    return requirement_op(&all) == OP_DOES_NOT_EXIST;
}

/* The first of a run of one key that leaves no value after those before it; count: none. What leaves no value leaves none
 * with more, either: found by halving. Two that allow the key's absence do not contradict each other. */
static uint32_t first_contradiction(struct look *l, const struct requirement *run, uint32_t count)
{
    uint32_t low = 1, high = count; /* how many it takes */
    if (count < 2 || !leave_no_value(l, run, count))
        return count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (leave_no_value(l, run, middle))
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t at = low - 1;
    struct requirement before = at != 0 ? requirement_and_all(l->arena, run, at, l->syms) : run[0];
    if (at != 0 && !(allows_absence(&before) && allows_absence(&run[at])))
        return at;
    for (at = low; at < count && allows_absence(&run[at]);)
        at++;
    return at;
}

static void warn_contradiction(struct look *l, const struct requirement *run, uint32_t at, uint32_t index)
{
    struct requirement before = requirement_and_all(l->arena, run, at, l->syms);
    warn(l, arena_printf(l->arena, "%s.requirements[%u]", l->asks->at, index),
         arena_printf(l->arena, "%.*s leaves no value after %.*s: nodes come without the label, or, where every instance "
                                "type has it, not at all. Fix: remove one of them",
                      SPAN_ARG(requirement_text(l->arena, &run[at], l->syms)),
                      SPAN_ARG(requirement_text(l->arena, &before, l->syms))));
}

/* The set of all; false: it leaves no value, and what else it comes to is unknown. The first that does so is reported. */
static bool add_up(struct look *l, struct requirements *all)
{
    struct ask *asks = ARENA_ARRAY(l->arena, struct ask, l->asks->requirements.count);
    uint32_t count = valid_asks(l, asks), first = UINT32_MAX, first_run = 0, first_at = 0;
    struct requirement *items = ARENA_ARRAY(l->arena, struct requirement, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = asks[i].r;
    for (uint32_t i = 0, end; i < count && !findings_closed(l->found); i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        uint32_t at = first_contradiction(l, items + i, end - i);
        if (at < end - i && asks[i + at].at < first) {
            first = asks[i + at].at;
            first_run = i;
            first_at = at;
        }
    }
    if (first != UINT32_MAX)
        warn_contradiction(l, items + first_run, first_at, first);
    *all = requirements_of_list(l->arena, items, count, l->syms);
    return first == UINT32_MAX;
}

/* ---- what they come to ---- */

static void look_at_min_values(struct look *l, const struct requirements *all)
{
    for (uint32_t i = 0; i < l->asks->requirements.count && !findings_closed(l->found); i++) {
        const struct expression *e = &l->asks->requirements.items[i];
        const struct requirement *r = requirements_get(all, requirement_key(l->syms, e->key));
        if (r == NULL || e->min_values == 0 || requirement_op(r) != OP_IN || r->count >= (uint32_t)e->min_values ||
            (e->op == OP_IN && e->values.count < (uint32_t)e->min_values))
            continue;
        warn(l, arena_printf(l->arena, "%s.requirements[%u].minValues", l->asks->at, i),
             arena_printf(l->arena, "%d cannot be met: %s requirements together leave %u (%.*s). Fix: lower it, or allow more "
                                    "values",
                          e->min_values, l->asks->whose, r->count, SPAN_ARG(requirement_text(l->arena, r, l->syms))));
    }
}

void node_asks_warnings(struct arena *a, const struct node_asks *asks, struct symtab *syms, struct findings *out)
{
    struct look of = {a, asks, syms, out}, *l = &of;
    struct requirements all;
    if (!add_up(l, &all))
        return;
    look_at_min_values(l, &all);
    for (uint32_t i = 0; i < l->asks->labels.count && !findings_closed(out); i++) {
        const struct sym_pair *label = &l->asks->labels.items[i];
        const struct requirement *r = requirements_get(&all, requirement_key(l->syms, label->key));
        if (r == NULL || requirement_has(r, label->value, l->syms))
            continue;
        warn(l, arena_printf(l->arena, "spec.template.metadata.labels[%.*s]", SPAN_ARG(sym_text(l->syms, label->key))),
             arena_printf(l->arena, "\"%.*s\" is not what %s requirements allow (%.*s): no pod that asks for the label gets "
                                    "a node, and where every instance type has it, nobody. Fix: change one of them",
                          SPAN_ARG(sym_text(l->syms, label->value)), l->asks->whose,
                          SPAN_ARG(requirement_text(l->arena, r, l->syms))));
    }
}
