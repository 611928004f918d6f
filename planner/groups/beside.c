#include "planner/groups/beside.h"

#include <stdlib.h>

#include "planner/columns.h"
#include "planner/groups/bought.h"

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

static void list_placed(const struct plan *p, struct placed_list *out, struct arena *a)
{
    const struct world *w = p->world;
    uint32_t total = p->row_count;
    for (uint32_t i = 0; i < p->claim_count; i++)
        total += p->claims[i].pod_count;
    out->items = ARENA_ARRAY(a, struct placed, total);
    for (uint32_t i = 0; i < p->claim_count; i++)
        add(out, p->claims[i].pods, p->claims[i].pod_count, SYM_NONE);
    for (uint32_t i = 0; i < p->row_count; i++)
        if (p->rows[i] != 0)
            add(out, &w->waiting[i].pod, 1, w->nodes[p->rows[i] - 1].name_sym);
    sort(out);
}

static void see_pods(struct group_objects *o, const struct plan *p, struct arena *a)
{
    struct placed_list placed = {.count = 0};
    const struct pod **out = ARENA_ARRAY(a, const struct pod *, o->pod_count);
    size_t kept = 0;
    list_placed(p, &placed, a);
    for (size_t i = 0; i < o->pod_count; i++) {
        const struct placed *x = o->pods[i]->node == SYM_NONE ? find(&placed, o->pods[i]) : NULL;
        if (x != NULL && x->node == SYM_NONE)
            continue;
        out[kept] = o->pods[i];
        if (x != NULL) {
            struct pod *copy = ARENA_NEW(a, struct pod);
            meta_copy_object(copy, o->pods[i], sizeof(*copy));
            copy->nominated_node = x->node;
            out[kept] = copy;
        }
        kept++;
    }
    o->pods = out;
    o->pod_count = kept;
}

void groups_see_plan(struct group_objects *o, const struct plan *p, struct arena *a)
{
    struct group_bought bought = bought_of_plan(p, o->syms, a);
    see_pods(o, p, a);
    if (bought.node_count == 0)
        return;
    struct group_bought *kept = ARENA_NEW(a, struct group_bought);
    *kept = bought;
    o->bought = kept;
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
