/* classes: pods of one shape are one class with a count.
 *
 * A shape is what decides where a pod can run: requests, constraints, host ports, and the labels that
 * some pod's selector asks for. It splits into a request vector and attempts: the ways to state its
 * constraints, in the order in which the search relaxes them (Karpenter v1.15.0's order). An attempt
 * is a signature, shared by all classes that ask the same, so that what suits a signature is worked
 * out once whatever the requests are, and the topology groups that bind it. */
#ifndef PLANNER_PODS_CLASSES_H
#define PLANNER_PODS_CLASSES_H

#include "kube/pod.h"
#include "kube/requirement.h"
#include "planner/pods/default_spread.h"
#include "planner/intern.h"
#include "planner/topology/topology.h"
#include "planner/pods/split.h"
#include "planner/pods/volumes.h"

/* One statement of constraints: node selector and one required term, the heaviest preference left,
 * tolerations, host ports. */
struct signature {
    struct requirements requirements;
    struct requirements strict; /* without the preference: the domains in which topology counts */
    struct tolerations tolerations;
    struct host_ports ports; /* sorted */
    bool impossible; /* no node can meet it: it contradicts itself, or its required term is empty */
    bool empty_term; /* the latter, as Kubernetes has it */
};

struct attempt { /* one way to try a class */
    uint32_t signature;
    bool soft; /* tolerates every PreferNoSchedule taint: the last step of relaxation */
    bool tied;   /* groups bind it, or look at its pods */
    bool wavers; /* what refuses it now may take it later: spread, affinity */
    uint32_t given_up; /* how many of the pod's preferences it does not ask for; 1 more when soft */
    uint32_t group_count, key_count, where_count;
    const uint32_t *groups; /* that it is bound by */
    const uint32_t *keys;   /* topology keys in which it must have one definite domain */
    const uint32_t *where;  /* sets of which the node must meet one: where its volumes are */
};

struct shared_volume {
    uint32_t volume; /* number */
    uint32_t column; /* of attachments */
};

struct pod_class {
    uint32_t first_attempt, attempt_count; /* preferences first */
    uint32_t first_strict, strict_count;   /* without preferences: --preference-policy Ignore, and
                                              what must hold at all */
    bool devices;           /* has resource claims, which nothing is planned for */
    bool beyond;            /* states more than is planned for: only its requests are known */
    bool daemon;            /* DaemonSet pods: room held for DaemonSets is theirs */
    struct span invalid;    /* why validation leaves the pod out; absent: valid */
    struct span error;      /* why it fails wherever it is tried; absent: it does not */
    const struct shared_volume *shared; /* volumes that other pods use too: attached once a node */
    uint32_t shared_count;
    const uint32_t *unbound; /* volumes, of several pods, whose zone is still open */
    uint32_t unbound_count;
    enum split_side side;   /* of its owner's split, asked for in each attempt beside what it asks itself */
    uint32_t split_owner;   /* number; of no account without a side */
    uint32_t surplus;       /* its pods stand on the side that has so many too many: as many of them as
                               that come back as this class, the others as `keeps` */
    uint32_t keeps;         /* the same on the other side */
    sym ns;                 /* with topology rules about only */
    struct sym_pairs labels; /* those that some selector asks for */
    struct topology_ties ties;
    const struct pod *example; /* a copy: no pod outlives its class by it */
};

struct classes {
    struct arena *arena;
    struct symtab *syms;
    const sym *columns; /* resource names of a request vector */
    uint32_t column_count;
    uint32_t resource_count; /* columns that are resources; those behind count volumes by CSI driver */
    const struct label_rules *rules;
    struct topology *topology;
    struct volumes *volumes;
    struct default_spread *spread;
    const struct split *split;

    struct intern shapes;   /* as pods come; several may be one class */
    uint32_t *class_of_shape;
    uint32_t shape_capacity;
    struct intern merged;
    struct intern stated;   /* signatures */

    struct pod_class *items;
    uint32_t count, capacity;
    amount *requests; /* count rows of column_count */
    uint32_t requests_capacity;
    struct attempt *attempts;
    uint32_t attempt_count, attempt_capacity;
    struct signature *signatures;
    uint32_t signature_count, signature_capacity;
    struct intern set_ids;
    struct requirements *sets; /* see struct attempt, where */
    uint32_t set_count, set_capacity;
};

/* Of *init, what has no count yet. */
void classes_init(struct classes *c, const struct classes *init);
/* Goes on in another arena, with arrays of its own. The old one must stay: what is in them points there. */
void classes_copy(struct classes *c, struct arena *a);
uint32_t classes_put(struct classes *c, const struct pod *p);
int32_t classes_find(const struct classes *c, const struct pod *p); /* -1: shape unknown, or it has volumes */
/* The same, also of one with volumes. */
int32_t classes_recall(const struct classes *c, const struct pod *p);

static inline const amount *classes_requests(const struct classes *c, uint32_t class_id)
{
    return c->requests + (size_t)class_id * c->column_count;
}

/* -1: none */
int32_t classes_column(const struct classes *c, sym resource);
/* Adds to a vector what it has a column for. */
void classes_add_vector(const struct classes *c, amount *vector, struct resources r);

/* Of a pod with fewer preferences each attempt drops one, as upstream does. More are dropped in so many steps, of
 * each kind: a pod states all that is left anew in each. */
enum { ATTEMPT_STEPS = 32 };
/* Attempts of a pod, appended to c->attempts: attempts.c. */
void classes_state(struct classes *c, const struct pod *p, const struct volume_need *need,
                   struct pod_class *k);

/* It is left out because it asks for no node of any pool: nobody needs to be told. */
bool class_shuns_pools(const struct pod_class *k);
struct host_ports ports_sorted(struct arena *a, struct host_ports ports);
/* The first are a signature's, or one, or sorted otherwise. */
bool ports_conflict(struct host_ports sorted, struct host_ports others);

#endif
