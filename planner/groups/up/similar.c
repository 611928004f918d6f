/* similar: groups whose nodes are alike enough to share a scale-up (spec node-groups 3.10). */
#include <math.h>

#include "kube/wellknown.h"
#include "planner/groups/up/inner.h"

static const char *const basic_labels[] = {
    "kubernetes.io/hostname",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "beta.kubernetes.io/fluentd-ds-ready",
    "kops.k8s.io/instancegroup",
    NULL,
};

static const char *const aws_labels[] = {
    "alpha.eksctl.io/instance-id",
    "alpha.eksctl.io/nodegroup-name",
    "eks.amazonaws.com/nodegroup",
    "k8s.amazonaws.com/eniConfig",
    "lifecycle",
    "topology.ebs.csi.aws.com/zone",
    "topology.k8s.aws/zone-id",
    NULL,
};

static const char *const gce_labels[] = {"topology.gke.io/zone", NULL};

static const char *const azure_labels[] = {
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "topology.disk.csi.azure.com/zone",
    "aksEngineVersion",
    "creationSource",
    "poolName",
    "resourceNameSuffix",
    "kubernetes.azure.com/node-image-version",
    "kubernetes.azure.com/consolidated-additional-properties",
    NULL,
};

static const char *const no_labels[] = {NULL};

static const char *const *cloud_labels(enum group_cloud c)
{
    switch (c) {
    case GROUP_CLOUD_AWS:
        return aws_labels;
    case GROUP_CLOUD_GCE:
        return gce_labels;
    case GROUP_CLOUD_AZURE:
        return azure_labels;
    case GROUP_CLOUD_OTHER:
        break;
    }
    return no_labels;
}

static bool among(const char *const *list, struct span text)
{
    for (; *list != NULL; list++)
        if (span_eq(span_of(*list), text))
            return true;
    return false;
}

static bool is_ignored(const struct group_run *r, sym key)
{
    struct span text = sym_text(r->world->syms, key);
    if (among(basic_labels, text) || among(cloud_labels(r->model->file->cloud), text))
        return true;
    for (uint32_t i = 0; i < r->flags->balancing_ignore_labels.count; i++)
        if (span_eq(r->flags->balancing_ignore_labels.items[i], text))
            return true;
    return false;
}

/* The labels of one are those of the other. */
static bool labels_within(const struct group_run *r, const struct node *a, const struct node *b)
{
    for (uint32_t i = 0; i < a->meta.labels.count; i++) {
        struct sym_pair x = a->meta.labels.items[i];
        if (sym_pairs_get(b->meta.labels, x.key) != x.value && !is_ignored(r, x.key))
            return false;
    }
    return true;
}

static bool near(amount a, amount b, double ratio)
{
    double larger = (double)(a > b ? a : b), smaller = (double)(a > b ? b : a);
    return larger - smaller <= larger * ratio;
}

static bool has(struct resources r, sym name)
{
    for (uint32_t i = 0; i < r.count; i++)
        if (r.items[i].name == name)
            return true;
    return false;
}

/* Every resource that a has, b has within a ratio (of memory another). */
static bool amounts_within(struct resources a, struct resources b, double ratio, double memory_ratio)
{
    for (uint32_t i = 0; i < a.count; i++) {
        sym name = a.items[i].name;
        if (!has(b, name) || !near(a.items[i].value, resources_get(b, name), name == SYM_MEMORY ? memory_ratio : ratio))
            return false;
    }
    return true;
}

static struct resources requested(const struct group_template *t, struct arena *a)
{
    struct resources sum = {0};
    *resources_at(a, &sum, SYM_CPU) = 0;
    *resources_at(a, &sum, SYM_MEMORY) = 0;
    *resources_at(a, &sum, SYM_EPHEMERAL_STORAGE) = 0;
    *resources_at(a, &sum, SYM_PODS) = 0;
    for (uint32_t i = 0; i < t->pod_count; i++)
        resources_add(a, &sum, t->pods[i]->requests);
    return sum;
}

/* What DaemonSets leave; of pods all, as upstream does not count them here. */
static struct resources left_over(const struct group_template *t, struct arena *a)
{
    struct resources sum = requested(t, a);
    for (uint32_t i = 0; i < sum.count; i++)
        sum.items[i].value = resources_get(t->node->allocatable, sum.items[i].name) - sum.items[i].value;
    return sum;
}

static bool has_same(const struct group_run *r, const struct node *a, const struct node *b, struct span label)
{
    sym key = sym_find(r->world->syms, label);
    sym value = key != SYM_NONE ? sym_pairs_get(a->meta.labels, key) : SYM_NONE;
    return value != SYM_NONE && value == sym_pairs_get(b->meta.labels, key);
}

static bool same_pool(const struct group_run *r, const struct node *a, const struct node *b)
{
    return r->model->file->cloud == GROUP_CLOUD_AZURE &&
           (has_same(r, a, b, SPAN("agentpool")) || has_same(r, a, b, SPAN("kubernetes.azure.com/agentpool")));
}

static bool alike(const struct up *u, const struct group_template *a, const struct group_template *b)
{
    struct group_run *r = u->r;
    const struct group_flags *f = r->flags;
    struct resources x = a->node->capacity, y = b->node->capacity;
    for (uint32_t i = 0; i < f->balancing_labels.count; i++)
        if (!has_same(r, a->node, b->node, f->balancing_labels.items[i]))
            return false;
    if (f->balancing_labels.count != 0 || same_pool(r, a->node, b->node))
        return true;
    if (!amounts_within(x, y, 0, f->memory_ratio) || !amounts_within(y, x, 0, f->memory_ratio))
        return false;
    x = a->node->allocatable;
    y = b->node->allocatable;
    if (!amounts_within(x, y, f->allocatable_ratio, f->allocatable_ratio) ||
        !amounts_within(y, x, f->allocatable_ratio, f->allocatable_ratio))
        return false;
    x = left_over(a, r->arena);
    y = left_over(b, r->arena);
    return amounts_within(x, y, f->free_ratio, f->free_ratio) && amounts_within(y, x, f->free_ratio, f->free_ratio) &&
           labels_within(r, a->node, b->node) && labels_within(r, b->node, a->node);
}

static bool takes_all(const struct up *u, uint32_t group, uint32_t other)
{
    for (uint32_t i = 0; i < u->kind_count; i++)
        if (bits_has(u->kinds[i].fits, group) && !bits_has(u->kinds[i].fits, other))
            return false;
    return true;
}

/* Or would, if others of theirs were not where they are. */
static bool takes_all_but_for_spread(const struct up *u, uint32_t group, uint32_t other)
{
    struct snapshot *s = u->r->snapshot;
    bool takes = true;
    snapshot_fork(s);
    uint32_t node = snapshot_add_copy(s, (uint32_t)u->r->groups[other].template_row);
    for (uint32_t i = 0; takes && i < u->kind_count; i++)
        if (bits_has(u->kinds[i].fits, group) && !bits_has(u->kinds[i].fits, other))
            takes = snapshot_spread_refuses(s, node, u->kinds[i].class_id);
    snapshot_revert(s);
    return takes;
}

static void find_alike(const struct up *u, uint32_t group, bool (*takes)(const struct up *, uint32_t, uint32_t), uint64_t *out)
{
    const struct group_run *r = u->r;
    const struct group *g = &r->model->groups[group];
    for (uint32_t i = 0; !g->scaling.zero_or_max && i < r->model->group_count; i++) {
        const struct group_now *other = &r->groups[i];
        if (i != group && u->valid[i] && other->healthy && !other->backed_off &&
            alike(u, &g->template, &r->model->groups[i].template) && takes(u, group, i))
            bits_add(out, i);
    }
}

void up_find_alike(const struct up *u, uint32_t group, uint64_t *out)
{
    find_alike(u, group, takes_all_but_for_spread, out);
}

void up_find_similar(const struct up *u, uint32_t group, uint64_t *out)
{
    if (u->r->flags->balance_similar)
        find_alike(u, group, takes_all, out);
}
