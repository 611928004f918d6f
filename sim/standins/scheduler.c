/* kube-scheduler, as far as Stowage can tell: the rules that must hold (the planner's binder, on a world of
 * Nodes, pods and volumes alone), MostAllocated as manifests/ configures it, the extender asked over its
 * wire format, PodScheduled=False with the reasons counted.
 *
 * One pass takes all waiting pods by priority and age; what it has bound counts for those that follow.
 * Differences from the real one: ties go by node name instead of by chance; no preemption; preferences
 * count for nothing; volumes are never bound, so that a pod may start before its claims are.
 *
 * status.nominatedNodeName as Kubernetes 1.35 and 1.36 read it: the node is tried before all others and
 * taken if it will do; what is nominated for a node is held to be there against pods of the same or a
 * lower priority; an attempt that fails empties the field. */
#include "sim/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>

#include "planner/search/binder.h"
#include "sim/standins/candidates.h"
#include "sim/standins/scene.h"

struct scheduler {
    struct sim_cluster *cluster;
    struct api *client;
    struct store *store;
    struct share_cache cache;
    struct pacer pacer;
    struct sim_extender extender;
};

struct nominated { /* a waiting pod that has room on a row */
    const struct pod *pod;
    int32_t class_id;
    uint32_t row;
};

struct pass {
    struct scheduler *scheduler;
    struct objects *objects;
    struct arena *arena;
    const struct scene *scene;
    const struct world *world;
    struct binder *binder;
    const struct symtab *syms;
    struct span *verdicts; /* class → message, once no node suits, nor will in this pass */
    uint32_t verdict_count;
    struct nominated *nominated;
    uint32_t nominated_count;
};

struct turn { /* of one pod */
    const struct pod *pod;
    const json_t *object;
    int32_t class_id; /* -1: a DaemonSet's, in no class */
    const amount *wanted;
    struct candidates found;
    struct refusals refusals;
    bool may_change; /* some node refuses it for what those that follow may change */
};

/* ---- one node ---- */

static bool short_of(const struct pass *p, const amount *wanted, uint32_t row, uint32_t column)
{
    return wanted[column] > 0 && wanted[column] > binder_left(p->binder, row, column);
}

static bool count_shortages(const struct pass *p, struct turn *t, uint32_t row)
{
    bool some = false;
    for (uint32_t c = 0; c < world_resource_count(p->world); c++) {
        if (!short_of(p, t->wanted, row, c))
            continue;
        struct span name = sym_text(p->syms, world_resource_name(p->world, c));
        if (span_eq(name, SPAN("pods")))
            refusals_add(&t->refusals, SPAN("Too many pods"));
        else
            refusals_add(&t->refusals,
                         arena_printf(p->arena, "Insufficient %.*s", SPAN_ARG(name)));
        some = true;
    }
    return some;
}

static void count_refusal(const struct pass *p, enum binder_answer a, struct turn *t, uint32_t row)
{
    static const struct span texts[BINDER_ANSWER_COUNT] = {
        [BINDER_LEAVING] = SPAN_INIT("node(s) were unschedulable"),
        [BINDER_DEVICES] = SPAN_INIT("node(s) need devices, which the stand-in scheduler does not allocate"),
        [BINDER_TAINT] = SPAN_INIT("node(s) had untolerated taint(s)"),
        [BINDER_SELECTOR] = SPAN_INIT("node(s) didn't match Pod's node affinity/selector"),
        [BINDER_VOLUMES] = SPAN_INIT("node(s) didn't match PersistentVolume's node affinity"),
        [BINDER_PORTS] = SPAN_INIT("node(s) didn't have free ports for the requested pod ports"),
        [BINDER_RESOURCES] = SPAN_INIT("node(s) exceed max volume count"),
        [BINDER_SPREAD] = SPAN_INIT("node(s) didn't match pod topology spread constraints"),
        [BINDER_AFFINITY] = SPAN_INIT("node(s) didn't match pod affinity rules"),
        [BINDER_ANTI_AFFINITY] = SPAN_INIT("node(s) didn't match pod anti-affinity rules"),
        [BINDER_KEPT_OFF] = SPAN_INIT("node(s) didn't satisfy existing pods anti-affinity rules"),
    };
    t->may_change |= binder_may_change(a);
    if (a == BINDER_MISSING)
        refusals_add(&t->refusals, binder_missing(p->binder, t->class_id));
    else if (a != BINDER_RESOURCES || !count_shortages(p, t, row))
        refusals_add(&t->refusals, texts[a]);
}

/* Those that are nominated for the row are bound there, but who has to give way to the pod. */
static bool bind_nominated(struct pass *p, const struct pod *pod, uint32_t row)
{
    bool some = false;
    for (uint32_t i = 0; i < p->nominated_count; i++) {
        const struct nominated *n = &p->nominated[i];
        if (n->row != row || n->pod == pod || n->pod->priority < pod->priority)
            continue;
        binder_bind(p->binder, n->class_id, row);
        some = true;
    }
    return some;
}

/* With those that are nominated there, and without them: nobody may rely on a pod that is not there yet. */
static bool takes(struct pass *p, struct turn *t, uint32_t row)
{
    uint32_t mark = binder_mark(p->binder);
    bool others = bind_nominated(p, t->pod, row);
    enum binder_answer a = binder_ask(p->binder, t->class_id, row);
    if (others && a == BINDER_YES) {
        binder_undo(p->binder, mark);
        a = binder_ask(p->binder, t->class_id, row);
    }
    if (a != BINDER_YES)
        count_refusal(p, a, t, row);
    binder_undo(p->binder, mark);
    return a == BINDER_YES;
}

/* MostAllocated over CPU and memory (columns 0 and 1), with the pod on the node. */
static int64_t fullness(const struct pass *p, const amount *wanted, uint32_t row)
{
    int64_t score = 0;
    for (uint32_t c = 0; c < 2; c++) {
        amount all = world_allocatable(p->world, row)[c];
        amount used = all - binder_left(p->binder, row, c) + wanted[c];
        if (all > 0)
            score += (int64_t)((double)used / (double)all * CANDIDATE_SCORE_MAX);
    }
    return score / 2;
}

static void find(struct pass *p, struct turn *t)
{
    for (uint32_t row = 0; row < world_node_count(p->world); row++)
        if (takes(p, t, row))
            candidates_add(&t->found, row, fullness(p, t->wanted, row));
}

/* ---- outcome ---- */

static void bind(struct pass *p, const struct turn *t, uint32_t row)
{
    json_t *fresh = json_deep_copy(t->object);
    tree_set(fresh, "spec.nodeName", tree_of_span(world_node_at(p->world, row)->node->meta.name));
    tree_remove(fresh, "status.nominatedNodeName");
    tree_condition_set(fresh, "PodScheduled", "True", "", "", p->objects->now);
    objects_put(p->objects, KIND_POD, fresh);
    if (t->class_id >= 0)
        binder_bind(p->binder, t->class_id, row);
    else
        binder_take(p->binder, row, t->wanted);
}

static void report(struct objects *o, const json_t *pod, const char *reason, struct span message)
{
    char text[1024];
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(message));
    json_t *fresh = json_deep_copy(pod);
    tree_remove(fresh, "status.nominatedNodeName");
    tree_condition_set(fresh, "PodScheduled", "False", reason, text, o->now);
    registry_put_status(o, KIND_POD, pod, fresh);
}

/* Asks the extender, then binds the pod to the best of the candidates; false: there is none. */
static bool settle(struct pass *p, struct turn *t)
{
    const struct sim_extender *e = &p->scheduler->extender;
    candidates_filter(&t->found, e, t->object, &t->refusals);
    if (candidates_best(&t->found) == NULL)
        return false;
    candidates_score(&t->found, e, t->object);
    bind(p, t, candidates_best(&t->found)->row);
    return true;
}

static struct span refuse(struct pass *p, struct turn *t)
{
    struct span why = refusals_message(p->arena, &t->refusals, world_node_count(p->world));
    report(p->objects, t->object, "Unschedulable", why);
    return why;
}

/* ---- a DaemonSet's pod ---- */

static struct span pinned_node(const json_t *pod)
{
    const json_t *terms = tree_get(pod, "spec.affinity.nodeAffinity."
                                        "requiredDuringSchedulingIgnoredDuringExecution."
                                        "nodeSelectorTerms");
    const json_t *field = json_array_get(tree_get(json_array_get(terms, 0), "matchFields"), 0);
    const json_t *name = json_array_get(tree_get(field, "values"), 0);
    if (json_array_size(terms) != 1 || !json_is_string(name))
        return (struct span){NULL, 0};
    return span_of(json_string_value(name));
}

static const amount *requests_of(const struct pass *p, const struct pod *pod)
{
    amount *wanted = ARENA_ARRAY(p->arena, amount, world_resource_count(p->world));
    struct resources all = pod_requests(p->arena, pod);
    for (uint32_t c = 0; c < world_resource_count(p->world); c++)
        wanted[c] = resources_get(all, world_resource_name(p->world, c));
    return wanted;
}

/* It names its node (matchFields) and is in no class: nothing but room is left to ask. */
static void schedule_pinned(struct pass *p, struct turn *t, struct span node)
{
    int32_t row = world_find_node(p->world, node);
    t->wanted = requests_of(p, t->pod);
    if (row < 0)
        refusals_add(&t->refusals, SPAN("node(s) didn't match Pod's node affinity/selector"));
    else if (!count_shortages(p, t, (uint32_t)row))
        candidates_add(&t->found, (uint32_t)row, 0);
    if (!settle(p, t))
        refuse(p, t);
}

/* ---- all others ---- */

static struct span *verdict_of(struct pass *p, int32_t class_id)
{
    if ((uint32_t)class_id >= p->verdict_count) {
        uint32_t count = ((uint32_t)class_id + 1) * 2;
        struct span *grown = ARENA_ARRAY(p->arena, struct span, count);
        if (p->verdict_count != 0)
            memcpy(grown, p->verdicts, p->verdict_count * sizeof *grown);
        p->verdicts = grown;
        p->verdict_count = count;
    }
    return &p->verdicts[class_id];
}

/* Bound or refused: either way its nomination is over. */
static void forget_nomination(struct pass *p, const struct pod *pod)
{
    for (uint32_t i = 0; i < p->nominated_count; i++)
        if (p->nominated[i].pod == pod)
            p->nominated[i--] = p->nominated[--p->nominated_count];
}

static bool took_nominated(struct pass *p, const struct turn *t)
{
    struct turn there = *t;
    int32_t row = t->pod->nominated_node != SYM_NONE
                      ? world_find_node(p->world, sym_text(p->syms, t->pod->nominated_node))
                      : -1;
    if (row >= 0 && takes(p, &there, (uint32_t)row))
        candidates_add(&there.found, (uint32_t)row, 0);
    return settle(p, &there);
}

static void schedule(struct pass *p, struct turn *t)
{
    t->class_id = world_class_of(p->world, t->pod);
    if (t->class_id < 0)
        return; /* newer than the world; the next pass has it */
    t->wanted = world_class_requests(p->world, t->class_id);
    if (took_nominated(p, t))
        return;
    struct span *verdict = verdict_of(p, t->class_id);
    if (verdict->len != 0 && p->nominated_count == 0) {
        report(p->objects, t->object, "Unschedulable", *verdict);
        return;
    }
    find(p, t);
    bool lasts = t->found.count == 0 && p->nominated_count == 0 && !t->may_change;
    if (settle(p, t))
        return;
    struct span why = refuse(p, t);
    if (lasts)
        *verdict = why;
}

static void schedule_if_waiting(struct pass *p, const struct pod *waiting)
{
    const json_t *pod = objects_find(p->objects, KIND_POD, waiting->meta.ns, waiting->meta.name);
    struct turn t = {.pod = waiting, .object = pod, .class_id = -1,
                     .found = {.arena = p->arena, .world = p->world}};
    if (pod == NULL || !span_eq(tree_string(pod, "metadata.uid"), waiting->meta.uid) ||
        tree_get(pod, "spec.nodeName") != NULL ||
        tree_get(pod, "metadata.deletionTimestamp") != NULL ||
        !tree_is(pod, "spec.schedulerName", "default-scheduler"))
        return;
    struct span node = pinned_node(pod);
    if (waiting->gated)
        report(p->objects, pod, "SchedulingGated",
               SPAN("Scheduling is blocked due to non-empty scheduling gates"));
    else if (node.len != 0)
        schedule_pinned(p, &t, node);
    else
        schedule(p, &t);
}

/* ---- a pass ---- */

static void gather_nominated(struct pass *p)
{
    p->nominated = ARENA_ARRAY(p->arena, struct nominated, p->scene->waiting_count + 1);
    for (uint32_t i = 0; i < p->scene->waiting_count; i++) {
        const struct pod *pod = p->scene->waiting[i];
        if (pod->nominated_node == SYM_NONE)
            continue;
        int32_t row = world_find_node(p->world, sym_text(p->syms, pod->nominated_node));
        int32_t class_id = world_class_of(p->world, pod);
        if (row >= 0 && class_id >= 0)
            p->nominated[p->nominated_count++] = (struct nominated){pod, class_id, (uint32_t)row};
    }
}

static void run_pass(struct scheduler *s)
{
    struct arena arena;
    const struct snapshot *snapshot;
    store_publish(s->store, s->cluster->objects.now);
    snapshot = (const struct snapshot *)share_read(store_share(s->store), &s->cache);
    const struct scene *scene = snapshot->derived;
    if (scene->waiting_count == 0)
        return;
    arena_init(&arena, 0);
    struct pass p = {.scheduler = s, .objects = &s->cluster->objects, .arena = &arena, .scene = scene,
                     .world = scene->world, .binder = binder_new(&arena, scene->world),
                     .syms = snapshot->syms};
    gather_nominated(&p);
    for (uint32_t i = 0; i < scene->waiting_count; i++) {
        schedule_if_waiting(&p, scene->waiting[i]);
        forget_nomination(&p, scene->waiting[i]);
    }
    arena_release(&arena);
}

wall_ms scheduler_step(struct scheduler *s)
{
    struct objects *o = &s->cluster->objects;
    /* A pass on a world that is behind would give the same room away twice. */
    if (cluster_watch_due(s->cluster, (const struct client *)s->client) != INT64_MAX)
        return o->now;
    if (pacer_is_due(&s->pacer, o))
        run_pass(s);
    share_reap(store_share(s->store));
    return pacer_due(&s->pacer);
}

static void on_list_begin(void *user, enum kind k)
{
    store_list_begin(((struct scheduler *)user)->store, k);
}

static void on_list_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(((struct scheduler *)user)->store, k, asked);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct scheduler *)user)->store, k, e, object);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    struct scheduler *s = user;
    store_state(s->store, k, broken, s->cluster->objects.now);
}

struct scheduler *scheduler_new(struct sim_cluster *c, span_ms delay)
{
    struct scheduler *s = mem_new(sizeof *s);
    s->cluster = c;
    s->pacer = (struct pacer){.kinds = scene_kinds, .delay = delay};
    s->client = sim_client_new(c);
    ((struct client *)s->client)->sees_at_once = true;
    s->store = store_new(&scene_deriver);
    struct api_sink sink = {s, on_list_begin, on_list_end, on_event, on_state};
    for (const enum kind *k = scene_kinds; *k != KIND_NONE; k++)
        s->client->ops->watch(s->client, *k, &sink);
    return s;
}

void scheduler_free(struct scheduler *s)
{
    if (s == NULL)
        return;
    share_drop(&s->cache);
    sim_client_free(s->client);
    store_free(s->store);
    free(s);
}

void scheduler_set_extender(struct scheduler *s, const struct sim_extender *e)
{
    s->extender = e != NULL ? *e : (struct sim_extender){0};
}
