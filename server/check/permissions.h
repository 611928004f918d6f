/* permissions: what Stowage's account must be allowed. The list is manifests/rbac.yaml itself, put
 * into the program when it is built, so that there is no second one. */
#ifndef SERVER_CHECK_PERMISSIONS_H
#define SERVER_CHECK_PERMISSIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "kube/kind.h"
#include "server/group_options.h"
#include "server/options.h"

struct permission { /* one verb on one resource */
    struct span group, resource, subresource; /* subresource absent: the objects themselves */
    struct span name;                         /* absent: all of them */
    struct span ns;                           /* absent: in the whole cluster */
    struct span verb;
};

struct permissions {
    struct permission *items;
    uint32_t count, capacity;
};

/* Adds the rules of all ClusterRoles and Roles in a YAML text, `ns` in the place of each Role's namespace. */
bool permissions_decode(struct arena *a, struct span yaml, struct span ns, struct permissions *out,
                        struct err *err);
/* Those of manifests/rbac.yaml and, where the options ask for what it is for, of manifests/pod-deletion-cost. */
void permissions_shipped(struct arena *a, struct span ns, const struct options *o, struct permissions *out);
/* Those of manifests/kwok, which NodePools with a KWOKNodeClass need, and of manifests/shaping, which its webhooks need. */
void permissions_of_kwok(struct arena *a, struct permissions *out);
void permissions_of_shaping(struct arena *a, struct permissions *out);
/* Those of manifests/groups, and of manifests/kwok or manifests/groups-clusterapi where the provider is that and has its
 * machines in this cluster; ConfigMaps by the names that the flags give them. */
void permissions_of_groups(struct arena *a, const struct group_options_given *g, struct permissions *out);
/* Whether they hold a verb on all objects of a kind. */
bool permissions_have(const struct permissions *p, enum kind k, struct span verb);

struct json;

/* The member resourceAttributes of an access review's spec. */
void permission_put(struct json *j, const struct permission *p);
/* "patch nodes", "get secrets stowage-certs in stowage-system" */
struct span permission_text(struct arena *a, const struct permission *p);

#endif
