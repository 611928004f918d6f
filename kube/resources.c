#include "kube/resources.h"

#include <stdlib.h>

#include "base/json.h"

amount resources_get(struct resources r, sym name)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name == name)
            return r.items[i].value;
    return 0;
}

struct resources resources_dup(struct arena *a, struct resources r)
{
    struct resource *items = ARENA_ARRAY(a, struct resource, r.count);
    if (r.count != 0)
        memcpy(items, r.items, r.count * sizeof(*items));
    return (struct resources){items, r.count};
}

amount *resources_at(struct arena *a, struct resources *r, sym name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->items[i].name == name)
            return &r->items[i].value;
    /* Lists have two to five entries and are shared by value: each growth is a copy of its own. */
    struct resource *grown = ARENA_ARRAY(a, struct resource, r->count + 1);
    if (r->count != 0)
        memcpy(grown, r->items, r->count * sizeof(*grown));
    r->items = grown;
    r->items[r->count] = (struct resource){.name = name};
    return &r->items[r->count++].value;
}

struct place { /* of a name in a list */
    sym name;
    uint32_t at;
};

static int by_name(const void *x, const void *y)
{
    sym a = ((const struct place *)x)->name, b = ((const struct place *)y)->name;
    return a < b ? -1 : a > b;
}

enum { FEW = 16 }; /* names that are looked for one by one */

/* By name; NULL: few. */
static struct place *places_of(struct arena *a, struct resources r)
{
    if (r.count <= FEW)
        return NULL;
    struct place *places = ARENA_ARRAY(a, struct place, r.count);
    for (uint32_t i = 0; i < r.count; i++)
        places[i] = (struct place){r.items[i].name, i};
    qsort(places, r.count, sizeof(*places), by_name);
    return places;
}

/* r.count: it is not there. */
static uint32_t place_of(struct resources r, const struct place *places, sym name)
{
    uint32_t at = 0;
    if (places != NULL) {
        const struct place key = {name, 0}, *found = bsearch(&key, places, r.count, sizeof(*places), by_name);
        return found != NULL ? found->at : r.count;
    }
    while (at < r.count && r.items[at].name != name)
        at++;
    return at;
}

enum merge { MERGE_ADD, MERGE_MAX, MERGE_MISSING };

/* In one allocation, however many names *into lacks. */
static void merge(struct arena *a, struct resources *into, struct resources r, enum merge how)
{
    struct resources before = *into;
    const struct place *places = places_of(a, before);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < r.count; i++)
        missing += place_of(before, places, r.items[i].name) == before.count;
    if (missing != 0) {
        into->items = ARENA_ARRAY(a, struct resource, before.count + missing);
        if (before.count != 0)
            memcpy(into->items, before.items, before.count * sizeof(*into->items));
    }
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t at = place_of(before, places, r.items[i].name);
        bool there = at < before.count;
        if (!there) {
            at = into->count++;
            into->items[at] = (struct resource){.name = r.items[i].name};
        }
        amount *value = &into->items[at].value;
        if (how == MERGE_ADD)
            *value = amount_add(*value, r.items[i].value);
        else if (how == MERGE_MISSING ? !there : *value < r.items[i].value)
            *value = r.items[i].value;
    }
}

void resources_add(struct arena *a, struct resources *into, struct resources r)
{
    merge(a, into, r, MERGE_ADD);
}

void resources_max(struct arena *a, struct resources *into, struct resources r)
{
    merge(a, into, r, MERGE_MAX);
}

void resources_fill(struct arena *a, struct resources *into, struct resources r)
{
    merge(a, into, r, MERGE_MISSING);
}

void resources_put(struct json *j, struct resources r, const struct symtab *syms)
{
    struct buf text = {0};
    for (uint32_t i = 0; i < r.count; i++) {
        struct span name = sym_text(syms, r.items[i].name);
        buf_clear(&text);
        quantity_put(&text, name, r.items[i].value);
        json_key(j, name);
        json_text(j, buf_span(&text));
    }
    buf_release(&text);
}
