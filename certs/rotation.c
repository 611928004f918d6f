/* The order of the questions is that of their urgency: who signs, who comes next, what is served, what may go. */
#include "certs/rotation.h"

#include "base/span.h"

enum {
    PAUSE_MIN_MS = 200,
    PAUSE_MAX_MS = 30 * MS_SECOND, /* so that all take up what is new within a minute */
    PAUSES_IN_A_LIFE = 20,
    SETTLING_MAX_MS = 1 * MS_HOUR, /* a replica that cannot reach the API server so long serves what is trusted */
    SETTLINGS_IN_A_TERM = 6,
};

static bool is_early(const struct rotation_cert *c, wall_ms now)
{
    return now < c->issued - ROTATION_BACKDATE;
}

static bool is_over(const struct rotation_cert *c, wall_ms now)
{
    return now >= c->until;
}

bool rotation_is_usable(const struct rotation_cert *c, wall_ms now)
{
    return c->good && !is_early(c, now) && !is_over(c, now);
}

static span_ms term_of(const struct rotation_cert *ca)
{
    return (ca->until - ca->issued) / ROTATION_TERMS;
}

span_ms rotation_settling(const struct rotation_cert *next)
{
    span_ms share = term_of(next) / SETTLINGS_IN_A_TERM;
    return share < SETTLING_MAX_MS ? share : SETTLING_MAX_MS;
}

bool rotation_is_due(const struct rotation_cert *leaf, wall_ms now)
{
    return now - leaf->issued >= (leaf->until - leaf->issued) * 2 / 3;
}

/* One that was announced for a term; or earlier, if the current one has come to its last term, as after a long time
 * without us, but never before those who trust it have heard of it. */
static bool may_promote(const struct rotation_state *s, wall_ms now)
{
    span_ms announced = now - s->next.issued, term = term_of(&s->next);
    bool last_term = now >= s->current.until - term_of(&s->current);
    return s->announced && rotation_is_usable(&s->next, now) &&
           (announced >= term || (last_term && announced >= rotation_settling(&s->next)));
}

enum rotation_step rotation_next(const struct rotation_state *s, wall_ms now)
{
    if (s->current.good && is_early(&s->current, now))
        return ROTATION_WAIT;
    if (!rotation_is_usable(&s->current, now))
        return rotation_is_usable(&s->next, now) ? ROTATION_PROMOTE : ROTATION_NEW_CA;
    if (!s->next.good || is_over(&s->next, now))
        return ROTATION_ISSUE_NEXT;
    if (may_promote(s, now))
        return ROTATION_PROMOTE;
    if (!rotation_is_usable(&s->leaf, now) || rotation_is_due(&s->leaf, now))
        return ROTATION_RENEW_LEAF;
    return s->old.good && is_over(&s->old, now) ? ROTATION_DROP_OLD : ROTATION_NONE;
}

bool rotation_trusts_old(const struct rotation_state *s, wall_ms now)
{
    /* The next one is made in the moment when the current one begins to sign. */
    return rotation_is_usable(&s->old, now) && now - s->next.issued < rotation_settling(&s->next);
}

span_ms rotation_pause(const struct rotation_cert *leaf)
{
    span_ms share = (leaf->until - leaf->issued) / PAUSES_IN_A_LIFE;
    return share < PAUSE_MIN_MS ? PAUSE_MIN_MS : share < PAUSE_MAX_MS ? share : PAUSE_MAX_MS;
}

const char *rotation_step_name(enum rotation_step step)
{
    static const char *const names[] = {
        [ROTATION_NONE] = "none",           [ROTATION_WAIT] = "wait",
        [ROTATION_NEW_CA] = "new CA",       [ROTATION_ISSUE_NEXT] = "issue next",
        [ROTATION_PROMOTE] = "promote",     [ROTATION_RENEW_LEAF] = "renew leaf",
        [ROTATION_DROP_OLD] = "drop old",
    };
    return names[step];
}
