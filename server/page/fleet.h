/* fleet: what all nodes come to, and pools on the page. The headline, the history (server/page/history.h) and the metric
 * stowage_cluster_price_per_hour are of fleet_sum, so that they cannot differ. */
#ifndef SERVER_PAGE_FLEET_H
#define SERVER_PAGE_FLEET_H

#include "server/page/render.h"

/* A row is a machine of its own. A claim is not once a Node of its name is there, though its status does not name that yet. */
bool fleet_has(const struct world *w, const struct world_node *n);

struct fleet_sums {
    uint32_t nodes, ready;
    double price;              /* an hour, of those whose price is known (page_node_price) */
    amount asked[2], there[2]; /* thousandths of a CPU, bytes of memory */
};

/* Of the machines of one pool, or of all (SYM_NONE), those that are on their way included; nothing without a world. Any thread. */
struct fleet_sums fleet_sum(const struct page_view *v, sym pool);

void fleet_put_summary(struct render *r);
void fleet_put_pools(struct render *r);

#endif
