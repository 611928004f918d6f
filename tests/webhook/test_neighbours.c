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
    STANDS("n3", "older", "")
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: full}\nspec: {weight: 8, template: {spec: {" CLASS
    ", taints: [{key: full, effect: NoSchedule}], requirements: []}}}\nstatus: {resources: {cpu: 8, memory: 9Gi, nodes: 3}}\n---\n"
    "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n---\n"
    "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: cheap}\nspec: {requirements: [{key: kubernetes.io/arch, "
    "operator: In, values: [amd64]}], price: '0.5'}\n";

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

#define HEAD                                                                                                            \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\",\"resource\":"       \
    "{\"group\":\"karpenter.sh\",\"version\":\"%s\",\"resource\":\"%s\"},\"operation\":\"%s\",%s}}"
#define POOL_OF(name, group, weight, template)                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"weight\":" weight ",\"template\":{\"spec\":{\"nodeClassRef\":"     \
    "{\"group\":\"" group "\",\"kind\":\"KWOKNodeClass\",\"name\":\"d\"}," template "}}}}"
#define POOL(name, weight, template) POOL_OF(name, "karpenter.kwok.sh", weight, template)
#define ASKS(requirements) "\"requirements\":[" requirements "]"
#define IN(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define ARM IN("kubernetes.io/arch", "\"arm64\"")
#define LIMITED(limits) ASKS("") "}},\"limits\":{" limits "},\"x\":{\"x\":{\"x\":\"\""
#define TAINTED(key, effect) "\"taints\":[{\"key\":\"" key "\",\"value\":\"a\",\"effect\":\"" effect "\"}]," ASKS("")

/* The warnings, one a line. */
static struct span ask_about(struct reviewed_cluster *f, const char *resource, const char *operation, const char *members,
                             bool synced, bool strict)
{
    struct label_rules labels = {{well_known, COUNT_OF(well_known)}, domains, COUNT_OF(domains)};
    struct webhook_rules rules = {.labels = &labels, .syms = f->syms, .strict = strict, .overlays = true};
    const char *version = strcmp(resource, "nodeoverlays") == 0 ? "v1alpha1" : "v1";
    struct span body = arena_printf(&f->arena, HEAD, version, resource, operation, members), warnings;
    enum webhook_answer answer;
    struct err err;
    buf_clear(&f->reply);
    if (!webhook_review(&f->scratch, &(struct review_sources){&rules, synced ? f->snapshot : NULL, {NULL, NULL}}, body, &f->reply, &answer, &err))
        fail_msg("%s: %s", members, err.msg);
    assert_int_equal(answer, WEBHOOK_ALLOWED);
    cluster_response(f, &warnings);
    return warnings;
}

static struct span ask(struct reviewed_cluster *f, const char *operation, const char *members, bool synced, bool strict)
{
    return ask_about(f, "nodepools", operation, members, synced, strict);
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
    /* limits */
    {"what it holds already", POOL("full", "9", LIMITED("\"cpu\":\"8\",\"nodes\":\"3\"")), NULL},
    {"less than it holds", POOL("full", "9", LIMITED("\"cpu\":\"7500m\",\"nodes\":\"3\"")),
     "spec.limits.cpu: 7500m is less than the 8 that nodes of the pool have already: they stay, and until they have less no node is "
     "bought for the pool\n"},
    {"fewer nodes than it has", POOL("full", "9", LIMITED("\"nodes\":\"2\"")), "spec.limits.nodes: 2 is less than the 3 that "},
    {"of a pool that holds nothing", POOL("new", "9", LIMITED("\"cpu\":\"0\"")), NULL},
};

#define OVERLAY(name, members) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" members "}}"
#define CLAIM_OF(group, kind, class, members)                                                                           \
    "{\"metadata\":{\"name\":\"mine\"},\"spec\":{\"nodeClassRef\":{\"group\":\"" group "\",\"kind\":\"" kind "\",\"name\":\""  \
    class "\"}," members "}"
#define CLAIM(members) CLAIM_OF("karpenter.kwok.sh", "KWOKNodeClass", "default", members) "}"
static const struct {
    const char *label, *resource, *object;
    const char *warns; /* NULL: nothing */
} others[] = {
    /* overlays */
    {"nothing that another sets", "nodeoverlays", OVERLAY("o", "\"requirements\":[],\"capacity\":{\"example.com/a\":\"1\"}"), NULL},
    {"another weight", "nodeoverlays", OVERLAY("o", "\"weight\":3,\"requirements\":[],\"price\":\"1\""), NULL},
    {"other types", "nodeoverlays", OVERLAY("o", ASKS(ARM) ",\"price\":\"1\""), NULL},
    {"itself as it was", "nodeoverlays", OVERLAY("cheap", "\"requirements\":[],\"price\":\"1\""), NULL},
    {"a price of its weight, and goes first", "nodeoverlays", OVERLAY("o", "\"requirements\":[],\"price\":\"1\""),
     "NodeOverlay o: spec.weight: 0 is the weight of NodeOverlay cheap, too, which sets the same of some instance type: this one goes "
     "first by its name, and cheap has no effect anywhere. Fix: give one another weight, or requirements that exclude each other\n"},
    {"a price of its weight, and goes after", "nodeoverlays", OVERLAY("a", "\"requirements\":[],\"price\":\"1\""),
     "NodeOverlay a: spec.weight: 0 is the weight of NodeOverlay cheap, too, which sets the same of some instance type: that one goes "
     "first by its name, and this has no effect anywhere. "},
    /* claims */
    {"a good one", "nodeclaims", CLAIM(ASKS(ARM)), NULL},
    {"a class that there is not", "nodeclaims", CLAIM_OF("karpenter.kwok.sh", "KWOKNodeClass", "defualt", ASKS("")) "}",
     "NodeClaim mine: spec.nodeClassRef: there is no KWOKNodeClass defualt: no node comes of the claim. Fix: did you mean default?\n"},
    {"a class like none", "nodeclaims", CLAIM_OF("karpenter.kwok.sh", "KWOKNodeClass", "x", ASKS("")) "}",
     "NodeClaim mine: spec.nodeClassRef: there is no KWOKNodeClass x: no node comes of the claim. Fix: create it first\n"},
    {"a kind of class that there is not", "nodeclaims", CLAIM_OF("karpenter.kwok.sh", "NodeClass", "default", ASKS("")) "}",
     "NodeClaim mine: spec.nodeClassRef: NodeClass of karpenter.kwok.sh is no kind of node class: no node comes of the claim. Fix: write "
     "KWOKNodeClass, or delete the claim\n"},
    {"of another provider", "nodeclaims", CLAIM_OF("karpenter.k8s.aws", "EC2NodeClass", "x", ASKS(IN("kubernetes.io/arch", "\"amd46\""))) "}", NULL},
    {"what no type has", "nodeclaims", CLAIM(ASKS(IN("kubernetes.io/arch", "\"amd46\""))),
     "NodeClaim mine: spec.requirements[0]: no instance type has kubernetes.io/arch In [amd46] (did you mean amd64?): no node comes of "
     "the claim. Fix: ask for a kubernetes.io/arch that there is\n"},
    {"what contradicts itself is told of that alone", "nodeclaims", CLAIM(ASKS(ARM "," IN("kubernetes.io/arch", "\"amd64\""))),
     "NodeClaim mine: spec.requirements[1]: kubernetes.io/arch In [amd64] leaves no value after "},
    {"of one that is launched, nothing", "nodeclaims",
     CLAIM_OF("karpenter.kwok.sh", "KWOKNodeClass", "gone", ASKS(ARM "," IN("kubernetes.io/arch", "\"amd64\""))) ",\"status\":{\"providerID\":\"kwok://x\"}}",
     NULL},
    {"more room than any type has", "nodeclaims", CLAIM(ASKS(ARM) ",\"resources\":{\"requests\":{\"memory\":\"1Gi\",\"cpu\":\"4000\"}}"),
     "NodeClaim mine: spec.resources.requests[cpu]: no instance type that meets the claim's requirements has room for 4k (at the most "},
    {"a resource that none has", "nodeclaims", CLAIM(ASKS(ARM) ",\"resources\":{\"requests\":{\"example.com/gpu\":\"1\"}}"),
     "NodeClaim mine: spec.resources.requests[example.com/gpu]: no instance type that meets the claim's requirements has room for 1 (at "
     "the most for 0): the node that comes has less. Fix: lower it, or loosen the requirements\n"},
    {"room that some type has", "nodeclaims", CLAIM(ASKS(ARM) ",\"resources\":{\"requests\":{\"memory\":\"1Gi\",\"cpu\":\"1\"}}"), NULL},
};

static void pools_are_seen_beside_others(void **state)
{
    struct reviewed_cluster *f = *state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        for (int strict = 0; strict < 2; strict++) { /* it depends on others: never refused */
            if (strict != 0 && strstr(rows[r].label, "contradicts") != NULL)
                continue;
            struct span got = ask(f, "CREATE", arena_printf(&f->arena, "\"object\":%s", rows[r].pool).ptr, true, strict != 0);
            struct span want = rows[r].warns == NULL ? SPAN("") : arena_printf(&f->arena, "NodePool new: %s", rows[r].warns);
            if (strcmp(rows[r].label, "itself") == 0)
                want = arena_printf(&f->arena, "NodePool old: %s", rows[r].warns);
            if (strstr(rows[r].pool, "\"name\":\"full\"") != NULL && rows[r].warns != NULL)
                want = arena_printf(&f->arena, "NodePool full: %s", rows[r].warns);
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

/* They stand beside each other, and beside pools. */
static void overlays_and_claims_are_seen_beside_others(void **state)
{
    struct reviewed_cluster *f = *state;
    for (size_t r = 0; r < COUNT_OF(others); r++)
        for (int synced = 0; synced < 2; synced++) {
            bool of_itself = strstr(others[r].label, "contradicts") != NULL;
            const char *members = arena_printf(&f->arena, "\"object\":%s", others[r].object).ptr;
            struct span got = ask_about(f, others[r].resource, "CREATE", members, synced != 0, synced != 0 && !of_itself);
            const char *want = others[r].warns != NULL && (synced != 0 || of_itself) ? others[r].warns : "";
            if (!span_has_prefix(got, span_of(want)) || (want[0] == '\0' && got.len != 0))
                fail_msg("%s: %.*s", others[r].label, SPAN_ARG(got));
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
        cmocka_unit_test_setup_teardown(overlays_and_claims_are_seen_beside_others, setup, teardown),
        cmocka_unit_test_setup_teardown(deletions_tell_what_goes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
