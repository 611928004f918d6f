#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/status.h"

static const struct {
    const char *label;
    int status;
    int32_t header; /* Retry-After, -1: none */
    const char *text;
    enum err_kind kind;
    const char *message, *reason, *cause;
    int32_t retry_after_s;
} rows[] = {
    {"an object", 200, -1, "{\"kind\":\"Pod\"}", ERR_NONE, "", "", "", -1},
    {"success in a Status", 201, -1, "{\"kind\":\"Status\",\"status\":\"Success\"}", ERR_NONE, "",
     "", "", -1},
    {"create of what is there", 409, -1,
     "{\"kind\":\"Status\",\"message\":\"nodes \\\"a\\\" already "
     "exists\",\"reason\":\"AlreadyExists\","
     "\"code\":409}",
     ERR_CONFLICT, "nodes \"a\" already exists", "AlreadyExists", "", -1},
    {"eviction against a budget", 429, -1,
     "{\"kind\":\"Status\",\"message\":\"Cannot evict pod\",\"reason\":\"TooManyRequests\","
     "\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\"},{\"reason\":\"x\"}]}}",
     ERR_RETRY, "Cannot evict pod", "TooManyRequests", "DisruptionBudget", -1},
    {"eviction before the budget was observed", 429, 10,
     "{\"kind\":\"Status\",\"message\":\"m\",\"reason\":\"TooManyRequests\","
     "\"details\":{\"retryAfterSeconds\":7}}",
     ERR_RETRY, "m", "TooManyRequests", "", 10},
    {"seconds only in the details", 503, -1,
     "{\"kind\":\"Status\",\"message\":\"m\",\"details\":{\"retryAfterSeconds\":7}}", ERR_RETRY,
     "m", "", "", 7},
    {"priority and fairness speaks plain text", 429, 1,
     "Too many requests, please try again later.\n", ERR_RETRY,
     "the API server answered 429: Too many requests, please try again later.", "", "", 1},
    {"no body", 503, -1, "", ERR_RETRY, "the API server answered 503", "", "", -1},
    {"a Status without a message", 404, -1, "{\"kind\":\"Status\",\"reason\":\"NotFound\"}",
     ERR_NOT_FOUND, "the API server answered 404 NotFound", "NotFound", "", -1},
    {"members of other types", 422, -1,
     "{\"kind\":\"Status\",\"message\":5,\"reason\":null,\"details\":[1]}", ERR_INVALID,
     "the API server answered 422 ", "", "", -1},
    {"a moved server", 302, -1, "<html>", ERR_INTERNAL, "the API server answered 302: <html>", "",
     "", -1},
};

static void test_rows(void **state)
{
    (void)state;
    struct doc_parser *p = doc_parser_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct doc *doc = NULL;
        struct err ignored;
        struct api_result r = {.status = rows[i].status, .retry_after_s = rows[i].header};
        if (!doc_parse_json(p, span_of(rows[i].text), &doc, &ignored))
            doc = NULL;
        status_read(&r, doc, span_of(rows[i].text));
        if (r.err.kind != rows[i].kind)
            fail_msg("%s: kind %s", rows[i].label, err_kind_name(r.err.kind));
        if (r.err.kind != ERR_NONE && strcmp(r.err.msg, rows[i].message) != 0)
            fail_msg("%s: message \"%s\"", rows[i].label, r.err.msg);
        if (!span_eq(r.reason, span_of(rows[i].reason)))
            fail_msg("%s: reason %.*s", rows[i].label, SPAN_ARG(r.reason));
        if (!span_eq(r.cause, span_of(rows[i].cause)))
            fail_msg("%s: cause %.*s", rows[i].label, SPAN_ARG(r.cause));
        if (r.retry_after_s != rows[i].retry_after_s)
            fail_msg("%s: retry after %d", rows[i].label, r.retry_after_s);
    }
    doc_parser_free(p);
}

static void test_error_events(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        enum err_kind kind;
    } events[] = {
        {"{\"kind\":\"Status\",\"message\":\"too old resource version: 1 (700)\",\"code\":410}",
         410, ERR_GONE},
        {"{\"kind\":\"Status\",\"code\":500}", 500, ERR_RETRY},
        {"{\"kind\":\"Status\"}", 500, ERR_RETRY},
        {"{\"kind\":\"Status\",\"code\":7}", 500, ERR_RETRY},
        {"{\"kind\":\"Status\",\"code\":200}", 500, ERR_RETRY},
    };
    struct doc_parser *p = doc_parser_new();
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        const struct doc *doc;
        struct err err;
        struct api_result r = {0};
        assert_true(doc_parse_json(p, span_of(events[i].text), &doc, &err));
        status_of_event(&r, doc_root(doc));
        if (r.status != events[i].status || r.err.kind != events[i].kind)
            fail_msg("%s: %d %s", events[i].text, r.status, err_kind_name(r.err.kind));
    }
    doc_parser_free(p);
}

static void test_retry_after(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int32_t want;
    } values[] = {
        {" 1\r\n", 1},       {"10", 10},
        {" 0\r\n", 0},       {"", -1},
        {" -5\r\n", -1},     {"Wed, 21 Oct 2015 07:28:00 GMT\r\n", -1},
        {"99999999999", 86400}, {"1.5", -1},
    };
    for (size_t i = 0; i < COUNT_OF(values); i++)
        if (status_retry_after(span_of(values[i].value)) != values[i].want)
            fail_msg("\"%s\"", values[i].value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_error_events),
        cmocka_unit_test(test_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
