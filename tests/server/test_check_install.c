/* `stowage check --cluster` on a cluster in memory: an empty one, one in which all is there, and each thing taken away. Access
 * reviews and the version are answered here, since the in-memory cluster has neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "certs/authority.h"
#include "kube/meta.h"
#include "server/check/check.h"
#include "server/command.h"
#include "sim/sim.h"
#include "support_command.h"

static const wall_ms NOW = 1767225600000; /* 2026-01-01 */

/* --- a cluster that has a version and permissions --- */

struct guarded {
    struct api api;
    struct api *inner;
    const char *version; /* what /version says */
    const char *refused; /* a kind of which all requests are answered 403; NULL: none */
    bool lacks;          /* the account may do nothing */
};

static void reply(int status, const char *body, api_done *done, void *user)
{
    struct doc_parser *p = doc_parser_new();
    struct api_result r = {.status = status, .retry_after_s = -1};
    struct err err;
    if (status >= 300)
        err_set(&r.err, api_err_kind(status, (struct span){0}), "User \"ann\" cannot do this");
    else
        assert_true(doc_parse_json(p, span_of(body), &r.body, &err));
    done(user, &r);
    doc_parser_free(p);
}

static uint64_t guarded_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct guarded *g = (struct guarded *)api;
    if (g->refused != NULL && strcmp(kind_info(r->kind)->name, g->refused) == 0)
        reply(403, "", done, user);
    else if (r->kind == KIND_VERSION)
        reply(200, g->version, done, user);
    else if (r->kind == KIND_OWN_ACCESS || r->kind == KIND_ACCOUNT_ACCESS)
        reply(201, g->lacks && r->kind == KIND_ACCOUNT_ACCESS ? "{\"status\":{\"allowed\":false}}" : "{\"status\":{\"allowed\":true}}",
              done, user);
    else
        return api_send(g->inner, r, done, user);
    return 1;
}

static const struct api_ops guarded_ops = {.send = guarded_send};

/* --- what is applied --- */

#define DEFINITION(plural, group, version)                                                         \
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"                        \
    "metadata: {name: " plural "." group "}\nspec: {versions: [{name: " version ", served: true, storage: true}]}\n" \
    "status: {conditions: [{type: Established, status: \"True\"}]}\n---\n"
#define ACCOUNT                                                                                    \
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: stowage-system}\n---\n"                     \
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: stowage, namespace: stowage-system}\n---\n"
#define SERVICE(name) "apiVersion: v1\nkind: Service\nmetadata: {name: " name ", namespace: stowage-system}\n---\n"
#define DEPLOYMENT(image, argument, ready)                                                         \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: stowage, namespace: stowage-system}\n" \
    "spec: {replicas: 2, template: {spec: {containers: [{name: stowage, image: '" image "', args: [serve, '" argument "']}]}}}\n" \
    "status: {readyReplicas: " ready "}\n---\n"
#define LEASE(ns, name, holder)                                                                    \
    "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: " name ", namespace: " ns "}\n" \
    "spec: {holderIdentity: " holder ", leaseDurationSeconds: 15, renewTime: \"2025-12-31T23:59:58.000000Z\"}\n---\n"
#define SCHEDULER(argument)                                                                        \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-scheduler-cp-1, namespace: kube-system}\n"   \
    "spec: {containers: [{name: kube-scheduler, command: [kube-scheduler, --v=2, " argument "]}]}\n---\n"
#define POOL                                                                                       \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"                     \
    "spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
#define CLASS "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n---\n"
#define POLICY(blocks)                                                                                                     \
    "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: stowage, namespace: stowage-system}\n"           \
    "spec: {podSelector: {}, ingress: [{from: [" blocks "]}, {from: [{podSelector: {}}]}]}\n"
#define TWO "{ipBlock: {cidr: 0.0.0.0/0, except: [192.168.0.0/30, 10.244.0.0/17]}}, {ipBlock: {cidr: '::/0', except: ['fd00:10:244::/56']}}"
#define RIVAL(replicas)                                                                            \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cluster-autoscaler, namespace: kube-system}\n" \
    "spec: {replicas: " replicas "}\n---\n"

enum part { POOLS, CLAIMS, CLASSES, OWN, WEBHOOK_SERVICE, EXTENDER_SERVICE, RUNS, LEADS, SCHEDULER_LEADS, SCHEDULES, BUYS, OF_CLASS,
            PART_COUNT };

static const char *const whole[PART_COUNT] = {
    [POOLS] = DEFINITION("nodepools", "karpenter.sh", "v1"),
    [CLAIMS] = DEFINITION("nodeclaims", "karpenter.sh", "v1"),
    [CLASSES] = DEFINITION("kwoknodeclasses", "karpenter.kwok.sh", "v1alpha1"),
    [OWN] = ACCOUNT,
    [WEBHOOK_SERVICE] = SERVICE("stowage-webhook"),
    [EXTENDER_SERVICE] = SERVICE("stowage-extender"),
    [RUNS] = DEPLOYMENT("registry.example/stowage:1", "--shutdown-delay=15s", "2"),
    [LEADS] = LEASE("stowage-system", "stowage-leader-election", "stowage-7f9"),
    [SCHEDULER_LEADS] = LEASE("kube-system", "kube-scheduler", "cp-1_2f6"),
    [SCHEDULES] = SCHEDULER("--config=/etc/kubernetes/stowage/scheduler.yaml"),
    [BUYS] = POOL,
    [OF_CLASS] = CLASS,
};

/* --- the bench --- */

struct bench {
    struct sim *sim;
    struct guarded api;
    struct arena a;
    struct options options;
    struct check_report report;
    struct catalogue_source *types;
    struct buf text;
};

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static bool wait_sim(void *user)
{
    struct err err;
    return sim_run_until(user, sim_now(user) + MS_SECOND, &err);
}

static void load(struct bench *b, const char *text)
{
    struct err err;
    if (!sim_cluster_load(sim_cluster(b->sim), span_of(text), NULL, &err))
        fail_msg("%s: %s", text, err.msg);
}

static void begin(struct bench *b)
{
    static char *const argv[] = {"--cluster"};
    struct err err;
    bool help;
    *b = (struct bench){.types = catalogue_builtin()};
    arena_init(&b->a, 0);
    b->sim = sim_new(&(struct sim_options){
        .cluster = {.now = NOW}, .no_scheduler = true, .no_controllers = true, .no_kubelet = true}); /* objects stay as they are put */
    b->api = (struct guarded){.api = {&guarded_ops},
                              .inner = sim_client_new(sim_cluster(b->sim)),
                              .version = "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.3\"}"};
    assert_true(options_read(&b->a, OPTION_CHECK, 1, argv, no_environment, &b->options, &help, &err));
}

static const char *encoded(struct bench *b, struct span text)
{
    return arena_cstr(&b->a, base64_encode(&b->a, text));
}

/* What Stowage writes when it runs, and webhooks.yaml. */
static void put_certificates(struct bench *b)
{
    struct cert_pair ca, next, serving, client;
    struct cert_subject as_server = {SPAN("stowage"), CERT_SERVER, NULL, 0, 0}, as_client = {SPAN("scheduler"), CERT_CLIENT, NULL, 0, 0};
    struct err err;
    assert_true(authority_new(&b->a, NOW, CERTS_CA_LIFE, &ca, &err) && authority_new(&b->a, NOW, CERTS_CA_LIFE, &next, &err));
    assert_true(authority_issue(&b->a, &ca, &as_server, NOW, &serving, &err));
    assert_true(authority_issue(&b->a, &ca, &as_client, NOW, &client, &err));
    struct span both = arena_printf(&b->a, "%.*s%.*s", SPAN_ARG(ca.cert), SPAN_ARG(next.cert));
    struct span text = arena_printf(&b->a,
        "apiVersion: v1\nkind: Secret\nmetadata: {name: stowage-certs, namespace: stowage-system}\n"
        "data: {ca.crt: %s, next-ca.crt: %s, tls.crt: %s, tls.key: %s}\n---\n"
        "apiVersion: v1\nkind: Secret\nmetadata: {name: stowage-scheduler-client, namespace: stowage-system}\n"
        "data: {ca.crt: %s, tls.crt: %s}\n---\n"
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: stowage}\nwebhooks:\n"
        "- {name: nodepools.webhook.stowage.dev, clientConfig: {caBundle: %s, service: {namespace: stowage-system, name: stowage-webhook}}}\n",
        encoded(b, ca.cert), encoded(b, next.cert), encoded(b, serving.cert), encoded(b, serving.key), encoded(b, both),
        encoded(b, client.cert), encoded(b, ca.cert));
    load(b, arena_cstr(&b->a, text));
}

/* All but one part, in the place of which something else stands; NULL: nothing. PART_COUNT: all. */
static void put_but(struct bench *b, enum part without, const char *instead)
{
    for (int i = 0; i < PART_COUNT; i++)
        if (i != (int)without)
            load(b, whole[i]);
    if (instead != NULL)
        load(b, instead);
    put_certificates(b);
}

static void run(struct bench *b, const char *metrics)
{
    struct asked_cluster cluster = {&b->api.api, wait_sim, b->sim};
    struct err err;
    b->report = (struct check_report){.a = &b->a};
    struct check c = {.report = &b->report,
                      .cluster = &cluster,
                      .options = &b->options,
                      .ns = SPAN("stowage-system"),
                      .account = SPAN("stowage-system/stowage"),
                      .address = SPAN("https://10.0.0.1"),
                      .now = NOW,
                      .metrics = span_of(metrics),
                      .types = b->types};
    if (!check_run(&c, &err))
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
    if (strstr(b->text.ptr, line) == NULL)
        fail_msg("not said: %s\nbut:\n%s", line, b->text.ptr);
}

static const char ASKED[] = "leader_election_master_status{name=\"x\"} 1\n"
                            "stowage_extender_requests_total{verb=\"filter\",answer=\"planned\"} 7\n"
                            "stowage_extender_sampled_total{verb=\"filter\"} 0\n";

/* --- before and after --- */

static void before_it_is_installed(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.api.lacks = true;
    run(&b, "");
    static const char *const lines[] = { /* in the order of an installation */
        "ok    API server https://10.0.0.1 answers: Kubernetes v1.36.3\n",
        "FAIL  CustomResourceDefinition nodeclaims.karpenter.sh is not there\n"
        "      kubectl apply --server-side -f manifests/crds/nodeclaims.yaml\n",
        "FAIL  Namespace stowage-system is not there\n      kubectl apply -f manifests/rbac.yaml\n",
        "FAIL  ServiceAccount stowage-system/stowage is not there\n      kubectl apply -f manifests/rbac.yaml\n",
        " permissions of manifests/rbac.yaml are missing: ",
        "FAIL  ValidatingWebhookConfiguration stowage is not there\n      kubectl apply -f manifests/webhooks.yaml\n",
        "FAIL  Deployment stowage-system/stowage is not there\n      kubectl apply -f manifests/deployment.yaml\n",
        "FAIL  Service stowage-system/stowage-extender, which the scheduler calls, is not there\n"
        "      kubectl apply -f manifests/deployment.yaml\n",
        "FAIL  no Stowage leads by Lease stowage-system/stowage-leader-election",
        "?     whether a scheduler asks Stowage: kube-scheduler's Pod is not seen in kube-system\n",
        "?     Secret stowage-system/stowage-certs is not there yet; Stowage makes it when it starts\n",
        "FAIL  there is no NodePool: nothing can be bought\n",
        "ok    no other autoscaler holds a Lease",
    };
    const char *at = b.text.ptr;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const char *found = strstr(at, lines[i]);
        if (found == NULL)
            fail_msg("not said, or not in its turn: %s\nbut:\n%s", lines[i], b.text.ptr);
        at = found + 1;
    }
    end(&b);
}

static void nothing_is_missing(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    put_but(&b, PART_COUNT, POLICY(TWO));
    run(&b, ASKED);
    if (check_count(&b.report, CHECK_OK) != b.report.count)
        fail_msg("%s", b.text.ptr);
    says(&b, "ok    3 definitions are there and served in the versions that Stowage asks for\n");
    says(&b, "ok    stowage-system/stowage may do all ");
    says(&b, "ok    the API server calls Service stowage-system/stowage-webhook\n");
    says(&b, "ok    2 of 2 Pods of Deployment stowage-system/stowage are ready\n");
    says(&b, "ok    Stowage runs; stowage-7f9 leads\n");
    says(&b, "ok    the scheduler asks Stowage: about 7 pods so far\n");
    says(&b, "ok    serving certificate until 2027-01-01\n");
    says(&b, "ok    the caBundle of ValidatingWebhookConfiguration stowage has Stowage's CA\n");
    says(&b, "ok    1 NodePool: ");
    says(&b, "nothing to mend\n");
    assert_null(strstr(b.text.ptr, "BEGIN")); /* no key, and no certificate */
    end(&b);
}

/* --- each thing by itself --- */

static void what_is_missing_is_told(void **state)
{
    (void)state;
    static const struct {
        enum part without;
        const char *instead, *want;
        uint32_t fails, unknown;
    } rows[] = {
        {CLAIMS, NULL,
         "FAIL  CustomResourceDefinition nodeclaims.karpenter.sh is not there\n"
         "      kubectl apply --server-side -f manifests/crds/nodeclaims.yaml\n", 1, 1},
        {CLAIMS, DEFINITION("nodeclaims", "karpenter.sh", "v1beta1"),
         "FAIL  CustomResourceDefinition nodeclaims.karpenter.sh serves v1beta1, and Stowage asks for v1\n"
         "      kubectl apply --server-side -f manifests/crds/nodeclaims.yaml\n", 1, 1},
        {CLAIMS,
         "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: nodeclaims.karpenter.sh}\n"
         "spec: {versions: [{name: v1, served: true}]}\n",
         "FAIL  CustomResourceDefinition nodeclaims.karpenter.sh is not established\n"
         "      kubectl wait --for=condition=Established crd/nodeclaims.karpenter.sh\n", 1, 1},
        {WEBHOOK_SERVICE, NULL,
         "FAIL  Service stowage-system/stowage-webhook, which the webhook calls, is not there\n"
         "      kubectl apply -f manifests/deployment.yaml\n", 1, 1},
        {EXTENDER_SERVICE, NULL, "FAIL  Service stowage-system/stowage-extender, which the scheduler calls, is not there\n", 1, 1},
        {RUNS, DEPLOYMENT("stowage:latest", "-v", "0"),
         "FAIL  0 of 2 Pods of Deployment stowage-system/stowage are ready: their image is stowage:latest, as it ships\n"
         "      kubectl -n stowage-system set image deployment/stowage stowage=YOUR-IMAGE\n", 1, 1},
        {RUNS, DEPLOYMENT("registry.example/stowage:1", "-v", "0"),
         "FAIL  0 of 2 Pods of Deployment stowage-system/stowage are ready\n"
         "      kubectl -n stowage-system describe pods -l app.kubernetes.io/name=stowage\n", 1, 1},
        {RUNS, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: stowage, namespace: stowage-system}\n",
         "FAIL  0 of 1 Pods of Deployment stowage-system/stowage are ready\n", 1, 1},
        {RUNS, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: stowage, namespace: stowage-system}\nspec: {replicas: 0}\n",
         "FAIL  Deployment stowage-system/stowage is scaled to 0\n"
         "      kubectl -n stowage-system scale deployment/stowage --replicas=2\n", 1, 1},
        {RUNS, DEPLOYMENT("registry.example/stowage:1", "-v", "1"),
         "warn  1 of 2 Pods of Deployment stowage-system/stowage are ready\n"
         "      kubectl -n stowage-system describe pods -l app.kubernetes.io/name=stowage\n", 0, 1},
        {RUNS, DEPLOYMENT("registry.example/stowage:1", "--placement=nominate", "2"),
         "ok    no scheduler need ask: Stowage nominates pods (--placement=nominate)\n", 0, 0},
        {LEADS, NULL,
         "FAIL  no Stowage leads by Lease stowage-system/stowage-leader-election: it does not run, or not there\n"
         "      kubectl -n stowage-system logs deploy/stowage\n", 1, 1},
        {SCHEDULES, SCHEDULER("--leader-elect=true"),
         "FAIL  kube-scheduler on cp-1 runs without --config, and so without the extender\n", 1, 0},
        {SCHEDULES, SCHEDULER("--config, /etc/s.yaml"),
         "?     kube-scheduler on cp-1 has --config=/etc/s.yaml; whether that names Stowage is not seen from here\n"
         "      on that host: stowage check --scheduler-config /etc/s.yaml; or kubectl -n stowage-system port-forward", 0, 1},
        {SCHEDULES,
         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: stowage-scheduler, namespace: stowage-scheduler}\nspec: {replicas: 1}\n",
         "ok    a second scheduler is there: Deployment stowage-scheduler/stowage-scheduler\n", 0, 0},
        {OF_CLASS, NULL, "FAIL  KWOKNodeClass default, to which NodePool general refers, is not there\n", 1, 1},
        {BUYS, NULL, "FAIL  there is no NodePool: nothing can be bought\n", 1, 1},
        {PART_COUNT, RIVAL("1"),
         "FAIL  Deployment kube-system/cluster-autoscaler runs and would fight over the same nodes\n"
         "      kubectl -n kube-system scale deployment/cluster-autoscaler --replicas=0\n", 1, 1},
        {PART_COUNT, RIVAL("0"), "ok    no Deployment is called karpenter or cluster-autoscaler\n", 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        put_but(&b, rows[i].without, rows[i].instead);
        run(&b, "");
        says(&b, rows[i].want);
        if (check_count(&b.report, CHECK_FAIL) != rows[i].fails || check_count(&b.report, CHECK_UNKNOWN) != rows[i].unknown)
            fail_msg("row %zu: %u fail, %u unknown:\n%s", i, check_count(&b.report, CHECK_FAIL), check_count(&b.report, CHECK_UNKNOWN),
                     b.text.ptr);
        end(&b);
    }
}

#define NODE(name, ranges) "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nspec: {podCIDRs: [" ranges "]}\n"

/* The webhook's port asks for no certificate: a policy that keeps no pods out is told with what to do. */
static void a_policy_that_lets_pods_in_is_told(void **state)
{
    (void)state;
#define FIX "      name your pods' addresses: in manifests/network-policy.yaml (except)"
    static const struct {
        const char *objects, *want;
    } rows[] = {
        {NULL, "warn  there is no NetworkPolicy stowage-system/stowage: any pod can reach the webhook and the metrics\n" FIX},
        {POLICY("{ipBlock: {cidr: 0.0.0.0/0}}"),
         "warn  NetworkPolicy stowage-system/stowage lets all pods in: it names no addresses of pods\n" FIX},
        {POLICY(TWO), "ok    NetworkPolicy stowage-system/stowage keeps pods out by address\n"},
        {POLICY(TWO) NODE("a", "10.244.127.0/24, 'fd00:10:244:7::/64'") NODE("b", ""),
         "ok    NetworkPolicy stowage-system/stowage keeps pods out by address\n"},
        {POLICY(TWO) NODE("a", "10.244.0.0/24") NODE("b", "10.244.128.0/24"),
         "warn  NetworkPolicy stowage-system/stowage lets in the pods of 1 node, such as b with 10.244.128.0/24\n" FIX},
        {POLICY(TWO) NODE("a", "10.244.0.0/24, 'fd00:10:245::/64'") NODE("b", "10.0.0.0/8"),
         "warn  NetworkPolicy stowage-system/stowage lets in the pods of 2 nodes, such as a with fd00:10:245::/64\n" FIX},
        {POLICY(TWO) NODE("a", "10.0.0.0/8, 'fd00:10:245::/64'"),
         "warn  NetworkPolicy stowage-system/stowage lets in the pods of 1 node, such as a with 10.0.0.0/8\n" FIX},
        {POLICY(TWO) NODE("a", "'c0a8::/64'"), /* begins with the bytes of 192.168 */
         "warn  NetworkPolicy stowage-system/stowage lets in the pods of 1 node, such as a with c0a8::/64\n" FIX},
        {POLICY(TWO) NODE("a", "10.244.0.0/16"), "lets in the pods of 1 node, such as a with 10.244.0.0/16\n" FIX},
        /* another block without exceptions lets them in, and so does a block of some of their addresses */
        {POLICY(TWO ", {ipBlock: {cidr: 0.0.0.0/0}}") NODE("a", "10.244.0.0/24"),
         "lets in the pods of 1 node, such as a with 10.244.0.0/24\n" FIX},
        {POLICY(TWO ", {ipBlock: {cidr: 10.244.0.128/25}}") NODE("a", "10.244.0.0/24"),
         "lets in the pods of 1 node, such as a with 10.244.0.0/24\n" FIX},
        {POLICY(TWO ", {ipBlock: {cidr: 192.168.0.0/16}}") NODE("a", "10.244.0.0/24"), "keeps pods out by address\n"},
        {POLICY(TWO "]}, {ports: [{port: webhook}], from: [") NODE("a", "10.244.0.0/24"),
         "warn  NetworkPolicy stowage-system/stowage lets all pods in: it names no addresses of pods\n" FIX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        put_but(&b, PART_COUNT, rows[i].objects);
        run(&b, ASKED);
        says(&b, rows[i].want);
        assert_int_equal(check_count(&b.report, CHECK_FAIL), 0);
        end(&b);
    }
}

/* Who keeps node groups alone has neither NodePools nor their definitions. */
static void node_groups_need_no_pools(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    for (int i = 0; i < PART_COUNT; i++)
        if (i != POOLS && i != CLAIMS && i != CLASSES && i != RUNS && i != BUYS && i != OF_CLASS)
            load(&b, whole[i]);
    load(&b, DEPLOYMENT("registry.example/stowage:1", "--cloud-provider=clusterapi", "2"));
    put_certificates(&b);
    run(&b, ASKED);
    says(&b, "ok    no NodePools are defined, and node groups need none (--cloud-provider)\n");
    says(&b, "ok    there is no NodePool; node groups are kept (--cloud-provider)\n");
    assert_int_equal(check_count(&b.report, CHECK_FAIL), 0);
    end(&b);
}

static void an_old_api_server_is_told(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    put_but(&b, PART_COUNT, NULL);
    b.api.version = "{\"major\":\"1\",\"minor\":\"29+\",\"gitVersion\":\"v1.29.4-eks\"}";
    run(&b, ASKED);
    says(&b, "FAIL  API server https://10.0.0.1 is Kubernetes v1.29.4-eks; Stowage needs 1.30\n      update the control plane\n");
    assert_int_equal(check_count(&b.report, CHECK_FAIL), 1);
    end(&b);
}

/* Not as missing: with what would allow it. */
static void what_may_not_be_read_is_told_so(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *want;
    } rows[] = {
        {"CustomResourceDefinition",
         "?     CustomResourceDefinition nodepools.karpenter.sh may not be read: User \"ann\" cannot do this\n"
         "      kubectl create clusterrole stowage-check-customresourcedefinitions --verb=get "
         "--resource=customresourcedefinitions.apiextensions.k8s.io allows it"},
        {"ServiceAccount", "kubectl create clusterrole stowage-check-serviceaccounts --verb=get --resource=serviceaccounts allows it"},
        {"SubjectAccessReview", "ClusterRole system:auth-delegator allows it"},
        {"Deployment", "kubectl create clusterrole stowage-check-deployments --verb=get --resource=deployments.apps allows it"},
        {"Pod", "?     Pod kube-system/kube-scheduler-cp-1 may not be read"},
        {"NodePool", "kubectl create clusterrole stowage-check-nodepools --verb=list --resource=nodepools.karpenter.sh allows it"},
        {"Secret", "?     Secret stowage-system/stowage-certs cannot be read"},
        {"Version", "?     API server https://10.0.0.1 answers, and does not tell its version\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        put_but(&b, PART_COUNT, NULL);
        b.api.refused = rows[i].kind;
        run(&b, "");
        says(&b, rows[i].want);
        if (check_count(&b.report, CHECK_FAIL) != 0)
            fail_msg("%s: %s", rows[i].kind, b.text.ptr);
        end(&b);
    }
}

static void one_question_at_a_time(void **state)
{
    (void)state;
    struct outcome o = run_command(command_check, CLASS, (const char *const[COMMAND_ARGS_MAX]){"--cluster", "-f", "{}"});
    if (o.status != 2 || strstr(o.text, "--cluster is about what is installed") == NULL)
        fail_msg("status %d, %s", o.status, o.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_it_is_installed),
        cmocka_unit_test(nothing_is_missing),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(a_policy_that_lets_pods_in_is_told),
        cmocka_unit_test(node_groups_need_no_pools),
        cmocka_unit_test(an_old_api_server_is_told),
        cmocka_unit_test(what_may_not_be_read_is_told_so),
        cmocka_unit_test(one_question_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
