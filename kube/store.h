/* store: the watch cache, written by the API thread alone, and the immutable snapshots it publishes.
 *
 * Objects of a kind stand in chunks by the hash of namespace and name, so that a chunk is index and
 * content at once. Publishing copies the directory and the chunks touched since; readers take a
 * snapshot through base/share.h without waiting. An object that was replaced is freed once no live
 * snapshot can see it. Published at most every 50 ms, and at most 50 ms after a change.
 *
 * A new version of an object that says nothing new to us changes nothing: most writes of a Pod's
 * status are such, and a kubelet's of its Node every five minutes. Where we write with a lock on the version, the
 * object that snapshots already have takes the new version on, without a new snapshot: all that we read is as it
 * was, so that a write which was decided by it is as right.
 *
 * Memory is bounded by the cluster: one packed block an object, a directory of pointers beside it.
 * What does not decode is set aside: it is listed with its reason, and nothing else stops. */
#ifndef KUBE_STORE_H
#define KUBE_STORE_H

#include "base/share.h"
#include "kube/api.h"
#include "kube/list_guard.h"

enum { STORE_PUBLISH_MS = 50 };

enum list_loss {
    LOSS_UNEXPLAINED, /* of objects whose deletion had not been reported */
    LOSS_ANY,         /* of these and of objects that were being deleted: these may still be there */
    LOSS_COUNT,
};

struct kind_state {
    bool synced;             /* its first LIST is complete */
    mono_ms broken_since;    /* 0: the watch works */
    uint32_t count;
    uint32_t lists;          /* complete LISTs so far */
    /* What LISTs lost, while that is unconfirmed; by enum list_loss. Pods that have ended count for neither. */
    struct list_guard loss[LOSS_COUNT];
};

struct aside { /* an object that could not be decoded */
    enum kind kind;
    struct span ns, name, reason; /* reason: "spec.weight: \"ten\" is not an integer" */
};

struct store_chunk;

struct snapshot {
    struct shared shared;
    uint64_t sequence;
    mono_ms published;
    struct symtab *syms; /* a reference; read only */
    struct store *store;
    struct snapshot *newer, *older; /* the store's list of those that live */
    struct kind_state state[KIND_STORED_COUNT];
    struct {
        struct store_chunk **chunks;
        uint32_t bits; /* 1 << bits chunks, by the top bits of the hash */
    } kinds[KIND_STORED_COUNT];
    const struct aside *asides; /* oldest first, at most STORE_ASIDES_MAX */
    uint32_t aside_count;
    void *derived; /* what the deriver made of it: the world */
};

enum { STORE_ASIDES_MAX = 1000 };

/* Builds what is published with a snapshot, from objects that live at least as long as the snapshot.
 * `symtab` may be written to. `previous` is the snapshot before this one, or NULL. NULL: nothing to be
 * made of this snapshot. */
struct store_deriver {
    void *user;
    /* On the thread of store_derive. */
    void *(*derive)(void *user, const struct snapshot *s, const struct snapshot *previous,
                    struct symtab *symtab);
    void (*destroy)(void *user, void *derived); /* API thread, while another derives */
};

struct store;
struct store *store_new(const struct store_deriver *deriver); /* NULL: nothing derived */
void store_free(struct store *s);                             /* no reader may be left */

/* What CapacityBuffers ask of workloads is read as well: replicas and pod template of Deployments,
 * ReplicaSets and StatefulSets. Before their first object. */
void store_read_scale(struct store *s);

/* API thread. `object` is decoded into the store's own memory. Only watches feed the store: a reply to
 * a write of our own could come after the watch has told of the object's deletion. A version that does
 * not decode is set aside and the last one that did stays: a Node that vanished from our sight would
 * have its pods planned a second time. */
void store_list_begin(struct store *s, enum kind k);
void store_list_end(struct store *s, enum kind k);
/* The same; `asked`: of a LIST that was asked for by api_ops.relist, which can confirm what the one before lost. */
void store_list_end_as(struct store *s, enum kind k, bool asked);
void store_event(struct store *s, enum kind k, enum watch_event e, struct doc_value object);
void store_state(struct store *s, enum kind k, const struct err *broken, mono_ms now);

/* When to call store_publish next: a time that has passed means now; INT64_MAX: nothing changed. */
mono_ms store_due(const struct store *s);
void store_publish(struct store *s, mono_ms now);
/* The same in three steps, so that what takes long does not hold up the API thread: begin and show
 * belong to the API thread, derive to any one thread in between. One at a time: not due before it is
 * shown. */
struct snapshot *store_begin(struct store *s, mono_ms now);
void store_derive(struct snapshot *snapshot);
void store_show(struct store *s, struct snapshot *snapshot);
/* What the deriver makes has become old though no object changed: publish anew. API thread. */
void store_touch(struct store *s);
struct share *store_share(struct store *s); /* publishes struct snapshot */

/* Readers. */
const void *snapshot_find(const struct snapshot *s, enum kind k, struct span ns, struct span name);
/* Whether both hold the very same objects of a kind. */
bool snapshot_same(const struct snapshot *a, const struct snapshot *b, enum kind k);
struct snapshot_iter {
    const struct snapshot *s;
    enum kind kind;
    uint32_t chunk, at;
};
struct snapshot_iter snapshot_each(const struct snapshot *s, enum kind k);
const void *snapshot_next(struct snapshot_iter *it); /* NULL at the end; order by hash, the same for equal content */
/* As snapshot_next, but passes over what `before` (NULL: nothing) holds in the same memory: what is left
 * is all that changed since, and some that did not. For an iterator of its own. */
const void *snapshot_next_changed(struct snapshot_iter *it, const struct snapshot *before);
bool snapshot_synced(const struct snapshot *s); /* all stored kinds */
const struct symtab *store_syms(const struct store *s); /* the newest table; API thread */

#endif
