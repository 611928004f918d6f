/* Each rule of support_rules.h sees what breaks it, and lets pass what does not. A cluster without Stowage: the test says
 * what happens. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_rules.h"

/* Three nodes of pool p, whose budget is 1; a pod of Stowage's concern on the first. */
#define POOL(budgets_)                                                                                                  \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {disruption: {consolidateAfter: 0s, budgets: " \
    budgets_ "}, template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "      \
    "requirements: []}}}\n---\n"
#define NODE_WITH(name_, type_, annotations_)                                                                                              \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_ ", finalizers: [karpenter.sh/termination], annotations: {" annotations_ "}, labels: " \
    "{karpenter.sh/nodepool: p, node.kubernetes.io/instance-type: " type_ ", karpenter.sh/capacity-type: spot}}\n"      \
    "spec: {expireAfter: 1h, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}\n" \
    "status: {conditions: [{type: Launched, status: 'True'}, {type: Initialized, status: 'True'}]}\n---\n"              \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {kubernetes.io/hostname: " name_ "}}\n"            \
    "status: {allocatable: {cpu: '2', memory: 4Gi, pods: '10'}, conditions: [{type: Ready, status: 'True', "            \
    "lastTransitionTime: '2026-01-02T03:00:00Z'}]}\n---\n"
#define NODE(name_, type_) NODE_WITH(name_, type_, "")
#define POD(name_, app_, node_, more_)                                                                                  \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: default, labels: {app: " app_ "}" more_ "}\n"    \
    "spec: {nodeName: " node_ ", terminationGracePeriodSeconds: 20, containers: [{name: c, image: x, resources: {requests: " \
    "{cpu: '1'}}}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}\n---\n"
#define FLEET_NODES NODE("a", "big") NODE("b", "big") NODE("c", "small")
#define FLEET POOL("[{nodes: '1'}]") FLEET_NODES POD("web", "web", "a", "")
#define POD_OVER                                                                                                        \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: over, namespace: default}\n"                                          \
    "spec: {nodeName: a, containers: [{name: c, image: x}]}\nstatus: {phase: Succeeded}\n---\n"
#define WAITING "apiVersion: v1\nkind: Pod\nmetadata: {name: waits, namespace: default}\nspec: {containers: [{name: c, image: x}]}\n---\n"
#define TAINTED NODE("t", "big") "apiVersion: v1\nkind: Node\nmetadata: {name: t}\nspec: {taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}\n---\n"
#define UNCLAIMED "apiVersion: v1\nkind: Node\nmetadata: {name: u}\n---\n"

static const char *const protected[] = {"kept", NULL};

static double price(const char *type, const char *capacity_type)
{
    (void)capacity_type;
    return strcmp(type, "big") == 0 ? 2 : 1;
}

/* ---- what may be done ---- */

struct scene {
    struct sim *sim;
    struct rules *rules;
};

/* A name, a text or a time, as it is needed. */
typedef void deed(struct scene *x, const char *what);

static void write_status(struct sim *s, enum kind k, const char *name, const char *body)
{
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = API_MERGE, .kind = k, .name = span_of(name), .subresource = SPAN("status"),
                            .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(s), &a, &r).status, 200);
    arena_release(&a);
}

#define CONDITION(type_, reason_)                                                                                       \
    "{\"type\":\"" type_ "\",\"status\":\"True\",\"reason\":\"" reason_ "\",\"message\":\"\",\"lastTransitionTime\":"     \
    "\"2026-01-02T03:00:00Z\"}"

/* "a Drifted": the condition DisruptionReason. */
static void mark(struct scene *x, const char *what)
{
    char body[768];
    struct span reason, name = span_cut(span_of(what), ' ', &reason);
    snprintf(body, sizeof(body),
             "{\"status\":{\"conditions\":[" CONDITION("Launched", "Launched") "," CONDITION("Initialized", "Initialized") ","
             CONDITION("DisruptionReason", "%.*s") "]}}",
             SPAN_ARG(reason));
    write_status(x->sim, KIND_NODE_CLAIM, (char[]){name.ptr[0], 0}, body);
}

static void terminate(struct scene *x, const char *claim)
{
    write_status(x->sim, KIND_NODE_CLAIM, claim,
                 "{\"status\":{\"conditions\":[" CONDITION("Initialized", "Initialized") "," CONDITION("DisruptionReason", "Empty")
                 "," CONDITION("InstanceTerminating", "InstanceTerminating") "]}}");
}

static void falter(struct scene *x, const char *node)
{
    write_status(x->sim, KIND_NODE, node,
                 "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":"
                 "\"2026-01-02T03:00:00Z\"}]}}");
}

static void end_drain(struct scene *x, const char *time)
{
    char body[256];
    snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"karpenter.sh/nodeclaim-termination-timestamp\":\"%s\"}}}", time);
    do_request(x->sim, API_MERGE, KIND_NODE_CLAIM, NULL, "a", body, 200);
}

static void delete_claim(struct scene *x, const char *claim)
{
    do_request(x->sim, API_DELETE, KIND_NODE_CLAIM, NULL, claim, NULL, 200);
}

static void delete_node(struct scene *x, const char *node)
{
    do_request(x->sim, API_DELETE, KIND_NODE, NULL, node, NULL, 200);
}

static void delete_pod(struct scene *x, const char *pod)
{
    do_request(x->sim, API_DELETE, KIND_POD, "default", pod, NULL, 200);
}

static void on_done(void *user, const struct api_result *result)
{
    (void)user;
    assert_true(result->status == 200 || result->status == 201);
}

/* As Stowage does it, and not as somebody with kubectl. */
static void do_as_stowage(struct sim *s, enum api_verb verb, const char *name, const char *body)
{
    struct api *api = sim_client_new(sim_cluster(s));
    struct api_request r = {.verb = verb, .kind = KIND_POD, .ns = SPAN("default"), .name = span_of(name), .body = span_of(body)};
    api_send(api, &r, on_done, NULL);
    while (sim_cluster_step(sim_cluster(s), sim_now(s)))
        ;
    sim_client_free(api);
}

static void evict(struct scene *x, const char *pod)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"}}", pod);
    do_as_stowage(x->sim, API_EVICT, pod, body);
}

static void force(struct scene *x, const char *pod)
{
    do_as_stowage(x->sim, API_DELETE, pod, "{\"gracePeriodSeconds\":5}");
}

static void add(struct scene *x, const char *yaml)
{
    load(x->sim, yaml);
}

static void pass_time(struct scene *x, const char *seconds)
{
    int64_t s = 0;
    assert_true(span_int64(span_of(seconds), &s));
    run_for(x->sim, s * MS_SECOND);
}

static void excuse(struct scene *x, const char *claim)
{
    rules_excuse(x->rules, claim);
}

static void lose(struct scene *x, const char *node)
{
    rules_lost(x->rules, node);
}

static void go_blind(struct scene *x, const char *what)
{
    (void)what;
    rules_blind(x->rules, sim_now(x->sim) + 20 * MS_SECOND);
}

static void sell_out(struct scene *x, const char *what)
{
    (void)what;
    rules_sold_out(x->rules, true);
}

/* "1": the move of node a is under way, "": none is. */
static void show_moves(struct scene *x, const char *what)
{
    struct span node = SPAN("a");
    struct move m = {.id = SPAN("d-1"), .state = MOVE_READIES, .nodes = &node, .node_count = 1};
    rules_hear_moves(x->rules, &(struct moves){.items = &m, .count = what[0] != '\0'});
}

static void say(struct scene *x, const char *sentence)
{
    rules_hear_decision(x->rules,
                        &(struct decision){.kind = DECISION_MOVE, .subject = "move", .id = "d-1", .sentence = span_of(sentence)});
}

static void lead_anew(struct scene *x, const char *what)
{
    (void)what;
    rules_new_leader(x->rules);
}

/* ---- what is seen ---- */

#define BOUGHT(type_, replaces_) NODE_WITH("d", type_, "stowage.dev/decision: d-9, stowage.dev/replaces: '" replaces_ "'")
#define KEPT POD("kept", "kept", "a", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}")
#define BRIEF(time_) \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: brief, namespace: default, labels: {app: brief}, annotations: "          \
    "{karpenter.sh/do-not-disrupt: 5m}}\nspec: {nodeName: a, containers: [{name: c, image: x}]}\n"                       \
    "status: {phase: Running, startTime: '" time_ "'}\n---\n"

static const struct row {
    const char *label, *fleet;
    struct {
        deed *does;
        const char *what;
    } deeds[6];
    const char *broken; /* is in what is said; NULL: nothing is */
} rows[] = {
    {"one is marked", FLEET, {{mark, "a Drifted"}}, NULL},
    {"and another", FLEET, {{mark, "a Drifted"}, {mark, "b Empty"}}, "budget: b is marked Empty, the 2th of 3 nodes of p"},
    {"by another leader", FLEET, {{mark, "a Drifted"}, {lead_anew, ""}, {mark, "b Empty"}}, "budget: b"},
    {"the first one's machine is going", FLEET, {{terminate, "a"}, {mark, "b Empty"}}, NULL},
    {"another was deleted before", FLEET, {{excuse, "c"}, {delete_claim, "c"}, {pass_time, "5"}, {mark, "a Empty"}}, "budget: a"},
    {"another was deleted in that moment", FLEET, {{excuse, "c"}, {delete_claim, "c"}, {mark, "a Empty"}}, NULL},
    {"another was deleted, which nobody could see", FLEET,
     {{go_blind, ""}, {excuse, "c"}, {delete_claim, "c"}, {pass_time, "20"}, {mark, "a Empty"}}, NULL},
    {"which they could by now", FLEET,
     {{go_blind, ""}, {excuse, "c"}, {delete_claim, "c"}, {pass_time, "23"}, {mark, "a Empty"}}, "budget: a"},
    {"another is not ready", FLEET, {{falter, "c"}, {mark, "a Empty"}}, "budget: a"},
    {"which does not matter to a repair", FLEET, {{falter, "c"}, {mark, "a Unhealthy"}}, NULL},
    {"a share, rounded up", POOL("[{nodes: 50%}]") FLEET_NODES, {{mark, "a Empty"}, {mark, "b Empty"}}, NULL},
    {"more than the share", POOL("[{nodes: 50%}]") FLEET_NODES, {{mark, "a Empty"}, {mark, "b Empty"}, {mark, "c Empty"}}, "budget: c"},
    {"a budget for that reason", POOL("[{nodes: '3'}, {nodes: '0', reasons: [Drifted]}]") FLEET_NODES, {{mark, "a Drifted"}}, "budget: a"},
    {"a budget for another reason", POOL("[{nodes: '3'}, {nodes: '0', reasons: [Drifted]}]") FLEET_NODES, {{mark, "a Empty"}}, NULL},

    {"one is deleted for nothing", FLEET, {{delete_claim, "c"}}, "reason: c"},
    {"one is deleted that was marked", FLEET, {{mark, "c Empty"}, {delete_claim, "c"}}, NULL},
    {"one is deleted that is too old", FLEET, {{pass_time, "3601"}, {delete_claim, "c"}}, NULL},
    {"one is deleted that is not old enough", FLEET, {{pass_time, "3590"}, {delete_claim, "c"}}, "reason: c"},
    {"the test deletes it", FLEET, {{excuse, "c"}, {delete_claim, "c"}}, NULL},

    {"an eviction from a node that stays", FLEET, {{evict, "web"}}, "eviction: web from a node that stays"},
    {"an eviction from one that is only marked", FLEET, {{mark, "a Drifted"}, {evict, "web"}}, "eviction: web from a node that stays"},
    {"an eviction from one that goes", FLEET, {{mark, "a Drifted"}, {delete_claim, "a"}, {evict, "web"}}, NULL},
    {"do-not-disrupt", FLEET KEPT, {{mark, "a Drifted"}, {delete_claim, "a"}, {evict, "kept"}}, "eviction: kept has do-not-disrupt"},
    {"do-not-disrupt for five minutes", FLEET BRIEF("2026-01-02T03:02:00Z"), {{mark, "a Drifted"}, {delete_claim, "a"}, {evict, "brief"}},
     "eviction: brief has do-not-disrupt"},
    {"which are over", FLEET BRIEF("2026-01-02T02:58:00Z"), {{mark, "a Drifted"}, {delete_claim, "a"}, {evict, "brief"}}, NULL},
    {"a deletion without an end of the drain", FLEET, {{mark, "a Drifted"}, {delete_claim, "a"}, {force, "web"}},
     "eviction: web is deleted, though the drain of its node has no end"},
    {"a deletion too early", FLEET, {{mark, "a Drifted"}, {end_drain, "2026-01-02T03:05:00Z"}, {delete_claim, "a"}, {force, "web"}},
     "eviction: web is deleted 35000 ms before"},
    {"a deletion in time", FLEET KEPT, {{mark, "a Drifted"}, {end_drain, "2026-01-02T03:04:20Z"}, {delete_claim, "a"}, {force, "kept"}}, NULL},
    {"somebody else deletes a pod", FLEET, {{delete_pod, "web"}}, NULL},
    {"one that nobody deletes", FLEET KEPT, {{delete_pod, "kept"}}, "protected: somebody deletes kept"},

    {"a Node goes from under a pod", FLEET, {{delete_node, "a"}}, "node: a goes from under web"},
    {"a Node goes that has none", FLEET, {{delete_node, "b"}}, NULL},
    {"a machine is lost", FLEET, {{lose, "a"}, {delete_node, "a"}}, NULL},
    {"its pod has ended", POOL("[{nodes: '1'}]") FLEET_NODES POD_OVER, {{delete_node, "a"}}, NULL},

    {"as much as there is room for", FLEET, {{add, POD("more", "web", "a", "")}}, NULL},
    {"more than that", FLEET, {{add, POD("more", "web", "a", "")}, {add, POD("most", "web", "a", "")}}, "room: most is bound to a"},
    {"on no node", FLEET, {{add, POD("more", "web", "z", "")}}, "room: more is bound to z, which is not there"},

    {"for less", FLEET, {{mark, "a Underutilized"}, {add, BOUGHT("small", "1 a/x")}}, NULL},
    {"for as much", FLEET, {{mark, "c Underutilized"}, {add, BOUGHT("small", "1 c/x")}}, "price: d makes it $1.000 in place of $1.000"},
    {"for more", FLEET, {{mark, "c Underutilized"}, {add, BOUGHT("big", "1 c/x")}}, "price: d makes it $2.000 in place of $1.000"},
    {"for less than both", POOL("[{nodes: '2'}]") FLEET_NODES,
     {{mark, "c Underutilized"}, {mark, "a Underutilized"}, {add, BOUGHT("big", "1 a/x,c/y")}}, NULL},
    {"drift may cost more", FLEET, {{mark, "c Drifted"}, {add, BOUGHT("big", "1 c/x")}}, NULL},

    {"a pod waits", FLEET WAITING, {{pass_time, "250"}}, "wait: waits has waited for 250 s"},
    {"not for so long", FLEET WAITING, {{pass_time, "230"}}, NULL},
    {"nothing can be had", FLEET WAITING, {{sell_out, ""}, {pass_time, "250"}}, NULL},

    {"a move takes too long", FLEET, {{show_moves, "1"}, {pass_time, "700"}}, "end: d-1 takes longer than 660 s"},
    {"a move takes its time", FLEET, {{show_moves, "1"}, {pass_time, "600"}}, NULL},
    {"a move ends in nothing", FLEET, {{show_moves, "1"}, {show_moves, ""}}, "end: d-1 is no more, a stays"},
    {"and says why", FLEET, {{show_moves, "1"}, {say, "taken back, it took too long: remove a"}, {show_moves, ""}}, NULL},
    {"a move goes on", FLEET, {{show_moves, "1"}, {show_moves, "1"}}, NULL},
    {"its node goes", FLEET, {{show_moves, "1"}, {excuse, "a"}, {delete_claim, "a"}, {show_moves, ""}}, NULL},
    {"its leader is no more", FLEET, {{show_moves, "1"}, {lead_anew, ""}, {show_moves, ""}}, NULL},
};

static void begin(struct scene *x, const char *fleet)
{
    x->sim = new_sim_with(&(struct sim_options){.no_scheduler = true, .no_controllers = true, .no_kubelet = true}, fleet);
    x->rules = rules_watch(&(struct rules_config){.sim = x->sim, .price = price, .protected = protected, .wait = 4 * MS_MINUTE,
                                                  .end = 11 * MS_MINUTE});
}

static void end(struct scene *x)
{
    rules_free(x->rules);
    sim_free(x->sim);
}

static void each_rule_sees_what_breaks_it(void **state)
{
    bool fine = true;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene x;
        begin(&x, rows[i].fleet);
        for (size_t k = 0; k < COUNT_OF(rows[i].deeds) && rows[i].deeds[k].does != NULL; k++)
            rows[i].deeds[k].does(&x, rows[i].deeds[k].what);
        const char *got = rules_broken(x.rules), *want = rows[i].broken;
        bool same = want == NULL ? got[0] == '\0' : strstr(got, want) != NULL;
        if (!same)
            print_error("%s: \"%s\", not \"%s\"\n", rows[i].label, got, want != NULL ? want : "");
        fine = fine && same;
        end(&x);
    }
    assert_true(fine);
}

/* What was broken is not forgotten when something else is. */
static void the_first_is_kept(void **state)
{
    struct scene x;
    (void)state;
    begin(&x, FLEET);
    delete_claim(&x, "c");
    delete_node(&x, "a");
    assert_non_null(strstr(rules_broken(x.rules), "reason: c"));
    end(&x);
}

static void unrest_is_seen(void **state)
{
    static const struct row unrest[] = {
        {"all is well", FLEET, {{NULL, NULL}}, NULL},
        {"a node is marked", FLEET, {{mark, "a Empty"}}, "NodeClaim a is marked"},
        {"a claim leaves", FLEET, {{excuse, "a"}, {delete_claim, "a"}}, "NodeClaim a still leaves"},
        {"a claim has no Node", FLEET, {{delete_node, "b"}}, "NodeClaim b has no Node"},
        {"a pod waits", FLEET WAITING, {{NULL, NULL}}, "pod waits does not run"},
        {"a Node has the taint", FLEET TAINTED, {{NULL, NULL}}, "t has the taint karpenter.sh/disrupted"},
        {"a Node has no claim", FLEET UNCLAIMED, {{NULL, NULL}}, "u has no NodeClaim"},
        {"a move is under way", FLEET, {{show_moves, "1"}}, "d-1 is still under way"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unrest); i++) {
        struct scene x;
        begin(&x, unrest[i].fleet);
        for (size_t k = 0; unrest[i].deeds[k].does != NULL; k++)
            unrest[i].deeds[k].does(&x, unrest[i].deeds[k].what);
        const char *got = rules_restless(x.rules), *want = unrest[i].broken;
        if (want == NULL ? got[0] != '\0' : strstr(got, want) == NULL)
            fail_msg("%s: \"%s\", not \"%s\"", unrest[i].label, got, want != NULL ? want : "");
        assert_string_equal(rules_broken(x.rules), "");
        end(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_sees_what_breaks_it),
        cmocka_unit_test(the_first_is_kept),
        cmocka_unit_test(unrest_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
