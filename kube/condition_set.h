/* condition_set: the conditions of an object being changed, kept as Karpenter's controllers keep
 * them (spec api 5.4): a root, Ready, that follows from its dependents, observed generations, times
 * of transition, stored order. Pure: `now` is given. Lives in the arena; texts given must outlive
 * it.
 *
 *     struct condition_set s = condition_set_of(a, &node_claim_conditions, &c->meta, c->conditions,
 * now); condition_set_true(&s, SPAN("Launched")); if (s.changed) … write s.list … */
#ifndef KUBE_CONDITION_SET_H
#define KUBE_CONDITION_SET_H

#include "base/json.h"
#include "kube/meta.h"

struct condition_rules {
    const struct span *dependents; /* of Ready */
    uint32_t dependent_count;
    bool no_root; /* there is no Ready, and no dependents */
    bool put_is_transition; /* also of the same status: the time says when it was last tried */
};

extern const struct condition_rules node_pool_conditions, node_claim_conditions,
    node_overlay_conditions, capacity_buffer_conditions, provisioning_request_conditions,
    capacity_quota_conditions;

struct condition_set {
    struct arena *arena;
    const struct condition_rules *rules;
    int64_t generation;
    wall_ms created, now;
    bool deleting;
    bool changed;           /* against what was given */
    struct conditions list; /* what is to be stored */
};

/* Missing root and dependents begin as Unknown, AwaitingReconciliation: then `changed` is set. */
struct condition_set condition_set_of(struct arena *a, const struct condition_rules *rules,
                                      const struct meta *meta, struct conditions before,
                                      wall_ms now);

void condition_set_put(struct condition_set *s, struct span type, enum condition_status status,
                       struct span reason, struct span message);
void condition_set_true(struct condition_set *s, struct span type); /* reason = type, no message */
/* Takes an independent condition away; dependents and the root stay. */
void condition_set_clear(struct condition_set *s, struct span type);

const char *condition_status_name(enum condition_status s); /* "True", "False", "Unknown" */
/* The list as the API has it, an array. */
void conditions_json(struct json *j, struct arena *a, struct conditions list);

#endif
