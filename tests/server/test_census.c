/* What a user sees of a small cluster: one node of a pool, one of nobody's, a DaemonSet's pod on the
 * first, and pods that run, wait, end and go. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "server/census.h"
#include "support_view.h"
#include "tests/planner/support_snapshot.h"

#define NOW 1795178096000 /* 2026-11-20T12:34:56Z */
#define WEB                                                                                        \
    "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-7c5, controller: true}]"

static const char CLUSTER[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
    "spec: {limits: {cpu: 1500m, memory: 20Gi, ephemeral-storage: 1Gi}}\n"
    "status: {nodes: 1, resources: {cpu: 4, ephemeral-storage: 20Gi, nodes: 1}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1, labels: {karpenter.sh/nodepool: general}}\n"
    "status: {providerID: 'kwok://n1', nodeName: n1}\n---\n"
    "apiVersion: v1\nkind: Node\n"
    "metadata: {name: n1, creationTimestamp: '2026-11-20T12:34:46Z', labels: {karpenter.sh/nodepool: general,\n"
    "  karpenter.sh/initialized: 'true', karpenter.sh/registered: 'true',\n"
    "  karpenter.sh/capacity-type: spot, node.kubernetes.io/instance-type: c-4x-amd64-linux,\n"
    "  kubernetes.io/arch: amd64, kubernetes.io/os: linux, topology.kubernetes.io/zone: zone-a,\n"
    "  example.com/disk-kind: \"fast\"}}\n"
    "spec: {providerID: 'kwok://n1'}\n"
    "status: {capacity: {cpu: 4, memory: 8Gi, pods: 110, nvidia.com/gpu: 1, ephemeral-storage: 20Gi},\n"
    "  allocatable: {cpu: 3900m, memory: 7Gi, pods: 110, nvidia.com/gpu: 1, ephemeral-storage: 20Gi}}\n---\n"
    "apiVersion: v1\nkind: Node\n"
    "metadata: {name: other, creationTimestamp: '2026-11-20T11:34:56Z', labels: {kubernetes.io/arch: arm64}}\n"
    "status: {capacity: {cpu: 2, memory: 4Gi, pods: 10}, allocatable: {cpu: 2, memory: 4Gi, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Pod\n"
    "metadata: {name: agent-1, namespace: kube-system, uid: u1,\n"
    "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, controller: true}]}\n"
    "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}}]}\n"
    "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, uid: u2, " WEB "}\n"
    "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1850m, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}}]}\n"
    "status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: job-1, namespace: shop, uid: u3}\n"
    "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    "status: {phase: Succeeded}\n---\n"
    "apiVersion: v1\nkind: Pod\n"
    "metadata: {name: web-2, namespace: shop, uid: u4, creationTimestamp: '2026-11-20T12:34:50Z', " WEB "}\n"
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Pending}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: leaving, namespace: shop, uid: u5,\n"
    "  deletionTimestamp: '2026-11-20T12:34:50Z'}\n"
    "spec: {nodeName: other, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}\n"
    "status: {phase: Running}\n";

enum { PODS = 5 };

struct fixture {
    struct view view;
    struct census_labels labels;
    uint32_t pods_max;
    struct buf text;
};

static void read_all(struct fixture *f, size_t piece)
{
    struct shared *s = share_take(store_share(f->view.store));
    struct census *c = census_new((const struct snapshot *)s, &f->labels, f->pods_max, NOW);
    struct buf out = {0};
    buf_clear(&f->text);
    bool more = true;
    while (more) {
        buf_clear(&out);
        more = census_write(c, piece, &out);
        assert_true(!more || out.len >= piece);
        buf_add(&f->text, buf_span(&out));
    }
    buf_release(&out);
    census_free(c);
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    view_open(&f->view, CLUSTER, "");
    f->pods_max = PODS + 1; /* a test has one more */
    census_labels_make(NULL, NULL, &f->labels);
    read_all(f, 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    view_close(&f->view);
    buf_release(&f->text);
    free(f);
    return 0;
}

static void says(struct fixture *f, const char *text)
{
    if (strstr(buf_span(&f->text).ptr, text) == NULL)
        fail_msg("no \"%s\" in:\n%s", text, buf_span(&f->text).ptr);
}

static void says_not(struct fixture *f, const char *text)
{
    if (strstr(buf_span(&f->text).ptr, text) != NULL)
        fail_msg("\"%s\" in:\n%s", text, buf_span(&f->text).ptr);
}

#define N1                                                                                         \
    "{node_name=\"n1\",managed=\"true\",phase=\"\",arch=\"amd64\",capacity_type=\"spot\","           \
    "instance_type=\"c-4x-amd64-linux\",nodepool=\"general\",os=\"linux\",region=\"\","              \
    "windows_build=\"\",zone=\"zone-a\""
#define OTHER                                                                                      \
    "{node_name=\"other\",managed=\"false\",phase=\"\",arch=\"arm64\",capacity_type=\"\","           \
    "instance_type=\"\",nodepool=\"\",os=\"\",region=\"\",windows_build=\"\",zone=\"\""

static void test_nodes(void **state)
{
    static const struct {
        const char *series, *node, *amounts;
    } rows[] = {
        {"karpenter_nodes_allocatable", N1, "cpu 3.9, memory 7516192768, pods 110, nvidia.com/gpu 1, "
                                            "ephemeral_storage 21474836480"},
        {"karpenter_nodes_allocatable", OTHER, "cpu 2, memory 4294967296, pods 10"},
        {"karpenter_nodes_total_pod_requests", N1, "cpu 1.95, memory 1140850688, pods 2"},
        {"karpenter_nodes_total_pod_requests", OTHER, "cpu 0.5, pods 1"}, /* until it is gone */
        {"karpenter_nodes_total_pod_limits", N1, "cpu 2, memory 1207959552, pods 2"},
        {"karpenter_nodes_total_pod_limits", OTHER, "pods 1"},
        {"karpenter_nodes_total_daemon_requests", N1, "cpu 0.1, memory 67108864, pods 1"},
        {"karpenter_nodes_total_daemon_requests", OTHER, "pods 0"},
        {"karpenter_nodes_total_daemon_limits", N1, "memory 134217728, pods 1"},
        {"karpenter_nodes_total_daemon_limits", OTHER, "pods 0"},
        {"karpenter_nodes_system_overhead", N1, "cpu 0.1, memory 1073741824, pods 0, nvidia.com/gpu 0, "
                                                "ephemeral_storage 0"},
        {"karpenter_nodes_system_overhead", OTHER, "cpu 0, memory 0, pods 0"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t wanted = 0, there = 0;
        char line[1024];
        for (struct span rest = span_of(rows[i].amounts), one; rest.len != 0; wanted++) {
            struct span value;
            one = span_cut(rest, ',', &rest);
            while (one.len != 0 && one.ptr[0] == ' ')
                one = (struct span){one.ptr + 1, one.len - 1};
            one = span_cut(one, ' ', &value);
            snprintf(line, sizeof(line), "\n%s%s,resource_type=\"%.*s\"} %.*s\n", rows[i].series,
                     rows[i].node, SPAN_ARG(one), SPAN_ARG(value));
            says(f, line);
        }
        snprintf(line, sizeof(line), "\n%s%s,", rows[i].series, rows[i].node);
        for (const char *at = f->text.ptr; (at = strstr(at, line)) != NULL; at++)
            there++;
        if (there != wanted)
            fail_msg("%s: %u amounts, not %u", line, there, wanted);
    }
    says(f, "karpenter_nodes_current_lifetime_seconds" N1 "} 10\n");
    says(f, "karpenter_nodes_current_lifetime_seconds" OTHER "} 3600\n");
}

static void test_utilization(void **state)
{
    struct fixture *f = *state; /* 2.45 of 5.9 cores, 1088 MiB of 11 GiB, 3 of 120 pods */
    says(f, "# TYPE karpenter_cluster_utilization_percent gauge\n");
    says(f, "karpenter_cluster_utilization_percent{resource_type=\"cpu\"} 41.5254237288136\n");
    says(f, "karpenter_cluster_utilization_percent{resource_type=\"memory\"} 9.65909090909091\n");
    says(f, "karpenter_cluster_utilization_percent{resource_type=\"pods\"} 2.5\n");
    says(f, "karpenter_cluster_utilization_percent{resource_type=\"nvidia.com/gpu\"} 0\n");
}

#define ON_N1                                                                                      \
    "node=\"n1\",scheduled=\"true\",zone=\"zone-a\",arch=\"amd64\",capacity_type=\"spot\","          \
    "instance_type=\"c-4x-amd64-linux\",nodepool=\"general\",managed=\"true\","
#define ON_OTHER                                                                                   \
    "node=\"other\",scheduled=\"true\",zone=\"\",arch=\"arm64\",capacity_type=\"\","                 \
    "instance_type=\"\",nodepool=\"\",managed=\"false\","
#define NOWHERE                                                                                    \
    "node=\"\",scheduled=\"false\",zone=\"\",arch=\"\",capacity_type=\"\",instance_type=\"\","       \
    "nodepool=\"\",managed=\"false\","
#define OWNED "owner=\"/apis/apps/v1/namespaces/shop/replicasets/web-7c5\","

static void test_pods(void **state)
{
    static const char *const lines[] = {
        "{name=\"agent-1\",namespace=\"kube-system\",owner=\"/apis/apps/v1/namespaces/kube-system/daemonsets/agent\","
        ON_N1 "phase=\"Running\",ready=\"true\"} 1\n",
        "{name=\"web-1\",namespace=\"shop\"," OWNED ON_N1 "phase=\"Running\",ready=\"false\"} 1\n",
        "{name=\"job-1\",namespace=\"shop\",owner=\"\"," ON_N1 "phase=\"Succeeded\",ready=\"false\"} 1\n",
        "{name=\"web-2\",namespace=\"shop\"," OWNED NOWHERE "phase=\"Pending\",ready=\"false\"} 1\n",
        "{name=\"leaving\",namespace=\"shop\",owner=\"\"," ON_OTHER "phase=\"Running\",ready=\"false\"} 1\n",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char line[1024];
        snprintf(line, sizeof(line), "\nkarpenter_pods_state%s", lines[i]);
        says(f, line);
    }
    says(f, "\nkarpenter_pods_unstarted_time_seconds{name=\"web-2\",namespace=\"shop\"} 6\n");
    says_not(f, "karpenter_pods_unstarted_time_seconds{name=\"web-1\"");
}

/* Every line of a metric stands with the others of it, however small the pieces are. */
static void test_pieces(void **state)
{
    struct fixture *f = *state;
    struct buf whole = f->text;
    f->text = (struct buf){0};
    read_all(f, 64 * 1024);
    assert_string_equal(whole.ptr, f->text.ptr);
    buf_release(&whole);
    for (const char *at = f->text.ptr; (at = strstr(at, "# TYPE ")) != NULL; at++) {
        struct span name = span_cut(span_of(at + strlen("# TYPE ")), ' ', &(struct span){0});
        const char *last = at;
        uint32_t blocks = 0;
        for (const char *line = f->text.ptr; line[0] != '\0'; line = strchr(line, '\n') + 1) {
            bool of_it = strncmp(line, name.ptr, name.len) == 0 &&
                         (line[name.len] == '{' || line[name.len] == ' ');
            blocks += of_it && last[0] != '{';
            last = of_it ? "{" : "-";
        }
        if (blocks != 1)
            fail_msg("%.*s stands in %u places", SPAN_ARG(name), blocks);
    }
}

static void test_pools(void **state)
{
    struct fixture *f = *state;
    says(f, "\nkarpenter_nodepools_usage{nodepool=\"general\",resource_type=\"cpu\"} 4\n");
    says(f, "\nkarpenter_nodepools_usage{nodepool=\"general\",resource_type=\"ephemeral_storage\"} 21474836480\n");
    says(f, "\nkarpenter_nodepools_usage{nodepool=\"general\",resource_type=\"nodes\"} 1\n");
    says(f, "\nkarpenter_nodepools_limit{nodepool=\"general\",resource_type=\"cpu\"} 1.5\n");
    says(f, "\nkarpenter_nodepools_limit{nodepool=\"general\",resource_type=\"memory\"} 21474836480\n");
    says(f, "\nkarpenter_nodepools_limit{nodepool=\"general\",resource_type=\"ephemeral_storage\"} 1073741824\n");
}

/* The reply is bounded by the nodes then. */
static void test_too_many_pods(void **state)
{
    struct fixture *f = *state;
    says(f, "\nstowage_metrics_pods_left_out 0\n");
    says(f, "\nkarpenter_pods_unstarted_time_seconds{name=\"web-2\"");
    f->pods_max = PODS - 1;
    read_all(f, 64 * 1024);
    says(f, "\nstowage_metrics_pods_left_out 5\n");
    says_not(f, "karpenter_pods_");
    says_not(f, "web-1");
    says(f, "karpenter_nodes_total_pod_requests" N1 ",resource_type=\"cpu\"} 1.95\n");
}

static void test_who_is_gone_has_no_series(void **state)
{
    struct fixture *f = *state;
    struct err err;
    static const char *const gone[] = {
        "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"general\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"other\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\"}}"};
    for (size_t i = 0; i < COUNT_OF(gone); i++)
        assert_true(snapshot_store_tell(f->view.store, WATCH_DELETE, span_of(gone[i]), &err));
    store_publish(f->view.store, 0);
    read_all(f, 64 * 1024);
    says_not(f, "node_name=\"other\"");
    says_not(f, "web-1");
    says_not(f, "karpenter_nodepools_");
    says(f, "{name=\"leaving\",namespace=\"shop\",owner=\"\",node=\"other\",scheduled=\"true\",zone=\"\",arch=\"\",");
    says(f, "karpenter_nodes_total_pod_requests" N1 ",resource_type=\"cpu\"} 0.1\n");
}

/* A provider's labels too; what Prometheus cannot read as a name is made so, and one name is told once. */
static void test_labels(void **state)
{
    struct fixture *f = *state;
    struct symtab *syms = kube_symtab_new();
    sym keys[] = {sym_intern(syms, SPAN("example.com/Disk-kind")),
                  sym_intern(syms, SPAN("example.com/disk-kind")),
                  sym_intern(syms, SPAN("example.com/a.b")), sym_intern(syms, SPAN("bare")),
                  sym_intern(syms, SPAN("example.com/managed")), SYM_ZONE};
    struct label_rules rules = {.well_known = {keys + 1, COUNT_OF(keys) - 1}};
    census_labels_make(&rules, syms, &f->labels);
    assert_int_equal(f->labels.count, 8 + 2);
    read_all(f, 64 * 1024);
    says(f, "{node_name=\"n1\",managed=\"true\",phase=\"\",a_b=\"\",arch=\"amd64\",capacity_type=\"spot\",disk_kind=\"fast\",");
    rules.well_known = (struct syms){keys, 2};
    census_labels_make(&rules, syms, &f->labels);
    assert_int_equal(f->labels.count, 8 + 1);
    symtab_unref(syms);
}

/* Label values are checked by the API server, owners' names hardly. */
static void test_escapes(void **state)
{
    struct fixture *f = *state;
    view_put(&f->view,
             "apiVersion: v1\nkind: Pod\nmetadata: {name: odd, namespace: shop, uid: u9,\n"
             "  ownerReferences: [{apiVersion: 'x\"/v1', kind: 'K\\', name: \"a\\nb\"}]}\n"
             "spec: {containers: [{name: c}]}\nstatus: {phase: Pending}\n");
    read_all(f, 64 * 1024);
    says(f, "{name=\"odd\",namespace=\"shop\",owner=\"/apis/x\\\"/v1/namespaces/shop/k\\\\s/a\\nb\",node=");
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_nodes),
        ROW(test_utilization),
        ROW(test_pods),
        ROW(test_pools),
        ROW(test_pieces),
        ROW(test_too_many_pods),
        ROW(test_who_is_gone_has_no_series),
        ROW(test_labels),
        ROW(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
