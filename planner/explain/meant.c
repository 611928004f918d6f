#include "planner/explain/meant.h"

#include <stdlib.h>

#include "base/nearest.h"

/* --- labels --- */

static struct span last_part(struct span key)
{
    size_t from = key.len;
    while (from > 0 && key.ptr[from - 1] != '/')
        from--;
    return (struct span){key.ptr + from, key.len - from};
}

/* 0: not at all. Of several the nearer one, so that the order of symbols is of no account. */
static uint32_t resemblance(struct span key, struct span known)
{
    enum { TYPED = 2, ALIKE = 1 << 10 };
    size_t edits = nearest_edits(key, known);
    if (edits > TYPED && !span_eq(last_part(key), last_part(known)))
        return 0;
    return ALIKE - (uint32_t)edits;
}

struct span meant_key(struct plan *p, sym key)
{
    struct syms all = p->world->rules.well_known;
    struct span given = sym_text(p->syms, key), best = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        struct span known = sym_text(p->syms, all.items[i]);
        uint32_t like = resemblance(given, known);
        if (like == 0 || like < most || (like == most && span_cmp(known, best) > 0))
            continue;
        most = like;
        best = known;
    }
    return most == 0 ? SPAN("") : arena_printf(&p->arena, " (did you mean %.*s?)", SPAN_ARG(best));
}

/* --- values --- */

/* A catalogue has hundreds of types, and hundreds of pods may ask each of a hundred pools for the same value that
 * nobody has: what the types say to it is worked out once a plan. */
struct guess {
    bool known;       /* some type or pool has it */
    struct span near; /* else: what comes near; absent: nothing */
};

struct guesses {
    struct intern known; /* label and value; SYM_NONE: the list of its values */
    struct guess *items;
    uint32_t count, capacity;
};

struct values { /* that there are, each once */
    struct span *items;
    uint32_t count, capacity;
};

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static void add_values(struct plan *p, struct values *v, const struct requirement *r)
{
    for (uint32_t i = 0; r != NULL && !r->complement && i < r->count; i++)
        ARENA_PUSH(&p->arena, v->items, v->count, v->capacity, sym_text(p->syms, r->values[i]));
}

static void sort_values(struct values *v)
{
    uint32_t n = 0;
    if (v->count != 0)
        qsort(v->items, v->count, sizeof(v->items[0]), by_text);
    for (uint32_t i = 0; i < v->count; i++)
        if (n == 0 || !span_eq(v->items[n - 1], v->items[i]))
            v->items[n++] = v->items[i];
    v->count = n;
}

/* Of all types, also those that the pool does not buy. */
static struct values values_sold(struct plan *p, sym key)
{
    const struct types *t = &p->world->types;
    struct values v = {0};
    for (uint32_t i = 0; i < t->facet_count; i++)
        for (uint32_t k = 0; t->facets[i].key == key && k < t->facets[i].count; k++)
            add_values(p, &v, t->facets[i].sets[k]);
    for (uint32_t k = 0; k < t->kind_count; k++)
        add_values(p, &v, requirements_get(t->kinds[k], key));
    sort_values(&v);
    return v;
}

/* Those, and of pools their names. */
static struct values values_there(struct plan *p, sym key)
{
    const struct world *w = p->world;
    struct values v = values_sold(p, key);
    for (uint32_t i = 0; key == SYM_NODEPOOL && i < w->pool_count; i++)
        ARENA_PUSH(&p->arena, v.items, v.count, v.capacity, w->pools[i]->meta.name);
    sort_values(&v);
    return v;
}

/* One thing by several names. */
static bool are_synonyms(struct span a, struct span b)
{
    static const char *const names[][4] = {{"amd64", "x86_64", "x86-64", "x64"},
                                           {"arm64", "aarch64", "armv8", "arm"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        bool has_a = false, has_b = false;
        for (size_t k = 0; k < COUNT_OF(names[i]); k++) {
            has_a |= span_eq(a, span_of(names[i][k]));
            has_b |= span_eq(b, span_of(names[i][k]));
        }
        if (has_a && has_b)
            return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* us-east-1a and us-east-1d, node-1 and node-2: another of a series is no slip. */
static bool is_series(struct span a, struct span b)
{
    size_t last = a.len - 1;
    if (a.len != b.len || a.len < 2 || memcmp(a.ptr, b.ptr, last) != 0)
        return false;
    return !is_letter(a.ptr[last]) || !is_letter(a.ptr[last - 1]);
}

/* `known` of one that is there. A short value may be off by one letter in three, so that a zone `b` is not taken
 * for `a`. */
static struct guess guess_among(struct span given, const struct values *v)
{
    enum { TYPED = 2, SHORT = 6 };
    struct span best = {0};
    size_t least = (given.len < SHORT ? given.len / 3 : TYPED) + 1;
    for (uint32_t i = 0; i < v->count; i++) {
        if (span_eq(v->items[i], given))
            return (struct guess){.known = true};
        size_t edits = are_synonyms(given, v->items[i]) ? 0 : nearest_edits(given, v->items[i]);
        if (edits >= least || is_series(given, v->items[i]))
            continue;
        least = edits;
        best = v->items[i];
    }
    return (struct guess){.near = best};
}

static struct span list_text(struct plan *p, sym key)
{
    struct values v = values_sold(p, key);
    struct buf b = {0};
    if (v.count == 0 || v.count > WORDS_LISTED || key == SYM_INSTANCE_TYPE)
        return SPAN("");
    buf_addf(&b, v.count == 1 ? " (there is " : " (there are ");
    for (uint32_t i = 0; i < v.count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "" : i + 1 == v.count ? " and " : ", ", SPAN_ARG(v.items[i]));
    buf_add_char(&b, ')');
    return words_take(p, &b);
}

/* Of SYM_NONE `near` is the list of values. */
static const struct guess *guess(struct plan *p, sym key, sym value)
{
    bool is_new;
    struct words words;
    if (p->guesses == NULL) {
        p->guesses = ARENA_NEW(&p->arena, struct guesses);
        intern_init(&p->guesses->known, &p->arena);
    }
    struct guesses *all = p->guesses;
    words_init(&words, &p->arena);
    words_put(&words, key);
    words_put(&words, value);
    uint32_t id = intern_put(&all->known, &words, &is_new);
    if (!is_new)
        return &all->items[id];
    struct guess g = {0};
    if (value == SYM_NONE) {
        g.near = list_text(p, key);
    } else {
        struct values there = values_there(p, key);
        g = guess_among(sym_text(p->syms, value), &there);
    }
    ARENA_PUSH(&p->arena, all->items, all->count, all->capacity, g);
    return &all->items[id];
}

/* By what the pool has, which is asked first, and by what types have. */
static struct guess guess_beside(struct plan *p, sym key, sym value, const struct requirement *has)
{
    enum { LOOKED_AT = 32 }; /* values of a pool; one with more has them from a list */
    struct guess of_types = *guess(p, key, value), of_pool = {0};
    struct values own = {0};
    if (!of_types.known && has != NULL && has->count <= LOOKED_AT) {
        add_values(p, &own, has);
        sort_values(&own);
        of_pool = guess_among(sym_text(p->syms, value), &own);
    }
    return of_pool.known || of_pool.near.ptr != NULL ? of_pool : of_types;
}

struct span meant_value(struct plan *p, const struct requirement *asked, const struct requirement *has)
{
    struct span near = {0};
    if (asked->complement || asked->count == 0)
        return SPAN("");
    for (uint32_t i = 0; i < asked->count; i++) {
        struct guess g = guess_beside(p, asked->key, asked->values[i], has);
        if (g.known)
            return SPAN("");
        if (near.ptr == NULL || (g.near.ptr != NULL && span_cmp(g.near, near) < 0))
            near = g.near;
    }
    if (near.ptr != NULL)
        return arena_printf(&p->arena, " (did you mean %.*s?)", SPAN_ARG(near));
    return guess(p, asked->key, SYM_NONE)->near;
}

/* --- tolerations --- */

/* The same, or a slip away from it. */
static bool is_near(struct span given, struct span there)
{
    struct values one = {&there, 1, 1};
    struct guess g = guess_among(given, &one);
    return g.known || g.near.ptr != NULL;
}

struct span meant_toleration(struct plan *p, struct tolerations all, const struct taint *t)
{
    for (uint32_t i = 0; i < all.count; i++) {
        const struct toleration *by = &all.items[i];
        struct span key = sym_text(p->syms, by->key), value = sym_text(p->syms, by->value);
        bool near = is_near(key, sym_text(p->syms, t->key)) &&
                    (value.len == 0 || is_near(value, sym_text(p->syms, t->value)));
        if (key.len != 0 && near)
            return arena_printf(&p->arena, " (it tolerates %.*s%s%.*s%s%s)", SPAN_ARG(key),
                                value.len != 0 ? "=" : "", SPAN_ARG(value),
                                by->effect != TAINT_NONE ? ":" : "", taint_effect_name(by->effect));
    }
    return SPAN("");
}
