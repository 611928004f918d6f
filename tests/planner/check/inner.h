/* inner: what the files of the check share: the plan as read, the hosts, and the rules between one pod
 * and one host. */
#ifndef TESTS_PLANNER_CHECK_INNER_H
#define TESTS_PLANNER_CHECK_INNER_H

#include "check.h"

/* --- the plan as written --- */

struct written_claim {
    struct span name, pool;
    struct expressions requirements;
    struct sym_pairs labels;
    struct sym_pairs annotations;
    struct taints taints;
    struct spans types;
    bool has_price;
    double price;
    struct resources requests;
    struct spans pods;
};

struct written_node {
    struct span name;
    struct spans pods;
};

struct written_unschedulable {
    struct span pod, reason, message;
    struct spans details;
};

struct written_plan {
    struct {
        struct written_claim *items;
        uint32_t count;
    } claims;
    struct {
        struct written_node *items;
        uint32_t count;
    } nodes;
    struct {
        struct written_unschedulable *items;
        uint32_t count;
    } unschedulable;
    bool has_before, has_after, has_bound;
    double before, after, lower_bound;
    bool complete;
    struct spans warnings;
};

/* --- hosts: every node that there is or will be --- */

struct may { /* a label: the host will carry one of the values */
    sym key;
    struct syms values;
};

struct mays {
    struct may *items;
    uint32_t count, capacity;
};

struct pods {
    const struct pod **items;
    uint32_t count, capacity;
};

struct outcome { /* one thing that a claim may become; of a Node there is one */
    struct mays labels;
    const struct instance_type *type;    /* NULL: not known, or it does not matter any more */
    const struct offering *offering;
    struct resources room;               /* allocatable */
};

struct host {
    struct span name;              /* as the plan names it */
    const struct node *node;       /* standing; or NULL */
    const struct node_claim *claim; /* of a standing one; or NULL */
    const struct written_claim *planned; /* or NULL */
    const struct node_pool *pool;  /* of what is planned; NULL: not known */
    bool leaving; /* or removed */
    bool removed; /* by plan --remove */
    struct taints taints;
    struct outcome *outcomes;
    uint32_t outcome_count, outcome_capacity;
    struct pods bound;  /* and staying: not terminal, not planned anew */
    struct pods pods;   /* planned, in the plan's order */
    /* while binding is played through */
    struct sym_pairs labels;
    struct pods present;
    uint32_t next; /* of pods */
};

struct check {
    const struct cluster *c;
    struct arena arena;
    struct symtab *syms; /* of its own, over the cluster's */
    struct written_plan plan;
    struct host *hosts;
    uint32_t host_count;
    struct buf *out;
    uint32_t broken;
};

#define COUNT(k_, kind_) ((k_)->c->kinds[kind_].count)
#define AT(k_, kind_, type_, i_) ((const type_ *)(k_)->c->kinds[kind_].items[i_])

/* One rule is broken. Always false, so that a rule can be left with it. */
bool broken(struct check *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct span text_of(const struct check *k, sym s);
struct span pod_name(struct check *k, const struct pod *p); /* "default/a" */

/* read.c: false when the text is no plan at all, which is said. */
bool read_plan(struct check *k, struct span text);

/* pass.c: who is planned, and everybody once. Fills hosts' pods. */
bool in_pass(const struct check *k, const struct pod *p);
/* The node takes no pod of a removed one like this: its pool's consolidateAfter is not over. */
bool is_closed_to(const struct check *k, const struct host *h, const struct pod *p);
void check_pass(struct check *k);
void check_unschedulable(struct check *k);
const struct pod *pod_named(struct check *k, struct span name); /* "default/a"; or NULL */

/* defaults.c: the pod with the spreading that the scheduler gives it */
const struct pod *with_default_spread(struct check *k, const struct pod *p);

/* hosts.c */
void hosts_find(struct check *k); /* standing ones with their bound pods, and the claims */
struct host *host_named(const struct check *k, struct span name, bool planned); /* or NULL */
const struct node_pool *pool_named(const struct check *k, struct span name);
bool pool_usable(const struct check *k, const struct node_pool *p);
const struct instance_type *type_named(const struct check *k, struct span name, struct span pool);
struct resources host_capacity(struct check *k, const struct host *h); /* of a standing one */

/* rules.c: what one pod asks of one host */
bool value_meets(const struct check *k, sym value, const struct expression *e);
/* Whether all expressions about the key let the value through. */
bool values_allowed(const struct check *k, struct expressions list, sym key, sym value);
const struct may *may_get(const struct mays *l, sym key); /* or NULL: the label is not there */
struct may *may_put(struct check *k, struct mays *l, sym key); /* found or added, without values */
void may_set(struct check *k, struct mays *l, sym key, sym value);
/* Whatever value is taken; any_way: whether some value suits. */
bool selects(struct check *k, const struct pod *p, const struct mays *labels, bool any_way);
bool term_selects(struct check *k, struct expressions term, const struct mays *labels, bool any_way);
const struct taint *not_tolerated(const struct check *k, const struct pod *p, struct taints taints); /* or NULL */
bool ports_clash(const struct pod *a, const struct pod *b);
void add_requests(struct check *k, struct resources *sum, const struct pod *p); /* and one pod */
const struct pod *daemon_of(struct check *k, const struct daemon_set *d); /* as its next pod will be */

/* claims.c: what is written of a claim. Fills the outcomes of those that make sense. */
void check_claims(struct check *k);
/* What the claim may become as this type; the requirement that the type does not meet, or NULL. */
const struct requirement *add_outcomes(struct check *k, struct host *h,
                                       const struct instance_type *t);

/* rooms.c: what hosts must hold, whatever they become; the pools' limits */
void check_rooms(struct check *k);
void check_limits(struct check *k);
/* Requests of DaemonSet pods that will come to the host and are not there. */
struct resources daemons_to_come(struct check *k, const struct host *h, const struct outcome *o);

/* left_out.c */
void check_left_out(struct check *k);

/* volumes.c: of one host: volumes can be reached from it, and attached; of all: pods that share an
 * unbound claim meet in one zone */
bool volumes_hold(struct check *k, const struct host *h);
void volumes_meet(struct check *k);

/* topology.c: spreading and pod affinity with what is on the hosts now */
bool neighbours_allow(struct check *k, const struct pod *p, const struct host *h,
                      const char **rule_out, sym *key_out);
/* Somebody else's spreading or anti-affinity may count this pod, or it has anti-affinity of its own:
 * when it is bound may matter to others. */
bool binding_matters(struct check *k, const struct pod *p);
bool pod_is_terminating(const struct pod *p);

/* split.c */
void check_split(struct check *k);
/* The pod with what its owner's split asks of it, itself when nothing; NULL: it may have been either. */
const struct pod *with_split(struct check *k, const struct pod *p);

/* order.c */
void check_order(struct check *k);

/* cost.c */
/* What the pool (NULL: none) says that a node costs beside its price. */
double cost_of_node(const struct node_pool *pool);
void check_cost(struct check *k);

#endif
