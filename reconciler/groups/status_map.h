/* status_map: the ConfigMap in which Cluster Autoscaler says how it is (spec node-groups 1.9). For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_STATUS_MAP_H
#define RECONCILER_GROUPS_STATUS_MAP_H

#include "planner/groups/memory.h"
#include "reconciler/memo.h"

struct buf;
struct keeper;
struct pass;
struct reconciler;

/* Writes it after a pass; `decided` NULL: the pass could not be made, for the reason `message`. */
void status_map_write(struct pass *p, const struct group_pass *decided, struct span message);
void status_map_forget(struct keeper *k);
/* The process ends by its own will: so does the ConfigMap that it wrote, as upstream's, since it would go on saying that all
 * is well. Who leads next makes another. */
void status_map_end(struct reconciler *r);

/* The text, from what was found, why groups are backed off (`memory`), and the words before, which `words` remembers. */
void status_map_text(struct buf *out, const struct group_pass *decided, const struct group_memory *memory, struct memos *words,
                     wall_ms now);
void status_words_init(struct memos *words); /* released by memos_release */

#endif
