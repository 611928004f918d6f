#include "planner/pods/default_spread.h"

#include <stdlib.h>

/* --- what there is --- */

static int by_identity(const void *a, const void *b)
{
    const struct service *x = *(const struct service *const *)a;
    const struct service *y = *(const struct service *const *)b;
    int order = span_cmp(x->meta.ns, y->meta.ns);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

/* Without those that select nothing (no selector) or add nothing (an empty one). */
static void take_services(struct default_spread *d, const struct world_input *in)
{
    d->services = ARENA_ARRAY(d->arena, const struct service *, in->service_count);
    for (size_t i = 0; i < in->service_count; i++)
        if (in->services[i]->selector.count != 0)
            d->services[d->service_count++] = in->services[i];
    if (d->service_count > 1)
        qsort(d->services, d->service_count, sizeof(*d->services), by_identity);
}

void default_spread_init(struct default_spread *d, struct arena *a, const struct world_input *in,
                         const struct default_spread_config *config)
{
    *d = (struct default_spread){.arena = a, .syms = in->syms};
    if (config == NULL || config->count == 0)
        return;
    d->rules = config->items;
    d->rule_count = config->count;
    sym *keys = ARENA_ARRAY(a, sym, d->rule_count);
    for (uint32_t i = 0; i < d->rule_count; i++)
        keys[i] = sym_intern(d->syms, d->rules[i].topology_key);
    d->keys = keys;
    object_index_init(&d->replica_sets, a, (const void *const *)in->replica_sets,
                      in->replica_set_count);
    object_index_init(&d->stateful_sets, a, (const void *const *)in->stateful_sets,
                      in->stateful_set_count);
    object_index_init(&d->replication_controllers, a,
                      (const void *const *)in->replication_controllers,
                      in->replication_controller_count);
    take_services(d, in);
    intern_init(&d->shapes, a);
}

/* --- what a pod's selector hangs on --- */

struct sources {
    uint32_t first, end; /* Services of the namespace */
    const struct controller *replication; /* at most one of the two; NULL: none, or not in the input */
    const struct controller *set;         /* ReplicaSet or StatefulSet */
};

static const struct controller *find(struct object_index *x, const struct pod *p,
                                     const struct owner *o)
{
    return object_index_at(x, object_index_find(x, p->meta.ns, o->name));
}

/* The first Service whose namespace is not before `ns`. */
static uint32_t first_service(const struct default_spread *d, struct span ns)
{
    uint32_t low = 0, high = d->service_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (span_cmp(d->services[middle]->meta.ns, ns) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sources sources_of(struct default_spread *d, const struct pod *p)
{
    struct sources s = {.first = first_service(d, p->meta.ns)};
    s.end = s.first;
    while (s.end < d->service_count && span_eq(d->services[s.end]->meta.ns, p->meta.ns))
        s.end++;
    const struct owner *o = meta_controller(&p->meta);
    if (o == NULL)
        return s;
    if (o->api_version == SYM_API_V1 && o->kind == SYM_KIND_REPLICATION_CONTROLLER)
        s.replication = find(&d->replication_controllers, p, o);
    else if (o->api_version == SYM_API_APPS_V1 && o->kind == SYM_KIND_REPLICA_SET)
        s.set = find(&d->replica_sets, p, o);
    else if (o->api_version == SYM_API_APPS_V1 && o->kind == SYM_KIND_STATEFUL_SET)
        s.set = find(&d->stateful_sets, p, o);
    return s;
}

static int by_key(const void *a, const void *b)
{
    sym x = ((const struct sym_pair *)a)->key, y = ((const struct sym_pair *)b)->key;
    return (x > y) - (x < y);
}

/* Objects are told apart by where they stand in memory: they live as long as the answers. */
static void shape_words(struct default_spread *d, const struct sources *s, const struct pod *p,
                        struct words *out)
{
    words_put(out, s->first);
    words_put(out, s->end);
    words_put64(out, (uint64_t)(uintptr_t)s->replication);
    words_put64(out, (uint64_t)(uintptr_t)s->set);
    if (s->first == s->end)
        return; /* nobody looks at the labels */
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->meta.labels.count; i++)
        ARENA_PUSH(d->arena, d->sorted, count, d->sorted_capacity, p->meta.labels.items[i]);
    if (count > 1)
        qsort(d->sorted, count, sizeof(*d->sorted), by_key);
    for (uint32_t i = 0; i < count; i++) {
        words_put(out, d->sorted[i].key);
        words_put(out, d->sorted[i].value);
    }
}

/* --- the deduction --- */

struct pair_list {
    struct sym_pair *items;
    uint32_t count, capacity;
};

static void merge(struct arena *a, struct pair_list *to, struct sym_pairs from)
{
    for (uint32_t i = 0; i < from.count; i++) {
        uint32_t at = 0;
        while (at < to->count && to->items[at].key != from.items[i].key)
            at++;
        if (at < to->count)
            to->items[at].value = from.items[i].value;
        else
            ARENA_PUSH(a, to->items, to->count, to->capacity, from.items[i]);
    }
}

static bool selects(struct sym_pairs selector, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < selector.count; i++)
        if (sym_pairs_get(labels, selector.items[i].key) != selector.items[i].value)
            return false;
    return true;
}

/* All of a set's selector as expressions: beside a Service's labels, not in their place. */
static struct expressions expressions_of(struct arena *a, const struct label_selector *s)
{
    struct expressions out = {
        ARENA_ARRAY(a, struct expression, s->match_labels.count + s->match_expressions.count), 0};
    for (uint32_t i = 0; i < s->match_labels.count; i++) {
        sym *value = ARENA_NEW(a, sym);
        *value = s->match_labels.items[i].value;
        out.items[out.count++] = (struct expression){
            .key = s->match_labels.items[i].key, .op = OP_IN, .values = {value, 1}};
    }
    for (uint32_t i = 0; i < s->match_expressions.count; i++)
        out.items[out.count++] = s->match_expressions.items[i];
    return out;
}

static struct label_selector selector_of(struct default_spread *d, const struct sources *s,
                                         const struct pod *p)
{
    struct pair_list labels = {0};
    struct label_selector out = {0};
    for (uint32_t i = s->first; i < s->end; i++)
        if (selects(d->services[i]->selector, p->meta.labels))
            merge(d->arena, &labels, d->services[i]->selector);
    if (s->replication != NULL)
        merge(d->arena, &labels, s->replication->selector.match_labels);
    if (labels.count > 1) /* equal selectors look equal */
        qsort(labels.items, labels.count, sizeof(*labels.items), by_key);
    out.match_labels = (struct sym_pairs){labels.items, labels.count};
    if (s->set != NULL)
        out.match_expressions = expressions_of(d->arena, &s->set->selector);
    return out;
}

static struct spreads deduce(struct default_spread *d, const struct sources *s, const struct pod *p)
{
    struct label_selector selector = selector_of(d, s, p);
    if (selector.match_labels.count == 0 && selector.match_expressions.count == 0)
        return (struct spreads){NULL, 0}; /* it would count every pod of the namespace */
    struct spreads out = {ARENA_ARRAY(d->arena, struct spread, d->rule_count), d->rule_count};
    for (uint32_t i = 0; i < d->rule_count; i++) {
        const struct default_constraint *r = &d->rules[i];
        out.items[i] = (struct spread){
            .max_skew = r->max_skew,
            .min_domains = r->min_domains,
            .topology_key = d->keys[i],
            .hard = r->hard,
            .has_selector = true,
            .ignore_affinity = r->ignore_affinity,
            .honor_taints = r->honor_taints,
            .selector = selector,
        };
    }
    return out;
}

struct spreads default_spread_look_up(struct default_spread *d, const struct pod *p)
{
    struct sources s = sources_of(d, p);
    if (s.first == s.end && s.replication == NULL && s.set == NULL)
        return (struct spreads){NULL, 0};
    struct words words;
    bool fresh;
    words_init(&words, d->arena);
    shape_words(d, &s, p, &words);
    uint32_t shape = intern_put(&d->shapes, &words, &fresh);
    if (fresh) {
        uint32_t count = shape;
        struct spreads found = deduce(d, &s, p);
        ARENA_PUSH(d->arena, d->deduced, count, d->capacity, found);
    }
    return d->deduced[shape];
}
