/* manifests/prometheus/alerts.yaml: every metric, label and value that an alert names is one that Stowage serves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "reconciler/measure.h"
#include "server/input.h"

/* --- what is served --- */

struct sources { /* of the program: where metrics that the reconciler does not measure are registered */
    struct arena a;
    struct span text;
};

static void read_sources(struct sources *s)
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

static bool has_quoted(const struct sources *s, struct span word)
{
    char quoted[128];
    snprintf(quoted, sizeof(quoted), "\"%.*s\"", SPAN_ARG(word));
    return strstr(s->text.ptr, quoted) != NULL;
}

/* Whether a metric of this name, registered by the server, has the label; absent: whether there is the metric. */
static bool is_registered(const struct sources *s, struct span name, struct span label)
{
    char text[160];
    snprintf(text, sizeof(text), ".name = \"%.*s\"", SPAN_ARG(name));
    const char *at = strstr(s->text.ptr, text), *end = at != NULL ? strstr(at, "};") : NULL;
    if (at == NULL || label.len == 0)
        return at != NULL;
    snprintf(text, sizeof(text), "\"%.*s\"", SPAN_ARG(label));
    at = strstr(at, ".labels = ");
    const char *found = at != NULL && at < end ? strstr(at, text) : NULL;
    return found != NULL && found < end;
}

static bool is_measured(struct span name, struct span label)
{
    for (size_t i = 0; i < MEASURE_ID_COUNT; i++) {
        if (!span_eq(name, span_of(measure_infos[i].name)))
            continue;
        bool found = label.len == 0;
        for (int l = 0; l < MEASURE_LABELS_MAX && measure_infos[i].labels[l] != NULL; l++)
            found = found || span_eq(label, span_of(measure_infos[i].labels[l]));
        return found;
    }
    return false;
}

/* --- an expression --- */

struct query {
    const struct sources *sources;
    struct span metrics[8], grouped[8]; /* grouped: labels of by (…) and on (…) */
    size_t metric_count, grouped_count;
    char fault[256]; /* the first; empty: none */
};

static void complain(struct query *x, const char *what, struct span which)
{
    if (x->fault[0] == '\0')
        snprintf(x->fault, sizeof(x->fault), "no such %s: %.*s", what, SPAN_ARG(which));
}

/* A word, a quoted text, or one sign; absent at the end. */
static struct span next_token(struct span *rest)
{
    while (rest->len != 0 && isspace((unsigned char)rest->ptr[0]))
        *rest = (struct span){rest->ptr + 1, rest->len - 1};
    size_t n = 0;
    while (n < rest->len && (isalnum((unsigned char)rest->ptr[n]) || rest->ptr[n] == '_'))
        n++;
    if (n == 0 && rest->len != 0) {
        n = 1;
        while (rest->ptr[0] == '"' && n < rest->len && (n == 1 || rest->ptr[n - 1] != '"'))
            n++;
    }
    struct span token = {rest->ptr, n};
    *rest = (struct span){rest->ptr + n, rest->len - n};
    return token;
}

static bool has_label(const struct sources *s, struct span metric, struct span label)
{
    return is_measured(metric, label) || is_registered(s, metric, label);
}

/* {label="value|other",…} */
static void read_matchers(struct query *x, struct span *rest)
{
    struct span label = {NULL, 0};
    for (struct span t = next_token(rest); t.len != 0 && t.ptr[0] != '}'; t = next_token(rest)) {
        if (isalpha((unsigned char)t.ptr[0])) {
            label = t;
            if (!has_label(x->sources, x->metrics[x->metric_count - 1], label))
                complain(x, "label", label);
        }
        struct span values = {t.ptr + 1, t.len - 2};
        for (struct span value; t.ptr[0] == '"' && values.len != 0;) {
            value = span_cut(values, '|', &values);
            if (!has_quoted(x->sources, value))
                complain(x, "value", value);
        }
    }
}

static void read_grouped(struct query *x, struct span *rest)
{
    for (struct span t = next_token(rest); t.len != 0 && t.ptr[0] != ')'; t = next_token(rest))
        if (isalpha((unsigned char)t.ptr[0])) {
            assert_true(x->grouped_count < COUNT_OF(x->grouped));
            x->grouped[x->grouped_count++] = t;
        }
}

static void read_word(struct query *x, struct span word, struct span *rest)
{
    struct span after = *rest, next = next_token(&after);
    if (span_eq(word, SPAN("by")) || span_eq(word, SPAN("on"))) {
        read_grouped(x, rest);
    } else if (span_eq(next, SPAN("(")) || span_eq(word, SPAN("and")) || span_eq(word, SPAN("sum")) ||
               span_eq(word, SPAN("max")) || span_eq(word, SPAN("min"))) {
        return;
    } else if (!has_label(x->sources, word, (struct span){NULL, 0})) {
        complain(x, "metric", word);
    } else {
        assert_true(x->metric_count < COUNT_OF(x->metrics));
        x->metrics[x->metric_count++] = word;
        if (span_eq(next, SPAN("{")))
            read_matchers(x, rest);
    }
}

/* Of any metric of the expression, or Prometheus' own. */
static void check_grouped(struct query *x)
{
    for (size_t i = 0; i < x->grouped_count; i++) {
        bool found = span_eq(x->grouped[i], SPAN("instance"));
        for (size_t m = 0; m < x->metric_count; m++)
            found = found || has_label(x->sources, x->metrics[m], x->grouped[i]);
        if (!found)
            complain(x, "label", x->grouped[i]);
    }
}

static struct query read_expression(const struct sources *s, struct span text)
{
    struct query x = {.sources = s};
    for (struct span t = next_token(&text); t.len != 0; t = next_token(&text))
        if (isalpha((unsigned char)t.ptr[0]))
            read_word(&x, t, &text);
    if (x.metric_count == 0)
        complain(&x, "metric", SPAN("any"));
    check_grouped(&x);
    return x;
}

/* --- the checker itself --- */

static void what_is_not_served_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"stowage_scheduler_silent == 1", ""},
        {"stowage_scheduler_quiet == 1", "no such metric: stowage_scheduler_quiet"},
        {"sum by (cause) (increase(stowage_divergences_total{cause=~\"refused|late\"}[30m])) > 10", ""},
        {"sum by (reason) (increase(stowage_divergences_total[30m])) > 10", "no such label: reason"},
        {"stowage_divergences_total{why=\"late\"}", "no such label: why"},
        {"stowage_divergences_total{cause=~\"refused|tardy\"}", "no such value: tardy"},
        {"stowage_observing == 1 and on (instance) leader_election_master_status{name=\"stowage-leader-election\"} == 1", ""},
        {"stowage_observing == 1 and on (pod) leader_election_master_status == 1", "no such label: pod"},
        {"leader_election_master_status{names=\"late\"}", "no such label: names"},
        {"absent(leader_election_status)", "no such metric: leader_election_status"},
        {"rate(stowage_extender_requests_total{answer=\"error\"}[5m]) > 0", ""},
        {"rate(stowage_extender_requests_total{code=\"error\"}[5m]) > 0", "no such label: code"},
        {"1 > 0", "no such metric: any"},
    };
    struct sources s;
    read_sources(&s);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct query x = read_expression(&s, span_of(rows[i].text));
        if (strcmp(x.fault, rows[i].fault) != 0)
            fail_msg("%s: \"%s\"", rows[i].text, x.fault);
    }
    arena_release(&s.a);
}

/* --- the alerts --- */

/* "{{ $labels.cause }}" is of a label that the result still has. */
static void check_text(struct query *x, struct span text)
{
    static const char begin[] = "$labels.";
    for (const char *at = text.ptr; (at = strstr(at, begin)) != NULL; at += sizeof(begin) - 1) {
        struct span rest = {at + sizeof(begin) - 1, text.len - (size_t)(at + sizeof(begin) - 1 - text.ptr)};
        struct span label = next_token(&rest);
        bool found = false;
        for (size_t i = 0; i < x->grouped_count; i++)
            found = found || span_eq(x->grouped[i], label);
        if (!found)
            complain(x, "label", label);
    }
}

static void check_alert(const struct sources *s, struct doc_value rule)
{
    struct doc_value labels, notes;
    struct arena a;
    arena_init(&a, 0);
    struct span name = arena_dup(&a, doc_text_at(rule, SPAN("alert")));
    struct query x = read_expression(s, arena_dup(&a, doc_text_at(rule, SPAN("expr"))));
    assert_true(doc_find(rule, SPAN("labels"), &labels));
    assert_true(doc_find(rule, SPAN("annotations"), &notes));
    assert_int_not_equal(doc_text_at(labels, SPAN("severity")).len, 0);
    assert_int_not_equal(doc_text_at(rule, SPAN("for")).len, 0);
    assert_int_not_equal(doc_text_at(notes, SPAN("description")).len, 0); /* what to do */
    struct span summary = doc_text_at(notes, SPAN("summary"));
    assert_int_not_equal(summary.len, 0);
    check_text(&x, span_of(arena_cstr(&a, summary)));
    if (x.fault[0] != '\0')
        fail_msg("%.*s: %s", SPAN_ARG(name), x.fault);
    arena_release(&a);
}

static size_t check_rules(const struct sources *s, struct doc_value object)
{
    struct doc_value spec, groups, rules;
    size_t count = 0;
    if (!doc_find(object, SPAN("spec"), &spec) || !doc_find(spec, SPAN("groups"), &groups))
        return 0;
    for (struct doc_iter g = doc_iter_of(groups); doc_next(&g);) {
        assert_true(doc_find(g.value, SPAN("rules"), &rules));
        for (struct doc_iter r = doc_iter_of(rules); doc_next(&r); count++)
            check_alert(s, r.value);
    }
    return count;
}

static void alerts_name_what_is_served(void **state)
{
    (void)state;
    struct sources s;
    struct span text;
    struct err err = {0};
    const struct doc *doc;
    size_t at = 0, alerts = 0;
    read_sources(&s);
    assert_true(input_text(&s.a, SOURCE_DIR "/manifests/prometheus/alerts.yaml", &text, &err));
    struct doc_parser *parser = doc_parser_new();
    while (doc_parse_yaml(parser, text, &at, &doc, &err))
        alerts += check_rules(&s, doc_root(doc));
    assert_int_equal(err.kind, ERR_NONE);
    assert_int_not_equal(alerts, 0);
    doc_parser_free(parser);
    arena_release(&s.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_served_is_found),
        cmocka_unit_test(alerts_name_what_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
