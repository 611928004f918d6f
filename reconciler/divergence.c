#include "reconciler/divergence.h"

#include "planner/held.h"
#include "planner/places.h"
#include "planner/world.h"
#include "reconciler/batch.h"
#include "reconciler/stages.h"
#include "reconciler/state.h"

enum {
    LATE_MS = 30 * MS_SECOND,   /* the scheduler tries again after 10 s at the latest */
    SILENT_MS = 60 * MS_SECOND, /* as long without a question while pods wait */
    LAPSE_MS = 10 * MS_MINUTE,  /* a scheduler tries each pod of its own again after 5 at the latest */
};

static void diverged(struct pass *p, const char *cause)
{
    count(p->r, MEASURE_DIVERGED, 1, span_of(cause), (struct span){0}, (struct span){0});
}

static bool is_ready(const struct pass *p, int32_t row)
{
    return row >= 0 && world_node_usable(world_node_at(p->world, (uint32_t)row));
}

void divergence_ask(struct pass *p)
{
    const struct reconciler_listener *l = &p->r->config.listener;
    if (l->sent != NULL)
        p->sent_count = l->sent(l->user, p->mono, p->a, &p->sent);
    struct places *traded = places_traded(p->r->places, p->sent, p->sent_count, p->world);
    if (traded != NULL)
        reconciler_publish(p->r, traded);
}

void divergence_elsewhere(struct pass *p, const struct pod *pod, const struct place *place)
{
    const struct sent_pod *sent = p->sent;
    for (uint32_t i = 0; i < p->sent_count; i++)
        if (sent[i].refused && span_eq(sent[i].uid, pod->meta.uid))
            return; /* counted when it was refused */
    diverged(p, is_ready(p, place_row(p->world, place)) ? "elsewhere" : "ahead");
}

/* A pod that was refused is planned anew in this pass, once for each node that it was refused at. */
static void look_at_refused(struct pass *p)
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
        if (m->refused_at == sent[i].node)
            continue;
        m->refused_at = sent[i].node;
        m->ready_since = 0; /* of its next place */
        m->late = false;
        r->batch_ready = true;
        diverged(p, "refused");
        tell(r,
             (struct decision){.kind = DECISION_NO_PLACE,
                               .subject = "refused",
                               .warning = true,
                               .per_hour = NAN,
                               .about = {KIND_POD, pod->meta.ns, pod->meta.name, pod->meta.uid}},
             "%.*s/%.*s  the scheduler turns down its planned node %.*s; planning it anew",
             SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name), SPAN_ARG(place->target));
    }
}

/* The scheduler binds their volumes on these nodes, which takes as long as it takes: they are not late. */
static void excuse_those_with_volumes(struct pass *p)
{
    for (uint32_t i = 0; i < p->sent_count; i++) {
        const struct sent_pod *sent = &p->sent[i];
        struct waiting_memo *m = sent->volumes && !sent->refused
                                     ? (struct waiting_memo *)memos_find(&p->r->waiting, sent->uid)
                                     : NULL;
        if (m != NULL && m->ready_node == sent->node)
            m->ready_since = p->mono;
    }
}

enum time { IN_TIME, LATE, LAPSED }; /* what a place becomes in this pass */

static enum time look_at_place(struct pass *p, const struct place *place)
{
    int32_t row = place_row(p->world, place);
    const struct pod *pod = is_ready(p, row) ? place_pod(p, place) : NULL;
    if (pod == NULL)
        return IN_TIME;
    struct waiting_memo *m = (struct waiting_memo *)memos_at(&p->r->waiting, pod->meta.uid);
    uint64_t node = span_hash(world_node_at(p->world, (uint32_t)row)->node->meta.name);
    if (m->ready_since == 0 || m->ready_node != node)
        m->ready_since = p->mono;
    m->ready_node = node;
    bool late = p->mono - m->ready_since >= LATE_MS, news = late && !m->late;
    m->late |= late;
    if (!late)
        pass_wake(p, m->ready_since + LATE_MS);
    if (place->lapsed)
        return IN_TIME;
    if (p->mono - m->ready_since >= LAPSE_MS)
        return LAPSED;
    pass_wake(p, m->ready_since + LAPSE_MS);
    return news ? LATE : IN_TIME;
}

/* One line and one Event, however many they are: a scheduler that is slow is so with all. Those of the next
 * while are told with the next. */
static void tell_late(struct pass *p, const struct place *first, uint32_t count_of)
{
    struct reconciler *r = p->r;
    if (first == NULL)
        return;
    count(r, MEASURE_DIVERGED, count_of, SPAN("late"), (struct span){0}, (struct span){0});
    r->late += count_of;
    if (r->late_told != 0 && p->mono - r->late_told < LATE_MS)
        return;
    struct buf others = {0};
    if (r->late > 1)
        buf_addf(&others, "; so it is with %u more", r->late - 1);
    r->late_told = p->mono;
    r->late = 0;
    tell(r,
         (struct decision){.kind = DECISION_NO_PLACE,
                           .subject = "late",
                           .warning = true,
                           .per_hour = NAN,
                           .reason = SPAN("PlannedNodeUnused"),
                           .about = {KIND_POD, first->ns, first->pod, first->uid}},
         "%.*s/%.*s  is not bound, and its planned node %.*s has been ready for %d s%.*s",
         SPAN_ARG(first->ns), SPAN_ARG(first->pod), SPAN_ARG(first->target),
         (int)(LATE_MS / MS_SECOND), SPAN_ARG(buf_span(&others)));
    buf_release(&others);
}

static void publish_lapsed(struct pass *p, const bool *lapsed)
{
    struct reconciler *r = p->r;
    const struct place *first = NULL;
    uint32_t count_of = 0;
    for (uint32_t i = r->places->count; i-- > 0;) {
        count_of += lapsed[i];
        first = lapsed[i] ? &r->places->items[i] : first;
    }
    if (first == NULL)
        return;
    tell(r,
         (struct decision){.kind = DECISION_NO_PLACE,
                           .subject = "lapsed",
                           .warning = true,
                           .per_hour = NAN,
                           .about = {KIND_POD, first->ns, first->pod, first->uid}},
         "%u planned pod%s not bound, %d min after the node was ready: others may have the room now; "
         "%.*s/%.*s on %.*s",
         count_of, count_of == 1 ? " is" : "s are", (int)(LAPSE_MS / MS_MINUTE), SPAN_ARG(first->ns),
         SPAN_ARG(first->pod), SPAN_ARG(first->target));
    reconciler_publish(r, places_lapse(r->places, lapsed));
}

/* Pods wait, and nobody asks: of any of them that is said. */
static void listen_for_scheduler(struct pass *p, const struct pod *waits)
{
    struct reconciler *r = p->r;
    const struct reconciler_listener *l = &r->config.listener;
    if (l->asked == NULL || r->config.options.nominate) /* then nobody is to ask */
        return;
    mono_ms asked = l->asked(l->user);
    if (waits == NULL || asked > r->waits_since)
        r->waits_since = waits != NULL ? asked : p->mono;
    bool silent = waits != NULL && p->mono - r->waits_since >= SILENT_MS;
    if (waits != NULL && !silent)
        pass_wake(p, r->waits_since + SILENT_MS);
    if (silent == r->silent)
        return;
    r->silent = silent;
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

void divergence_run(struct pass *p)
{
    const struct places *places = p->r->places;
    look_at_refused(p);
    excuse_those_with_volumes(p);
    const struct pod *waits = NULL;
    bool *lapsed = places != NULL ? ARENA_ARRAY(p->a, bool, places->count) : NULL;
    const struct place *late = NULL;
    uint32_t late_count = 0;
    for (uint32_t i = 0; places != NULL && i < places->count; i++) {
        enum time time = look_at_place(p, &places->items[i]);
        lapsed[i] = time == LAPSED;
        if (time == LATE && late_count++ == 0)
            late = &places->items[i];
        /* Without a node that is ready nobody need be asked. */
        if (waits == NULL && is_ready(p, place_row(p->world, &places->items[i])))
            waits = place_pod(p, &places->items[i]);
    }
    tell_late(p, late, late_count);
    listen_for_scheduler(p, waits);
    if (places != NULL)
        publish_lapsed(p, lapsed);
}

struct places *divergence_places(struct pass *p, struct plan_options *o)
{
    divergence_ask(p); /* pods were let onto nodes since the pass began */
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
    return places_with(p->r->places, sent, p->sent_count, p->world);
}

/* As the places have it, or as they will have it once the trade is seen. */
static bool is_foreseen(const struct world *w, const struct places *places,
                        const struct sent_pod *sent, int32_t row)
{
    const struct place *own = places_find(places, sent->uid);
    const struct place *other =
        sent->instead.len != 0 ? places_find(places, sent->instead) : NULL;
    const struct place *published =
        sent->published.len != 0 ? places_find(places, sent->published) : NULL;
    return (own != NULL && place_row(w, own) == row) ||
           (other != NULL && place_row(w, other) == row) ||
           (published != NULL && place_row(w, published) == row);
}

bool divergence_overtakes(struct pass *p, const struct places *places)
{
    const struct world *w = p->world;
    struct held *held = NULL;
    divergence_ask(p);
    for (uint32_t i = 0; i < p->sent_count; i++) {
        const struct sent_pod *sent = &p->sent[i];
        int32_t row = sent->refused ? -1 : world_find_hash(w, sent->node);
        const struct pod *pod = row >= 0 ? world_waiting_pod(w, sent->uid) : NULL;
        if (pod == NULL || is_foreseen(w, places, sent, row))
            continue;
        if (held == NULL)
            held = held_new(p->a, w, NULL, places);
        const struct holder x = {span_hash(sent->uid), pod->priority,
                                 world_pod_requests(w, p->a, pod)};
        const uint32_t at = (uint32_t)row;
        if (!world_has_room(w, x.requests, true, at, held_at(held, at)))
            return true;
        held_put(held, &at, 1, &x);
    }
    return false;
}
