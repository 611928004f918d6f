/* Pools, nodes and what volumes need. */
#include "shorthand.h"
#include "sim/tree.h"

json_t *taints_of_texts(const json_t *list)
{
    json_t *out = json_array(), *v;
    size_t i;
    json_array_foreach(list, i, v) {
        struct span effect, value, key = span_cut(span_of(text_of(v)), ':', &effect);
        key = span_cut(key, '=', &value);
        json_t *taint =
            json_pack("{s:s, s:s}", "key", arena_cstr(json_arena(), key), "effect", effect.ptr);
        if (value.ptr != NULL)
            json_object_set_new(taint, "value", json_string(arena_cstr(json_arena(), value)));
        json_array_append(out, taint);
    }
    return out;
}

/* --- pools --- */

static void pool_name(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "metadata"), "name", v);
}

static void pool_weight(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec"), "weight", v);
}

static void pool_limits(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec"), "limits", v);
}

static void pool_labels(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec.template.metadata"), "labels", full_keys(v));
}

static void pool_annotations(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec.template.metadata"), "annotations", v);
}

static void pool_taints(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec.template.spec"), "taints", taints_of_texts(v));
}

static void pool_startup_taints(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec.template.spec"), "startupTaints", taints_of_texts(v));
}

static void pool_requirements(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec.template.spec"), "requirements", requirements_of_texts(v));
}

static void merge_metadata(json_t *o, json_t *v)
{
    tree_merge(object_at(o, "metadata"), v);
}

static void merge_spec(json_t *o, json_t *v)
{
    tree_merge(object_at(o, "spec"), v);
}

static void merge_status(json_t *o, json_t *v)
{
    tree_merge(object_at(o, "status"), v);
}

static const struct short_key pool_keys[] = {
    {"name", pool_name},
    {"weight", pool_weight},
    {"limits", pool_limits},
    {"labels", pool_labels},
    {"annotations", pool_annotations},
    {"taints", pool_taints},
    {"startup-taints", pool_startup_taints},
    {"requirements", pool_requirements},
    {"metadata", merge_metadata},
    {"spec", merge_spec},
    {"status", merge_status},
};

json_t *pool_of_short(const json_t *short_form)
{
    json_t *pool =
        json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:{s:{s:s, s:s, s:s}, s:[]}}}}", "apiVersion",
                  "karpenter.sh/v1", "kind", "NodePool", "metadata", "name", "default", "spec",
                  "template", "spec", "nodeClassRef", "group", "karpenter.kwok.sh", "kind",
                  "KWOKNodeClass", "name", "default", "requirements");
    short_keys_apply("pool", pool_keys, COUNT_OF(pool_keys), short_form, pool);
    return pool;
}

/* --- nodes --- */

static const struct short_key node_keys[] = {
    {"name", NULL},  {"pool", NULL},          {"type", NULL},   {"zone", NULL},
    {"stage", NULL}, {"capacity-type", NULL}, {"labels", NULL}, {"taints", NULL},
    {"room", NULL},  {"node", NULL},          {"claim", NULL},  {"startup-taints", NULL},
};

/* What the type, the zone and the capacity type say, then what the scenario says itself. */
static json_t *node_labels(const json_t *s, const json_t *type, const char *name)
{
    json_t *labels = json_object(), *r;
    size_t i;
    json_array_foreach(json_object_get(type, "requirements"), i, r) {
        const char *key = text_at(r, "key");
        const json_t *values = json_object_get(r, "values");
        if (strcmp(text_at(r, "operator"), "In") == 0 && strcmp(key, full_key("zone")) != 0 &&
            strcmp(key, full_key("capacity-type")) != 0)
            json_object_set(labels, key, json_array_get(values, 0));
    }
    json_object_set_new(labels, full_key("hostname"), json_string(name));
    if (text_at(s, "zone") != NULL)
        json_object_set(labels, full_key("zone"), json_object_get(s, "zone"));
    if (text_at(s, "capacity-type") != NULL)
        json_object_set(labels, full_key("capacity-type"), json_object_get(s, "capacity-type"));
    if (text_at(s, "pool") != NULL)
        json_object_set(labels, full_key("nodepool"), json_object_get(s, "pool"));
    if (json_object_get(s, "labels") != NULL)
        tree_merge(labels, full_keys(json_object_get(s, "labels")));
    return labels;
}

static json_t *node_claim(const json_t *s, const char *name, const char *stage, json_t *labels,
                          json_t *room)
{
    bool machine = strcmp(stage, "requested") != 0;
    json_t *claim =
        json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:{s:s, s:s, s:s}, s:o, s:o, s:[]}, s:{}}",
                  "apiVersion", "karpenter.sh/v1", "kind", "NodeClaim", "metadata", "name", name,
                  "labels", json_deep_copy(labels), "spec", "nodeClassRef", "group",
                  "karpenter.kwok.sh", "kind", "KWOKNodeClass", "name", "default", "taints",
                  taints_of_texts(json_object_get(s, "taints")), "startupTaints",
                  taints_of_texts(json_object_get(s, "startup-taints")), "requirements", "status");
    if (machine)
        json_object_set_new(claim, "status",
                            json_pack("{s:o, s:o, s:o, s:[{s:s, s:s, s:s, s:s}]}", "providerID",
                                      json_sprintf("fake://%s", name), "capacity",
                                      json_deep_copy(room), "allocatable", json_deep_copy(room),
                                      "conditions", "type", "Launched", "status", "True", "reason",
                                      "Launched", "lastTransitionTime", "2026-01-01T00:00:00Z"));
    if (strcmp(stage, "launching") != 0 && machine)
        json_object_set_new(json_object_get(claim, "status"), "nodeName", json_string(name));
    if (json_object_get(s, "claim") != NULL)
        tree_merge(claim, json_object_get(s, "claim"));
    return claim;
}

static json_t *node_object(const json_t *s, const char *name, const char *stage, json_t *labels,
                           json_t *room)
{
    labels = json_deep_copy(labels);
    if (strcmp(stage, "registered") == 0 || strcmp(stage, "initialized") == 0)
        json_object_set_new(labels, "karpenter.sh/registered", json_string("true"));
    if (strcmp(stage, "initialized") == 0)
        json_object_set_new(labels, "karpenter.sh/initialized", json_string("true"));
    json_t *node =
        json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:o, s:o}, s:{s:O, s:O, s:[{s:s, s:s}]}}",
                  "apiVersion", "v1", "kind", "Node", "metadata", "name", name, "labels", labels,
                  "spec", "providerID", json_sprintf("fake://%s", name), "taints",
                  taints_of_texts(json_object_get(s, "taints")), "status", "capacity", room,
                  "allocatable", room, "conditions", "type", "Ready", "status", "True");
    if (json_object_get(s, "node") != NULL)
        tree_merge(node, json_object_get(s, "node"));
    return node;
}

json_t *node_of_short(const json_t *s, const json_t *catalogue)
{
    short_keys_apply("node", node_keys, COUNT_OF(node_keys), s, NULL);
    const char *name = text_at(s, "name"), *stage = text_at(s, "stage");
    const char *type_name = text_at(s, "type");
    if (stage == NULL)
        stage = text_at(s, "pool") != NULL ? "initialized" : "unmanaged";
    json_t *type = type_name != NULL ? catalogue_find(catalogue, type_name) : NULL;
    if (type_name != NULL && type == NULL)
        mistake("node %s: no type %s", name, type_name);
    json_t *room = type != NULL ? type_allocatable(type, NULL) : json_object();
    if (json_object_get(s, "room") != NULL)
        tree_merge(room, json_object_get(s, "room"));
    json_t *labels = node_labels(s, type, name), *out = json_array();
    if (strcmp(stage, "launching") != 0 && strcmp(stage, "requested") != 0)
        json_array_append(out, node_object(s, name, stage, labels, room));
    if (strcmp(stage, "unmanaged") != 0)
        json_array_append(out, node_claim(s, name, stage, labels, room));
    return out;
}

/* --- volumes --- */

static const struct short_key pvc_keys[] = {
    {"name", NULL},
    {"class", NULL},
    {"volume", NULL},
    {"bound", NULL},
    {"metadata", merge_metadata},
    {"spec", merge_spec},
    {"status", merge_status},
};

json_t *pvc_of_short(const json_t *s)
{
    bool bound = text_at(s, "volume") != NULL && !json_is_false(json_object_get(s, "bound"));
    json_t *o =
        json_pack("{s:s, s:s, s:{s:O, s:s}, s:{s:[s], s:{s:{s:s}}}, s:{s:s}}", "apiVersion", "v1",
                  "kind", "PersistentVolumeClaim", "metadata", "name", json_object_get(s, "name"),
                  "namespace", "default", "spec", "accessModes", "ReadWriteOnce", "resources",
                  "requests", "storage", "1Gi", "status", "phase", bound ? "Bound" : "Pending");
    if (json_object_get(s, "class") != NULL)
        json_object_set(object_at(o, "spec"), "storageClassName", json_object_get(s, "class"));
    if (json_object_get(s, "volume") != NULL)
        json_object_set(object_at(o, "spec"), "volumeName", json_object_get(s, "volume"));
    if (bound)
        json_object_set_new(object_at(o, "metadata"), "annotations",
                            json_pack("{s:s}", "pv.kubernetes.io/bind-completed", "yes"));
    short_keys_apply("pvc", pvc_keys, COUNT_OF(pvc_keys), s, o);
    return o;
}

static const struct short_key pv_keys[] = {
    {"name", NULL},       {"driver", NULL}, {"terms", NULL}, {"metadata", merge_metadata},
    {"spec", merge_spec},
};

json_t *pv_of_short(const json_t *s)
{
    json_t *o = json_pack("{s:s, s:s, s:{s:O}, s:{s:{s:s}, s:[s]}}", "apiVersion", "v1", "kind",
                          "PersistentVolume", "metadata", "name", json_object_get(s, "name"),
                          "spec", "capacity", "storage", "1Gi", "accessModes", "ReadWriteOnce");
    size_t i;
    json_t *term;
    if (text_at(s, "driver") != NULL)
        json_object_set_new(object_at(o, "spec"), "csi",
                            json_pack("{s:O, s:O}", "driver", json_object_get(s, "driver"),
                                      "volumeHandle", json_object_get(s, "name")));
    json_array_foreach(json_object_get(s, "terms"), i, term)
        json_array_append_new(array_at(o, "spec.nodeAffinity.required.nodeSelectorTerms"),
                              json_pack("{s:o}", "matchExpressions", requirements_of_texts(term)));
    short_keys_apply("pv", pv_keys, COUNT_OF(pv_keys), s, o);
    return o;
}

static const struct short_key class_keys[] = {
    {"name", NULL},
    {"driver", NULL},
    {"mode", NULL},
    {"terms", NULL},
};

json_t *class_of_short(const json_t *s)
{
    const char *driver = text_at(s, "driver"), *mode = text_at(s, "mode");
    json_t *o = json_pack("{s:s, s:s, s:{s:O}, s:s, s:s}", "apiVersion", "storage.k8s.io/v1",
                          "kind", "StorageClass", "metadata", "name", json_object_get(s, "name"),
                          "provisioner", driver != NULL ? driver : "csi.example.com",
                          "volumeBindingMode", mode != NULL ? mode : "WaitForFirstConsumer");
    size_t i, k;
    json_t *term, *r;
    json_array_foreach(json_object_get(s, "terms"), i, term) {
        json_t *list = json_array();
        json_array_foreach(requirements_of_texts(term), k, r)
            json_array_append_new(list, json_pack("{s:O, s:O}", "key", json_object_get(r, "key"),
                                                  "values", json_object_get(r, "values")));
        json_array_append_new(array_at(o, "allowedTopologies"),
                              json_pack("{s:o}", "matchLabelExpressions", list));
    }
    short_keys_apply("class", class_keys, COUNT_OF(class_keys), s, o);
    return o;
}

static const struct short_key csi_keys[] = {{"name", NULL}, {"drivers", NULL}};

/* drivers: {csi.example.com: 5}; null is a driver that publishes no count. */
json_t *csi_node_of_short(const json_t *s)
{
    json_t *list = json_array(), *count;
    const char *driver;
    json_object_foreach(json_object_get(s, "drivers"), driver, count) {
        json_t *one = json_pack("{s:s, s:O}", "name", driver, "nodeID", json_object_get(s, "name"));
        if (!json_is_null(count))
            json_object_set_new(one, "allocatable", json_pack("{s:O}", "count", count));
        json_array_append(list, one);
    }
    short_keys_apply("csi node", csi_keys, COUNT_OF(csi_keys), s, NULL);
    return json_pack("{s:s, s:s, s:{s:O}, s:{s:o}}", "apiVersion", "storage.k8s.io/v1", "kind",
                     "CSINode", "metadata", "name", json_object_get(s, "name"), "spec", "drivers",
                     list);
}
