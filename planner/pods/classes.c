/* Only a shape never seen before is looked at in detail. */
#include "planner/pods/classes.h"

#include "base/decode.h"
#include "planner/pods/shape.h"

#include <stdlib.h>

void classes_init(struct classes *c, const struct classes *init)
{
    *c = *init;
    intern_init(&c->shapes, c->arena);
    intern_init(&c->merged, c->arena);
    intern_init(&c->stated, c->arena);
    intern_init(&c->set_ids, c->arena);
}

#define COPY(a_, items_, count_, capacity_)                                                        \
    do {                                                                                           \
        void *copy_ = arena_array((a_), (size_t)(count_) + 1, sizeof(*(items_)));                  \
        if ((count_) != 0)                                                                         \
            memcpy(copy_, (items_), (count_) * sizeof(*(items_)));                                 \
        (items_) = copy_;                                                                          \
        (capacity_) = (count_) + 1;                                                                \
    } while (0)

void classes_copy(struct classes *c, struct arena *a)
{
    amount *requests = ARENA_ARRAY(a, amount, ((size_t)c->count + 1) * c->column_count);
    if (c->count != 0)
        memcpy(requests, c->requests, (size_t)c->count * c->column_count * sizeof(amount));
    c->requests = requests;
    c->requests_capacity = c->count + 1;
    COPY(a, c->class_of_shape, c->shapes.count, c->shape_capacity);
    COPY(a, c->items, c->count, c->capacity);
    COPY(a, c->attempts, c->attempt_count, c->attempt_capacity);
    COPY(a, c->signatures, c->signature_count, c->signature_capacity);
    COPY(a, c->sets, c->set_count, c->set_capacity);
    intern_copy(&c->shapes, a);
    intern_copy(&c->merged, a);
    intern_copy(&c->stated, a);
    intern_copy(&c->set_ids, a);
    c->arena = a;
}

#undef COPY

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
static const struct span CLASS_SHUNS_POOLS =
    SPAN_INIT("it asks not to run on a node of any NodePool");

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
            return CLASS_SHUNS_POOLS;
    }
    return (struct span){0};
}

bool class_shuns_pools(const struct pod_class *k)
{
    return span_eq(k->invalid, CLASS_SHUNS_POOLS);
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

static int32_t driver_column(const struct classes *c, sym driver)
{
    for (uint32_t i = c->resource_count; i < c->column_count; i++)
        if (c->columns[i] == driver)
            return (int32_t)i;
    return -1;
}

static void add_volumes(struct classes *c, const struct volume_need *need, amount *vector,
                        struct pod_class *k)
{
    struct shared_volume *shared = NULL;
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < need->use_count; i++) {
        const struct volume_use *u = &need->uses[i];
        int32_t column = driver_column(c, u->driver);
        if (column < 0)
            continue;
        vector[column] = (amount)u->own + u->shared_count;
        for (uint32_t n = 0; n < u->shared_count; n++) {
            struct shared_volume x = {u->shared[n], (uint32_t)column};
            ARENA_PUSH(c->arena, shared, k->shared_count, capacity, x);
        }
    }
    k->shared = shared;
}

static void shape_text(struct shape *s, struct span text)
{
    words_put64(&s->words, text.ptr != NULL ? span_hash(text) : 0);
}

/* Volumes are the pod's own; what they ask may be what others ask. */
static void shape_volumes(struct shape *s, const struct volume_need *need)
{
    words_put(&s->words, need->alternative_count);
    for (uint32_t i = 0; i < need->alternative_count; i++)
        requirements_words(&s->words, &need->alternatives[i]);
    words_put(&s->words, need->use_count);
    for (uint32_t i = 0; i < need->use_count; i++) {
        words_put(&s->words, need->uses[i].driver);
        words_put(&s->words, need->uses[i].own);
        words_put(&s->words, need->uses[i].shared_count);
        for (uint32_t n = 0; n < need->uses[i].shared_count; n++)
            words_put(&s->words, need->uses[i].shared[n]);
    }
    words_put(&s->words, need->unbound_count);
    for (uint32_t i = 0; i < need->unbound_count; i++)
        words_put(&s->words, need->unbound[i]);
    shape_text(s, need->invalid);
    shape_text(s, need->error);
}

struct splitting { /* what a pod's owner adds to its shape */
    enum split_side side;
    uint32_t owner, surplus, keeps; /* see struct pod_class */
};

static void shape_split(struct shape *s, const struct splitting *x)
{
    words_put(&s->words, x->side);
    if (x->side == SPLIT_NONE)
        return;
    words_put(&s->words, x->owner);
    words_put(&s->words, x->surplus);
}

/* A resource without a column is one that nothing has. The first by name; absent: it asks for none. */
static struct span unoffered_error(const struct classes *c, struct resources requests)
{
    struct span first = {0};
    for (uint32_t i = 0; i < requests.count; i++) {
        struct span name = sym_text(c->syms, requests.items[i].name);
        if (requests.items[i].name != SYM_NODES && classes_column(c, requests.items[i].name) < 0 &&
            (first.ptr == NULL || span_cmp(name, first) < 0))
            first = name;
    }
    if (first.ptr == NULL)
        return first;
    return arena_printf(c->arena, "asks for %.*s, which no node and no instance type has", SPAN_ARG(first));
}

/* Two shapes that ask the same (a list in another order, say) become one class. */
static uint32_t classes_new(struct classes *c, const struct pod *p, const struct volume_need *need,
                            const struct splitting *split, bool beyond)
{
    struct pod_class k = {.beyond = beyond, .side = split->side, .split_owner = split->owner,
                          .surplus = split->surplus, .keeps = split->keeps,
                          .devices = p->resource_claims, .daemon = pod_is_daemon(p), .example = p,
                          .error = need->error, .unbound = need->unbound,
                          .unbound_count = need->unbound_count};
    if (k.error.ptr == NULL)
        k.error = unoffered_error(c, p->requests);
    uint32_t attempts = c->attempt_count;
    classes_state(c, p, need, &k);
    amount *vector = classes_new_vector(c);
    classes_add_vector(c, vector, p->requests);
    vector[3] = amount_add(vector[3], 1);
    add_volumes(c, need, vector, &k);
    k.invalid = p->meta.excess != SYM_NONE ? sym_text(c->syms, p->meta.excess) : pod_invalid(c, p);
    if (k.invalid.ptr == NULL)
        k.invalid = need->invalid;
    if (beyond)
        k.invalid = SPAN("its node affinity, node selector, tolerations, host ports, spread constraints and "
                         "pod affinity say together more than is planned for; state fewer");
    if (c->topology->any)
        add_labels(c, p, &k);

    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    words_put(&s.words, (uint32_t)k.beyond << 3 | (uint32_t)k.devices << 2 | (uint32_t)k.daemon << 1 |
                             (k.invalid.ptr != NULL));
    words_put(&s.words, p->meta.excess);
    shape_text(&s, k.error);
    for (uint32_t i = attempts; i < c->attempt_count; i++) {
        words_put(&s.words, c->attempts[i].signature);
        words_put(&s.words, c->attempts[i].given_up);
        words_put(&s.words, c->attempts[i].group_count);
        for (uint32_t g = 0; g < c->attempts[i].group_count; g++)
            words_put(&s.words, c->attempts[i].groups[g]);
    }
    shape_volumes(&s, need);
    shape_split(&s, split);
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

/* A pod is stated anew for each way to relax it, so that what it asks for multiplies: terms of node affinity by
 * all the rest. So many statements take some tens of milliseconds and megabytes; pods that people write have
 * hundreds. */
enum { MOST_STATED = 1 << 18 };

static bool is_beyond(const struct pod *p)
{
    const struct affinity *a = p->affinity;
    uint64_t ways = ATTEMPT_STEPS + 2, parts = p->node_selector.count + p->tolerations.count;
    uint64_t own = 0;
    parts += p->ports.count + p->spreads.count;
    if (a != NULL) {
        ways += a->required_node.count * UINT64_C(3);
        parts += a->required_pod.count + a->required_anti.count + a->preferred_pod.count +
                 a->preferred_anti.count;
        for (uint32_t i = 0; i < a->required_node.count; i++)
            own += a->required_node.items[i].match_expressions.count;
    }
    return ways * parts + 3 * own > MOST_STATED;
}

static const struct pod *only_requests(const struct pod *p, struct pod *room)
{
    meta_copy_object(room, p, sizeof(*room));
    room->affinity = NULL;
    room->node_selector.count = room->tolerations.count = 0;
    room->ports.count = room->spreads.count = 0;
    return room;
}

/* How a pod is planned: with the default spread constraints if it has none of its own. */
static const struct pod *stated_pod(const struct classes *c, const struct pod *p, struct pod *room)
{
    if (is_beyond(p))
        return only_requests(p, room);
    struct spreads spreads = default_spread_of(c->spread, p);
    if (spreads.count == p->spreads.count)
        return p;
    meta_copy_object(room, p, sizeof(*room));
    room->spreads = spreads;
    return room;
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

static uint32_t pod_words(const struct pod *p)
{
    return (uint32_t)is_beyond(p) << 2 | (uint32_t)p->resource_claims << 1 | pod_is_daemon(p);
}

static uint32_t put(struct classes *c, const struct pod *p, const struct splitting *split)
{
    struct pod room;
    const struct pod *stated = stated_pod(c, p, &room);
    struct volume_need need = volumes_of(c->volumes, p);
    struct shape s = {.texts = NULL};
    words_init(&s.words, c->arena);
    words_put(&s.words, pod_words(p));
    words_put(&s.words, p->meta.excess);
    shape_pod(&s, stated);
    shape_volumes(&s, &need);
    shape_split(&s, split);
    if (c->topology->any)
        shape_seen(c, &s, p, sym_intern(c->syms, p->meta.ns));
    bool is_new;
    uint32_t shape = intern_put(&c->shapes, &s.words, &is_new);
    if (is_new) {
        const struct pod *kept = schema_copy(c->arena, &pod_schema, stated);
        uint32_t id = classes_new(c, kept, &need, split, is_beyond(p)), count = shape;
        ARENA_PUSH(c->arena, c->class_of_shape, count, c->shape_capacity, id);
    }
    return c->class_of_shape[shape];
}

/* Who stands on the side of which there is too much comes back on the other. */
static struct splitting splitting_of(const struct classes *c, const struct split_seat *seat)
{
    struct splitting x = {0};
    if (seat == NULL || seat->asks == SPLIT_NONE)
        return x;
    x.side = seat->asks;
    x.owner = seat->owner;
    if (seat->asks != seat->side)
        x.surplus = c->split->owners[seat->owner].over;
    return x;
}

uint32_t classes_put(struct classes *c, const struct pod *p)
{
    const struct split_seat *seat = split_find(c->split, p);
    struct splitting split = splitting_of(c, seat);
    if (split.surplus != 0)
        split.keeps = put(c, p, &(struct splitting){.side = seat->side, .owner = seat->owner});
    return put(c, p, &split);
}

static int32_t find(const struct classes *c, struct arena *scratch, const struct pod *p,
                    const struct volume_need *need)
{
    struct pod room;
    struct shape s = {.texts = NULL};
    words_init(&s.words, scratch);
    words_put(&s.words, pod_words(p));
    words_put(&s.words, p->meta.excess);
    shape_pod(&s, is_beyond(p) ? only_requests(p, &room) : p);
    shape_volumes(&s, need);
    struct splitting split = splitting_of(c, split_find(c->split, p));
    shape_split(&s, &split);
    if (c->topology->any)
        shape_seen(c, &s, p, sym_find(c->syms, p->meta.ns));
    int32_t shape = intern_find(&c->shapes, &s.words);
    return shape < 0 ? -1 : (int32_t)c->class_of_shape[shape];
}

int32_t classes_recall(const struct classes *c, const struct pod *p)
{
    struct volume_need need = {0};
    struct arena scratch;
    if (c->spread->rule_count != 0 && p->spreads.count == 0)
        return -1; /* what spread it gets is looked up while the world is built */
    arena_init(&scratch, 0);
    bool known = p->volumes.count == 0 || volumes_recall(c->volumes, &scratch, p, &need);
    int32_t class_id = known ? find(c, &scratch, p, &need) : -1;
    arena_release(&scratch);
    return class_id;
}

/* Not of one with volumes, for which the objects that they lead to would have to be asked. */
int32_t classes_find(const struct classes *c, const struct pod *p)
{
    return p->volumes.count == 0 ? classes_recall(c, p) : -1;
}

static bool any_address(const struct host_port *p)
{
    return p->ip == SYM_NONE || p->ip == SYM_EMPTY || p->ip == SYM_ANY_IPV4 || p->ip == SYM_ANY_IPV6;
}

static sym protocol_of(const struct host_port *p)
{
    return p->protocol == SYM_NONE || p->protocol == SYM_EMPTY ? (sym)SYM_TCP : p->protocol;
}

static sym address_of(const struct host_port *p)
{
    return any_address(p) ? SYM_NONE : p->ip;
}

/* Where every address is meant comes first. */
static int port_order(const void *a, const void *b)
{
    const struct host_port *x = a, *y = b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (protocol_of(x) != protocol_of(y))
        return protocol_of(x) < protocol_of(y) ? -1 : 1;
    return (address_of(x) > address_of(y)) - (address_of(x) < address_of(y));
}

struct host_ports ports_sorted(struct arena *a, struct host_ports ports)
{
    struct host_ports out = {ARENA_ARRAY(a, struct host_port, ports.count), ports.count};
    if (ports.count == 0)
        return out;
    memcpy(out.items, ports.items, ports.count * sizeof(*out.items));
    qsort(out.items, out.count, sizeof(*out.items), port_order);
    return out;
}

/* The first that is not before it. */
static const struct host_port *port_at(struct host_ports sorted, const struct host_port *p)
{
    uint32_t low = 0, high = sorted.count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (port_order(&sorted.items[mid], p) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return sorted.items + low;
}

static bool same_port(const struct host_port *x, const struct host_port *end, const struct host_port *y)
{
    return x != end && x->port == y->port && protocol_of(x) == protocol_of(y);
}

bool ports_conflict(struct host_ports sorted, struct host_ports others)
{
    const struct host_port *end = sorted.items + sorted.count;
    for (uint32_t i = 0; sorted.count != 0 && i < others.count; i++) {
        const struct host_port *y = &others.items[i];
        struct host_port any = {.port = y->port, .protocol = y->protocol};
        const struct host_port *x = port_at(sorted, &any);
        if (!same_port(x, end, y))
            continue;
        if (any_address(x) || any_address(y))
            return true;
        x = port_at(sorted, y);
        if (same_port(x, end, y) && x->ip == y->ip)
            return true;
    }
    return false;
}
