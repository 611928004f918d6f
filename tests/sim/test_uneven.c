/* Machines of one plan become ready one after the other, and room comes up that the plan did not count on: what was
 * planned holds all the same, and no machine more is bought. */
#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <string.h>

#include "sim/stowage.h"

#define ZONE "topology.kubernetes.io/zone"
#define NOT_WITH(app)                                                                              \
    ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"" ZONE \
    "\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app "\"}}}]}}"
#define SPREAD(app)                                                                                \
    ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":3,\"topologyKey\":\"" ZONE "\","       \
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app "\"}}}]"

struct cluster {
    struct sim *sim;
    struct sim_stowage *stowage;
    unsigned refused; /* pods, at their planned nodes */
};

static void measured(void *user, const struct measure *m)
{
    struct cluster *c = user;
    if (m->id == MEASURE_DIVERGED && span_eq(m->labels[0], SPAN("refused")))
        c->refused += (unsigned)m->value;
}

static void begin(struct cluster *c, span_ms node_ready, const char *cpu)
{
    const struct sim_options o = {.delays = {.node_ready = node_ready}};
    const struct sim_stowage_options s = {.measured = measured, .user = c};
    *c = (struct cluster){.sim = new_sim_with(&o, general_yaml("1h", cpu))};
    c->stowage = start_asked(c->sim, &s);
}

static void end(struct cluster *c)
{
    stop_asked(c->sim, c->stowage);
    sim_free(c->sim);
}

static size_t nodes(struct cluster *c)
{
    return sim_cluster_count(sim_cluster(c->sim), KIND_NODE);
}

static const char *zone_of(const json_t *node)
{
    return json_string_value(json_object_get(tree_get(node, "metadata.labels"), ZONE));
}

/* Of one CPU, in the zone of the first machine that is not in test-zone-b. */
static void load_late_room(struct cluster *c)
{
    json_t *all = objects_of(c->sim, KIND_NODE);
    const json_t *node = json_array_get(all, 0);
    char yaml[512];
    if (strcmp(zone_of(node), "test-zone-b") == 0)
        node = json_array_get(all, 1);
    snprintf(yaml, sizeof(yaml),
             "apiVersion: v1\nkind: Node\nmetadata: {name: late-room, labels: {" ZONE ": %s}}\nspec: {providerID: x}\n"
             "status: {allocatable: {cpu: '1', memory: 8Gi, pods: '20'}, conditions: [{type: Ready, status: 'True'}]}\n",
             zone_of(node));
    load(c->sim, yaml);
    json_decref(all);
}

/* Room comes up while the machines are on their way. Where "third" is planned "second" must not be: let in there it
 * would cost it its place, and it fits nowhere else. */
static void room_that_comes_up_is_not_for_whom_others_mind_there(void **state)
{
    (void)state;
    struct cluster c;
    begin(&c, MS_MINUTE, "2");
    load(c.sim, deployment_yaml("third", 1, "1500m", ""));
    load(c.sim, deployment_yaml("second", 1, "1", NOT_WITH("third")));
    load(c.sim, deployment_yaml("web", 1, "700m", ",\"nodeSelector\":{\"" ZONE "\":\"test-zone-b\"}"));
    run_for(c.sim, 20 * MS_SECOND);
    assert_int_equal(nodes(&c), 2);
    load_late_room(&c);
    run_for(c.sim, 30 * MS_SECOND);
    load(c.sim, deployment_yaml("whoever", 1, "800m", ""));
    run_for(c.sim, 2 * MS_MINUTE);
    assert_int_equal(nodes(&c), 3);
    assert_int_equal(count_pods(c.sim, "whoever", "late-room"), 1);
    assert_int_equal(count_pods(c.sim, "third", "") + count_pods(c.sim, "second", ""), 0);
    end(&c);
}

/* Until a machine of the last zone is there the scheduler can spread no more than it has: those that wait for it are
 * not refused anywhere. */
static void the_last_zone_is_waited_for(void **state)
{
    (void)state;
    struct cluster c;
    size_t i;
    json_t *node;
    begin(&c, 5 * MS_MINUTE, "2");
    load(c.sim, deployment_yaml("zonal", 8, "900m", SPREAD("zonal")));
    run_for(c.sim, 20 * MS_SECOND);
    assert_int_equal(nodes(&c), 4);
    json_t *all = objects_of(c.sim, KIND_NODE);
    json_array_foreach(all, i, node) {
        if (strcmp(zone_of(node), "test-zone-d") != 0)
            set_ready(c.sim, json_string_value(tree_get(node, "metadata.name")), "True");
    }
    json_decref(all);
    run_for(c.sim, 2 * MS_MINUTE);
    assert_int_equal(count_pods(c.sim, "zonal", ""), 5); /* one in each of three zones */
    run_for(c.sim, 5 * MS_MINUTE);
    assert_int_equal(count_pods(c.sim, "zonal", ""), 0);
    assert_int_equal(nodes(&c), 4);
    assert_int_equal(c.refused, 0);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_that_comes_up_is_not_for_whom_others_mind_there),
        cmocka_unit_test(the_last_zone_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
