/* `stowage explain group`: whether a group grows and why not, and where each part of its template comes from. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/command.h"
#include "server/explain.h"
#include "server/group_answers.h"
#include "support_command.h"

#define WAITS(name, cpu)                                                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, uid: " name ", creationTimestamp: "     \
    "\"2026-10-10T11:50:00Z\"}\nspec: {containers: [{name: c, resources: {requests: {cpu: " #cpu "}}}]}\n"              \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define NODE(name, ready)                                                                                              \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", uid: " name ", creationTimestamp: \"2026-10-10T08:00:00Z\", " \
    "labels: {pool: live, rack: r1}}\nspec: {taints: [{key: dedicated, value: live, effect: NoSchedule}, {key: "        \
    "DeletionCandidateOfClusterAutoscaler, value: '1', effect: PreferNoSchedule}]}\nstatus: {capacity: {cpu: 4, "       \
    "memory: 8Gi, pods: 110}, allocatable: {cpu: 3800m, memory: 7Gi, pods: 110}, conditions: [{type: Ready, status: '" ready \
    "', lastTransitionTime: \"2026-10-10T08:01:00Z\"}]}\n"

static const char OBJECTS[] =
    WAITS("web-0", 1) WAITS("web-1", 1) WAITS("huge", 64) NODE("live-0", "True")
    "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n"
    "- {name: live, minSize: 0, maxSize: 3, nodes: [live-0]}\n"
    "- {name: small, minSize: 0, maxSize: 10, template: {metadata: {labels: {pool: small}}, status: {capacity: {cpu: 2, "
    "memory: 4Gi, pods: 110}}}}\n"
    "- {name: large, minSize: 0, maxSize: 4, template: {metadata: {labels: {pool: large}}, status: {capacity: {cpu: 8, "
    "memory: 8Gi, pods: 110}, allocatable: {cpu: 7500m, memory: 8Gi, pods: 110}}}}\n"
    "- {name: sold-out, minSize: 0, maxSize: 4, template: {status: {capacity: {cpu: 8, memory: 8Gi, pods: 110}}}, "
    "backoff: {until: \"2026-10-10T12:03:00Z\", errorCode: QuotaExceeded, errorMessage: no quota for 8 CPUs}}\n"
    "- {name: gone, minSize: 0, maxSize: 0, template: {status: {capacity: {cpu: 8, memory: 8Gi, pods: 110}}}, learned: {metadata: "
    "{labels: {rack: r7}}, spec: {taints: [{key: dedicated, value: gone, effect: NoSchedule}]}, status: {allocatable: {cpu: 7800m, "
    "memory: 6Gi, pods: 110}}}}\n"
    "- {name: bare, minSize: 0, maxSize: 4}\n"
    "- {name: full, minSize: 0, maxSize: 0, template: {status: {capacity: {cpu: 8, memory: 8Gi, pods: 110}}}}\n";

static struct outcome ask(const char *objects, const char *group, const char *flag, const char *output)
{
    return run_command(command_explain, objects,
                       (const char *const[COMMAND_ARGS_MAX]){"group", group, "-f", "{}", "--now=2026-10-10T12:00:00Z", "-o", output,
                                                             flag});
}

static const struct {
    const char *group, *flag, *output;
    int status;
    const char *begins, *has, *also;
} rows[] = {
    {"small", "--expander=least-waste", "table", 0, "small grows from 0 to 1 nodes: 2 pods wait for it.\n", "  size ", "0 of 0 to 10"},
    {"large", "--expander=least-waste", "table", 0, "large does not grow: 1 node of it would take 2 pods, but --expander least-waste\nprefers small.\n",
     "shop/web-0, shop/web-1\n", "cpu 7500m, memory 8Gi, pods 110 (its provider)\n"},
    {"small", "--expander=most-pods", "table", 0, "small does not grow: 1 node of it would take 2 pods, as well as large, which\ngrows: of equals the first by name.\n",
     "as its provider says: it has no node\n", "cpu 2, memory 4Gi, pods 110 (its provider's capacity)\n"},
    {"small", NULL, "table", 0, "small grows ", "shop/huge, which no group takes: ", "pool=small (its provider)\n"},
    {"sold-out", NULL, "table", 1, "sold-out does not grow: in backoff after failed scale-up.\n",
     "until 2026-10-10T12:03:00Z: QuotaExceeded: no quota for 8 CPUs\n", ""},
    {"bare", NULL, "table", 1, "bare does not grow: ", "none: it has no node, and its provider says nothing\n", ""},
    {"full", NULL, "table", 0, "full does not grow: max node group size reached.\n", "0 of 0 to 0", ""},
    {"live", NULL, "table", 0, "live ", "as Node live-0, which is ready\n", "dedicated=live:NoSchedule (Node live-0)\n"},
    {"live", NULL, "table", 0, "live ", "pool=live, rack=r1 (Node live-0)\n", "without DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule"},
    {"live", NULL, "table", 0, "live ", "cpu 3800m, memory 7Gi, pods 110 (Node live-0)\n", "1 of 0 to 3; 1 Node, 1 ready\n"},
    {"gone", NULL, "table", 0, "gone does not grow: ", "learned: as its nodes were; it has none now\n", "cpu 7800m, memory 6Gi, pods 110 (learned)\n"},
    {"gone", NULL, "table", 0, "gone does not grow: ", "rack=r7 (learned)\n", "dedicated=gone:NoSchedule (learned)\n"},
    {"small", NULL, "json", 0, "{\n  \"hasPlace\": true,\n  \"sentence\": \"small grows from 0 to 1 nodes", "\"about\": \"size\"", ""},
    {"smal", NULL, "table", 2, "stowage explain: there is no group smal; did you mean small?\n", "", ""},
};

static void expect_narrow(const char *text)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80 && strchr(line, ' ') != NULL)
            fail_msg("wider than 80 columns: %s", text);
}

/* Lines that were broken are one again. */
static void unbreak(char *text)
{
    char *to = text;
    for (const char *c = text; *c != '\0'; c++) {
        bool broken = *c == '\n' && strncmp(c + 1, "               ", 15) == 0;
        *to++ = broken ? ' ' : *c;
        c += broken ? strspn(c + 1, " ") : 0;
    }
    *to = '\0';
}

static void answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = ask(OBJECTS, rows[i].group, rows[i].flag, rows[i].output);
        if (strcmp(rows[i].output, "table") == 0 && o.status != 2)
            expect_narrow(o.text);
        bool begins = strncmp(o.text, rows[i].begins, strlen(rows[i].begins)) == 0;
        unbreak(o.text);
        if (o.status != rows[i].status || !begins || strstr(o.text, rows[i].has) == NULL || strstr(o.text, rows[i].also) == NULL)
            fail_msg("%zu, %s: status %d, %s", i, rows[i].group, o.status, o.text);
    }
}

/* All of it, as a person sees it. */
static void as_it_is_shown(void **state)
{
    (void)state;
    struct outcome o = ask(OBJECTS, "sold-out", NULL, "table");
    assert_string_equal(o.text,
                        "sold-out does not grow: in backoff after failed scale-up.\n\n"
                        "  size         0 of 0 to 4; 0 Nodes, 0 ready\n"
                        "  back-off     until 2026-10-10T12:03:00Z: QuotaExceeded: no quota for 8 CPUs\n"
                        "  waits        shop/huge, which no group takes: 1 in backoff after failed\n"
                        "               scale-up, 1 node(s) had untolerated taint(s), 1 not ready for\n"
                        "               scale-up, 2 Insufficient cpu, 2 max node group size reached\n"
                        "  template     as its provider says: it has no node\n"
                        "  labels       kubernetes.io/hostname=template-node-for-sold-out,\n"
                        "               cluster-autoscaler.kubernetes.io/template-node=true (of every new\n"
                        "               node)\n"
                        "  allocatable  cpu 8, memory 8Gi, pods 110 (its provider's capacity)\n");
}

#define POOL                                                                                                            \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {requirements: [], " \
    "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"
#define PRICED(name, cpu, price)                                                                                        \
    "- {name: " name ", minSize: 0, maxSize: 9, " price "template: {status: {capacity: {cpu: " cpu ", memory: 8Gi, pods: 9}}}}\n"

/* Beside NodePools it matters what a node costs. */
static void prices_beside_pools(void **state)
{
    (void)state;
    static const char both[] = POOL WAITS("web-0", 1) "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n"
        PRICED("dear", "2", "price: 0.02, ") PRICED("cheap", "8", "price: 0.01, ") PRICED("unknown", "1", "");
    static const struct {
        const char *group, *has;
    } asked[] = {
        {"cheap", "cheap grows from 0 to 1 nodes: 1 pod waits for it."},
        {"cheap", "$0.0100 an hour a node"},
        {"dear", "1 node of it would take 1 pod, but the price prefers cheap."},
        {"unknown", "nobody knows it: NodePools come before it for whomever they take. Fix: write the annotation stowage.dev/price"},
    };
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct outcome o = ask(both, asked[i].group, NULL, "json");
        if (o.status != 0 || strstr(o.text, asked[i].has) == NULL)
            fail_msg("%s: status %d, %s", asked[i].group, o.status, o.text);
    }
}

#define REPLICA_SET                                                                                                   \
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: api, namespace: shop}\nspec: {replicas: 3, selector: {matchLabels: " \
    "{app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n"
#define TO_POOLS(name) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, uid: " name                  \
    ", annotations: {stowage.dev/prefer: pools}, creationTimestamp: \"2026-10-10T11:50:00Z\"}\nspec: {containers: [{name: c, resources: "   \
    "{requests: {cpu: 1}}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"

/* What becomes of a pod is the groups' matter where they are asked. */
static void pods_of_groups(void **state)
{
    (void)state;
    static const char some[] = "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups:\n" PRICED("a", "4", "price: 0.01, ");
    static const char none[] = "---\napiVersion: stowage.dev/v1alpha1\nkind: NodeGroups\ngroups: []\n";
    static const struct {
        const char *label, *pods, *pool, *groups, *kind, *name, *has, *also;
        int status;
    } asked[] = {
        {"a group grows", WAITS("web-0", 1), "", some, "pod", "shop/web-0", "shop/web-0 has a place: a new node of group a.", "", 0},
        {"no group takes it", WAITS("huge", 64), "", some, "pod", "shop/huge",
         "shop/huge has no place: it fits no node group: 1 Insufficient cpu.", "\"Unschedulable\"", 1},
        {"nor any pool", WAITS("huge", 640), POOL, some, "pod", "shop/huge", "\"about\": \"node groups\"", "\"1 Insufficient cpu\"", 1},
        {"a group is cheaper", WAITS("web-0", 1), POOL, some, "pod", "shop/web-0", "a new node of group a.", "", 0},
        {"a pool has it", TO_POOLS("web-0"), POOL, some, "pod", "shop/web-0", "a new node of pool general", "", 0},
        {"a workload", REPLICA_SET, "", some, "replicaset", "shop/api", "ReplicaSet shop/api: 3 pods wait for the places",
         "and 2 more: a new node of group a", 0},
        {"some of its pods", WAITS("web-0", 1) WAITS("web-1", 64), "", some, "pod", "shop/web", "1 of 2 pods waits for the place",
         "shop/web-1: it fits no node group: 1 Insufficient cpu", 1},
        {"there is no group", WAITS("web-0", 1), "", none, "pod", "shop/web-0", "it has no NodePool to go to", "", 1},
    };
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct buf objects = {0};
        buf_addf(&objects, "%s%s%s", asked[i].pods, asked[i].pool, asked[i].groups);
        struct outcome o = run_command(command_explain, objects.ptr,
                                       (const char *const[COMMAND_ARGS_MAX]){asked[i].kind, asked[i].name, "-f", "{}",
                                                                             "--now=2026-10-10T12:00:00Z", "-ojson"});
        if (o.status != asked[i].status || strstr(o.text, asked[i].has) == NULL || strstr(o.text, asked[i].also) == NULL)
            fail_msg("%s: status %d, %s", asked[i].label, o.status, o.text);
        buf_release(&objects);
    }
}

/* A server's answers are those of the last pass, and are gone when it leads no more. */
static void a_server_keeps_the_last(void **state)
{
    static const struct group_answer first[] = {{.group = SPAN_INIT("a"), .json = SPAN_INIT("{\"sentence\": \"old\"}")}};
    static const struct group_answer second[] = {{.group = SPAN_INIT("workers"), .json = SPAN_INIT("{\"sentence\": \"new\"}")}};
    static const struct group_refusal refused[] = {{SPAN_INIT("u2"), SPAN_INIT("1 Insufficient cpu")}, {SPAN_INIT("u1"), SPAN_INIT("no")}};
    struct group_answers *g = group_answers_new();
    struct buf out = {0};
    struct err err;
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    assert_false(group_answers_write(g, SPAN("a"), &out, &err));
    assert_string_equal(err.msg, "no node groups are kept here, or not yet, or this is not the leader");
    group_answers_set(g, &(struct groups_told){.groups = first, .group_count = 1});
    group_answers_set(g, &(struct groups_told){.groups = second, .group_count = 1, .refusals = refused, .refusal_count = 2});
    assert_false(group_answers_write(g, SPAN("worker"), &out, &err));
    assert_string_equal(err.msg, "there is no group worker; did you mean workers?");
    assert_true(group_answers_write(g, SPAN("workers"), &out, &err));
    assert_true(span_eq(buf_span(&out), second[0].json));
    assert_true(span_eq(group_answers_refusal(g, SPAN("u2"), &a), refused[0].text));
    assert_true(span_eq(group_answers_refusal(g, SPAN("u1"), &a), refused[1].text));
    assert_int_equal(group_answers_refusal(g, SPAN("u3"), &a).len, 0);
    group_answers_set(g, NULL);
    assert_int_equal(group_answers_refusal(g, SPAN("u2"), &a).len, 0);
    arena_release(&a);
    assert_false(group_answers_write(g, SPAN("workers"), &out, &err));
    buf_release(&out);
    group_answers_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(as_it_is_shown), cmocka_unit_test(prices_beside_pools), cmocka_unit_test(pods_of_groups),
                                       cmocka_unit_test(a_server_keeps_the_last)};
    return cmocka_run_group_tests_name("explain_group", tests, NULL, NULL);
}
