/* group_answers: what the last pass over node groups says of each (planner/groups/explain.h), for who asks a running server.
 * Bounded by the groups. Any thread. */
#ifndef SERVER_GROUP_ANSWERS_H
#define SERVER_GROUP_ANSWERS_H

#include "base/buf.h"
#include "base/err.h"
#include "reconciler/groups/settings.h"

struct group_answers;
struct group_answers *group_answers_new(void);
void group_answers_free(struct group_answers *g); /* NULL is fine */

/* All there are now; copied. None: nobody keeps groups here, or we do not lead any more. */
void group_answers_set(struct group_answers *g, const struct group_answer *answers, uint32_t count);
/* Adds all of them: [{"group": name, "answer": its JSON}]. */
void group_answers_all(struct group_answers *g, struct buf *out);
/* Adds the answer, as JSON. False: there is no such group; *err names the nearest. */
bool group_answers_write(struct group_answers *g, struct span group, struct buf *out, struct err *err);

#endif
