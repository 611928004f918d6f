/* explain: finds what a person asks about, and answers from a plan (planner/explain/answer.h). */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include "kube/pod_budgets.h"
#include "kube/store.h"
#include "planner/explain/answer.h"
#include "planner/places.h"
#include "server/options.h"

struct explain_question {
    enum kind kind; /* KIND_POD, KIND_NODE, KIND_NODE_POOL */
    bool group;     /* a node group, which is no object: KIND_NONE */
    bool move;      /* a disruption, by the id of its decision, which only a server has: KIND_NONE */
    struct span workload; /* "Deployment": its pods are asked about, KIND_POD; absent: one pod is, or those whose names
                           * go on where this one ends, at a dash, when there is none of that name */
    struct span ns; /* of pods; absent: default */
    struct span name;
    wall_ms at; /* of a NodePool: when its nodes would be disrupted; 0: now */
};

/* "pod", "node", "nodepool", "group", "move" or "deployment" and other workloads, or kubectl's plurals and short names, and a
 * name, which of pods and workloads may be NAMESPACE/NAME; else it is in `ns`, absent: default. False: not one of
 * them. */
bool explain_parse(struct span kind, struct span name, struct span ns, struct explain_question *out,
                   struct err *err);

const char *explain_word(const struct explain_question *q); /* "pod", "deployment" … */

struct explain_objects { /* by which names are found, and what a node waits for */
    const struct pod *const *pods;
    const struct node_pool *const *pools;
    struct pod_budgets budgets;
    const struct volume_attachment *const *attachments;
    const struct volume_claim *const *claims;
    size_t pod_count, pool_count, attachment_count, claim_count;
    struct span loss; /* why no node is removed: an unconfirmed LIST; absent: there is none */
};
struct explain_objects explain_objects_of(struct arena *a, const struct snapshot *s);

/* What node groups have to say of a pod that waits, in `a`; absent: nothing. NULL: they are not asked. */
struct explain_groups {
    struct span (*place)(void *user, struct arena *a, const struct pod *p);   /* "a new node of group a" */
    struct span (*refusal)(void *user, struct arena *a, const struct pod *p); /* why none takes it: "2 Insufficient cpu" */
    void *user;
};

/* `o` made the plan, and whom groups take is not among its unschedulable pods; plan_tell has been called. False: there is no such
 * object; *err names the nearest. */
bool explain_answer(struct plan *p, const struct explain_objects *all, const struct explain_groups *groups,
                    const struct explain_question *q, const struct plan_options *o,
                    struct explanation *out, struct err *err);

struct explain_live {
    const struct snapshot *snapshot;
    const struct world *world;
    const struct places *places;      /* or NULL */
    const struct plan_options *options; /* policies; NULL: the defaults */
    wall_ms now;
    mono_ms until; /* then planning stops with what it has */
    /* Why the reconciler plans nothing for a pod for a while (plan_options.put_off), in `a`; NULL: it plans
     * for all. */
    struct why (*put_off)(void *user, struct arena *a, const struct pod *p);
    /* Why nodes of a NodePool that have drifted are let alone, in `a`; absent: they are not. NULL: nobody knows. */
    struct span (*drift_paused)(void *user, struct arena *a, const struct meta *pool);
    struct explain_groups groups; /* `place` is not asked: places have it */
    void *user;
};

/* Writes the answer as JSON. A pod that has a place already is told so without planning anew. */
bool explain_write(const struct explain_live *live, const struct explain_question *q,
                   struct buf *out, struct err *err);

/* Answer in JSON to be shown; everything in `a`. */
bool explain_decode(struct arena *a, struct span json, struct explanation *out, struct err *err);

#endif
