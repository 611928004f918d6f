/* lines: an explanation while it is being written. */
#ifndef PLANNER_EXPLAIN_LINES_H
#define PLANNER_EXPLAIN_LINES_H

#include "planner/explain/answer.h"
#include "planner/explain/words.h"

struct lines {
    struct plan *p;
    struct answer_line *items;
    uint32_t count, capacity;
};

void lines_add(struct lines *l, struct span head, struct span text);
void lines_addf(struct lines *l, const char *head, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "web/api-0, web/api-1 and 7 more" */
struct span lines_pods(struct plan *p, const struct pod *const *pods, uint32_t count);
/* "a new node of pool general, c-4x or one of 2 more types, from $0.1000/h" or, where `claim` is NULL, "node a, which
 * exists". */
struct span lines_target(struct plan *p, const struct plan_claim *claim, uint32_t row);
/* "1.5 CPUs, 2Gi of memory": of a request vector, counts of pods left out. */
struct span lines_requests(struct plan *p, const amount *requests);
void lines_end(struct lines *l, bool has_place, struct span sentence, struct explanation *out);

#endif
