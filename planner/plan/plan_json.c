#include "planner/plan/plan_json.h"

#include <math.h>
#include <stdio.h>

#include "planner/plan/plan_workloads.h"

static void put_key(struct json *j, const char *key)
{
    json_key(j, span_of(key));
}

static void put_price(struct json *j, const char *key, double price)
{
    if (isnan(price))
        return;
    put_key(j, key);
    json_double(j, price);
}

static void put_pod(struct json *j, const struct pod *p)
{
    char text[600];
    int n = snprintf(text, sizeof(text), "%.*s/%.*s", SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name));
    json_text(j, (struct span){text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1});
}

static void put_pods(struct json *j, const struct pod *const *pods, uint32_t count)
{
    json_put_array(j, "pods");
    for (uint32_t i = 0; i < count; i++)
        put_pod(j, pods[i]);
    json_array_end(j);
}

static void put_requirements(struct json *j, struct symtab *syms, const struct requirements *r)
{
    struct arena a;
    arena_init(&a, 0);
    struct expressions list = requirements_expressions(&a, syms, r);
    json_put_array(j, "requirements");
    for (uint32_t i = 0; i < list.count; i++) {
        const struct expression *e = &list.items[i];
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, e->key));
        json_put_string(j, "operator", span_of(op_name(e->op)));
        if (e->values.count != 0) {
            json_put_array(j, "values");
            for (uint32_t v = 0; v < e->values.count; v++)
                json_text(j, sym_text(syms, e->values.items[v]));
            json_array_end(j);
        }
        if (e->min_values != 0)
            json_put_int(j, "minValues", e->min_values);
        json_object_end(j);
    }
    json_array_end(j);
    arena_release(&a);
}

static void put_taints(struct json *j, const struct symtab *syms, struct taints taints)
{
    if (taints.count == 0)
        return;
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, t->key));
        if (t->value != SYM_NONE && t->value != SYM_EMPTY)
            json_put_string(j, "value", sym_text(syms, t->value));
        json_put_string(j, "effect", span_of(taint_effect_name(t->effect)));
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_requests(struct json *j, const struct world *w, const struct symtab *syms, struct resources r)
{
    json_put_object(j, "requests");
    for (uint32_t c = 0; c < world_resource_count(w); c++) {
        sym name = world_resource_name(w, c);
        amount value = resources_get(r, name);
        if (value == 0)
            continue;
        struct buf b = {0};
        quantity_put(&b, sym_text(syms, name), value);
        json_key(j, sym_text(syms, name));
        json_text(j, buf_span(&b));
        buf_release(&b);
    }
    json_object_end(j);
}

void plan_json_claim(struct json *j, const struct world *w, struct symtab *syms, const struct plan_claim *c)
{
    json_object_begin(j);
    json_put_string(j, "name", c->name);
    json_put_string(j, "nodePool", c->pool->meta.name);
    put_requirements(j, syms, &c->requirements);
    json_put_object(j, "labels");
    for (uint32_t i = 0; i < c->labels.count; i++) {
        json_key(j, sym_text(syms, c->labels.items[i].key));
        json_text(j, sym_text(syms, c->labels.items[i].value));
    }
    json_object_end(j);
    json_put_object(j, "annotations");
    for (uint32_t i = 0; i < c->annotations.count; i++) {
        json_key(j, c->annotations.items[i].key);
        json_text(j, c->annotations.items[i].value);
    }
    json_object_end(j);
    put_taints(j, syms, c->pool->taints);
    json_put_array(j, "instanceTypes");
    for (uint32_t i = 0; i < c->type_count; i++)
        json_text(j, c->types[i]->name);
    json_array_end(j);
    put_price(j, "price", c->price);
    put_requests(j, w, syms, c->requests);
    put_pods(j, c->pods, c->pod_count);
    json_object_end(j);
}

static void put_unschedulable(struct json *j, const struct plan_unschedulable *u)
{
    struct arena a;
    arena_init(&a, 0);
    json_object_begin(j);
    put_key(j, "pod");
    put_pod(j, u->pod);
    json_put_string(j, "reason", span_of(unschedulable_name(u->reason)));
    json_put_string(j, "message", why_text(&a, &u->why));
    if (u->detail_count != 0) {
        json_put_array(j, "details");
        for (uint32_t i = 0; i < u->detail_count; i++)
            json_text(j, arena_printf(&a, "%.*s: %.*s", SPAN_ARG(u->details[i].about),
                                      SPAN_ARG(u->details[i].text)));
        json_array_end(j);
    }
    json_object_end(j);
    arena_release(&a);
}

static void put_warnings(struct json *j, const struct plan *p, const struct span *aside,
                         size_t aside_count)
{
    uint32_t own = p != NULL ? p->warning_count : 0;
    if (aside_count == 0 && own == 0)
        return;
    json_put_array(j, "warnings");
    for (size_t i = 0; i < aside_count; i++)
        json_text(j, aside[i]);
    for (uint32_t i = 0; i < own; i++)
        json_text(j, p->warnings[i]);
    json_array_end(j);
}

static void put_placed(struct json *j, const struct plan *p)
{
    json_put_array(j, "nodeClaims");
    for (uint32_t i = 0; i < p->claim_count; i++)
        plan_json_claim(j, p->world, p->syms, &p->claims[i]);
    json_array_end(j);
    json_put_array(j, "existingNodes");
    for (uint32_t i = 0; i < p->node_count; i++) {
        json_object_begin(j);
        json_put_string(j, "name", world_node_at(p->world, p->nodes[i].row)->name);
        put_pods(j, p->nodes[i].pods, p->nodes[i].pod_count);
        json_object_end(j);
    }
    json_array_end(j);
    json_put_array(j, "unschedulable");
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        put_unschedulable(j, &p->unschedulable[i]);
    json_array_end(j);
}

static void put_workload(struct json *j, const struct plan_workload *w)
{
    json_object_begin(j);
    json_put_string(j, "kind", w->who.kind);
    json_put_string(j, "namespace", w->who.ns);
    if (w->who.name.len != 0)
        json_put_string(j, "name", w->who.name);
    json_put_int(j, "pods", w->pods);
    json_put_object(j, "bought");
    for (uint32_t i = 0; i < w->part_count; i++) {
        json_key(j, w->parts[i].pool);
        json_int(j, w->parts[i].pods);
    }
    json_object_end(j);
    json_put_int(j, "existing", w->existing);
    json_put_int(j, "unschedulable", w->left);
    put_price(j, "pricePerHour", w->price);
    json_object_end(j);
}

static void put_workloads(struct json *j, const struct plan *p)
{
    struct arena a;
    const struct plan_workload *workloads;
    arena_init(&a, 0);
    uint32_t n = plan_workloads(&a, p, &workloads);
    json_put_array(j, "workloads");
    for (uint32_t i = 0; i < n; i++)
        put_workload(j, &workloads[i]);
    json_array_end(j);
    arena_release(&a);
}

void plan_json_open(struct json *j, const struct plan *p)
{
    json_object_begin(j);
    json_put_string(j, "apiVersion", SPAN("stowage.dev/v1alpha1"));
    json_put_string(j, "kind", SPAN("Plan"));
    if (p != NULL)
        put_placed(j, p);
}

static void put_costs(struct json *j, const struct plan *p)
{
    put_workloads(j, p);
    json_put_object(j, "cost");
    put_price(j, "before", p->cost_before);
    put_price(j, "after", p->cost_after);
    put_price(j, "lowerBound", p->lower_bound);
    if (p->node_costs > 0 && !isnan(p->cost_after))
        put_price(j, "nodeCosts", p->node_costs);
    json_object_end(j);
    json_put_object(j, "search");
    json_put_int(j, "steps", (int64_t)p->steps);
    json_put_bool(j, "complete", p->complete);
    json_object_end(j);
}

void plan_json_close(struct json *j, const struct plan *p, const struct span *aside, size_t aside_count)
{
    if (p != NULL)
        put_costs(j, p);
    put_warnings(j, p, aside, aside_count);
    json_object_end(j);
}

void plan_json(struct json *j, const struct plan *p, const struct span *aside, size_t aside_count)
{
    plan_json_open(j, p);
    plan_json_close(j, p, aside, aside_count);
}
