/* What the methods decide (spec disruption 1 and 8, scenarios by their numbers): commands and notes as text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define ZERO D_POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"0\"}]", "", "")
#define BUDGET(name_, nodes_) D_POOL(name_, "consolidateAfter: 0s, budgets: [{nodes: \"" nodes_ "\"}]", "", "")
#define NO_BUDGET(pool_, reason_)                                                                  \
    "DisruptionBlocked pool/" pool_ ": No allowed disruptions for disruption reason " reason_ " due to blocking budget\n"
#define PRICED(name_, type_, conditions_) D_NODE_OF(name_, "default", type_, D_PLACE, "", "", "", conditions_, D_READY)
#define IN_POOL(name_, pool_, conditions_)                                                         \
    D_NODE_OF(name_, pool_, "default-instance-type", D_PLACE, "", "", "", conditions_, D_READY)
#define COMING(name_)                                                                              \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                   \
    ", labels: {karpenter.sh/nodepool: default}}\nspec: {requirements: []}\n"

/* With the taint that a node has while it reboots. */
#define AFTER_BOOT(name_, conditions_)                                                             \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                  \
    ", labels: {karpenter.sh/nodepool: default}}\nspec: {requirements: []}\nstatus: {providerID: \"x://" name_          \
    "\", conditions: [{type: Initialized, status: \"True\"}" conditions_ "]}\n"                    \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {karpenter.sh/nodepool: default, "            \
    "karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\nspec: {providerID: \"x://" name_         \
    "\", taints: [{key: karpenter.sh/rebooting, effect: NoSchedule}]}\n"                          \
    "status: {capacity: {cpu: 4, memory: 4Gi, pods: 5}, allocatable: {cpu: 4, memory: 4Gi, pods: 5}, conditions: ["      \
    D_READY "]}\n"

struct decided {
    const char *label;
    const char *objects[8];
    const char *commands, *notes;
    const char *nominated, *buffered, *queued;
    bool all, gate; /* TerminateFirstDrift */
    int64_t reserved; /* of pool default */
};

static void hold(const struct decided *row)
{
    struct deciding x;
    deciding_init(&x, NULL);
    for (size_t i = 0; i < COUNT_OF(row->objects) && row->objects[i] != NULL; i++)
        cluster_add(&x.c, row->objects[i]);
    x.nominated[0] = row->nominated;
    x.buffered[0] = row->buffered;
    x.queued[0] = row->queued;
    x.o.all = row->all;
    x.o.terminate_first_drift = row->gate;
    x.o.reserved = &(struct reserved_nodes){SPAN("default"), row->reserved};
    x.o.reserved_count = 1;
    struct span commands = deciding_commands(&x), notes = deciding_notes(&x);
    if (!span_eq(commands, span_of(row->commands)) || !span_eq(notes, span_of(row->notes)))
        fail_msg("%s: got\n%.*s%.*swant\n%s%s", row->label, SPAN_ARG(commands), SPAN_ARG(notes), row->commands,
                 row->notes);
    assert_true(x.d->complete);
    deciding_release(&x);
}

#define HOLD_ALL(rows_)                                                                            \
    for (size_t i_ = 0; i_ < COUNT_OF(rows_); i_++)                                                \
    hold(&(rows_)[i_])

static void emptiness(void **state)
{
    (void)state;
    static const struct decided rows[] = {
        {"nothing at all", {D_ANY}, "", "", .all = false},
        {"61: DaemonSet pods alone", {D_ANY, D_NODE("n1", D_EMPTY), D_POD("a", "n1", "1", D_OWNER("DaemonSet"))},
         "Emptiness delete n1\n", "", .all = false},
        {"62: a pod that is ending",
         {D_ANY, D_NODE("n1", D_EMPTY),
          D_POD("a", "n1", "1", D_OWNER("ReplicaSet") "deletionTimestamp: \"2026-01-01T11:59:00Z\", ")},
         "Emptiness delete n1\n", "", .all = false},
        {"63: Consolidatable is absent", {D_ANY, D_NODE("n1", "")}, "", "", .all = false},
        {"64: with policy WhenEmpty too",
         {D_POOL("default", "consolidateAfter: 0s, consolidationPolicy: WhenEmpty, budgets: [{nodes: \"100%\"}]", "", ""),
          D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY), D_POD("a", "n2", "4", "")},
         "Emptiness delete n1\n", "", .all = false},
        {"65: never", {D_POOL("default", "consolidateAfter: Never", "", ""), D_NODE("n1", D_EMPTY)}, "",
         "Unconsolidatable n1: NodePool \"default\" has consolidation disabled\n", .all = false},
        {"66: one command for two pools",
         {D_ANY, BUDGET("other", "1"), D_NODE("n1", D_EMPTY), IN_POOL("n2", "other", D_EMPTY)},
         "Emptiness delete n1 n2\n", "", .all = false},
        {"71: capacity buffers", {D_ANY, D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\n",
         "Unconsolidatable n1: Node has buffer pods\n", .buffered = "n1"},
        {"72: a static pool",
         {D_POOL("default", "budgets: [{nodes: \"100%\"}]", "replicas: 1, ", ""), D_NODE("n1", D_EMPTY)}, "", "",
         .all = false},
        {"57: no budget", {ZERO, D_NODE("n1", D_EMPTY)}, "", NO_BUDGET("default", "Empty"), .all = false},
        {"57: another pool acts",
         {ZERO, BUDGET("other", "100%"), D_NODE("n1", D_EMPTY), IN_POOL("n2", "other", D_EMPTY)},
         "Emptiness delete n2\n", NO_BUDGET("default", "Empty"), .all = false},
        {"58: as many as the budget lets go, the dearest first",
         {BUDGET("default", "2"), D_NODE("n1", D_EMPTY), PRICED("n2", "arm-instance-type", D_EMPTY),
          PRICED("n3", "small-instance-type", D_EMPTY), PRICED("n4", "nothing-known", D_EMPTY)},
         "Emptiness delete n2 n1\n", "", .all = false},
        {"14: a nominated one", {D_ANY, D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\n",
         "DisruptionBlocked n1: Node is nominated for a pending pod\n", .nominated = "n1"},
        {"153: one that a command has, silently, and it takes from the budget",
         {BUDGET("default", "2"), D_NODE("n1", D_EMPTY), D_NODE("n2", D_EMPTY), D_NODE("n3", D_EMPTY)},
         "Emptiness delete n2\n", "", .queued = "n1"},
        {"a reason is told once, whoever asks", {D_ANY, COMING("n1")}, "",
         "DisruptionBlocked n1: Nodeclaim does not have an associated node\n", .all = true},
    };
    HOLD_ALL(rows);
}

#define SINCE(time_) ", " D_SINCE("Drifted", "2026-01-01T" time_ "Z")
#define NO_PLACE(pod_, node_) "DisruptionBlocked " node_ ": not all pods would schedule, default/" pod_ " => "
#define GPU(name_, node_)                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: default}\n"           \
    "spec: {nodeName: " node_ ", nodeSelector: {no-such: label}, containers: [{name: c}]}\nstatus: {phase: Running}\n"

#define IN_ZONE(pod_, zone_)                                                                       \
    D_POD_OF(pod_, "n1", "1", "", "nodeSelector: {topology.kubernetes.io/zone: " zone_ "}, ", "")

static void drift(void **state)
{
    (void)state;
    static const struct decided rows[] = {
        {"73: the pods fit elsewhere",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_NODE("n2", ""), D_POD("a", "n1", "1", "")}, "Drift delete n1\n", "",
         .all = false},
        {"74: or need a new node", {D_ANY, D_NODE("n1", D_DRIFTED), D_POD("a", "n1", "1", "")},
         "Drift replace n1 -> 1\n", "", .all = false},
        {"75: or two",
         {D_ANY, D_NODE("n1", D_DRIFTED), IN_ZONE("a", "test-zone-1"), IN_ZONE("b", "test-zone-2")},
         "Drift replace n1 -> 2\n", "", .all = false},
        {"76: an empty one first, though the other has drifted before it",
         {D_ANY, D_NODE("n1", SINCE("06:00:00")), D_NODE("n2", SINCE("07:00:00")), D_POD("a", "n1", "1", "")},
         "Drift delete n2\n", "", .all = false},
        {"77: then who drifted first",
         {D_ANY, D_NODE("n1", SINCE("07:00:00")), D_NODE("n2", SINCE("06:00:00")), D_POD("a", "n1", "3", ""),
          D_POD("b", "n2", "3", "")},
         "Drift replace n2 -> 1\n", "", .all = false},
        {"79: whatever the pool says of consolidation",
         {D_POOL("default", "consolidateAfter: Never, consolidationPolicy: WhenEmpty", "", ""),
          D_NODE("n1", D_DRIFTED)},
         "Drift delete n1\n",
         "Unconsolidatable n1: NodePool \"default\" has consolidation disabled\n", .all = false},
        {"80: Drifted is False", {D_ANY, D_NODE("n1", ", {type: Drifted, status: \"False\"}")}, "", "", .all = false},
        {"81: a pod that is not to be disrupted gets no place and stays",
         {D_ANY, D_GRACE("n1", D_DRIFTED), D_POD("a", "n1", "1", D_KEEP("true"))}, "Drift delete n1\n",
         "DisruptionBlocked n1: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/a)\n", .all = false},
        {"81: and without a grace period so does the node",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_POD("a", "n1", "1", D_KEEP("true"))}, "",
         "DisruptionBlocked n1: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/a)\n", .all = false},
        {"57: no budget", {ZERO, D_NODE("n1", D_DRIFTED)}, "", NO_BUDGET("default", "Drifted"), .all = false},
        {"3: an empty node goes before a drifted one",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\n", "", .all = false},
        {"3: of all methods each",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_NODE("n2", D_EMPTY)}, "Emptiness delete n2\nDrift delete n1\n", "", .all = true},
        {"291: a node that reboots will take pods again",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_POD("a", "n1", "1", ""), AFTER_BOOT("n2", ", " D_TRUE("Rebooting"))},
         "Drift delete n1\n", "DisruptionBlocked n2: Node is rebooting\n", .all = false},
        {"291: who does not reboot, but says so, will not",
         {D_ANY, D_NODE("n1", D_DRIFTED), D_POD("a", "n1", "1", ""), AFTER_BOOT("n2", "")}, "Drift replace n1 -> 1\n", "",
         .all = false},
        {"83: one that is leaving",
         {D_ANY, D_NODE_OF("n1", "default", "t", "", "", "deletionTimestamp: \"2026-01-01T11:59:00Z\", ", "", D_DRIFTED, D_READY)},
         "", "DisruptionBlocked n1: Node is deleting or marked for deletion\n", .all = false},
        {"124: nobody knows where pods could go",
         {D_NODE("n1", D_DRIFTED), D_POD("a", "n1", "1", ""),
          "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: []}}}\n"
          "status: {conditions: [{type: Ready, status: \"False\"}]}\n"},
         "", "error: no dynamic NodePool is ready, so nobody knows where the pods could go\n", .all = false},
    };
    HOLD_ALL(rows);
}

static void who_cannot_be_placed_lets_the_next_one_go(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, D_ANY D_NODE("n1", SINCE("06:00:00")));
    cluster_add(&x.c, D_NODE("n2", SINCE("07:00:00")) GPU("a", "n1") D_POD("b", "n2", "3", "")); /* 78 */
    struct span commands = deciding_commands(&x), notes = deciding_notes(&x);
    assert_true(span_eq(commands, SPAN("Drift delete n2\n")));
    if (!span_has_prefix(notes, SPAN(NO_PLACE("a", "n1"))))
        fail_msg("%.*s", SPAN_ARG(notes));
    deciding_release(&x);
}

#define STATIC(replicas_, limit_, meta_)                                                           \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {" meta_ "name: default}\n"       \
    "spec: {replicas: " replicas_ ", limits: {" limit_ "}, disruption: {budgets: [{nodes: \"3\"}]}, "        \
    "template: {spec: {requirements: []}}}\n"
#define THREE D_NODE("n1", D_DRIFTED), D_NODE("n2", D_DRIFTED), D_NODE("n3", D_DRIFTED)
#define STUCK(node_)                                                                               \
    "DisruptionBlocked " node_ ": static NodePool is at its node limit and cannot stage a replacement\n"
#define ALL_STUCK STUCK("n1") STUCK("n2") STUCK("n3")
#define GONE_FIRST "StaticDrift terminate-first n1\nStaticDrift terminate-first n2\nStaticDrift terminate-first n3\n"

static void static_drift(void **state)
{
    (void)state;
    static const struct decided rows[] = {
        {"84: room for one more", {STATIC("3", "nodes: 4", ""), THREE}, "StaticDrift replace n1 -> 1\n", "", .all = false},
        {"84: for as many as there are",
         {STATIC("3", "", ""), THREE},
         "StaticDrift replace n1 -> 1\nStaticDrift replace n2 -> 1\nStaticDrift replace n3 -> 1\n", "", .all = false},
        {"84: one is on its way already", {STATIC("3", "nodes: 4", ""), THREE}, "", ALL_STUCK, .reserved = 1},
        {"85: at the limit", {STATIC("3", "nodes: 3", ""), THREE}, "", ALL_STUCK, .all = false},
        {"86: first it shrinks", {STATIC("2", "nodes: 4", ""), THREE}, "", "", .all = false},
        {"87: two pools at once",
         {STATIC("1", "", ""), D_POOL("other", "budgets: [{nodes: \"1\"}]", "replicas: 1, ", ""), D_NODE("n1", D_DRIFTED),
          IN_POOL("n2", "other", D_DRIFTED)},
         "StaticDrift replace n1 -> 1\nStaticDrift replace n2 -> 1\n", "", .all = false},
        {"248, 296: of one nobody knows what it buys",
         {STATIC("1", "", ""), D_POOL("other", "budgets: [{nodes: \"1\"}]", "replicas: 1, ", ""), D_NODE("n1", D_DRIFTED),
          IN_POOL("n2", "other", D_DRIFTED),
          "---\nkind: InstanceTypes\nitems:\n- {name: default-instance-type, nodePools: [default], resources: {cpu: 4, memory: "
          "4Gi, pods: 5}, offerings: [{zone: test-zone-1, capacity: spot, price: 1}]}\n"},
         "StaticDrift replace n1 -> 1\n", "DisruptionBlocked n2: NodePool not found (NodePool=other)\n", .all = false},
        {"one that leaves counts against the limit",
         {STATIC("2", "nodes: 3", ""), D_NODE("n1", D_DRIFTED), D_NODE("n2", ""),
          D_NODE_OF("n3", "default", "t", "", "", "deletionTimestamp: \"2026-01-01T11:59:00Z\", ", "", "", D_READY)},
         "", "DisruptionBlocked n3: Node is deleting or marked for deletion\n" STUCK("n1"), .all = false},
        {"293: terminated first", {STATIC("3", "nodes: 3", ""), THREE}, GONE_FIRST, "", .gate = true},
        {"293: not while the pool is being deleted",
         {STATIC("3", "nodes: 3", "deletionTimestamp: \"2026-01-01T11:59:00Z\", "), THREE}, "", ALL_STUCK, .gate = true},
        {"293: where there is room for one more, it comes first",
         {STATIC("3", "nodes: 4", ""), THREE}, "StaticDrift replace n1 -> 1\n", "", .gate = true},
    };
    HOLD_ALL(rows);
}

#define RESERVED_TYPES(left_, available_, more_)                                                                \
    "---\nkind: InstanceTypes\nreservationIDLabel: example.com/id\nitems:\n"                       \
    "- {name: t, resources: {cpu: 4, memory: 4Gi, pods: 5}, offerings: [{zone: test-zone-1, capacity: reserved, " \
    "reservation: r1, reservations: " left_ ", price: 0.01, available: " available_ "}" more_ "]}\n"
#define ON_DEMAND ", {zone: test-zone-1, capacity: on-demand, price: 1}"
#define ON_DEMAND_OUT ", {zone: test-zone-1, capacity: on-demand, price: 1, available: false}"
#define HOLDER(name_, id_)                                                                         \
    D_NODE_OF(name_, "default", "t",                                                               \
              "topology.kubernetes.io/zone: test-zone-1, karpenter.sh/capacity-type: reserved, example.com/id: " id_ ", ", \
              "", "", "", D_DRIFTED, D_READY)
#define FULL(node_)                                                                                \
    "DisruptionBlocked " node_                                                                     \
    ": static NodePool's capacity reservations are full and cannot stage a replacement\n"

static void reservations(void **state)
{
    (void)state;
    static const struct decided rows[] = {
        {"294: a holder goes first",
         {STATIC("1", "", ""), RESERVED_TYPES("0", "true", ""), HOLDER("n1", "r1")}, "StaticDrift terminate-first n1\n", "",
         .gate = true},
        {"294: who holds another one stays, and is behind those who hold it",
         {STATIC("2", "", ""), RESERVED_TYPES("0", "true", ""), HOLDER("n1", "gone"), HOLDER("n2", "r1")},
         "StaticDrift terminate-first n2\n", FULL("n1"), .gate = true},
        {"294: broken, not full",
         {STATIC("1", "", ""), RESERVED_TYPES("0", "false", ""), HOLDER("n1", "r1")}, "", FULL("n1"), .gate = true},
        {"295: on-demand is allowed too, to be had or not",
         {STATIC("1", "", ""), RESERVED_TYPES("0", "true", ON_DEMAND_OUT), HOLDER("n1", "r1")},
         "StaticDrift replace n1 -> 1\n", "", .gate = true},
        {"295: one instance is left",
         {STATIC("1", "", ""), RESERVED_TYPES("1", "true", ""), HOLDER("n1", "r1")}, "StaticDrift replace n1 -> 1\n", "",
         .gate = true},
        {"294: without the gate nobody asks",
         {STATIC("1", "", ""), RESERVED_TYPES("0", "true", ""), HOLDER("n1", "r1")}, "StaticDrift replace n1 -> 1\n", "",
         .gate = false},
        {"297: a dynamic pool's",
         {D_ANY, RESERVED_TYPES("0", "true", ""), HOLDER("n1", "r1"), D_POD("a", "n1", "1", "")},
         "Drift terminate-first n1\n", "", .gate = true},
        {"82, 298: there is something else to buy, though it is dearer",
         {D_ANY, RESERVED_TYPES("0", "true", ON_DEMAND), HOLDER("n1", "r1"), D_POD("a", "n1", "1", "")},
         "Drift replace n1 -> 1\n", "", .gate = true},
    };
    HOLD_ALL(rows);
}

/* 297: without the gate, or where what one node frees is not enough, it stays and a note says why. */
static void a_full_reservation_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *label, *types, *second;
        bool gate;
    } rows[] = {
        {"the gate is closed", RESERVED_TYPES("0", "true", ""), "", false},
        {"two are needed", RESERVED_TYPES("0", "true", ""), D_POD("b", "n1", "3", ""), true},
        {"it is broken", RESERVED_TYPES("0", "false", ""), "", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        deciding_init(&x, D_ANY HOLDER("n1", "r1"));
        cluster_add(&x.c, rows[i].types);
        cluster_add(&x.c, D_POD("a", "n1", "3", ""));
        if (rows[i].second[0] != '\0')
            cluster_add(&x.c, rows[i].second);
        x.o.terminate_first_drift = rows[i].gate;
        struct span commands = deciding_commands(&x), notes = deciding_notes(&x);
        if (commands.len != 0 || !span_has_prefix(notes, SPAN("DisruptionBlocked n1: not all pods would schedule, ")))
            fail_msg("%s: %.*s%.*s", rows[i].label, SPAN_ARG(commands), SPAN_ARG(notes));
        deciding_release(&x);
    }
}

static void drift_goes_no_further_than_its_wave(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pool, *nodes, *want;
        struct wave_left left;
    } rows[] = {
        {"none is left", D_ANY, D_NODE("n1", D_DRIFTED), "", {SPAN_INIT("default"), 0}},
        {"one is", D_ANY, D_NODE("n1", D_DRIFTED), "Drift delete n1\n", {SPAN_INIT("default"), 1}},
        {"it is another pool's", D_ANY, D_NODE("n1", D_DRIFTED), "Drift delete n1\n", {SPAN_INIT("other"), 0}},
        {"two of three", STATIC("3", "", ""), D_NODE("n1", D_DRIFTED) D_NODE("n2", D_DRIFTED) D_NODE("n3", D_DRIFTED),
         "StaticDrift replace n1 -> 1\nStaticDrift replace n2 -> 1\n", {SPAN_INIT("default"), 2}},
        {"the budget allows less", D_POOL("default", "budgets: [{nodes: \"1\"}]", "replicas: 2, ", ""),
         D_NODE("n1", D_DRIFTED) D_NODE("n2", D_DRIFTED), "StaticDrift replace n1 -> 1\n", {SPAN_INIT("default"), 2}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        deciding_init(&x, rows[i].pool);
        cluster_add(&x.c, rows[i].nodes);
        x.o.waves = &rows[i].left;
        x.o.wave_count = 1;
        struct span commands = deciding_commands(&x);
        if (!span_eq(commands, span_of(rows[i].want)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(commands));
        deciding_release(&x);
    }
}

/* Not so when the steps are over before, or somebody else acts first. */
static void a_full_sweep_is_known(void **state)
{
    (void)state;
#define HOLDS(name_) D_NODE(name_, D_EMPTY) D_POD("p" name_, name_, "1", "")
    static const struct {
        const char *label, *nodes;
        uint64_t steps;
        bool greedy, want;
    } rows[] = {
        {"nobody is there", "", 0, false, true},
        {"all were looked at", HOLDS("n1") HOLDS("n2"), 0, false, true},
        {"all were, by Karpenter's search", HOLDS("n1") D_POD("q", "n1", "2", D_KEEP("true")), 0, true, true},
        {"its steps were over", HOLDS("n1") HOLDS("n2"), 1, false, false},
        {"drift came first", HOLDS("n1") D_NODE("n2", D_DRIFTED), 0, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        deciding_init(&x, D_ANY);
        if (rows[i].nodes[0] != 0)
            cluster_add(&x.c, rows[i].nodes);
        x.c.plan_options.search = rows[i].greedy ? SEARCH_GREEDY : SEARCH_CHEAPEST;
        x.o.single_steps = rows[i].steps;
        deciding_commands(&x);
        if (x.d->swept != rows[i].want)
            fail_msg("%s: %s", rows[i].label, x.d->swept ? "swept" : "not swept");
        deciding_release(&x);
    }
}

static void a_budget_that_holds_somebody_back_is_known(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, BUDGET("default", "1") D_NODE("n1", D_EMPTY) D_NODE("n2", D_EMPTY));
    deciding_commands(&x);
    assert_int_equal(x.d->constrained, 1 << METHOD_EMPTINESS);
    deciding_release(&x);
    deciding_init(&x, D_ANY D_NODE("n1", D_EMPTY) D_NODE("n2", D_EMPTY));
    deciding_commands(&x);
    assert_int_equal(x.d->constrained, 0);
    deciding_release(&x);
}

/* What an empty node costs is saved; what its pool says that a node costs beside its price too. */
static void what_is_saved(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, D_ANY D_NODE("n1", D_EMPTY) D_POD("a", "n1", "1", D_OWNER("DaemonSet")));
    deciding_commands(&x);
    double price = world_node_at(x.c.world, deciding_row(&x, "n1"))->price;
    assert_true(price > 0);
    assert_true(x.d->commands[0].savings == price);
    assert_true(x.d->commands[0].cost == 708.0 / 720); /* a twelfth hour of thirty days is over */
    deciding_release(&x);
}

/* The time until a move has paid for itself: of one that is not priced, for the minutes in which both run. */
static void when_it_has_paid(void **state)
{
    (void)state;
    static const struct plan_claim dear[] = {{.price = 0.6}}, two[] = {{.price = 0.2}, {.price = 0.4}}, unknown[] = {{.price = NAN}};
    static const struct {
        const char *label;
        enum disruption_decision decision;
        const struct plan_claim *by;
        uint32_t count;
        double savings;
        span_ms want;
    } rows[] = {
        {"what is deleted costs nothing", DECIDE_DELETE, NULL, 0, 0.1, 0},
        {"what saves nothing never pays", DECIDE_DELETE, NULL, 0, 0, -1},
        {"nor what costs more", DECIDE_DELETE, NULL, 0, -0.1, -1},
        {"three minutes at six times the savings", DECIDE_REPLACE, dear, 1, 0.1, 6 * DISRUPTION_OVERLAP_MS},
        {"of all replacements", DECIDE_REPLACE, two, 2, 0.1, 6 * DISRUPTION_OVERLAP_MS},
        {"a replacement that saves nothing", DECIDE_REPLACE, dear, 1, 0, -1},
        {"that costs more", DECIDE_REPLACE, dear, 1, -0.1, -1},
        {"whose price is not known", DECIDE_REPLACE, unknown, 1, NAN, -1},
        {"longer than a duration can be", DECIDE_REPLACE, dear, 1, 1e-300, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct disruption_command c = {.decision = rows[i].decision, .replacements = rows[i].by, .replacement_count = rows[i].count,
                                       .savings = rows[i].savings};
        span_ms off = disruption_payback(&c) - rows[i].want;
        if (off < -1 || off > 1 || (rows[i].want < 0 && off != 0))
            fail_msg("%s: %lld", rows[i].label, (long long)disruption_payback(&c));
    }
}

/* A method that is passed over is not asked: the next one is. */
static void which_method_is_passed_over(void **state)
{
    (void)state;
    struct deciding x;
    deciding_init(&x, D_ANY D_NODE("n1", D_EMPTY) D_NODE("n2", D_DRIFTED) D_POD("a", "n2", "1", ""));
    x.o.passed_over = 1u << METHOD_EMPTINESS;
    struct span got = deciding_commands(&x);
    assert_false(span_contains(got, SPAN("n1")));
    assert_true(span_contains(got, SPAN("n2")));
    deciding_release(&x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(emptiness),
        cmocka_unit_test(drift),
        cmocka_unit_test(who_cannot_be_placed_lets_the_next_one_go),
        cmocka_unit_test(static_drift),
        cmocka_unit_test(drift_goes_no_further_than_its_wave),
        cmocka_unit_test(a_full_sweep_is_known),
        cmocka_unit_test(reservations),
        cmocka_unit_test(a_full_reservation_blocks),
        cmocka_unit_test(a_budget_that_holds_somebody_back_is_known),
        cmocka_unit_test(what_is_saved),
        cmocka_unit_test(when_it_has_paid),
        cmocka_unit_test(which_method_is_passed_over),
    };
    return cmocka_run_group_tests_name("disruption", tests, NULL, NULL);
}
