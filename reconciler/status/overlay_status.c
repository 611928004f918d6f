/* Conditions of NodeOverlays: whether each has the effect that its writer meant. The world has laid them
 * over the catalogue already and knows those that it left out. */
#include "base/json.h"
#include "kube/patch.h"
#include "planner/supply/overlays.h"
#include "reconciler/stages.h"

static const struct span VALIDATED = SPAN_INIT("ValidationSucceeded");

static const struct overlay_fault *find_fault(const struct overlaid *o,
                                              const struct node_overlay *overlay)
{
    for (uint32_t i = 0; i < o->fault_count; i++)
        if (span_eq(o->faults[i].overlay->meta.uid, overlay->meta.uid))
            return &o->faults[i];
    return NULL;
}

static void write_conditions(struct pass *p, const struct meta *meta, struct memo *memo,
                             struct conditions list)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    patch_status_begin(&j, p->a, list);
    patch_status_end(&j);
    act(p, &(struct action){.verb = API_MERGE,
                            .kind = KIND_NODE_OVERLAY,
                            .object = meta,
                            .memo = memo,
                            .subresource = SPAN("status"),
                            .body = buf_span(&out)});
    buf_release(&out);
}

static void keep_conditions(struct pass *p, const struct overlaid *laid,
                            const struct node_overlay *o)
{
    struct memo *memo = memos_at(&p->r->overlays, o->meta.uid);
    if (o->meta.deleted != 0)
        return;
    if (!act_may(p, memo, &o->meta))
        return;
    const struct overlay_fault *fault = find_fault(laid, o);
    struct condition_set s =
        condition_set_of(p->a, &node_overlay_conditions, &o->meta, o->conditions, p->wall);
    if (fault == NULL)
        condition_set_true(&s, VALIDATED);
    else
        condition_set_put(&s, VALIDATED, CONDITION_FALSE,
                          fault->rival != NULL ? SPAN("Conflict") : SPAN("RuntimeValidation"),
                          fault->why);
    if (s.changed)
        write_conditions(p, &o->meta, memo, s.list);
}

void overlay_status_run(struct pass *p)
{
    const struct overlaid *laid = world_overlaid(p->world);
    struct snapshot_iter it = snapshot_each(p->snapshot, KIND_NODE_OVERLAY);
    if (laid == NULL)
        return;
    for (const struct node_overlay *o; (o = snapshot_next(&it)) != NULL;)
        keep_conditions(p, laid, o);
}
