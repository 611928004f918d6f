/* guards: when our view of the cluster is partial, what needs the missing part waits (design 3). Pure.
 *
 * A watch that has been broken for a minute stops what needs its kind, and nothing else. A LIST that
 * lost many objects of any kind that removal rests on (kube/list_guard.h) stops every removal until a
 * second LIST confirms it. A termination that has begun goes on under both, up to the step that rests
 * on what is not seen. Purchases are never stopped. */
#ifndef RECONCILER_GUARDS_H
#define RECONCILER_GUARDS_H

#include "kube/store.h"

enum { GUARDS_BROKEN_MS = 60 * MS_SECOND };

struct guards {
    struct {
        uint32_t list; /* the unconfirmed LIST; 0: there is none */
        mono_ms since; /* when it was seen first */
        bool asked;    /* for a second one */
    } kinds[KIND_STORED_COUNT];
};

/* What a pass does to nodes that rests on what it sees. */
enum guards_act {
    /* removals that begin */
    GUARDS_EXPIRE,
    GUARDS_COLLECT, /* a claim whose machine is gone, a machine whose claim is */
    GUARDS_EMPTY,
    GUARDS_SHRINK, /* a NodePool with replicas has more nodes */
    GUARDS_GROUPS, /* a node group has more nodes than it needs */
    /* steps of those that have begun */
    GUARDS_DRAINED,  /* no pod is left that is waited for */
    GUARDS_DETACHED, /* no volume is */
    GUARDS_NODELESS, /* the machine of a registered claim whose Node is not there */
    GUARDS_ACT_COUNT,
};

struct guards_view { /* of one snapshot; all zero: nothing is missing */
    bool broken[KIND_STORED_COUNT]; /* the kinds whose watch has been broken for too long */
    struct list_guard loss[KIND_STORED_COUNT][LOSS_COUNT]; /* `list` 0: nothing is, or no removal rests on it */
};

enum guards_verdict {
    GUARDS_CLEAR,
    GUARDS_WATCH_BROKEN,
    GUARDS_OBJECTS_LOST, /* a LIST is unconfirmed */
    GUARDS_VERDICT_COUNT,
};

const char *guards_verdict_name(enum guards_verdict v); /* "watch_broken"… for metrics */

/* Why removal rests on a kind; NULL: it does not. */
const char *guards_kind_reason(enum kind k);

struct guards_view guards_look(struct guards *g, const struct snapshot *s, mono_ms now);
/* Returns the next kind that needs a second LIST now, once for each unconfirmed LIST; KIND_NONE: none. */
enum kind guards_ask(struct guards *g, mono_ms now);
/* GUARDS_CLEAR: it may be done. *kind_out names the kind that is not seen whole. */
enum guards_verdict guards_check(const struct guards_view *v, enum guards_act act,
                                 enum kind *kind_out);
/* Whether some act can be, and is, stopped by the verdict and this kind. */
bool guards_can_stop(enum guards_verdict verdict, enum kind k);
bool guards_stops(const struct guards_view *v, enum guards_verdict verdict, enum kind k);
bool guards_see_nodes(const struct guards_view *v); /* and NodeClaims, all of them */
/* What a person is told when nothing more general than this is stopped: "no node is removed". */
const char *guards_act_sentence(enum guards_act act);
/* "a list showed 8 of 9 pods gone; a second list is asked for": what stops an act, where guards_check says so. */
struct span guards_loss_text(struct arena *a, const struct guards_view *v, enum guards_act act, enum kind k);
/* The same of what stops removals from beginning in a snapshot; absent: no loss does. */
struct span guards_snapshot_text(struct arena *a, const struct snapshot *s);
/* When the view, or what guards_ask says, can change by time alone; INT64_MAX: it cannot. */
mono_ms guards_due(const struct guards *g, const struct snapshot *s, mono_ms now);

#endif
