/* fleet: pools on the page, and what all nodes come to. */
#ifndef SERVER_PAGE_FLEET_H
#define SERVER_PAGE_FLEET_H

#include "server/page/render.h"

void fleet_put_summary(struct render *r);
void fleet_put_pools(struct render *r);

#endif
