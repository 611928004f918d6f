/* `stowage check --ca-compat FLAGS` on a cluster in memory: what a cluster finds that moves from Cluster Autoscaler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "server/check/check.h"
#include "sim/sim.h"

#define START "FAIL  Stowage does not start with these flags: "

static const wall_ms NOW = 1767225600000; /* 2026-01-01 */

/* ---- a cluster that knows permissions ---- */

struct guarded { /* hands requests on, but for access reviews */
    struct api api;
    struct api *inner;
    const char *denied;  /* a part of the review's body that is not allowed; NULL: all is */
    const char *missing; /* a part of the apiVersion that is not served; NULL: all are */
};

static void reply_to(const char *body, int status, api_done *done, void *user)
{
    struct doc_parser *p = doc_parser_new();
    struct api_result r = {.status = status, .retry_after_s = -1};
    struct err err;
    if (status >= 300)
        err_set(&r.err, api_err_kind(status, (struct span){0}), "refused with %d", status);
    else
        assert_true(doc_parse_json(p, span_of(body), &r.body, &err));
    done(user, &r);
    doc_parser_free(p);
}

static uint64_t guarded_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct guarded *g = (struct guarded *)api;
    const char *version = r->older ? kind_older(r->kind) : kind_info(r->kind)->api_version;
    bool no = g->denied != NULL && span_contains(r->body, span_of(g->denied));
    if (r->kind == KIND_OWN_ACCESS)
        reply_to(no ? "{\"status\":{\"allowed\":false}}" : "{\"status\":{\"allowed\":true}}", 201, done, user);
    else if (g->missing != NULL && span_contains(span_of(version), span_of(g->missing)))
        reply_to("", 404, done, user);
    else
        return api_send(g->inner, r, done, user);
    return 1;
}

static const struct api_ops guarded_ops = {.send = guarded_send};

struct bench {
    struct sim *sim;
    struct guarded api;
    struct arena a;
    struct options options;
    struct check_report report;
    struct catalogue_source *types;
    struct buf text;
};

static bool wait_sim(void *user)
{
    struct sim *s = user;
    struct err err;
    return sim_run_until(s, sim_now(s) + MS_SECOND, &err);
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void load(struct bench *b, const char *objects)
{
    struct err err;
    if (!sim_cluster_load(sim_cluster(b->sim), span_of(objects), NULL, &err))
        fail_msg("%s", err.msg);
}

static void begin(struct bench *b)
{
    struct err err;
    bool help;
    *b = (struct bench){0};
    arena_init(&b->a, 0);
    b->types = catalogue_builtin();
    b->sim = sim_new(&(struct sim_options){.cluster = {.now = NOW}});
    b->api = (struct guarded){.api = {&guarded_ops}, .inner = sim_client_new(sim_cluster(b->sim))};
    assert_true(options_read(&b->a, OPTION_CHECK, 0, NULL, no_environment, &b->options, &help, &err));
}

static void run(struct bench *b, const char *flags)
{
    struct asked_cluster cluster = {&b->api.api, wait_sim, b->sim};
    struct err err;
    b->options.ca_flags = flags;
    b->report = (struct check_report){.a = &b->a};
    struct check check = {.report = &b->report,
                          .cluster = &cluster,
                          .options = &b->options,
                          .ns = SPAN("stowage-system"),
                          .address = SPAN("https://10.0.0.1"),
                          .now = NOW,
                          .types = b->types};
    if (!check_run(&check, &err))
        fail_msg("%s", err.msg);
    buf_clear(&b->text);
    check_text(&b->text, &b->report, 0);
}

static void end(struct bench *b)
{
    sim_free(b->sim);
    catalogue_source_free(b->types);
    buf_release(&b->text);
    arena_release(&b->a);
}

static void says(struct bench *b, const char *line)
{
    if (strstr(b->text.ptr, line) != NULL)
        return;
    fputs(b->text.ptr, stderr); /* longer than cmocka's messages */
    fail_msg("not said: %s", line);
}

static void says_nothing_of(struct bench *b, const char *part)
{
    if (strstr(b->text.ptr, part) != NULL)
        fail_msg("said: %s\nin:\n%s", part, b->text.ptr);
}

/* ---- flags ---- */

#define CAPI "--cloud-provider=clusterapi "

static void test_a_good_line(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    run(&b, "./cluster-autoscaler --cloud-provider clusterapi --scan-interval=15s --expander='most-pods,least-waste'");
    says(&b, "ok    no default differs: ");
    says(&b, "ok    who runs this may do all 34 things that manifests/groups and manifests/groups-clusterapi grants\n");
    says_nothing_of(&b, "means nothing");
    says_nothing_of(&b, "mean nothing");
    says_nothing_of(&b, "--expander");
    assert_int_equal(check_count(&b.report, CHECK_FAIL), 0);
    end(&b);
}

static void test_nothing_without_it(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    run(&b, NULL);
    says_nothing_of(&b, "default");
    says_nothing_of(&b, "manifests/groups");
    run(&b, "true"); /* STOWAGE_CA_COMPAT, as serve reads it */
    says_nothing_of(&b, "--cloud-provider");
    end(&b);
}

static void test_flags(void **state)
{
    (void)state;
    static const struct {
        const char *flags, *line;
    } rows[] = {
        {CAPI "--scan-intervall=15s",
         START "no flag --scan-intervall; did you mean --scan-interval?\n"
         "      correct it, or leave it out\n"},
        {CAPI "--scan-interval=soon",
         START "--scan-interval: \"soon\" is not a duration like 10s or 1m30s\n"},
        {CAPI "--expander=grpc", START "--expander: grpc is left out"},
        {CAPI "--expander=price", START "--expander price: provider clusterapi knows"},
        {CAPI "--namespace='a", START "' is not closed\n"},
        {CAPI "--balancing-label=a --balancing-ignore-label=b", START "--balancing"},
        {"--cloud-provider=aws --nodes=1:3:a",
         START "--cloud-provider: \"aws\" is none of kwok, clusterapi; other clouds "
         "are reached through Cluster API\n"},
        {"--v=4", "FAIL  --cloud-provider is not given: Stowage would keep no node groups\n      name it: clusterapi or kwok"},
        {CAPI "--nodes=a", START "--nodes: \"a\": write it like 1:10:"},
        {"--cloud-provider=kwok --cloud-config=/nowhere.yaml",
         "?     what --cloud-config says: /nowhere.yaml: No such file or directory\n      run it where that file is\n"},
        {CAPI "--check-capacity-provisioning-request-max-batch-size=0",
         START "--check-capacity-provisioning-request-max-batch-size: less than 1 would check nothing; give 1 or more\n"},
        {CAPI "--provisioning-request-max-backoff-time=30s",
         START "--provisioning-request-initial-backoff-time and -max-backoff-time: give 1s or more, and no less for the second"},
        {CAPI "--provisioning-request-max-backoff-cache-size=-1",
         START "--provisioning-request-max-backoff-cache-size: fewer than none; give 0 or more\n"},
        {CAPI "--leader_elect=false", "warn  --leader-elect means nothing to Stowage: Stowage elects a leader all the same\n"},
        {CAPI "-v 4", "warn  --v means nothing to Stowage: is called otherwise here\n      --log-level\n"},
        {CAPI "--capacity-buffer-controller-enabled",
         "warn  --capacity-buffer-controller-enabled means nothing to Stowage by itself: CapacityBuffers are resolved where they "
         "are filled\n      give --capacity-buffer-pod-injection-enabled, too, or leave it out\n"},
        {CAPI "--leader-elect=false", "warn  --leader-elect means nothing to Stowage: Stowage elects a leader all the same\n"},
        {CAPI "--estimator=binpacking --leader-elect --stderrthreshold info --estimator=binpacking",
         "ok    mean nothing to Stowage, which takes them with --ca-compat: --estimator, --leader-elect, --stderrthreshold\n"},
        {CAPI "--namespace=kube-system",
         "warn  --namespace is Stowage's own namespace, too: its Lease and Secrets would be in kube-system, not in "
         "stowage-system\n"},
        {CAPI "--kube-client-qps=5 --kube-client-burst=10",
         "warn  --kube-client-qps and --kube-client-burst let Stowage write 5 times a second and 10 at once; it is made for "
         "200 and 300\n      leave them out\n"},
        {CAPI, "ok    --expander is least-waste unless given; to a Cluster Autoscaler before 1.33 it was random\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        run(&b, rows[i].flags);
        says(&b, rows[i].line);
        says(&b, "API server https://10.0.0.1: "); /* and all else is looked at */
        end(&b);
    }
}

/* To the byte: both are copies of one and the same. */
static bool is_same(const void *one, const void *other, size_t size)
{
    return memcmp(one, other, size) == 0;
}

/* What check says of defaults: each as upstream has it, given, changes nothing. */
static void test_no_default_differs(void **state)
{
    (void)state;
    static char *const defaults[] = {
        "--scan-interval=10s", "--frequent-loops-enabled=true", "--max-inactivity=10m", "--max-failing-time=15m",
        "--max-startup-time=20m", "--write-status-configmap=true", "--emit-per-nodegroup-metrics=false",
        "--max-nodes-total=0", "--cores-total=0:320000", "--memory-total=0:6400000", "--ok-total-unready-count=3",
        "--max-total-unready-percentage=45", "--max-node-provision-time=15m", "--max-node-startup-time=15m",
        "--scale-up-from-zero=true", "--initial-node-group-backoff-duration=5m", "--max-node-group-backoff-duration=30m",
        "--node-group-backoff-reset-timeout=3h", "--force-delete-unregistered-nodes=false",
        "--force-delete-failed-nodes=false", "--enforce-node-group-min-size=false", "--expander=least-waste",
        "--balance-similar-node-groups=false", "--memory-difference-ratio=0.015", "--max-free-difference-ratio=0.05",
        "--max-allocatable-difference-ratio=0.05", "--expendable-pods-priority-cutoff=-10", "--new-pod-scale-up-delay=0s",
        "--max-nodes-per-scaleup=1000", "--salvo-scale-up=false", "--scaleup-simulation-for-skipped-node-groups-enabled=false",
        "--force-ds=false", "--scale-from-unschedulable=false", "--scale-down-enabled=true", "--scale-down-delay-after-add=10m",
        "--scale-down-delay-after-delete=0s", "--scale-down-delay-after-failure=3m", "--scale-down-delay-type-local=false",
        "--scale-down-unneeded-time=10m", "--scale-down-unready-time=20m", "--scale-down-unready-enabled=true",
        "--scale-down-utilization-threshold=0.5", "--scale-down-gpu-utilization-threshold=0.5",
        "--unremovable-node-recheck-timeout=5m", "--max-scale-down-parallelism=10", "--max-drain-parallelism=1",
        "--max-bulk-soft-taint-count=10", "--max-graceful-termination-sec=600", "--max-pod-eviction-time=2m",
        "--node-delete-delay-after-taint=5s", "--node-deletion-delay-timeout=2m", "--node-deletion-candidate-ttl=0s",
        "--cordon-node-before-terminating=true", "--daemonset-eviction-for-empty-nodes=false",
        "--daemonset-eviction-for-occupied-nodes=true", "--skip-nodes-with-system-pods=true",
        "--skip-nodes-with-local-storage=true", "--skip-nodes-with-custom-controller-pods=true", "--min-replica-count=0",
        "--blocking-system-pod-distruption-timeout=1h", "--ignore-daemonsets-utilization=false",
        "--ignore-mirror-pods-utilization=false", "--enable-provisioning-requests=false", "--capacity-quotas-enabled=false",
        "--provisioning-request-initial-backoff-time=1m", "--provisioning-request-max-backoff-time=10m",
        "--provisioning-request-max-backoff-cache-size=1000", "--check-capacity-batch-processing=false",
        "--check-capacity-provisioning-request-max-batch-size=10",
        "--check-capacity-provisioning-request-batch-timebox=10s",
    };
    const struct group_settings usual = group_settings_default();
    for (size_t i = 0; i < COUNT_OF(defaults); i++) {
        struct arena a;
        struct group_options_given given;
        struct err err;
        int count;
        char **rest;
        arena_init(&a, 0);
        if (!group_options_take(&a, 1, &defaults[i], NULL, &given, &count, &rest, &err) || count != 0)
            fail_msg("%s", defaults[i]);
        if (!is_same(&given.settings, &usual, sizeof(usual)))
            fail_msg("%s is not the default", defaults[i]);
        arena_release(&a);
    }
    assert_string_equal(usual.status_name.ptr, "cluster-autoscaler-status");
    assert_string_equal(usual.flags.config_namespace.ptr, "kube-system");
}

/* ---- the cluster ---- */

static void test_permissions(void **state)
{
    (void)state;
    static const struct {
        const char *flags, *denied, *line;
    } rows[] = {
        {CAPI, "\"resource\":\"jobs\"",
         "FAIL  2 of the 34 permissions of manifests/groups and manifests/groups-clusterapi are missing: list jobs.batch, "
         "watch jobs.batch\n      kubectl apply -f manifests/groups/rbac.yaml -f manifests/groups-clusterapi/rbac.yaml\n"},
        {CAPI, "\"subresource\":\"scale\"",
         "get machinedeployments/scale.cluster.x-k8s.io, patch machinedeployments/scale.cluster.x-k8s.io, "},
        {CAPI "--status-config-map-name=mine --namespace=autoscaling", "\"name\":\"mine\"",
         "are missing: get configmaps mine in autoscaling, patch configmaps mine in autoscaling, delete configmaps mine in "
         "autoscaling\n      kubectl apply -f manifests/groups/rbac.yaml -f manifests/groups-clusterapi/rbac.yaml, after its Role "
         "has the namespace and ConfigMap that the flags name\n"},
        {CAPI "--cloud-config=/other", "machinedeployments",
         "?     what may be done in the management cluster of --cloud-config is not asked here\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        b.api.denied = rows[i].denied;
        run(&b, rows[i].flags);
        says(&b, rows[i].line);
        end(&b);
    }
}

static void test_no_pools_are_needed(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.api.missing = "karpenter.";
    run(&b, NULL);
    says(&b, "FAIL  NodePool karpenter.sh/v1 is not served\n");
    run(&b, CAPI);
    says(&b, "ok    no NodePools are served, and node groups need none\n");
    says_nothing_of(&b, "NodePool karpenter.sh/v1");
    b.api.missing = "cluster.x-k8s.io";
    run(&b, CAPI);
    says(&b, "FAIL  MachineDeployment cluster.x-k8s.io/v1beta2 is not served\n      is Cluster API installed here?\n");
    end(&b);
}

static void test_its_lease(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    load(&b, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: ours, namespace: kube-system}\n"
             "spec: {holderIdentity: ca-1, leaseDurationSeconds: 15, renewTime: \"2025-12-31T23:59:58.000000Z\"}\n");
    run(&b, CAPI);
    says(&b, "ok    no other autoscaler holds a Lease");
    run(&b, CAPI "--leader-elect-resource-name=ours");
    says(&b, "FAIL  another autoscaler works on the same nodes: Lease kube-system/ours, held by ca-1; Stowage does not know a "
             "Lease of that name, and acts\n      stop it before Stowage starts\n");
    end(&b);
}

#define DEPLOYMENT(name, size, annotations)                                                                                 \
    "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\nmetadata: {name: " name ", namespace: w, "          \
    "annotations: {" annotations "}}\nspec: {clusterName: c, replicas: " size ", selector: {matchLabels: {d: " name "}}}\n"
#define MACHINE(name)                                                                                                  \
    "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: " name "-1, namespace: w, labels: {d: " name \
    "}}\nspec: {clusterName: c, providerID: 'x:///" name "'}\nstatus: {nodeRef: {name: " name "}, phase: Running}\n---\n" \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nspec: {providerID: 'x:///" name "'}\n"
#define MIN "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: "
#define MAX "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "
#define CAPACITY "capacity.cluster-autoscaler.kubernetes.io/"

static void test_groups_of_cluster_api(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    run(&b, CAPI);
    says(&b, "warn  the flags find no node group\n");
    load(&b, DEPLOYMENT("told", "0", MIN "'0', " MAX "'3', " CAPACITY "cpu: '4', " CAPACITY "memory: 16Gi")
                 DEPLOYMENT("kept", "1", MIN "'1', " MAX "'3'") MACHINE("kept"));
    run(&b, CAPI);
    says(&b, "ok    2 node groups: each has a template or a minimum\n");
    load(&b, DEPLOYMENT("last", "1", MIN "'0', " MAX "'3'") MACHINE("last") DEPLOYMENT("bare", "0", MIN "'0', " MAX "'3'")
                 DEPLOYMENT("odd", "0", MIN "'x', " MAX "'3'"));
    run(&b, CAPI);
    says(&b, "warn  MachineDeployment/w/last says nothing of its machines: when its last node has gone it does not grow again\n"
             "      annotate it with capacity.cluster-autoscaler.kubernetes.io/cpu and …/memory, or give it a minimum of "
             "1\n");
    says(&b, "warn  MachineDeployment w/bare: it has no machine and does not say what one would be; write the annotations ");
    says(&b, "node-group-min-size: \"x\" is not a size; write a whole number from 0 to ");
    says_nothing_of(&b, "w/kept");
    says_nothing_of(&b, "w/told");
    b.api.missing = "v1beta2"; /* an older Cluster API */
    run(&b, CAPI);
    says(&b, "warn  MachineDeployment/w/last says nothing of its machines: ");
    b.api.missing = NULL;
    run(&b, CAPI "--node-group-auto-discovery=clusterapi:namespace=other");
    says(&b, "warn  the flags find no node group\n");
    end(&b);
}

/* More than one answer may have. */
static void test_many_groups(void **state)
{
    (void)state;
    struct buf objects = {0};
    for (int i = 0; i < 501; i++)
        buf_addf(&objects,
                 "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\nmetadata: {name: md-%d, namespace: w, "
                 "annotations: {" MIN "'0', " MAX "'3', " CAPACITY "cpu: '4', " CAPACITY "memory: 16Gi}}\n"
                 "spec: {clusterName: c, replicas: 0, selector: {matchLabels: {d: md-%d}}}\n",
                 i, i);
    struct bench b;
    begin(&b);
    load(&b, objects.ptr);
    run(&b, CAPI);
    says(&b, "ok    501 node groups: each has a template or a minimum\n");
    buf_release(&objects);
    end(&b);
}

static void test_groups_of_kwok(void **state)
{
    (void)state;
    char path[] = "/tmp/stowage-check-XXXXXX", flags[128];
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(file);
    fputs("apiVersion: v1alpha1\nreadNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
          "configmap: {name: templates}\n---\napiVersion: v1\nkind: Node\n"
          "metadata: {name: t, labels: {pool: a}}\nstatus: {allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n---\n"
          "apiVersion: v1\nkind: Node\nmetadata: {name: u, labels: {pool: b}, annotations: "
          "{cluster-autoscaler.kwok.nodegroup/max-count: many}}\n",
          file);
    fclose(file);
    struct bench b;
    begin(&b);
    snprintf(flags, sizeof(flags), "--cloud-provider=kwok --cloud-config=%s", path);
    run(&b, flags);
    remove(path);
    says(&b, "things that manifests/groups and manifests/kwok grants\n");
    says(&b, "cluster-autoscaler.kwok.nodegroup/max-count");
    says(&b, "      until then Stowage goes on without it\n");
    end(&b);
}

/* Without a file, from ConfigMaps. */
static void test_groups_of_kwok_from_config_maps(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    run(&b, "--cloud-provider=kwok");
    says(&b, "FAIL  the node groups cannot be told: reading ConfigMap kube-system/kwok-provider-config: ");
    says(&b, "\n      write it, or name a file in --cloud-config\n");
    load(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: kwok-provider-config, namespace: kube-system}, data: {config: "
             "'{readNodesFrom: configmap, nodegroups: {fromNodeLabelKey: pool}, configmap: {name: kwok-provider-templates}}'}}\n"
             "---\n"
             "{apiVersion: v1, kind: ConfigMap, metadata: {name: kwok-provider-templates, namespace: kube-system}, data: {templates: "
             "'{apiVersion: v1, kind: Node, metadata: {name: t, labels: {pool: a}}, "
             "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}}}'}}\n");
    run(&b, "--cloud-provider=kwok");
    says(&b, "ok    1 node group: each has a template or a minimum\n");
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_line),
        cmocka_unit_test(test_nothing_without_it),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_no_default_differs),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_no_pools_are_needed),
        cmocka_unit_test(test_its_lease),
        cmocka_unit_test(test_groups_of_cluster_api),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_groups_of_kwok),
        cmocka_unit_test(test_groups_of_kwok_from_config_maps),
    };
    return cmocka_run_group_tests_name("check_compat", tests, NULL, NULL);
}
