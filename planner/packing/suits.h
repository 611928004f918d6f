/* suits: who may be on which of the machines that are for sale. The packer's products and the machines of the
 * bound are told apart by it alike.
 *
 * Pods that state the same and are to be in the same cell have one suit, a number: a set of suits is a word. The
 * commonest have numbers of their own, the others share the last. */
#ifndef PLANNER_PACKING_SUITS_H
#define PLANNER_PACKING_SUITS_H

#include "planner/bound/bound.h"
#include "planner/trial/trial.h"

enum { SUIT_REST = BOUND_SUITS - 1 };

struct suited { /* pods of one suit */
    uint32_t class_id;
    const int32_t *cell; /* by topology key the domain in which they have to be; below 0, NULL: any */
    uint64_t pods;
    uint64_t key;        /* goes by what is stated: tells suits of as many pods apart, whatever the order of the input */
    uint32_t suit;
};

enum suits_ways { /* in which pods may state what they ask for */
    SUITS_AS_ASKED, /* as the search relaxes them */
    SUITS_STRICT,   /* without preferences */
    SUITS_ANY_WAY,  /* both, and every PreferNoSchedule taint is tolerated */
};

struct suits {
    struct arena *arena;
    struct trial *trial;
    enum suits_ways ways;
    const struct suited *example[BOUND_SUITS]; /* by suit, but the last */
    uint32_t count;
};

/* Fills in `suit` of each. The list has to stay. */
void suits_number(struct suits *s, struct suited *list, uint32_t count);

struct suits_offered { /* by an option: sets of suits that may go there, the last left out */
    uint64_t *types, *kinds; /* by type, by kind of offering */
};
struct suits_offered suits_offer(const struct suits *s, uint32_t option);

/* The ways of a class. */
uint32_t suits_way_count(enum suits_ways ways, const struct pod_class *k);
struct attempt suits_way(enum suits_ways ways, const struct world *w, const struct pod_class *k, uint32_t i);

#endif
