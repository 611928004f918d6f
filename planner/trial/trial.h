/* trial: "what if", over a world that does not change.
 *
 * Nodes or pods removed, pods placed, claims opened; every step is logged and can be undone, last
 * first. A trial costs the memory of what it touches (and four bytes a row), so that many can lie on
 * one world. It answers what is possible; in which order to try things is the search's business. */
#ifndef PLANNER_TRIAL_TRIAL_H
#define PLANNER_TRIAL_TRIAL_H

#include "planner/trial/narrow.h"
#include "planner/topology/tally.h"

struct trial_claim {
    uint32_t spec;
    amount *requests; /* of the pods on it */
    uint64_t *opened; /* types that held the first pod within the limits; never more than these */
    uint64_t *types;  /* some of which may not hold `requests` any more; see trial_claim_types */
    amount *headroom; /* what at most still fits, elementwise over `types` */
    uint32_t witness; /* a type that holds all */
    amount *charged;  /* against the option's budget */
    uint32_t pods;
    struct host_ports ports;
    uint32_t port_capacity;
    struct volume_numbers shared; /* of several pods, attached; one entry a pod that uses it */
    const uint32_t *least;        /* of the option's minValues what this claim has to have */
    bool relaxed;                 /* that is fewer */
    const uint64_t *held;         /* reservations; NULL: none */
};

enum trial_kind {
    TRIAL_ON_NODE, TRIAL_ON_CLAIM, TRIAL_OPENED, /* a pod is placed */
    TRIAL_TRIMMED, TRIAL_SETTLED, TRIAL_NODE_GONE, TRIAL_POD_GONE, TRIAL_LIFTED,
};

struct trial_step {
    enum trial_kind kind;
    uint32_t pod;    /* the search's number of the pod */
    uint32_t class_id;
    uint32_t target; /* row or claim */
    uint32_t before; /* the claim's spec; of a node that goes, moved_count; of who is lifted, whether it was leaving */
    uint32_t given_up; /* preferences of the pod that was placed, see struct attempt */
    const uint64_t *held; /* by the claim, before */
    uint64_t *opened;     /* of a claim that was trimmed, before */
    amount *charged;
};

struct trial_row { /* a row that differs from the world's */
    uint32_t row;
    amount *left;
    struct host_ports ports;
    uint32_t port_capacity;
    struct volume_numbers shared;
    bool gone;
};

struct trial_seats { /* taken at once (trial_seat); not in the log */
    uint32_t row, class_id, count;
};

struct barred;

struct trial {
    struct arena *arena;
    const struct world *world;
    struct specs specs;
    uint32_t *row_at; /* index + 1 into rows */
    struct trial_row *rows;
    uint32_t row_count, row_capacity;
    struct waiting_pod *moved; /* reschedulable pods of removed nodes */
    uint32_t moved_count, moved_capacity;
    struct trial_claim *claims;
    uint32_t claim_count, claim_capacity;
    struct trial_step *steps; /* the log */
    uint32_t step_count, step_capacity;
    struct trial_seats *seats;
    uint32_t seats_count, seats_capacity;
    amount *budgets; /* a row an option */
    amount *nodes_left;
    struct tally tally;
    uint64_t **free_domains; /* scratch, by topology key */
    double **domain_prices;  /* scratch, by topology key and domain */
    uint64_t *left;          /* scratch, a set of types */
    amount *adjusted;        /* scratch, see requests_beside */
    uint32_t *seen, seen_now; /* scratch, by symbol: when a value was last counted */
    int64_t *reserved_left, *credit; /* by reservation: what nobody holds yet; see trial_credit */
    uint64_t reserved_freed; /* how often an instance of some reservation came free: who waits asks again */
    bool best_effort;         /* new claims may have fewer different values than minValues asks */
    bool fallback;            /* who finds a reservation taken does without; else it waits */
    uint64_t asked;  /* questions answered so far: the steps of a plan */
    const int32_t *wish; /* by topology key: claims settle in this domain, or not at all; below 0, NULL: in any */
    uint32_t looks;  /* less than questions: so many as are not in `asked` yet */
    bool cut_short;  /* some question was answered with no before all ways were tried */
    bool (*stop)(void *user); /* plan_options */
    void *user;
    uint64_t stop_asked_at;   /* next */
    bool stopped;             /* for good: what is asked from now on is answered with no */
    const struct barred *barred; /* plan_options */
    uint32_t barred_count;
};

void trial_init(struct trial *t, struct arena *a, const struct world *w);
/* More instances of a reservation than the catalogue says; unknown ones are passed over. Before the
 * first pod. */
void trial_credit(struct trial *t, struct span reservation, int64_t count);
/* Whether an offering can be launched: as the catalogue has it, and by credit. */
bool trial_launchable(const struct trial *t, const struct type_offer *o);
/* How many different values of the key the types have that the requirements still allow; counts up to
 * `enough`. */
uint32_t trial_values(struct trial *t, const struct spec *s, const uint64_t *types, sym key,
                      uint32_t enough);

/* Work that is less than a question, and that input can multiply: so many of it are a step. */
enum { LOOKS_PER_STEP = 64 };
static inline void trial_look(struct trial *t, uint64_t looks)
{
    looks += t->looks;
    t->asked += looks / LOOKS_PER_STEP;
    t->looks = (uint32_t)(looks % LOOKS_PER_STEP);
}
/* To be asked in every loop whose length is the input's: a step takes some microseconds, and `stop` is asked
 * every few dozen of them. */
bool trial_stopped(struct trial *t);

/* Everything since the mark is undone. */
static inline uint32_t trial_mark(const struct trial *t)
{
    return t->step_count;
}
void trial_undo(struct trial *t, uint32_t mark);

/* Many questions on one trial: what is done from now on lies in `scratch`, until trial_return undoes it and leaves the
 * trial as it is now; what was worked out about claims (`specs`) and spreads is still known then. Scratch is the
 * caller's to clear. To be called before anything but lifts. */
struct trial_ground {
    struct trial_row *rows;
    struct waiting_pod *moved;
    struct trial_claim *claims;
    struct trial_step *steps;
    uint32_t row_capacity, moved_capacity, claim_capacity, step_capacity, step_count;
};
void trial_stand(struct trial *t, struct arena *scratch, struct trial_ground *out);
void trial_return(struct trial *t, const struct trial_ground *g);
/* As the world has the row: nothing was placed there, nor has it gone. */
static inline bool trial_is_untouched(const struct trial *t, uint32_t row)
{
    return t->row_at[row] == 0;
}

const amount *trial_left(const struct trial *t, uint32_t row);
/* The node goes: its room is not used, the pool's limits get back what it counted, and its
 * reschedulable pods join those to be placed. They are counted where they stand until whoever plans
 * them moves them. A node that is leaving already is no different afterwards. */
void trial_remove_node(struct trial *t, uint32_t row);
/* The same for who knows them already: all that are reschedulable, by name. */
void trial_remove_known(struct trial *t, uint32_t row, const struct waiting_pod *pods, uint32_t count);
/* A pod of a node that goes is planned anew: it is counted where it comes to stand. */
void trial_lift(struct trial *t, const struct waiting_pod *x, uint32_t row);
static inline bool trial_is_gone(const struct trial *t, uint32_t row)
{
    uint32_t at = t->row_at[row];
    return t->world->nodes[row].leaving || (at != 0 && t->rows[at - 1].gone);
}
/* Pods to be placed by number: the world's waiting ones, then those of removed nodes. */
static inline uint32_t trial_pod_count(const struct trial *t)
{
    return t->world->waiting_count + t->moved_count;
}
static inline bool trial_is_moved(const struct trial *t, uint32_t pod)
{
    return pod >= t->world->waiting_count;
}
static inline const struct waiting_pod *trial_pod(const struct trial *t, uint32_t pod)
{
    return trial_is_moved(t, pod) ? &t->moved[pod - t->world->waiting_count]
                                  : &t->world->waiting[pod];
}
/* So much of the row's room, or what is left of it, is nobody's. Before the first mark: it cannot be undone. */
void trial_keep(struct trial *t, uint32_t row, const amount *requests);
/* Whether room and labels are all that decides of pods of the class, and nobody else's rule looks at them. */
bool trial_may_seat(const struct world *w, uint32_t class_id);
/* So many pods of such a class keep their places on the row; false: they do not all fit, and none is seated. Before the
 * first mark: it cannot be undone. */
bool trial_seat(struct trial *t, uint32_t row, uint32_t class_id, uint32_t count);
/* A pod of the class that stands on the row goes: its room comes back, its host ports do not. */
void trial_remove_pod(struct trial *t, uint32_t row, uint32_t class_id);

/* What a pod of the class asks of any node, beside the shared volumes that others may have attached there; valid until
 * the next call. */
const amount *trial_requests_at_least(struct trial *t, uint32_t class_id);
/* What a pod of the class asks of the row, beside the shared volumes that it has attached; valid until the
 * next call. Host ports that are taken there. */
const amount *trial_requests(struct trial *t, uint32_t row, uint32_t class_id);
struct host_ports trial_ports(const struct trial *t, uint32_t row);
/* Whether a pod of the class, tried so, can run on the row: by labels, taints, room, host ports and topology. */
bool trial_fits(struct trial *t, uint32_t row, uint32_t class_id, const struct attempt *try);
/* All of it but labels and taints, which are world_suits: for who has asked that of all rows that look alike. */
enum answer trial_ask_row(struct trial *t, uint32_t row, uint32_t class_id,
                          const struct attempt *try);
/* The row is there, and has room and ports for it. */
bool trial_row_holds(struct trial *t, uint32_t row, uint32_t class_id, const struct attempt *try);
void trial_place_on_node(struct trial *t, uint32_t row, uint32_t pod, uint32_t class_id,
                         const struct attempt *try);

/* Whether the claim takes the pod; if so it is placed. ANSWER_NEVER holds as long as nothing is undone:
 * claims only fill up. A claim whose pods some group counts gets one definite domain in the group's
 * key, the one with the fewest such pods, so that what was counted stays true. */
enum answer trial_place_on_claim(struct trial *t, uint32_t claim, uint32_t pod, uint32_t class_id,
                                 const struct attempt *try);

enum opening {
    OPEN_YES,
    OPEN_TAINT,
    OPEN_REQUIREMENT,
    OPEN_TYPES,
    OPEN_RESOURCES, /* no type that is left is large enough */
    OPEN_LIMITS,    /* those that are would break the pool's limits */
    OPEN_NODES,     /* the pool's limit of nodes is reached */
    OPEN_VOLUMES,   /* nothing that can be bought is where its volumes are */
    OPEN_TOPOLOGY,  /* spread, affinity or anti-affinity leave no domain */
    OPEN_MIN_VALUES, /* too few different types are left for the pool's minValues */
    OPEN_FULL,       /* only reservations are left, and all are full */
    OPEN_RESERVED,   /* reservations that would do are all taken: it is to wait for one */
};
/* A claim with the pod. It keeps to one of the option's niches (struct option) only if its pod fits no type
 * beside the DaemonSets of all offerings. */
enum opening trial_open(struct trial *t, uint32_t option, uint32_t pod, uint32_t class_id,
                        const struct attempt *try);
/* A claim that keeps to the niche in any case. */
enum opening trial_open_niche(struct trial *t, uint32_t option, uint32_t niche, uint32_t pod,
                              uint32_t class_id, const struct attempt *try);

/* The claim keeps only types that count no more against its pool's limits than `most` says, by column,
 * and the limits get back what it might have become before. Without effect when the pool has no limits,
 * when no type would be left, and when the number of types matters: minValues, reservations. */
void trial_trim(struct trial *t, uint32_t claim, const amount *most);

/* The claim gets one definite domain of those that it leaves open in a topology key. Only where that is the
 * plan's to choose and costs nothing: the label is a custom one, which the NodeClaim is created with, no type
 * and no offering goes, and no minValues have to be counted. */
bool trial_settle(struct trial *t, uint32_t claim, uint32_t key, uint32_t domain);

/* The types that hold what is on the claim, exactly; valid until the next call. */
const uint64_t *trial_claim_types(struct trial *t, uint32_t claim);
/* The least price at which one of them can be had; INFINITY: at none. */
double trial_claim_price(struct trial *t, uint32_t claim);
/* The cheapest offering of the type, of those of these kinds that can be launched, and what a node costs beside;
 * INFINITY: none. Of twins (struct option) only what holds the requests counts. */
double trial_price(const struct trial *t, const struct option *o, uint32_t type, const uint64_t *kinds,
                   const amount *requests);

#endif
