/* What is written into the NodeClaim (spec provisioning 5.1, 5.2; plan-contract 4 and 6). */
#include "planner/plan/solution.h"
#include "planner/supply/pool_template.h"

/* Puts r in place of what the set says about its key. */
static void set_requirement(struct arena *a, struct requirements *set, struct requirement r)
{
    struct requirement *items = ARENA_ARRAY(a, struct requirement, (size_t)set->count + 1);
    uint32_t n = 0, i = 0;
    for (; i < set->count && set->items[i].key < r.key; i++)
        items[n++] = set->items[i];
    items[n++] = r;
    for (; i < set->count; i++)
        if (set->items[i].key != r.key)
            items[n++] = set->items[i];
    *set = (struct requirements){items, n};
}

/* Reserved by name: the launch is to take what the claim holds. */
static void claim_reservations(struct plan *p, const struct trial *t, const uint64_t *held,
                               struct plan_claim *out)
{
    const struct types *y = &t->world->types;
    sym *reserved = ARENA_NEW(&p->arena, sym);
    sym *ids = ARENA_ARRAY(&p->arena, sym, y->reservation_count);
    uint32_t count = 0;
    *reserved = SYM_RESERVED;
    set_requirement(&p->arena, &out->requirements, listing_one_of(SYM_CAPACITY_TYPE, reserved, 1));
    for (BITS_EACH(r, held, bits_words(y->reservation_count)))
        if (y->reservations[r].id != SYM_NONE)
            ids[count++] = y->reservations[r].id;
    if (count != 0)
        set_requirement(&p->arena, &out->requirements, listing_one_of(y->reservation_key, ids, count));
}

/* minValues stand as the claim was made with them. */
static void claim_least(const struct option *o, const struct trial_claim *c, struct plan_claim *out)
{
    for (uint32_t i = 0; i < out->requirements.count; i++) {
        out->requirements.items[i].min_values = 0;
        for (uint32_t k = 0; k < o->least_count; k++)
            if (o->least[k].key == out->requirements.items[i].key)
                out->requirements.items[i].min_values = (int32_t)c->least[k];
    }
}

static void claim_requirements(struct plan *p, const struct spec *s, const struct listing *l,
                               struct plan_claim *out)
{
    struct requirement *items = ARENA_ARRAY(&p->arena, struct requirement, s->requirements.count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->requirements.count; i++) {
        sym key = s->requirements.items[i].key;
        if (key != SYM_REGISTERED && key != SYM_INITIALIZED && key != SYM_HOSTNAME)
            items[n++] = s->requirements.items[i];
    }
    out->requirements = (struct requirements){items, n};
    set_requirement(&p->arena, &out->requirements, l->names);
    if (l->capacity.count != 0)
        set_requirement(&p->arena, &out->requirements, l->capacity);
}

/* Pods' requests and what DaemonSets ask at least of what the claim may become (5.1). */
static struct resources claim_requests(struct plan *p, const struct trial *t, uint32_t claim,
                                       const struct listing *l)
{
    const struct world *w = t->world;
    struct resources r = {0};
    for (uint32_t i = 0; i < w->resource_count; i++) {
        amount sum = amount_add(t->claims[claim].requests[i], l->overhead[i]);
        if (sum != 0)
            *resources_at(&p->arena, &r, w->columns[i]) = sum;
    }
    return r;
}

static void claim_annotations(struct plan *p, bool relaxed, struct plan_claim *out)
{
    bool price = false, capacity = false;
    for (uint32_t i = 0; p->world->overlaid.changed && i < out->type_count; i++) {
        price |= out->types[i]->price_overlaid;
        capacity |= out->types[i]->capacity_overlaid;
    }
    struct plain_label *items = ARENA_ARRAY(&p->arena, struct plain_label, 3);
    uint32_t n = 0; /* by key */
    if (capacity)
        items[n++] = (struct plain_label){SPAN("karpenter.sh/capacity-overlay-applied"), SPAN("true")};
    items[n++] = (struct plain_label){SPAN("karpenter.sh/nodeclaim-min-values-relaxed"),
                                      relaxed ? SPAN("true") : SPAN("false")};
    if (price)
        items[n++] = (struct plain_label){SPAN("karpenter.sh/price-overlay-applied"), SPAN("true")};
    out->annotations = (struct plain_labels){items, n};
}

static bool build_claim(struct plan *p, struct trial *t, struct listings *lists, uint32_t claim,
                        struct plan_claim *out)
{
    const struct listing *l = listing_of(lists, t, claim);
    const struct trial_claim *c = &t->claims[claim];
    const struct spec *s = &t->specs.items[c->spec];
    const struct option *option = &t->world->options[s->option];
    if (!listing_holds(t, claim, l))
        return false;
    out->pool = option->pool;
    out->types = l->types;
    out->type_count = l->count;
    out->price = l->price;
    claim_requirements(p, s, l, out);
    if (c->held != NULL)
        claim_reservations(p, t, c->held, out);
    claim_least(option, c, out);
    out->labels = pool_node_labels(&p->arena, p->syms, p->world->rules.well_known, option->labels,
                                   &s->requirements);
    claim_annotations(p, c->relaxed, out);
    out->requests = claim_requests(p, t, claim, l);
    return true;
}

static struct span claim_name(struct plan *p, const struct option *o, uint32_t *ordinal)
{
    for (;;) {
        struct span name = arena_printf(&p->arena, "%.*s-%u", SPAN_ARG(option_name(o)), ++*ordinal);
        if (world_find_node(p->world, name) < 0 && world_find_claim(p->world, name) < 0)
            return name;
    }
}

uint32_t *solution_claims(struct plan *p, struct trial *t, const struct plan_options *o)
{
    const struct world *w = p->world;
    struct plan_claim *claims = ARENA_ARRAY(&p->arena, struct plan_claim, t->claim_count);
    uint32_t *ordinals = ARENA_ARRAY(&p->arena, uint32_t, w->option_count);
    uint32_t *claim_at = ARENA_ARRAY(&p->arena, uint32_t, t->claim_count);
    struct listings lists;
    listings_init(&lists, &p->arena, p->syms, o, t);
    p->claims = claims;
    for (uint32_t i = 0; i < t->claim_count; i++) {
        uint32_t option = t->specs.items[t->claims[i].spec].option;
        struct plan_claim *c = &claims[p->claim_count];
        if (!build_claim(p, t, &lists, i, c))
            continue;
        c->name = claim_name(p, &w->options[option], &ordinals[option]);
        c->pods = ARENA_ARRAY(&p->arena, const struct pod *, t->claims[i].pods);
        claim_at[i] = ++p->claim_count;
    }
    return claim_at;
}
