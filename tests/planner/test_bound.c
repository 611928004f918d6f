/* The bound is never above the least price, found by trying everything, and near it where it can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "planner/bound/bound.h"
#include "support_cluster.h"

enum { COLUMNS = 3, MOST_MACHINES = 4, MOST_PODS = 6 };

static uint64_t state_of;

static unsigned draw(unsigned below)
{
    state_of = state_of * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of >> 33) % below;
}

/* --- everything tried --- */

struct search {
    const struct bound_question *q;
    const struct bound_item *pods[MOST_PODS];
    uint32_t pod_count;
    uint32_t kind[MOST_PODS];          /* of the machines opened so far */
    amount left[MOST_PODS][COLUMNS];
    uint32_t used[MOST_MACHINES];
    double best;
};

static bool may_hold(const struct bound_machine *m, const struct bound_item *pod)
{
    const amount *largest = m->largest != NULL ? m->largest : m->room;
    for (uint32_t c = 0; c < COLUMNS; c++)
        if (pod->size[c] > largest[c])
            return false;
    return m->suits >> pod->suit & 1;
}

static bool take(struct search *s, uint32_t machine, const struct bound_item *pod)
{
    if (!may_hold(&s->q->machines[s->kind[machine]], pod))
        return false;
    for (uint32_t c = 0; c < COLUMNS; c++)
        if (pod->size[c] > s->left[machine][c])
            return false;
    for (uint32_t c = 0; c < COLUMNS; c++)
        s->left[machine][c] -= pod->size[c];
    return true;
}

static void give_back(struct search *s, uint32_t machine, const struct bound_item *pod)
{
    for (uint32_t c = 0; c < COLUMNS; c++)
        s->left[machine][c] += pod->size[c];
}

static void place(struct search *s, uint32_t at, uint32_t machines, double price)
{
    if (price >= s->best)
        return;
    if (at == s->pod_count) {
        s->best = price;
        return;
    }
    for (uint32_t m = 0; m < machines; m++)
        if (take(s, m, s->pods[at])) {
            place(s, at + 1, machines, price);
            give_back(s, m, s->pods[at]);
        }
    for (uint32_t k = 0; k < s->q->machine_count; k++) {
        const struct bound_machine *m = &s->q->machines[k];
        if (m->there != 0 && s->used[k] == m->there)
            continue;
        s->kind[machines] = k;
        for (uint32_t c = 0; c < COLUMNS; c++)
            s->left[machines][c] = m->room[c];
        s->used[k]++;
        if (take(s, machines, s->pods[at]))
            place(s, at + 1, machines + 1, price + m->price);
        s->used[k]--;
    }
}

/* The least price, or INFINITY when the items do not fit. */
static double least_price(const struct bound_question *q)
{
    struct search s = {.q = q, .best = INFINITY};
    for (uint32_t i = 0; i < q->item_count; i++)
        for (uint64_t n = 0; n < q->items[i].count; n++)
            s.pods[s.pod_count++] = &q->items[i];
    place(&s, 0, 0, 0);
    return s.best;
}

static double bound_of(const struct bound_question *q)
{
    struct arena a;
    arena_init(&a, 0);
    double bound = bound_lowest(&a, q);
    arena_release(&a);
    return bound;
}

/* --- random questions --- */

struct drawn {
    struct bound_question q;
    struct bound_machine machines[MOST_MACHINES];
    struct bound_item items[MOST_PODS];
    amount room[MOST_MACHINES][COLUMNS], largest[MOST_MACHINES][COLUMNS], size[MOST_PODS][COLUMNS];
};

static void draw_machine(struct drawn *d, uint32_t i, unsigned suits)
{
    static const unsigned there[] = {0, 0, 0, 1, 2};
    struct bound_machine *m = &d->machines[i];
    unsigned scale = 1 + draw(4);
    *m = (struct bound_machine){.room = d->room[i], .price = (1 + draw(20)) * 0.1 * scale,
                                .suits = draw(1u << suits), .there = there[draw(5)]};
    if (draw(3) == 0)
        m->suits = UINT64_MAX;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        d->room[i][c] = (amount)(scale * draw(12));
        d->largest[i][c] = d->room[i][c] - (amount)draw(3);
    }
    if (m->there == 1 && draw(2) == 0) {
        m->largest = d->largest[i];
        m->price = draw(2) == 0 ? 0 : m->price;
    }
    if (draw(30) == 0)
        d->room[i][draw(COLUMNS)] = -1;
}

static void draw_question(struct drawn *d, uint64_t seed)
{
    state_of = seed;
    *d = (struct drawn){0};
    unsigned suits = 1 + draw(3), pods = 1 + draw(MOST_PODS), largest = 2 + draw(12);
    d->q = (struct bound_question){.machines = d->machines, .items = d->items, .columns = COLUMNS,
                                   .machine_count = 1 + draw(MOST_MACHINES)};
    for (uint32_t i = 0; i < d->q.machine_count; i++)
        draw_machine(d, i, suits);
    for (; pods != 0; d->q.item_count++) {
        uint32_t i = d->q.item_count;
        unsigned count = 1 + draw(pods);
        d->items[i] = (struct bound_item){.size = d->size[i], .count = count, .suit = draw(suits)};
        for (uint32_t c = 0; c < COLUMNS; c++)
            d->size[i][c] = (amount)draw(largest);
        pods -= count;
    }
}

/* The same question in another order, suits numbered anew. */
static void turn_around(struct drawn *d, uint64_t seed)
{
    uint32_t shift = (uint32_t)seed % BOUND_SUITS;
    for (uint32_t i = 0; i < d->q.machine_count; i++) {
        struct bound_machine m = d->machines[i];
        uint32_t other = (i + (uint32_t)seed) % d->q.machine_count;
        d->machines[i] = d->machines[other];
        d->machines[other] = m;
    }
    for (uint32_t i = 0; i < d->q.machine_count; i++)
        d->machines[i].suits = d->machines[i].suits << shift |
                               d->machines[i].suits >> (BOUND_SUITS - shift) % BOUND_SUITS;
    for (uint32_t i = 0; i < d->q.item_count; i++)
        d->items[i].suit = (d->items[i].suit + shift) % BOUND_SUITS;
    for (uint32_t i = 0, k = d->q.item_count; i + 1 < k; i++, k--) {
        struct bound_item item = d->items[i];
        d->items[i] = d->items[k - 1];
        d->items[k - 1] = item;
    }
}

static void never_above_the_least(void **state)
{
    (void)state;
    unsigned possible = 0, caught = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct drawn d;
        draw_question(&d, seed);
        for (uint32_t i = 0; seed % 2 == 0 && i < d.q.machine_count; i++)
            d.machines[i].there = 0; /* what is for sale alone is bounded in another way, too */
        double least = least_price(&d.q);
        if (least == (double)INFINITY)
            continue;
        possible++;
        double bound = bound_of(&d.q);
        if (bound > least)
            fail_msg("seed %llu: bound %.17g, least price %.17g", (unsigned long long)seed, bound,
                     least);
        turn_around(&d, seed);
        if (bound != bound_of(&d.q))
            fail_msg("seed %llu: another bound in another order", (unsigned long long)seed);
        for (uint32_t i = 0; i < d.q.item_count; i++)
            d.items[i].count *= 2;
        caught += bound_of(&d.q) > least;
    }
    assert_true(possible > 1500);
    assert_true(caught > possible / 3); /* a bound of twice the demand would not have passed */
}

/* --- what it has to reach --- */

struct row {
    const char *label;
    double want;
    amount room[3][COLUMNS];
    struct bound_machine machines[3];
    amount size[3][COLUMNS];
    struct bound_item items[3];
};

static void reaches(void **state)
{
    (void)state;
    static const amount ones[COLUMNS] = {1, 1, 1};
    static const struct row rows[] = {
        {"one column: the demand at the cheapest unit price", 500, {{10, 100, 100}, {4, 100, 100}},
         {{.price = 5, .suits = 1}, {.price = 3, .suits = 1}}, {{1, 1, 0}}, {{.count = 1000}}},
        {"two families, each with half of a column to spare", 800, {{8, 4, 0}, {4, 8, 0}},
         {{.price = 1, .suits = 1}, {.price = 1, .suits = 1}}, {{4, 4, 0}}, {{.count = 800}}},
        {"two families, each filled by its own kind of item", 200, {{8, 4, 0}, {4, 8, 0}},
         {{.price = 1, .suits = 1}, {.price = 1, .suits = 1}}, {{1, 2, 0}, {2, 1, 0}},
         {{.count = 400}, {.count = 400}}},
        {"one family, filled by a mix", 300, {{9, 9, 0}}, {{.price = 1, .suits = 1}},
         {{1, 2, 0}, {2, 1, 0}}, {{.count = 900}, {.count = 900}}},
        {"who suits only dear machines pays for them", 150, {{10, 0, 0}, {10, 0, 0}},
         {{.price = 1, .suits = 1}, {.price = 2, .suits = 3}}, {{1, 0, 0}, {1, 0, 0}},
         {{.count = 500}, {.count = 500, .suit = 1}}},
        {"what exists and is cheap counts once", 1 + 90, {{10, 0, 0}, {100, 0, 0}},
         {{.price = 1, .suits = 1}, {.price = 1, .suits = 1, .there = 1}}, {{1, 0, 0}},
         {{.count = 1000}}},
        {"what exists and is dear is not used", 100, {{10, 0, 0}, {100, 0, 0}},
         {{.price = 1, .suits = 1}, {.price = 20, .suits = 1, .there = 3}}, {{1, 0, 0}},
         {{.count = 1000}}},
        {"what is free is filled first", 50, {{10, 0, 0}, {500, 0, 0}},
         {{.price = 1, .suits = 1}, {.suits = 1, .there = 1}}, {{1, 0, 0}}, {{.count = 1000}}},
        {"nothing for sale", 3, {{10, 0, 0}}, {{.price = 1, .suits = 1, .there = 4}}, {{1, 0, 0}},
         {{.count = 30}}},
        {"one item takes a whole machine", 7, {{100, 0, 0}}, {{.price = 7, .suits = 1}},
         {{1, 0, 0}}, {{.count = 1}}},
        {"the cheapest machine that holds the largest item", 9, {{10, 10, 0}, {50, 50, 0}},
         {{.price = 1, .suits = 1}, {.price = 9, .suits = 1}}, {{20, 1, 0}}, {{.count = 1}}},
        {"rooms counted as one: an item fits none of them", 140, {{100, 0, 0}, {1000, 0, 0}},
         {{.price = 7, .suits = 1}, {.suits = 1, .there = 1, .largest = ones}}, {{2, 0, 0}}, {{.count = 1000}}},
        {"rooms counted as one: nor does the only one", 7, {{100, 0, 0}, {1000, 0, 0}},
         {{.price = 7, .suits = 1}, {.suits = 1, .there = 1, .largest = ones}}, {{2, 0, 0}}, {{.count = 1}}},
        {"sizes of nothing", 2, {{10, 10, 10}}, {{.price = 2, .suits = 1}}, {{0, 0, 0}},
         {{.count = 9}}},
        {"an item that nothing holds counts nothing", 10, {{10, 0, 0}}, {{.price = 1, .suits = 1}},
         {{1, 0, 0}, {11, 0, 0}, {1, 1, 0}}, {{.count = 100}, {.count = 5}, {.count = 7}}},
        {"items are whole", 100, {{4, 0, 0}}, {{.price = 1, .suits = 1}}, {{3, 0, 0}}, {{.count = 100}}},
        {"items are whole: what is small wastes less", 270, {{10, 0, 0}, {3, 0, 0}},
         {{.price = 10, .suits = 1}, {.price = 3, .suits = 1}}, {{3, 0, 0}}, {{.count = 90}}},
        {"items are whole: large ones leave room for small ones", 100, {{10, 0, 0}}, {{.price = 1, .suits = 1}},
         {{6, 0, 0}, {3, 0, 0}}, {{.count = 100}, {.count = 60}}},
        {"items are whole, one of a kind on a machine", 125, {{10, 1, 0}, {4, 1, 0}},
         {{.price = 2, .suits = 1}, {.price = 1, .suits = 1}}, {{3, 1, 0}, {3, 0, 0}}, {{.count = 100}, {.count = 50}}},
        {"no items", 0, {{10, 0, 0}}, {{.price = 1, .suits = 1}}, {{0}}, {{0}}},
        {"given away", 0, {{10, 0, 0}}, {{.price = 0, .suits = 1}}, {{1, 0, 0}}, {{.count = 9}}},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct row row = rows[r];
        struct bound_question q = {.machines = row.machines, .items = row.items,
                                   .machine_count = 3, .item_count = 3, .columns = COLUMNS};
        for (uint32_t i = 0; i < 3; i++) {
            row.machines[i].room = row.room[i];
            row.items[i].size = row.size[i];
        }
        double got = bound_of(&q);
        if (!(got <= row.want * (1 + 1e-12) && got >= row.want * 0.995))
            fail_msg("%s: got %.9g, want %.9g", row.label, got, row.want);
    }
}

/* More kinds of items than the game plays with: they are grouped, and every one still counts. */
static void many_kinds(void **state)
{
    (void)state;
    enum { KINDS = 3000 };
    static amount size[KINDS][2];
    static struct bound_item items[KINDS];
    amount room[2][2] = {{64000, 128000}, {64000, 512000}};
    struct bound_machine machines[2] = {{.room = room[0], .price = 2, .suits = 1},
                                        {.room = room[1], .price = 4, .suits = 1}};
    double demand[2] = {0};
    state_of = 7;
    for (uint32_t i = 0; i < KINDS; i++) {
        size[i][0] = 100 + draw(4000);
        size[i][1] = size[i][0] * (draw(4) == 0 ? 12 : 1);
        items[i] = (struct bound_item){.size = size[i], .count = 1 + draw(9)};
        demand[0] += (double)size[i][0] * (double)items[i].count;
        demand[1] += (double)size[i][1] * (double)items[i].count;
    }
    double got = bound_of(&(struct bound_question){.machines = machines, .machine_count = 2,
                                                   .items = items, .item_count = KINDS,
                                                   .columns = 2});
    /* The mix that fills both columns: x + y of the two, 64 (x + y) and 128 x + 512 y. */
    double y = (demand[1] - 2 * demand[0]) / 384000, x = demand[0] / 64000 - y, want = 2 * x + 4 * y;
    assert_true(x > 0 && y > 0);
    assert_true(got <= want * (1 + 1e-12));
    assert_true(got > want * 0.99);
}

/* Ten pods that keep one another off want ten nodes, however small they are. */
static void keeping_one_another_off(void **state)
{
    (void)state;
    struct cluster c;
    struct buf b = {0};
    cluster_init(&c);
    cluster_types_c0(&c);
    buf_addf(&b, "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: "
                 "{template: {spec: {requirements: []}}}\n");
    for (int i = 0; i < 10; i++)
        buf_addf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, labels: {app: x}}\nspec: "
                     "{containers: [{name: c, resources: {requests: {cpu: 100m}}}], affinity: "
                     "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                     "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: "
                     "x}}}]}}}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: "
                     "\"False\", reason: Unschedulable}]}\n", i);
    cluster_add(&c, b.ptr);
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 10);
    assert_true(p->lower_bound <= p->cost_after);
    assert_true(p->lower_bound > 0.99 * p->cost_after);
    buf_release(&b);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_above_the_least),
        cmocka_unit_test(reaches),
        cmocka_unit_test(many_kinds),
        cmocka_unit_test(keeping_one_another_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
