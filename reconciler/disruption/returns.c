#include "reconciler/disruption/returns.h"

#include <stdlib.h>

#include "kube/replaces.h"
#include "reconciler/stages.h"

void returns_release(struct returns *r)
{
    free(r->items);
    *r = (struct returns){.items = NULL};
}

/* ---- what the needs say ---- */

static bool is_like(const struct need *x, uint64_t pool, const struct node_size *room)
{
    return x->pool == pool && node_size_holds(room, &x->wanted);
}

/* 0: there is but one wave, or none. */
static span_ms longest_pause(const struct returns *r, uint64_t pool, const struct node_size *room, wall_ms *last_out)
{
    wall_ms wave = 0;
    span_ms longest = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct need *x = &r->items[i];
        if (!is_like(x, pool, room))
            continue;
        *last_out = x->at;
        if (wave != 0 && x->at < wave + RETURNS_WAVE_MS)
            continue;
        if (wave != 0 && x->at - wave > longest)
            longest = x->at - wave;
        wave = x->at;
    }
    return longest;
}

/* Those after `since`, without the largest wave. */
static uint32_t count_returning(const struct returns *r, uint64_t pool, const struct node_size *room, wall_ms since)
{
    wall_ms wave = 0;
    uint32_t all = 0, of_wave = 0, largest = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct need *x = &r->items[i];
        if (x->at <= since || !is_like(x, pool, room))
            continue;
        if (wave == 0 || x->at >= wave + RETURNS_WAVE_MS) {
            wave = x->at;
            of_wave = 0;
        }
        all++;
        of_wave++;
        largest = of_wave > largest ? of_wave : largest;
    }
    return all - largest;
}

struct awaited returns_awaited(const struct returns *r, uint64_t pool, const struct node_size *room, span_ms within)
{
    wall_ms last = 0;
    span_ms pause = longest_pause(r, pool, room, &last);
    span_ms wait = RETURNS_PAUSES * pause > RETURNS_LEAST_MS ? RETURNS_PAUSES * pause : RETURNS_LEAST_MS;
    wait = wait < within ? wait : within;
    if (pause == 0)
        return (struct awaited){.until = 0};
    return (struct awaited){last + wait, count_returning(r, pool, room, last - wait)};
}

/* ---- the memory ---- */

static void forget_old(struct returns *r, wall_ms since)
{
    uint32_t old = 0;
    while (old < r->count && (r->items[old].at < since || r->count - old >= RETURNS_MOST))
        old++;
    r->count -= old;
    if (old != 0)
        memmove(r->items, r->items + old, r->count * sizeof(*r->items));
}

/* A claim may be seen after one that was made later. */
static void remember(struct pass *p, struct need x)
{
    struct returns *r = &p->r->returns;
    wall_ms since = p->wall - p->r->config.options.empty_return;
    forget_old(r, since);
    if (x.at < since)
        return;
    if (r->items == NULL)
        r->items = mem_new(RETURNS_MOST * sizeof(*r->items));
    uint32_t at = r->count++;
    for (; at > 0 && r->items[at - 1].at > x.at; at--)
        r->items[at] = r->items[at - 1];
    r->items[at] = x;
}

/* A claim that never got a machine is no sign of need: whoever cannot be had is asked for again and again. */
static void note_purchases(struct pass *p)
{
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct claim_view *c = &p->claims[i];
        if (c->memo->noted || !c->identified || c->pool == NULL)
            continue;
        c->memo->noted = true;
        if (!c->pool->has_replicas && replaces_of(c->claim).bought == 0)
            remember(p, (struct need){c->claim->meta.created, span_hash(c->pool->meta.uid), node_size_of(c->claim->requests)});
    }
}

void returns_needed(struct pass *p, const struct node_view *n)
{
    uint32_t count;
    const struct pod *const *pods = node_pods(p, n, &count);
    struct need x = {.at = p->wall, .pool = span_hash(p->claims[n->claim].pool->meta.uid), .wanted = {.pods = count}};
    for (uint32_t i = 0; i < count; i++) {
        struct node_size one = node_size_of(pods[i]->requests);
        x.wanted.cpu = amount_add(x.wanted.cpu, one.cpu);
        x.wanted.memory = amount_add(x.wanted.memory, one.memory);
    }
    remember(p, x);
}

/* ---- who stays ---- */

struct empty_place {
    struct node_view *node;
    uint64_t pool;
    struct node_size room;
    double price;
};

/* The cheap of a pool first; of one price those of one size together. */
static int cheap_first(const void *x, const void *y)
{
    const struct empty_place *a = x, *b = y;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return span_cmp(a->node->node->meta.name, b->node->node->meta.name);
}

/* Whom nothing else keeps, as far as his own objects say. */
static uint32_t list_empty(struct pass *p, struct empty_place *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct node_view *n = &p->nodes[i];
        const struct claim_view *c = n->claim >= 0 ? &p->claims[n->claim] : NULL;
        n->memo->awaited_until = 0;
        if (n->memo->verdict.answer.verdict != EMPTY_YES || c == NULL || c->pool == NULL || n->row < 0 ||
            buffers_need(p, c->claim) || node_is_promised(p, n))
            continue;
        double price = world_node_at(p->world, (uint32_t)n->row)->price;
        list[count++] = (struct empty_place){n, span_hash(c->pool->meta.uid), node_size_of(c->claim->allocatable),
                                             isnan(price) ? 0 : price};
    }
    return count;
}

static bool same_size(const struct node_size *a, const struct node_size *b)
{
    return node_size_holds(a, b) && node_size_holds(b, a);
}

static void keep_awaited(struct pass *p, const struct empty_place *list, uint32_t count)
{
    struct awaited x = {.until = 0};
    uint32_t kept = 0; /* of the pool */
    p->r->returns.keeping = false;
    for (uint32_t i = 0; i < count; i++) {
        bool of_pool = i != 0 && list[i].pool == list[i - 1].pool;
        if (!of_pool)
            kept = 0;
        if (!of_pool || !same_size(&list[i].room, &list[i - 1].room))
            x = returns_awaited(&p->r->returns, list[i].pool, &list[i].room, p->r->config.options.empty_return);
        if (kept >= x.nodes || x.until <= p->wall)
            continue;
        kept++;
        p->r->returns.keeping = true;
        list[i].node->memo->awaited_until = x.until;
        pass_wake_wall(p, x.until);
    }
}

void returns_look(struct pass *p)
{
    struct returns *r = &p->r->returns;
    if (p->r->config.options.empty_return == 0)
        return;
    note_purchases(p);
    forget_old(r, p->wall - p->r->config.options.empty_return);
    if (r->count == 0 && !r->keeping)
        return;
    struct empty_place *list = ARENA_ARRAY(p->a, struct empty_place, p->node_count);
    uint32_t count = list_empty(p, list);
    if (count != 0)
        qsort(list, count, sizeof(*list), cheap_first);
    keep_awaited(p, list, count);
}
