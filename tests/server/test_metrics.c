#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "reconciler/measure.h"
#include "server/metrics.h"

static const double buckets[] = {0.1, 1, 10};
static const struct metric_info counter = {
    .name = "c_total", .help = "A \\ and\na break", .type = METRIC_COUNTER, .labels = {"a", "b"}};
static const struct metric_info gauge = {.name = "g", .help = "G", .type = METRIC_GAUGE};
static const struct metric_info histogram = {.name = "h_seconds",
                                             .help = "H",
                                             .type = METRIC_HISTOGRAM,
                                             .labels = {"verb"},
                                             .buckets = buckets,
                                             .bucket_count = 3};

static void says(struct metrics *m, const char *text, bool want)
{
    struct buf out = {0};
    metrics_write(m, &out);
    if ((strstr(out.ptr, text) != NULL) != want)
        fail_msg("%s \"%s\" in:\n%s", want ? "no" : "still", text, out.ptr);
    buf_release(&out);
}

static void test_text(void **state)
{
    (void)state;
    struct metrics *m = metrics_new();
    uint32_t c = metrics_register(m, &counter), g = metrics_register(m, &gauge);
    uint32_t h = metrics_register(m, &histogram);
    struct span labels[] = {SPAN("x\"y\\\n"), {NULL, 0}};
    struct span verb = SPAN("filter");
    says(m, "c_total", false); /* no series, no mention */
    metrics_add(m, c, labels, 1);
    metrics_add(m, c, labels, 2);
    metrics_set(m, g, NULL, -0.25);
    static const double seen[] = {0.1, 0.5, 10, 11, 1e9};
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        metrics_observe(m, h, &verb, seen[i]);
    says(m, "# HELP c_total A \\\\ and\\na break\n# TYPE c_total counter\n"
            "c_total{a=\"x\\\"y\\\\\\n\",b=\"\"} 3\n", true);
    says(m, "# TYPE g gauge\ng -0.25\n", true);
    says(m, "h_seconds_bucket{verb=\"filter\",le=\"0.1\"} 1\n"
            "h_seconds_bucket{verb=\"filter\",le=\"1\"} 2\n"
            "h_seconds_bucket{verb=\"filter\",le=\"10\"} 3\n"
            "h_seconds_bucket{verb=\"filter\",le=\"+Inf\"} 5\n"
            "h_seconds_sum{verb=\"filter\"} 1000000021.6\n"
            "h_seconds_count{verb=\"filter\"} 5\n", true);
    metrics_free(m);
}

/* As client libraries write one: quantiles first, of what was seen of late. */
static void test_summary(void **state)
{
    (void)state;
    static const struct metric_info summary = {
        .name = "s_seconds", .help = "S", .type = METRIC_SUMMARY, .labels = {"pool"}};
    struct metrics *m = metrics_new();
    uint32_t id = metrics_register(m, &summary);
    struct span pool = SPAN("p");
    for (unsigned i = 100; i > 0; i--)
        metrics_observe(m, id, &pool, i);
    says(m, "# TYPE s_seconds summary\n"
            "s_seconds{pool=\"p\",quantile=\"0\"} 1\n"
            "s_seconds{pool=\"p\",quantile=\"0.5\"} 50\n"
            "s_seconds{pool=\"p\",quantile=\"0.9\"} 90\n"
            "s_seconds{pool=\"p\",quantile=\"0.99\"} 99\n"
            "s_seconds{pool=\"p\",quantile=\"1\"} 100\n"
            "s_seconds_sum{pool=\"p\"} 5050\n"
            "s_seconds_count{pool=\"p\"} 100\n", true);
    for (unsigned i = 0; i < METRICS_RECENT; i++)
        metrics_observe(m, id, &pool, 7);
    says(m, "s_seconds{pool=\"p\",quantile=\"1\"} 7\n", true);
    says(m, "s_seconds_count{pool=\"p\"} 600\n", true);
    struct measure ready = {.id = MEASURE_PODS_STARTUP, .value = 2.5};
    metrics_measure(m, &ready);
    says(m, "karpenter_pods_startup_duration_seconds{quantile=\"0.9\"} 2.5\n", true);
    metrics_remove(m, id, &pool);
    says(m, "s_seconds{", false);
    metrics_free(m);
}

static void test_remove(void **state)
{
    (void)state;
    struct metrics *m = metrics_new();
    uint32_t c = metrics_register(m, &counter);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        struct span labels[] = {span_of(name), SPAN("z")};
        metrics_add(m, c, labels, i);
    }
    struct span first[] = {SPAN("n0"), SPAN("z")}, last[] = {SPAN("n99"), SPAN("z")};
    metrics_remove(m, c, first);
    metrics_remove(m, c, last);
    metrics_remove(m, c, last);
    says(m, "a=\"n0\"", false);
    says(m, "a=\"n99\"", false);
    says(m, "c_total{a=\"n98\",b=\"z\"} 98\n", true);
    metrics_add(m, c, last, 5);
    says(m, "c_total{a=\"n99\",b=\"z\"} 5\n", true);
    metrics_free(m);
}

static void test_bounded(void **state)
{
    (void)state;
    struct metrics *m = metrics_new();
    uint32_t c = metrics_register(m, &counter);
    for (int i = 0; i < METRICS_SERIES_MAX + 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        struct span labels[] = {span_of(name), {NULL, 0}};
        metrics_add(m, c, labels, 1);
    }
    says(m, "stowage_metrics_dropped_total 3\n", true);
    metrics_free(m);
}

static void test_measures(void **state)
{
    (void)state;
    struct metrics *m = metrics_new();
    struct measure made = {.id = MEASURE_NODES_CREATED, .labels = {SPAN("general")}, .value = 2};
    struct measure bound = {.id = MEASURE_LOWER_BOUND, .value = 1.25};
    metrics_measure(m, &made);
    metrics_measure(m, &bound);
    says(m, "karpenter_nodes_created_total{nodepool=\"general\"} 2\n", true);
    says(m, "stowage_plan_lower_bound_per_hour 1.25\n", true);
    bound.gone = true;
    metrics_measure(m, &bound);
    says(m, "stowage_plan_lower_bound_per_hour 1.25", false);
    struct measure waited = {.id = MEASURE_PODS_BOUND, .labels = {SPAN("false")}, .value = 500};
    metrics_measure(m, &waited); /* pods may wait for minutes */
    says(m, "karpenter_pods_bound_duration_seconds_bucket{dynamic_resources=\"false\",le=\"450\"} 0\n"
            "karpenter_pods_bound_duration_seconds_bucket{dynamic_resources=\"false\",le=\"600\"} 1\n", true);
    struct measure error = {.id = MEASURE_CLOUD_ERRORS,
                            .labels = {SPAN("c"), SPAN("m"), SPAN("p"), SPAN("e"), SPAN("n")},
                            .value = 1};
    metrics_measure(m, &error);
    says(m, "karpenter_cloudprovider_errors_total{controller=\"c\",method=\"m\",provider=\"p\","
            "error=\"e\",nodepool=\"n\"} 1\n", true);
    metrics_free(m);
}

struct crowd {
    struct metrics *m;
    struct metric_series *kept;
    uint32_t id;
};

enum { THREADS = 4, ROUNDS = 5000 };

static void *add_many(void *arg)
{
    struct crowd *crowd = arg;
    struct span labels[] = {SPAN("x"), SPAN("y")};
    for (int i = 0; i < ROUNDS; i++) {
        metric_add(crowd->kept, 1);
        metrics_add(crowd->m, crowd->id, labels, 1);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct metrics *m = metrics_new();
    struct span kept[] = {SPAN("kept"), SPAN("")};
    struct crowd crowd = {.m = m, .id = metrics_register(m, &counter)};
    crowd.kept = metrics_series(m, crowd.id, kept);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_many, &crowd);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    says(m, "c_total{a=\"kept\",b=\"\"} 20000\n", true);
    says(m, "c_total{a=\"x\",b=\"y\"} 20000\n", true);
    metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),    cmocka_unit_test(test_summary),
        cmocka_unit_test(test_remove),
        cmocka_unit_test(test_bounded), cmocka_unit_test(test_measures),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
