#include "kube/class_warnings.h"

#include "kube/own_annotations.h"

void class_warnings(struct arena *a, const struct kwok_node_class *c, const struct symtab *syms, struct findings *out)
{
    const int minutes = REGISTRATION_TIMEOUT_MS / (int)MS_MINUTE;
    own_annotations_warnings(a, c->meta.annotations, KIND_KWOK_NODE_CLASS, syms, out);
    if (c->registration_delay >= REGISTRATION_TIMEOUT_MS)
        finding_add(a, out, false, SPAN("spec.nodeRegistrationDelay"),
                    arena_printf(a,
                                 "no node of the class ever comes up: a NodeClaim whose Node is not there after %d minutes is "
                                 "given up. Fix: write less than %dm",
                                 minutes, minutes));
}
