/* Places: what the extender holds until it is bound, and how a new leader finds it again. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/plan/plan_places.h"
#include "planner/columns.h"
#include "planner/held.h"
#include "planner/search/binder.h"

#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: "          \
    "{template: {spec: {requirements: []}}}\n"
#define NODE                                                                                       \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {}\nstatus: {allocatable: "      \
    "{cpu: 2, memory: 4Gi, pods: 10}}\n"
#define POD(name_, cpu_, more_)                                                                    \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: u-" name_ "}\nspec: {"       \
    "containers: [{name: c, resources: {requests: {cpu: " cpu_ "}}}]" more_ "}\nstatus: {"         \
    "conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"

static void plan_to_places(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL NODE POD("a", "1500m", "") POD("b", "1", "") POD("c", "400m", ""));
    struct places *p = places_of_plan(cluster_plan(&c), NULL, 1000);
    assert_int_equal(p->count, 3);
    const struct place *a = places_find(p, SPAN("u-a")), *b = places_find(p, SPAN("u-b"));
    assert_true(a != NULL && b != NULL && places_find(p, SPAN("u-x")) == NULL);
    assert_true(!a->on_claim && span_eq(a->target, SPAN("n1")));
    assert_true(b->on_claim && span_eq(b->target, SPAN("default-1")));

    struct places *later = places_of_plan(c.plan, p, 5000);
    assert_int_equal(places_find(later, SPAN("u-a"))->since, 1000);
    assert_int_equal(later->made, 5000);

    struct held *all = held_new(&c.arena, c.world, NULL, p);
    assert_int_equal(held_at(all, 0)[0], 1900); /* a and c */
    places_destroy(&later->shared);
    places_destroy(&p->shared);
    cluster_release(&c);
}

static void some_are_dropped(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL NODE POD("a", "1500m", "") POD("b", "1", "") POD("c", "1", ""));
    struct places *p = places_of_plan(cluster_plan(&c), NULL, 1000);
    const bool second[] = {false, true, false};
    struct places *left = places_without(p, second);
    places_destroy(&p->shared); /* nothing is borrowed from it */
    assert_int_equal(left->count, 2);
    assert_int_equal(left->made, 1001); /* other places than those */
    assert_int_equal(places_find(left, SPAN("u-a"))->since, 1000);
    assert_null(places_find(left, SPAN("u-b")));
    assert_true(span_eq(places_find(left, SPAN("u-c"))->pod, SPAN("c")));
    places_destroy(&left->shared);
    cluster_release(&c);
}

/* What the scheduler did meanwhile comes before what was planned: b is on its way to n1, and c was turned
 * down there. */
static void a_plan_begins_with_what_was_sent(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL NODE POD("a", "1500m", "") POD("b", "1", "") POD("c", "400m", ""));
    struct places *p = places_of_plan(cluster_plan(&c), NULL, 1000);
    uint64_t n1 = span_hash(SPAN("n1"));
    const struct sent_pod sent[] = {{.uid = SPAN("u-c"), .node = n1, .refused = true},
                                    {.uid = SPAN("u-b"), .node = n1, .refused = true},
                                    {.uid = SPAN("u-b"), .node = n1},
                                    {.uid = SPAN("u-gone"), .node = n1},
                                    {.uid = SPAN("u-a"), .node = span_hash(SPAN("gone"))}};
    struct places *begin = places_with(p, sent, COUNT_OF(sent), c.world);
    assert_int_equal(begin->count, 1);
    assert_true(span_eq(begin->items[0].uid, SPAN("u-b")));
    assert_true(span_eq(begin->items[0].target, SPAN("n1")));

    const struct barred barred = {(uint32_t)world_waiting_class(c.world, SPAN("u-c")), 0};
    c.plan_options.places = begin;
    c.plan_options.barred = &barred;
    c.plan_options.barred_count = 1;
    const struct plan *plan = cluster_plan(&c);
    assert_int_equal(plan->node_count, 1);
    assert_int_equal(plan->nodes[0].pod_count, 1);
    assert_true(span_eq(plan->nodes[0].pods[0]->meta.name, SPAN("b"))); /* a, larger, would come first */
    assert_int_equal(plan->unschedulable_count, 0);
    places_destroy(&begin->shared);
    places_destroy(&p->shared);
    cluster_release(&c);
}

#define RACK(name_, rack_)                                                                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: "                       \
    "{rack: " rack_ "}}\nspec: {}\nstatus: {allocatable: "                                       \
    "{cpu: 2, memory: 4Gi, pods: 10}}\n"
#define SPREAD(name_)                                                                              \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", uid: u-" name_ ", labels: {app: s}}" \
    "\nspec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}], "                       \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, "                                 \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: s}}}]}\nstatus: {"       \
    "conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
#define PLACE(name_, node_)                                                                        \
    {.uid = SPAN("u-" name_), .ns = SPAN("default"), .pod = SPAN(name_), .target = SPAN(node_)}

/* Of a spread some fit only after others have sat down, and equal pods of one that was turned down somewhere
 * were not themselves. Who was sent somewhere is there, whatever the spread says. */
static void a_plan_keeps_its_places(void **state)
{
    (void)state;
    const struct place items[] = {PLACE("a", "n1"), PLACE("b", "n1"), PLACE("c", "n2"), PLACE("d", "n2")};
    const struct places p = {.items = items, .count = COUNT_OF(items)};
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL RACK("n1", "r1") RACK("n2", "r2") SPREAD("a") SPREAD("b")
                        SPREAD("c") SPREAD("d") SPREAD("e"));
    cluster_plan(&c);
    const struct barred barred = {(uint32_t)world_waiting_class(c.world, SPAN("u-e")), 0};
    c.plan_options.places = &p;
    c.plan_options.barred = &barred;
    c.plan_options.barred_count = 1;
    cluster_plan(&c);
    assert_string_equal(cluster_summary(&c).ptr, "node n1: a b\nnode n2: c d e\n");

    const uint64_t n1 = span_hash(SPAN("n1"));
    const struct sent_pod sent[] = {{.uid = SPAN("u-a"), .node = n1}, {.uid = SPAN("u-b"), .node = n1},
                                    {.uid = SPAN("u-c"), .node = n1}};
    struct places *begin = places_with(&p, sent, COUNT_OF(sent), c.world);
    c.plan_options.places = begin;
    cluster_plan_unchecked(&c);
    assert_string_equal(cluster_summary(&c).ptr, "node n1: a b c\nnode n2: d e\n");
    places_destroy(&begin->shared);
    cluster_release(&c);
}

/* A pod that was bound since holds nothing: it stands there. */
static void bound_holds_nothing(void **state)
{
    (void)state;
    struct cluster c, after;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL NODE POD("a", "1500m", ""));
    struct places *p = places_of_plan(cluster_plan(&c), NULL, 1000);
    cluster_init(&after);
    cluster_types_c0(&after);
    cluster_add(&after, POOL NODE POD("a", "1500m", ", nodeName: n1"));
    cluster_plan(&after);
    assert_null(held_at(held_new(&after.arena, after.world, NULL, p), 0));
    places_destroy(&p->shared);
    cluster_release(&c);
    cluster_release(&after);
}

static void fits(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        amount held;
        enum binder_answer answer;
        bool room; /* beside what is held */
    } rows[] = {
        {"a", 0, BINDER_YES, true},
        {"a", 600, BINDER_YES, false},
        {"big", 0, BINDER_RESOURCES, false},
        {"zonal", 0, BINDER_SELECTOR, true},
        {"spread", 0, BINDER_YES, true},
        {"spread", 1800, BINDER_YES, false},
        {"port", 0, BINDER_PORTS, true},
    };
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL NODE POD("a", "1500m", "") POD("big", "3", "")
                POD("zonal", "1", ", nodeSelector: {topology.kubernetes.io/zone: z}")
                POD("spread", "1", ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                    "kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}]")
                "---\napiVersion: v1\nkind: Pod\nmetadata: {name: holder}\nspec: {nodeName: n1, "
                "containers: [{name: c, ports: [{containerPort: 1, hostPort: 80}]}]}\n"
                "---\napiVersion: v1\nkind: Pod\nmetadata: {name: port}\nspec: {containers: [{name: "
                "c, ports: [{containerPort: 1, hostPort: 80}]}]}\nstatus: {conditions: [{type: "
                "PodScheduled, status: \"False\", reason: Unschedulable}]}\n");
    cluster_plan(&c);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t n = 0; n < c.kinds[KIND_POD].count; n++) {
            const struct pod *p = c.kinds[KIND_POD].items[n];
            if (!span_eq(p->meta.name, span_of(rows[i].pod)))
                continue;
            amount held[8] = {rows[i].held};
            int32_t id = world_class_of(c.world, p);
            assert_true(id >= 0);
            enum binder_answer got = binder_ask(binder_new(&c.arena, c.world), id, 0);
            if (got != rows[i].answer)
                fail_msg("%s: %d", rows[i].pod, got);
            const amount *requests = classes_requests(&c.world->classes, (uint32_t)id);
            if (world_has_room(c.world, requests, false, 0, held) != rows[i].room)
                fail_msg("%s with %lld held", rows[i].pod, (long long)rows[i].held);
        }
    cluster_release(&c);
}

/* First fit alone would send both to n1. */
static void kept(void **state)
{
    (void)state;
    static const struct {
        const char *label, *target;
        bool on_claim;
        const char *summary;
    } rows[] = {
        {"where it was", "n2", false, "node n1: b\nnode n2: a\n"},
        {"a node that is gone", "n3", false, "node n1: a b\n"},
        {"a claim nobody knows", "n2", true, "node n1: a b\n"},
        {"a node without the room", "tiny", false, "node n1: a b\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, POOL NODE POD("a", "1", "") POD("b", "500m", "")
                    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nspec: {}\nstatus: "
                    "{allocatable: {cpu: 2, memory: 4Gi, pods: 10}}\n"
                    "---\napiVersion: v1\nkind: Node\nmetadata: {name: tiny}\nspec: {}\nstatus: "
                    "{allocatable: {cpu: 900m, memory: 4Gi, pods: 10}}\n");
        struct place place = {.uid = SPAN("u-a"), .target = span_of(rows[i].target),
                              .on_claim = rows[i].on_claim};
        struct places places = {.items = &place, .count = 1};
        c.plan_options.places = &places;
        cluster_plan(&c);
        if (!span_eq(cluster_summary(&c), span_of(rows[i].summary)))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(cluster_summary(&c)));
        cluster_release(&c);
    }
}

#define CLAIM(name_, planned_)                                                                     \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                   \
    ", annotations: {stowage.dev/planned: \"" planned_ "\"}}\nspec: {}\nstatus: {providerID: "     \
    "\"x://" name_ "\", allocatable: {cpu: 4, memory: 4Gi, pods: 10}}\n"

static void rebuilt(void **state)
{
    (void)state;
    struct cluster c, next;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL POD("a", "1", "") POD("b", "1", "") POD("c", "500m", ""));
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 1);
    struct span planned = places_planned_text(&c.arena, c.world, p->claims[0].pods, p->claims[0].pod_count);

    struct buf b = {0};
    buf_addf(&b, POOL POD("d", "1", "") POD("e", "2", "") POD("a", "1", "") POD("c", "500m", ""));
    buf_addf(&b, CLAIM("c1", "%.*s"), SPAN_ARG(planned));
    cluster_init(&next); /* another process: other symbols */
    sym_intern(next.syms, SPAN("shifts the ids"));
    cluster_types_c0(&next);
    cluster_add(&next, b.ptr);
    buf_release(&b);
    cluster_plan(&next);
    struct places *r = places_rebuild(next.world, 7000);
    assert_int_equal(r->count, 3); /* a and d have the shape of a and b; e has one of its own */
    assert_non_null(places_find(r, SPAN("u-d")));
    assert_null(places_find(r, SPAN("u-e")));
    assert_true(places_find(r, SPAN("u-c"))->on_claim);
    assert_true(span_eq(places_find(r, SPAN("u-c"))->target, SPAN("c1")));
    places_destroy(&r->shared);
    cluster_release(&c);
    cluster_release(&next);
}

static void odd_annotations(void **state)
{
    (void)state;
    static const char *const texts[] = {"", ",", "x", "1x", "3xzzzzzzzzzzzzzzzz", "-1x0000000000000000",
                                        "99999999999x0000000000000000", "12x*", "1x00,,"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct cluster c;
        struct buf b = {0};
        cluster_init(&c);
        cluster_types_c0(&c);
        buf_addf(&b, POOL POD("a", "1", "") CLAIM("c1", "%s"), texts[i]);
        cluster_add(&c, b.ptr);
        buf_release(&b);
        cluster_plan(&c);
        struct places *r = places_rebuild(c.world, 0);
        assert_int_equal(r->count, 0);
        places_destroy(&r->shared);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_to_places),
        cmocka_unit_test(some_are_dropped),
        cmocka_unit_test(a_plan_begins_with_what_was_sent), cmocka_unit_test(a_plan_keeps_its_places),
        cmocka_unit_test(bound_holds_nothing),
        cmocka_unit_test(fits),           cmocka_unit_test(rebuilt),
        cmocka_unit_test(odd_annotations), cmocka_unit_test(kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
