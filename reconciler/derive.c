#include "reconciler/derive.h"

#include <pthread.h>
#include <stdlib.h>

struct shelf { /* a catalogue and who uses it */
    struct arena arena;
    struct catalogue catalogue;
    struct symtab *syms; /* of the catalogue; a reference */
    uint64_t generation;
    uint32_t users;
};

struct derived { /* a world and the shelf it points into */
    struct derived *next;
    struct world *world;
    struct shelf *shelf;
    uint32_t users; /* snapshots */
};

struct derive {
    struct provider *provider;
    struct world_options options;
    pthread_mutex_t lock;    /* of all below, counts of users included */
    struct shelf *shelf;     /* the newest; only the deriver's thread puts another there */
    struct derived *derived; /* those that live; few */
    enum derive_way last; /* deriver's thread */
};

static void shelf_leave(struct shelf *s)
{
    if (s == NULL || --s->users != 0)
        return;
    arena_release(&s->arena);
    symtab_unref(s->syms);
    free(s);
}

static struct shelf *shelf_new(struct derive *d, struct symtab *syms, uint64_t generation)
{
    struct shelf *s = mem_new(sizeof(*s));
    arena_init(&s->arena, 64 << 10);
    s->users = 1;
    s->generation = generation;
    s->syms = symtab_ref(syms);
    struct err err; /* worlds are made with the last list that came */
    if (!d->provider->ops->types(d->provider, &s->arena, syms, &s->catalogue, &err)) {
        shelf_leave(s);
        return NULL;
    }
    return s;
}

/* The newest, if it is of this table and this list of the provider's. */
static bool is_new(struct derive *d, const struct symtab *syms, uint64_t generation)
{
    pthread_mutex_lock(&d->lock);
    bool same = d->shelf != NULL && d->shelf->syms == syms && d->shelf->generation == generation;
    pthread_mutex_unlock(&d->lock);
    return same;
}

/* The catalogue for worlds of this table. Asked for off the lock: who lets a world go does not wait for it. */
static struct shelf *shelf_for(struct derive *d, struct symtab *syms)
{
    uint64_t generation = d->provider->ops->generation(d->provider);
    bool wanted = !is_new(d, syms, generation);
    struct shelf *fresh = wanted ? shelf_new(d, syms, generation) : NULL;
    pthread_mutex_lock(&d->lock);
    if (wanted && (fresh != NULL || d->shelf == NULL || d->shelf->syms != syms)) {
        shelf_leave(d->shelf);
        d->shelf = fresh;
    }
    struct shelf *s = d->shelf;
    if (s != NULL)
        s->users++;
    pthread_mutex_unlock(&d->lock);
    return s;
}

struct lists {
    const void **items[KIND_STORED_COUNT];
    size_t count[KIND_STORED_COUNT];
};

static void collect(const struct snapshot *s, enum kind k, struct lists *l)
{
    struct snapshot_iter it = snapshot_each(s, k);
    l->items[k] = mem_array(s->state[k].count + 1, sizeof(void *));
    for (const void *o; l->count[k] < s->state[k].count && (o = snapshot_next(&it)) != NULL;)
        l->items[k][l->count[k]++] = o;
}

static struct world *build_world(struct derive *d, const struct shelf *shelf,
                                const struct snapshot *s, struct symtab *symtab)
{
    static const struct catalogue none;
    struct lists l = {0};
    struct world_input in = {
        .syms = symtab,
        .options = &d->options,
        .catalogue = shelf != NULL ? &shelf->catalogue : &none,
    };
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        collect(s, k, &l);
        world_input_take(&in, k, l.items[k], l.count[k]);
    }
    struct world *world = world_build(&in);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        free(l.items[k]);
    return world;
}

/* What a world can be made by delta of. */
static const enum kind moving[] = {KIND_POD, KIND_NODE, KIND_NODE_CLAIM, KIND_CSI_NODE, KIND_DISRUPTION_BUDGET};

static bool moves(enum kind k)
{
    for (size_t i = 0; i < COUNT_OF(moving); i++)
        if (moving[i] == k)
            return true;
    return false;
}

/* These apart, b has the same of what the world of a is made of. */
static bool same_ground(const struct snapshot *a, const struct snapshot *b)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (!moves(k) && world_reads(a->derived, k) && !snapshot_same(a, b, k))
            return false;
    return a->syms == b->syms;
}

static bool same_world(const struct snapshot *a, const struct snapshot *b)
{
    for (size_t i = 0; i < COUNT_OF(moving); i++)
        if (!snapshot_same(a, b, moving[i]))
            return false;
    return true;
}

static struct derived **find(struct derive *d, const void *world)
{
    struct derived **at = &d->derived;
    while (*at != NULL && (*at)->world != world)
        at = &(*at)->next;
    return at;
}

/* The one of `previous` when only what moves can be different. */
static struct derived *nearly_same(struct derive *d, const struct snapshot *s,
                                   const struct snapshot *previous, const struct shelf *shelf)
{
    if (previous == NULL || previous->derived == NULL || !same_ground(previous, s))
        return NULL;
    struct derived *x = *find(d, previous->derived);
    return x->shelf == shelf ? x : NULL;
}

/* The objects of `s` that `other` does not have. To be freed. */
static const void **beside(const struct snapshot *s, const struct snapshot *other, enum kind k, size_t *count_out)
{
    size_t count = 0, capacity = 64;
    const void **objects = mem_array(capacity, sizeof(*objects));
    struct snapshot_iter it = snapshot_each(s, k);
    for (const void *o; (o = snapshot_next_changed(&it, other)) != NULL;) {
        if (count == capacity)
            objects = mem_grow(objects, capacity *= 2, sizeof(*objects));
        objects[count++] = o;
    }
    *count_out = count;
    return objects;
}

/* All of the kind, in the order in which worlds are built of them; NULL: the very same. To be freed. */
static const void **whole(const struct snapshot *s, const struct snapshot *previous, enum kind k, size_t *count_out)
{
    struct lists l = {0};
    *count_out = 0;
    if (snapshot_same(previous, s, k))
        return NULL;
    collect(s, k, &l);
    *count_out = l.count[k];
    return l.items[k];
}

struct moved { /* of one kind */
    const void **gone, **come;
    size_t gone_count, come_count;
};

static struct moved moved_of(const struct snapshot *s, const struct snapshot *previous, enum kind k)
{
    struct moved m;
    m.gone = beside(previous, s, k, &m.gone_count);
    m.come = beside(s, previous, k, &m.come_count);
    return m;
}

static void moved_release(struct moved *m)
{
    free(m->gone);
    free(m->come);
}

static struct world *next_world(const struct world *before, const struct snapshot *s,
                                const struct snapshot *previous)
{
    struct moved pods = moved_of(s, previous, KIND_POD), nodes = moved_of(s, previous, KIND_NODE);
    struct moved claims = moved_of(s, previous, KIND_NODE_CLAIM), csi = moved_of(s, previous, KIND_CSI_NODE);
    size_t budget_count;
    const void **budgets = whole(s, previous, KIND_DISRUPTION_BUDGET, &budget_count);
    struct world_change c = {
        .gone = (const void *)pods.gone, .gone_count = pods.gone_count,
        .come = (const void *)pods.come, .come_count = pods.come_count,
        .gone_nodes = (const void *)nodes.gone, .gone_node_count = nodes.gone_count,
        .nodes = (const void *)nodes.come, .node_count = nodes.come_count,
        .gone_claims = (const void *)claims.gone, .gone_claim_count = claims.gone_count,
        .claims = (const void *)claims.come, .claim_count = claims.come_count,
        .gone_csi_nodes = (const void *)csi.gone, .gone_csi_node_count = csi.gone_count,
        .csi_nodes = (const void *)csi.come, .csi_node_count = csi.come_count,
        .budgets = (const void *)budgets, .budget_count = budget_count,
    };
    struct world *w = world_delta(before, &c);
    moved_release(&pods);
    moved_release(&nodes);
    moved_release(&claims);
    moved_release(&csi);
    free(budgets);
    return w;
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab)
{
    struct derive *d = user;
    d->last = DERIVE_NONE;
    if (!snapshot_synced(s))
        return NULL;
    struct shelf *shelf = shelf_for(d, symtab);
    pthread_mutex_lock(&d->lock);
    struct derived *x = nearly_same(d, s, previous, shelf);
    bool same = x != NULL && same_world(s, previous);
    if (same) {
        x->users++;
        shelf_leave(shelf);
    }
    pthread_mutex_unlock(&d->lock);
    d->last = DERIVE_SAME;
    if (same)
        return x->world;
    /* `previous` keeps its world alive meanwhile. */
    struct world *world = x != NULL ? next_world(x->world, s, previous) : NULL;
    d->last = world != NULL ? DERIVE_DELTA : DERIVE_BUILD;
    if (world == NULL)
        world = build_world(d, shelf, s, symtab);
    x = mem_new(sizeof(*x));
    x->world = world;
    x->shelf = shelf;
    x->users = 1;
    pthread_mutex_lock(&d->lock);
    x->next = d->derived;
    d->derived = x;
    pthread_mutex_unlock(&d->lock);
    return x->world;
}

static void destroy(void *user, void *derived)
{
    struct derive *d = user;
    pthread_mutex_lock(&d->lock);
    struct derived **at = find(d, derived), *gone = *at;
    bool last = --gone->users == 0;
    if (last) {
        *at = gone->next;
        shelf_leave(gone->shelf);
    }
    pthread_mutex_unlock(&d->lock);
    if (!last)
        return;
    world_free(gone->world);
    free(gone);
}

struct derive *derive_new(struct provider *provider, const struct world_options *options)
{
    struct derive *d = mem_new(sizeof(*d));
    d->provider = provider;
    d->options = *options;
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void derive_free(struct derive *d)
{
    if (d == NULL)
        return;
    shelf_leave(d->shelf);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct store_deriver derive_deriver(struct derive *d)
{
    return (struct store_deriver){.user = d, .derive = derive, .destroy = destroy};
}

enum derive_way derive_last(const struct derive *d)
{
    return d->last;
}

bool derive_is_stale(struct derive *d)
{
    pthread_mutex_lock(&d->lock);
    bool stale = d->shelf != NULL &&
                 d->shelf->generation != d->provider->ops->generation(d->provider);
    pthread_mutex_unlock(&d->lock);
    return stale;
}
