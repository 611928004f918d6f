#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/log.h"

struct desk {
    struct buf got;
    int64_t now;
    int lines;
};

static void take(void *user, enum log_level level, struct span line)
{
    (void)level;
    struct desk *d = user;
    buf_add(&d->got, line);
    d->lines++;
}

static int64_t now(void *user)
{
    return ((struct desk *)user)->now;
}

static void test_text(void **state)
{
    (void)state;
    struct desk d = {.now = 1795234470123};
    struct log log = {take, &d, now, LOG_INFO, LOG_TEXT, 0};
    log_info(&log, "plan", "%d pods wait", 26);
    log_info(&log, "set aside", "NodePool %s", "gpu");
    log_warn(&log, "api", "slow");
    log_error(&log, "api", "gone\nfor \x1b[31mgood\xc2\x9b\xe2\x80\xae");
    log_debug(&log, "api", "never shown");
    assert_string_equal(d.got.ptr, "04:14:30  plan      26 pods wait\n"
                                   "04:14:30  set aside NodePool gpu\n"
                                   "04:14:30  api       warning: slow\n"
                                   "04:14:30  api       error: gone\\nfor \\u001b[31mgood\\u009b\\u202e\n");
    assert_int_equal(d.lines, 4);
    buf_release(&d.got);
}

static void test_text_on_a_terminal(void **state)
{
    (void)state;
    struct desk d = {.now = 1795234470123};
    struct log log = {take, &d, now, LOG_INFO, LOG_TEXT, 44};
    log_info(&log, "wait", "pod web/api-0 asks for 200 CPUs, which none has");
    log_warn(&log, "api", "fits exactly");
    log_error(&log, "set aside", "a-word-that-is-longer-than-a-line is kept");
    log.width = 20; /* no room for sentences */
    log_info(&log, "wait", "a long sentence");
    assert_string_equal(d.got.ptr, "04:14:30  wait      pod web/api-0 asks for\n"
                                   "                    200 CPUs, which none has\n"
                                   "04:14:30  api       warning: fits exactly\n"
                                   "04:14:30  set aside error:\n"
                                   "                    a-word-that-is-longer-than-a-line\n"
                                   "                    is kept\n"
                                   "04:14:30  wait      a long sentence\n");
    assert_int_equal(d.lines, 4);
    buf_release(&d.got);
}

static void test_json(void **state)
{
    (void)state;
    struct desk d = {.now = 1795234470123};
    struct log log = {take, &d, now, LOG_DEBUG, LOG_JSON, 40};
    struct log_field fields[] = {{"id", SPAN_INIT("d-01\"JD")}, {"pool", SPAN_INIT("general")}};
    log_event(&log, LOG_DEBUG, "buy", fields, 2, "%s", "a\nb");
    assert_string_equal(d.got.ptr,
                        "{\"time\":\"2026-11-21T04:14:30.123Z\",\"level\":\"debug\","
                        "\"subject\":\"buy\",\"message\":\"a\\nb\",\"id\":\"d-01\\\"JD\","
                        "\"pool\":\"general\"}\n");
    buf_release(&d.got);
}

static const struct {
    int64_t ms;
    const char *want;
} times[] = {
    {0, "1970-01-01T00:00:00.000Z"},           {-1, "1969-12-31T23:59:59.999Z"},
    {951782400000, "2000-02-29T00:00:00.000Z"}, {951868800000, "2000-03-01T00:00:00.000Z"},
    {1709164800000, "2024-02-29T00:00:00.000Z"}, {1735689599999, "2024-12-31T23:59:59.999Z"},
    {4107542400000, "2100-03-01T00:00:00.000Z"},
};

static void test_calendar(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct desk d = {.now = times[i].ms};
        struct log log = {take, &d, now, LOG_INFO, LOG_JSON, 0};
        log_info(&log, "x", "y");
        json_t *line = json_loads(d.got.ptr, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(line, "time")), times[i].want);
        json_decref(line);
        buf_release(&d.got);
    }
}

static void test_long_message_is_cut(void **state)
{
    (void)state;
    struct desk d = {.now = 0};
    struct log log = {take, &d, now, LOG_INFO, LOG_TEXT, 0};
    log_info(&log, "x", "%0200000d", 7);
    assert_int_equal(d.lines, 1);
    assert_true(d.got.len < 66000 && d.got.ptr[d.got.len - 1] == '\n');
    buf_release(&d.got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_text_on_a_terminal),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_calendar),
        cmocka_unit_test(test_long_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
