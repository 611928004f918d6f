/* workload: the kinds that say something about pods: DaemonSets, PodDisruptionBudgets, Namespaces, those
 * whose selector gives pods their default topology spread (spec provisioning 4.11), and those whose template
 * says in a file what pods there will be. */
#ifndef KUBE_WORKLOAD_H
#define KUBE_WORKLOAD_H

#include "kube/storage.h"

struct daemon_set {
    struct meta meta;
    struct pod template; /* spec.template: metadata, spec */
};

struct disruption_budget { /* policy/v1 PodDisruptionBudget */
    struct meta meta;
    bool has_selector;
    struct label_selector selector;
    struct span max_unavailable, min_available; /* IntOrString as text; absent: not set */
    bool evict_unhealthy;                       /* unhealthyPodEvictionPolicy AlwaysAllow */
    /* status: how many more may be evicted, and of how many pods how many must and do stand ready */
    int32_t disruptions_allowed, expected, desired, healthy;
};

struct ns { /* Namespace */
    struct meta meta;
};

struct service { /* only its selector is read */
    struct meta meta;
    bool has_selector; /* {} selects every pod of the namespace, null none */
    struct sym_pairs selector;
};

struct claim_templates { /* volumeClaimTemplates */
    struct volume_claim *items;
    uint32_t count;
};

/* apps/v1 Deployment, ReplicaSet and StatefulSet, v1 ReplicationController (whose selector is plain
 * labels). What a CapacityBuffer asks of the first three is read by scalable_schema only, a struct pod for
 * each of a cluster's many old ReplicaSets being too much to keep; what files' workloads stand for by
 * workload_schema, stateful_workload_schema and replication_workload_schema. */
struct controller {
    struct meta meta;
    struct label_selector selector;
    bool has_replicas;
    int32_t replicas;     /* absent: 1 */
    struct pod *template; /* NULL: not read */
    struct claim_templates claims;
};

/* batch/v1 Job and CronJob: in files. Of a cluster only who the Jobs are, by job_name_schema. */
struct job {
    struct meta meta;
    bool has_parallelism, has_completions; /* absent: 1; as many as it takes */
    bool suspended;
    int32_t parallelism, completions, succeeded;
    struct pod *template;
    struct conditions conditions;
};

struct cron_job {
    struct meta meta;
    bool suspended;
    struct job job; /* spec.jobTemplate */
};

extern const struct schema daemon_set_schema, disruption_budget_schema, namespace_schema,
    service_schema, controller_schema, replication_controller_schema, scalable_schema,
    workload_schema, stateful_workload_schema, replication_workload_schema, job_schema, cron_job_schema,
    job_name_schema;

#endif
