#include "server/top.h"

#include <math.h>
#include <stdlib.h>

#include "base/safe_text.h"
#include "base/units.h"
#include "base/utf8.h"
#include "base/wrap.h"
#include "server/html.h"

enum { WIDTH_LEAST = 40, BAR = 8, LINES_MOST = 3 /* of those who wait, and of moves */ };

/* --- a line, cut where the screen ends --- */

struct line {
    struct buf text;
    uint32_t used; /* columns */
};

/* One column a character: names are of ASCII, and of what else is told a wide one is rare. */
static void put(struct line *l, uint32_t width, struct span text)
{
    struct buf safe = {0};
    safe_line_add(&safe, text);
    const char *at = buf_span(&safe).ptr, *end = at + safe.len;
    while (at != end && l->used < width) {
        size_t n = utf8_length(at, end);
        buf_add(&l->text, (struct span){at, n});
        at += n;
        l->used++;
    }
    buf_release(&safe);
}

static void pad(struct line *l, uint32_t width, uint32_t column)
{
    while (l->used < column && l->used < width) {
        buf_add_char(&l->text, ' ');
        l->used++;
    }
}

/* In so many columns, to the left or right of them. */
static void put_in(struct line *l, uint32_t width, struct span text, uint32_t columns, bool right)
{
    uint32_t start = l->used, length = wrap_width(text); /* what stands at the right is a figure */
    if (right && length < columns)
        pad(l, width, start + columns - length);
    uint32_t most = start + columns;
    put(l, most < width ? most : width, text);
    pad(l, width, most);
}

static void tint(struct line *l, const struct top_screen *s, const char *code)
{
    if (s->colour)
        buf_addf(&l->text, "\033[%sm", code);
}

static void end_line(struct buf *out, struct line *l)
{
    struct span text = buf_span(&l->text);
    while (text.len != 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    buf_add(out, text);
    buf_add_char(out, '\n');
    buf_clear(&l->text);
    l->used = 0;
}

/* --- parts --- */

static double share_of(int64_t part, int64_t whole)
{
    double f = whole > 0 ? (double)part / (double)whole : 0;
    return f < 0 ? 0 : f > 1 ? 1 : f;
}

/* "██████░░  71%"; green while it is well used, yellow below half, which is what consolidation is about. */
static void put_share(struct line *l, const struct top_screen *s, int64_t asked, int64_t there, uint32_t bar)
{
    double f = share_of(asked, there);
    uint32_t full = (uint32_t)(f * bar + 0.5);
    struct buf text = {0};
    tint(l, s, f < 0.5 ? "33" : "32");
    for (uint32_t i = 0; i < bar; i++)
        buf_addf(&text, "%s", i < full ? (s->plain ? "#" : "█") : (s->plain ? "." : "░"));
    put(l, s->width, buf_span(&text));
    tint(l, s, "0");
    buf_clear(&text);
    buf_addf(&text, "%3.0f%%", f * 100);
    put_in(l, s->width, buf_span(&text), 5, true);
    buf_release(&text);
}

static void put_quantity(struct line *l, const struct top_screen *s, void (*show)(struct buf *, int64_t), int64_t asked,
                         int64_t there)
{
    struct buf text = {0};
    buf_addf(&text, " ");
    show(&text, asked);
    buf_addf(&text, " of ");
    show(&text, there);
    put(l, s->width, buf_span(&text));
    buf_release(&text);
}

struct sums {
    int64_t cpu_asked, cpu_there, memory_asked, memory_there;
    double price;
    uint32_t unpriced;
};

static struct sums sum(const struct fleet_view *f)
{
    struct sums t = {0};
    for (uint32_t i = 0; i < f->node_count; i++) {
        const struct fleet_node *n = &f->nodes[i];
        t.cpu_asked += n->cpu_asked;
        t.cpu_there += n->cpu_there;
        t.memory_asked += n->memory_asked;
        t.memory_there += n->memory_there;
        t.price += isnan(n->price) ? 0 : n->price;
        t.unpriced += isnan(n->price) ? 1 : 0;
    }
    return t;
}

static void put_totals(struct buf *out, const struct fleet_view *f, const struct top_screen *s, struct span trouble)
{
    struct sums t = sum(f);
    struct line l = {0};
    struct buf text = {0};
    tint(&l, s, "1");
    buf_addf(&text, "%u node%s, %u pod%s, %u wait%s", f->node_count, f->node_count == 1 ? "" : "s", f->running,
             f->running == 1 ? " runs" : "s run", f->waiting, f->waiting == 1 ? "s" : "");
    if (f->without_all != 0)
        buf_addf(&text, ", %u of them %s no place", f->without_all, f->without_all == 1 ? "has" : "have");
    put(&l, s->width, buf_span(&text));
    tint(&l, s, "0");
    end_line(out, &l);
    buf_clear(&text);
    buf_addf(&text, "$%.3f an hour, $%.0f a month", t.price, t.price * HOURS_A_MONTH);
    if (t.unpriced != 0)
        buf_addf(&text, ", and %u node%s whose price nobody knows", t.unpriced, t.unpriced == 1 ? "" : "s");
    put(&l, s->width, buf_span(&text));
    end_line(out, &l);
    put(&l, s->width, SPAN("cpu     "));
    put_share(&l, s, t.cpu_asked, t.cpu_there, 2 * BAR);
    put_quantity(&l, s, html_cpu, t.cpu_asked, t.cpu_there);
    end_line(out, &l);
    put(&l, s->width, SPAN("memory  "));
    put_share(&l, s, t.memory_asked, t.memory_there, 2 * BAR);
    put_quantity(&l, s, html_bytes, t.memory_asked, t.memory_there);
    end_line(out, &l);
    if (trouble.len != 0) {
        tint(&l, s, "31");
        put(&l, s->width, SPAN("old: "));
        put(&l, s->width, trouble);
        tint(&l, s, "0");
        end_line(out, &l);
    }
    end_line(out, &l);
    buf_release(&text);
    buf_release(&l.text);
}

/* --- nodes --- */

enum { NAME_LEAST = 10, NAME_MOST = 40, POOL_LEAST = 4, POOL_MOST = 16, SHARE = BAR + 5, PODS = 5, PRICE = 9 };

struct columns {
    uint32_t name, pool;
    bool memory, rest; /* there is room for it */
};

/* The pool or the node group. */
static struct span whose(const struct fleet_node *n)
{
    return n->pool.len != 0 ? n->pool : n->group;
}

/* Names get what is left beside figures, which tell more. */
static struct columns fit(const struct fleet_view *f, const struct top_screen *s)
{
    struct columns c = {NAME_LEAST, POOL_LEAST, s->width >= 60, s->width >= 80};
    size_t name = NAME_LEAST, pool = POOL_LEAST;
    for (uint32_t i = 0; i < f->node_count; i++) {
        name = f->nodes[i].name.len > name ? f->nodes[i].name.len : name;
        pool = whose(&f->nodes[i]).len > pool ? whose(&f->nodes[i]).len : pool;
    }
    uint32_t fixed = 1 + SHARE + (c.memory ? 1U + SHARE : 0U) + PODS + PRICE + (c.rest ? 14U : 0U);
    uint32_t left = s->width > fixed + 1 ? s->width - fixed - 1 : 0;
    c.pool = pool > POOL_MOST ? POOL_MOST : (uint32_t)pool;
    if (c.pool + NAME_LEAST > left)
        c.pool = left > NAME_LEAST + POOL_LEAST ? left - NAME_LEAST : 0;
    c.name = name > NAME_MOST ? NAME_MOST : (uint32_t)name;
    if (c.name > left - c.pool)
        c.name = left - c.pool;
    return c;
}

static void put_heads(struct buf *out, const struct top_screen *s, const struct columns *c)
{
    struct line l = {0};
    tint(&l, s, "1");
    put_in(&l, s->width, SPAN("NODE"), c->name + 1, false);
    if (c->pool != 0) {
        put_in(&l, s->width, SPAN("POOL"), c->pool, false);
        put(&l, s->width, SPAN(" "));
    }
    put_in(&l, s->width, SPAN("CPU"), SHARE, false);
    if (c->memory)
        put_in(&l, s->width, SPAN(" MEMORY"), SHARE + 1, false);
    put_in(&l, s->width, SPAN("PODS"), PODS, true);
    put_in(&l, s->width, SPAN("$/HOUR"), PRICE, true);
    if (c->rest)
        put(&l, s->width, SPAN("  WHAT"));
    tint(&l, s, "0");
    end_line(out, &l);
    buf_release(&l.text);
}

static void add_word(struct buf *b, struct span word)
{
    if (word.len != 0)
        buf_addf(b, "%s%.*s", b->len != 0 ? " " : "", SPAN_ARG(word));
}

/* State first, unless it is ready; then type, zone, and what is spot. */
static void put_rest(struct line *l, const struct top_screen *s, const struct fleet_node *n)
{
    struct buf b = {0};
    if (n->state != FLEET_READY)
        buf_addf(&b, "%s", fleet_state_name(n->state));
    if (n->planned != 0)
        buf_addf(&b, "%s+%u pods", b.len != 0 ? " " : "", n->planned);
    add_word(&b, n->type);
    add_word(&b, n->zone);
    add_word(&b, span_eq(n->capacity_type, SPAN("on-demand")) ? SPAN("") : n->capacity_type);
    put(l, s->width, SPAN("  "));
    put(l, s->width, buf_span(&b));
    buf_release(&b);
}

static void put_node(struct buf *out, const struct top_screen *s, const struct columns *c, const struct fleet_node *n)
{
    struct line l = {0};
    struct buf b = {0};
    const char *code = n->state == FLEET_LEAVING ? "33" : n->state == FLEET_COMING ? "36" : NULL;
    if (code != NULL)
        tint(&l, s, code);
    put_in(&l, s->width, n->name, c->name, false);
    if (code != NULL)
        tint(&l, s, "0");
    put(&l, s->width, SPAN(" "));
    if (c->pool != 0) {
        put_in(&l, s->width, whose(n), c->pool, false);
        put(&l, s->width, SPAN(" "));
    }
    put_share(&l, s, n->cpu_asked, n->cpu_there, BAR);
    if (c->memory) {
        put(&l, s->width, SPAN(" "));
        put_share(&l, s, n->memory_asked, n->memory_there, BAR);
    }
    buf_addf(&b, "%u", n->pods);
    put_in(&l, s->width, buf_span(&b), PODS, true);
    buf_clear(&b);
    if (isnan(n->price))
        buf_addf(&b, "?");
    else
        buf_addf(&b, n->price < 100 ? "%.4f" : "%.2f", n->price);
    put_in(&l, s->width, buf_span(&b), PRICE, true);
    if (c->rest)
        put_rest(&l, s, n);
    end_line(out, &l);
    buf_release(&b);
    buf_release(&l.text);
}

const char *top_sort_name(enum top_sort s)
{
    static const char *const names[TOP_SORT_COUNT] = {[TOP_BY_NAME] = "name", [TOP_BY_CPU] = "cpu",
                                                      [TOP_BY_MEMORY] = "memory", [TOP_BY_PRICE] = "price",
                                                      [TOP_BY_PODS] = "pods"};
    return names[s];
}

struct ranked {
    const struct fleet_node *node;
    double rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank > y->rank || x->rank < y->rank)
        return x->rank > y->rank ? -1 : 1;
    return span_cmp(x->node->name, y->node->name);
}

static double rank_of(const struct fleet_node *n, enum top_sort by)
{
    return by == TOP_BY_CPU      ? share_of(n->cpu_asked, n->cpu_there)
           : by == TOP_BY_MEMORY ? share_of(n->memory_asked, n->memory_there)
           : by == TOP_BY_PRICE  ? (isnan(n->price) ? -1 : n->price)
           : by == TOP_BY_PODS   ? n->pods
                                 : 0;
}

/* --- the rest, and the whole --- */

static uint32_t lines_for(uint32_t shown, uint32_t all)
{
    return shown == 0 ? 0 : (shown < LINES_MOST ? shown : LINES_MOST) + (all > LINES_MOST ? 1U : 0U);
}

static void put_lines(struct buf *out, const struct top_screen *s, const char *head, const char *code,
                      const struct fleet_line *lines, uint32_t count, uint32_t all)
{
    struct line l = {0};
    uint32_t shown = count < LINES_MOST ? count : LINES_MOST;
    for (uint32_t i = 0; i < shown; i++) {
        tint(&l, s, code);
        put_in(&l, s->width, span_of(head), 9, false);
        tint(&l, s, "0");
        put(&l, s->width, lines[i].name);
        put(&l, s->width, SPAN("  "));
        put(&l, s->width, lines[i].text);
        end_line(out, &l);
    }
    if (shown != 0 && all > shown) {
        struct buf b = {0};
        buf_addf(&b, "         and %u more", all - shown);
        put(&l, s->width, buf_span(&b));
        end_line(out, &l);
        buf_release(&b);
    }
    buf_release(&l.text);
}

static void put_keys(struct buf *out, const struct top_screen *s, uint32_t first, uint32_t shown, uint32_t all)
{
    struct line l = {0};
    struct buf b = {0};
    buf_addf(&b, "q leaves  s sorts (%s)  j k scroll", top_sort_name(s->sort));
    if (shown != 0)
        buf_addf(&b, "  nodes %u to %u of %u", first + 1, first + shown, all);
    tint(&l, s, "7");
    put(&l, s->width, buf_span(&b));
    tint(&l, s, "0");
    end_line(out, &l);
    buf_release(&b);
    buf_release(&l.text);
}

uint32_t top_put(struct buf *out, const struct fleet_view *f, const struct top_screen *given, struct span trouble)
{
    struct top_screen s = *given;
    if (s.width < WIDTH_LEAST)
        s.width = WIDTH_LEAST;
    struct columns c = fit(f, &s);
    uint32_t below = lines_for(f->without_count, f->without_all) + lines_for(f->move_count, f->move_all);
    uint32_t taken = 6 + (trouble.len != 0 ? 1U : 0U) + (below != 0 ? below + 1 : 0) + 1;
    uint32_t room = s.height == 0 ? f->node_count : s.height > taken + 1 ? s.height - taken : 1;
    uint32_t shown = f->node_count < room ? f->node_count : room, first = s.first;
    if (first > f->node_count - shown)
        first = f->node_count - shown;
    struct ranked *order = mem_new((f->node_count + 1) * sizeof(*order));
    for (uint32_t i = 0; i < f->node_count; i++)
        order[i] = (struct ranked){&f->nodes[i], rank_of(&f->nodes[i], s.sort)};
    if (f->node_count != 0)
        qsort(order, f->node_count, sizeof(*order), by_rank);
    put_totals(out, f, &s, trouble);
    put_heads(out, &s, &c);
    for (uint32_t i = 0; i < shown; i++)
        put_node(out, &s, &c, order[first + i].node);
    if (below != 0)
        buf_add_char(out, '\n');
    put_lines(out, &s, "NO PLACE", "31", f->without, f->without_count, f->without_all);
    put_lines(out, &s, "MOVE", "33", f->moves, f->move_count, f->move_all);
    if (s.height != 0)
        put_keys(out, &s, first, shown, f->node_count);
    free(order);
    return first;
}
