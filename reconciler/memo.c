#include "reconciler/memo.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

void gate_fail(struct gate *g, mono_ms now)
{
    span_ms wait = GATE_RETRY_FIRST_MS;
    for (uint32_t i = 0; i < g->failures && wait < GATE_RETRY_MAX_MS; i++)
        wait *= 2;
    g->failures++;
    g->retry_at = now + (wait < GATE_RETRY_MAX_MS ? wait : GATE_RETRY_MAX_MS);
}

void memos_init(struct memos *t, size_t size, void (*release)(struct memo *m))
{
    *t = (struct memos){.size = size, .release = release, .slot_count = FIRST_SLOTS};
    t->slots = mem_new(FIRST_SLOTS * sizeof(*t->slots));
}

static void memo_free(struct memos *t, struct memo *m)
{
    if (t->release != NULL)
        t->release(m);
    free(m);
}

void memos_release(struct memos *t)
{
    for (uint32_t i = 0; i < t->slot_count; i++)
        for (struct memo *m = t->slots[i], *next; m != NULL; m = next) {
            next = m->next;
            memo_free(t, m);
        }
    free(t->slots);
    *t = (struct memos){0};
}

static void grow(struct memos *t)
{
    uint32_t count = t->slot_count * 2;
    struct memo **slots = mem_new(count * sizeof(*slots));
    for (uint32_t i = 0; i < t->slot_count; i++)
        for (struct memo *m = t->slots[i], *next; m != NULL; m = next) {
            next = m->next;
            m->next = slots[m->hash % count];
            slots[m->hash % count] = m;
        }
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
}

void *memos_find(const struct memos *t, struct span key)
{
    uint64_t hash = span_hash(key);
    for (struct memo *m = t->slots[hash % t->slot_count]; m != NULL; m = m->next)
        if (m->hash == hash && span_eq(m->key, key))
            return m;
    return NULL;
}

void *memos_at(struct memos *t, struct span key)
{
    struct memo *m = memos_find(t, key);
    if (m == NULL) {
        if (t->count == t->slot_count)
            grow(t);
        m = mem_new(t->size + key.len + 1);
        if (key.len != 0)
            memcpy((char *)m + t->size, key.ptr, key.len);
        m->key = (struct span){(char *)m + t->size, key.len};
        m->hash = span_hash(key);
        m->next = t->slots[m->hash % t->slot_count];
        t->slots[m->hash % t->slot_count] = m;
        t->count++;
    }
    m->seen = true;
    return m;
}

void memos_sweep(struct memos *t)
{
    for (uint32_t i = 0; i < t->slot_count; i++)
        for (struct memo **at = &t->slots[i]; *at != NULL;) {
            struct memo *m = *at;
            if (m->seen || m->gate.under_way != 0 || m->held != 0) {
                m->seen = false;
                at = &m->next;
                continue;
            }
            *at = m->next;
            memo_free(t, m);
            t->count--;
        }
}
