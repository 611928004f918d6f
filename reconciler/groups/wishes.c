#include "reconciler/groups/wishes.h"

#include <stdlib.h>

static int by_uid(const void *a, const void *b)
{
    return span_cmp(((const struct kept_wish *)a)->uid, ((const struct kept_wish *)b)->uid);
}

void wishes_release(struct kept_wishes *w)
{
    if (w->has_arena)
        arena_release(&w->arena);
    *w = (struct kept_wishes){.count = 0};
}

void wishes_keep(struct kept_wishes *w, const struct choice *c)
{
    size_t count = 0;
    const struct group_wish *list = c != NULL ? choice_wishes(c, &count) : NULL;
    wishes_release(w);
    if (count == 0)
        return;
    arena_init(&w->arena, 0);
    w->has_arena = true;
    w->items = ARENA_ARRAY(&w->arena, struct kept_wish, count);
    w->count = count;
    for (size_t i = 0; i < count; i++)
        w->items[i] = (struct kept_wish){arena_dup(&w->arena, list[i].pod->meta.uid), arena_dup(&w->arena, list[i].group),
                                         list[i].machine, list[i].turn};
    qsort(w->items, count, sizeof(*w->items), by_uid);
}

void wishes_recall(const struct kept_wishes *w, struct group_objects *o, struct arena *a)
{
    struct group_wish *out = ARENA_ARRAY(a, struct group_wish, w->count);
    o->wishes = out;
    o->wish_count = 0;
    for (size_t i = 0; i < o->pod_count && o->wish_count < w->count; i++) {
        struct kept_wish key = {.uid = o->pods[i]->meta.uid};
        const struct kept_wish *found = o->pods[i]->node == SYM_NONE ? bsearch(&key, w->items, w->count, sizeof(key), by_uid) : NULL;
        if (found != NULL)
            out[o->wish_count++] = (struct group_wish){o->pods[i], found->group, found->machine, found->turn};
    }
    if (o->wish_count != 0)
        qsort(out, o->wish_count, sizeof(*out), group_wishes_by_name);
}
