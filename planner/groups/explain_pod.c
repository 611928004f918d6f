/* What a pass over node groups comes to for one pod. A pass may have looked at a copy: pods are told by their names. */
#include "planner/groups/explain.h"

#include <stdlib.h>

static bool is_pod(const struct pod *x, const struct pod *y)
{
    return x == y || (span_eq(x->meta.name, y->meta.name) && span_eq(x->meta.ns, y->meta.ns));
}

static bool has(const struct pod *const *list, uint32_t count, const struct pod *pod)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_pod(list[i], pod))
            return true;
    return false;
}

static struct span name_of(const struct group_pass *p, uint32_t group)
{
    return p->model->groups[group].spec->name;
}

uint32_t group_pods_for(const struct group_pass *p, uint32_t group)
{
    const struct group_scale_up *up = &p->up;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->coming_count && up->triggered_count != 0; i++)
        count += p->coming[i].group == group &&
                 bsearch(&p->coming[i].pod, up->triggered, up->triggered_count, sizeof(*up->triggered), group_pods_by_name) != NULL;
    return count;
}

static struct span place_on(const struct group_pass *p, const struct group_coming *c, struct arena *a)
{
    if (c->row >= 0)
        return arena_printf(a, "node %.*s of group %.*s, which is not ready yet", SPAN_ARG(world_node_at(p->world, (uint32_t)c->row)->name),
                            SPAN_ARG(name_of(p, c->group)));
    return arena_printf(a, "a new node of group %.*s", SPAN_ARG(name_of(p, c->group)));
}

struct span group_place_of(const struct group_pass *p, const struct pod *pod, struct arena *a)
{
    for (uint32_t i = 0; i < p->coming_count; i++)
        if (is_pod(p->coming[i].pod, pod))
            return place_on(p, &p->coming[i], a);
    if (has(p->up.triggered, p->up.triggered_count, pod))
        return SPAN("a new node of a group that grows");
    for (uint32_t i = 0; i < p->up.option_count && has(p->up.awaiting, p->up.awaiting_count, pod); i++)
        if (has(p->up.options[i].pods, p->up.options[i].pod_count, pod))
            return arena_printf(a, "a node of group %.*s, if the next pass asks for one", SPAN_ARG(name_of(p, p->up.options[i].group)));
    return (struct span){NULL, 0};
}

struct span group_reasons_text(struct spans reasons, struct arena *a)
{
    struct span out = {NULL, 0};
    for (uint32_t i = 0; i < reasons.count; i++)
        out = arena_printf(a, "%.*s%s%.*s", SPAN_ARG(out), i != 0 ? ", " : "", SPAN_ARG(reasons.items[i]));
    return out;
}

struct span group_refusal_of(const struct group_pass *p, const struct pod *pod, struct arena *a)
{
    const struct group_scale_up *up = &p->up;
    uint32_t low = 0, high = up->left_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (group_pods_by_name(&up->left[mid].pod, &pod) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < up->left_count && is_pod(up->left[low].pod, pod);
    return found ? group_reasons_text(up->left[low].reasons, a) : (struct span){NULL, 0};
}
