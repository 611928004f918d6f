/* A small cluster out of YAML, as the extender sees it: snapshot, world, places. */
#ifndef TESTS_EXTENDER_SUPPORT_CLUSTER_H
#define TESTS_EXTENDER_SUPPORT_CLUSTER_H

#include "extender/extender.h"

struct cluster {
    struct store *store;
    const struct snapshot *snapshot;
    struct places *places;
    struct extender_view view;
    struct extender_scratch scratch;
    struct ledger *ledger;
    struct symtab *catalogue_syms;
};

void cluster_open(struct cluster *c, const char *yaml);
void cluster_close(struct cluster *c);
/* "ns/pod → target"; a target that begins with "claim/" names a NodeClaim. UIDs are "uid-<pod>". */
void cluster_place(struct cluster *c, const char *pod, const char *target);

#endif
