/* pod_wire: a Pod as it is decoded, before its containers are summed up. Private to kube/. */
#ifndef KUBE_POD_WIRE_H
#define KUBE_POD_WIRE_H

#include "kube/pod.h"

struct wire_count { /* a list of which only the length matters */
    struct wire_counted {
        bool ignored;
    } * items;
    uint32_t count;
};

struct container {
    struct span name;
    bool restartable; /* an init container with restartPolicy Always */
    struct resources requests, limits;
    struct host_ports ports; /* those without a hostPort have port 0 */
    struct wire_count claims;
};

struct containers {
    struct container *items;
    uint32_t count;
};

struct container_status { /* in-place resize: what the node has given */
    struct span name;
    bool has_resources;
    struct resources requests, allocated;
};

struct container_statuses {
    struct container_status *items;
    uint32_t count;
};

struct wire_volumes {
    struct wire_volume {
        struct span name, claim;
        bool ephemeral, host_path, empty_dir;
        struct span medium; /* of the emptyDir; "Memory", or none: the disk */
        sym storage_class;
    } * items;
    uint32_t count;
};

struct pod_wire {
    struct pod pod; /* all that is taken over as it is */
    struct containers containers, init_containers;
    struct resources pod_level, pod_level_limits, overhead;
    struct conditions conditions;
    struct container_statuses statuses, init_statuses;
    struct wire_volumes volumes;
    struct wire_count claims, gates;
    struct span priority_class, preemption;
};

/* Requests of containers that are missing are filled from their limits, as the API server does for a Pod but
 * not for a template (spec provisioning 2.8). */
void pod_wire_default(struct arena *a, struct pod_wire *w);
/* Spec provisioning 2.6, without "pods"; sorted by symbol, zeros left out. */
struct resources pod_wire_requests(struct arena *a, const struct pod_wire *w,
                                   const struct symtab *syms);
/* The same of limits, as they are written; overhead comes on top of what is limited at all. */
struct resources pod_wire_limits(struct arena *a, const struct pod_wire *w,
                                 const struct symtab *syms);

#endif
