/* events: tells people what was decided, as Events of events.k8s.io/v1 (spec contracts 4.11,
 * api 11.2).
 *
 * The same reason on the same object is told once in its window (2 minutes, or as the table in
 * events.c has it), some reasons also so many a second. What is told again with the same text
 * within six minutes becomes a series of the first Event. Kept in mind: EVENTS_KNOWN_MAX objects
 * and reasons, the longest silent forgotten first; EVENTS_PENDING_MAX requests, more are dropped
 * and counted. */
#ifndef KUBE_EVENTS_H
#define KUBE_EVENTS_H

#include "kube/api.h"

enum { EVENTS_KNOWN_MAX = 4096, EVENTS_PENDING_MAX = 256, EVENTS_NOTE_MAX = 1024 };

struct event_object {
    enum kind kind;
    struct span ns, name, uid;
};

struct event_note {
    struct event_object about;
    const struct event_object *related; /* or NULL */
    bool warning;
    struct span reason; /* CamelCase */
    struct span action; /* absent: the reason */
    struct span note;   /* cut at EVENTS_NOTE_MAX bytes */
    struct span dedupe; /* absent, or what else tells two Events of one reason and object apart */
};

struct events_config {      /* copied */
    struct span controller; /* "stowage" */
    struct span instance;   /* the process; at most 128 bytes are used */
};

struct events;
struct events *events_new(const struct events_config *config, struct api *api);
void events_free(struct events *e); /* no request may be under way: after the api is gone */

/* Any thread. Sends nothing yet; true when there is something to send, so that events_step is due. */
bool events_record(struct events *e, const struct event_note *note, mono_ms now, wall_ms wall);
/* Sends what was recorded, tries again what failed. API thread; returns when to call next. */
mono_ms events_step(struct events *e, mono_ms now);

struct events_counts {
    uint64_t created, series; /* sent */
    uint64_t repeated;        /* within the window: not told */
    uint64_t dropped;         /* by a rate, a full queue or the API server */
};
struct events_counts events_counts(struct events *e);

#endif
