/* served: which metrics the program can serve, by its sources: also those that are told only when something happens. */
#ifndef TESTS_SERVER_SUPPORT_SERVED_H
#define TESTS_SERVER_SUPPORT_SERVED_H

#include "base/arena.h"
#include "support_promql.h"

struct served {
    struct arena a;
    struct span text; /* of the sources that register metrics; ends with a zero byte */
};

void served_read(struct served *s);
void served_release(struct served *s);

/* Whether there is a metric of this name, or a histogram or summary with a series of this name, and whether it has the
 * label; absent: whether there is the metric. */
bool served_has(const struct served *s, struct span name, struct span label);
/* Whether the word stands somewhere in quotes, as values of labels do. */
bool served_says(const struct served *s, struct span word);

/* The first thing that an expression asks for and the program cannot serve: "no such label: x"; "": none. */
void served_judge(const struct served *s, const struct promql *x, char out[256]);

#endif
