/* marks: objects of one kind that somebody still has to look at, groups of keys, and counts: what a stand-in remembers of
 * the changes that it heard of, so that it need not walk all there is. Keys are those of objects_key.
 *
 * Memory: a key for each object that is marked, or is in a group, and a name for each count that is not 0. */
#ifndef SIM_MARKS_H
#define SIM_MARKS_H

#include "sim/objects.h"

struct marks {
    enum kind kind;
    json_t *keys; /* key → true */
};

void marks_init(struct marks *m, enum kind k);
void marks_release(struct marks *m);
void marks_add(struct marks *m, const json_t *object);
void marks_add_named(struct marks *m, struct span ns, struct span name);
void marks_add_keys(struct marks *m, const json_t *keys); /* of a group; NULL: none */
bool marks_any(const struct marks *m);
/* Those that are there, the oldest first, as a new array; then nothing is marked. */
json_t *marks_take(struct marks *m, const struct objects *o);

/* Keys by a name that they share: pods by their node. */
struct groups {
    json_t *sets; /* name → key → true */
};

void groups_init(struct groups *g);
void groups_release(struct groups *g);
void groups_add(struct groups *g, struct span name, const char *key); /* an absent name: of no group */
void groups_drop(struct groups *g, struct span name, const char *key);
/* As an object moves: `key` is in the group that `fresh` names and not in that of `old`. */
void groups_move(struct groups *g, const char *key, struct span old, struct span fresh);
const json_t *groups_keys(const struct groups *g, struct span name); /* NULL: nobody is in it */

/* How many there are of something, by a name that they share. */
struct counts {
    json_t *by_name; /* name → number; none is 0 */
};

void counts_init(struct counts *c);
void counts_release(struct counts *c);
void counts_add(struct counts *c, struct span name, int64_t more); /* an absent name: counted nowhere */
int64_t counts_get(const struct counts *c, struct span name);

/* The objects of these keys that are there, the oldest first, as a new array. */
json_t *objects_by_age(const struct objects *o, enum kind k, const json_t *keys /* NULL: none */);

#endif
