#include "reconciler/disruption/ask.h"

#include <math.h>
#include <stdlib.h>

#include "planner/bits.h"
#include "reconciler/disruption/command.h"
#include "reconciler/divergence.h"
#include "reconciler/stages.h"

enum {
    POLL_MS = 10 * MS_SECOND,      /* Karpenter's loop */
    REFRESH_MS = 5 * MS_MINUTE,    /* as its state of consolidation does: windows of budgets open by time alone */
    TOLD_AGAIN_MS = 15 * MS_MINUTE, /* Unconsolidatable, of one node */
    /* A step takes two microseconds (planner/disruption/multi.c). A question is to end within two seconds, for the same
     * thread launches and binds; and questions are to take a twentieth of the time. */
    STEPS_MOST = 500 * 1000,
    STEPS_PER_MS = 500,
    REST = 20,
};

static const uint32_t CONSOLIDATIONS = UINT32_C(1) << METHOD_MULTI | UINT32_C(1) << METHOD_SINGLE;
static const uint32_t DRIFTS = UINT32_C(1) << METHOD_STATIC_DRIFT | UINT32_C(1) << METHOD_DRIFT;
static const uint32_t ALL = (UINT32_C(1) << METHOD_COUNT) - 1;

/* ---- the question ---- */

struct question {
    struct pass *p;
    struct plan_options plan;
    struct disruption_options options;
};

static bool is_to_stop(void *user)
{
    const struct question *q = user;
    const struct reconciler_listener *l = &q->p->r->config.listener;
    return l->goes_on != NULL && !l->goes_on(l->user);
}

static struct why put_off(void *user, const struct pod *pod)
{
    return divergence_put_off(((const struct question *)user)->p, pod);
}

static bool own_nomination(void *user, const struct pod *pod)
{
    (void)user;
    return nominate_is_own(pod);
}

/* Rows that a command has, emptiness' own among them. */
static const uint64_t *rows_queued(const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(p->a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row >= 0 && (p->nodes[i].memo->queued || p->nodes[i].memo->command))
            bits_add(rows, (uint32_t)p->nodes[i].row);
    return rows;
}

static bool is_nominated(struct pass *p, const struct node_view *n)
{
    const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
    return n->memo->nominated_until > p->mono || n->memo->barred > p->mono ||
           (c != NULL && c->memo->nominated_until > p->mono) || node_is_promised(p, n);
}

static const uint64_t *rows_nominated(struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(p->a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].row >= 0 && is_nominated(p, &p->nodes[i]))
            bits_add(rows, (uint32_t)p->nodes[i].row);
    return rows;
}

static const uint64_t *rows_buffered(const struct pass *p)
{
    uint64_t *rows = ARENA_ARRAY(p->a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node_view *n = &p->nodes[i];
        if (n->row >= 0 && n->claim >= 0 && buffers_need(p, p->claims[n->claim].claim))
            bits_add(rows, (uint32_t)n->row);
    }
    return rows;
}

static void reserve(const struct pass *p, struct disruption_options *o)
{
    struct reserved_nodes *list = ARENA_ARRAY(p->a, struct reserved_nodes, p->pool_count);
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

static void question_init(struct question *q, struct pass *p)
{
    const struct reconciler_options *with = &p->r->config.options;
    *q = (struct question){.p = p, .plan = with->plan};
    q->plan.now = p->wall;
    q->plan.stop = is_to_stop;
    q->plan.own_nomination = own_nomination;
    q->plan.put_off = p->r->putting_off ? put_off : NULL;
    q->plan.user = q;
    q->options = (struct disruption_options){
        .plan = &q->plan,
        .terminate_first_drift = with->terminate_first_drift,
        .spot_to_spot = with->spot_to_spot,
        .pod_deletion_cost = with->pod_deletion_cost,
        .queued = rows_queued(p),
        .nominated = rows_nominated(p),
        .buffered = rows_buffered(p),
        .unreached = p->r->asking.unreached,
        .unreached_count = p->r->asking.unreached_count,
        .multi_steps = STEPS_MOST,
        .single_steps = STEPS_MOST,
    };
    reserve(p, &q->options);
}

enum disruption_validity ask_validity(struct pass *p, const struct command *c)
{
    struct question q;
    question_init(&q, p);
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
    return disruption_validate(p->world, &q.options, &pledge);
}

void ask_rejected(struct pass *p, enum disruption_method m)
{
    p->r->asking.changed = true;
    p->r->asking.several_rejected = m == METHOD_MULTI;
}

/* ---- what is said ---- */

/* Of one node once in a while, whatever the reason: the first is as good as the next. */
static void tell_node(struct pass *p, const struct disruption_note *note)
{
    const struct world_node *row = world_node_at(p->world, (uint32_t)note->row);
    struct node_view *n = row->node != NULL ? pass_node(p, row->node->meta.name) : NULL;
    bool blocked = note->kind == NOTE_BLOCKED;
    uint64_t hash = span_hash(note->text);
    if (n == NULL || row->claim == NULL)
        return;
    struct note_told *told = &n->memo->unconsolidatable;
    if (told->hash == hash && p->mono < told->at + TOLD_AGAIN_MS)
        return;
    *told = (struct note_told){hash, p->mono};
    struct decision d = {.kind = DECISION_KEEP,
                         .per_hour = NAN,
                         .reason = blocked ? SPAN("DisruptionBlocked") : SPAN("Unconsolidatable"),
                         .note = note->text,
                         .about = object_of(KIND_NODE_CLAIM, &row->claim->meta)};
    tell_silently(p->r, d);
    d.about = object_of(KIND_NODE, &row->node->meta);
    tell_silently(p->r, d);
}

static void tell_pool(struct pass *p, const struct disruption_note *note)
{
    struct pool_memo *m = memos_at(&p->r->pools, note->pool->meta.uid);
    uint32_t bit = UINT32_C(1) << disruption_method_reason(note->method);
    if ((m->told_reasons & bit) == 0)
        tell_silently(p->r, (struct decision){.kind = DECISION_KEEP,
                                              .per_hour = NAN,
                                              .reason = SPAN("DisruptionBlocked"),
                                              .note = note->text,
                                              .about = object_of(KIND_NODE_POOL, &note->pool->meta)});
    m->told_reasons |= bit;
}

/* What blocks a node whatever the method, emptiness tells (empty.c). */
static void tell_notes(struct pass *p, const struct disruption *d, uint32_t asked)
{
    uint32_t reasons = 0;
    for (uint32_t m = 0; m < METHOD_COUNT; m++)
        if ((asked >> m) & 1)
            reasons |= UINT32_C(1) << disruption_method_reason((enum disruption_method)m);
    uint32_t *closed = ARENA_ARRAY(p->a, uint32_t, p->pool_count);
    for (uint32_t i = 0; i < d->note_count; i++) {
        const struct disruption_note *note = &d->notes[i];
        if (note->row >= 0 && !note->shared)
            tell_node(p, note);
        else if (note->row < 0)
            tell_pool(p, note);
        for (uint32_t k = 0; note->row < 0 && k < p->pool_count; k++)
            if (p->pools[k].pool == note->pool)
                closed[k] |= UINT32_C(1) << disruption_method_reason(note->method);
    }
    for (uint32_t k = 0; k < p->pool_count; k++) /* open again: the next time is news */
        p->pools[k].memo->told_reasons &= ~(reasons & ~closed[k]);
}

/* ---- asking ---- */

void ask_forget(struct asking *a)
{
    for (uint32_t i = 0; i < a->unreached_count; i++)
        free((void *)(uintptr_t)a->unreached[i].ptr);
    free(a->unreached);
    *a = (struct asking){.changed = true};
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
    *a = (struct asking){.next = kept.next, .again = kept.again, .changed = kept.changed,
                         .several_rejected = kept.several_rejected, .unreached = list,
                         .unreached_count = d->unreached_count};
}

static bool any_drifted(const struct pass *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->claim_count && !any; i++)
        any = conditions_true(p->claims[i].claim->conditions, SPAN("Drifted"));
    return any;
}

/* Methods, bit by number; 0: there is nothing to ask. */
static uint32_t what_to_ask(const struct pass *p)
{
    const struct asking *a = &p->r->asking;
    uint32_t asked = any_drifted(p) ? DRIFTS : 0;
    if (a->changed || p->mono >= a->again)
        asked |= CONSOLIDATIONS & ~(a->several_rejected ? UINT32_C(1) << METHOD_MULTI : 0);
    return asked;
}

static void count_timeouts(struct pass *p, const struct disruption *d, uint32_t asked)
{
    if (!d->complete && (asked & CONSOLIDATIONS) != 0)
        count(p->r, MEASURE_CONSOLIDATION_TIMEOUTS, 1, d->unreached_count != 0 ? SPAN("single") : SPAN("multi"),
              (struct span){0}, (struct span){0});
}

static void ask(struct pass *p, uint32_t asked)
{
    struct asking *a = &p->r->asking;
    struct question q;
    uint32_t begun = 0;
    question_init(&q, p);
    q.options.passed_over = ALL & ~asked;
    struct disruption *d = disruption_decide(p->world, &q.options);
    tell_notes(p, d, asked);
    count_timeouts(p, d, asked);
    keep_unreached(a, d);
    for (uint32_t i = 0; i < d->command_count; i++) {
        struct command *c = command_make(p, &d->commands[i]);
        if (c != NULL) {
            queue_add(p, c);
            begun++;
        }
    }
    if ((asked & CONSOLIDATIONS) != 0) {
        a->several_rejected = false;
        a->changed = begun != 0 || !d->complete;
        a->again = p->mono + REFRESH_MS;
    }
    span_ms took = (span_ms)(d->steps / STEPS_PER_MS);
    a->next = p->mono + (begun != 0 ? 0 : POLL_MS) + took * REST;
    pass_wake(p, a->next);
    disruption_free(d);
}

void disruption_run(struct pass *p)
{
    struct reconciler *r = p->r;
    struct asking *a = &r->asking;
    a->changed |= r->previous == NULL || derive_world(r->previous) != p->world;
    queue_run(p);
    if (queue_waiting(&r->commands) != NULL)
        return;
    if (p->mono < a->next) {
        pass_wake(p, a->next);
        return;
    }
    if (!purchases_settled(p))
        return;
    uint32_t asked = what_to_ask(p);
    a->next = p->mono + POLL_MS;
    if (asked != 0)
        ask(p, asked);
    pass_wake(p, asked != 0 ? a->next : a->again); /* what changes meanwhile is a pass of its own */
}
