/* expanders: which options are best, each in turn among those that the one before left (spec node-groups 3.9). */
#include <math.h>

#include "kube/wellknown.h"
#include "planner/groups/ready.h"
#include "planner/groups/up/inner.h"
#include "planner/groups/up/priority.h"

static double pods_of(const struct up *u, const struct growth *o)
{
    (void)u;
    return -(double)o->pod_count;
}

static double nodes_of(const struct up *u, const struct growth *o)
{
    (void)u;
    return o->nodes;
}

static const struct node *template_of(const struct up *u, const struct growth *o)
{
    return u->r->model->groups[o->group].template.node;
}

static double wasted(amount capacity, int32_t nodes, amount asked)
{
    amount there = capacity * nodes;
    return (double)(there - asked) / (double)there;
}

static double waste_of(const struct up *u, const struct growth *o)
{
    const struct node *n = template_of(u, o);
    amount cpu = 0, memory = 0;
    for (uint32_t i = 0; i < o->pod_count; i++) {
        cpu += resources_get(o->pods[i]->requests, SYM_CPU);
        memory += resources_get(o->pods[i]->requests, SYM_MEMORY);
    }
    return wasted(resources_get(n->capacity, SYM_CPU), o->nodes, cpu) +
           wasted(resources_get(n->capacity, SYM_MEMORY), o->nodes, memory);
}

/* --- price --- */

static const double gibibyte = 1 << 30;

static double price_per_hour(const struct node_groups *f, sym resource)
{
    for (uint32_t i = 0; i < f->pod_prices.count; i++)
        if (f->pod_prices.items[i].resource == resource)
            return f->pod_prices.items[i].price;
    return 0;
}

static double pod_price(const struct node_groups *f, struct resources r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r.count; i++) {
        double unit = r.items[i].name == SYM_CPU ? 1000 : r.items[i].name == SYM_MEMORY ? gibibyte : 1;
        sum += (double)r.items[i].value / unit * price_per_hour(f, r.items[i].name);
    }
    return sum;
}

/* Cores of the node that a cluster of this size would like. */
static double preferred_cores(uint32_t nodes)
{
    static const struct {
        uint32_t nodes;
        double cores;
    } sizes[] = {{2, 1}, {6, 2}, {20, 4}, {60, 8}, {200, 16}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (nodes <= sizes[i].nodes)
            return sizes[i].cores;
    return 32;
}

static bool has_gpus(const struct up *u, const struct node *n)
{
    const struct symtab *syms = u->r->world->syms;
    return group_node_is_gpu(u->r->model, n) ||
           resources_get(n->allocatable, sym_find(syms, SPAN("nvidia.com/gpu"))) != 0;
}

/* NAN: nobody says what a node of the group costs. */
static double price_of(const struct up *u, const struct growth *o)
{
    const struct node_groups *f = u->r->model->file;
    const struct node *n = template_of(u, o);
    const struct node_group *g = u->r->model->groups[o->group].spec;
    struct resource least[] = {{SYM_CPU, 500}, {SYM_MEMORY, 500 << 20}};
    double stable = pod_price(f, (struct resources){least, COUNT_OF(least)}), pods = 0;
    if (!g->has_price)
        return NAN;
    for (uint32_t i = 0; i < o->pod_count; i++)
        pods += pod_price(f, o->pods[i]->requests);
    double ratio = (g->price * o->nodes + stable) / (pods + stable);
    double liked = preferred_cores(u->r->row_count), cores = (double)resources_get(n->capacity, SYM_CPU) / 1000;
    double unfit = liked / cores > cores / liked ? liked / cores : cores / liked;
    double suppressed = has_gpus(u, n) ? 1000 : (unfit - 1) * (1 - tanh((o->nodes - 1) / 15.0)) + 1;
    return suppressed * ratio;
}

/* What its nodes cost, shared by its pods; NAN: nobody says. */
static double cost_of(const struct up *u, const struct growth *o)
{
    const struct node_group *g = u->r->model->groups[o->group].spec;
    return g->has_price ? g->price * o->nodes / o->pod_count : NAN;
}

/* --- all of them --- */

/* Those with the lowest score; one without is out. */
static uint32_t keep_lowest(const struct up *u, uint32_t *at, uint32_t count,
                            double (*score)(const struct up *u, const struct growth *o))
{
    double least = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        double has = score(u, &u->options[at[i]]);
        if (isnan(has) && (score == price_of || score == cost_of))
            continue;
        if (kept != 0 && !(has <= least))
            continue;
        if (kept == 0 || has < least)
            kept = 0;
        least = has;
        at[kept++] = at[i];
    }
    return kept;
}

static uint32_t keep_important(const struct up *u, uint32_t *at, uint32_t count)
{
    const struct group_priorities *p = groups_priorities(u->r);
    int64_t most = -1;
    uint32_t kept = 0;
    uint32_t *best = ARENA_ARRAY(u->r->arena, uint32_t, count);
    for (uint32_t i = 0; p != NULL && i < count; i++) {
        int64_t priority;
        struct span name = u->r->model->groups[u->options[at[i]].group].spec->name;
        if (!group_priority(p, name, &priority) || priority < most)
            continue;
        if (priority > most)
            kept = 0;
        most = priority;
        best[kept++] = at[i];
    }
    for (uint32_t i = 0; i < kept; i++)
        at[i] = best[i];
    return kept != 0 ? kept : count;
}

static uint32_t expand(const struct up *u, enum expander e, uint32_t *at, uint32_t count)
{
    switch (e) {
    case EXPANDER_MOST_PODS:
        return keep_lowest(u, at, count, pods_of);
    case EXPANDER_LEAST_WASTE:
        return keep_lowest(u, at, count, waste_of);
    case EXPANDER_LEAST_NODES:
        return keep_lowest(u, at, count, nodes_of);
    case EXPANDER_PRICE:
        return keep_lowest(u, at, count, price_of);
    case EXPANDER_PRIORITY:
        return keep_important(u, at, count);
    case EXPANDER_RANDOM:
    case EXPANDER_COUNT:
        break;
    }
    return count;
}

/* Where nobody knows a price, all are. */
static uint32_t keep_cheapest(struct up *u, uint32_t *at, uint32_t count)
{
    uint32_t kept = keep_lowest(u, at, count, cost_of);
    return kept != 0 ? kept : count;
}

uint32_t up_expand(struct up *u, uint32_t *at, uint32_t count)
{
    if (u->r->flags->by_cost)
        count = keep_cheapest(u, at, count);
    for (uint32_t i = 0; i < u->r->flags->expander_count; i++) {
        count = expand(u, u->r->flags->expanders[i], at, count);
        if (count == 1)
            break;
    }
    return count;
}
