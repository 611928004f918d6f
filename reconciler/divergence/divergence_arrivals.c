/* Pods that the scheduler is binding: what a plan begins with, and whether it was overtaken by more. */
#include "reconciler/divergence/divergence.h"

#include <stdlib.h>

#include "planner/arrivals.h"
#include "planner/held.h"
#include "reconciler/state.h"

static int id_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void divergence_arrivals(struct pass *p, struct plan_options *o)
{
    o->arrival_count =
        arrivals_find(p->a, p->world, p->snapshot, p->sent, p->sent_count, &o->arrivals);
    uint64_t *ids = ARENA_ARRAY(p->a, uint64_t, o->arrival_count);
    for (uint32_t i = 0; i < o->arrival_count; i++)
        ids[i] = o->arrivals[i].id;
    if (o->arrival_count != 0)
        qsort(ids, o->arrival_count, sizeof(*ids), id_order);
    p->arriving = ids;
    p->arriving_count = o->arrival_count;
}

/* As the places have it, or as they will have it once the trade is seen. */
static bool is_foreseen(const struct world *w, const struct places *places,
                        const struct sent_pod *sent, int32_t row)
{
    const struct place *own = places_find(places, sent->uid);
    const struct place *other =
        sent->instead.len != 0 ? places_find(places, sent->instead) : NULL;
    const struct place *published =
        sent->published.len != 0 ? places_find(places, sent->published) : NULL;
    return (own != NULL && place_row(w, own) == row) ||
           (other != NULL && place_row(w, other) == row) ||
           (published != NULL && place_row(w, published) == row);
}

/* Whether someone was sent to one node, or to one of several, in the meantime, and may take room of places there. */
static bool is_in_the_way(const struct pass *p, struct held *held, const struct arrival *x)
{
    amount *scratch = ARENA_ARRAY(p->a, amount, world_resource_count(p->world));
    bool placed, holds = held_any(held, x->id), crowded = false;
    for (uint32_t i = 0; i < x->row_count && !crowded; i++) {
        const amount *kept =
            held_against(held, x->rows[i], x->id, x->priority, holds, scratch, &placed);
        crowded = placed && !world_has_room(p->world, x->requests, true, x->rows[i], kept);
    }
    held_put(held, x->rows, x->row_count, &(struct holder){x->id, x->priority, x->requests});
    return crowded;
}

static bool arrivals_overtake(struct pass *p, struct held **held, const struct places *places)
{
    const struct arrival *list;
    uint32_t count = arrivals_find(p->a, p->world, p->snapshot, p->sent, p->sent_count, &list);
    for (uint32_t i = 0; i < count; i++) {
        if (p->arriving_count != 0 && bsearch(&list[i].id, p->arriving, p->arriving_count,
                                              sizeof(*p->arriving), id_order) != NULL)
            continue;
        if (*held == NULL)
            *held = held_new(p->a, p->world, p->snapshot, places);
        if (is_in_the_way(p, *held, &list[i]))
            return true;
    }
    return false;
}

bool divergence_overtakes(struct pass *p, const struct places *places)
{
    const struct world *w = p->world;
    struct held *held = NULL;
    divergence_ask(p);
    for (uint32_t i = 0; i < p->sent_count; i++) {
        const struct sent_pod *sent = &p->sent[i];
        int32_t row = sent->refused || sent->several ? -1 : world_find_hash(w, sent->node);
        const struct pod *pod = row >= 0 ? world_waiting_pod(w, sent->uid) : NULL;
        if (pod == NULL || is_foreseen(w, places, sent, row))
            continue;
        if (held == NULL)
            held = held_new(p->a, w, p->snapshot, places);
        const struct holder x = {span_hash(sent->uid), pod->priority,
                                 world_pod_requests(w, p->a, pod)};
        const uint32_t at = (uint32_t)row;
        if (!world_has_room(w, x.requests, true, at, held_at(held, at)))
            return true;
        held_put(held, &at, 1, &x);
    }
    return arrivals_overtake(p, &held, places);
}
