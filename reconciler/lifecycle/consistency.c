/* ConsistentStateFound: the Node has at least nine tenths of what its type promised, of each resource that the
 * claim asks for (spec disruption 12.7). It is told, and decides nothing. */
#include "base/buf.h"
#include "reconciler/lifecycle/lifecycle.h"

enum { KEPT_MS = 10 * MS_MINUTE, /* an answer stands so long */ LEAST_PERCENT = 90 };

static void add_shortfall(struct buf *b, const struct lifecycle_facts *f, sym name)
{
    struct span resource = sym_text(f->syms, name);
    amount want = resources_get(f->claim->capacity, name), got = resources_get(f->node->capacity, name);
    double percent = want != 0 ? (double)got * 100 / (double)want : 100;
    if (percent >= LEAST_PERCENT)
        return;
    buf_addf(b, "%sexpected ", b->len != 0 ? "; " : "");
    quantity_put(b, resource, want);
    buf_addf(b, " of resource %.*s, but found ", SPAN_ARG(resource));
    quantity_put(b, resource, got);
    buf_addf(b, " (%.1f%% of expected)", percent);
}

void lifecycle_check_consistency(struct arena *a, const struct lifecycle_facts *f,
                                 struct lifecycle_step *s)
{
    static const struct span found = SPAN_INIT("ConsistentStateFound");
    const struct condition *before = conditions_find(f->claim->conditions, found);
    struct buf b = {0};
    if (f->node == NULL || f->nodes != 1 || lifecycle_status(s, SPAN("Initialized")) != CONDITION_TRUE)
        return;
    for (uint32_t i = 0; i < f->claim->requests.count; i++)
        if (f->claim->requests.items[i].value != 0)
            add_shortfall(&b, f, f->claim->requests.items[i].name);
    s->shortfall = arena_dup(a, buf_span(&b));
    buf_release(&b);
    enum condition_status now = s->shortfall.len == 0 ? CONDITION_TRUE : CONDITION_FALSE;
    if (before != NULL && before->status != now && f->now < before->transition + KEPT_MS) {
        if (s->due == 0 || before->transition + KEPT_MS < s->due)
            s->due = before->transition + KEPT_MS;
        s->shortfall = (struct span){0};
    } else if (now == CONDITION_TRUE) {
        condition_set_true(&s->conditions, found);
    } else {
        condition_set_put(&s->conditions, found, now, SPAN("ConsistencyCheckFailed"),
                          SPAN("Consistency Check Failed"));
    }
}
