#include "planner/trial/narrow.h"

#include <stdlib.h>

static void spec_words(struct words *out, const struct spec *s, uint32_t daemon_words)
{
    words_put(out, s->option);
    for (uint32_t i = 0; i < daemon_words; i++)
        words_put64(out, s->daemons_out[i]);
    requirements_words(out, &s->requirements);
}

static bool type_reserved(const struct types *t, uint32_t type, const uint64_t *kinds)
{
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++)
        if (t->offers[k].reserved && bits_has(kinds, t->offers[k].kind))
            return true;
    return false;
}

/* Of a type that has several rooms: the most that it holds in a niche (struct option). */
static void most_of_several(const struct world *w, struct spec *x, uint32_t type)
{
    const struct types *t = &w->types;
    const struct option *o = &w->options[x->option];
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++) {
        if (!bits_has(x->kinds, t->offers[k].kind))
            continue;
        const amount *room = world_vector(w, o->room, o->row_of[k]);
        for (uint32_t c = 0; c < w->column_count; c++)
            x->most[c] = room[c] > x->most[c] ? room[c] : x->most[c];
    }
}

/* What follows from the set of types. */
static void spec_finish(struct specs *s, struct spec *x)
{
    const struct world *w = s->world;
    const struct types *t = &w->types;
    const struct option *o = &w->options[x->option];
    x->most = ARENA_ARRAY(s->arena, amount, w->column_count);
    uint64_t *plain = ARENA_ARRAY(s->arena, uint64_t, t->words);
    for (uint32_t i = 0; i < t->words; i++)
        plain[i] = x->types[i] & ~o->several[i];
    for (uint32_t c = 0; c < w->column_count; c++) {
        uint32_t at = room_greatest(&o->by_room[c], t->words, plain);
        x->most[c] = at < o->by_room[c].count ? o->by_room[c].values[at] : -1;
    }
    for (uint32_t i = 0; i < t->words; i++)
        plain[i] = x->types[i] & o->several[i];
    for (BITS_EACH(type, plain, t->words))
        most_of_several(w, x, type);
    if (t->reservation_count != 0)
        for (BITS_EACH(type, x->types, t->words))
            x->reserved |= type_reserved(t, type, x->kinds);
}

void specs_init(struct specs *s, struct arena *a, const struct world *w)
{
    *s = (struct specs){.arena = a, .world = w, .step_slots = 256};
    s->steps = ARENA_ARRAY(a, struct narrow_step, s->step_slots);
    intern_init(&s->known, a);
    for (uint32_t i = 0; i < w->option_count; i++) {
        const struct option *o = &w->options[i];
        uint32_t daemon_words = bits_words(o->daemon_count);
        struct spec x = {.option = i, .requirements = o->requirements, .types = o->types,
                         .kinds = o->kinds,
                         .daemons_out = ARENA_ARRAY(a, uint64_t, daemon_words)};
        struct words words;
        words_init(&words, a);
        spec_words(&words, &x, daemon_words);
        intern_put(&s->known, &words, NULL);
        spec_finish(s, &x);
        ARENA_PUSH(a, s->items, s->count, s->capacity, x);
    }
}

/* --- one step --- */

/* Drops the types on which a host port is taken in every offering; one of which it is taken in some holds
 * nothing as long as the claim may become one of these (spec_type_holds). */
static void cut_by_ports(const struct world *w, struct spec *x)
{
    const struct types *t = &w->types;
    const struct option *o = &w->options[x->option];
    for (BITS_EACH(type, x->types, t->words)) {
        bool free = false;
        for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1] && !free; k++)
            free = bits_has(x->kinds, t->offers[k].kind) &&
                   !bits_has(x->daemons_out, o->daemon_of[o->row_of[k]]);
        if (!free)
            bits_drop(x->types, type);
    }
}

/* Only keys that the signature has touched can have cost a type its place. */
static void cut_by_requirements(struct specs *s, struct spec *x, const struct requirements *asked)
{
    const struct types *t = &s->world->types;
    x->kinds = ARENA_ARRAY(s->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < asked->count; i++)
        types_cut(t, x->types, requirements_get(&x->requirements, asked->items[i].key),
                  s->world->syms);
    types_kinds(t, x->kinds, &x->requirements, s->world->syms);
    types_cut_kinds(t, x->types, x->kinds);
    if (bits_count(x->daemons_out, bits_words(s->world->options[x->option].daemon_count)) != 0)
        cut_by_ports(s->world, x);
}

static uint64_t *bits_copy(struct arena *a, const uint64_t *set, uint32_t words)
{
    uint64_t *copy = ARENA_ARRAY(a, uint64_t, words);
    if (words != 0)
        memcpy(copy, set, words * sizeof(*copy));
    return copy;
}

int32_t specs_narrow_by(struct specs *s, uint32_t from, const struct requirements *asked,
                        struct host_ports ports)
{
    const struct world *w = s->world;
    struct spec x = s->items[from];
    struct requirement *items = ARENA_ARRAY(s->arena, struct requirement, x.requirements.count);
    memcpy(items, x.requirements.items, x.requirements.count * sizeof(*items));
    x.requirements.items = items;
    requirements_add_all(s->arena, &x.requirements, asked, w->syms);
    uint32_t daemon_words = bits_words(w->options[x.option].daemon_count);
    x.daemons_out = bits_copy(s->arena, x.daemons_out, daemon_words);
    x.types = bits_copy(s->arena, x.types, w->types.words);
    for (uint32_t d = 0; ports.count != 0 && d < w->options[x.option].daemon_count; d++)
        if (ports_conflict(ports, w->options[x.option].daemons[d].ports))
            bits_add(x.daemons_out, d);
    struct words words;
    words_init(&words, s->arena);
    spec_words(&words, &x, daemon_words);
    bool is_new;
    uint32_t id = intern_put(&s->known, &words, &is_new);
    if (is_new) {
        cut_by_requirements(s, &x, asked);
        x.reserved = false;
        x.domains = NULL;
        x.definite = NULL;
        x.prices = NULL;
        x.by_price = NULL;
        spec_finish(s, &x);
        ARENA_PUSH(s->arena, s->items, s->count, s->capacity, x);
    }
    return bits_count(s->items[id].types, w->types.words) != 0 ? (int32_t)id : -1 - NARROW_TYPES;
}

/* Keys that the requirements of one claim may have: more than those of a pool and a pod within the bounds of
 * kube/object_bounds.h together. Each pod that joins a claim makes a set of all keys anew: with a thousand keys of its own
 * each, hundreds on one claim would take gigabytes. */
enum { CLAIM_KEYS_MAX = 5120 };

static int32_t narrow_now(struct specs *s, uint32_t from, const struct attempt *try)
{
    const struct world *w = s->world;
    const struct signature *g = &w->classes.signatures[try->signature];
    const struct spec *x = &s->items[from];
    if (world_untolerated(w, g, try->soft, w->options[x->option].taints) != NULL)
        return -1 - NARROW_TAINT;
    if (g->impossible || !requirements_compatible(&x->requirements, &g->requirements,
                                                  w->rules.well_known, w->syms, NULL, NULL))
        return -1 - NARROW_REQUIREMENT;
    if (g->requirements.count == 0 && g->ports.count == 0)
        return (int32_t)from;
    if (x->requirements.count + g->requirements.count > CLAIM_KEYS_MAX)
        return -1 - NARROW_REQUIREMENT;
    return specs_narrow_by(s, from, &g->requirements, g->ports);
}

static struct narrow_step *step_slot(const struct specs *s, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = s->step_slots - 1, at = (uint32_t)(hash >> 32) & mask;
    while (s->steps[at].key != 0 && s->steps[at].key != key)
        at = (at + 1) & mask;
    return &s->steps[at];
}

static void steps_grow(struct specs *s)
{
    struct narrow_step *old = s->steps;
    uint32_t n = s->step_slots;
    s->step_slots *= 2;
    s->steps = ARENA_ARRAY(s->arena, struct narrow_step, s->step_slots);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].key != 0)
            *step_slot(s, old[i].key) = old[i];
}

static void remember(struct specs *s, uint64_t key, int32_t to)
{
    if (s->step_count * 2 >= s->step_slots)
        steps_grow(s);
    *step_slot(s, key) = (struct narrow_step){key, to};
    s->step_count++;
}

static uint64_t attempt_key(uint32_t spec, const struct attempt *try)
{
    return ((uint64_t)spec << 32 | (uint64_t)try->signature << 1 | try->soft) + 1;
}

void specs_suppose(struct specs *s, uint32_t spec, const struct attempt *try, int32_t to)
{
    specs_narrow(s, spec, try); /* so that there is a slot */
    step_slot(s, attempt_key(spec, try))->to = to;
}

int32_t specs_narrow(struct specs *s, uint32_t spec, const struct attempt *try)
{
    uint64_t key = attempt_key(spec, try);
    struct narrow_step *step = step_slot(s, key);
    if (step->key == key)
        return step->to;
    int32_t to = narrow_now(s, spec, try);
    remember(s, key, to);
    return to;
}

int32_t specs_narrow_to(struct specs *s, uint32_t spec, uint32_t set)
{
    const struct world *w = s->world;
    const struct requirements *asked = &w->classes.sets[set];
    uint64_t key = (UINT64_C(1) << 63 | UINT64_C(1) << 62 | (uint64_t)spec << 31 | set) + 1;
    struct narrow_step *step = step_slot(s, key);
    if (step->key == key)
        return step->to;
    int32_t to = -1 - NARROW_REQUIREMENT;
    if (requirements_compatible(&s->items[spec].requirements, asked, w->rules.well_known, w->syms,
                                NULL, NULL))
        to = specs_narrow_by(s, spec, asked, (struct host_ports){0});
    remember(s, key, to);
    return to;
}

int32_t specs_settle(struct specs *s, uint32_t spec, uint32_t key, uint32_t domain)
{
    const struct topology_key *k = &s->world->topology.keys[key];
    uint64_t id = (UINT64_C(1) << 63 | (uint64_t)spec << 31 | (k->first + domain)) + 1;
    struct narrow_step *step = step_slot(s, id);
    if (step->key == id)
        return step->to;
    struct requirement r = {.key = k->key, .count = 1, .values = &k->domains[domain]};
    struct requirements asked = {&r, 1};
    int32_t to = specs_narrow_by(s, spec, &asked, (struct host_ports){0});
    remember(s, id, to);
    return to;
}

int32_t specs_settle_in(struct specs *s, int32_t spec, const int32_t *cell)
{
    for (uint32_t key = 1; cell != NULL && key < s->world->topology.key_count && spec >= 0; key++)
        if (cell[key] >= 0)
            spec = bits_has(specs_domains(s, (uint32_t)spec, key), (uint32_t)cell[key])
                       ? specs_settle(s, (uint32_t)spec, key, (uint32_t)cell[key])
                       : -1 - NARROW_TYPES;
    return spec;
}

int32_t specs_niche(struct specs *s, uint32_t option, uint32_t niche)
{
    uint64_t id = (UINT64_C(1) << 62 | (uint64_t)option << 31 | niche) + 1;
    struct narrow_step *step = step_slot(s, id);
    if (step->key == id)
        return step->to;
    int32_t to = specs_narrow_by(s, option, &s->world->options[option].niches[niche],
                           (struct host_ports){0});
    remember(s, id, to);
    return to;
}

const uint64_t *specs_domains(struct specs *s, uint32_t spec, uint32_t key)
{
    const struct world *w = s->world;
    struct spec *x = &s->items[spec];
    if (x->domains == NULL)
        x->domains = ARENA_ARRAY(s->arena, uint64_t *, w->topology.key_count);
    if (x->domains[key] == NULL) {
        const struct topology_key *k = &w->topology.keys[key];
        x->domains[key] = ARENA_ARRAY(s->arena, uint64_t, k->words);
        types_domains(&w->types, x->types, x->kinds, &x->requirements, k, w->syms,
                      x->domains[key]);
    }
    return x->domains[key];
}

bool specs_unbounded(const struct specs *s, uint32_t spec, uint32_t key)
{
    const struct topology_key *k = &s->world->topology.keys[key];
    const struct requirement *asked = requirements_get(&s->items[spec].requirements, k->key);
    return !k->given && asked != NULL && asked->complement;
}

const int32_t *specs_definite(struct specs *s, uint32_t spec)
{
    const struct topology *t = &s->world->topology;
    if (s->items[spec].definite == NULL) {
        int32_t *out = ARENA_ARRAY(s->arena, int32_t, t->key_count);
        for (uint32_t key = 1; key < t->key_count; key++) {
            const uint64_t *may = specs_domains(s, spec, key);
            uint32_t n = bits_count(may, t->keys[key].words);
            bool one = n == 1 && !specs_unbounded(s, spec, key);
            out[key] = one      ? (int32_t)bits_next(may, t->keys[key].words, 0)
                       : n == 0 ? DOMAIN_NONE
                                : DOMAIN_OPEN;
        }
        s->items[spec].definite = out;
    }
    return s->items[spec].definite;
}

const double *specs_prices(struct specs *s, uint32_t spec)
{
    struct spec *x = &s->items[spec];
    if (x->prices == NULL) {
        x->prices = ARENA_ARRAY(s->arena, double, s->world->types.count);
        for (BITS_EACH(type, x->types, s->world->types.words))
            x->prices[type] = types_price(&s->world->types, type, x->kinds) +
                              s->world->options[x->option].node_cost;
    }
    return x->prices;
}

static int price_order(const void *x, const void *y, void *prices)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const double *p = prices;
    if (p[a] != p[b])
        return p[a] < p[b] ? -1 : 1;
    return (a > b) - (a < b);
}

uint32_t specs_cheapest(struct specs *s, uint32_t spec, const uint64_t *types)
{
    const double *prices = specs_prices(s, spec);
    struct spec *x = &s->items[spec];
    uint32_t words = s->world->types.words, count = bits_count(x->types, words), at = 0;
    if (x->by_price == NULL) {
        x->by_price = ARENA_ARRAY(s->arena, uint32_t, count);
        for (BITS_EACH(type, x->types, words))
            x->by_price[at++] = type;
        qsort_r(x->by_price, count, sizeof(*x->by_price), price_order, (void *)prices);
    }
    for (at = 0; at + 1 < count && !bits_has(types, x->by_price[at]);)
        at++;
    return x->by_price[at];
}

static bool offer_holds(const struct world *w, const struct spec *s, uint32_t offer,
                        const amount *requests)
{
    const struct option *o = &w->options[s->option];
    uint32_t row = o->row_of[offer];
    return !bits_has(s->daemons_out, o->daemon_of[row]) &&
           vector_fits(w, requests, world_vector(w, o->room, row));
}

static bool kind_holds(const struct world *w, const struct spec *s, uint32_t type, uint32_t kind,
                       const amount *requests)
{
    const struct types *t = &w->types;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++)
        if (t->offers[k].kind == kind && offer_holds(w, s, k, requests))
            return true;
    return false;
}

/* Which of its offerings a claim becomes is the provider's choice: all that it may choose must do. Of several that
 * no label tells apart, it chooses one that holds what the claim requests. */
bool spec_type_holds(const struct world *w, const struct spec *s, uint32_t type,
                     const amount *requests)
{
    const struct types *t = &w->types;
    const struct option *o = &w->options[s->option];
    bool twins = bits_has(o->twins, type);
    if (!bits_has(o->several, type))
        return vector_fits(w, requests, world_vector(w, o->room, o->first_row[type]));
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++)
        if (bits_has(s->kinds, t->offers[k].kind) && !offer_holds(w, s, k, requests) &&
            !(twins && kind_holds(w, s, type, t->offers[k].kind, requests)))
            return false;
    return true;
}
