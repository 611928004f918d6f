/* --enforce-node-group-min-size (spec node-groups 1.6, item 9): what is smaller than its minimum grows to it, at the very
 * end of a pass; a machine that could not be made, which the minimum keeps from being ended, is none. As upstream, the limit of
 * the whole cluster's nodes is held against the group's own size. */
#include "planner/groups/inner.h"

static int32_t wanted(struct group_run *r, uint32_t group)
{
    const struct group_now *g = &r->groups[group];
    int32_t n = g->group->spec->min - (g->target - (int32_t)g->failed);
    if (n <= 0 || !g->healthy || g->backed_off || g->template_row < 0 || groups_allowed(r, group, 1) < 1)
        return 0;
    n = groups_allowed(r, group, n);
    if (r->flags->max_nodes_total > 0 && g->target + n > r->flags->max_nodes_total)
        n = r->flags->max_nodes_total - g->target;
    return n;
}

bool groups_grow_to_min(struct group_run *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        int32_t n = wanted(r, i);
        any |= n > 0 && group_grow(r, i, n, true);
    }
    for (uint32_t i = 0; any && i < r->model->group_count; i++)
        group_recount(r, i);
    return any;
}
