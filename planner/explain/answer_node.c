#include "planner/explain/lines.h"

#include <math.h>

enum { HOURS_A_MONTH = 730 };

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

static void add_removal(struct lines *l, uint32_t row)
{
    const struct world *w = l->p->world;
    double price = w->nodes[row].price;
    uint32_t pods = movable(w, row);
    if (!trial_is_gone(l->p->trial, row) && w->nodes[row].claim != NULL && !isnan(price))
        lines_addf(l, "removing it", "would save $%.4f/h ($%.0f a month) and move %u pod%s", price,
                   price * HOURS_A_MONTH, pods, pods == 1 ? "" : "s");
}

void answer_node(struct plan *p, uint32_t row, struct span keeps, struct explanation *out)
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
    add_removal(&l, row);
    lines_end(&l, true, sentence, out);
}
