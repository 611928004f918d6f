/* top: the fleet on a terminal: one line of totals, a bar for each node's CPUs and memory, who waits, what is moved. Pure:
 * what is shown follows from what is given. */
#ifndef SERVER_TOP_H
#define SERVER_TOP_H

#include "server/fleet_json.h"

enum top_sort { TOP_BY_NAME, TOP_BY_CPU, TOP_BY_MEMORY, TOP_BY_PRICE, TOP_BY_PODS, TOP_SORT_COUNT };
const char *top_sort_name(enum top_sort s); /* "name", "cpu" … */

struct top_screen {
    uint32_t width, height; /* height 0: as long as it takes, without the line of keys */
    enum top_sort sort;     /* by share: the fullest first; by price, pods: most first */
    uint32_t first;         /* node at the top; more than there are: the last screenful */
    bool plain;             /* bars of "#" and ".": who reads it has no other signs */
    bool colour;
};

/* Lines, each ended by "\n", none wider than the screen (40 columns at the least), and no more than its height where that is
 * enough for a node. `trouble`: why what is shown is old;
 * absent: it is not. Returns the first node that is shown. */
uint32_t top_put(struct buf *out, const struct fleet_view *f, const struct top_screen *s, struct span trouble);

#endif
