/* Two volumes allow what both allow: each alternative of one with each of the other. */
#include "planner/intern.h"
#include "planner/volumes_inner.h"

static void put_words(struct words *out, const struct requirements *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct requirement *r = &s->items[i];
        words_put(out, r->key);
        words_put(out, (uint32_t)r->complement << 2 | (uint32_t)r->has_gte << 1 | r->has_lte);
        words_put64(out, r->has_gte ? (uint64_t)r->gte : 0);
        words_put64(out, r->has_lte ? (uint64_t)r->lte : 0);
        words_put(out, r->count);
        for (uint32_t k = 0; k < r->count; k++)
            words_put(out, r->values[k]);
    }
}

struct combination {
    struct requirements *items;
    uint32_t count;
    struct intern seen; /* the same twice is not tried twice */
    struct arena scratch;
};

static void add(struct combination *c, const struct requirements *s)
{
    struct words words;
    bool fresh;
    words_init(&words, &c->scratch);
    put_words(&words, s);
    intern_put(&c->seen, &words, &fresh);
    if (fresh)
        c->items[c->count++] = *s;
}

static void cross(struct volumes *v, struct combination *c, const struct volume_need *n,
                  const struct requirements *more, uint32_t count, bool all)
{
    for (uint32_t i = 0; i < n->alternative_count; i++)
        for (uint32_t k = 0; k < count && c->count < VOLUMES_ALTERNATIVES_MAX; k++) {
            if (!all && !requirements_intersect(&n->alternatives[i], &more[k], v->syms, NULL))
                continue;
            struct requirements both = n->alternatives[i];
            requirements_add_all(v->arena, &both, &more[k], v->syms);
            add(c, &both);
        }
}

void volumes_combine(struct volumes *v, struct volume_need *n, const struct requirements *more,
                     uint32_t count)
{
    if (count == 0)
        return;
    if (n->alternative_count == 0) { /* the first volume that asks anything */
        n->alternatives = more;
        n->alternative_count = count;
        return;
    }
    struct combination c = {0};
    arena_init(&c.scratch, 0);
    intern_init(&c.seen, &c.scratch);
    uint64_t most = (uint64_t)n->alternative_count * count;
    c.items = ARENA_ARRAY(v->arena, struct requirements,
                          most < VOLUMES_ALTERNATIVES_MAX ? most : VOLUMES_ALTERNATIVES_MAX);
    cross(v, &c, n, more, count, false);
    if (c.count == 0)
        cross(v, &c, n, more, count, true);
    n->alternatives = c.items;
    n->alternative_count = c.count;
    arena_release(&c.scratch);
}
