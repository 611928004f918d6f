#include "reconciler/disruption/budgets.h"

static struct pool_view *view_of(const struct pass *p, const struct node_pool *pool)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].pool == pool)
            return p->pools[i].provider != NULL ? &p->pools[i] : NULL;
    return NULL;
}

/* Who is in a command or on our way out does not rest, so that nobody else's memory is asked. */
static bool is_begun(const struct pass *p, uint32_t at)
{
    const struct node_view *n = &p->nodes[at];
    return turns_due(&p->r->views.emptiness, at) <= p->wall &&
           (n->memo->command != NULL || claim_is_leaving(p, &p->claims[n->claim]));
}

static void count_nodes(struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++) {
        p->pools[i].counted = (struct allowance){0};
        p->pools[i].closed = 0;
    }
    const struct node_pool *pool = NULL;
    struct pool_view *v = NULL;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (n->claim < 0)
            continue;
        const struct claim_view *c = &p->claims[n->claim];
        if (c->pool != pool) /* nodes of one pool stand together */
            v = view_of(p, pool = c->pool);
        if (v == NULL)
            continue;
        allowance_count(&v->counted, &(struct allowance_facts){.initialized = n->initialized,
                                                               .ready = n->ready,
                                                               .rebooting = c->rebooting,
                                                               .terminating = c->terminating,
                                                               .leaving = n->leaving || c->leaving,
                                                               .queued = is_begun(p, i)});
    }
}

static struct allowance *allowance_of(struct pass *p, struct pool_view *v, enum disruption_reason reason)
{
    if (((v->closed >> reason) & 1) == 0) {
        v->by_reason[reason] = v->counted;
        allowance_close(&v->by_reason[reason], v->pool, reason, p->wall);
    }
    v->closed |= UINT32_C(1) << reason;
    return &v->by_reason[reason];
}

/* Four reasons a pool and pass are many: what is as it was is shown anew once a minute. */
static bool is_shown(const struct pass *p, struct pool_view *v, enum disruption_reason reason, const struct allowance *x)
{
    enum { AGAIN_MS = MS_MINUTE };
    struct pool_memo *m = v->memo;
    bool same = m->shown[reason].at != 0 && p->mono < m->shown[reason].at + AGAIN_MS &&
                m->shown[reason].allowed == x->allowed && m->shown[reason].busy == x->busy;
    if (same)
        return true;
    m->shown[reason].allowed = x->allowed;
    m->shown[reason].busy = x->busy;
    m->shown[reason].at = p->mono;
    return false;
}

static void show(struct pass *p, struct pool_view *v, enum disruption_reason reason)
{
    const struct allowance *x = allowance_of(p, v, reason);
    if (is_shown(p, v, reason, x) && reason != REASON_EMPTY)
        return;
    struct span name = v->pool->meta.name, label = disruption_reason_label(reason);
    count(p->r, MEASURE_ALLOWED_DISRUPTIONS, x->allowed, name, label, (struct span){0});
    count(p->r, MEASURE_CONSUMING_BUDGETS, x->busy, name, label, (struct span){0});
    if (reason == REASON_EMPTY) /* of others who asks for them tells it */
        budgets_tell(p, v, reason, x->allowed == 0 && x->nodes != 0);
}

void budgets_count(struct pass *p)
{
    count_nodes(p);
    for (uint32_t i = 0; i < p->pool_count; i++)
        for (uint32_t r = 0; p->pools[i].provider != NULL && r < REASON_COUNT; r++)
            show(p, &p->pools[i], (enum disruption_reason)r);
}

void budgets_count_early(struct pass *p)
{
    count_nodes(p);
}

int32_t budgets_left(struct pass *p, const struct node_pool *pool, enum disruption_reason reason)
{
    struct pool_view *v = view_of(p, pool);
    return v != NULL ? allowance_of(p, v, reason)->left : 0;
}

bool budgets_take(struct pass *p, const struct node_pool *pool, enum disruption_reason reason)
{
    struct pool_view *v = view_of(p, pool);
    if (v == NULL || allowance_of(p, v, reason)->left == 0)
        return false;
    v->counted.going++;
    for (uint32_t r = 0; r < REASON_COUNT; r++)
        v->by_reason[r].left -= ((v->closed >> r) & 1) != 0 && v->by_reason[r].left != 0;
    return true;
}

void budgets_tell(struct pass *p, const struct pool_view *v, enum disruption_reason reason, bool blocked)
{
    uint32_t bit = UINT32_C(1) << reason;
    bool news = blocked && (v->memo->told_blocked & bit) == 0;
    struct span name = v->pool->meta.name, label = disruption_reason_label(reason);
    v->memo->told_blocked = blocked ? v->memo->told_blocked | bit : v->memo->told_blocked & ~bit;
    if (news)
        tell(p->r,
             (struct decision){.kind = DECISION_KEEP,
                               .per_hour = NAN,
                               .reason = SPAN("DisruptionBlocked"),
                               .note = arena_printf(p->a, "No allowed disruptions for disruption reason %.*s due to "
                                                          "blocking budget",
                                                    SPAN_ARG(disruption_reason_name(reason))),
                               .dedupe = label, /* it is told once, of each reason */
                               .about = object_of(KIND_NODE_POOL, &v->pool->meta)},
             "NodePool %.*s: its budgets let no %.*s node go now", SPAN_ARG(name), SPAN_ARG(label));
}
