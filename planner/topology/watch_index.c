#include "planner/topology/watch_index.h"

#include "planner/pods/classes.h"

#include <stdlib.h>

struct entry {
    uint32_t watch, next; /* + 1; 0: none */
};

struct watch_index {
    struct pairs first;   /* entries, + 1, by the namespace and what is asked there */
    struct pairs volumes; /* entries, + 1, by 0 and the volume */
    struct entry *entries;
    uint32_t count, capacity;
    uint32_t general; /* the entry of the first watch that is asked for every class, + 1 */
    uint32_t *group_of, *group_next; /* groups by watch, + 1 */
};

enum { ANY_NAMESPACE = 0, MOST_VALUES = 16 }; /* of more values the label is what is looked for */

struct handle { /* what a watch is found by: one of several symbols */
    sym one;
    struct syms several; /* count 0: `one` */
};

static struct handle handle_of(const struct expression *e)
{
    if (e->op == OP_IN && e->values.count <= MOST_VALUES)
        return (struct handle){.several = e->values};
    bool there = e->op == OP_IN || e->op == OP_EXISTS;
    return (struct handle){.one = there ? e->key : SYM_NONE};
}

static sym namespace_of(const struct topology_watch *w)
{
    return w->namespaces.count == 1 ? w->namespaces.items[0] : ANY_NAMESPACE;
}

static const sym *symbols(const struct handle *h, uint32_t *count_out)
{
    *count_out = h->several.count != 0 ? h->several.count : h->one != SYM_NONE;
    return h->several.count != 0 ? h->several.items : &h->one;
}

/* All that it may be found by: labels first, then expressions. */
static struct handle handle_at(const struct topology_watch *w, uint32_t i)
{
    const struct sym_pairs labels = w->selector.match_labels;
    if (i < labels.count)
        return (struct handle){.one = labels.items[i].value};
    return handle_of(&w->selector.match_expressions.items[i - labels.count]);
}

static uint32_t handle_count(const struct topology_watch *w)
{
    return w->selector.match_labels.count + w->selector.match_expressions.count;
}

static void count_asked(const struct topology_watch *w, struct pairs *asked)
{
    for (uint32_t i = 0; i < handle_count(w); i++) {
        struct handle h = handle_at(w, i);
        uint32_t count;
        const sym *list = symbols(&h, &count);
        for (uint32_t s = 0; s < count; s++)
            pairs_add(asked, namespace_of(w), list[s], 1);
    }
}

/* The handle that the fewest others have; without symbols: none. */
static struct handle rarest(const struct topology_watch *w, const struct pairs *asked)
{
    struct handle best = {0};
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < handle_count(w); i++) {
        struct handle h = handle_at(w, i);
        uint32_t count;
        const sym *list = symbols(&h, &count);
        uint64_t others = 0;
        for (uint32_t s = 0; s < count; s++)
            others += (uint32_t)pairs_get(asked, namespace_of(w), list[s]);
        if (count != 0 && others < least) {
            least = others;
            best = h;
        }
    }
    return best;
}

static uint32_t add_entry(struct watch_index *x, struct arena *a, uint32_t watch, uint32_t next)
{
    struct entry e = {watch, next};
    ARENA_PUSH(a, x->entries, x->count, x->capacity, e);
    return x->count;
}

static void add_to(struct watch_index *x, struct arena *a, struct pairs *lists, uint32_t from, uint32_t what,
                   uint32_t watch)
{
    uint32_t before = (uint32_t)pairs_get(lists, from, what);
    pairs_add(lists, from, what, (int32_t)(add_entry(x, a, watch, before) - before));
}

static void add_watch(struct watch_index *x, const struct topology *t, uint32_t watch,
                      const struct pairs *asked)
{
    const struct topology_watch *w = &t->watches[watch];
    struct handle h = rarest(w, asked);
    uint32_t count;
    if (w->nobody)
        return;
    const sym *list = symbols(&h, &count);
    if (w->volume != 0)
        add_to(x, t->arena, &x->volumes, 0, w->volume - 1, watch);
    else if (count == 0)
        x->general = add_entry(x, t->arena, watch, x->general);
    for (uint32_t s = 0; w->volume == 0 && s < count; s++)
        add_to(x, t->arena, &x->first, namespace_of(w), list[s], watch);
}

const struct watch_index *watch_index_make(const struct topology *t)
{
    struct watch_index *x = ARENA_NEW(t->arena, struct watch_index);
    struct pairs asked;
    pairs_init(&asked, t->arena);
    pairs_init(&x->first, t->arena);
    pairs_init(&x->volumes, t->arena);
    for (uint32_t i = 0; i < t->watch_count; i++)
        count_asked(&t->watches[i], &asked);
    for (uint32_t i = 0; i < t->watch_count; i++)
        add_watch(x, t, i, &asked);
    x->group_of = ARENA_ARRAY(t->arena, uint32_t, t->watch_count);
    x->group_next = ARENA_ARRAY(t->arena, uint32_t, t->group_count);
    for (uint32_t i = t->group_count; i-- > 0;) {
        x->group_next[i] = x->group_of[t->groups[i].watch];
        x->group_of[t->groups[i].watch] = i + 1;
    }
    return x;
}

/* --- the groups of a class --- */

struct group_list {
    uint32_t *items;
    uint32_t count, capacity;
};

struct tying {
    const struct topology *t;
    struct arena *a;
    const struct pod_class *k;
    struct group_list counted, off;
};

static void ask(struct tying *x, uint32_t from)
{
    const struct watch_index *index = x->t->index;
    for (uint32_t at = from; at != 0; at = index->entries[at - 1].next) {
        uint32_t watch = index->entries[at - 1].watch;
        if (!topology_watched(x->t, watch, x->k))
            continue;
        for (uint32_t g = index->group_of[watch]; g != 0; g = index->group_next[g - 1]) {
            struct group_list *list = x->t->groups[g - 1].inverse ? &x->off : &x->counted;
            ARENA_PUSH(x->a, list->items, list->count, list->capacity, g - 1);
        }
    }
}

static void ask_of(struct tying *x, sym what)
{
    const struct pairs *first = &x->t->index->first;
    ask(x, (uint32_t)pairs_get(first, x->k->ns, what));
    ask(x, (uint32_t)pairs_get(first, ANY_NAMESPACE, what));
}

static int number_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Two labels may have one value: then a watch is met twice. */
static void sort_unique(struct group_list *list)
{
    uint32_t n = 0;
    if (list->count != 0)
        qsort(list->items, list->count, sizeof(*list->items), number_order);
    for (uint32_t i = 0; i < list->count; i++)
        if (i == 0 || list->items[i] != list->items[i - 1])
            list->items[n++] = list->items[i];
    list->count = n;
}

void watch_index_ties(const struct topology *t, struct arena *a, struct pod_class *k)
{
    struct tying x = {.t = t, .a = a, .k = k};
    ask(&x, t->index->general);
    for (uint32_t i = 0; i < k->labels.count; i++) {
        ask_of(&x, k->labels.items[i].value);
        ask_of(&x, k->labels.items[i].key);
    }
    for (uint32_t i = 0; i < k->unbound_count; i++)
        ask(&x, (uint32_t)pairs_get(&t->index->volumes, 0, k->unbound[i]));
    sort_unique(&x.counted);
    sort_unique(&x.off);
    k->ties.counted_by = x.counted.items;
    k->ties.counted_by_count = x.counted.count;
    k->ties.kept_off_by = x.off.items;
    k->ties.kept_off_by_count = x.off.count;
}
