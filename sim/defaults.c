/* What the API server adds to an object that leaves a field out. */
#include "sim/registry.h"

static void fill(json_t *object, const char *path, json_t *value)
{
    if (tree_get(object, path) == NULL)
        tree_set(object, path, value);
    else
        json_decref(value);
}

static void fill_string(json_t *object, const char *path, const char *value)
{
    fill(object, path, json_string(value));
}

/* ---- Pods ---- */

static void fill_requests(const json_t *containers)
{
    size_t i;
    json_t *c, *value;
    const char *key;
    json_array_foreach(containers, i, c) {
        json_object_foreach(tree_get(c, "resources.limits"), key, value) {
            fill(c, "resources.requests", json_object());
            json_t *requests = tree_get(c, "resources.requests");
            if (json_object_get(requests, key) == NULL)
                json_object_set(requests, key, value);
        }
    }
}

static int64_t priority_of(struct span class_name)
{
    if (span_eq(class_name, SPAN("system-node-critical")))
        return 2000001000;
    return span_eq(class_name, SPAN("system-cluster-critical")) ? 2000000000 : 0;
}

static void fill_pod(json_t *pod)
{
    fill(pod, "spec", json_object());
    fill_string(pod, "spec.restartPolicy", "Always");
    fill_string(pod, "spec.dnsPolicy", "ClusterFirst");
    fill_string(pod, "spec.schedulerName", "default-scheduler");
    fill(pod, "spec.terminationGracePeriodSeconds", json_integer(30));
    fill(pod, "spec.priority",
         json_integer(priority_of(tree_string(pod, "spec.priorityClassName"))));
    fill_requests(tree_get(pod, "spec.containers"));
    fill_requests(tree_get(pod, "spec.initContainers"));
}

static bool tolerates(const json_t *list, const char *key)
{
    size_t i;
    json_t *t;
    json_array_foreach(list, i, t) {
        struct span effect = tree_string(t, "effect"), k = tree_string(t, "key");
        if ((effect.len == 0 || span_eq(effect, SPAN("NoExecute"))) &&
            (k.len == 0 || span_eq(k, span_of(key))))
            return true;
    }
    return false;
}

/* Admission plugin DefaultTolerationSeconds. */
static void add_tolerations(json_t *pod)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready",
                                       "node.kubernetes.io/unreachable"};
    fill(pod, "spec.tolerations", json_array());
    json_t *list = tree_get(pod, "spec.tolerations");
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (!tolerates(list, keys[i]))
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "key", keys[i], "operator",
                                                  "Exists", "effect", "NoExecute",
                                                  "tolerationSeconds", 300));
    }
}

/* ---- Nodes ---- */

/* Admission plugin TaintNodesByCondition. */
static void taint_not_ready(json_t *node)
{
    fill(node, "spec.taints", json_array());
    json_t *list = tree_get(node, "spec.taints");
    size_t i;
    json_t *t;
    json_array_foreach(list, i, t) {
        if (tree_is(t, "key", "node.kubernetes.io/not-ready") && tree_is(t, "effect", "NoSchedule"))
            return;
    }
    json_array_append_new(list, json_pack("{s:s, s:s}", "key", "node.kubernetes.io/not-ready",
                                          "effect", "NoSchedule"));
}

/* ---- karpenter.sh ---- */

static void fill_pool(json_t *pool)
{
    size_t i;
    json_t *budget;
    if (tree_get(pool, "status") != NULL)
        fill(pool, "status.nodes", json_integer(0));
    if (tree_get(pool, "spec") == NULL)
        return;
    fill_string(pool, "spec.disruption.consolidateAfter", "0s");
    fill_string(pool, "spec.disruption.consolidationPolicy", "WhenEmptyOrUnderutilized");
    fill(pool, "spec.disruption.budgets", json_pack("[{s:s}]", "nodes", "10%"));
    json_array_foreach(tree_get(pool, "spec.disruption.budgets"), i, budget) {
        fill_string(budget, "nodes", "10%");
    }
    if (tree_get(pool, "spec.template.spec") != NULL)
        fill_string(pool, "spec.template.spec.expireAfter", "720h");
}

void defaults_fill(enum kind k, json_t *object)
{
    switch (k) {
    case KIND_POD:
        fill_pod(object);
        break;
    case KIND_NODE_POOL:
        fill_pool(object);
        break;
    case KIND_NODE_CLAIM:
        if (tree_get(object, "spec") != NULL)
            fill_string(object, "spec.expireAfter", "720h");
        break;
    case KIND_KWOK_NODE_CLASS:
        fill(object, "status",
             json_pack("{s:[{s:s, s:s, s:s, s:s, s:s}]}", "conditions", "type", "Ready", "status",
                       "True", "reason", "Ready", "message", "", "lastTransitionTime",
                       "2024-01-01T01:01:01Z"));
        break;
    case KIND_STORAGE_CLASS:
        fill_string(object, "volumeBindingMode", "Immediate");
        break;
    case KIND_DEPLOYMENT:
    case KIND_REPLICA_SET:
    case KIND_STATEFUL_SET:
    case KIND_REPLICATION_CONTROLLER:
        fill(object, "spec.replicas", json_integer(1));
        break;
    default:
        break;
    }
}

void defaults_create(enum kind k, json_t *object)
{
    if (k == KIND_POD) {
        tree_set(object, "status.phase", json_string("Pending"));
        add_tolerations(object);
    } else if (k == KIND_NODE) {
        taint_not_ready(object);
    } else if (k == KIND_NAMESPACE) {
        tree_set(object, "status.phase", json_string("Active"));
    } else if (k == KIND_VOLUME_CLAIM || k == KIND_VOLUME) {
        tree_set(object, "status.phase", json_string("Pending"));
    }
}
