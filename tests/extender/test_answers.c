/* Rules of the extender's answers that show best in a small cluster of their own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_ask.h"

/* Of n6's 4 CPUs 3 are in use, and 500m are for an agent that still has to come. */
#define AGENTS                                                                                     \
    "---\napiVersion: apps/v1\nkind: DaemonSet\n"                                                  \
    "metadata: {namespace: web, name: agent, uid: uid-agent}\n"                                    \
    "spec:\n  template:\n    spec:\n      priority: 5000\n      nodeSelector: {agents: here}\n"      \
    "      containers: [{name: c, resources: {requests: {cpu: 500m}}}]\n"
#define AGENT_POD(name, node)                                                                      \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name ", "  \
    "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: uid-agent, "       \
    "controller: true}]}\n"                                                                        \
    "spec:\n  priority: 5000\n  nodeSelector: {agents: here}\n"                                    \
    "  containers: [{name: c, resources: {requests: {cpu: 500m}}}]\n" node "status: {phase: Pending}\n"

static const char agents_yaml[] =
    NODE("n6", "  labels: {agents: here}\n") NODE("n7", "  labels: {agents: here}\n") AGENTS
    POD("low", "3", BOUND("n6"), "") POD("less", "3", BOUND("n7"), "") AGENT_POD("there", BOUND("n7"))
    AGENT_POD("coming", "")
    POD("large", "3800m", "  priority: 1000\n", WAITS) POD("fitting", "3500m", "  priority: 1000\n", WAITS)
    POD("equal", "3800m", "  priority: 5000\n", WAITS) POD("higher", "3800m", "  priority: 5001\n", WAITS);

static void test_preempting_leaves_daemons_their_room(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *candidates, *want;
    } rows[] = {
        {"of higher priority", "large", "n6:low", ""},
        {"of equal priority", "equal", "n6:low", ""},
        {"not of lower", "higher", "n6:low", "n6"},
        {"who leaves it has the rest", "fitting", "n6:low", "n6"},
        {"one that has come has no more to come", "fitting", "n7:less", "n7"},
        {"they themselves need not leave it", "coming", "n6:low", "n6"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char left[64];
        cluster_open(&c, agents_yaml);
        ask_preempt_left(&c, rows[i].pod, rows[i].candidates, left, sizeof(left));
        if (strcmp(left, rows[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].label, left, rows[i].want);
        cluster_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempting_leaves_daemons_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
