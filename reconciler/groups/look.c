/* The objects of a snapshot as a pass over node groups takes them (planner/groups/model.h). */
#include "reconciler/groups/look.h"

#include <stdlib.h>

#include "kube/config_map.h"
#include "planner/groups/bought.h"
#include "reconciler/groups/coming.h"
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

/* --- pods that NodePools have a place for do not ask --- */

/* Which Node a place is on; SYM_NONE: it is still to come. */
static sym node_of(const struct pass *p, const struct place *place)
{
    if (!place->on_claim)
        return sym_find(p->snapshot->syms, place->target);
    const struct node_claim *c = snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, place->target);
    return c != NULL ? c->node_name : SYM_NONE;
}

/* Whether a plan still has to say whether there is a place for it. */
static bool is_undecided(const struct pass *p, const struct pod *pod)
{
    const struct waiting_memo *m = memos_find(&p->r->waiting, pod->meta.uid);
    return m == NULL || !m->decided;
}

/* As it is to be seen here; NULL: not at all. */
static const struct pod *beside_pools(const struct pass *p, const struct pod *pod)
{
    if (pod->node != SYM_NONE || !pod->unschedulable || pod->meta.deleted != 0)
        return pod;
    const struct place *place = p->r->places != NULL ? places_find(p->r->places, pod->meta.uid) : NULL;
    if (place == NULL)
        return is_undecided(p, pod) ? NULL : pod;
    if (coming_has(p, place, pod))
        return pod;
    sym node = node_of(p, place);
    if (node == SYM_NONE)
        return NULL;
    struct pod *copy = ARENA_NEW(p->a, struct pod);
    meta_copy_object(copy, pod, sizeof(*copy));
    copy->nominated_node = node; /* its room there is taken */
    return copy;
}

static const struct pod **pods_of(const struct pass *p, bool whole, size_t *count_out)
{
    const struct pod **list = (const struct pod **)all_of(p, KIND_POD, count_out);
    size_t kept = 0;
    if (whole || !pass_has_pools(p))
        return list;
    for (size_t i = 0; i < *count_out; i++) {
        const struct pod *pod = beside_pools(p, list[i]);
        if (pod != NULL)
            list[kept++] = pod;
    }
    *count_out = kept;
    return list;
}

/* --- what they have bought, and has not come --- */

struct sold { /* a claim without a Node, for a pod */
    struct span claim;
    const struct pod *pod;
};

static int by_claim(const void *a, const void *b)
{
    const struct sold *x = a, *y = b;
    int order = span_cmp(x->claim, y->claim);
    return order != 0 ? order : group_pods_by_name(&x->pod, &y->pod);
}

static struct sold *list_sold(const struct pass *p, uint32_t *count_out)
{
    const struct places *places = p->r->places;
    struct sold *list = ARENA_ARRAY(p->a, struct sold, places->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        const struct place *x = &places->items[i];
        const struct pod *pod = x->on_claim && node_of(p, x) == SYM_NONE ? place_pod(p, x) : NULL;
        if (pod != NULL)
            list[count++] = (struct sold){x->target, pod};
    }
    if (count != 0)
        qsort(list, count, sizeof(*list), by_claim);
    *count_out = count;
    return list;
}

/* One that was asked for a moment ago and is in no snapshot yet has no labels to tell. */
static const struct group_bought *bought_of(const struct pass *p, struct symtab *syms)
{
    struct group_bought *out = ARENA_NEW(p->a, struct group_bought);
    uint32_t count, next;
    if (p->r->places == NULL)
        return NULL;
    const struct sold *list = list_sold(p, &count);
    const struct pod **pods = ARENA_ARRAY(p->a, const struct pod *, count + 1);
    for (uint32_t at = 0; at < count; at = next) {
        const struct node_claim *c = snapshot_find(p->snapshot, KIND_NODE_CLAIM, (struct span){0}, list[at].claim);
        for (next = at; next < count && span_eq(list[next].claim, list[at].claim); next++)
            pods[next - at] = list[next].pod;
        if (c != NULL)
            bought_add_claim(out, p->a, syms, p->world, c, pods, next - at);
    }
    return out->node_count != 0 ? out : NULL;
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

static void take_objects(struct pass *p, struct group_objects *o, struct symtab *syms, bool whole)
{
    const struct node **nodes = ARENA_ARRAY(p->a, const struct node *, p->node_count + 1);
    for (uint32_t i = 0; i < p->node_count; i++)
        nodes[i] = p->nodes[i].node;
    *o = (struct group_objects){.syms = syms, .nodes = nodes, .node_count = p->node_count};
    o->pods = pods_of(p, whole, &o->pod_count);
    o->bought = !whole && pass_has_pools(p) ? bought_of(p, syms) : NULL;
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
    out->flags = pass_has_pools(p) ? choice_flags(&s->flags, &out->file) : s->flags;
    return true;
}

/* Of the file. `whole`: pods ask that have a place with the pools, too. `requests`: of the world that is kept; NULL: they are
 * resolved for a new one. */
static bool fill_model(struct pass *p, struct group_look *out, bool whole, struct arena *a,
                       struct capacity_requests *requests, struct err *err)
{
    struct symtab *syms = p->snapshot->syms;
    take_objects(p, &out->objects, syms, whole);
    out->objects.requests = requests != NULL ? requests : requests_resolve(p, syms, a);
    requests_recall(p, out->objects.requests);
    group_memory_recall(p->r->keeper.memory, &out->file, &out->objects, p->wall, a);
    learned_recall(p->r->keeper.learned, &out->file, syms, a);
    removals_recall(p, &out->file.state);
    out->model = group_model_make(&out->file, &out->flags, &out->objects, p->wall, a, err);
    return out->model != NULL;
}

static bool make_model(struct pass *p, struct group_look *out, struct arena *a, struct capacity_requests *requests,
                       struct err *err)
{
    return read_file(p, out, a, err) && fill_model(p, out, false, a, requests, err);
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
    group_kept_drop(k);
    if (!make_anew(p, out, &a, err))
        return false;
    out->world = build_world(out->model, &out->objects, p);
    out->how = DERIVE_BUILD;
    group_kept_take(k, p, out->world, out->model, out->objects.requests, &a);
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
    out->how = same && state == KEPT_SAME ? DERIVE_SAME : DERIVE_DELTA;
    if (out->how == DERIVE_DELTA && !group_kept_move(k, p, same ? NULL : out->model, out->objects.requests, &a)) {
        *again_out = true;
        arena_release(&a);
    }
    out->world = k->world;
    return true;
}

bool group_look_begin(struct pass *p, struct group_look *out, struct err *err)
{
    enum kept_state state = group_kept_state(&p->r->keeper.kept, p);
    bool again = state == KEPT_NOT;
    *out = (struct group_look){.world = NULL, .kept = true};
    if (pass_has_pools(p)) {
        out->kept = false;
        if (!make_model(p, out, p->a, NULL, err))
            return false;
        out->world = build_world(out->model, &out->objects, p);
        out->how = DERIVE_BUILD;
        return true;
    }
    if (!again && !look_on(p, out, state, &again, err))
        return false;
    return !again || look_anew(p, out, err);
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

const struct choice *group_look_choice(struct pass *p, const struct plan_options *o, const struct plan *pools)
{
    struct group_look l = {.world = NULL};
    struct err err;
    if (p->r->config.groups.provider == NULL || p->r->config.groups.flags.as_upstream || !read_file(p, &l, p->a, &err) ||
        !choice_is_open(&l.file, pools) || !fill_model(p, &l, true, p->a, NULL, &err))
        return NULL; /* what is wrong the pass over the groups says */
    l.world = build_world(l.model, &l.objects, p);
    struct trying t = {p, l.model};
    struct choice_ground g = {.pools = p->world, .options = o, .groups = l.world, .model = l.model, .flags = &l.flags,
                              .objects = &l.objects, .world_of = world_of, .user = &t};
    const struct choice *c = choice_make(&g, pools, p->a);
    group_look_end(&l);
    return c;
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
    if (count == 0 || !read_file(p, &l, p->a, &err) || !fill_model(p, &l, true, p->a, NULL, &err))
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
