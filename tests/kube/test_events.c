#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "kube/events.h"
#include "support_fake_api.h"

struct world {
    struct fake_api api;
    struct events *events;
    mono_ms now;
};

enum { WALL = 1767323045 /* 2026-01-02T03:04:05Z */, START = 1000 };

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    fake_api_init(&w->api);
    w->events = events_new(
        &(struct events_config){.controller = SPAN("stowage"), .instance = SPAN("pod-a_1")},
        &w->api.api);
    w->now = START;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fake_api_answer(&w->api);
    events_free(w->events);
    fake_api_release(&w->api);
    free(w);
    return 0;
}

static wall_ms wall_of(const struct world *w)
{
    return WALL * (wall_ms)1000 + w->now - START;
}

static void record(struct world *w, const struct event_note *n)
{
    events_record(w->events, n, w->now, wall_of(w));
}

/* Sends and answers all; how many requests that were. */
static size_t send(struct world *w)
{
    events_step(w->events, w->now);
    return fake_api_answer(&w->api);
}

static struct event_note pod_note(const char *pod, const char *reason, const char *note)
{
    return (struct event_note){
        .about = {.kind = KIND_POD, .ns = SPAN("web"), .name = span_of(pod), .uid = span_of(pod)},
        .reason = span_of(reason),
        .note = span_of(note)};
}

static const struct api_request *last(const struct world *w)
{
    assert_true(w->api.count != 0);
    return &w->api.requests[w->api.count - 1].request;
}

static const char *field(struct world *w, const char *path)
{
    static char name[300];
    const struct api_request *r = last(w);
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(r->name));
    char ns[64];
    snprintf(ns, sizeof(ns), "%.*s", SPAN_ARG(r->ns));
    return fake_api_get(&w->api, KIND_EVENT, ns, name, path);
}

static void test_an_event_has_what_the_api_server_asks_for(void **state)
{
    struct world *w = *state;
    struct event_object node = {.kind = KIND_NODE, .name = SPAN("n1")};
    struct event_note n = pod_note("api-0", "FailedScheduling", "Failed to schedule pod, \"why\"");
    n.warning = true;
    n.related = &node;
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(last(w)->verb, API_CREATE);
    assert_string_equal(field(w, "metadata.namespace"), "web");
    assert_true(span_has_prefix(last(w)->name, SPAN("api-0.")));
    assert_string_equal(field(w, "eventTime"), "2026-01-02T03:04:05.000000Z");
    assert_string_equal(field(w, "reportingController"), "stowage");
    assert_string_equal(field(w, "reportingInstance"), "pod-a_1");
    assert_string_equal(field(w, "action"), "FailedScheduling");
    assert_string_equal(field(w, "reason"), "FailedScheduling");
    assert_string_equal(field(w, "type"), "Warning");
    assert_string_equal(field(w, "note"), "Failed to schedule pod, \"why\"");
    assert_string_equal(field(w, "regarding.kind"), "Pod");
    assert_string_equal(field(w, "regarding.apiVersion"), "v1");
    assert_string_equal(field(w, "regarding.uid"), "api-0");
    assert_string_equal(field(w, "related.name"), "n1");
}

static void test_cluster_scoped_objects_have_theirs_in_default(void **state)
{
    struct world *w = *state;
    record(w, &(struct event_note){.about = {.kind = KIND_NODE_POOL, .name = SPAN("general")},
                                   .reason = SPAN("DisruptionBlocked"),
                                   .note = SPAN("x")});
    assert_int_equal(send(w), 1);
    assert_string_equal(field(w, "metadata.namespace"), "default");
    assert_string_equal(field(w, "regarding.apiVersion"), "karpenter.sh/v1");
}

/* Told again after so long: is it told? */
static const struct {
    const char *label, *reason;
    enum kind about;
    span_ms after;
    size_t sent;
} windows[] = {
    {"usual, within", "Launched", KIND_NODE_CLAIM, 2 * MS_MINUTE - 1, 0},
    {"usual, after", "Launched", KIND_NODE_CLAIM, 2 * MS_MINUTE, 1},
    {"pod not scheduled, within", "FailedScheduling", KIND_POD, 5 * MS_MINUTE - 1, 0},
    {"pod not scheduled, after", "FailedScheduling", KIND_POD, 5 * MS_MINUTE, 1},
    {"no types, after a minute", "NoCompatibleInstanceTypes", KIND_NODE_POOL, MS_MINUTE, 1},
    {"budget of a pool, after a minute", "DisruptionBlocked", KIND_NODE_POOL, MS_MINUTE, 1},
    {"blocked node, after a minute", "DisruptionBlocked", KIND_NODE, MS_MINUTE, 0},
    {"unconsolidatable, within", "Unconsolidatable", KIND_NODE, 15 * MS_MINUTE - 1, 0},
    {"unconsolidatable, after", "Unconsolidatable", KIND_NODE_CLAIM, 15 * MS_MINUTE, 1},
    {"reboot, within", "RebootFailed", KIND_NODE_CLAIM, 30 * MS_MINUTE - 1, 0},
};

static void test_windows(void **state)
{
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        teardown(state);
        setup(state);
        struct world *w = *state;
        struct event_note n = {.about = {.kind = windows[i].about, .name = SPAN("x")},
                               .reason = span_of(windows[i].reason),
                               .note = SPAN("same")};
        record(w, &n);
        if (send(w) != 1)
            fail_msg("%s: the first was not told", windows[i].label);
        w->now += windows[i].after;
        record(w, &n);
        if (send(w) != windows[i].sent)
            fail_msg("%s", windows[i].label);
    }
}

static void test_other_objects_and_reasons_are_told_by_themselves(void **state)
{
    struct world *w = *state;
    struct event_note a = pod_note("a", "Evicted", "x"), b = pod_note("b", "Evicted", "x"),
                      c = pod_note("a", "Disrupted", "x"), d = pod_note("a", "Evicted", "x");
    d.dedupe = SPAN("second drain");
    record(w, &a);
    record(w, &b);
    record(w, &c);
    record(w, &d);
    record(w, &a);
    assert_int_equal(send(w), 4);
    assert_int_equal(events_counts(w->events).repeated, 1);
    assert_int_equal(events_counts(w->events).created, 4);
}

static void test_the_same_again_becomes_a_series(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    assert_int_equal(send(w), 1);
    w->now += 2 * MS_MINUTE;
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(last(w)->verb, API_MERGE);
    assert_string_equal(field(w, "series.count"), "2");
    assert_string_equal(field(w, "series.lastObservedTime"), "2026-01-02T03:06:05.000000Z");
    assert_string_equal(field(w, "note"), "x");
    size_t patches = 0;
    for (int i = 0; i < 30; i++) { /* an hour: counted, and written twice */
        w->now += 2 * MS_MINUTE;
        record(w, &n);
        patches += send(w);
    }
    assert_in_range(patches, 1, 2);
    assert_in_range(atoi(field(w, "series.count")), 17, 32);
}

static void test_another_text_is_another_event(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "FailedScheduling", "no room"),
                      m = pod_note("a", "FailedScheduling", "no such zone");
    record(w, &n);
    send(w);
    w->now += 5 * MS_MINUTE;
    record(w, &m);
    assert_int_equal(send(w), 1);
    assert_int_equal(last(w)->verb, API_CREATE);
    assert_string_equal(field(w, "note"), "no such zone");
}

/* `kubectl describe` prints it as it comes. */
static void test_a_note_forges_no_line(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "annotation \"x\n  Normal  Forged\xc2\x9b\xe2\x80\xae\" 日本");
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_string_equal(field(w, "note"), "annotation \"x\\n  Normal  Forged\\u009b\\u202e\" 日本");
}

static void test_a_series_ends_after_six_minutes(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    send(w);
    w->now += 6 * MS_MINUTE;
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(last(w)->verb, API_CREATE);
}

static void test_a_series_whose_event_is_gone_begins_anew(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    send(w);
    char name[300];
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(last(w)->name));
    fake_api_remove(&w->api, KIND_EVENT, "web", name);
    w->now += 2 * MS_MINUTE;
    record(w, &n);
    send(w); /* 404 */
    w->now += 2 * MS_MINUTE;
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(last(w)->verb, API_CREATE);
}

static void test_notes_are_cut_between_characters(void **state)
{
    struct world *w = *state;
    char text[1100];
    memset(text, 'x', sizeof(text));
    text[1024] = '\0';
    struct event_note n = pod_note("whole", "Evicted", text);
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_string_equal(field(w, "note"), text);
    text[1024] = 'x';
    text[1025] = '\0';
    n = pod_note("cut", "Evicted", text);
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(strlen(field(w, "note")), 1024);
    assert_string_equal(field(w, "note") + 1020, "x...");
    memset(text, 'x', sizeof(text));
    memcpy(text + 1020, "\xc3\xa4", 2); /* byte 1021 is half of a character */
    text[1025] = '\0';
    n = pod_note("a", "Evicted", text);
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_int_equal(strlen(field(w, "note")), 1023);
    assert_string_equal(field(w, "note") + 1018, "xx...");
}

static void test_long_names_are_cut(void **state)
{
    struct world *w = *state;
    char pod[254];
    memset(pod, 'p', sizeof(pod) - 1);
    pod[235] = '.'; /* where it is cut */
    pod[253] = '\0';
    struct event_note n = pod_note(pod, "Evicted", "x");
    record(w, &n);
    assert_int_equal(send(w), 1);
    assert_in_range(last(w)->name.len, 200, 253);
    assert_false(span_contains(last(w)->name, SPAN("..")));
}

static void test_names_differ_within_a_millisecond(void **state)
{
    struct world *w = *state;
    struct event_note a = pod_note("a", "Evicted", "x"), b = pod_note("a", "Disrupted", "x");
    record(w, &a);
    record(w, &b);
    assert_int_equal(send(w), 2);
    assert_int_equal(events_counts(w->events).created, 2);
    assert_false(span_eq(w->api.requests[0].request.name, w->api.requests[1].request.name));
}

static void test_busy_reasons_have_a_rate_of_their_own(void **state)
{
    struct world *w = *state;
    char pod[16];
    for (int i = 0; i < 500; i++) {
        snprintf(pod, sizeof(pod), "pod-%d", i);
        struct event_note n = pod_note(pod, "Nominated", "Pod should schedule on: node/n");
        record(w, &n);
    }
    assert_int_equal(send(w), 10);
    assert_int_equal(events_counts(w->events).dropped, 490);
    w->now += MS_SECOND;
    size_t sent = 0;
    for (int i = 0; i < 500; i++) { /* what was dropped was not told: it may come now */
        snprintf(pod, sizeof(pod), "pod-%d", i);
        struct event_note n = pod_note(pod, "Nominated", "Pod should schedule on: node/n");
        record(w, &n);
    }
    sent += send(w);
    assert_int_equal(sent, 5);
}

static void test_memory_is_bounded_when_the_api_server_is_silent(void **state)
{
    struct world *w = *state;
    char pod[16];
    for (int i = 0; i < 3 * EVENTS_KNOWN_MAX; i++) {
        w->now += 100;
        snprintf(pod, sizeof(pod), "pod-%d", i);
        struct event_note n = pod_note(pod, "Evicted", "x");
        record(w, &n);
        events_step(w->events, w->now);
    }
    assert_int_equal(w->api.count, EVENTS_PENDING_MAX);
}

static void test_the_longest_silent_is_forgotten_first(void **state)
{
    struct world *w = *state;
    char pod[16];
    for (int i = 0; i < EVENTS_KNOWN_MAX + 100; i++) {
        w->now += 50;
        snprintf(pod, sizeof(pod), "pod-%d", i);
        struct event_note n = pod_note(pod, "RebootFailed", "x");
        record(w, &n);
        send(w);
    }
    size_t before = events_counts(w->events).repeated;
    struct event_note young = pod_note("pod-2000", "RebootFailed", "x");
    record(w, &young);
    assert_int_equal(events_counts(w->events).repeated, before + 1);
    struct event_note old = pod_note("pod-5", "RebootFailed", "x");
    record(w, &old);
    assert_int_equal(events_counts(w->events).repeated, before + 1);
    assert_int_equal(send(w), 1);
}

static void test_lost_requests_are_tried_again(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    w->api.fail = 0;
    assert_int_equal(send(w), 1);
    assert_int_equal(send(w), 0); /* ten seconds later */
    w->now += 10 * MS_SECOND;
    w->api.fail = -1;
    assert_int_equal(send(w), 1);
    assert_int_equal(events_counts(w->events).created, 1);
}

static void test_tries_end(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    w->api.fail = 503;
    size_t sent = 0;
    for (int i = 0; i < 1000; i++, w->now += MS_SECOND)
        sent += send(w);
    assert_int_equal(sent, 12);
    assert_int_equal(events_counts(w->events).dropped, 1);
}

static void test_a_refused_event_is_dropped(void **state)
{
    struct world *w = *state;
    struct event_note n = pod_note("a", "Evicted", "x");
    record(w, &n);
    w->api.fail = 403;
    size_t sent = 0;
    for (int i = 0; i < 100; i++, w->now += MS_SECOND)
        sent += send(w);
    assert_int_equal(sent, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_an_event_has_what_the_api_server_asks_for),
        TEST(test_cluster_scoped_objects_have_theirs_in_default),
        TEST(test_windows),
        TEST(test_other_objects_and_reasons_are_told_by_themselves),
        TEST(test_the_same_again_becomes_a_series),
        TEST(test_another_text_is_another_event),
        TEST(test_a_note_forges_no_line),
        TEST(test_a_series_ends_after_six_minutes),
        TEST(test_a_series_whose_event_is_gone_begins_anew),
        TEST(test_notes_are_cut_between_characters),
        TEST(test_long_names_are_cut),
        TEST(test_names_differ_within_a_millisecond),
        TEST(test_busy_reasons_have_a_rate_of_their_own),
        TEST(test_memory_is_bounded_when_the_api_server_is_silent),
        TEST(test_the_longest_silent_is_forgotten_first),
        TEST(test_lost_requests_are_tried_again),
        TEST(test_tries_end),
        TEST(test_a_refused_event_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
