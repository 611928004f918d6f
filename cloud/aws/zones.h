/* zones: which types a region has where, as `aws ec2 describe-instance-type-offerings --location-type
 * availability-zone` prints it. */
#ifndef CLOUD_AWS_ZONES_H
#define CLOUD_AWS_ZONES_H

#include "base/decode.h"

struct aws_place {
    struct span type, zone;
};

struct aws_places {
    struct aws_place *items; /* sorted once aws_places_sort was called */
    uint32_t count, capacity;
};

/* Adds those of a file; all of it lives in `a`. */
bool aws_places_read(struct arena *a, struct span text, struct span file, struct aws_places *out, struct err *err);
void aws_places_sort(struct aws_places *p);
bool aws_places_has(const struct aws_places *p, struct span type, struct span zone);

#endif
