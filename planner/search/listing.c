#include "planner/search/listing.h"

#include <math.h>
#include <stdlib.h>

static int sym_order(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

struct requirement listing_one_of(sym key, sym *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), sym_order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (n == 0 || values[n - 1] != values[i])
            values[n++] = values[i];
    return (struct requirement){.key = key, .values = values, .count = n};
}

uint32_t listing_most_types(const struct plan_options *o)
{
    return o->max_instance_types != 0 ? o->max_instance_types : 600;
}

struct priced {
    double price;
    const struct instance_type *type;
    uint32_t index;
};

/* Prices of a spec's types in the offerings that it admits, and the types by price. Claims that hold
 * reservations have prices of their own. */
struct price_list {
    double *price;   /* by type */
    uint32_t *order; /* types, cheapest first, ties by name */
    uint32_t count;
    uint64_t *sold;  /* those that can be launched */
    const uint64_t *kinds; /* of offerings that were looked at */
};

void listings_init(struct listings *lists, struct arena *a, struct symtab *syms,
                   const struct plan_options *o, const struct trial *t)
{
    const struct types *y = &t->world->types;
    *lists = (struct listings){.arena = a, .syms = syms, .options = o};
    intern_init(&lists->known, a);
    lists->prices = ARENA_ARRAY(a, struct price_list *, t->specs.count);
    lists->by_sym = ARENA_ARRAY(a, uint32_t, y->count);
    for (uint32_t i = 0; i < y->count; i++)
        lists->by_sym[i] = i;
    for (uint32_t i = 1; i < y->count; i++) /* in order already, mostly: types are sorted by name */
        for (uint32_t k = i; k > 0 && types_at(y, lists->by_sym[k])->name_sym <
                                          types_at(y, lists->by_sym[k - 1])->name_sym;
             k--) {
            uint32_t swap = lists->by_sym[k];
            lists->by_sym[k] = lists->by_sym[k - 1];
            lists->by_sym[k - 1] = swap;
        }
}

/* Offerings that the finished claim admits: of the reservations that it holds, if it does. */
static const uint64_t *claim_kinds(struct listings *lists, const struct trial *t, const struct trial_claim *c)
{
    const struct types *y = &t->world->types;
    const struct spec *s = &t->specs.items[c->spec];
    if (c->held == NULL)
        return s->kinds;
    uint64_t *kinds = ARENA_ARRAY(lists->arena, uint64_t, y->kind_words);
    for (BITS_EACH(r, c->held, bits_words(y->reservation_count)))
        for (uint32_t i = 0; i < y->kind_words; i++)
            kinds[i] |= y->kinds_held[r][i] & s->kinds[i];
    return kinds;
}

static int priced_order(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return span_cmp(x->type->name, y->type->name);
}

static struct price_list *list_prices(struct listings *lists, const struct trial *t,
                                      const struct trial_claim *c, const uint64_t *kinds)
{
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    const uint64_t *set = s->types;
    const struct types *y = &t->world->types;
    struct price_list *l = ARENA_NEW(lists->arena, struct price_list);
    l->kinds = kinds;
    struct priced *sorted = ARENA_ARRAY(lists->arena, struct priced, bits_count(set, y->words));
    l->price = ARENA_ARRAY(lists->arena, double, y->count);
    l->order = ARENA_ARRAY(lists->arena, uint32_t, y->count);
    l->sold = ARENA_ARRAY(lists->arena, uint64_t, y->words);
    for (BITS_EACH(type, set, y->words)) {
        l->price[type] = trial_price(t, o, type, kinds, c->requests);
        if (l->price[type] < (double)INFINITY)
            bits_add(l->sold, type);
        sorted[l->count++] = (struct priced){l->price[type], types_at(y, type), type};
    }
    if (l->count != 0)
        qsort(sorted, l->count, sizeof(*sorted), priced_order);
    for (uint32_t i = 0; i < l->count; i++)
        l->order[i] = sorted[i].index;
    return l;
}

/* Whether what is on the claim, and not its spec alone, decides what its types cost. */
static bool own_prices(const struct trial *t, const struct trial_claim *c)
{
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    return c->held != NULL || bits_meet(s->types, o->twins, t->world->types.words);
}

static const struct price_list *claim_prices(struct listings *lists,
                                             const struct trial *t, const struct trial_claim *c)
{
    const struct spec *s = &t->specs.items[c->spec];
    if (own_prices(t, c))
        return list_prices(lists, t, c, claim_kinds(lists, t, c));
    if (lists->prices[c->spec] == NULL)
        lists->prices[c->spec] = list_prices(lists, t, c, s->kinds);
    return lists->prices[c->spec];
}

/* The types that can be launched by what the claim asks in the end: not those that only had a
 * reservation that is full, or not one of those that the claim holds. With minValues only if these are
 * enough, since they count what is listed. */
static const uint64_t *sold_types(struct listings *lists, struct trial *t, uint32_t claim,
                                  const uint64_t *left, const struct price_list *prices)
{
    const struct types *y = &t->world->types;
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    uint64_t *sold = ARENA_ARRAY(lists->arena, uint64_t, y->words);
    for (uint32_t i = 0; i < y->words; i++)
        sold[i] = left[i] & prices->sold[i];
    if (bits_count(sold, y->words) == 0)
        return left;
    for (uint32_t i = 0; i < o->least_count; i++)
        if (trial_values(t, s, sold, o->least[i].key, c->least[i]) < c->least[i])
            return left;
    return sold;
}

/* Capacity types that can still be launched. */
static struct requirement launchable_capacity(struct listings *lists, const struct trial *t,
                                              const struct spec *s, const struct listing *l)
{
    const struct types *y = &t->world->types;
    const struct requirement *asked = requirements_get(&s->requirements, SYM_CAPACITY_TYPE);
    sym *values = NULL;
    uint32_t count = 0, capacity = 0;
    uint64_t *seen = ARENA_ARRAY(lists->arena, uint64_t, y->kind_words);
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t k = y->first_offer[l->indexes[i]]; k < y->first_offer[l->indexes[i] + 1]; k++)
            if (trial_launchable(t, &y->offers[k]) && bits_has(s->kinds, y->offers[k].kind))
                bits_add(seen, y->offers[k].kind);
    for (BITS_EACH(kind, seen, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        for (uint32_t v = 0; r != NULL && !r->complement && v < r->count; v++)
            if (asked == NULL || requirement_has(asked, r->values[v], lists->syms))
                ARENA_PUSH(lists->arena, values, count, capacity, r->values[v]);
    }
    return count != 0 ? listing_one_of(SYM_CAPACITY_TYPE, values, count)
                      : (struct requirement){.key = SYM_CAPACITY_TYPE};
}

/* Offerings that the claim still admits when its capacity type is one of those that can be launched. */
static uint64_t *listed_kinds(struct listings *lists, const struct trial *t, const struct listing *l,
                              const uint64_t *kinds)
{
    const struct types *y = &t->world->types;
    uint64_t *out = ARENA_ARRAY(lists->arena, uint64_t, y->kind_words);
    for (BITS_EACH(kind, kinds, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        if (l->capacity.count == 0 || r == NULL || requirement_intersects(&l->capacity, r, lists->syms))
            bits_add(out, kind);
    }
    return out;
}

static const amount *least_overhead(struct listings *lists, const struct trial *t, const struct option *o,
                                    const struct listing *l, const uint64_t *kinds)
{
    const struct world *w = t->world;
    const struct types *y = &w->types;
    if (o->daemon_count == 1)
        return o->daemons[0].overhead;
    amount *least = ARENA_ARRAY(lists->arena, amount, w->column_count);
    uint32_t last = UINT32_MAX; /* neighbours mostly get the same DaemonSets */
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t k = y->first_offer[l->indexes[i]]; k < y->first_offer[l->indexes[i] + 1]; k++) {
            uint32_t here = o->daemon_of[o->row_of[k]];
            if (!bits_has(kinds, y->offers[k].kind) || here == last)
                continue;
            for (uint32_t c = 0; c < w->column_count; c++)
                if (last == UINT32_MAX || o->daemons[here].overhead[c] < least[c])
                    least[c] = o->daemons[here].overhead[c];
            last = here;
        }
    return least;
}

static struct listing list_types(struct listings *lists, const struct trial *t,
                                 const struct spec *s, const struct price_list *prices,
                                 const uint64_t *set, uint32_t most)
{
    const struct types *y = &t->world->types;
    struct listing l = {.types = ARENA_ARRAY(lists->arena, const struct instance_type *, most)};
    uint32_t *indexes = ARENA_ARRAY(lists->arena, uint32_t, most);
    uint64_t *listed = ARENA_ARRAY(lists->arena, uint64_t, y->words);
    sym *names = ARENA_ARRAY(lists->arena, sym, most);
    for (uint32_t i = 0; i < prices->count && l.count < most; i++)
        if (bits_has(set, prices->order[i])) {
            bits_add(listed, prices->order[i]);
            l.types[l.count] = types_at(y, prices->order[i]);
            indexes[l.count++] = prices->order[i];
        }
    l.indexes = indexes;
    l.price = l.count != 0 && prices->price[indexes[0]] < (double)INFINITY
                  ? prices->price[indexes[0]]
                  : NAN;
    l.names = (struct requirement){.key = SYM_INSTANCE_TYPE, .values = names};
    for (uint32_t i = 0; i < y->count; i++) {
        sym name = types_at(y, lists->by_sym[i])->name_sym;
        if (bits_has(listed, lists->by_sym[i]) &&
            (l.names.count == 0 || names[l.names.count - 1] != name))
            names[l.names.count++] = name;
    }
    l.capacity = launchable_capacity(lists, t, s, &l);
    l.overhead = least_overhead(lists, t, &t->world->options[s->option], &l,
                                listed_kinds(lists, t, &l, prices->kinds));
    return l;
}

const struct listing *listing_of(struct listings *lists, struct trial *t, uint32_t claim)
{
    const struct types *y = &t->world->types;
    const uint64_t *left = trial_claim_types(t, claim);
    const struct trial_claim *c = &t->claims[claim];
    const struct price_list *prices = claim_prices(lists, t, c);
    left = sold_types(lists, t, claim, left, prices);
    struct words words;
    words_init(&words, lists->arena);
    words_put(&words, c->spec);
    words_put(&words, own_prices(t, c) ? claim + 1 : 0);
    for (uint32_t i = 0; i < y->words; i++)
        words_put64(&words, left[i]);
    bool is_new;
    uint32_t id = intern_put(&lists->known, &words, &is_new);
    if (is_new) {
        uint32_t count = bits_count(left, y->words), most = listing_most_types(lists->options);
        struct listing l = list_types(lists, t, &t->specs.items[c->spec], prices, left,
                                      count < most ? count : most);
        ARENA_PUSH(lists->arena, lists->items, lists->count, lists->capacity, l);
    }
    return &lists->items[id];
}

bool listing_holds(struct trial *t, uint32_t claim, const struct listing *l)
{
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (t->best_effort || option->least_count == 0)
        return true;
    memset(t->left, 0, t->world->types.words * sizeof(*t->left));
    for (uint32_t i = 0; i < l->count; i++)
        bits_add(t->left, l->indexes[i]);
    for (uint32_t i = 0; i < option->least_count; i++)
        if (trial_values(t, s, t->left, option->least[i].key, c->least[i]) < c->least[i])
            return false;
    return true;
}

bool listing_price(struct listings *lists, struct trial *t, uint32_t claim, double *price_out)
{
    const struct trial_claim *c = &t->claims[claim];
    const struct option *option = &t->world->options[t->specs.items[c->spec].option];
    if (c->held != NULL || option->least_count != 0) {
        const struct listing *l = listing_of(lists, t, claim);
        *price_out = l->price;
        return listing_holds(t, claim, l);
    }
    const struct price_list *prices = claim_prices(lists, t, c);
    const uint64_t *left = trial_claim_types(t, claim);
    uint32_t i = 0;
    while (i < prices->count && !bits_has(left, prices->order[i]))
        i++;
    *price_out = i < prices->count && prices->price[prices->order[i]] < (double)INFINITY
                     ? prices->price[prices->order[i]]
                     : NAN;
    return true;
}
