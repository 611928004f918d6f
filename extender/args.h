/* args: the scheduler's request, decoded. Extender types carry Go field names (no JSON tags); the Pod
 * inside is normal API JSON, of which only the identity is read: the pod itself is the snapshot's. */
#ifndef EXTENDER_ARGS_H
#define EXTENDER_ARGS_H

#include "extender/extender.h"

struct pod_identity {
    struct span ns, name, uid;
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

/* The asked-for pod as the world knows it; false: no opinion on it. */
struct subject {
    const struct pod *pod;
    int32_t class_id;
    struct held *held; /* room of others' places, and of who was just sent there; may be NULL */
};
bool extender_subject(struct extender_scratch *s, const struct extender_view *v,
                      const struct pod_identity *pod, struct subject *out);

/* How full the node would be with the pod on it, 0 to 1, held room counted as taken. */
double extender_fullness(const struct extender_view *v, const struct subject *s, uint32_t row);

#endif
