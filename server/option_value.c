#include "server/option_value.h"

#include <stdlib.h>

#include "base/nearest.h"
#include "kube/meta.h"

static const struct {
    const char *name;
    size_t offset;
} gate_table[] = {
    {"NodeRepair", offsetof(struct gates, node_repair)},
    {"ReservedCapacity", offsetof(struct gates, reserved_capacity)},
    {"SpotToSpotConsolidation", offsetof(struct gates, spot_to_spot)},
    {"NodeOverlay", offsetof(struct gates, node_overlay)},
    {"StaticCapacity", offsetof(struct gates, static_capacity)},
    {"CapacityBuffer", offsetof(struct gates, capacity_buffer)},
    {"TerminateFirstDrift", offsetof(struct gates, terminate_first_drift)},
    {"TerminateFirstRepair", offsetof(struct gates, terminate_first_repair)},
    {"PodDeletionCostManagement", offsetof(struct gates, pod_deletion_cost)},
};

/* --- values --- */

static bool parse_bool(const char *text, bool *out)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return false;
    *out = text[0] == 't';
    return true;
}

static struct span trimmed(struct span s)
{
    while (s.len != 0 && s.ptr[0] == ' ')
        s = (struct span){s.ptr + 1, s.len - 1};
    while (s.len != 0 && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

static void add_text(struct arena *a, struct texts *list, const char *text)
{
    const char **grown = ARENA_ARRAY(a, const char *, list->count + 1);
    if (list->count != 0)
        memcpy(grown, list->items, list->count * sizeof(*grown));
    grown[list->count] = arena_cstr(a, span_of(text));
    *list = (struct texts){grown, list->count + 1};
}

/* As Karpenter reads it: Go's words for a boolean. */
static bool parse_gate_value(struct span text, bool *out)
{
    static const char *const words[] = {"false", "False", "FALSE", "f", "F", "0",
                                        "true",  "True",  "TRUE",  "t", "T", "1"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (span_eq(text, span_of(words[i]))) {
            *out = i >= COUNT_OF(words) / 2;
            return true;
        }
    return false;
}

static void set_gate(struct arena *a, struct span name, bool on, struct options *out)
{
    for (size_t i = 0; i < COUNT_OF(gate_table); i++)
        if (span_eq(name, span_of(gate_table[i].name))) {
            memcpy((char *)&out->gates + gate_table[i].offset, &on, sizeof(on));
            return;
        }
    add_text(a, &out->unknown_gates, arena_cstr(a, name));
}

static bool parse_gates(struct arena *a, const char *text, struct options *out, struct err *err)
{
    for (struct span rest = span_of(text); rest.len != 0;) {
        struct span value;
        struct span pair = span_cut(rest, ',', &rest);
        struct span key = trimmed(span_cut(pair, '=', &value));
        bool on;
        if (pair.len == 0)
            continue;
        if (!parse_gate_value(trimmed(value), &on))
            return err_set(err, ERR_INVALID, "\"%.*s\" is not Name=true or Name=false",
                           SPAN_ARG(trimmed(pair)));
        set_gate(a, key, on, out);
    }
    return true;
}

/* Gates that are not named have their defaults, whatever a weaker source said of them. */
static bool replace_gates(struct arena *a, const struct option *o, const char *text,
                          struct options *out, struct err *err)
{
    out->unknown_gates.count = 0;
    return parse_gates(a, o->fallback, out, err) && parse_gates(a, text, out, err);
}

const char *option_unknown_gate(struct arena *a, const char *name)
{
    const char *words[COUNT_OF(gate_table)];
    for (size_t i = 0; i < COUNT_OF(gate_table); i++)
        words[i] = gate_table[i].name;
    const char *near = nearest_word(name, words, COUNT_OF(words));
    return near != NULL
               ? arena_printf(a, "no feature gate \"%s\"; did you mean %s?", name, near).ptr
               : arena_printf(a, "no feature gate \"%s\": it changes nothing", name).ptr;
}

static bool parse_choice(const char *text, const char *choices, int *out)
{
    struct span rest = span_of(choices);
    for (int i = 0; rest.ptr != NULL; i++)
        if (span_eq(span_cut(rest, '|', &rest), span_of(text))) {
            *out = i;
            return true;
        }
    return false;
}

/* "a, b or c" of "a|b|c" */
static const char *choices_text(struct arena *a, const char *choices)
{
    struct buf b = {0};
    struct span rest = span_of(choices);
    for (bool first = true; rest.ptr != NULL; first = false) {
        struct span word = span_cut(rest, '|', &rest);
        if (!first)
            buf_add(&b, rest.ptr != NULL ? SPAN(", ") : SPAN(" or "));
        buf_add(&b, word);
    }
    const char *text = arena_cstr(a, buf_span(&b));
    buf_release(&b);
    return text;
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0 && *out <= 1e15;
}

static bool parse_names(struct arena *a, const char *text, struct texts *out, struct err *err)
{
    for (struct span rest = span_of(text); rest.ptr != NULL;) {
        struct span name = trimmed(span_cut(rest, ',', &rest));
        if (name.len == 0)
            return err_set(err, ERR_INVALID, "\"%s\" has an empty name", text);
        add_text(a, out, arena_cstr(a, name));
    }
    return true;
}

static void add_count(struct arena *a, struct counts *list, struct named_count entry)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, entry.name) == 0) {
            list->items[i].count = entry.count;
            return;
        }
    struct named_count *grown = ARENA_ARRAY(a, struct named_count, list->count + 1);
    if (list->count != 0)
        memcpy(grown, list->items, list->count * sizeof(*grown));
    grown[list->count] = entry;
    *list = (struct counts){grown, list->count + 1};
}

static bool parse_counts(struct arena *a, const char *text, struct counts *out, struct err *err)
{
    for (struct span rest = span_of(text); rest.ptr != NULL;) {
        struct span value;
        struct span pair = trimmed(span_cut(rest, ',', &rest));
        struct named_count entry = {.name = arena_cstr(a, span_cut(pair, '=', &value))};
        if (entry.name[0] == '\0' || !span_int64(value, &entry.count) || entry.count < 0)
            return err_set(err, ERR_INVALID, "\"%.*s\" is not NAME=N with N of 0 or more",
                           SPAN_ARG(pair));
        add_count(a, out, entry);
    }
    return true;
}

bool option_set(struct arena *a, const struct option *o, const char *shown, const char *text,
                struct options *out, struct err *err)
{
    if (text[0] == '\0' && o->may_be_empty)
        text = o->fallback;
    void *at = (char *)out + o->offset;
    int64_t number;
    switch (o->type) {
    case OPTION_BOOL:
        return parse_bool(text, at) ||
               err_set(err, ERR_INVALID, "%s: \"%s\" is neither true nor false", shown, text);
    case OPTION_INT:
        if (!span_int64(span_of(text), &number))
            return err_set(err, ERR_INVALID, "%s: \"%s\" is not an integer", shown, text);
        if (number < o->min || number > o->max)
            return err_set(err, ERR_INVALID, "%s: %s is not between %lld and %lld", shown, text,
                           (long long)o->min, (long long)o->max);
        memcpy(at, &number, sizeof(number));
        return true;
    case OPTION_NUMBER:
        return parse_number(text, at) ||
               err_set(err, ERR_INVALID, "%s: \"%s\" is not a number of 0 or more", shown, text);
    case OPTION_TEXT:
        *(const char **)at = arena_cstr(a, span_of(text));
        return true;
    case OPTION_TEXTS:
        if (text[0] == '\0')
            return err_set(err, ERR_INVALID, "%s: the name is empty", shown);
        add_text(a, at, text);
        return true;
    case OPTION_DURATION:
        return (duration_parse(span_of(text), at) && *(span_ms *)at >= 0) ||
               err_set(err, ERR_INVALID, "%s: \"%s\" is not a duration like 10s or 1m30s", shown,
                       text);
    case OPTION_CHOICE:
        return parse_choice(text, o->choices, at) ||
               err_set(err, ERR_INVALID, "%s: \"%s\" is not %s", shown, text,
                       choices_text(a, o->choices));
    case OPTION_GATES:
        return replace_gates(a, o, text, out, err) || err_wrap(err, "%s", shown);
    case OPTION_NAMES:
        return parse_names(a, text, at, err) || err_wrap(err, "%s", shown);
    case OPTION_COUNTS:
        return parse_counts(a, text, at, err) || err_wrap(err, "%s", shown);
    }
    return err_set(err, ERR_INTERNAL, "%s has no type", shown);
}
