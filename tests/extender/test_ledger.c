/* The ledger, who follows it by its news, and the desk that is laid out from it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "support_cluster.h"

enum { SWEPT_WITHIN = 100 /* ms after its time is up a booking is gone */ };

static bool book(struct ledger *l, uint64_t id, const uint64_t *nodes, uint32_t count, mono_ms now)
{
    const struct booking b = {.uid = SPAN("u"), .ns = SPAN("web"), .name = SPAN("p"), .id = id,
                              .nodes = nodes, .node_count = count};
    return ledger_book(l, &b, now);
}

/* --- who reads the news knows what stands --- */

enum { IDS = 40, LEARNERS = 3 };

struct learner { /* what a desk would know */
    uint64_t version, first_node[IDS + 1]; /* by id; 0: not booked */
};

static void learn(struct learner *x, struct ledger *l, mono_ms now)
{
    struct arena a;
    struct ledger_news news;
    arena_init(&a, 0);
    if (ledger_news(l, &x->version, now, &a, &news)) {
        if (news.whole)
            memset(x->first_node, 0, sizeof(x->first_node));
        for (uint32_t i = 0; i < news.changed_count; i++)
            x->first_node[news.changed[i]] = 0;
        for (uint32_t i = 0; i < news.booking_count; i++)
            x->first_node[news.bookings[i].id] = news.bookings[i].nodes[0];
    }
    arena_release(&a);
}

struct truth {
    uint64_t node[IDS + 1];
    mono_ms until[IDS + 1];
};

static unsigned differences(const struct truth *t, const struct learner *x, mono_ms now)
{
    unsigned found = 0;
    for (uint64_t id = 1; id <= IDS; id++) {
        bool stands = t->node[id] != 0 && t->until[id] > now;
        bool may_stand = t->node[id] != 0 && t->until[id] > now - SWEPT_WITHIN;
        if (x->first_node[id] == 0)
            found += stands;
        else
            found += !may_stand || x->first_node[id] != t->node[id];
    }
    return found;
}

/* Three learners, one of whom looks so rarely that more has happened than the ledger remembers one by
 * one. `deaf`: forgotten bookings are kept from the truth, so that the learners must seem wrong. */
static unsigned follow(bool deaf)
{
    static const unsigned looks_every[LEARNERS] = {1, 7, 3 * LEDGER_CHANGES};
    struct ledger *l = ledger_new();
    struct learner learners[LEARNERS] = {{0}};
    struct truth t = {{0}, {0}};
    mono_ms now = 1000;
    unsigned wrong = 0;
    struct dice d = {7};
    for (unsigned step = 1; step <= 20 * LEDGER_CHANGES; step++) {
        uint64_t id = 1 + roll(&d, IDS);
        uint64_t nodes[3] = {1 + roll(&d, 1000), 2000, 3000};
        uint32_t count = 1 + roll(&d, 3);
        if (roll(&d, 3) != 0) {
            assert_true(book(l, id, nodes, count, now));
            t.node[id] = nodes[0];
            t.until[id] = now + (count == 1 ? LEDGER_ONE_MS : LEDGER_MANY_MS);
        } else {
            ledger_forget(l, id);
            if (!deaf)
                t.node[id] = 0;
        }
        now += roll(&d, roll(&d, 100) == 0 ? 2 * LEDGER_MANY_MS : 20);
        for (unsigned i = 0; i < LEARNERS; i++)
            if (step % looks_every[i] == 0) {
                learn(&learners[i], l, now);
                wrong += differences(&t, &learners[i], now);
            }
    }
    ledger_free(l);
    return wrong;
}

static void test_news_tell_what_stands(void **state)
{
    (void)state;
    assert_int_equal(follow(false), 0);
    assert_true(follow(true) > 0);
}

static void test_news_are_few_or_all(void **state)
{
    (void)state;
    static const struct {
        uint32_t changes;
        bool whole;
    } rows[] = {{1, false}, {LEDGER_CHANGES, false}, {LEDGER_CHANGES + 1, true}};
    const uint64_t node = 5;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ledger *l = ledger_new();
        struct arena a;
        struct ledger_news news;
        uint64_t version = 0;
        arena_init(&a, 0);
        assert_true(ledger_news(l, &version, 0, &a, &news)); /* all of nothing */
        assert_true(news.whole && news.booking_count == 0);
        assert_false(ledger_news(l, &version, 0, &a, &news));
        for (uint32_t n = 0; n < rows[i].changes; n++)
            assert_true(book(l, n + 1, &node, 1, 0));
        assert_true(ledger_news(l, &version, 0, &a, &news));
        assert_int_equal(news.whole, rows[i].whole);
        assert_int_equal(news.booking_count, rows[i].changes);
        assert_false(ledger_news(l, &version, 0, &a, &news));
        arena_release(&a);
        ledger_free(l);
    }
}

/* Whoever looks away while a booking is replaced twice hears of it once: who put it twice would hold twice. */
static void test_news_tell_each_booking_once(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    struct arena a;
    struct ledger_news news;
    uint64_t version = 0;
    const uint64_t nodes[] = {5, 6};
    arena_init(&a, 0);
    assert_true(ledger_news(l, &version, 0, &a, &news));
    assert_true(book(l, 1, nodes, 2, 0));
    ledger_forget(l, 1);
    assert_true(book(l, 1, nodes, 2, 0));
    assert_true(book(l, 1, nodes + 1, 1, 0));
    assert_true(ledger_news(l, &version, 0, &a, &news));
    assert_false(news.whole);
    assert_int_equal(news.booking_count, 1);
    assert_int_equal(news.bookings[0].node_count, 1);
    assert_int_equal(news.bookings[0].nodes[0], 6);
    arena_release(&a);
    ledger_free(l);
}

/* --- what is booked, and for how long --- */

static void test_last_booking_counts(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    struct learner x = {0};
    uint64_t nodes[] = {5, 6};
    assert_true(book(l, 1, nodes, 2, 0));
    assert_true(book(l, 2, nodes + 1, 1, 0));
    nodes[0] = 99; /* it was copied */
    learn(&x, l, 0);
    assert_int_equal(x.first_node[1], 5);
    assert_true(book(l, 1, nodes + 1, 1, 0));
    assert_int_equal(ledger_count(l), 2);
    learn(&x, l, 0);
    assert_int_equal(x.first_node[1], 6);
    ledger_forget(l, 1);
    ledger_forget(l, 1); /* of one that is not there nothing is to be known */
    learn(&x, l, 0);
    assert_int_equal(x.first_node[1], 0);
    assert_int_equal(x.first_node[2], 6);
    assert_true(book(l, 3, NULL, 0, 0)); /* no node, no booking */
    assert_int_equal(ledger_count(l), 1);
    ledger_free(l);
}

/* Of two who have judged by the same news only the first may book. */
static void test_second_looks_again(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    struct learner x = {0};
    const uint64_t node = 5;
    const struct booking first = {.id = 1, .nodes = &node, .node_count = 1};
    const struct booking second = {.id = 2, .nodes = &node, .node_count = 1};
    learn(&x, l, 0);
    assert_true(ledger_book_if(l, &first, x.version, 0));
    assert_false(ledger_book_if(l, &second, x.version, 0));
    assert_int_equal(ledger_count(l), 1);
    learn(&x, l, 0);
    assert_true(ledger_book_if(l, &second, x.version, 0));
    learn(&x, l, 0);
    assert_true(x.first_node[1] == node && x.first_node[2] == node);
    ledger_free(l);
}

static void test_time_is_up(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes;
        mono_ms lasts;
    } rows[] = {{1, LEDGER_ONE_MS}, {2, LEDGER_MANY_MS}};
    const uint64_t nodes[] = {5, 6};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ledger *l = ledger_new();
        struct learner x = {0};
        assert_true(book(l, 1, nodes, rows[i].nodes, 1000));
        learn(&x, l, 1000 + rows[i].lasts - 1);
        assert_int_equal(x.first_node[1], 5);
        learn(&x, l, 1000 + rows[i].lasts + SWEPT_WITHIN);
        assert_int_equal(x.first_node[1], 0);
        assert_int_equal(ledger_count(l), 0);
        ledger_free(l);
    }
}

/* Kept while the scheduler may still be about to bind it. */
static void test_time_grows_with_that_of_bindings(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        mono_ms binding; /* of another pod before; 0: it is gone instead */
        bool volumes;    /* whether the pods' volumes are bound first: of the other, and of this one */
        bool own_volumes;
        uint32_t nodes;
        mono_ms lasts;
    } rows[] = {
        {"bindings are quick", 200, false, false, 1, LEDGER_ONE_MS},
        {"quick, of several nodes", 200, false, false, 2, LEDGER_MANY_MS},
        {"bindings queue", 5000, false, false, 1, LEDGER_BINDINGS * 5000},
        {"they queue, of several nodes", 5000, false, false, 2, LEDGER_BINDINGS * 5000},
        {"one that is gone was not bound", 0, false, false, 2, LEDGER_MANY_MS},
        {"one that waited for its volumes says nothing of others", 5000, true, false, 2,
         LEDGER_MANY_MS},
        {"its own volumes come first", 200, false, true, 1, LEDGER_BINDING_MS},
        {"its volumes do, too, wherever it goes", 200, false, true, 2, LEDGER_MANY_MS},
        {"not for ever", LEDGER_BINDING_MS, false, false, 1, LEDGER_BINDING_MS},
    };
    const uint64_t nodes[] = {5, 6};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ledger *l = ledger_new();
        struct learner x = {0};
        mono_ms now = 1000;
        struct booking b = {.uid = SPAN("u"), .ns = SPAN("web"), .name = SPAN("p"), .id = 2,
                            .nodes = nodes, .node_count = 1, .volumes = rows[i].volumes};
        assert_true(ledger_book(l, &b, now));
        now += rows[i].binding;
        ledger_settle(l, 2, rows[i].binding != 0, now);
        ledger_settle(l, 2, true, now + 400); /* by another thread */
        b.id = 1;
        b.node_count = rows[i].nodes;
        b.volumes = rows[i].own_volumes;
        assert_true(ledger_book(l, &b, now));
        learn(&x, l, now + rows[i].lasts - 1);
        if (x.first_node[1] != 5)
            fail_msg("%s: forgotten too soon", rows[i].label);
        learn(&x, l, now + rows[i].lasts + SWEPT_WITHIN);
        if (x.first_node[1] != 0)
            fail_msg("%s: kept too long", rows[i].label);
        ledger_free(l);
    }
}

static void test_full_by_pods(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    const uint64_t node = 5;
    for (uint64_t id = 1; id <= LEDGER_MAX; id++)
        assert_true(book(l, id, &node, 1, 0));
    assert_int_equal(ledger_times_full(l), 0);
    assert_false(book(l, LEDGER_MAX + 1, &node, 1, 0));
    assert_int_equal(ledger_times_full(l), 1);
    assert_true(book(l, 7, &node, 1, 0)); /* who is in may book anew */
    ledger_forget(l, 9);
    assert_true(book(l, LEDGER_MAX + 1, &node, 1, 0));
    assert_int_equal(ledger_count(l), LEDGER_MAX);
    ledger_free(l);
}

static void test_full_by_nodes(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    enum { MANY = 15000 };
    uint64_t *nodes = calloc(MANY, sizeof(*nodes));
    uint64_t id = 0;
    while (book(l, id + 1, nodes, MANY, 0))
        id++;
    assert_int_equal(id, LEDGER_NODES / MANY);
    uint32_t left = LEDGER_NODES % MANY;
    assert_false(book(l, id + 1, nodes, left + 1, 0));
    assert_true(book(l, id + 1, nodes, left, 0));
    ledger_forget(l, 1);
    assert_true(book(l, id + 2, nodes, MANY, 0));
    free(nodes);
    ledger_free(l);
}

/* --- several names --- */

static bool book_told(struct ledger *l, uint64_t id, mono_ms now)
{
    static const uint64_t told[] = {5, 6};
    const struct booking b = {.uid = SPAN("u"), .ns = SPAN("web"), .name = SPAN("p"), .id = id,
                              .several = true, .told = told, .told_count = 2, .seen = 3};
    return ledger_book(l, &b, now);
}

/* On none of its names does it hold anything: the planner alone hears of it, for as long as of any other. */
static void test_the_planner_hears_of_several_names(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    struct learner x = {0};
    struct arena a;
    const struct sent_pod *sent;
    arena_init(&a, 0);
    learn(&x, l, 0);
    uint64_t before = x.version;
    assert_true(book_told(l, 1, 0));
    learn(&x, l, 0);
    assert_int_equal(x.version, before);
    assert_int_equal(ledger_sent(l, 0, &a, &sent), 1);
    assert_true(sent->several && sent->told_count == 2 && sent->told[1] == 6 && sent->seen == 3);
    assert_int_equal(sent->node, 0);
    ledger_prefer(l, 1, 6);
    ledger_prefer(l, 2, 5); /* nobody's */
    assert_int_equal(ledger_sent(l, LEDGER_MANY_MS - 1, &a, &sent), 1);
    assert_int_equal(sent->node, 6);
    assert_int_equal(ledger_sent(l, LEDGER_MANY_MS, &a, &sent), 0);
    assert_int_equal(ledger_count(l), 0);
    arena_release(&a);
    ledger_free(l);
}

/* Those that hold nothing leave room to those that do. */
static void test_full_by_several_names(void **state)
{
    (void)state;
    struct ledger *l = ledger_new();
    const uint64_t node = 5;
    uint64_t id = 0;
    while (book_told(l, id + 1, 0))
        id++;
    assert_int_equal(id, LEDGER_MAX / 4);
    assert_true(book(l, id + 1, &node, 1, 0));
    ledger_free(l);
}

/* --- the desk --- */

#define NODE(name)                                                                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n"                                \
    "spec: {providerID: 'kwok://" name "'}\n"                                                      \
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"                              \
    "  conditions: [{type: Ready, status: 'True'}]\n"
#define POD(uid, spec, more)                                                                       \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\",\"name\":\"p\","  \
    "\"uid\":\"" uid "\"" more "},\"spec\":{" spec                                                 \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]},"             \
    "\"status\":{\"phase\":\"Pending\"}}"
#define THERE POD("u", "", "")
#define BOUND POD("u", "\"nodeName\":\"n1\",", "")
#define ANOTHER POD("u2", "", "")
#define GOING                                                                                      \
    POD("u", "", ",\"deletionTimestamp\":\"2026-10-10T10:00:00Z\",\"finalizers\":[\"a/b\"]")

static amount held_on(struct cluster *c, const char *node)
{
    const struct held *held = desk_open(&c->scratch.desk, &c->view);
    const amount *total = held_at(held, (uint32_t)world_find_node(c->view.world, span_of(node)));
    return total != NULL ? total[0] : 0;
}

static void book_on(struct cluster *c, const char *first, const char *second, uint64_t seen)
{
    const uint64_t nodes[] = {span_hash(span_of(first)), span_hash(span_of(second))};
    const struct booking b = {.uid = SPAN("u"), .ns = SPAN("web"), .name = SPAN("p"),
                              .id = span_hash(SPAN("u")), .base = {500}, .seen = seen,
                              .nodes = nodes, .node_count = strcmp(first, second) == 0 ? 1 : 2};
    assert_true(ledger_book(c->ledger, &b, c->view.now));
}

static void test_desk_holds_until_it_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *label, *before, *after; /* what snapshots show; NULL: no pod */
        amount held_before, held_after;
    } rows[] = {
        {"it waits still", THERE, THERE, 3000, 3000},
        {"it was bound", THERE, BOUND, 3000, 0},
        {"it is gone", THERE, NULL, 3000, 0},
        {"it is going", THERE, GOING, 3000, 0},
        {"another has its name", THERE, ANOTHER, 3000, 0},
        {"it is too new to be seen", NULL, NULL, 500, 500},
        {"it came into sight", NULL, THERE, 500, 3000},
        {"it was bound before it was seen", NULL, BOUND, 500, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_open(&c, NODE("n1") NODE("n2"));
        c.view.now = 1000;
        if (rows[i].before != NULL)
            cluster_tell(&c, WATCH_PUT, span_of(rows[i].before));
        cluster_publish(&c);
        book_on(&c, "n1", "n2", rows[i].before != NULL ? c.snapshot->sequence : 0);
        if (held_on(&c, "n1") != rows[i].held_before || held_on(&c, "n2") != rows[i].held_before)
            fail_msg("%s: %lld held at first", rows[i].label, (long long)held_on(&c, "n1"));
        if (rows[i].after != NULL)
            cluster_tell(&c, WATCH_PUT, span_of(rows[i].after));
        else if (rows[i].before != NULL)
            cluster_tell(&c, WATCH_DELETE, span_of(rows[i].before));
        cluster_tell(&c, WATCH_PUT, SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                                         "\"metadata\":{\"name\":\"other\"}}"));
        cluster_publish(&c);
        if (held_on(&c, "n1") != rows[i].held_after || held_on(&c, "n2") != rows[i].held_after)
            fail_msg("%s: %lld held then", rows[i].label, (long long)held_on(&c, "n1"));
        c.view.now += SWEPT_WITHIN + (rows[i].held_after != 0 ? LEDGER_MANY_MS : LEDGER_SETTLED_MS);
        assert_int_equal(held_on(&c, "n1"), 0);
        if (ledger_count(c.ledger) != 0)
            fail_msg("%s: something is left in the ledger", rows[i].label);
        cluster_close(&c);
    }
}

/* One thread has seen the pod bound, another is still at work on the snapshot before. */
static void test_old_snapshot_still_holds(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NODE("n1") NODE("n2"));
    cluster_tell(&c, WATCH_PUT, SPAN(THERE));
    cluster_publish(&c);
    c.view.now = 1000;
    book_on(&c, "n1", "n1", c.snapshot->sequence);
    struct extender_view old = c.view;
    shared_ref((struct shared *)(uintptr_t)&old.snapshot->shared);
    cluster_tell(&c, WATCH_PUT, SPAN(BOUND));
    cluster_publish(&c);
    assert_int_equal(held_on(&c, "n1"), 0);
    struct desk slow = {.laid = false};
    arena_init(&slow.arena, 0);
    uint32_t row = (uint32_t)world_find_node(old.world, SPAN("n1"));
    const amount *held = held_at(desk_open(&slow, &old), row);
    assert_true(held != NULL && held[0] == 3000);
    desk_release(&slow);
    shared_unref((struct shared *)(uintptr_t)&old.snapshot->shared);
    cluster_close(&c);
}

static void test_desk_follows_the_ledger(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NODE("n1") NODE("n2"));
    cluster_tell(&c, WATCH_PUT, SPAN(THERE));
    cluster_publish(&c);
    c.view.now = 1000;
    assert_int_equal(held_on(&c, "n1"), 0);
    book_on(&c, "n1", "n1", c.snapshot->sequence);
    assert_int_equal(held_on(&c, "n1"), 3000);
    book_on(&c, "n2", "n2", c.snapshot->sequence);
    assert_int_equal(held_on(&c, "n1"), 0);
    assert_int_equal(held_on(&c, "n2"), 3000);
    book_on(&c, "n1", "unknown", c.snapshot->sequence); /* a node not in sight is left out */
    assert_int_equal(held_on(&c, "n1"), 3000);
    ledger_forget(c.ledger, span_hash(SPAN("u")));
    assert_int_equal(held_on(&c, "n1") + held_on(&c, "n2"), 0);
    /* A cluster at rest: the desk does not grow with what comes and goes. */
    for (unsigned i = 0; i < 20000; i++) {
        book_on(&c, i % 2 != 0 ? "n1" : "n2", "n1", c.snapshot->sequence);
        assert_int_equal(held_on(&c, "n1"), 3000);
    }
    assert_true(c.scratch.desk.arena.total < 5 << 20);
    cluster_close(&c);
}

/* A busy cluster: who asks next does not pay for all that others have booked before. */
static void test_desk_of_many_is_laid_out_once(void **state)
{
    (void)state;
    enum { NODES = 64, BOOKED = 2000 };
    struct cluster c;
    struct buf yaml = {0};
    uint64_t nodes[NODES];
    for (unsigned i = 0; i < NODES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", i);
        buf_addf(&yaml, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s}\n", name);
        nodes[i] = span_hash(span_of(name));
    }
    buf_add_char(&yaml, '\0');
    cluster_open(&c, buf_span(&yaml).ptr);
    for (uint64_t id = 1; id <= BOOKED; id++)
        assert_true(book(c.ledger, id, nodes, NODES, c.view.now));
    const struct desk *desk = &c.scratch.desk;
    assert_int_equal(held_on(&c, "n1"), 0);
    const void *laid = desk->arena.at;
    held_on(&c, "n1");
    assert_ptr_equal(desk->arena.at, laid);
    buf_release(&yaml);
    cluster_close(&c);
}

static void tell_victim(struct ledger *l, const char *uid, uint64_t node, int32_t priority, mono_ms now)
{
    const struct told_victim x = {span_of(uid), node, priority};
    ledger_victims(l, &x, 1, now);
}

static void test_victims_are_remembered_for_a_while(void **state)
{
    (void)state;
    enum { OVER = 1000 + LEDGER_VICTIM_MS };
    struct ledger *l = ledger_new();
    assert_int_equal(ledger_victim_until(l, SPAN("a"), 1000), 0);
    tell_victim(l, "a", 1, 0, 1000);
    tell_victim(l, "b", 1, 0, 1000);
    tell_victim(l, "b", 1, 0, 1500);
    tell_victim(l, "c", 1, 0, 1500);
    assert_int_equal(ledger_victim_until(l, SPAN("a"), OVER - 1), OVER);
    assert_int_equal(ledger_victim_until(l, SPAN("b"), OVER - 1), OVER); /* as if it had not been told again */
    assert_int_equal(ledger_victim_until(l, SPAN("b"), OVER), 0);
    assert_int_equal(ledger_victim_until(l, SPAN("c"), OVER), OVER + 500);
    tell_victim(l, "b", 1, 0, OVER);
    assert_int_equal(ledger_victim_until(l, SPAN("b"), OVER), OVER + LEDGER_VICTIM_MS);
    char other[16];
    unsigned i = 0;
    do
        snprintf(other, sizeof(other), "other-%u", i++);
    while (span_hash(span_of(other)) % LEDGER_VICTIMS != span_hash(SPAN("b")) % LEDGER_VICTIMS);
    tell_victim(l, other, 1, 0, OVER);
    assert_int_equal(ledger_victim_until(l, span_of(other), OVER), OVER + LEDGER_VICTIM_MS);
    assert_int_equal(ledger_victim_until(l, SPAN("b"), OVER), 0); /* of the same slot */
    ledger_free(l);
}

static void test_last_victim_of_a_node(void **state)
{
    (void)state;
    enum { NOW = 3000, OVER = 1000 + LEDGER_VICTIM_MS };
    struct ledger *l = ledger_new();
    struct arena a;
    arena_init(&a, 0);
    assert_int_equal(ledger_last_victim(l, 1, 9, NOW, &a).len, 0);
    tell_victim(l, "early", 1, 0, 1000);
    tell_victim(l, "late", 1, 8, 2000);
    tell_victim(l, "equal", 1, 9, 2500);
    tell_victim(l, "elsewhere", 2, 0, 2500);
    assert_true(span_eq(ledger_last_victim(l, 1, 9, NOW, &a), SPAN("late")));
    assert_true(span_eq(ledger_last_victim(l, 1, 8, NOW, &a), SPAN("early")));
    assert_int_equal(ledger_last_victim(l, 1, 0, NOW, &a).len, 0);
    assert_true(span_eq(ledger_last_victim(l, 1, 8, OVER - 1, &a), SPAN("early")));
    assert_int_equal(ledger_last_victim(l, 1, 8, OVER, &a).len, 0);
    arena_release(&a);
    ledger_free(l);
}

static bool is_booked(struct ledger *l, mono_ms now)
{
    struct arena a;
    struct ledger_news news;
    uint64_t version = 0;
    arena_init(&a, 0);
    bool booked = ledger_news(l, &version, now, &a, &news) && news.booking_count != 0;
    arena_release(&a);
    return booked;
}

/* What a snapshot shows as bound is kept for the answers that are being given from the one before, and no longer. */
static void a_settled_booking_stays_for_a_moment(void **state)
{
    (void)state;
    const uint64_t node = 7;
    struct ledger *l = ledger_new();
    assert_true(book(l, 1, &node, 1, 1000));
    ledger_settle(l, 1, true, 2000);
    assert_true(is_booked(l, 2000 + LEDGER_SETTLED_MS - 1));
    assert_false(is_booked(l, 2000 + LEDGER_SETTLED_MS + SWEPT_WITHIN));
    ledger_free(l);
}

/* Only a pod that was let onto one node, and was not seen bound, has lost something when it is forgotten. */
static void what_is_forgotten_was_one(void **state)
{
    (void)state;
    const uint64_t node = 7;
    struct ledger *l = ledger_new();
    assert_false(ledger_forget(l, 1));
    assert_true(book(l, 1, &node, 1, 1000));
    assert_true(ledger_forget(l, 1));
    assert_true(book(l, 1, &node, 1, 1000));
    ledger_settle(l, 1, true, 1100);
    assert_false(ledger_forget(l, 1));
    assert_true(ledger_book(l, &(struct booking){.uid = SPAN("u"), .ns = SPAN("web"), .name = SPAN("p"), .id = 1, .nodes = &node,
                                                 .node_count = 1, .several = true}, 1000));
    assert_false(ledger_forget(l, 1));
    ledger_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_settled_booking_stays_for_a_moment),
        cmocka_unit_test(what_is_forgotten_was_one),
        cmocka_unit_test(test_news_tell_what_stands),
        cmocka_unit_test(test_news_are_few_or_all),
        cmocka_unit_test(test_news_tell_each_booking_once),
        cmocka_unit_test(test_last_booking_counts),
        cmocka_unit_test(test_second_looks_again),
        cmocka_unit_test(test_time_is_up),
        cmocka_unit_test(test_time_grows_with_that_of_bindings),
        cmocka_unit_test(test_full_by_pods),
        cmocka_unit_test(test_full_by_nodes),
        cmocka_unit_test(test_the_planner_hears_of_several_names),
        cmocka_unit_test(test_full_by_several_names),
        cmocka_unit_test(test_desk_holds_until_it_is_seen),
        cmocka_unit_test(test_old_snapshot_still_holds),
        cmocka_unit_test(test_desk_follows_the_ledger),
        cmocka_unit_test(test_desk_of_many_is_laid_out_once),
        cmocka_unit_test(test_victims_are_remembered_for_a_while),
        cmocka_unit_test(test_last_victim_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
