/* Each rule of support_group_rules.h sees what breaks it, and lets pass what does not. A cluster without Stowage: the test
 * says what happens. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_group_rules.h"

/* Three nodes of group g, of which one has to stay and three may be; on the first one pod, on the second one that nobody
 * may move. */
#define NODE_OF(name_, labels_)                                                                                         \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {" labels_ "}}\n"                                  \
    "status: {allocatable: {cpu: '2', memory: 4Gi, pods: '10'}, conditions: [{type: Ready, status: 'True', "            \
    "lastTransitionTime: '2026-01-02T03:00:00Z'}]}\n---\n"
#define NODE(name_) NODE_OF(name_, "pool: g")
#define POD(name_, app_, node_)                                                                                         \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: default, labels: {app: " app_ "}}\n"             \
    "spec: {nodeName: " node_ ", terminationGracePeriodSeconds: 20, containers: [{name: c, image: x, resources: {requests: " \
    "{cpu: '1'}}}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}, {type: PodScheduled, status: "  \
    "'True', lastTransitionTime: '2026-01-02T03:00:00Z'}]}\n---\n"
#define FLEET NODE("a") NODE("b") NODE("c") POD("web", "web", "a") POD("kept", "kept", "b")
#define WAITING "apiVersion: v1\nkind: Pod\nmetadata: {name: waits, namespace: default}\nspec: {containers: [{name: c, image: x}]}\n---\n"

static const struct group_bounds bounds[] = {{"g", 1, 4}, {NULL, 0, 0}};
static const char *const held[] = {"kept", NULL};

struct scene {
    struct sim *sim;
    struct group_rules *rules;
};

typedef void deed(struct scene *x, const char *what);

static void write_taints(struct scene *x, const char *node, const char *taints)
{
    char body[256];
    snprintf(body, sizeof(body), "{\"spec\":{\"taints\":[%s]}}", taints);
    do_request(x->sim, API_MERGE, KIND_NODE, NULL, node, body, 200);
}

static void mark(struct scene *x, const char *node)
{
    write_taints(x, node, "{\"key\":\"ToBeDeletedByClusterAutoscaler\",\"value\":\"1\",\"effect\":\"NoSchedule\"}");
}

static void let_go(struct scene *x, const char *node)
{
    write_taints(x, node, "");
}

static void pin(struct scene *x, const char *node)
{
    do_request(x->sim, API_MERGE, KIND_NODE, NULL, node,
               "{\"metadata\":{\"annotations\":{\"cluster-autoscaler.kubernetes.io/scale-down-disabled\":\"true\"}}}", 200);
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

static void delete_pod(struct scene *x, const char *pod)
{
    do_request(x->sim, API_DELETE, KIND_POD, "default", pod, NULL, 200);
}

static void delete_node(struct scene *x, const char *node)
{
    do_request(x->sim, API_DELETE, KIND_NODE, NULL, node, NULL, 200);
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

static void happen(struct scene *x, const char *what)
{
    (void)what;
    group_rules_happens(x->rules);
}

static void lose(struct scene *x, const char *node)
{
    group_rules_lost(x->rules, node);
}

static void go_blind(struct scene *x, const char *what)
{
    (void)what;
    group_rules_blind(x->rules, sim_now(x->sim) + 20 * MS_SECOND);
}

static void sell_out(struct scene *x, const char *what)
{
    (void)what;
    group_rules_sold_out(x->rules, true);
}

/* The first deed comes a while after all was made. */
static const struct row {
    const char *label, *fleet;
    struct {
        deed *does;
        const char *what;
    } deeds[6];
    const char *broken; /* is in what is said; NULL: nothing is */
} rows[] = {
    {"one is marked that has pods", FLEET, {{mark, "a"}}, NULL},
    {"and one that has none", FLEET, {{mark, "a"}, {mark, "c"}}, NULL},
    {"two that have pods", FLEET POD("more", "web", "c"), {{mark, "a"}, {mark, "c"}}, "many: c is marked, the 2th, the 2th with pods"},
    {"one after the other", FLEET POD("more", "web", "c"), {{mark, "a"}, {let_go, "a"}, {mark, "c"}}, NULL},
    {"three", FLEET NODE("d"), {{mark, "a"}, {mark, "c"}, {mark, "d"}}, "many: d is marked, the 3th"},
    {"the last of them", NODE("a") NODE("b"), {{mark, "a"}, {mark, "b"}}, "size: b is marked, and g keeps 0 of 2"},
    {"the last, since another was lost just now", NODE("a") NODE("b"), {{lose, "a"}, {delete_node, "a"}, {mark, "b"}}, NULL},
    {"which could be seen by now", NODE("a") NODE("b"), {{lose, "a"}, {delete_node, "a"}, {pass_time, "4"}, {mark, "b"}}, "size: b"},
    {"which could not be seen", NODE("a") NODE("b"),
     {{go_blind, ""}, {lose, "a"}, {delete_node, "a"}, {pass_time, "20"}, {mark, "b"}}, NULL},
    {"one of no group", FLEET NODE_OF("z", "pool: none"), {{mark, "z"}}, "held: z of no group is marked"},

    {"one with a pod that nobody may move", FLEET, {{mark, "b"}}, "held: b is marked under kept"},
    {"who came a moment ago", FLEET, {{add, "apiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: default, labels: {app: kept}}\n"
      "spec: {nodeName: c, containers: [{name: c, image: x}]}\nstatus: {phase: Running, conditions: [{type: PodScheduled, status: "
      "'True', lastTransitionTime: '2026-01-02T03:04:55Z'}]}\n"}, {mark, "c"}}, NULL},
    {"one that is to stay", FLEET, {{pin, "c"}, {pass_time, "4"}, {mark, "c"}}, "held: c is marked and has scale-down-disabled"},
    {"which was said just now", FLEET, {{happen, ""}, {pin, "c"}, {mark, "c"}}, NULL},

    {"an eviction from a node that stays", FLEET, {{evict, "web"}}, "eviction: web from a, which is not marked"},
    {"an eviction from one that goes", FLEET, {{mark, "a"}, {evict, "web"}}, NULL},
    {"of whom nobody may move", FLEET, {{happen, ""}, {add, POD("late", "kept", "a")}, {evict, "late"}}, "eviction: late from a"},
    {"a deletion", FLEET, {{mark, "a"}, {force, "web"}}, "eviction: web is deleted"},
    {"somebody else deletes a pod", FLEET, {{delete_pod, "web"}}, NULL},

    {"a Node goes from under a pod", FLEET, {{mark, "a"}, {delete_node, "a"}}, "node: a goes from under web"},
    {"a Node goes without a mark", FLEET, {{delete_node, "c"}}, "node: c goes without a mark"},
    {"a Node goes that has none", FLEET, {{mark, "c"}, {delete_node, "c"}}, NULL},
    {"a machine is lost", FLEET, {{lose, "a"}, {delete_node, "a"}}, NULL},

    {"as much as there is room for", FLEET, {{add, POD("more", "web", "a")}}, NULL},
    {"more than that", FLEET, {{add, POD("more", "web", "a")}, {add, POD("most", "web", "a")}}, "room: most is bound to a"},
    {"on no node", FLEET, {{add, POD("more", "web", "z")}}, "room: more is bound to z"},

    {"a pod waits", FLEET WAITING, {{pass_time, "250"}}, "wait: waits has waited for"},
    {"not for so long", FLEET WAITING, {{pass_time, "100"}}, NULL},
    {"nothing can be had", FLEET WAITING, {{sell_out, ""}, {pass_time, "250"}}, NULL},

    {"a mark that stays", FLEET, {{mark, "a"}, {pass_time, "700"}}, "end: a is marked for longer than 660 s"},
    {"one that is taken back", FLEET, {{mark, "a"}, {pass_time, "600"}, {let_go, "a"}, {pass_time, "100"}}, NULL},

    {"one more", FLEET, {{happen, ""}, {add, NODE("d")}}, NULL},
    {"one too many", FLEET NODE("d"), {{happen, ""}, {add, NODE("e")}}, "size: g has 5 nodes"},
    {"one more for nothing", FLEET, {{pass_time, "310"}, {add, NODE("d")}}, "again: d comes, and nothing has happened"},
    {"one that the minimum needs", "", {{pass_time, "310"}, {add, NODE("d")}}, NULL},
    {"since something has happened", FLEET, {{pass_time, "310"}, {happen, ""}, {add, NODE("d")}}, NULL},
    {"of no group", FLEET, {{pass_time, "310"}, {add, NODE_OF("z", "pool: none")}}, NULL},
};

static void begin(struct scene *x, const char *fleet)
{
    x->sim = new_sim_with(&(struct sim_options){.no_scheduler = true, .no_controllers = true, .no_kubelet = true}, fleet);
    x->rules = group_rules_watch(&(struct group_rules_config){.sim = x->sim, .groups = bounds, .held = held, .marked = 2,
                                                              .drained = 1, .wait = 4 * MS_MINUTE, .end = 11 * MS_MINUTE,
                                                              .rest = 5 * MS_MINUTE});
    run_for(x->sim, 10 * MS_SECOND);
}

static void end(struct scene *x)
{
    group_rules_free(x->rules);
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
        const char *got = group_rules_broken(x.rules), *want = rows[i].broken;
        bool same = want == NULL ? got[0] == '\0' : strstr(got, want) != NULL;
        if (!same)
            print_error("%s: \"%s\", not \"%s\"\n", rows[i].label, got, want != NULL ? want : "");
        fine = fine && same;
        end(&x);
    }
    assert_true(fine);
}

static void unrest_is_seen(void **state)
{
    struct scene x;
    (void)state;
    begin(&x, FLEET);
    assert_string_equal(group_rules_restless(x.rules), "");
    mark(&x, "c");
    assert_string_equal(group_rules_restless(x.rules), "node c is marked or not ready");
    let_go(&x, "c");
    add(&x, WAITING);
    assert_string_equal(group_rules_restless(x.rules), "pod waits does not run");
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule_sees_what_breaks_it), cmocka_unit_test(unrest_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
