/* places_json: the plan in force as a document of design 5.1: who is meant for which node, and no
 * more than that (what is not known is absent). What GET /plan answers. */
#ifndef SERVER_PLACES_JSON_H
#define SERVER_PLACES_JSON_H

#include "base/buf.h"
#include "planner/places.h"

/* Targets by name, pods of one by namespace and name. `p` may be NULL: nothing is planned. */
void places_json(const struct places *p, struct buf *out);

#endif
