/* wishes: where the last plan over NodePools and groups has pods go that ask the groups, kept from that plan to the passes over
 * the groups that follow (planner/groups/choice.h). Another plan's take their place. As many as pods waited then. */
#ifndef RECONCILER_GROUPS_WISHES_H
#define RECONCILER_GROUPS_WISHES_H

#include "base/arena.h"
#include "planner/groups/choice.h"

struct pass;

struct kept_wish {
    struct span uid, group;
    uint32_t machine, turn;
};

struct kept_wishes { /* zero: none */
    struct arena arena;
    bool has_arena;
    struct kept_wish *items; /* by uid */
    size_t count;
};

void wishes_release(struct kept_wishes *w); /* zero afterwards */
/* NULL: there are none. */
void wishes_keep(struct kept_wishes *w, const struct choice *c);
/* Into the objects of a pass, whose pods are there; in `a`. */
void wishes_recall(const struct kept_wishes *w, struct group_objects *o, struct arena *a);

#endif
