#include "support_reasons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const struct plan_unschedulable *reasons_plan(struct cluster *c, const char *objects)
{
    cluster_init(c);
    cluster_types_c0(c);
    cluster_add(c, objects);
    cluster_plan(c);
    return cluster_failed(c, "a");
}

/* "pool default: it …" */
static struct span detail_text(struct cluster *c, const struct plan_detail *d)
{
    return arena_printf(&c->arena, "%.*s: %.*s", SPAN_ARG(d->about), SPAN_ARG(d->text));
}

static bool has_detail(struct cluster *c, const struct plan_unschedulable *u, const char *detail)
{
    for (uint32_t i = 0; i < u->detail_count; i++)
        if (span_eq(detail_text(c, &u->details[i]), span_of(detail)))
            return true;
    return false;
}

void reasons_check(const struct reason_row *row)
{
    struct cluster c;
    const struct plan_unschedulable *u = reasons_plan(&c, row->objects);
    if (u == NULL)
        fail_msg("%s: it has a place:\n%.*s", row->label, SPAN_ARG(cluster_summary(&c)));
    struct span message = why_text(&c.arena, &u->why);
    if (!span_eq(message, span_of(row->message)))
        fail_msg("%s: got:\n%.*s\nwant:\n%s", row->label, SPAN_ARG(message), row->message);
    if (row->detail != NULL && !has_detail(&c, u, row->detail))
        fail_msg("%s: got:\n%.*s\nwant:\n%s", row->label,
                 SPAN_ARG(u->detail_count != 0 ? detail_text(&c, &u->details[u->detail_count - 1]) : SPAN("")),
                 row->detail);
    cluster_release(&c);
    if (row->fixed == NULL)
        return;
    u = reasons_plan(&c, row->fixed);
    if (u != NULL)
        fail_msg("%s: the fix is none: %.*s", row->label, SPAN_ARG(u->why.sentence));
    cluster_release(&c);
}
