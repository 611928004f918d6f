/* Pods that must spread over zones, or anything else in which groups differ that are alike otherwise. Cluster Autoscaler asks
 * of one group how many of its nodes would hold them; where the other zones have no node yet that is all of them, in one zone.
 * Here a node of each of these groups stands from the beginning, so that what could be there counts as there, and pods
 * are seated over all: on the nodes that are new, the last of each group first, else on one more of the group that has the
 * fewest. What nobody came to is not asked for. */
#include <stdlib.h>

#include "kube/wellknown.h"
#include "planner/groups/up/inner.h"

struct open_group {
    uint32_t group;
    uint32_t last;  /* its newest node */
    bool used;      /* somebody is on that */
    int32_t nodes;  /* that somebody is on */
    int64_t permits; /* how many more of these there may be */
};

struct new_node {
    uint32_t of; /* position of its open_group */
    int32_t at;  /* which of the group's it is, of those that somebody is on; -1: nobody is */
};

struct spreading {
    struct up *up;
    struct growth *out;
    struct open_group *groups;
    uint32_t count;
    uint32_t first;     /* number of the first new node */
    struct new_node *nodes;
    uint32_t node_count, node_capacity;
    int64_t permits;    /* over all groups */
    bool has_gaps;      /* it may help to look at all new nodes */
};

static const struct node *template_of(const struct up *u, uint32_t group)
{
    return u->r->model->groups[group].template.node;
}

/* Whether the pods must spread over a label that two of the groups have different values of. */
static bool is_spread_over(const struct up *u, const struct pod *p, uint32_t group, const uint64_t *others)
{
    for (uint32_t i = 0; i < p->spreads.count; i++) {
        sym key = p->spreads.items[i].topology_key;
        sym own = sym_pairs_get(template_of(u, group)->meta.labels, key);
        if (!p->spreads.items[i].hard || key == SYM_HOSTNAME || own == SYM_NONE)
            continue;
        for (BITS_EACH(g, others, bits_words(u->r->model->group_count))) {
            sym other = sym_pairs_get(template_of(u, g)->meta.labels, key);
            if (other != SYM_NONE && other != own)
                return true;
        }
    }
    return false;
}

static bool must_spread(const struct up *u, const struct growth *of, const uint64_t *others)
{
    for (uint32_t k = 0; k < u->kind_count; k++)
        if (of->taken[k] != 0 && is_spread_over(u, u->kinds[k].pods[0], of->group, others))
            return true;
    return false;
}

static void open_node(struct spreading *x, uint32_t of)
{
    struct group_run *r = x->up->r;
    struct open_group *g = &x->groups[of];
    struct new_node node = {of, -1};
    g->last = snapshot_add_copy(r->snapshot, (uint32_t)r->groups[g->group].template_row);
    g->used = false;
    ARENA_PUSH(&x->up->scratch, x->nodes, x->node_count, x->node_capacity, node);
}

static void open_groups(struct spreading *x, uint32_t group, const uint64_t *others)
{
    const struct up *u = x->up;
    x->groups = ARENA_ARRAY(&x->up->scratch, struct open_group, u->r->model->group_count);
    for (uint32_t g = 0; g < u->r->model->group_count; g++)
        if ((g == group || bits_has(others, g)) && up_room(u, g) > 0)
            x->groups[x->count++] = (struct open_group){.group = g, .permits = up_room(u, g)};
    for (uint32_t i = 0; i < x->count; i++)
        open_node(x, i);
}

/* The first pod on a node is what it is asked for. */
static bool may_use(const struct spreading *x, uint32_t node)
{
    const struct new_node *n = &x->nodes[node - x->first];
    const struct open_group *g = &x->groups[n->of];
    return n->at >= 0 || (x->permits > 0 && g->permits > 0 && limits_allow(x->up->r, &x->up->limits, g->group, 1, NULL) == 1);
}

static void note(struct spreading *x, uint32_t node, const struct pod *p)
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

static bool seat_at(struct spreading *x, uint32_t node, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->up->r->snapshot;
    if (!may_use(x, node) || !snapshot_fits(s, node, class_id))
        return false;
    snapshot_place(s, node, p, class_id);
    note(x, node, p);
    return true;
}

static bool seat_in_a_gap(struct spreading *x, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->up->r->snapshot;
    struct snapshot_among added = {.from = x->first, .but = SNAPSHOT_NONE};
    uint32_t node = x->has_gaps ? snapshot_seat(s, p, class_id, &added) : SNAPSHOT_NONE;
    x->has_gaps = node != SNAPSHOT_NONE;
    if (node == SNAPSHOT_NONE)
        return false;
    if (may_use(x, node)) {
        note(x, node, p);
        return true;
    }
    snapshot_unplace(s, node, p);
    x->has_gaps = false;
    return false;
}

/* What does not help is taken back: an empty node would be as good to whoever comes next as one that is half full. */
static bool seat_on_one_more(struct spreading *x, uint32_t of, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->up->r->snapshot;
    struct open_group *g = &x->groups[of], before = *g;
    if (!g->used || g->permits <= 0 || x->permits <= 0)
        return false; /* nor would another help */
    snapshot_fork(s);
    open_node(x, of);
    if (seat_at(x, g->last, p, class_id)) {
        snapshot_commit(s);
        x->has_gaps = true;
        return true;
    }
    snapshot_revert(s);
    *g = before;
    x->node_count--;
    return false;
}

static int by_nodes(const void *a, const void *b)
{
    const struct open_group *x = *(const struct open_group *const *)a, *y = *(const struct open_group *const *)b;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static bool seat_anywhere(struct spreading *x, const struct pod *p, uint32_t class_id, const struct open_group **order)
{
    if (seat_in_a_gap(x, p, class_id))
        return true;
    for (uint32_t i = 0; i < x->count; i++)
        order[i] = &x->groups[i];
    qsort(order, x->count, sizeof(*order), by_nodes);
    for (uint32_t i = 0; i < x->count; i++)
        if (seat_at(x, order[i]->last, p, class_id))
            return true;
    for (uint32_t i = 0; i < x->count; i++)
        if (seat_on_one_more(x, (uint32_t)(order[i] - x->groups), p, class_id))
            return true;
    return false;
}

static void seat_all(struct spreading *x, const struct ranked *order, uint32_t count)
{
    const struct open_group **by = ARENA_ARRAY(&x->up->scratch, const struct open_group *, x->count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pod_kind *k = &x->up->kinds[order[i].kind];
        uint32_t seated = 0;
        x->has_gaps = x->out->pod_count != 0;
        while (seated < k->count && seat_anywhere(x, k->pods[seated], k->class_id, by))
            seated++;
        x->out->taken[order[i].kind] = seated;
    }
}

bool up_spread(struct up *u, const struct growth *of, uint32_t least, struct growth *out)
{
    struct group_run *r = u->r;
    uint64_t *others = ARENA_ARRAY(&u->scratch, uint64_t, bits_words(r->model->group_count));
    up_find_alike(u, of->group, others);
    if (!must_spread(u, of, others))
        return false;
    struct ranked *order = ARENA_ARRAY(&u->scratch, struct ranked, u->kind_count);
    uint32_t count = up_rank(u, of->group, order), pods = 0;
    for (uint32_t i = 0; i < count; i++)
        pods += u->kinds[order[i].kind].count;
    *out = (struct growth){.group = of->group, .similar = of->similar};
    out->pods = ARENA_ARRAY(r->arena, const struct pod *, pods);
    out->seats = ARENA_ARRAY(r->arena, struct seat, pods);
    out->taken = ARENA_ARRAY(r->arena, uint32_t, u->kind_count);
    out->shares = ARENA_ARRAY(r->arena, int32_t, r->model->group_count);
    struct spreading x = {.up = u, .out = out, .first = snapshot_node_limit(r->snapshot), .permits = up_permits(u)};
    snapshot_fork(r->snapshot);
    open_groups(&x, of->group, others);
    seat_all(&x, order, count);
    snapshot_revert(r->snapshot);
    if (out->pod_count != 0 && out->pod_count >= least)
        return true;
    for (uint32_t i = 0; i < x.count; i++)
        limits_take(r, &u->limits, x.groups[i].group, -x.groups[i].nodes);
    return false;
}
