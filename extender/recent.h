/* recent: pods that were just let onto a node of which room is held for others, and are not seen bound
 * yet. The scheduler binds ten pods in the time that the watch needs to tell of one: without a memory
 * of its own answers the extender would give the same free room away ten times.
 *
 * Kept per thread, since kube-scheduler asks one question at a time over one connection. A slip of the
 * memory (another thread was asked, an entry was pushed out) costs no more than having none. */
#ifndef EXTENDER_RECENT_H
#define EXTENDER_RECENT_H

#include "base/units.h"
#include "planner/places.h"

enum {
    RECENT_MAX = 128,
    RECENT_MS = 3 * MS_SECOND, /* a pod that is not seen bound by then went elsewhere, or nowhere */
};

struct recent_item {
    char uid[48], node[256]; /* uid "": none */
    mono_ms until;
};

struct recent { /* zero: nothing is remembered */
    struct recent_item items[RECENT_MAX]; /* a ring */
    uint32_t next, used;                  /* `used` stand before `next` */
};

/* The pod was let onto the node. Names that do not fit are not remembered. */
void recent_add(struct recent *r, struct span uid, struct span node, mono_ms now);
/* The pod is asked about again: what it was told before has come to nothing. So has what is old. */
void recent_forget(struct recent *r, struct span uid, mono_ms now);
/* Adds to `h` what those remembered need, but `except`, as long as they are not seen bound. */
void recent_hold(const struct recent *r, struct arena *a, struct held *h, const struct world *w,
                 struct span except, mono_ms now);

#endif
