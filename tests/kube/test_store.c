#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/node.h"
#include "kube/pod.h"
#include "kube/store.h"

struct feeder { /* hands JSON texts to a store, as a watch would */
    struct store *store;
    struct doc_parser *parser;
};

static void tell(struct feeder *f, enum kind kind, enum watch_event e, const char *json)
{
    const struct doc *doc;
    struct err err;
    if (!doc_parse_json(f->parser, span_of(json), &doc, &err))
        fail_msg("%s: %s", err.msg, json);
    store_event(f->store, kind, e, doc_root(doc));
}

static void put_pod(struct feeder *f, const char *name, int version, const char *label)
{
    char json[512];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"%d\",\"labels\":{\"v\":\"%s\"}},\"spec\":{\"containers\":[]}}",
             name, name, version, label);
    tell(f, KIND_POD, WATCH_PUT, json);
}

static void delete_pod(struct feeder *f, const char *name)
{
    char json[256];
    snprintf(json, sizeof(json), "{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\"}}", name);
    tell(f, KIND_POD, WATCH_DELETE, json);
}

static const struct snapshot *take(struct feeder *f)
{
    return (const struct snapshot *)share_take(store_share(f->store));
}

static void give_back(const struct snapshot *s)
{
    shared_unref((struct shared *)(uintptr_t)&s->shared);
}

/* The value of label "v" of pod web/<name>, or "" when it is not there. */
static const char *label_of(const struct snapshot *s, const char *name)
{
    const struct pod *p = snapshot_find(s, KIND_POD, SPAN("web"), span_of(name));
    if (p == NULL)
        return "";
    sym value = sym_pairs_get(p->meta.labels, sym_find(s->syms, SPAN("v")));
    return sym_text(s->syms, value).ptr;
}

static int setup(void **state)
{
    struct feeder *f = mem_new(sizeof(*f));
    f->store = store_new(NULL);
    f->parser = doc_parser_new();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct feeder *f = *state;
    store_free(f->store);
    doc_parser_free(f->parser);
    free(f);
    return 0;
}

static void test_a_snapshot_never_changes(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    store_publish(f->store, 0);
    const struct snapshot *first = take(f);
    put_pod(f, "a", 2, "two");
    put_pod(f, "b", 3, "one");
    assert_string_equal(label_of(first, "a"), "one");
    store_publish(f->store, 50);
    const struct snapshot *second = take(f);
    delete_pod(f, "a");
    store_publish(f->store, 100);
    const struct snapshot *third = take(f);
    assert_string_equal(label_of(first, "a"), "one");
    assert_string_equal(label_of(first, "b"), "");
    assert_string_equal(label_of(second, "a"), "two");
    assert_string_equal(label_of(second, "b"), "one");
    assert_string_equal(label_of(third, "a"), "");
    assert_int_equal(first->state[KIND_POD].count, 1);
    assert_int_equal(second->state[KIND_POD].count, 2);
    assert_int_equal(third->state[KIND_POD].count, 1);
    give_back(second); /* in another order than they came */
    give_back(first);
    give_back(third);
}

static void test_many_objects_are_found_and_walked_once(void **state)
{
    struct feeder *f = *state;
    enum { COUNT = 5000 };
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "pod-%d", i);
        put_pod(f, name, i + 1, "x");
        if (i % 700 == 0)
            store_publish(f->store, i);
    }
    for (int i = 0; i < COUNT; i += 3) {
        snprintf(name, sizeof(name), "pod-%d", i);
        delete_pod(f, name);
    }
    store_publish(f->store, COUNT);
    const struct snapshot *s = take(f);
    uint32_t seen = 0;
    struct snapshot_iter it = snapshot_each(s, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL; seen++)
        assert_ptr_equal(snapshot_find(s, KIND_POD, p->meta.ns, p->meta.name), p);
    assert_int_equal(seen, s->state[KIND_POD].count);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "pod-%d", i);
        assert_string_equal(label_of(s, name), i % 3 == 0 ? "" : "x");
    }
    give_back(s);
}

static void test_a_list_forgets_what_it_does_not_name(void **state)
{
    struct feeder *f = *state;
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "a", 1, "x");
    put_pod(f, "b", 2, "x");
    put_pod(f, "c", 3, "x");
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_false(s->state[KIND_POD].synced);
    give_back(s);
    store_list_end(f->store, KIND_POD);
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "b", 2, "x"); /* unchanged: kept without a look */
    store_list_end(f->store, KIND_POD);
    store_publish(f->store, 50);
    s = take(f);
    assert_true(s->state[KIND_POD].synced);
    assert_int_equal(s->state[KIND_POD].count, 1);
    assert_int_equal(s->state[KIND_POD].loss[LOSS_ANY].had, 3);
    assert_int_equal(s->state[KIND_POD].loss[LOSS_ANY].lost, 2);
    assert_string_equal(label_of(s, "b"), "x");
    give_back(s);
}

static void test_an_older_version_is_ignored_outside_a_list(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 9, "new");
    put_pod(f, "a", 8, "old");
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_string_equal(label_of(s, "a"), "new");
    give_back(s);
    /* A restored etcd counts from an earlier version on: the LIST is the truth. */
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "a", 5, "restored");
    store_list_end(f->store, KIND_POD);
    store_publish(f->store, 50);
    s = take(f);
    assert_string_equal(label_of(s, "a"), "restored");
    give_back(s);
}

static void test_what_does_not_decode_is_set_aside(void **state)
{
    struct feeder *f = *state;
    tell(f, KIND_NODE_POOL, WATCH_PUT,
         "{\"metadata\":{\"name\":\"general\",\"resourceVersion\":\"1\"},\"spec\":{\"weight\":10}}");
    tell(f, KIND_NODE_POOL, WATCH_PUT,
         "{\"metadata\":{\"name\":\"general\",\"resourceVersion\":\"2\"},"
         "\"spec\":{\"weight\":\"ten\"}}");
    tell(f, KIND_NODE_POOL, WATCH_PUT,
         "{\"metadata\":{\"name\":\"broken\",\"resourceVersion\":\"3\"},"
         "\"spec\":{\"weight\":[]}}");
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_int_equal(s->aside_count, 2);
    assert_true(span_eq(s->asides[0].name, SPAN("general")));
    assert_true(span_has_prefix(s->asides[0].reason, SPAN("spec.weight: ")));
    const struct node_pool *pool = snapshot_find(s, KIND_NODE_POOL, SPAN(""), SPAN("general"));
    assert_non_null(pool); /* the last version that could be read stays */
    assert_int_equal(pool->weight, 10);
    assert_null(snapshot_find(s, KIND_NODE_POOL, SPAN(""), SPAN("broken")));
    give_back(s);
    tell(f, KIND_NODE_POOL, WATCH_PUT,
         "{\"metadata\":{\"name\":\"general\",\"resourceVersion\":\"4\"},\"spec\":{\"weight\":11}}");
    tell(f, KIND_NODE_POOL, WATCH_DELETE, "{\"metadata\":{\"name\":\"broken\"}}");
    store_publish(f->store, 50);
    s = take(f);
    assert_int_equal(s->aside_count, 0);
    pool = snapshot_find(s, KIND_NODE_POOL, SPAN(""), SPAN("general"));
    assert_int_equal(pool->weight, 11);
    give_back(s);
}

static void put_broken_pool(struct feeder *f, const char *name, int version)
{
    char json[256];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%d\"},"
             "\"spec\":{\"weight\":[]}}",
             name, version);
    tell(f, KIND_NODE_POOL, WATCH_PUT, json);
}

/* Its deletion was missed while the watch was down. */
static void test_a_list_forgets_what_was_set_aside(void **state)
{
    struct feeder *f = *state;
    put_broken_pool(f, "gone", 1);
    put_broken_pool(f, "stays", 2);
    tell(f, KIND_NODE_CLAIM, WATCH_PUT, "{\"metadata\":{\"name\":\"other\"},\"spec\":[]}");
    store_list_begin(f->store, KIND_NODE_POOL);
    put_broken_pool(f, "stays", 2);
    store_list_end(f->store, KIND_NODE_POOL);
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_int_equal(s->aside_count, 2);
    for (uint32_t i = 0; i < s->aside_count; i++)
        assert_false(span_eq(s->asides[i].name, SPAN("gone")));
    give_back(s);
}

/* A list that is begun anew (410 to a later page) has lost what was there before it was first begun. */
static void test_a_list_begun_twice_counts_from_the_first(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "x");
    put_pod(f, "b", 2, "x");
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "c", 3, "x");
    put_pod(f, "d", 4, "x");
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "c", 3, "x");
    store_list_end(f->store, KIND_POD);
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_int_equal(s->state[KIND_POD].loss[LOSS_ANY].had, 2);
    assert_int_equal(s->state[KIND_POD].loss[LOSS_ANY].lost, 2);
    assert_int_equal(s->state[KIND_POD].count, 1);
    give_back(s);
}

static void put_pod_as(struct feeder *f, const char *name, const char *meta, const char *phase)
{
    char json[256];
    snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"7\"%s},\"status\":{\"phase\":\"%s\"}}",
             name, meta, phase);
    tell(f, KIND_POD, WATCH_PUT, json);
}

static const struct snapshot *published(struct feeder *f, mono_ms now)
{
    store_publish(f->store, now);
    return take(f);
}

/* Of three pods that a list does not show one has ended, and the deletion of one was seen to begin: it may still run. */
static void test_losses_that_were_seen_to_come_are_told_apart(void **state)
{
    struct feeder *f = *state;
    put_pod_as(f, "ends", ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"", "Running");
    put_pod_as(f, "over", "", "Succeeded");
    put_pod_as(f, "runs", "", "Running");
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof(name), "more-%d", i);
        put_pod_as(f, name, "", "Running");
    }
    store_list_begin(f->store, KIND_POD);
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof(name), "more-%d", i);
        put_pod_as(f, name, "", "Running");
    }
    store_list_end(f->store, KIND_POD);
    const struct snapshot *s = published(f, 0);
    const struct list_guard *loss = s->state[KIND_POD].loss;
    assert_int_equal(loss[LOSS_UNEXPLAINED].had, 4);
    assert_int_equal(loss[LOSS_UNEXPLAINED].lost, 1);
    assert_int_equal(loss[LOSS_ANY].had, 5);
    assert_int_equal(loss[LOSS_ANY].lost, 2);
    give_back(s);
}

/* What the watch has reported as deleted was not there before the list. */
static void test_deletions_that_were_reported_are_no_loss(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "x");
    put_pod(f, "b", 2, "x");
    delete_pod(f, "b");
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "a", 1, "x");
    store_list_end(f->store, KIND_POD);
    const struct snapshot *s = published(f, 0);
    assert_int_equal(s->state[KIND_POD].loss[LOSS_ANY].list, 0);
    give_back(s);
}

/* Only a list that was asked for confirms what the one before lost. */
static void test_a_list_that_was_asked_for_confirms(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "x");
    for (int i = 0; i < 3; i++) {
        store_list_begin(f->store, KIND_POD);
        store_list_end_as(f->store, KIND_POD, i == 2);
        const struct snapshot *s = published(f, i * STORE_PUBLISH_MS);
        assert_int_equal(s->state[KIND_POD].loss[LOSS_UNEXPLAINED].list, i < 2 ? 1 : 0);
        give_back(s);
    }
}

static void test_equal_content_has_one_order(void **state)
{
    struct feeder *f = *state;
    struct feeder other = {.store = store_new(NULL), .parser = f->parser};
    enum { COUNT = 300 };
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "pod-%d", i);
        put_pod(f, name, i + 1, "x");
        snprintf(name, sizeof(name), "pod-%d", COUNT - 1 - i);
        put_pod(&other, name, COUNT - i, "x");
        put_pod(&other, "passing", COUNT + i, "x");
        delete_pod(&other, "passing");
    }
    store_publish(f->store, 0);
    store_publish(other.store, 0);
    const struct snapshot *a = take(f), *b = take(&other);
    struct snapshot_iter x = snapshot_each(a, KIND_POD), y = snapshot_each(b, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&x)) != NULL;) {
        const struct pod *q = snapshot_next(&y);
        if (q == NULL || !span_eq(p->meta.name, q->meta.name))
            fail_msg("%.*s here, %.*s there", SPAN_ARG(p->meta.name),
                     SPAN_ARG(q != NULL ? q->meta.name : SPAN("nothing")));
    }
    assert_null(snapshot_next(&y));
    give_back(a);
    give_back(b);
    store_free(other.store);
}

static void test_publishing_waits_its_turn(void **state)
{
    struct feeder *f = *state;
    store_publish(f->store, 1000);
    assert_true(store_due(f->store) == INT64_MAX);
    put_pod(f, "a", 1, "x");
    assert_true(store_due(f->store) == 1000 + STORE_PUBLISH_MS);
    store_publish(f->store, 1050);
    put_pod(f, "a", 1, "x"); /* nothing new */
    assert_true(store_due(f->store) == INT64_MAX);
    struct err broken = {.kind = ERR_RETRY};
    store_state(f->store, KIND_NODE, &broken, 1060);
    store_state(f->store, KIND_NODE, &broken, 1090);
    store_publish(f->store, 1100);
    const struct snapshot *s = take(f);
    assert_int_equal(s->state[KIND_NODE].broken_since, 1060);
    give_back(s);
    store_state(f->store, KIND_NODE, NULL, 1110);
    store_publish(f->store, 1150);
    s = take(f);
    assert_int_equal(s->state[KIND_NODE].broken_since, 0);
    give_back(s);
}

/* As its kubelet writes it every five minutes: nothing but version, time and managedFields is another. */
static void put_node(struct feeder *f, const char *name, int version)
{
    char json[768];
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%d\",\"managedFields\":[{\"manager\":"
             "\"kubelet\",\"time\":\"2026-11-20T12:%02d:00Z\"}]},\"status\":{\"conditions\":[{\"type\":"
             "\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"2026-11-20T12:%02d:00Z\","
             "\"lastTransitionTime\":\"2026-11-20T11:00:00Z\"}]}}",
             name, version, version, version);
    tell(f, KIND_NODE, WATCH_PUT, json);
}

/* A version that says nothing new to us is no reason to publish. */
static void test_what_says_nothing_new_changes_nothing(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    store_publish(f->store, 0);
    put_pod(f, "a", 5, "one");
    assert_true(store_due(f->store) == INT64_MAX);
    put_pod(f, "a", 4, "older than what was seen");
    assert_true(store_due(f->store) == INT64_MAX);
    put_pod(f, "a", 6, "six");
    assert_true(store_due(f->store) == STORE_PUBLISH_MS);
    store_publish(f->store, 50);
    const struct snapshot *s = take(f);
    assert_string_equal(label_of(s, "a"), "six");
    give_back(s);
}

/* We lock on a Node's version: the newest is told all the same, to who has the snapshot already. */
static void test_a_heartbeat_is_no_news_but_for_its_version(void **state)
{
    struct feeder *f = *state;
    put_node(f, "n", 2);
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    const struct node *n = snapshot_find(s, KIND_NODE, (struct span){0}, SPAN("n"));
    assert_int_equal(n->meta.resource_version, 2);
    put_node(f, "n", 7);
    assert_true(store_due(f->store) == INT64_MAX);
    assert_int_equal(n->meta.resource_version, 7);
    put_node(f, "n", 5); /* told late */
    assert_int_equal(n->meta.resource_version, 7);
    tell(f, KIND_NODE, WATCH_PUT,
         "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"9\"},\"spec\":{\"unschedulable\":true}}");
    assert_true(store_due(f->store) == STORE_PUBLISH_MS);
    store_publish(f->store, 50);
    put_node(f, "n", 11); /* of the next snapshot alone */
    assert_int_equal(n->meta.resource_version, 7);
    give_back(s);
}

/* Nominating a pod locks on its version; what the scheduler writes each time it refuses one is no news else. */
static void test_a_refused_pod_is_no_news_but_for_its_version(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "p", 2, "a");
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    const struct pod *p = snapshot_find(s, KIND_POD, SPAN("web"), SPAN("p"));
    assert_int_equal(p->meta.resource_version, 2);
    put_pod(f, "p", 7, "a");
    assert_true(store_due(f->store) == INT64_MAX);
    assert_int_equal(p->meta.resource_version, 7);
    give_back(s);
}

/* What a list names is kept, also when it says nothing new of it. */
static void test_a_list_keeps_what_did_not_change(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    store_list_begin(f->store, KIND_POD);
    put_pod(f, "a", 2, "one");
    store_list_end(f->store, KIND_POD);
    store_publish(f->store, 0);
    const struct snapshot *s = take(f);
    assert_string_equal(label_of(s, "a"), "one");
    give_back(s);
}

static void test_a_snapshot_that_is_not_shown_yet(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    store_publish(f->store, 0);
    put_pod(f, "a", 2, "two");
    struct snapshot *begun = store_begin(f->store, 50);
    put_pod(f, "a", 3, "three");
    assert_true(store_due(f->store) == INT64_MAX); /* one at a time */
    const struct snapshot *first = take(f);
    assert_string_equal(label_of(first, "a"), "one");
    store_derive(begun);
    store_show(f->store, begun);
    assert_true(store_due(f->store) == 50 + STORE_PUBLISH_MS);
    const struct snapshot *second = take(f);
    assert_string_equal(label_of(second, "a"), "two");
    assert_string_equal(label_of(first, "a"), "one");
    give_back(first);
    give_back(second);
    store_begin(f->store, 100); /* the store goes before it is shown */
}

static void test_same_objects_of_a_kind(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    store_publish(f->store, 0);
    const struct snapshot *first = take(f);
    put_node(f, "n", 2);
    store_publish(f->store, 50);
    const struct snapshot *second = take(f);
    assert_true(snapshot_same(first, second, KIND_POD));
    assert_false(snapshot_same(first, second, KIND_NODE));
    put_pod(f, "b", 3, "one");
    delete_pod(f, "b");
    put_pod(f, "a", 4, "four");
    store_publish(f->store, 100);
    const struct snapshot *third = take(f);
    assert_false(snapshot_same(second, third, KIND_POD));
    assert_true(snapshot_same(second, third, KIND_NODE));
    give_back(first);
    give_back(second);
    give_back(third);
}

/* Label values come and go: the table is made anew when most of it is dead, and every object still
 * reads the same. */
static void test_dead_symbols_are_forgotten(void **state)
{
    struct feeder *f = *state;
    char label[32];
    uint32_t largest = 0;
    put_pod(f, "steady", 1, "steady");
    for (int i = 0; i < 60000; i++) {
        snprintf(label, sizeof(label), "value-%d", i);
        put_pod(f, "restless", i + 2, label);
        if (i % 500 == 0)
            store_publish(f->store, i);
        uint32_t limit = symtab_limit(store_syms(f->store));
        largest = limit > largest ? limit : largest;
    }
    store_publish(f->store, 60000);
    assert_true(largest < 20000);
    const struct snapshot *s = take(f);
    assert_string_equal(label_of(s, "steady"), "steady");
    assert_string_equal(label_of(s, "restless"), "value-59999");
    assert_int_equal(sym_find(s->syms, SPAN("cpu")), SYM_CPU);
    give_back(s);
}

enum { WRITES = 3000, READERS = 2 };

struct race {
    struct share *share;
    _Atomic(bool) done, wrong;
};

/* Every snapshot holds pods a and b of the same write. */
static void *read_pairs(void *user)
{
    struct race *r = user;
    struct share_cache c = {0};
    while (!atomic_load(&r->done)) {
        const struct snapshot *s = (const struct snapshot *)share_read(r->share, &c);
        if (s != NULL && strcmp(label_of(s, "a"), label_of(s, "b")) != 0)
            atomic_store(&r->wrong, true);
    }
    share_drop(&c);
    return NULL;
}

static void test_readers_beside_the_writer(void **state)
{
    struct feeder *f = *state;
    struct race r = {.share = store_share(f->store)};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_pairs, &r), 0);
    for (int i = 0; i < WRITES; i++) {
        char label[32];
        snprintf(label, sizeof(label), "v%d", i);
        put_pod(f, "a", 2 * i + 1, label);
        put_pod(f, "b", 2 * i + 2, label);
        store_publish(f->store, i);
    }
    atomic_store(&r.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&r.wrong));
}

/* What pods of one template say alike is there once, for as long as one of them or a snapshot wants it. */
static void test_pods_share_what_they_say_alike(void **state)
{
    struct feeder *f = *state;
    put_pod(f, "a", 1, "one");
    put_pod(f, "b", 2, "one");
    put_pod(f, "c", 3, "two");
    store_publish(f->store, 0);
    const struct snapshot *first = take(f);
    const struct pod *a = snapshot_find(first, KIND_POD, SPAN("web"), SPAN("a"));
    const struct pod *b = snapshot_find(first, KIND_POD, SPAN("web"), SPAN("b"));
    const struct pod *c = snapshot_find(first, KIND_POD, SPAN("web"), SPAN("c"));
    assert_ptr_equal(a->meta.labels.items, b->meta.labels.items);
    assert_ptr_not_equal(a->meta.labels.items, c->meta.labels.items);
    delete_pod(f, "a");
    put_pod(f, "b", 4, "two"); /* nobody says "one" any more */
    store_publish(f->store, 50);
    const struct snapshot *second = take(f);
    assert_string_equal(label_of(first, "a"), "one");
    assert_string_equal(label_of(first, "b"), "one");
    give_back(first);
    put_pod(f, "d", 5, "one");
    store_publish(f->store, 100);
    const struct snapshot *third = take(f);
    b = snapshot_find(third, KIND_POD, SPAN("web"), SPAN("b"));
    assert_ptr_equal(b->meta.labels.items, c->meta.labels.items);
    assert_string_equal(label_of(third, "b"), "two");
    assert_string_equal(label_of(third, "d"), "one");
    give_back(second);
    give_back(third);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_pods_share_what_they_say_alike),
        TEST(test_a_snapshot_never_changes),
        TEST(test_many_objects_are_found_and_walked_once),
        TEST(test_a_list_forgets_what_it_does_not_name),
        TEST(test_an_older_version_is_ignored_outside_a_list),
        TEST(test_what_does_not_decode_is_set_aside),
        TEST(test_a_list_forgets_what_was_set_aside),
        TEST(test_a_list_begun_twice_counts_from_the_first),
        TEST(test_losses_that_were_seen_to_come_are_told_apart),
        TEST(test_deletions_that_were_reported_are_no_loss),
        TEST(test_a_list_that_was_asked_for_confirms),
        TEST(test_equal_content_has_one_order),
        TEST(test_publishing_waits_its_turn),
        TEST(test_what_says_nothing_new_changes_nothing),
        TEST(test_a_heartbeat_is_no_news_but_for_its_version),
        TEST(test_a_refused_pod_is_no_news_but_for_its_version),
        TEST(test_a_list_keeps_what_did_not_change),
        TEST(test_a_snapshot_that_is_not_shown_yet),
        TEST(test_same_objects_of_a_kind),
        TEST(test_dead_symbols_are_forgotten),
        TEST(test_readers_beside_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
