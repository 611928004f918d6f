#include "planner/groups/up/several.h"

struct several several_begin(struct up *u, const uint64_t *groups, uint32_t most, struct growth *out)
{
    struct group_run *r = u->r;
    struct several x = {.up = u, .out = out, .first = snapshot_node_limit(r->snapshot), .permits = up_permits(u)};
    out->pods = ARENA_ARRAY(r->arena, const struct pod *, most);
    out->seats = ARENA_ARRAY(r->arena, struct seat, most);
    out->taken = ARENA_ARRAY(r->arena, uint32_t, u->kind_count);
    out->shares = ARENA_ARRAY(r->arena, int32_t, r->model->group_count);
    x.groups = ARENA_ARRAY(&u->scratch, struct open_group, r->model->group_count);
    for (BITS_EACH(g, groups, bits_words(r->model->group_count)))
        if (up_room(u, g) > 0)
            x.groups[x.count++] = (struct open_group){.group = g, .permits = up_room(u, g)};
    return x;
}

void several_open_node(struct several *x, uint32_t of)
{
    struct group_run *r = x->up->r;
    struct open_group *g = &x->groups[of];
    struct new_node node = {of, -1};
    g->last = snapshot_add_copy(r->snapshot, (uint32_t)r->groups[g->group].template_row);
    g->used = false;
    ARENA_PUSH(&x->up->scratch, x->nodes, x->node_count, x->node_capacity, node);
}

/* The first pod on a node is what it is asked for. */
bool several_may_use(const struct several *x, uint32_t node)
{
    const struct new_node *n = &x->nodes[node - x->first];
    const struct open_group *g = &x->groups[n->of];
    return n->at >= 0 || (x->permits > 0 && g->permits > 0 && limits_allow(x->up->r, &x->up->limits, g->group, 1, NULL) == 1);
}

void several_note(struct several *x, uint32_t node, const struct pod *p)
{
    struct new_node *n = &x->nodes[node - x->first];
    struct open_group *g = &x->groups[n->of];
    struct growth *out = x->out;
    if (n->at < 0) {
        n->at = g->nodes++;
        g->permits--;
        x->permits--;
        limits_take(x->up->r, &x->up->limits, g->group, 1);
        out->shares[g->group]++;
        out->nodes++;
    }
    g->used |= node == g->last;
    out->seats[out->pod_count] = (struct seat){g->group, (uint32_t)n->at};
    out->pods[out->pod_count++] = p;
}

bool several_seat_at(struct several *x, uint32_t node, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->up->r->snapshot;
    if (!several_may_use(x, node) || !snapshot_fits(s, node, class_id))
        return false;
    snapshot_place(s, node, p, class_id);
    several_note(x, node, p);
    return true;
}

void several_drop(struct several *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        limits_take(x->up->r, &x->up->limits, x->groups[i].group, -x->groups[i].nodes);
}
