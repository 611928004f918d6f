#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support_ask.h"

#define VICTIM(name) "{\"UID\":\"uid-" name "\"}"
#define ABOVE "  priority: 9\n"
#define AT(node, victims, violations) "\"" node "\":{\"Pods\":[" victims "],\"NumPDBViolations\":" violations "}"
#define ON_N1(victims) "\"n1\":{\"Pods\":[" victims "],\"NumPDBViolations\":0}"

/* n1 has 1 of 4 CPUs in use, n2 3, n3 is about to go, n5 has room for one pod of 3 CPUs, which is nominated; n8 is a
 * spot node, the others do not say what they are. */
static const char nodes_yaml[] =
    NODE("n1", "") NODE("n2", "")
    NODE("n3", "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n")
    NODE("n5", "") NODE("n8", "  labels: {karpenter.sh/capacity-type: spot}\n");
static const char pods_yaml[] =
    POD("running", "1", BOUND("n1"), "") POD("done", "3", BOUND("n2"), "") POD("band-1", "10m", BOUND("n5"), "")
    POD("small", "1", "", WAITS) POD("large", "3", "", WAITS) POD("other", "3", "", WAITS)
    POD("urgent", "3", "  priority: 1000\n", WAITS) POD("nominated", "3", "", "  nominatedNodeName: n5\n")
    "---\napiVersion: v1\nkind: Pod\n"
    "metadata: {name: on-spot, namespace: web, uid: uid-on-spot, annotations: {stowage.dev/spot-percent: '100'}}\n"
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 10m}}}]\nstatus:\n  phase: Pending\n";

static const char *objects(void)
{
    static char all[sizeof(nodes_yaml) + sizeof(pods_yaml)];
    snprintf(all, sizeof(all), "%s%s", nodes_yaml, pods_yaml);
    return all;
}

static void test_preempt_keeps_to_the_side(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    struct span body = SPAN(
        "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"on-spot\",\"uid\":\"uid-on-spot\"}},"
        "\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"uid-running\"}],\"NumPDBViolations\":0},"
        "\"n8\":{\"Pods\":[{\"UID\":\"x\"}],\"NumPDBViolations\":0}}}");
    struct buf reply = {0};
    struct extender_verdict verdict;
    struct err err;
    assert_true(extender_preempt(&c.scratch, &c.view, body, &reply, &verdict, &err));
    assert_string_equal(reply.ptr, "{\"NodeNameToMetaVictims\":{\"n8\":{\"Pods\":[{\"UID\":\"x\"}],"
                                   "\"NumPDBViolations\":0}}}");
    buf_release(&reply);
    cluster_close(&c);
}

static void test_preempt_strikes_what_others_own(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "large", "n1"); /* 3 of n1's 4 CPUs; evicting "running" leaves 1 */
    struct span body =
        SPAN("{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"other\",\"uid\":\"uid-other\"}},"
             "\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
             "\"n1\":{\"Pods\":[{\"UID\":\"uid-running\"}],\"NumPDBViolations\":0},"
             "\"n2\":{\"Pods\":[{\"UID\":\"uid-done\"}],\"NumPDBViolations\":1},"
             "\"n3\":{\"Pods\":[{\"UID\":\"x\"}],\"NumPDBViolations\":0},"
             "\"new\":{\"Pods\":[{\"UID\":\"y\"}],\"NumPDBViolations\":1}}}");
    struct buf reply = {0};
    struct extender_verdict verdict;
    struct err err;
    assert_true(extender_preempt(&c.scratch, &c.view, body, &reply, &verdict, &err));
    assert_string_equal(
        reply.ptr, "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"uid-done\"}],"
                   "\"NumPDBViolations\":1},\"new\":{\"Pods\":[{\"UID\":\"y\"}],"
                   "\"NumPDBViolations\":1}}}");
    buf_clear(&reply);
    struct extender_view blind = {0};
    assert_true(extender_preempt(&c.scratch, &blind, body, &reply, &verdict, &err));
    json_t *root = ask_parsed(&reply);
    assert_int_equal(json_object_size(json_object_get(root, "NodeNameToMetaVictims")), 4);
    json_decref(root);
    buf_release(&reply);
    cluster_close(&c);
}

#define CANDIDATE(node, victim)                                                                    \
    "\"" node "\":{\"Pods\":[{\"UID\":\"uid-" victim "\"}],\"NumPDBViolations\":0}"

/* The scheduler asks again for a pod that it has nominated while others that it has nominated for the same node wait
 * for their victims to go. */
static void test_nobody_goes_while_others_are_going(void **state)
{
    (void)state;
    static const char both[] = CANDIDATE("n1", "running") "," CANDIDATE("n5", "band-1");
    static const char n1[] = CANDIDATE("n1", "running"), n5[] = CANDIDATE("n5", "band-1");
    struct cluster c;
    cluster_open(&c, objects());
    c.view.now = 1000;
    ask_expect_preempt(&c, "urgent", "n5", both, n5, "nobody is going from its node");
    c.view.now += LEDGER_VICTIM_MS;
    ask_expect_preempt(&c, "urgent", "", both, n1, "nor from any");
    c.view.now += LEDGER_VICTIM_MS;
    ask_expect_preempt(&c, "small", "", n1, n1, "one is to go from n1");
    c.view.now += LEDGER_VICTIM_MS - 1;
    ask_expect_preempt(&c, "urgent", "n1", both, n1, "he makes room on n1, nobody need go from n5");
    ask_expect_preempt(&c, "urgent", "", both, n1, "nor for whom there is to be none yet");
    ask_expect_preempt(&c, "urgent", "n1", AT("n1", VICTIM("running"), "1") "," CANDIDATE("n5", "band-1"),
                       AT("n1", VICTIM("running"), "1"), "not even where a budget would be kept");
    ask_expect_preempt(&c, "urgent", "n1", n5, n5, "unless there cannot be any on n1");
    c.view.now += LEDGER_VICTIM_MS - 1;
    ask_expect_preempt(&c, "urgent", "n1", both, n5, "he has not gone from n1, and the one on n5 is on his way");
    cluster_close(&c);
}

static void test_preempt_keeps_the_freed_node(void **state)
{
    (void)state;
    static const char n5[] = CANDIDATE("n5", "band-1");
    struct cluster c;
    cluster_open(&c, objects());
    ask_expect_preempt(&c, "other", "", n5, "", "room that another has freed");
    ask_expect_preempt(&c, "other", "n5", n5, n5, "room that others and this one have freed");
    cluster_close(&c);
}

/* The scheduler waits for the last of the victims. */
static void test_who_is_going_is_not_the_last(void **state)
{
    (void)state;
    static const char b[] = ON_N1(VICTIM("b"));
    static const struct {
        const char *label, *asked, *want;
    } lists[] = {
        {"nobody else is", ON_N1(VICTIM("b")), ON_N1(VICTIM("b"))},
        {"the last is", ON_N1(VICTIM("a") "," VICTIM("b")), ON_N1(VICTIM("b") "," VICTIM("a"))},
        {"another is", ON_N1(VICTIM("b") "," VICTIM("a")), ON_N1(VICTIM("b") "," VICTIM("a"))},
        {"the one of highest priority stays first", ON_N1(VICTIM("vip") "," VICTIM("b")),
         ON_N1(VICTIM("vip") "," VICTIM("b"))},
        {"and the next goes last", ON_N1(VICTIM("vip") "," VICTIM("a") "," VICTIM("b")),
         ON_N1(VICTIM("vip") "," VICTIM("b") "," VICTIM("a"))},
    };
    struct cluster c;
    cluster_open(&c, NODE("n1", "") POD("a", "1", BOUND("n1"), "") POD("b", "1", BOUND("n1"), "")
                         POD("vip", "1", BOUND("n1") "  priority: 7\n", "") POD("first", "1", ABOVE, WAITS)
                             POD("next", "1", ABOVE, WAITS));
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        c.view.now += 2 * LEDGER_VICTIM_MS;
        ask_expect_preempt(&c, "first", "", b, b, lists[i].label);
        ask_expect_preempt(&c, "next", "", lists[i].asked, lists[i].want, lists[i].label);
    }
    ask_expect_preempt(&c, "next", "n1", ON_N1(VICTIM("a") "," VICTIM("b")), ON_N1(VICTIM("a")),
                   "one is told again when all are");
    c.view.now += 2 * LEDGER_VICTIM_MS;
    ask_expect_preempt(&c, "first", "", b, b, "one goes");
    c.view.now++;
    ask_expect_preempt(&c, "first", "", ON_N1(VICTIM("a")), ON_N1(VICTIM("a")), "another may go");
    ask_expect_preempt(&c, "next", "", ON_N1(VICTIM("a") "," VICTIM("b")), ON_N1(VICTIM("b") "," VICTIM("a")),
                   "who was told later goes later");
    cluster_close(&c);
}

#define URGENT(name, cpu, on) POD(name, cpu, ABOVE, "  nominatedNodeName: " on "\n" WAITS)
#define LOWLY(name) POD(name, "1", BOUND("n1"), "")
#define GONE(name)                                                                                 \
    SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\",\"name\":\"" name \
         "\",\"uid\":\"uid-" name "\"}}")

/* n1 is full of four who may be evicted, and two urgent pods are nominated there: the scheduler counts those as there
 * already, and their victims until it has seen them go. So it may name somebody else for one of the two when it takes
 * that up again. */
static void test_as_many_go_as_are_needed(void **state)
{
    (void)state;
    static const char *const of[] = {
        ['a'] = ON_N1(VICTIM("a")), ['b'] = ON_N1(VICTIM("b")), ['c'] = ON_N1(VICTIM("c")), ['v'] = ON_N1(VICTIM("vip"))};
    static const struct {
        const char *label, *told, *pod, *nominated, *asked, *want;
    } rows[] = {
        {"one is not enough for both", "a", "first", "n1", ON_N1(VICTIM("c")), ON_N1(VICTIM("c"))},
        {"two are: the last is told again", "ab", "first", "n1", ON_N1(VICTIM("c")), ON_N1(VICTIM("b"))},
        {"the last that was told", "ba", "first", "n1", ON_N1(VICTIM("c")), ON_N1(VICTIM("a"))},
        {"of those named, if one was", "ab", "first", "n1", ON_N1(VICTIM("c") "," VICTIM("a")), ON_N1(VICTIM("a"))},
        {"the last of them", "ab", "first", "n1", ON_N1(VICTIM("b") "," VICTIM("a") "," VICTIM("c")), ON_N1(VICTIM("b"))},
        {"it was nominated for another node", "ab", "above-all", "n2", ON_N1(VICTIM("c")), ON_N1(VICTIM("c"))},
        {"or for none", "ab", "above-all", "", ON_N1(VICTIM("c")), ON_N1(VICTIM("c"))},
        {"it needs more than that", "ab", "wide", "n1", ON_N1(VICTIM("c")), ON_N1(VICTIM("c"))},
        {"nobody of its own priority goes for it", "abv", "first", "n1", ON_N1(VICTIM("c")), ON_N1(VICTIM("b"))},
    };
    struct cluster c;
    cluster_open(&c, NODE("n1", "") LOWLY("a") LOWLY("b") LOWLY("c")
                         POD("vip", "1", BOUND("n1") "  priority: 9\n", "") URGENT("first", "1", "n1")
                             URGENT("second", "1", "n1") URGENT("wide", "2", "n2")
                                 POD("above-all", "1", "  priority: 99\n", WAITS));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        c.view.now += LEDGER_VICTIM_MS;
        for (const char *t = rows[i].told; *t != '\0'; t++, c.view.now++)
            ask_expect_preempt(&c, "above-all", "", of[(unsigned char)*t], of[(unsigned char)*t], rows[i].label);
        ask_expect_preempt(&c, rows[i].pod, rows[i].nominated, rows[i].asked, rows[i].want, rows[i].label);
    }
    cluster_close(&c);
}

/* Gone here, and not yet where the scheduler looks. */
static void test_whoever_has_gone_may_be_told_again(void **state)
{
    (void)state;
    static const char a[] = ON_N1(VICTIM("a")), b[] = ON_N1(VICTIM("b"));
    struct cluster c;
    cluster_open(&c, NODE("n1", "") LOWLY("a") LOWLY("b") LOWLY("c") LOWLY("d") URGENT("first", "1", "n1"));
    ask_expect_preempt(&c, "first", "", a, a, "one goes");
    cluster_tell(&c, WATCH_DELETE, GONE("a"));
    cluster_publish(&c);
    c.view.now += LEDGER_VICTIM_MS - 1;
    ask_expect_preempt(&c, "first", "n1", b, a, "and that is enough");
    c.view.now++;
    ask_expect_preempt(&c, "first", "n1", b, b, "if that was the reason, the scheduler knows by now");
    cluster_close(&c);
}

#define BOUND_AT(name, node, priority, made, status)                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name        \
    ", creationTimestamp: '2026-10-10T10:00:" made "Z'}\n"                                         \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: '1'}}}]\n  nodeName: " node "\n"   \
    "  priority: " priority "\nstatus: {" status "}\n"
#define STARTED(second) "phase: Running, startTime: '2026-10-10T11:00:" second "Z'"
#define BORN(name, node, priority, second) BOUND_AT(name, node, priority, second, STARTED(second))

/* As kube-scheduler chooses. Once told, whoever is asked about next has to know who is going. */
static void test_one_node_is_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *label, *told, *asked, *want;
    } rows[] = {
        {"fewest violations", NULL, AT("n1", VICTIM("old"), "1") "," AT("n2", VICTIM("dear-2"), "0"),
         AT("n2", VICTIM("dear-2"), "0")},
        {"lowest priority of all", NULL, AT("n1", VICTIM("dear"), "0") "," AT("n2", VICTIM("new") "," VICTIM("young"), "0"),
         AT("n2", VICTIM("new") "," VICTIM("young"), "0")},
        {"fewer", NULL, AT("n1", VICTIM("old") "," VICTIM("mid"), "0") "," AT("n2", VICTIM("new"), "0"),
         AT("n2", VICTIM("new"), "0")},
        {"the younger", NULL, AT("n1", VICTIM("old"), "0") "," AT("n2", VICTIM("new"), "0"), AT("n2", VICTIM("new"), "0")},
        {"the one that runs for less long, though it waited longer", NULL,
         AT("n1", VICTIM("mid"), "0") "," AT("n2", VICTIM("late"), "0"), AT("n2", VICTIM("late"), "0")},
        {"of several the one that has run longest counts", NULL,
         AT("n1", VICTIM("old") "," VICTIM("zero"), "0") "," AT("n2", VICTIM("new") "," VICTIM("young"), "0"),
         AT("n2", VICTIM("new") "," VICTIM("young"), "0")},
        {"the one that does not run yet", NULL, AT("n1", VICTIM("old"), "0") "," AT("n2", VICTIM("unstarted"), "0"),
         AT("n2", VICTIM("unstarted"), "0")},
        {"fewer, also when priorities add up to the same", NULL,
         AT("n1", VICTIM("zero") "," VICTIM("least"), "0") "," AT("n2", VICTIM("new"), "0"),
         AT("n2", VICTIM("new"), "0")},
        {"whoever is going costs nothing", ON_N1(VICTIM("old")),
         AT("n1", VICTIM("mid") "," VICTIM("old"), "0") "," AT("n2", VICTIM("new") "," VICTIM("young"), "0"),
         AT("n1", VICTIM("old") "," VICTIM("mid"), "0")},
        {"one that is not known is left to the scheduler", NULL,
         AT("n1", VICTIM("old"), "0") "," AT("n2", VICTIM("stranger"), "0"),
         AT("n1", VICTIM("old"), "0") "," AT("n2", VICTIM("stranger"), "0")},
        {"unless it costs more anyway", NULL, AT("n1", VICTIM("old"), "0") "," AT("n2", VICTIM("stranger"), "1"),
         AT("n1", VICTIM("old"), "0")},
    };
    struct cluster c;
    cluster_open(&c, NODE("n1", "") NODE("n2", "") BORN("old", "n1", "0", "01") BORN("mid", "n1", "0", "02")
                         BORN("new", "n2", "0", "03") BORN("young", "n2", "0", "04")
                             BORN("dear", "n1", "5", "05") BORN("dear-2", "n2", "5", "05")
                             BOUND_AT("late", "n2", "0", "00", STARTED("59"))
                             BOUND_AT("unstarted", "n2", "0", "00", "phase: Pending")
                             BORN("zero", "n1", "0", "58") BORN("least", "n1", "-2147483648", "58")
                                 POD("asks", "1", ABOVE, WAITS) POD("other", "1", ABOVE, WAITS));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        c.view.now += LEDGER_VICTIM_MS;
        if (rows[i].told != NULL)
            ask_expect_preempt(&c, "other", "", rows[i].told, rows[i].told, rows[i].label);
        ask_expect_preempt(&c, "asks", "", rows[i].asked, rows[i].want, rows[i].label);
    }
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempt_keeps_to_the_side),
        cmocka_unit_test(test_preempt_strikes_what_others_own),
        cmocka_unit_test(test_nobody_goes_while_others_are_going),
        cmocka_unit_test(test_preempt_keeps_the_freed_node),
        cmocka_unit_test(test_who_is_going_is_not_the_last),
        cmocka_unit_test(test_as_many_go_as_are_needed),
        cmocka_unit_test(test_whoever_has_gone_may_be_told_again),
        cmocka_unit_test(test_one_node_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
