/* A leader dies at each write of a move, and whoever comes next ends it (spec disruption 9). */
#include <stdlib.h>

#include "tests/sim/support_crash.h"
#include "tests/sim/support_moves.h"

enum { PODS = 2 };

/* One life of a cluster whose nodes all drift. False: it had no such write. */
static bool dies_at(uint64_t at, bool is_after)
{
    struct crash c = {.at = at, .after = is_after, .unarmed = true};
    struct loop l = {.restart_after = 2 * MS_SECOND, .catalogue = two_types,
                     .faults = crash_faults(&c)};
    struct watch w;
    struct sim *s = apart(drifts, PODS);
    struct census claims;
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *old = names(s);
    assert_int_equal(json_object_size(old), PODS);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    watch(&w, s);
    c.unarmed = false;
    change_template(s);
    run_for(s, 6 * MS_MINUTE);
    if (count_kept(s, old) != 0 || census_count(&claims) != 2 * PODS || w.most_leaving > 1)
        fail_msg("killed %s write %llu: %zu old nodes are left, there were %zu claims for %d, %zu left at a time",
                 is_after ? "after" : "before", (unsigned long long)at, count_kept(s, old),
                 census_count(&claims), PODS, w.most_leaving);
    expect_calm(s, PODS);
    json_decref(old);
    census_end(&claims);
    loop_end(&l);
    return c.done;
}

/* And of one whose one node has become too large. */
static bool dies_consolidating_at(uint64_t at, bool is_after)
{
    struct crash c = {.at = at, .after = is_after, .unarmed = true};
    struct loop l = {.restart_after = 2 * MS_SECOND, .catalogue = two_types,
                     .faults = crash_faults(&c)};
    struct sim *s = cluster(moves, 30, "900m");
    struct census claims;
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    json_t *old = names(s);
    assert_int_equal(json_object_size(old), 1);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    c.unarmed = false;
    scale(s, "web", 10);
    run_for(s, 6 * MS_MINUTE);
    if (count_kept(s, old) != 0 || count_objects(s, KIND_NODE_CLAIM) != 1 || census_count(&claims) != 2)
        fail_msg("killed %s write %llu: %zu old nodes are left, there were %zu claims for one", is_after ? "after" : "before",
                 (unsigned long long)at, count_kept(s, old), census_count(&claims));
    expect_calm(s, 10);
    json_decref(old);
    census_end(&claims);
    loop_end(&l);
    return c.done;
}

/* 156: whoever comes next ends what has begun (differences.md): no machine is bought twice, no budget is overdrawn, nothing stays marked. */
static void a_move_survives_the_death_of_its_leader(void **state)
{
    (void)state;
    uint64_t places = 0;
    for (int is_after = 0; is_after <= 1; is_after++)
        for (uint64_t k = 1; dies_at(k, is_after != 0); k++)
            places++;
    for (int is_after = 0; is_after <= 1; is_after++)
        for (uint64_t k = 1; dies_consolidating_at(k, is_after != 0); k++)
            places++;
    print_message("%llu places to die\n", (unsigned long long)places);
    assert_true(places > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_move_survives_the_death_of_its_leader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
