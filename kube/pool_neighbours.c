#include "kube/pool_neighbours.h"

#include "kube/pool_warnings.h"

#include <stdlib.h>

static int by_content(const void *x, const void *y)
{
    const struct taint *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->effect != b->effect)
        return a->effect < b->effect ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static struct taint *sorted(struct arena *a, struct taints list)
{
    struct taint *items = ARENA_ARRAY(a, struct taint, list.count);
    if (list.count != 0)
        memcpy(items, list.items, list.count * sizeof(*items));
    if (list.count > 1)
        qsort(items, list.count, sizeof(*items), by_content);
    return items;
}

/* The order of the taints does not matter. */
static bool same_taints(struct arena *a, struct taints x, struct taints y)
{
    if (x.count != y.count)
        return false;
    const struct taint *of_x = sorted(a, x), *of_y = sorted(a, y);
    for (uint32_t i = 0; i < x.count; i++)
        if (by_content(&of_x[i], &of_y[i]) != 0)
            return false;
    return true;
}

struct requirements pool_asked(struct arena *a, const struct node_pool *p, struct symtab *syms)
{
    struct requirements all = requirements_of(a, syms, p->requirements);
    struct requirements labels = requirements_of_labels(a, syms, p->labels);
    requirements_add_all(a, &all, &labels, syms);
    return all;
}

bool pools_compete(struct arena *a, const struct node_pool *x, const struct requirements *of_x, const struct node_pool *y,
                   struct symtab *syms)
{
    if (span_eq(x->meta.name, y->meta.name) || x->weight != y->weight || x->has_replicas || y->has_replicas ||
        x->meta.deleted != 0 || y->meta.deleted != 0 || !same_taints(a, x->taints, y->taints))
        return false;
    struct requirements of_y = pool_asked(a, y, syms);
    return requirements_intersect(of_x, &of_y, syms, NULL);
}

void pool_rival_warning(struct arena *a, const struct node_pool *p, const struct node_pool *first, uint32_t count,
                        struct findings *out)
{
    struct span more = count > 1 ? arena_printf(a, " and %u more", count - 1) : SPAN("");
    finding_add(a, out, false, SPAN("spec.weight"),
                arena_printf(a,
                             "%d is the weight of NodePool %.*s%.*s, too, and the same pods may go to either: which of them buys, "
                             "nobody says. Fix: give one another weight, or requirements that exclude each other",
                             p->weight, SPAN_ARG(first->meta.name), SPAN_ARG(more)));
}

void pool_limit_warnings(struct arena *a, const struct node_pool *p, struct resources held, const struct symtab *syms,
                         struct findings *out)
{
    for (uint32_t i = 0; i < p->limits.count && !findings_closed(out); i++) {
        const struct resource *limit = &p->limits.items[i];
        struct span name = sym_text(syms, limit->name);
        amount have = resources_get(held, limit->name);
        if (limit->value < 0 || have <= limit->value)
            continue; /* below nothing is told by itself */
        finding_add(a, out, false, pool_limit_path(a, name),
                    arena_printf(a,
                                 "%.*s is less than the %.*s that nodes of the pool have already: they stay, and until they have "
                                 "less no node is bought for the pool",
                                 SPAN_ARG(quantity_text(a, name, limit->value)), SPAN_ARG(quantity_text(a, name, have))));
    }
}

static bool keeps_away(const struct taint *t)
{
    return t->effect == TAINT_NO_SCHEDULE || t->effect == TAINT_NO_EXECUTE;
}

const struct taint *pool_barrier(const struct node_pool *p)
{
    for (uint32_t i = 0; i < p->taints.count; i++)
        if (keeps_away(&p->taints.items[i]))
            return &p->taints.items[i];
    return NULL;
}

static bool tolerates_by_key(const struct pod *pod, const struct taint *t, const struct symtab *syms)
{
    for (uint32_t i = 0; i < pod->tolerations.count; i++) {
        struct tolerations one = {&pod->tolerations.items[i], 1};
        if (one.items->key != SYM_NONE && taint_tolerated(t, one, syms))
            return true;
    }
    return false;
}

bool pod_is_meant_for(const struct pod *pod, const struct node_pool *p, const struct symtab *syms)
{
    if (pod_is_daemon(pod) || pod_is_terminal(pod))
        return false;
    for (uint32_t i = 0; i < p->taints.count; i++)
        if (keeps_away(&p->taints.items[i]) && !tolerates_by_key(pod, &p->taints.items[i], syms))
            return false;
    return true;
}

void pool_barrier_warning(struct arena *a, const struct taint *barrier, const struct symtab *syms, struct findings *out)
{
    struct span key = sym_text(syms, barrier->key), value = sym_text(syms, barrier->value);
    finding_add(a, out, false, SPAN("spec.template.spec.taints"),
                arena_printf(a, "no pod tolerates %.*s%s%.*s:%s: as long as none does, no node is bought for the pool",
                             SPAN_ARG(key), value.len != 0 ? "=" : "", SPAN_ARG(value), taint_effect_name(barrier->effect)));
}
