/* fleet: pools and nodes on the page, and what they come to. */
#ifndef SERVER_PAGE_FLEET_H
#define SERVER_PAGE_FLEET_H

#include "server/page/waiting.h"

void fleet_put_summary(struct render *r, const struct waiting_pods *pods);
void fleet_put_pools(struct render *r);
void fleet_put_nodes(struct render *r);

#endif
