/* Which resources have a column. Every vector of the world has all columns, so there are no more than needed: of what
 * pods, DaemonSets and limits name, all that a node, a type or an overlay has. What nothing has is there as well while
 * it is little, since explanations name it and node groups may have it; a pod that asks for much of that kind is
 * refused by its class instead (planner/pods/classes.c). */
#include "planner/columns.h"

#include <stdlib.h>

enum {
    UNOFFERED_EACH = 16,    /* a pod that asks for more resources that nothing has adds no column for them */
    UNOFFERED_COLUMNS = 128, /* 50 MB in a cluster of 10,000 nodes */
};

enum { OFFERED = 1, WANTED = 2, EARNED = 4 };

struct marks {
    struct world *w;
    uint8_t *of; /* by symbol */
    sym *wanted; /* each once */
    uint32_t wanted_count, wanted_capacity;
};

static void mark_offered(struct marks *m, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++)
        m->of[r.items[i].name] |= OFFERED;
}

static void mark_overrides(struct marks *m, const struct catalogue *c)
{
    for (uint32_t i = 0; c != NULL && i < c->count; i++) {
        mark_offered(m, c->items[i].capacity);
        for (uint32_t k = 0; k < c->items[i].offering_count; k++)
            mark_offered(m, c->items[i].offerings[k].capacity_override);
    }
}

static void mark_supply(struct marks *m, const struct world_input *in)
{
    for (size_t i = 0; i < in->node_count; i++) {
        mark_offered(m, in->nodes[i]->allocatable);
        mark_offered(m, in->nodes[i]->capacity);
    }
    for (size_t i = 0; i < in->claim_count; i++) {
        mark_offered(m, in->claims[i]->allocatable);
        mark_offered(m, in->claims[i]->capacity);
    }
    mark_overrides(m, in->catalogue);
    for (size_t i = 0; i < in->overlay_count; i++)
        mark_offered(m, in->overlays[i]->capacity);
}

static void mark_wanted(struct marks *m, struct resources r)
{
    uint32_t unoffered = 0;
    for (uint32_t i = 0; i < r.count; i++)
        unoffered += (m->of[r.items[i].name] & OFFERED) == 0;
    uint8_t mark = unoffered <= UNOFFERED_EACH ? WANTED | EARNED : WANTED;
    for (uint32_t i = 0; i < r.count; i++) {
        sym name = r.items[i].name;
        if ((m->of[name] & WANTED) == 0)
            ARENA_PUSH(m->w->arena, m->wanted, m->wanted_count, m->wanted_capacity, name);
        m->of[name] |= mark;
    }
}

struct named {
    struct span text;
    sym name;
};

static int by_text(const void *x, const void *y)
{
    return span_cmp(((const struct named *)x)->text, ((const struct named *)y)->text);
}

/* Adds columns for the wanted resources that are not fixed, in the order of names; of those that nothing offers, a bounded number. */
static void choose(struct marks *m)
{
    struct world *w = m->w;
    struct named *list = ARENA_ARRAY(w->arena, struct named, m->wanted_count);
    uint32_t count = 0, unoffered = 0;
    for (uint32_t i = 0; i < m->wanted_count; i++)
        if (m->wanted[i] != SYM_NODES && classes_column(&w->classes, m->wanted[i]) < 0)
            list[count++] = (struct named){sym_text(w->syms, m->wanted[i]), m->wanted[i]};
    if (count > 1)
        qsort(list, count, sizeof(*list), by_text);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t mark = m->of[list[i].name];
        if ((mark & OFFERED) != 0 || ((mark & EARNED) != 0 && unoffered++ < UNOFFERED_COLUMNS))
            ARENA_PUSH(w->arena, w->columns, w->column_count, w->column_capacity, list[i].name);
        else
            w->left_out[list[i].name] = true;
    }
}

void world_build_columns(struct world *w, const struct world_input *in)
{
    static const sym fixed[] = {SYM_CPU, SYM_MEMORY, SYM_EPHEMERAL_STORAGE, SYM_PODS};
    struct marks m = {.w = w, .of = mem_array(symtab_limit(w->syms), sizeof(*m.of))};
    w->left_out_limit = symtab_limit(w->syms);
    w->left_out = ARENA_ARRAY(w->arena, bool, w->left_out_limit);
    for (uint32_t i = 0; i < COUNT_OF(fixed); i++)
        ARENA_PUSH(w->arena, w->columns, w->column_count, w->column_capacity, fixed[i]);
    w->classes.columns = w->columns;
    w->classes.column_count = w->column_count;
    mark_supply(&m, in);
    for (size_t i = 0; i < in->pod_count; i++)
        mark_wanted(&m, in->pods[i]->requests);
    for (size_t i = 0; i < in->daemon_set_count; i++)
        mark_wanted(&m, in->daemon_sets[i]->template.requests);
    for (size_t i = 0; i < in->pool_count; i++)
        mark_wanted(&m, in->pools[i]->limits);
    choose(&m);
    free(m.of);
    w->resource_count = w->column_count;
    for (uint32_t i = 0; i < w->volumes.driver_count; i++)
        ARENA_PUSH(w->arena, w->columns, w->column_count, w->column_capacity,
                   w->volumes.drivers[i]);
}

bool world_leaves_out(const struct world *w, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name < w->left_out_limit && w->left_out[r.items[i].name])
            return true;
    return false;
}
