/* namespaces: which namespaces a pod affinity term means, as Karpenter v1.15.0 reads it: without list and
 * selector the pod's own; with a list that list; with a selector all namespaces it matches, and the list.
 *
 * Every namespace carries the label kubernetes.io/metadata.name, as the API server sees to. A namespace
 * that has pods but no Namespace object (a dump of pods alone) exists with that label only. */
#ifndef PLANNER_PODS_NAMESPACES_H
#define PLANNER_PODS_NAMESPACES_H

#include "planner/world.h"

struct known_namespace {
    sym name;
    struct sym_pairs labels;
};

struct namespaces {
    struct arena *arena;
    struct symtab *syms;
    struct known_namespace *items; /* by name's id */
    uint32_t count;
};

/* One pass over the pods: only worth it when some term has a namespace selector. Writes to the symbol
 * table. */
void namespaces_init(struct namespaces *n, struct arena *a, const struct world_input *in);

bool namespaces_know(const struct namespaces *n, sym name);
/* Names, sorted by id. The empty selector matches all. */
struct syms namespaces_matching(const struct namespaces *n, const struct label_selector *s);
/* `n` may be NULL when the term has no namespace selector. Sorted by id, unique. */
struct syms namespaces_of_term(const struct namespaces *n, struct arena *a, const struct pod_term *t,
                               sym own);

#endif
