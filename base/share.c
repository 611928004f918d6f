#include "base/share.h"

#include <stddef.h>

void share_init(struct share *s, void (*destroy)(struct shared *))
{
    atomic_init(&s->current, NULL);
    atomic_init(&s->retired, NULL);
    pthread_mutex_init(&s->lock, NULL);
    s->destroy = destroy;
}

void share_release(struct share *s)
{
    share_publish(s, NULL);
    share_reap(s);
    pthread_mutex_destroy(&s->lock);
}

void share_publish(struct share *s, struct shared *object)
{
    if (object != NULL) {
        object->home = s;
        object->retired = NULL;
        atomic_store_explicit(&object->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_lock(&s->lock);
    struct shared *old = atomic_exchange_explicit(&s->current, object, memory_order_acq_rel);
    pthread_mutex_unlock(&s->lock);
    shared_unref(old);
}

void share_reap(struct share *s)
{
    struct shared *list = atomic_exchange_explicit(&s->retired, NULL, memory_order_acquire);
    while (list != NULL) {
        struct shared *next = list->retired;
        s->destroy(list);
        list = next;
    }
}

struct shared *share_take(struct share *s)
{
    pthread_mutex_lock(&s->lock);
    struct shared *object = atomic_load_explicit(&s->current, memory_order_relaxed);
    if (object != NULL)
        shared_ref(object);
    pthread_mutex_unlock(&s->lock);
    return object;
}

struct shared *share_read(struct share *s, struct share_cache *c)
{
    if (atomic_load_explicit(&s->current, memory_order_acquire) != c->mine)
        share_refresh(s, c);
    return c->mine;
}

void share_refresh(struct share *s, struct share_cache *c)
{
    struct shared *old = c->mine;
    c->mine = share_take(s);
    shared_unref(old);
}

void share_drop(struct share_cache *c)
{
    shared_unref(c->mine);
    c->mine = NULL;
}

struct shared *shared_ref(struct shared *object)
{
    atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    return object;
}

void shared_unref(struct shared *object)
{
    if (object == NULL ||
        atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) != 1)
        return;
    struct share *home = object->home;
    struct shared *head = atomic_load_explicit(&home->retired, memory_order_relaxed);
    do {
        object->retired = head;
    } while (!atomic_compare_exchange_weak_explicit(&home->retired, &head, object,
                                                    memory_order_release, memory_order_relaxed));
}
