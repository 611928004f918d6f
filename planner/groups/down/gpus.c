/* GPUs as Cluster Autoscaler knows them. A cluster whose provider has no label for them has none. */
#include "planner/groups/down/inner.h"
#include "planner/groups/ready.h"

static sym gpu_in(const struct down *d, struct resources r)
{
    return group_gpu_of(r, d->r->objects->syms);
}

sym gpus_of(const struct down *d, const struct node *n)
{
    if (d->r->model->file->gpu_label == SYM_NONE)
        return SYM_NONE;
    sym there = gpu_in(d, n->allocatable);
    return there == SYM_NONE && group_node_is_gpu(d->r->model, n) ? d->gpu_by_label : there;
}

/* A node of a GPU group that has none yet will have those of the template that the file gives. */
bool gpus_count(const struct down *d, const struct node *n, int32_t group, struct span *type_out, int64_t *count_out)
{
    sym label = d->r->model->file->gpu_label;
    *count_out = 0;
    if (!group_node_is_gpu(d->r->model, n))
        return true;
    *type_out = sym_text(d->r->objects->syms, sym_pairs_get(n->meta.labels, label));
    *count_out = resources_get(n->allocatable, gpu_in(d, n->allocatable));
    if (*count_out != 0)
        return true;
    const struct node *template = group >= 0 ? d->r->model->groups[group].spec->template : NULL;
    if (template == NULL)
        return false;
    *count_out = resources_get(template->capacity, gpu_in(d, template->capacity));
    return true;
}
