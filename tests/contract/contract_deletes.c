/* Deletion: finalizers, preconditions, owners (spec kubernetes-contracts 4.8). */
#include "tests/contract/contract_case.h"

static void without_finalizers(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-plain", "", "")), 201);
    CHECK_STATUS(c, contract_delete(c, KIND_NODE_CLAIM, "contract-plain", NULL), 200);
    CHECK_STATUS(c, contract_get(c, KIND_NODE_CLAIM, "contract-plain"), 404);
}

static void finalizers_hold(struct contract *c)
{
    const char *name = "contract-held";
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM,
                                    contract_claim(name, ",\"finalizers\":[\"karpenter.sh/termination\"]", "")),
                 201);
    CHECK_STATUS(c, contract_delete(c, KIND_NODE_CLAIM, name, NULL), 200);
    struct answer a = contract_get(c, KIND_NODE_CLAIM, name);
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_get(a.body, "metadata.deletionTimestamp") != NULL, "no deletionTimestamp");
    CHECK(c, tree_int(a.body, "metadata.generation", 0) == 2, "deletion did not move the generation");
    uint64_t version = contract_version(a.body);
    CHECK_STATUS(c, contract_delete(c, KIND_NODE_CLAIM, name, NULL), 200);
    a = contract_get(c, KIND_NODE_CLAIM, name);
    CHECK(c, contract_version(a.body) == version, "a second delete wrote something");
    a = contract_merge(c, KIND_NODE_CLAIM, name,
                       "{\"metadata\":{\"finalizers\":[\"karpenter.sh/termination\",\"example.com/late\"]}}");
    CHECK_STATUS(c, a, 422);
    a = contract_merge(c, KIND_NODE_CLAIM, name, "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
    CHECK_STATUS(c, a, 200);
    a = contract_merge(c, KIND_NODE_CLAIM, name, "{\"metadata\":{\"deletionTimestamp\":null}}");
    CHECK(c, a.status != 200 || tree_get(a.body, "metadata.deletionTimestamp") != NULL,
          "deletion was taken back");
    const char *last = contract_text("{\"metadata\":{\"finalizers\":[],\"resourceVersion\":\"%llu\"}}",
                                     (unsigned long long)contract_version(
                                         contract_get(c, KIND_NODE_CLAIM, name).body));
    CHECK_STATUS(c, contract_merge(c, KIND_NODE_CLAIM, name, last), 200);
    CHECK_STATUS(c, contract_get(c, KIND_NODE_CLAIM, name), 404);
}

static void preconditions(struct contract *c)
{
    const char *name = "contract-condition";
    struct answer made = contract_create(c, KIND_NODE_CLAIM, contract_claim(name, "", ""));
    CHECK_STATUS(c, made, 201);
    struct answer a = contract_delete(
        c, KIND_NODE_CLAIM, name,
        "{\"preconditions\":{\"uid\":\"00000000-1111-4111-8111-000000000000\"}}");
    CHECK_STATUS(c, a, 409);
    CHECK(c, strcmp(a.reason, "Conflict") == 0, "reason \"%s\"", a.reason);
    a = contract_delete(c, KIND_NODE_CLAIM, name, "{\"preconditions\":{\"resourceVersion\":\"1\"}}");
    CHECK_STATUS(c, a, 409);
    CHECK_STATUS(c, contract_get(c, KIND_NODE_CLAIM, name), 200);
    a = contract_delete(c, KIND_NODE_CLAIM, name,
                        contract_text("{\"preconditions\":{\"uid\":\"%.*s\",\"resourceVersion\":\"%.*s\"}}",
                                      SPAN_ARG(tree_string(made.body, "metadata.uid")),
                                      SPAN_ARG(tree_string(made.body, "metadata.resourceVersion"))));
    CHECK_STATUS(c, a, 200);
    CHECK_STATUS(c, contract_get(c, KIND_NODE_CLAIM, name), 404);
}

/* The garbage collector knows dependents by its own watch only. A claim of nobody, which it removes as soon
 * as it sees it, comes after all that were made before. */
static bool collector_is_up_to_date(struct contract *c)
{
    static const char of_nobody[] =
        ",\"ownerReferences\":[{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
        "\"name\":\"contract-nobody\",\"uid\":\"00000000-0000-4000-8000-000000000000\"}]";
    return contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-stray", of_nobody, "")).status == 201 &&
           contract_wait_gone(c, KIND_NODE_CLAIM, "contract-stray");
}

/* A NodeClaim owned by a NodeClass, as NodeClaims are by NodePools. */
static bool make_family(struct contract *c, const char *owner, const char *child)
{
    struct answer a = contract_create(c, KIND_KWOK_NODE_CLASS, contract_node_class(owner, ""));
    const char *refs =
        contract_text(",\"ownerReferences\":[{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":"
                      "\"KWOKNodeClass\",\"name\":\"%s\",\"uid\":\"%.*s\",\"blockOwnerDeletion\":true}]",
                      owner, SPAN_ARG(tree_string(a.body, "metadata.uid")));
    return a.status == 201 &&
           contract_create(c, KIND_NODE_CLAIM, contract_claim(child, refs, "")).status == 201 &&
           collector_is_up_to_date(c);
}

static void owner_takes_dependents(struct contract *c)
{
    CHECK(c, make_family(c, "contract-owner", "contract-child"), "could not be made");
    CHECK_STATUS(c, contract_delete(c, KIND_KWOK_NODE_CLASS, "contract-owner", NULL), 200);
    CHECK_STATUS(c, contract_get(c, KIND_KWOK_NODE_CLASS, "contract-owner"), 404);
    CHECK(c, contract_wait_gone(c, KIND_NODE_CLAIM, "contract-child"),
          "the dependent stayed");
}

static void foreground_waits_for_dependents(struct contract *c)
{
    CHECK(c, make_family(c, "contract-front", "contract-front-child"), "could not be made");
    CHECK_STATUS(c, contract_delete(c, KIND_KWOK_NODE_CLASS, "contract-front",
                                    "{\"propagationPolicy\":\"Foreground\"}"),
                 200);
    CHECK(c, contract_wait_gone(c, KIND_KWOK_NODE_CLASS, "contract-front"),
          "the owner stayed");
    CHECK_STATUS(c, contract_get(c, KIND_NODE_CLAIM, "contract-front-child"), 404);
}

static bool has_no_owner(struct contract *c, void *name)
{
    struct answer a = contract_get(c, KIND_NODE_CLAIM, name);
    return a.status == 200 && json_array_size(tree_get(a.body, "metadata.ownerReferences")) == 0;
}

static void orphans_stay(struct contract *c)
{
    char child[] = "contract-orphan";
    CHECK(c, make_family(c, "contract-parent", child), "could not be made");
    CHECK_STATUS(c, contract_delete(c, KIND_KWOK_NODE_CLASS, "contract-parent",
                                    "{\"propagationPolicy\":\"Orphan\"}"),
                 200);
    CHECK(c, contract_wait_gone(c, KIND_KWOK_NODE_CLASS, "contract-parent"),
          "the owner stayed");
    CHECK(c, contract_wait(c, has_no_owner, child), "it still has an owner");
    contract_clean(c, KIND_NODE_CLAIM, child);
}

static const struct contract_case cases[] = {
    {"delete: without finalizers at once", without_finalizers, false, false},
    {"delete: finalizers hold, none can be added, the last one ends it", finalizers_hold, false, false},
    {"delete: preconditions", preconditions, false, false},
    {"delete: dependents follow their owner", owner_takes_dependents, true, false},
    {"delete: Foreground waits for dependents", foreground_waits_for_dependents, true, false},
    {"delete: Orphan leaves dependents", orphans_stay, true, false},
};

const struct contract_cases contract_delete_cases = {cases, COUNT_OF(cases)};
