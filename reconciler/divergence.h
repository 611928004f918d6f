/* divergence: where the scheduler does not do what was planned: found, counted by cause, and planned
 * anew at once with what was learnt.
 *
 *   ahead    bound elsewhere, before its planned node was ready
 *   refused  a filter of the scheduler's own has turned its planned node down: the plan does not try its
 *            kind there again for a minute
 *   elsewhere  bound elsewhere, for another reason
 *   late     its planned node has been ready for 30 s, and it is not bound; not while the scheduler has its
 *            volumes bound there, which takes as long as it takes: nor does its place lapse then
 *
 * Ten minutes after the node was ready the place lapses (planner/places.h): whoever has not taken the pod up
 * by then will hardly do it, as when its schedulerName is nobody's, and its room is kept from others no
 * longer.
 *
 * And when pods wait and nobody has asked us for 60 s, the scheduler does not know of us, or is dead. */
#ifndef RECONCILER_DIVERGENCE_H
#define RECONCILER_DIVERGENCE_H

#include "planner/plan/plan.h"

struct pass;
struct node_view;
struct place;
struct pod;

/* Fills the pass's `sent`, as it begins and again where a plan takes time; trades of places that it tells of
 * are published. */
void divergence_ask(struct pass *p);
void divergence_run(struct pass *p);
/* A pod with a place was bound, to a node of another name. */
void divergence_elsewhere(struct pass *p, const struct pod *pod, const struct place *place);
/* What a plan begins with, instead of the published places; free it with places_destroy. */
struct places *divergence_places(struct pass *p, struct plan_options *o);
/* Whether, while these places were planned, pods were let onto nodes that have no room for them beside the
 * places: then they would be promised in vain. */
bool divergence_overtakes(struct pass *p, const struct places *places);

#endif
