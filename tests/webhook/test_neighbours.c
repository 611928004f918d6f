/* What a NodePool is told of when other objects make little of it: types, other pools, pods; and what goes with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kube/wellknown.h"
#include "support_cluster.h"
#include "webhook/review.h"

#define CLASS "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"
#define STANDS(name, pool, pods)                                                                                       \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name ", labels: {karpenter.sh/nodepool: " pool "}}\n" \
    "spec: {" CLASS ", requirements: []}\nstatus: {providerID: kwok://" name ", nodeName: " name "}\n---\n"             \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {karpenter.sh/nodepool: " pool "}}\n"                \
    "spec: {providerID: kwok://" name "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n" pods
#define POD(name, meta, spec)                                                                                           \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: d, uid: uid-" name meta "}\n"                     \
    "spec: {" spec "containers: [{name: c}]}\n---\n"

static const char CLUSTER[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: old}\nspec: {weight: 5, template: {spec: {" CLASS
    ", requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: older}\nspec: {weight: 5, template: {spec: {" CLASS
    ", requirements: []}}}\n---\n"
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {weight: 6, template: {spec: {" CLASS
    ", taints: [{key: gpu, value: a, effect: NoSchedule}], requirements: []}}}\n---\n"
    STANDS("n1", "old", POD("p1", "", "nodeName: n1, ")
           POD("p2", ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]",
               "nodeName: n1, tolerations: [{key: agents, operator: Exists}], "))
    STANDS("n2", "old", POD("p3", "", "nodeName: n2, tolerations: [{key: seen, operator: Exists}], ")
           POD("p4", "", "nodeName: n2, tolerations: [{operator: Exists}], "))
    STANDS("n3", "older", "");

static sym well_known[] = {SYM_NODEPOOL, SYM_CAPACITY_TYPE, SYM_ZONE, SYM_INSTANCE_TYPE, SYM_ARCH, SYM_OS, SYM_KWOK_CPU};
static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};

static int setup(void **state)
{
    *state = mem_new(sizeof(struct reviewed_cluster));
    cluster_open(*state, CLUSTER);
    return 0;
}

static int teardown(void **state)
{
    cluster_close(*state);
    free(*state);
    return 0;
}

#define HEAD(operation)                                                                                                 \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\",\"resource\":"       \
    "{\"group\":\"karpenter.sh\",\"version\":\"v1\",\"resource\":\"nodepools\"},\"operation\":\"" operation "\","
#define POOL_OF(name, group, weight, template)                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"weight\":" weight ",\"template\":{\"spec\":{\"nodeClassRef\":"     \
    "{\"group\":\"" group "\",\"kind\":\"KWOKNodeClass\",\"name\":\"d\"}," template "}}}}"
#define POOL(name, weight, template) POOL_OF(name, "karpenter.kwok.sh", weight, template)
#define ASKS(requirements) "\"requirements\":[" requirements "]"
#define IN(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define ARM IN("kubernetes.io/arch", "\"arm64\"")
#define TAINTED(key, effect) "\"taints\":[{\"key\":\"" key "\",\"value\":\"a\",\"effect\":\"" effect "\"}]," ASKS("")

/* The warnings, one a line. */
static struct span ask(struct reviewed_cluster *f, const char *operation, const char *members, bool synced, bool strict)
{
    struct label_rules labels = {{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    struct webhook_rules rules = {.labels = &labels, .syms = f->syms, .strict = strict};
    struct span head = span_of(strcmp(operation, "CREATE") == 0 ? HEAD("CREATE") : HEAD("DELETE"));
    struct span body = arena_printf(&f->arena, "%.*s%s}}", SPAN_ARG(head), members), warnings;
    enum webhook_answer answer;
    struct err err;
    buf_clear(&f->reply);
    if (!webhook_review(&f->scratch, &rules, synced ? f->snapshot : NULL, body, &f->reply, &answer, &err))
        fail_msg("%s: %s", members, err.msg);
    assert_int_equal(answer, WEBHOOK_ALLOWED);
    cluster_response(f, &warnings);
    return warnings;
}

#define TYPELESS ": no node is bought for the pool. Fix: "
static const struct {
    const char *label, *pool;
    const char *warns; /* NULL: nothing */
} rows[] = {
    {"a good one", POOL("new", "1", ASKS(ARM)), NULL},
    /* types */
    {"a value that no type has", POOL("new", "1", ASKS(IN("karpenter.kwok.sh/instance-cpu", "\"3\"") "," ARM)),
     "spec.template.spec.requirements[0]: no instance type has karpenter.kwok.sh/instance-cpu In [3]"},
    {"a misspelt one", POOL("new", "1", ASKS(IN("kubernetes.io/arch", "\"amd46\""))),
     "spec.template.spec.requirements[0]: no instance type has kubernetes.io/arch In [amd46] (did you mean amd64?)" TYPELESS
     "ask for a kubernetes.io/arch that there is\n"},
    {"a zone of somewhere else", POOL("new", "1", ASKS(ARM "," IN("topology.kubernetes.io/zone", "\"eu-north-1b\""))),
     "spec.template.spec.requirements[1]: no instance type has topology.kubernetes.io/zone In [eu-north-1b] (there are "},
    {"two that no type has both of", POOL("new", "1", ASKS(ARM "," IN("node.kubernetes.io/instance-type", "\"c-4x-amd64-linux\""))),
     "spec.template.spec.requirements: no instance type meets kubernetes.io/arch In [arm64] and "
     "node.kubernetes.io/instance-type In [c-4x-amd64-linux] at once" TYPELESS "loosen one of them\n"},
    {"a label of its own", POOL("new", "1", ASKS(ARM "," IN("example.com/team", "\"a\""))), NULL},
    {"more values than there are",
     POOL("new", "1", ASKS("{\"key\":\"kubernetes.io/arch\",\"operator\":\"Exists\",\"minValues\":3}")),
     "spec.template.spec.requirements[0].minValues: 3 cannot be met: the instance types that meet the pool's requirements have 2 "
     "values of kubernetes.io/arch. Fix: lower it, or loosen the requirements\n"},
    {"as many as there are", POOL("new", "1", ASKS("{\"key\":\"kubernetes.io/arch\",\"operator\":\"Exists\",\"minValues\":2}")), NULL},
    {"of another provider", POOL_OF("new", "karpenter.k8s.aws", "1", ASKS(IN("kubernetes.io/arch", "\"amd46\""))), NULL},
    {"what contradicts itself is told of that alone", POOL("new", "1", ASKS(ARM "," IN("kubernetes.io/arch", "\"amd64\""))),
     "spec.template.spec.requirements[1]: kubernetes.io/arch In [amd64] leaves no value after "},
    /* pools */
    {"two of its weight", POOL("new", "5", ASKS("")),
     "spec.weight: 5 is the weight of NodePool old and 1 more, too, and the same pods may go to either: which of them buys, nobody "
     "says. Fix: give one another weight, or requirements that exclude each other\n"},
    {"one of its weight that may take its pods", POOL("new", "5", ASKS(ARM)), "spec.weight: 5 is the weight of NodePool older, too, "},
    {"itself", POOL("old", "5", ASKS(IN("kubernetes.io/arch", "\"amd64\""))), "spec.weight: 5 is the weight of NodePool older, too, "},
    {"its weight, and other taints", POOL("new", "6", ASKS("")), NULL},
    /* pods */
    {"a taint that nobody tolerates", POOL("new", "1", TAINTED("lonely", "NoSchedule")),
     "spec.template.spec.taints: no pod tolerates lonely=a:NoSchedule: as long as none does, no node is bought for the pool\n"},
    {"an agent is no reason", POOL("new", "1", TAINTED("agents", "NoExecute")),
     "spec.template.spec.taints: no pod tolerates agents=a:NoExecute: "},
    {"a taint that somebody tolerates", POOL("new", "1", TAINTED("seen", "NoSchedule")), NULL},
    {"a taint that keeps nobody away", POOL("new", "1", TAINTED("lonely", "PreferNoSchedule")), NULL},
};

static void pools_are_seen_beside_others(void **state)
{
    struct reviewed_cluster *f = *state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        for (int strict = 0; strict < 2; strict++) { /* it depends on others: never refused */
            if (strict != 0 && strstr(rows[r].label, "contradicts") != NULL)
                continue;
            struct span got = ask(f, "CREATE", arena_printf(&f->arena, "\"object\":%s", rows[r].pool).ptr, true, strict != 0);
            struct span want = rows[r].warns == NULL ? SPAN("") : arena_printf(&f->arena, "NodePool %s: %s", "new", rows[r].warns);
            if (strcmp(rows[r].label, "itself") == 0)
                want = arena_printf(&f->arena, "NodePool old: %s", rows[r].warns);
            uint32_t lines = 0;
            for (size_t i = 0; i < got.len; i++)
                lines += got.ptr[i] == '\n';
            if (!span_has_prefix(got, want) || lines != (rows[r].warns != NULL))
                fail_msg("%s: %.*s", rows[r].label, SPAN_ARG(got));
        }
        /* Before all was listed nobody knows what others there are. */
        if (strstr(rows[r].label, "contradicts") == NULL)
            assert_int_equal(ask(f, "CREATE", arena_printf(&f->arena, "\"object\":%s", rows[r].pool).ptr, false, false).len, 0);
    }
}

static void deletions_tell_what_goes(void **state)
{
    struct reviewed_cluster *f = *state;
#define OLD(name, meta) "\"object\":null,\"oldObject\":{\"metadata\":{\"name\":\"" name "\"" meta "},\"spec\":{}}"
    static const struct {
        const char *label, *members, *warns;
        bool synced;
    } deletions[] = {
        {"two nodes", OLD("old", ""), "NodePool old: its 2 nodes go with it, and the 3 pods there are evicted\n", true},
        {"one", OLD("older", ""), "NodePool older: its 1 node goes with it, and the 0 pods there are evicted\n", true},
        {"none", OLD("gpu", ""), "", true},
        {"its nodes stay", OLD("old", "") ",\"options\":{\"propagationPolicy\":\"Orphan\"}", "", true},
        {"its nodes do not", OLD("old", "") ",\"options\":{\"propagationPolicy\":\"Foreground\"}",
         "NodePool old: its 2 nodes go with it, and the 3 pods there are evicted\n", true},
        {"nobody knows yet", OLD("old", ""), "", false},
    };
    for (size_t i = 0; i < COUNT_OF(deletions); i++) {
        struct span got = ask(f, "DELETE", deletions[i].members, deletions[i].synced, false);
        if (!span_eq(got, span_of(deletions[i].warns)))
            fail_msg("%s: %.*s", deletions[i].label, SPAN_ARG(got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pools_are_seen_beside_others, setup, teardown),
        cmocka_unit_test_setup_teardown(deletions_tell_what_goes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
