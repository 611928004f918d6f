/* support_cluster: a cluster as a snapshot shows it, and the scratch that reviews are answered with. */
#ifndef TESTS_WEBHOOK_SUPPORT_CLUSTER_H
#define TESTS_WEBHOOK_SUPPORT_CLUSTER_H

#include "tests/planner/support_snapshot.h"
#include "webhook/envelope.h"

struct reviewed_cluster {
    struct webhook_scratch scratch;
    struct snapshot_shop shop; /* the built-in catalogue */
    struct store *store;
    const struct snapshot *snapshot;
    struct symtab *syms; /* as from kube_symtab_new */
    struct buf reply;
    struct arena arena; /* of what is read from it */
};

/* Fails the test when an object cannot be read. Where it lies it stays until it is closed. */
void cluster_open(struct reviewed_cluster *c, const char *yaml);
void cluster_close(struct reviewed_cluster *c);
/* The reply's response, parsed anew, and its warnings in `arena`, one a line. */
struct doc_value cluster_response(struct reviewed_cluster *c, struct span *warnings_out);

#endif
