#include "planner/groups/cost.h"

#include <math.h>

#include "base/json.h"
#include "base/units.h"

static int32_t removed(const struct group_pass *p, uint32_t group, const uint32_t *rows, uint32_t count)
{
    int32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += group_of_row(p, rows[i]) == (int32_t)group;
    return n;
}

int32_t group_target_after(const struct group_pass *p, uint32_t group)
{
    int32_t target = p->model->groups[group].target;
    for (uint32_t i = 0; i < p->decision_count; i++)
        target += p->decisions[i].group == group ? p->decisions[i].delta : 0;
    for (uint32_t i = 0; i < p->repairs.decreased_count; i++)
        target -= p->repairs.decreased[i].group == group ? p->repairs.decreased[i].decreased : 0;
    for (uint32_t i = 0; i < p->repairs.deleted_count; i++)
        target -= p->repairs.deleted[i].group == group;
    target -= removed(p, group, p->down.empty, p->down.empty_count) + removed(p, group, p->down.drain, p->down.drain_count);
    return target > 0 ? target : 0;
}

struct group_cost group_cost_of(const struct group_pass *p)
{
    struct group_cost c = {.before = 0};
    for (uint32_t g = 0; g < p->model->group_count; g++) {
        const struct node_group *spec = p->model->groups[g].spec;
        int32_t after = group_target_after(p, g);
        if (!spec->has_price) {
            c.unpriced += after;
            continue;
        }
        c.known = true;
        c.before += spec->price * p->model->groups[g].target;
        c.after += spec->price * after;
    }
    return c;
}

void group_cost_json(struct json *j, const struct group_pass *p)
{
    struct group_cost c = group_cost_of(p);
    if (!c.known)
        return;
    json_put_object(j, "groupCost");
    json_key(j, SPAN("before"));
    json_double(j, c.before);
    json_key(j, SPAN("after"));
    json_double(j, c.after);
    if (c.unpriced != 0)
        json_put_int(j, "unpriced", c.unpriced);
    json_object_end(j);
}

void group_cost_table(struct buf *out, const struct group_pass *p)
{
    struct group_cost c = group_cost_of(p);
    double more = (c.after - c.before) * HOURS_A_MONTH;
    if (!c.known)
        return;
    buf_addf(out, "Node groups: $%.3f/h now, $%.3f/h with this pass (%s$%.0f a month)", c.before, c.after, more < 0 ? "-" : "+",
             fabs(more));
    if (c.unpriced != 0)
        buf_addf(out, ", and %d machine%s whose price nobody knows", c.unpriced, c.unpriced == 1 ? "" : "s");
    buf_addf(out, ".\n");
}
