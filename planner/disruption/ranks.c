#include "planner/disruption/ranks.h"

#include <stdlib.h>

#include "kube/disruption_mode.h"
#include "planner/columns.h"
#include "planner/disruption/allowance.h"

enum standing {
    STANDS_APART,  /* no rank */
    STANDS_GOING,
    STANDS_DRIFTED,
    STANDS_ORDINARY,
};

struct ranking {
    struct arena *a;
    const struct world *w;
    struct candidate_facts facts;
    struct candidate *nodes; /* managed ones with a Node, in candidate_order */
    uint32_t node_count;
    uint8_t *standing; /* by row */
    struct rank_change *changes;
    struct ranked_pool *pools;
    uint32_t count, capacity, others; /* others: nodes that change and do not leave */
};

/* ---- who has a rank ---- */

static bool is_controlled_by(const struct pod *p, sym api_version, sym kind)
{
    const struct owner *o = meta_controller(&p->meta);
    return o != NULL && o->kind == kind && (api_version == SYM_NONE || o->api_version == api_version);
}

/* Nobody would make it elsewhere, or only under the name that it has: its node is not emptied by a scale-down. */
static bool is_pinning(const struct pod *p)
{
    return !span_eq(p->meta.ns, SPAN("kube-system")) && !is_controlled_by(p, SYM_API_APPS_V1, SYM_KIND_REPLICA_SET) &&
           !is_controlled_by(p, SYM_NONE, SYM_KIND_JOB) && !is_controlled_by(p, SYM_API_APPS_V1, SYM_KIND_DAEMON_SET);
}

static bool any_pins(const struct world_node *n)
{
    bool any = false;
    for (uint32_t i = 0; i < n->pod_count && !any; i++)
        any = is_pinning(n->pods[i]);
    return any;
}

/* Its pool can buy something, but not what this is: what it would save is not known. */
static bool has_no_price(const struct ranking *x, const struct world_node *n)
{
    return sym_pairs_get(world_row_labels(n), SYM_INSTANCE_TYPE) != SYM_NONE && world_row_type(x->w, n) == NULL &&
           pool_has_types(x->w, x->w->pools[n->pool]);
}

static enum standing stand(const struct ranking *x, uint32_t row)
{
    const struct world_node *n = &x->w->nodes[row];
    if (n->going || (x->facts.queued != NULL && bits_has(x->facts.queued, row)))
        return STANDS_GOING;
    struct blocked_facts facts = candidate_judged_by(x->w, row, DISRUPT_GRACEFUL, &x->facts);
    facts.has_pool = n->pool >= 0; /* nothing to buy is no matter here */
    if (blocked_judge(&facts).what != BLOCKED_NOT || any_pins(n) || has_no_price(x, n))
        return STANDS_APART;
    const struct node_pool *pool = x->w->pools[n->pool];
    if (!pool->has_replicas && conditions_true(n->claim->conditions, SPAN("Drifted")))
        return disruption_mode_of(pool, REASON_DRIFTED) == MODE_ACT ? STANDS_DRIFTED : STANDS_APART;
    bool consolidates = pool->has_consolidate_after && disruption_mode_of(pool, REASON_UNDERUTILIZED) == MODE_ACT;
    return consolidates ? STANDS_ORDINARY : STANDS_APART;
}

static void collect(struct ranking *x)
{
    x->nodes = ARENA_ARRAY(x->a, struct candidate, x->w->node_count);
    x->standing = ARENA_ARRAY(x->a, uint8_t, x->w->node_count);
    for (uint32_t row = 0; row < x->w->node_count; row++) {
        const struct world_node *n = &x->w->nodes[row];
        if (n->claim == NULL || n->node == NULL)
            continue;
        x->standing[row] = (uint8_t)stand(x, row);
        x->nodes[x->node_count++] = candidate_of(x->w, row, &x->facts);
    }
    if (x->node_count != 0)
        qsort_r(x->nodes, x->node_count, sizeof(*x->nodes), candidate_order, (void *)(uintptr_t)x->w);
}

/* As many as the budgets let go keep the standing, the others have none. Returns how many. */
static uint32_t keep_allowed(struct ranking *x, enum standing s, enum disruption_reason reason)
{
    uint32_t kept = 0;
    struct allowances left = allowances_make(x->a, x->w, reason, x->facts.queued, x->facts.now);
    for (uint32_t i = 0; i < x->node_count; i++) {
        uint32_t row = x->nodes[i].row;
        if (x->standing[row] != s)
            continue;
        if (allowances_take(&left, x->w->nodes[row].pool))
            kept++;
        else
            x->standing[row] = STANDS_APART;
    }
    return kept;
}

/* ---- what that changes ---- */

static bool is_as(const struct pod *p, struct span want)
{
    struct span text = annotations_get(p->meta.annotations, SYM_POD_DELETION_COST);
    return want.ptr != NULL ? text.ptr != NULL && span_eq(text, want) : text.ptr == NULL;
}

static void change_node(struct ranking *x, uint32_t row, bool ranked, int32_t value)
{
    const struct world_node *n = &x->w->nodes[row];
    struct span want = ranked ? arena_printf(x->a, "%d", value) : (struct span){0};
    bool first = true, goes = x->standing[row] == STANDS_GOING;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        const struct pod *p = n->pods[i];
        if (!is_controlled_by(p, SYM_API_APPS_V1, SYM_KIND_REPLICA_SET) || p->meta.deleted != 0 || is_as(p, want))
            continue;
        if (first && !goes && x->others == RANKS_NODES_MAX)
            return;
        if (first && n->pool >= 0)
            x->pools[n->pool].nodes++;
        x->others += first && !goes;
        first = false;
        struct rank_change change = {.pod = p, .ranked = ranked, .value = value};
        ARENA_PUSH(x->a, x->changes, x->count, x->capacity, change);
    }
}

static void change_all(struct ranking *x, enum standing s, bool ranked, int32_t first, int32_t step)
{
    for (uint32_t i = 0; i < x->node_count; i++)
        if (x->standing[x->nodes[i].row] == s) {
            change_node(x, x->nodes[i].row, ranked, first);
            first += step;
        }
}

struct ranks ranks_find(struct arena *a, const struct world *w, const struct candidate_facts *f)
{
    struct ranking x = {.a = a, .w = w, .facts = *f};
    x.facts.deletion_cost_ignored = true;
    x.pools = ARENA_ARRAY(a, struct ranked_pool, w->pool_count);
    for (uint32_t i = 0; i < w->pool_count; i++)
        x.pools[i].pool = w->pools[i];
    collect(&x);
    int32_t drifted = (int32_t)keep_allowed(&x, STANDS_DRIFTED, REASON_DRIFTED);
    int32_t ordinary = (int32_t)keep_allowed(&x, STANDS_ORDINARY, REASON_UNDERUTILIZED);
    change_all(&x, STANDS_GOING, true, INT32_MIN, 0);
    change_all(&x, STANDS_DRIFTED, true, -drifted - ordinary, 1);
    change_all(&x, STANDS_ORDINARY, true, -ordinary, 1);
    change_all(&x, STANDS_APART, false, 0, 0);
    return (struct ranks){.changes = x.changes, .count = x.count, .pools = x.pools,
                          .pool_count = w->pool_count};
}
