/* pods: names of pods, which an open page is not told (server/page/board.h) but asks for when a reader opens a group.
 *
 * {"pods": [{"pod": "namespace/name", "node": where it stands}…], "found": how many there are}: the first PODS_NAMED of
 * them by name; a pod without a node has none. Pods that are over are left out, as they are wherever the page counts. */
#ifndef SERVER_PAGE_PODS_H
#define SERVER_PAGE_PODS_H

#include "base/buf.h"
#include "planner/world.h"

struct snapshot;

enum { PODS_NAMED = 100 }; /* as many as somebody may read through; a word narrows the rest */

struct pods_asked { /* all that is given must hold */
    struct span node;     /* its name; empty: pods without a node; absent: wherever */
    struct span workload; /* "Kind namespace/name", as node_json has it; absent: whoever owns them */
    struct span find;     /* in "namespace/name", letter by letter; absent: any */
};

/* Time: pods of the node, if one is named, else all. */
void pods_json(const struct snapshot *s, const struct world *w, const struct pods_asked *q, struct buf *out);

#endif
