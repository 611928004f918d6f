/* catalogue: lists of instance types as text, independent of any symbol table: the built-in one of
 * provider kwok (spec api 7.6), kwok's JSON files, and the superset of spec plan-contract 3. */
#ifndef CLOUD_CATALOGUE_H
#define CLOUD_CATALOGUE_H

#include "base/doc.h"
#include "kube/instance_type.h"
#include "kube/repair.h"

struct catalogue_source; /* immutable once made; may be read by any thread */

struct catalogue_source *catalogue_builtin(void); /* 144 types, 8 offerings each */
/* A file's text, JSON. `name` stands in messages: "types.json:12: c-4x: resources.cpu: …". */
bool catalogue_decode(struct span json, struct span name, struct catalogue_source **out,
                      struct err *err);
void catalogue_source_free(struct catalogue_source *s); /* NULL is fine */

/* Interns into `syms` and fills *out, sorted by name; all of it lives in `a`. */
void catalogue_build(const struct catalogue_source *s, struct arena *a, struct symtab *syms,
                     struct catalogue *out);
/* Its repair policies as written; all of it lives in `a`. */
struct repair_texts catalogue_repair(const struct catalogue_source *s, struct arena *a);

#endif
