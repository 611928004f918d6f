/* Groups that go as a whole come first: those with an empty node, then those with none. One such group a pass may
 * take more than is left, so that it does not wait for ever. What they leave is for single empty nodes, then for those
 * to be drained. */
#include "planner/groups/down/crop.h"

struct crop {
    struct crop_node *nodes;
    uint32_t count;
    const struct crop_group *groups;
    struct crop_budget left;
    bool may_overflow;
};

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t count_of(const struct crop *c, uint32_t group, bool drains)
{
    int32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        n += c->nodes[i].group == group && c->nodes[i].drains == drains;
    return n;
}

/* The first `most` of them; returns how many there were. */
static int32_t take(struct crop *c, uint32_t group, bool drains, int32_t most)
{
    int32_t n = 0;
    for (uint32_t i = 0; i < c->count && n < most; i++)
        if (c->nodes[i].group == group && c->nodes[i].drains == drains) {
            c->nodes[i].taken = true;
            n++;
        }
    return n;
}

/* The group's first node of those that drain, or do not. */
static bool leads(const struct crop *c, uint32_t at, bool drains, bool zero_or_max)
{
    const struct crop_node *n = &c->nodes[at];
    if (n->drains != drains || c->groups[n->group].zero_or_max != zero_or_max)
        return false;
    for (uint32_t i = 0; i < at; i++)
        if (c->nodes[i].group == n->group && c->nodes[i].drains == drains)
            return false;
    return true;
}

static bool is_whole(const struct crop_group *g, int32_t count)
{
    return count == g->target || (uint32_t)count == g->registered;
}

static void take_whole(struct crop *c, uint32_t group, int32_t empty, int32_t drains)
{
    if (!is_whole(&c->groups[group], empty + drains))
        return;
    take(c, group, false, empty);
    take(c, group, true, drains);
    c->left.parallel -= empty + drains;
    c->left.drains -= drains;
    c->may_overflow = false;
}

static void take_wholes_with_empty(struct crop *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!leads(c, i, false, true))
            continue;
        uint32_t group = c->nodes[i].group;
        int32_t empty = count_of(c, group, false), drains = count_of(c, group, true);
        bool fits = c->left.parallel >= empty + drains && c->left.drains >= drains;
        if (!fits && (c->left.parallel == 0 || (drains > 0 && c->left.drains == 0) || !c->may_overflow))
            return;
        take_whole(c, group, empty, drains);
    }
}

static void take_wholes_of_drains(struct crop *c)
{
    c->left.drains = least(c->left.parallel, c->left.drains);
    for (uint32_t i = 0; i < c->count; i++) {
        if (!leads(c, i, true, true) || count_of(c, c->nodes[i].group, false) != 0)
            continue;
        int32_t drains = count_of(c, c->nodes[i].group, true);
        if (c->left.drains < drains && (c->left.drains == 0 || !c->may_overflow))
            return;
        take_whole(c, c->nodes[i].group, 0, drains);
    }
}

static int32_t take_singles(struct crop *c, bool drains, int32_t most)
{
    int32_t left = most;
    for (uint32_t i = 0; i < c->count && left > 0; i++)
        if (leads(c, i, drains, false))
            left -= take(c, c->nodes[i].group, drains, left);
    return most - left;
}

void crop_nodes(struct crop_node *nodes, uint32_t count, const struct crop_group *groups, struct crop_budget budget)
{
    struct crop c = {.nodes = nodes, .count = count, .groups = groups, .left = budget, .may_overflow = true};
    take_wholes_with_empty(&c);
    take_wholes_of_drains(&c);
    c.left.parallel -= take_singles(&c, false, c.left.parallel);
    c.left.drains = least(c.left.parallel, c.left.drains);
    take_singles(&c, true, c.left.drains);
}
