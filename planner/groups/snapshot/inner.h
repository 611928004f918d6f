/* snapshot_inner: the simulated cluster as its own files see it. Everybody else uses planner/groups/snapshot/snapshot.h.
 *
 * What never changes is asked once: a class *wants* something of a node's labels and taints, nodes that are alike to
 * every class have one *look*, and what a want says to a look is kept. What only gets worse while pods come (room, ports)
 * is remembered by class as nodes that are not open any more, until one of them loosens. Rules about other pods are
 * numbers by domain, made when the first pod asks for them. */
#ifndef PLANNER_GROUPS_SNAPSHOT_INNER_H
#define PLANNER_GROUPS_SNAPSHOT_INNER_H

#include "planner/bits.h"
#include "planner/columns.h"
#include "planner/groups/snapshot/snapshot.h"

enum suit_flags {
    SUIT_KNOWN = 1,
    SUIT_TAINTS = 2, /* all that keep pods off are tolerated */
    SUIT_LABELS = 4,
    SUIT_CORDON = 8, /* it is not cordoned, or that is tolerated */
};

struct node_look {
    uint32_t row; /* of a node that has it */
    bool ghost, copy;
};

struct node_state {
    uint32_t row, look;
    uint32_t copy_look; /* of a row: its copies', + 1 */
    uint32_t at; /* in the list; of one that stands */
    bool stands, ghost, copy;
    const struct pod **pods;
    uint32_t *classes; /* theirs */
    uint32_t count, capacity;
    amount *left;
};

struct class_state {
    uint32_t want; /* + 1; 0: not yet worked out */
    struct host_ports ports; /* sorted */
    uint64_t *open; /* by node: not known to be refused for something that only gets worse */
    uint32_t words, open_count, cursor; /* into the loosened of the epoch */
    uint32_t epoch;
    uint32_t spread; /* set + 1; 0: none, or not worked out */
};

struct counter { /* pods of a group by domain; of a spread, only those on nodes that its set counts */
    uint32_t group, next; /* next: + 1, of the same group */
    uint32_t set;         /* + 1; 0: not of a spread */
    uint32_t place;       /* among the set's groups */
    uint32_t *counts, *nodes;
    uint32_t limit;       /* of both */
    uint32_t total, domains;
    uint32_t least;
    bool least_known;
};

struct spread_set { /* hard spread constraints of a pod */
    const uint32_t *groups;
    uint32_t *counters;
    uint32_t count, want;
};

enum snapshot_step_kind { STEP_ADD, STEP_REMOVE, STEP_GHOST, STEP_PLACE, STEP_UNPLACE };

struct snapshot_step {
    enum snapshot_step_kind kind;
    uint32_t node, at, class_id;
    const struct pod *pod;
};

struct snapshot {
    struct arena *arena;
    const struct world *world;
    int32_t cutoff;
    struct node_state *nodes;
    uint32_t limit, capacity;
    uint32_t *list;
    uint32_t count, list_capacity;
    uint32_t last; /* where in the list a node was found last */
    uint64_t *standing; /* bits by node */
    amount *roomiest;   /* by 64 nodes, a row of columns: no less than what is left on any; never too little */
    uint32_t words;     /* of both */

    struct snapshot_step *steps;
    uint32_t step_count, step_capacity;
    uint32_t *forks; /* steps at each */
    uint32_t fork_count, fork_capacity;

    bool *asked; /* label keys that some class asks for */
    uint32_t asked_limit;
    bool names; /* some class asks for a node's name */
    struct intern look_ids, want_ids, set_ids;
    struct node_look *looks;
    uint32_t look_capacity;
    const struct pod **wants; /* a pod that has it */
    uint8_t **suits;          /* by want and look */
    uint32_t *suit_limits;
    uint32_t want_capacity;

    struct class_state *classes;
    uint32_t *loose; /* nodes, as they got more room */
    uint32_t loose_count, loose_capacity, epoch;

    struct counter *counters;
    uint32_t counter_count, counter_capacity;
    uint32_t *first_counter; /* by group, + 1 */
    struct spread_set *sets;
    uint32_t set_capacity;
};

/* snapshot_look.c */
void snapshot_look_init(struct snapshot *s);
uint32_t snapshot_look_of(struct snapshot *s, const struct node_state *n);
uint32_t snapshot_want_of(struct snapshot *s, uint32_t class_id);
uint8_t snapshot_suits(struct snapshot *s, uint32_t want, uint32_t look);
/* The label's value on the node; SNAPSHOT_OWN: the hostname of a copy, which nobody else has. */
#define SNAPSHOT_OWN UINT32_MAX
sym snapshot_label(const struct snapshot *s, uint32_t row, bool copy, sym key);

/* snapshot_tally.c */
void snapshot_count_pod(struct snapshot *s, uint32_t node, const struct pod *p, uint32_t class_id, int by);
void snapshot_count_node(struct snapshot *s, uint32_t node, int by); /* with its pods */
enum tally_answer {
    TALLY_YES,
    TALLY_NO_LABEL, /* of a spread's key */
    TALLY_SPREAD,
    TALLY_AFFINITY,
    TALLY_ANTI,
    TALLY_OTHERS_ANTI,
};
enum tally_answer snapshot_ask_others(struct snapshot *s, uint32_t node, uint32_t class_id);

/* snapshot.c */
void snapshot_loosen(struct snapshot *s, uint32_t node);

#endif
