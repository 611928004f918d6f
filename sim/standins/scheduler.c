/* kube-scheduler, as far as Stowage can tell: the same question "does it fit" (the planner's
 * world_fits on a world of Nodes and pods alone), MostAllocated as manifests/ configures it, the
 * extender asked over its wire format, PodScheduled=False with the reasons counted.
 *
 * One pass takes all waiting pods by priority and age. What it binds is held against the world that
 * the pass began with, so that a pass never overcommits. Differences from the real one: ties go by
 * node name instead of by chance; no preemption; a pod that needs a rule which the planner does not
 * have waits.
 *
 * status.nominatedNodeName as Kubernetes 1.35 and 1.36 read it: the node is tried before all others and
 * taken if it will do; what is nominated for a node has its room there against pods of the same or a
 * lower priority; an attempt that fails empties the field. */
#include "sim/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>

#include "kube/store.h"
#include "planner/world.h"

static const enum kind watched[] = {KIND_POD, KIND_NODE, KIND_NONE};
enum { SCORE_MAX = 100, EXTENDER_SCORE_MAX = 10, EXTENDER_WEIGHT = 2, REASONS_MAX = 24 };

struct scheduler {
    struct sim_cluster *cluster;
    struct api *client;
    struct store *store;
    struct share_cache cache;
    struct pacer pacer;
    struct sim_extender extender;
};

/* ---- the world it schedules on ---- */

struct view { /* derived from a snapshot, dies with it */
    struct arena arena;
    struct world *world;
    const struct pod **waiting; /* not bound, by priority, age, name */
    uint32_t waiting_count;
};

static const void **gather(struct arena *a, const struct snapshot *s, enum kind k, size_t *count_out)
{
    struct snapshot_iter it = snapshot_each(s, k);
    const void **items = ARENA_ARRAY(a, const void *, s->state[k].count + 1), *object;
    size_t count = 0;
    while ((object = snapshot_next(&it)) != NULL)
        items[count++] = object;
    *count_out = count;
    return items;
}

static int by_turn(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->meta.created != y->meta.created)
        return x->meta.created < y->meta.created ? -1 : 1;
    int by_ns = span_cmp(x->meta.ns, y->meta.ns);
    return by_ns != 0 ? by_ns : span_cmp(x->meta.name, y->meta.name);
}

static void gather_waiting(struct view *v, const struct pod *const *pods, size_t count)
{
    v->waiting = ARENA_ARRAY(&v->arena, const struct pod *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct pod *p = pods[i];
        if (p->node == SYM_NONE && p->meta.deleted == 0 && !pod_is_terminal(p))
            v->waiting[v->waiting_count++] = p;
    }
    qsort(v->waiting, v->waiting_count, sizeof(const struct pod *), by_turn);
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab)
{
    static const struct world_options options = {.all_unbound = true, .unsplit = true};
    static const struct catalogue no_types = {0};
    struct view *v = mem_new(sizeof *v);
    struct world_input in = {.syms = symtab, .options = &options, .catalogue = &no_types};
    (void)user;
    (void)previous;
    arena_init(&v->arena, 0);
    in.pods = (const struct pod *const *)gather(&v->arena, s, KIND_POD, &in.pod_count);
    in.nodes = (const struct node *const *)gather(&v->arena, s, KIND_NODE, &in.node_count);
    v->world = world_build(&in);
    gather_waiting(v, in.pods, in.pod_count);
    return v;
}

static void view_destroy(void *user, void *derived)
{
    struct view *v = derived;
    (void)user;
    world_free(v->world);
    arena_release(&v->arena);
    free(v);
}

/* ---- one pass ---- */

struct reasons { /* why nodes were refused, counted */
    struct {
        struct span text;
        uint32_t count;
    } items[REASONS_MAX];
    uint32_t count;
};

struct nominated { /* a waiting pod that has room on a row */
    const struct pod *pod;
    uint32_t row;
    const amount *wanted;
};

struct pass {
    struct scheduler *scheduler;
    struct objects *objects;
    struct arena *arena;
    const struct view *view;
    const struct symtab *syms;
    uint32_t rows, columns;
    amount *held;          /* rows × columns: bound in this pass */
    struct span *verdicts; /* class → message, once no node suits: rows only fill up */
    uint32_t verdict_count;
    struct nominated *nominated;
    uint32_t nominated_count;
};

struct candidate {
    uint32_t row;
    int64_t score;
    bool out; /* refused by the extender */
};

struct candidates {
    struct candidate *items;
    uint32_t count;
};

static void count_reason(struct reasons *r, struct span text)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (span_eq(r->items[i].text, text)) {
            r->items[i].count++;
            return;
        }
    }
    if (r->count < REASONS_MAX) {
        r->items[r->count].text = text;
        r->items[r->count++].count = 1;
    }
}

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

/* "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint(s)." */
static struct span message_of(struct arena *a, const struct reasons *r, uint32_t nodes)
{
    struct span parts[REASONS_MAX];
    struct buf text = {.max = 1024};
    if (nodes == 0)
        return SPAN("no nodes available to schedule pods");
    for (uint32_t i = 0; i < r->count; i++)
        parts[i] = arena_printf(a, "%u %.*s", r->items[i].count, SPAN_ARG(r->items[i].text));
    qsort(parts, r->count, sizeof parts[0], by_text);
    buf_addf(&text, "0/%u nodes are available: ", nodes);
    for (uint32_t i = 0; i < r->count; i++)
        buf_addf(&text, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(parts[i]));
    buf_add_char(&text, '.');
    struct span out = arena_dup(a, buf_span(&text));
    buf_release(&text);
    return out;
}

static amount *held_on(const struct pass *p, uint32_t row)
{
    return p->held + (size_t)row * p->columns;
}

/* What others hold on the row against a pod: what was bound in this pass, and the room of those that are
 * nominated there. */
static const amount *held_against(const struct pass *p, const struct pod *pod, uint32_t row)
{
    amount *sum = NULL;
    for (uint32_t i = 0; i < p->nominated_count; i++) {
        const struct nominated *n = &p->nominated[i];
        if (n->row != row || n->pod == pod || n->pod->priority < pod->priority)
            continue;
        if (sum == NULL) {
            sum = ARENA_ARRAY(p->arena, amount, p->columns);
            memcpy(sum, held_on(p, row), p->columns * sizeof(*sum));
        }
        for (uint32_t c = 0; c < p->columns; c++)
            sum[c] = amount_add(sum[c], n->wanted[c]);
    }
    return sum != NULL ? sum : held_on(p, row);
}

static amount room(const struct pass *p, uint32_t row, uint32_t column)
{
    const struct world *w = p->view->world;
    return world_allocatable(w, row)[column] - world_requested(w, row)[column] -
           held_on(p, row)[column];
}

static bool short_of(const struct pass *p, const amount *wanted, uint32_t row, uint32_t column)
{
    return wanted[column] > 0 && wanted[column] > room(p, row, column);
}

static bool has_room(const struct pass *p, const amount *wanted, uint32_t row)
{
    for (uint32_t c = 0; c < p->columns; c++) {
        if (short_of(p, wanted, row, c))
            return false;
    }
    return true;
}

static void count_shortages(const struct pass *p, const amount *wanted, uint32_t row,
                            struct reasons *r)
{
    for (uint32_t c = 0; c < p->columns; c++) {
        struct span name = sym_text(p->syms, world_resource_name(p->view->world, c));
        if (!short_of(p, wanted, row, c))
            continue;
        if (span_eq(name, SPAN("pods")))
            count_reason(r, SPAN("Too many pods"));
        else
            count_reason(r, arena_printf(p->arena, "Insufficient %.*s", SPAN_ARG(name)));
    }
}

static void count_refusal(const struct pass *p, enum fit fit, const amount *wanted, uint32_t row,
                          struct reasons *r)
{
    static const struct span texts[FIT_COUNT] = {
        [FIT_TAINT] = SPAN_INIT("node(s) had untolerated taint(s)"),
        [FIT_SELECTOR] = SPAN_INIT("node(s) didn't match Pod's node affinity/selector"),
        [FIT_PORTS] = SPAN_INIT("node(s) didn't have free ports for the requested pod ports"),
        [FIT_LEAVING] = SPAN_INIT("node(s) were unschedulable"),
        [FIT_UNKNOWN] = SPAN_INIT("node(s) need a rule that the stand-in scheduler does not have"),
    };
    if (fit == FIT_RESOURCES)
        count_shortages(p, wanted, row, r);
    else
        count_reason(r, texts[fit]);
}

/* MostAllocated over CPU and memory (columns 0 and 1), with the pod on the node. */
static int64_t fullness(const struct pass *p, const amount *wanted, uint32_t row)
{
    int64_t score = 0;
    for (uint32_t c = 0; c < 2; c++) {
        amount all = world_allocatable(p->view->world, row)[c];
        amount used = all - room(p, row, c) + wanted[c];
        if (all > 0)
            score += (int64_t)((double)used / (double)all * SCORE_MAX);
    }
    return score / 2;
}

static bool row_is_node(const struct pass *p, uint32_t row)
{
    return world_node_at(p->view->world, row)->node != NULL;
}

/* The row alone, if it would take the pod. */
static struct candidates only(const struct pass *p, int32_t class_id, const struct pod *pod,
                              int32_t row)
{
    struct candidates found = {.items = ARENA_ARRAY(p->arena, struct candidate, 1)};
    if (row >= 0 && row_is_node(p, (uint32_t)row) &&
        world_fits(p->view->world, class_id, (uint32_t)row,
                   held_against(p, pod, (uint32_t)row)) == FIT_YES)
        found.items[found.count++] = (struct candidate){.row = (uint32_t)row};
    return found;
}

static struct candidates feasible(const struct pass *p, int32_t class_id, const struct pod *pod,
                                  struct reasons *r)
{
    struct candidates found = {.items = ARENA_ARRAY(p->arena, struct candidate, p->rows + 1)};
    const amount *wanted = world_class_requests(p->view->world, class_id);
    for (uint32_t row = 0; row < p->rows; row++) {
        if (!row_is_node(p, row))
            continue;
        enum fit fit =
            world_fits(p->view->world, class_id, row, held_against(p, pod, row));
        if (fit == FIT_YES)
            found.items[found.count++] =
                (struct candidate){.row = row, .score = fullness(p, wanted, row)};
        else
            count_refusal(p, fit, wanted, row, r);
    }
    return found;
}

/* A DaemonSet's pod names its node (matchFields) and is in no class: nothing but room is left to
 * ask. */
static struct candidates pinned(const struct pass *p, const amount *wanted, struct span node,
                                struct reasons *r)
{
    struct candidates found = {.items = ARENA_ARRAY(p->arena, struct candidate, 1)};
    int32_t row = world_find_node(p->view->world, node);
    if (row < 0)
        count_reason(r, SPAN("node(s) didn't match Pod's node affinity/selector"));
    else if (has_room(p, wanted, (uint32_t)row))
        found.items[found.count++] = (struct candidate){.row = (uint32_t)row};
    else
        count_shortages(p, wanted, (uint32_t)row, r);
    return found;
}

static const amount *requests_of(const struct pass *p, const struct pod *pod)
{
    amount *wanted = ARENA_ARRAY(p->arena, amount, p->columns);
    struct resources all = pod_requests(p->arena, pod);
    for (uint32_t c = 0; c < p->columns; c++)
        wanted[c] = resources_get(all, world_resource_name(p->view->world, c));
    return wanted;
}

/* ---- the extender ---- */

static struct span node_name(const struct pass *p, uint32_t row)
{
    return world_node_at(p->view->world, row)->node->meta.name;
}

static struct span extender_args(const struct pass *p, const json_t *pod, const struct candidates *c)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < c->count; i++) {
        if (!c->items[i].out)
            json_array_append_new(names, tree_of_span(node_name(p, c->items[i].row)));
    }
    json_t *args = json_pack("{s:O, s:n, s:o}", "Pod", pod, "Nodes", "NodeNames", names);
    struct span text = tree_text(p->arena, args);
    json_decref(args);
    return text;
}

static json_t *ask(bool (*call)(void *user, struct span args, struct buf *reply), void *user,
                   struct span args)
{
    struct buf reply = {0};
    json_t *answer = call(user, args, &reply) ? tree_parse(buf_span(&reply)) : NULL;
    buf_release(&reply);
    return answer;
}

static void extend_filter(const struct pass *p, const json_t *pod, struct candidates *c,
                          struct reasons *r)
{
    const struct sim_extender *e = &p->scheduler->extender;
    if (e->filter == NULL || c->count == 0)
        return;
    json_t *answer = ask(e->filter, e->user, extender_args(p, pod, c));
    if (json_is_object(answer) && tree_string(answer, "Error").len == 0) {
        json_t *kept = json_object(), *name;
        size_t i;
        json_array_foreach(tree_get(answer, "NodeNames"), i, name) {
            json_object_set_new(kept, json_string_value(name), json_true());
        }
        for (i = 0; i < c->count; i++) {
            struct span node = node_name(p, c->items[i].row);
            c->items[i].out = json_object_getn(kept, node.ptr, node.len) == NULL;
            if (!c->items[i].out)
                continue;
            json_t *why = json_object_getn(tree_get(answer, "FailedAndUnresolvableNodes"), node.ptr,
                                           node.len);
            if (why == NULL)
                why = json_object_getn(tree_get(answer, "FailedNodes"), node.ptr, node.len);
            if (json_is_string(why))
                count_reason(r, arena_dup(p->arena, span_of(json_string_value(why))));
        }
        json_decref(kept);
    }
    json_decref(answer);
}

static void extend_scores(const struct pass *p, const json_t *pod, struct candidates *c)
{
    const struct sim_extender *e = &p->scheduler->extender;
    int64_t weight = (e->weight != 0 ? e->weight : EXTENDER_WEIGHT) * (SCORE_MAX / EXTENDER_SCORE_MAX);
    if (e->prioritize == NULL)
        return;
    json_t *answer = ask(e->prioritize, e->user, extender_args(p, pod, c)), *one;
    size_t i;
    json_array_foreach(answer, i, one) {
        for (uint32_t at = 0; at < c->count; at++) {
            if (span_eq(node_name(p, c->items[at].row), tree_string(one, "Host")))
                c->items[at].score += tree_int(one, "Score", 0) * weight;
        }
    }
    json_decref(answer);
}

/* ---- outcome ---- */

static const struct candidate *best(const struct pass *p, const struct candidates *c)
{
    const struct candidate *chosen = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct candidate *one = &c->items[i];
        if (one->out)
            continue;
        if (chosen == NULL || one->score > chosen->score ||
            (one->score == chosen->score &&
             span_cmp(node_name(p, one->row), node_name(p, chosen->row)) < 0))
            chosen = one;
    }
    return chosen;
}

static void bind(struct pass *p, const json_t *pod, const amount *wanted, uint32_t row)
{
    json_t *fresh = json_deep_copy(pod);
    tree_set(fresh, "spec.nodeName", tree_of_span(node_name(p, row)));
    tree_remove(fresh, "status.nominatedNodeName");
    tree_condition_set(fresh, "PodScheduled", "True", "", "", p->objects->now);
    objects_put(p->objects, KIND_POD, fresh);
    for (uint32_t c = 0; c < p->columns; c++)
        held_on(p, row)[c] = amount_add(held_on(p, row)[c], wanted[c]);
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

/* Asks the extender, then binds the pod to the best of the candidates or says why there is none. */
static bool settle(struct pass *p, const json_t *pod, struct candidates *c, const amount *wanted,
                   struct reasons *reasons, struct span *why_out)
{
    extend_filter(p, pod, c, reasons);
    if (best(p, c) != NULL) {
        extend_scores(p, pod, c);
        bind(p, pod, wanted, best(p, c)->row);
        return true;
    }
    *why_out = message_of(p->arena, reasons, p->rows);
    report(p->objects, pod, "Unschedulable", *why_out);
    return false;
}

static void schedule_pinned(struct pass *p, const struct pod *waiting, const json_t *pod,
                            struct span node)
{
    struct reasons reasons = {.count = 0};
    const amount *wanted = requests_of(p, waiting);
    struct candidates c = pinned(p, wanted, node, &reasons);
    struct span why;
    settle(p, pod, &c, wanted, &reasons, &why);
}

/* Bound or refused: either way its nomination is over. */
static void forget_nomination(struct pass *p, const struct pod *pod)
{
    for (uint32_t i = 0; i < p->nominated_count; i++)
        if (p->nominated[i].pod == pod)
            p->nominated[i--] = p->nominated[--p->nominated_count];
}

static bool took_nominated(struct pass *p, const struct pod *waiting, int32_t class_id,
                           const json_t *pod)
{
    struct reasons reasons = {.count = 0};
    struct span node = sym_text(p->syms, waiting->nominated_node);
    if (waiting->nominated_node == SYM_NONE)
        return false;
    struct candidates c = only(p, class_id, waiting, world_find_node(p->view->world, node));
    extend_filter(p, pod, &c, &reasons);
    if (best(p, &c) == NULL)
        return false;
    bind(p, pod, world_class_requests(p->view->world, class_id), c.items[0].row);
    return true;
}

static void schedule(struct pass *p, const struct pod *waiting, const json_t *pod)
{
    struct reasons reasons = {.count = 0};
    int32_t class_id = world_class_of(p->view->world, waiting);
    if (class_id < 0)
        return; /* newer than the world; the next pass has it */
    if (took_nominated(p, waiting, class_id, pod))
        return;
    struct span *verdict = verdict_of(p, class_id), why;
    if (verdict->len != 0 && p->nominated_count == 0) {
        report(p->objects, pod, "Unschedulable", *verdict);
        return;
    }
    struct candidates c = feasible(p, class_id, waiting, &reasons);
    bool none = c.count == 0 && p->nominated_count == 0;
    const amount *wanted = world_class_requests(p->view->world, class_id);
    if (!settle(p, pod, &c, wanted, &reasons, &why)) {
        if (none)
            *verdict = why;
        return;
    }
    /* Ports that are taken in this pass are not in the world: others of the class wait for the next. */
    if (waiting->ports.count != 0)
        *verdict = SPAN("waiting for the host ports of another pod to be seen");
}

static void schedule_if_waiting(struct pass *p, const struct pod *waiting)
{
    const json_t *pod = objects_find(p->objects, KIND_POD, waiting->meta.ns, waiting->meta.name);
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
        schedule_pinned(p, waiting, pod, node);
    else
        schedule(p, waiting, pod);
}

static void gather_nominated(struct pass *p)
{
    p->nominated = ARENA_ARRAY(p->arena, struct nominated, p->view->waiting_count + 1);
    for (uint32_t i = 0; i < p->view->waiting_count; i++) {
        const struct pod *pod = p->view->waiting[i];
        int32_t row = pod->nominated_node != SYM_NONE
                          ? world_find_node(p->view->world, sym_text(p->syms, pod->nominated_node))
                          : -1;
        if (row >= 0)
            p->nominated[p->nominated_count++] =
                (struct nominated){pod, (uint32_t)row, requests_of(p, pod)};
    }
}

static void run_pass(struct scheduler *s)
{
    struct arena arena;
    const struct snapshot *snapshot;
    store_publish(s->store, s->cluster->objects.now);
    snapshot = (const struct snapshot *)share_read(store_share(s->store), &s->cache);
    const struct view *v = snapshot->derived;
    arena_init(&arena, 0);
    struct pass p = {.scheduler = s, .objects = &s->cluster->objects, .arena = &arena, .view = v,
                     .syms = snapshot->syms, .rows = world_node_count(v->world),
                     .columns = world_resource_count(v->world)};
    p.held = ARENA_ARRAY(&arena, amount, (size_t)p.rows * p.columns + 1);
    gather_nominated(&p);
    for (uint32_t i = 0; i < v->waiting_count; i++) {
        schedule_if_waiting(&p, v->waiting[i]);
        forget_nomination(&p, v->waiting[i]);
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

static void on_list_end(void *user, enum kind k)
{
    store_list_end(((struct scheduler *)user)->store, k);
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
    static const enum kind kinds[] = {KIND_POD, KIND_NODE};
    struct scheduler *s = mem_new(sizeof *s);
    struct store_deriver deriver = {.derive = derive, .destroy = view_destroy};
    s->cluster = c;
    s->pacer = (struct pacer){.kinds = watched, .delay = delay};
    s->client = sim_client_new(c);
    ((struct client *)s->client)->sees_at_once = true;
    s->store = store_new(&deriver);
    struct api_sink sink = {s, on_list_begin, on_list_end, on_event, on_state};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        s->client->ops->watch(s->client, kinds[i], &sink);
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
