#include "base/json.h"
#include "extender/subject.h"

static bool is_victim(const struct victims *c, struct span uid)
{
    for (uint32_t i = 0; i < c->pods.count; i++)
        if (span_eq(c->pods.items[i].uid, uid))
            return true;
    return false;
}

/* When it was told to go, later being greater; 0: it was not, of late. */
static mono_ms told(const struct extender_view *v, struct span uid)
{
    return ledger_victim_until(v->ledger, uid, v->now);
}

/* The victims are gone, or, without, whoever was told to go. */
static bool is_gone(const struct extender_view *v, const struct victims *c, struct span uid)
{
    return c != NULL ? is_victim(c, uid) : told(v, uid) != 0;
}

/* What has to be left on the row with those gone: to those who stand there, and to those who hold room or
 * whose DaemonSet sends them there, of equal or higher priority. */
static const amount *taken_without(struct arena *a, const struct extender_view *v,
                                   const struct victims *c, uint32_t row, const amount *held,
                                   const amount *daemons)
{
    uint32_t columns = world_resource_count(v->world);
    amount *taken = ARENA_ARRAY(a, amount, columns);
    for (uint32_t column = 0; column < columns; column++)
        taken[column] = amount_add(amount_add(held != NULL ? held[column] : 0, daemons[column]),
                                   world_requested(v->world, row)[column]);
    const struct pod *const *pods = world_node_pods(v->world, row);
    for (uint32_t i = 0; i < world_node_at(v->world, row)->pod_count; i++) {
        if (!is_gone(v, c, pods[i]->meta.uid))
            continue;
        const amount *freed = world_pod_requests(v->world, a, pods[i]);
        for (uint32_t column = 0; column < columns; column++)
            taken[column] -= freed[column];
    }
    return taken;
}

/* Room with those gone, less what is held, is enough for the pod. A DaemonSet's pod does not leave its
 * own room to itself. */
static bool has_room(struct arena *a, const struct extender_view *v, const struct subject *s,
                     const struct victims *c, uint32_t row)
{
    bool placed;
    const amount *held = subject_leaves(s, row, &placed);
    const amount *daemons =
        world_daemons_from(v->world, a, row, s->daemon ? INT32_MAX : s->pod->priority);
    if (c != NULL && !placed && daemons[3] == 0) /* pods */
        return true; /* the scheduler has counted the rest */
    const amount *asks = s->requests, *taken = taken_without(a, v, c, row, held, daemons);
    const amount *allocatable = world_allocatable(v->world, row);
    for (uint32_t column = 0; column < world_resource_count(v->world); column++)
        if (asks[column] > 0 && amount_add(asks[column], taken[column]) > allocatable[column])
            return false;
    return true;
}

static void put_candidate(struct json *j, const struct victims *c)
{
    json_key(j, c->node);
    json_object_begin(j);
    json_put_array(j, "Pods");
    for (uint32_t i = 0; i < c->pods.count; i++) {
        json_object_begin(j);
        json_put_string(j, "UID", c->pods.items[i].uid);
        json_object_end(j);
    }
    json_array_end(j);
    json_put_int(j, "NumPDBViolations", c->pdb_violations);
    json_object_end(j);
}

/* On the node that it has been nominated for somebody had to go for the pod, which was weighed then, and our snapshot
 * may still show some there whom the scheduler knows to be gone. */
static bool may_have(struct arena *a, const struct extender_view *v, const struct subject *s,
                     const struct victims *c, int32_t row, int32_t nominated)
{
    return row < 0 || (!world_node_at(v->world, (uint32_t)row)->going &&
                       !world_split_refuses(v->world, s->side, (uint32_t)row) &&
                       (row == nominated || has_room(a, v, s, c, (uint32_t)row)));
}

static const struct pod *find_victim(const struct world *w, int32_t row, struct span uid)
{
    if (row < 0)
        return NULL;
    const struct pod *const *pods = world_node_pods(w, (uint32_t)row);
    for (uint32_t i = 0; i < world_node_at(w, (uint32_t)row)->pod_count; i++)
        if (span_eq(pods[i]->meta.uid, uid))
            return pods[i];
    return NULL;
}

/* For others to know: the scheduler evicts them now. Whom our snapshot does not have goes for nobody else. */
static void remember(struct arena *a, const struct extender_view *v, const struct victims *c, int32_t row)
{
    struct told_victim *list = ARENA_ARRAY(a, struct told_victim, c->pods.count);
    for (uint32_t i = 0; i < c->pods.count; i++) {
        const struct pod *pod = find_victim(v->world, row, c->pods.items[i].uid);
        list[i] = (struct told_victim){.uid = c->pods.items[i].uid,
                                       .node = span_hash(c->node),
                                       .priority = pod != NULL ? pod->priority : INT32_MAX};
    }
    ledger_victims(v->ledger, list, c->pods.count, v->now);
}

/* Of the victims the one that was told last; empty: none was. */
static struct span last_told(const struct extender_view *v, const struct victims *c, bool *all_out)
{
    struct span last = {0};
    mono_ms latest = 0;
    *all_out = true;
    for (uint32_t i = 0; i < c->pods.count; i++) {
        mono_ms at = told(v, c->pods.items[i].uid);
        *all_out &= at != 0;
        if (at <= latest)
            continue;
        latest = at;
        last = c->pods.items[i].uid;
    }
    return last;
}

/* Whom to tell again when those told to go from the pod's own node are enough: one of those named, whom the
 * scheduler still sees there. Else the last told there, who may have gone from our snapshot and not from the
 * scheduler's; if he has from both, it was for another reason that somebody had to go, and the scheduler turns our
 * answer down and stays with its own. Empty: they are not enough. */
static struct span once_more(struct arena *a, const struct extender_view *v, const struct subject *s,
                             const struct victims *c)
{
    bool all;
    struct span last = last_told(v, c, &all);
    int32_t row = world_find_node(v->world, c->node);
    if (!all && (row < 0 || !has_room(a, v, s, NULL, (uint32_t)row)))
        return (struct span){0};
    return last.len != 0
               ? last
               : ledger_last_victim(v->ledger, span_hash(c->node), s->pod->priority, v->now, a);
}

/* The scheduler counts equal pods that it has nominated for a node as if they stood there, and their victims until it
 * has seen them go. So a pod whose own room is free already may not fit for a moment, and is asked for more victims:
 * all those on their way on its own node, others than those in their place, or fewer on another node. While nobody
 * but those would have to go from its own node, nobody else has to from anywhere, and one of them is told again,
 * since the scheduler wants a victim. One alone: with several it would not notice if all had gone before the
 * last was told (put_own_last). */
static void keep_to_own(struct arena *a, const struct extender_view *v, const struct subject *s,
                        const struct extender_args *args, bool *kept)
{
    for (uint32_t own = 0; own < args->candidates.count; own++) {
        struct victims *c = &args->candidates.items[own];
        if (!kept[own] || c->pods.count == 0 || !span_eq(c->node, args->pod.nominated))
            continue;
        struct span last = once_more(a, v, s, c);
        if (last.len == 0)
            continue;
        for (uint32_t i = 0; i < args->candidates.count; i++)
            kept[i] = i == own;
        c->pods.items[0].uid = last;
        c->pods.count = 1;
        return;
    }
}

struct cost { /* of a candidate: of those victims that are not on their way already */
    int32_t highest; /* priority */
    int64_t sum;     /* of priorities, each counted from the lowest there is: more pods are more */
    uint32_t count;  /* one of the lowest priority adds nothing to the sum */
    wall_ms since;   /* when the first of the highest priority started: the later lose less */
    bool own;        /* the node that the pod is nominated for already */
    bool known;      /* our snapshot has all of them */
};

/* Who has not started has nothing to lose. */
static wall_ms started(const struct pod *pod)
{
    return pod->start_time != 0 ? pod->start_time : INT64_MAX;
}

static void add_victim(struct cost *x, const struct pod *pod)
{
    x->count++;
    x->sum += (int64_t)pod->priority - INT32_MIN;
    if (pod->priority > x->highest || (pod->priority == x->highest && started(pod) < x->since))
        x->since = started(pod);
    x->highest = pod->priority > x->highest ? pod->priority : x->highest;
}

struct roll { /* victims by uid: candidates may be hundreds of nodes with a hundred of them each */
    const struct victims *c;
    uint32_t *slots, mask; /* numbers from 1 */
};

static struct roll roll_of(struct arena *a, const struct victims *c)
{
    struct roll r = {.c = c, .mask = 15};
    while (r.mask < 2 * c->pods.count)
        r.mask = r.mask * 2 + 1;
    r.slots = ARENA_ARRAY(a, uint32_t, (size_t)r.mask + 1);
    for (uint32_t i = 0; i < c->pods.count; i++) {
        uint32_t at = (uint32_t)span_hash(c->pods.items[i].uid) & r.mask;
        while (r.slots[at] != 0)
            at = (at + 1) & r.mask;
        r.slots[at] = i + 1;
    }
    return r;
}

static bool roll_has(const struct roll *r, struct span uid)
{
    uint32_t at = (uint32_t)span_hash(uid) & r->mask;
    while (r->slots[at] != 0 && !span_eq(r->c->pods.items[r->slots[at] - 1].uid, uid))
        at = (at + 1) & r->mask;
    return r->slots[at] != 0;
}

static struct cost cost_of(struct arena *a, const struct extender_view *v, const struct extender_args *args,
                           const struct victims *c)
{
    struct cost x = {.highest = INT32_MIN, .since = INT64_MAX, .own = span_eq(c->node, args->pod.nominated)};
    int32_t row = world_find_node(v->world, c->node);
    uint32_t pods = row >= 0 ? world_node_at(v->world, (uint32_t)row)->pod_count : 0, found = 0;
    const struct roll roll = roll_of(a, c);
    for (uint32_t i = 0; i < pods; i++) {
        const struct pod *pod = world_node_pods(v->world, (uint32_t)row)[i];
        if (!roll_has(&roll, pod->meta.uid))
            continue;
        found++;
        if (told(v, pod->meta.uid) == 0)
            add_victim(&x, pod);
    }
    x.known = found == c->pods.count;
    return x;
}

static bool is_less(const struct cost *a, const struct cost *b)
{
    if (a->highest != b->highest)
        return a->highest < b->highest;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->count != b->count)
        return a->count < b->count;
    return a->since != b->since ? a->since > b->since : a->own && !b->own;
}

/* Those with the fewest violations of disruption budgets. */
static void keep_least_violations(const struct extender_args *args, bool *kept)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < args->candidates.count; i++)
        if (kept[i] && args->candidates.items[i].pdb_violations < least)
            least = args->candidates.items[i].pdb_violations;
    for (uint32_t i = 0; i < args->candidates.count; i++)
        kept[i] = kept[i] && args->candidates.items[i].pdb_violations == least;
}

/* One node, by kube-scheduler's own rules: what it would choose itself is not told to us, and those who ask next
 * have to know who is on his way. Where it knows a victim that we do not, it chooses among those with as few
 * violations. */
static void choose(struct arena *a, const struct extender_view *v, const struct extender_args *args, bool *kept)
{
    uint32_t count = args->candidates.count, best = count;
    struct cost least = {.known = true};
    bool known = true;
    keep_least_violations(args, kept);
    for (uint32_t i = 0; i < count && known; i++) {
        if (!kept[i])
            continue;
        const struct cost x = cost_of(a, v, args, &args->candidates.items[i]);
        known = x.known;
        if (best != count && !is_less(&x, &least))
            continue;
        best = i;
        least = x;
    }
    for (uint32_t i = 0; known && i < count; i++)
        kept[i] = i == best;
}

static uint32_t count_kept(const bool *kept, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += kept[i];
    return n;
}

/* The scheduler takes the first victim for the one of highest priority. */
static bool may_be_first(const struct world *w, int32_t row, struct span uid, struct span instead_of)
{
    const struct pod *pod = find_victim(w, row, uid), *first = find_victim(w, row, instead_of);
    return pod != NULL && first != NULL && pod->priority == first->priority;
}

/* The scheduler tells the last victim to go when all others have been told, and until then does not take the pod up
 * again, whoever goes: when the last is one that is gone by then, for another pod's sake, and its own has gone in
 * the meantime, nothing wakes the pod any more. So its own is the last: who was not told before, else who was told
 * last, for a pod that may have gone elsewhere. */
static void put_own_last(const struct extender_view *v, const struct victims *c, int32_t row)
{
    uint32_t count = c->pods.count, own = 0;
    struct victim *x = c->pods.items;
    mono_ms latest = 0;
    for (uint32_t i = 0; i < count; i++) {
        mono_ms at = told(v, x[i].uid);
        at = at != 0 ? at : INT64_MAX;
        if (at < latest)
            continue;
        latest = at;
        own = i;
    }
    if (count < 2 || (own == 0 && !may_be_first(v->world, row, x[1].uid, x[0].uid)))
        return;
    const struct victim last = x[own];
    memmove(&x[own], &x[own + 1], (count - 1 - own) * sizeof(*x));
    x[count - 1] = last;
}

static void weigh(struct arena *a, const struct extender_view *v, const struct subject *s,
                  const struct extender_args *args, bool *kept)
{
    int32_t nominated = subject_freed(s, v->world, args->pod.nominated);
    for (uint32_t i = 0; i < args->candidates.count; i++) {
        const struct victims *c = &args->candidates.items[i];
        kept[i] = may_have(a, v, s, c, world_find_node(v->world, c->node), nominated);
    }
    if (v->ledger == NULL)
        return;
    keep_to_own(a, v, s, args, kept);
    choose(a, v, args, kept);
    bool sure = count_kept(kept, args->candidates.count) == 1;
    for (uint32_t i = 0; i < args->candidates.count; i++) {
        const struct victims *c = &args->candidates.items[i];
        int32_t row = world_find_node(v->world, c->node);
        if (!kept[i])
            continue;
        put_own_last(v, c, row);
        if (sure)
            remember(a, v, c, row);
    }
}

bool extender_preempt(struct extender_scratch *s, const struct extender_view *v, struct span body,
                      struct buf *reply, struct extender_verdict *verdict_out, struct err *err)
{
    struct extender_args args;
    *verdict_out = (struct extender_verdict){.answer = EXTENDER_NO_OPINION};
    if (!extender_args_decode(s, body, &args, err))
        return false;
    if (!args.has_candidates)
        return err_set(err, ERR_INVALID,
                       "the request has no NodeNameToMetaVictims; set nodeCacheCapable: true for "
                       "this extender in the scheduler's configuration");
    struct subject subject;
    bool known = subject_find(s, v, &args, &subject);
    bool *kept = ARENA_ARRAY(&s->arena, bool, args.candidates.count);
    memset(kept, true, args.candidates.count);
    if (known)
        weigh(&s->arena, v, &subject, &args, kept);
    uint32_t left = count_kept(kept, args.candidates.count);
    struct json j = JSON_TO(reply);
    json_object_begin(&j);
    json_put_object(&j, "NodeNameToMetaVictims");
    for (uint32_t i = 0; i < args.candidates.count; i++) {
        if (kept[i])
            put_candidate(&j, &args.candidates.items[i]);
    }
    json_object_end(&j);
    json_object_end(&j);
    if (known)
        verdict_out->answer = left != 0 ? EXTENDER_ROOM : EXTENDER_REFUSED;
    return true;
}
