/* bench_page: what an open page costs the thread that serves it, and how much it is told (server/page/board.h).
 *
 *   bench_page [NODES [PODS]]   (5000 100000)
 *
 * The first look writes every node. Then a hundred pods are others, and all rows count as others too, as after a node came
 * or went: every node is written again, and a hundred are told. Then a look at a world whose rows are known to be the same, and
 * what a reader asks for who opens a workload's pods. Last a probe beside a reader of a fleet in which nodes come all the time: how
 * long it waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/page/pods.h"
#include "server/routes.h"
#include "tests/planner/support_snapshot.h"
#include "tests/server/support_client.h"

enum { NODES = 5000, PODS = 100000, WORKLOADS = 400, OTHERS = 100, PROBED_MS = 15000, CHANGED_MS = 200 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void put(struct store *s, struct buf *json)
{
    struct err err;
    if (!snapshot_store_tell(s, WATCH_PUT, buf_span(json), &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    buf_clear(json);
}

static void put_node(struct store *s, struct buf *b, unsigned i)
{
    buf_addf(b,
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%05u\",\"labels\":{"
             "\"karpenter.sh/nodepool\":\"pool-%u\",\"node.kubernetes.io/instance-type\":\"c-16x\","
             "\"topology.kubernetes.io/zone\":\"zone-%u\"}},"
             "\"status\":{\"allocatable\":{\"cpu\":\"16\",\"memory\":\"64Gi\",\"pods\":\"110\"}}}",
             i, i % 4, i % 3);
    put(s, b);
}

static void put_pod(struct store *s, struct buf *b, unsigned i, unsigned nodes, unsigned milli)
{
    unsigned w = (i + i / nodes * 131) % WORKLOADS; /* each node has others */
    buf_addf(b,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"app-%u-5d9f-%06u\",\"namespace\":\"ns-%u\","
             "\"uid\":\"u-%u\",\"labels\":{\"pod-template-hash\":\"5d9f\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
             "\"kind\":\"ReplicaSet\",\"name\":\"app-%u-5d9f\",\"uid\":\"r-%u\",\"controller\":true}]},\"spec\":{"
             "\"nodeName\":\"node-%05u\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%um\"}}}]},"
             "\"status\":{\"phase\":\"Running\"}}",
             w, i, w % 20, i, w, w, i % nodes, milli);
    put(s, b);
}

static void look(struct board *b, struct page *page, const struct snapshot *s, struct board_reader *r, const char *what)
{
    static uint64_t version;
    struct page_view view = {.snapshot = s, .world = s->derived, .now = 1795176000000};
    struct buf told = {0};
    double begun = now_ms();
    board_look(b, &(struct board_sources){.page = page, .view = view, .version = ++version}, 0);
    double looked = now_ms();
    board_tell(b, page, r, &told);
    printf("%-34s look %6.1f ms, tell %5.1f ms, %9zu bytes\n", what, looked - begun, now_ms() - looked, told.len);
    buf_release(&told);
}

static void ask(const struct snapshot *s, struct pods_asked q, const char *what)
{
    struct buf told = {0};
    double begun = now_ms();
    pods_json(s, s->derived, &q, &told);
    printf("%-34s asked %5.1f ms, %21zu bytes\n", what, now_ms() - begun, told.len);
    buf_release(&told);
}

static void read_all(struct page *page, const struct snapshot *s, const char *what)
{
    struct page_view view = {.snapshot = s, .world = s->derived, .now = 1795176000000};
    struct buf html = {0};
    double begun = now_ms();
    page_html(page, &view, &html);
    printf("%-34s made %6.1f ms, %21zu bytes\n", what, now_ms() - begun, html.len);
    buf_release(&html);
}

static struct snapshot *newest(struct store *s)
{
    store_publish(s, 0);
    return (struct snapshot *)share_take(store_share(s));
}

static void *read_page(void *user)
{
    const int *port = user;
    struct client_conn *c = client_open(*port, NULL);
    client_send(c, SPAN("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    client_read_until(c, "not in it"); /* till the server ends */
    client_close(c);
    return NULL;
}

static void probe(struct store *s, struct buf *json, int port, unsigned nodes)
{
    static struct client_reply r;
    struct client_conn *c = client_open(port, NULL);
    double worst = 0, sum = 0, first = now_ms();
    unsigned probes = 0, changes = 0;
    for (double begun; (begun = now_ms()) < first + PROBED_MS; probes++) {
        if (begun > first + changes * CHANGED_MS) {
            put_node(s, json, nodes + changes++);
            store_publish(s, 0);
            begun = now_ms();
        }
        client_ask(c, "GET", "/livez", (struct span){NULL, 0}, &r);
        double took = now_ms() - begun;
        worst = took > worst ? took : worst;
        sum += took;
    }
    printf("%-34s mean %6.2f ms, worst %5.1f ms\n", "a probe meanwhile", sum / probes, worst);
    client_close(c);
}

static void serve(struct store *s, struct page *page, struct buf *json, unsigned nodes)
{
    static const struct webhook_rules none;
    struct share places;
    struct err err;
    struct http_server *server;
    struct metrics *m = metrics_new();
    struct health *h = health_new();
    share_init(&places, NULL);
    struct extender_sources sources = {.snapshots = store_share(s), .places = &places};
    struct routes *routes = routes_new(&(struct routes_config){.sources = &sources, .metrics = m, .health = h, .page = page, .rules = &none});
    struct http_server_config config = {.table = routes_table(routes),
                                        .listen = {[HTTP_PROBES] = "127.0.0.1:0", [HTTP_PAGE] = "127.0.0.1:0"},
                                        .loops = 1,
                                        .scratch = routes_scratch(routes)};
    if (!http_server_new(&config, &server, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    http_server_start(server);
    int port = http_server_port(server, HTTP_PAGE);
    pthread_t reader;
    pthread_create(&reader, NULL, read_page, &port);
    probe(s, json, http_server_port(server, HTTP_PROBES), nodes);
    http_server_stop(server, 1000);
    pthread_join(reader, NULL);
    http_server_free(server);
    routes_free(routes);
    health_free(h);
    metrics_free(m);
    share_release(&places);
}

int main(int argc, char **argv)
{
    unsigned nodes = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : NODES;
    unsigned pods = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : PODS;
    struct store *s = snapshot_store_new();
    struct page *page = page_new();
    struct board *b = board_new();
    struct board_reader r = {0};
    struct buf json = {0};
    for (unsigned i = 0; i < nodes; i++)
        put_node(s, &json, i);
    for (unsigned i = 0; i < pods; i++)
        put_pod(s, &json, i, nodes, 100 + i % 5 * 100);
    struct snapshot *first = newest(s);
    printf("%u nodes, %u pods\n", nodes, pods);
    look(b, page, first, &r, "everything");
    for (unsigned i = 0; i < OTHERS && i < pods; i++)
        put_pod(s, &json, i, nodes, 50);
    struct snapshot *second = newest(s);
    look(b, page, second, &r, "a hundred pods, rows are others");
    look(b, page, second, &r, "nothing, rows are the same");
    read_all(page, second, "the document");
    ask(second, (struct pods_asked){.workload = SPAN("Deployment ns-7/app-7")}, "names of a workload");
    ask(second, (struct pods_asked){.workload = SPAN("Deployment ns-7/app-7"), .find = SPAN("9")}, "names with a word in them");
    ask(second, (struct pods_asked){.node = SPAN("node-00007")}, "names on a node");
    board_free(b);
    shared_unref(&first->shared);
    shared_unref(&second->shared);
    serve(s, page, &json, nodes);
    page_free(page);
    store_free(s);
    buf_release(&json);
    return 0;
}
