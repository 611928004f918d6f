/* The check over plans is checked: of every rule a valid plan, written by hand, and the same with the
 * rule broken, in the plan or in the objects under it. */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/pods/default_spread.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define KIND "karpenter.sh/capacity-type"
#define TYPE "node.kubernetes.io/instance-type"

static const char TYPES[] =
    "kind: InstanceTypes\nreservationIDLabel: example.com/reservation\nwellKnown: [size]\nitems:\n"
    "- {name: small, resources: {cpu: 2, memory: 4Gi, pods: 10}, labels: {size: s}, volumeLimits: "
    "{csi.example.com: 2}, offerings: [{zone: z1, capacity: on-demand, price: 1}, {zone: z2, "
    "capacity: on-demand, price: 1}, {zone: z3, capacity: on-demand, price: 1}]}\n"
    "- {name: large, resources: {cpu: 4, memory: 8Gi, pods: 20}, labels: {size: l}, volumeLimits: "
    "{csi.example.com: 3}, offerings: [{zone: z1, capacity: on-demand, price: 2}, {zone: z2, "
    "capacity: on-demand, price: 2}, {zone: z3, capacity: on-demand, price: 2}, {zone: z1, "
    "capacity: spot, price: 1.5, available: false}]}\n"
    "- {name: booked, resources: {cpu: 2, memory: 4Gi, pods: 10}, labels: {size: b}, offerings: "
    "[{zone: z1, capacity: reserved, price: 0.1, reservations: 1, reservation: r1}]}\n";

#define OBJECT(api_, kind_, meta_, rest_)                                                          \
    "---\napiVersion: " api_ "\nkind: " kind_ "\nmetadata: {" meta_ "}\n" rest_ "\n"
#define POOL(name_, spec_, template_)                                                              \
    OBJECT("karpenter.sh/v1", "NodePool", "name: " name_,                                          \
           "spec: {" spec_ "template: {metadata: {labels: {team: a}}, spec: {nodeClassRef: {group: " \
           "example.com, kind: Machine, name: m}, " template_ "}}}")
#define PENDING                                                                                    \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}"
#define CPU(n_) "containers: [{name: c, resources: {requests: {cpu: " n_ "}}}]"
#define POD(meta_, spec_) OBJECT("v1", "Pod", meta_, "spec: {" spec_ "}\n" PENDING)
#define BOUND(meta_, node_, spec_)                                                                 \
    OBJECT("v1", "Pod", meta_, "spec: {nodeName: " node_ ", " spec_ "}\nstatus: {phase: Running}")
#define NODE(name_, more_, zone_, cpu_)                                                            \
    OBJECT("v1", "Node", "name: " name_ more_ ", labels: {" ZONE ": " zone_ ", " HOST ": " name_   \
           "}", "spec: {}\nstatus: {allocatable: {cpu: " cpu_ ", memory: 8Gi, pods: 10}}")

/* A claim of NodePool general, whose labels and requirements are the same each time. */
#define CLAIM(name_, more_, types_, price_, cpu_, count_, pods_)                                   \
    "- name: " name_ "\n  nodePool: general\n  requirements:\n"                                    \
    "  - {key: example.com/machine, operator: In, values: [m]}\n"                                  \
    "  - {key: " KIND ", operator: In, values: [on-demand]}\n"                                     \
    "  - {key: karpenter.sh/nodepool, operator: In, values: [general]}\n"                          \
    "  - {key: " TYPE ", operator: In, values: [" types_ "]}\n"                                    \
    "  - {key: team, operator: In, values: [a]}\n" more_                                           \
    "  labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n"                \
    "  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n"                      \
    "  instanceTypes: [" types_ "]\n  price: " price_ "\n  requests: {cpu: " cpu_ ", pods: "       \
    count_ "}\n  pods: [" pods_ "]\n"
#define IN_ZONE(zones_) "  - {key: " ZONE ", operator: In, values: [" zones_ "]}\n"
#define PLAN(claims_, nodes_, unschedulable_, before_, after_)                                     \
    "nodeClaims:\n" claims_ "existingNodes: [" nodes_ "]\nunschedulable: [" unschedulable_ "]\n"   \
    "cost: {before: " before_ ", after: " after_ ", lowerBound: 0}\nsearch: {steps: 1, complete: " \
    "true}\n"

struct row {
    const char *label;
    bool in_plan; /* what is edited; else the objects */
    const char *from, *to;
    const char *says; /* all of it, without the last newline */
};

/* With the text of a --scheduler-config, which may be empty. */
static uint32_t judge(const char *config, const char *objects, const char *plan, struct buf *out)
{
    struct cluster c;
    struct default_spread_config given;
    struct err err;
    cluster_init(&c);
    assert_true(default_spread_decode(&c.arena, span_of(config), &given, &err));
    c.options.default_spread = &given;
    cluster_add(&c, TYPES);
    cluster_add(&c, objects);
    uint32_t broken = check_text(&c, span_of(plan), out);
    cluster_release(&c);
    return broken;
}

/* The text with the one place in it changed. */
static char *edited(const char *text, const char *from, const char *to, const char *label)
{
    const char *at = strstr(text, from);
    if (at == NULL)
        fail_msg("%s: nothing to edit", label);
    struct buf b = {0};
    buf_add(&b, (struct span){text, (size_t)(at - text)});
    buf_add(&b, span_of(to));
    buf_add(&b, span_of(at + strlen(from)));
    return b.ptr;
}

static void check_rows_under(const char *config, const char *objects, const char *plan,
                             const struct row *rows, size_t count)
{
    struct buf out = {0};
    size_t wrong = 0;
    if (judge(config, objects, plan, &out) != 0)
        fail_msg("the good plan: %s", out.ptr);
    for (size_t i = 0; i < count; i++) {
        char *changed = edited(rows[i].in_plan ? plan : objects, rows[i].from, rows[i].to,
                               rows[i].label);
        buf_clear(&out);
        judge(config, rows[i].in_plan ? objects : changed, rows[i].in_plan ? changed : plan, &out);
        struct span said = buf_span(&out);
        if (said.len != 0)
            said.len--;
        if (!span_eq(said, span_of(rows[i].says))) {
            print_error("%s: says\n%.*s\nwant\n%s\n", rows[i].label, SPAN_ARG(said), rows[i].says);
            wrong++;
        }
        buf_release(&(struct buf){.ptr = changed});
    }
    buf_release(&out);
    assert_int_equal(wrong, 0);
}

static void check_rows(const char *objects, const char *plan, const struct row *rows, size_t count)
{
    check_rows_under("", objects, plan, rows, count);
}

#define FREE_POOL POOL("general", "", "requirements: [{key: " KIND ", operator: In, values: [on-demand]}]")

/* --- the pass, what is written of claims, rooms, limits, cost --- */

#define GENERAL                                                                                    \
    POOL("general", "limits: {cpu: 8, nodes: 2}, ", "requirements: [{key: " KIND ", operator: In, " \
         "values: [on-demand]}]")

static const char fleet[] =
    GENERAL
    POOL("tainted", "", "requirements: [], taints: [{key: keep, value: out, effect: NoSchedule}]")
    POOL("fixed", "replicas: 1, ", "requirements: []")
    OBJECT("apps/v1", "DaemonSet", "name: d", "spec: {selector: {}, template: {spec: {" CPU("100m")
           "}}}")
    NODE("n1", "", "z1", "1") NODE("n2", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"", "z1", "4")
    BOUND("name: here", "n1", CPU("500m"))
    POD("name: a", "nodeSelector: {" ZONE ": z1}, " CPU("1200m"))
    POD("name: b", "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: "
        "{requests: {cpu: 1500m}}}]")
    POD("name: c", CPU("300m"))
    POD("name: e", CPU("50"))
    OBJECT("v1", "Pod", "name: idle", "spec: {" CPU("1") "}")
    BOUND("name: moved", "n2", CPU("100m"));

static const char fleet_plan[] =
    PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "1300m", "2", "default/a")
         CLAIM("general-2", "", "small, large", "1", "1700m", "3", "default/b, default/moved"),
         "{name: n1, pods: [default/c]}",
         "{pod: default/e, reason: Unschedulable, message: too large}", "0", "2");

static void contract(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"not a plan", true, "nodeClaims", "claims: {}\nnodeClaims: {}\nx",
         "the plan cannot be read: nodeClaims: an object is not a list"},
        {"an unknown member of a claim", true, "  price: 1\n", "  price: 1\n  cost: 1\n",
         "the plan cannot be read: nodeClaims[0].cost: is not a field of claim"},
        {"a pod is lost", true, "[default/c]", "[]",
         "n1: gets no pod and is in the plan\npod default/c is not in the plan"},
        {"a pod is planned twice", true, "default/moved]", "default/moved, default/c]",
         "pod default/c is in the plan 2 times\nclaim general-2: requests are not those of its pods "
         "and DaemonSets"},
        {"a pod is both placed and not", true, "unschedulable: [",
         "unschedulable: [{pod: default/c, reason: Unschedulable, message: m}, ",
         "pod default/c is in the plan 2 times"},
        {"a pod that nobody asks for", true, "[default/c]", "[default/c, default/idle]",
         "pod default/idle is not to be planned and is in the plan"},
        {"a pod that is already at home", true, "[default/c]", "[default/c, default/here]",
         "pod default/here is not to be planned and is in the plan"},
        {"a pod that does not exist", true, "[default/c]", "[default/c, default/x]",
         "n1: there is no pod default/x"},
        {"a gated pod", false, "metadata: {name: c}\nspec: {",
         "metadata: {name: c}\nspec: {schedulingGates: [{name: g}], ",
         "pod default/c is not to be planned and is in the plan"},
        {"a pod that stays on the leaving node", false, "{name: moved}",
         "{name: moved, annotations: {karpenter.sh/do-not-disrupt: \"true\"}}",
         "pod default/moved is not to be planned and is in the plan"},
        {"the leaving node is used", true, "{name: n1,", "{name: n2,",
         "node n2 is leaving and is used"},
        {"a node that does not exist", true, "{name: n1, pods: [default/c]}",
         "{name: n1, pods: [default/c]}, {name: n9, pods: []}", "there is no node n9"},
        {"a node is listed twice", true, "{name: n1, pods: [default/c]}",
         "{name: n1, pods: [default/c]}, {name: n1, pods: []}",
         "node n1 is listed twice\nn1: gets no pod and is in the plan"},
        {"a reason outside the set", true, "reason: Unschedulable", "reason: TooLarge",
         "pod default/e cannot be TooLarge"},
        {"not reached by a search that is complete", true, "reason: Unschedulable",
         "reason: NotReached", "pod default/e cannot be NotReached"},
        {"no pools where there are some", true, "reason: Unschedulable", "reason: NoNodePools",
         "pod default/e cannot be NoNodePools"},
        {"devices that are not asked for", true, "reason: Unschedulable",
         "reason: DynamicResourcesNotSupported",
         "pod default/e cannot be DynamicResourcesNotSupported"},
        {"no message", true, "message: too large", "message: \"\"",
         "pod default/e is Unschedulable without a message"},
        {"a pod that does not exist has no place", true, "pod: default/e", "pod: default/x",
         "pod default/e is not in the plan\nthere is no pod default/x"},
        {"a pod that validation refuses", false, "{name: c}\nspec: {",
         "{name: c}\nspec: {nodeSelector: {" HOST ": n1}, ",
         "pod default/c fails validation and is planned"},
        {"a pod with devices", false, "{name: c}\nspec: {",
         "{name: c}\nspec: {resourceClaims: [{name: gpu}], ",
         "pod default/c has resource claims and is planned"},

        {"two claims of one name", true, "name: general-2", "name: general-1",
         "claim general-1: its name is taken"},
        {"a claim named like a node", true, "name: general-2", "name: n1",
         "claim n1: its name is taken"},
        {"a static pool", true, "nodePool: general", "nodePool: fixed",
         "claim general-1: NodePool fixed cannot be used"},
        {"a pool that is not ready", false, "limits: {cpu: 8, nodes: 2}, ",
         "replicas: 3, limits: {cpu: 8, nodes: 2}, ",
         "claim general-1: NodePool general cannot be used\n"
         "claim general-2: NodePool general cannot be used"},
        {"no type", true, "instanceTypes: [small, large]", "instanceTypes: []",
         "claim general-1: no type is listed"},
        {"a type that nobody sells", true, "instanceTypes: [small, large]",
         "instanceTypes: [small, huge]",
         "claim general-1: the NodePool is not offered type huge"},
        {"a type listed twice", true, "instanceTypes: [small, large]",
         "instanceTypes: [small, small]", "claim general-1: type small is listed twice"},
        {"the type requirement is another list", true, "values: [small, large]", "values: [small]",
         "claim general-1: the requirement on the instance type is not the list of types\n"
         "claim general-1: type large does not meet the requirement on " TYPE},
        {"dearer first", true, "instanceTypes: [small, large]\n  price: 1",
         "instanceTypes: [large, small]\n  price: 2",
         "claim general-1: type small is listed behind a dearer one, or one of a later name"},
        {"the price is wrong", true, "price: 1", "price: 1.5",
         "claim general-1: price is 1.5, of the cheapest offering 1"},
        {"the price is left out", true, "  price: 1\n", "",
         "claim general-1: price is nan, of the cheapest offering 1"},
        {"a capacity type that cannot be launched", true, "values: [on-demand]",
         "values: [on-demand, spot]",
         "claim general-1: capacity type spot cannot be launched\n"
         "claim general-1: the NodePool's requirement on " KIND " is not kept"},
        {"the pool's requirement is dropped", true,
         "  - {key: " KIND ", operator: In, values: [on-demand]}\n", "",
         "claim general-1: the NodePool's requirement on " KIND " is not kept"},
        {"the pool's label is missing", true,
         "labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}",
         "labels: {example.com/machine: m, karpenter.sh/nodepool: general}",
         "claim general-1: label team is not a\n"
         "claim general-1: label team has no value that the requirements allow"},
        {"a label that nobody asked for", true, "team: a}", "team: a, extra: x}",
         "claim general-1: nobody asked for label extra"},
        {"the taints are others", true, "  instanceTypes:",
         "  taints: [{key: keep, effect: NoSchedule}]\n  instanceTypes:",
         "claim general-1: the taints are not the NodePool's"},
        {"silent about minValues", true, "relaxed: \"false\"", "x: \"false\"",
         "claim general-1: does not say whether minValues was relaxed"},
        {"the requests leave the DaemonSet out", true, "{cpu: 1300m, pods: 2}",
         "{cpu: 1200m, pods: 1}",
         "claim general-1: requests are not those of its pods and DaemonSets"},
        {"a type that the requirements do not admit", true, IN_ZONE("z1"), IN_ZONE("z9"),
         "claim general-1: capacity type on-demand cannot be launched\n"
         "claim general-1: price is 1, of the cheapest offering inf\n"
         "claim general-1: type large is listed behind a dearer one, or one of a later name\n"
         "claim general-1: type small has no offering that the requirements admit\n"
         "claim general-1: type large has no offering that the requirements admit"},

        {"the zone is left open", true, IN_ZONE("z1"), IN_ZONE("z1, z2"),
         "claim general-1 as small: pod default/a selects other nodes"},
        {"a selector that no node has", false, "{name: c}\nspec: {",
         "{name: c}\nspec: {nodeSelector: {disk: fast}, ",
         "node n1: pod default/c selects other nodes"},
        {"a required term that does not hold", false, "{name: c}\nspec: {",
         "{name: c}\nspec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: " ZONE ", operator: NotIn, values: [z1]}]}, "
         "{matchExpressions: [{key: cores, operator: Gt, values: [\"1\"]}]}]}}}, ",
         "node n1: pod default/c selects other nodes"},
        {"a taint of the node", false, "metadata: {name: n1, labels: {" ZONE ": z1, " HOST
         ": n1}}\nspec: {}",
         "metadata: {name: n1, labels: {" ZONE ": z1, " HOST
         ": n1}}\nspec: {taints: [{key: keep, effect: NoExecute}]}",
         "node n1: pod default/c does not tolerate taint keep"},
        {"the node is cordoned", false, "metadata: {name: n1, labels: {" ZONE ": z1, " HOST
         ": n1}}\nspec: {}",
         "metadata: {name: n1, labels: {" ZONE ": z1, " HOST ": n1}}\nspec: {unschedulable: true}",
         "node n1: pod default/c does not tolerate taint node.kubernetes.io/unschedulable"},
        {"the node is overfull", false, "{cpu: 500m}", "{cpu: 601m}",
         "node n1: cpu: 1001 is asked for, 1000 is there"},
        {"a resource that the node has not", false, "{name: c}\nspec: {containers: [{name: c, "
         "resources: {requests: {cpu: 300m}}}]",
         "{name: c}\nspec: {containers: [{name: c, resources: {requests: {cpu: 300m, "
         "example.com/gpu: 1}}}]", "node n1: example.com/gpu: 1 is asked for, 0 is there"},
        {"a host port is taken twice", false, "metadata: {name: moved}\nspec: {nodeName: n2, "
         "containers: [{", "metadata: {name: moved}\nspec: {nodeName: n2, containers: [{ports: "
         "[{containerPort: 80, hostPort: 80, hostIP: 10.0.0.1}], ",
         "claim general-2: pod default/moved asks for a host port that is taken"},
        {"the DaemonSet has the host port", false, "{spec: {containers: [{",
         "{spec: {containers: [{ports: [{containerPort: 80, hostPort: 80}], ",
         "claim general-2: pod default/b asks for a host port that is taken"},
        {"the limit of a resource", false, "{cpu: 8, nodes: 2}", "{cpu: 7, nodes: 2}",
         "NodePool general: its limit of cpu is exceeded"},
        {"the limit of nodes", false, "{cpu: 8, nodes: 2}", "{cpu: 8, nodes: 1}",
         "NodePool general: its limit of nodes is exceeded"},
        {"the cost before", true, "before: 0", "before: 1", "the cost before is 1, not 0"},
        {"the cost after", true, "after: 2", "after: 3", "the cost after is 3, not 2"},
        {"the bound is above the cost", true, "lowerBound: 0", "lowerBound: 2.5",
         "the lower bound 2.5 is above the cost 2"},
    };
    check_rows(fleet, fleet_plan, rows, COUNT_OF(rows));
}

/* What takes both the plan and the objects to say. */
static void small_types(void **state)
{
    (void)state;
    static const char objects[] = GENERAL POD("name: a", CPU("2500m"));
    static const char plan[] =
        PLAN(CLAIM("general-1", "", "large", "2", "2500m", "1", "default/a"), "", "", "0", "2");
    static const struct row rows[] = {
        {"the smallest type does not hold it", true, "values: [large]}\n  - {key: team, operator: "
         "In, values: [a]}\n  labels: {example.com/machine: m, karpenter.sh/nodepool: general, "
         "team: a}\n  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n  "
         "instanceTypes: [large]\n  price: 2",
         "values: [large, small]}\n  - {key: team, operator: In, values: [a]}\n  labels: "
         "{example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n  annotations: "
         "{karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n  instanceTypes: [small, large]\n"
         "  price: 1\n  #",
         "claim general-1 as small: cpu: 2500 is asked for, 2000 is there\nthe cost after is 2, not 1"},
        {"the node limit counts standing nodes", false, "limits: {cpu: 8, nodes: 2}",
         "limits: {cpu: 3, nodes: 2}", "NodePool general: its limit of cpu is exceeded"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* Who is left out must have nowhere to go. */
static void left_out(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "1")
        OBJECT("apps/v1", "DaemonSet", "name: d", "spec: {selector: {}, template: {spec: {"
               CPU("100m") "}}}")
        POD("name: a", CPU("4"));
    static const char plan[] =
        PLAN("", "", "{pod: default/a, reason: Unschedulable, message: m}", "0", "0");
    static const struct row rows[] = {
        {"a type would hold it", false, "{cpu: 4}", "{cpu: 3900m}",
         "pod default/a is Unschedulable, and NodePool general has a type for it"},
        {"a node would hold it", false, "{cpu: 4}", "{cpu: 900m}",
         "pod default/a is Unschedulable, and node n1 has room for it\n"
         "pod default/a is Unschedulable, and NodePool general has a type for it"},
        {"no zone is right", false, "{cpu: 4}}}]", "{cpu: 900m}}}], nodeSelector: {" ZONE ": z9}",
         ""},
        {"limits may be the reason", false, "spec: {template", "spec: {limits: {cpu: 100}, template",
         ""},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
    static const char zonal[] =
        FREE_POOL OBJECT("apps/v1", "DaemonSet", "name: d", "spec: {selector: {}, template: {spec: {"
                         CPU("100m") ", nodeSelector: {" ZONE ": z2}}}}")
        POD("name: a", "nodeSelector: {" ZONE ": z2}, " CPU("4"));
    static const struct row zonal_rows[] = {
        {"the DaemonSet is in another zone", false, "nodeSelector: {" ZONE ": z2}, containers",
         "nodeSelector: {" ZONE ": z1}, containers",
         "pod default/a is Unschedulable, and NodePool general has a type for it"},
    };
    check_rows(zonal, plan, zonal_rows, COUNT_OF(zonal_rows));
}

static void no_pools(void **state)
{
    (void)state;
    static const char objects[] = NODE("n1", "", "z1", "1") POD("name: a", CPU("1"));
    static const char plan[] =
        PLAN("", "", "{pod: default/a, reason: NoNodePools, message: m}", "0", "0");
    static const struct row rows[] = {
        {"nodes are used", true, "existingNodes: []\nunschedulable: [{pod: default/a, reason: "
         "NoNodePools, message: m}]",
         "existingNodes: [{name: n1, pods: [default/a]}]\nunschedulable: []",
         "there is no NodePool and nodes are used"},
        {"another reason", true, "NoNodePools", "Unschedulable",
         "pod default/a cannot be Unschedulable"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* --- minValues, reservations --- */

static void min_values(void **state)
{
    (void)state;
    static const char objects[] =
        POOL("general", "", "requirements: [{key: " TYPE ", operator: Exists, minValues: 2}, {key: "
             "size, operator: In, values: [s, l], minValues: 2}, {key: " KIND
             ", operator: NotIn, values: [reserved]}]")
        POD("name: a", CPU("1"));
#define SIZES "  - {key: size, operator: In, values: [l, s], minValues: 2}\n"
    static const char plan[] =
        "nodeClaims:\n"
        "- name: general-1\n  nodePool: general\n  requirements:\n"
        "  - {key: " KIND ", operator: In, values: [on-demand]}\n"
        "  - {key: " TYPE ", operator: In, values: [small, large], minValues: 2}\n" SIZES
        "  labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n"
        "  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n"
        "  instanceTypes: [small, large]\n  price: 1\n  requests: {cpu: 1, pods: 1}\n  pods: "
        "[default/a]\ncost: {before: 0, after: 1, lowerBound: 0}\n";
    static const struct row rows[] = {
        {"too few types", true, "values: [small, large], minValues: 2",
         "values: [small, large], minValues: 3",
         "claim general-1: 2 values of " TYPE " are left, minValues is 3"},
        {"a value that the requirement no longer allows", true, "values: [l, s]", "values: [s]",
         "claim general-1: 1 values of size are left, minValues is 2\n"
         "claim general-1: type large does not meet the requirement on size"},
        {"minValues is left out", true, "values: [small, large], minValues: 2",
         "values: [small, large]", "claim general-1: the NodePool's minValues of " TYPE
         " is not kept"},
        {"relaxed where it must not be", true, "values: [small, large], minValues: 2}\n" SIZES
         "  labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n"
         "  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n",
         "values: [small, large], minValues: 1}\n" SIZES
         "  labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n"
         "  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"true\"}\n",
         "claim general-1: the NodePool's minValues of " TYPE " is not kept"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

#define BOOKED(name_, pod_)                                                                        \
    "- name: " name_ "\n  nodePool: general\n  requirements:\n"                                    \
    "  - {key: " KIND ", operator: In, values: [reserved]}\n"                                      \
    "  - {key: " TYPE ", operator: In, values: [booked]}\n"                                        \
    "  labels: {example.com/machine: m, karpenter.sh/nodepool: general, team: a}\n"                \
    "  annotations: {karpenter.sh/nodeclaim-min-values-relaxed: \"false\"}\n"                      \
    "  instanceTypes: [booked]\n  price: 0.1\n  requests: {cpu: 1, pods: 1}\n  pods: [" pod_ "]\n"

static void reservations(void **state)
{
    (void)state;
    static const char objects[] =
        POOL("general", "", "requirements: []") POD("name: a", CPU("1")) POD("name: b", CPU("1"));
    static const char plan[] =
        PLAN(BOOKED("general-1", "default/a"), "",
             "{pod: default/b, reason: ReservedOfferingUnavailable, message: m}", "0", "0.1");
    static const struct row rows[] = {
        {"one slot, two claims", true, "existingNodes: []\nunschedulable: [{pod: default/b, reason: "
         "ReservedOfferingUnavailable, message: m}]\ncost: {before: 0, after: 0.1",
         BOOKED("general-2", "default/b") "cost: {before: 0, after: 0.2",
         "reservation r1: 2 claims may take it, 1 are left"},
        {"a price that nobody asks", true, "price: 0.1", "price: 0.2",
         "claim general-1: price is 0.2, of the cheapest offering 0.1"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* --- spreading and affinity --- */

#define SPREAD(more_)                                                                              \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " ZONE ", whenUnsatisfiable: "          \
    "DoNotSchedule, labelSelector: {matchLabels: {app: web}}" more_ "}], "
#define WEB(name_, more_) POD("name: " name_ ", labels: {app: web}", SPREAD(more_) CPU("1"))
#define ONE(name_, zone_, pod_) CLAIM(name_, IN_ZONE(zone_), "small, large", "1", "1", "1", pod_)

static const char SKEWED[] =
    "general-1: pod default/w1 cannot be bound at its turn: topology spread over " ZONE;

static void spreading(void **state)
{
    (void)state;
    /* One stands in z1. The two must go to z2 and z3. */
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4") NODE("n3", "", "z3", "100m")
        BOUND("name: w0, labels: {app: web}", "n1", CPU("1")) WEB("w1", "") WEB("w2", "")
        POD("name: x, labels: {app: other}", CPU("1"));
    static const char plan[] =
        PLAN(ONE("general-1", "z2", "default/w1") ONE("general-2", "z3", "default/w2"),
             "{name: n1, pods: [default/x]}", "", "0", "2");
    static const struct row rows[] = {
        {"two in one zone", true, "values: [z3]", "values: [z1]",
         "general-2: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"the zone is open", true, "values: [z3]", "values: [z2, z3, z1]",
         "general-2: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"more minDomains than there are zones, one in each", false, "{app: web}}}], containers",
         "{app: web}}, minDomains: 4}], containers", ""},
        {"one that does not mind comes last", false, "metadata: {name: x, labels: {app: other}}",
         "metadata: {name: x, labels: {app: web}}", ""},
        {"one fewer is bound", false, "metadata: {name: w0, labels: {app: web}}",
         "metadata: {name: w0, labels: {app: other}}", ""},
        {"another namespace does not count", false, "metadata: {name: w0, labels: {app: web}}",
         "metadata: {name: w0, namespace: far, labels: {app: web}}", ""},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* Both in one zone, two zones standing empty. */
static void spreading_over_standing(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z2", "100m") WEB("w1", "") WEB("w2", "");
    static const char plan[] = PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "2", "2",
                                          "default/w1, default/w2"), "", "", "0", "1");
    struct buf out = {0};
    assert_int_equal(judge("", objects, plan, &out), 1);
    assert_string_equal(out.ptr, "general-1: pod default/w2 cannot be bound at its turn: topology "
                                 "spread over " ZONE "\n");
    /* What a pod may not use does not count for it, unless it says so. */
    static const struct row rows[] = {
        {"nodes that the selector leaves out count", true, "", "", ""},
        {"with the policy Ignore they count", false, "labelSelector: {matchLabels: {app: web}}}], "
         "nodeSelector", "labelSelector: {matchLabels: {app: web}}, nodeAffinityPolicy: Ignore}], "
         "nodeSelector",
         "general-1: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"a taint does not leave a node out", false, "key: keep, effect: NoSchedule", "key: keep, "
         "effect: NoSchedule", ""},
    };
    static const char selecting[] =
        FREE_POOL
        OBJECT("v1", "Node", "name: n1, labels: {" ZONE ": z2, " HOST ": n1, team: b}",
               "spec: {taints: [{key: keep, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 1, "
               "pods: 10}}")
        WEB("w1", "")
        POD("name: w2, labels: {app: web}", SPREAD("") "nodeSelector: {team: a}, " CPU("1"));
    check_rows(selecting, plan, rows, COUNT_OF(rows));
    buf_release(&out);
}

static void taints_and_spreading(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL
        OBJECT("v1", "Node", "name: n1, labels: {" ZONE ": z2, " HOST ": n1}",
               "spec: {taints: [{key: keep, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 1, "
               "pods: 10}}")
        WEB("w1", ", nodeTaintsPolicy: Honor") WEB("w2", ", nodeTaintsPolicy: Honor");
    static const char plan[] = PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "2", "2",
                                          "default/w1, default/w2"), "", "", "0", "1");
    static const struct row rows[] = {
        {"the tainted node counts by default", false,
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
         "{app: web}}, nodeTaintsPolicy: Honor}]",
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
         "{app: web}}}]",
         "general-1: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"minDomains wants a second zone", false, "nodeTaintsPolicy: Honor}], " CPU("1")
         "}\n" PENDING "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: w2",
         "nodeTaintsPolicy: Honor, minDomains: 2}], " CPU("1")
         "}\n" PENDING "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: w2", ""},
        {"minDomains wants a second zone of the second", false,
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, ",
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "minDomains: 2, ",
         "general-1: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"a soft constraint is none", false,
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
         "{app: web}}, nodeTaintsPolicy: Honor}]",
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: "
         "{app: web}}}]", ""},
        {"a node without the key is in no domain, and cannot be used", false,
         "topologyKey: " ZONE ", whenUnsatisfiable", "topologyKey: rack, whenUnsatisfiable",
         "general-1: pod default/w1 cannot be bound at its turn: topology spread over rack"},
        {"matchLabelKeys parts versions", false,
         "name: w2, labels: {app: web}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
         "{app: web}}, nodeTaintsPolicy: Honor}]",
         "name: w2, labels: {app: web, v: \"2\"}}\nspec: {topologySpreadConstraints: [{maxSkew: 1, "
         "topologyKey: " ZONE ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
         "{app: web}}, matchLabelKeys: [v]}]", ""},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* An unconstrained pod of the same app that is bound first pushes the skew over. */
static void order(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z2", "100m")
        POD("name: plain, labels: {app: web}", CPU("1")) WEB("w1", "");
    static const char plan[] = PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "2", "2",
                                          "default/w1, default/plain"), "", "", "0", "1");
    static const struct row rows[] = {
        {"the constrained one is last", true, "[default/w1, default/plain]",
         "[default/plain, default/w1]", SKEWED},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* What pods that state none are given. */
static void default_spreading(void **state)
{
    (void)state;
    static const char config[] = "podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: "
                                 ZONE ", whenUnsatisfiable: DoNotSchedule}]}";
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z2", "100m")
        OBJECT("v1", "Service", "name: s", "spec: {selector: {app: other}}")
        OBJECT("apps/v1", "ReplicaSet", "name: r",
               "spec: {selector: {matchLabels: {app: shop}}}")
        POD("name: w1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, "
            "name: q, uid: u, controller: true}]", CPU("1"))
        POD("name: w2, labels: {app: web}", CPU("1"));
    static const char plan[] = PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "2", "2",
                                          "default/w1, default/w2"), "", "", "0", "1");
    static const struct row rows[] = {
        {"by a Service", false, "{selector: {app: other}}", "{selector: {app: web}}",
         "general-1: pod default/w2 cannot be bound at its turn: topology spread over " ZONE},
        {"by a Service without a selector", false, "{selector: {app: other}}", "{}", ""},
        {"by an empty selector, which finds nobody", false, "{selector: {app: other}}",
         "{selector: {}}", ""},
        {"of another namespace", false, "{name: s}\nspec: {selector: {app: other}}",
         "{name: s, namespace: far}\nspec: {selector: {app: web}}", ""},
        {"by the controller, which is alone with it", false,
         "{name: r}\nspec: {selector: {matchLabels: {app: shop}}}",
         "{name: q}\nspec: {selector: {matchLabels: {app: web}}}", ""},
    };
    check_rows_under(config, objects, plan, rows, COUNT_OF(rows));
}

#define TERM(key_, ns_)                                                                            \
    "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " key_ ", labelSelector: "     \
    "{matchLabels: {app: web}}" ns_ "}]"
#define AFFINE(key_) "affinity: {podAffinity: {" TERM(key_, "") "}}, "
#define APART(key_, ns_) "affinity: {podAntiAffinity: {" TERM(key_, ns_) "}}, "

static void affinity(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4")
        BOUND("name: w0, labels: {app: web}", "n1", CPU("1"))
        POD("name: w1, labels: {app: new}", AFFINE(ZONE) CPU("1"));
    static const char plan[] =
        PLAN(ONE("general-1", "z1", "default/w1"), "", "", "0", "1");
    static const char refused[] =
        "general-1: pod default/w1 cannot be bound at its turn: pod affinity over " ZONE;
    static const struct row rows[] = {
        {"another zone", true, "values: [z1]", "values: [z2]", refused},
        {"an open zone", true, "values: [z1]", "values: [z1, z2]", refused},
        {"nobody to be near", false, "metadata: {name: w0, labels: {app: web}}",
         "metadata: {name: w0, labels: {app: other}}", refused},
        {"nobody but itself", false, "metadata: {name: w0, labels: {app: web}}\n", "metadata: "
         "{name: w0, labels: {app: other}}\n", refused},
        {"in another namespace", false, "metadata: {name: w0, labels: {app: web}}",
         "metadata: {name: w0, namespace: far, labels: {app: web}}", refused},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* Who counts for one of several terms is meant by all. */
static void affinity_of_several_terms(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4")
        BOUND("name: w0, labels: {app: web, tier: front}", "n1", CPU("1"))
        POD("name: w1, labels: {app: new}",
            "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " ZONE
            ", labelSelector: {matchLabels: {app: web}}}, {topologyKey: " ZONE
            ", labelSelector: {matchLabels: {tier: front}}}]}}, " CPU("1"));
    static const char plan[] =
        PLAN(ONE("general-1", "z1", "default/w1"), "", "", "0", "1");
    static const char refused[] =
        "general-1: pod default/w1 cannot be bound at its turn: pod affinity over " ZONE;
    static const struct row rows[] = {
        {"two pods, each meant by one", false, "metadata: {name: w0, labels: {app: web, tier: front}}",
         "metadata: {name: w0, labels: {app: web}}\nspec: {nodeName: n1, " CPU("1") "}\nstatus: {phase: Running}\n"
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: w3, labels: {tier: front}}", refused},
        {"it is the first, but not meant by both", false,
         "metadata: {name: w0, labels: {app: web, tier: front}}", "metadata: {name: w0}", refused},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* The first may start anywhere; the others follow it. */
static void affinity_to_itself(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL POD("name: w1, labels: {app: web}", AFFINE(ZONE) CPU("1"))
        POD("name: w2, labels: {app: web}", AFFINE(ZONE) CPU("1"));
    static const char plan[] =
        PLAN(ONE("general-1", "z2", "default/w1") ONE("general-2", "z2", "default/w2"), "", "", "0",
             "2");
    static const struct row rows[] = {
        {"two beginnings", true, "values: [z2]", "values: [z1]",
         "general-2: pod default/w2 cannot be bound at its turn: pod affinity over " ZONE},
        {"one zone is open", true, "values: [z2]", "values: [z2, z1]",
         "general-2: pod default/w2 cannot be bound at its turn: pod affinity over " ZONE},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

static void anti_affinity(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4") BOUND("name: w0, labels: {app: web}", "n1", CPU("1"))
        BOUND("name: loner, labels: {app: other}", "n1", APART(ZONE, "") CPU("1"))
        POD("name: w1, labels: {app: web}", APART(HOST, "") CPU("1"))
        POD("name: w2, labels: {app: x}", CPU("1"));
    static const char plan[] =
        PLAN(CLAIM("general-1", IN_ZONE("z2"), "small, large", "1", "2", "2",
                   "default/w1, default/w2"), "", "", "0", "1");
    static const struct row rows[] = {
        {"the bound pod minds, whole zone", true, "values: [z2]", "values: [z1]",
         "general-1: pod default/w1 cannot be bound at its turn: pod anti-affinity over " ZONE},
        {"the zone is open", true, "values: [z2]", "values: [z1, z2]",
         "general-1: pod default/w1 cannot be bound at its turn: pod anti-affinity over " ZONE},
        {"two on one host", false, "metadata: {name: w2, labels: {app: x}}",
         "metadata: {name: w2, labels: {app: web}}",
         "general-1: pod default/w2 cannot be bound at its turn: pod anti-affinity over " HOST},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

static void anti_affinity_until_gone(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4")
        BOUND("name: loner, labels: {app: other}, deletionTimestamp: \"2026-01-01T00:00:00Z\"", "n1",
              APART(ZONE, "") CPU("1"))
        POD("name: w1, labels: {app: web}", CPU("1"));
    static const char plan[] =
        PLAN(CLAIM("general-1", IN_ZONE("z2"), "small, large", "1", "1", "1", "default/w1"), "", "",
             "0", "1");
    static const struct row rows[] = {
        {"a pod that is being deleted minds", true, "values: [z2]", "values: [z1]",
         "general-1: pod default/w1 cannot be bound at its turn: pod anti-affinity over " ZONE},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

static void namespaces(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL OBJECT("v1", "Namespace", "name: far, labels: {side: b}", "")
        POD("name: w1, labels: {app: web}", APART(HOST, ", namespaces: [near]") CPU("1"))
        POD("name: w2, namespace: far, labels: {app: web}", CPU("1"));
    static const char plan[] =
        PLAN(CLAIM("general-1", "", "small, large", "1", "2", "2", "default/w1, far/w2"), "", "",
             "0", "1");
    static const char refused[] =
        "general-1: pod far/w2 cannot be bound at its turn: pod anti-affinity over " HOST;
    static const struct row rows[] = {
        {"by name", false, "namespaces: [near]", "namespaces: [far]", refused},
        {"by label", false, "namespaces: [near]", "namespaceSelector: {matchLabels: {side: b}}",
         refused},
        {"by another label", false, "namespaces: [near]",
         "namespaceSelector: {matchLabels: {side: a}}", ""},
        {"all", false, "namespaces: [near]", "namespaceSelector: {}", refused},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* --- volumes --- */

#define USES(claim_) "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim_ "}}], "

static void volumes(void **state)
{
    (void)state;
    static const char objects[] =
        FREE_POOL NODE("n1", "", "z1", "4")
        OBJECT("v1", "PersistentVolume", "name: pv", "spec: {csi: {driver: csi.example.com}, "
               "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE
               ", operator: In, values: [z1]}]}]}}}")
        OBJECT("v1", "PersistentVolumeClaim", "name: bound, annotations: "
               "{pv.kubernetes.io/bind-completed: \"yes\"}", "spec: {volumeName: pv}")
        OBJECT("storage.k8s.io/v1", "StorageClass", "name: wait",
               "provisioner: csi.example.com\nvolumeBindingMode: WaitForFirstConsumer\n"
               "allowedTopologies: [{matchLabelExpressions: [{key: " ZONE ", values: [z1, z2]}]}]")
        OBJECT("storage.k8s.io/v1", "CSINode", "name: n1",
               "spec: {drivers: [{name: csi.example.com, allocatable: {count: 2}}]}")
        OBJECT("v1", "PersistentVolumeClaim", "name: u1", "spec: {storageClassName: wait}")
        OBJECT("v1", "PersistentVolumeClaim", "name: u2", "spec: {storageClassName: wait}")
        OBJECT("v1", "PersistentVolumeClaim", "name: u3", "spec: {storageClassName: wait}")
        POD("name: a", USES("bound") CPU("1"))
        POD("name: b", USES("u1") CPU("500m"))
        POD("name: c", USES("u2") CPU("500m"))
        POD("name: e", USES("u3") CPU("1"))
        /* Nobody can say where the volume of this one will be. */
        OBJECT("v1", "PersistentVolumeClaim", "name: torn", "spec: {storageClassName: wait}")
        NODE("n2", "", "z2", "1") BOUND("name: s", "n1", USES("torn") CPU("100m"))
        BOUND("name: t", "n2", USES("torn") CPU("100m")) POD("name: f", USES("torn") CPU("100m"));
    static const char plan[] =
        PLAN(CLAIM("general-1", IN_ZONE("z1"), "small, large", "1", "1", "1", "default/a")
             CLAIM("general-2", IN_ZONE("z1, z2"), "small, large", "1", "1", "2",
                   "default/b, default/c"),
             "{name: n1, pods: [default/e]}, {name: n2, pods: [default/f]}", "", "0", "2");
    static const struct row rows[] = {
        {"the volume is elsewhere", true, IN_ZONE("z1") "  labels", IN_ZONE("z2") "  labels",
         "general-1: pod default/a does not reach the volume of claim bound"},
        {"the class does not allow the zone", true, "values: [z1, z2]", "values: [z1, z3]",
         "general-2: pod default/b does not reach the volume of claim u1"},
        {"the class binds at once", false, "WaitForFirstConsumer", "Immediate",
         "n1: pod default/e does not reach the volume of claim u3\n"
         "n2: pod default/f does not reach the volume of claim torn\n"
         "general-2: pod default/b does not reach the volume of claim u1"},
        {"its volume is made there", false, "{name: u3}",
         "{name: u3, annotations: {volume.kubernetes.io/selected-node: n1}}", ""},
        {"its volume is made on another node", false, "{name: u1}",
         "{name: u1, annotations: {volume.kubernetes.io/selected-node: n1}}",
         "general-2: the volume of claim u1, which pod default/b waits for, is made elsewhere"},
        {"a claim that is not there", false, "{name: u3}", "{name: u4}",
         "pod default/e: volume claim u3 cannot be used"},
        {"the node has no slot left", false, "allocatable: {count: 2}", "allocatable: {count: 0}",
         "n1: 2 volumes of csi.example.com are attached, the limit is 0"},
        {"the type's figure holds for drivers that the node does not publish", false,
         "{name: csi.example.com, allocatable: {count: 2}}", "{name: other, allocatable: {count: 0}}",
         ""},
        {"no figure is no limit", false, "allocatable: {count: 2}", "allocatable: {}", ""},
        {"a machine has no slot left", false, USES("bound"), "volumes: [{name: v, "
         "persistentVolumeClaim: {claimName: u1}}, {name: w, persistentVolumeClaim: {claimName: "
         "u2}}, {name: x, persistentVolumeClaim: {claimName: u3}}], ",
         "general-1: 3 volumes of csi.example.com are attached, the limit is 2\n"
         "claim default/u1 has no volume and is used on general-1 and general-2, which may be in two "
         "zones\nclaim default/u2 has no volume and is used on general-1 and general-2, which may be "
         "in two zones"},
        {"one claim in two zones", false, USES("u3"), USES("u2"),
         "claim default/u2 has no volume and is used on n1 and general-2, which may be in two "
         "zones"},
        {"another zone than that of a pod that stands", false, "metadata: {name: t}",
         "metadata: {name: t, deletionTimestamp: \"2026-01-01T00:00:00Z\"}",
         "claim default/torn has no volume and is used on n1 and n2, which may be in two zones"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

/* The newest of the four is z; of the three to be placed one is to be on spot. */
static void split(void **state)
{
    (void)state;
#define SHARE(percent_, set_)                                                                      \
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " set_ ", controller: true}], " \
    "annotations: {stowage.dev/spot-percent: \"" percent_ "\"}"
    static const char objects[] =
        FREE_POOL
        OBJECT("apps/v1", "ReplicaSet", "name: web-1, ownerReferences: [{apiVersion: apps/v1, kind: "
               "Deployment, name: web, controller: true}]", "spec: {selector: {}}")
        OBJECT("v1", "Node", "name: n1, labels: {" KIND ": spot}",
               "spec: {}\nstatus: {allocatable: {cpu: 3, memory: 8Gi, pods: 10}}")
        OBJECT("karpenter.sh/v1", "NodeClaim", "name: c1, labels: {karpenter.sh/nodepool: general}",
               "spec: {requirements: [{key: " KIND ", operator: In, values: [on-demand]}]}\n"
               "status: {allocatable: {cpu: 1, memory: 8Gi, pods: 10}}")
        POD("name: b" SHARE("5", "web-1"), CPU("1"))
        POD("name: a" SHARE("5", "web-1"), CPU("1"))
        BOUND("name: c" SHARE("5", "web-1"), "n1", CPU("1"))
        POD("name: z" SHARE("50", "web-1"), CPU("1"));
    static const char plan[] =
        PLAN(CLAIM("general-1", "", "small, large", "1", "1", "1", "default/z"),
             "{name: c1, pods: [default/b]}, {name: n1, pods: [default/a]}", "", "0", "1");
    static const struct row rows[] = {
        {"one too many on spot", true, "{name: c1, pods: [default/b]}, {name: n1, pods: [default/a]}",
         "{name: n1, pods: [default/a, default/b]}",
         "Deployment default/web: 2 more of its pods are planned on spot, of 1 that are wanted there"},
        {"one too many on-demand", false, "\"50\"", "\"75\"",
         "Deployment default/web: 2 more of its pods are planned on on-demand, of 1 that are wanted there"},
        {"a base", false, "stowage.dev/spot-percent: \"50\"",
         "stowage.dev/spot-percent: \"100\", stowage.dev/on-demand-base: \"3\"",
         "Deployment default/web: 1 more of its pods are planned on spot, of 0 that are wanted there"},
        {"the node is another", false, "{" KIND ": spot}", "{}",
         "Deployment default/web: 3 more of its pods are planned on on-demand, of 1 that are wanted there"},
        {"one belongs to somebody else", false, "name: web-1, controller: true}], annotations",
         "name: web-2, controller: true}], annotations",
         "Deployment default/web: 1 more of its pods are planned on spot, of 0 that are wanted there"},
        {"one sees to it itself", false, "spec: {" CPU("1") "}\n" PENDING,
         "spec: {nodeSelector: {" KIND ": on-demand}, " CPU("1") "}\n" PENDING, ""},
        {"what cannot be read asks for nothing", false, "\"50\"", "\"half\"", ""},
        {"a claim that may be either", false, "values: [on-demand]}]}\nstatus",
         "values: [on-demand, spot]}]}\nstatus",
         "pod default/b is split by Deployment default/web, and c1 may be spot or on-demand\n"
         "Deployment default/web: 2 more of its pods are planned on spot, of 1 that are wanted there"},
        {"left out though there is room on its side", true,
         ", {name: n1, pods: [default/a]}]\nunschedulable: [",
         "]\nunschedulable: [{pod: default/a, reason: Unschedulable, message: m}",
         "pod default/a is Unschedulable, and node n1 has room for it"},
    };
    check_rows(objects, plan, rows, COUNT_OF(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract),
        cmocka_unit_test(small_types),
        cmocka_unit_test(left_out),
        cmocka_unit_test(no_pools),
        cmocka_unit_test(min_values),
        cmocka_unit_test(reservations),
        cmocka_unit_test(spreading),
        cmocka_unit_test(spreading_over_standing),
        cmocka_unit_test(taints_and_spreading),
        cmocka_unit_test(order),
        cmocka_unit_test(default_spreading),
        cmocka_unit_test(affinity),
        cmocka_unit_test(affinity_to_itself), cmocka_unit_test(affinity_of_several_terms),
        cmocka_unit_test(anti_affinity), cmocka_unit_test(anti_affinity_until_gone),
        cmocka_unit_test(namespaces),
        cmocka_unit_test(volumes),
        cmocka_unit_test(split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
