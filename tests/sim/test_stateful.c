/* StatefulSets: who comes after whom, who goes before whom, and what stays when they are gone. */
#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cluster_state.h"

#define NODE(name, zone)                                                                                   \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name     \
    ", topology.kubernetes.io/zone: " zone "}}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}, " \
    "conditions: [{type: Ready, status: 'True'}]}\n"

/* Members of its spec, one a line. */
#define SET(replicas, more)                                                                                 \
    "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: default}\nspec:\n"          \
    "  replicas: " replicas "\n  serviceName: dbs\n  selector: {matchLabels: {app: db}}\n" more               \
    "  template:\n    metadata: {labels: {app: db}}\n"                                                       \
    "    spec:\n      containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]\n"
#define PARALLEL "  podManagementPolicy: Parallel\n"

static json_t *pod(struct sim *s, const char *name)
{
    return objects_find(&sim_cluster(s)->objects, KIND_POD, SPAN("default"), span_of(name));
}

static bool is_ready(const json_t *p)
{
    return tree_get(p, "metadata.deletionTimestamp") == NULL && tree_condition_is(p, "Ready", "True");
}

static struct span label(const json_t *p, const char *key)
{
    return span_of(json_string_value(json_object_get(tree_get(p, "metadata.labels"), key)));
}

/* What happened to pods, as "+db-0 -db-2 …": made, asked to leave. */
struct seen {
    struct objects *objects;
    char text[1024];
    size_t len, most_unready; /* pods that were on their way up or down at once */
};

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    const char *key;
    json_t *p;
    struct seen *seen = user;
    size_t unready = fresh != NULL && !is_ready(fresh);
    if (k != KIND_POD)
        return;
    bool leaves = tree_get(old, "metadata.deletionTimestamp") == NULL &&
                  (fresh == NULL || tree_get(fresh, "metadata.deletionTimestamp") != NULL);
    if (old == NULL || leaves) {
        struct span name = tree_string(fresh != NULL ? fresh : old, "metadata.name");
        seen->len += (size_t)snprintf(seen->text + seen->len, sizeof seen->text - seen->len, "%s%c%.*s",
                                      seen->len != 0 ? " " : "", old == NULL ? '+' : '-', SPAN_ARG(name));
        assert_true(seen->len < sizeof seen->text);
    }
    json_object_foreach(seen->objects->kinds[KIND_POD], key, p) {
        unready += p != old && !is_ready(p);
    }
    seen->most_unready = unready > seen->most_unready ? unready : seen->most_unready;
}

static void watch(struct sim *s, struct seen *seen)
{
    *seen = (struct seen){.objects = &sim_cluster(s)->objects};
    objects_listen(seen->objects, heard, seen);
    *seen = (struct seen){.objects = &sim_cluster(s)->objects};
}

static void expect_seen(struct sim *s, struct seen *seen, const char *label_, const char *text, size_t most_unready)
{
    objects_unlisten(&sim_cluster(s)->objects, seen);
    if (strcmp(seen->text, text) != 0 || seen->most_unready != most_unready)
        fail_msg("%s: %s, not %s; %zu unready at once, not %zu", label_, seen->text, text, seen->most_unready,
                 most_unready);
}

static void change(struct sim *s, const char *patch)
{
    do_request(s, API_MERGE, KIND_STATEFUL_SET, "default", "db", patch, 200);
}

static void release(struct sim *s, const char *text)
{
    char body[160];
    snprintf(body, sizeof body, "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"release\":\"%s\"}}}}}", text);
    change(s, body);
}

/* ---- numbers ---- */

static void one_after_the_other(void **state)
{
    (void)state;
    struct seen seen;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    watch(s, &seen);
    load(s, SET("3", ""));
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "up", "+db-0 +db-1 +db-2", 1);
    assert_true(span_eq(tree_string(pod(s, "db-2"), "spec.hostname"), SPAN("db-2")));
    assert_true(span_eq(tree_string(pod(s, "db-2"), "spec.subdomain"), SPAN("dbs")));
    assert_true(span_eq(label(pod(s, "db-2"), "statefulset.kubernetes.io/pod-name"), SPAN("db-2")));
    assert_true(span_eq(label(pod(s, "db-2"), "apps.kubernetes.io/pod-index"), SPAN("2")));
    watch(s, &seen);
    change(s, "{\"spec\":{\"replicas\":1}}");
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "down", "-db-2 -db-1", 1);
    json_t *set = object_of(s, KIND_STATEFUL_SET, "default", "db");
    assert_int_equal(tree_int(set, "status.replicas", -1), 1);
    assert_int_equal(tree_int(set, "status.readyReplicas", -1), 1);
    json_decref(set);
    sim_free(s);
}

static void all_at_once(void **state)
{
    (void)state;
    struct seen seen;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    watch(s, &seen);
    load(s, SET("3", PARALLEL "  ordinals: {start: 5}\n"));
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "up", "+db-5 +db-6 +db-7", 3);
    watch(s, &seen);
    change(s, "{\"spec\":{\"replicas\":1}}");
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "down", "-db-7 -db-6", 2);
    sim_free(s);
}

/* Who does not get ready holds up all that come after him, under OrderedReady alone. */
static void who_comes_later_waits(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    load(s, SET("3", "") "      nodeSelector: {no: where}\n");
    run_for(s, MS_MINUTE);
    assert_non_null(pod(s, "db-0"));
    assert_null(pod(s, "db-1"));
    change(s, "{\"spec\":{\"podManagementPolicy\":\"Parallel\"}}");
    run_for(s, MS_MINUTE);
    assert_non_null(pod(s, "db-2"));
    sim_free(s);
}

/* A pod that is not ready keeps others from going; it goes itself when it has the lowest number of such. */
static void down_only_while_the_others_stand(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    load(s, SET("4", PARALLEL));
    run_for(s, MS_MINUTE);
    do_request(s, API_DELETE, KIND_POD, "default", "db-0", NULL, 200);
    change(s, "{\"spec\":{\"replicas\":2,\"podManagementPolicy\":\"OrderedReady\",\"template\":{\"spec\":{"
              "\"nodeSelector\":{\"no\":\"where\"}}}}}");
    run_for(s, MS_MINUTE);
    assert_true(is_ready(pod(s, "db-3"))); /* db-0 has no place */
    change(s, "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":null}}}}");
    do_request(s, API_DELETE, KIND_POD, "default", "db-0", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_null(pod(s, "db-3"));
    assert_null(pod(s, "db-2"));
    assert_true(is_ready(pod(s, "db-1")));
    sim_free(s);
}

static void a_name_is_given_again_when_it_is_free(void **state)
{
    (void)state;
    struct seen seen;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    load(s, SET("3", ""));
    run_for(s, MS_MINUTE);
    watch(s, &seen);
    do_request(s, API_DELETE, KIND_POD, "default", "db-1", NULL, 200);
    run_for(s, 500);
    assert_true(tree_get(pod(s, "db-1"), "metadata.deletionTimestamp") != NULL);
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "deleted", "-db-1 +db-1", 1);
    assert_true(is_ready(pod(s, "db-1")));
    sim_free(s);
}

/* ---- a changed template ---- */

static const struct {
    const char *label, *more, *seen;
    size_t unready, updated;
} rolls[] = {
    {"the highest first, one at a time", "", "-db-2 +db-2 -db-1 +db-1 -db-0 +db-0", 1, 3},
    {"so too when they come all at once", PARALLEL, "-db-2 +db-2 -db-1 +db-1 -db-0 +db-0", 1, 3},
    {"down to the partition", "  updateStrategy: {rollingUpdate: {partition: 1}}\n", "-db-2 +db-2 -db-1 +db-1", 1, 2},
    {"a partition above all", "  updateStrategy: {rollingUpdate: {partition: 9}}\n", "", 0, 0},
    {"who is deleted", "  updateStrategy: {type: OnDelete}\n", "", 0, 0},
};

static size_t released(struct sim *s)
{
    size_t n = 0;
    const char *key;
    json_t *p;
    json_object_foreach(sim_cluster(s)->objects.kinds[KIND_POD], key, p) {
        n += tree_get(p, "metadata.annotations.release") != NULL && is_ready(p);
    }
    return n;
}

static struct sim *begin(const char *more)
{
    char yaml[2048];
    struct sim *s = new_sim(NODE("a", "zone-a"));
    snprintf(yaml, sizeof yaml, SET("3", "%s"), more);
    load(s, yaml);
    run_for(s, MS_MINUTE);
    return s;
}

static void a_changed_template_rolls(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rolls); i++) {
        struct seen seen;
        struct sim *s = begin(rolls[i].more);
        watch(s, &seen);
        release(s, "2");
        run_for(s, 2 * MS_MINUTE);
        expect_seen(s, &seen, rolls[i].label, rolls[i].seen, rolls[i].unready);
        if (released(s) != rolls[i].updated)
            fail_msg("%s: %zu updated", rolls[i].label, released(s));
        json_t *set = object_of(s, KIND_STATEFUL_SET, "default", "db");
        assert_int_equal(tree_int(set, "status.updatedReplicas", -1), (int64_t)rolls[i].updated);
        assert_int_equal(rolls[i].updated == 3, span_eq(tree_string(set, "status.currentRevision"),
                                                        tree_string(set, "status.updateRevision")));
        json_decref(set);
        sim_free(s);
    }
}

/* Below the partition a pod comes back as it was, above it, and under OnDelete, as the set is now. */
static void who_comes_back_has_his_revision(void **state)
{
    (void)state;
    struct sim *s = begin("  updateStrategy: {rollingUpdate: {partition: 1}}\n");
    release(s, "2");
    run_for(s, 2 * MS_MINUTE);
    do_request(s, API_DELETE, KIND_POD, "default", "db-0", NULL, 200);
    do_request(s, API_DELETE, KIND_POD, "default", "db-2", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_null(tree_get(pod(s, "db-0"), "metadata.annotations.release"));
    assert_non_null(tree_get(pod(s, "db-2"), "metadata.annotations.release"));
    sim_free(s);
    s = begin("  updateStrategy: {type: OnDelete}\n");
    release(s, "2");
    run_for(s, MS_MINUTE);
    do_request(s, API_DELETE, KIND_POD, "default", "db-0", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_non_null(tree_get(pod(s, "db-0"), "metadata.annotations.release"));
    assert_int_equal(released(s), 1);
    sim_free(s);
}

/* The next pod is not replaced before the last is ready. */
static void a_roll_waits_for_who_is_ready(void **state)
{
    (void)state;
    struct sim *s = begin(PARALLEL);
    change(s, "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"release\":\"2\"}},\"spec\":{\"nodeSelector\":{"
              "\"no\":\"where\"}}}}}");
    run_for(s, 2 * MS_MINUTE);
    assert_non_null(tree_get(pod(s, "db-2"), "metadata.annotations.release"));
    assert_true(is_ready(pod(s, "db-1")) && is_ready(pod(s, "db-0")));
    sim_free(s);
}

/* As `kubectl get` gives them: revisions have the names that the real controller gave them. */
static void a_dump_does_not_roll(void **state)
{
    static const char pods[] =
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: db-%d\n  namespace: default\n"
        "  labels: {app: db, controller-revision-hash: db-77fd5}\n  ownerReferences: [{apiVersion: apps/v1, kind: "
        "StatefulSet, name: db, uid: u-1, controller: true}]\nspec: {nodeName: a, containers: [{name: c, image: i}]}\n"
        "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}\n";
    char yaml[1024];
    struct seen seen;
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    for (int i = 0; i < 2; i++) {
        snprintf(yaml, sizeof yaml, pods, i);
        load(s, yaml);
    }
    watch(s, &seen);
    load(s, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: default, uid: u-1, generation: 4}\n"
            "spec:\n  replicas: 2\n  selector: {matchLabels: {app: db}}\n"
            "  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i}]}}\n"
            "status: {observedGeneration: 4, currentRevision: db-77fd5, updateRevision: db-77fd5, replicas: 2}\n");
    run_for(s, MS_MINUTE);
    expect_seen(s, &seen, "loaded", "", 0);
    release(s, "2");
    run_for(s, MS_MINUTE);
    assert_int_equal(released(s), 2);
    sim_free(s);
}

/* ---- volumes ---- */

#define CLASS(more)                                                                                       \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: disks}\nprovisioner: disk.csi.x\n" more
#define WAITS CLASS("volumeBindingMode: WaitForFirstConsumer\n")
#define CLAIMS                                                                                            \
    "  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: disks, accessModes: "       \
    "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"

static json_t *volume_of(struct sim *s, const char *claim)
{
    const struct objects *o = &sim_cluster(s)->objects;
    const json_t *c = objects_find(o, KIND_VOLUME_CLAIM, SPAN("default"), span_of(claim));
    return objects_find(o, KIND_VOLUME, (struct span){NULL, 0}, tree_string(c, "spec.volumeName"));
}

static void cordon(struct sim *s, const char *node)
{
    do_request(s, API_MERGE, KIND_NODE, NULL, node, "{\"spec\":{\"unschedulable\":true}}", 200);
}

static void claims_stay(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a") WAITS);
    load(s, SET("2", CLAIMS));
    run_for(s, MS_MINUTE);
    assert_true(is_ready(pod(s, "db-1")));
    char *text = json_dumps(tree_get(pod(s, "db-1"), "spec.volumes"), JSON_COMPACT);
    assert_string_equal(text, "[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"data-db-1\"}}]");
    free(text);
    const json_t *volume = volume_of(s, "data-db-1");
    assert_non_null(volume);
    change(s, "{\"spec\":{\"replicas\":0}}");
    run_for(s, MS_MINUTE);
    assert_null(pod(s, "db-0"));
    assert_int_equal(sim_cluster_count(sim_cluster(s), KIND_VOLUME_CLAIM), 2);
    change(s, "{\"spec\":{\"replicas\":2}}");
    run_for(s, MS_MINUTE);
    assert_true(is_ready(pod(s, "db-1")));
    assert_ptr_equal(volume_of(s, "data-db-1"), volume);
    do_request(s, API_DELETE, KIND_STATEFUL_SET, "default", "db", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_null(pod(s, "db-0"));
    assert_int_equal(sim_cluster_count(sim_cluster(s), KIND_VOLUME_CLAIM), 2);
    do_request(s, API_DELETE, KIND_VOLUME_CLAIM, "default", "data-db-0", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_int_equal(sim_cluster_count(sim_cluster(s), KIND_VOLUME), 1);
    sim_free(s);
}

static void its_volume_holds_a_pod_to_its_zone(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a") WAITS);
    load(s, SET("1", CLAIMS));
    run_for(s, MS_MINUTE);
    load(s, NODE("b", "zone-b"));
    cordon(s, "a");
    do_request(s, API_DELETE, KIND_POD, "default", "db-0", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_string_equal(why_pending(s), "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node "
                                        "affinity, 1 node(s) had untolerated taint(s).");
    load(s, NODE("c", "zone-a"));
    run_for(s, MS_MINUTE);
    assert_int_equal(count_pods(s, "db", "c"), 1);
    sim_free(s);
}

static const struct {
    const char *label, *class, *claims;
    bool bound;      /* before there is a pod that could use it */
    const char *zone; /* that its volume is held to; NULL: to none */
} classes[] = {
    {"at once, and reachable from everywhere", CLASS(""), CLAIMS, true, NULL},
    {"at once, where the class allows it",
     CLASS("allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [zone-b, zone-a]}]}]\n"),
     CLAIMS, true, "zone-b"},
    {"the default class", "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: std, annotations: "
     "{storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: d\nvolumeBindingMode: WaitForFirstConsumer\n",
     "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]\n", false, "zone-b"},
};

static void classes_say_when_and_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        char yaml[2048];
        struct sim *s = new_sim(classes[i].class);
        snprintf(yaml, sizeof yaml, SET("1", "%s"), classes[i].claims);
        load(s, yaml);
        run_for(s, MS_MINUTE);
        if ((volume_of(s, "data-db-0") != NULL) != classes[i].bound)
            fail_msg("%s: bound too early or not at once", classes[i].label);
        load(s, NODE("b", "zone-b"));
        run_for(s, MS_MINUTE);
        const json_t *terms = tree_get(volume_of(s, "data-db-0"), "spec.nodeAffinity.required.nodeSelectorTerms");
        const json_t *e = json_array_get(tree_get(json_array_get(terms, 0), "matchExpressions"), 0);
        const char *zone = json_string_value(json_array_get(tree_get(e, "values"), 0));
        if (volume_of(s, "data-db-0") == NULL || !is_ready(pod(s, "db-0")) ||
            strcmp(zone != NULL ? zone : "", classes[i].zone != NULL ? classes[i].zone : "") != 0)
            fail_msg("%s: %s", classes[i].label, zone);
        sim_free(s);
    }
}

static void without_a_provisioner_it_waits(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a") "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: "
                            "disks}\nprovisioner: kubernetes.io/no-provisioner\n");
    load(s, SET("1", CLAIMS));
    run_for(s, MS_MINUTE);
    assert_null(volume_of(s, "data-db-0"));
    sim_free(s);
}

/* ---- budgets ---- */

static void expect_budget(struct sim *s, int64_t expected, int64_t desired, int64_t allowed)
{
    json_t *b = object_of(s, KIND_DISRUPTION_BUDGET, "default", "db");
    assert_int_equal(tree_int(b, "status.expectedPods", -1), expected);
    assert_int_equal(tree_int(b, "status.desiredHealthy", -1), desired);
    assert_int_equal(tree_int(b, "status.disruptionsAllowed", -1), allowed);
    json_decref(b);
}

static void a_budget_counts_what_the_set_wants(void **state)
{
    (void)state;
    struct sim *s = new_sim(NODE("a", "zone-a"));
    load(s, SET("3", ""));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: db}\nspec: {maxUnavailable: 1, "
            "selector: {matchLabels: {app: db}}}\n");
    run_for(s, MS_MINUTE);
    expect_budget(s, 3, 2, 1);
    cordon(s, "a");
    change(s, "{\"spec\":{\"replicas\":6}}"); /* db-3 finds no place, so that no pod after it comes */
    run_for(s, MS_MINUTE);
    expect_budget(s, 6, 5, 0);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(who_comes_later_waits),
        cmocka_unit_test(down_only_while_the_others_stand),
        cmocka_unit_test(a_name_is_given_again_when_it_is_free),
        cmocka_unit_test(a_changed_template_rolls),
        cmocka_unit_test(who_comes_back_has_his_revision),
        cmocka_unit_test(a_roll_waits_for_who_is_ready),
        cmocka_unit_test(a_dump_does_not_roll),
        cmocka_unit_test(claims_stay),
        cmocka_unit_test(its_volume_holds_a_pod_to_its_zone),
        cmocka_unit_test(classes_say_when_and_where),
        cmocka_unit_test(without_a_provisioner_it_waits),
        cmocka_unit_test(a_budget_counts_what_the_set_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
