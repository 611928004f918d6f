#include "server/page/history.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"

struct history {
    pthread_mutex_t lock;
    struct history_point ring[HISTORY_POINTS];
    uint64_t oldest, newest; /* sequence numbers of what is kept: oldest < n <= newest */
};

struct history *history_new(void)
{
    struct history *h = mem_new(sizeof(*h));
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void history_free(struct history *h)
{
    if (h == NULL)
        return;
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static struct history_point *point(struct history *h, uint64_t number)
{
    return &h->ring[number % HISTORY_POINTS];
}

bool history_is_due(struct history *h, wall_ms now)
{
    pthread_mutex_lock(&h->lock);
    bool due = h->newest == h->oldest || point(h, h->newest)->at / HISTORY_STEP_MS != now / HISTORY_STEP_MS;
    pthread_mutex_unlock(&h->lock);
    return due;
}

void history_add(struct history *h, const struct history_point *p)
{
    pthread_mutex_lock(&h->lock);
    if (h->newest != h->oldest && point(h, h->newest)->at >= p->at)
        h->oldest = h->newest; /* numbers go on, so that readers see what is new */
    *point(h, ++h->newest) = *p;
    if (h->newest - h->oldest > HISTORY_POINTS)
        h->oldest++;
    pthread_mutex_unlock(&h->lock);
}

uint64_t history_newest(struct history *h)
{
    pthread_mutex_lock(&h->lock);
    uint64_t newest = h->newest;
    pthread_mutex_unlock(&h->lock);
    return newest;
}

static void put_point(struct json *j, const struct history_point *p)
{
    json_array_begin(j);
    json_int(j, p->at);
    json_double(j, p->price);
    json_int(j, p->cpu_asked);
    json_int(j, p->cpu_there);
    json_int(j, p->memory_asked);
    json_int(j, p->memory_there);
    json_int(j, p->nodes);
    json_int(j, p->running);
    json_int(j, p->waiting);
    json_array_end(j);
}

void history_json(struct history *h, uint64_t seen, struct buf *out)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_int(&j, "stepMillis", HISTORY_STEP_MS);
    json_put_array(&j, "points");
    pthread_mutex_lock(&h->lock);
    for (uint64_t n = (seen > h->oldest ? seen : h->oldest) + 1; n <= h->newest; n++)
        put_point(&j, point(h, n));
    pthread_mutex_unlock(&h->lock);
    json_array_end(&j);
    json_object_end(&j);
}
