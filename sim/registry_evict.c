/* The eviction subresource (spec kubernetes-contracts 4.9): a delete that asks the pod's
 * PodDisruptionBudget first, and takes from it what it was given. */
#include "sim/registry.h"

#include <stdio.h>

enum { DISRUPTED_PODS_MAX = 2000 };

static bool refuse(struct reply *out, int32_t retry_after_s, const char *why)
{
    reply_fail(out, 429, "TooManyRequests",
               "Cannot evict pod as it would violate the pod's disruption budget.");
    reply_cause(out, "DisruptionBudget", why);
    out->retry_after_s = retry_after_s;
    if (retry_after_s >= 0)
        tree_set(out->body, "details.retryAfterSeconds", json_integer(retry_after_s));
    return false;
}

/* The budget that covers the pod; false when there are several. */
static bool find_budget(const struct objects *o, const json_t *pod, json_t **budget_out)
{
    const char *key;
    json_t *budget;
    uint32_t found = 0;
    *budget_out = NULL;
    json_object_foreach(o->kinds[KIND_DISRUPTION_BUDGET], key, budget) {
        if (!span_eq(tree_string(budget, "metadata.namespace"),
                     tree_string(pod, "metadata.namespace")) ||
            !tree_selects(tree_get(budget, "spec.selector"), tree_get(pod, "metadata.labels")))
            continue;
        *budget_out = budget;
        found++;
    }
    return found <= 1;
}

static bool free_of_budgets(const json_t *pod)
{
    return tree_get(pod, "metadata.deletionTimestamp") != NULL ||
           tree_is(pod, "status.phase", "Pending") || tree_is(pod, "status.phase", "Succeeded") ||
           tree_is(pod, "status.phase", "Failed");
}

static bool unready_may_go(const json_t *pod, const json_t *budget)
{
    if (tree_condition_is(pod, "Ready", "True"))
        return false;
    int64_t desired = tree_int(budget, "status.desiredHealthy", 0);
    return tree_is(budget, "spec.unhealthyPodEvictionPolicy", "AlwaysAllow") ||
           (tree_int(budget, "status.currentHealthy", 0) >= desired && desired > 0);
}

static bool take_one(struct objects *o, const json_t *budget, const json_t *pod, struct reply *out)
{
    char why[256];
    int64_t allowed = tree_int(budget, "status.disruptionsAllowed", 0);
    struct span name = tree_string(budget, "metadata.name");
    if (tree_int(budget, "status.observedGeneration", 0) < tree_int(budget, "metadata.generation", 0)) {
        snprintf(why, sizeof why,
                 "The disruption budget %.*s is still being processed by the server.", SPAN_ARG(name));
        return refuse(out, 10, why);
    }
    if (allowed < 0)
        return reply_fail(out, 403, "Forbidden", "pod disruption budget %.*s: pdb disruptions allowed is negative",
                          SPAN_ARG(name));
    if (json_object_size(tree_get(budget, "status.disruptedPods")) > DISRUPTED_PODS_MAX)
        return reply_fail(out, 403, "Forbidden", "pod disruption budget %.*s: DisruptedPods map too big",
                          SPAN_ARG(name));
    if (allowed == 0) {
        snprintf(why, sizeof why,
                 "The disruption budget %.*s needs %lld healthy pods and has %lld currently",
                 SPAN_ARG(name), (long long)tree_int(budget, "status.desiredHealthy", 0),
                 (long long)tree_int(budget, "status.currentHealthy", 0));
        return refuse(out, -1, why);
    }
    json_t *fresh = json_deep_copy(budget);
    tree_set(fresh, "status.disruptionsAllowed", json_integer(allowed - 1));
    if (tree_get(fresh, "status.disruptedPods") == NULL)
        tree_set(fresh, "status.disruptedPods", json_object());
    json_object_set_new(tree_get(fresh, "status.disruptedPods"),
                        json_string_value(tree_get(pod, "metadata.name")), tree_of_time(o->now));
    return registry_put_status(o, KIND_DISRUPTION_BUDGET, budget, fresh);
}

static bool budget_allows(struct objects *o, const json_t *pod, struct reply *out)
{
    json_t *budget;
    if (free_of_budgets(pod))
        return true;
    if (!find_budget(o, pod, &budget))
        return reply_fail(out, 500, "InternalError",
                          "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    return budget == NULL || unready_may_go(pod, budget) || take_one(o, budget, pod, out);
}

bool registry_evict(struct objects *o, const struct api_request *r, const json_t *eviction,
                    struct reply *out)
{
    json_t *pod = objects_find(o, KIND_POD, r->ns, r->name);
    const json_t *options = tree_get(eviction, "deleteOptions");
    struct span named = tree_string(eviction, "metadata.name");
    struct span uid = tree_string(options, "preconditions.uid");
    if (named.len != 0 && !span_eq(named, r->name))
        return reply_fail(out, 400, "BadRequest", "name in URL does not match name in Eviction object");
    if (uid.len != 0 && !span_eq(uid, tree_string(pod, "metadata.uid")))
        return reply_fail(out, 409, "Conflict",
                          "Operation cannot be fulfilled on pods \"%.*s\": Precondition failed: UID in "
                          "precondition: %.*s, UID in object meta: %.*s",
                          SPAN_ARG(r->name), SPAN_ARG(uid), SPAN_ARG(tree_string(pod, "metadata.uid")));
    if (!budget_allows(o, pod, out))
        return false;
    if (tree_get(pod, "metadata.deletionTimestamp") == NULL) {
        json_t *fresh = json_deep_copy(pod);
        tree_condition_set(fresh, "DisruptionTarget", "True", "EvictionByEvictionAPI",
                           "Eviction API: evicting", o->now);
        registry_put_status(o, KIND_POD, pod, fresh);
        pod = objects_find(o, KIND_POD, r->ns, r->name);
    }
    if (!registry_delete(o, KIND_POD, pod, options, out))
        return false;
    reply_success(out, 201);
    return true;
}
