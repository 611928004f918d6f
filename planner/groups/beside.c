#include "planner/groups/beside.h"

#include <stdlib.h>

struct placed {
    struct span ns, name;
    sym node; /* SYM_NONE: it is bought */
};

struct placed_list {
    struct placed *items;
    uint32_t count;
};

static int by_name(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static void add(struct placed_list *l, const struct pod *const *pods, uint32_t count, sym node)
{
    for (uint32_t i = 0; i < count; i++)
        l->items[l->count++] = (struct placed){pods[i]->meta.ns, pods[i]->meta.name, node};
}

static void sort(struct placed_list *l)
{
    if (l->count != 0)
        qsort(l->items, l->count, sizeof(*l->items), by_name);
}

static const struct placed *find(const struct placed_list *l, const struct pod *p)
{
    struct placed key = {.ns = p->meta.ns, .name = p->meta.name};
    return l->count != 0 ? bsearch(&key, l->items, l->count, sizeof(key), by_name) : NULL;
}

const struct pod *const *groups_beside_plan(const struct plan *p, const struct pod *const *pods, size_t count,
                                            size_t *count_out, struct arena *a)
{
    struct placed_list placed = {.count = 0};
    uint32_t total = 0;
    for (uint32_t i = 0; i < p->claim_count; i++)
        total += p->claims[i].pod_count;
    for (uint32_t i = 0; i < p->node_count; i++)
        total += p->nodes[i].pod_count;
    placed.items = ARENA_ARRAY(a, struct placed, total);
    for (uint32_t i = 0; i < p->claim_count; i++)
        add(&placed, p->claims[i].pods, p->claims[i].pod_count, SYM_NONE);
    for (uint32_t i = 0; i < p->node_count; i++)
        add(&placed, p->nodes[i].pods, p->nodes[i].pod_count, world_node_at(p->world, p->nodes[i].row)->name_sym);
    sort(&placed);
    const struct pod **out = ARENA_ARRAY(a, const struct pod *, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct placed *x = pods[i]->node == SYM_NONE ? find(&placed, pods[i]) : NULL;
        if (x != NULL && x->node == SYM_NONE)
            continue;
        out[kept] = pods[i];
        if (x != NULL) {
            struct pod *copy = ARENA_NEW(a, struct pod);
            meta_copy_object(copy, pods[i], sizeof(*copy));
            copy->nominated_node = x->node;
            out[kept] = copy;
        }
        kept++;
    }
    *count_out = kept;
    return out;
}

void groups_take_over(struct plan *p, const struct group_pass *g)
{
    struct placed_list taken = {.count = 0};
    struct plan_unschedulable *left = ARENA_ARRAY(&p->arena, struct plan_unschedulable, p->unschedulable_count);
    uint32_t count = 0;
    taken.items = ARENA_ARRAY(&p->arena, struct placed, g->up.triggered_count + g->up.awaiting_count + g->coming_count);
    add(&taken, g->up.triggered, g->up.triggered_count, SYM_NONE);
    add(&taken, g->up.awaiting, g->up.awaiting_count, SYM_NONE);
    for (uint32_t i = 0; i < g->coming_count; i++)
        add(&taken, &g->coming[i].pod, 1, SYM_NONE);
    sort(&taken);
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (find(&taken, p->unschedulable[i].pod) == NULL)
            left[count++] = p->unschedulable[i];
    p->waiting -= p->unschedulable_count - count;
    p->unschedulable = left;
    p->unschedulable_count = count;
}
