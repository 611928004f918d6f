/* part: memory that several worlds share, freed with the last of them.
 *
 * A part may lean on others, which then live as long as it does. One thread writes to a part while it
 * is new; afterwards it is only read. Joining and leaving is for any thread. */
#ifndef PLANNER_PART_H
#define PLANNER_PART_H

#include <stdatomic.h>

#include "base/arena.h"

struct part {
    _Atomic(uint32_t) users;
    struct part *under; /* what it leans on, or NULL */
    struct part **held; /* as well; NULL among them is fine. In its arena; a user of each is this part */
    uint32_t held_count;
    struct arena arena;
};

/* One user: the caller. Joins `under`, which may be NULL. `first_chunk` as in arena_init. */
struct part *part_new(size_t first_chunk, struct part *under);
struct part *part_join(struct part *p); /* NULL is fine */
void part_leave(struct part *p);        /* NULL is fine */
/* What it took from malloc, with all that it leans on; what is held by others as well is counted for each. */
size_t part_bytes(const struct part *p);

#endif
