#include "server/wake.h"

#include <time.h>

void wake_init(struct wake *w)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    w->is_set = false;
}

void wake_release(struct wake *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

void wake_up(struct wake *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_set = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void wake_wait(struct wake *w, mono_ms until)
{
    struct timespec t = {.tv_sec = until / MS_SECOND, .tv_nsec = until % MS_SECOND * 1000000};
    pthread_mutex_lock(&w->lock);
    while (!w->is_set && pthread_cond_timedwait(&w->changed, &w->lock, &t) == 0)
        ;
    w->is_set = false;
    pthread_mutex_unlock(&w->lock);
}
