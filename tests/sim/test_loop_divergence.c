/* Where the scheduler does not do what was planned: told by cause, and planned anew. */

#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static void load_waiting(struct sim *s, const char *name)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
             "\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\",\"labels\":{\"app\":\"web\"}},"
             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":"
             "{\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
             "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}",
             name);
    load(s, text);
}

/* A pod that waits, in a cluster whose scheduler never comes. */
static void begin(struct loop *l)
{
    const struct sim_options o = {.no_scheduler = true};
    struct sim *s = new_sim_with(&o, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load_waiting(s, "web");
    l->keeps = l->hears = true;
    loop_begin(l, s);
}

static bool told(const struct loop *l, const char *text)
{
    return l->history.ptr != NULL && strstr(l->history.ptr, text) != NULL;
}

/* The first object's metadata member; static storage. */
static const char *first(struct sim *s, enum kind k, const char *path)
{
    static char text[256];
    json_t *all = objects_of(s, k);
    json_t *item = json_array_get(all, 0);
    assert_non_null(item);
    snprintf(text, sizeof(text), "%.*s", SPAN_ARG(tree_string(item, path)));
    json_decref(all);
    return text;
}

/* A rate is of what there was before: the series are there before there is anything to count. */
static void counting_begins_at_nothing(void **state)
{
    (void)state;
    static const char *const causes[] = {"ahead", "refused", "elsewhere", "late"};
    char line[64];
    struct loop l = {.asked = START};
    begin(&l);
    run_for(l.sim, MS_SECOND);
    for (size_t i = 0; i < COUNT_OF(causes); i++) {
        snprintf(line, sizeof(line), "stowage_divergences_total cause=%s 0\n", causes[i]);
        if (!told(&l, line))
            fail_msg("not told: %s", line);
    }
    loop_end(&l);
}

static void nobody_asks(void **state)
{
    (void)state;
    struct loop l = {.asked = 1};
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE), 1);
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 0);
    run_for(l.sim, 25 * MS_SECOND);
    assert_true(told(&l, "stowage_divergences_total cause=late 1\n"));
    assert_false(told(&l, "stowage_scheduler_silent 1\n"));
    run_for(l.sim, MS_MINUTE);
    assert_true(told(&l, "stowage_scheduler_silent 1\n"));
    assert_true(told(&l, "SchedulerSilent"));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1); /* told once */
    assert_int_equal((int)l.measured[MEASURE_SCHEDULER_SILENT], 1);
    l.asked = START; /* far ahead of the monotonic clock, which began at 0 */
    run_for(l.sim, 10 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_SCHEDULER_SILENT], 0);
    loop_end(&l);
}

/* Who begins to lead was not asked before, and hears first how it is. */
static void who_has_just_begun_waits_to_be_asked(void **state)
{
    (void)state;
    struct loop l = {.asked = 1, .restart_after = 2 * MS_MINUTE};
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    loop_stop(&l);
    run_for(l.sim, 2 * MS_MINUTE + 50 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_SCHEDULER_SILENT], 0);
    run_for(l.sim, 20 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_SCHEDULER_SILENT], 1);
    reconciler_lead(l.reconciler, false);
    run_for(l.sim, 5 * MS_MINUTE);
    reconciler_lead(l.reconciler, true);
    run_for(l.sim, 50 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_SCHEDULER_SILENT], 0);
    loop_end(&l);
}

/* The scheduler has its volumes bound on the planned node: it is not late, whatever that takes. */
static void its_volumes_come_first(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char uid[64];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    snprintf(uid, sizeof(uid), "%s", first(l.sim, KIND_POD, "metadata.uid"));
    struct sent_pod sent = {
        .uid = span_of(uid),
        .node = span_hash(span_of(first(l.sim, KIND_NODE, "metadata.name"))),
        .volumes = true,
    };
    l.sent = &sent;
    l.sent_count = 1;
    run_for(l.sim, 11 * MS_MINUTE);
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 0);
    assert_int_equal(l.decided[DECISION_NO_PLACE], 0);
    sent.volumes = false;
    run_for(l.sim, 25 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 0);
    run_for(l.sim, 10 * MS_SECOND);
    assert_true(told(&l, "stowage_divergences_total cause=late 1\n"));
    loop_end(&l);
}

static size_t places(struct loop *l)
{
    struct places *p = (struct places *)share_take(&l->places);
    size_t count = p != NULL ? p->count : 0;
    if (p != NULL)
        shared_unref(&p->shared);
    return count;
}

/* Ten minutes after its node is ready the pod has no place any more, and the node leaves as any empty one. It
 * is tried again later, and later each time. */
static void nobody_comes(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    begin(&l);
    run_for(l.sim, 10 * MS_MINUTE);
    assert_int_equal(places(&l), 1);
    assert_int_equal(count_objects(l.sim, KIND_NODE), 1);
    assert_false(told(&l, "put off"));
    run_for(l.sim, 30 * MS_SECOND);
    assert_int_equal(places(&l), 0);
    assert_true(told(&l, "put off web: is not planned for a while, since its planned node was ready for ten minutes"));
    assert_true(told(&l, "event FailedScheduling web: Failed to schedule pod, is not planned for a while, "
                         "since its planned node was ready for ten minutes and nobody took the pod up there"));
    run_for(l.sim, MS_MINUTE);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 0);
    run_for(l.sim, 8 * MS_MINUTE);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 1);
    assert_false(told(&l, "taken back web"));
    run_for(l.sim, MS_MINUTE);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 2);
    assert_true(told(&l, "taken back web"));
    run_for(l.sim, 24 * 60 * MS_MINUTE);
    assert_in_range((int)l.measured[MEASURE_CLAIMS_CREATED], 6, 14);
    assert_in_range((int)l.measured[MEASURE_DIVERGED], 6, 14); /* late, each time */
    loop_end(&l);
}

/* The scheduler's words about the first pod; it has tried it then. */
static void say(struct sim *s, const char *message)
{
    char body[512], name[64];
    snprintf(name, sizeof(name), "%s", first(s, KIND_POD, "metadata.name"));
    snprintf(body, sizeof(body),
             "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
             "\"Unschedulable\",\"message\":\"%s\"}]}}",
             message);
    struct arena a;
    arena_init(&a, 0);
    const struct api_request r = {.verb = API_MERGE,
                                  .kind = KIND_POD,
                                  .ns = SPAN("default"),
                                  .name = span_of(name),
                                  .subresource = SPAN("status"),
                                  .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(s), &a, &r).status, 200);
    arena_release(&a);
}

/* As in a cluster whose nodes come and go: each time that the scheduler tries the pod it counts others. */
static void say_something_new(struct sim *s, span_ms length)
{
    static unsigned number;
    char text[64];
    for (span_ms d = 0; d < length; d += 5 * MS_SECOND) {
        snprintf(text, sizeof(text), "0/%u nodes are available", ++number);
        say(s, text);
        run_for(s, 5 * MS_SECOND);
    }
}

/* Whoever it was that did not come: as soon as the pod is tried again it is planned again. */
static void tried_at_last(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    begin(&l);
    run_for(l.sim, 12 * MS_MINUTE);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 0);
    assert_false(told(&l, "taken back web"));
    say(l.sim, "0/1 nodes are available: 1 node(s) had something.");
    run_for(l.sim, 5 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 1);
    assert_true(told(&l, "taken back web"));
    loop_end(&l);
}

/* No node passes the scheduler's own filters, so the extender is not even asked: that shows only in what the
 * scheduler says. Three nodes are tried, the ones before leave as empty; then the next comes after a while, and later each time. */
static void turned_down_unasked(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char node[64];
    begin(&l);
    say(l.sim, "no nodes available to schedule pods");
    run_for(l.sim, 15 * MS_SECOND);
    snprintf(node, sizeof(node), "%s", first(l.sim, KIND_NODE, "metadata.name"));
    say(l.sim, "0/1 nodes are available: 1 node(s) had something.");
    run_for(l.sim, 10 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 1); /* it may still come */
    run_for(l.sim, 15 * MS_SECOND);
    assert_true(told(&l, "stowage_divergences_total cause=refused 1\n"));
    assert_true(told(&l, "event PlannedNodeRefused web: default/web  the scheduler turns down its planned node"));
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 2);
    run_for(l.sim, 45 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE), 1);
    assert_string_not_equal(first(l.sim, KIND_NODE, "metadata.name"), node);
    say_something_new(l.sim, MS_MINUTE);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 3);
    assert_true(told(&l, "event FailedScheduling web: Failed to schedule pod, is not planned for a while, "
                         "since the scheduler has turned down each node that was planned for it"));
    assert_true(told(&l, "put off web: is not planned for a while, since the scheduler has turned down each node"));
    say_something_new(l.sim, 3 * 60 * MS_MINUTE);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 10);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 0);
    loop_end(&l);
}

/* The scheduler knows something that we do not: the pod gets another node, at once. */
static void refused_is_planned_anew(void **state)
{
    (void)state;
    struct loop l = {.asked = 1};
    char uid[64];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 1);
    snprintf(uid, sizeof(uid), "%s", first(l.sim, KIND_POD, "metadata.uid"));
    struct sent_pod refused = {
        .uid = span_of(uid),
        .node = span_hash(span_of(first(l.sim, KIND_NODE, "metadata.name"))),
        .refused = true,
    };
    l.sent = &refused;
    l.sent_count = 1;
    run_for(l.sim, 11 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 2);
    assert_true(told(&l, "stowage_divergences_total cause=refused 1\n"));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1);
    loop_end(&l);
}

/* --- bound elsewhere --- */

static enum sim_fate no_machines(void *user, uint64_t number, const struct api_request *r,
                                 struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    (void)refusal;
    return r->verb == API_CREATE && r->kind == KIND_NODE ? SIM_REFUSE : SIM_PASS;
}

static void bind(struct sim *s, const char *pod, const char *node)
{
    json_t *object = object_of(s, KIND_POD, "default", pod);
    assert_non_null(object);
    tree_set(object, "spec.nodeName", json_string(node));
    tree_remove(object, "spec.schedulingGates");
    char *text = json_dumps(object, 0);
    load(s, text);
    free(text);
    json_decref(object);
}

static void bound_elsewhere(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char text[256];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    snprintf(text, sizeof(text),
             "event BoundElsewhere web: default/web  was bound to other, though its planned node %s was ready\n",
             first(l.sim, KIND_NODE, "metadata.name"));
    load(l.sim, ready_node_yaml("other", "4", "8Gi"));
    run_for(l.sim, MS_SECOND);
    bind(l.sim, "web", "other");
    run_for(l.sim, MS_SECOND);
    assert_true(told(&l, "stowage_divergences_total cause=elsewhere 1\n"));
    assert_true(told(&l, "stowage_pods_bound_total where=elsewhere 1\n"));
    assert_true(told(&l, text));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1);
    loop_end(&l);
}

static uint32_t count_told(const struct loop *l, const char *text)
{
    uint32_t count = 0;
    for (const char *at = l->history.ptr; at != NULL && (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* One Event in half a minute, with how many more there were. */
static void many_bound_elsewhere_are_reported_together(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    begin(&l);
    load_waiting(l.sim, "web-2");
    load_waiting(l.sim, "web-3");
    load_waiting(l.sim, "web-4");
    run_for(l.sim, 25 * MS_SECOND);
    assert_int_equal(places(&l), 4);
    load(l.sim, ready_node_yaml("other", "8", "8Gi"));
    run_for(l.sim, MS_SECOND);
    bind(l.sim, "web", "other");
    run_for(l.sim, MS_SECOND);
    assert_int_equal(count_told(&l, "event BoundElsewhere "), 1);
    bind(l.sim, "web-2", "other");
    run_for(l.sim, MS_SECOND);
    bind(l.sim, "web-3", "other");
    run_for(l.sim, 15 * MS_SECOND);
    assert_int_equal(count_told(&l, "event BoundElsewhere "), 1);
    run_for(l.sim, 15 * MS_SECOND);
    bind(l.sim, "web-4", "other");
    run_for(l.sim, MS_SECOND);
    assert_int_equal(count_told(&l, "event BoundElsewhere "), 2);
    assert_true(told(&l, "event BoundElsewhere web-4: default/web-4  was bound to other, though its planned node "));
    assert_true(told(&l, " was ready; so it is with 2 more\n"));
    loop_end(&l);
}

/* Once it was counted as refused it does not count as bound elsewhere, too; and it is refused once. */
static void refused_counts_once(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char uid[64];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    snprintf(uid, sizeof(uid), "%s", first(l.sim, KIND_POD, "metadata.uid"));
    struct sent_pod refused = {
        .uid = span_of(uid),
        .node = span_hash(span_of(first(l.sim, KIND_NODE, "metadata.name"))),
        .refused = true,
    };
    l.sent = &refused;
    l.sent_count = 1;
    run_for(l.sim, 25 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 2);
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1);
    load(l.sim, ready_node_yaml("other", "4", "8Gi"));
    run_for(l.sim, MS_SECOND);
    bind(l.sim, "web", "other");
    run_for(l.sim, MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1);
    assert_false(told(&l, "BoundElsewhere"));
    loop_end(&l);
}

/* That another node than the planned one refuses the pod says nothing about the plan. */
static void a_refusal_by_another_node_is_none(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char uid[64];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    load(l.sim, ready_node_yaml("small", "100m", "1Gi"));
    run_for(l.sim, MS_SECOND);
    snprintf(uid, sizeof(uid), "%s", first(l.sim, KIND_POD, "metadata.uid"));
    struct sent_pod refused = {.uid = span_of(uid), .node = span_hash(SPAN("small")), .refused = true};
    l.sent = &refused;
    l.sent_count = 1;
    run_for(l.sim, 5 * MS_SECOND);
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 1);
    assert_false(told(&l, "stowage_divergences_total cause=refused 1\n"));
    loop_end(&l);
}

/* It found room before its node was ready: nothing is wrong. */
static void bound_ahead(void **state)
{
    (void)state;
    struct loop l = {.asked = START, .faults = {.before = no_machines}};
    begin(&l);
    run_for(l.sim, 10 * MS_SECOND);
    assert_int_equal(places(&l), 1);
    load(l.sim, ready_node_yaml("other", "4", "8Gi"));
    run_for(l.sim, MS_SECOND);
    bind(l.sim, "web", "other");
    run_for(l.sim, MS_SECOND);
    assert_true(told(&l, "stowage_divergences_total cause=ahead 1\n"));
    assert_false(told(&l, "BoundElsewhere"));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 1);
    loop_end(&l);
}

/* A thief is bound into the room that is kept for another: who has lost it is planned anew at once, not when the
 * pods that wait are looked through again. */
static void robbed_is_planned_anew(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    char node[64];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    snprintf(node, sizeof(node), "%s", first(l.sim, KIND_NODE, "metadata.name"));
    load(l.sim, "apiVersion: v1\nkind: Pod\nmetadata: {name: thief, namespace: default}\n"
                "spec: {schedulingGates: [{name: a/later}], containers: [{name: c, image: i, resources: "
                "{requests: {cpu: '1'}}}]}\n");
    run_for(l.sim, 12 * MS_SECOND);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 1);
    bind(l.sim, "thief", node);
    run_for(l.sim, 500);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 2);
    loop_end(&l);
}

/* --- while a plan is made --- */

static struct sent_pod overtaker;
static mono_ms instant;
static unsigned times; /* the reconciler has asked in this instant: as a pass begins, before a plan, after it */

static void tell_after_the_plan(struct loop *l, mono_ms now)
{
    times = now == instant ? times + 1 : 1;
    instant = now;
    if (times == 3) {
        l->sent = &overtaker;
        l->sent_count = 1;
    }
}

static void add_pod(struct sim *s, const char *name)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\","
             "\"uid\":\"uid-%s\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":"
             "{\"requests\":{\"cpu\":\"700m\"}}}]},\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
             "\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}",
             name, name);
    load(s, text);
}

/* The node has room for one of two. The plan gives it to the first, while the second is let onto it: the plan
 * is not carried out, the next knows. */
static void an_overtaken_plan_is_made_again(void **state)
{
    (void)state;
    struct loop l = {.asked = 1};
    char node[64], meant[128];
    begin(&l);
    run_for(l.sim, 25 * MS_SECOND);
    snprintf(node, sizeof(node), "%s", first(l.sim, KIND_NODE, "metadata.name"));
    add_pod(l.sim, "first");
    add_pod(l.sim, "second");
    overtaker = (struct sent_pod){.uid = SPAN("uid-second"), .node = span_hash(span_of(node))};
    l.before_sent = tell_after_the_plan;
    run_for(l.sim, 25 * MS_SECOND);
    assert_non_null(l.sent);
    snprintf(meant, sizeof(meant), "event Nominated first: Pod should schedule on: nodeclaim/%s", node);
    assert_false(told(&l, meant));
    assert_true(told(&l, "event Nominated first: Pod should schedule on: nodeclaim/"));
    snprintf(meant, sizeof(meant), "event Nominated second: Pod should schedule on: nodeclaim/%s", node);
    assert_true(told(&l, meant));
    assert_int_equal(count_objects(l.sim, KIND_NODE_CLAIM), 2);
    loop_end(&l);
}

/* --- told several names --- */

static void begin_with_two_nodes(struct loop *l)
{
    const struct sim_options o = {.no_scheduler = true};
    struct sim *s = new_sim_with(&o, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, ready_node_yaml("one", "1", "4Gi"));
    load(s, ready_node_yaml("two", "1", "4Gi"));
    l->keeps = l->hears = true;
    loop_begin(l, s);
    run_for(s, MS_SECOND);
}

static struct sent_pod told_both(struct span uid, struct span name, const char *likeliest)
{
    static uint64_t nodes[2];
    nodes[0] = span_hash(SPAN("one"));
    nodes[1] = span_hash(SPAN("two"));
    return (struct sent_pod){.uid = uid, .ns = SPAN("default"), .name = name,
                             .node = span_hash(span_of(likeliest)), .told = nodes, .told_count = 2,
                             .base = {700, 0, 0, 1}, .several = true};
}

/* A pod that is let onto either of two nodes, and that no snapshot has yet, keeps its room on one of them: on the
 * other others are planned, and nothing is bought. When it has come to nothing the room is free again. */
static void who_may_be_on_either_keeps_its_room(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    struct sent_pod sent = told_both(SPAN("uid-new"), SPAN("new"), "one");
    begin_with_two_nodes(&l);
    l.sent = &sent;
    l.sent_count = 1;
    add_pod(l.sim, "first");
    run_for(l.sim, 12 * MS_SECOND);
    assert_true(told(&l, "event Nominated first: Pod should schedule on: node/two\n"));
    l.sent_count = 0;
    add_pod(l.sim, "second");
    run_for(l.sim, 12 * MS_SECOND);
    assert_true(told(&l, "event Nominated second: Pod should schedule on: node/one\n"));
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 0);
    loop_end(&l);
}

/* What it needs beyond that is bought: as if it were bound already. */
static void what_it_takes_is_bought_once(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    struct sent_pod sent = told_both(SPAN("uid-third"), SPAN("third"), "two");
    begin_with_two_nodes(&l);
    l.sent = &sent;
    l.sent_count = 1;
    add_pod(l.sim, "first");
    add_pod(l.sim, "second");
    add_pod(l.sim, "third");
    run_for(l.sim, 12 * MS_SECOND);
    assert_true(told(&l, "event Nominated first: Pod should schedule on: node/one\n"));
    assert_false(told(&l, "Nominated third"));
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 1);
    bind(l.sim, "third", "two");
    run_for(l.sim, MS_SECOND);
    assert_false(told(&l, "stowage_pods_bound_total"));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 0);
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 1);
    loop_end(&l);
}

/* It got a place while it was asked about: any other of the names is as good. */
static void bound_to_another_of_its_names(void **state)
{
    (void)state;
    struct loop l = {.asked = START};
    struct sent_pod sent = told_both(SPAN("uid-first"), SPAN("first"), "one");
    begin_with_two_nodes(&l);
    add_pod(l.sim, "first");
    run_for(l.sim, 3 * MS_SECOND);
    assert_true(told(&l, "event Nominated first: Pod should schedule on: node/one\n"));
    l.sent = &sent;
    l.sent_count = 1;
    bind(l.sim, "first", "two");
    run_for(l.sim, MS_SECOND);
    assert_false(told(&l, "stowage_pods_bound_total"));
    assert_int_equal((int)l.measured[MEASURE_DIVERGED], 0);
    loop_end(&l);
}

/* While a plan gives the room on one to another pod, somebody is let onto either: it is made again. */
static void a_plan_is_overtaken_by_several_names(void **state)
{
    (void)state;
    struct loop l = {.asked = 1};
    begin_with_two_nodes(&l);
    overtaker = told_both(SPAN("uid-new"), SPAN("new"), "one");
    l.before_sent = tell_after_the_plan;
    add_pod(l.sim, "first");
    run_for(l.sim, 12 * MS_SECOND);
    assert_non_null(l.sent);
    assert_false(told(&l, "event Nominated first: Pod should schedule on: node/one\n"));
    assert_true(told(&l, "event Nominated first: Pod should schedule on: node/two\n"));
    assert_int_equal((int)l.measured[MEASURE_CLAIMS_CREATED], 0);
    loop_end(&l);
}

/* What is not launched yet and nobody needs any more goes before it costs anything. */
static void an_unneeded_claim_is_withdrawn(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .faults = {.before = no_machines}};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    scale(s, "web", 1);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1); /* one pod still waits for it */
    scale(s, "web", 0);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_string_equal(strstr(l.last[DECISION_REMOVE], "its pods"),
                        "its pods went elsewhere before it was launched");
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_false(span_contains(buf_span(&l.history), SPAN(" method=Delete "))); /* 201: of what was not made */
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_begins_at_nothing),
        cmocka_unit_test(nobody_asks),
        cmocka_unit_test(who_has_just_begun_waits_to_be_asked),
        cmocka_unit_test(its_volumes_come_first),
        cmocka_unit_test(nobody_comes),
        cmocka_unit_test(tried_at_last),
        cmocka_unit_test(turned_down_unasked),
        cmocka_unit_test(refused_is_planned_anew),
        cmocka_unit_test(bound_elsewhere),
        cmocka_unit_test(many_bound_elsewhere_are_reported_together),
        cmocka_unit_test(refused_counts_once),
        cmocka_unit_test(a_refusal_by_another_node_is_none),
        cmocka_unit_test(bound_ahead),
        cmocka_unit_test(robbed_is_planned_anew),
        cmocka_unit_test(an_overtaken_plan_is_made_again),
        cmocka_unit_test(who_may_be_on_either_keeps_its_room),
        cmocka_unit_test(what_it_takes_is_bought_once),
        cmocka_unit_test(bound_to_another_of_its_names),
        cmocka_unit_test(a_plan_is_overtaken_by_several_names),
        cmocka_unit_test(an_unneeded_claim_is_withdrawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
