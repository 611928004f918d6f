/* rest_cluster: a large cluster that does almost nothing, as its API server would tell of it: objects as
 * JSON, and what changes when. For bench_rest.
 *
 * Nodes of one type in three zones, each with its NodeClaim and CSINode; three DaemonSets; Deployments of a
 * hundred pods, of which some spread over zones, some prefer to be apart, and some have a volume each. It keeps a few
 * bytes of a pod and writes an object's text when somebody asks for it, so that the memory of the process is
 * that of who watches. Time is the caller's, in nanoseconds. */
#ifndef TESTS_BENCH_REST_CLUSTER_H
#define TESTS_BENCH_REST_CLUSTER_H

#include "base/buf.h"
#include "kube/api.h"

struct rest_load {
    uint32_t nodes, pods;
    uint32_t heartbeat_s;         /* every node's kubelet writes it, unchanged, once in so long */
    uint32_t changes_per_s;       /* events of pods that come, run and go */
    uint32_t rollout_per_min;     /* pods of a Deployment that is rolled out */
    uint32_t labelled_per_min;    /* nodes that get another label, one that a world is made of */
    uint32_t refused_per_min;     /* pods that the scheduler refuses at first */
};

struct rest_cluster;
struct rest_cluster *rest_new(const struct rest_load *load, int64_t wall_ms);
void rest_free(struct rest_cluster *c);

/* Every object of a kind, as a LIST has it. */
void rest_list(struct rest_cluster *c, enum kind k, void (*object)(void *user, struct span json), void *user);
uint32_t rest_count(const struct rest_cluster *c, enum kind k);

struct rest_event {
    int64_t at;
    enum kind kind; /* KIND_NONE: the reply to a write */
    enum watch_event what;
    struct span json; /* until the next call */
    bool refused;     /* a pod that waits for a plan from now on */
    api_done *done;   /* of a reply */
    void *user;
};
int64_t rest_due(const struct rest_cluster *c);              /* when the next event is */
void rest_take(struct rest_cluster *c, struct rest_event *out); /* that one */

/* A write that was sent at this time. Its reply and what the watches tell of it come as events. */
uint64_t rest_write(struct rest_cluster *c, int64_t at, const struct api_request *r, api_done *done, void *user);
uint32_t rest_writes(const struct rest_cluster *c); /* so far */

#endif
