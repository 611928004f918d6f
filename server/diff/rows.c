#include "server/diff/rows.h"

#include <math.h>

#include "base/safe_text.h"
#include "planner/plan/grid.h"

static const struct section {
    const char *title, *name; /* of the table; of JSON */
    bool dollars, all;        /* all: also what is equal */
    int scale;                /* digits after the point */
} sections[DIFF_SECTIONS] = {
    [DIFF_COST] = {"$/HOUR", "cost", true, true, 3},
    [DIFF_PODS] = {"PODS", "pods", false, true, 0},
    [DIFF_NODES] = {"NODES TO BUY", "nodes", false, true, 0},
    [DIFF_TYPES] = {"OF TYPE", "types", false, false, 0},
    [DIFF_WORKLOADS] = {"$/MONTH", "workloads", true, false, 2},
    [DIFF_OFFERS] = {"$/HOUR OF", "offers", true, false, 4},
};

/* --- both sides, name by name --- */

struct pair {
    enum diff_section section;
    struct span name;
    const struct diff_item *a, *b; /* NULL: that side does not have it */
};

struct walk {
    const struct diff_side *a, *b;
    size_t i, k;
};

static int order(const struct diff_item *x, const struct diff_item *y)
{
    return x->section != y->section ? (int)x->section - (int)y->section : span_cmp(x->name, y->name);
}

static bool next(struct walk *w, struct pair *out)
{
    const struct diff_item *x = w->i < w->a->count ? &w->a->items[w->i] : NULL;
    const struct diff_item *y = w->k < w->b->count ? &w->b->items[w->k] : NULL;
    if (x == NULL && y == NULL)
        return false;
    int o = x == NULL ? 1 : y == NULL ? -1 : order(x, y);
    *out = (struct pair){o <= 0 ? x->section : y->section, o <= 0 ? x->name : y->name, o <= 0 ? x : NULL, o >= 0 ? y : NULL};
    w->i += o <= 0;
    w->k += o >= 0;
    return true;
}

/* What nobody would pay: a thousandth of the last digit that is shown. */
static bool differs(const struct pair *p)
{
    if (p->a == NULL || p->b == NULL)
        return true;
    return fabs(p->a->value - p->b->value) > 1e-6 * pow(10, -sections[p->section].scale) + 1e-9 * fabs(p->a->value);
}

size_t diff_count(const struct diff_side *a, const struct diff_side *b)
{
    struct walk w = {a, b, 0, 0};
    size_t n = 0;
    for (struct pair p; next(&w, &p);)
        n += differs(&p);
    return n;
}

/* --- a table --- */

static double shown(const struct pair *p, const struct diff_item *item)
{
    return p->section == DIFF_WORKLOADS ? item->value * HOURS_A_MONTH : item->value;
}

static struct span number(struct arena *a, const struct pair *p, const struct diff_item *item)
{
    if (item == NULL)
        return sections[p->section].dollars ? SPAN("–") : SPAN("0");
    return arena_printf(a, "%.*f", sections[p->section].scale, shown(p, item));
}

static struct span difference(struct arena *a, const struct pair *p)
{
    const struct section *s = &sections[p->section];
    if (s->dollars && (p->a == NULL || p->b == NULL))
        return p->a == NULL ? SPAN("new") : SPAN("gone");
    double x = p->a != NULL ? shown(p, p->a) : 0, y = p->b != NULL ? shown(p, p->b) : 0;
    if (!differs(p))
        return SPAN("");
    if (!s->dollars || x <= 0)
        return arena_printf(a, "%+.*f", s->scale, y - x);
    return arena_printf(a, "%+.*f %+.0f%%", s->scale, y - x, 100 * (y - x) / x);
}

static void put_head(struct grid *g, enum diff_section section, const struct diff_side *a, const struct diff_side *b)
{
    if (g->count != 0)
        grid_row(g);
    struct span *row = grid_row(g);
    row[0] = span_of(sections[section].title);
    row[1] = a->title;
    row[2] = b->title;
    row[3] = SPAN("DIFFERENCE");
}

static void put_month(struct grid *g, const struct pair *p)
{
    const double a = p->a != NULL ? p->a->value : 0, b = p->b != NULL ? p->b->value : 0;
    if (p->a == NULL || p->b == NULL)
        return;
    struct span *row = grid_row(g);
    row[0] = SPAN("a month");
    row[1] = arena_printf(g->arena, "%.0f", a * HOURS_A_MONTH);
    row[2] = arena_printf(g->arena, "%.0f", b * HOURS_A_MONTH);
    row[3] = differs(p) ? arena_printf(g->arena, "%+.0f", (b - a) * HOURS_A_MONTH) : SPAN("");
}

static void put_pair(struct grid *g, const struct pair *p)
{
    struct span *row = grid_row(g);
    row[0] = p->name;
    row[1] = number(g->arena, p, p->a);
    row[2] = number(g->arena, p, p->b);
    row[3] = difference(g->arena, p);
    if (p->section == DIFF_COST && span_eq(p->name, SPAN("with the plan")))
        put_month(g, p);
}

/* Without the blanks that only fill the last column. */
static void put_grid(struct buf *out, struct grid *g, uint32_t width)
{
    struct buf text = {0};
    grid_put(&text, g, width, 0);
    for (struct span rest = buf_span(&text), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        while (line.len != 0 && line.ptr[line.len - 1] == ' ')
            line.len--;
        buf_addf(out, "%.*s\n", SPAN_ARG(line));
    }
    buf_release(&text);
}

void diff_table(struct buf *out, const struct diff_side *a, const struct diff_side *b, uint32_t width)
{
    struct arena arena;
    if (diff_count(a, b) == 0) {
        safe_line_add(out, a->title);
        buf_add(out, SPAN(" and "));
        safe_line_add(out, b->title);
        buf_add(out, SPAN(" are alike.\n"));
        return;
    }
    arena_init(&arena, 0);
    struct grid g = {.arena = &arena, .columns = 4, .apart = GRID_NONE, .right = 1u << 1 | 1u << 2 | 1u << 3};
    struct walk w = {a, b, 0, 0};
    enum diff_section last = DIFF_SECTIONS;
    size_t equal = 0;
    for (struct pair p; next(&w, &p);) {
        bool put = sections[p.section].all || differs(&p);
        equal += !put;
        if (put && p.section != last)
            put_head(&g, p.section, a, b);
        if (put) {
            last = p.section;
            put_pair(&g, &p);
        }
    }
    put_grid(out, &g, width);
    if (equal != 0)
        buf_addf(out, "\n%zu more %s alike.\n", equal, equal == 1 ? "is" : "are");
    arena_release(&arena);
}

/* --- JSON --- */

void diff_json(struct json *j, const struct diff_side *a, const struct diff_side *b)
{
    struct walk w = {a, b, 0, 0};
    json_object_begin(j);
    json_put_string(j, "apiVersion", SPAN("stowage.dev/v1alpha1"));
    json_put_string(j, "kind", SPAN("PlanDifference"));
    json_put_string(j, "a", a->title);
    json_put_string(j, "b", b->title);
    json_put_int(j, "differences", (int64_t)diff_count(a, b));
    json_put_array(j, "rows");
    for (struct pair p; next(&w, &p);) {
        json_object_begin(j);
        json_put_string(j, "section", span_of(sections[p.section].name));
        json_put_string(j, "name", p.name);
        if (p.a != NULL) {
            json_key(j, SPAN("a"));
            json_double(j, p.a->value);
        }
        if (p.b != NULL) {
            json_key(j, SPAN("b"));
            json_double(j, p.b->value);
        }
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
