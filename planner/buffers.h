/* buffers: the virtual pods of CapacityBuffers (spec api 8, provisioning 1.4).
 *
 * A buffer points at a PodTemplate, or at a workload whose pods it imitates, and says how many: the most of
 * its replicas and its share of the workload's, within its limits. Each is a pod that waits, of the
 * lowest priority, without volumes. Pure. */
#ifndef PLANNER_BUFFERS_H
#define PLANNER_BUFFERS_H

#include "planner/world.h"

enum { BUFFERS_PODS_MAX = 100000 }; /* of all buffers; one that asks for more than is left has none */

struct buffer_fault {
    const struct capacity_buffer *buffer;
    struct span why; /* one sentence */
};

struct buffers {
    const struct pod *const *pods; /* by buffer's namespace and name, then by number */
    uint32_t count;
    const struct buffer_fault *faults; /* buffers without pods that should have some */
    uint32_t fault_count;
};

/* Everything new lives in `a`. No pods when the input has some already: whoever gave the buffers'
 * pods has resolved them. */
struct buffers buffers_resolve(struct arena *a, struct symtab *syms, const struct world_input *in);

#endif
