/* What strangers may send to the webhook and the extender, from bytes on a connection to the reply: the right status, and
 * the next request on that connection, and others', are answered as ever. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "certs/certs.h"
#include "server/clock.h"
#include "server/routes.h"
#include "support_client.h"
#include "support_view.h"

struct fixture {
    struct arena a;
    struct view view;
    struct cert_pair ca, serving, client;
    struct client_tls tls;
    struct tls *server_tls;
    struct symtab *syms;
    struct label_rules labels;
    struct webhook_rules rules;
    struct metrics *metrics;
    struct health *health;
    struct page *page;
    struct extender_sources sources;
    struct routes *routes;
    struct http_server *server;
};

static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE};
static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};

static bool leads(void *user, mono_ms now)
{
    (void)user;
    (void)now;
    return true;
}

static void issue(struct fixture *f, enum cert_purpose purpose, struct cert_pair *out)
{
    static const struct span names[] = {SPAN_INIT("127.0.0.1"), SPAN_INIT("localhost")};
    struct cert_subject s = {SPAN("test"), purpose, names, 2, 0};
    struct err err;
    assert_true(authority_issue(&f->a, &f->ca, &s, clock_wall(), out, &err));
}

static int setup(void **state)
{
    struct fixture *f = mem_new(sizeof(*f));
    struct err err;
    arena_init(&f->a, 0);
    view_open(&f->view, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n", "");
    assert_true(authority_new(&f->a, clock_wall(), CERTS_CA_LIFE, &f->ca, &err));
    issue(f, CERT_SERVER, &f->serving);
    issue(f, CERT_CLIENT, &f->client);
    f->tls = (struct client_tls){&f->client, f->ca.cert};
    f->server_tls = tls_new(NULL, NULL);
    assert_true(tls_swap(f->server_tls, &(struct tls_pem){f->serving.cert, f->serving.key, f->ca.cert, {NULL, 0}}, &err));
    f->syms = kube_symtab_new();
    f->labels = (struct label_rules){{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    f->rules = (struct webhook_rules){.labels = &f->labels, .syms = f->syms};
    f->metrics = metrics_new();
    f->health = health_new();
    f->page = page_new();
    f->sources = (struct extender_sources){.snapshots = store_share(f->view.store), .places = &f->view.places, .leads = leads};
    f->routes = routes_new(&(struct routes_config){.sources = &f->sources, .metrics = f->metrics, .health = f->health, .page = f->page,
                                                   .rules = &f->rules, .no_census = true});
    struct http_server_config config = {.table = routes_table(f->routes), .tls = f->server_tls, .loops = 2,
                                        .scratch = routes_scratch(f->routes),
                                        .listen = {[HTTP_WEBHOOK] = "127.0.0.1:0", [HTTP_EXTENDER] = "127.0.0.1:0"}};
    if (!http_server_new(&config, &f->server, &err))
        fail_msg("%s", err.msg);
    http_server_start(f->server);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_free(f->server);
    tls_free(f->server_tls);
    routes_free(f->routes);
    page_free(f->page);
    health_free(f->health);
    metrics_free(f->metrics);
    symtab_unref(f->syms);
    view_close(&f->view);
    arena_release(&f->a);
    free(f);
    return 0;
}

#define REVIEW_HEAD "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"u-1\","
#define REVIEW REVIEW_HEAD "\"operation\":\"CREATE\",\"object\":{}}}"
#define ARGS "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"uid-p\"}},\"Nodes\":null,\"NodeNames\":[\"n1\"]}"
#define VALIDATE "/admission/validate"
#define MUTATE "/admission/mutate"
#define FILTER "/scheduler/filter"

static struct client_conn *open_to(struct fixture *f, enum http_listener l)
{
    struct client_conn *c = client_open(http_server_port(f->server, l), &f->tls);
    assert_non_null(c);
    return c;
}

static void expect(struct client_conn *c, const char *label, int status, const char *says)
{
    struct client_reply r = {.status = 0};
    client_read_reply(c, false, &r);
    if (r.status != status || strstr(r.body, says) == NULL)
        fail_msg("%s: %d %s", label, r.status, r.body);
}

static void send(struct fixture *f, struct client_conn *c, const char *path, const char *headers, struct span body)
{
    client_send(c, arena_printf(&f->a, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n", path, headers, body.len));
    client_send(c, body);
}

static void others_are_served(struct fixture *f, struct client_conn *same, enum http_listener l, const char *label)
{
    const char *path = l == HTTP_WEBHOOK ? VALIDATE : FILTER;
    struct span good = l == HTTP_WEBHOOK ? SPAN(REVIEW) : SPAN(ARGS);
    const char *says = l == HTTP_WEBHOOK ? "\"uid\":\"u-1\",\"allowed\":true" : "\"n1\"";
    struct client_conn *another = open_to(f, l);
    if (same != NULL) {
        send(f, same, path, "", good);
        expect(same, label, 200, says);
    }
    send(f, another, path, "", good);
    expect(another, label, 200, says);
    client_close(another);
}

/* `depth` lists in each other where an object may be. */
static struct span deep(struct arena *a, const char *before, uint32_t depth, const char *after)
{
    struct buf b = {0};
    buf_add(&b, span_of(before));
    for (uint32_t i = 0; i < depth; i++)
        buf_add_char(&b, '[');
    for (uint32_t i = 0; i < depth; i++)
        buf_add_char(&b, ']');
    buf_add(&b, span_of(after));
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

#define JSON "Content-Type: application/json\r\n"
static void strange_bodies(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label;
        enum http_listener to;
        const char *path, *headers;
        struct span body;
        int status;
        const char *says;
    } rows[] = {
        {"JSON with a parameter", HTTP_WEBHOOK, VALIDATE, "Content-Type: application/json; charset=utf-8\r\n", SPAN_INIT(REVIEW), 200, "allowed"},
        {"another type", HTTP_WEBHOOK, VALIDATE, "Content-Type: application/x-www-form-urlencoded\r\n", SPAN_INIT(REVIEW), 415, "takes application/json"},
        {"YAML", HTTP_WEBHOOK, MUTATE, "Content-Type: application/yaml\r\n", SPAN_INIT(REVIEW), 415, "takes application/json"},
        {"another type for the extender", HTTP_EXTENDER, FILTER, "Content-Type: text/plain\r\n", SPAN_INIT(ARGS), 415, "takes application/json"},
        {"another version", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT("{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\",\"request\":{\"uid\":\"u\"}}"), 400, "v1beta1"},
        {"another kind", HTTP_WEBHOOK, MUTATE, JSON, SPAN_INIT("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}"), 400, "it should be admission.k8s.io/v1"},
        {"nothing", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT(""), 400, ""},
        {"half of it", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT(REVIEW_HEAD), 400, ""},
        {"two of them", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT(REVIEW REVIEW), 400, ""},
        {"not UTF-8", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT(REVIEW_HEAD "\"namespace\":\"\xC0\xAF\"}}"), 400, "not UTF-8"},
        {"not UTF-8, for a Pod", HTTP_WEBHOOK, MUTATE, JSON, SPAN_INIT(REVIEW_HEAD "\"namespace\":\"\xFF\"}}"), 400, "not UTF-8"},
        {"not UTF-8, for the extender", HTTP_EXTENDER, FILTER, JSON, SPAN_INIT("{\"NodeNames\":[\"\x80\"]}"), 200, "\"Error\":\"line 1: a string is not UTF-8"},
        {"a key twice", HTTP_WEBHOOK, VALIDATE, JSON, SPAN_INIT(REVIEW_HEAD "\"uid\":\"u-2\"}}"), 400, "request.uid: given twice"},
        {"a key of the object twice", HTTP_WEBHOOK, MUTATE, JSON,
         SPAN_INIT(REVIEW_HEAD "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"operation\":\"CREATE\",\"object\":{\"spec\":{\"tolerations\":[],\"tolerations\":[]}}}}"),
         200, "given twice"},
        {"a key twice, for the extender", HTTP_EXTENDER, FILTER, JSON,
         SPAN_INIT("{\"NodeNames\":[\"n1\"],\"NodeNames\":[\"n2\"],\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"u\"}}}"), 200, "\"Error\":\"NodeNames: given twice"},
        {"half of the arguments", HTTP_EXTENDER, FILTER, JSON, SPAN_INIT("{\"Pod\":"), 200, "\"Error\":"},
        {"half of them for a verb without errors", HTTP_EXTENDER, "/scheduler/prioritize", JSON, SPAN_INIT("{\"Pod\":"), 400, ""},
        {"a path that is not", HTTP_WEBHOOK, "/admission", JSON, SPAN_INIT(REVIEW), 404, "has nothing at /admission"},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct client_conn *c = open_to(f, rows[r].to);
        send(f, c, rows[r].path, rows[r].headers, rows[r].body);
        expect(c, rows[r].label, rows[r].status, rows[r].says);
        others_are_served(f, c, rows[r].to, rows[r].label);
        client_close(c);
    }
}

static void deep_and_large_bodies(void **state)
{
    struct fixture *f = *state;
    static const uint32_t depths[] = {90, 1000, 400000}; /* the last is close to a MiB */
    char *large = mem_new(1 << 20);
    for (size_t i = 0; i < COUNT_OF(depths); i++) {
        struct client_conn *c = open_to(f, HTTP_WEBHOOK), *e = open_to(f, HTTP_EXTENDER);
        send(f, c, VALIDATE, JSON, deep(&f->a, REVIEW_HEAD "\"object\":{\"spec\":", depths[i], "}}}"));
        expect(c, "deep", depths[i] < 100 ? 200 : 400, depths[i] < 100 ? "allowed" : "nested more than 100 deep");
        others_are_served(f, c, HTTP_WEBHOOK, "deep");
        send(f, e, FILTER, JSON, deep(&f->a, "{\"NodeNames\":[\"n1\"],\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"web\",\"uid\":\"u\"},\"x\":",
                                      depths[i], "}}"));
        expect(e, "deep", 200, depths[i] < 100 ? "\"n1\"" : "\"Error\":\"line 1: nested more than 100 deep");
        others_are_served(f, e, HTTP_EXTENDER, "deep");
        client_close(c);
        client_close(e);
    }
    memset(large, 'x', 1 << 20);
    for (int i = 0; i < 8; i++) { /* a MiB each, one after the other by one connection */
        struct client_conn *c = open_to(f, HTTP_WEBHOOK);
        for (int k = 0; k < 2; k++) {
            send(f, c, k == 0 ? VALIDATE : MUTATE, JSON,
                 arena_printf(&f->a, REVIEW_HEAD "\"object\":{\"x\":\"%.*s\"}}}", 1 << 20, large));
            expect(c, "large", 200, "\"uid\":\"u-1\",\"allowed\":true");
        }
        others_are_served(f, c, HTTP_WEBHOOK, "large");
        client_close(c);
    }
    free(large);
}

/* Several requests at once are answered one after the other, in their order, also those that are wrong. */
static void pipelined(void **state)
{
    struct fixture *f = *state;
    struct client_conn *c = open_to(f, HTTP_WEBHOOK);
    struct buf b = {0};
    static const struct span bodies[] = {SPAN_INIT(REVIEW_HEAD "\"namespace\":\"a\"}}"), SPAN_INIT("{"), SPAN_INIT(REVIEW)};
    for (int i = 0; i < 30; i++) {
        struct span body = bodies[i % 3];
        buf_addf(&b, "POST " VALIDATE " HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%.*s", body.len, SPAN_ARG(body));
    }
    client_send(c, buf_span(&b));
    for (int i = 0; i < 30; i++)
        expect(c, "pipelined", i % 3 == 1 ? 400 : 200, i % 3 == 1 ? "" : "\"uid\":\"u-1\",\"allowed\":true");
    others_are_served(f, c, HTTP_WEBHOOK, "pipelined");
    client_close(c);
    buf_release(&b);
}

/* Who goes away in the middle of a request leaves nothing behind, wherever the cut is. */
static void cut_senders(void **state)
{
    struct fixture *f = *state;
    struct span whole = SPAN("POST " VALIDATE " HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n" REVIEW_HEAD);
    for (size_t at = 1; at < whole.len; at += 9) {
        struct client_conn *c = open_to(f, HTTP_WEBHOOK), *e = open_to(f, HTTP_EXTENDER);
        client_send(c, (struct span){whole.ptr, at});
        client_send(e, (struct span){whole.ptr, at});
        client_close(c);
        client_close(e);
    }
    others_are_served(f, NULL, HTTP_WEBHOOK, "cut");
    others_are_served(f, NULL, HTTP_EXTENDER, "cut");
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {ROW(strange_bodies), ROW(deep_and_large_bodies), ROW(pipelined), ROW(cut_senders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
