/* What the terms of volumes allow, and what two volumes allow together: each alternative of one with each
 * of the other. */
#include "planner/pods/volumes_inner.h"

/* --- one claim --- */

static void put_expressions(struct words *out, struct expressions all, bool any_hostname)
{
    for (uint32_t i = 0; i < all.count; i++) {
        const struct expression *e = &all.items[i];
        if (any_hostname && e->key == SYM_HOSTNAME)
            continue;
        words_put(out, e->key);
        words_put(out, e->op);
        words_put(out, e->values.count);
        for (uint32_t k = 0; k < e->values.count; k++)
            words_put(out, e->values.items[k]);
    }
}

/* A local volume is made anew on the node that replaces its own, whose name says nothing then. */
static struct expressions without_hostname(struct volumes *v, struct expressions all)
{
    struct expressions kept = {ARENA_ARRAY(v->arena, struct expression, all.count), 0};
    for (uint32_t i = 0; i < all.count; i++)
        if (all.items[i].key != SYM_HOSTNAME)
            kept.items[kept.count++] = all.items[i];
    return kept;
}

static uint32_t term_count(const struct volume_chain *c)
{
    uint32_t count = 0;
    if (c->selected.count != 0)
        count = 1;
    else if (c->volume != NULL && c->volume->has_affinity)
        count = c->volume->affinity.count;
    else if (c->class_ != NULL)
        count = c->class_->topologies.count;
    return count < VOLUMES_ALTERNATIVES_MAX ? count : VOLUMES_ALTERNATIVES_MAX;
}

static struct expressions term(const struct volume_chain *c, uint32_t i)
{
    if (c->selected.count != 0)
        return c->selected;
    return c->volume != NULL ? c->volume->affinity.items[i].match_expressions
                             : c->class_->topologies.items[i].expressions;
}

static struct volume_alternatives make_alternatives(struct volumes *v, const struct volume_chain *c)
{
    uint32_t terms = term_count(c), count = 0;
    struct requirements *list = ARENA_ARRAY(v->arena, struct requirements, terms);
    for (uint32_t i = 0; i < terms; i++) {
        struct expressions all = term(c, i);
        if (all.count == 0)
            continue; /* an empty term selects no node */
        if (c->volume != NULL && c->volume->is_local)
            all = without_hostname(v, all); /* and may become "anywhere" */
        list[count++] = requirements_of(v->arena, v->syms, all);
    }
    return (struct volume_alternatives){list, count};
}

struct volume_alternatives volumes_alternatives(struct volumes *v, const struct volume_chain *c)
{
    struct words words;
    bool fresh, local = c->volume != NULL && c->volume->is_local;
    if (term_count(c) == 0)
        return (struct volume_alternatives){NULL, 0};
    words_init(&words, v->arena);
    for (uint32_t i = 0; i < term_count(c); i++) {
        words_put(&words, UINT32_MAX); /* no symbol: a term begins */
        words_put(&words, term(c, i).count != 0);
        put_expressions(&words, term(c, i), local);
    }
    uint32_t at = intern_put(&v->stated, &words, &fresh);
    if (fresh) {
        uint32_t count = at;
        struct volume_alternatives made = make_alternatives(v, c);
        ARENA_PUSH(v->arena, v->alternatives, count, v->alternatives_capacity, made);
    }
    return v->alternatives[at];
}

/* --- several --- */

static void put_requirements(struct words *out, const struct requirements *s)
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
    put_requirements(&words, s);
    intern_put(&c->seen, &words, &fresh);
    if (fresh)
        c->items[c->count++] = *s;
}

static void cross(struct volumes *v, struct combination *c, const struct volume_need *n,
                  struct volume_alternatives more, bool all)
{
    for (uint32_t i = 0; i < n->alternative_count; i++)
        for (uint32_t k = 0; k < more.count && c->count < VOLUMES_ALTERNATIVES_MAX; k++) {
            if (!all && !requirements_intersect(&n->alternatives[i], &more.items[k], v->syms, NULL))
                continue;
            struct requirements both = n->alternatives[i];
            requirements_add_all(v->arena, &both, &more.items[k], v->syms);
            add(c, &both);
        }
}

void volumes_combine(struct volumes *v, struct volume_need *n, struct volume_alternatives more)
{
    if (more.count == 0)
        return;
    if (n->alternative_count == 0) { /* the first volume that asks anything */
        n->alternatives = more.items;
        n->alternative_count = more.count;
        return;
    }
    if (n->alternative_count == 1 && n->alternatives == more.items)
        return; /* two volumes in one place */
    struct combination c = {0};
    arena_init(&c.scratch, 0);
    intern_init(&c.seen, &c.scratch);
    uint64_t most = (uint64_t)n->alternative_count * more.count;
    c.items = ARENA_ARRAY(v->arena, struct requirements,
                          most < VOLUMES_ALTERNATIVES_MAX ? most : VOLUMES_ALTERNATIVES_MAX);
    cross(v, &c, n, more, false);
    if (c.count == 0)
        cross(v, &c, n, more, true);
    n->alternatives = c.items;
    n->alternative_count = c.count;
    arena_release(&c.scratch);
}
