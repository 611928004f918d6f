/* Plans of random clusters obey the rules, and are the same whatever the order of the input. */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/plan_json.h"

static uint64_t state_of;

static unsigned draw(unsigned below)
{
    state_of = state_of * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of >> 33) % below;
}

static const char *pick(const char *const *list, unsigned count)
{
    return list[draw(count)];
}

/* --- random clusters --- */

static void put_pools(struct buf *b)
{
    static const char *const limits[] = {"", "limits: {cpu: 20}, ", "limits: {nodes: 2}, "};
    static const char *const taints[] = {"", ", taints: [{key: team, value: red, effect: NoSchedule}]",
                                         ", taints: [{key: soft, effect: PreferNoSchedule}]"};
    static const char *const reqs[] = {"", "{key: rack, operator: In, values: [r1, r2]}",
        "{key: topology.kubernetes.io/zone, operator: NotIn, values: [test-zone-1]}",
        "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}",
        "{key: integer, operator: Lt, values: [\"5\"]}"};
    for (unsigned i = 0, n = 1 + draw(3); i < n; i++)
        buf_addf(b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: pool%u}\n"
                    "spec: {weight: %u, %stemplate: {metadata: {labels: {tier: t%u}}, spec: "
                    "{requirements: [%s]%s}}}\n",
                 i, draw(3), pick(limits, 3), i, pick(reqs, 5), pick(taints, 3));
}

static void put_nodes(struct buf *b)
{
    for (unsigned i = 0, n = draw(4); i < n; i++) {
        buf_addf(b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: node%u, labels: "
                    "{karpenter.sh/nodepool: pool0, topology.kubernetes.io/zone: test-zone-%u, "
                    "tier: t0, kubernetes.io/arch: amd64}}\nspec: {providerID: \"x://%u\"%s}\n"
                    "status: {capacity: {cpu: 4, memory: 8Gi, pods: 5}, allocatable: {cpu: 3900m, "
                    "memory: 8Gi, pods: 5}}\n",
                 i, 1 + draw(3), i,
                 draw(3) == 0 ? ", taints: [{key: team, value: red, effect: NoSchedule}]" : "");
        buf_addf(b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: bound%u}\nspec: {nodeName: "
                    "node%u, containers: [{name: c, resources: {requests: {cpu: %u00m}}}]}\n"
                    "status: {phase: Running}\n",
                 i, i, 1 + draw(20));
    }
}

static void put_pods(struct buf *b)
{
    static const char *const selects[] = {"", "", "", ", nodeSelector: {topology.kubernetes.io/zone: test-zone-2}",
        ", nodeSelector: {tier: t1}", ", nodeSelector: {rack: r2}",
        ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: tier, operator: In, values: [none]}]}, {matchExpressions: [{key: "
        "topology.kubernetes.io/zone, operator: NotIn, values: [test-zone-2]}, {key: integer, operator: "
        "Gt, values: [\"1\"]}]}]}}}",
        ", nodeSelector: {kubernetes.io/arch: arm64}"};
    static const char *const tolerate[] = {"", "", ", tolerations: [{key: team, operator: Exists}]",
                                           ", tolerations: [{operator: Exists}]"};
    static const char *const ports[] = {"", "", "", "", ", ports: [{containerPort: 80, hostPort: 80}]"};
    for (unsigned i = 0, n = 1 + draw(30); i < n; i++)
        buf_addf(b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod%u}\nspec: {containers: [{name: "
                    "c, resources: {requests: {cpu: %u00m, memory: %uMi}}%s}]%s%s}\nstatus: {phase: "
                    "Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
                    "Unschedulable}]}\n",
                 i, draw(30), draw(3000), pick(ports, 5), pick(selects, 8), pick(tolerate, 4));
}

static void put_daemons(struct buf *b)
{
    static const char *const selects[] = {"", ", nodeSelector: {size: small}",
                                          ", tolerations: [{operator: Exists}]"};
    for (unsigned i = 0, n = draw(3); i < n; i++)
        buf_addf(b, "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d%u}\nspec: {selector: "
                    "{}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
                    "%u0m}}}]%s}}}\n",
                 i, 1 + draw(20), pick(selects, 3));
}

static struct span json_of(struct cluster *c)
{
    struct buf b = {0};
    struct json j = JSON_TO(&b);
    plan_json(&j, c->plan, NULL, 0);
    struct span text = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static void random_plans(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct cluster c;
        struct err err = {0};
        state_of = seed;
        cluster_init(&c);
        if (draw(2) == 0)
            cluster_types_c0(&c);
        else
            cluster_types_c1(&c, 8);
        struct buf b = {0};
        put_pools(&b);
        put_nodes(&b);
        put_pods(&b);
        put_daemons(&b);
        cluster_add(&c, b.ptr);
        if (!check_plan(&c, cluster_plan(&c), &err))
            fail_msg("seed %llu: %s\n%s%.*s", (unsigned long long)seed, err.msg, b.ptr,
                     SPAN_ARG(cluster_summary(&c)));
        struct span first = json_of(&c);
        cluster_shuffle(&c, seed);
        cluster_plan(&c);
        if (!span_eq(first, json_of(&c)))
            fail_msg("seed %llu: another plan when the input is shuffled:\n%.*s\n%.*s",
                     (unsigned long long)seed, SPAN_ARG(first), SPAN_ARG(json_of(&c)));
        buf_release(&b);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
