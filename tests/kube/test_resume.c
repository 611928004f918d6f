#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "kube/resume.h"

enum { FIRST = 800, MAX = 30000, PAGE = 500 };

static const struct {
    const char *label;
    struct resume_end end;
    struct resume_step want; /* delay: at least, with no jitter */
} rows[] = {
    {"a stream ends when the server wants it to",
     {.status = 200, .retry_after_s = -1, .lived = 300000, .heard = true},
     {.next = RESUME_WATCH}},
    {"a silent stream that lived",
     {.status = 200, .retry_after_s = -1, .lived = 1000},
     {.next = RESUME_WATCH}},
    {"a stream that ended at once waits",
     {.status = 200, .retry_after_s = -1, .lived = 999},
     {.next = RESUME_WATCH, .delay = FIRST}},
    {"410 to a watch lists at once",
     {.status = 410, .retry_after_s = -1},
     {.next = RESUME_LIST, .broken = true}},
    {"410 to a later page begins the list anew",
     {.listing = true, .status = 410, .retry_after_s = -1},
     {.next = RESUME_LIST, .broken = true}},
    {"a broken connection resumes the stream",
     {.status = 0, .retry_after_s = -1, .lived = 5000, .heard = true},
     {.next = RESUME_WATCH, .delay = FIRST, .broken = true}},
    {"a broken connection resumes at the same page",
     {.listing = true, .status = 0, .retry_after_s = -1},
     {.next = RESUME_PAGE, .delay = FIRST, .broken = true}},
    {"a first page that failed is a list not begun",
     {.listing = true, .first_page = true, .status = 503, .retry_after_s = -1},
     {.next = RESUME_LIST, .delay = FIRST, .broken = true}},
    {"Retry-After is waited for",
     {.listing = true, .first_page = true, .status = 429, .retry_after_s = 7},
     {.next = RESUME_LIST, .delay = 7000, .broken = true}},
    {"Retry-After of a day is not",
     {.status = 429, .retry_after_s = 86400},
     {.next = RESUME_WATCH, .delay = 60000, .broken = true}},
    {"429 to a watch keeps the version",
     {.status = 429, .retry_after_s = -1},
     {.next = RESUME_WATCH, .delay = FIRST, .broken = true}},
    {"500 to a watch keeps the version",
     {.status = 500, .retry_after_s = -1},
     {.next = RESUME_WATCH, .delay = FIRST, .broken = true}},
    {"a refused `continue` begins the list anew",
     {.listing = true, .status = 400, .retry_after_s = -1},
     {.next = RESUME_LIST, .delay = FIRST, .broken = true}},
    {"403 waits and says so",
     {.listing = true, .first_page = true, .status = 403, .retry_after_s = -1},
     {.next = RESUME_LIST, .delay = FIRST, .broken = true}},
    {"401 reads the credentials again at once",
     {.status = 401, .retry_after_s = -1},
     {.next = RESUME_WATCH, .credentials = true}},
    {"an event that is too large is listed",
     {.too_large = true, .status = 200, .retry_after_s = -1, .heard = true},
     {.next = RESUME_LIST, .delay = FIRST, .broken = true}},
    {"a page that is too large is asked for in smaller ones",
     {.listing = true, .too_large = true, .status = 200, .retry_after_s = -1},
     {.next = RESUME_PAGE}},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct resume r;
        resume_init(&r, FIRST, MAX, PAGE);
        struct resume_step got = resume_after(&r, &rows[i].end, 0);
        if (got.next != rows[i].want.next || got.delay != rows[i].want.delay ||
            got.broken != rows[i].want.broken || got.credentials != rows[i].want.credentials)
            fail_msg("%s: next %d, delay %lld, broken %d, credentials %d", rows[i].label, got.next,
                     (long long)got.delay, got.broken, got.credentials);
    }
}

static void test_a_second_410_in_a_row_waits(void **state)
{
    (void)state;
    const struct resume_end gone = {.status = 410, .retry_after_s = -1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    assert_int_equal(resume_after(&r, &gone, 0).delay, 0);
    resume_page_done(&r); /* the list worked, the watch is refused again */
    assert_int_equal(resume_after(&r, &gone, 0).delay, FIRST);
    resume_after(&r, &(struct resume_end){.status = 200, .lived = 60000, .heard = true}, 0);
    assert_int_equal(resume_after(&r, &gone, 0).delay, 0);
}

/* Each turn is a LIST of everything: it must not become a rhythm. */
static void test_410_after_every_list_waits_longer_and_longer(void **state)
{
    (void)state;
    const struct resume_end gone = {.status = 410, .retry_after_s = -1};
    struct resume r;
    span_ms wait = 0;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 10; i++) {
        wait = resume_after(&r, &gone, 0).delay;
        resume_page_done(&r);
        resume_page_done(&r);
    }
    assert_int_equal(wait, MAX);
}

static void test_pages_shrink_to_one_and_grow_back(void **state)
{
    (void)state;
    const struct resume_end large = {.listing = true, .too_large = true, .status = 200};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 20 && r.page > 1; i++)
        assert_int_equal(resume_after(&r, &large, 0).delay, 0);
    assert_int_equal(r.page, 1);
    assert_true(resume_after(&r, &large, 0).delay > 0); /* one object that is over the ceiling */
    for (int i = 0; i < 60; i++)
        resume_page_done(&r);
    assert_int_equal(r.page, PAGE);
}

static void test_a_version_that_stays_refused_is_given_up(void **state)
{
    (void)state;
    const struct resume_end refused = {.status = 504, .retry_after_s = 1};
    const struct resume_end unreachable = {.status = 0, .retry_after_s = -1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 50; i++) /* an API server that is down is no reason to list */
        assert_int_equal(resume_after(&r, &unreachable, 0).next, RESUME_WATCH);
    for (int i = 0; i < 4; i++)
        assert_int_equal(resume_after(&r, &refused, 0).next, RESUME_WATCH);
    assert_int_equal(resume_after(&r, &refused, 0).next, RESUME_LIST);
}

static void test_429_is_no_refusal_of_the_version(void **state)
{
    (void)state;
    const struct resume_end busy = {.status = 429, .retry_after_s = 1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 50; i++)
        assert_int_equal(resume_after(&r, &busy, 0).next, RESUME_WATCH);
}

static void test_a_stream_that_worked_and_broke_is_asked_for_soon(void **state)
{
    (void)state;
    const struct resume_end fails = {.status = 500, .retry_after_s = -1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    assert_int_equal(resume_after(&r, &fails, 0).delay, FIRST);
    assert_int_equal(resume_after(&r, &fails, 0).delay, 2 * FIRST);
    struct resume_end broke = {.status = 500, .retry_after_s = -1, .lived = 60000, .heard = true};
    assert_int_equal(resume_after(&r, &broke, 0).delay, FIRST);
}

static void test_401_of_a_page_goes_on_at_the_page(void **state)
{
    (void)state;
    const struct resume_end denied = {.listing = true, .status = 401, .retry_after_s = -1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 3; i++) {
        struct resume_step step = resume_after(&r, &denied, 0);
        assert_int_equal(step.next, RESUME_PAGE);
        assert_true(step.credentials);
    }
}

static void test_a_server_that_is_back_is_asked_soon(void **state)
{
    (void)state;
    const struct resume_end unreachable = {.status = 0, .retry_after_s = -1};
    const struct resume_end starting = {.status = 429, .retry_after_s = 1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    for (int i = 0; i < 20; i++)
        resume_after(&r, &unreachable, 0);
    assert_int_equal(resume_after(&r, &unreachable, 0).delay, MAX);
    assert_int_equal(resume_after(&r, &starting, 0).delay, 1000);
    assert_int_equal(resume_after(&r, &starting, 0).delay, 2 * FIRST);
    assert_int_equal(resume_after(&r, &starting, 0).delay, 4 * FIRST);
}

static void test_401_again_waits_and_reads_again(void **state)
{
    (void)state;
    const struct resume_end end = {
        .listing = true, .first_page = true, .status = 401, .retry_after_s = -1};
    struct resume r;
    resume_init(&r, FIRST, MAX, PAGE);
    resume_after(&r, &end, 0);
    struct resume_step second = resume_after(&r, &end, 0);
    assert_int_equal(second.delay, FIRST);
    assert_true(second.broken && second.credentials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_a_second_410_in_a_row_waits),
        cmocka_unit_test(test_410_after_every_list_waits_longer_and_longer),
        cmocka_unit_test(test_pages_shrink_to_one_and_grow_back),
        cmocka_unit_test(test_a_version_that_stays_refused_is_given_up),
        cmocka_unit_test(test_429_is_no_refusal_of_the_version),
        cmocka_unit_test(test_a_stream_that_worked_and_broke_is_asked_for_soon),
        cmocka_unit_test(test_401_of_a_page_goes_on_at_the_page),
        cmocka_unit_test(test_a_server_that_is_back_is_asked_soon),
        cmocka_unit_test(test_401_again_waits_and_reads_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
