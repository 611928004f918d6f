#include "extender/desk.h"

#include "extender/extender.h"

/* Drops and puts use up memory until the next snapshot, which a cluster at rest may not have for hours:
 * then the desk is laid out anew. Some 10,000 bookings of one node take as much. */
enum { DESK_BYTES = 4 << 20 }; /* beyond what it took when it was laid out, bookings and all */

enum standing { STANDS, BOUND, GONE };

/* NULL: the snapshot does not have it. */
static const struct pod *snapshot_pod(const struct desk *d, const struct booking *b)
{
    const struct pod *pod = snapshot_find(d->snapshot, KIND_POD, b->ns, b->name);
    return pod != NULL && span_eq(pod->meta.uid, b->uid) ? pod : NULL;
}

/* Whether the pod of a booking still has to come, and what it asks for. */
static enum standing judge(const struct desk *d, const struct world *w, const struct booking *b,
                           struct arena *a, const amount **requests_out)
{
    const struct pod *pod = snapshot_pod(d, b);
    if (pod != NULL) {
        *requests_out = world_pod_requests(w, a, pod);
        if (pod->meta.deleted != 0 || pod_is_terminal(pod))
            return GONE;
        return pod->node != SYM_NONE ? BOUND : STANDS;
    }
    if (b->seen != 0 && b->seen <= d->snapshot->sequence)
        return GONE; /* it was there */
    amount *base = ARENA_ARRAY(a, amount, world_resource_count(w));
    memcpy(base, b->base, sizeof(b->base));
    *requests_out = base;
    return STANDS;
}

struct seat *desk_seat(const struct desk *d, struct span uid)
{
    const struct place *place = d->places != NULL ? places_find(d->places, uid) : NULL;
    return place != NULL ? &d->seats[place - d->places->items] : NULL;
}

static void move(struct desk *d, const struct seat *s, int32_t to)
{
    if (s->row >= 0)
        held_move(d->held, span_hash(s->pod->uid), (uint32_t)s->row, to);
}

static void exchange(struct desk *d, struct seat *a, struct seat *b)
{
    const struct seat was = *a;
    move(d, a, b->row);
    move(d, b, was.row);
    a->place = b->place;
    a->row = b->row;
    b->place = was.place;
    b->row = was.row;
    d->of[a->place - d->places->items] = a;
    d->of[b->place - d->places->items] = b;
}

/* Whose seat a trade was about: that of the pod named, or, when that one has another by now since what led to
 * it came to nothing, of whoever has the place that was published for the other. NULL: nobody's. */
static struct seat *trade_partner(const struct desk *d, const struct world *w,
                                  const struct booking *b, int32_t row)
{
    struct seat *pod = b->instead.len != 0 ? desk_seat(d, b->instead) : NULL;
    if (pod != NULL && pod->row == row)
        return pod;
    const struct place *place = places_find(d->places, b->published);
    return place != NULL && place_row(w, place) == row ? d->of[place - d->places->items] : NULL;
}

/* The place of a pod that leaves is its heir's. */
static bool enter_heir(struct desk *d, const struct booking *b, int32_t row)
{
    struct seat *from = desk_seat(d, b->instead);
    if (from == NULL || from->row != row)
        return false;
    held_inherit(d->held, span_hash(from->pod->uid), (uint32_t)row, b->id);
    from->row = -1; /* its own is nothing any more */
    ARENA_PUSH(&d->arena, d->traders, d->trader_count, d->trader_capacity, b->id);
    return true;
}

/* The pod has the place of an equal one for its own, and that one has its; unless the published places say so
 * already. True: so it is to stay until they do, even when the pod is seen bound or gone: who answers from the
 * snapshot before does not see that, and room that nobody seems to have a place in may have been given away. */
static bool enter_trade(struct desk *d, const struct world *w, const struct booking *b)
{
    int32_t row = b->published.len != 0 ? world_find_hash(w, b->nodes[0]) : -1;
    struct seat *own = row >= 0 ? desk_seat(d, b->uid) : NULL;
    if (b->inherits)
        return row >= 0 && own == NULL && d->places != NULL && enter_heir(d, b, row);
    struct seat *other = own != NULL && own->row != row ? trade_partner(d, w, b, row) : NULL;
    if (other == NULL)
        return false;
    exchange(d, own, other);
    ARENA_PUSH(&d->arena, d->traders, d->trader_count, d->trader_capacity, b->id);
    return true;
}

/* Where it holds: nodes that are booked, and of the names that it was told also those where somebody has got a
 * place since. The former stand among the latter, in the same order. */
static const uint32_t *rows_of(const struct desk *d, const struct world *w, const struct booking *b,
                               struct arena *scratch, uint32_t *count_out)
{
    uint32_t names = b->told_count != 0 ? b->told_count : b->node_count, booked = 0, count = 0;
    const uint64_t *name = b->told_count != 0 ? b->told : b->nodes;
    uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, names);
    for (uint32_t i = 0; i < names; i++) {
        bool is_booked = booked < b->node_count && b->nodes[booked] == name[i];
        int32_t row = world_find_hash(w, name[i]);
        booked += is_booked;
        if (row >= 0 && (is_booked || held_places(d->held, (uint32_t)row) ||
                         world_daemons_come(w, (uint32_t)row)))
            rows[count++] = (uint32_t)row;
    }
    *count_out = count;
    return rows;
}

static void enter(struct desk *d, const struct extender_view *v, const struct booking *b,
                  struct arena *scratch)
{
    const amount *requests = NULL;
    enum standing standing = judge(d, v->world, b, &d->arena, &requests);
    bool traded = enter_trade(d, v->world, b);
    if (standing != STANDS) {
        if (!traded)
            ledger_settle(v->ledger, b->id, standing == BOUND, v->now);
        return;
    }
    if (b->workload != 0)
        ARENA_PUSH(&d->arena, d->sent, d->sent_count, d->sent_capacity,
                   ((struct split_sent){.id = b->id, .workload = b->workload, .side = b->side,
                                        .pod = snapshot_pod(d, b)}));
    const struct holder x = {b->id, b->priority, requests};
    uint32_t count;
    const uint32_t *rows = rows_of(d, v->world, b, scratch, &count);
    if (b->controller != 0 && !b->several && count == 1)
        ARENA_PUSH(&d->arena, d->replicas, d->replica_count, d->replica_capacity,
                   ((struct sent_replica){b->id, b->controller, rows[0]}));
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

/* Seats in the order of the places, class by class. */
static void seat_mates(struct desk *d)
{
    d->class_count = 0;
    for (uint32_t i = 0; i < d->place_count; i++)
        if (d->seats[i].class_id >= (int32_t)d->class_count)
            d->class_count = (uint32_t)d->seats[i].class_id + 1;
    uint32_t *next = ARENA_ARRAY(&d->arena, uint32_t, (size_t)d->class_count + 2);
    d->mates = ARENA_ARRAY(&d->arena, struct seat *, d->place_count);
    d->mates_of = next;
    for (uint32_t i = 0; i < d->place_count; i++)
        if (d->seats[i].class_id >= 0)
            next[d->seats[i].class_id + 2]++;
    for (uint32_t c = 2; c < d->class_count + 2; c++)
        next[c] += next[c - 1];
    for (uint32_t i = 0; i < d->place_count; i++)
        if (d->seats[i].class_id >= 0)
            d->mates[next[d->seats[i].class_id + 1]++] = &d->seats[i];
}

/* Those of pods that wait for none: whose place still holds has to leave, or has left. */
static void find_leavers(struct desk *d)
{
    d->leavers = NULL;
    d->leaver_count = d->leaver_capacity = 0;
    for (uint32_t i = 0; i < d->place_count; i++) {
        struct seat *s = &d->seats[i];
        bool holds = s->class_id < 0 && s->row >= 0 &&
                     held_from_start(d->held, span_hash(s->pod->uid), (uint32_t)s->row);
        const struct pod *pod = holds ? snapshot_find(d->snapshot, KIND_POD, s->pod->ns, s->pod->pod) : NULL;
        if (pod != NULL && (pod->node != SYM_NONE || !span_eq(pod->meta.uid, s->pod->uid)))
            ARENA_PUSH(&d->arena, d->leavers, d->leaver_count, d->leaver_capacity, ((struct leaver){s, pod}));
    }
}

static void seat_all(struct desk *d)
{
    const struct place_sight *sights = held_sights(d->held);
    d->seats = ARENA_ARRAY(&d->arena, struct seat, d->place_count);
    d->of = ARENA_ARRAY(&d->arena, struct seat *, d->place_count);
    for (uint32_t i = 0; i < d->place_count; i++) {
        const struct place *place = &d->places->items[i];
        d->seats[i] = (struct seat){.pod = place,
                                    .place = place,
                                    .row = sights[i].row,
                                    .class_id = sights[i].class_id};
        d->of[i] = &d->seats[i];
    }
    seat_mates(d);
    find_leavers(d);
    d->sent = NULL;
    d->sent_count = d->sent_capacity = 0;
    d->replicas = NULL;
    d->replica_count = d->replica_capacity = 0;
    d->traders = NULL;
    d->trader_count = d->trader_capacity = 0;
}

static void lay_out(struct desk *d, const struct extender_view *v)
{
    arena_clear(&d->arena);
    d->laid = true;
    d->snapshot = v->snapshot;
    d->sequence = v->snapshot->sequence;
    d->places = v->places;
    d->planned_on = v->places != NULL ? v->places->snapshot : 0;
    d->made = v->places != NULL ? v->places->made : 0;
    d->place_count = v->places != NULL ? v->places->count : 0;
    d->held = held_new(&d->arena, v->world, v->snapshot, v->places);
    seat_all(d);
    d->version = 0;
}

static void drop(struct desk *d, uint64_t id)
{
    held_drop(d->held, id);
    for (uint32_t i = 0; i < d->sent_count; i++)
        if (d->sent[i].id == id)
            d->sent[i--] = d->sent[--d->sent_count];
    for (uint32_t i = 0; i < d->replica_count; i++)
        if (d->replicas[i].id == id)
            d->replicas[i--] = d->replicas[--d->replica_count];
}

static bool has_traded(const struct desk *d, uint64_t id)
{
    for (uint32_t i = 0; i < d->trader_count; i++)
        if (d->traders[i] == id)
            return true;
    return false;
}

/* False: it cannot be entered into what stands. */
static bool fits_in(const struct desk *d, const struct ledger_news *news, uint64_t version)
{
    if (news->whole)
        return version == 0;
    for (uint32_t i = 0; i < news->changed_count; i++)
        if (has_traded(d, news->changed[i]))
            return false;
    return true;
}

static bool take_news(struct desk *d, const struct extender_view *v)
{
    struct arena a;
    struct ledger_news news;
    uint64_t version = d->version;
    arena_init(&a, 0);
    bool any = v->ledger != NULL && ledger_news(v->ledger, &d->version, v->now, &a, &news);
    bool fits = !any || fits_in(d, &news, version);
    for (uint32_t i = 0; any && fits && i < news.changed_count; i++)
        drop(d, news.changed[i]);
    for (uint32_t i = 0; any && fits && i < news.booking_count; i++)
        enter(d, v, &news.bookings[i], &a);
    if (version == 0)
        d->bytes = d->arena.total;
    arena_release(&a);
    return fits;
}

const struct held *desk_open(struct desk *d, const struct extender_view *v)
{
    if (!is_laid_for(d, v) || d->arena.total - d->bytes > DESK_BYTES)
        lay_out(d, v);
    if (!take_news(d, v)) {
        lay_out(d, v);
        take_news(d, v); /* into an empty desk all fits */
    }
    return d->held;
}

struct seat *const *desk_mates(const struct desk *d, int32_t class_id, uint32_t *count_out)
{
    bool any = class_id >= 0 && class_id < (int32_t)d->class_count;
    uint32_t begin = any ? d->mates_of[class_id] : 0;
    *count_out = any ? d->mates_of[class_id + 1] - begin : 0;
    return d->mates + begin;
}

const struct leaver *desk_leavers(const struct desk *d, uint32_t *count_out)
{
    *count_out = d->leaver_count;
    return d->leavers;
}

void desk_release(struct desk *d)
{
    arena_release(&d->arena);
}
