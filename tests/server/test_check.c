/* `stowage check` on a cluster in memory: what is right, and each thing that can be wrong. Access
 * reviews are answered here, since the in-memory cluster has no roles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "certs/authority.h"
#include "kube/meta.h"
#include "server/check/check.h"
#include "server/check/scheduler_file.h"
#include "server/input.h"
#include "server/live.h"
#include "sim/sim.h"

static const wall_ms NOW = 1767225600000; /* 2026-01-01 */

/* ---- a cluster that knows permissions ---- */

struct guarded { /* hands requests on, but for access reviews */
    struct api api;
    struct api *inner;
    const char *denied; /* a part of the review's body that is not allowed; NULL: all is */
    int status;         /* of reviews; 201 */
    const char *missing; /* name of a kind that is not served; NULL: all are */
    uint32_t reviews;
};

static void reply_to(const char *body, int status, api_done *done, void *user)
{
    struct doc_parser *p = doc_parser_new();
    struct api_result r = {.status = status, .retry_after_s = -1};
    struct err err;
    if (status >= 300 || status == 0)
        err_set(&r.err, api_err_kind(status, (struct span){0}), "refused with %d", status);
    else
        assert_true(doc_parse_json(p, span_of(body), &r.body, &err));
    done(user, &r);
    doc_parser_free(p);
}

static uint64_t guarded_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct guarded *g = (struct guarded *)api;
    if (r->kind == KIND_OWN_ACCESS || r->kind == KIND_ACCOUNT_ACCESS) {
        bool no = g->denied != NULL && span_contains(r->body, span_of(g->denied));
        g->reviews++;
        reply_to(no ? "{\"status\":{\"allowed\":false}}" : "{\"status\":{\"allowed\":true}}",
                 g->status, done, user);
        return g->reviews;
    }
    if (g->missing != NULL && strcmp(kind_info(r->kind)->name, g->missing) == 0) {
        reply_to("", 404, done, user);
        return 1;
    }
    return api_send(g->inner, r, done, user);
}

static const struct api_ops guarded_ops = {.send = guarded_send};

struct bench {
    struct sim *sim;
    struct guarded api;
    struct arena a;
    struct options options;
    struct cert_pair ca, next_ca, serving, client;
    struct check_report report;
    struct check check;
    struct asked_cluster cluster;
    struct catalogue_source *types;
    struct buf text;
    struct err err;
    bool answered;
    struct scheduler_file scheduler;
};

static bool wait_sim(void *user)
{
    struct sim *s = user;
    struct err err;
    return sim_run_until(s, sim_now(s) + MS_SECOND, &err);
}

static void load(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void load(struct bench *b, const char *format, ...)
{
    static char text[32768];
    struct err err;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!sim_cluster_load(sim_cluster(b->sim), span_of(text), NULL, &err))
        fail_msg("%s", err.msg);
}

static const char *encoded(struct bench *b, struct span text)
{
    return arena_cstr(&b->a, base64_encode(&b->a, text));
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void begin(struct bench *b, wall_ms issued)
{
    struct err err;
    bool help;
    *b = (struct bench){0};
    arena_init(&b->a, 0);
    b->types = catalogue_builtin();
    b->sim = sim_new(&(struct sim_options){.cluster = {.now = NOW}});
    b->api = (struct guarded){.api = {&guarded_ops},
                              .inner = sim_client_new(sim_cluster(b->sim)),
                              .status = 201};
    assert_true(options_read(&b->a, OPTION_CHECK, 0, NULL, no_environment, &b->options, &help, &err));
    struct cert_subject serving = {SPAN("stowage"), CERT_SERVER, NULL, 0, 0};
    struct cert_subject client = {SPAN("scheduler"), CERT_CLIENT, NULL, 0, 0};
    assert_true(authority_new(&b->a, issued, CERTS_CA_LIFE, &b->ca, &err));
    assert_true(authority_new(&b->a, issued, CERTS_CA_LIFE, &b->next_ca, &err));
    assert_true(authority_issue(&b->a, &b->ca, &serving, issued, &b->serving, &err));
    assert_true(authority_issue(&b->a, &b->ca, &client, issued, &b->client, &err));
}

static struct span joined(struct bench *b, struct span one, struct span other)
{
    return arena_printf(&b->a, "%.*s%.*s", SPAN_ARG(one), SPAN_ARG(other));
}

static void put_secrets(struct bench *b)
{
    load(b, "apiVersion: v1\nkind: Secret\nmetadata: {name: stowage-certs, namespace: stowage-system}\n"
            "data: {ca.crt: %s, next-ca.crt: %s, tls.crt: %s}\n---\n"
            "apiVersion: v1\nkind: Secret\n"
            "metadata: {name: stowage-scheduler-client, namespace: stowage-system}\n"
            "data: {ca.crt: %s, tls.crt: %s}\n",
         encoded(b, b->ca.cert), encoded(b, b->next_ca.cert), encoded(b, b->serving.cert),
         encoded(b, joined(b, b->ca.cert, b->next_ca.cert)), encoded(b, b->client.cert));
}

static void put_webhook(struct bench *b, struct span ca)
{
    load(b, "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
            "metadata: {name: stowage}\nwebhooks:\n"
            "- {name: nodepools.webhook.stowage.dev, clientConfig: {caBundle: %s}}\n",
         encoded(b, ca));
}

static void put_lease(struct bench *b, const char *ns, const char *name, const char *renewed)
{
    load(b, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s, namespace: %s}\n"
            "spec: {holderIdentity: pod-1, leaseDurationSeconds: 15, renewTime: \"%s\"}\n",
         name, ns, renewed);
}

#define RECENTLY "2025-12-31T23:59:58.000000Z"
#define LONG_AGO "2025-12-31T20:00:00.000000Z"

/* All as it should be. */
static void put_all(struct bench *b)
{
    put_secrets(b);
    put_webhook(b, b->ca.cert);
    put_lease(b, "stowage-system", "stowage-leader-election", RECENTLY);
}

static const char *run(struct bench *b, const char *metrics)
{
    b->report = (struct check_report){.a = &b->a};
    b->cluster = (struct asked_cluster){&b->api.api, wait_sim, b->sim};
    b->check = (struct check){.report = &b->report,
                              .cluster = &b->cluster,
                              .options = &b->options,
                              .ns = SPAN("stowage-system"),
                              .account = span_of(b->options.account),
                              .address = SPAN("https://10.0.0.1"),
                              .now = NOW,
                              .metrics = span_of(metrics),
                              .types = b->types,
                              .scheduler = b->scheduler};
    b->answered = check_run(&b->check, &b->err);
    buf_clear(&b->text);
    check_text(&b->text, &b->report, 0);
    return b->text.ptr;
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

static const char GOOD_METRICS[] =
    "# HELP stowage_extender_requests_total Questions\n"
    "leader_election_master_status{name=\"x\"} 1\n"
    "stowage_extender_requests_total{verb=\"filter\",answer=\"planned\"} 7\n"
    "stowage_extender_requests_total{verb=\"filter\",answer=\"room\"} 5\n"
    "stowage_extender_requests_total{verb=\"prioritize\",answer=\"room\"} 4\n"
    "stowage_extender_requests_total{verb=\"filter\",answer=\"error\"} 0\n"
    "stowage_extender_sampled_total{verb=\"filter\"} 0\n";

/* ---- what is right ---- */

static void test_a_healthy_cluster(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    run(&b, GOOD_METRICS);
    assert_true(b.answered);
    assert_int_equal(check_count(&b.report, CHECK_OK), b.report.count);
    says(&b, "ok    who runs this may do all ");
    says(&b, "ok    API server https://10.0.0.1: 13 of 13 kinds are served and readable\n");
    says(&b, "ok    Stowage runs; pod-1 leads\n");
    says(&b, "ok    serving certificate until 2027-01-01\n");
    says(&b, "ok    the scheduler's client certificate until 2027-01-01\n");
    says(&b, "ok    the caBundle of ValidatingWebhookConfiguration stowage has Stowage's CA\n");
    says(&b, "ok    the scheduler asks Stowage: about 12 pods so far\n");
    says(&b, "ok    the scheduler offers every node\n");
    says(&b, "ok    no other autoscaler holds a Lease (Karpenter, Cluster Autoscaler)\n");
    says(&b, "ok    no Deployment or CronJob is called a descheduler\n");
    says(&b, "nothing to mend\n");
    end(&b);
}

/* Before anything is started nothing is wrong; what will come is unknown. */
static void test_before_it_runs(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    run(&b, "");
    assert_true(b.answered);
    assert_int_equal(check_count(&b.report, CHECK_FAIL), 0);
    says(&b, "?     no Stowage leads by Lease stowage-system/stowage-leader-election");
    says(&b, "?     Secret stowage-system/stowage-certs is not there yet; Stowage makes it when it starts\n");
    says(&b, "warn  no webhook is registered");
    says(&b, "?     whether the scheduler asks Stowage: no server answers at http://127.0.0.1:8090 (--server)\n"
             "      kubectl port-forward");
    says(&b, "1 warning, 4 unknown\n");
    end(&b);
}

#define POOL(name, group, kind, label)                                                             \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\n"                 \
    "spec: {template: {spec: {requirements: [{key: " label ", operator: Exists}], "                \
    "nodeClassRef: {group: " group ", kind: " kind ", name: default}}}}\n"

static void test_pools_that_suit(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    load(&b, POOL("general", "karpenter.kwok.sh", "KWOKNodeClass", "team"));
    run(&b, GOOD_METRICS);
    says(&b, "ok    1 NodePool: the built-in catalogue has what it asks for\n");
    end(&b);
}

static void test_pools_of_others(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    load(&b, POOL("ec2", "karpenter.k8s.aws", "EC2NodeClass", "karpenter.k8s.aws/instance-category")
                 POOL("general", "karpenter.kwok.sh", "KWOKNodeClass", "karpenter.k8s.aws/instance-family"));
    run(&b, GOOD_METRICS);
    assert_true(b.answered);
    says(&b, "warn  NodePool ec2 refers to EC2NodeClass default (karpenter.k8s.aws), which Stowage does "
             "not serve: it buys nothing for the pool\n      refer to a KWOKNodeClass, or ");
    says(&b, "warn  NodePool general: spec.template.spec.requirements: no type of the built-in catalogue "
             "has karpenter.k8s.aws/instance-family, so that ");
    says(&b, "2 warnings\n");
    end(&b);
}

/* What admission would say of them, had it been there when they were written. */
static void test_pools_that_do_not_what_they_say(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    load(&b, POOL("general", "karpenter.kwok.sh", "KWOKNodeClass", "team") POOL("other", "karpenter.kwok.sh", "KWOKNodeClass", "team")
                 "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd, annotations: {stowage.dev/mdoe: act}}\n"
                 "spec: {weight: 3, template: {metadata: {labels: {karpenter.sh/nodepool: x}}, spec: {requirements: [], "
                 "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n");
    run(&b, GOOD_METRICS);
    says(&b, "warn  NodePool general: spec.weight: 0 is the weight of NodePool other, too");
    says(&b, "warn  NodePool other: spec.weight: 0 is the weight of NodePool general, too");
    says(&b, "warn  NodePool odd: metadata.annotations[stowage.dev/mdoe]: there is no such annotation");
    says(&b, "FAIL  NodePool odd: spec.template.metadata.labels[karpenter.sh/nodepool]: ");
    end(&b);
}

/* ---- what is wrong ---- */

static void no_secrets(struct bench *b)
{
    put_webhook(b, b->ca.cert);
    put_lease(b, "stowage-system", "stowage-leader-election", RECENTLY);
}
static void other_bundle(struct bench *b)
{
    put_all(b);
    put_webhook(b, b->serving.cert);
}
static void forbidden(struct bench *b)
{
    put_all(b);
    b->api.denied = "\"pods\",\"subresource\":\"eviction\"";
}
static void blind_to_workloads(struct bench *b)
{
    put_all(b);
    b->api.denied = "\"cronjobs\"";
}
static void no_pools(struct bench *b)
{
    put_all(b);
    b->api.missing = "NodePool";
}
static void karpenter(struct bench *b)
{
    put_all(b);
    put_lease(b, "kube-system", "karpenter-leader-election", RECENTLY);
}
static void dead_karpenter(struct bench *b)
{
    put_all(b);
    put_lease(b, "kube-system", "karpenter-leader-election", LONG_AGO);
}
static void descheduler(struct bench *b)
{
    put_all(b);
    load(b, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: move, namespace: ops, "
            "labels: {app.kubernetes.io/name: descheduler}}\nspec: {schedule: \"* * * * *\"}\n");
}
static void resting_descheduler(struct bench *b)
{
    put_all(b);
    load(b, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: descheduler, namespace: ops}\n"
            "spec: {schedule: \"* * * * *\", suspend: true}\n");
}

static const struct {
    const char *label;
    void (*arrange)(struct bench *b);
    const char *metrics;
    enum check_level worst;
    const char *line;
} rows[] = {
    {"no Secrets", no_secrets, GOOD_METRICS, CHECK_FAIL,
     "FAIL  Secret stowage-system/stowage-certs is not there although Stowage runs\n"},
    {"another CA", other_bundle, GOOD_METRICS, CHECK_FAIL,
     "FAIL  the caBundle of ValidatingWebhookConfiguration stowage has not Stowage's CA: the API server passes it over\n"},
    {"a permission", forbidden, GOOD_METRICS, CHECK_FAIL,
     "permissions of manifests/rbac.yaml are missing: create pods/eviction\n"
     "      kubectl apply -f manifests/rbac.yaml\n"},
    {"a kind", no_pools, GOOD_METRICS, CHECK_FAIL,
     "FAIL  NodePool karpenter.sh/v1 is not served\n"
     "      kubectl apply --server-side -f manifests/crds\n"},
    {"a rival", karpenter, GOOD_METRICS, CHECK_FAIL,
     "FAIL  another autoscaler works on the same nodes: Lease kube-system/karpenter-leader-election, "
     "held by pod-1; Stowage only observes meanwhile\n"},
    {"a rival of yesterday", dead_karpenter, GOOD_METRICS, CHECK_OK, "ok    no other autoscaler"},
    {"a descheduler", descheduler, GOOD_METRICS, CHECK_WARN, "warn  CronJob ops/move moves pods too"},
    {"one that rests", resting_descheduler, GOOD_METRICS, CHECK_OK, "ok    no Deployment or CronJob"},
    {"workloads out of sight", blind_to_workloads, GOOD_METRICS, CHECK_UNKNOWN,
     "?     whether a descheduler moves pods"},
    {"never asked", put_all,
     "leader_election_master_status{name=\"x\"} 1\n"
     "stowage_extender_requests_total{verb=\"filter\",answer=\"planned\"} 0\n"
     "stowage_extender_sampled_total{verb=\"filter\"} 0\n",
     CHECK_WARN, "warn  the scheduler has not asked Stowage about any pod since it started\n"},
    {"asked no more", put_all,
     "leader_election_master_status{name=\"x\"} 1\nstowage_scheduler_silent 1\n"
     "stowage_extender_requests_total{verb=\"filter\",answer=\"planned\"} 9\n",
     CHECK_WARN, "warn  the scheduler has not asked Stowage for a minute or more while planned pods"},
    {"not the leader", put_all, "leader_election_master_status{name=\"x\"} 0\n", CHECK_UNKNOWN,
     "?     the server at http://127.0.0.1:8090 stands by"},
    {"bad questions", put_all,
     "leader_election_master_status{name=\"x\"} 1\n"
     "stowage_extender_requests_total{verb=\"filter\",answer=\"error\"} 3\n",
     CHECK_WARN, "warn  3 of the scheduler's questions could not be read\n"},
    {"sampling", put_all,
     "leader_election_master_status{name=\"x\"} 1\nstowage_extender_sampled_total{verb=\"filter\"} 2\n"
     "stowage_extender_requests_total{verb=\"filter\",answer=\"room\"} 3\n",
     CHECK_WARN, "warn  the scheduler seems to have offered a part of the nodes 2 times"},
};

static void test_each_trouble_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b, NOW);
        rows[i].arrange(&b);
        run(&b, rows[i].metrics);
        enum check_level worst = CHECK_OK;
        for (enum check_level l = CHECK_OK; l < CHECK_LEVEL_COUNT; l++)
            worst = check_count(&b.report, l) != 0 ? l : worst;
        if (worst != rows[i].worst || strstr(b.text.ptr, rows[i].line) == NULL)
            fail_msg("%s: worst is %d, want %d and: %s\nbut:\n%s", rows[i].label, worst,
                     rows[i].worst, rows[i].line, b.text.ptr);
        end(&b);
    }
}

static void test_certificates_end(void **state)
{
    (void)state;
    static const struct {
        span_ms ago;
        const char *line;
    } ages[] = {
        {0, "ok    serving certificate until 2027-01-01\n"},
        {CERTS_LEAF_LIFE - 30 * CERTS_DAY, "ok    serving certificate until 2026-01-31\n"},
        {CERTS_LEAF_LIFE - 30 * CERTS_DAY + MS_MINUTE, "warn  serving certificate ends on 2026-01-30\n"},
        {CERTS_LEAF_LIFE, "FAIL  serving certificate has ended on 2026-01-01\n"},
    };
    for (size_t i = 0; i < COUNT_OF(ages); i++) {
        struct bench b;
        begin(&b, NOW - ages[i].ago);
        put_all(&b);
        run(&b, GOOD_METRICS);
        says(&b, ages[i].line);
        end(&b);
    }
}

static void test_the_copy_on_the_schedulers_host(void **state)
{
    (void)state;
    static const struct {
        span_ms left; /* of what the scheduler showed; 0: nothing was shown */
        const char *line;
    } copies[] = {
        {0, NULL},
        {CERTS_LEAF_LIFE, "ok    the scheduler shows its certificate, good until 2027-01-01\n"},
        {100 * CERTS_DAY, "ok    the scheduler shows an older copy of its certificate, good until 2026-04-11\n"},
        {29 * CERTS_DAY, "warn  the certificate that the scheduler shows ends on 2026-01-30\n"},
    };
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        struct bench b;
        char metrics[4096];
        begin(&b, NOW);
        put_all(&b);
        snprintf(metrics, sizeof(metrics), "%sstowage_certificate_not_after_seconds{certificate=\"scheduler_shown\"} %lld\n",
                 GOOD_METRICS, (long long)((NOW + copies[i].left) / MS_SECOND));
        run(&b, copies[i].line == NULL ? GOOD_METRICS : metrics);
        if (copies[i].line != NULL)
            says(&b, copies[i].line);
        else
            assert_null(strstr(b.text.ptr, "the scheduler shows"));
        end(&b);
    }
}

/* What the scheduler's configuration names, where it can be read. */
static void test_the_files_on_the_schedulers_host(void **state)
{
    (void)state;
    enum { NOT_NAMED, NOT_HERE, BOTH, CURRENT, NEXT, LEAF, OTHERS, OLD_LEAF };
    static const struct {
        int ca, cert;
        enum check_level worst;
        const char *line; /* NULL: none is about them */
    } rows_of_files[] = {
        {NOT_NAMED, NOT_NAMED, CHECK_OK, NULL},
        {BOTH, LEAF, CHECK_OK, "ok    /x/ca.crt has the CA of now and the next\n"},
        {BOTH, LEAF, CHECK_OK, "ok    the certificate in /x/tls.crt until 2027-01-01\n"},
        {NOT_HERE, LEAF, CHECK_UNKNOWN, "?     whether the scheduler's /x/ca.crt is an old copy: /x/ca.crt is away\n      run it on each host"},
        {BOTH, NOT_HERE, CHECK_UNKNOWN, "?     whether the scheduler's /x/tls.crt is an old copy: /x/tls.crt is away\n"},
        {CURRENT, LEAF, CHECK_WARN, "warn  /x/ca.crt is an old copy, without the next CA: from when that signs, the scheduler passes Stowage over\n"
                                    "      copy the files of Secret stowage-scheduler-client to the scheduler's hosts anew, and start kube-scheduler anew"},
        {NEXT, LEAF, CHECK_FAIL, "FAIL  /x/ca.crt has not the CA that signs for Stowage: the scheduler passes it over\n"},
        {LEAF, LEAF, CHECK_FAIL, "FAIL  /x/ca.crt has not the CA that signs for Stowage"},
        {BOTH, OTHERS, CHECK_WARN, "warn  the certificate in /x/tls.crt is of another CA than Stowage's: without --extender-client-ca and --extender-client-names the"},
        {BOTH, OLD_LEAF, CHECK_WARN, "warn  the certificate in /x/tls.crt ends on 2026-01-30\n      copy the files of Secret"},
    };
    for (size_t i = 0; i < COUNT_OF(rows_of_files); i++) {
        struct bench b;
        struct cert_pair others_ca, others, old;
        struct cert_subject subject = {SPAN("scheduler"), CERT_CLIENT, NULL, 0, 0};
        begin(&b, NOW);
        put_all(&b);
        assert_true(authority_new(&b.a, NOW, CERTS_CA_LIFE, &others_ca, &b.err));
        assert_true(authority_issue(&b.a, &others_ca, &subject, NOW, &others, &b.err));
        subject.life = 29 * CERTS_DAY;
        assert_true(authority_issue(&b.a, &b.ca, &subject, NOW, &old, &b.err));
        const struct span texts[] = {[BOTH] = joined(&b, b.next_ca.cert, b.ca.cert), [CURRENT] = b.ca.cert, [NEXT] = b.next_ca.cert,
                                     [LEAF] = b.client.cert, [OTHERS] = others.cert, [OLD_LEAF] = old.cert};
        if (rows_of_files[i].ca != NOT_NAMED)
            b.scheduler.ca = (struct scheduler_copy){.where = SPAN("/x/ca.crt"), .text = texts[rows_of_files[i].ca]};
        if (rows_of_files[i].cert != NOT_NAMED)
            b.scheduler.cert = (struct scheduler_copy){.where = SPAN("/x/tls.crt"), .text = texts[rows_of_files[i].cert]};
        err_set(&b.scheduler.ca.why, ERR_NOT_FOUND, "/x/ca.crt is away");
        err_set(&b.scheduler.cert.why, ERR_NOT_FOUND, "/x/tls.crt is away");
        run(&b, GOOD_METRICS);
        enum check_level worst = CHECK_OK;
        for (enum check_level l = CHECK_OK; l < CHECK_LEVEL_COUNT; l++)
            worst = check_count(&b.report, l) != 0 ? l : worst;
        if (worst != rows_of_files[i].worst)
            fail_msg("row %zu: worst is %d, want %d:\n%s", i, worst, rows_of_files[i].worst, b.text.ptr);
        if (rows_of_files[i].line != NULL)
            says(&b, rows_of_files[i].line);
        else
            assert_null(strstr(b.text.ptr, "/x/"));
        end(&b);
    }
}

/* Where some replica serves with files, what the scheduler is to trust has their chain beside Stowage's own CAs. */
static void test_the_files_of_who_serves_with_files(void **state)
{
    (void)state;
    static const struct {
        bool own, files;        /* in the scheduler's copy */
        enum check_level worst;
        const char *line;
    } copies[] = {
        {true, true, CHECK_OK, "ok    /x/ca.crt has the CA of now and the next\n"},
        {true, false, CHECK_WARN, "warn  /x/ca.crt is an old copy, without what is served from files (--tls-cert): the scheduler passes that Stowage over\n"},
        {false, true, CHECK_FAIL, "FAIL  /x/ca.crt has not the CA that signs for Stowage: the scheduler passes it over\n"},
    };
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        struct bench b;
        struct cert_pair file;
        begin(&b, NOW);
        put_all(&b);
        assert_true(authority_new(&b.a, NOW, CERTS_CA_LIFE, &file, &b.err));
        struct span own = joined(&b, b.ca.cert, b.next_ca.cert);
        load(&b, "apiVersion: v1\nkind: Secret\nmetadata: {name: stowage-scheduler-client, namespace: stowage-system}\n"
                 "data: {ca.crt: %s, tls.crt: %s}\n",
             encoded(&b, joined(&b, own, file.cert)), encoded(&b, b.client.cert));
        b.scheduler.ca = (struct scheduler_copy){.where = SPAN("/x/ca.crt"),
                                                 .text = joined(&b, copies[i].own ? own : SPAN(""), copies[i].files ? file.cert : SPAN(""))};
        run(&b, GOOD_METRICS);
        says(&b, copies[i].line);
        assert_null(strstr(b.text.ptr, "has another CA"));
        assert_int_equal(check_count(&b.report, CHECK_FAIL), copies[i].worst == CHECK_FAIL);
        assert_int_equal(check_count(&b.report, CHECK_WARN), copies[i].worst == CHECK_WARN);
        end(&b);
    }
}

/* The Secret is not yet, or no more, of the CA that signs: one sentence, and none about copies of it. */
static void test_a_secret_of_another_ca(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    load(&b, "apiVersion: v1\nkind: Secret\nmetadata: {name: stowage-scheduler-client, namespace: stowage-system}\n"
             "data: {ca.crt: %s, tls.crt: %s}\n",
         encoded(&b, b.serving.cert), encoded(&b, b.client.cert));
    b.scheduler.ca = (struct scheduler_copy){.where = SPAN("/x/ca.crt"), .text = b.next_ca.cert};
    run(&b, GOOD_METRICS);
    says(&b, "FAIL  Secret stowage-scheduler-client has another CA than stowage-certs\n      Stowage writes it within a minute");
    assert_null(strstr(b.text.ptr, "/x/"));
    end(&b);
}

static void test_nobody_answers(void **state)
{
    (void)state;
    static const int statuses[] = {0, 401};
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct bench b;
        begin(&b, NOW);
        b.api.status = statuses[i];
        run(&b, "");
        assert_false(b.answered);
        assert_int_not_equal(b.err.kind, ERR_NONE);
        end(&b);
    }
}

static void test_another_account(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    b.options.account = "prod/pilot";
    b.api.denied = "\"user\":\"system:serviceaccount:prod:pilot\",\"groups\":[\"system:serviceaccounts\","
                   "\"system:serviceaccounts:prod\",\"system:authenticated\"]";
    run(&b, GOOD_METRICS);
    says(&b, "permissions of manifests/rbac.yaml are missing: list nodepools.karpenter.sh, "
             "watch nodepools.karpenter.sh, ");
    end(&b);
}

/* The number of names seems to say so by chance: the scheduler's configuration knows better. */
static void test_no_sample_where_every_node_is_offered(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    b.scheduler.every_node = true;
    run(&b, "leader_election_master_status{name=\"x\"} 1\n"
            "stowage_extender_sampled_total{verb=\"filter\"} 2\n"
            "stowage_extender_requests_total{verb=\"filter\",answer=\"room\"} 3\n");
    says(&b, "the scheduler asks Stowage: about 3 pods so far");
    assert_null(strstr(b.text.ptr, "a part of the nodes"));
    end(&b);
}

/* Another placement needs no scheduler that asks. */
static void test_nominating(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    run(&b, "");
    assert_null(strstr(b.text.ptr, "the scheduler need not ask: "));
    b.options.placement = PLACEMENT_NOMINATE;
    run(&b, "");
    says(&b, "ok    the scheduler need not ask: ");
    end(&b);
}

/* The gate writes to pods, and only what asks for it is asked to be granted. */
static void test_pod_deletion_cost(void **state)
{
    (void)state;
    static const char missing[] = "permissions of manifests/rbac.yaml are missing: patch pods\n";
    struct bench b;
    begin(&b, NOW);
    put_all(&b);
    b.api.denied = "{\"verb\":\"patch\",\"resource\":\"pods\"}";
    run(&b, "");
    assert_null(strstr(b.text.ptr, missing));
    b.options.gates.pod_deletion_cost = true;
    run(&b, "");
    says(&b, missing);
    says(&b, "kubectl apply -f manifests/rbac.yaml -f manifests/pod-deletion-cost/rbac.yaml\n");
    end(&b);
}

/* Permissions that few clusters need are asked for where the cluster has what they are for. */
static void test_permissions_of_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *object, *denied, *missing;
    } cases[] = {
        {"apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n",
         "{\"verb\":\"patch\",\"resource\":\"nodes\",\"subresource\":\"status\"}",
         "FAIL  1 of the 2 permissions of manifests/kwok are missing: patch nodes/status\n"
         "      kubectl apply -f manifests/kwok/rbac.yaml\n"},
        {"apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: stowage-shaping}\n",
         "{\"verb\":\"patch\",\"group\":\"admissionregistration.k8s.io\",\"resource\":\"mutatingwebhookconfigurations\","
         "\"name\":\"stowage-shaping\"}",
         "FAIL  1 of the 1 permissions of manifests/shaping are missing: patch "
         "mutatingwebhookconfigurations.admissionregistration.k8s.io stowage-shaping\n"
         "      kubectl apply -f manifests/shaping/rbac.yaml\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench b;
        begin(&b, NOW);
        put_lease(&b, "stowage-system", "stowage-leader-election", "2026-01-01T00:00:00Z");
        b.api.denied = cases[i].denied;
        run(&b, "");
        assert_null(strstr(b.text.ptr, "permissions of manifests/"));
        load(&b, "%s", cases[i].object);
        run(&b, "");
        says(&b, cases[i].missing);
        end(&b);
    }
}

/* ---- permissions ---- */

#define EVERY_GATE "--feature-gates=NodeOverlay=true,CapacityBuffer=true"
#define SPREADS                                                                                    \
    "--scheduler-config={\"podTopologySpread\":{\"defaultConstraints\":[{\"maxSkew\":1,"              \
    "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}"

static struct options read_options(struct arena *a, const char *const *args, int count)
{
    struct options options;
    struct err err;
    bool help;
    char *argv[2] = {NULL};
    for (int i = 0; i < count; i++)
        argv[i] = (char *)(uintptr_t)args[i];
    if (!options_read(a, OPTION_SERVE, count, argv, no_environment, &options, &help, &err))
        fail_msg("%s", err.msg);
    return options;
}

static bool is_watched(const char *const *args, int count, enum kind k)
{
    struct arena a;
    arena_init(&a, 0);
    struct options options = read_options(&a, args, count);
    bool watched = live_watches(&options, k);
    arena_release(&a);
    return watched;
}

static void test_a_kind_that_no_decision_needs_is_not_watched(void **state)
{
    (void)state;
    static const struct {
        enum kind kind;
        bool plainly, with_spreads, with_gates;
    } kinds[] = {
        {KIND_POD, true, true, true},
        {KIND_DAEMON_SET, true, true, true},
        {KIND_SERVICE, false, true, false},
        {KIND_REPLICATION_CONTROLLER, false, true, false},
        {KIND_REPLICA_SET, false, true, true},
        {KIND_STATEFUL_SET, false, true, true},
        {KIND_DEPLOYMENT, false, false, true},
        {KIND_NODE_OVERLAY, false, false, true},
    };
    const char *const spreads = SPREADS, *const gates = EVERY_GATE;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (is_watched(NULL, 0, kinds[i].kind) != kinds[i].plainly ||
            is_watched(&spreads, 1, kinds[i].kind) != kinds[i].with_spreads ||
            is_watched(&gates, 1, kinds[i].kind) != kinds[i].with_gates)
            fail_msg("%s", kind_info(kinds[i].kind)->plural);
}

static void test_the_list_covers_what_is_watched(void **state)
{
    (void)state;
    struct arena a;
    struct permissions p;
    arena_init(&a, 0);
    struct options options = read_options(&a, (const char *const[]){EVERY_GATE, SPREADS}, 2);
    permissions_shipped(&a, SPAN("stowage-system"), &options, &p);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (kind_is_machines(k) || k == KIND_CLUSTER_API_NODE_CLASS || k == KIND_JOB ||
            k == KIND_PROVISIONING_REQUEST || k == KIND_CAPACITY_QUOTA) /* by roles of their own */
            assert_false(live_watches(&options, k));
        else if (!live_watches(&options, k))
            fail_msg("%s are never watched", kind_info(k)->plural);
        else if (!permissions_have(&p, k, SPAN("list")) || !permissions_have(&p, k, SPAN("watch")))
            fail_msg("manifests/rbac.yaml does not let Stowage list and watch %s",
                     kind_info(k)->plural);
    assert_false(permissions_have(&p, KIND_SECRET, SPAN("list")));
    assert_false(permissions_have(&p, KIND_LEASE, SPAN("list"))); /* only by name */
    arena_release(&a);
}

static void test_rules_become_permissions(void **state)
{
    (void)state;
    struct arena a;
    struct permissions p;
    struct err err;
    static const char yaml[] =
        "kind: ServiceAccount\n---\nkind: ClusterRole\nrules:\n"
        "- {apiGroups: [''], resources: [nodes, pods/eviction], verbs: [get, create]}\n---\n"
        "kind: Role\nrules:\n"
        "- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [x], verbs: [get]}\n";
    static const char *const want[] = {"get nodes", "create nodes", "get pods/eviction",
                                       "create pods/eviction",
                                       "get leases.coordination.k8s.io x in own"};
    arena_init(&a, 0);
    p = (struct permissions){0};
    assert_true(permissions_decode(&a, span_of(yaml), SPAN("own"), &p, &err));
    assert_int_equal(p.count, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_string_equal(permission_text(&a, &p.items[i]).ptr, want[i]);
    static const char *const bad[] = {"kind: Role\n",
                                      "kind: Role\nrules: [{apiGroups: [''], resources: [pods]}]\n",
                                      "kind: Role\nrules: [{apiGroups: [''], resources: [1], verbs: [get]}]\n",
                                      "kind: [\n"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (permissions_decode(&a, span_of(bad[i]), SPAN("own"), &p, &err))
            fail_msg("taken: %s", bad[i]);
    arena_release(&a);
}

/* ---- the scheduler's configuration ---- */

#define HEAD "kind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 100\nextenders:\n- "
#define URL "urlPrefix: https://s:9443/scheduler, "
#define VERBS "filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 2, "
#define CACHE "nodeCacheCapable: true, ignorable: true, "
#define TLS "tlsConfig: {caFile: a, certFile: b, keyFile: c}"

static const struct {
    const char *text, *line;
    enum check_level level;
} files[] = {
    {HEAD "{" URL VERBS CACHE "httpTimeout: 200ms, " TLS "}", "F calls Stowage at https://s:9443/scheduler\n", CHECK_OK},
    {"kind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 100\n", "F has no extender that is Stowage's\n", CHECK_FAIL},
    {HEAD "{urlPrefix: https://other/x}", "F has no extender that is Stowage's\n", CHECK_FAIL},
    {HEAD "{" URL "filterVerb: filter, preemptVerb: preempt, " CACHE "httpTimeout: 1s, " TLS "}", "extenders[0]: no prioritizeVerb, so that pods are spread", CHECK_WARN},
    {HEAD "{" URL VERBS "bindVerb: bind, " CACHE "httpTimeout: 1s, " TLS "}", "bindVerb is set", CHECK_FAIL},
    {HEAD "{" URL "filterVerb: sieve, prioritizeVerb: prioritize, preemptVerb: preempt, weight: 2, " CACHE "httpTimeout: 1s, " TLS "}", "filterVerb is \"sieve\", which Stowage does not serve\n      set filterVerb: filter\n", CHECK_FAIL},
    {HEAD "{" URL "filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, " CACHE "httpTimeout: 1s, " TLS "}", "weight is not above 0", CHECK_FAIL},
    {HEAD "{" URL VERBS "ignorable: true, httpTimeout: 1s, " TLS "}", "nodeCacheCapable is not true", CHECK_FAIL},
    {HEAD "{" URL VERBS "nodeCacheCapable: true, ignorable: false, httpTimeout: 1s, " TLS "}", "ignorable is not true", CHECK_FAIL},
    {HEAD "{" URL VERBS CACHE TLS "}", "httpTimeout is not set, which is 5s", CHECK_WARN},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1001ms, " TLS "}", "httpTimeout is 1001ms; a Stowage that hangs", CHECK_WARN},
    {HEAD "{" URL VERBS CACHE "httpTimeout: soon, " TLS "}", "httpTimeout \"soon\" is not a duration", CHECK_FAIL},
    {HEAD "{urlPrefix: http://s:9443/scheduler, " VERBS CACHE "httpTimeout: 1s, " TLS "}", "is not https", CHECK_FAIL},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, tlsConfig: {caFile: a}}", "no client certificate", CHECK_FAIL},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, tlsConfig: {certData: b, keyData: c}}", "names no CA", CHECK_WARN},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, tlsConfig: {insecure: true, caFile: a, certFile: b, keyFile: c}}", "both insecure and a CA", CHECK_FAIL},
    {HEAD "{" URL VERBS CACHE "managedResources: [{name: a/b}], httpTimeout: 1s, " TLS "}", "remove managedResources", CHECK_FAIL},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, " TLS "}\n- {urlPrefix: http://gpu/x, filterVerb: f, ignorable: true}", "http://gpu/x may refuse the nodes that Stowage has chosen", CHECK_WARN},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, " TLS "}\n- {urlPrefix: http://gpu/x, filterVerb: f}", "F calls Stowage at", CHECK_OK},
    {HEAD "{" URL VERBS CACHE "httpTimeout: 1s, " TLS "}\n- {urlPrefix: http://gpu/x, prioritizeVerb: p, weight: 1, ignorable: true}", "F calls Stowage at", CHECK_OK},
    {"kind: KubeSchedulerConfiguration\nextenders:\n- {" URL VERBS CACHE "httpTimeout: 1s, " TLS "}", "kube-scheduler looks at a part of the nodes where there are 100 or more (percentageOfNodesToScore 0)", CHECK_WARN},
    {"kind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 100\nprofiles: [{schedulerName: x, percentageOfNodesToScore: 50}]\nextenders:\n- {" URL VERBS CACHE "httpTimeout: 1s, " TLS "}", "profile x looks at a part of the nodes", CHECK_WARN},
    {"kind: KubeSchedulerConfiguration\nprofiles: [{percentageOfNodesToScore: 100}]\nextenders:\n- {" URL VERBS CACHE "httpTimeout: 1s, " TLS "}", "every node is offered", CHECK_OK},
};

static void test_scheduler_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct arena a;
        struct buf text = {0};
        struct err err;
        arena_init(&a, 0);
        struct check_report r = {.a = &a};
        struct scheduler_file file;
        assert_true(check_scheduler_file(&r, "F", span_of(files[i].text), &file, &err));
        check_text(&text, &r, 0);
        assert_int_equal(file.every_node, strstr(text.ptr, "every node is offered") != NULL);
        uint32_t others = files[i].level == CHECK_OK ? r.count - check_count(&r, CHECK_OK)
                                                     : check_count(&r, files[i].level) - 1;
        if (strstr(text.ptr, files[i].line) == NULL || others != 0)
            fail_msg("row %zu, want alone of its level: %s\nbut:\n%s", i, files[i].line, text.ptr);
        buf_release(&text);
        arena_release(&a);
    }
}

static void test_what_a_scheduler_file_names(void **state)
{
    (void)state;
    static const struct {
        const char *tls, *where, *text, *why; /* of its CA */
    } named[] = {
        {"caFile: " SOURCE_DIR "/manifests/README.md", SOURCE_DIR "/manifests/README.md", "# ", ""},
        {"caFile: ca.crt", "ca.crt", NULL, "the path is relative"},
        {"caFile: /no/such/ca.crt", "/no/such/ca.crt", NULL, "/no/such/ca.crt"},
        {"caData: aGVsbG8=", "tlsConfig.caData", "hello", ""},
        {"caData: aGVsbG8=, caFile: ca.crt", "tlsConfig.caData", "hello", ""},
        {"caData: '!'", "tlsConfig.caData", NULL, "it is not base64"},
        {"insecure: true", NULL, NULL, ""},
    };
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        struct arena a;
        struct err err;
        struct scheduler_file file;
        arena_init(&a, 0);
        struct check_report r = {.a = &a};
        struct span text = arena_printf(&a, HEAD "{" URL VERBS CACHE "tlsConfig: {%s}}", named[i].tls);
        assert_true(check_scheduler_file(&r, "F", text, &file, &err));
        bool where = span_eq(file.ca.where, named[i].where != NULL ? span_of(named[i].where) : (struct span){NULL, 0});
        bool read = named[i].text == NULL ? file.ca.text.len == 0 : span_has_prefix(file.ca.text, span_of(named[i].text));
        if (!where || !read || strstr(file.ca.why.msg, named[i].why) == NULL || file.cert.where.len != 0)
            fail_msg("%s: \"%.*s\" \"%.*s\" %s", named[i].tls, SPAN_ARG(file.ca.where), SPAN_ARG(file.ca.text), file.ca.why.msg);
        arena_release(&a);
    }
}

static void test_what_ships_is_right(void **state)
{
    (void)state;
    struct arena a;
    struct span text;
    struct err err;
    arena_init(&a, 0);
    struct check_report r = {.a = &a};
    assert_true(input_text(&a, SOURCE_DIR "/manifests/scheduler-configuration.yaml", &text, &err));
    struct scheduler_file file;
    assert_true(check_scheduler_file(&r, "F", text, &file, &err));
    assert_true(file.every_node);
    assert_string_equal(file.ca.where.ptr, "/etc/kubernetes/stowage/ca.crt");
    assert_string_equal(file.cert.where.ptr, "/etc/kubernetes/stowage/tls.crt");
    assert_int_equal(check_count(&r, CHECK_OK), r.count);
    static const char *const no_files[] = {"", "kind: Pod\n", "a: [", "[]"};
    for (size_t i = 0; i < COUNT_OF(no_files); i++)
        if (check_scheduler_file(&r, "F", span_of(no_files[i]), &file, &err))
            fail_msg("taken: %s", no_files[i]);
    arena_release(&a);
}

/* ---- how it is shown ---- */

static void test_how_it_is_shown(void **state)
{
    (void)state;
    struct arena a;
    struct buf text = {0};
    arena_init(&a, 0);
    struct check_report r = {.a = &a};
    check_say(&r, CHECK_OK, "a", NULL, "good");
    check_say(&r, CHECK_WARN, "b", "mend it so that it holds", "one two three four five");
    check_say(&r, CHECK_FAIL, "c", NULL, "bad %d", 1);
    check_say(&r, CHECK_FAIL, "c", NULL, "worse");
    check_text(&text, &r, 20);
    assert_string_equal(text.ptr, "ok    good\nwarn  one two three\n      four five\n"
                                  "      mend it so\n      that it holds\nFAIL  bad 1\nFAIL  worse\n"
                                  "2 problems, 1 warning\n");
    buf_clear(&text);
    struct json j = JSON_TO(&text);
    check_json(&j, &r);
    assert_string_equal(
        text.ptr, "{\"checks\":[{\"check\":\"a\",\"level\":\"ok\",\"message\":\"good\"},"
                  "{\"check\":\"b\",\"level\":\"warn\",\"message\":\"one two three four five\","
                  "\"fix\":\"mend it so that it holds\"},"
                  "{\"check\":\"c\",\"level\":\"fail\",\"message\":\"bad 1\"},"
                  "{\"check\":\"c\",\"level\":\"fail\",\"message\":\"worse\"}],"
                  "\"problems\":2,\"warnings\":1,\"unknown\":0}");
    buf_release(&text);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_healthy_cluster),
        cmocka_unit_test(test_before_it_runs),
        cmocka_unit_test(test_pools_that_suit),
        cmocka_unit_test(test_pools_of_others),
        cmocka_unit_test(test_pools_that_do_not_what_they_say),
        cmocka_unit_test(test_each_trouble_is_told),
        cmocka_unit_test(test_certificates_end),
        cmocka_unit_test(test_the_copy_on_the_schedulers_host),
        cmocka_unit_test(test_the_files_on_the_schedulers_host),
        cmocka_unit_test(test_the_files_of_who_serves_with_files),
        cmocka_unit_test(test_a_secret_of_another_ca),
        cmocka_unit_test(test_nobody_answers),
        cmocka_unit_test(test_another_account),
        cmocka_unit_test(test_no_sample_where_every_node_is_offered),
        cmocka_unit_test(test_nominating),
        cmocka_unit_test(test_pod_deletion_cost),
        cmocka_unit_test(test_permissions_of_what_is_there),
        cmocka_unit_test(test_a_kind_that_no_decision_needs_is_not_watched),
        cmocka_unit_test(test_the_list_covers_what_is_watched),
        cmocka_unit_test(test_rules_become_permissions),
        cmocka_unit_test(test_scheduler_files),
        cmocka_unit_test(test_what_a_scheduler_file_names),
        cmocka_unit_test(test_what_ships_is_right),
        cmocka_unit_test(test_how_it_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
