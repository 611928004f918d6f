/* fleet_json: nodes with what is asked of them and what they cost, who waits, and what is to leave: what GET /fleet answers and
 * `stowage top` shows. docs/plan.md has the fields; what is not known is absent. */
#ifndef SERVER_FLEET_JSON_H
#define SERVER_FLEET_JSON_H

#include "base/arena.h"
#include "base/err.h"
#include "server/places_json.h"

enum fleet_state { FLEET_READY, FLEET_COMING, FLEET_LEAVING, FLEET_FOREIGN, FLEET_STATE_COUNT };
const char *fleet_state_name(enum fleet_state s); /* "ready", "coming", "leaving", "not ours" */

struct fleet_node {
    struct span name, pool, type, zone, capacity_type; /* absent: not known */
    struct span group; /* absent: it is of no node group */
    enum fleet_state state;
    double price;                 /* per hour; NAN: not known */
    int64_t cpu_asked, cpu_there; /* thousandths of a CPU */
    int64_t memory_asked, memory_there; /* bytes */
    uint32_t pods, planned;       /* that are there; that are on their way there */
};

struct fleet_line { /* a pod that waits, or a move, and what is to be said */
    struct span name, text;
};

enum { FLEET_LINES = 20 }; /* of each; who wants all asks GET /plan */

struct fleet_view {
    const struct fleet_node *nodes;
    uint32_t node_count;
    uint32_t running, waiting;         /* pods */
    const struct fleet_line *without;  /* pods that wait and have no place, by name */
    const struct fleet_line *moves;
    uint32_t without_count, move_count; /* FLEET_LINES at most */
    uint32_t without_all, move_all;
};

/* Everything in `a`, or in what the view is of; `syms`: the world's. A view without a world has no nodes. */
void fleet_of(struct arena *a, const struct places_view *v, const struct symtab *syms, struct fleet_view *out);
void fleet_json(struct buf *out, const struct fleet_view *f);
/* Everything in `a`. */
bool fleet_decode(struct arena *a, struct span json, struct fleet_view *out, struct err *err);

#endif
