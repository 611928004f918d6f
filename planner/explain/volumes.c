#include "planner/explain/volumes.h"

#include "planner/explain/sold.h"
#include "planner/pods/volumes_inner.h"

struct span volumes_shared_name(const struct volumes *v, uint32_t number)
{
    for (uint32_t i = 0; i < v->claims.count; i++)
        if (v->facts[i].shared == number)
            return ((const struct volume_claim *)v->claims.items[i])->meta.name;
    return SPAN("?");
}

/* The facts of the pod's claim number i; NULL: it is not there. The world has worked them out. */
static const struct volume_facts *facts_at(const struct world *w, const struct pod *pod, uint32_t i)
{
    int32_t at = object_index_look(&w->volumes.claims, pod->meta.ns, pod->volumes.items[i].claim);
    return at >= 0 && w->volumes.facts[at].known ? &w->volumes.facts[at] : NULL;
}

/* Of one alternative, as short as it can be said: most are a zone. */
static void put_place(struct buf *b, struct plan *p, const struct requirements *r)
{
    const struct requirement *host = requirements_get(r, SYM_HOSTNAME);
    if (host != NULL && !host->complement && host->count != 0) {
        buf_addf(b, "node %.*s", SPAN_ARG(sym_text(p->syms, host->values[0])));
        return;
    }
    const struct requirement *zone = requirements_get(r, SYM_ZONE);
    if (r->count == 1 && zone != NULL && !zone->complement && zone->count != 0) {
        for (uint32_t i = 0; i < zone->count; i++)
            buf_addf(b, "%s%.*s", i == 0 ? "" : i + 1 == zone->count ? " or " : ", ",
                     SPAN_ARG(sym_text(p->syms, zone->values[i])));
        return;
    }
    struct buf text = {0};
    requirements_put(&text, r, p->syms);
    buf_addf(b, "%.*s", SPAN_ARG(buf_span(&text)));
    buf_release(&text);
}

static struct span place_of(struct plan *p, const struct volume_facts *f)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < f->alternatives.count && i < WORDS_LISTED; i++) {
        buf_addf(&b, "%s", i != 0 ? " or " : "");
        put_place(&b, p, &f->alternatives.items[i]);
    }
    if (f->alternatives.count > WORDS_LISTED)
        buf_addf(&b, " or %u more", f->alternatives.count - WORDS_LISTED);
    return words_take(p, &b);
}

/* "data is in topology.kubernetes.io/zone In [a]": of its claims those that are not everywhere. */
static struct span volumes_where(struct plan *p, const struct pod *pod)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct volume_facts *f = facts_at(p->world, pod, i);
        if (f != NULL && f->alternatives.count != 0)
            buf_addf(&b, "%s%.*s is in %.*s", b.len != 0 ? ", " : "",
                     SPAN_ARG(pod->volumes.items[i].claim), SPAN_ARG(place_of(p, f)));
    }
    return words_take(p, &b);
}

/* Whether a node that meets these requirements can be where the volume is. */
static bool can_be_at(const struct world *w, const struct requirements *r,
                      const struct volume_facts *f)
{
    for (uint32_t i = 0; i < f->alternatives.count; i++)
        if (requirements_compatible(r, &f->alternatives.items[i], w->rules.well_known, w->syms,
                                    NULL, NULL))
            return true;
    return f->alternatives.count == 0;
}

static bool holds(const struct world *w, const struct trial *t, uint32_t spec, uint32_t class_id)
{
    const struct spec *s = &t->specs.items[spec];
    const amount *requests = classes_requests(&w->classes, class_id);
    const amount *budget = world_vector(w, t->budgets, s->option);
    for (BITS_EACH(type, s->types, w->types.words))
        if (spec_type_holds(w, s, type, requests) &&
            vector_fits(w, world_vector(w, w->types.capacity, type), budget))
            return true;
    return false;
}

/* The key on which a node that meets these requirements is in none of the places; SYM_NONE: they differ. */
static const struct requirement *elsewhere(const struct world *w, const struct requirements *r,
                                           const struct volume_facts *f)
{
    sym bad = SYM_NONE;
    requirements_compatible(r, &f->alternatives.items[0], w->rules.well_known, w->syms, &bad, NULL);
    return bad != SYM_NONE ? requirements_get(r, bad) : NULL;
}

struct told {
    struct span *sentence, *fix;
};

/* It is on one Node, or is being made for one, and that one does not take the pod. */
static bool tell_node(struct plan *p, const struct volume_facts *f, struct span claim, struct told out)
{
    if (f->alternatives.count != 1 ||
        requirements_get(&f->alternatives.items[0], SYM_HOSTNAME) == NULL)
        return false;
    struct span place = place_of(p, f);
    *out.sentence =
        arena_printf(&p->arena, "has volume claim %.*s %s %.*s, which does not take it", SPAN_ARG(claim),
                     f->unbound ? "that is being made for" : "on", SPAN_ARG(place));
    *out.fix = arena_printf(&p->arena, "make room on %.*s%s", SPAN_ARG(place),
                            f->unbound ? ", or take annotation volume.kubernetes.io/selected-node off the claim"
                                       : "");
    return true;
}

/* One volume is where the pool, or the pod itself, does not go. */
static bool tell_one(struct plan *p, const struct spec *s, const struct pod *pod, struct told out)
{
    const struct world *w = p->world;
    const struct option *o = &w->options[s->option];
    struct span pool = option_name(o);
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct volume_facts *f = facts_at(w, pod, i);
        if (f == NULL || can_be_at(w, &s->requirements, f))
            continue;
        struct span place = place_of(p, f), claim = pod->volumes.items[i].claim;
        if (tell_node(p, f, claim, out))
            return true;
        const struct requirement *only = elsewhere(w, &s->requirements, f);
        struct span to = only != NULL ? words_requirement(p, only) : SPAN("other nodes");
        bool pools = !can_be_at(w, &o->requirements, f);
        *out.sentence = arena_printf(&p->arena, "has volume claim %.*s in %.*s; %s%.*s %s %.*s",
                                     SPAN_ARG(claim), SPAN_ARG(place), pools ? "pool " : "it asks",
                                     SPAN_ARG(pools ? pool : SPAN("")), pools ? "has" : "for",
                                     SPAN_ARG(to));
        *out.fix = pools ? arena_printf(&p->arena, "let pool %.*s buy in %.*s", SPAN_ARG(pool),
                                        SPAN_ARG(place))
                         : arena_printf(&p->arena, "let the pod go to %.*s", SPAN_ARG(place));
        return true;
    }
    return false;
}

/* Some type that is sold where its volumes are would hold it. */
static bool is_sold_near(struct plan *p, const struct attempt *try, uint32_t class_id)
{
    const struct classes *c = &p->world->classes;
    for (uint32_t i = 0; i < try->where_count; i++)
        if (sold_large(p, &c->sets[try->where[i]], classes_requests(c, class_id)))
            return true;
    return false;
}

static void refuse(const struct group_question *q, uint32_t spec, bool apart, struct told out)
{
    struct plan *p = q->p;
    const struct spec *s = &q->t->specs.items[spec];
    struct span pool = option_name(&p->world->options[s->option]);
    if (tell_one(p, s, q->pod, out))
        return;
    struct span where = volumes_where(p, q->pod);
    if (apart) {
        *out.sentence = arena_printf(&p->arena, "has volumes that no node of pool %.*s reaches all: %.*s",
                                     SPAN_ARG(pool), SPAN_ARG(where));
        *out.fix = SPAN("put its volumes into one zone");
        return;
    }
    *out.sentence = arena_printf(&p->arena,
                                 "has its volumes where pool %.*s can buy no room for it: %.*s",
                                 SPAN_ARG(pool), SPAN_ARG(where));
    *out.fix = is_sold_near(p, q->try, q->class_id)
                   ? arena_printf(&p->arena, "let pool %.*s buy a larger type where they are", SPAN_ARG(pool))
                   : SPAN("ask for less (no type of the catalogue that is sold where they are has all of it)");
}

bool volumes_near_option(const struct group_question *q, uint32_t option, struct span *sentence_out,
                         struct span *fix_out)
{
    struct trial *t = q->t;
    const struct attempt *try = q->try;
    int32_t spec = specs_narrow(&t->specs, option, try);
    if (spec < 0 || try->where_count == 0)
        return true;
    bool apart = true;
    for (uint32_t i = 0; i < try->where_count; i++) {
        int32_t to = specs_narrow_to(&t->specs, (uint32_t)spec, try->where[i]);
        if (to >= 0 && holds(q->p->world, t, (uint32_t)to, q->class_id))
            return true;
        apart = apart && to < 0;
    }
    refuse(q, (uint32_t)spec, apart, (struct told){sentence_out, fix_out});
    return false;
}
