/* Checks go from what is known of the node to each pod on it, so that the cheap ones come first; that order is also
 * Karpenter's, and decides which of several reasons is told. */
#include "planner/disruption/candidate.h"

#include <math.h>

#include "planner/columns.h"

/* --- whether --- */

static bool is_true(const struct node *n, sym label)
{
    return sym_pairs_get(n->meta.labels, label) == SYM_TRUE;
}

static bool is_rebooting(const struct node_claim *c)
{
    return conditions_true(c->conditions, SPAN("Rebooting"));
}

/* Of a node that stands: the rest of what it says itself. Who is forgiven that it is not initialised is asked nothing
 * more of this. */
static enum blocked judge_standing(const struct blocked_facts *f)
{
    bool repair = f->class == DISRUPT_REPAIR;
    if (!node_is_initialized(f->node) && !is_true(f->node, SYM_REGISTERED))
        return BLOCKED_NOT_REGISTERED;
    if (!node_is_initialized(f->node))
        return repair ? BLOCKED_NOT : BLOCKED_NOT_INITIALIZED;
    if (f->nominated)
        return BLOCKED_NOMINATED;
    if (!repair &&
        span_eq(annotations_get(f->node->meta.annotations, SYM_DO_NOT_DISRUPT), SPAN("true")))
        return BLOCKED_DO_NOT_DISRUPT;
    return BLOCKED_NOT;
}

static enum blocked judge_node(const struct blocked_facts *f)
{
    enum blocked standing;
    if (f->queued)
        return BLOCKED_QUEUED;
    if (f->class == DISRUPT_REPAIR && f->claim != NULL && f->pool_name.len == 0)
        return BLOCKED_POOLLESS;
    if (f->claim == NULL)
        return BLOCKED_UNMANAGED;
    if (f->node == NULL)
        return BLOCKED_NO_NODE;
    if (is_rebooting(f->claim))
        return BLOCKED_REBOOTING;
    if (f->leaving)
        return BLOCKED_LEAVING;
    standing = judge_standing(f);
    if (standing != BLOCKED_NOT)
        return standing;
    if (f->has_pool)
        return BLOCKED_NOT;
    return f->pool_name.len == 0 ? BLOCKED_NO_LABEL : BLOCKED_NO_POOL;
}

static void look_at(struct blocked_looks *x, uint32_t budget)
{
    if (x != NULL)
        ARENA_PUSH(x->arena, x->budgets, x->count, x->capacity, budget);
}

/* As long as its annotation says. */
static bool is_kept(const struct blocked_facts *f, const struct pod *p)
{
    span_ms length;
    bool kept = pod_do_not_disrupt(p, f->now);
    if (!kept || f->looks == NULL || p->start_time == 0 || pod_keep(p, &length) != POD_KEEP_FOR)
        return kept;
    wall_ms end = p->start_time + length;
    if (f->looks->until == 0 || end < f->looks->until)
        f->looks->until = end;
    return kept;
}

static bool budgets_hold(const struct blocked_facts *f, const struct pod *p, struct blocked_answer *out)
{
    uint32_t at[2];
    if (!pod_is_evictable(p, f->now))
        return false;
    uint32_t matching = pod_budgets_of(f->budgets, p, at);
    for (uint32_t i = 0; i < matching; i++)
        look_at(f->looks, at[i]);
    if (matching == 0)
        return false;
    const struct disruption_budget *match = f->budgets->items[at[0]];
    if (matching == 2) { /* the eviction API refuses two */
        *out = (struct blocked_answer){
            .what = BLOCKED_POD_BUDGETS, .pod = p, .budget = match, .other = f->budgets->items[at[1]]};
        return true;
    }
    if ((match->evict_unhealthy && p->unready) || match->disruptions_allowed > 0)
        return false;
    *out = (struct blocked_answer){.what = BLOCKED_POD_BUDGET, .pod = p, .budget = match};
    return true;
}

struct blocked_answer blocked_judge_pods(const struct blocked_facts *f)
{
    struct blocked_answer x = {.what = BLOCKED_NOT};
    for (uint32_t i = 0; i < f->pod_count; i++)
        if (f->pods[i]->meta.deleted == 0 && is_kept(f, f->pods[i]))
            return (struct blocked_answer){.what = BLOCKED_POD_DO_NOT_DISRUPT, .pod = f->pods[i]};
    for (uint32_t i = 0; i < f->pod_count; i++)
        if (budgets_hold(f, f->pods[i], &x))
            return x;
    return x;
}

struct blocked_answer blocked_judge_node(const struct blocked_facts *f)
{
    return (struct blocked_answer){.what = judge_node(f), .pool_name = f->pool_name};
}

static bool waives_pods(const struct blocked_facts *f)
{
    return f->class == DISRUPT_REPAIR || (f->class == DISRUPT_EVENTUAL && f->claim->has_grace);
}

struct blocked_answer blocked_judge(const struct blocked_facts *f)
{
    struct blocked_answer x = blocked_judge_node(f);
    if (x.what == BLOCKED_NOT && !waives_pods(f))
        x = blocked_judge_pods(f);
    return x;
}

/* --- how it is said --- */

static const char *event_text(enum blocked b)
{
    static const char *const texts[BLOCKED_COUNT] = {
        [BLOCKED_POOLLESS] = "repair requires a NodePool to construct and budget a safe replacement",
        [BLOCKED_NO_NODE] = "Nodeclaim does not have an associated node",
        [BLOCKED_REBOOTING] = "Node is rebooting",
        [BLOCKED_LEAVING] = "Node is deleting or marked for deletion",
        [BLOCKED_NOT_REGISTERED] = "Node isn't initialized nor registered",
        [BLOCKED_NOT_INITIALIZED] = "Node isn't initialized",
        [BLOCKED_NOMINATED] = "Node is nominated for a pending pod",
        [BLOCKED_DO_NOT_DISRUPT] =
            "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation",
        [BLOCKED_NO_LABEL] = "Node doesn't have required label (label=karpenter.sh/nodepool)",
        [BLOCKED_NO_POOL] = "NodePool not found",
        [BLOCKED_POD_DO_NOT_DISRUPT] = "Pod has \"karpenter.sh/do-not-disrupt\" annotation",
        [BLOCKED_POD_BUDGET] = "Pdb prevents pod evictions",
        [BLOCKED_POD_BUDGETS] = "Eviction does not support multiple PDBs",
    };
    return b < BLOCKED_COUNT ? texts[b] : NULL;
}

static struct span full_name(struct arena *a, const struct meta *m)
{
    return arena_printf(a, "%.*s/%.*s", SPAN_ARG(m->ns), SPAN_ARG(m->name));
}

/* Karpenter names the budget alone; who is to do something about it has to know for whom it stands in the way. */
static struct span held_pod(struct arena *a, const struct pod *p)
{
    struct span pod = full_name(a, &p->meta);
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL)
        return arena_printf(a, "Pod=%.*s", SPAN_ARG(pod));
    struct span kind = o->kind < SYM_WELLKNOWN_END ? wellknown_text[o->kind - 1] : SPAN("Owner"); /* somebody's own kind */
    return arena_printf(a, "Pod=%.*s, %.*s=%.*s", SPAN_ARG(pod), SPAN_ARG(kind), SPAN_ARG(o->name));
}

struct span blocked_event(struct arena *a, const struct blocked_answer *x)
{
    const char *text = event_text(x->what);
    if (text == NULL)
        return (struct span){0};
    if (x->what == BLOCKED_NO_POOL)
        return arena_printf(a, "%s (NodePool=%.*s)", text, SPAN_ARG(x->pool_name));
    if (x->other != NULL && x->budget != NULL)
        return arena_printf(a, "%s (PodDisruptionBudget(s)=[%.*s %.*s], %.*s)", text,
                            SPAN_ARG(full_name(a, &x->budget->meta)), SPAN_ARG(full_name(a, &x->other->meta)),
                            SPAN_ARG(held_pod(a, x->pod)));
    if (x->budget != NULL)
        return arena_printf(a, "%s (PodDisruptionBudget=[%.*s], %.*s)", text,
                            SPAN_ARG(full_name(a, &x->budget->meta)), SPAN_ARG(held_pod(a, x->pod)));
    if (x->pod != NULL)
        return arena_printf(a, "%s (Pod=%.*s)", text, SPAN_ARG(full_name(a, &x->pod->meta)));
    return span_of(text);
}

struct span pool_disabled_event(struct arena *a, struct span pool)
{
    return arena_printf(a, "NodePool \"%.*s\" has consolidation disabled", SPAN_ARG(pool));
}

/* --- what it costs --- */

/* One that is not of 32 bits, or no whole number, counts as none. */
static double stated_cost(const struct pod *p, bool deletion_cost_ignored)
{
    int64_t value;
    struct span text = annotations_get(p->meta.annotations, SYM_DISRUPTION_COST);
    if (text.ptr == NULL && !deletion_cost_ignored)
        text = annotations_get(p->meta.annotations, SYM_POD_DELETION_COST);
    if (!span_int64(text, &value) || value < INT32_MIN || value > INT32_MAX)
        return 0;
    return (double)value;
}

double pod_eviction_cost(const struct pod *p, bool deletion_cost_ignored)
{
    double cost = 1.0 + stated_cost(p, deletion_cost_ignored) / 0x1p27 + (double)p->priority / 0x1p25;
    return fmax(-10.0, fmin(10.0, cost));
}

double claim_life_left(const struct node_claim *c, wall_ms now)
{
    if (!c->has_expire_after)
        return 1;
    if (c->expire_after <= 0)
        return 0;
    double left = (double)(c->expire_after - (now - c->meta.created)) / (double)c->expire_after;
    return fmax(0.0, fmin(1.0, left));
}

static void add_pods(const struct world_node *n, const struct candidate_facts *f, struct candidate *c)
{
    double all = 0;
    c->reschedule_cost = 1;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        double cost = pod_eviction_cost(n->pods[i], f->deletion_cost_ignored);
        all += cost;
        if (!pod_is_reschedulable(n->pods[i]))
            continue;
        c->reschedulable++;
        c->reschedule_cost += fmax(0.0, cost);
    }
    c->disruption_cost = all * claim_life_left(n->claim, f->now);
}

static double known_price(const struct world *w, const struct world_node *n, const struct instance_type *t)
{
    double price = world_row_offer(w, n, t);
    return isnan(price) ? 0 : price;
}

/* --- candidates --- */

bool pool_has_types(const struct world *w, const struct node_pool *p)
{
    for (uint32_t i = 0; i < w->types.count; i++)
        if (instance_type_offered(types_at(&w->types, i), p->meta.name))
            return true;
    return false;
}

static bool is_in(const uint64_t *rows, uint32_t row)
{
    return rows != NULL && bits_has(rows, row);
}

struct blocked_facts candidate_judged_by(const struct world *w, uint32_t row, enum disruption_class k,
                                         const struct candidate_facts *f)
{
    const struct world_node *n = &w->nodes[row];
    return (struct blocked_facts){
        .node = n->node, .claim = n->claim, .class = k,
        .queued = is_in(f->queued, row), .leaving = n->leaving, .nominated = is_in(f->nominated, row),
        .has_pool = n->pool >= 0 && pool_has_types(w, w->pools[n->pool]),
        .pool_name = sym_text(w->syms, sym_pairs_get(world_row_labels(n), SYM_NODEPOOL)),
        .pods = n->pods, .pod_count = n->pod_count, .budgets = f->budgets, .now = f->now};
}

struct candidate candidate_of(const struct world *w, uint32_t row, const struct candidate_facts *f)
{
    const struct world_node *n = &w->nodes[row];
    struct sym_pairs labels = world_row_labels(n);
    struct candidate c = {.row = row, .pool = n->pool >= 0 ? w->pools[n->pool] : NULL, .type = world_row_type(w, n),
                          .zone = sym_pairs_get(labels, SYM_ZONE),
                          .capacity_type = sym_pairs_get(labels, SYM_CAPACITY_TYPE)};
    c.price = known_price(w, n, c.type);
    add_pods(n, f, &c);
    c.ratio = c.price / c.reschedule_cost;
    return c;
}

struct blocked_answer candidate_make(const struct world *w, uint32_t row, enum disruption_class k,
                                     const struct candidate_facts *f, struct candidate *out)
{
    struct blocked_facts facts = candidate_judged_by(w, row, k, f);
    struct blocked_answer x = blocked_judge(&facts);
    if (x.what != BLOCKED_NOT)
        return x;
    *out = candidate_of(w, row, f);
    if (k == DISRUPT_REPAIR)
        out->has_pod_blockers = blocked_judge_pods(&facts).what != BLOCKED_NOT;
    return x;
}

int candidate_order(const void *a, const void *b, void *w)
{
    const struct candidate *x = a, *y = b;
    if (x->ratio != y->ratio)
        return x->ratio > y->ratio ? -1 : 1;
    return span_cmp(world_node_at(w, x->row)->name, world_node_at(w, y->row)->name);
}
