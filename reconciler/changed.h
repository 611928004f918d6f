/* changed: what came and went between two snapshots, of the kinds whose objects a world can be made of by delta
 * (planner/world.h). */
#ifndef RECONCILER_CHANGED_H
#define RECONCILER_CHANGED_H

#include "kube/store.h"
#include "planner/world.h"

struct changed_kind {
    const void **gone, **come;
    size_t gone_count, come_count;
};

struct changed { /* lists are malloc'ed */
    struct changed_kind pods, nodes, claims, csi_nodes;
    const void **budgets; /* all, in the order in which worlds are built of them; NULL: the very same */
    size_t budget_count;
};

/* Objects of the kind may be others in the next world without its being built. */
bool kind_changes_by_delta(enum kind k);
void changed_find(struct changed *out, const struct snapshot *now, const struct snapshot *before);
/* Points into it. */
struct world_change changed_of(const struct changed *c);
void changed_release(struct changed *c);

#endif
