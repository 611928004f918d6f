#include "reconciler/divergence/divergence.h"

#include "planner/held.h"
#include "planner/places.h"
#include "planner/search/binder.h"
#include "planner/world.h"
#include "reconciler/provision/batch.h"
#include "reconciler/stages.h"
#include "reconciler/state.h"

enum {
    LATE_MS = 30 * MS_SECOND,   /* the scheduler tries again after 10 s at the latest */
    SILENT_MS = 60 * MS_SECOND, /* as long without a question while pods wait */
    LAPSE_MS = 10 * MS_MINUTE,  /* a scheduler tries each pod of its own again after 5 at the latest */
    AGAIN_MS = 10 * MS_SECOND,  /* the longest that a scheduler waits between two tries, when nodes have changed */
    QUEUE_MAX = 1000,           /* more may still be in its queue after LATE_MS */
    REFUSALS_MAX = 3,           /* then it is put off; and so it is when its place lapses */
    PAUSE_MS = MS_MINUTE,       /* of who is refused, the first time; twice as long each time that follows */
    PAUSE_MAX_MS = 160 * MS_MINUTE,
    DOUBLINGS_MAX = 8,
};

static void diverged(struct pass *p, const char *cause, uint32_t pods)
{
    count(p->r, MEASURE_DIVERGED, pods, span_of(cause), (struct span){0}, (struct span){0});
}

/* Hundreds may be counted at once, as the first ever: without a series that was there before, nobody who asks for
 * an increase would see them. */
void divergence_begin(struct pass *p)
{
    static const char *const causes[] = {"ahead", "refused", "elsewhere", "late"};
    for (size_t i = 0; i < COUNT_OF(causes); i++)
        diverged(p, causes[i], 0);
}

static bool is_ready(const struct pass *p, const struct place *place, const struct pod *pod)
{
    return place_is_open(p->world, place_row(p->world, place), pod);
}

/* ---- what the scheduler is known to have done ---- */

/* Those that we know by ourselves to be refused, behind those of the extender. A bar ends with its node: the next
 * may have the same name. */
static void add_barred(struct pass *p)
{
    struct memos *all = &p->r->waiting;
    if (p->r->divergence.barred <= p->mono)
        return;
    struct sent_pod *sent = ARENA_ARRAY(p->a, struct sent_pod, p->sent_count + all->count);
    if (p->sent_count != 0)
        memcpy(sent, p->sent, p->sent_count * sizeof(*sent));
    for (uint32_t i = 0; i < all->slot_count; i++)
        for (struct memo *m = all->slots[i]; m != NULL; m = m->next) {
            struct waiting_memo *w = (struct waiting_memo *)m;
            if (w->barred > p->mono && world_find_hash(p->world, w->refused_at) < 0) {
                w->barred = 0;
                w->refused_at = 0;
            }
            if (w->barred > p->mono)
                sent[p->sent_count++] =
                    (struct sent_pod){.uid = m->key, .node = w->refused_at, .refused = true};
        }
    p->sent = sent;
}

void divergence_ask(struct pass *p)
{
    const struct reconciler_scheduler *s = &p->r->config.scheduler;
    p->sent_count = 0;
    if (s->sent != NULL)
        p->sent_count = s->sent(s->user, p->mono, p->a, &p->sent);
    add_barred(p);
    struct places *traded = places_traded(p->r->places, p->sent, p->sent_count, p->world);
    if (traded != NULL)
        reconciler_publish(p->r, traded);
}

void divergence_heard(struct pass *p, const struct pod *pod)
{
    if (pod->node != SYM_NONE || pod->verdict == 0)
        return;
    struct waiting_memo *m = (struct waiting_memo *)memos_at(&p->r->waiting, pod->meta.uid);
    if (m->verdict != 0 && m->verdict != pod->verdict) {
        if (m->ready_since == 0 || m->tried < m->ready_since)
            m->tried = p->mono; /* the first time since its planned node is ready */
        if (m->untried)
            m->put_off = p->mono;
    }
    m->verdict = pod->verdict;
}

/* ---- telling, now and then, for however many ---- */

/* What to append to a sentence about the first of `count_of`; absent: it is not told yet, those are told with
 * the next. */
static struct span with_others(struct pass *p, struct told *t, uint32_t count_of)
{
    t->others += count_of;
    if (t->at != 0 && p->mono - t->at < LATE_MS)
        return (struct span){0};
    uint32_t others = t->others - 1;
    *t = (struct told){.at = p->mono};
    return others != 0 ? arena_printf(p->a, "; so it is with %u more", others) : SPAN("");
}

static struct decision about_pod(const char *subject, struct span reason, struct span ns,
                                 struct span pod, struct span uid)
{
    return (struct decision){.kind = DECISION_NO_PLACE,
                             .subject = subject,
                             .warning = true,
                             .per_hour = NAN,
                             .reason = reason,
                             .about = {KIND_POD, ns, pod, uid}};
}

/* ---- bound elsewhere ---- */

void divergence_taken(struct pass *p, const struct node_view *n)
{
    if (n != NULL && n->row >= 0)
        ARENA_PUSH(p->a, p->taken, p->taken_count, p->taken_capacity, (uint32_t)n->row);
}

bool divergence_left_open(const struct pass *p, const struct pod *pod, const struct place *place)
{
    int32_t row = place_row(p->world, place);
    for (uint32_t i = 0; row >= 0 && i < p->sent_count; i++) {
        const struct sent_pod *sent = &p->sent[i];
        for (uint32_t k = 0; sent->several && k < sent->told_count; k++)
            if (span_eq(sent->uid, pod->meta.uid) && world_find_hash(p->world, sent->told[k]) == row)
                return true;
    }
    return false;
}

void divergence_elsewhere(struct pass *p, const struct pod *pod, const struct place *place,
                          const struct node_view *n)
{
    const struct sent_pod *sent = p->sent;
    divergence_taken(p, n);
    for (uint32_t i = 0; i < p->sent_count; i++)
        if (sent[i].refused && span_eq(sent[i].uid, pod->meta.uid))
            return; /* counted when it was refused */
    bool ready = is_ready(p, place, pod);
    diverged(p, ready ? "elsewhere" : "ahead", 1);
    if (!ready || p->strayed_count++ != 0)
        return;
    p->strayed = pod;
    p->strayed_from = arena_dup(p->a, place->target);
    p->strayed_to = n->node->meta.name;
}

static void tell_strayed(struct pass *p)
{
    struct span others = p->strayed_count != 0
                             ? with_others(p, &p->r->divergence.elsewhere, p->strayed_count)
                             : (struct span){0};
    if (others.ptr == NULL)
        return;
    const struct meta *m = &p->strayed->meta;
    tell(p->r, about_pod("elsewhere", SPAN("BoundElsewhere"), m->ns, m->name, m->uid),
         "%.*s/%.*s  was bound to %.*s, though its planned node %.*s was ready%.*s", SPAN_ARG(m->ns),
         SPAN_ARG(m->name), SPAN_ARG(p->strayed_to), SPAN_ARG(p->strayed_from), SPAN_ARG(others));
}

/* Who has lost the room that was kept for him is planned anew in this pass. */
static void look_at_taken(struct pass *p)
{
    const struct places *places = p->r->places;
    if (p->taken_count == 0 || places == NULL || places->count == 0)
        return;
    struct held *held = held_new(p->a, p->world, p->snapshot, places);
    for (uint32_t i = 0; i < p->taken_count && !p->r->provision.batch_ready; i++) {
        const amount *kept = held_at(held, p->taken[i]);
        p->r->provision.batch_ready =
            kept != NULL && !world_has_room(p->world, kept, false, p->taken[i], NULL);
    }
}

/* ---- refused ---- */

struct refusals { /* of a pass */
    struct span ns, pod, uid, target; /* of the first */
    bool put_off;
    uint32_t count;
};

/* Not tried again too soon what has come to nothing too often. */
static void put_off(struct pass *p, struct waiting_memo *m, bool untried)
{
    span_ms pause = untried ? LAPSE_MS : PAUSE_MS; /* as long as it took to see that nobody comes */
    pause <<= m->pauses < DOUBLINGS_MAX ? m->pauses : DOUBLINGS_MAX;
    m->pauses++;
    m->ready_since = 0;
    m->untried = untried;
    m->put_off = p->mono + (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
    p->r->divergence.putting_off = true;
}

/* Planned anew in this pass. */
static void refuse(struct pass *p, struct refusals *all, const struct place *place,
                   struct waiting_memo *m, uint64_t node)
{
    m->refused_at = node;
    m->barred = 0;
    m->ready_since = 0; /* of its next place */
    if (++m->refusals >= REFUSALS_MAX)
        put_off(p, m, false);
    p->r->provision.batch_ready = true;
    if (all->count++ == 0)
        *all = (struct refusals){place->ns, place->pod, place->uid, place->target,
                                 m->refusals >= REFUSALS_MAX, 1};
}

/* By the extender's word, once for each node that it was refused at. */
static void look_at_refused(struct pass *p, struct refusals *all)
{
    struct reconciler *r = p->r;
    const struct sent_pod *sent = p->sent;
    for (uint32_t i = 0; i < p->sent_count; i++) {
        const struct place *place =
            sent[i].refused && r->places != NULL ? places_find(r->places, sent[i].uid) : NULL;
        int32_t row = place != NULL ? place_row(p->world, place) : -1;
        const struct pod *pod = row >= 0 && row == world_find_hash(p->world, sent[i].node)
                                    ? place_pod(p, place)
                                    : NULL;
        if (pod == NULL)
            continue;
        struct waiting_memo *m = (struct waiting_memo *)memos_at(&r->waiting, pod->meta.uid);
        if (m->refused_at != sent[i].node)
            refuse(p, all, place, m, sent[i].node);
    }
}

static void tell_refused(struct pass *p, const struct refusals *all)
{
    if (all->count == 0)
        return;
    diverged(p, "refused", all->count);
    struct span others = with_others(p, &p->r->divergence.refused, all->count);
    if (others.ptr != NULL)
        tell(p->r, about_pod("refused", SPAN("PlannedNodeRefused"), all->ns, all->pod, all->uid),
             "%.*s/%.*s  the scheduler turns down its planned node %.*s; %s%.*s", SPAN_ARG(all->ns),
             SPAN_ARG(all->pod), SPAN_ARG(all->target),
             all->put_off ? "nothing is planned for it for a while" : "planning it anew",
             SPAN_ARG(others));
}

struct why divergence_put_off(const struct pass *p, const struct pod *pod)
{
    const struct waiting_memo *m = memos_find(&p->r->waiting, pod->meta.uid);
    if (m == NULL || m->put_off <= p->mono)
        return (struct why){0};
    return m->untried
               ? (struct why){SPAN("is not planned for a while, since its planned node was ready for ten "
                                   "minutes and nobody took the pod up there"),
                              SPAN("see that its scheduler runs")}
               : (struct why){SPAN("is not planned for a while, since the scheduler has turned down each "
                                   "node that was planned for it"),
                              SPAN("its own events say what it misses there")};
}

/* Whose time is over the next plan takes up again, whatever comes of it: what was said holds no more. */
static void take_back(struct pass *p)
{
    const struct memos *all = &p->r->waiting;
    bool some = false;
    if (!p->r->divergence.putting_off)
        return;
    for (uint32_t i = 0; i < all->slot_count; i++)
        for (struct memo *m = all->slots[i]; m != NULL; m = m->next) {
            struct waiting_memo *w = (struct waiting_memo *)m;
            some |= w->put_off > p->mono;
            if (w->put_off == 0 || w->put_off > p->mono)
                continue;
            const struct pod *pod = world_waiting_pod(p->world, m->key);
            w->put_off = 0;
            if (pod != NULL)
                tell_silently(p->r, (struct decision){.kind = DECISION_NO_PLACE,
                                                      .takes_back = true,
                                                      .per_hour = NAN,
                                                      .about = object_of(KIND_POD, &pod->meta)});
        }
    p->r->divergence.putting_off = some;
}

/* ---- late ---- */

/* The scheduler has it on its way to that node, or binds its volumes there, which takes as long as it takes. */
static void excuse_those_sent(struct pass *p)
{
    for (uint32_t i = 0; i < p->sent_count; i++) {
        const struct sent_pod *sent = &p->sent[i];
        struct waiting_memo *m =
            !sent->refused && !sent->several ? (struct waiting_memo *)memos_find(&p->r->waiting, sent->uid) : NULL;
        if (m == NULL || m->ready_node != sent->node)
            continue;
        m->tried = 0;
        if (sent->volumes)
            m->ready_since = p->mono;
    }
}

enum time { IN_TIME, LATE, TURNED_DOWN, LAPSED }; /* what a place becomes in this pass */

/* Tried while the node was ready, and again since, without a word to the extender: no node passed the
 * scheduler's own filters, this one included. */
static bool is_turned_down(struct pass *p, const struct waiting_memo *m)
{
    if (m->tried < m->ready_since || p->r->divergence.queue > QUEUE_MAX)
        return false;
    pass_wake(p, m->tried + AGAIN_MS);
    return p->mono - m->tried >= AGAIN_MS;
}

/* Where pods are spread, or have to be together, the scheduler takes some only once it has bound others, whose machines
 * may become ready much later. */
static bool waits_its_turn(struct pass *p, const struct place *place, int32_t row)
{
    int32_t class_id = world_waiting_class(p->world, place->uid);
    if (class_id < 0 || !world_wavers(p->world, class_id))
        return false;
    if (p->binder == NULL)
        p->binder = binder_new(p->a, p->world);
    return binder_may_change(binder_ask(p->binder, class_id, (uint32_t)row));
}

static enum time look_at_place(struct pass *p, const struct place *place, const struct pod *pod)
{
    struct waiting_memo *m = (struct waiting_memo *)memos_at(&p->r->waiting, pod->meta.uid);
    int32_t row = place_row(p->world, place);
    uint64_t node = span_hash(world_node_at(p->world, (uint32_t)row)->node->meta.name);
    if (m->ready_since == 0 || m->ready_node != node) {
        m->ready_since = p->mono;
        m->late = false;
    }
    m->ready_node = node;
    if (p->mono - m->ready_since >= LAPSE_MS)
        return LAPSED;
    bool late = p->mono - m->ready_since >= LATE_MS, news = late && !m->late;
    if (late && m->tried >= m->ready_since && waits_its_turn(p, place, row))
        m->tried = 0;
    pass_wake(p, m->ready_since + (late ? (span_ms)LAPSE_MS : (span_ms)LATE_MS));
    if (late && is_turned_down(p, m))
        return TURNED_DOWN;
    m->late |= late;
    return news ? LATE : IN_TIME;
}

static void turn_down(struct pass *p, struct refusals *all, const struct place *place)
{
    struct waiting_memo *m = (struct waiting_memo *)memos_at(&p->r->waiting, place->uid);
    refuse(p, all, place, m, m->ready_node);
    m->barred = p->mono + LAPSE_MS;
    p->r->divergence.barred = m->barred;
}

/* A scheduler that is slow is so with all. */
static void tell_late(struct pass *p, const struct place *first, uint32_t count_of)
{
    if (first == NULL)
        return;
    diverged(p, "late", count_of);
    struct span others = with_others(p, &p->r->divergence.late, count_of);
    if (others.ptr != NULL)
        tell(p->r, about_pod("late", SPAN("PlannedNodeUnused"), first->ns, first->pod, first->uid),
             "%.*s/%.*s  is not bound, and its planned node %.*s has been ready for %d s%.*s",
             SPAN_ARG(first->ns), SPAN_ARG(first->pod), SPAN_ARG(first->target),
             (int)(LATE_MS / MS_SECOND), SPAN_ARG(others));
}

static void drop_lapsed(struct pass *p, const bool *lapsed)
{
    struct reconciler *r = p->r;
    const struct place *first = NULL;
    uint32_t count_of = 0;
    for (uint32_t i = r->places->count; i-- > 0;) {
        if (!lapsed[i])
            continue;
        first = &r->places->items[i];
        put_off(p, (struct waiting_memo *)memos_at(&r->waiting, first->uid), true);
        count_of++;
    }
    if (first == NULL)
        return;
    r->provision.batch_ready = true;
    tell(r, about_pod("lapsed", (struct span){0}, first->ns, first->pod, first->uid),
         "%u planned pod%s not bound, %d min after the node was ready: nothing is planned for %s for a "
         "while; %.*s/%.*s on %.*s",
         count_of, count_of == 1 ? " is" : "s are", (int)(LAPSE_MS / MS_MINUTE),
         count_of == 1 ? "it" : "them", SPAN_ARG(first->ns), SPAN_ARG(first->pod),
         SPAN_ARG(first->target));
    reconciler_publish(r, places_without(r->places, lapsed));
}

/* Pods wait, and nobody asks: of any of them that is said. */
static void listen_for_scheduler(struct pass *p, const struct pod *waits)
{
    struct reconciler *r = p->r;
    const struct reconciler_scheduler *s = &r->config.scheduler;
    if (s->asked == NULL || r->config.options.nominate) /* then nobody is to ask */
        return;
    mono_ms asked = s->asked(s->user);
    if (waits == NULL || asked > r->divergence.waits_since)
        r->divergence.waits_since = waits != NULL ? asked : p->mono;
    bool silent = waits != NULL && p->mono - r->divergence.waits_since >= SILENT_MS;
    if (waits != NULL && !silent)
        pass_wake(p, r->divergence.waits_since + SILENT_MS);
    if (silent == r->divergence.silent)
        return;
    r->divergence.silent = silent;
    count(r, MEASURE_SCHEDULER_SILENT, silent, (struct span){0}, (struct span){0},
          (struct span){0});
    if (!silent)
        return;
    tell(r,
         (struct decision){.kind = DECISION_GUARD,
                           .subject = "silent",
                           .warning = true,
                           .per_hour = NAN,
                           .reason = SPAN("SchedulerSilent"),
                           .about = {KIND_POD, waits->meta.ns, waits->meta.name, waits->meta.uid}},
         "%.*s/%.*s  waits, and no scheduler has asked the extender for %d s: is it in the "
         "scheduler's configuration? `stowage check` says more",
         SPAN_ARG(waits->meta.ns), SPAN_ARG(waits->meta.name), (int)(SILENT_MS / MS_SECOND));
}

static void look_at_places(struct pass *p, struct refusals *refused)
{
    const struct places *places = p->r->places;
    const struct pod *waits = NULL;
    const struct place *late = NULL;
    uint32_t late_count = 0, queue = 0;
    bool *lapsed = places != NULL ? ARENA_ARRAY(p->a, bool, places->count) : NULL;
    for (uint32_t i = 0; places != NULL && i < places->count; i++) {
        const struct place *place = &places->items[i];
        const struct pod *pod = place_pod(p, place);
        if (pod == NULL || !is_ready(p, place, pod))
            continue; /* of a node that is not ready nobody need be asked */
        waits = waits != NULL ? waits : pod;
        queue++;
        enum time time = look_at_place(p, place, pod);
        lapsed[i] = time == LAPSED;
        if (time == TURNED_DOWN)
            turn_down(p, refused, place);
        if (time == LATE && late_count++ == 0)
            late = place;
    }
    p->r->divergence.queue = queue;
    tell_late(p, late, late_count);
    listen_for_scheduler(p, waits);
    if (places != NULL)
        drop_lapsed(p, lapsed);
}

void divergence_run(struct pass *p)
{
    struct refusals refused = {.count = 0};
    look_at_refused(p, &refused);
    excuse_those_sent(p);
    look_at_places(p, &refused);
    tell_refused(p, &refused);
    tell_strayed(p);
    look_at_taken(p);
}

struct places *divergence_places(struct pass *p, struct plan_options *o)
{
    divergence_ask(p); /* pods were let onto nodes since the pass began */
    take_back(p);
    const struct sent_pod *sent = p->sent;
    struct barred *barred = ARENA_ARRAY(p->a, struct barred, p->sent_count);
    o->barred_count = 0;
    for (uint32_t i = 0; i < p->sent_count; i++) {
        int32_t row = sent[i].refused ? world_find_hash(p->world, sent[i].node) : -1;
        int32_t class_id = row >= 0 ? world_waiting_class(p->world, sent[i].uid) : -1;
        if (class_id >= 0)
            barred[o->barred_count++] = (struct barred){(uint32_t)class_id, (uint32_t)row};
    }
    o->barred = barred;
    divergence_arrivals(p, o);
    if (p->sent_count == 0 && p->r->places != NULL)
        return NULL;
    return places_with(p->r->places, sent, p->sent_count, p->world);
}
