/* turns: whose turn it is in a stage that looks at Nodes or NodeClaims one by one. Everybody's at first. Of whom nothing
 * is to be done rests until he is called, because something that the stage looked at has changed, or until the time has
 * come at which that alone may ask for something.
 *
 * By position in a roll (roll.h): 8 bytes each. */
#ifndef RECONCILER_VIEWS_TURNS_H
#define RECONCILER_VIEWS_TURNS_H

#include "base/units.h"

struct turns { /* zero: of nobody */
    wall_ms *due;
    uint32_t count, capacity;
};

enum { TURNS_WHEN_CALLED = 0 };

void turns_begin(struct turns *t, uint32_t count); /* it is everybody's turn */
void turns_release(struct turns *t);
static inline void turns_call(struct turns *t, uint32_t at)
{
    t->due[at] = 0;
}
/* `due`: or TURNS_WHEN_CALLED. */
static inline void turns_rest(struct turns *t, uint32_t at, wall_ms due)
{
    t->due[at] = due != TURNS_WHEN_CALLED ? due : INT64_MAX;
}
/* When his turn comes, unless he is called: `now` or earlier, it is; INT64_MAX: never. */
static inline wall_ms turns_due(const struct turns *t, uint32_t at)
{
    return t->due[at];
}

#endif
