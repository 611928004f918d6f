#include "cloud/aws/aws_labels.h"

#include <math.h>
#include <stdlib.h>

#define AWS "karpenter.k8s.aws/"

enum label {
    CATEGORY,
    FAMILY,
    GENERATION,
    SIZE,
    FLEX,
    CPU,
    CPU_MANUFACTURER,
    CPU_CLOCK,
    MEMORY,
    EBS_BANDWIDTH,
    NETWORK_BANDWIDTH,
    LOCAL_NVME,
    HYPERVISOR,
    ENCRYPTION,
    SANDBOX,
    GPU_NAME,
    GPU_MANUFACTURER,
    GPU_COUNT,
    GPU_MEMORY,
    ACCELERATOR_NAME,
    ACCELERATOR_MANUFACTURER,
    ACCELERATOR_COUNT,
    TENANCY,
    RESERVATION_ID,
    RESERVATION_TYPE,
    RESERVATION_INTERRUPTIBLE,
    LABEL_COUNT,
};

static const struct span keys[LABEL_COUNT] = {
    [CATEGORY] = SPAN_INIT(AWS "instance-category"),
    [FAMILY] = SPAN_INIT(AWS "instance-family"),
    [GENERATION] = SPAN_INIT(AWS "instance-generation"),
    [SIZE] = SPAN_INIT(AWS "instance-size"),
    [FLEX] = SPAN_INIT(AWS "instance-capability-flex"),
    [CPU] = SPAN_INIT(AWS "instance-cpu"),
    [CPU_MANUFACTURER] = SPAN_INIT(AWS "instance-cpu-manufacturer"),
    [CPU_CLOCK] = SPAN_INIT(AWS "instance-cpu-sustained-clock-speed-mhz"),
    [MEMORY] = SPAN_INIT(AWS "instance-memory"),
    [EBS_BANDWIDTH] = SPAN_INIT(AWS "instance-ebs-bandwidth"),
    [NETWORK_BANDWIDTH] = SPAN_INIT(AWS "instance-network-bandwidth"),
    [LOCAL_NVME] = SPAN_INIT(AWS "instance-local-nvme"),
    [HYPERVISOR] = SPAN_INIT(AWS "instance-hypervisor"),
    [ENCRYPTION] = SPAN_INIT(AWS "instance-encryption-in-transit-supported"),
    [SANDBOX] = SPAN_INIT(AWS "nitro-sandbox"),
    [GPU_NAME] = SPAN_INIT(AWS "instance-gpu-name"),
    [GPU_MANUFACTURER] = SPAN_INIT(AWS "instance-gpu-manufacturer"),
    [GPU_COUNT] = SPAN_INIT(AWS "instance-gpu-count"),
    [GPU_MEMORY] = SPAN_INIT(AWS "instance-gpu-memory"),
    [ACCELERATOR_NAME] = SPAN_INIT(AWS "instance-accelerator-name"),
    [ACCELERATOR_MANUFACTURER] = SPAN_INIT(AWS "instance-accelerator-manufacturer"),
    [ACCELERATOR_COUNT] = SPAN_INIT(AWS "instance-accelerator-count"),
    [TENANCY] = SPAN_INIT(AWS "instance-tenancy"),
    [RESERVATION_ID] = SPAN_INIT(AWS "capacity-reservation-id"),
    [RESERVATION_TYPE] = SPAN_INIT(AWS "capacity-reservation-type"),
    [RESERVATION_INTERRUPTIBLE] = SPAN_INIT(AWS "capacity-reservation-interruptible"),
};
/* Known to pods, and of no instance type: they come with an offering or a launch. */
static const struct span others[] = {SPAN_INIT("topology.k8s.aws/zone-id"), SPAN_INIT(AWS "placement-group-id"),
                                     SPAN_INIT(AWS "placement-group-partition")};

struct values { /* of a type's labels; absent: it has it not */
    struct span of[LABEL_COUNT];
};

static struct span number(struct arena *a, int64_t n)
{
    return arena_printf(a, "%lld", (long long)n);
}

/* "Radeon Pro V520": "radeon-pro-v520" */
static struct span kebab(struct arena *a, struct span s)
{
    char *text = arena_alloc(a, s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        text[i] = s.ptr[i] == ' ' ? '-' : s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] + ('a' - 'A')) : s.ptr[i];
    return (struct span){text, s.len};
}

static size_t letters(struct span s, size_t from, char low, char high)
{
    size_t n = 0;
    while (from + n < s.len && s.ptr[from + n] >= low && s.ptr[from + n] <= high)
        n++;
    return n;
}

/* "m7i-flex.large" is of category m and generation 7, "u-6tb1.56xlarge" of u and 1: letters, which sizes in terabytes may
 * follow, then digits. */
static void from_name(struct arena *a, struct span name, struct values *v)
{
    struct span size, family = span_cut(name, '.', &size), none;
    size_t category = letters(family, 0, 'a', 'z'), at = category;
    if (size.ptr == NULL || span_cut(size, '.', &none).len != size.len)
        return;
    v->of[FAMILY] = family;
    v->of[SIZE] = size;
    v->of[FLEX] = span_contains(family, SPAN("-flex")) ? SPAN("true") : SPAN("false");
    size_t digits = at < family.len && family.ptr[at] == '-' ? letters(family, at + 1, '0', '9') : 0;
    struct span rest = {family.ptr + at + 1 + digits, digits != 0 ? family.len - at - 1 - digits : 0};
    if (digits != 0 && span_has_prefix(rest, SPAN("tb")))
        at += 1 + digits + 2;
    size_t generation = letters(family, at, '0', '9');
    if (category == 0 || generation == 0)
        return;
    v->of[CATEGORY] = arena_dup(a, (struct span){family.ptr, category});
    v->of[GENERATION] = arena_dup(a, (struct span){family.ptr + at, generation});
}

static void from_devices(struct arena *a, const struct aws_type *t, struct values *v)
{
    if (t->gpus.count == 1) { /* of several kinds no one name would be right */
        const struct aws_device *g = &t->gpus.items[0];
        v->of[GPU_NAME] = kebab(a, g->name);
        v->of[GPU_MANUFACTURER] = kebab(a, g->manufacturer);
        v->of[GPU_COUNT] = number(a, g->count);
        v->of[GPU_MEMORY] = number(a, g->memory_mib);
    }
    bool neuron = t->neurons.count == 1;
    if (neuron || (t->neurons.count == 0 && t->accelerators.count == 1)) {
        const struct aws_device *d = neuron ? &t->neurons.items[0] : &t->accelerators.items[0];
        v->of[ACCELERATOR_NAME] = kebab(a, d->name);
        v->of[ACCELERATOR_MANUFACTURER] = neuron ? SPAN("aws") : kebab(a, d->manufacturer);
        v->of[ACCELERATOR_COUNT] = number(a, d->count);
    }
}

/* "10 Gigabit", "4x 100 Gigabit"; false: it is said in other words. */
static bool fixed_gbps(struct span told, double *gbps_out)
{
    enum { GBPS_MAX = 1000 * 1000 };
    struct span unit, rest, first = span_cut(told, ' ', &rest);
    int64_t cards = 1;
    if (span_has_suffix(first, SPAN("x"))) {
        if (!span_int64((struct span){first.ptr, first.len - 1}, &cards) || cards < 1 || cards > GBPS_MAX)
            return false;
        first = span_cut(rest, ' ', &rest);
    }
    unit = rest;
    char text[16], *end;
    if (!span_eq(unit, SPAN("Gigabit")) || first.len == 0 || first.len >= sizeof(text))
        return false;
    memcpy(text, first.ptr, first.len);
    text[first.len] = '\0';
    double each = strtod(text, &end);
    bool is_number = *end == '\0' && each > 0 && each < GBPS_MAX;
    if (is_number)
        *gbps_out = each * (double)cards;
    return is_number;
}

/* Karpenter's table is made of a page of EC2's documentation, which has what the type is called with, or, of "Up to", the
 * baseline; of a "Low" or "Moderate" network nobody says more. */
static void from_network(struct arena *a, const struct aws_type *t, struct values *v)
{
    double gbps = 0;
    if (span_contains(t->network, SPAN("Low")) || span_contains(t->network, SPAN("Moderate")) ||
        span_contains(t->network, SPAN("High")))
        return;
    for (uint32_t i = 0; i < t->cards.count; i++)
        gbps += t->cards.items[i].baseline_gbps;
    if (fixed_gbps(t->network, &gbps) || gbps > 0)
        v->of[NETWORK_BANDWIDTH] = number(a, (int64_t)llround(gbps * 1000));
}

static struct values values_of(struct arena *a, const struct aws_type *t)
{
    struct values v = {0};
    from_name(a, t->name, &v);
    from_devices(a, t, &v);
    from_network(a, t, &v);
    v.of[CPU] = number(a, t->vcpus);
    v.of[CPU_CLOCK] = number(a, (int64_t)llround(t->clock_ghz * 1000));
    v.of[CPU_MANUFACTURER] = kebab(a, t->manufacturer);
    v.of[MEMORY] = number(a, t->memory_mib);
    if (t->has_ebs && span_eq(t->ebs_optimized, SPAN("default")))
        v.of[EBS_BANDWIDTH] = number(a, t->ebs_mbps);
    if (t->has_storage && !span_eq(t->nvme, SPAN("unsupported")))
        v.of[LOCAL_NVME] = number(a, t->storage_gb);
    v.of[HYPERVISOR] = t->hypervisor.ptr != NULL ? t->hypervisor : SPAN("");
    v.of[ENCRYPTION] = t->encrypts_in_transit ? SPAN("true") : SPAN("false");
    v.of[SANDBOX] = span_eq(t->enclaves, SPAN("supported")) ? SPAN("true") : SPAN("false");
    v.of[TENANCY] = SPAN("default");
    return v;
}

struct span aws_architecture(const struct aws_type *t)
{
    for (uint32_t i = 0; i < t->architectures.count; i++) {
        if (span_eq(t->architectures.items[i], SPAN("x86_64")))
            return SPAN("amd64");
        if (span_eq(t->architectures.items[i], SPAN("arm64")))
            return SPAN("arm64");
    }
    return (struct span){0};
}

static void put(struct source_requirements *to, struct span key, struct spans values)
{
    to->items[to->count++] =
        (struct source_requirement){.key = key, .op = values.count != 0 ? OP_IN : OP_DOES_NOT_EXIST, .values = values};
}

static struct spans only(struct arena *a, struct span value)
{
    struct span *items = ARENA_NEW(a, struct span);
    *items = value;
    return (struct spans){items, value.ptr != NULL};
}

struct source_requirements aws_labels(struct arena *a, const struct aws_type *t, const struct aws_where *where)
{
    enum { KUBERNETES = 7 };
    struct values v = values_of(a, t);
    struct source_requirements r = {ARENA_ARRAY(a, struct source_requirement, LABEL_COUNT + KUBERNETES), 0};
    put(&r, wellknown_text[SYM_INSTANCE_TYPE - 1], only(a, t->name));
    put(&r, wellknown_text[SYM_ARCH - 1], only(a, aws_architecture(t)));
    put(&r, wellknown_text[SYM_OS - 1], only(a, SPAN("linux")));
    put(&r, wellknown_text[SYM_WINDOWS_BUILD - 1], (struct spans){0});
    put(&r, wellknown_text[SYM_REGION - 1], only(a, where->region));
    put(&r, wellknown_text[SYM_ZONE - 1], where->zones);
    put(&r, wellknown_text[SYM_CAPACITY_TYPE - 1], where->capacity_types);
    for (size_t i = 0; i < LABEL_COUNT; i++)
        put(&r, keys[i], only(a, v.of[i]));
    return r;
}

struct spans aws_well_known(struct arena *a)
{
    struct spans all = {ARENA_ARRAY(a, struct span, LABEL_COUNT + COUNT_OF(others)), 0};
    for (size_t i = 0; i < LABEL_COUNT; i++)
        all.items[all.count++] = keys[i];
    for (size_t i = 0; i < COUNT_OF(others); i++)
        all.items[all.count++] = others[i];
    return all;
}
