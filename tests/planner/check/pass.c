/* Who is planned (spec provisioning 1.1 to 1.3, plan contract 6), and that everybody is in the plan once. */
#include "inner.h"

bool pod_is_terminating(const struct pod *p)
{
    return p->meta.deleted != 0;
}

static bool owned(const struct pod *p, sym api_version, sym kind)
{
    for (uint32_t i = 0; i < p->meta.owners.count; i++)
        if (p->meta.owners.items[i].api_version == api_version &&
            p->meta.owners.items[i].kind == kind)
            return true;
    return false;
}

static bool stays_with_node(const struct pod *p)
{
    return owned(p, SYM_API_APPS_V1, SYM_KIND_DAEMON_SET) || owned(p, SYM_API_V1, SYM_KIND_NODE);
}

/* A budget that never lets the pod go, or two. */
static bool held_back(const struct check *k, const struct pod *p)
{
    static const struct taint drain = {.key = SYM_DISRUPTED, .effect = TAINT_NO_SCHEDULE};
    struct taints drains = {(struct taint *)&drain, 1};
    uint32_t matching = 0, blocking = 0;
    if (pod_is_terminating(p) || not_tolerated(k, p, drains) == NULL)
        return false;
    for (size_t i = 0; i < COUNT(k, KIND_DISRUPTION_BUDGET); i++) {
        const struct disruption_budget *b =
            AT(k, KIND_DISRUPTION_BUDGET, struct disruption_budget, i);
        if (!span_eq(b->meta.ns, p->meta.ns) || !b->has_selector ||
            !label_selector_matches(&b->selector, p->meta.labels))
            continue;
        bool never = span_eq(b->max_unavailable, SPAN("0")) ||
                     span_eq(b->max_unavailable, SPAN("0%")) ||
                     span_eq(b->min_available, SPAN("100%"));
        matching++;
        blocking += never && !(b->evict_unhealthy && p->unready);
    }
    return matching > 1 || blocking != 0;
}

static const struct host *home_of(const struct check *k, const struct pod *p)
{
    for (uint32_t i = 0; p->node != SYM_NONE && i < k->host_count; i++)
        if (k->hosts[i].node != NULL &&
            span_eq(k->hosts[i].node->meta.name, text_of(k, p->node)))
            return &k->hosts[i];
    return NULL;
}

static bool leaves_node(const struct check *k, const struct pod *p)
{
    bool comes_back = pod_is_terminating(p) && owned(p, SYM_API_APPS_V1, SYM_KIND_STATEFUL_SET);
    if (pod_is_terminal(p) || stays_with_node(p) || (pod_is_terminating(p) && !comes_back))
        return false;
    const struct host *h = home_of(k, p);
    if (h == NULL || !h->leaving)
        return false;
    if (h->removed && k->c->plan_options.removed_for == REMOVAL_REPAIR)
        return true;
    bool pinned = !pod_is_terminating(p) && pod_do_not_disrupt(p, k->c->plan_options.now);
    return !pinned && !held_back(k, p);
}

bool is_closed_to(const struct check *k, const struct host *h, const struct pod *p)
{
    const struct host *home = home_of(k, p);
    if (home == NULL || !home->removed || k->c->plan_options.removed_for != REMOVAL_CONSOLIDATION ||
        h->claim == NULL || h->pool == NULL || !pool_usable(k, h->pool) ||
        !h->pool->has_consolidate_after)
        return false;
    const struct condition *c = conditions_find(h->claim->conditions, SPAN("Initialized"));
    wall_ms since = h->claim->last_pod_event;
    if (c == NULL || c->status != CONDITION_TRUE)
        return false;
    return k->c->plan_options.now - (since != 0 ? since : c->transition) <
           h->pool->consolidate_after;
}

bool in_pass(const struct check *k, const struct pod *p)
{
    if (p->node != SYM_NONE)
        return leaves_node(k, p);
    if (stays_with_node(p) || pod_is_terminal(p) || pod_is_terminating(p) || p->gated)
        return false;
    return k->c->options.all_unbound || (p->unschedulable && (p->nominated_node <= SYM_EMPTY || p->meta.wrote_status));
}

/* --- everybody once --- */

const struct pod *pod_named(struct check *k, struct span name)
{
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++)
        if (span_eq(pod_name(k, AT(k, KIND_POD, struct pod, i)), name))
            return AT(k, KIND_POD, struct pod, i);
    return NULL;
}

static void take_pods(struct check *k, struct host *h, struct spans names)
{
    for (uint32_t i = 0; i < names.count; i++) {
        const struct pod *p = pod_named(k, names.items[i]);
        if (p == NULL)
            broken(k, "%.*s: there is no pod %.*s", SPAN_ARG(h->name), SPAN_ARG(names.items[i]));
        else
            ARENA_PUSH(&k->arena, h->pods.items, h->pods.count, h->pods.capacity,
                       with_default_spread(k, p));
    }
    if (names.count == 0)
        broken(k, "%.*s: gets no pod and is in the plan", SPAN_ARG(h->name));
}

static void take_node(struct check *k, const struct written_node *n)
{
    struct host *h = host_named(k, n->name, false);
    if (h == NULL)
        broken(k, "there is no node %.*s", SPAN_ARG(n->name));
    else if (h->pods.count != 0)
        broken(k, "node %.*s is listed twice", SPAN_ARG(n->name));
    else if (h->leaving)
        broken(k, "node %.*s is leaving and is used", SPAN_ARG(n->name));
    if (h == NULL)
        return;
    take_pods(k, h, n->pods);
    for (uint32_t i = 0; i < h->pods.count; i++)
        if (is_closed_to(k, h, h->pods.items[i]))
            broken(k, "node %.*s is within consolidateAfter and takes %.*s of a removed node",
                   SPAN_ARG(n->name), SPAN_ARG(pod_name(k, h->pods.items[i])));
}

static uint32_t times_in(struct spans names, struct span name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < names.count; i++)
        n += span_eq(names.items[i], name);
    return n;
}

static uint32_t times_planned(const struct check *k, struct span name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->plan.claims.count; i++)
        n += times_in(k->plan.claims.items[i].pods, name);
    for (uint32_t i = 0; i < k->plan.nodes.count; i++)
        n += times_in(k->plan.nodes.items[i].pods, name);
    for (uint32_t i = 0; i < k->plan.unschedulable.count; i++)
        n += span_eq(k->plan.unschedulable.items[i].pod, name);
    return n;
}

void check_pass(struct check *k)
{
    for (uint32_t i = 0; i < k->plan.claims.count; i++)
        take_pods(k, host_named(k, k->plan.claims.items[i].name, true),
                  k->plan.claims.items[i].pods);
    for (uint32_t i = 0; i < k->plan.nodes.count; i++)
        take_node(k, &k->plan.nodes.items[i]);
    for (size_t i = 0; i < COUNT(k, KIND_POD); i++) {
        const struct pod *p = AT(k, KIND_POD, struct pod, i);
        struct span name = pod_name(k, p);
        uint32_t times = times_planned(k, name);
        if (times != 0 && !in_pass(k, p))
            broken(k, "pod %.*s is not to be planned and is in the plan", SPAN_ARG(name));
        else if (times > 1)
            broken(k, "pod %.*s is in the plan %u times", SPAN_ARG(name), times);
        else if (times == 0 && in_pass(k, p))
            broken(k, "pod %.*s is not in the plan", SPAN_ARG(name));
    }
}

/* --- those without a place --- */

/* Rules of validation that can be told from the pod alone (spec provisioning 1.2). */
static bool key_is_refused(struct check *k, sym raw)
{
    sym key = requirement_key(k->syms, raw);
    if (key == SYM_HOSTNAME)
        return true;
    if (syms_has(k->c->catalogue.well_known, key))
        return false;
    struct span name, domain = span_cut(text_of(k, key), '/', &name);
    return name.ptr != NULL && (span_eq(domain, SPAN("karpenter.sh")) ||
                                span_has_suffix(domain, SPAN(".karpenter.sh")));
}

static bool must_be_ignored(struct check *k, const struct pod *p)
{
    if (p->node != SYM_NONE)
        return false; /* only pending pods are validated */
    for (uint32_t i = 0; i < p->node_selector.count; i++)
        if (key_is_refused(k, p->node_selector.items[i].key))
            return true;
    for (uint32_t t = 0; p->affinity != NULL && t < p->affinity->required_node.count; t++) {
        const struct node_term *term = &p->affinity->required_node.items[t];
        if (term->has_match_fields)
            return true;
        for (uint32_t i = 0; i < term->match_expressions.count; i++)
            if (key_is_refused(k, term->match_expressions.items[i].key))
                return true;
    }
    return false;
}

static bool any_pool(const struct check *k)
{
    for (size_t i = 0; i < COUNT(k, KIND_NODE_POOL); i++)
        if (pool_usable(k, AT(k, KIND_NODE_POOL, struct node_pool, i)))
            return true;
    return false;
}

static bool any_reserved(const struct check *k)
{
    for (uint32_t i = 0; i < k->c->catalogue.count; i++) {
        const struct instance_type *t = &k->c->catalogue.items[i];
        for (uint32_t n = 0; n < t->offering_count; n++) {
            const struct requirement *kind =
                requirements_get(&t->offerings[n].requirements, SYM_CAPACITY_TYPE);
            for (uint32_t v = 0; kind != NULL && v < kind->count; v++)
                if (kind->values[v] == SYM_RESERVED)
                    return true;
        }
    }
    return false;
}

/* Whether the reason can be true. */
static bool reason_holds(struct check *k, const struct pod *p, struct span reason)
{
    if (span_eq(reason, SPAN("Unschedulable")))
        return any_pool(k) && !p->resource_claims && !must_be_ignored(k, p);
    if (span_eq(reason, SPAN("ReservedOfferingUnavailable")))
        return any_reserved(k);
    if (span_eq(reason, SPAN("DynamicResourcesNotSupported")))
        return p->resource_claims;
    if (span_eq(reason, SPAN("NoNodePools")))
        return !any_pool(k) && !must_be_ignored(k, p);
    if (span_eq(reason, SPAN("Ignored")))
        return p->node == SYM_NONE;
    return span_eq(reason, SPAN("NotReached")) && !k->plan.complete;
}

void check_unschedulable(struct check *k)
{
    for (uint32_t i = 0; i < k->plan.unschedulable.count; i++) {
        const struct written_unschedulable *u = &k->plan.unschedulable.items[i];
        const struct pod *p = pod_named(k, u->pod);
        if (p == NULL)
            broken(k, "there is no pod %.*s", SPAN_ARG(u->pod));
        else if (!reason_holds(k, p, u->reason))
            broken(k, "pod %.*s cannot be %.*s", SPAN_ARG(u->pod), SPAN_ARG(u->reason));
        else if (u->message.len == 0)
            broken(k, "pod %.*s is %.*s without a message", SPAN_ARG(u->pod), SPAN_ARG(u->reason));
    }
    for (uint32_t i = 0; i < k->host_count; i++)
        for (uint32_t n = 0; n < k->hosts[i].pods.count; n++) {
            const struct pod *p = k->hosts[i].pods.items[n];
            if (must_be_ignored(k, p))
                broken(k, "pod %.*s fails validation and is planned", SPAN_ARG(pod_name(k, p)));
            else if (p->resource_claims)
                broken(k, "pod %.*s has resource claims and is planned", SPAN_ARG(pod_name(k, p)));
        }
    if (!any_pool(k) && k->plan.nodes.count != 0)
        broken(k, "there is no NodePool and nodes are used");
}
