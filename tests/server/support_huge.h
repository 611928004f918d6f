/* support_huge: one object of any kind with one of its lists or maps filled. Which lists there are is found in the
 * kinds' own field tables, so that a new field needs nothing here. */
#ifndef TESTS_SERVER_SUPPORT_HUGE_H
#define TESTS_SERVER_SUPPORT_HUGE_H

#include <jansson.h>

#include "kube/kind.h"

enum { HUGE_DEPTH = 24 };

struct huge_list { /* a list or map that Stowage reads, at its place in an object of the kind */
    enum kind kind;
    uint32_t depth;
    const struct schema *schemas[HUGE_DEPTH]; /* that each field is of */
    const struct field *fields[HUGE_DEPTH];   /* from the object down; the last one is the list */
    char path[512];
};

enum huge_fill {
    HUGE_BOUND, /* OBJECT_LIST_MAX entries, each with all that it can have, within the bytes */
    HUGE_FULL,  /* the same, as many as the bytes take */
    HUGE_THIN,  /* entries of texts and numbers alone, as many as the bytes take */
    HUGE_FILL_COUNT,
};

/* Calls `visit` for each list of the kind: at every depth, each place in the tables once. */
void huge_each(enum kind k, void (*visit)(void *user, const struct huge_list *list), void *user);

/* `base` (JSON; absent members are made) with the list filled. In memory of malloc. */
char *huge_object(const struct huge_list *list, const char *base, enum huge_fill fill, size_t bytes);

#endif
