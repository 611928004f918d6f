#include "sim/scenario/market.h"

#include <stdlib.h>

#include "sim/tree.h"

struct place {
    struct span type, zone, capacity_type;
    double listed, price;
};

struct shortage {
    struct scenario_market of;
    wall_ms until;
};

struct market {
    struct arena arena;
    struct symtab *syms;
    struct place *places;
    uint32_t count;
    json_t *index; /* "type zone capacity-type" → place; of equal ones the first */
    struct shortage *shortages;
    uint32_t shortage_count, shortage_capacity;
};

enum { KEY_MAX = 512 };

static size_t key_of(char out[KEY_MAX], struct span type, struct span zone, struct span capacity_type)
{
    if (type.len + zone.len + capacity_type.len + 2 > KEY_MAX)
        return 0;
    char *at = out;
    const struct span parts[] = {type, SPAN(" "), zone, SPAN(" "), capacity_type};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i].len != 0)
            memcpy(at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return (size_t)(at - out);
}

static struct span single_value(const struct market *m, const struct requirements *r, sym key)
{
    const struct requirement *one = requirements_get(r, key);
    return one != NULL && !one->complement && one->count == 1 ? sym_text(m->syms, one->values[0])
                                                              : (struct span){NULL, 0};
}

static void add(struct market *m, const struct instance_type *t, const struct offering *o)
{
    char key[KEY_MAX];
    struct place *p = &m->places[m->count];
    *p = (struct place){.type = t->name,
                        .zone = single_value(m, &o->requirements, SYM_ZONE),
                        .capacity_type = single_value(m, &o->requirements, SYM_CAPACITY_TYPE),
                        .listed = o->price,
                        .price = o->price};
    size_t len = key_of(key, p->type, p->zone, p->capacity_type);
    if (len != 0 && json_object_getn(m->index, key, len) == NULL)
        json_object_setn_new(m->index, key, len, json_integer(m->count));
    m->count++;
}

struct market *market_new(const struct catalogue_source *types)
{
    struct market *m = mem_new(sizeof *m);
    struct catalogue all;
    uint32_t count = 0;
    arena_init(&m->arena, 0);
    m->syms = kube_symtab_new();
    m->index = json_object();
    catalogue_build(types, &m->arena, m->syms, &all);
    for (uint32_t i = 0; i < all.count; i++)
        count += all.items[i].offering_count;
    m->places = ARENA_ARRAY(&m->arena, struct place, count + 1);
    for (uint32_t i = 0; i < all.count; i++)
        for (uint32_t o = 0; o < all.items[i].offering_count; o++)
            add(m, &all.items[i], &all.items[i].offerings[o]);
    return m;
}

void market_free(struct market *m)
{
    if (m == NULL)
        return;
    json_decref(m->index);
    symtab_unref(m->syms);
    arena_release(&m->arena);
    free(m->shortages);
    free(m);
}

static bool fits(struct span wanted, struct span is)
{
    return wanted.len == 0 || span_eq(wanted, is);
}

bool market_of(const struct scenario_market *of, struct span type, struct span zone, struct span capacity_type)
{
    return fits(of->type, type) && fits(of->zone, zone) && fits(of->capacity_type, capacity_type);
}

static bool matches(const struct scenario_market *of, const struct place *p)
{
    return market_of(of, p->type, p->zone, p->capacity_type);
}

bool market_has(const struct market *m, const struct scenario_market *of)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (matches(of, &m->places[i]))
            return true;
    return false;
}

uint32_t market_price_factor(struct market *m, const struct scenario_market *of, double factor)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        struct place *p = &m->places[i];
        if (!matches(of, p))
            continue;
        p->price = p->listed * factor;
        changed++;
    }
    return changed;
}

uint32_t market_price_vary(struct market *m, const struct scenario_market *of, double share, struct chance *c)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        struct place *p = &m->places[i];
        if (!matches(of, p))
            continue;
        p->price = p->listed * (1 + share * (2 * chance_unit(c) - 1));
        changed++;
    }
    return changed;
}

void market_stockout(struct market *m, const struct scenario_market *of, wall_ms now, wall_ms until)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->shortage_count; i++)
        if (m->shortages[i].until > now)
            m->shortages[kept++] = m->shortages[i];
    m->shortage_count = kept;
    if (m->shortage_count == m->shortage_capacity) {
        m->shortage_capacity = m->shortage_capacity != 0 ? m->shortage_capacity * 2 : 4;
        m->shortages = mem_grow(m->shortages, m->shortage_capacity, sizeof *m->shortages);
    }
    m->shortages[m->shortage_count++] = (struct shortage){*of, until};
}

int32_t market_find(const struct market *m, struct span type, struct span zone, struct span capacity_type)
{
    char key[KEY_MAX];
    size_t len = key_of(key, type, zone, capacity_type);
    const json_t *at = len != 0 ? json_object_getn(m->index, key, len) : NULL;
    return at != NULL ? (int32_t)json_integer_value(at) : -1;
}

double market_price(const struct market *m, int32_t offering)
{
    return m->places[offering].price;
}

bool market_in_stock(const struct market *m, struct span type, struct span zone, struct span capacity_type,
                     wall_ms now)
{
    for (uint32_t i = 0; i < m->shortage_count; i++)
        if (m->shortages[i].until > now && market_of(&m->shortages[i].of, type, zone, capacity_type))
            return false;
    return true;
}
