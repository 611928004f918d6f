#include "kube/claim_warnings.h"

#include "base/nearest.h"
#include "kube/node_asks.h"
#include "kube/own_annotations.h"

void claim_warnings(struct arena *a, const struct node_claim *c, struct symtab *syms, struct findings *out)
{
    struct node_asks asks = node_asks_of_claim(c);
    own_annotations_warnings(a, c->meta.annotations, KIND_NODE_CLAIM, syms, out);
    if (c->provider_id.len == 0)
        node_asks_warnings(a, &asks, syms, out);
}

#define UNTIL ": no node comes of the claim. Fix: "

void claim_class_warnings(struct arena *a, const struct node_claim *c, struct class_list classes, struct findings *out)
{
    static const struct span at = SPAN_INIT("spec.nodeClassRef");
    const struct node_class_ref *ref = &c->node_class;
    struct span version, kind = span_of(kind_info(KIND_KWOK_NODE_CLASS)->name);
    struct span group = span_cut(span_of(kind_info(KIND_KWOK_NODE_CLASS)->api_version), '/', &version);
    struct nearest n = {.given = ref->name};
    if (!span_eq(ref->group, group))
        return;
    if (!span_eq(ref->kind, kind)) {
        finding_add(a, out, false, at,
                    arena_printf(a, "%.*s of %.*s is no kind of node class" UNTIL "write %.*s, or delete the claim",
                                 SPAN_ARG(ref->kind), SPAN_ARG(group), SPAN_ARG(kind)));
        return;
    }
    for (size_t i = 0; i < classes.count; i++) {
        if (span_eq(classes.items[i]->meta.name, ref->name))
            return;
        nearest_try(&n, classes.items[i]->meta.name);
    }
    struct span fix = n.best.ptr != NULL ? arena_printf(a, "did you mean %.*s?", SPAN_ARG(n.best)) : SPAN("create it first");
    finding_add(a, out, false, at,
                arena_printf(a, "there is no %.*s %.*s" UNTIL "%.*s", SPAN_ARG(kind), SPAN_ARG(ref->name), SPAN_ARG(fix)));
}
