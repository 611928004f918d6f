/* Nodes and NodeClaims that changed in what no row is made of: who heard what when, conditions, annotations. Their
 * row goes on with them; nothing else does. */
#include "planner/delta_inner.h"

static bool same_labels(struct sym_pairs a, struct sym_pairs b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.items, b.items, a.count * sizeof(*a.items)) == 0);
}

static bool same_resources(struct resources a, struct resources b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = a.items[i].name == b.items[i].name && a.items[i].value == b.items[i].value;
    return same;
}

static bool same_taints(struct taints a, struct taints b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = a.items[i].key == b.items[i].key && a.items[i].value == b.items[i].value &&
               a.items[i].effect == b.items[i].effect;
    return same;
}

static bool same_syms(struct syms a, struct syms b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.items, b.items, a.count * sizeof(*a.items)) == 0);
}

static bool same_expressions(struct expressions a, struct expressions b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = a.items[i].key == b.items[i].key && a.items[i].op == b.items[i].op &&
               same_syms(a.items[i].values, b.items[i].values);
    return same;
}

static bool same_node(const struct node *a, const struct node *b)
{
    return span_eq(a->provider_id, b->provider_id) && a->unschedulable == b->unschedulable &&
           same_labels(a->meta.labels, b->meta.labels) && same_taints(a->taints, b->taints) &&
           same_resources(a->allocatable, b->allocatable) && same_resources(a->capacity, b->capacity);
}

static bool is_rebooting(const struct node_claim *c)
{
    return conditions_true(c->conditions, SPAN("Rebooting"));
}

static bool same_claim(const struct node_claim *a, const struct node_claim *b)
{
    return span_eq(a->provider_id, b->provider_id) && a->node_name == b->node_name &&
           is_rebooting(a) == is_rebooting(b) && same_labels(a->meta.labels, b->meta.labels) &&
           same_taints(a->taints, b->taints) && same_taints(a->startup_taints, b->startup_taints) &&
           same_resources(a->allocatable, b->allocatable) && same_resources(a->capacity, b->capacity) &&
           same_expressions(a->requirements, b->requirements);
}

/* Whether a machine that is still to come goes by the claim itself: its requirements live as long as it does. */
static bool is_claims(const struct world_node *n)
{
    return n->stage == NODE_LAUNCHING;
}

static bool put(struct delta *d, uint32_t row, const struct world_node *now)
{
    const struct world_node *was = &d->w->nodes[row];
    if (now->stage != was->stage || now->leaving != was->leaving || !span_eq(now->name, was->name) ||
        is_claims(was))
        return false;
    delta_own_rows(d);
    struct world_node *n = &d->w->nodes[row];
    n->node = now->node;
    n->claim = now->claim;
    n->name = now->name;
    n->going = now->going;
    return true;
}

bool delta_node(struct delta *d, const struct node *node)
{
    int32_t row = world_find_node(d->w, node->meta.name);
    const struct world_node *was = row >= 0 ? &d->w->nodes[row] : NULL;
    if (was == NULL || !same_node(was->node, node))
        return false;
    struct world_node now = world_row(node, was->claim, was->name_sym, was->replaced);
    return put(d, (uint32_t)row, &now);
}

/* Whether one is replaced hangs on others, too. */
static bool same_replaced(const struct world *w, const struct node_claim *a, const struct node_claim *b)
{
    const struct condition *before = conditions_find(a->conditions, SPAN("DisruptionReason"));
    const struct condition *now = conditions_find(b->conditions, SPAN("DisruptionReason"));
    bool same_reason = before == NULL || now == NULL
                           ? before == now
                           : before->status == now->status && before->transition == now->transition;
    return (same_reason || !w->any_replace) &&
           span_eq(annotations_get(a->meta.annotations, SYM_REPLACES),
                   annotations_get(b->meta.annotations, SYM_REPLACES));
}

bool delta_claim(struct delta *d, const struct node_claim *claim)
{
    int32_t row = world_find_claim(d->w, claim->meta.name);
    const struct world_node *was = row >= 0 ? &d->w->nodes[row] : NULL;
    if (was == NULL || !same_claim(was->claim, claim) || !same_replaced(d->w, was->claim, claim))
        return false;
    struct world_node now = world_row(was->node, claim, was->name_sym, was->replaced);
    return put(d, (uint32_t)row, &now);
}
