/* How much the cluster can lose before it has less than --cores-total and its like say. As upstream counts: over all
 * that stands in the snapshot, what is still to come included, and each group's first node for all of its nodes. But not
 * what this controller is removing already, for which upstream goes below the minimum pass by pass (scenario 197). */
#include "planner/groups/down/inner.h"
#include "planner/groups/snapshot/snapshot.h"

enum { CORES, MEMORY, FIRST_GPU };

static int64_t whole_cores(const struct node *n)
{
    amount millis = resources_get(n->capacity, SYM_CPU);
    return millis / 1000 + (millis % 1000 != 0);
}

/* False: there is no telling. */
static bool cost_of(const struct down *d, const struct node *n, int32_t group, int64_t *out)
{
    struct span type = {NULL, 0};
    int64_t gpus;
    out[CORES] = whole_cores(n);
    out[MEMORY] = resources_get(n->capacity, SYM_MEMORY);
    if (!gpus_count(d, n, group, &type, &gpus))
        return false;
    for (uint32_t i = 0; i < d->r->flags->gpus.count; i++)
        if (type.ptr != NULL && span_eq(d->r->flags->gpus.items[i].resource, type))
            out[FIRST_GPU + i] = gpus;
    return true;
}

/* Adds what stands in the snapshot to `sums`. */
static bool add_all(const struct down *d, uint32_t count, int64_t *sums, struct leave_group *groups)
{
    int64_t *own = ARENA_ARRAY(d->r->arena, int64_t, count);
    for (uint32_t i = 0; i < snapshot_count(d->r->snapshot); i++) {
        uint32_t row = snapshot_row(d->r->snapshot, snapshot_list(d->r->snapshot)[i]);
        const struct node *n = world_node_at(d->r->world, row)->node;
        int32_t group = d->r->owners[row];
        const int64_t *cost = group < 0 ? NULL : groups[group].costs;
        bool counts = !node_is_virtual(n, d->r->objects->syms) && !bits_has(d->r->deleting, row) && !group_row_bought(d->r, row);
        if (group < 0 && !counts)
            continue;
        if (cost == NULL) {
            int64_t *made = group < 0 ? own : ARENA_ARRAY(d->r->arena, int64_t, count);
            memset(made, 0, count * sizeof(*made));
            if (!cost_of(d, n, group, made))
                return false;
            cost = made;
            if (group >= 0)
                groups[group].costs = made;
        }
        for (uint32_t k = 0; counts && k < count; k++)
            sums[k] = amount_add(sums[k], cost[k]);
    }
    return true;
}

bool minima_measure(const struct down *d, struct leave_room *room, struct leave_group *groups)
{
    const struct group_flags *f = d->r->flags;
    room->count = FIRST_GPU + f->gpus.count;
    room->left = ARENA_ARRAY(d->r->arena, int64_t, room->count);
    if (!add_all(d, room->count, room->left, groups))
        return false;
    for (uint32_t k = 0; k < room->count; k++) {
        int64_t min = k == CORES ? f->cores_min : k == MEMORY ? f->memory_min : f->gpus.items[k - FIRST_GPU].min;
        room->left[k] = room->left[k] > min ? room->left[k] - min : 0;
    }
    return true;
}
