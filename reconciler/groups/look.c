/* The objects of a snapshot as a pass over node groups takes them (planner/groups/model.h). */
#include "reconciler/groups/look.h"

#include "kube/config_map.h"
#include "reconciler/groups/pooled.h"
#include "reconciler/groups/removal.h"
#include "reconciler/groups/requests.h"
#include "reconciler/stages.h"
#include "reconciler/state.h"

static const void **all_of(const struct pass *p, enum kind k, size_t *count_out)
{
    size_t count = p->snapshot->state[k].count, at = 0;
    const void **list = ARENA_ARRAY(p->a, const void *, count + 1);
    struct snapshot_iter it = snapshot_each(p->snapshot, k);
    for (const void *o; at < count && (o = snapshot_next(&it)) != NULL;)
        list[at++] = o;
    *count_out = at;
    return list;
}

/* --- the ConfigMap of priorities --- */

static void take_priorities(struct pass *p, struct group_objects *o)
{
    const struct keeper *k = &p->r->keeper;
    if (k->priority.ptr == NULL)
        return;
    struct config_map *m = ARENA_NEW(p->a, struct config_map);
    struct config_entry *entry = ARENA_NEW(p->a, struct config_entry);
    const struct config_map **list = ARENA_NEW(p->a, const struct config_map *);
    *entry = (struct config_entry){SPAN("priorities"), k->priority};
    m->meta.ns = p->r->config.groups.flags.config_namespace;
    m->meta.name = SPAN(PRIORITY_CONFIG_MAP);
    m->data.items = entry;
    m->data.count = 1;
    *list = m;
    o->config_maps = list;
    o->config_map_count = 1;
}

/* --- all of it --- */

#define TAKE(member, count_, kind_) (o->member = (const void *)all_of(p, kind_, &o->count_))

/* `pooled` NULL: pods as they are. */
static void take_objects(struct pass *p, struct group_objects *o, struct symtab *syms, const struct pooled *pooled)
{
    const struct node **nodes = ARENA_ARRAY(p->a, const struct node *, p->node_count + 1);
    for (uint32_t i = 0; i < p->node_count; i++)
        nodes[i] = p->nodes[i].node;
    *o = (struct group_objects){.syms = syms, .nodes = nodes, .node_count = p->node_count};
    const struct pod **pods = (const struct pod **)all_of(p, KIND_POD, &o->pod_count);
    o->pod_count = pooled != NULL ? pooled_see(pooled, pods, o->pod_count) : o->pod_count;
    o->pods = pods;
    o->bought = pooled != NULL && pooled->bought.node_count != 0 ? &pooled->bought : NULL;
    o->places = p->r->places;
    TAKE(daemon_sets, daemon_set_count, KIND_DAEMON_SET);
    TAKE(replica_sets, replica_set_count, KIND_REPLICA_SET);
    TAKE(stateful_sets, stateful_set_count, KIND_STATEFUL_SET);
    TAKE(replication_controllers, replication_controller_count, KIND_REPLICATION_CONTROLLER);
    TAKE(jobs, job_count, KIND_JOB);
    TAKE(budgets, budget_count, KIND_DISRUPTION_BUDGET);
    TAKE(quotas, quota_count, KIND_CAPACITY_QUOTA);
    take_priorities(p, o);
}

bool group_look_fills_buffers(const struct pass *p)
{
    return p->r->config.groups.provider != NULL && world_reads(p->world, KIND_CAPACITY_BUFFER) && !pass_has_pools(p);
}

/* What NodePools could buy would take the most time of all. */
static struct world *build_world(const struct group_model *model, const struct group_objects *objects, struct pass *p)
{
    static const struct catalogue nothing;
    struct world_options options = {.unbound_classes = true,
                                    .capacity_buffer = group_look_fills_buffers(p),
                                    .default_spread = p->r->config.groups.default_spread};
    struct group_ground g = group_model_ground(model, objects, p->a);
    struct world_input in = {.syms = objects->syms, .options = &options, .catalogue = &nothing,
                             .nodes = g.nodes, .node_count = g.node_count, .pods = g.pods, .pod_count = g.pod_count};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        size_t count = 0;
        if (k == KIND_NODE || k == KIND_POD || group_world_leaves_out(k))
            continue;
        const void **list = all_of(p, k, &count);
        world_input_take(&in, k, list, count);
    }
    return world_build(&in);
}

/* --- all of it --- */

/* A world is of one table; what groups bring to it are the same few texts each time. */
static bool read_file(struct pass *p, struct group_look *out, struct arena *a, struct err *err)
{
    const struct group_settings *s = &p->r->config.groups;
    if (!s->provider->ops->look(s->provider, p->snapshot, a, p->snapshot->syms, &out->file, err))
        return false;
    out->flags = choice_flags(&s->flags, &out->file, pass_has_pools(p));
    return true;
}

/* Of the file. Without `pooled` pods ask that have a place with the pools, too. `requests`: of the world that is kept; NULL:
 * they are resolved for a new one. */
static bool fill_model(struct pass *p, struct group_look *out, struct arena *a, struct capacity_requests *requests,
                       struct err *err)
{
    struct symtab *syms = p->snapshot->syms;
    take_objects(p, &out->objects, syms, out->pooled);
    out->objects.requests = requests != NULL ? requests : requests_resolve(p, syms, a);
    requests_recall(p, out->objects.requests);
    group_memory_recall(p->r->keeper.memory, &out->file, &out->objects, p->wall, a);
    learned_recall(p->r->keeper.learned, &out->file, syms, a);
    removals_recall(p, &out->file.state);
    if (out->pooled != NULL)
        wishes_recall(&p->r->keeper.wishes, &out->objects, p->a);
    out->model = group_model_make(&out->file, &out->flags, &out->objects, p->wall, a, err);
    return out->model != NULL;
}

static bool make_model(struct pass *p, struct group_look *out, struct arena *a, struct capacity_requests *requests,
                       struct err *err)
{
    return read_file(p, out, a, err) && fill_model(p, out, a, requests, err);
}

/* With templates of their own, for the passes to come. */
static bool make_anew(struct pass *p, struct group_look *out, struct arena *a, struct err *err)
{
    arena_init(a, 0);
    bool made = make_model(p, out, a, NULL, err);
    if (!made)
        arena_release(a);
    return made;
}

static bool look_anew(struct pass *p, struct group_look *out, struct err *err)
{
    struct group_kept *k = &p->r->keeper.kept;
    struct arena a;
    if (k->pooled == out->pooled) /* of this snapshot, too */
        k->pooled = NULL;
    group_kept_drop(k);
    if (!make_anew(p, out, &a, err))
        return false;
    out->world = build_world(out->model, &out->objects, p);
    out->how = DERIVE_BUILD;
    group_kept_take(k, p, out->world, &(struct group_kept_of){out->model, out->objects.requests, &a, out->pooled});
    return true;
}

/* Out of what is kept. `again_out`: that cannot be. */
static bool look_on(struct pass *p, struct group_look *out, enum kept_state state, bool *again_out, struct err *err)
{
    struct group_kept *k = &p->r->keeper.kept;
    struct arena a;
    arena_init(&a, 0);
    if (!make_model(p, out, p->a, k->requests, err))
        return false;
    bool same = group_kept_has_templates(k, out->model, state);
    if (!same && !make_anew(p, out, &a, err))
        return false;
    struct group_kept_of next = {same ? NULL : out->model, out->objects.requests, &a, out->pooled};
    out->how = same && out->pooled == k->pooled && state == KEPT_SAME ? DERIVE_SAME : DERIVE_DELTA;
    if (out->how == DERIVE_DELTA && !group_kept_move(k, p, &next)) {
        *again_out = true;
        arena_release(&a);
    }
    out->world = k->world;
    return true;
}

bool group_look_begin(struct pass *p, struct group_look *out, struct err *err)
{
    struct group_kept *k = &p->r->keeper.kept;
    enum kept_state state = group_kept_state(k, p);
    struct pooled *now = pooled_new(p);
    bool again = state == KEPT_NOT, as_before = !again && pooled_same(k->pooled, now);
    *out = (struct group_look){.world = NULL, .kept = true, .pooled = as_before ? k->pooled : now};
    if (as_before)
        pooled_free(now);
    if ((again || look_on(p, out, state, &again, err)) && (!again || look_anew(p, out, err)))
        return true;
    if (out->pooled != k->pooled)
        pooled_free(out->pooled);
    return false;
}

struct trying {
    struct pass *p;
    const struct group_model *model;
};

static struct world *world_of(void *user, const struct group_objects *objects)
{
    const struct trying *t = user;
    return build_world(t->model, objects, t->p);
}

static struct world *both_of(void *user, const struct group_offers *offers)
{
    struct pass *p = ((const struct trying *)user)->p;
    struct world_input in = {.syms = p->snapshot->syms, .options = &offers->options, .catalogue = &offers->catalogue};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        size_t count = 0;
        const void **list = all_of(p, k, &count);
        world_input_take(&in, k, list, count);
    }
    in.pools = offers->pools;
    in.pool_count = offers->pool_count;
    return world_build(&in);
}

const struct choice *group_look_choice(struct pass *p, const struct plan_options *o, const struct plan *pools)
{
    struct group_look l = {.world = NULL};
    struct err err;
    if (p->r->config.groups.provider == NULL || p->r->config.groups.flags.as_upstream || !read_file(p, &l, p->a, &err) ||
        !choice_is_open(&l.file, pools) || !fill_model(p, &l, p->a, NULL, &err))
        return NULL; /* what is wrong the pass over the groups says */
    l.world = build_world(l.model, &l.objects, p);
    struct trying t = {p, l.model};
    struct choice_ground g = {.pools = p->world, .options = o, .groups = l.world, .model = l.model, .flags = &l.flags,
                              .objects = &l.objects, .world_of = world_of, .both_of = both_of, .user = &t};
    const struct choice *c = choice_make(&g, pools, p->a);
    group_look_end(&l);
    return c;
}

/* --- groups alone --- */

static const uint64_t WISH_MOST = UINT64_C(5) * 1000 * 1000 * 1000; /* ns: half of what a pass is made every so often */

struct wishing {
    const struct reconciler_listener *listener;
    uint64_t until;
};

static uint64_t now_ns(const struct reconciler_listener *l)
{
    return l->now_ns != NULL ? l->now_ns(l->user) : 0;
}

static bool is_late(void *user)
{
    const struct wishing *x = user;
    const struct reconciler_listener *l = x->listener;
    return (l->goes_on != NULL && !l->goes_on(l->user)) || now_ns(l) >= x->until;
}

/* The sum of their uids' hashes; 0: nobody does. */
static uint64_t who_asks(const struct group_objects *o)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < o->pod_count; i++)
        if (o->pods[i]->node == SYM_NONE && o->pods[i]->unschedulable && o->pods[i]->meta.deleted == 0)
            sum += span_hash(o->pods[i]->meta.uid);
    return sum;
}

void group_look_wishes(struct pass *p, struct group_look *l)
{
    const struct reconciler_listener *listener = &p->r->config.listener;
    struct plan_options o = p->r->config.options.plan;
    uint64_t *fruitless = &p->r->keeper.fruitless;
    uint64_t asks = pass_has_pools(p) || !l->flags.by_cost ? 0 : who_asks(&l->objects);
    if (asks == 0 || asks == *fruitless)
        return; /* for whom no group will do is not looked at each time */
    struct wishing x = {listener, now_ns(listener) + WISH_MOST};
    struct trying t = {p, l->model};
    o.now = p->wall;
    o.no_bound = true;
    o.stop = is_late;
    o.user = &x;
    struct plan *none = plan_solve(p->world, &o);
    struct choice_ground g = {.pools = p->world, .options = &o, .groups = l->world, .model = l->model, .flags = &l->flags,
                              .objects = &l->objects, .world_of = world_of, .both_of = both_of, .user = &t};
    const struct choice *c = choice_make(&g, none, p->a);
    if (c != NULL)
        l->objects.wishes = choice_wishes(c, &l->objects.wish_count);
    *fruitless = c == NULL ? asks : 0;
    plan_free(none);
}

static const struct node *template_of(const struct group_model *m, struct span group)
{
    for (uint32_t i = 0; i < m->group_count; i++)
        if (span_eq(m->groups[i].spec->name, group))
            return m->groups[i].template.node;
    return NULL;
}

const struct choice *group_look_guests(struct pass *p)
{
    const struct places *places = p->r->places;
    struct guest *guests = ARENA_ARRAY(p->a, struct guest, places != NULL ? places->count : 0);
    struct group_look l = {.world = NULL};
    uint32_t count = 0, known = 0;
    struct err err;
    const struct span **of = ARENA_ARRAY(p->a, const struct span *, places != NULL ? places->count : 0);
    for (uint32_t i = 0; places != NULL && i < places->count; i++) {
        const struct pod *pod = places->items[i].group.len != 0 ? place_pod(p, &places->items[i]) : NULL;
        if (pod == NULL || !choice_is_guest(p->world, pod))
            continue;
        guests[count] = (struct guest){.pod = pod};
        of[count++] = &places->items[i].group;
    }
    if (count == 0 || !read_file(p, &l, p->a, &err) || !fill_model(p, &l, p->a, NULL, &err))
        return NULL; /* what is wrong the pass over the groups says */
    for (uint32_t i = 0; i < count; i++) {
        const struct node *n = template_of(l.model, *of[i]);
        if (n != NULL)
            guests[known++] = (struct guest){guests[i].pod, n};
    }
    return known != 0 ? choice_of_guests(guests, known, p->a) : NULL;
}

void group_look_end(struct group_look *l)
{
    if (!l->kept)
        world_free(l->world);
    l->world = NULL;
}
