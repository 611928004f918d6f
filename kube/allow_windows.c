#include "kube/allow_windows.h"

#include "kube/disruption_reason.h"
#include "kube/meta.h"

#define LIKE "write a schedule, a duration and a time zone, like \"0 1 * * mon-fri 4h Europe/Berlin\""

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word of the text; absent: there is none. */
static struct span word_of(struct span *rest)
{
    size_t from = 0;
    while (from < rest->len && is_blank(rest->ptr[from]))
        from++;
    size_t to = from;
    while (to < rest->len && !is_blank(rest->ptr[to]))
        to++;
    struct span word = {to > from ? rest->ptr + from : NULL, to - from};
    *rest = (struct span){rest->ptr + to, rest->len - to};
    return word;
}

/* "Drifted,Empty:", if it begins with that. */
static bool take_reasons(struct span *rest, struct span *out, struct err *err)
{
    struct span after = *rest, word = word_of(&after);
    *out = (struct span){NULL, 0};
    if (!span_has_suffix(word, SPAN(":")))
        return true;
    *out = (struct span){word.ptr, word.len - 1};
    *rest = after;
    for (struct span list = *out; list.ptr != NULL;) {
        struct span name = span_cut(list, ',', &list);
        enum disruption_reason reason;
        if (!disruption_reason_find(name, &reason))
            return err_set(err, ERR_INVALID, "\"%.*s\" is no reason; write " DISRUPTION_REASONS, SPAN_ARG(name));
    }
    return true;
}

static struct span take_schedule(struct span *rest)
{
    enum { FIELDS = 5 };
    struct span first = word_of(rest), last = first;
    for (int i = 1; i < FIELDS && first.len != 0 && first.ptr[0] != '@'; i++)
        last = word_of(rest);
    if (first.ptr == NULL || last.ptr == NULL)
        return (struct span){NULL, 0};
    return (struct span){first.ptr, (size_t)(last.ptr + last.len - first.ptr)};
}

static bool parse(struct span text, struct allow_window *out, struct err *err)
{
    struct span rest = text;
    *out = (struct allow_window){.window = {.length = 0}};
    if (!take_reasons(&rest, &out->reasons, err))
        return false;
    struct span schedule = take_schedule(&rest), duration = word_of(&rest), zone = word_of(&rest);
    if (duration.ptr == NULL || word_of(&rest).ptr != NULL)
        return err_set(err, ERR_INVALID, "\"%.*s\" is no window; " LIKE, SPAN_ARG(text));
    if (!cron_parse(schedule, &out->window.cron, err))
        return false;
    if (!duration_parse(duration, &out->window.length) || out->window.length <= 0)
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a duration; write it like \"4h\"", SPAN_ARG(duration));
    return zone.ptr == NULL || zone_parse(zone, &out->window.zone) ||
           err_set(err, ERR_INVALID,
                   "\"%.*s\" is not a time zone; write a name like Europe/Berlin, or an offset like +02:00",
                   SPAN_ARG(zone));
}

bool allow_windows_next(struct span *rest, struct allow_window *out, struct err *err)
{
    err->kind = ERR_NONE;
    if (rest->ptr == NULL)
        return false;
    return parse(span_cut(*rest, ';', rest), out, err);
}

bool allow_windows_valid(const struct node_pool *p, struct err *err)
{
    struct span rest = annotations_get(p->meta.annotations, SYM_ALLOW_WINDOWS);
    struct allow_window w;
    while (allow_windows_next(&rest, &w, err))
        ;
    return err->kind == ERR_NONE;
}

static bool is_for(const struct allow_window *w, struct span reason)
{
    bool found = w->reasons.ptr == NULL;
    for (struct span list = w->reasons; list.ptr != NULL && !found;)
        found = span_eq(span_cut(list, ',', &list), reason);
    return found;
}

bool allow_windows_open(const struct node_pool *p, struct span reason, wall_ms now)
{
    struct span rest = annotations_get(p->meta.annotations, SYM_ALLOW_WINDOWS);
    struct allow_window w;
    struct err err;
    bool any = false, open = false;
    while (allow_windows_next(&rest, &w, &err)) {
        any |= is_for(&w, reason);
        open |= is_for(&w, reason) && window_is_open(&w.window, now);
    }
    return err.kind == ERR_NONE && (open || !any);
}
