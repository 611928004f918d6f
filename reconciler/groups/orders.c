#include "reconciler/groups/orders.h"

#include <stdlib.h>

#include "reconciler/groups/counted.h"
#include "reconciler/groups/requests.h"
#include "reconciler/groups/told.h"
#include "reconciler/stages.h"

struct group_order {
    struct group_order *next;
    struct span group;
    int32_t from, to, max;
    struct span *ids; /* machines to be ended; NULL: the group is resized */
    uint32_t count;
    bool grows, force;
    enum group_gate why; /* machines are ended */
};

enum { ORDERS_ARENA = 4096 };

/* --- what a pass wants --- */

static void add(struct keeper *k, const struct group_order *o)
{
    struct group_order **at = &k->orders, *x = ARENA_NEW(&k->orders_arena, struct group_order);
    while (*at != NULL)
        at = &(*at)->next;
    *x = *o;
    x->next = NULL;
    *at = x;
}

static uint32_t decreased_by(const struct group_pass *decided, uint32_t group)
{
    for (uint32_t i = 0; i < decided->repairs.decreased_count; i++)
        if (decided->repairs.decreased[i].group == group)
            return (uint32_t)decided->repairs.decreased[i].decreased;
    return 0;
}

/* All machines of a group that one gate ends; they are that many. */
static int32_t take_deletions(struct pass *p, const struct group_pass *decided, uint32_t group, enum group_gate why)
{
    struct keeper *k = &p->r->keeper;
    const struct group_flags *f = &p->r->config.groups.flags;
    const struct group_repairs *r = &decided->repairs;
    struct group_order o = {.group = arena_dup(&k->orders_arena, decided->model->groups[group].spec->name), .why = why};
    o.force = why == GATE_FAILED ? f->force_delete_failed : f->force_delete_unregistered;
    o.ids = ARENA_ARRAY(&k->orders_arena, struct span, r->deleted_count);
    for (uint32_t i = 0; i < r->deleted_count; i++)
        if (r->deleted[i].group == group && r->deleted[i].why == why)
            o.ids[o.count++] = arena_dup(&k->orders_arena, r->deleted[i].id);
    if (o.count != 0)
        add(k, &o);
    return (int32_t)o.count;
}

/* And the targets after them. */
static void take_repairs(struct pass *p, const struct group_pass *decided, int32_t *targets)
{
    struct keeper *k = &p->r->keeper;
    for (uint32_t g = 0; g < decided->model->group_count; g++) {
        const struct group *x = &decided->model->groups[g];
        int32_t by = (int32_t)decreased_by(decided, g);
        targets[g] = x->target;
        for (enum group_gate why = GATE_UNREGISTERED; decided->repairs.deleted_count != 0 && why <= GATE_FAILED; why++)
            targets[g] -= take_deletions(p, decided, g, why);
        if (by != 0)
            add(k, &(struct group_order){.group = arena_dup(&k->orders_arena, x->spec->name), .from = targets[g],
                                         .to = targets[g] - by, .max = x->spec->max});
        targets[g] -= by;
    }
}

static void take_growth(struct pass *p, const struct group_pass *decided, int32_t *targets)
{
    struct keeper *k = &p->r->keeper;
    for (int for_min = 0; for_min < 2; for_min++)
        for (uint32_t i = 0; i < decided->decision_count; i++) {
            const struct group_decision *d = &decided->decisions[i];
            const struct node_group *g = decided->model->groups[d->group].spec;
            if (d->for_min_size != (bool)for_min)
                continue;
            add(k, &(struct group_order){.group = arena_dup(&k->orders_arena, g->name), .max = g->max, .grows = true,
                                         .from = targets[d->group], .to = targets[d->group] + d->delta});
            targets[d->group] += d->delta;
        }
}

static void take_triggers(struct pass *p, const struct group_pass *decided)
{
    struct keeper *k = &p->r->keeper;
    struct arena *a = &k->orders_arena;
    k->trigger_count = 0;
    k->triggers = ARENA_ARRAY(a, struct decision_object, decided->up.triggered_count + 1);
    for (uint32_t i = 0; i < decided->up.triggered_count; i++) {
        struct decision_object o = told_pod(decided->up.triggered[i]);
        if (k->trigger_count != 0 && span_eq(k->triggers[k->trigger_count - 1].uid, o.uid))
            continue; /* the next pod of a buffer */
        k->triggers[k->trigger_count++] =
            (struct decision_object){o.kind, arena_dup(a, o.ns), arena_dup(a, o.name), arena_dup(a, o.uid)};
    }
}

void orders_take(struct pass *p, const struct group_pass *decided)
{
    struct keeper *k = &p->r->keeper;
    int32_t *targets = ARENA_ARRAY(p->a, int32_t, decided->model->group_count + 1);
    orders_forget(k);
    arena_init(&k->orders_arena, ORDERS_ARENA);
    k->has_orders_arena = true;
    take_repairs(p, decided, targets);
    take_growth(p, decided, targets);
    take_triggers(p, decided);
}

bool orders_are_done(const struct keeper *k)
{
    return k->orders == NULL && !k->order_under_way;
}

void orders_forget(struct keeper *k)
{
    if (k->has_orders_arena)
        arena_release(&k->orders_arena);
    k->has_orders_arena = false;
    k->orders = NULL;
    k->triggers = NULL;
    k->trigger_count = 0;
    k->order_request = (struct span){NULL, 0};
    k->growth_failed = false;
    buf_release(&k->grown);
}

/* --- one after the other --- */

static void tell_triggered(struct reconciler *r)
{
    struct keeper *k = &r->keeper;
    if (k->grown.len != 0)
        told_triggered(r, k->triggers, k->trigger_count, buf_span(&k->grown));
}

static void drop_growth(struct keeper *k)
{
    for (struct group_order **at = &k->orders; *at != NULL;)
        if ((*at)->grows)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

static void on_grown(struct reconciler *r, struct call *c, const struct group_order *o)
{
    struct keeper *k = &r->keeper;
    struct group_growth_told g = {o->group, o->from, o->to, o->max};
    if (c->err.kind == ERR_NONE) {
        told_grew(r, &g);
        counted_grew(r, o->to - o->from);
        group_memory_grew(k->memory, o->group, o->to - o->from, r->wall);
        buf_addf(&k->grown, "%s{%.*s %d->%d (max: %d)}", k->grown.len != 0 ? " " : "", SPAN_ARG(o->group), o->from, o->to,
                 o->max);
        return;
    }
    told_not_grown(r, &g, &c->err);
    counted_failed(r, "cloudProviderError");
    counted_error(r, "cloudProviderError");
    group_memory_failed(k->memory, &r->config.groups.flags, o->group, SPAN("cloudProviderError"), span_of(c->err.msg), r->wall);
    drop_growth(k);
    k->growth_failed = true;
    k->woken = true; /* another group may do */
}

static struct span ids_text(struct arena *a, const struct group_order *o)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < o->count; i++)
        buf_addf(&out, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(o->ids[i]));
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

static void end_of_machines(struct reconciler *r, struct call *c, const struct group_order *o)
{
    told_repaired(r, o->group, o->why, ids_text(&c->arena, o), &c->err);
    if (c->err.kind == ERR_NONE && o->why == GATE_UNREGISTERED)
        count(r, MEASURE_GROUPS_UNREGISTERED, o->count, (struct span){0}, (struct span){0}, (struct span){0});
}

/* The order stays first until it is answered. */
static void on_done(struct reconciler *r, struct call *c)
{
    struct keeper *k = &r->keeper;
    struct group_order *o = k->orders;
    k->order_under_way = false;
    if (o == NULL || c->err.kind == ERR_CANCELLED)
        return; /* we do not lead any more, and all of it is forgotten */
    k->orders = o->next;
    if (o->grows)
        on_grown(r, c, o);
    else if (o->ids != NULL)
        end_of_machines(r, c, o);
    else
        told_withdrawn(r, o->group, o->from - o->to, &c->err);
    if (k->orders != NULL)
        return;
    tell_triggered(r);
    requests_grown(r, !k->growth_failed);
}

void orders_run(struct pass *p)
{
    struct keeper *k = &p->r->keeper;
    struct group_provider *g = p->r->config.groups.provider;
    const struct group_order *o = k->orders;
    if (o == NULL || k->order_under_way)
        return;
    struct call *c = call_new(p->r, NULL, on_done);
    call_begin_group(c, g, o->ids != NULL ? GROUP_REMOVE : GROUP_RESIZE);
    k->order_under_way = true;
    if (o->grows)
        told_grows(p->r, &(struct group_growth_told){o->group, o->from, o->to, o->max});
    if (o->ids != NULL)
        c->id = g->ops->remove(g, o->group, o->ids, o->count, o->force, call_group_done, c);
    else
        c->id = g->ops->resize(g, o->group, o->from, o->to, call_group_done, c);
}
