/* own_annotations: keys that begin with stowage.dev/ and mean nothing where they stand (docs/annotations.md). A new one gets a
 * row in own_annotations.c, or it is told that there is no such one. What their values mean is where they are used. */
#ifndef KUBE_OWN_ANNOTATIONS_H
#define KUBE_OWN_ANNOTATIONS_H

#include "kube/finding.h"
#include "kube/kind.h"

/* Appends findings that do not refuse; `of` is the kind that they stand on: NodePool, NodeClaim, or one that has none. */
void own_annotations_warnings(struct arena *a, struct annotations list, enum kind of, const struct symtab *syms,
                              struct findings *out);

#endif
