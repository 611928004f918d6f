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

static void claim_types(struct plan *p, struct trial *t, const struct plan_options *o,
                        uint32_t claim, struct plan_claim *out, struct priced **priced_out)
{
    const struct types *y = &t->world->types;
    const uint64_t *left = trial_claim_types(t, claim);
    const struct spec *s = &t->specs.items[t->claims[claim].spec];
    uint32_t count = bits_count(left, y->words), n = 0;
    struct priced *list = ARENA_ARRAY(&p->arena, struct priced, count);
    for (BITS_EACH(type, left, y->words))
        list[n++] = (struct priced){types_price(y, type, s->kinds), types_at(y, type), type};
    if (n != 0)
        qsort(list, n, sizeof(*list), priced_order);
    uint32_t most = o->max_instance_types != 0 ? o->max_instance_types : 600;
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
            if (y->offers[k].launchable && bits_has(s->kinds, y->offers[k].kind))
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

/* Pods' requests and what the DaemonSets of every type that is left ask at least (5.1). */
static struct resources claim_requests(struct plan *p, const struct trial *t, uint32_t claim)
{
    const struct world *w = t->world;
    const struct trial_claim *c = &t->claims[claim];
    const struct option *o = &w->options[t->specs.items[c->spec].option];
    struct resources r = {0};
    for (uint32_t i = 0; i < w->resource_count; i++) {
        amount least = INT64_MAX;
        for (BITS_EACH(type, c->types, w->types.words)) {
            amount overhead = o->daemons[o->daemon_of[type]].overhead[i];
            least = overhead < least ? overhead : least;
        }
        amount sum = amount_add(c->requests[i], least == INT64_MAX ? 0 : least);
        if (sum != 0)
            *resources_at(&p->arena, &r, w->columns[i]) = sum;
    }
    return r;
}

void solution_claim(struct plan *p, struct trial *t, const struct plan_options *o, uint32_t claim,
                    struct plan_claim *out)
{
    static struct plain_label relaxed[] = {
        {SPAN_INIT("karpenter.sh/nodeclaim-min-values-relaxed"), SPAN_INIT("false")}};
    struct priced *list;
    claim_types(p, t, o, claim, out, &list);
    const struct spec *s = &t->specs.items[t->claims[claim].spec];
    const struct option *option = &t->world->options[s->option];
    out->pool = option->pool;
    claim_requirements(p, t, s, list, out);
    out->written = requirements_expressions(&p->arena, p->syms, &out->requirements);
    claim_labels(p, option, s, out);
    out->annotations = (struct plain_labels){relaxed, COUNT_OF(relaxed)};
    out->requests = claim_requests(p, t, claim);
}
