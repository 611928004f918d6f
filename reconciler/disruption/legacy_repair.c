/* Nodes that are not well, the former way (option --legacy-node-repair; spec disruption 16.5): the NodeClaim is deleted by
 * force once a policy that replaces has waited long enough. Budgets, annotations and what pods ask for are not looked at,
 * nor is there another node before; only when too many are unwell nothing is done. */
#include "reconciler/disruption/repair.h"
#include "reconciler/termination/drain.h"
#include "reconciler/stages.h"

enum { UNHEALTHY_PERCENT = 20, BLOCKED_MS = 5 * MS_MINUTE };

struct fault { /* what a node is deleted for */
    const struct condition *condition; /* NULL: nothing */
    wall_ms due;
};

static bool meets(const struct repair_policy *policy, const struct condition *c)
{
    return policy->action == REPAIR_REPLACE && policy->status == c->status &&
           span_eq(policy->condition_type, c->type) &&
           (policy->reason == NULL || regexp_finds(policy->reason, c->reason));
}

static bool is_unhealthy(const struct repair_policies *all, const struct node *n)
{
    for (uint32_t i = 0; i < n->conditions.count; i++)
        for (uint32_t k = 0; k < all->count; k++)
            if (meets(&all->items[k], &n->conditions.items[i]))
                return true;
    return false;
}

/* The one whose time is over first. */
static struct fault fault_of(const struct repair_policies *all, const struct node *n)
{
    struct fault out = {NULL, 0};
    for (uint32_t i = 0; i < n->conditions.count; i++)
        for (uint32_t k = 0; k < all->count; k++) {
            const struct condition *c = &n->conditions.items[i];
            wall_ms due = c->transition + all->items[k].toleration;
            if (meets(&all->items[k], c) && (out.condition == NULL || due < out.due))
                out = (struct fault){c, due};
        }
    return out;
}

/* Of the pool, or where the claim has none of the whole cluster. */
static bool too_many_unwell(const struct pass *p, const struct repair_policies *all, sym pool)
{
    uint32_t nodes = 0, unwell = 0;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node *n = p->nodes[i].node;
        if (pool != SYM_NONE && sym_pairs_get(n->meta.labels, SYM_NODEPOOL) != pool)
            continue;
        nodes++;
        unwell += is_unhealthy(all, n);
    }
    return unwell > (nodes * UNHEALTHY_PERCENT + 99) / 100;
}

static void tell_blocked(struct pass *p, const struct node_view *n, sym pool)
{
    struct decision d = {.kind = DECISION_KEEP, .warning = true, .per_hour = NAN, .reason = SPAN("NodeRepairBlocked"),
                         .note = pool != SYM_NONE ? SPAN("more than 20% nodes are unhealthy in the nodepool")
                                                  : SPAN("more then 20% nodes are unhealthy in the cluster"),
                         .about = object_of(KIND_NODE, &n->node->meta)};
    struct note_told *told = &n->memo->unrepaired;
    pass_wake(p, p->mono + BLOCKED_MS);
    if (told->hash != 0 && p->mono < told->at + BLOCKED_MS)
        return;
    *told = (struct note_told){span_hash(d.note), p->mono};
    tell_silently(p->r, d);
}

static void force_out(struct pass *p, const struct claim_view *c, struct span condition)
{
    const struct decision d = {.kind = DECISION_REMOVE, .subject = "remove", .warning = true, .per_hour = NAN,
                               .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    wall_ms said = claim_deadline(c->claim);
    if ((said == 0 || said > p->wall) && !repair_bound_kept(p, c, 0))
        return;
    struct measure also = repair_measure(p, condition, c, NULL);
    if (!c->leaving)
        claim_delete(p, c, &(struct claim_end){.why = "unhealthy", .also = &also}, &d, "it is not healthy");
}

static void run_node(struct pass *p, const struct node_view *n)
{
    struct span violations;
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    const struct repair_policies *all =
        c != NULL && c->provider != NULL ? c->provider->ops->repair(c->provider, &violations) : NULL;
    if (all == NULL)
        return;
    struct fault x = fault_of(all, n->node);
    if (x.condition == NULL)
        return;
    sym pool = sym_pairs_get(c->claim->meta.labels, SYM_NODEPOOL);
    if (x.due > p->wall)
        pass_wake_wall(p, x.due);
    else if (too_many_unwell(p, all, pool))
        tell_blocked(p, n, pool);
    else
        force_out(p, c, x.condition->type);
}

void legacy_repair_run(struct pass *p)
{
    for (uint32_t i = 0; p->r->config.options.legacy_node_repair && i < p->node_count; i++)
        run_node(p, &p->nodes[i]);
}
