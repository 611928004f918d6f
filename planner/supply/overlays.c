/* One overlay after the other, the heaviest first. For each it is worked out what it selects, then
 * whether it is in conflict anywhere, and only then is it laid down: so it takes effect everywhere or
 * nowhere. What lies on a type in a pool is kept in a `cover`, made when something first does. */
#include "planner/supply/overlays.h"

#include <stdlib.h>

struct cover { /* of one type in one pool */
    const struct node_overlay **priced;   /* by offering: who sets the price; NULL: nobody */
    const struct node_overlay **lightest; /* by offering: the last that wanted to */
    struct resources capacity;
    const struct node_overlay **level; /* of one weight: the lightest that set capacity or wanted to */
    uint32_t level_count, level_capacity;
};

struct applying {
    struct arena *a;
    struct symtab *syms;
    const struct catalogue *catalogue;
    const struct node_pool *const *pools;
    size_t pool_count;
    struct requirements *of_pool; /* by pool: its name and its template's labels */
    struct cover **covers;        /* type * pool_count + pool; NULL: nothing lies on it */
    bool *selected;               /* by offering of the overlay at hand, all types in a row */
    struct requirement *there;    /* room for as many as the overlay at hand asks */
    uint32_t *first_offering;     /* by type */
    struct overlay_fault *faults;
    uint32_t fault_count, fault_capacity;
    bool changed;
};

static int by_weight(const void *a, const void *b)
{
    const struct node_overlay *x = *(const struct node_overlay *const *)a;
    const struct node_overlay *y = *(const struct node_overlay *const *)b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return span_cmp(y->meta.name, x->meta.name);
}

static bool is_offered(const struct instance_type *t, const struct node_pool *pool)
{
    bool offered = t->node_pools.count == 0;
    for (uint32_t i = 0; i < t->node_pools.count && !offered; i++)
        offered = span_eq(t->node_pools.items[i], pool->meta.name);
    return offered;
}

/* Pool, template labels and type know each key that is asked, and none says otherwise. Only the keys
 * asked are put together. */
static bool type_selected(struct applying *x, uint32_t type, size_t pool,
                          const struct requirements *asked)
{
    const struct instance_type *t = &x->catalogue->items[type];
    struct requirement *items = x->there;
    struct requirements there = {items, 0};
    static const struct syms none;
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct requirement *p = requirements_get(&x->of_pool[pool], asked->items[i].key);
        const struct requirement *own = requirements_get(&t->requirements, asked->items[i].key);
        if (p != NULL && own != NULL)
            items[there.count++] = requirement_and(x->a, p, own, x->syms);
        else if (p != NULL || own != NULL)
            items[there.count++] = p != NULL ? *p : *own;
    }
    return requirements_compatible(&there, asked, none, x->syms, NULL, NULL);
}

/* Marks the offerings that the overlay selects, whichever the pool; false: none. */
static bool mark_offerings(struct applying *x, const struct requirements *asked)
{
    bool any = false;
    for (uint32_t i = 0; i < x->catalogue->count; i++) {
        const struct instance_type *t = &x->catalogue->items[i];
        for (uint32_t k = 0; k < t->offering_count; k++) {
            bool selected = requirements_compatible(asked, &t->offerings[k].requirements,
                                                    x->catalogue->well_known, x->syms, NULL, NULL);
            x->selected[x->first_offering[i] + k] = selected;
            any |= selected;
        }
    }
    return any;
}

static bool selects_any(const struct applying *x, uint32_t type)
{
    const bool *selected = x->selected + x->first_offering[type];
    for (uint32_t k = 0; k < x->catalogue->items[type].offering_count; k++)
        if (selected[k])
            return true;
    return false;
}

static bool has_resource(struct resources r, sym name)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name == name)
            return true;
    return false;
}

static bool share_capacity(const struct node_overlay *x, const struct node_overlay *y)
{
    for (uint32_t i = 0; i < x->capacity.count; i++)
        if (has_resource(y->capacity, x->capacity.items[i].name))
            return true;
    return false;
}

/* With whom it is in conflict there; NULL: with nobody. */
static const struct node_overlay *rival_at(const struct applying *x, const struct cover *c, uint32_t type,
                                           const struct node_overlay *o)
{
    const bool *selected = x->selected + x->first_offering[type];
    uint32_t offerings = node_overlay_prices(o) ? x->catalogue->items[type].offering_count : 0;
    for (uint32_t k = 0; k < offerings; k++)
        if (selected[k] && c->lightest[k] != NULL && c->lightest[k]->weight == o->weight)
            return c->lightest[k];
    for (uint32_t i = 0; i < c->level_count && c->level[i]->weight == o->weight; i++)
        if (share_capacity(o, c->level[i]))
            return c->level[i];
    return NULL;
}

/* A list of its own, with room for so many more. */
static struct resources with_room(struct arena *a, struct resources r, uint32_t more)
{
    struct resource *items = ARENA_ARRAY(a, struct resource, (size_t)r.count + more);
    if (r.count != 0)
        memcpy(items, r.items, r.count * sizeof(*items));
    return (struct resources){items, r.count};
}

static void lay_down(struct applying *x, struct cover **at, uint32_t type,
                     const struct node_overlay *o)
{
    const bool *selected = x->selected + x->first_offering[type];
    uint32_t offerings = x->catalogue->items[type].offering_count;
    if (*at == NULL) {
        *at = ARENA_NEW(x->a, struct cover);
        (*at)->priced = ARENA_ARRAY(x->a, const struct node_overlay *, offerings);
        (*at)->lightest = ARENA_ARRAY(x->a, const struct node_overlay *, offerings);
    }
    struct cover *c = *at;
    for (uint32_t k = 0; k < offerings && node_overlay_prices(o); k++) {
        if (!selected[k])
            continue;
        if (c->priced[k] == NULL)
            c->priced[k] = o;
        c->lightest[k] = o;
    }
    if (o->capacity.count != 0 && c->level_count != 0 && c->level[0]->weight != o->weight)
        c->level_count = 0;
    if (o->capacity.count != 0)
        ARENA_PUSH(x->a, c->level, c->level_count, c->level_capacity, o);
    if (o->capacity.count != 0)
        c->capacity = with_room(x->a, c->capacity, o->capacity.count);
    for (uint32_t i = 0; i < o->capacity.count; i++)
        if (!has_resource(c->capacity, o->capacity.items[i].name))
            c->capacity.items[c->capacity.count++] = o->capacity.items[i];
}

static void reject(struct applying *x, const struct node_overlay *o, struct span why,
                   const struct node_overlay *rival)
{
    struct overlay_fault f = {o, why, rival};
    ARENA_PUSH(x->a, x->faults, x->fault_count, x->fault_capacity, f);
}

/* Asks (when `lay` is false) or lays down; with whom it is in conflict, or NULL. */
static const struct node_overlay *go_over(struct applying *x, const struct node_overlay *o,
                                          const struct requirements *asked, bool lay)
{
    for (uint32_t type = 0; type < x->catalogue->count; type++) {
        if (!selects_any(x, type))
            continue;
        for (size_t pool = 0; pool < x->pool_count; pool++) {
            struct cover **at = &x->covers[type * x->pool_count + pool];
            if ((!lay && *at == NULL) || !is_offered(&x->catalogue->items[type], x->pools[pool]) ||
                !type_selected(x, type, pool, asked))
                continue;
            const struct node_overlay *rival = lay ? NULL : rival_at(x, *at, type, o);
            if (rival != NULL)
                return rival;
            if (lay)
                lay_down(x, at, type, o);
            x->changed |= lay;
        }
    }
    return NULL;
}

static void apply(struct applying *x, const struct node_overlay *o)
{
    struct label_rules rules = catalogue_rules(x->catalogue);
    struct err err = {.kind = ERR_NONE};
    if (!node_overlay_valid(o, &rules, x->syms, &err)) {
        reject(x, o, arena_dup(x->a, span_of(err.msg)), NULL);
        return;
    }
    if (!node_overlay_prices(o) && o->capacity.count == 0)
        return;
    struct requirements asked = requirements_of(x->a, x->syms, o->requirements);
    if (!mark_offerings(x, &asked))
        return;
    x->there = ARENA_ARRAY(x->a, struct requirement, asked.count);
    const struct node_overlay *rival = go_over(x, o, &asked, false);
    if (rival == NULL)
        go_over(x, o, &asked, true);
    else
        reject(x, o, SPAN("conflict with another overlay"), rival);
}

/* --- the new catalogue --- */

static bool resources_same(struct resources a, struct resources b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; i < a.count && same; i++)
        same = has_resource(b, a.items[i].name) &&
               resources_get(b, a.items[i].name) == a.items[i].value;
    return same;
}

static bool covers_same(const struct cover *a, const struct cover *b, uint32_t offerings)
{
    if (a == NULL || b == NULL)
        return a == b;
    for (uint32_t k = 0; k < offerings; k++)
        if (a->priced[k] != b->priced[k])
            return false;
    return resources_same(a->capacity, b->capacity);
}

/* There is room for one more. */
static void set_resource(struct resources *r, struct resource value)
{
    uint32_t i = 0;
    while (i < r->count && r->items[i].name != value.name)
        i++;
    r->items[i] = value;
    r->count += i == r->count;
}

static void cover_type(struct applying *x, struct instance_type *t, const struct cover *c)
{
    struct offering *offerings = ARENA_ARRAY(x->a, struct offering, t->offering_count);
    for (uint32_t k = 0; k < t->offering_count; k++) {
        offerings[k] = t->offerings[k];
        if (c->priced[k] == NULL)
            continue;
        offerings[k].price = node_overlay_price(c->priced[k], offerings[k].price);
        t->price_overlaid = true;
    }
    t->offerings = offerings;
    if (c->capacity.count == 0)
        return;
    t->capacity_overlaid = true;
    t->capacity = with_room(x->a, t->capacity, c->capacity.count);
    for (uint32_t i = 0; i < c->capacity.count; i++)
        set_resource(&t->capacity, c->capacity.items[i]);
    instance_type_finish(x->a, t, x->syms);
}

/* An entry for each set of pools that see the type alike; pools that are not offered it count with
 * none. Returns how many. */
static uint32_t split_type(struct applying *x, uint32_t type, struct instance_type *out)
{
    const struct instance_type *t = &x->catalogue->items[type];
    struct cover *const *covers = x->covers + type * x->pool_count;
    size_t *group = ARENA_ARRAY(x->a, size_t, x->pool_count); /* + 1 */
    size_t offered = 0;
    uint32_t n = 0;
    for (size_t p = 0; p < x->pool_count; p++)
        offered += is_offered(t, x->pools[p]);
    for (size_t p = 0; p < x->pool_count; p++) {
        if (group[p] != 0 || !is_offered(t, x->pools[p]))
            continue;
        struct span *names = ARENA_ARRAY(x->a, struct span, x->pool_count);
        uint32_t count = 0;
        for (size_t q = p; q < x->pool_count; q++)
            if (group[q] == 0 && is_offered(t, x->pools[q]) &&
                covers_same(covers[p], covers[q], t->offering_count)) {
                group[q] = n + 1;
                names[count++] = x->pools[q]->meta.name;
            }
        out[n] = *t;
        if (covers[p] != NULL)
            cover_type(x, &out[n], covers[p]);
        if (count != offered)
            out[n].node_pools = (struct spans){names, count};
        n++;
    }
    if (n == 0) /* nobody is offered it */
        out[n++] = *t;
    return n;
}

static const struct catalogue *new_catalogue(struct applying *x)
{
    struct catalogue *c = ARENA_NEW(x->a, struct catalogue);
    size_t most = x->pool_count != 0 ? x->pool_count : 1;
    *c = *x->catalogue;
    c->count = 0;
    c->items = ARENA_ARRAY(x->a, struct instance_type, most * x->catalogue->count);
    for (uint32_t type = 0; type < x->catalogue->count; type++)
        c->count += split_type(x, type, c->items + c->count);
    return c;
}

struct overlaid overlays_apply(struct arena *a, struct symtab *syms,
                               const struct catalogue *catalogue,
                               const struct node_overlay *const *overlays, size_t overlay_count,
                               const struct node_pool *const *pools, size_t pool_count)
{
    struct applying x = {.a = a, .syms = syms, .catalogue = catalogue, .pools = pools,
                         .pool_count = pool_count};
    if (overlay_count == 0)
        return (struct overlaid){.catalogue = catalogue};
    const struct node_overlay **order = ARENA_ARRAY(a, const struct node_overlay *, overlay_count);
    for (size_t i = 0; i < overlay_count; i++)
        order[i] = overlays[i];
    qsort(order, overlay_count, sizeof(*order), by_weight);
    x.of_pool = ARENA_ARRAY(a, struct requirements, pool_count);
    for (size_t i = 0; i < pool_count; i++) {
        struct requirement name = requirement_in(a, syms, SYM_NODEPOOL,
                                                 sym_intern(syms, pools[i]->meta.name));
        x.of_pool[i] = requirements_of_labels(a, syms, pools[i]->labels);
        requirements_add(a, &x.of_pool[i], &name, syms);
    }
    uint32_t offerings = 0;
    x.first_offering = ARENA_ARRAY(a, uint32_t, catalogue->count);
    for (uint32_t i = 0; i < catalogue->count; i++) {
        x.first_offering[i] = offerings;
        offerings += catalogue->items[i].offering_count;
    }
    x.selected = ARENA_ARRAY(a, bool, offerings);
    x.covers = ARENA_ARRAY(a, struct cover *, catalogue->count * pool_count);
    for (size_t i = 0; i < overlay_count; i++)
        apply(&x, order[i]);
    return (struct overlaid){x.changed ? new_catalogue(&x) : catalogue, x.changed, x.faults,
                             x.fault_count};
}
