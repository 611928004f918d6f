#include "reconciler/provision/successors.h"

#include <stdlib.h>

enum { WAITED_FOR_MS = MS_MINUTE };

static int by_class(const void *a, const void *b)
{
    uint32_t x = ((const struct ending *)a)->class_id, y = ((const struct ending *)b)->class_id;
    return (x > y) - (x < y);
}

static bool is_ending(const struct pass *p, const struct pod *pod)
{
    return pod->meta.deleted > p->wall && pod->meta.deleted - p->wall <= WAITED_FOR_MS;
}

struct successors successors_of(const struct pass *p)
{
    struct successors s = {.count = 0};
    uint32_t capacity = 0, kept = 0;
    if (p->r->config.options.plan.search == SEARCH_GREEDY)
        return s;
    for (uint32_t row = 0; row < world_node_count(p->world); row++) {
        const struct world_node *n = world_node_at(p->world, row);
        const struct pod *const *pods = world_node_pods(p->world, row);
        for (uint32_t i = 0; i < n->pod_count && world_node_usable(n) && !n->going; i++) {
            struct ending one = {n->pod_classes[i], 1};
            if (is_ending(p, pods[i]))
                ARENA_PUSH(p->a, s.items, s.count, capacity, one);
        }
    }
    if (s.count == 0)
        return s;
    qsort(s.items, s.count, sizeof(*s.items), by_class);
    for (uint32_t i = 1; i < s.count; i++) {
        if (s.items[i].class_id == s.items[kept].class_id)
            s.items[kept].count++;
        else
            s.items[++kept] = s.items[i];
    }
    s.count = kept + 1;
    return s;
}

static struct ending *room_for(const struct successors *s, const struct world *w, const struct pod *pod)
{
    int32_t class_id = world_waiting_class(w, pod->meta.uid);
    struct ending key = {.class_id = (uint32_t)class_id};
    if (pod->is_virtual || class_id < 0 || s->count == 0)
        return NULL;
    return bsearch(&key, s->items, s->count, sizeof(key), by_class);
}

bool successors_take(struct successors *s, const struct world *w, const struct plan_claim *c)
{
    uint32_t taken = 0;
    for (; taken < c->pod_count; taken++) {
        struct ending *e = room_for(s, w, c->pods[taken]);
        if (e == NULL || e->count == 0)
            break;
        e->count--;
    }
    if (taken == c->pod_count && taken != 0)
        return true;
    while (taken > 0)
        room_for(s, w, c->pods[--taken])->count++;
    return false;
}
