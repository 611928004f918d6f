/* The plan in force, as GET /plan shows it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/places_json.h"
#include "support_view.h"

#define HEAD "{\"apiVersion\":\"stowage.dev/v1alpha1\",\"kind\":\"HeldPlaces\","

static struct place place(const char *pod, const char *target, bool on_claim)
{
    return (struct place){.ns = SPAN("shop"), .pod = span_of(pod), .target = span_of(target),
                          .on_claim = on_claim};
}

static const struct {
    const char *label;
    struct {
        const char *pod, *target;
        bool on_claim;
    } items[4];
    uint32_t count;
    const char *want;
} rows[] = {
    {"nothing", {{NULL, NULL, false}}, 0, HEAD "\"nodeClaims\":[],\"existingNodes\":[],\"unschedulable\":[]}"},
    {"sorted, and by what they go to",
     {{"b", "n2", true}, {"c", "n1", false}, {"a", "n2", true}, {"d", "n3", true}}, 4,
     HEAD "\"nodeClaims\":[{\"name\":\"n2\",\"pods\":[\"shop/a\",\"shop/b\"]},"
          "{\"name\":\"n3\",\"pods\":[\"shop/d\"]}],"
          "\"existingNodes\":[{\"name\":\"n1\",\"pods\":[\"shop/c\"]}],\"unschedulable\":[]}"},
};

static void test_document(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct place items[COUNT_OF(rows[r].items)];
        for (uint32_t i = 0; i < rows[r].count; i++)
            items[i] = place(rows[r].items[i].pod, rows[r].items[i].target, rows[r].items[i].on_claim);
        struct places p = {.items = items, .count = rows[r].count};
        struct buf out = {.max = 4096};
        places_json(&(struct places_view){.places = &p}, &out);
        if (!span_eq(buf_span(&out), span_of(rows[r].want)))
            fail_msg("%s: got %.*s", rows[r].label, SPAN_ARG(buf_span(&out)));
        buf_clear(&out);
        places_json(&(struct places_view){0}, &out);
        assert_true(span_eq(buf_span(&out), span_of(rows[0].want)));
        buf_release(&out);
    }
}

static void test_machines_of_groups(void **state)
{
    (void)state;
    struct place items[] = {place("a", "machine 1 of group g", false), place("b", "n1", false)};
    struct places p = {.items = items, .count = COUNT_OF(items)};
    struct buf out = {.max = 4096};
    items[0].group = SPAN("g");
    places_json(&(struct places_view){.places = &p}, &out);
    assert_true(span_eq(buf_span(&out), SPAN(HEAD "\"nodeClaims\":[],\"groupMachines\":[{\"name\":\"machine 1 of group g\","
                                             "\"pods\":[\"shop/a\"]}],\"existingNodes\":[{\"name\":\"n1\",\"pods\":"
                                             "[\"shop/b\"]}],\"unschedulable\":[]}")));
    buf_release(&out);
}

#define WAITS(name)                                                                                \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: web, uid: uid-" name "}\n"      \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n---\n"
#define BOUND(name)                                                                                \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: web, uid: uid-" name "}\n"      \
    "spec: {nodeName: n1}\n---\n"

static struct span why(void *user, struct arena *a, const struct pod *p)
{
    (void)user;
    (void)a;
    return span_eq(p->meta.name, SPAN("fresh")) ? (struct span){0} : SPAN("it asks for much");
}

/* Who is bound has no place for long; who waits without one is told with the reason. */
static void test_what_is_true_now(void **state)
{
    (void)state;
    struct view v;
    struct buf out = {0};
    view_open(&v, WAITS("p") WAITS("lone") WAITS("alone") WAITS("fresh") BOUND("q"), "");
    struct place items[] = {{.uid = SPAN("uid-gone"), .pod = SPAN("gone")},
                            {.uid = SPAN("uid-p"), .pod = SPAN("p")},
                            {.uid = SPAN("uid-q"), .pod = SPAN("q")}}; /* by uid */
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        items[i].ns = SPAN("web");
        items[i].target = SPAN("n1");
    }
    struct places places = {.items = items, .count = COUNT_OF(items)};
    struct places_view x = {.places = &places, .snapshot = v.snapshot, .world = v.world, .why = why};
    x.now = 19 * MS_SECOND;
    places_json(&x, &out);
    assert_non_null(strstr(out.ptr, "\"existingNodes\":[{\"name\":\"n1\",\"pods\":[\"web/gone\",\"web/p\",\"web/q\"]}]"));
    buf_clear(&out);
    x.now += 2 * MS_SECOND;
    places_json(&x, &out);
    assert_non_null(strstr(out.ptr, "\"existingNodes\":[{\"name\":\"n1\",\"pods\":[\"web/p\"]}]"));
    assert_non_null(strstr(out.ptr, "\"unschedulable\":[{\"pod\":\"web/alone\",\"message\":\"it asks for much\"},"
                                    "{\"pod\":\"web/lone\",\"message\":\"it asks for much\"}],\"cost\":{\"before\":0}"));
    buf_release(&out);
    view_close(&v);
}

static void test_moves(void **state)
{
    (void)state;
    struct span nodes[] = {SPAN("n1"), SPAN("n2")};
    struct move items[] = {{.id = SPAN("d-1"), .state = MOVE_REMOVES, .reason = REASON_DRIFTED, .decision = SPAN("replace"),
                            .nodes = nodes, .node_count = 1, .replacements = 1, .savings = NAN},
                           {.id = SPAN("d-2"), .state = MOVE_RECOMMENDED, .reason = REASON_UNDERUTILIZED,
                            .decision = SPAN("delete"), .nodes = nodes, .node_count = 2, .savings = 0.5, .evictions = 3,
                            .text = SPAN("remove n1, n2")}};
    struct moves moves = {items, COUNT_OF(items), COUNT_OF(items)};
    struct buf out = {0};
    places_json(&(struct places_view){.moves = &moves}, &out);
    assert_non_null(strstr(out.ptr, "\"moves\":[{\"id\":\"d-1\",\"state\":\"removes\",\"reason\":\"drifted\",\"decision\":"
                                    "\"replace\",\"candidates\":[\"n1\"],\"replacements\":1,\"evictions\":0},"
                                    "{\"id\":\"d-2\",\"state\":\"recommended\",\"reason\":\"underutilized\",\"decision\":"
                                    "\"delete\",\"candidates\":[\"n1\",\"n2\"],\"replacements\":0,\"evictions\":3,"
                                    "\"savingsPerHour\":0.5,\"message\":\"remove n1, n2\"}]"));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document),
                                       cmocka_unit_test(test_machines_of_groups),
                                       cmocka_unit_test(test_what_is_true_now),
                                       cmocka_unit_test(test_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
