#include "reconciler/disruption/marks.h"

#include "base/json.h"
#include "kube/patch.h"

static const struct span DISRUPTION_REASON = SPAN_INIT("DisruptionReason");

/* An absent reason takes it away. */
static void write_reason(struct pass *p, const struct claim_view *c, struct span reason)
{
    const struct meta *m = &c->claim->meta;
    struct condition_set s =
        condition_set_of(p->a, &node_claim_conditions, m, c->claim->conditions, p->wall);
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    if (!act_may(p, &c->memo->memo, m))
        return;
    if (reason.len != 0)
        condition_set_put(&s, DISRUPTION_REASON, CONDITION_TRUE, reason, reason);
    else
        condition_set_clear(&s, DISRUPTION_REASON);
    patch_status_begin(&j, p->a, s.list);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_CLAIM,
                            .object = m,
                            .memo = &c->memo->memo,
                            .subresource = SPAN("status"),
                            .body = buf_span(&out)});
    buf_release(&out);
}

bool marks_shown(const struct claim_view *c)
{
    return conditions_true(c->claim->conditions, DISRUPTION_REASON);
}

bool marks_put(struct pass *p, const struct node_view *n, const struct claim_view *c, struct span reason)
{
    if (n != NULL && !node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE)) {
        node_patch_taint(p, n, true, false);
        return false;
    }
    const struct condition *said = conditions_find(c->claim->conditions, DISRUPTION_REASON);
    if (said != NULL && said->status == CONDITION_TRUE && span_eq(said->reason, reason))
        return true;
    write_reason(p, c, reason);
    return false;
}

void marks_take_back(struct pass *p, const struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    if (c == NULL || c->provider == NULL || conditions_true(c->claim->conditions, SPAN("Rebooting")) || c->claim->meta.deleted != 0 || n->node->meta.deleted != 0)
        return;
    if (node_has_taint(n->node, SYM_DISRUPTED, TAINT_NO_SCHEDULE))
        node_patch_taint(p, n, false, false);
    if (conditions_find(c->claim->conditions, DISRUPTION_REASON) != NULL)
        write_reason(p, c, (struct span){0});
}
