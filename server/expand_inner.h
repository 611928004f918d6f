/* expand_inner: what expand.c and expand_make.c share. */
#ifndef SERVER_EXPAND_INNER_H
#define SERVER_EXPAND_INNER_H

#include "kube/workload.h"
#include "server/expand.h"

struct workload {
    enum kind kind;
    const struct meta *meta; /* the object itself, which begins with it */
    const struct pod *template;
    const struct controller *controller; /* the same object; NULL: a Job, CronJob or PodTemplate */
    const char *asks;                    /* the field that says how many */
    int64_t wanted, made;
    int64_t pods;                        /* in the input, and neither ended nor going */
    bool has_pods;                       /* in the input, whatever has become of them */
    bool filled_up;                      /* to the number that is wanted */
    struct workload *parent;             /* of a ReplicaSet: the Deployment whose pods its pods are */
    const struct controller *newest;     /* of a Deployment: its ReplicaSet that was made last */
};

struct expansion {
    struct input *o;
    struct workload *items; /* by kind, namespace and name */
    size_t count, first[KIND_COUNT], end[KIND_COUNT];
    size_t pods_given, claims_given; /* before anything was made up: in the order of namespace and name */
    int64_t made;
};

/* A pod that its workload counts: neither ended nor going. */
static inline bool expand_counts(const struct pod *p)
{
    return !pod_is_terminal(p) && p->meta.deleted == 0;
}
/* Whose number somebody sets: no Job, no PodTemplate, and of a Deployment itself, not its ReplicaSets. */
static inline bool expand_has_replicas(const struct workload *w)
{
    return w->controller != NULL && w->parent == NULL && w->template != NULL && w->meta->deleted == 0;
}
/* Whether a pod of that name was given and has not ended. */
bool expand_is_there(const struct expansion *x, struct span ns, struct span name);
/* Whose the pod is; NULL: none of them. */
struct workload *expand_owner(const struct expansion *x, const struct pod *p);
/* Makes the pods that the workload wants, or lacks if it is filled up, and what they need. */
void expand_make(struct expansion *x, struct workload *w);
/* expand_replicas.c: how many each of these workloads is to have. */
bool expand_take_replicas(struct expansion *x, const struct counts *replicas, struct err *err);
/* Takes the pods away that a workload has beyond those it wants. */
void expand_shrink(struct expansion *x, const struct workload *w);

#endif
