/* stages: the steps of a pass, each in the file of its name. For this folder only. */
#ifndef RECONCILER_STAGES_H
#define RECONCILER_STAGES_H

#include "reconciler/act.h"
#include "reconciler/state.h"

/* status/pool_status.c: conditions, counts and hash annotations of NodePools. */
void pool_status_run(struct pass *p);
/* What a pool's nodes that are not leaving have, and how many they are (spec api 5.6). */
uint32_t pool_usage(const struct pass *p, const struct node_pool *pool, struct resources *out);
/* A launch of this pool's went well or not; `reason`, `message`: of the condition when unhealthy.
 */
void pool_status_launched(struct pass *p, const struct node_claim *claim, bool ok,
                          struct span reason, struct span message);

/* A node of this pool's takes pods for the first time. */
void pool_status_ready(struct pass *p, const struct node_claim *claim);
struct launch_fact;
/* How the pools' launches went. */
uint32_t pool_launches(const struct pass *p, struct arena *a, const struct launch_fact **out);

/* status/buffer_status.c: CapacityBuffers: what they are resolved to wakes the planner and is written into their
 * status, and so is what the last plan did with their virtual pods. */
void buffer_status_run(struct pass *p);
void buffer_status_planned(struct pass *p, const struct plan *plan); /* claims have their names */
/* Virtual pods are planned on the claim's node, or nobody knows yet whether they are. */
bool buffers_need(const struct pass *p, const struct node_claim *c);

/* status/overlay_status.c: conditions of NodeOverlays. */
void overlay_status_run(struct pass *p);

/* lifecycle/lifecycle.c: NodeClaims from their creation to a node that is initialised. */
void lifecycle_run(struct pass *p);

/* lifecycle/pod_events.c: pods that came, ended or began to leave move their claim's lastPodEventTime; pods
 * that wait open the batch. */
void pod_events_run(struct pass *p);

/* disruption/do_not_disrupt.c: what a pod's annotation comes to, by Events. `before`: as the last pass saw it; NULL: not. */
void do_not_disrupt_seen(struct pass *p, const struct pod *before, const struct pod *now);
/* The annotation's time may have ended after `since`, the last look; 0: the first. */
void do_not_disrupt_scan(struct pass *p, const struct pod *pod, wall_ms since);

/* static/static_pools.c: NodePools with replicas have that many nodes. Before plans are made: pods may go there. */
void static_pools_run(struct pass *p);
/* What the template says and nothing else; the provider takes the cheapest that suits. False: no type
 * can be had by it. */
bool static_claim(struct pass *p, const struct node_pool *pool, struct plan_claim *out);

/* provision/provision.c: from waiting pods to NodeClaims and places. */
void provision_run(struct pass *p);

/* status/transitions.c: what conditions of NodeClaims and NodePools became is measured. */
void transitions_run(struct pass *p);

/* provision/planned.c: stowage.dev/planned of claims on their way says who is planned there now. */
void planned_run(struct pass *p);

/* provision/nominate.c: with options.nominate, and in clusters of options.nominate_from, places become
 * status.nominatedNodeName; what is ours and not meant any more is taken back with and without. */
void nominate_run(struct pass *p);

/* provision/scheduling.c: what a solve is measured by, under Karpenter v1.15.0's names. */
struct scheduling {
    struct pass *p;
    uint64_t began, told; /* ns; told: since then */
    bool stopped;
    bool choosing; /* between pools and groups: half of the time is left for the plan that is carried out */
    bool given_up; /* by the listener: the plan is for nobody */
};
void scheduling_begin(struct scheduling *s, struct pass *p);
bool scheduling_tick(void *s); /* a plan's `stop`: measures, and stops what takes too long */
struct why scheduling_put_off(void *s, const struct pod *pod);   /* a plan's `put_off` */
/* False: the plan is not to be carried out. */
bool scheduling_end(struct scheduling *s, const struct plan *plan);

/* provision/pod_times.c: how long pods wait, under Karpenter v1.15.0's names. */
void pod_times_seen(struct pass *p, const struct pod *pod); /* it changed, or nobody looked for a while */
void pod_times_wake(struct pass *p, const struct pod *pod); /* it waits for a plan: the first time counts */
void pod_times_decided(struct reconciler *r, const struct pod *pod, bool placed); /* by a plan */
void waiting_memo_release(struct memo *m);

/* disruption/expiration.c */
void expiration_run(struct pass *p);
/* lifecycle/drift_ask.c: providers are asked whether claims are drifted. */
void drift_ask_run(struct pass *p);
/* lifecycle/garbage.c: claims whose machine is gone, machines whose claim is gone. */
void garbage_run(struct pass *p);
/* disruption/ask.c: which nodes are to leave, why others stay, and the commands that see to it. */
void disruption_run(struct pass *p);
/* disruption/moves.c: what is under way and what is recommended, for the listener. */
void moves_tell(struct pass *p);
/* disruption/legacy_repair.c: nodes that are not well, the former way. */
void legacy_repair_run(struct pass *p);
/* disruption/reboot.c: machines that are started anew in their place. */
void reboot_run(struct pass *p);
/* disruption/ranks.c: pods of nodes that are to go first say so to whoever scales down. */
void ranks_run(struct pass *p);
/* disruption/daemon_room.c: pods make room for DaemonSets' on nodes that stand. */
void daemon_room_run(struct pass *p);
/* termination/termination.c: finalizers of NodeClaims and Nodes. */
void termination_run(struct pass *p);
/* termination/evict.c: moves the pods of a leaving node on, once a plan has had a look at where to; true when none is
 * waited for. `c` may be NULL. */
bool evict_run(struct pass *p, const struct node_view *n, const struct claim_view *c);
/* Evicts a pod of a node that stays; `reason` is told of it. False: it is not its turn, or it is under way. */
bool pod_evict(struct pass *p, const struct node_view *n, const struct pod *pod, struct span reason);
/* Volumes of the pods of a drained node are still attached to it. */
bool detach_run(struct pass *p, const struct node_view *n);

/* ---- shared by several ---- */

struct claim_end { /* what is counted once a claim is deleted */
    const char *why; /* reason of the metrics; "": was counted */
    struct span policy; /* of its pool, in snake case; absent: it is no consolidation */
    const struct measure *also; /* or NULL */
};
enum { CLAIM_MEASURES = 2 };
/* It, and the pods that have to move. */
void claim_measures(struct pass *p, const struct claim_view *c, const struct claim_end *end,
                    struct measure out[CLAIM_MEASURES]);
/* "graceful", "eventual" or "forceful", by how long its drain may take. Static storage. */
struct span claim_termination_mode(const struct node_claim *claim);
/* Deletes a NodeClaim, by this UID only; d (kind, subject, sentence …) is told when it is sent. False: a call for it is
 * under way. */
bool claim_delete(struct pass *p, const struct claim_view *c, const struct claim_end *end,
                  const struct decision *d, const char *sentence);
/* It is being deleted, or we have asked for it a moment ago. */
bool claim_is_leaving(const struct pass *p, const struct claim_view *c);
/* Writes the Node's taints with or without karpenter.sh/disrupted:NoSchedule; the gate must be
 * open. `exclude`: and the label that takes it out of load balancers. */
void node_patch_taint(struct pass *p, const struct node_view *n, bool disrupted, bool exclude);
/* Writes the Node's taints with or without one of this key and effect NoSchedule; the gate must be open. */
void node_put_taint(struct pass *p, const struct node_view *n, sym key, bool wanted);
/* Writes the claim's conditions; its gate must be open. */
void claim_patch_conditions(struct pass *p, const struct claim_view *c, const struct condition_set *s);
/* Writes until when its pods may stay (karpenter.sh/nodeclaim-termination-timestamp); `why`: told, or NULL. False: its gate
 * is shut. */
bool claim_write_deadline(struct pass *p, const struct claim_view *c, wall_ms at, const struct decision *why);
/* Until when the pods of a claim that leaves may stay; a step of the clock since its deletion does not count. 0: no limit. */
wall_ms claim_deadline_now(const struct pass *p, const struct claim_view *c);
bool node_has_taint(const struct node *n, sym key, enum taint_effect effect);
/* Pods bound to the node, not terminal. */
const struct pod *const *node_pods(const struct pass *p, const struct node_view *n,
                                   uint32_t *count_out);
struct place;
/* The pod of a place that still has to be bound; NULL: it is bound, or gone. */
const struct pod *place_pod(const struct pass *p, const struct place *place);
/* The present plan has places on it for pods that are not bound; of a node that the world has. */
bool node_is_promised(struct pass *p, const struct node_view *n);

#endif
