/* A simulator answers as a plan would that is made for the question alone, whatever it was asked before, and
 * holds no more memory for it.
 *
 * STOWAGE_SEEDS=FROM-TO runs other seeds than those of every day; STOWAGE_SHOW=1 prints the cluster of a failure. */
#include "planner/disruption/simulate.h"
#include "planner/disruption/floor.h"
#include "support_fleet.h"
#include "support_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EVERY_DAY = 120, FIRST_MORE = 10, MOST_ROWS = 4 };
#define NOW INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

/* --- clusters --- */

static struct conditions initialized_at(struct cluster *c, wall_ms at)
{
    struct condition *x = ARENA_NEW(&c->arena, struct condition);
    *x = (struct condition){.type = SPAN("Initialized"), .status = CONDITION_TRUE, .transition = at};
    return (struct conditions){x, 1};
}

/* Pools say when their nodes may be consolidated, and nodes since when they have been left alone. */
static void settle_some(struct cluster *c, struct draws *d)
{
    for (size_t i = 0; i < c->kinds[KIND_NODE_POOL].count; i++) {
        struct node_pool *p = (struct node_pool *)(uintptr_t)c->kinds[KIND_NODE_POOL].items[i];
        p->has_consolidate_after = draw(d, 4) != 0;
        p->consolidate_after = 600000;
    }
    for (size_t i = 0; i < c->kinds[KIND_NODE_CLAIM].count; i++) {
        struct node_claim *n = (struct node_claim *)(uintptr_t)c->kinds[KIND_NODE_CLAIM].items[i];
        if (draw(d, 3) != 0)
            n->conditions = initialized_at(c, NOW - 1200000 * (wall_ms)draw(d, 2) - 1);
        if (draw(d, 4) == 0)
            n->last_pod_event = NOW - 1;
    }
}

/* More pending pods would only fill what there is for those who move. */
static void drop_most_pending(struct cluster *c, struct draws *d)
{
    struct cluster_list *l = &c->kinds[KIND_POD];
    size_t kept = 0;
    bool all = draw(d, 3) == 0;
    for (size_t i = 0; i < l->count; i++)
        if (all || ((const struct pod *)l->items[i])->node != SYM_NONE || draw(d, 6) == 0)
            l->items[kept++] = l->items[i];
    l->count = kept;
}

struct subject {
    struct random_cluster made;
    struct cluster c;
    struct draws d;
    struct world *world;
    uint64_t seed;
};

static void subject_make(struct subject *s, uint64_t seed, enum search_kind search)
{
    *s = (struct subject){.d = {.state = seed}, .seed = seed};
    random_cluster_make(&s->made, &s->d);
    random_cluster_grow(&s->made, &s->d, FIRST_MORE, draw(&s->d, 12));
    random_cluster_load(&s->made, 0, &s->c);
    settle_some(&s->c, &s->d);
    drop_most_pending(&s->c, &s->d);
    s->c.plan_options.search = search;
    s->c.plan_options.now = NOW;
    struct world_input in = cluster_input(&s->c);
    s->world = world_build(&in);
}

static void subject_release(struct subject *s)
{
    world_free(s->world);
    cluster_release(&s->c);
    random_cluster_release(&s->made);
}

/* --- questions --- */

struct asked {
    struct simulation_question q;
    uint32_t rows[MOST_ROWS];
};

static void draw_question(struct subject *s, struct asked *a)
{
    static const struct span credits[] = {{0}, {0}, SPAN_INIT("r0"), SPAN_INIT("r1"), SPAN_INIT("nobody's")};
    uint32_t nodes = world_node_count(s->world), want = 1 + draw(&s->d, MOST_ROWS);
    *a = (struct asked){.q = {.why = (enum removal)draw(&s->d, 3), .credit = credits[draw(&s->d, COUNT_OF(credits))]}};
    for (uint32_t i = 0; nodes != 0 && i < want; i++) {
        uint32_t row = draw(&s->d, nodes);
        bool twice = false, leaves = world_node_at(s->world, row)->leaving && draw(&s->d, 4) != 0;
        for (uint32_t k = 0; k < a->q.count; k++)
            twice |= a->rows[k] == row;
        if (!twice && !leaves)
            a->rows[a->q.count++] = row;
    }
    a->q.rows = a->rows;
}

/* --- a plan for the question alone --- */

static struct plan *solve(const struct subject *s, const struct simulation_question *q)
{
    struct plan_options o = s->c.plan_options;
    struct reservation_credit credit = {.id = q->credit, .count = 1};
    o.removed = q->rows;
    o.removed_count = q->count;
    o.removed_for = q->why;
    o.reserved_mode = q->credit.len != 0 ? RESERVED_STRICT : RESERVED_FALLBACK;
    o.credits = &credit;
    o.credit_count = q->credit.len != 0;
    o.no_bound = true;
    return plan_solve(s->world, &o);
}

static bool coming_up_for(const struct subject *s, const struct plan_node *n, const struct pod *p)
{
    const struct world_node *to = world_node_at(s->world, n->row);
    int32_t from = p->node != SYM_NONE ? world_find_node(s->world, sym_text(s->c.syms, p->node)) : -1;
    return (to->stage == NODE_LAUNCHING || to->stage == NODE_REGISTERED) && p->node != SYM_NONE &&
           !(from >= 0 && world_node_at(s->world, (uint32_t)from)->leaving);
}

static uint32_t unplaced_in(const struct subject *s, const struct plan *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        count += p->unschedulable[i].pod->node != SYM_NONE;
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            count += coming_up_for(s, &p->nodes[i], p->nodes[i].pods[k]);
    return count;
}

/* --- in words --- */

static void put_requirement(struct buf *b, const struct requirement *r, const struct symtab *syms)
{
    buf_addf(b, " %.*s%s", SPAN_ARG(sym_text(syms, r->key)), r->complement ? "!" : "=");
    for (uint32_t i = 0; i < r->count; i++)
        buf_addf(b, "%s%.*s", i != 0 ? "|" : "", SPAN_ARG(sym_text(syms, r->values[i])));
    if (r->has_gte)
        buf_addf(b, " from %lld", (long long)r->gte);
    if (r->has_lte)
        buf_addf(b, " to %lld", (long long)r->lte);
    if (r->min_values != 0)
        buf_addf(b, " least %d", r->min_values);
}

static void put_claim(struct buf *b, const struct plan_claim *c, double price, const struct symtab *syms)
{
    buf_addf(b, "claim %.*s of %.*s at %g:", SPAN_ARG(c->name), SPAN_ARG(c->pool->meta.name), price);
    for (uint32_t i = 0; i < c->type_count; i++)
        buf_addf(b, " %.*s", SPAN_ARG(c->types[i]->name));
    buf_addf(b, "\n ");
    for (uint32_t i = 0; i < c->requirements.count; i++)
        put_requirement(b, &c->requirements.items[i], syms);
    for (uint32_t i = 0; i < c->labels.count; i++)
        buf_addf(b, " %.*s:%.*s", SPAN_ARG(sym_text(syms, c->labels.items[i].key)),
                 SPAN_ARG(sym_text(syms, c->labels.items[i].value)));
    for (uint32_t i = 0; i < c->annotations.count; i++)
        buf_addf(b, " %.*s:%.*s", SPAN_ARG(c->annotations.items[i].key), SPAN_ARG(c->annotations.items[i].value));
    buf_addf(b, "\n ");
    for (uint32_t i = 0; i < c->requests.count; i++)
        buf_addf(b, " %.*s %lld", SPAN_ARG(sym_text(syms, c->requests.items[i].name)),
                 (long long)c->requests.items[i].value);
    for (uint32_t i = 0; i < c->pod_count; i++)
        buf_addf(b, " %.*s", SPAN_ARG(c->pods[i]->meta.name));
    buf_addf(b, "\n");
}

static void put_place(struct buf *b, const struct subject *s, const struct pod *p, uint32_t row)
{
    buf_addf(b, "%.*s/%.*s on %.*s\n", SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name),
             SPAN_ARG(world_node_at(s->world, row)->name));
}

static bool is_leaving(const struct subject *s, const struct simulation_question *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (world_node_at(s->world, q->rows[i])->leaving)
            return true;
    return false;
}

static bool no_pools(const struct plan *p)
{
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].reason == UNSCHEDULABLE_NO_POOLS)
            return true;
    return false;
}

static void put_wanted(struct buf *b, const struct subject *s, const struct simulation_question *q)
{
    struct plan *p = solve(s, q);
    uint32_t unplaced = unplaced_in(s, p);
    enum simulated outcome = is_leaving(s, q)  ? SIMULATED_LEAVING
                             : no_pools(p)     ? SIMULATED_NO_POOLS
                             : unplaced != 0   ? SIMULATED_UNPLACED
                                               : SIMULATED_PLACED;
    buf_addf(b, "outcome %d\n", (int)outcome);
    if (outcome == SIMULATED_PLACED || outcome == SIMULATED_UNPLACED) {
        buf_addf(b, "%u claims, %u unplaced\n", p->claim_count, unplaced);
        for (uint32_t i = 0; i < p->claim_count; i++)
            put_claim(b, &p->claims[i], isnan(p->claims[i].price) ? INFINITY : p->claims[i].price, p->syms);
        for (uint32_t i = 0; i < p->node_count; i++)
            for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
                put_place(b, s, p->nodes[i].pods[k], p->nodes[i].row);
    }
    plan_free(p);
}

static enum simulated put_answer(struct buf *b, const struct subject *s, struct simulator *m,
                                 const struct simulation_question *q)
{
    struct simulation x = simulate(m, q);
    /* A cluster without pods has nobody to say that there are no pools. */
    if (x.outcome == SIMULATED_NO_POOLS) {
        struct plan *p = solve(s, q);
        x.outcome = no_pools(p) ? SIMULATED_NO_POOLS : SIMULATED_PLACED;
        x.claims = x.unplaced = 0;
        plan_free(p);
        buf_addf(b, "outcome %d\n", (int)x.outcome);
        if (x.outcome == SIMULATED_PLACED)
            buf_addf(b, "0 claims, 0 unplaced\n");
        return SIMULATED_NO_POOLS;
    }
    buf_addf(b, "outcome %d\n", (int)x.outcome);
    if (x.outcome != SIMULATED_PLACED && x.outcome != SIMULATED_UNPLACED)
        return x.outcome;
    buf_addf(b, "%u claims, %u unplaced\n", x.claims, x.unplaced);
    for (uint32_t i = 0; i < x.claims; i++)
        put_claim(b, simulation_claim(m, i), simulation_least_price(m, i), simulation_syms(m));
    uint32_t count;
    const struct simulation_place *places = simulation_places(m, &count);
    for (uint32_t i = 0; i < count; i++)
        put_place(b, s, places[i].pod, places[i].row);
    return x.outcome;
}

/* --- as a plan --- */

struct seen {
    uint32_t outcomes[SIMULATED_STOPPED + 1];
    uint32_t claims, places, several;
};

static bool same(const struct subject *s, struct simulator *m, const struct simulation_question *q, struct seen *seen)
{
    struct buf got = {0}, want = {0};
    put_wanted(&want, s, q);
    enum simulated outcome = put_answer(&got, s, m, q);
    bool good = span_eq(buf_span(&got), buf_span(&want));
    seen->outcomes[outcome]++;
    seen->claims += span_contains(buf_span(&got), SPAN("claim "));
    seen->places += span_contains(buf_span(&got), SPAN(" on "));
    seen->several += q->count > 1;
    if (!good) {
        fprintf(stderr, "seed %llu, why %d, credit %.*s, without", (unsigned long long)s->seed, (int)q->why,
                SPAN_ARG(q->credit));
        for (uint32_t i = 0; i < q->count; i++)
            fprintf(stderr, " %.*s", SPAN_ARG(world_node_at(s->world, q->rows[i])->name));
        fprintf(stderr, ": got\n%s\nwant\n%s\n", got.ptr, want.ptr);
    }
    buf_release(&got);
    buf_release(&want);
    return good;
}

static void show(const struct subject *s)
{
    for (uint32_t i = 0; getenv("STOWAGE_SHOW") != NULL && i < s->made.count; i++)
        fputs(s->made.docs[i].ptr, stderr);
}

/* Each question twice: at once, and once more when others have been asked. */
static bool seed_holds(uint64_t seed, struct seen *seen)
{
    enum { QUESTIONS = 10 };
    struct subject s;
    struct asked asked[QUESTIONS];
    bool good = true;
    subject_make(&s, seed, SEARCH_GREEDY);
    struct simulator *m = simulator_new(s.world, &s.c.plan_options);
    for (uint32_t i = 0; i < QUESTIONS; i++)
        draw_question(&s, &asked[i]);
    for (uint32_t i = 0; good && i < 2 * QUESTIONS; i++)
        good = same(&s, m, &asked[i * 7 % QUESTIONS].q, seen);
    if (!good)
        show(&s);
    simulator_free(m);
    subject_release(&s);
    return good;
}

static void seeds(unsigned long long *from, unsigned long long *to, unsigned long long most)
{
    const char *text = getenv("STOWAGE_SEEDS");
    *from = 1;
    *to = most;
    if (text != NULL && sscanf(text, "%llu-%llu", from, to) != 2)
        fail_msg("STOWAGE_SEEDS is FROM-TO, not %s", text);
}

static void answers_as_a_plan(void **state)
{
    (void)state;
    unsigned long long from, to, wrong = 0;
    struct seen seen = {0};
    seeds(&from, &to, EVERY_DAY);
    for (unsigned long long seed = from; seed <= to; seed++)
        wrong += !seed_holds(seed, &seen);
    print_message("placed %u, unplaced %u, leaving %u, without pools %u; with claims %u, on nodes %u, of several %u\n",
                  seen.outcomes[SIMULATED_PLACED], seen.outcomes[SIMULATED_UNPLACED],
                  seen.outcomes[SIMULATED_LEAVING], seen.outcomes[SIMULATED_NO_POOLS], seen.claims, seen.places,
                  seen.several);
    if (wrong != 0)
        fail_msg("%llu of %llu random clusters", wrong, to - from + 1);
    /* Clusters in which nothing happens would prove nothing. */
    for (enum simulated i = SIMULATED_PLACED; i <= SIMULATED_NO_POOLS; i++)
        assert_true(seen.outcomes[i] > (to - from) / 6);
    assert_true(seen.claims > to - from && seen.places > to - from && seen.several > to - from);
}

/* --- with the search that makes it cheaper --- */

static double sum_of_claims(struct simulator *m, const struct simulation *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < x->claims; i++)
        sum += simulation_least_price(m, i);
    return sum;
}

static uint32_t no_plan_is_dearer(uint64_t seed)
{
    struct subject s;
    uint32_t placed = 0;
    subject_make(&s, seed, SEARCH_CHEAPEST);
    struct simulator *m = simulator_new(s.world, &s.c.plan_options);
    for (uint32_t i = 0; i < 6; i++) {
        struct asked a;
        draw_question(&s, &a);
        struct simulation x = simulate(m, &a.q);
        if (x.outcome != SIMULATED_PLACED)
            continue;
        double said = sum_of_claims(m, &x), costs = 0;
        struct plan *p = simulation_plan(m, &a.q);
        for (uint32_t k = 0; k < p->claim_count; k++)
            costs += isnan(p->claims[k].price) ? INFINITY : p->claims[k].price;
        if (unplaced_in(&s, p) != 0 || costs > said + 1e-9)
            fail_msg("seed %llu: %u without a place, at %g; said was %g", (unsigned long long)seed,
                     unplaced_in(&s, p), costs, said);
        placed++;
        plan_free(p);
    }
    simulator_free(m);
    subject_release(&s);
    return placed;
}

static void the_plan_is_never_dearer(void **state)
{
    (void)state;
    uint32_t placed = 0;
    for (uint64_t seed = 1; seed <= EVERY_DAY / 2; seed++)
        placed += no_plan_is_dearer(seed);
    assert_true(placed > EVERY_DAY / 2);
}

/* --- what is known without asking --- */

struct floors {
    uint32_t asked, priced, exact, no_spot;
};

/* Rows that do not leave, in order. */
static struct candidates all_rows(struct subject *s)
{
    uint32_t nodes = world_node_count(s->world);
    struct candidates c = {.items = ARENA_ARRAY(&s->c.arena, struct candidate, nodes)};
    for (uint32_t row = 0; row < nodes; row++)
        if (!world_node_at(s->world, row)->leaving)
            c.items[c.count++].row = row;
    return c;
}

static bool any_spot(struct simulator *m, uint32_t claims)
{
    bool any = false;
    for (uint32_t i = 0; i < claims && !any; i++)
        any = simulation_admits(m, i, SYM_SPOT);
    return any;
}

static void expect_no_less(const struct subject *s, struct least least, double price, uint32_t claims)
{
    if (price < least.price - 1e-9 || claims < least.claims)
        fail_msg("seed %llu: %u claims for %g, and the floor is %g for %g", (unsigned long long)s->seed, claims, price,
                 least.claims, least.price);
}

static void look_below(struct subject *s, struct simulator *m, const struct floor *f, struct candidates c,
                       struct floors *seen)
{
    uint8_t *has = ARENA_ARRAY(&s->c.arena, uint8_t, c.count);
    uint32_t *rows = ARENA_ARRAY(&s->c.arena, uint32_t, c.count), count = 0, some = 1 + draw(&s->d, 4);
    for (uint32_t i = 0; i < c.count; i++)
        if ((has[i] = draw(&s->d, some) == 0))
            rows[count++] = c.items[i].row;
    struct simulation_question q = {.rows = rows, .count = count, .why = REMOVAL_CONSOLIDATION};
    struct simulation x = simulate(m, &q);
    if (count == 0 || x.outcome != SIMULATED_PLACED)
        return;
    struct least least = floor_of(f, has, c.count, false);
    seen->asked++;
    seen->priced += least.price > 0;
    seen->exact += least.claims > 0 && least.claims == x.claims;
    expect_no_less(s, least, sum_of_claims(m, &x), x.claims);
    if (!any_spot(m, x.claims)) {
        least = floor_of(f, has, c.count, true);
        expect_no_less(s, least, sum_of_claims(m, &x), x.claims);
        seen->no_spot += least.price > 0;
    }
    q.cheaper = true;
    struct plan *p = simulation_plan(m, &q);
    double costs = 0;
    for (uint32_t k = 0; k < p->claim_count; k++)
        costs += isnan(p->claims[k].price) ? INFINITY : p->claims[k].price;
    if (unplaced_in(s, p) == 0)
        expect_no_less(s, floor_of(f, has, c.count, false), costs, p->claim_count);
    plan_free(p);
}

/* Neither what greedy buys nor what a cheaper plan does: so that who is not asked about would not have gone. */
static void nothing_is_below_the_floor(void **state)
{
    (void)state;
    unsigned long long from, to;
    struct floors seen = {0};
    seeds(&from, &to, EVERY_DAY);
    for (unsigned long long seed = from; seed <= to; seed++) {
        struct subject s;
        subject_make(&s, seed, SEARCH_CHEAPEST);
        struct simulator *m = simulator_new(s.world, &s.c.plan_options);
        struct candidates c = all_rows(&s);
        struct floor f = floor_make(&s.c.arena, s.world, m, c);
        for (uint32_t i = 0; i < 24; i++)
            look_below(&s, m, &f, c, &seen);
        simulator_free(m);
        subject_release(&s);
    }
    print_message("%u asked, %u with a floor, of %u as many claims as it; %u without spot\n", seen.asked, seen.priced,
                  seen.exact, seen.no_spot);
    assert_true(seen.asked > to - from && seen.priced > (to - from) / 2 && seen.exact > (to - from) / 8);
    assert_true(seen.no_spot > (to - from) / 100);
}

/* --- memory --- */

static void ask_all(const struct subject *s, struct simulator *m, uint32_t rounds)
{
    uint32_t nodes = world_node_count(s->world);
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t row = 0; row < nodes; row++)
            for (uint32_t other = 0; other <= row; other++) {
                uint32_t rows[] = {row, other};
                struct simulation_question q = {.rows = rows, .count = 1 + (row != other),
                                                .why = (enum removal)((row + other) % 3)};
                struct simulation x = simulate(m, &q);
                for (uint32_t i = 0; x.outcome == SIMULATED_PLACED && i < x.claims; i++)
                    simulation_claim(m, i);
            }
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    enum { SEEDS = 12, ROUNDS = 15 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct subject s;
        subject_make(&s, seed, SEARCH_GREEDY);
        struct simulator *m = simulator_new(s.world, &s.c.plan_options);
        ask_all(&s, m, 2);
        size_t before = simulator_memory(m);
        ask_all(&s, m, ROUNDS);
        if (simulator_memory(m) > before)
            fail_msg("seed %llu: %zu bytes, then %zu", (unsigned long long)seed, before, simulator_memory(m));
        simulator_free(m);
        subject_release(&s);
    }
}

/* --- who has no place --- */

static void those_without_a_place_are_told(void **state)
{
    (void)state;
    uint32_t told = 0;
    for (uint64_t seed = 1; seed <= EVERY_DAY / 2; seed++) {
        struct subject s;
        struct asked a;
        struct arena text;
        subject_make(&s, seed, SEARCH_GREEDY);
        arena_init(&text, 0);
        struct simulator *m = simulator_new(s.world, &s.c.plan_options);
        draw_question(&s, &a);
        struct simulation x = simulate(m, &a.q);
        if (x.outcome == SIMULATED_UNPLACED) {
            struct span why = simulation_unplaced(m, &text);
            assert_true(span_has_prefix(why, SPAN("not all pods would schedule, ")));
            for (uint32_t i = 0, at = 0; i < why.len; i++) { /* a reason each, of five at most */
                at += i + 4 <= why.len && memcmp(why.ptr + i, " => ", 4) == 0;
                if (i + 1 == why.len)
                    assert_int_equal(at, x.unplaced < 5 ? x.unplaced : 5);
            }
            told++;
        }
        simulator_free(m);
        arena_release(&text);
        subject_release(&s);
    }
    assert_true(told > 5);
}

/* --- minValues --- */

/* A list that is cut to what may be listed has too few types left, unless that is no matter. */
static void a_claim_that_its_min_values_forbid_does_not_count(void **state)
{
    static const struct {
        uint32_t listed;
        bool best_effort;
        enum simulated want;
    } rows[] = {{2, false, SIMULATED_PLACED}, {1, false, SIMULATED_UNPLACED}, {1, true, SIMULATED_PLACED}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        fleet_add(&c, "type four 4 od/a/0.4\ntype eight 8 od/a/0.8\npool web min=2\nnode n1 web eight od/a\npod a n1 3 of=web\n");
        cluster_plan(&c);
        c.plan_options.max_instance_types = rows[i].listed;
        c.plan_options.best_effort_min_values = rows[i].best_effort;
        uint32_t row = (uint32_t)world_find_node(c.world, SPAN("n1"));
        struct simulator *m = simulator_new(c.world, &c.plan_options);
        struct simulation x = simulate(m, &(struct simulation_question){.rows = &row, .count = 1, .why = REMOVAL_DRIFT});
        assert_int_equal(x.outcome, rows[i].want);
        assert_true(x.outcome != SIMULATED_PLACED || x.claims == 1);
        simulator_free(m);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_a_plan),
        cmocka_unit_test(the_plan_is_never_dearer),
        cmocka_unit_test(nothing_is_below_the_floor),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(those_without_a_place_are_told),
        cmocka_unit_test(a_claim_that_its_min_values_forbid_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
