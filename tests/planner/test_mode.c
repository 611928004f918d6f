/* stowage.dev/mode: who is asked about when something is to be done, and who when it is only to be said. */
#include "planner/disruption/disruption_told.h"
#include "planner/disruption/validate.h"
#include "support_fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* n1 of pool a and n2 of pool b could be one that is cheaper, n3 of b is empty; n4's pool is static and shut. */
#define TYPES "type t2 2 od/a/0.2\ntype t8 8 od/a/0.8\n"
#define NODES "node n1 a t8 od/a\npod p1 n1 1\nnode n2 b t8 od/a\npod p2 n2 1\nnode n3 b t8 od/a\n"

static const struct row {
    const char *label, *a, *b;      /* modes */
    const char *acts, *recommends; /* "Underutilized n1 n2; …" */
    bool any;
} rows[] = {
    {"nobody says anything", NULL, NULL, "empty n3", "", false},
    {"a pool that is only looked at", NULL, "observe", "underutilized n1", "", false},
    {"and one that is told", "recommend", "observe", "", "underutilized n1", true},
    {"each reason is told on the same state", "observe", "recommend", "", "empty n3; underutilized n2", true},
    {"pools do not go together where one only says so", "act", "Underutilized=recommend", "empty n3", "underutilized n2", true},
    {"nor do other pools wait for it", "act", "recommend", "underutilized n1", "empty n3; underutilized n2", true},
    {"what cannot be read is told", "observe", "recommended", "", "empty n3; underutilized n2", true},
    {"a reason of its own", "observe", "recommend,Empty=act", "empty n3", "underutilized n2", true},
    {"both together", "recommend", "recommend,Empty=observe", "", "underutilized n1 n2", true},
};

static void put_commands(struct buf *out, const struct world *w, const struct disruption *d)
{
    for (uint32_t i = 0; i < d->command_count; i++) {
        const struct disruption_command *c = &d->commands[i];
        buf_addf(out, "%s%.*s", i != 0 ? "; " : "", SPAN_ARG(disruption_reason_label(disruption_method_reason(c->method))));
        for (uint32_t row = 0; row < world_node_count(w); row++) /* by name */
            for (uint32_t k = 0; k < c->count; k++)
                if (c->rows[k] == row)
                    buf_addf(out, " %.*s", SPAN_ARG(world_node_at(w, row)->name));
    }
}

static void expect(const struct row *r, struct cluster *c, const struct world *w, enum disruption_mode mode, const char *want)
{
    struct disruption_options o = {.plan = &c->plan_options, .mode = mode};
    struct disruption *d = disruption_decide(w, &o);
    struct buf got = {0};
    put_commands(&got, w, d);
    if (!span_eq(buf_span(&got), span_of(want)))
        fail_msg("%s: %s: \"%.*s\", not \"%s\"", r->label, mode == MODE_ACT ? "acts" : "recommends", SPAN_ARG(buf_span(&got)), want);
    buf_release(&got);
    disruption_free(d);
}

static const struct world *world_of(struct cluster *c, const struct row *r)
{
    char fleet[1024];
    snprintf(fleet, sizeof(fleet), TYPES "pool a%s%s\npool b%s%s\n" NODES, r->a != NULL ? " mode=" : "",
             r->a != NULL ? r->a : "", r->b != NULL ? " mode=" : "", r->b != NULL ? r->b : "");
    cluster_init(c);
    c->options = (struct world_options){.ready_when_unstated = true};
    fleet_add(c, fleet);
    struct world_input in = cluster_input(c);
    return c->world = world_build(&in);
}

static void each_question_is_about_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        const struct world *w = world_of(&c, &rows[i]);
        expect(&rows[i], &c, w, MODE_ACT, rows[i].acts);
        expect(&rows[i], &c, w, MODE_RECOMMEND, rows[i].recommends);
        if (disruption_recommends(w) != rows[i].any)
            fail_msg("%s: it is%s worth asking", rows[i].label, rows[i].any ? "" : " not");
        cluster_release(&c);
    }
}

/* A command that waits while its pool changes its mind does not stand. */
static void a_pool_that_changes_its_mind_is_not_moved(void **state)
{
    static const struct {
        const char *mode;
        enum disruption_validity want;
    } cases[] = {{"act", VALIDITY_STANDS}, {"recommend", VALIDITY_CHURN}, {"Underutilized=observe", VALIDITY_CHURN},
                 {"recommend,Underutilized=act", VALIDITY_STANDS}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        const struct row r = {.a = cases[i].mode, .b = "observe"};
        const struct world *w = world_of(&c, &r);
        struct disruption_options o = {.plan = &c.plan_options};
        struct span node = SPAN("n1");
        struct disruption_pledge pledge = {.nodes = &node, .count = 1};
        enum disruption_validity got = disruption_validate(w, &o, &pledge);
        if (got != cases[i].want)
            fail_msg("%s: %s", cases[i].mode, disruption_validity_name(got));
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_question_is_about_its_own),
                                       cmocka_unit_test(a_pool_that_changes_its_mind_is_not_moved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
