/* What does not become a node in time is given up (spec disruption 12.5). Time counts from the last
 * change of the condition, normally the claim's creation, and anew from the moment at which we see the
 * whole cluster again: what did not show itself to a blind one may be there. A step of the clock does not count. */
#include "reconciler/lifecycle/lifecycle.h"

static wall_ms since(const struct lifecycle_facts *f, const struct lifecycle_step *s, struct span type)
{
    const struct condition *c = conditions_find(s->conditions.list, type);
    wall_ms at = c != NULL ? c->transition : s->conditions.created;
    at += f->jump != NULL ? clock_jump_shift(f->jump, at, f->now) : 0;
    return at > f->blind_until ? at : f->blind_until;
}

static bool over(const struct lifecycle_facts *f, struct lifecycle_step *s, wall_ms at)
{
    if (f->now >= at)
        return true;
    if (s->due == 0 || at < s->due)
        s->due = at;
    return false;
}

void lifecycle_liveness(const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    static const struct span launched = SPAN_INIT("Launched"), registered = SPAN_INIT("Registered");
    if (s->end != LIFECYCLE_GOES_ON || lifecycle_status(s, registered) == CONDITION_TRUE)
        return;
    if (lifecycle_status(s, launched) != CONDITION_TRUE &&
        over(f, s, since(f, s, launched) + LAUNCH_TIMEOUT_MS))
        s->end = LIFECYCLE_LAUNCH_TIMEOUT;
    else if (over(f, s, since(f, s, registered) + REGISTRATION_TIMEOUT_MS))
        s->end = LIFECYCLE_REGISTRATION_TIMEOUT;
}
