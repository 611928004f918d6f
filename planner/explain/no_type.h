/* no_type: why a pool has nothing that it may buy, whoever asks. */
#ifndef PLANNER_EXPLAIN_NO_TYPE_H
#define PLANNER_EXPLAIN_NO_TYPE_H

#include "planner/explain/words.h"

/* "no type meets its requirement kubernetes.io/arch In [x86_64] (did you mean amd64?)". The option has no
 * types. */
void no_type(struct plan *p, const struct option *o, struct span *sentence_out, struct span *fix_out);

#endif
