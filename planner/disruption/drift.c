/* The node that drifted first and whose pods have somewhere to go, those with no pods before the others (spec
 * disruption 8.3). What comes in its place may be dearer: it is to be as its pool says now. */
#include "planner/columns.h"
#include "planner/disruption/methods.h"

#include <stdlib.h>

static wall_ms drifted_since(const struct world *w, const struct candidate *c)
{
    return conditions_find(w->nodes[c->row].claim->conditions, SPAN("Drifted"))->transition;
}

static int drift_order(const void *a, const void *b, void *w)
{
    const struct candidate *x = a, *y = b;
    wall_ms since_x = drifted_since(w, x), since_y = drifted_since(w, y);
    if ((x->reschedulable == 0) != (y->reschedulable == 0))
        return x->reschedulable == 0 ? -1 : 1;
    if (since_x != since_y)
        return since_x < since_y ? -1 : 1;
    return span_cmp(world_node_at(w, x->row)->name, world_node_at(w, y->row)->name);
}

static struct candidates drifted(struct disrupting *d)
{
    struct candidates list = candidates_of(d, DISRUPT_EVENTUAL, METHOD_DRIFT), out = {list.items, 0};
    for (uint32_t i = 0; i < list.count; i++) {
        const struct candidate *c = &list.items[i];
        if (!c->pool->has_replicas &&
            conditions_true(world_node_at(d->w, c->row)->claim->conditions, SPAN("Drifted")))
            out.items[out.count++] = *c;
    }
    if (out.count != 0)
        qsort_r(out.items, out.count, sizeof(*out.items), drift_order, (void *)d->w);
    return out;
}

bool drift_decide(struct disrupting *d)
{
    const struct moving_how how = {.method = METHOD_DRIFT, .why = REMOVAL_DRIFT,
                                   .terminate_first = d->o->terminate_first_drift};
    struct candidates list = drifted(d);
    if (list.count == 0)
        return true;
    struct allowances left = wave_allowances_of(d, METHOD_DRIFT);
    for (uint32_t i = 0; i < list.count; i++) {
        struct disruption_command c;
        if (left.items[candidate_pool(d, &list.items[i])].left == 0) {
            constrained_add(d, METHOD_DRIFT);
            continue;
        }
        enum moving m = move_one(d, &how, &list.items[i], &c);
        if (m == MOVING_DECIDED)
            command_add(d, c);
        if (m == MOVING_DECIDED || m == MOVING_ENDS)
            return m == MOVING_DECIDED;
    }
    return true;
}
