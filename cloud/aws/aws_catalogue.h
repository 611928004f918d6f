/* aws_catalogue: a catalogue of EC2's instance types with the labels, the room and the overhead that karpenter-provider-aws
 * reckons with for AMI family AL2023 and without block device mappings, kubelet settings or reservations in the node class.
 *
 * Other than there: instance-network-bandwidth is what EC2's API says and not a table that was made of its documentation;
 * vpc.amazonaws.com/pod-eni is not known to EC2's API and left out; tenancy is default alone, of which the prices are. */
#ifndef CLOUD_AWS_AWS_CATALOGUE_H
#define CLOUD_AWS_AWS_CATALOGUE_H

#include "cloud/aws/described.h"
#include "cloud/aws/prices.h"
#include "cloud/aws/zones.h"
#include "cloud/catalogue.h"

struct aws_terms {
    const struct aws_types *types;
    const struct aws_prices *on_demand, *spot; /* sorted; without any, offerings are available and have no price */
    const struct aws_places *places;           /* sorted; NULL: every type is in every zone */
    struct span region;
    struct spans zones;
    double vm_memory_overhead; /* share of the memory that never reaches the machine: Karpenter's --vm-memory-overhead-percent */
    int64_t reserved_enis;     /* network interfaces that are not for pods */
};

struct aws_left { /* of what was described */
    uint32_t architectures, nowhere; /* types left out: no kubelet runs there; in none of the zones */
    uint32_t unpriced_on_demand, unpriced_spot; /* offerings without a price */
};

/* Finished, to be freed before what it is made of; `name` is its file's. */
struct catalogue_source *aws_catalogue(const struct aws_terms *terms, struct span name, struct aws_left *left_out);

#endif
