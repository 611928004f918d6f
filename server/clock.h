/* clock: the two times of the running process. Read in the shell, handed down as values. */
#ifndef SERVER_CLOCK_H
#define SERVER_CLOCK_H

#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "base/units.h"

static inline int64_t clock_read(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * MS_SECOND + t.tv_nsec / 1000000;
}

static inline mono_ms clock_mono(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

static inline wall_ms clock_wall(void)
{
    return clock_read(CLOCK_REALTIME);
}

/* CPU time of the calling thread. */
static inline uint64_t clock_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until then, whatever happens; for moments. */
static inline void clock_sleep(mono_ms until)
{
    struct timespec t = {.tv_sec = until / MS_SECOND, .tv_nsec = until % MS_SECOND * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Whether *until, a mono_ms, is over: what a search that is to end in time asks. */
static inline bool clock_is_past(void *until)
{
    return clock_mono() >= *(const mono_ms *)until;
}

static inline mono_ms earlier(mono_ms a, mono_ms b)
{
    return a < b ? a : b;
}

#endif
