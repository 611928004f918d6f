/* Places from before, and those that the scheduler has given. */
#include "planner/places.h"
#include "planner/search/greedy.h"

static bool seat_on(struct trial *t, uint32_t row, bool sent, uint32_t pod)
{
    const struct world *w = t->world;
    uint32_t class_id = trial_pod(t, pod)->class_id;
    const struct pod_class *k = &w->classes.items[class_id];
    const struct attempt *attempts = &w->classes.attempts[k->first_attempt];
    for (uint32_t i = 0; i < k->attempt_count; i++)
        if (trial_fits(t, row, class_id, &attempts[i])) {
            trial_place_on_node(t, row, pod, class_id, &attempts[i]);
            return true;
        }
    if (!sent || !trial_row_holds(t, row, class_id, attempts))
        return false;
    trial_place_on_node(t, row, pod, class_id, attempts); /* the scheduler has decided */
    return true;
}

static bool seat(struct trial *t, const struct place *place, uint32_t pod)
{
    int32_t row = place_row(t->world, place);
    return row >= 0 && seat_on(t, (uint32_t)row, place->sent, pod);
}

static uint32_t seat_some(struct trial *t, const struct places *places, bool sent, uint32_t *queue,
                          uint32_t count, uint8_t *outcome_out)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = places_find(places, trial_pod(t, queue[i])->pod->meta.uid);
        if (place != NULL && (place->sent || !sent) && seat(t, place, queue[i]))
            outcome_out[queue[i]] = OUTCOME_PLACED;
        else
            queue[left++] = queue[i];
    }
    return left;
}

/* A bar is for who seeks a place: who has one there was not turned down himself. */
uint32_t greedy_seat_sent(struct trial *t, const struct places *places, uint32_t *queue, uint32_t count,
                          uint8_t *outcome_out)
{
    uint32_t barred = t->barred_count;
    t->barred_count = 0;
    if (places->any_sent)
        count = seat_some(t, places, true, queue, count, outcome_out);
    t->barred_count = barred;
    return count;
}

/* They go round until nobody more can sit: some of a spread fit only after others. */
uint32_t greedy_seat(struct trial *t, const struct places *places, uint32_t *queue,
                     uint32_t count, uint8_t *outcome_out)
{
    uint32_t barred = t->barred_count, before;
    t->barred_count = 0;
    do {
        before = count;
        count = seat_some(t, places, false, queue, count, outcome_out);
    } while (count != 0 && count < before);
    t->barred_count = barred;
    return count;
}

uint32_t greedy_receive(struct trial *t, uint32_t pod, const uint32_t *rows, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !seat_on(t, rows[i], true, pod))
        i++;
    return i;
}
