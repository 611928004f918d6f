/* Drifted: the claim is not what its pool would make now (spec disruption 13.1, api 5.9). The first reason counts, and
 * is the condition's message too; last comes what the provider says (lifecycle/drift_ask.c). */
#include "reconciler/lifecycle/lifecycle.h"

static const struct span DRIFTED = SPAN_INIT("Drifted");

/* Both say by which count, and it is the same. */
static bool hash_differs(const struct lifecycle_facts *f)
{
    struct annotations pool = f->pool->meta.annotations, claim = f->claim->meta.annotations;
    struct span wanted = annotations_get(pool, SYM_NODEPOOL_HASH), has = annotations_get(claim, SYM_NODEPOOL_HASH);
    struct span version = annotations_get(pool, SYM_NODEPOOL_HASH_VERSION);
    return wanted.ptr != NULL && has.ptr != NULL && version.ptr != NULL &&
           span_eq(version, annotations_get(claim, SYM_NODEPOOL_HASH_VERSION)) && !span_eq(wanted, has);
}

/* A key that the claim lacks is drift too, unless the pool asks that it be lacking. */
static bool requirements_differ(struct arena *a, const struct lifecycle_facts *f)
{
    const struct syms none = {0};
    struct requirements labels = requirements_of_labels(a, f->syms, f->claim->meta.labels);
    struct requirements asked = requirements_of(a, f->syms, f->pool->requirements);
    return !requirements_compatible(&labels, &asked, none, f->syms, NULL, NULL);
}

/* What it was bought as. A reservation ends, and its machine stays: then it counts as on-demand. */
static struct requirements bought_as(struct arena *a, const struct lifecycle_facts *f)
{
    static const sym either[] = {SYM_ON_DEMAND, SYM_RESERVED}; /* sorted */
    const struct sym_pairs *labels = &f->claim->meta.labels;
    struct requirements r = requirements_of_labels(a, f->syms, *labels);
    sym reservation = sym_find(f->syms, f->types->reservation_id_label);
    if (sym_pairs_get(*labels, SYM_CAPACITY_TYPE) != SYM_RESERVED)
        return r;
    struct requirements kept = {ARENA_ARRAY(a, struct requirement, r.count), 0};
    for (uint32_t i = 0; i < r.count; i++) {
        struct requirement x = r.items[i];
        if (x.key == reservation)
            continue;
        if (x.key == SYM_CAPACITY_TYPE) {
            x.values = either;
            x.count = COUNT_OF(either);
        }
        kept.items[kept.count++] = x;
    }
    return kept;
}

static bool is_offered(const struct lifecycle_facts *f, const struct instance_type *t, const struct requirements *as)
{
    for (uint32_t i = 0; i < t->offering_count; i++)
        if (requirements_compatible(as, &t->offerings[i].requirements, f->types->well_known, f->syms, NULL, NULL))
            return true;
    return false;
}

/* Whether it can be had just now is no matter. */
static bool type_is_listed(struct arena *a, const struct lifecycle_facts *f)
{
    sym name = sym_pairs_get(f->claim->meta.labels, SYM_INSTANCE_TYPE);
    struct requirements as = bought_as(a, f);
    for (uint32_t i = 0; i < f->types->count; i++) {
        const struct instance_type *t = &f->types->items[i];
        if (t->name_sym == name && instance_type_offered(t, f->pool->meta.name) && is_offered(f, t, &as))
            return true;
    }
    return false;
}

static const struct span NODE_POOL = SPAN_INIT("NodePoolDrifted"), REQUIREMENTS = SPAN_INIT("RequirementsDrifted"),
                         TYPE = SPAN_INIT("InstanceTypeNotFound");

bool lifecycle_drift_is_seen(struct span reason)
{
    return span_eq(reason, NODE_POOL) || span_eq(reason, REQUIREMENTS) || span_eq(reason, TYPE);
}

static bool type_is_gone(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    wall_ms known_until = f->claim->meta.created + TYPE_KNOWN_MS;
    if (f->types == NULL || type_is_listed(a, f))
        return false;
    if (f->now > known_until)
        return true;
    if (s->due == 0 || known_until + 1 < s->due)
        s->due = known_until + 1;
    return false;
}

static struct span seen(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    if (hash_differs(f))
        return NODE_POOL;
    if (requirements_differ(a, f))
        return REQUIREMENTS;
    return type_is_gone(a, f, s) ? TYPE : (struct span){0};
}

/* What its provider said; while it has not, what it was said to have said. */
static struct span told(const struct lifecycle_facts *f)
{
    const struct condition *was = conditions_find(f->claim->conditions, DRIFTED);
    if (f->drift_known)
        return f->drift;
    return was != NULL && was->status == CONDITION_TRUE && !lifecycle_drift_is_seen(was->reason) ? was->reason
                                                                                                : (struct span){0};
}

void lifecycle_drift(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    if (f->pool == NULL)
        return;
    struct span reason = {0};
    if (lifecycle_status(s, SPAN("Launched")) == CONDITION_TRUE) {
        reason = seen(a, f, s);
        if (reason.len == 0)
            reason = told(f);
    }
    if (reason.len != 0)
        condition_set_put(&s->conditions, DRIFTED, CONDITION_TRUE, reason, reason);
    else
        condition_set_clear(&s->conditions, DRIFTED);
}
