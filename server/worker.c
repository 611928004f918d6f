#include "server/worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/arena.h"

enum { NICE = 10 };

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *arg); /* NULL: none is asked for or under way */
    void *arg;
    bool stop;
};

static void *work(void *user)
{
    struct worker *w = user;
    (void)setpriority(PRIO_PROCESS, 0, NICE); /* of this thread; where that is refused, it has as much as others */
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (w->job == NULL) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->job(w->arg);
        pthread_mutex_lock(&w->lock);
        w->job = NULL;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct worker *worker_new(void)
{
    struct worker *w = mem_new(sizeof(*w));
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    pthread_create(&w->thread, NULL, work, w);
    return w;
}

void worker_free(struct worker *w)
{
    if (w == NULL)
        return;
    worker_join(w);
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void worker_run(void *worker, void (*job)(void *arg), void *arg)
{
    struct worker *w = worker;
    pthread_mutex_lock(&w->lock);
    while (w->job != NULL) /* it has said that it is done, and is about to return */
        pthread_cond_wait(&w->changed, &w->lock);
    w->job = job;
    w->arg = arg;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void worker_join(void *worker)
{
    struct worker *w = worker;
    pthread_mutex_lock(&w->lock);
    while (w->job != NULL)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}
