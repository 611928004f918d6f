/* extender: what kube-scheduler is told when it asks about a pod (filter, prioritize, preempt).
 *
 * Functions of the snapshot's world, the published places, the ledger of what was answered a moment ago
 * and the request's bytes; the shell reads the body and sends what stands in `reply`.
 *
 * A planned pod goes to its planned node when that is among the candidates, else to that of an equal pod
 * (extender/desk.h), and else to one other node, so that the next plan knows where it is; one that says itself which
 * nodes it prefers to any that is free, which kube-scheduler weighs. Any pod may use a
 * node that it has no place on as far as it leaves the room that others hold there and what DaemonSet pods
 * still to come need; a pod of higher priority need not leave a lower one's, and none needs to on the node
 * that the scheduler has freed for it. A place is held until its pod is bound or gone, or another plan has it
 * elsewhere or nowhere. The first pod of a group that has to be together (required affinity to its own kind) waits for
 * its place, and for another for all of them should the scheduler refuse it there. So does a planned pod that counts
 * for a required spread, affinity or anti-affinity, its own or others': but in the domain of its place it would have
 * others lose theirs, since the scheduler knows only of those that are there already.
 *
 * A pod that has to leave its node has a place before it is evicted, held until its successor has inherited it.
 *
 * A pod without a place is told the best node (extender/score.h), its replicas kept apart (extender/replicas.h), so
 * that kube-scheduler need not score and ask a second time; only where it knows more than we do, the best of each
 * zone; one that says itself which it prefers is told all.
 *
 * What is unknown or stale never blocks, its answer is no opinion, that is all names: a pod that is not in
 * sight, unless it is so new that no snapshot can have it (then its own words count), a node that is not
 * in sight, a snapshot whose watch has been broken for 10 s.
 *
 * Every answer keeps to the rules of the wire (kubernetes-contracts 1.3–1.6): names are a subset of
 * those asked about, and what evicting pods cannot cure goes to FailedAndUnresolvableNodes, where one node of each
 * kind speaks for all: the scheduler takes those that are not spoken of for such. Reasons are few and short. */
#ifndef EXTENDER_EXTENDER_H
#define EXTENDER_EXTENDER_H

#include "base/buf.h"
#include "extender/desk.h"

struct extender_view {
    const struct snapshot *snapshot; /* NULL: no opinion (not leading, not synced) */
    const struct world *world;       /* of the snapshot; NULL: no opinion */
    const struct places *places;     /* may be NULL */
    struct ledger *ledger;           /* shared by all who answer; NULL: no memory of answers */
    mono_ms now;
    wall_ms wall; /* tells which pods are new; 0: none is */
};

/* Kept per thread: parser buffers, an arena that each call empties, and the desk. */
struct extender_scratch {
    struct doc_parser *parser;
    struct arena arena;
    struct desk desk;
};
void extender_scratch_init(struct extender_scratch *s);
void extender_scratch_release(struct extender_scratch *s);

/* How it was answered: the metric's label. */
enum extender_answer {
    EXTENDER_NO_OPINION,
    EXTENDER_PLANNED, /* the planned node alone */
    EXTENDER_TRADED,  /* the place of an equal pod alone, since its own is not among the candidates */
    EXTENDER_INHERITED, /* the place alone of a pod of its workload that has to leave its node */
    EXTENDER_REVISED, /* it has a place, and was let elsewhere, since its node is not among the candidates */
    EXTENDER_ROOM,    /* of the candidates less those whose room is held or that are about to go */
    EXTENDER_WAITS,   /* it is to wait for its place: elsewhere its group would be torn apart, or others lose theirs */
    EXTENDER_REFUSED, /* no candidate left */
    EXTENDER_ANSWER_COUNT,
};
const char *extender_answer_name(enum extender_answer a); /* "no-opinion", "planned"… */

struct extender_verdict {
    enum extender_answer answer;
    bool sampled; /* the scheduler seems to have offered a sample of its nodes only */
    /* The ledger has something for the planner: its planned node is there and ready, and a filter of the
     * scheduler's own has refused it; or another pod's place is its own now. */
    bool astray;
    bool again;   /* the pod was let onto one node before, and that has come to nothing: an attempt more */
    bool gave_in; /* others booked all the while: decided by what may have been old news */
};

/* ExtenderArgs → ExtenderFilterResult. False with ERR_INVALID: the body is not one, or carries Nodes
 * instead of NodeNames (nodeCacheCapable must be true). */
bool extender_filter(struct extender_scratch *s, const struct extender_view *v, struct span body,
                     struct buf *reply, struct extender_verdict *verdict_out, struct err *err);

/* ExtenderArgs → HostPriorityList, 0 to 10: fuller nodes higher, counting what is held there, then those
 * that are cheaper to keep, then those that live longer. A pod that states preferences of its own gets
 * at most 2, so that they decide. */
bool extender_prioritize(struct extender_scratch *s, const struct extender_view *v,
                         struct span body, struct buf *reply, struct extender_verdict *verdict_out,
                         struct err *err);

/* ExtenderPreemptionArgs → ExtenderPreemptionResult: one of the candidates, less nodes about to go, nodes of the
 * capacity type that its workload does not want it on, and nodes where even without the victims the pod would take
 * room that equal or higher priority holds, or that a DaemonSet's pod of such still needs. Of those left the one
 * that kube-scheduler would choose (v1.36: fewest violations of budgets, lowest priorities of victims, fewest of
 * them, last started), where whoever was let be evicted a moment ago costs nothing; several only while victims are
 * not in sight. When those evicted a moment ago are enough for a pod on the node that it is nominated for, that
 * node, and nobody else has to go. */
bool extender_preempt(struct extender_scratch *s, const struct extender_view *v, struct span body,
                      struct buf *reply, struct extender_verdict *verdict_out, struct err *err);

#endif
