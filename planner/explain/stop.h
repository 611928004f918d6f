/* stop: what one rule of one pool says against a pod, in words about the pod without its name. */
#ifndef PLANNER_EXPLAIN_STOP_H
#define PLANNER_EXPLAIN_STOP_H

#include "planner/explain/groups.h"

struct stop {
    enum opening rule;
    const struct requirement *asked; /* of labels and types: the one at fault; NULL: several, or all */
    uint32_t column;                 /* of limits */
    uint32_t group;                  /* of topology; GROUPS_TOGETHER: all of them */
    struct span sentence;            /* "asks for 200 CPUs; the largest type …" */
    struct span fix; /* "let pool general buy a larger type"; of taints and most labels: stop_fix */
};

/* Some of the option's taints the attempt does not tolerate. */
void stop_taints(const struct group_question *q, uint32_t option, struct stop *out);
/* The option does not go along with this requirement of the attempt. */
bool stop_clashes(const struct group_question *q, uint32_t option, const struct requirement *asked);
/* One that clashes; NULL: the attempt contradicts itself. */
void stop_requirement(const struct group_question *q, uint32_t option, const struct requirement *asked,
                      struct stop *out);
/* Any rule that comes after these. `asked`: what is asked of labels. */
void stop_opening(const struct group_question *q, uint32_t option, enum opening rule,
                  const struct requirements *asked, struct stop *out);
/* What helps against it. q->try is the attempt that was asked about. */
struct span stop_fix(const struct group_question *q, uint32_t option, const struct stop *s);
/* An affinity to pods that are nowhere stops it in every pool; false: the group is no such one. */
bool stop_nowhere(const struct group_question *q, uint32_t option, uint32_t group, struct stop *out);
/* The first limit, from `column` on, that no type can keep: the pod alone asks for more than is left.
 * False: there is none. */
bool stop_spent(const struct group_question *q, uint32_t option, uint32_t column, struct stop *out);

#endif
