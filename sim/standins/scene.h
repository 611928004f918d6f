/* scene: what the stand-in scheduler goes by: a world of Nodes and pods, and of the objects that pods name,
 * and who waits. Derived from a snapshot by its store, dies with it. */
#ifndef SIM_SCENE_H
#define SIM_SCENE_H

#include "kube/store.h"
#include "planner/world.h"

struct scene {
    struct arena arena;
    struct world *world; /* NULL: nobody waits */
    const struct pod **waiting; /* not bound, by priority, age, name */
    uint32_t waiting_count;
};

extern const enum kind scene_kinds[]; /* that it is made of; KIND_NONE ends the list */
extern const struct store_deriver scene_deriver;

#endif
