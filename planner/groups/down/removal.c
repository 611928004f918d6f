#include "planner/groups/down/inner.h"

#include <math.h>
#include <stdlib.h>

#include "planner/disruption/candidate.h"
#include "planner/groups/snapshot/snapshot.h"

struct node_removal {
    struct down *down;
    uint64_t *destinations; /* bits: rows of Nodes that stay */
    const uint64_t *first;  /* bits: those of them where pods look before; NULL */
    struct move {
        const struct pod *pod;
        uint32_t class_id, at; /* on its node */
    } * moves;
    const struct pod **pods; /* the same, as they stand on the node */
    uint32_t count, capacity;
};

struct node_removal *removal_begin(struct down *d, const uint64_t *first)
{
    const struct group_run *r = d->r;
    struct node_removal *x = ARENA_NEW(r->arena, struct node_removal);
    uint32_t words = bits_words(snapshot_node_limit(r->snapshot));
    *x = (struct node_removal){.down = d, .first = first, .destinations = ARENA_ARRAY(r->arena, uint64_t, words)};
    for (uint32_t at = 0; at < r->row_count; at++)
        if (!bits_has(r->upcoming, r->rows[at]) && !bits_has(r->deleting, r->rows[at]))
            bits_add(x->destinations, r->rows[at]);
    snapshot_fork(r->snapshot);
    return x;
}

void removal_end(struct node_removal *x)
{
    snapshot_revert(x->down->r->snapshot);
}

static void make_room(struct node_removal *x, uint32_t count)
{
    if (count <= x->capacity)
        return;
    x->capacity = count * 2;
    x->moves = ARENA_ARRAY(x->down->r->arena, struct move, x->capacity);
    x->pods = ARENA_ARRAY(x->down->r->arena, const struct pod *, x->capacity);
}

/* Which pods have to move; false: one of them keeps the node. */
static bool list_moves(struct node_removal *x, uint32_t row, struct down_answer *answer, struct removal_found *out)
{
    uint32_t count;
    const struct pod *const *pods = snapshot_pods(x->down->r->snapshot, row, &count);
    const uint32_t *classes = snapshot_pod_classes(x->down->r->snapshot, row);
    make_room(x, count);
    x->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum drain_block block;
        enum drain_outcome outcome = group_drain_judge(&x->down->drain, pods[i], &block);
        if (outcome == DRAIN_BLOCK) {
            answer->unremovable = UNREMOVABLE_BLOCKED_BY_POD;
            answer->pod = pods[i];
            answer->block = block;
            return false;
        }
        out->waits |= outcome == DRAIN_WAIT;
        if (outcome != DRAIN_MOVE)
            continue;
        out->moved++;
        out->cost += fmax(0.0, pod_eviction_cost(pods[i], false));
        x->moves[x->count] = (struct move){pods[i], classes[i], i};
        x->pods[x->count++] = pods[i];
    }
    return true;
}

/* Those of high priority first, others as they stand. */
static int by_priority(const void *a, const void *b)
{
    const struct move *x = a, *y = b;
    if (x->pod->priority != y->pod->priority)
        return x->pod->priority > y->pod->priority ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void clear_node(struct snapshot *s, uint32_t row)
{
    uint32_t count;
    const struct pod *const *pods = snapshot_pods(s, row, &count);
    for (; count != 0; pods = snapshot_pods(s, row, &count))
        snapshot_unplace(s, row, pods[count - 1]);
}

static bool seat(const struct node_removal *x, const struct move *m)
{
    struct snapshot *s = x->down->r->snapshot;
    struct snapshot_among first = {.set = x->first, .but = SNAPSHOT_NONE}, all = {.set = x->destinations, .but = SNAPSHOT_NONE};
    return (x->first != NULL && snapshot_seat(s, m->pod, m->class_id, &first) != SNAPSHOT_NONE) ||
           snapshot_seat(s, m->pod, m->class_id, &all) != SNAPSHOT_NONE;
}

/* The node stays as a domain of what is spread while its pods look for a place, and nobody comes to it. */
static bool seat_moves(struct node_removal *x, uint32_t row)
{
    struct snapshot *s = x->down->r->snapshot;
    clear_node(s, row);
    snapshot_ghost(s, row);
    for (uint32_t i = 0; i < x->count; i++)
        if (!seat(x, &x->moves[i]))
            return false;
    snapshot_remove(s, row);
    return true;
}

bool removal_try(struct node_removal *x, uint32_t at, struct down_answer *answer, struct removal_found *out)
{
    struct down *d = x->down;
    uint32_t row = d->r->rows[at];
    *out = (struct removal_found){0};
    if (!list_moves(x, row, answer, out))
        return false;
    if (x->count > 1)
        qsort(x->moves, x->count, sizeof(*x->moves), by_priority);
    snapshot_fork(d->r->snapshot);
    bits_drop(x->destinations, row);
    if (!seat_moves(x, row)) {
        snapshot_revert(d->r->snapshot);
        bits_add(x->destinations, row);
        answer->unremovable = UNREMOVABLE_NO_PLACE;
        return false;
    }
    snapshot_commit(d->r->snapshot);
    out->drains = x->count != 0;
    out->risky = !evictions_allow_all(&d->evictions, x->pods, x->count);
    evictions_take(&d->evictions, x->pods, x->count);
    return true;
}
