/* meta: what every object has, and the small value types that many kinds share.
 *
 * Objects are decoded once, are immutable afterwards, and hold interned symbols of the table that
 * the decoder was given. Spans are owned by the object. A time is wall_ms, 0 when absent. */
#ifndef KUBE_META_H
#define KUBE_META_H

#include "base/decode.h"
#include "base/units.h"
#include "kube/resources.h"

struct owner {
    sym api_version, kind;
    struct span name, uid; /* uid is left out of a pod's owners, */
    bool controller, blocks; /* and so is blockOwnerDeletion */
};

struct owners {
    struct owner *items;
    uint32_t count;
};

struct annotation {
    sym key;
    struct span value;
};

struct annotations { /* only keys of the domains that we read; of a NodeClaim all */
    struct annotation *items;
    uint32_t count;
};

struct meta {
    struct span name, ns, uid; /* ns is absent for cluster-scoped kinds */
    /* 0: none. Decimal and comparable within a kind (Kubernetes 1.35). The one part of an object that may change
     * while others read it: to that of a newer version which says nothing new (kube/store.h). */
    _Atomic(uint64_t) resource_version;
    int64_t generation;
    wall_ms created, deleted; /* deleted: deletionTimestamp */
    struct sym_pairs labels;
    struct annotations annotations;
    struct syms finalizers;
    struct owners owners;
    /* Of a Pod, a pod template or a NodePool that has more entries than kube/object_bounds.h admits: the sentence about
     * it. SYM_NONE: it is within the bounds. */
    sym excess;
    bool wrote_status; /* of a Pod: something in its status is our own word, and nobody's since (managedFields) */
};

/* A copy of an object, which begins with its meta and is of that size: it shares what that points to, and has no version,
 * the one part that may change meanwhile. */
void meta_copy_object(void *to, const void *object, size_t size);

#define FIELD_MANAGER "stowage" /* under which we write */

enum taint_effect {
    TAINT_NONE,
    TAINT_NO_SCHEDULE,
    TAINT_PREFER_NO_SCHEDULE,
    TAINT_NO_EXECUTE,
    TAINT_OTHER, /* a text that no version defines: a taint nobody tolerates, a toleration of nothing */
};

struct taint {
    sym key, value; /* value SYM_NONE or SYM_EMPTY: no value */
    enum taint_effect effect;
    wall_ms added;
};

struct taints {
    struct taint *items;
    uint32_t count;
};

enum toleration_op {
    TOLERATION_EQUAL,
    TOLERATION_EXISTS,
    TOLERATION_LT, /* the taint's value is less than this one, or greater, both being integers: behind the */
    TOLERATION_GT, /* gate TaintTolerationComparisonOperators, without which no API server takes such a pod */
    TOLERATION_OTHER, /* a text that no version defines: tolerates nothing */
};

struct toleration {
    sym key;             /* SYM_NONE with Exists: every taint */
    sym value;
    enum toleration_op op;
    enum taint_effect effect; /* TAINT_NONE: every effect */
};

struct tolerations {
    struct toleration *items;
    uint32_t count;
};

enum condition_status { CONDITION_UNKNOWN, CONDITION_FALSE, CONDITION_TRUE };

struct condition {
    struct span type, reason, message;
    enum condition_status status;
    int64_t observed_generation;
    wall_ms transition;
};

struct conditions {
    struct condition *items;
    uint32_t count;
};

/* The operators of node selectors, of NodePool requirements and of label selectors. */
enum op { OP_NONE, OP_IN, OP_NOT_IN, OP_EXISTS, OP_DOES_NOT_EXIST, OP_GT, OP_LT, OP_GTE, OP_LTE };

struct expression { /* one requirement as written by a person */
    sym key;
    enum op op;
    struct span op_text; /* as written, for messages when op is OP_NONE */
    struct syms values;
    int32_t min_values; /* 0: absent; NodePools and NodeClaims only */
};

struct expressions {
    struct expression *items;
    uint32_t count;
};

/* {} matches everything, null (present == false at its holder) nothing. */
struct label_selector {
    struct sym_pairs match_labels;
    struct expressions match_expressions;
};

const struct condition *conditions_find(struct conditions c, struct span type); /* or NULL */
bool conditions_true(struct conditions c, struct span type);
struct span annotations_get(struct annotations a, sym key); /* absent span when missing */
bool syms_has(struct syms list, sym s);
bool meta_owned_by(const struct meta *m, sym api_version, sym kind); /* SYM_API_APPS_V1, SYM_KIND_… */
const struct owner *meta_controller(const struct meta *m); /* the owner that controls it; NULL: none */
bool label_selector_matches(const struct label_selector *s, struct sym_pairs labels);
bool label_selector_same(const struct label_selector *a, const struct label_selector *b); /* as written */
/* `syms` is asked for the texts of values alone; NULL: the taint has none. */
bool taint_tolerated(const struct taint *t, struct tolerations by, const struct symtab *syms);
const char *taint_effect_name(enum taint_effect e); /* "NoSchedule"…; "" for TAINT_NONE */
const char *op_name(enum op op);                    /* "In", "NotIn"… */

/* RFC 3339 times, with MicroTime's six digits in time_put_micro (a Lease refuses others). */
bool time_parse(struct span text, wall_ms *out);
struct span time_text(struct arena *a, wall_ms t);
struct span time_micro_text(struct arena *a, wall_ms t);
/* The Gregorian calendar: days since 1970-01-01 and back. */
int64_t time_days(int64_t year, int32_t month, int32_t day);
void time_date(int64_t days, int64_t *year_out, int32_t *month_out, int32_t *day_out);
/* Go durations of the API: "1h30m", "0s"; false for "Never" and the rest. */
bool duration_parse(struct span text, span_ms *out);
struct span duration_text(struct arena *a, span_ms d); /* as Go prints: "1h30m0s" */
/* What a NodePool's or NodeClaim's duration is read as when it passes the schema but is longer than
 * the 292 years that the API can hold (api 0.4): pool_validate names it. */
#define DURATION_TOO_LONG (INT64_MAX / 4) /* room for sums with times */

/* Building blocks of the kinds' field tables. */
extern const struct schema meta_schema, taint_schema, toleration_schema, condition_schema,
    expression_schema, label_selector_schema, label_schema /* FIELD_MAP into sym_pairs */;
decode_scalar decode_time, decode_duration /* span_ms */;

#endif
