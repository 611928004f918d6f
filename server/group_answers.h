/* group_answers: what the last pass over node groups says of each (planner/groups/explain.h), and of the pods that none takes,
 * for who asks a running server. Bounded by the groups and the pods that wait. Any thread. */
#ifndef SERVER_GROUP_ANSWERS_H
#define SERVER_GROUP_ANSWERS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "reconciler/groups/settings.h"

struct group_answers;
struct group_answers *group_answers_new(void);
void group_answers_free(struct group_answers *g); /* NULL is fine */

/* All there are now; copied. NULL: nobody keeps groups here, or we do not lead any more. */
void group_answers_set(struct group_answers *g, const struct groups_told *told);
uint64_t group_answers_version(struct group_answers *g); /* moves whenever they are set */
/* Adds all of them: [{"group": name, "answer": its JSON}]. */
void group_answers_all(struct group_answers *g, struct buf *out);
/* Adds the answer, as JSON. False: there is no such group; *err names the nearest. */
bool group_answers_write(struct group_answers *g, struct span group, struct buf *out, struct err *err);
/* Which group a Node is of, in `a`, and what it costs an hour (NAN: not known). False: none. */
bool group_answers_node(struct group_answers *g, struct span node, struct arena *a, struct span *group_out, double *price_out);
/* The same without the group; NAN also of a Node of none. */
double group_answers_price(struct group_answers *g, struct span node);
/* Why no group takes the pod, in `a`; absent: one does, it did not ask, or it is not known. */
struct span group_answers_refusal(struct group_answers *g, struct span uid, struct arena *a);

#endif
