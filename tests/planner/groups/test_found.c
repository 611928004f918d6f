/* What a pass says that it found (spec node-groups 3.1): what becomes of requests, machines that failed or have not
 * registered, sizes that do not fit. It is noon; the request is of 11:44:59, so that it is a second over its time. */
#include "support_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define NODE(name)                                                                                                     \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nspec: {providerID: " name "}\n"                     \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, conditions: [{type: Ready, status: 'True'}]}\n"
#define A(target, more) "groups: [{name: a, minSize: 0, maxSize: 9, targetSize: " #target ", " more "}]\n"
#define OLD(n) "scaleUpRequest: {increase: " #n ", time: '2026-01-01T11:44:59Z'}, "
#define YOUNG(n) "scaleUpRequest: {increase: " #n ", time: '2026-01-01T11:50:00Z'}, "
#define RUNS(id) "{id: " id "}, "
#define FAILS(id, class, code, message, more)                                                                           \
    "{id: " id ", state: Creating, errorInfo: {class: " class ", code: " code ", message: " message "}" more "}, "

/* request, increase; events; ids that failed; ids unregistered, and since when where it is not now; the mismatch. */
static const struct {
    const char *label, *objects, *groups, *want;
} rows[] = {
    {"nothing", NODE("n1"), A(1, "instances: [" RUNS("n1") "]"), "none"},
    {"a request that waits", NODE("n1"), A(3, YOUNG(2) "instances: [" RUNS("n1") "]"), "stands 2, 1 of 3 now"},
    {"is done", NODE("n1"), A(1, YOUNG(1) "instances: [" RUNS("n1") "]"), "done"},
    {"107: is over its time", NODE("n1"), A(3, OLD(2) "instances: [" RUNS("n1") "]"),
     "timed out, ScaleUpTimedOut Nodes added to group a failed to register within 15m1s "
     "(timeout: Scale-up timed out for node group a after 15m1s), 1 of 3 now"},
    {"107: and one has come", NODE("n1"), A(3, OLD(3) "instances: [" RUNS("n1") "]"),
     "timed out, not taken back, ScaleUpTimedOut Nodes added to group a failed to register within 15m1s "
     "(timeout: Scale-up timed out for node group a after 15m1s), 1 of 3 now"},
    {"109: a machine that could not be made", NODE("n1"),
     A(3, YOUNG(2) "instances: [" RUNS("n1") FAILS("x", "OutOfResources", "QUOTA", "no more", "") "]"),
     "stands 1, ScaleUpFailed Failed adding 1 nodes to group a due to OutOfResource.QUOTA; source errors: no more "
     "(QUOTA: no more), failed x, 1 of 3 now"},
    {"110: and is known", NODE("n1"),
     A(3, YOUNG(1) "instances: [" RUNS("n1") FAILS("x", "OutOfResources", "QUOTA", "no more", ", errorKnown: true") "]"),
     "stands 1, failed x, 1 of 3 now"},
    {"184: all that was said, once each", "",
     A(9, YOUNG(9) "instances: [" FAILS("u", "Other", "E", "m5", "") FAILS("v", "Other", "E", "m1", "")
           FAILS("w", "Other", "E", "m4", "") FAILS("x", "Other", "E", "m2", ", errorKnown: true")
               FAILS("y1", "Other", "E", "m3", "") FAILS("z", "Other", "E", "m1", "") "]"),
     "stands 4, ScaleUpFailed Failed adding 5 nodes to group a due to Other.E; source errors: m1, m2, m3, m4, m5, ... "
     "(E: m1, m2, m3, m4, m5, ...), failed u v w x y1 z, 0 of 9 now"},
    {"three are not too many", "",
     A(9, YOUNG(9) "instances: [" FAILS("u", "Other", "E", "m3", "") FAILS("v", "Other", "E", "m1", "")
           FAILS("w", "Other", "E", "m2", "") "]"),
     "stands 6, ScaleUpFailed Failed adding 3 nodes to group a due to Other.E; source errors: m1, m2, m3 (E: m1, m2, m3), "
     "failed u v w, 0 of 9 now"},
    {"each reason by itself", "",
     A(4, YOUNG(4) "instances: [" FAILS("u", "Other", "E", "m", "") FAILS("v", "OutOfResources", "E", "m", "") "]"),
     "stands 2, ScaleUpFailed Failed adding 1 nodes to group a due to OutOfResource.E; source errors: m (E: m), "
     "ScaleUpFailed Failed adding 1 nodes to group a due to Other.E; source errors: m (E: m), failed u v, 0 of 4 now"},
    {"a group that does not grow did not fail to", "", A(1, "instances: [" FAILS("u", "Other", "E", "m", "") "]"),
     "none, failed u, 0 of 1 now"},
    {"machines that have not registered", NODE("n1"),
     A(3, "instances: [" RUNS("n1") RUNS("x") "{id: y1, unregisteredSince: '2026-01-01T11:55:00Z'}, {id: z, state: Deleting}]"),
     "none, unregistered x y1 300s"},
    {"17: a size that does not fit, since", NODE("n1"),
     A(3, "sizeMismatch: {registered: 1, target: 3, since: '2026-01-01T11:50:00Z'}, instances: [" RUNS("n1") "]"),
     "none, 1 of 3 600s"},
    {"18: it was another", NODE("n1"),
     A(3, "sizeMismatch: {registered: 1, target: 2, since: '2026-01-01T11:50:00Z'}, instances: [" RUNS("n1") "]"),
     "none, 1 of 3 now"},
    {"19: too many", NODE("n1") NODE("o"), A(1, "instances: [" RUNS("n1") RUNS("o") "]"), "none, 2 of 1 now"},
    {"nobody of a group was ever seen", NODE("n1"), A(3, ""), "none, 0 of 3 now"},
};

static void tell_since(struct buf *b, wall_ms now, wall_ms since, bool say_now)
{
    if (since != now)
        buf_addf(b, " %llds", (long long)((now - since) / MS_SECOND));
    else if (say_now)
        buf_addf(b, " now");
}

static void tell(struct buf *b, struct arena *a, const struct group_found *f, wall_ms now)
{
    static const char *const ends[] = {"none", "stands", "done", "timed out"};
    buf_addf(b, "%s", ends[f->request]);
    if (f->increase != 0)
        buf_addf(b, " %d", f->increase);
    if (f->revert_refused)
        buf_addf(b, ", not taken back");
    for (uint32_t i = 0; i < f->failure_count; i++) {
        struct span text = group_failure_text(&f->failures[i], SPAN("a"), a);
        buf_addf(b, ", %s %.*s (%.*s: %.*s)", group_failure_reason(&f->failures[i]), SPAN_ARG(text),
                 SPAN_ARG(f->failures[i].code), SPAN_ARG(f->failures[i].message));
    }
    for (uint32_t i = 0; i < f->failed.count; i++)
        buf_addf(b, "%s %.*s", i == 0 ? ", failed" : "", SPAN_ARG(f->failed.items[i]));
    for (uint32_t i = 0; i < f->unregistered_count; i++) {
        buf_addf(b, "%s %.*s", i == 0 ? ", unregistered" : "", SPAN_ARG(f->unregistered[i].machine));
        tell_since(b, now, f->unregistered[i].since, false);
    }
    if (f->has_mismatch) {
        buf_addf(b, ", %d of %d", f->mismatch.registered, f->mismatch.target);
        tell_since(b, now, f->mismatch.since, true);
    }
}

static void test_rows(void **state)
{
    (void)state;
    struct group_flags flags = group_flags_default();
    wall_ms now;
    int failed = 0;
    assert_true(time_parse(SPAN("2026-01-01T12:00:00Z"), &now));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct node_groups file = {0};
        struct world *w;
        struct buf b = {0};
        cluster_init(&c);
        cluster_add(&c, rows[i].objects);
        pass_read(&c, rows[i].groups, &node_groups_schema, &file);
        struct group_objects objects = pass_objects(&c);
        const struct group_pass *p = pass_run(&c, &objects, &file, &flags, now, &c.arena, &w);
        tell(&b, &c.arena, &p->found[0], now);
        if (!span_eq(buf_span(&b), span_of(rows[i].want))) {
            print_error("%s:\n     %.*s\nnot: %s\n", rows[i].label, SPAN_ARG(buf_span(&b)), rows[i].want);
            failed++;
        }
        buf_release(&b);
        world_free(w);
        cluster_release(&c);
    }
    assert_int_equal(failed, 0);
}

/* Who deletes what, and how the cluster is as a whole. */
static void test_gates(void **state)
{
    (void)state;
    static const char groups[] =
        "groups:\n"
        "- {name: a, minSize: 0, maxSize: 9, targetSize: 2, instances: [{id: n1}, {id: z, unregisteredSince: "
        "'2026-01-01T11:00:00Z'}]}\n"
        "- {name: b, minSize: 0, maxSize: 9, targetSize: 1, instances: [" FAILS("x", "Other", "E", "m", "") "]}\n";
    struct group_flags flags = group_flags_default();
    struct cluster c;
    struct node_groups file = {0};
    struct world *w;
    wall_ms now;
    assert_true(time_parse(SPAN("2026-01-01T12:00:00Z"), &now));
    cluster_init(&c);
    cluster_add(&c, NODE("n1") NODE("other"));
    pass_read(&c, groups, &node_groups_schema, &file);
    struct group_objects objects = pass_objects(&c);
    const struct group_pass *p = pass_run(&c, &objects, &file, &flags, now, &c.arena, &w);
    assert_int_equal(p->repairs.deleted_count, 2);
    assert_true(span_eq(p->repairs.deleted[0].id, SPAN("x")) && p->repairs.deleted[0].group == 1);
    assert_int_equal(p->repairs.deleted[0].why, GATE_FAILED);
    assert_true(span_eq(p->repairs.deleted[1].id, SPAN("z")) && p->repairs.deleted[1].group == 0);
    assert_int_equal(p->repairs.deleted[1].why, GATE_UNREGISTERED);
    assert_int_equal(p->all.registered, 2);
    assert_int_equal(p->all.ready, 2);
    assert_int_equal(p->all.long_unregistered, 1);
    assert_false(p->unhealthy);
    world_free(w);
    ((struct node *)c.kinds[KIND_NODE].items[1])->conditions.items[0].status = CONDITION_FALSE; /* the one of no group */
    flags.ok_unready_count = 0;
    p = pass_run(&c, &objects, &file, &flags, now, &c.arena, &w);
    assert_true(p->unhealthy);
    world_free(w);
    flags = group_flags_default();
    flags.scale_up_from_zero = false;
    for (size_t i = 0; i < c.kinds[KIND_NODE].count; i++)
        ((struct node *)c.kinds[KIND_NODE].items[i])->unschedulable = true;
    p = pass_run(&c, &objects, &file, &flags, now, &c.arena, &w);
    assert_null(p->found);
    world_free(w);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_gates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
