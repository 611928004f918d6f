#include "reconciler/groups/kept.h"

#include "planner/groups/template.h"
#include "reconciler/changed.h"
#include "reconciler/groups/pooled.h"
#include "reconciler/state.h"

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
    pooled_free(k->pooled);
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

void group_kept_take(struct group_kept *k, const struct pass *p, struct world *w, const struct group_kept_of *of)
{
    *k = (struct group_kept){
        .world = w, .arena = *of->arena, .model = of->model, .requests = of->requests, .pooled = of->pooled};
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
    if (k->world == NULL || pass_has_pools(p) != (k->pooled != NULL) || k->snapshot->syms != p->snapshot->syms)
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

static void put_lists(struct world_change *c, const struct list *gone, const struct list *come, const struct list *gone_nodes,
                      const struct list *nodes)
{
    c->gone = (const void *)gone->items;
    c->gone_count = gone->count;
    c->come = (const void *)come->items;
    c->come_count = come->count;
    c->gone_nodes = (const void *)gone_nodes->items;
    c->gone_node_count = gone_nodes->count;
    c->nodes = (const void *)nodes->items;
    c->node_count = nodes->count;
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
    put_lists(c, &gone, &come, &gone_nodes, &nodes);
}

static void add_pod(struct list *l, const struct pod *pod) /* NULL: nobody */
{
    if (pod != NULL)
        l->items[l->count++] = pod;
}

static void add_seen(struct list *l, const struct pooled *x, const struct pod *pod)
{
    struct pooled_pod *other = pooled_find(x, pod);
    if (other != NULL)
        other->met = true;
    add_pod(l, other != NULL ? other->as : pod);
}

/* Those that stay, as the one sees them or the other. */
static void change_seen(struct list *gone, struct list *come, struct pooled *was, struct pooled *is)
{
    for (uint32_t i = 0; i < was->count; i++) {
        const struct pooled_pod *before = &was->pods[i];
        struct pooled_pod *now = before->met ? NULL : pooled_find(is, before->pod);
        const struct pod *as = now != NULL ? now->as : before->pod;
        if (now != NULL)
            now->met = true;
        if (before->met || as == before->as)
            continue;
        add_pod(gone, before->as);
        add_pod(come, as);
    }
    for (uint32_t i = 0; i < is->count; i++)
        if (!is->pods[i].met) {
            add_pod(gone, is->pods[i].pod);
            add_pod(come, is->pods[i].as);
        }
}

static void add_bought(const struct group_bought *b, struct list *nodes, struct list *pods)
{
    for (uint32_t i = 0; i < b->node_count; i++)
        nodes->items[nodes->count++] = b->nodes[i];
    for (uint32_t i = 0; i < b->pod_count; i++)
        add_pod(pods, b->pods[i]);
}

static void forget_met(struct pooled *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        x->pods[i].met = false;
}

/* Copies and what was bought go and come all together: they end with what they are of. */
static void change_pooled(struct world_change *c, struct pooled *was, struct pooled *is, struct arena *a)
{
    size_t most = (size_t)was->count + is->count;
    struct list gone = list_of(a, NULL, 0, c->gone_count + most + was->bought.pod_count);
    struct list come = list_of(a, NULL, 0, c->come_count + most + is->bought.pod_count);
    struct list gone_nodes = list_of(a, c->gone_nodes, c->gone_node_count, was->bought.node_count);
    struct list nodes = list_of(a, c->nodes, c->node_count, is->bought.node_count);
    forget_met(was);
    for (size_t i = 0; i < c->gone_count; i++)
        add_seen(&gone, was, c->gone[i]);
    for (size_t i = 0; i < c->come_count; i++)
        add_seen(&come, is, c->come[i]);
    change_seen(&gone, &come, was, is);
    add_bought(&was->bought, &gone_nodes, &gone);
    add_bought(&is->bought, &nodes, &come);
    put_lists(c, &gone, &come, &gone_nodes, &nodes);
}

static struct world *next_world(const struct group_kept *k, const struct pass *p, const struct group_kept_of *next)
{
    struct changed changed;
    changed_find(&changed, p->snapshot, k->snapshot);
    struct world_change c = changed_of(&changed);
    c.gone_claim_count = c.claim_count = 0;
    if (next->pooled != k->pooled)
        change_pooled(&c, k->pooled, next->pooled, p->a);
    if (next->model != NULL)
        change_templates(&c, k->model, next->model, p->a);
    size_t most = p->snapshot->state[KIND_POD].count / GROUP_KEPT_SHARE + GROUP_KEPT_LEAST;
    struct world *w = c.gone_count <= most && c.come_count <= most ? world_delta(k->world, &c) : NULL;
    changed_release(&changed);
    return w;
}

static bool has_requests(const struct capacity_requests *r)
{
    return r != NULL && r->count != 0;
}

bool group_kept_move(struct group_kept *k, const struct pass *p, const struct group_kept_of *next)
{
    struct world *w = next->model == NULL || !has_requests(k->requests) ? next_world(k, p, next) : NULL;
    if (w == NULL)
        return false;
    world_free(k->world);
    k->world = w;
    go_on(k, p);
    if (next->pooled != k->pooled)
        pooled_free(k->pooled);
    k->pooled = next->pooled;
    if (next->model != NULL) {
        arena_release(&k->arena);
        k->arena = *next->arena;
        k->model = next->model;
        k->requests = next->requests;
    }
    return true;
}
