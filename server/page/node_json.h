/* node_json: one node as the page's script takes it: what it is, how full, and whose pods fill it, equal ones as one.
 *
 * {"n": name, "p": NodePool, "g": node group, "t": type, "z": zone, "c": capacity type, "s": "ready", "$": price an hour, "a": made at,
 * "cpu" and "mem": [asked, there, planned, kept for DaemonSets], "w": [[workload, pods, CPU, memory]…], "r": why it is as it
 * is}. Thousandths of a CPU, bytes, milliseconds; a workload is "Kind namespace/name"; what is not known is absent. */
#ifndef SERVER_PAGE_NODE_JSON_H
#define SERVER_PAGE_NODE_JSON_H

#include "base/buf.h"
#include "planner/world.h"

struct node_json {
    const struct world *world;
    const struct symtab *syms;
    uint32_t row;
    const amount *planned; /* held for pods that are to come; NULL: nothing */
    struct span reason;    /* absent: none is known */
    struct span group;     /* absent: it is of no node group */
    double price;          /* an hour; NAN: not known */
};

void node_json(struct arena *scratch, const struct node_json *n, struct buf *out);

#endif
