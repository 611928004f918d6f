/* What is written into the NodeClaim (spec provisioning 5.1, 5.2; plan-contract 4 and 6). */
#include "planner/solution.h"

#include <math.h>
#include <stdlib.h>

struct priced {
    double price;
    const struct instance_type *type;
    uint32_t index;
};

static int priced_order(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return span_cmp(x->type->name, y->type->name);
}

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

/* The types that can be launched by what the claim asks in the end: not those that only had a
 * reservation that is full, or not one of those that the claim holds. With minValues only if these are
 * enough, since they count what is listed. */
static const uint64_t *sold_types(struct plan *p, struct trial *t, uint32_t claim,
                                  const uint64_t *left, const uint64_t *kinds)
{
    const struct types *y = &t->world->types;
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *o = &t->world->options[s->option];
    uint64_t *sold = ARENA_ARRAY(&p->arena, uint64_t, y->words);
    for (BITS_EACH(type, left, y->words))
        if (claim_price(t, type, kinds) < (double)INFINITY)
            bits_add(sold, type);
    if (bits_count(sold, y->words) == 0)
        return left;
    for (uint32_t i = 0; i < o->least_count; i++)
        if (trial_values(t, s, sold, o->least[i].key, c->least[i]) < c->least[i])
            return left;
    return sold;
}

static void claim_types(struct plan *p, struct trial *t, const struct plan_options *o,
                        uint32_t claim, struct plan_claim *out, struct priced **priced_out)
{
    const struct types *y = &t->world->types;
    const uint64_t *left = trial_claim_types(t, claim);
    const uint64_t *kinds = claim_kinds(p, t, &t->claims[claim]);
    uint32_t count = bits_count(left, y->words), n = 0;
    struct priced *list = ARENA_ARRAY(&p->arena, struct priced, count);
    left = sold_types(p, t, claim, left, kinds);
    for (BITS_EACH(type, left, y->words))
        list[n++] = (struct priced){claim_price(t, type, kinds), types_at(y, type), type};
    if (n != 0)
        qsort(list, n, sizeof(*list), priced_order);
    uint32_t most = solution_most_types(o);
    out->type_count = n < most ? n : most;
    const struct instance_type **types =
        ARENA_ARRAY(&p->arena, const struct instance_type *, out->type_count);
    for (uint32_t i = 0; i < out->type_count; i++)
        types[i] = list[i].type;
    out->types = types;
    out->price = n != 0 && list[0].price < (double)INFINITY ? list[0].price : NAN;
    *priced_out = list;
}

/* Capacity types that can still be launched. */
static void claim_capacity_types(struct plan *p, const struct trial *t, const struct spec *s,
                                 const struct priced *list, struct plan_claim *out)
{
    const struct types *y = &t->world->types;
    const struct requirement *asked = requirements_get(&s->requirements, SYM_CAPACITY_TYPE);
    sym *values = NULL;
    uint32_t count = 0, capacity = 0;
    uint64_t *seen = ARENA_ARRAY(&p->arena, uint64_t, y->kind_words);
    for (uint32_t i = 0; i < out->type_count; i++)
        for (uint32_t k = y->first_offer[list[i].index]; k < y->first_offer[list[i].index + 1]; k++)
            if (trial_launchable(t, &y->offers[k]) && bits_has(s->kinds, y->offers[k].kind))
                bits_add(seen, y->offers[k].kind);
    for (BITS_EACH(kind, seen, y->kind_words)) {
        const struct requirement *r = requirements_get(y->kinds[kind], SYM_CAPACITY_TYPE);
        for (uint32_t v = 0; r != NULL && !r->complement && v < r->count; v++)
            if (asked == NULL || requirement_has(asked, r->values[v], p->syms))
                ARENA_PUSH(&p->arena, values, count, capacity, r->values[v]);
    }
    if (count != 0)
        set_requirement(&p->arena, &out->requirements, one_of(SYM_CAPACITY_TYPE, values, count));
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
                        const struct priced *list, uint32_t count)
{
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (o->best_effort_min_values || option->least_count == 0)
        return true;
    memset(t->left, 0, t->world->types.words * sizeof(*t->left));
    for (uint32_t i = 0; i < count; i++)
        bits_add(t->left, list[i].index);
    for (uint32_t i = 0; i < option->least_count; i++)
        if (trial_values(t, s, t->left, option->least[i].key, c->least[i]) < c->least[i])
            return false;
    return true;
}

static void claim_requirements(struct plan *p, const struct trial *t, const struct spec *s,
                               const struct priced *list, struct plan_claim *out)
{
    struct requirement *items = ARENA_ARRAY(&p->arena, struct requirement, s->requirements.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        sym key = s->requirements.items[i].key;
        if (key != SYM_REGISTERED && key != SYM_INITIALIZED && key != SYM_HOSTNAME)
            items[n++] = s->requirements.items[i];
    }
    out->requirements = (struct requirements){items, n};
    sym *names = ARENA_ARRAY(&p->arena, sym, out->type_count);
    for (uint32_t i = 0; i < out->type_count; i++)
        names[i] = out->types[i]->name_sym;
    set_requirement(&p->arena, &out->requirements,
                    one_of(SYM_INSTANCE_TYPE, names, out->type_count));
    claim_capacity_types(p, t, s, list, out);
}

/* --- labels --- */

/* The value that the node will carry for an open requirement: upstream takes any, we the least, so
 * that equal input gives an equal plan. */
static sym label_value(struct plan *p, const struct requirement *r)
{
    sym best = SYM_NONE;
    if (!r->complement) {
        for (uint32_t i = 0; i < r->count; i++)
            if (best == SYM_NONE ||
                span_cmp(sym_text(p->syms, r->values[i]), sym_text(p->syms, best)) < 0)
                best = r->values[i];
        return best;
    }
    int64_t from = r->has_gte && r->gte > 0 ? r->gte : 0;
    for (int64_t k = 0; k <= (int64_t)r->count; k++) { /* one more than are excluded */
        if (r->has_lte && from > r->lte - k)
            break;
        sym value = sym_intern(p->syms, arena_printf(&p->arena, "%lld", (long long)from + k));
        if (requirement_has(r, value, p->syms))
            return value;
    }
    return SYM_NONE;
}

static void sort_labels(const struct symtab *syms, struct sym_pair *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && span_cmp(sym_text(syms, items[k].key),
                                               sym_text(syms, items[k - 1].key)) < 0;
             k--) {
            struct sym_pair swap = items[k];
            items[k] = items[k - 1];
            items[k - 1] = swap;
        }
}

static void claim_labels(struct plan *p, const struct option *o, const struct spec *s,
                         struct plan_claim *out)
{
    struct syms well_known = p->world->rules.well_known;
    struct sym_pair *items = ARENA_ARRAY(&p->arena, struct sym_pair,
                                         (size_t)o->labels.count + s->requirements.count);
    uint32_t n = o->labels.count;
    memcpy(items, o->labels.items, n * sizeof(*items));
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        const struct requirement *r = &s->requirements.items[i];
        if (syms_has(well_known, r->key) || r->key == SYM_HOSTNAME || r->key == SYM_REGISTERED ||
            r->key == SYM_INITIALIZED || sym_pairs_get(o->labels, r->key) != SYM_NONE)
            continue;
        sym value = label_value(p, r);
        if (value != SYM_NONE)
            items[n++] = (struct sym_pair){r->key, value};
    }
    sort_labels(p->syms, items, n);
    out->labels = (struct sym_pairs){items, n};
}

/* Pods' requests and what the DaemonSets of every type listed ask at least (5.1). */
static struct resources claim_requests(struct plan *p, const struct trial *t, uint32_t claim,
                                       const struct priced *list, uint32_t count)
{
    const struct world *w = t->world;
    const struct trial_claim *c = &t->claims[claim];
    const struct option *o = &w->options[t->specs.items[c->spec].option];
    struct resources r = {0};
    for (uint32_t i = 0; i < w->resource_count; i++) {
        amount least = INT64_MAX;
        for (uint32_t n = 0; n < count; n++) {
            amount overhead = o->daemons[o->daemon_of[list[n].index]].overhead[i];
            least = overhead < least ? overhead : least;
        }
        amount sum = amount_add(c->requests[i], least == INT64_MAX ? 0 : least);
        if (sum != 0)
            *resources_at(&p->arena, &r, w->columns[i]) = sum;
    }
    return r;
}

bool solution_claim(struct plan *p, struct trial *t, const struct plan_options *o, uint32_t claim,
                    struct plan_claim *out)
{
    static struct plain_label relaxed[] = {
        {SPAN_INIT("karpenter.sh/nodeclaim-min-values-relaxed"), SPAN_INIT("true")}};
    static struct plain_label kept[] = {
        {SPAN_INIT("karpenter.sh/nodeclaim-min-values-relaxed"), SPAN_INIT("false")}};
    struct priced *list;
    claim_types(p, t, o, claim, out, &list);
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (!least_holds(t, o, c, list, out->type_count))
        return false;
    out->pool = option->pool;
    claim_requirements(p, t, s, list, out);
    if (c->held != NULL)
        claim_reservations(p, t, c->held, out);
    claim_least(option, c, out);
    out->written = requirements_expressions(&p->arena, p->syms, &out->requirements);
    claim_labels(p, option, s, out);
    out->annotations = (struct plain_labels){c->relaxed ? relaxed : kept, 1};
    out->requests = claim_requests(p, t, claim, list, out->type_count);
    return true;
}
