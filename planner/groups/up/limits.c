/* limits: how many more nodes --cores-total and its like allow (spec node-groups 3.7). Each node counts as it is, and one
 * more as its group's template; as upstream counts, each group's first node stands for all of these. */
#include "planner/groups/ready.h"
#include "planner/groups/up/inner.h"

#include <string.h>

static int64_t whole_cores(const struct node *n)
{
    amount millis = resources_get(n->capacity, SYM_CPU);
    return millis / 1000 + (millis % 1000 != 0);
}

static void count_gpus(const struct group_run *r, const struct node *n, int32_t group, int64_t *out)
{
    const struct symtab *syms = r->objects->syms;
    if (!group_node_is_gpu(r->model, n))
        return;
    struct span type = sym_text(syms, sym_pairs_get(n->meta.labels, r->model->file->gpu_label));
    int64_t count = resources_get(n->allocatable, group_gpu_of(n->allocatable, syms));
    const struct node *t = group >= 0 ? r->model->groups[group].spec->template : NULL;
    if (count == 0 && t != NULL)
        count = resources_get(t->capacity, group_gpu_of(t->capacity, syms));
    for (uint32_t i = 0; i < r->flags->gpus.count; i++)
        if (span_eq(r->flags->gpus.items[i].resource, type))
            out[LIMIT_GPU + i] = count;
}

static void cost_of(const struct group_run *r, const struct node *n, int32_t group, int64_t *out)
{
    out[LIMIT_CORES] = whole_cores(n);
    out[LIMIT_MEMORY] = resources_get(n->capacity, SYM_MEMORY);
    count_gpus(r, n, group, out);
}

static bool is_virtual(const struct group_run *r, const struct node *n)
{
    const struct symtab *syms = r->objects->syms;
    return span_eq(sym_text(syms, sym_pairs_get(n->meta.labels, sym_find(syms, SPAN("type")))), SPAN("virtual-kubelet"));
}

static int64_t limit_of(const struct group_flags *f, uint32_t at)
{
    return at == LIMIT_CORES ? f->cores_max : at == LIMIT_MEMORY ? f->memory_max : f->gpus.items[at - LIMIT_GPU].max;
}

static int64_t *cost_of_group(struct group_run *r, struct limits *l, uint32_t group, const struct node *n)
{
    if (l->costs[group] == NULL) {
        l->costs[group] = ARENA_ARRAY(r->arena, int64_t, l->count);
        cost_of(r, n, (int32_t)group, l->costs[group]);
    }
    return l->costs[group];
}

void limits_measure(struct group_run *r, struct limits *l)
{
    l->count = LIMIT_GPU + r->flags->gpus.count;
    l->left = ARENA_ARRAY(r->arena, int64_t, l->count);
    l->costs = ARENA_ARRAY(r->arena, int64_t *, r->model->group_count);
    int64_t *own = ARENA_ARRAY(r->arena, int64_t, l->count);
    for (uint32_t i = 0; i < snapshot_count(r->snapshot); i++) {
        uint32_t node = snapshot_list(r->snapshot)[i], row = snapshot_row(r->snapshot, node);
        const struct node *n = world_node_at(r->world, row)->node;
        /* Who has not come is in no group yet. */
        int32_t group = bits_has(r->templates, row) || !r->flags->as_upstream ? -1 : r->owners[row];
        if (is_virtual(r, n))
            continue;
        memset(own, 0, l->count * sizeof(*own));
        if (group < 0)
            cost_of(r, n, r->flags->as_upstream ? -1 : r->owners[row], own);
        const int64_t *cost = group < 0 ? own : cost_of_group(r, l, (uint32_t)group, n);
        for (uint32_t k = 0; k < l->count; k++)
            l->left[k] = amount_add(l->left[k], cost[k]);
    }
    for (uint32_t k = 0; k < l->count; k++) {
        int64_t used = l->left[k], limit = limit_of(r->flags, k);
        l->left[k] = limit > used ? limit - used : 0;
    }
    for (uint32_t g = 0; g < r->model->group_count; g++)
        if (r->model->groups[g].template.node != NULL)
            cost_of_group(r, l, g, r->model->groups[g].template.node);
}

static struct span limit_name(const struct group_run *r, uint32_t at)
{
    return at == LIMIT_CORES    ? SPAN("cpu")
           : at == LIMIT_MEMORY ? SPAN("memory")
                                : r->flags->gpus.items[at - LIMIT_GPU].resource;
}

static void insert_name(struct spans *list, struct span name)
{
    uint32_t at = list->count++;
    for (; at > 0 && span_cmp(list->items[at - 1], name) > 0; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = name;
}

int32_t limits_allow(const struct group_run *r, const struct limits *l, uint32_t group, int32_t n,
                     struct spans *exceeded_out)
{
    const int64_t *cost = l->costs[group];
    int32_t allowed = n;
    if (exceeded_out != NULL)
        *exceeded_out = (struct spans){ARENA_ARRAY(r->arena, struct span, l->count), 0};
    for (uint32_t k = 0; k < l->count; k++) {
        if (cost[k] <= 0 || l->left[k] / cost[k] >= n)
            continue;
        if (l->left[k] / cost[k] < allowed)
            allowed = (int32_t)(l->left[k] / cost[k]);
        if (exceeded_out != NULL)
            insert_name(exceeded_out, limit_name(r, k));
    }
    return allowed;
}

void limits_take(struct limits *l, uint32_t group, int32_t n)
{
    for (uint32_t k = 0; k < l->count; k++) {
        int64_t taken = l->costs[group][k] * n;
        l->left[k] = l->left[k] > taken ? l->left[k] - taken : 0;
    }
}

int32_t groups_allowed(struct group_run *r, uint32_t group, int32_t n)
{
    struct limits l;
    limits_measure(r, &l);
    return limits_allow(r, &l, group, n, NULL);
}
