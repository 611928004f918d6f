#include "planner/explain/words.h"

struct span words_take(struct plan *p, struct buf *b)
{
    struct span text = arena_dup(&p->arena, buf_span(b));
    buf_release(b);
    return text;
}

struct span words_number_in(const struct world *w, struct arena *a, uint32_t column, amount value)
{
    if (w->columns[column] == SYM_CPU) /* "255.9", not "255900m" */
        return arena_printf(a, "%.15g", (double)value / 1000);
    if (column >= w->resource_count)
        return arena_printf(a, "%lld", (long long)value);
    return quantity_text(a, sym_text(w->syms, w->columns[column]), value);
}

struct span words_amount_in(const struct world *w, struct arena *a, uint32_t column, amount value)
{
    struct span name = sym_text(w->syms, w->columns[column]);
    if (value == INT64_MAX) /* where quantities end, whatever was written */
        return arena_printf(a, "more %.*s than can be counted",
                            SPAN_ARG(w->columns[column] == SYM_CPU ? SPAN("CPUs") : name));
    struct span number = words_number_in(w, a, column, value);
    if (w->columns[column] == SYM_CPU)
        return arena_printf(a, "%.*s %s", SPAN_ARG(number), value == 1000 ? "CPU" : "CPUs");
    if (column >= w->resource_count)
        return arena_printf(a, "%.*s volume%s of %.*s", SPAN_ARG(number), value == 1 ? "" : "s",
                            SPAN_ARG(name));
    if (w->columns[column] == SYM_PODS)
        return arena_printf(a, "%.*s pod%s", SPAN_ARG(number), value == 1 ? "" : "s");
    return arena_printf(a, "%.*s %s%.*s", SPAN_ARG(number), w->columns[column] == SYM_MEMORY ? "of " : "",
                        SPAN_ARG(name));
}

struct span words_number(struct plan *p, uint32_t column, amount value)
{
    return words_number_in(p->world, &p->arena, column, value);
}

struct span words_amount(struct plan *p, uint32_t column, amount value)
{
    return words_amount_in(p->world, &p->arena, column, value);
}

struct span words_requirement(struct plan *p, const struct requirement *r)
{
    return requirement_text(&p->arena, r, p->syms);
}

struct span words_taint(struct plan *p, const struct taint *t)
{
    struct span value = sym_text(p->syms, t->value);
    return arena_printf(&p->arena, "%.*s%s%.*s:%s", SPAN_ARG(sym_text(p->syms, t->key)),
                        value.len != 0 ? "=" : "", SPAN_ARG(value), taint_effect_name(t->effect));
}

/* --- selectors --- */

static void put_expression(struct buf *b, const struct plan *p, const struct expression *e)
{
    struct span key = sym_text(p->syms, e->key);
    if (e->op == OP_EXISTS || e->op == OP_DOES_NOT_EXIST) {
        buf_addf(b, "%s%.*s", e->op == OP_EXISTS ? "" : "!", SPAN_ARG(key));
        return;
    }
    bool one = e->values.count == 1, not = e->op == OP_NOT_IN;
    buf_addf(b, "%.*s%s", SPAN_ARG(key), one ? (not ? "!=" : "=") : not ? " not in (" : " in (");
    for (uint32_t i = 0; i < e->values.count; i++)
        buf_addf(b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(sym_text(p->syms, e->values.items[i])));
    if (!one)
        buf_add_char(b, ')');
}

static void put_namespaces(struct buf *b, const struct plan *p, struct syms list, sym ns)
{
    if (list.count == 1 && list.items[0] == ns)
        return;
    buf_addf(b, " in namespace%s ", list.count == 1 ? "" : "s");
    for (uint32_t i = 0; i < list.count && i < WORDS_LISTED; i++)
        buf_addf(b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(sym_text(p->syms, list.items[i])));
    if (list.count > WORDS_LISTED)
        buf_addf(b, " and %u more", list.count - WORDS_LISTED);
    if (list.count == 0)
        buf_addf(b, "that are not there");
}

static void put_selector(struct buf *b, struct plan *p, const struct topology_watch *w, sym ns)
{
    const struct label_selector *s = &w->selector;
    const char *and = " with ";
    for (uint32_t i = 0; i < s->match_labels.count; i++, and = " and ")
        buf_addf(b, "%s%.*s=%.*s", and, SPAN_ARG(sym_text(p->syms, s->match_labels.items[i].key)),
                 SPAN_ARG(sym_text(p->syms, s->match_labels.items[i].value)));
    for (uint32_t i = 0; i < s->match_expressions.count; i++, and = " and ") {
        buf_addf(b, "%s", and);
        put_expression(b, p, &s->match_expressions.items[i]);
    }
    if (w->nobody)
        buf_addf(b, " of a selector that is not there");
    put_namespaces(b, p, w->namespaces, ns);
}

struct span words_watch(struct plan *p, const struct topology *t, uint32_t watch, sym ns)
{
    struct buf b = {0};
    const struct topology_watch *w = &t->watches[watch];
    uint32_t listed = 0, more = 0;
    if (w->part_count == 0)
        put_selector(&b, p, w, ns);
    for (uint32_t i = 0; i < w->part_count; i++) { /* in order, so that equal watches are neighbours */
        if (i != 0 && w->parts[i].watch == w->parts[i - 1].watch)
            continue;
        if (listed++ >= WORDS_LISTED) {
            more++;
            continue;
        }
        buf_addf(&b, "%s", i != 0 ? " and" : "");
        put_selector(&b, p, &t->watches[w->parts[i].watch], ns);
    }
    if (more != 0)
        buf_addf(&b, " and %u more", more);
    return words_take(p, &b);
}

/* --- domains --- */

struct span words_key(const struct plan *p, const struct topology_group *g)
{
    return sym_text(p->syms, p->world->topology.keys[g->key].key);
}

static void put_domains(struct buf *b, const struct plan *p, const struct topology_key *k,
                        const uint64_t *set, const uint32_t *counts)
{
    uint32_t count = bits_count(set, k->words), n = 0;
    for (BITS_EACH(d, set, k->words)) {
        if (n == WORDS_LISTED && count > WORDS_LISTED + 1) {
            buf_addf(b, " and %u more", count - n);
            return;
        }
        bool last = n + 1 == count && counts == NULL;
        buf_addf(b, "%s%.*s", n == 0 ? "" : last ? " and " : ", ",
                 SPAN_ARG(sym_text(p->syms, k->domains[d])));
        if (counts != NULL)
            buf_addf(b, " %u", counts[d]);
        n++;
    }
    if (count == 0)
        buf_addf(b, "none");
}

struct span words_domains(struct plan *p, const struct topology_key *k, const uint64_t *set)
{
    struct buf b = {0};
    put_domains(&b, p, k, set, NULL);
    return words_take(p, &b);
}

struct span words_counts(struct plan *p, const struct topology_key *k, const uint64_t *set,
                         const uint32_t *counts)
{
    struct buf b = {0};
    put_domains(&b, p, k, set, counts);
    return words_take(p, &b);
}
