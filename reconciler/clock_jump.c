#include "reconciler/clock_jump.h"

static void step_forward(struct clock_jump *j, wall_ms before, wall_ms wall)
{
    j->due_from = j->due_to != 0 && j->due_from < before ? j->due_from : before;
    j->due_to = wall;
    j->before = before;
    j->span = wall - before;
    j->ahead = j->ahead > j->span ? j->ahead - j->span : 0;
}

/* A moment that a step forward had put into the past, and that is in the future again, is no longer due. */
static void step_backwards(struct clock_jump *j, wall_ms before, wall_ms wall)
{
    j->ahead += before - wall;
    j->top = j->top > before ? j->top : before;
    if (j->due_to > wall)
        j->due_to = wall;
    j->span = 0;
}

span_ms clock_jump_look(struct clock_jump *j, mono_ms mono, wall_ms wall)
{
    wall_ms before = j->wall + (mono - j->mono);
    span_ms step = j->wall != 0 ? wall - before : 0;
    j->mono = mono;
    j->wall = wall;
    if (step >= CLOCK_JUMP_MS)
        step_forward(j, before, wall);
    else if (step <= -CLOCK_JUMP_MS)
        step_backwards(j, before, wall);
    else
        step = 0;
    if (wall > j->top)
        j->ahead = 0;
    return step;
}

bool clock_jump_made_due(const struct clock_jump *j, wall_ms due)
{
    return due > j->due_from && due <= j->due_to;
}

span_ms clock_jump_shift(const struct clock_jump *j, wall_ms since, wall_ms wall)
{
    if (since > wall)
        return -j->ahead;
    return since <= j->before ? j->span : 0;
}

span_ms clock_jump_age(const struct clock_jump *j, wall_ms since)
{
    span_ms age = j->wall - since - clock_jump_shift(j, since, j->wall);
    return age > 0 ? age : 0;
}
