#include "reconciler/disruption/ask.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kube/budget.h"
#include "planner/bits.h"
#include "reconciler/disruption/budgets.h"
#include "reconciler/disruption/command.h"
#include "reconciler/disruption/emptiness.h"
#include "reconciler/disruption/loops.h"
#include "reconciler/disruption/reboot.h"
#include "reconciler/disruption/recommend.h"
#include "reconciler/disruption/repair.h"
#include "reconciler/disruption/waves.h"
#include "reconciler/divergence/divergence.h"
#include "reconciler/stages.h"

enum {
    POLL_MS = 10 * MS_SECOND,      /* Karpenter's loop */
    REFRESH_MS = 5 * MS_MINUTE,    /* as its state of consolidation does: windows of budgets open by time alone */
    RENEW_MS = MS_HOUR,            /* what is left of a node's life weighs its pods, and shrinks slowly */
    TOLD_AGAIN_MS = 15 * MS_MINUTE, /* Unconsolidatable, of one node */
    SHARES_OF = 1000, /* nodes: so many budgets are asked about to see whether they allow as many as before */
    /* A step takes two microseconds (planner/disruption/multi.c). Single nodes are looked at for ten seconds at most, since
     * what is looked at is as old as that; and consolidations are to take a twentieth of the time. */
    SINGLE_STEPS = 5 * 1000 * 1000,
    STEPS_PER_MS = 500,
    REST = 20,
};

static const uint32_t CONSOLIDATIONS = UINT32_C(1) << METHOD_MULTI | UINT32_C(1) << METHOD_SINGLE;
static const uint32_t DRIFTS = UINT32_C(1) << METHOD_STATIC_DRIFT | UINT32_C(1) << METHOD_DRIFT;
static const uint32_t REPAIRS = UINT32_C(1) << METHOD_REPAIR;
static const uint32_t ALL = (UINT32_C(1) << METHOD_COUNT) - 1;

/* ---- the question ---- */

/* Asked on one pass's world, answered wherever the worker is: all that it reads lives in it, or in its snapshot. */
struct inquiry {
    struct reconciler *r;
    struct snapshot *snapshot; /* a reference */
    struct arena arena;
    struct plan_options plan;
    struct disruption_options options;
    uint32_t asked;            /* methods, bit by number */
    const uint64_t *put_off;   /* hashes of the UIDs of pods for whom nothing is planned now, sorted */
    uint32_t put_off_count;
    struct disruption *answer;
    _Atomic(bool) cancelled, done;
};

static bool is_to_stop(void *user)
{
    return atomic_load(&((struct inquiry *)user)->cancelled);
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static struct why put_off(void *user, const struct pod *pod)
{
    const struct inquiry *q = user;
    uint64_t hash = span_hash(pod->meta.uid);
    bool is = bsearch(&hash, q->put_off, q->put_off_count, sizeof(hash), by_number) != NULL;
    return is ? (struct why){SPAN("is not planned for a while"), {NULL, 0}} : (struct why){0};
}

static void keep_put_off(struct inquiry *q, const struct pass *p)
{
    const struct memos *all = &p->r->waiting;
    uint64_t *list = ARENA_ARRAY(&q->arena, uint64_t, p->r->divergence.putting_off ? all->count : 0);
    for (uint32_t i = 0; p->r->divergence.putting_off && i < all->slot_count; i++)
        for (struct memo *m = all->slots[i]; m != NULL; m = m->next)
            if (((struct waiting_memo *)m)->put_off > p->mono)
                list[q->put_off_count++] = span_hash(m->key);
    if (q->put_off_count != 0)
        qsort(list, q->put_off_count, sizeof(*list), by_number);
    q->put_off = list;
}

const uint64_t *ask_queued(struct arena *a, const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (n->row >= 0 && (n->memo->command != NULL || (n->claim >= 0 && claim_is_leaving(p, &p->claims[n->claim]))))
            bits_add(rows, (uint32_t)n->row);
    }
    return rows;
}

static bool is_nominated(struct pass *p, const struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    return n->memo->nominated_until > p->mono || n->memo->barred > p->mono ||
           (c != NULL && c->memo->nominated_until > p->mono) || node_is_promised(p, n);
}

const uint64_t *ask_nominated(struct arena *a, struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row >= 0 && is_nominated(p, &p->nodes[i]))
            bits_add(rows, (uint32_t)p->nodes[i].row);
    return rows;
}

static const uint64_t *rows_cooling(struct arena *a, const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
        if (n->row >= 0 && n->memo->said == EMPTY_AWAITED)
            bits_add(rows, (uint32_t)n->row);
        if (n->row >= 0 && c != NULL && (c->memo->cools > p->mono || loops_end(p, c) > p->mono))
            bits_add(rows, (uint32_t)n->row);
    }
    return rows;
}

static const uint64_t *rows_buffered(struct arena *a, const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (n->row >= 0 && n->claim >= 0 && buffers_need(p, p->claims[n->claim].claim))
            bits_add(rows, (uint32_t)n->row);
    }
    return rows;
}

/* Who was looked at before the search's steps were over: it goes on with the others. */
static const uint64_t *rows_looked(struct arena *a, const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row >= 0 && p->nodes[i].memo->looked == p->r->asking.sweep + 1)
            bits_add(rows, (uint32_t)p->nodes[i].row);
    return rows;
}

/* Karpenter's search begins anew each time. */
static bool resumes(const struct reconciler *r)
{
    return r->config.options.plan.search != SEARCH_GREEDY;
}

/* What the same world is judged by and time alone changes: who is in a command, wanted or cooling, and how many nodes
 * budgets let go. The planner answers the same to the same, so that there is nothing to ask while this is as it was. */
static uint64_t basis_of(const struct inquiry *q, const struct pass *p)
{
    uint32_t words = bits_words(world_node_count(p->world));
    const uint64_t *rows[] = {q->options.queued, q->options.nominated, q->options.buffered, q->options.cooling,
                              q->put_off};
    uint64_t hash = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t count = rows[i] == q->put_off ? q->put_off_count : words;
        hash = hash * 31 + (count != 0 ? span_hash((struct span){(const char *)rows[i], count * sizeof(*rows[i])}) : 0);
    }
    for (uint32_t i = 0; i < p->pool_count; i++)
        hash = hash * 31 + (uint64_t)budgets_allowed(p->pools[i].pool, SHARES_OF, SPAN("Underutilized"), p->wall);
    return hash;
}

static void reserve(struct inquiry *q, const struct pass *p)
{
    struct disruption_options *o = &q->options;
    struct reserved_nodes *list = ARENA_ARRAY(&q->arena, struct reserved_nodes, p->pool_count);
    for (uint32_t i = 0; i < p->pool_count; i++) {
        const struct node_pool *pool = p->pools[i].pool;
        int64_t nodes = pool->has_replicas ? (int64_t)purchases_for(p, pool->meta.uid) +
                                                 queue_unsent(&p->r->commands, pool->meta.uid)
                                           : 0;
        if (nodes != 0)
            list[o->reserved_count++] = (struct reserved_nodes){pool->meta.name, nodes};
    }
    o->reserved = list;
}

/* Each provider's own, for its nodes; one that has none repairs nothing. */
static void take_repairs(struct inquiry *q, const struct reconciler *r)
{
    const struct providers *s = &r->config.providers;
    struct class_repair *list = ARENA_ARRAY(&q->arena, struct class_repair, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        list[i] = (struct class_repair){.group = span_of(s->items[i]->ops->node_class_group),
                                        .kind = span_of(s->items[i]->ops->node_class_kind),
                                        .policies = repair_policies_of(r, s->items[i])};
        if (q->options.repair == NULL)
            q->options.repair = list[i].policies;
    }
    q->options.class_repairs = list;
    q->options.class_repair_count = s->count;
}

static struct inquiry *inquiry_new(struct pass *p, uint32_t asked, enum disruption_mode mode)
{
    const struct reconciler_options *with = &p->r->config.options;
    struct inquiry *q = mem_new(sizeof(*q));
    q->r = p->r;
    q->asked = asked;
    q->snapshot = (struct snapshot *)(uintptr_t)p->snapshot;
    shared_ref(&q->snapshot->shared);
    arena_init(&q->arena, 0);
    keep_put_off(q, p);
    q->plan = with->plan;
    q->plan.now = p->wall;
    q->plan.stop = is_to_stop;
    q->plan.put_off = q->put_off_count != 0 ? put_off : NULL;
    q->plan.user = q;
    q->options = (struct disruption_options){
        .plan = &q->plan,
        .passed_over = ALL & ~asked,
        .mode = mode,
        .terminate_first_drift = with->terminate_first_drift,
        .terminate_first_repair = with->terminate_first_repair,
        .spot_to_spot = with->spot_to_spot,
        .pod_deletion_cost = with->pod_deletion_cost,
        .queued = ask_queued(&q->arena, p),
        .nominated = ask_nominated(&q->arena, p),
        .buffered = rows_buffered(&q->arena, p),
        .cooling = rows_cooling(&q->arena, p),
        .unreached = p->r->asking.unreached, /* stays until the answer */
        .unreached_count = p->r->asking.unreached_count,
        .looked = mode == MODE_ACT && resumes(p->r) ? rows_looked(&q->arena, p) : NULL,
        .single_steps = with->look_steps != 0 ? with->look_steps : SINGLE_STEPS,
    };
    q->options.launch_count = pool_launches(p, &q->arena, &q->options.launches);
    if ((asked & DRIFTS) != 0 && mode == MODE_ACT)
        q->options.wave_count = waves_left(p, &q->arena, &q->options.waves);
    take_repairs(q, p->r);
    if (q->options.repair != NULL)
        q->options.reboots = reboot_counts(&q->arena, p, &q->options.reboot_count);
    reserve(q, p);
    return q;
}

static void inquiry_free(struct inquiry *q)
{
    disruption_free(q->answer);
    shared_unref(&q->snapshot->shared);
    arena_release(&q->arena);
    free(q);
}

enum disruption_validity ask_validity(struct pass *p, const struct command *c)
{
    struct inquiry *q = inquiry_new(p, 0, MODE_ACT);
    struct span *nodes = ARENA_ARRAY(p->a, struct span, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        nodes[i] = c->members[i].node;
    struct disruption_pledge pledge = {.nodes = nodes, .count = c->count, .replaces = c->replacement_count != 0};
    if (pledge.replaces) {
        pledge.types = c->pledged[0].types;
        pledge.type_count = c->pledged[0].type_count;
        pledge.others = &c->pledged[1];
        pledge.other_count = c->replacement_count - 1;
    }
    enum disruption_validity v = disruption_validate(p->world, &q->options, &pledge);
    inquiry_free(q);
    return v;
}

void ask_rejected(struct pass *p, enum disruption_method m)
{
    p->r->asking.changed = true;
    p->r->asking.several_rejected = m == METHOD_MULTI;
}

/* ---- what is said ---- */

/* Of one node once in a while. Why it is not consolidated changes with its pods: the first reason is as good as the next. */
static void tell_node(struct pass *p, const struct world *w, const struct disruption_note *note)
{
    static const struct span reasons[] = {[NOTE_BLOCKED] = SPAN_INIT("DisruptionBlocked"),
                                          [NOTE_UNCONSOLIDATABLE] = SPAN_INIT("Unconsolidatable"),
                                          [NOTE_REPAIR_BLOCKED] = SPAN_INIT("NodeRepairBlocked")};
    const struct world_node *row = world_node_at(w, (uint32_t)note->row);
    struct node_view *n = row->node != NULL ? pass_node(p, row->node->meta.name) : NULL;
    uint64_t hash = span_hash(note->text);
    if (n == NULL || row->claim == NULL)
        return;
    struct note_told *told = note->method == METHOD_REPAIR ? &n->memo->unrepaired : &n->memo->unconsolidatable;
    if (told->hash == hash && p->mono < told->at + TOLD_AGAIN_MS)
        return;
    *told = (struct note_told){hash, p->mono};
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .warning = note->kind == NOTE_REPAIR_BLOCKED,
                         .reason = reasons[note->kind],
                         .note = note->text,
                         .dedupe = note->kind == NOTE_UNCONSOLIDATABLE ? (struct span){NULL, 0} : note->text,
                         .about = object_of(KIND_NODE_CLAIM, &row->claim->meta)};
    tell_silently(p->r, d);
    d.about = object_of(KIND_NODE, &row->node->meta);
    tell_silently(p->r, d);
    if (note->kind != NOTE_REPAIR_BLOCKED)
        return;
    d.about = object_of(KIND_NODE_POOL, &note->pool->meta);
    tell_silently(p->r, d);
}

/* What blocks a node whatever the method, emptiness tells (stays.c); why one is not repaired it cannot. */
static bool is_told(const struct disruption_note *note, const struct inquiry *q, const struct world *w)
{
    const struct node *n = note->row >= 0 ? world_node_at(w, (uint32_t)note->row)->node : NULL;
    return n != NULL && (!note->shared || (note->method == METHOD_REPAIR && repair_is_unhealthy(q->options.repair, n)));
}

static void tell_notes(struct pass *p, const struct inquiry *q)
{
    const struct disruption *d = q->answer;
    const struct world *w = derive_world(q->snapshot);
    uint32_t reasons = 0;
    for (uint32_t m = 0; m < METHOD_COUNT; m++)
        if ((q->asked >> m) & 1)
            reasons |= UINT32_C(1) << disruption_method_reason((enum disruption_method)m);
    uint32_t *closed = ARENA_ARRAY(p->a, uint32_t, p->pool_count);
    for (uint32_t i = 0; i < d->note_count; i++) {
        const struct disruption_note *note = &d->notes[i];
        if (is_told(note, q, w))
            tell_node(p, w, note);
        for (uint32_t k = 0; note->row < 0 && k < p->pool_count; k++)
            if (span_eq(p->pools[k].pool->meta.uid, note->pool->meta.uid))
                closed[k] |= UINT32_C(1) << disruption_method_reason(note->method);
    }
    for (uint32_t k = 0; k < p->pool_count; k++)
        for (uint32_t r = 0; r < REASON_COUNT; r++)
            if ((reasons >> r) & 1)
                budgets_tell(p, &p->pools[k], (enum disruption_reason)r, (closed[k] >> r) & 1);
}

/* ---- asking ---- */

void ask_forget(struct asking *a)
{
    for (uint32_t i = 0; i < a->unreached_count; i++)
        free((void *)(uintptr_t)a->unreached[i].ptr);
    free(a->unreached);
    *a = (struct asking){.inquiry = a->inquiry, .changed = true};
}

static void keep_unreached(struct asking *a, const struct disruption *d)
{
    struct span *list = mem_new(d->unreached_count * sizeof(*list) + 1);
    for (uint32_t i = 0; i < d->unreached_count; i++) {
        char *text = mem_new(d->unreached[i].len + 1);
        memcpy(text, d->unreached[i].ptr, d->unreached[i].len);
        list[i] = (struct span){text, d->unreached[i].len};
    }
    struct asking kept = *a;
    ask_forget(a);
    *a = kept;
    a->unreached = list;
    a->unreached_count = d->unreached_count;
}

static void keep_looked(struct pass *p, const struct inquiry *q)
{
    const struct world *w = derive_world(q->snapshot);
    const struct disruption *d = q->answer;
    if (d->swept || d->looked == NULL) {
        p->r->asking.sweep += d->swept;
        return;
    }
    for (uint32_t row = 0; row < world_node_count(w); row++) {
        const struct node *node = world_node_at(w, row)->node;
        struct node_view *n = bits_has(d->looked, row) && node != NULL ? pass_node(p, node->meta.name) : NULL;
        if (n != NULL)
            n->memo->looked = p->r->asking.sweep + 1;
    }
}

/* Who is to go for it. */
static bool any_drifted(const struct pass *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->claim_count && !any; i++) {
        const struct claim_view *c = &p->claims[i];
        any = conditions_true(c->claim->conditions, SPAN("Drifted")) &&
              (c->pool == NULL || disruption_mode_of(c->pool, REASON_DRIFTED) == MODE_ACT);
    }
    return any;
}

static void sooner(const struct pass *p, mono_ms end, mono_ms *at)
{
    if (end > p->mono && end < *at)
        *at = end;
}

/* Who was left out because he is nominated, barred or cools down comes into question by time alone. */
static mono_ms look_again(const struct pass *p)
{
    mono_ms at = p->mono + REFRESH_MS;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        sooner(p, n->memo->nominated_until, &at);
        sooner(p, n->memo->barred, &at);
        if (n->memo->awaited_until != 0)
            sooner(p, p->mono + (n->memo->awaited_until - p->wall), &at);
        if (n->claim >= 0) {
            sooner(p, p->claims[n->claim].memo->nominated_until, &at);
            sooner(p, p->claims[n->claim].memo->cools, &at);
            sooner(p, loops_end(p, &p->claims[n->claim]), &at);
        }
    }
    return at;
}

static bool is_as_before(struct pass *p)
{
    struct asking *a = &p->r->asking;
    struct inquiry *q = inquiry_new(p, CONSOLIDATIONS, MODE_ACT);
    bool same = basis_of(q, p) == a->basis && p->mono < a->renewed;
    inquiry_free(q);
    if (!same)
        return false;
    a->again = look_again(p);
    a->swept = a->swept_all ? p->mono : a->swept; /* of everybody the answer is as it was */
    return true;
}

/* Methods, bit by number; 0: there is nothing to ask. */
static uint32_t what_to_ask(struct pass *p)
{
    const struct asking *a = &p->r->asking;
    uint32_t asked = any_drifted(p) ? DRIFTS : 0;
    if (asked == 0)
        waves_rest(p);
    if (repair_is_due(p))
        asked |= REPAIRS;
    if (p->mono >= a->rested && (a->changed || (p->mono >= a->again && !is_as_before(p))))
        asked |= CONSOLIDATIONS & ~(a->several_rejected ? UINT32_C(1) << METHOD_MULTI : 0);
    return asked;
}

static void count_timeouts(struct pass *p, const struct inquiry *q)
{
    const struct disruption *d = q->answer;
    if (!d->complete && (q->asked & CONSOLIDATIONS) != 0)
        count(p->r, MEASURE_CONSOLIDATION_TIMEOUTS, 1, d->unreached_count != 0 ? SPAN("single") : SPAN("multi"),
              (struct span){0}, (struct span){0});
}

/* On the worker's thread. */
static void work(void *inquiry)
{
    struct inquiry *q = inquiry;
    const struct reconciler_listener l = q->r->config.listener;
    q->answer = disruption_decide(derive_world(q->snapshot), &q->options);
    atomic_store(&q->done, true); /* from here on it is the reconciler's */
    if (l.wake != NULL)
        l.wake(l.user);
}

static void begin(struct pass *p, struct inquiry *q)
{
    const struct reconciler_worker *worker = &p->r->config.worker;
    p->r->asking.inquiry = q;
    if (worker->run != NULL)
        worker->run(worker->user, work, q);
    else
        work(q);
}

static void begin_acting(struct pass *p, uint32_t asked)
{
    struct asking *a = &p->r->asking;
    struct inquiry *q = inquiry_new(p, asked, MODE_ACT);
    if ((asked & CONSOLIDATIONS) != 0) {
        a->changed = false;
        a->basis = basis_of(q, p);
        a->renewed = p->mono + RENEW_MS;
    }
    a->acted = true;
    begin(p, q);
}

static void begin_recommending(struct pass *p)
{
    p->r->asking.acted = false;
    recommend_begun(p);
    begin(p, inquiry_new(p, ALL, MODE_RECOMMEND));
}

/* Who is not what he was any more, the commands themselves find out (queue.c). */
static void take_commands(struct pass *p, const struct inquiry *q)
{
    struct asking *a = &p->r->asking;
    const struct disruption *d = q->answer;
    uint32_t begun = 0;
    tell_notes(p, q);
    count_timeouts(p, q);
    for (uint32_t i = 0; i < d->command_count; i++) {
        struct command *c = command_make(p, q->snapshot, &d->commands[i]);
        if (c != NULL && loops_stop(p, c)) {
            command_free(c);
            p->r->asking.changed = true;
            continue;
        }
        begun += c != NULL && queue_add(p, c);
    }
    if ((q->asked & CONSOLIDATIONS) != 0) {
        a->several_rejected = false;
        /* A search whose steps were over would come as far once more: unless it goes on with others. */
        a->changed |= begun != 0 || d->unreached_count != 0 || (resumes(p->r) && !d->complete && !d->swept);
        keep_looked(p, q);
        a->again = look_again(p);
        a->swept_all = d->swept;
        a->swept = d->swept ? p->mono : a->swept;
    }
    a->next = p->mono + (begun != 0 ? 0 : POLL_MS);
    if ((q->asked & CONSOLIDATIONS) != 0)
        a->rested = p->mono + (span_ms)(d->steps / STEPS_PER_MS) * REST;
    keep_unreached(a, d);
}

/* What keeps nodes of its pools has Events as if it was to be done. */
static void take_recommended(struct pass *p, const struct inquiry *q)
{
    for (uint32_t i = 0; i < q->answer->note_count; i++)
        if (is_told(&q->answer->notes[i], q, derive_world(q->snapshot)))
            tell_node(p, derive_world(q->snapshot), &q->answer->notes[i]);
    recommend_take(p, q->snapshot, q->answer);
    p->r->asking.next = p->mono;
}

static void take_answer(struct pass *p)
{
    struct inquiry *q = p->r->asking.inquiry;
    if (q->options.mode == MODE_ACT)
        take_commands(p, q);
    else
        take_recommended(p, q);
    inquiry_free(q);
    p->r->asking.inquiry = NULL;
}

static void ask(struct pass *p)
{
    struct asking *a = &p->r->asking;
    bool free_to_ask = a->inquiry == NULL && queue_waiting(&p->r->commands) == NULL;
    if (free_to_ask && p->mono < a->next) {
        pass_wake(p, a->next);
    } else if (free_to_ask && purchases_settled(p)) {
        uint32_t asked = what_to_ask(p);
        bool recommends = recommend_is_due(p) && (asked == 0 || a->acted); /* in turns */
        a->next = p->mono + POLL_MS;
        if (recommends)
            begin_recommending(p);
        else if (asked != 0)
            begin_acting(p, asked);
        else
            pass_wake(p, a->changed ? a->rested : a->again); /* what changes meanwhile is a pass of its own */
    }
    if (a->inquiry != NULL && atomic_load(&a->inquiry->done)) {
        take_answer(p);
        pass_wake(p, a->next);
    }
}

void disruption_run(struct pass *p)
{
    struct reconciler *r = p->r;
    bool changed = r->previous == NULL || derive_world(r->previous) != p->world;
    r->asking.changed |= changed;
    r->recommending.changed |= changed;
    budgets_count(p);
    emptiness_run(p);
    queue_run(p);
    ask(p);
    moves_tell(p);
    if (r->asking.swept == 0)
        r->asking.swept = p->mono;
    count(r, MEASURE_LAST_FULL_SWEEP, (double)(p->mono - r->asking.swept) / MS_SECOND, (struct span){0}, (struct span){0},
          (struct span){0});
}

bool ask_is_idle(struct asking *a)
{
    if (a->inquiry == NULL)
        return true;
    atomic_store(&a->inquiry->cancelled, true);
    if (!atomic_load(&a->inquiry->done))
        return false;
    inquiry_free(a->inquiry);
    a->inquiry = NULL;
    return true;
}
