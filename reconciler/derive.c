#include "reconciler/derive.h"

#include <stdlib.h>

struct shelf { /* a catalogue and who uses it; on the API thread alone */
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
};

struct derive {
    struct provider *provider;
    struct world_options options;
    struct shelf *shelf;     /* the newest */
    struct derived *derived; /* those that live; few */
    struct err err;
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
    d->err = (struct err){0};
    if (!d->provider->ops->types(d->provider, &s->arena, syms, &s->catalogue, &d->err)) {
        shelf_leave(s);
        return NULL;
    }
    return s;
}

/* The catalogue for worlds of this table. */
static struct shelf *shelf_for(struct derive *d, struct symtab *syms)
{
    uint64_t generation = d->provider->ops->generation(d->provider);
    if (d->shelf == NULL || d->shelf->syms != syms || d->shelf->generation != generation) {
        struct shelf *fresh = shelf_new(d, syms, generation);
        if (fresh != NULL || d->shelf == NULL || d->shelf->syms != syms) {
            shelf_leave(d->shelf);
            d->shelf = fresh;
        }
    }
    if (d->shelf != NULL)
        d->shelf->users++;
    return d->shelf;
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

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab)
{
    static const struct catalogue none;
    struct derive *d = user;
    struct derived *out = mem_new(sizeof(*out));
    struct lists l = {0};
    (void)previous;
    out->shelf = shelf_for(d, symtab);
    struct world_input in = {
        .syms = symtab,
        .options = &d->options,
        .catalogue = out->shelf != NULL ? &out->shelf->catalogue : &none,
    };
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        collect(s, k, &l);
        world_input_take(&in, k, l.items[k], l.count[k]);
    }
    out->world = world_build(&in);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        free(l.items[k]);
    out->next = d->derived;
    d->derived = out;
    return out->world;
}

static void destroy(void *user, void *derived)
{
    struct derive *d = user;
    struct derived **at = &d->derived;
    while (*at != NULL && (*at)->world != derived)
        at = &(*at)->next;
    struct derived *gone = *at;
    if (gone == NULL)
        return;
    *at = gone->next;
    world_free(gone->world);
    shelf_leave(gone->shelf);
    free(gone);
}

struct derive *derive_new(struct provider *provider, const struct world_options *options)
{
    struct derive *d = mem_new(sizeof(*d));
    d->provider = provider;
    d->options = *options;
    return d;
}

void derive_free(struct derive *d)
{
    if (d == NULL)
        return;
    shelf_leave(d->shelf);
    free(d);
}

struct store_deriver derive_deriver(struct derive *d)
{
    return (struct store_deriver){.user = d, .derive = derive, .destroy = destroy};
}

bool derive_is_stale(const struct derive *d)
{
    return d->shelf != NULL && d->shelf->generation != d->provider->ops->generation(d->provider);
}

const struct err *derive_error(const struct derive *d)
{
    return &d->err;
}
