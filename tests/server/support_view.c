#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "support_view.h"
#include "tests/planner/support_snapshot.h"

static void put(struct view *v, const char *yaml)
{
    struct err err;
    if (!snapshot_store_put(v->store, yaml, &err))
        fail_msg("%s", err.msg);
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
    struct places *p = places_begin(PLACES_MAX, 0);
    struct place *items = (struct place *)(uintptr_t)p->items;
    for (struct span rest = span_of(text), line; rest.len != 0;) {
        struct span target;
        line = span_cut(rest, '\n', &rest);
        struct span pod = span_cut(line, ' ', &target);
        bool on_claim = span_has_prefix(target, SPAN("claim/"));
        size_t skip = on_claim ? strlen("claim/") : 0;
        assert_true(p->count < PLACES_MAX);
        items[p->count++] = (struct place){
            .uid = arena_printf(&p->texts->arena, "uid-%.*s", SPAN_ARG(pod)),
            .pod = arena_dup(&p->texts->arena, pod),
            .target =
                arena_dup(&p->texts->arena, (struct span){target.ptr + skip, target.len - skip}),
            .on_claim = on_claim,
        };
    }
    qsort(items, p->count, sizeof(*items), by_uid);
    return p;
}

void view_open(struct view *v, const char *yaml, const char *places)
{
    *v = (struct view){.store = snapshot_store_new()};
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
