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

static void open_store(struct cluster *c, struct store *store, const char *yaml)
{
    struct err err;
    c->store = store;
    extender_scratch_init(&c->scratch);
    c->ledger = ledger_new();
    if (!snapshot_store_put(c->store, yaml, &err))
        fail_msg("%s", err.msg);
    c->view.ledger = c->ledger;
    cluster_publish(c);
    cluster_unplan(c);
}

void cluster_open(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    open_store(c, snapshot_store_new(), yaml);
}

void cluster_open_priced(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    arena_init(&c->shop.arena, 0);
    c->shop.types = catalogue_builtin();
    open_store(c, snapshot_store_for(&c->shop), yaml);
}

void cluster_tell(struct cluster *c, enum watch_event e, struct span json)
{
    struct err err;
    if (!snapshot_store_tell(c->store, e, json, &err))
        fail_msg("%s", err.msg);
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
    cluster_replan(c, places_begin(0, 0));
}

void cluster_replan(struct cluster *c, struct places *instead)
{
    if (c->places != NULL)
        places_destroy(&c->places->shared);
    c->view.places = c->places = instead;
}

void cluster_close(struct cluster *c)
{
    places_destroy(&c->places->shared);
    shared_unref((struct shared *)(uintptr_t)&c->snapshot->shared);
    store_free(c->store);
    if (c->shop.types != NULL) {
        catalogue_source_free(c->shop.types);
        arena_release(&c->shop.arena);
    }
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
    struct arena *a = &p->texts->arena;
    struct place *items = mem_grow((void *)(uintptr_t)p->items, p->count + 1, sizeof(*items));
    bool on_claim = span_has_prefix(span_of(target), SPAN("claim/"));
    items[p->count] = (struct place){
        .uid = arena_dup(a, span_of(uid)),
        .ns = SPAN("web"),
        .pod = arena_dup(a, span_of(pod)),
        .target = arena_dup(a, span_of(target + (on_claim ? strlen("claim/") : 0))),
        .on_claim = on_claim,
        .group = span_has_prefix(span_of(target), SPAN("machine/")) ? SPAN("g") : (struct span){0},
    };
    qsort(items, p->count + 1, sizeof(*items), by_uid);
    p->items = items;
    p->count++;
}
