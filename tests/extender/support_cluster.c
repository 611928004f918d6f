#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "support_cluster.h"

unsigned roll(struct dice *d, unsigned below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % below;
}

struct object_array {
    const void **items;
    size_t count, capacity;
};

static struct object_array all_of(struct arena *a, const struct snapshot *s, enum kind kind)
{
    struct object_array list = {0};
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
    struct object_array pods = all_of(&a, s, KIND_POD), nodes = all_of(&a, s, KIND_NODE),
                        claims = all_of(&a, s, KIND_NODE_CLAIM),
                        daemons = all_of(&a, s, KIND_DAEMON_SET);
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
        .daemon_sets = (const struct daemon_set *const *)daemons.items,
        .daemon_set_count = daemons.count,
    });
    arena_release(&a);
    return w;
}

static void destroy(void *user, void *derived)
{
    (void)user;
    world_free(derived);
}

void cluster_open(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    c->store = store_new(&(struct store_deriver){.derive = derive, .destroy = destroy});
    extender_scratch_init(&c->scratch);
    c->ledger = ledger_new();
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    for (size_t at = 0; doc_parse_yaml(parser, span_of(yaml), &at, &doc, &err);) {
        struct doc_value root = doc_root(doc), version, kind;
        assert_true(doc_find(root, SPAN("apiVersion"), &version));
        assert_true(doc_find(root, SPAN("kind"), &kind));
        store_event(c->store, kind_find(doc_text(version), doc_text(kind)), WATCH_PUT, root);
    }
    if (err.kind != ERR_NONE)
        fail_msg("%s", err.msg);
    doc_parser_free(parser);
    c->view.ledger = c->ledger;
    cluster_publish(c);
    cluster_unplan(c);
}

void cluster_tell(struct cluster *c, enum watch_event e, struct span json)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct doc_value version, kind;
    struct err err;
    if (!doc_parse_json(parser, json, &doc, &err))
        fail_msg("%s", err.msg);
    assert_true(doc_find(doc_root(doc), SPAN("apiVersion"), &version));
    assert_true(doc_find(doc_root(doc), SPAN("kind"), &kind));
    store_event(c->store, kind_find(doc_text(version), doc_text(kind)), e, doc_root(doc));
    doc_parser_free(parser);
}

void cluster_publish(struct cluster *c)
{
    store_publish(c->store, 0);
    const struct snapshot *old = c->snapshot;
    c->snapshot = (const struct snapshot *)share_take(store_share(c->store));
    if (old != NULL)
        shared_unref((struct shared *)(uintptr_t)&old->shared);
    assert_int_equal(c->snapshot->aside_count, 0);
    c->view.snapshot = c->snapshot;
    c->view.world = c->snapshot->derived;
}

void cluster_unplan(struct cluster *c)
{
    if (c->places != NULL)
        places_destroy(&c->places->shared);
    c->places = mem_new(sizeof(*c->places));
    arena_init(&c->places->arena, 0);
    c->view.places = c->places;
}

void cluster_close(struct cluster *c)
{
    places_destroy(&c->places->shared);
    shared_unref((struct shared *)(uintptr_t)&c->snapshot->shared);
    store_free(c->store);
    extender_scratch_release(&c->scratch);
    ledger_free(c->ledger);
}

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct place *)a)->uid, ((const struct place *)b)->uid);
}

void cluster_place(struct cluster *c, const char *pod, const char *target)
{
    char uid[64];
    snprintf(uid, sizeof(uid), "uid-%s", pod);
    cluster_place_uid(c, pod, uid, target);
}

void cluster_place_uid(struct cluster *c, const char *pod, const char *uid, const char *target)
{
    struct places *p = c->places;
    struct place *items = ARENA_ARRAY(&p->arena, struct place, p->count + 1);
    if (p->count != 0)
        memcpy(items, p->items, p->count * sizeof(*items));
    bool on_claim = span_has_prefix(span_of(target), SPAN("claim/"));
    items[p->count] = (struct place){
        .uid = arena_dup(&p->arena, span_of(uid)),
        .ns = SPAN("web"),
        .pod = arena_dup(&p->arena, span_of(pod)),
        .target = arena_dup(&p->arena, span_of(target + (on_claim ? strlen("claim/") : 0))),
        .on_claim = on_claim,
    };
    qsort(items, p->count + 1, sizeof(*items), by_uid);
    p->items = items;
    p->count++;
}

void cluster_lapse(struct cluster *c, const char *pod)
{
    struct places *old = c->places;
    bool *lapsed = ARENA_ARRAY(&old->arena, bool, old->count);
    for (uint32_t i = 0; i < old->count; i++)
        lapsed[i] = span_eq(old->items[i].pod, span_of(pod));
    c->places = places_lapse(old, lapsed, old->made + 1);
    c->view.places = c->places;
    places_destroy(&old->shared);
}
