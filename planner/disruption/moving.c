/* One node of a dynamic pool that is to go, and its pods (spec disruption 7.2, 8.3, 8.10). */
#include "planner/columns.h"
#include "planner/disruption/methods.h"

sym candidate_reservation(const struct disrupting *d, const struct candidate *c)
{
    sym key = d->w->types.reservation_key;
    if (c->capacity_type != SYM_RESERVED || key == SYM_NONE)
        return SYM_NONE;
    return sym_pairs_get(world_row_labels(&d->w->nodes[c->row]), key);
}

/* The second look: one more instance of what it holds is free, and who could use a reservation waits for one. */
static enum moving look_again(struct disrupting *d, const struct moving_how *how, const struct candidate *c,
                              struct disruption_command *out)
{
    struct simulation_question q = {.rows = &c->row, .count = 1, .why = how->why,
                                    .credit = sym_text(d->w->syms, candidate_reservation(d, c))};
    struct simulation x = simulate(d->simulator, &q);
    if (!simulated_whole(d, &x))
        return MOVING_ENDS;
    if (x.outcome != SIMULATED_PLACED)
        return MOVING_BLOCKED;
    *out = command_of(d, how->method, c, 1);
    out->decision = DECIDE_TERMINATE_FIRST;
    out->terminate_first = TERMINATE_NO_RESERVED_CAPACITY;
    return MOVING_DECIDED;
}

static enum moving decide(struct disrupting *d, const struct moving_how *how, const struct simulation_question *q,
                          const struct candidate *c, struct disruption_command *out)
{
    *out = command_of(d, how->method, c, 1);
    command_replace(d, out, q);
    return MOVING_DECIDED;
}

enum moving move_one(struct disrupting *d, const struct moving_how *how, const struct candidate *c,
                     struct disruption_command *out)
{
    struct simulation_question q = {.rows = &c->row, .count = 1, .why = how->why};
    struct simulation x = simulate(d->simulator, &q);
    if (!simulated_whole(d, &x))
        return MOVING_ENDS;
    if (x.outcome == SIMULATED_LEAVING)
        return MOVING_LEAVING;
    if (x.outcome == SIMULATED_PLACED)
        return decide(d, how, &q, c, out);
    struct span why = simulation_unplaced(d->simulator, &d->out->arena);
    enum moving again = MOVING_BLOCKED;
    if (how->terminate_first && candidate_reservation(d, c) != SYM_NONE)
        again = look_again(d, how, c, out);
    if (again == MOVING_BLOCKED)
        note_candidate(d, how->method, NOTE_BLOCKED, c, why);
    return again;
}
