#include "server/plan_machines.h"

#include "cloud/catalogue.h"
#include "cloud/machine_types.h"

static void warn(void *user, struct span text)
{
    input_warn(user, text);
}

/* Pools that are planned by the one or the other. */
static struct spans pools_of(struct input *o, bool of_machines)
{
    const struct input_list *pools = &o->kinds[KIND_NODE_POOL], *classes = &o->kinds[KIND_CLUSTER_API_NODE_CLASS];
    struct spans out = {ARENA_ARRAY(&o->arena, struct span, pools->count), 0};
    for (size_t i = 0; i < pools->count; i++) {
        const struct node_pool *p = pools->items[i];
        bool found = false;
        for (size_t k = 0; k < classes->count && machine_class_serves(&p->node_class); k++)
            found |= span_eq(((const struct meta *)classes->items[k])->name, p->node_class.name);
        if (found == of_machines)
            out.items[out.count++] = p->meta.name;
    }
    return out;
}

void plan_machines(struct input *o, struct catalogue *catalogue)
{
    struct machine_supply from = {.syms = o->syms,
                                  .classes = (const void *)o->kinds[KIND_CLUSTER_API_NODE_CLASS].items,
                                  .class_count = o->kinds[KIND_CLUSTER_API_NODE_CLASS].count,
                                  .deployments = (const void *)o->kinds[KIND_MACHINE_DEPLOYMENT].items,
                                  .deployment_count = o->kinds[KIND_MACHINE_DEPLOYMENT].count,
                                  .pools = (const void *)o->kinds[KIND_NODE_POOL].items,
                                  .pool_count = o->kinds[KIND_NODE_POOL].count,
                                  .prices = catalogue,
                                  .price_syms = o->syms};
    struct catalogue listed = *catalogue, machines;
    if (from.class_count == 0)
        return;
    from.prices = &listed;
    machine_types(&o->arena, &from, o->syms, warn, o, &machines, NULL);
    const struct catalogue_part parts[] = {
        {.catalogue = &listed, .pools = pools_of(o, false), .class_group = "karpenter.kwok.sh", .class_kind = "KWOKNodeClass"},
        {.catalogue = &machines, .pools = pools_of(o, true), .class_group = MACHINE_CLASS_GROUP,
         .class_kind = MACHINE_CLASS_KIND},
    };
    if (parts[0].pools.count == 0)
        *catalogue = machines;
    else
        catalogue_join(&o->arena, parts, COUNT_OF(parts), catalogue);
}
