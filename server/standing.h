/* standing: may this replica act? It leads when it has the Lease, or elects nobody; it only observes while
 * another autoscaler is at work, or while that is not known yet.
 *
 * API thread, but standing_leads and standing_leads_until, which any thread may ask. */
#ifndef SERVER_STANDING_H
#define SERVER_STANDING_H

#include "base/log.h"
#include "kube/api.h"
#include "kube/events.h"
#include "server/options.h"

struct standing_config { /* all of it outlives the standing */
    const struct options *options;
    const struct log *log;
    struct api *api;
    struct events *events;
    struct span own_namespace, identity;
    void *user;
    void (*leads)(void *user, bool leading); /* of standing_begin, and when it changes */
    /* Why nothing is written; absent: it is. Valid until the next call. Of standing_begin, and when it changes. */
    void (*observes)(void *user, struct span reason);
};

struct standing;
/* ERR_INVALID: the Lease's durations cannot work. */
bool standing_new(const struct standing_config *config, struct standing **out, struct err *err);
void standing_free(struct standing *s); /* NULL is fine; no request may be under way */
void standing_begin(struct standing *s);

mono_ms standing_step(struct standing *s, mono_ms now); /* when to call again at the latest */
/* Leads no more, and hands the Lease back; standing_step goes on until it is released. */
void standing_release(struct standing *s);
bool standing_released(const struct standing *s); /* also when nobody is elected */

bool standing_leads(const struct standing *s);
mono_ms standing_leads_until(const struct standing *s); /* by clock_mono; 0: not, INT64_MAX: always */
struct span standing_observes(const struct standing *s); /* as the callback was told */

#endif
