/* divergence: where the scheduler does not do what was planned: found, counted by cause, and planned
 * anew at once with what was learnt.
 *
 *   ahead      bound elsewhere, before its planned node was ready
 *   refused    a filter of the scheduler's own has turned its planned node down: the extender was not offered
 *              it; or, 30 s after the node was ready, the scheduler has tried the pod there (what it says of the
 *              pod has changed) and has not even asked the extender, which it does only when some node passes.
 *              The plan does not try its kind there again for a minute, or ten. Nothing is said of the node as
 *              long as a spread or an affinity forbids it by itself: others of its kind are to come first
 *   elsewhere  bound elsewhere, for another reason
 *   late       its planned node has been ready for 30 s, and it is neither bound nor refused; not while the
 *              scheduler has its volumes bound there, which takes as long as it takes: nor does its place lapse
 *              then
 *
 * Who is refused is planned anew in the same pass, and so is who has lost his room to a pod that was bound into
 * it. For somebody who is refused on three nodes nothing is planned for a while, so that no machine after the
 * other is bought for a pod that none can hold.
 *
 * Ten minutes after the node was ready the place of somebody who is late lapses: whoever has not taken the pod
 * up by then will hardly do it, as when its schedulerName is nobody's. Nothing is planned for it until the
 * scheduler tries it, or for a while; a node that has no other pods leaves as empty.
 *
 * "A while" is a minute for who is refused, ten for whom nobody came; twice as long each time that follows, at
 * most 160.
 *
 * And when pods wait and nobody has asked us for 60 s, the scheduler does not know of us, or is dead. */
#ifndef RECONCILER_DIVERGENCE_DIVERGENCE_H
#define RECONCILER_DIVERGENCE_DIVERGENCE_H

#include "planner/plan/plan.h"

struct pass;
struct node_view;
struct place;
struct pod;

void divergence_begin(struct pass *p); /* the first since it leads */
/* Fills the pass's `sent`, as it begins and again where a plan takes time; trades of places that it tells of
 * are published. */
void divergence_ask(struct pass *p);
void divergence_run(struct pass *p);
/* A pod that is not bound has changed. */
void divergence_heard(struct pass *p, const struct pod *pod);
/* A pod with a place was bound, to another node. */
void divergence_elsewhere(struct pass *p, const struct pod *pod, const struct place *place,
                          const struct node_view *n);
/* Whether the scheduler was told the place's node among others: then the pod may be bound to any of them. */
bool divergence_left_open(const struct pass *p, const struct pod *pod, const struct place *place);
/* A pod without a place was bound; `n` may be NULL. */
void divergence_taken(struct pass *p, const struct node_view *n);
/* A plan's `put_off`. */
struct why divergence_put_off(const struct pass *p, const struct pod *pod);
/* What a plan begins with; free it with places_destroy. NULL: with the published places, as they are. */
struct places *divergence_places(struct pass *p, struct plan_options *o);
/* A plan's `arrivals`. */
void divergence_arrivals(struct pass *p, struct plan_options *o);
/* Whether, while these places were planned, pods were let onto nodes that have no room for them beside the
 * places: then they would be promised in vain. */
bool divergence_overtakes(struct pass *p, const struct places *places);

#endif
