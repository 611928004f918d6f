/* Several providers' lists side by side. A planner knows types and pools, and whose they are only by which types a pool is
 * offered: so that is what is written down. */
#include <stdlib.h>

#include "cloud/catalogue.h"

static bool has(struct spans s, struct span x)
{
    for (uint32_t i = 0; i < s.count; i++)
        if (span_eq(s.items[i], x))
            return true;
    return false;
}

/* Those of the part's pools that the type is for. */
static struct spans offered_to(struct arena *a, const struct instance_type *t, struct spans pools)
{
    if (t->node_pools.count == 0)
        return pools;
    struct span *items = ARENA_ARRAY(a, struct span, pools.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < pools.count; i++)
        if (has(t->node_pools, pools.items[i]))
            items[count++] = pools.items[i];
    return (struct spans){items, count};
}

static void join_syms(struct arena *a, struct syms *to, struct syms more)
{
    sym *items = ARENA_ARRAY(a, sym, to->count + more.count);
    uint32_t n = 0, i = 0, k = 0;
    while (i < to->count || k < more.count) {
        bool first = k == more.count || (i < to->count && to->items[i] <= more.items[k]);
        sym s = first ? to->items[i++] : more.items[k++];
        if (n == 0 || items[n - 1] != s)
            items[n++] = s;
    }
    *to = (struct syms){items, n};
}

static void join_domains(struct arena *a, struct catalogue *to, const struct catalogue *more)
{
    struct span *items = ARENA_ARRAY(a, struct span, to->domain_count + more->domain_count);
    uint32_t n = 0;
    for (; n < to->domain_count; n++)
        items[n] = to->domains[n];
    for (uint32_t i = 0; i < more->domain_count; i++)
        if (!has((struct spans){items, n}, more->domains[i]))
            items[n++] = more->domains[i];
    to->domains = items;
    to->domain_count = n;
}

static struct spans both(struct arena *a, struct spans x, struct spans y)
{
    struct span *items = ARENA_ARRAY(a, struct span, x.count + y.count);
    for (uint32_t i = 0; i < x.count + y.count; i++)
        items[i] = i < x.count ? x.items[i] : y.items[i - x.count];
    return (struct spans){items, x.count + y.count};
}

static void join(struct arena *a, struct catalogue *to, const struct catalogue_part *part)
{
    const struct catalogue *from = part->catalogue;
    for (uint32_t i = 0; i < from->count; i++) {
        struct instance_type t = from->items[i];
        if (t.node_pools.count == 0) {
            t.class_group = span_of(part->class_group);
            t.class_kind = span_of(part->class_kind);
        }
        t.node_pools = offered_to(a, &t, part->pools);
        if (t.node_pools.count != 0) /* none would mean all */
            to->items[to->count++] = t;
    }
    bool named = to->name.len == 0 || from->name.len == 0 || span_eq(to->name, from->name);
    to->name = !named ? arena_printf(a, "%.*s and %.*s", SPAN_ARG(to->name), SPAN_ARG(from->name))
                      : to->name.len != 0 ? to->name : from->name;
    to->builtin |= from->builtin;
    if (from->partial)
        to->unlisted = both(a, to->unlisted, part->pools);
    join_syms(a, &to->well_known, from->well_known);
    join_syms(a, &to->unsupported_drivers, from->unsupported_drivers);
    join_syms(a, &to->unsupported_topology_keys, from->unsupported_topology_keys);
    join_domains(a, to, from);
    if (to->reservation_id_label.len == 0)
        to->reservation_id_label = from->reservation_id_label;
}

/* Of one name, as they came: types lie in one block. */
static int by_name(const void *x, const void *y)
{
    const struct instance_type *const *a = x, *const *b = y;
    int order = span_cmp((*a)->name, (*b)->name);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

static void sort(struct arena *a, struct catalogue *c)
{
    const struct instance_type **order = ARENA_ARRAY(a, const struct instance_type *, c->count);
    struct instance_type *items = ARENA_ARRAY(a, struct instance_type, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        order[i] = &c->items[i];
    qsort(order, c->count, sizeof(*order), by_name);
    for (uint32_t i = 0; i < c->count; i++)
        items[i] = *order[i];
    c->items = items;
}

void catalogue_join(struct arena *a, const struct catalogue_part *parts, uint32_t count, struct catalogue *out)
{
    uint32_t types = 0;
    for (uint32_t i = 0; i < count; i++)
        types += parts[i].catalogue->count;
    *out = (struct catalogue){.items = ARENA_ARRAY(a, struct instance_type, types)};
    for (uint32_t i = 0; i < count; i++)
        join(a, out, &parts[i]);
    sort(a, out);
}
