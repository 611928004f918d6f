#include "planner/disruption/leavers.h"

#include <stdlib.h>

#include "planner/plan/admission.h"
#include "planner/search/greedy.h"

struct leavers leavers_init(struct arena *a, const struct trial *t, const struct plan_options *o)
{
    return (struct leavers){.arena = a, .trial = t, .options = o,
                            .rows = ARENA_ARRAY(a, struct row_leavers, t->world->node_count)};
}

struct ordering {
    const struct trial *trial;
    const struct waiting_pod *pods;
};

static int leaver_order(const void *a, const void *b, void *user)
{
    const struct ordering *by = user;
    return greedy_compare(by->trial, &by->pods[*(const uint32_t *)a], &by->pods[*(const uint32_t *)b]);
}

static struct row_leavers find(struct leavers *l, uint32_t row)
{
    const struct world *w = l->trial->world;
    const struct world_node *n = &w->nodes[row];
    struct waiting_pod *pods = ARENA_ARRAY(l->arena, struct waiting_pod, n->pod_count);
    uint32_t *order = ARENA_ARRAY(l->arena, uint32_t, n->pod_count);
    bool *forced = ARENA_ARRAY(l->arena, bool, n->pod_count);
    struct row_leavers r = {.pods = pods, .order = order, .forced = forced, .known = true};
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (pod_is_reschedulable(n->pods[i]))
            pods[r.count++] = (struct waiting_pod){n->pods[i], n->pod_classes[i], true, world_blocks(w, n->pods[i])};
    for (uint32_t i = 0; i < r.count; i++)
        if (admission_takes(l->options, &pods[i], true))
            order[r.order_count++] = i;
    struct ordering by = {l->trial, pods};
    if (r.order_count != 0)
        qsort_r(order, r.order_count, sizeof(*order), leaver_order, &by);
    for (uint32_t i = 0; i < r.order_count; i++)
        forced[i] = !admission_takes(l->options, &pods[order[i]], false);
    return r;
}

const struct row_leavers *leavers_of(struct leavers *l, uint32_t row)
{
    if (!l->rows[row].known)
        l->rows[row] = find(l, row);
    return &l->rows[row];
}
