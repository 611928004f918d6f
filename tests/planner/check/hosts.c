/* The nodes that there are, as the scheduler sees them once they have come up, and the planned ones. */
#include "inner.h"

#include <stdio.h>
#include <string.h>

/* --- finding things by name --- */

const struct node_pool *pool_named(const struct check *k, struct span name)
{
    for (size_t i = 0; i < COUNT(k, KIND_NODE_POOL); i++)
        if (span_eq(AT(k, KIND_NODE_POOL, struct node_pool, i)->meta.name, name))
            return AT(k, KIND_NODE_POOL, struct node_pool, i);
    return NULL;
}

bool pool_usable(const struct check *k, const struct node_pool *p)
{
    const struct condition *ready = conditions_find(p->conditions, SPAN("Ready"));
    if (p->has_replicas || p->meta.deleted != 0)
        return false;
    if (k->c->options.ready_when_unstated)
        return ready == NULL || ready->status == CONDITION_TRUE;
    return ready != NULL && ready->status == CONDITION_TRUE &&
           ready->observed_generation == p->meta.generation;
}

const struct instance_type *type_named(const struct check *k, struct span name, struct span pool)
{
    for (uint32_t i = 0; i < k->c->catalogue.count; i++) {
        const struct instance_type *t = &k->c->catalogue.items[i];
        bool offered = t->node_pools.count == 0;
        for (uint32_t n = 0; n < t->node_pools.count; n++)
            offered |= span_eq(t->node_pools.items[n], pool);
        if (offered && span_eq(t->name, name))
            return t;
    }
    return NULL;
}

struct host *host_named(const struct check *k, struct span name, bool planned)
{
    for (uint32_t i = 0; i < k->host_count; i++)
        if ((k->hosts[i].planned != NULL) == planned && span_eq(k->hosts[i].name, name))
            return &k->hosts[i];
    return NULL;
}

/* --- standing nodes (spec provisioning 2.4) --- */

static const struct node_claim *claim_of(const struct check *k, const struct node *n)
{
    for (size_t i = 0; i < COUNT(k, KIND_NODE_CLAIM); i++) {
        const struct node_claim *c = AT(k, KIND_NODE_CLAIM, struct node_claim, i);
        if (n->provider_id.len != 0 && span_eq(c->provider_id, n->provider_id))
            return c;
    }
    for (size_t i = 0; i < COUNT(k, KIND_NODE_CLAIM); i++) {
        const struct node_claim *c = AT(k, KIND_NODE_CLAIM, struct node_claim, i);
        if (c->node_name != SYM_NONE && span_eq(text_of(k, c->node_name), n->meta.name))
            return c;
    }
    return NULL;
}

static bool says_true(const struct node *n, sym label)
{
    return n != NULL && sym_pairs_get(n->meta.labels, label) == SYM_TRUE;
}

static bool registered(const struct host *h)
{
    return h->claim == NULL || says_true(h->node, SYM_REGISTERED);
}

static bool initialized(const struct host *h)
{
    return h->claim == NULL || (registered(h) && says_true(h->node, SYM_INITIALIZED));
}

/* Those that go away by themselves while the node comes up are left out. */
static struct taints standing_taints(struct check *k, const struct host *h)
{
    struct taints from = registered(h) ? h->node->taints : h->claim->taints;
    struct taints kept = {ARENA_ARRAY(&k->arena, struct taint, (size_t)from.count + 1), 0};
    bool coming = h->claim != NULL &&
                  (!initialized(h) || conditions_true(h->claim->conditions, SPAN("Rebooting")));
    for (uint32_t i = 0; i < from.count; i++) {
        const struct taint *t = &from.items[i];
        bool goes = t->key == SYM_REBOOTING || taint_is_ephemeral(t, k->syms);
        for (uint32_t n = 0; coming && n < h->claim->startup_taints.count; n++)
            goes |= h->claim->startup_taints.items[n].key == t->key &&
                    h->claim->startup_taints.items[n].effect == t->effect;
        if (!coming || !goes)
            kept.items[kept.count++] = *t;
    }
    if (h->node != NULL && h->node->unschedulable)
        kept.items[kept.count++] =
            (struct taint){.key = SYM_UNSCHEDULABLE, .effect = TAINT_NO_SCHEDULE};
    return kept;
}

static void standing_labels(struct check *k, const struct host *h, struct mays *out)
{
    struct sym_pairs labels = registered(h) ? h->node->meta.labels : h->claim->meta.labels;
    for (uint32_t i = 0; i < labels.count; i++)
        may_set(k, out, requirement_key(k->syms, labels.items[i].key), labels.items[i].value);
    if (may_get(out, SYM_HOSTNAME) == NULL) /* every kubelet sets it */
        may_set(k, out, SYM_HOSTNAME, sym_intern(k->syms, h->name));
    if (h->node != NULL)
        return;
    /* Until it is launched, a label may become any value that is asked for. */
    for (uint32_t i = 0; i < h->claim->requirements.count; i++) {
        const struct expression *e = &h->claim->requirements.items[i];
        sym key = requirement_key(k->syms, e->key);
        if (e->op != OP_IN || sym_pairs_get(labels, e->key) != SYM_NONE)
            continue;
        struct may *m = may_put(k, out, key);
        struct syms left = {ARENA_ARRAY(&k->arena, sym, e->values.count), 0};
        for (uint32_t v = 0; v < e->values.count; v++)
            if (values_allowed(k, h->claim->requirements, key, e->values.items[v]))
                left.items[left.count++] = e->values.items[v];
        m->values = left;
    }
}

/* What a node has; a value of it that is zero or missing is still the claim's while it comes up. */
static struct resources standing_room(struct check *k, const struct host *h, bool capacity)
{
    struct resources none = {0};
    struct resources node = h->node == NULL ? none : capacity ? h->node->capacity
                                                              : h->node->allocatable;
    if (initialized(h))
        return node;
    struct resources room =
        resources_dup(&k->arena, capacity ? h->claim->capacity : h->claim->allocatable);
    for (uint32_t i = 0; i < node.count; i++)
        if (node.items[i].value != 0)
            *resources_at(&k->arena, &room, node.items[i].name) = node.items[i].value;
    return room;
}

/* Of a machine that is not chosen yet: what the least of its types has, by resource. */
static struct resources least_room(struct check *k, const struct mays *labels, struct span pool)
{
    struct resources least = {0};
    const struct may *types = may_get(labels, SYM_INSTANCE_TYPE);
    bool first = true;
    for (uint32_t i = 0; types != NULL && i < types->values.count; i++) {
        const struct instance_type *t = type_named(k, text_of(k, types->values.items[i]), pool);
        for (uint32_t n = 0; t != NULL && n < t->offering_count; n++) {
            struct resources room = offering_allocatable(&k->arena, t, &t->offerings[n], k->syms);
            if (!t->offerings[n].available)
                continue;
            if (first)
                least = resources_dup(&k->arena, room);
            first = false;
            for (uint32_t r = 0; r < least.count; r++)
                if (resources_get(room, least.items[r].name) < least.items[r].value)
                    least.items[r].value = resources_get(room, least.items[r].name);
        }
    }
    return least;
}

/* A claim that stays, and is no more than a minute older than the reason, says that it was bought in place of it. */
static bool replaced(const struct check *k, const struct node_claim *claim)
{
    const struct condition *why = conditions_find(claim->conditions, SPAN("DisruptionReason"));
    bool found = false;
    for (size_t i = 0; why != NULL && why->status == CONDITION_TRUE && i < COUNT(k, KIND_NODE_CLAIM); i++) {
        const struct node_claim *other = k->c->kinds[KIND_NODE_CLAIM].items[i];
        struct span text = annotations_get(other->meta.annotations, SYM_REPLACES);
        char wanted[512];
        int n = snprintf(wanted, sizeof(wanted), "/%.*s", SPAN_ARG(claim->meta.uid));
        found |= text.len != 0 && other->meta.deleted == 0 && other->meta.created + MS_MINUTE >= why->transition &&
                 memmem(text.ptr, text.len, wanted, (size_t)n) != NULL;
    }
    return found;
}

static void stand(struct check *k, const struct node *node, const struct node_claim *claim)
{
    struct host *h = &k->hosts[k->host_count++];
    *h = (struct host){.node = node, .claim = claim};
    h->name = registered(h) ? node->meta.name : claim->meta.name;
    h->leaving = claim != NULL
                     ? claim->meta.deleted != 0 || replaced(k, claim) ||
                           conditions_true(claim->conditions, SPAN("InstanceTerminating"))
                     : node->meta.deleted != 0;
    for (size_t i = 0; i < COUNT_OF(k->c->removed) && !h->leaving; i++)
        h->removed |= k->c->removed[i].len != 0 && span_eq(k->c->removed[i], h->name);
    h->leaving |= h->removed;
    h->taints = standing_taints(k, h);
    struct outcome o = {0};
    standing_labels(k, h, &o.labels);
    const struct may *pool = may_get(&o.labels, SYM_NODEPOOL);
    const struct may *type = may_get(&o.labels, SYM_INSTANCE_TYPE);
    struct span pool_text = pool != NULL ? text_of(k, pool->values.items[0]) : SPAN("");
    h->pool = pool_named(k, pool_text);
    if (type != NULL && type->values.count == 1)
        o.type = type_named(k, text_of(k, type->values.items[0]), pool_text);
    o.room = standing_room(k, h, false);
    if (node == NULL && claim->allocatable.count == 0)
        o.room = least_room(k, &o.labels, pool_text);
    ARENA_PUSH(&k->arena, h->outcomes, h->outcome_count, h->outcome_capacity, o);
}

/* --- who is bound there --- */

static void take_bound(struct check *k)
{
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *p = AT(k, KIND_POD, struct pod, i);
        if (p->node == SYM_NONE || pod_is_terminal(p) || in_pass(k, p))
            continue;
        for (uint32_t n = 0; n < k->host_count; n++) {
            struct host *h = &k->hosts[n];
            if (h->node != NULL && span_eq(h->node->meta.name, text_of(k, p->node)))
                ARENA_PUSH(&k->arena, h->bound.items, h->bound.count, h->bound.capacity, p);
        }
    }
}

void hosts_find(struct check *k)
{
    size_t nodes = COUNT(k, KIND_NODE), claims = COUNT(k, KIND_NODE_CLAIM);
    k->hosts = ARENA_ARRAY(&k->arena, struct host, nodes + claims + k->plan.claims.count);
    bool *used = ARENA_ARRAY(&k->arena, bool, claims);
    for (size_t i = 0; i < nodes; i++) {
        const struct node *n = AT(k, KIND_NODE, struct node, i);
        const struct node_claim *c = claim_of(k, n);
        for (size_t m = 0; m < claims; m++)
            used[m] |= AT(k, KIND_NODE_CLAIM, struct node_claim, m) == c;
        stand(k, n, c);
    }
    for (size_t i = 0; i < claims; i++)
        if (!used[i])
            stand(k, NULL, AT(k, KIND_NODE_CLAIM, struct node_claim, i));
    take_bound(k);
    for (uint32_t i = 0; i < k->plan.claims.count; i++) {
        const struct written_claim *c = &k->plan.claims.items[i];
        struct host *h = &k->hosts[k->host_count++];
        *h = (struct host){.name = c->name, .planned = c, .pool = pool_named(k, c->pool)};
        if (h->pool != NULL)
            h->taints = h->pool->taints;
    }
}

struct resources host_capacity(struct check *k, const struct host *h)
{
    return standing_room(k, h, true);
}
