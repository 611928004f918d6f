/* neighbours: what a NodePool that is being written, or deleted, is beside what a snapshot holds.
 *
 * One look at the pools, at the catalogue, and, for a pool with taints, at pods until one tolerates them; a deletion looks
 * at all rows of the world. Nobody but who writes NodePools can cause it. */
#ifndef WEBHOOK_NEIGHBOURS_H
#define WEBHOOK_NEIGHBOURS_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/requirement.h"
#include "kube/store.h"

/* Warnings. `own` is what was found in the pool itself; `syms` continues the snapshot's. Of a pool for another provider than
 * that of `rules` only what other pools and pods make of it is told. */
void neighbours_warnings(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p,
                         const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out);
/* "its 12 nodes go with it, and the 240 pods on them are evicted"; absent: it has none. DaemonSets' pods are not counted. */
struct span neighbours_of_deleted(struct arena *a, const struct snapshot *snapshot, struct span pool);

#endif
