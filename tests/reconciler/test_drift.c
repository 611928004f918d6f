/* Drifted, by the scenarios of disruption 20.12 and api 5.9. */
#include "cloud/catalogue.h"
#include "reconciler/lifecycle/lifecycle.h"

#include "tests/reconciler/support_objects.h"

#define LAUNCHED                                                                                   \
    "{type: Launched, status: 'True', reason: Launched, observedGeneration: 1, lastTransitionTime: '" HOUR_AGO "'}"
#define WAS_DRIFTED                                                                                \
    ", {type: Drifted, status: 'True', reason: NodePoolDrifted, observedGeneration: 1, lastTransitionTime: '" HOUR_AGO "'}"
#define WAS_TOLD                                                                                   \
    ", {type: Drifted, status: 'True', reason: AMIDrift, observedGeneration: 1, lastTransitionTime: '" HOUR_AGO "'}"
#define HASHES(hash, version)                                                                      \
    ", annotations: {karpenter.sh/nodepool-hash: '" hash "', karpenter.sh/nodepool-hash-version: " version "}"
#define TYPE "node.kubernetes.io/instance-type: m"
#define ON_DEMAND TYPE ", topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: on-demand"
#define AT(created, labels, hashes, conditions)                                                    \
    "metadata: {name: c, uid: c-uid, generation: 1, creationTimestamp: '" created "', finalizers: "        \
    "[karpenter.sh/termination], labels: {" labels "}" hashes "}\nstatus: {providerID: kwok://c, conditions: [" conditions "]}\n"
#define CLAIM(labels) AT(LONG_AGO, labels, "", LAUNCHED)
#define LONG_AGO "2026-01-01T03:04:05Z"
#define POOL(requirements, more)                                                                   \
    "metadata: {name: p, uid: p" more "}\nspec: {template: {spec: {nodeClassRef: {group: g, kind: k, name: m}, "  \
    "requirements: [" requirements "]}}}\n"
#define PLAIN POOL("", "")
#define OFFER(zone, capacity, more)                                                                \
    "{\"price\": 1, \"available\": false" more ", \"requirements\": [{\"key\": \"topology.kubernetes.io/zone\", "  \
    "\"operator\": \"In\", \"values\": [\"" zone "\"]}, {\"key\": \"karpenter.sh/capacity-type\", \"operator\": "   \
    "\"In\", \"values\": [\"" capacity "\"]}]}"
#define TYPES_OF(name, more, offers)                                                               \
    "{\"reservationIDLabel\": \"example.com/reservation\", \"instanceTypes\": [{\"name\": \"" name "\"" more        \
    ", \"resources\": {\"cpu\": \"4\", \"memory\": \"8Gi\", \"pods\": \"10\"}, \"requirements\": [{\"key\": "        \
    "\"node.kubernetes.io/instance-type\", \"operator\": \"In\", \"values\": [\"" name "\"]}], \"offerings\": ["     \
    offers "]}]}"
#define TYPES TYPES_OF("m", "", OFFER("a", "on-demand", ""))

static const struct {
    const char *label, *claim, *pool, *types;
    const char *reason; /* NULL: not drifted */
} rows[] = {
    {"nothing says otherwise", CLAIM(ON_DEMAND), PLAIN, TYPES, NULL},
    /* 179 */
    {"the template changed", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), LAUNCHED), POOL("", HASHES("2", "v3")), TYPES,
     "NodePoolDrifted"},
    {"the same template", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), LAUNCHED), POOL("", HASHES("1", "v3")), TYPES, NULL},
    {"counted in another way", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v2"), LAUNCHED), POOL("", HASHES("2", "v3")), TYPES,
     NULL},
    {"the claim says nothing of it", CLAIM(ON_DEMAND), POOL("", HASHES("2", "v3")), TYPES, NULL},
    {"the pool says nothing of it", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), LAUNCHED), PLAIN, TYPES, NULL},
    /* 180 */
    {"narrowed away from it", CLAIM(ON_DEMAND), POOL("{key: topology.kubernetes.io/zone, operator: In, values: [b]}", ""),
     TYPES, "RequirementsDrifted"},
    {"widened", CLAIM(ON_DEMAND), POOL("{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}", ""), TYPES,
     NULL},
    /* 181 */
    {"a key that it lacks", CLAIM(ON_DEMAND), POOL("{key: team, operator: In, values: [blue]}", ""), TYPES,
     "RequirementsDrifted"},
    {"a well-known key that it lacks", CLAIM(ON_DEMAND), POOL("{key: kubernetes.io/arch, operator: In, values: [amd64]}", ""),
     TYPES, "RequirementsDrifted"},
    {"a key that it is to lack", CLAIM(ON_DEMAND), POOL("{key: team, operator: NotIn, values: [blue]}", ""), TYPES, NULL},
    {"a key that it has", CLAIM(ON_DEMAND ", team: red"), POOL("{key: team, operator: Exists}", ""), TYPES, NULL},
    {"a key that it is to lack, and has", CLAIM(ON_DEMAND ", team: red"), POOL("{key: team, operator: DoesNotExist}", ""),
     TYPES, "RequirementsDrifted"},
    {"the template comes first", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), LAUNCHED),
     POOL("{key: team, operator: Exists}", HASHES("2", "v3")), TYPES, "NodePoolDrifted"},
    /* 182 */
    {"a type that is not listed any more", CLAIM(ON_DEMAND), PLAIN, TYPES_OF("n", "", OFFER("a", "on-demand", "")),
     "InstanceTypeNotFound"},
    {"but the claim is young", AT(HOUR_AGO, ON_DEMAND, "", LAUNCHED), PLAIN, TYPES_OF("n", "", OFFER("a", "on-demand", "")),
     NULL},
    {"its zone is not offered any more", CLAIM(ON_DEMAND), PLAIN, TYPES_OF("m", "", OFFER("b", "on-demand", "")),
     "InstanceTypeNotFound"},
    {"its pool is not offered it any more", CLAIM(ON_DEMAND), PLAIN,
     TYPES_OF("m", ", \"nodePools\": [\"q\"]", OFFER("a", "on-demand", "")), "InstanceTypeNotFound"},
    {"nobody knows what is listed", CLAIM(ON_DEMAND), PLAIN, NULL, NULL},
    /* 183 */
    {"a reservation that ended", CLAIM(TYPE ", topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: reserved, "
                                            "example.com/reservation: r1"),
     PLAIN, TYPES, NULL},
    {"no offering of either kind", CLAIM(TYPE ", topology.kubernetes.io/zone: a, karpenter.sh/capacity-type: reserved"), PLAIN,
     TYPES_OF("m", "", OFFER("a", "spot", "")), "InstanceTypeNotFound"},
    /* 185, 186 */
    {"not launched", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), "{type: Launched, status: Unknown, reason: A}" WAS_DRIFTED),
     POOL("", HASHES("2", "v3")), TYPES, NULL},
    {"the cause went away", AT(LONG_AGO, ON_DEMAND, HASHES("2", "v3"), LAUNCHED WAS_DRIFTED), POOL("", HASHES("2", "v3")),
     TYPES, NULL},
};

static const struct {
    const char *label, *claim, *pool, *types, *reason;
    const char *told; /* by its provider; "": that it is not; NULL: nothing yet */
} told_rows[] = {
    /* 13.1, the fourth: what the provider says comes last */
    {"the provider says so", CLAIM(ON_DEMAND), PLAIN, TYPES, "AMIDrift", "AMIDrift"},
    {"the provider says no", CLAIM(ON_DEMAND), PLAIN, TYPES, NULL, ""},
    {"what is seen comes first", AT(LONG_AGO, ON_DEMAND, HASHES("1", "v3"), LAUNCHED), POOL("", HASHES("2", "v3")), TYPES,
     "NodePoolDrifted", "AMIDrift"},
    {"nobody knows what is listed, and the provider says so", CLAIM(ON_DEMAND), PLAIN, NULL, "AMIDrift", "AMIDrift"},
    {"the provider has not been asked since", AT(LONG_AGO, ON_DEMAND, "", LAUNCHED WAS_TOLD), PLAIN, TYPES, "AMIDrift", NULL},
    {"the provider says no now", AT(LONG_AGO, ON_DEMAND, "", LAUNCHED WAS_TOLD), PLAIN, TYPES, NULL, ""},
    {"the provider says another thing now", AT(LONG_AGO, ON_DEMAND, "", LAUNCHED WAS_TOLD), PLAIN, TYPES, "SubnetDrift",
     "SubnetDrift"},
    {"not launched, whatever the provider says",
     AT(LONG_AGO, ON_DEMAND, "", "{type: Launched, status: Unknown, reason: A}" WAS_TOLD), PLAIN, TYPES, NULL, "AMIDrift"},
};

static struct lifecycle_step step_for(const char *claim, const char *pool, const char *listed, const char *told,
                                      struct catalogue *types)
{
    struct catalogue_source *source;
    struct lifecycle_step s;
    struct err err;
    struct lifecycle_facts f = {
        .claim = claim_of(claim),
        .pool = pool_of(pool),
        .drift_known = told != NULL,
        .drift = told != NULL ? span_of(told) : (struct span){0},
        .syms = objects_syms(),
        .now = NOW,
    };
    if (listed != NULL) {
        if (!catalogue_decode(span_of(listed), SPAN("types.json"), &source, &err))
            fail_msg("%s: %s", listed, err.msg);
        catalogue_build(source, objects_arena(), objects_syms(), types);
        catalogue_source_free(source);
        f.types = types;
    }
    s = (struct lifecycle_step){.conditions = condition_set_of(objects_arena(), &node_claim_conditions, &f.claim->meta,
                                                               f.claim->conditions, f.now)};
    lifecycle_drift(objects_arena(), &f, &s);
    return s;
}

static struct lifecycle_step step_of(size_t r, struct catalogue *types)
{
    return step_for(rows[r].claim, rows[r].pool, rows[r].types, NULL, types);
}

static void expect(const char *label, const struct lifecycle_step *s, const char *reason)
{
    const struct condition *got = conditions_find(s->conditions.list, SPAN("Drifted"));
    if (reason == NULL && got != NULL)
        fail_msg("%s: Drifted %.*s", label, SPAN_ARG(got->reason));
    if (reason != NULL && (got == NULL || got->status != CONDITION_TRUE || !span_eq(got->reason, span_of(reason)) ||
                           !span_eq(got->message, span_of(reason))))
        fail_msg("%s: not %s", label, reason);
}

static void reasons(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct catalogue types;
        objects_begin();
        struct lifecycle_step s = step_of(r, &types);
        expect(rows[r].label, &s, rows[r].reason);
        objects_clear();
    }
}

static void what_the_provider_says(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(told_rows); r++) {
        struct catalogue types;
        objects_begin();
        struct lifecycle_step s =
            step_for(told_rows[r].claim, told_rows[r].pool, told_rows[r].types, told_rows[r].told, &types);
        expect(told_rows[r].label, &s, told_rows[r].reason);
        objects_clear();
    }
}

/* A young claim is looked at again when it is an hour old. */
static void age_is_waited_for(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct catalogue types;
        objects_begin();
        struct lifecycle_step s = step_of(r, &types);
        bool young = span_contains(span_of(rows[r].label), SPAN("young"));
        assert_int_equal(s.due, young ? NOW + 1 : 0);
        objects_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons), cmocka_unit_test(what_the_provider_says),
        cmocka_unit_test(age_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
