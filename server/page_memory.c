#include "server/page_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NEIGHBOURS = 8, STANDING_MAX = 512 };

struct held_entry {
    struct page_entry entry;
    char *text; /* one block: subject, sentence, namespace, name */
    char id[16];
};

struct reason {
    uint64_t key; /* 0: free */
    uint64_t uid; /* its hash; 0: of whatever has the name */
    uint64_t age;
    char *text; /* one block: all */
    struct span sentence, said; /* `said` ends it */
    struct why put_off;
};

struct page_memory {
    pthread_mutex_t lock;
    struct held_entry ring[PAGE_DECISIONS];
    uint64_t count;
    struct reason reasons[PAGE_REASONS_MAX];
    uint64_t reason_age;
    struct moves moves; /* in moves_arena */
    struct arena moves_arena;
    char standing[STANDING_MAX];
    size_t standing_len;
    _Atomic(uint64_t) version;
};

struct page_memory *page_memory_new(void)
{
    struct page_memory *m = mem_new(sizeof(*m));
    pthread_mutex_init(&m->lock, NULL);
    arena_init(&m->moves_arena, 0);
    return m;
}

void page_memory_free(struct page_memory *m)
{
    for (size_t i = 0; i < PAGE_DECISIONS; i++)
        free(m->ring[i].text);
    for (size_t i = 0; i < PAGE_REASONS_MAX; i++)
        free(m->reasons[i].text);
    arena_release(&m->moves_arena);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static struct span put(char **at, struct span s)
{
    struct span kept = {*at, s.len};
    if (s.len != 0)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return kept;
}

static void keep_entry(struct held_entry *h, const struct decision *d)
{
    struct span subject = span_of(d->subject);
    free(h->text);
    char *at = h->text =
        mem_new(subject.len + d->sentence.len + d->about.ns.len + d->about.name.len + 1);
    memcpy(h->id, d->id, sizeof(h->id));
    h->entry = (struct page_entry){.at = d->at, .warning = d->warning, .per_hour = d->per_hour};
    h->entry.subject = put(&at, subject);
    h->entry.sentence = put(&at, d->sentence);
    h->entry.about.kind = d->about.kind;
    h->entry.about.ns = put(&at, d->about.ns);
    h->entry.about.name = put(&at, d->about.name);
}

static uint64_t key_of(enum kind k, struct span ns, struct span name, struct span side)
{
    uint64_t key = (span_hash(side) * 31 + span_hash(ns)) * 0x9e3779b97f4a7c15u + span_hash(name) + (uint64_t)k;
    return key != 0 ? key : 1;
}

static struct reason *find(struct page_memory *m, uint64_t key, bool make)
{
    struct reason *oldest = NULL;
    for (uint64_t i = 0; i < NEIGHBOURS; i++) {
        struct reason *r = &m->reasons[(key + i) % PAGE_REASONS_MAX];
        if (r->key == key)
            return r;
        if (oldest == NULL || r->age < oldest->age)
            oldest = r;
    }
    return make ? oldest : NULL;
}

static void keep_reason(struct page_memory *m, const struct decision *d)
{
    uint64_t key = key_of(d->about.kind, d->about.ns, d->about.name, d->side);
    struct reason *r = find(m, key, true);
    free(r->text);
    char *at = r->text = mem_new(d->sentence.len + d->put_off.sentence.len + d->put_off.fix.len + 1);
    r->key = key;
    r->uid = d->about.uid.len != 0 ? span_hash(d->about.uid) : 0;
    r->age = ++m->reason_age;
    r->sentence = put(&at, d->sentence);
    size_t name = d->said.ptr != NULL ? d->sentence.len - d->said.len : 0;
    r->said = (struct span){r->sentence.ptr + name, r->sentence.len - name};
    r->put_off.sentence = put(&at, d->put_off.sentence);
    r->put_off.fix = put(&at, d->put_off.fix);
}

static void forget_reason(struct page_memory *m, const struct decision *d)
{
    struct reason *r = find(m, key_of(d->about.kind, d->about.ns, d->about.name, d->side), false);
    if (r == NULL)
        return;
    free(r->text);
    *r = (struct reason){0};
}

void page_memory_add(struct page_memory *m, const struct decision *d)
{
    pthread_mutex_lock(&m->lock);
    if (d->subject != NULL)
        keep_entry(&m->ring[m->count++ % PAGE_DECISIONS], d);
    if (d->about.kind != KIND_NONE && d->about.name.len != 0 && d->sentence.len != 0)
        keep_reason(m, d);
    else if (d->takes_back)
        forget_reason(m, d);
    pthread_mutex_unlock(&m->lock);
    atomic_fetch_add(&m->version, 1);
}

void page_memory_standing(struct page_memory *m, struct span text)
{
    pthread_mutex_lock(&m->lock);
    m->standing_len = text.len < STANDING_MAX ? text.len : STANDING_MAX;
    if (m->standing_len != 0)
        memcpy(m->standing, text.ptr, m->standing_len);
    pthread_mutex_unlock(&m->lock);
    atomic_fetch_add(&m->version, 1);
}

static struct moves moves_dup(struct arena *a, const struct moves *m)
{
    struct move *items = ARENA_ARRAY(a, struct move, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        struct span *nodes = ARENA_ARRAY(a, struct span, m->items[i].node_count);
        for (uint32_t k = 0; k < m->items[i].node_count; k++)
            nodes[k] = arena_dup(a, m->items[i].nodes[k]);
        items[i] = m->items[i];
        items[i].id = arena_dup(a, m->items[i].id);
        items[i].decision = arena_dup(a, m->items[i].decision);
        items[i].text = arena_dup(a, m->items[i].text);
        items[i].nodes = nodes;
    }
    return (struct moves){items, m->count, m->all};
}

void page_memory_moved(struct page_memory *m, const struct moves *moves)
{
    pthread_mutex_lock(&m->lock);
    arena_clear(&m->moves_arena);
    m->moves = moves_dup(&m->moves_arena, moves);
    pthread_mutex_unlock(&m->lock);
    atomic_fetch_add(&m->version, 1);
}

struct moves page_memory_moves(struct page_memory *m, struct arena *a)
{
    pthread_mutex_lock(&m->lock);
    struct moves copy = moves_dup(a, &m->moves);
    pthread_mutex_unlock(&m->lock);
    return copy;
}

uint64_t page_memory_version(const struct page_memory *m)
{
    return atomic_load(&m->version);
}

const struct page_entry *page_memory_entries(struct page_memory *m, struct arena *a,
                                             uint32_t *count_out)
{
    pthread_mutex_lock(&m->lock);
    uint32_t count = m->count < PAGE_DECISIONS ? (uint32_t)m->count : PAGE_DECISIONS;
    struct page_entry *out = ARENA_ARRAY(a, struct page_entry, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct held_entry *h = &m->ring[(m->count - 1 - i) % PAGE_DECISIONS];
        out[i] = h->entry;
        out[i].sequence = m->count - i;
        out[i].id = arena_dup(a, span_of(h->id));
        out[i].subject = arena_dup(a, h->entry.subject);
        out[i].sentence = arena_dup(a, h->entry.sentence);
        out[i].about.ns = arena_dup(a, h->entry.about.ns);
        out[i].about.name = arena_dup(a, h->entry.about.name);
    }
    pthread_mutex_unlock(&m->lock);
    *count_out = count;
    return out;
}

static const struct reason *reason_of(struct page_memory *m, enum kind k, const struct meta *about, struct span side)
{
    const struct reason *r = find(m, key_of(k, about->ns, about->name, side), false);
    return r != NULL && (r->uid == 0 || r->uid == span_hash(about->uid)) ? r : NULL;
}

struct span page_memory_reason(struct page_memory *m, struct arena *a, enum kind k,
                               const struct meta *about, bool named)
{
    struct span text = {NULL, 0};
    pthread_mutex_lock(&m->lock);
    const struct reason *r = reason_of(m, k, about, (struct span){NULL, 0});
    if (r != NULL)
        text = arena_dup(a, named ? r->sentence : r->said);
    pthread_mutex_unlock(&m->lock);
    return text;
}

struct span page_memory_side(struct page_memory *m, struct arena *a, enum kind k, const struct meta *about, struct span side)
{
    struct span text = {NULL, 0};
    pthread_mutex_lock(&m->lock);
    const struct reason *r = reason_of(m, k, about, side);
    if (r != NULL)
        text = arena_dup(a, r->sentence);
    pthread_mutex_unlock(&m->lock);
    return text;
}

struct why page_memory_put_off(struct page_memory *m, struct arena *a, const struct meta *pod)
{
    struct why why = {0};
    pthread_mutex_lock(&m->lock);
    const struct reason *r = reason_of(m, KIND_POD, pod, (struct span){NULL, 0});
    if (r != NULL && r->put_off.sentence.len != 0)
        why = (struct why){arena_dup(a, r->put_off.sentence), arena_dup(a, r->put_off.fix)};
    pthread_mutex_unlock(&m->lock);
    return why;
}

void page_memory_forget(struct page_memory *m)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < PAGE_REASONS_MAX; i++) {
        free(m->reasons[i].text);
        m->reasons[i] = (struct reason){0};
    }
    m->moves = (struct moves){.count = 0};
    pthread_mutex_unlock(&m->lock);
    atomic_fetch_add(&m->version, 1);
}

struct span page_memory_standing_text(struct page_memory *m, struct arena *a)
{
    pthread_mutex_lock(&m->lock);
    struct span text = arena_dup(a, (struct span){m->standing, m->standing_len});
    pthread_mutex_unlock(&m->lock);
    return text;
}
