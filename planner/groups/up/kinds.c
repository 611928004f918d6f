/* kinds: pods that no filter tells apart and one controller owns are tried together. */
#include <stdlib.h>

#include "kube/wellknown.h"
#include "planner/groups/up/inner.h"

struct ranked_pod {
    const struct pod *pod;
    uint32_t at;
};

static int by_name(const void *a, const void *b)
{
    const struct pod *x = ((const struct ranked_pod *)a)->pod, *y = ((const struct ranked_pod *)b)->pod;
    int order = span_cmp(x->meta.ns, y->meta.ns);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

/* Sorted once, so that no list of them is to be sorted again. */
static uint32_t *rank_pods(struct up *u, const struct pod **pods, uint32_t count)
{
    struct ranked_pod *sorted = ARENA_ARRAY(&u->scratch, struct ranked_pod, count);
    uint32_t *ranks = ARENA_ARRAY(&u->scratch, uint32_t, count);
    u->by_rank = ARENA_ARRAY(&u->scratch, const struct pod *, count);
    u->pod_count = count;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct ranked_pod){pods[i], i};
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (uint32_t i = 0; i < count; i++) {
        ranks[sorted[i].at] = i;
        u->by_rank[i] = sorted[i].pod;
    }
    return ranks;
}

enum { MOST_KINDS = 10 }; /* of one controller; pods of more kinds are each for themselves */

static void put_text(struct words *x, struct span text)
{
    words_put64(x, span_hash(text));
    words_put(x, (uint32_t)text.len);
}

static void controller_words(struct words *x, const struct pod *p, const struct owner *o)
{
    words_put(x, o->api_version);
    words_put(x, o->kind);
    put_text(x, p->meta.ns);
    put_text(x, o->name);
}

int group_wishes_by_name(const void *a, const void *b)
{
    return group_pods_by_name(&((const struct group_wish *)a)->pod, &((const struct group_wish *)b)->pod);
}

const struct group_wish *up_wish(const struct up *u, const struct pod *p)
{
    const struct group_objects *o = u->r->objects;
    struct group_wish key = {.pod = p};
    return o->wish_count != 0 ? bsearch(&key, o->wishes, o->wish_count, sizeof(key), group_wishes_by_name) : NULL;
}

/* Its own, by stowage.dev/prefer, comes before any plan's. */
static int32_t wish_of(const struct up *u, const struct pod *p)
{
    struct span own = annotations_get(p->meta.annotations, SYM_PREFER);
    const struct group_wish *planned = own.ptr == NULL ? up_wish(u, p) : NULL;
    if (u->r->flags->as_upstream)
        return -1;
    return group_model_group(u->r->model, planned != NULL ? planned->group : own);
}

static uint32_t new_kind(struct up *u, uint32_t class_id, int32_t wish)
{
    struct pod_kind k = {.class_id = class_id, .wish = wish};
    k.fits = ARENA_ARRAY(u->r->arena, uint64_t, bits_words(u->r->model->group_count));
    ARENA_PUSH(u->r->arena, u->kinds, u->kind_count, u->kind_capacity, k);
    return u->kind_count - 1;
}

void up_make_kinds(struct up *u, const struct pod **pods, uint32_t count)
{
    struct intern kinds, controllers;
    struct arena *a = u->r->arena;
    uint32_t *kind_of = ARENA_ARRAY(a, uint32_t, count), *made = ARENA_ARRAY(a, uint32_t, count);
    uint32_t *ranks = rank_pods(u, pods, count);
    intern_init(&kinds, a);
    intern_init(&controllers, a);
    for (uint32_t i = 0; i < count; i++) {
        const struct pod *p = pods[i];
        const struct owner *o = meta_controller(&p->meta);
        uint32_t class_id = snapshot_class_of(u->r->world, p), kind = UINT32_MAX;
        int32_t wish = wish_of(u, p);
        if (o != NULL) {
            struct words x;
            bool is_new;
            words_init(&x, a);
            controller_words(&x, p, o);
            uint32_t controller = intern_put(&controllers, &x, NULL);
            words_put(&x, class_id);
            words_put(&x, (uint32_t)wish);
            for (uint32_t l = 0; l < p->meta.labels.count; l++) {
                words_put(&x, p->meta.labels.items[l].key);
                words_put(&x, p->meta.labels.items[l].value);
            }
            if (made[controller] < MOST_KINDS || intern_find(&kinds, &x) >= 0) {
                uint32_t id = intern_put(&kinds, &x, &is_new);
                if (is_new) {
                    made[controller]++;
                    kind_of[id] = new_kind(u, class_id, wish);
                }
                kind = kind_of[id];
            }
        }
        if (kind == UINT32_MAX)
            kind = new_kind(u, class_id, wish);
        struct pod_kind *k = &u->kinds[kind];
        uint32_t before = k->count, capacity = k->capacity;
        ARENA_PUSH(a, k->ranks, before, capacity, ranks[i]);
        ARENA_PUSH(a, k->pods, k->count, k->capacity, p);
    }
}
