/* Claims that have lived as long as they may are deleted; budgets do not apply (spec
 * disruption 13.6). */
#include "reconciler/stages.h"

void expiration_run(struct pass *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        const struct node_claim *claim = c->claim;
        if (c->provider == NULL || c->leaving || c->expires == INT64_MAX)
            continue;
        if (p->wall < c->expires) {
            pass_wake_wall(p, c->expires);
            continue;
        }
        struct decision d = {.kind = DECISION_REMOVE,
                             .subject = "remove",
                             .per_hour = NAN,
                             .about = object_of(KIND_NODE_CLAIM, &claim->meta)};
        struct span age = duration_text(p->a, claim->expire_after);
        claim_delete(p, c, &(struct claim_end){.why = "expired"}, &d,
                     arena_cstr(p->a, arena_printf(p->a, "expired after %.*s", SPAN_ARG(age))));
    }
}
