#include "server/pulse.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local struct pulse *own;

void pulse_begin(struct pulse *p, const char *thread, mono_ms now)
{
    pthread_setname_np(pthread_self(), thread);
    pulse_beat(p, now);
    atomic_store(&p->thread, gettid());
    own = p;
}

void pulse_step(mono_ms now)
{
    if (own != NULL)
        atomic_store_explicit(&own->step, now, memory_order_relaxed);
}

struct pulse_account pulse_account(const struct pulse *p)
{
    enum { NS_PER_MS = 1000000 };
    char path[64], text[96], *second;
    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", atomic_load(&p->thread));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return (struct pulse_account){0};
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    span_ms ran = strtoll(text, &second, 10) / NS_PER_MS;
    return (struct pulse_account){ran, strtoll(second, NULL, 10) / NS_PER_MS};
}
