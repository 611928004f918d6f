/* What no API server would admit, member by member, and what it does admit at the edge of that. */
#include "kube/kind.h"
#include "kube/node.h"
#include "kube/pod.h"
#include "kube/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *text, *want; /* part of what is reported; NULL: nothing is */
};

static void note(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line;
    buf_addf(user, "%.*s: %.*s\n", SPAN_ARG(path), SPAN_ARG(text));
}

static void expect_row(const struct schema *schema, const struct row *row)
{
    struct arena arena;
    struct symtab *syms = kube_symtab_new();
    struct doc_parser *parser = doc_parser_new();
    struct buf reported = {0};
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    arena_init(&arena, 0);
    if (!doc_parse_yaml(parser, span_of(row->text), &at, &doc, &err))
        fail_msg("%s: %s", row->text, err.msg);
    struct decode d = {.arena = &arena, .syms = syms, .mistake = note, .invalid = note, .user = &reported};
    decode_value(&d, doc_root(doc), schema, arena_alloc(&arena, schema->size));
    struct span got = buf_span(&reported);
    if (row->want == NULL ? got.len != 0 : !span_contains(got, span_of(row->want)))
        fail_msg("%s: \"%.*s\", not \"%s\"", row->text, SPAN_ARG(got), row->want != NULL ? row->want : "");
    buf_release(&reported);
    doc_parser_free(parser);
    symtab_unref(syms);
    arena_release(&arena);
}

#define EXPECT_ROWS(schema, rows)                                                                  \
    for (size_t i = 0; i < COUNT_OF(rows); i++)                                                    \
        expect_row(schema, &(rows)[i])

static void disruption_budgets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"spec: {minAvailable: 100%}", NULL},
        {"spec: {minAvailable: 101%}", "spec.minAvailable: 101% is more than 100%"},
        {"spec: {minAvailable: 101}", NULL},
        {"spec: {maxUnavailable: 0}", NULL},
        {"spec: {maxUnavailable: -1}", "spec.maxUnavailable: -1 must not be negative"},
        {"spec: {maxUnavailable: 1, minAvailable: 1}", "spec.maxUnavailable: cannot be set beside minAvailable"},
        {"spec: {maxUnavailable: null, minAvailable: 1}", NULL},
        {"spec: {unhealthyPodEvictionPolicy: AlwaysAllow}", NULL},
        {"spec: {unhealthyPodEvictionPolicy: IfHealthyBudget}", NULL},
        {"spec: {unhealthyPodEvictionPolicy: Never}", "spec.unhealthyPodEvictionPolicy: \"Never\" is not a policy"},
    };
    EXPECT_ROWS(&disruption_budget_schema, rows);
}

/* IfHealthyBudget is what it is when nothing is said. */
static void which_policy_evicts_unhealthy_pods(void **state)
{
    static const char *const texts[] = {"spec: {}", "spec: {unhealthyPodEvictionPolicy: IfHealthyBudget}",
                                        "spec: {unhealthyPodEvictionPolicy: AlwaysAllow}"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct arena arena;
        struct symtab *syms = kube_symtab_new();
        struct doc_parser *parser = doc_parser_new();
        struct disruption_budget b;
        const struct doc *doc;
        struct err err;
        size_t at = 0;
        arena_init(&arena, 0);
        assert_true(doc_parse_yaml(parser, span_of(texts[i]), &at, &doc, &err));
        assert_true(decode_one(&arena, syms, doc_root(doc), &disruption_budget_schema, &b, &err));
        assert_int_equal(b.evict_unhealthy, i == 2);
        doc_parser_free(parser);
        symtab_unref(syms);
        arena_release(&arena);
    }
}

#define STATEFUL(rest) "spec: {template: {spec: {}}, " rest "}"

static void stateful_sets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {STATEFUL("podManagementPolicy: Parallel"), NULL},
        {STATEFUL("podManagementPolicy: Sideways"), "spec.podManagementPolicy: \"Sideways\" is neither OrderedReady nor Parallel"},
        {STATEFUL("updateStrategy: {type: OnDelete}"), NULL},
        {STATEFUL("updateStrategy: {type: OnDelete, rollingUpdate: null}"), NULL},
        {STATEFUL("updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}"), "rollingUpdate: is of use with type RollingUpdate alone"},
        {STATEFUL("updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}"), NULL},
        {STATEFUL("updateStrategy: {rollingUpdate: {partition: -1}}"), "partition: has to be a whole number from 0 on"},
        {STATEFUL("updateStrategy: {rollingUpdate: {partition: '1'}}"), "partition: has to be a whole number from 0 on"},
        {STATEFUL("updateStrategy: {rollingUpdate: {partition: 2147483648}}"), "partition: has to be a whole number from 0 on"},
        {STATEFUL("ordinals: {start: null}"), NULL},
        {STATEFUL("ordinals: {start: 1.5}"), "start: has to be a whole number from 0 on"},
        {STATEFUL("volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]"), NULL},
        {STATEFUL("volumeClaimTemplates: [{spec: {}}]"), "has no name, after which the pods' claims are named"},
    };
    EXPECT_ROWS(&stateful_workload_schema, rows);
}

#define CONTAINER(resources) "spec: {containers: [{name: c, resources: {" resources "}}]}"
#define WHOLE(resources, containers) "spec: {resources: {" resources "}, containers: [{name: c, resources: {" containers "}}]}"

static void resources_of_pods(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {CONTAINER("requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, hugepages-2Mi: 2Mi, example.com/x: 1}"), NULL},
        {CONTAINER("requests: {cpus: 1}"), "is not a resource of containers; did you mean \"cpu\"?"},
        {CONTAINER("requests: {something: 1}"), "is not a resource of containers; use cpu, memory"},
        {CONTAINER("requests: {'example.com/': 1}"), "is not a resource of containers"},
        {CONTAINER("requests: {example.com/x: 500m}"), "\"500m\" is not a whole number, which devices are counted in"},
        {CONTAINER("requests: {example.com/x: 1000m}"), NULL},
        {CONTAINER("requests: {cpu: 500m}"), NULL},
        {CONTAINER("requests: {cpu: 1}, limits: {cpu: 1}"), NULL},
        {CONTAINER("requests: {cpu: 2}, limits: {cpu: 1}"), "requests: cpu is 2, more than the limit of 1"},
        {CONTAINER("requests: {cpu: 1}, limits: {cpu: 2}"), NULL},
        {CONTAINER("requests: {example.com/x: 1}, limits: {example.com/x: 2}"), "example.com/x is 1, and must be equal to the limit of 2"},
        {CONTAINER("requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi}"), "hugepages-2Mi is 2Mi, and must be equal to"},
        {CONTAINER("requests: {cpu: 2}, limits: {memory: 1}"), NULL},
        {WHOLE("requests: {cpu: 1, memory: 1Gi, hugepages-2Mi: 2Mi}", "requests: {cpu: 1}"), NULL},
        {WHOLE("requests: {example.com/x: 1}", ""), "example.com/x is not for a whole pod, only cpu, memory and hugepages are"},
        {WHOLE("limits: {ephemeral-storage: 1Gi}", ""), "ephemeral-storage is not for a whole pod"},
        {WHOLE("requests: {cpu: 1}", "requests: {cpu: 1001m}"), "requests.cpu is 1, less than the 1001m of the containers"},
        {WHOLE("requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi}", ""), NULL},
        {WHOLE("requests: {cpu: 2}, limits: {cpu: 1}", ""), "cpu is 2, more than the limit of 1"},
    };
    EXPECT_ROWS(kind_info(KIND_POD)->schema, rows);
}

#define SPREAD(rest) "spec: {topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, " rest "}]}"
#define TOLERATES(rest) "spec: {tolerations: [{" rest "}]}"

static void where_pods_may_go(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {SPREAD("whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {}, matchLabelKeys: [a]"), NULL},
        {SPREAD("whenUnsatisfiable: ScheduleAnyway"), NULL},
        {SPREAD("labelSelector: {}"), "whenUnsatisfiable: is missing"},
        {SPREAD("whenUnsatisfiable: Never"), "whenUnsatisfiable: \"Never\" is not an action"},
        {SPREAD("whenUnsatisfiable: ScheduleAnyway, minDomains: 2"), "minDomains: needs whenUnsatisfiable DoNotSchedule"},
        {SPREAD("whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]"), "matchLabelKeys: needs a labelSelector"},
        {SPREAD("whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore"), NULL},
        {SPREAD("whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: honour"), "nodeTaintsPolicy: \"honour\" is not a policy"},
        {"spec: {topologySpreadConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, "
         "maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}, {topologyKey: b, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}", NULL},
        {"spec: {topologySpreadConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, "
         "maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}", "items 0 and 1 have the same topologyKey and whenUnsatisfiable"},
        {"spec: {containers: [{ports: [{containerPort: 1, protocol: SCTP}]}]}", NULL},
        {"spec: {containers: [{ports: [{containerPort: 1, protocol: tcp}]}]}", "protocol: \"tcp\" is not a protocol"},
        {"spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}",
         "nodeSelectorTerms: needs at least one term"},
        {TOLERATES("operator: Exists"), NULL},
        {TOLERATES("key: a, operator: Exists, value: b"), "value: operator Exists takes no value"},
        {TOLERATES("key: a, value: b, effect: NoExecute, tolerationSeconds: 3"), NULL},
        {TOLERATES("key: a, value: b, effect: NoSchedule, tolerationSeconds: 3"), "tolerationSeconds: needs the effect NoExecute"},
        {TOLERATES("key: a, value: b, tolerationSeconds: null"), NULL},
        {TOLERATES("value: b"), "key: is missing; without one, the operator must be Exists"},
        {TOLERATES("key: a, operator: Like"), "operator: \"Like\" is not an operator"},
        {TOLERATES("key: a, value: '-b'"), "value: \"-b\" is not a label value"},
        {TOLERATES("key: a, operator: Gt, value: '-1'"), NULL},
        {TOLERATES("key: a, effect: Never"), "effect: \"Never\" is not an effect"},
    };
    EXPECT_ROWS(kind_info(KIND_POD)->schema, rows);
}

static void taints_of_nodes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"spec: {taints: [{key: a, value: b, effect: NoSchedule}]}", NULL},
        {"spec: {taints: [{key: a, effect: NoSchedule}]}", NULL},
        {"spec: {taints: [{key: a}]}", "effect: is missing"},
        {"spec: {taints: [{key: a, effect: Never}]}", "effect: \"Never\" is not an effect"},
        {"spec: {taints: [{key: a, value: example.com/b, effect: NoSchedule}]}", NULL},
        {"spec: {taints: [{key: a, value: 'b c', effect: NoSchedule}]}", "value: \"b c\" is not a label value"},
    };
    EXPECT_ROWS(kind_info(KIND_NODE)->schema, rows);
}

#define POOL(rest) "spec: {" rest "template: {spec: {requirements: [], nodeClassRef: {group: g, kind: k, name: class}}}}"
#define BUDGET(rest) POOL("disruption: {budgets: [{" rest "}]}, ")
#define WINDOW(schedule, duration) BUDGET("nodes: '1', schedule: '" schedule "', duration: " duration)

static void node_pools(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {POOL(""), NULL},
        {BUDGET("nodes: 100%"), NULL},
        {BUDGET("nodes: 99%"), NULL},
        {BUDGET("nodes: 101%"), "nodes: \"101%\" is not a number of nodes"},
        {BUDGET("nodes: 10 %"), "nodes: \"10 %\" is not a number of nodes"},
        {BUDGET("nodes: '%'"), "nodes: \"%\" is not a number of nodes"},
        {BUDGET("nodes: '-1'"), "nodes: \"-1\" is not a number of nodes"},
        {BUDGET("nodes: '1', reasons: [Empty, Drifted, Underutilized, Unhealthy]"), NULL},
        {BUDGET("nodes: '1', reasons: [empty]"), "reasons: \"empty\" is not a reason"},
        {WINDOW("0 9 * * 1", "8h"), NULL},
        {WINDOW("@daily", "1h30m"), NULL},
        {WINDOW("@daily", "1h30m0s"), NULL},
        {WINDOW("@daily", "90m"), NULL},
        {WINDOW("@daily", "90s"), "duration: \"90s\" is not a duration"},
        {WINDOW("@daily", "1h30"), "duration: \"1h30\" is not a duration"},
        {WINDOW("@daily", "1m30m"), "duration: \"1m30m\" is not a duration"},
        {WINDOW("@", "8h"), "schedule: \"@\" is not a schedule"},
        {WINDOW("@every 1h", "8h"), "schedule: \"@every 1h\" is not a schedule"},
        {WINDOW("@reboot", "8h"), "schedule: \"@reboot\" is not a schedule"},
        {WINDOW("0 9 * *", "8h"), "schedule: \"0 9 * *\" is not a schedule"},
        {BUDGET("nodes: '1', schedule: '@daily'"), "duration: is missing; schedule and duration must be set together"},
        {BUDGET("nodes: '1', duration: 8h"), "schedule: is missing; schedule and duration must be set together"},
        {POOL("replicas: 1, limits: {nodes: 1}, "), NULL},
        {POOL("replicas: 1, limits: {cpu: 1}, "), "limits: cpu cannot be limited beside replicas"},
        {POOL("replicas: 1, weight: 2, "), "weight: cannot be set beside replicas"},
        {POOL("replicas: 1, weight: null, "), NULL},
        {POOL("weight: 2, limits: {cpu: 1}, "), NULL},
        {"spec: {template: {spec: {requirements: [], nodeClassRef: {group: g/v1, kind: k, name: class}}}}", "group: \"g/v1\" has a version; write \"g\""},
        {"spec: {template: {spec: {requirements: [], nodeClassRef: {group: g, kind: '', name: n}}}}", "kind: is empty"},
        {"spec: {template: {spec: {requirements: [], nodeClassRef: {group: g, kind: k}}}}", "name: is missing"},
    };
    EXPECT_ROWS(kind_info(KIND_NODE_POOL)->schema, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disruption_budgets), cmocka_unit_test(which_policy_evicts_unhealthy_pods),
        cmocka_unit_test(stateful_sets),      cmocka_unit_test(resources_of_pods),
        cmocka_unit_test(where_pods_may_go),  cmocka_unit_test(taints_of_nodes),
        cmocka_unit_test(node_pools),
    };
    return cmocka_run_group_tests_name("invalid", tests, NULL, NULL);
}
