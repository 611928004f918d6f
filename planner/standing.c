/* Pods that stand on rows: by row, and by name within one, so that equal input gives an equal world. */
#include "planner/columns.h"

#include <stdlib.h>

int world_pod_order(const struct pod *a, const struct pod *b)
{
    int order = span_cmp(a->meta.ns, b->meta.ns);
    return order != 0 ? order : span_cmp(a->meta.name, b->meta.name);
}

static int pod_order(const void *a, const void *b)
{
    return world_pod_order(*(const struct pod *const *)a, *(const struct pod *const *)b);
}

static bool pods_in_order(const struct pod *const *pods, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (pod_order(&pods[i - 1], &pods[i]) > 0)
            return false;
    return true;
}

void world_row_sum(struct world *w, struct arena *a, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    amount *requested = w->requested + (size_t)row * w->column_count;
    struct row_ports ports = {0};
    memset(requested, 0, w->resource_count * sizeof(*requested));
    for (uint32_t i = 0; i < n->pod_count; i++) {
        const amount *requests = classes_requests(&w->classes, n->pod_classes[i]);
        for (uint32_t c = 0; c < w->resource_count; c++)
            requested[c] = amount_add(requested[c], requests[c]);
        for (uint32_t k = 0; k < n->pods[i]->ports.count; k++)
            ARENA_PUSH(a, ports.items, ports.count, ports.capacity, n->pods[i]->ports.items[k]);
    }
    w->ports[row] = ports;
}

void world_row_left(struct world *w, uint32_t row)
{
    size_t at = (size_t)row * w->column_count;
    for (uint32_t c = 0; c < w->column_count; c++)
        w->left[at + c] = w->allocatable[at + c] - w->requested[at + c] - w->expected[at + c];
}

/* A volume that several pods of the node use is attached once. */
static void set_attached(struct world *w, uint32_t row, const struct volume_use *u)
{
    amount *requested = w->requested + (size_t)row * w->column_count;
    for (uint32_t c = w->resource_count; c < w->column_count; c++)
        if (w->columns[c] == u->driver)
            requested[c] = (amount)u->own + u->shared_count;
}

void world_row_attach(struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    amount *requested = w->requested + (size_t)row * w->column_count;
    struct arena scratch;
    arena_init(&scratch, 0);
    struct volume_uses uses = volumes_recall_in_use(&w->volumes, &scratch, n->pods, n->pod_count);
    for (uint32_t c = w->resource_count; c < w->column_count; c++)
        requested[c] = 0;
    for (uint32_t i = 0; i < uses.count; i++)
        set_attached(w, row, &uses.items[i]);
    arena_release(&scratch);
}

static void attach(struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    struct volume_uses uses = volumes_in_use(&w->volumes, n->pods, n->pod_count);
    for (uint32_t i = 0; i < uses.count; i++) {
        const struct volume_use *u = &uses.items[i];
        set_attached(w, row, u);
        struct volume_numbers *shared = w->shared != NULL ? &w->shared[row] : NULL;
        for (uint32_t k = 0; shared != NULL && k < u->shared_count; k++)
            ARENA_PUSH(w->arena, shared->items, shared->count, shared->capacity, u->shared[k]);
    }
}

static uint32_t count_standing(struct world *w, const struct world_input *in,
                               const int32_t *row_of_sym)
{
    uint32_t total = 0;
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *p = in->pods[i];
        if (p->node == SYM_NONE || pod_is_terminal(p) || row_of_sym[p->node] == 0)
            continue;
        w->nodes[row_of_sym[p->node] - 1].pod_count++;
        total++;
    }
    return total;
}

void world_build_standing(struct world *w, const struct world_input *in, const int32_t *row_of_sym)
{
    uint32_t total = count_standing(w, in, row_of_sym);
    const struct pod **pods = ARENA_ARRAY(w->arena, const struct pod *, total);
    uint32_t *classes = ARENA_ARRAY(w->arena, uint32_t, total);
    const struct pod ***end = ARENA_ARRAY(w->arena, const struct pod **, w->node_count);
    uint32_t first = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        w->nodes[row].pods = end[row] = pods + first;
        first += w->nodes[row].pod_count;
    }
    if (w->volumes.shared_count != 0)
        w->shared = ARENA_ARRAY(w->arena, struct volume_numbers, w->node_count);
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *p = in->pods[i];
        int32_t row = p->node == SYM_NONE || pod_is_terminal(p) ? -1 : row_of_sym[p->node] - 1;
        if (row >= 0)
            *end[row]++ = p;
    }
    for (uint32_t row = 0; row < w->node_count; row++) {
        struct world_node *n = &w->nodes[row];
        const struct pod **own = end[row] - n->pod_count;
        if (!pods_in_order(own, n->pod_count))
            qsort(own, n->pod_count, sizeof(*own), pod_order);
        for (uint32_t i = 0; i < n->pod_count; i++)
            classes[i] = classes_put(&w->classes, own[i]);
        n->pod_classes = classes;
        classes += n->pod_count;
        world_row_sum(w, w->arena, row);
        if (w->column_count != w->resource_count)
            attach(w, row);
    }
}
