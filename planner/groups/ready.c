#include "planner/groups/ready.h"

#define STEADY (1 * MS_MINUTE)

bool node_is_suspended(const struct node *n)
{
    return conditions_true(n->conditions, SPAN("Suspended"));
}

bool node_is_to_be_deleted(const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (n->taints.items[i].key == SYM_TO_BE_DELETED)
            return true;
    return false;
}

static bool is_listed(const struct spans *list, struct span key)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (span_eq(list->items[i], key))
            return true;
    return false;
}

static bool begins_as_listed(const struct spans *list, struct span key)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (span_has_prefix(key, list->items[i]))
            return true;
    return false;
}

static bool is_startup_taint(const struct group_flags *flags, struct span key)
{
    return is_listed(&flags->startup_taints, key) || begins_as_listed(&flags->startup_taint_prefixes, key) ||
           span_has_prefix(key, SPAN("startup-taint.cluster-autoscaler.kubernetes.io/")) ||
           span_has_prefix(key, SPAN("ignore-taint.cluster-autoscaler.kubernetes.io/"));
}

bool taint_is_passing(const struct group_flags *flags, const struct symtab *syms, sym key)
{
    static const char *const conditions[] = {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/pid-pressure",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    };
    struct span text = sym_text(syms, key);
    for (size_t i = 0; i < COUNT_OF(conditions); i++)
        if (span_eq(text, span_of(conditions[i])))
            return true;
    return is_startup_taint(flags, text) || is_listed(&flags->status_taints, text) ||
           span_has_prefix(text, SPAN("status-taint.cluster-autoscaler.kubernetes.io/"));
}

/* Ready by what its conditions and taints say, and since when these conditions are as they are. */
static bool is_ready(const struct node *n, const struct symtab *syms, wall_ms *since_out)
{
    static const char *const taints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure",
                                         "node.kubernetes.io/network-unavailable"};
    bool ready = false, hindered = false;
    *since_out = 0;
    for (uint32_t i = 0; i < n->conditions.count; i++) {
        const struct condition *c = &n->conditions.items[i];
        bool is = span_eq(c->type, SPAN("Ready"));
        if (!is && !span_eq(c->type, SPAN("DiskPressure")) && !span_eq(c->type, SPAN("NetworkUnavailable")))
            continue;
        ready |= is && c->status == CONDITION_TRUE;
        hindered |= is ? c->status != CONDITION_TRUE : c->status == CONDITION_TRUE;
        *since_out = c->transition > *since_out ? c->transition : *since_out;
    }
    for (uint32_t i = 0; i < n->taints.count; i++)
        for (size_t k = 0; k < COUNT_OF(taints); k++)
            hindered |= span_eq(sym_text(syms, n->taints.items[i].key), span_of(taints[k]));
    return ready && !hindered;
}

static bool lacks_gpus(const struct group_model *m, const struct symtab *syms, const struct node *n)
{
    return group_node_is_gpu(m, n) && group_gpu_of(n->allocatable, syms) == SYM_NONE;
}

static bool is_starting(const struct group_flags *flags, const struct symtab *syms, const struct node *n)
{
    for (uint32_t i = 0; i < n->taints.count; i++)
        if (is_startup_taint(flags, sym_text(syms, n->taints.items[i].key)))
            return true;
    return false;
}

bool group_node_ready(const struct group_model *m, const struct group_flags *flags, const struct symtab *syms,
                      const struct node *n)
{
    wall_ms since;
    return is_ready(n, syms, &since) && !lacks_gpus(m, syms, n) && !is_starting(flags, syms, n);
}

bool group_node_steady(const struct group_model *m, const struct group_flags *flags, const struct symtab *syms,
                       const struct node *n, wall_ms now)
{
    wall_ms since;
    is_ready(n, syms, &since);
    return since + STEADY < now && !n->unschedulable && !node_is_to_be_deleted(n) &&
           group_node_ready(m, flags, syms, n);
}

const struct span *group_gpu_names(uint32_t *count_out)
{
    static const struct span names[] = {
        SPAN_INIT("nvidia.com/gpu"), SPAN_INIT("habana.ai/gaudi"), SPAN_INIT("gpu.intel.com/xe"),
        SPAN_INIT("amd.com/gpu"),    SPAN_INIT("microsoft.com/directx"),
    };
    *count_out = COUNT_OF(names);
    return names;
}

sym group_gpu_of(struct resources r, const struct symtab *syms)
{
    uint32_t count;
    const struct span *names = group_gpu_names(&count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < r.count; k++)
            if (r.items[k].value != 0 && span_eq(sym_text(syms, r.items[k].name), names[i]))
                return r.items[k].name;
    return SYM_NONE;
}
