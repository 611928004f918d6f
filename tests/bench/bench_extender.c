/* bench_extender: how long the extender takes to answer, by itself: from the bytes of a question to the
 * bytes of the answer, filter and prioritize together, in a process without a listener.
 *
 *   bench_extender [NODES…]   (5000 15000)
 *
 * A cluster of so many nodes, two pods bound on each, places for as many waiting pods as a fifth of the
 * nodes, and 200 bookings in the ledger. Asked about all nodes: for a planned pod, and for one that is not, so
 * that every name is judged; prioritize is asked about every name too, as for a pod that prefers nodes; and for a pod
 * that is refused, since the room of every node is held. Medians and the 99th of a hundred of 2,000 questions, and how
 * many bytes the last one and its answer had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "extender/extender.h"
#include "tests/planner/support_snapshot.h"

enum { QUESTIONS = 2000 };

static void put(struct store *s, struct doc_parser *parser, enum kind kind, const char *format,
                unsigned number, unsigned node)
{
    char text[1024];
    struct err err;
    const struct doc *doc;
    int n = snprintf(text, sizeof(text), format, number, number, node);
    if (!doc_parse_json(parser, (struct span){text, (size_t)n}, &doc, &err)) {
        fprintf(stderr, "bench_extender: %s\n", err.msg);
        exit(1);
    }
    store_event(s, kind, WATCH_PUT, doc_root(doc));
}

static const char node_json[] =
    "{\"metadata\":{\"name\":\"node-%05u\",\"uid\":\"node-%05u\",\"labels\":{\"kubernetes.io/os\":\"linux\"}},"
    "\"status\":{\"allocatable\":{\"cpu\":\"16\",\"memory\":\"64Gi\",\"pods\":\"110\"}}}";
static const char bound_json[] =
    "{\"metadata\":{\"namespace\":\"web\",\"name\":\"bound-%06u\",\"uid\":\"bound-%06u\"},\"spec\":{"
    "\"nodeName\":\"node-%05u\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
    "\"cpu\":\"2\",\"memory\":\"4Gi\"}}}]},\"status\":{\"phase\":\"Running\"}}";
static const char waiting_json[] =
    "{\"metadata\":{\"namespace\":\"web\",\"name\":\"waiting-%06u\",\"uid\":\"waiting-%06u\"},\"spec\":{"
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"}}}]},"
    "\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
    "\"reason\":\"Unschedulable\"}]}}";

/* All that the bound ones leave of a node. */
static const char large_json[] =
    "{\"metadata\":{\"namespace\":\"web\",\"name\":\"large-%06u\",\"uid\":\"large-%06u\"},\"spec\":{"
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"12\",\"memory\":\"4Gi\"}}}]},"
    "\"status\":{\"phase\":\"Pending\"}}";

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct place *)a)->uid, ((const struct place *)b)->uid);
}

/* For so many pods of that name, each on another node; pod 0 has none. */
static struct places *make_places(const char *name, unsigned nodes, unsigned count)
{
    struct places *p = places_begin(count, 0);
    struct place *items = (struct place *)(uintptr_t)p->items;
    for (unsigned i = 0; i < count; i++) {
        struct span pod = arena_printf(&p->texts->arena, "%s-%06u", name, i + 1);
        items[p->count++] =
            (struct place){.uid = pod, .ns = SPAN("web"), .pod = pod,
                           .target = arena_printf(&p->texts->arena, "node-%05u", (i * 5 + i * 5 / nodes) % nodes)};
    }
    qsort(items, p->count, sizeof(*items), by_uid);
    return p;
}

static void put_question(struct buf *b, unsigned pod, unsigned nodes)
{
    buf_addf(b, "{\"Pod\":");
    buf_addf(b, waiting_json, pod, pod);
    buf_addf(b, ",\"Nodes\":null,\"NodeNames\":[");
    for (unsigned i = 0; i < nodes; i++)
        buf_addf(b, "%s\"node-%05u\"", i != 0 ? "," : "", i);
    buf_addf(b, "]}");
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench {
    struct extender_view view;
    struct extender_scratch scratch;
    struct buf reply;
};

static void ask(struct bench *b, const struct buf *question, bool filter)
{
    struct extender_verdict verdict;
    struct err err;
    buf_clear(&b->reply);
    if (!(filter ? extender_filter : extender_prioritize)(&b->scratch, &b->view, buf_span(question),
                                                          &b->reply, &verdict, &err)) {
        fprintf(stderr, "bench_extender: %s\n", err.msg);
        exit(1);
    }
}

static void measure(struct bench *b, const char *what, unsigned pod, unsigned nodes, bool both)
{
    static double took[QUESTIONS];
    struct buf question = {0};
    put_question(&question, pod, nodes);
    for (int i = 0; i < QUESTIONS; i++) {
        b->view.now += 5; /* 200 questions a second */
        double begin = now_us();
        ask(b, &question, true);
        if (both)
            ask(b, &question, false);
        took[i] = now_us() - begin;
    }
    qsort(took, QUESTIONS, sizeof(*took), by_size);
    printf("extender  %6u names  %-34s median %7.1f us  p99 %7.1f us  %5.1f ns a name  %6zu bytes -> %zu\n", nodes, what,
           took[QUESTIONS / 2], took[QUESTIONS * 99 / 100], took[QUESTIONS / 2] * 1e3 / nodes, question.len,
           b->reply.len);
    buf_release(&question);
}

static void show_newest(struct bench *b, struct store *store)
{
    store_publish(store, b->view.now);
    if (b->view.snapshot != NULL)
        shared_unref((struct shared *)(uintptr_t)&b->view.snapshot->shared);
    b->view.snapshot = (const struct snapshot *)share_take(store_share(store));
    b->view.world = b->view.snapshot->derived;
}

/* Each time after another pod has come, as when the first of a thread asks about a new snapshot; five pods
 * wait for each node. */
static void measure_fresh(struct bench *b, struct store *store, struct doc_parser *parser, unsigned nodes)
{
    enum { FRESH = 200 };
    static double took[FRESH];
    struct buf question = {0};
    struct places *places = make_places("waiting", nodes, nodes * 5);
    for (unsigned i = nodes / 5 + 1; i <= nodes * 5; i++)
        put(store, parser, KIND_POD, waiting_json, i, 0);
    b->view.places = places;
    put_question(&question, 0, nodes);
    for (int i = 0; i < FRESH; i++) {
        b->view.now += 50;
        put(store, parser, KIND_POD, waiting_json, nodes * 5 + 1 + (unsigned)i, 0);
        show_newest(b, store);
        double begin = now_us();
        ask(b, &question, true);
        took[i] = now_us() - begin;
    }
    qsort(took, FRESH, sizeof(*took), by_size);
    printf("extender  %6u names  %-34s median %7.1f us  p99 %7.1f us\n", nodes,
           "first of a snapshot, filter", took[FRESH / 2], took[FRESH * 99 / 100]);
    b->view.places = NULL;
    places_destroy(&places->shared);
    buf_release(&question);
}

/* A pod of 12 cores has its place on each node, which is all that is free. */
static void measure_refused(struct bench *b, struct store *store, struct doc_parser *parser, unsigned nodes)
{
    struct places *places = make_places("large", nodes, nodes);
    for (unsigned i = 1; i <= nodes; i++)
        put(store, parser, KIND_POD, large_json, i, 0);
    show_newest(b, store);
    b->view.places = places;
    measure(b, "refused, filter", 0, nodes, false);
    b->view.places = NULL;
    places_destroy(&places->shared);
}

static void run(unsigned nodes)
{
    struct store *store = snapshot_store_new();
    struct doc_parser *parser = doc_parser_new();
    for (unsigned i = 0; i < nodes; i++) {
        put(store, parser, KIND_NODE, node_json, i, 0);
        put(store, parser, KIND_POD, bound_json, i * 2, i);
        put(store, parser, KIND_POD, bound_json, i * 2 + 1, i);
    }
    for (unsigned i = 0; i <= nodes / 5; i++)
        put(store, parser, KIND_POD, waiting_json, i, 0);
    struct places *places = make_places("waiting", nodes, nodes / 5);
    struct bench b = {.view = {.places = places, .ledger = ledger_new(), .now = 1000}};
    show_newest(&b, store);
    extender_scratch_init(&b.scratch);
    /* a planned pod that is sent to its node gets no second call: the scheduler has one node left */
    measure(&b, "planned pod, filter", 1, nodes, false);
    measure(&b, "not planned, filter", 0, nodes, false);
    measure(&b, "not planned, filter and prioritize", 0, nodes, true);
    measure_refused(&b, store, parser, nodes);
    measure_fresh(&b, store, parser, nodes);
    extender_scratch_release(&b.scratch);
    buf_release(&b.reply);
    ledger_free(b.view.ledger);
    places_destroy(&places->shared);
    shared_unref((struct shared *)(uintptr_t)&b.view.snapshot->shared);
    doc_parser_free(parser);
    store_free(store);
}

int main(int argc, char **argv)
{
    static const unsigned standard[] = {5000, 15000};
    if (argc < 2)
        for (size_t i = 0; i < COUNT_OF(standard); i++)
            run(standard[i]);
    for (int i = 1; i < argc; i++)
        run((unsigned)strtoul(argv[i], NULL, 10));
    return 0;
}
