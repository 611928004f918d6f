/* Of the sets of nodes that may go the search `cheapest` takes the one that is worth most: the cheapest fleet, and of the
 * ways to a fleet of one price the one with the fewest evictions. Small fleets whose answer is known, and random ones in
 * which every set is tried. */
#include "planner/bits.h"
#include "planner/disruption/disruption.h"
#include "planner/disruption/price.h"
#include "support_fleet.h"
#include "support_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void load(struct cluster *c, const char *fleet)
{
    cluster_init(c);
    c->options = (struct world_options){.reserved_capacity = true, .ready_when_unstated = true};
    fleet_add(c, fleet);
    c->plan_options.search = SEARCH_CHEAPEST;
    struct world_input in = cluster_input(c);
    c->world = world_build(&in);
}

static struct disruption *decide(struct cluster *c, const char *fleet)
{
    load(c, fleet);
    struct disruption_options o = {.plan = &c->plan_options};
    return disruption_decide(c->world, &o);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(x, y);
}

/* "n1 n2 -> 1 saves 0.4 evicts 2", nodes by name. */
static void say(const struct cluster *c, const struct disruption *d, char *out, size_t size)
{
    enum { MOST = 16 };
    char names[MOST][16];
    size_t at = 0;
    out[0] = '\0';
    if (d->command_count == 0)
        return;
    const struct disruption_command *x = &d->commands[0];
    assert_true(x->count <= MOST);
    for (uint32_t i = 0; i < x->count; i++)
        snprintf(names[i], sizeof(names[i]), "%.*s", SPAN_ARG(world_node_at(c->world, x->rows[i])->name));
    qsort(names, x->count, sizeof(names[0]), by_name);
    for (uint32_t i = 0; i < x->count; i++)
        at += (size_t)snprintf(out + at, size - at, "%s ", names[i]);
    snprintf(out + at, size - at, "-> %u saves %.4g evicts %u", x->replacement_count, x->savings, x->evictions);
}

#define FOURS "pool default types=t4\ntype t4 4 od/a/0.4\n"
/* Takes pods of so many CPUs, and goes nowhere. */
#define SINK(free_) "pool sink\nnode sink sink t64 od/a consolidatable=no\ntype t64 64 od/a/6.4\npod fill sink " free_ "\n"
#define NODE(name_) "node " name_ " default t4 od/a\n"

static const struct {
    const char *label, *fleet, *want;
} rows[] = {
    {"either may go for the other: the one with fewer pods does",
     FOURS NODE("n1") "pod a n1 500m\npod b n1 500m\n" NODE("n2") "pod c n2 1\n", "n2 -> 0 saves 0.4 evicts 1"},
    {"there is room for the pods of one",
     FOURS SINK("62500m") NODE("n1") "pod a n1 500m\npod b n1 500m\npod k n1 500m\n" NODE("n2") "pod c n2 1500m\n"
                                                                                        NODE("n3") "pod d n3 3500m\n",
     "n2 -> 0 saves 0.4 evicts 1"},
    {"there is room for the pods of two",
     FOURS SINK("62") NODE("n1") "pod a n1 500m\npod b n1 500m\n" NODE("n2") "pod c n2 1 zone=a\n" NODE("n3") "pod d n3 1\n"
                                                                                            "pod z n1 2500m zone=b\n",
     "n2 n3 -> 0 saves 0.8 evicts 2"},
    {"one whose eviction costs much counts as several",
     FOURS NODE("n1") "pod a n1 500m\npod b n1 500m\n" NODE("n2") "pod c n2 1 cost=2000000000\n", "n1 -> 0 saves 0.4 evicts 2"},
    {"one of two is kept rather than both replaced by one like it",
     "pool default types=t4,x4\ntype t4 4 od/a/0.4\ntype x4 4 od/a/0.4\n" NODE("n1") "pod a n1 1\npod b n1 1\n"
         NODE("n2") "pod c n2 1\n",
     "n2 -> 0 saves 0.4 evicts 1"},
    {"a swap: neither can go by itself, both by one that costs less",
     "pool default types=t6\ntype t4 4 od/a/0.4\ntype t6 6 od/a/0.6\n" NODE("n1") "pod a n1 2500m\n" NODE("n2") "pod b n2 2500m\n",
     "n1 n2 -> 1 saves 0.2 evicts 2"},
    {"a swap beside one that has to stay",
     "pool default types=t6\ntype t4 4 od/a/0.4\ntype t6 6 od/a/0.6\n" NODE("n1") "pod a n1 2500m\n"
         NODE("n2") "pod s n2 2500m stays=yes\n" NODE("n3") "pod b n3 2500m\n",
     "n1 n3 -> 1 saves 0.2 evicts 2"},
    {"a swap of those with the fewest pods",
     "pool default types=t6\ntype t4 4 od/a/0.4\ntype t6 6 od/a/0.6\n" NODE("n1") "pod a n1 1600m\npod k n1 1600m\n"
         NODE("n2") "pod b n2 2700m\n" NODE("n3") "pod c n3 2700m\n",
     "n2 n3 -> 1 saves 0.2 evicts 2"},
    {"several go and several come, and some find room where they are",
     "pool default types=t6\ntype t8 8 od/a/0.8\ntype t6 6 od/a/0.5\ntype t4 4 od/a/0.4\n"
     "node n1 default t8 od/a\npod a n1 3\nnode n2 default t8 od/a\npod b n2 3\nnode n3 default t8 od/a\npod c n3 3\n"
     "node n4 default t8 od/a\npod d n4 3\nnode n5 default t8 od/a\npod e n5 2500m\npod f n5 2500m stays=yes\n",
     "n1 n2 n3 n4 -> 2 saves 2.2 evicts 4"},
};

static void of_equal_ways_the_one_with_the_fewest_evictions(void **state)
{
    bool fine = true;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char got[256];
        struct disruption *d = decide(&c, rows[i].fleet);
        say(&c, d, got, sizeof(got));
        if (strcmp(got, rows[i].want) != 0)
            print_error("%s: got\n%s, want\n%s\n\n", rows[i].label, got, rows[i].want);
        fine = fine && strcmp(got, rows[i].want) == 0;
        disruption_free(d);
        cluster_release(&c);
    }
    assert_true(fine);
}

/* --- every set is tried --- */

enum { NODES = 8 };

struct equal { /* pods of one CPU each on nodes of which none can be bought: so that whether a set can go is a sum */
    unsigned count, cpus[NODES], pods[NODES];
};

static void fleet_of(const struct equal *f, struct buf *out)
{
    buf_addf(out, "pool default cpus=1\ntype t2 2 od/a/0.2\ntype t4 4 od/a/0.4\ntype t8 8 od/a/0.8\n");
    for (unsigned n = 0; n < f->count; n++) {
        buf_addf(out, "node n%u default t%u od/a\n", n, f->cpus[n]);
        for (unsigned k = 0; k < f->pods[n]; k++)
            buf_addf(out, "pod p%u-%u n%u 1\n", n, k, n);
    }
}

static void make_equal(struct equal *f, struct draws *d)
{
    *f = (struct equal){.count = 3 + draw(d, NODES - 2)};
    for (unsigned n = 0; n < f->count; n++) {
        f->cpus[n] = 2U << draw(d, 3);
        f->pods[n] = 1 + draw(d, f->cpus[n]);
    }
}

struct way {
    unsigned cpus, pods; /* that go */
};

/* The set that is worth most: evictions are a hundredth of a CPU's price. */
static struct way best_of(const struct equal *f)
{
    struct way best = {0, 0};
    for (unsigned set = 0; set < 1U << f->count; set++) {
        struct way x = {0, 0};
        unsigned room = 0;
        for (unsigned n = 0; n < f->count; n++)
            if ((set >> n) & 1) {
                x.cpus += f->cpus[n];
                x.pods += f->pods[n];
            } else {
                room += f->cpus[n] - f->pods[n];
            }
        if (x.pods <= room && 100 * (int)x.cpus - (int)x.pods > 100 * (int)best.cpus - (int)best.pods)
            best = x;
    }
    return best;
}

static void no_set_is_worth_more(void **state)
{
    enum { SEEDS = 300 };
    unsigned several = 0;
    (void)state;
    assert_true(EVICTION_COST == 0.001); /* a hundredth of 0.1 */
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct draws draws = {.state = seed};
        struct equal f;
        struct cluster c;
        struct buf text = {0};
        make_equal(&f, &draws);
        fleet_of(&f, &text);
        struct way best = best_of(&f);
        struct disruption *d = decide(&c, text.ptr);
        const struct disruption_command *x = d->command_count != 0 ? &d->commands[0] : NULL;
        double savings = x != NULL ? x->savings : 0;
        unsigned evictions = x != NULL ? x->evictions : 0;
        several += x != NULL && x->count > 1;
        assert_true(d->complete);
        if (fabs(savings - 0.1 * best.cpus) > 1e-9 || evictions != best.pods)
            fail_msg("seed %llu: saves %g and evicts %u, but %g and %u can be had\n%s", (unsigned long long)seed, savings,
                     evictions, 0.1 * best.cpus, best.pods, text.ptr);
        disruption_free(d);
        cluster_release(&c);
        buf_release(&text);
    }
    assert_true(several > SEEDS / 4);
}

/* --- a search whose steps are over --- */

#define FULL(node_, pool_) "node " node_ " " pool_ " t4 od/a\npod p-" node_ " " node_ " 3700m\n"
/* Of none can the pod go anywhere, but for that of a4, which is the last to be looked at. */
#define POOLS                                                                                                              \
    "type t4 4 od/a/0.4\npool a types=t4\npool b types=t4\npool c types=t4\n" FULL("a1", "a") FULL("a2", "a") FULL("a3", "a")    \
        "node a4 a t4 od/a\npod m1 a4 250m\npod m2 a4 250m\n" FULL("b1", "b") FULL("b2", "b")    \
            FULL("c1", "c")

struct steps { /* of one search after the other, each with what the one before has left */
    struct cluster c;
    struct disruption *d, *before;
    struct buf seen; /* who was looked at, a search by a search */
};

static void search(struct steps *x, uint64_t steps)
{
    struct disruption_options o = {.plan = &x->c.plan_options, .single_steps = steps};
    disruption_free(x->before);
    x->before = x->d;
    if (x->before != NULL) {
        o.unreached = x->before->unreached;
        o.unreached_count = x->before->unreached_count;
        o.looked = x->before->swept ? NULL : x->before->looked;
    }
    x->d = disruption_decide(x->c.world, &o);
    for (uint32_t row = 0; row < world_node_count(x->c.world); row++)
        if (x->d->looked != NULL && bits_has(x->d->looked, row) && (o.looked == NULL || !bits_has(o.looked, row)))
            buf_addf(&x->seen, "%.*s ", SPAN_ARG(world_node_at(x->c.world, row)->name));
    buf_addf(&x->seen, "%s", x->d->swept ? "all " : "");
}

static void steps_end(struct steps *x)
{
    disruption_free(x->d);
    disruption_free(x->before);
    buf_release(&x->seen);
    cluster_release(&x->c);
}

/* With steps for one node each: every pool has its turn, none has two while another has had none, and nobody is looked at
 * twice before all were. Then it begins anew. */
static void a_search_goes_on_where_it_stopped(void **state)
{
    (void)state;
    struct steps x = {.d = NULL};
    load(&x.c, POOLS);
    for (int i = 0; i < 9; i++) {
        search(&x, 1);
        assert_int_equal(x.d->command_count, i == 6 ? 1 : 0); /* a4, alone: for sets there were no steps before */
        assert_int_equal(x.d->complete, false);
    }
    assert_string_equal(x.seen.ptr, "a1 b1 c1 a2 b2 a3 a4 all a1 b1 ");
    steps_end(&x);
}

/* What it found before its steps were over is not lost, and who comes while it goes on is looked at. */
static void a_search_with_more_steps_goes_further(void **state)
{
    (void)state;
    struct steps x = {.d = NULL};
    load(&x.c, POOLS);
    search(&x, 1);
    search(&x, 100000000);
    assert_int_equal(x.d->command_count, 1);
    assert_true(x.d->complete);
    assert_string_equal(x.seen.ptr, "a1 a2 a3 a4 b1 b2 c1 all ");
    steps_end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_goes_on_where_it_stopped),
        cmocka_unit_test(a_search_with_more_steps_goes_further),
        cmocka_unit_test(of_equal_ways_the_one_with_the_fewest_evictions),
        cmocka_unit_test(no_set_is_worth_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
