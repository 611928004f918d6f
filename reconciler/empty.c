/* Empty nodes leave, in three steps that each are seen in the API before the next: the taint that
 * keeps new pods away, the reason on the claim, the claim's deletion. A node must have been a
 * candidate for the whole wait, be one still when the taint is seen, and its pool's budget must
 * allow it; else the taint is taken off again. A taint that nobody remembers is of an earlier
 * leader, and goes too. */
#include "reconciler/empty.h"

#include <stdlib.h>

#include "base/json.h"
#include "kube/budget.h"
#include "reconciler/stages.h"

static const struct span REASON = SPAN_INIT("Empty");
static const struct span DISRUPTION_REASON = SPAN_INIT("DisruptionReason");

const char *empty_verdict_text(enum empty_verdict v)
{
    static const char *const texts[EMPTY_VERDICT_COUNT] = {
        [EMPTY_YES] = "nothing runs on it",
        [EMPTY_UNMANAGED] = "no dynamic NodePool of ours owns it",
        [EMPTY_REBOOTING] = "node is rebooting",
        [EMPTY_LEAVING] = "node is deleting or marked for deletion",
        [EMPTY_NOT_INITIALIZED] = "node isn't initialized",
        [EMPTY_NOMINATED] = "node is nominated for a pending pod",
        [EMPTY_DO_NOT_DISRUPT] = "disruption is blocked through the annotation",
        [EMPTY_POD_DO_NOT_DISRUPT] = "pod has \"karpenter.sh/do-not-disrupt\" annotation",
        [EMPTY_POD_BUDGET] = "pdb prevents pod evictions",
        [EMPTY_HAS_PODS] = "pods run on it",
        [EMPTY_BUFFERED] = "a CapacityBuffer keeps it",
        [EMPTY_NEVER] = "the pool has consolidation disabled",
        [EMPTY_NOT_CONSOLIDATABLE] = "consolidateAfter is not over",
    };
    return v < EMPTY_VERDICT_COUNT ? texts[v] : "";
}

/* ---- the judgement ---- */

static bool budget_matches(const struct disruption_budget *b, const struct pod *p)
{
    return b->has_selector && span_eq(b->meta.ns, p->meta.ns) &&
           label_selector_matches(&b->selector, p->meta.labels);
}

static bool budgets_hold(const struct empty_facts *f, const struct pod *p)
{
    const struct disruption_budget *match = NULL;
    if (!pod_is_evictable(p, f->now))
        return false;
    for (uint32_t i = 0; i < f->budget_count; i++) {
        if (!budget_matches(f->budgets[i], p))
            continue;
        if (match != NULL)
            return true; /* the eviction API refuses two */
        match = f->budgets[i];
    }
    return match != NULL && !(match->evict_unhealthy && p->unready) &&
           match->disruptions_allowed <= 0;
}

static enum empty_verdict judge_pods(const struct empty_facts *f, const struct pod **pod_out)
{
    for (uint32_t i = 0; i < f->pod_count; i++) {
        *pod_out = f->pods[i];
        if (f->pods[i]->meta.deleted == 0 && pod_do_not_disrupt(f->pods[i], f->now))
            return EMPTY_POD_DO_NOT_DISRUPT;
    }
    for (uint32_t i = 0; i < f->pod_count; i++) {
        *pod_out = f->pods[i];
        if (budgets_hold(f, f->pods[i]))
            return EMPTY_POD_BUDGET;
    }
    for (uint32_t i = 0; i < f->pod_count; i++) {
        *pod_out = f->pods[i];
        if (pod_is_reschedulable(f->pods[i]))
            return EMPTY_HAS_PODS;
    }
    *pod_out = NULL;
    return EMPTY_YES;
}

static enum empty_verdict judge_node(const struct empty_facts *f)
{
    if (f->claim == NULL || f->pool == NULL || f->pool->has_replicas)
        return EMPTY_UNMANAGED;
    if (conditions_true(f->claim->conditions, SPAN("Rebooting")))
        return EMPTY_REBOOTING;
    if (f->claim->meta.deleted != 0 || f->node->meta.deleted != 0 ||
        conditions_true(f->claim->conditions, SPAN("InstanceTerminating")))
        return EMPTY_LEAVING;
    if (!node_is_initialized(f->node))
        return EMPTY_NOT_INITIALIZED;
    if (f->nominated)
        return EMPTY_NOMINATED;
    if (span_eq(annotations_get(f->node->meta.annotations, SYM_DO_NOT_DISRUPT), SPAN("true")))
        return EMPTY_DO_NOT_DISRUPT;
    return EMPTY_YES;
}

enum empty_verdict empty_judge(const struct empty_facts *f, const struct pod **pod_out)
{
    const struct pod *pod = NULL;
    enum empty_verdict v = judge_node(f);
    if (v == EMPTY_YES)
        v = judge_pods(f, &pod);
    if (pod_out != NULL)
        *pod_out = pod;
    if (v != EMPTY_YES)
        return v;
    if (!f->pool->has_consolidate_after)
        return EMPTY_NEVER;
    return conditions_true(f->claim->conditions, SPAN("Consolidatable")) ? EMPTY_YES
                                                                         : EMPTY_NOT_CONSOLIDATABLE;
}

/* ---- budgets ---- */

struct allowance { /* of one pool */
    const struct node_pool *pool;
    int32_t nodes, busy, left;
};

static struct allowance allowance_of(const struct pass *p, const struct node_pool *pool)
{
    struct allowance a = {.pool = pool};
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (!node_counts(p, n) || p->claims[n->claim].pool != pool)
            continue;
        a.nodes++;
        a.busy += n->node->meta.deleted != 0 || p->claims[n->claim].claim->meta.deleted != 0 ||
                  n->memo->command || !node_is_ready(n->node);
    }
    int32_t allowed = budgets_allowed(pool, a.nodes, REASON, p->wall);
    a.left = allowed > a.busy ? allowed - a.busy : 0;
    count(p->r, MEASURE_ALLOWED_DISRUPTIONS, allowed, pool->meta.name, SPAN("empty"),
          (struct span){0});
    count(p->r, MEASURE_CONSUMING_BUDGETS, a.busy, pool->meta.name, SPAN("empty"),
          (struct span){0});
    struct pool_memo *memo = memos_at(&p->r->pools, pool->meta.uid);
    bool blocked = allowed == 0 && a.nodes != 0;
    if (blocked && !memo->told_blocked)
        tell(p->r,
             (struct decision){
                 .kind = DECISION_KEEP,
                 .per_hour = NAN,
                 .reason = SPAN("DisruptionBlocked"),
                 .note = SPAN("No allowed disruptions for disruption reason Empty due to blocking "
                              "budget"),
                 .about = object_of(KIND_NODE_POOL, &pool->meta)},
             "NodePool %.*s: its budgets let no empty node go now", SPAN_ARG(pool->meta.name));
    memo->told_blocked = blocked;
    return a;
}

static struct allowance *allowance_for(struct allowance *all, uint32_t count,
                                       const struct node_pool *pool)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].pool == pool)
            return &all[i];
    return NULL;
}

/* ---- candidates ---- */

struct candidate {
    struct node_view *node;
    double price;
};

static int dearest_first(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->price != b->price)
        return a->price > b->price ? -1 : 1;
    return span_cmp(a->node->node->meta.name, b->node->node->meta.name);
}

static double price_of(const struct pass *p, const struct node_view *n)
{
    double price = n->row >= 0 ? world_node_at(p->world, (uint32_t)n->row)->price : 0;
    return isnan(price) ? 0 : price;
}

struct budgets_view {
    const struct disruption_budget **items;
    uint32_t count;
};

static struct budgets_view collect_budgets(const struct pass *p)
{
    struct budgets_view v = {ARENA_ARRAY(p->a, const struct disruption_budget *,
                                         p->snapshot->state[KIND_DISRUPTION_BUDGET].count),
                             0};
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_DISRUPTION_BUDGET);
    for (const void *b; v.count < p->snapshot->state[KIND_DISRUPTION_BUDGET].count &&
                        (b = snapshot_next(&it)) != NULL;)
        v.items[v.count++] = b;
    return v;
}

static enum empty_verdict judge(const struct pass *p, const struct node_view *n,
                                struct budgets_view budgets, const struct pod **pod_out)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    struct empty_facts f = {.node = n->node,
                            .claim = c != NULL && c->managed ? c->claim : NULL,
                            .pool = c != NULL ? c->pool : NULL,
                            .budgets = budgets.items,
                            .budget_count = budgets.count,
                            .now = p->wall};
    f.pods = node_pods(p, n, &f.pod_count);
    enum empty_verdict v = empty_judge(&f, pod_out);
    /* Looking through the places costs more than all else: only for those that would go. */
    if (v == EMPTY_YES && n->row < 0)
        return EMPTY_LEAVING; /* the world does not know it yet */
    if (v == EMPTY_YES && buffers_need(p, c->claim))
        return EMPTY_BUFFERED;
    return v == EMPTY_YES && node_is_nominated(p, n) ? EMPTY_NOMINATED : v;
}

/* ---- a command's steps ---- */

static void give_back(struct pass *p, struct node_view *n, enum empty_verdict v)
{
    n->memo->command = false;
    n->memo->validate_at = 0;
    count(p->r, MEASURE_FAILED_VALIDATIONS, 1, SPAN("empty"), (struct span){0}, (struct span){0});
    tell(p->r,
         (struct decision){.kind = DECISION_KEEP,
                           .subject = "keep",
                           .per_hour = NAN,
                           .about = object_of(KIND_NODE, &n->node->meta)},
         "%.*s  stays: %s", SPAN_ARG(n->node->meta.name), empty_verdict_text(v));
}

static bool is_open(struct pass *p, const struct gate *g, const struct meta *m)
{
    bool open = gate_open(g, m->resource_version, p->mono);
    if (!open && g->retry_at > p->mono)
        pass_wake(p, g->retry_at);
    return open;
}

static void write_reason(struct pass *p, const struct claim_view *c, bool set)
{
    const struct meta *m = &c->claim->meta;
    struct condition_set s =
        condition_set_of(p->a, &node_claim_conditions, m, c->claim->conditions, p->wall);
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    if (!is_open(p, &c->memo->memo.gate, m))
        return;
    if (set)
        condition_set_put(&s, DISRUPTION_REASON, CONDITION_TRUE, REASON, REASON);
    else
        condition_set_clear(&s, DISRUPTION_REASON);
    json_object_begin(&j);
    json_put_object(&j, "metadata");
    json_put_string(&j, "resourceVersion",
                    arena_printf(p->a, "%llu", (unsigned long long)m->resource_version));
    json_object_end(&j);
    json_put_object(&j, "status");
    json_key(&j, SPAN("conditions"));
    conditions_json(&j, p->a, s.list);
    json_object_end(&j);
    json_object_end(&j);
    call_send(call_new(p->r, &c->memo->memo.gate, NULL),
              &(struct api_request){.verb = API_MERGE,
                                    .kind = KIND_NODE_CLAIM,
                                    .name = m->name,
                                    .subresource = SPAN("status"),
                                    .body = buf_span(&out)});
    buf_release(&out);
}

static void delete_claim(struct pass *p, const struct node_view *n)
{
    const struct claim_view *c = &p->claims[n->claim];
    double price = price_of(p, n);
    struct decision d = {.kind = DECISION_REMOVE,
                         .subject = "remove",
                         .per_hour = price,
                         .reason = SPAN("DisruptionTerminating"),
                         .note = SPAN("Disrupting NodeClaim: Empty"),
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    const struct condition *initialized =
        conditions_find(c->claim->conditions, SPAN("Initialized"));
    wall_ms since = c->claim->last_pod_event != 0 ? c->claim->last_pod_event
                    : initialized != NULL         ? initialized->transition
                                                  : c->claim->meta.created;
    struct span age = duration_text(p->a, (p->wall - since) / MS_SECOND * MS_SECOND);
    struct span sentence =
        arena_printf(p->a, "empty for %.*s, saves $%.3f/h", SPAN_ARG(age), price);
    if (claim_delete(p, c, "empty", &d, arena_cstr(p->a, sentence)))
        count(p->r, MEASURE_DISRUPTION_DECISIONS, 1, SPAN("delete"), SPAN("empty"), SPAN("empty"));
}

/* The next step of a node that is decided; `v` is today's judgement. */
static void go_on(struct pass *p, struct node_view *n, enum empty_verdict v)
{
    const struct claim_view *c = &p->claims[n->claim];
    if (!node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE)) {
        if (is_open(p, &n->memo->memo.gate, &n->node->meta))
            node_patch_taint(p, n, true, false);
        return;
    }
    if (v != EMPTY_YES)
        give_back(p, n, v);
    else if (!conditions_true(c->claim->conditions, DISRUPTION_REASON))
        write_reason(p, c, true);
    else
        delete_claim(p, n);
}

/* The taint and the reason of a command that is no more. */
static void clean_up(struct pass *p, struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    if (c == NULL || !c->managed || c->claim->meta.deleted != 0 || n->node->meta.deleted != 0)
        return;
    if (node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE) &&
        is_open(p, &n->memo->memo.gate, &n->node->meta))
        node_patch_taint(p, n, false, false);
    if (conditions_find(c->claim->conditions, DISRUPTION_REASON) != NULL)
        write_reason(p, c, false);
}

/* Why a node stays, once for each answer: what somebody put there to keep it, or the pool's own
 * rule. */
static void tell_verdict(struct pass *p, struct node_view *n, enum empty_verdict v,
                         const struct pod *pod)
{
    bool blocked =
        v == EMPTY_DO_NOT_DISRUPT || v == EMPTY_POD_DO_NOT_DISRUPT || v == EMPTY_POD_BUDGET;
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = blocked ? SPAN("DisruptionBlocked") : SPAN("Unconsolidatable"),
                         .about = object_of(KIND_NODE, &n->node->meta)};
    if (n->memo->told == (uint32_t)v)
        return;
    n->memo->told = (uint32_t)v;
    if (!blocked && v != EMPTY_NEVER)
        return;
    d.note = pod != NULL ? arena_printf(p->a, "%s (Pod=%.*s/%.*s)", empty_verdict_text(v),
                                        SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name))
                         : span_of(empty_verdict_text(v));
    tell(p->r, d, "%.*s  stays: %.*s", SPAN_ARG(n->node->meta.name), SPAN_ARG(d.note));
}

/* True when the node may be decided on now. */
static bool has_waited(struct pass *p, struct node_view *n, enum empty_verdict v)
{
    struct node_memo *m = n->memo;
    if (v != EMPTY_YES) {
        if (m->validate_at != 0)
            count(p->r, MEASURE_FAILED_VALIDATIONS, 1, SPAN("empty"), (struct span){0},
                  (struct span){0});
        m->validate_at = 0;
        return false;
    }
    if (m->validate_at == 0)
        m->validate_at = p->mono + p->r->config.options.validation;
    if (p->mono < m->validate_at) {
        pass_wake(p, m->validate_at);
        return false;
    }
    return true;
}

static void decide(struct pass *p, struct candidate *list, uint32_t count_of,
                   struct allowance *allowances, uint32_t pools)
{
    qsort(list, count_of, sizeof(*list), dearest_first);
    for (uint32_t i = 0; i < count_of; i++) {
        struct node_view *n = list[i].node;
        struct allowance *a = allowance_for(allowances, pools, p->claims[n->claim].pool);
        if (a == NULL || a->left == 0) {
            clean_up(p, n);
            continue;
        }
        a->left--;
        n->memo->command = true;
        go_on(p, n, EMPTY_YES);
    }
}

void empty_run(struct pass *p)
{
    struct budgets_view budgets = collect_budgets(p);
    struct candidate *ready = ARENA_ARRAY(p->a, struct candidate, p->node_count);
    struct allowance *allowances = ARENA_ARRAY(p->a, struct allowance, p->pool_count);
    uint32_t ready_count = 0, pools = 0, eligible = 0;
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct node_view *n = &p->nodes[i];
        const struct pod *pod = NULL;
        enum empty_verdict v = judge(p, n, budgets, &pod);
        tell_verdict(p, n, v, pod);
        eligible += v == EMPTY_YES;
        if (n->memo->command && v == EMPTY_LEAVING) {
            n->memo->command = false; /* done: termination goes on from here */
            n->memo->validate_at = 0;
        } else if (n->memo->command && n->claim >= 0) {
            go_on(p, n, v);
        } else if (has_waited(p, n, v)) {
            ready[ready_count++] = (struct candidate){n, price_of(p, n)};
        } else {
            clean_up(p, n);
        }
    }
    count(p->r, MEASURE_ELIGIBLE_NODES, eligible, SPAN("empty"), (struct span){0},
          (struct span){0});
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].managed)
            allowances[pools++] = allowance_of(p, p->pools[i].pool);
    decide(p, ready, ready_count, allowances, pools);
}
