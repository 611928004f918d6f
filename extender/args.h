/* args: the scheduler's request, decoded. Extender types carry Go field names (no JSON tags); the Pod
 * inside is normal API JSON, of which only identity and nomination are read while the snapshot has the pod. */
#ifndef EXTENDER_ARGS_H
#define EXTENDER_ARGS_H

#include "extender/extender.h"

struct pod_identity {
    struct span ns, name, uid;
    struct span nominated; /* the node for which the scheduler has evicted others; empty: none */
};

struct victim {
    struct span uid;
};

struct victims { /* MetaVictims of one node */
    struct span node;
    struct {
        struct victim *items;
        uint32_t count;
    } pods;
    int64_t pdb_violations;
};

struct extender_args { /* valid until the scratch's next use */
    struct pod_identity pod;
    struct doc_value pod_value;
    bool has_node_names;
    struct spans node_names;
    struct { /* NodeNameToMetaVictims */
        struct victims *items;
        uint32_t count;
    } candidates;
    bool has_candidates;
};

bool extender_args_decode(struct extender_scratch *s, struct span body, struct extender_args *out,
                          struct err *err);

#endif
