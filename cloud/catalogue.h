/* catalogue: lists of instance types as text, independent of any symbol table: the built-in one of
 * provider kwok (spec api 7.6), kwok's JSON files, and the superset of spec plan-contract 3. */
#ifndef CLOUD_CATALOGUE_H
#define CLOUD_CATALOGUE_H

#include "base/doc.h"
#include "base/json.h"
#include "kube/instance_type.h"
#include "kube/repair.h"

struct catalogue_source; /* immutable once made; may be read by any thread */

struct catalogue_source *catalogue_builtin(void); /* 144 types, 8 offerings each */
/* What its types of so much room cost an hour on demand, by provider kwok's own rule. */
double catalogue_builtin_price(double cores, double bytes);
/* A file's text, JSON. `name` stands in messages: "types.json:12: c-4x: resources.cpu: …". */
bool catalogue_decode(struct span json, struct span name, struct catalogue_source **out,
                      struct err *err);
/* The same of a file of kwok's provider, also in the form that it had before offerings had requirements. */
bool catalogue_decode_kwok(struct span json, struct span name, struct catalogue_source **out, struct err *err);

enum catalogue_level {
    CATALOGUE_WARNS,      /* can be used, and is hardly what was meant */
    CATALOGUE_WRONG,      /* reads, and cannot be bought, or is not what it says */
    CATALOGUE_UNREADABLE, /* the file is refused */
};
/* `text`: "c-4x: offerings[2].price: what is wrong. Fix: …"; good during the call. `line` 0: of the whole file. */
typedef void catalogue_told(void *user, enum catalogue_level level, uint32_t line, struct span text);
/* Tells everything that is wrong with a file, in its order as far as it has one. NULL: it is refused. */
struct catalogue_source *catalogue_check(struct span json, struct span name, catalogue_told *tell, void *user);
/* What is in it. */
struct catalogue_totals {
    uint32_t types, offerings, available, priced; /* of those that are available */
    double cheapest, dearest;                     /* of the priced, dollars an hour; 0 when there are none */
    struct spans zones, capacity_types;           /* of all offerings, sorted */
};
struct catalogue_totals catalogue_total(const struct catalogue_source *s, struct arena *a);
/* As a file that says everything and derives nothing: what is read back is the same. The catalogue is of catalogue_decode,
 * catalogue_check, catalogue_builtin or another maker that has finished it. */
void catalogue_write(struct json *j, const struct catalogue_source *s);
void catalogue_source_free(struct catalogue_source *s); /* NULL is fine */

/* Interns into `syms` and fills *out, sorted by name; all of it lives in `a`. */
void catalogue_build(const struct catalogue_source *s, struct arena *a, struct symtab *syms,
                     struct catalogue *out);
/* As another table has it; all of it lives in `a`. */
void catalogue_copy(const struct catalogue *from, const struct symtab *from_syms, struct arena *a, struct symtab *syms,
                    struct catalogue *out);
struct catalogue_part { /* of one provider */
    const struct catalogue *catalogue;
    struct spans pools; /* that are made of its machines */
    const char *class_group, *class_kind; /* which others would be; static storage */
};
/* One of several: each one's types are offered to its own pools alone, and to those of them that it says; what a provider's
 * nodes cannot have, no node can. Of a part that is partial, its pools are unlisted. All in `a`, or the parts'. */
void catalogue_join(struct arena *a, const struct catalogue_part *parts, uint32_t count, struct catalogue *out);
/* Its repair policies as written; all of it lives in `a`. */
struct repair_texts catalogue_repair(const struct catalogue_source *s, struct arena *a);

#endif
