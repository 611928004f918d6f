/* Plans of random clusters obey the rules, and are the same whatever the order of the input.
 *
 * STOWAGE_SEEDS=FROM-TO runs other seeds than those of every day; STOWAGE_SHOW=1 prints the cluster of a
 * failure. */
#include "support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EVERY_DAY = 150 };

static bool seed_holds(uint64_t seed, enum search_kind search, bool show,
                       struct random_tally *tally)
{
    struct random_cluster r;
    struct draws d = {.state = seed};
    struct buf wrong = {0};
    random_cluster_make(&r, &d);
    r.plan_options.search = search;
    bool good = random_cluster_holds(&r, tally, &wrong);
    if (!good)
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, wrong.ptr); /* cmocka cuts it */
    for (uint32_t i = 0; !good && show && i < r.count; i++)
        fputs(r.docs[i].ptr, stderr);
    buf_release(&wrong);
    random_cluster_release(&r);
    return good;
}

static void random_clusters(enum search_kind search)
{
    unsigned long long from = 1, to = EVERY_DAY;
    const char *seeds = getenv("STOWAGE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%llu-%llu", &from, &to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", seeds);
    unsigned long long wrong = 0;
    struct random_tally tally = {0};
    for (unsigned long long seed = from; seed <= to; seed++)
        wrong += !seed_holds(seed, search, getenv("STOWAGE_SHOW") != NULL, &tally);
    print_message("pods on claims %u, on nodes %u", tally.on_claims, tally.on_nodes);
    for (enum unschedulable_reason i = 0; i < UNSCHEDULABLE_COUNT; i++)
        print_message(", %s %u", unschedulable_name(i), tally.without[i]);
    print_message("\n");
    if (wrong != 0)
        fail_msg("%llu of %llu random clusters", wrong, to - from + 1);
    /* Clusters in which nothing happens would prove nothing. */
    assert_true(tally.on_claims > to - from && tally.on_nodes > (to - from) / 4);
}

static void greedy_clusters(void **state)
{
    (void)state;
    random_clusters(SEARCH_GREEDY);
}

static void cheapest_clusters(void **state)
{
    (void)state;
    random_clusters(SEARCH_CHEAPEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(greedy_clusters),
                                       cmocka_unit_test(cheapest_clusters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
