/* support_scenario: a scenario of the checklist (spec node-groups 8) on a virtual clock: the test cloud, pods by a script,
 * a pass every ten seconds with a memory between them, and a log of what a person would notice.
 *
 * A script is lines "MINUTES:SECONDS COMMAND ARGUMENTS":
 *   nodes GROUP N                 ready nodes that have been there for an hour
 *   pods NAME N CPU [KEY=VALUE…] [| SPEC [| METADATA]]
 *                                 of a ReplicaSet of the name, with the label app, called NAME-0 …; created a minute ago;
 *                                 KEYs: age (seconds), on (a node, where they run), nominated (a node), ns, mem, gpu
 *                                 (how many), port (of the host); naked= (no controller), unseen= (by the scheduler)
 *   end NAME                      of these pods
 *   delays GROUP LISTED REGISTERED READY   in seconds from the growth: 0 60 90 unless said
 *   next GROUP N FATE             of so many machines to come, -1: of all: well, never, silent, unready,
 *                                 leaving, fails CLASS CODE MESSAGE
 *   machines GROUP N              come without having been asked for
 *   unready NODE | ready NODE | cordon NODE | uncordon NODE | lose MACHINE | vanish MACHINE
 *   annotate NODE KEY VALUE | label NODE KEY VALUE | taint NODE KEY EFFECT
 *   cores NODE N                  it is of another size than its group's
 *   refuse GROUP | accept GROUP   to grow
 *   keep GROUP | release GROUP    what is to be removed
 *   taints off | taints on        whether the API server takes taints
 *   removal SECONDS               how long one takes, 5 unless said
 *   slow GROUP SECONDS            how long what was deleted is listed still, 0 unless said
 *   unknown NODE                  a removal that the autoscaler knows nothing of: the taint alone
 *   softly NODE SECONDS           a soft taint of so long ago, found when the autoscaler starts
 *   priorities YAML               those of the priority expander's ConfigMap, on one line
 *   target GROUP N                by somebody else
 *   bare GROUP                    its provider knows no template from now on
 *   scheduler off | scheduler on
 *   restart                       of the autoscaler: nothing is remembered
 *   unbuffered                    there is no CapacityBuffer any more
 *   object YAML                   anything else
 *
 * Which of the checklist are told by which test (those of a number that a row of its begins with):
 *   9 to 21, 24, 47, 48, 102, 103, 105 to 112, 114, 115, 177, 179     test_scenarios_registry
 *   29 to 33, 35 to 39, 42 to 46, 175, 176, 49 to 56, 58 to 67, 69 to 75, 77 to 86, 89 to 100, 173, 178, 180, 183, 185, 187, 189,
 *   193                                                               test_scenarios_up
 *   188                                                               test_up
 *   132, 136, 140 to 149, 156, 157, 162, 163, 165 to 167, 196 to 198, 202    test_scenarios_down
 *   102 to 105, 108 to 110, 186 (who has no template is backed off, too)   test_memory
 *   17 to 19, 107, 109, 110, 184                                      test_found
 *   116 to 138, 168                                                   test_drain, test_utilization, test_down
 *   87, 204                                                           tests/server/test_plan_groups
 *   12, 22, 26 to 28, 150, 151, 155, 158 to 161, 164, 166, 173, 174, 182    tests/sim/test_loop_groups
 *   34                                                                tests/sim/test_loop_groups (by what the nodes were)
 *   1 to 3, 101, 152 to 154, 199, 200                                 tests/sim/test_loop_groups_rounds
 *   181                                                               tests/kube/test_lease
 *   4, 6 to 8                                                         tests/server/test_loop_health
 *   169 to 172, 191                                                   test_requests, tests/sim/test_loop_requests
 * Otherwise here, and why, in docs/differences.md, "The loop around the passes": 1, 5, 25, 154, 181, 194, 200.
 * Open here:
 *   40, 41: a provider's; 57, 192: how long a search takes; 76, 201, 203: chance, of which we have none
 *   190: what a node costs is measured once a pass, so that no plan can come to nothing; 195: lookups do not fail offline
 *   23, 68, 113, 139: of version 1.20 alone; 88: the expander grpc is left out
 *
 * The log has, with the time: "a 0->3"; "a refused"; "a timed out", "a fails N CODE" and "a backed off until 12:30";
 * "delete a-1"; "a shrinks to 2"; "unhealthy"; "error"; "remove a-1", "drain a-1", "a-1 gone", "a-1 kept", "not tainted". */
#ifndef TESTS_PLANNER_GROUPS_SUPPORT_SCENARIO_H
#define TESTS_PLANNER_GROUPS_SUPPORT_SCENARIO_H

#include "planner/groups/flags.h"

/* What else is told, when it changes. */
enum scenario_watch {
    WATCH_UNNEEDED = 1,     /* "a-1 unneeded", "a-1 needed" */
    WATCH_UP = 2,           /* result of scale-up */
    WATCH_DOWN = 4,         /* of scale-down */
    WATCH_STATUS = 8,       /* of groups: "a InProgress", "a Unhealthy"… */
    WATCH_LEFT = 16,        /* pods that no group takes: "web-0: 1 Insufficient cpu"; groups skipped: "a skipped: …" */
    WATCH_STAYS = 32,       /* nodes that stay: "a-1 stays: NotUnderutilized" */
    WATCH_COUNTS = 64,      /* of groups: "a 1 of 3 ready, 1 starting, 1 unready, 1 unregistered, 1 late" */
    WATCH_OPTIONS = 128,    /* options of scale-up: "a: 2 nodes for 3", and how many are equally good: "best: a, b" */
    WATCH_FOR = 256,        /* the pods that growth is for: "for web-0 web-1" */
};

struct scenario {
    const char *name;
    const char *groups; /* the file of groups */
    const char *script;
    const char *want;   /* entries of the log, each ends with "; " */
    unsigned watch;
    int end;            /* minutes; 0: a single pass at 0:00 */
    int every;          /* seconds; 0: 10 */
    void (*flags)(struct group_flags *f);
};

/* Runs them all; fails the test when the log of one is another. */
void scenarios_run(const struct scenario *rows, size_t count);

#endif
