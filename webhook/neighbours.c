#include "webhook/neighbours.h"

#include "kube/claim_warnings.h"
#include "kube/pod.h"
#include "kube/pool_neighbours.h"
#include "planner/supply/overlay_rivals.h"
#include "planner/supply/supply_warnings.h"
#include "planner/world.h"

/* What is compared with all that the cluster has; with more, only the object itself is checked. */
enum {
    TAINTS_MAX = 100,         /* of a pool, with those that each pod tolerates */
    OVERLAY_CAPACITY_MAX = 100, /* of an overlay, for each instance type in each pool; and requirements with their values */
    OVERLAY_VALUES_MAX = 1000,
};

static void look_at_pools(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p, struct symtab *syms,
                          struct findings *out)
{
    const struct node_pool *first = NULL;
    struct requirements asked = pool_asked(a, p, syms);
    uint32_t count = 0;
    struct snapshot_iter it = snapshot_each(snapshot, KIND_NODE_POOL);
    for (const struct node_pool *other; (other = snapshot_next(&it)) != NULL;) {
        if (findings_closed(out))
            return; /* how many there are is not known */
        if (!pools_compete(a, p, &asked, other, syms))
            continue;
        count++;
        if (first == NULL || span_cmp(other->meta.name, first->meta.name) < 0)
            first = other;
    }
    if (first != NULL)
        pool_rival_warning(a, p, first, count, out);
}

static void look_at_pods(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p, struct symtab *syms,
                         struct findings *out)
{
    const struct taint *barrier = pool_barrier(p);
    struct snapshot_iter it = snapshot_each(snapshot, KIND_POD);
    if (barrier == NULL || p->has_replicas)
        return;
    out->stopped |= p->taints.count > TAINTS_MAX;
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;)
        if (findings_closed(out) || pod_is_meant_for(pod, p, syms))
            return;
    pool_barrier_warning(a, barrier, syms, out);
}

static void look_at_limits(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p, const struct symtab *syms,
                           struct findings *out)
{
    const struct node_pool *known = snapshot_find(snapshot, KIND_NODE_POOL, (struct span){NULL, 0}, p->meta.name);
    if (known != NULL)
        pool_limit_warnings(a, p, known->status_resources, syms, out);
}

static bool is_served(struct node_class_ref ref, const struct label_rules *rules)
{
    for (uint32_t i = 0; i < rules->domain_count; i++)
        if (span_eq(rules->domains[i], ref.group))
            return true;
    return false;
}

void neighbours_of_pool(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p,
                        const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out)
{
    const struct world *w = snapshot->derived;
    bool odd = findings_in(own, SPAN("spec.template.")); /* that is told, not what comes of it */
    if (!odd && w != NULL && (is_served(p->node_class, rules) || supply_knows_class(world_catalogue(w), &p->node_class)))
        supply_warnings_of_pool(a, p, world_catalogue(w), syms, out);
    look_at_limits(a, snapshot, p, syms, out);
    look_at_pools(a, snapshot, p, syms, out);
    look_at_pods(a, snapshot, p, syms, out);
}

static bool is_large(const struct node_overlay *o)
{
    uint64_t values = o->requirements.count;
    for (uint32_t i = 0; i < o->requirements.count; i++)
        values += o->requirements.items[i].values.count;
    return o->capacity.count > OVERLAY_CAPACITY_MAX || values > OVERLAY_VALUES_MAX;
}

/* All of a kind. */
static const void **listed(struct arena *a, const struct snapshot *snapshot, enum kind kind, size_t *count_out)
{
    struct snapshot_iter it = snapshot_each(snapshot, kind);
    const void **list = NULL;
    uint32_t count = 0, capacity = 0;
    for (const void *object; (object = snapshot_next(&it)) != NULL;)
        ARENA_PUSH(a, list, count, capacity, object);
    *count_out = count;
    return list;
}

void neighbours_of_overlay(struct arena *a, const struct snapshot *snapshot, const struct node_overlay *o, struct symtab *syms,
                           struct findings *out)
{
    const struct world *w = snapshot->derived;
    struct overlay_company among = {.catalogue = w == NULL ? NULL : world_catalogue(w)};
    out->stopped |= is_large(o);
    if (among.catalogue == NULL || findings_closed(out))
        return;
    among.overlays = (const struct node_overlay *const *)listed(a, snapshot, KIND_NODE_OVERLAY, &among.overlay_count);
    among.pools = (const struct node_pool *const *)listed(a, snapshot, KIND_NODE_POOL, &among.pool_count);
    overlay_rivals_warnings(a, o, &among, syms, out);
}

void neighbours_of_claim(struct arena *a, const struct snapshot *snapshot, const struct node_claim *c,
                         const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out)
{
    const struct world *w = snapshot->derived;
    bool served = is_served(c->node_class, rules);
    struct class_list classes;
    if (c->provider_id.len != 0)
        return;
    if (served) {
        classes.items = (const struct kwok_node_class *const *)listed(a, snapshot, KIND_KWOK_NODE_CLASS, &classes.count);
        claim_class_warnings(a, c, classes, out);
    }
    if (w != NULL && (served || supply_knows_class(world_catalogue(w), &c->node_class)) && !findings_in(own, SPAN("spec.")))
        supply_warnings_of_claim(a, c, world_catalogue(w), syms, out);
}

static uint32_t leaving_pods(const struct world *w, uint32_t row)
{
    const struct world_node *n = world_node_at(w, row);
    const struct pod *const *pods = world_node_pods(w, row);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->pod_count; i++)
        count += !pod_is_daemon(pods[i]);
    return count;
}

struct span neighbours_of_deleted(struct arena *a, const struct snapshot *snapshot, struct span pool)
{
    const struct world *w = snapshot->derived;
    uint32_t nodes = 0, pods = 0;
    for (uint32_t row = 0; w != NULL && row < world_node_count(w); row++) {
        const struct world_node *n = world_node_at(w, row);
        if (n->claim == NULL || !span_eq(sym_text(snapshot->syms, sym_pairs_get(n->claim->meta.labels, SYM_NODEPOOL)), pool))
            continue;
        nodes++;
        pods += leaving_pods(w, row);
    }
    if (nodes == 0)
        return (struct span){NULL, 0};
    return arena_printf(a, "its %u node%s with it, and the %u pod%s there %s evicted", nodes, nodes == 1 ? " goes" : "s go", pods,
                        pods == 1 ? "" : "s", pods == 1 ? "is" : "are");
}
