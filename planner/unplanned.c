/* Pods without a node for which nothing is planned, where they are to have a class all the same
 * (world_options.unbound_classes): by the hash of their uid, for there may be tens of thousands of them. */
#include "planner/unplanned.h"

#include <stdlib.h>

static int by_uid(const void *a, const void *b)
{
    uint64_t x = ((const struct unplanned_pod *)a)->uid, y = ((const struct unplanned_pod *)b)->uid;
    return (x > y) - (x < y);
}

bool world_pod_is_unplanned(const struct world *w, const struct pod *p)
{
    return w->settings.unbound_classes && p->node == SYM_NONE && !pod_is_terminal(p) && !world_pod_waits(w, p);
}

void unplanned_put(struct world *w, struct arena *a, const struct pod *p, uint32_t class_id)
{
    struct unplanned_pod x = {span_hash(p->meta.uid), class_id};
    ARENA_PUSH(a, w->unplanned, w->unplanned_count, w->unplanned_capacity, x);
}

bool unplanned_take(struct world *w, const struct pod *p, uint32_t *class_out)
{
    uint64_t uid = span_hash(p->meta.uid);
    int32_t class_id = classes_recall(&w->classes, p);
    uint32_t low = 0, high = w->unplanned_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (w->unplanned[mid].uid < uid)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < w->unplanned_count && w->unplanned[low].uid == uid; low++)
        if ((int32_t)w->unplanned[low].class_id == class_id) {
            *class_out = (uint32_t)class_id;
            w->unplanned[low].class_id = UNPLANNED_GONE;
            return true;
        }
    return false;
}

void unplanned_settle(struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->unplanned_count; i++)
        if (w->unplanned[i].class_id != UNPLANNED_GONE)
            w->unplanned[count++] = w->unplanned[i];
    w->unplanned_count = count;
    if (count != 0)
        qsort(w->unplanned, count, sizeof(*w->unplanned), by_uid);
}

int32_t world_unplanned_class(const struct world *w, struct span uid)
{
    struct unplanned_pod key = {.uid = span_hash(uid)};
    const struct unplanned_pod *x =
        w->unplanned_count != 0 ? bsearch(&key, w->unplanned, w->unplanned_count, sizeof(key), by_uid) : NULL;
    return x != NULL ? (int32_t)x->class_id : -1;
}
