/* guards: when our view of the cluster is partial, what needs the missing part waits (design 3). Pure.
 *
 * A watch that has been broken for a minute stops what needs its kind, and nothing else. A LIST that
 * shows more than a fifth of the nodes gone stops every removal until the watch has listed once more
 * and that one shows about as many as the snapshot has. A termination that has begun goes on under
 * both, up to the step that rests on what is not seen. Purchases are never stopped. */
#ifndef RECONCILER_GUARDS_H
#define RECONCILER_GUARDS_H

#include "kube/store.h"

enum { GUARDS_BROKEN_MS = 60 * MS_SECOND, GUARDS_LOST_PERCENT = 20 };

struct guards {
    uint32_t lists;  /* of nodes, judged so far */
    bool suspicious; /* the last one lost too many */
    uint32_t lost, had;
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
    bool nodes_lost;                /* a second list is wanted */
};

enum guards_verdict {
    GUARDS_CLEAR,
    GUARDS_WATCH_BROKEN,
    GUARDS_NODES_LOST,
    GUARDS_VERDICT_COUNT,
};

const char *guards_verdict_name(enum guards_verdict v); /* "watch_broken"… for metrics */

struct guards_view guards_look(struct guards *g, const struct snapshot *s, mono_ms now);
/* GUARDS_CLEAR: it may be done. *kind_out names the kind whose watch is broken. */
enum guards_verdict guards_check(const struct guards_view *v, enum guards_act act,
                                 enum kind *kind_out);
/* What a person is told when nothing more general than this is stopped: "no node is removed". */
const char *guards_act_sentence(enum guards_act act);
/* When the view can change by time alone; INT64_MAX: it cannot. */
mono_ms guards_due(const struct snapshot *s, mono_ms now);

#endif
