/* The machine itself: inbox, leadership, and the order of the stages. */
#include "reconciler/disruption/ask.h"
#include "reconciler/disruption/recommend.h"
#include "reconciler/disruption/command.h"
#include "reconciler/disruption/emptiness.h"
#include "reconciler/divergence/divergence.h"
#include "reconciler/groups/coming.h"
#include "reconciler/reconciler.h"

#include <stdlib.h>

#include "reconciler/groups/status_map.h"
#include "reconciler/stages.h"

enum {
    UNSYNCED_MS = 1 * MS_SECOND,
    IDLE_MS = 10 * MS_SECOND, /* a step at least this often: metrics, timers of the provider */
};

static void release_claim(struct memo *m)
{
    arena_release(&((struct claim_memo *)m)->arena);
}

static void release_node(struct memo *m)
{
    kept_verdict_release(&((struct node_memo *)m)->verdict);
}

static void release_pool(struct memo *m)
{
    struct pool_memo *pool = (struct pool_memo *)m;
    free((void *)(uintptr_t)pool->faults.ptr);
    free(pool->usage.items);
}

static void init_memory(struct reconciler *r)
{
    memos_init(&r->claims, sizeof(struct claim_memo), release_claim);
    memos_init(&r->nodes, sizeof(struct node_memo), release_node);
    memos_init(&r->pods, sizeof(struct pod_memo), NULL);
    memos_init(&r->pools, sizeof(struct pool_memo), release_pool);
    memos_init(&r->asides, sizeof(struct memo), NULL);
    memos_init(&r->waiting, sizeof(struct waiting_memo), waiting_memo_release);
    memos_init(&r->buffers, sizeof(struct buffer_memo), NULL);
    memos_init(&r->requests, sizeof(struct request_memo), NULL);
    memos_init(&r->quotas, sizeof(struct memo), NULL);
    memos_init(&r->overlays, sizeof(struct memo), NULL);
    arena_init(&r->buffered.arena, 0);
    memos_init(&r->nominations, sizeof(struct memo), NULL);
    arena_init(&r->ranking.arena, 0);
}

struct reconciler *reconciler_new(const struct reconciler_config *config)
{
    struct reconciler *r = mem_new(sizeof(*r));
    struct reconciler_options *o = &r->config.options;
    r->config = *config;
    o->batch_idle = o->batch_idle != 0 ? o->batch_idle : 1 * MS_SECOND;
    o->batch_max = o->batch_max != 0 ? o->batch_max : 10 * MS_SECOND;
    o->idle = o->idle != 0 ? o->idle : IDLE_MS;
    o->validation = o->validation != 0 ? o->validation : 15 * MS_SECOND;
    o->cool_down = o->plan.search == SEARCH_GREEDY ? -1 : o->cool_down != 0 ? o->cool_down : 5 * MS_MINUTE;
    o->empty_return = o->plan.search == SEARCH_GREEDY ? 0 : o->empty_return;
    pthread_mutex_init(&r->lock, NULL);
    r->inbox_end = &r->inbox;
    arena_init(&r->arena, 64 << 10);
    batch_init(&r->provision.batch, o->batch_idle, o->batch_max);
    budgets_seen_init(&r->budgets);
    init_memory(r);
    return r;
}

static void forget_expected(struct reconciler *r)
{
    for (struct expected *e = r->purchases.expected, *next; e != NULL; e = next) {
        next = e->next;
        free(e);
    }
    r->purchases.expected = NULL;
}

static void release_memory(struct reconciler *r)
{
    views_release(&r->views);
    memos_release(&r->claims);
    memos_release(&r->nodes);
    memos_release(&r->pods);
    memos_release(&r->pools);
    memos_release(&r->asides);
    memos_release(&r->waiting);
    memos_release(&r->buffers);
    memos_release(&r->requests);
    memos_release(&r->quotas);
    memos_release(&r->overlays);
    arena_release(&r->buffered.arena);
    r->buffered.count = 0;
    r->buffered.planned = false;
    memos_release(&r->nominations);
    forget_expected(r);
    queue_forget(&r->commands);
    ask_forget(&r->asking);
    recommend_forget(&r->recommending);
    loops_release(&r->loops);
    returns_release(&r->returns);
    keeper_release(&r->keeper);
    arena_release(&r->ranking.arena);
    r->ranking = (struct ranking){0};
    r->moves_told = 0;
    uncount(r, MEASURE_LAST_FULL_SWEEP, (struct span){0}, (struct span){0}, (struct span){0});
}

static void drop_previous(struct reconciler *r)
{
    if (r->previous != NULL)
        shared_unref(&r->previous->shared);
    r->previous = NULL;
}

void reconciler_free(struct reconciler *r)
{
    calls_free(r);
    if (!ask_is_idle(&r->asking)) {
        r->config.worker.join(r->config.worker.user);
        ask_is_idle(&r->asking);
    }
    r->config.listener.measured = NULL; /* nobody listens any more */
    release_memory(r);
    standing_plan_drop(&r->standing);
    drop_previous(r);
    share_drop(&r->cache);
    batch_release(&r->provision.batch);
    budgets_seen_release(&r->budgets);
    arena_release(&r->arena);
    pthread_mutex_destroy(&r->lock);
    free(r->purchases.times);
    free(r->series.zones);
    free(r);
}

void reconciler_leave(struct reconciler *r)
{
    if (r->leading && r->observing[0] == '\0')
        status_map_end(r);
}

static void wake(struct reconciler *r)
{
    if (r->config.listener.wake != NULL)
        r->config.listener.wake(r->config.listener.user);
}

void reconciler_lead(struct reconciler *r, bool leading)
{
    pthread_mutex_lock(&r->lock);
    r->want_lead = leading;
    pthread_mutex_unlock(&r->lock);
    wake(r);
}

void reconciler_observe(struct reconciler *r, struct span reason)
{
    size_t n = reason.len < OBSERVE_MAX - 1 ? reason.len : OBSERVE_MAX - 1;
    pthread_mutex_lock(&r->lock);
    if (n != 0)
        memcpy(r->want_observe, reason.ptr, n);
    r->want_observe[n] = '\0';
    pthread_mutex_unlock(&r->lock);
    wake(r);
}

/* ---- leading and observing ---- */

void reconciler_publish(struct reconciler *r, struct places *places)
{
    standing_plan_drop(&r->standing); /* it is of the places before */
    r->places = places;
    share_publish(r->config.places, places != NULL ? &places->shared : NULL);
}

static void stop_acting(struct reconciler *r)
{
    calls_give_up(r);
    if (r->places != NULL)
        reconciler_publish(r, NULL);
    batch_close(&r->provision.batch);
    r->provision.batch_ready = r->rebuilt = false;
    drop_previous(r);
}

static void follow_leadership(struct reconciler *r)
{
    char observe[OBSERVE_MAX];
    pthread_mutex_lock(&r->lock);
    bool lead = r->want_lead;
    memcpy(observe, r->want_observe, sizeof(observe));
    pthread_mutex_unlock(&r->lock);
    if (r->leading != lead || (observe[0] != '\0') != (r->observing[0] != '\0')) {
        stop_acting(r);
        r->stale = true;
    }
    if (strcmp(observe, r->observing) != 0) {
        struct decision d = {.kind = DECISION_OBSERVE,
                             .subject = "observe",
                             .warning = observe[0] != '\0',
                             .per_hour = NAN};
        if (observe[0] != '\0')
            tell(r, d, "only observing: %s", observe);
        else
            tell(r, d, "acting again");
        count(r, MEASURE_OBSERVING, observe[0] != '\0', (struct span){0}, (struct span){0},
              (struct span){0});
        memcpy(r->observing, observe, sizeof(observe));
    }
    r->leading = lead;
}

/* What is remembered has moments of the wall clock in it, and goes: as after a change of leader, the rest is in the API. */
static void look_at_clock(struct reconciler *r)
{
    span_ms step = clock_jump_look(&r->jump, r->mono, r->wall);
    if (step == 0)
        return;
    struct arena a;
    arena_init(&a, 0);
    struct decision d = {.kind = DECISION_CLOCK, .subject = "clock", .warning = true, .per_hour = NAN};
    struct span by = duration_text(&a, (step > 0 ? step : -step) / MS_SECOND * MS_SECOND);
    count(r, MEASURE_CLOCK_STEPS, 1, step > 0 ? SPAN("forward") : SPAN("backward"), (struct span){0}, (struct span){0});
    if (step > 0)
        tell(r, d, "the clock was set forward by %.*s, or the machine was suspended for so long: nodes that have "
                   "expired by that leave as their NodePools' budgets let them, what is under way keeps its time", SPAN_ARG(by));
    else
        tell(r, d, "the clock was set back by %.*s: nodes expire later by so long, what is under way keeps its time", SPAN_ARG(by));
    arena_release(&a);
    if (r->missing.blind_until != 0) /* a moment that the clock showed before */
        r->missing.blind_until += step;
    stop_acting(r);
    r->stale = true;
}

/* What was remembered from before is forgotten, once no call needs it any more. */
static bool begin_afresh(struct reconciler *r)
{
    if (!r->stale)
        return true;
    if (!ask_is_idle(&r->asking) || r->calls_under_way != 0)
        return false;
    release_memory(r);
    init_memory(r);
    for (uint32_t i = 0; i < PROVIDERS_MAX; i++) /* calls that were given up are still under way */
        r->sides[i] = (struct provider_side){.calls = r->sides[i].calls};
    r->room_looked = r->drift_round = 0;
    r->divergence.waits_since = r->mono;
    r->provision.unsynced_since = 0;
    r->stale = false;
    return true;
}

bool reconciler_may_act(const struct reconciler *r)
{
    const struct reconciler_listener *l = &r->config.listener;
    return r->leading && r->observing[0] == '\0' &&
           (l->leads_until == NULL || r->mono < l->leads_until(l->user));
}

/* ---- a pass ---- */

/* A list that lost too many objects is looked at twice. The watch reads the second one as it reads every
 * list: page by page, again when it fails, and what was missing wrongly is there again with it. */
static void list_again(struct reconciler *r)
{
    for (enum kind k; (k = guards_ask(&r->missing.guards, r->mono)) != KIND_NONE;)
        r->config.api->ops->relist(r->config.api, k);
}

/* All series at first, then those that change. */
static void count_stopped(struct pass *p, enum guards_verdict v)
{
    struct told_missing *m = &p->r->missing;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        bool stopped = guards_stops(&p->view, v, k);
        if (!guards_can_stop(v, k) || (m->counted && m->stopped[v][k] == stopped))
            continue;
        m->stopped[v][k] = stopped;
        count(p->r, MEASURE_REMOVALS_STOPPED, stopped, span_of(guards_verdict_name(v)), span_of(kind_info(k)->name),
              (struct span){0});
    }
}

/* The most general of what waits, and why; absent: nothing does. */
static struct span what_waits(const struct pass *p)
{
    for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++) {
        enum kind k = KIND_NONE;
        enum guards_verdict v = guards_check(&p->view, act, &k);
        if (act == GUARDS_GROUPS && p->r->config.groups.provider == NULL)
            continue;
        const char *what = guards_act_sentence(act);
        if (v == GUARDS_WATCH_BROKEN)
            return arena_printf(p->a, "%s: the watch of %s has been broken for a minute", what,
                                kind_info(k)->plural);
        struct span loss = v == GUARDS_OBJECTS_LOST ? guards_loss_text(p->a, &p->view, act, k) : (struct span){NULL, 0};
        if (loss.len != 0)
            return arena_printf(p->a, "%s: %.*s", what, SPAN_ARG(loss));
    }
    return (struct span){NULL, 0};
}

static void tell_guards(struct pass *p)
{
    struct reconciler *r = p->r;
    struct span waits = what_waits(p);
    uint64_t told = waits.len != 0 ? span_hash(waits) : 0;
    struct decision d = {
        .kind = DECISION_GUARD, .subject = "guard", .warning = told != 0, .per_hour = NAN};
    if (told == r->missing.told)
        return;
    r->missing.told = told;
    if (told != 0)
        tell(r, d, "%.*s", SPAN_ARG(waits));
    else
        tell(r, d, "nodes may be removed again");
}

static void run_guards(struct pass *p)
{
    struct reconciler *r = p->r;
    p->view = guards_look(&r->missing.guards, p->snapshot, p->mono);
    list_again(r);
    pass_wake(p, guards_due(&r->missing.guards, p->snapshot, p->mono));
    for (enum guards_verdict v = GUARDS_WATCH_BROKEN; v < GUARDS_VERDICT_COUNT; v++)
        count_stopped(p, v);
    r->missing.counted = true;
    r->missing.collects = pass_may(p, GUARDS_COLLECT);
    if (!guards_see_nodes(&p->view))
        r->missing.blind_until = p->wall;
    tell_guards(p);
}

/* Once, for as long as it stays so. */
static void tell_aside(struct pass *p, struct span sentence)
{
    bool known = memos_find(&p->r->asides, sentence) != NULL;
    memos_at(&p->r->asides, sentence);
    if (!known)
        tell(p->r,
             (struct decision){.kind = DECISION_SET_ASIDE,
                               .subject = "set aside",
                               .warning = true,
                               .per_hour = NAN},
             "%.*s", SPAN_ARG(sentence));
}

static void tell_asides(struct pass *p)
{
    const struct snapshot *s = p->snapshot;
    const struct span *warnings;
    for (uint32_t i = 0; i < s->aside_count; i++) {
        const struct aside *x = &s->asides[i];
        struct meta m = {.name = x->name, .ns = x->ns};
        struct span name = kind_object_name(p->a, x->kind, &m);
        tell_aside(p, arena_printf(p->a, "%.*s: %.*s", SPAN_ARG(name), SPAN_ARG(x->reason)));
    }
    uint32_t count = p->world != NULL ? world_split_warnings(p->world, &warnings) : 0;
    for (uint32_t i = 0; i < count; i++)
        tell_aside(p, warnings[i]);
}

void reconciler_look_anew(struct reconciler *r)
{
    views_forget(&r->views);
    r->judged = 0;
}

/* Should a change ever be missed, it is for as long alone. */
static void sweep(struct reconciler *r)
{
    if (r->mono - r->swept < r->config.options.idle)
        return;
    r->swept = r->mono;
    roll_see(&r->views.claim_roll);
    roll_see(&r->views.node_roll);
    views_forget(&r->views);
    memos_sweep(&r->claims);
    memos_sweep(&r->nodes);
    memos_sweep(&r->pods);
    memos_sweep(&r->pools);
    memos_sweep(&r->asides);
    memos_sweep(&r->waiting);
    memos_sweep(&r->buffers);
    memos_sweep(&r->requests);
    memos_sweep(&r->quotas);
    memos_sweep(&r->overlays);
    memos_sweep(&r->nominations);
}

static void remember_snapshot(struct reconciler *r, struct snapshot *s)
{
    if (r->previous == s)
        return;
    shared_ref(&s->shared);
    drop_previous(r);
    r->previous = s;
}

/* As controller-runtime counts what its controllers do; here one does all. */
static void count_pass(struct reconciler *r, uint64_t began)
{
    const struct reconciler_listener *l = &r->config.listener;
    const struct span all = SPAN("stowage"), none = {0};
    count(r, MEASURE_RECONCILE_TOTAL, 1, all, SPAN("success"), none);
    if (l->now_ns != NULL)
        count(r, MEASURE_RECONCILE_TIME, (double)(l->now_ns(l->user) - began) / 1e9, all, none, none);
}

static mono_ms run_pass(struct reconciler *r, struct snapshot *s)
{
    struct pass p;
    const struct reconciler_listener *l = &r->config.listener;
    uint64_t began = l->now_ns != NULL ? l->now_ns(l->user) : 0;
    pass_begin(&p, r, s);
    if (!r->rebuilt) {
        reconciler_publish(r, places_rebuild(p.world, r->wall));
        divergence_begin(&p);
        queue_adopt(&p);
        r->rebuilt = true;
    }
    run_guards(&p);
    tell_asides(&p);
    pod_events_run(&p);
    transitions_run(&p);
    pool_status_run(&p);
    overlay_status_run(&p);
    buffer_status_run(&p);
    lifecycle_run(&p);
    drift_ask_run(&p);
    if (pass_may(&p, GUARDS_EXPIRE))
        expiration_run(&p);
    if (pass_may(&p, GUARDS_COLLECT))
        garbage_run(&p);
    if (pass_may(&p, GUARDS_EMPTY)) {
        legacy_repair_run(&p);
        disruption_run(&p);
        daemon_room_run(&p);
    } else {
        emptiness_hold(&p);
    }
    ranks_run(&p);
    if (pass_may(&p, GUARDS_DRAINED))
        reboot_run(&p);
    termination_run(&p);
    coming_run(&p);
    divergence_run(&p);
    static_pools_run(&p);
    provision_run(&p);
    planned_run(&p);
    nominate_run(&p);
    groups_run(&p);
    share_reap(r->config.places);
    remember_snapshot(r, s);
    sweep(r);
    count_pass(r, began);
    return p.next;
}

static mono_ms step_providers(struct reconciler *r)
{
    const struct providers *s = &r->config.providers;
    mono_ms next = INT64_MAX;
    for (uint32_t i = 0; i < s->count; i++) {
        mono_ms at = s->items[i]->ops->step(s->items[i], r->mono);
        next = at < next ? at : next;
    }
    return next;
}

mono_ms reconciler_step(struct reconciler *r, mono_ms mono, wall_ms wall)
{
    r->mono = mono;
    r->wall = wall;
    calls_deliver(r);
    mono_ms overdue = calls_expire(r);
    follow_leadership(r);
    look_at_clock(r);
    mono_ms next = mono + r->config.options.idle;
    struct snapshot *s = (struct snapshot *)share_read(r->config.snapshots, &r->cache);
    if (!reconciler_may_act(r)) {
        share_drop(&r->cache);
        return next;
    }
    next = overdue < next ? overdue : next;
    mono_ms at = step_providers(r);
    next = at < next ? at : next;
    if (s == NULL || !snapshot_synced(s) || !begin_afresh(r))
        return mono + UNSYNCED_MS < next ? mono + UNSYNCED_MS : next;
    at = run_pass(r, s);
    return at < next ? at : next;
}
