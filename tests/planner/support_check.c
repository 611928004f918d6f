#include "support_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct check {
    const struct cluster *c;
    const struct plan *p;
    struct arena arena;
    struct err *err;
};

#define COUNT(c_, kind_) ((c_)->kinds[kind_].count)
#define AT(c_, kind_, type_, i_) ((const type_ *)(c_)->kinds[kind_].items[i_])

static struct span text(const struct check *k, sym s)
{
    return sym_text(k->p->syms, s);
}

/* --- labels that a node may turn out to have: a list of values for each key --- */

struct label_values {
    struct span key;
    struct span values[64];
    uint32_t count;
};

struct labels {
    struct label_values items[64];
    uint32_t count;
};

static struct label_values *labels_at(struct labels *l, struct span key, bool add)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (span_eq(l->items[i].key, key))
            return &l->items[i];
    if (!add)
        return NULL;
    l->items[l->count].key = key;
    l->items[l->count].count = 0;
    return &l->items[l->count++];
}

static void labels_set(struct labels *l, struct span key, struct span value)
{
    struct label_values *v = labels_at(l, key, true);
    v->values[0] = value;
    v->count = 1;
}

static bool to_int(struct span s, long *out)
{
    char buf[32];
    char *end;
    if (s.len == 0 || s.len >= sizeof(buf))
        return false;
    memcpy(buf, s.ptr, s.len);
    buf[s.len] = '\0';
    *out = strtol(buf, &end, 10);
    return *end == '\0';
}

static bool value_matches(const struct check *k, struct span value, enum op op, struct syms values)
{
    bool in = false;
    for (uint32_t i = 0; i < values.count; i++)
        in |= span_eq(text(k, values.items[i]), value);
    long x = 0, y = 0;
    bool ints = values.count == 1 && to_int(value, &x) && to_int(text(k, values.items[0]), &y);
    switch (op) {
    case OP_IN:
        return in;
    case OP_NOT_IN:
        return !in;
    case OP_EXISTS:
        return true;
    case OP_GT:
        return ints && x > y;
    case OP_LT:
        return ints && x < y;
    case OP_GTE:
        return ints && x >= y;
    case OP_LTE:
        return ints && x <= y;
    default:
        return false;
    }
}

static bool expression_holds(const struct check *k, struct labels *l, const struct expression *e)
{
    const struct label_values *v = labels_at(l, text(k, e->key), false);
    if (v == NULL)
        return e->op == OP_NOT_IN || e->op == OP_DOES_NOT_EXIST;
    for (uint32_t i = 0; i < v->count; i++)
        if (!value_matches(k, v->values[i], e->op, e->values))
            return false;
    return v->count != 0;
}

static bool pod_selects(const struct check *k, struct labels *l, const struct pod *p)
{
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        sym value = p->node_selector.items[i].value;
        struct expression e = {.key = p->node_selector.items[i].key, .op = OP_IN,
                               .values = {&value, 1}};
        if (!expression_holds(k, l, &e))
            return false;
    }
    if (p->affinity == NULL || !p->affinity->has_required_node)
        return true;
    for (uint32_t t = 0; t < p->affinity->required_node.count; t++) {
        struct expressions list = p->affinity->required_node.items[t].match_expressions;
        bool all = true;
        for (uint32_t i = 0; i < list.count && all; i++)
            all = expression_holds(k, l, &list.items[i]);
        if (all)
            return true;
    }
    return false;
}

static bool tolerates(const struct pod *p, const struct taint *t)
{
    if (t->effect == TAINT_PREFER_NO_SCHEDULE)
        return true;
    for (uint32_t i = 0; i < p->tolerations.count; i++) {
        const struct toleration *x = &p->tolerations.items[i];
        bool key = (x->key == SYM_NONE && x->exists) || x->key == t->key;
        bool value = x->exists || x->value == t->value ||
                     (x->value <= SYM_EMPTY && t->value <= SYM_EMPTY);
        if (key && value && (x->effect == TAINT_NONE || x->effect == t->effect))
            return true;
    }
    return false;
}

static bool tolerates_all(const struct pod *p, struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++)
        if (!tolerates(p, &taints.items[i]))
            return false;
    return true;
}

/* --- resources and ports --- */

static void add_pod(struct check *k, struct resources *sum, const struct pod *p)
{
    resources_add(&k->arena, sum, p->requests);
    *resources_at(&k->arena, sum, SYM_PODS) += 1;
}

static bool holds(const struct check *k, struct resources room, struct resources sum,
                  const char *what, struct span name)
{
    for (uint32_t i = 0; i < sum.count; i++)
        if (sum.items[i].value > resources_get(room, sum.items[i].name))
            return err_set(k->err, ERR_INVALID, "%s %.*s: %.*s: %lld of %lld", what, SPAN_ARG(name),
                           SPAN_ARG(text(k, sum.items[i].name)), (long long)sum.items[i].value,
                           (long long)resources_get(room, sum.items[i].name));
    return true;
}

static bool ports_clash(const struct pod *a, const struct pod *b)
{
    for (uint32_t i = 0; i < a->ports.count; i++)
        for (uint32_t j = 0; j < b->ports.count; j++)
            if (a->ports.items[i].port == b->ports.items[j].port &&
                a->ports.items[i].protocol == b->ports.items[j].protocol)
                return true; /* the tests use no addresses */
    return false;
}

static bool no_clash(const struct check *k, const struct pod *const *pods, uint32_t count,
                     struct span name)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (ports_clash(pods[i], pods[j]))
                return err_set(k->err, ERR_INVALID, "%.*s: host port taken twice", SPAN_ARG(name));
    return true;
}

/* --- one claim, as one type in one offering --- */

static bool allowed_by(const struct check *k, struct expressions written, struct span key,
                       struct span value)
{
    for (uint32_t i = 0; i < written.count; i++)
        if (span_eq(text(k, written.items[i].key), key) &&
            !value_matches(k, value, written.items[i].op, written.items[i].values))
            return false;
    return true;
}

/* What the requirements set as written leaves of what is there. */
static void labels_from(const struct check *k, struct labels *l, const struct requirements *from,
                        struct expressions written)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct requirement *r = &from->items[i];
        if (r->complement || r->count == 0)
            continue;
        struct label_values *v = labels_at(l, text(k, r->key), true);
        v->count = 0;
        for (uint32_t n = 0; n < r->count; n++)
            if (allowed_by(k, written, text(k, r->key), text(k, r->values[n])))
                v->values[v->count++] = text(k, r->values[n]);
    }
}

static bool offering_admitted(const struct check *k, const struct offering *o,
                              struct expressions written)
{
    for (uint32_t i = 0; i < o->requirements.count; i++) {
        const struct requirement *r = &o->requirements.items[i];
        bool some = r->complement || r->count == 0;
        for (uint32_t n = 0; n < r->count && !some; n++)
            some = allowed_by(k, written, text(k, r->key), text(k, r->values[n]));
        if (!some)
            return false;
    }
    return o->available;
}

static bool check_as(struct check *k, const struct plan_claim *c, const struct instance_type *t,
                     const struct offering *o)
{
    struct labels *l = mem_new(sizeof(*l));
    labels_from(k, l, &t->requirements, c->written);
    labels_from(k, l, &o->requirements, c->written);
    for (uint32_t i = 0; i < c->labels.count; i++)
        labels_set(l, text(k, c->labels.items[i].key), text(k, c->labels.items[i].value));
    labels_set(l, SPAN("karpenter.sh/registered"), SPAN("true"));
    labels_set(l, SPAN("karpenter.sh/initialized"), SPAN("true"));
    bool ok = true;
    struct resources sum = {0};
    for (uint32_t i = 0; i < c->pod_count && ok; i++) {
        const struct pod *p = c->pods[i];
        add_pod(k, &sum, p);
        if (!tolerates_all(p, c->pool->taints))
            ok = err_set(k->err, ERR_INVALID, "claim %.*s: taint", SPAN_ARG(c->name));
        else if (!pod_selects(k, l, p))
            ok = err_set(k->err, ERR_INVALID, "claim %.*s as %.*s: selector of %.*s",
                         SPAN_ARG(c->name), SPAN_ARG(t->name), SPAN_ARG(p->meta.name));
    }
    for (size_t d = 0; d < COUNT(k->c, KIND_DAEMON_SET); d++) {
        const struct pod *p = &AT(k->c, KIND_DAEMON_SET, struct daemon_set, d)->template;
        if (tolerates_all(p, c->pool->taints) && pod_selects(k, l, p))
            add_pod(k, &sum, p);
    }
    free(l);
    return ok && holds(k, offering_allocatable(&k->arena, t, o, k->p->syms), sum, "claim", c->name);
}

static bool check_claim(struct check *k, const struct plan_claim *c)
{
    double cheapest = (double)INFINITY;
    if (!no_clash(k, c->pods, c->pod_count, c->name))
        return false;
    if (c->type_count == 0)
        return err_set(k->err, ERR_INVALID, "claim %.*s: no type", SPAN_ARG(c->name));
    for (uint32_t i = 0; i < c->type_count; i++) {
        bool some = false;
        for (uint32_t n = 0; n < c->types[i]->offering_count; n++) {
            const struct offering *o = &c->types[i]->offerings[n];
            if (!offering_admitted(k, o, c->written))
                continue;
            some = true;
            if (o->price < cheapest)
                cheapest = o->price;
            if (!check_as(k, c, c->types[i], o))
                return false;
        }
        if (!some)
            return err_set(k->err, ERR_INVALID, "claim %.*s: type %.*s has no offering",
                           SPAN_ARG(c->name), SPAN_ARG(c->types[i]->name));
    }
    if (fabs(cheapest - c->price) > 1e-12)
        return err_set(k->err, ERR_INVALID, "claim %.*s: price", SPAN_ARG(c->name));
    return true;
}

/* --- standing nodes --- */

static bool check_node(struct check *k, const struct plan_node *n)
{
    const struct node *node = world_node_at(k->p->world, n->row)->node;
    if (node == NULL)
        return true; /* the tests for claims without a node are tables */
    struct labels *l = mem_new(sizeof(*l));
    for (uint32_t i = 0; i < node->meta.labels.count; i++)
        labels_set(l, text(k, node->meta.labels.items[i].key),
                   text(k, node->meta.labels.items[i].value));
    struct resources sum = {0};
    bool ok = true;
    for (size_t i = 0; i < COUNT(k->c, KIND_POD); i++) {
        const struct pod *p = AT(k->c, KIND_POD, struct pod, i);
        if (p->node == SYM_NONE || !span_eq(text(k, p->node), node->meta.name))
            continue;
        add_pod(k, &sum, p);
        for (uint32_t m = 0; m < n->pod_count && ok; m++)
            if (ports_clash(p, n->pods[m]))
                ok = err_set(k->err, ERR_INVALID, "node: host port taken");
    }
    for (uint32_t i = 0; i < n->pod_count && ok; i++) {
        add_pod(k, &sum, n->pods[i]);
        if (!tolerates_all(n->pods[i], node->taints))
            ok = err_set(k->err, ERR_INVALID, "node: taint");
        else if (!pod_selects(k, l, n->pods[i]))
            ok = err_set(k->err, ERR_INVALID, "node: selector");
    }
    free(l);
    return ok && holds(k, node->allocatable, sum, "node", node->meta.name) &&
           no_clash(k, n->pods, n->pod_count, node->meta.name);
}

/* --- the whole --- */

static bool check_limits(struct check *k, const struct node_pool *pool)
{
    struct resources used = {0};
    for (uint32_t i = 0; i < k->p->claim_count; i++) {
        const struct plan_claim *c = &k->p->claims[i];
        struct resources most = {0};
        if (c->pool != pool)
            continue;
        for (uint32_t t = 0; t < c->type_count; t++)
            resources_max(&k->arena, &most, c->types[t]->capacity);
        resources_add(&k->arena, &used, most);
        *resources_at(&k->arena, &used, SYM_NODES) += 1;
    }
    bool bought = resources_get(used, SYM_NODES) != 0;
    for (size_t i = 0; i < COUNT(k->c, KIND_NODE); i++) {
        const struct node *n = AT(k->c, KIND_NODE, struct node, i);
        if (!span_eq(text(k, sym_pairs_get(n->meta.labels, SYM_NODEPOOL)), pool->meta.name))
            continue;
        resources_add(&k->arena, &used, n->capacity);
        *resources_at(&k->arena, &used, SYM_NODES) += 1;
    }
    for (uint32_t i = 0; i < pool->limits.count && bought; i++)
        if (resources_get(used, pool->limits.items[i].name) > pool->limits.items[i].value)
            return err_set(k->err, ERR_INVALID, "pool %.*s: limit of %.*s",
                           SPAN_ARG(pool->meta.name), SPAN_ARG(text(k, pool->limits.items[i].name)));
    return true;
}

static uint32_t times_planned(const struct plan *p, const struct pod *pod)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->claim_count; i++)
        for (uint32_t k = 0; k < p->claims[i].pod_count; k++)
            n += p->claims[i].pods[k] == pod;
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++)
            n += p->nodes[i].pods[k] == pod;
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        n += p->unschedulable[i].pod == pod;
    return n;
}

static bool check_all(struct check *k)
{
    for (size_t i = 0; i < COUNT(k->c, KIND_POD); i++) {
        const struct pod *p = AT(k->c, KIND_POD, struct pod, i);
        if (times_planned(k->p, p) != (p->node == SYM_NONE))
            return err_set(k->err, ERR_INVALID, "pod %.*s: in the plan %u times",
                           SPAN_ARG(p->meta.name), times_planned(k->p, p));
    }
    for (uint32_t i = 0; i < k->p->claim_count; i++)
        if (!check_claim(k, &k->p->claims[i]))
            return false;
    for (uint32_t i = 0; i < k->p->node_count; i++)
        if (!check_node(k, &k->p->nodes[i]))
            return false;
    for (size_t i = 0; i < COUNT(k->c, KIND_NODE_POOL); i++)
        if (!check_limits(k, AT(k->c, KIND_NODE_POOL, struct node_pool, i)))
            return false;
    if (k->p->lower_bound > k->p->cost_after)
        return err_set(k->err, ERR_INVALID, "the lower bound is above the cost");
    return true;
}

bool check_plan(const struct cluster *c, const struct plan *p, struct err *err)
{
    struct check k = {.c = c, .p = p, .err = err};
    arena_init(&k.arena, 0);
    bool ok = check_all(&k);
    arena_release(&k.arena);
    return ok;
}
