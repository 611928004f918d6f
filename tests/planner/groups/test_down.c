/* Which nodes nobody needs, why others stay, and which go (spec node-groups 4; scenarios 121 to 123, 132, 136 to 138, 146,
 * 147, 157, 163, 167 and 168). Nodes have 4 cores; pods are of the ReplicaSet "web" unless said otherwise. */
#include "planner/groups/inner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support_cluster.h"
#include "planner/groups/snapshot/snapshot.h"

#define NODE_OF(name, pool, meta, spec, status)                                                    \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", " meta "labels: {pool: " pool                               \
    ", kubernetes.io/hostname: " name "}}\nspec: {providerID: " name ", " spec "}\n"               \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, capacity: {cpu: 4, memory: 16Gi}, conditions: [{type: Ready, " \
    "status: '" status "'}]}\n"
#define NODE(name, pool) NODE_OF(name, pool, "", "", "True")
#define POD_OF(name, node, cpu, meta, spec)                                                        \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {" meta "name: " name                                                         \
    ", creationTimestamp: '2026-01-01T09:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, "     \
    "uid: u, controller: true}]}\nspec: {nodeName: " node ", " spec "containers: [{name: c, resources: {requests: {cpu: "    \
    cpu "}}}]}\nstatus: {phase: Running}\n"
#define POD(name, node, cpu) POD_OF(name, node, cpu, "", "")
#define GPU_NODE(gpus)                                                                             \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: g1, labels: {pool: a, gpu: t4}}\nspec: {providerID: g1}\n"            \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110, nvidia.com/gpu: " gpus                                          \
    "}, capacity: {cpu: 4, memory: 16Gi}, conditions: [{type: Ready, status: 'True'}]}\n"
#define WEB "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {replicas: 9}\n"
#define BUDGET(allowed)                                                                            \
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {maxUnavailable: 1, selector: "        \
    "{matchLabels: {app: x}}}\nstatus: {disruptionsAllowed: " allowed "}\n"
#define APP "labels: {app: x}, "
#define A(more) "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}" more "}]\n"
#define PRICES(a, b, min, unneeded)                                                               \
    "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}" a "}, {name: b, minSize: " min                       \
    ", maxSize: 9, nodeSelector: {pool: b}" b "}]\nstate: {minPassInterval: 1s, unneeded: {" unneeded "}}\n"
/* Two nodes, and on a third the room that the pods of either need. */
#define ROOM_FOR_ONE                                                                               \
    NODE("n1", "a") NODE("n2", "b") NODE("n3", "c") POD("p", "n1", "1500m") POD("q", "n2", "1500m") POD("r", "n3", "2500m")
#define LONG(nodes) "state: {unneeded: {" nodes "}}\n"
#define SINCE(node) node ": '2026-01-01T11:00:00Z', "
#define ALONE                                                                                      \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "   \
    "labelSelector: {matchLabels: {app: x}}}]}}, "
#define ONLY(pool) "nodeSelector: {pool: " pool "}, "
#define TAINT(seconds) "taints: [{key: ToBeDeletedByClusterAutoscaler, value: '" seconds "', effect: NoSchedule}]"
#define SPREAD                                                                                     \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, "        \
    "labelSelector: {matchLabels: {app: x}}}], "

enum { PLAIN = 0, COOLDOWN = 1, LOCAL = 2, NO_UNREADY = 4, TWO_DRAINS = 8, ONE_AT_ONCE = 16, EIGHT_CORES = 32, ROLLS_OUT = 64,
       AS_UPSTREAM = 128 };

/* The answer: the result, unneeded nodes, "-" and who stays and why, "-" and who goes, capital letters when drained. */
static const struct {
    const char *label, *objects, *groups;
    unsigned how;
    const char *want;
} cases[] = {
    {"an empty node starts its time", NODE("n1", "a") NODE("n2", "a") POD("p", "n2", "3"), A(""), PLAIN,
     "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NotUnderutilized -"},
    {"and goes when it is over", NODE("n1", "a") NODE("n2", "a") POD("p", "n2", "3"), A("") LONG(SINCE("n1")), PLAIN,
     "NodeDeleteStarted n1 - n2 NotUnderutilized - n1"},
    {"116: half used", NODE("n1", "a") NODE("n2", "a") POD("p", "n1", "2") POD("q", "n2", "2001m"), A(""), PLAIN,
     "NoNodeDeleted - n1 NoPlaceToMovePods n2 NotUnderutilized -"},
    {"116: a group's own threshold", NODE("n1", "a") NODE("n2", "a") POD("p", "n2", "3"),
     A(", options: {scaleDownUtilizationThreshold: 0.75}"), PLAIN, "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NoPlaceToMovePods -"},
    {"121: disabled", NODE_OF("n1", "a", "annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: 'true'}, ", "", "True"),
     A(""), PLAIN, "NoNodeDeleted - n1 ScaleDownDisabledAnnotation -"},
    {"121: another word",
     NODE_OF("n1", "a", "annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: 'True'}, ", "", "True"),
     A("") LONG(SINCE("n1")), PLAIN, "NodeDeleteStarted n1 - - n1"},
    {"122: the group is at its minimum", NODE("n1", "a"), "groups: [{name: a, minSize: 1, maxSize: 9, nodeSelector: {pool: a}}]\n",
     PLAIN, "NoCandidates - -"},
    {"whose provider replaces its machines, one after the other", NODE("n1", "a"), A("") LONG(SINCE("n1")), ROLLS_OUT,
     "NoCandidates - -"},
    {"123: nobody's node takes pods, and stays", NODE("n1", "a") NODE("n2", "b") POD("p", "n1", "1"), A("") LONG(SINCE("n1")), PLAIN,
     "NodeDeleteStarted n1 - - N1"},
    {"132: waits for a pod to end",
     NODE("n1", "a") POD_OF("p", "n1", "1", "annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: on-completion}, ", ""),
     A("") LONG(SINCE("n1")), PLAIN, "NoNodeDeleted n1 - n1 BlockedByOnCompletionPod -"},
    {"132: such a node comes after the really empty",
     NODE("n1", "a") POD_OF("p", "n1", "1", "annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: on-completion}, ", "")
         NODE("n2", "a"),
     A("") LONG(SINCE("n1") SINCE("n2")), PLAIN, "NodeDeleteStarted n1 n2 - n1 BlockedByOnCompletionPod - n2"},
    {"136: nobody else is what the pod asks for", NODE("n1", "a") NODE("n2", "b") POD_OF("p", "n1", "1", "", ONLY("a")), A(""),
     PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
    {"136: not asked again before its time", NODE("n1", "a") NODE("n2", "b") POD("p", "n1", "1"),
     A("") "state: {unremovableUntil: {n1: '2026-01-01T12:00:01Z'}}\n", PLAIN, "NoNodeDeleted - n1 RecentlyUnremovable -"},
    {"136: when it is over", NODE("n1", "a") NODE("n2", "b") POD("p", "n1", "1"),
     A("") "state: {unremovableUntil: {n1: '2026-01-01T12:00:00Z'}}\n", PLAIN, "NoNodeDeleted n1 - n1 NotUnneededLongEnough -"},
    {"137: a pod that may not go now", NODE("n1", "a") NODE("n2", "b") POD_OF("p", "n1", "1", APP, "") BUDGET("0"), A(""), PLAIN,
     "NoNodeDeleted - n1 BlockedByPod p NotEnoughPdb -"},
    {"137: the last eviction is the first node's",
     NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD_OF("p", "n1", "1", APP, "") POD_OF("q", "n2", "1", APP, "") BUDGET("1"),
     A(""), PLAIN, "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 BlockedByPod q NotEnoughPdb -"},
    {"137: risky, drained last",
     NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD_OF("p", "n1", "500m", APP, ONLY("b")) POD_OF("q", "n1", "500m", APP, ONLY("b"))
         POD("r", "n2", "1") BUDGET("1"),
     A("") LONG(SINCE("n1") SINCE("n2")), PLAIN, "NodeDeleteStarted n1 n2 - - N2"},
    {"138: room for the pods of one",
     NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n1", "1200m") POD("q", "n2", "1200m") POD("r", "n3", "1600m"),
     A(""), PLAIN, "NoNodeDeleted n1 n2 - n1 NotUnneededLongEnough n2 NotUnneededLongEnough -"},
    {"138: and no more",
     NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n1", "1200m") POD("q", "n2", "1200m") POD("r", "n3", "2"),
     A(""), PLAIN, "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NoPlaceToMovePods -"},
    {"143: cooldown, timers run on", NODE("n1", "a"), A("") LONG(SINCE("n1")), COOLDOWN, "InCooldown n1 - -"},
    {"146: empty ones, and one that drains", NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n2", "1"),
     A("") LONG(SINCE("n1") SINCE("n2")), PLAIN, "NodeDeleteStarted n1 n2 - - n1 N2"},
    {"147: one drain at a time", NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n1", "1") POD("q", "n2", "1"),
     A("") LONG(SINCE("n1") SINCE("n2")), PLAIN, "NodeDeleteStarted n1 n2 - - N1"},
    {"147: or two", NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n1", "1") POD("q", "n2", "1"),
     A("") LONG(SINCE("n1") SINCE("n2")), TWO_DRAINS, "NodeDeleteStarted n1 n2 - - N1 N2"},
    {"147: one is under way", NODE("n1", "a") NODE("n2", "a") NODE("n3", "b") POD("p", "n1", "1"),
     A("") "state: {unneeded: {" SINCE("n1") "}, deletions: {drain: [n2]}}\n", PLAIN, "NoNodeDeleted n1 - -"},
    {"157: being deleted", NODE_OF("n1", "a", "", TAINT("1767268501"), "True"), A(""), PLAIN,
     "NoNodeDeleted - n1 CurrentlyBeingDeleted -"},
    {"157: that came to nothing", NODE_OF("n1", "a", "", TAINT("1767268500"), "True"), A("") LONG(SINCE("n1")), PLAIN,
     "NodeDeleteStarted n1 - - n1"},
    {"unready", NODE_OF("n1", "a", "", "", "False"), A("") LONG(SINCE("n1")), PLAIN, "NodeDeleteStarted n1 - - n1"},
    {"unready ones stay", NODE_OF("n1", "a", "", "", "False"), A("") LONG(SINCE("n1")), NO_UNREADY,
     "NoNodeDeleted - n1 ScaleDownUnreadyDisabled -"},
    {"163: a whole group", NODE("n1", "a") NODE("n2", "a"), A(", options: {zeroOrMaxNodeScaling: true}") LONG(SINCE("n1") SINCE("n2")),
     ONE_AT_ONCE, "NodeDeleteStarted n1 n2 - - n1 n2"},
    {"162: a part of one", NODE("n1", "a") NODE("n2", "a") POD("p", "n2", "3"),
     A(", options: {zeroOrMaxNodeScaling: true}") LONG(SINCE("n1")), PLAIN,
     "NoNodeDeleted n1 - n1 AtomicScaleDownFailed n2 NotUnderutilized -"},
    {"no more than twice the parallelism are looked for at first", NODE("n1", "a") NODE("n2", "a") NODE("n3", "a"), A(""),
     ONE_AT_ONCE, "NoNodeDeleted n1 n2 - n1 NotUnneededLongEnough n2 NotUnneededLongEnough -"},
    {"and one more for each that was found before", NODE("n1", "a") NODE("n2", "a") NODE("n3", "a"),
     A("") "state: {unneeded: {n3: '2026-01-01T11:59:00Z'}, minPassInterval: 1s}\n", ONE_AT_ONCE,
     "NoNodeDeleted n1 n2 n3 - n1 NotUnneededLongEnough n2 NotUnneededLongEnough n3 NotUnneededLongEnough -"},
    {"twice the parallelism, and no more, where passes come fast", NODE("n1", "a") NODE("n2", "a") NODE("n3", "a"),
     A("") "state: {minPassInterval: 1s}\n", ONE_AT_ONCE,
     "NoNodeDeleted n1 n2 - n1 NotUnneededLongEnough n2 NotUnneededLongEnough -"},
    {"empty ones come first",
     NODE("n1", "a") NODE("n2", "a") NODE("n3", "a") NODE("n4", "b") POD("p", "n1", "1") POD("q", "n2", "1"), A(""), ONE_AT_ONCE,
     "NoNodeDeleted n1 n3 - n1 NotUnneededLongEnough n3 NotUnneededLongEnough -"},
    {"who stays takes others' pods",
     NODE("n1", "a") NODE("n2", "a") POD_OF("p", "n1", "1", "", "nodeSelector: {kubernetes.io/hostname: n1}, ")
         POD("q", "n2", "1"),
     A(""), PLAIN, "NoNodeDeleted n2 - n1 NoPlaceToMovePods n2 NotUnneededLongEnough -"},
    {"those of before come first", NODE("n1", "a") NODE("n2", "a") NODE("n3", "a"),
     A("") "state: {unneeded: {n3: '2026-01-01T11:59:00Z'}}\n", ONE_AT_ONCE,
     "NoNodeDeleted n1 n3 - n1 NotUnneededLongEnough n3 NotUnneededLongEnough -"},
    {"167: a group that has just grown rests", NODE("n1", "a") NODE("n2", "b"),
     "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}, lastScaleUpTime: '2026-01-01T11:59:00Z'}, "
     "{name: b, minSize: 0, maxSize: 9, nodeSelector: {pool: b}}]\n" LONG(SINCE("n1") SINCE("n2")),
     LOCAL, "NodeDeleteStarted n2 - - n2"},
    {"168: nobody goes to a node that goes", NODE("n1", "a") NODE("n2", "a") POD("p", "n1", "1"),
     A("") "state: {deletions: {empty: [n2]}}\n", PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
    {"a node that has gone is no domain of what is spread",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "b") POD_OF("p", "n1", "1", APP, SPREAD) POD_OF("q", "n2", "1", APP, SPREAD)
         POD_OF("r", "n3", "1", APP, SPREAD),
     A(""), PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
    {"148: the cluster's cores", NODE("n1", "a") NODE("n2", "a") NODE("n3", "b"), A("") LONG(SINCE("n1") SINCE("n2")), EIGHT_CORES,
     "NodeDeleteStarted n1 n2 - n2 MinimalResourceLimitExceeded - n1"},
    {"118: GPUs alone count", GPU_NODE("2") POD("p", "g1", "3"), "gpuLabel: gpu\n" A(""), PLAIN,
     "NoNodeDeleted - g1 NoPlaceToMovePods -"},
    {"119: and not yet there, none", GPU_NODE("0") POD("p", "g1", "3"), "gpuLabel: gpu\n" A(""), PLAIN,
     "NoNodeDeleted - g1 NoPlaceToMovePods -"},
    {"119: how many it will have nobody can tell", GPU_NODE("0"), "gpuLabel: gpu\n" A("") LONG(SINCE("g1")), PLAIN,
     "NoNodeDeleted g1 - -"},
    {"119: the template can",
     GPU_NODE("0"), "gpuLabel: gpu\n" A(", template: {status: {capacity: {nvidia.com/gpu: 2}}}") LONG(SINCE("g1")), PLAIN,
     "NodeDeleteStarted g1 - - g1"},
    {"where no label says so there are no GPUs", GPU_NODE("2") POD("p", "g1", "3"), A(""), PLAIN,
     "NoNodeDeleted - g1 NotUnderutilized -"},
    {"pods of high priority choose first, and others find the rest",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "b") POD("r", "n3", "2100m") POD("s", "n2", "3") POD("p", "n1", "1500m")
         POD_OF("q", "n1", "500m", "", "priority: 5, "),
     A(""), PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
    {"where all are of one, by name",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "b") POD("r", "n3", "2100m") POD("s", "n2", "3") POD("p", "n1", "1500m")
         POD("q", "n1", "500m"),
     A(""), PLAIN, "NoNodeDeleted n1 - n1 NotUnneededLongEnough -"},
    {"of two the one that costs more", ROOM_FOR_ONE, PRICES(", price: 0.1", ", price: 1", "0", ""), PLAIN,
     "NoNodeDeleted n2 - n1 NoPlaceToMovePods n2 NotUnneededLongEnough -"},
    {"as upstream the first by name", ROOM_FOR_ONE, PRICES(", price: 0.1", ", price: 1", "0", ""), AS_UPSTREAM,
     "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NoPlaceToMovePods -"},
    {"also where the prices are alike", ROOM_FOR_ONE, PRICES(", price: 1", ", price: 1", "0", ""), PLAIN,
     "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NoPlaceToMovePods -"},
    {"but whose group may shrink", ROOM_FOR_ONE, PRICES(", price: 0.1", ", price: 1", "1", ""), PLAIN,
     "NoNodeDeleted n1 - n1 NotUnneededLongEnough -"},
    {"the one that moves fewer pods",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "c") POD("p", "n1", "1") POD("s", "n1", "500m") POD("q", "n2", "1500m")
         POD("r", "n3", "2500m"),
     PRICES(", price: 1", ", price: 1", "0", ""), PLAIN, "NoNodeDeleted n2 - n1 NoPlaceToMovePods n2 NotUnneededLongEnough -"},
    {"what the other costs nobody knows: as upstream", ROOM_FOR_ONE, PRICES(", price: 9", "", "0", ""), PLAIN,
     "NoNodeDeleted n1 - n1 NotUnneededLongEnough n2 NoPlaceToMovePods -"},
    {"a little dearer: the one whose time runs", ROOM_FOR_ONE, PRICES(", price: 1", ", price: 1.05", "0", SINCE("n1")), ONE_AT_ONCE,
     "NodeDeleteStarted n1 - n2 NoPlaceToMovePods - N1"},
    {"much dearer: a time begins anew", ROOM_FOR_ONE, PRICES(", price: 1", ", price: 1.2", "0", SINCE("n1")), ONE_AT_ONCE,
     "NoNodeDeleted n2 - n1 NoPlaceToMovePods n2 NotUnneededLongEnough -"},
    {"two small ones instead of a large one",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "b") NODE("n4", "c") POD_OF("p", "n1", "2", "", ONLY("c"))
         POD_OF("q", "n2", "1", "", ONLY("c")) POD_OF("t", "n3", "1", "", ONLY("c")) POD("r", "n4", "1900m"),
     PRICES("", "", "0", ""), PLAIN, "NoNodeDeleted n2 n3 - n1 NoPlaceToMovePods n2 NotUnneededLongEnough n3 NotUnneededLongEnough -"},
    {"the last eviction is the dear one's",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "c") POD_OF("p", "n1", "1", APP, "") POD_OF("q", "n2", "1", APP, "") BUDGET("1"),
     PRICES(", price: 0.1", ", price: 1", "0", ""), PLAIN, "NoNodeDeleted n2 - n1 BlockedByPod p NotEnoughPdb n2 NotUnneededLongEnough -"},
    {"what is worth the most is drained first",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "c") POD("p", "n1", "1") POD("q", "n2", "1"),
     PRICES(", price: 0.1", ", price: 1", "0", SINCE("n1") SINCE("n2")), PLAIN, "NodeDeleteStarted n1 n2 - - N2"},
    {"as upstream the first by name is",
     NODE("n1", "a") NODE("n2", "b") NODE("n3", "c") POD("p", "n1", "1") POD("q", "n2", "1"),
     PRICES(", price: 0.1", ", price: 1", "0", SINCE("n1") SINCE("n2")), AS_UPSTREAM, "NodeDeleteStarted n1 n2 - - N1"},
    {"a cordoned node takes nobody", NODE("n1", "a") NODE_OF("n2", "b", "", "unschedulable: true", "True") POD("p", "n1", "1"), A(""),
     PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
    {"apart by host", NODE("n1", "a") NODE("n2", "b") POD_OF("p", "n1", "1", APP, ALONE) POD_OF("q", "n2", "1", APP, ALONE), A(""),
     PLAIN, "NoNodeDeleted - n1 NoPlaceToMovePods -"},
};

struct fixture {
    struct cluster c;
    struct node_groups file;
    struct group_flags flags;
    struct group_objects objects;
    struct group_pass out;
    struct group_run r;
};

static void read_groups(struct fixture *f, const char *yaml)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    if (!doc_parse_yaml(parser, span_of(yaml), &at, &doc, &err) ||
        !decode_one(&f->c.arena, f->c.syms, doc_root(doc), &node_groups_schema, &f->file, &err))
        fail_msg("%s: %s", yaml, err.msg);
    doc_parser_free(parser);
}

static void set_flags(struct fixture *f, unsigned how)
{
    f->flags = group_flags_default();
    f->flags.delay_type_local = (how & LOCAL) != 0;
    f->flags.scale_down_unready_enabled = (how & NO_UNREADY) == 0;
    if ((how & EIGHT_CORES) != 0)
        f->flags.cores_min = 8;
    if ((how & TWO_DRAINS) != 0)
        f->flags.max_drains = 2;
    if ((how & ONE_AT_ONCE) != 0)
        f->flags.max_parallelism = 1;
    f->flags.as_upstream = (how & AS_UPSTREAM) != 0;
    f->file.groups.items[0].rolls_out = (how & ROLLS_OUT) != 0;
}

static wall_ms noon(void)
{
    wall_ms out;
    assert_true(time_parse(SPAN("2026-01-01T12:00:00Z"), &out));
    return out;
}

static uint32_t row_of(const struct fixture *f, struct span node)
{
    int32_t row = world_find_node(f->r.world, node);
    assert_true(row >= 0);
    return (uint32_t)row;
}

/* As the registry would leave it. */
static void set_state(struct fixture *f)
{
    struct group_run *r = &f->r;
    const struct group_state *state = &f->file.state;
    for (uint32_t i = 0; i < state->unneeded.count; i++)
        r->unneeded_since[row_of(f, state->unneeded.items[i].node)] = state->unneeded.items[i].time;
    for (uint32_t i = 0; i < state->unremovable_until.count; i++)
        r->unremovable_until[row_of(f, state->unremovable_until.items[i].node)] = state->unremovable_until.items[i].time;
    for (uint32_t i = 0; i < state->deleting_empty.count; i++)
        bits_add(r->deleting, row_of(f, state->deleting_empty.items[i]));
    for (uint32_t i = 0; i < state->deleting_drain.count; i++)
        bits_add(r->deleting, row_of(f, state->deleting_drain.items[i]));
    r->deleting_empty = state->deleting_empty.count;
    r->deleting_drain = state->deleting_drain.count;
    for (uint32_t row = 0; row < r->row_count; row++)
        if (bits_has(r->deleting, row) && r->owners[row] >= 0)
            r->groups[r->owners[row]].deletions++;
}

static void set_rows(struct fixture *f)
{
    struct group_run *r = &f->r;
    uint32_t *rows = ARENA_ARRAY(r->arena, uint32_t, r->row_count);
    for (uint32_t i = 0; i < r->model->node_count; i++) {
        uint32_t row = row_of(f, r->model->nodes[i]->meta.name);
        rows[i] = row;
        r->owners[row] = r->model->owners[i];
        if (conditions_true(r->model->nodes[i]->conditions, SPAN("Ready")))
            bits_add(r->ready, row);
        snapshot_add_row(r->snapshot, row);
    }
    r->rows = rows;
}

static void run(struct fixture *f, const char *objects, const char *groups, unsigned how)
{
    struct err err = {0};
    struct group_run *r = &f->r;
    *f = (struct fixture){.r = {.flags = &f->flags, .objects = &f->objects, .now = noon(), .out = &f->out}};
    cluster_init(&f->c);
    cluster_add(&f->c, WEB);
    cluster_add(&f->c, objects);
    read_groups(f, groups);
    set_flags(f, how);
    struct world_input in = cluster_input(&f->c);
    f->objects = (struct group_objects){.syms = in.syms, .nodes = in.nodes, .pods = in.pods, .budgets = in.budgets,
        .replica_sets = in.replica_sets, .node_count = in.node_count, .pod_count = in.pod_count,
        .budget_count = in.budget_count, .replica_set_count = in.replica_set_count};
    r->arena = &f->c.arena;
    r->model = group_model_make(&f->file, &f->flags, &f->objects, r->now, r->arena, &err);
    if (r->model == NULL)
        fail_msg("%s", err.msg);
    f->c.world = world_build(&in);
    r->world = f->c.world;
    r->row_count = world_node_count(r->world);
    assert_int_equal(r->row_count, r->model->node_count);
    uint32_t words = bits_words(r->row_count);
    r->owners = ARENA_ARRAY(r->arena, int32_t, r->row_count);
    r->ready = ARENA_ARRAY(r->arena, uint64_t, words);
    r->upcoming = ARENA_ARRAY(r->arena, uint64_t, words);
    r->deleting = ARENA_ARRAY(r->arena, uint64_t, words);
    r->unneeded_since = ARENA_ARRAY(r->arena, wall_ms, r->row_count);
    r->unremovable_until = ARENA_ARRAY(r->arena, wall_ms, r->row_count);
    r->groups = ARENA_ARRAY(r->arena, struct group_now, r->model->group_count);
    for (uint32_t i = 0; i < r->model->group_count; i++)
        r->groups[i] = (struct group_now){
            .group = &r->model->groups[i],
            .target = r->model->groups[i].target,
            .gone = ARENA_ARRAY(r->arena, uint8_t, r->model->groups[i].instance_count)};
    r->snapshot = snapshot_create(r->arena, r->world, f->flags.expendable_cutoff);
    set_rows(f);
    set_state(f);
    groups_scale_down(r, (how & COOLDOWN) != 0);
}

static const char *name_of(const struct fixture *f, uint32_t row)
{
    return arena_cstr(&((struct fixture *)f)->c.arena, world_node_at(f->r.world, row)->name);
}

static const char *const results[] = {
    [SCALE_DOWN_DELETE_STARTED] = "NodeDeleteStarted",
    [SCALE_DOWN_NO_NODE_DELETED] = "NoNodeDeleted",
    [SCALE_DOWN_IN_COOLDOWN] = "InCooldown",
    [SCALE_DOWN_NO_CANDIDATES] = "NoCandidates",
};

static struct span tell(struct fixture *f)
{
    const struct group_scale_down *x = &f->out.down;
    struct buf b = {0};
    buf_addf(&b, "%s", results[x->result]);
    for (uint32_t i = 0; i < x->unneeded_count; i++)
        buf_addf(&b, " %s", name_of(f, x->unneeded[i].row));
    buf_addf(&b, " -");
    for (uint32_t i = 0; i < x->unremovable_count; i++) {
        const struct node_unremovable *u = &x->unremovable[i];
        buf_addf(&b, " %s %s", name_of(f, u->row), unremovable_name(u->why));
        if (u->blocking != NULL)
            buf_addf(&b, " %.*s %s", SPAN_ARG(u->blocking->meta.name), u->block_reason);
    }
    buf_addf(&b, " -");
    for (uint32_t i = 0; i < x->empty_count; i++)
        buf_addf(&b, " %s", name_of(f, x->empty[i]));
    for (uint32_t i = 0; i < x->drain_count; i++)
        buf_addf(&b, " N%s", name_of(f, x->drain[i]) + 1);
    struct span out = arena_dup(&f->c.arena, (struct span){b.ptr, b.len});
    buf_release(&b);
    return out;
}

static void test_rows(void **state)
{
    (void)state;
    uint32_t failed = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        run(&f, cases[i].objects, cases[i].groups, cases[i].how);
        struct span got = tell(&f);
        if (!span_eq(got, span_of(cases[i].want))) {
            print_error("%s: %.*s\n", cases[i].label, SPAN_ARG(got));
            failed++;
        }
        cluster_release(&f.c);
    }
    assert_int_equal(failed, 0);
}

/* The simulated cluster is as it was. */
static void test_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        run(&f, cases[i].objects, cases[i].groups, cases[i].how);
        for (uint32_t row = 0; row < f.r.row_count; row++) {
            const struct world_node *n = world_node_at(f.r.world, row);
            uint32_t count;
            const struct pod *const *pods = snapshot_pods(f.r.snapshot, row, &count);
            if (!snapshot_stands(f.r.snapshot, row) || count != n->pod_count ||
                (count != 0 && memcmp(pods, n->pods, count * sizeof(*pods)) != 0))
                fail_msg("%s: %.*s is not as it was", cases[i].label, SPAN_ARG(n->name));
        }
        cluster_release(&f.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
