/* requirement: the algebra of constraints on label values (spec provisioning 3, api 6).
 *
 * A requirement is a set over one key's values: {values} or everything but {values}, cut by
 * inclusive integer bounds. A `requirements` map has at most one per key, sorted by key id; adding
 * intersects. Values are symbols; whether one is an integer is asked of its text.
 *
 * Works for any table; all sets of one computation come from the same one. Results live in the
 * arena given; inputs are never changed. */
#ifndef KUBE_REQUIREMENT_H
#define KUBE_REQUIREMENT_H

#include "base/buf.h"
#include "kube/meta.h"

struct requirement {
    sym key; /* normalised: aliases of 3.2 are rewritten at construction */
    bool complement;
    bool has_gte, has_lte;
    int64_t gte, lte;
    int32_t min_values; /* 0: none */
    uint32_t count;
    const sym *values; /* sorted by id, unique */
};

struct requirements {
    struct requirement *items; /* sorted by key */
    uint32_t count;
};

sym requirement_key(struct symtab *t, sym key); /* beta.kubernetes.io/arch → kubernetes.io/arch … */

struct requirement requirement_of(struct arena *a, struct symtab *t, const struct expression *e);
struct requirement requirement_in(struct arena *a, struct symtab *t, sym key, sym value);
enum op requirement_op(const struct requirement *r); /* as reported: In, NotIn, Exists, DoesNotExist */
bool requirement_has(const struct requirement *r, sym value, const struct symtab *t);
struct requirement requirement_and(struct arena *a, const struct requirement *x,
                                   const struct requirement *y, const struct symtab *t);
/* The same as requirement_and from the first to the last of `count` (1 or more) requirements of one key, in n log n
 * of all their values. */
struct requirement requirement_and_all(struct arena *a, const struct requirement *list, uint32_t count,
                                       const struct symtab *t);
/* A value to write as a label: the least member by text; of what excludes values, the least integer
 * from 0 or the lower bound on that is allowed. SYM_NONE when there is none. */
sym requirement_any(struct arena *a, struct symtab *t, const struct requirement *r);
bool requirement_intersects(const struct requirement *x, const struct requirement *y,
                            const struct symtab *t);

const struct requirement *requirements_get(const struct requirements *s, sym key); /* or NULL */
/* Copies the whole set. A list is added by requirements_of or requirements_of_list. */
void requirements_add(struct arena *a, struct requirements *s, const struct requirement *r,
                      const struct symtab *t);
void requirements_add_all(struct arena *a, struct requirements *s, const struct requirements *other,
                          const struct symtab *t);
/* A set of all at once, in n log n and one allocation for the set; a key may come more than once. The set takes the array,
 * which is sorted and merged in place; it lives as long as the set. */
struct requirements requirements_of_list(struct arena *a, struct requirement *items, uint32_t count,
                                         const struct symtab *t);
struct requirements requirements_of(struct arena *a, struct symtab *t, struct expressions list);
struct requirements requirements_of_labels(struct arena *a, struct symtab *t, struct sym_pairs labels);

/* 3.5. `x` is what exists, `y` what is asked. On false *bad_out (may be NULL) is the failing key and
 * *undefined_out (may be NULL) says that x does not know it. */
bool requirements_intersect(const struct requirements *x, const struct requirements *y,
                            const struct symtab *t, sym *bad_out);
/* `undefined` are the keys that x may leave undefined: the well-known ones, or none. Sorted by id. */
bool requirements_compatible(const struct requirements *x, const struct requirements *y,
                             struct syms undefined, const struct symtab *t, sym *bad_out,
                             bool *undefined_out);

/* "key In [a b c]", "key Exists >=5" (api 6.1). */
void requirement_put(struct buf *out, const struct requirement *r, const struct symtab *t);
struct span requirement_text(struct arena *a, const struct requirement *r, const struct symtab *t);
/* All, sorted by text, joined by ", ", hostname left out. */
void requirements_put(struct buf *out, const struct requirements *s, const struct symtab *t);
/* API form: expressions sorted by key, values sorted; bounds and exclusions both kept. */
struct expressions requirements_expressions(struct arena *a, struct symtab *t,
                                            const struct requirements *s);

/* Validation of one expression (provisioning 1.2.1, api 2.2): false and the sentence. `restricted`:
 * see label_restricted. */
struct label_rules {
    struct syms well_known;          /* sorted by id */
    const struct span *domains;      /* restricted domains: "karpenter.sh", provider's own */
    uint32_t domain_count;
};
bool label_restricted(const struct label_rules *rules, sym key, const struct symtab *t);
bool expression_valid(const struct label_rules *rules, const struct expression *e,
                      struct symtab *t, struct err *err);
/* In needs a value and as many as minValues says, a comparison one integer. */
bool expression_operands_valid(const struct expression *e, const struct symtab *t, struct err *err);
bool qualified_name_valid(struct span s);
bool label_value_valid(struct span s);
bool subdomain_valid(struct span s); /* what most objects' names are, and the domain of a label key */
#define LABEL_VALUE_RULE                                                                           \
    "it takes up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
#define LABEL_KEY_RULE "after an optional domain and '/' " LABEL_VALUE_RULE

#endif
