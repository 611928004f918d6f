/* detach: which volumes a node that leaves has to be rid of before its machine may go (spec disruption
 * 14.7). Pure. */
#ifndef RECONCILER_TERMINATION_DETACH_H
#define RECONCILER_TERMINATION_DETACH_H

#include "kube/storage.h"

struct detach_node { /* a node that leaves */
    sym name;
    const struct pod *const *pods; /* all that are on it */
    uint32_t pod_count;
    /* A claim by namespace and name; NULL: it is not there. */
    const struct volume_claim *(*claim)(const void *from, struct span ns, struct span name);
    const void *from;
    wall_ms now;
};

struct attachments { /* by name */
    const struct volume_attachment **items;
    uint32_t count, capacity;
};

/* Adds one that the node's machine waits for: not of another node, not of no PersistentVolume, and not of a pod
 * that is never drained: its volume stays attached. A claim that is not there stands for no volume. */
void detach_look(struct arena *a, struct attachments *x, const struct detach_node *n,
                 const struct volume_attachment *attachment);
/* "csi-1, csi-2", at most five and " and 3 other(s)". */
struct span detach_names(struct arena *a, const struct attachments *x);
/* "2 volumes are still attached (VolumeAttachment csi-1, csi-2)"; absent: none is. */
struct span detach_sentence(struct arena *a, const struct attachments *x);

#endif
