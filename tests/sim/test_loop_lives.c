/* Whatever happens to a fleet and to its leaders, in whatever order: what holds at any time, and what in the end. Each
 * seed is a life: workloads grow and shrink, the pool's template changes, leaders die at some write and others take over;
 * in the end no machine is to be had. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_crash.h"
#include "tests/sim/support_moves.h"

enum { SEEDS = 3, STEPS = 8, BUDGET = 2, KEPT = 2 };

struct life {
    struct loop l;
    struct crash crash;
    struct watch watch; /* of how many leave at a time */
    struct sim *s;
    uint64_t chance, version;
    unsigned changes, deaths;
    size_t evicted; /* pods that nobody may evict */
    bool sold_out;
};

/* Small machines, so that there are some: budgets, waves and moves of several are of no account in a fleet of one. */
#define OFFERING(zone_, price_)                                                                    \
    "{\"Price\":" price_ ",\"Requirements\":[{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":["     \
    "\"on-demand\"]},{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"" zone_ "\"]}]}"
#define TYPE(cpu_, memory_, price_)                                                                \
    "{\"name\":\"c" cpu_ "\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"" cpu_     \
    "\",\"memory\":\"" memory_ "\"},\"offerings\":[" OFFERING("test-zone-a", price_) "," OFFERING("test-zone-b", price_) "]}"
static const char catalogue[] = "[" TYPE("4", "8Gi", "0.4") "," TYPE("8", "16Gi", "0.7") "]";

static unsigned roll(struct life *f, unsigned below)
{
    f->chance = f->chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(f->chance >> 33) % below;
}

static void load_kept(struct sim *s)
{
    load(s, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kept, namespace: default}\n"
            "spec:\n  replicas: 2\n  selector: {matchLabels: {app: kept}}\n"
            "  template:\n    metadata: {labels: {app: kept}, annotations: {karpenter.sh/do-not-disrupt: 'true'}}\n"
            "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 500m}}}]}\n");
    load(s, deployment_yaml("guarded", KEPT, "500m", ""));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: guarded, namespace: default}\n"
            "spec: {maxUnavailable: 0, selector: {matchLabels: {app: guarded}}}\n");
}

/* Nobody may evict these, and nobody scales them. */
static wall_ms look(void *user, wall_ms now)
{
    struct life *f = user;
    json_t *pods, *pod;
    size_t i;
    (void)now;
    if (sim_cluster_version(sim_cluster(f->s)) == f->version)
        return INT64_MAX;
    f->version = sim_cluster_version(sim_cluster(f->s));
    pods = objects_of(f->s, KIND_POD);
    json_array_foreach(pods, i, pod) {
        struct span app = tree_string(pod, "metadata.labels.app");
        if ((span_eq(app, SPAN("kept")) || span_eq(app, SPAN("guarded"))) &&
            tree_get(pod, "metadata.deletionTimestamp") != NULL)
            f->evicted++;
    }
    json_decref(pods);
    return INT64_MAX;
}

static double fleet_price(struct sim *s)
{
    json_t *nodes = objects_of(s, KIND_NODE), *node;
    double sum = 0;
    size_t i;
    json_array_foreach(nodes, i, node) {
        json_t *type = json_object_get(tree_get(node, "metadata.labels"), "node.kubernetes.io/instance-type");
        sum += strcmp(json_string_value(type), "c8") == 0 ? 0.7 : 0.4;
    }
    json_decref(nodes);
    return sum;
}

/* The next leader dies some writes from now. */
static void arm(struct life *f)
{
    f->deaths += f->crash.done;
    f->crash = (struct crash){.at = 1 + roll(f, 25), .after = roll(f, 2) != 0};
}

static void change(struct life *f)
{
    char spec[128];
    snprintf(spec, sizeof(spec), "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"v%u\"}}}}}", f->changes++);
    patch_pool(f->s, spec);
}

static void step(struct life *f)
{
    switch (roll(f, 4)) {
    case 0:
        change(f);
        break;
    case 1:
        arm(f);
        break;
    default:
        scale(f->s, roll(f, 2) != 0 ? "web" : "api", (int)roll(f, 30));
        break;
    }
    run_for(f->s, (span_ms)(1 + roll(f, 90)) * MS_SECOND);
}

static bool in_stock(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)type, (void)zone, (void)capacity_type;
    return !((struct life *)user)->sold_out;
}

static void begin(struct life *f, unsigned seed)
{
    char disruption[160];
    snprintf(disruption, sizeof(disruption), "{\"consolidateAfter\":\"%us\",\"budgets\":[{\"nodes\":\"%d\"}]}",
             seed % 3 * 10, BUDGET);
    *f = (struct life){.chance = seed, .crash = {.unarmed = true},
                       .l = {.restart_after = 2 * MS_SECOND, .catalogue = catalogue}};
    f->l.faults = crash_faults(&f->crash);
    f->l.in_stock = in_stock;
    f->l.in_stock_user = f;
    f->s = new_sim(node_class_yaml());
    load(f->s, pool_yaml("general", disruption, ""));
    load_kept(f->s);
    load(f->s, deployment_yaml("web", 12, "900m", ""));
    load(f->s, deployment_yaml("api", 6, "2500m", ""));
    watch(&f->watch, f->s);
    sim_add_actor(f->s, (struct sim_actor){.user = f, .step = look});
    loop_begin(&f->l, f->s);
}

/* Whether pods stand there that nobody may evict: then the node stays as it is. */
static bool is_held(struct sim *s, const char *node)
{
    return count_pods(s, "kept", node) + count_pods(s, "guarded", node) != 0;
}

/* Nodes that might have been replaced, and are not of the template of now. */
static size_t count_drifted(struct life *f)
{
    json_t *nodes = objects_of(f->s, KIND_NODE), *node;
    char now[16];
    size_t i, n = 0;
    snprintf(now, sizeof(now), "v%u", f->changes - 1);
    json_array_foreach(nodes, i, node) {
        json_t *label = json_object_get(tree_get(node, "metadata.labels"), "new");
        bool is_new = f->changes == 0 || (label != NULL && strcmp(json_string_value(label), now) == 0);
        n += !is_new && !is_held(f->s, json_string_value(tree_get(node, "metadata.name")));
    }
    json_decref(nodes);
    return n;
}

static size_t count_reasons(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *one, *c;
    size_t i, k, n = 0;
    json_array_foreach(all, i, one)
        json_array_foreach(tree_get(one, "status.conditions"), k, c)
            n += span_eq(tree_string(c, "type"), SPAN("DisruptionReason")) &&
                 span_eq(tree_string(c, "status"), SPAN("True"));
    json_decref(all);
    return n;
}

/* Long enough for any command to have ended, one that is taken back included. */
static void settle(struct life *f, int web, int api)
{
    scale(f->s, "web", web);
    scale(f->s, "api", api);
    run_for(f->s, 30 * MS_MINUTE);
    f->deaths += f->crash.done;
    f->crash = (struct crash){.unarmed = true};
    run_for(f->s, 20 * MS_MINUTE);
    expect_calm(f->s, web);
    assert_int_equal(count_bound(f->s, "api"), api);
    assert_int_equal(count_bound(f->s, "kept"), KEPT);
    assert_int_equal(count_bound(f->s, "guarded"), KEPT);
    assert_int_equal(count_reasons(f->s), 0);
    assert_int_equal(f->l.moves.under_way, 0);
    assert_int_equal(count_drifted(f), 0);
    if (f->watch.most_leaving > BUDGET || f->evicted != 0)
        fail_msg("%zu left at a time, %zu evictions of who may not be", f->watch.most_leaving, f->evicted);
}

/* 148: nothing can be had in place of what has drifted: whoever was marked for it loses the marks, whoever leads by then. */
static void sell_out(struct life *f)
{
    size_t before = count_objects(f->s, KIND_NODE);
    f->sold_out = true;
    change(f);
    arm(f);
    run_for(f->s, 15 * MS_MINUTE);
    for (int i = 0; i < 1800 && f->l.moves.under_way != 0; i++)
        run_for(f->s, MS_SECOND);
    assert_int_equal(f->l.moves.under_way, 0);
    run_for(f->s, 2 * MS_SECOND);
    assert_int_equal(f->l.moves.under_way, 0);
    assert_int_equal(count_marked(f->s), 0);
    assert_int_equal(count_reasons(f->s), 0);
    assert_int_equal(count_objects(f->s, KIND_NODE), before);
    f->sold_out = false;
}

/* Then what is asked for shrinks once, by half: nothing that consolidation does from there on makes the fleet dearer. */
static unsigned live(unsigned seed)
{
    struct life f;
    begin(&f, seed);
    run_for(f.s, MS_MINUTE);
    for (unsigned i = 0; i < STEPS; i++)
        step(&f);
    settle(&f, 20, 10);
    double before = fleet_price(f.s);
    arm(&f);
    settle(&f, 10, 5);
    double after = fleet_price(f.s);
    if (after > before + 1e-9)
        fail_msg("half as much costs $%.1f, and $%.1f before", after, before);
    sell_out(&f);
    unsigned deaths = f.deaths + f.crash.done;
    loop_end(&f.l);
    return deaths;
}

static void whatever_happens(void **state)
{
    (void)state;
    unsigned deaths = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        print_message("seed %u\n", seed);
        deaths += live(seed);
    }
    print_message("%u leaders died\n", deaths);
    assert_true(deaths > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_happens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
