/* Types: what the pool may buy is none, or is not what the pod asks for. */
#include "planner/explain/meant.h"
#include "planner/explain/no_type.h"
#include "planner/explain/ports.h"
#include "planner/explain/sold.h"
#include "planner/explain/stop_inner.h"

/* The first requirement, by the names of the keys, that no type meets by itself; NULL: they fail together. */
static const struct requirement *hopeless(const struct group_question *q, const struct option *o,
                                          const struct requirements *asked)
{
    struct plan *p = q->p;
    const struct types *t = &p->world->types;
    uint64_t *set = ARENA_ARRAY(&p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, t->kind_words);
    const struct requirement *first = NULL;
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct requirement *r = &asked->items[i];
        struct requirements alone = {0};
        if (first != NULL &&
            span_cmp(sym_text(p->syms, first->key), sym_text(p->syms, r->key)) < 0)
            continue;
        requirements_add_all(&p->arena, &alone, &o->requirements, p->world->syms);
        requirements_add(&p->arena, &alone, r, p->world->syms);
        memcpy(set, o->types, t->words * sizeof(*set));
        types_cut(t, set, requirements_get(&alone, r->key), p->world->syms);
        types_kinds(t, kinds, &alone, p->world->syms);
        types_cut_kinds(t, set, kinds);
        if (bits_count(set, t->words) == 0)
            first = r;
    }
    return first;
}

/* Host ports that DaemonSets have taken leave no type, which labels would not. False: that is not so. */
static bool stop_ports(const struct group_question *q, uint32_t option, const struct requirements *asked,
                       struct stop *s)
{
    struct arena *a = &q->p->arena;
    struct span holder, pool = stop_pool(q, option);
    struct host_ports none = {0};
    if (specs_narrow_by(&q->t->specs, option, asked, none) < 0)
        return false;
    struct span taken = ports_on_option(q, option, &holder);
    if (taken.ptr == NULL)
        return false;
    s->sentence =
        arena_printf(a, "asks for %.*s of pool %.*s", SPAN_ARG(taken), SPAN_ARG(pool));
    s->fix = arena_printf(a, "take another host port, or keep %.*s off pool %.*s", SPAN_ARG(holder),
                          SPAN_ARG(pool));
    return true;
}

/* The catalogue has types for it that the pool does not buy. `at_fault`: NULL: all that is asked. */
static bool others_would_do(const struct group_question *q, const struct requirements *asked,
                            const struct requirement *at_fault)
{
    struct requirement copy = at_fault != NULL ? *at_fault : (struct requirement){0};
    struct requirements one = {&copy, 1};
    return sold_any(q->p, at_fault != NULL ? &one : asked);
}

void stop_types(const struct group_question *q, uint32_t option, const struct requirements *asked,
                struct stop *s)
{
    struct plan *p = q->p;
    const struct option *o = stop_option(q, option);
    struct span pool = option_name(o);
    if (bits_count(o->types, p->world->types.words) == 0) {
        struct span why;
        no_type(p, o, &why, &s->fix);
        s->sentence = arena_printf(&p->arena, "finds no type in pool %.*s: %.*s", SPAN_ARG(pool),
                                   SPAN_ARG(why));
        return;
    }
    if (stop_ports(q, option, asked, s))
        return;
    s->asked = hopeless(q, o, asked);
    if (s->asked != NULL && stop_is_split(q, s->asked)) {
        stop_split(q, option, NULL, s);
        return;
    }
    if (s->asked != NULL)
        s->sentence = arena_printf(&p->arena, "asks for %.*s, which no type of pool %.*s has%.*s",
                                   SPAN_ARG(words_requirement(p, s->asked)), SPAN_ARG(pool),
                                   SPAN_ARG(meant_value(p, s->asked, NULL)));
    else
        s->sentence = arena_printf(&p->arena, "asks for labels together that no type of pool %.*s has",
                                   SPAN_ARG(pool));
    s->fix = arena_printf(&p->arena, "ask for what a type of pool %.*s has%s", SPAN_ARG(pool),
                          others_would_do(q, asked, s->asked) ? ", or let it buy others" : "");
}
