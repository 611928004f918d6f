#include "reconciler/views/roll.h"

#include <stdlib.h>

static int by_name(const void *x, const void *y)
{
    const struct meta *const *a = x, *const *b = y;
    return span_cmp((*a)->name, (*b)->name);
}

static void make(struct roll *r, const struct snapshot *s, enum kind k, struct memos *memos)
{
    uint32_t n = s->state[k].count;
    if (n > r->capacity) {
        r->capacity = n + n / 8;
        r->objects = mem_grow(r->objects, r->capacity, sizeof(const struct meta *));
        r->memos = mem_grow(r->memos, r->capacity, sizeof(struct memo *));
        r->changed = mem_grow(r->changed, r->capacity, sizeof(uint32_t));
    }
    struct snapshot_iter it = snapshot_each(s, k);
    r->count = 0;
    for (const void *o; r->count < n && (o = snapshot_next(&it)) != NULL;)
        r->objects[r->count++] = o;
    if (r->count != 0)
        qsort(r->objects, r->count, sizeof(const struct meta *), by_name);
    for (uint32_t i = 0; i < r->count; i++)
        r->memos[i] = memos_at(memos, r->objects[i]->uid);
}

/* False: there is none of the name. */
static bool put(struct roll *r, const struct meta *m, struct memos *memos)
{
    const struct meta **at =
        r->count != 0 ? bsearch(&m, r->objects, r->count, sizeof(const struct meta *), by_name) : NULL;
    if (at == NULL)
        return false;
    if (*at == m)
        return true;
    if (!span_eq((*at)->uid, m->uid))
        r->memos[at - r->objects] = memos_at(memos, m->uid);
    *at = m;
    r->changed[r->changed_count++] = (uint32_t)(at - r->objects);
    return true;
}

/* As many as before, and each that changed is in the place of another: then none came and none went. */
static bool follow(struct roll *r, const struct snapshot *s, const struct snapshot *previous, enum kind k,
                   struct memos *memos)
{
    if (previous == NULL || r->sequence != previous->sequence || r->count != s->state[k].count)
        return false;
    struct snapshot_iter it = snapshot_each(s, k);
    for (const void *o; (o = snapshot_next_changed(&it, previous)) != NULL;)
        if (!put(r, o, memos))
            return false;
    return true;
}

bool roll_call(struct roll *r, const struct snapshot *s, const struct snapshot *previous, enum kind k,
               struct memos *memos)
{
    r->changed_count = 0;
    bool follows = follow(r, s, previous, k, memos);
    if (!follows)
        make(r, s, k, memos);
    r->sequence = s->sequence;
    return follows;
}

void roll_see(const struct roll *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->memos[i]->seen = true;
}

void roll_release(struct roll *r)
{
    free(r->objects);
    free(r->memos);
    free(r->changed);
    *r = (struct roll){0};
}
