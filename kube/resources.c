#include "kube/resources.h"

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

void resources_add(struct arena *a, struct resources *into, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        amount *slot = resources_at(a, into, r.items[i].name);
        *slot = amount_add(*slot, r.items[i].value);
    }
}

void resources_max(struct arena *a, struct resources *into, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        amount *slot = resources_at(a, into, r.items[i].name);
        if (*slot < r.items[i].value)
            *slot = r.items[i].value;
    }
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
