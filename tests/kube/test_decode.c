/* The field tables of all stored kinds: what is read, what is defaulted, what is dropped, and what
 * a person is told about a mistake. */
#include "kube/capacity_quota.h"
#include "kube/kind.h"
#include "kube/node.h"
#include "kube/provisioning_request.h"
#include "kube/storage.h"
#include "kube/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct arena arena;
static struct symtab *syms;
static struct doc_parser *parser;
static struct buf mistakes;

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    (void)user;
    buf_addf(&mistakes, "%u: %.*s: %.*s\n", line, SPAN_ARG(path), SPAN_ARG(text));
}

/* Decodes YAML, of which JSON is a part; `mistakes` says what was wrong. */
static void decode(enum kind k, const char *text, void *out)
{
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    buf_clear(&mistakes);
    if (!doc_parse_yaml(parser, span_of(text), &at, &doc, &err))
        fail_msg("%s", err.msg);
    struct decode d = {.arena = &arena, .syms = syms, .mistake = on_mistake};
    decode_value(&d, doc_root(doc), kind_info(k)->schema, out);
}

static void decode_well(enum kind k, const char *text, void *out)
{
    decode(k, text, out);
    if (mistakes.len != 0)
        fail_msg("%s", mistakes.ptr);
}

static void expect_text(sym s, const char *want)
{
    if (!span_eq(sym_text(syms, s), span_of(want)))
        fail_msg("got \"%.*s\", want \"%s\"", SPAN_ARG(sym_text(syms, s)), want);
}

static void expect_span(struct span got, const char *want)
{
    if (!span_eq(got, span_of(want)))
        fail_msg("got \"%.*s\", want \"%s\"", SPAN_ARG(got), want);
}

/* As kubectl prints a pod of a Deployment that runs; what nobody reads is in it on purpose. */
static const char web_pod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: web-frontend-7c5ddbdf54-x2x4v, namespace: "
    "storefront,"
    " uid: 6f1f3a52-8e0a-4c1c-9d3c-0d8c3c1d9a10, resourceVersion: '184467', generation: 2,"
    " creationTimestamp: '2026-11-20T12:00:00Z', generateName: web-frontend-7c5ddbdf54-,"
    " labels: {app: web, tier: front, pod-template-hash: 7c5ddbdf54, team: shop},"
    " annotations: {kubectl.kubernetes.io/restartedAt: '2026-11-19T00:00:00Z', checksum/config: "
    "abc},"
    " ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-frontend-7c5ddbdf54,"
    "   uid: 11111111-2222-3333-4444-555555555555, controller: true, blockOwnerDeletion: true}],"
    " managedFields: [{manager: kubelet, operation: Update}]},"
    "spec: {nodeName: ip-10-0-3-17.eu-west-1.compute.internal, schedulerName: default-scheduler, "
    "priority: 0,"
    " preemptionPolicy: PreemptLowerPriority, terminationGracePeriodSeconds: 30, restartPolicy: "
    "Always,"
    " volumes: [{name: kube-api-access-8fz6k, projected: {defaultMode: 420}}, {name: cache, "
    "emptyDir: {}}],"
    " containers: [{name: web, image: registry/web:1, resources: {requests: {cpu: 250m, memory: "
    "256Mi},"
    "    limits: {memory: 512Mi}}, ports: [{containerPort: 8080, protocol: TCP}]},"
    "   {name: proxy, image: registry/proxy:1, resources: {requests: {cpu: 50m, memory: 64Mi}}}],"
    " tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, "
    "tolerationSeconds: 300},"
    "   {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, "
    "tolerationSeconds: 300},"
    "   {key: dedicated, value: web, effect: NoSchedule}]},"
    "status: {phase: Running, startTime: '2026-11-20T12:00:05Z', podIP: 10.0.3.4, qosClass: "
    "Burstable,"
    " conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: "
    "'2026-11-20T12:00:04Z'},"
    "   {type: Ready, status: 'True', lastTransitionTime: '2026-11-20T12:00:09Z'}],"
    " containerStatuses: [{name: web, ready: true, allocatedResources: {cpu: 250m, memory: 256Mi},"
    "    resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {memory: 512Mi}}}]}}";

static void test_web_pod(void **state)
{
    (void)state;
    struct pod p;
    decode_well(KIND_POD, web_pod, &p);
    expect_span(p.meta.name, "web-frontend-7c5ddbdf54-x2x4v");
    expect_span(p.meta.ns, "storefront");
    assert_int_equal(p.meta.resource_version, 184467);
    assert_int_equal(p.meta.created, 1795176000000);
    assert_int_equal(p.meta.labels.count, 4);
    assert_int_equal(p.meta.annotations.count, 0); /* none that we read */
    assert_true(meta_owned_by(&p.meta, SYM_API_APPS_V1, SYM_KIND_REPLICA_SET));
    assert_true(p.meta.owners.items[0].controller);
    expect_span(p.meta.owners.items[0].name, "web-frontend-7c5ddbdf54");
    expect_text(p.node, "ip-10-0-3-17.eu-west-1.compute.internal");
    assert_int_equal(resources_get(p.requests, SYM_CPU), 300);
    assert_int_equal(resources_get(p.requests, SYM_MEMORY), 320 * 1024 * 1024);
    assert_int_equal(resources_get(p.limits, SYM_MEMORY), 512 * 1024 * 1024);
    assert_int_equal(p.limits.count, 1);
    assert_int_equal(p.ports.count, 0);
    assert_int_equal(p.volumes.count, 0);
    assert_int_equal(p.tolerations.count, 3);
    assert_int_equal(p.tolerations.items[0].op, TOLERATION_EXISTS);
    assert_int_equal(p.tolerations.items[2].op, TOLERATION_EQUAL);
    assert_int_equal(p.phase, POD_RUNNING);
    assert_true(p.ready && !p.unready && !p.unschedulable && !p.gated);
    assert_true(p.has_grace && p.grace_seconds == 30);
    assert_null(p.affinity);
    assert_false(p.meta.wrote_status);
}

/* Whose status it is, by the API server's word; and what the scheduler says of it. */
static void test_writers_and_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        bool ours;
    } rows[] = {
        {"[]", false},
        {"null", false},
        {"[{manager: stowage, operation: Update, time: '2026-11-20T12:00:00Z'}]", false},
        {"[{manager: kube-scheduler, subresource: status}]", false},
        {"[{manager: kube-scheduler, subresource: status}, {manager: stowage, operation: Update, fieldsV1: "
         "{'f:status': {'f:nominatedNodeName': {}}}, subresource: status}]", true},
    };
    uint32_t verdicts[3] = {0};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[512];
        struct pod p;
        snprintf(text, sizeof(text),
                 "{apiVersion: v1, kind: Pod, metadata: {name: a, managedFields: %s}, status: {conditions: "
                 "[{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/%zu nodes'}]}}",
                 rows[i].fields, i / 2);
        decode_well(KIND_POD, text, &p);
        assert_int_equal(p.meta.wrote_status, rows[i].ours);
        assert_int_not_equal(p.verdict, 0);
        assert_true(i % 2 == 0 || verdicts[i / 2] == p.verdict);
        verdicts[i / 2] = p.verdict;
    }
    assert_int_not_equal(verdicts[0], verdicts[1]);
}

static void test_memory_of_a_pod(void **state)
{
    (void)state;
    struct pod p;
    size_t size;
    decode_well(KIND_POD, web_pod, &p);
    struct symtab *other = kube_symtab_new();
    sym_intern(other, SPAN("so that ids differ"));
    struct pod *copy = schema_pack(&pod_schema, &p, 0, syms, other, &size);
    print_message("a web pod takes %zu bytes, %zu of them its struct\n", size, sizeof(struct pod));
    assert_in_range(size, 1, 600);
    expect_span(copy->meta.uid, "6f1f3a52-8e0a-4c1c-9d3c-0d8c3c1d9a10");
    expect_span(sym_text(other, copy->node), "ip-10-0-3-17.eu-west-1.compute.internal");
    expect_span(sym_text(other, copy->meta.labels.items[3].value), "shop");
    expect_span(sym_text(other, copy->tolerations.items[2].value), "web");
    assert_int_equal(resources_get(copy->requests, SYM_CPU), 300);
    free(copy);
    symtab_unref(other);
}

/* Spec node-groups 4.4, rule 11: what of a pod's volumes would be lost if it moved. */
static void test_local_storage(void **state)
{
    (void)state;
    static const struct {
        const char *volumes, *safe;
        bool lost;
    } cases[] = {
        {"[]", "", false},
        {"[{name: a, configMap: {name: c}}, {name: b, persistentVolumeClaim: {claimName: p}}]", "", false},
        {"[{name: a, emptyDir: {}}]", "", true},
        {"[{name: a, emptyDir: {medium: ''}}]", "", true},
        {"[{name: a, emptyDir: {medium: HugePages, sizeLimit: 1Gi}}]", "", true},
        {"[{name: a, emptyDir: {medium: Memory}}]", "", false},
        {"[{name: a, emptyDir: null}]", "", false},
        {"[{name: a, hostPath: {path: /x, type: Directory}}]", "", true},
        {"[{name: a, emptyDir: {}}]", "a", false},
        {"[{name: a, hostPath: {path: /x}}]", "b,a", false},
        {"[{name: a, emptyDir: {}}]", "b, a", true}, /* blanks are part of the name */
        {"[{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]", "a", true},
        {"[{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]", "a,b", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        struct pod p;
        snprintf(text, sizeof text,
                 "metadata: {name: p, annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: '%s',"
                 " kubernetes.io/config.mirror: m, kubernetes.io/config.source: file}}\nspec: {volumes: %s}\n",
                 cases[i].safe, cases[i].volumes);
        decode_well(KIND_POD, text, &p);
        if (p.local_storage != cases[i].lost)
            fail_msg("%s beside \"%s\"", cases[i].volumes, cases[i].safe);
        assert_int_equal(p.meta.annotations.count, 2);
        expect_span(annotations_get(p.meta.annotations, SYM_MIRROR), "m");
    }
}

static void test_pending_pod(void **state)
{
    (void)state;
    struct pod p;
    decode_well(
        KIND_POD,
        "metadata:\n"
        "  name: db-0\n"
        "  annotations: {karpenter.sh/do-not-disrupt: 1h, stowage.dev/x: v, a.karpenter.sh/z: no,\n"
        "    controller.kubernetes.io/pod-deletion-cost: '5'}\n"
        "spec:\n"
        "  nodeName: ''\n"
        "  schedulingGates: [{name: wait}]\n"
        "  resourceClaims: [{name: gpu, resourceClaimName: g}]\n"
        "  resources: {requests: {cpu: 3}}\n"
        "  overhead: {cpu: 100m}\n"
        "  initContainers:\n"
        "  - {name: side, restartPolicy: Always, resources: {requests: {cpu: 500m, memory: 1Gi}}}\n"
        "  containers:\n"
        "  - name: db\n"
        "    resources: {requests: {cpu: '1.5', memory: 2Gi, example.com/disk: 1}}\n"
        "    ports: [{hostPort: 5432, hostIP: 10.0.0.1, protocol: TCP}, {containerPort: 80}]\n"
        "  nodeSelector: {kubernetes.io/arch: arm64}\n"
        "  volumes:\n"
        "  - {name: data, persistentVolumeClaim: {claimName: data-db-0}}\n"
        "  - {name: tmp, ephemeral: {volumeClaimTemplate: {}}}\n"
        "  - {name: none, emptyDir: {}}\n"
        "  tolerations: [{operator: Exists}, {key: load, operator: Lt, value: '5'}]\n"
        "  affinity:\n"
        "    nodeAffinity:\n"
        "      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "        nodeSelectorTerms:\n"
        "        - matchExpressions: [{key: zone, operator: In, values: [a, b]}]\n"
        "        - matchFields: [{key: metadata.name, operator: In, values: [n1]}]\n"
        "      preferredDuringSchedulingIgnoredDuringExecution:\n"
        "      - {weight: 7, preference: {matchExpressions: [{key: z, operator: Gt, values: "
        "['3']}]}}\n"
        "    podAntiAffinity:\n"
        "      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}\n"
        "      preferredDuringSchedulingIgnoredDuringExecution:\n"
        "      - {weight: 3, podAffinityTerm: {topologyKey: zone, namespaceSelector: {}}}\n"
        "  topologySpreadConstraints:\n"
        "  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2,\n"
        "     nodeTaintsPolicy: Honor, labelSelector: {matchExpressions: [{key: a, operator: "
        "Exists}]}}\n"
        "status:\n"
        "  conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: "
        "no}]\n",
        &p);
    assert_true(p.unschedulable && p.gated && !p.ready && !p.unready);
    assert_true(pod_is_pending(&p));
    assert_true(p.resource_claims);
    assert_int_equal(resources_get(p.requests, SYM_CPU), 3100);
    assert_int_equal(resources_get(p.requests, SYM_MEMORY), 3LL << 30);
    assert_int_equal(p.meta.annotations.count, 3);
    expect_span(annotations_get(p.meta.annotations, SYM_DO_NOT_DISRUPT), "1h");
    assert_int_equal(p.ports.count, 1);
    assert_int_equal(p.ports.items[0].port, 5432);
    assert_int_equal(p.volumes.count, 2);
    expect_span(p.volumes.items[0].claim, "data-db-0");
    expect_span(p.volumes.items[1].claim, "db-0-tmp");
    assert_true(p.volumes.items[1].ephemeral);
    assert_int_equal(p.tolerations.items[1].op, TOLERATION_LT);
    const struct affinity *a = p.affinity;
    assert_non_null(a);
    assert_true(a->has_required_node);
    assert_int_equal(a->required_node.count, 2);
    assert_int_equal(a->required_node.items[0].match_expressions.items[0].values.count, 2);
    assert_true(a->required_node.items[1].has_match_fields);
    assert_int_equal(a->preferred_node.items[0].weight, 7);
    assert_int_equal(a->preferred_node.items[0].preference.match_expressions.items[0].op, OP_GT);
    assert_true(a->required_anti.items[0].has_selector);
    assert_false(a->required_anti.items[0].has_namespace_selector);
    assert_true(a->preferred_anti.items[0].term.has_namespace_selector);
    assert_int_equal(a->required_pod.count, 0);
    assert_true(p.spreads.items[0].hard && p.spreads.items[0].honor_taints);
    assert_false(p.spreads.items[0].ignore_affinity);
    assert_int_equal(p.spreads.items[0].min_domains, 2);

    struct symtab *other = kube_symtab_new();
    struct pod *copy = schema_pack(&pod_schema, &p, 16, syms, other, NULL);
    struct pod *packed = (void *)((char *)copy + 16);
    expect_span(
        sym_text(other,
                 packed->affinity->required_anti.items[0].selector.match_labels.items[0].value),
        "db");
    expect_span(packed->volumes.items[1].claim, "db-0-tmp");
    assert_ptr_not_equal(packed->affinity, a);
    free(copy);
    symtab_unref(other);
}

static void test_empty_affinity(void **state)
{
    (void)state;
    struct pod p;
    decode_well(KIND_POD,
                "spec: {affinity: {nodeAffinity: "
                "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}",
                &p);
    assert_true(p.affinity->has_required_node); /* no terms: it matches no node */
    decode_well(KIND_POD, "spec: {affinity: {nodeAffinity: {}}}", &p);
    assert_false(p.affinity->has_required_node);
    decode_well(KIND_POD, "spec: {affinity: null, nodeSelector: null}", &p);
    assert_null(p.affinity);
}

static void test_node(void **state)
{
    (void)state;
    struct node n;
    decode_well(
        KIND_NODE,
        "metadata: {name: n1, labels: {karpenter.sh/nodepool: general}}\n"
        "spec: {providerID: kwok://n1, unschedulable: true, taints: [\n"
        "  {key: karpenter.sh/unregistered, effect: NoExecute},\n"
        "  {key: a, value: b, effect: Strange, timeAdded: '2026-11-20T12:00:00Z'}]}\n"
        "status: {capacity: {cpu: 4, memory: 16Gi, pods: 110}, allocatable: {cpu: 3900m},\n"
        "  conditions: [{type: Ready, status: 'True', reason: KubeletReady, message: long}],\n"
        "  images: [{names: [a, b], sizeBytes: 5}]}",
        &n);
    expect_span(n.provider_id, "kwok://n1");
    assert_true(n.unschedulable && node_is_ready(&n));
    assert_int_equal(resources_get(n.capacity, SYM_CPU), 4000);
    assert_int_equal(resources_get(n.allocatable, SYM_CPU), 3900);
    assert_int_equal(n.taints.items[0].key, SYM_UNREGISTERED);
    assert_true(taint_is_ephemeral(&n.taints.items[0], syms));
    assert_int_equal(n.taints.items[1].effect, TAINT_OTHER);
    assert_false(taint_is_ephemeral(&n.taints.items[1], syms));
    assert_int_equal(n.taints.items[1].added, 1795176000000);
    assert_null(n.conditions.items[0].message.ptr);
    struct taint readiness = {.key = sym_intern(syms, SPAN("readiness.k8s.io/gpu"))};
    assert_true(taint_is_ephemeral(&readiness, syms));
    struct taint not_ready = {.key = SYM_NOT_READY, .effect = TAINT_PREFER_NO_SCHEDULE};
    assert_false(taint_is_ephemeral(&not_ready, syms));
}

static void test_claim(void **state)
{
    (void)state;
    struct node_claim c;
    decode_well(
        KIND_NODE_CLAIM,
        "metadata: {name: general-1, finalizers: [karpenter.sh/termination]}\n"
        "spec:\n"
        "  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
        "  requirements: [{key: a, operator: In, values: [x], minValues: 1},\n"
        "    {key: b, operator: equals}]\n"
        "  resources: {requests: {cpu: 1}}\n"
        "  terminationGracePeriod: 5m0s\n"
        "status: {nodeName: '', providerID: kwok://n, lastPodEventTime: null,\n"
        "  conditions: [{type: Launched, status: 'Unknown', reason: LaunchFailed, message: full,\n"
        "    observedGeneration: 1, lastTransitionTime: '2026-11-20T12:00:00Z'}]}",
        &c);
    assert_true(syms_has(c.meta.finalizers, SYM_TERMINATION));
    assert_true(c.has_expire_after && !c.never_expires);
    assert_int_equal(c.expire_after, 720LL * MS_HOUR); /* the API server's default */
    assert_true(c.has_grace && c.grace == 5 * MS_MINUTE);
    assert_int_equal(c.node_name, SYM_NONE);
    assert_int_equal(c.requirements.items[0].min_values, 1);
    assert_int_equal(c.requirements.items[1].op, OP_NONE);
    expect_span(c.requirements.items[1].op_text, "equals");
    assert_int_equal(c.conditions.items[0].status, CONDITION_UNKNOWN);
    expect_span(c.conditions.items[0].message, "full");
    expect_span(node_class_label(&arena, &c.node_class), "karpenter.kwok.sh/kwoknodeclass");
    decode_well(KIND_NODE_CLAIM, "spec: {expireAfter: Never}", &c);
    assert_true(!c.has_expire_after && c.never_expires && !c.has_grace);
}

static void test_pool_defaults(void **state)
{
    (void)state;
    struct node_pool p;
    decode_well(KIND_NODE_POOL, "metadata: {name: p}\nspec: {template: {spec: {}}}", &p);
    assert_true(p.has_expire_after && p.expire_after == 720LL * MS_HOUR);
    assert_true(p.has_consolidate_after && p.consolidate_after == 0);
    assert_int_equal(p.policy, CONSOLIDATE_EMPTY_OR_UNDERUTILIZED);
    assert_true(p.has_budgets);
    assert_int_equal(p.budgets.count, 1);
    expect_span(p.budgets.items[0].nodes, "10%");
    assert_false(p.has_labels || p.has_annotations || p.has_taints || p.has_startup_taints ||
                 p.has_replicas || p.has_grace);
}

static void test_pool(void **state)
{
    (void)state;
    struct node_pool p;
    decode_well(
        KIND_NODE_POOL,
        "spec:\n"
        "  weight: 10\n"
        "  replicas: 3\n"
        "  limits: {cpu: 100, memory: 1Ti, nodes: '5'}\n"
        "  disruption:\n"
        "    consolidationPolicy: WhenEmpty\n"
        "    consolidateAfter: Never\n"
        "    budgets: [{nodes: '5', reasons: [Empty]}, {schedule: '@daily', duration: 8h}]\n"
        "  template:\n"
        "    metadata: {labels: {}, annotations: {any.example.com/key: kept}}\n"
        "    spec:\n"
        "      expireAfter: 1h30m\n"
        "      terminationGracePeriod: 0s\n"
        "      taints: []\n"
        "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
        "      requirements: [{key: beta.kubernetes.io/arch, operator: Exists}]\n"
        "status: {nodes: 2, resources: {cpu: 8}}\n",
        &p);
    assert_int_equal(p.weight, 10);
    assert_true(p.has_replicas && p.replicas == 3);
    assert_int_equal(resources_get(p.limits, SYM_CPU), 100000);
    assert_int_equal(resources_get(p.limits, SYM_MEMORY), 1LL << 40);
    assert_int_equal(resources_get(p.limits, SYM_NODES), 5);
    assert_int_equal(p.policy, CONSOLIDATE_EMPTY);
    assert_false(p.has_consolidate_after);
    assert_int_equal(p.budgets.count, 2);
    expect_span(p.budgets.items[1].nodes, "10%");
    assert_true(p.budgets.items[0].has_reasons && !p.budgets.items[1].has_reasons);
    assert_true(p.has_labels && p.labels.count == 0);
    assert_true(p.has_taints && !p.has_startup_taints);
    expect_span(p.annotations.items[0].value,
                "kept"); /* all of the template's, unlike the object's */
    assert_int_equal(p.expire_after, 90 * MS_MINUTE);
    assert_true(p.has_grace && p.grace == 0);
    assert_true(p.has_status_nodes && p.status_nodes == 2);
    decode_well(KIND_NODE_POOL, "spec: {disruption: {budgets: []}}", &p);
    assert_true(p.has_budgets && p.budgets.count == 0); /* no limit at all */
    decode_well(KIND_NODE_POOL, "spec: {template: {spec: {expireAfter: 99999999h}}}", &p);
    assert_int_equal(p.expire_after, DURATION_TOO_LONG); /* for pool_validate */
}

/* As the API server does it: what a file names under limits alone is asked for, too. */
static void test_limits_without_requests(void **state)
{
    (void)state;
    struct pod p;
    decode_well(KIND_POD,
                "metadata: {name: p}\nspec: {containers: [\n"
                "  {name: a, resources: {limits: {cpu: 3, nvidia.com/gpu: 1}}},\n"
                "  {name: b, resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 1Gi}}}]}",
                &p);
    assert_int_equal(resources_get(p.requests, SYM_CPU), 3500);
    assert_int_equal(resources_get(p.requests, SYM_MEMORY), 1LL << 30);
    assert_int_equal(resources_get(p.requests, sym_find(syms, SPAN("nvidia.com/gpu"))), 1);
}

static void test_workloads(void **state)
{
    (void)state;
    struct daemon_set ds;
    decode_well(
        KIND_DAEMON_SET,
        "metadata: {name: agent, namespace: kube-system}\n"
        "spec: {template: {metadata: {labels: {app: agent}}, spec: {containers: [\n"
        "  {name: a, resources: {requests: {cpu: 100m}, limits: {cpu: 1, memory: 64Mi}}}]}}}",
        &ds);
    assert_int_equal(resources_get(ds.template.requests, SYM_CPU), 100);
    assert_int_equal(resources_get(ds.template.requests, SYM_MEMORY), 64 * 1024 * 1024);
    assert_int_equal(ds.template.meta.labels.count, 1);

    struct disruption_budget b;
    decode_well(KIND_DISRUPTION_BUDGET,
                "metadata: {name: b}\nspec: {maxUnavailable: 1, minAvailable: 50%, selector: {},\n"
                "  unhealthyPodEvictionPolicy: AlwaysAllow}\nstatus: {disruptionsAllowed: 2}",
                &b);
    expect_span(b.max_unavailable, "1");
    expect_span(b.min_available, "50%");
    assert_true(b.has_selector && b.evict_unhealthy);
    assert_int_equal(b.disruptions_allowed, 2);
    struct disruption_budget *copy =
        schema_pack(&disruption_budget_schema, &b, 0, syms, NULL, NULL);
    expect_span(copy->min_available, "50%");
    assert_ptr_not_equal(copy->min_available.ptr, b.min_available.ptr);
    free(copy);
    decode_well(KIND_DISRUPTION_BUDGET, "spec: {selector: null}", &b);
    assert_false(b.has_selector); /* matches nothing */

    struct ns ns;
    decode_well(KIND_NAMESPACE, "metadata: {name: prod, labels: {env: prod}}", &ns);
    assert_int_equal(ns.meta.labels.count, 1);
    struct kwok_node_class c;
    decode_well(KIND_KWOK_NODE_CLASS,
                "metadata: {name: default}\nspec: {nodeRegistrationDelay: 5s}", &c);
    assert_int_equal(c.registration_delay, 5 * MS_SECOND);
}

static void test_storage(void **state)
{
    (void)state;
    struct volume_claim c;
    decode_well(KIND_VOLUME_CLAIM,
                "metadata: {name: data-db-0, namespace: shop, labels: {app: db}, annotations: {\n"
                "  pv.kubernetes.io/bind-completed: 'yes', volume.kubernetes.io/selected-node: n1, a: b}}\n"
                "spec: {storageClassName: fast, volumeName: pvc-1, accessModes: [ReadWriteOnce]}\n"
                "status: {phase: Bound, capacity: {storage: 8Gi}}",
                &c);
    expect_span(c.volume, "pvc-1");
    expect_text(c.storage_class, "fast");
    assert_true(volume_claim_is_bound(&c) && !c.lost);
    expect_span(volume_claim_selected_node(&c), "n1");
    assert_int_equal(c.meta.annotations.count, 2); /* the others are nobody's business */
    assert_int_equal(c.meta.labels.count, 0);
    decode_well(KIND_VOLUME_CLAIM, "metadata: {name: x, annotations: {pv.kubernetes.io/bind-completed: ''}}\n"
                                   "status: {phase: Lost}", &c);
    assert_true(volume_claim_is_bound(&c) && c.lost); /* whatever the value */
    decode_well(KIND_VOLUME_CLAIM, "metadata: {name: x}\nspec: {storageClassName: null}", &c);
    assert_true(!volume_claim_is_bound(&c) && c.storage_class == SYM_NONE && c.volume.len == 0);

    struct volume v;
    decode_well(KIND_VOLUME,
                "metadata: {name: pvc-1, deletionTimestamp: '2026-11-20T12:00:00Z'}\n"
                "spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}, nodeAffinity: {required:\n"
                "  {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone,\n"
                "  operator: In, values: [z1]}]}]}}}",
                &v);
    expect_text(v.driver, "ebs.csi.aws.com");
    assert_true(v.has_affinity && !v.is_ebs && !v.is_local && v.meta.deleted != 0);
    assert_int_equal(v.affinity.items[0].match_expressions.items[0].op, OP_IN);
    decode_well(KIND_VOLUME, "metadata: {name: a}\nspec: {awsElasticBlockStore: {volumeID: v}}", &v);
    assert_true(v.is_ebs && v.driver == SYM_NONE && !v.has_affinity);
    decode_well(KIND_VOLUME, "metadata: {name: a}\nspec: {local: {path: /d}}", &v);
    assert_true(v.is_local);
    decode_well(KIND_VOLUME, "metadata: {name: a}\nspec: {hostPath: {path: /d}, local: null}", &v);
    assert_true(v.is_local);

    struct storage_class s;
    decode_well(KIND_STORAGE_CLASS,
                "metadata: {name: fast}\nprovisioner: ebs.csi.aws.com\n"
                "volumeBindingMode: WaitForFirstConsumer\nparameters: {type: gp3}\n"
                "allowedTopologies: [{matchLabelExpressions: [\n"
                "  {key: topology.kubernetes.io/zone, values: [z1, z2]}]}]",
                &s);
    expect_text(s.provisioner, "ebs.csi.aws.com");
    assert_true(s.waits);
    const struct expression *e = &s.topologies.items[0].expressions.items[0];
    assert_int_equal(e->op, OP_IN);
    assert_int_equal(e->values.count, 2);
    struct storage_class *copy = schema_pack(&storage_class_schema, &s, 0, syms, NULL, NULL);
    assert_int_equal(copy->topologies.items[0].expressions.items[0].op, OP_IN);
    free(copy);
    decode_well(KIND_STORAGE_CLASS, "metadata: {name: plain}\nprovisioner: p", &s);
    assert_false(s.waits); /* the API server's default is Immediate */

    struct csi_node n;
    decode_well(KIND_CSI_NODE,
                "metadata: {name: n1}\nspec: {drivers: [{name: a, nodeID: i, allocatable: {count: 25}},\n"
                "  {name: b, nodeID: i, allocatable: {}}, {name: c, nodeID: i, topologyKeys: []}]}",
                &n);
    assert_int_equal(n.drivers.count, 3);
    assert_true(n.drivers.items[0].has_limit && n.drivers.items[0].limit == 25);
    assert_true(!n.drivers.items[1].has_limit && !n.drivers.items[2].has_limit);
    expect_text(n.drivers.items[2].name, "c");

    struct volume_attachment at;
    decode_well(KIND_VOLUME_ATTACHMENT,
                "metadata: {name: csi-1}\nspec: {attacher: a, nodeName: n1, source: {persistentVolumeName: pv-1}}\n"
                "status: {attached: true}",
                &at);
    expect_text(at.node, "n1");
    expect_span(at.volume, "pv-1");
    decode_well(KIND_VOLUME_ATTACHMENT,
                "metadata: {name: csi-2}\nspec: {attacher: a, nodeName: n1, source: {inlineVolumeSpec: {}}}", &at);
    assert_int_equal(at.volume.len, 0);
}

/* A cluster keeps ten old ReplicaSets for each Deployment, and a claim and a volume for each pod of a
 * StatefulSet: of what kubectl prints next to nothing is kept. */
static void test_memory_of_what_is_only_read(void **state)
{
    (void)state;
    static const struct {
        enum kind kind;
        const char *more;
    } rows[] = {
        {KIND_REPLICA_SET,
         "spec: {replicas: 0, selector: {matchLabels: {app: web, pod-template-hash: 7c5ddbdf54}},\n"
         "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}"},
        {KIND_VOLUME_CLAIM,
         "spec: {storageClassName: fast, volumeName: pvc-6f1f3a52-8e0a-4c1c-9d3c-0d8c3c1d9a10}"},
        {KIND_VOLUME,
         "spec: {csi: {driver: d, volumeHandle: vol-0123456789abcdef0, volumeAttributes: {a: b}},\n"
         "  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In,\n"
         "  values: [z1]}]}]}}}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct schema *schema = kind_info(rows[i].kind)->schema;
        void *out = arena_alloc(&arena, schema->size);
        const char *text = arena_printf(
            &arena,
            "metadata: {name: web-frontend-7c5ddbdf54, namespace: storefront,\n"
            "  uid: 6f1f3a52-8e0a-4c1c-9d3c-0d8c3c1d9a10, resourceVersion: '184467',\n"
            "  labels: {app: web, tier: front, team: shop, pod-template-hash: 7c5ddbdf54},\n"
            "  annotations: {pv.kubernetes.io/bind-completed: 'yes', deployment.kubernetes.io/revision: '1',\n"
            "    kubectl.kubernetes.io/last-applied-configuration: '{}'}, finalizers: [a/b],\n"
            "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web-frontend, uid: u}]}\n%s",
            rows[i].more).ptr;
        decode_well(rows[i].kind, text, out);
        size_t size;
        free(schema_pack(schema, out, 0, syms, NULL, &size));
        if (size > 420)
            fail_msg("a %s takes %zu bytes", kind_info(rows[i].kind)->name, size);
    }
}

static void on_invalid(void *user, uint32_t line, struct span path, struct span text)
{
    on_mistake(user, line, path, text);
}

static void test_requests(void **state)
{
    (void)state;
    struct provisioning_request r;
    decode_well(KIND_PROVISIONING_REQUEST,
                "metadata: {name: r, namespace: web, uid: u, creationTimestamp: '2026-01-01T12:00:00Z'}\n"
                "spec: {provisioningClassName: check-capacity.autoscaling.x-k8s.io, parameters: {noRetry: 'true', x: ''},\n"
                "  podSets: [{count: 3, podTemplateRef: {name: workers}}, {podTemplateRef: {name: leader}, count: 1}]}\n"
                "status: {provisioningClassDetails: {a: b}, conditions: [{type: Failed, status: 'True', reason: Expired,\n"
                "  message: m, lastTransitionTime: '2026-01-08T12:00:00Z', observedGeneration: 1}]}",
                &r);
    expect_span(r.class_name, "check-capacity.autoscaling.x-k8s.io");
    assert_int_equal(r.pods.count, 2);
    expect_span(r.pods.items[0].template, "workers");
    assert_int_equal(r.pods.items[0].count, 3);
    expect_span(r.pods.items[1].template, "leader");
    expect_span(provisioning_request_parameter(&r, SPAN("noRetry")), "true");
    assert_non_null(provisioning_request_parameter(&r, SPAN("x")).ptr);
    assert_null(provisioning_request_parameter(&r, SPAN("noretry")).ptr);
    assert_true(conditions_true(r.conditions, SPAN("Failed")));
    decode_well(KIND_PROVISIONING_REQUEST, "metadata: {name: r}", &r);
    assert_int_equal(r.pods.count, 0);
}

/* What no API server takes is told, and counts as the nearest that it does. */
static void test_requests_that_nobody_takes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"spec: {provisioningClassName: c, podSets: [{count: 0, podTemplateRef: {name: t}}]}", "spec.podSets[0].count"},
        {"spec: {provisioningClassName: c, podSets: [{podTemplateRef: {name: t}}]}", "count"},
        {"spec: {provisioningClassName: c, podSets: [{count: 1}]}", "podTemplateRef"},
        {"spec: {podSets: [{count: 1, podTemplateRef: {name: t}}]}", "provisioningClassName"},
        {"spec: {provisioningClassName: c}", "podSets"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct doc *doc;
        struct provisioning_request r;
        struct err err = {0};
        size_t at = 0;
        buf_clear(&mistakes);
        assert_true(doc_parse_yaml(parser, span_of(rows[i].text), &at, &doc, &err));
        struct decode d = {.arena = &arena, .syms = syms, .mistake = on_mistake, .invalid = on_invalid};
        decode_value(&d, doc_root(doc), &provisioning_request_schema, &r);
        if (mistakes.len == 0 || strstr(mistakes.ptr, rows[i].want) == NULL)
            fail_msg("%s: \"%s\"", rows[i].text, mistakes.len != 0 ? mistakes.ptr : "");
        for (uint32_t k = 0; k < r.pods.count; k++)
            assert_true(r.pods.items[k].count >= 1);
    }
}

static void test_quotas(void **state)
{
    (void)state;
    struct capacity_quota q;
    static const struct {
        const char *expressions;
        bool valid;
    } rows[] = {
        {"[{key: a, operator: In, values: [b]}, {key: c, operator: Exists}, {key: d, operator: DoesNotExist}]", true},
        {"[]", true},
        {"[{key: a, operator: NotIn, values: []}]", false},
        {"[{key: a, operator: Exists, values: [b]}]", false},
        {"[{key: a, operator: Gt, values: ['1']}]", false},
        {"[{key: a, operator: Is, values: [b]}]", false},
        {"[{operator: Exists}]", false},
    };
    decode_well(KIND_CAPACITY_QUOTA, "metadata: {name: q}\nspec: {selector: {matchLabels: {pool: a}}, limits: {resources: {cpu: 3500m, "
                                     "memory: 2Gi, nodes: 4}}}\nstatus: {used: {resources: {cpu: 1}}, observedGeneration: 3, conditions: [{type: Reconciled, status: 'True'}]}", &q);
    assert_int_equal(resources_get(q.used, SYM_CPU), 1000);
    assert_int_equal(q.observed_generation, 3);
    assert_int_equal(q.conditions.count, 1);
    assert_int_equal(q.limits.count, 3);
    assert_int_equal(resources_get(q.limits, SYM_CPU), 3500);
    assert_int_equal(resources_get(q.limits, sym_intern(syms, SPAN("nodes"))), 4);
    assert_int_equal(q.selector.match_labels.count, 1);
    decode_well(KIND_CAPACITY_QUOTA, "metadata: {name: q}\nspec: {limits: {resources: {}}}", &q);
    assert_true(capacity_quota_valid(&q));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct doc *doc;
        struct err err = {0};
        size_t at = 0;
        struct span text = arena_printf(&arena, "spec: {selector: {matchExpressions: %s}, limits: {resources: {nodes: 1}}}", rows[i].expressions);
        assert_true(doc_parse_yaml(parser, text, &at, &doc, &err));
        struct decode d = {.arena = &arena, .syms = syms, .mistake = on_mistake, .invalid = on_invalid};
        decode_value(&d, doc_root(doc), &capacity_quota_schema, &q);
        if (capacity_quota_valid(&q) != rows[i].valid)
            fail_msg("%s", rows[i].expressions);
    }
}

static void test_selectors(void **state)
{
    (void)state;
    struct service s;
    decode_well(KIND_SERVICE, "metadata: {name: web, labels: {a: b}}\nspec: {selector: {app: web}, ports: [{port: 80}]}", &s);
    assert_true(s.has_selector);
    expect_text(sym_pairs_get(s.selector, sym_intern(syms, SPAN("app"))), "web");
    decode_well(KIND_SERVICE, "metadata: {name: web}\nspec: {selector: {}}", &s);
    assert_true(s.has_selector && s.selector.count == 0);
    decode_well(KIND_SERVICE, "metadata: {name: web}\nspec: {externalName: a.example.com}", &s);
    assert_false(s.has_selector);

    static const enum kind kinds[] = {KIND_REPLICA_SET, KIND_STATEFUL_SET};
    struct controller c;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        decode_well(kinds[i],
                    "metadata: {name: web-1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, "
                    "name: web, uid: u, controller: true}]}\nspec: {replicas: 3, template: {spec: {}}, "
                    "selector: {\n"
                    "  matchLabels: {app: web}, matchExpressions: [{key: tier, operator: Exists}]}}",
                    &c);
        assert_true(c.meta.owners.count == 1 && c.meta.owners.items[0].controller);
        expect_text(c.meta.owners.items[0].kind, "Deployment");
        assert_int_equal(c.selector.match_labels.count, 1);
        assert_int_equal(c.selector.match_expressions.items[0].op, OP_EXISTS);
    }
    decode_well(KIND_REPLICATION_CONTROLLER, "metadata: {name: old}\nspec: {selector: {app: old}}", &c);
    assert_int_equal(c.selector.match_labels.count, 1);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        enum kind kind;
        const char *text, *want;
    } rows[] = {
        {KIND_POD, "spec:\n  containers:\n  - resources: {requests: {cpu: 1O0m}}",
         "3: spec.containers[0].resources.requests.cpu: \"1O0m\" is not a quantity; did you mean "
         "\"100m\"?"},
        {KIND_POD, "spec: {containers: [{resources: {requests: {memory: [1]}}}]}",
         "1: spec.containers[0].resources.requests.memory: a list is not a quantity"},
        {KIND_NODE_POOL, "spec: {limits: {cpu: lots}}",
         "1: spec.limits.cpu: \"lots\" is not a quantity"},
        {KIND_NODE_POOL, "spec: {weight: ten}", "1: spec.weight: \"ten\" is not an integer"},
        {KIND_NODE_POOL, "spec: {disruption: {consolidationPolicy: balanced}}",
         "1: spec.disruption.consolidationPolicy: \"balanced\" is not a consolidation policy; use "
         "WhenEmptyOrUnderutilized, WhenEmpty or Balanced"},
        {KIND_NODE_POOL, "spec: {disruption: {consolidateAfter: 1d}}",
         "1: spec.disruption.consolidateAfter: \"1d\" is not a duration; write hours, minutes and "
         "seconds like \"720h\", or Never"},
        {KIND_NODE_POOL, "spec: {template: {spec: {expireAfter: never}}}", "or Never"},
        {KIND_NODE_POOL, "spec: {template: {spec: {terminationGracePeriod: Never}}}",
         "1: spec.template.spec.terminationGracePeriod: \"Never\" is not a duration; write hours, "
         "minutes and seconds like \"1h30m\""},
        {KIND_POD, "metadata: {creationTimestamp: yesterday}",
         "1: metadata.creationTimestamp: \"yesterday\" is not a time; write it like "
         "\"2026-11-20T12:00:00Z\""},
        {KIND_DISRUPTION_BUDGET, "spec: {maxUnavailable: some}",
         "1: spec.maxUnavailable: \"some\" is not an integer or a percentage"},
        {KIND_CSI_NODE, "spec: {drivers: [{name: a, allocatable: {count: many}}]}",
         "1: spec.drivers[0].allocatable.count: \"many\" is not an integer"},
        {KIND_STORAGE_CLASS, "volumeBindingMode: [1]", "1: volumeBindingMode: a list is not a string"},
        {KIND_PROVISIONING_REQUEST, "spec: {podSets: {count: 1}}", "1: spec.podSets: an object is not a list"},
        {KIND_PROVISIONING_REQUEST, "spec:\n  podSets:\n  - {count: 3000000000, podTemplateRef: {name: t}}",
         "3: spec.podSets[0].count: 3000000000 is out of range"},
        {KIND_PROVISIONING_REQUEST, "spec: {podSets: [{count: 1, podTemplateRef: t}]}",
         "1: spec.podSets[0].podTemplateRef: \"t\" is not an object"},
        {KIND_PROVISIONING_REQUEST, "spec: {parameters: {noRetry: true}}",
         "1: spec.parameters.noRetry: "},
        {KIND_PROVISIONING_REQUEST, "spec: {provisioningClassName: []}",
         "1: spec.provisioningClassName: a list is not a string"},
        {KIND_PROVISIONING_REQUEST, "status: {conditions: [{type: Failed, lastTransitionTime: soon}]}",
         "1: status.conditions[0].lastTransitionTime: \"soon\" is not a time"},
        {KIND_VOLUME_CLAIM, "status: {phase: {}}", "1: status.phase: an object is not a string"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        void *out = arena_alloc(&arena, kind_info(rows[i].kind)->schema->size);
        decode(rows[i].kind, rows[i].text, out);
        if (mistakes.len == 0 || strstr(mistakes.ptr, rows[i].want) == NULL)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].text,
                     mistakes.len != 0 ? mistakes.ptr : "", rows[i].want);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++) {
        const struct kind_info *info = kind_info((enum kind)k);
        assert_int_equal(kind_find(span_of(info->api_version), span_of(info->name)), k);
        assert_int_equal(info->schema != NULL, k < KIND_STORED_COUNT);
    }
    assert_int_equal(kind_find(SPAN("v1"), SPAN("Deployment")), KIND_NONE);
    assert_int_equal(kind_find(SPAN("v1"), SPAN("ReplicaSet")), KIND_NONE);
    struct meta m = {.name = SPAN("api-0"), .ns = SPAN("web")};
    expect_span(kind_object_name(&arena, KIND_POD, &m), "Pod web/api-0");
    m.ns = (struct span){NULL, 0};
    expect_span(kind_object_name(&arena, KIND_NODE_POOL, &m), "NodePool api-0");
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    parser = doc_parser_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&mistakes);
    doc_parser_free(parser);
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_web_pod),
        cmocka_unit_test(test_writers_and_verdict),       cmocka_unit_test(test_memory_of_a_pod),
        cmocka_unit_test(test_local_storage), cmocka_unit_test(test_pending_pod),   cmocka_unit_test(test_empty_affinity),
        cmocka_unit_test(test_node),          cmocka_unit_test(test_claim),
        cmocka_unit_test(test_pool_defaults), cmocka_unit_test(test_pool),
        cmocka_unit_test(test_limits_without_requests),
        cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_memory_of_what_is_only_read),
        cmocka_unit_test(test_requests),      cmocka_unit_test(test_requests_that_nobody_takes),
        cmocka_unit_test(test_selectors),     cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_quotas),     cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
