#include "server/pool_findings.h"

#include "cloud/pool_match.h"
#include "kube/pool_neighbours.h"
#include "kube/pool_warnings.h"
#include "planner/supply/supply_warnings.h"

static bool is_written_for(struct arena *a, const struct node_pool *pool, const struct catalogue *c, struct symtab *syms)
{
    return !pool_match_other_class(pool, c, syms) && pool_match_labels(a, pool, c, syms).count == 0;
}

static void look_at_pods(struct arena *a, const struct node_pool *pool, const struct pool_company *among, struct symtab *syms,
                         struct findings *out)
{
    const struct taint *barrier = pool_barrier(pool);
    if (barrier == NULL || pool->has_replicas || among->pod_count == 0)
        return;
    for (size_t i = 0; i < among->pod_count; i++)
        if (pod_is_meant_for(among->pods[i], pool, syms))
            return;
    pool_barrier_warning(a, barrier, syms, out);
}

void pool_findings(struct arena *a, const struct node_pool *pool, const struct pool_company *among, struct symtab *syms,
                   struct findings *out)
{
    struct findings own = {0};
    const struct node_pool *first = NULL;
    uint32_t rivals = 0;
    pool_warnings(a, pool, syms, &own);
    if (is_written_for(a, pool, among->catalogue, syms) && !findings_in(&own, SPAN("spec.template.")))
        supply_warnings_of_pool(a, pool, among->catalogue, syms, out);
    pool_limit_warnings(a, pool, pool->status_resources, syms, out);
    struct requirements asked = pool_asked(a, pool, syms);
    for (size_t i = 0; i < among->count; i++)
        if (pools_compete(a, pool, &asked, among->pools[i], syms) && rivals++ == 0)
            first = among->pools[i];
    if (first != NULL)
        pool_rival_warning(a, pool, first, rivals, out);
    look_at_pods(a, pool, among, syms, out);
}
