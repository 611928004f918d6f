#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/pod_label.h"

/* An API that keeps the last request until it is told what to answer. */
struct world {
    struct api api; /* first: struct api * is struct world * */
    struct log log;
    struct pod_label *label;
    int requests, warnings;
    bool sets; /* the last request sets the label */
    api_done *done;
    void *user;
    mono_ms now;
};

static uint64_t on_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct world *w = (struct world *)api;
    assert_null(w->done); /* one at a time */
    assert_int_equal(r->verb, API_MERGE);
    assert_true(span_eq(r->ns, SPAN("stowage")) && span_eq(r->name, SPAN("stowage-0")));
    w->requests++;
    w->sets = span_contains(r->body, SPAN("\"true\""));
    w->done = done;
    w->user = user;
    return 1;
}

static void on_line(void *user, enum log_level level, struct span line)
{
    struct world *w = user;
    w->warnings += level == LOG_WARN && span_contains(line, SPAN("stowage/stowage-0"));
}

static int64_t on_time(void *user)
{
    (void)user;
    return 0;
}

static const struct api_ops ops = {.send = on_send};

static void begin(struct world *w, const char *pod)
{
    *w = (struct world){.api = {.ops = &ops}, .log = {.sink = on_line, .now_ms = on_time, .level = LOG_WARN},
                        .now = 1};
    w->log.user = w;
    w->label = pod_label_new(&w->api, SPAN("stowage"), span_of(pod), &w->log);
}

static void answer(struct world *w, enum err_kind kind)
{
    struct api_result r = {.status = kind == ERR_NONE ? 200 : 0};
    api_done *done = w->done;
    if (kind != ERR_NONE)
        err_set(&r.err, kind, "no answer");
    assert_non_null(done);
    w->done = NULL;
    done(w->user, &r);
}

static void test_a_failed_patch_is_sent_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "stowage-0");
    pod_label_step(w.label, w.now);
    assert_int_equal(w.requests, 0); /* nothing is known yet */
    pod_label_want(w.label, true);
    pod_label_step(w.label, w.now);
    for (int i = 1; i <= 8; i++) {
        assert_int_equal(w.requests, i);
        assert_true(w.sets);
        answer(&w, i < 8 ? ERR_RETRY : ERR_NONE);
        mono_ms next = pod_label_step(w.label, w.now);
        assert_int_equal(w.requests, i); /* not at once */
        if (i < 8) {
            assert_in_range(next - w.now, 1000, 60000);
            w.now = next;
        }
        pod_label_step(w.label, w.now);
    }
    assert_int_equal(w.requests, 8);
    assert_int_equal(w.warnings, 1);
    pod_label_free(w.label);
}

static void test_what_was_wanted_last_stands_in_the_end(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "stowage-0");
    pod_label_want(w.label, true);
    pod_label_step(w.label, w.now);
    pod_label_want(w.label, false); /* lost while the first is under way */
    pod_label_step(w.label, w.now);
    assert_int_equal(w.requests, 1);
    answer(&w, ERR_NONE);
    pod_label_step(w.label, w.now);
    assert_int_equal(w.requests, 2);
    assert_false(w.sets);
    answer(&w, ERR_NONE);
    assert_int_equal(pod_label_step(w.label, w.now), INT64_MAX);
    assert_int_equal(w.requests, 2);
    pod_label_free(w.label);
}

static void test_without_a_pod_nothing_is_sent(void **state)
{
    (void)state;
    struct world w;
    begin(&w, "");
    pod_label_want(w.label, true);
    assert_int_equal(pod_label_step(w.label, w.now), INT64_MAX);
    assert_int_equal(w.requests, 0);
    pod_label_free(w.label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_patch_is_sent_again),
        cmocka_unit_test(test_what_was_wanted_last_stands_in_the_end),
        cmocka_unit_test(test_without_a_pod_nothing_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
