/* Who asks for capacity, and the cluster in which they ask (spec node-groups 3.2 to 3.4). */
#include <stdlib.h>
#include <string.h>

#include "planner/buffers.h"
#include "planner/groups/inner.h"
#include "planner/groups/snapshot/snapshot.h"

static bool lists(struct spans list, struct span text)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (span_eq(list.items[i], text))
            return true;
    return false;
}

static bool is_other_schedulers(const struct group_run *r, const struct pod *p)
{
    struct spans allowed = r->flags->allowed_schedulers;
    return allowed.count != 0 && !lists(allowed, sym_text(r->world->syms, p->scheduler));
}

/* The scheduler found no node, or it is one that is not waited for. */
static bool asks(const struct group_run *r, const struct pod *p)
{
    if (p->node != SYM_NONE || p->meta.deleted != 0 || pod_is_terminal(p) || p->nominated_node != SYM_NONE ||
        is_other_schedulers(r, p) || p->priority < r->flags->expendable_cutoff)
        return false;
    bool unseen = !p->unschedulable && !p->gated;
    return p->unschedulable ||
           (unseen && (r->world->settings.all_unbound ||
                       lists(r->flags->bypassed_schedulers, sym_text(r->world->syms, p->scheduler))));
}

static void list_pending(struct group_run *r)
{
    const struct buffers *buffers = world_buffers(r->world);
    size_t most = 2 * r->objects->pod_count + buffers->count; /* drained ones, too */
    r->pending = ARENA_ARRAY(r->arena, const struct pod *, most);
    for (size_t i = 0; i < r->objects->pod_count; i++)
        if (asks(r, r->objects->pods[i]))
            r->pending[r->pending_count++] = r->objects->pods[i];
    for (uint32_t i = 0; i < buffers->count; i++) /* behind all others: below any cutoff, and they ask nevertheless */
        r->pending[r->pending_count++] = buffers->pods[i];
    if (r->pending_count != 0)
        qsort(r->pending, r->pending_count, sizeof(*r->pending), group_pods_by_name);
}

/* --- the cluster --- */

static void place_nominated(struct group_run *r)
{
    for (size_t i = 0; i < r->objects->pod_count; i++) {
        const struct pod *p = r->objects->pods[i];
        if (p->node != SYM_NONE || p->nominated_node == SYM_NONE || pod_is_terminal(p) ||
            p->priority < r->flags->expendable_cutoff)
            continue;
        int32_t row = world_find_node(r->world, sym_text(r->world->syms, p->nominated_node));
        if (row >= 0 && snapshot_stands(r->snapshot, (uint32_t)row))
            snapshot_place(r->snapshot, (uint32_t)row, p, snapshot_class_of(r->world, p));
    }
}

/* Registered nodes that are still to come have a copy of the template in their place. */
static void build_snapshot(struct group_run *r)
{
    r->snapshot = snapshot_create(r->arena, r->world, r->flags->expendable_cutoff);
    for (uint32_t i = 0; i < r->row_count; i++)
        snapshot_add_row(r->snapshot, r->rows[i]);
    for (uint32_t row = 0; r->bought_count != 0 && row < world_node_count(r->world); row++)
        if (group_row_bought(r, row))
            snapshot_add_row(r->snapshot, row);
    place_nominated(r);
    groups_number_copies(r, snapshot_node_limit(r->snapshot));
    for (uint32_t g = 0; g < r->model->group_count; g++)
        for (uint32_t i = 0; r->groups[g].template_row >= 0 && i < r->groups[g].upcoming; i++)
            snapshot_add_copy(r->snapshot, (uint32_t)r->groups[g].template_row);
    for (uint32_t i = 0; i < r->row_count; i++)
        if (bits_has(r->upcoming, r->rows[i]))
            snapshot_remove(r->snapshot, r->rows[i]);
}

/* --- pods of nodes that are being drained will be back --- */

static bool is_recreated(const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    return o != NULL && !pod_is_static(p) &&
           (o->kind == SYM_KIND_REPLICA_SET || o->kind == SYM_KIND_STATEFUL_SET || o->kind == SYM_KIND_JOB ||
            o->kind == SYM_KIND_REPLICATION_CONTROLLER);
}

static void add_drained(struct group_run *r)
{
    struct spans nodes = r->model->file->state.deleting_drain;
    for (uint32_t i = 0; i < nodes.count; i++) {
        int32_t node = group_model_node(r->model, nodes.items[i]);
        int32_t row = node < 0 ? -1 : world_find_node(r->world, r->model->nodes[node]->meta.name);
        uint32_t count;
        if (row < 0 || !snapshot_stands(r->snapshot, (uint32_t)row))
            continue;
        const struct pod *const *pods = snapshot_pods(r->snapshot, (uint32_t)row, &count);
        for (uint32_t k = 0; k < count; k++)
            if (pods[k]->meta.deleted == 0 && is_recreated(pods[k]))
                r->pending[r->pending_count++] = pods[k];
    }
}

/* --- who fits what there is --- */

struct shape {
    const struct pod *pod;
    uint32_t class_id, next; /* + 1 */
};

struct shapes { /* of controllers, that found no place */
    struct shape *items;
    uint32_t count, mask;
    uint32_t *slots; /* + 1 */
};

enum { MOST_SHAPES = 10 }; /* of one controller */

static uint32_t slot_of(const struct shapes *s, const struct pod *p)
{
    const struct owner *o = meta_controller(&p->meta);
    return (uint32_t)(span_hash(o->name) ^ span_hash(p->meta.ns) * 31 ^ o->kind) & s->mask;
}

static bool is_hopeless(const struct shapes *s, const struct pod *p, uint32_t class_id)
{
    if (meta_controller(&p->meta) == NULL)
        return false;
    for (uint32_t at = s->slots[slot_of(s, p)]; at != 0; at = s->items[at - 1].next)
        if (s->items[at - 1].class_id == class_id && pod_same_controller(s->items[at - 1].pod, p))
            return true;
    return false;
}

static void give_up(struct shapes *s, const struct pod *p, uint32_t class_id)
{
    uint32_t known = 0;
    if (meta_controller(&p->meta) == NULL)
        return;
    uint32_t *slot = &s->slots[slot_of(s, p)];
    for (uint32_t at = *slot; at != 0; at = s->items[at - 1].next)
        known += pod_same_controller(s->items[at - 1].pod, p);
    if (known >= MOST_SHAPES)
        return;
    s->items[s->count++] = (struct shape){p, class_id, *slot};
    *slot = s->count;
}

static int by_priority(const void *a, const void *b)
{
    const struct pod *x = **(const struct pod *const *const *)a, *y = **(const struct pod *const *const *)b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (*(const struct pod *const *const *)a > *(const struct pod *const *const *)b) -
           (*(const struct pod *const *const *)a < *(const struct pod *const *const *)b);
}

/* The highest priority first; else as they are listed. */
static void sort_pending(struct group_run *r)
{
    const struct pod ***at = ARENA_ARRAY(r->arena, const struct pod **, r->pending_count);
    const struct pod **sorted = ARENA_ARRAY(r->arena, const struct pod *, r->pending_count);
    for (uint32_t i = 0; i < r->pending_count; i++)
        at[i] = &r->pending[i];
    qsort(at, r->pending_count, sizeof(*at), by_priority);
    for (uint32_t i = 0; i < r->pending_count; i++)
        sorted[i] = *at[i];
    r->pending = sorted;
}

static void seat_as_planned(struct group_run *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->pending_count; i++)
        if (!groups_seat_as_planned(r, r->pending[i], snapshot_class_of(r->world, r->pending[i])))
            r->pending[count++] = r->pending[i];
    r->pending_count = count;
}

static void drop_schedulable(struct group_run *r)
{
    struct shapes s = {.mask = 15};
    struct snapshot_among all = {.but = SNAPSHOT_NONE};
    uint32_t count = 0;
    while (s.mask < r->pending_count)
        s.mask = s.mask * 2 + 1;
    s.items = ARENA_ARRAY(r->arena, struct shape, r->pending_count);
    s.slots = ARENA_ARRAY(r->arena, uint32_t, s.mask + 1);
    for (uint32_t i = 0; i < r->pending_count; i++) {
        const struct pod *p = r->pending[i];
        uint32_t class_id = snapshot_class_of(r->world, p);
        if (!is_hopeless(&s, p, class_id)) {
            uint32_t node = snapshot_seat(r->snapshot, p, class_id, &all);
            if (node != SNAPSHOT_NONE) {
                groups_note_seat(r, p, node);
                continue;
            }
            give_up(&s, p, class_id);
        }
        r->pending[count++] = p;
    }
    r->pending_count = count;
}

/* Pods may ask for more patience than the flag has, not for less. */
static span_ms delay_of(const struct group_run *r, const struct pod *p)
{
    sym key = sym_find(r->world->syms, SPAN("cluster-autoscaler.kubernetes.io/pod-scale-up-delay"));
    span_ms own;
    if (key == SYM_NONE || !duration_parse(annotations_get(p->meta.annotations, key), &own))
        return r->flags->new_pod_delay;
    return own > r->flags->new_pod_delay ? own : r->flags->new_pod_delay;
}

span_ms group_pod_age(const struct group_run *r, const struct pod *p)
{
    return p->meta.created == POD_MADE_UP ? INT64_MAX : r->now - p->meta.created;
}

static void drop_young_and_daemons(struct group_run *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->pending_count; i++) {
        const struct pod *p = r->pending[i];
        if (!pod_is_daemon(p) && group_pod_age(r, p) > delay_of(r, p))
            r->pending[count++] = p;
    }
    r->pending_count = count;
}

void groups_pending(struct group_run *r)
{
    build_snapshot(r);
    if (!r->flags->as_upstream)
        groups_book(r);
    list_pending(r);
    add_drained(r);
    if (r->pending_count != 0) {
        sort_pending(r);
        if (r->objects->places != NULL)
            seat_as_planned(r);
        drop_schedulable(r);
        groups_drop_consuming(r);
        drop_young_and_daemons(r);
    }
    if (r->flags->as_upstream)
        groups_book(r); /* what those who wait have left of it */
}
