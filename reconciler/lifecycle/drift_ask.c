/* What providers say of drift (spec disruption 13.1, api 5.9 row 4): of a claim that is launched and not drifted by
 * anything that we can see, its provider is asked every five minutes, and as soon as its NodePool or node class is
 * another. The answer is kept in the claim's memory, from which lifecycle/drift.c makes the condition; of who has not
 * answered, or not in a way that can be understood, the condition stays as it is.
 *
 * In rounds, each of which asks a share of a provider's claims: so a large cluster is asked about evenly, and a small one at
 * once. Between rounds nothing is looked at. */
#include "reconciler/lifecycle/lifecycle.h"
#include "reconciler/stages.h"

enum {
    AGAIN_MS = 5 * MS_MINUTE, /* Karpenter's */
    ROUND_MS = 10 * MS_SECOND,
    SHARE = AGAIN_MS / ROUND_MS * 4 / 5, /* all of them in four fifths of the time, that changes need not wait */
    ROUND_LEAST = 32, /* asked in a round, however few claims there are */
    AT_ONCE = 256,    /* calls in a pass: 5,000 claims are 208 a round; what is over waits for the next one */
};

static void on_answer(struct reconciler *r, struct call *c)
{
    struct claim_memo *m = (struct claim_memo *)c->memo;
    struct provider_drift *d = &m->drift;
    if (c->err.kind != ERR_NONE)
        return; /* the gate says when it is asked again */
    size_t n = c->drift.len < sizeof(d->reason) ? c->drift.len : sizeof(d->reason) - 1;
    bool same = d->known && strlen(d->reason) == n && memcmp(d->reason, c->drift.len != 0 ? c->drift.ptr : "", n) == 0;
    d->known = true;
    d->due = r->mono + AGAIN_MS;
    if (same)
        return;
    if (n != 0)
        memcpy(d->reason, c->drift.ptr, n);
    d->reason[n] = '\0';
    if (m->at < r->views.claim_count && r->views.claims[m->at].memo == m)
        turns_call(&r->views.lifecycle, m->at);
}

static void ask(struct pass *p, const struct claim_view *c)
{
    struct claim_order order = {c->claim, p->syms};
    struct call *call = call_new(p->r, &c->memo->drift.gate, on_answer);
    call_about(call, &c->memo->memo);
    call_begin(call, c->provider, PROVIDER_IS_DRIFTED, claim_pool_name(p, c->claim));
    call->id = c->provider->ops->is_drifted(c->provider, &order, call_machine_done, call);
}

/* What the answer may hang on beside the machine. */
static uint64_t basis_of(const struct pass *p, const struct claim_view *c)
{
    const struct node_class *class = snapshot_find(p->snapshot, c->provider->ops->node_class, (struct span){0},
                                                   c->claim->node_class.name);
    uint64_t basis = span_hash(c->pool->meta.uid) + (uint64_t)c->pool->meta.generation;
    return basis * 31 + (class != NULL ? span_hash(class->meta.uid) + (uint64_t)class->meta.generation : 0);
}

/* The first reason that there is counts: who is drifted by what we see need not be asked about. */
static bool may_be_asked(const struct claim_view *c)
{
    const struct condition *drifted = conditions_find(c->claim->conditions, SPAN("Drifted"));
    return c->provider != NULL && !c->leaving && c->pool != NULL && c->identified &&
           conditions_true(c->claim->conditions, SPAN("Launched")) &&
           (drifted == NULL || drifted->status != CONDITION_TRUE || !lifecycle_drift_is_seen(drifted->reason));
}

static bool is_due(const struct pass *p, const struct claim_view *c)
{
    struct provider_drift *d = &c->memo->drift;
    if (!may_be_asked(c) || !gate_open(&d->gate, 0, p->mono))
        return false;
    uint64_t basis = basis_of(p, c);
    if (d->basis != basis)
        d->due = 0;
    d->basis = basis;
    return d->due <= p->mono;
}

static uint32_t round_of(const struct pass *p)
{
    uint32_t share = p->claim_count / SHARE;
    return share < ROUND_LEAST ? ROUND_LEAST : share < AT_ONCE ? share : AT_ONCE;
}

void drift_ask_run(struct pass *p)
{
    struct reconciler *r = p->r;
    span_ms rest = ROUND_MS > r->config.options.idle ? ROUND_MS : r->config.options.idle;
    uint32_t left[PROVIDERS_MAX], count = p->claim_count;
    if (p->mono < r->drift_round) {
        pass_wake(p, r->drift_round);
        return;
    }
    r->drift_round = p->mono + rest;
    pass_wake(p, r->drift_round);
    for (uint32_t i = 0; i < PROVIDERS_MAX; i++)
        left[i] = round_of(p);
    for (uint32_t i = 0; i < count; i++) { /* round about, so that each has his turn */
        const struct claim_view *c = &p->claims[(r->drift_at + i) % count];
        uint32_t of = c->provider != NULL ? providers_index(&r->config.providers, c->provider) : 0;
        if (left[of] == 0 || !is_due(p, c) || !call_may_wonder(r, c->provider))
            continue;
        ask(p, c);
        if (--left[of] == 0)
            r->drift_at = (r->drift_at + i + 1) % count;
    }
}
