/* A catalogue of one symbol table, as another has it. Symbols of a list are sorted by their ids, which are other ones
 * there. */
#include <stdlib.h>

#include "cloud/catalogue.h"

struct copying {
    struct arena *a;
    const struct symtab *from;
    struct symtab *to;
};

static sym sym_of(const struct copying *x, sym s)
{
    return s == SYM_NONE ? SYM_NONE : sym_intern(x->to, sym_text(x->from, s));
}

static int by_id(const void *x, const void *y)
{
    sym a = *(const sym *)x, b = *(const sym *)y;
    return (a > b) - (a < b);
}

static sym *syms_of(const struct copying *x, const sym *from, uint32_t count)
{
    sym *out = ARENA_ARRAY(x->a, sym, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = sym_of(x, from[i]);
    if (count != 0)
        qsort(out, count, sizeof(*out), by_id);
    return out;
}

static struct syms list_of(const struct copying *x, struct syms from)
{
    return (struct syms){syms_of(x, from.items, from.count), from.count};
}

static int by_key(const void *x, const void *y)
{
    sym a = ((const struct requirement *)x)->key, b = ((const struct requirement *)y)->key;
    return (a > b) - (a < b);
}

static struct requirements requirements_in(const struct copying *x, const struct requirements *from)
{
    struct requirements out = {ARENA_ARRAY(x->a, struct requirement, from->count), from->count};
    for (uint32_t i = 0; i < from->count; i++) {
        out.items[i] = from->items[i];
        out.items[i].key = sym_of(x, from->items[i].key);
        out.items[i].values = syms_of(x, from->items[i].values, from->items[i].count);
    }
    if (out.count != 0)
        qsort(out.items, out.count, sizeof(*out.items), by_key);
    return out;
}

static struct resources amounts_of(const struct copying *x, struct resources from)
{
    struct resources out = {ARENA_ARRAY(x->a, struct resource, from.count), from.count};
    for (uint32_t i = 0; i < from.count; i++)
        out.items[i] = (struct resource){sym_of(x, from.items[i].name), from.items[i].value};
    return out;
}

static struct offering *offerings_of(const struct copying *x, const struct instance_type *t)
{
    struct offering *out = ARENA_ARRAY(x->a, struct offering, t->offering_count);
    for (uint32_t i = 0; i < t->offering_count; i++) {
        out[i] = t->offerings[i];
        out[i].requirements = requirements_in(x, &t->offerings[i].requirements);
        out[i].capacity_override = amounts_of(x, t->offerings[i].capacity_override);
        out[i].overhead_override = amounts_of(x, t->offerings[i].overhead_override);
    }
    return out;
}

static struct span *texts_of(const struct copying *x, const struct span *from, uint32_t count)
{
    struct span *out = ARENA_ARRAY(x->a, struct span, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = arena_dup(x->a, from[i]);
    return out;
}

static struct instance_type type_of(const struct copying *x, const struct instance_type *from)
{
    struct instance_type t = *from;
    t.name = arena_dup(x->a, from->name);
    t.name_sym = sym_of(x, from->name_sym);
    t.requirements = requirements_in(x, &from->requirements);
    t.capacity = amounts_of(x, from->capacity);
    t.overhead = amounts_of(x, from->overhead);
    t.allocatable = amounts_of(x, from->allocatable);
    t.offerings = offerings_of(x, from);
    t.volume_limits = ARENA_ARRAY(x->a, struct volume_limit, from->volume_limit_count);
    for (uint32_t i = 0; i < from->volume_limit_count; i++)
        t.volume_limits[i] =
            (struct volume_limit){sym_of(x, from->volume_limits[i].driver), from->volume_limits[i].count};
    t.node_pools.items = texts_of(x, from->node_pools.items, from->node_pools.count);
    return t;
}

void catalogue_copy(const struct catalogue *from, const struct symtab *from_syms, struct arena *a, struct symtab *syms,
                    struct catalogue *out)
{
    const struct copying x = {a, from_syms, syms};
    *out = *from;
    out->name = arena_dup(a, from->name);
    out->items = ARENA_ARRAY(a, struct instance_type, from->count);
    for (uint32_t i = 0; i < from->count; i++)
        out->items[i] = type_of(&x, &from->items[i]);
    out->well_known = list_of(&x, from->well_known);
    out->domains = texts_of(&x, from->domains, from->domain_count);
    out->reservation_id_label = arena_dup(a, from->reservation_id_label);
    out->unsupported_drivers = list_of(&x, from->unsupported_drivers);
    out->unsupported_topology_keys = list_of(&x, from->unsupported_topology_keys);
}
