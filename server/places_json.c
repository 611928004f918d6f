#include "server/places_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "kube/pod.h"

static int by_target(const void *a, const void *b)
{
    const struct place *x = *(const struct place *const *)a, *y = *(const struct place *const *)b;
    int order = span_cmp(x->target, y->target);
    if (order == 0)
        order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->pod, y->pod);
}

enum sort { ON_CLAIM, ON_MACHINE, ON_NODE };

static enum sort sort_of(const struct place *p)
{
    return p->on_claim ? ON_CLAIM : p->group.len != 0 ? ON_MACHINE : ON_NODE;
}

static bool any_of(const struct place *const *places, uint32_t count, enum sort sort)
{
    bool any = false;
    for (uint32_t i = 0; i < count && !any; i++)
        any = sort_of(places[i]) == sort;
    return any;
}

/* The targets of one sort, each with its pods. */
static void write_targets(struct json *j, struct arena *a, const char *key,
                          const struct place *const *sorted, uint32_t count, enum sort sort)
{
    struct span open = {NULL, 0};
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const struct place *p = sorted[i];
        if (sort_of(p) != sort)
            continue;
        if (open.ptr == NULL || !span_eq(open, p->target)) {
            if (open.ptr != NULL) {
                json_array_end(j);
                json_object_end(j);
            }
            open = p->target;
            json_object_begin(j);
            json_put_string(j, "name", p->target);
            json_put_array(j, "pods");
        }
        json_text(j, arena_printf(a, "%.*s/%.*s", SPAN_ARG(p->ns), SPAN_ARG(p->pod)));
    }
    if (open.ptr != NULL) {
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

/* A place is held while its pod waits; told a little longer, so that who looks now and then sees it. */
static bool is_told(const struct places_view *v, const struct place *x)
{
    enum { TOLD_AFTER_MS = 20 * MS_SECOND };
    if (v->snapshot == NULL || v->now - x->since < TOLD_AFTER_MS)
        return true;
    const struct pod *p = snapshot_find(v->snapshot, KIND_POD, x->ns, x->pod);
    return p != NULL && p->node == SYM_NONE && span_eq(p->meta.uid, x->uid);
}

static void write_places(struct json *j, struct arena *a, const struct places_view *v)
{
    uint32_t count = 0, all = v->places != NULL ? v->places->count : 0;
    const struct place **sorted = ARENA_ARRAY(a, const struct place *, all);
    for (uint32_t i = 0; i < all; i++)
        if (is_told(v, &v->places->items[i]))
            sorted[count++] = &v->places->items[i];
    if (count != 0)
        qsort(sorted, count, sizeof(*sorted), by_target);
    write_targets(j, a, "nodeClaims", sorted, count, ON_CLAIM);
    if (any_of(sorted, count, ON_MACHINE))
        write_targets(j, a, "groupMachines", sorted, count, ON_MACHINE);
    write_targets(j, a, "existingNodes", sorted, count, ON_NODE);
}

/* --- who waits without a place --- */

struct without {
    const struct pod *pod;
    struct span why;
};

static int by_pod(const void *a, const void *b)
{
    const struct meta *x = &((const struct without *)a)->pod->meta;
    const struct meta *y = &((const struct without *)b)->pod->meta;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static void write_unschedulable(struct json *j, struct arena *a, const struct places_view *v)
{
    struct without *list = NULL;
    uint32_t count = 0, capacity = 0;
    if (v->snapshot != NULL && v->why != NULL) {
        struct snapshot_iter it = snapshot_each(v->snapshot, KIND_POD);
        for (const struct pod *p; (p = snapshot_next(&it)) != NULL;) {
            if (!pod_is_pending(p) || pod_is_terminal(p) || p->meta.deleted != 0 ||
                (v->places != NULL && places_find(v->places, p->meta.uid) != NULL))
                continue;
            struct without x = {p, v->why(v->user, a, p)};
            if (x.why.len != 0)
                ARENA_PUSH(a, list, count, capacity, x);
        }
    }
    if (count != 0)
        qsort(list, count, sizeof(*list), by_pod);
    json_put_array(j, "unschedulable");
    for (uint32_t i = 0; i < count; i++) {
        const struct meta *m = &list[i].pod->meta;
        json_object_begin(j);
        json_put_string(j, "pod", arena_printf(a, "%.*s/%.*s", SPAN_ARG(m->ns), SPAN_ARG(m->name)));
        json_put_string(j, "message", list[i].why);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_move(struct json *j, const struct move *m)
{
    json_object_begin(j);
    json_put_string(j, "id", m->id);
    json_put_string(j, "state", move_state_name(m->state));
    json_put_string(j, "reason", disruption_reason_label(m->reason));
    json_put_string(j, "decision", m->decision);
    json_put_array(j, "candidates");
    for (uint32_t i = 0; i < m->node_count; i++)
        json_text(j, m->nodes[i]);
    json_array_end(j);
    json_put_int(j, "replacements", m->replacements);
    json_put_int(j, "evictions", m->evictions);
    if (!isnan(m->savings)) {
        json_key(j, SPAN("savingsPerHour"));
        json_double(j, m->savings);
    }
    if (m->text.len != 0)
        json_put_string(j, "message", m->text);
    json_object_end(j);
}

static void write_moves(struct json *j, const struct moves *m)
{
    json_put_array(j, "moves");
    for (uint32_t i = 0; i < m->count; i++)
        write_move(j, &m->items[i]);
    json_array_end(j);
}

static void write_cost(struct json *j, const struct world *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < world_node_count(w); i++) {
        double price = world_node_at(w, i)->price;
        sum += isnan(price) ? 0 : price;
    }
    json_put_object(j, "cost");
    json_key(j, SPAN("before"));
    json_double(j, sum);
    json_object_end(j);
}

void places_json(const struct places_view *v, struct buf *out)
{
    struct arena a;
    arena_init(&a, 0);
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("stowage.dev/v1alpha1"));
    json_put_string(&j, "kind", SPAN("HeldPlaces"));
    write_places(&j, &a, v);
    write_unschedulable(&j, &a, v);
    if (v->moves != NULL)
        write_moves(&j, v->moves);
    if (v->world != NULL)
        write_cost(&j, v->world);
    json_object_end(&j);
    arena_release(&a);
}
