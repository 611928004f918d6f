#include "support_served.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "reconciler/measure.h"
#include "server/input.h"

static const struct span NONE = {NULL, 0};

void served_read(struct served *s)
{
    static const char *const patterns[] = {"server", "reconciler", "reconciler/*", "extender"};
    struct buf all = {0};
    struct err err;
    arena_init(&s->a, 0);
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        glob_t files;
        char pattern[512];
        snprintf(pattern, sizeof(pattern), SOURCE_DIR "/%s/*.[ch]", patterns[i]);
        assert_int_equal(glob(pattern, 0, NULL, &files), 0);
        for (size_t k = 0; k < files.gl_pathc; k++) {
            struct span text;
            assert_true(input_text(&s->a, files.gl_pathv[k], &text, &err));
            buf_add(&all, text);
        }
        globfree(&files);
    }
    buf_add_char(&all, '\0');
    s->text = arena_dup(&s->a, buf_span(&all));
    buf_release(&all);
}

void served_release(struct served *s)
{
    arena_release(&s->a);
}

bool served_says(const struct served *s, struct span word)
{
    char quoted[128];
    snprintf(quoted, sizeof(quoted), "\"%.*s\"", SPAN_ARG(word));
    return strstr(s->text.ptr, quoted) != NULL;
}

/* What the server registers it with: `.name = "…", …, .labels = {…}` up to the next one; absent: it does not. */
static struct span registered(const struct served *s, struct span name)
{
    char text[160];
    snprintf(text, sizeof(text), ".name = \"%.*s\"", SPAN_ARG(name));
    const char *at = strstr(s->text.ptr, text), *end = at != NULL ? strstr(at, "};") : NULL;
    if (end == NULL)
        return NONE;
    const char *next = strstr(at + 1, ".name = ");
    return (struct span){at, (size_t)((next != NULL && next < end ? next : end) - at)};
}

static const struct measure_info *measured(struct span name)
{
    for (size_t i = 0; i < MEASURE_ID_COUNT; i++)
        if (span_eq(name, span_of(measure_infos[i].name)))
            return &measure_infos[i];
    return NULL;
}

static bool has_exactly(const struct served *s, struct span name, struct span label)
{
    const struct measure_info *info = measured(name);
    struct span text = registered(s, name);
    char quoted[128];
    if (info == NULL && text.len == 0)
        return false;
    bool found = label.len == 0;
    for (int l = 0; info != NULL && l < MEASURE_LABELS_MAX && info->labels[l] != NULL; l++)
        found = found || span_eq(label, span_of(info->labels[l]));
    snprintf(quoted, sizeof(quoted), "\"%.*s\"", SPAN_ARG(label));
    return found || span_contains(text, span_of(quoted));
}

static bool has_parts(const struct served *s, struct span name)
{
    const struct measure_info *info = measured(name);
    struct span text = registered(s, name);
    return info != NULL ? info->type == MEASURE_HISTOGRAM || info->type == MEASURE_SUMMARY
                        : span_contains(text, SPAN("METRIC_HISTOGRAM")) || span_contains(text, SPAN("METRIC_SUMMARY"));
}

static bool cut_end(struct span *name, const char *end)
{
    size_t n = strlen(end);
    if (name->len <= n || memcmp(name->ptr + name->len - n, end, n) != 0)
        return false;
    name->len -= n;
    return true;
}

bool served_has(const struct served *s, struct span name, struct span label)
{
    bool bucket = false;
    if (has_exactly(s, name, NONE))
        return label.len == 0 || has_exactly(s, name, label);
    if (!(bucket = cut_end(&name, "_bucket")) && !cut_end(&name, "_sum") && !cut_end(&name, "_count"))
        return false;
    if (!has_parts(s, name))
        return false;
    return has_exactly(s, name, label) || (bucket && span_eq(label, SPAN("le")) && has_exactly(s, name, NONE));
}

static void complain(char out[256], const char *what, struct span which)
{
    if (out[0] == '\0')
        snprintf(out, 256, "no such %s: %.*s", what, SPAN_ARG(which));
}

/* Of any metric of the expression, or Prometheus' own. */
static bool has_grouped(const struct served *s, const struct promql *x, struct span label)
{
    bool found = span_eq(label, SPAN("instance"));
    for (uint32_t m = 0; m < x->metric_count; m++)
        found = found || served_has(s, x->metrics[m], label);
    return found;
}

void served_judge(const struct served *s, const struct promql *x, char out[256])
{
    out[0] = '\0';
    if (x->metric_count == 0)
        complain(out, "metric", SPAN("any"));
    for (uint32_t i = 0; i < x->metric_count; i++)
        if (!served_has(s, x->metrics[i], NONE))
            complain(out, "metric", x->metrics[i]);
    for (uint32_t i = 0; i < x->match_count; i++) {
        if (!served_has(s, x->metrics[x->matches[i].metric], x->matches[i].label))
            complain(out, "label", x->matches[i].label);
        if (!served_says(s, x->matches[i].value))
            complain(out, "value", x->matches[i].value);
    }
    for (uint32_t i = 0; i < x->grouped_count; i++)
        if (!has_grouped(s, x, x->grouped[i]))
            complain(out, "label", x->grouped[i]);
}
