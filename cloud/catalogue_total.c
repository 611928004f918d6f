#include "cloud/catalogue.h"

#include <stdlib.h>

#include "cloud/catalogue_source.h"

static int by_text(const void *x, const void *y)
{
    return span_cmp(*(const struct span *)x, *(const struct span *)y);
}

static void add(struct arena *a, struct spans *to, uint32_t *capacity, struct span value)
{
    for (uint32_t i = 0; i < to->count; i++)
        if (span_eq(to->items[i], value))
            return;
    ARENA_PUSH(a, to->items, to->count, *capacity, value);
}

struct counting {
    struct arena *a;
    struct catalogue_totals t;
    uint32_t zones, kinds; /* room for so many */
};

static void count_offering(struct counting *c, const struct source_offering *o)
{
    for (uint32_t i = 0; i < o->requirements.count; i++) {
        const struct source_requirement *r = &o->requirements.items[i];
        for (uint32_t v = 0; v < r->values.count && r->op == OP_IN; v++)
            if (span_eq(r->key, wellknown_text[SYM_ZONE - 1]))
                add(c->a, &c->t.zones, &c->zones, r->values.items[v]);
            else if (span_eq(r->key, wellknown_text[SYM_CAPACITY_TYPE - 1]))
                add(c->a, &c->t.capacity_types, &c->kinds, r->values.items[v]);
    }
    c->t.offerings++;
    c->t.available += o->available;
    if (!o->available || o->price <= 0)
        return;
    if (c->t.priced == 0 || o->price < c->t.cheapest)
        c->t.cheapest = o->price;
    if (c->t.priced++ == 0 || o->price > c->t.dearest)
        c->t.dearest = o->price;
}

struct catalogue_totals catalogue_total(const struct catalogue_source *s, struct arena *a)
{
    struct counting c = {.a = a, .t = {.types = s->count}};
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t o = 0; o < s->types[i].offerings.count; o++)
            count_offering(&c, &s->types[i].offerings.items[o]);
    if (c.t.zones.count != 0)
        qsort(c.t.zones.items, c.t.zones.count, sizeof(struct span), by_text);
    if (c.t.capacity_types.count != 0)
        qsort(c.t.capacity_types.items, c.t.capacity_types.count, sizeof(struct span), by_text);
    return c.t;
}
