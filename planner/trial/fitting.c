#include "planner/trial/fitting.h"

#include <math.h>

static const struct option *option_of(const struct trial *t, const struct spec *s)
{
    return &t->world->options[s->option];
}

bool fitting_keep(const struct world *w, const struct spec *s, uint64_t *set,
                  const amount *requests, uint32_t *witness_out)
{
    const struct option *o = &w->options[s->option];
    uint32_t words = w->types.words;
    room_keep(o->by_room, w->column_count, words, requests, set);
    for (uint32_t i = 0; i < words; i++)
        for (uint64_t left = set[i] & o->several[i]; left != 0; left &= left - 1) {
            uint32_t type = i * 64 + (uint32_t)__builtin_ctzll(left);
            if (!spec_type_holds(w, s, type, requests))
                bits_drop(set, type);
        }
    uint32_t cpu = room_greatest(&o->by_room[0], words, set);
    if (cpu == o->by_room[0].count)
        return false;
    const uint64_t *large = o->by_room[0].sets + (size_t)cpu * words;
    const struct room_column *memory = &o->by_room[1];
    uint32_t low = 0, high = memory->count; /* the largest memory among those with the largest CPU */
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        bool meet = false;
        for (uint32_t i = 0; i < words && !meet; i++)
            meet = (set[i] & large[i] & memory->sets[(size_t)mid * words + i]) != 0;
        if (meet)
            high = mid;
        else
            low = mid + 1;
    }
    for (uint32_t i = 0; i < words; i++) {
        uint64_t best = set[i] & large[i] & memory->sets[(size_t)low * words + i];
        if (best != 0) {
            *witness_out = i * 64 + (uint32_t)__builtin_ctzll(best);
            break;
        }
    }
    return true;
}

bool fitting_types(struct fitting *f, uint32_t spec, bool exact)
{
    struct trial *t = f->t;
    const struct world *w = t->world;
    const struct spec *s = &t->specs.items[spec];
    f->witness = f->claim->witness;
    f->cut = false;
    if (!exact && bits_has(f->claim->types, f->witness) && bits_has(s->types, f->witness) &&
        spec_type_holds(w, s, f->witness, f->requests))
        return true;
    f->cut = true;
    for (uint32_t i = 0; i < w->types.words; i++)
        t->left[i] = f->claim->types[i] & s->types[i];
    return fitting_keep(w, s, t->left, f->requests, &f->witness);
}

/* --- minValues --- */

static uint32_t count_values(struct trial *t, const struct requirement *own,
                             const struct requirement *allowed, uint32_t found, uint32_t enough)
{
    for (uint32_t v = 0; !own->complement && v < own->count && found < enough; v++) {
        if (t->seen[own->values[v]] == t->seen_now ||
            (allowed != NULL && !requirement_has(allowed, own->values[v], t->world->syms)))
            continue;
        t->seen[own->values[v]] = t->seen_now;
        found++;
    }
    return found;
}

uint32_t trial_values(struct trial *t, const struct spec *s, const uint64_t *types, sym key,
                      uint32_t enough)
{
    const struct types *y = &t->world->types;
    const struct requirement *allowed = requirements_get(&s->requirements, key);
    uint32_t found = 0;
    t->seen_now++;
    for (uint32_t f = 0; f < y->facet_count; f++) {
        const struct facet *facet = &y->facets[f];
        if (facet->key != key)
            continue;
        for (BITS_EACH(type, types, y->words)) {
            if (facet->of_type[type] != 0)
                found = count_values(t, facet->sets[facet->of_type[type] - 1], allowed, found,
                                     enough);
            if (found == enough)
                break;
        }
    }
    return found;
}

static bool values_hold(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    const struct option *o = option_of(t, s);
    uint32_t *lowered = NULL;
    f->least = f->claim->least;
    for (uint32_t i = 0; i < o->least_count; i++) {
        uint32_t want = f->is_new ? o->least[i].count : f->claim->least[i];
        uint32_t found = trial_values(t, s, t->left, o->least[i].key, want);
        if (found < want && !(f->is_new && t->best_effort)) {
            f->obstacle = TOO_FEW_VALUES;
            return false;
        }
        if (!f->is_new)
            continue;
        if (lowered == NULL)
            f->least = lowered = ARENA_ARRAY(t->arena, uint32_t, o->least_count);
        lowered[i] = found < want ? found : want;
        f->relaxed |= found < want;
    }
    return true;
}

/* --- reservations --- */

void trial_credit(struct trial *t, struct span reservation, int64_t count)
{
    const struct types *y = &t->world->types;
    sym id = sym_find(t->world->syms, reservation);
    for (uint32_t i = 0; id != SYM_NONE && i < y->reservation_count; i++)
        if (y->reservations[i].id == id) {
            t->reserved_left[i] += count;
            t->credit[i] += count;
        }
}

bool trial_launchable(const struct trial *t, const struct type_offer *o)
{
    return o->launchable || (o->reserved && t->credit[o->reservation] > 0);
}

struct reserving {
    uint64_t *free; /* reservations that the claim could hold */
    bool fallback, full, some;
};

static struct reserving look_at_offers(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    const struct types *y = &t->world->types;
    struct reserving r = {.free = ARENA_ARRAY(t->arena, uint64_t, bits_words(y->reservation_count))};
    for (BITS_EACH(type, t->left, y->words))
        for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++) {
            const struct type_offer *o = &y->offers[k];
            if (!bits_has(s->kinds, o->kind))
                continue;
            if (!o->reserved) {
                r.fallback = true;
            } else if (!trial_launchable(t, o)) {
                r.full = true;
            } else {
                r.some = true;
                if (t->reserved_left[o->reservation] > 0 ||
                    (f->claim->held != NULL && bits_has(f->claim->held, o->reservation)))
                    bits_add(r.free, o->reservation);
            }
        }
    return r;
}

/* Which reservations the claim would hold, as Karpenter v1.15.0 decides: every one that any of its
 * types could use. Who could use one and finds all taken waits, unless it may do without. */
static bool reserves(struct fitting *f, const struct spec *s)
{
    struct trial *t = f->t;
    struct reserving r = look_at_offers(f, s);
    bool none = bits_count(r.free, bits_words(t->world->types.reservation_count)) == 0;
    bool only_full = r.full && !r.some && !r.fallback;
    f->held = none ? NULL : r.free;
    if (t->fallback) {
        if (only_full)
            f->obstacle = RESERVATIONS_FULL;
        return !only_full;
    }
    if (none && (r.some || only_full || f->claim->held != NULL)) {
        f->obstacle = RESERVATIONS_TAKEN;
        return false;
    }
    return true;
}

static bool fits_spec(struct fitting *f, uint32_t spec)
{
    const struct spec *s = &f->t->specs.items[spec];
    bool values = option_of(f->t, s)->least_count != 0;
    bool reserved = s->reserved || f->claim->held != NULL;
    f->relaxed = false;
    f->held = NULL;
    return fitting_types(f, spec, values || reserved) && (!values || values_hold(f, s)) &&
           (!reserved || reserves(f, s));
}

/* The least price at which one of the claim's types can be had there; INFINITY: none holds the pods. */
static double price_there(const struct fitting *f, uint32_t spec, uint32_t key, uint32_t domain)
{
    struct trial *t = f->t;
    const struct types *y = &t->world->types;
    int32_t to = specs_settle(&t->specs, spec, key, domain);
    double best = INFINITY;
    if (to < 0)
        return best;
    const double *prices = specs_prices(&t->specs, (uint32_t)to);
    const struct spec *s = &t->specs.items[to];
    uint32_t any;
    for (uint32_t i = 0; i < y->words; i++)
        t->left[i] = f->claim->types[i] & s->types[i];
    fitting_keep(t->world, s, t->left, f->requests, &any);
    for (BITS_EACH(type, t->left, y->words))
        best = prices[type] < best ? prices[type] : best;
    return best;
}

/* The same, worked out once for each domain: `prices` are NAN before. */
static double price_of(const struct fitting *f, uint32_t spec, uint32_t key, uint32_t domain)
{
    double *prices = f->t->domain_prices[key];
    if (isnan(prices[domain])) {
        trial_look(f->t, 8); /* so many looks at a number it costs */
        prices[domain] = price_there(f, spec, key, domain);
    }
    return prices[domain];
}

/* The domain to try first: with the fewest pods that spread like this one, then the cheapest, then the
 * one with the fewest pods that others spread. */
static uint32_t best_domain(const struct fitting *f, uint32_t spec, uint32_t key,
                            const uint64_t *among)
{
    struct tally_load least = {UINT64_MAX, UINT64_MAX};
    double cheapest = 0;
    uint32_t best = 0, words = f->t->world->topology.keys[key].words;
    bool alone = bits_count(among, words) == 1, flat = f->t->world->topology.keys[key].flat;
    for (BITS_EACH(d, among, words)) {
        struct tally_load load = tally_load(&f->t->tally, f->class, f->try, key, d);
        trial_look(f->t, 1);
        if (load.own > least.own)
            continue;
        double price = alone || flat ? 0 : price_of(f, spec, key, d);
        if (load.own < least.own || price < cheapest ||
            (price <= cheapest && load.others < least.others)) {
            least = load;
            cheapest = price;
            best = d;
        }
    }
    return best;
}

static void keep_only(uint64_t *set, uint32_t words, uint32_t number)
{
    bool there = bits_has(set, number);
    memset(set, 0, words * sizeof(*set));
    if (there)
        bits_add(set, number);
}

/* The choice of a domain in the key left all as it was but the label, which nothing else looks at: with
 * another choice the rest would answer the same. */
static bool is_free_choice(const struct fitting *f, uint32_t spec, uint32_t to, uint32_t key)
{
    const struct world *w = f->t->world;
    const struct spec *was = &f->t->specs.items[spec], *is = &f->t->specs.items[to];
    const struct option *o = option_of(f->t, was);
    for (uint32_t i = 0; i < o->least_count; i++)
        if (o->least[i].key == w->topology.keys[key].key)
            return false;
    return memcmp(is->types, was->types, w->types.words * sizeof(*is->types)) == 0 &&
           memcmp(is->kinds, was->kinds, w->types.kind_words * sizeof(*is->kinds)) == 0;
}

/* Choices multiply, a key's domains by the next one's. What a provider sells keeps them few: of real
 * catalogues hundreds, of which all were in vain. Who is refused by the bound is refused for this plan. */
enum { MOST_CHOICES = 1024 };

static bool may_choose_again(struct fitting *f)
{
    f->t->asked++;
    f->t->cut_short |= f->choices == MOST_CHOICES;
    return f->choices < MOST_CHOICES && ++f->choices != 0 && !trial_stopped(f->t);
}

/* The spec in which every key of the attempt from number `at` on has one domain that its groups
 * allow and some type holds what is asked; -1: there is none. */
static int32_t settle(struct fitting *f, uint32_t spec, uint32_t at)
{
    struct trial *t = f->t;
    if (at == f->try->key_count)
        return fits_spec(f, spec) ? (int32_t)spec : -1;
    uint32_t key = f->try->keys[at], words = t->world->topology.keys[key].words;
    const uint64_t *may = specs_domains(&t->specs, spec, key);
    uint64_t *open = t->free_domains[key];
    bool optional = tally_domains(&t->tally, f->class, f->try, key, open);
    uint32_t possible = bits_count(may, words);
    for (uint32_t i = 0; i < words; i++)
        open[i] &= may[i];
    if (t->wish != NULL && t->wish[key] >= 0)
        keep_only(open, words, (uint32_t)t->wish[key]);
    if (possible == 0)
        return optional ? settle(f, spec, at + 1) : -1;
    if (possible == 1 && !specs_unbounded(&t->specs, spec, key))
        return bits_count(open, words) != 0 ? settle(f, spec, at + 1) : -1;
    for (uint32_t d = 0; d < t->world->topology.keys[key].count; d++)
        t->domain_prices[key][d] = NAN;
    for (bool first = true; bits_count(open, words) != 0 && (first || may_choose_again(f)); first = false) {
        uint32_t d = best_domain(f, spec, key, open);
        bits_drop(open, d);
        int32_t to = specs_settle(&t->specs, spec, key, d);
        int32_t found = to >= 0 ? settle(f, (uint32_t)to, at + 1) : -1;
        if (found >= 0 || (to >= 0 && is_free_choice(f, spec, (uint32_t)to, key)))
            return found;
    }
    return -1;
}

int32_t fitting_spec(struct fitting *f, uint32_t spec)
{
    int32_t found = -1;
    if (f->try->where_count == 0)
        return settle(f, spec, 0);
    for (uint32_t i = 0; i < f->try->where_count && found < 0; i++) {
        int32_t to = specs_narrow_to(&f->t->specs, spec, f->try->where[i]);
        if (to >= 0)
            found = settle(f, (uint32_t)to, 0);
    }
    return found;
}
