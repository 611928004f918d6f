/* manifests/prometheus/alerts.yaml: every metric, label and value that an alert names is one that Stowage serves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/doc.h"
#include "server/input.h"
#include "support_served.h"

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
        {"histogram_quantile(0.99, sum by (verb, le) (rate(stowage_extender_duration_seconds_bucket[5m])))", ""},
        {"sum by (verb, le) (rate(stowage_extender_duration_seconds_count[5m]))", "no such label: le"},
        {"rate(stowage_extender_requests_total_bucket{le=\"+Inf\"}[5m])", "no such metric: stowage_extender_requests_total_bucket"},
        {"rate(karpenter_pods_bound_duration_seconds_sum[5m])", ""},
    };
    struct served s;
    struct promql x;
    char fault[256];
    served_read(&s);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        promql_read(span_of(rows[i].text), &x);
        served_judge(&s, &x, fault);
        if (strcmp(fault, rows[i].fault) != 0)
            fail_msg("%s: \"%s\"", rows[i].text, fault);
    }
    served_release(&s);
}

/* --- the alerts --- */

/* "{{ $labels.cause }}" is of a label that the result still has. */
static void check_text(const struct promql *x, struct span name, struct span text)
{
    static const char begin[] = "$labels.";
    for (const char *at = text.ptr; (at = strstr(at, begin)) != NULL; at += sizeof(begin) - 1) {
        struct span rest = {at + sizeof(begin) - 1, text.len - (size_t)(at + sizeof(begin) - 1 - text.ptr)};
        struct span label = promql_token(&rest);
        bool found = false;
        for (size_t i = 0; i < x->grouped_count; i++)
            found = found || span_eq(x->grouped[i], label);
        if (!found)
            fail_msg("%.*s: no such label: %.*s", SPAN_ARG(name), SPAN_ARG(label));
    }
}

static void check_alert(const struct served *s, struct doc_value rule)
{
    struct doc_value labels, notes;
    struct arena a;
    struct promql x;
    char fault[256];
    arena_init(&a, 0);
    struct span name = arena_dup(&a, doc_text_at(rule, SPAN("alert")));
    promql_read(arena_dup(&a, doc_text_at(rule, SPAN("expr"))), &x);
    served_judge(s, &x, fault);
    if (fault[0] != '\0')
        fail_msg("%.*s: %s", SPAN_ARG(name), fault);
    assert_true(doc_find(rule, SPAN("labels"), &labels));
    assert_true(doc_find(rule, SPAN("annotations"), &notes));
    assert_int_not_equal(doc_text_at(labels, SPAN("severity")).len, 0);
    assert_int_not_equal(doc_text_at(rule, SPAN("for")).len, 0);
    assert_int_not_equal(doc_text_at(notes, SPAN("description")).len, 0); /* what to do */
    struct span summary = doc_text_at(notes, SPAN("summary"));
    assert_int_not_equal(summary.len, 0);
    check_text(&x, name, span_of(arena_cstr(&a, summary)));
    arena_release(&a);
}

static size_t check_rules(const struct served *s, struct doc_value object)
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
    struct served s;
    struct span text;
    struct err err = {0};
    const struct doc *doc;
    size_t at = 0, alerts = 0;
    served_read(&s);
    assert_true(input_text(&s.a, SOURCE_DIR "/manifests/prometheus/alerts.yaml", &text, &err));
    struct doc_parser *parser = doc_parser_new();
    while (doc_parse_yaml(parser, text, &at, &doc, &err))
        alerts += check_rules(&s, doc_root(doc));
    assert_int_equal(err.kind, ERR_NONE);
    assert_int_not_equal(alerts, 0);
    doc_parser_free(parser);
    served_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_served_is_found),
        cmocka_unit_test(alerts_name_what_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
