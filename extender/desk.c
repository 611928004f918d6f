#include "extender/desk.h"

#include "extender/extender.h"

/* Drops and puts use up memory until the next snapshot, which a cluster at rest may not have for hours:
 * then the desk is laid out anew. Some 10,000 bookings take as much. */
enum { DESK_BYTES = 4 << 20 }; /* beyond what it took when it was laid out */

enum standing { STANDS, SETTLED };

/* Whether the pod of a booking still has to come, and what it asks for. */
static enum standing judge(const struct desk *d, const struct world *w, const struct booking *b,
                           struct arena *a, const amount **requests_out)
{
    const struct pod *pod = snapshot_find(d->snapshot, KIND_POD, b->ns, b->name);
    if (pod != NULL && span_eq(pod->meta.uid, b->uid)) {
        *requests_out = world_pod_requests(w, a, pod);
        return pod->node != SYM_NONE || pod->meta.deleted != 0 || pod_is_terminal(pod) ? SETTLED
                                                                                       : STANDS;
    }
    if (b->seen != 0 && b->seen <= d->snapshot->sequence)
        return SETTLED; /* it was there, and is gone */
    amount *base = ARENA_ARRAY(a, amount, world_resource_count(w));
    memcpy(base, b->base, sizeof(b->base));
    *requests_out = base;
    return STANDS;
}

static void enter(struct desk *d, const struct extender_view *v, const struct booking *b,
                  struct arena *scratch)
{
    const amount *requests;
    if (judge(d, v->world, b, &d->arena, &requests) == SETTLED) {
        ledger_settle(v->ledger, b->id, v->now);
        return;
    }
    const struct holder x = {b->id, b->priority, requests};
    uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, b->node_count), count = 0;
    for (uint32_t i = 0; i < b->node_count; i++) {
        int32_t row = world_find_hash(v->world, b->nodes[i]);
        if (row >= 0)
            rows[count++] = (uint32_t)row;
    }
    held_put(d->held, rows, count, &x);
}

static bool is_laid_for(const struct desk *d, const struct extender_view *v)
{
    const struct places *p = v->places;
    return d->laid && d->snapshot == v->snapshot && d->sequence == v->snapshot->sequence &&
           d->places == p &&
           (p == NULL || (d->planned_on == p->snapshot && d->made == p->made &&
                          d->place_count == p->count));
}

static void lay_out(struct desk *d, const struct extender_view *v)
{
    arena_clear(&d->arena);
    d->laid = true;
    d->snapshot = v->snapshot;
    d->sequence = v->snapshot->sequence;
    d->places = v->places;
    if (v->places != NULL) {
        d->planned_on = v->places->snapshot;
        d->made = v->places->made;
        d->place_count = v->places->count;
    }
    d->held = held_new(&d->arena, v->world, v->snapshot, v->places);
    d->bytes = d->arena.total;
    d->version = 0;
}

const struct held *desk_open(struct desk *d, const struct extender_view *v)
{
    if (!is_laid_for(d, v) || d->arena.total - d->bytes > DESK_BYTES)
        lay_out(d, v);
    struct arena news_arena;
    struct ledger_news news;
    arena_init(&news_arena, 0);
    if (v->ledger != NULL && ledger_news(v->ledger, &d->version, v->now, &news_arena, &news)) {
        for (uint32_t i = 0; i < news.changed_count; i++)
            held_drop(d->held, news.changed[i]);
        for (uint32_t i = 0; i < news.booking_count; i++)
            enter(d, v, &news.bookings[i], &news_arena);
    }
    arena_release(&news_arena);
    return d->held;
}

void desk_release(struct desk *d)
{
    arena_release(&d->arena);
}
