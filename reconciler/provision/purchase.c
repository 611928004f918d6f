#include "reconciler/provision/purchase.h"

#include <stdlib.h>

#include "reconciler/stages.h"

enum {
    EXPECTED_MS = 15 * MS_SECOND, /* then the API is asked whether the claim is there */
    MINUTE_MS = MS_MINUTE,
};

/* ---- claims that were created and not seen yet ---- */

static struct expected *find_expected(const struct reconciler *r, struct span name)
{
    struct expected *e = r->purchases.expected;
    while (e != NULL && !span_eq(span_of(e->name), name))
        e = e->next;
    return e;
}

static void on_looked_up(struct reconciler *r, struct call *c)
{
    if (c->err.kind != ERR_NOT_FOUND)
        return;
    for (struct expected *e = r->purchases.expected; e != NULL; e = e->next)
        if (span_eq(span_of(e->name), c->topic.name))
            e->gone = true;
}

static bool is_seen(const struct pass *p, struct span name)
{
    return snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, name) != NULL;
}

static void look_up(struct pass *p, struct expected *e)
{
    struct call *c = call_new(p->r, &e->gate, on_looked_up);
    c->topic.name = arena_dup(&c->arena, span_of(e->name));
    e->ask_at = p->mono + EXPECTED_MS;
    call_get(c, KIND_NODE_CLAIM, (struct span){0}, c->topic.name);
}

bool purchases_unseen(struct pass *p)
{
    for (struct expected **at = &p->r->purchases.expected; *at != NULL;) {
        struct expected *e = *at;
        if ((is_seen(p, span_of(e->name)) || e->gone) && e->gate.under_way == 0) {
            *at = e->next;
            free(e);
            continue;
        }
        if (e->answered && p->mono >= e->ask_at && gate_open(&e->gate, UINT64_MAX, p->mono)) /* no snapshot has it yet */
            look_up(p, e);
        if (e->answered && e->gate.under_way == 0)
            pass_wake(p, e->ask_at > e->gate.retry_at ? e->ask_at : e->gate.retry_at);
        at = &e->next;
    }
    return p->r->purchases.expected != NULL;
}

/* Those without a machine of a provider that does not answer are not waited for: the plan knows them by what they asked
 * for, and others' pods need not wait, too. */
bool purchases_settled(struct pass *p)
{
    const struct provider *stalls = NULL; /* the last one of whom it was asked */
    bool unseen = purchases_unseen(p), launched = true;
    for (uint32_t i = 0; i < p->claim_count && launched; i++) {
        const struct claim_view *c = &p->claims[i];
        if (c->provider == NULL || c->leaving || c->identified || c->provider == stalls)
            continue;
        launched = calls_stall(p->r, c->provider);
        stalls = c->provider;
    }
    return launched && !unseen;
}

uint32_t purchases_for(const struct pass *p, struct span pool_uid)
{
    uint64_t pool = span_hash(pool_uid);
    uint32_t n = 0;
    for (const struct expected *e = p->r->purchases.expected; e != NULL; e = e->next)
        n += e->pool == pool && !e->gone && !is_seen(p, span_of(e->name));
    return n;
}

bool purchases_name_taken(const struct pass *p, struct span name)
{
    const struct expected *e = find_expected(p->r, name);
    return is_seen(p, name) || (e != NULL && !e->gone);
}

/* ---- what bounds buying ---- */

/* Of the last minute only. */
static void forget_purchases(struct reconciler *r)
{
    uint32_t old = 0;
    while (old < r->purchases.count && r->mono - r->purchases.times[old] >= MINUTE_MS)
        old++;
    if (old != 0)
        memmove(r->purchases.times, r->purchases.times + old, (r->purchases.count - old) * sizeof(*r->purchases.times));
    r->purchases.count -= old;
}

static void remember_purchase(struct reconciler *r)
{
    if (r->purchases.count == r->purchases.slots) {
        r->purchases.slots = r->purchases.slots != 0 ? r->purchases.slots * 2 : 64;
        r->purchases.times = mem_grow(r->purchases.times, r->purchases.slots, sizeof(*r->purchases.times));
    }
    r->purchases.times[r->purchases.count++] = r->mono;
}

struct purse purse_open(const struct pass *p)
{
    double sum = 0;
    forget_purchases(p->r);
    for (uint32_t i = 0; i < world_node_count(p->world); i++) {
        double price = world_node_at(p->world, i)->price;
        sum += isnan(price) ? 0 : price;
    }
    return (struct purse){.per_hour = sum};
}

/* usage > limit, strictly, before the claim is there (spec api 4.3): the planner does the gating.
 */
static bool limit_exceeded(const struct pass *p, const struct node_pool *pool, sym *name_out)
{
    struct resources usage;
    pool_usage(p, pool, &usage);
    for (uint32_t i = 0; i < pool->limits.count; i++) {
        *name_out = pool->limits.items[i].name;
        if (resources_get(usage, *name_out) > pool->limits.items[i].value)
            return true;
    }
    return false;
}

bool purse_take(struct pass *p, const struct purchase *b, struct purse *purse)
{
    const struct node_pool *pool = pass_pool(p, b->pool);
    const struct reconciler_options *o = &p->r->config.options;
    sym name;
    if (pool == NULL)
        return false;
    struct decision d = {.kind = DECISION_HOLD,
                         .subject = "hold",
                         .warning = true,
                         .per_hour = b->price,
                         .about = object_of(KIND_NODE_POOL, &pool->meta)};
    if (limit_exceeded(p, pool, &name)) {
        tell(p->r, d, "NodePool %.*s: resource usage exceeds limit (resource-name=%.*s)",
             SPAN_ARG(b->pool), SPAN_ARG(pass_text(p, name)));
        count(p->r, MEASURE_HELD_BACK, 1, SPAN("limit"), (struct span){0}, (struct span){0});
        return false;
    }
    if (o->max_nodes_per_minute != 0 && p->r->purchases.count >= o->max_nodes_per_minute) {
        pass_wake(p, p->r->purchases.times[0] + MINUTE_MS);
        if (purse->held_minute++ == 0)
            tell(p->r, d, "%u node%s bought within a minute, as --max-nodes-per-minute allows",
                 p->r->purchases.count, p->r->purchases.count == 1 ? " was" : "s were");
        count(p->r, MEASURE_HELD_BACK, 1, SPAN("max_nodes_per_minute"), (struct span){0},
              (struct span){0});
        return false;
    }
    if (o->max_hourly_price > 0 && !isnan(b->price) &&
        purse->per_hour + b->price > o->max_hourly_price) {
        if (purse->held_price++ == 0)
            tell(p->r, d, "another node would cost $%.3f/h in all, above --max-hourly-price",
                 purse->per_hour + b->price);
        count(p->r, MEASURE_HELD_BACK, 1, SPAN("max_hourly_price"), (struct span){0},
              (struct span){0});
        return false;
    }
    purse->per_hour += isnan(b->price) ? 0 : b->price;
    return true;
}

/* ---- sending ---- */

/* Several that fail at once are one failure. */
static void pace(struct pool_memo *m, bool ok, mono_ms now)
{
    if (ok)
        m->buying.failures = 0;
    else if (m->buying.retry_at <= now)
        gate_fail(&m->buying, now);
}

/* 409: our own earlier write, not seen yet. A lost reply: it may be there; the look-up will tell.
 */
static void on_created(struct reconciler *r, struct call *c)
{
    struct expected *e = find_expected(r, c->topic.name);
    bool created = c->err.kind == ERR_NONE || c->status == 409;
    if (e != NULL) {
        bool lost = c->status == 0 && c->err.kind != ERR_CANCELLED;
        e->answered = true;
        e->gone = !created && !lost;
        e->ask_at = lost ? r->mono : r->mono + EXPECTED_MS;
        e->gate = (struct gate){0};
    }
    if (c->memo != NULL)
        pace((struct pool_memo *)c->memo, created || c->err.kind == ERR_CANCELLED, r->mono);
    if (c->err.kind == ERR_NONE) {
        count(r, MEASURE_CLAIMS_CREATED, 1, c->topic.uid, c->topic.text, c->topic.ns);
        if (c->topic.number >= 0)
            count(r, MEASURE_PASS_DURATION, (double)(r->mono - c->topic.number) / MS_SECOND,
                  (struct span){0}, (struct span){0}, (struct span){0});
    } else if (!created && c->err.kind != ERR_CANCELLED) {
        tell(r,
             (struct decision){
                 .kind = DECISION_FAIL, .subject = "buy", .warning = true, .per_hour = NAN},
             "%.*s: could not be created: %s", SPAN_ARG(c->topic.name), c->err.msg);
    }
}

/* The gate of what is expected, which the create closes. */
static struct gate *expect(struct reconciler *r, const struct purchase *b)
{
    struct span name = b->name;
    struct expected *e = mem_new(sizeof(*e));
    memcpy(e->name, name.ptr, name.len < sizeof(e->name) ? name.len : sizeof(e->name) - 1);
    e->pool = span_hash(b->pool_uid);
    e->next = r->purchases.expected;
    r->purchases.expected = e;
    return &e->gate;
}

/* Absent of what no minValues were counted for. */
static struct span min_values_relaxed(const struct plan_claim *c)
{
    for (uint32_t i = 0; i < c->annotations.count; i++)
        if (span_eq(c->annotations.items[i].key, wellknown_text[SYM_MIN_VALUES_RELAXED - 1]))
            return c->annotations.items[i].value;
    return (struct span){0};
}

struct purchase purchase_of(struct pass *p, const struct plan_claim *c)
{
    struct purchase b = {.name = c->name, .pool = c->pool->meta.name, .pool_uid = c->pool->meta.uid,
                         .has_others = c->type_count > 1, .price = c->price, .relaxed = min_values_relaxed(c),
                         .why = SPAN("provisioned"), .asked = -1};
    if (c->type_count != 0)
        b.type = c->types[0]->name;
    decision_id(p->r, b.id);
    return b;
}

void purchase_send(struct pass *p, const struct purchase *b)
{
    struct reconciler *r = p->r;
    struct decision d = {.kind = DECISION_BUY,
                         .subject = "buy",
                         .per_hour = b->price,
                         .about = {.kind = KIND_NODE_CLAIM, .name = b->name}};
    remember_purchase(r);
    memcpy(d.id, b->id, sizeof(d.id));
    d.sentence = arena_printf(p->a, "%.*s  %.*s%s  for %.*s", SPAN_ARG(b->name),
                              SPAN_ARG(b->type.len != 0 ? b->type : SPAN("any type")),
                              b->has_others ? " or another" : "", SPAN_ARG(b->for_whom));
    act(p, &(struct action){
               .verb = API_CREATE,
               .kind = KIND_NODE_CLAIM,
               .memo = b->paced != NULL ? &b->paced->memo : NULL,
               .gate = expect(r, b),
               .body = b->body,
               .done = on_created,
               .topic = {.name = b->name, .text = b->pool, .ns = b->relaxed, .uid = b->why, .number = b->asked},
               .why = &d});
}

bool purchase_failed(const struct pass *p, struct span name)
{
    const struct expected *e = find_expected(p->r, name);
    return !is_seen(p, name) && (e == NULL || e->gone);
}
