/* node_check: what the schema of a NodePool refuses (spec api 1.2 and 1.3), for the `check` of the tables. What it
 * lets through is pool_validate's. Private to kube/. */
#ifndef KUBE_NODE_CHECK_H
#define KUBE_NODE_CHECK_H

#include "base/decode.h"

typedef void node_check(struct decode *d, struct doc_value v, const void *object);

node_check node_check_class_ref, node_check_budget;
/* Of the spec, read into this pool. */
struct node_pool;
void node_check_pool(struct decode *d, struct doc_value spec, const struct node_pool *p);

#endif
