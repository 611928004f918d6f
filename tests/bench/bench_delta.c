/* One pod comes to a cluster in which every other pod stands: the world by delta, and the plan for that pod.
 * The cluster is what the plan of a dump leaves behind: its pods on their nodes, its claims as nodes.
 *
 * usage: bench_delta FOLDER INSTANCE-TYPES [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cloud/catalogue.h"
#include "planner/plan/plan.h"
#include "server/input.h"

enum { ROUNDS = 50 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static _Noreturn void die(const struct err *err)
{
    fprintf(stderr, "bench_delta: %s\n", err->msg);
    exit(1);
}

struct cluster {
    struct input input;
    struct catalogue catalogue;
    const struct pod **pods;
    size_t count;
    const struct node **nodes;
    size_t node_count;
};

static void read_types(struct cluster *c, const char *path)
{
    struct span text;
    struct catalogue_source *source;
    struct err err;
    if (!input_text(&c->input.arena, path, &text, &err) ||
        !catalogue_decode(text, span_of(path), &source, &err))
        die(&err);
    catalogue_build(source, &c->input.arena, c->input.syms, &c->catalogue);
    catalogue_source_free(source);
}

static struct world *build(const struct cluster *c)
{
    static const struct world_options options = {.ready_when_unstated = true};
    struct world_input in = {
        .syms = c->input.syms, .options = &options, .catalogue = &c->catalogue};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        world_input_take(&in, k, c->input.kinds[k].items, c->input.kinds[k].count);
    in.pods = c->pods;
    in.pod_count = c->count;
    in.nodes = c->nodes;
    in.node_count = c->node_count;
    return world_build(&in);
}

static struct plan *solve(const struct world *w)
{
    return plan_solve(w, &(struct plan_options){
                             .search = SEARCH_GREEDY, .no_bound = true, .now = 1795176000000});
}

/* --- what a plan leaves behind --- */

static void bind(struct cluster *c, const struct pod *const *pods, uint32_t count, struct span node)
{
    for (uint32_t i = 0; i < count; i++) {
        struct pod *p = ARENA_NEW(&c->input.arena, struct pod);
        *p = *pods[i];
        p->node = sym_intern(c->input.syms, node);
        p->phase = POD_RUNNING;
        p->unschedulable = false;
        c->pods[c->count++] = p;
    }
}

/* The cheapest machine of the claim, in the first zone that sells it. */
static void launch(struct cluster *c, const struct plan_claim *claim)
{
    static const sym keys[] = {SYM_ZONE, SYM_CAPACITY_TYPE};
    const struct instance_type *type = claim->types[0];
    struct node *n = ARENA_NEW(&c->input.arena, struct node);
    struct sym_pairs labels = {ARENA_ARRAY(&c->input.arena, struct sym_pair, claim->labels.count + 4), 0};
    for (uint32_t i = 0; i < claim->labels.count; i++)
        labels.items[labels.count++] = claim->labels.items[i];
    labels.items[labels.count++] = (struct sym_pair){SYM_INSTANCE_TYPE, type->name_sym};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct requirement *r = requirements_get(&type->offerings[0].requirements, keys[i]);
        if (r != NULL && r->count != 0)
            labels.items[labels.count++] = (struct sym_pair){keys[i], r->values[0]};
    }
    n->meta.name = arena_dup(&c->input.arena, claim->name);
    n->meta.labels = labels;
    n->capacity = type->capacity;
    n->allocatable = type->allocatable;
    c->nodes[c->node_count++] = n;
}

/* Returns how many pods found no place. */
static size_t settle(struct cluster *c, const struct plan *p)
{
    const struct world *w = p->world;
    for (uint32_t i = 0; i < p->node_count; i++)
        bind(c, p->nodes[i].pods, p->nodes[i].pod_count, world_node_at(w, p->nodes[i].row)->name);
    for (uint32_t i = 0; i < p->claim_count; i++) {
        launch(c, &p->claims[i]);
        bind(c, p->claims[i].pods, p->claims[i].pod_count, p->claims[i].name);
    }
    return p->unschedulable_count;
}

static size_t start(struct cluster *c, const char *folder, const char *types)
{
    struct err err;
    char *paths[] = {(char *)(uintptr_t)folder};
    struct texts files = {.items = (const char **)paths, .count = 1};
    input_init(&c->input);
    read_types(c, types);
    if (!input_read(&c->input, &files, types, &err))
        die(&err);
    size_t pods = c->input.kinds[KIND_POD].count, nodes = c->input.kinds[KIND_NODE].count;
    struct cluster before = *c;
    before.pods = (const struct pod **)c->input.kinds[KIND_POD].items;
    before.count = pods;
    before.nodes = (const struct node **)c->input.kinds[KIND_NODE].items;
    before.node_count = nodes;
    struct world *w = build(&before);
    struct plan *p = solve(w);
    c->pods = mem_array(pods, sizeof(*c->pods));
    c->nodes = mem_array(nodes + p->claim_count, sizeof(*c->nodes));
    for (size_t i = 0; i < pods; i++)
        if (before.pods[i]->node != SYM_NONE)
            c->pods[c->count++] = before.pods[i];
    for (size_t i = 0; i < nodes; i++)
        c->nodes[c->node_count++] = before.nodes[i];
    size_t without = settle(c, p);
    plan_free(p);
    world_free(w);
    return without;
}

/* --- one pod more --- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *items, int count)
{
    qsort(items, (size_t)count, sizeof(*items), by_number);
    return items[count / 2];
}

static struct pod newcomer(const struct cluster *c, int round, struct resource *cpu)
{
    struct pod p = *c->pods[(size_t)round * 7919 % c->count];
    p.node = SYM_NONE;
    p.phase = POD_PENDING;
    p.unschedulable = true;
    p.meta.name = p.meta.uid = SPAN("newcomer");
    if (cpu != NULL) {
        *cpu = (struct resource){SYM_CPU, 1001 + round};
        p.requests = (struct resources){cpu, 1};
    }
    return p;
}

static void measure(const struct cluster *c, const struct world *planned, bool new_shape,
                    const char *label, int rounds)
{
    double *delta = mem_array((size_t)rounds, sizeof(*delta));
    double *whole = mem_array((size_t)rounds, sizeof(*whole));
    int anew = 0;
    uint32_t placed = 0;
    for (int i = 0; i < rounds; i++) {
        struct resource cpu;
        struct pod pod = newcomer(c, i, new_shape ? &cpu : NULL);
        const struct pod *p = &pod;
        double from = now_ms();
        struct world *w = world_delta(planned, &(struct world_change){.come = &p, .come_count = 1});
        delta[i] = now_ms() - from;
        struct plan *plan = w != NULL ? solve(w) : NULL;
        whole[i] = now_ms() - from;
        anew += w == NULL;
        placed += plan != NULL ? plan->node_count + plan->claim_count : 0;
        plan_free(plan);
        world_free(w);
    }
    printf("delta, %-12s world %8.3f ms, with its plan %8.3f ms; %u of %d placed, %d left to a build\n",
           label, median(delta, rounds), median(whole, rounds), placed, rounds, anew);
    free(delta);
    free(whole);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: bench_delta FOLDER INSTANCE-TYPES [ROUNDS]\n", stderr);
        return 2;
    }
    int rounds = argc > 3 ? atoi(argv[3]) : ROUNDS;
    struct cluster c = {.count = 0};
    size_t without = start(&c, argv[1], argv[2]);
    double from = now_ms();
    struct world *planned = build(&c);
    printf("delta: %zu pods on %zu nodes, %zu without a place; the world built anew %.1f ms\n", c.count,
           c.node_count, without, now_ms() - from);
    measure(&c, planned, false, "known shape", rounds);
    measure(&c, planned, true, "new shape", rounds);
    world_free(planned);
    free(c.pods);
    free(c.nodes);
    input_release(&c.input);
    return 0;
}
