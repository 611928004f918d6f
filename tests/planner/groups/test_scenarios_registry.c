/* Health, repairs, requests and back-off over time: scenarios 9 to 21, 24, 47, 48, 102, 103, 105 to 111, 112 with 17, 114,
 * 115, 177, 179, 184 (in test_found.c) of spec node-groups 8. A pass that sees that a time is over is the first tick after
 * it: comparisons are strict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_groups.h"
#include "support_scenario.h"

static void from_nodes_only(struct group_flags *f) { f->scale_up_from_zero = false; }
static void force_unregistered(struct group_flags *f) { f->force_delete_unregistered = true; }
static void as_upstream(struct group_flags *f) { f->as_upstream = true; }
static void enforce_minimum(struct group_flags *f) { f->enforce_min_size = true; }

#define A GROUPS(G("a", 0, 9))

static const struct scenario rows[] = {
    {"scenario 9: nobody is there to take a template of, and nothing is to grow from nothing", A, "0:00 pods web 1 3",
     "0:00 ScaleUpNotTried; ", .watch = WATCH_UP, .end = 1, .flags = from_nodes_only},
    {"scenario 179: cordoned nodes are not ready ones, and what was unneeded is forgotten", A,
     "0:00 nodes a 2\n5:00 cordon a-1\n5:00 cordon a-2\n6:00 uncordon a-1\n6:00 uncordon a-2",
     "0:00 a-1 unneeded; 0:00 a-2 unneeded; 5:00 a-1 needed; 5:00 a-2 needed; 6:00 a-1 unneeded; 6:00 a-2 unneeded; "
     "16:10 remove a-1; 16:10 remove a-2; 16:20 a-1 gone; 16:20 a-2 gone; 16:20 a-1 needed; 16:20 a-2 needed; ",
     .watch = WATCH_UNNEEDED, .end = 17, .flags = from_nodes_only},
    {"scenario 10: from nothing", GROUPS(G("a", 0, 3)), "0:00 pods web 1 3", "0:00 a 0->1; ", .end = 5},
    {"scenario 11: 4 of 10 nodes unready are not too many", GROUPS(G("a", 0, 20)),
     "0:00 nodes a 10\n0:00 pods full 10 3\n1:00 unready a-1\n1:00 unready a-2\n1:00 unready a-3\n1:00 unready a-4\n"
     "2:00 pods web 1 3",
     "2:00 a 10->11; ", .end = 3},
    {"scenario 12: 4 of 8 are, and what was unneeded is forgotten", GROUPS(G("a", 0, 20)),
     "0:00 nodes a 8\n0:00 pods full 7 3\n5:00 unready a-1\n5:00 unready a-2\n5:00 unready a-3\n5:00 unready a-4\n"
     "5:30 pods web 2 3\n6:00 ready a-1",
     "0:00 a-8 unneeded; 5:00 unhealthy; 5:00 a-8 needed; 6:00 healthy; 6:00 a 8->9; ",
     .watch = WATCH_UNNEEDED, .end = 7},
    {"scenario 13: 3 of 4 are not", GROUPS(G("a", 0, 20)),
     "0:00 nodes a 4\n0:00 pods full 4 3\n1:00 unready a-1\n1:00 unready a-2\n1:00 unready a-3\n2:00 pods web 1 3",
     "2:00 a 4->5; ", .end = 3},
    {"scenario 14: a machine that has not registered in 15 minutes goes, and the pass goes on", A,
     "0:00 next a 1 silent\n0:00 machines a 1\n0:00 target a 1\n15:10 pods web 1 3", "15:10 delete a-1; 15:10 a 0->1; ", .end = 16},
    {"scenario 15: not below the minimum", GROUPS(G("a", 1, 9)), "0:00 next a 1 silent\n0:00 machines a 1\n0:00 target a 1",
     "", .end = 17},
    {"scenario 15: but by force", GROUPS(G("a", 1, 9)), "0:00 next a 1 silent\n0:00 machines a 1\n0:00 target a 1",
     "15:10 delete a-1; ", .end = 16, .flags = force_unregistered},
    {"scenario 16: as many as the minimum allows, the first ones", GROUPS(G("a", 3, 9)),
     "0:00 nodes a 1\n0:00 pods full 1 3\n0:00 next a -1 silent\n0:00 machines a 5\n0:00 target a 6",
     "15:10 delete a-2; 15:10 delete a-3; 15:10 delete a-4; ", .end = 16},
    {"scenario 17, 112: a target that nobody comes for is lowered, and the group is well again", A,
     "0:00 nodes a 4\n0:00 pods full 4 3\n0:00 target a 8\n0:00 pods web 1 3",
     "0:00 a Unhealthy; 15:10 a shrinks to 4; 15:20 a InProgress; 15:20 a 4->5; 16:50 a NoActivity; ",
     .watch = WATCH_STATUS, .end = 17},
    {"scenario 17: of a group that has no machine, as upstream: it is waited for for ever", A, "0:00 target a 1\n40:00 pods web 1 3",
     "", .end = 60, .flags = as_upstream},
    {"scenario 17: and here no longer than for others", A, "0:00 target a 1\n40:00 pods web 1 3",
     "15:10 a shrinks to 0; 40:00 a 0->1; ", .end = 60},
    {"scenario 18: a mismatch that has changed begins anew", A,
     "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 target a 3\n10:00 target a 4", "25:10 a shrinks to 2; ", .end = 26},
    {"scenario 19: too many are not too bad", A, "0:00 nodes a 5\n0:00 pods full 5 3\n0:00 target a 3", "", .end = 60,
     .every = 60},
    {"scenario 20: a target that its provider does not lower ends the pass, as upstream has it", A,
     "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 next a 2 leaving\n0:00 machines a 2\n0:00 target a 4\n15:10 pods web 1 3",
     "15:10 error: failed to decrease group a from 4 to 2: it has 4 instances, which may not be deleted so; ", .end = 16,
     .flags = as_upstream},
    {"scenario 20: and is let alone here, while groups grow", A,
     "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 next a 2 leaving\n0:00 machines a 2\n0:00 target a 4\n15:10 pods web 1 3",
     "15:10 a 4->5; ", .end = 16},
    {"scenario 20: a machine that could not be made, and that the minimum keeps, is ended when the group grows", GROUPS(G("a", 1, 9)),
     "0:00 next a 1 fails OutOfResources QUOTA none left\n0:00 machines a 1\n0:00 target a 1\n16:10 pods web 1 3",
     "16:10 a 1->2; 16:20 delete a-1; ", .end = 17},
    {"scenario 20: or is brought to its minimum, once it is not backed off", GROUPS(G("a", 1, 9) G("b", 0, 9)),
     "0:00 nodes b 1\n0:00 pods full 1 3\n1:00 next a 1 fails OutOfResources QUOTA none left\n1:00 machines a 1\n1:00 target a 1",
     "0:00 a 0->1; 1:00 a fails 1 QUOTA; 1:00 a backed off until 6:00; 6:10 a 1->2; 6:20 delete a-2; ", .end = 17,
     .flags = enforce_minimum},
    {"scenario 21, 110: what could not be made is deleted until it is gone, and told of once", A,
     "0:00 nodes a 1\n0:00 pods full 1 3\n0:00 slow a 25\n0:00 next a 1 fails OutOfResources QUOTA none left\n0:00 pods web 1 3",
     "0:00 a 1->2; 0:10 a fails 1 QUOTA; 0:10 delete a-2; 0:10 a backed off until 5:10; 0:20 delete a-2; 0:30 delete a-2; "
     "5:20 a 1->2; ",
     .end = 6},
    {"scenario 24: a restart has no cool-down, but forgets since when a node was unneeded", A, "0:00 nodes a 1\n5:00 restart",
     "15:10 remove a-1; 15:20 a-1 gone; ", .end = 16},
    {"scenario 47: who waits for machines asks for no more", A, "0:00 pods web 2 3", "0:00 a 0->2; ", .end = 3},
    {"scenario 48: one that did not come in time is not counted on, and another group grows", GROUPS(G("a", 0, 9) G("b", 0, 9)),
     "0:00 next a 1 silent\n0:00 pods web 1 3",
     "0:00 a 0->1; 15:10 a timed out, not reverted; 15:10 b 0->1; 15:10 a backed off until 20:10; 15:20 delete a-1; ", .end = 17},
    {"scenario 102: who would not grow is left alone for 5 minutes", A, "0:00 refuse a\n0:00 pods web 1 3\n1:00 accept a",
     "0:00 a refused; 0:00 a backed off until 5:00; 0:10 web-0: 1 in backoff after failed scale-up, a skipped: in backoff after "
     "failed scale-up; 5:10 a 0->1; ",
     .watch = WATCH_LEFT, .end = 6},
    {"scenario 103: and for longer each time, up to half an hour", A, "0:00 refuse a\n0:00 pods web 1 3",
     "0:00 a refused; 0:00 a backed off until 5:00; 5:10 a refused; 5:10 a backed off until 15:10; 15:20 a refused; "
     "15:20 a backed off until 35:20; 35:30 a refused; 35:30 a backed off until 65:30; 65:40 a refused; "
     "65:40 a backed off until 95:40; ",
     .end = 95},
    {"scenario 105: after three quiet hours it is 5 minutes again", A,
     "0:00 refuse a\n0:00 pods web 1 3\n1:00 accept a\n181:00 refuse a\n181:00 pods api 1 3",
     "0:00 a refused; 0:00 a backed off until 5:00; 6:00 a 0->1; 181:00 a refused; 181:00 a backed off until 186:00; ",
     .end = 182, .every = 60},
    {"scenario 105: on the hour it is not", A,
     "0:00 refuse a\n0:00 pods web 1 3\n1:00 accept a\n180:00 refuse a\n180:00 pods api 1 3",
     "0:00 a refused; 0:00 a backed off until 5:00; 6:00 a 0->1; 180:00 a refused; 180:00 a backed off until 190:00; ",
     .end = 182, .every = 60},
    {"scenario 106: a success does not shorten it", A,
     "0:00 refuse a\n0:00 pods web 1 3\n1:00 accept a\n20:00 refuse a\n20:00 pods api 1 3",
     "0:00 a refused; 0:00 a backed off until 5:00; 5:10 a 0->1; 20:00 a refused; 20:00 a backed off until 30:00; ", .end = 21},
    {"scenario 107: one of three came, so that the request is not taken back, but the target is right later", A,
     "0:00 next a 2 never\n0:00 pods web 3 3",
     "0:00 a 0->3; 15:10 a timed out, not reverted; 15:10 a backed off until 20:10; 16:10 a shrinks to 1; 20:20 a 1->3; ", .end = 22},
    {"scenario 107: none came, and it is taken back", A, "0:00 next a 3 never\n0:00 pods web 3 3",
     "0:00 a 0->3; 15:10 a timed out; 15:10 a shrinks to 0; 15:10 a backed off until 20:10; 20:20 a 0->3; ", .end = 22},
    {"scenario 108: what is asked for in the meantime restarts the clock for all of it", A,
     "0:00 next a -1 never\n0:00 pods web 2 3\n10:00 pods api 3 3",
     "0:00 a 0->2; 10:00 a 2->5; 25:10 a timed out; 25:10 a shrinks to 0; 25:10 a backed off until 30:10; ", .end = 26},
    {"scenario 109: one fewer is waited for", A, "0:00 next a 1 fails OutOfResources QUOTA none left\n0:00 pods web 2 3",
     "0:00 a 0 of 2 ready; 0:00 a 0->2; 0:10 a fails 1 QUOTA; 0:10 a 0 of 1 ready, 1 unregistered; 0:10 delete a-1; "
     "0:10 a backed off until 5:10; 1:00 a 0 of 1 ready, 1 starting; 1:30 a 1 of 1 ready; 5:20 a 1 of 2 ready; 5:20 a 1->2; "
     "5:30 a 1 of 2 ready, 1 unregistered; ",
     .watch = WATCH_COUNTS, .end = 6},
    {"scenario 109: and who is backed off is not counted on: another group grows at once", GROUPS(G("a", 0, 9) G("b", 0, 9)),
     "0:00 next a 1 fails OutOfResources QUOTA none left\n0:00 pods web 2 3",
     "0:00 a 0->2; 0:10 a fails 1 QUOTA; 0:10 delete a-1; 0:10 b 0->2; 0:10 a backed off until 5:10; ", .end = 1},
    {"scenario 111: not ready, and young enough; then not", A, "0:00 next a 1 unready\n0:00 pods web 1 3",
     "0:00 a 0 of 1 ready; 0:00 a 0->1; 0:10 a 0 of 1 ready, 1 unregistered; 1:00 a 0 of 1 ready, 1 starting; "
     "15:10 a timed out, not reverted; 15:10 a backed off until 20:10; 16:00 a 0 of 1 ready, 1 unready; ",
     .watch = WATCH_COUNTS, .end = 17},
    {"scenario 114: who is late or unready is not still to come", GROUPS(G("a", 5, 9)),
     "0:00 nodes a 3\n0:00 pods full 3 3\n0:10 unready a-1\n0:00 next a 1 silent\n0:00 machines a 1\n0:00 target a 4\n"
     "15:00 next a -1 never\n15:00 pods web 1 3\n16:00 pods api 1 3",
     "15:00 a 4->5; 16:00 a 5->6; ", .end = 16},
    {"scenario 115: who is still to come does not make a group unwell", GROUPS(G("a", 0, 20)),
     "0:00 next a -1 never\n0:00 pods web 10 3\n5:00 pods api 1 3", "0:00 a InProgress; 0:00 a 0->10; 5:00 a 10->11; ",
     .watch = WATCH_STATUS, .end = 6},
    {"3.13: nothing or all", GROUPS(G_WITH("a", 0, 4, "options: {zeroOrMaxNodeScaling: true}")), "0:00 pods web 1 3", "0:00 a 0->4; ",
     .end = 5},
    {"3.13: where one of them cannot be made all go", GROUPS(G_WITH("a", 0, 3, "options: {zeroOrMaxNodeScaling: true}")),
     "0:00 next a 1 fails Other E broken\n0:00 pods web 1 3",
     "0:00 a 0->3; 0:10 a fails 1 E; 0:10 delete a-1; 0:10 delete a-2; 0:10 delete a-3; 0:10 a backed off until 5:10; 5:20 a 0->3; ",
     .end = 6},
    {"scenario 177: below its minimum", GROUPS(G("a", 3, 9)), "0:00 nodes a 1", "0:00 a 1->3; ", .end = 5, .flags = enforce_minimum},
};

static void test_rows(void **state)
{
    (void)state;
    scenarios_run(rows, sizeof(rows) / sizeof(rows[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
