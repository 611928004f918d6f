/* A small cluster out of YAML, as the extender sees it: snapshot, world, places. */
#ifndef TESTS_EXTENDER_SUPPORT_CLUSTER_H
#define TESTS_EXTENDER_SUPPORT_CLUSTER_H

#include "extender/extender.h"
#include "tests/planner/support_snapshot.h"

struct cluster {
    struct store *store;
    const struct snapshot *snapshot;
    struct places *places;
    struct extender_view view;
    struct extender_scratch scratch;
    struct ledger *ledger;
    struct snapshot_shop shop; /* of one that is priced */
};

/* Equal dice roll alike everywhere. */
struct dice {
    uint64_t state;
};
unsigned roll(struct dice *d, unsigned below); /* 0 to below - 1 */

void cluster_open(struct cluster *c, const char *yaml);
/* With kwok's types, which takes long for every publish. */
void cluster_open_priced(struct cluster *c, const char *yaml);
void cluster_close(struct cluster *c);
/* "ns/pod → target"; a target that begins with "claim/" names a NodeClaim, one with "machine/" a machine of a node group. UIDs are "uid-<pod>". */
void cluster_place(struct cluster *c, const char *pod, const char *target);
void cluster_place_uid(struct cluster *c, const char *pod, const char *uid, const char *target);
void cluster_unplan(struct cluster *c); /* takes all places away */
void cluster_replan(struct cluster *c, struct places *instead); /* which are the cluster's from now on */
/* What a watch tells of one object; the view has it after the next cluster_publish. */
void cluster_tell(struct cluster *c, enum watch_event e, struct span json);
void cluster_publish(struct cluster *c);

#endif
