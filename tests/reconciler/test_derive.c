#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/columns.h"
#include "reconciler/derive.h"

/* A provider without a machine to sell. */

static uint64_t moved;

static bool types(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out,
                  struct err *err)
{
    (void)p, (void)syms, (void)err;
    *out = (struct catalogue){.name = arena_printf(a, "list %u", (unsigned)moved)};
    return true;
}

static uint64_t generation(struct provider *p)
{
    (void)p;
    return moved;
}

static const struct provider_ops ops = {.name = "none", .types = types, .generation = generation};
static struct provider provider = {.ops = &ops};

struct asked { /* of the lister: not done yet */
    void (*job)(void *arg);
    void *arg;
    uint32_t count;
};

struct fixture {
    struct derive *derive;
    struct asked asked; /* by who does not ask at once */
    struct store *store;
    struct doc_parser *parser;
    mono_ms now;
};

static void keep_job(void *user, uint32_t at, void (*job)(void *arg), void *arg)
{
    struct asked *x = &((struct fixture *)user)->asked;
    assert_int_equal(at, 0);
    *x = (struct asked){job, arg, x->count + 1};
}

static int setup_with(void **state, bool waits)
{
    static const struct world_options options;
    struct fixture *f = mem_new(sizeof(*f));
    struct listings_worker worker = {.user = f, .run = waits ? keep_job : NULL};
    moved = 1;
    f->derive = derive_new(&(struct providers){{&provider}, 1}, &worker, &options);
    struct store_deriver deriver = derive_deriver(f->derive);
    f->store = store_new(&deriver);
    f->parser = doc_parser_new();
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, false);
}

static int setup_waiting(void **state)
{
    return setup_with(state, true);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    store_free(f->store);
    derive_free(f->derive);
    doc_parser_free(f->parser);
    free(f);
    return 0;
}

static void put_with(struct fixture *f, enum kind kind, const char *name, const char *spec, const char *status)
{
    static int version;
    char json[512];
    const struct doc *doc;
    struct err err;
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"%d\"},\"spec\":%s,\"status\":%s}",
             name, name, ++version, spec, status);
    if (!doc_parse_json(f->parser, span_of(json), &doc, &err))
        fail_msg("%s: %s", err.msg, json);
    store_event(f->store, kind, WATCH_PUT, doc_root(doc));
}

static void put(struct fixture *f, enum kind kind, const char *name, const char *spec)
{
    put_with(f, kind, name, spec, "{}");
}

static void list_all(struct fixture *f)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        store_list_begin(f->store, k);
        store_list_end(f->store, k);
    }
}

static const struct snapshot *publish(struct fixture *f)
{
    f->now += STORE_PUBLISH_MS;
    derive_look(f->derive, f->now);
    store_publish(f->store, f->now);
    return (const struct snapshot *)share_take(store_share(f->store));
}

/* There is a newer list of types, and it alone. */
static const struct snapshot *publish_touched(struct fixture *f)
{
    assert_true(derive_look(f->derive, f->now));
    store_touch(f->store);
    return publish(f);
}

static void give_back(const struct snapshot *s)
{
    shared_unref((struct shared *)(uintptr_t)&s->shared);
}

static void test_no_world_of_a_part_of_the_cluster(void **state)
{
    struct fixture *f = *state;
    store_list_begin(f->store, KIND_POD);
    put(f, KIND_POD, "a", "{}");
    const struct snapshot *part = publish(f);
    list_all(f);
    const struct snapshot *all = publish(f);
    assert_null(derive_world(part));
    assert_int_equal(derive_last(f->derive), DERIVE_BUILD);
    assert_non_null(derive_world(all));
    give_back(part);
    give_back(all);
}

static void test_what_no_world_reads_makes_none(void **state)
{
    struct fixture *f = *state;
    list_all(f);
    put(f, KIND_NODE, "n", "{}");
    const struct snapshot *first = publish(f);
    put(f, KIND_KWOK_NODE_CLASS, "default", "{}");
    const struct snapshot *second = publish(f);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(derive_world(first), derive_world(second));
    assert_int_equal(derive_last(f->derive), DERIVE_SAME);
    give_back(first); /* the second still reads of its world */
    share_reap(store_share(f->store));
    assert_int_equal(world_find_node(derive_world(second), SPAN("n")), 0);
    put(f, KIND_NODE, "m", "{}");
    const struct snapshot *third = publish(f);
    assert_ptr_not_equal(derive_world(third), derive_world(second));
    assert_int_equal(world_node_count(derive_world(second)), 1);
    assert_int_equal(world_node_count(derive_world(third)), 2);
    give_back(second);
    give_back(third);
}

static void test_other_types_make_another_world(void **state)
{
    struct fixture *f = *state;
    list_all(f);
    const struct snapshot *first = publish(f);
    assert_false(derive_look(f->derive, f->now));
    moved++;
    const struct snapshot *second = publish_touched(f);
    assert_ptr_not_equal(derive_world(first), derive_world(second));
    assert_true(span_eq(world_catalogue(derive_world(second))->name, SPAN("list 2")));
    assert_false(derive_look(f->derive, f->now));
    give_back(first);
    give_back(second);
}

/* A provider that does not come back from `types`: pods are shown beside the list before. */
static void test_who_is_asked_for_types_holds_up_no_world(void **state)
{
    struct fixture *f = *state;
    list_all(f);
    assert_false(derive_look(f->derive, f->now));
    assert_true(derive_waits(f->derive)); /* a moment: most lists come at once */
    assert_false(derive_look(f->derive, f->now += LISTINGS_FIRST_MS));
    assert_false(derive_waits(f->derive));
    const struct snapshot *first = publish(f);
    assert_true(world_catalogue(derive_world(first))->partial);
    assert_int_equal(f->asked.count, 1);
    f->asked.job(f->asked.arg);
    const struct snapshot *second = publish_touched(f);
    assert_true(span_eq(world_catalogue(derive_world(second))->name, SPAN("list 1")));
    assert_false(world_catalogue(derive_world(second))->partial);
    moved++;
    assert_false(derive_look(f->derive, f->now)); /* nothing new is there */
    assert_false(derive_waits(f->derive));
    put(f, KIND_NODE, "n", "{}");
    put(f, KIND_POD, "a", "{\"nodeName\":\"n\"}");
    const struct snapshot *third = publish(f);
    assert_int_equal(world_node_at(derive_world(third), 0)->pod_count, 1);
    assert_true(span_eq(world_catalogue(derive_world(third))->name, SPAN("list 1")));
    f->asked.job(f->asked.arg);
    const struct snapshot *fourth = publish_touched(f);
    assert_true(span_eq(world_catalogue(derive_world(fourth))->name, SPAN("list 2")));
    assert_false(derive_look(f->derive, f->now));
    give_back(first);
    give_back(second);
    give_back(third);
    give_back(fourth);
}

static void test_pods_change_the_world_they_are_in(void **state)
{
    struct fixture *f = *state;
    static const char bound[] = "{\"nodeName\":\"n\"}";
    list_all(f);
    put(f, KIND_NODE, "n", "{}");
    put(f, KIND_POD, "a", "{}");
    put(f, KIND_REPLICA_SET, "web", "{}");
    const struct snapshot *first = publish(f);
    put(f, KIND_POD, "b", bound);
    put(f, KIND_REPLICA_SET, "web-2", "{}"); /* no world without default spreads reads it */
    const struct snapshot *second = publish(f);
    assert_ptr_not_equal(derive_world(first), derive_world(second));
    assert_int_equal(derive_last(f->derive), DERIVE_DELTA);
    /* By delta: the columns that no pod touches are the same. */
    assert_ptr_equal(world_allocatable(derive_world(first), 0),
                     world_allocatable(derive_world(second), 0));
    assert_int_equal(world_node_at(derive_world(first), 0)->pod_count, 0);
    assert_int_equal(world_node_at(derive_world(second), 0)->pod_count, 1);
    give_back(first); /* what the second shares with it stays */
    put(f, KIND_POD, "a", bound);
    const struct snapshot *third = publish(f);
    share_reap(store_share(f->store));
    assert_int_equal(world_node_at(derive_world(second), 0)->pod_count, 1);
    assert_int_equal(world_node_at(derive_world(third), 0)->pod_count, 2);
    assert_true(span_eq(world_node_pods(derive_world(third), 0)[0]->meta.name, SPAN("a")));
    give_back(second);
    give_back(third);
}

static void drop(struct fixture *f, enum kind kind, const char *name)
{
    char json[128];
    const struct doc *doc;
    struct err err;
    snprintf(json, sizeof(json), "{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\"}}", name);
    if (!doc_parse_json(f->parser, span_of(json), &doc, &err))
        fail_msg("%s: %s", err.msg, json);
    store_event(f->store, kind, WATCH_DELETE, doc_root(doc));
}

/* A Node and what belongs to it come, change and go, and no world is built: its pod was bound before it was seen. */
static void test_nodes_change_the_world_they_are_in(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *label;
        enum kind kind;
        const char *name, *spec; /* NULL: it goes */
        uint32_t rows, pods;     /* pods of the first row */
    } steps[] = {
        {"a Node", KIND_NODE, "b", "{\"providerID\":\"p\"}", 2, 1},
        {"its claim", KIND_NODE_CLAIM, "c", "{}", 3, 1},
        {"what it can attach", KIND_CSI_NODE, "b", "{\"drivers\":[]}", 3, 1},
        {"cordoned", KIND_NODE, "b", "{\"providerID\":\"p\",\"unschedulable\":true}", 3, 1},
        {"the claim goes", KIND_NODE_CLAIM, "c", NULL, 2, 1},
        {"the Node goes", KIND_NODE, "b", NULL, 1, 0},
        {"and is back", KIND_NODE, "b", "{\"providerID\":\"p\"}", 2, 1},
    };
    list_all(f);
    put(f, KIND_NODE, "z", "{}");
    put(f, KIND_POD, "early", "{\"nodeName\":\"b\"}");
    const struct snapshot *before = publish(f);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (steps[i].spec != NULL)
            put(f, steps[i].kind, steps[i].name, steps[i].spec);
        else
            drop(f, steps[i].kind, steps[i].name);
        const struct snapshot *now = publish(f);
        give_back(before);
        share_reap(store_share(f->store));
        before = now;
        const struct world *w = derive_world(now);
        if (derive_last(f->derive) != DERIVE_DELTA || world_node_count(w) != steps[i].rows ||
            world_node_at(w, 0)->pod_count != steps[i].pods)
            fail_msg("%s: way %d, %u rows, %u pods", steps[i].label, derive_last(f->derive), world_node_count(w),
                     world_node_at(w, 0)->pod_count);
    }
    give_back(before);
}

/* What a Node or NodeClaim says beside what a world is made of comes to its row, and no world is built. */
static void test_news_of_a_node_reaches_its_row(void **state)
{
    struct fixture *f = *state;
    list_all(f);
    put(f, KIND_NODE, "n", "{\"providerID\":\"p\"}");
    put_with(f, KIND_NODE_CLAIM, "c", "{}", "{\"providerID\":\"p\"}");
    const struct snapshot *first = publish(f);
    put_with(f, KIND_NODE_CLAIM, "c", "{}",
             "{\"providerID\":\"p\",\"lastPodEventTime\":\"2026-11-20T12:00:00Z\"}");
    put_with(f, KIND_NODE, "n", "{\"providerID\":\"p\"}", "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
    const struct snapshot *second = publish(f);
    assert_ptr_equal(world_allocatable(derive_world(first), 0), world_allocatable(derive_world(second), 0));
    give_back(first);
    share_reap(store_share(f->store));
    const struct world_node *n = world_node_at(derive_world(second), 0);
    assert_true(n->claim->last_pod_event != 0);
    assert_true(node_is_ready(n->node));
    put_with(f, KIND_NODE, "n", "{\"providerID\":\"p\",\"unschedulable\":true}", "{}"); /* this a world is made of */
    const struct snapshot *third = publish(f);
    assert_true(world_node_at(derive_world(third), 0)->node->unschedulable);
    give_back(second);
    give_back(third);
}

static int32_t allowed_now(const struct snapshot *s, const char *name)
{
    const struct pod_budgets *b = &derive_world(s)->budgets;
    for (uint32_t i = 0; i < b->count; i++)
        if (span_eq(b->items[i]->meta.name, span_of(name)))
            return b->items[i]->disruptions_allowed;
    return -1;
}

/* A budget's status is another whenever a pod becomes ready; nor does it take a build when it is another, or a new one. */
static void test_budgets_build_no_world(void **state)
{
    struct fixture *f = *state;
    list_all(f);
    put_with(f, KIND_DISRUPTION_BUDGET, "a", "{\"minAvailable\":1}", "{\"disruptionsAllowed\":1}");
    put_with(f, KIND_DISRUPTION_BUDGET, "b", "{\"minAvailable\":1}", "{\"disruptionsAllowed\":2}");
    const struct snapshot *first = publish(f);
    put_with(f, KIND_DISRUPTION_BUDGET, "b", "{\"minAvailable\":1}", "{\"disruptionsAllowed\":7}");
    const struct snapshot *second = publish(f);
    assert_int_equal(derive_last(f->derive), DERIVE_DELTA);
    assert_int_equal(allowed_now(first, "b"), 2);
    give_back(first);
    share_reap(store_share(f->store));
    assert_int_equal(allowed_now(second, "a"), 1);
    assert_int_equal(allowed_now(second, "b"), 7);
    static const struct {
        const char *name, *spec;
    } others[] = {{"b", "{\"minAvailable\":\"100%\"}"}, {"b", "{\"maxUnavailable\":0}"}, {"b", "{\"minAvailable\":1,"
        "\"selector\":{\"matchLabels\":{\"app\":\"x\"}}}"}, {"c", "{}"}};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        put_with(f, KIND_DISRUPTION_BUDGET, others[i].name, others[i].spec, "{\"disruptionsAllowed\":7}");
        const struct snapshot *next = publish(f);
        assert_int_equal(derive_last(f->derive), DERIVE_DELTA);
        assert_int_equal(allowed_now(next, others[i].name), 7);
        give_back(second);
        second = next;
    }
    give_back(second);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_no_world_of_a_part_of_the_cluster),
        TEST(test_what_no_world_reads_makes_none),
        TEST(test_other_types_make_another_world),
        cmocka_unit_test_setup_teardown(test_who_is_asked_for_types_holds_up_no_world, setup_waiting, teardown),
        TEST(test_pods_change_the_world_they_are_in),
        TEST(test_nodes_change_the_world_they_are_in),
        TEST(test_news_of_a_node_reaches_its_row),
        TEST(test_budgets_build_no_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
