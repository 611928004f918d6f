/* described: what `aws ec2 describe-instance-types` says of instance types, as far as a node's labels and room depend on
 * it. Field names and units are EC2's own (API reference, InstanceTypeInfo). */
#ifndef CLOUD_AWS_DESCRIBED_H
#define CLOUD_AWS_DESCRIBED_H

#include "base/decode.h"

struct aws_device { /* GPUs or accelerators of one kind */
    struct span name, manufacturer;
    int64_t count, cores, memory_mib; /* cores, memory: of each */
};

struct aws_devices {
    struct aws_device *items;
    uint32_t count;
};

struct aws_card { /* network card */
    int64_t interfaces;
    double baseline_gbps;
};

struct aws_cards {
    struct aws_card *items;
    uint32_t count;
};

struct aws_type {
    struct span name;
    struct spans usage_classes, virtualization, architectures;
    struct span hypervisor, manufacturer; /* absent: none, as of bare metal; not said */
    double clock_ghz;
    int64_t vcpus, memory_mib;
    struct span ebs_optimized, enclaves;
    bool has_ebs;
    int64_t ebs_mbps;
    struct span nvme;
    bool has_storage;
    int64_t storage_gb;
    bool encrypts_in_transit;
    struct span network; /* "Up to 10 Gigabit", "4x 100 Gigabit", "Low to Moderate" */
    int64_t default_card, addresses_per_interface, efa_interfaces;
    struct aws_cards cards;
    struct aws_devices gpus, accelerators, neurons;
};

struct aws_types {
    struct aws_type *items;
    uint32_t count, capacity;
};

/* Adds those of a file, whose name stands in messages; all of it lives in `a`. One that comes again is passed over. */
bool aws_types_read(struct arena *a, struct span text, struct span file, struct aws_types *types, struct err *err);

#endif
