/* What files of objects may hold, as `stowage plan` reads them: what is refused, what is set aside, and
 * in which words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "server/command.h"
#include "support_plan.h"

static struct outcome plan_seen(const char *objects)
{
    static const char *const args[COMMAND_ARGS_MAX] = {"-f", "{}"};
    return run_command(command_plan, objects, args);
}

/* A pod that gives room away would let three pods of 2 CPUs stand on 4. */
static void no_room_comes_from_a_negative_request(void **state)
{
    (void)state;
    struct outcome o = plan(POOL POD("neg", "{requests: {cpu: -5}}") POD("a", "{requests: {cpu: 2}}")
                                POD("b", "{requests: {cpu: 2}}") POD("c", "{requests: {cpu: 2}}"));
    assert_int_equal(o.status, 1); /* for the one that was set aside */
    expect_text("the three alone", &o, "\n3 pods wait: 3 need 1 new node.\n");
    expect_text("the three alone", &o, "  6/7.9 ");
}

/* --- what is no object --- */

static void what_is_no_object_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *want;
    } rows[] = {
        {"{\"kind\": \"List\", \"apiVersion\": \"v1\",\n \"items\": \"x\"}", ":2: items: a string is not a list\n"},
        {"apiVersion: v1\nkind: List\nitmes: []\n", ":1: items: missing; a List needs them\n"},
        {"apiVersion: v1\nkind: PodList\n", ":1: items: missing; a PodList needs them\n"},
        {"apiVersion: v1\nkind: List\nitems: {a: {apiVersion: v1, kind: Node, metadata: {name: n}}}\n",
         ":3: items: an object is not a list\n"},
        {"apiVersion: v1\nkind: List\nitems: [x]\n", ":3: a string is not a Kubernetes object\n"},
        {"[{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}}]",
         ":1: a list is not a Kubernetes object; put the objects into the items of a List\n"},
        {"metadata: {name: a}\nkind: ''\n", ":1: not a Kubernetes object: apiVersion and kind are missing\n"},
        {"kind: Pod\nspec: {}\n", ":1: not a Kubernetes object: apiVersion is missing\n"},
        {"kind: List\nitems: [x]\n", ":2: a string is not a Kubernetes object\n"},
        {"kind: Pod\nmetadata: {name: a}\n", ":1: not a Kubernetes object: apiVersion is missing\n"},
        {"apiVersion: v1\nmetadata: {name: a}\n", ":1: not a Kubernetes object: kind is missing\n"},
        {"apiVersion: v1\nkind: [Pod]\n", ":2: kind: a list is not a string\n"},
        {"apiVersion: 1\nkind: Pod\n", ":1: apiVersion: 1 is a number, not a string; put it in quotes\n"},
        {"apiVersion: v1\nkind: Pod\n", ":1: metadata.name: missing\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {namespace: a}\n", ":1: metadata.name: missing\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n", ":1: metadata.name: missing\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: x\n", ":3: metadata: \"x\" is not an object\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: [a]}\n", ":3: metadata.name: a list is not a string\n"},
        {"apiVersion: v1\nkind: Pod\nmetadata: {name: 7}\n",
         ":3: metadata.name: 7 is a number, not a string; put it in quotes\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i].objects);
        if (o.status != 2)
            fail_msg("%s: status %d, %s", rows[i].objects, o.status, o.text);
        expect_text(rows[i].objects, &o, rows[i].want);
        expect_text(rows[i].objects, &o, "1 mistake in 1 of 1 file; nothing planned\n");
    }
}

static void lists_are_taken(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "apiVersion: v1\nkind: List\nitems: null\n",
        "apiVersion: v1\nkind: List\nitems: []\n",
        "apiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: n1}}]\n",
        "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nspec: {}\n",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i]);
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i], o.status, o.text);
    }
}

/* --- what is not planned --- */

#define SEEN "status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"

static void pods_that_no_scheduler_saw_are_told(void **state)
{
    (void)state;
    static const char one[] = "1 pod without a node was not planned: no scheduler has looked at it; "
                              "--all-unbound plans it";
    char flat[sizeof(((struct outcome *)0)->text)];
    struct outcome o = plan_seen(POOL POD("a", "{}"));
    assert_int_equal(o.status, 0);
    assert_null(strstr(o.text, "Nothing waits"));
    snprintf(flat, sizeof(flat), "%s", o.text);
    for (char *c = flat; (c = strchr(c, '\n')) != NULL;) /* however it is wrapped */
        *c = ' ';
    if (strstr(flat, one) == NULL)
        fail_msg("%s", flat);
    o = run_command(command_plan, POOL POD("a", "{}"),
                    (const char *const[COMMAND_ARGS_MAX]){"-f", "{}", "-o", "json"});
    expect_text("in warnings, too", &o, one);
    o = plan_seen(POOL POD("a", "{}") POD("b", "{}") POD("c", "{}") SEEN);
    expect_text("beside one that waits", &o, "1 pod waits: 1 needs 1 new node. 2 pods without a node");
    o = plan(POOL POD("a", "{}"));
    assert_null(strstr(o.text, "all-unbound"));
    o = plan_seen(POOL POD("a", "{}") "  schedulingGates: [{name: g}]\n");
    expect_text("a gated one waits for somebody else", &o, "Nothing waits.");
    o = run_command(command_explain, POOL POD("a", "{}"),
                    (const char *const[COMMAND_ARGS_MAX]){"pod", "shop/a", "-f", "{}"});
    expect_text("explain", &o, "Fix  --all-unbound plans it.");
}

/* --- pools that cannot be used --- */

static void old_versions_are_told_by_name(void **state)
{
    (void)state;
    static const char old[] = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: general}\n"
                              "---\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\n"
                              "metadata: {name: b, namespace: shop}\n";
    char objects[2048];
    snprintf(objects, sizeof(objects), "%s%s", old, POD("a", "{}"));
    struct outcome o = plan(objects);
    assert_int_equal(o.status, 1);
    expect_text("a pool", &o, ":1: NodePool general is karpenter.sh/v1beta1; Stowage reads karpenter.sh/v1\n");
    expect_text("another", &o, ":5: PodDisruptionBudget shop/b is policy/v1beta1; Stowage reads policy/v1\n");
    assert_null(strstr(o.text, "other kinds"));
    expect_text("why nothing is bought", &o, "general is not ready: it is");
    o = run_command(command_explain, objects,
                    (const char *const[COMMAND_ARGS_MAX]){"nodepool", "general", "-f", "{}"});
    expect_text("explain", &o, "general buys nothing: it is not ready: it is karpenter.sh/v1beta1; Stowage reads");
    snprintf(objects, sizeof(objects), "%s%s%s", old, POOL, POD("a", "{}"));
    o = plan(objects);
    assert_int_equal(o.status, 0); /* the new one of that name counts */
}

static void pools_set_aside_are_named(void **state)
{
    (void)state;
    static const char odd[] = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\n"
                              "spec: {weight: 1000, " POOL_TEMPLATE "}\n" POD("a", "{}");
    struct outcome o = plan(odd);
    assert_int_equal(o.status, 1);
    expect_text("where", &o, ":5: NodePool odd: spec.weight: 1000 is out of range; it may be 1 to 100; the pool is set aside\n");
    expect_text("why nothing is bought", &o, "odd is not ready:");
    o = run_command(command_explain, odd,
                    (const char *const[COMMAND_ARGS_MAX]){"nodepool", "odd", "-f", "{}"});
    expect_text("explain", &o, "odd buys nothing: it is not ready: spec.weight: 1000 is out of range; it may be");
}

/* --- twice --- */

static void the_first_of_two_is_used(void **state)
{
    (void)state;
    struct outcome o = plan(POOL POD("a", "{requests: {cpu: 2}}") POD("b", "{}")
                                POD("a", "{requests: {cpu: 7}}"));
    expect_text("both places", &o, ":24: Pod shop/a: already given at ");
    expect_text("both places", &o, ":8, which is used\n");
    expect_text("the first", &o, "  2/");
}

/* --- what a terminal must not see --- */

static void no_control_character_reaches_a_terminal(void **state)
{
    (void)state;
    static const char *const rows[] = {
        POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\e[31mRED\\nx\", namespace: shop}\n",
        POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\n"
             "spec: {nodeSelector: {\"a\\e[31m\\x9b\": b}}\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\e[31m\"}\nspec: []\n",
        "apiVersion: v1\nkind: \"Pod\\e[31m\"\n",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan(rows[i]);
        for (const char *c = o.text; *c != '\0'; c++)
            if (((unsigned char)*c < 0x20 && *c != '\n') || strncmp(c, "\xc2\x9b", 2) == 0)
                fail_msg("row %zu: %s", i, o.text);
        expect_text("what was there", &o, "\\u001b[31m");
    }
    struct outcome o = plan(rows[0]);
    expect_text("the name", &o, ": Pod shop/a\\u001b[31mRED\\nx: metadata: no object can have such a name; the object is "
                                "set aside");
    expect_text("the name", &o, "Nothing waits.");
}

static void amounts_beyond_counting_are_called_so(void **state)
{
    (void)state;
    struct outcome o = plan(POOL POD("huge", "{requests: {cpu: 99999999999999999999999999}}"));
    expect_text("no figure of our own", &o, "shop/huge asks for more CPUs than can be counted; ");
    expect_text("no unit to blame", &o, "Fix: write a request that a machine can meet.\n");
}

/* What no amount can hold is the greatest amount, in one number and in any sum: of containers, of the pods of a node, of
 * a NodePool's nodes. */
static void sums_beyond_counting_stay_the_greatest(void **state)
{
    (void)state;
#define MAX "9223372036854775807"
#define FULL_NODE(name)                                                                            \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {karpenter.sh/nodepool: general}}\n"    \
    "status: {capacity: {cpu: " MAX ", memory: 1e300, pods: " MAX "}, allocatable: {cpu: " MAX                     \
    ", memory: 1e300, pods: " MAX "}}\n"
#define GIANT(name, node)                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop}\nspec:\n  nodeName: " node "\n"   \
    "  overhead: {cpu: " MAX "}\n  containers:\n  - {name: a, resources: {requests: {cpu: " MAX ", memory: 8Ei}}}\n" \
    "  - {name: b, resources: {requests: {cpu: 9e18, memory: 8Ei}}}\n"                              \
    "  initContainers: [{name: i, restartPolicy: Always, resources: {requests: {memory: 8Ei}}}]\n"
    struct outcome o = plan(POOL FULL_NODE("n1") GIANT("a", "n1") GIANT("b", "n1") GIANT("c", "n1")
                                POD("small", "{requests: {cpu: 2}}"));
    assert_int_equal(o.status, 0);
    expect_text("no room on the full one", &o, "1 pod waits: 1 needs 1 new node.");
    o = plan(POOL "  limits: {cpu: 1e300, memory: " MAX "}\n" FULL_NODE("n1") FULL_NODE("n2") FULL_NODE("n3")
                 POD("a", "{requests: {cpu: " MAX "}}") POD("b", "{requests: {cpu: " MAX "}}")
                     POD("c", "{requests: {cpu: " MAX "}}") POD("small", "{requests: {cpu: 2}}"));
    assert_int_equal(o.status, 1);
    expect_text("a limit that is used up", &o, "shop/small finds only 0 CPUs left within the limits of pool");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_room_comes_from_a_negative_request),
        cmocka_unit_test(what_is_no_object_says_why),
        cmocka_unit_test(lists_are_taken),
        cmocka_unit_test(pods_that_no_scheduler_saw_are_told),
        cmocka_unit_test(old_versions_are_told_by_name),
        cmocka_unit_test(pools_set_aside_are_named),
        cmocka_unit_test(the_first_of_two_is_used),
        cmocka_unit_test(no_control_character_reaches_a_terminal),
        cmocka_unit_test(amounts_beyond_counting_are_called_so),
        cmocka_unit_test(sums_beyond_counting_stay_the_greatest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
