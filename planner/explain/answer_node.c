#include "planner/explain/lines.h"

#include <math.h>


static void add_kind(struct lines *l, uint32_t row)
{
    static const char *const stages[] = {[NODE_UNMANAGED] = "without a NodeClaim",
                                         [NODE_LAUNCHING] = "on its way",
                                         [NODE_REGISTERED] = "not ready yet",
                                         [NODE_INITIALIZED] = "ready"};
    const struct world *w = l->p->world;
    const struct world_node *n = &w->nodes[row];
    struct buf b = {0};
    struct sym_pairs labels = world_row_labels(n);
    static const sym keys[] = {SYM_INSTANCE_TYPE, SYM_CAPACITY_TYPE, SYM_ZONE};
    buf_addf(&b, "%s", stages[n->stage]);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (sym_pairs_get(labels, keys[i]) != SYM_NONE)
            buf_addf(&b, ", %.*s", SPAN_ARG(sym_text(w->syms, sym_pairs_get(labels, keys[i]))));
    if (n->pool >= 0)
        buf_addf(&b, ", of pool %.*s", SPAN_ARG(w->pools[n->pool]->meta.name));
    if (!isnan(n->price))
        buf_addf(&b, ", $%.4f/h", n->price);
    lines_add(l, SPAN("it is"), words_take(l->p, &b));
}

static void add_room(struct lines *l, uint32_t row)
{
    const amount *left = trial_left(l->p->trial, row);
    if (trial_is_gone(l->p->trial, row))
        return;
    struct span cpu = words_amount(l->p, 0, left[0] > 0 ? left[0] : 0);
    struct span memory = words_amount(l->p, 1, left[1] > 0 ? left[1] : 0);
    lines_addf(l, "free", "%.*s and %.*s, with what is planned", SPAN_ARG(cpu), SPAN_ARG(memory));
}

static const struct plan_node *planned_on(const struct plan *p, uint32_t row)
{
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row == row)
            return &p->nodes[i];
    return NULL;
}

static uint32_t movable(const struct world *w, uint32_t row)
{
    const struct world_node *n = &w->nodes[row];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->pod_count; i++)
        count += pod_is_reschedulable(n->pods[i]);
    return count;
}

static bool was_reached(const struct plan *p)
{
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].reason == UNSCHEDULABLE_NOT_REACHED)
            return false;
    return true;
}

static void put_savings(struct buf *b, double saved, uint32_t pods, uint32_t planned)
{
    if (isnan(saved))
        buf_addf(b, "would save what is not known, since some price is not");
    else if (fabs(saved) < 0.00005)
        buf_addf(b, "would save nothing");
    else
        buf_addf(b, "would %s $%.4f/h ($%.0f a month)", saved > 0 ? "save" : "cost", fabs(saved),
                 fabs(saved) * HOURS_A_MONTH);
    buf_addf(b, " and move %u pod%s", pods, pods == 1 ? "" : "s");
    if (planned != 0)
        buf_addf(b, ", %u of which %s only planned there", planned, planned == 1 ? "is" : "are");
}

/* What `plan --remove` would come to, against the plan that keeps the node. */
static void add_removal(struct lines *l, uint32_t row, const struct plan *without)
{
    const struct plan *p = l->p, *q = without;
    const struct plan_node *planned = planned_on(p, row);
    uint32_t there = planned != NULL ? planned->pod_count : 0;
    struct buf b = {0};
    if (q == NULL || !was_reached(q))
        return;
    if (q->unschedulable_count > p->unschedulable_count) {
        uint32_t lost = q->unschedulable_count - p->unschedulable_count;
        lines_addf(l, "removing it", "would leave %u pod%s without a place", lost,
                   lost == 1 ? "" : "s");
        return;
    }
    put_savings(&b, p->cost_after - q->cost_after, movable(p->world, row) + there, there);
    if (q->claim_count > p->claim_count) {
        uint32_t more = q->claim_count - p->claim_count;
        buf_addf(&b, "; %u new node%s would be bought for that", more, more == 1 ? "" : "s");
    }
    lines_add(l, SPAN("removing it"), words_take(l->p, &b));
}

bool answer_may_remove(const struct plan *p, uint32_t row)
{
    const struct world_node *n = &p->world->nodes[row];
    return !trial_is_gone(p->trial, row) && n->claim != NULL && !isnan(n->price);
}

void answer_node(struct plan *p, uint32_t row, struct span keeps, const struct plan *without,
                 struct explanation *out)
{
    const struct world *w = p->world;
    const struct world_node *n = &w->nodes[row];
    const struct plan_node *planned = planned_on(p, row);
    struct lines l = {.p = p};
    struct span sentence;
    if (n->leaving && keeps.len != 0)
        sentence = arena_printf(&p->arena, "%.*s is leaving: %.*s.", SPAN_ARG(n->name), SPAN_ARG(keeps));
    else if (trial_is_gone(p->trial, row))
        sentence = arena_printf(&p->arena, "%.*s is leaving: its pods are planned elsewhere.",
                                SPAN_ARG(n->name));
    else if (keeps.len != 0)
        sentence = arena_printf(&p->arena, "%.*s stays: %.*s.", SPAN_ARG(n->name), SPAN_ARG(keeps));
    else
        sentence = arena_printf(&p->arena, "%.*s can be removed: nothing runs on it.",
                                SPAN_ARG(n->name));
    add_kind(&l, row);
    add_room(&l, row);
    if (n->pod_count != 0)
        lines_addf(&l, "stand there", "%u: %.*s", n->pod_count,
                   SPAN_ARG(lines_pods(p, n->pods, n->pod_count)));
    if (planned != NULL)
        lines_addf(&l, "planned there", "%u: %.*s", planned->pod_count,
                   SPAN_ARG(lines_pods(p, planned->pods, planned->pod_count)));
    add_removal(&l, row, without);
    lines_end(&l, true, sentence, out);
}
