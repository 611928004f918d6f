/* A signature has its requirements merged; what was merged is read from the pod again. */
#include "planner/explain/contradiction.h"

#include "kube/wellknown.h"

struct statements {
    const struct group_question *q;
    sym key;
    struct buf text;
    uint32_t count;
};

static void put(struct statements *s, struct span what, const char *where)
{
    buf_addf(&s->text, "%s%.*s in %s", s->count++ != 0 ? " and " : "", SPAN_ARG(what), where);
}

static void put_selector(struct statements *s, const struct pod *pod)
{
    struct plan *p = s->q->p;
    for (uint32_t i = 0; i < pod->node_selector.count; i++) {
        const struct sym_pair *l = &pod->node_selector.items[i];
        if (requirement_key(p->syms, l->key) == s->key)
            put(s, arena_printf(&p->arena, "%.*s=%.*s", SPAN_ARG(sym_text(p->syms, s->key)),
                                SPAN_ARG(sym_text(p->syms, l->value))),
                "its node selector");
    }
}

static void put_term(struct statements *s, const struct node_term *t)
{
    struct plan *p = s->q->p;
    for (uint32_t i = 0; i < t->match_expressions.count; i++) {
        const struct expression *e = &t->match_expressions.items[i];
        if (requirement_key(p->syms, e->key) != s->key)
            continue;
        struct requirement r = requirement_of(&p->arena, p->syms, e);
        put(s, words_requirement(p, &r), "its node affinity");
    }
}

/* The term that is tried last is the one that is told: the others were dropped before. */
static void put_affinity(struct statements *s, const struct pod *pod)
{
    if (pod->affinity == NULL || !pod->affinity->has_required_node)
        return;
    struct node_terms terms = pod->affinity->required_node;
    if (terms.count != 0)
        put_term(s, &terms.items[terms.count - 1]);
}

static void put_split(struct statements *s)
{
    const struct pod_class *k = question_class(s->q);
    if (s->key != SYM_CAPACITY_TYPE || k->side == SPLIT_NONE)
        return;
    buf_addf(&s->text, "%s%s, where its owner's split wants it", s->count++ != 0 ? " and " : "",
             k->side == SPLIT_SPOT ? "spot" : "on-demand");
}

struct span contradiction_text(const struct group_question *q, uint32_t *count_out)
{
    const struct world *w = q->p->world;
    const struct requirements *all = &w->classes.signatures[q->try->signature].requirements;
    const struct pod *pod = q->pod;
    const struct requirement *found = NULL;
    struct span found_text = {0};
    for (uint32_t i = 0; i < all->count; i++) {
        if (requirement_op(&all->items[i]) != OP_DOES_NOT_EXIST)
            continue;
        struct statements s = {.q = q, .key = all->items[i].key};
        struct span key = sym_text(q->p->syms, s.key);
        put_selector(&s, pod);
        put_affinity(&s, pod);
        put_split(&s);
        bool better = s.count > 1 &&
                      (found == NULL || span_cmp(key, sym_text(q->p->syms, found->key)) < 0);
        struct span text = words_take(q->p, &s.text);
        if (!better)
            continue;
        found = &all->items[i];
        found_text = text;
        *count_out = s.count;
    }
    return found_text;
}
