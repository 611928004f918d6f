#include "planner/columns.h"
#include "planner/supply/option_rows.h"
#include "planner/supply/pool_template.h"

struct span option_name(const struct option *o)
{
    return o->pool->meta.name;
}

int option_order(const void *a, const void *b)
{
    const struct node_pool *x = *(const struct node_pool *const *)a;
    const struct node_pool *y = *(const struct node_pool *const *)b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return span_cmp(y->meta.name, x->meta.name);
}

bool node_pool_ready(const struct node_pool *p, bool ready_when_unstated)
{
    return !p->has_replicas && pool_is_usable(p, ready_when_unstated);
}

static void require(struct option *o, struct world *w, sym key, sym value)
{
    struct requirement r = requirement_in(w->arena, w->syms, key, value);
    requirements_add(w->arena, &o->requirements, &r, w->syms);
}

static void option_template(struct option *o, struct world *w)
{
    const struct node_pool *p = o->pool;
    o->requirements = pool_requirements(w->arena, w->syms, p);
    require(o, w, SYM_REGISTERED, SYM_TRUE);
    require(o, w, SYM_INITIALIZED, SYM_TRUE);
    uint32_t capacity = 0;
    struct least_values *least = NULL;
    for (uint32_t i = 0; i < o->requirements.count; i++) {
        struct least_values x = {o->requirements.items[i].key,
                                 (uint32_t)o->requirements.items[i].min_values};
        if (o->requirements.items[i].min_values > 0)
            ARENA_PUSH(w->arena, least, o->least_count, capacity, x);
    }
    o->least = least;

    o->labels = pool_labels(w->arena, w->syms, p);
    o->taints = p->taints;
    for (uint32_t i = 0; i < p->taints.count; i++)
        o->soft_taints |= p->taints.items[i].effect == TAINT_PREFER_NO_SCHEDULE;
}

void option_build(struct option *o, struct world *w, const struct node_pool *pool)
{
    const struct types *t = &w->types;
    *o = (struct option){.pool = pool};
    option_template(o, w);
    node_pool_cost(pool, &o->node_cost);
    o->types = ARENA_ARRAY(w->arena, uint64_t, t->words);
    o->kinds = ARENA_ARRAY(w->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < t->count; i++)
        if (instance_type_offered(types_at(t, i), pool->meta.name))
            bits_add(o->types, i);
    for (uint32_t i = 0; i < o->requirements.count; i++)
        types_cut(t, o->types, &o->requirements.items[i], w->syms);
    types_kinds(t, o->kinds, &o->requirements, w->syms);
    types_cut_kinds(t, o->types, o->kinds);
    option_rows(o, w);
}

void option_budget(struct option *o, const struct world *w, const amount *used, amount nodes)
{
    o->budget = ARENA_ARRAY((struct arena *)w->arena, amount, w->column_count);
    for (uint32_t c = 0; c < w->column_count; c++)
        o->budget[c] = INT64_MAX;
    o->nodes_left = INT64_MAX;
    o->limited = o->pool->limits.count != 0;
    if (o->limited && o->by_capacity == NULL) {
        struct arena *a = (struct arena *)w->arena;
        uint32_t *itself = ARENA_ARRAY(a, uint32_t, (size_t)w->types.count + 1);
        for (uint32_t i = 0; i <= w->types.count; i++)
            itself[i] = i;
        o->by_capacity = room_build(a, o->types, w->types.words, itself, w->types.capacity,
                                    w->column_count);
    }
    for (uint32_t i = 0; i < o->pool->limits.count; i++) {
        const struct resource *limit = &o->pool->limits.items[i];
        int32_t c = classes_column(&w->classes, limit->name);
        if (limit->name == SYM_NODES)
            o->nodes_left = limit->value - nodes;
        else if (c >= 0)
            o->budget[c] = limit->value - used[c];
    }
}
