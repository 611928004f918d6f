/* class_warnings: what a KWOKNodeClass says that does not do what its author meant. Upstream has no rule for it beyond the
 * schema (spec api 1.10), so that nothing is ever refused. */
#ifndef KUBE_CLASS_WARNINGS_H
#define KUBE_CLASS_WARNINGS_H

#include "kube/finding.h"
#include "kube/node.h"

void class_warnings(struct arena *a, const struct kwok_node_class *c, const struct symtab *syms, struct findings *out);

#endif
