/* catalogue_source: the text form of a catalogue, shared by the files that make and read one. */
#ifndef CLOUD_CATALOGUE_SOURCE_H
#define CLOUD_CATALOGUE_SOURCE_H

#include "base/decode.h"
#include "kube/meta.h"
#include "kube/repair.h"

struct source_requirement {
    struct span key, op_text;
    enum op op;
    struct spans values;
    int32_t min_values;
};

struct source_requirements {
    struct source_requirement *items;
    uint32_t count;
};

struct source_amount { /* of a resource, or of a driver's volumes */
    struct span name, quantity;
};

struct source_amounts {
    struct source_amount *items;
    uint32_t count;
};

struct source_overhead { /* the sum of the three is kept back */
    struct source_amounts kube_reserved, system_reserved, eviction_threshold;
};

struct source_offering {
    struct source_requirements requirements;
    double price;
    bool has_price; /* it was said */
    bool available;
    int64_t reservation_capacity;
    bool has_capacity_override, has_overhead_override;
    struct source_amounts capacity_override;
    struct source_overhead overhead_override;
    struct span flat_zone, flat_capacity_type; /* of kwok's older form, in which they are no requirements */
};

struct source_offerings {
    struct source_offering *items;
    uint32_t count;
};

struct source_type {
    struct span name;
    uint32_t index;     /* in its file */
    bool explicit_form; /* has `requirements`: nothing is derived */
    struct span architecture;
    struct spans operating_systems, node_pools;
    struct source_requirements requirements;
    struct source_amounts resources, volume_limits;
    struct source_overhead overhead;
    struct source_offerings offerings;
};

struct catalogue_source {
    struct arena arena;
    struct span name; /* of its file; absent: the one that is built in */
    struct source_type *types; /* sorted by name; equal names keep the file's order */
    uint32_t count;
    struct span reservation_id_label; /* absent: none */
    struct spans well_known;          /* beyond Kubernetes' and Karpenter's own */
    struct spans unsupported_drivers, unsupported_topology_keys;
    struct repair_texts repair; /* not looked at: who repairs checks them */
};

struct catalogue_source *catalogue_source_new(void);
/* Sorts the types and, for those of kwok's form, fills in what is derived (spec api 7.6). */
void catalogue_source_finish(struct catalogue_source *s);

#endif
