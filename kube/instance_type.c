#include "kube/instance_type.h"

/* Capacity minus overhead over the keys of capacity, negatives kept; what is set aside as huge
 * pages is no memory (api 7.1). */
static struct resources allocatable_of(struct arena *a, const struct symtab *syms,
                                       struct resources capacity, struct resources overhead)
{
    struct resources r = resources_dup(a, capacity);
    for (uint32_t i = 0; i < r.count; i++)
        r.items[i].value = amount_add(r.items[i].value, -resources_get(overhead, r.items[i].name));
    amount huge = 0, *memory = NULL;
    for (uint32_t i = 0; i < r.count; i++) {
        if (r.items[i].name == SYM_MEMORY)
            memory = &r.items[i].value;
        if (span_has_prefix(sym_text(syms, r.items[i].name), SPAN("hugepages-")))
            huge = amount_add(huge, capacity.items[i].value);
    }
    if (memory != NULL && huge > 0)
        *memory = *memory > huge ? *memory - huge : 0;
    return r;
}

static void lay_over(struct arena *a, struct resources *base, struct resources over)
{
    for (uint32_t i = 0; i < over.count; i++)
        *resources_at(a, base, over.items[i].name) = over.items[i].value;
}

void instance_type_finish(struct arena *a, struct instance_type *t, const struct symtab *syms)
{
    t->allocatable = allocatable_of(a, syms, t->capacity, t->overhead);
}

struct resources offering_allocatable(struct arena *a, const struct instance_type *t,
                                      const struct offering *o, const struct symtab *syms)
{
    if (!o->has_capacity_override && !o->has_overhead_override)
        return t->allocatable;
    struct resources capacity = resources_dup(a, t->capacity);
    struct resources overhead = resources_dup(a, t->overhead);
    lay_over(a, &capacity, o->capacity_override);
    lay_over(a, &overhead, o->overhead_override);
    return allocatable_of(a, syms, capacity, overhead);
}

bool offering_launchable(const struct offering *o, const struct symtab *syms)
{
    if (!o->available)
        return false;
    const struct requirement *kind = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
    bool reserved = kind == NULL || requirement_has(kind, SYM_RESERVED, syms);
    return !reserved || o->reservation_capacity > 0;
}

static bool has(struct spans pools, struct span pool)
{
    for (uint32_t i = 0; i < pools.count; i++)
        if (span_eq(pools.items[i], pool))
            return true;
    return false;
}

bool instance_type_offered(const struct instance_type *t, struct span pool)
{
    return t->node_pools.count == 0 || has(t->node_pools, pool);
}

bool catalogue_lists(const struct catalogue *c, struct span pool)
{
    return !c->partial && !has(c->unlisted, pool);
}
