#include "planner/groups/down/utilization.h"

#include "planner/groups/down/drain.h"

/* Upstream divides thousandths of each resource; of CPU an amount counts them already. */
static int64_t thousandths(sym resource, amount value)
{
    int64_t product = value;
    if (resource != SYM_CPU && __builtin_mul_overflow(value, (int64_t)1000, &product))
        product = INT64_MAX;
    return product;
}

/* Where what is ignored takes all of the node, anything at all is too much: a number that JSON can say. */
static double ratio(int64_t asked, int64_t has)
{
    if (has == 0)
        return asked == 0 ? 0 : 1e9;
    return (double)asked / (double)has;
}

/* False when the node has none of it. */
static bool of_resource(const struct utilization_policy *policy, const struct node *n, sym resource,
                        const struct pod *const *pods, uint32_t pod_count, double *out)
{
    amount has = resources_get(n->allocatable, resource), asked = 0, ignored = 0;
    if (has == 0)
        return false;
    for (uint32_t i = 0; i < pod_count; i++) {
        const struct pod *p = pods[i];
        amount request = resources_get(p->requests, resource);
        if ((policy->ignore_daemon_sets && drain_is_daemon(p)) || (policy->ignore_mirror_pods && drain_is_mirror(p)))
            ignored = amount_add(ignored, request);
        else if (!drain_is_overdue(p, policy->now))
            asked = amount_add(asked, request);
    }
    *out = ratio(thousandths(resource, asked), thousandths(resource, has) - thousandths(resource, ignored));
    return true;
}

bool utilization_of(const struct utilization_policy *policy, const struct node *n, sym gpu,
                    const struct pod *const *pods, uint32_t pod_count, double *out)
{
    double cpu, memory;
    *out = 0;
    if (gpu != SYM_NONE) {
        of_resource(policy, n, gpu, pods, pod_count, out);
        return true;
    }
    if (!of_resource(policy, n, SYM_CPU, pods, pod_count, &cpu) ||
        !of_resource(policy, n, SYM_MEMORY, pods, pod_count, &memory))
        return false;
    *out = cpu > memory ? cpu : memory;
    return true;
}
