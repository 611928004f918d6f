/* Nodes on which nothing runs that is worth a move leave together, as many as their pools' budgets let go; nothing is
 * simulated, since nobody has to be placed (spec disruption 8.1). */
#include "planner/columns.h"
#include "planner/disruption/methods.h"

static bool may_leave(struct disrupting *d, const struct candidate *c)
{
    if (c->pool->has_replicas)
        return false;
    if (!c->pool->has_consolidate_after) {
        note_candidate(d, METHOD_EMPTINESS, NOTE_UNCONSOLIDATABLE, c,
                       pool_disabled_event(&d->out->arena, c->pool->meta.name));
        return false;
    }
    if (d->o->buffered != NULL && bits_has(d->o->buffered, c->row)) {
        note_candidate(d, METHOD_EMPTINESS, NOTE_UNCONSOLIDATABLE, c, SPAN("Node has buffer pods"));
        return false;
    }
    return candidate_is_empty(c) &&
           conditions_true(world_node_at(d->w, c->row)->claim->conditions, SPAN("Consolidatable"));
}

bool emptiness_decide(struct disrupting *d)
{
    struct candidates list = candidates_of(d, DISRUPT_GRACEFUL, METHOD_EMPTINESS), empty = {list.items, 0};
    for (uint32_t i = 0; i < list.count; i++)
        if (may_leave(d, &list.items[i]))
            empty.items[empty.count++] = list.items[i];
    if (empty.count == 0)
        return true;
    struct allowances left = allowances_of(d, METHOD_EMPTINESS);
    uint32_t taken = 0;
    candidates_sort(d, empty);
    for (uint32_t i = 0; i < empty.count; i++)
        if (allowances_take(&left, candidate_pool(d, &empty.items[i])))
            empty.items[taken++] = empty.items[i];
        else
            constrained_add(d, METHOD_EMPTINESS);
    if (taken != 0)
        command_add(d, command_of(d, METHOD_EMPTINESS, empty.items, taken));
    return true;
}
