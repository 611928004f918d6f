/* disruption: which nodes are to leave, by which method, and what comes in their place (spec disruption 1, 3-8).
 *
 * Pure: equal world and options give equal commands, ties by name. A decision is about the state as given: waits are
 * over at once, nothing is validated a second time (that is asking again). Everything lives in the result's arena, in
 * its plans, or in the world. */
#ifndef PLANNER_DISRUPTION_DISRUPTION_H
#define PLANNER_DISRUPTION_DISRUPTION_H

#include "kube/disruption_mode.h"
#include "kube/repair.h"
#include "planner/disruption/allowance.h"
#include "planner/plan/plan.h"

enum disruption_method { /* in the order in which they are asked: the first that acts is the pass */
    METHOD_REPAIR,
    METHOD_EMPTINESS,
    METHOD_STATIC_DRIFT,
    METHOD_DRIFT,
    METHOD_MULTI,
    METHOD_SINGLE,
    METHOD_COUNT,
};
const char *disruption_method_name(enum disruption_method m); /* "MultiNodeConsolidation" */
enum disruption_reason disruption_method_reason(enum disruption_method m);

enum disruption_decision { DECIDE_DELETE, DECIDE_REPLACE, DECIDE_TERMINATE_FIRST, DECIDE_REBOOT };
const char *disruption_decision_name(enum disruption_decision d); /* "terminate-first" */

enum terminate_first { TERMINATE_NO_RESERVED_CAPACITY, TERMINATE_STATIC_AT_LIMIT }; /* 8.11 */
const char *disruption_terminate_first_name(enum terminate_first t); /* "static-at-limit" */

struct move_price { /* what a consolidation costs once, in dollars (price.h) */
    double evictions;    /* by what each pod's costs */
    double warm_up;      /* old and new nodes are paid while these come up */
    double image_pulls;  /* of pods that go to new nodes */
    double launch_fails; /* from 0 to 1: one of the new nodes does not come, and nothing is saved */
};

struct disruption_command {
    enum disruption_method method;
    enum disruption_decision decision;
    enum terminate_first terminate_first;  /* with DECIDE_TERMINATE_FIRST */
    const uint32_t *rows;                  /* candidates, in the order in which they were taken */
    uint32_t count;
    const struct plan_claim *replacements; /* of a static pool without types: its template */
    uint32_t replacement_count;
    double savings;                        /* per hour; NAN: not known (plan-contract 4) */
    double cost;                           /* sum of the candidates' disruption_cost */
    uint32_t evictions;                    /* pods that have to go elsewhere */
    bool priced;                           /* a consolidation that is not greedy's: `price` is known */
    struct move_price price;
    bool has_grace;                        /* a bound of the drain, of a repair policy */
    span_ms grace;
    struct span condition, condition_reason; /* of the node, that a repair is about */
    bool escalated;                        /* replaced, since reboots have not helped */
    const struct plan *plan;               /* the simulation that it rests on; NULL: none was needed */
    struct symtab *syms;                   /* of the replacements' symbols */
};

enum disruption_note_kind { /* as Karpenter's Events name them */
    NOTE_BLOCKED,           /* DisruptionBlocked, on Node and NodeClaim; on a pool: its budgets */
    NOTE_UNCONSOLIDATABLE,
    NOTE_REPAIR_BLOCKED,    /* NodeRepairBlocked */
};

struct disruption_note { /* why somebody is left alone; who has nothing to say has none */
    enum disruption_note_kind kind;
    enum disruption_method method;
    int32_t row;                   /* -1: of the pool alone */
    const struct node_pool *pool;  /* or NULL */
    struct span text;
    bool shared;                   /* of the checks that are no method's own (candidate.h) */
};

struct reboot_count { uint32_t row, reboots; };          /* that Repair ordered within 24 h */
struct reserved_nodes { struct span pool; int64_t nodes; }; /* of a static pool: on their way, without a claim yet */

struct launch_fact { /* how a pool's launches went; of others warm_up is DISRUPTION_OVERLAP_MS, and none fails */
    struct span pool;
    span_ms warm_up; /* from the NodeClaim to a node that takes pods */
    double fails;    /* from 0 to 1, less than 1 */
};

struct wave_left { struct span pool; uint32_t nodes; };

struct class_repair { /* of the nodes of a node class */
    struct span group, kind;
    const struct repair_policies *policies;
};

struct disruption_options {
    const struct plan_options *plan; /* policies, now, stop; not its search (simulate.h), nor what it says of removals */
    uint32_t passed_over;            /* methods (bit by number) that are not asked */
    bool all;                        /* every method on the same state, instead of the first that acts */
    /* Only nodes are asked about whose pool says this for the method's reason. With MODE_RECOMMEND the first method that
     * acts for each reason has its command, all on the same state, which budgets do not notice. */
    enum disruption_mode mode;
    const struct repair_policies *repair; /* gate NodeRepair, and not --legacy-node-repair; NULL: no method Repair */
    const struct class_repair *class_repairs; /* of these instead, or none, where a claim is of the class */
    uint32_t class_repair_count;
    bool terminate_first_drift, terminate_first_repair, spot_to_spot, pod_deletion_cost; /* gates */
    /* What a running controller remembers; sets of rows, NULL: none. */
    const uint64_t *queued, *nominated, *buffered;
    const uint64_t *cooling; /* took the pods of a consolidation a while ago, and are in none now */
    const struct reboot_count *reboots;
    uint32_t reboot_count;
    const struct reserved_nodes *reserved;
    uint32_t reserved_count;
    const struct wave_left *waves; /* pools of which so many nodes may go for drift now; others: any number */
    uint32_t wave_count;
    const struct launch_fact *launches;
    uint32_t launch_count;
    const struct span *unreached; /* pools by name: what the decision before said of them */
    uint32_t unreached_count;
    /* Rows, NULL: none: `looked` of the decision before, if that was not `swept`. These are not looked at alone again. */
    const uint64_t *looked;
    uint64_t multi_steps, single_steps; /* after which a search ends with what it has, and is not complete; 0: what is
                                         * upstream's one minute and three, see multi.c */
};

struct disruption {
    struct arena arena;
    const struct disruption_command *commands;
    uint32_t command_count;
    const struct disruption_note *notes;
    uint32_t note_count;
    struct span error;    /* what ends a pass before any method acts: no pool is ready (7); absent: nothing did */
    uint32_t constrained; /* methods (bit by number) of which a budget held somebody back */
    uint64_t steps;
    bool complete;        /* not stopped before the end */
    bool swept;           /* every node that a consolidation may take was looked at, at least alone, or is in options' looked */
    const uint64_t *looked; /* rows: those of the options, and who was looked at alone; NULL: no search did */
    /* Pools that a search for one node had not come to when its steps were over: to be handed in with the next, in which
     * they come first. */
    const struct span *unreached;
    uint32_t unreached_count;
    struct symtab *syms;  /* the world's, and names of its own; of the arena */
    struct plan **plans;  /* of commands, freed with it */
    uint32_t plan_count;
};

/* How long until the savings have paid for the time in which both the replacements and what they replace run: from a
 * claim to a node that takes pods, which clouds make in two to four minutes, unless it was measured; of one that is priced
 * also for all else that it costs once. 0: nothing is paid, -1: never, or it is not known. */
enum { DISRUPTION_OVERLAP_MS = 3 * 60 * 1000 };
span_ms disruption_payback(const struct disruption_command *c);

/* Some pool says MODE_RECOMMEND for some reason: else there is no need to ask. */
bool disruption_recommends(const struct world *w);
struct disruption *disruption_decide(const struct world *w, const struct disruption_options *o);
void disruption_free(struct disruption *d);

#endif
