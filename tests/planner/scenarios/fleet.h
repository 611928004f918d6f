/* fleet: the cluster of one scenario from batch to batch: its objects, and where its pods are.
 *
 * What a plan buys is launched, its pods are bound, and both are there in the next batch. The
 * machine is of the claim's first type, which is the cheapest; of its offerings a reserved one is
 * taken first, else the first that fits. */
#ifndef TESTS_SCENARIOS_FLEET_H
#define TESTS_SCENARIOS_FLEET_H

#include "json_case.h"

struct fleet {
    json_t *objects; /* a list */
    json_t *catalogue;
    json_t *places;    /* pod "namespace/name" → node name; only pods that have one */
    const char *stage; /* of launched nodes: initialized (default), registered, launching */
};

void fleet_init(struct fleet *f);
/* Takes over what a scenario or a batch says: adds objects, replaces pools and types, deletes. */
void fleet_change(struct fleet *f, const json_t *section);
void fleet_absorb(struct fleet *f, const json_t *plan);

json_t *fleet_find(const struct fleet *f, const char *kind, const char *name);
/* The names "namespace/name" of a pod, or of all replicas of that name; a mistake when none is. */
json_t *fleet_pods(const struct fleet *f, const char *name);
json_t *fleet_pod(const struct fleet *f, const char *full_name);
const char *fleet_place(const struct fleet *f, const char *full_name); /* NULL: none */
json_t *fleet_node_labels(const struct fleet *f, const char *node);

#endif
