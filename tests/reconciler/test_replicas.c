#include "reconciler/static/replicas.h"

#include <string.h>

#include "tests/reconciler/support_objects.h"

static const struct {
    const char *label;
    int64_t replicas, limit; /* limit -1: none */
    struct tally tally;
    int64_t want;
} grants[] = {
    {"what is missing", 5, -1, {.active = 3}, 2},
    {"nothing is", 3, -1, {.active = 3}, 0},
    {"too many are there", 3, -1, {.active = 4}, 0},
    {"none is wanted", 0, -1, {0}, 0},
    {"what is on its way is not missing", 5, -1, {.active = 3, .sent = 1}, 1},
    {"a part, as the limit leaves it", 5, 4, {.active = 3}, 1},
    {"what is on its way counts against the limit", 5, 4, {.active = 3, .sent = 1}, 0},
    {"who leaves counts against the limit", 5, 4, {.active = 3, .leaving = 1}, 0},
    {"but does not stand for another", 5, -1, {.active = 3, .leaving = 2}, 2},
    {"who is replaced counts against the limit", 5, 5, {.active = 3, .replaced = 1}, 1},
    {"and as there", 5, -1, {.active = 4, .replaced = 1}, 0},
    {"far above the limit", 5, 2, {.active = 3, .leaving = 4}, 0},
    {"a limit of none", 5, 0, {0}, 0},
    {"so many on their way at once", 500, -1, {.active = 3, .sent = 60}, 40},
    {"and no more", 500, -1, {.sent = 100}, 0},
};

static void so_many_are_granted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(grants); i++) {
        struct resource nodes = {SYM_NODES, grants[i].limit};
        struct node_pool pool = {.has_replicas = true, .replicas = grants[i].replicas};
        if (grants[i].limit >= 0)
            pool.limits = (struct resources){&nodes, 1};
        int64_t got = tally_grant(&grants[i].tally, &pool, 100);
        if (got != grants[i].want)
            fail_msg("%s: %lld, not %lld", grants[i].label, (long long)got, (long long)grants[i].want);
    }
}

/* Each pass counts what the one before it has sent: together they never exceed the limit. */
static void grants_add_up(void **state)
{
    (void)state;
    struct resource nodes = {SYM_NODES, 7};
    struct node_pool pool = {.has_replicas = true, .replicas = 20, .limits = {&nodes, 1}};
    struct tally t = {.active = 1, .leaving = 1};
    for (int pass = 0; pass < 5; pass++)
        t.sent += tally_grant(&t, &pool, 2 + pass);
    assert_int_equal(t.active + t.sent + t.leaving, 7);
}

#define OLD "creationTimestamp: '" HOUR_AGO "', "
#define CLAIM(name, more) "metadata: {" more "name: '" name "'}\nspec: {expireAfter: 2h}\nstatus: {providerID: x}\n"

/* 194: in the order in which they leave. */
static void who_leaves_first(void **state)
{
    (void)state;
    objects_begin();
    const struct pod *pod = pod_of("metadata: {name: p, namespace: d}\n");
    const struct pod *two[] = {pod, pod};
    const struct pod *daemon = pod_of("metadata: {name: q, namespace: d, ownerReferences: [{apiVersion: "
                                      "apps/v1, kind: DaemonSet, name: x, uid: u, controller: true}]}\n");
    const struct pod *kept = pod_of("metadata: {name: r, namespace: d, annotations: "
                                    "{karpenter.sh/do-not-disrupt: 'true'}}\n");
    const struct leaver want[] = {
        {.claim = claim_of("metadata: {name: z}\n"), .at = LEAVER_NO_MACHINE},
        {.claim = claim_of(CLAIM("y", OLD)), .at = LEAVER_NO_NODE},
        {.claim = claim_of(CLAIM("w", OLD)), .has_node = true, .at = LEAVER_EMPTY},
        {.claim = claim_of(CLAIM("x", OLD)), .has_node = true, .pods = &daemon, .pod_count = 1,
         .at = LEAVER_EMPTY},
        {.claim = claim_of(CLAIM("v", OLD)), .has_node = true, .pods = &pod, .pod_count = 1,
         .at = LEAVER_BUSY}, /* half of its lifetime is over */
        {.claim = claim_of(CLAIM("s", "creationTimestamp: '" NOW_TEXT "', ")), .has_node = true,
         .pods = &pod, .pod_count = 1, .at = LEAVER_BUSY},
        {.claim = claim_of(CLAIM("t", OLD)), .has_node = true, .pods = two, .pod_count = 2,
         .at = LEAVER_BUSY}, /* as dear: by name */
        {.claim = claim_of(CLAIM("a", OLD)), .has_node = true, .pods = &kept, .pod_count = 1,
         .at = LEAVER_DO_NOT_DISRUPT},
    };
    struct leaver list[COUNT_OF(want)];
    for (size_t turn = 0; turn < COUNT_OF(want); turn++) {
        for (size_t i = 0; i < COUNT_OF(want); i++)
            list[i] = want[(i * 3 + turn) % COUNT_OF(want)];
        replicas_order(list, COUNT_OF(want), NOW);
        for (size_t i = 0; i < COUNT_OF(want); i++)
            if (list[i].claim != want[i].claim || list[i].rank != want[i].at)
                fail_msg("%zu: %.*s, %s", i, SPAN_ARG(list[i].claim->meta.name),
                         leaver_rank_text(list[i].rank));
    }
    objects_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_are_granted),
        cmocka_unit_test(grants_add_up),
        cmocka_unit_test(who_leaves_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
