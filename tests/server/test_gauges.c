/* What a running Stowage tells of itself, of a cluster in memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <semaphore.h>
#include <string.h>

#include "server/gauges.h"

struct fixture {
    struct gauges *gauges;
    struct live *live;
    sem_t shown; /* a snapshot is */
    bool has_shown;
};

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void write_nothing(void *user, enum log_level level, struct span line)
{
    (void)user;
    (void)level;
    (void)line;
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

static void on_derived(void *user, enum derive_way way, double seconds)
{
    struct fixture *f = user;
    gauges_derived(f->gauges, way, seconds);
}

static mono_ms on_round(void *user, mono_ms now, wall_ms wall)
{
    (void)wall;
    struct fixture *f = user;
    gauges_read(f->gauges, f->live, now);
    struct shared *held = share_take(live_sources(f->live)->snapshots);
    if (held == NULL)
        return now + MS_SECOND;
    shared_unref(held);
    if (!f->has_shown)
        sem_post(&f->shown);
    f->has_shown = true;
    return now + MS_SECOND;
}

static bool tells(const struct buf *text, const char *line)
{
    return strstr(text->ptr, line) != NULL;
}

static void test_a_running_server(void **state)
{
    (void)state;
    static char *argv[] = {"--embedded"};
    struct arena a;
    struct options o;
    struct err err;
    bool help;
    arena_init(&a, 0);
    assert_true(options_read(&a, OPTION_SERVE, 1, argv, no_environment, &o, &help, &err));
    struct log log = {.sink = write_nothing, .now_ms = no_time};
    struct metrics *m = metrics_new();
    struct fixture f = {.gauges = gauges_new(m)};
    sem_init(&f.shown, 0, 0);
    struct live_config config = {
        .options = &o, .log = &log, .user = &f, .round = on_round, .derived = on_derived};
    if (!live_new(&config, &f.live, &err))
        fail_msg("%s", err.msg);
    live_start(f.live);
    while (sem_wait(&f.shown) != 0)
        ;
    live_stop(f.live);
    gauges_read(f.gauges, f.live, INT64_MAX / 2); /* for what the last round did not see */
    struct buf text = {0};
    metrics_write(m, &text);
    buf_add_char(&text, '\0');
    static const char *const lines[] = {
        "\nstowage_world_seconds_count{how=\"build\"} ", "\nstowage_snapshot_age_seconds ",
        "\nstowage_events_dropped_total 0\n", "\nstowage_ledger_pods ", "\nstowage_ledger_full_total 0\n"};
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (!tells(&text, lines[i]))
            fail_msg("no %s in %s", lines[i], text.ptr);
    live_free(f.live);
    gauges_free(f.gauges);
    metrics_free(m);
    buf_release(&text);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_running_server)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
