/* group_provider: where node groups come from, and who makes and ends their machines (spec node-groups 2.1, 2.2). What
 * cloud/provider.h is for NodeClaims.
 *
 * A group has one shape of machine, and a target: how many of them its cloud is asked to have. A target counts at once:
 * who looks after a resize that was accepted sees the new one, though no machine may exist yet.
 *
 * `look` asks nobody and is cheap: it says what the provider knows by the watches of the engine's store (`kinds`) and by
 * what it was asked for itself. The others are asynchronous: they return at once, and `done` is called exactly once, on
 * the API thread or within the call, also after a cancel. */
#ifndef CLOUD_GROUP_PROVIDER_H
#define CLOUD_GROUP_PROVIDER_H

#include "kube/node_groups.h"
#include "kube/store.h"

/* Of err: ERR_CAPACITY (no more machines of this shape now), ERR_INVALID (it will never be taken: above the maximum,
 * below the minimum, no such group or machine), ERR_CONFLICT (somebody else resized it: look again), ERR_RETRY,
 * ERR_CANCELLED. Its message is what a person reads. */
typedef void group_done(void *user, const struct err *err);

struct group_provider;

/* Of a template's CPU: Cluster Autoscaler's providers put a kube-proxy on the nodes that they have not seen yet. */
enum { GROUP_KUBE_PROXY_MILLICPU = 100 };

enum group_method { GROUP_RESIZE, GROUP_REMOVE, GROUP_METHOD_COUNT };

struct group_provider_limits {
    span_ms patience[GROUP_METHOD_COUNT]; /* how long an answer is waited for; then it is cancelled and counts as ERR_RETRY */
    uint32_t calls;                       /* under way at once */
};

struct group_provider_ops {
    const char *name; /* "kwok", "clusterapi": --cloud-provider; ClusterRole stowage-groups-NAME grants what it needs */
    struct group_provider_limits limits;
    const enum kind *kinds; /* that it has to have listed and watched beside Nodes; ends with KIND_NONE */
    /* The groups there are now, by name: name, min, max, target, machines (all of them, those that are being made, end
     * or could not be made included; ids are providerIDs), nodes (providerIDs or names of those that registered, which the snapshot has),
     * template, price, options of their own; and gpu_label, pod_prices, cloud. Never what a controller remembers:
     * requests, mismatches, back-off, `state`. In `a`, interned into `syms`. False: the pass ends with err
     * (cloudProviderError); ERR_RETRY: what it goes by is being read, look again. What is wrong with one group leaves that one
     * out and is told by `aside`. */
    bool (*look)(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms,
                 struct node_groups *out, struct err *err);
    /* What look left out, and why: "MachineDeployment default/md-0: annotation … is \"x\": a whole number is
     * expected". Lives until the next look. */
    uint32_t (*asides)(struct group_provider *p, const struct span **out);
    /* From `from` to `to` machines, `from` being the target as it was looked at. More: IncreaseSize; less: only requests
     * that are no machines yet are withdrawn (DecreaseTargetSize), ERR_INVALID when that would end machines. */
    uint64_t (*resize)(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done, void *user);
    /* Ends these machines, and lowers the target by as many; all or none where the cloud can. Done when it is accepted for
     * good. `force`: also below the minimum. An id that is gone already is no error. */
    uint64_t (*remove)(struct group_provider *p, struct span group, const struct span *ids, uint32_t count, bool force,
                       group_done *done, void *user);
    void (*cancel)(struct group_provider *p, uint64_t operation);
    void (*free)(struct group_provider *p); /* no operation may be under way, or the API client is gone */
};

struct group_provider {
    const struct group_provider_ops *ops;
};

#endif
