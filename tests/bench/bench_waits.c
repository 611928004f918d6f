/* bench_waits: one pod more beside 20,000 that wait and have places: the world by delta, the plan, and the places that
 * are published.
 *
 *   bench_waits [PODS [ROUNDS]]   (20000 200)
 *
 * The pods are of ten shapes; a plan buys machines for them, these stand as nodes on which nobody is bound yet, and
 * each pod has its place; some others have room. What comes is of a shape that waits already, and finds room. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "planner/plan/plan_places.h"
#include "planner/plan/seating.h"
#include "tests/planner/support_cluster.h"

enum { PODS = 20000, ROUNDS = 200, SHAPES = 10, TYPES = 20, ROOMY = 40 };
#define NOW 1795176000000

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void add_pool(struct cluster *c)
{
    cluster_types_c1(c, TYPES);
    cluster_add(c, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"
                   "  template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
                   "requirements: []}}\n");
}

static void add_shape(struct cluster *c, unsigned shape)
{
    struct buf b = {0};
    buf_addf(&b,
             "apiVersion: v1\nkind: Pod\nmetadata: {name: s%u, namespace: shop, uid: s%u, labels: {app: a%u}}\n"
             "spec: {containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi}}}]}\n"
             "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n",
             shape, shape, shape, 150 + shape * 70, 200 + shape * 90);
    cluster_add(c, b.ptr);
    buf_release(&b);
}

/* Like one that waits, under another name. */
static struct pod *another(struct cluster *c, uint32_t shape, uint32_t number)
{
    struct pod *p = ARENA_NEW(&c->arena, struct pod);
    *p = *(const struct pod *)c->kinds[KIND_POD].items[shape];
    p->meta.name = arena_printf(&c->arena, "web-7d9c5b6f4-%05u", number);
    p->meta.uid = arena_printf(&c->arena, "5f0e6d1c-0000-4000-8000-%012u", number);
    return p;
}

static void add_pods(struct cluster *c, uint32_t count)
{
    struct cluster_list *l = &c->kinds[KIND_POD];
    for (unsigned shape = 0; shape < SHAPES; shape++)
        add_shape(c, shape);
    for (uint32_t i = SHAPES; i < count; i++)
        ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, another(c, i % SHAPES, i * 7919 % 100003));
}

static void add_node(struct cluster *c, struct span name, const struct instance_type *type)
{
    struct cluster_list *l = &c->kinds[KIND_NODE];
    struct node *n = ARENA_NEW(&c->arena, struct node);
    n->meta.name = n->meta.uid = name;
    n->capacity = type->capacity;
    n->allocatable = type->allocatable;
    ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, n);
}

static struct places *buy(struct cluster *c)
{
    struct world_input in = cluster_input(c);
    struct world *w = world_build(&in);
    struct plan *p = plan_solve(w, &(struct plan_options){.search = SEARCH_GREEDY, .no_bound = true, .now = NOW});
    struct places *places = places_of_plan(p, NULL, NOW);
    for (uint32_t i = 0; i < places->count; i++) /* the claim's Node has its name */
        ((struct place *)places->items)[i].on_claim = false;
    for (uint32_t i = 0; i < p->claim_count; i++)
        add_node(c, arena_dup(&c->arena, p->claims[i].name), p->claims[i].types[0]);
    plan_free(p);
    world_free(w);
    return places;
}

/* --- one pod more --- */

struct times {
    double *items;
    uint32_t count;
};

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *name, struct times *t)
{
    qsort(t->items, t->count, sizeof(*t->items), by_number);
    printf("  %-22s p50 %8.0f us  p99 %8.0f us\n", name, t->items[t->count / 2],
           t->items[(uint64_t)t->count * 99 / 100]);
}

enum { DELTA, PLAN, PLACES, ALL, STEPS };
static const char *const names[STEPS] = {"world", "plan", "places", "all"};

struct state { /* of the last round */
    struct world *world;
    struct plan *plan; /* NULL: none was made on this world */
    struct places *places;
};

static void go_on(struct state *s, struct state next)
{
    plan_free(s->plan);
    world_free(s->world);
    if (s->places != next.places)
        places_destroy(&s->places->shared);
    *s = next;
}

static void one_more(struct cluster *c, uint32_t i, bool kept, struct state *s, double took[STEPS])
{
    const struct pod *pod = another(c, i % SHAPES, 200000 + i);
    double at[STEPS];
    struct state next;
    at[0] = now_us();
    next.world = world_delta(s->world, &(struct world_change){.come = &pod, .come_count = 1});
    if (next.world == NULL)
        abort();
    at[1] = now_us();
    struct seating seating = {.world = s->world, .rows = s->plan != NULL ? s->plan->rows : NULL};
    next.plan = plan_solve(next.world, &(struct plan_options){.places = s->places, .now = NOW,
                                                              .seating = kept && s->plan != NULL ? &seating : NULL});
    at[2] = now_us();
    next.places = places_of_plan(next.plan, s->places, NOW);
    at[3] = now_us();
    if (places_find(next.places, pod->meta.uid) == NULL || next.plan->claim_count != 0 ||
        next.places->count != s->places->count + 1)
        fprintf(stderr, "bench_waits: round %u: somebody has no place\n", i);
    for (int k = DELTA; k < ALL; k++)
        took[k] = at[k + 1] - at[k];
    took[ALL] = at[3] - at[0];
    go_on(s, next);
}

static void measure(struct cluster *c, const char *label, bool kept, uint32_t first, uint32_t rounds, struct state *s)
{
    struct times t[STEPS];
    for (int k = 0; k < STEPS; k++)
        t[k] = (struct times){mem_array(rounds, sizeof(double)), rounds};
    for (uint32_t i = 0; i < rounds; i++) {
        double took[STEPS];
        one_more(c, first + i, kept, s, took);
        for (int k = 0; k < STEPS; k++)
            t[k].items[i] = took[k];
    }
    printf(" %s\n", label);
    for (int k = 0; k < STEPS; k++)
        print(names[k], &t[k]);
    for (int k = 0; k < STEPS; k++)
        free(t[k].items);
}

int main(int argc, char **argv)
{
    struct cluster c;
    uint32_t pods = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : PODS;
    uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : ROUNDS;
    cluster_init(&c);
    add_pool(&c);
    add_pods(&c, pods);
    struct state s = {.places = buy(&c)};
    for (unsigned i = 0; i < ROOMY; i++)
        add_node(&c, arena_printf(&c.arena, "roomy-%u", i), &c.catalogue.items[c.catalogue.count - 1]);
    struct world_input in = cluster_input(&c);
    s.world = world_build(&in);
    printf("waits: %u pods with places on %zu nodes, one more comes, %u times\n", pods, c.kinds[KIND_NODE].count,
           rounds);
    measure(&c, "each place is looked up", false, 0, rounds, &s);
    measure(&c, "who has a place keeps it", true, rounds, rounds, &s);
    plan_free(s.plan);
    world_free(s.world);
    places_destroy(&s.places->shared);
    cluster_release(&c);
    return 0;
}
