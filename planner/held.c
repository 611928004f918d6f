#include "planner/held.h"

#include "kube/store.h"
#include "planner/columns.h"

/* A pod on a row. Slots are numbered from 1, so that zeroed memory is no link. */
struct hold {
    struct holder x;
    uint32_t row;
    uint32_t next_on_row, next_in_bucket; /* of a free slot: the next free one */
    bool place; /* or a nomination: from the start */
    bool put;   /* by held_put; it may be both */
};

struct held_row {
    amount *total;
    uint32_t first, count, places;
    int32_t least_priority; /* of those that ever held here */
};

struct held {
    struct arena *arena;
    const struct world *w;
    const struct place_sight *sights;
    struct held_row *rows;
    struct hold *slots;
    uint32_t slot_count, slot_capacity, free;
    uint32_t *buckets; /* by id */
    uint32_t mask;
};

static struct hold *slot(const struct held *h, uint32_t number)
{
    return &h->slots[number - 1];
}

static uint32_t *bucket(const struct held *h, uint64_t id)
{
    return &h->buckets[(uint32_t)id & h->mask];
}

static struct hold *find_hold(const struct held *h, uint64_t id, uint32_t row)
{
    for (uint32_t i = *bucket(h, id); i != 0; i = slot(h, i)->next_in_bucket)
        if (slot(h, i)->x.id == id && slot(h, i)->row == row)
            return slot(h, i);
    return NULL;
}

static uint32_t new_slot(struct held *h)
{
    if (h->free != 0) {
        uint32_t number = h->free;
        h->free = slot(h, number)->next_in_bucket;
        return number;
    }
    ARENA_PUSH(h->arena, h->slots, h->slot_count, h->slot_capacity, (struct hold){.put = false});
    return h->slot_count;
}

static void hold(struct held *h, uint32_t row, const struct holder *x, bool put)
{
    struct held_row *r = &h->rows[row];
    uint32_t number = new_slot(h), *in = bucket(h, x->id);
    *slot(h, number) = (struct hold){*x, row, r->first, *in, !put, put};
    *in = r->first = number;
    if (r->count == 0 || x->priority < r->least_priority)
        r->least_priority = x->priority;
    if (r->total == NULL)
        r->total = ARENA_ARRAY(h->arena, amount, h->w->column_count);
    for (uint32_t c = 0; c < h->w->column_count; c++)
        r->total[c] = amount_add(r->total[c], x->requests[c]);
    r->count++;
    r->places += !put;
}

static void leave_row(struct held *h, uint32_t number)
{
    const struct hold *x = slot(h, number);
    struct held_row *r = &h->rows[x->row];
    uint32_t *link = &r->first;
    while (*link != number)
        link = &slot(h, *link)->next_on_row;
    *link = x->next_on_row;
    r->count--;
    r->places -= x->place;
    for (uint32_t c = 0; c < h->w->column_count; c++)
        r->total[c] -= x->x.requests[c];
}

/* --- what stands from the start --- */

static bool stands_on_leaver(const struct world *w, const struct pod *pod)
{
    int32_t row = world_find_node(w, sym_text(w->syms, pod->node));
    return row >= 0 && w->nodes[row].leaving;
}

/* Of a StatefulSet who comes after a pod has its name. */
static bool is_named(const struct pod *pod)
{
    const struct owner *o = meta_controller(&pod->meta);
    return o != NULL && o->kind == SYM_KIND_STATEFUL_SET;
}

/* The pod of a place that is neither bound nor gone; or who has to leave its node, for whom comes after it, who may have
 * come. NULL: nobody wants it. */
static const struct pod *waits(const struct world *w, const struct snapshot *s, const struct place *x,
                               const struct place_sight *sight)
{
    if (sight->pod != NULL)
        return sight->pod;
    const struct pod *pod = s != NULL ? snapshot_find(s, KIND_POD, x->ns, x->pod) : NULL;
    if (pod == NULL || pod_is_terminal(pod))
        return NULL;
    bool is_it = span_eq(pod->meta.uid, x->uid);
    if (pod->node == SYM_NONE)
        return pod->meta.deleted == 0 && (is_it || is_named(pod)) ? pod : NULL;
    return is_it && stands_on_leaver(w, pod) ? pod : NULL;
}

static int32_t nominated_row(const struct world *w, const struct pod *pod)
{
    return pod->nominated_node != SYM_NONE
               ? world_find_node(w, sym_text(w->syms, pod->nominated_node))
               : -1;
}

static void hold_from_start(struct held *h, uint32_t row, const struct holder *x)
{
    if (find_hold(h, x->id, row) == NULL)
        hold(h, row, x, false);
}

static void hold_nominated(struct held *h, const struct pod *pod)
{
    int32_t row = nominated_row(h->w, pod);
    const struct holder x = {span_hash(pod->meta.uid), pod->priority,
                             world_pod_requests(h->w, h->arena, pod)};
    if (row >= 0 && !(pod_is_nominated_by_us(pod) && held_any(h, x.id)))
        hold_from_start(h, (uint32_t)row, &x);
}

static void hold_place(struct held *h, const struct snapshot *s, const struct place *x,
                       const struct place_sight *sight)
{
    const struct pod *pod = sight->row < 0 ? NULL : waits(h->w, s, x, sight);
    if (pod == NULL || (pod->node == SYM_NONE && nominated_row(h->w, pod) >= 0 && !pod_is_nominated_by_us(pod)))
        return;
    const struct holder holder = {
        sight->id, pod->priority,
        sight->class_id >= 0 ? classes_requests(&h->w->classes, (uint32_t)sight->class_id)
                             : world_pod_requests(h->w, h->arena, pod)};
    hold_from_start(h, (uint32_t)sight->row, &holder);
}

struct held *held_new(struct arena *a, const struct world *w, const struct snapshot *s,
                      const struct places *p)
{
    struct held *h = ARENA_NEW(a, struct held);
    uint32_t count = p != NULL ? p->count : 0;
    h->arena = a;
    h->w = w;
    h->rows = ARENA_ARRAY(a, struct held_row, w->node_count);
    for (h->mask = 255; h->mask < count; h->mask = h->mask * 2 + 1)
        ;
    h->buckets = ARENA_ARRAY(a, uint32_t, (size_t)h->mask + 1);
    h->sights = p != NULL ? places_sights(a, w, p) : NULL;
    for (uint32_t i = 0; i < count; i++)
        hold_place(h, s, &p->items[i], &h->sights[i]);
    for (uint32_t i = 0; i < w->nominated_count; i++)
        hold_nominated(h, w->nominated[i]);
    return h;
}

const struct place_sight *held_sights(const struct held *h)
{
    return h->sights;
}

void held_put(struct held *h, const uint32_t *rows, uint32_t count, const struct holder *x)
{
    uint32_t number = *bucket(h, x->id);
    while (number != 0 && slot(h, number)->x.id != x->id)
        number = slot(h, number)->next_in_bucket;
    uint32_t own = number != 0 ? slot(h, number)->row : UINT32_MAX; /* from the start, one at most */
    for (uint32_t i = 0; i < count; i++)
        if (rows[i] == own)
            slot(h, number)->put = true;
        else
            hold(h, rows[i], x, true);
}

/* The slot that the link names is free. */
static void end(struct held *h, uint32_t *link)
{
    uint32_t number = *link;
    struct hold *x = slot(h, number);
    *link = x->next_in_bucket;
    leave_row(h, number);
    x->next_in_bucket = h->free;
    h->free = number;
}

void held_drop(struct held *h, uint64_t id)
{
    for (uint32_t *link = bucket(h, id); *link != 0;) {
        struct hold *x = slot(h, *link);
        bool its = x->x.id == id;
        if (its)
            x->put = false;
        if (its && !x->place)
            end(h, link);
        else
            link = &x->next_in_bucket;
    }
}

bool held_from_start(const struct held *h, uint64_t id, uint32_t row)
{
    const struct hold *x = find_hold(h, id, row);
    return x != NULL && x->place && !x->put;
}

void held_move(struct held *h, uint64_t id, uint32_t from, int32_t to)
{
    if (!held_from_start(h, id, from))
        return;
    uint32_t *link = bucket(h, id);
    while (slot(h, *link)->x.id != id || slot(h, *link)->row != from)
        link = &slot(h, *link)->next_in_bucket;
    const struct holder x = slot(h, *link)->x;
    end(h, link);
    struct hold *there = to >= 0 ? find_hold(h, id, (uint32_t)to) : NULL;
    if (there != NULL && !there->place) { /* it was put there before */
        there->place = true;
        h->rows[to].places++;
    } else if (to >= 0 && there == NULL) {
        hold(h, (uint32_t)to, &x, false);
    }
}

void held_inherit(struct held *h, uint64_t id, uint32_t row, uint64_t heir)
{
    if (!held_from_start(h, id, row))
        return;
    uint32_t *link = bucket(h, id);
    while (slot(h, *link)->x.id != id || slot(h, *link)->row != row)
        link = &slot(h, *link)->next_in_bucket;
    struct holder x = slot(h, *link)->x;
    end(h, link);
    x.id = heir;
    hold_from_start(h, row, &x);
}

/* --- what is asked --- */

const amount *held_at(const struct held *h, uint32_t row)
{
    return h != NULL && h->rows[row].count != 0 ? h->rows[row].total : NULL;
}

bool held_any(const struct held *h, uint64_t id)
{
    for (uint32_t i = *bucket(h, id); i != 0; i = slot(h, i)->next_in_bucket)
        if (slot(h, i)->x.id == id)
            return true;
    return false;
}

bool held_places(const struct held *h, uint32_t row)
{
    return h->rows[row].places != 0;
}

const amount *held_against(const struct held *h, uint32_t row, uint64_t id, int32_t priority,
                           bool holds, amount *scratch, bool *placed_out)
{
    const struct held_row *r = &h->rows[row];
    *placed_out = r->places != 0;
    if (r->count == 0 || (!holds && r->least_priority >= priority))
        return held_at(h, row);
    bool any = false;
    *placed_out = false;
    memset(scratch, 0, h->w->column_count * sizeof(*scratch));
    for (uint32_t i = r->first; i != 0; i = slot(h, i)->next_on_row) {
        const struct hold *x = slot(h, i);
        if (x->x.id == id || (!x->put && x->x.priority < priority))
            continue;
        any = true;
        *placed_out |= x->place && x->x.priority >= priority;
        for (uint32_t c = 0; c < h->w->column_count; c++)
            scratch[c] = amount_add(scratch[c], x->x.requests[c]);
    }
    return any ? scratch : NULL;
}
