/* buffers: the virtual pods of CapacityBuffers (spec api 8, provisioning 1.4).
 *
 * A buffer points at a PodTemplate, or at a workload whose pods it imitates, and says how many: the most of
 * its replicas and its share of the workload's, within its limits. Each is a pod that waits, of the
 * lowest priority, without volumes. It stands for room, so nobody keeps a place for it. Pure. */
#ifndef PLANNER_BUFFERS_H
#define PLANNER_BUFFERS_H

#include "planner/world.h"

enum { BUFFERS_PODS_MAX = 100000 }; /* of all buffers; one that asks for more than is left has none */

enum buffer_state {
    BUFFER_RESOLVED,
    BUFFER_NO_REFERENCE, /* neither to a template nor to a workload */
    BUFFER_NO_TEMPLATE,  /* no such PodTemplate */
    BUFFER_NO_WORKLOAD,  /* no such workload */
    BUFFER_FAILED,       /* a kind of workload that is not known, or too many pods */
};

struct buffer_answer { /* of one buffer */
    const struct capacity_buffer *buffer;
    enum buffer_state state;
    struct span why;           /* one sentence, unless resolved */
    const struct meta *source; /* the PodTemplate or workload; NULL: none */
    int64_t replicas;          /* how many virtual pods */
};

struct buffers {
    const struct pod *const *pods; /* by buffer's namespace and name, then by number */
    uint32_t count;
    const struct buffer_answer *answers; /* one a buffer, by namespace and name */
    uint32_t answer_count;
};

/* Everything new lives in `a`. Nothing when options->buffer_pods_given and the input has some already:
 * whoever gave the buffers' pods has resolved them. */
struct buffers buffers_resolve(struct arena *a, struct symtab *syms, const struct world_input *in);
/* Of a virtual pod its buffer, which is of the same namespace. */
struct span buffer_name_of(const struct pod *p);
struct span buffer_uid_of(const struct pod *p);
/* Those of the world; none without the gate. */
const struct buffers *world_buffers(const struct world *w);

#endif
