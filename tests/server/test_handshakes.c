#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "server/handshakes.h"

struct fixture {
    struct metrics *metrics;
    struct log log;
    struct handshakes *handshakes;
    int lines;
    char line[2048]; /* the last */
};

static void keep_line(void *user, enum log_level level, struct span line)
{
    struct fixture *f = user;
    assert_int_equal(level, LOG_WARN);
    f->lines++;
    snprintf(f->line, sizeof(f->line), "%.*s", SPAN_ARG(line));
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){.metrics = metrics_new(), .log = {.sink = keep_line, .user = f, .now_ms = no_time, .level = LOG_INFO, .format = LOG_TEXT}};
    f->handshakes = handshakes_new(f->metrics, &f->log);
}

static void end(struct fixture *f)
{
    handshakes_free(f->handshakes);
    metrics_free(f->metrics);
}

static void record(struct fixture *f, enum http_listener l, enum tls_failure why, mono_ms now)
{
    handshakes_failed(f->handshakes, l, why, "10.1.2.3:4567", SPAN("of somebody"), now);
}

static void expect_line(const struct fixture *f, int lines, const char *says)
{
    if (f->lines != lines || strstr(f->line, says) == NULL)
        fail_msg("%d lines, the last %s; want %d, and \"%s\"", f->lines, f->line, lines, says);
}

static void test_one_line_in_ten_seconds(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    record(&f, HTTP_EXTENDER, TLS_WRONG_CA, 1000);
    expect_line(&f, 1, "1 failed TLS handshake on the extender listener, the last from 10.1.2.3:4567: an unknown CA signed the caller's "
                       "certificate (of somebody); copy the files of Secret stowage-scheduler-client");
    for (mono_ms now = 1001; now < 1000 + HANDSHAKES_LOG_MS; now += 100)
        record(&f, HTTP_EXTENDER, TLS_EXPIRED, now);
    expect_line(&f, 1, "an unknown CA");
    record(&f, HTTP_WEBHOOK, TLS_NOT_TLS, 2000); /* another listener has lines of its own */
    expect_line(&f, 2, "1 failed TLS handshake on the webhook listener");
    record(&f, HTTP_EXTENDER, TLS_NO_CERTIFICATE, 1000 + HANDSHAKES_LOG_MS);
    expect_line(&f, 3, "101 failed TLS handshakes on the extender listener, the last from 10.1.2.3:4567: the caller showed no client certificate");
    record(&f, HTTP_EXTENDER, TLS_NO_CERTIFICATE, 1000 + 2 * HANDSHAKES_LOG_MS);
    expect_line(&f, 4, "1 failed TLS handshake on");
    end(&f);
}

/* For both callers; a connection that was merely closed is counted and not logged. */
static void test_each_says_what_to_do(void **state)
{
    (void)state;
    static const enum http_listener listeners[] = {HTTP_WEBHOOK, HTTP_EXTENDER};
    for (size_t i = 0; i < COUNT_OF(listeners); i++)
        for (int why = 0; why < TLS_FAILURE_COUNT; why++) {
            struct fixture f;
            begin(&f);
            handshakes_failed(f.handshakes, listeners[i], (enum tls_failure)why, "", (struct span){NULL, 0}, 1000);
            if (why == TLS_CLOSED)
                assert_int_equal(f.lines, 0);
            else
                expect_line(&f, 1, "the last from an unknown address: ");
            assert_true(why == TLS_CLOSED || strstr(f.line, "; ") != NULL);
            assert_null(strstr(f.line, "(null)"));
            assert_true(listeners[i] != HTTP_WEBHOOK || strstr(f.line, "kube-scheduler") == NULL);
            end(&f);
        }
}

static void expect_metric(const struct buf *text, const char *line)
{
    if (strstr(text->ptr, line) == NULL)
        fail_msg("no %s in\n%s", line, text->ptr);
}

/* Every reason is there from the start, so that a rate sees the first failure. */
static void test_counted_by_listener_and_reason(void **state)
{
    (void)state;
    struct fixture f;
    struct buf text = {0};
    begin(&f);
    for (int i = 0; i < 3; i++)
        record(&f, HTTP_EXTENDER, TLS_WRONG_CA, 1000);
    record(&f, HTTP_WEBHOOK, TLS_CLOSED, 1000);
    metrics_write(f.metrics, &text);
    expect_metric(&text, "\nstowage_tls_handshake_failures_total{listener=\"extender\",reason=\"wrong_ca\"} 3\n");
    expect_metric(&text, "\nstowage_tls_handshake_failures_total{listener=\"webhook\",reason=\"closed\"} 1\n");
    expect_metric(&text, "\nstowage_tls_handshake_failures_total{listener=\"webhook\",reason=\"wrong_ca\"} 0\n");
    assert_null(strstr(text.ptr, "listener=\"page\",reason"));
    buf_release(&text);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line_in_ten_seconds),
        cmocka_unit_test(test_each_says_what_to_do),
        cmocka_unit_test(test_counted_by_listener_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
