/* Pods: admission's additions, grace, eviction under budgets (spec kubernetes-contracts 4.8, 4.9). The
 * pods stand on a Node that is not there, so that no kubelet touches them. */
#include "tests/contract/contract_case.h"

#define NODE "contract-no-node"

static bool tolerates(const json_t *pod, const char *key)
{
    size_t i;
    json_t *t;
    json_array_foreach(tree_get(pod, "spec.tolerations"), i, t) {
        if (tree_is(t, "key", key) && tree_is(t, "effect", "NoExecute") &&
            tree_int(t, "tolerationSeconds", 0) == 300)
            return true;
    }
    return false;
}

static void created_pods(struct contract *c)
{
    struct answer a = contract_create(c, KIND_POD, contract_pod(c, "contract-pod", "x", NODE));
    CHECK_STATUS(c, a, 201);
    const json_t *container = json_array_get(tree_get(a.body, "spec.containers"), 0);
    CHECK(c, tree_is(a.body, "status.phase", "Pending"), "not Pending");
    CHECK(c, tree_is(a.body, "spec.schedulerName", "default-scheduler"), "schedulerName");
    CHECK(c, tree_int(a.body, "spec.terminationGracePeriodSeconds", 0) == 30, "grace");
    CHECK(c, tree_int(a.body, "spec.priority", -1) == 0, "priority");
    CHECK(c, tree_is(container, "resources.requests.cpu", "100m"), "requests were not taken from limits");
    CHECK(c, tolerates(a.body, "node.kubernetes.io/not-ready"), "no toleration of not-ready");
    CHECK(c, tolerates(a.body, "node.kubernetes.io/unreachable"), "no toleration of unreachable");
    contract_clean(c, KIND_POD, "contract-pod");
}

static void created_nodes(struct contract *c)
{
    struct answer a = contract_create(
        c, KIND_NODE,
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"contract-node\",\"annotations\":"
        "{\"kwok.x-k8s.io/node\":\"none\"}},\"spec\":{\"taints\":[{\"key\":\"karpenter.sh/unregistered\","
        "\"effect\":\"NoExecute\"}]},\"status\":{\"capacity\":{\"cpu\":\"4\"}}}");
    CHECK_STATUS(c, a, 201);
    CHECK(c, tree_is(a.body, "status.capacity.cpu", "4"), "a Node's status at creation was dropped");
    CHECK(c, tree_get(a.body, "metadata.generation") == NULL, "a Node has no generation");
    const json_t *taints = tree_get(a.body, "spec.taints");
    CHECK(c, json_array_size(taints) == 2, "%zu taints", json_array_size(taints));
    CHECK(c, tree_is(json_array_get(taints, 1), "key", "node.kubernetes.io/not-ready") &&
                 tree_is(json_array_get(taints, 1), "effect", "NoSchedule"),
          "the second taint is not not-ready:NoSchedule");
    contract_clean(c, KIND_NODE, "contract-node");
}

static void writes_to_nodes(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":"
                                    "\"contract-writes\"},\"spec\":{\"providerID\":\"kwok://a\"}}"),
                 201);
    struct answer a = contract_merge_status(c, KIND_NODE, "contract-writes",
                                            "{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{"
                                            "\"podCIDR\":\"10.9.0.0/24\"}}");
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_is(a.body, "metadata.labels.a", "1"), "a built-in kind's labels go along with status");
    CHECK(c, tree_get(a.body, "spec.podCIDR") == NULL, "a write to status wrote spec");
    a = contract_merge(c, KIND_NODE, "contract-writes", "{\"spec\":{\"providerID\":\"kwok://b\"}}");
    CHECK_STATUS(c, a, 422);
    contract_clean(c, KIND_NODE, "contract-writes");
}

static void grace_of_bound_pods(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_POD, contract_pod(c, "contract-grace", "x", NODE)), 201);
    CHECK_STATUS(c, contract_delete(c, KIND_POD, "contract-grace", NULL), 200);
    struct answer a = contract_get(c, KIND_POD, "contract-grace");
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_get(a.body, "metadata.deletionTimestamp") != NULL, "not being deleted");
    CHECK(c, tree_int(a.body, "metadata.deletionGracePeriodSeconds", 0) == 30, "grace");
    CHECK_STATUS(c, contract_delete(c, KIND_POD, "contract-grace", "{\"gracePeriodSeconds\":5}"), 200);
    a = contract_get(c, KIND_POD, "contract-grace");
    CHECK(c, tree_int(a.body, "metadata.deletionGracePeriodSeconds", 0) == 5, "not shortened");
    CHECK_STATUS(c, contract_delete(c, KIND_POD, "contract-grace", "{\"gracePeriodSeconds\":20}"), 200);
    a = contract_get(c, KIND_POD, "contract-grace");
    CHECK(c, tree_int(a.body, "metadata.deletionGracePeriodSeconds", 0) == 5, "made longer");
    CHECK_STATUS(c, contract_delete(c, KIND_POD, "contract-grace", "{\"gracePeriodSeconds\":0}"), 200);
    CHECK_STATUS(c, contract_get(c, KIND_POD, "contract-grace"), 404);
}

static void unbound_pods_go_at_once(struct contract *c)
{
    const char *body = contract_text("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
                                     "\"contract-unbound\"},\"spec\":{\"nodeSelector\":{\"contract\":\"none\"},"
                                     "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    CHECK_STATUS(c, contract_create(c, KIND_POD, body), 201);
    CHECK_STATUS(c, contract_delete(c, KIND_POD, "contract-unbound", NULL), 200);
    CHECK_STATUS(c, contract_get(c, KIND_POD, "contract-unbound"), 404);
}

/* ---- eviction ---- */

static struct answer evict(struct contract *c, const char *name, const char *uid)
{
    const char *options = uid != NULL
                              ? contract_text(",\"deleteOptions\":{\"preconditions\":{\"uid\":\"%s\"}}", uid)
                              : "";
    struct api_request r = {
        .verb = API_EVICT, .kind = KIND_POD, .ns = c->target->ns, .name = span_of(name),
        .body = span_of(contract_text("{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{"
                                      "\"name\":\"%s\",\"namespace\":\"%.*s\"}%s}",
                                      name, SPAN_ARG(c->target->ns), options))};
    return contract_send(c, &r);
}

static bool make_running(struct contract *c, const char *name, const char *app)
{
    return contract_create(c, KIND_POD, contract_pod(c, name, app, NODE)).status == 201 &&
           contract_merge_status(c, KIND_POD, name,
                                 "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
                                 "\"status\":\"True\"}]}}")
                   .status == 200;
}

static void evict_without_budget(struct contract *c)
{
    CHECK(c, make_running(c, "contract-evict", "free"), "could not be made");
    CHECK_STATUS(c, evict(c, "contract-evict", "00000000-1111-4111-8111-000000000000"), 409);
    struct answer a = evict(c, "contract-evict", NULL);
    CHECK_STATUS(c, a, 201);
    a = contract_get(c, KIND_POD, "contract-evict");
    CHECK(c, tree_get(a.body, "metadata.deletionTimestamp") != NULL, "not being deleted");
    CHECK(c, tree_condition_is(a.body, "DisruptionTarget", "True"), "no condition DisruptionTarget");
    CHECK_STATUS(c, evict(c, "contract-evict", NULL), 201); /* once more changes nothing */
    contract_clean(c, KIND_POD, "contract-evict");
    CHECK_STATUS(c, evict(c, "contract-evict", NULL), 404);
}

static const char *budget(const char *name, const char *app, int least)
{
    return contract_text("{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{"
                         "\"name\":\"%s\"},\"spec\":{\"minAvailable\":%d,\"selector\":{\"matchLabels\":{"
                         "\"app\":\"%s\"}}}}",
                         name, least, app);
}

struct expected_budget {
    const char *name;
    int64_t healthy, allowed;
};

static bool budget_shows(struct contract *c, void *user)
{
    const struct expected_budget *e = user;
    struct answer a = contract_get(c, KIND_DISRUPTION_BUDGET, e->name);
    return tree_int(a.body, "status.observedGeneration", 0) == tree_int(a.body, "metadata.generation", 1) &&
           tree_int(a.body, "status.currentHealthy", -1) == e->healthy &&
           tree_int(a.body, "status.disruptionsAllowed", -1) == e->allowed;
}

static void evict_under_a_budget(struct contract *c)
{
    struct expected_budget two = {"contract-budget", 2, 1};
    CHECK(c, make_running(c, "contract-b1", "kept") && make_running(c, "contract-b2", "kept"),
          "could not be made");
    CHECK_STATUS(c, contract_create(c, KIND_DISRUPTION_BUDGET, budget("contract-budget", "kept", 1)), 201);
    CHECK(c, contract_wait(c, budget_shows, &two), "the budget was not counted");
    CHECK_STATUS(c, evict(c, "contract-b1", NULL), 201);
    struct answer a = contract_get(c, KIND_DISRUPTION_BUDGET, "contract-budget");
    CHECK(c, tree_int(a.body, "status.disruptionsAllowed", -1) == 0, "the budget was not taken from");
    a = evict(c, "contract-b2", NULL);
    CHECK_STATUS(c, a, 429);
    CHECK(c, strcmp(a.cause, "DisruptionBudget") == 0, "cause \"%s\"", a.cause);
    CHECK(c, strcmp(a.reason, "TooManyRequests") == 0, "reason \"%s\"", a.reason);
    CHECK(c, a.retry_after_s == -1, "Retry-After %d", a.retry_after_s);
    CHECK(c, tree_get(contract_get(c, KIND_POD, "contract-b2").body, "metadata.deletionTimestamp") == NULL,
          "refused, and deleted all the same");
    contract_clean(c, KIND_DISRUPTION_BUDGET, "contract-budget");
    contract_clean(c, KIND_POD, "contract-b1");
    contract_clean(c, KIND_POD, "contract-b2");
}

static void evict_under_two_budgets(struct contract *c)
{
    struct expected_budget one = {"contract-second", 1, 0};
    CHECK(c, make_running(c, "contract-two", "doubly"), "could not be made");
    CHECK_STATUS(c, contract_create(c, KIND_DISRUPTION_BUDGET, budget("contract-first", "doubly", 1)), 201);
    CHECK_STATUS(c, contract_create(c, KIND_DISRUPTION_BUDGET, budget("contract-second", "doubly", 1)), 201);
    CHECK(c, contract_wait(c, budget_shows, &one), "the budget was not counted");
    struct answer a = evict(c, "contract-two", NULL);
    CHECK_STATUS(c, a, 500);
    CHECK(c, strstr(a.message, "more than one PodDisruptionBudget") != NULL, "message: %s", a.message);
    contract_clean(c, KIND_DISRUPTION_BUDGET, "contract-first");
    contract_clean(c, KIND_DISRUPTION_BUDGET, "contract-second");
    contract_clean(c, KIND_POD, "contract-two");
}

static void evict_pending_pods(struct contract *c)
{
    struct expected_budget none = {"contract-pending", 0, 0};
    CHECK_STATUS(c, contract_create(c, KIND_POD, contract_pod(c, "contract-waits", "waits", NODE)), 201);
    CHECK_STATUS(c, contract_create(c, KIND_DISRUPTION_BUDGET, budget("contract-pending", "waits", 1)), 201);
    CHECK(c, contract_wait(c, budget_shows, &none), "the budget was not counted");
    CHECK_STATUS(c, evict(c, "contract-waits", NULL), 201);
    contract_clean(c, KIND_DISRUPTION_BUDGET, "contract-pending");
    contract_clean(c, KIND_POD, "contract-waits");
}

static const struct contract_case cases[] = {
    {"pods: what admission and defaults add", created_pods, false, false},
    {"nodes: status is kept, the not-ready taint is added", created_nodes, false, false},
    {"nodes: labels go along with status, a providerID stays", writes_to_nodes, false, false},
    {"pods: grace of bound pods, and how it can be shortened", grace_of_bound_pods, false, false},
    {"pods: unbound ones go at once", unbound_pods_go_at_once, false, false},
    {"evict: no budget; wrong uid; gone", evict_without_budget, false, false},
    {"evict: a budget is taken from, then refuses", evict_under_a_budget, true, false},
    {"evict: two budgets are an error", evict_under_two_budgets, true, false},
    {"evict: pending pods need no budget", evict_pending_pods, true, false},
};

const struct contract_cases contract_pod_cases = {cases, COUNT_OF(cases)};
