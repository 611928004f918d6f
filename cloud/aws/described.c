#include "cloud/aws/described.h"

#include "cloud/aws/listing.h"

enum { AWS_TYPES_MAX = 20000 }; /* EC2 has some 1,400 */

static const struct field device_memory_fields[] = {
    FIELD(struct aws_device, memory_mib, FIELD_INT64, "SizeInMiB"),
};
static const struct schema device_memory_schema = SCHEMA(struct aws_device, "memory", device_memory_fields);
static const struct field core_fields[] = {
    FIELD(struct aws_device, cores, FIELD_INT64, "Count"),
};
static const struct schema core_schema = SCHEMA(struct aws_device, "cores", core_fields);
static const struct field device_fields[] = {
    FIELD(struct aws_device, name, FIELD_SPAN, "Name"),
    FIELD(struct aws_device, manufacturer, FIELD_SPAN, "Manufacturer"),
    FIELD(struct aws_device, count, FIELD_INT64, "Count"),
    {.kind = FIELD_OBJECT, .offset = 0, .name = "MemoryInfo", .schema = &device_memory_schema},
    {.kind = FIELD_OBJECT, .offset = 0, .name = "CoreInfo", .schema = &core_schema},
};
static const struct schema device_schema = SCHEMA(struct aws_device, "device", device_fields);

static const struct field card_fields[] = {
    FIELD(struct aws_card, interfaces, FIELD_INT64, "MaximumNetworkInterfaces"),
    FIELD(struct aws_card, baseline_gbps, FIELD_DOUBLE, "BaselineBandwidthInGbps"),
};
static const struct schema card_schema = SCHEMA(struct aws_card, "network card", card_fields);

/* What is nested lies flat in the struct. */
#define NESTED(name_, schema_) {.kind = FIELD_OBJECT, .offset = 0, .name = (name_), .schema = &(schema_)}

static const struct field processor_fields[] = {
    FIELD(struct aws_type, architectures, FIELD_SPANS, "SupportedArchitectures"),
    FIELD(struct aws_type, manufacturer, FIELD_SPAN, "Manufacturer"),
    FIELD(struct aws_type, clock_ghz, FIELD_DOUBLE, "SustainedClockSpeedInGhz"),
};
static const struct schema processor_schema = SCHEMA(struct aws_type, "processor", processor_fields);
static const struct field vcpu_fields[] = {
    FIELD(struct aws_type, vcpus, FIELD_INT64, "DefaultVCpus", .required = true),
};
static const struct schema vcpu_schema = SCHEMA(struct aws_type, "vCPUs", vcpu_fields);
static const struct field memory_fields[] = {
    FIELD(struct aws_type, memory_mib, FIELD_INT64, "SizeInMiB", .required = true),
};
static const struct schema memory_schema = SCHEMA(struct aws_type, "memory", memory_fields);
static const struct field ebs_optimized_fields[] = {
    FIELD(struct aws_type, ebs_mbps, FIELD_INT64, "MaximumBandwidthInMbps", FIELD_HAS(struct aws_type, has_ebs)),
};
static const struct schema ebs_optimized_schema = SCHEMA(struct aws_type, "EBS", ebs_optimized_fields);
static const struct field ebs_fields[] = {
    FIELD(struct aws_type, ebs_optimized, FIELD_SPAN, "EbsOptimizedSupport"),
    NESTED("EbsOptimizedInfo", ebs_optimized_schema),
};
static const struct schema ebs_schema = SCHEMA(struct aws_type, "EBS", ebs_fields);
static const struct field storage_fields[] = {
    FIELD(struct aws_type, storage_gb, FIELD_INT64, "TotalSizeInGB", FIELD_HAS(struct aws_type, has_storage)),
    FIELD(struct aws_type, nvme, FIELD_SPAN, "NvmeSupport"),
};
static const struct schema storage_schema = SCHEMA(struct aws_type, "storage", storage_fields);
static const struct field efa_fields[] = {
    FIELD(struct aws_type, efa_interfaces, FIELD_INT64, "MaximumEfaInterfaces"),
};
static const struct schema efa_schema = SCHEMA(struct aws_type, "EFA", efa_fields);
static const struct field network_fields[] = {
    FIELD(struct aws_type, network, FIELD_SPAN, "NetworkPerformance"),
    FIELD(struct aws_type, default_card, FIELD_INT64, "DefaultNetworkCardIndex"),
    FIELD(struct aws_type, addresses_per_interface, FIELD_INT64, "Ipv4AddressesPerInterface", .required = true),
    FIELD(struct aws_type, encrypts_in_transit, FIELD_BOOL, "EncryptionInTransitSupported"),
    FIELD(struct aws_type, cards, FIELD_LIST, "NetworkCards", .schema = &card_schema, .required = true),
    NESTED("EfaInfo", efa_schema),
};
static const struct schema network_schema = SCHEMA(struct aws_type, "network", network_fields);
static const struct field gpu_fields[] = {
    FIELD(struct aws_type, gpus, FIELD_LIST, "Gpus", .schema = &device_schema),
};
static const struct schema gpu_schema = SCHEMA(struct aws_type, "GPUs", gpu_fields);
static const struct field accelerator_fields[] = {
    FIELD(struct aws_type, accelerators, FIELD_LIST, "Accelerators", .schema = &device_schema),
};
static const struct schema accelerator_schema = SCHEMA(struct aws_type, "accelerators", accelerator_fields);
static const struct field neuron_fields[] = {
    FIELD(struct aws_type, neurons, FIELD_LIST, "NeuronDevices", .schema = &device_schema),
};
static const struct schema neuron_schema = SCHEMA(struct aws_type, "Neuron devices", neuron_fields);

static const struct field type_fields[] = {
    FIELD(struct aws_type, name, FIELD_SPAN, "InstanceType", .required = true),
    FIELD(struct aws_type, usage_classes, FIELD_SPANS, "SupportedUsageClasses"),
    FIELD(struct aws_type, virtualization, FIELD_SPANS, "SupportedVirtualizationTypes"),
    FIELD(struct aws_type, hypervisor, FIELD_SPAN, "Hypervisor"),
    FIELD(struct aws_type, enclaves, FIELD_SPAN, "NitroEnclavesSupport"),
    {.kind = FIELD_OBJECT, .offset = 0, .name = "ProcessorInfo", .schema = &processor_schema, .required = true},
    {.kind = FIELD_OBJECT, .offset = 0, .name = "VCpuInfo", .schema = &vcpu_schema, .required = true},
    {.kind = FIELD_OBJECT, .offset = 0, .name = "MemoryInfo", .schema = &memory_schema, .required = true},
    NESTED("EbsInfo", ebs_schema),
    NESTED("InstanceStorageInfo", storage_schema),
    {.kind = FIELD_OBJECT, .offset = 0, .name = "NetworkInfo", .schema = &network_schema, .required = true},
    NESTED("GpuInfo", gpu_schema),
    NESTED("InferenceAcceleratorInfo", accelerator_schema),
    NESTED("NeuronInfo", neuron_schema),
};
static const struct schema type_schema = SCHEMA(struct aws_type, "instance type", type_fields);

struct taking {
    struct arena *a;
    struct aws_types *types;
};

static bool is_known(const struct aws_types *types, struct span name)
{
    for (uint32_t i = 0; i < types->count; i++)
        if (span_eq(types->items[i].name, name))
            return true;
    return false;
}

/* What EC2 never says, and no sum that is made of these is meant for. */
enum { VCPUS_MAX = 1 << 20, MIB_MAX = 1 << 30, INTERFACES_MAX = 1 << 16, DEVICES_MAX = 1 << 16 };

static bool check_devices(const struct aws_devices *list, const char *field, struct err *err)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct aws_device *d = &list->items[i];
        if (d->count < 0 || d->count > DEVICES_MAX || d->cores < 0 || d->cores > DEVICES_MAX || d->memory_mib < 0 ||
            d->memory_mib > MIB_MAX)
            return err_set(err, ERR_INVALID, "%s[%u]: has a number out of range", field, i);
    }
    return true;
}

static bool check_network(const struct aws_type *t, struct err *err)
{
    if (t->default_card < 0 || t->default_card >= t->cards.count)
        return err_set(err, ERR_INVALID, "NetworkInfo.DefaultNetworkCardIndex: there is no network card %lld",
                       (long long)t->default_card);
    for (uint32_t i = 0; i < t->cards.count; i++)
        if (t->cards.items[i].interfaces < 0 || t->cards.items[i].interfaces > INTERFACES_MAX ||
            !(t->cards.items[i].baseline_gbps >= 0 && t->cards.items[i].baseline_gbps < INTERFACES_MAX))
            return err_set(err, ERR_INVALID, "NetworkInfo.NetworkCards[%u]: has a number out of range", i);
    return (t->addresses_per_interface >= 0 && t->addresses_per_interface <= INTERFACES_MAX && t->efa_interfaces >= 0 &&
            t->efa_interfaces <= INTERFACES_MAX) ||
           err_set(err, ERR_INVALID, "NetworkInfo: has a number out of range");
}

static bool check(const struct aws_type *t, struct err *err)
{
    if (t->name.len == 0)
        return err_set(err, ERR_INVALID, "InstanceType: is empty");
    if (t->vcpus <= 0 || t->vcpus > VCPUS_MAX)
        return err_set(err, ERR_INVALID, "VCpuInfo.DefaultVCpus: %lld is not a number of vCPUs", (long long)t->vcpus);
    if (t->memory_mib <= 0 || t->memory_mib > MIB_MAX)
        return err_set(err, ERR_INVALID, "MemoryInfo.SizeInMiB: %lld is not a size", (long long)t->memory_mib);
    if (!(t->clock_ghz >= 0 && t->clock_ghz < 1000))
        return err_set(err, ERR_INVALID, "ProcessorInfo.SustainedClockSpeedInGhz: is out of range");
    return check_network(t, err) && check_devices(&t->gpus, "GpuInfo.Gpus", err) &&
           check_devices(&t->accelerators, "InferenceAcceleratorInfo.Accelerators", err) &&
           check_devices(&t->neurons, "NeuronInfo.NeuronDevices", err);
}

static bool take(void *user, struct doc_value item, struct err *err)
{
    struct taking *t = user;
    struct aws_type type;
    if (doc_type(item) != DOC_OBJECT)
        return err_set(err, ERR_INVALID, "is %s, not an instance type", doc_type_name(doc_type(item)));
    if (!decode_one(t->a, NULL, item, &type_schema, &type, err) || !check(&type, err))
        return false;
    if (t->types->count == AWS_TYPES_MAX)
        return err_set(err, ERR_INVALID, "more than %d instance types", AWS_TYPES_MAX);
    if (!is_known(t->types, type.name))
        ARENA_PUSH(t->a, t->types->items, t->types->count, t->types->capacity, type);
    return true;
}

bool aws_types_read(struct arena *a, struct span text, struct span file, struct aws_types *types, struct err *err)
{
    struct taking t = {a, types};
    return listing_read(text, file, "InstanceTypes", take, &t, err);
}
