/* pool_neighbours: what a NodePool is beside other objects that there are. Only ever told in warnings, where the pool is
 * written: the others may change a moment later. */
#ifndef KUBE_POOL_NEIGHBOURS_H
#define KUBE_POOL_NEIGHBOURS_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/pod.h"
#include "kube/requirement.h"

/* Its requirements and its template's labels. */
struct requirements pool_asked(struct arena *a, const struct node_pool *p, struct symtab *syms);
/* Another pool of the same weight buys for the same pods: both buy what is asked for, nodes of both have the same taints,
 * and some node could be of either. Of a pool with itself: false. `of_x`: pool_asked of x, which is compared with many. */
bool pools_compete(struct arena *a, const struct node_pool *x, const struct requirements *of_x, const struct node_pool *y,
                   struct symtab *syms);
/* `first` of `count` such. */
void pool_rival_warning(struct arena *a, const struct node_pool *p, const struct node_pool *first, uint32_t count,
                        struct findings *out);

/* Each limit below what nodes of the pool have already (`held`: its status.resources). */
void pool_limit_warnings(struct arena *a, const struct node_pool *p, struct resources held, const struct symtab *syms,
                         struct findings *out);

/* It runs somewhere or is to, no controller puts it onto each node, and it tolerates the pool's taints by their keys: who
 * tolerates everything is an agent of the cluster, and no reason for a pool. PreferNoSchedule keeps nobody away. */
bool pod_is_meant_for(const struct pod *pod, const struct node_pool *p, const struct symtab *syms);
/* The pool's first taint that keeps pods away; NULL: all may come. */
const struct taint *pool_barrier(const struct node_pool *p);
void pool_barrier_warning(struct arena *a, const struct taint *barrier, const struct symtab *syms, struct findings *out);

#endif
