/* `stowage plan` over a few objects, and what is said of them. */
#ifndef TESTS_SERVER_SUPPORT_PLAN_H
#define TESTS_SERVER_SUPPORT_PLAN_H

#include "support_command.h"

#define POOL_TEMPLATE                                                                              \
    "template: {spec: {requirements: [], nodeClassRef: "                                           \
    "{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}"
#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n"         \
    "  " POOL_TEMPLATE "\n"
#define POD(name, resources)                                                                       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop}\nspec:\n"         \
    "  containers:\n  - name: c\n    resources: " resources "\n"

/* With --all-unbound. */
struct outcome plan(const char *objects);
/* Fails the test when the text is not there. */
void expect_text(const char *label, const struct outcome *o, const char *want);

#endif
