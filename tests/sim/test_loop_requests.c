/* ProvisioningRequests kept by the whole loop: an in-memory cluster, provider kwok of groups, and a Stowage on the virtual
 * clock. Scenarios 169 to 172 of spec node-groups 8 are named by their numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_crash.h"
#include "tests/sim/support_loop.h"

#define TEMPLATE(name_, cpu_, max_)                                                                                     \
    "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: of-" name_ "\n    labels: {pool: " name_                     \
    ", kubernetes.io/arch: amd64, kubernetes.io/os: linux}\n"                                                           \
    "    annotations: {cluster-autoscaler.kwok.nodegroup/min-count: '0', "                                              \
    "cluster-autoscaler.kwok.nodegroup/max-count: '" max_ "'}\n"                                                        \
    "  status: {capacity: {cpu: " cpu_ ", memory: 16Gi, pods: 110}, allocatable: {cpu: " cpu_                           \
    ", memory: 16Gi, pods: 110}}\n"
#define LIST(items_) "apiVersion: v1\nkind: List\nitems:\n" items_
#define CHECK "check-capacity.autoscaling.x-k8s.io"
#define ATOMIC "best-effort-atomic-scale-up.autoscaling.x-k8s.io"

static const char one_group[] = LIST(TEMPLATE("a", "'4'", "5"));
static const char two_groups[] = LIST(TEMPLATE("a", "'4'", "5") TEMPLATE("b", "'8'", "5"));
static const char pod_template[] = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t, namespace: default}\n"
                                   "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, resources: "
                                   "{requests: {cpu: 1500m}}}]}}\n"; /* two a node of a */

static struct {
    struct loop loop;
    const char *templates;
    bool a_is_sold_out;
} it;

static bool in_stock(void *user, struct span group, int32_t more)
{
    (void)user;
    (void)more;
    return !it.a_is_sold_out || !span_eq(group, SPAN("a"));
}

static struct group_provider *open_groups(struct loop *l)
{
    static const struct group_kwok_text config = {
        SPAN_INIT("apiVersion: v1alpha1\nreadNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
                  "nodes: {skipTaint: true}\nconfigmap: {name: t}\n"),
        SPAN_INIT("config.yaml")};
    struct arena a;
    struct err err;
    struct group_provider *p = NULL;
    struct group_kwok_options o = {.api = l->api, .templates = {span_of(it.templates), SPAN("templates.yaml")},
                                   .in_stock = in_stock};
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &config, &o.config, &err) || (p = group_kwok_new(&o, &err)) == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

static struct sim *begin_with(const char *templates, void (*set)(struct group_settings *s))
{
    memset(&it, 0, sizeof(it));
    it.templates = templates;
    it.loop.groups = group_settings_default();
    it.loop.groups.flags.provisioning_requests = true;
    it.loop.open_groups = open_groups;
    it.loop.keeps = true;
    if (set != NULL)
        set(&it.loop.groups);
    struct sim *s = new_sim("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n");
    loop_begin(&it.loop, s);
    load(s, pod_template);
    return s;
}

static struct sim *begin(void)
{
    return begin_with(one_group, NULL);
}

static void end(void)
{
    loop_end(&it.loop);
}

/* A request for so many pods of the template; `more`: members of its spec, from ", …". */
static void ask(struct sim *s, const char *name, const char *class_name, int pods, const char *more)
{
    char text[640];
    snprintf(text, sizeof(text),
             "apiVersion: autoscaling.x-k8s.io/v1\nkind: ProvisioningRequest\nmetadata: {name: %s, namespace: default}\n"
             "spec: {provisioningClassName: %s, podSets: [{count: %d, podTemplateRef: {name: t}}]%s}\n",
             name, class_name, pods, more);
    load(s, text);
}

/* Pods that use the room of a request. */
static void consume(struct sim *s, const char *app, int pods, const char *key, const char *request)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: default}\n"
             "spec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}, annotations: "
             "{%s: %s}}, spec: {containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}}\n",
             app, pods, app, app, key, request);
    load(s, text);
}

#define CONSUME "autoscaling.x-k8s.io/consume-provisioning-request"

/* "True CapacityIsFound: …"; "" without it. Static storage. */
static const char *condition(struct sim *s, const char *name, const char *type)
{
    static char text[512];
    json_t *r = object_of(s, KIND_PROVISIONING_REQUEST, "default", name);
    json_t *c = tree_condition(r, type);
    text[0] = '\0';
    if (c != NULL)
        snprintf(text, sizeof(text), "%.*s %.*s: %.*s", SPAN_ARG(tree_string(c, "status")), SPAN_ARG(tree_string(c, "reason")),
                 SPAN_ARG(tree_string(c, "message")));
    json_decref(r);
    return text;
}

static void expect(struct sim *s, const char *name, const char *type, const char *want)
{
    const char *got = condition(s, name, type);
    if (strcmp(got, want) != 0)
        fail_msg("%s of %s is \"%s\", not \"%s\"", type, name, got, want);
}

#define FOUND "True CapacityIsFound: Capacity is found in the cluster"
#define GROWN "True CapacityIsProvisioned: Capacity is found in the cluster"
#define NOT_FOUND "False CapacityIsNotFound: Capacity is not found, CA will try to find it later."

static wall_ms tried_at(struct sim *s, const char *name)
{
    json_t *r = object_of(s, KIND_PROVISIONING_REQUEST, "default", name), *c = tree_condition(r, "Provisioned");
    wall_ms at = 0;
    assert_non_null(c);
    assert_true(time_parse(tree_string(c, "lastTransitionTime"), &at));
    json_decref(r);
    return at;
}

static uint32_t told(const char *reason, const char *note)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&it.loop.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, SPAN("event ")) && span_contains(line, span_of(reason)) &&
                 span_contains(line, span_of(note));
    }
    return found;
}

/* So many nodes that nothing runs on. */
static void empty_nodes(struct sim *s, int nodes)
{
    load(s, deployment_yaml("before", 2 * nodes, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    scale(s, "before", 0);
    run_for(s, 10 * MS_SECOND);
}

/* --- check-capacity --- */

/* 169 */
static void room_that_is_there_is_found_and_kept(void **state)
{
    (void)state;
    struct sim *s = begin();
    empty_nodes(s, 1);
    run_for(s, 5 * MS_MINUTE);
    ask(s, "r", CHECK, 2, "");
    run_for(s, 5 * MS_SECOND);
    expect(s, "r", "Accepted", "True Accepted: ProvisioningRequest is accepted by ClusterAutoscaler");
    expect(s, "r", "Provisioned", FOUND);
    assert_int_equal(told("CapacityIsFound r", "Capacity is found in the cluster"), 1);
    run_for(s, 9 * MS_MINUTE + 30 * MS_SECOND); /* its node is unneeded for 14 minutes */
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    expect(s, "r", "BookingExpired", "");
    run_for(s, 1 * MS_MINUTE);
    expect(s, "r", "BookingExpired", "True CapacityReservationTimeExpired: Capacity reservation time is expired");
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    run_for(s, 11 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    end();
}

static void room_that_is_kept_is_not_there_for_another(void **state)
{
    (void)state;
    struct sim *s = begin();
    empty_nodes(s, 1);
    ask(s, "first", CHECK, 2, "");
    run_for(s, 5 * MS_SECOND);
    ask(s, "second", CHECK, 1, "");
    run_for(s, 15 * MS_SECOND);
    expect(s, "first", "Provisioned", FOUND);
    expect(s, "second", "Provisioned", NOT_FOUND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    end();
}

/* 170 */
static void without_retry_it_fails(void **state)
{
    (void)state;
    struct sim *s = begin();
    ask(s, "r", CHECK, 1, ", parameters: {noRetry: 'true'}");
    run_for(s, 15 * MS_SECOND);
    expect(s, "r", "Failed", "True CapacityIsNotFound: CA could not find requested capacity");
    expect(s, "r", "Provisioned", "");
    run_for(s, 30 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    end();
}

/* A minute after the first try, two after the second, four, eight, and then every ten. */
static void tries_are_made_at_longer_and_longer_intervals(void **state)
{
    (void)state;
    static const int minutes[] = {1, 2, 4, 8, 10, 10};
    struct sim *s = begin();
    ask(s, "r", CHECK, 1, "");
    run_for(s, 15 * MS_SECOND);
    expect(s, "r", "Provisioned", NOT_FOUND);
    for (size_t i = 0; i < COUNT_OF(minutes); i++) {
        wall_ms at = tried_at(s, "r");
        run_for(s, minutes[i] * MS_MINUTE + 15 * MS_SECOND);
        span_ms after = tried_at(s, "r") - at;
        if (after < minutes[i] * MS_MINUTE || after > minutes[i] * MS_MINUTE + 12 * MS_SECOND)
            fail_msg("try %zu came after %lld s", i + 2, (long long)(after / MS_SECOND));
    }
    load(s, deployment_yaml("web", 1, "1500m", "")); /* a node has room for one more */
    run_for(s, 11 * MS_MINUTE);
    expect(s, "r", "Provisioned", FOUND);
    end();
}

static void batch(struct group_settings *s)
{
    s->flags.check_batch = 10;
}

static uint32_t found_of(struct sim *s, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "r%u", i);
        found += strcmp(condition(s, name, "Provisioned"), FOUND) == 0;
    }
    return found;
}

/* And where each check takes six seconds, two fit into the time that a batch has. */
static void a_batch_is_checked_in_one_pass_and_else_one_at_a_time(void **state)
{
    (void)state;
    static const struct {
        void (*set)(struct group_settings *s);
        uint64_t look_ns;
        uint32_t most;
    } rows[] = {{NULL, 0, 1}, {batch, 0, 4}, {batch, UINT64_C(6000000000), 2}};
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        uint32_t most = 0, before = 0;
        struct sim *s = begin_with(one_group, rows[row].set);
        empty_nodes(s, 2);
        it.loop.look_ns = rows[row].look_ns;
        for (int i = 0; i < 4; i++)
            ask(s, (const char *[]){"r0", "r1", "r2", "r3"}[i], CHECK, 1, "");
        for (int i = 0; i < 200 && before < 4; i++) {
            run_for(s, 100);
            uint32_t now = found_of(s, 4);
            most = now - before > most ? now - before : most;
            before = now;
        }
        assert_int_equal(before, 4);
        assert_int_equal(most, rows[row].most);
        end();
    }
}

static void instance(struct group_settings *s)
{
    s->flags.check_instance = SPAN("mine-");
}

static void an_instance_sees_to_its_own_alone(void **state)
{
    (void)state;
    struct sim *s = begin_with(one_group, instance);
    empty_nodes(s, 2);
    ask(s, "by-name", "mine-" CHECK, 1, "");
    ask(s, "by-parameter", CHECK, 1, ", parameters: {processorInstance: mine-}");
    ask(s, "of-another", CHECK, 1, ", parameters: {processorInstance: other}");
    ask(s, "of-nobody", CHECK, 1, "");
    ask(s, "growing", ATOMIC, 1, "");
    run_for(s, 1 * MS_MINUTE);
    expect(s, "by-name", "Provisioned", FOUND);
    expect(s, "by-parameter", "Provisioned", FOUND);
    expect(s, "of-another", "Accepted", "");
    expect(s, "of-nobody", "Accepted", "");
    expect(s, "growing", "Accepted", "");
    end();
}

/* --- best-effort-atomic-scale-up --- */

static void groups_grow_for_all_of_it(void **state)
{
    (void)state;
    struct sim *s = begin();
    ask(s, "r", ATOMIC, 6, "");
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 3);
    expect(s, "r", "Accepted", "True Accepted: ProvisioningRequest is accepted by ClusterAutoscaler");
    expect(s, "r", "Provisioned", GROWN);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: setting group a size to 3 instead of 0 (max: 5)"), 1);
    assert_int_equal(told("TriggeredScaleUp r: ", "pod triggered scale-up: [{a 0->3 (max: 5)}]"), 1);
    run_for(s, 9 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 3);
    run_for(s, 15 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0); /* nobody came */
    assert_int_equal(told("ScaledUpGroup", "setting group a size to 3 instead of 0"), 1);
    end();
}

/* 171 */
static void nothing_grows_for_a_part_of_it(void **state)
{
    (void)state;
    struct sim *s = begin();
    ask(s, "r", ATOMIC, 12, "");
    run_for(s, 5 * MS_MINUTE);
    expect(s, "r", "Provisioned", NOT_FOUND);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_true(told("NotTriggerScaleUp r: ",
                     "not all pods would fit and scale-up is using all-or-nothing strategy") >= 1);
    ask(s, "smaller", ATOMIC, 10, "");
    run_for(s, 30 * MS_SECOND);
    expect(s, "smaller", "Provisioned", GROWN);
    assert_int_equal(count_objects(s, KIND_NODE), 5);
    end();
}

static void what_fits_grows_nothing_and_what_does_not_only_the_rest(void **state)
{
    (void)state;
    struct sim *s = begin();
    empty_nodes(s, 1);
    ask(s, "fits", ATOMIC, 1, "");
    run_for(s, 10 * MS_SECOND);
    expect(s, "fits", "Provisioned", FOUND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    ask(s, "more", ATOMIC, 3, ""); /* one beside it, two on a node to come */
    run_for(s, 30 * MS_SECOND);
    expect(s, "more", "Provisioned", GROWN);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    end();
}

static void a_cloud_that_refuses_leaves_it_to_a_later_try(void **state)
{
    (void)state;
    struct sim *s = begin_with(two_groups, NULL);
    it.a_is_sold_out = true;
    ask(s, "r", ATOMIC, 2, ""); /* least waste: a */
    run_for(s, 15 * MS_SECOND);
    expect(s, "r", "Provisioned", NOT_FOUND);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    run_for(s, 90 * MS_SECOND);
    expect(s, "r", "Provisioned", GROWN);
    assert_int_equal(count_objects(s, KIND_NODE), 1); /* b's, while a is backed off */
    end();
}

/* --- pods that wait for a request --- */

/* 172 */
static void pods_that_wait_for_a_request_grow_nothing(void **state)
{
    (void)state;
    static const char *const keys[] = {CONSUME, "cluster-autoscaler.kubernetes.io/consume-provisioning-request"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct sim *s = begin();
        consume(s, "job", 2, keys[i], "r");
        run_for(s, 2 * MS_MINUTE);
        assert_int_equal(count_objects(s, KIND_NODE), 0);
        assert_true(told("NotTriggerScaleUp job-", "Unschedulable pod didn't trigger scale-up, because it's consuming "
                                                  "ProvisioningRequest default/r") >= 2);
        end();
    }
}

static void none(struct group_settings *s)
{
    s->flags.provisioning_requests = false;
}

static void without_the_flag_nobody_looks(void **state)
{
    (void)state;
    struct sim *s = begin_with(one_group, none);
    ask(s, "r", ATOMIC, 2, "");
    consume(s, "job", 2, CONSUME, "r");
    run_for(s, 1 * MS_MINUTE);
    expect(s, "r", "Accepted", "");
    assert_int_equal(count_bound(s, "job"), 2);
    end();
}

static void once_its_pods_run_room_is_kept_no_more(void **state)
{
    (void)state;
    struct sim *s = begin();
    ask(s, "r", ATOMIC, 4, "");
    run_for(s, 30 * MS_SECOND);
    consume(s, "job", 3, CONSUME, "r");
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_bound(s, "job"), 3);
    expect(s, "r", "BookingExpired", "");
    scale(s, "job", 4);
    run_for(s, 30 * MS_SECOND);
    expect(s, "r", "BookingExpired", "True CapacityBookingConsumed: As many pods as were asked for are scheduled");
    assert_int_equal(count_bound(s, "job"), 4);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    end();
}

static void ordinary_pods_and_requests_take_turns(void **state)
{
    (void)state;
    struct sim *s = begin();
    ask(s, "r", ATOMIC, 4, "");
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 45 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 4);
    expect(s, "r", "Provisioned", GROWN);
    assert_int_equal(count_objects(s, KIND_NODE), 4);
    end();
}

/* --- ends --- */

static void one_without_its_template_fails(void **state)
{
    (void)state;
    struct sim *s = begin();
    do_request(s, API_DELETE, KIND_POD_TEMPLATE, "default", "t", NULL, 200);
    ask(s, "r", CHECK, 1, "");
    ask(s, "large", CHECK, 2000000, "");
    run_for(s, 20 * MS_SECOND);
    expect(s, "r", "Failed", ""); /* it may be on its way */
    run_for(s, 30 * MS_SECOND);
    expect(s, "r", "Failed",
           "True FailedToCreatePods: spec.podSets[0].podTemplateRef.name: there is no PodTemplate default/t; create it, and "
           "this request anew");
    load(s, pod_template);
    ask(s, "larger", CHECK, 2000000, "");
    run_for(s, 45 * MS_SECOND);
    expect(s, "larger", "Failed", "True FailedToCreatePods: spec.podSets: they ask for 2000000 pods; all requests may have "
                                  "100000 together, ask for fewer");
    end();
}

static void a_booking_without_its_template_fails(void **state)
{
    (void)state;
    struct sim *s = begin();
    empty_nodes(s, 1);
    ask(s, "r", CHECK, 1, "");
    run_for(s, 5 * MS_SECOND);
    expect(s, "r", "Provisioned", FOUND);
    do_request(s, API_DELETE, KIND_POD_TEMPLATE, "default", "t", NULL, 200);
    run_for(s, 15 * MS_SECOND);
    expect(s, "r", "Failed",
           "True FailedToBookCapacity: Couldn't create pods, err: spec.podSets[0].podTemplateRef.name: there is no PodTemplate "
           "default/t; create it, and this request anew");
    end();
}

static void seldom(struct group_settings *s)
{
    s->scan_interval = 10 * MS_MINUTE; /* two weeks go by */
}

static void what_is_over_goes_after_a_week(void **state)
{
    (void)state;
    struct sim *s = begin_with(one_group, seldom);
    ask(s, "r", CHECK, 1, "");
    run_for(s, 6 * 24 * MS_HOUR);
    expect(s, "r", "Failed", "");
    run_for(s, 25 * MS_HOUR);
    expect(s, "r", "Failed", "True Expired: ProvisioningRequest is expired");
    run_for(s, 6 * 24 * MS_HOUR);
    expect(s, "r", "Failed", "True Expired: ProvisioningRequest is expired");
    run_for(s, 25 * MS_HOUR);
    assert_true(is_gone(s, KIND_PROVISIONING_REQUEST, "default", "r"));
    end();
}

static enum sim_fate refuse_status(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    if (r->kind != KIND_PROVISIONING_REQUEST)
        return SIM_PASS;
    *refusal = (struct sim_refusal){.status = 403, .reason = "Forbidden", .message = "it may not"};
    return SIM_REFUSE;
}

/* Who cannot be told is not bought for; that is told once, and nothing is said that does not stand in the status. */
static void without_permission_nothing_grows(void **state)
{
    (void)state;
    memset(&it, 0, sizeof(it));
    it.templates = one_group;
    it.loop.groups = group_settings_default();
    it.loop.groups.flags.provisioning_requests = it.loop.keeps = true;
    it.loop.open_groups = open_groups;
    it.loop.faults.before = refuse_status;
    struct sim *s = new_sim("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n");
    loop_begin(&it.loop, s);
    load(s, pod_template);
    ask(s, "r", ATOMIC, 4, "");
    ask(s, "c", CHECK, 1, ", parameters: {noRetry: 'true'}");
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(told("CapacityIsNotFound", ""), 0);
    assert_int_equal(it.loop.decided[DECISION_FAIL], 2); /* of each */
    assert_non_null(strstr(it.loop.last[DECISION_FAIL], "its status cannot be written, and nothing grows for it: "));
    end();
}

/* --- a leader that dies --- */

/* False: this life had no such write. */
static bool dies_at(uint64_t at, bool is_after)
{
    struct crash c = {.at = at, .after = is_after};
    struct census nodes;
    memset(&it, 0, sizeof(it));
    it.templates = one_group;
    it.loop = (struct loop){.restart_after = 2 * MS_SECOND, .faults = crash_faults(&c), .groups = group_settings_default(),
                            .open_groups = open_groups};
    it.loop.groups.write_status = false;
    it.loop.groups.flags.provisioning_requests = true;
    struct sim *s = new_sim(NULL);
    loop_begin(&it.loop, s);
    census_begin(&nodes, s, KIND_NODE);
    load(s, pod_template);
    ask(s, "r", ATOMIC, 4, "");
    run_for(s, 1 * MS_MINUTE);
    if (strncmp(condition(s, "r", "Provisioned"), "True ", 5) != 0 || census_count(&nodes) != 2)
        fail_msg("killed %s write %llu: \"%s\", %zu nodes were made", is_after ? "after" : "before", (unsigned long long)at,
                 condition(s, "r", "Provisioned"), census_count(&nodes));
    census_end(&nodes);
    loop_end(&it.loop);
    return c.done;
}

static void nothing_is_bought_twice_by_a_leader_that_dies(void **state)
{
    uint32_t places = 0;
    (void)state;
    for (int is_after = 0; is_after <= 1; is_after++)
        for (uint64_t k = 1; dies_at(k, is_after != 0); k++)
            places++;
    assert_true(places >= 8); /* before and after: accepted, two nodes, provisioned */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_that_is_there_is_found_and_kept),
        cmocka_unit_test(room_that_is_kept_is_not_there_for_another),
        cmocka_unit_test(without_retry_it_fails),
        cmocka_unit_test(tries_are_made_at_longer_and_longer_intervals),
        cmocka_unit_test(a_batch_is_checked_in_one_pass_and_else_one_at_a_time),
        cmocka_unit_test(an_instance_sees_to_its_own_alone),
        cmocka_unit_test(groups_grow_for_all_of_it),
        cmocka_unit_test(nothing_grows_for_a_part_of_it),
        cmocka_unit_test(what_fits_grows_nothing_and_what_does_not_only_the_rest),
        cmocka_unit_test(a_cloud_that_refuses_leaves_it_to_a_later_try),
        cmocka_unit_test(pods_that_wait_for_a_request_grow_nothing),
        cmocka_unit_test(without_the_flag_nobody_looks),
        cmocka_unit_test(once_its_pods_run_room_is_kept_no_more),
        cmocka_unit_test(ordinary_pods_and_requests_take_turns),
        cmocka_unit_test(one_without_its_template_fails),
        cmocka_unit_test(a_booking_without_its_template_fails),
        cmocka_unit_test(what_is_over_goes_after_a_week),
        cmocka_unit_test(without_permission_nothing_grows),
        cmocka_unit_test(nothing_is_bought_twice_by_a_leader_that_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
