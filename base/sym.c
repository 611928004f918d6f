/* Ids index a directory of fixed-size pages of entries, so entries never move while the table
 * grows. The hash index is an open-addressed array of ids; when it must grow, a larger one is
 * published and the old one is kept until the table goes, since a reader may still be probing it:
 * at most as much memory again. Entries are written before their id is stored with release order.
 *
 * A local table is asked before the one below it: the writer may learn a text right after it was given
 * a local id, and within one request a text must not have two.
 *
 * Texts come from outside and can be chosen so that their hashes without a seed are alike. The seed is the address of the
 * shared table, which is not known outside of the process. No id hangs on it. */
#include "base/sym.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    PAGE_BITS = 10,
    PAGE_SIZE = 1 << PAGE_BITS,
    PAGES_MAX = 1 << 13, /* 8 million strings: more label values than any API server holds */
    FIRST_SLOTS = 1024,
};

static const sym LOCAL_BIT = 0x80000000u;

struct entry {
    struct span text;
    uint64_t hash;
};

struct index {
    struct index *before; /* superseded, kept for readers */
    uint32_t mask;
    _Atomic(sym) slots[];
};

struct symtab {
    _Atomic(uint32_t) refs;
    const struct symtab *shared; /* NULL: this is a shared table */
    uint64_t seed;
    _Atomic(struct index *) index;
    _Atomic(uint32_t) count; /* entries; ids are 1 … count */
    pthread_mutex_t lock;    /* of what a new text changes; of a shared table only */
    struct arena texts;
    struct arena *owner;     /* of a local table */
    struct entry *_Atomic *pages;
    uint32_t pages_max;
    _Atomic(uint32_t) refused;
};

static size_t index_size(size_t slots)
{
    return sizeof(struct index) + slots * sizeof(_Atomic(sym));
}

static struct index *index_new(uint32_t slots, struct index *before)
{
    struct index *ix = mem_new(index_size(slots));
    ix->mask = slots - 1;
    ix->before = before;
    return ix;
}

static uint64_t hash_of(const struct symtab *t, struct span text)
{
    return XXH3_64bits_withSeed(text.ptr, text.len, t->seed);
}

static const struct entry *entry_at(const struct symtab *t, uint32_t n) /* n from 0 */
{
    struct entry *page = atomic_load_explicit(&t->pages[n >> PAGE_BITS], memory_order_acquire);
    return &page[n & (PAGE_SIZE - 1)];
}

/* The slot that holds the text, or the first free one on its way. */
static _Atomic(sym) *probe(const struct symtab *t, struct index *ix, struct span text,
                           uint64_t hash, sym *id_out)
{
    for (uint32_t at = (uint32_t)hash & ix->mask;; at = (at + 1) & ix->mask) {
        sym id = atomic_load_explicit(&ix->slots[at], memory_order_acquire);
        *id_out = id;
        if (id == SYM_NONE)
            return &ix->slots[at];
        const struct entry *e = entry_at(t, (id & ~LOCAL_BIT) - 1);
        if (e->hash == hash && span_eq(e->text, text))
            return &ix->slots[at];
    }
}

static void index_grow(struct symtab *t, uint32_t count)
{
    struct index *old = atomic_load_explicit(&t->index, memory_order_relaxed);
    struct index *ix;
    uint32_t slots = (old->mask + 1) * 2;
    if (t->owner != NULL) { /* one thread: nobody probes the old one */
        ix = arena_alloc(t->owner, index_size(slots));
        ix->mask = slots - 1;
    } else {
        ix = index_new(slots, old);
    }
    sym flag = t->shared != NULL ? LOCAL_BIT : 0;
    for (uint32_t n = 0; n < count; n++) {
        sym seen;
        const struct entry *e = entry_at(t, n);
        _Atomic(sym) *slot = probe(t, ix, e->text, e->hash, &seen);
        atomic_store_explicit(slot, (n + 1) | flag, memory_order_relaxed);
    }
    atomic_store_explicit(&t->index, ix, memory_order_release);
}

/* A local table has a single thread, and may move its directory. */
static void pages_grow(struct symtab *t)
{
    struct entry *_Atomic *pages = arena_array(t->owner, (size_t)t->pages_max * 2, sizeof(*pages));
    for (uint32_t p = 0; p < t->pages_max; p++)
        atomic_init(&pages[p], atomic_load_explicit(&t->pages[p], memory_order_relaxed));
    t->pages = pages;
    t->pages_max *= 2;
}

struct symtab *symtab_new(const struct span *fixed, size_t fixed_count)
{
    return symtab_new_limited(fixed, fixed_count, (uint32_t)PAGES_MAX << PAGE_BITS);
}

struct symtab *symtab_new_limited(const struct span *fixed, size_t fixed_count, uint32_t most)
{
    struct symtab *t = mem_new(sizeof(*t));
    t->seed = (uintptr_t)t;
    atomic_init(&t->refs, 1);
    pthread_mutex_init(&t->lock, NULL);
    arena_init(&t->texts, 16 << 10);
    t->pages_max = (most + PAGE_SIZE - 1) >> PAGE_BITS;
    t->pages = mem_array(t->pages_max, sizeof(*t->pages));
    atomic_init(&t->index, index_new(FIRST_SLOTS, NULL));
    for (size_t i = 0; i < fixed_count; i++) {
        sym id = sym_intern(t, fixed[i]);
        assert(id == i + 1);
        (void)id;
    }
    return t;
}

struct symtab *symtab_new_local(const struct symtab *shared, struct arena *a)
{
    enum { LOCAL_PAGES = 4, LOCAL_SLOTS = 64 }; /* both grow; most requests bring nothing new */
    struct symtab *t = ARENA_NEW(a, struct symtab);
    t->shared = shared;
    t->seed = shared->seed;
    t->owner = a;
    t->pages_max = LOCAL_PAGES;
    t->pages = arena_array(a, LOCAL_PAGES, sizeof(*t->pages));
    struct index *ix = arena_alloc(a, index_size(LOCAL_SLOTS));
    ix->mask = LOCAL_SLOTS - 1;
    atomic_init(&t->index, ix);
    return t;
}

struct symtab *symtab_ref(struct symtab *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void symtab_unref(struct symtab *t)
{
    if (t == NULL || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (struct index *ix = atomic_load(&t->index); ix != NULL;) {
        struct index *before = ix->before;
        free(ix);
        ix = before;
    }
    for (uint32_t p = 0; p < t->pages_max && t->pages[p] != NULL; p++)
        free(atomic_load(&t->pages[p]));
    free(t->pages);
    arena_release(&t->texts);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static sym find_hashed(const struct symtab *t, struct span text, uint64_t hash)
{
    sym id;
    probe(t, atomic_load_explicit(&t->index, memory_order_acquire), text, hash, &id);
    return id;
}

sym sym_find(const struct symtab *t, struct span text)
{
    if (text.ptr == NULL)
        return SYM_NONE;
    uint64_t hash = hash_of(t, text);
    sym id = find_hashed(t, text, hash);
    return id == SYM_NONE && t->shared != NULL ? find_hashed(t->shared, text, hash) : id;
}

/* The text is in no table yet, unless somebody else was just faster. */
static sym add(struct symtab *t, struct span text, uint64_t hash)
{
    sym id;
    struct index *ix = atomic_load_explicit(&t->index, memory_order_relaxed);
    _Atomic(sym) *slot = probe(t, ix, text, hash, &id);
    if (id != SYM_NONE)
        return id;
    uint32_t n = atomic_load_explicit(&t->count, memory_order_relaxed);
    if ((n >> PAGE_BITS) >= t->pages_max && t->owner == NULL) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        return SYM_NONE;
    }
    if ((n >> PAGE_BITS) >= t->pages_max)
        pages_grow(t);
    struct arena *texts = t->owner != NULL ? t->owner : &t->texts;
    if ((n & (PAGE_SIZE - 1)) == 0) {
        struct entry *page = t->owner != NULL ? ARENA_ARRAY(t->owner, struct entry, PAGE_SIZE)
                                              : mem_array(PAGE_SIZE, sizeof(*page));
        atomic_store_explicit(&t->pages[n >> PAGE_BITS], page, memory_order_release);
    }
    struct entry *e = (struct entry *)entry_at(t, n);
    e->text = arena_dup(texts, text);
    e->hash = hash;
    id = (n + 1) | (t->shared != NULL ? LOCAL_BIT : 0);
    atomic_store_explicit(slot, id, memory_order_release);
    atomic_store_explicit(&t->count, n + 1, memory_order_release);
    if ((n + 1) * 2 > ix->mask)
        index_grow(t, n + 1);
    return id;
}

sym sym_intern(struct symtab *t, struct span text)
{
    if (text.ptr == NULL)
        return SYM_NONE;
    uint64_t hash = hash_of(t, text);
    sym id = find_hashed(t, text, hash);
    if (id == SYM_NONE && t->shared != NULL)
        id = find_hashed(t->shared, text, hash);
    if (id != SYM_NONE)
        return id;
    if (t->owner != NULL) /* one thread's own */
        return add(t, text, hash);
    pthread_mutex_lock(&t->lock);
    id = add(t, text, hash);
    pthread_mutex_unlock(&t->lock);
    return id;
}

uint32_t symtab_refused(const struct symtab *t)
{
    return t != NULL ? atomic_load_explicit(&t->refused, memory_order_relaxed) : 0;
}

struct span sym_text(const struct symtab *t, sym id)
{
    if (id == SYM_NONE)
        return (struct span){NULL, 0};
    if ((id & LOCAL_BIT) == 0 && t->shared != NULL)
        t = t->shared;
    return entry_at(t, (id & ~LOCAL_BIT) - 1)->text;
}

uint32_t symtab_limit(const struct symtab *t)
{
    if (t->shared != NULL)
        t = t->shared;
    return atomic_load_explicit(&t->count, memory_order_acquire) + 1;
}
