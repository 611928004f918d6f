/* From what pods ask for to groups, each kept once. */
#include "planner/pods/classes.h"
#include "planner/pods/shape.h"

#include <stdlib.h>

/* --- label keys that selectors ask for --- */

static void see(struct topology *t, sym key)
{
    if (key < t->visible_limit)
        t->visible[key] = true;
}

static void see_selector(struct topology *t, const struct label_selector *s)
{
    t->any = true;
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        see(t, s->match_labels.items[i].key);
    for (uint32_t i = 0; i < s->match_expressions.count; i++)
        see(t, s->match_expressions.items[i].key);
}

static void see_keys(struct topology *t, struct syms keys)
{
    for (uint32_t i = 0; i < keys.count; i++)
        see(t, keys.items[i]);
}

static void see_term(struct topology *t, const struct pod_term *term)
{
    see_selector(t, &term->selector);
    see_keys(t, term->match_label_keys);
    see_keys(t, term->mismatch_label_keys);
}

static void see_pod(struct topology *t, const struct pod *p, struct spreads spreads)
{
    for (uint32_t i = 0; i < spreads.count; i++) {
        see_selector(t, &spreads.items[i].selector);
        see_keys(t, spreads.items[i].match_label_keys);
    }
    const struct affinity *a = p->affinity;
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->required_pod.count; i++)
        see_term(t, &a->required_pod.items[i]);
    for (uint32_t i = 0; i < a->required_anti.count; i++)
        see_term(t, &a->required_anti.items[i]);
    for (uint32_t i = 0; i < a->preferred_pod.count; i++)
        see_term(t, &a->preferred_pod.items[i].term);
    for (uint32_t i = 0; i < a->preferred_anti.count; i++)
        see_term(t, &a->preferred_anti.items[i].term);
}

static uint32_t put_key(struct topology *t, sym key)
{
    struct topology_key k = {.key = requirement_key(t->syms, key)};
    struct words w;
    bool is_new;
    words_init(&w, t->arena);
    words_put(&w, k.key);
    uint32_t id = intern_put(&t->key_ids, &w, &is_new);
    if (is_new)
        ARENA_PUSH(t->arena, t->keys, t->key_count, t->key_capacity, k);
    return id;
}

void topology_init(struct topology *t, struct arena *a, struct symtab *syms,
                   const struct world_input *in, struct default_spread *spread)
{
    *t = (struct topology){.arena = a, .syms = syms};
    intern_init(&t->watch_ids, a);
    intern_init(&t->filter_ids, a);
    intern_init(&t->group_ids, a);
    intern_init(&t->key_ids, a);
    pairs_init(&t->hosts, a);
    put_key(t, SYM_HOSTNAME); /* key 0 */
    t->visible_limit = symtab_limit(syms);
    t->visible = ARENA_ARRAY(a, bool, t->visible_limit);
    for (size_t i = 0; i < in->pod_count; i++) {
        struct spreads spreads = default_spread_of(spread, in->pods[i]);
        if (in->pods[i]->affinity != NULL || spreads.count != 0)
            see_pod(t, in->pods[i], spreads);
    }
    if (t->any)
        namespaces_init(&t->namespaces, a, in);
}

bool topology_rules(const struct pod *p)
{
    const struct affinity *a = p->affinity;
    return p->spreads.count != 0 ||
           (a != NULL && (a->required_pod.count | a->required_anti.count |
                          a->preferred_pod.count | a->preferred_anti.count) != 0);
}

bool topology_sees(const struct topology *t, sym label_key)
{
    return label_key < t->visible_limit && t->visible[label_key];
}

/* --- watches --- */

static void sort_labels(struct sym_pair *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) /* a handful */
        for (uint32_t k = i; k > 0 && items[k].key < items[k - 1].key; k--) {
            struct sym_pair swap = items[k];
            items[k] = items[k - 1];
            items[k - 1] = swap;
        }
}

/* The selector with the pod's own values of `same` and against those of `other` (matchLabelKeys,
 * mismatchLabelKeys). The API server writes them in as well; twice does no harm. */
static struct label_selector merged_selector(struct topology *t, const struct pod *p,
                                             const struct label_selector *s, struct syms same,
                                             struct syms other)
{
    struct label_selector out = {.match_expressions = s->match_expressions};
    uint32_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        ARENA_PUSH(t->arena, out.match_labels.items, count, capacity, s->match_labels.items[i]);
    for (uint32_t i = 0; i < same.count; i++) {
        struct sym_pair own = {same.items[i], sym_pairs_get(p->meta.labels, same.items[i])};
        bool known = sym_pairs_get((struct sym_pairs){out.match_labels.items, count}, own.key) ==
                     own.value;
        if (own.value != SYM_NONE && !known)
            ARENA_PUSH(t->arena, out.match_labels.items, count, capacity, own);
    }
    out.match_labels.count = count;
    sort_labels(out.match_labels.items, count);

    struct expression *items = NULL;
    uint32_t expressions = 0, room = 0;
    for (uint32_t i = 0; other.count != 0 && i < s->match_expressions.count; i++)
        ARENA_PUSH(t->arena, items, expressions, room, s->match_expressions.items[i]);
    for (uint32_t i = 0; i < other.count; i++) {
        sym *value = ARENA_NEW(t->arena, sym);
        *value = sym_pairs_get(p->meta.labels, other.items[i]);
        struct expression e = {.key = other.items[i], .op = OP_NOT_IN, .values = {value, 1}};
        if (*value != SYM_NONE)
            ARENA_PUSH(t->arena, items, expressions, room, e);
    }
    if (other.count != 0)
        out.match_expressions = (struct expressions){items, expressions};
    return out;
}

static uint32_t put_watch(struct topology *t, const struct topology_watch *watch)
{
    struct shape s = {.texts = NULL};
    words_init(&s.words, t->arena);
    words_put(&s.words, watch->nobody);
    words_put(&s.words, watch->volume);
    words_put(&s.words, watch->namespaces.count);
    for (uint32_t i = 0; i < watch->namespaces.count; i++)
        words_put(&s.words, watch->namespaces.items[i]);
    shape_labels(&s, watch->selector.match_labels);
    shape_expressions(&s, watch->selector.match_expressions);
    for (uint32_t i = 0; i < watch->part_count; i++) {
        words_put(&s.words, watch->parts[i].watch);
        words_put(&s.words, watch->parts[i].key);
    }
    bool is_new;
    uint32_t id = intern_put(&t->watch_ids, &s.words, &is_new);
    if (is_new)
        ARENA_PUSH(t->arena, t->watches, t->watch_count, t->watch_capacity, *watch);
    return id;
}

static struct syms own_namespace(struct topology *t, const struct pod *p)
{
    sym *ns = ARENA_NEW(t->arena, sym);
    *ns = sym_intern(t->syms, p->meta.ns);
    return (struct syms){ns, 1};
}

static bool uses_volume(const struct pod_class *k, uint32_t volume)
{
    for (uint32_t i = 0; i < k->unbound_count; i++)
        if (k->unbound[i] == volume)
            return true;
    return false;
}

bool topology_watched(const struct topology *t, uint32_t watch_id, const struct pod_class *k)
{
    const struct topology_watch *watch = &t->watches[watch_id];
    for (uint32_t i = 0; i < watch->part_count; i++)
        if (!topology_watched(t, watch->parts[i].watch, k))
            return false;
    if (watch->volume != 0)
        return uses_volume(k, watch->volume - 1);
    if (watch->nobody || !syms_has(watch->namespaces, k->ns))
        return false;
    return label_selector_matches(&watch->selector, k->labels);
}

/* --- groups --- */

static uint32_t put_group(struct topology *t, const struct topology_group *g)
{
    struct words w;
    words_init(&w, t->arena);
    words_put(&w, (uint32_t)g->kind << 1 | g->inverse);
    words_put(&w, g->key);
    words_put(&w, g->watch);
    words_put(&w, g->filter);
    words_put(&w, (uint32_t)g->max_skew);
    words_put(&w, (uint32_t)g->min_domains);
    bool is_new;
    uint32_t id = intern_put(&t->group_ids, &w, &is_new);
    if (is_new)
        ARENA_PUSH(t->arena, t->groups, t->group_count, t->group_capacity, *g);
    return id;
}

static struct topology_part put_part(struct topology *t, const struct pod *p,
                                     const struct pod_term *term)
{
    struct topology_watch watch = {.nobody = !term->has_selector};
    watch.namespaces = namespaces_of_term(&t->namespaces, t->arena, term,
                                          sym_intern(t->syms, p->meta.ns));
    watch.selector = merged_selector(t, p, &term->selector, term->match_label_keys,
                                     term->mismatch_label_keys);
    uint32_t key = put_key(t, term->topology_key);
    return (struct topology_part){put_watch(t, &watch), key};
}

uint32_t topology_put_term(struct topology *t, const struct pod *p, const struct pod_term *term,
                           enum topology_kind kind, bool inverse)
{
    struct topology_part part = put_part(t, p, term);
    struct topology_group g = {.kind = kind, .inverse = inverse,
                               .optional = kind == TOPOLOGY_ANTI_AFFINITY,
                               .key = part.key, .watch = part.watch};
    return put_group(t, &g);
}

static int part_order(const void *a, const void *b)
{
    const struct topology_part *x = a, *y = b;
    if (x->watch != y->watch)
        return x->watch < y->watch ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Each part once, in order: so that the same terms make the same watch. */
static uint32_t put_all_parts(struct topology *t, const struct topology_part *parts, uint32_t count)
{
    struct topology_part *sorted = ARENA_ARRAY(t->arena, struct topology_part, count);
    uint32_t n = 0;
    memcpy(sorted, parts, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), part_order);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || part_order(&sorted[i], &sorted[i - 1]) != 0)
            sorted[n++] = sorted[i];
    struct topology_watch watch = t->watches[sorted[0].watch];
    watch.parts = sorted;
    watch.part_count = n;
    return n == 1 ? sorted[0].watch : put_watch(t, &watch);
}

void topology_put_affinity(struct topology *t, const struct pod *p, const struct pod_terms *terms,
                           uint32_t *groups_out)
{
    if (terms->count == 1)
        groups_out[0] = topology_put_term(t, p, &terms->items[0], TOPOLOGY_AFFINITY, false);
    if (terms->count <= 1)
        return;
    struct topology_part *parts = ARENA_ARRAY(t->arena, struct topology_part, terms->count);
    uint32_t *with = ARENA_ARRAY(t->arena, uint32_t, terms->count);
    for (uint32_t i = 0; i < terms->count; i++)
        parts[i] = put_part(t, p, &terms->items[i]);
    uint32_t watch = put_all_parts(t, parts, terms->count);
    for (uint32_t i = 0; i < terms->count; i++) {
        struct topology_group g = {.kind = TOPOLOGY_AFFINITY, .key = parts[i].key, .watch = watch};
        with[i] = groups_out[i] = put_group(t, &g);
    }
    for (uint32_t i = 0; t->watches[watch].part_count != 0 && i < terms->count; i++) {
        t->groups[with[i]].with = with;
        t->groups[with[i]].with_count = terms->count;
    }
}

uint32_t topology_put_volume(struct topology *t, uint32_t volume)
{
    struct topology_watch watch = {.volume = volume + 1};
    struct topology_group g = {.kind = TOPOLOGY_AFFINITY, .optional = true,
                               .key = put_key(t, SYM_ZONE), .watch = put_watch(t, &watch)};
    return put_group(t, &g);
}

void topology_harden(struct topology *t, const uint32_t *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        t->groups[groups[i]].hard = true;
}

static struct requirements filter_term(struct topology *t, const struct pod *p, struct expressions term)
{
    struct requirements all = requirements_of_labels(t->arena, t->syms, p->node_selector);
    struct requirements r = requirements_of(t->arena, t->syms, term);
    requirements_add_all(t->arena, &all, &r, t->syms);
    return all;
}

/* Without terms that are empty: no node meets them. */
static const struct requirements *filter_terms(struct topology *t, const struct pod *p,
                                               uint32_t *count_out)
{
    bool required = p->affinity != NULL && p->affinity->has_required_node;
    struct node_terms terms = required ? p->affinity->required_node : (struct node_terms){0};
    struct requirements *items = ARENA_ARRAY(t->arena, struct requirements, terms.count + 1);
    *count_out = 0;
    if (terms.count == 0)
        items[(*count_out)++] = filter_term(t, p, (struct expressions){0});
    for (uint32_t i = 0; i < terms.count; i++)
        if (terms.items[i].match_expressions.count != 0)
            items[(*count_out)++] = filter_term(t, p, terms.items[i].match_expressions);
    return items;
}

static uint32_t put_filter(struct topology *t, const struct pod *p, const struct spread *x)
{
    struct shape s = {.texts = NULL};
    struct arena scratch; /* asked anew for each way of giving up: what it takes must not stay */
    arena_init(&scratch, 0);
    words_init(&s.words, &scratch);
    words_put(&s.words, (uint32_t)x->ignore_affinity << 1 | x->honor_taints);
    if (!x->ignore_affinity)
        shape_node_selector(&s, p);
    if (x->honor_taints)
        shape_tolerations(&s, p->tolerations);
    bool is_new;
    uint32_t id = intern_put(&t->filter_ids, &s.words, &is_new);
    arena_release(&scratch);
    if (!is_new)
        return id;
    struct topology_filter f = {.by_affinity = !x->ignore_affinity, .by_taints = x->honor_taints,
                                .tolerations = p->tolerations};
    if (f.by_affinity)
        f.terms = filter_terms(t, p, &f.term_count);
    ARENA_PUSH(t->arena, t->filters, t->filter_count, t->filter_capacity, f);
    return id;
}

uint32_t topology_put_spread(struct topology *t, const struct pod *p, const struct spread *s)
{
    struct topology_watch watch = {.nobody = !s->has_selector, .namespaces = own_namespace(t, p)};
    watch.selector =
        merged_selector(t, p, &s->selector, s->match_label_keys, (struct syms){0});
    struct topology_group g = {.kind = TOPOLOGY_SPREAD,
                               .key = put_key(t, s->topology_key),
                               .watch = put_watch(t, &watch),
                               .filter = put_filter(t, p, s),
                               .max_skew = s->max_skew,
                               .min_domains = s->min_domains};
    return put_group(t, &g);
}
