#include "kube/pod_wire.h"

#include <stdlib.h>

static bool is_resizable(struct span name) /* what pod-level resources may name */
{
    return span_eq(name, SPAN("cpu")) || span_eq(name, SPAN("memory")) ||
           span_has_prefix(name, SPAN("hugepages-"));
}

static void fill_from_limits(struct arena *a, struct containers c)
{
    for (uint32_t i = 0; i < c.count; i++)
        resources_fill(a, &c.items[i].requests, c.items[i].limits);
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

/* --- summing up: one resource after the other, since none matters to another --- */

enum role { ROLE_APP, ROLE_SIDECAR, ROLE_INIT, ROLE_POD, ROLE_OVERHEAD };

struct use { /* of one resource, by one container or the whole pod */
    sym name;
    uint32_t order; /* as they were put */
    enum role role;
    amount value;
};

struct uses {
    struct arena *arena;
    struct use *items;
    uint32_t count, capacity;
};

static void put_uses(struct uses *u, enum role role, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        struct use x = {r.items[i].name, u->count, role, r.items[i].value};
        ARENA_PUSH(u->arena, u->items, u->count, u->capacity, x);
    }
}

static void put_containers(struct uses *u, const struct pod_wire *w)
{
    for (uint32_t i = 0; i < w->containers.count; i++)
        put_uses(u, ROLE_APP, requests_of(u->arena, w, &w->containers.items[i], w->statuses));
    for (uint32_t i = 0; i < w->init_containers.count; i++) {
        const struct container *c = &w->init_containers.items[i];
        if (c->restartable)
            put_uses(u, ROLE_SIDECAR, requests_of(u->arena, w, c, w->init_statuses));
        else
            put_uses(u, ROLE_INIT, c->requests);
    }
}

static int by_name(const void *x, const void *y)
{
    const struct use *a = x, *b = y;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Init containers run one after the other beside the sidecars started before them. One that does not ask for the
 * resource runs beside sidecars that were counted already. */
static amount sum_of(const struct use *first, const struct use *end)
{
    amount total = 0, sidecars = 0, most = 0, overhead = 0;
    bool init = false;
    for (const struct use *u = first; u != end && u->role <= ROLE_INIT; u++) {
        amount running = amount_add(sidecars, u->value);
        if (u->role != ROLE_INIT)
            total = amount_add(total, u->value);
        if (u->role == ROLE_APP)
            continue;
        if (u->role == ROLE_SIDECAR)
            sidecars = running;
        most = running > most ? running : most;
        init = true;
    }
    total = init && most > total ? most : total;
    for (const struct use *u = first; u != end; u++) {
        if (u->role == ROLE_POD)
            total = u->value;
        else if (u->role == ROLE_OVERHEAD)
            overhead = amount_add(overhead, u->value);
    }
    return amount_add(total, overhead);
}

struct resources pod_wire_requests(struct arena *a, const struct pod_wire *w,
                                   const struct symtab *syms)
{
    struct uses u = {.arena = a};
    put_containers(&u, w);
    for (uint32_t i = 0; i < w->pod_level.count; i++)
        if (is_resizable(sym_text(syms, w->pod_level.items[i].name)))
            put_uses(&u, ROLE_POD, (struct resources){&w->pod_level.items[i], 1});
    put_uses(&u, ROLE_OVERHEAD, w->overhead);
    if (u.count > 1)
        qsort(u.items, u.count, sizeof(*u.items), by_name);
    struct resources total = {ARENA_ARRAY(a, struct resource, u.count), 0};
    for (uint32_t i = 0, end; i < u.count; i = end) {
        for (end = i + 1; end < u.count && u.items[end].name == u.items[i].name;)
            end++;
        struct resource sum = {u.items[i].name, sum_of(&u.items[i], &u.items[end])};
        if (sum.value != 0)
            total.items[total.count++] = sum;
    }
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
