#include "sim/standins/scene.h"

#include <stdlib.h>

const enum kind scene_kinds[] = {KIND_POD,    KIND_NODE,          KIND_NAMESPACE, KIND_VOLUME_CLAIM,
                                 KIND_VOLUME, KIND_STORAGE_CLASS, KIND_CSI_NODE,  KIND_NONE};

static const void **gather(struct arena *a, const struct snapshot *s, enum kind k, size_t *count_out)
{
    struct snapshot_iter it = snapshot_each(s, k);
    const void **items = ARENA_ARRAY(a, const void *, s->state[k].count + 1), *object;
    size_t count = 0;
    while ((object = snapshot_next(&it)) != NULL)
        items[count++] = object;
    *count_out = count;
    return items;
}

static int by_turn(const void *a, const void *b)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->meta.created != y->meta.created)
        return x->meta.created < y->meta.created ? -1 : 1;
    int by_ns = span_cmp(x->meta.ns, y->meta.ns);
    return by_ns != 0 ? by_ns : span_cmp(x->meta.name, y->meta.name);
}

static void gather_waiting(struct scene *x, const struct snapshot *s)
{
    struct snapshot_iter it = snapshot_each(s, KIND_POD);
    size_t capacity = 0;
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;)
        if (p->node == SYM_NONE && p->meta.deleted == 0 && !pod_is_terminal(p))
            ARENA_PUSH(&x->arena, x->waiting, x->waiting_count, capacity, p);
    if (x->waiting_count != 0)
        qsort(x->waiting, x->waiting_count, sizeof(*x->waiting), by_turn);
}

static struct world *build(struct arena *a, const struct snapshot *s, struct symtab *symtab)
{
    static const struct world_options options = {.all_unbound = true, .unsplit = true};
    static const struct catalogue no_types = {0};
    struct world_input in = {.syms = symtab, .options = &options, .catalogue = &no_types};
    for (const enum kind *k = scene_kinds; *k != KIND_NONE; k++) {
        size_t count;
        const void *const *items = gather(a, s, *k, &count);
        world_input_take(&in, *k, items, count);
    }
    return world_build(&in);
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab)
{
    struct scene *x = mem_new(sizeof *x);
    (void)user;
    (void)previous;
    arena_init(&x->arena, 0);
    gather_waiting(x, s);
    if (x->waiting_count != 0)
        x->world = build(&x->arena, s, symtab);
    return x;
}

static void destroy(void *user, void *derived)
{
    struct scene *x = derived;
    (void)user;
    if (x->world != NULL)
        world_free(x->world);
    arena_release(&x->arena);
    free(x);
}

const struct store_deriver scene_deriver = {.derive = derive, .destroy = destroy};
