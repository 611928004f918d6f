#include "kube/pod_wire.h"

#include <stdlib.h>

static bool is_resizable(struct span name) /* what pod-level resources may name */
{
    return span_eq(name, SPAN("cpu")) || span_eq(name, SPAN("memory")) ||
           span_has_prefix(name, SPAN("hugepages-"));
}

static void fill_from_limits(struct arena *a, struct containers c)
{
    for (uint32_t i = 0; i < c.count; i++) {
        struct container *one = &c.items[i];
        for (uint32_t k = 0; k < one->limits.count; k++) {
            bool there = false;
            for (uint32_t r = 0; r < one->requests.count; r++)
                there |= one->requests.items[r].name == one->limits.items[k].name;
            if (!there)
                *resources_at(a, &one->requests, one->limits.items[k].name) =
                    one->limits.items[k].value;
        }
    }
}

void pod_wire_default(struct arena *a, struct pod_wire *w)
{
    fill_from_limits(a, w->containers);
    fill_from_limits(a, w->init_containers);
}

static bool resize_infeasible(const struct pod_wire *w)
{
    const struct condition *c = conditions_find(w->conditions, SPAN("PodResizePending"));
    return c != NULL && span_eq(c->reason, SPAN("Infeasible"));
}

static const struct container_status *status_of(struct container_statuses list, struct span name)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (span_eq(list.items[i].name, name))
            return list.items + i;
    return NULL;
}

/* What one container holds: its spec, or more while a resize is under way. */
static struct resources requests_of(struct arena *a, const struct pod_wire *w,
                                    const struct container *c, struct container_statuses statuses)
{
    const struct container_status *s = status_of(statuses, c->name);
    if (s == NULL || !s->has_resources)
        return c->requests;
    struct resources r = {NULL, 0};
    if (!resize_infeasible(w))
        r = resources_dup(a, c->requests);
    resources_max(a, &r, s->requests);
    resources_max(a, &r, s->allocated);
    return r;
}

/* Init containers run one after the other beside the sidecars started before them. */
static void count_init(struct arena *a, const struct pod_wire *w, struct resources *sum,
                       struct resources *most)
{
    struct resources sidecars = {NULL, 0};
    for (uint32_t i = 0; i < w->init_containers.count; i++) {
        const struct container *c = &w->init_containers.items[i];
        struct resources use;
        if (c->restartable) {
            struct resources r = requests_of(a, w, c, w->init_statuses);
            resources_add(a, sum, r);
            resources_add(a, &sidecars, r);
            use = sidecars;
        } else {
            use = resources_dup(a, sidecars);
            resources_add(a, &use, c->requests);
        }
        resources_max(a, most, use);
    }
}

static int by_name(const void *x, const void *y)
{
    sym a = ((const struct resource *)x)->name, b = ((const struct resource *)y)->name;
    return a < b ? -1 : a > b;
}

struct resources pod_wire_requests(struct arena *a, const struct pod_wire *w,
                                   const struct symtab *syms)
{
    struct resources total = {NULL, 0}, most = {NULL, 0};
    for (uint32_t i = 0; i < w->containers.count; i++)
        resources_add(a, &total, requests_of(a, w, &w->containers.items[i], w->statuses));
    count_init(a, w, &total, &most);
    resources_max(a, &total, most);
    for (uint32_t i = 0; i < w->pod_level.count; i++)
        if (is_resizable(sym_text(syms, w->pod_level.items[i].name)))
            *resources_at(a, &total, w->pod_level.items[i].name) = w->pod_level.items[i].value;
    resources_add(a, &total, w->overhead);
    uint32_t n = 0;
    for (uint32_t i = 0; i < total.count; i++)
        if (total.items[i].value != 0)
            total.items[n++] = total.items[i];
    total.count = n;
    if (n > 1)
        qsort(total.items, n, sizeof(*total.items), by_name);
    return total;
}

static struct containers limits_as_requests(struct arena *a, struct containers list)
{
    struct containers out = {ARENA_ARRAY(a, struct container, list.count), list.count};
    for (uint32_t i = 0; i < list.count; i++)
        out.items[i] = (struct container){.restartable = list.items[i].restartable,
                                          .requests = list.items[i].limits};
    return out;
}

static bool has_limits(struct containers list)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i].limits.count != 0)
            return true;
    return false;
}

struct resources pod_wire_limits(struct arena *a, const struct pod_wire *w,
                                 const struct symtab *syms)
{
    if (w->pod_level_limits.count == 0 && !has_limits(w->containers) &&
        !has_limits(w->init_containers))
        return (struct resources){NULL, 0};
    struct pod_wire limits = {.containers = limits_as_requests(a, w->containers),
                              .init_containers = limits_as_requests(a, w->init_containers),
                              .pod_level = w->pod_level_limits};
    struct resources out = pod_wire_requests(a, &limits, syms);
    for (uint32_t i = 0; i < out.count; i++)
        out.items[i].value =
            amount_add(out.items[i].value, resources_get(w->overhead, out.items[i].name));
    return out;
}
