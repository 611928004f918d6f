/* Stowage with its extender in the in-memory cluster, requests and watches taking their time: pending
 * pods become nodes and bound pods, and the nodes leave again; also when the process is killed on the
 * way. (test_loop_crash kills it at every single write of a smaller life.) */
#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/sample.h"
#include "sim/stowage.h"

static const struct {
    const char *name, *cpu;
    int replicas;
} shapes[] = {{"small", "250m", 14}, {"middle", "900m", 10}, {"large", "2500m", 6}};
enum { PODS = 30, SETTLE_MS = 5 * MS_MINUTE };

struct world_of_test {
    struct sim *sim;
    struct sim_stowage *stowage;
    bool died;
};

static void start_stowage(struct world_of_test *t, const struct sim_faults *faults)
{
    const struct sim_stowage_options o = {.reconciler = {.batch_idle = 200, .batch_max = 2000}};
    t->stowage = start_asked(t->sim, &o);
    sim_client_set_faults(sim_stowage_client(t->stowage), faults);
}

static void stop_stowage(struct world_of_test *t)
{
    stop_asked(t->sim, t->stowage);
    t->stowage = NULL;
}

static void scale_all(struct sim *s, bool up)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        if (up && sim_cluster_count(sim_cluster(s), KIND_DEPLOYMENT) < COUNT_OF(shapes))
            load(s, deployment_yaml(shapes[i].name, shapes[i].replicas, shapes[i].cpu, ""));
        else
            scale(s, shapes[i].name, up ? shapes[i].replicas : 0);
    }
}

static bool all_run(void *user)
{
    struct world_of_test *t = user;
    uint32_t running = sim_cluster_count_of(sim_cluster(t->sim), KIND_POD, "status.phase", "Running");
    return running == PODS || (t->stowage != NULL && sim_client_dead(sim_stowage_client(t->stowage)));
}

static bool all_gone(void *user)
{
    struct world_of_test *t = user;
    const struct sim_cluster *c = sim_cluster(t->sim);
    return sim_cluster_count(c, KIND_NODE) + sim_cluster_count(c, KIND_NODE_CLAIM) == 0 ||
           (t->stowage != NULL && sim_client_dead(sim_stowage_client(t->stowage)));
}

/* One machine a claim, none without, none overfull. */
static void assert_sound(struct world_of_test *t, const char *label)
{
    json_t *nodes = objects_of(t->sim, KIND_NODE), *claims = objects_of(t->sim, KIND_NODE_CLAIM), *claim;
    json_t *owners = json_object(), *node;
    size_t i;
    json_array_foreach(nodes, i, node) {
        const json_t *made_for = json_object_get(tree_get(node, "metadata.annotations"),
                                                 "stowage.dev/nodeclaim-uid");
        if (!json_is_string(made_for))
            fail_msg("%s: a Node of nobody", label);
        if (json_object_get(owners, json_string_value(made_for)) != NULL)
            fail_msg("%s: two machines for one claim", label);
        json_object_set_new(owners, json_string_value(made_for), json_true());
    }
    json_array_foreach(claims, i, claim) {
        if (json_object_get(owners, json_string_value(tree_get(claim, "metadata.uid"))) == NULL)
            fail_msg("%s: a claim without its machine", label);
    }
    if (json_array_size(claims) != json_array_size(nodes))
        fail_msg("%s: %zu claims, %zu nodes", label, json_array_size(claims), json_array_size(nodes));
    assert_no_overcommit(t->sim);
    json_decref(owners);
    json_decref(claims);
    json_decref(nodes);
}

static void run_while(struct world_of_test *t, bool (*done)(void *), const char *label)
{
    struct err err;
    if (!sim_run_while(t->sim, done, t, sim_now(t->sim) + SETTLE_MS, &err))
        fail_msg("%s: %s: %u pods, %u nodes, %u claims; %s", label, err.msg,
                 sim_cluster_count(sim_cluster(t->sim), KIND_POD),
                 sim_cluster_count(sim_cluster(t->sim), KIND_NODE),
                 sim_cluster_count(sim_cluster(t->sim), KIND_NODE_CLAIM), why_pending(t->sim));
}

/* Runs until `done`; a Stowage that died on the way is replaced by a new one, once. */
static void run_with_a_death(struct world_of_test *t, bool (*done)(void *), const char *label)
{
    run_while(t, done, label);
    if (!sim_client_dead(sim_stowage_client(t->stowage)))
        return;
    t->died = true;
    stop_stowage(t);
    start_stowage(t, NULL);
    run_while(t, done, label);
}

static void begin(struct world_of_test *t, const struct sim_faults *faults)
{
    const struct sim_options o = {.cluster = {.apply_delay = 2, .reply_delay = 2, .watch_delay = 5}};
    t->sim = new_sim_with(&o, general_yaml("5s", "4"));
    start_stowage(t, faults);
    scale_all(t->sim, true);
}

static void end(struct world_of_test *t)
{
    stop_stowage(t);
    sim_free(t->sim);
}

static void pods_become_nodes_and_leave(void **state)
{
    (void)state;
    struct world_of_test t = {.died = false};
    begin(&t, NULL);
    run_while(&t, all_run, "up");
    assert_sound(&t, "up");
    scale_all(t.sim, false);
    run_while(&t, all_gone, "down");
    end(&t);
}

/* ---- a pod that no scheduler takes up ---- */

static const char orphan[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {namespace: default, name: orphan}\n"
    "spec: {schedulerName: nobody, containers: [{name: c, image: i, resources: {requests: {cpu: 2500m}}}]}\n"
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n";

/* It gets a node, whose room is kept for it, and not for ever. */
static void what_nobody_takes_up_is_held_for_a_while(void **state)
{
    (void)state;
    struct world_of_test t = {.sim = new_sim(general_yaml("1h", "4"))};
    char node[64];
    start_stowage(&t, NULL);
    load(t.sim, orphan);
    run_for(t.sim, MS_MINUTE);
    json_t *nodes = objects_of(t.sim, KIND_NODE);
    assert_int_equal(json_array_size(nodes), 1);
    snprintf(node, sizeof(node), "%.*s",
             SPAN_ARG(tree_string(json_array_get(nodes, 0), "metadata.name")));
    json_decref(nodes);
    load(t.sim, deployment_yaml("early", 1, "2500m", ""));
    run_for(t.sim, MS_MINUTE);
    assert_int_equal(count_pods(t.sim, "early", node), 0);
    assert_int_equal(count_pods(t.sim, "early", ""), 0); /* on a node of its own */
    run_for(t.sim, 10 * MS_MINUTE);
    load(t.sim, deployment_yaml("later", 1, "2500m", ""));
    run_for(t.sim, 2 * MS_SECOND);
    assert_int_equal(count_pods(t.sim, "later", node), 1);
    end(&t);
}

/* ---- death at every write ---- */

struct death {
    uint64_t at;
    bool after;
};

static enum sim_fate die_before(void *user, uint64_t number, const struct api_request *r,
                                struct sim_refusal *refusal)
{
    const struct death *d = user;
    (void)r;
    (void)refusal;
    return !d->after && number == d->at ? SIM_KILL : SIM_PASS;
}

static enum sim_fate die_after(void *user, uint64_t number, const struct api_request *r)
{
    const struct death *d = user;
    (void)r;
    return d->after && number == d->at ? SIM_KILL : SIM_PASS;
}

/* The cluster's whole life with one death; true when there was such a write. `nodes` is how many
 * machines a life without death needs, 0: not known yet. */
static bool live_and_die(struct death d, uint32_t *nodes)
{
    struct world_of_test t = {.died = false};
    const struct sim_faults faults = {&d, die_before, die_after};
    char label[64];
    snprintf(label, sizeof label, "death %s write %llu", d.after ? "after" : "before",
             (unsigned long long)d.at);
    begin(&t, &faults);
    run_with_a_death(&t, all_run, label);
    run_for(t.sim, MS_MINUTE); /* whatever is left over must have gone by itself */
    assert_sound(&t, label);
    uint32_t count = sim_cluster_count(sim_cluster(t.sim), KIND_NODE);
    if (*nodes == 0)
        *nodes = count;
    if (count != *nodes)
        fail_msg("%s: %u nodes instead of %u", label, count, *nodes);
    scale_all(t.sim, false);
    run_with_a_death(&t, all_gone, label);
    assert_int_equal(sim_cluster_count(sim_cluster(t.sim), KIND_NODE_CLAIM), 0);
    end(&t);
    return t.died;
}

static void deaths_on_the_way(void **state)
{
    enum { STRIDE = 29 };
    uint32_t nodes = 0;
    uint64_t k;
    (void)state;
    live_and_die((struct death){.at = 0}, &nodes);
    for (k = 1; live_and_die((struct death){.at = k}, &nodes); k += STRIDE)
        live_and_die((struct death){.at = k, .after = true}, &nodes);
    assert_true(k > 4 * STRIDE);
}

/* ---- what `serve --embedded` shows ---- */

static uint32_t running(const struct world_of_test *t)
{
    return sim_cluster_count_of(sim_cluster(t->sim), KIND_POD, "status.phase", "Running");
}

static void the_sample_is_served(void **state)
{
    (void)state;
    const struct sim_options o = {.cluster = {.now = START}};
    struct world_of_test t = {.sim = sim_new(&o)};
    struct err err;
    assert_true(sample_start(t.sim, &err));
    start_stowage(&t, NULL);
    run_for(t.sim, 40 * MS_SECOND);
    uint32_t by_day = sim_cluster_count(sim_cluster(t.sim), KIND_NODE);
    assert_int_equal(running(&t), 12 + 3 + 2 + 40 + by_day);
    assert_sound(&t, "day");
    run_for(t.sim, 105 * MS_SECOND); /* 145 s: the night */
    uint32_t by_night = sim_cluster_count(sim_cluster(t.sim), KIND_NODE);
    assert_int_equal(running(&t), 4 + 3 + by_night);
    print_message("%u nodes by day, %u by night\n", by_day, by_night);
    assert_true(by_night + 2 < by_day);
    run_for(t.sim, 55 * MS_SECOND); /* 200 s: the morning */
    assert_int_equal(running(&t), 16 + 3 + 2 + 40 + sim_cluster_count(sim_cluster(t.sim), KIND_NODE));
    assert_sound(&t, "morning");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_served),
        cmocka_unit_test(pods_become_nodes_and_leave),
        cmocka_unit_test(what_nobody_takes_up_is_held_for_a_while),
        cmocka_unit_test(deaths_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
