/* What is listed and watched: whatever some decision needs, and nothing beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/engine.h"

static const struct world_options plain;

static void a_provider_that_is_not_chosen_has_no_node_classes_watched(void **state)
{
    static const struct provider_ops kwok = {.name = "kwok", .node_class = KIND_KWOK_NODE_CLASS},
                                     other = {.name = "other", .node_class = KIND_NODE_CLAIM};
    struct provider chosen = {&kwok}, beside = {&other};
    (void)state;
    assert_true(engine_watches(&plain, &(struct providers){{&beside, &chosen}, 2}, NULL, KIND_KWOK_NODE_CLASS));
    assert_false(engine_watches(&plain, &(struct providers){{&beside}, 1}, NULL, KIND_KWOK_NODE_CLASS));
    assert_true(engine_watches(&plain, &(struct providers){{&beside}, 1}, NULL, KIND_NODE_POOL));
}

static void kinds_of_a_gate_are_watched_with_it(void **state)
{
    static const struct world_options overlays = {.node_overlay = true};
    (void)state;
    assert_false(engine_watches(&plain, NULL, NULL, KIND_NODE_OVERLAY));
    assert_true(engine_watches(&overlays, NULL, NULL, KIND_NODE_OVERLAY));
    static const enum kind none[] = {KIND_NONE};
    static const struct group_provider_ops ops = {.kinds = none};
    struct group_provider provider = {&ops};
    struct group_settings groups = {.provider = &provider};
    assert_false(engine_watches(&plain, NULL, &groups, KIND_CAPACITY_QUOTA));
    groups.flags.capacity_quotas = true;
    assert_true(engine_watches(&plain, NULL, &groups, KIND_CAPACITY_QUOTA));
    groups.provider = NULL;
    assert_false(engine_watches(&plain, NULL, &groups, KIND_CAPACITY_QUOTA));
    assert_false(engine_watches(&plain, NULL, NULL, KIND_DEPLOYMENT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_provider_that_is_not_chosen_has_no_node_classes_watched),
        cmocka_unit_test(kinds_of_a_gate_are_watched_with_it),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
