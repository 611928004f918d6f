/* Who holds what on a node, and who has to leave it. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/held.h"

#define NODE(name)                                                                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nspec: {}\nstatus: {allocatable: " \
    "{cpu: 8, memory: 16Gi, pods: 10}}\n"
#define POD(name, spec, status)                                                                    \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", uid: u-" name "}\nspec: {" spec     \
    "containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {" status "conditions: "   \
    "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

/* Places are on n1, but for that of "sent", which the scheduler has nominated to n2. */
static const char yaml[] = NODE("n1") NODE("n2") POD("low", "", "") POD("other", "", "")
    POD("high", "priority: 1000, ", "") POD("sent", "", "nominatedNodeName: n2, ")
        POD("bound", "nodeName: n2, ", "");

static const char *const placed[] = {"u-bound", "u-high", "u-low", "u-sent"};

struct table {
    struct cluster c;
    struct place places_items[COUNT_OF(placed)];
    struct places places;
    struct held *held;
    uint32_t n1, n2;
};

static void lay(struct table *t)
{
    cluster_init(&t->c);
    cluster_types_c0(&t->c);
    cluster_add(&t->c, yaml);
    cluster_plan(&t->c);
    t->n1 = (uint32_t)world_find_node(t->c.world, SPAN("n1"));
    t->n2 = (uint32_t)world_find_node(t->c.world, SPAN("n2"));
    for (size_t i = 0; i < COUNT_OF(placed); i++)
        t->places_items[i] = (struct place){.uid = span_of(placed[i]), .target = SPAN("n1")};
    t->places = (struct places){.items = t->places_items, .count = COUNT_OF(placed)};
    t->held = held_new(&t->c.arena, t->c.world, NULL, &t->places);
}

static amount all_on(const struct table *t, uint32_t row)
{
    const amount *total = held_at(t->held, row);
    return total != NULL ? total[0] : 0;
}

/* CPU that a pod has to leave; *placed: some of it is a place or a nomination. */
static amount leaves(const struct table *t, uint32_t row, const char *uid, int32_t priority,
                     bool *placed_out)
{
    amount scratch[16];
    uint64_t id = span_hash(span_of(uid));
    assert_true(world_resource_count(t->c.world) <= COUNT_OF(scratch));
    const amount *left = held_against(t->held, row, id, priority, held_any(t->held, id), scratch,
                                      placed_out);
    return left != NULL ? left[0] : 0;
}

static void put(struct table *t, uint32_t row, const char *uid, int32_t priority, amount cpu)
{
    amount *requests = ARENA_ARRAY(&t->c.arena, amount, world_resource_count(t->c.world));
    requests[0] = cpu;
    held_put(t->held, &row, 1, &(struct holder){span_hash(span_of(uid)), priority, requests});
}

static void drop(struct table *t, const char *uid)
{
    held_drop(t->held, span_hash(span_of(uid)));
}

static void places_and_nominations(void **state)
{
    (void)state;
    struct table t;
    lay(&t);
    assert_int_equal(all_on(&t, t.n1), 2000); /* low and high */
    assert_int_equal(all_on(&t, t.n2), 1000); /* sent, and not where it was planned */
    assert_true(held_places(t.held, t.n1) && held_places(t.held, t.n2));
    assert_true(held_any(t.held, span_hash(SPAN("u-sent"))));
    assert_false(held_any(t.held, span_hash(SPAN("u-bound"))));
    assert_false(held_any(t.held, span_hash(SPAN("u-other"))));
    cluster_release(&t.c);
}

#define OURS(name)                                                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", uid: u-" name ", managedFields: [{manager: stowage, " \
    "operation: Update, subresource: status, fieldsV1: {'f:status': {'f:nominatedNodeName': {}}}}]}\n" \
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {nominatedNodeName: n2, conditions: " \
    "[{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

/* The plan has moved on, and the nomination will follow; without a place what was nominated is all there is. */
static void our_own_nominations_follow_the_plan(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, NODE("n1") NODE("n2") OURS("moved") OURS("kept"));
    cluster_plan(&c);
    struct place item = {.uid = SPAN("u-moved"), .target = SPAN("n1")};
    const struct places places = {.items = &item, .count = 1};
    const struct held *h = held_new(&c.arena, c.world, NULL, &places);
    for (size_t i = 0; i < 2; i++) {
        const char *uid = i == 0 ? "u-moved" : "u-kept";
        uint32_t row = (uint32_t)world_find_node(c.world, i == 0 ? SPAN("n1") : SPAN("n2"));
        assert_non_null(held_at(h, row));
        assert_int_equal(held_at(h, row)[0], 1000);
        assert_true(held_from_start(h, span_hash(span_of(uid)), row));
    }
    cluster_release(&c);
}

static void who_has_to_leave_what(void **state)
{
    (void)state;
    static const struct {
        const char *label, *uid;
        int32_t priority;
        bool second; /* of the nodes */
        amount want;
        bool placed;
    } rows[] = {
        {"a stranger leaves all", "u-other", 0, false, 2000, true},
        {"nobody leaves his own place", "u-low", 0, false, 1000, true},
        {"of higher priority only what is as high", "u-other", 1000, false, 1000, true},
        {"and that one nothing", "u-high", 1000, false, 0, false},
        {"nor he who is above all", "u-other", 2000, false, 0, false},
        {"who is below all leaves all", "u-other", -1, false, 2000, true},
        {"a nominated pod owns its room", "u-other", 0, true, 1000, true},
        {"and does not leave it", "u-sent", 0, true, 0, false},
    };
    struct table t;
    lay(&t);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool is_placed;
        amount got = leaves(&t, rows[i].second ? t.n2 : t.n1, rows[i].uid, rows[i].priority,
                            &is_placed);
        if (got != rows[i].want || is_placed != rows[i].placed)
            fail_msg("%s: leaves %lld, placed %d", rows[i].label, (long long)got, is_placed);
    }
    cluster_release(&t.c);
}

static void put_and_drop(void **state)
{
    (void)state;
    struct table t;
    bool is_placed;
    lay(&t);
    amount *requests = ARENA_ARRAY(&t.c.arena, amount, world_resource_count(t.c.world));
    requests[0] = 500;
    const uint32_t rows[] = {t.n2, t.n1};
    held_put(t.held, rows, 2, &(struct holder){span_hash(SPAN("u-new")), 0, requests});
    assert_int_equal(all_on(&t, t.n2), 1500);
    assert_int_equal(leaves(&t, t.n2, "u-new", 0, &is_placed), 1000);
    drop(&t, "u-new");
    assert_int_equal(all_on(&t, t.n1), 2000);
    assert_int_equal(all_on(&t, t.n2), 1000);
    assert_false(held_any(t.held, span_hash(SPAN("u-new"))));
    drop(&t, "u-sent"); /* what was held from the start stays */
    assert_int_equal(all_on(&t, t.n2), 1000);
    assert_true(held_places(t.held, t.n2));
    cluster_release(&t.c);
}

/* Who was let onto a node is in everybody's way, also where he had a place that higher priority could
 * have taken. */
static void let_on_is_there(void **state)
{
    (void)state;
    struct table t;
    bool is_placed;
    lay(&t);
    put(&t, t.n1, "u-new", 0, 500);
    assert_int_equal(leaves(&t, t.n1, "u-other", 1000, &is_placed), 1500);
    assert_true(is_placed);
    assert_int_equal(leaves(&t, t.n1, "u-other", 2000, &is_placed), 500);
    assert_false(is_placed);
    put(&t, t.n1, "u-low", 0, 1000);
    assert_int_equal(all_on(&t, t.n1), 2500); /* its place is where it went */
    assert_int_equal(leaves(&t, t.n1, "u-other", 2000, &is_placed), 1500);
    assert_false(is_placed);
    drop(&t, "u-low");
    assert_int_equal(leaves(&t, t.n1, "u-other", 2000, &is_placed), 500);
    assert_int_equal(all_on(&t, t.n1), 2500); /* it still has its place */
    cluster_release(&t.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_and_nominations),
        cmocka_unit_test(our_own_nominations_follow_the_plan),
        cmocka_unit_test(who_has_to_leave_what),
        cmocka_unit_test(put_and_drop),
        cmocka_unit_test(let_on_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
