/* DaemonSet, PodDisruptionBudget, Namespace, Service, Deployment, ReplicaSet, StatefulSet,
 * ReplicationController, Job, CronJob. */
#include "kube/meta_fields.h"
#include "kube/workload.h"

static const struct field daemon_spec_fields[] = {
    FIELD(struct daemon_set, template, FIELD_OBJECT, "template", .schema = &pod_template_schema,
          .needed = true),
};
static const struct schema daemon_spec =
    SCHEMA_WITH(struct daemon_set, "spec", daemon_spec_fields,
                .also = "selector updateStrategy minReadySeconds revisionHistoryLimit");

static const struct field daemon_fields[] = {
    FIELD(struct daemon_set, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &daemon_spec},
};
const struct schema daemon_set_schema =
    SCHEMA_WITH(struct daemon_set, "DaemonSet", daemon_fields, .also = "apiVersion kind status");

/* An integer or a percentage, kept as text. */
static bool decode_int_or_string(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    enum doc_type type = doc_type(v);
    if (type != DOC_STRING && type != DOC_NUMBER)
        return decode_refuse(v, "an integer or a percentage", err);
    struct span text = doc_text(v), digits = text;
    if (type == DOC_STRING && span_has_suffix(text, SPAN("%")))
        digits.len--;
    int64_t number;
    if (!span_int64(digits, &number))
        return decode_refuse(v, "an integer or a percentage", err);
    if (number < 0)
        err_set(err, ERR_INVALID, "%.*s must not be negative", SPAN_ARG(text));
    else if (digits.len != text.len && number > 100)
        err_set(err, ERR_INVALID, "%.*s is more than 100%%", SPAN_ARG(text));
    *(struct span *)out = arena_dup(d->arena, text);
    return true;
}

static bool decode_always_allow(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    *(bool *)out = span_eq(doc_text(v), SPAN("AlwaysAllow"));
    return true;
}

static const struct field budget_spec_fields[] = {
    FIELD(struct disruption_budget, selector, FIELD_OBJECT, "selector",
          .schema = &label_selector_schema, FIELD_HAS(struct disruption_budget, has_selector)),
    FIELD(struct disruption_budget, max_unavailable, FIELD_SCALAR, "maxUnavailable",
          .scalar = decode_int_or_string),
    FIELD(struct disruption_budget, min_available, FIELD_SCALAR, "minAvailable",
          .scalar = decode_int_or_string),
    FIELD(struct disruption_budget, evict_unhealthy, FIELD_SCALAR, "unhealthyPodEvictionPolicy",
          .scalar = decode_always_allow),
};
static void check_budget_spec(struct decode *d, struct doc_value v, const void *object)
{
    const struct disruption_budget *b = object;
    struct span policy = doc_text_at(v, SPAN("unhealthyPodEvictionPolicy"));
    if (b->max_unavailable.ptr != NULL && b->min_available.ptr != NULL)
        decode_invalid_in(d, v, "maxUnavailable", "cannot be set beside minAvailable");
    if (policy.ptr != NULL && !b->evict_unhealthy && !span_eq(policy, SPAN("IfHealthyBudget")))
        decode_invalid_in(d, v, "unhealthyPodEvictionPolicy",
                          "\"%.*s\" is not a policy; use IfHealthyBudget or AlwaysAllow", SPAN_ARG(policy));
}

static const struct schema budget_spec =
    SCHEMA_WITH(struct disruption_budget, "spec", budget_spec_fields, .also = "",
                .check = check_budget_spec);

#define COUNTED .low = 0, .high = INT32_MAX
static const struct field budget_status_fields[] = {
    FIELD(struct disruption_budget, disruptions_allowed, FIELD_INT32, "disruptionsAllowed", COUNTED),
    FIELD(struct disruption_budget, expected, FIELD_INT32, "expectedPods", COUNTED),
    FIELD(struct disruption_budget, desired, FIELD_INT32, "desiredHealthy", COUNTED),
    FIELD(struct disruption_budget, healthy, FIELD_INT32, "currentHealthy", COUNTED),
};
static const struct schema budget_status =
    SCHEMA(struct disruption_budget, "status", budget_status_fields);

static const struct field budget_wire_fields[] = {
    FIELD(struct disruption_budget, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &budget_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &budget_status},
};
static const struct schema budget_wire =
    SCHEMA_WITH(struct disruption_budget, "PodDisruptionBudget", budget_wire_fields,
                .also = "apiVersion kind");

/* The same struct: only that the texts read by a scalar are to be packed as texts. */
static void budget_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    *(struct disruption_budget *)out = *(const struct disruption_budget *)wire;
}

static const struct field budget_fields[] = {
    FIELD(struct disruption_budget, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct disruption_budget, selector, FIELD_OBJECT, "selector",
          .schema = &label_selector_schema),
    FIELD(struct disruption_budget, max_unavailable, FIELD_SPAN, "maxUnavailable"),
    FIELD(struct disruption_budget, min_available, FIELD_SPAN, "minAvailable"),
};
const struct schema disruption_budget_schema = {
    .name = "PodDisruptionBudget",
    .size = sizeof(struct disruption_budget),
    .count = COUNT_OF(budget_fields),
    .fields = budget_fields,
    .wire = &budget_wire,
    .convert = budget_convert,
};

static const struct field namespace_fields[] = {
    FIELD(struct ns, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
};
const struct schema namespace_schema =
    SCHEMA_WITH(struct ns, "Namespace", namespace_fields, .also = "apiVersion kind spec status");

static const struct field service_spec_fields[] = {
    FIELD(struct service, selector, FIELD_MAP, "selector", .schema = &label_schema,
          FIELD_HAS(struct service, has_selector)),
};
static const struct schema service_spec =
    SCHEMA_WITH(struct service, "spec", service_spec_fields,
                .also = "ports clusterIP clusterIPs type externalIPs sessionAffinity "
                        "loadBalancerIP loadBalancerSourceRanges externalName "
                        "externalTrafficPolicy healthCheckNodePort publishNotReadyAddresses "
                        "sessionAffinityConfig topologyKeys ipFamily ipFamilies ipFamilyPolicy "
                        "allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy "
                        "trafficDistribution");

static const struct field service_fields[] = {
    FIELD(struct service, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &service_spec},
};
const struct schema service_schema =
    SCHEMA_WITH(struct service, "Service", service_fields, .also = "apiVersion kind status");

static const struct field controller_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
};
static const struct schema controller_spec =
    SCHEMA(struct controller, "spec", controller_spec_fields);

static const struct field controller_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &controller_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &controller_spec},
};
const struct schema controller_schema = SCHEMA(struct controller, "controller", controller_fields);

#define REPLICAS                                                                                   \
    FIELD(struct controller, replicas, FIELD_INT32, "replicas", .high = INT32_MAX,                 \
          FIELD_HAS(struct controller, has_replicas))
#define REPLICAS_AND_TEMPLATE                                                                      \
    REPLICAS, FIELD(struct controller, template, FIELD_POINTER, "template",                        \
                    .schema = &pod_template_schema, .needed = true)

/* Of the specs of Deployments, ReplicaSets and StatefulSets. */
#define WORKLOAD_NAMES                                                                             \
    .also = "strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds "        \
            "volumeClaimTemplates serviceName podManagementPolicy updateStrategy "                 \
            "persistentVolumeClaimRetentionPolicy ordinals"

static const struct field scalable_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    REPLICAS_AND_TEMPLATE,
};
static const struct schema scalable_spec =
    SCHEMA_WITH(struct controller, "spec", scalable_spec_fields, WORKLOAD_NAMES);

static const struct field scalable_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &scaled_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &scalable_spec},
};
const struct schema scalable_schema =
    SCHEMA_WITH(struct controller, "workload", scalable_fields, .also = "apiVersion kind status");

static const struct field workload_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    REPLICAS_AND_TEMPLATE,
};
static const struct schema workload_spec =
    SCHEMA_WITH(struct controller, "spec", workload_spec_fields, WORKLOAD_NAMES);

static const struct field workload_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &scaled_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &workload_spec},
};
const struct schema workload_schema =
    SCHEMA_WITH(struct controller, "workload", workload_fields, .also = "apiVersion kind status");

/* --- a StatefulSet's own --- */

static void check_one_of(struct decode *d, struct doc_value v, const char *member, const char *one, const char *other)
{
    struct span text = doc_text_at(v, span_of(member));
    if (text.ptr != NULL && !span_eq(text, span_of(one)) && !span_eq(text, span_of(other)))
        decode_invalid_in(d, v, member, "\"%.*s\" is neither %s nor %s", SPAN_ARG(text), one, other);
}

static void check_stateful_spec(struct decode *d, struct doc_value v, const void *object)
{
    (void)object;
    check_one_of(d, v, "podManagementPolicy", "OrderedReady", "Parallel");
}

static void check_update_strategy(struct decode *d, struct doc_value v, const void *object)
{
    struct doc_value rolling;
    (void)object;
    check_one_of(d, v, "type", "RollingUpdate", "OnDelete");
    if (span_eq(doc_text_at(v, SPAN("type")), SPAN("OnDelete")) && doc_find(v, SPAN("rollingUpdate"), &rolling) &&
        doc_type(rolling) != DOC_NULL)
        decode_invalid_in(d, v, "rollingUpdate", "is of use with type RollingUpdate alone; leave it out");
}

static void check_whole_number(struct decode *d, struct doc_value v, const char *member)
{
    struct doc_value number;
    int64_t value;
    if (!doc_find(v, span_of(member), &number) || doc_type(number) == DOC_NULL)
        return;
    if (doc_type(number) != DOC_NUMBER || !span_int64(doc_text(number), &value) || value < 0 || value > INT32_MAX)
        decode_invalid_in(d, v, member, "has to be a whole number from 0 on");
}

static void check_rolling_update(struct decode *d, struct doc_value v, const void *object)
{
    (void)object;
    check_whole_number(d, v, "partition");
}

static void check_ordinals(struct decode *d, struct doc_value v, const void *object)
{
    (void)object;
    check_whole_number(d, v, "start");
}

static const struct schema rolling_update_schema = {.name = "rollingUpdate", .size = sizeof(struct controller),
                                                    .also = "partition maxUnavailable", .check = check_rolling_update};
static const struct field update_strategy_fields[] = {
    {.name = "rollingUpdate", .kind = FIELD_OBJECT, .schema = &rolling_update_schema},
};
static const struct schema update_strategy_schema =
    SCHEMA_WITH(struct controller, "updateStrategy", update_strategy_fields, .also = "type",
                .check = check_update_strategy);
static const struct schema ordinals_schema = {.name = "ordinals", .size = sizeof(struct controller), .also = "start",
                                              .check = check_ordinals};

static void check_claim_template(struct decode *d, struct doc_value v, const void *object)
{
    const struct volume_claim *c = object;
    if (c->meta.name.len == 0)
        decode_invalid_in(d, v, "metadata", "has no name, after which the pods' claims are named");
}

static const struct field claim_template_fields[] = {
    {.name = "metadata", .kind = FIELD_OBJECT, .offset = offsetof(struct volume_claim, meta),
     .schema = &volume_claim_meta_schema},
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &volume_claim_spec_schema},
};
static const struct schema claim_template_schema =
    SCHEMA_WITH(struct volume_claim, "PersistentVolumeClaim", claim_template_fields,
                .also = "apiVersion kind status", .check = check_claim_template);

static const struct field stateful_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    REPLICAS_AND_TEMPLATE,
    FIELD(struct controller, claims, FIELD_LIST, "volumeClaimTemplates", .schema = &claim_template_schema),
    {.name = "updateStrategy", .kind = FIELD_OBJECT, .schema = &update_strategy_schema},
    {.name = "ordinals", .kind = FIELD_OBJECT, .schema = &ordinals_schema},
};
static const struct schema stateful_spec = SCHEMA_WITH(struct controller, "spec", stateful_spec_fields, WORKLOAD_NAMES,
                                                       .check = check_stateful_spec);

static const struct field stateful_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &scaled_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &stateful_spec},
};
const struct schema stateful_workload_schema =
    SCHEMA_WITH(struct controller, "StatefulSet", stateful_fields, .also = "apiVersion kind status");

static const struct field replication_spec_fields[] = {
    FIELD(struct controller, selector.match_labels, FIELD_MAP, "selector", .schema = &label_schema),
};
static const struct schema replication_spec =
    SCHEMA_WITH(struct controller, "spec", replication_spec_fields,
                .also = "replicas minReadySeconds template");

static const struct field replication_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &replication_spec},
};
const struct schema replication_controller_schema =
    SCHEMA_WITH(struct controller, "ReplicationController", replication_fields,
                .also = "apiVersion kind status");

static const struct field replication_workload_spec_fields[] = {
    FIELD(struct controller, selector.match_labels, FIELD_MAP, "selector", .schema = &label_schema),
    REPLICAS,
    FIELD(struct controller, template, FIELD_POINTER, "template", .schema = &pod_template_schema),
};
static const struct schema replication_workload_spec =
    SCHEMA_WITH(struct controller, "spec", replication_workload_spec_fields, .also = "minReadySeconds");

static const struct field replication_workload_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &replication_workload_spec},
};
const struct schema replication_workload_schema =
    SCHEMA_WITH(struct controller, "ReplicationController", replication_workload_fields,
                .also = "apiVersion kind status");

static const struct field job_spec_fields[] = {
    FIELD(struct job, parallelism, FIELD_INT32, "parallelism", .high = INT32_MAX,
          FIELD_HAS(struct job, has_parallelism)),
    FIELD(struct job, completions, FIELD_INT32, "completions", .high = INT32_MAX,
          FIELD_HAS(struct job, has_completions)),
    FIELD(struct job, suspended, FIELD_BOOL, "suspend"),
    FIELD(struct job, template, FIELD_POINTER, "template", .schema = &pod_template_schema,
          .needed = true),
};
static const struct schema job_spec =
    SCHEMA_WITH(struct job, "spec", job_spec_fields,
                .also = "activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit "
                        "backoffLimitPerIndex maxFailedIndexes selector manualSelector "
                        "ttlSecondsAfterFinished completionMode podReplacementPolicy managedBy");

static const struct field job_status_fields[] = {
    FIELD(struct job, succeeded, FIELD_INT32, "succeeded"),
    FIELD(struct job, conditions, FIELD_LIST, "conditions", .schema = &quiet_condition_schema),
};
static const struct schema job_status = SCHEMA(struct job, "status", job_status_fields);

static const struct field job_fields[] = {
    FIELD(struct job, meta, FIELD_OBJECT, "metadata", .schema = &controller_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &job_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &job_status},
};
const struct schema job_schema =
    SCHEMA_WITH(struct job, "Job", job_fields, .also = "apiVersion kind");

static const struct field job_name_fields[] = {
    FIELD(struct job, meta, FIELD_OBJECT, "metadata", .schema = &controller_meta_schema),
};
const struct schema job_name_schema = SCHEMA(struct job, "Job", job_name_fields);

static const struct field job_template_fields[] = {
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &job_spec},
};
static const struct schema job_template =
    SCHEMA_WITH(struct job, "jobTemplate", job_template_fields, .also = "metadata");

static const struct field cron_job_spec_fields[] = {
    FIELD(struct cron_job, suspended, FIELD_BOOL, "suspend"),
    FIELD(struct cron_job, job, FIELD_OBJECT, "jobTemplate", .schema = &job_template),
};
static const struct schema cron_job_spec =
    SCHEMA_WITH(struct cron_job, "spec", cron_job_spec_fields,
                .also = "schedule timeZone startingDeadlineSeconds concurrencyPolicy "
                        "successfulJobsHistoryLimit failedJobsHistoryLimit");

static const struct field cron_job_fields[] = {
    FIELD(struct cron_job, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &cron_job_spec},
};
const struct schema cron_job_schema =
    SCHEMA_WITH(struct cron_job, "CronJob", cron_job_fields, .also = "apiVersion kind status");
