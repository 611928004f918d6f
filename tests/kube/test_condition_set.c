#include "kube/condition_set.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CREATED = 1000000, NOW = 2000000, LATER = 3000000 };

static struct arena arena;
static const struct meta meta = {.generation = 3, .created = CREATED};

/* "Launched=Unknown@1000 Ready=…", seconds after the @. */
static const char *text_of(struct conditions list)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < list.count; i++)
        buf_addf(&b, "%s%.*s=%s@%d", i != 0 ? " " : "", SPAN_ARG(list.items[i].type),
                 condition_status_name(list.items[i].status),
                 (int)(list.items[i].transition / 1000));
    const char *text = arena_cstr(&arena, buf_span(&b));
    buf_release(&b);
    return text;
}

static struct condition_set fresh(void)
{
    return condition_set_of(&arena, &node_claim_conditions, &meta, (struct conditions){NULL, 0},
                            NOW);
}

static const struct condition *get(const struct condition_set *s, const char *type)
{
    const struct condition *c = conditions_find(s->list, span_of(type));
    assert_non_null(c);
    return c;
}

static void expect_root(const struct condition_set *s, enum condition_status status,
                        const char *reason, const char *message)
{
    const struct condition *c = get(s, "Ready");
    assert_int_equal(c->status, status);
    assert_string_equal(arena_cstr(&arena, c->reason), reason);
    assert_string_equal(arena_cstr(&arena, c->message), message);
}

static void test_initial(void **state)
{
    (void)state;
    struct condition_set s = fresh();
    assert_true(s.changed);
    assert_string_equal(text_of(s.list), "Launched=Unknown@1000 Registered=Unknown@1000 "
                                         "Initialized=Unknown@1000 Ready=Unknown@1000");
    expect_root(&s, CONDITION_UNKNOWN, "AwaitingReconciliation",
                "object is awaiting reconciliation");
    assert_int_equal(get(&s, "Launched")->observed_generation, 3);
    struct condition_set again =
        condition_set_of(&arena, &node_claim_conditions, &meta, s.list, LATER);
    assert_false(again.changed);
}

static void test_root_follows(void **state)
{
    (void)state;
    struct condition_set s = fresh();
    condition_set_true(&s, SPAN("Launched"));
    assert_string_equal(text_of(s.list), "Registered=Unknown@1000 Initialized=Unknown@1000 "
                                         "Launched=True@2000 Ready=Unknown@1000");
    assert_string_equal(arena_cstr(&arena, get(&s, "Launched")->reason), "Launched");
    expect_root(&s, CONDITION_UNKNOWN, "ReconcilingDependents",
                "Registered=Unknown, Initialized=Unknown");
    condition_set_put(&s, SPAN("Registered"), CONDITION_FALSE, SPAN("MultipleNodesFound"),
                      SPAN("m"));
    expect_root(&s, CONDITION_FALSE, "UnhealthyDependents",
                "Registered=False, Initialized=Unknown");
    condition_set_true(&s, SPAN("Registered"));
    condition_set_true(&s, SPAN("Initialized"));
    expect_root(&s, CONDITION_TRUE, "Ready", "");
    assert_int_equal(get(&s, "Ready")->transition, NOW);
}

/* `kubectl describe` prints it as it comes; and the next pass finds what it would write. */
static void test_a_message_forges_no_line(void **state)
{
    (void)state;
    static const struct span evil = SPAN_INIT("x\n  Ready  True\xe2\x80\xae");
    struct condition_set s = fresh();
    condition_set_put(&s, SPAN("Registered"), CONDITION_FALSE, SPAN("MultipleNodesFound"), evil);
    assert_string_equal(arena_cstr(&arena, get(&s, "Registered")->message), "x\\n  Ready  True\\u202e");
    struct condition_set t = condition_set_of(&arena, &node_claim_conditions, &meta, s.list, LATER);
    condition_set_put(&t, SPAN("Registered"), CONDITION_FALSE, SPAN("MultipleNodesFound"), evil);
    assert_false(t.changed);
}

static void test_times(void **state)
{
    (void)state;
    struct condition_set s = fresh();
    condition_set_put(&s, SPAN("Launched"), CONDITION_UNKNOWN, SPAN("LaunchFailed"),
                      SPAN("no room"));
    assert_int_equal(get(&s, "Launched")->transition, CREATED); /* the status is what it was */
    condition_set_true(&s, SPAN("Drifted"));
    assert_int_equal(get(&s, "Drifted")->transition, NOW); /* an independent one begins now */
    struct condition_set t = condition_set_of(&arena, &node_claim_conditions, &meta, s.list, LATER);
    condition_set_true(&t, SPAN("Drifted"));
    assert_false(t.changed); /* nothing new */
    condition_set_put(&t, SPAN("Drifted"), CONDITION_TRUE, SPAN("NodePoolDrifted"),
                      SPAN("NodePoolDrifted"));
    assert_true(t.changed);
    assert_int_equal(get(&t, "Drifted")->transition, NOW);
    assert_int_equal(get(&s, "Drifted")->reason.len, 7); /* the list given is left as it was */
}

static void test_generations(void **state)
{
    (void)state;
    struct condition_set s = fresh();
    condition_set_true(&s, SPAN("Launched"));
    condition_set_true(&s, SPAN("Registered"));
    condition_set_true(&s, SPAN("Initialized"));
    struct meta newer = meta;
    newer.generation = 4;
    struct condition_set t =
        condition_set_of(&arena, &node_claim_conditions, &newer, s.list, LATER);
    condition_set_true(&t, SPAN("Launched")); /* the two others were judged at generation 3 */
    expect_root(&t, CONDITION_UNKNOWN, "ReconcilingDependents",
                "Registered=True, Initialized=True");
    newer.deleted = LATER;
    t = condition_set_of(&arena, &node_claim_conditions, &newer, s.list, LATER);
    condition_set_true(&t, SPAN("Launched")); /* of a deleted object all are taken along */
    expect_root(&t, CONDITION_TRUE, "Ready", "");
    assert_int_equal(get(&t, "Initialized")->observed_generation, 4);
}

/* Of a kind whose back-off goes by it, a put says when it was last tried. */
static void test_a_put_is_a_transition(void **state)
{
    (void)state;
    struct condition_set s = condition_set_of(&arena, &provisioning_request_conditions, &meta, (struct conditions){0}, NOW);
    condition_set_put(&s, SPAN("Provisioned"), CONDITION_FALSE, SPAN("CapacityIsNotFound"), SPAN("m"));
    assert_int_equal(s.list.count, 1); /* no Ready */
    struct condition_set t = condition_set_of(&arena, &provisioning_request_conditions, &meta, s.list, LATER);
    condition_set_put(&t, SPAN("Provisioned"), CONDITION_FALSE, SPAN("CapacityIsNotFound"), SPAN("m"));
    assert_true(t.changed);
    assert_int_equal(get(&t, "Provisioned")->transition, LATER);
    t = condition_set_of(&arena, &capacity_buffer_conditions, &meta, s.list, LATER);
    condition_set_put(&t, SPAN("Provisioned"), CONDITION_FALSE, SPAN("CapacityIsNotFound"), SPAN("m"));
    assert_false(t.changed);
}

static void test_clear(void **state)
{
    (void)state;
    struct condition_set s = fresh();
    condition_set_true(&s, SPAN("Consolidatable"));
    s.changed = false;
    condition_set_clear(&s, SPAN("Launched"));
    condition_set_clear(&s, SPAN("Ready"));
    condition_set_clear(&s, SPAN("Drifted"));
    assert_false(s.changed);
    condition_set_clear(&s, SPAN("Consolidatable"));
    assert_true(s.changed);
    assert_null(conditions_find(s.list, SPAN("Consolidatable")));
}

static void test_pool(void **state)
{
    (void)state;
    struct condition_set s =
        condition_set_of(&arena, &node_pool_conditions, &meta, (struct conditions){NULL, 0}, NOW);
    condition_set_true(&s, SPAN("ValidationSucceeded"));
    condition_set_put(&s, SPAN("NodeClassReady"), CONDITION_FALSE, SPAN("NodeClassNotFound"),
                      SPAN("NodeClass not found on cluster"));
    expect_root(&s, CONDITION_FALSE, "UnhealthyDependents", "NodeClassReady=False");
    condition_set_put(&s, SPAN("NodeRegistrationHealthy"), CONDITION_FALSE,
                      SPAN("RegistrationFailed"), SPAN("m"));
    condition_set_true(&s, SPAN("NodeClassReady"));
    expect_root(&s, CONDITION_TRUE, "Ready", ""); /* health of registration gates nothing */
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial), cmocka_unit_test(test_root_follows),
        cmocka_unit_test(test_a_message_forges_no_line),
        cmocka_unit_test(test_times),   cmocka_unit_test(test_generations),
        cmocka_unit_test(test_a_put_is_a_transition),
        cmocka_unit_test(test_clear),   cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
