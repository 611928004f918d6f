/* In the order of Cluster Autoscaler, with what follows from it: a node takes its share of the group's size and of the
 * cluster's minima as soon as it has passed these, also where it then stays for its group or its pods. Upstream comes to
 * the nodes in no order; here those that wait for their pods come last of their kind, so that they hold back nobody who
 * could go (scenario 198). */
#include "planner/groups/down/leave.h"

struct leave {
    struct leave_node *nodes;
    uint32_t count;
    const struct leave_group *groups;
    struct leave_room room;
    int32_t *sizes; /* of groups, less those that have passed */
    wall_ms now;
    struct crop_node *out;
    uint32_t out_count;
};

static bool has_room(const struct leave *l, const int64_t *costs)
{
    for (uint32_t r = 0; r < l->room.count; r++)
        if (costs[r] > 0 && l->room.left[r] < costs[r])
            return false;
    return true;
}

static enum unremovable judge(struct leave *l, const struct leave_node *n)
{
    const struct leave_group *g = &l->groups[n->group];
    span_ms needs = n->ready ? g->unneeded_time : g->unready_time;
    if (needs > 0 && n->since + needs >= l->now)
        return n->ready ? UNREMOVABLE_NOT_LONG_ENOUGH : UNREMOVABLE_NOT_UNREADY_LONG_ENOUGH;
    if (l->sizes[n->group] - g->deletions <= g->min)
        return UNREMOVABLE_MIN_SIZE;
    if (!has_room(l, g->costs))
        return UNREMOVABLE_MIN_RESOURCES;
    for (uint32_t r = 0; r < l->room.count; r++)
        l->room.left[r] -= g->costs[r] > 0 ? g->costs[r] : 0;
    l->sizes[n->group]--;
    return UNREMOVABLE_NOT;
}

static void judge_all(struct leave *l, bool drains, bool waits)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->nodes[i].drains == drains && l->nodes[i].waits == waits)
            l->nodes[i].why = judge(l, &l->nodes[i]);
}

/* A group of which only some may go, and that goes as a whole, stays. */
static void keep_parts(struct leave *l, uint32_t *passed)
{
    for (uint32_t i = 0; i < l->count; i++)
        passed[l->nodes[i].group] += l->nodes[i].why == UNREMOVABLE_NOT;
    for (uint32_t i = 0; i < l->count; i++) {
        struct leave_node *n = &l->nodes[i];
        const struct crop_group *g = &l->groups[n->group].crop;
        if (n->why == UNREMOVABLE_NOT && g->zero_or_max && (int64_t)passed[n->group] != g->target &&
            passed[n->group] != g->registered)
            n->why = UNREMOVABLE_NOT_WHOLE_GROUP;
    }
}

static void tell(struct leave *l, bool zero_or_max, bool drains, bool risky)
{
    for (uint32_t i = 0; i < l->count; i++) {
        struct leave_node *n = &l->nodes[i];
        if (n->why != UNREMOVABLE_NOT || l->groups[n->group].crop.zero_or_max != zero_or_max || n->drains != drains ||
            (drains && n->risky != risky))
            continue;
        if (n->waits)
            n->why = UNREMOVABLE_ON_COMPLETION;
        else
            l->out[l->out_count++] = (struct crop_node){.node = n->node, .group = n->group, .drains = n->drains};
    }
}

uint32_t leave_judge(struct leave_node *nodes, uint32_t count, const struct leave_group *groups, uint32_t group_count,
                     struct leave_room room, wall_ms now, struct arena *scratch, struct crop_node *out)
{
    struct leave l = {.nodes = nodes, .count = count, .groups = groups, .room = room, .now = now, .out = out};
    l.sizes = ARENA_ARRAY(scratch, int32_t, group_count);
    for (uint32_t g = 0; g < group_count; g++)
        l.sizes[g] = groups[g].crop.target;
    for (int drains = 0; drains < 2; drains++)
        for (int waits = 0; waits < 2; waits++)
            judge_all(&l, drains, waits);
    keep_parts(&l, ARENA_ARRAY(scratch, uint32_t, group_count));
    for (int whole = 0; whole < 2; whole++) {
        tell(&l, whole, false, false);
        tell(&l, whole, true, false);
        tell(&l, whole, true, true);
    }
    return l.out_count;
}
