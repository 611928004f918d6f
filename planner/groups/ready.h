/* ready: whether a node counts as ready, and what of its taints a template has (spec node-groups 2.4, 2.5). */
#ifndef PLANNER_GROUPS_READY_H
#define PLANNER_GROUPS_READY_H

#include "planner/groups/model.h"

/* Start-up taints, and GPUs that are promised and not there yet, included. */
bool group_node_ready(const struct group_model *m, const struct group_flags *flags, const struct symtab *syms,
                      const struct node *n);
/* It is, has been for a minute, stays, and takes pods: good to make a template of. */
bool group_node_steady(const struct group_model *m, const struct group_flags *flags, const struct symtab *syms,
                       const struct node *n, wall_ms now);
bool node_is_suspended(const struct node *n);
bool node_is_to_be_deleted(const struct node *n); /* it has the taint, whatever its age */
/* A taint of this one node, that a new one does not have. */
bool taint_is_passing(const struct group_flags *flags, const struct symtab *syms, sym key);
/* The first resource that is a GPU and of which there are some; SYM_NONE: none is. */
sym group_gpu_of(struct resources r, const struct symtab *syms);
/* The resources that are GPUs, in upstream's order. */
const struct span *group_gpu_names(uint32_t *count_out);

#endif
