/* What one side has and the other has not (spec disruption 13.7): a registered claim whose machine
 * the provider does not know any more is deleted, unless its Node is alive; a machine whose claim
 * is gone is removed. Every ten seconds at first, then every two minutes; each provider for itself, so that one whose
 * list does not come stops nobody else's.
 *
 * A claim is always written before its machine is asked for, so a machine whose claim the API
 * server does not know is an orphan, however young. */
#include "reconciler/stages.h"

enum {
    FIRST_MS = 10 * MS_SECOND,
    FIRST_ROUNDS = 20,
    LATER_MS = 2 * MS_MINUTE,
    SETTLE_MS = 2 * MS_SECOND, /* times in the API are whole seconds */
};

/* ---- orphans ---- */

static void on_orphan_removed(struct reconciler *r, struct call *c)
{
    if (c->err.kind == ERR_NOT_FOUND || c->err.kind == ERR_NONE)
        tell(r, (struct decision){.kind = DECISION_REMOVE, .subject = "remove", .per_hour = NAN},
             "%.*s  a machine whose NodeClaim is gone", SPAN_ARG(c->topic.name));
}

/* The API server has the last word: our snapshot may not have seen the claim yet. */
static void on_claim_looked_up(struct reconciler *r, struct call *c)
{
    struct provider *provider = c->topic.whose;
    bool gone =
        c->err.kind == ERR_NOT_FOUND || (c->err.kind == ERR_NONE && !span_eq(c->uid_now, c->topic.uid));
    if (!gone || !r->missing.collects || !reconciler_may_act(r) || !call_may_begin(r, provider))
        return; /* the next list has it again */
    struct call *next = call_new(r, NULL, on_orphan_removed);
    next->topic.name = arena_dup(&next->arena, c->topic.name);
    call_begin(next, provider, PROVIDER_REMOVE, c->pool);
    next->id = provider->ops->remove(provider, c->topic.text, c->topic.uid, call_machine_done, next);
}

static struct span pool_of(const struct called_machine *m)
{
    for (uint32_t i = 0; i < m->labels.count; i++)
        if (span_eq(m->labels.items[i].key, wellknown_text[SYM_NODEPOOL - 1]))
            return m->labels.items[i].value;
    return (struct span){NULL, 0};
}

static void look_up(struct reconciler *r, struct provider *whose, const struct called_machine *m)
{
    struct call *c = call_new(r, NULL, on_claim_looked_up);
    c->topic.whose = whose;
    c->topic.name = arena_dup(&c->arena, m->claim_name);
    c->topic.uid = arena_dup(&c->arena, m->claim_uid);
    c->topic.text = arena_dup(&c->arena, m->provider_id);
    c->pool = arena_dup(&c->arena, pool_of(m));
    call_get(c, KIND_NODE_CLAIM, (struct span){0}, c->topic.name);
}

/* ---- claims without a machine ---- */

static bool listed(const struct call *list, struct span provider_id)
{
    for (size_t i = 0; i < list->machine_count; i++)
        if (span_eq(list->machines[i].provider_id, provider_id) && !list->machines[i].deleting)
            return true;
    return false;
}

static void on_listed(struct reconciler *r, struct call *c)
{
    if (c->err.kind != ERR_NONE || r->previous == NULL || !r->missing.collects || !reconciler_may_act(r))
        return;
    for (size_t i = 0; i < c->machine_count; i++) {
        const struct called_machine *m = &c->machines[i];
        const struct node_claim *claim =
            snapshot_find(r->previous, KIND_NODE_CLAIM, (struct span){0}, m->claim_name);
        if (m->claim_uid.len != 0 && !m->deleting &&
            (claim == NULL || !span_eq(claim->meta.uid, m->claim_uid)))
            look_up(r, c->provider, m);
    }
    struct provider_side *side = &r->sides[providers_index(&r->config.providers, c->provider)];
    side->unlisted = 0;
    struct snapshot_iter it = snapshot_each(r->previous, KIND_NODE_CLAIM);
    for (const struct node_claim *claim; (claim = snapshot_next(&it)) != NULL;) {
        struct claim_memo *m = memos_find(&r->claims, claim->meta.uid);
        const struct condition *registered = conditions_find(claim->conditions, SPAN("Registered"));
        if (m == NULL || providers_of_class(&r->config.providers, &claim->node_class) != c->provider)
            continue;
        m->unlisted = claim->provider_id.len != 0 && !listed(c, claim->provider_id) &&
                      registered != NULL && registered->status == CONDITION_TRUE &&
                      registered->transition + SETTLE_MS < c->topic.number;
        side->unlisted += m->unlisted;
    }
}

static void list_machines(struct pass *p, struct provider *provider, struct provider_side *side)
{
    struct reconciler *r = p->r;
    if (side->garbage.under_way != 0 || !call_may_begin(r, provider))
        return;
    if (p->mono < side->garbage_at) {
        pass_wake(p, side->garbage_at);
        return;
    }
    span_ms rest = ++side->garbage_rounds <= FIRST_ROUNDS ? FIRST_MS : LATER_MS;
    side->garbage_at = p->mono + (rest > r->config.options.idle ? rest : r->config.options.idle);
    pass_wake(p, side->garbage_at);
    struct call *c = call_new(r, &side->garbage, on_listed);
    c->topic.number = p->wall;
    call_begin(c, provider, PROVIDER_LIST, (struct span){NULL, 0});
    c->id = provider->ops->list(provider, call_machine_done, c);
}

static uint32_t unlisted(const struct reconciler *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->config.providers.count; i++)
        count += r->sides[i].unlisted;
    return count;
}

void garbage_run(struct pass *p)
{
    const struct providers *providers = &p->r->config.providers;
    uint32_t gone = unlisted(p->r);
    for (uint32_t i = 0; gone != 0 && i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (c->provider == NULL || c->leaving || !c->memo->unlisted || (c->nodes == 1 && p->nodes[c->node].ready))
            continue;
        struct decision d = {.kind = DECISION_REMOVE,
                             .subject = "remove",
                             .warning = true,
                             .per_hour = NAN,
                             .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
        claim_delete(p, c, &(struct claim_end){.why = "garbage_collected"}, &d, "its machine is gone");
    }
    for (uint32_t i = 0; i < providers->count; i++)
        list_machines(p, providers->items[i], &p->r->sides[i]);
}
