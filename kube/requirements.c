/* Sets of requirements: one for each key, sorted by key id, so that two sets meet in one merge. */
#include "kube/requirement.h"

#include <stdlib.h>

/* Index of the key, or where it belongs. */
static uint32_t place_of(const struct requirements *s, sym key)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct requirement *requirements_get(const struct requirements *s, sym key)
{
    uint32_t at = place_of(s, key);
    return at < s->count && s->items[at].key == key ? &s->items[at] : NULL;
}

/* Sets are shared by value (a claim's with its template's), so every change is made on a copy. */
void requirements_add(struct arena *a, struct requirements *s, const struct requirement *r,
                      const struct symtab *t)
{
    uint32_t at = place_of(s, r->key);
    bool there = at < s->count && s->items[at].key == r->key;
    uint32_t count = s->count + !there;
    struct requirement *items = ARENA_ARRAY(a, struct requirement, count);
    struct requirement merged = there ? requirement_and(a, &s->items[at], r, t) : *r;
    for (uint32_t i = 0; i < s->count; i++)
        items[i + (i >= at && !there)] = s->items[i];
    items[at] = merged;
    *s = (struct requirements){items, count};
}

void requirements_add_all(struct arena *a, struct requirements *s, const struct requirements *other,
                          const struct symtab *t)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, s->count + other->count);
    uint32_t i = 0, j = 0, n = 0;
    while (i < s->count || j < other->count) {
        if (j == other->count || (i < s->count && s->items[i].key < other->items[j].key))
            items[n++] = s->items[i++];
        else if (i == s->count || other->items[j].key < s->items[i].key)
            items[n++] = other->items[j++];
        else
            items[n++] = requirement_and(a, &s->items[i++], &other->items[j++], t);
    }
    *s = (struct requirements){items, n};
}

static int by_key(const void *x, const void *y)
{
    sym a = ((const struct requirement *)x)->key, b = ((const struct requirement *)y)->key;
    return a < b ? -1 : a > b;
}

struct requirements requirements_of_list(struct arena *a, struct requirement *items, uint32_t count,
                                         const struct symtab *t)
{
    struct requirements s = {items, 0};
    if (count > 1)
        qsort(items, count, sizeof(*items), by_key);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        items[s.count++] = requirement_and_all(a, &items[i], end - i, t);
    }
    return s;
}

struct requirements requirements_of(struct arena *a, struct symtab *t, struct expressions list)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        items[i] = requirement_of(a, t, &list.items[i]);
    return requirements_of_list(a, items, list.count, t);
}

struct requirements requirements_of_labels(struct arena *a, struct symtab *t,
                                           struct sym_pairs labels)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, labels.count);
    for (uint32_t i = 0; i < labels.count; i++)
        items[i] = requirement_in(a, t, labels.items[i].key, labels.items[i].value);
    return requirements_of_list(a, items, labels.count, t);
}

static bool tolerates_absence(const struct requirement *r)
{
    enum op op = requirement_op(r);
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

bool requirements_intersect(const struct requirements *x, const struct requirements *y,
                            const struct symtab *t, sym *bad_out)
{
    uint32_t i = 0, j = 0;
    while (i < x->count && j < y->count) {
        const struct requirement *a = &x->items[i], *b = &y->items[j];
        if (a->key != b->key) {
            a->key < b->key ? i++ : j++;
            continue;
        }
        if (!requirement_intersects(a, b, t) && !(tolerates_absence(a) && tolerates_absence(b))) {
            if (bad_out != NULL)
                *bad_out = a->key;
            return false;
        }
        i++;
        j++;
    }
    return true;
}

static bool has_sorted(struct syms list, sym s)
{
    uint32_t low = 0, high = list.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list.items[middle] < s)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list.count && list.items[low] == s;
}

bool requirements_compatible(const struct requirements *x, const struct requirements *y,
                             struct syms undefined, const struct symtab *t, sym *bad_out,
                             bool *undefined_out)
{
    for (uint32_t j = 0; j < y->count; j++) {
        const struct requirement *asked = &y->items[j];
        if (tolerates_absence(asked) || requirements_get(x, asked->key) != NULL ||
            has_sorted(undefined, asked->key))
            continue;
        if (bad_out != NULL)
            *bad_out = asked->key;
        if (undefined_out != NULL)
            *undefined_out = true;
        return false;
    }
    if (undefined_out != NULL)
        *undefined_out = false;
    return requirements_intersect(x, y, t, bad_out);
}

static int by_text(const void *x, const void *y)
{
    return span_cmp(*(const struct span *)x, *(const struct span *)y);
}

void requirements_put(struct buf *out, const struct requirements *s, const struct symtab *t)
{
    struct buf all = {0};
    struct span *text = mem_array(s->count, sizeof(*text));
    size_t *end = mem_array(s->count, sizeof(*end));
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->items[i].key == SYM_HOSTNAME)
            continue;
        requirement_put(&all, &s->items[i], t);
        end[n++] = all.len;
    }
    for (uint32_t i = 0; i < n; i++) { /* only now: the buffer moved while it grew */
        size_t from = i != 0 ? end[i - 1] : 0;
        text[i] = (struct span){all.ptr + from, end[i] - from};
    }
    if (n > 1)
        qsort(text, n, sizeof(*text), by_text);
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0)
            buf_add(out, SPAN(", "));
        buf_add(out, text[i]);
    }
    free(end);
    free(text);
    buf_release(&all);
}

struct named { /* a symbol with the text that it is sorted by */
    struct span text;
    uint32_t at;
};

static int by_name(const void *x, const void *y)
{
    return span_cmp(((const struct named *)x)->text, ((const struct named *)y)->text);
}

static struct syms values_by_text(struct arena *a, const struct requirement *r,
                                  const struct symtab *t)
{
    struct named *named = ARENA_ARRAY(a, struct named, r->count);
    sym *values = ARENA_ARRAY(a, sym, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        named[i] = (struct named){sym_text(t, r->values[i]), i};
    if (r->count > 1)
        qsort(named, r->count, sizeof(*named), by_name);
    for (uint32_t i = 0; i < r->count; i++)
        values[i] = r->values[named[i].at];
    return (struct syms){values, r->count};
}

static struct expression bound(struct arena *a, struct symtab *t, const struct requirement *r,
                               enum op op, int64_t n)
{
    sym *value = ARENA_NEW(a, sym);
    *value = sym_intern(t, arena_printf(a, "%lld", (long long)n));
    return (struct expression){
        .key = r->key, .op = op, .values = {value, 1}, .min_values = r->min_values};
}

struct expressions requirements_expressions(struct arena *a, struct symtab *t,
                                            const struct requirements *s)
{
    enum { EACH = 3 }; /* Gte, Lte and NotIn */
    struct named *keys = ARENA_ARRAY(a, struct named, s->count);
    struct expression *items = ARENA_ARRAY(a, struct expression, (size_t)s->count * EACH);
    struct expressions out = {items, 0};
    for (uint32_t i = 0; i < s->count; i++)
        keys[i] = (struct named){sym_text(t, s->items[i].key), i};
    if (s->count > 1)
        qsort(keys, s->count, sizeof(*keys), by_name);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct requirement *r = &s->items[keys[i].at];
        if (r->has_gte)
            items[out.count++] = bound(a, t, r, OP_GTE, r->gte);
        if (r->has_lte)
            items[out.count++] = bound(a, t, r, OP_LTE, r->lte);
        /* Exists says nothing beside a bound; excluded values do. */
        if (r->count == 0 && (r->has_gte || r->has_lte))
            continue;
        items[out.count++] = (struct expression){.key = r->key,
                                                 .op = requirement_op(r),
                                                 .values = values_by_text(a, r, t),
                                                 .min_values = r->min_values};
    }
    return out;
}
