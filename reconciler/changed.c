#include "reconciler/changed.h"

#include <stdlib.h>

bool kind_changes_by_delta(enum kind k)
{
    static const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_NODE_CLAIM, KIND_CSI_NODE, KIND_DISRUPTION_BUDGET};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i] == k)
            return true;
    return false;
}

/* The objects of `s` that `other` does not have. */
static const void **beside(const struct snapshot *s, const struct snapshot *other, enum kind k, size_t *count_out)
{
    size_t count = 0, capacity = 64;
    const void **objects = mem_array(capacity, sizeof(*objects));
    struct snapshot_iter it = snapshot_each(s, k);
    for (const void *o; (o = snapshot_next_changed(&it, other)) != NULL;) {
        if (count == capacity)
            objects = mem_grow(objects, capacity *= 2, sizeof(*objects));
        objects[count++] = o;
    }
    *count_out = count;
    return objects;
}

static struct changed_kind of_kind(const struct snapshot *now, const struct snapshot *before, enum kind k)
{
    struct changed_kind c;
    c.gone = beside(before, now, k, &c.gone_count);
    c.come = beside(now, before, k, &c.come_count);
    return c;
}

static const void **all(const struct snapshot *s, enum kind k, size_t *count_out)
{
    size_t count = 0;
    const void **list = mem_array(s->state[k].count + 1, sizeof(*list));
    struct snapshot_iter it = snapshot_each(s, k);
    for (const void *o; count < s->state[k].count && (o = snapshot_next(&it)) != NULL;)
        list[count++] = o;
    *count_out = count;
    return list;
}

void changed_find(struct changed *out, const struct snapshot *now, const struct snapshot *before)
{
    *out = (struct changed){.pods = of_kind(now, before, KIND_POD),
                            .nodes = of_kind(now, before, KIND_NODE),
                            .claims = of_kind(now, before, KIND_NODE_CLAIM),
                            .csi_nodes = of_kind(now, before, KIND_CSI_NODE)};
    if (!snapshot_same(before, now, KIND_DISRUPTION_BUDGET))
        out->budgets = all(now, KIND_DISRUPTION_BUDGET, &out->budget_count);
}

struct world_change changed_of(const struct changed *c)
{
    return (struct world_change){
        .gone = (const void *)c->pods.gone, .gone_count = c->pods.gone_count,
        .come = (const void *)c->pods.come, .come_count = c->pods.come_count,
        .gone_nodes = (const void *)c->nodes.gone, .gone_node_count = c->nodes.gone_count,
        .nodes = (const void *)c->nodes.come, .node_count = c->nodes.come_count,
        .gone_claims = (const void *)c->claims.gone, .gone_claim_count = c->claims.gone_count,
        .claims = (const void *)c->claims.come, .claim_count = c->claims.come_count,
        .gone_csi_nodes = (const void *)c->csi_nodes.gone, .gone_csi_node_count = c->csi_nodes.gone_count,
        .csi_nodes = (const void *)c->csi_nodes.come, .csi_node_count = c->csi_nodes.come_count,
        .budgets = (const void *)c->budgets, .budget_count = c->budget_count,
    };
}

static void release_kind(struct changed_kind *c)
{
    free(c->gone);
    free(c->come);
}

void changed_release(struct changed *c)
{
    release_kind(&c->pods);
    release_kind(&c->nodes);
    release_kind(&c->claims);
    release_kind(&c->csi_nodes);
    free(c->budgets);
}
