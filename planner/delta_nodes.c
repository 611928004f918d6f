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

/* The row of before can go on as this. */
static bool goes_on(const struct world_node *was, const struct world_node *now)
{
    return now->stage == was->stage && now->leaving == was->leaving && span_eq(now->name, was->name) &&
           !is_claims(was);
}

static int32_t row_of_node(const struct world *w, const struct node *node)
{
    int32_t row = world_find_node(w, node->meta.name);
    if (row < 0 || !same_node(w->nodes[row].node, node))
        return -1;
    struct world_node now = world_row(node, w->nodes[row].claim, w->nodes[row].name_sym, w->nodes[row].replaced);
    return goes_on(&w->nodes[row], &now) ? row : -1;
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

static int32_t row_of_claim(const struct world *w, const struct node_claim *claim)
{
    int32_t row = world_find_claim(w, claim->meta.name);
    if (row < 0 || !same_claim(w->nodes[row].claim, claim) || !same_replaced(w, w->nodes[row].claim, claim))
        return -1;
    struct world_node now = world_row(w->nodes[row].node, claim, w->nodes[row].name_sym, w->nodes[row].replaced);
    return goes_on(&w->nodes[row], &now) ? row : -1;
}

static bool all_go_on(const struct world *w, const struct world_change *c)
{
    bool same = c->gone_node_count == c->node_count && c->gone_claim_count == c->claim_count &&
                c->gone_csi_node_count + c->csi_node_count == 0;
    for (size_t i = 0; i < c->node_count && same; i++)
        same = row_of_node(w, c->nodes[i]) >= 0;
    for (size_t i = 0; i < c->claim_count && same; i++)
        same = row_of_claim(w, c->claims[i]) >= 0;
    return same;
}

static void put(struct world_node *n, const struct node *node, const struct node_claim *claim)
{
    struct world_node now = world_row(node, claim, n->name_sym, n->replaced);
    n->node = now.node;
    n->claim = now.claim;
    n->name = now.name;
    n->going = now.going;
}

bool delta_news(struct delta *d, const struct world_change *c)
{
    struct world *w = d->w;
    if (!all_go_on(d->from, c))
        return false;
    if (c->node_count + c->claim_count != 0)
        delta_own_rows(d);
    for (size_t i = 0; i < c->node_count; i++) {
        struct world_node *n = &w->nodes[world_find_node(d->from, c->nodes[i]->meta.name)];
        put(n, c->nodes[i], n->claim);
    }
    for (size_t i = 0; i < c->claim_count; i++) {
        struct world_node *n = &w->nodes[world_find_claim(d->from, c->claims[i]->meta.name)];
        put(n, n->node, c->claims[i]);
    }
    return true;
}
