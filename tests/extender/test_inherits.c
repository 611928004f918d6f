/* The place of a pod that has to leave its node is kept from before it is evicted, and is for who comes after it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_ask.h"

#define LEAVING_NODE(name)                                                                          \
    NODE(name, "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n")

#define ALL_SPOT ", annotations: {stowage.dev/spot-percent: '100'}"

/* Nodes have 4 CPUs, and do not say what they are, which is on-demand. */
static const struct {
    const char *kind, *owner, *name, *cpu, *meta, *spec;
} pods[] = {
    {"ReplicaSet", "web", "web-old", "3", "", "nodeName: old"},
    {"ReplicaSet", "web", "web-going", "3", ", deletionTimestamp: '2026-10-10T10:00:00Z'", "nodeName: old"},
    {"ReplicaSet", "web", "web-stays", "3", "", "nodeName: stays"},
    {"ReplicaSet", "web", "web-new", "3", "", "priority: 0"},
    {"ReplicaSet", "web", "web-next", "3", "", "priority: 0"},
    {"ReplicaSet", "web", "web-small", "2", "", "priority: 0"},
    {"ReplicaSet", "web", "web-urgent", "3", "", "priority: 1000"},
    {"ReplicaSet", "api", "api-new", "3", "", "priority: 0"},
    {"ReplicaSet", "half", "half-old", "3", ALL_SPOT, "nodeName: old"},
    {"ReplicaSet", "half", "half-new", "3", ALL_SPOT, "priority: 0"},
    {"StatefulSet", "db", "db-0", "3", "", "nodeName: old"},
    {"StatefulSet", "db", "db-1", "3", "", "priority: 0"},
};

static void lay(struct cluster *c)
{
    struct buf b = {0};
    buf_addf(&b, "%s", LEAVING_NODE("old") NODE("stays", "") NODE("there", "") POD("alone", "3", "", WAITS)
                           POD("little", "1", "", WAITS));
    for (size_t i = 0; i < COUNT_OF(pods); i++)
        buf_addf(&b,
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: %s, uid: uid-%s%s, ownerReferences: "
                 "[{apiVersion: apps/v1, kind: %s, name: %s, uid: uid-%s, controller: true}]}\n"
                 "spec:\n  containers: [{name: c, resources: {requests: {cpu: '%s', memory: 1Gi}}}]\n  %s\n"
                 "status:\n  phase: Pending\n" WAITS,
                 pods[i].name, pods[i].name, pods[i].meta, pods[i].kind, pods[i].owner, pods[i].owner, pods[i].cpu,
                 pods[i].spec);
    buf_add_char(&b, '\0');
    cluster_open(c, b.ptr);
    buf_release(&b);
}

struct asked {
    const char *label, *place, *pod; /* whose place is on "there", and who asks */
    enum extender_answer want;
};

static void test_who_inherits(void **state)
{
    (void)state;
    static const struct asked rows[] = {
        {"the next of its ReplicaSet", "web-old", "web-new", EXTENDER_INHERITED},
        {"and after it was evicted", "web-going", "web-new", EXTENDER_INHERITED},
        {"not one that asks for something else", "web-old", "web-small", EXTENDER_REFUSED},
        {"nor one of another priority, for which room is made anyway", "web-old", "web-urgent", EXTENDER_ROOM},
        {"nor another's", "web-old", "api-new", EXTENDER_REFUSED},
        {"nor who has no controller that we know", "web-old", "alone", EXTENDER_REFUSED},
        {"who fits beside it does", "web-old", "little", EXTENDER_ROOM},
        {"nor who is to go to the other side of a split", "half-old", "half-new", EXTENDER_REFUSED},
        {"of a StatefulSet only who has its name", "db-0", "db-1", EXTENDER_REFUSED},
        {"of a pod whose node stays there is nothing to inherit", "web-stays", "api-new", EXTENDER_ROOM},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer got;
        lay(&c);
        cluster_place(&c, rows[i].place, "there");
        ask_filter_answer(&c, rows[i].pod, "there", &got);
        if (got.verdict.answer != rows[i].want)
            fail_msg("%s: %s", rows[i].label, extender_answer_name(got.verdict.answer));
        assert_string_equal(got.passed, rows[i].want != EXTENDER_REFUSED ? "there" : "");
        if (rows[i].want == EXTENDER_INHERITED)
            assert_true(got.verdict.astray); /* the next plan is to hear of it */
        cluster_close(&c);
    }
}

/* One heir for each place; who asks again has what he had. */
static void test_once(void **state)
{
    (void)state;
    struct cluster c;
    struct answer got;
    lay(&c);
    cluster_place(&c, "web-old", "there");
    for (int i = 0; i < 2; i++) {
        ask_filter_answer(&c, "web-new", "there", &got);
        assert_int_equal(got.verdict.answer, EXTENDER_INHERITED);
    }
    ask_filter_answer(&c, "web-next", "there", &got);
    assert_int_equal(got.verdict.answer, EXTENDER_REFUSED);
    ask_filter_answer(&c, "little", "there", &got); /* the room is taken once, and not twice */
    assert_int_equal(got.verdict.answer, EXTENDER_ROOM);
    cluster_close(&c);
}

/* Of two places that of the pod which is on its way out, whatever their order. */
static void test_who_was_evicted_first(void **state)
{
    (void)state;
    struct cluster c;
    struct answer got;
    lay(&c);
    cluster_place(&c, "web-old", "stays");
    cluster_place(&c, "web-going", "there");
    cluster_tell(&c, WATCH_DELETE, SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\","
                                         "\"name\":\"web-stays\",\"uid\":\"uid-web-stays\"}}"));
    cluster_publish(&c);
    ask_filter_answer(&c, "web-new", "stays there", &got);
    assert_string_equal(got.passed, "there");
    ask_filter_answer(&c, "web-next", "stays there", &got);
    assert_string_equal(got.passed, "stays");
    cluster_close(&c);
}

/* A StatefulSet makes the next one when the last is gone: meanwhile the place is held for who has the name. */
static void test_by_name(void **state)
{
    (void)state;
    struct cluster c;
    struct answer got;
    lay(&c);
    cluster_place(&c, "db-0", "there");
    cluster_tell(&c, WATCH_PUT,
                 SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\",\"name\":\"db-0\","
                      "\"uid\":\"uid-another\",\"resourceVersion\":\"9\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                      "\"kind\":\"StatefulSet\",\"name\":\"db\",\"uid\":\"uid-db\",\"controller\":true}]},\"spec\":{"
                      "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"1Gi\"}}}]},"
                      "\"status\":{\"phase\":\"Pending\"}}"));
    cluster_publish(&c);
    ask_filter_answer(&c, "api-new", "there", &got);
    assert_int_equal(got.verdict.answer, EXTENDER_REFUSED);
    struct buf body = {0}, reply = {0};
    struct err err;
    ask_put_args(&body, "db-0", "uid-another", "there");
    assert_true(extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &got.verdict, &err));
    assert_int_equal(got.verdict.answer, EXTENDER_INHERITED);
    buf_release(&body);
    buf_release(&reply);
    cluster_close(&c);
}

/* What was inherited is told to the planner, whose places have it under the heir's name from then on. */
static void test_the_places_follow(void **state)
{
    (void)state;
    struct cluster c;
    struct answer got;
    const struct sent_pod *sent;
    struct arena a;
    arena_init(&a, 0);
    lay(&c);
    cluster_place(&c, "web-old", "there");
    ask_filter_answer(&c, "web-new", "there", &got);
    uint32_t count = ledger_sent(c.ledger, c.view.now, &a, &sent);
    struct places *next = places_traded(c.places, sent, count, c.view.world);
    assert_non_null(next);
    assert_null(places_find(next, SPAN("uid-web-old")));
    assert_non_null(places_find(next, SPAN("uid-web-new")));
    assert_true(span_eq(places_find(next, SPAN("uid-web-new"))->target, SPAN("there")));
    cluster_replan(&c, next);
    assert_null(places_traded(c.places, sent, count, c.view.world));
    ask_filter_answer(&c, "web-next", "there", &got);
    assert_int_equal(got.verdict.answer, EXTENDER_REFUSED);
    ask_filter_answer(&c, "web-new", "there", &got);
    assert_int_equal(got.verdict.answer, EXTENDER_PLANNED);
    cluster_close(&c);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_inherits),          cmocka_unit_test(test_once),
        cmocka_unit_test(test_who_was_evicted_first), cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_the_places_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
