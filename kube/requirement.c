/* One requirement. Sets of values are sorted arrays of symbols, so that every operation is one
 * merge. What is an integer is read from the text each time: bounds are rare, and a table of parsed
 * values would have to follow the symbol table. */
#include "kube/requirement.h"

#include <inttypes.h>
#include <stdlib.h>

sym requirement_key(struct symtab *t, sym key)
{
    (void)t; /* all names of 3.2 are known to every table */
    switch (key) {
    case SYM_BETA_ZONE:
        return SYM_ZONE;
    case SYM_BETA_REGION:
        return SYM_REGION;
    case SYM_BETA_ARCH:
        return SYM_ARCH;
    case SYM_BETA_OS:
        return SYM_OS;
    case SYM_BETA_INSTANCE_TYPE:
        return SYM_INSTANCE_TYPE;
    default:
        return key;
    }
}

static int by_id(const void *x, const void *y)
{
    sym a = *(const sym *)x, b = *(const sym *)y;
    return a < b ? -1 : a > b;
}

/* In place; returns how many are left. */
static uint32_t sort_unique(sym *values, uint32_t count)
{
    uint32_t n = 0;
    if (count > 1)
        qsort(values, count, sizeof(*values), by_id);
    for (uint32_t i = 0; i < count; i++)
        if (n == 0 || values[n - 1] != values[i])
            values[n++] = values[i];
    return n;
}

static void take_values(struct arena *a, struct requirement *r, struct syms values)
{
    sym *own = ARENA_ARRAY(a, sym, values.count);
    if (values.count != 0)
        memcpy(own, values.items, values.count * sizeof(*own));
    r->values = own;
    r->count = sort_unique(own, values.count);
}

/* Nothing at all; what an operand that is no integer makes of Gt and its like. */
static struct requirement nothing(sym key, int32_t min_values)
{
    return (struct requirement){.key = key, .min_values = min_values};
}

static struct requirement bounded(const struct requirement *base, const struct expression *e,
                                  const struct symtab *t)
{
    struct requirement r = *base;
    int64_t n;
    if (e->values.count != 1 || !span_int64(sym_text(t, e->values.items[0]), &n))
        return nothing(r.key, r.min_values);
    if ((e->op == OP_GT && n == INT64_MAX) || (e->op == OP_LT && n == INT64_MIN))
        return nothing(r.key, 0);
    r.complement = true;
    r.has_gte = e->op == OP_GT || e->op == OP_GTE;
    r.has_lte = !r.has_gte;
    if (r.has_gte)
        r.gte = n + (e->op == OP_GT);
    else
        r.lte = n - (e->op == OP_LT);
    return r;
}

struct requirement requirement_of(struct arena *a, struct symtab *t, const struct expression *e)
{
    struct requirement r = nothing(requirement_key(t, e->key), e->min_values);
    switch (e->op) {
    case OP_IN:
        take_values(a, &r, e->values);
        break;
    case OP_NOT_IN:
        r.complement = true;
        take_values(a, &r, e->values);
        break;
    case OP_EXISTS:
        r.complement = true;
        break;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        return bounded(&r, e, t);
    case OP_DOES_NOT_EXIST:
    case OP_NONE:
        break;
    }
    return r;
}

struct requirement requirement_in(struct arena *a, struct symtab *t, sym key, sym value)
{
    struct requirement r = nothing(requirement_key(t, key), 0);
    take_values(a, &r, (struct syms){&value, 1});
    return r;
}

enum op requirement_op(const struct requirement *r)
{
    if (r->complement)
        return r->count != 0 ? OP_NOT_IN : OP_EXISTS;
    return r->count != 0 ? OP_IN : OP_DOES_NOT_EXIST;
}

static bool listed(const struct requirement *r, sym value)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->values[low] == value;
}

static bool within(const struct requirement *r, sym value, const struct symtab *t)
{
    int64_t n;
    if (!r->has_gte && !r->has_lte)
        return true;
    return span_int64(sym_text(t, value), &n) && (!r->has_gte || n >= r->gte) &&
           (!r->has_lte || n <= r->lte);
}

bool requirement_has(const struct requirement *r, sym value, const struct symtab *t)
{
    return listed(r, value) != r->complement && within(r, value, t);
}

static sym any_integer(struct arena *a, struct symtab *t, const struct requirement *r)
{
    int64_t n = r->has_gte ? r->gte : 0;
    if (!r->has_gte && r->has_lte && r->lte < 0)
        n = r->lte;
    for (uint32_t tries = 0; tries <= r->count; tries++) {
        if (r->has_lte && n > r->lte)
            return SYM_NONE;
        sym value = sym_intern(t, arena_printf(a, "%" PRId64, n));
        if (!listed(r, value))
            return value;
        if (n == INT64_MAX)
            return SYM_NONE;
        n++;
    }
    return SYM_NONE;
}

sym requirement_any(struct arena *a, struct symtab *t, const struct requirement *r)
{
    if (r->complement)
        return any_integer(a, t, r);
    sym least = SYM_NONE;
    for (uint32_t i = 0; i < r->count; i++)
        if (least == SYM_NONE || span_cmp(sym_text(t, r->values[i]), sym_text(t, least)) < 0)
            least = r->values[i];
    return least;
}

/* Bounds and minValues of both; false when the bounds cross. */
static bool merge_bounds(const struct requirement *x, const struct requirement *y,
                         struct requirement *out)
{
    out->has_gte = x->has_gte || y->has_gte;
    out->has_lte = x->has_lte || y->has_lte;
    out->gte = !x->has_gte ? y->gte : !y->has_gte || x->gte > y->gte ? x->gte : y->gte;
    out->lte = !x->has_lte ? y->lte : !y->has_lte || x->lte < y->lte ? x->lte : y->lte;
    out->min_values = x->min_values > y->min_values ? x->min_values : y->min_values;
    return !(out->has_gte && out->has_lte && out->gte > out->lte);
}

/* Whether a value that stands in one or both lists belongs to the list of the intersection: the
 * excluded ones of two complements, else the members. */
static bool survives(bool in_x, bool in_y, const struct requirement *x, const struct requirement *y)
{
    if (x->complement && y->complement)
        return true;
    return in_x != x->complement && in_y != y->complement;
}

/* Calls for each surviving value; stops when `out` is NULL at the first one. */
static uint32_t merge_values(const struct requirement *x, const struct requirement *y,
                             const struct requirement *bounds, const struct symtab *t, sym *out)
{
    uint32_t i = 0, j = 0, n = 0;
    while (i < x->count || j < y->count) {
        bool in_x = i < x->count && (j == y->count || x->values[i] <= y->values[j]);
        bool in_y = j < y->count && (i == x->count || y->values[j] <= x->values[i]);
        sym value = in_x ? x->values[i] : y->values[j];
        i += in_x;
        j += in_y;
        if (!survives(in_x, in_y, x, y) || !within(bounds, value, t))
            continue;
        if (out == NULL)
            return 1;
        out[n++] = value;
    }
    return n;
}

struct requirement requirement_and(struct arena *a, const struct requirement *x,
                                   const struct requirement *y, const struct symtab *t)
{
    struct requirement r = {.key = x->key, .complement = x->complement && y->complement};
    if (!merge_bounds(x, y, &r))
        return nothing(r.key, r.min_values);
    sym *values = ARENA_ARRAY(a, sym, x->count + y->count);
    r.count = merge_values(x, y, &r, t, values);
    r.values = values;
    if (!r.complement) { /* a concrete set has taken them in */
        r.has_gte = r.has_lte = false;
        r.gte = r.lte = 0;
    }
    return r;
}

/* All values that the complements of the list exclude. */
static struct requirement excluded_by(struct arena *a, const struct requirement *list, uint32_t count)
{
    struct requirement all = {.key = list[0].key};
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        all.count += list[i].complement ? list[i].count : 0;
    sym *values = ARENA_ARRAY(a, sym, all.count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; list[i].complement && v < list[i].count; v++)
            values[n++] = list[i].values[v];
    all.count = sort_unique(values, n);
    all.values = values;
    return all;
}

/* The one with the fewest values of those that are no complement; NULL: all are complements. */
static const struct requirement *smallest(const struct requirement *list, uint32_t count)
{
    const struct requirement *least = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!list[i].complement && (least == NULL || list[i].count < least->count))
            least = &list[i];
    return least;
}

static bool all_list(const struct requirement *list, uint32_t count, sym value)
{
    for (uint32_t i = 0; i < count; i++)
        if (!list[i].complement && !listed(&list[i], value))
            return false;
    return true;
}

struct requirement requirement_and_all(struct arena *a, const struct requirement *list, uint32_t count,
                                       const struct symtab *t)
{
    struct requirement r = {.key = list[0].key}, bounds = list[0];
    bool crossed = false;
    if (count == 1)
        return list[0];
    for (uint32_t i = 1; i < count; i++) {
        struct requirement before = bounds;
        crossed = !merge_bounds(&before, &list[i], &bounds);
    }
    const struct requirement excluded = excluded_by(a, list, count), *least = smallest(list, count);
    if (least == NULL && crossed)
        return nothing(r.key, bounds.min_values);
    if (least == NULL)
        r = (struct requirement){.key = r.key, .complement = true, .has_gte = bounds.has_gte, .has_lte = bounds.has_lte,
                                 .gte = bounds.gte, .lte = bounds.lte};
    r.min_values = bounds.min_values;
    const struct requirement *from = least != NULL ? least : &excluded;
    sym *values = ARENA_ARRAY(a, sym, from->count);
    for (uint32_t i = 0; i < from->count; i++)
        if (within(&bounds, from->values[i], t) &&
            (least == NULL || (!listed(&excluded, from->values[i]) && all_list(list, count, from->values[i]))))
            values[r.count++] = from->values[i];
    r.values = values;
    return r;
}

bool requirement_intersects(const struct requirement *x, const struct requirement *y,
                            const struct symtab *t)
{
    struct requirement bounds = {0};
    if (!merge_bounds(x, y, &bounds))
        return false;
    return (x->complement && y->complement) || merge_values(x, y, &bounds, t, NULL) != 0;
}

/* The longest that is valid is a key of 317 bytes: of what is longer, the beginning. */
static void put_shown(struct buf *out, struct span text)
{
    enum { SHOWN_MAX = 320 };
    size_t len = text.len < SHOWN_MAX ? text.len : SHOWN_MAX;
    while (len != 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--; /* not within a character */
    buf_addf(out, "%.*s%s", (int)len, text.ptr, len < text.len ? "…" : "");
}

/* The least text after `last` (absent: of all); there is one. */
static struct span next_text(const struct requirement *r, const struct symtab *t, struct span last)
{
    struct span least = {NULL, 0};
    for (uint32_t i = 0; i < r->count; i++) {
        struct span text = sym_text(t, r->values[i]);
        if ((last.ptr == NULL || span_cmp(text, last) > 0) && (least.ptr == NULL || span_cmp(text, least) < 0))
            least = text;
    }
    return least;
}

void requirement_put(struct buf *out, const struct requirement *r, const struct symtab *t)
{
    enum { SHOWN = 5 };
    struct span text = {NULL, 0};
    put_shown(out, sym_text(t, r->key));
    buf_addf(out, " %s", op_name(requirement_op(r)));
    for (uint32_t i = 0; i < r->count && i < SHOWN; i++) {
        text = next_text(r, t, text);
        buf_add(out, i == 0 ? SPAN(" [") : SPAN(" "));
        put_shown(out, text);
    }
    if (r->count > SHOWN)
        buf_addf(out, " and %u others", r->count - SHOWN);
    if (r->count != 0)
        buf_add_char(out, ']');
    if (r->has_gte)
        buf_addf(out, " >=%" PRId64, r->gte);
    if (r->has_lte)
        buf_addf(out, " <=%" PRId64, r->lte);
    if (r->min_values != 0)
        buf_addf(out, " minValues %" PRId32, r->min_values);
}

struct span requirement_text(struct arena *a, const struct requirement *r, const struct symtab *t)
{
    struct buf b = {0};
    requirement_put(&b, r, t);
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}
