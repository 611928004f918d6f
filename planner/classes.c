/* A shape is written down as words, once with symbols (equal inside this world) and once with hashes
 * of their texts (equal in every process, for stowage.dev/planned). The first form makes classing a
 * pod one hash of a few dozen words; only a shape never seen before is looked at in detail. */
#include "planner/classes.h"
#include "planner/places.h"

void classes_init(struct classes *c, struct arena *a, struct symtab *syms, const sym *columns,
                  uint32_t column_count, const struct label_rules *rules)
{
    *c = (struct classes){.arena = a, .syms = syms, .columns = columns,
                          .column_count = column_count, .rules = rules};
    intern_init(&c->shapes, a);
    intern_init(&c->merged, a);
    intern_init(&c->stated, a);
}

int32_t classes_column(const struct classes *c, sym resource)
{
    for (uint32_t i = 0; i < c->column_count; i++)
        if (c->columns[i] == resource)
            return (int32_t)i;
    return -1;
}

void classes_add_vector(const struct classes *c, amount *vector, struct resources r)
{
    for (uint32_t i = 0; i < r.count; i++) {
        int32_t column = classes_column(c, r.items[i].name);
        if (column >= 0)
            vector[column] = amount_add(vector[column], r.items[i].value);
    }
}

/* --- writing a shape down --- */

struct shape {
    struct words words;
    const struct symtab *texts; /* NULL: symbols as they are */
};

static void shape_sym(struct shape *s, sym id)
{
    if (s->texts == NULL)
        words_put(&s->words, id);
    else
        words_put64(&s->words, id == SYM_NONE ? 0 : span_hash(sym_text(s->texts, id)));
}

static void shape_expressions(struct shape *s, struct expressions list)
{
    words_put(&s->words, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct expression *e = &list.items[i];
        shape_sym(s, e->key);
        words_put(&s->words, e->op);
        words_put(&s->words, e->values.count);
        for (uint32_t v = 0; v < e->values.count; v++)
            shape_sym(s, e->values.items[v]);
    }
}

static void shape_tolerations(struct shape *s, struct tolerations list)
{
    words_put(&s->words, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct toleration *t = &list.items[i];
        shape_sym(s, t->key);
        shape_sym(s, t->value);
        words_put(&s->words, (uint32_t)t->effect << 2 | (uint32_t)t->exists << 1 |
                                 (uint32_t)t->unknown_operator);
    }
}

static void shape_ports(struct shape *s, struct host_ports ports)
{
    words_put(&s->words, ports.count);
    for (uint32_t i = 0; i < ports.count; i++) {
        words_put(&s->words, (uint32_t)ports.items[i].port);
        shape_sym(s, ports.items[i].ip);
        shape_sym(s, ports.items[i].protocol);
    }
}

static void shape_selector(struct shape *s, const struct pod *p)
{
    words_put(&s->words, p->node_selector.count);
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        shape_sym(s, p->node_selector.items[i].key);
        shape_sym(s, p->node_selector.items[i].value);
    }
    const struct affinity *a = p->affinity;
    bool required = a != NULL && a->has_required_node;
    words_put(&s->words, required ? a->required_node.count + 1 : 0);
    for (uint32_t i = 0; required && i < a->required_node.count; i++) {
        words_put(&s->words, a->required_node.items[i].has_match_fields);
        shape_expressions(s, a->required_node.items[i].match_expressions);
    }
}

static void shape_write(struct shape *s, const struct pod *p)
{
    words_put(&s->words, p->requests.count);
    for (uint32_t i = 0; i < p->requests.count; i++) {
        shape_sym(s, p->requests.items[i].name);
        words_put64(&s->words, (uint64_t)p->requests.items[i].value);
    }
    shape_selector(s, p);
    shape_tolerations(s, p->tolerations);
    shape_ports(s, p->ports);
}

uint64_t pod_shape_hash(const struct pod *p, const struct symtab *syms)
{
    struct arena a;
    arena_init(&a, 0);
    struct shape s = {.texts = syms};
    words_init(&s.words, &a);
    shape_write(&s, p);
    uint64_t hash =
        span_hash((struct span){(const char *)s.words.items, s.words.count * sizeof(uint32_t)});
    arena_release(&a);
    return hash;
}

/* --- rules that this version does not have --- */

const char *rule_text(enum needed_rule r)
{
    static const char *const texts[RULE_COUNT] = {
        [RULE_NONE] = "nothing",
        [RULE_SPREAD] = "topology spread constraints",
        [RULE_AFFINITY] = "pod affinity",
        [RULE_ANTI_AFFINITY] = "pod anti-affinity",
        [RULE_REPELLED] = "the required anti-affinity of a running pod that matches it",
        [RULE_VOLUMES] = "persistent volumes",
        [RULE_DEVICES] = "resource claims (DRA)",
        [RULE_PREFERRED_SPREAD] = "topology spread constraints with ScheduleAnyway",
        [RULE_PREFERRED_AFFINITY] = "preferred pod affinity or anti-affinity",
        [RULE_PREFERRED_NODE] = "preferred node affinity",
    };
    return texts[r];
}

static bool repeller_matches(const struct repeller *r, const struct pod *p,
                             const struct symtab *syms)
{
    const struct pod_term *t = r->term;
    if (!t->has_selector)
        return false;
    /* A namespace selector needs Namespace objects; that it may match is enough to be careful. */
    bool ns = t->has_namespace_selector;
    if (!ns && t->namespaces.count == 0)
        ns = r->ns == sym_find(syms, p->meta.ns);
    for (uint32_t i = 0; !ns && i < t->namespaces.count; i++)
        ns = span_eq(sym_text(syms, t->namespaces.items[i]), p->meta.ns);
    return ns && label_selector_matches(&t->selector, p->meta.labels);
}

static bool pod_repelled(const struct classes *c, const struct pod *p)
{
    for (uint32_t i = 0; i < c->repeller_count; i++)
        if (repeller_matches(&c->repellers[i], p, c->syms))
            return true;
    return false;
}

static bool term_equal(const struct pod_term *a, const struct pod_term *b);

static enum needed_rule pod_needs(const struct classes *c, const struct pod *p)
{
    if (p->resource_claims != 0)
        return RULE_DEVICES;
    for (uint32_t i = 0; i < p->spreads.count; i++)
        if (p->spreads.items[i].hard)
            return RULE_SPREAD;
    if (p->affinity != NULL && p->affinity->required_pod.count != 0)
        return RULE_AFFINITY;
    if (p->affinity != NULL && p->affinity->required_anti.count != 0)
        return RULE_ANTI_AFFINITY;
    if (p->volumes.count != 0)
        return RULE_VOLUMES;
    return c->repeller_count != 0 && pod_repelled(c, p) ? RULE_REPELLED : RULE_NONE;
}

static enum needed_rule pod_needs_preferred(const struct pod *p)
{
    for (uint32_t i = 0; i < p->spreads.count; i++)
        if (!p->spreads.items[i].hard)
            return RULE_PREFERRED_SPREAD;
    const struct affinity *a = p->affinity;
    if (a != NULL && (a->preferred_pod.count != 0 || a->preferred_anti.count != 0))
        return RULE_PREFERRED_AFFINITY;
    return a != NULL && a->preferred_node.count != 0 ? RULE_PREFERRED_NODE : RULE_NONE;
}

/* Many pods of one workload carry the same term: it is kept once. */
void classes_add_repeller(struct classes *c, const struct pod *bound)
{
    if (bound->affinity == NULL)
        return;
    sym ns = sym_intern(c->syms, bound->meta.ns);
    for (uint32_t i = 0; i < bound->affinity->required_anti.count; i++) {
        struct repeller r = {ns, &bound->affinity->required_anti.items[i]};
        bool known = false;
        for (uint32_t k = 0; k < c->repeller_count && !known; k++)
            known = c->repellers[k].ns == ns && term_equal(c->repellers[k].term, r.term);
        if (!known)
            ARENA_PUSH(c->arena, c->repellers, c->repeller_count, c->repeller_capacity, r);
    }
}

static bool syms_equal(struct syms a, struct syms b)
{
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.items, b.items, a.count * sizeof(sym)) == 0);
}

static bool expressions_equal(struct expressions a, struct expressions b)
{
    if (a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++)
        if (a.items[i].key != b.items[i].key || a.items[i].op != b.items[i].op ||
            !syms_equal(a.items[i].values, b.items[i].values))
            return false;
    return true;
}

static bool term_equal(const struct pod_term *a, const struct pod_term *b)
{
    struct sym_pairs x = a->selector.match_labels, y = b->selector.match_labels;
    return a->has_selector == b->has_selector &&
           a->has_namespace_selector == b->has_namespace_selector &&
           syms_equal(a->namespaces, b->namespaces) && x.count == y.count &&
           (x.count == 0 || memcmp(x.items, y.items, x.count * sizeof(*x.items)) == 0) &&
           expressions_equal(a->selector.match_expressions, b->selector.match_expressions);
}

/* --- a shape never seen before --- */

static uint32_t classes_signature(struct classes *c, const struct pod *p,
                                  const struct node_term *term)
{
    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    words_put(&s.words, p->node_selector.count);
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        words_put(&s.words, p->node_selector.items[i].key);
        words_put(&s.words, p->node_selector.items[i].value);
    }
    shape_expressions(&s, term != NULL ? term->match_expressions : (struct expressions){0});
    shape_tolerations(&s, p->tolerations);
    shape_ports(&s, p->ports);
    bool is_new;
    uint32_t id = intern_put(&c->stated, &s.words, &is_new);
    if (!is_new)
        return id;
    struct signature stated = {.tolerations = p->tolerations, .ports = p->ports};
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        struct sym_pair kv = p->node_selector.items[i];
        struct requirement r = requirement_in(c->arena, c->syms, kv.key, kv.value);
        requirements_add(c->arena, &stated.requirements, &r, c->syms);
    }
    if (term != NULL) {
        struct requirements r = requirements_of(c->arena, c->syms, term->match_expressions);
        requirements_add_all(c->arena, &stated.requirements, &r, c->syms);
    }
    ARENA_PUSH(c->arena, c->signatures, c->signature_count, c->signature_capacity, stated);
    return id;
}

static struct span pod_invalid_term(struct classes *c, const struct node_term *t)
{
    struct err err;
    if (t->has_match_fields)
        return SPAN("a required node affinity term has matchFields, which is not supported");
    for (uint32_t i = 0; i < t->match_expressions.count; i++)
        if (!expression_valid(c->rules, &t->match_expressions.items[i], c->syms, &err))
            return arena_printf(c->arena, "required node affinity: %s", err.msg);
    return (struct span){0};
}

/* Spec provisioning 1.2: what keeps a pending pod out of the pass. */
static struct span pod_invalid(struct classes *c, const struct pod *p)
{
    struct err err;
    for (uint32_t i = 0; i < p->node_selector.count; i++) {
        sym value = p->node_selector.items[i].value;
        struct expression e = {.key = p->node_selector.items[i].key, .op = OP_IN,
                               .values = {&value, 1}};
        if (!expression_valid(c->rules, &e, c->syms, &err))
            return arena_printf(c->arena, "node selector: %s", err.msg);
    }
    struct node_terms terms = {0};
    if (p->affinity != NULL && p->affinity->has_required_node) {
        terms = p->affinity->required_node;
        if (terms.count == 0)
            return SPAN("its required node affinity has no term, which matches no node");
    }
    for (uint32_t i = 0; i < terms.count; i++) {
        struct span why = pod_invalid_term(c, &terms.items[i]);
        if (why.ptr != NULL)
            return why;
    }
    if (terms.count != 0) {
        struct requirements r =
            requirements_of(c->arena, c->syms, terms.items[0].match_expressions);
        const struct requirement *pool = requirements_get(&r, SYM_NODEPOOL);
        if (pool != NULL && requirement_op(pool) == OP_DOES_NOT_EXIST)
            return SPAN("it asks not to run on a node of any NodePool");
    }
    return (struct span){0};
}

static void classes_state(struct classes *c, const struct pod *p, struct pod_class *k)
{
    struct node_terms terms = {0};
    if (p->affinity != NULL && p->affinity->has_required_node)
        terms = p->affinity->required_node;
    k->first_attempt = c->attempt_count;
    uint32_t last = 0;
    for (uint32_t i = 0; i == 0 || i < terms.count; i++) {
        last = classes_signature(c, p, i < terms.count ? &terms.items[i] : NULL);
        struct attempt try = {last, false};
        ARENA_PUSH(c->arena, c->attempts, c->attempt_count, c->attempt_capacity, try);
    }
    struct attempt soft = {last, true};
    ARENA_PUSH(c->arena, c->attempts, c->attempt_count, c->attempt_capacity, soft);
    k->attempt_count = c->attempt_count - k->first_attempt;
}

static amount *classes_new_vector(struct classes *c)
{
    size_t n = c->column_count;
    if (c->count == c->requests_capacity) {
        uint32_t room = c->requests_capacity != 0 ? c->requests_capacity * 2 : 16;
        amount *bigger = ARENA_ARRAY(c->arena, amount, room * n);
        if (c->count != 0)
            memcpy(bigger, c->requests, c->count * n * sizeof(amount));
        c->requests = bigger;
        c->requests_capacity = room;
    }
    return c->requests + c->count * n;
}

/* Two shapes that ask the same (a list in another order, say) become one class. */
static uint32_t classes_new(struct classes *c, const struct pod *p, enum needed_rule needs)
{
    struct pod_class k = {.needs = needs, .needs_preferred = pod_needs_preferred(p),
                          .daemon = pod_is_daemon(p), .example = p};
    uint32_t attempts = c->attempt_count;
    classes_state(c, p, &k);
    amount *vector = classes_new_vector(c);
    classes_add_vector(c, vector, p->requests);
    vector[3] = amount_add(vector[3], 1);

    struct words w;
    words_init(&w, c->arena);
    words_put(&w, (uint32_t)k.needs << 16 | (uint32_t)k.needs_preferred << 8 | k.daemon);
    for (uint32_t i = attempts; i < c->attempt_count; i++)
        words_put(&w, c->attempts[i].signature);
    for (uint32_t i = 0; i < c->column_count; i++)
        words_put64(&w, (uint64_t)vector[i]);
    k.invalid = pod_invalid(c, p);
    words_put(&w, k.invalid.ptr != NULL);
    bool is_new;
    uint32_t id = intern_put(&c->merged, &w, &is_new);
    if (is_new) {
        ARENA_PUSH(c->arena, c->items, c->count, c->capacity, k);
    } else {
        memset(vector, 0, c->column_count * sizeof(amount));
        c->attempt_count = attempts;
    }
    return id;
}

static enum needed_rule classes_shape(const struct classes *c, const struct pod *p,
                                      struct shape *s, struct arena *scratch)
{
    words_init(&s->words, scratch);
    enum needed_rule needs = pod_needs(c, p);
    words_put(&s->words, (uint32_t)needs << 16 | (uint32_t)pod_needs_preferred(p) << 8 |
                             pod_is_daemon(p));
    shape_write(s, p);
    return needs;
}

uint32_t classes_put(struct classes *c, const struct pod *p)
{
    struct shape s = {.texts = NULL};
    enum needed_rule needs = classes_shape(c, p, &s, c->arena);
    bool is_new;
    uint32_t shape = intern_put(&c->shapes, &s.words, &is_new);
    if (is_new) {
        uint32_t id = classes_new(c, p, needs), count = shape;
        ARENA_PUSH(c->arena, c->class_of_shape, count, c->shape_capacity, id);
    }
    uint32_t id = c->class_of_shape[shape];
    c->items[id].pods++;
    return id;
}

int32_t classes_find(const struct classes *c, const struct pod *p)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    struct shape s = {.texts = NULL};
    classes_shape(c, p, &s, &scratch);
    int32_t shape = intern_find(&c->shapes, &s.words);
    arena_release(&scratch);
    return shape < 0 ? -1 : (int32_t)c->class_of_shape[shape];
}

static bool any_address(const struct host_port *p)
{
    return p->ip == SYM_NONE || p->ip == SYM_EMPTY || p->ip == SYM_ANY_IPV4 || p->ip == SYM_ANY_IPV6;
}

static sym protocol_of(const struct host_port *p)
{
    return p->protocol == SYM_NONE || p->protocol == SYM_EMPTY ? (sym)SYM_TCP : p->protocol;
}

bool ports_conflict(struct host_ports a, struct host_ports b)
{
    for (uint32_t i = 0; i < a.count; i++)
        for (uint32_t k = 0; k < b.count; k++) {
            const struct host_port *x = &a.items[i], *y = &b.items[k];
            if (x->port == y->port && protocol_of(x) == protocol_of(y) &&
                (any_address(x) || any_address(y) || x->ip == y->ip))
                return true;
        }
    return false;
}
