/* finding: what is to be said of an object as it was written, that its schema let through: the same words at admission, in
 * `plan`, in conditions and in `check -f`.
 *
 * A list of one object is bounded, at any size of the object: each loop over its items checks findings_closed before it makes a
 * text. Faults are looked for before anything that is only a warning, so that warnings hide no fault. */
#ifndef KUBE_FINDING_H
#define KUBE_FINDING_H

#include "base/arena.h"

enum {
    FINDINGS_MAX = 128, /* of one object: a person fixes these first. The last says that there may be more */
    FINDINGS_SHOWN = 16, /* in one message: the API server passes on 4,096 characters of warnings */
};

struct finding {
    struct span path; /* spec.template.spec.requirements[2].key */
    struct span text; /* one sentence without a full stop: what is wrong, what comes of it, the fix */
    bool refuses;     /* upstream calls it invalid (spec api 2); else it is a warning */
};

struct findings {
    struct finding *items; /* in the order in which they were found; of one arena */
    uint32_t count, capacity;
    bool (*stop)(void *user); /* NULL, or whether the time to look is over; asked often */
    void *user;
    bool stopped; /* it was: there may be more */
};

/* Whether to look no further: the list is full, or the time is over. */
bool findings_closed(struct findings *f);
/* Both spans outlive the list; of long ones the beginning is kept. Does nothing when the list is full. */
void finding_add(struct arena *a, struct findings *f, bool refuses, struct span path, struct span text);
/* Whether some path begins so. */
bool findings_in(const struct findings *f, struct span prefix);
/* "path: text; path: text; and 4 more" of those that refuse, for a condition's message; absent when there is none. */
struct span findings_refusal(struct arena *a, const struct findings *f);
/* "and 4 more", "and at least 112 more": of so many only FINDINGS_SHOWN are shown. */
struct span findings_and_more(struct arena *a, uint32_t count, bool at_least);

#endif
