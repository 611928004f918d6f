/* What all stages of a pass look at, and small questions that several of them ask. */
#include <stdlib.h>

#include "planner/bits.h"
#include "reconciler/divergence/divergence.h"
#include "reconciler/stages.h"

static int by_name(const void *x, const void *y)
{
    const struct meta *const *a = x, *const *b = y;
    return span_cmp((*a)->name, (*b)->name);
}

/* All objects of a kind; each begins with its meta. */
static const struct meta **collect(struct pass *p, enum kind k, uint32_t *count_out)
{
    uint32_t n = p->snapshot->state[k].count, at = 0;
    const struct meta **list = ARENA_ARRAY(p->a, const struct meta *, n);
    struct snapshot_iter it = snapshot_each(p->snapshot, k);
    for (const void *o; at < n && (o = snapshot_next(&it)) != NULL;)
        list[at++] = o;
    qsort(list, at, sizeof(*list), by_name);
    *count_out = at;
    return list;
}

static void collect_pools(struct pass *p)
{
    const struct meta **list = collect(p, KIND_NODE_POOL, &p->pool_count);
    p->pools = ARENA_ARRAY(p->a, struct pool_view, p->pool_count);
    for (uint32_t i = 0; i < p->pool_count; i++) {
        const struct node_pool *pool = (const struct node_pool *)list[i];
        p->pools[i] = (struct pool_view){
            .pool = pool,
            .memo = memos_at(&p->r->pools, pool->meta.uid),
            .provider = providers_of_class(&p->r->config.providers, &pool->node_class)};
    }
}

void pass_begin(struct pass *p, struct reconciler *r, const struct snapshot *s)
{
    arena_clear(&r->arena);
    *p = (struct pass){.r = r,
                       .a = &r->arena,
                       .snapshot = s,
                       .world = derive_world(s),
                       .mono = r->mono,
                       .wall = r->wall,
                       .next = INT64_MAX};
    p->syms = symtab_new_local(s->syms, p->a);
    collect_pools(p);
    views_look(p);
    budgets_seen_look(&r->budgets, s, r->previous);
    divergence_ask(p);
}

const struct node_pool *pass_pool(const struct pass *p, struct span name)
{
    return name.len != 0 ? snapshot_find(p->snapshot, KIND_NODE_POOL, (struct span){0}, name)
                         : NULL;
}

/* Views begin with their object, and objects with their meta; sorted by name. */
static void *find_view(const void *views, uint32_t count, size_t size, struct span name)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const void *view = (const char *)views + middle * size;
        int order = span_cmp((*(const struct meta *const *)view)->name, name);
        if (order == 0)
            return (void *)(uintptr_t)view;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct node_view *pass_node(const struct pass *p, struct span name)
{
    return find_view(p->nodes, p->node_count, sizeof(*p->nodes), name);
}

struct claim_view *pass_claim(const struct pass *p, struct span name)
{
    return find_view(p->claims, p->claim_count, sizeof(*p->claims), name);
}

struct span claim_pool_name(const struct pass *p, const struct node_claim *c)
{
    return pass_text(p, sym_pairs_get(c->meta.labels, SYM_NODEPOOL));
}

bool node_has_taint(const struct node *n, sym key, enum taint_effect effect)
{
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].key == key && n->taints.items[i].effect == effect)
            return true;
    return false;
}

const struct pod *const *node_pods(const struct pass *p, const struct node_view *n,
                                   uint32_t *count_out)
{
    *count_out = n->row >= 0 ? world_node_at(p->world, (uint32_t)n->row)->pod_count : 0;
    return n->row >= 0 ? world_node_pods(p->world, (uint32_t)n->row) : NULL;
}

const struct pod *place_pod(const struct pass *p, const struct place *place)
{
    const struct pod *pod = snapshot_find(p->snapshot, KIND_POD, place->ns, place->pod);
    bool waits = pod != NULL && span_eq(pod->meta.uid, place->uid) && pod->node == SYM_NONE &&
                 pod->meta.deleted == 0;
    return waits ? pod : NULL;
}

static const uint64_t *find_promised(const struct pass *p)
{
    const struct places *places = p->r->places;
    uint64_t *rows = ARENA_ARRAY(p->a, uint64_t, bits_words(world_node_count(p->world)));
    for (uint32_t i = 0; places != NULL && i < places->count; i++) {
        int32_t row = place_row(p->world, &places->items[i]);
        if (row >= 0 && !bits_has(rows, (uint32_t)row) && place_pod(p, &places->items[i]) != NULL)
            bits_add(rows, (uint32_t)row);
    }
    return rows;
}

bool node_is_promised(struct pass *p, const struct node_view *n)
{
    if (p->promised == NULL)
        p->promised = find_promised(p);
    return n->row >= 0 && bits_has(p->promised, (uint32_t)n->row);
}
