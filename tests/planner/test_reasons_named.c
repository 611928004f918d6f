/* What stands in a pod's way is called by its name: who holds a host port, which DaemonSet eats the nodes,
 * which labels contradict each other, which requirement leaves no type, which limit is used up; and what may
 * have been meant is offered. */
#include "support_reasons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARCH "kubernetes.io/arch"
#define POOL_OF(requirements_)                                                                     \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {template: {spec: {requirements: [" requirements_ "]}}}\n"
#define REQUIRE(key_, values_) "{key: " key_ ", operator: In, values: [" values_ "]}"
#define DAEMON(name_, container_)                                                                  \
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " name_ ", namespace: kube-system}\n" \
    "spec: {template: {spec: {containers: [{name: c, " container_ "}]}}}\n"
#define EATS(name_, amounts_) DAEMON(name_, "resources: {requests: {" amounts_ "}}")
#define PORT(port_) "ports: [{hostPort: " port_ ", containerPort: 80}]"
#define HOLDS(name_, ports_) DAEMON(name_, ports_)
#define CONTAINER(name_, container_, more_)                                                        \
    POD_META(name_, "") "spec: {containers: [{name: c, " container_ "}]" more_ "}\n" PENDING
#define AFFINE(expressions_)                                                                       \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                   \
    "{nodeSelectorTerms: [{matchExpressions: [" expressions_ "]}]}}}"

static void host_ports(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"a DaemonSet has it on each node",
         PLAIN_POOL HOLDS("exporter", PORT("9100")) CONTAINER("a", PORT("9100"), ""),
         "asks for host port 9100, which DaemonSet kube-system/exporter takes on each node of pool default. Fix: take "
         "another host port, or keep DaemonSet kube-system/exporter off pool default", NULL,
         PLAIN_POOL HOLDS("exporter", PORT("9100")) CONTAINER("a", PORT("9101"), "")},
        {"of several DaemonSets the one that wants it",
         PLAIN_POOL HOLDS("agent", PORT("1")) HOLDS("dns", "ports: [{hostPort: 53, containerPort: 53, protocol: UDP}]")
         CONTAINER("a", "ports: [{hostPort: 53, containerPort: 53, protocol: UDP}]", ""),
         "asks for host port 53/UDP, which DaemonSet kube-system/dns takes on each node of pool default. Fix: take "
         "another host port, or keep DaemonSet kube-system/dns off pool default", NULL, NULL},
        {"a pod has it on the one node, and nothing is bought",
         POOL_IN("test-zone-9") NODE("n1", "test-zone-1", ROOM)
         POD_META("w", "") "spec: {nodeName: n1, containers: [{name: c, " PORT("8080") "}]}\nstatus: {phase: Running}\n"
         CONTAINER("a", PORT("8080"), ""),
         "finds no type in pool default: no type meets its requirement topology.kubernetes.io/zone In [test-zone-9] "
         "(there are test-zone-1, test-zone-2 and test-zone-3). Fix: let pool default ask for a "
         "topology.kubernetes.io/zone that there is",
         "nodes: 1 looked at; its host ports are taken on 1 (on n1 host port 8080 is taken by default/w)", NULL},
    };
    CHECK_ROWS(rows);
}

static void daemon_sets(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"one eats what would hold the pod",
         PLAIN_POOL EATS("log", "cpu: 10") CONTAINER("a", "resources: {requests: {cpu: 8}}", ""),
         "asks for 8 CPUs; the largest type that pool default may buy has 5.9 CPUs for pods; DaemonSet kube-system/log "
         "takes 10 CPUs of each node. Fix: let DaemonSet kube-system/log ask for less, or ask for at most 5.9 CPUs (no "
         "type of the catalogue has 8 for pods)", NULL,
         PLAIN_POOL EATS("log", "cpu: 1") CONTAINER("a", "resources: {requests: {cpu: 8}}", "")},
        {"two do; the heavier is named",
         PLAIN_POOL EATS("log", "cpu: 6") EATS("net", "cpu: 4") CONTAINER("a", "resources: {requests: {cpu: 8}}", ""),
         "asks for 8 CPUs; the largest type that pool default may buy has 5.9 CPUs for pods; DaemonSets take 10 CPUs of "
         "each node, DaemonSet kube-system/log 6 CPUs of them. Fix: let DaemonSet kube-system/log ask for less, or ask "
         "for at most 5.9 CPUs (no type of the catalogue has 8 for pods)", NULL,
         PLAIN_POOL EATS("log", "cpu: 1") EATS("net", "cpu: 4") CONTAINER("a", "resources: {requests: {cpu: 8}}", "")},
        {"one that is not at fault is not named",
         PLAIN_POOL EATS("log", "cpu: 1") CONTAINER("a", "resources: {requests: {cpu: 20}}", ""),
         "asks for 20 CPUs; the largest type that pool default may buy has 14.9 CPUs for pods. Fix: ask for at most 14.9 "
         "CPUs (no type of the catalogue has 20 for pods)", NULL,
         PLAIN_POOL EATS("log", "cpu: 1") CONTAINER("a", "resources: {requests: {cpu: 14}}", "")},
        {"one is larger than any node",
         PLAIN_POOL EATS("log", "cpu: 20") POD("a", "", "priority: 0"),
         "finds no type in pool default: DaemonSet kube-system/log takes 20 CPUs of each node, and the largest type that "
         "its requirements leave has 15.9 CPUs. Fix: let DaemonSet kube-system/log ask for less, or keep it off pool "
         "default", NULL, PLAIN_POOL EATS("log", "cpu: 1") POD("a", "", "priority: 0")},
    };
    CHECK_ROWS(rows);
}

static void pools_without_types(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"by another name", POOL_OF(REQUIRE(ARCH, "x86_64")) POD("a", "", "priority: 0"),
         "finds no type in pool default: no type meets its requirement kubernetes.io/arch In [x86_64] (did you mean "
         "amd64?). Fix: let pool default ask for a kubernetes.io/arch that there is", NULL,
         POOL_OF(REQUIRE(ARCH, "amd64")) POD("a", "", "priority: 0")},
        {"the one of several that no type meets",
         POOL_OF(REQUIRE(ARCH, "amd64") ", " REQUIRE("karpenter.sh/capacity-type", "spto") ", " REQUIRE("team", "ml"))
         POD("a", "", "nodeSelector: {team: ml}"),
         "finds no type in pool default: no type meets its requirement karpenter.sh/capacity-type In [spto] (did you mean "
         "spot?). Fix: let pool default ask for a karpenter.sh/capacity-type that there is", NULL, NULL},
        {"two that contradict each other",
         POOL_OF(REQUIRE(ARCH, "amd64") ", " REQUIRE(ARCH, "arm64")) POD("a", "", "priority: 0"),
         "finds no type in pool default: its requirements kubernetes.io/arch In [amd64] and kubernetes.io/arch In [arm64] "
         "contradict each other. Fix: take one of these requirements from pool default", NULL,
         POOL_OF(REQUIRE(ARCH, "arm64")) POD("a", "", "priority: 0")},
        {"two that no type meets at once",
         POOL_OF(REQUIRE(ARCH, "arm64") ", " REQUIRE("node.kubernetes.io/instance-type", "small-instance-type") ", "
                 REQUIRE("team", "ml")) POD("a", "", "nodeSelector: {team: ml}"),
         "finds no type in pool default: no type meets its requirements kubernetes.io/arch In [arm64] and "
         "node.kubernetes.io/instance-type In [small-instance-type] at once. Fix: loosen one of these requirements of "
         "pool default", NULL,
         POOL_OF(REQUIRE(ARCH, "amd64, arm64") ", " REQUIRE("node.kubernetes.io/instance-type", "small-instance-type") ", "
                 REQUIRE("team", "ml")) POD("a", "", "nodeSelector: {team: ml}")},
    };
    CHECK_ROWS(rows);
}

static void contradictions(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"selector and affinity",
         PLAIN_POOL POD("a", "", "nodeSelector: {" ZONE ": test-zone-1}, " AFFINE(REQUIRE(ZONE, "test-zone-2"))),
         "asks for topology.kubernetes.io/zone=test-zone-1 in its node selector and topology.kubernetes.io/zone In "
         "[test-zone-2] in its node affinity, which no node has at once. Fix: take one of the two away", NULL,
         PLAIN_POOL POD("a", "", AFFINE(REQUIRE(ZONE, "test-zone-2")))},
        {"two expressions of one term, by an old name of the label",
         PLAIN_POOL POD("a", "", "nodeSelector: {size: small}, "
                        AFFINE(REQUIRE("beta." ARCH, "arm64") ", {key: " ARCH ", operator: NotIn, values: [arm64]}")),
         "asks for kubernetes.io/arch In [arm64] in its node affinity and kubernetes.io/arch NotIn [arm64] in its node "
         "affinity, which no node has at once. Fix: take one of the two away", NULL,
         PLAIN_POOL POD("a", "", "nodeSelector: {size: small}, " AFFINE("{key: " ARCH ", operator: NotIn, values: [arm64]}"))},
    };
    CHECK_ROWS(rows);
}

static void values_nearby(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"two letters swapped", POOL_OF(REQUIRE("team", "team-a, web")) POD("a", "", "nodeSelector: {team: wbe}"),
         "asks for team In [wbe] (did you mean web?); pool default has team In [team-a web]. Fix: let pool default allow "
         "team In [wbe], or ask for what it has", NULL,
         POOL_OF(REQUIRE("team", "team-a, web")) POD("a", "", "nodeSelector: {team: web}")},
        {"another of a series is no slip", POOL_OF(REQUIRE("team", "team-a")) POD("a", "", "nodeSelector: {team: team-b}"),
         "asks for team In [team-b]; pool default has team In [team-a]. Fix: let pool default allow team In [team-b], or "
         "ask for what it has", NULL, POOL_OF(REQUIRE("team", "team-a, team-b")) POD("a", "", "nodeSelector: {team: team-b}")},
        {"by another name", PLAIN_POOL POD("a", "", "nodeSelector: {" ARCH ": aarch64}"),
         "asks for kubernetes.io/arch In [aarch64], which no type of pool default has (did you mean arm64?). Fix: ask for "
         "what a type of pool default has", NULL,
         PLAIN_POOL POD("a", "", "nodeSelector: {" ARCH ": arm64}")},
        {"the zones there are", PLAIN_POOL POD("a", "", "nodeSelector: {" ZONE ": test-zone-7}"),
         "asks for topology.kubernetes.io/zone In [test-zone-7], which no type of pool default has (there are "
         "test-zone-1, test-zone-2 and test-zone-3). Fix: ask for what a type of pool default has", NULL,
         PLAIN_POOL POD("a", "", "nodeSelector: {" ZONE ": test-zone-3}")},
        {"a toleration of nearly the taint",
         "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: [], "
         "taints: [{key: gpu, value: nvidia, effect: NoSchedule}]}}}\n"
         POD("a", "", "tolerations: [{key: gpu, value: nvidai, effect: NoSchedule}]"),
         "does not tolerate taint gpu=nvidia:NoSchedule (it tolerates gpu=nvidai:NoSchedule) of pool default. Fix: "
         "tolerate gpu=nvidia:NoSchedule, or take the taint from the pool", NULL, NULL},
        {"the pool has it under a slip of its own", POOL_OF(REQUIRE("team", "taem")) POD("a", "", "nodeSelector: {team: team}"),
         "asks for team In [team] (did you mean taem?); pool default has team In [taem]. Fix: let pool default allow team "
         "In [team], or ask for what it has", NULL, POOL_OF(REQUIRE("team", "team")) POD("a", "", "nodeSelector: {team: team}")},
    };
    CHECK_ROWS(rows);
}

#define VALUES_POOL(name_, limits_, values_)                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"              \
    "spec: {" limits_ "template: {spec: {requirements: [" REQUIRE("team-zone", values_) "]}}}\n"
#define SPREAD_POD(name_) POD(name_, "app: web", SPREAD("team-zone", "1", ""))
#define TEN_PODS                                                                                   \
    SPREAD_POD("p0") SPREAD_POD("p1") SPREAD_POD("p2") SPREAD_POD("p3") SPREAD_POD("p4")           \
    SPREAD_POD("p5") SPREAD_POD("p6") SPREAD_POD("p7") SPREAD_POD("p8") SPREAD_POD("p9")

/* The spread could be kept, if only the other pool were let: its limit is told, before what follows from it. */
static void limits_behind_a_spread(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    c.plan_options.search = SEARCH_GREEDY;
    cluster_add(&c, VALUES_POOL("open", "", "v1, v2, v3") VALUES_POOL("tight", "limits: {memory: 4Gi}, ", "v4, v5"));
    cluster_add(&c, TEN_PODS);
    cluster_plan(&c);
    const struct plan_unschedulable *u = cluster_failed(&c, "p9");
    assert_non_null(u);
    static const char want[] =
        "finds only 0 of memory left within the limits of pool tight (4Gi: 0 used, 4Gi planned), and every type that "
        "would hold it has more; in pool open it would break its spread over team-zone (maxSkew 1: v1 1, v2 1, v3 1, v4 "
        "1, v5 0); pool open can buy room for it only in v1, v2 and v3. Fix: raise spec.limits.memory of pool tight, or "
        "raise maxSkew over team-zone to ";
    struct span message = why_text(&c.arena, &u->why);
    if (!span_has_prefix(message, span_of(want)))
        fail_msg("got:\n%.*s\nwant:\n%s", SPAN_ARG(message), want);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_ports),     cmocka_unit_test(daemon_sets),
        cmocka_unit_test(contradictions), cmocka_unit_test(pools_without_types),
        cmocka_unit_test(values_nearby),  cmocka_unit_test(limits_behind_a_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
