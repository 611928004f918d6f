/* input_cluster: what a plan needs of a cluster, read from its API server instead of files, or below them.
 *
 * Nothing is written. A kind that is not installed has no objects; one of a feature's (kind_is_optional) that may not
 * be read is passed over with a warning, since an API server says "forbidden" of what it does not know, too; any other
 * that cannot be read is a mistake. What the files have wins over what the cluster has of the same name. */
#ifndef SERVER_INPUT_CLUSTER_H
#define SERVER_INPUT_CLUSTER_H

#include "kube/api.h"
#include "server/input.h"

#define INPUT_CLUSTER "the cluster" /* in messages, where files have their names */

struct input_cluster {
    struct api *api;
    /* Runs callbacks, and returns after something happened or a while; its clock's milliseconds. */
    mono_ms (*wait)(void *user);
    void *user;
    struct span server; /* for messages: "https://10.0.0.1:6443" */
};

/* Of all kinds that the gates and options ask for. False: some cannot be read: mistake_lines and *err say which and why. */
bool input_cluster_read(struct input *o, const struct options *options, const struct input_cluster *c, struct err *err);
/* The same from the cluster of the kubeconfig that options name. */
bool input_cluster_load(struct input *o, const struct options *options, struct err *err);

#endif
