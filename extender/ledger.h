/* ledger: which pods were let onto which nodes and are not seen bound there yet. kube-scheduler binds
 * many pods in the time that the watch needs to tell of one: without a memory of the answers the same
 * free room would be given away many times.
 *
 * The one mutable thing that HTTP threads share: one mutex, held for a look-up and a copy. A pod has at
 * most one booking, the last. It is taken back when the pod is asked about again, when a snapshot shows
 * it bound or gone, or when its time is up: seconds, unless bindings take longer, since what the scheduler has
 * not bound yet it still counts as there. Memory: at most LEDGER_MAX bookings of at most LEDGER_NODES
 * nodes together, and LEDGER_TOLD names each; what would go beyond is not booked, which costs no more than having no
 * memory of it. Beside them LEDGER_REFUSED and LEDGER_VICTIMS slots of some hundred bytes.
 *
 * Of an answer of several names those are kept, too, on which no room has to be kept from other pods as yet:
 * the next plan is to leave the pod its room there, and the others' places that it has there are to stay theirs.
 *
 * Threads keep a desk of their own (extender/desk.h) and fetch only what has changed. */
#ifndef EXTENDER_LEDGER_H
#define EXTENDER_LEDGER_H

#include "base/arena.h"
#include "base/units.h"
#include "kube/resources.h"
#include "planner/places.h"
#include "planner/world.h"

enum {
    LEDGER_MAX = 10000,
    LEDGER_NODES = 1000000,
    /* Such names of an answer: the shortlists (extender/score.h) of three zones. Of one with more the likeliest alone
     * is kept. */
    LEDGER_TOLD = 96,
    /* An answer of one node: the scheduler binds there, or asks again. So it is likely of several with one among
     * them on which somebody has a place: what is held counts as taken, and the fullest is best. */
    LEDGER_ONE_MS = 10 * MS_SECOND,
    LEDGER_MANY_MS = 2 * MS_SECOND, /* of several: one of them, and room is kept on all */
    /* Either is extended to as many times the last binding as seen from here. kube-scheduler's writes are limited,
     * to 50 a second unless it is told otherwise, and it answers faster than that: they queue, each a little longer
     * than the one before. */
    LEDGER_BINDINGS = 3,
    /* At most so long. An answer of one node always when the pod's volumes are bound first: kube-scheduler gives
     * them as long (VolumeBinding's bindTimeoutSeconds), and asks again when that fails. */
    LEDGER_BINDING_MS = 600 * MS_SECOND,
    LEDGER_SETTLED_MS = 500,        /* much longer than an answer takes */
    LEDGER_CHANGES = 1024,          /* a desk that is further behind fetches all */
    LEDGER_REFUSED = 256,           /* pods remembered as refused at their planned node, the newest */
    LEDGER_REFUSED_MS = 60 * MS_SECOND, /* then the node may be tried again */
    LEDGER_VICTIMS = 4096,          /* slots, by uid: the newest of those that share one is remembered */
    LEDGER_VICTIM_MS = 10 * MS_SECOND, /* longer than a scheduler that is not behind takes to evict them */
};

struct booking {
    struct span uid, ns, name; /* of the pod */
    uint64_t id;               /* span_hash of the uid */
    int32_t priority;
    amount base[SENT_BASE];    /* what it asks for, while no snapshot tells */
    uint64_t seen;             /* sequence of a snapshot that had the pod; 0: none had */
    const uint64_t *nodes;     /* span_hash of their names */
    uint32_t node_count;
    bool several;              /* names were in the answer */
    const uint64_t *told;      /* span_hash of those, `nodes` among them, in one order; none: more than LEDGER_TOLD */
    uint32_t told_count;
    uint64_t likely;           /* the best of them, 0: not known yet; see ledger_prefer */
    bool daemon;               /* a DaemonSet's pod */
    bool volumes;              /* some of its volumes still have to be bound */
    /* Of a workload that is split between spot and on-demand (world_split_workload): the side on which all names
     * of the answer are. 0: of none. */
    uint64_t workload;
    enum split_side side;
    uint64_t controller; /* replicas_controller of the pod */
    /* Of the only node, when the place there was another's: uids of the pod that had it and of the one for
     * which it was published, which may have traded before. The former is absent when it is its own by then. */
    struct span instead, published;
    bool inherits;             /* that pod had to leave its node, and does not wait for the place itself */
    mono_ms made;              /* set by ledger_book, as the next */
    uint64_t since;            /* grows with each that desks hear of at once */
};

struct ledger;
struct ledger *ledger_new(void);
void ledger_free(struct ledger *l); /* NULL is fine */

/* Replaces what is booked for the pod; everything is copied. Without nodes and workload there is nothing to book
 * but what may matter to the next plan: desks hear of that with their next snapshot or places, and such bookings
 * leave three quarters of LEDGER_MAX to others.
 * False: full. */
bool ledger_book(struct ledger *l, const struct booking *b, mono_ms now);
/* The same, unless something has changed since `version`: then false and nothing is booked, since who
 * decides by old news may give away what another has just given away. True when full, or when it matters only to
 * the next plan. */
bool ledger_book_if(struct ledger *l, const struct booking *b, uint64_t version, mono_ms now);
/* Of the several names that the pod was told, its scheduler prefers this one in all likelihood. */
void ledger_prefer(struct ledger *l, uint64_t id, uint64_t node);
/* True: the pod was let onto one node, and has not been seen bound or gone. */
bool ledger_forget(struct ledger *l, uint64_t id);
/* A snapshot shows what was booked: the pod is bound, or else gone. It is kept for a little while yet, for threads
 * that are in the middle of an answer from the snapshot before. */
void ledger_settle(struct ledger *l, uint64_t id, bool bound, mono_ms now);
uint32_t ledger_count(struct ledger *l);
uint64_t ledger_times_full(struct ledger *l); /* bookings that were not made, so far */

/* The pod's planned node was turned down by a filter of the scheduler's own. */
void ledger_refused(struct ledger *l, struct span uid, uint64_t node, mono_ms now);
/* A pod that the scheduler may evict by an answer of ours: it does so some time after its attempt has ended. An answer
 * with it again does not make the time longer. */
struct told_victim {
    struct span uid;
    uint64_t node; /* span_hash of the name */
    int32_t priority;
};
void ledger_victims(struct ledger *l, const struct told_victim *list, uint32_t count, mono_ms now);
/* Until when the pod is remembered as one, the sooner the earlier it was told; 0: it is none. */
mono_ms ledger_victim_until(struct ledger *l, struct span uid, mono_ms now);
/* The last that was told on the node, of those below the priority. In `a`; empty: nobody was. */
struct span ledger_last_victim(struct ledger *l, uint64_t node, int32_t below, mono_ms now, struct arena *a);
/* When a scheduler asked last; 0: never. Any thread. */
void ledger_asked(struct ledger *l, mono_ms now);
mono_ms ledger_last_asked(const struct ledger *l);
/* For the planner: who was sent to one node or to one of several, the oldest first, then who was refused. In `a`. */
uint32_t ledger_sent(struct ledger *l, mono_ms now, struct arena *a, const struct sent_pod **out);

/* What changed since *version (0: everything), which is moved on. `changed` are the ids of pods whose
 * booking came, went or was replaced; `bookings` those of them that stand, or all when `whole`; the oldest
 * first. In `a`. Bookings whose time is up go first. False: nothing changed. */
struct ledger_news {
    bool whole;
    const uint64_t *changed;
    uint32_t changed_count;
    const struct booking *bookings;
    uint32_t booking_count;
};
bool ledger_news(struct ledger *l, uint64_t *version, mono_ms now, struct arena *a,
                 struct ledger_news *out);

#endif
