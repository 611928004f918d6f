#include "reconciler/provision/claim_body.h"

#include <string.h>

#include "tests/reconciler/support_objects.h"

static const char pool_yaml[] =
    "metadata: {name: general, uid: pool-uid}\n"
    "spec:\n"
    "  template:\n"
    "    metadata: {annotations: {example.com/owner: shop}}\n"
    "    spec:\n"
    "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
    "      taints: [{key: team, value: a, effect: NoSchedule}]\n"
    "      expireAfter: Never\n"
    "      terminationGracePeriod: 5m\n";

static struct plan_claim claim_for(const struct pod *const *pods, uint32_t count)
{
    return (struct plan_claim){.pool = pool_of(pool_yaml), .pods = pods, .pod_count = count};
}

static void names(void **state)
{
    (void)state;
    objects_begin();
    const struct pod *a = pod_of("metadata: {name: a, namespace: d, uid: uid-a}\n");
    const struct pod *b = pod_of("metadata: {name: b, namespace: d, uid: uid-b}\n");
    const struct pod *ab[] = {a, b}, *ba[] = {b, a}, *one[] = {a};
    struct plan_claim x = claim_for(ab, 2), y = claim_for(ba, 2), z = claim_for(one, 1);
    struct arena *m = objects_arena();
    assert_true(span_eq(claim_name(m, &x, 0), claim_name(m, &y, 0))); /* whatever the order */
    assert_false(span_eq(claim_name(m, &x, 0), claim_name(m, &z, 0)));
    assert_true(span_has_prefix(claim_name(m, &x, 0), SPAN("general-")));
    assert_int_equal(claim_name(m, &x, 0).len, strlen("general-") + 8);
    assert_true(span_has_suffix(claim_name(m, &x, 3), SPAN("-3")));
    assert_true(span_has_prefix(claim_name(m, &x, 3), claim_name(m, &x, 0)));
    objects_clear();
}

static void long_pool_names_are_cut(void **state)
{
    (void)state;
    objects_begin();
    struct plan_claim c = {.pool = pool_of(
        "metadata: {name: a-pool-with-a-name-as-long-as-it-may-be-for-a-label-value-000000, uid: p}\n"
        "spec: {template: {spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n")};
    assert_true(claim_name(objects_arena(), &c, 99).len <= 63);
    objects_clear();
}

/* Of a pool with replicas: the count alone says which comes next. */
static void names_of_replicas(void **state)
{
    (void)state;
    objects_begin();
    struct arena *m = objects_arena();
    const struct node_pool *p = pool_of(pool_yaml);
    const struct node_pool *other = pool_of("metadata: {name: general, uid: another}\nspec: {template: "
                                            "{spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n");
    assert_true(span_eq(claim_name_fixed(m, p, 1), claim_name_fixed(m, p, 1)));
    assert_false(span_eq(claim_name_fixed(m, p, 0), claim_name_fixed(m, p, 1)));
    assert_false(span_eq(claim_name_fixed(m, p, 0), claim_name_fixed(m, other, 0)));
    assert_int_equal(claim_name_fixed(m, p, 4711).len, strlen("general-") + 8);
    objects_clear();
}

static void body_has(const char *body, const char *part)
{
    if (strstr(body, part) == NULL)
        fail_msg("no %s in %s", part, body);
}

static void bodies(void **state)
{
    (void)state;
    objects_begin();
    struct symtab *t = objects_syms();
    struct arena *a = objects_arena();
    const struct pod *pod = pod_of("metadata: {name: a, namespace: d, uid: uid-a}\n");
    struct plan_claim c = claim_for(&pod, 1);
    struct sym_pair label = {SYM_NODEPOOL, sym_intern(t, SPAN("general"))};
    struct resource requests[] = {{SYM_CPU, 1500}, {SYM_PODS, 2}};
    struct requirement os = requirement_in(a, t, SYM_OS, SYM_LINUX);
    c.labels = (struct sym_pairs){&label, 1};
    c.requests = (struct resources){requests, 2};
    requirements_add(a, &c.requirements, &os, t);
    struct claim_extra extra = {.name = SPAN("general-x"), .planned = SPAN("1×abc"), .decision = SPAN("d-1")};
    const char *body = arena_cstr(a, claim_body(a, &c, t, &extra));
    body_has(body, "\"name\":\"general-x\"");
    body_has(body, "\"karpenter.sh/nodepool\":\"general\"");
    body_has(body, "\"example.com/owner\":\"shop\"");
    body_has(body, "\"karpenter.sh/nodepool-hash-version\":\"v3\"");
    body_has(body, "\"stowage.dev/planned\":\"1×abc\"");
    body_has(body, "\"finalizers\":[\"karpenter.sh/termination\"]");
    body_has(body, "\"kind\":\"NodePool\",\"name\":\"general\",\"uid\":\"pool-uid\","
                   "\"blockOwnerDeletion\":true}]");
    body_has(body, "{\"key\":\"kubernetes.io/os\",\"operator\":\"In\",\"values\":[\"linux\"]}");
    body_has(body, "\"requests\":{\"cpu\":\"1500m\",\"pods\":\"2\"}");
    body_has(body, "\"taints\":[{\"key\":\"team\",\"value\":\"a\",\"effect\":\"NoSchedule\"}]");
    body_has(body, "\"expireAfter\":\"Never\"");
    body_has(body, "\"terminationGracePeriod\":\"5m0s\"");
    /* nothing is planned for it */
    c.requests = (struct resources){0};
    extra.planned = (struct span){0};
    body = arena_cstr(a, claim_body(a, &c, t, &extra));
    assert_null(strstr(body, "stowage.dev/planned"));
    assert_null(strstr(body, "\"resources\""));
    objects_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(long_pool_names_are_cut),
        cmocka_unit_test(names_of_replicas),
        cmocka_unit_test(bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
