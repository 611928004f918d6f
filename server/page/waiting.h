/* waiting: pods without a node, on the page: one row for those of one owner, or of none, that wait for one reason. */
#ifndef SERVER_PAGE_WAITING_H
#define SERVER_PAGE_WAITING_H

#include "server/page/render.h"

struct waiting;
struct waiting_pods {
    struct waiting *waiting; /* in groups */
    size_t waiting_count, capacity, running; /* running: have a node */
};

struct waiting_pods waiting_collect(struct render *r);
void waiting_put(struct render *r, const struct waiting_pods *pods);

#endif
