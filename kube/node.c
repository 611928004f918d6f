#include "kube/node.h"

#include <ctype.h>

struct span node_class_label(struct arena *a, const struct node_class_ref *ref)
{
    struct span label = arena_printf(a, "%.*s/%.*s", SPAN_ARG(ref->group), SPAN_ARG(ref->kind));
    char *lower = arena_alloc(a, label.len + 1);
    for (size_t i = 0; i < label.len; i++)
        lower[i] = i > ref->group.len ? (char)tolower((unsigned char)label.ptr[i]) : label.ptr[i];
    return (struct span){lower, label.len};
}

bool node_is_ready(const struct node *n)
{
    return conditions_true(n->conditions, SPAN("Ready"));
}

bool node_is_initialized(const struct node *n)
{
    return sym_pairs_get(n->meta.labels, SYM_INITIALIZED) == SYM_TRUE;
}

bool taint_is_ephemeral(const struct taint *t, const struct symtab *syms)
{
    switch (t->key) {
    case SYM_NOT_READY:
        return t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
    case SYM_UNREACHABLE:
    case SYM_CLOUD_UNINITIALIZED:
        return t->effect == TAINT_NO_SCHEDULE;
    case SYM_UNREGISTERED:
        return t->effect == TAINT_NO_EXECUTE;
    default:
        return span_has_prefix(sym_text(syms, t->key), SPAN("readiness.k8s.io/"));
    }
}
