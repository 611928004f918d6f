/* What a host must hold, whatever it becomes: selectors, taints, resources, ports; and what a NodePool
 * may spend. */
#include "inner.h"

static const char *what(const struct host *h)
{
    return h->planned != NULL ? "claim" : "node";
}

/* "claim a as small" */
static struct span as_what(struct check *k, const struct host *h, const struct outcome *o)
{
    if (h->planned == NULL)
        return arena_printf(&k->arena, "node %.*s", SPAN_ARG(h->name));
    return arena_printf(&k->arena, "claim %.*s as %.*s", SPAN_ARG(h->name), SPAN_ARG(o->type->name));
}

static bool taints_hold(struct check *k, const struct host *h)
{
    for (uint32_t i = 0; i < h->pods.count; i++) {
        const struct taint *t = not_tolerated(k, h->pods.items[i], h->taints);
        if (t != NULL)
            return broken(k, "%s %.*s: pod %.*s does not tolerate taint %.*s", what(h),
                          SPAN_ARG(h->name), SPAN_ARG(pod_name(k, h->pods.items[i])),
                          SPAN_ARG(text_of(k, t->key)));
    }
    return true;
}

static bool selectors_hold(struct check *k, const struct host *h)
{
    for (uint32_t i = 0; i < h->pods.count; i++)
        for (uint32_t n = 0; n < h->outcome_count; n++)
            if (!selects(k, h->pods.items[i], &h->outcomes[n].labels, false))
                return broken(k, "%.*s: pod %.*s selects other nodes",
                              SPAN_ARG(as_what(k, h, &h->outcomes[n])),
                              SPAN_ARG(pod_name(k, h->pods.items[i])));
    return true;
}

/* --- DaemonSet pods --- */

static bool comes(struct check *k, const struct pod *d, const struct host *h,
                  const struct outcome *o)
{
    return !d->resource_claims && not_tolerated(k, d, h->taints) == NULL &&
           selects(k, d, &o->labels, h->planned != NULL);
}

/* One that is there and was not expected makes no room. */
struct resources daemons_to_come(struct check *k, const struct host *h, const struct outcome *o)
{
    struct resources sum = {0}, there = {0};
    for (size_t i = 0; i < COUNT(k, KIND_DAEMON_SET); i++) {
        const struct pod *d = daemon_of(k, AT(k, KIND_DAEMON_SET, struct daemon_set, i));
        if (comes(k, d, h, o))
            add_requests(k, &sum, d);
    }
    for (uint32_t i = 0; i < h->bound.count; i++)
        if (pod_is_daemon(h->bound.items[i]))
            add_requests(k, &there, h->bound.items[i]);
    for (uint32_t i = 0; i < sum.count; i++) {
        amount left = sum.items[i].value - resources_get(there, sum.items[i].name);
        sum.items[i].value = left > 0 ? left : 0;
    }
    return sum;
}

/* --- resources --- */

static bool resources_hold(struct check *k, const struct host *h)
{
    for (uint32_t n = 0; n < h->outcome_count; n++) {
        struct resources asked = {0}, used = {0};
        const struct outcome *o = &h->outcomes[n];
        for (uint32_t i = 0; i < h->pods.count; i++)
            add_requests(k, &asked, h->pods.items[i]);
        resources_add(&k->arena, &used, asked);
        for (uint32_t i = 0; i < h->bound.count; i++)
            add_requests(k, &used, h->bound.items[i]);
        resources_add(&k->arena, &used, daemons_to_come(k, h, o));
        for (uint32_t r = 0; r < asked.count; r++) {
            sym name = asked.items[r].name;
            if (asked.items[r].value > 0 && resources_get(used, name) > resources_get(o->room, name))
                return broken(k, "%.*s: %.*s: %lld is asked for, %lld is there",
                              SPAN_ARG(as_what(k, h, o)), SPAN_ARG(text_of(k, name)),
                              (long long)resources_get(used, name),
                              (long long)resources_get(o->room, name));
        }
    }
    return true;
}

/* --- host ports --- */

static bool port_free(struct check *k, const struct host *h, const struct pod *a,
                      const struct pod *b)
{
    if (!ports_clash(a, b))
        return true;
    return broken(k, "%s %.*s: pod %.*s asks for a host port that is taken", what(h),
                  SPAN_ARG(h->name), SPAN_ARG(pod_name(k, a)));
}

static bool ports_hold(struct check *k, const struct host *h)
{
    for (uint32_t i = 0; i < h->pods.count; i++) {
        const struct pod *p = h->pods.items[i];
        for (uint32_t n = 0; n < i; n++)
            if (!port_free(k, h, p, h->pods.items[n]))
                return false;
        for (uint32_t n = 0; n < h->bound.count; n++)
            if (!port_free(k, h, p, h->bound.items[n]))
                return false;
        for (size_t d = 0; h->planned != NULL && d < COUNT(k, KIND_DAEMON_SET); d++) {
            const struct pod *daemon = daemon_of(k, AT(k, KIND_DAEMON_SET, struct daemon_set, d));
            for (uint32_t n = 0; n < h->outcome_count; n++)
                if (comes(k, daemon, h, &h->outcomes[n]) && !port_free(k, h, p, daemon))
                    return false;
        }
    }
    return true;
}

void check_rooms(struct check *k)
{
    for (uint32_t i = 0; i < k->host_count; i++) {
        struct host *h = &k->hosts[i];
        if (h->pods.count != 0)
            (void)(taints_hold(k, h) && selectors_hold(k, h) && ports_hold(k, h) &&
                   resources_hold(k, h) && volumes_hold(k, h));
    }
    volumes_meet(k);
}

/* --- limits --- */

/* What a NodePool's hosts take at most: of what is planned, its largest type by resource. */
static struct resources most_of(struct check *k, const struct host *h)
{
    struct resources most = {0};
    for (uint32_t i = 0; h->planned != NULL && i < h->planned->types.count; i++) {
        const struct instance_type *t =
            type_named(k, h->planned->types.items[i], h->planned->pool);
        if (t != NULL)
            resources_max(&k->arena, &most, t->capacity);
    }
    return h->planned != NULL ? most : host_capacity(k, h);
}

static void check_limit(struct check *k, const struct node_pool *pool)
{
    struct resources used = {0};
    bool bought = false;
    for (uint32_t i = 0; i < k->host_count; i++) {
        const struct host *h = &k->hosts[i];
        if (h->pool != pool || h->leaving)
            continue;
        bought |= h->planned != NULL;
        resources_add(&k->arena, &used, most_of(k, h));
        *resources_at(&k->arena, &used, SYM_NODES) += 1;
    }
    for (uint32_t i = 0; bought && i < pool->limits.count; i++) {
        sym name = pool->limits.items[i].name;
        if (resources_get(used, name) > pool->limits.items[i].value)
            broken(k, "NodePool %.*s: its limit of %.*s is exceeded", SPAN_ARG(pool->meta.name),
                   SPAN_ARG(text_of(k, name)));
    }
}

void check_limits(struct check *k)
{
    for (size_t i = 0; i < COUNT(k, KIND_NODE_POOL); i++)
        check_limit(k, AT(k, KIND_NODE_POOL, struct node_pool, i));
}
