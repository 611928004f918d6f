/* A plan by workload: whose pods, where they go, and what they add to the bill. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "planner/plan/plan_table.h"
#include "planner/plan/plan_workloads.h"

#define TYPE(name_, cpu_, gpu_, price_)                                                            \
    "- {name: " name_ ", resources: {cpu: " cpu_ ", memory: 16Gi, pods: 10" gpu_ "}, offerings: [" \
    "{zone: zone-a, capacity: on-demand, price: " price_ "}, {zone: zone-b, capacity: on-demand, price: " price_ "}]}\n"
#define TYPES "---\nkind: InstanceTypes\nitems:\n" TYPE("plain", "4", "", "0.4") TYPE("gpu", "4", ", nvidia.com/gpu: 4", "4.0")
#define POOL(name_, type_)                                                                         \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\nspec: {template: {spec: {requirements: " \
    "[{key: node.kubernetes.io/instance-type, operator: In, values: [" type_ "]}]}}}\n"
#define WAITS "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
#define OWNED(kind_, name_) ", ownerReferences: [{apiVersion: apps/v1, kind: " kind_ ", name: " name_ ", uid: u, controller: true}]"
#define POD(name_, meta_, asks_, more_)                                                            \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: shop" meta_ "}\nspec: {containers: [{name: c, " \
    "resources: {requests: {" asks_ "}}}]" more_ "}\n" WAITS
#define WEB(name_, asks_) POD(name_, ", labels: {pod-template-hash: 5f6d8}" OWNED("ReplicaSet", "web-5f6d8"), asks_, "")
#define ZONE(zone_) ", nodeSelector: {topology.kubernetes.io/zone: " zone_ "}"
#define NODE "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1, memory: 8Gi, pods: 10}}\n"

static const struct {
    const char *label, *objects, *want; /* a line for each: name; pods; where; dollars an hour */
} rows[] = {
    {"a Deployment's, by its ReplicaSet's name", POOL("general", "plain") WEB("web-5f6d8-a", "cpu: 2") WEB("web-5f6d8-b", "cpu: 2"),
     "Deployment shop/web; 2; new general; 0.4000\n"},
    {"a ReplicaSet of nobody", POOL("general", "plain") POD("a", OWNED("ReplicaSet", "web"), "cpu: 2", ""),
     "ReplicaSet shop/web; 1; new general; 0.4000\n"},
    {"pods of nobody", POOL("general", "plain") POD("a", "", "cpu: 2", "") POD("b", "", "cpu: 2", ""),
     "Pods of shop; 2; new general; 0.4000\n"},
    {"one pod of nobody", POOL("general", "plain") POD("a", "", "cpu: 2", ""), "Pod shop/a; 1; new general; 0.4000\n"},
    {"a node shared out by what is asked most of", POOL("general", "plain") WEB("web-5f6d8-a", "cpu: 3, memory: 1Gi")
     POD("db-0", OWNED("StatefulSet", "db"), "cpu: 1, memory: 4Gi", ""),
     "Deployment shop/web; 1; new general; 0.3000\nStatefulSet shop/db; 1; new general; 0.1000\n"},
    {"who asks for the dear resource pays for it", POOL("gpu", "gpu")
     POD("train-0", OWNED("Job", "train"), "cpu: 1, nvidia.com/gpu: 4", "") WEB("web-5f6d8-a", "cpu: 1"),
     "Job shop/train; 1; new gpu; 3.2000\nDeployment shop/web; 1; new gpu; 0.8000\n"},
    {"what nobody asks for is shared, too", POOL("general", "plain") WEB("web-5f6d8-a", "cpu: 1"), "Deployment shop/web; 1; new general; 0.4000\n"},
    {"room that is there costs nothing more", POOL("general", "plain") NODE WEB("web-5f6d8-a", "cpu: 1") WEB("web-5f6d8-b", "cpu: 4"),
     "Deployment shop/web; 2; new general 1, existing 1; 0.4000\n"},
    {"several pools, and no place", POOL("a", "plain") POOL("b", "gpu")
     POD("web-5f6d8-a", ", labels: {pod-template-hash: 5f6d8}" OWNED("ReplicaSet", "web-5f6d8"), "cpu: 4",
         ", nodeSelector: {node.kubernetes.io/instance-type: plain}") WEB("web-5f6d8-b", "cpu: 1, nvidia.com/gpu: 1")
     WEB("web-5f6d8-c", "cpu: 9"), "Deployment shop/web; 3; new a 1, new b 1, no place 1; 4.4000\n"},
    {"dearest first", POOL("general", "plain") POD("b-0", OWNED("StatefulSet", "b"), "cpu: 4", "")
     POD("a-0", OWNED("StatefulSet", "a"), "cpu: 9", "") POD("c-0", OWNED("StatefulSet", "c"), "cpu: 4", "")
     POD("c-1", OWNED("StatefulSet", "c"), "cpu: 4", ""),
     "StatefulSet shop/c; 2; new general; 0.8000\nStatefulSet shop/b; 1; new general; 0.4000\nStatefulSet shop/a; 1; no place; 0.0000\n"},
    {"nobody waits", POOL("general", "plain"), ""},
};

static void are_who_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf got = {0};
        const struct plan_workload *list;
        struct arena a;
        arena_init(&a, 0);
        cluster_init(&c);
        cluster_add(&c, TYPES);
        cluster_add(&c, rows[i].objects);
        uint32_t n = plan_workloads(&a, cluster_plan(&c), &list);
        for (uint32_t k = 0; k < n; k++)
            buf_addf(&got, "%.*s; %u; %.*s; %.4f\n", SPAN_ARG(plan_workload_name(&a, &list[k].who)), list[k].pods,
                     SPAN_ARG(plan_workload_where(&a, &list[k])), list[k].price);
        if (!span_eq(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: got\n%.*s", rows[i].label, SPAN_ARG(buf_span(&got)));
        buf_release(&got);
        arena_release(&a);
        cluster_release(&c);
    }
}

/* Four nodes, of which two and two differ in the zone alone, and lie apart in the plan. */
static void nodes_that_differ_in_zones_are_one_row(void **state)
{
    (void)state;
    struct cluster c;
    struct buf text = {0};
    cluster_init(&c);
    cluster_add(&c, TYPES);
    cluster_add(&c, POOL("general", "plain") POD("a", "", "cpu: 4", ZONE("zone-a")) POD("b", "", "cpu: 3", ZONE("zone-a"))
                    POD("c", "", "cpu: 4", ZONE("zone-b")) POD("d", "", "cpu: 3", ZONE("zone-b")));
    plan_table(&text, cluster_plan(&c), &(struct plan_table_options){0});
    assert_non_null(strstr(text.ptr, "WORKLOAD      PODS  WHERE        $/MONTH\nPods of shop     4  new general  1168.00\n\nBUY "));
    assert_non_null(strstr(text.ptr, "\n+2   general     1  4/4 100%  0/16Gi  0%  zone-a|zone-b  "));
    assert_non_null(strstr(text.ptr, "\n+2   general     1  3/4 75%   0/16Gi  0%  zone-a|zone-b  "));
    buf_release(&text);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_who_asked),
                                       cmocka_unit_test(nodes_that_differ_in_zones_are_one_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
