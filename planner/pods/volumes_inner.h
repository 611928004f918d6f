/* volumes_inner: what the volumes_*.c files share. */
#ifndef PLANNER_PODS_VOLUMES_INNER_H
#define PLANNER_PODS_VOLUMES_INNER_H

#include "planner/pods/volumes.h"

static const uint32_t VOLUME_OWN = UINT32_MAX; /* no enumerator: those are ints */

struct volume_facts { /* of one claim */
    uint32_t shared;  /* its number, or VOLUME_OWN */
    uint32_t last;    /* serial of the pod or question that met it last */
    bool known;       /* the rest is worked out */
    bool unbound;
    sym driver;       /* whose limits it counts against; SYM_NONE: nobody's */
    struct span invalid, error;
    struct volume_alternatives alternatives;
};

/* The objects that a claim leads to; each may be NULL. */
struct volume_chain {
    const struct volume_claim *claim;
    const struct volume *volume;        /* named by the claim */
    const struct storage_class *class_; /* of an unbound claim */
    struct expressions selected;        /* the Node for which that one's volume is being made; none: empty */
    sym driver;                         /* that attaches it; SYM_NONE: none we know */
};

/* The first rule of validation that the claim breaks (spec provisioning 1.2.2), or an absent span. */
struct span volumes_invalid(struct volumes *v, const struct volume_chain *c);
/* What cannot be looked up, or an absent span. */
struct span volumes_error(struct volumes *v, const struct volume_chain *c);
struct span volumes_missing(struct volumes *v, const struct pod *p, const struct pod_volume *volume);

/* A claim's own. Equal ones stand in one place: most volumes are just in one of a few zones. */
struct volume_alternatives volumes_alternatives(struct volumes *v, const struct volume_chain *c);
/* Each with each; at most VOLUMES_ALTERNATIVES_MAX. */
void volumes_combine(struct volumes *v, struct volume_need *n, struct volume_alternatives more);

#endif
