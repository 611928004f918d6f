/* `stowage plan --node-groups`: what it reads, what it says, how it ends. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "server/command.h"
#include "support_plan.h"

#define GROUP(name, min, max, cpu)                                                                                     \
    "- {name: " name ", minSize: " #min ", maxSize: " #max ", template: {metadata: {labels: {pool: " name "}}, status: " \
    "{allocatable: {cpu: '" #cpu "', memory: 8Gi, pods: '110'}}}}\n"
#define GROUPS(list) "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n" list
#define STANDING(name, price, target)                                                                                   \
    "- {name: " name ", minSize: " #target ", maxSize: 9, targetSize: " #target price ", template: {metadata: {labels: {pool: " \
    name "}}, status: {allocatable: {cpu: '2', memory: 8Gi, pods: '110'}}}}\n"
#define SMALL GROUP("small", 0, 10, 2)
#define LARGE GROUP("large", 0, 4, 8)
#define ASKS(name, cpu)                                                                                                 \
    POD(name, "{requests: {cpu: " #cpu "}}")                                                                             \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define WEB                                                                                                             \
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 7, selector: " \
    "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, resources: "           \
    "{requests: {cpu: 1}}}]}}}\n"

static struct outcome plan_with(const char *objects, const char *flag, const char *output)
{
    return run_command(command_plan, objects,
                       (const char *const[COMMAND_ARGS_MAX]){"-f", "{}", "-o", output, "--now=2026-10-10T12:00:00Z", flag});
}

static void expect_none(const char *label, const struct outcome *o, const char *unwanted)
{
    if (strstr(o->text, unwanted) != NULL)
        fail_msg("%s: \"%s\" in: status %d, %s", label, unwanted, o->status, o->text);
}

static void groups_grow(void **state)
{
    (void)state;
    struct outcome o = plan_with(ASKS("a", 1) ASKS("b", 1) ASKS("c", 1) GROUPS(SMALL), NULL, "table");
    assert_int_equal(o.status, 0);
    expect_text("pods that ask", &o, "GROW   small  0 → 2  for 3 pods\n");
    o = plan_with(ASKS("a", 1) ASKS("huge", 64) GROUPS(SMALL), NULL, "table");
    assert_int_equal(o.status, 1);
    expect_text("one too large", &o, "NO PLACE shop/huge: 1 Insufficient cpu\n");
    o = plan_with(ASKS("a", 1) GROUPS(SMALL LARGE), "--expander=most-pods", "json");
    expect_text("a flag", &o, "\"equallyGood\": [\n      \"large\",\n      \"small\"\n    ]");
    o = plan_with(ASKS("a", 1) GROUPS(SMALL LARGE), "--expander=least-waste", "json");
    expect_text("another value", &o, "\"name\": \"small\",\n      \"delta\": 1,");
    o = plan_with(ASKS("a", 1) GROUPS("- {name: bare, minSize: 0, maxSize: 1, template: {status: {capacity: {cpu: 2, memory: "
                                      "8Gi, pods: 9}}}}\n"), NULL, "table");
    expect_text("capacity alone", &o, "GROW   bare  0 → 1  for 1 pod\n");
    o = plan_with(POD("a", "{}") GROUPS(SMALL), NULL, "table");
    assert_int_equal(o.status, 0);
    expect_text("nobody asks", &o, "No node group changes: ScaleUpNotNeeded, ScaleDownNoCandidates.\n");
}

/* Made up for a workload, they have waited as long as Cluster Autoscaler asks of anybody. */
static void workloads_are_planned(void **state)
{
    (void)state;
    struct outcome o = plan_with(WEB GROUPS(SMALL), NULL, "table");
    assert_int_equal(o.status, 0);
    expect_text("without pods", &o, "GROW   small  0 → 4  for 7 pods\n");
    o = plan_with(WEB GROUPS(SMALL), "--new-pod-scale-up-delay=1h", "table");
    expect_text("whatever the delay", &o, "GROW   small  0 → 4  for 7 pods\n");
    o = plan_with(WEB GROUPS(SMALL), "--no-expand", "table");
    expect_text("asked not to", &o, "No node group changes");
}

#define ONLY(pool, cpu)                                                                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: only, namespace: shop}\nspec: {nodeSelector: {pool: " pool         \
    "}, containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]}\nstatus: {phase: Pending, conditions: [{type: "    \
    "PodScheduled, status: 'False', reason: Unschedulable}]}\n"

/* A pod has one place: groups are asked for those whom no pool takes. */
static void pools_beside_groups(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL ASKS("a", 1) GROUPS(SMALL), NULL, "json");
    assert_int_equal(o.status, 0);
    expect_text("the pools'", &o, "\"nodePool\": \"general\"");
    expect_text("and no group's", &o, "\"nodeGroups\": []");
    expect_none("nothing to be said of it", &o, "warning");
    expect_text("what it costs", &o, "\"after\"");
    expect_none("a group may be cheaper", &o, "lowerBound");
    o = plan_with(POOL ASKS("a", 1) ONLY("small", "1") GROUPS(SMALL), NULL, "json");
    assert_int_equal(o.status, 0);
    expect_text("one that no pool takes", &o, "\"name\": \"small\",\n      \"delta\": 1,");
    expect_text("has its place", &o, "\"unschedulable\": []");
    expect_text("and the other", &o, "\"nodePool\": \"general\"");
    o = plan_with(POOL ONLY("none", "1") GROUPS(SMALL), NULL, "json");
    assert_int_equal(o.status, 1);
    expect_text("whom nobody takes, says the pools' plan", &o, "\"reason\": \"Unschedulable\"");
    expect_text("and the groups' pass", &o, "1 node(s) didn't match");
    o = plan_with(ASKS("a", 1) GROUPS(SMALL), NULL, "json");
    expect_none("no pools", &o, "nodeClaims");
}

#define PRICED(name, max, cpu, price_)                                                                                  \
    "- {name: " name ", minSize: 0, maxSize: " #max ", price: " price_ ", template: {metadata: {labels: {pool: " name "}}, "  \
    "status: {allocatable: {cpu: '" #cpu "', memory: 8Gi, pods: '110'}}}}\n"
#define WISHES(name, wish)                                                                                              \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, annotations: {stowage.dev/prefer: " wish    \
    "}}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Pending, conditions: [{type: "    \
    "PodScheduled, status: 'False', reason: Unschedulable}]}\n"

/* With prices a pod goes where it is cheapest. */
static void the_cheapest_of_both(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL ASKS("a", 1) ASKS("b", 1) GROUPS(PRICED("small", 9, 2, "0.001")), NULL, "json");
    assert_int_equal(o.status, 0);
    expect_text("a cheap group", &o, "\"name\": \"small\",\n      \"delta\": 1,");
    expect_text("and no pool", &o, "\"nodeClaims\": []");
    expect_text("nobody is left", &o, "\"unschedulable\": []");
    expect_none("nor is it known that nothing is cheaper", &o, "lowerBound");
    o = plan_with(POOL ASKS("a", 1) ASKS("b", 1) GROUPS(PRICED("small", 9, 2, "50")), NULL, "json");
    expect_text("a dear one", &o, "\"nodeGroups\": []");
    expect_text("the pool", &o, "\"nodePool\": \"general\"");
    o = plan_with(POOL ASKS("a", 1) ASKS("b", 1) GROUPS(PRICED("small", 9, 2, "0.001")), "--search=greedy", "json");
    expect_text("greedy: pools first", &o, "\"nodeGroups\": []");
    o = plan_with(POOL ASKS("a", 1) ASKS("b", 1) GROUPS(PRICED("small", 9, 2, "0.001")), "--search=greedy", "table");
    expect_text("which is dear", &o, "with the plan (+$");
    expect_none("and nobody says that nothing is cheaper", &o, "No fleet for these pods");
    const char *young = POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop, creationTimestamp: "
                             "\"2026-10-10T11:59:59Z\"}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: "
                             "{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
                             GROUPS(PRICED("small", 9, 2, "0.001"));
    o = plan_with(young, NULL, "json");
    expect_text("who has just come waits for the next pass", &o, "\"result\": \"ScaleUpInCooldown\"");
    expect_text("and not for a pool", &o, "\"nodeClaims\": []");
    o = plan_with(young, "--new-pod-scale-up-delay=1h", "json");
    expect_text("who is to wait for long does not", &o, "\"nodePool\": \"general\"");
    o = plan_with(POOL ASKS("a", 1) ASKS("b", 2) GROUPS(PRICED("small", 1, 2, "0.001")), NULL, "json");
    expect_text("as many as it may have", &o, "\"newTarget\": 1");
    expect_text("the other to the pool", &o, "\"nodePool\": \"general\"");
    expect_text("and nobody is left", &o, "\"unschedulable\": []");
}

#define TEN POOL ALONE
#define ALONE                                                                                                           \
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 10, selector: "  \
    "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, resources: "       \
    "{requests: {cpu: 1}}}]}}}\n"

/* Ten pods of one shape, of which eight fill a machine of the group: two more on a second one would be dearer than on a pool's
 * node, as would all ten there. And two on the machine of another group are the cheapest, though five of that would be
 * cheaper a pod than two of the first. */
static void parts_of_one_workload(void **state)
{
    (void)state;
    const char *ten = TEN GROUPS(PRICED("large", 9, 8, "0.12"));
    struct outcome o = plan_with(ten, NULL, "table");
    expect_text("as many as fill it", &o, "GROW   large  0 → 1  for 8 pods\n");
    expect_text("the others", &o, "Deployment shop/web     2  new general");
    o = plan_with(ten, "--search=greedy", "table");
    expect_text("greedy", &o, "No node group changes");
    const char *two = TEN GROUPS(PRICED("large", 9, 8, "0.16") PRICED("small", 9, 2, "0.05"));
    o = plan_with(two, NULL, "table");
    expect_text("two groups: one of the large", &o, "GROW   large  0 → 1  for 8 pods\n");
    expect_text("and one of the small", &o, "GROW   small  0 → 1  for 2 pods\n");
    o = plan_with(ALONE GROUPS(PRICED("large", 9, 8, "0.16") PRICED("small", 9, 2, "0.05")), NULL, "table");
    expect_text("so it is without pools", &o, "GROW   large  0 → 1  for 8 pods\nGROW   small  0 → 1  for 2 pods\n");
    o = plan_with(ALONE GROUPS(PRICED("large", 9, 8, "0.16") PRICED("small", 9, 2, "0.05")), "--search=greedy", "table");
    expect_none("but for Cluster Autoscaler's", &o, "GROW   large  0 → 1  for 8 pods\n");
    o = plan_with(ALONE GROUPS(PRICED("large", 9, 8, "0.16") PRICED("small", 9, 2, "0.05")), "--balance-similar-node-groups", "table");
    expect_none("and for who asks for balance", &o, "GROW   large  0 → 1  for 8 pods\n");
    o = plan_with(two, "--expander=most-pods", "table");
    expect_none("another expander decides itself", &o, "GROW   large  0 → 1  for 8 pods\n");
}

/* In one pass all groups grow that are needed, the cheapest a pod, unless an expander says which. */
static void several_groups_of_one_plan(void **state)
{
    (void)state;
    const char *objects = POOL ASKS("a", 2) ASKS("b", 6) GROUPS(PRICED("small", 1, 2, "0.003") PRICED("large", 1, 8, "0.002"));
    struct outcome o = plan_with(objects, NULL, "table");
    expect_text("one is enough", &o, "GROW   large  0 → 1  for 2 pods\n");
    o = plan_with(POOL ASKS("a", 2) ASKS("b", 7) GROUPS(PRICED("small", 1, 2, "0.003") PRICED("large", 1, 8, "0.002")), NULL, "json");
    expect_text("both", &o, "\"name\": \"large\",\n      \"delta\": 1,");
    expect_text("both", &o, "\"name\": \"small\",\n      \"delta\": 1,");
    expect_text("none waits for a next pass", &o, "\"awaiting\": []");
    o = plan_with(POOL ASKS("a", 2) GROUPS(PRICED("small", 1, 2, "0.003") PRICED("large", 1, 8, "0.002")), NULL, "table");
    expect_text("the cheapest", &o, "GROW   large");
    const char *alike = POOL ASKS("a", 2) GROUPS(PRICED("small", 1, 2, "0.003") PRICED("tall", 1, 8, "0.002"));
    o = plan_with(alike, "--expander=least-waste", "table");
    expect_text("the default by its name", &o, "GROW   tall");
    o = plan_with(alike, "--expander=most-pods", "table");
    expect_text("or what was asked for", &o, "GROW   small");
}

/* What a pod prefers comes before prices, and before nothing else. */
static void what_a_pod_prefers(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *flag, *want;
    } rows[] = {
        {"pools", POOL WISHES("a", "pools") GROUPS(PRICED("small", 9, 2, "0.001")), NULL, "\"nodeGroups\": []"},
        {"groups, dear", POOL WISHES("a", "groups") GROUPS(PRICED("small", 9, 2, "50")), NULL, "\"nodeClaims\": []"},
        {"groups without a price", POOL WISHES("a", "groups") GROUPS(SMALL), NULL, "\"nodeClaims\": []"},
        {"one of them", POOL WISHES("a", "large") GROUPS(PRICED("small", 9, 2, "0.001") PRICED("large", 9, 8, "50")), NULL,
         "\"name\": \"large\",\n      \"delta\": 1,"},
        {"the other of them", POOL WISHES("a", "small") GROUPS(PRICED("small", 9, 2, "50") PRICED("large", 9, 8, "0.001")), NULL,
         "\"name\": \"small\",\n      \"delta\": 1,"},
        {"one that is full", POOL WISHES("a", "large") GROUPS(PRICED("small", 9, 2, "50") PRICED("large", 0, 8, "1")), NULL,
         "\"name\": \"small\",\n      \"delta\": 1,"},
        {"groups that are full", POOL WISHES("a", "groups") GROUPS(PRICED("small", 0, 2, "0.001")), NULL, "\"nodePool\": \"general\""},
        {"pools that do not take it", "" WISHES("a", "pools") GROUPS(PRICED("small", 9, 2, "1")), NULL, "\"name\": \"small\""},
        {"greedy", POOL WISHES("a", "groups") GROUPS(SMALL), "--search=greedy", "\"nodeGroups\": []"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct outcome o = plan_with(rows[i].objects, rows[i].flag, "json");
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, rows[i].want);
        expect_none(rows[i].label, &o, "stowage.dev/prefer");
    }
    struct outcome o = plan_with(POOL WISHES("a", "general") GROUPS(SMALL), NULL, "json");
    expect_text("what is neither", &o, "Pod shop/a: metadata.annotations[stowage.dev/prefer]: \\\"general\\\" has no effect. Fix: write "
                                       "pools, groups or the name of a node group");
}

#define OF_ZONE(name, cpu, zone)                                                                                        \
    "- {name: " name ", minSize: 0, maxSize: 5, template: {metadata: {labels: {kind: group, topology.kubernetes.io/zone: "   \
    "test-zone-" zone "}}, status: {allocatable: {cpu: '" #cpu "', memory: 8Gi, pods: '110'}}}}\n"
#define TIED(name, selector, more)                                                                                      \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, labels: {app: " name ", team: t}}\nspec: " \
    "{nodeSelector: {" selector "}, " more "containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: "      \
    "Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define IN_POOL "karpenter.sh/nodepool: general"
#define IN_POOL_A IN_POOL ", topology.kubernetes.io/zone: test-zone-a"
#define IN_GROUP "kind: group"
#define TERM(kind, app)                                                                                                 \
    "affinity: {" kind ": {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: " app "}}, "  \
    "topologyKey: topology.kubernetes.io/zone}]}}, "
#define SPREAD                                                                                                          \
    "topologySpreadConstraints: [{maxSkew: 1, minDomains: 2, nodeAffinityPolicy: Ignore, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, " \
    "labelSelector: {matchLabels: {team: t}}}], "

#define ON_ITS_WAY                                                                                                      \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: general-x, labels: {karpenter.sh/nodepool: general, "  \
    "node.kubernetes.io/instance-type: c-2x-amd64-linux, topology.kubernetes.io/zone: test-zone-a, karpenter.sh/capacity-type: " \
    "on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux}}\nspec: {nodeClassRef: {group: karpenter.kwok.sh, kind: "   \
    "KWOKNodeClass, name: default}, requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}]}\n" \
    "status: {providerID: 'kwok://x', capacity: {cpu: 2, memory: 4Gi, pods: 110}, allocatable: {cpu: 1900m, memory: 4Gi, pods: " \
    "110}, conditions: [{type: Launched, status: 'True', reason: Launched, lastTransitionTime: '2026-10-10T11:59:00Z'}]}\n"

/* Whoever must be spread, together or apart is so over pools and groups: each counts what the other buys. */
static void zones_of_both(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want, *also;
    } rows[] = {
        {"a group, apart from a pool's", TIED("db", IN_POOL_A, "") TIED("web", IN_GROUP, TERM("podAntiAffinity", "db"))
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 8, "b")), "GROW   b  0 → 1", "test-zone-a"},
        {"a group, together with a pool's", TIED("db", IN_POOL_A, "") TIED("web", IN_GROUP, TERM("podAffinity", "db"))
         GROUPS(OF_ZONE("a", 8, "a") OF_ZONE("b", 2, "b")), "GROW   a  0 → 1", "test-zone-a"},
        {"nobody minds", TIED("db", IN_POOL_A, "") TIED("web", IN_GROUP, TERM("podAntiAffinity", "other"))
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 8, "b")), "GROW   a  0 → 1", "test-zone-a"},
        {"a group that a pool's keeps off", TIED("db", IN_POOL_A, TERM("podAntiAffinity", "web")) TIED("web", IN_GROUP, "")
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 8, "b")), "GROW   b  0 → 1", "test-zone-a"},
        {"apart from one whose machine is on its way", ON_ITS_WAY TIED("db", IN_POOL, "") TIED("web", IN_GROUP, TERM("podAntiAffinity", "db"))
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 8, "b")), "GROW   b  0 → 1", "general-x"},
        {"a group, spread with a pool's", TIED("db", IN_POOL_A, "") TIED("web", IN_GROUP, SPREAD)
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 8, "b")), "GROW   b  0 → 1", "test-zone-a"},
        {"a pool, together with a group's", TIED("db", IN_POOL, TERM("podAffinity", "web")) TIED("web", IN_GROUP, "")
         GROUPS(OF_ZONE("b", 8, "b")), "GROW   b  0 → 1", "test-zone-b"},
        {"one after the other", TIED("a", IN_POOL_A, "") TIED("b", IN_GROUP, TERM("podAffinity", "a")) TIED("c", IN_POOL, TERM("podAffinity", "b"))
         GROUPS(OF_ZONE("a", 2, "a") OF_ZONE("b", 1, "b")), "GROW   a  0 → 1", "+1   general     2"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[8192];
        snprintf(text, sizeof(text), "%s%s", POOL, rows[i].objects);
        struct outcome o = plan_with(text, NULL, "table");
        if (o.status != 0)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, rows[i].want);
        expect_text(rows[i].label, &o, rows[i].also);
        expect_none(rows[i].label, &o, "NO PLACE");
    }
}

/* What the pools' plan gives on a node that stands is taken: the group grows for whom that leaves no room there, though
 * by itself it would seat him first. */
static void room_that_is_taken(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL ASKS("z", 1) ONLY("small", "500m")
                                 "---\napiVersion: v1\nkind: Node\nmetadata: {name: old, labels: {pool: small}}\nstatus: "
                                 "{allocatable: {cpu: '1', memory: 8Gi, pods: '110'}, conditions: [{type: Ready, status: "
                                 "'True'}]}\n" GROUPS(SMALL), NULL, "json");
    assert_int_equal(o.status, 0);
    expect_text("by the plan", &o, "\"existingNodes\": [\n    {\n      \"name\": \"old\",\n      \"pods\": [\n        \"shop/z\"\n");
    expect_text("for the other", &o, "\"triggered\": [\n      \"shop/only\"\n    ]");
}

#define IDLE(name)                                                                                                      \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {pool: small}}\nstatus: {allocatable: {cpu: '2', "  \
    "memory: 8Gi, pods: '110'}, conditions: [{type: Ready, status: 'True'}]}\n"
/* With a spread by default a pod's class is known by its own name alone: one that is nominated, or gated, has one, too. */
static void who_waits_for_a_preemption_is_spread_by_default(void **state)
{
    (void)state;
    const char *spread = "--scheduler-config={podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: "
                         "kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}]}}";
    struct outcome o = plan_with(IDLE("n1") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: first, namespace: shop}\nspec: "
                                 "{containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}\nstatus: {phase: Pending, "
                                 "nominatedNodeName: n1, conditions: [{type: PodScheduled, status: 'False', reason: "
                                 "Unschedulable}]}\n" ASKS("second", 1) GROUPS(SMALL), spread, "table");
    assert_int_equal(o.status, 0);
    expect_text("the node is the first one's", &o, "GROW   small  0 → 1  for 1 pod\n");
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *flag, *want;
    } rows[] = {
        {"a field that is none", GROUPS("- {name: a, minSize: 0, maxSize: 1, prize: 1}\n"), NULL,
         "groups[0].prize: is not a field of group"},
        {"the least above the most", GROUPS("- {name: a, minSize: 2, maxSize: 1}\n"), NULL,
         "groups[0].maxSize: is 1, less than minSize (2)"},
        {"a target that no cluster has", GROUPS("- {name: a, minSize: 0, maxSize: 9, targetSize: 2000000000}\n"), NULL,
         "groups[0].targetSize: is 2000000000, more than 100000"},
        {"an increase that no cluster has",
         GROUPS("- {name: a, minSize: 0, maxSize: 9, scaleUpRequest: {increase: 2000000000, time: '2026-10-10T12:00:00Z'}}\n"),
         NULL, "groups[0].scaleUpRequest: increase is 2000000000, more than 100000"},
        {"two of a name", GROUPS(SMALL SMALL), NULL, "\"small\" is that of the group in line"},
        {"a node that is not there", GROUPS("- {name: a, minSize: 0, maxSize: 1, nodes: [node-1]}\n"), NULL, "node-1"},
        {"two objects", GROUPS(SMALL) GROUPS(LARGE), NULL, "node groups are given twice"},
        {"no groups", ASKS("a", 1), "--max-nodes-total=3", "--max-nodes-total is about node groups, and the input has none"},
        {"an expander that is none", GROUPS(SMALL), "--expander=cheap", "\"cheap\" is none; use random,"},
        {"scenario 87: behind random", GROUPS(SMALL), "--expander=random,price", "nothing may follow it"},
        {"scenario 87: twice", GROUPS(SMALL), "--expander=price,price", "--expander: price is given twice"},
        {"prices that nobody said", GROUPS(SMALL), "--expander=price", "needs podPrices"},
        {"a flag mistyped", GROUPS(SMALL), "--scale-down-unneded-time=3m", "did you mean --scale-down-unneeded-time?"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct outcome o = plan_with(rows[i].objects, rows[i].flag, "json");
        if (o.status != 2)
            fail_msg("%s: status %d, %s", rows[i].label, o.status, o.text);
        expect_text(rows[i].label, &o, rows[i].want);
        expect_none(rows[i].label, &o, "groupStatus");
    }
}

/* What groups cost is of their machines, those that do not stand yet included. */
/* The whole page once a row: what it has to say, and what it must not. */
static void one_page(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *texts[7], *not;
    } rows[] = {
        {"groups alone", ASKS("a", 1) ASKS("b", 1) ASKS("c", 1) GROUPS(PRICED("small", 5, 2, "0.1")),
         {"Node groups: $0.000/h now, $0.200/h with this pass (+$146 a month).",
          "<td>small</td><td class=\"n\">0 → 2</td><td class=\"n\">3</td><td class=\"n\">+146.00</td>", "<h2>2 nodes, 2 of them new</h2>",
          "<b>machine 1 of small</b>", "title=\"Pod shop/a: 1 pod, 1 CPUs, 50 %\"", "</span>Pod shop/a 1 · <span", "<b>machine 2 of small</b>"}, "No place"},
        {"pools beside", POOL ASKS("a", 1) ONLY("small", "1") GROUPS(SMALL),
         {"<td>small</td><td class=\"n\">0 → 1</td><td class=\"n\">1</td><td class=\"n\">?</td>", "<h2>2 nodes, 2 of them new</h2>",
          "<b>general-1</b>", "<b>machine 1 of small</b>", "Pod shop/only: 1 pod"}, "No place"},
        {"one with no place", ASKS("huge", 64) GROUPS(SMALL), {"<h2>No place</h2>", "<td>shop/huge</td><td>1 Insufficient cpu</td>"},
         "Node groups"},
        {"one of whom no pool has a place either", POOL ONLY("none", "1") GROUPS(SMALL), {"<h2>No place</h2>", "<td>shop/only</td>"}, "machine 1"},
        {"nodes that go", IDLE("n1") IDLE("n2") "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups: [{name: small, minSize: 1, "
         "maxSize: 9, price: 0.5, nodeSelector: {pool: small}}]\nstate: {unneeded: {n1: '2026-10-10T11:00:00Z', n2: '2026-10-10T11:00:00Z'}}\n",
         {"<td>small</td><td class=\"n\">2 → 1</td>", "<h2>2 nodes, 0 of them new, 1 to go</h2>", "class=\"node gone\"",
          "<b>n1</b><small>goes · group small", "<b>n2</b><small>group small", "$0.5000/h"}, "machine 1"},
        {"nobody asks", GROUPS(SMALL), {"<h2>0 nodes, 0 of them new</h2>"}, "Node groups"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan_with(rows[i].objects, NULL, "html");
        for (size_t k = 0; k < COUNT_OF(rows[i].texts) && rows[i].texts[k] != NULL; k++)
            expect_text(rows[i].label, &o, rows[i].texts[k]);
        expect_none(rows[i].label, &o, rows[i].not);
    }
}

static void names(void **state)
{
    (void)state;
    struct outcome o = plan_with(POOL ASKS("a", 1) ONLY("small", "1") GROUPS(SMALL LARGE), NULL, "name");
    assert_string_equal(o.text, "nodeclaim.karpenter.sh/general-1\nnodegroup.stowage.dev/small\n");
    o = plan_with(ASKS("a", 1) GROUPS(SMALL LARGE), "--expander=least-waste", "name");
    assert_string_equal(o.text, "nodegroup.stowage.dev/small\n");
    o = plan_with(GROUPS(SMALL), NULL, "name");
    assert_string_equal(o.text, "");
}

static void groups_cost(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *json, *table;
    } rows[] = {
        {"growing", ASKS("a", 2) ASKS("b", 2) GROUPS(PRICED("a", 5, 2, "0.1")),
         "\"groupCost\": {\n    \"before\": 0,\n    \"after\": 0.2\n  }", "Node groups: $0.000/h now, $0.200/h with this pass (+$146 a month).\n"},
        {"what is asked for already, and another without a price", GROUPS(STANDING("a", ", price: 0.25", 4) STANDING("b", "", 3)),
         "\"groupCost\": {\n    \"before\": 1,\n    \"after\": 1,\n    \"unpriced\": 3\n  }",
         "Node groups: $1.000/h now, $1.000/h with this pass (+$0 a month), and 3 machines whose price nobody knows.\n"},
        {"shrinking", IDLE("n1") IDLE("n2") "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups: [{name: small, minSize: 0, "
         "maxSize: 9, price: 0.5, nodeSelector: {pool: small}}]\nstate: {unneeded: {n1: '2026-10-10T11:00:00Z', n2: '2026-10-10T11:00:00Z'}}\n",
         "\"groupCost\": {\n    \"before\": 1,\n    \"after\": 0\n  }", "Node groups: $1.000/h now, $0.000/h with this pass (-$730 a month).\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = plan_with(rows[i].objects, NULL, "json");
        expect_text(rows[i].label, &o, rows[i].json);
        o = plan_with(rows[i].objects, NULL, "table");
        expect_text(rows[i].label, &o, rows[i].table);
    }
    struct outcome o = plan_with(ASKS("a", 1) GROUPS(SMALL), NULL, "json");
    expect_none("no prices", &o, "groupCost");
    o = plan_with(ASKS("a", 1) GROUPS(SMALL), NULL, "table");
    expect_none("no prices", &o, "Node groups: ");
}

#define LONG_IDLE                                                                                                       \
    "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups: [{name: small, minSize: 0, maxSize: 9, nodeSelector: " \
    "{pool: small}}]\nstate: {unneeded: {n1: '2026-10-10T11:00:00Z', n2: '2026-10-10T11:00:00Z'}}\n"

#define LONG_IDLE_ONE                                                                                                   \
    "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups: [{name: small, minSize: 0, maxSize: 9, nodeSelector: " \
    "{pool: small}}]\nstate: {unneeded: {n1: '2026-10-10T11:00:00Z'}}\n"

/* Scenario 204: a flag by the name that it had before 1.33. */
static void an_older_name(void **state)
{
    (void)state;
    struct outcome o = plan_with(IDLE("n1") IDLE("n2") LONG_IDLE, NULL, "table");
    expect_text("both", &o, "SHRINK n1  is empty\nSHRINK n2  is empty\n");
    o = plan_with(IDLE("n1") IDLE("n2") LONG_IDLE, "--max-empty-bulk-delete=1", "table");
    expect_text("one at a time", &o, "SHRINK n1  is empty\n");
    expect_none("one at a time", &o, "SHRINK n2");
}

#define BUFFER                                                                                                          \
    "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: t, namespace: default}\ntemplate: {spec: {containers: [{name: c, " \
    "resources: {requests: {cpu: 1500m}}}]}}\n---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: " \
    "{name: b, namespace: default, uid: b}\nspec: {podTemplateRef: {name: t}, replicas: 2}\n"

/* Room that is to be kept is room to be made. */
static void buffers_are_filled_by_groups(void **state)
{
    (void)state;
    struct outcome o = plan_with(IDLE("n1") LONG_IDLE_ONE BUFFER, "--capacity-buffer-pod-injection-enabled", "table");
    expect_text("with the flag", &o, "GROW   small  1 → 2  for 1 pod\n");
    expect_none("with the flag", &o, "SHRINK");
    o = plan_with(IDLE("n1") LONG_IDLE_ONE BUFFER, NULL, "table");
    expect_text("without", &o, "SHRINK n1  is empty\n");
    expect_none("without", &o, "GROW");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_grow),
        cmocka_unit_test(workloads_are_planned),
        cmocka_unit_test(pools_beside_groups),
        cmocka_unit_test(zones_of_both),
        cmocka_unit_test(the_cheapest_of_both),
        cmocka_unit_test(parts_of_one_workload),
        cmocka_unit_test(several_groups_of_one_plan),
        cmocka_unit_test(what_a_pod_prefers),
        cmocka_unit_test(room_that_is_taken),
        cmocka_unit_test(who_waits_for_a_preemption_is_spread_by_default),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(groups_cost),
        cmocka_unit_test(one_page),
        cmocka_unit_test(names),
        cmocka_unit_test(an_older_name),
        cmocka_unit_test(buffers_are_filled_by_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
