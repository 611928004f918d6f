#include "reconciler/disruption/loops.h"

#include <stdio.h>
#include <stdlib.h>

#include "kube/replaces.h"
#include "reconciler/disruption/command.h"
#include "reconciler/disruption/node_size.h"
#include "reconciler/stages.h"

enum { TEXT_MAX = 72, WRITTEN_MS = MS_SECOND /* times of the API are whole seconds */ };

struct what {
    char name[TEXT_MAX], kind[TEXT_MAX]; /* of a longer one its beginning */
    uint64_t kind_hash;
    wall_ms at;  /* it was removed */
    bool bought; /* who came in its place was bought for waiting pods */
};

struct gone {
    struct what what, before; /* before: in whose place it had come */
    bool has_before;
    bool taken;          /* who came in its place is gone, too */
    uint64_t uid, pool;
    struct node_size room;
};

void loops_release(struct loops *l)
{
    free(l->items);
    *l = (struct loops){0};
}

/* ---- what a node is ---- */

static struct what what_of(const struct pass *p, const struct node_claim *c)
{
    const sym keys[] = {SYM_INSTANCE_TYPE, SYM_CAPACITY_TYPE, SYM_ZONE};
    struct what x = {.at = p->wall};
    struct buf kind = {0};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        buf_addf(&kind, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(pass_text(p, sym_pairs_get(c->meta.labels, keys[i]))));
    x.kind_hash = span_hash(buf_span(&kind));
    snprintf(x.kind, sizeof(x.kind), "%.*s", SPAN_ARG(buf_span(&kind)));
    snprintf(x.name, sizeof(x.name), "%.*s", SPAN_ARG(c->meta.name));
    buf_release(&kind);
    return x;
}

/* ---- in whose place it came ---- */

static struct gone *find_replaced(struct loops *l, struct replaces all)
{
    struct gone *found = NULL;
    for (struct replaced one; replaces_next(&all, &one);)
        for (uint32_t i = 0; i < l->count; i++)
            if (l->items[i].uid == span_hash(one.uid) && (found == NULL || l->items[i].has_before))
                found = &l->items[i];
    return found;
}

static bool would_have_done(const struct gone *g, const struct node_claim *c, uint64_t pool)
{
    struct node_size wanted = node_size_of(c->requests);
    return node_size_holds(&g->room, &wanted) && g->pool == pool && !g->taken &&
           g->what.at <= c->meta.created + WRITTEN_MS;
}

static struct gone *find_bought(struct loops *l, const struct node_claim *c, uint64_t pool)
{
    for (uint32_t i = l->count; i-- > 0;)
        if (would_have_done(&l->items[i], c, pool))
            return &l->items[i];
    return NULL;
}

/* NULL: of nobody's whom a consolidation has removed within the hour. */
static struct gone *came_for(struct pass *p, const struct claim_view *c, bool *bought_out)
{
    struct replaces all = replaces_of(c->claim);
    *bought_out = all.bought == 0;
    return all.bought != 0 ? find_replaced(&p->r->loops, all)
                           : find_bought(&p->r->loops, c->claim, span_hash(c->pool->meta.uid));
}

/* ---- the memory ---- */

static void forget_old(struct loops *l, wall_ms now)
{
    uint32_t old = 0;
    while (old < l->count && (l->items[old].what.at + LOOPS_WITHIN_MS < now || l->count - old >= LOOPS_MOST))
        old++;
    l->count -= old;
    if (old != 0)
        memmove(l->items, l->items + old, l->count * sizeof(*l->items));
}

static void remember(struct pass *p, const struct claim_view *c)
{
    struct loops *l = &p->r->loops;
    struct gone g = {.what = what_of(p, c->claim), .uid = span_hash(c->claim->meta.uid),
                     .pool = span_hash(c->pool->meta.uid)};
    bool bought;
    struct gone *was = came_for(p, c, &bought);
    if (was != NULL) {
        g.before = was->what;
        g.before.bought = bought;
        g.has_before = true;
        was->taken = true;
    }
    g.room = node_size_of(c->claim->allocatable);
    forget_old(l, p->wall);
    if (l->items == NULL)
        l->items = mem_new(LOOPS_MOST * sizeof(*l->items));
    l->items[l->count++] = g;
}

static bool is_meant(const struct pass *p, const struct command *c)
{
    return disruption_method_reason(c->method) == REASON_UNDERUTILIZED &&
           p->r->config.options.plan.search != SEARCH_GREEDY;
}

void loops_removed(struct pass *p, const struct command *c)
{
    for (uint32_t i = 0; is_meant(p, c) && i < c->count; i++) {
        const struct claim_view *v = pass_claim(p, c->members[i].claim);
        if (v != NULL && v->pool != NULL)
            remember(p, v);
    }
}

/* ---- the circle ---- */

static const char *how(bool bought)
{
    return bought ? "was bought after the consolidation of" : "came in the place of";
}

static void tell_circle(struct pass *p, const struct claim_view *c, const struct what *now, const struct gone *g, bool bought)
{
    span_ms within = p->wall - g->before.at;
    struct span text = arena_printf(
        p->a, "%s (%s) %s %s (%s), which %s %s (%s), all within %d minutes: its nodes are not consolidated for the next %d. "
              "Fix: see what makes prices or pods come and go", now->name, now->kind, how(bought),
        g->what.name, g->what.kind, how(g->before.bought), g->before.name, g->before.kind, (int)(within / MS_MINUTE + 1),
        (int)(LOOPS_PAUSE_MS / MS_MINUTE));
    tell(p->r, (struct decision){.kind = DECISION_KEEP, .subject = "keep", .warning = true, .per_hour = NAN,
                                 .reason = SPAN("DisruptionLoop"), .note = text,
                                 .about = object_of(KIND_NODE_POOL, &c->pool->meta)},
         "NodePool %.*s: %.*s", SPAN_ARG(c->pool->meta.name), SPAN_ARG(text));
    count(p->r, MEASURE_DISRUPTION_LOOPS, 1, c->pool->meta.name, (struct span){0}, (struct span){0});
}

static bool goes_in_a_circle(struct pass *p, const struct claim_view *c)
{
    bool bought;
    struct gone *g = came_for(p, c, &bought);
    if (g == NULL || !g->has_before || g->before.at + LOOPS_WITHIN_MS < p->wall)
        return false;
    struct what now = what_of(p, c->claim);
    if (now.kind_hash != g->before.kind_hash)
        return false;
    struct pool_memo *pool = memos_at(&p->r->pools, c->pool->meta.uid);
    pool->loop_ends = p->mono + LOOPS_PAUSE_MS;
    tell_circle(p, c, &now, g, bought);
    return true;
}

bool loops_stop(struct pass *p, const struct command *c)
{
    bool stops = false;
    for (uint32_t i = 0; is_meant(p, c) && i < c->count && !stops; i++) {
        const struct claim_view *v = pass_claim(p, c->members[i].claim);
        stops = v != NULL && v->pool != NULL && goes_in_a_circle(p, v);
    }
    return stops;
}

mono_ms loops_end(const struct pass *p, const struct claim_view *c)
{
    const struct pool_memo *pool = c->pool != NULL ? memos_find(&p->r->pools, c->pool->meta.uid) : NULL;
    return pool != NULL ? pool->loop_ends : 0;
}
