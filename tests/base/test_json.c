#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <stdlib.h>
#include <jansson.h>

#include "base/json.h"

static const struct {
    const char *label;
    struct span in;
    const char *want;
} strings[] = {
    {"plain", SPAN_INIT("web-0"), "\"web-0\""},
    {"empty", SPAN_INIT(""), "\"\""},
    {"absent", {NULL, 0}, "\"\""},
    {"quote and backslash", SPAN_INIT("a\"b\\c"), "\"a\\\"b\\\\c\""},
    {"short escapes", SPAN_INIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
    {"other controls", SPAN_INIT("\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\""},
    {"DEL among eight", SPAN_INIT("1234567\x7f" "90"), "\"1234567\\u007f90\""},
    {"C1 control", SPAN_INIT("\xc2\x9b" "31m"), "\"\\u009b31m\""},
    {"against the direction", SPAN_INIT("\xe2\x80\xae" "gnp"), "\"\\u202egnp\""},
    {"a tag", SPAN_INIT("\xf3\xa0\x81\x81"), "\"\\udb40\\udc41\""},
    {"NUL inside", SPAN_INIT("a\0b"), "\"a\\u0000b\""},
    {"a longer form of a byte than it needs", SPAN_INIT("\xE0\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"UTF-8 of 2, 3 and 4 bytes", SPAN_INIT("é€😀"), "\"é€😀\""},
    {"a stray continuation", SPAN_INIT("a\x80z"), "\"a\xEF\xBF\xBDz\""},
    {"overlong slash", SPAN_INIT("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"a surrogate", SPAN_INIT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"past U+10FFFF", SPAN_INIT("\xF4\x90\x80\x80"),
     "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"cut off at the end", SPAN_INIT("x\xE2\x82"), "\"x\xEF\xBF\xBD\xEF\xBF\xBD\""},
};

static void test_strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        struct buf b = {0};
        struct json j = JSON_TO(&b);
        json_text(&j, strings[i].in);
        if (!span_eq(buf_span(&b), span_of(strings[i].want)))
            fail_msg("%s: got %s", strings[i].label, b.ptr);
        json_error_t e;
        json_t *read = json_loads(b.ptr, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
        if (read == NULL)
            fail_msg("%s: jansson refuses it: %s", strings[i].label, e.text);
        json_decref(read);
        buf_release(&b);
    }
}

/* Long texts are looked at eight bytes at a time: each byte counts, wherever it stands. */
static void test_every_byte_everywhere(void **state)
{
    (void)state;
    enum { LENGTH = 20 };
    for (int c = 0; c < 256; c++) {
        struct buf alone = {0};
        struct json one = JSON_TO(&alone);
        json_text(&one, (struct span){(char[]){(char)c}, 1});
        for (size_t at = 0; at < LENGTH; at++) {
            char text[LENGTH];
            memset(text, 'a', sizeof(text));
            text[at] = (char)c;
            struct buf got = {0}, want = {0};
            struct json j = JSON_TO(&got);
            json_text(&j, (struct span){text, LENGTH});
            buf_addf(&want, "\"%.*s%.*s%.*s\"", (int)at, "aaaaaaaaaaaaaaaaaaaa", (int)alone.len - 2,
                     alone.ptr + 1, (int)(LENGTH - at - 1), "aaaaaaaaaaaaaaaaaaaa");
            if (!span_eq(buf_span(&got), buf_span(&want)))
                fail_msg("byte %d at %zu: got %s, want %s", c, at, got.ptr, want.ptr);
            buf_release(&got);
            buf_release(&want);
        }
        buf_release(&alone);
    }
}

static void write_sample(struct json *j)
{
    json_object_begin(j);
    json_put_string(j, "name", SPAN("a"));
    json_put_int(j, "n", INT64_MIN);
    json_put_bool(j, "yes", true);
    json_put_array(j, "list");
    json_int(j, 1);
    json_null_value(j);
    json_object_begin(j);
    json_object_end(j);
    json_array_begin(j);
    json_array_end(j);
    json_raw(j, SPAN("{\"raw\":1}"));
    json_array_end(j);
    json_put_object(j, "o");
    json_put_bool(j, "no", false);
    json_object_end(j);
    json_object_end(j);
}

static void test_layout(void **state)
{
    (void)state;
    struct buf b = {0};
    struct json line = JSON_TO(&b);
    write_sample(&line);
    assert_string_equal(b.ptr, "{\"name\":\"a\",\"n\":-9223372036854775808,\"yes\":true,"
                               "\"list\":[1,null,{},[],{\"raw\":1}],\"o\":{\"no\":false}}");
    buf_clear(&b);
    struct json pretty = {.out = &b, .indent = 2};
    write_sample(&pretty);
    assert_string_equal(b.ptr, "{\n  \"name\": \"a\",\n  \"n\": -9223372036854775808,\n"
                               "  \"yes\": true,\n  \"list\": [\n    1,\n    null,\n    {},\n"
                               "    [],\n    {\"raw\":1}\n  ],\n  \"o\": {\n    \"no\": false\n"
                               "  }\n}");
    buf_release(&b);
}

static const double doubles[] = {
    0,       -0.0,    1,       0.1,     0.0932,  1.10,     1e20,        1e21,   1e300,  5e-324,
    DBL_MAX, DBL_MIN, 1.0 / 3, 2.0 / 3, 123.456, 4503599627370497.5, 9007199254740993.0, 1e-7};

static void test_doubles_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(doubles); i++) {
        char text[JSON_DOUBLE_SIZE];
        json_double_text(doubles[i], text);
        if (strtod(text, NULL) != doubles[i])
            fail_msg("%a printed as %s", doubles[i], text);
    }
    char text[JSON_DOUBLE_SIZE];
    json_double_text(0.1, text);
    assert_string_equal(text, "0.1");
    json_double_text(1.204, text);
    assert_string_equal(text, "1.204");
}

static void test_deepest(void **state)
{
    (void)state;
    struct buf b = {0};
    struct json j = JSON_TO(&b);
    for (int i = 0; i < 64; i++)
        json_array_begin(&j);
    json_int(&j, 7);
    for (int i = 0; i < 64; i++)
        json_array_end(&j);
    json_t *read = json_loads(b.ptr, 0, NULL);
    assert_non_null(read);
    json_decref(read);
    buf_release(&b);
}

static void test_overflow_sticks(void **state)
{
    (void)state;
    struct buf b = {.max = 40};
    struct json j = {.out = &b, .indent = 2};
    write_sample(&j);
    assert_true(b.overflow);
    assert_true(b.len <= 40);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),          cmocka_unit_test(test_layout),
        cmocka_unit_test(test_doubles_read_back), cmocka_unit_test(test_deepest),
        cmocka_unit_test(test_overflow_sticks),
        cmocka_unit_test(test_every_byte_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
