/* Where values begin and end, and that what is no JSON is not taken for some. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json_scan.h"

static void expect(const char *label, const struct buf *b, const char *want)
{
    if (!span_eq(buf_span(b), span_of(want)))
        fail_msg("%s: got %.*s", label, SPAN_ARG(buf_span(b)));
}

static void values_follow_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {" \n", ""},
        {"{}", "<{}>"},
        {" 1 \"a b\"[2]{\"c\":[]}null\n", "<1><\"a b\"><[2]><{\"c\":[]}><null>"},
        {"{\"a\":\"}]\\\"}\"} 2", "<{\"a\":\"}]\\\"}\"}><2>"},
        {"\"a\\\\\" 2", "<\"a\\\\\"><2>"},
        {"{\"a\": [", "<{\"a\": [>"},
        {"\"a", "<\"a>"},
        {"\"a\\\"", "<\"a\\\">"},
        {"}, ]", "<}><,><]>"},
        {"1---\n---", "<1---><--->"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {0};
        struct span value;
        for (size_t at = 0; json_scan_next(span_of(rows[i].text), &at, &value);)
            buf_addf(&b, "<%.*s>", SPAN_ARG(value));
        expect(rows[i].text, &b, rows[i].want);
        buf_release(&b);
    }
}

static void lists_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: none */
    } rows[] = {
        {"{\"items\":[1,2]}", "1,2"},
        {"{ \"a\" : {\"items\":[]} , \"items\" : [ ] , \"b\":\"}\" }", " "},
        {"{\"a\":1}", NULL},
        {"{}", NULL},
        {"[1]", NULL},
        {"{\"items\":{}}", NULL},
        {"{\"items\":[],\"items\":[1]}", NULL},
        {"{\"items\":[] \"a\":1}", NULL},
        {"{\"items\" []}", NULL},
        {"{\"items\":[", NULL},
        {"{\"items\":}", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct span inside;
        bool found = json_scan_list(span_of(rows[i].text), SPAN("items"), &inside);
        if (found != (rows[i].want != NULL) || (found && !span_eq(inside, span_of(rows[i].want))))
            fail_msg("%s: %s", rows[i].text, found ? "another" : "none");
    }
}

static void members_come_between_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        bool whole; /* all of it was members */
    } rows[] = {
        {"", "", true},
        {" \n", "", true},
        {"\"a\":1", "<a=1>", true},
        {" \"a\" : {\"b\":[1,2]} , \"c,d\":\"}\" ", "<a={\"b\":[1,2]}><c,d=\"}\">", true},
        {"\"a\":1 \"b\":2", "<a=1>", false},
        {"\"a\":1,", "<a=1>", false},
        {"a:1", "", false},
        {"\"a\"", "", false},
        {"\"a\":", "", false},
        {"\"", "", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {0};
        struct span name, value;
        size_t at = 0;
        while (json_scan_member(span_of(rows[i].text), &at, &name, &value))
            buf_addf(&b, "<%.*s=%.*s>", SPAN_ARG(name), SPAN_ARG(value));
        expect(rows[i].text, &b, rows[i].want);
        if ((at == strlen(rows[i].text)) != rows[i].whole)
            fail_msg("%s: ended at %zu", rows[i].text, at);
        buf_release(&b);
    }
}

static void objects_are_found(void **state)
{
    (void)state;
    struct span inside;
    assert_true(json_scan_object(SPAN("{\"a\":[{}],\"b\":{\"c\":1}}"), SPAN("b"), &inside));
    assert_true(span_eq(inside, SPAN("\"c\":1")));
    assert_false(json_scan_object(SPAN("{\"b\":[]}"), SPAN("b"), &inside));
    assert_false(json_scan_object(SPAN("{\"b\":{},\"b\":{}}"), SPAN("b"), &inside));
}

static void items_come_between_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        bool whole; /* all of it was items */
    } rows[] = {
        {"", "", true},
        {" \n", "", true},
        {"1", "<1>", true},
        {" {\"a\":[1,2]} , \"x,y\" ,[] ", "<{\"a\":[1,2]}><\"x,y\"><[]>", true},
        {"1 2", "<1>", false},
        {"1,", "<1>", false},
        {"1,,2", "<1><,>", false}, /* the parser refuses the comma */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {0};
        struct span item;
        size_t at = 0;
        while (json_scan_item(span_of(rows[i].text), &at, &item))
            buf_addf(&b, "<%.*s>", SPAN_ARG(item));
        expect(rows[i].text, &b, rows[i].want);
        if ((at == strlen(rows[i].text)) != rows[i].whole)
            fail_msg("%s: ended at %zu", rows[i].text, at);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_each_other),
        cmocka_unit_test(lists_are_found),
        cmocka_unit_test(members_come_between_commas),
        cmocka_unit_test(objects_are_found),
        cmocka_unit_test(items_come_between_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
