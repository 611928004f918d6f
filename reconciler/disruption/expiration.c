/* Claims that have lived as long as they may are deleted; budgets do not apply (spec
 * disruption 13.6). They do to claims that have expired by a step of the clock, which may be all of them at once: those
 * are replaced as drifted nodes are. */
#include "reconciler/disruption/budgets.h"

static void expire(struct pass *p, const struct claim_view *c)
{
    struct decision d = {.kind = DECISION_REMOVE,
                         .subject = "remove",
                         .per_hour = NAN,
                         .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
    struct span age = duration_text(p->a, c->claim->expire_after);
    claim_delete(p, c, &(struct claim_end){.why = "expired"}, &d,
                 arena_cstr(p->a, arena_printf(p->a, "expired after %.*s", SPAN_ARG(age))));
}

/* A claim whose pool is gone has no budget. */
static void expire_within_budgets(struct pass *p)
{
    budgets_count_early(p);
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        bool stepped = c->expires <= p->wall && clock_jump_made_due(&p->r->jump, c->expires);
        if (c->provider == NULL || !stepped || c->leaving || claim_is_leaving(p, c))
            continue;
        if (c->pool == NULL || budgets_take(p, c->pool, REASON_DRIFTED))
            expire(p, c);
    }
}

void expiration_run(struct pass *p)
{
    bool stepped = false;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (c->provider == NULL || c->leaving || c->expires == INT64_MAX)
            continue;
        if (p->wall < c->expires)
            pass_wake_wall(p, c->expires);
        else if (clock_jump_made_due(&p->r->jump, c->expires))
            stepped = true;
        else
            expire(p, c);
    }
    if (stepped)
        expire_within_budgets(p);
}
