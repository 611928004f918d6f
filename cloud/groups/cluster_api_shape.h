/* cluster_api_shape: what a MachineDeployment, MachineSet or MachinePool says of its group in annotations. Pure. */
#ifndef CLOUD_GROUPS_CLUSTER_API_SHAPE_H
#define CLOUD_GROUPS_CLUSTER_API_SHAPE_H

#include "kube/machines.h"
#include "kube/node_groups.h"

#define CAPI_DELETE_KEY "cluster.x-k8s.io/delete-machine"
#define CAPI_MAX_KEY "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
#define CAPI_CLUSTER_LABEL "cluster.x-k8s.io/cluster-name"

struct capi_telling { /* one group being read */
    struct arena *a;
    const struct symtab *from; /* of its symbols */
    struct symtab *to;         /* of what is told */
    const struct machine_group *group;
    struct span arch;
    void (*aside)(void *user, struct span text); /* what is wrong with an annotation that the group can do without */
    void *user;
};

struct span capi_annotation(const struct machine_group *g, const struct symtab *syms, struct span key);
/* False: they are wrong. Absent ones are 0. */
bool capi_bounds(const struct machine_group *g, const struct symtab *syms, int32_t *min_out, int32_t *max_out,
                 struct err *err);
/* A Node as a new one would be; NULL: CPU or memory is not said. */
struct node *capi_template(struct capi_telling *t);
/* Those of a new Node. */
struct sym_pairs capi_node_labels(struct capi_telling *t);
/* Of a node, an hour. False: it does not say, or it is wrong, and told. */
bool capi_price(struct capi_telling *t, double *out);
void capi_options(struct capi_telling *t, struct group_options *out);

#endif
