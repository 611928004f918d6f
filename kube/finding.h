/* finding: what is to be said of an object as it was written, that its schema let through: the same words at admission, in
 * `plan`, in conditions and in `check -f`. */
#ifndef KUBE_FINDING_H
#define KUBE_FINDING_H

#include "base/arena.h"

struct finding {
    struct span path; /* spec.template.spec.requirements[2].key */
    struct span text; /* one sentence without a full stop: what is wrong, what comes of it, the fix */
    bool refuses;     /* upstream calls it invalid (spec api 2); else it is a warning */
};

struct findings {
    struct finding *items; /* in the order in which they were found; of one arena */
    uint32_t count, capacity;
};

/* Both spans outlive the list. */
void finding_add(struct arena *a, struct findings *f, bool refuses, struct span path, struct span text);
/* Whether some path begins so. */
bool findings_in(const struct findings *f, struct span prefix);
/* "path: text; path: text" of those that refuse, for a condition's message; absent when there is none. */
struct span findings_refusal(struct arena *a, const struct findings *f);

#endif
