/* Which node is repaired, and how (spec disruption 16, scenarios 249 to 275 and 288 to 299). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define BAD_FOR(minutes_) BAD_SINCE("11:" minutes_ ":00")
/* Now is 12:00. */
#define BAD_SINCE(time_) ", {type: BadNode, status: \"False\", reason: Broken, lastTransitionTime: \"2026-01-01T" time_ "Z\"}"
#define COND(type_, reason_, time_) ", {type: " type_ ", status: \"False\", reason: " reason_ ", lastTransitionTime: \"2026-01-01T" time_ "Z\"}"
#define ILL(name_, conditions_) ILL_WITH(name_, "", "", "", conditions_)
#define ILL_WITH(name_, meta_, spec_, claim_conditions_, conditions_)                              \
    D_NODE_OF(name_, "default", "default-instance-type", D_PLACE, meta_, "", spec_, claim_conditions_, D_READY conditions_)
#define ILL_NOW BAD_SINCE("11:29:00") /* 31 minutes */
#define REGISTERED(labels_)                                                                        \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: default}}\n" \
    "spec: {requirements: []}\nstatus: {providerID: \"x://n1\"}\n"                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {" labels_ "karpenter.sh/nodepool: default}}\n" \
    "spec: {providerID: \"x://n1\"}\nstatus: {conditions: [" D_READY ILL_NOW "]}\n"
#define HELD D_KEEP("true")
#define NEEDS_BOUND "DisruptionBlocked n1: repair requires a termination grace period to bypass blocking pods\n"
#define TRIPPED(node_) "NodeRepairBlocked " node_ ": more than 20% of nodes in nodepool \"default\" are unhealthy\n"

/* conditionType, status, regex, toleration, grace, action, priority */
#define POLICY(type_, regex_, toleration_, grace_, priority_, action_)                             \
    {SPAN_INIT(type_), SPAN_INIT("False"), SPAN_INIT(regex_), SPAN_INIT(toleration_), grace_, SPAN_INIT(action_), priority_}
#define NO_GRACE {NULL, 0}
#define PLAIN POLICY("BadNode", "", "30m", NO_GRACE, 0, "ReplaceNode")

struct repaired {
    const char *label;
    const char *objects[8];
    const char *commands, *notes;
    struct repair_text policies[4]; /* none: PLAIN */
    const char *grace;              /* of the command; NULL: none */
    const char *condition;          /* that it is about; NULL: not asked */
    uint32_t reboots;               /* of n1 */
    bool off, gate;
    const char *nominated;
};

static void hold(const struct repaired *row)
{
    static struct repair_text plain = PLAIN;
    struct deciding x;
    struct repair_policies policies;
    struct buf violations = {0};
    struct repair_texts texts = {(struct repair_text *)row->policies, 0};
    while (texts.count < COUNT_OF(row->policies) && row->policies[texts.count].condition_type.len != 0)
        texts.count++;
    if (texts.count == 0)
        texts = (struct repair_texts){&plain, 1};
    deciding_init(&x, NULL);
    if (!repair_policies_make(&x.c.arena, &texts, &policies, &violations))
        fail_msg("%s: %.*s", row->label, SPAN_ARG(buf_span(&violations)));
    for (size_t i = 0; i < COUNT_OF(row->objects) && row->objects[i] != NULL; i++)
        cluster_add(&x.c, row->objects[i]);
    x.o.repair = row->off ? NULL : &policies;
    x.o.terminate_first_repair = row->gate;
    x.nominated[0] = row->nominated;
    deciding_world(&x);
    x.o.reboots = &(struct reboot_count){row->reboots != 0 ? deciding_row(&x, "n1") : 0, row->reboots};
    x.o.reboot_count = 1;
    struct span commands = deciding_commands(&x), notes = deciding_notes(&x);
    if (!span_eq(commands, span_of(row->commands)) || !span_eq(notes, span_of(row->notes)))
        fail_msg("%s: got\n%.*s%.*swant\n%s%s", row->label, SPAN_ARG(commands), SPAN_ARG(notes), row->commands,
                 row->notes);
    const struct disruption_command *c = x.d->command_count != 0 ? x.d->commands : NULL;
    struct span grace = c != NULL && c->has_grace ? duration_text(&x.c.arena, c->grace) : (struct span){0};
    if (!span_eq(grace, span_of(row->grace)))
        fail_msg("%s: drained for \"%.*s\"", row->label, SPAN_ARG(grace));
    if (row->condition != NULL && (c == NULL || !span_eq(c->condition, span_of(row->condition))))
        fail_msg("%s: not for %s", row->label, row->condition);
    if (c != NULL && c->escalated != (row->reboots >= 2))
        fail_msg("%s: escalated %d", row->label, c->escalated);
    deciding_release(&x);
}

static void who_is_repaired(void **state)
{
    (void)state;
    static const struct repaired rows[] = {
        {"249: not at all", {D_ANY, ILL("n1", ILL_NOW)}, "", "", .off = true},
        {"251: before anything else",
         {D_ANY, D_NODE("n0", D_EMPTY), D_NODE("n2", D_DRIFTED), ILL("n1", ILL_NOW)}, "Repair delete n1\n", "", .off = false},
        {"252: with a replacement", {D_ANY, ILL("n1", ILL_NOW), D_POD("a", "n1", "1", "")}, "Repair replace n1 -> 1\n", "",
         .off = false},
        {"253: an empty one", {D_ANY, ILL("n1", ILL_NOW)}, "Repair delete n1\n", "", .off = false},
        {"not yet", {D_ANY, ILL("n1", BAD_SINCE("11:31:00"))}, "", "", .off = false},
        {"254: pods are on their way to it", {D_ANY, ILL("n1", ILL_NOW)}, "",
         "DisruptionBlocked n1: Node is nominated for a pending pod\n", .nominated = "n1"},
        {"254: it has never been initialised: nobody asks",
         {D_ANY, REGISTERED("karpenter.sh/registered: \"true\", ")}, "Repair delete n1\n", "", .nominated = "n1"},
        {"255: and it needs no budget",
         {D_POOL("default", "budgets: [{nodes: \"0\"}]", "", ""), REGISTERED("karpenter.sh/registered: \"true\", ")},
         "Repair delete n1\n", "", .off = false},
        {"255: it has not even registered", {D_ANY, REGISTERED("")}, "",
         "DisruptionBlocked n1: Node isn't initialized nor registered\n", .off = false},
        {"an initialised one does",
         {D_POOL("default", "budgets: [{nodes: \"0\"}]", "", ""), ILL("n1", ILL_NOW)}, "",
         "DisruptionBlocked pool/default: No allowed disruptions for disruption reason Unhealthy due to blocking budget\n",
         .off = false},
        {"256: a pod not to be disrupted", {D_ANY, ILL("n1", ILL_NOW), D_POD("a", "n1", "1", HELD)}, "",
         NEEDS_BOUND "DisruptionBlocked n1: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/a)\n", .off = false},
        {"257: the drain has an end, and the pod a place",
         {D_ANY, ILL("n1", ILL_NOW), D_POD("a", "n1", "1", HELD)}, "Repair replace n1 -> 1\n", "",
         .policies = {POLICY("BadNode", "", "30m", SPAN_INIT("5m"), 0, "ReplaceNode")}, .grace = "5m0s"},
        {"257: the claim's own",
         {D_ANY, ILL_WITH("n1", "", "terminationGracePeriod: 7m, ", "", ILL_NOW), D_POD("a", "n1", "1", HELD)},
         "Repair replace n1 -> 1\n", "", .off = false},
        {"258: the shorter of the two",
         {D_ANY, ILL_WITH("n1", "", "terminationGracePeriod: 5m, ", "", ILL_NOW)}, "Repair delete n1\n", "",
         .policies = {POLICY("BadNode", "", "30m", SPAN_INIT("20m"), 0, "ReplaceNode")}, .grace = "5m0s"},
        {"258: none at all", {D_ANY, ILL("n1", ILL_NOW)}, "Repair delete n1\n", "",
         .policies = {POLICY("BadNode", "", "30m", SPAN_INIT("0s"), 0, "ReplaceNode")}, .grace = "0s"},
        {"260: not to be repaired",
         {D_ANY, ILL_WITH("n1", "annotations: {karpenter.sh/do-not-repair: \"true\"}, ", "", "", ILL_NOW)}, "",
         "DisruptionBlocked n1: repair is blocked through the \"karpenter.sh/do-not-repair\" annotation\n", .off = false},
        {"260: nothing is due, nothing is said",
         {D_ANY, ILL_WITH("n1", "annotations: {karpenter.sh/do-not-repair: \"true\"}, ", "", "", BAD_SINCE("11:31:00"))}, "", "",
         .off = false},
        {"260: \"yes\" is not \"true\"",
         {D_ANY, ILL_WITH("n1", "annotations: {karpenter.sh/do-not-repair: \"yes\"}, ", "", "", ILL_NOW)},
         "Repair delete n1\n", "", .off = false},
        {"260: do-not-disrupt is no matter", {D_ANY, ILL_WITH("n1", HELD, "", "", ILL_NOW)}, "Repair delete n1\n", "",
         .off = false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        hold(&rows[i]);
}

static void which_one(void **state)
{
    (void)state;
    static const struct repaired rows[] = {
#define MINOR POLICY("Minor", "Known", "30m", NO_GRACE, 10, "ReplaceNode")
#define MAJOR POLICY("Major", "Known", "30m", NO_GRACE, 90, "ReplaceNode")
#define WELL D_NODE("w1", ""), D_NODE("w2", ""), D_NODE("w3", ""), D_NODE("w4", "")
        {"261: the more important one",
         {D_ANY, ILL("n1", COND("Minor", "Known", "11:20:00")), ILL("n2", COND("Major", "Known", "11:20:00")), WELL},
         "Repair delete n2\n", "", .policies = {MINOR, MAJOR, PLAIN}},
        {"261: an hour longer makes up for it",
         {D_ANY, ILL("n1", COND("Minor", "Known", "10:19:00")), ILL("n2", COND("Major", "Known", "11:20:00")), WELL},
         "Repair delete n1\n", "", .policies = {MINOR, MAJOR, PLAIN}},
        {"262: equals by name", {D_ANY, ILL("n2", ILL_NOW), ILL("n1", ILL_NOW), WELL}, "Repair delete n1\n", "", .off = false},
        {"262: whose pods cost less before that",
         {D_ANY, ILL("n1", ILL_NOW), ILL("n2", ILL_NOW), D_POD("a", "n1", "1", ""), WELL}, "Repair delete n2\n", "",
         .off = false},
        {"263: the bound is the shortest of all that are due",
         {D_ANY, ILL("n1", COND("Minor", "Known", "11:20:00") COND("Major", "Known", "11:20:00"))}, "Repair delete n1\n", "",
         .policies = {POLICY("Minor", "Known", "30m", SPAN_INIT("15m"), 10, "ReplaceNode"),
                      POLICY("Major", "Known", "30m", SPAN_INIT("5m"), 90, "ReplaceNode"), PLAIN},
         .grace = "5m0s", .condition = "Major"},
        {"229: what is not due yet counts for nothing",
         {D_ANY, ILL("n1", COND("Minor", "Known", "11:20:00") COND("Major", "Known", "11:40:00"))}, "Repair delete n1\n", "",
         .policies = {POLICY("Minor", "Known", "30m", SPAN_INIT("15m"), 10, "ReplaceNode"),
                      POLICY("Major", "Known", "30m", SPAN_INIT("5m"), 90, "ReplaceNode"), PLAIN},
         .grace = "15m0s", .condition = "Minor"},
        {"229: of equal priority the one that was due first",
         {D_ANY, ILL("n1", COND("Minor", "Known", "11:10:00") COND("Major", "Known", "11:09:00"))}, "Repair delete n1\n", "",
         .policies = {POLICY("Minor", "Known", "30m", NO_GRACE, 10, "ReplaceNode"),
                      POLICY("Major", "Known", "30m", NO_GRACE, 10, "ReplaceNode"), PLAIN},
         .condition = "Major"},
        {"264: a policy of its own holds the fallback back",
         {D_ANY, ILL("n1", BAD_SINCE("11:20:00"))}, "", "",
         .policies = {POLICY("BadNode", "Broken", "60m", NO_GRACE, 0, "ReplaceNode"), PLAIN}},
        {"264: for its own reason alone",
         {D_ANY, ILL("n1", BAD_SINCE("11:20:00"))}, "Repair delete n1\n", "",
         .policies = {POLICY("BadNode", "^Other$", "60m", NO_GRACE, 0, "ReplaceNode"), PLAIN}},
        {"265, 268: what is said of it since then makes it no younger",
         {D_ANY, ILL("n1", ", {type: BadNode, status: \"False\", reason: New, message: news, lastHeartbeatTime: "
                           "\"2026-01-01T11:59:00Z\", lastTransitionTime: \"2026-01-01T11:29:00Z\"}")},
         "Repair delete n1\n", "", .off = false},
        {"266: the fallback is there for every condition that is named",
         {D_ANY, ILL("n1", COND("Minor", "Odd", "11:20:00"))}, "Repair delete n1\n", "", .policies = {MINOR, PLAIN}},
        {"and for no other", {D_ANY, ILL("n1", COND("Odd", "Known", "11:20:00"))}, "", "", .policies = {MINOR, PLAIN}},
        {"267: no longer than the node is there",
         {D_ANY,
          ILL("n1", ", {type: BadNode, status: \"False\", lastTransitionTime: \"2020-01-01T00:00:00Z\"}")},
         "", "", .policies = {POLICY("BadNode", "", "13h", NO_GRACE, 0, "ReplaceNode")}},
        {"267: nobody says since when",
         {D_ANY, ILL("n1", ", {type: BadNode, status: \"False\"}")}, "Repair delete n1\n", "", .off = false},
        {"269: two of three", {D_ANY, ILL("n1", ILL_NOW), ILL("n2", ILL_NOW), D_NODE("w1", "")}, "",
         TRIPPED("n1") TRIPPED("n2"), .off = false},
        {"269: one of three", {D_ANY, ILL("n1", ILL_NOW), D_NODE("w1", ""), D_NODE("w2", "")}, "Repair delete n1\n", "",
         .off = false},
        {"269: who waits yet counts",
         {D_ANY, ILL("n1", ILL_NOW), ILL("n2", BAD_SINCE("11:59:00")), D_NODE("w1", "")}, "", TRIPPED("n1"), .off = false},
        {"272: no pool is ready",
         {ILL("n1", ILL_NOW), D_POD("a", "n1", "1", ""),
          "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: []}}}\n"
          "status: {conditions: [{type: Ready, status: \"False\"}]}\n"},
         "", "error: no dynamic NodePool is ready, so nobody knows where the pods could go\n", .off = false},
        {"289: since its last reboot",
         {D_ANY,
          ILL_WITH("n1", "", "", ", {type: Rebooting, status: \"False\", lastTransitionTime: \"2026-01-01T11:31:00Z\"}",
                   BAD_SINCE("10:51:00"))},
         "", "", .off = false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        hold(&rows[i]);
}

#define REBOOT POLICY("BadNode", "Broken", "10m", SPAN_INIT("5m"), 0, "RebootNode")
#define STATIC(replicas_, limit_)                                                                  \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {replicas: " replicas_ ", limits: {" limit_ "}, template: {spec: {requirements: []}}}\n"
#define AT_LIMIT "DisruptionBlocked n1: static NodePool is at its node limit and cannot stage a replacement\n"
#define RESERVED_FULL                                                                              \
    "---\nkind: InstanceTypes\nreservationIDLabel: example.com/id\nitems:\n"                       \
    "- {name: t, resources: {cpu: 4, memory: 4Gi, pods: 5}, offerings: [{zone: test-zone-1, capacity: reserved, " \
    "reservation: r1, reservations: 0, price: 0.01, available: true}]}\n"
#define HOLDER                                                                                     \
    D_NODE_OF("n1", "default", "t",                                                                \
              "topology.kubernetes.io/zone: test-zone-1, karpenter.sh/capacity-type: reserved, example.com/id: r1, ", "", \
              "", "terminationGracePeriod: 5m, ", "", D_READY ILL_NOW)

static void in_which_way(void **state)
{
    (void)state;
    static const struct repaired rows[] = {
        {"274: by a reboot", {D_ANY, ILL("n1", ILL_NOW), D_POD("a", "n1", "1", "")}, "Repair reboot n1\n", "",
         .policies = {REBOOT, PLAIN}, .grace = "5m0s"},
        {"275: whose drain nothing ends", {D_ANY, ILL("n1", ILL_NOW)}, "Repair reboot n1\n", "",
         .policies = {POLICY("BadNode", "Broken", "10m", NO_GRACE, 0, "RebootNode"), PLAIN}},
        {"288: once more", {D_ANY, ILL("n1", ILL_NOW)}, "Repair reboot n1\n", "", .policies = {REBOOT, PLAIN}, .grace = "5m0s",
         .reboots = 1},
        {"288: and no more", {D_ANY, ILL("n1", ILL_NOW)}, "Repair delete n1\n", "", .policies = {REBOOT, PLAIN}, .grace = "5m0s",
         .reboots = 2},
        {"229: replacing is more than rebooting, whatever the priorities",
         {D_ANY, ILL("n1", COND("Minor", "Known", "11:20:00") COND("Major", "Known", "11:20:00"))}, "Repair delete n1\n", "",
         .policies = {POLICY("Minor", "Known", "30m", NO_GRACE, 10, "ReplaceNode"),
                      POLICY("Major", "Known", "30m", NO_GRACE, 90, "RebootNode"), PLAIN},
         .condition = "Minor"},
        {"229: replacing is more than rebooting",
         {D_ANY, ILL("n1", ILL_NOW)}, "Repair delete n1\n", "",
         .policies = {REBOOT, POLICY("BadNode", "Bro", "30m", NO_GRACE, 0, "ReplaceNode"), PLAIN}, .grace = "5m0s"},
        {"271: a static pool with room", {STATIC("1", "nodes: 2"), ILL("n1", ILL_NOW)}, "Repair replace n1 -> 1\n", "",
         .off = false},
        {"271: without", {STATIC("1", "nodes: 1"), ILL("n1", ILL_NOW)}, "", AT_LIMIT, .off = false},
        {"271: that is to shrink", {STATIC("1", ""), ILL("n1", ILL_NOW), D_NODE("n2", "")}, "", "", .off = false},
        {"293: with its own gate it goes first", {STATIC("1", "nodes: 1"), ILL("n1", ILL_NOW)},
         "Repair terminate-first n1\n", "", .gate = true},
        {"299: a full reservation, and a pod that may not be moved",
         {D_ANY, RESERVED_FULL, HOLDER, D_POD("a", "n1", "1", HELD)}, "Repair terminate-first n1\n", "", .gate = true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        hold(&rows[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_repaired),
        cmocka_unit_test(which_one),
        cmocka_unit_test(in_which_way),
    };
    return cmocka_run_group_tests_name("repair method", tests, NULL, NULL);
}
