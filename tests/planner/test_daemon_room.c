/* Pods are moved off nodes on which DaemonSets' pods found no room, when the NodePool asks for it. */
#include "planner/disruption/daemon_room.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_fleet.h"

#define TYPE "type four 4 od/a/0.4\n"
#define ROOM "pool web room=true\n"
#define AGENT(cpu_) AGENT_WITH(cpu_, "")
#define AGENT_WITH(cpu_, more_)                                                                                        \
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default, uid: agent}\nspec:\n"        \
    "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n    spec:\n"             \
    "      " more_ "\n      containers: [{name: c, image: i, resources: {requests: {cpu: '" cpu_ "'}}}]\n"

#define ENDS(name_, node_, cpu_)                                                                                        \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: " name_ ", deletionTimestamp: \"" FLEET_JUST_NOW "\"}\n" \
    "spec: {nodeName: " node_ ", containers: [{name: c, resources: {requests: {cpu: '" cpu_ "'}}}]}\nstatus: {phase: Running}\n"

static const struct {
    const char *label, *fleet, *agent, *want; /* "node: pods\n" */
} rows[] = {
    {"there is room", TYPE ROOM "node n1 web four od/a\npod a n1 3 of=web\n", AGENT("1"), ""},
    {"the smallest that is enough", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web\npod b n1 1 of=web\npod c n1 1 of=web\n", AGENT("1"), "n1: b\n"},
    {"several when one is not", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web\npod b n1 1 of=web\npod c n1 1 of=web\n", AGENT("2500m"), "n1: a b\n"},
    {"whose eviction costs least", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web cost=2147483647\npod b n1 2 of=web\n", AGENT("1"), "n1: b\n"},
    {"one that alone is enough makes the others needless",
     TYPE ROOM "node n1 web four od/a\npod a n1 500m of=web cost=-134217728\npod b n1 3500m of=web\n", AGENT("1"), "n1: b\n"},
    {"nobody when all together are not enough", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web\npod b n1 2 of=web stays=yes\n", AGENT("3"), ""},
    {"nobody in a pool that does not ask", TYPE "pool web\nnode n1 web four od/a\npod a n1 4 of=web\n", AGENT("1"), ""},
    {"nobody where that says something else", TYPE "pool web room=yes\nnode n1 web four od/a\npod a n1 4 of=web\n", AGENT("1"), ""},
    {"not who may not be evicted", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web stays=yes\npod b n1 2 of=web\n", AGENT("1"), "n1: b\n"},
    {"nor whom a budget holds", TYPE ROOM "node n1 web four od/a\npod a n1 2 of=web app=x\npod b n1 2 of=web\npdb keep x 0\n", AGENT("1"), "n1: b\n"},
    {"nor who is of higher priority", TYPE ROOM "node n1 web four od/a\npod a n1 1 of=web priority=5\npod b n1 3 of=web\n", AGENT("1"), "n1: b\n"},
    {"nor were that cheaper", TYPE ROOM "node n1 web four od/a\npod a n1 1 of=web priority=5\npod b n1 3 of=web cost=1000\n", AGENT("1"), "n1: b\n"},
    {"who is of the DaemonSet's priority is", TYPE ROOM "node n1 web four od/a\npod a n1 1 of=web priority=5\npod b n1 3 of=web priority=6\n",
     AGENT_WITH("1", "priority: 5"), "n1: a\n"},
    {"nor whom nobody would make again", TYPE ROOM "node n1 web four od/a\npod a n1 2\npod b n1 2 of=web\n", AGENT("1"), "n1: b\n"},
    {"a DaemonSet for other nodes is none", TYPE ROOM "node n1 web four od/a\npod a n1 4 of=web\n", AGENT_WITH("1", "nodeSelector: {no: where}"),
     ""},
    {"as many nodes at a time as the budget lets go", TYPE "pool web room=true budget=1\nnode m1 web four od/a\nnode n1 web four od/a\n"
                                                           "pod a m1 4 of=web\npod b n1 4 of=web\n",
     AGENT("1"), "m1: a\n"},
    {"nobody while a pod of the node still ends", TYPE ROOM "node n1 web four od/a\nnode n2 web four od/a\npod a n1 2 of=web\n", AGENT("1") ENDS("b", "n1", "2"), ""},
    {"which uses up the budget", TYPE "pool web room=true budget=1\nnode m1 web four od/a\nnode n1 web four od/a\n"
                                      "pod a m1 2 of=web\npod c n1 4 of=web\n",
     AGENT("1") ENDS("b", "m1", "2"), ""},
    {"nothing on one that leaves", TYPE ROOM "node n1 web four od/a deleting=yes\npod a n1 4 of=web\n", AGENT("1"), ""},
};

static void who_makes_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf got = {0};
        cluster_init(&c);
        fleet_add(&c, rows[i].fleet);
        cluster_add(&c, rows[i].agent);
        cluster_plan(&c);
        const struct candidate_facts facts = {.budgets = &c.world->budgets, .now = c.plan_options.now};
        const struct daemon_room *list;
        uint32_t count = daemon_room_find(&c.arena, c.world, &facts, &list);
        for (uint32_t k = 0; k < count; k++) {
            buf_addf(&got, "%.*s:", SPAN_ARG(world_node_at(c.world, list[k].row)->name));
            for (uint32_t n = 0; n < list[k].count; n++)
                buf_addf(&got, " %.*s", SPAN_ARG(list[k].pods[n]->meta.name));
            buf_addf(&got, "\n");
        }
        if (!span_eq(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\", want \"%s\"", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
        buf_release(&got);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_makes_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
