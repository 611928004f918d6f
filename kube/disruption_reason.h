/* disruption_reason: why nodes are disrupted, as budgets, conditions, Events and metrics name it (spec disruption 0, 5). */
#ifndef KUBE_DISRUPTION_REASON_H
#define KUBE_DISRUPTION_REASON_H

#include <stdbool.h>

#include "base/span.h"

enum disruption_reason { REASON_EMPTY, REASON_UNDERUTILIZED, REASON_DRIFTED, REASON_UNHEALTHY, REASON_COUNT };
struct span disruption_reason_name(enum disruption_reason r);  /* "Empty": of budgets, conditions, Events */
struct span disruption_reason_label(enum disruption_reason r); /* "empty": of metrics and plans */
/* Of the name; false: there is none of it. */
bool disruption_reason_find(struct span name, enum disruption_reason *out);
/* What to write instead. */
#define DISRUPTION_REASONS "Empty, Underutilized, Drifted or Unhealthy"

#endif
