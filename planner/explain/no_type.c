#include "planner/explain/no_type.h"

#include "planner/explain/daemons.h"
#include "planner/explain/meant.h"

struct told {
    struct plan *p;
    const struct option *o;
    struct span *sentence, *fix;
};

/* --- requirements --- */

/* Whether some type that the pool is offered meets all of these but one; NULL: all of these. */
static bool some_type(struct plan *p, const struct option *o, const struct requirements *all,
                      const struct requirement *but)
{
    const struct types *t = &p->world->types;
    uint64_t *set = ARENA_ARRAY(&p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, t->kind_words);
    struct requirements left = {ARENA_ARRAY(&p->arena, struct requirement, all->count), 0};
    for (uint32_t i = 0; i < t->count; i++)
        if (instance_type_offered(types_at(t, i), o->pool->meta.name))
            bits_add(set, i);
    for (uint32_t i = 0; i < all->count; i++)
        if (&all->items[i] != but)
            left.items[left.count++] = all->items[i];
    for (uint32_t i = 0; i < left.count; i++)
        types_cut(t, set, &left.items[i], p->world->syms);
    types_kinds(t, kinds, &left, p->world->syms);
    types_cut_kinds(t, set, kinds);
    return bits_count(set, t->words) != 0;
}

/* Those without which, or (alone) with only which, the answer turns: by the names of their keys. */
static const struct requirement **culprits(const struct told *x, bool alone, uint32_t *count_out)
{
    struct plan *p = x->p;
    const struct requirements *all = &x->o->requirements;
    const struct requirement **list = ARENA_ARRAY(&p->arena, const struct requirement *, all->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        struct requirements one = {&all->items[i], 1};
        if (alone ? some_type(p, x->o, &one, NULL) : !some_type(p, x->o, all, &all->items[i]))
            continue;
        uint32_t at = n++;
        struct span key = sym_text(p->syms, all->items[i].key);
        for (; at > 0 && span_cmp(key, sym_text(p->syms, list[at - 1]->key)) < 0; at--)
            list[at] = list[at - 1];
        list[at] = &all->items[i];
    }
    *count_out = n;
    return list;
}

/* "kubernetes.io/arch In [amd64] and kubernetes.io/arch In [arm64]": what the pool says of one label, and that
 * leaves it no value. Absent: it says one thing. */
static struct span contradiction(const struct told *x, sym key)
{
    struct plan *p = x->p;
    const struct node_pool *pool = x->o->pool;
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->requirements.count; i++) {
        const struct expression *e = &pool->requirements.items[i];
        if (requirement_key(p->syms, e->key) != key)
            continue;
        struct requirement r = requirement_of(&p->arena, p->syms, e);
        buf_addf(&b, "%s%.*s", count++ != 0 ? " and " : "", SPAN_ARG(words_requirement(p, &r)));
    }
    for (uint32_t i = 0; i < pool->labels.count; i++)
        if (requirement_key(p->syms, pool->labels.items[i].key) == key)
            buf_addf(&b, "%s%.*s=%.*s", count++ != 0 ? " and " : "", SPAN_ARG(sym_text(p->syms, key)),
                     SPAN_ARG(sym_text(p->syms, pool->labels.items[i].value)));
    struct span text = words_take(p, &b);
    return count > 1 ? text : (struct span){NULL, 0};
}

static bool tell_contradiction(const struct told *x, const struct requirement *r)
{
    struct span both = contradiction(x, r->key);
    if (requirement_op(r) != OP_DOES_NOT_EXIST || both.ptr == NULL)
        return false;
    *x->sentence = arena_printf(&x->p->arena, "its requirements %.*s contradict each other", SPAN_ARG(both));
    *x->fix = arena_printf(&x->p->arena, "take one of these requirements from pool %.*s",
                           SPAN_ARG(option_name(x->o)));
    return true;
}

static void tell_one(const struct told *x, const struct requirement *r)
{
    struct arena *a = &x->p->arena;
    if (tell_contradiction(x, r))
        return;
    *x->sentence = arena_printf(a, "no type meets its requirement %.*s%.*s",
                                SPAN_ARG(words_requirement(x->p, r)),
                                SPAN_ARG(meant_value(x->p, r, NULL)));
    *x->fix = arena_printf(a, "let pool %.*s ask for a %.*s that there is", SPAN_ARG(option_name(x->o)),
                           SPAN_ARG(sym_text(x->p->syms, r->key)));
}

static void tell_several(const struct told *x, const struct requirement **list, uint32_t count)
{
    struct arena *a = &x->p->arena;
    struct buf b = {0};
    for (uint32_t i = 0; i < count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "" : i + 1 == count ? " and " : ", ",
                 SPAN_ARG(words_requirement(x->p, list[i])));
    struct span all = words_take(x->p, &b);
    *x->sentence = arena_printf(a, "no type meets its requirements %.*s at once", SPAN_ARG(all));
    *x->fix = arena_printf(a, "loosen one of these requirements of pool %.*s",
                           SPAN_ARG(option_name(x->o)));
}

static void tell_requirements(const struct told *x)
{
    struct requirements none = {0};
    uint32_t count;
    if (!catalogue_lists(world_catalogue(x->p->world), x->o->pool->meta.name)) {
        *x->sentence = SPAN("its provider has not listed its types yet");
        *x->fix = arena_printf(&x->p->arena, "wait for the provider that has node classes of kind %.*s, or see why it is silent",
                               SPAN_ARG(x->o->pool->node_class.kind));
        return;
    }
    if (!some_type(x->p, x->o, &none, NULL)) {
        *x->sentence = SPAN("no type is offered to it");
        *x->fix = arena_printf(&x->p->arena, "put types for pool %.*s into the catalogue",
                               SPAN_ARG(option_name(x->o)));
        return;
    }
    const struct requirement **list = culprits(x, true, &count);
    if (count != 0) {
        tell_one(x, list[0]);
        return;
    }
    list = culprits(x, false, &count);
    if (count != 0 && count <= WORDS_LISTED) {
        tell_several(x, list, count);
        return;
    }
    *x->sentence = SPAN("no type meets all of its requirements at once");
    *x->fix = arena_printf(&x->p->arena, "loosen the requirements of pool %.*s",
                           SPAN_ARG(option_name(x->o)));
}

/* --- DaemonSets --- */

struct eaten { /* a column in which DaemonSets take more than a type has */
    const struct daemon_group *group;
    uint32_t column;
    amount has;
};

static void look_at(const struct told *x, uint32_t type, struct eaten *best)
{
    const struct world *w = x->p->world;
    const struct option *o = x->o;
    const amount *has = world_vector(w, w->types.allocatable, w->types.first_group[type]);
    for (uint32_t row = o->first_row[type]; row < o->first_row[type + 1]; row++) {
        const struct daemon_group *g = &o->daemons[o->daemon_of[row]];
        for (uint32_t c = 0; c < w->column_count; c++) {
            if (g->member_count == 0 || g->overhead[c] <= has[c])
                continue;
            if (best->group == NULL || (c == best->column && has[c] > best->has))
                *best = (struct eaten){g, c, has[c]};
            return;
        }
    }
}

/* Types that met the requirements have rows; that they are gone is then the DaemonSets' doing. */
static bool tell_daemons(const struct told *x)
{
    struct plan *p = x->p;
    struct eaten e = {0};
    for (uint32_t type = 0; type < p->world->types.count; type++)
        look_at(x, type, &e);
    if (e.group == NULL)
        return false;
    struct span most = words_amount(p, e.column, e.has > 0 ? e.has : 0);
    *x->sentence =
        arena_printf(&p->arena, "%.*s, and the largest type that its requirements leave has %.*s",
                     SPAN_ARG(daemons_take(p, e.group, e.column)), SPAN_ARG(most));
    *x->fix = arena_printf(&p->arena, "let %.*s ask for less, or keep it off pool %.*s",
                           SPAN_ARG(daemons_heaviest(p, e.group, e.column)),
                           SPAN_ARG(option_name(x->o)));
    return true;
}

/* It is the same whoever asks, and many may. */
struct no_type { /* by option; an absent sentence: not asked yet */
    struct span sentence, fix;
};

void no_type(struct plan *p, const struct option *o, struct span *sentence_out, struct span *fix_out)
{
    if (p->no_types == NULL)
        p->no_types = ARENA_ARRAY(&p->arena, struct no_type, p->world->option_count);
    struct no_type *n = &p->no_types[o - p->world->options];
    struct told x = {p, o, &n->sentence, &n->fix};
    if (n->sentence.ptr == NULL && !tell_daemons(&x))
        tell_requirements(&x);
    *sentence_out = n->sentence;
    *fix_out = n->fix;
}
