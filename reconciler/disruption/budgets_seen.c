#include "reconciler/disruption/budgets_seen.h"

#include "planner/bits.h"

void budgets_seen_init(struct budgets_seen *b)
{
    *b = (struct budgets_seen){.anew = true};
    arena_init(&b->arenas[0], 0);
    arena_init(&b->arenas[1], 0);
}

void budgets_seen_release(struct budgets_seen *b)
{
    arena_release(&b->arenas[0]);
    arena_release(&b->arenas[1]);
}

/* In the order of the snapshot, which the same names always have. */
static struct pod_budgets collect(struct arena *a, const struct snapshot *s)
{
    uint32_t room = s->state[KIND_DISRUPTION_BUDGET].count, count = 0;
    const struct disruption_budget **list = ARENA_ARRAY(a, const struct disruption_budget *, room);
    struct snapshot_iter it = snapshot_each(s, KIND_DISRUPTION_BUDGET);
    for (const void *b; count < room && (b = snapshot_next(&it)) != NULL;)
        list[count++] = b;
    return pod_budgets_make(a, list, count);
}

static bool selects_the_same(const struct disruption_budget *a, const struct disruption_budget *b)
{
    return span_eq(a->meta.ns, b->meta.ns) && span_eq(a->meta.name, b->meta.name) &&
           a->has_selector == b->has_selector && label_selector_same(&a->selector, &b->selector);
}

/* NULL: positions do not mean what they meant. */
static const uint64_t *compare(struct arena *a, const struct pod_budgets *before,
                               const struct pod_budgets *now)
{
    if (before->count != now->count)
        return NULL;
    uint64_t *changed = ARENA_ARRAY(a, uint64_t, bits_words(now->count));
    for (uint32_t i = 0; i < now->count; i++) {
        if (before->items[i] == now->items[i])
            continue;
        if (!selects_the_same(before->items[i], now->items[i]))
            return NULL;
        bits_add(changed, i);
    }
    return changed;
}

void budgets_seen_look(struct budgets_seen *b, const struct snapshot *s, const struct snapshot *previous)
{
    bool comparable = previous != NULL && previous->syms == s->syms;
    b->changed = NULL;
    b->anew = false;
    if (comparable && snapshot_same(s, previous, KIND_DISRUPTION_BUDGET))
        return;
    struct arena *a = &b->arenas[b->used ^= 1];
    arena_clear(a);
    struct pod_budgets now = collect(a, s);
    if (comparable)
        b->changed = compare(a, &b->index, &now);
    b->anew = b->changed == NULL;
    b->index = now;
}
