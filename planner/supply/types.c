#include "planner/supply/types.h"

#include <math.h>

static const struct resources NONE;

/* --- groups --- */

static bool resources_equal(struct resources a, struct resources b)
{
    if (a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++)
        if (resources_get(b, a.items[i].name) != a.items[i].value)
            return false;
    return true;
}

static bool same_overrides(const struct offering *a, const struct offering *b)
{
    return resources_equal(a->has_capacity_override ? a->capacity_override : NONE,
                           b->has_capacity_override ? b->capacity_override : NONE) &&
           resources_equal(a->has_overhead_override ? a->overhead_override : NONE,
                           b->has_overhead_override ? b->overhead_override : NONE);
}

struct group_list {
    const struct offering **items; /* one that has the group's overrides; NULL: the base group */
    uint32_t count, capacity;
};

static uint32_t group_of(struct arena *a, struct group_list *groups, uint32_t first,
                         const struct offering *o)
{
    if (!o->has_capacity_override && !o->has_overhead_override)
        return first;
    for (uint32_t g = first + 1; g < groups->count; g++)
        if (same_overrides(groups->items[g], o))
            return g;
    ARENA_PUSH(a, groups->items, groups->count, groups->capacity, o);
    return groups->count - 1;
}

static void fill_group(struct types *t, struct arena *a, const struct classes *columns,
                       uint32_t type, uint32_t group, const struct offering *o,
                       const struct symtab *syms)
{
    const struct instance_type *it = types_at(t, type);
    amount *room = t->allocatable + (size_t)group * t->column_count;
    amount *capacity = t->capacity + (size_t)type * t->column_count;
    classes_add_vector(columns, room,
                       o != NULL ? offering_allocatable(a, it, o, syms) : it->allocatable);
    for (uint32_t c = columns->resource_count; c < columns->column_count; c++)
        room[c] = volumes_node_limit(columns->columns[c], NULL, it);
    struct resources laid = {0};
    resources_add(a, &laid, it->capacity);
    for (uint32_t i = 0; o != NULL && o->has_capacity_override && i < o->capacity_override.count; i++)
        *resources_at(a, &laid, o->capacity_override.items[i].name) =
            o->capacity_override.items[i].value;
    for (uint32_t i = 0; i < laid.count; i++) {
        int32_t c = classes_column(columns, laid.items[i].name);
        if (c >= 0 && laid.items[i].value > capacity[c])
            capacity[c] = laid.items[i].value;
    }
}

/* --- offerings --- */

static uint32_t kind_of(struct types *t, struct arena *a, const struct requirements *r)
{
    struct words w;
    words_init(&w, a);
    requirements_words(&w, r);
    return intern_put(&t->kind_ids, &w, NULL);
}

/* The reservation of a reserved offering. Without a label that tells them apart each is its own. */
static uint32_t reservation_of(struct types *t, struct arena *a, const struct offering *o)
{
    const struct requirement *r =
        t->reservation_key != SYM_NONE ? requirements_get(&o->requirements, t->reservation_key) : NULL;
    struct reservation x = {r != NULL && !r->complement && r->count == 1 ? r->values[0] : SYM_NONE,
                            o->reservation_capacity};
    for (uint32_t i = 0; x.id != SYM_NONE && i < t->reservation_count; i++)
        if (t->reservations[i].id == x.id) {
            if (x.left < t->reservations[i].left)
                t->reservations[i].left = x.left;
            return i;
        }
    ARENA_PUSH(a, t->reservations, t->reservation_count, t->reservation_capacity, x);
    return t->reservation_count - 1;
}

static void fill_offers(struct types *t, struct arena *a, struct group_list *groups,
                        const struct symtab *syms, bool reserved_gate)
{
    uint32_t n = 0, kinds = 0, kind_capacity = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct instance_type *it = types_at(t, i);
        t->first_offer[i] = n;
        t->first_group[i] = groups->count;
        ARENA_PUSH(a, groups->items, groups->count, groups->capacity, NULL);
        for (uint32_t k = 0; k < it->offering_count; k++) {
            const struct offering *o = &it->offerings[k];
            const struct requirement *type = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
            bool reserved =
                reserved_gate && type != NULL && requirement_has(type, SYM_RESERVED, syms);
            uint32_t reservation = reserved ? reservation_of(t, a, o) : 0;
            if (!o->available)
                continue;
            uint32_t kind = kind_of(t, a, &o->requirements);
            if (kind == kinds)
                ARENA_PUSH(a, t->kinds, kinds, kind_capacity, &o->requirements);
            t->offers[n++] = (struct type_offer){
                .kind = kind,
                .group = group_of(a, groups, t->first_group[i], o),
                .price = o->price,
                .launchable = offering_launchable(o, syms),
                .reserved = reserved,
                .reservation = reservation,
            };
        }
    }
    t->first_offer[t->count] = n;
    t->first_group[t->count] = groups->count;
    t->kind_count = kinds;
    t->kind_words = bits_words(kinds);
    t->kinds_of = ARENA_ARRAY(a, uint64_t, (size_t)t->count * t->kind_words);
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t k = t->first_offer[i]; k < t->first_offer[i + 1]; k++)
            bits_add(t->kinds_of + (size_t)i * t->kind_words, t->offers[k].kind);
    t->kinds_held = ARENA_ARRAY(a, uint64_t *, t->reservation_count);
    for (uint32_t r = 0; r < t->reservation_count; r++)
        t->kinds_held[r] = ARENA_ARRAY(a, uint64_t, t->kind_words);
    for (uint32_t k = 0; k < n; k++)
        if (t->offers[k].reserved)
            bits_add(t->kinds_held[t->offers[k].reservation], t->offers[k].kind);
}

/* --- facets --- */

static struct facet *facet_of(struct types *t, struct arena *a, sym key)
{
    for (uint32_t i = 0; i < t->facet_count; i++)
        if (t->facets[i].key == key)
            return &t->facets[i];
    struct facet f = {.key = key, .sets = ARENA_ARRAY(a, const struct requirement *, t->count),
                      .of_type = ARENA_ARRAY(a, uint32_t, t->count)};
    ARENA_PUSH(a, t->facets, t->facet_count, t->facet_capacity, f);
    return &t->facets[t->facet_count - 1];
}

static bool requirement_equal(const struct requirement *a, const struct requirement *b)
{
    return a->complement == b->complement && a->has_gte == b->has_gte && a->has_lte == b->has_lte &&
           (!a->has_gte || a->gte == b->gte) && (!a->has_lte || a->lte == b->lte) &&
           a->count == b->count &&
           (a->count == 0 || memcmp(a->values, b->values, a->count * sizeof(sym)) == 0);
}

/* Looks at the last set first: neighbours in the catalogue mostly agree. A key whose value is the
 * type's own (its name) has as many sets as types and is not searched for equals. */
static void fill_facets(struct types *t, struct arena *a)
{
    enum { LOOK_BACK = 64 };
    for (uint32_t i = 0; i < t->count; i++) {
        const struct requirements *r = &types_at(t, i)->requirements;
        for (uint32_t k = 0; k < r->count; k++) {
            struct facet *f = facet_of(t, a, r->items[k].key);
            uint32_t floor = f->count > LOOK_BACK ? f->count - LOOK_BACK : 0, at = f->count;
            while (at > floor && !requirement_equal(f->sets[at - 1], &r->items[k]))
                at--;
            if (at == floor) {
                f->sets[f->count++] = &r->items[k];
                at = f->count;
            }
            f->of_type[i] = at;
        }
    }
}

void types_build(struct types *t, struct arena *a, struct symtab *syms, const struct classes *columns,
                 const struct catalogue *catalogue, bool reserved_gate)
{
    static const struct catalogue empty;
    *t = (struct types){.catalogue = catalogue != NULL ? catalogue : &empty,
                        .column_count = columns->column_count};
    t->count = t->catalogue->count;
    t->words = bits_words(t->count);
    if (t->catalogue->reservation_id_label.len != 0)
        t->reservation_key = sym_intern(syms, t->catalogue->reservation_id_label);
    t->first_group = ARENA_ARRAY(a, uint32_t, (size_t)t->count + 1);
    t->first_offer = ARENA_ARRAY(a, uint32_t, (size_t)t->count + 1);
    size_t offers = 0;
    for (uint32_t i = 0; i < t->count; i++)
        offers += types_at(t, i)->offering_count;
    t->offers = ARENA_ARRAY(a, struct type_offer, offers);
    intern_init(&t->kind_ids, a);
    struct group_list groups = {0};
    fill_offers(t, a, &groups, syms, reserved_gate);
    t->allocatable = ARENA_ARRAY(a, amount, (size_t)groups.count * t->column_count);
    t->capacity = ARENA_ARRAY(a, amount, (size_t)t->count * t->column_count);
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t g = t->first_group[i]; g < t->first_group[i + 1]; g++)
            fill_group(t, a, columns, i, g, groups.items[g], syms);
    fill_facets(t, a);
}

void types_cut(const struct types *t, uint64_t *set, const struct requirement *r,
               const struct symtab *syms)
{
    for (uint32_t i = 0; i < t->facet_count; i++) {
        const struct facet *f = &t->facets[i];
        if (f->key != r->key)
            continue;
        enum op op = requirement_op(r);
        bool excludes = op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
        /* Neighbours mostly share a set: the last answer is kept. */
        uint32_t asked = 0;
        bool fits = true;
        for (BITS_EACH(type, set, t->words)) {
            uint32_t at = f->of_type[type];
            if (at != 0 && at != asked) {
                const struct requirement *own = f->sets[at - 1];
                enum op own_op = requirement_op(own);
                asked = at;
                fits = requirement_intersects(own, r, syms) ||
                       (excludes && (own_op == OP_NOT_IN || own_op == OP_DOES_NOT_EXIST));
            }
            if (at != 0 && !fits)
                bits_drop(set, type);
        }
        return;
    }
}

void types_kinds(const struct types *t, uint64_t *kinds_out, const struct requirements *claim,
                 const struct symtab *syms)
{
    memset(kinds_out, 0, t->kind_words * sizeof(*kinds_out));
    for (uint32_t k = 0; k < t->kind_count; k++)
        if (requirements_compatible(claim, t->kinds[k], t->catalogue->well_known, syms, NULL, NULL))
            bits_add(kinds_out, k);
}

void types_cut_kinds(const struct types *t, uint64_t *set, const uint64_t *kinds)
{
    for (BITS_EACH(type, set, t->words))
        if (!bits_meet(t->kinds_of + (size_t)type * t->kind_words, kinds, t->kind_words))
            bits_drop(set, type);
}

static void add_values(const struct requirement *r, const struct topology_key *key,
                       const struct symtab *syms, uint64_t *out)
{
    for (uint32_t i = 0; !r->complement && i < r->count; i++) {
        int32_t d = topology_domain(key, r->values[i]);
        if (d >= 0)
            bits_add(out, (uint32_t)d);
    }
    for (uint32_t d = 0; r->complement && d < key->count; d++)
        if (requirement_has(r, key->domains[d], syms))
            bits_add(out, d);
}

/* Offerings decide where they say something, else the types, else the pool alone. */
void types_domains(const struct types *t, const uint64_t *set, const uint64_t *kinds,
                   const struct requirements *claim, const struct topology_key *key,
                   const struct symtab *syms, uint64_t *out)
{
    const struct requirement *asked = requirements_get(claim, key->key);
    const struct facet *facet = NULL;
    bool offered = false;
    memset(out, 0, key->words * sizeof(*out));
    for (uint32_t f = 0; f < t->facet_count; f++)
        if (t->facets[f].key == key->key)
            facet = &t->facets[f];
    for (uint32_t k = 0; k < t->kind_count && !offered; k++)
        offered = requirements_get(t->kinds[k], key->key) != NULL;
    if (!offered && facet == NULL && asked != NULL)
        add_values(asked, key, syms, out);
    for (uint32_t k = 0; offered && k < t->kind_count; k++) {
        const struct requirement *r = requirements_get(t->kinds[k], key->key);
        bool sold = false;
        if (!bits_has(kinds, k) || r == NULL)
            continue;
        for (BITS_EACH(type, set, t->words))
            if (bits_has(t->kinds_of + (size_t)type * t->kind_words, k)) {
                sold = true;
                break;
            }
        if (sold)
            add_values(r, key, syms, out);
    }
    uint32_t words = !offered && facet != NULL ? t->words : 0, last = 0;
    for (BITS_EACH(type, set, words))
        if (facet->of_type[type] != 0 && facet->of_type[type] != last) {
            last = facet->of_type[type];
            add_values(facet->sets[last - 1], key, syms, out);
        }
    for (uint32_t d = 0; asked != NULL && d < key->count; d++)
        if (bits_has(out, d) && !requirement_has(asked, key->domains[d], syms))
            bits_drop(out, d);
}

double types_price(const struct types *t, uint32_t type, const uint64_t *kinds)
{
    double best = INFINITY;
    for (uint32_t k = t->first_offer[type]; k < t->first_offer[type + 1]; k++)
        if (t->offers[k].launchable && bits_has(kinds, t->offers[k].kind) &&
            t->offers[k].price < best)
            best = t->offers[k].price;
    return best;
}
