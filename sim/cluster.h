/* cluster: a Kubernetes cluster in memory, behind the interface of the API client (kube/api.h).
 *
 * It answers as the API server answers (tests/contract asks both the same questions): one
 * resourceVersion for all objects, conflicts, generateName, generation, the status subresource,
 * finalizers, grace of pods, eviction under budgets, schema defaults of our CRDs. What other
 * programs of a cluster do (bind, run, create pods, collect garbage) is done by the stand-ins of
 * sim/sim.h, not here.
 *
 * Any number of clients see one cluster, each as its own `struct api`. Nothing happens by itself:
 * the thread that calls sim_cluster_step is the API thread of all clients, and runs their callbacks.
 * api_send and api_cancel may be called from any thread; everything else belongs to the API thread.
 *
 * Deterministic: the same calls at the same times give the same uids, names and versions. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "base/units.h"
#include "kube/api.h"

struct sim_cluster;

struct sim_cluster_options {
    wall_ms now;            /* the clock's first reading */
    span_ms apply_delay;    /* from sent to applied */
    span_ms reply_delay;    /* from applied to replied */
    span_ms watch_delay;    /* from applied to seen by a watch */
    void (*wake)(void *user); /* called, from any thread, when a step has something to do; may be NULL */
    void *user;
};

struct sim_cluster *sim_cluster_new(const struct sim_cluster_options *o);
void sim_cluster_free(struct sim_cluster *c); /* its clients go with it */

/* One round at time `now` (never earlier than before): applies what is due in the order it was sent,
 * replies, delivers watch events. True if anything was done. What callbacks send is for the next
 * round. */
bool sim_cluster_step(struct sim_cluster *c, wall_ms now);
/* When a step has something to do: `now` or earlier means now, INT64_MAX nothing known. */
wall_ms sim_cluster_due(struct sim_cluster *c);
/* The newest resourceVersion given: moves on every change. */
uint64_t sim_cluster_version(const struct sim_cluster *c);

/* ---- clients ---- */

struct api *sim_client_new(struct sim_cluster *c);
/* As when its process dies: no callback is called any more; what it sent and was not applied yet is
 * lost, what was applied stays. */
void sim_client_free(struct api *client);

/* What happens to a write. Writes are numbered from 1 for each client in the order they are
 * applied; Events, Leases and NodePool status are not counted and never touched. */
enum sim_fate {
    SIM_PASS,
    SIM_REFUSE, /* before only: answered with `refusal`, not applied */
    SIM_LOSE,   /* the connection ends: not applied (before) or applied (after); status 0 either way */
    SIM_KILL,   /* as SIM_LOSE, and the client is dead: no callback is ever called again */
};

struct sim_refusal {
    int status; /* 500 InternalError unless changed */
    const char *reason, *message;
    int32_t retry_after_s;
};

struct sim_faults { /* either function may be NULL */
    void *user;
    enum sim_fate (*before)(void *user, uint64_t number, const struct api_request *r,
                            struct sim_refusal *refusal);
    enum sim_fate (*after)(void *user, uint64_t number, const struct api_request *r);
};

void sim_client_set_faults(struct api *client, const struct sim_faults *f); /* copied; NULL: none */
bool sim_client_dead(const struct api *client);
uint64_t sim_client_writes(const struct api *client); /* counted so far */

/* Ends the client's watch of a kind with an error. It works again at `until`: resumed where it was,
 * or, with `expired` (410), listed anew. */
void sim_client_break_watch(struct api *client, enum kind k, wall_ms until, bool expired);
/* The client's next LISTs of a kind, so many, show no object, as those of an API server that answers wrongly. */
void sim_client_hide(struct api *client, enum kind k, uint32_t lists);

/* ---- as another client, at once ---- */

struct sim_answer {
    int status;
    struct span body; /* object or Status, JSON, in the arena given */
};

/* Applies the request now, without delay or fault: what a person does with kubectl. */
struct sim_answer sim_cluster_do(struct sim_cluster *c, struct arena *a, const struct api_request *r);
/* Puts objects from a YAML or JSON text into the cluster as they are, status included (Lists are
 * opened, namespaces that are missing are made, what is there already is replaced). Kinds that are
 * not known are counted in *passed_over_out (may be NULL). */
bool sim_cluster_load(struct sim_cluster *c, struct span text, uint32_t *passed_over_out,
                      struct err *err);

/* Puts one object of a kind into the cluster as it is, in the same way; it has a name. What is there
 * already stays, but for a Namespace. */
bool sim_cluster_add(struct sim_cluster *c, enum kind k, struct doc_value object, struct err *err);

/* Puts all of another cluster's objects into one that has none but its first namespaces and no watch yet. What was
 * created at the other's time was created now. Neither changes what the other has. */
void sim_cluster_adopt(struct sim_cluster *c, const struct sim_cluster *from);

uint32_t sim_cluster_count(const struct sim_cluster *c, enum kind k);
/* Those whose member at `path` ("status.phase", see sim/tree.h) is this string. */
uint32_t sim_cluster_count_of(const struct sim_cluster *c, enum kind k, const char *path,
                              const char *text);
/* The object as JSON in the arena, or an absent span. */
struct span sim_cluster_get(const struct sim_cluster *c, struct arena *a, enum kind k,
                            struct span ns, struct span name);
/* Calls `visit` with each object of the kind as JSON, oldest first. */
void sim_cluster_each(const struct sim_cluster *c, enum kind k,
                      void (*visit)(void *user, struct span object), void *user);

#endif
