#include "planner/groups/offers.h"

#include <stdlib.h>

#include "kube/wellknown.h"
#include "planner/columns.h"

struct offering_groups {
    struct arena *a;
    struct symtab *syms;
    const struct world *world;
    int32_t weight; /* of the heaviest pool */
    struct group_offers out;
};

/* --- one group --- */

/* Why it cannot grow the pass over the groups would say at length. */
static bool is_offered(const struct group *g, wall_ms now)
{
    return g->spec->has_price && g->template.node != NULL && g->target < g->spec->max && g->spec->backoff.until <= now &&
           !g->scaling.zero_or_max;
}

/* No pool is named so, and no type. */
static struct span name_of(const struct offering_groups *x, const struct group *g)
{
    return arena_printf(x->a, "node group/%.*s", SPAN_ARG(g->spec->name));
}

static struct conditions ready(const struct offering_groups *x)
{
    struct condition *c = ARENA_NEW(x->a, struct condition);
    *c = (struct condition){.type = SPAN("Ready"), .status = CONDITION_TRUE};
    return (struct conditions){c, 1};
}

/* Labels that the catalogue's types speak of are the type's; the others the pool's. */
static bool is_of_type(const struct offering_groups *x, sym key)
{
    return syms_has(world_catalogue(x->world)->well_known, key);
}

static struct node_pool pool_of(const struct offering_groups *x, const struct group *g)
{
    const struct node *n = g->template.node;
    struct sym_pair *labels = ARENA_ARRAY(x->a, struct sym_pair, n->meta.labels.count);
    struct resource *limit = ARENA_NEW(x->a, struct resource);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->meta.labels.count; i++)
        if (n->meta.labels.items[i].key != SYM_HOSTNAME && !is_of_type(x, n->meta.labels.items[i].key))
            labels[count++] = n->meta.labels.items[i];
    *limit = (struct resource){SYM_NODES, g->spec->max - g->target};
    return (struct node_pool){
        .meta = {.name = name_of(x, g)},
        .labels = {labels, count},
        .node_class = {SPAN("stowage.dev"), SPAN("NodeGroup"), g->spec->name},
        .taints = n->taints,
        .limits = {limit, 1},
        .weight = x->weight,
        .conditions = ready(x),
    };
}

static void require(const struct offering_groups *x, struct requirements *r, sym key, sym value)
{
    struct requirement one = requirement_in(x->a, x->syms, key, value);
    requirements_add(x->a, r, &one, x->syms);
}

static void take(struct resources *room, struct resources asked)
{
    for (uint32_t i = 0; i < room->count; i++) {
        amount of = resources_get(asked, room->items[i].name);
        room->items[i].value = room->items[i].value > of ? room->items[i].value - of : 0;
    }
}

/* DaemonSets' pods are counted by the world, as on any new node. */
static struct resources room_of(const struct offering_groups *x, const struct group_template *t)
{
    struct resources room = resources_dup(x->a, t->node->allocatable);
    for (uint32_t i = 0; i < t->pod_count; i++) {
        struct resource one = {SYM_PODS, 1};
        if (world_daemon_owner(t->pods[i]) != NULL)
            continue;
        take(&room, t->pods[i]->requests);
        take(&room, (struct resources){&one, 1});
    }
    return room;
}

static struct instance_type type_of(const struct offering_groups *x, const struct group *g)
{
    const struct node *n = g->template.node;
    struct span *pool = ARENA_NEW(x->a, struct span);
    struct instance_type t = {.name = name_of(x, g), .capacity = room_of(x, &g->template), .node_pools = {pool, 1}};
    struct offering *o = ARENA_NEW(x->a, struct offering);
    *pool = t.name;
    t.name_sym = sym_intern(x->syms, t.name);
    *o = (struct offering){.price = g->spec->price, .available = true};
    if (sym_pairs_get(n->meta.labels, SYM_CAPACITY_TYPE) == SYM_NONE)
        require(x, &o->requirements, SYM_CAPACITY_TYPE, SYM_ON_DEMAND);
    for (uint32_t i = 0; i < n->meta.labels.count; i++) {
        sym key = n->meta.labels.items[i].key;
        struct requirements *of = key == SYM_ZONE || key == SYM_CAPACITY_TYPE ? &o->requirements : &t.requirements;
        if (key != SYM_HOSTNAME && is_of_type(x, key))
            require(x, of, key, n->meta.labels.items[i].value);
    }
    t.offerings = o;
    t.offering_count = 1;
    instance_type_finish(x->a, &t, x->syms);
    return t;
}

/* --- all of them --- */

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct instance_type *)a)->name, ((const struct instance_type *)b)->name);
}

/* A type that every pool is offered stays theirs alone; without pools it is nobody's. */
static void list_types(struct offering_groups *x, const struct group_model *m)
{
    const struct world *w = x->world;
    struct catalogue *c = &x->out.catalogue;
    struct span *names = ARENA_ARRAY(x->a, struct span, (size_t)w->pool_count + 1);
    const struct instance_type *were = c->items;
    uint32_t count = w->pool_count != 0 ? c->count : 0;
    for (uint32_t i = 0; i < w->pool_count; i++)
        names[i] = w->pools[i]->meta.name;
    c->items = ARENA_ARRAY(x->a, struct instance_type, (size_t)count + x->out.count);
    for (c->count = 0; c->count < count; c->count++) {
        struct instance_type *t = &c->items[c->count];
        *t = were[c->count];
        if (t->node_pools.count == 0)
            t->node_pools = (struct spans){names, w->pool_count};
    }
    for (uint32_t i = 0; i < x->out.count; i++)
        c->items[c->count++] = type_of(x, &m->groups[x->out.groups[i]]);
    qsort(c->items, c->count, sizeof(*c->items), by_name);
}

static void list_pools(struct offering_groups *x, const struct group_model *m, wall_ms now)
{
    const struct world *w = x->world;
    uint32_t *groups = ARENA_ARRAY(x->a, uint32_t, m->group_count);
    struct node_pool *own = ARENA_ARRAY(x->a, struct node_pool, m->group_count);
    const struct node_pool **all = ARENA_ARRAY(x->a, const struct node_pool *, (size_t)w->pool_count + m->group_count);
    struct group_offers *out = &x->out;
    for (uint32_t i = 0; i < w->pool_count; i++)
        all[out->pool_count++] = w->pools[i];
    for (uint32_t g = 0; g < m->group_count; g++) {
        if (!is_offered(&m->groups[g], now))
            continue;
        own[out->count] = pool_of(x, &m->groups[g]);
        groups[out->count] = g;
        all[out->pool_count++] = &own[out->count++];
    }
    out->pools = all;
    out->own = own;
    out->groups = groups;
}

struct group_offers group_offers_make(const struct world *w, const struct group_model *m, wall_ms now, struct symtab *syms,
                                      struct arena *a)
{
    struct offering_groups x = {.a = a, .syms = syms, .world = w, .weight = w->option_count != 0 ? w->options[0].pool->weight : 0};
    x.out.catalogue = *world_catalogue(w);
    x.out.options = w->settings;
    x.out.options.node_overlay = false;
    list_pools(&x, m, now);
    list_types(&x, m);
    return x.out;
}

int32_t group_of_offer(const struct group_offers *o, const struct node_pool *p)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (&o->own[i] == p)
            return (int32_t)o->groups[i];
    return -1;
}
