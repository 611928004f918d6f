/* Status of PodDisruptionBudgets, which eviction takes from (spec kubernetes-contracts 4.9). */
#include "sim/standins/standin.h"

static const enum kind watched[] = {KIND_DISRUPTION_BUDGET, KIND_POD, KIND_REPLICA_SET, KIND_NONE};
enum { DISRUPTED_FOR_MS = 2 * MS_MINUTE }; /* an evicted pod that does not go is counted again */

struct tally {
    int64_t pods, healthy, scale; /* scale: replicas that the pods' controllers want */
};

/* "30%" of `whole`, rounded up, or the number itself. */
static int64_t share_of(const json_t *value, int64_t whole)
{
    int64_t percent;
    if (json_is_integer(value))
        return json_integer_value(value);
    struct span rest, text = json_is_string(value) ? span_of(json_string_value(value)) : SPAN("0");
    text = span_cut(text, '%', &rest);
    return span_int64(text, &percent) ? (percent * whole + 99) / 100 : 0;
}

static int64_t scale_of(const struct objects *o, const json_t *pod, json_t *seen)
{
    const json_t *owner = tree_controller(pod);
    struct span uid = tree_string(owner, "uid");
    if (uid.len == 0 || json_object_getn(seen, uid.ptr, uid.len) != NULL)
        return 0;
    json_object_setn_new(seen, uid.ptr, uid.len, json_true());
    const json_t *set = objects_find(o, KIND_REPLICA_SET, tree_string(pod, "metadata.namespace"),
                                     tree_string(owner, "name"));
    return tree_int(set, "spec.replicas", 0);
}

/* Entries of pods that are still there and were evicted lately; *expiry_out: when the next one ends. */
static json_t *disrupted_of(const struct objects *o, const json_t *budget, wall_ms *expiry_out)
{
    json_t *kept = json_object(), *since;
    const char *name;
    json_object_foreach(tree_get(budget, "status.disruptedPods"), name, since) {
        const json_t *pod = objects_find(o, KIND_POD, tree_string(budget, "metadata.namespace"),
                                         span_of(name));
        wall_ms at;
        if (pod == NULL || tree_get(pod, "metadata.deletionTimestamp") != NULL ||
            !time_parse(span_of(json_string_value(since)), &at) || at + DISRUPTED_FOR_MS <= o->now)
            continue;
        json_object_set(kept, name, since);
        if (at + DISRUPTED_FOR_MS < *expiry_out)
            *expiry_out = at + DISRUPTED_FOR_MS;
    }
    return kept;
}

static struct tally count(const struct objects *o, const json_t *budget, const json_t *disrupted)
{
    struct tally t = {0};
    json_t *seen = json_object(), *pod;
    const char *key;
    json_object_foreach(o->kinds[KIND_POD], key, pod) {
        if (!span_eq(tree_string(pod, "metadata.namespace"),
                     tree_string(budget, "metadata.namespace")) ||
            !tree_selects(tree_get(budget, "spec.selector"), tree_get(pod, "metadata.labels")))
            continue;
        t.pods++;
        t.scale += scale_of(o, pod, seen);
        if (standin_pod_is_active(pod) && tree_condition_is(pod, "Ready", "True") &&
            json_object_get(disrupted, json_string_value(tree_get(pod, "metadata.name"))) == NULL)
            t.healthy++;
    }
    json_decref(seen);
    return t;
}

static void keep_budget(struct objects *o, const json_t *budget, wall_ms *expiry_out)
{
    json_t *disrupted = disrupted_of(o, budget, expiry_out);
    struct tally t = count(o, budget, disrupted);
    const json_t *least = tree_get(budget, "spec.minAvailable");
    const json_t *most = tree_get(budget, "spec.maxUnavailable");
    int64_t expected = most != NULL || json_is_string(least) ? t.scale : t.pods;
    int64_t desired = most != NULL ? expected - share_of(most, expected) : share_of(least, expected);
    desired = desired < 0 ? 0 : desired;
    int64_t allowed = expected > 0 && t.healthy > desired ? t.healthy - desired : 0;
    json_t *fresh = json_deep_copy(budget);
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(budget, "metadata.generation", 0)));
    tree_set(fresh, "status.expectedPods", json_integer(expected));
    tree_set(fresh, "status.currentHealthy", json_integer(t.healthy));
    tree_set(fresh, "status.desiredHealthy", json_integer(desired));
    tree_set(fresh, "status.disruptionsAllowed", json_integer(allowed));
    if (json_object_size(disrupted) != 0)
        tree_set(fresh, "status.disruptedPods", json_incref(disrupted));
    else
        tree_remove(fresh, "status.disruptedPods");
    tree_condition_set(fresh, "DisruptionAllowed", allowed > 0 ? "True" : "False",
                       allowed > 0 ? "SufficientPods" : "InsufficientPods", "", o->now);
    registry_put_status(o, KIND_DISRUPTION_BUDGET, budget, fresh);
    json_decref(disrupted);
}

wall_ms budget_keeper_step(struct budget_keeper *b)
{
    struct objects *o = b->objects;
    json_t *budget, *budgets;
    const char *key;
    size_t i;
    b->pacer.kinds = watched;
    bool expired = b->expiry != 0 && b->expiry <= o->now;
    if (!pacer_is_due(&b->pacer, o) && !expired) {
        wall_ms due = pacer_due(&b->pacer);
        return b->expiry != 0 && b->expiry < due ? b->expiry : due;
    }
    wall_ms expiry = INT64_MAX;
    budgets = json_array();
    json_object_foreach(o->kinds[KIND_DISRUPTION_BUDGET], key, budget) {
        json_array_append(budgets, budget);
    }
    json_array_foreach(budgets, i, budget) {
        keep_budget(o, budget, &expiry);
    }
    json_decref(budgets);
    b->expiry = expiry == INT64_MAX ? 0 : expiry;
    return expiry < pacer_due(&b->pacer) ? expiry : pacer_due(&b->pacer);
}
