#include "server/ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/arena.h"

#define DAY (24 * MS_HOUR)
static const wall_ms WALL = 1767225600000; /* 2026-01-01 */

struct fixture {
    struct metrics *metrics;
    struct ends *ends;
    int told[END_COUNT];
    wall_ms last;
};

static void on_soon(void *user, enum end which, wall_ms not_after)
{
    struct fixture *f = user;
    f->told[which]++;
    f->last = not_after;
}

static struct fixture *begin(span_ms leaf_life)
{
    struct fixture *f = mem_new(sizeof(*f));
    f->metrics = metrics_new();
    f->ends = ends_new(&(struct ends_config){
        .metrics = f->metrics, .leaf_life = leaf_life, .ca_life = 3650 * DAY, .user = f, .soon = on_soon});
    return f;
}

static void end(struct fixture *f)
{
    ends_free(f->ends);
    metrics_free(f->metrics);
    free(f);
}

static bool shows(struct fixture *f, const char *line)
{
    struct buf out = {0};
    metrics_write(f->metrics, &out);
    buf_add_char(&out, '\0');
    bool found = strstr(out.ptr, line) != NULL;
    buf_release(&out);
    return found;
}

static void test_metric(void **state)
{
    (void)state;
    struct fixture *f = begin(365 * DAY);
    wall_ms at[END_COUNT] = {[END_SERVING] = WALL + 300 * DAY};
    ends_step(f->ends, at, 0, WALL);
    assert_true(shows(f, "stowage_certificate_not_after_seconds{certificate=\"serving\"} 1793145600"));
    assert_false(shows(f, "certificate=\"scheduler_shown\"")); /* nobody has come yet */
    at[END_SHOWN] = WALL + 200 * DAY;
    at[END_SERVING] = 0;
    ends_step(f->ends, at, MS_MINUTE, WALL);
    assert_true(shows(f, "stowage_certificate_not_after_seconds{certificate=\"scheduler_shown\"} 1784505600"));
    assert_false(shows(f, "certificate=\"serving\""));
    end(f);
}

static void test_soon(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        enum end which;
        span_ms leaf_life, left;
        bool told;
    } rows[] = {
        {"eight days", END_SERVING, 365 * DAY, 8 * DAY, false},
        {"a week is soon", END_SERVING, 365 * DAY, 7 * DAY - 1, true},
        {"and a CA's", END_CA, 365 * DAY, 7 * DAY - 1, true},
        {"and the scheduler's", END_SCHEDULER, 365 * DAY, 7 * DAY - 1, true},
        {"over", END_SERVING, 365 * DAY, -DAY, true},
        {"what a person has to copy: a month", END_SHOWN, 365 * DAY, 30 * DAY - 1, true},
        {"more than that", END_SHOWN, 365 * DAY, 30 * DAY, false},
        {"short lives end not soon all their life", END_SERVING, MS_HOUR, 16 * MS_MINUTE, false},
        {"but in their last quarter", END_SERVING, MS_HOUR, 14 * MS_MINUTE, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture *f = begin(rows[i].leaf_life);
        wall_ms at[END_COUNT] = {0};
        at[rows[i].which] = WALL + rows[i].left;
        ends_step(f->ends, at, 0, WALL);
        if (f->told[rows[i].which] != rows[i].told)
            fail_msg("%s: told %d times", rows[i].label, f->told[rows[i].which]);
        end(f);
    }
}

/* Once a day, and anew of another certificate. */
static void test_again(void **state)
{
    (void)state;
    struct fixture *f = begin(365 * DAY);
    wall_ms at[END_COUNT] = {[END_SERVING] = WALL + 3 * DAY};
    mono_ms now = 0;
    for (; now < 23 * MS_HOUR; now += MS_MINUTE)
        ends_step(f->ends, at, now, WALL + now);
    assert_int_equal(f->told[END_SERVING], 1);
    for (; now < 25 * MS_HOUR; now += MS_MINUTE)
        ends_step(f->ends, at, now, WALL + now);
    assert_int_equal(f->told[END_SERVING], 2);
    at[END_SERVING] += DAY;
    ends_step(f->ends, at, now, WALL + now);
    assert_int_equal(f->told[END_SERVING], 3);
    assert_int_equal(f->last, WALL + 4 * DAY);
    end(f);
}

/* A day is one whatever the wall clock does in between. */
static void test_again_after_the_clock_was_set_back(void **state)
{
    (void)state;
    struct fixture *f = begin(365 * DAY);
    const wall_ms at[END_COUNT] = {[END_SERVING] = WALL + 3 * DAY};
    ends_step(f->ends, at, 0, WALL);
    ends_step(f->ends, at, 23 * MS_HOUR, WALL - DAY);
    assert_int_equal(f->told[END_SERVING], 1);
    ends_step(f->ends, at, 25 * MS_HOUR, WALL - DAY);
    assert_int_equal(f->told[END_SERVING], 2);
    end(f);
}

/* Each names the end, what is to be done, and the Secret at which somebody looks for it. */
static void test_event(void **state)
{
    (void)state;
    static const struct {
        enum end which;
        bool of_file;
        const char *secret, *what, *fix;
    } rows[] = {
        {END_SERVING, false, "stowage-certs", "the serving certificate ends on 2026-01-04", "log about certs"},
        {END_CA, false, "stowage-certs", "the CA ends on 2026-01-04", "log about certs"},
        {END_NEXT_CA, true, "stowage-certs", "the next CA ends on 2026-01-04", "log about certs"},
        {END_SCHEDULER, true, "stowage-scheduler-client", "the scheduler's certificate ends on 2026-01-04", "log about certs"},
        {END_SHOWN, true, "stowage-scheduler-client", "kube-scheduler's copy of its certificate ends on 2026-01-04",
         "copy this Secret's files"},
    };
    struct arena a;
    arena_init(&a, 0);
    assert_int_equal(COUNT_OF(rows), END_COUNT);
    const char *file = arena_cstr(&a, ends_note(&a, END_SERVING, true, WALL + 3 * DAY, SPAN("ours")).note);
    assert_ptr_equal(strstr(file, "the serving certificate in the file of --tls-cert ends on 2026-01-04: let who makes it"), file);
    assert_null(strstr(file, "log")); /* which has nothing to say of it */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct event_note n = ends_note(&a, rows[i].which, rows[i].of_file, WALL + 3 * DAY, SPAN("ours"));
        const char *note = arena_cstr(&a, n.note);
        if (!n.warning || !span_eq(n.reason, SPAN("CertificateEndsSoon")) || n.about.kind != KIND_SECRET ||
            !span_eq(n.about.ns, SPAN("ours")) || !span_eq(n.about.name, span_of(rows[i].secret)) ||
            strstr(note, rows[i].what) != note || strstr(note, rows[i].fix) == NULL)
            fail_msg("%s: \"%s\" of %.*s", end_name(rows[i].which), note, SPAN_ARG(n.about.name));
        for (size_t k = 0; k < i; k++) /* one does not keep another back */
            assert_false(span_eq(n.dedupe, ends_note(&a, rows[k].which, false, WALL, SPAN("ours")).dedupe));
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric),
        cmocka_unit_test(test_soon),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_again_after_the_clock_was_set_back),
        cmocka_unit_test(test_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
