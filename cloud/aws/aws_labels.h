/* aws_labels: the labels of EC2's nodes, as karpenter-provider-aws gives them (spec api 9.2). */
#ifndef CLOUD_AWS_AWS_LABELS_H
#define CLOUD_AWS_AWS_LABELS_H

#include "cloud/aws/described.h"
#include "cloud/catalogue_source.h"

struct aws_where {
    struct span region;
    struct spans zones, capacity_types; /* one of each at least */
};

struct span aws_architecture(const struct aws_type *t); /* "amd64", "arm64"; absent: none that Kubernetes runs on */
/* Requirements of a type: In one value, or DoesNotExist of what it has not. They live in `a`, or with the type. */
struct source_requirements aws_labels(struct arena *a, const struct aws_type *t, const struct aws_where *where);
/* All keys that a pod may ask for. */
struct spans aws_well_known(struct arena *a);

#endif
