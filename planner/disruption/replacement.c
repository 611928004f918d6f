#include "planner/disruption/replacement.h"

#include <math.h>
#include <stdlib.h>

#include "planner/columns.h"

/* Capacity types in the order in which a provider takes them. */
static const sym PRECEDENCE[] = {SYM_RESERVED, SYM_SPOT, SYM_ON_DEMAND};
enum { CAPACITY_TYPES = COUNT_OF(PRECEDENCE), IS_SPOT = 1 << 1 };

struct cut { /* the claim, as far as it is cut */
    struct arena *a;
    const struct world *w;
    const struct plan_claim *from;
    uint32_t *types; /* of the catalogue, cheapest first */
    uint32_t count;
    uint64_t *kinds; /* of offerings */
    uint8_t *capacity; /* by kind: a bit for each of PRECEDENCE that it may be */
    double beside;   /* what its pool says that a node costs beside */
    bool pinned;
};

static double cost_beside(const struct node_pool *pool)
{
    double cost = 0;
    node_pool_cost(pool, &cost);
    return cost;
}

double replacement_total(const struct candidate *c, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += c[i].price + cost_beside(c[i].pool);
    return sum;
}

bool replacement_is_spot_to_spot(const struct replacement_question *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (q->candidates[i].capacity_type != SYM_SPOT)
            return false;
    return q->spot;
}

/* --- prices --- */

static bool is_sold(const struct cut *c, const struct type_offer *o)
{
    return o->launchable && bits_has(c->kinds, o->kind);
}

static double worst_launch(const struct cut *c, uint32_t type)
{
    const struct types *y = &c->w->types;
    for (uint32_t p = 0; p < CAPACITY_TYPES; p++) {
        double worst = -INFINITY;
        for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++)
            if (is_sold(c, &y->offers[k]) && (c->capacity[y->offers[k].kind] & (1U << p)) != 0)
                worst = fmax(worst, y->offers[k].price);
        if (worst > -(double)INFINITY)
            return worst + c->beside;
    }
    return INFINITY;
}

struct priced {
    double price;
    uint32_t type;
};

static int priced_order(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type); /* the catalogue is sorted by name */
}

static void sort_by_price(struct cut *c)
{
    struct priced *sorted = ARENA_ARRAY(c->a, struct priced, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        sorted[i] = (struct priced){types_price(&c->w->types, c->types[i], c->kinds), c->types[i]};
    if (c->count != 0)
        qsort(sorted, c->count, sizeof(*sorted), priced_order);
    for (uint32_t i = 0; i < c->count; i++)
        c->types[i] = sorted[i].type;
}

/* --- what is left --- */

static struct cut cut_start(struct arena *a, const struct world *w, const struct plan_claim *from)
{
    const struct types *y = &w->types;
    struct cut c = {.a = a, .w = w, .from = from, .count = from->type_count, .beside = cost_beside(from->pool),
                    .types = ARENA_ARRAY(a, uint32_t, from->type_count),
                    .kinds = ARENA_ARRAY(a, uint64_t, y->kind_words),
                    .capacity = ARENA_ARRAY(a, uint8_t, y->kind_count)};
    for (uint32_t i = 0; i < from->type_count; i++)
        c.types[i] = (uint32_t)(from->types[i] - y->catalogue->items);
    types_kinds(y, c.kinds, &from->requirements, w->syms);
    for (BITS_EACH(kind, c.kinds, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        for (uint32_t p = 0; p < CAPACITY_TYPES; p++)
            if (r == NULL || requirement_has(r, PRECEDENCE[p], w->syms))
                c.capacity[kind] = (uint8_t)(c.capacity[kind] | 1U << p);
    }
    return c;
}

static void keep_cheaper(struct cut *c, double below)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (worst_launch(c, c->types[i]) < below)
            c->types[n++] = c->types[i];
    c->count = n;
}

static void pin_to_spot(struct cut *c)
{
    for (BITS_EACH(kind, c->kinds, c->w->types.kind_words))
        if ((c->capacity[kind] & IS_SPOT) == 0)
            bits_drop(c->kinds, kind);
    c->pinned = true;
}

static void drop_unsold(struct cut *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (types_price(&c->w->types, c->types[i], c->kinds) < (double)INFINITY)
            c->types[n++] = c->types[i];
    c->count = n;
}

static bool has_spot(const struct cut *c)
{
    const struct types *y = &c->w->types;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = y->first_offer[c->types[i]]; k < y->first_offer[c->types[i] + 1]; k++)
            if (is_sold(c, &y->offers[k]) && (c->capacity[y->offers[k].kind] & IS_SPOT) != 0)
                return true;
    return false;
}

/* --- minValues --- */

static uint32_t add_values(const struct requirement *own, const struct requirement *asked, const struct symtab *syms,
                           sym *seen, uint32_t found)
{
    for (uint32_t i = 0; own != NULL && !own->complement && i < own->count && found < (uint32_t)asked->min_values; i++) {
        uint32_t at = 0;
        while (at < found && seen[at] != own->values[i])
            at++;
        if (at == found && requirement_has(asked, own->values[i], syms))
            seen[found++] = own->values[i];
    }
    return found;
}

/* How many of the types, from the cheapest on, are enough for the requirement; more than there are: all are too few.
 * Only values that it still allows count. */
static uint32_t types_needed(const struct cut *c, const struct requirement *asked)
{
    sym *seen = ARENA_ARRAY(c->a, sym, (size_t)asked->min_values);
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct requirements *own = &types_at(&c->w->types, c->types[i])->requirements;
        found = add_values(requirements_get(own, asked->key), asked, c->w->syms, seen, found);
        if (found == (uint32_t)asked->min_values)
            return i + 1;
    }
    return c->count + 1;
}

/* As many as all minValues need; more than there are: and *key_out is whose are not met. */
static uint32_t all_needed(const struct cut *c, sym *key_out)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->from->requirements.count; i++) {
        const struct requirement *r = &c->from->requirements.items[i];
        uint32_t needed = r->min_values > 0 ? types_needed(c, r) : 0;
        if (needed > most) {
            most = needed;
            *key_out = r->key;
        }
    }
    return most;
}

static enum replacing verdict_of(const struct cut *c, struct replacement *x)
{
    if (c->count == 0)
        return REPLACING_NOT_CHEAPER;
    return all_needed(c, &x->key) > c->count ? REPLACING_MIN_VALUES : REPLACING_YES;
}

/* --- who has such a type already --- */

/* Whether a node with these labels may be this offering. */
static bool may_be(const struct world *w, struct sym_pairs labels, const struct requirements *offering)
{
    for (uint32_t i = 0; i < offering->count; i++) {
        const struct requirement *r = &offering->items[i];
        sym value = sym_pairs_get(labels, r->key);
        if (value != SYM_NONE ? !requirement_has(r, value, w->syms) : !syms_has(w->types.catalogue->well_known, r->key))
            return false;
    }
    return true;
}

/* The cheapest offering that the candidate may be, available or not; INFINITY: none. */
static double own_price(const struct world *w, const struct candidate *c)
{
    struct sym_pairs labels = world_row_labels(&w->nodes[c->row]);
    double least = INFINITY;
    for (uint32_t i = 0; i < c->type->offering_count; i++)
        if (may_be(w, labels, &c->type->offerings[i].requirements))
            least = fmin(least, c->type->offerings[i].price);
    return least;
}

/* What the cheapest candidate of this type costs; INFINITY: none has it, 0: it is not known of any. */
static double price_among(const struct world *w, const struct replacement_question *q, const struct instance_type *type)
{
    double least = INFINITY;
    bool there = false;
    for (uint32_t i = 0; i < q->count; i++)
        if (span_eq(q->candidates[i].type->name, type->name)) {
            there = true;
            least = fmin(least, own_price(w, &q->candidates[i]));
        }
    return there && !(least < (double)INFINITY) ? 0 : least;
}

/* Candidates have few types, of which each is looked at once. */
static double cheapest_shared(const struct cut *c, const struct replacement_question *q)
{
    uint64_t *options = ARENA_ARRAY(c->a, uint64_t, c->w->types.words);
    double least = INFINITY;
    for (uint32_t i = 0; i < c->count; i++)
        bits_add(options, c->types[i]);
    for (uint32_t i = 0; i < q->count; i++)
        for (uint32_t k = 0; k < c->count; k++) {
            const struct instance_type *type = types_at(&c->w->types, c->types[k]);
            if (!bits_has(options, c->types[k]) || !span_eq(type->name, q->candidates[i].type->name))
                continue;
            bits_drop(options, c->types[k]);
            least = fmin(least, price_among(c->w, q, type));
        }
    return least;
}

/* --- the claim --- */

/* Overlay marks stay only while a listed type has them. */
static struct plain_labels annotations_left(const struct cut *c)
{
    bool price = false, capacity = false;
    for (uint32_t i = 0; i < c->count; i++) {
        price |= types_at(&c->w->types, c->types[i])->price_overlaid;
        capacity |= types_at(&c->w->types, c->types[i])->capacity_overlaid;
    }
    struct plain_label *items = ARENA_ARRAY(c->a, struct plain_label, c->from->annotations.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->from->annotations.count; i++) {
        struct plain_label l = c->from->annotations.items[i];
        if ((price || !span_eq(l.key, SPAN("karpenter.sh/price-overlay-applied"))) &&
            (capacity || !span_eq(l.key, SPAN("karpenter.sh/capacity-overlay-applied"))))
            items[n++] = l;
    }
    return (struct plain_labels){items, n};
}

static int sym_order(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

static void add_one_of(struct cut *c, struct requirements *into, sym key, sym *values, uint32_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof(*values), sym_order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (n == 0 || values[n - 1] != values[i])
            values[n++] = values[i];
    struct requirement r = {.key = key, .values = values, .count = n};
    requirements_add(c->a, into, &r, c->w->syms);
}

/* The types' names, and the capacity types that can be launched of them. */
static struct requirements requirements_left(struct cut *c)
{
    const struct types *y = &c->w->types;
    struct requirements out = {ARENA_ARRAY(c->a, struct requirement, c->from->requirements.count),
                               c->from->requirements.count};
    if (out.count != 0)
        memcpy(out.items, c->from->requirements.items, out.count * sizeof(*out.items));
    sym *names = ARENA_ARRAY(c->a, sym, c->count), *values = ARENA_ARRAY(c->a, sym, CAPACITY_TYPES);
    uint32_t count = 0, seen = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        names[i] = types_at(y, c->types[i])->name_sym;
        for (uint32_t k = y->first_offer[c->types[i]]; k < y->first_offer[c->types[i] + 1]; k++)
            seen |= is_sold(c, &y->offers[k]) ? c->capacity[y->offers[k].kind] : 0U;
    }
    for (uint32_t p = 0; p < CAPACITY_TYPES; p++)
        if ((seen & (1U << p)) != 0 && (!c->pinned || PRECEDENCE[p] == SYM_SPOT))
            values[count++] = PRECEDENCE[p];
    add_one_of(c, &out, SYM_INSTANCE_TYPE, names, c->count);
    add_one_of(c, &out, SYM_CAPACITY_TYPE, values, count);
    return out;
}

static struct plan_claim claim_left(struct cut *c)
{
    struct plan_claim out = *c->from;
    sort_by_price(c);
    const struct instance_type **types = ARENA_ARRAY(c->a, const struct instance_type *, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        types[i] = types_at(&c->w->types, c->types[i]);
    out.types = types;
    out.type_count = c->count;
    out.requirements = requirements_left(c);
    out.annotations = annotations_left(c);
    /* Nothing was added: an offering below what the claim cost before is one that is too small for it. */
    out.price = fmax(c->from->price, types_price(&c->w->types, c->types[0], c->kinds) + c->beside);
    return out;
}

/* --- the two ways --- */

static double bound_of(const struct replacement_question *q)
{
    return q->below > 0 ? q->below : replacement_total(q->candidates, q->count);
}

/* Spot nodes by a spot node: whichever of the cheapest is launched, it is not replaced again at once. */
static enum replacing spot_by_spot(struct cut *c, const struct replacement_question *q, struct replacement *x)
{
    if (!q->spot_to_spot)
        return REPLACING_SPOT_GATE;
    pin_to_spot(c);
    drop_unsold(c);
    sort_by_price(c);
    keep_cheaper(c, bound_of(q));
    enum replacing v = verdict_of(c, x);
    if (v != REPLACING_YES || q->count > 1)
        return v;
    x->options = c->count;
    if (c->count < SPOT_OPTIONS)
        return REPLACING_SPOT_FEW;
    uint32_t needed = all_needed(c, &x->key);
    c->count = needed > SPOT_OPTIONS ? needed : SPOT_OPTIONS;
    return v;
}

/* Prices were compared as if spot is launched where it can be; on-demand is not to come in its place. */
static enum replacing by_price(struct cut *c, const struct replacement_question *q, struct replacement *x)
{
    keep_cheaper(c, bound_of(q));
    enum replacing v = verdict_of(c, x);
    if (v == REPLACING_YES && q->spot && q->on_demand && has_spot(c))
        pin_to_spot(c);
    return v;
}

struct replacement replacement_find(struct arena *a, const struct world *w, const struct replacement_question *q)
{
    struct replacement x = {.verdict = REPLACING_NOT_CHEAPER};
    struct cut c = cut_start(a, w, q->claim);
    x.verdict = replacement_is_spot_to_spot(q) ? spot_by_spot(&c, q, &x) : by_price(&c, q, &x);
    if (x.verdict == REPLACING_YES && q->count > 1) {
        keep_cheaper(&c, cheapest_shared(&c, q) + c.beside);
        x.verdict = verdict_of(&c, &x);
    }
    if (x.verdict == REPLACING_YES) {
        x.claim = claim_left(&c);
        x.worst = INFINITY;
        for (uint32_t i = 0; i < c.count; i++)
            x.worst = fmin(x.worst, worst_launch(&c, c.types[i]));
    }
    return x;
}
