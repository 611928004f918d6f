#include "tests/bench/rest_cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "kube/meta.h"
#include "sim/tree.h"

enum {
    DAEMONS = 3,
    APP_PODS = 100,
    NAMESPACES = 50,
    IMAGES = 50, /* that a kubelet lists in its Node */
    REPLY_NS = 4000000,
    TOLD_NS = 5000000, /* from a write to its event */
};
static const int64_t MS = 1000000, SECOND = 1000000000;

enum pod_state { POD_FREE, POD_NEW, POD_REFUSED, POD_BOUND, POD_READY, POD_ENDED, POD_LEAVING };

struct rest_pod {
    uint32_t app, node; /* node: where it goes or is */
    uint32_t serial;
    uint32_t version;
    uint8_t state, template; /* of its Deployment */
};

struct rest_claim {
    uint32_t version;
    json_t *status; /* NULL: as it was at the beginning */
};

enum happening { HEARTBEAT, LABEL, POD_STEP, JOB_COMES, ROLL_NEXT, WRITTEN, REPLY, CLAIM_TOLD, POOL_TOLD };

struct due {
    int64_t at;
    uint64_t order;
    enum happening what;
    uint32_t index;
    api_done *done;
    void *user;
};

struct rest_cluster {
    struct rest_load load;
    int64_t wall;
    uint32_t version, serial, apps, job, writes;
    struct rest_pod *pods;
    uint32_t pod_count, pod_room;
    uint32_t *free_slots, free_count;
    uint32_t *node_versions, *node_labels; /* of the latter: which value */
    struct rest_claim *claims;
    json_t *pool;
    uint32_t roll; /* pod that is replaced next */
    struct due *heap;
    uint32_t heap_count, heap_room;
    uint64_t order;
    struct buf out;
    char (*images)[512];
};

/* --- the queue of what is to happen --- */

static bool sooner(const struct due *a, const struct due *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void at(struct rest_cluster *c, struct due d)
{
    if (c->heap_count == c->heap_room)
        c->heap = mem_grow(c->heap, c->heap_room = c->heap_room * 2 + 64, sizeof(*c->heap));
    d.order = c->order++;
    uint32_t i = c->heap_count++;
    for (; i > 0 && sooner(&d, &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        c->heap[i] = c->heap[(i - 1) / 2];
    c->heap[i] = d;
}

static struct due next(struct rest_cluster *c)
{
    struct due first = c->heap[0], last = c->heap[--c->heap_count];
    uint32_t i = 0;
    for (uint32_t kid; (kid = 2 * i + 1) < c->heap_count; i = kid) {
        if (kid + 1 < c->heap_count && sooner(&c->heap[kid + 1], &c->heap[kid]))
            kid++;
        if (!sooner(&c->heap[kid], &last))
            break;
        c->heap[i] = c->heap[kid];
    }
    c->heap[i] = last;
    return first;
}

int64_t rest_due(const struct rest_cluster *c)
{
    return c->heap_count != 0 ? c->heap[0].at : INT64_MAX;
}

/* --- texts --- */

#define ADD(...) buf_addf(&c->out, __VA_ARGS__)

static void time_of(const struct rest_cluster *c, int64_t ns, char out[32])
{
    struct arena a;
    arena_init(&a, 0);
    struct span text = time_text(&a, c->wall + ns / MS);
    snprintf(out, 32, "%.*s", SPAN_ARG(text));
    arena_release(&a);
}

static const char *zone(uint32_t node)
{
    static const char *const zones[] = {"test-zone-a", "test-zone-b", "test-zone-c"};
    return zones[node % 3];
}

static void add_meta(struct rest_cluster *c, const char *name, const char *ns, const char *uid, uint32_t number,
                     uint32_t version)
{
    ADD("{\"metadata\":{\"name\":\"%s\",", name);
    if (ns != NULL)
        ADD("\"namespace\":\"%s\",", ns);
    ADD("\"uid\":\"%s-4c1e-4f6a-9d5b-%012x\",\"resourceVersion\":\"%u\","
        "\"creationTimestamp\":\"2026-11-01T08:00:00Z\"",
        uid, number, version);
}

static void name_node(uint32_t node, char out[64])
{
    snprintf(out, 64, "general-%05x-%u", node * 2654435761u >> 12, node);
}

#define NODE_ROOM                                                                                  \
    "{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"128\",\"ephemeral-storage\":\"20Gi\"}"

static void add_labels(struct rest_cluster *c, uint32_t node, const char *name)
{
    ADD("\"labels\":{\"karpenter.sh/nodepool\":\"general\",\"karpenter.sh/capacity-type\":\"on-demand\","
        "\"karpenter.kwok.sh/kwoknodeclass\":\"default\","
        "\"topology.kubernetes.io/zone\":\"%s\",\"node.kubernetes.io/instance-type\":\"s-8x-amd64-linux\","
        "\"kubernetes.io/os\":\"linux\",\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":\"%s\","
        "\"karpenter.sh/registered\":\"true\",\"karpenter.sh/initialized\":\"true\",\"example.com/rev\":\"%u\"}",
        zone(node), name, c->node_labels[node]);
}

static void put_node(struct rest_cluster *c, uint32_t node, int64_t now)
{
    static const char *const quiet[] = {"MemoryPressure", "DiskPressure", "PIDPressure"};
    char name[64], beat[32];
    name_node(node, name);
    time_of(c, now, beat);
    add_meta(c, name, NULL, "node", node, c->node_versions[node]);
    ADD(",");
    add_labels(c, node, name);
    ADD(",\"finalizers\":[\"karpenter.sh/termination\"],\"ownerReferences\":[{\"apiVersion\":\"karpenter.sh/v1\","
        "\"kind\":\"NodeClaim\",\"name\":\"%s\",\"uid\":\"claim-4c1e-4f6a-9d5b-%012x\",\"blockOwnerDeletion\":true}],"
        "\"annotations\":{\"volumes.kubernetes.io/controller-managed-attach-detach\":\"true\"},"
        "\"managedFields\":[{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"%s\","
        "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{}}},\"subresource\":\"status\"}]},",
        name, node, beat);
    ADD("\"spec\":{\"podCIDR\":\"10.%u.%u.0/24\",\"providerID\":\"kwok://%s\"},\"status\":{\"capacity\":" NODE_ROOM
        ",\"allocatable\":" NODE_ROOM ",\"conditions\":[",
        node >> 8, node & 255, name);
    for (size_t i = 0; i < COUNT_OF(quiet); i++)
        ADD("{\"type\":\"%s\",\"status\":\"False\",\"lastHeartbeatTime\":\"%s\",\"lastTransitionTime\":"
            "\"2026-11-01T08:00:30Z\",\"reason\":\"KubeletHasNo%s\",\"message\":\"kubelet has no %s\"},",
            quiet[i], beat, quiet[i], quiet[i]);
    ADD("{\"type\":\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"%s\",\"lastTransitionTime\":"
        "\"2026-11-01T08:00:30Z\",\"reason\":\"KubeletReady\",\"message\":\"kubelet is posting ready status\"}],",
        beat);
    ADD("\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.%u.%u\"}],\"images\":[", node >> 8, node & 255);
    for (uint32_t i = 0; i < IMAGES; i++)
        ADD("%s%s", i != 0 ? "," : "", c->images[i]);
    ADD("],\"nodeInfo\":{\"kubeletVersion\":\"v1.35.0\",\"operatingSystem\":\"linux\"}}}");
}

static void put_claim(struct rest_cluster *c, uint32_t node)
{
    char name[64];
    name_node(node, name);
    add_meta(c, name, NULL, "claim", node, c->claims[node].version);
    ADD(",\"generation\":1,");
    add_labels(c, node, name);
    ADD(",\"finalizers\":[\"karpenter.sh/termination\"],\"ownerReferences\":[{\"apiVersion\":\"karpenter.sh/v1\","
        "\"kind\":\"NodePool\",\"name\":\"general\",\"uid\":\"pool-4c1e-4f6a-9d5b-000000000000\","
        "\"blockOwnerDeletion\":true}]},\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":"
        "\"KWOKNodeClass\",\"name\":\"default\"},\"expireAfter\":\"Never\",\"requirements\":["
        "{\"key\":\"karpenter.sh/nodepool\",\"operator\":\"In\",\"values\":[\"general\"]},"
        "{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"s-8x-amd64-linux\"]}],"
        "\"resources\":{\"requests\":{\"cpu\":\"4\"}}},\"status\":");
    if (c->claims[node].status != NULL) {
        tree_put(&c->out, c->claims[node].status);
        ADD("}");
        return;
    }
    ADD("{\"nodeName\":\"%s\",\"providerID\":\"kwok://%s\",\"capacity\":" NODE_ROOM ",\"allocatable\":" NODE_ROOM
        ",\"lastPodEventTime\":\"2026-11-01T08:02:00Z\",\"conditions\":[",
        name, name);
    static const char *const true_ones[] = {"Launched", "Registered", "Initialized", "ConsistentStateFound",
                                            "Ready", "Consolidatable"};
    for (size_t i = 0; i < COUNT_OF(true_ones); i++)
        ADD("%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"%s\",\"message\":\"\",\"observedGeneration\":1,"
            "\"lastTransitionTime\":\"2026-11-01T08:01:00Z\"}",
            i != 0 ? "," : "", true_ones[i], true_ones[i]);
    ADD("]}}");
}

static const char *namespace_of(uint32_t app, char out[32])
{
    snprintf(out, 32, "%s%u", app < DAEMONS ? "system-" : "team-", app % NAMESPACES);
    return out;
}

static bool has_volume(uint32_t app)
{
    return app % 20 == 12;
}

static void name_pod(const struct rest_pod *p, char out[64])
{
    snprintf(out, 64, "app-%03u-%010x-%05x", p->app, p->template * 0x9e37u + p->app, p->serial);
}

static void name_volume(const struct rest_pod *p, char out[64])
{
    snprintf(out, 64, "data-app-%03u-%u", p->app, p->serial);
}

static void add_rules(struct rest_cluster *c, const struct rest_pod *p)
{
    if (p->app < DAEMONS) {
        char name[64];
        name_node(p->node, name);
        ADD("\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
            "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":["
            "\"%s\"]}]}]}}},",
            name);
        return;
    }
    if (p->app % 3 == 0)
        ADD("\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"topology.kubernetes.io/zone\","
            "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%03u\"}}}],",
            p->app);
    if (p->app % 10 == 1)
        ADD("\"affinity\":{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":100,"
            "\"podAffinityTerm\":{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{"
            "\"app\":\"app-%03u\"}}}}]}},",
            p->app);
}

static void add_pod_meta(struct rest_cluster *c, const struct rest_pod *p, int64_t now)
{
    char name[64], ns[32], when[32];
    name_pod(p, name);
    time_of(c, now, when);
    add_meta(c, name, namespace_of(p->app, ns), "pod", p->serial, p->version);
    if (p->state == POD_LEAVING)
        ADD(",\"deletionTimestamp\":\"%s\",\"deletionGracePeriodSeconds\":30", when);
    ADD(",\"generateName\":\"app-%03u-\",\"labels\":{\"app\":\"app-%03u\",\"pod-template-hash\":\"%x\","
        "\"team\":\"team-%u\"},\"annotations\":{\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"9090\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":\"app-%03u-%x\","
        "\"uid\":\"owner-4c1e-4f6a-9d5b-%012x\",\"controller\":true,\"blockOwnerDeletion\":true}],",
        p->app, p->app, p->template * 0x9e37u + p->app, p->app % NAMESPACES,
        p->app < DAEMONS ? "DaemonSet" : "ReplicaSet", p->app, p->template * 0x9e37u + p->app, p->app);
    ADD("\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\",\"apiVersion\":\"v1\","
        "\"time\":\"%s\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:annotations\":{\".\":{},"
        "\"f:prometheus.io/scrape\":{}},\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"
        "\"f:pod-template-hash\":{},\"f:team\":{}},\"f:ownerReferences\":{\".\":{},\"k:{\\\"uid\\\":\\\"o\\\"}\":{}}},"
        "\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:image\":{},\"f:name\":{},"
        "\"f:resources\":{}}},\"f:dnsPolicy\":{},\"f:restartPolicy\":{},\"f:schedulerName\":{}}}},"
        "{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"%s\","
        "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:conditions\":{},\"f:phase\":{}}},"
        "\"subresource\":\"status\"}]},",
        when, when);
}

static void add_pod_spec(struct rest_cluster *c, const struct rest_pod *p)
{
    bool bound = p->state >= POD_BOUND;
    ADD("\"spec\":{\"schedulerName\":\"default-scheduler\",\"serviceAccountName\":\"app\",\"priority\":0,"
        "\"restartPolicy\":\"Always\",\"dnsPolicy\":\"ClusterFirst\",\"terminationGracePeriodSeconds\":30,");
    if (bound) {
        char node[64];
        name_node(p->node, node);
        ADD("\"nodeName\":\"%s\",", node);
    }
    add_rules(c, p);
    ADD("\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
        "\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
        "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],");
    if (has_volume(p->app)) {
        char claim[64];
        name_volume(p, claim);
        ADD("\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}],", claim);
    }
    ADD("\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/team/app-%03u:v%u\","
        "\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"},\"limits\":{\"memory\":\"%uMi\"}},"
        "\"env\":[{\"name\":\"MODE\",\"value\":\"production\"}],\"ports\":[{\"containerPort\":8080,\"protocol\":\"TCP\"}],"
        "\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080},\"periodSeconds\":10}}]},",
        p->app, p->template, p->app < DAEMONS ? 50 : 100 + p->app % 20 * 10, 128 + p->app % 7 * 64,
        128 + p->app % 7 * 64);
}

static void add_pod_status(struct rest_cluster *c, const struct rest_pod *p)
{
    static const char *const phases[] = {[POD_NEW] = "Pending",   [POD_REFUSED] = "Pending",
                                         [POD_BOUND] = "Pending", [POD_READY] = "Running",
                                         [POD_ENDED] = "Succeeded", [POD_LEAVING] = "Running"};
    bool ready = p->state == POD_READY, bound = p->state >= POD_BOUND;
    ADD("\"status\":{\"phase\":\"%s\",\"qosClass\":\"Burstable\",\"conditions\":[", phases[p->state]);
    if (p->state == POD_REFUSED)
        ADD("{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":"
            "\"0/%u nodes are available: %u Insufficient cpu.\"}",
            c->load.nodes, c->load.nodes);
    if (bound)
        ADD("{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-01T08:02:00Z\"},"
            "{\"type\":\"Initialized\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-01T08:02:00Z\"},"
            "{\"type\":\"Ready\",\"status\":\"%s\",\"lastTransitionTime\":\"2026-11-01T08:02:00Z\"}",
            ready ? "True" : "False");
    ADD("]%s}}", bound ? ",\"startTime\":\"2026-11-01T08:02:00Z\",\"hostIP\":\"10.0.0.1\",\"podIP\":\"10.1.2.3\","
                         "\"containerStatuses\":[{\"name\":\"main\",\"ready\":true,\"restartCount\":0,\"containerID\":"
                         "\"containerd://4f6a9d5b4f6a9d5b4f6a9d5b4f6a9d5b\",\"state\":{\"running\":{\"startedAt\":"
                         "\"2026-11-01T08:02:00Z\"}}}]"
                       : "");
}

static void put_pod(struct rest_cluster *c, const struct rest_pod *p, int64_t now)
{
    add_pod_meta(c, p, now);
    add_pod_spec(c, p);
    add_pod_status(c, p);
}

/* --- the few kinds around them --- */

static void put_pool(struct rest_cluster *c, uint32_t i)
{
    (void)i;
    tree_put(&c->out, c->pool);
}

static json_t *pool_new(void)
{
    return tree_parse(
        SPAN("{\"metadata\":{\"name\":\"general\",\"uid\":\"pool-4c1e-4f6a-9d5b-000000000000\",\"resourceVersion\":\"1\","
             "\"generation\":1,\"creationTimestamp\":\"2026-11-01T08:00:00Z\"},\"spec\":{\"disruption\":{"
             "\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"5m\",\"budgets\":[{\"nodes\":\"10%\"}]},"
             "\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\","
             "\"name\":\"default\"},\"expireAfter\":\"Never\",\"requirements\":[{\"key\":\"kubernetes.io/os\","
             "\"operator\":\"In\",\"values\":[\"linux\"]}]}}}}"));
}

static void put_node_class(struct rest_cluster *c, uint32_t i)
{
    add_meta(c, "default", NULL, "class", i, 1);
    ADD("},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
}

static void put_daemon_set(struct rest_cluster *c, uint32_t i)
{
    char name[32], ns[32];
    snprintf(name, sizeof(name), "app-%03u-%x", i, i);
    add_meta(c, name, namespace_of(i, ns), "daemon", i, 1);
    ADD("},\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"app\":\"app-%03u\"}},\"spec\":{\"tolerations\":[{"
        "\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"50m\","
        "\"memory\":\"%uMi\"}}}]}}}}",
        i, 128 + i % 7 * 64);
}

static void put_budget(struct rest_cluster *c, uint32_t i)
{
    char name[32], ns[32];
    uint32_t app = DAEMONS + i * 8;
    snprintf(name, sizeof(name), "app-%03u", app);
    add_meta(c, name, namespace_of(app, ns), "budget", i, 1);
    ADD("},\"spec\":{\"maxUnavailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"app-%03u\"}}},"
        "\"status\":{\"disruptionsAllowed\":1}}",
        app);
}

static void put_namespace(struct rest_cluster *c, uint32_t i)
{
    char name[32];
    snprintf(name, sizeof(name), "%s%u", i < DAEMONS ? "system-" : "team-", i < DAEMONS ? i : i - DAEMONS);
    add_meta(c, name, NULL, "ns", i, 1);
    ADD(",\"labels\":{\"kubernetes.io/metadata.name\":\"%s\"}}}", name);
}

static void put_volume_claim(struct rest_cluster *c, const struct rest_pod *p)
{
    char name[64], ns[32];
    name_volume(p, name);
    add_meta(c, name, namespace_of(p->app, ns), "pvc", p->serial, 1);
    ADD(",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{\"volumeName\":\"pv-%s\","
        "\"storageClassName\":\"fast\"},\"status\":{\"phase\":\"Bound\"}}",
        name);
}

static void put_volume(struct rest_cluster *c, const struct rest_pod *p)
{
    char name[64], full[80];
    name_volume(p, name);
    snprintf(full, sizeof(full), "pv-%s", name);
    add_meta(c, full, NULL, "pv", p->serial, 1);
    ADD("},\"spec\":{\"csi\":{\"driver\":\"ebs.csi.aws.com\"},\"storageClassName\":\"fast\",\"nodeAffinity\":{"
        "\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
        "\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}}}",
        zone(p->node));
}

static void put_storage_class(struct rest_cluster *c, uint32_t i)
{
    add_meta(c, "fast", NULL, "sc", i, 1);
    ADD("},\"provisioner\":\"ebs.csi.aws.com\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
}

static void put_csi_node(struct rest_cluster *c, uint32_t node)
{
    char name[64];
    name_node(node, name);
    add_meta(c, name, NULL, "csi", node, 1);
    ADD("},\"spec\":{\"drivers\":[{\"name\":\"ebs.csi.aws.com\",\"nodeID\":\"%s\",\"allocatable\":{\"count\":25}}]}}",
        name);
}

static void put_replica_set(struct rest_cluster *c, uint32_t i)
{
    char name[32], ns[32];
    snprintf(name, sizeof(name), "app-%03u-%x", i + DAEMONS, i + DAEMONS);
    add_meta(c, name, namespace_of(i + DAEMONS, ns), "rs", i, 1);
    ADD(",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"app-%03u\",\"controller\":"
        "true}]},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"app-%03u\"}}}}",
        i + DAEMONS, i + DAEMONS);
}

static const struct {
    enum kind kind;
    void (*put)(struct rest_cluster *c, uint32_t i);
} small_kinds[] = {
    {KIND_NODE_CLAIM, put_claim},         {KIND_NODE_POOL, put_pool},
    {KIND_KWOK_NODE_CLASS, put_node_class}, {KIND_DAEMON_SET, put_daemon_set},
    {KIND_DISRUPTION_BUDGET, put_budget}, {KIND_NAMESPACE, put_namespace},
    {KIND_STORAGE_CLASS, put_storage_class}, {KIND_CSI_NODE, put_csi_node},
    {KIND_REPLICA_SET, put_replica_set},
};

static uint32_t with_volumes(const struct rest_cluster *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->pod_count; i++)
        count += c->pods[i].state != POD_FREE && has_volume(c->pods[i].app);
    return count;
}

uint32_t rest_count(const struct rest_cluster *c, enum kind k)
{
    switch (k) {
    case KIND_POD:
        return c->load.pods;
    case KIND_NODE:
    case KIND_NODE_CLAIM:
    case KIND_CSI_NODE:
        return c->load.nodes;
    case KIND_NODE_POOL:
    case KIND_KWOK_NODE_CLASS:
    case KIND_STORAGE_CLASS:
        return 1;
    case KIND_DAEMON_SET:
        return DAEMONS;
    case KIND_DISRUPTION_BUDGET:
        return c->apps / 8;
    case KIND_NAMESPACE:
        return NAMESPACES + DAEMONS;
    case KIND_REPLICA_SET:
        return c->apps;
    case KIND_VOLUME_CLAIM:
    case KIND_VOLUME:
        return with_volumes(c);
    default:
        return 0;
    }
}

static void list_pods(struct rest_cluster *c, enum kind k, void (*object)(void *user, struct span json), void *user)
{
    for (uint32_t i = 0; i < c->pod_count; i++) {
        const struct rest_pod *p = &c->pods[i];
        if (p->state == POD_FREE || (k != KIND_POD && !has_volume(p->app)))
            continue;
        buf_clear(&c->out);
        if (k == KIND_POD)
            put_pod(c, p, 0);
        else if (k == KIND_VOLUME)
            put_volume(c, p);
        else
            put_volume_claim(c, p);
        object(user, buf_span(&c->out));
    }
}

void rest_list(struct rest_cluster *c, enum kind k, void (*object)(void *user, struct span json), void *user)
{
    uint32_t count = rest_count(c, k);
    if (k == KIND_POD || k == KIND_VOLUME || k == KIND_VOLUME_CLAIM) {
        list_pods(c, k, object, user);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        buf_clear(&c->out);
        if (k == KIND_NODE)
            put_node(c, i, 0);
        for (size_t n = 0; n < COUNT_OF(small_kinds); n++)
            if (small_kinds[n].kind == k)
                small_kinds[n].put(c, i);
        object(user, buf_span(&c->out));
    }
}

/* --- what happens --- */

static uint32_t slot(struct rest_cluster *c)
{
    if (c->free_count != 0)
        return c->free_slots[--c->free_count];
    if (c->pod_count == c->pod_room) {
        fputs("bench_rest: more pods than there is room for\n", stderr);
        exit(1);
    }
    return c->pod_count++;
}

static uint32_t add_pod(struct rest_cluster *c, uint32_t app, uint32_t node, uint8_t template,
                        enum pod_state state)
{
    uint32_t i = slot(c);
    c->pods[i] = (struct rest_pod){.app = app, .node = node % c->load.nodes, .serial = c->serial++,
                                   .version = ++c->version, .template = template, .state = (uint8_t)state};
    return i;
}

static void job_comes(struct rest_cluster *c, int64_t now)
{
    uint32_t number = c->job++;
    uint32_t refused_every = c->load.refused_per_min != 0 ? c->load.changes_per_s * 12 / c->load.refused_per_min : 0;
    uint32_t app = DAEMONS + number * 7 % (c->apps - DAEMONS);
    while (has_volume(app) || app % 3 == 0) /* its volume would have to come, too; the spread would be uneven */
        app++;
    uint32_t i = add_pod(c, app, number * 2654435761u, 1, POD_NEW);
    if (refused_every != 0 && number % refused_every == 0)
        c->pods[i].template = 2;
    at(c, (struct due){.at = now, .what = POD_STEP, .index = i});
    at(c, (struct due){.at = now + 5 * SECOND / c->load.changes_per_s, .what = JOB_COMES});
}

/* One comes, and the one that it replaces goes once it is ready. */
static void roll_next(struct rest_cluster *c, int64_t now)
{
    while (c->pods[c->roll].state != POD_READY || c->pods[c->roll].app < DAEMONS ||
           has_volume(c->pods[c->roll].app))
        c->roll = (c->roll + 1) % c->pod_count;
    struct rest_pod *old = &c->pods[c->roll];
    uint32_t i = add_pod(c, old->app, old->node + c->load.nodes / 3 * 3 / 2, 3, POD_NEW);
    old->state = POD_LEAVING;
    old->version = ++c->version;
    at(c, (struct due){.at = now, .what = POD_STEP, .index = i});
    at(c, (struct due){.at = now + 3 * SECOND, .what = POD_STEP, .index = c->roll});
    at(c, (struct due){.at = now + 60 * SECOND / c->load.rollout_per_min, .what = ROLL_NEXT});
}

/* Tells how the pod is now, and says what is next of it. */
static void pod_step(struct rest_cluster *c, const struct due *d, struct rest_event *out)
{
    struct rest_pod *p = &c->pods[d->index];
    struct due more = {.what = POD_STEP, .index = d->index};
    static const uint8_t job = 1, refused = 2;
    out->kind = KIND_POD;
    out->what = p->state == POD_LEAVING || p->state == POD_ENDED ? WATCH_DELETE : WATCH_PUT;
    out->refused = p->state == POD_REFUSED;
    put_pod(c, p, d->at);
    p->version = ++c->version;
    switch ((enum pod_state)p->state) {
    case POD_NEW:
        p->state = p->template == refused ? POD_REFUSED : POD_BOUND;
        more.at = d->at + 20 * MS;
        break;
    case POD_REFUSED:
        p->state = POD_BOUND;
        more.at = d->at + SECOND;
        break;
    case POD_BOUND:
        p->state = POD_READY;
        more.at = d->at + 1500 * MS;
        break;
    case POD_READY:
        if (p->template != job && p->template != refused)
            return;
        p->state = POD_ENDED;
        more.at = d->at + 30 * SECOND;
        break;
    default:
        p->state = POD_FREE;
        c->free_slots[c->free_count++] = d->index;
        return;
    }
    at(c, more);
}

static void reply(struct rest_cluster *c, const struct due *d, struct rest_event *out)
{
    ADD("{\"metadata\":{\"resourceVersion\":\"%u\"}}", d->index);
    out->kind = KIND_NONE;
    out->done = d->done;
    out->user = d->user;
}

void rest_take(struct rest_cluster *c, struct rest_event *out)
{
    struct due d = next(c);
    *out = (struct rest_event){.at = d.at, .what = WATCH_PUT};
    buf_clear(&c->out);
    switch (d.what) {
    case HEARTBEAT:
        c->node_versions[d.index] = ++c->version;
        put_node(c, d.index, d.at);
        out->kind = KIND_NODE;
        at(c, (struct due){.at = d.at + c->load.heartbeat_s * SECOND, .what = HEARTBEAT, .index = d.index});
        break;
    case LABEL:
        c->node_versions[d.index] = ++c->version;
        c->node_labels[d.index]++;
        put_node(c, d.index, d.at);
        out->kind = KIND_NODE;
        at(c, (struct due){.at = d.at + 60 * SECOND / c->load.labelled_per_min, .what = LABEL,
                           .index = (d.index + 1009) % c->load.nodes});
        break;
    case POD_STEP:
        pod_step(c, &d, out);
        break;
    case JOB_COMES:
        job_comes(c, d.at);
        rest_take(c, out);
        return;
    case ROLL_NEXT:
        roll_next(c, d.at);
        out->kind = KIND_POD; /* the old one is told to end */
        put_pod(c, &c->pods[c->roll], d.at);
        break;
    case CLAIM_TOLD:
        put_claim(c, d.index);
        out->kind = KIND_NODE_CLAIM;
        break;
    case POOL_TOLD:
        put_pool(c, 0);
        out->kind = KIND_NODE_POOL;
        break;
    default:
        reply(c, &d, out);
        break;
    }
    out->json = buf_span(&c->out);
}

/* --- writes --- */

static int64_t claim_number(struct rest_cluster *c, struct span name)
{
    char text[64];
    size_t dash = name.len;
    while (dash > 0 && name.ptr[dash - 1] != '-')
        dash--;
    int64_t number = -1;
    if (!span_int64((struct span){name.ptr + dash, name.len - dash}, &number) || number >= c->load.nodes)
        return -1;
    name_node((uint32_t)number, text);
    return span_eq(span_of(text), name) ? number : -1;
}

/* Its status as an object of its own, from now on. */
static json_t *own_status(struct rest_cluster *c, uint32_t node)
{
    struct rest_claim *x = &c->claims[node];
    if (x->status == NULL) {
        buf_clear(&c->out);
        put_claim(c, node);
        json_t *whole = tree_parse(buf_span(&c->out));
        x->status = json_incref(tree_get(whole, "status"));
        json_decref(whole);
    }
    return x->status;
}

static bool merge(struct rest_cluster *c, int64_t when, const struct api_request *r)
{
    json_t *patch = tree_parse(r->body);
    int64_t node = r->kind == KIND_NODE_CLAIM ? claim_number(c, r->name) : -1;
    bool known = true;
    if (node >= 0 && tree_get(patch, "status") != NULL) {
        tree_merge(own_status(c, (uint32_t)node), tree_get(patch, "status"));
        c->claims[node].version = c->version;
        at(c, (struct due){.at = when, .what = CLAIM_TOLD, .index = (uint32_t)node});
    } else if (r->kind == KIND_NODE_POOL) {
        char version[16];
        tree_merge(c->pool, patch);
        snprintf(version, sizeof(version), "%u", c->version);
        tree_set(c->pool, "metadata.resourceVersion", json_string(version));
        at(c, (struct due){.at = when, .what = POOL_TOLD});
    } else {
        known = false;
    }
    json_decref(patch);
    return known;
}

uint64_t rest_write(struct rest_cluster *c, int64_t when, const struct api_request *r, api_done *done, void *user)
{
    c->writes++;
    c->version++;
    if (r->verb == API_MERGE && !merge(c, when + TOLD_NS, r) && getenv("REST_VERBOSE") != NULL)
        fprintf(stderr, "a write nobody models: %s %.*s %.*s\n", kind_info(r->kind)->name, SPAN_ARG(r->name),
                SPAN_ARG(r->body));
    else if (r->verb != API_MERGE && getenv("REST_VERBOSE") != NULL)
        fprintf(stderr, "verb %d of %s %.*s %.*s\n", r->verb, kind_info(r->kind)->name, SPAN_ARG(r->name),
                SPAN_ARG(r->body));
    at(c, (struct due){.at = when + REPLY_NS, .what = REPLY, .index = c->version, .done = done, .user = user});
    return c->writes;
}

uint32_t rest_writes(const struct rest_cluster *c)
{
    return c->writes;
}

/* --- beginning and end --- */

static void settle(struct rest_cluster *c)
{
    uint32_t nodes = c->load.nodes;
    for (uint32_t d = 0; d < DAEMONS; d++)
        for (uint32_t n = 0; n < nodes; n++)
            add_pod(c, d, n, 0, POD_READY);
    for (uint32_t i = DAEMONS * nodes; i < c->load.pods; i++)
        add_pod(c, DAEMONS + (i - DAEMONS * nodes) / APP_PODS, i, 0, POD_READY);
    c->roll = DAEMONS * nodes;
}

struct rest_cluster *rest_new(const struct rest_load *load, int64_t wall)
{
    struct rest_cluster *c = mem_new(sizeof(*c));
    c->load = *load;
    c->wall = wall;
    c->version = 1;
    c->apps = DAEMONS + (load->pods - DAEMONS * load->nodes) / APP_PODS;
    c->pod_room = load->pods + load->pods / 8 + 4096;
    c->pods = mem_array(c->pod_room, sizeof(*c->pods));
    c->free_slots = mem_array(c->pod_room, sizeof(*c->free_slots));
    c->node_versions = mem_array(load->nodes, sizeof(*c->node_versions));
    c->node_labels = mem_array(load->nodes, sizeof(*c->node_labels));
    c->claims = mem_array(load->nodes, sizeof(*c->claims));
    c->pool = pool_new();
    c->images = mem_array(IMAGES, sizeof(*c->images));
    for (uint32_t i = 0; i < IMAGES; i++)
        snprintf(c->images[i], sizeof(*c->images),
                 "{\"names\":[\"registry.example.com/team/image-%u@sha256:4f6a9d5b4f6a9d5b4f6a9d5b4f6a9d5b4f6a9d5b"
                 "4f6a9d5b4f6a9d5b4f6a9d5b\",\"registry.example.com/team/image-%u:v1\"],\"sizeBytes\":%u}",
                 i, i, 10000000 + i);
    settle(c);
    for (uint32_t n = 0; n < load->nodes; n++) {
        c->node_versions[n] = c->claims[n].version = 1;
        at(c, (struct due){.at = n * (load->heartbeat_s * SECOND / load->nodes), .what = HEARTBEAT, .index = n});
    }
    if (load->changes_per_s != 0)
        at(c, (struct due){.what = JOB_COMES});
    if (load->labelled_per_min != 0)
        at(c, (struct due){.what = LABEL});
    if (load->rollout_per_min != 0)
        at(c, (struct due){.what = ROLL_NEXT});
    return c;
}

void rest_free(struct rest_cluster *c)
{
    for (uint32_t n = 0; n < c->load.nodes; n++)
        json_decref(c->claims[n].status);
    json_decref(c->pool);
    buf_release(&c->out);
    free(c->pods);
    free(c->free_slots);
    free(c->node_versions);
    free(c->node_labels);
    free(c->claims);
    free(c->images);
    free(c->heap);
    free(c);
}
