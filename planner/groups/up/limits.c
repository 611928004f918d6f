/* limits: how many more nodes --cores-total and its like and CapacityQuotas allow (spec node-groups 3.7, 6.3). Each node counts
 * as it is, and one more as its group's template; as upstream counts, each group's first node stands for all of these. Which
 * CapacityQuotas mean a node, its labels say. */
#include "kube/capacity_quota.h"
#include "planner/groups/ready.h"
#include "planner/groups/up/inner.h"

#include <string.h>

static int64_t whole_cores(const struct node *n)
{
    amount millis = resources_get(n->capacity, SYM_CPU);
    return millis / 1000 + (millis % 1000 != 0);
}

static void count_gpus(const struct group_run *r, const struct limits *l, const struct node *n, int32_t group, int64_t *out)
{
    const struct symtab *syms = r->objects->syms;
    if (!group_node_is_gpu(r->model, n))
        return;
    struct span type = sym_text(syms, sym_pairs_get(n->meta.labels, r->model->file->gpu_label));
    int64_t count = resources_get(n->allocatable, group_gpu_of(n->allocatable, syms));
    const struct node *t = group >= 0 ? r->model->groups[group].spec->template : NULL;
    if (count == 0 && t != NULL)
        count = resources_get(t->capacity, group_gpu_of(t->capacity, syms));
    for (uint32_t i = LIMIT_GPU; i < l->count; i++)
        if (span_eq(l->names[i], type))
            out[i] = count;
}

static void cost_of(const struct group_run *r, const struct limits *l, const struct node *n, int32_t group, int64_t *out)
{
    out[LIMIT_NODES] = 1;
    out[LIMIT_CORES] = whole_cores(n);
    out[LIMIT_MEMORY] = resources_get(n->capacity, SYM_MEMORY);
    count_gpus(r, l, n, group, out);
}

/* Where a resource is; a new one is a type of GPUs, and costs nobody else. */
static uint32_t place_of(struct limits *l, struct span name)
{
    uint32_t at = 0;
    while (at < l->count && !span_eq(l->names[at], name))
        at++;
    if (at == l->count)
        l->names[l->count++] = name;
    return at;
}

static void set_flags(const struct group_flags *f, struct limits *l, int64_t *left)
{
    left[LIMIT_CORES] = f->cores_max;
    left[LIMIT_MEMORY] = f->memory_max;
    for (uint32_t i = 0; i < f->gpus.count; i++)
        left[place_of(l, f->gpus.items[i].resource)] = f->gpus.items[i].max;
}

static void set_quota(const struct symtab *syms, const struct capacity_quota *q, struct limits *l, int64_t *left)
{
    for (uint32_t i = 0; i < q->limits.count; i++) {
        amount limit = q->limits.items[i].value;
        bool is_cpu = q->limits.items[i].name == SYM_CPU;
        left[place_of(l, sym_text(syms, q->limits.items[i].name))] = is_cpu ? limit / 1000 + (limit % 1000 != 0) : limit;
    }
}

static uint32_t resources_most(const struct group_run *r)
{
    uint32_t most = LIMIT_GPU + r->flags->gpus.count;
    for (size_t i = 0; i < r->objects->quota_count; i++)
        most += r->objects->quotas[i]->limits.count;
    return most;
}

static void add_quota(const struct group_run *r, struct limits *l, uint32_t most, struct limit_quota q)
{
    q.left = ARENA_ARRAY(r->arena, int64_t, most);
    for (uint32_t k = 0; k < most; k++)
        q.left[k] = INT64_MAX;
    l->quotas[l->quota_count++] = q;
}

/* What they allow in all. */
static void read_quotas(const struct group_run *r, struct limits *l)
{
    size_t count = r->flags->capacity_quotas ? r->objects->quota_count : 0;
    uint32_t most = resources_most(r);
    *l = (struct limits){.names = ARENA_ARRAY(r->arena, struct span, most), .count = LIMIT_GPU,
                         .quotas = ARENA_ARRAY(r->arena, struct limit_quota, count + 1),
                         .costs = ARENA_ARRAY(r->arena, int64_t *, r->model->group_count)};
    l->names[LIMIT_CORES] = SPAN("cpu");
    l->names[LIMIT_MEMORY] = SPAN("memory");
    l->names[LIMIT_NODES] = SPAN("nodes");
    add_quota(r, l, most, (struct limit_quota){.id = SPAN("cluster-wide")});
    set_flags(r->flags, l, l->quotas[0].left);
    for (size_t i = 0; i < count; i++) {
        const struct capacity_quota *q = r->objects->quotas[i];
        if (!capacity_quota_valid(q))
            continue;
        add_quota(r, l, most, (struct limit_quota){.id = arena_printf(r->arena, "CapacityQuota/%.*s", SPAN_ARG(q->meta.name)),
                                                   .selector = &q->selector});
        set_quota(r->objects->syms, q, l, l->quotas[l->quota_count - 1].left);
    }
}

static bool means(const struct limit_quota *q, const struct node *n)
{
    return q->selector == NULL || label_selector_matches(q->selector, n->meta.labels);
}

/* So much less is left to those that mean the node. */
static void take(struct limits *l, const struct node *n, const int64_t *cost, int64_t times)
{
    for (uint32_t i = 0; i < l->quota_count; i++) {
        int64_t *left = l->quotas[i].left;
        for (uint32_t k = 0; k < l->count && means(&l->quotas[i], n); k++) {
            int64_t taken;
            if (left[k] == INT64_MAX)
                continue;
            if (__builtin_mul_overflow(cost[k], times, &taken))
                taken = INT64_MAX;
            left[k] = left[k] > taken ? left[k] - taken : 0;
        }
    }
}

static int64_t *cost_of_group(struct group_run *r, struct limits *l, uint32_t group, const struct node *n)
{
    if (l->costs[group] == NULL) {
        l->costs[group] = ARENA_ARRAY(r->arena, int64_t, l->count);
        cost_of(r, l, n, (int32_t)group, l->costs[group]);
    }
    return l->costs[group];
}

void limits_measure(struct group_run *r, struct limits *l)
{
    read_quotas(r, l);
    int64_t *own = ARENA_ARRAY(r->arena, int64_t, l->count);
    for (uint32_t i = 0; i < snapshot_count(r->snapshot); i++) {
        uint32_t node = snapshot_list(r->snapshot)[i], row = snapshot_row(r->snapshot, node);
        const struct node *n = world_node_at(r->world, row)->node;
        /* Who has not come is in no group yet. */
        int32_t group = bits_has(r->templates, row) || !r->flags->as_upstream ? -1 : r->owners[row];
        if (node_is_virtual(n, r->objects->syms) || group_row_bought(r, row))
            continue;
        memset(own, 0, l->count * sizeof(*own));
        if (group < 0)
            cost_of(r, l, n, r->flags->as_upstream ? -1 : r->owners[row], own);
        take(l, n, group < 0 ? own : cost_of_group(r, l, (uint32_t)group, n), 1);
    }
    for (uint32_t g = 0; g < r->model->group_count; g++)
        if (r->model->groups[g].template.node != NULL)
            cost_of_group(r, l, g, r->model->groups[g].template.node);
}

static void insert_name(struct spans *list, struct span name)
{
    uint32_t at = list->count++;
    for (; at > 0 && span_cmp(list->items[at - 1], name) > 0; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = name;
}

static struct span quota_text(const struct group_run *r, const struct limit_quota *q, struct spans resources)
{
    struct span list = resources.items[0];
    for (uint32_t i = 1; i < resources.count; i++)
        list = arena_printf(r->arena, "%.*s, %.*s", SPAN_ARG(list), SPAN_ARG(resources.items[i]));
    return arena_printf(r->arena, "exceeded quota: \"%.*s\", resources: %.*s", SPAN_ARG(q->id), SPAN_ARG(list));
}

/* Of n; what stands in the way is added to *exceeded_out where it is not NULL. */
static int32_t quota_allows(const struct group_run *r, const struct limits *l, const struct limit_quota *q, uint32_t group,
                            int32_t n, struct spans *exceeded_out)
{
    const int64_t *cost = l->costs[group];
    int32_t allowed = n;
    struct spans resources = {exceeded_out != NULL ? ARENA_ARRAY(r->arena, struct span, l->count) : NULL, 0};
    for (uint32_t k = 0; k < l->count; k++) {
        if (cost[k] <= 0 || q->left[k] == INT64_MAX || q->left[k] / cost[k] >= n)
            continue;
        if (q->left[k] / cost[k] < allowed)
            allowed = (int32_t)(q->left[k] / cost[k]);
        if (exceeded_out != NULL)
            insert_name(&resources, l->names[k]);
    }
    if (resources.count != 0)
        exceeded_out->items[exceeded_out->count++] = quota_text(r, q, resources);
    return allowed;
}

int32_t limits_allow(const struct group_run *r, const struct limits *l, uint32_t group, int32_t n,
                     struct spans *exceeded_out)
{
    const struct node *template = r->model->groups[group].template.node;
    int32_t allowed = n;
    if (exceeded_out != NULL)
        *exceeded_out = (struct spans){ARENA_ARRAY(r->arena, struct span, l->quota_count), 0};
    for (uint32_t i = 0; i < l->quota_count; i++) {
        int32_t of = means(&l->quotas[i], template) ? quota_allows(r, l, &l->quotas[i], group, n, exceeded_out) : n;
        allowed = of < allowed ? of : allowed;
    }
    return allowed;
}

void limits_take(const struct group_run *r, struct limits *l, uint32_t group, int32_t n)
{
    take(l, r->model->groups[group].template.node, l->costs[group], n);
}

int32_t groups_allowed(struct group_run *r, uint32_t group, int32_t n)
{
    struct limits l;
    limits_measure(r, &l);
    return limits_allow(r, &l, group, n, NULL);
}
