/* Scenario 207: in which zone a pod that waits will have to end. Three zones, z1 to z3. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/supply/effective_zone.h"

#define ZONE "topology.kubernetes.io/zone"
#define BASE                                                                                       \
    "kind: InstanceTypes\nitems:\n- {name: t, resources: {cpu: 4, memory: 8Gi, pods: 10}, "       \
    "offerings: [{zone: z1, capacity: spot, price: 1}, {zone: z2, capacity: spot, price: 1}, "     \
    "{zone: z3, capacity: spot, price: 1}]}\n"                                                     \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {template: {spec: {requirements: []}}}\n"
#define POD(name_, spec_)                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {app: web}}\n"            \
    "spec: {containers: [{name: c}], " spec_ "}\n"                                                 \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n"
#define ON(zone_, app_)                                                                            \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n-" zone_ ", labels: {" ZONE ": " zone_    \
    "}}\nstatus: {allocatable: {cpu: 1, pods: 9}}\n---\napiVersion: v1\nkind: Pod\n"               \
    "metadata: {name: on-" zone_ ", labels: {app: " app_ "}}\n"                                    \
    "spec: {nodeName: n-" zone_ ", containers: [{name: c}]}\nstatus: {phase: Running}\n"
#define NEAR(kind_, app_)                                                                          \
    "affinity: {" kind_ ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " ZONE  \
    ", labelSelector: {matchLabels: {app: " app_ "}}}]}}"
#define SPREAD(more_)                                                                              \
    "topologySpreadConstraints: [{topologyKey: " ZONE ", maxSkew: 1, whenUnsatisfiable: "          \
    "DoNotSchedule, labelSelector: {matchLabels: {app: web}}" more_ "}]"
#define IN_Z2 "nodeSelector: {" ZONE ": z2}"
#define VOLUME_IN(zones_)                                                                          \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, annotations: "       \
    "{pv.kubernetes.io/bind-completed: \"yes\"}}\nspec: {storageClassName: s, volumeName: v}\n"    \
    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\n"                           \
    "spec: {csi: {driver: d, volumeHandle: v}, nodeAffinity: {required: {nodeSelectorTerms: ["     \
    "{matchExpressions: [{key: " ZONE ", operator: In, values: [" zones_ "]}]}]}}}\n"
#define USES_IT "volumes: [{name: x, persistentVolumeClaim: {claimName: data}}]"

static const struct {
    const char *label, *objects, *want;
} rows[] = {
    {"207 free", BASE POD("a", "priority: 0"), "flexible=1 "},
    {"207 selector", BASE POD("a", IN_Z2) POD("b", IN_Z2) POD("c", IN_Z2), "z2=3 "},
    {"207 preferred only",
     BASE POD("a", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
                   "{matchExpressions: [{key: " ZONE ", operator: In, values: [z2]}]}}]}}"),
     "flexible=1 "},
    {"207 volume in z1", BASE VOLUME_IN("z1") POD("a", USES_IT), "z1=1 "},
    {"207 volume in z1 or z2", BASE VOLUME_IN("z1, z2") POD("a", USES_IT), "flexible=1 "},
    {"207 volume and selector apart", BASE VOLUME_IN("z2") POD("a", "nodeSelector: {" ZONE ": z1}, " USES_IT), "none=1 "},
    {"207 affinity to a pod in z1", BASE ON("z1", "db") POD("a", NEAR("podAffinity", "db")), "z1=1 "},
    {"207 anti-affinity, one zone left", BASE ON("z1", "web") ON("z2", "web") POD("a", NEAR("podAntiAffinity", "web")), "z3=1 "},
    {"207 anti-affinity, none left",
     BASE ON("z1", "web") ON("z2", "web") ON("z3", "web") POD("a", NEAR("podAntiAffinity", "web")), "none=1 "},
    {"207 spread", BASE ON("z1", "web") ON("z2", "web") POD("a", SPREAD("")), "z3=1 "},
    {"207 spread over too few zones",
     BASE ON("z1", "web") ON("z2", "web") ON("z3", "web") POD("a", SPREAD(", minDomains: 4")), "none=1 "},
    {"selector within what a spread allows",
     BASE ON("z1", "web") POD("a", "nodeSelector: {" ZONE ": z2}, " SPREAD("")), "z2=1 "},
    {"all but one zone is excluded, nothing else is known",
     BASE POD("a", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
                   "[{key: " ZONE ", operator: NotIn, values: [z1]}]}]}}}"),
     "flexible=1 "},
    {"several pods", BASE POD("a", IN_Z2) POD("b", "priority: 0") POD("c", "priority: 1"), "flexible=2 z2=1 "},
    {"nor one that has a node, and leaves it before it has started",
     BASE "---\napiVersion: v1\nkind: Node\nmetadata: {name: going, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nstatus: "
     "{allocatable: {cpu: 1, pods: 9}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: going, "
     "containers: [{name: c}]}\nstatus: {phase: Pending}\n" POD("b", IN_Z2), "z2=1 "},
    {"one that fails validation is not counted", BASE POD("a", "nodeSelector: {kubernetes.io/hostname: x}"), ""},
};

static void zones(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf got = {0};
        uint32_t count;
        cluster_init(&c);
        cluster_add(&c, rows[i].objects);
        cluster_plan(&c);
        const struct zone_count *list = effective_zones(&c.arena, c.world, &count);
        for (uint32_t k = 0; k < count; k++)
            buf_addf(&got, "%.*s=%u ", SPAN_ARG(list[k].zone), list[k].pods);
        if (!span_eq(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: got %.*s, want %s", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
        buf_release(&got);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(zones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
