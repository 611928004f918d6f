#include "planner/plan/plan_workloads.h"

#include <math.h>
#include <stdlib.h>

enum place { PLACE_BOUGHT, PLACE_EXISTING, PLACE_NONE };

struct placed { /* a pod */
    struct pod_workload who;
    bool alone; /* nobody controls it */
    enum place place;
    struct span pool;
    double price;
};

struct listing {
    const struct plan *plan;
    struct placed *items;
    uint32_t count;
};

static struct placed *add(struct listing *l, const struct pod *pod, enum place place)
{
    struct placed *x = &l->items[l->count++];
    *x = (struct placed){.who = pod_workload(pod, NULL, l->plan->syms), .place = place,
                         .alone = meta_controller(&pod->meta) == NULL};
    return x;
}

/* The largest part of the type that the pod asks of any resource; a pod asks for one of "pods", too. */
static double weight(const struct plan *p, const struct pod *pod, const struct instance_type *type)
{
    amount places = resources_get(type->allocatable, sym_find(p->syms, SPAN("pods")));
    double most = places > 0 ? 1.0 / (double)places : 1e-6;
    for (uint32_t i = 0; i < pod->requests.count; i++) {
        amount room = resources_get(type->allocatable, pod->requests.items[i].name);
        double part = room > 0 ? (double)pod->requests.items[i].value / (double)room : 0;
        most = part > most ? part : most;
    }
    return most;
}

static void add_claim(struct listing *l, const struct plan_claim *c)
{
    static const struct instance_type none;
    const struct instance_type *type = c->type_count != 0 ? c->types[0] : &none;
    double whole = 0;
    for (uint32_t i = 0; i < c->pod_count; i++)
        whole += weight(l->plan, c->pods[i], type);
    for (uint32_t i = 0; i < c->pod_count; i++) {
        struct placed *x = add(l, c->pods[i], PLACE_BOUGHT);
        x->pool = c->pool->meta.name;
        x->price = c->price * weight(l->plan, c->pods[i], type) / whole;
    }
}

static int by_who(const struct placed *x, const struct placed *y)
{
    int order = span_cmp(x->who.ns, y->who.ns);
    order = order != 0 ? order : span_cmp(x->who.kind, y->who.kind);
    return order != 0 || (x->alone && y->alone) ? order : span_cmp(x->who.name, y->who.name);
}

static int by_who_and_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = by_who(x, y);
    if (order == 0)
        order = (int)x->place - (int)y->place;
    if (order == 0)
        order = span_cmp(x->pool, y->pool);
    return order != 0 ? order : (x->price > y->price) - (x->price < y->price); /* so that sums come out equal */
}

/* Of `n` pods of one workload, in the order of their places. */
static struct plan_workload gather(struct arena *a, const struct placed *items, uint32_t n)
{
    struct plan_workload w = {.who = items[0].who, .pods = n};
    struct plan_workload_part *parts = ARENA_ARRAY(a, struct plan_workload_part, n);
    if (items[0].alone && n > 1)
        w.who.name = (struct span){NULL, 0};
    for (uint32_t i = 0; i < n; i++) {
        const struct placed *x = &items[i];
        w.bought += x->place == PLACE_BOUGHT;
        w.existing += x->place == PLACE_EXISTING;
        w.left += x->place == PLACE_NONE;
        w.price += x->price;
        if (x->place != PLACE_BOUGHT)
            continue;
        if (w.part_count == 0 || !span_eq(parts[w.part_count - 1].pool, x->pool))
            parts[w.part_count++] = (struct plan_workload_part){.pool = x->pool};
        parts[w.part_count - 1].pods++;
    }
    w.parts = parts;
    return w;
}

static int by_price(const void *a, const void *b)
{
    const struct plan_workload *x = a, *y = b;
    double p = isnan(x->price) ? INFINITY : x->price, q = isnan(y->price) ? INFINITY : y->price;
    if (p > q || p < q)
        return p > q ? -1 : 1;
    int order = span_cmp(x->who.ns, y->who.ns);
    order = order != 0 ? order : span_cmp(x->who.kind, y->who.kind);
    return order != 0 ? order : span_cmp(x->who.name, y->who.name);
}

uint32_t plan_workloads(struct arena *a, const struct plan *p, const struct plan_workload **out)
{
    size_t most = p->unschedulable_count;
    for (uint32_t i = 0; i < p->claim_count; i++)
        most += p->claims[i].pod_count;
    for (uint32_t i = 0; i < p->node_count; i++)
        most += p->nodes[i].pod_count;
    struct listing l = {p, ARENA_ARRAY(a, struct placed, most), 0};
    for (uint32_t i = 0; i < p->claim_count; i++)
        add_claim(&l, &p->claims[i]);
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            add(&l, p->nodes[i].pods[k], PLACE_EXISTING);
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        add(&l, p->unschedulable[i].pod, PLACE_NONE);
    if (l.count != 0)
        qsort(l.items, l.count, sizeof(*l.items), by_who_and_place);
    struct plan_workload *workloads = ARENA_ARRAY(a, struct plan_workload, l.count);
    uint32_t n = 0;
    for (uint32_t i = 0, next; i < l.count; i = next) {
        for (next = i + 1; next < l.count && by_who(&l.items[i], &l.items[next]) == 0;)
            next++;
        workloads[n++] = gather(a, &l.items[i], next - i);
    }
    if (n != 0)
        qsort(workloads, n, sizeof(*workloads), by_price);
    *out = workloads;
    return n;
}

struct span plan_workloads_of(struct arena *a, const struct plan *p, const struct pod *const *pods, uint32_t count)
{
    struct listing l = {p, ARENA_ARRAY(a, struct placed, count), 0};
    struct buf b = {0};
    for (uint32_t i = 0; i < count; i++)
        add(&l, pods[i], PLACE_EXISTING);
    if (count != 0)
        qsort(l.items, count, sizeof(*l.items), by_who_and_place);
    for (uint32_t i = 0, next; i < count; i = next) {
        const struct placed *x = &l.items[i];
        for (next = i + 1; next < count && by_who(x, &l.items[next]) == 0;)
            next++;
        buf_addf(&b, "%s", i != 0 ? ", " : "");
        if (x->alone && next - i > 1)
            buf_addf(&b, "%u pods of %.*s", next - i, SPAN_ARG(x->who.ns));
        else
            buf_addf(&b, "%.*s/%.*s", SPAN_ARG(x->who.ns), SPAN_ARG(x->who.name));
        if (!x->alone && next - i > 1)
            buf_addf(&b, " %u", next - i);
    }
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

struct span plan_workload_name(struct arena *a, const struct pod_workload *w)
{
    if (w->name.len == 0)
        return arena_printf(a, "Pods of %.*s", SPAN_ARG(w->ns));
    return arena_printf(a, "%.*s %.*s/%.*s", SPAN_ARG(w->kind), SPAN_ARG(w->ns), SPAN_ARG(w->name));
}

static void put_part(struct buf *b, const struct plan_workload *w, const char *what, struct span pool, uint32_t pods)
{
    if (pods == 0)
        return;
    buf_addf(b, "%s%s%.*s", b->len != 0 ? ", " : "", what, SPAN_ARG(pool));
    if (pods != w->pods)
        buf_addf(b, " %u", pods);
}

struct span plan_workload_where(struct arena *a, const struct plan_workload *w)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < w->part_count; i++)
        put_part(&b, w, "new ", w->parts[i].pool, w->parts[i].pods);
    put_part(&b, w, "existing", SPAN(""), w->existing);
    put_part(&b, w, "no place", SPAN(""), w->left);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
