/* What one side has and the other has not (spec disruption 13.7): a registered claim whose machine
 * the provider does not know any more is deleted, unless its Node is alive; a machine whose claim
 * is gone is removed. Every ten seconds at first, then every two minutes.
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
             "%.*s  a machine whose NodeClaim is gone", SPAN_ARG(c->name));
}

/* The API server has the last word: our snapshot may not have seen the claim yet. */
static void on_claim_looked_up(struct reconciler *r, struct call *c)
{
    struct provider *provider = r->config.provider;
    bool gone =
        c->err.kind == ERR_NOT_FOUND || (c->err.kind == ERR_NONE && !span_eq(c->uid_now, c->uid));
    if (!gone || !reconciler_may_act(r))
        return;
    struct call *next = call_new(r, NULL, on_orphan_removed);
    next->name = arena_dup(&next->arena, c->name);
    call_begin(next, "Delete", c->pool);
    next->id = provider->ops->remove(provider, c->text, c->uid, call_machine_done, next);
}

static struct span pool_of(const struct called_machine *m)
{
    for (uint32_t i = 0; i < m->labels.count; i++)
        if (span_eq(m->labels.items[i].key, wellknown_text[SYM_NODEPOOL - 1]))
            return m->labels.items[i].value;
    return (struct span){NULL, 0};
}

static void look_up(struct reconciler *r, const struct called_machine *m)
{
    struct call *c = call_new(r, NULL, on_claim_looked_up);
    c->name = arena_dup(&c->arena, m->claim_name);
    c->uid = arena_dup(&c->arena, m->claim_uid);
    c->text = arena_dup(&c->arena, m->provider_id);
    c->pool = arena_dup(&c->arena, pool_of(m));
    call_send(c, &(struct api_request){.verb = API_GET, .kind = KIND_NODE_CLAIM, .name = c->name});
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
    if (c->err.kind != ERR_NONE || r->previous == NULL || !reconciler_may_act(r))
        return;
    for (size_t i = 0; i < c->machine_count; i++) {
        const struct called_machine *m = &c->machines[i];
        const struct node_claim *claim =
            snapshot_find(r->previous, KIND_NODE_CLAIM, (struct span){0}, m->claim_name);
        if (m->claim_uid.len != 0 && !m->deleting &&
            (claim == NULL || !span_eq(claim->meta.uid, m->claim_uid)))
            look_up(r, m);
    }
    r->unlisted = 0;
    struct snapshot_iter it = snapshot_each(r->previous, KIND_NODE_CLAIM);
    for (const struct node_claim *claim; (claim = snapshot_next(&it)) != NULL;) {
        struct claim_memo *m = memos_find(&r->claims, claim->meta.uid);
        const struct condition *registered = conditions_find(claim->conditions, SPAN("Registered"));
        if (m == NULL)
            continue;
        m->unlisted = claim->provider_id.len != 0 && !listed(c, claim->provider_id) &&
                      registered != NULL && registered->status == CONDITION_TRUE &&
                      registered->transition + SETTLE_MS < c->number;
        r->unlisted += m->unlisted;
    }
}

static void list_machines(struct pass *p)
{
    struct reconciler *r = p->r;
    struct provider *provider = r->config.provider;
    if (r->garbage.under_way != 0)
        return;
    if (p->mono < r->garbage_at) {
        pass_wake(p, r->garbage_at);
        return;
    }
    span_ms rest = ++r->garbage_rounds <= FIRST_ROUNDS ? FIRST_MS : LATER_MS;
    r->garbage_at = p->mono + (rest > r->config.options.idle ? rest : r->config.options.idle);
    pass_wake(p, r->garbage_at);
    struct call *c = call_new(r, &r->garbage, on_listed);
    c->number = p->wall;
    call_begin(c, "List", (struct span){NULL, 0});
    c->id = provider->ops->list(provider, call_machine_done, c);
}

void garbage_run(struct pass *p)
{
    for (uint32_t i = 0; p->r->unlisted != 0 && i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (!c->managed || c->leaving || !c->memo->unlisted || (c->nodes == 1 && p->nodes[c->node].ready))
            continue;
        struct decision d = {.kind = DECISION_REMOVE,
                             .subject = "remove",
                             .warning = true,
                             .per_hour = NAN,
                             .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
        claim_delete(p, c, &(struct claim_end){.why = "garbage_collected"}, &d, "its machine is gone");
    }
    list_machines(p);
}
