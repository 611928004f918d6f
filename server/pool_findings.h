/* pool_findings: what a catalogue and other NodePools make of one, of all that were read together: from files, or of a
 * cluster that is checked. Admission says the same (webhook/neighbours.h). */
#ifndef SERVER_POOL_FINDINGS_H
#define SERVER_POOL_FINDINGS_H

#include "kube/finding.h"
#include "kube/instance_type.h"
#include "kube/node.h"
#include "kube/pod.h"

struct pool_company {
    const struct catalogue *catalogue;
    const struct node_pool *const *pools; /* with itself */
    size_t count;
    const struct pod *const *pods; /* that there are; none: nobody knows who tolerates what */
    size_t pod_count;
};

/* Of types only where the pool was written for this catalogue (cloud/pool_match.h) and is not odd in itself. */
void pool_findings(struct arena *a, const struct node_pool *pool, const struct pool_company *among, struct symtab *syms,
                   struct findings *out);

#endif
