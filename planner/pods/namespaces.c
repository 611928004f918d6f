#include "planner/pods/namespaces.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
    sym x = ((const struct known_namespace *)a)->name, y = ((const struct known_namespace *)b)->name;
    return (x > y) - (x < y);
}

static struct sym_pairs with_own_name(struct namespaces *n, struct sym_pairs labels, sym name)
{
    sym key = sym_intern(n->syms, SPAN("kubernetes.io/metadata.name"));
    if (sym_pairs_get(labels, key) != SYM_NONE)
        return labels;
    struct sym_pairs all = {ARENA_ARRAY(n->arena, struct sym_pair, labels.count + 1), labels.count};
    if (labels.count != 0)
        memcpy(all.items, labels.items, labels.count * sizeof(*all.items));
    all.items[all.count++] = (struct sym_pair){key, name};
    return all;
}

/* Sorted before any look-up of `find`; pods' namespaces are few, and mostly the one before. */
static bool known(const struct namespaces *n, uint32_t sorted, sym name)
{
    struct known_namespace wanted = {.name = name};
    if (sorted != 0 && bsearch(&wanted, n->items, sorted, sizeof(*n->items), by_name) != NULL)
        return true;
    for (uint32_t i = sorted; i < n->count; i++)
        if (n->items[i].name == name)
            return true;
    return false;
}

void namespaces_init(struct namespaces *n, struct arena *a, const struct world_input *in)
{
    *n = (struct namespaces){.arena = a, .syms = in->syms};
    uint32_t capacity = 0;
    for (size_t i = 0; i < in->namespace_count; i++) {
        struct known_namespace x = {.name = sym_intern(n->syms, in->namespaces[i]->meta.name)};
        x.labels = with_own_name(n, in->namespaces[i]->meta.labels, x.name);
        ARENA_PUSH(a, n->items, n->count, capacity, x);
    }
    if (n->count > 1)
        qsort(n->items, n->count, sizeof(*n->items), by_name);
    uint32_t sorted = n->count;
    struct span last = {NULL, 0};
    for (size_t i = 0; i < in->pod_count; i++) {
        struct span ns = in->pods[i]->meta.ns;
        if (span_eq(ns, last))
            continue;
        last = ns;
        struct known_namespace x = {.name = sym_intern(n->syms, ns)};
        if (known(n, sorted, x.name))
            continue;
        x.labels = with_own_name(n, (struct sym_pairs){NULL, 0}, x.name);
        ARENA_PUSH(a, n->items, n->count, capacity, x);
    }
    if (n->count > 1)
        qsort(n->items, n->count, sizeof(*n->items), by_name);
}

bool namespaces_know(const struct namespaces *n, sym name)
{
    return known(n, n->count, name);
}

struct syms namespaces_matching(const struct namespaces *n, const struct label_selector *s)
{
    struct syms out = {ARENA_ARRAY(n->arena, sym, n->count), 0};
    for (uint32_t i = 0; i < n->count; i++)
        if (label_selector_matches(s, n->items[i].labels) &&
            (out.count == 0 || out.items[out.count - 1] != n->items[i].name))
            out.items[out.count++] = n->items[i].name;
    return out;
}

static int by_id(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

struct syms namespaces_of_term(const struct namespaces *n, struct arena *a, const struct pod_term *t,
                               sym own)
{
    struct syms matching = {NULL, 0};
    if (t->has_namespace_selector)
        matching = namespaces_matching(n, &t->namespace_selector);
    uint32_t listed = t->namespaces.count;
    struct syms all = {ARENA_ARRAY(a, sym, matching.count + listed + 1), 0};
    for (uint32_t i = 0; i < matching.count; i++)
        all.items[all.count++] = matching.items[i];
    for (uint32_t i = 0; i < listed; i++)
        all.items[all.count++] = t->namespaces.items[i];
    if (listed == 0 && !t->has_namespace_selector)
        all.items[all.count++] = own;
    if (all.count > 1)
        qsort(all.items, all.count, sizeof(sym), by_id);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (i == 0 || all.items[i] != all.items[unique - 1])
            all.items[unique++] = all.items[i];
    all.count = unique;
    return all;
}
