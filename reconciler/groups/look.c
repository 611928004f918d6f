/* The objects of a snapshot as a pass over node groups takes them (planner/groups/model.h). */
#include "reconciler/groups/look.h"

#include "kube/config_map.h"
#include "reconciler/groups/removal.h"
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

static bool has_pools(const struct pass *p)
{
    for (uint32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].provider != NULL)
            return true;
    return false;
}

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
    sym node = node_of(p, place);
    if (node == SYM_NONE)
        return NULL;
    struct pod *copy = ARENA_NEW(p->a, struct pod);
    meta_copy_object(copy, pod, sizeof(*copy));
    copy->nominated_node = node; /* its room there is taken */
    return copy;
}

static const struct pod **pods_of(const struct pass *p, size_t *count_out)
{
    const struct pod **list = (const struct pod **)all_of(p, KIND_POD, count_out);
    size_t kept = 0;
    if (!has_pools(p))
        return list;
    for (size_t i = 0; i < *count_out; i++) {
        const struct pod *pod = beside_pools(p, list[i]);
        if (pod != NULL)
            list[kept++] = pod;
    }
    *count_out = kept;
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

static void take_objects(struct pass *p, struct group_objects *o, struct symtab *syms)
{
    const struct node **nodes = ARENA_ARRAY(p->a, const struct node *, p->node_count + 1);
    for (uint32_t i = 0; i < p->node_count; i++)
        nodes[i] = p->nodes[i].node;
    *o = (struct group_objects){.syms = syms, .nodes = nodes, .node_count = p->node_count};
    o->pods = pods_of(p, &o->pod_count);
    TAKE(daemon_sets, daemon_set_count, KIND_DAEMON_SET);
    TAKE(replica_sets, replica_set_count, KIND_REPLICA_SET);
    TAKE(stateful_sets, stateful_set_count, KIND_STATEFUL_SET);
    TAKE(replication_controllers, replication_controller_count, KIND_REPLICATION_CONTROLLER);
    TAKE(jobs, job_count, KIND_JOB);
    TAKE(budgets, budget_count, KIND_DISRUPTION_BUDGET);
    take_priorities(p, o);
}

/* What NodePools could buy, and for whom, is no matter here, and would take the most time of all. */
static bool is_left_out(enum kind k)
{
    return kind_is_of_pools(k) || k == KIND_NODE_OVERLAY;
}

bool group_look_fills_buffers(const struct pass *p)
{
    return p->r->config.groups.provider != NULL && world_reads(p->world, KIND_CAPACITY_BUFFER) && !has_pools(p);
}

static struct world *build_world(const struct group_look *l, struct pass *p)
{
    static const struct catalogue nothing;
    struct world_options options = {.unbound_classes = true,
                                    .capacity_buffer = group_look_fills_buffers(p),
                                    .default_spread = p->r->config.groups.default_spread};
    struct group_ground g = group_model_ground(l->model, &l->objects, p->a);
    struct world_input in = {.syms = l->objects.syms, .options = &options, .catalogue = &nothing,
                             .nodes = g.nodes, .node_count = g.node_count, .pods = g.pods, .pod_count = g.pod_count};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        size_t count = 0;
        if (k == KIND_NODE || k == KIND_POD || is_left_out(k))
            continue;
        const void **list = all_of(p, k, &count);
        world_input_take(&in, k, list, count);
    }
    return world_build(&in);
}

bool group_look_begin(struct pass *p, struct group_look *out, struct err *err)
{
    const struct group_settings *s = &p->r->config.groups;
    struct symtab *syms = p->snapshot->syms; /* a world is of one table; what groups bring to it are the same few texts each time */
    *out = (struct group_look){.world = NULL};
    if (!s->provider->ops->look(s->provider, p->snapshot, p->a, syms, &out->file, err))
        return false;
    take_objects(p, &out->objects, syms);
    group_memory_recall(p->r->keeper.memory, &out->file, &out->objects, p->wall, p->a);
    removals_recall(p, &out->file.state);
    out->model = group_model_make(&out->file, &s->flags, &out->objects, p->wall, p->a, err);
    if (out->model == NULL)
        return false;
    out->world = build_world(out, p);
    return true;
}

void group_look_end(struct group_look *l)
{
    world_free(l->world);
    l->world = NULL;
}
