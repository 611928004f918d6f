/* What makes it cheap is in shelf.h: a snapshot copies directories, and only what changes is copied.
 *
 * Symbols are only ever added to a table. When it has doubled since it was last looked at, the live
 * ones are counted, and if they are fewer than half, every object is moved to a new table: a copy of
 * everything, at most once per doubling. */
#include "kube/store.h"

#include <assert.h>
#include <stdlib.h>

#include "kube/pod.h"
#include "kube/shelf.h"
#include "kube/workload.h"

enum { SYMS_REBUILD_MIN = 8192 }; /* below this a table is not worth rebuilding */

struct kind_shelf {
    const struct schema *schema;
    struct shelf shelf;
    uint32_t list; /* number of the LIST under way or last done */
    bool listing;
    uint32_t count_before[LOSS_COUNT];
    struct kind_state state;
};

struct store {
    struct share share;
    struct store_deriver deriver; /* zero: nothing derived */
    struct symtab *syms;
    uint32_t syms_checked; /* table size at the last look */
    struct kind_shelf kinds[KIND_STORED_COUNT];
    mono_ms published;
    bool changed;
    struct snapshot *begun; /* not shown yet */
    struct snapshot *oldest, *newest;
    struct litter litter;
    struct aside *asides;  /* the texts of each in one block of malloc */
    uint32_t *aside_lists; /* beside them: the LIST that saw it last */
    uint32_t aside_count;
    struct arena scratch;
};

static void collect(struct store *s)
{
    share_reap(&s->share);
    litter_collect(&s->litter, s->oldest != NULL ? s->oldest->sequence : UINT64_MAX);
}

/* --- objects that do not decode --- */

static void aside_drop(struct store *s, uint32_t at)
{
    litter_drop(&s->litter, (void *)(uintptr_t)s->asides[at].ns.ptr, 0);
    uint32_t behind = --s->aside_count - at;
    memmove(&s->asides[at], &s->asides[at + 1], behind * sizeof(s->asides[0]));
    memmove(&s->aside_lists[at], &s->aside_lists[at + 1], behind * sizeof(s->aside_lists[0]));
    s->changed = true;
}

static void aside_remove(struct store *s, enum kind kind, struct span ns, struct span name)
{
    for (uint32_t i = 0; i < s->aside_count; i++) {
        const struct aside *a = &s->asides[i];
        if (a->kind == kind && span_eq(a->name, name) && span_eq(a->ns, ns)) {
            aside_drop(s, i);
            return;
        }
    }
}

static void aside_add(struct store *s, enum kind kind, struct span ns, struct span name,
                      struct span reason)
{
    aside_remove(s, kind, ns, name);
    if (s->aside_count == STORE_ASIDES_MAX)
        return;
    char *text = mem_new(ns.len + name.len + reason.len + 1);
    struct aside a = {.kind = kind,
                      .ns = {text, ns.len},
                      .name = {text + ns.len, name.len},
                      .reason = {text + ns.len + name.len, reason.len}};
    if (ns.len != 0)
        memcpy(text, ns.ptr, ns.len);
    if (name.len != 0)
        memcpy(text + ns.len, name.ptr, name.len);
    memcpy(text + ns.len + name.len, reason.ptr, reason.len);
    s->aside_lists[s->aside_count] = s->kinds[kind].list;
    s->asides[s->aside_count++] = a;
    s->changed = true;
}

/* --- what the watch tells --- */

struct identity {
    struct span ns, name;
    uint64_t version;
};

static bool identity_of(struct doc_value object, struct identity *out)
{
    struct doc_value meta;
    if (!doc_find(object, SPAN("metadata"), &meta))
        return false;
    int64_t version = 0;
    *out = (struct identity){.ns = doc_text_at(meta, SPAN("namespace")),
                             .name = doc_text_at(meta, SPAN("name"))};
    if (span_int64(doc_text_at(meta, SPAN("resourceVersion")), &version))
        out->version = (uint64_t)version;
    return out->name.len != 0;
}

/* We write these with a lock on the version, and wait for the version of our last write. */
static bool is_locked(enum kind k)
{
    return k == KIND_NODE || k == KIND_NODE_CLAIM || k == KIND_NODE_POOL ||
           k == KIND_NODE_OVERLAY || k == KIND_CAPACITY_BUFFER || k == KIND_POD || k == KIND_MACHINE ||
           k == KIND_MACHINE_DEPLOYMENT || k == KIND_PROVISIONING_REQUEST;
}

/* The object says nothing new, but for its version. */
static void take_version(struct store *s, enum kind k, const void *object, uint64_t version)
{
    struct shelf_head *held = shelf_head(object);
    held->version = version;
    held->list = s->kinds[k].list;
    if (is_locked(k))
        atomic_store(&((struct meta *)(uintptr_t)object)->resource_version, version);
}

/* True when the version is not newer than the one we have. A list may go back: it is what is there. */
static bool is_old(const struct shelf_head *held, uint64_t version, bool listing)
{
    return version != 0 &&
           (held->version == version || (held->version > version && !listing));
}

static uint64_t digest_of(const struct schema *schema, struct meta *object)
{
    uint64_t version = object->resource_version;
    object->resource_version = 0;
    uint64_t digest = schema_digest(schema, object);
    object->resource_version = version;
    return digest;
}

static void put(struct store *s, enum kind kind, struct doc_value value, const struct identity *id)
{
    struct kind_shelf *k = &s->kinds[kind];
    const void *found = shelf_find(k->shelf.chunks, k->shelf.bits, id->ns, id->name);
    struct shelf_head *held = found != NULL ? shelf_head(found) : NULL;
    if (held != NULL && is_old(held, id->version, k->listing)) {
        held->list = k->list;
        return;
    }
    const struct schema *schema = s->kinds[kind].schema;
    arena_clear(&s->scratch);
    void *object = arena_alloc(&s->scratch, schema->size);
    struct err err;
    if (!decode_one(&s->scratch, s->syms, value, schema, object, &err)) {
        aside_add(s, kind, id->ns, id->name, span_of(err.msg));
        if (held != NULL)
            held->list = k->list;
        return;
    }
    aside_remove(s, kind, id->ns, id->name);
    struct shelf_head head = {.born = s->litter.sequence + 1,
                              .version = id->version,
                              .digest = digest_of(schema, object),
                              .list = k->list};
    if (held != NULL && held->digest == head.digest) {
        take_version(s, kind, found, id->version);
        return;
    }
    shelf_put(&k->shelf, shelf_pack(&k->shelf, schema, object, s->syms, s->syms, head));
    s->changed = true;
}

void store_event(struct store *s, enum kind kind, enum watch_event e, struct doc_value object)
{
    struct identity id;
    if (!identity_of(object, &id))
        return; /* nameless: nothing of ours */
    if (e == WATCH_PUT) {
        put(s, kind, object, &id);
        return;
    }
    aside_remove(s, kind, id.ns, id.name);
    s->changed |= shelf_remove(&s->kinds[kind].shelf, id.ns, id.name);
}

static bool counts_as(enum kind kind, const void *object, enum list_loss loss)
{
    const struct meta *m = object;
    return !(kind == KIND_POD && pod_is_terminal(object)) && (loss == LOSS_ANY || m->deleted == 0);
}

struct list_tally { /* objects of a kind */
    uint32_t all[LOSS_COUNT], unseen[LOSS_COUNT]; /* by the LIST under way */
};

static struct list_tally tally_objects(const struct kind_shelf *k, enum kind kind)
{
    struct list_tally t = {0};
    for (uint32_t at = 0; at < 1u << k->shelf.bits; at++)
        for (uint32_t i = 0; i < k->shelf.chunks[at]->count; i++) {
            const void *object = k->shelf.chunks[at]->items[i].object;
            bool unseen = shelf_head(object)->list != k->list;
            for (enum list_loss x = 0; x < LOSS_COUNT; x++) {
                t.all[x] += counts_as(kind, object, x);
                t.unseen[x] += unseen && counts_as(kind, object, x);
            }
        }
    return t;
}

/* What a first LIST that failed on a later page brought is no loss of the one that was begun anew. */
static void guard_list(struct kind_shelf *k, enum kind kind, bool asked)
{
    struct list_tally t = tally_objects(k, kind);
    for (enum list_loss x = 0; x < LOSS_COUNT; x++) {
        uint32_t had = k->count_before[x], lost = t.unseen[x] < had ? t.unseen[x] : had;
        list_guard_update(&k->state.loss[x], &(struct list_counts){.number = k->state.lists,
                                                                   .had = had,
                                                                   .lost = lost,
                                                                   .has = t.all[x] - t.unseen[x],
                                                                   .asked = asked});
    }
}

void store_list_begin(struct store *s, enum kind kind)
{
    struct kind_shelf *k = &s->kinds[kind];
    k->list++;
    if (!k->listing) { /* else begun anew: what the first attempt brought was not there before */
        struct list_tally t = tally_objects(k, kind);
        memcpy(k->count_before, t.all, sizeof(t.all));
    }
    k->listing = true;
}

void store_list_end_as(struct store *s, enum kind kind, bool asked)
{
    struct kind_shelf *k = &s->kinds[kind];
    k->state.lists++;
    guard_list(k, kind, asked);
    shelf_sweep(&k->shelf, k->list);
    for (uint32_t i = s->aside_count; i-- > 0;)
        if (s->asides[i].kind == kind && s->aside_lists[i] != k->list)
            aside_drop(s, i);
    k->listing = false;
    k->state.synced = true;
    s->changed = true;
}

void store_list_end(struct store *s, enum kind kind)
{
    store_list_end_as(s, kind, false);
}

void store_state(struct store *s, enum kind kind, const struct err *broken, mono_ms now)
{
    struct kind_state *state = &s->kinds[kind].state;
    mono_ms since = broken == NULL ? 0 : state->broken_since != 0 ? state->broken_since : now;
    if (since == state->broken_since)
        return;
    state->broken_since = since;
    s->changed = true;
}

/* --- symbols --- */

static void mark(void *user, sym id)
{
    ((bool *)user)[id] = true;
}

static uint32_t syms_alive(struct store *s, uint32_t limit)
{
    bool *alive = mem_array(limit, sizeof(bool));
    uint32_t count = 0;
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++) {
        struct kind_shelf *k = &s->kinds[kind];
        for (uint32_t at = 0; at < 1u << k->shelf.bits; at++)
            for (uint32_t i = 0; i < k->shelf.chunks[at]->count; i++)
                schema_syms(k->schema, k->shelf.chunks[at]->items[i].object, mark, alive);
    }
    for (uint32_t id = 1; id < limit; id++)
        count += alive[id];
    free(alive);
    return count;
}

static void syms_rebuild(struct store *s)
{
    struct symtab *fresh = kube_symtab_new();
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++) {
        struct kind_shelf *k = &s->kinds[kind];
        for (uint32_t at = 0; at < 1u << k->shelf.bits; at++) {
            struct store_chunk *c = shelf_own(&k->shelf, at);
            for (uint32_t i = 0; i < c->count; i++) {
                const void *old = c->items[i].object;
                void *moved = shelf_pack(&k->shelf, k->schema, old, s->syms, fresh, *shelf_head(old));
                struct shelf_head *h = shelf_head(moved);
                h->born = s->litter.sequence + 1;
                h->digest = digest_of(k->schema, moved);
                shelf_discard(&k->shelf, old);
                c->items[i].object = moved;
            }
        }
    }
    symtab_unref(s->syms);
    s->syms = fresh;
}

static void syms_tidy(struct store *s)
{
    uint32_t limit = symtab_limit(s->syms);
    if (limit < SYMS_REBUILD_MIN || limit / 2 < s->syms_checked)
        return;
    if (syms_alive(s, limit) < limit / 2)
        syms_rebuild(s);
    s->syms_checked = symtab_limit(s->syms);
}

/* --- publishing --- */

void store_touch(struct store *s)
{
    s->changed = true;
}

mono_ms store_due(const struct store *s)
{
    if (!s->changed || s->begun != NULL)
        return INT64_MAX;
    return s->litter.sequence == 0 ? INT64_MIN : s->published + STORE_PUBLISH_MS;
}

struct snapshot *store_begin(struct store *s, mono_ms now)
{
    assert(s->begun == NULL);
    syms_tidy(s);
    struct snapshot *snap = mem_new(sizeof(*snap));
    snap->sequence = ++s->litter.sequence;
    snap->published = now;
    snap->store = s;
    snap->syms = symtab_ref(s->syms);
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++) {
        struct kind_shelf *k = &s->kinds[kind];
        snap->state[kind] = k->state;
        snap->state[kind].count = k->shelf.count;
        snap->kinds[kind].bits = k->shelf.bits;
        snap->kinds[kind].chunks = mem_array((size_t)1 << k->shelf.bits, sizeof(*k->shelf.chunks));
        memcpy(snap->kinds[kind].chunks, k->shelf.chunks, sizeof(*k->shelf.chunks) << k->shelf.bits);
    }
    struct aside *asides = mem_array(s->aside_count, sizeof(*asides));
    if (s->aside_count != 0)
        memcpy(asides, s->asides, s->aside_count * sizeof(*asides));
    snap->asides = asides;
    snap->aside_count = s->aside_count;
    snap->older = s->newest;
    if (s->newest != NULL)
        s->newest->newer = snap;
    else
        s->oldest = snap;
    s->newest = snap;
    s->begun = snap;
    s->changed = false;
    s->published = now;
    return snap;
}

/* The one before is what is published now, so that it lives until this one is shown. */
void store_derive(struct snapshot *snap)
{
    const struct store_deriver *d = &snap->store->deriver;
    if (d->derive != NULL)
        snap->derived = d->derive(d->user, snap, snap->older, snap->syms);
}

void store_show(struct store *s, struct snapshot *snap)
{
    s->begun = NULL;
    share_publish(&s->share, &snap->shared);
    collect(s);
}

void store_publish(struct store *s, mono_ms now)
{
    struct snapshot *snap = store_begin(s, now);
    store_derive(snap);
    store_show(s, snap);
}

static void snapshot_destroy(struct shared *shared)
{
    struct snapshot *snap = (struct snapshot *)shared;
    struct store *s = snap->store;
    if (snap->older != NULL)
        snap->older->newer = snap->newer;
    else
        s->oldest = snap->newer;
    if (snap->newer != NULL)
        snap->newer->older = snap->older;
    else
        s->newest = snap->older;
    if (snap->derived != NULL)
        s->deriver.destroy(s->deriver.user, snap->derived);
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++)
        free(snap->kinds[kind].chunks);
    free((void *)(uintptr_t)snap->asides);
    symtab_unref(snap->syms);
    free(snap);
}

struct share *store_share(struct store *s)
{
    return &s->share;
}

/* --- lifecycle --- */

struct store *store_new(const struct store_deriver *deriver)
{
    struct store *s = mem_new(sizeof(*s));
    share_init(&s->share, snapshot_destroy);
    if (deriver != NULL)
        s->deriver = *deriver;
    s->syms = kube_symtab_new();
    s->asides = mem_array(STORE_ASIDES_MAX, sizeof(*s->asides));
    s->aside_lists = mem_array(STORE_ASIDES_MAX, sizeof(*s->aside_lists));
    arena_init(&s->scratch, 64 << 10);
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++) {
        struct kind_shelf *k = &s->kinds[kind];
        k->schema = kind_info(kind)->schema;
        shelf_init(&k->shelf, &s->litter);
    }
    s->changed = true; /* an empty snapshot is one, too */
    return s;
}

void store_read_scale(struct store *s)
{
    static const enum kind scaled[] = {KIND_DEPLOYMENT, KIND_REPLICA_SET, KIND_STATEFUL_SET};
    for (size_t i = 0; i < COUNT_OF(scaled); i++) {
        assert(s->kinds[scaled[i]].shelf.count == 0);
        s->kinds[scaled[i]].schema = &scalable_schema;
    }
}

void store_free(struct store *s)
{
    if (s->begun != NULL)
        store_show(s, s->begun);
    share_release(&s->share);
    collect(s);
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++)
        shelf_release(&s->kinds[kind].shelf);
    for (uint32_t i = 0; i < s->aside_count; i++)
        free((void *)(uintptr_t)s->asides[i].ns.ptr);
    free(s->asides);
    free(s->aside_lists);
    litter_release(&s->litter);
    symtab_unref(s->syms);
    arena_release(&s->scratch);
    free(s);
}

const struct symtab *store_syms(const struct store *s)
{
    return s->syms;
}

/* --- reading --- */

const void *snapshot_find(const struct snapshot *s, enum kind k, struct span ns, struct span name)
{
    return shelf_find(s->kinds[k].chunks, s->kinds[k].bits, ns, name);
}

/* What a snapshot has seen is never changed in place, so that the same chunk is the same content. */
bool snapshot_same(const struct snapshot *a, const struct snapshot *b, enum kind k)
{
    return a->kinds[k].bits == b->kinds[k].bits &&
           memcmp(a->kinds[k].chunks, b->kinds[k].chunks,
                  sizeof(*a->kinds[k].chunks) << a->kinds[k].bits) == 0;
}

struct snapshot_iter snapshot_each(const struct snapshot *s, enum kind k)
{
    return (struct snapshot_iter){.s = s, .kind = k};
}

const void *snapshot_next(struct snapshot_iter *it)
{
    for (; it->chunk < 1u << it->s->kinds[it->kind].bits; it->chunk++, it->at = 0) {
        const struct store_chunk *c = it->s->kinds[it->kind].chunks[it->chunk];
        if (it->at < c->count)
            return c->items[it->at++].object;
    }
    return NULL;
}

const void *snapshot_next_changed(struct snapshot_iter *it, const struct snapshot *before)
{
    bool comparable = before != NULL && before->kinds[it->kind].bits == it->s->kinds[it->kind].bits;
    for (; it->chunk < 1u << it->s->kinds[it->kind].bits; it->chunk++, it->at = 0) {
        const struct store_chunk *c = it->s->kinds[it->kind].chunks[it->chunk];
        if (comparable && before->kinds[it->kind].chunks[it->chunk] == c)
            continue;
        while (it->at < c->count) {
            const void *object = c->items[it->at++].object;
            const struct meta *m = object;
            if (before == NULL || snapshot_find(before, it->kind, m->ns, m->name) != object)
                return object;
        }
    }
    return NULL;
}

bool snapshot_synced(const struct snapshot *s)
{
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++)
        if (!s->state[kind].synced)
            return false;
    return true;
}
