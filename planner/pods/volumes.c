/* A claim's facts are worked out once, when a pod first asks. Several pods on one claim are found in a
 * single pass over the input, which is left out when there are no claims. */
#include "planner/pods/volumes_inner.h"

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

static struct expressions selected_node(struct volumes *v, const struct volume_claim *claim)
{
    static const struct span everywhere = {NULL, 0};
    struct span name = volume_claim_selected_node(claim);
    int32_t at = name.len != 0 ? object_index_find(&v->nodes, everywhere, name) : -1;
    if (at < 0)
        return (struct expressions){NULL, 0};
    const struct node *node = object_index_at(&v->nodes, at);
    sym hostname = sym_pairs_get(node->meta.labels, SYM_HOSTNAME);
    if (hostname == SYM_NONE || hostname == SYM_EMPTY)
        hostname = sym_intern(v->syms, name); /* as the world takes it */
    struct expression *e = ARENA_NEW(v->arena, struct expression);
    sym *value = ARENA_NEW(v->arena, sym);
    *value = hostname;
    *e = (struct expression){.key = SYM_HOSTNAME, .op = OP_IN, .values = {value, 1}};
    return (struct expressions){e, 1};
}

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
    c.selected = selected_node(v, claim);
    struct span name = sym_text(v->syms, claim->storage_class);
    if (name.len != 0)
        c.class_ =
            object_index_at(&v->classes, object_index_find(&v->classes, everywhere, name));
    if (c.class_ != NULL && c.class_->provisioner != SYM_NONE)
        c.driver = sym_intern(v->syms, csi_name(sym_text(v->syms, c.class_->provisioner)));
    return c;
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
    f->alternatives = volumes_alternatives(v, &c);
    return f;
}

/* --- who shares what --- */

/* Sharing matters where claims are counted, and where one is still to be bound. */
static bool matters(const struct volumes *v, const struct volume_claim *c)
{
    return v->driver_count != 0 || c->volume.len == 0;
}

static void count_users(struct volumes *v, const struct world_input *in)
{
    struct object_index some;
    uint32_t count = 0;
    const void **claims = ARENA_ARRAY(v->arena, const void *, v->claims.count);
    uint32_t *number = ARENA_ARRAY(v->arena, uint32_t, v->claims.count);
    for (uint32_t i = 0; i < v->claims.count; i++)
        if (matters(v, v->claims.items[i])) {
            number[count] = i;
            claims[count++] = v->claims.items[i];
        }
    object_index_init(&some, v->arena, claims, count);
    for (size_t i = 0; i < in->pod_count && count != 0; i++) {
        const struct pod *p = in->pods[i];
        if (p->volumes.count == 0 || pod_is_terminal(p))
            continue;
        v->serial++;
        for (uint32_t k = 0; k < p->volumes.count; k++) {
            int32_t at = object_index_find(&some, p->meta.ns, p->volumes.items[k].claim);
            struct volume_facts *f = at >= 0 ? &v->facts[number[at]] : NULL;
            if (f == NULL || f->last == v->serial)
                continue;
            f->last = v->serial;
            v->users[number[at]]++;
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
        if (v->users[i] > 1)
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
    v->users = ARENA_ARRAY(a, uint32_t, in->volume_claim_count);
    intern_init(&v->stated, a);
    intern_init(&v->counted, a);
    find_limited(v, in);
    if (in->volume_claim_count == 0)
        return;
    object_index_init(&v->nodes, a, (const void *const *)in->nodes, in->node_count);
    count_users(v, in);
    number_shared(v);
}

/* --- counting --- */

static int used_order(const void *a, const void *b)
{
    const struct volume_used *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->shared < y->shared ? -1 : x->shared > y->shared;
}

static void add_used(struct volumes *v, const struct volume_facts *f)
{
    struct volume_used u = {driver_rank(v, f->driver), f->shared};
    if (u.rank < v->driver_count)
        ARENA_PUSH(v->arena, v->used, v->used_count, v->used_capacity, u);
}

static struct volume_uses make_uses(struct volumes *v)
{
    struct volume_uses out = {NULL, 0};
    struct volume_use *uses = ARENA_ARRAY(v->arena, struct volume_use, v->driver_count);
    uint32_t *shared = ARENA_ARRAY(v->arena, uint32_t, v->used_count);
    for (uint32_t i = 0; i < v->used_count; i++) {
        const struct volume_used *u = &v->used[i];
        bool first = i == 0 || u->rank != u[-1].rank;
        if (first)
            uses[out.count++] =
                (struct volume_use){.driver = v->drivers[u->rank], .shared = shared};
        struct volume_use *use = &uses[out.count - 1];
        if (u->shared == VOLUME_OWN)
            use->own++;
        else if (first || u->shared != u[-1].shared)
            *shared++ = u->shared, use->shared_count++;
    }
    out.items = uses;
    return out;
}

/* Of what add_used has gathered. Most pods with volumes use one of one driver. */
static struct volume_uses take_used(struct volumes *v)
{
    struct words words;
    bool fresh;
    if (v->used_count == 0)
        return (struct volume_uses){NULL, 0};
    if (v->used_count > 1)
        qsort(v->used, v->used_count, sizeof(*v->used), used_order);
    words_init(&words, v->arena);
    for (uint32_t i = 0; i < v->used_count; i++) {
        words_put(&words, v->used[i].rank);
        words_put(&words, v->used[i].shared);
    }
    uint32_t at = intern_put(&v->counted, &words, &fresh);
    if (fresh) {
        uint32_t count = at;
        struct volume_uses made = make_uses(v);
        ARENA_PUSH(v->arena, v->uses, count, v->uses_capacity, made);
    }
    v->used_count = 0;
    return v->uses[at];
}

struct volume_uses volumes_in_use(struct volumes *v, const struct pod *const *pods, size_t count)
{
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
            add_used(v, facts_of(v, at));
        }
    return take_used(v);
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
        volumes_combine(v, &n, f->alternatives);
        add_used(v, f);
        if (f->unbound && f->shared != VOLUME_OWN)
            ARENA_PUSH(v->arena, unbound, n.unbound_count, capacity, f->shared);
    }
    if (n.unbound_count > 1)
        qsort(unbound, n.unbound_count, sizeof(*unbound), by_number);
    n.unbound = unbound;
    struct volume_uses uses = take_used(v);
    n.uses = uses.items;
    n.use_count = uses.count;
    return n;
}

/* --- what was worked out before --- */

static int32_t claim_at(const struct volumes *v, const struct pod *p, uint32_t i)
{
    return object_index_look(&v->claims, p->meta.ns, p->volumes.items[i].claim);
}

/* One claim twice in one pod. */
static bool is_named_before(const struct pod *p, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (span_eq(p->volumes.items[k].claim, p->volumes.items[i].claim))
            return true;
    return false;
}

/* A copy whose own memory is in `a`. */
static struct volumes scratch_of(const struct volumes *v, struct arena *a)
{
    struct volumes x = *v;
    x.arena = a;
    x.used = NULL;
    x.used_count = x.used_capacity = 0;
    return x;
}

static struct volume_uses make_sorted(struct volumes *v)
{
    if (v->used_count > 1)
        qsort(v->used, v->used_count, sizeof(*v->used), used_order);
    return make_uses(v);
}

bool volumes_recall(const struct volumes *v, struct arena *a, const struct pod *p, struct volume_need *out)
{
    struct volumes x = scratch_of(v, a);
    uint32_t *unbound = NULL, capacity = 0;
    *out = (struct volume_need){0};
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        int32_t at = claim_at(v, p, i);
        const struct volume_facts *f = at >= 0 ? &v->facts[at] : NULL;
        if (f == NULL || !f->known)
            return false;
        if (is_named_before(p, i))
            continue;
        take_first(&out->invalid, f->invalid);
        take_first(&out->error, f->error);
        volumes_combine(&x, out, f->alternatives);
        add_used(&x, f);
        if (f->unbound && f->shared != VOLUME_OWN)
            ARENA_PUSH(a, unbound, out->unbound_count, capacity, f->shared);
    }
    if (out->unbound_count > 1)
        qsort(unbound, out->unbound_count, sizeof(*unbound), by_number);
    out->unbound = unbound;
    struct volume_uses uses = make_sorted(&x);
    out->uses = uses.items;
    out->use_count = uses.count;
    return true;
}

/* A claim of one pod's own is met once, and one that several share has one number. */
struct volume_uses volumes_recall_in_use(const struct volumes *v, struct arena *a, const struct pod *const *pods,
                                         size_t count)
{
    struct volumes x = scratch_of(v, a);
    for (size_t i = 0; i < count && v->driver_count != 0; i++)
        for (uint32_t k = 0; k < pods[i]->volumes.count; k++) {
            int32_t at = claim_at(v, pods[i], k);
            if (at >= 0 && !is_named_before(pods[i], k))
                add_used(&x, &v->facts[at]);
        }
    return make_sorted(&x);
}

bool volumes_move_user(const struct volumes *v, const struct pod *p, int by)
{
    if (v->claims.count != 0 && v->claims.slots == NULL)
        return false; /* nobody has asked for any yet */
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        int32_t at = claim_at(v, p, i);
        if (at < 0 || is_named_before(p, i) || !matters(v, v->claims.items[at]))
            continue;
        uint32_t before = v->users[at];
        v->users[at] += (uint32_t)by;
        if (before > 1 || v->users[at] > 1)
            return false;
    }
    return true;
}

/* --- nodes --- */

bool volumes_made_for(const struct volumes *v, struct span node_name)
{
    for (uint32_t i = 0; i < v->claims.count; i++) {
        const struct volume_claim *c = v->claims.items[i];
        if (c->volume.len == 0 && span_eq(volume_claim_selected_node(c), node_name))
            return true;
    }
    return false;
}

static bool limits(const struct csi_node *n, sym driver)
{
    for (uint32_t i = 0; i < n->drivers.count; i++)
        if (n->drivers.items[i].name == driver)
            return n->drivers.items[i].has_limit;
    return false;
}

bool volumes_knows_drivers(const struct volumes *v, const struct csi_node *n)
{
    for (uint32_t i = 0; i < n->drivers.count; i++)
        if (limits(n, n->drivers.items[i].name) && driver_rank(v, n->drivers.items[i].name) == v->driver_count)
            return false;
    return true;
}

static bool is_limited(const struct volumes *v, const struct catalogue *c, sym driver)
{
    for (uint32_t i = 0; i < v->csi_nodes.count; i++)
        if (limits(v->csi_nodes.items[i], driver))
            return true;
    for (uint32_t t = 0; c != NULL && t < c->count; t++)
        for (uint32_t i = 0; i < c->items[t].volume_limit_count; i++)
            if (c->items[t].volume_limits[i].driver == driver)
                return true;
    return false;
}

bool volumes_drivers_stay(const struct volumes *v, const struct catalogue *c)
{
    for (uint32_t i = 0; i < v->driver_count; i++)
        if (!is_limited(v, c, v->drivers[i]))
            return false;
    return true;
}

const struct csi_node *volumes_csi_node(struct volumes *v, struct span node_name)
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
