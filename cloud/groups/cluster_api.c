#include "cloud/groups/cluster_api.h"

#include <stdlib.h>

#include "cloud/groups/cluster_api_inner.h"

/* ---- what it knows ---- */

const struct capi_group *capi_group_find(const struct capi *c, struct span id)
{
    uint32_t low = 0, high = c->group_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(c->groups[mid].id, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->group_count && span_eq(c->groups[low].id, id) ? &c->groups[low] : NULL;
}

const struct capi_machine *capi_machine_find(const struct capi *c, struct span id)
{
    uint32_t low = 0, high = c->machine_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (span_cmp(c->machines[mid].id, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->machine_count && span_eq(c->machines[low].id, id) ? &c->machines[low] : NULL;
}

void capi_note_size(struct capi *c, struct span group, int32_t target, uint64_t version)
{
    struct capi_sized *s = c->sized;
    while (s != NULL && !span_eq(s->group, group))
        s = s->next;
    if (s == NULL) {
        s = mem_new(sizeof(*s) + group.len);
        memcpy(s + 1, group.ptr, group.len);
        s->group = (struct span){(char *)(s + 1), group.len};
        s->next = c->sized;
        c->sized = s;
    }
    if (version >= s->version) {
        s->target = target;
        s->version = version;
    }
}

static bool is_key(struct span key, struct span ns, struct span name)
{
    struct span rest;
    return span_eq(span_cut(key, '/', &rest), ns) && span_eq(rest, name);
}

struct capi_leaving *capi_leaving_find(const struct capi *c, struct span ns, struct span name)
{
    struct capi_leaving *l = c->leaving;
    while (l != NULL && !is_key(l->key, ns, name))
        l = l->next;
    return l;
}

void capi_leaving_add(struct capi *c, struct span ns, struct span name)
{
    if (capi_leaving_find(c, ns, name) != NULL)
        return;
    struct capi_leaving *l = mem_new(sizeof(*l) + ns.len + 1 + name.len);
    char *text = (char *)(l + 1);
    memcpy(text, ns.ptr, ns.len);
    text[ns.len] = '/';
    memcpy(text + ns.len + 1, name.ptr, name.len);
    l->key = (struct span){text, ns.len + 1 + name.len};
    l->next = c->leaving;
    c->leaving = l;
}

void capi_leaving_drop(struct capi *c, struct span ns, struct span name)
{
    for (struct capi_leaving **at = &c->leaving; *at != NULL; at = &(*at)->next)
        if (is_key((*at)->key, ns, name)) {
            struct capi_leaving *l = *at;
            *at = l->next;
            free(l);
            return;
        }
}

/* ---- the provider ---- */

static uint32_t asides(struct group_provider *p, const struct span **out)
{
    const struct capi *c = capi_of(p);
    *out = c->asides;
    return c->aside_count;
}

static void cancel(struct group_provider *p, uint64_t operation)
{
    group_operations_cancel(&capi_of(p)->operations, operation);
}

static void free_capi(struct group_provider *p)
{
    struct capi *c = capi_of(p);
    group_operations_release(&c->operations);
    while (c->sized != NULL) {
        struct capi_sized *s = c->sized;
        c->sized = s->next;
        free(s);
    }
    while (c->leaving != NULL) {
        struct capi_leaving *l = c->leaving;
        c->leaving = l->next;
        free(l);
    }
    arena_release(&c->look_arena);
    arena_release(&c->arena);
    free(c);
}

const enum kind cluster_api_kinds[] = {KIND_MACHINE_DEPLOYMENT, KIND_MACHINE_SET, KIND_MACHINE_POOL, KIND_MACHINE, KIND_NONE};
static const enum kind no_kinds[] = {KIND_NONE}; /* another cluster's are watched by who watches that */

/* A size is three requests, each tried for a minute at most; a removal is two for each machine beside. */
#define OPS(kinds_)                                                                                \
    {                                                                                              \
        .name = "clusterapi",                                                                      \
        .limits = {.patience = {[GROUP_RESIZE] = 2 * MS_MINUTE, [GROUP_REMOVE] = 3 * MS_MINUTE}, .calls = 16}, \
        .kinds = (kinds_), .look = capi_look, .asides = asides, .resize = capi_resize, .remove = capi_remove, \
        .cancel = cancel, .free = free_capi,                                                       \
    }
static const struct group_provider_ops here = OPS(cluster_api_kinds), there = OPS(no_kinds);

static void copy_selectors(struct capi *c, const struct cluster_api_options *o)
{
    struct cluster_api_selector *to = ARENA_ARRAY(&c->arena, struct cluster_api_selector, o->selector_count);
    for (uint32_t i = 0; i < o->selector_count; i++) {
        const struct cluster_api_selector *from = &o->selectors[i];
        to[i] = (struct cluster_api_selector){arena_dup(&c->arena, from->ns), arena_dup(&c->arena, from->cluster),
                                              {ARENA_ARRAY(&c->arena, struct plain_label, from->labels.count), 0}};
        for (uint32_t k = 0; k < from->labels.count; k++)
            to[i].labels.items[to[i].labels.count++] =
                (struct plain_label){arena_dup(&c->arena, from->labels.items[k].key),
                                     arena_dup(&c->arena, from->labels.items[k].value)};
    }
    c->options.selectors = to;
}

static void copy_bounds(struct capi *c, const struct cluster_api_options *o)
{
    struct cluster_api_bounds *to = ARENA_ARRAY(&c->arena, struct cluster_api_bounds, o->bounds_count);
    for (uint32_t i = 0; i < o->bounds_count; i++) {
        to[i] = o->bounds[i];
        to[i].group = arena_dup(&c->arena, o->bounds[i].group);
    }
    c->options.bounds = to;
}

struct group_provider *cluster_api_new(const struct cluster_api_options *options)
{
    struct capi *c = mem_new(sizeof(*c));
    arena_init(&c->arena, 0);
    arena_init(&c->look_arena, 0);
    group_operations_init(&c->operations, options->api);
    c->options = *options;
    c->provider.ops = options->management != NULL ? &there : &here;
    copy_selectors(c, options);
    copy_bounds(c, options);
    c->options.default_arch =
        options->default_arch.len != 0 ? arena_dup(&c->arena, options->default_arch) : SPAN("amd64");
    return &c->provider;
}
