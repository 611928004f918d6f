#include "planner/supply/supply_warnings.h"

#include "base/nearest.h"
#include "kube/node_asks.h"
#include "planner/supply/pool_template.h"

#include <stdlib.h>

enum {
    TOGETHER_MAX = 16, /* requirements of which each is left out once; a pool has a handful */
    LISTED_MAX = 5,    /* values, in a sentence */
    MEANT_MAX = 16,    /* values that are compared with all that there are */
};

struct supply {
    struct arena *arena;
    const struct node_asks *asks;
    struct span pool; /* whose types count, beside those of the class; absent: those of no pool in particular */
    const struct node_class_ref *class;
    const struct catalogue *types;
    struct symtab *syms;
    struct findings *found;
};

static bool is_for_class(const struct instance_type *t, const struct node_class_ref *class)
{
    return t->class_kind.len != 0 && span_eq(t->class_kind, class->kind) && span_eq(t->class_group, class->group);
}

bool supply_knows_class(const struct catalogue *types, const struct node_class_ref *class)
{
    for (uint32_t i = 0; i < types->count; i++)
        if (is_for_class(&types->items[i], class))
            return true;
    return false;
}

/* Who is being written is in no provider's list yet, but says whose it will be. */
static bool is_offered(const struct supply *s, const struct instance_type *t)
{
    return instance_type_offered(t, s->pool) || is_for_class(t, s->class);
}

static bool meets(const struct supply *s, const struct instance_type *t, const struct requirements *r)
{
    if (!is_offered(s, t) || !requirements_intersect(&t->requirements, r, s->syms, NULL))
        return false;
    for (uint32_t o = 0; o < t->offering_count; o++)
        if (requirements_compatible(r, &t->offerings[o].requirements, s->types->well_known, s->syms, NULL, NULL))
            return true;
    return false;
}

static bool some_meets(const struct supply *s, const struct requirements *r)
{
    for (uint32_t i = 0; i < s->types->count && !findings_closed(s->found); i++)
        if (meets(s, &s->types->items[i], r))
            return true;
    return false;
}

/* --- words --- */

/* Where it is said first. */
static struct span path_of(const struct supply *s, sym key)
{
    for (uint32_t i = 0; i < s->asks->requirements.count; i++)
        if (requirement_key(s->syms, s->asks->requirements.items[i].key) == key)
            return arena_printf(s->arena, "%s.requirements[%u]", s->asks->at, i);
    for (uint32_t i = 0; i < s->asks->labels.count; i++)
        if (requirement_key(s->syms, s->asks->labels.items[i].key) == key)
            return arena_printf(s->arena, "spec.template.metadata.labels[%.*s]",
                                SPAN_ARG(sym_text(s->syms, s->asks->labels.items[i].key)));
    return arena_printf(s->arena, "%s.nodeClassRef", s->asks->at);
}

struct values { /* of one key, that there are; each once */
    sym *items;
    uint32_t count, capacity;
};

static void add_values(const struct supply *s, struct values *v, const struct requirements *of, sym key)
{
    const struct requirement *r = requirements_get(of, key);
    for (uint32_t i = 0; r != NULL && !r->complement && i < r->count; i++) {
        uint32_t k = 0;
        while (k < v->count && v->items[k] != r->values[i])
            k++;
        if (k == v->count)
            ARENA_PUSH(s->arena, v->items, v->count, v->capacity, r->values[i]);
    }
}

static struct values values_offered(const struct supply *s, sym key)
{
    struct values v = {NULL, 0, 0};
    for (uint32_t i = 0; i < s->types->count; i++) {
        const struct instance_type *t = &s->types->items[i];
        if (!is_offered(s, t))
            continue;
        add_values(s, &v, &t->requirements, key);
        for (uint32_t o = 0; o < t->offering_count; o++)
            add_values(s, &v, &t->offerings[o].requirements, key);
    }
    return v;
}

/* " (did you mean amd64?)", " (there are amd64 and arm64)"; empty where neither helps. */
static struct span meant(const struct supply *s, const struct requirement *asked)
{
    struct values there = values_offered(s, asked->key);
    struct buf b = {0};
    for (uint32_t i = 0; !asked->complement && i < asked->count && i < MEANT_MAX; i++) {
        struct nearest n = {.given = sym_text(s->syms, asked->values[i])};
        for (uint32_t k = 0; k < there.count; k++)
            nearest_try(&n, sym_text(s->syms, there.items[k]));
        if (n.best.ptr != NULL)
            return arena_printf(s->arena, " (did you mean %.*s?)", SPAN_ARG(n.best));
    }
    if (there.count == 0 || there.count > LISTED_MAX)
        return SPAN("");
    for (uint32_t k = 0; k < there.count; k++)
        buf_addf(&b, "%s%.*s", k == 0 ? "" : k + 1 == there.count ? " and " : ", ", SPAN_ARG(sym_text(s->syms, there.items[k])));
    struct span text = arena_printf(s->arena, " (there %s %.*s)", there.count == 1 ? "is" : "are", SPAN_ARG(buf_span(&b)));
    buf_release(&b);
    return text;
}

/* --- what leaves no type --- */

static void tell_one(struct supply *s, const struct requirement *r)
{
    finding_add(s->arena, s->found, false, path_of(s, r->key),
                arena_printf(s->arena, "no instance type has %.*s%.*s: %s. Fix: ask for a %.*s that there is",
                             SPAN_ARG(requirement_text(s->arena, r, s->syms)), SPAN_ARG(meant(s, r)), s->asks->undone,
                             SPAN_ARG(sym_text(s->syms, r->key))));
}

struct named { /* a requirement with what it is sorted by */
    struct span key;
    const struct requirement *r;
};

static int by_text(const void *x, const void *y)
{
    return span_cmp(((const struct named *)x)->key, ((const struct named *)y)->key);
}

/* By the texts of their keys: the order of symbols says when somebody heard of them first. */
static const struct requirement **by_key(const struct supply *s, const struct requirements *all)
{
    const struct requirement **list = ARENA_ARRAY(s->arena, const struct requirement *, all->count);
    struct named *named = ARENA_ARRAY(s->arena, struct named, all->count);
    for (uint32_t i = 0; i < all->count; i++)
        named[i] = (struct named){sym_text(s->syms, all->items[i].key), &all->items[i]};
    if (all->count > 1)
        qsort(named, all->count, sizeof(*named), by_text);
    for (uint32_t i = 0; i < all->count; i++)
        list[i] = named[i].r;
    return list;
}

static bool some_meets_all_but(const struct supply *s, const struct requirements *all, const struct requirement *but)
{
    struct requirements left = {ARENA_ARRAY(s->arena, struct requirement, all->count), 0};
    for (uint32_t i = 0; i < all->count; i++)
        if (&all->items[i] != but)
            left.items[left.count++] = all->items[i];
    return some_meets(s, &left);
}

/* Those without each of which there would be types. */
static void tell_together(struct supply *s, const struct requirements *all, const struct requirement *const *list)
{
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; all->count <= TOGETHER_MAX && i < all->count; i++)
        if (some_meets_all_but(s, all, list[i]))
            buf_addf(&b, "%s%.*s", count++ == 0 ? "" : " and ", SPAN_ARG(requirement_text(s->arena, list[i], s->syms)));
    if (!findings_closed(s->found)) /* whether some met all but one is not known then */
        finding_add(s->arena, s->found, false, arena_printf(s->arena, "%s.requirements", s->asks->at),
                    count == 0 ? arena_printf(s->arena, "no instance type meets all of them at once: %s. Fix: loosen some",
                                              s->asks->undone)
                               : arena_printf(s->arena, "no instance type meets %.*s at once: %s. Fix: loosen one of them",
                                              SPAN_ARG(buf_span(&b)), s->asks->undone));
    buf_release(&b);
}

static void tell_no_type(struct supply *s, const struct requirements *all)
{
    const struct requirement **list = by_key(s, all);
    for (uint32_t i = 0; i < all->count; i++) {
        if (findings_closed(s->found))
            return;
        struct requirements one = {(struct requirement *)(uintptr_t)list[i], 1};
        if (!some_meets(s, &one) && !findings_closed(s->found)) {
            tell_one(s, list[i]);
            return;
        }
    }
    tell_together(s, all, list);
}

/* --- minValues: Karpenter v1.15.0 counts what the types themselves say (InstanceTypes.SatisfiesMinValues) --- */

/* The types that meet all, once for all keys. */
static const struct instance_type **those_that_meet(const struct supply *s, const struct requirements *all, uint32_t *count_out)
{
    const struct instance_type **list = ARENA_ARRAY(s->arena, const struct instance_type *, s->types->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->types->count && !findings_closed(s->found); i++)
        if (meets(s, &s->types->items[i], all))
            list[n++] = &s->types->items[i];
    *count_out = n;
    return list;
}

static void look_at_min_values(struct supply *s, const struct requirements *all)
{
    const struct instance_type **types = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->asks->requirements.count && !findings_closed(s->found); i++) {
        const struct expression *e = &s->asks->requirements.items[i];
        sym key = requirement_key(s->syms, e->key);
        struct values v = {NULL, 0, 0};
        if (e->min_values <= 0)
            continue;
        if (types == NULL)
            types = those_that_meet(s, all, &count);
        for (uint32_t t = 0; t < count && v.count < (uint32_t)e->min_values; t++)
            add_values(s, &v, &types[t]->requirements, key);
        if (v.count < (uint32_t)e->min_values && !findings_closed(s->found))
            finding_add(s->arena, s->found, false, arena_printf(s->arena, "%s.requirements[%u].minValues", s->asks->at, i),
                        arena_printf(s->arena,
                                     "%d cannot be met: the instance types that meet %s requirements have %u value%s of %.*s. "
                                     "Fix: lower it, or loosen the requirements",
                                     e->min_values, s->asks->whose, v.count, v.count == 1 ? "" : "s",
                                     SPAN_ARG(sym_text(s->syms, key))));
    }
}

/* --- what a claim wants of room --- */

static bool has_room(const struct instance_type *t, struct resources wanted)
{
    for (uint32_t i = 0; i < wanted.count; i++)
        if (resources_get(t->allocatable, wanted.items[i].name) < wanted.items[i].value)
            return false;
    return true;
}

static void tell_no_room(struct supply *s, struct resources wanted, struct resources most)
{
    for (uint32_t i = 0; i < wanted.count; i++) {
        const struct resource *r = &wanted.items[i];
        amount have = resources_get(most, r->name);
        if (have >= r->value)
            continue;
        struct span name = sym_text(s->syms, r->name);
        finding_add(s->arena, s->found, false, arena_printf(s->arena, "spec.resources.requests[%.*s]", SPAN_ARG(name)),
                    arena_printf(s->arena,
                                 "no instance type that meets the claim's requirements has room for %.*s (at the most for %.*s): "
                                 "the node that comes has less. Fix: lower it, or loosen the requirements",
                                 SPAN_ARG(quantity_text(s->arena, name, r->value)),
                                 SPAN_ARG(quantity_text(s->arena, name, have))));
        return; /* the first is enough */
    }
    finding_add(s->arena, s->found, false, SPAN("spec.resources.requests"),
                SPAN("no instance type that meets the claim's requirements has room for all of them at once: the node that "
                     "comes has less. Fix: lower some, or loosen the requirements"));
}

static void look_at_room(struct supply *s, const struct requirements *all, struct resources wanted)
{
    struct resources most = {NULL, 0};
    for (uint32_t i = 0; i < s->types->count && !findings_closed(s->found); i++) {
        const struct instance_type *t = &s->types->items[i];
        if (!meets(s, t, all))
            continue;
        if (has_room(t, wanted))
            return;
        resources_max(s->arena, &most, t->allocatable);
    }
    if (!findings_closed(s->found))
        tell_no_room(s, wanted, most);
}

/* --- pools and claims --- */

/* Nobody can say: what there is is not known, or the types are for others. */
static bool is_unknown(const struct supply *s)
{
    struct requirements none = {NULL, 0};
    return !catalogue_lists(s->types, s->pool) || !some_meets(s, &none);
}

void supply_warnings_of_pool(struct arena *a, const struct node_pool *p, const struct catalogue *types, struct symtab *syms,
                             struct findings *out)
{
    struct node_asks asks = node_asks_of_pool(p);
    struct supply s = {a, &asks, p->meta.name, &p->node_class, types, syms, out};
    if (is_unknown(&s))
        return;
    struct requirements all = pool_requirements(a, syms, p);
    if (some_meets(&s, &all))
        look_at_min_values(&s, &all);
    else
        tell_no_type(&s, &all);
}

void supply_warnings_of_claim(struct arena *a, const struct node_claim *c, const struct catalogue *types, struct symtab *syms,
                              struct findings *out)
{
    struct node_asks asks = node_asks_of_claim(c);
    struct span pool = sym_text(syms, sym_pairs_get(c->meta.labels, SYM_NODEPOOL));
    struct supply s = {a, &asks, pool, &c->node_class, types, syms, out};
    if (is_unknown(&s))
        return;
    struct requirements all = requirements_of(a, syms, c->requirements);
    if (!some_meets(&s, &all)) {
        tell_no_type(&s, &all);
        return;
    }
    look_at_min_values(&s, &all);
    look_at_room(&s, &all, c->requests);
}
