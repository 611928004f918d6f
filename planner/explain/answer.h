/* answer: what a plan says about one pod, a workload, a node or a NodePool: one sentence, then the chain of rules.
 *
 * An answer about a pod takes the plan's search back to the moment before the pod had its place, so that
 * what refused it then can be told: a plan answers about one pod only. Everything lives in the plan. */
#ifndef PLANNER_EXPLAIN_ANSWER_H
#define PLANNER_EXPLAIN_ANSWER_H

#include "base/json.h"
#include "planner/plan/plan.h"

enum { ANSWER_LISTED = 8 }; /* names of a list; then "and N more" */

struct answer_line { /* "pool general", "it asks for …" */
    struct span head, text;
};

struct explanation {
    bool has_place;       /* of a pod: it stands or is planned; of others: nothing is wanting */
    struct span sentence; /* begins with the name */
    const struct answer_line *lines;
    uint32_t line_count;
};

/* Any pod that the world was built from. */
void answer_pod(struct plan *p, const struct pod *pod, struct explanation *out);
struct answer_member { /* one of several pods */
    const struct pod *pod;
    struct span place; /* that is kept for it: "node a"; absent: as the plan has it */
};
/* Pods that belong together, of whom `who` speaks: "Deployment shop/web". The plan answers about no other afterwards,
 * as with answer_pod: the chain of rules is that of the first who has no place, else of the first who is planned. */
void answer_workload(struct plan *p, struct span who, const struct answer_member *members, uint32_t count,
                     struct explanation *out);
/* `keeps`: why it is not removed, or, of one that leaves, what is still waited for, as the reconciler would
 * say; absent: nothing keeps it. `without`: the same plan but for plan_options.removed, this node; NULL:
 * what removing it would save is not told. */
void answer_node(struct plan *p, uint32_t row, struct span keeps, const struct plan *without,
                 struct explanation *out);
/* Whether to ask for `without`: the node is ours, has a price and is not leaving. */
bool answer_may_remove(const struct plan *p, uint32_t row);
void answer_pool(struct plan *p, const struct node_pool *pool, struct explanation *out);

/* No line wider than `width` (0: 80) unless one word is. */
void explanation_text(struct buf *out, const struct explanation *e, uint32_t width);
/* {"hasPlace", "sentence", "lines": [{"about", "text"}]} */
void explanation_json(struct json *j, const struct explanation *e);

#endif
