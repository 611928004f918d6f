/* bench_page: what an open page costs the thread that serves it, and how much it is told (server/page/board.h).
 *
 *   bench_page [NODES [PODS]]   (5000 100000)
 *
 * The first look writes every node. Then a hundred pods are others, and all rows count as others too, as after a node came
 * or went: every node is written again, and a hundred are told. Then a look at a world whose rows are known to be the same, and
 * what a reader asks for who opens a workload's pods. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/page/board.h"
#include "server/page/pods.h"
#include "tests/planner/support_snapshot.h"

enum { NODES = 5000, PODS = 100000, WORKLOADS = 400, OTHERS = 100 };

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
    page_free(page);
    store_free(s);
    buf_release(&json);
    return 0;
}
