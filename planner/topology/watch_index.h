/* watch_index: the groups that count pods of a class, without asking each watch.
 *
 * A watch is found by one thing that its pods must have: a label's value, or a label, in one namespace where it
 * means no more; a volume. Of all that it asks for the one that the fewest other watches ask for, since what
 * whole teams share (app: web) tells nobody apart. Those that only say what must not be there are asked for
 * every class. */
#ifndef PLANNER_TOPOLOGY_WATCH_INDEX_H
#define PLANNER_TOPOLOGY_WATCH_INDEX_H

#include "planner/topology/topology.h"

struct watch_index;

const struct watch_index *watch_index_make(const struct topology *t);
/* Sets counted_by and kept_off_by of the class's ties, lists in `a`. */
void watch_index_ties(const struct topology *t, struct arena *a, struct pod_class *k);

#endif
