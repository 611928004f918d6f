#include "cloud/aws/zones.h"

#include <stdlib.h>

#include "cloud/aws/listing.h"

static const struct field place_fields[] = {
    FIELD(struct aws_place, type, FIELD_SPAN, "InstanceType", .required = true),
    FIELD(struct aws_place, zone, FIELD_SPAN, "Location", .required = true),
};
static const struct schema place_schema = SCHEMA(struct aws_place, "offering", place_fields);

struct taking {
    struct arena *a;
    struct aws_places *out;
};

static bool take(void *user, struct doc_value item, struct err *err)
{
    struct taking *t = user;
    struct aws_place p;
    if (!decode_one(t->a, NULL, item, &place_schema, &p, err))
        return false;
    ARENA_PUSH(t->a, t->out->items, t->out->count, t->out->capacity, p);
    return true;
}

bool aws_places_read(struct arena *a, struct span text, struct span file, struct aws_places *out, struct err *err)
{
    struct taking t = {a, out};
    return listing_read(text, file, "InstanceTypeOfferings", take, &t, err);
}

static int compare(const void *x, const void *y)
{
    const struct aws_place *a = x, *b = y;
    int order = span_cmp(a->type, b->type);
    return order != 0 ? order : span_cmp(a->zone, b->zone);
}

void aws_places_sort(struct aws_places *p)
{
    if (p->count != 0)
        qsort(p->items, p->count, sizeof(*p->items), compare);
}

bool aws_places_has(const struct aws_places *p, struct span type, struct span zone)
{
    struct aws_place key = {type, zone};
    return p->count != 0 && bsearch(&key, p->items, p->count, sizeof(key), compare) != NULL;
}
