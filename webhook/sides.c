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
    uint32_t count;
    struct entry entries[SIDES_MAX]; /* oldest first */
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

static void drop(struct sides *s, uint32_t at)
{
    s->count--;
    memmove(&s->entries[at], &s->entries[at + 1], (s->count - at) * sizeof(s->entries[0]));
}

static void drop_id(struct sides *s, uint64_t id)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->entries[i].sent.id == id) {
            drop(s, i);
            return;
        }
}

static void drop_aged(struct sides *s, mono_ms now)
{
    while (s->count != 0 && now - s->entries[0].made >= SIDES_MS)
        drop(s, 0);
}

uint32_t sides_copy(struct sides *s, mono_ms now, struct split_sent *out, uint64_t *version_out)
{
    pthread_mutex_lock(&s->lock);
    drop_aged(s, now);
    uint32_t count = s->count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = s->entries[i].sent;
    *version_out = s->version;
    pthread_mutex_unlock(&s->lock);
    return count;
}

bool sides_add(struct sides *s, const struct split_sent *sent, uint64_t version, mono_ms now)
{
    pthread_mutex_lock(&s->lock);
    bool ok = s->version == version;
    if (ok) {
        drop_id(s, sent->id);
        if (s->count == SIDES_MAX)
            drop(s, 0);
        s->entries[s->count++] = (struct entry){*sent, now};
        s->version++;
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void sides_settle(struct sides *s, const struct split_sent *list, uint32_t count)
{
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].pod != NULL)
            drop_id(s, list[i].id);
    pthread_mutex_unlock(&s->lock);
}
