#include "webhook/neighbours.h"

#include "kube/pod.h"
#include "kube/pool_neighbours.h"
#include "planner/supply/pool_supply.h"
#include "planner/world.h"

static void look_at_pools(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p, struct symtab *syms,
                          struct findings *out)
{
    const struct node_pool *first = NULL;
    uint32_t count = 0;
    struct snapshot_iter it = snapshot_each(snapshot, KIND_NODE_POOL);
    for (const struct node_pool *other; (other = snapshot_next(&it)) != NULL;) {
        if (!pools_compete(a, p, other, syms))
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
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;)
        if (pod_is_meant_for(pod, p, syms))
            return;
    pool_barrier_warning(a, barrier, syms, out);
}

static bool is_served(const struct node_pool *p, const struct label_rules *rules)
{
    for (uint32_t i = 0; i < rules->domain_count; i++)
        if (span_eq(rules->domains[i], p->node_class.group))
            return true;
    return false;
}

void neighbours_warnings(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p,
                         const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out)
{
    const struct world *w = snapshot->derived;
    bool odd = findings_in(own, SPAN("spec.template.")); /* that is told, not what comes of it */
    if (!odd && w != NULL && is_served(p, rules))
        pool_supply_warnings(a, p, world_catalogue(w), syms, out);
    look_at_pools(a, snapshot, p, syms, out);
    look_at_pods(a, snapshot, p, syms, out);
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
