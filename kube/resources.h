/* resources: amounts by resource name, as the scheduler counts them.
 *
 * An amount is a whole number of the resource's unit: CPU in millicores, all others in their own
 * (bytes, devices). Fractions are rounded up, as kube-scheduler's MilliValue and Value do. Sums
 * saturate at INT64_MAX instead of wrapping. */
#ifndef KUBE_RESOURCES_H
#define KUBE_RESOURCES_H

#include "base/buf.h"
#include "base/decode.h"
#include "kube/wellknown.h"

typedef int64_t amount;

struct resource {
    sym name;
    amount value;
};

struct resources { /* each name once, in no order */
    struct resource *items;
    uint32_t count;
};

/* A Kubernetes quantity ("250m", "1.5Gi", "2e3"): its value times `scale` (1 or 1000), rounded away
 * from zero. Beyond the range of amount it is the greatest one of its sign. */
bool quantity_parse(struct span text, int32_t scale, amount *out, struct err *err);
/* How a message can help: a corrected text that is a quantity ("1O0m" → "100m"), or absent. */
struct span quantity_suggest(struct arena *a, struct span text);
/* Canonical text of an amount of this resource: "1500m", "2", "12Gi". */
void quantity_put(struct buf *out, struct span resource_name, amount value);
struct span quantity_text(struct arena *a, struct span resource_name, amount value);
/* Members of the object that is open: each name with its quantity. */
struct json;
void resources_put(struct json *j, struct resources r, const struct symtab *syms);

amount resources_get(struct resources r, sym name); /* 0 when absent */
/* The slot of a name, added with 0 when absent; invalid after the next call. Adding copies the list,
 * so other copies of the struct keep theirs; values of names already there change for all of them:
 * use resources_dup for a list to be changed. */
struct resources resources_dup(struct arena *a, struct resources r);
amount *resources_at(struct arena *a, struct resources *r, sym name);
void resources_add(struct arena *a, struct resources *into, struct resources r);
void resources_max(struct arena *a, struct resources *into, struct resources r); /* keywise */
void resources_fill(struct arena *a, struct resources *into, struct resources r); /* names that it lacks */
static inline amount amount_add(amount a, amount b)
{
    amount sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* For FIELD_MAP into struct resources. A negative amount is told to decode's `invalid`; not with the second,
 * which is for a NodePool's limits: their schema admits it, and pool_validate finds it. */
extern const struct schema resource_schema, signed_resource_schema;

#endif
