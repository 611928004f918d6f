/* Which set of nodes is unneeded (spec node-groups 4.5). One removal takes the room, and the evictions, that another would
 * have needed, so that the order in which they are tried decides what can go. Upstream's order goes by names; ours are tried
 * beside it, and the one whose nodes cost the most is taken. What is taken never saves less than upstream's would.
 *
 * A group sheds no more than its minimum leaves it: of what is beyond, nothing is counted. Nodes of groups whose price nobody
 * knows are counted by number, before all prices. */
#include <math.h>
#include <stdlib.h>

#include "planner/disruption/candidate.h"
#include "planner/disruption/price.h"
#include "planner/groups/down/inner.h"
#include "planner/groups/snapshot/snapshot.h"

/* A node that has been unneeded for a while counts for so much more: a set that is hardly better does not begin all the
 * times of its nodes anew. */
#define CALM 0.1
#define DIFFERENCE 1e-9 /* below it sums of prices are equal */

struct candidate_key { /* of one that is eligible */
    uint32_t at, place; /* place: in upstream's order */
    bool unneeded_before, has_price;
    double price, cost, used; /* cost: of the evictions of its own pods */
};

struct weight { /* of a set */
    double unpriced, saved, worth; /* nodes; an hour's price; that less evictions */
    double calm_unpriced, calm_saved;
    uint32_t nodes;
};

struct way {
    struct down down;
    struct weight weight;
};

/* More would not go before they are looked at again, anyway. */
static int64_t most_unneeded(const struct group_run *r)
{
    const struct group_state *state = &r->model->file->state;
    int64_t n = r->flags->max_parallelism;
    span_ms flag = r->flags->scaling.unneeded_time, between = state->has_pass_interval ? state->pass_interval : flag;
    between = between > 0 ? between : 1;
    int64_t at_first = state->unneeded.count + 2 * n, at_last = n * ((flag > between ? flag : between) / between) + n;
    return at_first < at_last ? at_first : at_last;
}

static double price_of(const struct down *d, uint32_t at)
{
    const struct node_group *g = down_group(d, at)->group->spec;
    return g->has_price ? g->price : 0;
}

static void note_unneeded(struct down *d, uint32_t at, const struct removal_found *found)
{
    uint32_t row = d->r->rows[at];
    wall_ms since = d->r->unneeded_since[row] != 0 ? d->r->unneeded_since[row] : d->r->now;
    d->answers[at].unneeded = true;
    d->answers[at].since = since;
    d->answers[at].moved = found->moved;
    d->unneeded[d->unneeded_count++] = (struct leave_node){.node = at,
                                                           .group = (uint32_t)d->r->owners[row],
                                                           .since = since,
                                                           .ready = bits_has(d->r->ready, row),
                                                           .drains = found->drains,
                                                           .risky = found->risky,
                                                           .waits = found->waits,
                                                           .worth = price_of(d, at) - EVICTION_COST * found->cost};
}

/* Each removal stands when the next is tried. Returns what their evictions cost. `stays`, where there is one, are nodes that
 * stay whatever is found here: who cannot go joins them. */
static double try_all(struct down *d, const uint32_t *order, uint32_t count, uint64_t *stays)
{
    int64_t found_count = 0, most = most_unneeded(d->r);
    double cost = 0;
    struct node_removal *x = removal_begin(d, stays);
    for (uint32_t i = 0; i < count && found_count < most; i++) {
        struct removal_found found;
        if (!removal_try(x, order[i], &d->answers[order[i]], &found)) {
            if (stays != NULL)
                bits_add(stays, d->r->rows[order[i]]);
            continue;
        }
        found_count += !down_group(d, order[i])->group->scaling.zero_or_max;
        cost += found.cost;
        note_unneeded(d, order[i], &found);
    }
    removal_end(x);
    return cost;
}

/* --- what a set is worth --- */

int down_by_worth(const void *a, const void *b)
{
    const struct leave_node *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* How many of each group may go; of those that go as a whole all or none. */
static int64_t *find_room(const struct down *d)
{
    const struct group_run *r = d->r;
    int64_t *found = ARENA_ARRAY(r->arena, int64_t, r->model->group_count);
    for (uint32_t i = 0; i < d->unneeded_count; i++)
        found[d->unneeded[i].group]++;
    for (uint32_t g = 0; g < r->model->group_count; g++) {
        const struct group_now *now = &r->groups[g];
        int64_t room = (int64_t)now->target - now->deletions - now->group->spec->min;
        bool whole = found[g] == now->target || found[g] == (int64_t)down_registered(r, now);
        if (now->group->scaling.zero_or_max)
            room = whole ? found[g] : 0;
        found[g] = room < found[g] ? room : found[g];
    }
    return found;
}

static struct weight weigh(const struct down *d)
{
    struct weight out = {0};
    int64_t *room = find_room(d);
    struct leave_node *nodes = ARENA_ARRAY(d->r->arena, struct leave_node, d->unneeded_count);
    for (uint32_t i = 0; i < d->unneeded_count; i++)
        nodes[i] = d->unneeded[i];
    if (d->unneeded_count > 1)
        qsort(nodes, d->unneeded_count, sizeof(*nodes), down_by_worth);
    for (uint32_t i = 0; i < d->unneeded_count; i++) {
        const struct node_group *g = d->r->groups[nodes[i].group].group->spec;
        double price = price_of(d, nodes[i].node), calm = d->r->unneeded_since[d->r->rows[nodes[i].node]] != 0 ? CALM : 0;
        if (room[nodes[i].group]-- <= 0)
            continue;
        out.nodes++;
        out.unpriced += !g->has_price;
        out.calm_unpriced += g->has_price ? 0 : calm;
        out.saved += price;
        out.calm_saved += calm * price;
        out.worth += nodes[i].worth;
    }
    return out;
}

/* Above 0: x is better. */
static int compare(const struct weight *x, const struct weight *y)
{
    double unpriced = x->unpriced + x->calm_unpriced - y->unpriced - y->calm_unpriced;
    double worth = x->worth + x->calm_saved - y->worth - y->calm_saved;
    if (fabs(unpriced) > DIFFERENCE)
        return unpriced > 0 ? 1 : -1;
    if (fabs(worth) > DIFFERENCE)
        return worth > 0 ? 1 : -1;
    return (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

/* --- other orders --- */

static double own_cost(const struct down *d, uint32_t row)
{
    uint32_t count;
    double cost = 0;
    const struct pod *const *pods = snapshot_pods(d->r->snapshot, row, &count);
    for (uint32_t i = 0; i < count; i++) {
        enum drain_block block;
        if (group_drain_judge(&d->drain, pods[i], &block) == DRAIN_MOVE)
            cost += fmax(0.0, pod_eviction_cost(pods[i], false));
    }
    return cost;
}

static struct candidate_key *find_keys(const struct down *d, const uint32_t *eligible, uint32_t count, double *cost_out)
{
    struct candidate_key *keys = ARENA_ARRAY(d->r->arena, struct candidate_key, count);
    *cost_out = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = d->r->rows[eligible[i]];
        keys[i] = (struct candidate_key){.at = eligible[i],
                                         .place = i,
                                         .unneeded_before = d->r->unneeded_since[row] != 0,
                                         .has_price = down_group(d, eligible[i])->group->spec->has_price,
                                         .price = price_of(d, eligible[i]),
                                         .cost = own_cost(d, row),
                                         .used = d->answers[eligible[i]].utilization};
        *cost_out += keys[i].cost;
    }
    return keys;
}

static int by_place(const struct candidate_key *x, const struct candidate_key *y)
{
    return (x->place > y->place) - (x->place < y->place);
}

/* Those of unknown price first, since each of these counts before all prices; then what is worth the most, and of the same
 * worth the emptiest. */
static int most_worth(const void *a, const void *b)
{
    const struct candidate_key *x = a, *y = b;
    double difference = x->price - y->price - EVICTION_COST * (x->cost - y->cost);
    if (x->has_price != y->has_price)
        return x->has_price ? 1 : -1;
    if (difference != 0)
        return difference > 0 ? -1 : 1;
    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return by_place(x, y);
}

/* As the last pass had them, then as above. */
static int as_before(const void *a, const void *b)
{
    const struct candidate_key *x = a, *y = b;
    if (x->unneeded_before != y->unneeded_before)
        return x->unneeded_before ? -1 : 1;
    return most_worth(a, b);
}

/* The most of them, whatever each is worth. */
static int least_used(const void *a, const void *b)
{
    const struct candidate_key *x = a, *y = b;
    if (x->used != y->used)
        return x->used < y->used ? -1 : 1;
    return most_worth(a, b);
}

typedef int (*order_fn)(const void *, const void *);

/* All that is written while removals are tried is a copy. */
static void copy_down(const struct down *of, struct down *out)
{
    const struct group_run *r = of->r;
    uint32_t budgets = of->evictions.budgets.count;
    *out = *of;
    out->answers = ARENA_ARRAY(r->arena, struct down_answer, r->row_count);
    out->unneeded = ARENA_ARRAY(r->arena, struct leave_node, r->row_count);
    out->evictions.left = ARENA_ARRAY(r->arena, int64_t, budgets);
    out->drain.controllers = &out->controllers;
    out->drain.evictions = &out->evictions;
    for (uint32_t i = 0; i < r->row_count; i++)
        out->answers[i] = of->answers[i];
    for (uint32_t i = 0; i < budgets; i++)
        out->evictions.left[i] = of->evictions.left[i];
}

/* Nodes that are no matter of scale-down: pods that move there are not moved twice. */
static uint64_t *find_stays(const struct down *d, const uint32_t *eligible, uint32_t count)
{
    const struct group_run *r = d->r;
    uint64_t *out = ARENA_ARRAY(r->arena, uint64_t, bits_words(snapshot_node_limit(r->snapshot)));
    for (uint32_t at = 0; at < r->row_count; at++)
        if (!bits_has(r->upcoming, r->rows[at]) && !bits_has(r->deleting, r->rows[at]))
            bits_add(out, r->rows[at]);
    for (uint32_t i = 0; i < count; i++)
        bits_drop(out, r->rows[eligible[i]]);
    return out;
}

static void try_order(const struct down *fresh, struct candidate_key *keys, const uint32_t *eligible, uint32_t count,
                      order_fn order, struct way *out)
{
    uint32_t *list = ARENA_ARRAY(fresh->r->arena, uint32_t, count);
    copy_down(fresh, &out->down);
    qsort(keys, count, sizeof(*keys), order);
    for (uint32_t i = 0; i < count; i++)
        list[i] = keys[i].at;
    try_all(&out->down, list, count, find_stays(fresh, eligible, count));
    out->weight = weigh(&out->down);
}

static void take(struct down *d, const struct way *best)
{
    d->answers = best->down.answers;
    d->unneeded = best->down.unneeded;
    d->unneeded_count = best->down.unneeded_count;
}

static void improve(struct down *d, const struct down *fresh, struct candidate_key *keys, const uint32_t *eligible,
                    uint32_t count)
{
    static const order_fn orders[] = {as_before, most_worth, least_used};
    const struct weight least = weigh(d);
    struct weight best = least;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct way x;
        try_order(fresh, keys, eligible, count, orders[i], &x);
        if (x.weight.unpriced < least.unpriced || x.weight.saved < least.saved - DIFFERENCE || compare(&x.weight, &best) <= 0)
            continue;
        best = x.weight;
        take(d, &x);
    }
}

void down_find_unneeded(struct down *d, const uint32_t *eligible, uint32_t count)
{
    struct down fresh;
    double own, cost;
    if (d->r->flags->as_upstream || count < 2) {
        try_all(d, eligible, count, NULL);
        return;
    }
    copy_down(d, &fresh);
    struct candidate_key *keys = find_keys(d, eligible, count, &own);
    cost = try_all(d, eligible, count, NULL);
    if (d->unneeded_count != count || cost > own + DIFFERENCE) /* else nobody can do more with less */
        improve(d, &fresh, keys, eligible, count);
}
