/* sym: interned strings. A label key or value, a resource or node name is kept once and is a small
 * integer everywhere else.
 *
 * A symtab only grows. Any number of threads may read it meanwhile, since entries never move and the
 * index is published with release order; those that give ids to new texts take turns by a lock, which
 * nobody else waits for. An id means nothing outside the
 * table that gave it. The store starts a new table when half of the old one is dead (design 3).
 *
 * A local table lies over a shared one: what the shared one knows keeps its id, what it does not
 * know gets an id of the local table alone. A request, which must not write the shared table, uses
 * one of its own. */
#ifndef BASE_SYM_H
#define BASE_SYM_H

#include "arena.h"

typedef uint32_t sym;
enum { SYM_NONE = 0 }; /* absent; also the answer of sym_find for an unknown string */

struct symtab;

struct sym_pair { /* a label */
    sym key, value;
};

struct sym_pairs { /* labels, in the order of the input; keys are unique */
    struct sym_pair *items;
    uint32_t count;
};

struct syms {
    sym *items;
    uint32_t count;
};

/* `fixed` are interned first, so that fixed[i] has id i + 1 in every table made from the same list:
 * ids known at compile time. The texts must outlive the table. */
struct symtab *symtab_new(const struct span *fixed, size_t fixed_count);
/* With room for so many texts, rounded up to 1024: `symtab_new` has 8 million, more label values than any API server
 * holds. One more is refused: it is SYM_NONE, and whoever interns has to ask whether that was so. */
struct symtab *symtab_new_limited(const struct span *fixed, size_t fixed_count, uint32_t most);
struct symtab *symtab_new_local(const struct symtab *shared, struct arena *a); /* dies with the arena */
struct symtab *symtab_ref(struct symtab *t);
void symtab_unref(struct symtab *t); /* NULL is fine */

sym sym_intern(struct symtab *t, struct span text); /* the empty text has an id of its own */
/* How many texts were refused so far; 0 of NULL. Decoding asks: an object with such a text is a mistake. */
uint32_t symtab_refused(const struct symtab *t);
sym sym_find(const struct symtab *t, struct span text);
/* SYM_NONE gives an absent span. The bytes live as long as the table and are followed by NUL. */
struct span sym_text(const struct symtab *t, sym id);
/* One more than the greatest id given so far by this table (local ids not counted): the size of an
 * array indexed by sym. */
uint32_t symtab_limit(const struct symtab *t);

/* The value of a key, or SYM_NONE. */
static inline sym sym_pairs_get(struct sym_pairs pairs, sym key)
{
    for (uint32_t i = 0; i < pairs.count; i++)
        if (pairs.items[i].key == key)
            return pairs.items[i].value;
    return SYM_NONE;
}

#endif
