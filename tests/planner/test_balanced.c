/* Policy Balanced: scenarios 137 to 146 of spec disruption 20.9. */
#include "planner/disruption/balanced.h"
#include "support_fleet.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void scores(void **state)
{
    static const struct {
        const char *label;
        double savings, disruption, cost, all, want;
    } rows[] = {
        {"137", 20, 5, 100, 100, 4},
        {"138 as much as it costs", 10, 10, 100, 100, 1},
        {"138 half as much", 5, 10, 100, 100, 0.5},
        {"138 a tenth", 5, 50, 100, 100, 0.1},
        {"139 disrupts nobody", 1, 0, 100, 100, (double)INFINITY},
        {"139 saves nothing", 0, 5, 100, 100, 0},
        {"139 saves nothing and disrupts nobody", 0, 0, 100, 100, 0},
        {"139 costs", -1, 5, 100, 100, 0},
        {"140 the pool costs nothing", 5, 5, 0, 100, 0},
        {"140 nor has anybody to disrupt", 5, 5, 100, 0, 0},
        {"145 all prices doubled", 40, 5, 200, 100, 4},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double got = balance_score(rows[i].savings, rows[i].disruption, (struct balance_total){rows[i].cost, rows[i].all});
        if (got != rows[i].want)
            fail_msg("%s: got %g, want %g", rows[i].label, got, rows[i].want);
    }
}

#define T10 "type t10 10 od/a/1.0\n"
#define FULL_HALF "node n1 b t10 od/a\npod p1 n1 5500m\nnode n2 b t10 od/a\npod p2 n2 5500m\n"
#define BIG "type t64 64 od/a/6.4\npool sink\nnode sink sink t64 od/a consolidatable=no\n"

/* No candidate since it is being deleted. */
#define ASIDE(daemons_)                                                                            \
    "node n2 b t10 od/a deleting=yes\npod d1 n2 1 daemon=" daemons_ "\npod d2 n2 1 daemon=" daemons_                  \
    "\npod d3 n2 1 daemon=" daemons_ "\npod d4 n2 1 daemon=" daemons_ "\npod d5 n2 1 daemon=" daemons_ "\n"

static const struct {
    const char *label, *fleet;
    enum disruption_method method;
    const char *want; /* who goes */
} rows[] = {
    {"141 one of ten equal nodes",
     "pool b policy=Balanced budget=1\n" T10
     "node n0 b t10 od/a\npod p0 n0 1\nnode n1 b t10 od/a\npod p1 n1 1\nnode n2 b t10 od/a\npod p2 n2 1\nnode n3 b t10 od/a\npod p3 n3 1\n"
     "node n4 b t10 od/a\npod p4 n4 1\nnode n5 b t10 od/a\npod p5 n5 1\nnode n6 b t10 od/a\npod p6 n6 1\nnode n7 b t10 od/a\npod p7 n7 1\n"
     "node n8 b t10 od/a\npod p8 n8 1\nnode n9 b t10 od/a\npod p9 n9 1\n",
     METHOD_SINGLE, "n0"},
    {"142 replaced at 60 %", "pool b policy=Balanced\n" T10 "type t6 6 od/a/0.6\n" FULL_HALF, METHOD_SINGLE, ""},
    {"142 replaced at 50 %", "pool b policy=Balanced\n" T10 "type t6 6 od/a/0.5\n" FULL_HALF, METHOD_SINGLE, "n1"},
    {"142 another policy asks nothing", "pool b\n" T10 "type t6 6 od/a/0.6\n" FULL_HALF, METHOD_SINGLE, "n1"},
    {"145 twice the prices, at 60 %", "pool b policy=Balanced\ntype t10 10 od/a/2.0\ntype t6 6 od/a/1.2\n" FULL_HALF,
     METHOD_SINGLE, ""},
    {"143 of two pools the Balanced one is asked, by its share",
     "pool b policy=Balanced\npool p\ntype t1 1 od/a/0.1\ntype t8 8 od/a/0.8\n" BIG
     "node n1 b t1 od/a\npod p1 n1 500m\nnode n2 b t8 od/a consolidatable=no\npod p2 n2 1\nnode n3 p t8 od/a\npod p3 n3 1\n",
     METHOD_MULTI, ""},
    {"143 and agrees when that is enough",
     "pool b policy=Balanced\npool p\ntype t1 1 od/a/0.1\ntype t8 8 od/a/0.8\n" BIG
     "node n1 b t8 od/a\npod p1 n1 500m\nnode n2 b t8 od/a consolidatable=no\npod p2 n2 1\nnode n3 p t8 od/a\npod p3 n3 1\n",
     METHOD_MULTI, "n1 n3"},
    {"143 alone the one goes that asks nobody",
     "pool b policy=Balanced\npool p\ntype t1 1 od/a/0.1\ntype t8 8 od/a/0.8\n" BIG
     "node n1 b t1 od/a\npod p1 n1 500m\nnode n2 b t8 od/a consolidatable=no\npod p2 n2 1\nnode n3 p t8 od/a\npod p3 n3 1\n",
     METHOD_SINGLE, "n3"},
    {"146 fewer, when all are not worth it",
     "pool b policy=Balanced\n" T10 "type t1 2 od/a/0.1\ntype t30 30 od/a/3.0\n" BIG
     "node n1 b t10 od/a\npod p1 n1 1\nnode n2 b t10 od/a\npod p2 n2 1\nnode n4 b t30 od/a consolidatable=no\n"
     "node n3 b t1 od/a\npod a n3 10m\npod b n3 10m\npod c n3 10m\npod d n3 10m\npod e n3 10m\npod f n3 10m\npod g n3 10m\n"
     "pod h n3 10m\npod i n3 10m\npod j n3 10m\npod k n3 10m\npod l n3 10m\npod m n3 10m\npod n0 n3 10m\npod o n3 10m\n"
     "pod p n3 10m\npod q n3 10m\npod r n3 10m\npod s n3 10m\npod t n3 10m\n",
     METHOD_MULTI, "n1 n2"},
    {"146 none is worth it", "pool b policy=Balanced\n" T10 "type t1 2 od/a/0.1\n" BIG
     "node n4 b t10 od/a consolidatable=no\nnode n1 b t1 od/a\npod a n1 1\nnode n2 b t1 od/a\npod b n2 1\n",
     METHOD_MULTI, ""},
    {"a node that is no candidate counts, with its pods",
     "pool b policy=Balanced\n" T10 BIG "node n1 b t10 od/a\npod p1 n1 1\npod p2 n1 1\npod p3 n1 1\n" ASIDE("no")
     "node n3 b t10 od/a consolidatable=no\nnode n5 b t10 od/a consolidatable=no\nnode n6 b t10 od/a consolidatable=no\n",
     METHOD_SINGLE, "n1"},
    {"but for those of DaemonSets",
     "pool b policy=Balanced\n" T10 BIG "node n1 b t10 od/a\npod p1 n1 1\npod p2 n1 1\npod p3 n1 1\n" ASIDE("yes")
     "node n3 b t10 od/a consolidatable=no\nnode n5 b t10 od/a consolidatable=no\nnode n6 b t10 od/a consolidatable=no\n",
     METHOD_SINGLE, ""},
};

static void fleets(void **state)
{
    bool fine = true;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf b = {0};
        cluster_init(&c);
        c.options = (struct world_options){.ready_when_unstated = true};
        fleet_add(&c, rows[i].fleet);
        struct world_input in = cluster_input(&c);
        c.world = world_build(&in);
        c.plan_options.search = SEARCH_GREEDY;
        struct disruption_options o = {.plan = &c.plan_options, .all = true};
        struct disruption *d = disruption_decide(c.world, &o);
        for (uint32_t k = 0; k < d->command_count; k++)
            for (uint32_t n = 0; d->commands[k].method == rows[i].method && n < d->commands[k].count; n++)
                buf_addf(&b, "%s%.*s", b.len != 0 ? " " : "",
                         SPAN_ARG(world_node_at(c.world, d->commands[k].rows[n])->name));
        bool same = span_eq(buf_span(&b), span_of(rows[i].want));
        if (!same)
            print_error("%s: got \"%.*s\", want \"%s\"\n", rows[i].label, SPAN_ARG(buf_span(&b)), rows[i].want);
        fine = fine && same;
        buf_release(&b);
        disruption_free(d);
        cluster_release(&c);
    }
    assert_true(fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores),
        cmocka_unit_test(fleets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
