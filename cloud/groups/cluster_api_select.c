/* Which groups: what --node-group-auto-discovery and --nodes say. */
#include "cloud/groups/cluster_api.h"
#include "kube/requirement.h"

static bool add_label(struct arena *a, struct cluster_api_selector *s, uint32_t *capacity, struct span key, struct span value,
                      struct err *err)
{
    struct plain_label l = {arena_dup(a, key), arena_dup(a, value)};
    if (!qualified_name_valid(key))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a label's key", SPAN_ARG(key));
    if (!label_value_valid(value))
        return err_set(err, ERR_INVALID, "%.*s: \"%.*s\" is not a label's value", SPAN_ARG(key), SPAN_ARG(value));
    ARENA_PUSH(a, s->labels.items, s->labels.count, *capacity, l);
    return true;
}

bool cluster_api_selector_parse(struct arena *a, struct span text, struct cluster_api_selector *out, struct err *err)
{
    struct span rest, more, value;
    uint32_t capacity = 0;
    struct span kind = span_cut(text, ':', &rest);
    *out = (struct cluster_api_selector){0};
    if (rest.ptr == NULL || span_cut(rest, ':', &more).len != rest.len)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\": write it like clusterapi:namespace=blue,clusterName=test1,color=green", SPAN_ARG(text));
    if (!span_eq(kind, SPAN("clusterapi")))
        return err_set(err, ERR_INVALID, "\"%.*s\": it has to begin with clusterapi:", SPAN_ARG(text));
    while (rest.ptr != NULL) {
        struct span one = span_cut(rest, ',', &rest);
        struct span key = span_cut(one, '=', &value);
        if (one.len == 0)
            continue;
        if (value.ptr == NULL || span_cut(value, '=', &more).len != value.len)
            return err_set(err, ERR_INVALID, "\"%.*s\": \"%.*s\" is not key=value", SPAN_ARG(text), SPAN_ARG(one));
        if (span_eq(key, SPAN("namespace")))
            out->ns = arena_dup(a, value);
        else if (span_eq(key, SPAN("clusterName")))
            out->cluster = arena_dup(a, value);
        else if (!add_label(a, out, &capacity, key, value, err))
            return err_wrap(err, "\"%.*s\"", SPAN_ARG(text));
    }
    return true;
}

static bool is_group_name(struct span s)
{
    struct span rest, name, more;
    struct span kind = span_cut(s, '/', &rest);
    struct span ns = span_cut(rest, '/', &name);
    return (span_eq(kind, SPAN("MachineDeployment")) || span_eq(kind, SPAN("MachineSet")) ||
            span_eq(kind, SPAN("MachinePool"))) &&
           ns.len != 0 && name.len != 0 && span_cut(name, '/', &more).len == name.len;
}

bool cluster_api_bounds_parse(struct arena *a, struct span text, struct cluster_api_bounds *out, struct err *err)
{
    struct span rest, group;
    int64_t min, max;
    struct span low = span_cut(text, ':', &rest);
    struct span high = span_cut(rest, ':', &group);
    if (!span_int64(low, &min) || !span_int64(high, &max) || min < 0 || max < min || max > GROUP_NODES_MAX)
        return err_set(err, ERR_INVALID, "\"%.*s\": write it like 1:10:MachineDeployment/default/md-0, the minimum first",
                       SPAN_ARG(text));
    if (!is_group_name(group))
        return err_set(err, ERR_INVALID,
                       "\"%.*s\": \"%.*s\" names no group; write MachineDeployment, MachineSet or MachinePool, its namespace "
                       "and its name, with / between",
                       SPAN_ARG(text), SPAN_ARG(group));
    *out = (struct cluster_api_bounds){(int32_t)min, (int32_t)max, arena_dup(a, group)};
    return true;
}
