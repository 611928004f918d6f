/* ends: when certificates end, as a metric, and told in time to whoever can do something about it. API thread. */
#ifndef SERVER_ENDS_H
#define SERVER_ENDS_H

#include "base/units.h"
#include "kube/events.h"
#include "server/metrics.h"

/* The last is what the scheduler has shown: a copy on its host, which nobody but a person renews. */
enum end { END_SERVING, END_CA, END_NEXT_CA, END_SCHEDULER, END_SHOWN, END_COUNT };

#define ENDS_SOON ((span_ms)7 * 24 * MS_HOUR)        /* what renews itself, or another program renews, should be renewed by then */
#define ENDS_SOON_SHOWN ((span_ms)30 * 24 * MS_HOUR) /* a person needs time */
#define ENDS_AGAIN (24 * MS_HOUR)                    /* told so often */

struct ends_config {
    struct metrics *metrics;
    span_ms leaf_life, ca_life; /* nothing that lasts so short ends soon before its last quarter */
    void *user;
    void (*soon)(void *user, enum end which, wall_ms not_after);
};

struct ends;

struct ends *ends_new(const struct ends_config *config); /* registers the metric */
void ends_free(struct ends *e);
/* 0: not known. Returns when to call next. */
mono_ms ends_step(struct ends *e, const wall_ms not_after[END_COUNT], mono_ms now, wall_ms wall);

/* The Event that tells it, about the Secret that holds the certificate or from which it was copied. `of_file`: what is served
 * is a file's (--tls-cert), which Stowage does not renew. */
struct event_note ends_note(struct arena *a, enum end which, bool of_file, wall_ms not_after, struct span ns);

const char *end_name(enum end which); /* "scheduler_shown"…, the metric's label; static storage */

#endif
