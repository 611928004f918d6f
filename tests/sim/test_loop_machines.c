/* NodePools on Cluster API, the whole loop beside a stand-in for its controllers: a claim gets a Machine of its own, sizes go up
 * and down by as many as are needed, and nothing is bought twice or forgotten, whenever the process dies. */
#include <stdio.h>
#include <string.h>

#include "cloud/machines.h"
#include "tests/sim/support_crash.h"
#include "tests/sim/support_loop.h"
#include "tests/sim/support_machines.h"

#define CLASS                                                                                                           \
    "---\n{apiVersion: karpenter.cluster.x-k8s.io/v1alpha1, kind: ClusterAPINodeClass, metadata: {name: default}, spec: {"   \
    "scalableResourceSelector: {matchLabels: {color: green}}}, status: {conditions: [{type: Ready, status: 'True', reason: " \
    "Ready, message: '', lastTransitionTime: '2024-01-01T01:01:01Z'}]}}\n"
#define POOL                                                                                                            \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {disruption: {consolidateAfter: 0s}, "  \
    "template: {spec: {expireAfter: Never, requirements: [], nodeClassRef: {group: karpenter.cluster.x-k8s.io, kind: "       \
    "ClusterAPINodeClass, name: default}}}}}\n"
#define DEPLOYMENT(name_, replicas_, price_, more_)                                                                     \
    "---\n{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, metadata: {name: " name_ ", namespace: apps, labels: "   \
    "{color: green, node.cluster.x-k8s.io/karpenter-member: ''}, annotations: {capacity.cluster-autoscaler.kubernetes.io/cpu: " \
    "'4', capacity.cluster-autoscaler.kubernetes.io/memory: 8Gi, stowage.dev/price: '" price_ "'" more_ "}}, spec: {"          \
    "clusterName: one, replicas: " replicas_ ", selector: {matchLabels: {of: " name_ "}}, template: {metadata: {labels: {of: " \
    name_ "}}}}}\n"
#define MAX(max_) ", cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '" max_ "'"

struct desk {
    struct loop loop;
    struct sim *sim;
    struct machine_keeper keeper;
    struct census machines;
};

static void begin_with(struct desk *d, const char *deployments)
{
    d->sim = new_sim(CLASS POOL);
    load(d->sim, deployments);
    machine_keeper_begin(&d->keeper, d->sim);
    d->loop.on_machines = true;
    loop_begin(&d->loop, d->sim);
    census_begin(&d->machines, d->sim, KIND_MACHINE);
}

static void begin(struct desk *d, const char *deployments)
{
    *d = (struct desk){0};
    begin_with(d, deployments);
}

static void end(struct desk *d)
{
    census_end(&d->machines);
    machine_keeper_end(&d->keeper); /* the sim goes with the loop */
    loop_end(&d->loop);
}

static int64_t size_of(struct desk *d, const char *name)
{
    json_t *o = object_of(d->sim, KIND_MACHINE_DEPLOYMENT, "apps", name);
    int64_t n = tree_int(o, "spec.replicas", -1);
    json_decref(o);
    return n;
}

/* Machines of claims that are there; each claim has one at most. */
static size_t owned(struct desk *d)
{
    json_t *machines = objects_of(d->sim, KIND_MACHINE), *claims = objects_of(d->sim, KIND_NODE_CLAIM), *m, *c;
    size_t i, k, count = 0;
    json_array_foreach(claims, k, c)
    {
        size_t of = 0;
        json_array_foreach(machines, i, m)
        {
            const json_t *uid = json_object_get(tree_get(m, "metadata.annotations"), "stowage.dev/nodeclaim-uid");
            if (json_is_string(uid) && strcmp(json_string_value(uid), json_string_value(tree_get(c, "metadata.uid"))) == 0)
                of++;
        }
        assert_true(of <= 1);
        count += of;
    }
    json_decref(machines);
    json_decref(claims);
    return count;
}

static void expect(struct desk *d, const char *label, size_t claims, size_t machines)
{
    size_t has = count_objects(d->sim, KIND_NODE_CLAIM), there = count_objects(d->sim, KIND_MACHINE), of = owned(d);
    if (has != claims || there != machines || of != claims)
        fail_msg("%s: %zu claims that have %zu of %zu Machines; want %zu and %zu", label, has, of, there, claims, machines);
}

static void a_claim_takes_a_machine_of_the_cheapest(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("dear", "0", "0.3", "") DEPLOYMENT("cheap", "0", "0.2", ""));
    load(d.sim, deployment_yaml("web", 3, "3500m", ""));
    run_for(d.sim, 60 * MS_SECOND);
    assert_int_equal(count_bound(d.sim, "web"), 3);
    expect(&d, "up", 3, 3);
    assert_int_equal(size_of(&d, "cheap"), 3);
    assert_int_equal(size_of(&d, "dear"), 0);
    assert_int_equal(census_count(&d.machines), 3);
    scale(d.sim, "web", 1);
    run_for(d.sim, 120 * MS_SECOND);
    expect(&d, "down", 1, 1);
    assert_int_equal(size_of(&d, "cheap"), 1);
    assert_int_equal(count_bound(d.sim, "web"), 1);
    assert_int_equal(json_array_size(d.keeper.ended), 2);
    end(&d);
}

/* 221: its end is asked for again every five seconds, until it has come; its Node and its claim stay as long. */
static void a_machine_that_takes_long_to_end_is_waited_for(void **state)
{
    (void)state;
    struct desk d = {.loop = {.keeps = true, .wakes = true}};
    uint32_t calls = 0;
    begin_with(&d, DEPLOYMENT("cheap", "0", "0.2", ""));
    load(d.sim, deployment_yaml("web", 1, "3500m", ""));
    run_for(d.sim, 60 * MS_SECOND);
    expect(&d, "up", 1, 1);
    d.keeper.lingers = true;
    json_t *claim = only(d.sim, KIND_NODE_CLAIM);
    const char *name = json_string_value(tree_get(claim, "metadata.name"));
    scale(d.sim, "web", 0);
    do_request(d.sim, API_DELETE, KIND_NODE_CLAIM, NULL, name, NULL, 200);
    run_for(d.sim, 15 * MS_SECOND);
    buf_clear(&d.loop.history);
    run_for(d.sim, MS_MINUTE);
    for (struct span rest = buf_span(&d.loop.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        calls += span_has_prefix(line, SPAN("karpenter_cloudprovider_duration_seconds ")) &&
                 span_contains(line, SPAN(" method=Delete "));
    }
    assert_in_range(calls, 10, 13);
    assert_int_equal(count_objects(d.sim, KIND_NODE), 1);
    assert_int_equal(count_objects(d.sim, KIND_NODE_CLAIM), 1);
    d.keeper.lingers = false;
    machine_keeper_look(&d.keeper);
    run_for(d.sim, 10 * MS_SECOND);
    assert_int_equal(count_objects(d.sim, KIND_NODE_CLAIM), 0);
    assert_int_equal(count_objects(d.sim, KIND_NODE), 0);
    json_decref(claim);
    end(&d);
}

static void a_machine_that_nobody_has_is_taken_first(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", "1", "0.2", MAX("1")));
    run_for(d.sim, 10 * MS_SECOND);
    load(d.sim, deployment_yaml("web", 1, "3500m", ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"general\"}"));
    run_for(d.sim, 60 * MS_SECOND);
    assert_int_equal(count_bound(d.sim, "web"), 1);
    expect(&d, "taken", 1, 1);
    assert_int_equal(size_of(&d, "md"), 1);
    end(&d);
}

static void where_one_is_full_another_is_bought(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("dear", "0", "0.3", MAX("5")) DEPLOYMENT("cheap", "0", "0.2", MAX("1")));
    load(d.sim, deployment_yaml("web", 3, "3500m", ""));
    run_for(d.sim, 90 * MS_SECOND);
    assert_int_equal(count_bound(d.sim, "web"), 3);
    expect(&d, "both", 3, 3);
    assert_int_equal(size_of(&d, "cheap"), 1);
    assert_int_equal(size_of(&d, "dear"), 2);
    end(&d);
}

static void a_machine_that_fails_is_ended_and_another_is_bought(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("dear", "0", "0.3", "") DEPLOYMENT("cheap", "0", "0.2", ""));
    d.keeper.fails = true;
    load(d.sim, deployment_yaml("web", 1, "3500m", ""));
    run_for(d.sim, 3 * MS_SECOND);
    d.keeper.fails = false;
    run_for(d.sim, 100 * MS_SECOND);
    assert_int_equal(count_bound(d.sim, "web"), 1);
    expect(&d, "after", 1, 1);
    assert_int_equal(size_of(&d, "cheap"), 0);
    assert_int_equal(size_of(&d, "dear"), 1);
    end(&d);
}

/* ---- who comes in between ---- */

struct meddler { /* the first that take a Machine are refused it, since somebody has written it, or hear nothing */
    struct desk desk;
    int refused, lost;
    char written[64]; /* whose newer version is not there yet */
};

static enum sim_fate meddle(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct meddler *m = user;
    (void)number;
    if (r->kind != KIND_MACHINE || r->verb != API_MERGE || m->refused + m->lost == 0)
        return SIM_PASS;
    if (m->lost > 0) {
        m->lost--;
        return SIM_LOSE;
    }
    m->refused--;
    *refusal = (struct sim_refusal){.status = 409, .reason = "Conflict", .message = "the object has been modified"};
    snprintf(m->written, sizeof(m->written), "%.*s", SPAN_ARG(r->name));
    return SIM_REFUSE;
}

static void live_with(struct meddler *m, span_ms time)
{
    for (span_ms t = 0; t < time; t += MS_SECOND) {
        run_for(m->desk.sim, MS_SECOND);
        if (m->written[0] != '\0')
            do_request(m->desk.sim, API_MERGE, KIND_MACHINE, "apps", m->written, "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", 200);
        m->written[0] = '\0';
    }
}

/* It is taken a little later, and none is asked for in its place. */
static void a_machine_that_could_not_be_taken_yet_is_waited_for(void **state)
{
    (void)state;
    static const struct row {
        const char *label;
        int refused, lost;
    } rows[] = {{"written by another", 1, 0}, {"the request was lost", 0, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct meddler m = {.refused = rows[i].refused, .lost = rows[i].lost};
        struct desk *d = &m.desk;
        d->loop.faults = (struct sim_faults){.user = &m, .before = meddle};
        begin_with(d, DEPLOYMENT("md", "0", "0.2", ""));
        load(d->sim, deployment_yaml("web", 2, "3500m", ""));
        live_with(&m, 60 * MS_SECOND);
        expect(d, rows[i].label, 2, 2);
        if (census_count(&d->machines) != 2 || size_of(d, "md") != 2 || count_bound(d->sim, "web") != 2)
            fail_msg("%s: %zu Machines were made, of %lld that are asked for", rows[i].label, census_count(&d->machines),
                     (long long)size_of(d, "md"));
        end(d);
    }
}

static void one_of_another_template_drifts(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", "0", "0.2", ", capacity.cluster-autoscaler.kubernetes.io/labels: disk=old"));
    load(d.sim, deployment_yaml("web", 1, "3500m", ""));
    run_for(d.sim, 60 * MS_SECOND);
    json_t *before = only(d.sim, KIND_NODE_CLAIM);
    do_request(d.sim, API_MERGE, KIND_MACHINE_DEPLOYMENT, "apps", "md",
               "{\"metadata\":{\"annotations\":{\"capacity.cluster-autoscaler.kubernetes.io/labels\":\"disk=new\"}}}", 200);
    run_for(d.sim, 10 * MS_MINUTE);
    json_t *after = only(d.sim, KIND_NODE_CLAIM);
    assert_string_not_equal(json_string_value(tree_get(before, "metadata.name")), json_string_value(tree_get(after, "metadata.name")));
    assert_int_equal(size_of(&d, "md"), 1);
    json_decref(before);
    json_decref(after);
    end(&d);
}

/* karpenter-provider-cluster-api labels the Machine, and knows the rest by the claim's providerID. */
static void what_upstream_has_bought_is_kept_and_given_back(void **state)
{
    (void)state;
    struct desk d;
    begin(&d, DEPLOYMENT("md", "1", "0.2", ""));
    run_for(d.sim, 3 * MS_SECOND);
    json_t *machine = only(d.sim, KIND_MACHINE);
    const char *name = json_string_value(tree_get(machine, "metadata.name"));
    do_request(d.sim, API_MERGE, KIND_MACHINE, "apps", name,
               "{\"metadata\":{\"labels\":{\"node.cluster.x-k8s.io/karpenter-member\":\"\"}}}", 200);
    char claim[1024];
    snprintf(claim, sizeof(claim),
             "---\n{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: old, uid: of-old, finalizers: [karpenter.sh/termination], "
             "labels: {karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: md, karpenter.sh/capacity-type: on-demand, "
             "karpenter.cluster.x-k8s.io/clusterapinodeclass: default}}, "
             "spec: {expireAfter: Never, requirements: [], nodeClassRef: {group: karpenter.cluster.x-k8s.io, kind: ClusterAPINodeClass, "
             "name: default}}, status: {providerID: 'fake:///zone/%s', capacity: {cpu: '4', memory: 8Gi, pods: '110'}, allocatable: "
             "{cpu: '4', memory: 8Gi, pods: '110'}, conditions: [{type: Launched, status: 'True', reason: Launched, message: '', "
             "lastTransitionTime: '2024-01-01T01:01:01Z'}]}}",
             name);
    load(d.sim, claim);
    load(d.sim, deployment_yaml("web", 1, "3500m", ""));
    run_for(d.sim, 60 * MS_SECOND);
    assert_int_equal(count_bound(d.sim, "web"), 1);
    assert_int_equal(count_objects(d.sim, KIND_NODE_CLAIM), 1);
    assert_int_equal(count_objects(d.sim, KIND_MACHINE), 1);
    scale(d.sim, "web", 0);
    run_for(d.sim, 120 * MS_SECOND);
    expect(&d, "given back", 0, 0);
    assert_int_equal(size_of(&d, "md"), 0);
    json_decref(machine);
    end(&d);
}

/* ---- whenever it dies ---- */

static bool play(uint64_t at, bool after)
{
    struct crash c = {.at = at, .after = after};
    struct desk d = {.loop = {.restart_after = 2 * MS_SECOND, .faults = crash_faults(&c)}};
    char label[64];
    snprintf(label, sizeof(label), "killed %s write %llu", after ? "after" : "before", (unsigned long long)at);
    begin_with(&d, DEPLOYMENT("md", "0", "0.2", MAX("3")));
    load(d.sim, deployment_yaml("web", 2, "3500m", ""));
    run_for(d.sim, 90 * MS_SECOND);
    if (count_bound(d.sim, "web") != 2 || census_count(&d.machines) != 2 || size_of(&d, "md") != 2)
        fail_msg("%s: %zu pods bound, %zu Machines in all, size %lld", label, count_bound(d.sim, "web"),
                 census_count(&d.machines), (long long)size_of(&d, "md"));
    expect(&d, label, 2, 2);
    scale(d.sim, "web", 1);
    run_for(d.sim, 150 * MS_SECOND);
    expect(&d, label, 1, 1);
    if (size_of(&d, "md") != 1 || count_bound(d.sim, "web") != 1 || json_array_size(d.keeper.ended) != 1)
        fail_msg("%s: down to %lld, %zu pods bound, %zu Machines chosen", label, (long long)size_of(&d, "md"),
                 count_bound(d.sim, "web"), json_array_size(d.keeper.ended));
    end(&d);
    return c.done;
}

static void no_machine_is_bought_twice_or_forgotten(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t k = 1;
        while (play(k, after != 0))
            k++;
        assert_true(k > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_takes_a_machine_of_the_cheapest),
        cmocka_unit_test(a_machine_that_takes_long_to_end_is_waited_for),
        cmocka_unit_test(a_machine_that_nobody_has_is_taken_first),
        cmocka_unit_test(where_one_is_full_another_is_bought),
        cmocka_unit_test(a_machine_that_fails_is_ended_and_another_is_bought),
        cmocka_unit_test(a_machine_that_could_not_be_taken_yet_is_waited_for),
        cmocka_unit_test(one_of_another_template_drifts),
        cmocka_unit_test(what_upstream_has_bought_is_kept_and_given_back),
        cmocka_unit_test(no_machine_is_bought_twice_or_forgotten),
    };
    return cmocka_run_group_tests_name("loop_machines", tests, NULL, NULL);
}
