#include "kube/budget.h"

#include "kube/allow_windows.h"

/* "5" or "10%" of n, rounded up; more than an int32 holds is no limit. */
static bool share_of(struct span nodes, int32_t n, int32_t *out, struct err *err)
{
    struct span digits = nodes;
    bool percent = span_has_suffix(nodes, SPAN("%"));
    int64_t value;
    digits.len -= percent;
    if (!span_int64(digits, &value) || value < 0 || (percent && value > 100))
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not a number of nodes; write \"5\" or \"10%%\"",
                       SPAN_ARG(nodes));
    if (percent)
        value = (value * n + 99) / 100;
    *out = value < BUDGET_UNLIMITED ? (int32_t)value : BUDGET_UNLIMITED;
    return true;
}

enum when { WHEN_ALWAYS, WHEN_WINDOW };

static bool when_of(const struct budget *b, enum when *when, struct window *out, struct err *err)
{
    *out = (struct window){.length = 0};
    *when = b->schedule.ptr == NULL && b->duration.ptr == NULL ? WHEN_ALWAYS : WHEN_WINDOW;
    if (*when == WHEN_ALWAYS)
        return true;
    if (b->schedule.ptr == NULL || b->duration.ptr == NULL)
        return err_set(err, ERR_INVALID, "schedule and duration must be set together");
    if (!cron_parse(b->schedule, &out->cron, err))
        return false;
    return duration_parse(b->duration, &out->length) ||
           err_set(err, ERR_INVALID, "\"%.*s\" is not a duration; write it like \"8h\"", SPAN_ARG(b->duration));
}

/* A schedule without a hit in five years is never active; upstream takes it for always. */
static bool is_active(const struct budget *b, wall_ms now, bool *out, struct err *err)
{
    enum when when;
    struct window w;
    if (!when_of(b, &when, &w, err))
        return false;
    *out = when == WHEN_ALWAYS || window_is_open(&w, now);
    return true;
}

bool budget_valid(const struct budget *b, struct err *err)
{
    int32_t share;
    bool active;
    return share_of(b->nodes, 0, &share, err) && is_active(b, 0, &active, err);
}

/* Each day is as the other for a schedule that names no days and months. */
static bool is_daily(const struct cron *c)
{
    const uint32_t all_months = 0x1ffe;
    return c->any_day && c->any_weekday && (c->months & all_months) == all_months;
}

enum budget_times budget_times_of(const struct budget *b)
{
    enum { HITS_MOST = 1500, DAYS = 366 }; /* each minute of a day, or some a day for a leap year */
    const wall_ms begin = INT64_C(1704067200000); /* 2024-01-01T00:00:00Z */
    enum when when;
    struct window w;
    struct err err;
    wall_ms hit, next;
    if (!when_of(b, &when, &w, &err))
        return BUDGET_AT_TIMES;
    if (when == WHEN_ALWAYS)
        return BUDGET_ALWAYS;
    if (w.length == 0 || !cron_next(&w.cron, begin, &hit))
        return BUDGET_NEVER;
    wall_ms end = hit + (span_ms)(is_daily(&w.cron) ? 1 : DAYS) * 24 * MS_HOUR;
    for (uint32_t i = 0; i < HITS_MOST && hit < end; i++, hit = next)
        if (!cron_next(&w.cron, hit, &next) || next - hit > w.length)
            return BUDGET_AT_TIMES;
    return hit < end ? BUDGET_AT_TIMES : BUDGET_ALWAYS;
}

static bool restricts(const struct budget *b, struct span reason)
{
    bool found = b->reasons.count == 0;
    for (uint32_t i = 0; i < b->reasons.count; i++)
        found |= span_eq(b->reasons.items[i], reason);
    return found;
}

struct budget_answer budgets_judge(const struct node_pool *p, int32_t n, struct span reason, wall_ms now)
{
    struct budget_answer x = {.allowed = BUDGET_UNLIMITED};
    for (uint32_t i = 0; i < p->budgets.count; i++) {
        const struct budget *b = &p->budgets.items[i];
        int32_t share = 0;
        bool active = false;
        struct err broken;
        if (!share_of(b->nodes, n, &share, &broken) || !is_active(b, now, &active, &broken))
            return (struct budget_answer){0, BUDGET_BY_BROKEN, i};
        if (active && restricts(b, reason) && share < x.allowed)
            x = (struct budget_answer){share, BUDGET_BY_BUDGET, i};
    }
    return allow_windows_open(p, reason, now) ? x : (struct budget_answer){0, BUDGET_BY_WINDOWS, 0};
}

static void turn_earlier(const struct window *w, wall_ms now, wall_ms *first)
{
    wall_ms at;
    if (window_turns(w, now, &at) && at < *first)
        *first = at;
}

/* Of any of its windows, whatever comes of it; INT64_MAX: none is near. */
static wall_ms next_turn(const struct node_pool *p, wall_ms now)
{
    wall_ms first = INT64_MAX;
    struct span rest = annotations_get(p->meta.annotations, SYM_ALLOW_WINDOWS);
    struct allow_window allow;
    struct err err;
    for (uint32_t i = 0; i < p->budgets.count; i++) {
        enum when when;
        struct window w;
        if (when_of(&p->budgets.items[i], &when, &w, &err) && when == WHEN_WINDOW)
            turn_earlier(&w, now, &first);
    }
    while (allow_windows_next(&rest, &allow, &err))
        turn_earlier(&allow.window, now, &first);
    return first;
}

bool budgets_turn(const struct node_pool *p, int32_t n, struct span reason, wall_ms now, wall_ms *out)
{
    enum { TURNS_MOST = 1000 }; /* those of other reasons, and of budgets that are not the least, come to nothing */
    int32_t allowed = budgets_allowed(p, n, reason, now);
    *out = now;
    for (uint32_t i = 0; i < TURNS_MOST; i++) {
        *out = next_turn(p, *out);
        if (*out == INT64_MAX)
            return false;
        if (budgets_allowed(p, n, reason, *out) != allowed)
            return true;
    }
    return false;
}
