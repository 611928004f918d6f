/* Volumes (spec provisioning 2.9, 2.10): a host must reach what is bound, be where the class allows what
 * is not, and have room to attach. */
#include "inner.h"

#include "kube/storage.h"

static const struct volume_claim *claim_of(const struct check *k, const struct pod *p,
                                           const struct pod_volume *v)
{
    for (size_t i = 0; i < COUNT(k, KIND_VOLUME_CLAIM); i++) {
        const struct volume_claim *c = AT(k, KIND_VOLUME_CLAIM, struct volume_claim, i);
        if (span_eq(c->meta.ns, p->meta.ns) && span_eq(c->meta.name, v->claim))
            return c;
    }
    return NULL;
}

static const struct volume *volume_of(const struct check *k, const struct volume_claim *c)
{
    for (size_t i = 0; c->volume.len != 0 && i < COUNT(k, KIND_VOLUME); i++)
        if (span_eq(AT(k, KIND_VOLUME, struct volume, i)->meta.name, c->volume))
            return AT(k, KIND_VOLUME, struct volume, i);
    return NULL;
}

static const struct storage_class *class_of(const struct check *k, const struct volume_claim *c)
{
    for (size_t i = 0; i < COUNT(k, KIND_STORAGE_CLASS); i++)
        if (span_eq(AT(k, KIND_STORAGE_CLASS, struct storage_class, i)->meta.name,
                    text_of(k, c->storage_class)))
            return AT(k, KIND_STORAGE_CLASS, struct storage_class, i);
    return NULL;
}

/* --- where --- */

/* A local volume's expressions on the hostname are left out. */
static bool volume_reaches(struct check *k, const struct volume *v, const struct mays *labels)
{
    bool any = !v->has_affinity;
    for (uint32_t t = 0; t < v->affinity.count && !any; t++) {
        struct expressions from = v->affinity.items[t].match_expressions;
        struct expressions term = {ARENA_ARRAY(&k->arena, struct expression, from.count), 0};
        for (uint32_t i = 0; i < from.count; i++)
            if (!v->is_local || from.items[i].key != SYM_HOSTNAME)
                term.items[term.count++] = from.items[i];
        any = from.count != 0 && term_selects(k, term, labels, false);
    }
    return any;
}

static bool class_reaches(struct check *k, const struct storage_class *s, const struct mays *labels)
{
    bool any = s->topologies.count == 0;
    for (uint32_t t = 0; t < s->topologies.count && !any; t++)
        any = term_selects(k, s->topologies.items[t].expressions, labels, false);
    return any;
}

static bool claim_reaches(struct check *k, const struct volume_claim *c, const struct mays *labels)
{
    const struct volume *v = volume_of(k, c);
    const struct storage_class *s = class_of(k, c);
    if (v != NULL)
        return volume_reaches(k, v, labels);
    return s != NULL && c->volume.len == 0 && s->waits && class_reaches(k, s, labels);
}

/* A pod that stands somewhere has its volumes, whatever their objects say. */
static bool taken_as_it_is(struct check *k, const struct pod *p, const struct volume_claim *c)
{
    const struct storage_class *s = class_of(k, c);
    return p->node != SYM_NONE && volume_of(k, c) == NULL && (s == NULL || !s->waits);
}

/* Its volume is being made for a Node that is there, and not this one. */
static bool made_elsewhere(const struct check *k, const struct host *h, const struct pod *p,
                           const struct volume_claim *c)
{
    struct span selected = volume_claim_selected_node(c);
    bool there = false;
    for (size_t i = 0; selected.len != 0 && i < COUNT(k, KIND_NODE); i++)
        there |= span_eq(AT(k, KIND_NODE, struct node, i)->meta.name, selected);
    return there && c->volume.len == 0 && p->node == SYM_NONE &&
           (h->node == NULL || !span_eq(h->node->meta.name, selected));
}

static bool pod_reaches(struct check *k, const struct host *h, const struct pod *p)
{
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        const struct volume_claim *c = claim_of(k, p, &p->volumes.items[i]);
        if (c == NULL || c->lost || c->meta.deleted != 0) /* validated for pending pods only */
            return p->node != SYM_NONE ||
                   broken(k, "pod %.*s: volume claim %.*s cannot be used", SPAN_ARG(pod_name(k, p)),
                          SPAN_ARG(p->volumes.items[i].claim));
        if (made_elsewhere(k, h, p, c))
            return broken(k, "%.*s: the volume of claim %.*s, which pod %.*s waits for, is made elsewhere",
                          SPAN_ARG(h->name), SPAN_ARG(c->meta.name), SPAN_ARG(pod_name(k, p)));
        for (uint32_t n = 0; n < h->outcome_count && !taken_as_it_is(k, p, c); n++)
            if (!claim_reaches(k, c, &h->outcomes[n].labels))
                return broken(k, "%.*s: pod %.*s does not reach the volume of claim %.*s",
                              SPAN_ARG(h->name), SPAN_ARG(pod_name(k, p)),
                              SPAN_ARG(c->meta.name));
    }
    return true;
}

/* --- how many --- */

/* The CSI driver that attaches it; in-tree EBS volumes are attached by CSI too. */
static sym driver_of(const struct check *k, const struct volume_claim *c)
{
    const struct volume *v = volume_of(k, c);
    const struct storage_class *s = class_of(k, c);
    if (c->volume.len != 0)
        return v == NULL ? SYM_NONE
               : v->is_ebs ? sym_intern(k->syms, SPAN("ebs.csi.aws.com"))
                           : v->driver;
    if (s == NULL)
        return SYM_NONE;
    if (span_eq(text_of(k, s->provisioner), SPAN("kubernetes.io/aws-ebs")))
        return sym_intern(k->syms, SPAN("ebs.csi.aws.com"));
    return s->provisioner;
}

static void count_claims(struct check *k, const struct pod *p, sym driver,
                         const struct volume_claim ***seen, uint32_t *count, uint32_t *capacity)
{
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        const struct volume_claim *c = claim_of(k, p, &p->volumes.items[i]);
        bool known = c == NULL || driver_of(k, c) != driver;
        for (uint32_t n = 0; n < *count && !known; n++)
            known = (*seen)[n] == c;
        if (!known)
            ARENA_PUSH(&k->arena, *seen, *count, *capacity, c);
    }
}

static bool attaches(struct check *k, const struct host *h, sym driver, int64_t limit)
{
    const struct volume_claim **seen = NULL;
    uint32_t count = 0, capacity = 0, before;
    for (uint32_t i = 0; i < h->bound.count; i++)
        count_claims(k, h->bound.items[i], driver, &seen, &count, &capacity);
    before = count;
    for (uint32_t i = 0; i < h->pods.count; i++)
        count_claims(k, h->pods.items[i], driver, &seen, &count, &capacity);
    if (count == before || (int64_t)count <= limit)
        return true;
    return broken(k, "%.*s: %u volumes of %.*s are attached, the limit is %lld", SPAN_ARG(h->name),
                  count, SPAN_ARG(text_of(k, driver)), (long long)limit);
}

static const struct csi_node *csi_node_of(const struct check *k, const struct host *h)
{
    for (size_t i = 0; h->node != NULL && i < COUNT(k, KIND_CSI_NODE); i++)
        if (span_eq(AT(k, KIND_CSI_NODE, struct csi_node, i)->meta.name, h->node->meta.name))
            return AT(k, KIND_CSI_NODE, struct csi_node, i);
    return NULL;
}

/* What the CSINode publishes, and of drivers that it does not the type's figures; not of a node that nobody
 * manages, whatever its labels say. */
static bool limits_hold(struct check *k, const struct host *h, const struct outcome *o)
{
    bool typed = o->type != NULL && (h->claim != NULL || h->planned != NULL);
    const struct csi_node *csi = csi_node_of(k, h);
    for (uint32_t i = 0; csi != NULL && i < csi->drivers.count; i++)
        if (csi->drivers.items[i].has_limit &&
            !attaches(k, h, csi->drivers.items[i].name, csi->drivers.items[i].limit))
            return false;
    for (uint32_t i = 0; typed && i < o->type->volume_limit_count; i++) {
        sym driver = o->type->volume_limits[i].driver;
        bool published = false;
        for (uint32_t n = 0; csi != NULL && n < csi->drivers.count; n++)
            published |= csi->drivers.items[n].name == driver;
        if (!published && !attaches(k, h, driver, o->type->volume_limits[i].count))
            return false;
    }
    return true;
}

bool volumes_hold(struct check *k, const struct host *h)
{
    for (uint32_t i = 0; i < h->pods.count; i++)
        if (!pod_reaches(k, h, h->pods.items[i]))
            return false;
    for (uint32_t n = 0; n < h->outcome_count; n++)
        if (!limits_hold(k, h, &h->outcomes[n]))
            return false;
    return true;
}

/* --- pods that share a claim which has no volume yet --- */

/* The one zone that the host will be in; SYM_EMPTY when it has none, SYM_NONE while there are several. */
static sym zone_of(const struct host *h)
{
    sym zone = SYM_NONE;
    for (uint32_t n = 0; n < h->outcome_count; n++) {
        const struct may *m = may_get(&h->outcomes[n].labels, SYM_ZONE);
        if (m == NULL && h->outcome_count == 1)
            return SYM_EMPTY;
        if (m == NULL || m->values.count != 1 ||
            (zone != SYM_NONE && zone != m->values.items[0]))
            return SYM_NONE;
        zone = m->values.items[0];
    }
    return zone;
}

/* Pods that are going leave it to the others where the volume will be. */
static bool uses(struct check *k, struct pods pods, const struct volume_claim *c)
{
    for (uint32_t i = 0; i < pods.count; i++) {
        const struct pod *p = pods.items[i];
        for (uint32_t v = 0; p->meta.deleted == 0 && v < p->volumes.count; v++)
            if (claim_of(k, p, &p->volumes.items[v]) == c)
                return true;
    }
    return false;
}

/* Bound pods of a claim without a volume, in two zones: whoever made that up, the plan cannot mend it. */
static bool torn(struct check *k, const struct volume_claim *c)
{
    const struct host *first = NULL;
    for (uint32_t n = 0; n < k->host_count; n++)
        if (uses(k, k->hosts[n].bound, c)) {
            if (first != NULL && zone_of(&k->hosts[n]) != zone_of(first))
                return true;
            first = &k->hosts[n];
        }
    return false;
}

void volumes_meet(struct check *k)
{
    for (size_t i = 0; i < COUNT(k, KIND_VOLUME_CLAIM); i++) {
        const struct volume_claim *c = AT(k, KIND_VOLUME_CLAIM, struct volume_claim, i);
        const struct host *first = NULL;
        if (c->volume.len != 0 || torn(k, c))
            continue;
        for (uint32_t n = 0; n < k->host_count; n++) {
            const struct host *h = &k->hosts[n];
            if (!uses(k, h->pods, c) && !uses(k, h->bound, c))
                continue;
            if (first == NULL)
                first = h;
            else if (zone_of(h) == SYM_NONE || zone_of(h) != zone_of(first)) {
                broken(k, "claim %.*s/%.*s has no volume and is used on %.*s and %.*s, which may be "
                       "in two zones", SPAN_ARG(c->meta.ns), SPAN_ARG(c->meta.name),
                       SPAN_ARG(first->name), SPAN_ARG(h->name));
                break;
            }
        }
    }
}
