/* shape: what of a pod decides where it can run, written down as words.
 *
 * Written with symbols it is equal inside one world, which makes classing a pod one hash of a few
 * dozen words; written with hashes of their texts it is equal in every process. */
#ifndef PLANNER_PODS_SHAPE_H
#define PLANNER_PODS_SHAPE_H

#include "kube/pod.h"
#include "planner/intern.h"

struct shape {
    struct words words;
    const struct symtab *texts; /* NULL: symbols as they are */
};

/* Requests, node selector and affinity, tolerations, host ports, spread constraints, pod affinity. */
void shape_pod(struct shape *s, const struct pod *p);

/* Parts of it. */
void shape_sym(struct shape *s, sym id);
void shape_labels(struct shape *s, struct sym_pairs labels);
void shape_expressions(struct shape *s, struct expressions list);
void shape_tolerations(struct shape *s, struct tolerations list);
void shape_ports(struct shape *s, struct host_ports ports);
void shape_node_selector(struct shape *s, const struct pod *p); /* with required affinity */

#endif
