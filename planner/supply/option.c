#include "planner/columns.h"
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

/* --- DaemonSets --- */

/* Types that get the DaemonSet's pod: any of its OR'd terms will do. */
static void daemon_types(const struct option *o, const struct world *w, uint32_t class_id,
                         uint64_t *set_out)
{
    const struct types *t = &w->types;
    memset(set_out, 0, t->words * sizeof(*set_out));
    const struct pod_class *k = &w->classes.items[class_id];
    uint64_t *term = ARENA_ARRAY((struct arena *)w->arena, uint64_t, t->words);
    for (uint32_t i = 0; i < k->strict_count; i++) {
        const struct attempt *try = &w->classes.attempts[k->first_strict + i];
        const struct signature *s = &w->classes.signatures[try->signature];
        if (world_untolerated(s, true, o->taints) != NULL)
            return;
        if (!requirements_compatible(&o->requirements, &s->requirements,
                                     t->catalogue->well_known, w->syms, NULL, NULL))
            continue;
        memcpy(term, o->types, t->words * sizeof(*term));
        for (uint32_t r = 0; r < s->requirements.count; r++)
            types_cut(t, term, &s->requirements.items[r], w->syms);
        for (uint32_t word = 0; word < t->words; word++)
            set_out[word] |= term[word];
    }
}

static void add_ports(struct arena *a, struct host_ports *into, struct host_ports more)
{
    if (more.count == 0)
        return;
    struct host_port *items = ARENA_ARRAY(a, struct host_port, (size_t)into->count + more.count);
    if (into->count != 0)
        memcpy(items, into->items, into->count * sizeof(*items));
    memcpy(items + into->count, more.items, more.count * sizeof(*items));
    *into = (struct host_ports){items, into->count + more.count};
}

/* Types with the same DaemonSets form a group. */
static void option_daemons(struct option *o, struct world *w)
{
    const struct types *t = &w->types;
    struct arena *a = w->arena;
    uint64_t *sets = ARENA_ARRAY(a, uint64_t, (size_t)w->daemon_count * t->words);
    for (uint32_t d = 0; d < w->daemon_count; d++)
        daemon_types(o, w, w->daemons[d], sets + (size_t)d * t->words);

    struct intern groups;
    intern_init(&groups, a);
    uint32_t capacity = 0;
    o->daemon_of = ARENA_ARRAY(a, uint32_t, t->count);
    for (BITS_EACH(type, o->types, t->words)) {
        struct words members;
        words_init(&members, a);
        for (uint32_t d = 0; d < w->daemon_count; d++)
            if (bits_has(sets + (size_t)d * t->words, type))
                words_put(&members, d);
        bool is_new;
        uint32_t id = intern_put(&groups, &members, &is_new);
        o->daemon_of[type] = id;
        if (!is_new)
            continue;
        struct daemon_group g = {.overhead = ARENA_ARRAY(a, amount, w->column_count)};
        for (uint32_t m = 0; m < members.count; m++) {
            uint32_t class_id = w->daemons[members.items[m]];
            const amount *more = classes_requests(&w->classes, class_id);
            for (uint32_t c = 0; c < w->column_count; c++)
                g.overhead[c] = amount_add(g.overhead[c], more[c]);
            add_ports(a, &g.ports, w->classes.items[class_id].example->ports);
        }
        ARENA_PUSH(a, o->daemons, o->daemon_count, capacity, g);
    }
}

/* Allocatable less DaemonSets. An allocatable that is negative anywhere holds nothing (2.6). */
static void option_room(struct option *o, struct world *w)
{
    const struct types *t = &w->types;
    size_t columns = w->column_count;
    o->room = ARENA_ARRAY(w->arena, amount, t->first_group[t->count] * columns);
    o->several = ARENA_ARRAY(w->arena, uint64_t, t->words);
    for (BITS_EACH(type, o->types, t->words)) {
        const amount *overhead = o->daemons[o->daemon_of[type]].overhead;
        bool usable = false;
        for (uint32_t g = t->first_group[type]; g < t->first_group[type + 1]; g++) {
            bool negative = false;
            for (size_t c = 0; c < columns; c++) {
                o->room[g * columns + c] = t->allocatable[g * columns + c] - overhead[c];
                negative |= o->room[g * columns + c] < 0;
            }
            for (size_t c = 0; negative && c < columns; c++)
                o->room[g * columns + c] = -1;
            usable |= !negative;
        }
        if (!usable)
            bits_drop(o->types, type);
        if (t->first_group[type + 1] - t->first_group[type] > 1)
            bits_add(o->several, type);
    }
    o->by_room = room_build(w->arena, o->types, t->words, t->first_group, o->room, w->column_count);
}

void option_build(struct option *o, struct world *w, const struct node_pool *pool)
{
    const struct types *t = &w->types;
    *o = (struct option){.pool = pool};
    option_template(o, w);
    o->types = ARENA_ARRAY(w->arena, uint64_t, t->words);
    o->kinds = ARENA_ARRAY(w->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < t->count; i++)
        if (instance_type_offered(types_at(t, i), pool->meta.name))
            bits_add(o->types, i);
    for (uint32_t i = 0; i < o->requirements.count; i++)
        types_cut(t, o->types, &o->requirements.items[i], w->syms);
    types_kinds(t, o->kinds, &o->requirements, w->syms);
    types_cut_kinds(t, o->types, o->kinds);
    option_daemons(o, w);
    option_room(o, w);
}

void option_budget(struct option *o, const struct world *w, const amount *used, amount nodes)
{
    o->budget = ARENA_ARRAY((struct arena *)w->arena, amount, w->column_count);
    for (uint32_t c = 0; c < w->column_count; c++)
        o->budget[c] = INT64_MAX;
    o->nodes_left = INT64_MAX;
    o->limited = o->pool->limits.count != 0;
    if (o->limited) {
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
