/* prices: what instances cost an hour. On demand from AWS's price list: Linux without licences or software on it, shared
 * tenancy, bare metal as it is listed (dedicated), in dollars. On the spot market from `aws ec2
 * describe-spot-price-history`: the latest of each type and zone. */
#ifndef CLOUD_AWS_PRICES_H
#define CLOUD_AWS_PRICES_H

#include "base/arena.h"
#include "base/err.h"

struct aws_price {
    struct span type, zone; /* zone absent: on demand, the same in all of a region */
    double price;           /* dollars an hour */
    int64_t since;          /* when it was set, wall milliseconds; the latest counts */
};

struct aws_prices {
    struct aws_price *items; /* sorted by type and zone once aws_prices_sort was called, the price that counts alone */
    uint32_t count, capacity;
};

/* Adds those of a file; all of it lives in `a`. A price list is a region's offer file ({"products", "terms"}) or what `aws
 * pricing get-products` prints; of other regions nothing is taken. False: it is neither, or has no such price. */
bool aws_price_list_read(struct arena *a, struct span text, struct span file, struct span region, struct aws_prices *out,
                         struct err *err);
bool aws_spot_read(struct arena *a, struct span text, struct span file, struct aws_prices *out, struct err *err);

/* "0.0960000000"; false: it is no price. */
bool aws_price_parse(struct span text, double *price_out);

void aws_prices_sort(struct aws_prices *p);
/* `zone` absent: on demand. False: none is known. */
bool aws_prices_find(const struct aws_prices *p, struct span type, struct span zone, double *price_out);

#endif
