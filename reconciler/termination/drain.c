#include "reconciler/termination/drain.h"

enum {
    STUCK_MS = MS_MINUTE, /* past its deletionTimestamp a pod is not waited for any more */
    CRITICAL_PRIORITY = 2000000000, /* of the two system-*-critical classes; users end at 10^9 */
    TIERS = 4,
    GRACE_MIN_S = 1, /* never 0: a pod of that name could start elsewhere while this one runs */
};

static bool stuck(const struct pod *p, wall_ms now)
{
    return p->meta.deleted != 0 && now - p->meta.deleted > STUCK_MS;
}

bool drain_awaits(const struct pod *p, wall_ms now)
{
    return !pod_is_terminal(p) && !pod_is_static(p) && !pod_tolerates_disrupted(p) &&
           !stuck(p, now);
}

static int tier_of(const struct pod *p)
{
    return (p->priority >= CRITICAL_PRIORITY ? 2 : 0) + (pod_is_daemon(p) ? 1 : 0);
}

static int64_t grace_of(wall_ms deadline, wall_ms now)
{
    int64_t left = (deadline - now) / MS_SECOND;
    return left > GRACE_MIN_S ? left : GRACE_MIN_S;
}

/* Who is on his way out is told again only if he would be sooner: once the deadline is over nobody's end is before it. */
static bool is_overdue(const struct pod *p, wall_ms deadline, wall_ms now)
{
    if (deadline == 0)
        return false;
    if (p->meta.deleted != 0)
        return p->meta.deleted > deadline && p->meta.deleted > now + grace_of(deadline, now) * MS_SECOND;
    return p->has_grace && now > deadline - p->grace_seconds * MS_SECOND;
}

static enum drain_act act_of(const struct pod *p, int tier, wall_ms now)
{
    if (p->meta.deleted != 0)
        return DRAIN_WAIT;
    if (tier_of(p) != tier)
        return DRAIN_WAIT;
    return pod_do_not_disrupt(p, now) ? DRAIN_BLOCKED : DRAIN_EVICT;
}

struct drain drain_pick(struct arena *a, const struct pod *const *pods, uint32_t count,
                        wall_ms deadline, wall_ms now)
{
    struct drain d = {ARENA_ARRAY(a, struct drain_pod, count), count, 0};
    int first = TIERS;
    for (uint32_t i = 0; i < count; i++) {
        d.pods[i].pod = pods[i];
        if (!drain_awaits(pods[i], now))
            continue;
        d.waiting++;
        if (is_overdue(pods[i], deadline, now)) {
            d.pods[i].act = DRAIN_DELETE;
            d.pods[i].grace = grace_of(deadline, now);
        } else if (tier_of(pods[i]) < first) {
            first = tier_of(pods[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (d.pods[i].act != DRAIN_DELETE && drain_awaits(pods[i], now))
            d.pods[i].act = act_of(pods[i], first, now);
    return d;
}

wall_ms drain_due(const struct pod *p, wall_ms deadline, wall_ms now)
{
    wall_ms due = 0;
    if (p->meta.deleted != 0 && p->meta.deleted + STUCK_MS >= now)
        due = p->meta.deleted + STUCK_MS + 1;
    if (deadline != 0 && p->has_grace && p->meta.deleted == 0) {
        wall_ms force = deadline - p->grace_seconds * MS_SECOND + 1;
        if (force > now && (due == 0 || force < due))
            due = force;
    }
    return due;
}

wall_ms claim_deadline(const struct node_claim *c)
{
    wall_ms t = 0;
    struct span text = annotations_get(c->meta.annotations, SYM_TERMINATION_TIMESTAMP);
    return text.len != 0 && time_parse(text, &t) ? t : 0;
}

struct empty_answer drain_judge(struct arena *a, const struct drain *d,
                                const struct pod_budgets *budgets, wall_ms now)
{
    const struct pod **turn = ARENA_ARRAY(a, const struct pod *, d->count);
    struct empty_facts f = {.pods = turn, .budgets = budgets, .now = now};
    for (uint32_t i = 0; i < d->count; i++)
        if (d->pods[i].act == DRAIN_EVICT || d->pods[i].act == DRAIN_BLOCKED)
            turn[f.pod_count++] = d->pods[i].pod;
    return empty_judge_pods(&f);
}

struct span drain_sentence(struct arena *a, const struct drain *d, const struct empty_answer *holds)
{
    if (d->waiting == 0)
        return (struct span){0};
    struct span who = d->waiting == 1 ? SPAN("1 pod waits to be evicted")
                                      : arena_printf(a, "%u pods wait to be evicted", d->waiting);
    if (holds->verdict == EMPTY_YES)
        return who;
    return arena_printf(a, "%.*s: %.*s", SPAN_ARG(who), SPAN_ARG(empty_sentence(a, holds)));
}
