#include "reconciler/clock_jump.h"

#include <assert.h>
#include <string.h>

/* A step backwards makes nothing due, and what steps forward had made due is no longer so beyond the clock as it is now. */
static void add_step(struct clock_jump *j, wall_ms before, wall_ms after)
{
    for (uint32_t i = 0; i < j->count; i++)
        if (j->steps[i].due_to > after)
            j->steps[i].due_to = after;
    if (j->count == CLOCK_STEPS_MAX)
        memmove(&j->steps[0], &j->steps[1], --j->count * sizeof(j->steps[0]));
    j->steps[j->count++] = (struct clock_step){.before = before, .after = after, .due_to = after};
}

span_ms clock_jump_look(struct clock_jump *j, mono_ms mono, wall_ms wall)
{
    wall_ms before = j->wall + (mono - j->mono);
    span_ms step = j->wall != 0 ? wall - before : 0;
    assert(mono >= j->mono);
    j->mono = mono;
    j->wall = wall;
    if (step < CLOCK_JUMP_MS && step > -CLOCK_JUMP_MS)
        return 0;
    add_step(j, before, wall);
    return step;
}

bool clock_jump_made_due(const struct clock_jump *j, wall_ms due)
{
    for (uint32_t i = 0; i < j->count; i++)
        if (due > j->steps[i].before && due <= j->steps[i].due_to)
            return true;
    return false;
}

/* Between two steps the clock shows all moments from `after` of the one to `before` of the next. The newest such stretch that
 * has the moment counts: all steps after it came since then. */
span_ms clock_jump_shift(const struct clock_jump *j, wall_ms since, wall_ms wall)
{
    span_ms shift = 0;
    wall_ms end = wall;
    for (uint32_t i = j->count; i-- > 0;) {
        const struct clock_step *step = &j->steps[i];
        if (since <= end && since >= step->after)
            return shift;
        shift += step->after - step->before;
        end = step->before;
    }
    return since <= end ? shift : 0; /* else the clock never showed it: it is of another host */
}

span_ms clock_jump_age(const struct clock_jump *j, wall_ms since)
{
    span_ms age = j->wall - since - clock_jump_shift(j, since, j->wall);
    return age > 0 ? age : 0;
}
