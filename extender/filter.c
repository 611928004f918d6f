#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "extender/replicas.h"
#include "extender/score.h"

/* Why a node is struck. One that is not chosen is not refused: the pod goes to another. */
enum refusal { PASSES, HELD, DAEMONS, LEAVING, OTHER_SIDE, ITS_KIND, NOT_CHOSEN, REFUSAL_COUNT };

/* The scheduler puts a number before: "0/5 nodes are available: 3 about to be removed." */
static const struct span texts[REFUSAL_COUNT] = {
    [HELD] = SPAN_INIT("whose room is held for planned pods"),
    [DAEMONS] = SPAN_INIT("whose room is held for DaemonSet pods"),
    [LEAVING] = SPAN_INIT("about to be removed"),
    [OTHER_SIDE] = SPAN_INIT("whose capacity type is not the one that the pod's workload wants"),
    [ITS_KIND] = SPAN_INIT("where the pod's group does not have its place"),
};

const char *extender_answer_name(enum extender_answer a)
{
    static const char *const names[] = {"no-opinion", "planned", "traded", "inherited",
                                        "revised",    "room",    "waits",  "refused"};
    _Static_assert(COUNT_OF(names) == EXTENDER_ANSWER_COUNT, "a name for each answer");
    return names[a];
}

struct question {
    const struct extender_view *v;
    const struct span *names;
    uint32_t count;
    struct subject subject;
    const struct seat *seat;   /* its place; NULL: none */
    int32_t planned;           /* row of it, -1: not in sight */
    struct span instead, published; /* of the place that it takes, as a booking has it */
    bool inherits;                  /* likewise */
    int32_t nominated;         /* row that the scheduler has freed for it, -1: none */
    int32_t *rows;             /* of the names; -1: not in sight */
    uint8_t *refusals;         /* of the names */
    uint32_t left;             /* names that pass */
    bool waits;                /* some would, if its group did not have its place elsewhere */
    bool sampled;
    bool alone;                /* the one name is what it is nominated for: others are offered when that will not do */
};

/* kube-scheduler stops looking when it has found max(100, N·p/100) nodes, from 100 nodes up; without a
 * percentage it takes one between 5 and 50. Other numbers come of its own filters: but now and then of those too
 * as many are left. */
static bool looks_sampled(const struct world *w, uint32_t offered)
{
    enum { ALWAYS = 100 };
    uint32_t nodes = 0;
    if (offered < ALWAYS)
        return false;
    for (uint32_t row = 0; row < world_node_count(w); row++)
        nodes += world_node_at(w, row)->node != NULL;
    for (uint32_t percent = 1; offered < nodes && percent < 100; percent++) {
        uint32_t part = (uint32_t)((uint64_t)nodes * percent / 100);
        if (offered == (part > ALWAYS ? part : ALWAYS))
            return true;
    }
    return false;
}

static void find_place(struct question *q, const struct desk *d)
{
    const struct world *w = q->v->world;
    q->seat = desk_seat(d, q->subject.pod->meta.uid);
    q->planned = q->seat != NULL ? q->seat->row : -1;
    if (q->planned >= 0 && world_split_refuses(w, q->subject.side, (uint32_t)q->planned))
        q->planned = -1; /* its owner's pods have changed since */
}

/* Who has a place counts there for the places of others. Elsewhere he may leave them none: then he waits for his
 * own, or for the next plan's should the scheduler refuse it. A sample may never have it. */
static bool is_misplaced(const struct question *q, uint32_t row)
{
    return q->planned >= 0 && !q->sampled && q->seat->class_id >= 0 &&
           !world_is_alike(q->v->world, q->seat->class_id, (uint32_t)q->planned, row);
}

/* The scheduler's own filters have passed the node, and they see more than we do, what it has bound a
 * moment ago above all; the only things that we know better are what is held and what is about to go.
 * Where nothing is held, a node that is full in our eyes is not full. Neither is one where somebody had to
 * go for the pod, which was weighed then: refused, it would evict others elsewhere. */
static enum refusal judge_room(const struct question *q, int32_t row)
{
    const struct world *w = q->v->world;
    const struct subject *s = &q->subject;
    bool placed;
    if (row < 0 || s->daemon)
        return PASSES;
    if (world_node_at(w, (uint32_t)row)->going)
        return LEAVING;
    if (world_split_refuses(w, s->side, (uint32_t)row))
        return OTHER_SIDE;
    if (row == q->nominated)
        return PASSES;
    const amount *held = subject_leaves(s, (uint32_t)row, &placed);
    if (world_has_room(w, s->requests, false, (uint32_t)row, held))
        return PASSES;
    if (placed)
        return HELD;
    return world_has_room(w, s->requests, true, (uint32_t)row, held) ? DAEMONS : PASSES;
}

static enum refusal judge(const struct question *q, int32_t row)
{
    enum refusal r = judge_room(q, row);
    return r == PASSES && row >= 0 && row != q->nominated && is_misplaced(q, (uint32_t)row) ? ITS_KIND : r;
}

static bool has_kin(const struct question *q)
{
    const struct world *w = q->v->world;
    const struct pod *pod = q->subject.pod;
    for (uint32_t row = 0; row < world_node_count(w); row++) {
        const struct pod *const *there = world_node_pods(w, row);
        for (uint32_t i = 0; i < world_node_at(w, row)->pod_count; i++)
            if (span_eq(there[i]->meta.ns, pod->meta.ns) && subject_is_kin(pod, there[i]))
                return true;
    }
    return false;
}

/* The first of a group that has to be together goes where there is room for all: to its place, or where the
 * next plan has one for all, should the scheduler refuse it there. */
static bool must_wait(const struct question *q)
{
    return q->seat != NULL && subject_seeks_its_kind(&q->subject) && !has_kin(q);
}

/* Rows of the names that pass, -1 for the others, and the scores of them. */
static double *score_passing(struct extender_scratch *s, const struct question *q, int32_t *rows)
{
    double *scores = ARENA_ARRAY(&s->arena, double, q->count);
    for (uint32_t i = 0; i < q->count; i++)
        rows[i] = q->refusals[i] == PASSES ? q->rows[i] : -1;
    score_all(q->v, &q->subject, rows, q->count, scores);
    replicas_part(&s->arena, q->v, &q->subject, rows, q->count, scores);
    return scores;
}

/* The best node alone: the scheduler need not score, nor ask a second time, and the next plan knows where the pod is
 * and promises that room to nobody else. Its own filters have passed the node a moment ago, so it is taken only if
 * that fails after it has chosen, which costs the pod another attempt. */
static void choose_one(struct extender_scratch *s, struct question *q)
{
    int32_t *rows = ARENA_ARRAY(&s->arena, int32_t, q->count);
    const double *scores = score_passing(s, q, rows);
    uint32_t best = score_best(q->v, &q->subject, rows, q->count, scores);
    if (best == q->count)
        return; /* only nodes that are not in sight */
    for (uint32_t i = 0; i < q->count; i++)
        if (q->refusals[i] == PASSES && i != best)
            q->refusals[i] = NOT_CHOSEN;
    q->left = 1;
}

/* Where the scheduler still has to choose: it is told the best. Names that are not in sight stay. */
static void choose_some(struct extender_scratch *s, struct question *q)
{
    int32_t *rows = ARENA_ARRAY(&s->arena, int32_t, q->count);
    double *scores = score_passing(s, q, rows);
    score_shortlist(q->v, &q->subject, rows, q->count, scores);
    for (uint32_t i = 0; i < q->count; i++)
        if (rows[i] >= 0 && isnan(scores[i])) {
            q->refusals[i] = NOT_CHOSEN;
            q->left--;
        }
}

/* What we do not know and the scheduler weighs: how it would spread the pod, which devices suit it, and whom others
 * would like to have near them or not. */
static bool is_for_scheduler(struct extender_scratch *s, const struct question *q)
{
    const struct pod *pod = q->subject.pod;
    return pod->resource_claims || !replicas_can_tell(pod) ||
           world_is_looked_at(q->v->world, &s->arena, pod);
}

static void judge_all(struct extender_scratch *s, struct question *q)
{
    bool wait = must_wait(q);
    q->left = 0;
    q->waits = false;
    for (uint32_t i = 0; i < q->count; i++) {
        q->refusals[i] = (uint8_t)(wait ? ITS_KIND : judge(q, q->rows[i]));
        q->left += q->refusals[i] == PASSES;
        q->waits |= q->refusals[i] == ITS_KIND;
    }
    if (subject_prefers(&q->subject) || q->left < 2)
        return; /* its preferences the scheduler alone weighs */
    if (q->seat != NULL)
        choose_one(s, q);
    else if (q->nominated >= 0)
        return;
    else if (!is_for_scheduler(s, q))
        choose_one(s, q);
    else if (q->left > SHORTLIST)
        choose_some(s, q);
}

static bool is_guarded(const struct question *q, uint32_t row)
{
    return held_places(q->subject.held, row) || world_daemons_come(q->v->world, row);
}

/* The names that pass, for the planner. */
static void tell_several(struct extender_scratch *s, const struct question *q, struct booking *b)
{
    uint64_t *told = ARENA_ARRAY(&s->arena, uint64_t, LEDGER_TOLD);
    b->several = q->left > 1;
    if (!b->several || q->left > LEDGER_TOLD)
        return;
    for (uint32_t i = 0; i < q->count; i++)
        if (q->refusals[i] == PASSES && q->rows[i] >= 0)
            told[b->told_count++] = span_hash(q->names[i]);
    b->told = told;
}

/* One name is where the pod goes; of several it is kept in mind on each where somebody has a place, since
 * room that nobody means to use needs no guard but from the next plan. `anyway`: also when others have booked
 * meanwhile, of whom the desk does not know; else false. */
static bool book(struct extender_scratch *s, const struct question *q, bool anyway)
{
    const struct subject *subject = &q->subject;
    const struct pod *pod = subject->pod;
    uint64_t *nodes = ARENA_ARRAY(&s->arena, uint64_t, q->left);
    struct booking b = {.uid = pod->meta.uid,
                        .ns = pod->meta.ns,
                        .name = pod->meta.name,
                        .id = subject->id,
                        .priority = pod->priority,
                        .seen = subject->fresh ? 0 : q->v->snapshot->sequence,
                        .nodes = nodes,
                        .daemon = subject->daemon,
                        .volumes = subject_awaits_volumes(q->v->snapshot, pod),
                        .workload = q->left != 0 ? subject->workload : 0,
                        .side = subject->side,
                        .controller = replicas_controller(pod),
                        .instead = q->instead,
                        .published = q->published,
                        .inherits = q->inherits};
    memcpy(b.base, subject->requests, sizeof(b.base));
    for (uint32_t i = 0; i < q->count; i++)
        if (q->refusals[i] == PASSES && q->rows[i] >= 0 &&
            (q->left == 1 || is_guarded(q, (uint32_t)q->rows[i])))
            nodes[b.node_count++] = span_hash(q->names[i]);
    tell_several(s, q, &b);
    if (q->v->ledger == NULL)
        return true;
    if (!anyway)
        return ledger_book_if(q->v->ledger, &b, s->desk.version, q->v->now);
    ledger_book(q->v->ledger, &b, q->v->now);
    return true;
}

/* Whether what was published for another may be had. Threads that look at other snapshots do not see the same
 * trades: some of that room may be another's by now. */
static bool is_free(const struct question *q, const struct seat *s)
{
    const struct subject *subject = &q->subject;
    const struct world *w = q->v->world;
    uint32_t row = (uint32_t)s->row;
    const amount *held = held_at(subject->held, row);
    if (held == NULL || !held_from_start(subject->held, span_hash(s->pod->uid), row))
        return false;
    for (uint32_t c = 0; c < world_resource_count(w); c++)
        subject->scratch[c] = held[c] - subject->requests[c]; /* as much as the seat holds: pods are equal */
    return world_has_room(w, subject->requests, true, row, subject->scratch);
}

static bool take(struct question *q, const struct seat *s)
{
    uint32_t at = 0;
    while (at < q->count && q->rows[at] != s->row)
        at++;
    if (at == q->count)
        return false;
    if (s != q->seat)
        q->instead = s->pod->uid;
    if (s != q->seat || s->place != s->pod)
        q->published = s->place->uid;
    memset(q->refusals, NOT_CHOSEN, q->count);
    q->refusals[at] = PASSES;
    q->left = 1;
    return true;
}

static bool may_go(const struct question *q, int32_t row)
{
    return row >= 0 && !world_node_at(q->v->world, (uint32_t)row)->going;
}

/* The planned node alone, when it is among the names. */
static bool take_place(struct question *q)
{
    return may_go(q, q->planned) && (q->seat->place == q->seat->pod || is_free(q, q->seat)) &&
           take(q, q->seat);
}

/* What a sample of the nodes does not show may stand all the same, and take whoever comes. */
static bool is_hidden(const struct question *q)
{
    const struct world_node *n = q->planned >= 0 ? world_node_at(q->v->world, (uint32_t)q->planned) : NULL;
    return q->sampled && n != NULL && world_node_usable(n) && !n->going &&
           node_lets_in(n->node, q->subject.pod, q->v->snapshot->syms);
}

/* Pods that the planner sees no difference between are equal if one workload owns them: nobody waits longer
 * so that another's pods do not. Nor does anybody who gets a place for his that is ready, too. */
static bool is_equal(const struct question *q, const struct seat *s)
{
    const struct pod *other =
        snapshot_find(q->v->snapshot, KIND_POD, s->pod->ns, s->pod->pod);
    return other != NULL && other->priority == q->subject.pod->priority &&
           (pod_same_controller(q->subject.pod, other) || is_hidden(q));
}

/* The place of an equal pod that still waits for it: that one gets this one's. Not for whom somebody had to go:
 * it would have been in vain. */
static bool trade_places(struct extender_scratch *s, struct question *q)
{
    uint32_t count = 0;
    if (q->seat == NULL || q->seat->class_id < 0 || q->nominated >= 0)
        return false;
    struct seat *const *mates = desk_mates(&s->desk, q->seat->class_id, &count);
    if (count < 2)
        return false;
    bool *offered = ARENA_ARRAY(&s->arena, bool, world_node_count(q->v->world));
    for (uint32_t i = 0; i < q->count; i++)
        if (q->rows[i] >= 0)
            offered[q->rows[i]] = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct seat *m = mates[i];
        if (m != q->seat && may_go(q, m->row) && offered[m->row] && is_free(q, m) &&
            is_equal(q, m))
            return take(q, m);
    }
    return false;
}

/* Whom its controller has made in the stead of the other, or may have: a StatefulSet's has its name. */
static bool is_heir(struct extender_scratch *s, const struct question *q, const struct pod *of)
{
    const struct world *w = q->v->world;
    const struct pod *pod = q->subject.pod;
    if (of->priority != pod->priority || !pod_same_controller(pod, of) ||
        (meta_controller(&pod->meta)->kind == SYM_KIND_STATEFUL_SET && !span_eq(of->meta.name, pod->meta.name)))
        return false;
    const amount *requests = world_pod_requests(w, &s->arena, of);
    return memcmp(requests, q->subject.requests, world_resource_count(w) * sizeof(*requests)) == 0;
}

/* Its workload's next pod is as good as another; whose pod is on its way out first. */
static bool inherit(struct extender_scratch *s, struct question *q)
{
    uint32_t count;
    const struct leaver *all = desk_leavers(&s->desk, &count);
    if (q->seat != NULL || q->nominated >= 0 || q->subject.daemon)
        return false;
    for (uint32_t i = 0; i < 2 * count; i++) {
        const struct leaver *x = &all[i % count];
        bool leaves = x->pod->meta.deleted != 0 || x->pod->node == SYM_NONE;
        if (leaves == (i < count) && may_go(q, x->seat->row) &&
            !world_split_refuses(q->v->world, q->subject.side, (uint32_t)x->seat->row) && is_heir(s, q, x->pod) &&
            is_free(q, x->seat) && take(q, x->seat))
            return true;
    }
    return false;
}

static enum extender_answer choose(struct extender_scratch *s, struct question *q)
{
    q->instead = q->published = (struct span){0};
    q->inherits = false;
    find_place(q, &s->desk);
    if (take_place(q))
        return EXTENDER_PLANNED;
    if (trade_places(s, q))
        return EXTENDER_TRADED;
    if ((q->inherits = inherit(s, q)))
        return EXTENDER_INHERITED;
    judge_all(s, q);
    if (q->left != 0)
        return q->seat != NULL ? EXTENDER_REVISED : EXTENDER_ROOM;
    return q->waits ? EXTENDER_WAITS : EXTENDER_REFUSED;
}

/* Two who judge at the same time would give the same room away: who books second looks again. With many
 * who book all the time somebody has to give in. */
static enum extender_answer choose_and_book(struct extender_scratch *s, struct question *q, bool *gave_in_out)
{
    enum { TRIES = 8 };
    for (unsigned i = 1;; i++) {
        enum extender_answer answer = choose(s, q);
        *gave_in_out = i == TRIES;
        if (book(s, q, i == TRIES))
            return answer;
        subject_look(s, q->v, &q->subject);
    }
}

/* Until others of its kind are where they are planned, a spread or an affinity may refuse it at its place, and that
 * says nothing of the node. Should it do so in the end, the reconciler finds out. */
static bool waits_its_turn(const struct question *q, const struct desk *d)
{
    const struct world *w = q->v->world;
    uint32_t count;
    if (q->left != 0 || q->seat->class_id < 0 || !world_wavers(w, q->seat->class_id))
        return false;
    struct seat *const *mates = desk_mates(d, q->seat->class_id, &count);
    for (uint32_t i = 0; i < count; i++)
        if (mates[i]->row < 0 ||
            !world_is_alike(w, q->seat->class_id, (uint32_t)q->planned, (uint32_t)mates[i]->row))
            return true;
    return false;
}

/* It does not go to its place. */
static void note(const struct question *q, const struct desk *d, struct extender_verdict *out)
{
    const struct world_node *planned =
        q->planned >= 0 ? world_node_at(q->v->world, (uint32_t)q->planned) : NULL;
    out->astray = place_is_open(q->v->world, q->planned, q->subject.pod) && !q->sampled && !q->alone && q->count != 0 &&
                  (planned->going || !waits_its_turn(q, d));
    if (out->astray && q->v->ledger != NULL)
        ledger_refused(q->v->ledger, q->subject.pod->meta.uid,
                       span_hash(planned->node->meta.name), q->v->now);
}

/* --- the reply --- */

/* What others go first for. Of a sample the next attempt sees other nodes, else nobody is to be preempted in
 * vain: what is refused so cannot be had by evicting. */
static bool is_resolvable(const struct question *q, enum refusal r)
{
    return q->sampled && (r == HELD || r == DAEMONS);
}

static void put_resolvable(struct json *j, const struct question *q)
{
    for (uint32_t i = 0; q->refusals != NULL && i < q->count; i++) {
        enum refusal r = q->refusals[i];
        if (!is_resolvable(q, r))
            continue;
        json_key(j, q->names[i]);
        json_text(j, texts[r]);
    }
}

/* A node that the answer does not speak of cannot be had by evicting either, so that one of each kind is named and says
 * how many there are: "1 of 500 whose room is held for planned pods". To be told of each of 1,000 takes the scheduler
 * 3 ms of its processor. (Kubernetes 1.30 to 1.36.) */
static void put_unresolvable(struct json *j, const struct question *q)
{
    uint32_t first[REFUSAL_COUNT], count[REFUSAL_COUNT] = {0};
    for (uint32_t i = 0; q->refusals != NULL && i < q->count; i++)
        if (count[q->refusals[i]]++ == 0)
            first[q->refusals[i]] = i;
    for (enum refusal r = 0; r < REFUSAL_COUNT; r++) {
        char text[128];
        if (count[r] == 0 || r == PASSES || r == NOT_CHOSEN || is_resolvable(q, r))
            continue;
        json_key(j, q->names[first[r]]);
        int n = count[r] == 1 ? 0 : snprintf(text, sizeof(text), "of %u %.*s", count[r], SPAN_ARG(texts[r]));
        json_text(j, n == 0 ? texts[r] : (struct span){text, (size_t)n});
    }
}

/* Without refusals all names pass. */
static void put_result(struct buf *reply, const struct question *q)
{
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_key(&j, SPAN("Nodes"));
    json_null_value(&j);
    json_put_array(&j, "NodeNames");
    for (uint32_t i = 0; i < q->count; i++)
        if (q->refusals == NULL || q->refusals[i] == PASSES)
            json_text(&j, q->names[i]);
    json_array_end(&j);
    json_put_object(&j, "FailedNodes");
    put_resolvable(&j, q);
    json_object_end(&j);
    json_put_object(&j, "FailedAndUnresolvableNodes");
    put_unresolvable(&j, q);
    json_object_end(&j);
    json_put_string(&j, "Error", SPAN(""));
    json_object_end(&j);
}

bool extender_filter(struct extender_scratch *s, const struct extender_view *v, struct span body,
                     struct buf *reply, struct extender_verdict *verdict_out, struct err *err)
{
    struct extender_args args;
    *verdict_out = (struct extender_verdict){.answer = EXTENDER_NO_OPINION};
    if (!extender_args_decode(s, body, &args, err))
        return false;
    if (!args.has_node_names)
        return err_set(err, ERR_INVALID,
                       "the request has no NodeNames; set nodeCacheCapable: true for this extender "
                       "in the scheduler's configuration");
    if (v->ledger != NULL)
        ledger_asked(v->ledger, v->now);
    struct question q = {.v = v, .names = args.node_names.items, .count = args.node_names.count};
    if (v->ledger != NULL && args.pod.uid.len != 0) /* what it was told before has come to nothing */
        verdict_out->again = ledger_forget(v->ledger, span_hash(args.pod.uid));
    if (!subject_find(s, v, &args, &q.subject)) {
        put_result(reply, &q);
        return true;
    }
    q.rows = ARENA_ARRAY(&s->arena, int32_t, q.count);
    q.refusals = ARENA_ARRAY(&s->arena, uint8_t, q.count);
    for (uint32_t i = 0; i < q.count; i++)
        q.rows[i] = world_find_hash(v->world, span_hash(q.names[i]));
    q.nominated = subject_freed(&q.subject, v->world, args.pod.nominated);
    q.alone = q.count == 1 && span_eq(q.names[0], args.pod.nominated);
    verdict_out->sampled = q.sampled = looks_sampled(v->world, q.count);
    verdict_out->answer = choose_and_book(s, &q, &verdict_out->gave_in);
    if (q.published.len != 0)
        verdict_out->astray = true;
    else if (verdict_out->answer != EXTENDER_PLANNED)
        note(&q, &s->desk, verdict_out);
    put_result(reply, &q);
    return true;
}
