/* plan_places: where a plan's pods are meant to go (planner/places.h). */
#ifndef PLANNER_PLAN_PLAN_PLACES_H
#define PLANNER_PLAN_PLAN_PLACES_H

#include "planner/places.h"
#include "planner/plan/plan.h"

/* `previous`: what plan_options.places came from, if the plan was made with a seating. */
struct places *places_of_plan(const struct plan *p, const struct places *previous, wall_ms now);

#endif
