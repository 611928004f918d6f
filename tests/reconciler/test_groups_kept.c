/* Passes over node groups that go on from the world of the last one decide as passes that build theirs: random clusters whose
 * pods, Nodes, DaemonSets, budgets and templates come, change and go, looked at by two reconcilers, one of which has to forget
 * its world each time. What they write, what they ask of their groups, and what they say of groups and pods is the same.
 *
 * Taints, evictions, and what the provider is asked for come true in the cluster, once both have written it. */
#include "reconciler/groups/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decode.h"
#include "reconciler/state.h"

enum { POOLS = 3, NODES = 14, PODS = 60, SHAPES = 9, SETS = 4, STEPS = 40 };
static const wall_ms WALL = INT64_C(1767268800000); /* 2026-01-01T12:00:00Z */

struct test_pod {
    bool is, fresh, deleted, done, gated, refused; /* fresh: of a shape of its own; refused: unschedulable */
    unsigned shape, serial;
    int node, nominated; /* -1: none */
};

struct test_node {
    bool is, ready, cordoned, labelled, marked, soft; /* tainted to go, or as one that may */
    unsigned pool;
    wall_ms ready_since;
    unsigned agent; /* version of the DaemonSet's pod on it; 0: none */
};

struct side { /* one reconciler, and what it did */
    struct api api; /* first */
    struct group_provider groups;
    struct share places;
    struct reconciler *reconciler;
    struct buf log;
    bool forgets;
    unsigned worlds[DERIVE_BUILD + 1];
};

static struct {
    uint64_t seed;
    unsigned serial, version;
    struct test_pod pods[PODS];
    struct test_node nodes[NODES];
    bool budget;
    int rolled[POOLS];   /* CPUs of the provider's template; 0: it has none */
    int asked_for[POOLS];
    unsigned agent;      /* version of the DaemonSet */
    wall_ms now;
    struct derive *derive;
    struct store *store;
    struct doc_parser *parser;
    struct side sides[2];
} it;

static unsigned draw(unsigned below)
{
    it.seed = it.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(it.seed >> 33) % below;
}

/* --- objects --- */

static void event(enum kind k, enum watch_event what, const struct buf *yaml)
{
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    if (!doc_parse_yaml(it.parser, buf_span(yaml), &at, &doc, &err))
        fail_msg("%s: %s", yaml->ptr, err.msg);
    store_event(it.store, k, what, doc_root(doc));
}

static void meta(struct buf *b, const char *api, const char *kind, const char *ns, const char *name)
{
    buf_addf(b, "apiVersion: %s\nkind: %s\nmetadata: {name: %s, uid: %s-uid, resourceVersion: \"%u\", creationTimestamp: "
                "\"2026-01-01T10:00:00Z\"",
             api, kind, name, name, ++it.version);
    if (ns != NULL)
        buf_addf(b, ", namespace: %s", ns);
}

static void tell_pod(unsigned i)
{
    static const char *const rules[SHAPES] = {
        [3] = "nodeSelector: {pool: p1}, ",
        [4] = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
              "{matchLabels: {app: a4}}}], ",
        [5] = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
              "kubernetes.io/hostname, labelSelector: {matchLabels: {app: a5}}}]}}, ",
        [6] = "tolerations: [{operator: Exists}], priority: 10, ",
        [7] = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: "
              "{matchLabels: {app: a4}}}]}}, ",
        [8] = "priority: -20, ",
    };
    const struct test_pod *p = &it.pods[i];
    char name[32];
    struct buf b = {0};
    snprintf(name, sizeof(name), "w-%u-%u", p->shape, p->serial);
    meta(&b, "v1", "Pod", "shop", name);
    buf_addf(&b, ", labels: {app: a%u}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: set-%u, uid: "
                 "set-%u-uid, controller: true}]%s}\n",
             p->shape, p->shape % SETS, p->shape % SETS, p->deleted ? ", deletionTimestamp: \"2026-01-01T12:00:00Z\"" : "");
    buf_addf(&b, "spec: {%s%s", rules[p->shape] != NULL ? rules[p->shape] : "", p->gated ? "schedulingGates: [{name: g}], " : "");
    if (p->node >= 0)
        buf_addf(&b, "nodeName: n%d, ", p->node);
    buf_addf(&b, "containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi}}%s}]}\n",
             150 + 120 * p->shape + (p->fresh ? p->serial % 50 : 0), 100 + 300 * p->shape,
             p->shape == 2 ? ", ports: [{containerPort: 80, hostPort: 80}]" : "");
    buf_addf(&b, "status: {phase: %s", p->done ? "Succeeded" : p->node >= 0 ? "Running" : "Pending");
    if (p->nominated >= 0)
        buf_addf(&b, ", nominatedNodeName: n%d", p->nominated);
    if (p->refused)
        buf_addf(&b, ", conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]");
    buf_addf(&b, "}\n");
    event(KIND_POD, p->is ? WATCH_PUT : WATCH_DELETE, &b);
    buf_release(&b);
}

static void tell_time(struct buf *b, wall_ms at)
{
    int64_t s = (at - WALL) / 1000 + 12 * 3600;
    buf_addf(b, "\"2026-01-01T%02d:%02d:%02dZ\"", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

static void tell_node(unsigned i)
{
    const struct test_node *n = &it.nodes[i];
    unsigned cpus = 4 + 2 * n->pool;
    char name[16];
    struct buf b = {0};
    snprintf(name, sizeof(name), "n%u", i);
    meta(&b, "v1", "Node", NULL, name);
    buf_addf(&b, ", labels: {pool: p%u, zone: z%u, kubernetes.io/hostname: n%u%s}}\nspec: {providerID: \"x://n%u\"%s", n->pool,
             i % 2, i, n->labelled ? ", rack: r" : "", i, n->cordoned ? ", unschedulable: true" : "");
    if (n->marked || n->soft)
        buf_addf(&b, ", taints: [{key: %s}]", n->marked ? "ToBeDeletedByClusterAutoscaler, value: \"1\", effect: NoSchedule"
                                                       : "DeletionCandidateOfClusterAutoscaler, value: \"1\", effect: PreferNoSchedule");
    buf_addf(&b, "}\nstatus: {capacity: {cpu: %u, memory: 16Gi, pods: 20}, allocatable: {cpu: %u, memory: 15Gi, pods: 20}, conditions: "
                 "[{type: Ready, status: \"%s\", lastTransitionTime: ",
             cpus, cpus, n->ready ? "True" : "False");
    tell_time(&b, n->ready_since);
    buf_addf(&b, "}]}\n");
    event(KIND_NODE, n->is ? WATCH_PUT : WATCH_DELETE, &b);
    buf_release(&b);
}

static void tell_agent(unsigned node, bool is)
{
    char name[16];
    struct buf b = {0};
    snprintf(name, sizeof(name), "agent-%u", node);
    meta(&b, "v1", "Pod", "kube-system", name);
    buf_addf(&b, ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d, controller: true}]}\nspec: {"
                 "nodeName: n%u, tolerations: [{operator: Exists}], containers: [{name: c, resources: {requests: {cpu: %um}}}]}\n"
                 "status: {phase: Running}\n",
             node, 100 + 10 * it.nodes[node].agent);
    event(KIND_POD, is ? WATCH_PUT : WATCH_DELETE, &b);
    buf_release(&b);
}

static void tell_daemon_set(void)
{
    struct buf b = {0};
    meta(&b, "apps/v1", "DaemonSet", "kube-system", "agent");
    buf_addf(&b, "}\nspec: {selector: {matchLabels: {app: x}}, template: {spec: {tolerations: [{operator: Exists}], containers: "
                 "[{name: c, resources: {requests: {cpu: %um}}}]}}}\n",
             100 + 10 * it.agent);
    event(KIND_DAEMON_SET, WATCH_PUT, &b);
    buf_release(&b);
}

static void tell_sets(void)
{
    for (unsigned i = 0; i < SETS; i++) {
        char name[16];
        struct buf b = {0};
        snprintf(name, sizeof(name), "set-%u", i);
        meta(&b, "apps/v1", "ReplicaSet", "shop", name);
        buf_addf(&b, "}\nspec: {replicas: 9, selector: {matchLabels: {app: x}}}\n");
        event(KIND_REPLICA_SET, WATCH_PUT, &b);
        buf_release(&b);
    }
}

static void tell_budget(void)
{
    struct buf b = {0};
    meta(&b, "policy/v1", "PodDisruptionBudget", "shop", "b");
    buf_addf(&b, "}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a1}}}\nstatus: {disruptionsAllowed: %u}\n", draw(2));
    event(KIND_DISRUPTION_BUDGET, it.budget ? WATCH_PUT : WATCH_DELETE, &b);
    buf_release(&b);
}

/* --- what happens --- */

static int some_node(void)
{
    unsigned at = draw(NODES);
    for (unsigned i = 0; i < NODES; i++)
        if (it.nodes[(at + i) % NODES].is)
            return (int)((at + i) % NODES);
    return -1;
}

static void pod_comes(unsigned i)
{
    it.pods[i] = (struct test_pod){.is = true, .shape = draw(SHAPES), .serial = it.serial++, .fresh = draw(5) == 0,
                                   .gated = draw(6) == 0, .node = -1, .nominated = -1};
    it.pods[i].refused = !it.pods[i].gated && draw(4) != 0;
    tell_pod(i);
}

static void pod_changes(unsigned i)
{
    struct test_pod *p = &it.pods[i];
    switch (draw(8)) {
    case 0:
        p->deleted = true;
        break;
    case 1:
        p->done = true;
        break;
    case 2:
        p->is = false;
        break;
    case 3:
        p->nominated = p->node < 0 && p->nominated < 0 ? some_node() : -1;
        break;
    case 4:
        p->gated = false;
        p->refused = p->node < 0;
        break;
    default:
        if (p->node < 0) {
            p->node = p->nominated >= 0 && it.nodes[p->nominated].is ? p->nominated : some_node();
            p->nominated = -1;
            p->gated = p->refused = false;
        }
    }
    tell_pod(i);
}

static void node_comes(unsigned i, unsigned pool)
{
    it.nodes[i] = (struct test_node){.is = true, .ready = draw(4) != 0, .pool = pool,
                                     .ready_since = it.now - (wall_ms)draw(2) * 20 * MS_MINUTE};
    tell_node(i);
    if (draw(3) != 0) {
        it.nodes[i].agent = it.agent;
        tell_agent(i, true);
    }
}

static void node_goes(unsigned i)
{
    bool orphans = draw(3) == 0;
    it.nodes[i].is = false;
    tell_node(i);
    for (unsigned k = 0; k < PODS && !orphans; k++)
        if (it.pods[k].is && it.pods[k].node == (int)i) {
            it.pods[k].is = false;
            tell_pod(k);
        }
    if (it.nodes[i].agent != 0)
        tell_agent(i, false);
}

static void node_changes(unsigned i)
{
    struct test_node *n = &it.nodes[i];
    switch (draw(6)) {
    case 0:
        n->cordoned = !n->cordoned;
        break;
    case 1:
        n->ready = !n->ready || draw(2) != 0;
        n->ready_since = it.now;
        break;
    case 2:
        n->labelled = !n->labelled;
        break;
    case 3:
        if (n->agent != it.agent) {
            n->agent = it.agent;
            tell_agent(i, true);
        }
        return;
    case 4:
        if (n->agent != 0)
            tell_agent(i, false);
        n->agent = 0;
        return;
    default:
        return;
    }
    tell_node(i);
}

static void machines_come(void)
{
    for (unsigned pool = 0; pool < POOLS; pool++)
        for (unsigned i = 0; i < NODES && it.asked_for[pool] > 0 && draw(2) != 0; i++)
            if (!it.nodes[i].is) {
                it.asked_for[pool]--;
                node_comes(i, pool);
            }
}

static void draw_step(void)
{
    machines_come();
    for (unsigned n = draw(8); n > 0; n--) {
        unsigned i = draw(PODS);
        if (it.pods[i].is)
            pod_changes(i);
        else
            pod_comes(i);
    }
    unsigned i = draw(NODES);
    if (draw(3) == 0 && it.nodes[i].is)
        node_changes(i);
    else if (draw(6) == 0 && it.nodes[i].is)
        node_goes(i);
    else if (draw(4) == 0 && !it.nodes[i].is)
        node_comes(i, draw(POOLS));
    if (draw(12) == 0) {
        it.budget = !it.budget;
        tell_budget();
    }
    if (draw(25) == 0) {
        it.agent++;
        tell_daemon_set();
    }
    if (draw(8) == 0)
        it.rolled[draw(POOLS)] = (int)draw(3) * 4;
}

/* --- the API server and the groups' provider --- */

static void come_true(const struct api_request *r)
{
    char name[32];
    for (unsigned i = 0; i < PODS && r->verb == API_EVICT; i++) {
        snprintf(name, sizeof(name), "w-%u-%u", it.pods[i].shape, it.pods[i].serial);
        if (it.pods[i].is && span_eq(r->name, span_of(name))) {
            it.pods[i].is = false;
            tell_pod(i);
        }
    }
    for (unsigned i = 0; i < NODES && r->kind == KIND_NODE; i++) {
        struct test_node *n = &it.nodes[i];
        snprintf(name, sizeof(name), "n%u", i);
        if (!n->is || !span_eq(r->name, span_of(name)))
            continue;
        n->marked = span_contains(r->body, SPAN("ToBeDeleted"));
        n->soft = span_contains(r->body, SPAN("DeletionCandidate"));
        n->cordoned = span_contains(r->body, SPAN("\"unschedulable\":true"));
        tell_node(i);
    }
}

static uint64_t take_write(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct side *s = (struct side *)api;
    struct api_result result = {.status = 200, .retry_after_s = -1};
    buf_addf(&s->log, "%s%d %s %.*s/%.*s %.*s %.*s\n", r->verb == API_EVICT ? "evict " : "", (int)r->verb, kind_info(r->kind)->name, SPAN_ARG(r->ns), SPAN_ARG(r->name),
             SPAN_ARG(r->subresource), SPAN_ARG(r->body));
    if (s == &it.sides[1])
        come_true(r);
    done(user, &result);
    return 1;
}

static void cancel(struct api *api, uint64_t id)
{
    (void)api;
    (void)id;
}

static void cancel_acts(struct api *api)
{
    (void)api;
}

static void watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    (void)api;
    (void)k;
    (void)sink;
}

static void relist(struct api *api, enum kind k)
{
    (void)api;
    (void)k;
}

static const struct api_ops api_ops = {
    .send = take_write, .cancel = cancel, .cancel_acts = cancel_acts, .watch = watch, .relist = relist};

static struct side *side_of(struct group_provider *p)
{
    return &it.sides[p == &it.sides[1].groups];
}

static bool look(struct group_provider *p, const struct snapshot *snapshot, struct arena *a, struct symtab *syms, struct node_groups *out,
                 struct err *err)
{
    struct buf b = {0};
    const struct doc *doc;
    size_t at = 0;
    (void)p;
    (void)snapshot;
    struct doc_parser *parser = doc_parser_new();
    buf_addf(&b, "apiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n");
    for (unsigned i = 0; i < POOLS; i++) {
        buf_addf(&b, "- {name: g%u, minSize: 0, maxSize: 9, nodeSelector: {pool: p%u}", i, i);
        if (it.rolled[i] != 0)
            buf_addf(&b, ", template: {metadata: {labels: {pool: p%u, zone: z1}}, status: {capacity: {cpu: %d, memory: 16Gi, pods: "
                         "20}}}",
                     i, it.rolled[i]);
        buf_addf(&b, "}\n");
    }
    *out = (struct node_groups){.gpu_label = SYM_NONE};
    if (!doc_parse_yaml(parser, buf_span(&b), &at, &doc, err) || !decode_one(a, syms, doc_root(doc), &node_groups_schema, out, err))
        fail_msg("%s: %s", b.ptr, err->msg);
    doc_parser_free(parser);
    buf_release(&b);
    return true;
}

static uint32_t asides(struct group_provider *p, const struct span **out)
{
    (void)p;
    *out = NULL;
    return 0;
}

static uint64_t resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done, void *user)
{
    struct err none = {.kind = ERR_NONE};
    struct side *s = side_of(p);
    buf_addf(&s->log, "resize %.*s %d -> %d\n", SPAN_ARG(group), from, to);
    if (s == &it.sides[0])
        it.asked_for[group.ptr[1] - '0'] = to - from;
    done(user, &none);
    return 1;
}

static uint64_t end_machines(struct group_provider *p, struct span group, const struct span *ids, uint32_t count, bool force,
                             group_done *done, void *user)
{
    struct err none = {.kind = ERR_NONE};
    struct side *s = side_of(p);
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(&s->log, "remove %.*s %.*s %d\n", SPAN_ARG(group), SPAN_ARG(ids[i]), force);
        int node = atoi(ids[i].ptr + strlen("x://n"));
        if (s == &it.sides[1] && it.nodes[node].is) /* both have decided */
            node_goes((unsigned)node);
    }
    done(user, &none);
    return 1;
}

static void cancel_operation(struct group_provider *p, uint64_t operation)
{
    (void)p;
    (void)operation;
}

static void free_groups(struct group_provider *p)
{
    (void)p;
}

static const enum kind no_kinds[] = {KIND_NONE};
static const struct group_provider_ops group_ops = {
    .name = "test", .limits = {.patience = {MS_MINUTE, MS_MINUTE}, .calls = 10}, .kinds = no_kinds, .look = look,
    .asides = asides, .resize = resize, .remove = end_machines, .cancel = cancel_operation, .free = free_groups};

static void answered(void *user, const struct groups_told *told)
{
    struct side *s = user;
    for (uint32_t i = 0; i < told->group_count; i++)
        buf_addf(&s->log, "%.*s\n", SPAN_ARG(told->groups[i].json));
    for (uint32_t i = 0; i < told->refusal_count; i++)
        buf_addf(&s->log, "%.*s: %.*s\n", SPAN_ARG(told->refusals[i].uid), SPAN_ARG(told->refusals[i].text));
}

static void measured(void *user, const struct measure *m)
{
    struct side *s = user;
    if (m->id == MEASURE_GROUPS_WORLDS)
        for (enum derive_way way = DERIVE_SAME; way <= DERIVE_BUILD; way++)
            s->worlds[way] += span_eq(m->labels[0], span_of(derive_way_name(way)));
}

static void wake(void *user)
{
    (void)user;
}

/* --- the two --- */

static void start_side(struct side *s, bool forgets)
{
    struct group_settings settings = group_settings_default();
    *s = (struct side){.api.ops = &api_ops, .groups.ops = &group_ops, .forgets = forgets};
    settings.provider = &s->groups;
    settings.answered = answered;
    settings.user = s;
    settings.write_status = false;
    settings.flags.delay_after_add = settings.flags.delay_after_delete = settings.flags.delay_after_failure = 0;
    settings.flags.ok_unready_count = NODES; /* else nothing is done in most of them */
    settings.flags.scaling.unneeded_time = settings.flags.scaling.unready_time = settings.flags.unremovable_recheck =
        20 * MS_SECOND;
    share_init(&s->places, places_destroy);
    s->reconciler = reconciler_new(&(struct reconciler_config){.api = &s->api,
                                                               .snapshots = store_share(it.store),
                                                               .places = &s->places,
                                                               .options = {.batch_idle = 1, .batch_max = 1},
                                                               .listener = {.user = s, .wake = wake, .measured = measured},
                                                               .groups = settings});
    reconciler_lead(s->reconciler, true);
}

static void end_side(struct side *s)
{
    reconciler_free(s->reconciler);
    share_release(&s->places);
    buf_release(&s->log);
}

static void begin(uint64_t seed)
{
    static const struct world_options options = {.reserved_capacity = true};
    memset(&it, 0, sizeof(it));
    it.seed = seed;
    it.now = WALL;
    it.agent = 1;
    it.parser = doc_parser_new();
    it.derive = derive_new(&(struct providers){{NULL}, 0}, &(struct listings_worker){0}, &options);
    struct store_deriver deriver = derive_deriver(it.derive);
    it.store = store_new(&deriver);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        store_list_begin(it.store, k);
        store_list_end(it.store, k);
    }
    tell_daemon_set();
    tell_sets();
    for (unsigned i = 0; i < NODES / 2; i++)
        node_comes(i, draw(POOLS));
    for (unsigned i = 0; i < PODS / 2; i++) {
        pod_comes(i);
        pod_changes(i);
    }
    start_side(&it.sides[0], false);
    start_side(&it.sides[1], true);
}

static void end(void)
{
    end_side(&it.sides[0]);
    end_side(&it.sides[1]);
    store_free(it.store);
    derive_free(it.derive);
    doc_parser_free(it.parser);
}

static void pass(struct side *s, mono_ms at)
{
    s->log.len = 0;
    if (s->forgets)
        group_kept_drop(&s->reconciler->keeper.kept);
    reconciler_step(s->reconciler, at, it.now);
}

struct seen { /* over all passes */
    unsigned worlds[DERIVE_BUILD + 1], resized, removed, evicted;
};

static void look_twice(uint64_t seed, struct seen *seen)
{
    mono_ms at = 1000 + (it.now - WALL);
    store_publish(it.store, at);
    pass(&it.sides[0], at);
    pass(&it.sides[1], at);
    struct span a = buf_span(&it.sides[0].log), b = buf_span(&it.sides[1].log);
    if (!span_eq(a, b)) {
        fprintf(stderr, "from the last one's world:\n%.*s\nfrom one that was built:\n%.*s\n", SPAN_ARG(a), SPAN_ARG(b)); /* cmocka cuts it */
        fail_msg("seed %llu, %lld s: decided otherwise", (unsigned long long)seed, (long long)(it.now - WALL) / 1000);
    }
    seen->resized += span_contains(a, SPAN("resize "));
    seen->removed += span_contains(a, SPAN("remove "));
    seen->evicted += span_contains(a, SPAN("evict "));
}

static void live(uint64_t seed, struct seen *seen)
{
    static const span_ms looks[] = {1000, 2000, 7000}; /* until the next one: so long a node that is marked is waited for */
    begin(seed);
    for (unsigned i = 0; i < STEPS; i++) {
        if (draw(6) != 0)
            draw_step();
        for (size_t k = 0; k < COUNT_OF(looks); it.now += looks[k++])
            look_twice(seed, seen);
    }
    for (enum derive_way way = DERIVE_SAME; way <= DERIVE_BUILD; way++)
        seen->worlds[way] += it.sides[0].worlds[way];
    assert_int_equal(it.sides[1].worlds[DERIVE_SAME] + it.sides[1].worlds[DERIVE_DELTA], 0);
    end();
}

static void decides_as_one_that_builds_its_world(void **state)
{
    enum { EVERY_DAY = 12 };
    (void)state;
    unsigned long long from = 1, to = EVERY_DAY;
    struct seen seen = {.resized = 0};
    const char *seeds = getenv("STOWAGE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%llu-%llu", &from, &to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", seeds);
    for (unsigned long long seed = from; seed <= to; seed++)
        live(seed, &seen);
    print_message("%u passes with the world of the last one, %u by delta, %u with one that was built; groups grew in %u, machines "
                  "went in %u, pods in %u\n",
                  seen.worlds[DERIVE_SAME], seen.worlds[DERIVE_DELTA], seen.worlds[DERIVE_BUILD], seen.resized, seen.removed, seen.evicted);
    assert_true(seen.worlds[DERIVE_SAME] != 0 && seen.worlds[DERIVE_DELTA] > seen.worlds[DERIVE_BUILD]);
    assert_true(seen.resized != 0 && seen.removed != 0 && seen.evicted != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decides_as_one_that_builds_its_world)};
    return cmocka_run_group_tests_name("groups_kept", tests, NULL, NULL);
}
