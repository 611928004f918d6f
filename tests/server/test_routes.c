#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "cloud/catalogue.h"
#include "reconciler/measure.h"
#include "server/clock.h"
#include "server/group_answers.h"
#include "server/routes.h"
#include "support_view.h"

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out,
                  struct err *err)
{
    (void)p;
    (void)err;
    struct catalogue_source *s = catalogue_builtin();
    catalogue_build(s, a, syms, out);
    catalogue_source_free(s);
    return true;
}

static const struct provider_ops provider_ops = {
    .name = "test", .node_class_group = "karpenter.kwok.sh", .types = types};

struct fixture {
    struct view view;
    struct arena a;
    struct symtab *syms;
    struct webhook_rules rules;
    struct metrics *metrics;
    struct health *health;
    struct page *page;
    struct routes *routes;
    struct http_scratch hooks;
    void *scratch;
    struct http_reply reply;
    struct log log;
    struct buf lines; /* of the log */
    struct ledger *ledger;
    struct group_answers *groups;
    struct loop_health loop;
    bool leading;
    struct extender_sources sources;
};

static bool leading(void *user, mono_ms now)
{
    (void)now;
    return ((struct fixture *)user)->leading;
}

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: web, uid: uid-p}\n"
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
    "Unschedulable}]}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n";

static void keep_line(void *user, enum log_level level, struct span line)
{
    (void)level;
    buf_add(user, line);
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

static int set_up(void **state, struct ledger *ledger, bool no_census, uint32_t census_pods)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct provider provider = {&provider_ops};
    struct err err;
    arena_init(&f->a, 0);
    view_open(&f->view, CLUSTER, "p n1");
    f->syms = kube_symtab_new();
    assert_true(routes_webhook_rules(&f->a, f->syms, &provider, &f->rules, &err));
    f->metrics = metrics_new();
    f->health = health_new();
    f->page = page_new();
    f->groups = group_answers_new();
    f->leading = true;
    f->ledger = ledger;
    f->log = (struct log){.sink = keep_line, .user = &f->lines, .now_ms = no_time, .level = LOG_INFO};
    f->sources = (struct extender_sources){.snapshots = store_share(f->view.store),
                                           .places = &f->view.places,
                                           .ledger = ledger,
                                           .leads = leading,
                                           .user = f};
    f->routes = routes_new(&(struct routes_config){
        .sources = &f->sources,
        .metrics = f->metrics,
        .log = &f->log,
        .health = f->health,
        .page = f->page,
        .groups = f->groups,
        .loop = &f->loop,
        .loop_limits = {.inactivity = MS_MINUTE, .failing = MS_HOUR, .startup = MS_HOUR},
        .rules = &f->rules,
        .no_census = no_census,
        .census_pods = census_pods,
        .user = f,
    });
    f->hooks = routes_scratch(f->routes);
    f->scratch = f->hooks.make(f->hooks.user);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return set_up(state, NULL, false, 100);
}

static int setup_without(void **state)
{
    return set_up(state, NULL, true, 100);
}

static int setup_few(void **state)
{
    return set_up(state, NULL, false, 0);
}

static int setup_booking(void **state)
{
    return set_up(state, ledger_new(), false, 100);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    f->hooks.tick(f->scratch);
    f->hooks.drop(f->scratch);
    routes_free(f->routes);
    view_close(&f->view);
    ledger_free(f->ledger);
    page_free(f->page);
    group_answers_free(f->groups);
    health_free(f->health);
    metrics_free(f->metrics);
    symtab_unref(f->syms);
    arena_release(&f->a);
    buf_release(&f->reply.body);
    buf_release(&f->lines);
    free(f);
    return 0;
}

/* As the loop does, but all pieces into one body. */
static void read_document(struct fixture *f, const struct http_route *route)
{
    struct http_stream s = {0};
    struct buf piece = {0};
    while (!s.ended) {
        buf_clear(&piece);
        route->feed(route->user, f->scratch, &s, 0, &piece);
        s.begun = true;
        buf_add(&f->reply.body, buf_span(&piece));
    }
    if (s.work != NULL)
        s.drop(s.work);
    buf_release(&piece);
    f->reply.content_type = route->document;
}

static void ask(struct fixture *f, enum http_listener l, const char *method, const char *path,
                const char *body)
{
    struct http_observer o = routes_observer(f->routes);
    struct http_request q = {.listener = l, .method = span_of(method), .body = span_of(body)};
    q.path = span_cut(span_of(path), '?', &q.query);
    struct buf kept = f->reply.body;
    buf_clear(&kept);
    f->reply = (struct http_reply){.status = 200, .body = kept};
    const struct http_route *route = http_find(routes_table(f->routes), &q, &f->reply);
    if (route != NULL && route->handler != NULL)
        http_run(route, f->scratch, &q, &f->reply);
    else if (route != NULL && route->document != NULL)
        read_document(f, route);
    o.answered(o.user, &q, route, f->reply.status, 0.0001);
}

static void says(struct fixture *f, int status, const char *text)
{
    if (f->reply.status != status || strstr(f->reply.body.ptr, text) == NULL)
        fail_msg("wanted %d %s, got %d %s", status, text, f->reply.status, f->reply.body.ptr);
}

#define ARGS                                                                                       \
    "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},"             \
    "\"Nodes\":null,\"NodeNames\":[\"n2\",\"n1\"]}"

#define ARGS_LARGE                                                                                 \
    "{\"Pod\":{\"metadata\":{\"name\":\"large\",\"namespace\":\"web\",\"uid\":\"uid-large\"}},"     \
    "\"Nodes\":null,\"NodeNames\":[\"n2\",\"n1\"]}"

static void large_may_go_to(struct fixture *f, const char *names)
{
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", ARGS_LARGE);
    says(f, 200, names);
}

/* Held room is worked out once for many questions, but never from what is no longer true. */
static void test_held_room_follows_what_is_published(void **state)
{
    struct fixture *f = *state;
    view_put(&f->view, "apiVersion: v1\nkind: Pod\nmetadata: {name: large, namespace: web, uid: uid-large, ownerReferences: "
                       "[{apiVersion: a/v1, kind: CloneSet, name: set, uid: s, controller: true}]}\n"
                       "spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}\n"
                       "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
                       "reason: Unschedulable}]}\n");
    large_may_go_to(f, "\"NodeNames\":[\"n2\"]");
    large_may_go_to(f, "\"NodeNames\":[\"n2\"]");
    share_publish(&f->view.places, &view_read_places("p n2")->shared);
    large_may_go_to(f, "\"NodeNames\":[\"n1\"]");
    share_publish(&f->view.places, &view_read_places("p n1")->shared);
    f->hooks.tick(f->scratch);
    large_may_go_to(f, "\"NodeNames\":[\"n2\"]");
    view_put(&f->view, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: web, uid: uid-p}\n"
                       "spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
                       "status: {phase: Running}\n");
    large_may_go_to(f, "\"NodeNames\":[\"n2\",\"n1\"]"); /* bound: its place holds nothing */
    share_publish(&f->view.places, NULL);
    large_may_go_to(f, "\"NodeNames\":[\"n2\",\"n1\"]");
}

static void test_explain(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "{\"hasPlace\":true,\"sentence\":\"web/p has a place: node n1.\"");
    share_publish(&f->view.places, NULL);
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "{\"hasPlace\":false,\"sentence\":\"web/p has no place: it has no NodePool to go to");
    ask(f, HTTP_PAGE, "GET", "/explain/node/n1", NULL);
    says(f, 200, "\"sentence\":\"n1 stays: no dynamic NodePool of ours owns it.\"");
    ask(f, HTTP_PAGE, "GET", "/explain/node/n3", NULL);
    says(f, 404, "there is no node n3; did you mean n1?");
    ask(f, HTTP_PAGE, "GET", "/explain/nodepool/x", NULL);
    says(f, 404, "there is no nodepool x");
    ask(f, HTTP_PAGE, "GET", "/explain/service/x", NULL);
    says(f, 404, "\"service\" is not pod, node, nodepool, group or a workload like deployment");
    ask(f, HTTP_PAGE, "GET", "/explain/group/MachineDeployment/ns/md-0", NULL);
    says(f, 404, "no node groups are kept here");
    struct group_answer grows = {.group = SPAN("MachineDeployment/ns/md-0"), .json = SPAN("{\"sentence\":\"md-0 grows.\"}")};
    group_answers_set(f->groups, &(struct groups_told){.groups = &grows, .group_count = 1});
    ask(f, HTTP_PAGE, "GET", "/explain/group/MachineDeployment/ns/md-0", NULL);
    says(f, 200, "{\"sentence\":\"md-0 grows.\"}");
    struct group_refusal refused = {SPAN("uid-p"), SPAN("2 Insufficient cpu")};
    group_answers_set(f->groups, &(struct groups_told){.groups = &grows, .group_count = 1, .refusals = &refused, .refusal_count = 1});
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "{\"hasPlace\":false,\"sentence\":\"web/p has no place: it fits no node group: 2 Insufficient cpu.\"");
    ask(f, HTTP_PAGE, "GET", "/explain/", NULL);
    says(f, 404, "\"\" is not pod, node, nodepool, group or a workload like deployment");
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/", NULL);
    says(f, 404, "the name of the pod is missing");
}

/* Its only pod is not in a list, until a second one confirms that. */
static void test_explain_while_a_list_is_unconfirmed(void **state)
{
    struct fixture *f = *state;
    store_list_begin(f->view.store, KIND_POD);
    store_list_end(f->view.store, KIND_POD);
    store_publish(f->view.store, 0);
    ask(f, HTTP_PAGE, "GET", "/explain/node/n1", NULL);
    says(f, 200, "\"sentence\":\"n1 stays: no node is removed now, since a list showed 1 of 1 pods gone; a second list is asked for.\"");
    store_list_begin(f->view.store, KIND_POD);
    store_list_end_as(f->view.store, KIND_POD, true);
    store_publish(f->view.store, 0);
    ask(f, HTTP_PAGE, "GET", "/explain/node/n1", NULL);
    says(f, 200, "\"sentence\":\"n1 stays: no dynamic NodePool of ours owns it.\"");
}

/* The reconciler plans nothing for a pod for a while: explain, page and plan say so, as long as it holds. */
static void test_who_is_put_off(void **state)
{
    struct fixture *f = *state;
    struct decision d = {.kind = DECISION_NO_PLACE,
                         .about = {KIND_POD, SPAN("web"), SPAN("p"), SPAN("uid-p")},
                         .sentence = SPAN("web/p has no place (Unschedulable): is not planned for a while"),
                         .put_off = {SPAN("is not planned for a while, since nobody wants it"), SPAN("ask why")}};
    share_publish(&f->view.places, NULL);
    page_decided(f->page, &d);
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "\"sentence\":\"web/p has no place: it is not planned for a while, since nobody wants it.\"");
    says(f, 200, "{\"about\":\"Fix\",\"text\":\"ask why.\"}");
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "is not planned for a while");
    ask(f, HTTP_PAGE, "GET", "/plan", NULL);
    says(f, 200, "\"message\":\"web/p has no place (Unschedulable): is not planned for a while\"");

    page_decided(f->page, &(struct decision){.takes_back = true, .about = d.about});
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "web/p has no place: it has no NodePool to go to");
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "seen, not planned yet");
    ask(f, HTTP_PAGE, "GET", "/plan", NULL);
    says(f, 200, "\"unschedulable\":[]");

    d.about.uid = SPAN("uid-before"); /* another pod that had the name */
    page_decided(f->page, &d);
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "web/p has no place: it has no NodePool to go to");
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "seen, not planned yet");

    d.about.uid = SPAN("uid-p");
    page_decided(f->page, &d);
    page_forget(f->page); /* another replica leads */
    ask(f, HTTP_PAGE, "GET", "/explain/pod/web/p", NULL);
    says(f, 200, "web/p has no place: it has no NodePool to go to");
}

#define CLAIM(name_, drifted_)                                                                                          \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_ ", labels: {karpenter.sh/nodepool: general}}\n"  \
    "spec: {requirements: []}\nstatus: {conditions: [{type: Drifted, status: \"" drifted_ "\"}]}\n"

/* What the gate between waves of drift waits for: said of the NodePool and of its drifted nodes, as long as it holds,
 * whatever else is said of the NodePool meanwhile. */
static void test_drift_is_paused(void **state)
{
    static const char paused[] = "{\"about\":\"drift\",\"text\":\"nodes of NodePool general that have drifted are let alone: "
                                 "web/p is not ready\"}";
    struct fixture *f = *state;
    struct decision d = {.kind = DECISION_KEEP, .about = {KIND_NODE_POOL, {NULL, 0}, SPAN("general"), SPAN("uid-g")},
                         .side = SPAN("drift"), .sentence = SPAN("web/p is not ready")};
    view_put(&f->view, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general, uid: uid-g}\n"
                       "spec: {template: {spec: {requirements: []}}}\n---\n" CLAIM("drifted", "True") "---\n" CLAIM("other", "False"));
    page_decided(f->page, &d);
    page_decided(f->page, &(struct decision){.about = d.about, .sentence = SPAN("its budgets let no node go now")});
    ask(f, HTTP_PAGE, "GET", "/explain/nodepool/general", NULL);
    says(f, 200, paused);
    ask(f, HTTP_PAGE, "GET", "/explain/node/drifted", NULL);
    says(f, 200, paused);
    ask(f, HTTP_PAGE, "GET", "/explain/node/other", NULL);
    assert_null(strstr(f->reply.body.ptr, "let alone"));
    page_decided(f->page, &(struct decision){.takes_back = true, .about = d.about, .side = d.side});
    ask(f, HTTP_PAGE, "GET", "/explain/nodepool/general", NULL);
    assert_null(strstr(f->reply.body.ptr, "let alone"));
}

static void test_extender(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", ARGS);
    says(f, 200, "\"NodeNames\":[\"n1\"]");
    assert_false(f->reply.last);
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/prioritize", ARGS);
    says(f, 200, "\"Host\":\"n1\"");
    f->leading = false; /* plan and places are not ours to speak of */
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", ARGS);
    says(f, 200, "\"NodeNames\":[\"n2\",\"n1\"]");
    assert_true(f->reply.last); /* nor is the next question for us */
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_requests_total{verb=\"filter\",answer=\"planned\"} 1\n");
    says(f, 200, "stowage_extender_requests_total{verb=\"filter\",answer=\"no-opinion\"} 1\n");
    says(f, 200, "stowage_extender_duration_seconds_count{verb=\"filter\"} 2\n");
    says(f, 200, "stowage_http_requests_total{listener=\"extender\",code=\"200\"} 3\n");
    says(f, 200, "process_resident_memory_bytes ");
}

static void ask_for(struct fixture *f, unsigned names)
{
    struct buf body = {0};
    buf_add(&body, SPAN("{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},"
                        "\"Nodes\":null,\"NodeNames\":["));
    for (unsigned i = 0; i < names; i++)
        buf_addf(&body, "%s\"m%u\"", i != 0 ? "," : "", i);
    buf_add(&body, SPAN("]}"));
    buf_add_char(&body, '\0');
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", body.ptr);
    buf_release(&body);
}

/* kube-scheduler offers 100 of 102 nodes unless it is told to offer all. */
static void test_samples_are_counted(void **state)
{
    struct fixture *f = *state;
    struct buf yaml = {0};
    for (unsigned i = 0; i < 100; i++)
        buf_addf(&yaml, "%sapiVersion: v1\nkind: Node\nmetadata: {name: m%u}\n"
                        "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n",
                 i != 0 ? "---\n" : "", i);
    buf_add_char(&yaml, '\0');
    view_put(&f->view, yaml.ptr);
    f->hooks.tick(f->scratch);
    ask_for(f, 99);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_sampled_total{verb=\"filter\"} 0\n");
    ask_for(f, 100);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_sampled_total{verb=\"filter\"} 1\n");
    buf_release(&yaml);
}

/* The pod was sent to its place and is not bound there. */
static void test_attempts_that_came_to_nothing_are_counted(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", ARGS);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_asked_again_total{verb=\"filter\"} 2\n");
}

/* What the scheduler cannot have meant it reads in its own log. */
static void test_extender_errors(void **state)
{
    struct fixture *f = *state;
    static const char with_nodes[] = "{\"Pod\":{\"metadata\":{}},\"Nodes\":{\"items\":[]}}";
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", with_nodes);
    says(f, 200, "{\"Error\":\"");
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", "{\"Pod\":\"%s%n\"");
    assert_null(strchr(f->reply.body.ptr, '%'));
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/preempt", "nonsense");
    assert_int_equal(f->reply.status, 400);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_requests_total{verb=\"filter\",answer=\"error\"} 2\n");
}

#define REVIEW(label)                                                                              \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"            \
    "\"uid\":\"u-1\",\"resource\":{\"group\":\"karpenter.sh\",\"version\":\"v1\",\"resource\":"      \
    "\"nodepools\"},\"operation\":\"CREATE\",\"object\":{\"metadata\":{\"name\":\"a\"},\"spec\":{"   \
    "\"template\":{\"metadata\":{\"labels\":{\"" label "\":\"x\"}},\"spec\":{\"requirements\":"      \
    "[]}}}}}}"

static void test_webhook(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_WEBHOOK, "POST", "/admission/validate", REVIEW("karpenter.kwok.sh/mine"));
    says(f, 200, "\"allowed\":false");
    says(f, 200, "karpenter.kwok.sh/mine");
    ask(f, HTTP_WEBHOOK, "POST", "/admission/validate",
        REVIEW("karpenter.kwok.sh/instance-family")); /* well known to the provider */
    says(f, 200, "\"allowed\":true");
    struct buf large = {0}; /* the same as the first, and blanks behind it */
    buf_add(&large, SPAN(REVIEW("karpenter.kwok.sh/mine")));
    while (large.len <= REVIEW_BYTES_MAX)
        buf_add_char(&large, ' ');
    ask(f, HTTP_WEBHOOK, "POST", "/admission/validate", large.ptr);
    says(f, 200, "\"allowed\":true,\"warnings\":[\"NodePool a: it was not checked, since it is too large");
    buf_release(&large);
    ask(f, HTTP_WEBHOOK, "POST", "/admission/mutate", REVIEW("example.com/x"));
    says(f, 200, "{\"uid\":\"u-1\",\"allowed\":true}");
    ask(f, HTTP_WEBHOOK, "POST", "/admission/validate", "{}");
    assert_int_equal(f->reply.status, 400);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_webhook_reviews_total{answer=\"denied\"} 1\n");
    says(f, 200, "stowage_webhook_reviews_total{answer=\"allowed\"} 1\n");
    says(f, 200, "stowage_webhook_reviews_total{answer=\"not-ours\"} 1\n");
    says(f, 200, "stowage_webhook_reviews_total{answer=\"unchecked\"} 1\n");
    says(f, 200, "stowage_webhook_reviews_total{answer=\"error\"} 1\n");
    says(f, 200, "controller_runtime_webhook_latency_seconds_count{webhook=\"/admission/validate\"} 4\n");
    says(f, 200, "controller_runtime_webhook_latency_seconds_count{webhook=\"/admission/mutate\"} 1\n");
}

#define SPLIT_POD(uid)                                                                              \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"            \
    "\"uid\":\"" uid "\",\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"    \
    "\"operation\":\"CREATE\",\"namespace\":\"web\",\"object\":{\"metadata\":{\"generateName\":"     \
    "\"s-\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"s\"," \
    "\"uid\":\"u\",\"controller\":true}],\"annotations\":{\"stowage.dev/spot-percent\":\"50\"}},"      \
    "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}"

/* What the reply's patch says of the split. */
static bool gives(struct fixture *f, const char *side)
{
    const char *key = "\"patch\":\"", *at = strstr(f->reply.body.ptr, key);
    struct span rest, text;
    if (at == NULL)
        return false;
    assert_true(base64_decode(&f->a, span_cut(span_of(at + strlen(key)), '"', &rest), &text));
    return span_contains(text, arena_printf(&f->a, "split=%s, review=", side));
}

/* A pod that was given a side counts in the next reviews, once: as remembered while no snapshot shows it, and then as the
 * snapshot shows it. */
static void test_split_by_webhook(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_WEBHOOK, "POST", "/admission/mutate", SPLIT_POD("r1"));
    assert_true(gives(f, "on-demand"));
    ask(f, HTTP_WEBHOOK, "POST", "/admission/mutate", SPLIT_POD("r2"));
    assert_true(gives(f, "spot"));
    view_put(&f->view, "apiVersion: v1\nkind: Pod\nmetadata: {name: s-0, namespace: web, uid: uid-s0, ownerReferences: [{apiVersion: "
                       "apps/v1, kind: StatefulSet, name: s, uid: u, controller: true}], annotations: {stowage.dev/spot-percent: '50', "
                       "stowage.dev/shaped-by: 'split=on-demand, review=r1'}}\nspec: {nodeSelector: {karpenter.sh/capacity-type: "
                       "on-demand}, containers: [{name: c}]}\n");
    ask(f, HTTP_WEBHOOK, "POST", "/admission/mutate/namespace", SPLIT_POD("r3"));
    assert_true(gives(f, "on-demand"));
    ask(f, HTTP_WEBHOOK, "POST", "/admission/mutate", SPLIT_POD("r4"));
    assert_true(gives(f, "spot"));
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_webhook_reviews_total{answer=\"shaped\"} 3\n");
    says(f, 200, "stowage_webhook_reviews_total{answer=\"unshaped\"} 1\n"); /* its namespace's label has not come */
}

static void test_probes(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PROBES, "GET", "/readyz", NULL);
    says(f, 503, "the certificates are not loaded yet\n");
    health_have(f->health, HEALTH_CERTIFICATES);
    health_have(f->health, HEALTH_LISTENING);
    ask(f, HTTP_PROBES, "GET", "/readyz", NULL);
    says(f, 200, "ok\n");
    static const char *const alive[] = {"/livez", "/healthz", "/health-check"};
    for (size_t i = 0; i < COUNT_OF(alive); i++) {
        ask(f, HTTP_PROBES, "GET", alive[i], NULL);
        says(f, 200, "ok\n");
    }
    loop_passes(&f->loop, clock_mono() - MS_MINUTE - MS_SECOND); /* that of node groups */
    ask(f, HTTP_PROBES, "GET", "/healthz", NULL);
    says(f, 200, "ok\n");
    ask(f, HTTP_PROBES, "GET", "/health-check", NULL);
    says(f, 500, "the loop of node groups has made no pass for 61 s");
    f->leading = false;
    ask(f, HTTP_PROBES, "GET", "/health-check", NULL);
    says(f, 200, "ok\n");
    struct pulse silent = {.name = "a loop", .last = clock_mono() - HEALTH_SILENCE_MS - 1};
    health_watch(f->health, &silent);
    ask(f, HTTP_PROBES, "GET", "/livez", NULL);
    says(f, 503, "a loop has been silent for 10 s\n");
}

static void test_log_level(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *body;
        int status;
        const char *says, *then;
    } rows[] = {
        {"debug", 200, "debug\n", "debug\n"},
        {"warn\n", 200, "warn\n", "warn\n"}, /* as `echo warn |` sends it */
        {"loud", 400, "\"loud\" is no log level; there are error, warn, info and debug\n", "warn\n"},
        {"", 400, "\"\" is no log level", "warn\n"},
        {"info", 200, "info\n", "info\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ask(f, HTTP_PAGE, "PUT", "/log-level", rows[i].body);
        says(f, rows[i].status, rows[i].says);
        ask(f, HTTP_PAGE, "GET", "/log-level", NULL);
        says(f, 200, rows[i].then);
    }
    ask(f, HTTP_METRICS, "PUT", "/log-level", "debug"); /* is open to others */
    says(f, 404, "nothing at /log-level");
    log_debug(&f->log, "test", "unheard");
    ask(f, HTTP_PAGE, "PUT", "/log-level", "debug");
    log_debug(&f->log, "test", "heard");
    assert_null(strstr(f->lines.ptr, "unheard"));
    assert_non_null(strstr(f->lines.ptr, "heard"));
}

/* The scheduler waits for 200 ms, and has gone on then. */
static void test_late_answers_are_counted(void **state)
{
    struct fixture *f = *state;
    struct http_observer o = routes_observer(f->routes);
    struct http_request q = {.listener = HTTP_EXTENDER, .method = SPAN("POST"), .path = SPAN("/scheduler/filter")};
    const struct http_route *route = http_find(routes_table(f->routes), &q, &f->reply);
    o.answered(o.user, &q, route, 200, 0.199);
    o.answered(o.user, &q, route, 200, 0.201);
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "stowage_extender_given_up_total{verb=\"filter\",why=\"late\"} 1\n");
    says(f, 200, "stowage_extender_given_up_total{verb=\"filter\",why=\"contended\"} 0\n");
}

/* Another thread's answers, as many as there are `rivals`, each booked between one of ours and its booking: the linker
 * leads filter's calls here (CMakeLists.txt). */
static unsigned rivals;
bool __real_ledger_book_if(struct ledger *l, const struct booking *b, uint64_t version, mono_ms now);
bool __wrap_ledger_book_if(struct ledger *l, const struct booking *b, uint64_t version, mono_ms now);
bool __wrap_ledger_book_if(struct ledger *l, const struct booking *b, uint64_t version, mono_ms now)
{
    const uint64_t elsewhere = span_hash(SPAN("n3"));
    if (rivals != 0) {
        rivals--;
        ledger_book(l, &(struct booking){.uid = SPAN("uid-rival"), .id = 1, .nodes = &elsewhere, .node_count = 1}, now);
    }
    return __real_ledger_book_if(l, b, version, now);
}

/* Who is not the first to book looks again, but not for ever: with others all the while he goes by what he saw. */
static void test_contention_is_counted(void **state)
{
    struct fixture *f = *state;
    static const struct {
        unsigned rivals;
        const char *contended;
    } rows[] = {{0, "} 0\n"}, {3, "} 0\n"}, {1000, "} 1\n"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        rivals = rows[i].rivals;
        ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", ARGS);
        says(f, 200, "\"NodeNames\":[\"n1\"]");
        assert_true(rivals == 0 || rows[i].rivals == 1000);
        rivals = 0;
        snprintf(text, sizeof(text), "stowage_extender_given_up_total{verb=\"filter\",why=\"contended\"%s",
                 rows[i].contended);
        ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
        says(f, 200, text);
        says(f, 200, "stowage_extender_given_up_total{verb=\"filter\",why=\"late\"} 0\n");
    }
}

static void test_page(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "<!doctype html>");
    says(f, 200, "<tr id=\"pod/web/p\">");
    ask(f, HTTP_PAGE, "GET", "/stream.js", NULL);
    says(f, 200, "EventSource");
    assert_string_equal(f->reply.content_type, "text/javascript; charset=utf-8");
}

/* A move that is only recommended is a line of the page and of GET /plan, with what it saves and when it has paid for itself. */
static void test_recommended(void **state)
{
    static const char text[] = "remove n1 (underutilized): saves $0.0840/h, evicts 3 pods, pays back in 2m9s (evictions $0.0030)";
    struct span nodes[] = {SPAN("n1")};
    struct move move = {.id = SPAN("d-1"), .state = MOVE_RECOMMENDED, .reason = REASON_UNDERUTILIZED, .decision = SPAN("delete"),
                        .nodes = nodes, .node_count = 1, .savings = 0.084, .evictions = 3, .text = span_of(text)};
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/plan", NULL);
    says(f, 200, "\"moves\":[]");
    page_moved(f->page, &(struct moves){&move, 1, 1});
    ask(f, HTTP_PAGE, "GET", "/plan", NULL);
    says(f, 200, "\"moves\":[{\"id\":\"d-1\",\"state\":\"recommended\",\"reason\":\"underutilized\",\"decision\":\"delete\","
                 "\"candidates\":[\"n1\"],\"replacements\":0,\"evictions\":3,\"savingsPerHour\":0.084,\"message\":\"");
    says(f, 200, text);
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "<tr id=\"move/d-1\">");
    says(f, 200, "recommended, not made");
    says(f, 200, text);
    says(f, 200, ">$0.0840<");
}

/* What `stowage top` asks for. */
static void test_fleet(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/fleet", NULL);
    says(f, 200, "{\"nodes\":[{\"name\":\"n1\",\"state\":\"not ours\",");
    says(f, 200, "\"running\":0,\"waiting\":1,\"unschedulable\":[],\"unschedulableAll\":0,\"moves\":[],\"movesAll\":0}");
    struct span members[] = {SPAN("n9"), SPAN("n1")}; /* one has gone meanwhile */
    struct group_answer groups[] = {{.group = SPAN("other"), .json = SPAN("{}")},
                                    {.group = SPAN("md-0"), .json = SPAN("{}"), .nodes = members, .node_count = 2}};
    group_answers_set(f->groups, &(struct groups_told){.groups = groups, .group_count = 2});
    ask(f, HTTP_PAGE, "GET", "/fleet", NULL);
    says(f, 200, "{\"nodes\":[{\"name\":\"n1\",\"nodeGroup\":\"md-0\",\"state\":\"ready\",\"milliCPU\":");
    groups[1].has_price = true;
    groups[1].price = 0.25;
    group_answers_set(f->groups, &(struct groups_told){.groups = groups, .group_count = 2});
    ask(f, HTTP_PAGE, "GET", "/fleet", NULL);
    says(f, 200, "{\"nodes\":[{\"name\":\"n1\",\"nodeGroup\":\"md-0\",\"state\":\"ready\",\"price\":0.25,\"milliCPU\":");
    group_answers_set(f->groups, NULL); /* somebody else leads */
    ask(f, HTTP_PAGE, "GET", "/fleet", NULL);
    says(f, 200, "{\"nodes\":[{\"name\":\"n1\",\"state\":\"not ours\",");
}

/* The headline, the history, the sum of what `top` lists, and the metric: Nodes of groups count in all of them. */
static void test_one_price(void **state)
{
    struct fixture *f = *state;
    struct span first = SPAN("n1"), second = SPAN("n2");
    struct group_answer groups[] = {
        {.group = SPAN("a"), .json = SPAN("{}"), .nodes = &first, .node_count = 1, .has_price = true, .price = 0.25},
        {.group = SPAN("b"), .json = SPAN("{}"), .nodes = &second, .node_count = 1, .has_price = true, .price = 1.5}};
    group_answers_set(f->groups, &(struct groups_told){.groups = groups, .group_count = 2});
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "\nstowage_cluster_price_per_hour 1.75\n");
    ask(f, HTTP_PAGE, "GET", "/metrics", NULL);
    says(f, 200, "\nstowage_cluster_price_per_hour 1.75\n");
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "<li><b>$1.7500</b> an hour");
    view_put(&f->view, "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1}\n"); /* which does not know its Node yet */
    ask(f, HTTP_PAGE, "GET", "/", NULL);
    says(f, 200, "<li><b>$1.7500</b> an hour");
    says(f, 200, "<b>2</b> nodes");
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "\nstowage_cluster_price_per_hour 1.75\n");
    ask(f, HTTP_PAGE, "GET", "/fleet", NULL);
    assert_null(strstr(strstr(f->reply.body.ptr, "\"name\":\"n1\"") + 1, "\"name\":\"n1\""));
    struct extender_view v = route_view(f->scratch);
    page_sample(f->page, &(struct page_view){v.snapshot, v.world, v.places, v.wall, f->groups});
    ask(f, HTTP_PAGE, "GET", "/history", NULL);
    says(f, 200, ",1.75,");
    groups[1].has_price = false; /* nobody knows what it costs */
    group_answers_set(f->groups, &(struct groups_told){.groups = groups, .group_count = 2});
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "\nstowage_cluster_price_per_hour 0.25\n");
    f->leading = false;
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    assert_null(strstr(f->reply.body.ptr, "stowage_cluster_price_per_hour"));
}

/* Names that an open page asks for. */
static void test_pods(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/pods?node=&find=we%62/", NULL);
    says(f, 200, "{\"pods\":[{\"pod\":\"web/p\"}],\"found\":1}");
    ask(f, HTTP_PAGE, "GET", "/pods?workload=Pod+web%2Fp&node=n1", NULL);
    says(f, 200, "{\"pods\":[],\"found\":0}");
    ask(f, HTTP_PAGE, "GET", "/pods", NULL);
    says(f, 200, "\"found\":1}");
    struct share nothing = {0};
    f->sources.snapshots = &nothing;
    share_drop(&((struct route_scratch *)f->scratch)->snapshots);
    ask(f, HTTP_PAGE, "GET", "/pods?node=n1", NULL);
    says(f, 503, "the cluster has not been read yet");
    f->sources.snapshots = store_share(f->view.store);
}

/* What the page draws its overview from. */
static void test_history(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_PAGE, "GET", "/history", NULL);
    says(f, 200, "{\"stepMillis\":30000,\"points\":[]}");
    assert_true(page_sample_due(f->page, 60000));
    page_sample(f->page, &(struct page_view){.now = 60000}); /* nothing read yet: nothing known */
    assert_true(page_sample_due(f->page, 60000));
    page_sample(f->page, &(struct page_view){f->view.snapshot, f->view.world, NULL, 60000, NULL});
    assert_false(page_sample_due(f->page, 60000));
    ask(f, HTTP_PAGE, "GET", "/history", NULL);
    says(f, 200, "\"points\":[[60000,0,0,8000,0,17179869184,2,0,1]]}");
}

/* A move is told by its id while it is under way, and by its decisions once it is over. */
static void test_explain_move(void **state)
{
    struct fixture *f = *state;
    struct span nodes[] = {SPAN("n1"), SPAN("n2")};
    struct move move = {.id = SPAN("d-1"), .state = MOVE_READIES, .reason = REASON_UNDERUTILIZED, .decision = SPAN("replace"),
                        .nodes = nodes, .node_count = 2, .replacements = 1, .savings = 0.084, .evictions = 3,
                        .text = SPAN("remove n1, n2 -> buy c-4x")};
    struct decision decided = {.kind = DECISION_MOVE, .id = "d-1", .at = 1767225600000, .subject = "move",
                               .sentence = SPAN("n1 and n2 are to leave"), .per_hour = NAN};
    ask(f, HTTP_PAGE, "GET", "/explain/move/d-1", NULL);
    says(f, 404, "no move d-1 is under way, and of the last 200 decisions none is of it");
    page_moved(f->page, &(struct moves){&move, 1, 1});
    page_decided(f->page, &decided);
    ask(f, HTTP_PAGE, "GET", "/explain/move/d-1", NULL);
    says(f, 200, "\"sentence\":\"Move d-1: remove n1, n2 -> buy c-4x.\"");
    says(f, 200, "{\"about\":\"how far\",\"text\":\"is made ready\"},{\"about\":\"reason\",\"text\":\"underutilized\"},"
                 "{\"about\":\"leave\",\"text\":\"n1, n2\"},{\"about\":\"come\",\"text\":\"1 new node\"},"
                 "{\"about\":\"saves\",\"text\":\"$0.0840/h ($61.32 a month)\"},{\"about\":\"evicts\",\"text\":\"3 pods\"},"
                 "{\"about\":\"decided\",\"text\":\"2026-01-01T00:00:00Z  move  n1 and n2 are to leave\"}");
    page_moved(f->page, &(struct moves){0});
    ask(f, HTTP_PAGE, "GET", "/explain/move/d-1", NULL);
    says(f, 200, "\"sentence\":\"Nothing of d-1 is under way; the last of it was: n1 and n2 are to leave.\"");
}

static void post(void *semaphore)
{
    sem_post(semaphore);
}

/* As the loop does: once more when a look that was begun is over. Posts may be left over from looks that nobody waited for. */
static void feed_live(struct fixture *f, const struct http_route *route, struct http_stream *s, mono_ms now, struct buf *out)
{
    route->feed(route->user, f->scratch, s, now, out);
    s->begun = true;
    while (board_worker_board(((struct route_scratch *)f->scratch)->board) == NULL)
        (void)sem_wait(s->waker.loop);
    route->feed(route->user, f->scratch, s, now, out);
}

static void test_live(void **state)
{
    struct fixture *f = *state;
    sem_t over;
    struct http_request q = {
        .listener = HTTP_PAGE, .method = SPAN("GET"), .path = SPAN("/live")};
    const struct http_route *route = http_find(routes_table(f->routes), &q, &f->reply);
    assert_non_null(route->feed);
    sem_init(&over, 0, 0);
    struct http_stream s = {.waker = {post, &over}};
    static const struct {
        const char *label;
        mono_ms now;
        bool decides;
        const char *want, *lacks;
    } rows[] = {
        {"at first", 1000, false, "event: begin\n", "event: beat"},
        {"nothing new", 2000, false, NULL, NULL},
        {"a decision", 13000, true, "event: part\ndata: {\"name\":\"decisions\",", "event: begin"},
        {"silence", 22000, false, NULL, NULL},
        {"ten seconds of it", 23000, false, "event: beat\n", "event: part"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = {0};
        if (rows[i].decides)
            page_decided(f->page, &(struct decision){.subject = "buy"});
        feed_live(f, route, &s, rows[i].now, &out);
        bool right = rows[i].want == NULL ? out.len == 0
                                          : strstr(buf_span(&out).ptr, rows[i].want) != NULL &&
                                                strstr(buf_span(&out).ptr, rows[i].lacks) == NULL;
        if (!right)
            fail_msg("%s: got \"%s\"", rows[i].label, buf_span(&out).ptr);
        buf_release(&out);
    }
    s.drop(s.work);
    /* One that ends with a look under way waits for it. */
    page_decided(f->page, &(struct decision){.subject = "buy"});
    struct http_stream last = {.waker = {post, &over}};
    struct buf out = {0};
    route->feed(route->user, f->scratch, &last, 40000, &out);
    buf_release(&out);
    last.drop(last.work);
    f->hooks.drop(f->scratch);
    f->scratch = f->hooks.make(f->hooks.user);
    sem_destroy(&over);
}

/* Every series and label in the queries and variables of Karpenter's two dashboards, as its
 * documentation has them since v1.0: karpenter-capacity-dashboard.json and
 * karpenter-performance-dashboard.json. Not among them: node_time_seconds and node_boot_time_seconds, which
 * are the node exporter's, and the labels job, cluster and label_name, which Prometheus or nobody gives. */
#define NODE(resource)                                                                             \
    "resource_type=" resource ",arch,capacity_type,instance_type,nodepool,zone,node_name"
static const struct {
    const char *series, *labels; /* every label of one line */
} queried[] = {
    {"karpenter_nodes_created_total", "nodepool"},
    {"karpenter_nodes_terminated_total", "nodepool"},
    {"karpenter_voluntary_disruption_eligible_nodes", "reason"},
    {"karpenter_nodeclaims_disrupted_total", "nodepool"},
    {"karpenter_voluntary_disruption_decisions_total", "consolidation_type,decision"},
    {"karpenter_pods_state",
     "arch,capacity_type,instance_type,namespace,node,nodepool,phase,zone"},
    {"karpenter_nodepools_usage", "resource_type=cpu,nodepool"},
    {"karpenter_nodepools_usage", "resource_type=memory,nodepool"},
    {"karpenter_nodepools_limit", "resource_type=cpu,nodepool"},
    {"karpenter_nodepools_limit", "resource_type=memory,nodepool"},
    {"karpenter_nodes_allocatable", NODE("cpu")},
    {"karpenter_nodes_allocatable", NODE("memory")},
    {"karpenter_nodes_allocatable", NODE("pods")},
    {"karpenter_nodes_total_daemon_requests", NODE("cpu")},
    {"karpenter_nodes_total_daemon_requests", NODE("memory")},
    {"karpenter_nodes_total_daemon_requests", NODE("pods")},
    {"karpenter_nodes_total_pod_requests", NODE("cpu")},
    {"karpenter_nodes_total_pod_requests", NODE("memory")},
    {"karpenter_nodes_total_pod_requests", NODE("pods")},
    {"karpenter_nodes_termination_duration_seconds", "quantile=0"},
    {"karpenter_nodes_termination_duration_seconds", "quantile=0.5"},
    {"karpenter_nodes_termination_duration_seconds", "quantile=0.9"},
    {"karpenter_nodes_termination_duration_seconds", "quantile=0.99"},
    {"karpenter_nodes_termination_duration_seconds", "quantile=1"},
    {"karpenter_pods_startup_duration_seconds", "quantile=0"},
    {"karpenter_pods_startup_duration_seconds", "quantile=0.5"},
    {"karpenter_pods_startup_duration_seconds", "quantile=0.9"},
    {"karpenter_pods_startup_duration_seconds", "quantile=0.99"},
    {"karpenter_pods_startup_duration_seconds", "quantile=1"},
    {"controller_runtime_reconcile_time_seconds_count", "controller"},
    {"controller_runtime_reconcile_time_seconds_bucket", "controller,le"},
    {"controller_runtime_reconcile_total", "controller"},
};

static bool line_has(struct span line, struct span label)
{
    struct span value;
    char text[128];
    struct span name = span_cut(label, '=', &value);
    int n = snprintf(text, sizeof(text), "%.*s=\"%.*s%s", SPAN_ARG(name), SPAN_ARG(value),
                     value.ptr != NULL ? "\"" : "");
    for (size_t i = 1; i + (size_t)n <= line.len; i++)
        if (memcmp(line.ptr + i, text, (size_t)n) == 0 &&
            (line.ptr[i - 1] == '{' || line.ptr[i - 1] == ','))
            return true;
    return false;
}

/* Whether one line of the reply is of the series and has all of the labels. */
static bool has_series(struct fixture *f, const char *series, const char *labels)
{
    for (struct span rest = buf_span(&f->reply.body), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        struct span behind;
        if (!span_eq(span_cut(line, '{', &behind), span_of(series)))
            continue;
        bool all = true;
        for (struct span list = span_of(labels); list.len != 0;)
            all &= line_has(line, span_cut(list, ',', &list));
        if (all)
            return true;
    }
    return false;
}

static void test_dashboards_find_what_they_ask_for(void **state)
{
    struct fixture *f = *state;
    static const char *const resources[] = {"cpu", "memory"};
    view_put(&f->view, "apiVersion: v1\nkind: Pod\nmetadata: {name: agent, namespace: web, uid: uid-agent,\n"
                       "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, controller: true}]}\n"
                       "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}\n"
                       "status: {phase: Running}\n"
                       "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: metered}\n"
                       "spec: {limits: {cpu: 1, memory: 1Gi}}\nstatus: {resources: {cpu: 1, memory: 1Gi}}\n");
    for (size_t r = 0; r < COUNT_OF(resources); r++)
        for (int id = 0; id < MEASURE_ID_COUNT; id++) { /* as if all had happened once */
            struct measure m = {.id = (enum measure_id)id, .value = 1};
            for (size_t l = 0; l < MEASURE_LABELS_MAX && measure_infos[id].labels[l] != NULL; l++)
                m.labels[l] = strcmp(measure_infos[id].labels[l], "resource_type") == 0
                                  ? span_of(resources[r])
                                  : SPAN("x");
            metrics_measure(f->metrics, &m);
        }
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    for (size_t i = 0; i < COUNT_OF(queried); i++)
        if (!has_series(f, queried[i].series, queried[i].labels))
            fail_msg("no %s with %s in:\n%s", queried[i].series, queried[i].labels,
                     f->reply.body.ptr);
    assert_false(has_series(f, "karpenter_pods_state", "arch,no_such"));
    assert_false(has_series(f, "karpenter_nodes_allocatable", "resource_type=cp"));
    assert_false(has_series(f, "karpenter_pods", ""));
}

/* Two replicas would count every pod twice, and `stowage check` needs none of them. */
static void test_only_the_leader_tells_of_the_cluster(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "karpenter_pods_state{name=\"p\",namespace=\"web\"");
    says(f, 200, "karpenter_nodes_allocatable{node_name=\"n1\"");
    says(f, 200, ",instance_family=\"\""); /* a label of the provider's */
    assert_string_equal(f->reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
    ask(f, HTTP_PAGE, "GET", "/metrics", NULL);
    says(f, 200, "process_resident_memory_bytes ");
    assert_null(strstr(f->reply.body.ptr, "karpenter_pods_state"));
    f->leading = false;
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "process_resident_memory_bytes ");
    assert_null(strstr(f->reply.body.ptr, "karpenter_pods_state"));
    assert_null(strstr(f->reply.body.ptr, "karpenter_nodes_allocatable"));
}

/* --disable-cluster-state-observability, and --metrics-pods-max. */
static void test_who_wants_less_gets_less(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "process_resident_memory_bytes ");
    assert_null(strstr(f->reply.body.ptr, "\nkarpenter_nodes_allocatable"));
    assert_null(strstr(f->reply.body.ptr, "\nkarpenter_pods_state"));
}

static void test_fewer_pods(void **state)
{
    struct fixture *f = *state;
    ask(f, HTTP_METRICS, "GET", "/metrics", NULL);
    says(f, 200, "\nkarpenter_nodes_allocatable");
    says(f, 200, "\nstowage_metrics_pods_left_out 1\n");
    assert_null(strstr(f->reply.body.ptr, "\nkarpenter_pods_state"));
}

/* --- memory --- */

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak)); /* where malloc is the sanitizer's */

static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return __sanitizer_get_current_allocated_bytes != NULL ? __sanitizer_get_current_allocated_bytes()
                                                           : m.uordblks + m.hblkhd;
}

/* Calls of five megabytes take a hundred of a loop's memory, which an idle loop gives back. */
static void test_large_calls_leave_nothing_behind(void **state)
{
    enum { NODES = 150000, MEBIBYTE = 1 << 20 };
    struct fixture *f = *state;
    struct buf names = {0};
    for (int i = 0; i < NODES; i++)
        buf_addf(&names, "\"NodeNames%06d of a large cluster\",", i);
    size_t before = in_use();
    struct buf body = {0};
    buf_addf(&body, "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},\"NodeNames\":[%.*s\"n1\"]}",
             SPAN_ARG(buf_span(&names)));
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter", body.ptr);
    says(f, 200, "\"n1\"");
    ask(f, HTTP_WEBHOOK, "POST", "/admission/validate", body.ptr);
    buf_release(&body);
    buf_release(&f->reply.body);
    assert_true(in_use() > before + (size_t)50 * MEBIBYTE);
    f->hooks.tick(f->scratch);
    assert_true(in_use() < before + HTTP_KEEP_BYTES);
    buf_release(&names);
    ask(f, HTTP_EXTENDER, "POST", "/scheduler/filter",
        "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},\"NodeNames\":[\"n1\"]}");
    says(f, 200, "\"n1\"");
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_explain),
        ROW(test_explain_while_a_list_is_unconfirmed),
        ROW(test_who_is_put_off),
        ROW(test_drift_is_paused),
        ROW(test_split_by_webhook), ROW(test_extender), ROW(test_held_room_follows_what_is_published),
        ROW(test_samples_are_counted), ROW(test_large_calls_leave_nothing_behind),
        ROW(test_extender_errors), ROW(test_webhook),
        ROW(test_probes), ROW(test_log_level), ROW(test_late_answers_are_counted), ROW(test_page), ROW(test_recommended),
        ROW(test_explain_move), ROW(test_fleet), ROW(test_one_price), ROW(test_pods), ROW(test_history), ROW(test_live),
        ROW(test_dashboards_find_what_they_ask_for),
        ROW(test_only_the_leader_tells_of_the_cluster),
        cmocka_unit_test_setup_teardown(test_who_wants_less_gets_less, setup_without, teardown),
        cmocka_unit_test_setup_teardown(test_fewer_pods, setup_few, teardown),
        cmocka_unit_test_setup_teardown(test_contention_is_counted, setup_booking, teardown),
        cmocka_unit_test_setup_teardown(test_attempts_that_came_to_nothing_are_counted, setup_booking, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
