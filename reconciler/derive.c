#include "reconciler/derive.h"

#include <pthread.h>
#include <stdlib.h>

#include "cloud/catalogue.h"
#include "reconciler/changed.h"

struct edition { /* of what the providers list, and for whom; which one worlds are made with */
    uint64_t numbers[PROVIDERS_MAX]; /* of the lists, listings_number */
    uint64_t pools; /* hash of whose they are, where there are several providers */
};

struct shelf { /* a catalogue and who uses it */
    struct arena arena;
    struct catalogue catalogue;
    struct symtab *syms; /* of the catalogue; a reference */
    struct edition edition;
    uint32_t users;
};

struct derived { /* a world and the shelf it points into */
    struct derived *next;
    struct world *world;
    struct shelf *shelf;
    uint32_t users; /* snapshots */
};

struct derive {
    struct providers providers;
    struct listings *listings;
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

/* Which pools are the provider's. */
static struct spans pools_of(struct derive *d, const struct snapshot *s, const struct provider *p, struct arena *a)
{
    struct span *names = ARENA_ARRAY(a, struct span, s->state[KIND_NODE_POOL].count + 1);
    struct spans out = {names, 0};
    struct snapshot_iter it = snapshot_each(s, KIND_NODE_POOL);
    for (const struct node_pool *pool; (pool = snapshot_next(&it)) != NULL;)
        if (providers_of_class(&d->providers, &pool->node_class) == p)
            names[out.count++] = arena_dup(a, pool->meta.name);
    return out;
}

static struct edition edition_of(struct derive *d, const struct snapshot *s)
{
    struct edition e = {.pools = 0};
    for (uint32_t i = 0; i < d->providers.count; i++)
        e.numbers[i] = listings_number(d->listings, i);
    if (d->providers.count < 2) /* all pools that are anybody's are his */
        return e;
    struct snapshot_iter it = snapshot_each(s, KIND_NODE_POOL);
    for (const struct node_pool *pool; (pool = snapshot_next(&it)) != NULL;) {
        struct provider *p = providers_of_class(&d->providers, &pool->node_class);
        if (p != NULL)
            e.pools += span_hash(pool->meta.name) * (2 * providers_index(&d->providers, p) + 1);
    }
    return e;
}

static bool same_edition(const struct edition *a, const struct edition *b)
{
    for (uint32_t i = 0; i < PROVIDERS_MAX; i++)
        if (a->numbers[i] != b->numbers[i])
            return false;
    return a->pools == b->pools;
}

/* Of who has not listed anything yet nothing is known. */
static struct shelf *shelf_new(struct derive *d, const struct snapshot *snapshot, struct symtab *syms,
                               const struct edition *edition)
{
    struct shelf *s = mem_new(sizeof(*s));
    struct catalogue lists[PROVIDERS_MAX];
    struct catalogue_part parts[PROVIDERS_MAX];
    arena_init(&s->arena, 64 << 10);
    s->users = 1;
    s->edition = *edition;
    s->syms = symtab_ref(syms);
    for (uint32_t i = 0; i < d->providers.count; i++) {
        s->edition.numbers[i] = listings_copy(d->listings, i, &s->arena, syms, &lists[i]);
        parts[i] = (struct catalogue_part){.catalogue = &lists[i],
                                           .class_group = d->providers.items[i]->ops->node_class_group,
                                           .class_kind = d->providers.items[i]->ops->node_class_kind};
    }
    for (uint32_t i = 0; i < d->providers.count && d->providers.count > 1; i++)
        parts[i].pools = pools_of(d, snapshot, d->providers.items[i], &s->arena);
    if (d->providers.count == 1)
        s->catalogue = lists[0];
    else
        catalogue_join(&s->arena, parts, d->providers.count, &s->catalogue);
    return s;
}

/* The newest, if it is of this table and this edition. */
static bool is_new(struct derive *d, const struct symtab *syms, const struct edition *edition)
{
    pthread_mutex_lock(&d->lock);
    bool same = d->shelf != NULL && d->shelf->syms == syms && same_edition(&d->shelf->edition, edition);
    pthread_mutex_unlock(&d->lock);
    return same;
}

/* The catalogue for worlds of this table. Copied off the lock: who lets a world go does not wait for it. */
static struct shelf *shelf_for(struct derive *d, const struct snapshot *snapshot, struct symtab *syms)
{
    struct edition edition = edition_of(d, snapshot);
    struct shelf *fresh = !is_new(d, syms, &edition) ? shelf_new(d, snapshot, syms, &edition) : NULL;
    pthread_mutex_lock(&d->lock);
    if (fresh != NULL) {
        shelf_leave(d->shelf);
        d->shelf = fresh;
    }
    struct shelf *s = d->shelf;
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
    struct lists l = {0};
    struct world_input in = {
        .syms = symtab,
        .options = &d->options,
        .catalogue = &shelf->catalogue,
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

/* These apart, b has the same of what the world of a is made of. */
static bool same_ground(const struct snapshot *a, const struct snapshot *b)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (!kind_changes_by_delta(k) && world_reads(a->derived, k) && !snapshot_same(a, b, k))
            return false;
    return a->syms == b->syms;
}

static bool same_world(const struct snapshot *a, const struct snapshot *b)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (kind_changes_by_delta(k) && !snapshot_same(a, b, k))
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

static struct world *next_world(const struct world *before, const struct snapshot *s, const struct snapshot *previous)
{
    struct changed changed;
    changed_find(&changed, s, previous);
    struct world_change c = changed_of(&changed);
    struct world *w = world_delta(before, &c);
    changed_release(&changed);
    return w;
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab)
{
    struct derive *d = user;
    d->last = DERIVE_NONE;
    if (!snapshot_synced(s))
        return NULL;
    struct shelf *shelf = shelf_for(d, s, symtab);
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

struct derive *derive_new(const struct providers *providers, const struct listings_worker *worker,
                          const struct world_options *options)
{
    struct derive *d = mem_new(sizeof(*d));
    d->providers = *providers;
    d->listings = listings_new(providers, worker);
    d->options = *options;
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void derive_free(struct derive *d)
{
    if (d == NULL)
        return;
    shelf_leave(d->shelf);
    listings_free(d->listings);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct store_deriver derive_deriver(struct derive *d)
{
    return (struct store_deriver){.user = d, .derive = derive, .destroy = destroy};
}

const char *derive_way_name(enum derive_way way)
{
    static const char *const names[] = {
        [DERIVE_NONE] = "none", [DERIVE_SAME] = "same", [DERIVE_DELTA] = "delta", [DERIVE_BUILD] = "build"};
    return names[way];
}

enum derive_way derive_last(const struct derive *d)
{
    return d->last;
}

bool derive_look(struct derive *d, mono_ms now)
{
    bool stale = false;
    listings_look(d->listings, now);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; d->shelf != NULL && i < d->providers.count; i++)
        stale |= d->shelf->edition.numbers[i] != listings_number(d->listings, i);
    pthread_mutex_unlock(&d->lock);
    return stale;
}

bool derive_waits(const struct derive *d)
{
    return listings_awaited(d->listings);
}
