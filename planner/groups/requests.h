/* requests: ProvisioningRequests as a pass over node groups takes them (spec node-groups 6.1): whose they are, and the pods
 * that stand for the room that each asks for.
 *
 * Of class check-capacity one is told whether its pods have room as the cluster stands, nodes on their way included; of
 * class best-effort-atomic-scale-up groups grow for what has none, for all of it or not at all. Whoever has got room keeps
 * it for ten minutes: the pods stand in the snapshot of each pass. A request's status is all that is known of it but for
 * `back_off` and what has not been seen there yet. Pure. */
#ifndef PLANNER_GROUPS_REQUESTS_H
#define PLANNER_GROUPS_REQUESTS_H

#include "kube/buffer.h"
#include "kube/provisioning_request.h"
#include "planner/groups/flags.h"

enum {
    REQUESTS_PODS_MAX = 100000, /* of all that are under way, as many as a cluster has; one that finds no room in that waits */
    REQUESTS_TOLD_MAX = 20,     /* whose end is written in one pass, as upstream */
};

/* The time of a booking, after which one that got nothing fails, and after which one that is over is deleted. */
#define REQUEST_BOOKED_MS ((span_ms)10 * MS_MINUTE)
#define REQUEST_LIFE_MS ((span_ms)7 * 24 * MS_HOUR)
#define REQUEST_KEPT_MS ((span_ms)7 * 24 * MS_HOUR)
#define REQUEST_TEMPLATE_MS ((span_ms)30 * MS_SECOND) /* a template may be seen later than who points at it */

#define REQUEST_CHECK_CLASS "check-capacity.autoscaling.x-k8s.io"
#define REQUEST_ATOMIC_CLASS "best-effort-atomic-scale-up.autoscaling.x-k8s.io"

struct capacity_request {
    const struct provisioning_request *object;
    bool atomic;   /* best-effort-atomic-scale-up */
    bool no_retry; /* of check-capacity: parameter noRetry */
    bool crowded;  /* its pods would be too many beside the others' */
    int64_t wanted; /* pods */
    struct span why; /* it can have no pods; absent: it can */
    const struct pod *const *pods; /* by pod set and number; none of one that is over */
    uint32_t pod_count;
    /* What the caller knows of it, before each pass. */
    span_ms back_off; /* from Provisioned=False to the next try */
    bool unsettled;   /* what was written last has not been seen: nothing is decided */
    bool booked;      /* that was Provisioned=True */
    bool grown;       /* groups have grown for it, which its status does not say yet */
    bool refused;     /* or could not */
};

struct capacity_requests {
    struct capacity_request *items; /* the oldest first, then by namespace and name */
    uint32_t count;
    bool turn; /* where ordinary pods ask, too, it is the requests' turn */
    bool (*is_late)(void *user); /* no further check-capacity request in this pass; NULL: never */
    void *user;
};

/* Those that this Stowage is to see to. All in `a`. */
struct capacity_requests capacity_requests_resolve(struct arena *a, struct symtab *syms, const struct group_flags *flags,
                                                   const struct provisioning_request *const *objects, size_t count,
                                                   const struct pod_template *const *templates, size_t template_count);

bool request_is(const struct capacity_request *r, struct span condition); /* it has the condition, and it is True */
/* Provisioned, and neither failed nor over: its room is kept. */
bool request_is_booked(const struct capacity_request *r);
/* The request that the pod waits for, of its namespace; absent: it waits for none. */
struct span request_consumed_by(const struct symtab *syms, const struct pod *p);
/* The pod stands for room of a request: its controller. */
bool pod_is_of_request(const struct pod *p);

enum request_outcome { /* of a pass; what is written of it is the caller's */
    REQUEST_LEFT,         /* nothing */
    REQUEST_ACCEPTED,     /* groups may grow for it once its status says so: whoever cannot be told is not bought for */
    REQUEST_FOUND,        /* its pods have room */
    REQUEST_GROWS,        /* for it this pass's decisions are */
    REQUEST_PROVISIONED,  /* groups have grown */
    REQUEST_NOT_FOUND,    /* it is tried again */
    REQUEST_FAILED,       /* it is not: noRetry */
    REQUEST_NO_PODS,      /* `why` */
    REQUEST_UNBOOKABLE,   /* `why`, though it had pods before */
    REQUEST_BOOKING_OVER, /* its time */
    REQUEST_CONSUMED,     /* as many pods as it asked for are bound */
    REQUEST_EXPIRED,
    REQUEST_OLD,          /* to be deleted */
};

struct request_told {
    const struct capacity_request *request;
    enum request_outcome outcome;
};

#endif
