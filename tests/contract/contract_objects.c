/* Creating, reading, changing (spec kubernetes-contracts 4.3, 4.4, 4.7; api 3.4). */
#include "tests/contract/contract_case.h"

#include <stdlib.h>

static void create_fills_metadata(struct contract *c)
{
    struct answer a = contract_create(
        c, KIND_NODE_CLAIM,
        contract_claim("contract-create", "", ",\"status\":{\"nodeName\":\"made-up\"}"));
    CHECK_STATUS(c, a, 201);
    CHECK(c, tree_string(a.body, "metadata.uid").len == 36, "uid \"%.*s\"",
          SPAN_ARG(tree_string(a.body, "metadata.uid")));
    CHECK(c, tree_string(a.body, "metadata.creationTimestamp").len == 20, "no creationTimestamp");
    CHECK(c, tree_int(a.body, "metadata.generation", 0) == 1, "generation is not 1");
    CHECK(c, contract_version(a.body) > 0, "no resourceVersion");
    CHECK(c, tree_get(a.body, "status.nodeName") == NULL, "status sent at creation was kept");
    CHECK(c, tree_is(a.body, "spec.expireAfter", "720h"), "expireAfter was not defaulted");
    contract_clean(c, KIND_NODE_CLAIM, "contract-create");
}

static void create_twice_is_409(struct contract *c)
{
    const char *body = contract_claim("contract-twice", "", "");
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM, body), 201);
    struct answer a = contract_create(c, KIND_NODE_CLAIM, body);
    CHECK_STATUS(c, a, 409);
    CHECK(c, strcmp(a.reason, "AlreadyExists") == 0, "reason \"%s\"", a.reason);
    contract_clean(c, KIND_NODE_CLAIM, "contract-twice");
}

static void generate_name(struct contract *c)
{
    char names[2][128];
    for (int i = 0; i < 2; i++) {
        struct answer a = contract_create(
            c, KIND_KWOK_NODE_CLASS,
            "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":"
            "{\"generateName\":\"contract-generated-\"}}");
        CHECK_STATUS(c, a, 201);
        struct span name = tree_string(a.body, "metadata.name");
        CHECK(c, span_has_prefix(name, SPAN("contract-generated-")) && name.len == 24, "name %.*s",
              SPAN_ARG(name));
        snprintf(names[i], sizeof names[i], "%.*s", SPAN_ARG(name));
    }
    CHECK(c, strcmp(names[0], names[1]) != 0, "both are %s", names[0]);
    contract_clean(c, KIND_KWOK_NODE_CLASS, names[0]);
    contract_clean(c, KIND_KWOK_NODE_CLASS, names[1]);
}

static void create_refuses(struct contract *c)
{
    struct answer a = contract_create(c, KIND_KWOK_NODE_CLASS,
                                      "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":"
                                      "\"KWOKNodeClass\",\"metadata\":{}}");
    CHECK_STATUS(c, a, 422);
    a = contract_create(c, KIND_NODE_CLAIM, contract_node_class("contract-wrong-kind", ""));
    CHECK_STATUS(c, a, 400);
    struct api_request r = {.verb = API_CREATE, .kind = KIND_LEASE, .ns = SPAN("contract-no-such-ns"),
                            .body = SPAN("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                                         "\"metadata\":{\"name\":\"x\"},\"spec\":{}}")};
    a = contract_send(c, &r);
    CHECK_STATUS(c, a, 404);
}

static void missing_is_404(struct contract *c)
{
    struct answer a = contract_get(c, KIND_NODE_CLAIM, "contract-none");
    CHECK_STATUS(c, a, 404);
    CHECK(c, a.kind == ERR_NOT_FOUND, "kind %s", err_kind_name(a.kind));
    CHECK(c, strcmp(a.reason, "NotFound") == 0, "reason \"%s\"", a.reason);
    CHECK_STATUS(c, contract_merge(c, KIND_NODE_CLAIM, "contract-none", "{\"metadata\":{}}"), 404);
    CHECK_STATUS(c, contract_delete(c, KIND_NODE_CLAIM, "contract-none", NULL), 404);
}

static void patch_merges(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM,
                                    contract_claim("contract-merge",
                                                   ",\"labels\":{\"a\":\"1\",\"b\":\"2\"},"
                                                   "\"finalizers\":[\"example.com/one\",\"example.com/two\"]",
                                                   "")),
                 201);
    struct answer a = contract_merge(
        c, KIND_NODE_CLAIM, "contract-merge",
        "{\"metadata\":{\"labels\":{\"a\":null,\"c\":\"3\"},\"finalizers\":[\"example.com/three\"]}}");
    CHECK_STATUS(c, a, 200);
    CHECK(c, json_object_get(tree_get(a.body, "metadata.labels"), "a") == NULL, "null did not delete");
    CHECK(c, tree_is(a.body, "metadata.labels.b", "2"), "a member not in the patch changed");
    CHECK(c, tree_is(a.body, "metadata.labels.c", "3"), "a member was not added");
    CHECK(c, json_array_size(tree_get(a.body, "metadata.finalizers")) == 1, "a list was not replaced");
    CHECK(c, tree_int(a.body, "metadata.generation", 0) == 1, "metadata moved the generation");
    contract_clean(c, KIND_NODE_CLAIM, "contract-merge");
}

static void patch_locks(struct contract *c)
{
    struct answer made = contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-lock", "", ""));
    CHECK_STATUS(c, made, 201);
    const char *stale = contract_text("{\"metadata\":{\"resourceVersion\":\"%.*s\",\"labels\":{\"a\":\"2\"}}}",
                                      SPAN_ARG(tree_string(made.body, "metadata.resourceVersion")));
    struct answer a = contract_merge(c, KIND_NODE_CLAIM, "contract-lock",
                                     "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
    CHECK_STATUS(c, a, 200);
    const char *fresh = contract_text("{\"metadata\":{\"resourceVersion\":\"%.*s\",\"labels\":{\"a\":\"3\"}}}",
                                      SPAN_ARG(tree_string(a.body, "metadata.resourceVersion")));
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-lock", stale);
    CHECK_STATUS(c, a, 409);
    CHECK(c, strcmp(a.reason, "Conflict") == 0 && a.kind == ERR_CONFLICT, "reason \"%s\"", a.reason);
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-lock", fresh);
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_is(a.body, "metadata.labels.a", "3"), "the right version did not write");
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-lock",
                       "{\"metadata\":{\"uid\":\"00000000-1111-4111-8111-000000000000\"}}");
    CHECK_STATUS(c, a, 422);
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-lock", "{\"metadata\":{\"resourceVersion\":7}}");
    CHECK(c, a.status == 400 || a.status == 422, "a version that is a number: %d %s", a.status, a.message);
    contract_clean(c, KIND_NODE_CLAIM, "contract-lock");
}

static void nothing_changed_nothing_written(struct contract *c)
{
    struct answer made = contract_create(
        c, KIND_NODE_CLAIM, contract_claim("contract-same", ",\"labels\":{\"a\":\"1\"}", ""));
    CHECK_STATUS(c, made, 201);
    struct answer a = contract_merge(c, KIND_NODE_CLAIM, "contract-same",
                                     "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}");
    CHECK_STATUS(c, a, 200);
    CHECK(c, contract_version(a.body) == contract_version(made.body), "the version moved");
    contract_clean(c, KIND_NODE_CLAIM, "contract-same");
}

static void status_is_apart(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE_POOL, contract_pool("contract-status")), 201);
    struct answer a = contract_merge(c, KIND_NODE_POOL, "contract-status",
                                     "{\"spec\":{\"weight\":7},\"status\":{\"nodes\":5}}");
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_int(a.body, "status.nodes", 0) == 0, "a write to the object wrote status");
    CHECK(c, tree_int(a.body, "metadata.generation", 0) == 2, "spec did not move the generation");
    a = contract_merge_status(c, KIND_NODE_POOL, "contract-status",
                              "{\"spec\":{\"weight\":9},\"metadata\":{\"labels\":{\"a\":\"1\"}},"
                              "\"status\":{\"nodes\":6}}");
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_int(a.body, "status.nodes", 0) == 6, "status was not written");
    CHECK(c, tree_int(a.body, "spec.weight", 0) == 7, "a write to status wrote spec");
    CHECK(c, tree_get(a.body, "metadata.labels.a") == NULL, "a write to status wrote labels");
    CHECK(c, tree_int(a.body, "metadata.generation", 0) == 2, "status moved the generation");
    contract_clean(c, KIND_NODE_POOL, "contract-status");
}

static void conditions_are_checked(struct contract *c)
{
    static const struct {
        const char *label;
        enum kind kind;
        int status;
        const char *patch;
    } rows[] = {
        {"a pool's needs a reason", KIND_NODE_POOL, 422,
         "{\"type\":\"Ready\",\"status\":\"True\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}"},
        {"a pool's reason may not be empty", KIND_NODE_POOL, 422,
         "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}"},
        {"a pool's whole one", KIND_NODE_POOL, 200,
         "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Ready\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}"},
        {"a claim's needs no reason", KIND_NODE_CLAIM, 200,
         "{\"type\":\"Launched\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}"},
        {"a claim's needs a time", KIND_NODE_CLAIM, 422, "{\"type\":\"Launched\",\"status\":\"True\"}"},
    };
    CHECK_STATUS(c, contract_create(c, KIND_NODE_POOL, contract_pool("contract-conditions")), 201);
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-conditions", "", "")), 201);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer a = contract_merge_status(
            c, rows[i].kind, "contract-conditions",
            contract_text("{\"status\":{\"conditions\":[%s]}}", rows[i].patch));
        CHECK(c, a.status == rows[i].status, "%s: status %d: %s", rows[i].label, a.status, a.message);
    }
    contract_clean(c, KIND_NODE_POOL, "contract-conditions");
    contract_clean(c, KIND_NODE_CLAIM, "contract-conditions");
}

static const char *text_of(const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    const char *kept = contract_text("%s", text);
    free(text);
    return kept;
}

static void update_needs_the_version(struct contract *c)
{
    struct answer made =
        contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-update", "", ""));
    CHECK_STATUS(c, made, 201);
    struct api_request r = {.verb = API_UPDATE, .kind = KIND_NODE_CLAIM,
                            .name = SPAN("contract-update"),
                            .body = span_of(contract_claim("contract-update", "", ""))};
    CHECK_STATUS(c, contract_send(c, &r), 422);
    json_t *fresh = json_deep_copy(made.body);
    tree_set(fresh, "metadata.labels", json_pack("{s:s}", "a", "1"));
    r.body = span_of(text_of(fresh));
    CHECK_STATUS(c, contract_send(c, &r), 200);
    CHECK_STATUS(c, contract_send(c, &r), 409); /* the version is of before */
    tree_set(fresh, "metadata.uid", json_string("00000000-1111-4111-8111-000000000000"));
    r.body = span_of(text_of(fresh));
    CHECK_STATUS(c, contract_send(c, &r), 409); /* and so is the uid, now */
    json_decref(fresh);
    contract_clean(c, KIND_NODE_CLAIM, "contract-update");
}

static void defaults(struct contract *c)
{
    struct answer a = contract_create(c, KIND_NODE_POOL, contract_pool("contract-defaults"));
    CHECK_STATUS(c, a, 201);
    CHECK(c, tree_is(a.body, "spec.disruption.consolidateAfter", "0s"), "consolidateAfter");
    CHECK(c, tree_is(a.body, "spec.disruption.consolidationPolicy", "WhenEmptyOrUnderutilized"),
          "consolidationPolicy");
    CHECK(c, tree_is(json_array_get(tree_get(a.body, "spec.disruption.budgets"), 0), "nodes", "10%"),
          "budgets");
    CHECK(c, tree_is(a.body, "spec.template.spec.expireAfter", "720h"), "expireAfter");
    contract_clean(c, KIND_NODE_POOL, "contract-defaults");
    a = contract_create(c, KIND_KWOK_NODE_CLASS, contract_node_class("contract-defaults", ""));
    CHECK_STATUS(c, a, 201);
    CHECK(c, tree_condition_is(a.body, "Ready", "True"), "a KWOKNodeClass is not Ready when made");
    contract_clean(c, KIND_KWOK_NODE_CLASS, "contract-defaults");
}

static void claim_spec_is_immutable(struct contract *c)
{
    CHECK_STATUS(c, contract_create(c, KIND_NODE_CLAIM, contract_claim("contract-spec", "", "")), 201);
    struct answer a = contract_merge(c, KIND_NODE_CLAIM, "contract-spec",
                                     "{\"spec\":{\"terminationGracePeriod\":\"5m\"}}");
    CHECK_STATUS(c, a, 422);
    CHECK(c, a.kind == ERR_INVALID, "kind %s", err_kind_name(a.kind));
    CHECK(c, strstr(a.message, "spec is immutable") != NULL, "message: %s", a.message);
    contract_clean(c, KIND_NODE_CLAIM, "contract-spec");
}

static const char *lease(const char *name, const char *time)
{
    return contract_text("{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                         "\"name\":\"%s\"},\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
                         "\"renewTime\":\"%s\",\"acquireTime\":\"%s\",\"leaseTransitions\":0}}",
                         name, time, time);
}

static void leases(struct contract *c)
{
    struct answer a = contract_create(c, KIND_LEASE, lease("contract-lease", "2026-01-02T03:04:05Z"));
    CHECK_STATUS(c, a, 400); /* not a MicroTime */
    a = contract_create(c, KIND_LEASE, lease("contract-lease", "2026-01-02T03:04:05.000000Z"));
    CHECK_STATUS(c, a, 201);
    CHECK(c, tree_get(a.body, "metadata.generation") == NULL, "a Lease has no generation");
    struct api_request r = {.verb = API_LIST, .kind = KIND_LEASE,
                            .field_selector = SPAN("metadata.name=contract-lease")};
    a = contract_send(c, &r);
    CHECK_STATUS(c, a, 200);
    const json_t *items = tree_get(a.body, "items");
    CHECK(c, json_array_size(items) == 1, "%zu items", json_array_size(items));
    CHECK(c, tree_is(json_array_get(items, 0), "metadata.name", "contract-lease"), "another Lease");
    CHECK(c, tree_is(json_array_get(items, 0), "spec.renewTime", "2026-01-02T03:04:05.000000Z"),
          "renewTime is not as written");
    r.field_selector = SPAN("metadata.name=contract-no-lease");
    a = contract_send(c, &r);
    CHECK_STATUS(c, a, 200);
    CHECK(c, json_array_size(tree_get(a.body, "items")) == 0, "something is listed");
    contract_clean(c, KIND_LEASE, "contract-lease");
}

/* Page by page each is listed once. */
static void pages(struct contract *c)
{
    struct api_request r = {.verb = API_LIST, .kind = KIND_LEASE, .limit = 2};
    char from[1024] = "";
    size_t ours = 0, page_count = 0;
    for (int i = 0; i < 5; i++) {
        struct answer a = contract_create(c, KIND_LEASE, lease(contract_text("contract-page-%d", i),
                                                               "2026-01-02T03:04:05.000000Z"));
        CHECK_STATUS(c, a, 201);
    }
    do {
        struct answer a = contract_send(c, &r);
        CHECK_STATUS(c, a, 200);
        const json_t *items = tree_get(a.body, "items");
        CHECK(c, json_array_size(items) <= 2, "%zu items, 2 are asked for", json_array_size(items));
        for (size_t i = 0; i < json_array_size(items); i++)
            ours += span_has_prefix(tree_string(json_array_get(items, i), "metadata.name"), SPAN("contract-page-"));
        snprintf(from, sizeof from, "%.*s", SPAN_ARG(tree_string(a.body, "metadata.continue")));
        r.from = span_of(from);
    } while (from[0] != '\0' && ++page_count < 1000);
    CHECK(c, ours == 5, "%zu of 5 are listed", ours);
    for (int i = 0; i < 5; i++)
        contract_clean(c, KIND_LEASE, contract_text("contract-page-%d", i));
}

static void apply_creates_and_owns(struct contract *c)
{
    const char *both = contract_claim("contract-apply", ",\"labels\":{\"a\":\"1\",\"b\":\"2\"}", "");
    const char *one = contract_claim("contract-apply", ",\"labels\":{\"a\":\"1\"}", "");
    struct answer made = contract_apply(c, KIND_NODE_CLAIM, "contract-apply", both, false);
    CHECK_STATUS(c, made, 201);
    struct answer a = contract_apply(c, KIND_NODE_CLAIM, "contract-apply", both, false);
    CHECK_STATUS(c, a, 200);
    CHECK(c, contract_version(a.body) == contract_version(made.body), "the version moved");
    a = contract_merge(c, KIND_NODE_CLAIM, "contract-apply",
                       "{\"metadata\":{\"labels\":{\"c\":\"3\"}}}");
    CHECK_STATUS(c, a, 200);
    a = contract_apply(c, KIND_NODE_CLAIM, "contract-apply", one, false);
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_get(a.body, "metadata.labels.b") == NULL, "what is applied no more stayed");
    CHECK(c, tree_is(a.body, "metadata.labels.c", "3"), "another's label went");
    contract_clean(c, KIND_NODE_CLAIM, "contract-apply");
}

static void apply_conflicts(struct contract *c)
{
    const char *body = contract_claim("contract-force", ",\"labels\":{\"a\":\"1\"}", "");
    CHECK_STATUS(c, contract_apply(c, KIND_NODE_CLAIM, "contract-force", body, false), 201);
    CHECK_STATUS(c, contract_merge(c, KIND_NODE_CLAIM, "contract-force",
                                   "{\"metadata\":{\"labels\":{\"a\":\"9\"}}}"),
                 200);
    struct answer a = contract_apply(c, KIND_NODE_CLAIM, "contract-force", body, false);
    CHECK_STATUS(c, a, 409);
    CHECK(c, strcmp(a.cause, "FieldManagerConflict") == 0, "cause \"%s\"", a.cause);
    a = contract_apply(c, KIND_NODE_CLAIM, "contract-force", body, true);
    CHECK_STATUS(c, a, 200);
    CHECK(c, tree_is(a.body, "metadata.labels.a", "1"), "force did not take the field");
    contract_clean(c, KIND_NODE_CLAIM, "contract-force");
}

static const struct contract_case cases[] = {
    {"create: fills uid, times, generation and defaults; drops status", create_fills_metadata, false, false},
    {"create: a name twice is 409 AlreadyExists", create_twice_is_409, false, false},
    {"create: generateName appends five letters", generate_name, false, false},
    {"create: no name, wrong kind, no namespace", create_refuses, false, false},
    {"get, patch, delete of what is not there is 404", missing_is_404, false, false},
    {"patch: null deletes, lists are replaced, the rest stays", patch_merges, false, false},
    {"patch: a resourceVersion in it locks, a uid must be its own", patch_locks, false, false},
    {"patch: without effect writes nothing", nothing_changed_nothing_written, false, false},
    {"status and the object are written apart", status_is_apart, false, false},
    {"status: what a condition must have", conditions_are_checked, false, false},
    {"update: needs the current resourceVersion", update_needs_the_version, false, false},
    {"defaults of NodePool and KWOKNodeClass", defaults, false, false},
    {"a NodeClaim's spec is immutable", claim_spec_is_immutable, false, false},
    {"Leases: MicroTime, list by name across namespaces", leases, false, false},
    {"list: page by page each is there once", pages, false, false},
    {"apply: creates, repeats, removes what it owns", apply_creates_and_owns, false, false},
    {"apply: conflicts unless forced", apply_conflicts, false, false},
};

const struct contract_cases contract_object_cases = {cases, COUNT_OF(cases)};
