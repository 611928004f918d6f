/* What is written into the NodeClaim (spec provisioning 5.1, 5.2; plan-contract 4 and 6). */
#include "planner/plan/solution.h"
#include "planner/supply/pool_template.h"

#include <math.h>
#include <stdlib.h>

static int sym_order(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

/* Puts r in place of what the set says about its key. */
static void set_requirement(struct arena *a, struct requirements *set, struct requirement r)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, (size_t)set->count + 1);
    uint32_t n = 0, i = 0;
    for (; i < set->count && set->items[i].key < r.key; i++)
        items[n++] = set->items[i];
    items[n++] = r;
    for (; i < set->count; i++)
        if (set->items[i].key != r.key)
            items[n++] = set->items[i];
    *set = (struct requirements){items, n};
}

static struct requirement one_of(sym key, sym *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), sym_order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (n == 0 || values[n - 1] != values[i])
            values[n++] = values[i];
    return (struct requirement){.key = key, .values = values, .count = n};
}

uint32_t solution_most_types(const struct plan_options *o)
{
    return o->max_instance_types != 0 ? o->max_instance_types : 600;
}

/* --- which types, at what price --- */

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

/* What claims of one spec with equal types have in common: it is worked out once. */
struct listing {
    const struct instance_type **types;
    const uint32_t *indexes;
    uint32_t count;
    double price;
    struct requirement names;    /* the types' */
    struct requirement capacity; /* capacity types that can be launched; no values: none can */
    const amount *overhead;      /* of DaemonSets, the least of any type and offering */
};

void solution_lists_init(struct solution_lists *l, struct plan *p, const struct trial *t)
{
    const struct types *y = &t->world->types;
    *l = (struct solution_lists){0};
    intern_init(&l->known, &p->arena);
    l->prices = ARENA_ARRAY(&p->arena, struct price_list *, t->specs.count);
    l->by_sym = ARENA_ARRAY(&p->arena, uint32_t, y->count);
    for (uint32_t i = 0; i < y->count; i++)
        l->by_sym[i] = i;
    for (uint32_t i = 1; i < y->count; i++) /* in order already, mostly: types are sorted by name */
        for (uint32_t k = i; k > 0 && types_at(y, l->by_sym[k])->name_sym <
                                          types_at(y, l->by_sym[k - 1])->name_sym;
             k--) {
            uint32_t swap = l->by_sym[k];
            l->by_sym[k] = l->by_sym[k - 1];
            l->by_sym[k - 1] = swap;
        }
}

/* Offerings that the finished claim admits: of the reservations that it holds, if it does. */
static const uint64_t *claim_kinds(struct plan *p, const struct trial *t, const struct trial_claim *c)
{
    const struct types *y = &t->world->types;
    const struct spec *s = &t->specs.items[c->spec];
    if (c->held == NULL)
        return s->kinds;
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, y->kind_words);
    for (BITS_EACH(r, c->held, bits_words(y->reservation_count)))
        for (uint32_t i = 0; i < y->kind_words; i++)
            kinds[i] |= y->kinds_held[r][i] & s->kinds[i];
    return kinds;
}

static double claim_price(const struct trial *t, uint32_t type, const uint64_t *kinds)
{
    const struct types *y = &t->world->types;
    double best = INFINITY;
    for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++)
        if (bits_has(kinds, y->offers[k].kind) && trial_launchable(t, &y->offers[k]) &&
            y->offers[k].price < best)
            best = y->offers[k].price;
    return best;
}

static int priced_order(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return span_cmp(x->type->name, y->type->name);
}

static struct price_list *list_prices(struct plan *p, const struct trial *t, const uint64_t *set,
                                      const uint64_t *kinds)
{
    const struct types *y = &t->world->types;
    struct price_list *l = ARENA_NEW(&p->arena, struct price_list);
    l->kinds = kinds;
    struct priced *sorted = ARENA_ARRAY(&p->arena, struct priced, bits_count(set, y->words));
    l->price = ARENA_ARRAY(&p->arena, double, y->count);
    l->order = ARENA_ARRAY(&p->arena, uint32_t, y->count);
    l->sold = ARENA_ARRAY(&p->arena, uint64_t, y->words);
    for (BITS_EACH(type, set, y->words)) {
        l->price[type] = claim_price(t, type, kinds);
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

static const struct price_list *claim_prices(struct plan *p, struct solution_lists *lists,
                                             const struct trial *t, const struct trial_claim *c)
{
    const struct spec *s = &t->specs.items[c->spec];
    if (c->held != NULL)
        return list_prices(p, t, s->types, claim_kinds(p, t, c));
    if (lists->prices[c->spec] == NULL)
        lists->prices[c->spec] = list_prices(p, t, s->types, s->kinds);
    return lists->prices[c->spec];
}

/* The types that can be launched by what the claim asks in the end: not those that only had a
 * reservation that is full, or not one of those that the claim holds. With minValues only if these are
 * enough, since they count what is listed. */
static const uint64_t *sold_types(struct plan *p, struct trial *t, uint32_t claim,
                                  const uint64_t *left, const struct price_list *prices)
{
    const struct types *y = &t->world->types;
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    uint64_t *sold = ARENA_ARRAY(&p->arena, uint64_t, y->words);
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
static struct requirement launchable_capacity(struct plan *p, const struct trial *t,
                                              const struct spec *s, const struct listing *l)
{
    const struct types *y = &t->world->types;
    const struct requirement *asked = requirements_get(&s->requirements, SYM_CAPACITY_TYPE);
    sym *values = NULL;
    uint32_t count = 0, capacity = 0;
    uint64_t *seen = ARENA_ARRAY(&p->arena, uint64_t, y->kind_words);
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t k = y->first_offer[l->indexes[i]]; k < y->first_offer[l->indexes[i] + 1]; k++)
            if (trial_launchable(t, &y->offers[k]) && bits_has(s->kinds, y->offers[k].kind))
                bits_add(seen, y->offers[k].kind);
    for (BITS_EACH(kind, seen, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        for (uint32_t v = 0; r != NULL && !r->complement && v < r->count; v++)
            if (asked == NULL || requirement_has(asked, r->values[v], p->syms))
                ARENA_PUSH(&p->arena, values, count, capacity, r->values[v]);
    }
    return count != 0 ? one_of(SYM_CAPACITY_TYPE, values, count)
                      : (struct requirement){.key = SYM_CAPACITY_TYPE};
}

/* Offerings that the claim still admits when its capacity type is one of those that can be launched. */
static uint64_t *listed_kinds(struct plan *p, const struct trial *t, const struct listing *l,
                              const uint64_t *kinds)
{
    const struct types *y = &t->world->types;
    uint64_t *out = ARENA_ARRAY(&p->arena, uint64_t, y->kind_words);
    for (BITS_EACH(kind, kinds, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        if (l->capacity.count == 0 || r == NULL || requirement_intersects(&l->capacity, r, p->syms))
            bits_add(out, kind);
    }
    return out;
}

static const amount *least_overhead(struct plan *p, const struct trial *t, const struct option *o,
                                    const struct listing *l, const uint64_t *kinds)
{
    const struct world *w = t->world;
    const struct types *y = &w->types;
    if (o->daemon_count == 1)
        return o->daemons[0].overhead;
    amount *least = ARENA_ARRAY(&p->arena, amount, w->column_count);
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

static struct listing list_types(struct plan *p, struct solution_lists *lists, const struct trial *t,
                                 const struct spec *s, const struct price_list *prices,
                                 const uint64_t *set, uint32_t most)
{
    const struct types *y = &t->world->types;
    struct listing l = {.types = ARENA_ARRAY(&p->arena, const struct instance_type *, most)};
    uint32_t *indexes = ARENA_ARRAY(&p->arena, uint32_t, most);
    uint64_t *listed = ARENA_ARRAY(&p->arena, uint64_t, y->words);
    sym *names = ARENA_ARRAY(&p->arena, sym, most);
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
    l.capacity = launchable_capacity(p, t, s, &l);
    l.overhead = least_overhead(p, t, &t->world->options[s->option], &l,
                                listed_kinds(p, t, &l, prices->kinds));
    return l;
}

static const struct listing *claim_listing(struct plan *p, struct solution_lists *lists,
                                           struct trial *t, const struct plan_options *o,
                                           uint32_t claim)
{
    const struct types *y = &t->world->types;
    const uint64_t *left = trial_claim_types(t, claim);
    const struct trial_claim *c = &t->claims[claim];
    const struct price_list *prices = claim_prices(p, lists, t, c);
    left = sold_types(p, t, claim, left, prices);
    struct words words;
    words_init(&words, &p->arena);
    words_put(&words, c->spec);
    words_put(&words, c->held != NULL ? claim + 1 : 0); /* prices of its own */
    for (uint32_t i = 0; i < y->words; i++)
        words_put64(&words, left[i]);
    bool is_new;
    uint32_t id = intern_put(&lists->known, &words, &is_new);
    if (is_new) {
        uint32_t count = bits_count(left, y->words), most = solution_most_types(o);
        struct listing l = list_types(p, lists, t, &t->specs.items[c->spec], prices, left,
                                      count < most ? count : most);
        ARENA_PUSH(&p->arena, lists->items, lists->count, lists->capacity, l);
    }
    return &lists->items[id];
}

/* Reserved by name: the launch is to take what the claim holds. */
static void claim_reservations(struct plan *p, const struct trial *t, const uint64_t *held,
                               struct plan_claim *out)
{
    const struct types *y = &t->world->types;
    sym *reserved = ARENA_NEW(&p->arena, sym);
    sym *ids = ARENA_ARRAY(&p->arena, sym, y->reservation_count);
    uint32_t count = 0;
    *reserved = SYM_RESERVED;
    set_requirement(&p->arena, &out->requirements, one_of(SYM_CAPACITY_TYPE, reserved, 1));
    for (BITS_EACH(r, held, bits_words(y->reservation_count)))
        if (y->reservations[r].id != SYM_NONE)
            ids[count++] = y->reservations[r].id;
    if (count != 0)
        set_requirement(&p->arena, &out->requirements, one_of(y->reservation_key, ids, count));
}

/* minValues stand as the claim was made with them. */
static void claim_least(const struct option *o, const struct trial_claim *c, struct plan_claim *out)
{
    for (uint32_t i = 0; i < out->requirements.count; i++) {
        out->requirements.items[i].min_values = 0;
        for (uint32_t k = 0; k < o->least_count; k++)
            if (o->least[k].key == out->requirements.items[i].key)
                out->requirements.items[i].min_values = (int32_t)c->least[k];
    }
}

static bool least_holds(struct trial *t, const struct plan_options *o, const struct trial_claim *c,
                        const struct listing *l)
{
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (o->best_effort_min_values || option->least_count == 0)
        return true;
    memset(t->left, 0, t->world->types.words * sizeof(*t->left));
    for (uint32_t i = 0; i < l->count; i++)
        bits_add(t->left, l->indexes[i]);
    for (uint32_t i = 0; i < option->least_count; i++)
        if (trial_values(t, s, t->left, option->least[i].key, c->least[i]) < c->least[i])
            return false;
    return true;
}

static void claim_requirements(struct plan *p, const struct spec *s, const struct listing *l,
                               struct plan_claim *out)
{
    struct requirement *items = ARENA_ARRAY(&p->arena, struct requirement, s->requirements.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        sym key = s->requirements.items[i].key;
        if (key != SYM_REGISTERED && key != SYM_INITIALIZED && key != SYM_HOSTNAME)
            items[n++] = s->requirements.items[i];
    }
    out->requirements = (struct requirements){items, n};
    set_requirement(&p->arena, &out->requirements, l->names);
    if (l->capacity.count != 0)
        set_requirement(&p->arena, &out->requirements, l->capacity);
}

/* Pods' requests and what DaemonSets ask at least of what the claim may become (5.1). */
static struct resources claim_requests(struct plan *p, const struct trial *t, uint32_t claim,
                                       const struct listing *l)
{
    const struct world *w = t->world;
    struct resources r = {0};
    for (uint32_t i = 0; i < w->resource_count; i++) {
        amount sum = amount_add(t->claims[claim].requests[i], l->overhead[i]);
        if (sum != 0)
            *resources_at(&p->arena, &r, w->columns[i]) = sum;
    }
    return r;
}

bool solution_price(struct plan *p, struct trial *t, struct solution_lists *lists,
                    const struct plan_options *o, uint32_t claim, double *price_out)
{
    const struct trial_claim *c = &t->claims[claim];
    const struct option *option = &t->world->options[t->specs.items[c->spec].option];
    if (c->held != NULL || option->least_count != 0) {
        const struct listing *l = claim_listing(p, lists, t, o, claim);
        *price_out = l->price;
        return least_holds(t, o, c, l);
    }
    const struct price_list *prices = claim_prices(p, lists, t, c);
    const uint64_t *left = trial_claim_types(t, claim);
    uint32_t i = 0;
    while (i < prices->count && !bits_has(left, prices->order[i]))
        i++;
    *price_out = i < prices->count && prices->price[prices->order[i]] < (double)INFINITY
                     ? prices->price[prices->order[i]]
                     : NAN;
    return true;
}

static void claim_annotations(struct plan *p, bool relaxed, struct plan_claim *out)
{
    bool price = false, capacity = false;
    for (uint32_t i = 0; p->world->overlaid.changed && i < out->type_count; i++) {
        price |= out->types[i]->price_overlaid;
        capacity |= out->types[i]->capacity_overlaid;
    }
    struct plain_label *items = ARENA_ARRAY(&p->arena, struct plain_label, 3);
    uint32_t n = 0; /* by key */
    if (capacity)
        items[n++] = (struct plain_label){SPAN("karpenter.sh/capacity-overlay-applied"), SPAN("true")};
    items[n++] = (struct plain_label){SPAN("karpenter.sh/nodeclaim-min-values-relaxed"),
                                      relaxed ? SPAN("true") : SPAN("false")};
    if (price)
        items[n++] = (struct plain_label){SPAN("karpenter.sh/price-overlay-applied"), SPAN("true")};
    out->annotations = (struct plain_labels){items, n};
}

bool solution_claim(struct plan *p, struct trial *t, struct solution_lists *lists,
                    const struct plan_options *o, uint32_t claim, struct plan_claim *out)
{
    const struct listing *l = claim_listing(p, lists, t, o, claim);
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (!least_holds(t, o, c, l))
        return false;
    out->pool = option->pool;
    out->types = l->types;
    out->type_count = l->count;
    out->price = l->price;
    claim_requirements(p, s, l, out);
    if (c->held != NULL)
        claim_reservations(p, t, c->held, out);
    claim_least(option, c, out);
    out->labels = pool_node_labels(&p->arena, p->syms, p->world->rules.well_known, option->labels,
                                   &s->requirements);
    claim_annotations(p, c->relaxed, out);
    out->requests = claim_requests(p, t, claim, l);
    return true;
}
