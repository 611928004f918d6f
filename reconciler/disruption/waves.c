#include "reconciler/disruption/waves.h"

#include "kube/replaces.h"
#include "reconciler/disruption/command.h"
#include "reconciler/stages.h"

enum {
    PAUSE_MS = MS_MINUTE, /* pods take some time to be ready: a gate that is shut for so long is told */
    SIZE_MOST = 1 << 20,
    WRITTEN_MS = MS_SECOND, /* times of the API are whole seconds */
};

/* It was marked for it, or is about to be. */
static bool goes(const struct pass *p, const struct claim_view *c)
{
    const struct condition *why = conditions_find(c->claim->conditions, SPAN("DisruptionReason"));
    bool marked = why != NULL && why->status == CONDITION_TRUE &&
                  span_eq(why->reason, disruption_reason_name(REASON_DRIFTED));
    const struct command *command = c->node >= 0 ? p->nodes[c->node].memo->command : NULL;
    return marked || (command != NULL && disruption_method_reason(command->method) == REASON_DRIFTED);
}

/* ---- the gate ---- */

struct gate_view {
    const struct pass *p;
    const struct node_pool *pool;
    const struct drift_wave *wave;
    bool going;           /* somebody is on the way out */
    uint32_t unready;     /* pods */
    const struct pod *pod; /* one of them */
    struct span why;      /* absent: nothing else is wrong */
};

static bool is_since(const struct drift_wave *w, wall_ms created)
{
    return created + WRITTEN_MS > w->began;
}

static void look_at_pods(struct gate_view *g, const struct node_view *n)
{
    uint32_t count;
    const struct pod *const *pods = node_pods(g->p, n, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pod *pod = pods[i];
        if (pod->ready || pod_is_terminal(pod) || pod->meta.deleted != 0 || pod_is_daemon(pod) ||
            !is_since(g->wave, pod->meta.created))
            continue;
        g->unready++;
        g->pod = pod;
    }
}

static void look_at_newcomer(struct gate_view *g, const struct claim_view *c)
{
    const struct node_view *n = c->node >= 0 ? &g->p->nodes[c->node] : NULL;
    if (!conditions_true(c->claim->conditions, SPAN("Initialized")))
        g->why = arena_printf(g->p->a, "NodeClaim %.*s is not initialized", SPAN_ARG(c->claim->meta.name));
    else if (n == NULL || !n->ready)
        g->why = arena_printf(g->p->a, "the Node of NodeClaim %.*s is not Ready", SPAN_ARG(c->claim->meta.name));
    else
        look_at_pods(g, n);
}

static struct gate_view look(const struct pass *p, const struct pool_view *v)
{
    struct gate_view g = {.p = p, .pool = v->pool, .wave = &v->memo->wave};
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (c->pool != v->pool)
            continue;
        g.going |= goes(p, c);
        if (!c->leaving && replaces_of(c->claim).bought != 0 && is_since(g.wave, c->claim->meta.created))
            look_at_newcomer(&g, c);
    }
    if (g.why.len == 0 && g.unready > g.wave->unready)
        g.why = arena_printf(p->a, "%u pod%s that came to its new nodes %s not ready, as %.*s/%.*s", g.unready,
                             g.unready == 1 ? "" : "s", g.unready == 1 ? "is" : "are", SPAN_ARG(g.pod->meta.ns),
                             SPAN_ARG(g.pod->meta.name));
    return g;
}

/* ---- waves ---- */

/* Why its drifted nodes are let alone, for who asks; absent: they are not any more. */
static void show_pause(struct pass *p, const struct node_pool *pool, struct span why)
{
    tell_silently(p->r, (struct decision){.per_hour = NAN, .about = object_of(KIND_NODE_POOL, &pool->meta),
                                          .side = SPAN("drift"), .sentence = why, .takes_back = why.len == 0});
}

/* What follows has nothing to wait for. */
static void begin_anew(struct pass *p, const struct pool_view *v, struct drift_wave w)
{
    if (v->memo->wave.paused)
        show_pause(p, v->pool, (struct span){NULL, 0});
    v->memo->wave = w;
}

static void keep_shut(struct pass *p, const struct pool_view *v, struct span why)
{
    struct drift_wave *w = &v->memo->wave;
    if (w->over == 0)
        w->over = p->mono;
    if (w->paused || p->mono < w->over + PAUSE_MS)
        return;
    w->paused = true;
    show_pause(p, v->pool, why);
    struct span text = arena_printf(p->a, "Its drifted nodes are let alone until the last that came in place of others are fit: "
                                          "%.*s", SPAN_ARG(why));
    tell(p->r, (struct decision){.kind = DECISION_KEEP, .subject = "keep", .warning = true, .per_hour = NAN,
                                 .reason = SPAN("DriftPaused"), .note = text,
                                 .about = object_of(KIND_NODE_POOL, &v->pool->meta)},
         "NodePool %.*s: drift is paused: %.*s", SPAN_ARG(v->pool->meta.name), SPAN_ARG(why));
}

static void begin_next(struct pass *p, const struct pool_view *v)
{
    struct drift_wave *w = &v->memo->wave;
    uint32_t size = w->size == 0 ? 1 : w->size < SIZE_MOST ? 2 * w->size : w->size;
    if (w->paused)
        tell(p->r, (struct decision){.kind = DECISION_KEEP, .subject = "keep", .per_hour = NAN},
             "NodePool %.*s: drift goes on, with %u node%s", SPAN_ARG(v->pool->meta.name), size, size == 1 ? "" : "s");
    begin_anew(p, v, (struct drift_wave){.known = true, .size = size, .began = p->wall, .hash = w->hash});
}

static uint64_t hash_of(const struct node_pool *pool)
{
    return span_hash(annotations_get(pool->meta.annotations, SYM_NODEPOOL_HASH));
}

static uint32_t left_of(struct pass *p, const struct pool_view *v)
{
    struct drift_wave *w = &v->memo->wave;
    if (!w->known || w->hash != hash_of(v->pool)) /* what has come by now is asked about all the same */
        begin_anew(p, v, (struct drift_wave){.known = true, .began = w->began, .hash = hash_of(v->pool)});
    if (w->taken < w->size)
        return w->size - w->taken;
    struct gate_view g = look(p, v);
    if (!g.going && g.why.len != 0)
        keep_shut(p, v, g.why);
    if (g.going || g.why.len != 0)
        return 0;
    begin_next(p, v);
    return w->size;
}

uint32_t waves_left(struct pass *p, struct arena *a, const struct wave_left **out)
{
    struct wave_left *list = ARENA_ARRAY(a, struct wave_left, p->pool_count);
    uint32_t count = 0;
    *out = list;
    if (p->r->config.options.plan.search == SEARCH_GREEDY)
        return 0;
    for (uint32_t i = 0; i < p->pool_count; i++)
        list[count++] = (struct wave_left){arena_dup(a, p->pools[i].pool->meta.name), left_of(p, &p->pools[i])};
    return count;
}

void waves_rest(struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        begin_anew(p, &p->pools[i], (struct drift_wave){.known = true, .began = p->wall, .hash = hash_of(p->pools[i].pool)});
}

/* ---- commands ---- */

static struct drift_wave *wave_of(const struct pass *p, const struct command *c, uint32_t member)
{
    struct claim_view *v = pass_claim(p, c->members[member].claim);
    struct pool_memo *m = v != NULL && v->pool != NULL ? memos_find(&p->r->pools, v->pool->meta.uid) : NULL;
    bool drift = disruption_method_reason(c->method) == REASON_DRIFTED;
    return drift && m != NULL ? &m->wave : NULL;
}

void waves_take(struct pass *p, const struct command *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct drift_wave *w = wave_of(p, c, i);
        const struct node_view *n = pass_node(p, c->members[i].node);
        struct gate_view all = {.p = p, .wave = &(struct drift_wave){.began = 0}};
        if (w == NULL)
            continue;
        if (n != NULL)
            look_at_pods(&all, n);
        w->taken++;
        w->unready += all.unready;
    }
}

void waves_fail(struct pass *p, const struct command *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct drift_wave *w = wave_of(p, c, i);
        if (w != NULL)
            w->size = w->taken = 0;
    }
}
