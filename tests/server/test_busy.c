/* A busy server beside a writer that replaces snapshots and places all the time: every answer is whole
 * and true to some moment. ThreadSanitizer and AddressSanitizer watch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/clock.h"
#include "server/routes.h"
#include "support_client.h"
#include "support_view.h"

enum { CALLERS = 4, PODS = 8, ANSWERS = 200 /* that each caller gets while the writer works */, LOOKS = 20 };

static const char CLUSTER[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: web, uid: uid-p}\n"
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
    "Unschedulable}]}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n";

struct busy {
    struct view view;
    struct metrics *metrics;
    struct health *health;
    struct page *page;
    struct extender_sources sources;
    struct routes *routes;
    struct http_server *server;
    _Atomic(bool) done;
};

struct caller {
    struct busy *b;
    uint32_t number;
    _Atomic(uint64_t) answers;
    uint64_t wrong;
    _Atomic(bool) ended;
};

static bool leading(void *user, mono_ms now)
{
    (void)user;
    (void)now;
    return true;
}

/* The pod is planned for n1 or for n2, whichever stands in the plan of the moment: never for both. */
static void ask_filter(struct caller *c, struct client_conn *conn)
{
    static struct client_reply replies[CALLERS];
    struct client_reply *r = &replies[c->number];
    client_ask(conn, "POST", "/scheduler/filter",
               SPAN("{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"p\",\"uid\":\"uid-p\"}},"
                    "\"NodeNames\":[\"n1\",\"n2\"]}"),
               r);
    struct span body = {r->body, r->body_len};
    bool n1 = span_contains(body, SPAN("\"NodeNames\":[\"n1\"]"));
    bool n2 = span_contains(body, SPAN("\"NodeNames\":[\"n2\"]"));
    c->answers++;
    c->wrong += r->status != 200 || n1 == n2;
}

static void ask_page(struct caller *c, struct client_conn *conn, const char *path)
{
    static struct client_reply replies[CALLERS];
    struct client_reply *r = &replies[c->number];
    client_ask(conn, "GET", path, (struct span){NULL, 0}, r);
    c->answers++;
    c->wrong += r->status != 200;
}

static void *call(void *user)
{
    struct caller *c = user;
    bool page = c->number == CALLERS - 1;
    struct client_conn *conn =
        client_open(http_server_port(c->b->server, page ? HTTP_PAGE : HTTP_EXTENDER), NULL);
    while (conn != NULL && !atomic_load(&c->b->done)) {
        if (page)
            ask_page(c, conn, c->answers % 2 == 0 ? "/" : "/plan");
        else
            ask_filter(c, conn);
    }
    if (conn == NULL)
        c->wrong++;
    else
        client_close(conn);
    atomic_store(&c->ended, true);
    return NULL;
}

/* Opens the page again and again, while looks are taken for it; not as often as pages can be open, since a server does not see
 * at once that one was closed. */
static void *read_live(void *user)
{
    struct caller *c = user;
    for (int i = 0; i < LOOKS; i++) {
        struct client_conn *conn = client_open(http_server_port(c->b->server, HTTP_PAGE), NULL);
        client_send(conn, SPAN("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        c->wrong += !client_read_until(conn, "event: begin\n") || !client_read_until(conn, "{\"n\":\"n2\",");
        client_close(conn);
    }
    c->answers = ANSWERS;
    return NULL;
}

static bool all_served(struct caller *callers)
{
    for (uint32_t i = 0; i <= CALLERS; i++)
        if (!atomic_load(&callers[i].ended) && atomic_load(&callers[i].answers) < ANSWERS)
            return false;
    return true;
}

/* One change after the other, as a watch brings them: a pod comes, the oldest goes, the plan turns. */
static void change(struct busy *b, struct doc_parser *parser, int round)
{
    char json[256];
    const struct doc *doc;
    struct err err;
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"namespace\":\"web\",\"name\":\"x-%d\",\"uid\":\"x-%d\",\"labels\":"
             "{\"round\":\"%d\"}},\"spec\":{\"nodeName\":\"n2\",\"containers\":[]}}",
             round % PODS, round, round);
    assert_true(doc_parse_json(parser, span_of(json), &doc, &err));
    store_event(b->view.store, KIND_POD, WATCH_DELETE, doc_root(doc));
    store_event(b->view.store, KIND_POD, WATCH_PUT, doc_root(doc));
    store_publish(b->view.store, round);
    share_publish(&b->view.places, &view_read_places(round % 2 == 0 ? "p n1" : "p n2")->shared);
    share_reap(&b->view.places);
}

static void open_server(struct busy *b)
{
    view_open(&b->view, CLUSTER, "p n1");
    b->metrics = metrics_new();
    b->health = health_new();
    b->page = page_new();
    static const struct webhook_rules none;
    b->sources = (struct extender_sources){.snapshots = store_share(b->view.store),
                                           .places = &b->view.places,
                                           .leads = leading};
    b->routes = routes_new(&(struct routes_config){.sources = &b->sources,
                                                   .metrics = b->metrics,
                                                   .health = b->health,
                                                   .page = b->page,
                                                   .rules = &none});
    struct err err;
    struct http_server_config config = {
        .table = routes_table(b->routes),
        .listen = {[HTTP_EXTENDER] = "127.0.0.1:0", [HTTP_PAGE] = "127.0.0.1:0"},
        .loops = 2,
        .scratch = routes_scratch(b->routes),
        .observer = routes_observer(b->routes)};
    if (!http_server_new(&config, &b->server, &err))
        fail_msg("%s", err.msg);
    http_server_start(b->server);
}

static void close_server(struct busy *b)
{
    http_server_free(b->server);
    routes_free(b->routes);
    page_free(b->page);
    health_free(b->health);
    metrics_free(b->metrics);
    view_close(&b->view);
}

static void test_answers_stay_whole(void **state)
{
    (void)state;
    struct busy b = {.done = false};
    open_server(&b);
    static struct caller callers[CALLERS + 1];
    pthread_t threads[CALLERS + 1];
    for (uint32_t i = 0; i <= CALLERS; i++) {
        callers[i].b = &b;
        callers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, i < CALLERS ? call : read_live, &callers[i]), 0);
    }
    struct doc_parser *parser = doc_parser_new();
    for (int round = 0; !all_served(callers); round++)
        change(&b, parser, round);
    doc_parser_free(parser);
    atomic_store(&b.done, true);
    for (uint32_t i = 0; i <= CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
        assert_true(atomic_load(&callers[i].answers) >= ANSWERS);
    }
    close_server(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_stay_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
