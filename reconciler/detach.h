/* detach: which volumes a node that leaves has to be rid of before its machine may go (spec disruption
 * 14.7). Pure. */
#ifndef RECONCILER_DETACH_H
#define RECONCILER_DETACH_H

#include "kube/storage.h"
#include "kube/store.h"

struct attachments { /* by name */
    const struct volume_attachment **items;
    uint32_t count;
};

/* Attachments to `node`, without those of no PersistentVolume, and those of a pod of `pods` (all on the node)
 * that is never drained: its volume stays attached. A claim that is not there stands for no volume. */
struct attachments detach_pending(struct arena *a, const struct snapshot *s, sym node,
                                  const struct pod *const *pods, uint32_t pod_count, wall_ms now);
/* "csi-1, csi-2", at most five and " and 3 other(s)". */
struct span detach_names(struct arena *a, const struct attachments *x);

#endif
