#include "planner/plan/plan_places.h"

static void add_all(struct places *p, const struct pod *const *pods, uint32_t count, struct span target,
                    bool on_claim)
{
    for (uint32_t i = 0; i < count; i++)
        places_add(p, pods[i], target, on_claim);
}

struct places *places_of_plan(const struct plan *plan, const struct places *previous, wall_ms now)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < plan->claim_count; i++)
        room += plan->claims[i].pod_count;
    for (uint32_t i = 0; i < plan->node_count; i++)
        room += plan->nodes[i].pod_count;
    struct places *p = plan->kept != 0 && previous != NULL
                           ? places_again(previous, plan->unkept, plan->unkept_count, room, now)
                           : places_begin(room, now);
    for (uint32_t i = 0; i < plan->claim_count; i++)
        add_all(p, plan->claims[i].pods, plan->claims[i].pod_count,
                arena_dup(&p->texts->arena, plan->claims[i].name), true);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        bool on_claim;
        struct span target = places_target(p, world_node_at(plan->world, plan->nodes[i].row), &on_claim);
        add_all(p, plan->nodes[i].pods, plan->nodes[i].pod_count, target, on_claim);
    }
    places_end(p, previous);
    return p;
}
