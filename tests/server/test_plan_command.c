/* `stowage plan` as a program: what it refuses, and what it says on standard error. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "server/command.h"
#include "support_command.h"

enum { ARGS_MAX = COMMAND_ARGS_MAX - 2 };

/* `plan` over the objects. */
static struct outcome run(const char *objects, const char *const *args)
{
    const char *all[COMMAND_ARGS_MAX] = {"-f", "{}"};
    for (int i = 0; i < ARGS_MAX && args[i] != NULL; i++)
        all[2 + i] = args[i];
    return run_command(command_plan, objects, all);
}

#define NODE "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"

static const struct {
    const char *args[ARGS_MAX], *want;
} refused[] = {
    {{"--rebooted=n2=1"}, "--rebooted: there is no node \"n2\" in the input"},
    {{"--reserved-nodes=p=1"}, "--reserved-nodes: there is no NodePool \"p\" with replicas in the input"},
    {{"--ignore-dra-requests=false"},
     "--ignore-dra-requests=false needs devices, which plan's input does not have"},
    {{"--remove=n1,n2"}, "--remove: there is no node \"n2\" in the input"},
    {{"--nominated=n1,n2"}, "--nominated: there is no node \"n2\" in the input"},
    {{"--buffer-nodes=n3"}, "--buffer-nodes: there is no node \"n3\" in the input"},
};

static void refused_in_one_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct outcome o = run(NODE, refused[i].args);
        char want[256];
        snprintf(want, sizeof(want), "stowage plan: %s\n", refused[i].want);
        if (o.status != 2 || strcmp(o.text, want) != 0)
            fail_msg("%s: status %d, %s", refused[i].args[0], o.status, o.text);
    }
}

static void taken(void **state)
{
    (void)state;
    static const char *const args[][ARGS_MAX] = {
        {"--remove=n1"},
        {"--nominated=n1", "--buffer-nodes=n1"}, /* which change nothing without --disruption */
        {"--disruption=false"},
        {"--feature-gates=NodeRepair=true", "--legacy-node-repair"}, /* which has no method of its own */
    };
    for (size_t i = 0; i < COUNT_OF(args); i++) {
        struct outcome o = run(NODE, args[i]);
        if (o.status != 0)
            fail_msg("%s: status %d, %s", args[i][0], o.status, o.text);
    }
}

#define EMPTY_NODE_OF(pool_)                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web" pool_ "}\n"           \
    "spec: {disruption: {consolidateAfter: 0s}, template: {spec: {requirements: [], nodeClassRef: " \
    "{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"                          \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n2, labels: {karpenter.sh/nodepool: web}}\n" \
    "spec: {requirements: []}\n"                                                                  \
    "status: {providerID: \"x://n2\", conditions: [{type: Consolidatable, status: \"True\"}]}\n"   \
    "---\napiVersion: v1\nkind: Node\n"                                                           \
    "metadata: {name: n2, labels: {karpenter.sh/nodepool: web, karpenter.sh/registered: \"true\", karpenter.sh/initialized: " \
    "\"true\", node.kubernetes.io/instance-type: c-4x-amd64-linux, topology.kubernetes.io/zone: test-zone-a, " \
    "karpenter.sh/capacity-type: spot}}\nspec: {providerID: \"x://n2\"}\nstatus: {conditions: [{type: Ready, status: \"True\"}]}\n"

#define EMPTY_NODE EMPTY_NODE_OF("")

static void disruption_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *args[ARGS_MAX], *want, *not;
    } rows[] = {
        {{"-o", "json"}, "\"nodeClaims\"", "\"disruption\""},
        {{"-o", "json", "--disruption"}, "\"method\": \"Emptiness\",\n      \"reason\": \"empty\",\n      \"decision\": "
         "\"delete\",\n      \"candidates\": [\n        \"n2\"\n      ],\n      \"replacements\": [],\n      "
         "\"savingsPerHour\": ", "terminationGracePeriod"},
        {{"-o", "yaml", "--disruption"}, "decision: delete\n", "Drift"},
        {{"-o", "json", "--disruption-all"}, "\"Emptiness\"", "\"Drift\""},
        {{"-o", "json", "--disruption", "--nominated=n2"}, "\"disruption\": []", "Emptiness"},
        {{"-o", "json", "--disruption", "--buffer-nodes=n2"}, "\"disruption\": []", "Emptiness"},
        {{"--disruption"}, "\nMOVES\n  remove n2 (empty): saves $", "stays"},
        {{"--disruption"}, "/h, evicts 0 pods, pays back at once\n", "none"},
        {{"--disruption", "--verbose", "--nominated=n2"}, "MOVES\n  none: no node is to leave now\n  n2 stays: Node is "
         "nominated for a pending pod\n", "remove"},
        {{"-o", "table"}, "Nothing waits", "MOVES"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run(NODE EMPTY_NODE, rows[i].args);
        if (o.status != 0 || strstr(o.text, rows[i].want) == NULL || strstr(o.text, rows[i].not) != NULL)
            fail_msg("row %zu: status %d, %s", i, o.status, o.text);
    }
}

static void what_is_only_recommended_stands_apart(void **state)
{
    (void)state;
    static const struct {
        const char *args[ARGS_MAX], *want, *not;
    } rows[] = {
        {{"-o", "json", "--disruption"}, "\"disruption\": [],\n  \"recommended\": [\n    {\n      \"method\": \"Emptiness\",", "stays"},
        {{"-o", "json"}, "\"nodeClaims\"", "\"recommended\""},
        {{"--disruption"}, "\nMOVES\n  none: no node is to leave now\n\nRECOMMENDED, not made since stowage.dev/mode says so\n"
                           "  remove n2 (empty): saves $", "stays"},
        {{"--disruption", "--nominated=n2"}, "none: no node is to leave now\n", "RECOMMENDED"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run(NODE EMPTY_NODE_OF(", annotations: {stowage.dev/mode: recommend}"), rows[i].args);
        if (o.status != 0 || strstr(o.text, rows[i].want) == NULL || strstr(o.text, rows[i].not) != NULL)
            fail_msg("row %zu: status %d, %s", i, o.status, o.text);
    }
}

#define TYPE "{\"name\": \"t\", \"requirements\": [], \"resources\": {\"cpu\": \"4\", \"memory\": \"4Gi\"}, \"offerings\": []}"
#define POLICY(status_, action_)                                                                   \
    "{\"conditionType\": \"Ready\", \"conditionStatus\": \"" status_ "\", \"tolerationDuration\": \"30m\", "          \
    "\"terminationGracePeriod\": \"5m\", \"priority\": 3, \"action\": \"" action_ "\"}"
#define CATALOGUE(policies_) "{\"instanceTypes\": [" TYPE "], \"repairPolicies\": [" policies_ "]}"
#define ILL_NODE                                                                                   \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web}\nspec: {template: {spec: {requirements: [], " \
    "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"             \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n2, labels: {karpenter.sh/nodepool: web}}\n" \
    "spec: {requirements: []}\nstatus: {providerID: \"x://n2\"}\n"                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2, labels: {karpenter.sh/nodepool: web, karpenter.sh/registered: "  \
    "\"true\", karpenter.sh/initialized: \"true\"}}\nspec: {providerID: \"x://n2\"}\n"             \
    "status: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}\n"

static void repair_follows_its_policies(void **state)
{
    (void)state;
    static const struct {
        const char *catalogue, *gate, *more;
        int status;
        const char *want[2], *not;
    } rows[] = {
        {CATALOGUE(POLICY("False", "ReplaceNode")), "NodeRepair=true", NULL, 0,
         {"\"method\": \"Repair\",\n      \"reason\": \"unhealthy\",\n      \"decision\": \"delete\"",
          "\"terminationGracePeriod\": \"5m0s\""}, "DisruptionBlocked"},
        {CATALOGUE(POLICY("False", "ReplaceNode")), "NodeRepair=false", NULL, 0, {"\"disruption\": []", ""}, "Repair"},
        {CATALOGUE(POLICY("False", "ReplaceNode")), "NodeRepair=true", "--legacy-node-repair", 0,
         {"\"disruption\": []", ""}, "Repair"},
        {CATALOGUE(POLICY("Bad", "Pray")), "NodeRepair=false", NULL, 0, {"\"disruption\": []", ""}, "Repair"},
        {CATALOGUE(POLICY("Bad", "Pray")), "NodeRepair=true", NULL, 2,
         {"priority: 3, action: \"Pray\"}: conditionStatus: is not True, False or Unknown\n",
          "action: is not ReplaceNode or RebootNode\n"}, "nodeClaims"},
        {CATALOGUE(""), "NodeRepair=true", NULL, 2,
         {"repairPolicies: none has an empty reasonRegex; one has to be the fallback\nstowage plan: --feature-gates "
          "NodeRepair=true needs repairPolicies in catalogue /tmp/", "that are right; nothing planned\n"}, "nodeClaims"},
        {CATALOGUE("{\"conditionTyp\": \"Ready\"}"), "NodeRepair=false", NULL, 2, {"conditionTyp", ""}, "nodeClaims"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[] = "/tmp/test_plan_command.XXXXXX", types[64], gates[64];
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_true(write(fd, rows[i].catalogue, strlen(rows[i].catalogue)) == (ssize_t)strlen(rows[i].catalogue));
        close(fd);
        snprintf(types, sizeof(types), "--instance-types=%s", path);
        snprintf(gates, sizeof(gates), "--feature-gates=%s", rows[i].gate);
        struct outcome o = run(NODE ILL_NODE, (const char *const[ARGS_MAX]){types, "--disruption", "-o", "json", gates, rows[i].more});
        unlink(path);
        if (o.status != rows[i].status || strstr(o.text, rows[i].want[0]) == NULL ||
            strstr(o.text, rows[i].want[1]) == NULL || strstr(o.text, rows[i].not) != NULL)
            fail_msg("row %zu: status %d, %s", i, o.status, o.text);
    }
}

#define OVERLAY                                                                                    \
    "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\n"             \
    "spec: {requirements: [], price: cheap}\n"

static void gates_that_are_off_are_told(void **state)
{
    (void)state;
    static const char *const none[ARGS_MAX] = {NULL}, *const on[ARGS_MAX] = {
                                                          "--feature-gates=NodeOverlay=true"};
    struct outcome off = run(NODE OVERLAY, none), with = run(NODE OVERLAY, on);
    assert_int_equal(off.status, 0);
    assert_non_null(strstr(off.text, "warning: 1 NodeOverlay without effect: the gate is off; "
                                     "--feature-gates NodeOverlay=true turns it on\n"));
    assert_int_equal(with.status, 0);
    assert_null(strstr(with.text, "the gate is off"));
    assert_non_null(strstr(with.text, "NodeOverlay o has no effect: spec.price: \"cheap\" is not a price"));
}

static void mistyped_gates_are_told(void **state)
{
    (void)state;
    struct outcome o = run(NODE, (const char *const[ARGS_MAX]){"--feature-gates=NodeOverlays=true"});
    assert_int_equal(o.status, 0);
    assert_non_null(
        strstr(o.text, "warning: no feature gate \"NodeOverlays\"; did you mean NodeOverlay?\n"));
}

#define POOL(name, group, kind, label)                                                             \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\n"                 \
    "spec: {template: {spec: {requirements: [{key: " label ", operator: In, values: [c, m]}], "    \
    "nodeClassRef: {group: " group ", kind: " kind ", name: default}}}}\n"

static void pools_of_another_provider_are_told(void **state)
{
    (void)state;
    static const char *const none[ARGS_MAX] = {NULL};
    struct outcome o =
        run(NODE POOL("general", "karpenter.k8s.aws", "EC2NodeClass", "karpenter.k8s.aws/instance-category"),
            none);
    assert_int_equal(o.status, 0);
    assert_non_null(strstr(o.text, ":5: NodePool general: spec.template.spec.nodeClassRef: EC2NodeClass of "
                                   "karpenter.k8s.aws is not of the provider of the built-in catalogue: "
                                   "types and prices are made up; "));
    assert_non_null(strstr(o.text, ":5: NodePool general: spec.template.spec.requirements: no type of the "
                                   "built-in catalogue has karpenter.k8s.aws/instance-category, so that "));
    struct outcome own = run(NODE POOL("general", "karpenter.kwok.sh", "KWOKNodeClass", "team"), none);
    assert_int_equal(own.status, 0);
    assert_null(strstr(own.text, "NodePool general"));
}

#define BUFFER                                                                                     \
    "---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\n"                         \
    "metadata: {name: spare, namespace: web}\n"                                                    \
    "spec: {scalableRef: {apiGroup: apps, kind: Deployment, name: front}, percentage: 20}\n"

#define ON_MACHINES(class_)                                                                        \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {requirements: [], "       \
    "nodeClassRef: {group: karpenter.cluster.x-k8s.io, kind: ClusterAPINodeClass, name: default}}}}\n" class_               \
    "---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {name: md, namespace: apps, labels: {"     \
    "node.cluster.x-k8s.io/karpenter-member: ''}, annotations: {capacity.cluster-autoscaler.kubernetes.io/cpu: '4', "     \
    "capacity.cluster-autoscaler.kubernetes.io/memory: 16G, stowage.dev/price: '0.125'}}\nspec: {clusterName: one}\n"       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: apps}\nspec: {containers: [{name: c, image: i, "         \
    "resources: {requests: {cpu: '3'}}}]}\n"

static void machine_deployments_are_types(void **state)
{
    (void)state;
    static const char *const args[ARGS_MAX] = {"--all-unbound"};
    struct outcome with = run(ON_MACHINES("---\napiVersion: karpenter.cluster.x-k8s.io/v1alpha1\nkind: ClusterAPINodeClass\n"
                                          "metadata: {name: default}\nspec: {}\n"),
                              args);
    struct outcome without = run(ON_MACHINES(""), args);
    assert_int_equal(with.status, 0);
    assert_non_null(strstr(with.text, "md    0.1250"));
    assert_null(strstr(with.text, "warning"));
    assert_null(strstr(without.text, "md    0.1250")); /* the catalogue stands in for types that nobody knows */
}

static void buffers_too(void **state)
{
    (void)state;
    static const char *const none[ARGS_MAX] = {NULL}, *const on[ARGS_MAX] = {
                                                          "--feature-gates=CapacityBuffer=true"};
    struct outcome off = run(NODE BUFFER, none), with = run(NODE BUFFER, on);
    assert_int_equal(off.status, 0);
    assert_non_null(strstr(off.text, "warning: 1 CapacityBuffer without effect: the gate is off; "
                                     "--feature-gates CapacityBuffer=true turns it on\n"));
    assert_int_equal(with.status, 0);
    assert_null(strstr(with.text, "the gate is off"));
    assert_non_null(strstr(with.text, "CapacityBuffer web/spare has no pods: there is no Deployment front"));
    struct outcome there = run(
        NODE BUFFER "---\napiVersion: apps/v1\nkind: Deployment\n"
                    "metadata: {name: front, namespace: web}\nspec: {replicas: 10, template: "
                    "{spec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}}}\n",
        (const char *const[ARGS_MAX]){"--feature-gates=CapacityBuffer=true", "-o", "json"});
    assert_int_equal(there.status, 1); /* there is no NodePool */
    assert_non_null(strstr(there.text, "\"web/capacity-buffer-spare-1\""));
    assert_non_null(strstr(there.text, "\"web/capacity-buffer-spare-2\""));
    assert_null(strstr(there.text, "capacity-buffer-spare-3"));
}

/* So many pods, no two alike: nobody plans them in a millisecond. */
static void within_its_time(void **state)
{
    (void)state;
    enum { PODS = 5000 };
    static const char *const once[ARGS_MAX] = {"--time-budget=1ms", "-o", "json"};
    struct buf objects = {0};
    buf_addf(&objects, "kind: NodePool\napiVersion: karpenter.sh/v1\nmetadata: {name: p}\n"
                       "spec: {limits: {cpu: 1}, template: {spec: {requirements: [], nodeClassRef: "
                       "{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n");
    for (int i = 0; i < PODS; i++)
        buf_addf(&objects, "---\nkind: Pod\napiVersion: v1\nmetadata: {name: p%d}\nspec: {containers: "
                           "[{name: c, resources: {requests: {cpu: %dm, memory: 1Gi}}}]}\nstatus: {conditions: "
                           "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n", i, 2000 + i);
    buf_add_char(&objects, '\0');
    struct outcome o = run(objects.ptr, once);
    assert_int_equal(o.status, 1);
    assert_non_null(strstr(o.text, "\"reason\": \"NotReached\""));
    buf_release(&objects);
}

/* A flag of Cluster Autoscaler's, too: here it names the cluster to read. */
static void a_kubeconfig_that_is_not_there(void **state)
{
    (void)state;
    static const char *const args[COMMAND_ARGS_MAX] = {"--kubeconfig=/nowhere/config"};
    struct outcome o = run_command(command_plan, "", args);
    assert_int_equal(o.status, 2);
    assert_string_equal(o.text, "stowage plan: no file given with -f: kubeconfig: /nowhere/config: No such file or directory\n");
}

/* Several files, as kubectl takes them; those that are not there are passed over. */
static void a_list_of_kubeconfigs(void **state)
{
    (void)state;
    static const char *const args[COMMAND_ARGS_MAX] = {"--all-unbound"};
    char path[] = "/tmp/stowage-kubeconfig-XXXXXX", list[64], want[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "clusters: [", 11), 11);
    close(fd);
    snprintf(list, sizeof(list), "/nowhere/config:%s", path);
    snprintf(want, sizeof(want), "stowage plan: no file given with -f: kubeconfig %s: ", path);
    setenv("KUBECONFIG", list, 1);
    struct outcome o = run_command(command_plan, "", args);
    unsetenv("KUBECONFIG");
    unlink(path);
    assert_int_equal(o.status, 2);
    if (strncmp(o.text, want, strlen(want)) != 0)
        fail_msg("%s", o.text);
}

/* --- forms --- */

#define POOL_OF(name) "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\nspec: {template: {spec: " \
    "{requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"
#define JOB_OF(name, cpu) "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " name ", namespace: shop}\nspec: {parallelism: 2, " \
    "completions: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]}}}\n"
#define JOBS POOL_OF("general") JOB_OF("big", "200") JOB_OF("small", "'1'")
#define REAL_NODE "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 2, memory: 8Gi, pods: 9}}\n" \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: y-0, namespace: shop, ownerReferences: [{apiVersion: a/v1, kind: <X>, name: why, " \
    "uid: u, controller: true}]}\nspec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n" \
    "status: {phase: Running}\n"

static void other_forms(void **state)
{
    (void)state;
    static const struct {
        const char *objects, *args[ARGS_MAX];
        int status;
        const char *want, *not;
    } rows[] = {
        {JOBS, {"-o", "name"}, 0, "nodeclaim.karpenter.sh/general-1\n", "BUY"},
        {JOBS, {"-o", "wide"}, 0, "  WHOSE\n+1 ", "+2"},
        {JOBS, {"-o", "wide"}, 0, "shop/big, shop/small\n", "+2"},
        {JOBS, {"-o", "html"}, 0, "<td><span class=\"chip h", "<script"},
        {JOBS, {"-o", "html"}, 0, "title=\"Job shop/small: 1 pod, ", "<script"},
        {JOBS REAL_NODE, {"-o", "html"}, 0, "title=\"&lt;X&gt; shop/why: 1 pod, 1 CPUs, 50 %\"", "<X>"},
        {JOBS, {"--report", "/nowhere/x.html"}, 2, "stowage plan: --report: /nowhere/x.html cannot be written: No such file or "
         "directory\n", "BUY"},
        {JOBS, {"-o", "tall"}, 2, "table, json, yaml, wide, name or html", "BUY"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run(rows[i].objects, rows[i].args);
        if (o.status != rows[i].status || strstr(o.text, rows[i].want) == NULL || strstr(o.text, rows[i].not) != NULL)
            fail_msg("row %zu: status %d, %s", i, o.status, o.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_in_one_sentence),
        cmocka_unit_test(taken),
        cmocka_unit_test(disruption_is_told),
        cmocka_unit_test(what_is_only_recommended_stands_apart),
        cmocka_unit_test(repair_follows_its_policies),
        cmocka_unit_test(pools_of_another_provider_are_told),
        cmocka_unit_test(machine_deployments_are_types),
        cmocka_unit_test(buffers_too),
        cmocka_unit_test(gates_that_are_off_are_told),
        cmocka_unit_test(mistyped_gates_are_told),
        cmocka_unit_test(a_kubeconfig_that_is_not_there),
        cmocka_unit_test(a_list_of_kubeconfigs),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(within_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
