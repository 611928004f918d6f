#include "webhook/sides.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    struct split_sent sent;
    mono_ms made;
};

struct sides {
    pthread_mutex_t lock;
    uint64_t version;
    uint32_t first, count;           /* a ring */
    struct entry entries[SIDES_MAX]; /* a side of NONE: forgotten before its time */
};

struct sides *sides_new(void)
{
    struct sides *s = mem_new(sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void sides_free(struct sides *s)
{
    if (s == NULL)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct entry *at(struct sides *s, uint32_t i)
{
    return &s->entries[(s->first + i) % SIDES_MAX];
}

static void drop_oldest(struct sides *s)
{
    s->first = (s->first + 1) % SIDES_MAX;
    s->count--;
}

uint32_t sides_copy(struct sides *s, mono_ms now, uint64_t workload, struct split_sent *out, uint64_t *version_out)
{
    uint32_t found = 0;
    pthread_mutex_lock(&s->lock);
    while (s->count != 0 && now - at(s, 0)->made >= SIDES_MS)
        drop_oldest(s);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct split_sent *sent = &at(s, i)->sent;
        if (sent->workload == workload && sent->side != SPLIT_NONE)
            out[found++] = *sent;
    }
    *version_out = s->version;
    pthread_mutex_unlock(&s->lock);
    return found;
}

enum sides_added sides_add(struct sides *s, const struct split_sent *sent, uint64_t version, mono_ms now)
{
    pthread_mutex_lock(&s->lock);
    enum sides_added added = s->version != version ? SIDES_OUTDATED : s->count == SIDES_MAX ? SIDES_FULL : SIDES_ADDED;
    if (added == SIDES_ADDED) {
        *at(s, s->count++) = (struct entry){*sent, now};
        s->version++;
    }
    pthread_mutex_unlock(&s->lock);
    return added;
}

static void forget(struct sides *s, const struct split_sent *sent)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (at(s, i)->sent.id == sent->id && at(s, i)->sent.workload == sent->workload)
            at(s, i)->sent.side = SPLIT_NONE;
}

void sides_settle(struct sides *s, const struct split_sent *list, uint32_t count)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++)
        seen += list[i].pod != NULL;
    if (seen == 0)
        return; /* as of most reviews */
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].pod != NULL)
            forget(s, &list[i]);
    pthread_mutex_unlock(&s->lock);
}
