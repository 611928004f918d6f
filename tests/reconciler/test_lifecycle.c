#include "reconciler/lifecycle/lifecycle.h"

#include <stdio.h>
#include <string.h>

#include "tests/reconciler/support_objects.h"

#define META "metadata: {name: c, uid: c-uid, generation: 1, resourceVersion: '7', creationTimestamp: '"
#define OURS "', finalizers: [karpenter.sh/termination]"
#define CLAIM(created, status) META created OURS ", labels: {team: mine}}\nstatus: {" status "}\n"
#define CONDITION(type, status, since)                                                             \
    "{type: " type ", status: '" status "', reason: " type ", observedGeneration: 1, "             \
    "lastTransitionTime: '" since "'}"
#define LAUNCHED "providerID: kwok://c, conditions: [" CONDITION("Launched", "True", HOUR_AGO) "]"
#define LAUNCHED_NOW "providerID: kwok://c, conditions: [" CONDITION("Launched", "True", NOW_TEXT) "]"
#define TAINTED                                                                                    \
    META NOW_TEXT OURS "}\nspec: {taints: [{key: team, effect: NoSchedule}], startupTaints: "          \
                       "[{key: boot, effect: NoExecute}]}\nstatus: {" LAUNCHED "}\n"
#define REGISTERED                                                                                 \
    "providerID: kwok://c, nodeName: c, conditions: [" CONDITION("Launched", "True", HOUR_AGO)     \
    ", " CONDITION("Registered", "True", HOUR_AGO) "]"
#define INITIALIZED                                                                                \
    "providerID: kwok://c, nodeName: c, conditions: [" CONDITION("Launched", "True", HOUR_AGO)     \
    ", " CONDITION("Registered", "True", HOUR_AGO) ", "                                            \
    CONDITION("Initialized", "True", HOUR_AGO) "]"
#define SIZED(consistent, since)                                                                   \
    META HOUR_AGO OURS "}\nspec: {resources: {requests: {cpu: '1'}}}\nstatus: {capacity: {cpu: '4'}, "   \
    "providerID: kwok://c, nodeName: c, conditions: [" CONDITION("Launched", "True", HOUR_AGO) ", "        \
    CONDITION("Registered", "True", HOUR_AGO) ", " CONDITION("Initialized", "True", HOUR_AGO) ", "         \
    CONDITION("ConsistentStateFound", consistent, since) "]}\n"
#define HAS_CPU(cpu)                                                                               \
    "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {capacity: {cpu: " cpu "}, " READY "}\n"
/* As it is written in this pass. */
#define SAYS(condition, status, reason)                                                                                \
    "{\"type\":\"" condition "\",\"status\":\"" status "\",\"observedGeneration\":1,\"lastTransitionTime\":\"" NOW_TEXT     \
    "\",\"reason\":\"" reason "\""
#define READY "conditions: [{type: Ready, status: 'True'}], allocatable: {cpu: '4'}"

#define TAINTED_CLAIM_REGISTERED                                                                   \
    META HOUR_AGO OURS "}\nspec: {taints: [{key: team, effect: NoSchedule}], startupTaints: "          \
                       "[{key: boot, effect: NoExecute}]}\nstatus: {" REGISTERED "}\n"

enum { NODE_NONE = 1, HAS_MACHINE = 2, LABELS_DONE = 4, TWO_NODES = 8 };

static const struct {
    const char *label;
    const char *claim, *node;
    unsigned flags;
    enum err_kind error; /* of the last create */
    /* wanted */
    bool launch;
    enum lifecycle_end end;
    const char *claim_patch, *node_patch, *status_patch; /* a part; NULL: absent; "": whatever */
} rows[] = {
    {"159: no finalizer yet: that first, before any cloud call",
     META NOW_TEXT "'}\n", NULL, 0, ERR_NONE, false, LIFECYCLE_GOES_ON,
     "{\"metadata\":{\"finalizers\":[\"karpenter.sh/termination\"]}}", NULL, NULL},
    {"a new claim is launched", CLAIM(NOW_TEXT, ""), NULL, 0, ERR_NONE, true, LIFECYCLE_GOES_ON,
     NULL, NULL, "AwaitingReconciliation"},
    {"the machine's labels first", CLAIM(NOW_TEXT, ""), NULL, HAS_MACHINE, ERR_NONE, false,
     LIFECYCLE_GOES_ON, "\"zone\":\"a\"", NULL, ""},
    {"then Launched, with the machine", CLAIM(NOW_TEXT, ""), NULL, HAS_MACHINE | LABELS_DONE,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"providerID\":\"kwok://c\""},
    {"160: no capacity", CLAIM(NOW_TEXT, ""), NULL, 0, ERR_CAPACITY, true, LIFECYCLE_NO_CAPACITY, NULL,
     NULL, ""},
    {"the class is not ready", CLAIM(NOW_TEXT, ""), NULL, 0, ERR_CONFLICT, true,
     LIFECYCLE_CLASS_NOT_READY, NULL, NULL, ""},
    {"162: another failure is told and tried again", CLAIM(NOW_TEXT, ""), NULL, 0, ERR_RETRY, true,
     LIFECYCLE_GOES_ON, NULL, NULL, SAYS("Launched", "Unknown", "LaunchFailed") ",\"message\":\"out of luck\""},
    {"173: not launched for 5 min", CLAIM(HOUR_AGO, ""), NULL, 0, ERR_NONE, true,
     LIFECYCLE_LAUNCH_TIMEOUT, NULL, NULL, ""},
    {"launched, no Node: asked for again, as nobody here knows of it",
     CLAIM(NOW_TEXT, LAUNCHED_NOW), NULL, 0, ERR_NONE, true, LIFECYCLE_GOES_ON, NULL, NULL,
     "NodeNotFound"},
    {"launched, no Node, and we made it ourselves", CLAIM(NOW_TEXT, LAUNCHED_NOW), NULL,
     HAS_MACHINE, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "NodeNotFound"},
    {"174: not registered for 15 min", CLAIM(HOUR_AGO, LAUNCHED), NULL, HAS_MACHINE, ERR_NONE, false,
     LIFECYCLE_REGISTRATION_TIMEOUT, NULL, NULL, ""},
    {"its Node is registered", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, resourceVersion: '9'}\nspec: {providerID: kwok://c, taints: "
     "[{key: karpenter.sh/unregistered, effect: NoExecute}, {key: own, effect: NoSchedule}]}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"taints\":[{\"key\":\"own\",\"effect\":\"NoSchedule\"}]", NULL},
    {"whoever owned it before still does", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: rack, uid: rack-uid, "
     "controller: true, blockOwnerDeletion: true}, {apiVersion: example.com/v1, kind: Rack, name: r, uid: r-uid}]}\n"
     "spec: {providerID: kwok://c}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"rack\",\"uid\":\"rack-uid\","
     "\"controller\":true,\"blockOwnerDeletion\":true},{\"apiVersion\":\"example.com/v1\",\"kind\":\"Rack\",\"name\":"
     "\"r\",\"uid\":\"r-uid\"},{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"name\":\"c\",\"uid\":"
     "\"c-uid\",\"blockOwnerDeletion\":true}]",
     NULL},
    {"and whatever held it before still does", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, finalizers: [example.com/rack, example.com/disk]}\nspec: {providerID: kwok://c}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"finalizers\":[\"example.com/rack\",\"example.com/disk\",\"karpenter.sh/termination\"]", NULL},
    {"it gets the claim's taints", TAINTED, "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\n", 0, ERR_NONE,
     false, LIFECYCLE_GOES_ON, NULL,
     "\"taints\":[{\"key\":\"team\",\"effect\":\"NoSchedule\"},{\"key\":\"boot\",\"effect\":\"NoExecute\"}]", NULL},
    {"166: unless it says that they are its own business; that it is not registered yet goes all the same", TAINTED,
     "metadata: {name: c, uid: m, labels: {karpenter.sh/do-not-sync-taints: 'true'}}\nspec: {providerID: kwok://c, taints: "
     "[{key: karpenter.sh/unregistered, effect: NoExecute}, {key: own, effect: NoSchedule}]}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, "\"taints\":[{\"key\":\"own\",\"effect\":\"NoSchedule\"}]", NULL},
    {"those that it has are not added, and one with another effect is another", TAINTED,
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: team, effect: NoExecute}, {key: boot, effect: "
     "NoExecute}]}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"taints\":[{\"key\":\"team\",\"effect\":\"NoExecute\"},{\"key\":\"boot\",\"effect\":\"NoExecute\"},"
     "{\"key\":\"team\",\"effect\":\"NoSchedule\"}]", NULL},
    {"its own taints stay as they are, with value and time", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: own, value: v, effect: NoExecute, timeAdded: "
     "'2026-01-02T03:00:00Z'}, {key: bare, value: '', effect: NoSchedule}]}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"taints\":[{\"key\":\"own\",\"value\":\"v\",\"effect\":\"NoExecute\",\"timeAdded\":\"2026-01-02T03:00:00Z\"},"
     "{\"key\":\"bare\",\"effect\":\"NoSchedule\"}]", NULL},
    {"the taint of the unregistered goes with its effect alone", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: karpenter.sh/unregistered, effect: NoSchedule}, {key: "
     "karpenter.sh/unregistered, effect: NoExecute}]}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL,
     "\"taints\":[{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoSchedule\"}]", NULL},
    {"our finalizer is there once", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, finalizers: [karpenter.sh/termination, example.com/disk]}\nspec: {providerID: kwok://c}\n", 0, ERR_NONE,
     false, LIFECYCLE_GOES_ON, NULL, "\"finalizers\":[\"karpenter.sh/termination\",\"example.com/disk\"]", NULL},
    {"one that is labelled and still has the taint is not registered", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, labels: {karpenter.sh/registered: 'true'}}\nspec: {providerID: kwok://c, taints: [{key: "
     "karpenter.sh/unregistered, effect: NoExecute}]}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, "\"taints\":[]", NULL},
    {"one that is being deleted does not register", CLAIM(NOW_TEXT, LAUNCHED_NOW),
     "metadata: {name: c, uid: m, deletionTimestamp: '" NOW_TEXT "'}\nspec: {providerID: kwok://c}\n", HAS_MACHINE, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, "NodeNotFound"},
    {"nor does one of a claim without a machine", META NOW_TEXT OURS ", labels: {team: mine}}\nstatus: {conditions: ["
     CONDITION("Launched", "True", NOW_TEXT) "]}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: ''}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, NULL},
    {"168: what its owner has taken off since does not come back", TAINTED_CLAIM_REGISTERED,
     "metadata: {name: c, uid: m, labels: {karpenter.sh/registered: 'true'}}\nspec: {providerID: kwok://c}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "NodeNotReady"},
    {"the Node shows it", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m, labels: {karpenter.sh/registered: 'true'}}\nspec: {providerID: "
     "kwok://c}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"nodeName\":\"c\""},
    {"165: two Nodes of one machine", CLAIM(NOW_TEXT, LAUNCHED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\n", TWO_NODES, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, SAYS("Registered", "False", "MultipleNodesFound")},
    {"registered, not ready", CLAIM(HOUR_AGO, REGISTERED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\n", 0, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, "NodeNotReady"},
    {"169: a startup taint is there", META HOUR_AGO OURS "}\nspec: {startupTaints: [{key: boot, effect: NoExecute}]}\n"
     "status: {" REGISTERED "}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: boot, effect: NoExecute}]}\n"
     "status: {" READY "}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"reason\":\"StartupTaintsExist\",\"message\":\"StartupTaint \\\"boot:NoExecute\\\" still exists"},
    {"170: a readiness taint is there", CLAIM(HOUR_AGO, REGISTERED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: "
     "readiness.k8s.io/net, effect: NoSchedule}]}\nstatus: {" READY "}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL,
     "\"reason\":\"KnownEphemeralTaintsExist\",\"message\":\"KnownEphemeralTaint \\\"readiness.k8s.io/net:NoSchedule\\\" still exists"},
    {"171: nor is it there when there are none of it",
     META HOUR_AGO OURS "}\nspec: {resources: {requests: {example.com/gpu: '1'}}}\nstatus: {capacity: {example.com/gpu: '1'}, "
     REGISTERED "}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {conditions: [{type: Ready, status: 'True'}], "
     "allocatable: {cpu: '4', example.com/gpu: '0'}}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL,
     "\"reason\":\"ResourceNotRegistered\",\"message\":\"Resource \\\"example.com/gpu\\\" was requested but not registered\""},
    {"171: one that nobody has asked for is not waited for",
     META HOUR_AGO OURS "}\nspec: {resources: {requests: {cpu: '1'}}}\nstatus: {capacity: {cpu: '4', example.com/gpu: '1'}, "
     REGISTERED "}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {conditions: [{type: Ready, status: 'True'}], "
     "allocatable: {cpu: '4', example.com/gpu: '0'}}\n", 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, "karpenter.sh/initialized",
     ""},
    {"a resource that was asked for is not there",
     META HOUR_AGO OURS "}\nspec: {resources: {requests: {cpu: '1', example.com/gpu: '1'}}}\n"
                        "status: {" REGISTERED "}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {" READY "}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL,
     "Resource \\\"example.com/gpu\\\" was requested but not registered"},
    {"all is there: the label first", CLAIM(HOUR_AGO, REGISTERED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {" READY "}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, "karpenter.sh/initialized", ""},
    {"the label is seen: initialised", CLAIM(HOUR_AGO, REGISTERED),
     "metadata: {name: c, uid: m, labels: {karpenter.sh/initialized: 'true'}}\nspec: {providerID: "
     "kwok://c}\nstatus: {" READY "}\n",
     0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"Initialized\",\"status\":\"True\""},
    {"while its machine reboots nobody calls it ready",
     META HOUR_AGO OURS "}\nstatus: {providerID: kwok://c, nodeName: c, conditions: ["
     CONDITION("Launched", "True", HOUR_AGO) ", " CONDITION("Registered", "True", HOUR_AGO) ", "
     CONDITION("Rebooting", "True", HOUR_AGO) "]}\n",
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {" READY "}\n", 0, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"Ready\",\"status\":\"Unknown\""},
    {"175: registered for hours, never initialised: not for us to end", CLAIM(HOUR_AGO, REGISTERED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\n", 0, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, ""},
    {"178: nine tenths of what was promised is there", SIZED("True", HOUR_AGO), HAS_CPU("3600m"), 0, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"ConsistentStateFound\",\"status\":\"True\""},
    {"178: less is there", SIZED("True", HOUR_AGO), HAS_CPU("3500m"), 0, ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL,
     "\"type\":\"ConsistentStateFound\",\"status\":\"False\",\"observedGeneration\":1,"},
    {"nothing of what was not asked for", CLAIM(HOUR_AGO, "capacity: {cpu: '4'}, " INITIALIZED), HAS_CPU("1"), 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"ConsistentStateFound\",\"status\":\"True\""},
    {"an answer stands for ten minutes", SIZED("True", NOW_TEXT), HAS_CPU("1"), 0, ERR_NONE, false,
     LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"ConsistentStateFound\",\"status\":\"True\""},
    {"initialised an hour ago: consolidatable", CLAIM(HOUR_AGO, INITIALIZED),
     "metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\nstatus: {" READY "}\n", 0,
     ERR_NONE, false, LIFECYCLE_GOES_ON, NULL, NULL, "\"type\":\"Consolidatable\""},
};

static void expect_part(const char *label, const char *what, struct span got, const char *want)
{
    if (want == NULL && got.len != 0)
        fail_msg("%s: %s: %.*s", label, what, SPAN_ARG(got));
    if (want != NULL && want[0] != '\0' && !span_contains(got, span_of(want)))
        fail_msg("%s: %s: \"%.*s\" without \"%s\"", label, what, SPAN_ARG(got), want);
}

static void steps(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct plain_label zone = {SPAN("zone"), SPAN("a")}, team = {SPAN("team"), SPAN("other")};
        struct plain_label labels[] = {zone, team};
        struct called_machine machine = {.provider_id = SPAN("kwok://c"),
                                         .labels = {labels, 2},
                                         .capacity = SPAN("{}"),
                                         .allocatable = SPAN("{}")};
        struct err error = {rows[r].error, "out of luck"};
        struct lifecycle_step s;
        objects_begin();
        struct lifecycle_facts f = {
            .claim = claim_of(rows[r].claim),
            .pool = pool_of("metadata: {name: p, uid: p}\nspec: {disruption: {consolidateAfter: "
                            "1m}, template: {spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n"),
            .node = rows[r].node != NULL ? node_of(rows[r].node) : NULL,
            .machine = (rows[r].flags & HAS_MACHINE) != 0 ? &machine : NULL,
            .labels_written = (rows[r].flags & LABELS_DONE) != 0,
            .launch_error = rows[r].error != ERR_NONE ? &error : NULL,
            .syms = objects_syms(),
            .now = NOW,
        };
        f.nodes = f.node == NULL ? 0 : (rows[r].flags & TWO_NODES) != 0 ? 2 : 1;
        lifecycle_step(objects_arena(), &f, &s);
        if (s.launch != rows[r].launch || s.end != rows[r].end)
            fail_msg("%s: launch %d, end \"%s\"", rows[r].label, s.launch,
                     lifecycle_end_name(s.end));
        expect_part(rows[r].label, "claim", s.claim_patch, rows[r].claim_patch);
        expect_part(rows[r].label, "node", s.node_patch, rows[r].node_patch);
        if (rows[r].status_patch != NULL)
            expect_part(rows[r].label, "status", s.status_patch, rows[r].status_patch);
        if (s.claim_patch_labels && span_contains(s.claim_patch, SPAN("\"team\"")))
            fail_msg("%s: the claim's own label is overwritten", rows[r].label);
        objects_clear();
    }
}

/* What the provider says is told whole; what err cuts ends in "...". */
static void a_long_failure_is_told(void **state)
{
    (void)state;
    char text[ERR_MSG_MAX + 2], want[ERR_MSG_MAX + 64];
    struct err error;
    memset(text, 'x', sizeof(text));
    for (int more = 0; more <= 1; more++) {
        text[ERR_MSG_MAX + more] = '\0';
        err_set(&error, ERR_RETRY, "%s", text);
        text[ERR_MSG_MAX + more] = 'x';
        snprintf(want, sizeof(want), "\"LaunchFailed\",\"message\":\"%.*s%s\"", ERR_MSG_MAX - 3 * more, text,
                 more != 0 ? "..." : "");
        struct lifecycle_step s;
        objects_begin();
        struct lifecycle_facts f = {
            .claim = claim_of(CLAIM(NOW_TEXT, "")), .launch_error = &error, .syms = objects_syms(), .now = NOW};
        lifecycle_step(objects_arena(), &f, &s);
        expect_part("a long failure", "status", s.status_patch, want);
        objects_clear();
    }
}

static void consolidatable_at(void **state)
{
    static const struct {
        const char *label, *claim, *after;
        wall_ms want;
    } cases[] = {
        {"from initialisation", CLAIM(HOUR_AGO, INITIALIZED), "10m",
         NOW - MS_HOUR + 10 * MS_MINUTE},
        {"187: from the last pod event", CLAIM(HOUR_AGO, "lastPodEventTime: '" NOW_TEXT "', " INITIALIZED),
         "10m", NOW + 10 * MS_MINUTE},
        {"Never", CLAIM(HOUR_AGO, INITIALIZED), "Never", 0},
        {"not initialised", CLAIM(HOUR_AGO, REGISTERED), "0s", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char pool[256];
        snprintf(pool, sizeof(pool),
                 "metadata: {name: p, uid: p}\nspec: {disruption: {consolidateAfter: %s}, template: "
                 "{spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n",
                 cases[i].after);
        objects_begin();
        wall_ms got = lifecycle_consolidatable_at(claim_of(cases[i].claim), pool_of(pool));
        if (got != cases[i].want)
            fail_msg("%s: %lld", cases[i].label, (long long)(got - NOW));
        objects_clear();
    }
}

/* What a partial view did not show may be there: its time begins when we see all again. */
static void patience_begins_when_we_see(void **state)
{
    static const struct {
        const char *label, *claim;
        wall_ms blind_until;
        enum lifecycle_end want;
        wall_ms due; /* 0: none */
    } cases[] = {
        {"not launched, seen all along", CLAIM(HOUR_AGO, ""), 0, LIFECYCLE_LAUNCH_TIMEOUT, 0},
        {"not launched, blind until a minute ago", CLAIM(HOUR_AGO, ""), NOW - MS_MINUTE, LIFECYCLE_GOES_ON,
         NOW + 4 * MS_MINUTE},
        {"not launched, blind until long ago", CLAIM(HOUR_AGO, ""), NOW - 6 * MS_MINUTE, LIFECYCLE_LAUNCH_TIMEOUT, 0},
        {"no Node, blind until a minute ago", CLAIM(HOUR_AGO, LAUNCHED), NOW - MS_MINUTE, LIFECYCLE_GOES_ON,
         NOW + 14 * MS_MINUTE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lifecycle_step s;
        objects_begin();
        struct lifecycle_facts f = {
            .claim = claim_of(cases[i].claim), .syms = objects_syms(), .now = NOW, .blind_until = cases[i].blind_until};
        lifecycle_step(objects_arena(), &f, &s);
        if (s.end != cases[i].want || (cases[i].due != 0 && s.due != cases[i].due))
            fail_msg("%s: end \"%s\", due in %lld s", cases[i].label, lifecycle_end_name(s.end),
                     (long long)(s.due - NOW) / MS_SECOND);
        objects_clear();
    }
}

/* Scenario 164 of spec disruption: an Event says so, when it is about to be registered. */
static void who_joins_without_the_taint_is_noticed(void **state)
{
    static const struct {
        const char *node;
        bool missing;
    } cases[] = {
        {"metadata: {name: c, uid: m}\nspec: {providerID: kwok://c}\n", true},
        {"metadata: {name: c, uid: m}\nspec: {providerID: kwok://c, taints: [{key: karpenter.sh/unregistered, effect: "
         "NoExecute}]}\n",
         false},
        {"metadata: {name: c, uid: m, labels: {karpenter.sh/registered: 'true'}}\nspec: {providerID: kwok://c}\n", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lifecycle_step s;
        objects_begin();
        struct lifecycle_facts f = {.claim = claim_of(CLAIM(NOW_TEXT, LAUNCHED)), .node = node_of(cases[i].node), .nodes = 1,
                                    .syms = objects_syms(), .now = NOW};
        lifecycle_step(objects_arena(), &f, &s);
        assert_int_equal(s.taint_missing, cases[i].missing);
        objects_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(patience_begins_when_we_see),
        cmocka_unit_test(a_long_failure_is_told),
        cmocka_unit_test(who_joins_without_the_taint_is_noticed),
        cmocka_unit_test(consolidatable_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
