/* Pods, and DaemonSets, which are pods with a template around them. */
#include "shorthand.h"
#include "sim/tree.h"

void short_keys_apply(const char *form, const struct short_key *keys, size_t count,
                      const json_t *short_form, json_t *object)
{
    const char *key;
    json_t *value;
    if (!json_is_object(short_form))
        mistake("a %s is not an object", form);
    json_object_foreach((json_t *)short_form, key, value) {
        size_t i = 0;
        while (i < count && strcmp(keys[i].key, key) != 0)
            i++;
        if (i == count)
            mistake("a %s has no key \"%s\"", form, key);
    }
    for (size_t i = 0; i < count; i++) {
        value = json_object_get(short_form, keys[i].key);
        if (value != NULL && keys[i].apply != NULL)
            keys[i].apply(object, value);
    }
}

/* --- replicas --- */

static json_t *numbered(const json_t *v, const char *number)
{
    size_t i;
    json_t *item, *out;
    const char *key;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        out = json_object();
        json_object_foreach((json_t *)v, key, item)
            json_object_set(out, key, numbered(item, number));
        return out;
    case JSON_ARRAY:
        out = json_array();
        json_array_foreach(v, i, item)
            json_array_append(out, numbered(item, number));
        return out;
    case JSON_STRING: {
        const char *text = json_string_value(v), *at = strstr(text, "$i");
        if (at == NULL)
            return json_deep_copy(v);
        return numbered(json_sprintf("%.*s%s%s", (int)(at - text), text, number, at + 2), number);
    }
    default:
        return json_deep_copy(v);
    }
}

/* 3, or "1..9 word": a number between them that nobody chose, the same in every run. */
static json_int_t replica_count(const char *name, const json_t *count)
{
    long long from, to;
    if (json_is_integer(count))
        return json_integer_value(count);
    if (sscanf(text_of(count), "%lld..%lld", &from, &to) != 2 || from > to)
        mistake("%s: replicas are a number, or \"1..9 word\"", name);
    uint64_t hash = span_hash(span_of(format_text("%s %s", name, text_of(count))));
    return (json_int_t)(from + (long long)(hash % (uint64_t)(to - from + 1)));
}

json_t *replicas_of(const json_t *entry)
{
    json_t *out = json_array(), *count = json_object_get(entry, "replicas");
    if (count == NULL) {
        json_array_append(out, json_deep_copy(entry));
        return out;
    }
    json_t *plain = json_copy((json_t *)entry);
    json_object_del(plain, "replicas");
    const char *name = text_at(plain, "name");
    if (name != NULL)
        json_object_set_new(plain, "name", json_sprintf("%s-$i", name));
    json_int_t most = replica_count(name != NULL ? name : "", count);
    for (json_int_t i = 1; i <= most; i++)
        json_array_append(out, numbered(plain, format_text("%lld", (long long)i)));
    return out;
}

/* --- the pod's keys --- */

static json_t *container(json_t *pod)
{
    return json_array_get(json_object_get(json_object_get(pod, "spec"), "containers"), 0);
}

static void put_name(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "metadata"), "name", v);
}

static void put_namespace(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "metadata"), "namespace", v);
}

static void put_labels(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "metadata"), "labels", full_keys(v));
}

static void put_annotations(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "metadata"), "annotations", v);
}

static void put_requests(json_t *o, json_t *v)
{
    json_object_set(object_at(container(o), "resources"), "requests", v);
}

static void put_limits(json_t *o, json_t *v)
{
    json_object_set(object_at(container(o), "resources"), "limits", v);
}

/* 8080, or a port as Kubernetes writes it. */
static void put_ports(json_t *o, json_t *v)
{
    size_t i;
    json_t *p;
    json_array_foreach(v, i, p) {
        json_t *port = json_is_object(p) ? json_deep_copy(p) : json_pack("{s:O}", "hostPort", p);
        json_object_set(port, "containerPort", json_object_get(port, "hostPort"));
        if (json_object_get(port, "protocol") == NULL)
            json_object_set_new(port, "protocol", json_string("TCP"));
        json_array_append(array_at(container(o), "ports"), port);
    }
}

static void put_select(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec"), "nodeSelector", full_keys(v));
}

static void add_needs_term(json_t *o, const json_t *texts)
{
    json_t *terms = array_at(o, "spec.affinity.nodeAffinity."
                                "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    json_array_append_new(terms,
                          json_pack("{s:o}", "matchExpressions", requirements_of_texts(texts)));
}

static void put_needs(json_t *o, json_t *v)
{
    add_needs_term(o, v);
}

static void put_needs_any(json_t *o, json_t *v)
{
    size_t i;
    json_t *term;
    json_array_foreach(v, i, term)
        add_needs_term(o, term);
}

/* "100 zone In z1": weight first. */
static void put_prefers(json_t *o, json_t *v)
{
    size_t i;
    json_t *text;
    json_t *list =
        array_at(o, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution");
    json_array_foreach(v, i, text) {
        struct span rest;
        int64_t weight;
        if (!span_int64(span_cut(span_of(text_of(text)), ' ', &rest), &weight))
            mistake("\"%s\" does not start with a weight", text_of(text));
        json_array_append_new(list, json_pack("{s:I, s:{s:[o]}}", "weight", (json_int_t)weight,
                                              "preference", "matchExpressions",
                                              requirement_of_text(rest.ptr)));
    }
}

json_t *selector_of_labels(const json_t *labels)
{
    if (json_object_get(labels, "matchLabels") != NULL ||
        json_object_get(labels, "matchExpressions") != NULL)
        return json_deep_copy(labels);
    return json_pack("{s:o}", "matchLabels", full_keys(labels));
}

/* {over: zone, to: {app: x}, …}: to defaults to the pod's own labels, null is no selector; the rest
 * stands as Kubernetes has it. */
static json_t *term_over(json_t *pod, const json_t *short_term)
{
    json_t *term = json_deep_copy(short_term), *to = json_object_get(short_term, "to");
    const char *over = text_at(short_term, "over");
    if (over == NULL)
        mistake("a topology term says over which label: {over: zone}");
    json_object_set_new(term, "topologyKey", json_string(full_key(over)));
    json_object_del(term, "over");
    json_object_del(term, "to");
    if (to == NULL)
        to = json_object_get(json_object_get(pod, "metadata"), "labels");
    if (to != NULL && !json_is_null(to))
        json_object_set(term, "labelSelector", selector_of_labels(to));
    return term;
}

static void put_spread(json_t *o, json_t *v)
{
    size_t i;
    json_t *s;
    json_array_foreach(v, i, s) {
        json_t *term = term_over(o, s), *skew = json_object_get(s, "skew");
        json_object_set_new(term, "maxSkew", skew != NULL ? skew : json_integer(1));
        json_object_set_new(term, "whenUnsatisfiable",
                            json_string(json_is_true(json_object_get(s, "anyway"))
                                            ? "ScheduleAnyway"
                                            : "DoNotSchedule"));
        json_object_del(term, "skew");
        json_object_del(term, "anyway");
        json_array_append(array_at(o, "spec.topologySpreadConstraints"), term);
    }
}

static void put_terms(json_t *o, json_t *v, const char *kind, bool preferred)
{
    size_t i;
    json_t *s;
    const char *when = preferred ? "preferred" : "required";
    json_t *list = array_at(
        o, format_text("spec.affinity.%s.%sDuringSchedulingIgnoredDuringExecution", kind, when));
    json_array_foreach(v, i, s) {
        json_t *term = term_over(o, s), *weight = json_object_get(s, "weight");
        json_object_del(term, "weight");
        json_array_append(list, !preferred ? term
                                           : json_pack("{s:o, s:o}", "weight",
                                                       weight != NULL ? weight : json_integer(1),
                                                       "podAffinityTerm", term));
    }
}

static void put_near(json_t *o, json_t *v)
{
    put_terms(o, v, "podAffinity", false);
}

static void put_apart(json_t *o, json_t *v)
{
    put_terms(o, v, "podAntiAffinity", false);
}

static void put_prefers_near(json_t *o, json_t *v)
{
    put_terms(o, v, "podAffinity", true);
}

static void put_prefers_apart(json_t *o, json_t *v)
{
    put_terms(o, v, "podAntiAffinity", true);
}

/* all, or "key=value:Effect" each; a toleration may also be written as Kubernetes has it. */
static void put_tolerates(json_t *o, json_t *v)
{
    size_t i;
    json_t *t;
    json_t *list = array_at(o, "spec.tolerations");
    if (json_is_string(v)) {
        json_array_append_new(list, json_pack("{s:s}", "operator", "Exists"));
        return;
    }
    json_array_foreach(v, i, t) {
        json_t *one =
            json_is_object(t) ? t : json_array_get(taints_of_texts(json_pack("[O]", t)), 0);
        json_array_append(list, one);
    }
}

/* Names of persistent volume claims. */
static void put_claims(json_t *o, json_t *v)
{
    size_t i;
    json_t *name;
    json_array_foreach(v, i, name)
        json_array_append_new(array_at(o, "spec.volumes"),
                              json_pack("{s:o, s:{s:O}}", "name", json_sprintf("claim-%zu", i),
                                        "persistentVolumeClaim", "claimName", name));
}

/* Names of volumes with a claim of the pod's own: <pod>-<name>. */
static void put_ephemeral(json_t *o, json_t *v)
{
    size_t i;
    json_t *name;
    json_array_foreach(v, i, name)
        json_array_append_new(array_at(o, "spec.volumes"),
                              json_pack("{s:O, s:{s:{s:{s:[s], s:{s:{s:s}}}}}}", "name", name,
                                        "ephemeral", "volumeClaimTemplate", "spec", "accessModes",
                                        "ReadWriteOnce", "resources", "requests", "storage",
                                        "1Gi"));
}

static void put_on(json_t *o, json_t *v)
{
    json_object_set(object_at(o, "spec"), "nodeName", v);
    json_object_set_new(o, "status", json_pack("{s:s}", "phase", "Running"));
}

/* "ReplicaSet/rs": the controlling owner. */
static void put_owner(json_t *o, json_t *v)
{
    struct span name, kind = span_cut(span_of(text_of(v)), '/', &name);
    const char *k = arena_cstr(json_arena(), kind);
    const char *version = strcmp(k, "Job") == 0 ? "batch/v1"
                          : strcmp(k, "Node") == 0 || strcmp(k, "ReplicationController") == 0
                              ? "v1"
                              : "apps/v1";
    json_array_append_new(array_at(o, "metadata.ownerReferences"),
                          json_pack("{s:s, s:s, s:s, s:o, s:b}", "apiVersion", version, "kind", k,
                                    "name", name.ptr, "uid", json_sprintf("uid-%s", name.ptr),
                                    "controller", 1));
}

/* {requests, always: true for a sidecar} each, before the main container. */
static void put_init(json_t *o, json_t *v)
{
    size_t i;
    json_t *c;
    json_array_foreach(v, i, c) {
        json_t *one = json_deep_copy(c);
        json_object_set_new(one, "name", json_sprintf("init-%zu", i));
        json_object_set_new(one, "image", json_string("x"));
        json_object_set_new(one, "resources", json_object());
        tree_merge(one,
                   json_pack("{s:{s:o}}", "resources", "requests",
                             json_object_get(c, "requests") != NULL ? json_object_get(c, "requests")
                                                                    : json_object()));
        if (json_object_get(c, "limits") != NULL)
            json_object_set(json_object_get(one, "resources"), "limits",
                            json_object_get(c, "limits"));
        if (json_is_true(json_object_get(c, "always")))
            json_object_set_new(one, "restartPolicy", json_string("Always"));
        json_object_del(one, "requests");
        json_object_del(one, "limits");
        json_object_del(one, "always");
        json_array_append(array_at(o, "spec.initContainers"), one);
    }
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

/* In the order in which they are written: labels before the terms that default to them, whatever
 * Kubernetes' own last. */
static const struct short_key pod_keys[] = {
    {"name", put_name},
    {"namespace", put_namespace},
    {"labels", put_labels},
    {"annotations", put_annotations},
    {"owner", put_owner},
    {"requests", put_requests},
    {"limits", put_limits},
    {"ports", put_ports},
    {"init", put_init},
    {"select", put_select},
    {"needs", put_needs},
    {"needs-any", put_needs_any},
    {"prefers", put_prefers},
    {"spread", put_spread},
    {"near", put_near},
    {"apart", put_apart},
    {"prefers-near", put_prefers_near},
    {"prefers-apart", put_prefers_apart},
    {"tolerates", put_tolerates},
    {"claims", put_claims},
    {"ephemeral", put_ephemeral},
    {"on", put_on},
    {"metadata", merge_metadata},
    {"spec", merge_spec},
    {"status", merge_status},
};

json_t *pod_of_short(const json_t *short_form)
{
    json_t *pod = json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s}]}, s:{s:s, s:[{s:s, s:s, s:s}]}}",
                            "apiVersion", "v1", "kind", "Pod", "metadata", "namespace", "default",
                            "spec", "containers", "name", "c", "image", "x", "status", "phase",
                            "Pending", "conditions", "type", "PodScheduled", "status", "False",
                            "reason", "Unschedulable");
    short_keys_apply("pod", pod_keys, COUNT_OF(pod_keys), short_form, pod);
    return pod;
}

json_t *daemon_of_short(const json_t *short_form)
{
    json_t *pod = pod_of_short(short_form), *name = json_object_get(short_form, "name");
    json_object_del(json_object_get(pod, "metadata"), "name");
    json_object_del(json_object_get(pod, "metadata"), "namespace");
    json_object_set(object_at(pod, "metadata.labels"), "daemon", name);
    return json_pack("{s:s, s:s, s:{s:O, s:s, s:o}, s:{s:{s:{s:O}}, s:{s:O, s:O}}}", "apiVersion",
                     "apps/v1", "kind", "DaemonSet", "metadata", "name", name, "namespace",
                     "default", "uid", json_sprintf("uid-%s", text_of(name)), "spec", "selector",
                     "matchLabels", "daemon", name, "template", "metadata",
                     json_object_get(pod, "metadata"), "spec", json_object_get(pod, "spec"));
}
