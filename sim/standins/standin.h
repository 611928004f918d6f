/* standin: what the stand-ins share. Each stands for one program of a real cluster, reads the
 * in-memory cluster's objects directly and writes at once, as another client would.
 *
 * A step does what is due and returns when it next has something to do: INT64_MAX when only a change
 * can bring it work. All of it is deterministic: objects are taken in the order in which they were
 * made. */
#ifndef SIM_STANDIN_H
#define SIM_STANDIN_H

#include "sim/cluster_state.h"
#include "sim/sim.h"
#include "sim/standins/marks.h"

/* Runs something `delay` after the first change of some kinds that it has not seen. */
struct pacer {
    const enum kind *kinds; /* KIND_NONE ends the list */
    span_ms delay;
    uint64_t seen; /* version of the newest change known */
    bool waiting;
    wall_ms due;
};

bool pacer_is_due(struct pacer *p, const struct objects *o); /* then it is not waiting any more */
wall_ms pacer_due(const struct pacer *p); /* INT64_MAX: not waiting */

/* Requests as the stand-ins send them; true when the API server agreed. */
bool standin_delete(struct objects *o, enum kind k, const json_t *object, const json_t *options);
bool standin_create(struct objects *o, enum kind k, struct span ns, json_t *object /* taken */);
/* Replaces the object itself (not its status); `fresh` is taken. */
bool standin_update(struct objects *o, enum kind k, const json_t *old, json_t *fresh);

/* Not terminal and not being deleted. */
bool standin_pod_is_active(const json_t *pod);
/* A Pod from the template of `owner`, owned by it, named after it; NULL templates give a bare pod. */
json_t *standin_pod_of(const json_t *owner, enum kind owner_kind);
/* Of a template, whatever the order of its members: what names a revision of it. */
enum { STANDIN_HASH_MAX = 11 };
void standin_template_hash(const json_t *template, char out[STANDIN_HASH_MAX]);
/* What standin_pod_of left open: nodes that a DaemonSet's pod may run on (spec contracts 6.1). */
struct match;
struct match *match_new(const json_t *pod_spec); /* which outlives it */
void match_free(struct match *m);
bool match_node(struct match *m, const json_t *node);

/* Each of these hears of the cluster's changes from init to release and looks at what they concern. */

/* Deployments keep ReplicaSets, ReplicaSets keep pods. */
struct workloads {
    struct objects *objects;
    struct pacer pacer;
    struct marks deployments, sets; /* to be looked at */
    struct groups by_controller;    /* pods */
    struct groups by_deployment;    /* ReplicaSets */
    struct counts active, ready;    /* pods by their controller's uid; who is ready is active */
};
void workloads_init(struct workloads *w, struct objects *o, span_ms delay);
void workloads_release(struct workloads *w);
wall_ms workloads_step(struct workloads *w);

/* StatefulSets keep pods that have names, and the claims of these. */
struct stateful {
    struct objects *objects;
    struct pacer pacer;
    struct marks sets;
    struct groups by_set; /* pods by their set's uid */
    json_t *revisions;    /* uid of a set → name of a revision → template */
};
void stateful_init(struct stateful *s, struct objects *o, span_ms delay);
void stateful_release(struct stateful *s);
wall_ms stateful_step(struct stateful *s);

/* Claims get volumes, in the zone of their first pod. */
struct provisioner {
    struct objects *objects;
    struct pacer pacer;
    struct marks claims;
    json_t *placed;   /* key of an unbound claim → node of the first pod that was bound with it */
    json_t *released; /* names of volumes whose claim is gone */
};
void provisioner_init(struct provisioner *p, struct objects *o, span_ms delay);
void provisioner_release(struct provisioner *p);
wall_ms provisioner_step(struct provisioner *p);

/* DaemonSets keep one pod on each node that suits. */
struct daemons {
    struct objects *objects;
    struct pacer pacer;
    struct marks sets;
    struct groups by_controller; /* pods */
};
void daemons_init(struct daemons *d, struct objects *o, span_ms delay);
void daemons_release(struct daemons *d);
wall_ms daemons_step(struct daemons *d);

/* The disruption controller: status of PodDisruptionBudgets. */
struct budget_keeper {
    struct objects *objects;
    struct pacer pacer;
    wall_ms expiry; /* not after the next disruptedPods entry to forget; 0: there is none */
    struct marks budgets;
    struct groups members; /* pods by the key of the budget that selects them */
};
void budget_keeper_init(struct budget_keeper *b, struct objects *o, span_ms delay);
void budget_keeper_release(struct budget_keeper *b);
wall_ms budget_keeper_step(struct budget_keeper *b);

/* The garbage collector: dependents of owners that are gone, contents of namespaces that are gone,
 * Events after their hour. */
struct collector {
    struct objects *objects;
    struct pacer pacer;
    wall_ms expiry;
    struct marks marks[KIND_COUNT];
    struct groups by_owner[KIND_COUNT]; /* all that have an owner, by its uid */
};
void collector_init(struct collector *c, struct objects *o, span_ms delay);
void collector_release(struct collector *c);
wall_ms collector_step(struct collector *c);

/* kwok: nodes become Ready, pods run, deleted pods end; and the node controllers' part: the not-ready
 * taint is taken off, pods of vanished nodes are removed. */
struct kubelet {
    struct objects *objects;
    const struct sim_delays *delays;
    struct marks nodes, pods; /* to be looked at */
    struct groups by_node;    /* pods */
    json_t *nodes_due, *pods_due; /* key → what, of which uid, when */
    struct kubelet_later {
        wall_ms when;
        enum kind kind;
        json_t *key;
    } *later; /* a heap of these by time, old entries among them */
    uint32_t later_count, later_capacity;
};
void kubelet_init(struct kubelet *k, struct objects *o, const struct sim_delays *delays);
void kubelet_release(struct kubelet *k);
wall_ms kubelet_step(struct kubelet *k);

struct scheduler;
struct scheduler *scheduler_new(struct sim_cluster *c, span_ms delay);
void scheduler_free(struct scheduler *s);
void scheduler_set_extender(struct scheduler *s, const struct sim_extender *e); /* NULL: none */
wall_ms scheduler_step(struct scheduler *s);

#endif
