#include "server/diff/side.h"

#include <stdlib.h>

#include "base/decode.h"
#include "planner/plan/plan_workloads.h"

/* --- a plan, as it is written --- */

struct written_claim {
    struct span pool;
    struct spans types, pods;
    double price;
};

struct written_node {
    struct spans pods;
};

struct written_pod {
    struct span pod;
};

struct written_workload {
    struct pod_workload who;
    double price;
    bool has_price;
};

struct written_plan {
    struct {
        struct written_claim *items;
        uint32_t count;
    } claims;
    struct {
        struct written_node *items;
        uint32_t count;
    } nodes;
    struct {
        struct written_pod *items;
        uint32_t count;
    } unschedulable;
    struct {
        struct written_workload *items;
        uint32_t count;
    } workloads;
    struct written_cost {
        double before, after;
        bool has_before, has_after;
    } cost;
};

static const struct field claim_fields[] = {
    FIELD(struct written_claim, pool, FIELD_SPAN, "nodePool"),
    FIELD(struct written_claim, types, FIELD_SPANS, "instanceTypes"),
    FIELD(struct written_claim, pods, FIELD_SPANS, "pods"),
    FIELD(struct written_claim, price, FIELD_DOUBLE, "price"),
};
static const struct schema written_claim_schema = SCHEMA(struct written_claim, "nodeClaim", claim_fields);

static const struct field node_fields[] = {FIELD(struct written_node, pods, FIELD_SPANS, "pods")};
static const struct schema written_node_schema = SCHEMA(struct written_node, "existingNode", node_fields);

static const struct field pod_fields[] = {FIELD(struct written_pod, pod, FIELD_SPAN, "pod")};
static const struct schema written_pod_schema = SCHEMA(struct written_pod, "pod", pod_fields);

static const struct field workload_fields[] = {
    FIELD(struct written_workload, who.kind, FIELD_SPAN, "kind"),
    FIELD(struct written_workload, who.ns, FIELD_SPAN, "namespace"),
    FIELD(struct written_workload, who.name, FIELD_SPAN, "name"),
    FIELD(struct written_workload, price, FIELD_DOUBLE, "pricePerHour", FIELD_HAS(struct written_workload, has_price)),
};
static const struct schema written_workload_schema = SCHEMA(struct written_workload, "workload", workload_fields);

static const struct field cost_fields[] = {
    FIELD(struct written_cost, before, FIELD_DOUBLE, "before", FIELD_HAS(struct written_cost, has_before)),
    FIELD(struct written_cost, after, FIELD_DOUBLE, "after", FIELD_HAS(struct written_cost, has_after)),
};
static const struct schema written_cost_schema = SCHEMA(struct written_cost, "cost", cost_fields);

static const struct field plan_fields[] = {
    FIELD(struct written_plan, claims, FIELD_LIST, "nodeClaims", .schema = &written_claim_schema),
    FIELD(struct written_plan, nodes, FIELD_LIST, "existingNodes", .schema = &written_node_schema),
    FIELD(struct written_plan, unschedulable, FIELD_LIST, "unschedulable", .schema = &written_pod_schema),
    FIELD(struct written_plan, workloads, FIELD_LIST, "workloads", .schema = &written_workload_schema),
    FIELD(struct written_plan, cost, FIELD_OBJECT, "cost", .schema = &written_cost_schema),
};
static const struct schema written_plan_schema = SCHEMA(struct written_plan, "Plan", plan_fields);

/* --- numbers with names --- */

static void add(struct arena *a, struct diff_side *s, enum diff_section section, struct span name, double value)
{
    struct diff_item item = {section, name, value};
    ARENA_PUSH(a, s->items, s->count, s->capacity, item);
}

static int by_name(const void *a, const void *b)
{
    const struct diff_item *x = a, *y = b;
    return x->section != y->section ? (int)x->section - (int)y->section : span_cmp(x->name, y->name);
}

/* Those of one name become one: their sum. */
static void add_up(struct diff_side *s)
{
    size_t kept = 0;
    if (s->count != 0)
        qsort(s->items, s->count, sizeof(*s->items), by_name);
    for (size_t i = 0; i < s->count; i++)
        if (kept != 0 && by_name(&s->items[kept - 1], &s->items[i]) == 0)
            s->items[kept - 1].value += s->items[i].value;
        else
            s->items[kept++] = s->items[i];
    s->count = kept;
}

static void add_claims(struct arena *a, const struct written_plan *p, struct diff_side *out)
{
    add(a, out, DIFF_PODS, SPAN("on new nodes"), 0);
    for (uint32_t i = 0; i < p->claims.count; i++) {
        const struct written_claim *c = &p->claims.items[i];
        add(a, out, DIFF_PODS, SPAN("on new nodes"), c->pods.count);
        add(a, out, DIFF_NODES, c->pool, 1);
        if (c->types.count != 0)
            add(a, out, DIFF_TYPES, c->types.items[0], 1);
    }
}

static void add_workload(struct arena *a, const struct written_workload *w, struct diff_side *out)
{
    if (w->has_price)
        add(a, out, DIFF_WORKLOADS, plan_workload_name(a, &w->who), w->price);
}

bool diff_side_of_plan(struct arena *a, struct doc_value plan, struct diff_side *out, struct err *err)
{
    struct written_plan p;
    if (!decode_one(a, NULL, plan, &written_plan_schema, &p, err))
        return false;
    if (p.cost.has_before)
        add(a, out, DIFF_COST, SPAN("now"), p.cost.before);
    if (p.cost.has_after)
        add(a, out, DIFF_COST, SPAN("with the plan"), p.cost.after);
    add_claims(a, &p, out);
    add(a, out, DIFF_PODS, SPAN("on nodes that exist"), 0);
    for (uint32_t i = 0; i < p.nodes.count; i++)
        add(a, out, DIFF_PODS, SPAN("on nodes that exist"), p.nodes.items[i].pods.count);
    add(a, out, DIFF_PODS, SPAN("without a place"), p.unschedulable.count);
    for (uint32_t i = 0; i < p.workloads.count; i++)
        add_workload(a, &p.workloads.items[i], out);
    add_up(out);
    return true;
}

/* --- a catalogue --- */

static struct span capacity_of(const struct offering *o, const struct symtab *syms)
{
    const struct requirement *r = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
    return r != NULL && !r->complement && r->count == 1 ? sym_text(syms, r->values[0]) : SPAN("any");
}

static void add_offer(struct arena *a, struct diff_side *out, size_t first, struct span name, double price)
{
    for (size_t i = first; i < out->count; i++)
        if (span_eq(out->items[i].name, name)) {
            out->items[i].value = price < out->items[i].value ? price : out->items[i].value;
            return;
        }
    add(a, out, DIFF_OFFERS, name, price);
}

void diff_side_of_types(struct arena *a, const struct catalogue *c, const struct symtab *syms, struct diff_side *out)
{
    for (uint32_t t = 0; t < c->count; t++) {
        const struct instance_type *type = &c->items[t];
        size_t first = out->count;
        for (uint32_t i = 0; i < type->offering_count; i++)
            if (offering_launchable(&type->offerings[i], syms))
                add_offer(a, out, first,
                          arena_printf(a, "%.*s %.*s", SPAN_ARG(type->name), SPAN_ARG(capacity_of(&type->offerings[i], syms))),
                          type->offerings[i].price);
    }
    add_up(out);
}
