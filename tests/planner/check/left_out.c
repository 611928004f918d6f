/* Who is told Unschedulable must have no place. Where a reservation, spreading, affinity, volumes, ports, limits or
 * minValues may be the reason nothing is asked; a pod without any of these must be refused by every
 * standing node as the plan leaves it, and by every type of every such NodePool, beside the DaemonSet pods that
 * come there. */
#include "inner.h"

static bool is_plain(const struct pod *p)
{
    if (p->spreads.count != 0 || p->volumes.count != 0 || p->ports.count != 0)
        return false;
    return p->affinity == NULL ||
           (p->affinity->required_pod.count == 0 && p->affinity->required_anti.count == 0 &&
            p->affinity->preferred_pod.count == 0 && p->affinity->preferred_anti.count == 0);
}

/* Somebody's anti-affinity may keep others off. */
static bool anybody_minds(const struct check *k)
{
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *p = AT(k, KIND_POD, struct pod, i);
        if (p->affinity != NULL &&
            (p->affinity->required_anti.count != 0 || p->affinity->preferred_anti.count != 0))
            return true;
    }
    return false;
}

/* Soft taints count until they are given up, which depends on the pools. */
static bool tolerates_all(const struct check *k, const struct pod *p, struct taints taints)
{
    for (uint32_t i = 0; i < taints.count; i++)
        if (taints.items[i].effect == TAINT_PREFER_NO_SCHEDULE)
            return false;
    return not_tolerated(k, p, taints) == NULL;
}

static bool leaves_room(struct check *k, const struct host *h, const struct pod *p)
{
    struct resources used = {0};
    for (uint32_t i = 0; i < h->bound.count; i++)
        add_requests(k, &used, h->bound.items[i]);
    for (uint32_t i = 0; i < h->pods.count; i++)
        add_requests(k, &used, h->pods.items[i]);
    resources_add(&k->arena, &used, daemons_to_come(k, h, &h->outcomes[0]));
    add_requests(k, &used, p);
    for (uint32_t i = 0; i < used.count; i++)
        if (used.items[i].value > resources_get(h->outcomes[0].room, used.items[i].name))
            return false;
    return true;
}

static bool node_takes(struct check *k, const struct host *h, const struct pod *p)
{
    return h->planned == NULL && !h->leaving && tolerates_all(k, p, h->taints) &&
           !is_closed_to(k, h, p) && selects(k, p, &h->outcomes[0].labels, false) &&
           leaves_room(k, h, p);
}

/* --- a machine of its own --- */

static bool holds_alone(struct check *k, const struct host *h, const struct outcome *o,
                        const struct pod *p)
{
    struct resources used = daemons_to_come(k, h, o);
    add_requests(k, &used, p);
    for (uint32_t i = 0; i < used.count; i++)
        if (used.items[i].value > resources_get(o->room, used.items[i].name))
            return false;
    return true;
}

/* Requirements that leave a value open are not asked about: the claim's label would be a choice. */
static bool is_simple(const struct check *k, const struct node_pool *pool)
{
    for (uint32_t i = 0; i < pool->requirements.count; i++)
        if (pool->requirements.items[i].min_values != 0 ||
            !syms_has(k->c->catalogue.well_known,
                      requirement_key(k->syms, pool->requirements.items[i].key)))
            return false;
    return pool->limits.count == 0;
}

static bool equal(struct resources a, struct resources b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = resources_get(b, a.items[i].name) == a.items[i].value;
    return same;
}

/* Of a type, every offering where the pod may go and the same DaemonSet pods come must hold it: a claim that
 * keeps to these lists them all. */
static bool type_takes(struct check *k, struct host *h, const struct instance_type *t,
                       const struct pod *p)
{
    bool some = false;
    h->outcome_count = 0;
    add_outcomes(k, h, t);
    for (uint32_t n = 0; n < h->outcome_count && !some; n++) {
        struct resources daemons = daemons_to_come(k, h, &h->outcomes[n]);
        some = selects(k, p, &h->outcomes[n].labels, false);
        for (uint32_t i = 0; some && i < h->outcome_count; i++) {
            const struct outcome *o = &h->outcomes[i];
            if (selects(k, p, &o->labels, false) && equal(daemons, daemons_to_come(k, h, o)))
                some = o->offering->reservation_capacity == 0 && holds_alone(k, h, o, p);
        }
    }
    return some;
}

static bool pool_takes(struct check *k, const struct node_pool *pool, const struct pod *p)
{
    struct written_claim c = {.name = SPAN("a claim of its own"), .pool = pool->meta.name,
                              .requirements = pool->requirements, .labels = pool->labels};
    struct host h = {.planned = &c, .pool = pool, .taints = pool->taints};
    if (!pool_usable(k, pool) || !is_simple(k, pool) || !tolerates_all(k, p, pool->taints))
        return false;
    for (uint32_t t = 0; t < k->c->catalogue.count; t++) {
        const struct instance_type *type = &k->c->catalogue.items[t];
        if (type_named(k, type->name, pool->meta.name) == type && type_takes(k, &h, type, p))
            return true;
    }
    return false;
}

void check_left_out(struct check *k)
{
    bool minded = anybody_minds(k);
    for (uint32_t i = 0; i < k->plan.unschedulable.count && !minded; i++) {
        const struct written_unschedulable *u = &k->plan.unschedulable.items[i];
        const struct pod *p = with_default_spread(k, pod_named(k, u->pod));
        if (!span_eq(u->reason, SPAN("Unschedulable")) || !is_plain(p))
            continue;
        p = with_split(k, p);
        if (p == NULL)
            continue;
        for (uint32_t h = 0; h < k->host_count; h++)
            if (node_takes(k, &k->hosts[h], p)) {
                broken(k, "pod %.*s is Unschedulable, and node %.*s has room for it",
                       SPAN_ARG(u->pod), SPAN_ARG(k->hosts[h].name));
                break;
            }
        for (size_t n = 0; n < COUNT(k, KIND_NODE_POOL); n++) {
            const struct node_pool *pool = AT(k, KIND_NODE_POOL, struct node_pool, n);
            if (pool_takes(k, pool, p)) {
                broken(k, "pod %.*s is Unschedulable, and NodePool %.*s has a type for it",
                       SPAN_ARG(u->pod), SPAN_ARG(pool->meta.name));
                break;
            }
        }
    }
}
