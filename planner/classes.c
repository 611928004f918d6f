/* Only a shape never seen before is looked at in detail. */
#include "planner/classes.h"

#include "planner/shape.h"

void classes_init(struct classes *c, struct arena *a, struct symtab *syms, const sym *columns,
                  uint32_t column_count, const struct label_rules *rules,
                  struct topology *topology)
{
    *c = (struct classes){.arena = a, .syms = syms, .columns = columns,
                          .column_count = column_count, .rules = rules, .topology = topology};
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

/* --- a shape never seen before --- */

const char *rule_text(enum needed_rule r)
{
    static const char *const texts[RULE_COUNT] = {
        [RULE_NONE] = "nothing",
        [RULE_VOLUMES] = "persistent volumes",
        [RULE_DEVICES] = "resource claims (DRA)",
    };
    return texts[r];
}

static enum needed_rule pod_needs(const struct pod *p)
{
    if (p->resource_claims != 0)
        return RULE_DEVICES;
    return p->volumes.count != 0 ? RULE_VOLUMES : RULE_NONE;
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

static void add_labels(struct classes *c, const struct pod *p, struct pod_class *k)
{
    uint32_t capacity = 0;
    k->ns = sym_intern(c->syms, p->meta.ns);
    for (uint32_t i = 0; i < p->meta.labels.count; i++)
        if (topology_sees(c->topology, p->meta.labels.items[i].key))
            ARENA_PUSH(c->arena, k->labels.items, k->labels.count, capacity,
                       p->meta.labels.items[i]);
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
static uint32_t classes_new(struct classes *c, const struct pod *p)
{
    struct pod_class k = {.needs = pod_needs(p), .daemon = pod_is_daemon(p), .example = p};
    uint32_t attempts = c->attempt_count;
    classes_state(c, p, &k);
    amount *vector = classes_new_vector(c);
    classes_add_vector(c, vector, p->requests);
    vector[3] = amount_add(vector[3], 1);
    k.invalid = pod_invalid(c, p);
    if (c->topology->any)
        add_labels(c, p, &k);

    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    words_put(&s.words, (uint32_t)k.needs << 2 | (uint32_t)k.daemon << 1 | (k.invalid.ptr != NULL));
    for (uint32_t i = attempts; i < c->attempt_count; i++) {
        words_put(&s.words, c->attempts[i].signature);
        words_put(&s.words, c->attempts[i].group_count);
        for (uint32_t g = 0; g < c->attempts[i].group_count; g++)
            words_put(&s.words, c->attempts[i].groups[g]);
    }
    words_put(&s.words, k.ns);
    shape_labels(&s, k.labels);
    for (uint32_t i = 0; i < c->column_count; i++)
        words_put64(&s.words, (uint64_t)vector[i]);
    bool is_new;
    uint32_t id = intern_put(&c->merged, &s.words, &is_new);
    if (is_new) {
        ARENA_PUSH(c->arena, c->items, c->count, c->capacity, k);
    } else {
        memset(vector, 0, c->column_count * sizeof(amount));
        c->attempt_count = attempts;
    }
    return id;
}

/* What rules that look at other pods can see of this one. */
static void shape_seen(const struct classes *c, struct shape *s, const struct pod *p, sym ns)
{
    words_put(&s->words, ns);
    for (uint32_t i = 0; i < p->meta.labels.count; i++)
        if (topology_sees(c->topology, p->meta.labels.items[i].key)) {
            words_put(&s->words, p->meta.labels.items[i].key);
            words_put(&s->words, p->meta.labels.items[i].value);
        }
}

uint32_t classes_put(struct classes *c, const struct pod *p)
{
    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    words_put(&s.words, (uint32_t)pod_needs(p) << 1 | pod_is_daemon(p));
    shape_pod(&s, p);
    if (c->topology->any)
        shape_seen(c, &s, p, sym_intern(c->syms, p->meta.ns));
    bool is_new;
    uint32_t shape = intern_put(&c->shapes, &s.words, &is_new);
    if (is_new) {
        uint32_t id = classes_new(c, p), count = shape;
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
    words_init(&s.words, &scratch);
    words_put(&s.words, (uint32_t)pod_needs(p) << 1 | pod_is_daemon(p));
    shape_pod(&s, p);
    if (c->topology->any)
        shape_seen(c, &s, p, sym_find(c->syms, p->meta.ns));
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
