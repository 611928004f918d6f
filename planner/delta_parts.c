/* What a world that is being made has of its own. Everything of a part that is copied is copied, so that a part leans
 * on the ground alone. Exceptions are classes, whose copies point into the ones before and grow until a build starts
 * afresh, and the lists of pods by row: those of a few rows each have a part of their own, which all worlds share in
 * which these rows are the same. */
#include "planner/delta_inner.h"
#include "planner/unplanned.h"

struct world *delta_share(const struct world *from)
{
    struct world *w = mem_new(sizeof(*w));
    *w = *from;
    symtab_ref(w->syms);
    for (size_t i = 0; i < PART_COUNT; i++)
        part_join(w->parts[i]);
    w->classes.rules = &w->rules;
    w->classes.topology = &w->topology;
    w->classes.volumes = &w->volumes;
    w->classes.spread = &w->spread;
    w->classes.split = &w->split;
    return w;
}

struct arena *delta_own_part(struct delta *d, enum world_part part, struct part *under)
{
    struct part *old = d->w->parts[part];
    d->w->parts[part] = part_new(0, under);
    part_leave(old);
    return &d->w->parts[part]->arena;
}

bool delta_owns(const struct delta *d, enum world_part part)
{
    return d->w->parts[part] != d->from->parts[part];
}

void *delta_copy(struct arena *a, const void *items, size_t count, size_t size)
{
    void *to = arena_array(a, count, size);
    if (count != 0)
        memcpy(to, items, count * size);
    return to;
}

void delta_own_pods(struct delta *d, size_t more)
{
    struct world *w = d->w;
    if (delta_owns(d, PART_PODS))
        return;
    struct arena *a = delta_own_part(d, PART_PODS, NULL);
    w->waiting = ARENA_ARRAY(a, struct waiting_pod, w->waiting_count + more);
    if (w->waiting_count != 0)
        memcpy(w->waiting, d->from->waiting, w->waiting_count * sizeof(*w->waiting));
    w->members = delta_copy(a, w->members, w->classes.count, sizeof(*w->members));
    w->live_daemons = delta_copy(a, w->live_daemons, w->daemon_count, sizeof(*w->live_daemons));
    w->volumes.users = delta_copy(a, w->volumes.users, w->volumes.claims.count, sizeof(*w->volumes.users));
    w->aside = delta_copy(a, w->aside, w->aside_count, sizeof(*w->aside));
    w->aside_capacity = w->aside_count;
    w->unplanned = delta_copy(a, w->unplanned, w->unplanned_count, sizeof(*w->unplanned));
    w->unplanned_capacity = w->unplanned_count;
    w->nominated = delta_copy(a, w->nominated, w->nominated_count, sizeof(*w->nominated));
    w->nominated_capacity = w->nominated_count;
    d->left = ARENA_ARRAY(&d->scratch, bool, w->waiting_count + more);
    d->lost = ARENA_ARRAY(&d->scratch, bool, w->daemon_count);
}

/* Parts of lists stay shared until a row of theirs changes. */
static void share_lists(struct world *w)
{
    struct part *rows = w->parts[PART_ROWS];
    uint32_t count = (w->node_count + LISTS_ROWS - 1) / LISTS_ROWS;
    struct part **lists = ARENA_ARRAY(&rows->arena, struct part *, count);
    for (uint32_t i = 0; i < count && w->lists != NULL; i++)
        lists[i] = part_join(w->lists[i]);
    rows->held = w->lists = lists;
    rows->held_count = count;
}

void delta_own_rows(struct delta *d)
{
    struct world *w = d->w;
    if (d->dirty != NULL)
        return;
    struct arena *a = delta_own_part(d, PART_ROWS, NULL);
    size_t cells = (size_t)w->node_count * w->column_count;
    uint32_t words = bits_words(w->node_count);
    w->nodes = delta_copy(a, w->nodes, w->node_count, sizeof(*w->nodes));
    w->requested = delta_copy(a, w->requested, cells, sizeof(amount));
    w->left = delta_copy(a, w->left, cells, sizeof(amount));
    w->expected = delta_copy(a, w->expected, cells, sizeof(amount));
    w->ports = delta_copy(a, w->ports, w->node_count, sizeof(*w->ports));
    share_lists(w);
    d->dirty = ARENA_ARRAY(&d->scratch, uint64_t, words);
    d->blocks = ARENA_ARRAY(&d->scratch, uint64_t, bits_words(w->parts[PART_ROWS]->held_count));
}

struct arena *delta_lists(struct delta *d, uint32_t row)
{
    return &d->w->lists[row / LISTS_ROWS]->arena;
}

static size_t lists_size(const struct world *w, uint32_t first, uint32_t end)
{
    size_t bytes = 512;
    for (uint32_t row = first; row < end; row++)
        bytes += (size_t)w->nodes[row].pod_count * (sizeof(void *) + sizeof(uint32_t)) +
                 w->ports[row].count * sizeof(struct host_port) + 3 * _Alignof(max_align_t);
    return bytes + bytes / 4; /* those that change are there twice */
}

void delta_own_lists(struct delta *d, uint32_t row)
{
    struct world *w = d->w;
    uint32_t block = row / LISTS_ROWS, first = block * LISTS_ROWS, end = first + LISTS_ROWS;
    if (bits_has(d->blocks, block))
        return;
    bits_add(d->blocks, block);
    end = end < w->node_count ? end : w->node_count;
    part_leave(w->lists[block]); /* the older world has it, too */
    w->lists[block] = part_new(lists_size(w, first, end), NULL);
    struct arena *a = &w->lists[block]->arena;
    for (row = first; row < end; row++) {
        struct world_node *n = &w->nodes[row];
        struct row_ports *p = &w->ports[row];
        n->pods = delta_copy(a, n->pods, n->pod_count, sizeof(*n->pods));
        n->pod_classes = delta_copy(a, n->pod_classes, n->pod_count, sizeof(*n->pod_classes));
        p->items = delta_copy(a, p->items, p->count, sizeof(*p->items));
        p->capacity = p->count;
    }
}

struct world_node *delta_touch(struct delta *d, uint32_t row)
{
    delta_own_rows(d);
    delta_own_lists(d, row);
    bits_add(d->dirty, row);
    return &d->w->nodes[row];
}

struct arena *delta_own_counts(struct delta *d)
{
    if (!delta_owns(d, PART_COUNTS))
        topology_copy_counts(d->w, delta_own_part(d, PART_COUNTS, NULL));
    return &d->w->parts[PART_COUNTS]->arena;
}
