#include "planner/groups/down/utilization.h"

#include "planner/groups/down/drain.h"

struct usage { /* of one resource */
    sym resource;
    amount has, asked, ignored;
};

/* Upstream divides thousandths of each resource; of CPU an amount counts them already. */
static int64_t thousandths(sym resource, amount value)
{
    int64_t product = value;
    if (resource != SYM_CPU && __builtin_mul_overflow(value, (int64_t)1000, &product))
        product = INT64_MAX;
    return product;
}

/* Where what is ignored takes all of the node, anything at all is too much: a number that JSON can say. */
static double ratio(const struct usage *u)
{
    int64_t asked = thousandths(u->resource, u->asked);
    int64_t has = thousandths(u->resource, u->has) - thousandths(u->resource, u->ignored);
    if (has == 0)
        return asked == 0 ? 0 : 1e9;
    return (double)asked / (double)has;
}

/* Pods are read once, whatever is asked of them: a pass reads all of a cluster. */
static void add_pod(const struct utilization_policy *policy, const struct pod *p, struct usage *of, uint32_t count)
{
    bool ignored = (policy->ignore_daemon_sets && drain_is_daemon(p)) ||
                   (policy->ignore_mirror_pods && drain_is_mirror(p));
    if (!ignored && drain_is_overdue(p, policy->now))
        return;
    for (uint32_t i = 0; i < p->requests.count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (p->requests.items[i].name == of[k].resource) {
                amount *sum = ignored ? &of[k].ignored : &of[k].asked;
                *sum = amount_add(*sum, p->requests.items[i].value);
            }
}

bool utilization_of(const struct utilization_policy *policy, const struct node *n, sym gpu,
                    const struct pod *const *pods, uint32_t pod_count, double *out)
{
    struct usage of[] = {{.resource = gpu != SYM_NONE ? gpu : SYM_CPU}, {.resource = SYM_MEMORY}};
    uint32_t count = gpu != SYM_NONE ? 1 : 2;
    *out = 0;
    for (uint32_t k = 0; k < count; k++) {
        of[k].has = resources_get(n->allocatable, of[k].resource);
        if (of[k].has == 0)
            return gpu != SYM_NONE;
    }
    for (uint32_t i = 0; i < pod_count; i++)
        add_pod(policy, pods[i], of, count);
    for (uint32_t k = 0; k < count; k++)
        *out = ratio(&of[k]) > *out || k == 0 ? ratio(&of[k]) : *out;
    return true;
}
