/* routes: every endpoint of design 6, wired to what answers it.
 *
 * The table's handlers read the newest snapshot and places through caches of their own loop. More
 * routes (/plan, /explain) may be added before the server is made; their scratch is struct
 * route_scratch too. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include <stdatomic.h>

#include "base/log.h"
#include "base/share.h"
#include "cloud/provider.h"
#include "extender/view.h"
#include "server/health.h"
#include "server/http_server.h"
#include "server/loop_health.h"
#include "server/metrics.h"
#include "server/page.h"
#include "server/page/board_worker.h"
#include "server/page_guard.h"
#include "webhook/review.h"
#include "webhook/shape.h"

struct route_scratch { /* one a loop */
    struct routes *routes;
    struct share_cache snapshots, places;
    struct extender_scratch extender;
    struct webhook_scratch webhook;
    struct board_worker *board; /* of the page's loop, once somebody reads; else NULL */
    mono_ms board_read;  /* when somebody did last */
};

struct routes_config { /* everything is the caller's and outlives the routes */
    const struct extender_sources *sources; /* of all that is answered */
    struct metrics *metrics;
    struct log *log; /* whose level /log-level tells and sets; NULL: of none */
    struct health *health;
    struct page *page;
    struct page_guard *page_guard; /* NULL: whoever reaches the page may read it */
    struct group_answers *groups; /* NULL: of none */
    const struct loop_health *loop; /* of node groups; NULL: there is none */
    struct loop_limits loop_limits;
    const struct webhook_rules *rules;
    bool no_census;          /* /metrics tells of this process alone */
    uint32_t census_pods;    /* census_new's pods_max */
    const struct plan_options *plan; /* policies by which /explain plans; NULL: the defaults */
    void (*astray)(void *user); /* a planned pod was refused where it was planned: plan anew. On the loops */
    void *user;
};

struct routes;
struct routes *routes_new(const struct routes_config *config);
void routes_free(struct routes *r);

struct http_table *routes_table(struct routes *r);
struct http_scratch routes_scratch(struct routes *r);
struct http_observer routes_observer(struct routes *r);

/* The newest snapshot and what goes with it, as this loop may use it until its next call. */
struct extender_view route_view(struct route_scratch *s);

/* Rules for NodePools of a provider: its well-known labels and its own restricted domain. Lives in
 * `a` and `syms`, a table of its own. */
bool routes_webhook_rules(struct arena *a, struct symtab *syms, struct provider *provider,
                          struct webhook_rules *out, struct err *err);

#endif
