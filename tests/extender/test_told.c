/* From what kube-scheduler is told of a pod to what the next plan knows of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "planner/arrivals.h"
#include "support_ask.h"

static const char objects[] = NODE("n1", "") NODE("n2", "") NODE("n3", "")
    POD("running", "2", BOUND("n2"), "") POD("waits", "1", "", WAITS) POD("fresh", "1", "", "")
    OWNED("other", "third", "1", "", "");

/* "n2? n1 n3": the rows of each arrival, the likeliest first; "n1!" the only one; "+" in front: it waits. */
static void arrivals(const struct cluster *c, char *out, size_t size)
{
    struct arena a;
    const struct sent_pod *sent;
    const struct arrival *list;
    const struct extender_view *v = &c->view;
    arena_init(&a, 0);
    uint32_t count = ledger_sent(c->ledger, v->now, &a, &sent);
    count = arrivals_find(&a, v->world, v->snapshot, sent, count, &list);
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < list[i].row_count; k++)
            at += (size_t)snprintf(out + at, size - at, "%s%s%.*s%s", at != 0 ? " " : "",
                                   k == 0 && list[i].waits != NULL ? "+" : "",
                                   SPAN_ARG(world_node_at(v->world, list[i].rows[k])->name),
                                   k != 0 ? "" : list[i].sure ? "!" : "?");
    if (count != 0)
        assert_int_equal(list[0].requests[0], 1000);
    arena_release(&a);
}

static void prioritize(struct cluster *c, const char *pod, const char *names)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    ask_put_args(&body, pod, NULL, names);
    assert_true(extender_prioritize(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err));
    buf_release(&body);
    buf_release(&reply);
}

static void test_what_a_plan_knows(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *names;
        bool scored;
        const char *want;
    } rows[] = {
        {"one name, of a pod that never waited", "fresh", "n1", false, "n1!"},
        {"one name, of one that waits: its place there says so", "waits", "n1", false, ""},
        {"several names", "fresh", "n1 n2 n3", false, "n1? n2 n3"},
        {"of which the fullest is the likeliest", "fresh", "n1 n2 n3", true, "n2? n1 n3"},
        {"one that waits", "waits", "n3 n2", true, "+n2? n3"},
        {"names that are not in sight", "fresh", "n1 x", false, "n1?"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer answer;
        char got[128];
        cluster_open(&c, objects);
        c.view.now = 1000;
        ask_filter_answer(&c, rows[i].pod, rows[i].names, &answer);
        assert_string_equal(answer.passed, rows[i].names);
        if (rows[i].scored)
            prioritize(&c, rows[i].pod, rows[i].names);
        arrivals(&c, got, sizeof(got));
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: got \"%s\"", rows[i].label, got);
        c.view.now += LEDGER_ONE_MS;
        arrivals(&c, got, sizeof(got));
        assert_string_equal(got, ""); /* its time is up */
        cluster_close(&c);
    }
}

/* Who is seen bound, or no longer there, comes no more. */
static void test_who_is_there_comes_no_more(void **state)
{
    (void)state;
    static const char *const seen[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\",\"name\":\"fresh\",\"uid\":"
        "\"uid-fresh\"},\"spec\":{\"nodeName\":\"n2\",\"containers\":[{\"name\":\"c\"}]}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\",\"name\":\"fresh\",\"uid\":"
        "\"another\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
    };
    for (size_t i = 0; i < COUNT_OF(seen); i++) {
        struct cluster c;
        struct answer answer;
        char got[128];
        cluster_open(&c, objects);
        c.view.now = 1000;
        ask_filter_answer(&c, "fresh", "n1 n2", &answer);
        arrivals(&c, got, sizeof(got));
        assert_string_equal(got, "n1? n2");
        cluster_tell(&c, WATCH_PUT, span_of(seen[i]));
        cluster_publish(&c);
        arrivals(&c, got, sizeof(got));
        assert_string_equal(got, "");
        cluster_close(&c);
    }
}

/* A plan that does not know of it may put a place into its way, where nobody had one: from then on others are
 * to leave room for both. */
static void test_a_place_that_came_later(void **state)
{
    (void)state;
    struct cluster c;
    struct answer answer;
    cluster_open(&c, objects);
    c.view.now = 1000;
    ask_filter_answer(&c, "fresh", "n2 n3", &answer);
    ask_filter_answer(&c, "third", "n2", &answer);
    assert_string_equal(answer.passed, "n2"); /* the scheduler knows best who is there */
    cluster_place(&c, "waits", "n2");
    ask_filter_answer(&c, "third", "n2", &answer);
    assert_string_equal(answer.passed, ""); /* 2 are bound, and 1 each comes and is planned */
    c.view.now += LEDGER_MANY_MS;
    ask_filter_answer(&c, "third", "n2", &answer);
    assert_string_equal(answer.passed, "n2");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_plan_knows),
        cmocka_unit_test(test_who_is_there_comes_no_more),
        cmocka_unit_test(test_a_place_that_came_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
