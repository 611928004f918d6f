/* stop_inner: for the files of stop.h. */
#ifndef PLANNER_EXPLAIN_STOP_INNER_H
#define PLANNER_EXPLAIN_STOP_INNER_H

#include "planner/explain/stop.h"

static inline const struct signature *stop_signature(const struct group_question *q)
{
    return &q->p->world->classes.signatures[q->try->signature];
}

static inline const struct option *stop_option(const struct group_question *q, uint32_t option)
{
    return &q->p->world->options[option];
}

static inline struct span stop_pool(const struct group_question *q, uint32_t option)
{
    return option_name(stop_option(q, option));
}

/* What is asked of the key is the side of its owner's split. */
bool stop_is_split(const struct group_question *q, const struct requirement *asked);
/* The split is what the pool, which has `has` or nothing of it to sell, does not go along with. */
void stop_split(const struct group_question *q, uint32_t option, const struct requirement *has,
                struct stop *s);
/* Nothing of what the pool may buy is what the attempt asks for. */
void stop_types(const struct group_question *q, uint32_t option, const struct requirements *asked,
                struct stop *s);
/* The types that are left of the option for the attempt are too small. */
void stop_resources(const struct group_question *q, uint32_t option, struct stop *s);
void stop_limits(const struct group_question *q, uint32_t option, struct stop *s);
void stop_nodes(const struct group_question *q, uint32_t option, struct stop *s);
/* What is left of the option for the attempt. */
const struct spec *stop_spec(const struct group_question *q, uint32_t option);
/* A million CPUs, in thousandths: no request, but an M where m was meant. */
bool stop_is_mistyped(const struct world *w, uint32_t column, amount asked);

#endif
