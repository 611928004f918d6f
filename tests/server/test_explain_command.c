/* `stowage explain` as a program: what it says, where, and with which exit status. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/command.h"
#include "server/explain.h"
#include "support_command.h"

#define ATTACHED(name, node, volume)                                                               \
    "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " name "}\n"          \
    "spec: {attacher: a, nodeName: " node ", source: {persistentVolumeName: " volume "}}\n---\n"

#define OWNED(name, kind, owner, spec, status)                                                     \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: web, labels: {pod-template-hash: 5d8f}, "          \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " owner ", uid: u, controller: true}]}\n"            \
    "spec: {containers: [{name: c}]" spec "}\nstatus: {" status "}\n---\n"
#define WAITS "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]"

static const char OBJECTS[] =
    OWNED("front-5d8f-a", "ReplicaSet", "front-5d8f", ", nodeName: n1", "phase: Running")
    OWNED("front-5d8f-b", "ReplicaSet", "front-5d8f", "", WAITS)
    OWNED("nightly-2900-x", "Job", "nightly-2900", "", WAITS)
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
    "spec: {template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}],\n"
    "  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n3, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nstatus: {allocatable: {cpu: 0}}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: held, namespace: web, annotations: {karpenter.sh/do-not-disrupt: \"true\"}}\n"
    "spec: {nodeName: n3}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n4, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nstatus: {allocatable: {cpu: 0}}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: stays, namespace: web}\n"
    "spec: {nodeName: n4, tolerations: [{operator: Exists}], volumes: [{name: d, persistentVolumeClaim: {claimName: d}}]}\n---\n"
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d, namespace: web}\nspec: {volumeName: pv-0}\n---\n"
    ATTACHED("csi-0", "n4", "pv-0") ATTACHED("csi-2", "n4", "pv-2") ATTACHED("csi-1", "n4", "pv-1")
    ATTACHED("csi-3", "n3", "pv-3")
    "apiVersion: v1\nkind: Pod\nmetadata: {name: api-0, namespace: web}\n"
    "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}\n"
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: render-0}\n"
    "spec: {containers: [{name: c, resources: {requests: {cpu: 2000}}}]}\n"
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n";

static const struct {
    const char *args[COMMAND_ARGS_MAX];
    int status;
    const char *begins;
} rows[] = {
    {{"pod", "web/api-0", "-f", "{}"}, 0, "web/api-0 has a place: node n1, which exists.\n\n  asks for      2 CPUs\n"},
    {{"pod", "render-0", "-f", "{}"}, 1, "default/render-0 has no place: it asks for 2000 CPUs; "},
    {{"node", "n1", "-f", "{}"}, 0, "n1 stays: no dynamic NodePool of ours owns it.\n"},
    {{"node", "n3", "-f", "{}"}, 0,
     "n3 is leaving: 1 pod waits to be evicted: pod web/held has annotation\nkarpenter.sh/do-not-disrupt.\n"},
    {{"node", "n4", "-f", "{}"}, 0,
     "n4 is leaving: 2 volumes are still attached (VolumeAttachment csi-1, csi-2).\n"},
    {{"nodepool", "general", "-f", "{}"}, 0, "general can buy, but refuses 1 pod that waits.\n\n  types    72 of 144 left "},
    {{"pod", "web/api-0", "-f", "{}", "-o", "json"}, 0, "{\n  \"hasPlace\": true,\n  \"sentence\": \"web/api-0 has a place: "},
    {{"pod", "render-0", "-f", "{}", "-o", "yaml"}, 1, "hasPlace: false\n"},
    {{"pod", "web/api-1", "-f", "{}"}, 2, "stowage explain: there is no pod web/api-1; did you mean web/api-0?\n"},
    {{"pod", "api-0", "-f", "{}"}, 2, "stowage explain: there is no pod default/api-0; did you mean web/api-0?\n"},
    {{"pod", "api-0", "-f", "{}", "-n", "web"}, 0, "web/api-0 has a place: "},
    {{"po/web/api-0", "-f", "{}"}, 0, "web/api-0 has a place: "},
    {{"pods/render-0", "-f", "{}"}, 1, "default/render-0 has no place: "},
    {{"no", "n1", "-f", "{}"}, 0, "n1 stays: "},
    {{"nodes/n1", "-f", "{}"}, 0, "n1 stays: "},
    {{"nodepools", "general", "-f", "{}"}, 0, "general can buy, "},
    {{"node", "n2", "-f", "{}"}, 2, "stowage explain: there is no node n2; did you mean n1?\n"},
    {{"nodepool", "genral", "-f", "{}"}, 2, "stowage explain: there is no nodepool genral; did you mean general?\n"},
    {{"pood", "x", "-f", "{}"}, 2, "stowage explain: \"pood\" is not pod, node, nodepool, group or a workload like deployment\n"},
    {{"pod", "-f", "{}"}, 2, "stowage explain: say what to explain: "},
    {{"pod", "x", "--outptu=json"}, 2, "stowage explain: no flag --outptu; did you mean --output (-o)?\n"},
    {{"node", "n1", "--server=http://127.0.0.1:1"}, 2,
     "stowage explain: no files are given (-f) and no server answers (--server): http://127.0.0.1:1/explain/node/n1: "},
    {{"nodepool", "general", "-f", "{}", "--at", "noon"}, 2, "stowage explain: --at: \"noon\" is not a time like 2026-10-10T12:00:00Z\n"},
    {{"node", "n1", "-f", "{}", "--at", "2026-10-10T12:00:00Z"}, 2, "stowage explain: --at is for a nodepool\n"},
    {{"nodepool", "general", "--at", "2026-10-10T12:00:00Z", "--server=http://127.0.0.1:1"}, 2,
     "stowage explain: no files are given (-f) and no server answers (--server): "
     "http://127.0.0.1:1/explain/nodepool/general?at=2026-10-10T12:00:00Z: "},
    {{"pod", "a b", "--server=http://127.0.0.1:1"}, 2, "stowage explain: \"a b\" is not a name that an object can have\n"},
    {{"--help"}, 0, "usage: stowage explain pod|deployment|node|nodepool|group|move NAME"},
    {{"deployment", "web/front", "-f", "{}"}, 0, "Deployment web/front: 1 of 2 pods stands on a node, 1 is planned.\n\n  stand on      n1\n"},
    {{"deploy/front", "-n", "web", "-f", "{}"}, 0, "Deployment web/front: "},
    {{"rs", "web/front-5d8f", "-f", "{}"}, 0, "ReplicaSet web/front-5d8f: "},
    {{"cronjob", "web/nightly", "-f", "{}"}, 0, "CronJob web/nightly: 1 pod is planned.\n"},
    {{"job", "web/nightly-2900", "-f", "{}"}, 0, "Job web/nightly-2900: "},
    {{"pod", "web/front", "-f", "{}"}, 0, "Pods web/front-*: 1 of 2 pods "},
    {{"pod", "web/front-5d8f-", "-f", "{}"}, 0, "Pods web/front-5d8f-*: "},
    {{"pod", "web/fron", "-f", "{}"}, 2, "stowage explain: there is no pod web/fron"},
    {{"deployment", "web/frnt", "-f", "{}"}, 2, "stowage explain: no pod here is of a Deployment web/frnt; did you mean web/front?\n"},
    {{"sts", "web/front", "-f", "{}"}, 2, "stowage explain: no pod here is of a StatefulSet web/front\n"},
    {{"deploy", "web/front", "--server=http://127.0.0.1:1"}, 2,
     "stowage explain: no files are given (-f) and no server answers (--server): "
     "http://127.0.0.1:1/explain/deployment/web/front: "},
    {{"move", "d-1", "-f", "{}"}, 2, "stowage explain: moves are a running server's: ask it, without -f\n"},
    {{"move", "d-1", "--server=http://127.0.0.1:1"}, 2,
     "stowage explain: no files are given (-f) and no server answers (--server): http://127.0.0.1:1/explain/move/d-1: "},
    {{"group", "a", "-f", "{}"}, 2, "stowage explain: the input has no node groups; give --node-groups FILE\n"},
    {{"group", "MachineDeployment/ns/md-0", "--server=http://127.0.0.1:1"}, 2,
     "stowage explain: no files are given (-f) and no server answers (--server): "
     "http://127.0.0.1:1/explain/group/MachineDeployment/ns/md-0: "},
};

static void answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct outcome o = run_command(command_explain, OBJECTS, rows[i].args);
        if (o.status != rows[i].status || strncmp(o.text, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("%s %s: status %d, %s", rows[i].args[0], rows[i].args[1], o.status, o.text);
    }
}

/* How many may go at a time, who says so, and until when. */
static void what_may_go(void **state)
{
#define POOL(annotations, budgets)                                                                                    \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general, annotations: {" annotations "}}\n"        \
    "spec: {disruption: {budgets: [" budgets "]}, template: {spec: {requirements: [], "                                 \
    "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
#define NODE(name)                                                                                                     \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name ", labels: {karpenter.sh/nodepool: general}}\n" \
    "spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}\n"                          \
    "status: {providerID: 'kwok://" name "', nodeName: " name "}\n---\napiVersion: v1\nkind: Node\n"                 \
    "metadata: {name: " name ", labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: 'true', "            \
    "karpenter.sh/registered: 'true'}}\nspec: {providerID: 'kwok://" name "'}\n"                                      \
    "status: {allocatable: {cpu: 4}, conditions: [{type: Ready, status: 'True'}]}\n---\n"
    static const struct {
        const char *objects, *at, *says;
    } cases[] = {
        {POOL("", "{nodes: 50%}") NODE("a") NODE("b"), "2026-07-01T12:00:00Z",
         "at 2026-07-01T12:00:00Z for any reason: 1 of 2 nodes, by spec.disruption.budgets[0] (\"50%\")\n"},
        {POOL("", "{nodes: '5'}, {nodes: '0', reasons: [Drifted], schedule: '0 9 * * *', duration: 8h}") NODE("a") NODE("b"),
         "2026-07-01T12:00:00Z",
         "for Drifted: 0 of 2 nodes, by spec.disruption.budgets[1] (\"0\"); from 2026-07-01T17:00:00Z on 2 of 2 nodes, by "
         "spec.disruption.budgets[0] (\"5\")\n"},
        {POOL("stowage.dev/allow-windows: 0 1 * * mon-fri 4h Europe/Berlin", "{nodes: '1'}") NODE("a") NODE("b"),
         "2026-07-01T22:00:00Z",
         "for any reason: 0 of 2 nodes, no window of stowage.dev/allow-windows is open; from 2026-07-01T23:00:00Z on 1 of 2 "
         "nodes, by spec.disruption.budgets[0] (\"1\")\n"},
        {POOL("stowage.dev/allow-windows: at night", "{nodes: '1'}") NODE("a"), "2026-07-01T22:00:00Z",
         "for any reason: 0 of 1 nodes, stowage.dev/allow-windows cannot be read: \"at night\" is no window; "},
        {POOL("stowage.dev/mode: 'recommend,Empty=act,Drifted=observe'", "{nodes: '1'}") NODE("a"), "2026-07-01T22:00:00Z",
         "for Underutilized, Unhealthy: 1 of 1 nodes, by spec.disruption.budgets[0] (\"1\"); what would be done is only "
         "said, by stowage.dev/mode\n"},
        {POOL("stowage.dev/mode: 'recommend,Empty=act,Drifted=observe'", "{nodes: '1'}") NODE("a"), "2026-07-01T22:00:00Z",
         "for Drifted: 1 of 1 nodes, by spec.disruption.budgets[0] (\"1\"); nothing is looked for, by stowage.dev/mode\n"},
        {POOL("stowage.dev/mode: 'recommend,Empty=act,Drifted=observe'", "{nodes: '1'}") NODE("a"), "2026-07-01T22:00:00Z",
         "for Empty: 1 of 1 nodes, by spec.disruption.budgets[0] (\"1\")\n"},
        {POOL("stowage.dev/mode: never", "{nodes: '1'}") NODE("a"), "2026-07-01T22:00:00Z",
         "is only said, by stowage.dev/mode, which cannot be read: \"never\" is no mode; "},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *const args[COMMAND_ARGS_MAX] = {"nodepool", "general", "-f", "{}", "--at", cases[i].at};
        struct outcome o = run_command(command_explain, cases[i].objects, args);
        struct buf flat = {0}; /* lines are broken, and begin with blanks */
        for (const char *c = o.text; *c != 0; c++)
            if (*c == '\n' && c[1] == ' ' && strncmp(c + 1, "  may go", 8) != 0)
                buf_add_char(&flat, ' ');
            else if (*c != ' ' || flat.len == 0 || flat.ptr[flat.len - 1] != ' ')
                buf_add_char(&flat, *c);
        buf_add_char(&flat, 0);
        if (o.status != 0 || strstr(flat.ptr, cases[i].says) == NULL)
            fail_msg("%zu: status %d, %s", i, o.status, flat.ptr);
        buf_release(&flat);
    }
}

/* What no API server would admit is there, and says why it is not planned with. */
static void what_is_set_aside(void **state)
{
    static const char objects[] =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: odd-0}\n"
        "spec: {containers: [{name: c, resources: {requests: {cpu: -2}}}]}\n";
    static const char *const args[COMMAND_ARGS_MAX] = {"pod", "odd-0", "-f", "{}"};
    (void)state;
    struct outcome o = run_command(command_explain, objects, args);
    if (o.status != 2 ||
        strstr(o.text, "stowage explain: default/odd-0 is set aside, nothing is planned for it: ") == NULL ||
        strstr(o.text, ":1: spec.containers[0].resources.requests.cpu: \"-2\" must not be negative\n") == NULL)
        fail_msg("status %d, %s", o.status, o.text);
}

/* What the server writes is what the client shows. */
static void there_and_back(void **state)
{
    (void)state;
    struct answer_line lines[] = {{SPAN("pool a"), SPAN("it \"asks\"")}, {SPAN("Fix"), SPAN("none")}};
    struct explanation e = {.sentence = SPAN("a has no place."), .lines = lines, .line_count = 2}, got;
    struct buf json = {0}, want = {0}, text = {0};
    struct json j = JSON_TO(&json);
    struct arena a;
    struct err err;
    arena_init(&a, 0);
    explanation_json(&j, &e);
    assert_true(explain_decode(&a, buf_span(&json), &got, &err));
    assert_false(got.has_place);
    explanation_text(&want, &e, 0);
    explanation_text(&text, &got, 0);
    assert_string_equal(text.ptr, want.ptr);
    assert_false(explain_decode(&a, SPAN("{}"), &got, &err));
    assert_false(explain_decode(&a, SPAN("<html>"), &got, &err));
    buf_release(&json);
    buf_release(&want);
    buf_release(&text);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(what_may_go), cmocka_unit_test(what_is_set_aside), cmocka_unit_test(there_and_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
