/* Removal over time: scenarios 132, 136, 140 to 149, 156, 157, 162, 163, 165 to 167, 196 to 198, 202 of spec node-groups 8. Nobody waits for a
 * removal here: it takes five seconds unless said otherwise, so that it has ended by the next pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_groups.h"
#include "support_scenario.h"

static void three_at_once(struct group_flags *f) { f->max_parallelism = 3; }
static void no_time(struct group_flags *f) { f->scaling.unneeded_time = 0; }
static void sixteen_cores(struct group_flags *f) { f->cores_min = 16; }
static void two_drains(struct group_flags *f) { f->max_drains = 2; }
static void never_down(struct group_flags *f) { f->scale_down_enabled = false; }
static void local_delays(struct group_flags *f) { f->delay_type_local = true; }
static void twenty_cores(struct group_flags *f) { f->cores_min = 20; }
static void three_and_then_rest(struct group_flags *f)
{
    f->max_parallelism = 3;
    f->delay_after_delete = 5 * MS_MINUTE;
}

static void as_upstream(struct group_flags *f) { f->as_upstream = true; }

#define BUDGET(policy)                                                                                                 \
    "0:00 object {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {selector: {matchLabels: {app: " \
    "web}}, unhealthyPodEvictionPolicy: " policy "}, status: {disruptionsAllowed: 0}}\n0:00 nodes a 1\n0:00 nodes b 1\n"     \
    "0:00 pods web 1 1 on=a-1\n"
/* A node goes ten minutes after its pods, and 18 later they come again. */
#define COMES_AGAIN                                                                                                    \
    "0:00 nodes a 1\n0:00 nodes b 1\n0:00 pods full 1 3 on=b-1\n0:00 pods web 1 3 on=a-1\n2:00 end web\n30:00 pods api 1 3\n"     \
    "40:00 end api\n"
#define WHOLE GROUPS(G_WITH("a", 0, 4, "options: {zeroOrMaxNodeScaling: true}"))
#define A GROUPS(G("a", 0, 9))
#define A_AND_ROOM GROUPS(G("a", 0, 9) G("b", 1, 9))
#define EVICT "annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: on-completion}, "

static const struct scenario rows[] = {
    {"scenario 140: 10 minutes, and a tick", A, "0:00 nodes a 1", "10:10 remove a-1; 10:20 a-1 gone; ", .end = 11},
    {"scenario 141: an unready one 20", A, "0:00 nodes a 1\n0:00 unready a-1", "20:10 remove a-1; 20:20 a-1 gone; ", .end = 21},
    {"scenario 141: its clock runs on when it turns unready", A, "0:00 nodes a 1\n9:00 unready a-1",
     "20:10 remove a-1; 20:20 a-1 gone; ", .end = 21},
    {"scenario 141: and when it turns ready again 10 are enough", A, "0:00 nodes a 1\n9:00 unready a-1\n12:00 ready a-1",
     "12:00 remove a-1; 12:10 a-1 gone; ", .end = 13},
    {"scenario 141: a group's own times", GROUPS(G_WITH("a", 0, 9, "options: {scaleDownUnneededTime: 2m, scaleDownUnreadyTime: 4m}")),
     "0:00 nodes a 2\n0:00 unready a-2", "2:10 remove a-1; 2:20 a-1 gone; 4:10 remove a-2; 4:20 a-2 gone; ", .end = 5},
    {"scenario 142: busy for a tick, and the clock is lost", A, "0:00 nodes a 1\n9:00 pods web 1 3\n9:10 end web",
     "0:00 a-1 unneeded; 9:00 a-1 needed; 9:10 a-1 unneeded; 19:20 remove a-1; 19:30 a-1 gone; 19:30 a-1 needed; ",
     .watch = WATCH_UNNEEDED, .end = 20},
    {"scenario 143: 10 minutes after a growth; the clocks run meanwhile", A_AND_ROOM,
     "0:00 nodes a 1\n0:00 nodes b 1\n0:00 pods full 1 3 | nodeSelector: {pool: b}, \n2:00 pods web 1 3 | nodeSelector: {pool: b}, ",
     "0:00 ScaleDownNoNodeDeleted; 2:00 ScaleDownInCooldown; 2:00 b 1->2; 12:00 ScaleDownNodeDeleteStarted; 12:00 remove a-1; 12:10 a-1 gone; "
     "12:10 ScaleDownNoNodeDeleted; ",
     .watch = WATCH_DOWN, .end = 13},
    {"scenario 144: three at once, the others as these end", A, "0:00 nodes a 5",
     "10:10 remove a-1; 10:10 remove a-2; 10:10 remove a-3; 10:20 a-1 gone; 10:20 a-2 gone; 10:20 a-3 gone; 10:20 remove a-4; "
     "10:20 remove a-5; 10:30 a-4 gone; 10:30 a-5 gone; ",
     .end = 11, .flags = three_at_once},
    {"scenario 144: while they are under way, none more", A, "0:00 nodes a 5\n0:00 removal 25",
     "10:10 remove a-1; 10:10 remove a-2; 10:10 remove a-3; 10:40 a-1 gone; 10:40 a-2 gone; 10:40 a-3 gone; 10:40 remove a-4; "
     "10:40 remove a-5; ",
     .end = 11, .flags = three_at_once},
    {"scenario 144: nor before the delay that was asked for", A, "0:00 nodes a 5",
     "10:10 remove a-1; 10:10 remove a-2; 10:10 remove a-3; 10:20 a-1 gone; 10:20 a-2 gone; 10:20 a-3 gone; 15:10 remove a-4; "
     "15:10 remove a-5; 15:20 a-4 gone; 15:20 a-5 gone; ",
     .end = 16, .flags = three_and_then_rest},
    {"scenario 145, 202: down to the minimum, the first by name", GROUPS(G("a", 2, 9)), "0:00 nodes a 4",
     "10:10 remove a-1; 10:10 remove a-2; 10:20 a-1 gone; 10:20 a-2 gone; ", .end = 15},
    {"scenario 146: empty ones, and a drain beside them", A_AND_ROOM,
     "0:00 nodes a 2\n0:00 nodes b 1\n0:00 pods web 1 1 on=a-2", "10:10 remove a-1; 10:10 drain a-2; 10:20 a-1 gone; 10:20 a-2 gone; ",
     .end = 12},
    {"scenario 147: one drain at a time", A_AND_ROOM,
     "0:00 nodes a 2\n0:00 nodes b 1\n0:00 pods web 1 1 on=a-1\n0:00 pods api 1 1 on=a-2\n0:00 removal 25",
     "10:10 drain a-1; 10:40 a-1 gone; 10:40 drain a-2; 11:10 a-2 gone; ", .end = 12},
    {"scenario 147: or two", A_AND_ROOM,
     "0:00 nodes a 2\n0:00 nodes b 1\n0:00 pods web 1 1 on=a-1\n0:00 pods api 1 1 on=a-2\n0:00 removal 25",
     "10:10 drain a-1; 10:10 drain a-2; 10:40 a-1 gone; 10:40 a-2 gone; ", .end = 12, .flags = two_drains},
    {"scenario 148: the cluster keeps its cores", GROUPS(G_OF("a", 0, 9, "", "cpu: 8, memory: 16Gi", "")), "0:00 nodes a 3",
     "0:00 a-1 stays: NotUnneededLongEnough, a-2 stays: NotUnneededLongEnough, a-3 stays: NotUnneededLongEnough; "
     "10:10 a-1 stays: MinimalResourceLimitExceeded, a-2 stays: MinimalResourceLimitExceeded, a-3 stays: "
     "MinimalResourceLimitExceeded; ",
     .watch = WATCH_STAYS, .end = 12, .flags = twenty_cores},
    {"scenario 197: also while one is on its way out", GROUPS(G_OF("a", 0, 9, "", "cpu: 8, memory: 16Gi", "")),
     "0:00 nodes a 3\n0:00 pods full 1 7 on=a-3\n0:00 removal 25", "10:10 remove a-1; 10:40 a-1 gone; ", .end = 12,
     .flags = sixteen_cores},
    {"a group whose nodes are not counted has nothing to lose", GROUPS(G_OF("a", 0, 9, ", type: virtual-kubelet", "cpu: 8, memory: 16Gi", "")),
     "0:00 nodes a 1", "0:00 a-1 stays: NotUnneededLongEnough; 10:10 a-1 stays: MinimalResourceLimitExceeded; ", .watch = WATCH_STAYS,
     .end = 11},
    {"scenario 149: taints that are not taken: three minutes of rest", A, "0:00 nodes a 1\n10:00 taints off\n11:00 taints on",
     "0:00 ScaleDownNoNodeDeleted; 10:10 ScaleDownNodeDeleteStarted; 10:10 not tainted; 10:20 ScaleDownInCooldown; 13:10 ScaleDownNodeDeleteStarted; "
     "13:10 remove a-1; 13:20 a-1 gone; 13:20 ScaleDownNoCandidates; ",
     .watch = WATCH_DOWN, .end = 14},
    {"scenario 156: what its cloud keeps goes in the next pass, if none saw it leave", A,
     "0:00 nodes a 1\n0:00 keep a\n10:15 release a", "10:10 remove a-1; 10:20 a-1 gone; ", .end = 11},
    {"scenario 156: at once", A, "0:00 nodes a 1\n0:00 keep a\n10:25 release a",
     "10:10 remove a-1; 10:20 a-1 kept; 10:20 remove a-1; 10:30 a-1 gone; ", .end = 11},
    {"scenario 156: else its clock begins anew", A, "0:00 nodes a 1\n0:00 keep a\n0:00 removal 25\n10:45 release a",
     "10:10 remove a-1; 10:40 a-1 kept; 20:50 remove a-1; ", .end = 21},
    {"scenario 157: a removal that nobody ends is believed for 5 minutes", A, "0:00 nodes a 1\n0:00 unknown a-1",
     "0:00 a-1 stays: CurrentlyBeingDeleted; 5:00 a-1 stays: NotUnneededLongEnough; 15:10 remove a-1; 15:20 a-1 gone; ",
     .watch = WATCH_STAYS, .end = 16},
    {"scenario 162: a part of what goes as a whole stays", WHOLE, "0:00 nodes a 4\n0:00 pods full 1 3 on=a-4",
     "0:00 a-1 stays: AtomicScaleDownFailed, a-2 stays: AtomicScaleDownFailed, a-3 stays: AtomicScaleDownFailed, a-4 stays: "
     "NotUnderutilized; ",
     .watch = WATCH_STAYS, .end = 1, .flags = no_time},
    {"scenario 162: until all may go", WHOLE, "0:00 nodes a 4\n0:00 pods full 1 3 on=a-4\n12:00 end full",
     "22:10 remove a-1; 22:10 remove a-2; 22:10 remove a-3; 22:10 remove a-4; 22:20 a-1 gone; 22:20 a-2 gone; 22:20 a-3 gone; "
     "22:20 a-4 gone; ",
     .end = 23},
    {"scenario 163: more than may go at once, for it is one", WHOLE, "0:00 nodes a 4",
     "10:10 remove a-1; 10:10 remove a-2; 10:10 remove a-3; 10:10 remove a-4; 10:20 a-1 gone; 10:20 a-2 gone; 10:20 a-3 gone; "
     "10:20 a-4 gone; ",
     .end = 11, .flags = three_at_once},
    {"scenario 165: growth alone", A, "0:00 nodes a 1\n30:00 pods web 2 3", "30:00 a 1->2; ", .end = 31, .flags = never_down},
    {"scenario 166: its soft taint says since when", A, "0:00 nodes a 1\n0:00 softly a-1 480", "2:10 remove a-1; 2:20 a-1 gone; ",
     .end = 3},
    {"scenario 167: each group has its own rest", GROUPS(G("a", 0, 9) G("b", 0, 9)),
     "0:00 nodes a 2\n0:00 nodes b 1\n0:00 pods full 1 3 on=a-1\n9:00 pods web 2 3 | nodeSelector: {pool: a}, \n9:50 end web",
     "9:00 a 2->3; 10:10 remove b-1; 10:20 b-1 gone; 29:10 remove a-2; 29:10 remove a-3; 29:20 a-2 gone; 29:20 a-3 gone; ", .end = 30,
     .flags = local_delays},
    {"scenario 136: where its pods find no place it is not asked again for 5 minutes", A_AND_ROOM,
     "0:00 nodes a 1\n0:00 nodes b 1\n0:00 pods web 1 1 on=a-1 | nodeSelector: {pool: a}, ",
     "0:00 a-1 stays: NoPlaceToMovePods; 0:10 a-1 stays: RecentlyUnremovable; 5:00 a-1 stays: NoPlaceToMovePods; "
     "5:10 a-1 stays: RecentlyUnremovable; ",
     .watch = WATCH_STAYS, .end = 6},
    {"scenario 132: the clock runs while a pod is to end by itself", A, "0:00 nodes a 1\n0:00 pods web 1 1 on=a-1 | | " EVICT "\n12:00 end web",
     "0:00 a-1 stays: NotUnneededLongEnough; 10:10 a-1 stays: BlockedByOnCompletionPod; 12:00 remove a-1; 12:10 a-1 gone; ",
     .watch = WATCH_STAYS, .end = 13},
    {"scenario 196: a pod that is not healthy goes where its budget lets such go", A_AND_ROOM, BUDGET("AlwaysAllow"),
     "0:00 a-1 stays: NotUnneededLongEnough; ", .watch = WATCH_STAYS},
    {"scenario 196: and not where it does not", A_AND_ROOM, BUDGET("IfHealthyBudget"),
     "0:00 a-1 stays: BlockedByPod web-0 NotEnoughPdb; ", .watch = WATCH_STAYS},
    {"scenario 196: as upstream, never", A_AND_ROOM, BUDGET("AlwaysAllow"),
     "0:00 a-1 stays: BlockedByPod web-0 NotEnoughPdb; ", .watch = WATCH_STAYS, .flags = as_upstream},
    {"what is bought again within the hour stays for longer the next time", A_AND_ROOM, COMES_AGAIN,
     "12:10 remove a-1; 12:20 a-1 gone; 30:00 a 0->1; 95:30 remove a-2; 95:40 a-2 gone; ", .end = 100},
    {"until it is bought later than that", A_AND_ROOM, COMES_AGAIN "200:00 pods web 1 3\n210:00 end web\n",
     "12:10 remove a-1; 12:20 a-1 gone; 30:00 a 0->1; 95:30 remove a-2; 95:40 a-2 gone; 200:00 a 0->1; 220:10 remove a-3; 220:20 a-3 gone; ",
     .end = 225},
    {"but no longer than three hours", A_AND_ROOM,
     "0:00 nodes a 1\n0:00 nodes b 1\n0:00 pods full 1 3 on=b-1\n60:00 pods web 1 3\n61:00 end web\n230:00 pods web 1 3\n231:00 end web\n",
     "10:10 remove a-1; 10:20 a-1 gone; 60:00 a 0->1; 181:00 remove a-2; 181:10 a-2 gone; 230:00 a 0->1; 411:40 remove a-3; 411:50 a-3 gone; ",
     .end = 415},
    {"as upstream it does not", A_AND_ROOM, COMES_AGAIN, "12:10 remove a-1; 12:20 a-1 gone; 30:00 a 0->1; 50:10 remove a-2; 50:20 a-2 gone; ",
     .end = 100, .flags = as_upstream},
    {"scenario 198: who waits for its pod takes no one's turn",
     GROUPS(G("a", 2, 9)), "0:00 nodes a 3\n0:00 pods full 1 3 on=a-3\n0:00 pods web 1 1 on=a-1 | | " EVICT,
     "10:10 remove a-2; 10:20 a-2 gone; ", .end = 12},
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
