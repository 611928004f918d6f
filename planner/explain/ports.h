/* ports: who holds a host port that a pod wants. */
#ifndef PLANNER_EXPLAIN_PORTS_H
#define PLANNER_EXPLAIN_PORTS_H

#include "planner/explain/group_words.h"

/* "host port 8080 is taken by shop/web-0", of a row; absent: none is. */
struct span ports_on_row(const struct group_question *q, uint32_t row);
/* "host port 9100, which DaemonSet kube-system/exporter takes on each node", of the option's new nodes;
 * absent: none is taken. *holder_out is its name. */
struct span ports_on_option(const struct group_question *q, uint32_t option, struct span *holder_out);

#endif
