/* neighbours: what a NodePool, NodeOverlay or NodeClaim that is being written, or a NodePool that is being deleted, is beside
 * what a snapshot holds.
 *
 * One look at the pools, at the catalogue, and, for a pool with taints, at pods until one tolerates them; an overlay is laid
 * over the catalogue with all others; a deletion looks at all rows of the world. Nobody but who writes such objects can
 * cause it. */
#ifndef WEBHOOK_NEIGHBOURS_H
#define WEBHOOK_NEIGHBOURS_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/overlay.h"
#include "kube/requirement.h"
#include "kube/store.h"

/* Warnings. `own` is what was found in the object itself; `syms` continues the snapshot's. Of what is for another provider
 * than that of `rules` nothing is told but what other pools and pods make of a pool. */
void neighbours_of_pool(struct arena *a, const struct snapshot *snapshot, const struct node_pool *p,
                        const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out);
void neighbours_of_overlay(struct arena *a, const struct snapshot *snapshot, const struct node_overlay *o, struct symtab *syms,
                           struct findings *out);
/* Nothing of one that is launched. */
void neighbours_of_claim(struct arena *a, const struct snapshot *snapshot, const struct node_claim *c,
                         const struct label_rules *rules, const struct findings *own, struct symtab *syms, struct findings *out);
/* "its 12 nodes go with it, and the 240 pods on them are evicted"; absent: it has none. DaemonSets' pods are not counted. */
struct span neighbours_of_deleted(struct arena *a, const struct snapshot *snapshot, struct span pool);

#endif
