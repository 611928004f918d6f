#include "planner/pods/pod_workload.h"

static void of_set(const struct pod *p, const struct meta *set, const struct symtab *syms, struct pod_workload *w)
{
    const struct owner *up = set != NULL ? meta_controller(set) : NULL;
    struct span hash = sym_text(syms, sym_pairs_get(p->meta.labels, sym_find(syms, SPAN("pod-template-hash"))));
    if (up != NULL) {
        w->kind = sym_text(syms, up->kind);
        w->name = up->name;
    } else if (set == NULL && hash.len != 0 && w->name.len > hash.len + 1 &&
               span_has_suffix(w->name, hash) && w->name.ptr[w->name.len - hash.len - 1] == '-') {
        w->kind = SPAN("Deployment");
        w->name.len -= hash.len + 1;
    }
}

struct pod_workload pod_workload(const struct pod *p, const struct meta *set, const struct symtab *syms)
{
    const struct owner *c = meta_controller(&p->meta);
    struct pod_workload w = {SPAN("Pod"), p->meta.ns, p->meta.name};
    if (c == NULL)
        return w;
    w.kind = sym_text(syms, c->kind);
    w.name = c->name;
    if (c->kind == SYM_KIND_REPLICA_SET)
        of_set(p, set, syms, &w);
    return w;
}
