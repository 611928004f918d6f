/* disruption_mode: whether what would be done with nodes of a NodePool is done, by its annotation stowage.dev/mode:
 *
 *     MODE | REASON=MODE, ...
 *
 * "act, Underutilized=recommend, Drifted=observe": between commas a mode for all reasons (absent: act), and modes for
 * some, which go before it wherever they stand. */
#ifndef KUBE_DISRUPTION_MODE_H
#define KUBE_DISRUPTION_MODE_H

#include "kube/disruption_reason.h"
#include "kube/node.h"

enum disruption_mode {
    MODE_ACT,
    MODE_RECOMMEND, /* it is said what would be done, and not done */
    MODE_OBSERVE,   /* nothing is looked for */
};

/* While the annotation cannot be read, MODE_RECOMMEND: it was meant to hold something back, and what is only said harms
 * nobody. */
enum disruption_mode disruption_mode_of(const struct node_pool *p, enum disruption_reason reason);
/* Why it cannot be read. True where there is no annotation. */
bool disruption_mode_valid(const struct node_pool *p, struct err *err);

#endif
