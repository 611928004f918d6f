/* guards: when our view of the cluster is partial, nothing is removed (design 3). Pure.
 *
 * A watch that has been broken for a minute stops removals. So does a LIST that shows more than a
 * fifth of the nodes gone, until a second one shows about as many as the snapshot has. */
#ifndef RECONCILER_GUARDS_H
#define RECONCILER_GUARDS_H

#include "kube/store.h"

enum { GUARDS_BROKEN_MS = 60 * MS_SECOND, GUARDS_LOST_PERCENT = 20 };

struct guards {
    uint32_t lists;  /* of nodes, judged so far */
    bool suspicious; /* the last one lost too many */
    uint32_t lost, had;
};

enum guards_verdict {
    GUARDS_CLEAR,
    GUARDS_WATCH_BROKEN, /* *kind_out names the kind */
    GUARDS_NODES_LOST,   /* a second list is wanted */
    GUARDS_VERDICT_COUNT,
};

const char *guards_verdict_name(enum guards_verdict v); /* "watch_broken"… for metrics */

enum guards_verdict guards_check(struct guards *g, const struct snapshot *s, mono_ms now,
                                 enum kind *kind_out);
/* A second list of nodes had this many. Agreement clears the suspicion. */
void guards_second_list(struct guards *g, uint32_t counted, uint32_t in_snapshot);
/* When the verdict can change by time alone; INT64_MAX: it cannot. */
mono_ms guards_due(const struct snapshot *s, mono_ms now);

#endif
