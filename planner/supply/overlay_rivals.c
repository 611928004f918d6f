#include "planner/supply/overlay_rivals.h"

static void tell(struct arena *a, const struct overlay_fault *f, const struct node_overlay *o, struct findings *out)
{
    bool loses = f->overlay == o;
    const struct node_overlay *other = loses ? f->rival : f->overlay;
    struct span outcome = SPAN("that one goes first by its name, and this has no effect");
    if (!loses)
        outcome = arena_printf(a, "this one goes first by its name, and %.*s has no effect", SPAN_ARG(other->meta.name));
    finding_add(a, out, false, SPAN("spec.weight"),
                arena_printf(a,
                             "%d is the weight of NodeOverlay %.*s, too, which sets the same of some instance type: %.*s anywhere. "
                             "Fix: give one another weight, or requirements that exclude each other",
                             o->weight, SPAN_ARG(other->meta.name), SPAN_ARG(outcome)));
}

void overlay_rivals_warnings(struct arena *a, const struct node_overlay *o, const struct overlay_company *among,
                             struct symtab *syms, struct findings *out)
{
    const struct node_overlay **all = ARENA_ARRAY(a, const struct node_overlay *, among->overlay_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < among->overlay_count; i++)
        if (!span_eq(among->overlays[i]->meta.name, o->meta.name))
            all[count++] = among->overlays[i];
    all[count++] = o;
    struct overlaid laid = overlays_apply(a, syms, among->catalogue, all, count, among->pools, among->pool_count);
    for (uint32_t i = 0; i < laid.fault_count; i++)
        if (laid.faults[i].rival != NULL && (laid.faults[i].overlay == o || laid.faults[i].rival == o))
            tell(a, &laid.faults[i], o, out);
}
