/* listings: what each provider lists now. It is asked for beside whoever plans with it, who goes on with the list before
 * until the new one is there: a provider that takes its time over its types holds up neither snapshots nor another's.
 *
 * A list has a table of symbols of its own and does not change. At most one is being asked for of each provider, two of
 * each are kept: the newest, and one that somebody still copies. */
#ifndef CLOUD_LISTINGS_H
#define CLOUD_LISTINGS_H

#include "cloud/providers.h"

enum {
    /* Who just began waits so long for a first list: plans without it would say of pods that nothing is there for them.
     * Types of a cloud are a few pages. */
    LISTINGS_FIRST_MS = 10 * MS_SECOND,
    /* Who could not say is asked again so much later: a provider that is down gets six questions a minute. */
    LISTINGS_AGAIN_MS = 10 * MS_SECOND,
};

struct listings;

struct listings_worker { /* zero: lists are asked for within listings_look */
    void *user;
    /* Has job(arg) called once, from a thread that may wait for this provider; for each provider one at a time. */
    void (*run)(void *user, uint32_t provider, void (*job)(void *arg), void *arg);
    void (*fresh)(void *user); /* there is a newer list; from that thread. NULL: nobody waits for it */
};

struct listings *listings_new(const struct providers *providers, const struct listings_worker *worker); /* copied */
void listings_free(struct listings *s); /* no job is under way, and none will be called */

/* --- one thread --- */

/* Asks those providers that would list something else by now, unless they are being asked. */
void listings_look(struct listings *s, mono_ms now);
/* Some provider's first list may still come in time; as of the last look. */
bool listings_awaited(struct listings *s);

/* --- any thread --- */

/* Which list of the provider's is the newest, by its number; 0: there is none yet. */
uint64_t listings_number(struct listings *s, uint32_t provider);
/* Copies the newest into `a` and `syms`; its number. 0: there is none, *out is partial. */
uint64_t listings_copy(struct listings *s, uint32_t provider, struct arena *a, struct symtab *syms,
                       struct catalogue *out);

#endif
