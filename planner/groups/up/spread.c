/* Pods that must spread over zones, or anything else in which groups differ that are alike otherwise. Cluster Autoscaler asks
 * of one group how many of its nodes would hold them; where the other zones have no node yet that is all of them, in one zone.
 * Here a node of each of these groups stands from the beginning, so that what could be there counts as there, and pods
 * are seated over all: on the nodes that are new, the last of each group first, else on one more of the group that has the
 * fewest. What nobody came to is not asked for. */
#include <stdlib.h>

#include "kube/wellknown.h"
#include "planner/groups/up/several.h"

struct spreading {
    struct several of;
    bool has_gaps; /* it may help to look at all new nodes */
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

static bool seat_in_a_gap(struct spreading *x, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->of.up->r->snapshot;
    struct snapshot_among added = {.from = x->of.first, .but = SNAPSHOT_NONE};
    uint32_t node = x->has_gaps ? snapshot_seat(s, p, class_id, &added) : SNAPSHOT_NONE;
    x->has_gaps = node != SNAPSHOT_NONE;
    if (node == SNAPSHOT_NONE)
        return false;
    if (several_may_use(&x->of, node)) {
        several_note(&x->of, node, p);
        return true;
    }
    snapshot_unplace(s, node, p);
    x->has_gaps = false;
    return false;
}

/* What does not help is taken back: an empty node would be as good to whoever comes next as one that is half full. */
static bool seat_on_one_more(struct spreading *x, uint32_t of, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->of.up->r->snapshot;
    struct open_group *g = &x->of.groups[of], before = *g;
    if (!g->used || g->permits <= 0 || x->of.permits <= 0)
        return false; /* nor would another help */
    snapshot_fork(s);
    several_open_node(&x->of, of);
    if (several_seat_at(&x->of, g->last, p, class_id)) {
        snapshot_commit(s);
        x->has_gaps = true;
        return true;
    }
    snapshot_revert(s);
    *g = before;
    x->of.node_count--;
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
    for (uint32_t i = 0; i < x->of.count; i++)
        order[i] = &x->of.groups[i];
    qsort(order, x->of.count, sizeof(*order), by_nodes);
    for (uint32_t i = 0; i < x->of.count; i++)
        if (several_seat_at(&x->of, order[i]->last, p, class_id))
            return true;
    for (uint32_t i = 0; i < x->of.count; i++)
        if (seat_on_one_more(x, (uint32_t)(order[i] - x->of.groups), p, class_id))
            return true;
    return false;
}

static void seat_all(struct spreading *x, const struct ranked *order, uint32_t count)
{
    const struct open_group **by = ARENA_ARRAY(&x->of.up->scratch, const struct open_group *, x->of.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pod_kind *k = &x->of.up->kinds[order[i].kind];
        uint32_t seated = 0;
        x->has_gaps = x->of.out->pod_count != 0;
        while (seated < k->count && seat_anywhere(x, k->pods[seated], k->class_id, by))
            seated++;
        x->of.out->taken[order[i].kind] = seated;
    }
}

bool up_spread(struct up *u, const struct growth *of, uint32_t least, struct growth *out)
{
    struct group_run *r = u->r;
    uint64_t *groups = ARENA_ARRAY(&u->scratch, uint64_t, bits_words(r->model->group_count));
    up_find_alike(u, of->group, groups);
    if (!must_spread(u, of, groups))
        return false;
    bits_add(groups, of->group);
    struct ranked *order = ARENA_ARRAY(&u->scratch, struct ranked, u->kind_count);
    uint32_t count = up_rank(u, of->group, order), pods = 0;
    for (uint32_t i = 0; i < count; i++)
        pods += u->kinds[order[i].kind].count;
    *out = (struct growth){.group = of->group, .similar = of->similar};
    struct spreading x = {.of = several_begin(u, groups, pods, out)};
    snapshot_fork(r->snapshot);
    for (uint32_t i = 0; i < x.of.count; i++)
        several_open_node(&x.of, i);
    seat_all(&x, order, count);
    snapshot_revert(r->snapshot);
    if (out->pod_count != 0 && out->pod_count >= least)
        return true;
    several_drop(&x.of);
    return false;
}
