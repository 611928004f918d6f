#include "cloud/groups/kwok.h"

#include <stdlib.h>

#include "cloud/groups/kwok_inner.h"

/* ---- groups and rows ---- */

static uint32_t group_place(const struct kwok_groups *k, struct span name)
{
    uint32_t low = 0, high = k->group_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(k->groups[mid]->shape.group, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct kwok_group *kwok_group_find(struct kwok_groups *k, struct span name)
{
    uint32_t at = group_place(k, name);
    return at < k->group_count && span_eq(k->groups[at]->shape.group, name) ? k->groups[at] : NULL;
}

void kwok_group_add(struct kwok_groups *k, const struct kwok_shape *shape)
{
    uint32_t at = group_place(k, shape->group);
    struct kwok_group *g = ARENA_NEW(&k->arena, struct kwok_group);
    g->shape = *shape;
    if (k->group_count == k->group_capacity) {
        k->group_capacity = k->group_capacity != 0 ? k->group_capacity * 2 : 16;
        k->groups = mem_grow(k->groups, k->group_capacity, sizeof(struct kwok_group *));
    }
    memmove(k->groups + at + 1, k->groups + at, (k->group_count - at) * sizeof(struct kwok_group *));
    k->groups[at] = g;
    k->group_count++;
}

struct row *row_add(struct kwok_group *g, enum row_state state, uint32_t ordinal, struct span name, struct span uid)
{
    struct row *r = mem_new(sizeof(*r) + name.len + uid.len);
    char *texts = (char *)(r + 1);
    struct row **at = &g->rows;
    memcpy(texts, name.ptr, name.len);
    if (uid.len != 0)
        memcpy(texts + name.len, uid.ptr, uid.len);
    r->state = state;
    r->ordinal = ordinal;
    r->name = (struct span){texts, name.len};
    r->uid = (struct span){texts + name.len, uid.len};
    while (*at != NULL)
        at = &(*at)->next;
    *at = r;
    return r;
}

void row_drop(struct kwok_group *g, struct row *r)
{
    struct row **at = &g->rows;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    free(r);
}

struct row *row_find(const struct kwok_group *g, struct span name)
{
    struct row *r = g->rows;
    while (r != NULL && !span_eq(r->name, name))
        r = r->next;
    return r;
}

bool row_counts(const struct row *r)
{
    return r->state != ROW_ENDING && r->state != ROW_GONE;
}

/* ---- the provider ---- */

static uint32_t asides(struct group_provider *p, const struct span **out)
{
    struct kwok_groups *k = kwok_groups_of(p);
    const struct kwok_asides *of = k->options.config.from_cluster ? &k->look_asides : &k->asides;
    *out = of->items;
    return of->count;
}

static void cancel(struct group_provider *p, uint64_t operation)
{
    group_operations_cancel(&kwok_groups_of(p)->operations, operation);
}

static void free_groups(struct group_provider *p)
{
    struct kwok_groups *k = kwok_groups_of(p);
    kwok_maps_leave(k);
    for (uint32_t i = 0; i < k->group_count; i++) {
        while (k->groups[i]->rows != NULL)
            row_drop(k->groups[i], k->groups[i]->rows);
        free(k->groups[i]->ordinals);
    }
    group_operations_release(&k->operations);
    free(k->groups);
    arena_release(&k->look_arena);
    arena_release(&k->arena);
    symtab_unref(k->syms);
    free(k);
}

static const enum kind no_more[] = {KIND_NONE};

static const struct group_provider_ops ops = {
    .name = "kwok",
    /* A Node is a request or two, of which the API client has 64 under way and tries each for a minute; a group grows by
     * a thousand at most. */
    .limits = {.patience = {[GROUP_RESIZE] = 2 * MS_MINUTE, [GROUP_REMOVE] = 2 * MS_MINUTE}, .calls = 16},
    .kinds = no_more,
    .look = kwok_groups_look,
    .asides = asides,
    .resize = kwok_groups_resize,
    .remove = kwok_groups_remove,
    .cancel = cancel,
    .free = free_groups,
};

void kwok_groups_configure(struct kwok_groups *k, const struct group_kwok_config *config)
{
    arena_clear(&k->arena);
    k->asides = (struct kwok_asides){0};
    k->options.config = *config;
    k->options.config.key = arena_dup(&k->arena, config->key);
    k->options.config.gpu_label = arena_dup(&k->arena, config->gpu_label);
    k->options.config.templates_map = arena_dup(&k->arena, config->templates_map);
}

bool kwok_groups_read(struct kwok_groups *k, const struct group_kwok_text *templates, struct err *err)
{
    struct kwok_shapes shapes = {0};
    if (!kwok_shapes_read(&k->arena, k->syms, &k->options.config, templates, &shapes, &k->asides, err))
        return false;
    for (uint32_t i = 0; i < shapes.count; i++)
        kwok_group_add(k, &shapes.items[i]);
    return true;
}

struct group_provider *group_kwok_new(const struct group_kwok_options *options, struct err *err)
{
    struct kwok_groups *k = mem_new(sizeof(*k));
    arena_init(&k->arena, 0);
    arena_init(&k->look_arena, 0);
    group_operations_init(&k->operations, options->api);
    k->provider.ops = &ops;
    k->options = *options;
    k->options.templates = (struct group_kwok_text){{0}, {0}};
    k->syms = kube_symtab_new();
    if (options->config_map.len != 0) {
        struct err unread;
        kwok_maps_read(k, &unread);
        return &k->provider;
    }
    kwok_groups_configure(k, &options->config);
    k->has_read = options->config.from_cluster || kwok_groups_read(k, &options->templates, err);
    if (!k->has_read) {
        free_groups(&k->provider);
        return NULL;
    }
    return &k->provider;
}
