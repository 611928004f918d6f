#include "cloud/pool_match.h"

/* Whose labels, and whose groups of node classes, end in which domain. */
static const struct domain {
    struct span name;
    const char *provider; /* NULL: Kubernetes, which every provider's catalogue follows */
} domains[] = {
    {SPAN_INIT("karpenter.k8s.aws"), "AWS"},
    {SPAN_INIT("topology.k8s.aws"), "AWS"},
    {SPAN_INIT("eks.amazonaws.com"), "AWS"},
    {SPAN_INIT("karpenter.azure.com"), "Azure"},
    {SPAN_INIT("kubernetes.azure.com"), "Azure"},
    {SPAN_INIT("cloud.google.com"), "Google Cloud"},
    {SPAN_INIT("karpenter.k8s.gcp"), "Google Cloud"},
    {SPAN_INIT("karpenter.k8s.alibabacloud"), "Alibaba Cloud"},
    {SPAN_INIT("karpenter.k8s.oracle"), "Oracle Cloud"},
    {SPAN_INIT("karpenter.kwok.sh"), "kwok"},
    {SPAN_INIT("node.kubernetes.io"), NULL},
    {SPAN_INIT("topology.kubernetes.io"), NULL},
};

static const struct domain *domain_named(struct span name)
{
    for (size_t i = 0; i < COUNT_OF(domains); i++)
        if (span_eq(domains[i].name, name))
            return &domains[i];
    return NULL;
}

static const struct domain *domain_of(sym key, const struct symtab *syms)
{
    struct span name, domain = span_cut(sym_text(syms, key), '/', &name);
    return name.ptr != NULL ? domain_named(domain) : NULL;
}

/* --- labels --- */

static bool is_listed(struct syms list, sym key)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i] == key)
            return true;
    return false;
}

static bool type_has(const struct instance_type *t, sym key)
{
    if (requirements_get(&t->requirements, key) != NULL)
        return true;
    for (uint32_t i = 0; i < t->offering_count; i++)
        if (requirements_get(&t->offerings[i].requirements, key) != NULL)
            return true;
    return false;
}

static bool catalogue_has(const struct catalogue *c, sym key)
{
    if (is_listed(c->well_known, key))
        return true;
    for (uint32_t i = 0; i < c->count; i++)
        if (type_has(&c->items[i], key))
            return true;
    return false;
}

struct syms pool_match_labels(struct arena *a, const struct node_pool *pool,
                              const struct catalogue *catalogue, struct symtab *syms)
{
    struct syms found = {ARENA_ARRAY(a, sym, pool->requirements.count), 0};
    for (uint32_t i = 0; i < pool->requirements.count; i++) {
        sym key = requirement_key(syms, pool->requirements.items[i].key);
        if (domain_of(key, syms) != NULL && !is_listed(found, key) && !catalogue_has(catalogue, key))
            found.items[found.count++] = key;
    }
    return found;
}

/* --- node classes --- */

/* NULL: nothing says it. Types in kwok's form are no sign of kwok: real ones are written so too. */
static const char *provider_of(const struct catalogue *c, const struct symtab *syms)
{
    if (c->builtin)
        return "kwok";
    for (uint32_t i = 0; c->count != 0 && i < c->items[0].requirements.count; i++) {
        const struct domain *d = domain_of(c->items[0].requirements.items[i].key, syms);
        if (d != NULL && d->provider != NULL && strcmp(d->provider, "kwok") != 0)
            return d->provider;
    }
    return NULL;
}

static bool is_domain(const struct catalogue *c, struct span group)
{
    for (uint32_t i = 0; i < c->domain_count; i++)
        if (span_eq(c->domains[i], group))
            return true;
    return false;
}

bool pool_match_other_class(const struct node_pool *pool, const struct catalogue *catalogue,
                            const struct symtab *syms)
{
    const char *theirs = provider_of(catalogue, syms);
    const struct domain *class = domain_named(pool->node_class.group);
    if (theirs == NULL || pool->node_class.group.len == 0)
        return false;
    if (class == NULL || class->provider == NULL) /* of a provider that we have never heard of, or whose types are there, too */
        return catalogue->builtin && !is_domain(catalogue, pool->node_class.group);
    return strcmp(class->provider, theirs) != 0;
}

/* --- sentences --- */

static struct span labels_text(struct arena *a, struct syms keys, const struct catalogue *c,
                               const struct symtab *syms)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < keys.count; i++)
        buf_addf(&b, "%s%.*s", i == 0 ? "" : i + 1 == keys.count ? " or " : ", ",
                 SPAN_ARG(sym_text(syms, keys.items[i])));
    struct span text = arena_printf(
        a,
        "spec.template.spec.requirements: no type of %.*s has %.*s, so that %s leave%s no type out "
        "and %s taken for %s of the pool's own; give the provider's types with --instance-types",
        SPAN_ARG(c->name), SPAN_ARG(buf_span(&b)), keys.count == 1 ? "it" : "they",
        keys.count == 1 ? "s" : "", keys.count == 1 ? "is" : "are",
        keys.count == 1 ? "a label" : "labels");
    buf_release(&b);
    return text;
}

static struct span class_text(struct arena *a, const struct node_pool *pool,
                              const struct catalogue *c)
{
    bool aws = span_eq(pool->node_class.group, SPAN("karpenter.k8s.aws"));
    return arena_printf(a,
                        "spec.template.spec.nodeClassRef: %.*s of %.*s is not of the provider of "
                        "%.*s: types and prices are %s; give the provider's with --instance-types%s",
                        SPAN_ARG(pool->node_class.kind), SPAN_ARG(pool->node_class.group),
                        SPAN_ARG(c->name), c->builtin ? "made up" : "not those of its nodes",
                        aws ? " (`stowage catalogue from-aws` makes the file)" : "");
}

struct mismatches {
    struct pool_mismatch *items;
    uint32_t *others; /* pools beyond the first */
    uint32_t count;
};

static void add(struct mismatches *m, const struct node_pool *pool, struct span text)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (span_eq(m->items[i].text, text)) {
            m->others[i]++;
            return;
        }
    m->items[m->count++] = (struct pool_mismatch){pool, text};
}

uint32_t pool_match(struct arena *a, const struct node_pool *const *pools, uint32_t count,
                    const struct catalogue *catalogue, struct symtab *syms,
                    const struct pool_mismatch **out)
{
    struct mismatches m = {ARENA_ARRAY(a, struct pool_mismatch, 2 * (size_t)count),
                           ARENA_ARRAY(a, uint32_t, 2 * (size_t)count), 0};
    for (uint32_t i = 0; i < count; i++) {
        struct syms labels = pool_match_labels(a, pools[i], catalogue, syms);
        if (pool_match_other_class(pools[i], catalogue, syms))
            add(&m, pools[i], class_text(a, pools[i], catalogue));
        if (labels.count != 0)
            add(&m, pools[i], labels_text(a, labels, catalogue, syms));
    }
    for (uint32_t i = 0; i < m.count; i++)
        m.items[i].text =
            m.others[i] == 0
                ? arena_printf(a, ": %.*s", SPAN_ARG(m.items[i].text))
                : arena_printf(a, " and %u more: %.*s", m.others[i], SPAN_ARG(m.items[i].text));
    *out = m.items;
    return m.count;
}
