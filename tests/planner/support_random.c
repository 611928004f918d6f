#include "support_random.h"

#include <stdio.h>
#include <stdlib.h>

#include "check/check.h"
#include "planner/pods/default_spread.h"
#include "planner/plan/plan_json.h"

/* --- draws --- */

static unsigned next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33);
}

unsigned draw(struct draws *d, unsigned below)
{
    if (d->bytes == NULL)
        return next(&d->state) % below;
    if (d->left == 0)
        return 0;
    d->left--;
    return *d->bytes++ % below;
}

/* Once in n times; never when the bytes have run out. */
static bool chance(struct draws *d, unsigned n)
{
    return draw(d, n) == n - 1;
}

#define PICK(d_, ...)                                                                              \
    pick(d_, (const char *const[]){__VA_ARGS__},                                                   \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const char *pick(struct draws *d, const char *const *list, size_t count)
{
    return list[draw(d, (unsigned)count)];
}

/* Each is there in half of the clusters: what one rule does is not hidden behind the others. */
enum feature {
    SPREADS = 1,
    POD_AFFINITY = 2,
    NODE_AFFINITY = 4,
    PREFERENCES = 8,
    VOLUMES = 16,
    MIN_VALUES = 32,
    RESERVED = 64,
    ALL_FEATURES = 127,
};

/* --- documents --- */

struct doc_text { /* one document being written */
    struct random_cluster *to;
    struct draws *d;
    struct buf b;
};

static struct doc_text document(struct random_cluster *r, struct draws *d, const char *api,
                                const char *kind, const char *name)
{
    struct doc_text t = {.to = r, .d = d};
    buf_addf(&t.b, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s", api, kind, name);
    return t;
}

static void finish(struct doc_text *t)
{
    ARENA_PUSH(&t->to->arena, t->to->docs, t->to->count, t->to->capacity,
               arena_dup(&t->to->arena, buf_span(&t->b)));
    buf_release(&t->b);
}

#define PUT(t_, ...) buf_addf(&(t_)->b, __VA_ARGS__)

static bool with(const struct doc_text *t, enum feature f)
{
    return (t->to->features & f) != 0;
}

static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
#define ZONE_KEY "topology.kubernetes.io/zone"

/* --- instance types --- */

static void put_offerings(struct doc_text *t, unsigned cpu)
{
    PUT(t, "offerings: [");
    unsigned put = 0;
    for (unsigned z = 0; z < COUNT_OF(zones); z++)
        for (unsigned kind = 0; kind < 2; kind++) {
            if (chance(t->d, 5))
                continue;
            const char *name = kind == 0 ? "on-demand" : "spot";
            unsigned price = cpu * (2 - kind), cents = draw(t->d, 100);
            bool sold_out = chance(t->d, 8), overridden = chance(t->d, 8);
            PUT(t, "%s{zone: %s, capacity: %s, price: %u.%02u%s%s}", put++ != 0 ? ", " : "",
                zones[z], name, price, cents, sold_out ? ", available: false" : "",
                overridden ? ", override: {memory: 1Gi}" : "");
            if (overridden && chance(t->d, 2))
                PUT(t, ", {zone: %s, capacity: %s, price: %u, override: {%s}}", zones[z], name,
                    price + draw(t->d, 3), PICK(t->d, "memory: 9Gi", "example.com/gpu: 2"));
        }
    if (with(t, RESERVED) && chance(t->d, 4))
        PUT(t, "%s{zone: %s, capacity: reserved, price: 0.01, reservations: %u, reservation: r%u}",
            put != 0 ? ", " : "", zones[draw(t->d, 3)], draw(t->d, 3), draw(t->d, 2));
    PUT(t, "]}\n");
}

static void put_types(struct random_cluster *r, struct draws *d)
{
    struct doc_text t = {.to = r, .d = d};
    PUT(&t, "---\nkind: InstanceTypes\nreservationIDLabel: example.com/reservation\nwellKnown: "
            "[size, integer]\nitems:\n");
    for (unsigned i = 0, n = 1 + draw(d, 6); i < n; i++) {
        unsigned cpu = 1 + draw(d, 6);
        PUT(&t, "- {name: t%u, resources: {cpu: %u, memory: %uGi, pods: %u%s}, overhead: {cpu: "
                "100m}, labels: {kubernetes.io/arch: %s, kubernetes.io/os: \"%s\", size: %s, "
                "integer: \"%u\"}, %s", i, cpu, 1 + draw(d, 8), 2 + draw(d, 8),
            chance(d, 4) ? ", example.com/gpu: 1" : "", chance(d, 4) ? "arm64" : "amd64",
            chance(d, 4) ? "linux,windows" : "linux", cpu > 3 ? "large" : "small", cpu,
            chance(d, 3) ? "volumeLimits: {csi.example.com: 2}, " : "");
        put_offerings(&t, cpu);
    }
    finish(&t);
}

/* --- pools, DaemonSets, storage --- */

static void put_pool(struct random_cluster *r, struct draws *d, unsigned i)
{
    char name[16];
    snprintf(name, sizeof(name), "pool%u", i);
    struct doc_text t = document(r, d, "karpenter.sh/v1", "NodePool", name);
    /* Not drawn: all that is drawn after it would change. */
    static const char *const costs[] = {"'0.25'", "'3'", "free"};
    if (d->state % 5 < COUNT_OF(costs))
        PUT(&t, ", annotations: {stowage.dev/node-cost: %s}", costs[d->state % 5]);
    PUT(&t, "}\nspec: {weight: %u, %stemplate: {metadata: {labels: {tier: t%u}}, spec: {nodeClassRef: "
            "{group: example.com, kind: Machine, name: m}, requirements: [%s%s]%s%s}}}\n",
        draw(d, 3), PICK(d, "", "", "limits: {cpu: 12}, ", "limits: {nodes: 2}, ",
                         "limits: {memory: 20Gi}, "), draw(d, 3),
        PICK(d, "", "", "{key: rack, operator: In, values: [r1, r2]}, ",
             "{key: " ZONE_KEY ", operator: NotIn, values: [test-zone-1]}, ",
             "{key: " ZONE_KEY ", operator: In, values: [test-zone-1, test-zone-2]}, ",
             "{key: integer, operator: Lt, values: [\"5\"]}, ",
             "{key: level, operator: Gt, values: [\"3\"]}, "),
        PICK(d, "", "{key: karpenter.sh/capacity-type, operator: NotIn, values: [reserved]}",
             "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}",
             with(&t, MIN_VALUES)
                 ? "{key: node.kubernetes.io/instance-type, operator: Exists, minValues: 2}" : "",
             with(&t, MIN_VALUES)
                 ? "{key: size, operator: In, values: [small, large], minValues: 2}" : ""),
        PICK(d, "", "", "", ", taints: [{key: team, value: red, effect: NoSchedule}]",
             ", taints: [{key: soft, effect: PreferNoSchedule}]"),
        PICK(d, "", "", ", startupTaints: [{key: boot, effect: NoSchedule}]"));
    finish(&t);
}

static void put_daemon(struct random_cluster *r, struct draws *d, unsigned i)
{
    char name[16];
    snprintf(name, sizeof(name), "d%u", i);
    struct doc_text t = document(r, d, "apps/v1", "DaemonSet", name);
    PUT(&t, "}\nspec: {selector: {}, template: {metadata: {labels: {app: a%u}}, spec: {containers: "
            "[{name: c%s, resources: {requests: {cpu: %u0m}}}]%s}}}\n", draw(d, 3),
        chance(d, 6) ? ", ports: [{containerPort: 80, hostPort: 80}]" : "", 1 + draw(d, 20),
        PICK(d, "", ", nodeSelector: {size: small}", ", tolerations: [{operator: Exists}]",
             ", nodeSelector: {" ZONE_KEY ": test-zone-2}",
             ", nodeSelector: {karpenter.sh/capacity-type: spot}",
             ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
             "{nodeSelectorTerms: [{matchExpressions: [{key: tier, operator: In, values: [t0]}]}, "
             "{matchExpressions: [{key: kubernetes.io/arch, operator: NotIn, values: [amd64]}]}]}}}"));
    finish(&t);
}

enum { VOLUME_CLAIMS = 5 };

static void put_volume_claim(struct random_cluster *r, struct draws *d, unsigned i)
{
    char name[16], volume[16];
    snprintf(name, sizeof(name), "v%u", i);
    snprintf(volume, sizeof(volume), "pv%u", i);
    bool bound = chance(d, 2);
    struct doc_text t = document(r, d, "v1", "PersistentVolumeClaim", name);
    PUT(&t, "%s}\nspec: {storageClassName: %s%s%s}\n",
        bound ? ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}" : "",
        PICK(d, "wait", "wait", "zonal", "soon"), bound ? ", volumeName: " : "",
        bound ? volume : "");
    finish(&t);
    if (!bound)
        return;
    t = document(r, d, "v1", "PersistentVolume", volume);
    PUT(&t, "}\nspec: {%s, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
            ZONE_KEY ", operator: In, values: [%s]}]}%s]}}}\n",
        PICK(d, "csi: {driver: csi.example.com}", "local: {path: /d}",
             "csi: {driver: other.example.com}"), zones[draw(d, 3)],
        chance(d, 3) ? ", {matchExpressions: [{key: size, operator: In, values: [large]}]}" : "");
    finish(&t);
}

static void put_storage(struct random_cluster *r, struct draws *d)
{
    static const struct {
        const char *name, *rest;
    } classes[] = {
        {"wait", "volumeBindingMode: WaitForFirstConsumer\n"},
        {"zonal", "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: "
                  "[{matchLabelExpressions: [{key: " ZONE_KEY ", values: [test-zone-1, "
                  "test-zone-2]}]}]\n"},
        {"soon", "volumeBindingMode: Immediate\n"},
    };
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        struct doc_text t = document(r, d, "storage.k8s.io/v1", "StorageClass", classes[i].name);
        PUT(&t, "}\nprovisioner: csi.example.com\n%s", classes[i].rest);
        finish(&t);
    }
    for (unsigned i = 0; i < VOLUME_CLAIMS; i++)
        put_volume_claim(r, d, i);
}

/* --- what pods ask for --- */

static void put_selector(struct doc_text *t)
{
    PUT(t, "labelSelector: {matchLabels: {app: a%u}}", draw(t->d, 3));
}

static const char *domain_key(struct draws *d)
{
    return PICK(d, ZONE_KEY, ZONE_KEY, "kubernetes.io/hostname", "kubernetes.io/hostname",
                "karpenter.sh/capacity-type", "rack");
}

static void put_spreads(struct doc_text *t)
{
    PUT(t, ", topologySpreadConstraints: [");
    for (unsigned i = 0, n = 1 + draw(t->d, 2); i < n; i++) {
        bool hard = !with(t, PREFERENCES) || !chance(t->d, 3);
        PUT(t, "%s{maxSkew: %u, topologyKey: %s, whenUnsatisfiable: %s, ", i != 0 ? ", " : "",
            1 + draw(t->d, 2), domain_key(t->d), hard ? "DoNotSchedule" : "ScheduleAnyway");
        put_selector(t);
        PUT(t, "%s%s%s%s}", hard && chance(t->d, 4) ? ", minDomains: 3" : "",
            chance(t->d, 5) ? ", nodeAffinityPolicy: Ignore" : "",
            chance(t->d, 5) ? ", nodeTaintsPolicy: Honor" : "",
            chance(t->d, 6) ? ", matchLabelKeys: [v]" : "");
    }
    PUT(t, "]");
}

static void put_pod_term(struct doc_text *t)
{
    PUT(t, "{topologyKey: %s, ", domain_key(t->d));
    put_selector(t);
    PUT(t, "%s}", PICK(t->d, "", "", "", ", namespaces: [far]",
                       ", namespaceSelector: {matchLabels: {side: b}}", ", namespaceSelector: {}"));
}

static void put_pod_affinity(struct doc_text *t, const char *which)
{
    bool required = !with(t, PREFERENCES) || !chance(t->d, 3);
    PUT(t, "%s: {", which);
    if (required) {
        PUT(t, "requiredDuringSchedulingIgnoredDuringExecution: [");
        put_pod_term(t);
        PUT(t, "]");
    }
    if (!required || (with(t, PREFERENCES) && chance(t->d, 4))) {
        PUT(t, "%spreferredDuringSchedulingIgnoredDuringExecution: [{weight: %u, podAffinityTerm: ",
            required ? ", " : "", 1 + draw(t->d, 9));
        put_pod_term(t);
        PUT(t, "}]");
    }
    PUT(t, "}");
}

static void put_node_affinity(struct doc_text *t)
{
    bool required = !with(t, PREFERENCES) || !chance(t->d, 2);
    PUT(t, "nodeAffinity: {");
    if (required)
        PUT(t, "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s"
               "{matchExpressions: [{key: %s}]}]}",
            chance(t->d, 2)
                ? "{matchExpressions: [{key: tier, operator: In, values: [none]}]}, " : "",
            PICK(t->d, ZONE_KEY ", operator: NotIn, values: [test-zone-2]",
                 "integer, operator: Gt, values: [\"1\"]", "size, operator: Exists",
                 "rack, operator: In, values: [r1]", "level, operator: DoesNotExist",
                 "karpenter.sh/capacity-type, operator: In, values: [on-demand]"));
    if (!required || (with(t, PREFERENCES) && chance(t->d, 4)))
        PUT(t, "%spreferredDuringSchedulingIgnoredDuringExecution: [{weight: %u, preference: "
               "{matchExpressions: [{key: " ZONE_KEY ", operator: In, values: [%s]}]}}, {weight: 5, "
               "preference: {matchExpressions: [{key: size, operator: In, values: [huge]}]}}]",
            required ? ", " : "", 1 + draw(t->d, 9), zones[draw(t->d, 3)]);
    PUT(t, "}");
}

static void put_affinity(struct doc_text *t)
{
    const char *between = "";
    PUT(t, ", affinity: {");
    if (with(t, NODE_AFFINITY) && chance(t->d, 3)) {
        put_node_affinity(t);
        between = ", ";
    }
    if (with(t, POD_AFFINITY) && chance(t->d, 3)) {
        PUT(t, "%s", between);
        put_pod_affinity(t, "podAffinity");
        between = ", ";
    }
    if (with(t, POD_AFFINITY) && chance(t->d, 2)) {
        PUT(t, "%s", between);
        put_pod_affinity(t, "podAntiAffinity");
    }
    PUT(t, "}");
}

/* The spec of a pod from its containers on, without the closing brace. */
static void put_pod_spec(struct doc_text *t)
{
    PUT(t, "containers: [{name: c, resources: {requests: {cpu: %u00m, memory: %uMi%s}}%s}]%s%s",
        draw(t->d, 25), draw(t->d, 20) * 100, chance(t->d, 10) ? ", example.com/gpu: 1" : "",
        chance(t->d, 6) ? ", ports: [{containerPort: 80, hostPort: 80}]" : "",
        PICK(t->d, "", "", "", "", "", "", ", nodeSelector: {kubernetes.io/hostname: x}",
             ", nodeSelector: {" ZONE_KEY ": test-zone-2}",
             ", nodeSelector: {tier: t1}", ", nodeSelector: {rack: r2}",
             ", nodeSelector: {beta.kubernetes.io/arch: arm64}",
             ", nodeSelector: {kubernetes.io/os: linux}"),
        PICK(t->d, "", "", "", ", tolerations: [{key: team, operator: Exists}]",
             ", tolerations: [{operator: Exists}]"));
    if (with(t, SPREADS) && chance(t->d, 3))
        put_spreads(t);
    if (chance(t->d, 2))
        put_affinity(t);
    if (with(t, VOLUMES) && chance(t->d, 3))
        PUT(t, ", volumes: [{name: v, persistentVolumeClaim: {claimName: v%u}}]",
            draw(t->d, VOLUME_CLAIMS));
}

/* Pods of one shape, as a Deployment's are. */
static void put_workload(struct random_cluster *r, struct draws *d, unsigned i)
{
    struct doc_text spec = {.to = r, .d = d};
    unsigned app = draw(d, 3), version = draw(d, 2);
    const char *ns = chance(d, 6) ? ", namespace: far" : "";
    const char *more = !chance(d, 12) ? "" : PICK(d, "schedulingGates: [{name: g}], ",
                                                  "resourceClaims: [{name: gpu}], ");
    put_pod_spec(&spec);
    for (unsigned n = 0, count = 1 + draw(d, 5); n < count; n++) {
        char name[32];
        snprintf(name, sizeof(name), "p%u-%u", i, n);
        struct doc_text t = document(r, d, "v1", "Pod", name);
        PUT(&t, "%s, labels: {app: a%u, v: v%u}}\nspec: {%s%s}\nstatus: {phase: Pending, conditions: "
                "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n",
            ns, app, version, more, spec.b.ptr);
        finish(&t);
    }
    buf_release(&spec.b);
}

/* --- what stands --- */

static void put_bound(struct random_cluster *r, struct draws *d, unsigned node, unsigned i)
{
    char name[32];
    snprintf(name, sizeof(name), "b%u-%u", node, i);
    struct doc_text t = document(r, d, "v1", "Pod", name);
    PUT(&t, "%s%s%s, labels: {app: a%u, v: v0}}\nspec: {nodeName: node%u, ",
        chance(d, 6) ? ", namespace: far" : "",
        chance(d, 8) ? ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}" : "",
        chance(d, 10) ? ", deletionTimestamp: \"2026-01-01T00:00:00Z\"" : "", draw(d, 3), node);
    put_pod_spec(&t);
    PUT(&t, "}\nstatus: {phase: %s}\n", chance(d, 8) ? "Succeeded" : "Running");
    finish(&t);
}

static void put_csi_node(struct random_cluster *r, struct draws *d, const char *name)
{
    struct doc_text t = document(r, d, "storage.k8s.io/v1", "CSINode", name);
    PUT(&t, "}\nspec: {drivers: [{name: csi.example.com%s}]}\n",
        PICK(d, ", allocatable: {count: 1}", ", allocatable: {count: 3}", ""));
    finish(&t);
}

/* Machines in every stage: unmanaged, initialised, registered, without a Node, leaving. */
static void put_node(struct random_cluster *r, struct draws *d, unsigned i)
{
    char name[16], labels[400];
    unsigned stage = draw(d, 5), zone = draw(d, 3);
    bool leaves = chance(d, 6);
    const char *deleted = leaves ? ", deletionTimestamp: \"2026-01-01T00:00:00Z\"" : "";
    snprintf(name, sizeof(name), "node%u", i);
    snprintf(labels, sizeof(labels), "karpenter.sh/nodepool: pool0, " ZONE_KEY ": %s, "
             "karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: t0, "
             "kubernetes.io/arch: amd64, kubernetes.io/os: linux, tier: t0, rack: r%u", zones[zone],
             1 + draw(d, 2));
    if (stage != 0) {
        struct doc_text t = document(r, d, "karpenter.sh/v1", "NodeClaim", name);
        PUT(&t, "%s, labels: {%s}}\nspec: {startupTaints: [{key: boot, effect: NoSchedule}]}\nstatus: "
                "{providerID: \"x://%u\", capacity: {cpu: 4, memory: 8Gi, pods: 6}, allocatable: "
                "{cpu: 3900m, memory: 8Gi, pods: 6}}\n", deleted, labels, i);
        finish(&t);
    }
    if (stage == 1)
        return; /* on its way */
    struct doc_text t = document(r, d, "v1", "Node", name);
    PUT(&t, "%s, labels: {%s, kubernetes.io/hostname: %s%s%s}}\nspec: {providerID: \"x://%u\"%s}\n"
            "status: {capacity: {cpu: 4, memory: 8Gi, pods: 6}, allocatable: {cpu: 3900m, memory: 8Gi, "
            "pods: 6}}\n", deleted, labels, name,
        stage >= 2 ? ", karpenter.sh/registered: \"true\"" : "",
        stage >= 3 ? ", karpenter.sh/initialized: \"true\"" : "", i,
        PICK(d, "", "", ", taints: [{key: team, value: red, effect: NoSchedule}]",
             ", taints: [{key: boot, effect: NoSchedule}]", ", unschedulable: true"));
    finish(&t);
    if (chance(d, 3))
        put_csi_node(r, d, name);
    for (unsigned n = 0, count = draw(d, 4); n < count; n++)
        put_bound(r, d, i, n);
}

static void put_budget(struct random_cluster *r, struct draws *d)
{
    struct doc_text t = document(r, d, "policy/v1", "PodDisruptionBudget", "budget");
    PUT(&t, "}\nspec: {%s, selector: {matchLabels: {app: a%u}}}\n",
        PICK(d, "maxUnavailable: 1", "maxUnavailable: 0", "minAvailable: 100%"), draw(d, 3));
    finish(&t);
}

static void put_service(struct random_cluster *r, struct draws *d)
{
    struct doc_text t = document(r, d, "v1", "Service", "s");
    PUT(&t, "}\nspec: {selector: {app: a%u}}\n", draw(d, 3));
    finish(&t);
}

/* --- splits --- */

/* Some of the pods written so far get an owner, which is one of two, and its annotations. Last of all
 * draws, so that clusters without a split stay as they were. */
static void split_some(struct random_cluster *r, struct draws *d)
{
    static const char head[] = "---\napiVersion: v1\nkind: Pod\nmetadata: {";
    if (!chance(d, 3))
        return;
    const char *notes[2];
    for (int i = 0; i < 2; i++)
        notes[i] = PICK(d, "stowage.dev/spot-percent: \"50\"",
                        "stowage.dev/on-demand-base: \"1\", stowage.dev/spot-percent: \"70\"",
                        "stowage.dev/on-demand-base: \"2\"", "stowage.dev/spot-percent: \"100\"",
                        "stowage.dev/spot-percent: \"many\"");
    for (uint32_t i = 0; i < r->count; i++) {
        struct span doc = r->docs[i];
        if (!span_has_prefix(doc, span_of(head)) || span_contains(doc, SPAN("annotations:")) ||
            chance(d, 3))
            continue;
        unsigned owner = draw(d, 2);
        r->docs[i] = arena_printf(&r->arena,
                                  "%sannotations: {%s}, ownerReferences: [{apiVersion: apps/v1, kind: "
                                  "ReplicaSet, name: w-%u, controller: true}], %s",
                                  head, notes[owner], owner, doc.ptr + sizeof(head) - 1);
    }
    struct doc_text t = document(r, d, "apps/v1", "ReplicaSet", "w-0");
    PUT(&t, ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: w, controller: true}]}\n"
            "spec: {selector: {}}\n");
    finish(&t);
}

/* --- the whole --- */

static const struct default_constraint default_constraints[] = {
    {.max_skew = 1, .topology_key = SPAN_INIT(ZONE_KEY), .hard = true},
    {.max_skew = 2, .topology_key = SPAN_INIT("kubernetes.io/hostname")},
};
static const struct default_spread_config default_config = {default_constraints,
                                                            COUNT_OF(default_constraints)};

void random_cluster_make(struct random_cluster *r, struct draws *d)
{
    *r = (struct random_cluster){
        .options = {.ready_when_unstated = true, .reserved_capacity = true},
        .plan_options = {.search = SEARCH_GREEDY},
    };
    arena_init(&r->arena, 0);
    r->options.all_unbound = chance(d, 8);
    r->plan_options.ignore_preferences = chance(d, 6);
    r->plan_options.best_effort_min_values = chance(d, 4);
    r->options.default_spread = chance(d, 6) ? &default_config : NULL;
    r->features = draw(d, ALL_FEATURES + 1);
    put_types(r, d);
    for (unsigned i = 0, n = chance(d, 20) ? 0 : 1 + draw(d, 3); i < n; i++)
        put_pool(r, d, i);
    for (unsigned i = 0, n = draw(d, 3); i < n; i++)
        put_daemon(r, d, i);
    struct doc_text far = document(r, d, "v1", "Namespace", "far");
    PUT(&far, ", labels: {side: b}}\n");
    finish(&far);
    put_storage(r, d);
    if (chance(d, 3))
        put_budget(r, d);
    if (chance(d, 3))
        put_service(r, d);
    for (unsigned i = 0, n = draw(d, 5); i < n; i++)
        put_node(r, d, i);
    for (unsigned i = 0, n = 1 + draw(d, 7); i < n; i++)
        put_workload(r, d, i);
    split_some(r, d);
}

void random_cluster_grow(struct random_cluster *r, struct draws *d, unsigned from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_node(r, d, from + i);
}

void random_cluster_release(struct random_cluster *r)
{
    arena_release(&r->arena);
}

void random_cluster_load(const struct random_cluster *r, uint64_t order, struct cluster *out)
{
    uint32_t *at = mem_array(r->count, sizeof(*at));
    cluster_init(out);
    out->options = r->options;
    out->plan_options = r->plan_options;
    for (uint32_t i = 0; i < r->count; i++)
        at[i] = i;
    for (uint32_t i = r->count; order != 0 && i > 2; i--) { /* the types stay first */
        uint32_t j = 1 + next(&order) % (i - 1), swap = at[i - 1];
        at[i - 1] = at[j];
        at[j] = swap;
    }
    for (uint32_t i = 0; i < r->count; i++)
        cluster_add(out, r->docs[at[i]].ptr);
    free(at);
}

static void tally_plan(const struct plan *p, struct random_tally *t)
{
    for (uint32_t i = 0; i < p->claim_count; i++)
        t->on_claims += p->claims[i].pod_count;
    for (uint32_t i = 0; i < p->node_count; i++)
        t->on_nodes += p->nodes[i].pod_count;
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        t->without[p->unschedulable[i].reason]++;
}

static struct buf planned(const struct random_cluster *r, uint64_t order, struct random_tally *t,
                          struct buf *wrong)
{
    struct cluster c;
    struct buf b = {0};
    random_cluster_load(r, order, &c);
    struct json j = {.out = &b, .indent = 2};
    plan_json(&j, cluster_plan_unchecked(&c), NULL, 0);
    if (order == 0) {
        tally_plan(c.plan, t);
        check_text(&c, buf_span(&b), wrong);
    }
    cluster_release(&c);
    return b;
}

bool random_cluster_holds(const struct random_cluster *r, struct random_tally *tally,
                          struct buf *wrong)
{
    struct buf first = planned(r, 0, tally, wrong), second = planned(r, 7, tally, wrong);
    if (!span_eq(buf_span(&first), buf_span(&second)))
        buf_addf(wrong, "another plan when the input is shuffled:\n%s\n", second.ptr);
    if (wrong->len != 0)
        buf_addf(wrong, "the plan:\n%s\n", first.ptr);
    buf_release(&first);
    buf_release(&second);
    return wrong->len == 0;
}
