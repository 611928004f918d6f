#include "planner/disruption/allowance_told.h"

#include "base/buf.h"
#include "kube/allow_windows.h"
#include "kube/budget.h"
#include "kube/disruption_mode.h"
#include "planner/columns.h"

static void add_why(struct buf *b, const struct node_pool *p, const struct budget_answer *x)
{
    struct err err = {.kind = ERR_NONE};
    switch (x->by) {
    case BUDGET_BY_NONE:
        buf_addf(b, "nothing limits them");
        break;
    case BUDGET_BY_BUDGET:
        buf_addf(b, "by spec.disruption.budgets[%u] (\"%.*s\")", x->index,
                 SPAN_ARG(p->budgets.items[x->index].nodes));
        break;
    case BUDGET_BY_BROKEN:
        budget_valid(&p->budgets.items[x->index], &err);
        buf_addf(b, "spec.disruption.budgets[%u] cannot be read: %s", x->index, err.msg);
        break;
    case BUDGET_BY_WINDOWS:
        if (allow_windows_valid(p, &err))
            buf_addf(b, "no window of stowage.dev/allow-windows is open");
        else
            buf_addf(b, "stowage.dev/allow-windows cannot be read: %s", err.msg);
    }
}

static void add_answer(struct buf *b, const struct node_pool *p, const struct budget_answer *x, int32_t nodes)
{
    buf_addf(b, "%d of %d nodes, ", x->allowed < nodes ? x->allowed : nodes, nodes);
    add_why(b, p, x);
}

static void add_mode(struct buf *b, const struct node_pool *p, enum disruption_reason reason)
{
    struct err err;
    enum disruption_mode mode = disruption_mode_of(p, reason);
    if (mode == MODE_OBSERVE)
        buf_addf(b, "; nothing is looked for, by stowage.dev/mode");
    else if (mode == MODE_RECOMMEND)
        buf_addf(b, "; what would be done is only said, by stowage.dev/mode%s%s",
                 disruption_mode_valid(p, &err) ? "" : ", which cannot be read: ",
                 disruption_mode_valid(p, &err) ? "" : err.msg);
}

static struct span text_of(struct arena *a, const struct node_pool *p, const struct allowance *now,
                           enum disruption_reason why, wall_ms at)
{
    struct buf b = {0};
    struct span reason = disruption_reason_name(why);
    int32_t nodes = (int32_t)now->nodes;
    struct budget_answer x = budgets_judge(p, nodes, reason, at);
    wall_ms turn;
    add_answer(&b, p, &x, nodes);
    if (now->busy != 0)
        buf_addf(&b, "; %u %s or not ready, and count", now->busy, now->busy == 1 ? "is leaving" : "are leaving");
    if (budgets_turn(p, nodes, reason, at, &turn)) {
        x = budgets_judge(p, nodes, reason, turn);
        buf_addf(&b, "; from %.*s on ", SPAN_ARG(time_text(a, turn)));
        add_answer(&b, p, &x, nodes);
    }
    add_mode(&b, p, why);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

uint32_t allowance_tell(struct arena *a, const struct world *w, const struct node_pool *pool, wall_ms at,
                        struct allowance_told out[REASON_COUNT])
{
    uint32_t count = 0, index = 0;
    while (index < w->pool_count && w->pools[index] != pool)
        index++;
    for (int r = 0; index < w->pool_count && r < REASON_COUNT; r++) {
        struct allowances all = allowances_make(a, w, (enum disruption_reason)r, NULL, at);
        struct span name = disruption_reason_name((enum disruption_reason)r);
        struct span text = text_of(a, pool, &all.items[index], (enum disruption_reason)r, at);
        uint32_t same = 0;
        while (same < count && !span_eq(out[same].text, text))
            same++;
        if (same == count)
            out[count++] = (struct allowance_told){name, text};
        else
            out[same].reasons = arena_printf(a, "%.*s, %.*s", SPAN_ARG(out[same].reasons), SPAN_ARG(name));
    }
    if (count == 1)
        out[0].reasons = SPAN("any reason");
    return count;
}
