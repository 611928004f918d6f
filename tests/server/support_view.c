#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "support_view.h"

struct objects {
    const void **items;
    size_t count, capacity;
};

static struct objects all_of(struct arena *a, const struct snapshot *s, enum kind kind)
{
    struct objects list = {NULL, 0, 0};
    struct snapshot_iter it = snapshot_each(s, kind);
    for (const void *object; (object = snapshot_next(&it)) != NULL;)
        ARENA_PUSH(a, list.items, list.count, list.capacity, object);
    return list;
}

static void *derive(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *syms)
{
    (void)user;
    (void)previous;
    static const struct catalogue nothing_to_buy;
    static const struct world_options options;
    struct arena a;
    arena_init(&a, 0);
    struct objects pods = all_of(&a, s, KIND_POD), nodes = all_of(&a, s, KIND_NODE);
    struct objects claims = all_of(&a, s, KIND_NODE_CLAIM);
    struct world *w = world_build(&(struct world_input){
        .syms = syms,
        .options = &options,
        .catalogue = &nothing_to_buy,
        .pods = (const struct pod *const *)pods.items,
        .pod_count = pods.count,
        .nodes = (const struct node *const *)nodes.items,
        .node_count = nodes.count,
        .claims = (const struct node_claim *const *)claims.items,
        .claim_count = claims.count,
    });
    arena_release(&a);
    return w;
}

static void destroy(void *user, void *derived)
{
    (void)user;
    world_free(derived);
}

static void put(struct view *v, const char *yaml)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    for (size_t at = 0; doc_parse_yaml(parser, span_of(yaml), &at, &doc, &err);) {
        struct doc_value root = doc_root(doc), version, kind;
        assert_true(doc_find(root, SPAN("apiVersion"), &version));
        assert_true(doc_find(root, SPAN("kind"), &kind));
        store_event(v->store, kind_find(doc_text(version), doc_text(kind)), WATCH_PUT, root);
    }
    if (err.kind != ERR_NONE)
        fail_msg("%s", err.msg);
    doc_parser_free(parser);
}

static void load(struct view *v, const char *yaml)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_begin(v->store, k);
    put(v, yaml);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        store_list_end(v->store, k);
}

void view_put(struct view *v, const char *yaml)
{
    put(v, yaml);
    store_publish(v->store, 0);
}

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct place *)a)->uid, ((const struct place *)b)->uid);
}

struct places *view_read_places(const char *text)
{
    enum { PLACES_MAX = 64 };
    struct places *p = mem_new(sizeof(*p));
    arena_init(&p->arena, 0);
    struct place *items = ARENA_ARRAY(&p->arena, struct place, PLACES_MAX);
    for (struct span rest = span_of(text), line; rest.len != 0;) {
        struct span target;
        line = span_cut(rest, '\n', &rest);
        struct span pod = span_cut(line, ' ', &target);
        bool on_claim = span_has_prefix(target, SPAN("claim/"));
        size_t skip = on_claim ? strlen("claim/") : 0;
        assert_true(p->count < PLACES_MAX);
        items[p->count++] = (struct place){
            .uid = arena_printf(&p->arena, "uid-%.*s", SPAN_ARG(pod)),
            .pod = arena_dup(&p->arena, pod),
            .target =
                arena_dup(&p->arena, (struct span){target.ptr + skip, target.len - skip}),
            .on_claim = on_claim,
        };
    }
    qsort(items, p->count, sizeof(*items), by_uid);
    p->items = items;
    return p;
}

void view_open(struct view *v, const char *yaml, const char *places)
{
    *v = (struct view){.store = store_new(
                           &(struct store_deriver){.derive = derive, .destroy = destroy})};
    load(v, yaml);
    store_publish(v->store, 0);
    v->snapshot = (const struct snapshot *)share_take(store_share(v->store));
    if (v->snapshot->aside_count != 0)
        fail_msg("%.*s", SPAN_ARG(v->snapshot->asides[0].reason));
    v->world = v->snapshot->derived;
    share_init(&v->places, places_destroy);
    share_publish(&v->places, &view_read_places(places)->shared);
}

const struct places *view_places(struct view *v)
{
    return (const struct places *)atomic_load(&v->places.current);
}

void view_close(struct view *v)
{
    shared_unref((struct shared *)(uintptr_t)&v->snapshot->shared);
    store_free(v->store);
    share_release(&v->places);
}
