/* What is written of a claim: it can be created as it stands, and says what it will be. */
#include "inner.h"

#include <math.h>

/* --- offerings and prices --- */

static bool requirement_admitted(const struct check *k, struct expressions list,
                                 const struct requirement *r)
{
    bool some = false;
    if (r->complement) /* any value outside a few: never asked for in earnest */
        return true;
    for (uint32_t v = 0; v < r->count; v++)
        some |= values_allowed(k, list, r->key, r->values[v]);
    if (r->count != 0)
        return some;
    /* The type has no such label: whoever asks for one is not met. */
    for (uint32_t i = 0; i < list.count; i++)
        if (requirement_key(k->syms, list.items[i].key) == r->key &&
            list.items[i].op != OP_NOT_IN && list.items[i].op != OP_DOES_NOT_EXIST)
            return false;
    return true;
}

static const struct requirement *not_admitted(const struct check *k, struct expressions list,
                                              const struct requirements *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!requirement_admitted(k, list, &r->items[i]))
            return &r->items[i];
    return NULL;
}

static bool offering_admitted(const struct check *k, const struct written_claim *c,
                              const struct offering *o)
{
    return o->available && not_admitted(k, c->requirements, &o->requirements) == NULL;
}

static bool is_required(const struct requirement *r, const struct requirements *among)
{
    const struct requirement *x = requirements_get(among, r->key);
    return x != NULL && x->complement == r->complement && x->count == r->count &&
           (r->count == 0 || memcmp(x->values, r->values, r->count * sizeof(*r->values)) == 0);
}

/* Nothing but overrides tells the two apart. */
static bool are_twins(const struct offering *x, const struct offering *y)
{
    bool same = x->requirements.count == y->requirements.count;
    for (uint32_t i = 0; same && i < x->requirements.count; i++)
        same = is_required(&x->requirements.items[i], &y->requirements);
    return same;
}

static bool holds_claim(struct check *k, const struct written_claim *c,
                        const struct instance_type *t, const struct offering *o)
{
    struct resources room = offering_allocatable(&k->arena, t, o, k->syms);
    for (uint32_t i = 0; i < c->requests.count; i++)
        if (resources_get(room, c->requests.items[i].name) < c->requests.items[i].value)
            return false;
    return true;
}

/* It does not hold what the claim requests, and the provider has a twin that does. */
static bool passed_over(struct check *k, const struct written_claim *c,
                        const struct instance_type *t, const struct offering *o)
{
    bool better = false;
    for (uint32_t i = 0; i < t->offering_count && !better; i++)
        better = &t->offerings[i] != o && t->offerings[i].available &&
                 are_twins(o, &t->offerings[i]) && holds_claim(k, c, t, &t->offerings[i]);
    return better && !holds_claim(k, c, t, o);
}

static bool is_reserved(const struct offering *o)
{
    const struct requirement *kind = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
    for (uint32_t v = 0; kind != NULL && !kind->complement && v < kind->count; v++)
        if (kind->values[v] == SYM_RESERVED)
            return true;
    return false;
}

static bool launchable(const struct check *k, const struct written_claim *c,
                       const struct offering *o)
{
    return offering_admitted(k, c, o) && (!is_reserved(o) || o->reservation_capacity > 0);
}

static double launch_price(struct check *k, const struct written_claim *c,
                           const struct instance_type *t)
{
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < t->offering_count; i++)
        if (launchable(k, c, &t->offerings[i]) && t->offerings[i].price < least &&
            !passed_over(k, c, t, &t->offerings[i]))
            least = t->offerings[i].price;
    return least;
}

static void check_prices(struct check *k, const struct written_claim *c, const struct node_pool *pool)
{
    double last = 0;
    for (uint32_t i = 0; i < c->types.count; i++) {
        const struct instance_type *t = type_named(k, c->types.items[i], c->pool);
        double price = launch_price(k, c, t) + cost_of_node(pool);
        bool tie = i != 0 && price == last;
        if (i == 0 && (c->has_price ? fabs(price - c->price) > 1e-9 : isfinite(price)))
            broken(k, "claim %.*s: price is %g, of the cheapest offering %g", SPAN_ARG(c->name),
                   c->has_price ? c->price : (double)NAN, price);
        if (price < last || (tie && span_cmp(c->types.items[i - 1], t->name) > 0)) {
            broken(k, "claim %.*s: type %.*s is listed behind a dearer one, or one of a later name",
                   SPAN_ARG(c->name), SPAN_ARG(t->name));
            return;
        }
        last = price;
    }
}

/* --- requirements --- */

static const struct expression *written_about(const struct check *k, struct expressions list, sym key)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (requirement_key(k->syms, list.items[i].key) == key)
            return &list.items[i];
    return NULL;
}

static bool in_values(const struct check *k, struct syms values, struct span name)
{
    for (uint32_t i = 0; i < values.count; i++)
        if (span_eq(text_of(k, values.items[i]), name))
            return true;
    return false;
}

static void check_type_requirement(struct check *k, const struct written_claim *c)
{
    const struct expression *e = written_about(k, c->requirements, SYM_INSTANCE_TYPE);
    bool same = e != NULL && e->op == OP_IN && e->values.count == c->types.count;
    for (uint32_t i = 0; same && i < c->types.count; i++)
        same = in_values(k, e->values, c->types.items[i]);
    if (!same)
        broken(k, "claim %.*s: the requirement on the instance type is not the list of types",
               SPAN_ARG(c->name));
}

static void check_capacity_types(struct check *k, const struct written_claim *c)
{
    const struct expression *e = written_about(k, c->requirements, SYM_CAPACITY_TYPE);
    for (uint32_t v = 0; e != NULL && e->op == OP_IN && v < e->values.count; v++) {
        bool some = false;
        for (uint32_t i = 0; i < c->types.count; i++) {
            const struct instance_type *t = type_named(k, c->types.items[i], c->pool);
            for (uint32_t n = 0; n < t->offering_count; n++) {
                const struct requirement *r =
                    requirements_get(&t->offerings[n].requirements, SYM_CAPACITY_TYPE);
                for (uint32_t x = 0; r != NULL && x < r->count; x++)
                    some |= r->values[x] == e->values.items[v] && launchable(k, c, &t->offerings[n]);
            }
        }
        if (!some)
            broken(k, "claim %.*s: capacity type %.*s cannot be launched", SPAN_ARG(c->name),
                   SPAN_ARG(text_of(k, e->values.items[v])));
    }
}

/* Values that tell two requirements on a key apart: those that they name, their neighbours as numbers,
 * and one that nobody names. */
static void tell_apart(struct check *k, struct expressions list, sym key, struct syms *out,
                       uint32_t *capacity)
{
    for (uint32_t i = 0; i < list.count; i++)
        for (uint32_t v = 0; requirement_key(k->syms, list.items[i].key) == key &&
                             v < list.items[i].values.count; v++) {
            int64_t n;
            sym value = list.items[i].values.items[v];
            ARENA_PUSH(&k->arena, out->items, out->count, *capacity, value);
            if (!span_int64(text_of(k, value), &n))
                continue;
            for (int64_t d = -1; d <= 1; d++)
                ARENA_PUSH(&k->arena, out->items, out->count, *capacity,
                           sym_intern(k->syms, arena_printf(&k->arena, "%lld", (long long)(n + d))));
        }
    static const struct span others[] = {SPAN_INIT("no-such-value"), SPAN_INIT("0"),
                                         SPAN_INIT("999999999")};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        ARENA_PUSH(&k->arena, out->items, out->count, *capacity, sym_intern(k->syms, others[i]));
}

/* Whatever value the claim's requirements let through, the pool's do too. */
static void check_within_pool(struct check *k, const struct written_claim *c,
                              const struct node_pool *pool)
{
    for (uint32_t i = 0; i < pool->requirements.count; i++) {
        const struct expression *asked = &pool->requirements.items[i];
        sym key = requirement_key(k->syms, asked->key);
        const struct expression *mine = written_about(k, c->requirements, key);
        struct syms values = {0};
        uint32_t capacity = 0;
        bool within = mine != NULL;
        if (within && mine->op == OP_DOES_NOT_EXIST) {
            within = asked->op == OP_DOES_NOT_EXIST || asked->op == OP_NOT_IN;
        } else if (within) {
            tell_apart(k, pool->requirements, key, &values, &capacity);
            tell_apart(k, c->requirements, key, &values, &capacity);
        }
        for (uint32_t v = 0; v < values.count; v++)
            if (values_allowed(k, c->requirements, key, values.items[v]))
                within &= value_meets(k, values.items[v], asked);
        if (!within)
            broken(k, "claim %.*s: the NodePool's requirement on %.*s is not kept",
                   SPAN_ARG(c->name), SPAN_ARG(text_of(k, key)));
    }
}

/* --- minValues --- */

static uint32_t distinct_values(struct check *k, const struct written_claim *c, sym key)
{
    struct syms seen = {0};
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < c->types.count; i++) {
        const struct instance_type *t = type_named(k, c->types.items[i], c->pool);
        const struct requirement *r = requirements_get(&t->requirements, key);
        for (uint32_t v = 0; r != NULL && !r->complement && v < r->count; v++)
            if (!syms_has(seen, r->values[v]) && values_allowed(k, c->requirements, key, r->values[v]))
                ARENA_PUSH(&k->arena, seen.items, seen.count, capacity, r->values[v]);
    }
    return seen.count;
}

static void check_min_values(struct check *k, const struct written_claim *c,
                             const struct node_pool *pool)
{
    sym relaxed = sym_pairs_get(c->annotations, SYM_MIN_VALUES_RELAXED);
    bool may_relax = k->c->plan_options.best_effort_min_values && relaxed == SYM_TRUE;
    for (uint32_t i = 0; i < c->requirements.count; i++) {
        const struct expression *e = &c->requirements.items[i];
        uint32_t have = distinct_values(k, c, requirement_key(k->syms, e->key));
        if (e->min_values > 0 && have < (uint32_t)e->min_values)
            broken(k, "claim %.*s: %u values of %.*s are left, minValues is %d", SPAN_ARG(c->name),
                   have, SPAN_ARG(text_of(k, e->key)), e->min_values);
    }
    for (uint32_t i = 0; i < pool->requirements.count; i++) {
        const struct expression *asked = &pool->requirements.items[i];
        int32_t most = 0;
        for (uint32_t n = 0; n < c->requirements.count; n++)
            if (requirement_key(k->syms, c->requirements.items[n].key) ==
                    requirement_key(k->syms, asked->key) &&
                c->requirements.items[n].min_values > most)
                most = c->requirements.items[n].min_values;
        if (most < asked->min_values && !may_relax)
            broken(k, "claim %.*s: the NodePool's minValues of %.*s is not kept", SPAN_ARG(c->name),
                   SPAN_ARG(text_of(k, asked->key)));
    }
    if (relaxed != SYM_TRUE && relaxed != SYM_FALSE)
        broken(k, "claim %.*s: does not say whether minValues was relaxed", SPAN_ARG(c->name));
}

/* --- labels, taints --- */

static bool has_label(const struct check *k, const struct written_claim *c, struct span key,
                      struct span value)
{
    for (uint32_t i = 0; i < c->labels.count; i++)
        if (span_eq(text_of(k, c->labels.items[i].key), key))
            return span_eq(text_of(k, c->labels.items[i].value), value);
    return false;
}

static void want_label(struct check *k, const struct written_claim *c, struct span key,
                       struct span value)
{
    if (!has_label(k, c, key, value))
        broken(k, "claim %.*s: label %.*s is not %.*s", SPAN_ARG(c->name), SPAN_ARG(key),
               SPAN_ARG(value));
}

static bool is_custom(const struct check *k, sym key)
{
    return !syms_has(k->c->catalogue.well_known, key) && key != SYM_HOSTNAME;
}

static void check_labels(struct check *k, const struct written_claim *c,
                         const struct node_pool *pool)
{
    struct span class_key = node_class_label(&k->arena, &pool->node_class);
    for (uint32_t i = 0; i < pool->labels.count; i++)
        want_label(k, c, text_of(k, pool->labels.items[i].key),
                   text_of(k, pool->labels.items[i].value));
    want_label(k, c, SPAN("karpenter.sh/nodepool"), pool->meta.name);
    want_label(k, c, class_key, pool->node_class.name);
    for (uint32_t i = 0; i < c->requirements.count; i++) {
        const struct expression *e = &c->requirements.items[i];
        sym value = sym_pairs_get(c->labels, e->key);
        if (!is_custom(k, e->key) || e->op == OP_DOES_NOT_EXIST)
            continue;
        if (value == SYM_NONE || !values_allowed(k, c->requirements, e->key, value))
            broken(k, "claim %.*s: label %.*s has no value that the requirements allow",
                   SPAN_ARG(c->name), SPAN_ARG(text_of(k, e->key)));
    }
    for (uint32_t i = 0; i < c->labels.count; i++) {
        sym key = c->labels.items[i].key;
        if (sym_pairs_get(pool->labels, key) == SYM_NONE && key != SYM_NODEPOOL &&
            !span_eq(text_of(k, key), class_key) &&
            written_about(k, c->requirements, key) == NULL)
            broken(k, "claim %.*s: nobody asked for label %.*s", SPAN_ARG(c->name),
                   SPAN_ARG(text_of(k, key)));
    }
}

static void check_taints(struct check *k, const struct written_claim *c,
                         const struct node_pool *pool)
{
    bool same = c->taints.count == pool->taints.count;
    for (uint32_t i = 0; same && i < c->taints.count; i++) {
        const struct taint *x = &c->taints.items[i], *y = &pool->taints.items[i];
        same = x->key == y->key && x->effect == y->effect &&
               (x->value == y->value || (x->value <= SYM_EMPTY && y->value <= SYM_EMPTY));
    }
    if (!same)
        broken(k, "claim %.*s: the taints are not the NodePool's", SPAN_ARG(c->name));
}

/* --- what it may become --- */

static void labels_from(struct check *k, struct mays *out, const struct requirements *from,
                        struct expressions written)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct requirement *r = &from->items[i];
        struct syms left = {ARENA_ARRAY(&k->arena, sym, r->count), 0};
        for (uint32_t v = 0; !r->complement && v < r->count; v++)
            if (values_allowed(k, written, r->key, r->values[v]))
                left.items[left.count++] = r->values[v];
        if (!r->complement)
            may_put(k, out, r->key)->values = left;
    }
}

static struct outcome outcome_of(struct check *k, const struct host *h,
                                 const struct instance_type *t, const struct offering *o)
{
    const struct written_claim *c = h->planned;
    struct outcome x = {.type = t, .offering = o,
                        .room = offering_allocatable(&k->arena, t, o, k->syms)};
    labels_from(k, &x.labels, &t->requirements, c->requirements);
    labels_from(k, &x.labels, &o->requirements, c->requirements);
    for (uint32_t i = 0; i < c->labels.count; i++)
        may_set(k, &x.labels, requirement_key(k->syms, c->labels.items[i].key),
                c->labels.items[i].value);
    may_set(k, &x.labels, SYM_REGISTERED, SYM_TRUE);
    may_set(k, &x.labels, SYM_INITIALIZED, SYM_TRUE);
    may_set(k, &x.labels, SYM_HOSTNAME, sym_intern(k->syms, c->name));
    return x;
}

const struct requirement *add_outcomes(struct check *k, struct host *h,
                                       const struct instance_type *t)
{
    const struct written_claim *c = h->planned;
    const struct requirement *bad = not_admitted(k, c->requirements, &t->requirements);
    for (uint32_t n = 0; bad == NULL && n < t->offering_count; n++)
        if (offering_admitted(k, c, &t->offerings[n]) && !passed_over(k, c, t, &t->offerings[n]))
            ARENA_PUSH(&k->arena, h->outcomes, h->outcome_count, h->outcome_capacity,
                       outcome_of(k, h, t, &t->offerings[n]));
    return bad;
}

/* A claim bound to reservations may list types that they are not for, when minValues count them. */
static bool counted_by_least(const struct written_claim *c)
{
    for (uint32_t i = 0; i < c->requirements.count; i++)
        if (c->requirements.items[i].min_values > 1)
            return true;
    return false;
}

static void find_outcomes(struct check *k, struct host *h)
{
    const struct written_claim *c = h->planned;
    for (uint32_t i = 0; i < c->types.count; i++) {
        const struct instance_type *t = type_named(k, c->types.items[i], c->pool);
        uint32_t before = h->outcome_count;
        const struct requirement *bad = add_outcomes(k, h, t);
        if (bad != NULL)
            broken(k, "claim %.*s: type %.*s does not meet the requirement on %.*s",
                   SPAN_ARG(c->name), SPAN_ARG(t->name), SPAN_ARG(text_of(k, bad->key)));
        else if (before == h->outcome_count && !counted_by_least(c))
            broken(k, "claim %.*s: type %.*s has no offering that the requirements admit",
                   SPAN_ARG(c->name), SPAN_ARG(t->name));
    }
}

/* --- requests --- */

/* The least that comes to what the claim may become. */
static void check_requests(struct check *k, const struct written_claim *c, const struct host *h)
{
    struct resources least = {0}, want = {0};
    for (uint32_t i = 0; i < h->outcome_count; i++) {
        struct resources sum = daemons_to_come(k, h, &h->outcomes[i]);
        if (i == 0)
            least = sum;
        for (uint32_t r = 0; r < least.count; r++)
            if (resources_get(sum, least.items[r].name) < least.items[r].value)
                least.items[r].value = resources_get(sum, least.items[r].name);
    }
    resources_add(&k->arena, &want, least);
    for (uint32_t i = 0; i < h->pods.count; i++)
        add_requests(k, &want, h->pods.items[i]);
    bool same = true;
    for (uint32_t i = 0; i < want.count; i++)
        same &= resources_get(c->requests, want.items[i].name) == want.items[i].value;
    for (uint32_t i = 0; i < c->requests.count; i++)
        same &= resources_get(want, c->requests.items[i].name) == c->requests.items[i].value;
    if (!same && h->outcome_count != 0)
        broken(k, "claim %.*s: requests are not those of its pods and DaemonSets",
               SPAN_ARG(c->name));
}

/* --- all --- */

/* What the other rules build on. */
static bool well_formed(struct check *k, const struct host *h)
{
    const struct written_claim *c = h->planned;
    uint32_t most = k->c->plan_options.max_instance_types;
    if (h->pool == NULL || !pool_usable(k, h->pool))
        return broken(k, "claim %.*s: NodePool %.*s cannot be used", SPAN_ARG(c->name),
                      SPAN_ARG(c->pool));
    if (c->types.count == 0)
        return broken(k, "claim %.*s: no type is listed", SPAN_ARG(c->name));
    if (c->types.count > (most != 0 ? most : 600))
        return broken(k, "claim %.*s: too many types are listed", SPAN_ARG(c->name));
    for (uint32_t i = 0; i < c->types.count; i++) {
        if (type_named(k, c->types.items[i], c->pool) == NULL)
            return broken(k, "claim %.*s: the NodePool is not offered type %.*s",
                          SPAN_ARG(c->name), SPAN_ARG(c->types.items[i]));
        for (uint32_t n = 0; n < i; n++)
            if (span_eq(c->types.items[i], c->types.items[n]))
                return broken(k, "claim %.*s: type %.*s is listed twice", SPAN_ARG(c->name),
                              SPAN_ARG(c->types.items[i]));
    }
    return true;
}

/* Slots of a reservation that claims may take, against those that are left. */
static void check_reservations(struct check *k)
{
    const struct catalogue *all = &k->c->catalogue;
    sym key = sym_find(k->syms, all->reservation_id_label);
    for (uint32_t t = 0; key != SYM_NONE && t < all->count; t++)
        for (uint32_t o = 0; o < all->items[t].offering_count; o++) {
            const struct offering *x = &all->items[t].offerings[o];
            const struct requirement *id = requirements_get(&x->requirements, key);
            int64_t taken = 0;
            if (!is_reserved(x) || id == NULL || id->count != 1)
                continue;
            for (uint32_t h = 0; h < k->host_count; h++)
                for (uint32_t n = 0; n < k->hosts[h].outcome_count; n++) {
                    const struct offering *y = k->hosts[h].outcomes[n].offering;
                    const struct requirement *other =
                        y != NULL ? requirements_get(&y->requirements, key) : NULL;
                    if (other != NULL && is_reserved(y) && other->count == 1 &&
                        other->values[0] == id->values[0] &&
                        launchable(k, k->hosts[h].planned, y)) {
                        taken++;
                        break;
                    }
                }
            if (taken > x->reservation_capacity && taken != 0) {
                broken(k, "reservation %.*s: %lld claims may take it, %lld are left",
                       SPAN_ARG(text_of(k, id->values[0])), (long long)taken,
                       (long long)x->reservation_capacity);
                return;
            }
        }
}

void check_claims(struct check *k)
{
    for (uint32_t i = 0; i < k->host_count; i++) {
        struct host *h = &k->hosts[i];
        if (h->planned == NULL || !well_formed(k, h))
            continue;
        check_type_requirement(k, h->planned);
        check_capacity_types(k, h->planned);
        check_within_pool(k, h->planned, h->pool);
        check_min_values(k, h->planned, h->pool);
        check_labels(k, h->planned, h->pool);
        check_taints(k, h->planned, h->pool);
        check_prices(k, h->planned, h->pool);
        find_outcomes(k, h);
        check_requests(k, h->planned, h);
    }
    check_reservations(k);
}
