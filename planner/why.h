/* why: a reason as data: what stands in the way, and what would help. They are joined where they are shown, and
 * nobody takes a sentence apart. */
#ifndef PLANNER_WHY_H
#define PLANNER_WHY_H

#include "base/arena.h"

struct why {
    struct span sentence; /* about the pod, without its name and a full stop; absent: there is none */
    struct span fix;      /* "let pool general buy …"; absent: nobody knows */
};

static inline bool why_equal(const struct why *x, const struct why *y)
{
    return span_eq(x->sentence, y->sentence) && span_eq(x->fix, y->fix);
}

/* "asks for …. Fix: let pool …" */
static inline struct span why_text(struct arena *a, const struct why *w)
{
    return w->fix.len == 0 ? w->sentence
                           : arena_printf(a, "%.*s. Fix: %.*s", SPAN_ARG(w->sentence), SPAN_ARG(w->fix));
}

#endif
