/* promql: which series, labels and values an expression asks for, as Prometheus would ask a server's /metrics for them.
 * Knows as much of the language as the alerts and dashboards that ship are written in: calls, matchers, by (…), on (…). */
#ifndef TESTS_SERVER_SUPPORT_PROMQL_H
#define TESTS_SERVER_SUPPORT_PROMQL_H

#include "base/span.h"

enum { PROMQL_METRICS_MAX = 8, PROMQL_MATCHES_MAX = 16 };

struct promql_match {
    uint32_t metric; /* its place in `metrics` */
    struct span label, value; /* value: one of label=~"a|b" */
};

struct promql { /* spans of the text */
    struct span metrics[PROMQL_METRICS_MAX];
    struct promql_match matches[PROMQL_MATCHES_MAX];
    struct span grouped[PROMQL_METRICS_MAX]; /* labels of by (…) and on (…): those of any of the metrics */
    uint32_t metric_count, match_count, grouped_count;
};

void promql_read(struct span text, struct promql *out);

/* A word, a quoted text, or one sign of what is left, which is cut; absent at the end. */
struct span promql_token(struct span *rest);

#endif
