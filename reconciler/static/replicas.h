/* replicas: of a pool with spec.replicas, how many NodeClaims it gets and which leave first, as Karpenter
 * v1.15.0 has it. What Karpenter leaves open goes by name. Pure. */
#ifndef RECONCILER_STATIC_REPLICAS_H
#define RECONCILER_STATIC_REPLICAS_H

#include "kube/node.h"
#include "kube/pod.h"

struct tally { /* NodeClaims of a pool; each is one of these */
    int64_t active;
    int64_t sent;     /* by us, not seen yet */
    int64_t replaced; /* another takes its place before it goes */
    int64_t leaving;
};

/* Who is replaced counts as there, so that none is made for it twice. */
bool tally_is_enough(const struct tally *t, const struct node_pool *pool);
/* How many may be asked for now: what is missing, within limits.nodes, of which all count, and so that
 * no more than `at_once` are on their way. At least 0. */
int64_t tally_grant(const struct tally *t, const struct node_pool *pool, int64_t at_once);
int64_t pool_nodes_limit(const struct node_pool *pool); /* limits.nodes; INT64_MAX: none */

/* What has no machine leaves first, then empty nodes, then those whose pods cost least to move, and last
 * those with a pod that must not be disrupted. */
enum leaver_rank {
    LEAVER_NO_MACHINE,
    LEAVER_NO_NODE, /* launched; to Karpenter it is empty */
    LEAVER_EMPTY,   /* no pods but DaemonSets' without do-not-disrupt */
    LEAVER_BUSY,
    LEAVER_DO_NOT_DISRUPT,
    LEAVER_RANK_COUNT,
};
const char *leaver_rank_text(enum leaver_rank r); /* "no machine yet"; static storage */

struct leaver {
    const struct node_claim *claim;
    uint32_t at; /* the caller's */
    bool has_node;
    const struct pod *const *pods; /* bound to its node and not ended */
    uint32_t pod_count;
    /* filled in by replicas_order */
    enum leaver_rank rank;
    double cost; /* of its pods, by what is left of its lifetime (expireAfter) */
};

/* Sorts: who leaves first comes first. */
void replicas_order(struct leaver *list, uint32_t count, wall_ms now);

#endif
