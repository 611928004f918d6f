/* meant: what may have been meant by a label or a value that nobody knows. */
#ifndef PLANNER_EXPLAIN_MEANT_H
#define PLANNER_EXPLAIN_MEANT_H

#include "planner/explain/words.h"

/* " (did you mean topology.kubernetes.io/zone?)" of "zone": when a well-known label is a letter or two away
 * or ends in the same name; else empty. */
struct span meant_key(struct plan *p, sym key);
/* " (did you mean amd64?)" of x86_64, " (there are a, b and c)" of a zone d, when neither `has`, which may be
 * NULL, nor any type has a value that is asked for; else empty. */
struct span meant_value(struct plan *p, const struct requirement *asked, const struct requirement *has);

/* " (it tolerates gpu=ful:NoSchedule)": a toleration that only a slip, or its effect, keeps from the taint; else
 * empty. */
struct span meant_toleration(struct plan *p, struct tolerations all, const struct taint *t);

#endif
