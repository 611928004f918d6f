/* Amounts are reckoned as karpenter-provider-aws does it, to the millicore and the byte: the room that is planned is the
 * room that the Node will report. */
#include "cloud/aws/aws_catalogue.h"

#include <math.h>

#include "cloud/aws/aws_labels.h"
#include "cloud/catalogue_source.h"

static const struct span EPHEMERAL_STORAGE = SPAN_INIT("20Gi"); /* the root volume that AL2023's launch template has */
static const struct span EPHEMERAL_EVICTION = SPAN_INIT("2Gi"); /* a tenth of it: kubelet's nodefs.available */
static const struct span EPHEMERAL_RESERVED = SPAN_INIT("1Gi");
static const struct span MEMORY_EVICTION = SPAN_INIT("100Mi");
enum { ARM_RESERVED_MIB = 64 /* for the kernel's contiguous memory, on Graviton */ };

struct making {
    const struct aws_terms *terms;
    struct catalogue_source *s;
    struct arena *a;
    struct aws_left left;
    bool any_price;
};

/* ---- amounts ---- */

struct amounts {
    struct source_amounts list;
    uint32_t capacity;
};

static void put_text(struct making *m, struct amounts *to, const char *name, struct span quantity)
{
    struct source_amount one = {span_of(name), quantity};
    ARENA_PUSH(m->a, to->list.items, to->list.count, to->capacity, one);
}

static void put_count(struct making *m, struct amounts *to, const char *name, int64_t count)
{
    if (count != 0)
        put_text(m, to, name, arena_printf(m->a, "%lld", (long long)count));
}

static struct span mebibytes(struct making *m, int64_t mib)
{
    return arena_printf(m->a, "%lldMi", (long long)mib);
}

/* Interfaces × (addresses − 1) + 2: an interface's own address is no pod's, and two pods of each node are on the host's
 * network (the table eni-max-pods.txt of amazon-eks-ami). Pods are on interfaces of the default card alone. */
static int64_t pods_of(const struct aws_type *t, int64_t reserved_enis)
{
    int64_t interfaces = t->cards.items[t->default_card].interfaces - reserved_enis;
    return interfaces > 0 ? interfaces * (t->addresses_per_interface - 1) + 2 : 0;
}

static int64_t memory_mib(const struct making *m, const struct aws_type *t)
{
    bool arm = t->architectures.count != 0 && span_eq(t->architectures.items[0], SPAN("arm64"));
    int64_t mib = t->memory_mib - (arm ? ARM_RESERVED_MIB : 0);
    return mib - (int64_t)ceil((double)mib * m->terms->vm_memory_overhead);
}

static int64_t devices(const struct aws_devices *list, const char *manufacturer)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (manufacturer == NULL || span_eq(list->items[i].manufacturer, span_of(manufacturer)))
            count += list->items[i].count;
    return count;
}

static struct source_amounts resources(struct making *m, const struct aws_type *t)
{
    struct amounts r = {0};
    const struct aws_device *neuron = t->neurons.count != 0 ? &t->neurons.items[0] : NULL;
    put_count(m, &r, "cpu", t->vcpus);
    put_text(m, &r, "memory", mebibytes(m, memory_mib(m, t)));
    put_text(m, &r, "ephemeral-storage", EPHEMERAL_STORAGE);
    put_text(m, &r, "pods", arena_printf(m->a, "%lld", (long long)pods_of(t, m->terms->reserved_enis)));
    put_count(m, &r, "nvidia.com/gpu", devices(&t->gpus, "NVIDIA"));
    put_count(m, &r, "amd.com/gpu", devices(&t->gpus, "AMD"));
    put_count(m, &r, "habana.ai/gaudi", devices(&t->gpus, "Habana"));
    put_count(m, &r, "aws.amazon.com/neuron", devices(&t->neurons, NULL));
    put_count(m, &r, "aws.amazon.com/neuroncore", neuron != NULL ? neuron->count * neuron->cores : 0);
    put_count(m, &r, "vpc.amazonaws.com/efa", t->efa_interfaces);
    return r.list;
}

/* Of each core a share, the less the more there are (Bottlerocket's and EKS's rule): 6 % of the first, 1 % of the second,
 * half a percent of the next two, a quarter of all others. */
static int64_t reserved_millicpu(int64_t millicpu)
{
    static const struct {
        int64_t to, per_10000;
    } steps[] = {{1000, 600}, {2000, 100}, {4000, 50}, {INT64_MAX, 25}};
    int64_t reserved = 0, from = 0;
    for (size_t i = 0; i < COUNT_OF(steps) && from < millicpu; i++) {
        int64_t to = millicpu < steps[i].to ? millicpu : steps[i].to;
        reserved += (to - from) * steps[i].per_10000 / 10000;
        from = to;
    }
    return reserved;
}

/* 11Mi for each pod that the interfaces would let in, reserved ones included, and 255Mi. */
static struct source_overhead overhead(struct making *m, const struct aws_type *t)
{
    struct amounts kept = {0}, eviction = {0};
    put_text(m, &kept, "cpu", arena_printf(m->a, "%lldm", (long long)reserved_millicpu(t->vcpus * 1000)));
    put_text(m, &kept, "memory", mebibytes(m, 11 * pods_of(t, 0) + 255));
    put_text(m, &kept, "ephemeral-storage", EPHEMERAL_RESERVED);
    put_text(m, &eviction, "memory", MEMORY_EVICTION);
    put_text(m, &eviction, "ephemeral-storage", EPHEMERAL_EVICTION);
    return (struct source_overhead){.kube_reserved = kept.list, .eviction_threshold = eviction.list};
}

/* ---- offerings ---- */

static const struct span kinds[] = {SPAN_INIT("on-demand"), SPAN_INIT("spot")};

static struct source_requirement one_of(struct making *m, sym key, struct span value)
{
    struct span *values = ARENA_NEW(m->a, struct span);
    *values = value;
    return (struct source_requirement){.key = wellknown_text[key - 1], .op = OP_IN, .values = {values, 1}};
}

/* Once any price is known, what has none cannot be bought, as in Karpenter: free it would be taken before all others. */
static struct source_offering offering(struct making *m, const struct aws_type *t, struct span zone, bool spot)
{
    struct source_offering o = {0};
    struct span anywhere = {0};
    struct source_requirement *r = ARENA_ARRAY(m->a, struct source_requirement, 2);
    r[0] = one_of(m, SYM_ZONE, zone);
    r[1] = one_of(m, SYM_CAPACITY_TYPE, kinds[spot]);
    o.requirements = (struct source_requirements){r, 2};
    o.has_price = aws_prices_find(spot ? m->terms->spot : m->terms->on_demand, t->name, spot ? zone : anywhere, &o.price);
    o.available = o.has_price || !m->any_price;
    if (!o.has_price)
        ++*(spot ? &m->left.unpriced_spot : &m->left.unpriced_on_demand);
    return o;
}

static bool has(const struct spans *list, struct span s)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (span_eq(list->items[i], s))
            return true;
    return false;
}

static bool is_in_zone(const struct making *m, const struct aws_type *t, struct span zone)
{
    return m->terms->places == NULL || aws_places_has(m->terms->places, t->name, zone);
}

static struct source_offerings offerings(struct making *m, const struct aws_type *t)
{
    const struct spans *zones = &m->terms->zones;
    struct source_offerings list = {ARENA_ARRAY(m->a, struct source_offering, (size_t)zones->count * COUNT_OF(kinds)), 0};
    for (uint32_t z = 0; z < zones->count; z++)
        for (size_t k = 0; k < COUNT_OF(kinds) && is_in_zone(m, t, zones->items[z]); k++)
            if (has(&t->usage_classes, kinds[k]))
                list.items[list.count++] = offering(m, t, zones->items[z], k == 1);
    return list;
}

/* ---- types ---- */

static struct spans zones_of(struct making *m, const struct aws_type *t)
{
    const struct spans *zones = &m->terms->zones;
    struct spans in = {ARENA_ARRAY(m->a, struct span, zones->count), 0};
    for (uint32_t z = 0; z < zones->count; z++)
        if (is_in_zone(m, t, zones->items[z]))
            in.items[in.count++] = zones->items[z];
    return in;
}

static struct spans kinds_of(struct making *m, const struct aws_type *t)
{
    struct spans out = {ARENA_ARRAY(m->a, struct span, COUNT_OF(kinds)), 0};
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        if (has(&t->usage_classes, kinds[k]))
            out.items[out.count++] = kinds[k];
    return out;
}

static void add_type(struct making *m, const struct aws_type *t)
{
    struct aws_where where = {.region = m->terms->region, .zones = zones_of(m, t), .capacity_types = kinds_of(m, t)};
    bool virtual = t->virtualization.count == 0 || has(&t->virtualization, SPAN("hvm"));
    if (aws_architecture(t).ptr == NULL || !virtual) {
        m->left.architectures++;
        return;
    }
    if (where.zones.count == 0 || where.capacity_types.count == 0) {
        m->left.nowhere++;
        return;
    }
    m->s->types[m->s->count++] = (struct source_type){.name = t->name,
                                                      .explicit_form = true,
                                                      .requirements = aws_labels(m->a, t, &where),
                                                      .resources = resources(m, t),
                                                      .overhead = overhead(m, t),
                                                      .offerings = offerings(m, t)};
}

struct catalogue_source *aws_catalogue(const struct aws_terms *terms, struct span name, struct aws_left *left_out)
{
    struct making m = {.terms = terms, .s = catalogue_source_new()};
    m.a = &m.s->arena;
    m.any_price = terms->on_demand->count != 0 || terms->spot->count != 0;
    m.s->name = arena_dup(m.a, name);
    m.s->reservation_id_label = SPAN("karpenter.k8s.aws/capacity-reservation-id");
    m.s->well_known = aws_well_known(m.a);
    m.s->types = ARENA_ARRAY(m.a, struct source_type, terms->types->count);
    for (uint32_t i = 0; i < terms->types->count; i++)
        add_type(&m, &terms->types->items[i]);
    catalogue_source_finish(m.s);
    *left_out = m.left;
    return m.s;
}
