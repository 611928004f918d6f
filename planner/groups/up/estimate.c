/* estimate: how many nodes of a group its pods need, first fit, largest first (spec node-groups 3.8). As upstream counts, an
 * existing node counts, too, once a pod has found its place there. */
#include <stdlib.h>
#include <string.h>

#include "kube/wellknown.h"
#include "planner/groups/up/inner.h"

struct packing {
    struct up *up;
    struct growth *option;
    uint32_t first;      /* number of the first node that this adds */
    uint32_t last;       /* the last one; SNAPSHOT_NONE: none yet */
    uint8_t *used;       /* by node */
    int64_t permits;     /* nodes that may still be added; below 0: no limit */
    bool growing;
};

static double share(amount asked, amount there)
{
    return there > 0 ? (double)asked / (double)there : 0;
}

static int by_score(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

uint32_t up_rank(const struct up *u, uint32_t group, struct ranked *out)
{
    const struct node *t = u->r->model->groups[group].template.node;
    amount cpu = resources_get(t->allocatable, SYM_CPU), memory = resources_get(t->allocatable, SYM_MEMORY);
    uint32_t count = 0;
    for (uint32_t i = 0; i < u->kind_count; i++) {
        if (!bits_has(u->kinds[i].fits, group))
            continue;
        struct resources asked = u->kinds[i].pods[0]->requests;
        double score = share(resources_get(asked, SYM_CPU), cpu);
        score += share(resources_get(asked, SYM_MEMORY), memory);
        out[count++] = (struct ranked){score, i};
    }
    qsort(out, count, sizeof(*out), by_score);
    return count;
}

static void track(struct packing *x, uint32_t node, const struct pod *p)
{
    x->option->at[x->option->pod_count] = node;
    x->option->pods[x->option->pod_count++] = p;
    x->option->nodes += x->used[node] == 0 && (node >= x->first || x->up->r->flags->as_upstream);
    x->used[node] = 1;
}

static bool spreads_over_hosts(const struct pod *p)
{
    for (uint32_t i = 0; i < p->spreads.count; i++)
        if (p->spreads.items[i].topology_key == SYM_HOSTNAME)
            return true;
    return false;
}

/* On the last node; or, where spreading over hosts keeps it off there, on any other of the cluster. */
static bool seat_at_last(struct packing *x, const struct pod *p, uint32_t class_id)
{
    struct snapshot *s = x->up->r->snapshot;
    if (x->last == SNAPSHOT_NONE)
        return false;
    if (snapshot_fits(s, x->last, class_id)) {
        snapshot_place(s, x->last, p, class_id);
        track(x, x->last, p);
        return true;
    }
    if (!spreads_over_hosts(p) || !snapshot_spread_refuses(s, x->last, class_id))
        return false;
    struct snapshot_among others = {.but = x->last};
    uint32_t node = snapshot_seat(s, p, class_id, &others);
    if (node != SNAPSHOT_NONE)
        track(x, node, p);
    return node != SNAPSHOT_NONE;
}

static void grow_for(struct packing *x, const struct pod_kind *k, uint32_t from)
{
    struct snapshot *s = x->up->r->snapshot;
    for (uint32_t i = from; i < k->count; i++) {
        if (seat_at_last(x, k->pods[i], k->class_id))
            continue;
        if (x->last != SNAPSHOT_NONE && !x->used[x->last])
            return; /* nor would it fit another one that is empty */
        if (x->permits == 0) {
            x->growing = false;
            return;
        }
        x->permits -= x->permits > 0;
        x->last = snapshot_add_copy(s, (uint32_t)x->up->r->groups[x->option->group].template_row);
        if (!snapshot_fits(s, x->last, k->class_id))
            return;
        snapshot_place(s, x->last, k->pods[i], k->class_id);
        track(x, x->last, k->pods[i]);
    }
}

static void pack(struct packing *x, const struct pod_kind *k)
{
    struct snapshot *s = x->up->r->snapshot;
    struct snapshot_among added = {.from = x->first, .but = SNAPSHOT_NONE};
    uint32_t i = 0;
    for (; x->last != SNAPSHOT_NONE && i < k->count; i++) {
        uint32_t node = snapshot_seat(s, k->pods[i], k->class_id, &added);
        if (node == SNAPSHOT_NONE)
            break;
        track(x, node, k->pods[i]);
    }
    if (x->growing)
        grow_for(x, k, i);
}

int64_t up_room(const struct up *u, uint32_t group)
{
    const struct group_now *g = &u->r->groups[group];
    return g->group->spec->max > g->target ? g->group->spec->max - g->target : 0;
}

int64_t up_permits(const struct up *u)
{
    const struct group_flags *f = u->r->flags;
    int64_t room = INT64_MAX;
    if (f->max_nodes_per_scale_up > 0)
        room = f->max_nodes_per_scale_up;
    if (f->max_nodes_total > 0 && (int64_t)f->max_nodes_total - u->nodes < room)
        room = (int64_t)f->max_nodes_total - u->nodes;
    return room > 0 ? room : 0;
}

static int64_t permits(const struct up *u, const struct growth *o)
{
    int64_t room = up_room(u, o->group), most = up_permits(u);
    for (BITS_EACH(g, o->similar, bits_words(u->r->model->group_count)))
        room += up_room(u, g);
    return room < most ? room : most;
}

void up_estimate(struct up *u, struct growth *o)
{
    struct snapshot *s = u->r->snapshot;
    struct ranked *order = ARENA_ARRAY(&u->scratch, struct ranked, u->kind_count);
    uint32_t count = up_rank(u, o->group, order), pods = 0;
    for (uint32_t i = 0; i < count; i++)
        pods += u->kinds[order[i].kind].count;
    struct packing x = {.up = u, .option = o, .first = snapshot_node_limit(s), .last = SNAPSHOT_NONE, .growing = true,
                        .permits = permits(u, o)};
    o->pods = ARENA_ARRAY(u->r->arena, const struct pod *, pods);
    o->at = ARENA_ARRAY(u->r->arena, uint32_t, pods);
    o->first = x.first;
    x.used = ARENA_ARRAY(&u->scratch, uint8_t, x.first + (x.permits < pods ? (uint32_t)x.permits : pods) + count + 1);
    snapshot_fork(s);
    o->taken = ARENA_ARRAY(u->r->arena, uint32_t, u->kind_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = o->pod_count;
        pack(&x, &u->kinds[order[i].kind]);
        o->taken[order[i].kind] = o->pod_count - before;
    }
    snapshot_revert(s);
}
