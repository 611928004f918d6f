/* drain_turns: whose turn it is to leave a node that is drained (--drain-priority-config; spec node-groups 4.9). Pure. */
#ifndef RECONCILER_GROUPS_DRAIN_TURNS_H
#define RECONCILER_GROUPS_DRAIN_TURNS_H

#include "base/arena.h"

struct drain_turn {
    int32_t priority; /* of pods from this one on, below the next turn's */
    int32_t grace;    /* the longest, in seconds */
};

struct drain_turns { /* by priority, each once; none: all pods leave at once */
    const struct drain_turn *items;
    uint32_t count;
};

/* "PRIORITY:GRACE,…", in any order; "": none. False: it is no such list, or a priority comes twice. */
bool drain_turns_parse(struct arena *a, struct span text, struct drain_turns *out);
/* Pods below the lowest priority have the first turn. There is one. */
uint32_t drain_turn_of(const struct drain_turns *t, int32_t priority);

#endif
