/* Values are doubles in atomic words, so that whoever holds a series updates it without a lock; the
 * lock covers finding, adding and removing series. A metric's series stand in one open hash table of
 * pointers, which never move while they live. */
#include "server/metrics.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "reconciler/measure.h"

struct recent { /* of a summary; guarded by the lock */
    double values[METRICS_RECENT]; /* in a ring */
    uint64_t count;                /* of all there ever were */
};

struct metric_series {
    const struct metric_info *info;
    char *labels; /* finished text: a="x",b="y" */
    uint64_t hash;
    struct metric_series *next; /* in the order of their making */
    struct recent *recent;      /* NULL: no summary */
    _Atomic(double) value;      /* of a histogram or summary: the sum */
    _Atomic(uint64_t) counts[]; /* of a histogram: each bucket by itself, then those beyond */
};

struct metric {
    struct metric_info info;
    struct metric_series *first, **end;
    struct metric_series *slots[2 * METRICS_SERIES_MAX]; /* by hash; never more than half full */
    uint32_t count;
    uint64_t dropped;
};

struct metrics {
    pthread_mutex_t lock;
    struct metric *items[METRICS_MAX];
    uint32_t count;
};

static const double DEFAULT_BUCKETS[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                         0.5,   1,      2.5,   5,    10,    30,   60};

/* Of the reconciler's: Karpenter v1.15.0's, with two below them for what it never reaches. */
static const double MEASURE_BUCKETS[] = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
    0.7,   0.8,    0.9,   1,    1.25,  1.5,  1.75, 2,   2.5, 3,    3.5, 4,    4.5, 5,    6,   7,
    8,     9,      10,    15,   20,    25,   30,   40,  50,  60,   120, 150,  300, 450,  600};

uint32_t metrics_register(struct metrics *m, const struct metric_info *info)
{
    assert(m->count < METRICS_MAX);
    struct metric *x = mem_new(sizeof(*x));
    x->info = *info;
    if (info->type == METRIC_HISTOGRAM && info->buckets == NULL) {
        x->info.buckets = DEFAULT_BUCKETS;
        x->info.bucket_count = COUNT_OF(DEFAULT_BUCKETS);
    }
    x->end = &x->first;
    m->items[m->count] = x;
    return m->count++;
}

struct metrics *metrics_new(void)
{
    static const enum metric_type types[] = {
        [MEASURE_COUNTER] = METRIC_COUNTER,
        [MEASURE_GAUGE] = METRIC_GAUGE,
        [MEASURE_HISTOGRAM] = METRIC_HISTOGRAM,
        [MEASURE_SUMMARY] = METRIC_SUMMARY,
    };
    struct metrics *m = mem_new(sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
    for (uint32_t i = 0; i < MEASURE_ID_COUNT; i++) { /* so that a measure's id is its metric's */
        const struct measure_info *from = &measure_infos[i];
        struct metric_info info = {from->name,      from->help, types[from->type], {NULL},
                                   MEASURE_BUCKETS, COUNT_OF(MEASURE_BUCKETS)};
        for (uint32_t l = 0; l < METRICS_LABELS_MAX; l++)
            info.labels[l] = from->labels[l];
        metrics_register(m, &info);
    }
    return m;
}

static void series_free(struct metric_series *s)
{
    free(s->labels);
    free(s->recent);
    free(s);
}

void metrics_free(struct metrics *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 0; i < m->count; i++) {
        for (struct metric_series *s = m->items[i]->first, *next; s != NULL; s = next) {
            next = s->next;
            series_free(s);
        }
        free(m->items[i]);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static bool is_plain(struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n' || text.ptr[i] == '\\' || text.ptr[i] == '"')
            return false;
    return true;
}

static void put_escaped(struct buf *out, struct span text, bool quotes)
{
    if (is_plain(text)) {
        buf_add(out, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\n')
            buf_add(out, SPAN("\\n"));
        else if (c == '\\' || (quotes && c == '"')) {
            buf_add_char(out, '\\');
            buf_add_char(out, c);
        } else
            buf_add_char(out, c);
    }
}

void metrics_escape(struct buf *out, struct span value)
{
    put_escaped(out, value, true);
}

static void put_labels(struct buf *out, const struct metric_info *info, const struct span *labels)
{
    for (uint32_t i = 0; i < METRICS_LABELS_MAX && info->labels[i] != NULL; i++) {
        buf_addf(out, "%s%s=\"", i != 0 ? "," : "", info->labels[i]);
        put_escaped(out, labels[i], true);
        buf_add_char(out, '"');
    }
}

/* Where the series stands or would stand. */
static struct metric_series **slot_of(struct metric *x, struct span text, uint64_t hash)
{
    size_t i = hash % COUNT_OF(x->slots);
    while (x->slots[i] != NULL &&
           (x->slots[i]->hash != hash || !span_eq(span_of(x->slots[i]->labels), text)))
        i = (i + 1) % COUNT_OF(x->slots);
    return &x->slots[i];
}

static struct metric_series *series_new(struct metric *x, struct span text, uint64_t hash)
{
    size_t counts = x->info.type == METRIC_HISTOGRAM ? x->info.bucket_count + 1u : 0;
    struct metric_series *s = mem_new(sizeof(*s) + counts * sizeof(s->counts[0]));
    s->info = &x->info;
    if (x->info.type == METRIC_SUMMARY)
        s->recent = mem_new(sizeof(*s->recent));
    s->labels = mem_new(text.len + 1);
    memcpy(s->labels, text.ptr, text.len);
    s->hash = hash;
    *x->end = s;
    x->end = &s->next;
    x->count++;
    return s;
}

/* With the lock held. */
static struct metric_series *find(struct metric *x, const struct span *labels, bool make)
{
    struct buf text = {0};
    put_labels(&text, &x->info, labels);
    struct span key = buf_span(&text);
    uint64_t hash = span_hash(key);
    struct metric_series **slot = slot_of(x, key, hash);
    if (*slot == NULL && make) {
        if (x->count < METRICS_SERIES_MAX)
            *slot = series_new(x, key, hash);
        else
            x->dropped++;
    }
    buf_release(&text);
    return *slot;
}

struct metric_series *metrics_series(struct metrics *m, uint32_t id, const struct span *labels)
{
    assert(m->items[id]->info.type != METRIC_SUMMARY);
    pthread_mutex_lock(&m->lock);
    struct metric_series *s = find(m->items[id], labels, true);
    pthread_mutex_unlock(&m->lock);
    return s;
}

void metric_add(struct metric_series *s, double v)
{
    if (s == NULL)
        return;
    double old = atomic_load_explicit(&s->value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->value, &old, old + v, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

void metric_set(struct metric_series *s, double v)
{
    if (s != NULL)
        atomic_store_explicit(&s->value, v, memory_order_relaxed);
}

void metric_observe(struct metric_series *s, double v)
{
    if (s == NULL)
        return;
    if (s->recent != NULL) {
        s->recent->values[s->recent->count++ % METRICS_RECENT] = v;
        metric_add(s, v);
        return;
    }
    uint32_t i = 0;
    while (i < s->info->bucket_count && !(v <= s->info->buckets[i]))
        i++;
    atomic_fetch_add_explicit(&s->counts[i], 1, memory_order_relaxed);
    metric_add(s, v);
}

/* These hold the lock throughout, so that the series cannot be removed meanwhile. */
static void update(struct metrics *m, uint32_t id, const struct span *labels, double v,
                   void (*how)(struct metric_series *, double))
{
    pthread_mutex_lock(&m->lock);
    how(find(m->items[id], labels, true), v);
    pthread_mutex_unlock(&m->lock);
}

void metrics_add(struct metrics *m, uint32_t id, const struct span *labels, double v)
{
    update(m, id, labels, v, metric_add);
}

void metrics_set(struct metrics *m, uint32_t id, const struct span *labels, double v)
{
    update(m, id, labels, v, metric_set);
}

void metrics_observe(struct metrics *m, uint32_t id, const struct span *labels, double v)
{
    update(m, id, labels, v, metric_observe);
}

/* Removals are rare (a pool or node is gone): the table is filled anew. */
static void forget(struct metric *x, struct metric_series *gone)
{
    memset(x->slots, 0, sizeof(x->slots));
    x->end = &x->first;
    for (struct metric_series *s = x->first, *next; s != NULL; s = next) {
        next = s->next;
        if (s == gone)
            continue;
        *slot_of(x, span_of(s->labels), s->hash) = s;
        *x->end = s;
        x->end = &s->next;
    }
    *x->end = NULL;
    x->count--;
    series_free(gone);
}

void metrics_remove(struct metrics *m, uint32_t id, const struct span *labels)
{
    pthread_mutex_lock(&m->lock);
    struct metric_series *s = find(m->items[id], labels, false);
    if (s != NULL)
        forget(m->items[id], s);
    pthread_mutex_unlock(&m->lock);
}

void metrics_measure(struct metrics *m, const struct measure *measure)
{
    uint32_t id = measure->id;
    if (measure->gone)
        metrics_remove(m, id, measure->labels);
    else if (measure_infos[id].type == MEASURE_COUNTER)
        metrics_add(m, id, measure->labels, measure->value);
    else if (measure_infos[id].type == MEASURE_GAUGE)
        metrics_set(m, id, measure->labels, measure->value);
    else
        metrics_observe(m, id, measure->labels, measure->value);
}

static void put_number(struct buf *out, double v)
{
    if (isinf(v))
        buf_add(out, v > 0 ? SPAN("+Inf") : SPAN("-Inf"));
    else if (isnan(v))
        buf_add(out, SPAN("NaN"));
    else if (v == floor(v) && fabs(v) < 1e15)
        buf_addf(out, "%.0f", v);
    else
        buf_addf(out, "%.15g", v);
}

static void put_plain(struct buf *out, const struct metric_series *s)
{
    buf_add(out, span_of(s->info->name));
    if (s->labels[0] != '\0')
        buf_addf(out, "{%s}", s->labels);
    buf_add_char(out, ' ');
    put_number(out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_add_char(out, '\n');
}

static void put_part(struct buf *out, const struct metric_series *s, const char *part)
{
    buf_addf(out, "%s_%s", s->info->name, part);
    if (s->labels[0] != '\0')
        buf_addf(out, "{%s}", s->labels);
    buf_add_char(out, ' ');
}

static void put_histogram(struct buf *out, const struct metric_series *s)
{
    const struct metric_info *info = s->info;
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= info->bucket_count; i++) {
        sum += atomic_load_explicit(&s->counts[i], memory_order_relaxed);
        buf_addf(out, "%s_bucket{%s%sle=\"", info->name, s->labels, s->labels[0] ? "," : "");
        if (i < info->bucket_count)
            buf_addf(out, "%g", info->buckets[i]);
        else
            buf_add(out, SPAN("+Inf"));
        buf_addf(out, "\"} %llu\n", (unsigned long long)sum);
    }
    put_part(out, s, "sum");
    put_number(out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_add_char(out, '\n');
    put_part(out, s, "count");
    buf_addf(out, "%llu\n", (unsigned long long)sum);
}

static int value_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_summary(struct buf *out, const struct metric_series *s)
{
    static const double quantiles[] = {0, 0.5, 0.9, 0.99, 1};
    struct recent sorted = *s->recent;
    size_t kept = sorted.count < METRICS_RECENT ? (size_t)sorted.count : METRICS_RECENT;
    qsort(sorted.values, kept, sizeof(sorted.values[0]), value_order);
    for (size_t i = 0; i < COUNT_OF(quantiles) && kept != 0; i++) {
        size_t rank = (size_t)ceil(quantiles[i] * (double)kept);
        buf_addf(out, "%s{%s%squantile=\"%g\"} ", s->info->name, s->labels, s->labels[0] ? "," : "",
                 quantiles[i]);
        put_number(out, sorted.values[rank > 0 ? rank - 1 : 0]);
        buf_add_char(out, '\n');
    }
    put_part(out, s, "sum");
    put_number(out, atomic_load_explicit(&s->value, memory_order_relaxed));
    buf_add_char(out, '\n');
    put_part(out, s, "count");
    buf_addf(out, "%llu\n", (unsigned long long)sorted.count);
}

static void put_metric(struct buf *out, const struct metric *x)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "summary"};
    if (x->first == NULL)
        return;
    buf_addf(out, "# HELP %s ", x->info.name);
    put_escaped(out, span_of(x->info.help), false);
    buf_addf(out, "\n# TYPE %s %s\n", x->info.name, types[x->info.type]);
    for (const struct metric_series *s = x->first; s != NULL; s = s->next)
        if (x->info.type == METRIC_HISTOGRAM)
            put_histogram(out, s);
        else if (x->info.type == METRIC_SUMMARY)
            put_summary(out, s);
        else
            put_plain(out, s);
}

void metrics_write(struct metrics *m, struct buf *out)
{
    pthread_mutex_lock(&m->lock);
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        put_metric(out, m->items[i]);
        dropped += m->items[i]->dropped;
    }
    pthread_mutex_unlock(&m->lock);
    buf_addf(out,
             "# HELP stowage_metrics_dropped_total Updates without a series, because their metric "
             "was full\n# TYPE stowage_metrics_dropped_total counter\n"
             "stowage_metrics_dropped_total %llu\n",
             (unsigned long long)dropped);
}
