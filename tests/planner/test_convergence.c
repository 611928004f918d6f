/* Random fleets, each consolidated until nothing more is decided: whatever a provider launches of what it is asked for, no
 * move makes the fleet dearer, none takes more of a pool than its budget has room for, who asks again has the same answer,
 * what was decided stands as long as nothing changes, and there is an end. */
#include "planner/columns.h"
#include "planner/disruption/validate.h"
#include "support_fleet.h"
#include "support_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { NODES = 64, PODS = 96, ROUNDS = 60, POOLS = 2 };

struct standing {
    char type[8], offer[16]; /* "spot/a" */
    unsigned pool;
    bool gone;
};

struct running {
    unsigned cpus, app, on; /* CPUs in tenths; app 0: none; on: node */
    bool apart;
};

struct fleet {
    struct buf head; /* types and pools */
    struct standing nodes[NODES];
    struct running pods[PODS];
    unsigned node_count, pod_count;
};

static const struct {
    const char *name, *line;
} types[] = {
    {"t1", "type t1 1"}, {"t2", "type t2 2"}, {"t4", "type t4 4"}, {"t8", "type t8 8"}, {"t16", "type t16 16"},
};

static const char *const offers[] = {"od/a", "od/b", "spot/a", "spot/b"};

/* Prices go by size, by as much as a third up or down; spot is cheaper, mostly. */
static void make_head(struct fleet *f, struct draws *d)
{
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        buf_addf(&f->head, "%s", types[t].line);
        for (size_t o = 0; o < COUNT_OF(offers); o++) {
            unsigned price = (20U << t) + draw(d, 14U << t);
            price = o < 2 ? price : price * (3 + draw(d, 8)) / 10;
            buf_addf(&f->head, " %s/%u.%03u%s", offers[o], price / 1000, price % 1000, draw(d, 8) == 0 ? "!" : "");
        }
        buf_addf(&f->head, "\n");
    }
    static const char *const capacity[] = {"", " capacity=od", " capacity=spot,od"};
    static const char *const policy[] = {"", "", " policy=Balanced"};
    for (unsigned p = 0; p < POOLS; p++)
        buf_addf(&f->head, "pool p%u weight=%u budget=%u%s%s%s\n", p, p * draw(d, 2), 1 + draw(d, 6), capacity[draw(d, 3)],
                 policy[draw(d, 3)], draw(d, 4) == 0 ? " min=2" : "");
}

static void fleet_make(struct fleet *f, struct draws *d)
{
    *f = (struct fleet){.node_count = 3 + draw(d, 10)};
    make_head(f, d);
    for (unsigned n = 0; n < f->node_count; n++) {
        struct standing *s = &f->nodes[n];
        unsigned type = 1 + draw(d, COUNT_OF(types) - 1), room = 10U << type, app = draw(d, 4);
        snprintf(s->type, sizeof(s->type), "%s", types[type].name);
        snprintf(s->offer, sizeof(s->offer), "%s", offers[draw(d, COUNT_OF(offers))]);
        s->pool = draw(d, POOLS);
        for (unsigned k = draw(d, 5); k > 0 && f->pod_count < PODS; k--) {
            unsigned cpus = 1 + draw(d, room / 4);
            f->pods[f->pod_count++] = (struct running){cpus, draw(d, 3) == 0 ? app : 0, n, draw(d, 2) == 0};
        }
    }
}

static void fleet_load(const struct fleet *f, struct cluster *c, enum search_kind search)
{
    struct buf b = {0};
    buf_addf(&b, "%.*s", SPAN_ARG(buf_span(&f->head)));
    for (unsigned n = 0; n < f->node_count; n++)
        if (!f->nodes[n].gone)
            buf_addf(&b, "node n%u p%u %s %s\n", n, f->nodes[n].pool, f->nodes[n].type, f->nodes[n].offer);
    for (unsigned p = 0; p < f->pod_count; p++) {
        const struct running *r = &f->pods[p];
        buf_addf(&b, "pod r%u n%u %um%s", p, r->on, r->cpus * 100, r->app == 0 ? "" : r->apart ? " apart=yes" : "");
        if (r->app != 0)
            buf_addf(&b, " app=x%u", r->app);
        buf_addf(&b, "\n");
    }
    cluster_init(c);
    c->options = (struct world_options){.ready_when_unstated = true};
    fleet_add(c, b.ptr);
    c->plan_options.search = search;
    struct world_input in = cluster_input(c);
    c->world = world_build(&in);
    buf_release(&b);
}

static double fleet_price(const struct cluster *c)
{
    double sum = 0;
    for (uint32_t row = 0; row < c->world->node_count; row++)
        sum += c->world->nodes[row].price;
    return sum;
}

/* --- what is decided happens --- */

static unsigned number_of(struct span name)
{
    int64_t n = 0;
    assert_true(span_int64((struct span){name.ptr + 1, name.len - 1}, &n));
    return (unsigned)n;
}

static bool allows(const struct plan_claim *c, const struct offering *o, sym key, const struct symtab *syms)
{
    const struct requirement *r = requirements_get(&c->requirements, key);
    return r == NULL || requirement_has(r, requirements_get(&o->requirements, key)->values[0], syms);
}

/* Of the type the dearest offering of the capacity type that would be taken; NULL: it cannot be launched. */
static const struct offering *dearest(const struct cluster *c, const struct plan_claim *claim, const struct instance_type *t)
{
    const struct offering *best = NULL;
    for (uint32_t i = 0; i < 2 * t->offering_count; i++) {
        const struct offering *o = &t->offerings[i % t->offering_count];
        bool spot = requirements_get(&o->requirements, SYM_CAPACITY_TYPE)->values[0] == SYM_SPOT;
        bool turn = spot == (i < t->offering_count) && (best == NULL || i % t->offering_count != 0);
        if (!turn || !o->available || !allows(claim, o, SYM_ZONE, c->syms) || !allows(claim, o, SYM_CAPACITY_TYPE, c->syms))
            continue;
        bool best_spot = best != NULL && requirements_get(&best->requirements, SYM_CAPACITY_TYPE)->values[0] == SYM_SPOT;
        if (best == NULL || (best_spot == spot && o->price > best->price))
            best = o;
    }
    return best;
}

/* Any type of the list that can be launched. */
static void launch(struct fleet *f, struct draws *d, const struct cluster *c, const struct plan_claim *claim)
{
    const struct offering *best = NULL;
    uint32_t first = draw(d, claim->type_count), i = 0;
    for (; i < claim->type_count && best == NULL; i++)
        best = dearest(c, claim, claim->types[(first + i) % claim->type_count]);
    assert_non_null(best);
    struct standing *s = &f->nodes[f->node_count];
    assert_true(f->node_count < NODES);
    snprintf(s->type, sizeof(s->type), "%.*s", SPAN_ARG(claim->types[(first + i - 1) % claim->type_count]->name));
    bool spot = requirements_get(&best->requirements, SYM_CAPACITY_TYPE)->values[0] == SYM_SPOT;
    snprintf(s->offer, sizeof(s->offer), "%s/%.*s", spot ? "spot" : "od",
             SPAN_ARG(sym_text(c->syms, requirements_get(&best->requirements, SYM_ZONE)->values[0])));
    s->pool = number_of(claim->pool->meta.name);
    for (uint32_t k = 0; k < claim->pod_count; k++)
        f->pods[number_of(claim->pods[k]->meta.name)].on = f->node_count;
    f->node_count++;
}

static unsigned apply(struct fleet *f, struct draws *d, const struct cluster *c, const struct disruption_command *x)
{
    unsigned evicted = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        unsigned n = number_of(c->world->nodes[x->rows[i]].name);
        f->nodes[n].gone = true;
        for (unsigned p = 0; p < f->pod_count; p++)
            evicted += f->pods[p].on == n;
    }
    for (uint32_t i = 0; x->plan != NULL && i < x->plan->node_count; i++)
        for (uint32_t k = 0; k < x->plan->nodes[i].pod_count; k++)
            f->pods[number_of(x->plan->nodes[i].pods[k]->meta.name)].on =
                number_of(c->world->nodes[x->plan->nodes[i].row].name);
    for (uint32_t i = 0; i < x->replacement_count; i++)
        launch(f, d, c, &x->replacements[i]);
    for (unsigned p = 0; p < f->pod_count; p++)
        assert_false(f->nodes[f->pods[p].on].gone);
    return evicted;
}

static void within_budgets(struct cluster *c, const struct disruption_command *x)
{
    struct allowances left = allowances_make(&c->arena, c->world, disruption_method_reason(x->method), NULL,
                                             c->plan_options.now);
    for (uint32_t i = 0; i < x->count; i++)
        assert_true(allowances_take(&left, c->world->nodes[x->rows[i]].pool));
}

struct tally {
    double price; /* in the end */
    unsigned evicted, moves;
};

/* Equal input, equal output. */
static void same_again(const struct cluster *c, const struct disruption_options *o, const struct disruption *x)
{
    struct disruption *y = disruption_decide(c->world, o);
    assert_int_equal(x->command_count, y->command_count);
    for (uint32_t i = 0; i < x->command_count; i++) {
        assert_int_equal(x->commands[i].count, y->commands[i].count);
        assert_memory_equal(x->commands[i].rows, y->commands[i].rows, x->commands[i].count * sizeof(uint32_t));
        assert_int_equal(x->commands[i].replacement_count, y->commands[i].replacement_count);
        assert_true(x->commands[i].savings == y->commands[i].savings);
    }
    disruption_free(y);
}

static bool stands(struct cluster *c, const struct disruption_options *o, const struct disruption_command *x)
{
    struct arena *a = &c->arena;
    struct span *nodes = ARENA_ARRAY(a, struct span, x->count);
    struct pledged_claim *claims = ARENA_ARRAY(a, struct pledged_claim, x->replacement_count);
    for (uint32_t i = 0; i < x->count; i++)
        nodes[i] = c->world->nodes[x->rows[i]].name;
    for (uint32_t i = 0; i < x->replacement_count; i++) {
        struct span *names = ARENA_ARRAY(a, struct span, x->replacements[i].type_count);
        for (uint32_t k = 0; k < x->replacements[i].type_count; k++)
            names[k] = x->replacements[i].types[k]->name;
        claims[i] = (struct pledged_claim){names, x->replacements[i].type_count};
    }
    struct disruption_pledge p = {.nodes = nodes, .count = x->count, .replaces = x->replacement_count != 0};
    if (p.replaces) {
        p.types = claims[0].types;
        p.type_count = claims[0].type_count;
        p.others = &claims[1];
        p.other_count = x->replacement_count - 1;
    }
    return disruption_validate(c->world, o, &p) == VALIDITY_STANDS;
}

static void converge(uint64_t seed, enum search_kind search, struct tally *t)
{
    struct fleet f;
    struct draws d = {.state = seed};
    double before = INFINITY;
    fleet_make(&f, &d);
    for (unsigned round = 0;; round++) {
        struct cluster c;
        fleet_load(&f, &c, search);
        double now = fleet_price(&c);
        if (!(now <= before + 1e-9))
            fail_msg("seed %llu, %s, round %u: price %g after %g", (unsigned long long)seed,
                     search == SEARCH_GREEDY ? "greedy" : "cheapest", round, now, before);
        before = now;
        struct disruption_options o = {.plan = &c.plan_options, .spot_to_spot = seed % 2 == 0};
        struct disruption *x = disruption_decide(c.world, &o);
        assert_true(x->complete);
        same_again(&c, &o, x);
        unsigned count = x->command_count;
        for (uint32_t i = 0; i < count; i++) {
            within_budgets(&c, &x->commands[i]);
            if (disruption_method_reason(x->commands[i].method) == REASON_UNDERUTILIZED)
                assert_true(stands(&c, &o, &x->commands[i]));
            if (x->commands[i].replacement_count != 0)
                assert_true(x->commands[i].savings > 0);
            t->evicted += apply(&f, &d, &c, &x->commands[i]);
        }
        t->moves += count;
        disruption_free(x);
        cluster_release(&c);
        if (count == 0)
            break;
        if (round == ROUNDS)
            fail_msg("seed %llu: no end", (unsigned long long)seed);
    }
    t->price += before;
    buf_release(&f.head);
}

static void fleets_converge(void **state)
{
    enum { SEEDS = 40 };
    struct tally greedy = {0}, cheapest = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        converge(seed, SEARCH_GREEDY, &greedy);
        converge(seed, SEARCH_CHEAPEST, &cheapest);
    }
    print_message("greedy: price %.3f, %u moves, %u evictions; cheapest: price %.3f, %u moves, %u evictions\n", greedy.price,
                  greedy.moves, greedy.evicted, cheapest.price, cheapest.moves, cheapest.evicted);
    assert_true(greedy.moves > SEEDS && cheapest.moves > SEEDS);
    assert_true(cheapest.price < 0.97 * greedy.price);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleets_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
