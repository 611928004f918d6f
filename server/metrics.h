/* metrics: counters, gauges, histograms and summaries with labels, as Prometheus reads them.
 *
 * A metric is registered once, at start. A series is one set of label values; a metric has at most
 * METRICS_SERIES_MAX, and what would be one more is dropped and counted in
 * stowage_metrics_dropped_total, so that names from outside cannot fill our memory. Callers on hot
 * paths keep the series: updating it takes no lock. Everything else takes one short one. All
 * functions but metrics_register may be called from any thread. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "base/buf.h"

struct measure;

enum { METRICS_LABELS_MAX = 5, METRICS_SERIES_MAX = 2000, METRICS_MAX = 128,
       METRICS_RECENT = 500 };
/* A summary has the quantiles 0, 0.5, 0.9, 0.99 and 1 of the last METRICS_RECENT values, however old: there is no
 * clock here. Its series cannot be kept. */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_SUMMARY };

struct metric_info { /* static storage */
    const char *name, *help;
    enum metric_type type;
    const char *labels[METRICS_LABELS_MAX]; /* NULL: no more */
    const double *buckets; /* upper bounds, ascending, of a histogram; NULL: 1 ms … 60 s */
    uint32_t bucket_count;
};

struct metrics;
struct metric_series;

struct metrics *metrics_new(void); /* what reconciler/measure.h lists is registered */
void metrics_free(struct metrics *m);
uint32_t metrics_register(struct metrics *m, const struct metric_info *info); /* its id */

/* Label values in the order of the info; absent is "". NULL: the metric is full. Series that are
 * kept must not be removed. */
struct metric_series *metrics_series(struct metrics *m, uint32_t id, const struct span *labels);
void metric_add(struct metric_series *s, double v);     /* counter or gauge; NULL does nothing */
void metric_set(struct metric_series *s, double v);     /* gauge, or a counter that another keeps */
void metric_observe(struct metric_series *s, double v); /* histogram, summary */

/* The same in one step. Labels: as many texts as the metric has. */
void metrics_add(struct metrics *m, uint32_t id, const struct span *labels, double v);
void metrics_set(struct metrics *m, uint32_t id, const struct span *labels, double v);
void metrics_observe(struct metrics *m, uint32_t id, const struct span *labels, double v);
void metrics_remove(struct metrics *m, uint32_t id, const struct span *labels);

/* reconciler_listener.measured. */
void metrics_measure(struct metrics *m, const struct measure *measure);

/* Text format 0.0.4. */
void metrics_write(struct metrics *m, struct buf *out);
void metrics_escape(struct buf *out, struct span value); /* as it stands between a label's quotes */

#endif
