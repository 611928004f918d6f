/* page: the cluster on one page: what waits and why, pools, nodes with what stands on them and what
 * they cost, the last decisions. Read only.
 *
 * HTML is made here; a script keeps it as it is by what the stream /live tells (server/page/board.h), and draws the nodes
 * from there. The page has a ring of the last PAGE_DECISIONS decisions,
 * filled from the reconciler's thread, and the last plan's sentences for pods without a place. */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include "base/buf.h"
#include "kube/store.h"
#include "planner/places.h"
#include "reconciler/decision.h"
#include "reconciler/move.h"
#include "server/group_answers.h"

enum { PAGE_DECISIONS = 200, PAGE_ROWS_MAX = 1000, PAGE_REASONS_MAX = 4096 };

struct page;
struct page *page_new(void);
void page_free(struct page *p);

/* reconciler_listener.decided: any thread. A decision about a Pod becomes that pod's reason. */
void page_decided(struct page *p, const struct decision *d);
/* The last sentence about a pod, in `a`; absent: nothing is known. Any thread. */
struct span page_reason(struct page *p, struct arena *a, const struct pod *pod);
/* Why a node is as it is, without its name; its claim, while there is no Node. As page_reason. */
struct span page_node_reason(struct page *p, struct arena *a, enum kind k, const struct meta *node);
/* Why nothing is planned for a pod for a while (plan_options.put_off), if that is what was said last. */
struct why page_put_off(struct page *p, struct arena *a, const struct pod *pod);
/* Why nodes of a NodePool that have drifted are let alone, in `a`; absent: they are not. Any thread. */
struct span page_drift_paused(struct page *p, struct arena *a, const struct meta *pool);
/* reconciler_listener.moved. Any thread; copied. */
void page_moved(struct page *p, const struct moves *m);
/* The last ones, in `a`. Any thread. */
struct moves page_moves(struct page *p, struct arena *a);
/* What `explain move ID` says, as explanation_json; false: nobody remembers it. Any thread. */
bool page_explain_move(struct page *p, struct span id, struct buf *out, struct err *err);
/* We do not lead any more: what was said of objects is not kept up to date, and no moves are ours. Any thread. */
void page_forget(struct page *p);
/* Who we are to the reader: "leads", "observes: Karpenter holds its Lease", … Any thread; copied. */
void page_standing(struct page *p, struct span text);
/* Moves when the ring or the standing has changed. */
uint64_t page_version(const struct page *p);

struct page_view {
    const struct snapshot *snapshot; /* may be NULL */
    const struct world *world;       /* may be NULL */
    const struct places *places;     /* may be NULL */
    wall_ms now;
    struct group_answers *groups; /* NULL: there are none */
};

/* What a node costs an hour: by the world, else by its node group; NAN: not known. Any thread. */
double page_node_price(const struct page_view *v, const struct world_node *n);

/* What the fleet is now becomes a point of its history (server/page/history.h), once a step. Any thread; takes the time of
 * all pods. */
bool page_sample_due(struct page *p, wall_ms now);
void page_sample(struct page *p, const struct page_view *v);
void page_history_json(struct page *p, uint64_t seen, struct buf *out); /* what came after `seen`; any thread */
uint64_t page_history_newest(struct page *p);

/* The whole document. The nodes are drawn by its script; without one all else can be read as of now. */
void page_html(struct page *p, const struct page_view *v, struct buf *out);

enum page_part {
    PAGE_PART_SUMMARY,
    PAGE_PART_WAITING,
    PAGE_PART_MOVES,
    PAGE_PART_POOLS,
    PAGE_PART_DECISIONS,
    PAGE_PART_COUNT,
};
const char *page_part_name(enum page_part part); /* the id of its element: "summary" */
/* The inside of its element, without what time alone changes: the script has the ages. */
void page_part(struct page *p, enum page_part part, const struct page_view *v, struct buf *out);

#endif
