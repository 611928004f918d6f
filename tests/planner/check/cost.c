/* Price of the fleet (plan contract 6): every node that stays and whose price is known, and the claims. */
#include "inner.h"

#include <math.h>

double cost_of_node(const struct node_pool *pool)
{
    struct span text = pool != NULL ? annotations_get(pool->meta.annotations, SYM_NODE_COST) : (struct span){0};
    struct span cents = {0}, dollars = span_cut(text, '.', &cents); /* tests write cents in full, or what is no amount */
    int64_t sum = 0;
    for (size_t i = 0; i < dollars.len + cents.len; i++) {
        char digit = i < dollars.len ? dollars.ptr[i] : cents.ptr[i - dollars.len];
        if (digit < '0' || digit > '9')
            return 0;
        sum = sum * 10 + digit - '0';
    }
    if (dollars.len == text.len)
        return (double)sum;
    return dollars.len != 0 && cents.len == 2 ? (double)sum / 100 : 0;
}

static double standing_price(const struct host *h)
{
    const struct mays *labels = &h->outcomes[0].labels;
    const struct may *zone = may_get(labels, SYM_ZONE), *kind = may_get(labels, SYM_CAPACITY_TYPE);
    const struct instance_type *t = h->outcomes[0].type;
    if (t == NULL || zone == NULL || kind == NULL || zone->values.count != 1 ||
        kind->values.count != 1)
        return (double)NAN;
    for (uint32_t i = 0; i < t->offering_count; i++) {
        bool here = false, so = false;
        const struct requirement *z = requirements_get(&t->offerings[i].requirements, SYM_ZONE);
        const struct requirement *c =
            requirements_get(&t->offerings[i].requirements, SYM_CAPACITY_TYPE);
        for (uint32_t v = 0; z != NULL && v < z->count; v++)
            here |= z->values[v] == zone->values.items[0];
        for (uint32_t v = 0; c != NULL && v < c->count; v++)
            so |= c->values[v] == kind->values.items[0];
        if (here && so)
            return t->offerings[i].price + cost_of_node(h->pool);
    }
    return (double)NAN;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

void check_cost(struct check *k)
{
    double before = 0, removed = 0, bought = 0;
    bool known = true;
    for (uint32_t i = 0; i < k->host_count; i++) {
        const struct host *h = &k->hosts[i];
        if (h->planned != NULL) {
            known &= h->planned->has_price;
            bought += h->planned->price;
        } else if (!h->leaving || h->removed) {
            double price = standing_price(h);
            before += isnan(price) ? 0 : price;
            removed += isnan(price) || !h->removed ? 0 : price;
        }
    }
    if (!k->plan.has_before || !near(k->plan.before, before))
        broken(k, "the cost before is %g, not %g", k->plan.before, before);
    if (k->plan.has_after != known || (known && !near(k->plan.after, before - removed + bought)))
        broken(k, "the cost after is %g, not %g", k->plan.after, before - removed + bought);
    if (k->plan.has_bound && k->plan.lower_bound > k->plan.after)
        broken(k, "the lower bound %g is above the cost %g", k->plan.lower_bound, k->plan.after);
}
