/* command: one disruption that was decided: who leaves, what comes in their place, and how far it is (spec disruption
 * 9). The queue owns it from then on; it steps each once a pass, and each ends: it is done, or taken back with a reason.
 *
 *   waits     of a consolidation only: it is judged a second time once its wait is over, and dropped if it does not
 *             stand. The API knows nothing of it yet
 *   marks     the taint on each Node that keeps new pods away, then the condition DisruptionReason on each NodeClaim
 *   readies   its replacements are created, which say whom they replace (kube/replaces.h): from then on everybody plans
 *             as if those were leaving. Until each has been initialised once, and the drain of who leaves can end
 *   removes   the NodeClaims are deleted; termination goes on from there
 *
 * What was marked and is in no command, of whoever's, loses its marks again (marks.h). So taking back is forgetting.
 *
 * Nothing that must not be lost is here alone: a leader that takes over finds one that readies or removes by what its
 * replacements say (adopt.c); of others nothing has begun but marks. Texts, in the command's own arena: worlds
 * come and go. Memory: by command, which budgets bound, a kilobyte and the bodies of the replacements. */
#ifndef RECONCILER_DISRUPTION_COMMAND_H
#define RECONCILER_DISRUPTION_COMMAND_H

#include "planner/disruption/validate.h"
#include "reconciler/provision/purchase.h"

struct pass;

enum { COMMAND_CHUNK = 512 }; /* of its arena: one about an empty node needs no more */

enum command_state { COMMAND_WAITS, COMMAND_MARKS, COMMAND_READIES, COMMAND_REMOVES };

struct command_member {
    struct span claim, claim_uid, node, node_uid; /* node: absent when it has none */
};

struct command_replacement {
    struct purchase buy;    /* of one that was taken over only its name */
    bool initialized;       /* has been; stays */
    bool told_launch, told_machine; /* its Events */
};

struct command {
    struct command *next;
    struct arena arena;
    char id[16];
    enum disruption_method method;
    enum disruption_decision decision;
    enum terminate_first terminate_first; /* with DECIDE_TERMINATE_FIRST */
    enum command_state state;
    mono_ms due;            /* of COMMAND_WAITS: when its wait is over */
    mono_ms began;          /* to mark; it ends a limit of time after it */
    struct command_member *members;
    uint32_t count;
    struct command_replacement *replacements;
    uint32_t replacement_count;
    const struct pledged_claim *pledged; /* types that each replacement may be, as it was decided; of one that was taken
                                          * over NULL */
    const struct span *targets; /* UIDs of Nodes and NodeClaims that its pods go to */
    uint32_t target_count;
    bool has_grace;             /* of a repair: how long its drain may take, from the deletion on */
    span_ms grace;
    struct span condition, condition_reason; /* of the Node, that it is about */
    double savings;             /* per hour; NAN: not known */
    uint32_t evictions;
    struct span move;           /* "remove a -> buy b: saves …", for a person */
    struct span event;          /* as Karpenter v1.15.0 words it in Events */
    uint64_t held;              /* hash of what was told last to hold its drain; 0: nothing */
};

/* What was decided on the world of a snapshot, with names for its replacements; not in the queue yet. NULL: a replacement
 * cannot be had by its pool's template any more. */
struct command *command_make(struct pass *p, const struct snapshot *s, const struct disruption_command *from);
void command_free(struct command *c);
/* Begins at its first state. Consolidations wait in it; another is dropped (false) if a member is in a command by now,
 * or its pool's budgets let it go no more. */
bool queue_add(struct pass *p, struct command *c);
/* Goes on at the state that it has. */
void queue_take(struct pass *p, struct command *c);
/* Who waits for its validation; NULL: nobody does. */
struct command *queue_waiting(const struct command_queue *q);
void queue_run(struct pass *p);
/* Its marks are there, or its reboot is asked for: it is in the metrics. */
void command_count(struct pass *p, const struct command *c);
void queue_forget(struct command_queue *q); /* all, without a word */
/* Commands that an earlier leader left, by what the API says of them. Once, as leading begins. */
void queue_adopt(struct pass *p);
/* Replacements of the pool (its uid) that have not been sent yet. */
uint32_t queue_unsent(const struct command_queue *q, struct span pool_uid);
span_ms queue_lasts(uint64_t nodes); /* how long a command may take while so many nodes are in the queue (9.2) */
bool queue_names(const struct command_queue *q, struct span claim); /* one of its replacements has this name */

#endif
