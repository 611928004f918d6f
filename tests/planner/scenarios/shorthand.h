/* shorthand: the short forms of a scenario file (README.md) as Kubernetes objects and as a
 * catalogue.
 *
 * A key that a form does not have is a mistake, so that a slip of the pen cannot make a scenario
 * say less than its author meant. */
#ifndef TESTS_SCENARIOS_SHORTHAND_H
#define TESTS_SCENARIOS_SHORTHAND_H

#include "json_case.h"

/* One short key of a form and how it is written into the object. */
struct short_key {
    const char *key;
    void (*apply)(json_t *object, json_t *value); /* NULL: read elsewhere */
};
void short_keys_apply(const char *form, const struct short_key *keys, size_t count,
                      const json_t *short_form, json_t *object);

/* Copies of one entry: "$i" in any text becomes 1, 2, …; with `replicas` the name gets "-$i". */
json_t *replicas_of(const json_t *entry);

json_t *taints_of_texts(const json_t *list);      /* "key=value:NoSchedule" */
json_t *selector_of_labels(const json_t *labels); /* a labelSelector, or what already is one */

json_t *pod_of_short(const json_t *short_form);
json_t *daemon_of_short(const json_t *short_form);
json_t *pool_of_short(const json_t *short_form);
json_t *pvc_of_short(const json_t *short_form);
json_t *pv_of_short(const json_t *short_form);
json_t *class_of_short(const json_t *short_form);
json_t *csi_node_of_short(const json_t *short_form);
/* A Node, its NodeClaim, or both; `catalogue` fills in what the node's type says. */
json_t *node_of_short(const json_t *short_form, const json_t *catalogue);

/* "C0", "C1(5)", "assorted" or a list of short types. */
json_t *catalogue_of_short(const json_t *types);
json_t *catalogue_find(const json_t *catalogue, const char *type); /* NULL when it is not in it */
json_t *type_allocatable(const json_t *type, const json_t *offering);
/* The value a type or offering has for a key: its own, or of several the first that `wanted` lets
 * be; NULL when none. */
const char *value_of_requirements(const json_t *own, const char *key, const json_t *wanted);

#endif
