#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/guards.h"

enum { NOW = 1000000 };

static const struct {
    const char *label;
    mono_ms broken_since; /* of the pods' watch */
    mono_ms now;
    enum guards_verdict want; /* of an empty node */
} rows[] = {
    {"all is well", 0, NOW, GUARDS_CLEAR},
    {"a watch broken for less than a minute", NOW, NOW + 59999, GUARDS_CLEAR},
    {"a watch broken for a minute", NOW, NOW + 60000, GUARDS_WATCH_BROKEN},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct snapshot s = {0};
        struct guards g = {0};
        enum kind k = KIND_NONE;
        s.state[KIND_POD].broken_since = rows[r].broken_since;
        struct guards_view v = guards_look(&g, &s, rows[r].now);
        enum guards_verdict got = guards_check(&v, GUARDS_EMPTY, &k);
        if (got != rows[r].want)
            fail_msg("%s: %s, not %s", rows[r].label, guards_verdict_name(got),
                     guards_verdict_name(rows[r].want));
        if (got == GUARDS_WATCH_BROKEN)
            assert_int_equal(k, KIND_POD);
    }
}

#define ACT(a) (1u << GUARDS_##a)

/* Whatever is not named goes on. */
static void each_watch_stops_what_needs_it(void **state)
{
    static const struct {
        enum kind broken;
        unsigned stopped;
    } kinds[] = {
        {KIND_POD, ACT(EXPIRE) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS) | ACT(DRAINED)},
        {KIND_NODE, ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS)},
        {KIND_NODE_CLAIM, ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK)},
        {KIND_NODE_POOL, ACT(EMPTY) | ACT(SHRINK)},
        {KIND_DISRUPTION_BUDGET, ACT(EMPTY) | ACT(GROUPS)},
        {KIND_VOLUME_ATTACHMENT, ACT(DETACHED)},
        {KIND_VOLUME_CLAIM, ACT(DETACHED)},
        {KIND_NAMESPACE, 0},
        {KIND_SERVICE, 0},
        {KIND_DAEMON_SET, ACT(GROUPS)},
        {KIND_REPLICA_SET, ACT(GROUPS)},
        {KIND_STATEFUL_SET, ACT(GROUPS)},
        {KIND_REPLICATION_CONTROLLER, ACT(GROUPS)},
        {KIND_JOB, ACT(GROUPS)},
        {KIND_STORAGE_CLASS, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct snapshot s = {0};
        struct guards g = {0};
        enum kind k;
        s.state[kinds[i].broken].broken_since = NOW;
        struct guards_view v = guards_look(&g, &s, NOW + GUARDS_BROKEN_MS);
        for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++)
            if ((guards_check(&v, act, &k) != GUARDS_CLEAR) != ((kinds[i].stopped >> act & 1) != 0))
                fail_msg("without %s: \"%s\" is wrong", kind_info(kinds[i].broken)->plural,
                         guards_act_sentence(act));
    }
}

static struct snapshot losing(enum kind k, uint32_t list, bool being_deleted)
{
    struct snapshot s = {0};
    s.state[k].loss[LOSS_ANY] = (struct list_guard){.list = list, .had = 9, .lost = 8};
    if (!being_deleted)
        s.state[k].loss[LOSS_UNEXPLAINED] = s.state[k].loss[LOSS_ANY];
    return s;
}

static unsigned stopped_by(const struct guards_view *v)
{
    unsigned stopped = 0;
    for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++) {
        enum kind k;
        stopped |= (unsigned)(guards_check(v, act, &k) == GUARDS_OBJECTS_LOST) << act;
    }
    return stopped;
}

/* A list that lost many of any kind on which removal rests stops all that begins, and of what has begun the step that
 * rests on that kind. */
static void each_loss_stops_what_begins(void **state)
{
    const unsigned begins = ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS);
    (void)state;
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        unsigned ends = k == KIND_POD                                               ? ACT(DRAINED)
                        : k == KIND_NODE                                            ? ACT(NODELESS)
                        : k == KIND_VOLUME_ATTACHMENT || k == KIND_VOLUME_CLAIM ? ACT(DETACHED)
                                                                                    : 0;
        bool none = k == KIND_CAPACITY_QUOTA || k == KIND_KWOK_NODE_CLASS || k == KIND_CLUSTER_API_NODE_CLASS;
        struct guards g = {0};
        struct snapshot s = losing(k, 2, false);
        struct guards_view v = guards_look(&g, &s, NOW);
        if (stopped_by(&v) != (none ? 0 : begins | ends) || (guards_kind_reason(k) == NULL) != none)
            fail_msg("%s", kind_info(k)->plural);
        g = (struct guards){0};
        s = losing(k, 2, true); /* objects that were being deleted: they may still be there, and keep nothing from beginning */
        v = guards_look(&g, &s, NOW);
        if (stopped_by(&v) != (none ? 0 : ends))
            fail_msg("%s that were being deleted", kind_info(k)->plural);
    }
}

static void a_loss_is_named(void **state)
{
    struct guards g = {0};
    struct arena a;
    enum kind k;
    (void)state;
    arena_init(&a, 0);
    struct snapshot s = losing(KIND_DISRUPTION_BUDGET, 2, false);
    struct guards_view v = guards_look(&g, &s, NOW);
    assert_int_equal(guards_check(&v, GUARDS_EMPTY, &k), GUARDS_OBJECTS_LOST);
    assert_int_equal(k, KIND_DISRUPTION_BUDGET);
    const char *text = "a list showed 8 of 9 poddisruptionbudgets gone; a second list is asked for";
    assert_true(span_eq(guards_loss_text(&a, &v, GUARDS_EMPTY, k), span_of(text)));
    assert_true(span_eq(guards_snapshot_text(&a, &s), span_of(text)));
    assert_true(guards_stops(&v, GUARDS_OBJECTS_LOST, k));
    assert_false(guards_stops(&v, GUARDS_WATCH_BROKEN, k));
    assert_true(guards_see_nodes(&v));
    arena_release(&a);
}

/* Once for each list, after ten seconds. */
static void a_second_list_is_asked_for_after_ten_seconds(void **state)
{
    struct guards g = {0};
    (void)state;
    struct snapshot s = losing(KIND_POD, 2, false);
    guards_look(&g, &s, NOW);
    assert_int_equal(guards_ask(&g, NOW), KIND_NONE);
    assert_int_equal(guards_due(&g, &s, NOW), NOW + 10 * MS_SECOND);
    guards_look(&g, &s, NOW + 9999);
    assert_int_equal(guards_ask(&g, NOW + 9999), KIND_NONE);
    assert_int_equal(guards_ask(&g, NOW + 10000), KIND_POD);
    assert_int_equal(guards_ask(&g, NOW + 10000), KIND_NONE);
    assert_int_equal(guards_due(&g, &s, NOW + 10000), INT64_MAX);
    s = losing(KIND_POD, 3, false); /* it lost more */
    guards_look(&g, &s, NOW + 11000);
    assert_int_equal(guards_ask(&g, NOW + 20999), KIND_NONE);
    assert_int_equal(guards_ask(&g, NOW + 21000), KIND_POD);
    s = (struct snapshot){0}; /* confirmed */
    struct guards_view v = guards_look(&g, &s, NOW + 22000);
    assert_int_equal(stopped_by(&v), 0);
    assert_int_equal(guards_ask(&g, NOW + 60000), KIND_NONE);
}

/* When the next watch has been broken for long enough: what is over and what is whole are not waited for. */
static void the_next_verdict_is_known(void **state)
{
    (void)state;
    struct guards g = {0};
    struct snapshot s = {0};
    assert_int_equal(guards_due(&g, &s, NOW), INT64_MAX);
    assert_int_equal(guards_due(&g, &s, 0), INT64_MAX);
    s.state[KIND_POD].broken_since = NOW - 10;
    assert_int_equal(guards_due(&g, &s, NOW), NOW - 10 + GUARDS_BROKEN_MS);
    s.state[KIND_NODE].broken_since = NOW - 20;
    s.state[KIND_NODE_CLAIM].broken_since = NOW - 5;
    assert_int_equal(guards_due(&g, &s, NOW), NOW - 20 + GUARDS_BROKEN_MS);
    assert_int_equal(guards_due(&g, &s, NOW - 20 + GUARDS_BROKEN_MS), NOW - 10 + GUARDS_BROKEN_MS);
    assert_int_equal(guards_due(&g, &s, NOW - 5 + GUARDS_BROKEN_MS), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(the_next_verdict_is_known),
        cmocka_unit_test(each_watch_stops_what_needs_it),
        cmocka_unit_test(each_loss_stops_what_begins),
        cmocka_unit_test(a_loss_is_named),
        cmocka_unit_test(a_second_list_is_asked_for_after_ten_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
