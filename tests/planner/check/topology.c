/* kube-scheduler's PodTopologySpread and InterPodAffinity, for one pod and one host, over what is
 * present on all hosts. Hosts have one value a label here. */
#include "inner.h"

static sym value_at(const struct host *h, sym key)
{
    return sym_pairs_get(h->labels, key);
}

static struct mays labels_of(struct check *k, const struct host *h)
{
    struct mays m = {0};
    for (uint32_t i = 0; i < h->labels.count; i++)
        may_set(k, &m, requirement_key(k->syms, h->labels.items[i].key), h->labels.items[i].value);
    return m;
}

/* --- spreading --- */

static bool same_value(const struct pod *a, const struct pod *b, sym key)
{
    return sym_pairs_get(a->meta.labels, key) == sym_pairs_get(b->meta.labels, key);
}

static bool spread_counts(const struct pod *owner, const struct spread *s, const struct pod *p)
{
    if (!s->has_selector || pod_is_terminating(p) || !span_eq(owner->meta.ns, p->meta.ns) ||
        !label_selector_matches(&s->selector, p->meta.labels))
        return false;
    for (uint32_t i = 0; i < s->match_label_keys.count; i++) {
        sym key = s->match_label_keys.items[i];
        if (sym_pairs_get(owner->meta.labels, key) != SYM_NONE && !same_value(owner, p, key))
            return false;
    }
    return true;
}

/* A node without one of the pod's keys is in no domain at all. */
static bool has_all_keys(const struct pod *p, const struct host *h)
{
    for (uint32_t i = 0; i < p->spreads.count; i++)
        if (p->spreads.items[i].hard && value_at(h, p->spreads.items[i].topology_key) == SYM_NONE)
            return false;
    return true;
}

static bool host_counts(struct check *k, const struct pod *p, const struct spread *s,
                        const struct host *h)
{
    if (!has_all_keys(p, h))
        return false;
    struct mays labels = labels_of(k, h);
    return (s->ignore_affinity || selects(k, p, &labels, false)) &&
           (!s->honor_taints || not_tolerated(k, p, h->taints) == NULL);
}

static int64_t count_on(const struct pod *p, const struct spread *s, const struct host *h)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < h->present.count; i++)
        n += spread_counts(p, s, h->present.items[i]);
    return n;
}

struct domain {
    sym value;
    int64_t count;
};

static bool spread_allows(struct check *k, const struct pod *p, const struct spread *s,
                          const struct host *at)
{
    struct domain *domains = ARENA_ARRAY(&k->arena, struct domain, k->host_count);
    uint32_t count = 0;
    int64_t here = 0, least = INT64_MAX;
    sym mine = value_at(at, s->topology_key);
    if (mine == SYM_NONE)
        return false;
    for (uint32_t i = 0; i < k->host_count; i++) {
        const struct host *h = &k->hosts[i];
        if (!host_counts(k, p, s, h))
            continue;
        uint32_t d = 0;
        while (d < count && domains[d].value != value_at(h, s->topology_key))
            d++;
        if (d == count)
            domains[count++] = (struct domain){value_at(h, s->topology_key), 0};
        domains[d].count += count_on(p, s, h);
    }
    for (uint32_t d = 0; d < count; d++) {
        if (domains[d].value == mine)
            here = domains[d].count;
        if (domains[d].count < least)
            least = domains[d].count;
    }
    if (count < (uint32_t)(s->min_domains > 0 ? s->min_domains : 1))
        least = 0;
    return here + spread_counts(p, s, p) - least <= s->max_skew;
}

/* --- pod affinity --- */

static const struct ns *namespace_of(const struct check *k, const struct pod *p)
{
    for (size_t i = 0; i < COUNT(k, KIND_NAMESPACE); i++)
        if (span_eq(AT(k, KIND_NAMESPACE, struct ns, i)->meta.name, p->meta.ns))
            return AT(k, KIND_NAMESPACE, struct ns, i);
    return NULL;
}

static bool namespace_meant(const struct check *k, const struct pod *owner,
                            const struct pod_term *t, const struct pod *p)
{
    const struct ns *ns = namespace_of(k, p);
    if (t->namespaces.count == 0 && !t->has_namespace_selector)
        return span_eq(owner->meta.ns, p->meta.ns);
    for (uint32_t i = 0; i < t->namespaces.count; i++)
        if (span_eq(text_of(k, t->namespaces.items[i]), p->meta.ns))
            return true;
    static const struct sym_pairs unlabelled;
    return t->has_namespace_selector &&
           label_selector_matches(&t->namespace_selector, ns != NULL ? ns->meta.labels : unlabelled);
}

static bool term_means(const struct check *k, const struct pod *owner, const struct pod_term *t,
                       const struct pod *p)
{
    if (!t->has_selector || pod_is_terminating(p) || !namespace_meant(k, owner, t, p) ||
        !label_selector_matches(&t->selector, p->meta.labels))
        return false;
    for (uint32_t i = 0; i < t->match_label_keys.count; i++)
        if (sym_pairs_get(owner->meta.labels, t->match_label_keys.items[i]) != SYM_NONE &&
            !same_value(owner, p, t->match_label_keys.items[i]))
            return false;
    for (uint32_t i = 0; i < t->mismatch_label_keys.count; i++)
        if (sym_pairs_get(owner->meta.labels, t->mismatch_label_keys.items[i]) != SYM_NONE &&
            same_value(owner, p, t->mismatch_label_keys.items[i]))
            return false;
    return true;
}

static bool shares_domain(const struct host *a, const struct host *b, sym key)
{
    return value_at(a, key) != SYM_NONE && value_at(a, key) == value_at(b, key);
}

/* One pod counts for affinity only when every term means it. */
static bool all_terms_mean(const struct check *k, const struct pod *owner, const struct pod *p)
{
    const struct pod_terms *terms = &owner->affinity->required_pod;
    for (uint32_t i = 0; i < terms->count; i++)
        if (!term_means(k, owner, &terms->items[i], p))
            return false;
    return true;
}

static bool affinity_allows(struct check *k, const struct pod *p, const struct host *at, sym *key_out)
{
    const struct pod_terms *terms = &p->affinity->required_pod;
    bool anywhere = false, missing = false;
    for (uint32_t i = 0; i < terms->count; i++) {
        sym key = terms->items[i].topology_key;
        bool found = false;
        for (uint32_t n = 0; n < k->host_count; n++)
            for (uint32_t m = 0; m < k->hosts[n].present.count; m++)
                if (all_terms_mean(k, p, k->hosts[n].present.items[m])) {
                    anywhere |= value_at(&k->hosts[n], key) != SYM_NONE;
                    found |= shares_domain(&k->hosts[n], at, key);
                }
        if (!found && !missing)
            *key_out = key;
        missing |= !found;
        if (value_at(at, key) == SYM_NONE)
            return false;
    }
    /* The first of pods that want to be together may start anywhere. */
    return !missing || (!anywhere && all_terms_mean(k, p, p));
}

static bool anti_allows(struct check *k, const struct pod *owner, const struct host *its,
                        const struct pod *p, const struct host *at, sym *key_out)
{
    for (uint32_t i = 0; owner->affinity != NULL && i < owner->affinity->required_anti.count; i++) {
        const struct pod_term *t = &owner->affinity->required_anti.items[i];
        *key_out = t->topology_key;
        if (shares_domain(its, at, t->topology_key) && term_means(k, owner, t, p))
            return false;
    }
    return true;
}

/* --- all of it --- */

bool neighbours_allow(struct check *k, const struct pod *p, const struct host *h,
                      const char **rule_out, sym *key_out)
{
    *rule_out = "topology spread";
    for (uint32_t i = 0; i < p->spreads.count; i++) {
        *key_out = p->spreads.items[i].topology_key;
        if (p->spreads.items[i].hard && !spread_allows(k, p, &p->spreads.items[i], h))
            return false;
    }
    *rule_out = "pod affinity";
    if (p->affinity != NULL && p->affinity->required_pod.count != 0 &&
        !affinity_allows(k, p, h, key_out))
        return false;
    *rule_out = "pod anti-affinity";
    for (uint32_t i = 0; i < k->host_count; i++) {
        const struct host *its = &k->hosts[i];
        for (uint32_t n = 0; n < its->present.count; n++) {
            const struct pod *other = its->present.items[n];
            if (!anti_allows(k, p, h, other, its, key_out) ||
                !anti_allows(k, other, its, p, h, key_out)) /* also while `other` is being deleted */
                return false;
        }
    }
    return true;
}

static bool minds(struct check *k, const struct pod *owner, const struct pod *p)
{
    for (uint32_t i = 0; i < owner->spreads.count; i++)
        if (owner->spreads.items[i].hard && spread_counts(owner, &owner->spreads.items[i], p))
            return true;
    for (uint32_t i = 0; owner->affinity != NULL && i < owner->affinity->required_anti.count; i++)
        if (term_means(k, owner, &owner->affinity->required_anti.items[i], p))
            return true;
    /* A pod's affinity starts anywhere only until somebody whom it means is bound. */
    return owner->affinity != NULL && owner->affinity->required_pod.count != 0 &&
           all_terms_mean(k, owner, p);
}

bool binding_matters(struct check *k, const struct pod *p)
{
    if (p->affinity != NULL && p->affinity->required_anti.count != 0)
        return true;
    for (uint32_t i = 0; i < k->host_count; i++)
        for (uint32_t n = k->hosts[i].next; n < k->hosts[i].pods.count; n++)
            if (k->hosts[i].pods.items[n] != p && minds(k, k->hosts[i].pods.items[n], p))
                return true;
    return false;
}
