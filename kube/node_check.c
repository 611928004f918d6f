#include "kube/node_check.h"

#include "kube/node.h"

enum { BUDGETS_MAX = 50, REQUIREMENTS_MAX = 100, LABELS_MAX = 100 }; /* of the schema */

static void check_text(struct decode *d, struct doc_value v, const char *member, struct span text)
{
    if (text.len == 0)
        decode_invalid_in(d, v, member, text.ptr == NULL ? "is missing" : "is empty");
}

void node_check_class_ref(struct decode *d, struct doc_value v, const void *object)
{
    const struct node_class_ref *r = object;
    struct span version;
    struct span group = span_cut(r->group, '/', &version);
    check_text(d, v, "group", r->group);
    check_text(d, v, "kind", r->kind);
    check_text(d, v, "name", r->name);
    if (version.ptr != NULL)
        decode_invalid_in(d, v, "group", "\"%.*s\" has a version; write \"%.*s\"", SPAN_ARG(r->group),
                          SPAN_ARG(group));
}

/* ---- budgets ---- */

static size_t digits(struct span s)
{
    size_t n = 0;
    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    return n;
}

static struct span after(struct span s, size_t n)
{
    return (struct span){s.ptr + n, s.len - n};
}

static bool nodes_admitted(struct span s)
{
    size_t n = digits(s);
    bool percent = span_eq(after(s, n), SPAN("%"));
    return n != 0 && (n == s.len || (percent && (n < 3 || span_eq(s, SPAN("100%")))));
}

/* "8h", "20m", "2h20m", each with an "0s" behind. */
static bool window_admitted(struct span s)
{
    size_t n = digits(s);
    if (n == 0 || n == s.len || (s.ptr[n] != 'h' && s.ptr[n] != 'm'))
        return false;
    bool hours = s.ptr[n] == 'h';
    s = after(s, n + 1);
    n = digits(s);
    if (hours && n != 0 && n < s.len && s.ptr[n] == 'm')
        s = after(s, n + 1);
    return s.len == 0 || span_eq(s, SPAN("0s"));
}

/* The schema counts fields, and looks no further: what they say is cron_parse's. */
static bool schedule_admitted(struct span s)
{
    size_t fields = 0;
    if (span_has_prefix(s, SPAN("@")))
        return s.len > 1 && !span_has_prefix(s, SPAN("@every")) && !span_eq(s, SPAN("@reboot")) &&
               !span_eq(s, SPAN("@never"));
    for (size_t i = 0; i < s.len; i++)
        fields += s.ptr[i] != ' ' && s.ptr[i] != '\t' &&
                  (i == 0 || s.ptr[i - 1] == ' ' || s.ptr[i - 1] == '\t');
    return fields >= 5;
}

static void check_reasons(struct decode *d, struct doc_value v, struct spans reasons)
{
    static const struct span known[] = {SPAN_INIT("Underutilized"), SPAN_INIT("Empty"),
                                        SPAN_INIT("Drifted"), SPAN_INIT("Unhealthy")};
    for (uint32_t i = 0; i < reasons.count; i++) {
        bool found = false;
        for (size_t k = 0; k < COUNT_OF(known); k++)
            found |= span_eq(reasons.items[i], known[k]);
        if (!found)
            decode_invalid_in(d, v, "reasons",
                              "\"%.*s\" is not a reason; use Underutilized, Empty, Drifted or Unhealthy",
                              SPAN_ARG(reasons.items[i]));
    }
}

void node_check_budget(struct decode *d, struct doc_value v, const void *object)
{
    const struct budget *b = object;
    if (b->nodes.ptr != NULL && !nodes_admitted(b->nodes))
        decode_invalid_in(d, v, "nodes", "\"%.*s\" is not a number of nodes; write \"5\" or \"10%%\"",
                          SPAN_ARG(b->nodes));
    check_reasons(d, v, b->reasons);
    if (b->schedule.ptr != NULL && !schedule_admitted(b->schedule))
        decode_invalid_in(d, v, "schedule",
                          "\"%.*s\" is not a schedule; write five fields like \"0 9 * * mon-fri\", or @daily",
                          SPAN_ARG(b->schedule));
    if (b->duration.ptr != NULL && !window_admitted(b->duration))
        decode_invalid_in(d, v, "duration",
                          "\"%.*s\" is not a duration; write hours and minutes like \"8h\" or \"1h30m\"",
                          SPAN_ARG(b->duration));
    if ((b->schedule.ptr == NULL) != (b->duration.ptr == NULL))
        decode_invalid_in(d, v, b->schedule.ptr == NULL ? "schedule" : "duration",
                          "is missing; schedule and duration must be set together");
}

/* ---- the spec ---- */

static void check_static(struct decode *d, struct doc_value spec, const struct node_pool *p)
{
    struct doc_value weight;
    for (uint32_t i = 0; i < p->limits.count; i++)
        if (p->limits.items[i].name != sym_intern(d->syms, SPAN("nodes")))
            decode_invalid_in(d, spec, "limits", "%.*s cannot be limited beside replicas, only nodes can",
                              SPAN_ARG(sym_text(d->syms, p->limits.items[i].name)));
    if (doc_find(spec, SPAN("weight"), &weight) && doc_type(weight) != DOC_NULL)
        decode_invalid_in(d, spec, "weight", "cannot be set beside replicas");
}

static void check_count(struct decode *d, struct doc_value spec, const char *what, uint32_t count, uint32_t max)
{
    if (count > max)
        decode_invalid(d, spec, "has %u %s; at most %u are admitted", count, what, max);
}

void node_check_pool(struct decode *d, struct doc_value spec, const struct node_pool *p)
{
    if (p->has_replicas)
        check_static(d, spec, p);
    check_count(d, spec, "budgets", p->budgets.count, BUDGETS_MAX);
    check_count(d, spec, "requirements", p->requirements.count, REQUIREMENTS_MAX);
    check_count(d, spec, "labels", p->labels.count, LABELS_MAX);
}
