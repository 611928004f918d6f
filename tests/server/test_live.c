/* What keeps a server from starting, and that one which serves a cluster in memory may take its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/clock.h"
#include "server/live.h"

static _Atomic(int64_t) stepped; /* seconds that the wall clock was set forward */

/* Stands before libc's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    long failed = syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec += atomic_load(&stepped);
    return (int)failed;
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static int64_t no_time(void *user)
{
    (void)user;
    return 0;
}

static void keep(void *user, enum log_level level, struct span line)
{
    (void)level;
    buf_addf(user, "%.*s\n", SPAN_ARG(line));
}

#define POLICY(more) "{\"conditionType\":\"BadNode\",\"conditionStatus\":\"True\",\"action\":\"ReplaceNode\"" more "}"

static const struct {
    const char *label, *policies; /* NULL: no catalogue file */
    const char *gates, *more;
    bool starts;
    const char *says[2];
} rows[] = {
    {"250: two fallbacks, and a priority too high", "[" POLICY("") "," POLICY(",\"priority\":101") "]", "NodeRepair=true", NULL,
     false, {"conditionType: \"BadNode\"", "priority: is not from 0 to 100"}},
    {"250: no fallback", "[" POLICY(",\"reasonRegex\":\".*\"") "]", "NodeRepair=true", NULL, false,
     {"none has an empty reasonRegex", ""}},
    {"right", "[" POLICY("") "]", "NodeRepair=true", NULL, true, {"", ""}},
    {"kwok's own", NULL, "NodeRepair=true", NULL, true, {"", ""}},
    {"nobody asks", "[" POLICY(",\"priority\":101") "]", "NodeRepair=false", NULL, true, {"", ""}},
    {"nor the legacy way", "[" POLICY(",\"priority\":101") "]", "NodeRepair=true", "--legacy-node-repair", true, {"", ""}},
};

static bool starts(const char *path, size_t row, struct buf *said)
{
    char file[128], gates[128];
    char *argv[] = {"--embedded", gates, NULL, NULL, NULL};
    struct arena a;
    struct options o;
    struct err err;
    struct live *live = NULL;
    bool help;
    int n = 2;
    struct log log = {.sink = keep, .user = said, .now_ms = no_time};
    arena_init(&a, 0);
    snprintf(gates, sizeof(gates), "--feature-gates=%s", rows[row].gates);
    snprintf(file, sizeof(file), "--instance-types=%s", path);
    if (rows[row].policies != NULL)
        argv[n++] = file;
    if (rows[row].more != NULL)
        argv[n++] = (char *)(uintptr_t)rows[row].more;
    if (!options_read(&a, OPTION_SERVE, n, argv, no_environment, &o, &help, &err))
        fail_msg("%s", err.msg);
    bool fine = live_new(&(struct live_config){.options = &o, .log = &log}, &live, &err);
    if (!fine)
        buf_addf(said, "%s\n", err.msg);
    else
        live_free(live);
    arena_release(&a);
    return fine;
}

static void policies_of_repairs_have_to_be_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[] = "/tmp/stowage-types-XXXXXX";
        struct buf said = {0};
        int fd = mkstemp(path);
        FILE *f = fdopen(fd, "w");
        fprintf(f, "{\"instanceTypes\":[],\"repairPolicies\":%s}", rows[i].policies != NULL ? rows[i].policies : "[]");
        fclose(f);
        bool is = starts(path, i, &said);
        unlink(path);
        if (is != rows[i].starts)
            fail_msg("%s: %s: %.*s", rows[i].label, is ? "starts" : "does not start", SPAN_ARG(buf_span(&said)));
        for (int k = 0; k < 2; k++)
            if (!span_contains(buf_span(&said), span_of(rows[i].says[k])))
                fail_msg("%s: nothing says \"%s\": %.*s", rows[i].label, rows[i].says[k], SPAN_ARG(buf_span(&said)));
        buf_release(&said);
    }
}

/* It speaks on the API thread, for as long as thousands of pods take it, and nobody outside waits for that. */
static void a_cluster_in_memory_may_take_its_time(void **state)
{
    char *argv[] = {"--embedded"};
    struct arena a;
    struct options o;
    struct err err;
    struct live *live;
    struct buf said = {0};
    bool help;
    struct log log = {.sink = keep, .user = &said, .now_ms = no_time};
    (void)state;
    arena_init(&a, 0);
    assert_true(options_read(&a, OPTION_SERVE, 1, argv, no_environment, &o, &help, &err));
    assert_true(live_new(&(struct live_config){.options = &o, .log = &log}, &live, &err));
    live_start(live);
    assert_true(live_pulse(live, LIVE_API)->computes);
    live_stop(live);
    live_free(live);
    buf_release(&said);
    arena_release(&a);
}

static void on_ready(void *user, const struct decision *d)
{
    if (d->kind == DECISION_READY)
        sem_post(user);
}

/* It goes on while the wall clock is behind what it has shown. */
static void a_cluster_in_memory_outlives_a_step_back(void **state)
{
    enum { PATIENCE_S = 60 };
    char *argv[] = {"--embedded"};
    struct arena a;
    struct options o;
    struct err err;
    struct live *live;
    struct buf said = {0};
    sem_t ready;
    bool help;
    struct log log = {.sink = keep, .user = &said, .now_ms = no_time};
    (void)state;
    sem_init(&ready, 0, 0);
    arena_init(&a, 0);
    assert_true(options_read(&a, OPTION_SERVE, 1, argv, no_environment, &o, &help, &err));
    assert_true(live_new(&(struct live_config){.options = &o, .log = &log, .user = &ready, .decided = on_ready}, &live, &err));
    atomic_store(&stepped, -3600);
    live_start(live);
    struct timespec until = {.tv_sec = clock_mono() / MS_SECOND + PATIENCE_S};
    bool came = sem_clockwait(&ready, CLOCK_MONOTONIC, &until) == 0;
    live_stop(live);
    live_free(live);
    buf_release(&said);
    arena_release(&a);
    sem_destroy(&ready);
    assert_true(came);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies_of_repairs_have_to_be_right),
                                       cmocka_unit_test(a_cluster_in_memory_may_take_its_time),
                                       cmocka_unit_test(a_cluster_in_memory_outlives_a_step_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
