#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_ask.h"

#define VICTIM(name) "{\"UID\":\"uid-" name "\"}"
#define ABOVE "  priority: 9\n"
#define ON_N1(victims) "\"n1\":{\"Pods\":[" victims "],\"NumPDBViolations\":0}"

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

#define AT(node, victims, violations) "\"" node "\":{\"Pods\":[" victims "],\"NumPDBViolations\":" violations "}"
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
        cmocka_unit_test(test_who_is_going_is_not_the_last),
        cmocka_unit_test(test_as_many_go_as_are_needed),
        cmocka_unit_test(test_whoever_has_gone_may_be_told_again),
        cmocka_unit_test(test_one_node_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
