/* Scale-down of one pass (spec node-groups 4): which nodes nobody needs, why the others stay, and which go now. As
 * Cluster Autoscaler decides it, but where that leaves it to chance: ties are broken by name. */
#include "planner/groups/down/inner.h"

#include <stdlib.h>

#include "planner/groups/ready.h"

static uint32_t find_eligible(struct down *d, uint32_t *candidates, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!bits_has(d->r->deleting, d->r->rows[candidates[i]]) &&
            candidates_eligible(d, candidates[i], &d->answers[candidates[i]]))
            candidates[kept++] = candidates[i];
    return kept;
}

static int by_position(const void *a, const void *b)
{
    uint32_t x = ((const struct leave_node *)a)->node, y = ((const struct leave_node *)b)->node;
    return (x > y) - (x < y);
}

uint32_t down_registered(const struct group_run *r, const struct group_now *now)
{
    const struct group *g = now->group;
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->instance_count; i++) {
        if (g->instances[i].node == NULL || now->gone[i])
            continue;
        int32_t row = world_find_node(r->world, g->instances[i].node->meta.name);
        count += row >= 0 && !bits_has(r->upcoming, (uint32_t)row);
    }
    return count;
}

static span_ms longer(span_ms a, span_ms b)
{
    return a > b ? a : b;
}

static struct leave_group *groups_of(const struct group_run *r)
{
    struct leave_group *out = ARENA_ARRAY(r->arena, struct leave_group, r->model->group_count);
    for (uint32_t i = 0; i < r->model->group_count; i++) {
        const struct group_now *now = &r->groups[i];
        const struct group_scaling *s = &now->group->scaling;
        out[i] = (struct leave_group){.crop = {.zero_or_max = s->zero_or_max, .target = now->target},
                                      .min = now->group->spec->min,
                                      .deletions = now->deletions,
                                      .unneeded_time = longer(s->unneeded_time, now->group->spec->unneeded_at_least),
                                      .unready_time = s->unready_time};
        if (s->zero_or_max)
            out[i].crop.registered = down_registered(r, now);
    }
    return out;
}

static bool start(struct down *d, const struct leave_group *groups, struct crop_node *go, uint32_t count)
{
    const struct group_run *r = d->r;
    struct crop_group *crops = ARENA_ARRAY(r->arena, struct crop_group, r->model->group_count);
    struct crop_budget budget = {
        .parallel = r->flags->max_parallelism - (int32_t)r->deleting_empty - (int32_t)r->deleting_drain,
        .drains = r->flags->max_drains - (int32_t)r->deleting_drain};
    bool started = false;
    for (uint32_t i = 0; i < r->model->group_count; i++)
        crops[i] = groups[i].crop;
    crop_nodes(go, count, crops, budget);
    for (uint32_t i = 0; i < count; i++) {
        if (!go[i].taken)
            continue;
        d->answers[go[i].node].fate = go[i].drains ? DOWN_DRAINS : DOWN_EMPTY;
        started = true;
    }
    return started;
}

/* 4.6 and 4.7. */
static enum scale_down_result start_deletions(struct down *d)
{
    const struct group_run *r = d->r;
    struct leave_group *groups = groups_of(r);
    struct crop_node *go = ARENA_ARRAY(r->arena, struct crop_node, d->unneeded_count);
    struct leave_room room;
    if (!minima_measure(d, &room, groups))
        return SCALE_DOWN_NO_NODE_DELETED;
    if (d->unneeded_count > 1)
        qsort(d->unneeded, d->unneeded_count, sizeof(*d->unneeded), r->flags->as_upstream ? by_position : down_by_worth);
    uint32_t count =
        leave_judge(d->unneeded, d->unneeded_count, groups, r->model->group_count, room, r->now, r->arena, go);
    for (uint32_t i = 0; i < d->unneeded_count; i++)
        if (d->unneeded[i].why != UNREMOVABLE_NOT)
            d->answers[d->unneeded[i].node].unremovable = d->unneeded[i].why;
    return start(d, groups, go, count) ? SCALE_DOWN_DELETE_STARTED : SCALE_DOWN_NO_NODE_DELETED;
}

static void index_of(struct object_index *x, struct arena *a, const void *items, size_t count)
{
    object_index_init(x, a, items, count);
}

static void init(struct down *d, struct group_run *r)
{
    const struct group_objects *o = r->objects;
    uint32_t names;
    *d = (struct down){.r = r,
                       .answers = ARENA_ARRAY(r->arena, struct down_answer, r->row_count),
                       .unneeded = ARENA_ARRAY(r->arena, struct leave_node, r->row_count)};
    evictions_init(&d->evictions, r->arena, o->budgets, (uint32_t)o->budget_count);
    d->evictions.lets_unhealthy_go = !r->flags->as_upstream;
    index_of(&d->controllers.replica_sets, r->arena, o->replica_sets, o->replica_set_count);
    index_of(&d->controllers.replication_controllers, r->arena, o->replication_controllers,
             o->replication_controller_count);
    index_of(&d->controllers.stateful_sets, r->arena, o->stateful_sets, o->stateful_set_count);
    index_of(&d->controllers.jobs, r->arena, o->jobs, o->job_count);
    index_of(&d->controllers.daemon_sets, r->arena, o->daemon_sets, o->daemon_set_count);
    d->drain = (struct drain){.flags = r->flags,
                              .syms = o->syms,
                              .controllers = &d->controllers,
                              .evictions = &d->evictions,
                              .now = r->now};
    d->gpu_by_label = sym_intern(o->syms, group_gpu_names(&names)[0]);
}

/* The answer's lists. */
static void tell(const struct down *d, struct group_scale_down *out)
{
    uint32_t n = d->r->row_count;
    out->used = ARENA_ARRAY(d->r->arena, struct node_used, n);
    out->unneeded = ARENA_ARRAY(d->r->arena, struct node_unneeded, n);
    out->unremovable = ARENA_ARRAY(d->r->arena, struct node_unremovable, n);
    out->empty = ARENA_ARRAY(d->r->arena, uint32_t, n);
    out->drain = ARENA_ARRAY(d->r->arena, uint32_t, n);
    out->moved = ARENA_ARRAY(d->r->arena, uint32_t, n);
    for (uint32_t at = 0; at < n; at++) {
        const struct down_answer *x = &d->answers[at];
        uint32_t row = d->r->rows[at];
        if (x->has_utilization)
            out->used[out->used_count++] = (struct node_used){row, x->utilization};
        if (x->unneeded)
            out->unneeded[out->unneeded_count++] = (struct node_unneeded){row, x->since};
        if (x->unremovable != UNREMOVABLE_NOT)
            out->unremovable[out->unremovable_count++] =
                (struct node_unremovable){row, x->unremovable, x->pod, drain_block_name(x->block)};
        if (x->fate == DOWN_EMPTY)
            out->empty[out->empty_count++] = row;
        if (x->fate == DOWN_DRAINS) {
            out->moved[out->drain_count] = x->moved;
            out->drain[out->drain_count++] = row;
        }
    }
}

void groups_scale_down(struct group_run *r, bool cooldown)
{
    struct down d;
    init(&d, r);
    uint32_t *candidates = ARENA_ARRAY(r->arena, uint32_t, r->row_count);
    uint32_t count = candidates_list(&d, candidates);
    down_find_unneeded(&d, candidates, find_eligible(&d, candidates, count));
    r->out->down.result = cooldown      ? SCALE_DOWN_IN_COOLDOWN
                          : count == 0 ? SCALE_DOWN_NO_CANDIDATES
                                       : start_deletions(&d);
    tell(&d, &r->out->down);
}

void groups_keep_unneeded(struct group_run *r)
{
    struct group_scale_down *out = &r->out->down;
    out->unneeded = ARENA_ARRAY(r->arena, struct node_unneeded, r->row_count);
    for (uint32_t at = 0; at < r->row_count; at++) {
        wall_ms since = r->unneeded_since[r->rows[at]];
        if (since != 0)
            out->unneeded[out->unneeded_count++] = (struct node_unneeded){r->rows[at], since};
    }
}
