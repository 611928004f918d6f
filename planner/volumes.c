/* A claim's facts are worked out once, when a pod first asks. Several pods on one claim are found in a
 * single pass over the input, which is left out when there are no claims. */
#include "planner/volumes_inner.h"

#include <stdlib.h>

/* --- drivers --- */

/* In-tree plugins that CSI drivers have taken over (Kubernetes' csi-translation-lib). */
static struct span csi_name(struct span provisioner)
{
    static const struct {
        struct span in_tree, csi;
    } names[] = {
        {SPAN_INIT("kubernetes.io/aws-ebs"), SPAN_INIT("ebs.csi.aws.com")},
        {SPAN_INIT("kubernetes.io/azure-disk"), SPAN_INIT("disk.csi.azure.com")},
        {SPAN_INIT("kubernetes.io/azure-file"), SPAN_INIT("file.csi.azure.com")},
        {SPAN_INIT("kubernetes.io/cinder"), SPAN_INIT("cinder.csi.openstack.org")},
        {SPAN_INIT("kubernetes.io/gce-pd"), SPAN_INIT("pd.csi.storage.gke.io")},
        {SPAN_INIT("kubernetes.io/portworx-volume"), SPAN_INIT("pxd.portworx.com")},
        {SPAN_INIT("kubernetes.io/vsphere-volume"), SPAN_INIT("csi.vsphere.vmware.com")},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (span_eq(provisioner, names[i].in_tree))
            return names[i].csi;
    return provisioner;
}

static void limit_driver(struct volumes *v, sym driver, uint32_t *capacity)
{
    bool known = driver == SYM_NONE;
    for (uint32_t i = 0; i < v->driver_count && !known; i++) /* a handful */
        known = v->drivers[i] == driver;
    if (!known)
        ARENA_PUSH(v->arena, v->drivers, v->driver_count, *capacity, driver);
}

static void find_limited(struct volumes *v, const struct world_input *in)
{
    uint32_t capacity = 0;
    for (size_t i = 0; i < in->csi_node_count; i++)
        for (uint32_t d = 0; d < in->csi_nodes[i]->drivers.count; d++)
            if (in->csi_nodes[i]->drivers.items[d].has_limit)
                limit_driver(v, in->csi_nodes[i]->drivers.items[d].name, &capacity);
    for (uint32_t t = 0; in->catalogue != NULL && t < in->catalogue->count; t++)
        for (uint32_t d = 0; d < in->catalogue->items[t].volume_limit_count; d++)
            limit_driver(v, in->catalogue->items[t].volume_limits[d].driver, &capacity);
    for (uint32_t i = 1; i < v->driver_count; i++)
        for (uint32_t k = i; k > 0 && span_cmp(sym_text(v->syms, v->drivers[k]),
                                               sym_text(v->syms, v->drivers[k - 1])) < 0;
             k--) {
            sym swap = v->drivers[k];
            v->drivers[k] = v->drivers[k - 1];
            v->drivers[k - 1] = swap;
        }
}

/* Its place in the order of names; driver_count: not limited. */
static uint32_t driver_rank(const struct volumes *v, sym driver)
{
    uint32_t i = 0;
    while (i < v->driver_count && v->drivers[i] != driver)
        i++;
    return i;
}

/* --- claims --- */

static struct volume_chain chain_of(struct volumes *v, const struct volume_claim *claim)
{
    static const struct span everywhere = {NULL, 0};
    struct volume_chain c = {.claim = claim};
    if (claim->volume.len != 0) {
        c.volume = object_index_at(&v->volumes,
                                   object_index_find(&v->volumes, everywhere, claim->volume));
        if (c.volume != NULL && c.volume->driver != SYM_NONE)
            c.driver = c.volume->driver;
        else if (c.volume != NULL && c.volume->is_ebs)
            c.driver = sym_intern(v->syms, csi_name(SPAN("kubernetes.io/aws-ebs")));
        return c;
    }
    struct span name = sym_text(v->syms, claim->storage_class);
    if (name.len != 0)
        c.class_ =
            object_index_at(&v->classes, object_index_find(&v->classes, everywhere, name));
    if (c.class_ != NULL && c.class_->provisioner != SYM_NONE)
        c.driver = sym_intern(v->syms, csi_name(sym_text(v->syms, c.class_->provisioner)));
    return c;
}

/* A local volume is made anew on the node that replaces its own, whose name says nothing then. */
static struct expressions without_hostname(struct volumes *v, struct expressions all)
{
    struct expressions kept = {ARENA_ARRAY(v->arena, struct expression, all.count), 0};
    for (uint32_t i = 0; i < all.count; i++)
        if (all.items[i].key != SYM_HOSTNAME)
            kept.items[kept.count++] = all.items[i];
    return kept;
}

static void add_alternative(struct volumes *v, struct requirements *list, uint32_t *count,
                            struct expressions all)
{
    if (*count < VOLUMES_ALTERNATIVES_MAX)
        list[(*count)++] = requirements_of(v->arena, v->syms, all);
}

static void find_alternatives(struct volumes *v, const struct volume_chain *c,
                              struct volume_facts *f)
{
    const struct volume *volume = c->volume;
    uint32_t terms = volume != NULL && volume->has_affinity ? volume->affinity.count
                     : c->class_ != NULL                    ? c->class_->topologies.count
                                                            : 0;
    if (terms == 0)
        return;
    struct requirements *list = ARENA_ARRAY(v->arena, struct requirements, terms);
    for (uint32_t i = 0; i < terms; i++) {
        struct expressions all = volume != NULL ? volume->affinity.items[i].match_expressions
                                                : c->class_->topologies.items[i].expressions;
        if (all.count == 0)
            continue; /* an empty term selects no node */
        if (volume != NULL && volume->is_local)
            all = without_hostname(v, all); /* and may become "anywhere" */
        add_alternative(v, list, &f->alternative_count, all);
    }
    f->alternatives = list;
}

static struct volume_facts *facts_of(struct volumes *v, int32_t at)
{
    struct volume_facts *f = &v->facts[at];
    if (f->known)
        return f;
    struct volume_chain c = chain_of(v, object_index_at(&v->claims, at));
    f->known = true;
    f->unbound = c.claim->volume.len == 0;
    f->driver = driver_rank(v, c.driver) < v->driver_count ? c.driver : SYM_NONE;
    f->invalid = volumes_invalid(v, &c);
    f->error = volumes_error(v, &c);
    find_alternatives(v, &c, f);
    return f;
}

/* --- who shares what --- */

static void count_users(struct volumes *v, const struct world_input *in)
{
    for (size_t i = 0; i < in->pod_count; i++) {
        const struct pod *p = in->pods[i];
        if (p->volumes.count == 0 || pod_is_terminal(p))
            continue;
        v->serial++;
        for (uint32_t k = 0; k < p->volumes.count; k++) {
            int32_t at = object_index_find(&v->claims, p->meta.ns, p->volumes.items[k].claim);
            if (at < 0 || v->facts[at].last == v->serial)
                continue;
            v->facts[at].last = v->serial;
            if (v->facts[at].users < 2)
                v->facts[at].users++;
        }
    }
}

static int by_identity(const void *a, const void *b)
{
    const struct volume_claim *x = *(const struct volume_claim *const *)a;
    const struct volume_claim *y = *(const struct volume_claim *const *)b;
    int order = span_cmp(x->meta.ns, y->meta.ns);
    return order != 0 ? order : span_cmp(x->meta.name, y->meta.name);
}

/* By name, so that equal input in another order gives equal numbers. */
static void number_shared(struct volumes *v)
{
    uint32_t capacity = 0;
    const struct volume_claim **shared = NULL;
    for (uint32_t i = 0; i < v->claims.count; i++) {
        v->facts[i].shared = VOLUME_OWN;
        if (v->facts[i].users > 1)
            ARENA_PUSH(v->arena, shared, v->shared_count, capacity, v->claims.items[i]);
    }
    if (v->shared_count > 1)
        qsort(shared, v->shared_count, sizeof(const void *), by_identity);
    for (uint32_t i = 0; i < v->shared_count; i++)
        v->facts[object_index_find(&v->claims, shared[i]->meta.ns, shared[i]->meta.name)].shared =
            i;
}

void volumes_init(struct volumes *v, struct arena *a, const struct world_input *in)
{
    *v = (struct volumes){.arena = a, .syms = in->syms};
    if (in->catalogue != NULL) {
        v->unsupported_drivers = in->catalogue->unsupported_drivers;
        v->unsupported_topology_keys = in->catalogue->unsupported_topology_keys;
    }
#define INDEX(member, list, number)                                                                \
    object_index_init(&v->member, a, (const void *const *)in->list, in->number)
    INDEX(claims, volume_claims, volume_claim_count);
    INDEX(volumes, volumes, volume_count);
    INDEX(classes, storage_classes, storage_class_count);
    INDEX(csi_nodes, csi_nodes, csi_node_count);
#undef INDEX
    v->facts = ARENA_ARRAY(a, struct volume_facts, in->volume_claim_count);
    find_limited(v, in);
    if (in->volume_claim_count == 0)
        return;
    count_users(v, in);
    number_shared(v);
}

/* --- counting --- */

struct used { /* one claim: its driver's rank and its number */
    uint32_t rank, shared;
};

struct used_list {
    struct used *items;
    uint32_t count, capacity;
};

static int used_order(const void *a, const void *b)
{
    const struct used *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->shared < y->shared ? -1 : x->shared > y->shared;
}

static void add_used(struct volumes *v, struct used_list *l, const struct volume_facts *f)
{
    struct used u = {driver_rank(v, f->driver), f->shared};
    if (u.rank < v->driver_count)
        ARENA_PUSH(v->arena, l->items, l->count, l->capacity, u);
}

static struct volume_uses uses_of(struct volumes *v, struct used_list l)
{
    struct volume_uses out = {NULL, 0};
    if (l.count == 0)
        return out;
    qsort(l.items, l.count, sizeof(*l.items), used_order);
    struct volume_use *uses = ARENA_ARRAY(v->arena, struct volume_use, v->driver_count);
    uint32_t *shared = ARENA_ARRAY(v->arena, uint32_t, l.count);
    for (uint32_t i = 0; i < l.count; i++) {
        bool first = i == 0 || l.items[i].rank != l.items[i - 1].rank;
        if (first)
            uses[out.count++] =
                (struct volume_use){.driver = v->drivers[l.items[i].rank], .shared = shared};
        struct volume_use *u = &uses[out.count - 1];
        if (l.items[i].shared == VOLUME_OWN)
            u->own++;
        else if (first || l.items[i].shared != l.items[i - 1].shared)
            *shared++ = l.items[i].shared, u->shared_count++;
    }
    out.items = uses;
    return out;
}

struct volume_uses volumes_in_use(struct volumes *v, const struct pod *const *pods, size_t count)
{
    struct used_list used = {0};
    if (v->driver_count == 0)
        return (struct volume_uses){NULL, 0};
    v->serial++;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < pods[i]->volumes.count; k++) {
            int32_t at =
                object_index_find(&v->claims, pods[i]->meta.ns, pods[i]->volumes.items[k].claim);
            if (at < 0 || v->facts[at].last == v->serial)
                continue;
            v->facts[at].last = v->serial;
            add_used(v, &used, facts_of(v, at));
        }
    return uses_of(v, used);
}

/* --- one pod --- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void take_first(struct span *to, struct span text)
{
    if (to->ptr == NULL)
        *to = text;
}

struct volume_need volumes_look_up(struct volumes *v, const struct pod *p)
{
    struct volume_need n = {0};
    struct used_list used = {0};
    uint32_t *unbound = NULL, capacity = 0;
    v->serial++;
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        int32_t at = object_index_find(&v->claims, p->meta.ns, p->volumes.items[i].claim);
        if (at < 0) {
            struct span missing = volumes_missing(v, p, &p->volumes.items[i]);
            take_first(&n.invalid, missing);
            take_first(&n.error, missing);
            continue;
        }
        if (v->facts[at].last == v->serial)
            continue; /* twice in one pod */
        v->facts[at].last = v->serial;
        const struct volume_facts *f = facts_of(v, at);
        take_first(&n.invalid, f->invalid);
        take_first(&n.error, f->error);
        volumes_combine(v, &n, f->alternatives, f->alternative_count);
        add_used(v, &used, f);
        if (f->unbound && f->shared != VOLUME_OWN)
            ARENA_PUSH(v->arena, unbound, n.unbound_count, capacity, f->shared);
    }
    if (n.unbound_count > 1)
        qsort(unbound, n.unbound_count, sizeof(*unbound), by_number);
    n.unbound = unbound;
    struct volume_uses uses = uses_of(v, used);
    n.uses = uses.items;
    n.use_count = uses.count;
    return n;
}

/* --- nodes --- */

const struct csi_node *volumes_csi_node(const struct volumes *v, struct span node_name)
{
    return object_index_at(&v->csi_nodes,
                           object_index_find(&v->csi_nodes, (struct span){NULL, 0}, node_name));
}

int64_t volumes_node_limit(sym driver, const struct csi_node *csi_node,
                           const struct instance_type *type)
{
    for (uint32_t i = 0; csi_node != NULL && i < csi_node->drivers.count; i++) {
        const struct csi_driver *d = &csi_node->drivers.items[i];
        if (d->name == driver)
            return d->has_limit ? d->limit : INT64_MAX;
    }
    for (uint32_t i = 0; type != NULL && i < type->volume_limit_count; i++)
        if (type->volume_limits[i].driver == driver)
            return type->volume_limits[i].count;
    return INT64_MAX;
}
