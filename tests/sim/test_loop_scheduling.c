/* What a pass tells of itself: Events and metrics under the names that people look for. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static struct sim *cluster(const char *more)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", more));
    return s;
}

static uint32_t times(const struct loop *l, const char *text)
{
    uint32_t n = 0;
    const char *at = l->history.ptr != NULL ? l->history.ptr : "";
    while ((at = strstr(at, text)) != NULL) {
        n++;
        at += strlen(text);
    }
    return n;
}

static void told(const struct loop *l, const char *text)
{
    if (times(l, text) == 0)
        fail_msg("not told: %s\nbut:\n%s", text, l->history.ptr);
}

static void not_told(const struct loop *l, const char *text)
{
    if (times(l, text) != 0)
        fail_msg("told: %s\nin:\n%s", text, l->history.ptr);
}

/* Copies the scheduling_id that follows the text, where it comes first. */
static void id_after(const struct loop *l, const char *text, char out[32])
{
    const char *at = strstr(l->history.ptr, text);
    if (at == NULL)
        fail_msg("not told: %s\nbut:\n%s", text, l->history.ptr);
    snprintf(out, 32, "%.*s", (int)strcspn(at + strlen(text), " \n"), at + strlen(text));
}

#define DEPTH "karpenter_scheduler_queue_depth controller=provisioner scheduling_id="
#define SOLVE "karpenter_scheduler_scheduling_duration_seconds controller=provisioner "
#define UNFINISHED "karpenter_scheduler_unfinished_work_seconds controller=provisioner scheduling_id="
#define ZONES "karpenter_scheduler_pending_pods_by_effective_zone_count controller=provisioner zone="

/* 208: how much waits is shown while planning goes on, how long it took when it is over. */
static void a_solve_shows_what_it_works_on(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    char id[32], line[1024];
    load(s, deployment_yaml("web", 2, "500m",
                            ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-a\"}"));
    load(s, deployment_yaml("large", 1, "5000", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    id_after(&l, DEPTH, id);
    snprintf(line, sizeof(line),
             ZONES "flexible 1\n" ZONES "test-zone-a 2\n" DEPTH "%s 3\n"
             "karpenter_scheduler_unschedulable_pods_count controller=provisioner 0\n" UNFINISHED "%s 0\n",
             id, id);
    told(&l, line);
    snprintf(line, sizeof(line),
             "karpenter_scheduler_scheduling_duration_seconds controller=provisioner 0\n" UNFINISHED
             "%s gone\n" DEPTH "%s 3\nkarpenter_scheduler_ignored_pods_count 0\n"
             "karpenter_scheduler_unschedulable_pods_count controller=provisioner 1\n",
             id, id);
    told(&l, line);
    /* the next one has an id of its own, and what is no more goes */
    snprintf(line, sizeof(line), DEPTH "%s gone\n", id);
    told(&l, line);
    told(&l, ZONES "test-zone-a gone\n");
    told(&l, "karpenter_nodeclaims_created_total reason=provisioned nodepool=general min_values_relaxed=false 1\n");
    loop_end(&l);
}

/* 2.11: the time to the first decision is observed once a pod, whatever is decided. */
static void each_pod_is_decided_on_once(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .options = {.batch_idle = 2 * MS_SECOND, .batch_max = 10 * MS_SECOND}};
    struct sim *s = cluster("");
    load(s, deployment_yaml("web", 2, "500m", ""));
    load(s, deployment_yaml("large", 1, "5000", ""));
    loop_begin(&l, s);
    run_for(s, 2 * MS_MINUTE);
    assert_true(times(&l, DEPTH) > 4); /* planned again and again */
    assert_int_equal(times(&l, "karpenter_pods_scheduling_decision_duration_seconds"), 3);
    assert_int_equal(times(&l, "karpenter_pods_scheduling_decision_duration_seconds 0\n"), 0);
    loop_end(&l);
}

enum { SHAPES = 40 };

/* Nothing is learned from the one before. */
static void load_shapes(struct sim *s)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        char name[16], cpu[16];
        snprintf(name, sizeof(name), "web%u", i);
        snprintf(cpu, sizeof(cpu), "%um", 20000 + i);
        load(s, deployment_yaml(name, 5, cpu, ""));
    }
}

static void expect_shapes_bound(struct sim *s)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "web%u", i);
        assert_int_equal(count_bound(s, name), 5);
    }
}

/* A clock on which a plan takes forever: each is stopped, says so, and the next goes on from its places. */
static void a_solve_has_an_end(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .look_ns = 3000000000,
                     .options = {.batch_idle = 2 * MS_SECOND, .batch_max = 10 * MS_SECOND}};
    struct sim *s = cluster("");
    load_shapes(s);
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_non_null(strstr(l.last[DECISION_PLAN], "the search was stopped after 10 s"));
    run_for(s, 5 * MS_MINUTE);
    expect_shapes_bound(s);
    loop_end(&l);
}

/* While it takes long nobody takes it for dead; who is deposed in the middle of it buys nothing any more. */
static void a_solve_shows_life_and_ends_when_it_is_for_nobody(void **state)
{
    (void)state;
    struct loop l = {.deposed_at = 20,
                     .options = {.batch_idle = 2 * MS_SECOND, .batch_max = 10 * MS_SECOND}};
    struct sim *s = cluster("");
    load_shapes(s);
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_true(l.beats >= l.deposed_at);
    assert_int_equal(l.decided[DECISION_PLAN], 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    l.deposed_at = 0; /* the Lease was renewed at the last moment */
    run_for(s, 2 * MS_MINUTE);
    expect_shapes_bound(s);
    loop_end(&l);
}

#define BOUND "karpenter_pods_bound_duration_seconds dynamic_resources="
#define UNBOUND "karpenter_pods_unbound_time_seconds name="
#define PLANNED_BOUND "karpenter_pods_provisioning_bound_duration_seconds dynamic_resources="
#define PLANNED_UNBOUND "karpenter_pods_provisioning_unbound_time_seconds name="
#define ONE_POD "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},\"spec\":{%s\"containers\":[{" \
                "\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"500m\"}}}]}}"

static void pod(struct sim *s, const char *name, const char *more)
{
    char text[512];
    snprintf(text, sizeof(text), ONE_POD, name, more);
    do_request(s, API_CREATE, KIND_POD, "default", name, text, 201);
}

/* As a binding does; the API takes none, so the pod comes anew as it would be then. */
static void pod_bind(struct sim *s, const char *name, const char *node)
{
    json_t *o = object_of(s, KIND_POD, "default", name);
    tree_set(o, "spec.nodeName", json_string(node));
    struct buf text = {0};
    tree_put(&text, o);
    buf_add_char(&text, '\0');
    load(s, text.ptr);
    buf_release(&text);
    json_decref(o);
}

static void says(const struct loop *l, const char *format, const char *name)
{
    char line[256];
    snprintf(line, sizeof(line), format, name);
    told(l, line);
}

static bool sold_out;

static bool unless_sold_out(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)user;
    (void)type;
    (void)zone;
    (void)capacity_type;
    return !sold_out;
}

/* 197: how long a pod waited for a node, and how long since the plans have had a place for it all the
 * time: a plan without one begins that anew. */
static void pods_are_timed_until_they_are_bound(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .options = {.max_hourly_price = 0.001}}; /* nothing is bought */
    struct sim *s = cluster("");
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    pod(s, "web", "");
    run_for(s, 30 * MS_SECOND);
    says(&l, UNBOUND "%s namespace=default dynamic_resources=false 0\n", "web");
    says(&l, PLANNED_UNBOUND "%s namespace=default dynamic_resources=false ", "web");
    not_told(&l, PLANNED_UNBOUND "web namespace=default dynamic_resources=false gone\n");
    do_request(s, API_DELETE, KIND_NODE_POOL, NULL, "general", NULL, 200);
    run_for(s, 20 * MS_SECOND);
    says(&l, PLANNED_UNBOUND "%s namespace=default dynamic_resources=false gone\n", "web");
    load(s, pool_yaml("general", "", ""));
    run_for(s, 20 * MS_SECOND);
    not_told(&l, UNBOUND "web namespace=default dynamic_resources=false gone\n");
    not_told(&l, "_bound_duration_seconds");
    load(s, ready_node_yaml("n1", "4", "8Gi"));
    run_for(s, 5 * MS_SECOND);
    says(&l, UNBOUND "%s namespace=default dynamic_resources=false gone\n", "web");
    assert_int_equal(times(&l, BOUND "false "), 1);
    assert_int_equal(times(&l, PLANNED_BOUND "false "), 1);
    const char *all = strstr(l.history.ptr, BOUND "false ") + strlen(BOUND "false ");
    const char *since = strstr(l.history.ptr, PLANNED_BOUND "false ") + strlen(PLANNED_BOUND "false ");
    assert_in_range((uintmax_t)strtod(all, NULL), 70, 72);
    assert_in_range((uintmax_t)strtod(since, NULL), 5, 20);
    l.history.len = 0;
    l.history.ptr[0] = '\0';
    run_for(s, MS_MINUTE); /* nothing is observed twice */
    not_told(&l, "_bound_duration_seconds");
    not_told(&l, UNBOUND);
    loop_end(&l);
}

/* A pod that is long in starting is remembered until it is ready, and counted once. Who was bound before it was
 * seen is not. */
static void pods_are_timed_until_they_are_ready(void **state)
{
    (void)state;
#define STARTUP "karpenter_pods_startup_duration_seconds "
    struct loop l = {.keeps = true};
    struct sim *s = new_sim_with(&(struct sim_options){.delays = {.pod_start = 45 * MS_SECOND}},
                                 node_class_yaml());
    load(s, ready_node_yaml("n1", "4", "8Gi"));
    pod(s, "early", "");
    run_for(s, 2 * MS_SECOND);
    loop_begin(&l, s);
    run_for(s, 2 * MS_SECOND);
    pod(s, "web", "\"schedulingGates\":[{\"name\":\"later\"}],");
    run_for(s, 2 * MS_SECOND);
    pod_bind(s, "web", "n1");
    run_for(s, 30 * MS_SECOND);
    not_told(&l, STARTUP);
    run_for(s, MS_MINUTE);
    assert_int_equal(times(&l, STARTUP), 1);
    assert_in_range((uintmax_t)strtod(strstr(l.history.ptr, STARTUP) + strlen(STARTUP), NULL), 46, 49);
    told(&l, "controller_runtime_reconcile_total controller=stowage result=success 1\n");
    told(&l, "controller_runtime_reconcile_time_seconds controller=stowage ");
    loop_end(&l);
}

/* 230: pods with devices are told apart; what is deleted is shown no longer. */
static void pods_with_devices_are_told_apart(void **state)
{
    (void)state;
    static const char devices[] = "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":\"g\"}],";
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    loop_begin(&l, s);
    run_for(s, 5 * MS_SECOND);
    pod(s, "gpu", devices);
    pod(s, "gone", devices);
    run_for(s, 30 * MS_SECOND);
    says(&l, UNBOUND "%s namespace=default dynamic_resources=true ", "gpu");
    says(&l, "event FailedScheduling %s: Failed to schedule pod, ", "gpu");
    not_told(&l, PLANNED_UNBOUND "gpu");
    do_request(s, API_DELETE, KIND_POD, "default", "gone", NULL, 200);
    run_for(s, 30 * MS_SECOND);
    says(&l, UNBOUND "%s namespace=default dynamic_resources=true gone\n", "gone");
    not_told(&l, UNBOUND "gpu namespace=default dynamic_resources=true gone\n");
    load(s, ready_node_yaml("n1", "4", "8Gi")); /* to which another scheduler binds it */
    pod_bind(s, "gpu", "n1");
    run_for(s, 2 * MS_SECOND);
    told(&l, BOUND "true ");
    says(&l, UNBOUND "%s namespace=default dynamic_resources=true gone\n", "gpu");
    not_told(&l, PLANNED_BOUND);
    loop_end(&l);
}

/* Errors of the provider say of which pool and of what kind. */
static void errors_of_the_provider_are_sorted(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .in_stock = unless_sold_out};
    struct sim *s = cluster("");
    sold_out = true;
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    told(&l, "karpenter_cloudprovider_errors_total controller=reconciler method=Create provider=kwok "
             "error=InsufficientCapacityError nodepool=general 1\n");
    loop_end(&l);
}

/* Scenario 191 of provisioning, 15 of disruption: a node that a plan has put a pod on does not count as empty for twice the longest window,
 * even when the pod is gone; only then its 15 s begin. */
static void a_nomination_lasts_two_windows(void **state)
{
    (void)state;
    static const struct {
        span_ms batch_max, least;
    } rows[] = {{0, 35 * MS_SECOND}, {30 * MS_SECOND, 75 * MS_SECOND}, {1 * MS_SECOND, 25 * MS_SECOND}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct loop l = {.keeps = true, .options = {.batch_max = rows[i].batch_max}};
        struct sim *s = cluster("");
        load(s, deployment_yaml("web", 1, "500m", ""));
        loop_begin(&l, s);
        run_for(s, 20 * MS_SECOND);
        load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"other\",\"uid\":\"u-other\"},"
                "\"spec\":{\"schedulerName\":\"other\",\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":"
                "\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
                "\"Unschedulable\"}]}}");
        scale(s, "web", 0);
        for (int k = 0; k < 600 && times(&l, "event Nominated other: Pod should schedule on: nodeclaim/") == 0; k++)
            run_for(s, 50);
        told(&l, "event Nominated other: Pod should schedule on: nodeclaim/");
        wall_ms nominated = sim_now(s);
        do_request(s, API_DELETE, KIND_POD, "default", "other", NULL, 200);
        while (count_objects(s, KIND_NODE_CLAIM) != 0 && sim_now(s) < nominated + 2 * MS_MINUTE)
            run_for(s, 100);
        span_ms stayed = sim_now(s) - nominated;
        if (stayed < rows[i].least || stayed > rows[i].least + 12 * MS_SECOND)
            fail_msg("row %zu: it stayed %lld ms, not %lld", i, (long long)stayed, (long long)rows[i].least);
        loop_end(&l);
    }
}

static void events_say_what_becomes_of_pods(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    load(s, deployment_yaml("web", 1, "500m", ""));
    load(s, deployment_yaml("large", 1, "5000", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    told(&l, ": Pod should schedule on: nodeclaim/general-");
    told(&l, ": Failed to schedule pod, asks for 5000 CPUs; the largest type that pool general may buy has ");
    not_told(&l, "event NoCompatibleInstanceTypes");
    loop_end(&l);
}

/* Also who goes between two looks at what waits, when nobody asks for a plan any more. */
static void whoever_is_gone_waits_no_longer(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    load(s, deployment_yaml("large", 2, "5000", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE + 5 * MS_SECOND);
    assert_float_equal(l.measured[MEASURE_UNSCHEDULABLE_PODS], 2, 0);
    scale(s, "large", 0);
    run_for(s, MS_MINUTE);
    assert_float_equal(l.measured[MEASURE_UNSCHEDULABLE_PODS], 0, 0);
    uint32_t solves = times(&l, SOLVE);
    run_for(s, MS_MINUTE);
    assert_int_equal(times(&l, SOLVE), solves);
    loop_end(&l);
}

/* Scenario 12 and 1.2: who asks for no node of a pool is left out in silence, others are told. */
static void who_shuns_pools_is_left_in_peace(void **state)
{
    (void)state;
    static const char shuns[] =
        ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"karpenter.sh/nodepool\","
        "\"operator\":\"DoesNotExist\"}]}]}}}";
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    load(s, deployment_yaml("own", 1, "500m", shuns));
    load(s, deployment_yaml("host", 1, "500m", ",\"nodeSelector\":{\"kubernetes.io/hostname\":\"x\"}"));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    told(&l, "karpenter_scheduler_ignored_pods_count 2\n"
             "karpenter_scheduler_unschedulable_pods_count controller=provisioner 0\n");
    told(&l, "event FailedScheduling host-");
    not_told(&l, "event FailedScheduling own-");
    loop_end(&l);
}

static void without_a_pool_no_pod_is_told(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = new_sim(node_class_yaml());
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    told(&l, DEPTH);
    not_told(&l, "event FailedScheduling");
    loop_end(&l);
}

/* A pool whose requirements leave nothing says so on itself. */
static void a_pool_that_can_buy_nothing_says_so(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster("");
    load(s, "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"none\"},"
            "\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":"
            "\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":\"kubernetes.io/arch\","
            "\"operator\":\"In\",\"values\":[\"s390x\"]}]}}}}");
    load(s, "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"few\"},"
            "\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":"
            "\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":\"kubernetes.io/arch\","
            "\"operator\":\"Exists\",\"minValues\":9}]}}}}");
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    told(&l, "event NoCompatibleInstanceTypes none: NodePool requirements filtered out all compatible available instance types\n");
    told(&l, "event NoCompatibleInstanceTypes few: NodePool requirements filtered out all compatible available instance types "
             "due to minValues incompatibility\n");
    not_told(&l, "event NoCompatibleInstanceTypes general");
    loop_end(&l);
}

static bool nothing(void *user, struct span type, struct span zone, struct span capacity_type)
{
    (void)user;
    (void)type;
    (void)zone;
    (void)capacity_type;
    return false;
}

/* Of the two pods: who stands on a node, who waits. */
static void pod_names(struct sim *s, char bound[64], char waits[64])
{
    json_t *all = objects_of(s, KIND_POD);
    assert_int_equal(json_array_size(all), 2);
    bound[0] = waits[0] = '\0';
    for (size_t i = 0; i < 2; i++) {
        const json_t *pod = json_array_get(all, i);
        snprintf(tree_string(pod, "spec.nodeName").len != 0 ? bound : waits, 64, "%.*s",
                 SPAN_ARG(tree_string(pod, "metadata.name")));
    }
    json_decref(all);
}

/* 227: of two pods that one claim was made for, one has found a node before the launch fails. */
static void a_failed_launch_is_told_to_those_who_wait(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .in_stock = nothing};
    struct sim *s = cluster("");
    char bound[64], waits[64], line[256];
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"spec\":{\"taints\":["
            "{\"key\":\"t\",\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"600m\",\"memory\":"
            "\"8Gi\",\"pods\":\"10\"}}}");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 500); /* all kinds are listed */
    sim_client_break_watch(l.api, KIND_NODE_CLAIM, sim_now(s) + 14 * MS_SECOND, false);
    for (int i = 0; i < 3000 && count_objects(s, KIND_NODE_CLAIM) == 0; i++)
        run_for(s, 10);
    do_request(s, API_MERGE, KIND_NODE, NULL, "n1", "{\"spec\":{\"taints\":null}}", 200);
    run_for(s, MS_MINUTE);
    pod_names(s, bound, waits);
    snprintf(line, sizeof(line), "event InsufficientCapacityError %s: NodeClaim general-", waits);
    told(&l, line);
    told(&l, " nominated for this pod failed to launch: ");
    told(&l, "event InsufficientCapacityError general-"); /* 160: and to the claim itself */
    snprintf(line, sizeof(line), "event InsufficientCapacityError %s", bound);
    not_told(&l, line);
    loop_end(&l);
}

#define OFFER(how, more)                                                                              \
    "{\"price\":0.1,\"available\":true,\"requirements\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":" \
    "\"In\",\"values\":[\"test-zone-a\"]},{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"" \
    how "\"]}" more "}"
static const char one_reserved[] =
    "{\"reservationIDLabel\":\"example.com/reservation\",\"instanceTypes\":[{\"name\":\"small\",\"architecture\":"
    "\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"10\"},"
    "\"offerings\":[" OFFER("on-demand", "]") "," OFFER("reserved", ",{\"key\":\"example.com/reservation\",\"operator\":"
    "\"In\",\"values\":[\"r\"]}],\"reservationCapacity\":1") "]}]}";

/* 4.11: of two pods that need a node each one has the reservation. The other waits for what becomes of that, and
 * nothing is said of it: it is not without a place. */
static void who_waits_for_a_reservation_is_left_in_peace(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .catalogue = one_reserved};
    struct sim *s = new_sim(node_class_yaml());
    char id[32], line[1024];
    load(s, "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"general\"},"
            "\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":"
            "\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":\"kubernetes.io/os\","
            "\"operator\":\"Exists\"}]}}}}");
    load(s, deployment_yaml("web", 2, "3", ""));
    loop_begin(&l, s);
    for (int i = 0; i < 600 && count_objects(s, KIND_NODE_CLAIM) == 0; i++)
        run_for(s, 50);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    id_after(&l, DEPTH, id);
    snprintf(line, sizeof(line),
             DEPTH "%s 2\nkarpenter_scheduler_ignored_pods_count 0\n"
             "karpenter_scheduler_unschedulable_pods_count controller=provisioner 0\n",
             id);
    told(&l, line);
    run_for(s, 2 * MS_MINUTE); /* a pass that knows how it went takes the other */
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    not_told(&l, "event FailedScheduling");
    not_told(&l, "karpenter_scheduler_unschedulable_pods_count controller=provisioner 1\n");
    assert_int_equal(l.decided[DECISION_NO_PLACE], 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solve_shows_what_it_works_on),
        cmocka_unit_test(each_pod_is_decided_on_once),
        cmocka_unit_test(a_solve_has_an_end),
        cmocka_unit_test(a_solve_shows_life_and_ends_when_it_is_for_nobody),
        cmocka_unit_test(pods_are_timed_until_they_are_bound),
        cmocka_unit_test(pods_are_timed_until_they_are_ready),
        cmocka_unit_test(pods_with_devices_are_told_apart),
        cmocka_unit_test(errors_of_the_provider_are_sorted),
        cmocka_unit_test(a_nomination_lasts_two_windows),
        cmocka_unit_test(events_say_what_becomes_of_pods),
        cmocka_unit_test(whoever_is_gone_waits_no_longer),
        cmocka_unit_test(who_shuns_pools_is_left_in_peace),
        cmocka_unit_test(who_waits_for_a_reservation_is_left_in_peace),
        cmocka_unit_test(without_a_pool_no_pod_is_told),
        cmocka_unit_test(a_pool_that_can_buy_nothing_says_so),
        cmocka_unit_test(a_failed_launch_is_told_to_those_who_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
