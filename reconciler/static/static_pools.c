/* NodePools with spec.replicas (gate StaticCapacity) have that many nodes, whatever waits, as Karpenter
 * v1.15.0 keeps them. A claim counts from the moment it is sent; one that we delete leaves from the
 * moment that was sent. A node more gets the first name that no claim has, so that whoever takes over in
 * the middle asks for the same ones again and not for others.
 *
 * Pods go to these nodes as to any that stand; no plan buys from these pools. */
#include "planner/supply/pool_template.h"
#include "reconciler/provision/claim_body.h"
#include "reconciler/provision/purchase.h"
#include "reconciler/static/replicas.h"
#include "reconciler/stages.h"

enum {
    LOOK_MS = MS_MINUTE,      /* though nothing moved */
    HELD_MS = 30 * MS_SECOND, /* where a limit is in the way */
    AT_ONCE = 100,            /* claims on their way for one pool */
};

static bool is_replaced(const struct claim_view *c)
{
    return conditions_true(c->claim->conditions, SPAN("DisruptionReason"));
}

static bool belongs(const struct claim_view *c, const struct node_pool *pool)
{
    return c->provider != NULL && c->pool == pool;
}

static struct tally tally_of(const struct pass *p, const struct node_pool *pool)
{
    struct tally t = {.sent = purchases_for(p, pool->meta.uid)};
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (!belongs(c, pool))
            continue;
        if (claim_is_leaving(p, c))
            t.leaving++;
        else if (is_replaced(c))
            t.replaced++;
        else
            t.active++;
    }
    return t;
}

/* Once, until something else is to be said of the pool's number. */
static bool say(struct pass *p, const struct pool_view *v, struct decision d, struct span sentence)
{
    uint64_t hash = span_hash(sentence);
    if (v->memo->told_fixed == hash)
        return false;
    v->memo->told_fixed = hash;
    d.per_hour = NAN;
    d.about = object_of(KIND_NODE_POOL, &v->pool->meta);
    tell(p->r, d, "%.*s", SPAN_ARG(sentence));
    return true;
}

static void hold(struct pass *p, const struct pool_view *v, const char *reason, struct span sentence)
{
    struct decision d = {.kind = DECISION_HOLD, .subject = "hold", .warning = true};
    if (say(p, v, d, sentence))
        count(p->r, MEASURE_HELD_BACK, 1, span_of(reason), (struct span){0}, (struct span){0});
    pass_wake(p, p->mono + HELD_MS);
}

/* ---- more ---- */

bool static_claim(struct pass *p, const struct node_pool *pool, struct plan_claim *out)
{
    const struct instance_type **type = ARENA_NEW(p->a, const struct instance_type *);
    const struct catalogue *catalogue = world_catalogue(p->world);
    struct requirements r = pool_requirements(p->a, p->syms, pool);
    double cost;
    node_pool_cost(pool, &cost);
    *out = (struct plan_claim){
        .pool = pool,
        .requirements = r,
        .labels = pool_node_labels(p->a, p->syms, catalogue->well_known,
                                   pool_labels(p->a, p->syms, pool), &r),
        .types = type,
        .type_count = 1,
        .price = pool_cheapest(&r, pool->meta.name, catalogue, p->syms, type) + cost};
    return !isnan(out->price);
}

static void ask(struct pass *p, const struct pool_view *v, struct plan_claim *c, int64_t nodes)
{
    struct purse purse = purse_open(p);
    uint32_t ordinal = 0;
    for (int64_t i = 0; i < nodes; i++) {
        do
            c->name = claim_name_fixed(p->a, v->pool, ordinal++);
        while (purchases_name_taken(p, c->name));
        struct purchase b = purchase_of(p, c);
        if (!purse_take(p, &b, &purse)) {
            v->memo->buying.retry_at = p->mono + HELD_MS;
            pass_wake(p, v->memo->buying.retry_at);
            return;
        }
        b.paced = v->memo;
        b.for_whom = arena_printf(p->a, "%lld replicas", (long long)v->pool->replicas);
        b.body = claim_body(p->a, c, p->syms, &(struct claim_extra){.name = b.name, .decision = span_of(b.id)});
        purchase_send(p, &b);
    }
}

static void grow(struct pass *p, const struct pool_view *v, const struct tally *t)
{
    const struct node_pool *pool = v->pool;
    struct plan_claim c;
    long long have = t->active + t->sent, want = pool->replicas, limit = pool_nodes_limit(pool);
    long long nodes = tally_grant(t, pool, AT_ONCE);
    if (t->sent >= AT_ONCE)
        return; /* their answers bring the next pass */
    if (!gate_open(&v->memo->buying, 0, p->mono)) {
        pass_wake(p, v->memo->buying.retry_at);
    } else if (nodes <= 0) {
        hold(p, v, "limit",
             arena_printf(p->a, "NodePool %.*s: %lld of %lld node%s; limits.nodes is %lld",
                          SPAN_ARG(pool->meta.name), have, want, want == 1 ? "" : "s", limit));
    } else if (!static_claim(p, pool, &c)) {
        v->memo->buying.retry_at = p->mono + HELD_MS; /* a catalogue is too much for each pass */
        hold(p, v, "no_type",
             arena_printf(p->a,
                          "NodePool %.*s: %lld of %lld node%s; no type that its template allows can "
                          "be had now",
                          SPAN_ARG(pool->meta.name), have, want, want == 1 ? "" : "s"));
    } else {
        struct span but = have + nodes < want && have + nodes + t->replaced + t->leaving == limit
                              ? arena_printf(p->a, ", limits.nodes is %lld", limit)
                              : SPAN("");
        say(p, v, (struct decision){.kind = DECISION_PLAN, .subject = "fixed"},
            arena_printf(p->a, "%.*s  %lld of %lld node%s; asking for %lld%.*s",
                         SPAN_ARG(pool->meta.name), have, want, want == 1 ? "" : "s", nodes,
                         SPAN_ARG(but)));
        ask(p, v, &c, nodes);
    }
}

/* ---- fewer ---- */

static uint32_t collect(const struct pass *p, const struct node_pool *pool, struct leaver *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (!belongs(c, pool) || claim_is_leaving(p, c) || is_replaced(c))
            continue;
        list[n] = (struct leaver){.claim = c->claim, .at = i, .has_node = c->node >= 0};
        if (c->node >= 0)
            list[n].pods = node_pods(p, &p->nodes[c->node], &list[n].pod_count);
        n++;
    }
    return n;
}

static void shrink(struct pass *p, const struct pool_view *v, const struct tally *t)
{
    const struct node_pool *pool = v->pool;
    int64_t surplus = t->active - pool->replicas;
    struct leaver *list = ARENA_ARRAY(p->a, struct leaver, (size_t)t->active);
    replicas_order(list, collect(p, pool, list), p->wall);
    say(p, v, (struct decision){.kind = DECISION_PLAN, .subject = "fixed"},
        arena_printf(p->a, "%.*s  %lld of %lld node%s; removing %lld", SPAN_ARG(pool->meta.name),
                     (long long)t->active, (long long)pool->replicas,
                     pool->replicas == 1 ? "" : "s", (long long)surplus));
    for (int64_t i = 0; i < surplus; i++) {
        const struct claim_view *c = &p->claims[list[i].at];
        struct decision d = {.kind = DECISION_REMOVE,
                             .subject = "remove",
                             .per_hour = NAN,
                             .about = object_of(KIND_NODE_CLAIM, &c->claim->meta)};
        struct span why = arena_printf(p->a, "more nodes than replicas; %s",
                                       leaver_rank_text(list[i].rank));
        if (!claim_delete(p, c, &(struct claim_end){.why = "overprovisioned"}, &d, arena_cstr(p->a, why)) &&
            c->memo->memo.gate.retry_at > p->mono)
            pass_wake(p, c->memo->memo.gate.retry_at);
    }
}

static void keep_number(struct pass *p, const struct pool_view *v)
{
    const struct node_pool *pool = v->pool;
    struct tally t = tally_of(p, pool);
    pass_wake(p, p->mono + LOOK_MS);
    if (t.active > pool->replicas && pass_may(p, GUARDS_SHRINK))
        shrink(p, v, &t);
    else if (tally_is_enough(&t, pool))
        v->memo->told_fixed = 0;
    else if (pool_is_usable(pool, false))
        grow(p, v, &t);
}

void static_pools_run(struct pass *p)
{
    for (uint32_t i = 0; p->r->config.options.static_capacity && i < p->pool_count; i++)
        if (p->pools[i].provider != NULL && p->pools[i].pool->has_replicas &&
            p->pools[i].pool->meta.deleted == 0)
            keep_number(p, &p->pools[i]);
}
