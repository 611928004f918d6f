/* What one pod asks of one host: kube-scheduler's NodeAffinity, TaintToleration, NodePorts and the sums
 * of NodeResourcesFit. */
#include "inner.h"

#include <stdio.h>
#include <stdlib.h>

/* --- labels --- */

static bool to_int(struct span s, long long *out)
{
    char digits[32], *end;
    if (s.len == 0 || s.len >= sizeof(digits))
        return false;
    memcpy(digits, s.ptr, s.len);
    digits[s.len] = '\0';
    *out = strtoll(digits, &end, 10);
    return *end == '\0';
}

bool value_meets(const struct check *k, sym value, const struct expression *e)
{
    bool in = syms_has(e->values, value);
    long long have = 0, bound = 0;
    bool numbers = e->values.count == 1 && to_int(text_of(k, value), &have) &&
                   to_int(text_of(k, e->values.items[0]), &bound);
    switch (e->op) {
    case OP_IN:
        return in;
    case OP_NOT_IN:
        return !in;
    case OP_EXISTS:
        return true;
    case OP_GT:
        return numbers && have > bound;
    case OP_LT:
        return numbers && have < bound;
    case OP_GTE:
        return numbers && have >= bound;
    case OP_LTE:
        return numbers && have <= bound;
    default:
        return false;
    }
}

bool values_allowed(const struct check *k, struct expressions list, sym key, sym value)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (requirement_key(k->syms, list.items[i].key) == key &&
            !value_meets(k, value, &list.items[i]))
            return false;
    return true;
}

const struct may *may_get(const struct mays *l, sym key)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].key == key && l->items[i].values.count != 0)
            return &l->items[i];
    return NULL;
}

struct may *may_put(struct check *k, struct mays *l, sym key)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].key == key) {
            l->items[i].values = (struct syms){0};
            return &l->items[i];
        }
    ARENA_PUSH(&k->arena, l->items, l->count, l->capacity, (struct may){.key = key});
    return &l->items[l->count - 1];
}

void may_set(struct check *k, struct mays *l, sym key, sym value)
{
    struct may *m = may_put(k, l, key);
    m->values = (struct syms){ARENA_NEW(&k->arena, sym), 1};
    m->values.items[0] = value;
}

/* The expressions of a term about one key at a time: one value must meet all of them. */
static bool key_suits(struct check *k, struct expressions term, sym key, const struct mays *labels,
                      bool any_way)
{
    const struct may *m = may_get(labels, key);
    bool some = false, all = true;
    for (uint32_t v = 0; m != NULL && v < m->values.count; v++) {
        bool good = values_allowed(k, term, key, m->values.items[v]);
        some |= good;
        all &= good;
    }
    if (m != NULL)
        return any_way ? some : all;
    for (uint32_t i = 0; i < term.count; i++)
        if (requirement_key(k->syms, term.items[i].key) == key &&
            term.items[i].op != OP_NOT_IN && term.items[i].op != OP_DOES_NOT_EXIST)
            return false;
    return true;
}

bool term_selects(struct check *k, struct expressions term, const struct mays *labels, bool any_way)
{
    for (uint32_t i = 0; i < term.count; i++)
        if (!key_suits(k, term, requirement_key(k->syms, term.items[i].key), labels, any_way))
            return false;
    return true;
}

/* The node selector's pairs and one term, as one list. */
static struct expressions with_selector(struct check *k, const struct pod *p, struct expressions term)
{
    struct expressions list = {
        ARENA_ARRAY(&k->arena, struct expression, (size_t)p->node_selector.count + term.count), 0};
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        list.items[list.count++] = (struct expression){.key = p->node_selector.items[i].key,
            .op = OP_IN, .values = {&p->node_selector.items[i].value, 1}};
    for (uint32_t i = 0; i < term.count; i++)
        list.items[list.count++] = term.items[i];
    return list;
}

bool selects(struct check *k, const struct pod *p, const struct mays *labels, bool any_way)
{
    static const struct expressions none;
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return term_selects(k, with_selector(k, p, none), labels, any_way);
    for (uint32_t t = 0; t < p->affinity->required_node.count; t++) {
        const struct node_term *term = &p->affinity->required_node.items[t];
        /* An empty term matches nothing. matchFields name one node: whoever has them is not planned. */
        if (term->match_expressions.count != 0 && !term->has_match_fields &&
            term_selects(k, with_selector(k, p, term->match_expressions), labels, any_way))
            return true;
    }
    return false;
}

/* --- taints --- */

/* strtoll takes more than Kubernetes does: written anew, a number has to be what it was. */
static bool number_of(const struct check *k, sym text, long long *out)
{
    char given[32], again[32];
    struct span t = text_of(k, text);
    snprintf(given, sizeof(given), "%.*s", SPAN_ARG(t));
    *out = strtoll(given, NULL, 10);
    snprintf(again, sizeof(again), "%lld", *out);
    return strcmp(given, again) == 0;
}

static bool tolerates(const struct check *k, const struct toleration *x, const struct taint *t)
{
    long long bound, value;
    bool exists = x->op == TOLERATION_EXISTS;
    if (x->op == TOLERATION_OTHER || (x->effect != TAINT_NONE && x->effect != t->effect))
        return false;
    if (x->key <= SYM_EMPTY && exists)
        return true;
    if (x->op == TOLERATION_LT || x->op == TOLERATION_GT)
        return x->key == t->key && number_of(k, x->value, &bound) && number_of(k, t->value, &value) &&
               (x->op == TOLERATION_LT ? value < bound : value > bound);
    bool no_value = x->value <= SYM_EMPTY && t->value <= SYM_EMPTY;
    return x->key == t->key && (exists || x->value == t->value || no_value);
}

const struct taint *not_tolerated(const struct check *k, const struct pod *p, struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++) {
        const struct taint *t = &taints.items[i];
        bool hard = t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
        for (uint32_t n = 0; hard && n < p->tolerations.count; n++)
            hard = !tolerates(k, &p->tolerations.items[n], t);
        if (hard)
            return t;
    }
    return NULL;
}

/* --- host ports --- */

static bool any_address(sym ip)
{
    return ip <= SYM_EMPTY || ip == SYM_ANY_IPV4 || ip == SYM_ANY_IPV6;
}

bool ports_clash(const struct pod *a, const struct pod *b)
{
    for (uint32_t i = 0; i < a->ports.count; i++)
        for (uint32_t j = 0; j < b->ports.count; j++) {
            const struct host_port *x = &a->ports.items[i], *y = &b->ports.items[j];
            sym px = x->protocol <= SYM_EMPTY ? SYM_TCP : x->protocol;
            sym py = y->protocol <= SYM_EMPTY ? SYM_TCP : y->protocol;
            if (x->port == y->port && px == py &&
                (x->ip == y->ip || any_address(x->ip) || any_address(y->ip)))
                return true;
        }
    return false;
}

/* --- resources --- */

void add_requests(struct check *k, struct resources *sum, const struct pod *p)
{
    resources_add(&k->arena, sum, p->requests);
    *resources_at(&k->arena, sum, SYM_PODS) += 1;
}

/* --- DaemonSets --- */

static const struct pod *newest_of(const struct check *k, const struct daemon_set *d)
{
    const struct pod *best = NULL;
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *p = AT(k, KIND_POD, struct pod, i);
        bool ours = false;
        for (uint32_t n = 0; n < p->meta.owners.count; n++)
            ours |= p->meta.owners.items[n].controller &&
                    p->meta.owners.items[n].kind == SYM_KIND_DAEMON_SET &&
                    span_eq(p->meta.owners.items[n].name, d->meta.name);
        if (!ours || !span_eq(p->meta.ns, d->meta.ns) || pod_is_terminal(p) ||
            pod_is_terminating(p))
            continue;
        if (best == NULL || p->meta.created > best->meta.created ||
            (p->meta.created == best->meta.created &&
             span_cmp(p->meta.name, best->meta.name) < 0))
            best = p;
    }
    return best;
}

/* As its newest pod, whose resources may have been changed since, without what ties that one to its
 * node; as the template while it has none. */
const struct pod *daemon_of(struct check *k, const struct daemon_set *d)
{
    const struct pod *live = newest_of(k, d);
    if (live == NULL)
        return &d->template;
    struct pod *p = ARENA_NEW(&k->arena, struct pod);
    *p = *live;
    p->affinity = d->template.affinity; /* the live one's names its node */
    return p;
}
