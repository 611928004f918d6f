/* scenario: the entries of the scenario files, one for each row. */
#ifndef TESTS_SCENARIOS_SCENARIO_H
#define TESTS_SCENARIOS_SCENARIO_H

#include "json_case.h"

struct scenario {
    const char *file; /* without its folder */
    const char *id;   /* "119", or of a table's rows "119a", "119b"… */
    const char *title;
    const char *cheapest; /* why the cheapest search may do something else; NULL */
    const char *differs; /* where Karpenter itself does something else: a heading of docs/differences.md; NULL */
    const json_t *body;  /* the row laid over the entry: objects add up, all else is replaced */
};

struct scenarios {
    struct scenario *items;
    size_t count, capacity;
};

/* Every *.yaml of the folder by name, except those whose name starts with "wrong"; those alone when
 * `wrong`. Lives in json_arena(). */
void scenarios_read(struct scenarios *out, const char *folder, bool wrong);

#endif
