#include "reconciler/groups/kept.h"

#include "planner/groups/template.h"
#include "reconciler/changed.h"
#include "reconciler/state.h"

bool pass_has_pools(const struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].provider != NULL)
            return true;
    return false;
}

bool group_world_leaves_out(enum kind k)
{
    return kind_is_of_pools(k) || k == KIND_NODE_OVERLAY;
}

void group_kept_drop(struct group_kept *k)
{
    if (k->world == NULL)
        return;
    world_free(k->world);
    arena_release(&k->arena);
    shared_unref((struct shared *)(uintptr_t)&k->snapshot->shared);
    *k = (struct group_kept){.world = NULL};
}

/* All objects of the world are this snapshot's, too. */
static void go_on(struct group_kept *k, const struct pass *p)
{
    const struct snapshot *before = k->snapshot;
    k->snapshot = p->snapshot;
    k->seen = p->mono;
    shared_ref((struct shared *)(uintptr_t)&p->snapshot->shared);
    if (before != NULL)
        shared_unref((struct shared *)(uintptr_t)&before->shared);
}

void group_kept_take(struct group_kept *k, const struct pass *p, struct world *w, const struct group_model *m,
                     struct capacity_requests *requests, const struct arena *a)
{
    *k = (struct group_kept){.world = w, .arena = *a, .model = m, .requests = requests};
    go_on(k, p);
}

/* --- how it can go on --- */

static bool asks_for(const struct pass *p, enum kind k)
{
    return p->r->config.groups.flags.provisioning_requests && (k == KIND_PROVISIONING_REQUEST || k == KIND_POD_TEMPLATE);
}

static bool matters(const struct group_kept *k, const struct pass *p, enum kind x)
{
    return x == KIND_POD || x == KIND_NODE || x == KIND_DAEMON_SET || asks_for(p, x) ||
           (!group_world_leaves_out(x) && world_reads(k->world, x));
}

enum kept_state group_kept_state(const struct group_kept *k, const struct pass *p)
{
    enum kept_state state = KEPT_SAME;
    if (k->world == NULL || pass_has_pools(p) || k->snapshot->syms != p->snapshot->syms)
        return KEPT_NOT;
    for (enum kind x = 0; x < KIND_STORED_COUNT; x++) {
        if (!matters(k, p, x) || snapshot_same(k->snapshot, p->snapshot, x))
            continue;
        if (!kind_changes_by_delta(x) || !world_has_deltas(k->world))
            return KEPT_NOT;
        state = KEPT_MOVED;
    }
    return state;
}

bool group_kept_has_templates(const struct group_kept *k, const struct group_model *m, enum kept_state state)
{
    bool same = k->model->group_count == m->group_count;
    for (uint32_t i = 0; same && i < m->group_count; i++) {
        const struct group_template *was = &k->model->groups[i].template, *is = &m->groups[i].template;
        same = group_template_same(was, is) && (state == KEPT_SAME || group_template_of_same(was, is));
    }
    return same;
}

void group_kept_look(struct pass *p)
{
    struct group_kept *k = &p->r->keeper.kept;
    if (k->world == NULL || k->snapshot == p->snapshot)
        return;
    enum kept_state state = group_kept_state(k, p);
    if (state == KEPT_SAME)
        go_on(k, p);
    else if (state == KEPT_NOT || p->mono - k->seen >= GROUP_KEPT_MS)
        group_kept_drop(k);
}

/* --- the next world --- */

struct list {
    const void **items;
    size_t count;
};

static struct list list_of(struct arena *a, const void *items, size_t count, size_t more)
{
    struct list l = {ARENA_ARRAY(a, const void *, count + more), count};
    if (count != 0)
        memcpy(l.items, items, count * sizeof(*l.items));
    return l;
}

static size_t count_pods(const struct group_model *m)
{
    size_t count = 0;
    for (uint32_t i = 0; i < m->group_count; i++)
        count += m->groups[i].template.pod_count;
    return count;
}

static void add_templates(const struct group_model *m, struct list *nodes, struct list *pods)
{
    for (uint32_t i = 0; i < m->group_count; i++) {
        const struct group_template *t = &m->groups[i].template;
        if (t->node != NULL)
            nodes->items[nodes->count++] = t->node;
        for (uint32_t k = 0; k < t->pod_count; k++)
            pods->items[pods->count++] = t->pods[k];
    }
}

/* The templates of one model go, and those of the other come. */
static void change_templates(struct world_change *c, const struct group_model *was, const struct group_model *is, struct arena *a)
{
    struct list gone = list_of(a, c->gone, c->gone_count, count_pods(was));
    struct list come = list_of(a, c->come, c->come_count, count_pods(is));
    struct list gone_nodes = list_of(a, c->gone_nodes, c->gone_node_count, was->group_count);
    struct list nodes = list_of(a, c->nodes, c->node_count, is->group_count);
    add_templates(was, &gone_nodes, &gone);
    add_templates(is, &nodes, &come);
    c->gone = (const void *)gone.items;
    c->gone_count = gone.count;
    c->come = (const void *)come.items;
    c->come_count = come.count;
    c->gone_nodes = (const void *)gone_nodes.items;
    c->gone_node_count = gone_nodes.count;
    c->nodes = (const void *)nodes.items;
    c->node_count = nodes.count;
}

static struct world *next_world(const struct group_kept *k, const struct pass *p, const struct group_model *m)
{
    struct changed changed;
    changed_find(&changed, p->snapshot, k->snapshot);
    struct world_change c = changed_of(&changed);
    c.gone_claim_count = c.claim_count = 0;
    if (m != NULL)
        change_templates(&c, k->model, m, p->a);
    size_t most = p->snapshot->state[KIND_POD].count / GROUP_KEPT_SHARE + GROUP_KEPT_LEAST;
    struct world *w = c.gone_count <= most && c.come_count <= most ? world_delta(k->world, &c) : NULL;
    changed_release(&changed);
    return w;
}

static bool has_requests(const struct capacity_requests *r)
{
    return r != NULL && r->count != 0;
}

bool group_kept_move(struct group_kept *k, const struct pass *p, const struct group_model *m, struct capacity_requests *requests,
                     const struct arena *a)
{
    struct world *w = m == NULL || !has_requests(k->requests) ? next_world(k, p, m) : NULL;
    if (w == NULL)
        return false;
    world_free(k->world);
    k->world = w;
    go_on(k, p);
    if (m != NULL) {
        arena_release(&k->arena);
        k->arena = *a;
        k->model = m;
        k->requests = requests;
    }
    return true;
}
