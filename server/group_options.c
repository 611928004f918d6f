#include "server/group_options.h"

#include <stdlib.h>
#include <string.h>

enum type {
    BOOLEAN,
    INTEGER,  /* int32_t */
    NUMBER,   /* double */
    DURATION, /* span_ms */
    TEXT,     /* struct span */
    NAMES,    /* struct spans: a,b; may be given again */
    CORES,    /* MIN:MAX */
    MEMORY,
    GPUS, /* TYPE:MIN:MAX; may be given again */
    EXPANDERS,
    TURNS, /* PRIORITY:GRACE,… */
    NAME,     /* struct spans: one; may be given again */
    ANYTHING, /* has no meaning here */
    SWITCH,   /* nor has this boolean */
};

struct group_option {
    const char *name;
    enum type type;
    size_t offset; /* in struct group_options_given */
    bool of_loop;  /* has a meaning for a loop, and none for a pass */
};

#define AT(member) offsetof(struct group_options_given, settings.flags.member)
#define LOOP(member) offsetof(struct group_options_given, settings.member), true
#define OWN(member) offsetof(struct group_options_given, member), true
static const struct group_option table[] = {
    {"expander", EXPANDERS, 0, false},
    {"balance-similar-node-groups", BOOLEAN, AT(balance_similar), false},
    {"balancing-ignore-label", NAMES, AT(balancing_ignore_labels), false},
    {"balancing-label", NAMES, AT(balancing_labels), false},
    {"memory-difference-ratio", NUMBER, AT(memory_ratio), false},
    {"max-free-difference-ratio", NUMBER, AT(free_ratio), false},
    {"max-allocatable-difference-ratio", NUMBER, AT(allocatable_ratio), false},
    {"max-nodes-total", INTEGER, AT(max_nodes_total), false},
    {"max-nodes-per-scaleup", INTEGER, AT(max_nodes_per_scale_up), false},
    {"cores-total", CORES, 0, false},
    {"memory-total", MEMORY, 0, false},
    {"gpu-total", GPUS, 0, false},
    {"new-pod-scale-up-delay", DURATION, AT(new_pod_delay), false},
    {"expendable-pods-priority-cutoff", INTEGER, AT(expendable_cutoff), false},
    {"enforce-node-group-min-size", BOOLEAN, AT(enforce_min_size), false},
    {"salvo-scale-up", BOOLEAN, AT(salvo), false},
    {"scale-up-from-zero", BOOLEAN, AT(scale_up_from_zero), false},
    {"force-ds", BOOLEAN, AT(force_daemon_sets), false},
    {"scale-from-unschedulable", BOOLEAN, AT(scale_from_unschedulable), false},
    {"scaleup-simulation-for-skipped-node-groups-enabled", BOOLEAN, AT(simulate_skipped), false},
    {"bypassed-scheduler-names", NAMES, AT(bypassed_schedulers), false},
    {"allowed-scheduler-names", NAMES, AT(allowed_schedulers), false},
    {"ignore-taint", NAMES, AT(startup_taints), false},
    {"startup-taint", NAMES, AT(startup_taints), false},
    {"startup-taint-prefix", NAMES, AT(startup_taint_prefixes), false},
    {"status-taint", NAMES, AT(status_taints), false},
    {"namespace", TEXT, AT(config_namespace), false},
    {"ok-total-unready-count", INTEGER, AT(ok_unready_count), false},
    {"max-total-unready-percentage", NUMBER, AT(max_unready_percentage), false},
    {"max-node-provision-time", DURATION, AT(scaling.provision_time), false},
    {"max-node-startup-time", DURATION, AT(scaling.startup_time), false},
    {"initial-node-group-backoff-duration", DURATION, AT(backoff_first), false},
    {"max-node-group-backoff-duration", DURATION, AT(backoff_max), false},
    {"node-group-backoff-reset-timeout", DURATION, AT(backoff_reset), false},
    {"force-delete-unregistered-nodes", BOOLEAN, AT(force_delete_unregistered), false},
    {"force-delete-failed-nodes", BOOLEAN, AT(force_delete_failed), false},
    {"scale-down-enabled", BOOLEAN, AT(scale_down_enabled), false},
    {"scale-down-unready-enabled", BOOLEAN, AT(scale_down_unready_enabled), false},
    {"scale-down-delay-type-local", BOOLEAN, AT(delay_type_local), false},
    {"scale-down-delay-after-add", DURATION, AT(delay_after_add), false},
    {"scale-down-delay-after-delete", DURATION, AT(delay_after_delete), false},
    {"scale-down-delay-after-failure", DURATION, AT(delay_after_failure), false},
    {"scale-down-unneeded-time", DURATION, AT(scaling.unneeded_time), false},
    {"scale-down-unready-time", DURATION, AT(scaling.unready_time), false},
    {"scale-down-utilization-threshold", NUMBER, AT(scaling.utilization_threshold), false},
    {"scale-down-gpu-utilization-threshold", NUMBER, AT(scaling.gpu_utilization_threshold), false},
    {"unremovable-node-recheck-timeout", DURATION, AT(unremovable_recheck), false},
    {"max-scale-down-parallelism", INTEGER, AT(max_parallelism), false},
    {"max-empty-bulk-delete", INTEGER, AT(max_parallelism), false}, /* its name before 1.33 */
    {"max-drain-parallelism", INTEGER, AT(max_drains), false},
    {"skip-nodes-with-system-pods", BOOLEAN, AT(skip_system_pods), false},
    {"skip-nodes-with-local-storage", BOOLEAN, AT(skip_local_storage), false},
    {"skip-nodes-with-custom-controller-pods", BOOLEAN, AT(skip_custom_controller_pods), false},
    {"min-replica-count", INTEGER, AT(min_replica_count), false},
    {"blocking-system-pod-distruption-timeout", DURATION, AT(system_pod_timeout), false},
    {"ignore-daemonsets-utilization", BOOLEAN, AT(scaling.ignore_daemon_sets), false},
    {"ignore-mirror-pods-utilization", BOOLEAN, AT(ignore_mirror_pods), false},
    /* limits of time, which never strike, and what concerns a loop, a cloud or a cluster's API */
    {"address", ANYTHING, 0, false},
    {"async-node-groups", SWITCH, 0, false},
    {"aws-use-static-instance-list", SWITCH, 0, false},
    {"bulk-mig-instances-listing-enabled", SWITCH, 0, false},
    {"capacity-buffer-controller-enabled", BOOLEAN, OWN(resolve_buffers)},
    {"capacity-buffer-pod-dry-run-enabled", SWITCH, 0, false},
    {"capacity-buffer-pod-injection-enabled", BOOLEAN, OWN(fill_buffers)},
    {"capacity-quotas-enabled", BOOLEAN, AT(capacity_quotas), false},
    {"check-capacity-batch-processing", BOOLEAN, LOOP(check_batches)},
    {"check-capacity-processor-instance", TEXT, LOOP(flags.check_instance)},
    {"check-capacity-provisioning-request-batch-timebox", DURATION, LOOP(check_timebox)},
    {"check-capacity-provisioning-request-max-batch-size", INTEGER, LOOP(check_batch)},
    {"cloud-config", TEXT, OWN(cloud_config)},
    {"cloud-provider", TEXT, OWN(cloud_provider)},
    {"cluster-name", ANYTHING, 0, false},
    {"cluster-snapshot-parallelism", ANYTHING, 0, false},
    {"clusterapi-cloud-config-authoritative", BOOLEAN, OWN(cloud_config_authoritative)},
    {"cordon-node-before-terminating", BOOLEAN, LOOP(cordon)},
    {"daemonset-eviction-for-empty-nodes", BOOLEAN, LOOP(evict_daemons_of_empty)},
    {"daemonset-eviction-for-occupied-nodes", BOOLEAN, LOOP(evict_daemons_of_occupied)},
    {"debugging-snapshot-enabled", SWITCH, 0, false},
    {"drain-priority-config", TURNS, LOOP(drain_turns)},
    {"dynamic-node-delete-delay-after-taint-enabled", SWITCH, 0, false},
    {"emit-per-nodegroup-metrics", BOOLEAN, LOOP(per_group_metrics)},
    {"enable-csi-node-aware-scheduling", SWITCH, 0, false},
    {"enable-dynamic-resource-allocation", SWITCH, 0, false},
    {"enable-graceful-degradation", SWITCH, 0, false},
    {"enable-inter-pod-affinity-hostname-fast-path", SWITCH, 0, false},
    {"enable-proactive-scaleup", SWITCH, 0, false},
    {"enable-provisioning-requests", BOOLEAN, LOOP(flags.provisioning_requests)},
    {"estimator", ANYTHING, 0, false},
    {"fastpath-binpacking-enabled", SWITCH, 0, false},
    {"frequent-loops-enabled", BOOLEAN, LOOP(frequent)},
    {"gce-concurrent-refreshes", ANYTHING, 0, false},
    {"gce-mig-instances-min-refresh-wait-time", ANYTHING, 0, false},
    {"grpc-expander-cert", ANYTHING, 0, false},
    {"grpc-expander-url", ANYTHING, 0, false},
    {"kube-api-content-type", ANYTHING, 0, false},
    {"kube-client-burst", ANYTHING, 0, false},
    {"kube-client-qps", ANYTHING, 0, false},
    {"kubeconfig", ANYTHING, 0, false},
    {"kubernetes", ANYTHING, 0, false},
    {"leader-elect", SWITCH, 0, false},
    {"leader-elect-lease-duration", ANYTHING, 0, false},
    {"leader-elect-renew-deadline", ANYTHING, 0, false},
    {"leader-elect-resource-lock", ANYTHING, 0, false},
    {"leader-elect-resource-name", ANYTHING, 0, false},
    {"leader-elect-resource-namespace", ANYTHING, 0, false},
    {"leader-elect-retry-period", ANYTHING, 0, false},
    {"max-binpacking-time", ANYTHING, 0, false},
    {"max-bulk-soft-taint-count", INTEGER, LOOP(soft_taints)},
    {"max-bulk-soft-taint-time", ANYTHING, 0, false},
    {"max-failing-time", DURATION, LOOP(max_failing_time)},
    {"max-graceful-termination-sec", INTEGER, LOOP(max_grace)},
    {"max-inactivity", DURATION, LOOP(max_inactivity)},
    {"max-node-skip-eval-time-tracker-enabled", SWITCH, 0, false},
    {"max-nodegroup-binpacking-duration", ANYTHING, 0, false},
    {"max-pod-eviction-time", DURATION, LOOP(max_eviction_time)},
    {"max-startup-time", DURATION, LOOP(max_startup_time)},
    {"node-delete-delay-after-taint", DURATION, LOOP(delay_after_taint)},
    {"node-deletion-batcher-interval", ANYTHING, 0, false},
    {"node-deletion-candidate-ttl", DURATION, LOOP(candidate_ttl)},
    {"node-deletion-delay-timeout", DURATION, LOOP(max_deletion_delay)},
    {"node-group-auto-discovery", NAME, OWN(discovery)},
    {"node-info-cache-expire-time", ANYTHING, 0, false},
    {"node-removal-latency-tracking-enabled", SWITCH, 0, false},
    {"nodes", NAME, OWN(nodes)},
    {"parallel-scale-up", SWITCH, 0, false},
    {"pending-pods-batching-timeout", ANYTHING, 0, false},
    {"pod-injection-limit", ANYTHING, 0, false},
    {"predicate-parallelism", ANYTHING, 0, false},
    {"profiling", SWITCH, 0, false},
    {"provisioning-request-initial-backoff-time", DURATION, LOOP(request_backoff_first)},
    {"provisioning-request-max-backoff-cache-size", INTEGER, LOOP(request_backoff_count)},
    {"provisioning-request-max-backoff-time", DURATION, LOOP(request_backoff_max)},
    {"record-duplicated-events", SWITCH, 0, false},
    {"regional", SWITCH, 0, false},
    {"salvo-scale-up-budget", ANYTHING, 0, false},
    {"scale-down-candidates-pool-min-count", ANYTHING, 0, false},
    {"scale-down-candidates-pool-ratio", ANYTHING, 0, false},
    {"scale-down-non-empty-candidates-count", ANYTHING, 0, false},
    {"scale-down-simulation-timeout", ANYTHING, 0, false},
    {"scan-interval", DURATION, LOOP(scan_interval)},
    {"scheduler-config-file", ANYTHING, 0, false},
    {"scheduler-verbosity", ANYTHING, 0, false},
    {"status-config-map-name", TEXT, LOOP(status_name)},
    {"user-agent", ANYTHING, 0, false},
    {"v", ANYTHING, 0, false},
    /* of its log */
    {"add_dir_header", SWITCH, 0, false},
    {"alsologtostderr", SWITCH, 0, false},
    {"log_backtrace_at", ANYTHING, 0, false},
    {"log_dir", ANYTHING, 0, false},
    {"log_file", ANYTHING, 0, false},
    {"log_file_max_size", ANYTHING, 0, false},
    {"logging-format", ANYTHING, 0, false},
    {"logtostderr", SWITCH, 0, false},
    {"one_output", SWITCH, 0, false},
    {"skip_headers", SWITCH, 0, false},
    {"skip_log_headers", SWITCH, 0, false},
    {"stderrthreshold", ANYTHING, 0, false},
    {"vmodule", ANYTHING, 0, false},
    {"write-status-configmap", BOOLEAN, LOOP(write_status)},
};

uint32_t group_option_count(void)
{
    return COUNT_OF(table);
}

const char *group_option_name(uint32_t i)
{
    return table[i].name;
}

static bool has_meaning(const struct group_option *o)
{
    return o->type != ANYTHING && o->type != SWITCH;
}

bool group_option_has_meaning(uint32_t i)
{
    return has_meaning(&table[i]) && !table[i].of_loop;
}

/* --- values --- */

static void add(struct arena *a, struct spans *list, struct span text)
{
    struct span *items = ARENA_ARRAY(a, struct span, (size_t)list->count + 1);
    if (list->count != 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    items[list->count++] = text;
    list->items = items;
}

static void add_all(struct arena *a, struct spans *list, struct span names)
{
    while (names.ptr != NULL) {
        struct span one = span_cut(names, ',', &names);
        if (one.len != 0)
            add(a, list, one);
    }
}

/* Amounts as upstream takes them: whole and not negative, the least first. */
static bool read_bounds(struct span text, int64_t unit, int64_t *min, int64_t *max)
{
    struct span high;
    struct span low = span_cut(text, ':', &high);
    if (high.ptr == NULL || !span_int64(low, min) || !span_int64(high, max) || *min < 0 || *max < *min)
        return false;
    if (__builtin_mul_overflow(*min, unit, min))
        *min = INT64_MAX;
    if (__builtin_mul_overflow(*max, unit, max))
        *max = INT64_MAX;
    return true;
}

static bool read_gpus(struct arena *a, struct span text, struct group_flags *f)
{
    struct resource_bounds b, *items = ARENA_ARRAY(a, struct resource_bounds, (size_t)f->gpus.count + 1);
    struct span bounds;
    b.resource = span_cut(text, ':', &bounds);
    if (b.resource.len == 0 || bounds.ptr == NULL || !read_bounds(bounds, 1, &b.min, &b.max))
        return false;
    if (f->gpus.count != 0)
        memcpy(items, f->gpus.items, f->gpus.count * sizeof(*items));
    items[f->gpus.count++] = b;
    f->gpus.items = items;
    return true;
}

static bool read_expanders(struct span text, struct group_flags *f, struct err *err)
{
    static const char *const names[EXPANDER_COUNT] = {
        [EXPANDER_RANDOM] = "random",           [EXPANDER_MOST_PODS] = "most-pods", [EXPANDER_LEAST_WASTE] = "least-waste",
        [EXPANDER_LEAST_NODES] = "least-nodes", [EXPANDER_PRICE] = "price",         [EXPANDER_PRIORITY] = "priority",
    };
    f->expander_count = 0;
    while (text.ptr != NULL) {
        struct span one = span_cut(text, ',', &text);
        uint32_t e = 0;
        while (e < EXPANDER_COUNT && !span_eq(one, span_of(names[e])))
            e++;
        if (span_eq(one, SPAN("grpc")))
            return err_set(err, ERR_INVALID, "--expander: grpc is left out: there is nobody to ask");
        if (e == EXPANDER_COUNT)
            return err_set(err, ERR_INVALID,
                           "--expander: \"%.*s\" is none; use random, least-waste, most-pods, least-nodes, price or priority",
                           SPAN_ARG(one));
        for (uint32_t i = 0; i < f->expander_count; i++)
            if (f->expanders[i] == (enum expander)e)
                return err_set(err, ERR_INVALID, "--expander: %s is given twice", names[e]);
        if (f->expander_count != 0 && f->expanders[f->expander_count - 1] == EXPANDER_RANDOM)
            return err_set(err, ERR_INVALID, "--expander: random leaves one option; nothing may follow it");
        f->expanders[f->expander_count++] = (enum expander)e;
    }
    return true;
}

static bool read_bool(struct span text, bool *out)
{
    static const char *const yes[] = {"true", "1", "t", "T", "TRUE", "True"};
    static const char *const no[] = {"false", "0", "f", "F", "FALSE", "False"};
    for (size_t i = 0; i < COUNT_OF(yes); i++) {
        if (span_eq(text, span_of(yes[i])) || span_eq(text, span_of(no[i]))) {
            *out = span_eq(text, span_of(yes[i]));
            return true;
        }
    }
    return false;
}

static bool read_number(struct arena *a, struct span text, double *out)
{
    const char *from = arena_cstr(a, text);
    char *end;
    double v = strtod(from, &end);
    if (end == from || *end != '\0' || !(v >= 0 && v <= 1e15))
        return false;
    *out = v;
    return true;
}

static bool read_int32(struct span text, int32_t *out)
{
    int64_t v;
    if (!span_int64(text, &v) || v < INT32_MIN || v > INT32_MAX)
        return false;
    *out = (int32_t)v;
    return true;
}

static bool read_value(struct arena *a, const struct group_option *o, struct span text, struct group_options_given *out,
                       const char **what_out, struct err *err)
{
    struct group_flags *f = &out->settings.flags;
    void *at = (char *)out + o->offset;
    bool ignored;
    switch (o->type) {
    case BOOLEAN:
        *what_out = "neither true nor false";
        return read_bool(text, at);
    case SWITCH:
        *what_out = "neither true nor false";
        return read_bool(text, &ignored);
    case INTEGER:
        *what_out = "not an integer of 32 bits";
        return read_int32(text, at);
    case NUMBER:
        *what_out = "not a number of 0 or more";
        return read_number(a, text, at);
    case DURATION:
        *what_out = "not a duration like 10s or 1m30s";
        return duration_parse(text, at);
    case TEXT:
        *(struct span *)at = text;
        return true;
    case NAMES:
        add_all(a, at, text);
        return true;
    case NAME:
        add(a, at, text);
        return true;
    case CORES:
        *what_out = "not MIN:MAX, two whole numbers of cores";
        return read_bounds(text, 1, &f->cores_min, &f->cores_max);
    case MEMORY:
        *what_out = "not MIN:MAX, two whole numbers of GiB";
        return read_bounds(text, (int64_t)1 << 30, &f->memory_min, &f->memory_max);
    case GPUS:
        *what_out = "not TYPE:MIN:MAX, a type of GPUs and two whole numbers";
        return read_gpus(a, text, f);
    case EXPANDERS:
        return read_expanders(text, f, err);
    case TURNS:
        *what_out = "not PRIORITY:SECONDS,…, each priority once";
        return drain_turns_parse(a, text, at);
    case ANYTHING:
        return true;
    }
    return false;
}

/* --- flags --- */

bool group_option_is(struct span given, struct span name)
{
    if (given.len != name.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (given.ptr[i] != name.ptr[i] && (given.ptr[i] != '_' || name.ptr[i] != '-') &&
            (given.ptr[i] != '-' || name.ptr[i] != '_'))
            return false;
    return true;
}

bool group_option_cut(const char *arg, struct span *name_out, struct span *value_out)
{
    struct span text = span_of(arg);
    bool is_short = arg[0] == '-' && arg[1] == 'v' && (arg[2] == '\0' || arg[2] == '=' || (arg[2] >= '0' && arg[2] <= '9'));
    *value_out = (struct span){NULL, 0};
    if (span_has_prefix(text, SPAN("--"))) {
        *name_out = span_cut(span_of(arg + 2), '=', value_out);
        return true;
    }
    if (!is_short)
        return false;
    *name_out = (struct span){arg + 1, 1};
    if (arg[2] != '\0')
        *value_out = span_of(arg + (arg[2] == '=' ? 3 : 2));
    return true;
}

static const struct group_option *find(struct span name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (group_option_is(name, span_of(table[i].name)))
            return &table[i];
    return NULL;
}

static bool take_one(struct arena *a, const struct group_option *o, struct span text, struct group_options_given *out,
                     struct err *err)
{
    const char *what = NULL;
    err->kind = ERR_NONE;
    if (out->first == NULL && has_meaning(o) && !o->of_loop)
        out->first = o->name;
    if (out->first_of_loop == NULL && has_meaning(o) && o->of_loop && o->offset != offsetof(struct group_options_given, cloud_provider))
        out->first_of_loop = o->name;
    if (!has_meaning(o))
        add(a, &out->without_meaning, span_of(o->name));
    if (read_value(a, o, text, out, &what, err))
        return true;
    return err->kind != ERR_NONE ? false
                                 : err_set(err, ERR_INVALID, "--%s: \"%.*s\" is %s", o->name, SPAN_ARG(text), what);
}

/* Of the same name here, in the way that we write it. */
static char *own_flag(struct arena *a, const char *arg, const char *name)
{
    struct span rest = span_of(arg + 2 + strlen(name));
    return (char *)(uintptr_t)arena_printf(a, "--%s%.*s", name, SPAN_ARG(rest)).ptr; /* made here */
}

bool group_options_take(struct arena *a, int argc, char *const *argv, bool (*is_own)(struct span name),
                        struct group_options_given *out, int *count_out, char ***rest_out, struct err *err)
{
    char **rest = ARENA_ARRAY(a, char *, (size_t)argc + 1);
    *out = (struct group_options_given){.settings = group_settings_default()};
    *count_out = 0;
    for (int i = 0; i < argc; i++) {
        struct span value, name;
        const struct group_option *o = group_option_cut(argv[i], &name, &value) ? find(name) : NULL;
        bool is_short = argv[i][0] == '-' && argv[i][1] != '-';
        bool own = o != NULL && is_own != NULL && is_own(is_short ? SPAN("-v") : span_of(o->name));
        if (own && span_eq(span_of(o->name), SPAN("namespace"))) /* of ConfigMaps, as well as what it is there */
            out->settings.flags.config_namespace = value.ptr == NULL && i + 1 < argc ? span_of(argv[i + 1]) : value;
        if (o == NULL || own) {
            rest[(*count_out)++] = own && !is_short ? own_flag(a, argv[i], o->name) : argv[i];
            continue;
        }
        bool is_switch = o->type == BOOLEAN || o->type == SWITCH;
        if (value.ptr == NULL && !is_switch && i + 1 == argc)
            return err_set(err, ERR_INVALID, "--%s needs a value", o->name);
        if (value.ptr == NULL)
            value = is_switch ? SPAN("true") : span_of(argv[++i]);
        if (!take_one(a, o, value, out, err))
            return false;
    }
    *rest_out = rest;
    return true;
}

bool group_options_elsewhere(const struct group_options_given *g)
{
    return span_eq(g->cloud_provider, SPAN("clusterapi")) && (g->cloud_config.len != 0 || g->cloud_config_authoritative);
}
