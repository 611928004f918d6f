/* --placement=nominate on the virtual clock: no extender, places become status.nominatedNodeName. The
 * stand-in scheduler looks only every few seconds, so that a test can step in between. */
#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <string.h>

#include "sim/stowage.h"

enum { SCHEDULE_MS = 10 * MS_SECOND, SOON_MS = 500, PODS = 6 };

struct life {
    struct sim *sim;
    struct sim_stowage *stowage;
};

static void start(struct life *l, bool nominate)
{
    const struct sim_stowage_options o = {
        .reconciler = {.batch_idle = 200, .batch_max = 2000, .nominate = nominate}};
    l->stowage = sim_stowage_new(l->sim, &o);
}

static void begin_cluster(struct life *l)
{
    const struct sim_options o = {.cluster = {.apply_delay = 2, .reply_delay = 2, .watch_delay = 5},
                                  .delays = {.schedule = SCHEDULE_MS}};
    l->sim = new_sim_with(&o, general_yaml("30s", "4"));
}

static void begin(struct life *l, bool nominate)
{
    begin_cluster(l);
    start(l, nominate);
}

/* The scheduler asks, and in clusters of so many nodes pods are nominated, too. */
static void begin_asked(struct life *l, uint32_t from)
{
    const struct sim_stowage_options o = {
        .reconciler = {.batch_idle = 200, .batch_max = 2000, .nominate_from = from}};
    begin_cluster(l);
    l->stowage = start_asked(l->sim, &o);
}

static void end(struct life *l)
{
    assert_no_overcommit(l->sim);
    sim_stowage_free(l->stowage);
    sim_free(l->sim);
}

static void end_asked(struct life *l)
{
    assert_no_overcommit(l->sim);
    stop_asked(l->sim, l->stowage);
    sim_free(l->sim);
}

/* ---- looking ---- */

struct seen { /* of the pods of a Deployment */
    uint32_t pods, bound, nominated;
    uint32_t to_place;  /* nominated for the node that the plan means */
    uint32_t elsewhere; /* bound to a node that is not in `nodes` */
    char node[PODS][64]; /* by the pod's name: what it is nominated for, or bound to */
    char name[PODS][64];
};

/* Nodes have their claims' names. */
static bool is_place(const struct life *l, const json_t *pod, struct span node)
{
    const struct places *places = sim_stowage_places(l->stowage);
    const struct place *place =
        places != NULL ? places_find(places, tree_string(pod, "metadata.uid")) : NULL;
    return place != NULL && span_eq(place->target, node);
}

static struct seen look(const struct life *l, const char *app)
{
    struct seen s = {0};
    json_t *pods = objects_of(l->sim, KIND_POD), *pod;
    size_t i;
    json_array_foreach(pods, i, pod) {
        struct span nominated = tree_string(pod, "status.nominatedNodeName");
        struct span bound = tree_string(pod, "spec.nodeName");
        if (!tree_is(pod, "metadata.labels.app", app))
            continue;
        assert_true(s.pods < PODS);
        struct span node = bound.len != 0 ? bound : nominated;
        snprintf(s.node[s.pods], sizeof(s.node[0]), "%.*s", SPAN_ARG(node));
        snprintf(s.name[s.pods], sizeof(s.name[0]), "%.*s",
                 SPAN_ARG(tree_string(pod, "metadata.name")));
        s.pods++;
        s.bound += bound.len != 0;
        s.nominated += nominated.len != 0;
        s.to_place += nominated.len != 0 && is_place(l, pod, nominated);
    }
    json_decref(pods);
    return s;
}

static const char *node_of_pod(const struct seen *s, const char *name)
{
    for (uint32_t i = 0; i < s->pods; i++)
        if (strcmp(s->name[i], name) == 0)
            return s->node[i];
    return "";
}

static bool all_nominated(void *user)
{
    struct seen s = look(user, "web");
    return s.pods == PODS && s.nominated == PODS;
}

static bool all_bound(void *user)
{
    struct seen s = look(user, "web");
    return s.pods == PODS && s.bound == PODS;
}

static void until(struct life *l, bool (*done)(void *user))
{
    struct err err;
    if (!sim_run_while(l->sim, done, l, sim_now(l->sim) + 2 * MS_MINUTE, &err))
        fail_msg("%s; %s", err.msg, why_pending(l->sim));
}

static void patch_status(struct life *l, const char *pod, const char *body)
{
    struct arena a;
    arena_init(&a, 0);
    struct api_request r = {.verb = API_MERGE,
                            .kind = KIND_POD,
                            .ns = SPAN("default"),
                            .name = span_of(pod),
                            .subresource = SPAN("status"),
                            .body = span_of(body)};
    assert_int_equal(sim_cluster_do(sim_cluster(l->sim), &a, &r).status, 200);
    arena_release(&a);
}

/* Six pods of 1.5 CPUs, two to a machine of four: three nodes that exist, all pods nominated, and no
 * scheduler has looked since. */
static void grow(struct life *l)
{
    load(l->sim, deployment_yaml("web", PODS, "1500m", ""));
    until(l, all_nominated);
}

/* ---- tests ---- */

static void test_places_become_nominations(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    grow(&l);
    struct seen before = look(&l, "web");
    assert_int_equal(before.to_place, PODS);
    assert_int_equal(before.bound, 0);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 3);
    until(&l, all_bound);
    struct seen after = look(&l, "web");
    assert_int_equal(after.nominated, 0);
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    run_for(l.sim, MS_MINUTE);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 3);
    end(&l);
}

/* The three nodes of six pods are as many as it takes, or one too few. */
static void test_the_cluster_s_size_decides_where_the_scheduler_asks(void **state)
{
    (void)state;
    for (uint32_t from = 3; from <= 4; from++) {
        struct life l;
        begin_asked(&l, from);
        load(l.sim, deployment_yaml("web", PODS, "1500m", ""));
        run_for(l.sim, SCHEDULE_MS + 5 * MS_SECOND); /* the nodes are there, and no scheduler has looked since */
        assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 3);
        struct seen before = look(&l, "web");
        assert_int_equal(before.bound, 0);
        assert_int_equal(before.to_place, from == 3 ? PODS : 0);
        assert_int_equal(before.nominated, before.to_place);
        until(&l, all_bound);
        struct seen after = look(&l, "web");
        for (uint32_t i = 0; i < PODS && from == 3; i++)
            assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
        run_for(l.sim, MS_MINUTE);
        assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 3);
        end_asked(&l);
    }
}

/* Four nodes, and then three: nobody is nominated any more, and nobody loses what he has. */
static void test_a_smaller_cluster_keeps_what_is_meant(void **state)
{
    (void)state;
    struct life l;
    begin_asked(&l, 4);
    load(l.sim, ready_node_yaml("old", "1", "4Gi"));
    grow(&l);
    struct seen before = look(&l, "web");
    do_request(l.sim, API_DELETE, KIND_NODE, "", "old", "", 200);
    patch_status(&l, before.name[0], "{\"status\":{\"nominatedNodeName\":null}}");
    run_for(l.sim, SOON_MS);
    struct seen after = look(&l, "web");
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 3);
    assert_int_equal(after.nominated, PODS - 1);
    assert_int_equal(after.to_place, PODS - 1);
    until(&l, all_bound);
    after = look(&l, "web");
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    end_asked(&l);
}

/* A node that goes holds back nobody who is nominated for it. */
static void test_who_is_nominated_for_a_node_that_goes_gets_another(void **state)
{
    (void)state;
    struct life l;
    begin_asked(&l, 1);
    grow(&l);
    struct seen before = look(&l, "web");
    char gone[64];
    snprintf(gone, sizeof(gone), "%s", before.node[0]);
    do_request(l.sim, API_DELETE, KIND_NODE_CLAIM, "", gone, "", 200);
    run_for(l.sim, SOON_MS);
    struct seen after = look(&l, "web");
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_not_equal(after.node[i], gone);
    until(&l, all_bound);
    after = look(&l, "web");
    for (uint32_t i = 0; i < PODS; i++) {
        assert_string_not_equal(after.node[i], gone);
        if (strcmp(before.node[i], gone) != 0)
            assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    }
    end_asked(&l);
}

static void test_not_unless_asked(void **state)
{
    (void)state;
    struct life l;
    begin(&l, false);
    load(l.sim, deployment_yaml("web", PODS, "1500m", ""));
    for (int i = 0; i < 60; i++) {
        assert_int_equal(look(&l, "web").nominated, 0);
        run_for(l.sim, SOON_MS);
    }
    assert_int_equal(look(&l, "web").bound, PODS);
    end(&l);
}

#define THIEF                                                                                      \
    "apiVersion: v1\nkind: Pod\n"                                                                  \
    "metadata: {name: thief, namespace: default, labels: {app: thief}}\n"                          \
    "spec: {schedulingGates: [{name: a/later}], containers: [{name: c, resources: "                \
    "{requests: {cpu: 1500m}}}]}\n"

static void free_thief(struct life *l)
{
    do_request(l->sim, API_MERGE, KIND_POD, "default", "thief", "{\"spec\":{\"schedulingGates\":[]}}",
               200);
}

/* Older pods come first in the queue, and would take the room if it were free. */
static void test_a_thief_of_the_same_priority_finds_the_room_taken(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    load(l.sim, THIEF);
    grow(&l);
    free_thief(&l);
    struct seen before = look(&l, "web");
    until(&l, all_bound);
    struct seen after = look(&l, "web"), thief = look(&l, "thief");
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    assert_int_equal(thief.bound, 0);
    run_for(l.sim, MS_MINUTE); /* and gets a node of its own */
    assert_int_equal(look(&l, "thief").bound, 1);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 4);
    end(&l);
}

/* The same without nominations, so that the above says something. */
static void test_a_thief_finds_what_nobody_is_nominated_for(void **state)
{
    (void)state;
    struct life l;
    begin(&l, false);
    load(l.sim, THIEF);
    load(l.sim, deployment_yaml("web", PODS, "1500m", ""));
    run_for(l.sim, SCHEDULE_MS + 5 * MS_SECOND); /* the nodes are there */
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 3);
    assert_int_equal(look(&l, "web").bound, 0);
    free_thief(&l);
    run_for(l.sim, SCHEDULE_MS);
    assert_int_equal(look(&l, "thief").bound, 1);
    assert_int_equal(look(&l, "web").bound, PODS - 1);
    end(&l);
}

/* What the scheduler empties after an attempt that failed is written again. */
static void test_again_after_a_failed_attempt(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    grow(&l);
    struct seen before = look(&l, "web");
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < PODS; i++)
            patch_status(&l, before.name[i], "{\"status\":{\"nominatedNodeName\":null}}");
        assert_int_equal(look(&l, "web").nominated, 0);
        run_for(l.sim, SOON_MS);
        struct seen after = look(&l, "web");
        assert_int_equal(after.to_place, PODS);
        for (uint32_t i = 0; i < PODS; i++)
            assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    }
    end(&l);
}

/* A preemptor waits for its victims: nobody else's business, whatever the plan. */
static void test_the_schedulers_own_are_let_alone(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    load(l.sim, ready_node_yaml("old", "1", "4Gi"));
    load(l.sim, deployment_yaml("web", 1, "1500m", ""));
    run_for(l.sim, SCHEDULE_MS + 150); /* refused by now, and not planned yet */
    struct seen s = look(&l, "web");
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 0);
    patch_status(&l, s.name[0], "{\"status\":{\"nominatedNodeName\":\"old\"}}");
    run_for(l.sim, SCHEDULE_MS - 2 * MS_SECOND);
    s = look(&l, "web");
    assert_string_equal(s.node[0], "old");
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 0);
    end(&l);
}

/* Another's word after ours stays, and the pod is theirs. */
static void test_an_overwritten_one_is_theirs(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    load(l.sim, ready_node_yaml("old", "1", "4Gi"));
    grow(&l);
    struct seen s = look(&l, "web");
    patch_status(&l, s.name[0], "{\"status\":{\"nominatedNodeName\":\"old\"}}");
    run_for(l.sim, SOON_MS);
    struct seen after = look(&l, "web");
    assert_string_equal(node_of_pod(&after, s.name[0]), "old");
    assert_int_equal(after.to_place, PODS - 1);
    end(&l);
}

static void test_taken_back_when_the_node_leaves(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    grow(&l);
    struct seen before = look(&l, "web");
    char gone[64];
    snprintf(gone, sizeof(gone), "%s", before.node[0]);
    do_request(l.sim, API_DELETE, KIND_NODE_CLAIM, "", gone, "", 200);
    run_for(l.sim, SOON_MS);
    struct seen after = look(&l, "web");
    assert_int_equal(after.nominated, PODS - 2);
    for (uint32_t i = 0; i < PODS; i++) {
        assert_string_not_equal(after.node[i], gone);
        if (strcmp(before.node[i], gone) != 0)
            assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    }
    until(&l, all_bound);
    after = look(&l, "web");
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_not_equal(after.node[i], gone);
    end(&l);
}

/* Not before the node would take the pod: a startup taint keeps the scheduler's attempts failing. */
static void test_not_while_the_node_is_not_usable(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    load(l.sim, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
                "spec:\n  template:\n    spec:\n"
                "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
                "      startupTaints: [{key: a/starting, effect: NoSchedule}]\n"
                "      requirements: [{key: karpenter.kwok.sh/instance-cpu, operator: In, values: ['16']}]\n");
    load(l.sim, deployment_yaml("web", PODS, "1500m", ""));
    run_for(l.sim, MS_MINUTE);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 1);
    assert_int_equal(look(&l, "web").nominated, 0);
    json_t *nodes = objects_of(l.sim, KIND_NODE);
    char name[64];
    snprintf(name, sizeof(name), "%.*s",
             SPAN_ARG(tree_string(json_array_get(nodes, 0), "metadata.name")));
    json_decref(nodes);
    do_request(l.sim, API_MERGE, KIND_NODE, "", name, "{\"spec\":{\"taints\":null}}", 200);
    run_for(l.sim, SOON_MS);
    struct seen s = look(&l, "web");
    assert_int_equal(s.to_place + s.bound, PODS);
    end(&l);
}

/* Pods nominated by the one before stay in the plan of the next: nothing is bought for them again, and
 * nothing is written. */
static void test_a_new_leader_knows_its_own(void **state)
{
    (void)state;
    struct life l;
    begin(&l, true);
    grow(&l);
    struct seen before = look(&l, "web");
    sim_stowage_free(l.stowage);
    start(&l, true);
    run_for(l.sim, 2 * MS_SECOND);
    struct seen after = look(&l, "web");
    assert_int_equal(after.to_place, PODS);
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    /* somebody else comes, and the whole is planned anew around them */
    load(l.sim, deployment_yaml("api", 1, "1500m", ""));
    until(&l, all_bound);
    after = look(&l, "web");
    for (uint32_t i = 0; i < PODS; i++)
        assert_string_equal(node_of_pod(&after, before.name[i]), before.node[i]);
    run_for(l.sim, MS_MINUTE);
    assert_int_equal(look(&l, "api").bound, 1);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 4);
    end(&l);
}

/* ---- after a restart, with no scheduler ---- */

static void add_pod(struct life *l, const char *name)
{
    char text[512];
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Pod\nmetadata: {namespace: default, name: %s, labels: {app: web}}\n"
             "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 700m}}}]}\n"
             "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
             "Unschedulable}]}\n",
             name);
    load(l->sim, text);
}

/* A pod for which a node was bought, and one that was planned onto it when it was there: nothing but its
 * nomination says so. */
static struct seen begin_with_two(struct life *l)
{
    const struct sim_options o = {.no_scheduler = true};
    l->sim = new_sim_with(&o, general_yaml("300s", "16"));
    start(l, true);
    add_pod(l, "first");
    run_for(l->sim, 30 * MS_SECOND);
    add_pod(l, "second");
    run_for(l->sim, 5 * MS_SECOND);
    struct seen s = look(l, "web");
    assert_int_equal(s.nominated, 2);
    assert_int_equal(s.to_place, 2);
    return s;
}

static uint64_t version_of(struct life *l, const char *pod)
{
    json_t *object = object_of(l->sim, KIND_POD, "default", pod);
    int64_t version = 0;
    assert_true(span_int64(tree_string(object, "metadata.resourceVersion"), &version));
    json_decref(object);
    return (uint64_t)version;
}

static void test_a_new_leader_keeps_those_on_nodes_that_were_there(void **state)
{
    (void)state;
    struct life l;
    struct seen before = begin_with_two(&l);
    uint64_t version = version_of(&l, "second");
    sim_stowage_free(l.stowage);
    start(&l, true);
    run_for(l.sim, 30 * MS_SECOND);
    struct seen after = look(&l, "web");
    assert_int_equal(after.to_place, 2);
    assert_int_equal(version_of(&l, "second"), version); /* not for a moment was it without */
    do_request(l.sim, API_DELETE, KIND_NODE_CLAIM, "", before.node[0], NULL, 200);
    run_for(l.sim, MS_MINUTE);
    after = look(&l, "web");
    for (uint32_t i = 0; i < after.pods; i++)
        assert_string_not_equal(after.node[i], before.node[0]);
    assert_int_equal(after.to_place, 2);
    end(&l);
}

/* While nobody was there the node went. */
static void test_a_new_leader_takes_back_what_leads_nowhere(void **state)
{
    (void)state;
    struct life l;
    struct seen before = begin_with_two(&l);
    sim_stowage_free(l.stowage);
    do_request(l.sim, API_MERGE, KIND_NODE_CLAIM, "", before.node[0],
               "{\"metadata\":{\"finalizers\":null}}", 200);
    do_request(l.sim, API_DELETE, KIND_NODE_CLAIM, "", before.node[0], NULL, 200);
    do_request(l.sim, API_MERGE, KIND_NODE, "", before.node[0],
               "{\"metadata\":{\"finalizers\":null}}", 200);
    if (sim_cluster_count(sim_cluster(l.sim), KIND_NODE) != 0)
        do_request(l.sim, API_DELETE, KIND_NODE, "", before.node[0], NULL, 200);
    assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE), 0);
    start(&l, true);
    run_for(l.sim, MS_MINUTE);
    struct seen after = look(&l, "web");
    assert_int_equal(after.to_place, 2);
    assert_string_not_equal(after.node[0], before.node[0]);
    end(&l);
}

/* And so does one that nominates nobody: the pods would be stranded, since nothing is planned for who is
 * nominated. The scheduler's own word stays. */
static void test_who_nominates_no_more_takes_back_its_own(void **state)
{
    (void)state;
    struct life l;
    struct seen before = begin_with_two(&l);
    sim_stowage_free(l.stowage);
    char body[128];
    snprintf(body, sizeof(body), "{\"status\":{\"nominatedNodeName\":\"another\"}}");
    patch_status(&l, before.name[0], body);
    start(&l, false);
    run_for(l.sim, 10 * MS_SECOND);
    struct seen after = look(&l, "web");
    assert_string_equal(node_of_pod(&after, before.name[0]), "another");
    assert_string_equal(node_of_pod(&after, before.name[1]), "");
    end(&l);
}

/* ---- killed at any write ---- */

static enum sim_fate kill_after(void *user, uint64_t number, const struct api_request *r)
{
    (void)r;
    return number == *(uint64_t *)user ? SIM_KILL : SIM_PASS;
}

static bool bound_or_dead(void *user)
{
    struct life *l = user;
    return all_bound(l) || sim_client_dead(sim_stowage_client(l->stowage));
}

static void test_killed_at_any_write(void **state)
{
    (void)state;
    enum { WRITES_MAX = 200, STRIDE = 3 }; /* test_loop_crash has every one of a life without nominations */
    uint64_t at = 1;
    for (bool died = true; died && at < WRITES_MAX; at += STRIDE) {
        struct life l;
        begin(&l, true);
        struct sim_faults faults = {.user = &at, .after = kill_after};
        sim_client_set_faults(sim_stowage_client(l.stowage), &faults);
        load(l.sim, deployment_yaml("web", PODS, "1500m", ""));
        until(&l, bound_or_dead);
        died = sim_client_dead(sim_stowage_client(l.stowage));
        if (died) {
            sim_stowage_free(l.stowage);
            start(&l, true);
            until(&l, all_bound);
        }
        run_for(l.sim, SOON_MS);
        assert_int_equal(look(&l, "web").nominated, 0);
        assert_int_equal(sim_cluster_count(sim_cluster(l.sim), KIND_NODE_CLAIM), 3);
        end(&l);
    }
    assert_in_range(at, 20, WRITES_MAX - 1); /* claims, nodes, nominations: each was the last once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_become_nominations),
        cmocka_unit_test(test_the_cluster_s_size_decides_where_the_scheduler_asks),
        cmocka_unit_test(test_a_smaller_cluster_keeps_what_is_meant),
        cmocka_unit_test(test_who_is_nominated_for_a_node_that_goes_gets_another),
        cmocka_unit_test(test_not_unless_asked),
        cmocka_unit_test(test_a_thief_of_the_same_priority_finds_the_room_taken),
        cmocka_unit_test(test_a_thief_finds_what_nobody_is_nominated_for),
        cmocka_unit_test(test_again_after_a_failed_attempt),
        cmocka_unit_test(test_the_schedulers_own_are_let_alone),
        cmocka_unit_test(test_an_overwritten_one_is_theirs),
        cmocka_unit_test(test_taken_back_when_the_node_leaves),
        cmocka_unit_test(test_not_while_the_node_is_not_usable),
        cmocka_unit_test(test_a_new_leader_knows_its_own),
        cmocka_unit_test(test_a_new_leader_keeps_those_on_nodes_that_were_there),
        cmocka_unit_test(test_a_new_leader_takes_back_what_leads_nowhere),
        cmocka_unit_test(test_who_nominates_no_more_takes_back_its_own),
        cmocka_unit_test(test_killed_at_any_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
