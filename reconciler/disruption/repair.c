#include "reconciler/disruption/repair.h"

#include "kube/disruption_mode.h"
#include "reconciler/disruption/command.h"
#include "reconciler/termination/drain.h"
#include "reconciler/stages.h"

const struct repair_policies *repair_policies_of(const struct reconciler *r, struct provider *provider)
{
    struct span violations;
    return provider != NULL && r->config.options.node_repair ? provider->ops->repair(provider, &violations) : NULL;
}

static bool is_acted_on(const struct claim_view *c)
{
    return c->pool == NULL || disruption_mode_of(c->pool, REASON_UNHEALTHY) == MODE_ACT;
}

bool repair_is_due(struct pass *p)
{
    for (uint32_t i = 0; p->r->config.options.node_repair && i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        const struct repair_policies *policies =
            n->claim >= 0 ? repair_policies_of(p->r, p->claims[n->claim].provider) : NULL;
        if (policies == NULL || !is_acted_on(&p->claims[n->claim]))
            continue;
        struct repair_answer x = repair_resolve(policies, n->node, p->claims[n->claim].claim, p->wall);
        if (x.due)
            return true;
        if (x.next != 0)
            pass_wake_wall(p, x.next);
    }
    return false;
}

bool repair_bound_kept(struct pass *p, const struct claim_view *claim, span_ms bound)
{
    wall_ms said = claim_deadline(claim->claim), end = p->wall + bound;
    if (said != 0 && said <= end)
        return true;
    claim_write_deadline(p, claim, end, NULL);
    return false;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "KWOKUnhealthy": kwok_unhealthy. */
static struct span snake_case(struct arena *a, struct span s)
{
    char *out = arena_alloc(a, 2 * s.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        bool ends = i != 0 && is_upper(s.ptr[i]) &&
                    (!is_upper(s.ptr[i - 1]) || (i + 1 < s.len && !is_upper(s.ptr[i + 1])));
        if (ends)
            out[n++] = '_';
        out[n++] = (char)(is_upper(s.ptr[i]) ? s.ptr[i] - 'A' + 'a' : s.ptr[i]);
    }
    return (struct span){out, n};
}

static struct span mode_of(const span_ms *own, const struct node_claim *claim)
{
    if (own == NULL)
        return claim_termination_mode(claim);
    return *own > 0 ? SPAN("eventual") : SPAN("forceful");
}

struct measure repair_measure(struct pass *p, struct span condition, const struct claim_view *claim, const span_ms *bound)
{
    const struct node_claim *x = claim->claim;
    return (struct measure){
        .id = MEASURE_UNHEALTHY_DISRUPTED,
        .value = 1,
        .labels = {snake_case(p->a, condition), claim_pool_name(p, x),
                   pass_text(p, sym_pairs_get(x->meta.labels, SYM_CAPACITY_TYPE)), x->image_id, mode_of(bound, x)}};
}

void repair_adopt(struct pass *p, struct command *c)
{
    const struct node_view *n = pass_node(p, c->members[0].node);
    const struct claim_view *claim = pass_claim(p, c->members[0].claim);
    const struct repair_policies *policies = claim != NULL ? repair_policies_of(p->r, claim->provider) : NULL;
    if (c->method != METHOD_REPAIR || policies == NULL || n == NULL || claim == NULL)
        return;
    struct repair_answer x = repair_resolve(policies, n->node, claim->claim, p->wall);
    c->has_grace = x.has_grace;
    c->grace = x.has_grace && claim->claim->has_grace && claim->claim->grace < x.grace ? claim->claim->grace : x.grace;
    c->condition = arena_dup(&c->arena, x.condition_type);
}
