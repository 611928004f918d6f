#include "reconciler/groups/pooled.h"

#include <stdlib.h>

#include "reconciler/groups/coming.h"
#include "reconciler/stages.h"
#include "reconciler/state.h"

bool pass_has_pools(const struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].provider != NULL)
            return true;
    return false;
}

/* --- pods that NodePools have a place for do not ask --- */

/* Which Node a place is on; SYM_NONE: it is still to come. */
static sym node_of(const struct pass *p, const struct place *place)
{
    if (!place->on_claim)
        return sym_find(p->snapshot->syms, place->target);
    const struct node_claim *c = snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, place->target);
    return c != NULL ? c->node_name : SYM_NONE;
}

/* Whether a plan still has to say whether there is a place for it. */
static bool is_undecided(const struct pass *p, const struct pod *pod)
{
    const struct waiting_memo *m = memos_find(&p->r->waiting, pod->meta.uid);
    return m == NULL || !m->decided;
}

/* As it is to be seen here; NULL: not at all. */
static const struct pod *seen_as(const struct pass *p, const struct pod *pod, struct arena *a)
{
    if (pod->node != SYM_NONE || !pod->unschedulable || pod->meta.deleted != 0)
        return pod;
    const struct place *place = p->r->places != NULL ? places_find(p->r->places, pod->meta.uid) : NULL;
    if (place == NULL)
        return is_undecided(p, pod) ? NULL : pod;
    if (coming_has(p, place, pod))
        return pod;
    sym node = node_of(p, place);
    if (node == SYM_NONE)
        return NULL;
    struct pod *copy = ARENA_NEW(a, struct pod);
    meta_copy_object(copy, pod, sizeof(*copy));
    copy->nominated_node = node; /* its room there is taken */
    return copy;
}

static int by_address(const void *a, const void *b, void *pods)
{
    const struct pooled_pod *all = pods;
    uintptr_t x = (uintptr_t)all[*(const uint32_t *)a].pod, y = (uintptr_t)all[*(const uint32_t *)b].pod;
    return (x > y) - (x < y);
}

static void list_pods(const struct pass *p, struct pooled *x)
{
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;) {
        struct pooled_pod one = {.pod = pod, .as = seen_as(p, pod, &x->arena)};
        if (one.as != pod)
            ARENA_PUSH(&x->arena, x->pods, x->count, x->capacity, one);
    }
    x->by_address = ARENA_ARRAY(&x->arena, uint32_t, x->count);
    for (uint32_t i = 0; i < x->count; i++)
        x->by_address[i] = i;
    if (x->count > 1)
        qsort_r(x->by_address, x->count, sizeof(*x->by_address), by_address, x->pods);
}

/* --- what they have bought, and has not come --- */

struct sold { /* a claim without a Node, for a pod */
    struct span claim;
    const struct pod *pod;
};

static int by_claim(const void *a, const void *b)
{
    const struct sold *x = a, *y = b;
    int order = span_cmp(x->claim, y->claim);
    return order != 0 ? order : group_pods_by_name(&x->pod, &y->pod);
}

static struct sold *list_sold(const struct pass *p, uint32_t *count_out)
{
    const struct places *places = p->r->places;
    struct sold *list = ARENA_ARRAY(p->a, struct sold, places->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        const struct place *x = &places->items[i];
        const struct pod *pod = x->on_claim && node_of(p, x) == SYM_NONE ? place_pod(p, x) : NULL;
        if (pod != NULL)
            list[count++] = (struct sold){x->target, pod};
    }
    if (count != 0)
        qsort(list, count, sizeof(*list), by_claim);
    *count_out = count;
    return list;
}

/* One that was asked for a moment ago and is in no snapshot yet has no labels to tell. */
static void list_bought(const struct pass *p, struct pooled *x)
{
    uint32_t count, next;
    if (p->r->places == NULL)
        return;
    const struct sold *list = list_sold(p, &count);
    const struct pod **pods = ARENA_ARRAY(p->a, const struct pod *, count + 1);
    for (uint32_t at = 0; at < count; at = next) {
        const struct node_claim *c = snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, list[at].claim);
        for (next = at; next < count && span_eq(list[next].claim, list[at].claim); next++)
            pods[next - at] = list[next].pod;
        if (c != NULL)
            bought_add_claim(&x->bought, &x->arena, p->snapshot->syms, p->world, c, pods, next - at);
    }
}

/* --- both --- */

struct pooled *pooled_new(const struct pass *p)
{
    if (!pass_has_pools(p))
        return NULL;
    struct pooled *x = mem_new(sizeof(*x));
    arena_init(&x->arena, 0);
    list_pods(p, x);
    list_bought(p, x);
    return x;
}

void pooled_free(struct pooled *x)
{
    if (x == NULL)
        return;
    arena_release(&x->arena);
    free(x);
}

static bool same_pod(const struct pooled_pod *x, const struct pooled_pod *y)
{
    if (x->pod != y->pod || x->as == NULL || y->as == NULL)
        return x->pod == y->pod && x->as == y->as;
    return x->as->nominated_node == y->as->nominated_node;
}

bool pooled_same(const struct pooled *x, const struct pooled *y)
{
    if (x == NULL || y == NULL)
        return x == y;
    for (uint32_t i = 0; i < x->count && i < y->count; i++)
        if (!same_pod(&x->pods[i], &y->pods[i]))
            return false;
    return x->count == y->count && bought_same(&x->bought, &y->bought);
}

struct pooled_pod *pooled_find(const struct pooled *x, const struct pod *pod)
{
    uint32_t low = 0, high = x->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if ((uintptr_t)x->pods[x->by_address[mid]].pod < (uintptr_t)pod)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->count && x->pods[x->by_address[low]].pod == pod ? &x->pods[x->by_address[low]] : NULL;
}

size_t pooled_see(const struct pooled *x, const struct pod **pods, size_t count)
{
    size_t kept = 0;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        bool other = at < x->count && x->pods[at].pod == pods[i];
        const struct pod *as = other ? x->pods[at++].as : pods[i];
        if (as != NULL)
            pods[kept++] = as;
    }
    return kept;
}
