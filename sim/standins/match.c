/* Which nodes a DaemonSet's pod is made for: taints, nodeSelector, required node affinity. The
 * stand-in scheduler asks the planner (world_fits); here pods are not in any world yet. */
#include "sim/standins/standin.h"

static bool has_value(const json_t *values, struct span text)
{
    size_t i;
    json_t *v;
    json_array_foreach(values, i, v) {
        if (span_eq((struct span){json_string_value(v), json_string_length(v)}, text))
            return true;
    }
    return false;
}

static bool compares(const json_t *values, struct span text, bool greater)
{
    int64_t bound, value;
    const json_t *first = json_array_get(values, 0);
    if (!json_is_string(first) || !span_int64(text, &value) ||
        !span_int64(span_of(json_string_value(first)), &bound))
        return false;
    return greater ? value > bound : value < bound;
}

static bool expression_matches(const json_t *e, struct span value)
{
    const json_t *values = tree_get(e, "values");
    bool there = value.ptr != NULL;
    if (tree_is(e, "operator", "In"))
        return there && has_value(values, value);
    if (tree_is(e, "operator", "NotIn"))
        return !there || !has_value(values, value);
    if (tree_is(e, "operator", "Exists"))
        return there;
    if (tree_is(e, "operator", "DoesNotExist"))
        return !there;
    if (tree_is(e, "operator", "Gt"))
        return there && compares(values, value, true);
    return tree_is(e, "operator", "Lt") && there && compares(values, value, false);
}

static struct span label_of(const json_t *node, const json_t *key)
{
    const json_t *v = json_is_string(key)
                          ? json_object_get(tree_get(node, "metadata.labels"), json_string_value(key))
                          : NULL;
    return json_is_string(v) ? (struct span){json_string_value(v), json_string_length(v)}
                             : (struct span){NULL, 0};
}

static bool term_matches(const json_t *term, const json_t *node)
{
    size_t i;
    json_t *e;
    const json_t *labels = tree_get(term, "matchExpressions"), *fields = tree_get(term, "matchFields");
    if (json_array_size(labels) + json_array_size(fields) == 0)
        return false; /* an empty term matches nothing */
    json_array_foreach(labels, i, e) {
        if (!expression_matches(e, label_of(node, tree_get(e, "key"))))
            return false;
    }
    json_array_foreach(fields, i, e) {
        if (!expression_matches(e, tree_string(node, "metadata.name")))
            return false;
    }
    return true;
}

static bool affinity_matches(const json_t *spec, const json_t *node)
{
    const json_t *required =
        tree_get(spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    size_t i;
    json_t *term;
    if (required == NULL)
        return true;
    json_array_foreach(tree_get(required, "nodeSelectorTerms"), i, term) {
        if (term_matches(term, node))
            return true;
    }
    return false;
}

static bool selector_matches(const json_t *spec, const json_t *node)
{
    const char *key;
    json_t *value;
    json_object_foreach(tree_get(spec, "nodeSelector"), key, value) {
        if (!json_equal(json_object_get(tree_get(node, "metadata.labels"), key), value))
            return false;
    }
    return true;
}

static bool tolerates(const json_t *toleration, const json_t *taint)
{
    struct span effect = tree_string(toleration, "effect"), key = tree_string(toleration, "key");
    if (effect.len != 0 && !span_eq(effect, tree_string(taint, "effect")))
        return false;
    if (key.len != 0 && !span_eq(key, tree_string(taint, "key")))
        return false;
    return tree_is(toleration, "operator", "Exists") ||
           (key.len != 0 && span_eq(tree_string(toleration, "value"), tree_string(taint, "value")));
}

static bool taints_tolerated(const json_t *spec, const json_t *node)
{
    size_t i, j;
    json_t *taint, *toleration;
    json_array_foreach(tree_get(node, "spec.taints"), i, taint) {
        bool tolerated = tree_is(taint, "effect", "PreferNoSchedule");
        json_array_foreach(tree_get(spec, "tolerations"), j, toleration) {
            tolerated = tolerated || tolerates(toleration, taint);
        }
        if (!tolerated)
            return false;
    }
    return true;
}

bool match_node(const json_t *pod_spec, const json_t *node)
{
    return taints_tolerated(pod_spec, node) && selector_matches(pod_spec, node) &&
           affinity_matches(pod_spec, node);
}
