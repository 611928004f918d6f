#include "planner/pods/shape.h"

#include "planner/places.h"

void shape_sym(struct shape *s, sym id)
{
    if (s->texts == NULL)
        words_put(&s->words, id);
    else
        words_put64(&s->words, id == SYM_NONE ? 0 : span_hash(sym_text(s->texts, id)));
}

static void shape_syms(struct shape *s, struct syms list)
{
    words_put(&s->words, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        shape_sym(s, list.items[i]);
}

void shape_labels(struct shape *s, struct sym_pairs labels)
{
    words_put(&s->words, labels.count);
    for (uint32_t i = 0; i < labels.count; i++) {
        shape_sym(s, labels.items[i].key);
        shape_sym(s, labels.items[i].value);
    }
}

void shape_expressions(struct shape *s, struct expressions list)
{
    words_put(&s->words, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct expression *e = &list.items[i];
        shape_sym(s, e->key);
        words_put(&s->words, e->op);
        shape_syms(s, e->values);
    }
}

void shape_tolerations(struct shape *s, struct tolerations list)
{
    words_put(&s->words, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct toleration *t = &list.items[i];
        shape_sym(s, t->key);
        shape_sym(s, t->value);
        words_put(&s->words, (uint32_t)t->effect << 3 | (uint32_t)t->op);
    }
}

void shape_ports(struct shape *s, struct host_ports ports)
{
    words_put(&s->words, ports.count);
    for (uint32_t i = 0; i < ports.count; i++) {
        words_put(&s->words, (uint32_t)ports.items[i].port);
        shape_sym(s, ports.items[i].ip);
        shape_sym(s, ports.items[i].protocol);
    }
}

static void shape_node_term(struct shape *s, const struct node_term *t)
{
    words_put(&s->words, t->has_match_fields);
    shape_expressions(s, t->match_expressions);
}

void shape_node_selector(struct shape *s, const struct pod *p)
{
    shape_labels(s, p->node_selector);
    const struct affinity *a = p->affinity;
    bool required = a != NULL && a->has_required_node;
    words_put(&s->words, required ? a->required_node.count + 1 : 0);
    for (uint32_t i = 0; required && i < a->required_node.count; i++)
        shape_node_term(s, &a->required_node.items[i]);
}

static void shape_selector(struct shape *s, bool has, const struct label_selector *x)
{
    words_put(&s->words, has);
    shape_labels(s, x->match_labels);
    shape_expressions(s, x->match_expressions);
}

static void shape_pod_term(struct shape *s, const struct pod_term *t)
{
    shape_sym(s, t->topology_key);
    shape_selector(s, t->has_selector, &t->selector);
    shape_selector(s, t->has_namespace_selector, &t->namespace_selector);
    shape_syms(s, t->namespaces);
    shape_syms(s, t->match_label_keys);
    shape_syms(s, t->mismatch_label_keys);
}

static void shape_affinity(struct shape *s, const struct affinity *a)
{
    words_put(&s->words, a->preferred_node.count);
    for (uint32_t i = 0; i < a->preferred_node.count; i++) {
        words_put(&s->words, (uint32_t)a->preferred_node.items[i].weight);
        shape_node_term(s, &a->preferred_node.items[i].preference);
    }
    const struct pod_terms *required[] = {&a->required_pod, &a->required_anti};
    const struct preferred_pod_terms *preferred[] = {&a->preferred_pod, &a->preferred_anti};
    for (size_t k = 0; k < COUNT_OF(required); k++) {
        words_put(&s->words, required[k]->count);
        for (uint32_t i = 0; i < required[k]->count; i++)
            shape_pod_term(s, &required[k]->items[i]);
        words_put(&s->words, preferred[k]->count);
        for (uint32_t i = 0; i < preferred[k]->count; i++) {
            words_put(&s->words, (uint32_t)preferred[k]->items[i].weight);
            shape_pod_term(s, &preferred[k]->items[i].term);
        }
    }
}

static void shape_spread(struct shape *s, const struct spread *x)
{
    words_put(&s->words, (uint32_t)x->max_skew);
    words_put(&s->words, (uint32_t)x->min_domains);
    words_put(&s->words, (uint32_t)x->hard << 2 | (uint32_t)x->ignore_affinity << 1 |
                             (uint32_t)x->honor_taints);
    shape_sym(s, x->topology_key);
    shape_selector(s, x->has_selector, &x->selector);
    shape_syms(s, x->match_label_keys);
}

void shape_pod(struct shape *s, const struct pod *p)
{
    words_put(&s->words, p->requests.count);
    for (uint32_t i = 0; i < p->requests.count; i++) {
        shape_sym(s, p->requests.items[i].name);
        words_put64(&s->words, (uint64_t)p->requests.items[i].value);
    }
    shape_node_selector(s, p);
    shape_tolerations(s, p->tolerations);
    shape_ports(s, p->ports);
    words_put(&s->words, p->spreads.count);
    for (uint32_t i = 0; i < p->spreads.count; i++)
        shape_spread(s, &p->spreads.items[i]);
    if (p->affinity != NULL)
        shape_affinity(s, p->affinity);
}

uint64_t pod_shape_hash(const struct pod *p, const struct symtab *syms)
{
    struct arena a;
    arena_init(&a, 0);
    struct shape s = {.texts = syms};
    words_init(&s.words, &a);
    shape_pod(&s, p);
    uint64_t hash =
        span_hash((struct span){(const char *)s.words.items, s.words.count * sizeof(uint32_t)});
    arena_release(&a);
    return hash;
}
