/* What is listed and watched: whatever some decision needs, and nothing beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "planner/pods/default_spread.h"

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

/* "P": always; else what of it is asked for makes it watched: b CapacityBuffers, s default spreads, g node groups, q their
 * quotas, r their ProvisioningRequests. */
static void each_kind_is_watched_with_what_needs_it(void **state)
{
    static const enum kind none[] = {KIND_NONE};
    static const struct group_provider_ops ops = {.kinds = none};
    static const struct default_spread_config spreads;
    static const struct {
        enum kind kind;
        const char *with;
    } rows[] = {
        {KIND_POD, "P"},          {KIND_NODE, "P"},            {KIND_NODE_POOL, "P"},
        {KIND_NODE_CLAIM, "P"},   {KIND_DAEMON_SET, "P"},      {KIND_DISRUPTION_BUDGET, "P"},
        {KIND_CAPACITY_BUFFER, "b"}, {KIND_DEPLOYMENT, "b"},   {KIND_POD_TEMPLATE, "br"},
        {KIND_CAPACITY_QUOTA, "q"}, {KIND_PROVISIONING_REQUEST, "r"},
        {KIND_REPLICA_SET, "bsgqr"}, {KIND_STATEFUL_SET, "bsgqr"}, {KIND_REPLICATION_CONTROLLER, "sgqr"},
        {KIND_SERVICE, "s"},      {KIND_JOB, "gqr"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (const char *with = "-bsgqr"; *with != '\0'; with++) {
            struct group_provider provider = {&ops};
            bool grouped = *with == 'g' || *with == 'q' || *with == 'r';
            struct group_settings groups = {.provider = grouped ? &provider : NULL};
            struct world_options world = {.capacity_buffer = *with == 'b'};
            if (*with == 's')
                world.default_spread = &spreads;
            groups.flags.capacity_quotas = *with == 'q';
            groups.flags.provisioning_requests = *with == 'r';
            bool want = rows[i].with[0] == 'P' || strchr(rows[i].with, *with) != NULL;
            if (engine_watches(&world, NULL, &groups, rows[i].kind) != want)
                fail_msg("%s with %c", kind_info(rows[i].kind)->plural, *with);
            groups.provider = NULL; /* flags of groups alone ask for nothing */
            if (grouped && rows[i].with[0] != 'P' && engine_watches(&world, NULL, &groups, rows[i].kind))
                fail_msg("%s with %c, without groups", kind_info(rows[i].kind)->plural, *with);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_provider_that_is_not_chosen_has_no_node_classes_watched),
        cmocka_unit_test(kinds_of_a_gate_are_watched_with_it),
        cmocka_unit_test(each_kind_is_watched_with_what_needs_it),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
