/* topology: rules that look at where other pods are. Topology spread, pod affinity, anti-affinity.
 *
 * What a pod asks for becomes *groups*, shared by all pods that ask the same: a key, the pods that
 * count (a *watch*: a selector in some namespaces) and how their numbers by *domain* (a value of the
 * key) decide. Required anti-affinity is also a group the other way round, `inverse`: its numbers
 * are of the pods that ask, and it holds for the pods that the watch selects.
 *
 * Key 0 is kubernetes.io/hostname, whose domains are nodes and claims themselves; other keys have a
 * dense list of domains, in the order of their names: what nodes carry and what can be bought.
 *
 * The world counts bound pods. What a search adds or takes away is in a tally (tally.h). */
#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "kube/pod.h"
#include "kube/requirement.h"
#include "planner/bits.h"
#include "planner/intern.h"
#include "planner/pods/namespaces.h"
#include "planner/topology/pairs.h"

struct default_spread;
struct pod_class;
struct world;

enum topology_kind { TOPOLOGY_SPREAD, TOPOLOGY_AFFINITY, TOPOLOGY_ANTI_AFFINITY };

struct topology_part {
    uint32_t watch, key;
};

struct topology_watch {
    bool nobody;     /* no selector at all */
    uint32_t volume; /* + 1: those that use it, and no others; 0: by selector */
    struct syms namespaces;
    struct label_selector selector;
    /* Of several required affinity terms of one pod, a part each: those whom every part's watch means, and
     * no others. Namespaces and selector are the first part's then. */
    const struct topology_part *parts;
    uint32_t part_count;
};

/* Which nodes count for a spread constraint. */
struct topology_filter {
    bool by_affinity; /* nodeAffinityPolicy Honor: one of `terms` matches */
    bool by_taints;   /* nodeTaintsPolicy Honor: all taints are tolerated */
    const struct requirements *terms; /* node selector and one required term each */
    uint32_t term_count;
    struct tolerations tolerations;
};

struct topology_group {
    enum topology_kind kind;
    bool inverse;
    bool optional; /* a node without the key will do */
    bool hard;     /* some pod must keep to it, rather than would like to */
    uint32_t key, watch, filter; /* filter of spread only */
    int32_t max_skew, min_domains;
    const uint32_t *with; /* groups of all parts of its watch, itself included */
    uint32_t with_count;
    /* by topology_finish; keys other than hostname: */
    uint32_t *counts;  /* bound pods by domain */
    uint64_t *domains; /* spread: those that count for the least number */
    uint32_t total;    /* bound pods, hostname too */
};

enum { DOMAIN_NONE = -1, DOMAIN_OPEN = -2 };

struct topology_key {
    sym key;
    sym *domains;
    uint32_t count, words;
    uint32_t first;  /* domains of the keys before: first + domain is a number of its own */
    uint32_t *index; /* by sym, + 1; 0: no domain */
    uint32_t limit;  /* of index */
    int32_t *of_row; /* domain, DOMAIN_NONE or DOMAIN_OPEN (a claim not launched yet) */
    bool given;      /* types or offerings say the value; else it is a label of the NodeClaim */
    bool flat;       /* every type has one least price, in whatever domain it is bought */
};

/* The groups that matter to pods of one class, whatever the attempt. */
struct topology_ties {
    const uint32_t *counted_by; /* not inverse */
    const uint32_t *kept_off_by; /* inverse, of others */
    const uint32_t *keeps_off;   /* inverse, its own */
    uint32_t counted_by_count, kept_off_by_count, keeps_off_count;
};

struct topology {
    struct arena *arena;
    struct symtab *syms;
    struct namespaces namespaces;
    struct intern watch_ids, filter_ids, group_ids, key_ids;
    struct topology_watch *watches;
    uint32_t watch_count, watch_capacity;
    struct topology_filter *filters;
    uint32_t filter_count, filter_capacity;
    struct topology_group *groups;
    uint32_t group_count, group_capacity;
    struct topology_key *keys;
    uint32_t key_count, key_capacity;
    struct pairs hosts;   /* bound pods by hostname group and row */
    bool *visible;        /* label keys, by sym below visible_limit, that some selector asks for */
    uint32_t visible_limit;
    bool any;             /* some pod has a rule of this kind */
    const struct watch_index *index; /* by topology_finish; NULL: no groups */
};

/* Looks at every pod for the label keys that selectors ask for: to be done before the first put. */
void topology_init(struct topology *t, struct arena *a, struct symtab *syms,
                   const struct world_input *in, struct default_spread *spread);
bool topology_sees(const struct topology *t, sym label_key);

/* The pod states rules of this kind. */
bool topology_rules(const struct pod *p);

/* Groups of a pod. The same rule gives the same number. */
uint32_t topology_put_spread(struct topology *t, const struct pod *p, const struct spread *s);
/* Pods that share a volume without a zone, to be kept together in one. */
uint32_t topology_put_volume(struct topology *t, uint32_t volume);
uint32_t topology_put_term(struct topology *t, const struct pod *p, const struct pod_term *term,
                           enum topology_kind kind, bool inverse);
/* Required affinity, a group a term. As kube-scheduler's InterPodAffinity has it, a pod counts for any of the
 * terms only if all of them mean it. */
void topology_put_affinity(struct topology *t, const struct pod *p, const struct pod_terms *terms,
                           uint32_t *groups_out);

/* Some pod must keep to these. */
void topology_harden(struct topology *t, const uint32_t *groups, uint32_t count);

/* When all classes, options, rows and profiles are there: domains, ties and numbers. */
void topology_finish(struct topology *t, struct world *w);

/* The same for a class that comes later and has no group of its own. */
void topology_tie(struct world *w, struct arena *a, struct pod_class *k);
/* Where the row is by the key, among the domains there are; false: in one that is not among them. */
bool topology_row_domain(struct world *w, const struct topology_key *k, uint32_t row, int32_t *domain_out);
/* Numbers and domains of its own, in the arena, for those that moves change. */
void topology_copy_counts(struct world *w, struct arena *a);
/* A bound pod of the class comes (by 1) or goes (by -1). One that is being deleted, `goes`, counts for nobody
 * any more, but keeps others off until it is gone: kube-scheduler and Karpenter ask its own anti-affinity. */
void topology_move(struct world *w, const struct pod_class *k, bool goes, uint32_t row, int by);

/* Whether pods of the class count for the watch. */
bool topology_watched(const struct topology *t, uint32_t watch, const struct pod_class *k);
/* Pods that share a volume meet on nodes without a zone, too; but from there it may not be reached in a zone, nor the
 * other way round. They count in `total` alone. */
static inline bool topology_meets_nowhere(const struct topology_group *g)
{
    return g->optional && g->kind == TOPOLOGY_AFFINITY;
}
/* The domain of a value, or DOMAIN_NONE. */
int32_t topology_domain(const struct topology_key *k, sym value);
/* Whether pods on such a node count for the group; `undefined`: keys it may leave open. */
bool topology_admits(const struct world *w, const struct topology_group *g,
                     const struct requirements *labels, struct taints taints,
                     struct syms undefined);
/* Whether they do whatever comes of it: a machine that may be bought on demand or spot may turn out either. Types
 * are not looked at, so that it may say no too often. */
bool topology_surely_admits(const struct world *w, const struct topology_group *g,
                            const struct requirements *labels);
/* How many pods of the class the group lets on one new node, as it counts them all: by their own anti-affinity or
 * spread over hostname. 0: it does not limit them. */
uint32_t topology_most_on_node(const struct world *w, const struct pod_class *k, uint32_t group);
bool topology_counts_row(const struct world *w, const struct topology_group *g, uint32_t row);
/* Whether a pod counts there as it does on the other row: in the same domain, or nowhere. */
bool topology_counts_alike(const struct world *w, uint32_t group, uint32_t row, uint32_t other);

#endif
