/* cluster_api_inner: what provider clusterapi knows of its groups from the last look, and what it was asked for since. For
 * its files only. */
#ifndef CLOUD_GROUPS_CLUSTER_API_INNER_H
#define CLOUD_GROUPS_CLUSTER_API_INNER_H

#include "cloud/groups/cluster_api.h"
#include "cloud/groups/cluster_api_shape.h"
#include "cloud/groups/operation.h"

#define CAPI_MARK "stowage" /* the value of our delete-machine; whatever others write is theirs */

struct capi_machine { /* of the last look */
    struct span id;   /* as it was told */
    uint32_t group;   /* its row */
    struct span name; /* of the Machine; absent: a MachinePool's that has none */
    bool is_marked;   /* by us, and not being deleted */
};

struct capi_group {
    struct span id; /* Kind/namespace/name */
    enum kind kind; /* KIND_MACHINE_DEPLOYMENT, KIND_MACHINE_SET, KIND_MACHINE_POOL */
    struct span ns, name;
    int32_t min, max;
    int32_t settled; /* Machines that have a Node and are well: no request that can be withdrawn */
    int32_t existing; /* Machines that are not being deleted */
};

struct capi_sized { /* a size that was written, until a snapshot is as new */
    struct capi_sized *next;
    int32_t target;
    uint64_t version;
    struct span group; /* of one block with it */
};

struct capi_leaving { /* a Machine that was chosen, until it is being deleted */
    struct capi_leaving *next;
    bool seen; /* in this look */
    struct span key; /* namespace/name, of one block with it */
};

struct capi_work;

struct capi {
    struct group_provider provider;
    struct cluster_api_options options;
    struct arena arena;
    struct group_operations operations; /* its lock is over all below */
    struct arena look_arena;
    bool looked_at;
    struct capi_group *groups; /* by id */
    uint32_t group_count;
    struct capi_machine *machines; /* by id */
    uint32_t machine_count;
    struct capi_sized *sized;
    struct capi_leaving *leaving;
    struct capi_work *line; /* calls under way and those that wait for them, oldest first */
    struct span *asides; /* in the look's arena */
    uint32_t aside_count, aside_capacity;
};

static inline struct capi *capi_of(struct group_provider *p)
{
    return (struct capi *)p; /* first member */
}

/* Under the lock. */
const struct capi_group *capi_group_find(const struct capi *c, struct span id); /* NULL */
const struct capi_machine *capi_machine_find(const struct capi *c, struct span id); /* NULL */
void capi_note_size(struct capi *c, struct span group, int32_t target, uint64_t version);
struct capi_leaving *capi_leaving_find(const struct capi *c, struct span ns, struct span name); /* NULL */
void capi_leaving_add(struct capi *c, struct span ns, struct span name);
void capi_leaving_drop(struct capi *c, struct span ns, struct span name);

/* The provider's operations (cloud/group_provider.h). */
bool capi_look(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms,
               struct node_groups *out, struct err *err);
uint64_t capi_resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done, void *user);
uint64_t capi_remove(struct group_provider *p, struct span group, const struct span *ids, uint32_t count, bool force,
                     group_done *done, void *user);

#endif
