#include "extender/ledger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    BUCKETS = 16384, /* over LEDGER_MAX, a power of two */
    SWEEP_MS = 100,  /* how late a booking may be taken back: a twentieth of the shortest time */
};

struct entry { /* slots are numbered from 1 */
    struct booking b; /* its texts and nodes stand in `block` */
    void *block;      /* NULL: free */
    mono_ms settled;  /* 0: nobody has seen it bound or gone */
    uint32_t next;    /* in its bucket, or of the free slots */
};

enum { UID_SIZE = 64 }; /* the API server's have 36 characters; who has more is not remembered */

struct refused {
    char uid[UID_SIZE];
    uint64_t node;
    mono_ms until;
};

struct leaver { /* a pod that may be evicted */
    char uid[UID_SIZE];
    uint64_t node;
    int32_t priority;
    mono_ms until;
    uint64_t since; /* grows with each */
};

struct ledger {
    pthread_mutex_t lock;
    _Atomic uint64_t version; /* changes so far, plus one: read without the lock to see that none came */
    _Atomic mono_ms sweep_at, asked;
    struct entry *entries;
    uint32_t used, free, count, nodes;
    mono_ms binding; /* how long the last one took */
    uint64_t times_full;
    uint32_t buckets[BUCKETS];
    uint64_t changes[LEDGER_CHANGES]; /* ids, by version */
    struct refused refused[LEDGER_REFUSED]; /* a ring */
    uint32_t next_refused;
    struct leaver victims[LEDGER_VICTIMS];
    uint64_t last_victim; /* since */
};

struct ledger *ledger_new(void)
{
    struct ledger *l = mem_new(sizeof(*l));
    pthread_mutex_init(&l->lock, NULL);
    l->entries = mem_new(LEDGER_MAX * sizeof(*l->entries));
    l->version = 1;
    l->sweep_at = INT64_MAX;
    return l;
}

void ledger_free(struct ledger *l)
{
    if (l == NULL)
        return;
    for (uint32_t i = 0; i < l->used; i++)
        free(l->entries[i].block);
    free(l->entries);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* --- with the lock held --- */

static void changed(struct ledger *l, uint64_t id)
{
    uint64_t version = atomic_load_explicit(&l->version, memory_order_relaxed);
    l->changes[version % LEDGER_CHANGES] = id;
    atomic_store_explicit(&l->version, version + 1, memory_order_release);
}

static uint32_t *link_of(struct ledger *l, uint64_t id)
{
    uint32_t *link = &l->buckets[id % BUCKETS];
    while (*link != 0 && l->entries[*link - 1].b.id != id)
        link = &l->entries[*link - 1].next;
    return link;
}

/* It holds room, or a side of a workload: what desks have to know at once. */
static bool matters(const struct booking *b)
{
    return b->node_count != 0 || b->workload != 0;
}

static void take_back(struct ledger *l, uint32_t *link)
{
    uint32_t number = *link;
    struct entry *e = &l->entries[number - 1];
    changed(l, e->b.id); /* also when it did not matter: by now some desk may have it */
    *link = e->next;
    l->nodes -= e->b.node_count;
    l->count--;
    free(e->block);
    *e = (struct entry){.next = l->free};
    l->free = number;
}

static bool is_over(const struct ledger *l, const struct entry *e, mono_ms now)
{
    if (e->settled != 0)
        return now >= e->settled + LEDGER_SETTLED_MS;
    bool one = e->b.node_count == 1;
    mono_ms least = one ? LEDGER_ONE_MS : LEDGER_MANY_MS;
    mono_ms time = one && e->b.volumes ? LEDGER_BINDING_MS : LEDGER_BINDINGS * l->binding;
    time = time > least ? time : least;
    return now >= e->b.made + (time < LEDGER_BINDING_MS ? time : LEDGER_BINDING_MS);
}

static void sweep(struct ledger *l, mono_ms now)
{
    for (uint32_t i = 0; i < l->used; i++)
        if (l->entries[i].block != NULL && is_over(l, &l->entries[i], now))
            take_back(l, link_of(l, l->entries[i].b.id));
    atomic_store_explicit(&l->sweep_at, l->count != 0 ? now + SWEEP_MS : INT64_MAX,
                          memory_order_relaxed);
}

static struct span keep_text(char **at, struct span text)
{
    struct span kept = {*at, text.len};
    if (text.len != 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return kept;
}

static const uint64_t *keep_nodes(uint64_t **at, const uint64_t *nodes, uint32_t count)
{
    uint64_t *kept = *at;
    if (count != 0)
        memcpy(kept, nodes, count * sizeof(*nodes));
    *at += count;
    return kept;
}

/* A copy in one block; nodes first, for their alignment. */
static void *keep(struct booking *out, const struct booking *b)
{
    size_t nodes = ((size_t)b->node_count + b->told_count) * sizeof(*b->nodes);
    void *block = mem_new(nodes + b->uid.len + b->ns.len + b->name.len + b->instead.len +
                          b->published.len + 1);
    uint64_t *begin = block;
    *out = *b;
    out->nodes = keep_nodes(&begin, b->nodes, b->node_count);
    out->told = keep_nodes(&begin, b->told, b->told_count);
    char *at = (char *)begin;
    out->uid = keep_text(&at, b->uid);
    out->ns = keep_text(&at, b->ns);
    out->name = keep_text(&at, b->name);
    out->instead = keep_text(&at, b->instead);
    out->published = keep_text(&at, b->published);
    return block;
}

static bool put(struct ledger *l, const struct booking *b, mono_ms now)
{
    if (l->count >= (matters(b) ? LEDGER_MAX : LEDGER_MAX / 4) ||
        b->node_count > LEDGER_NODES - l->nodes) {
        l->times_full++;
        return false;
    }
    uint32_t number = l->free, *bucket = &l->buckets[b->id % BUCKETS];
    if (number != 0)
        l->free = l->entries[number - 1].next;
    else
        number = ++l->used;
    struct entry *e = &l->entries[number - 1];
    e->block = keep(&e->b, b);
    e->b.made = now;
    e->next = *bucket;
    *bucket = number;
    l->count++;
    l->nodes += b->node_count;
    if (atomic_load_explicit(&l->sweep_at, memory_order_relaxed) == INT64_MAX)
        atomic_store_explicit(&l->sweep_at, now + SWEEP_MS, memory_order_relaxed);
    e->b.since = atomic_load_explicit(&l->version, memory_order_relaxed);
    if (matters(b))
        changed(l, b->id);
    return true;
}

static const uint64_t *copy_nodes(struct arena *a, const uint64_t *nodes, uint32_t count)
{
    uint64_t *out = ARENA_ARRAY(a, uint64_t, count);
    if (count != 0)
        memcpy(out, nodes, count * sizeof(*nodes));
    return out;
}

static struct booking copy(struct arena *a, const struct booking *b)
{
    struct booking out = *b;
    out.uid = arena_dup(a, b->uid);
    out.ns = arena_dup(a, b->ns);
    out.name = arena_dup(a, b->name);
    out.instead = arena_dup(a, b->instead);
    out.published = arena_dup(a, b->published);
    out.nodes = copy_nodes(a, b->nodes, b->node_count);
    out.told = copy_nodes(a, b->told, b->told_count);
    return out;
}

static void news_since(struct ledger *l, uint64_t since, uint64_t version, struct arena *a,
                       struct ledger_news *out)
{
    uint32_t count = (uint32_t)(version - since);
    uint64_t *ids = ARENA_ARRAY(a, uint64_t, count);
    struct booking *bookings = ARENA_ARRAY(a, struct booking, count);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = l->changes[(since + i) % LEDGER_CHANGES];
        uint32_t number = *link_of(l, ids[i]);
        if (number != 0 && l->entries[number - 1].b.since == since + i) /* once, however often it changed */
            bookings[out->booking_count++] = copy(a, &l->entries[number - 1].b);
    }
    out->changed = ids;
    out->changed_count = count;
    out->bookings = bookings;
}

static void news_whole(struct ledger *l, struct arena *a, struct ledger_news *out)
{
    struct booking *bookings = ARENA_ARRAY(a, struct booking, l->count);
    out->whole = true;
    for (uint32_t i = 0; i < l->used; i++)
        if (l->entries[i].block != NULL)
            bookings[out->booking_count++] = copy(a, &l->entries[i].b);
    out->bookings = bookings;
}

/* --- without it --- */

static int since_order(const void *a, const void *b)
{
    const struct booking *x = a, *y = b;
    return (x->since > y->since) - (x->since < y->since);
}

static void put_in_order(const struct ledger_news *news)
{
    if (news->whole && news->booking_count != 0) /* else they are */
        qsort((struct booking *)(uintptr_t)news->bookings, news->booking_count,
              sizeof(*news->bookings), since_order);
}

/* --- from outside --- */

static bool replace(struct ledger *l, const struct booking *b, mono_ms now)
{
    uint32_t *link = link_of(l, b->id);
    if (*link != 0)
        take_back(l, link);
    return put(l, b, now);
}

static bool is_nothing(const struct booking *b)
{
    return !matters(b) && !b->several;
}

bool ledger_book(struct ledger *l, const struct booking *b, mono_ms now)
{
    if (is_nothing(b))
        return true;
    pthread_mutex_lock(&l->lock);
    bool booked = replace(l, b, now);
    pthread_mutex_unlock(&l->lock);
    return booked;
}

bool ledger_book_if(struct ledger *l, const struct booking *b, uint64_t version, mono_ms now)
{
    if (is_nothing(b))
        return true;
    pthread_mutex_lock(&l->lock);
    bool same = !matters(b) || atomic_load_explicit(&l->version, memory_order_relaxed) == version;
    if (same)
        replace(l, b, now);
    pthread_mutex_unlock(&l->lock);
    return same;
}

void ledger_settle(struct ledger *l, uint64_t id, bool bound, mono_ms now)
{
    pthread_mutex_lock(&l->lock);
    uint32_t number = *link_of(l, id);
    struct entry *e = number != 0 ? &l->entries[number - 1] : NULL;
    if (e != NULL && e->settled == 0) {
        e->settled = now;
        if (bound && !e->b.volumes)
            l->binding = now - e->b.made;
    }
    pthread_mutex_unlock(&l->lock);
}

void ledger_prefer(struct ledger *l, uint64_t id, uint64_t node)
{
    pthread_mutex_lock(&l->lock);
    uint32_t number = *link_of(l, id);
    if (number != 0)
        l->entries[number - 1].b.likely = node;
    pthread_mutex_unlock(&l->lock);
}

bool ledger_forget(struct ledger *l, uint64_t id)
{
    pthread_mutex_lock(&l->lock);
    uint32_t *link = link_of(l, id);
    const struct entry *e = *link != 0 ? &l->entries[*link - 1] : NULL;
    bool one = e != NULL && !e->b.several && e->settled == 0;
    if (e != NULL)
        take_back(l, link);
    pthread_mutex_unlock(&l->lock);
    return one;
}

uint64_t ledger_times_full(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    uint64_t times = l->times_full;
    pthread_mutex_unlock(&l->lock);
    return times;
}

uint32_t ledger_count(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    uint32_t count = l->count;
    pthread_mutex_unlock(&l->lock);
    return count;
}

bool ledger_news(struct ledger *l, uint64_t *version, mono_ms now, struct arena *a,
                 struct ledger_news *out)
{
    *out = (struct ledger_news){.whole = false};
    bool late = atomic_load_explicit(&l->sweep_at, memory_order_relaxed) <= now;
    if (!late && atomic_load_explicit(&l->version, memory_order_acquire) == *version)
        return false;
    pthread_mutex_lock(&l->lock);
    if (late)
        sweep(l, now);
    uint64_t to = atomic_load_explicit(&l->version, memory_order_relaxed), since = *version;
    if (since == 0 || to - since > LEDGER_CHANGES)
        news_whole(l, a, out);
    else
        news_since(l, since, to, a, out);
    pthread_mutex_unlock(&l->lock);
    put_in_order(out);
    *version = to;
    return out->whole || out->changed_count != 0;
}

void ledger_asked(struct ledger *l, mono_ms now)
{
    atomic_store_explicit(&l->asked, now, memory_order_relaxed);
}

mono_ms ledger_last_asked(const struct ledger *l)
{
    return atomic_load_explicit(&l->asked, memory_order_relaxed);
}

void ledger_refused(struct ledger *l, struct span uid, uint64_t node, mono_ms now)
{
    struct refused fresh = {.node = node, .until = now + LEDGER_REFUSED_MS};
    if (uid.len == 0 || uid.len >= sizeof(fresh.uid))
        return;
    memcpy(fresh.uid, uid.ptr, uid.len);
    pthread_mutex_lock(&l->lock);
    uint32_t at = 0;
    while (at < LEDGER_REFUSED &&
           (l->refused[at].node != node || strcmp(l->refused[at].uid, fresh.uid) != 0))
        at++;
    if (at == LEDGER_REFUSED)
        at = l->next_refused++ % LEDGER_REFUSED;
    l->refused[at] = fresh;
    pthread_mutex_unlock(&l->lock);
}

static struct leaver *leaver_slot(struct ledger *l, struct span uid)
{
    return &l->victims[span_hash(uid) % LEDGER_VICTIMS];
}

static bool is_leaving(const struct leaver *x, struct span uid, mono_ms now)
{
    return x->until > now && span_eq(span_of(x->uid), uid);
}

void ledger_victims(struct ledger *l, const struct told_victim *list, uint32_t count, mono_ms now)
{
    pthread_mutex_lock(&l->lock);
    for (uint32_t i = 0; i < count; i++) {
        struct leaver *x = leaver_slot(l, list[i].uid);
        if (is_leaving(x, list[i].uid, now) || list[i].uid.len >= UID_SIZE)
            continue;
        *x = (struct leaver){.node = list[i].node,
                             .priority = list[i].priority,
                             .until = now + LEDGER_VICTIM_MS,
                             .since = ++l->last_victim};
        memcpy(x->uid, list[i].uid.ptr, list[i].uid.len);
    }
    pthread_mutex_unlock(&l->lock);
}

mono_ms ledger_victim_until(struct ledger *l, struct span uid, mono_ms now)
{
    pthread_mutex_lock(&l->lock);
    const struct leaver *x = leaver_slot(l, uid);
    mono_ms until = is_leaving(x, uid, now) ? x->until : 0;
    pthread_mutex_unlock(&l->lock);
    return until;
}

struct span ledger_last_victim(struct ledger *l, uint64_t node, int32_t below, mono_ms now, struct arena *a)
{
    struct span last = {0};
    uint64_t since = 0;
    pthread_mutex_lock(&l->lock);
    for (const struct leaver *x = l->victims; x < l->victims + LEDGER_VICTIMS; x++) {
        if (x->until <= now || x->since <= since || x->node != node || x->priority >= below)
            continue;
        since = x->since;
        last = span_of(x->uid);
    }
    last = arena_dup(a, last);
    pthread_mutex_unlock(&l->lock);
    return last;
}

static struct sent_pod sent_of(const struct booking *b)
{
    struct sent_pod x = {.uid = b->uid,
                         .ns = b->ns,
                         .name = b->name,
                         .node = b->several ? b->likely : b->nodes[0],
                         .told = b->told,
                         .told_count = b->told_count,
                         .seen = b->seen,
                         .priority = b->priority,
                         .instead = b->instead,
                         .published = b->published,
                         .inherits = b->inherits,
                         .several = b->several,
                         .daemon = b->daemon,
                         .volumes = b->volumes};
    memcpy(x.base, b->base, sizeof(x.base));
    return x;
}

uint32_t ledger_sent(struct ledger *l, mono_ms now, struct arena *a, const struct sent_pod **out)
{
    struct ledger_news all = {.whole = true};
    struct refused *refused = ARENA_ARRAY(a, struct refused, LEDGER_REFUSED);
    uint32_t count = 0;
    pthread_mutex_lock(&l->lock);
    sweep(l, now);
    news_whole(l, a, &all);
    memcpy(refused, l->refused, sizeof(l->refused));
    pthread_mutex_unlock(&l->lock);
    put_in_order(&all);
    struct sent_pod *list = ARENA_ARRAY(a, struct sent_pod, all.booking_count + LEDGER_REFUSED);
    for (uint32_t i = 0; i < all.booking_count; i++) {
        const struct booking *b = &all.bookings[i];
        if (b->several || b->node_count == 1)
            list[count++] = sent_of(b);
    }
    for (uint32_t i = 0; i < LEDGER_REFUSED; i++)
        if (refused[i].until > now)
            list[count++] = (struct sent_pod){
                .uid = span_of(refused[i].uid), .node = refused[i].node, .refused = true};
    *out = list;
    return count;
}
