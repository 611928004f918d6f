/* Nodes that are not well, by the provider's policies: the one that has waited longest for its importance first, unless
 * so many of its pool are unwell that the nodes can hardly be the cause (spec disruption 8.10, 16.3). */
#include "planner/columns.h"
#include "planner/disruption/methods.h"

#include <stdlib.h>

enum { REBOOTS_MOST = 2, UNHEALTHY_PERCENT = 20 };

struct patient {
    struct candidate c;
    struct repair_answer answer;
    bool escalated; /* rebooted often enough: replaced instead */
};

struct patients {
    struct patient *items;
    uint32_t count;
};

static uint32_t reboots_of(const struct disruption_options *o, uint32_t row)
{
    for (uint32_t i = 0; i < o->reboot_count; i++)
        if (o->reboots[i].row == row)
            return o->reboots[i].reboots;
    return 0;
}

static const struct repair_policies *policies_of(const struct disruption_options *o, const struct node_claim *c)
{
    for (uint32_t i = 0; c != NULL && i < o->class_repair_count; i++)
        if (span_eq(o->class_repairs[i].kind, c->node_class.kind) && span_eq(o->class_repairs[i].group, c->node_class.group))
            return o->class_repairs[i].policies;
    return o->repair;
}

static bool may_be_repaired(struct disrupting *d, struct patient *p)
{
    const struct world_node *n = world_node_at(d->w, p->c.row);
    const struct repair_policies *policies = policies_of(d->o, n->claim);
    if (policies == NULL)
        return false;
    p->answer = repair_resolve(policies, n->node, n->claim, d->facts.now);
    if (!p->answer.due)
        return false;
    if (p->answer.action == REPAIR_REBOOT && reboots_of(d->o, p->c.row) >= REBOOTS_MOST) {
        p->answer.action = REPAIR_REPLACE;
        p->escalated = true;
    }
    if (span_eq(annotations_get(n->node->meta.annotations, SYM_DO_NOT_REPAIR), SPAN("true"))) {
        note_candidate(d, METHOD_REPAIR, NOTE_BLOCKED, &p->c,
                       SPAN("repair is blocked through the \"karpenter.sh/do-not-repair\" annotation"));
        return false;
    }
    if (p->c.has_pod_blockers && !p->answer.has_grace && !n->claim->has_grace) {
        note_candidate(d, METHOD_REPAIR, NOTE_BLOCKED, &p->c,
                       SPAN("repair requires a termination grace period to bypass blocking pods"));
        return false;
    }
    return true;
}

static int patient_order(const void *a, const void *b, void *w)
{
    const struct patient *x = a, *y = b;
    if (x->answer.score != y->answer.score)
        return x->answer.score > y->answer.score ? -1 : 1;
    if (x->c.disruption_cost != y->c.disruption_cost)
        return x->c.disruption_cost < y->c.disruption_cost ? -1 : 1;
    return span_cmp(world_node_at(w, x->c.row)->name, world_node_at(w, y->c.row)->name);
}

static struct patients find_patients(struct disrupting *d)
{
    struct candidates list = candidates_of(d, DISRUPT_REPAIR, METHOD_REPAIR);
    struct patients out = {ARENA_ARRAY(&d->out->arena, struct patient, list.count), 0};
    for (uint32_t i = 0; i < list.count; i++) {
        struct patient p = {.c = list.items[i]};
        if (may_be_repaired(d, &p))
            out.items[out.count++] = p;
    }
    if (out.count != 0)
        qsort_r(out.items, out.count, sizeof(*out.items), patient_order, (void *)d->w);
    return out;
}

/* Of all Nodes that carry the pool's label, whatever their state. */
static bool is_tripped(const struct disrupting *d, const struct node_pool *pool)
{
    sym name = sym_find(d->w->syms, pool->meta.name);
    uint32_t nodes = 0, unhealthy = 0;
    for (uint32_t row = 0; row < d->w->node_count; row++) {
        const struct node *n = d->w->nodes[row].node;
        if (n == NULL || sym_pairs_get(n->meta.labels, SYM_NODEPOOL) != name)
            continue;
        nodes++;
        unhealthy += repair_is_unhealthy(d->o->repair, n);
    }
    return unhealthy > (nodes * UNHEALTHY_PERCENT + 99) / 100;
}

static bool is_initialized(const struct disrupting *d, const struct candidate *c)
{
    return node_is_initialized(d->w->nodes[c->row].node);
}

static void bound_drain(const struct disrupting *d, const struct patient *p, struct disruption_command *c)
{
    const struct node_claim *claim = d->w->nodes[p->c.row].claim;
    c->has_grace = p->answer.has_grace;
    c->grace = p->answer.grace;
    if (c->has_grace && claim->has_grace && claim->grace < c->grace)
        c->grace = claim->grace;
    c->escalated = p->escalated;
    c->condition = p->answer.condition_type;
    c->condition_reason = p->answer.reason;
}

static void reboot(struct disrupting *d, const struct patient *p)
{
    struct disruption_command c = command_of(d, METHOD_REPAIR, &p->c, 1);
    c.decision = DECIDE_REBOOT;
    c.savings = 0;
    bound_drain(d, p, &c);
    command_add(d, c);
}

static void repair_static(struct disrupting *d, const struct moving_how *how, const struct patient *p)
{
    struct static_pool pool = static_pool_of(d, candidate_pool(d, &p->c), how->terminate_first);
    uint32_t before = d->out->command_count;
    if (pool.active + pool.pending > pool.pool->replicas)
        return;
    if (static_stage(d, how, &pool, &p->c, 1, 1) != 0)
        bound_drain(d, p, (struct disruption_command *)&d->out->commands[before]);
}

/* False: the pass ends. */
static bool repair(struct disrupting *d, const struct patient *p)
{
    const struct moving_how how = {.method = METHOD_REPAIR, .why = REMOVAL_REPAIR,
                                   .terminate_first = d->o->terminate_first_repair};
    struct disruption_command c;
    if (p->answer.action == REPAIR_REBOOT) {
        reboot(d, p);
        return true;
    }
    if (p->c.pool->has_replicas) {
        repair_static(d, &how, p);
        return true;
    }
    enum moving m = move_one(d, &how, &p->c, &c);
    if (m == MOVING_DECIDED) {
        bound_drain(d, p, &c);
        command_add(d, c);
    }
    return m != MOVING_ENDS;
}

bool repair_decide(struct disrupting *d)
{
    struct patients list = find_patients(d);
    if (list.count == 0)
        return true;
    struct allowances left = allowances_of(d, METHOD_REPAIR);
    for (uint32_t i = 0; i < list.count && d->out->command_count == 0; i++) {
        const struct patient *p = &list.items[i];
        if (is_tripped(d, p->c.pool)) {
            note_candidate(d, METHOD_REPAIR, NOTE_REPAIR_BLOCKED, &p->c,
                           arena_printf(&d->out->arena, "more than 20%% of nodes in nodepool \"%.*s\" are unhealthy",
                                        SPAN_ARG(p->c.pool->meta.name)));
        } else if (is_initialized(d, &p->c) && left.items[candidate_pool(d, &p->c)].left == 0) {
            constrained_add(d, METHOD_REPAIR);
        } else if (!repair(d, p)) {
            return false;
        }
    }
    return true;
}
