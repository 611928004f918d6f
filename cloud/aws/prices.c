#include "cloud/aws/prices.h"

#include <stdlib.h>

#include "cloud/aws/listing.h"
#include "kube/meta.h"

enum { AWS_PRICES_MAX = 20 * 1000 * 1000 }; /* three months of a region's spot market have a few million */

bool aws_price_parse(struct span text, double *price_out)
{
    enum { PRICE_MAX = 1000 * 1000 * 1000 };
    char copy[64], *end;
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    for (size_t i = 0; i < text.len; i++) /* neither "nan" nor "0x1" */
        if (strchr("0123456789.", text.ptr[i]) == NULL || text.ptr[i] == '\0')
            return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *price_out = strtod(copy, &end);
    return *end == '\0' && *price_out < PRICE_MAX;
}

static int by_place(const void *x, const void *y)
{
    const struct aws_price *a = x, *b = y;
    int order = span_cmp(a->type, b->type);
    if (order == 0)
        order = span_cmp(a->zone, b->zone);
    if (order == 0)
        order = (a->since < b->since) - (a->since > b->since);
    return order != 0 ? order : (a->price > b->price) - (a->price < b->price);
}

void aws_prices_sort(struct aws_prices *p)
{
    uint32_t kept = 0;
    if (p->count == 0)
        return;
    qsort(p->items, p->count, sizeof(*p->items), by_place);
    for (uint32_t i = 1; i < p->count; i++)
        if (!span_eq(p->items[i].type, p->items[kept].type) || !span_eq(p->items[i].zone, p->items[kept].zone))
            p->items[++kept] = p->items[i];
    p->count = kept + 1;
}

bool aws_prices_find(const struct aws_prices *p, struct span type, struct span zone, double *price_out)
{
    uint32_t low = 0, high = p->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = span_cmp(p->items[middle].type, type);
        if (order == 0)
            order = span_cmp(p->items[middle].zone, zone);
        if (order == 0) {
            *price_out = p->items[middle].price;
            return true;
        }
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

/* ---- the spot market ---- */

static bool decode_price(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return err_set(err, ERR_INVALID, "is %s, not a price", doc_type_name(doc_type(v)));
    return aws_price_parse(doc_text(v), out) ||
           err_set(err, ERR_INVALID, "\"%.*s\" is not a price", SPAN_ARG(doc_text(v)));
}

static bool decode_when(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    wall_ms when;
    if (doc_type(v) != DOC_STRING || !time_parse(doc_text(v), &when))
        return err_set(err, ERR_INVALID, "is not a time");
    *(int64_t *)out = when;
    return true;
}

struct spot {
    struct span type, zone, product;
    double price;
    int64_t since;
};

static const struct field spot_fields[] = {
    FIELD(struct spot, type, FIELD_SPAN, "InstanceType", .required = true),
    FIELD(struct spot, zone, FIELD_SPAN, "AvailabilityZone", .required = true),
    FIELD(struct spot, product, FIELD_SPAN, "ProductDescription"),
    FIELD(struct spot, price, FIELD_SCALAR, "SpotPrice", .scalar = decode_price, .required = true),
    FIELD(struct spot, since, FIELD_SCALAR, "Timestamp", .scalar = decode_when),
};
static const struct schema spot_schema = SCHEMA(struct spot, "spot price", spot_fields);

struct taking {
    struct arena *a;
    struct aws_prices *out;
};

static bool add(struct taking *t, const struct aws_price *price, struct err *err)
{
    if (t->out->count == AWS_PRICES_MAX)
        return err_set(err, ERR_INVALID, "more than %d prices", AWS_PRICES_MAX);
    ARENA_PUSH(t->a, t->out->items, t->out->count, t->out->capacity, *price);
    return true;
}

static bool take_spot(void *user, struct doc_value item, struct err *err)
{
    struct taking *t = user;
    struct spot s;
    if (!decode_one(t->a, NULL, item, &spot_schema, &s, err))
        return false;
    bool linux = s.product.ptr == NULL || span_has_prefix(s.product, SPAN("Linux/UNIX"));
    return !linux || s.price == 0 ||
           add(t, &(struct aws_price){.type = s.type, .zone = s.zone, .price = s.price, .since = s.since}, err);
}

bool aws_spot_read(struct arena *a, struct span text, struct span file, struct aws_prices *out, struct err *err)
{
    struct taking t = {a, out};
    return listing_read(text, file, "SpotPriceHistory", take_spot, &t, err);
}
