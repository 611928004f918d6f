/* catalogue: lists of instance types as text, independent of any symbol table: the built-in one of
 * provider kwok (spec api 7.6), kwok's JSON files, and the superset of spec plan-contract 3. */
#ifndef CLOUD_CATALOGUE_H
#define CLOUD_CATALOGUE_H

#include "base/doc.h"
#include "kube/instance_type.h"
#include "kube/repair.h"

struct catalogue_source; /* immutable once made; may be read by any thread */

struct catalogue_source *catalogue_builtin(void); /* 144 types, 8 offerings each */
/* What its types of so much room cost an hour on demand, by provider kwok's own rule. */
double catalogue_builtin_price(double cores, double bytes);
/* A file's text, JSON. `name` stands in messages: "types.json:12: c-4x: resources.cpu: …". */
bool catalogue_decode(struct span json, struct span name, struct catalogue_source **out,
                      struct err *err);
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
