/* columns: the world as the planner's own files see it. Everybody else uses planner/world.h.
 *
 * Reading order: classes (pods), types (catalogue), option (what can be bought), then this. Nodes are
 * rows; nodes that look the same to every signature share a profile, so that "does the signature suit
 * the node" is asked once a profile. */
#ifndef PLANNER_COLUMNS_H
#define PLANNER_COLUMNS_H

#include "kube/pod_budgets.h"
#include "planner/buffers.h"
#include "planner/part.h"
#include "planner/supply/option.h"
#include "planner/supply/overlays.h"
#include "planner/world.h"

/* What signatures can see of a node: labels that some of them ask for, and taints. */
struct profile {
    struct requirements labels; /* of a node a value each; of a claim still to be launched, a set */
    struct taints taints;
};

struct waiting_pod { /* pending, or on a node that is leaving */
    const struct pod *pod;
    uint32_t class_id;
    bool bound;   /* to a leaving node, or to one that a trial removes */
    bool blocked; /* by a PodDisruptionBudget, for ever */
};

struct row_ports {
    struct host_port *items; /* of pods that stand there */
    uint32_t count, capacity;
};

struct volume_numbers {
    uint32_t *items;
    uint32_t count, capacity;
};

struct row_slot {
    uint64_t hash; /* of the name */
    uint32_t row;  /* plus one; 0: free */
};

/* Rows by name, open addressing, at most half full: the extender looks up thousands of names a request, and is
 * not to touch a node for each. */
struct row_index {
    struct row_slot *slots;
    uint32_t mask;
};

/* The memory of a world that was built is PART_GROUND alone. One that was made by delta has parts of its
 * own for what changed and shares the others (delta.c). */
enum world_part {
    PART_GROUND,
    PART_SHAPES, /* classes */
    PART_ROWS,   /* nodes, requested, left, expected, ports; it holds the parts of `lists` */
    PART_PODS,   /* waiting, its index, aside, unplanned, members, volumes.users, live_daemons */
    PART_COUNTS, /* numbers of topology groups */
    PART_FRAME,  /* what Nodes, NodeClaims and CSINodes say: allocatable, capacity, profiles, the indexes of rows, options
                  * (for their budgets), topology's keys (for where rows are), volumes.csi_nodes, shared */
    PART_BUDGETS, /* `budgets` */
    PART_COUNT,
};

enum { LISTS_ROWS = 16 };

struct world {
    struct part *parts[PART_COUNT];
    struct arena *arena; /* PART_GROUND's while building, PART_FRAME's while rows are made anew; nobody's afterwards */
    struct symtab *syms; /* a reference; written only while building */
    struct world_options settings;
    struct label_rules rules;
    sym *columns;
    uint32_t column_count, column_capacity;
    uint32_t resource_count; /* columns behind it count volumes by CSI driver; also in classes */
    bool *left_out; /* by symbol: asked for, and without a column, since nothing had it */
    uint32_t left_out_limit;
    struct volumes volumes;
    struct default_spread spread;
    struct split split;
    struct classes classes;
    struct topology topology;
    struct types types; /* of the catalogue as NodeOverlays leave it */
    struct overlaid overlaid;
    struct buffers buffers; /* whose pods are among those waiting */
    uint32_t *daemons; /* classes of the DaemonSets' pods */
    int32_t *daemon_priorities;
    const struct daemon_set **daemon_sets;
    const struct pod **live_daemons; /* their newest pods, by which the classes go; NULL: by the template */
    uint32_t daemon_count;
    bool any_replace; /* some claim was bought in place of others */
    bool daemons_skipped; /* some DaemonSet is not among them: its pods have resource claims */

    struct option *options; /* in the order of trying */
    uint32_t option_count;
    bool soft_taints; /* some option has a PreferNoSchedule taint */
    const struct node_pool **pools; /* all, by name: world_node.pool is an index */
    uint32_t pool_count;

    struct world_node *nodes;
    uint32_t node_count;
    amount *allocatable, *requested, *expected, *left, *capacity; /* a row a node */
    uint32_t *profile_of;
    struct profile *profiles;
    uint32_t profile_count;
    struct row_ports *ports;
    struct volume_numbers *shared; /* by row: volumes of several pods that it has attached; or NULL */
    struct row_index by_node, by_claim; /* only rows that have one */

    struct waiting_pod *waiting;
    uint32_t waiting_count;
    const struct pod **aside; /* world_pod_is_aside, and neither standing nor waiting */
    uint32_t aside_count, aside_capacity;
    struct unplanned_pod *unplanned; /* of world_options.unbound_classes, by the hash of their uids (planner/unplanned.h) */
    uint32_t unplanned_count, unplanned_capacity;
    const struct pod **nominated; /* world_pod_is_nominated: to some node, by the scheduler or by us */
    uint32_t nominated_count, nominated_capacity;
    struct pod_budgets budgets; /* PodDisruptionBudgets */
    uint32_t *unbound_slots; /* those that are not bound, + 1, by the hash of their uid */
    uint32_t unbound_mask;
    uint32_t *members;  /* by class: pods that stand, wait, are unplanned, or a DaemonSet's */
    const bool *asked;  /* by label key: profiles show it */
    uint32_t asked_limit;
    /* By LISTS_ROWS rows: where the lists of their pods and ports are, all in PART_GROUND that have none; NULL: all. A
     * delta makes those anew that it touches, and no others however many have changed before. */
    struct part **lists;
};

/* A row as Node and NodeClaim (one may be NULL) make it, but for what its pool, type and pods say. */
struct world_node world_row(const struct node *node, const struct node_claim *claim, sym name, bool replaced);
struct sym_pairs world_row_labels(const struct world_node *n);
/* The type of the catalogue that its labels name and its pool is offered, or NULL; and the price of the first offering
 * of that type in its zone, of its capacity type, whether it can be had or not: NAN when there is none. */
const struct instance_type *world_row_type(const struct world *w, const struct world_node *n);
double world_row_offer(const struct world *w, const struct world_node *n, const struct instance_type *it);
/* Taints that count: not those that go by themselves while a node of ours comes up. */
struct taints world_row_taints(struct world *w, const struct world_node *n);
/* What a claim says of the machine that will come, its labels included. */
const struct requirements *world_launch_requirements(struct world *w, const struct node_claim *c);
/* The first taint that is not tolerated, or NULL. */
const struct taint *world_untolerated(const struct world *w, const struct signature *s, bool soft,
                                      struct taints taints);
enum fit {
    FIT_YES,
    FIT_TAINT,    /* a taint is not tolerated */
    FIT_SELECTOR, /* nodeSelector, required node affinity, or where its volumes are */
};
/* By labels and taints. *key_out (may be NULL) is the label that decides. */
enum fit world_suits(const struct world *w, const struct attempt *try, uint32_t profile,
                     sym *key_out);
static inline const amount *world_vector(const struct world *w, const amount *matrix, uint32_t row)
{
    return matrix + (size_t)row * w->column_count;
}
/* The first column that lacks room; column_count: none. Room below nothing refuses whoever comes, as in Karpenter,
 * but for volumes: kube-scheduler counts them for pods that have some, and puts others on a node that has
 * attached more than it can. */
static inline uint32_t vector_lacks(const struct world *w, const amount *request, const amount *room)
{
    uint32_t i = 0;
    while (i < w->column_count &&
           (request[i] <= room[i] || (request[i] == 0 && i >= w->resource_count)))
        i++;
    return i;
}
static inline bool vector_fits(const struct world *w, const amount *request, const amount *room)
{
    return vector_lacks(w, request, room) == w->column_count;
}

/* A PodDisruptionBudget holds the bound pod for ever: two match, or one that never lets go. */
bool world_blocks(const struct world *w, const struct pod *p);

/* The waiting pod with this uid that is not bound, or NULL. */
const struct waiting_pod *world_unbound(const struct world *w, struct span uid);

/* Pending: it is to be placed. */
bool world_pod_waits(const struct world *w, const struct pod *p);
/* Should its Node come, or be told to go, it will stand or wait: it is not over, or another will come for it. */
bool world_pod_is_aside(const struct pod *p);
/* It is not bound, gated or not, and its status names a node. */
bool world_pod_is_nominated(const struct pod *p);
int world_pod_order(const struct pod *a, const struct pod *b); /* by namespace and name */

/* What follows from the pods on a row: `requested`, but for volumes, and `ports`; then `left`. */
void world_row_sum(struct world *w, struct arena *a, uint32_t row);
void world_row_left(struct world *w, uint32_t row);
/* Of `requested` what world_row_sum leaves out, and `expected`: as a build makes them. */
void world_row_attach(struct world *w, uint32_t row);
void world_row_expected(struct world *w, uint32_t row);
/* The DaemonSet that controls the pod, as its owner; NULL: none. */
const struct owner *world_daemon_owner(const struct pod *p);
/* Pods of it that live tell what new ones are like, the newest first. */
bool world_daemon_lives(const struct pod *p);
bool world_daemon_newer(const struct pod *p, const struct pod *than);
/* A pod of the DaemonSet that is still to come, by its newest one or (NULL) by its template. */
const struct pod *world_daemon_pod(struct arena *a, const struct pod *live, const struct daemon_set *d);
void world_index_waiting(struct world *w, struct arena *a);

/* Steps of world_build, each in a file of its own: rows before the pods that stand on them, profiles
 * when every class is known, topology_finish last. */
void world_build_columns(struct world *w, const struct world_input *in);
/* Whether one of these is a resource that was asked for and has no column. */
bool world_leaves_out(const struct world *w, struct resources r);
void world_build_rows(struct world *w, const struct world_input *in);
/* Of these: which rows there are, in their order (nodes, node_count, any_replace); what one has of itself (allocatable,
 * capacity, pool, price); and finding them by name. */
void world_collect_rows(struct world *w, const struct world_input *in);
void world_fill_row(struct world *w, uint32_t row);
void world_index_rows(struct world *w);
/* What signatures can see of a row; may point into its Node and NodeClaim. Equal words: equal profiles. */
struct profile world_row_profile(struct world *w, uint32_t row);
void world_profile_words(struct words *out, const struct profile *p);
/* What pools' limits leave, by what their rows have. */
void world_budget_options(struct world *w);
void world_build_standing(struct world *w, const struct world_input *in,
                          const int32_t *row_of_sym); /* row + 1 */
void world_build_profiles(struct world *w);

#endif
