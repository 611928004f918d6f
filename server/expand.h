/* expand: the pods that workloads in files stand for.
 *
 * People have Deployments, StatefulSets, ReplicaSets, ReplicationControllers, Jobs, CronJobs and PodTemplates
 * in their files, and no pods: the controllers make them. Here they are made as the controllers would, as far
 * as a plan can tell: named NAME-0, NAME-1… (a Deployment's by a ReplicaSet that is made up too), with the
 * template's labels and the controller's own, controlled by the workload, as pods that no node has room for,
 * younger than all others. Claims that a StatefulSet or an ephemeral volume would have made are made
 * too, when their StorageClass is in the input and waits for the first consumer.
 *
 * A workload that has any pod in the input stands for none: one that it controls, or one without a controller
 * that its selector takes, whatever has become of it. So a dump of a cluster is planned as it is, also in the
 * middle of a rollout; a cluster that is read (input_cluster.h) is too, whatever its workloads lack. A workload that
 * files give on top of a cluster, or whose number is asked for, is filled up: to the pods that it has come those that
 * it lacks, made of its template, or those go that are too many, pods without a node and then the youngest first, of a
 * StatefulSet the last. DaemonSets are no workloads here: a plan counts their pods by node. */
#ifndef SERVER_EXPAND_H
#define SERVER_EXPAND_H

#include "server/input.h"

/* Of all workloads together: as many as a cluster may have, by Kubernetes' own limits for large clusters. */
enum { EXPAND_PODS_MAX = 150000 };

struct expand_options {
    bool include_cron_jobs;
    bool on_top; /* of a cluster: what is from a file is filled up */
    const struct counts *replicas; /* workload=N, as NAME or NAMESPACE/NAME; NULL: none */
};

/* Adds what is made up to the input, after input_check; warnings name it, and what stands for nothing. False: a
 * name of `replicas` is of no workload, or of several. */
bool expand_workloads(struct input *o, const struct expand_options *options, struct err *err);
/* Makes nothing up; a warning counts the workloads that have no pods in the input. */
void expand_warn(struct input *o);

#endif
