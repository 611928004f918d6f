/* intern: sequences of words to dense numbers, equal content to equal number, in order of first
 * sight. How shapes, signatures and requirement sets become small integers. */
#ifndef PLANNER_INTERN_H
#define PLANNER_INTERN_H

#include "base/arena.h"
#include "kube/requirement.h"

struct intern_item {
    const uint32_t *words;
    uint32_t count;
    uint64_t hash;
};

struct intern {
    struct arena *arena;
    uint32_t *slots; /* number + 1, 0: free */
    uint32_t slot_count;
    struct intern_item *items;
    uint32_t count, capacity;
};

/* Words being put together. Starts in memory of its own, goes on in the arena. */
struct words {
    struct arena *arena;
    uint32_t *items;
    uint32_t count, capacity;
    uint32_t first[256];
};

void words_init(struct words *w, struct arena *a);
void words_put(struct words *w, uint32_t word);
void words_put64(struct words *w, uint64_t word);

/* All that a requirement says but minValues. */
void requirements_words(struct words *w, const struct requirements *r);

void intern_init(struct intern *i, struct arena *a);
/* Goes on in another arena, with tables of its own: what is put from now on the old one does not see. The
 * words stay where they are. */
void intern_copy(struct intern *i, struct arena *a);
/* *new_out may be NULL. */
uint32_t intern_put(struct intern *i, const struct words *w, bool *new_out);
int32_t intern_find(const struct intern *i, const struct words *w); /* -1: unknown */

#endif
