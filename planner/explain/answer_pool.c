#include "planner/explain/lines.h"
#include "planner/explain/no_type.h"
#include "planner/explain/pools.h"

#include <math.h>

static const struct option *option_of(const struct world *w, const struct node_pool *pool)
{
    for (uint32_t i = 0; i < w->option_count; i++)
        if (w->options[i].pool == pool)
            return &w->options[i];
    return NULL;
}

static void add_limits(struct lines *l, const struct option *o)
{
    const struct world *w = l->p->world;
    struct buf b = {0};
    for (uint32_t c = 0; c < w->column_count; c++)
        if (o->budget[c] != INT64_MAX)
            buf_addf(&b, "%s%.*s", b.len != 0 ? ", " : "",
                     SPAN_ARG(words_amount(l->p, c, o->budget[c] > 0 ? o->budget[c] : 0)));
    if (o->nodes_left != INT64_MAX)
        buf_addf(&b, "%s%lld node%s", b.len != 0 ? ", " : "",
                 (long long)(o->nodes_left > 0 ? o->nodes_left : 0), o->nodes_left == 1 ? "" : "s");
    if (b.len == 0)
        buf_addf(&b, "there are none");
    else
        buf_addf(&b, " left before this plan");
    lines_add(l, SPAN("limits"), words_take(l->p, &b));
}

static void add_nodes(struct lines *l, const struct node_pool *pool)
{
    const struct world *w = l->p->world;
    uint32_t nodes = 0, leaving = 0;
    double price = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->pool < 0 || w->pools[n->pool] != pool)
            continue;
        nodes++;
        leaving += n->leaving;
        price += isnan(n->price) ? 0 : n->price;
    }
    struct span text = SPAN("none");
    if (nodes != 0)
        text = arena_printf(&l->p->arena, "%u, $%.4f/h", nodes, price);
    if (leaving != 0)
        text = arena_printf(&l->p->arena, "%.*s; %u of them leave%s", SPAN_ARG(text), leaving,
                            leaving == 1 ? "s" : "");
    lines_add(l, SPAN("nodes"), text);
}

static uint32_t add_planned(struct lines *l, const struct node_pool *pool)
{
    const struct plan *p = l->p;
    uint32_t nodes = 0, pods = 0;
    double price = 0;
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].pool == pool) {
            nodes++;
            pods += p->claims[i].pod_count;
            price += isnan(p->claims[i].price) ? 0 : p->claims[i].price;
        }
    if (nodes != 0)
        lines_addf(l, "to buy", "%u node%s for %u pod%s, +$%.4f/h", nodes, nodes == 1 ? "" : "s",
                   pods, pods == 1 ? "" : "s", price);
    return nodes;
}

/* What the chain of a pod without a place says of the pool; absent: nothing. */
static struct span said_of(const struct plan_unschedulable *u, const struct node_pool *pool)
{
    for (uint32_t i = 0; i < u->detail_count; i++)
        if (u->details[i].pool == pool)
            return u->details[i].text;
    return (struct span){0};
}

/* Pods that the pool refuses for one reason are one line. */
static uint32_t add_refused(struct lines *l, const struct node_pool *pool)
{
    struct plan *p = l->p;
    struct refused {
        struct span why;
        const struct pod *first;
        uint32_t pods;
    } *list = NULL;
    uint32_t count = 0, capacity = 0, all = 0;
    for (uint32_t i = 0; i < p->unschedulable_count; i++) {
        struct refused r = {said_of(&p->unschedulable[i], pool), p->unschedulable[i].pod, 0};
        uint32_t at = 0;
        if (r.why.len == 0)
            continue;
        all++;
        while (at < count && !span_eq(list[at].why, r.why))
            at++;
        if (at == count && count == ANSWER_LISTED)
            continue;
        if (at == count)
            ARENA_PUSH(&p->arena, list, count, capacity, r);
        list[at].pods++;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct span more = list[i].pods == 1 ? SPAN("")
                                             : arena_printf(&p->arena, " and %u more", list[i].pods - 1);
        lines_addf(l, "refuses", "%.*s/%.*s%.*s: %.*s", SPAN_ARG(list[i].first->meta.ns),
                   SPAN_ARG(list[i].first->meta.name), SPAN_ARG(more), SPAN_ARG(list[i].why));
    }
    return all;
}

static struct span empty_text(struct lines *l, const struct option *o)
{
    struct span why, fix;
    no_type(l->p, o, &why, &fix);
    lines_addf(l, "Fix", "%.*s.", SPAN_ARG(fix));
    return arena_printf(&l->p->arena, "%.*s buys nothing: %.*s.", SPAN_ARG(option_name(o)), SPAN_ARG(why));
}

void answer_pool(struct plan *p, const struct node_pool *pool, struct explanation *out)
{
    const struct world *w = p->world;
    const struct option *o = option_of(w, pool);
    struct lines l = {.p = p};
    struct span name = pool->meta.name;
    if (o == NULL) {
        add_nodes(&l, pool);
        lines_end(&l, false,
                  arena_printf(&p->arena, "%.*s buys nothing: it %.*s.", SPAN_ARG(name),
                               SPAN_ARG(pool_obstacle(&p->arena, pool))),
                  out);
        return;
    }
    uint32_t types = bits_count(o->types, w->types.words);
    lines_addf(&l, "types", "%u of %u left after its requirements", types, w->types.count);
    add_limits(&l, o);
    add_nodes(&l, pool);
    uint32_t bought = add_planned(&l, pool), refused = add_refused(&l, pool);
    struct span sentence;
    if (types == 0)
        sentence = empty_text(&l, o);
    else if (refused != 0)
        sentence = arena_printf(&p->arena, "%.*s can buy, but refuses %u pod%s that wait%s.",
                                SPAN_ARG(name), refused, refused == 1 ? "" : "s",
                                refused == 1 ? "s" : "");
    else
        sentence = arena_printf(&p->arena, "%.*s can buy %u type%s%s.", SPAN_ARG(name), types,
                                types == 1 ? "" : "s", bought == 0 ? "; nothing that waits needs it" : "");
    lines_end(&l, types != 0, sentence, out);
}
