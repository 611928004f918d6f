/* Passes over node groups that go on from the world of the last one decide as passes that build theirs: random clusters whose
 * pods, Nodes, DaemonSets, budgets and templates come, change and go, looked at by two reconcilers, one of which has to forget
 * its world each time. What they write, what they ask of their groups, and what they say of groups and pods is the same; and so
 * are their worlds.
 *
 * Taints, evictions, and what the provider is asked for come true in the cluster, once both have written it. So does what
 * NodePools buy beside groups: pods have places on machines of theirs, and are spread, together and apart over both. */
#include "reconciler/groups/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decode.h"
#include "cloud/catalogue.h"
#include "reconciler/groups/pooled.h"
#include "reconciler/state.h"

enum { POOLS = 3, NODES = 14, PODS = 60, SHAPES = 9, SETS = 4, STEPS = 40, NODE_POOLS = 2, CLAIMS = 40, ALL_NODES = NODES + CLAIMS };
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

struct test_claim { /* a NodeClaim; its Node, once it has come, is the one behind those of groups */
    char name[64];
    struct buf body; /* as it was created; empty: there is none */
    bool told;       /* by a watch: that may take until the next step */
};

struct side { /* one reconciler, and what it did */
    struct api api; /* first */
    struct group_provider groups;
    struct share places;
    struct reconciler *reconciler;
    struct buf log;
    bool forgets;
    unsigned worlds[DERIVE_BUILD + 1];
    enum derive_way way; /* of the last one */
};

static struct {
    uint64_t seed;
    unsigned serial, version;
    struct test_pod pods[PODS];
    struct test_node nodes[ALL_NODES];
    struct test_claim claims[CLAIMS];
    bool beside, has_pools; /* NodePools come into this life; are there now */
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

static unsigned pool_of(const struct test_claim *c)
{
    return span_contains(buf_span(&c->body), SPAN("\"karpenter.sh/nodepool\":\"q1\""));
}

static void tell_node(unsigned i)
{
    const struct test_node *n = &it.nodes[i];
    const struct test_claim *c = i >= NODES ? &it.claims[i - NODES] : NULL;
    unsigned zone = c != NULL ? n->pool : i % 2;
    unsigned cpus = 4 + 2 * n->pool;
    char name[16];
    struct buf b = {0};
    snprintf(name, sizeof(name), "n%u", i);
    meta(&b, "v1", "Node", NULL, name);
    buf_addf(&b, ", labels: {zone: z%u, kubernetes.io/hostname: n%u%s", zone, i, n->labelled ? ", rack: r" : "");
    if (c != NULL)
        buf_addf(&b, ", karpenter.sh/nodepool: q%u, karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"", n->pool);
    else
        buf_addf(&b, ", pool: p%u", n->pool);
    buf_addf(&b, "}}\nspec: {providerID: \"x://n%u\"%s", i, n->cordoned ? ", unschedulable: true" : "");
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

static void tell_pools(void)
{
    for (unsigned i = 0; i < NODE_POOLS; i++) {
        char name[16];
        struct buf b = {0};
        snprintf(name, sizeof(name), "q%u", i);
        meta(&b, "karpenter.sh/v1", "NodePool", NULL, name);
        buf_addf(&b, ", generation: 1}\nspec: {limits: {cpu: %u}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}, "
                     "template: {metadata: {labels: {zone: z%u}}, spec: {expireAfter: Never, nodeClassRef: {group: test.sh, kind: Class, "
                     "name: c}}}}\nstatus: {conditions: [{type: Ready, status: \"True\", observedGeneration: 1, lastTransitionTime: "
                     "\"2026-01-01T10:00:00Z\"}]}\n",
                 8 + 16 * i, i);
        event(KIND_NODE_POOL, it.has_pools ? WATCH_PUT : WATCH_DELETE, &b);
        buf_release(&b);
    }
}

/* What was created, and what its provider and its Node have made of it. */
static void tell_claim(unsigned i, bool is)
{
    static const char head[] = "\"metadata\":{";
    struct test_claim *c = &it.claims[i];
    const char *at = strstr(c->body.ptr, head);
    struct buf b = {0};
    assert_non_null(at);
    at += sizeof(head) - 1;
    buf_add(&b, (struct span){c->body.ptr, (size_t)(at - c->body.ptr)});
    buf_addf(&b, "\"uid\":\"%s-uid\",\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-01-01T12:00:00Z\",", c->name, ++it.version);
    buf_add(&b, (struct span){at, c->body.len - (size_t)(at - c->body.ptr) - 1});
    buf_addf(&b, ",\"status\":{\"providerID\":\"x://n%u\",\"conditions\":[", NODES + i);
    for (unsigned k = 0; k < (it.nodes[NODES + i].is ? 3 : 1); k++)
        buf_addf(&b, "%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"x\",\"lastTransitionTime\":\"2026-01-01T12:00:00Z\"}", k != 0 ? "," : "",
                 k == 0 ? "Launched" : k == 1 ? "Registered" : "Initialized");
    buf_addf(&b, "]");
    if (it.nodes[NODES + i].is)
        buf_addf(&b, ",\"nodeName\":\"n%u\"", NODES + i);
    buf_addf(&b, "}}");
    c->told = is;
    event(KIND_NODE_CLAIM, is ? WATCH_PUT : WATCH_DELETE, &b);
    buf_release(&b);
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
    unsigned at = draw(ALL_NODES);
    for (unsigned i = 0; i < ALL_NODES; i++)
        if (it.nodes[(at + i) % ALL_NODES].is)
            return (int)((at + i) % ALL_NODES);
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

static void claim_comes(const struct api_request *r)
{
    unsigned i = 0;
    while (i < CLAIMS && it.claims[i].body.len != 0)
        i++;
    assert_true(i < CLAIMS); /* the pools' limits */
    buf_add(&it.claims[i].body, r->body);
    buf_add_char(&it.claims[i].body, '\0');
    it.claims[i].body.len--;
    assert_int_equal(sscanf(strstr(it.claims[i].body.ptr, "\"name\":"), "\"name\":\"%63[^\"]", it.claims[i].name), 1);
    if (draw(2) == 0)
        tell_claim(i, true);
}

static void claim_goes(unsigned i)
{
    tell_claim(i, false);
    buf_release(&it.claims[i].body);
    if (it.nodes[NODES + i].is)
        node_goes(NODES + i);
}

/* Machines that were bought have become Nodes, or go. */
static void claims_go_on(void)
{
    for (unsigned i = 0; i < CLAIMS; i++) {
        if (it.claims[i].body.len == 0)
            continue;
        if (!it.claims[i].told) {
            tell_claim(i, true);
        } else if (draw(12) == 0) {
            claim_goes(i);
        } else if (!it.nodes[NODES + i].is && draw(8) == 0) {
            node_comes(NODES + i, pool_of(&it.claims[i]));
            tell_claim(i, true);
        }
    }
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
    claims_go_on();
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
    if (it.beside && draw(25) == 0) {
        it.has_pools = !it.has_pools;
        tell_pools();
    }
    if (draw(8) == 0)
        it.rolled[draw(POOLS)] = (int)draw(3) * 4;
}

/* --- the API server and the groups' provider --- */

static void come_true(const struct api_request *r)
{
    char name[32];
    if (r->kind == KIND_NODE_CLAIM && r->verb == API_CREATE)
        claim_comes(r);
    for (unsigned i = 0; i < CLAIMS && r->kind == KIND_NODE_CLAIM && r->verb == API_DELETE; i++)
        if (it.claims[i].body.len != 0 && span_eq(r->name, span_of(it.claims[i].name)))
            claim_goes(i);
    for (unsigned i = 0; i < PODS && r->verb == API_EVICT; i++) {
        snprintf(name, sizeof(name), "w-%u-%u", it.pods[i].shape, it.pods[i].serial);
        if (it.pods[i].is && span_eq(r->name, span_of(name))) {
            it.pods[i].is = false;
            tell_pod(i);
        }
    }
    for (unsigned i = 0; i < ALL_NODES && r->kind == KIND_NODE; i++) {
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

/* --- the pools' provider: machines are there as soon as they are asked for, which tell_claim says --- */

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out, struct err *err)
{
    (void)p;
    (void)err;
    struct catalogue_source *s = catalogue_builtin();
    catalogue_build(s, a, syms, out);
    catalogue_source_free(s);
    return true;
}

static uint64_t generation(struct provider *p)
{
    (void)p;
    return 1;
}

static uint64_t say(machine_done *done, void *user, enum err_kind kind)
{
    done(user, &(struct machine_result){.err = {.kind = kind, .msg = "x"}});
    return 1;
}

static uint64_t ask_of(struct provider *p, const struct claim_order *order, machine_done *done, void *user)
{
    (void)p;
    (void)order;
    return say(done, user, ERR_RETRY);
}

static uint64_t remove_machine(struct provider *p, struct span id, struct span uid, machine_done *done, void *user)
{
    (void)p;
    (void)id;
    (void)uid;
    return say(done, user, ERR_NOT_FOUND);
}

static uint64_t get_machine(struct provider *p, struct span id, machine_done *done, void *user)
{
    (void)p;
    (void)id;
    return say(done, user, ERR_RETRY);
}

static uint64_t list_machines(struct provider *p, machine_done *done, void *user)
{
    (void)p;
    return say(done, user, ERR_RETRY);
}

static const struct repair_policies *repair(struct provider *p, struct span *violations_out)
{
    static const struct repair_policies none;
    (void)p;
    (void)violations_out;
    return &none;
}

static void cancel_machine(struct provider *p, uint64_t operation)
{
    (void)p;
    (void)operation;
}

static mono_ms step_machines(struct provider *p, mono_ms now)
{
    (void)p;
    return now + MS_HOUR;
}

static void free_machines(struct provider *p)
{
    (void)p;
}

static const struct provider_ops provider_ops = {
    .name = "test",
    .limits = {.patience = {MS_MINUTE, MS_MINUTE, MS_MINUTE, MS_MINUTE, MS_MINUTE, MS_MINUTE}, .calls = 10},
    .node_class = KIND_KWOK_NODE_CLASS, .node_class_group = "test.sh", .node_class_kind = "Class",
    .types = types, .generation = generation, .create = ask_of, .remove = remove_machine, .get = get_machine, .list = list_machines,
    .is_drifted = ask_of, .repair = repair, .cancel = cancel_machine, .step = step_machines, .free = free_machines};
static struct provider provider = {&provider_ops};
static const struct providers providers = {{&provider}, 1};

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
            if (span_eq(m->labels[0], span_of(derive_way_name(way)))) {
                s->worlds[way]++;
                s->way = way;
            }
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
                                                               .providers = providers,
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

static void begin(uint64_t seed, bool beside)
{
    static const struct world_options options = {.reserved_capacity = true};
    memset(&it, 0, sizeof(it));
    it.seed = seed;
    it.now = WALL;
    it.agent = 1;
    it.parser = doc_parser_new();
    it.beside = it.has_pools = beside;
    it.derive = derive_new(&providers, &(struct listings_worker){0}, &options);
    struct store_deriver deriver = derive_deriver(it.derive);
    it.store = store_new(&deriver);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        store_list_begin(it.store, k);
        store_list_end(it.store, k);
    }
    tell_daemon_set();
    tell_sets();
    if (beside)
        tell_pools();
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
    for (unsigned i = 0; i < CLAIMS; i++)
        buf_release(&it.claims[i].body);
}

static void pass(struct side *s, mono_ms at)
{
    s->log.len = 0;
    s->way = DERIVE_NONE;
    if (s->forgets)
        group_kept_drop(&s->reconciler->keeper.kept);
    reconciler_step(s->reconciler, at, it.now);
}

struct seen { /* over all passes */
    unsigned worlds[DERIVE_BUILD + 1], resized, removed, evicted, created;
    unsigned hidden, nominated, bought; /* worlds that were not built, of pods that are seen so */
};

static void note_pooled(const struct side *s, struct seen *seen)
{
    const struct pooled *x = s->reconciler->keeper.kept.pooled;
    bool hidden = false, nominated = false;
    if (x == NULL || (s->way != DERIVE_SAME && s->way != DERIVE_DELTA))
        return;
    for (uint32_t i = 0; i < x->count; i++)
        *(x->pods[i].as == NULL ? &hidden : &nominated) = true;
    seen->hidden += hidden;
    seen->nominated += nominated;
    seen->bought += x->bought.pod_count != 0;
}

/* --- the two worlds --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Who is on each node, and who is meant to be: the same text for the same world. */
static void put_world(struct arena *a, const struct world *w, struct buf *out)
{
    uint32_t nominated, columns = world_resource_count(w);
    const struct pod *const *list = world_nominated(w, &nominated);
    const char **lines = ARENA_ARRAY(a, const char *, nominated);
    for (uint32_t row = 0; row < world_node_count(w); row++) {
        const struct world_node *n = world_node_at(w, row);
        buf_addf(out, "%.*s:", SPAN_ARG(n->name));
        for (uint32_t c = 0; c < columns; c++)
            buf_addf(out, " %lld", (long long)world_requested(w, row)[c]);
        for (uint32_t i = 0; i < n->pod_count; i++)
            buf_addf(out, " %.*s", SPAN_ARG(n->pods[i]->meta.uid));
        buf_addf(out, "\n");
    }
    for (uint32_t i = 0; i < nominated; i++)
        lines[i] = arena_cstr(a, arena_printf(a, "%.*s -> %.*s", SPAN_ARG(list[i]->meta.uid),
                                              SPAN_ARG(sym_text(world_syms(w), list[i]->nominated_node))));
    if (nominated != 0)
        qsort(lines, nominated, sizeof(*lines), by_text);
    for (uint32_t i = 0; i < nominated; i++)
        buf_addf(out, "%s\n", lines[i]);
}

static void put_waiting(const struct world *w, struct buf *out)
{
    struct snapshot_iter it_pods = snapshot_each(it.sides[0].reconciler->keeper.kept.snapshot, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it_pods)) != NULL;)
        buf_addf(out, "%.*s %s%s\n", SPAN_ARG(p->meta.uid), world_waiting_class(w, p->meta.uid) >= 0 ? "waits" : "",
                 world_unplanned_class(w, p->meta.uid) >= 0 ? "is not planned for" : "");
}

static void compare_worlds(uint64_t seed)
{
    const struct world *w[2] = {it.sides[0].reconciler->keeper.kept.world, it.sides[1].reconciler->keeper.kept.world};
    struct buf text[2] = {{0}, {0}};
    struct arena a;
    if (it.sides[0].way == DERIVE_NONE)
        return;
    arena_init(&a, 0);
    for (int i = 0; i < 2; i++) {
        put_world(&a, w[i], &text[i]);
        put_waiting(w[i], &text[i]);
    }
    if (!span_eq(buf_span(&text[0]), buf_span(&text[1]))) {
        fprintf(stderr, "the last one's world:\n%.*s\none that was built:\n%.*s\n", SPAN_ARG(buf_span(&text[0])), SPAN_ARG(buf_span(&text[1])));
        fail_msg("seed %llu, %lld s: another world", (unsigned long long)seed, (long long)(it.now - WALL) / 1000);
    }
    for (int i = 0; i < 2; i++)
        buf_release(&text[i]);
    arena_release(&a);
}

static void look_twice(uint64_t seed, struct seen *seen)
{
    mono_ms at = 1000 + (it.now - WALL);
    derive_look(it.derive, at);
    store_publish(it.store, at);
    pass(&it.sides[0], at);
    pass(&it.sides[1], at);
    struct span a = buf_span(&it.sides[0].log), b = buf_span(&it.sides[1].log);
    if (!span_eq(a, b)) {
        fprintf(stderr, "from the last one's world:\n%.*s\nfrom one that was built:\n%.*s\n", SPAN_ARG(a), SPAN_ARG(b)); /* cmocka cuts it */
        fail_msg("seed %llu, %lld s: decided otherwise", (unsigned long long)seed, (long long)(it.now - WALL) / 1000);
    }
    compare_worlds(seed);
    note_pooled(&it.sides[0], seen);
    seen->created += span_contains(a, SPAN(" NodeClaim "));
    seen->resized += span_contains(a, SPAN("resize "));
    seen->removed += span_contains(a, SPAN("remove "));
    seen->evicted += span_contains(a, SPAN("evict "));
}

static void live(uint64_t seed, bool beside, struct seen *seen)
{
    static const span_ms looks[] = {1000, 2000, 7000}; /* until the next one: so long a node that is marked is waited for */
    begin(seed, beside);
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

static struct seen live_all(bool beside)
{
    enum { EVERY_DAY = 12, EVERY_DAY_BESIDE = 4 }; /* plans of what to buy take longer */
    unsigned long long from = 1, to = beside ? EVERY_DAY_BESIDE : EVERY_DAY;
    struct seen seen = {.resized = 0};
    const char *seeds = getenv("STOWAGE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%llu-%llu", &from, &to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", seeds);
    for (unsigned long long seed = from; seed <= to; seed++)
        live(seed, beside, &seen);
    print_message("%u passes with the world of the last one, %u by delta, %u with one that was built; groups grew in %u, machines "
                  "went in %u, pods in %u\n",
                  seen.worlds[DERIVE_SAME], seen.worlds[DERIVE_DELTA], seen.worlds[DERIVE_BUILD], seen.resized, seen.removed, seen.evicted);
    return seen;
}

static void decides_as_one_that_builds_its_world(void **state)
{
    (void)state;
    struct seen seen = live_all(false);
    assert_true(seen.worlds[DERIVE_SAME] != 0 && seen.worlds[DERIVE_DELTA] > seen.worlds[DERIVE_BUILD]);
    assert_true(seen.resized != 0 && seen.removed != 0 && seen.evicted != 0);
}

static void so_it_does_beside_node_pools(void **state)
{
    (void)state;
    struct seen seen = live_all(true);
    print_message("claims changed in %u; of the worlds that were not built pods did not ask in %u, had room on Nodes in %u, stood on "
                  "machines that are bought in %u\n",
                  seen.created, seen.hidden, seen.nominated, seen.bought);
    assert_true(seen.worlds[DERIVE_SAME] != 0 && seen.worlds[DERIVE_DELTA] > seen.worlds[DERIVE_BUILD]);
    assert_true(seen.resized != 0 && seen.created != 0 && seen.hidden != 0 && seen.nominated != 0 && seen.bought != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decides_as_one_that_builds_its_world), cmocka_unit_test(so_it_does_beside_node_pools)};
    return cmocka_run_group_tests_name("groups_kept", tests, NULL, NULL);
}
