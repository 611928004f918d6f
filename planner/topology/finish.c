/* What follows once every class, option and node is known: which domains there are, which groups
 * matter to which class, and the numbers of bound pods. */
#include "planner/columns.h"

#include <math.h>
#include <stdlib.h>

#include "planner/supply/pool_template.h"
#include "planner/topology/watch_index.h"

/* --- domains --- */

struct domain { /* while they are put in order */
    struct span text;
    sym value;
};

static int domain_order(const void *a, const void *b)
{
    return span_cmp(((const struct domain *)a)->text, ((const struct domain *)b)->text);
}

static void add_domain(struct world *w, struct topology_key *k, sym value, uint32_t *capacity)
{
    if (value >= k->limit) {
        uint32_t limit = symtab_limit(w->syms) > value ? symtab_limit(w->syms) : value + 1;
        uint32_t *bigger = ARENA_ARRAY(w->arena, uint32_t, limit);
        if (k->limit != 0)
            memcpy(bigger, k->index, k->limit * sizeof(uint32_t));
        k->index = bigger;
        k->limit = limit;
    }
    if (k->index[value] != 0)
        return;
    ARENA_PUSH(w->arena, k->domains, k->count, *capacity, value);
    k->index[value] = k->count;
}

static void add_values(struct world *w, struct topology_key *k, const struct requirement *r,
                       uint32_t *capacity)
{
    for (uint32_t v = 0; r != NULL && !r->complement && v < r->count; v++)
        add_domain(w, k, r->values[v], capacity);
}

/* Of a pool that leaves a custom label open without naming values, where its nodes will be if nobody asks
 * for another value. */
static void add_unnamed(struct world *w, struct topology_key *k, const struct requirement *r,
                        uint32_t *capacity)
{
    if (r == NULL || !r->complement || k->given || syms_has(w->rules.well_known, k->key))
        return;
    sym value = pool_label_value(w->arena, w->syms, r);
    if (value != SYM_NONE)
        add_domain(w, k, value, capacity);
}

/* What can be bought: by the pools, by offerings, by types. */
static void add_bought(struct world *w, struct topology_key *k, uint32_t *capacity)
{
    for (uint32_t o = 0; o < w->option_count; o++) {
        const struct requirement *r = requirements_get(&w->options[o].requirements, k->key);
        add_values(w, k, r, capacity);
        add_unnamed(w, k, r, capacity);
    }
    for (uint32_t i = 0; i < w->types.kind_count; i++)
        add_values(w, k, requirements_get(w->types.kinds[i], k->key), capacity);
    for (uint32_t f = 0; f < w->types.facet_count; f++)
        for (uint32_t s = 0; w->types.facets[f].key == k->key && s < w->types.facets[f].count; s++)
            add_values(w, k, w->types.facets[f].sets[s], capacity);
}

static sym row_value(struct world *w, uint32_t row, sym key, bool *open_out)
{
    struct sym_pairs labels = world_row_labels(&w->nodes[row]);
    for (uint32_t i = 0; i < labels.count; i++)
        if (requirement_key(w->syms, labels.items[i].key) == key)
            return labels.items[i].value;
    if (w->nodes[row].stage != NODE_LAUNCHING)
        return SYM_NONE;
    struct requirements r = requirements_of(w->arena, w->syms, w->nodes[row].claim->requirements);
    const struct requirement *asked = requirements_get(&r, key);
    if (asked != NULL && !asked->complement && asked->count == 1)
        return asked->values[0];
    *open_out = asked != NULL;
    return SYM_NONE;
}

static void sort_domains(struct world *w, struct topology_key *k)
{
    struct domain *sorted = ARENA_ARRAY(w->arena, struct domain, k->count);
    for (uint32_t d = 0; d < k->count; d++)
        sorted[d] = (struct domain){sym_text(w->syms, k->domains[d]), k->domains[d]};
    if (k->count != 0)
        qsort(sorted, k->count, sizeof(*sorted), domain_order);
    for (uint32_t d = 0; d < k->count; d++) {
        k->domains[d] = sorted[d].value;
        k->index[sorted[d].value] = d + 1;
    }
    k->words = bits_words(k->count);
}

int32_t topology_domain(const struct topology_key *k, sym value)
{
    return value < k->limit ? (int32_t)k->index[value] - 1 : DOMAIN_NONE;
}

/* The least price of each of a type's domains that are sold at all is one and the same. */
static bool type_is_flat(const struct world *w, const struct topology_key *k, uint32_t type,
                         double *least)
{
    const struct types *y = &w->types;
    uint32_t sold = 0;
    for (uint32_t d = 0; d < k->count; d++)
        least[d] = INFINITY;
    for (uint32_t o = y->first_offer[type]; o < y->first_offer[type + 1]; o++) {
        const struct requirement *r = requirements_get(y->kinds[y->offers[o].kind], k->key);
        if (r == NULL || r->complement || r->count != 1)
            return false;
        int32_t d = topology_domain(k, r->values[0]);
        if (d >= 0 && y->offers[o].launchable && y->offers[o].price < least[d])
            least[d] = y->offers[o].price;
    }
    double one = INFINITY;
    for (uint32_t d = 0; d < k->count; d++)
        if (least[d] < (double)INFINITY) {
            if (sold++ != 0 && least[d] != one)
                return false;
            one = least[d];
        }
    return sold == 0 || sold == k->count;
}

static bool is_flat(const struct world *w, const struct topology_key *k)
{
    enum { MOST_DOMAINS = 64 }; /* of more, prices differ */
    double least[MOST_DOMAINS];
    for (uint32_t type = 0; type < w->types.count && k->count <= MOST_DOMAINS; type++)
        if (!type_is_flat(w, k, type, least))
            return false;
    return k->count <= MOST_DOMAINS;
}

static bool is_given(const struct world *w, const struct topology_key *k)
{
    for (uint32_t i = 0; i < w->types.kind_count; i++)
        if (requirements_get(w->types.kinds[i], k->key) != NULL)
            return true;
    for (uint32_t f = 0; f < w->types.facet_count; f++)
        if (w->types.facets[f].key == k->key)
            return true;
    return false;
}

bool topology_row_domain(struct world *w, const struct topology_key *k, uint32_t row, int32_t *domain_out)
{
    bool open = false;
    sym value = row_value(w, row, k->key, &open);
    *domain_out = value != SYM_NONE ? topology_domain(k, value) : open ? DOMAIN_OPEN : DOMAIN_NONE;
    return value == SYM_NONE || *domain_out >= 0;
}

static void finish_key(struct world *w, struct topology_key *k)
{
    uint32_t capacity = 0;
    sym *values = ARENA_ARRAY(w->arena, sym, w->node_count);
    k->of_row = ARENA_ARRAY(w->arena, int32_t, w->node_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        bool open = false;
        values[row] = row_value(w, row, k->key, &open);
        k->of_row[row] = open ? DOMAIN_OPEN : DOMAIN_NONE;
        if (values[row] != SYM_NONE)
            add_domain(w, k, values[row], &capacity);
    }
    k->given = is_given(w, k);
    add_bought(w, k, &capacity);
    sort_domains(w, k);
    for (uint32_t row = 0; row < w->node_count; row++)
        if (values[row] != SYM_NONE)
            k->of_row[row] = topology_domain(k, values[row]);
    k->flat = is_flat(w, k);
}

/* --- which nodes count for a spread --- */

static bool labels_meet(const struct world *w, const struct topology_filter *f,
                        const struct requirements *labels, struct syms undefined)
{
    for (uint32_t i = 0; i < f->term_count; i++)
        if (requirements_compatible(labels, &f->terms[i], undefined, w->syms, NULL, NULL))
            return true;
    return !f->by_affinity;
}

static bool taints_meet(const struct world *w, const struct topology_filter *f, struct taints taints)
{
    for (uint32_t i = 0; f->by_taints && i < taints.count; i++)
        if (taints.items[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !taint_tolerated(&taints.items[i], f->tolerations, w->syms))
            return false;
    return true;
}

bool topology_admits(const struct world *w, const struct topology_group *g,
                     const struct requirements *labels, struct taints taints, struct syms undefined)
{
    if (g->kind != TOPOLOGY_SPREAD)
        return true;
    const struct topology_filter *f = &w->topology.filters[g->filter];
    return labels_meet(w, f, labels, undefined) && taints_meet(w, f, taints);
}

static bool surely_meets(const struct requirement *label, const struct requirement *asked,
                         const struct symtab *syms)
{
    if (label == NULL || label->complement)
        return false;
    for (uint32_t i = 0; i < label->count; i++)
        if (!requirement_has(asked, label->values[i], syms))
            return false;
    return true;
}

bool topology_surely_admits(const struct world *w, const struct topology_group *g,
                            const struct requirements *labels)
{
    const struct topology_filter *f = &w->topology.filters[g->filter];
    for (uint32_t i = 0; i < f->term_count; i++) {
        uint32_t met = 0;
        while (met < f->terms[i].count &&
               surely_meets(requirements_get(labels, f->terms[i].items[met].key), &f->terms[i].items[met],
                            w->syms))
            met++;
        if (met == f->terms[i].count)
            return true;
    }
    return !f->by_affinity;
}

bool topology_counts_row(const struct world *w, const struct topology_group *g, uint32_t row)
{
    const struct profile *p = &w->profiles[w->profile_of[row]];
    return topology_admits(w, g, &p->labels, p->taints, (struct syms){0});
}

static bool is_same_domain(const struct topology_key *k, uint32_t row, uint32_t other)
{
    if (k->key == SYM_HOSTNAME)
        return row == other;
    return k->of_row[row] == k->of_row[other] && k->of_row[row] != DOMAIN_OPEN;
}

bool topology_counts_alike(const struct world *w, uint32_t group, uint32_t row, uint32_t other)
{
    const struct topology_group *g = &w->topology.groups[group];
    bool counted = topology_counts_row(w, g, row);
    return counted == topology_counts_row(w, g, other) &&
           (!counted || is_same_domain(&w->topology.keys[g->key], row, other));
}

static bool lists(const uint32_t *groups, uint32_t count, uint32_t group)
{
    for (uint32_t i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

uint32_t topology_most_on_node(const struct world *w, const struct pod_class *k, uint32_t group)
{
    const struct topology_group *g = &w->topology.groups[group];
    if (g->key != 0)
        return 0;
    if (g->inverse)
        return lists(k->ties.keeps_off, k->ties.keeps_off_count, group) &&
               lists(k->ties.kept_off_by, k->ties.kept_off_by_count, group);
    const struct attempt *strict = &w->classes.attempts[k->first_strict];
    if (g->kind != TOPOLOGY_SPREAD || !lists(strict->groups, strict->group_count, group) ||
        !lists(k->ties.counted_by, k->ties.counted_by_count, group))
        return 0;
    return g->max_skew < UINT8_MAX ? (uint32_t)g->max_skew : 0;
}

static void finish_group(struct world *w, struct topology_group *g)
{
    struct topology *t = &w->topology;
    const struct topology_key *k = &t->keys[g->key];
    if (g->key == 0)
        return;
    g->counts = ARENA_ARRAY(t->arena, uint32_t, k->count);
    if (g->kind != TOPOLOGY_SPREAD)
        return;
    g->domains = ARENA_ARRAY(t->arena, uint64_t, k->words);
    uint64_t *some = ARENA_ARRAY(t->arena, uint64_t, k->words);
    for (uint32_t o = 0; o < w->option_count; o++) {
        const struct option *x = &w->options[o];
        if (!topology_admits(w, g, &x->requirements, x->taints, w->rules.well_known))
            continue;
        types_domains(&w->types, x->types, x->kinds, &x->requirements, k, w->syms, some);
        for (uint32_t i = 0; i < k->words; i++)
            g->domains[i] |= some[i];
    }
    /* Nodes that are empty, tainted or leaving count as well, and so do those that are on their way. */
    for (uint32_t row = 0; row < w->node_count; row++)
        if (k->of_row[row] >= 0 && topology_counts_row(w, g, row))
            bits_add(g->domains, (uint32_t)k->of_row[row]);
}

/* --- which groups matter to which class --- */

static void add_keys(const struct topology *t, const uint32_t *groups, uint32_t count,
                     uint64_t *keys)
{
    for (uint32_t i = 0; i < count; i++)
        if (t->groups[groups[i]].key != 0)
            bits_add(keys, t->groups[groups[i]].key);
}

struct named_key {
    struct span name;
    uint32_t key;
};

/* By name: numbers go by the order of the input. */
static int by_key_name(const void *x, const void *y)
{
    return span_cmp(((const struct named_key *)x)->name, ((const struct named_key *)y)->name);
}

struct key_list {
    const uint64_t *bits;
    const uint32_t *items; /* by name */
    uint32_t count;
};

static struct key_list sort_keys(const struct topology *t, struct arena *a, const uint64_t *bits)
{
    uint32_t words = bits_words(t->key_count), count = 0;
    struct named_key *named = ARENA_ARRAY(a, struct named_key, bits_count(bits, words));
    for (BITS_EACH(key, bits, words))
        named[count++] = (struct named_key){sym_text(t->syms, t->keys[key].key), key};
    if (count > 1)
        qsort(named, count, sizeof(*named), by_key_name);
    uint32_t *items = ARENA_ARRAY(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = named[i].key;
    return (struct key_list){bits, items, count};
}

/* Keys of the groups that look at pods of the class, however they are tried. */
static struct key_list keys_of_ties(const struct topology *t, struct arena *a, const struct pod_class *k)
{
    uint64_t *bits = ARENA_ARRAY(a, uint64_t, bits_words(t->key_count));
    add_keys(t, k->ties.counted_by, k->ties.counted_by_count, bits);
    add_keys(t, k->ties.kept_off_by, k->ties.kept_off_by_count, bits);
    add_keys(t, k->ties.keeps_off, k->ties.keeps_off_count, bits);
    return sort_keys(t, a, bits);
}

static bool has_keys(const struct topology *t, const struct key_list *list, const struct attempt *try)
{
    for (uint32_t i = 0; i < try->group_count; i++) {
        uint32_t key = t->groups[try->groups[i]].key;
        if (key != 0 && !bits_has(list->bits, key))
            return false;
    }
    return true;
}

/* Keys other than hostname in which a pod of the class, tried so, must have one definite domain. A class has an attempt for
 * each preference that may be dropped: they share the list of its ties where it has all of theirs. */
static void finish_attempt(const struct topology *t, struct arena *a, const struct pod_class *k, const struct key_list *ties,
                           struct attempt *try)
{
    struct key_list keys = *ties;
    if (!has_keys(t, ties, try)) {
        uint32_t words = bits_words(t->key_count);
        uint64_t *bits = ARENA_ARRAY(a, uint64_t, words);
        memcpy(bits, ties->bits, words * sizeof(*bits));
        add_keys(t, try->groups, try->group_count, bits);
        keys = sort_keys(t, a, bits);
    }
    try->keys = keys.items;
    try->key_count = keys.count;
    for (uint32_t i = 0; i < try->group_count; i++)
        try->wavers |= t->groups[try->groups[i]].kind != TOPOLOGY_ANTI_AFFINITY;
    try->tied = try->group_count + k->ties.counted_by_count + k->ties.kept_off_by_count +
                    k->ties.keeps_off_count != 0;
}

void topology_tie(struct world *w, struct arena *a, struct pod_class *k)
{
    const struct topology *t = &w->topology;
    if (t->index == NULL)
        return;
    watch_index_ties(t, a, k);
    struct key_list ties = keys_of_ties(t, a, k);
    for (uint32_t i = 0; i < k->attempt_count; i++)
        finish_attempt(t, a, k, &ties, &w->classes.attempts[k->first_attempt + i]);
    for (uint32_t i = 0; i < k->strict_count; i++)
        finish_attempt(t, a, k, &ties, &w->classes.attempts[k->first_strict + i]);
}

/* --- the numbers of bound pods --- */

static void move_group(struct world *w, uint32_t group, uint32_t row, int by)
{
    struct topology_group *g = &w->topology.groups[group];
    const struct topology_key *k = &w->topology.keys[g->key];
    int32_t domain = g->key != 0 ? k->of_row[row] : 0;
    if (domain == DOMAIN_OPEN || (domain == DOMAIN_NONE && !topology_meets_nowhere(g)))
        return;
    if (g->key == 0)
        pairs_add(&w->topology.hosts, group, row, by);
    else if (domain >= 0)
        g->counts[domain] += (uint32_t)by;
    g->total += (uint32_t)by;
}

void topology_move(struct world *w, const struct pod_class *k, bool goes, uint32_t row, int by)
{
    for (uint32_t i = 0; i < k->ties.counted_by_count && !goes; i++)
        if (topology_counts_row(w, &w->topology.groups[k->ties.counted_by[i]], row))
            move_group(w, k->ties.counted_by[i], row, by);
    for (uint32_t i = 0; i < k->ties.keeps_off_count; i++)
        move_group(w, k->ties.keeps_off[i], row, by);
}

void topology_copy_counts(struct world *w, struct arena *a)
{
    struct topology *t = &w->topology;
    struct topology_group *groups = ARENA_ARRAY(a, struct topology_group, t->group_count);
    for (uint32_t i = 0; i < t->group_count; i++) {
        groups[i] = t->groups[i];
        if (groups[i].counts == NULL)
            continue;
        uint32_t count = t->keys[groups[i].key].count;
        groups[i].counts = ARENA_ARRAY(a, uint32_t, count);
        memcpy(groups[i].counts, t->groups[i].counts, count * sizeof(uint32_t));
        if (groups[i].domains == NULL)
            continue;
        groups[i].domains = ARENA_ARRAY(a, uint64_t, bits_words(count));
        memcpy(groups[i].domains, t->groups[i].domains, bits_words(count) * sizeof(uint64_t));
    }
    t->groups = groups;
    pairs_copy(&t->hosts, a);
}

void topology_finish(struct topology *t, struct world *w)
{
    if (t->group_count == 0)
        return;
    for (uint32_t i = 1; i < t->key_count; i++) {
        finish_key(w, &t->keys[i]);
        t->keys[i].first = t->keys[i - 1].first + t->keys[i - 1].count;
    }
    for (uint32_t i = 0; i < t->group_count; i++)
        finish_group(w, &t->groups[i]);
    t->index = watch_index_make(t);
    for (uint32_t i = 0; i < w->classes.count; i++)
        topology_tie(w, t->arena, &w->classes.items[i]);
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        for (uint32_t i = 0; i < n->pod_count; i++) {
            const struct pod_class *k = &w->classes.items[n->pod_classes[i]];
            topology_move(w, k, n->pods[i]->meta.deleted != 0, row, 1);
        }
    }
}
