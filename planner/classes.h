/* classes: pods of one shape are one class with a count.
 *
 * A shape is what decides where a pod can run: requests, constraints, host ports. It splits into a
 * request vector and tries: the ways to state its constraints, in the order in which the search
 * relaxes them (spec provisioning 4.3). Each try is a signature, shared by all classes that ask the
 * same, so that what suits a signature is worked out once whatever the requests are. */
#ifndef PLANNER_CLASSES_H
#define PLANNER_CLASSES_H

#include "kube/pod.h"
#include "kube/requirement.h"
#include "planner/intern.h"

/* One statement of constraints: node selector and one required term, tolerations, host ports. */
struct signature {
    struct requirements requirements;
    struct tolerations tolerations;
    struct host_ports ports;
};

struct attempt { /* one way to try a class */
    uint32_t signature;
    bool soft; /* tolerates every PreferNoSchedule taint: the last step of relaxation */
};

/* What this version cannot plan; a pod that needs it is NotSupported, never planned wrongly. */
enum needed_rule {
    RULE_NONE,
    RULE_SPREAD,
    RULE_AFFINITY,
    RULE_ANTI_AFFINITY,
    RULE_REPELLED, /* a bound pod's required anti-affinity matches this one */
    RULE_VOLUMES,
    RULE_DEVICES, /* resource claims: a reason of its own */
    RULE_PREFERRED_SPREAD,
    RULE_PREFERRED_AFFINITY,
    RULE_PREFERRED_NODE,
    RULE_COUNT,
};

struct pod_class {
    uint32_t first_attempt, attempt_count;
    uint32_t pods;                    /* in the world */
    enum needed_rule needs;           /* whatever the options say */
    enum needed_rule needs_preferred; /* unless preferences are ignored */
    bool daemon;                      /* DaemonSet pods: room held for DaemonSets is theirs */
    struct span invalid;              /* why validation leaves the pod out (1.2); absent: valid */
    const struct pod *example;
};

/* A bound pod's required anti-affinity: which pods its presence keeps away. */
struct repeller {
    sym ns;
    const struct pod_term *term;
};

struct classes {
    struct arena *arena;
    struct symtab *syms;
    const sym *columns; /* resource names of a request vector */
    uint32_t column_count;
    const struct label_rules *rules;
    struct repeller *repellers; /* to be complete before the first classes_put */
    uint32_t repeller_count, repeller_capacity;

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
};

void classes_init(struct classes *c, struct arena *a, struct symtab *syms, const sym *columns,
                  uint32_t column_count, const struct label_rules *rules);
/* Bound pods first: their anti-affinity decides which others are RULE_REPELLED. */
void classes_add_repeller(struct classes *c, const struct pod *bound);
uint32_t classes_put(struct classes *c, const struct pod *p);
int32_t classes_find(const struct classes *c, const struct pod *p); /* -1: shape unknown */

static inline const amount *classes_requests(const struct classes *c, uint32_t class_id)
{
    return c->requests + (size_t)class_id * c->column_count;
}

/* -1: none */
int32_t classes_column(const struct classes *c, sym resource);
/* Adds to a vector what it has a column for. */
void classes_add_vector(const struct classes *c, amount *vector, struct resources r);

const char *rule_text(enum needed_rule r); /* "topology spread constraints"… */
bool ports_conflict(struct host_ports a, struct host_ports b);

#endif
