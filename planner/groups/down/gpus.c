/* GPUs as Cluster Autoscaler knows them. A cluster whose provider has no label for them has none. */
#include "planner/groups/down/inner.h"

static const struct span names[GPU_RESOURCES] = {
    SPAN_INIT("nvidia.com/gpu"), SPAN_INIT("habana.ai/gaudi"), SPAN_INIT("gpu.intel.com/xe"),
    SPAN_INIT("amd.com/gpu"),    SPAN_INIT("microsoft.com/directx"),
};

void gpus_init(struct down *d)
{
    for (uint32_t i = 0; i < GPU_RESOURCES; i++)
        d->gpus[i] = sym_intern(d->r->objects->syms, names[i]);
}

static sym first_with(const struct down *d, struct resources r)
{
    for (uint32_t i = 0; i < GPU_RESOURCES; i++)
        if (resources_get(r, d->gpus[i]) != 0)
            return d->gpus[i];
    return SYM_NONE;
}

sym gpus_of(const struct down *d, const struct node *n)
{
    if (d->r->model->file->gpu_label == SYM_NONE)
        return SYM_NONE;
    sym there = first_with(d, n->allocatable);
    return there == SYM_NONE && group_node_is_gpu(d->r->model, n) ? d->gpus[0] : there;
}

/* A node of a GPU group that has none yet will have those of the template that the file gives. */
bool gpus_count(const struct down *d, const struct node *n, int32_t group, struct span *type_out, int64_t *count_out)
{
    sym label = d->r->model->file->gpu_label;
    *count_out = 0;
    if (!group_node_is_gpu(d->r->model, n))
        return true;
    *type_out = sym_text(d->r->objects->syms, sym_pairs_get(n->meta.labels, label));
    *count_out = resources_get(n->allocatable, first_with(d, n->allocatable));
    if (*count_out != 0)
        return true;
    const struct node *template = group >= 0 ? d->r->model->groups[group].spec->template : NULL;
    if (template == NULL)
        return false;
    *count_out = resources_get(template->capacity, first_with(d, template->capacity));
    return true;
}
