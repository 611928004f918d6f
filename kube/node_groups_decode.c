#include <stdlib.h>

#include "kube/meta_fields.h"
#include "kube/node_groups.h"

/* --- words --- */

struct word {
    const char *text;
    int value;
};

static bool find_word(struct doc_value v, const struct word *words, size_t count, int *out)
{
    for (size_t i = 0; doc_type(v) == DOC_STRING && i < count; i++) {
        if (!span_eq(doc_text(v), span_of(words[i].text)))
            continue;
        *out = words[i].value;
        return true;
    }
    return false;
}

static bool decode_cloud(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    static const struct word clouds[] = {
        {"", GROUP_CLOUD_OTHER}, {"aws", GROUP_CLOUD_AWS}, {"gce", GROUP_CLOUD_GCE}, {"azure", GROUP_CLOUD_AZURE}};
    (void)d;
    int cloud = GROUP_CLOUD_OTHER;
    bool ok = find_word(v, clouds, COUNT_OF(clouds), &cloud) ||
              decode_refuse(v, "a provider; use aws, gce or azure, or leave it out", err);
    *(enum group_cloud *)out = (enum group_cloud)cloud;
    return ok;
}

static bool decode_state(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    static const struct word states[] = {{"", INSTANCE_RUNNING},
                                         {"Running", INSTANCE_RUNNING},
                                         {"Creating", INSTANCE_CREATING},
                                         {"Deleting", INSTANCE_DELETING}};
    (void)d;
    int state = INSTANCE_RUNNING;
    bool ok = find_word(v, states, COUNT_OF(states), &state) ||
              decode_refuse(v, "an instance's state; use Running, Creating or Deleting", err);
    *(enum instance_state *)out = (enum instance_state)state;
    return ok;
}

static bool decode_error_class(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    static const struct word classes[] = {{"OutOfResources", INSTANCE_OUT_OF_RESOURCES}, {"Other", INSTANCE_OTHER_ERROR}};
    (void)d;
    int class = INSTANCE_ERROR_NONE;
    bool ok = find_word(v, classes, COUNT_OF(classes), &class) ||
              decode_refuse(v, "a class of errors; use OutOfResources or Other", err);
    *(enum instance_error *)out = (enum instance_error)class;
    return ok;
}

/* --- a group --- */

/* It stands first in its group, which is to know its line. */
static bool decode_name(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    struct node_group *g = out;
    if (doc_type(v) != DOC_STRING || doc_text(v).len == 0)
        return decode_refuse(v, "a group's name; write a text that is not empty", err);
    g->name = arena_dup(d->arena, doc_text(v));
    g->line = doc_line(v);
    return true;
}

static const struct field error_fields[] = {
    FIELD(struct group_error_info, class, FIELD_SCALAR, "class", .scalar = decode_error_class, .required = true),
    FIELD(struct group_error_info, code, FIELD_SPAN, "code"),
    FIELD(struct group_error_info, message, FIELD_SPAN, "message"),
};
static const struct schema error_schema =
    SCHEMA_WITH(struct group_error_info, "errorInfo", error_fields, .strict = true);

static void check_machine(struct decode *d, struct doc_value v, const void *object)
{
    const struct group_machine *m = object;
    if (m->id.ptr != NULL && m->id.len == 0)
        decode_invalid_in(d, v, "id", "is empty; write the providerID of the instance's Node");
}

static const struct field machine_fields[] = {
    FIELD(struct group_machine, id, FIELD_SPAN, "id", .required = true),
    FIELD(struct group_machine, state, FIELD_SCALAR, "state", .scalar = decode_state),
    FIELD(struct group_machine, error, FIELD_OBJECT, "errorInfo", .schema = &error_schema),
    FIELD(struct group_machine, error_known, FIELD_BOOL, "errorKnown"),
    FIELD(struct group_machine, unregistered_since, FIELD_SCALAR, "unregisteredSince", .scalar = decode_time),
};
static const struct schema machine_schema =
    SCHEMA_WITH(struct group_machine, "instance", machine_fields, .strict = true, .check = check_machine);

#define OPTION(member, kind_, name_, ...)                                                                              \
    FIELD(struct group_options, of.member, kind_, name_, __VA_ARGS__ FIELD_HAS(struct group_options, has_##member))
static const struct field option_fields[] = {
    OPTION(utilization_threshold, FIELD_DOUBLE, "scaleDownUtilizationThreshold", ),
    OPTION(gpu_utilization_threshold, FIELD_DOUBLE, "scaleDownGpuUtilizationThreshold", ),
    OPTION(unneeded_time, FIELD_SCALAR, "scaleDownUnneededTime", .scalar = decode_duration, ),
    OPTION(unready_time, FIELD_SCALAR, "scaleDownUnreadyTime", .scalar = decode_duration, ),
    OPTION(provision_time, FIELD_SCALAR, "maxNodeProvisionTime", .scalar = decode_duration, ),
    OPTION(startup_time, FIELD_SCALAR, "maxNodeStartupTime", .scalar = decode_duration, ),
    OPTION(ignore_daemon_sets, FIELD_BOOL, "ignoreDaemonSetsUtilization", ),
    OPTION(zero_or_max, FIELD_BOOL, "zeroOrMaxNodeScaling", ),
    OPTION(partly_to_max, FIELD_BOOL, "allowNonAtomicScaleUpToMax", ),
};
static const struct schema option_schema =
    SCHEMA_WITH(struct group_options, "options", option_fields, .strict = true);

static const struct field backoff_fields[] = {
    FIELD(struct group_backoff, until, FIELD_SCALAR, "until", .scalar = decode_time, .required = true),
    FIELD(struct group_backoff, code, FIELD_SPAN, "errorCode"),
    FIELD(struct group_backoff, message, FIELD_SPAN, "errorMessage"),
};
static const struct schema backoff_schema =
    SCHEMA_WITH(struct group_backoff, "backoff", backoff_fields, .strict = true);

static const struct field request_fields[] = {
    FIELD(struct group_request, increase, FIELD_INT32, "increase", .required = true),
    FIELD(struct group_request, time, FIELD_SCALAR, "time", .scalar = decode_time, .required = true),
};
static const struct schema request_schema =
    SCHEMA_WITH(struct group_request, "scaleUpRequest", request_fields, .strict = true);

static const struct field mismatch_fields[] = {
    FIELD(struct group_mismatch, registered, FIELD_INT32, "registered", .required = true),
    FIELD(struct group_mismatch, target, FIELD_INT32, "target", .required = true),
    FIELD(struct group_mismatch, since, FIELD_SCALAR, "since", .scalar = decode_time, .required = true),
};
static const struct schema mismatch_schema =
    SCHEMA_WITH(struct group_mismatch, "sizeMismatch", mismatch_fields, .strict = true);

bool node_group_price(struct span text, double *out)
{
    char number[32], *end;
    if (text.len == 0 || text.len >= sizeof(number))
        return false;
    memcpy(number, text.ptr, text.len);
    number[text.len] = '\0';
    *out = strtod(number, &end);
    return end == number + text.len && *out >= 0 && *out <= 1e9;
}

static void check_group(struct decode *d, struct doc_value v, const void *object)
{
    const struct node_group *g = object;
    if (g->min < 0)
        decode_invalid_in(d, v, "minSize", "is %d; a size is at least 0", g->min);
    else if (g->max < g->min)
        decode_invalid_in(d, v, "maxSize", "is %d, less than minSize (%d); raise it, or lower minSize", g->max, g->min);
    if (g->has_target && g->target < 0)
        decode_invalid_in(d, v, "targetSize", "is %d; a size is at least 0", g->target);
    else if (g->has_target && g->target > GROUP_NODES_MAX)
        decode_invalid_in(d, v, "targetSize", "is %d, more than %d; no cluster has so many nodes", g->target, GROUP_NODES_MAX);
    if (g->has_price && g->price < 0)
        decode_invalid_in(d, v, "price", "is %g; a price is at least 0", g->price);
    if (g->request.increase < 0)
        decode_invalid_in(d, v, "scaleUpRequest", "increase is %d; leave the request out if nothing was asked for",
                          g->request.increase);
    else if (g->request.increase > GROUP_NODES_MAX)
        decode_invalid_in(d, v, "scaleUpRequest", "increase is %d, more than %d; no cluster has so many nodes",
                          g->request.increase, GROUP_NODES_MAX);
}

static const struct field group_fields[] = {
    FIELD(struct node_group, name, FIELD_SCALAR, "name", .scalar = decode_name, .required = true),
    FIELD(struct node_group, min, FIELD_INT32, "minSize"),
    FIELD(struct node_group, max, FIELD_INT32, "maxSize"),
    FIELD(struct node_group, target, FIELD_INT32, "targetSize", FIELD_HAS(struct node_group, has_target)),
    FIELD(struct node_group, nodes, FIELD_SPANS, "nodes"),
    FIELD(struct node_group, selector, FIELD_MAP, "nodeSelector", .schema = &label_schema),
    FIELD(struct node_group, machines, FIELD_LIST, "instances", .schema = &machine_schema,
          FIELD_HAS(struct node_group, has_machines)),
    FIELD(struct node_group, template, FIELD_POINTER, "template", .schema = &node_schema),
    FIELD(struct node_group, learned, FIELD_POINTER, "learned", .schema = &node_schema),
    FIELD(struct node_group, price, FIELD_DOUBLE, "price", FIELD_HAS(struct node_group, has_price)),
    FIELD(struct node_group, options, FIELD_OBJECT, "options", .schema = &option_schema),
    FIELD(struct node_group, backoff, FIELD_OBJECT, "backoff", .schema = &backoff_schema),
    FIELD(struct node_group, request, FIELD_OBJECT, "scaleUpRequest", .schema = &request_schema,
          FIELD_HAS(struct node_group, has_request)),
    FIELD(struct node_group, mismatch, FIELD_OBJECT, "sizeMismatch", .schema = &mismatch_schema,
          FIELD_HAS(struct node_group, has_mismatch)),
    FIELD(struct node_group, last_scale_up, FIELD_SCALAR, "lastScaleUpTime", .scalar = decode_time),
    FIELD(struct node_group, last_scale_down, FIELD_SCALAR, "lastScaleDownTime", .scalar = decode_time),
    FIELD(struct node_group, last_scale_down_fail, FIELD_SCALAR, "lastScaleDownFailTime", .scalar = decode_time),
};
const struct schema node_group_schema =
    SCHEMA_WITH(struct node_group, "group", group_fields, .strict = true, .check = check_group);

/* --- the state of all --- */

static const struct field node_time_fields[] = {
    FIELD(struct node_time, node, FIELD_SPAN, "node"),
    FIELD(struct node_time, time, FIELD_SCALAR, "time", .scalar = decode_time),
};
static const struct schema node_time_schema = SCHEMA(struct node_time, "time", node_time_fields);

static const struct field deletion_fields[] = {
    FIELD(struct group_state, deleting_empty, FIELD_SPANS, "empty"),
    FIELD(struct group_state, deleting_drain, FIELD_SPANS, "drain"),
};
static const struct schema deletion_schema =
    SCHEMA_WITH(struct group_state, "deletions", deletion_fields, .strict = true);

static const struct field state_fields[] = {
    FIELD(struct group_state, last_scale_up, FIELD_SCALAR, "lastScaleUpTime", .scalar = decode_time),
    FIELD(struct group_state, last_scale_down_delete, FIELD_SCALAR, "lastScaleDownDeleteTime", .scalar = decode_time),
    FIELD(struct group_state, last_scale_down_fail, FIELD_SCALAR, "lastScaleDownFailTime", .scalar = decode_time),
    FIELD(struct group_state, unneeded, FIELD_MAP, "unneeded", .schema = &node_time_schema),
    FIELD(struct group_state, unremovable_until, FIELD_MAP, "unremovableUntil", .schema = &node_time_schema),
    {.name = "deletions", .kind = FIELD_OBJECT, .schema = &deletion_schema},
    FIELD(struct group_state, pass_interval, FIELD_SCALAR, "minPassInterval", .scalar = decode_duration,
          FIELD_HAS(struct group_state, has_pass_interval)),
};
static const struct schema state_schema = SCHEMA_WITH(struct group_state, "state", state_fields, .strict = true);

/* --- the file --- */

static void check_price(struct decode *d, struct doc_value v, const void *object)
{
    const struct resource_price *p = object;
    if (p->price < 0)
        decode_invalid(d, v, "is %g; a price is at least 0", p->price);
}

static const struct field price_fields[] = {
    FIELD(struct resource_price, resource, FIELD_SYM, "resource"),
    FIELD(struct resource_price, price, FIELD_DOUBLE, "price"),
};
static const struct schema price_schema =
    SCHEMA_WITH(struct resource_price, "price", price_fields, .check = check_price);

void node_groups_check_names(struct decode *d, struct doc_value items, const struct group_list *groups)
{
    struct doc_iter it = doc_iter_of(items);
    for (uint32_t i = 0; i < groups->count && doc_next(&it); i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct node_group *g = &groups->items[i], *before = &groups->items[k];
            if (g->name.len == 0 || !span_eq(g->name, before->name))
                continue;
            decode_invalid_in(d, it.value, "name", "\"%.*s\" is that of the group in line %u, too; names are unique",
                              SPAN_ARG(g->name), before->line);
            break;
        }
}

static void check_groups(struct decode *d, struct doc_value v, const void *object)
{
    struct doc_value items;
    if (doc_find(v, SPAN("groups"), &items))
        node_groups_check_names(d, items, &((const struct node_groups *)object)->groups);
}

static const struct field groups_fields[] = {
    FIELD(struct node_groups, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct node_groups, cloud, FIELD_SCALAR, "provider", .scalar = decode_cloud),
    FIELD(struct node_groups, gpu_label, FIELD_SYM, "gpuLabel"),
    FIELD(struct node_groups, pod_prices, FIELD_MAP, "podPrices", .schema = &price_schema,
          FIELD_HAS(struct node_groups, has_pod_prices)),
    FIELD(struct node_groups, groups, FIELD_LIST, "groups", .schema = &node_group_schema, .required = true),
    FIELD(struct node_groups, state, FIELD_OBJECT, "state", .schema = &state_schema),
    FIELD(struct node_groups, api_version, FIELD_SPAN, "apiVersion"),
    FIELD(struct node_groups, kind, FIELD_SPAN, "kind"),
};
const struct schema node_groups_schema =
    SCHEMA_WITH(struct node_groups, "NodeGroups", groups_fields, .strict = true, .check = check_groups);
