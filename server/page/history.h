/* history: what the fleet cost and how full it was over the last hours, kept in memory.
 *
 * Bounded: HISTORY_POINTS points of a HISTORY_STEP_MS each, six hours, which is a shift; 720 points are as many as a chart of
 * a screen's width can tell apart, and take 50 KiB. What is older is Prometheus' to keep (docs/metrics.md). A clock that
 * was set back takes the points with it that would come later. Any thread. */
#ifndef SERVER_PAGE_HISTORY_H
#define SERVER_PAGE_HISTORY_H

#include "base/buf.h"
#include "base/units.h"

enum { HISTORY_STEP_MS = 30 * MS_SECOND, HISTORY_POINTS = 720 };

struct history_point {
    wall_ms at;
    double price;                       /* per hour, of the nodes whose price is known */
    int64_t cpu_asked, cpu_there;       /* thousandths of a CPU */
    int64_t memory_asked, memory_there; /* bytes */
    uint32_t nodes, running, waiting;
};

struct history;
struct history *history_new(void);
void history_free(struct history *h); /* NULL is fine */

bool history_is_due(struct history *h, wall_ms now); /* a step has begun that has no point yet */
void history_add(struct history *h, const struct history_point *p);
/* The sequence number of the newest point; 0: there is none. It never falls. */
uint64_t history_newest(struct history *h);
/* {"stepMillis", "points": [[at, price, milliCPU asked, there, memory asked, there, nodes, pods that run, that wait]]},
 * oldest first, of those that came after `seen`. */
void history_json(struct history *h, uint64_t seen, struct buf *out);

#endif
