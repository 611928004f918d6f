#include "kube/pod_budgets.h"

struct pod_budget_entry {
    uint64_t key;
    uint32_t budget; /* position */
    uint32_t next;   /* of the slot, + 1; positions ascend */
};

/* Of a label in a namespace; SYM_NONE, SYM_NONE: of the namespace. */
static uint64_t key_of(uint64_t ns, sym key, sym value)
{
    uint64_t x = ns ^ (((uint64_t)key << 32 | value) * UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static void add(struct pod_budgets *b, struct arena *a, uint64_t key, uint32_t budget)
{
    struct pod_budget_entry e = {.key = key, .budget = budget};
    ARENA_PUSH(a, b->entries, b->entry_count, b->entry_capacity, e);
}

/* The shortest list of a label that a pod must have one of; NULL: the selector has none. */
static const struct expression *choice_of(const struct label_selector *s)
{
    const struct expression *best = NULL;
    for (uint32_t i = 0; i < s->match_expressions.count; i++) {
        const struct expression *e = &s->match_expressions.items[i];
        if (e->op == OP_IN && (best == NULL || e->values.count < best->values.count))
            best = e;
    }
    return best;
}

static void add_budget(struct pod_budgets *b, struct arena *a, uint32_t at)
{
    const struct disruption_budget *budget = b->items[at];
    const struct label_selector *s = &budget->selector;
    const struct expression *choice = choice_of(s);
    uint64_t ns = span_hash(budget->meta.ns);
    if (!budget->has_selector)
        return;
    if (s->match_labels.count != 0)
        add(b, a, key_of(ns, s->match_labels.items[0].key, s->match_labels.items[0].value), at);
    else if (choice == NULL)
        add(b, a, key_of(ns, SYM_NONE, SYM_NONE), at);
    else
        for (uint32_t i = 0; i < choice->values.count; i++)
            add(b, a, key_of(ns, choice->key, choice->values.items[i]), at);
}

struct pod_budgets pod_budgets_make(struct arena *a, const struct disruption_budget *const *items,
                                    uint32_t count)
{
    struct pod_budgets b = {.items = items, .count = count};
    uint32_t slots = 1;
    for (uint32_t i = 0; i < count; i++)
        add_budget(&b, a, i);
    while (slots < b.entry_count * 2)
        slots *= 2;
    b.slots = ARENA_ARRAY(a, uint32_t, slots);
    b.mask = slots - 1;
    for (uint32_t i = b.entry_count; i-- > 0;) {
        uint32_t *slot = &b.slots[b.entries[i].key & b.mask];
        b.entries[i].next = *slot;
        *slot = i + 1;
    }
    return b;
}

/* The two least of those in `found` and `budget`, each once. */
static uint32_t note(uint32_t found[2], uint32_t count, uint32_t budget)
{
    uint32_t at = 0;
    while (at < count && found[at] < budget)
        at++;
    if (at == 2 || (at < count && found[at] == budget))
        return count;
    if (at == 0 && count != 0)
        found[1] = found[0];
    found[at] = budget;
    return count < 2 ? count + 1 : 2;
}

static bool selects(const struct disruption_budget *b, const struct pod *p)
{
    return span_eq(b->meta.ns, p->meta.ns) && label_selector_matches(&b->selector, p->meta.labels);
}

static uint32_t look(const struct pod_budgets *b, const struct pod *p, uint64_t key, uint32_t found[2],
                     uint32_t count)
{
    for (uint32_t at = b->slots[key & b->mask]; at != 0; at = b->entries[at - 1].next) {
        const struct pod_budget_entry *e = &b->entries[at - 1];
        if (e->key == key && selects(b->items[e->budget], p))
            count = note(found, count, e->budget);
    }
    return count;
}

uint32_t pod_budgets_of(const struct pod_budgets *b, const struct pod *p, uint32_t out[2])
{
    if (b == NULL || b->entry_count == 0)
        return 0;
    uint64_t ns = span_hash(p->meta.ns);
    uint32_t count = look(b, p, key_of(ns, SYM_NONE, SYM_NONE), out, 0);
    for (uint32_t i = 0; i < p->meta.labels.count; i++)
        count = look(b, p, key_of(ns, p->meta.labels.items[i].key, p->meta.labels.items[i].value), out,
                     count);
    return count;
}

static uint32_t collect(const struct pod_budgets *b, const struct pod *p, uint64_t key, uint32_t *out, uint32_t count)
{
    uint32_t last = UINT32_MAX; /* a selector may name a value twice; positions ascend */
    for (uint32_t at = b->slots[key & b->mask]; at != 0; at = b->entries[at - 1].next) {
        const struct pod_budget_entry *e = &b->entries[at - 1];
        if (e->key != key || e->budget == last || !selects(b->items[e->budget], p))
            continue;
        last = e->budget;
        out[count++] = last;
    }
    return count;
}

/* A budget stands under one label alone, of which a pod has one value: no list has what another had. */
uint32_t pod_budgets_all(const struct pod_budgets *b, const struct pod *p, uint32_t *out)
{
    if (b->entry_count == 0)
        return 0;
    uint64_t ns = span_hash(p->meta.ns);
    uint32_t count = collect(b, p, key_of(ns, SYM_NONE, SYM_NONE), out, 0);
    for (uint32_t i = 0; i < p->meta.labels.count; i++)
        count = collect(b, p, key_of(ns, p->meta.labels.items[i].key, p->meta.labels.items[i].value), out, count);
    return count;
}
