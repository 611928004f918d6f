/* delta_inner: what the delta*.c files share: a world being made from the one before. */
#ifndef PLANNER_DELTA_INNER_H
#define PLANNER_DELTA_INNER_H

#include "planner/columns.h"

struct delta {
    const struct world *from;
    struct world *w;
    struct arena scratch;
    uint64_t *dirty;  /* rows whose sums are to be made anew; NULL: no row did change, and PART_ROWS is not ours */
    uint64_t *blocks; /* of `lists`, made anew now */
    bool *left;       /* by place in `waiting`: it is gone */
    bool *lost;       /* by DaemonSet: its newest pod is gone, and none is known to be the newest now */
    bool daemons_moved; /* pods of DaemonSets came to rows or went, or rows are expected to get others */
};

/* --- delta_parts.c: what is ours to change from then on --- */

struct world *delta_share(const struct world *from);
struct arena *delta_own_part(struct delta *d, enum world_part part, struct part *under);
bool delta_owns(const struct delta *d, enum world_part part);
void *delta_copy(struct arena *a, const void *items, size_t count, size_t size);
void delta_own_rows(struct delta *d); /* not their lists */
void delta_own_lists(struct delta *d, uint32_t row); /* its block's; rows are ours */
struct arena *delta_lists(struct delta *d, uint32_t row);
struct world_node *delta_touch(struct delta *d, uint32_t row); /* both, and its sums will be made anew */
struct arena *delta_own_counts(struct delta *d);
void delta_own_pods(struct delta *d, size_t more); /* with room for so many that wait besides */

/* --- delta.c: pods of rows --- */

void delta_count(struct delta *d, const struct pod *p, uint32_t class_id, uint32_t row, int by);
/* One that stood nowhere; false: of a shape that a build must take in. */
bool delta_stand(struct delta *d, uint32_t row, const struct pod *p, uint32_t *class_out);
/* It stands on a row that is leaving: it waits, too, if it is to have another place. */
void delta_wait_bound(struct delta *d, const struct pod *p, uint32_t class_id);
void delta_set_aside(struct delta *d, const struct pod *p);

/* --- Nodes and NodeClaims --- */

/* They differ in nothing that a row is made of, and the rows go on with them; false: they do, and nothing was done. */
bool delta_news(struct delta *d, const struct world_change *c);
/* Rows are made anew; false: only a build can. */
bool delta_rows(struct delta *d, const struct world_change *c);

#endif
