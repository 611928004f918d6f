/* seating: who has a place keeps it without being asked.
 *
 * A plan that comes after another finds each place again by the number of its pod in the world before, and asks once
 * for all pods of one class on one row, by room and labels. That is the same question as one by one, as long as
 * no rule looks at the pods themselves: no spread or affinity, no host port, no shared volume (trial_may_seat). Others,
 * those whom the scheduler has sent somewhere since, and those who do not fit any more (their row is gone, or has
 * less room, other labels or taints) are looked up and asked one by one, as without. Whoever is new, or has lost his
 * place, is searched one for: so every plan is a whole one, and only what it takes is not. */
#ifndef PLANNER_PLAN_SEATING_H
#define PLANNER_PLAN_SEATING_H

#include "planner/trial/options.h"
#include "planner/trial/trial.h"

struct plan;

struct seating { /* plan_options.seating */
    const struct world *world; /* of the plan before; whoever asks keeps it alive */
    const uint32_t *rows;      /* plan.rows of that plan; its places are plan_options.places, but for those apart */
    const struct span *apart;  /* uids of pods that are looked up */
    uint32_t apart_count;
};

struct sitter { /* pods of a class with places on a row */
    uint32_t row, class_id, first, count; /* of `numbers` */
};

struct seated {
    struct arena *arena;
    const struct seating *from;
    uint32_t *wish;      /* by number of a pod that waits: row + 1; 0: it is asked by itself */
    uint32_t *before;    /* its number in the world before, + 1; 0: it is new */
    uint32_t *numbers;   /* of those with a wish, by row and class */
    struct sitter *sitters;
    uint32_t sitter_count, sitter_capacity;
};

/* Takes those who may be seated at once out of the queue, and returns how many are left. */
uint32_t seating_take(struct seated *s, struct arena *a, const struct trial *t, const struct seating *from,
                      uint32_t *queue, uint32_t count);
/* Seats them. Who does not fit comes to stand at the end of the queue; returns how many there are in it now. */
uint32_t seating_sit(struct seated *s, struct trial *t, uint32_t *queue, uint32_t count, uint8_t *outcome_out);
/* The same in another trial, that was as the first one was. */
void seating_sit_again(const struct seated *s, struct trial *t);
/* kept, kept_rows and unkept of the plan, and the rows of those who were kept. */
void seating_tell(const struct seated *s, struct plan *p, uint32_t *rows);

#endif
