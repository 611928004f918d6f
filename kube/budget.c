#include "kube/budget.h"

#include "kube/cron.h"

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

static bool is_active(const struct budget *b, wall_ms now, bool *out, struct err *err)
{
    struct cron cron;
    span_ms duration = 0;
    wall_ms hit;
    *out = true;
    if (b->schedule.ptr == NULL && b->duration.ptr == NULL)
        return true;
    if (b->schedule.ptr == NULL || b->duration.ptr == NULL)
        return err_set(err, ERR_INVALID, "schedule and duration must be set together");
    if (!cron_parse(b->schedule, &cron, err))
        return false;
    if (!duration_parse(b->duration, &duration))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a duration; write it like \"8h\"",
                       SPAN_ARG(b->duration));
    /* A schedule without a hit in five years is never active; upstream takes it for always. */
    *out = cron_next(&cron, now - duration, &hit) && hit <= now;
    return true;
}

bool budget_valid(const struct budget *b, struct err *err)
{
    int32_t share;
    bool active;
    return share_of(b->nodes, 0, &share, err) && is_active(b, 0, &active, err);
}

static bool restricts(const struct budget *b, struct span reason)
{
    bool found = b->reasons.count == 0;
    for (uint32_t i = 0; i < b->reasons.count; i++)
        found |= span_eq(b->reasons.items[i], reason);
    return found;
}

int32_t budgets_allowed(const struct node_pool *p, int32_t n, struct span reason, wall_ms now)
{
    int32_t allowed = BUDGET_UNLIMITED;
    for (uint32_t i = 0; i < p->budgets.count; i++) {
        const struct budget *b = &p->budgets.items[i];
        int32_t share = 0;
        bool active = false;
        struct err broken;
        if (!share_of(b->nodes, n, &share, &broken) || !is_active(b, now, &active, &broken))
            return 0; /* a window that nobody can read may be meant for now */
        if (active && restricts(b, reason) && share < allowed)
            allowed = share;
    }
    return allowed;
}
