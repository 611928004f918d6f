/* What a changed template does to a workload's pods, watched at every change. */
#include "tests/sim/support_sim.h"

#include <stdio.h>

#include "sim/cluster_state.h"

static const char room[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/hostname: a}}\n"
    "status: {allocatable: {cpu: '100', memory: 100Gi, pods: '1000'}, conditions: [{type: Ready, status: 'True'}]}\n";

static const char deployment[] =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec:\n  replicas: 10\n"
    "  selector: {matchLabels: {app: web}}\n%s"
    "  template:\n    metadata: {labels: {app: web}}\n"
    "    spec:\n      containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]\n";

struct seen { /* since the last look */
    struct objects *objects;
    size_t most, least_ready, both; /* pods; those that are ready; moments with old and new ones */
};

static size_t count_of(const struct objects *o, const char *hash_annotation, bool ready)
{
    const char *key;
    json_t *pod;
    size_t n = 0;
    json_object_foreach(o->kinds[KIND_POD], key, pod) {
        bool is_new = tree_get(pod, "metadata.annotations.release") != NULL;
        if (tree_get(pod, "metadata.deletionTimestamp") != NULL || (ready && !tree_condition_is(pod, "Ready", "True")))
            continue;
        n += hash_annotation == NULL || is_new == (hash_annotation[0] == 'n');
    }
    return n;
}

/* It hears before the object takes its place: what stood before the change is judged, which the next change does too. */
static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct seen *seen = user;
    (void)old;
    (void)fresh;
    if (k != KIND_POD)
        return;
    size_t all = count_of(seen->objects, NULL, false), ready = count_of(seen->objects, NULL, true);
    seen->most = all > seen->most ? all : seen->most;
    seen->least_ready = ready < seen->least_ready ? ready : seen->least_ready;
    seen->both += count_of(seen->objects, "old", false) != 0 && count_of(seen->objects, "new", false) != 0;
}

static const struct {
    const char *label, *strategy;
    size_t most, least_ready; /* that there may be, of ten */
    bool both;
} rows[] = {
    {"a quarter, up for surge, down for who is away", "", 13, 8, true},
    {"numbers", "  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n", 11, 10, true},
    {"no surge", "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 30%}}\n", 10, 7, true},
    {"neither: one is away at a time", "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}\n", 10, 9, true},
    {"all anew", "  strategy: {type: Recreate}\n", 10, 0, false},
};

static void release(struct sim *s, enum kind k, const char *name, const char *text)
{
    char body[160];
    snprintf(body, sizeof body, "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"release\":\"%s\"}}}}}", text);
    do_request(s, API_MERGE, k, "default", name, body, 200);
}

static void a_deployment_rolls(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char yaml[1024];
        struct sim *s = new_sim(room);
        struct objects *o = &sim_cluster(s)->objects;
        snprintf(yaml, sizeof yaml, deployment, rows[i].strategy);
        load(s, yaml);
        run_for(s, 10 * MS_SECOND);
        assert_int_equal(count_of(o, "old", true), 10);
        struct seen seen = {.objects = o, .least_ready = SIZE_MAX};
        objects_listen(o, heard, &seen);
        release(s, KIND_DEPLOYMENT, "web", "2");
        run_for(s, 2 * MS_MINUTE);
        objects_unlisten(o, &seen);
        if (count_of(o, "new", true) != 10 || count_of(o, NULL, false) != 10)
            fail_msg("%s: %zu new pods of %zu", rows[i].label, count_of(o, "new", true), count_of(o, NULL, false));
        if (seen.most != rows[i].most || seen.least_ready != rows[i].least_ready || (seen.both != 0) != rows[i].both)
            fail_msg("%s: %zu pods at most, %zu ready at least, %zu moments with both", rows[i].label, seen.most,
                     seen.least_ready, seen.both);
        sim_free(s);
    }
}

/* New pods that do not get ready stop it: as many old ones as must be available stay. */
static void a_rollout_waits_for_who_is_ready(void **state)
{
    char yaml[1024];
    (void)state;
    struct sim *s = new_sim(room);
    struct objects *o = &sim_cluster(s)->objects;
    snprintf(yaml, sizeof yaml, deployment, "");
    load(s, yaml);
    run_for(s, 10 * MS_SECOND);
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web",
               "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"release\":\"2\"}},"
               "\"spec\":{\"nodeSelector\":{\"no\":\"where\"}}}}}", 200);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_of(o, "old", true), 8);
    assert_int_equal(count_of(o, "new", false), 5);
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web",
               "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":null}}}}", 200); /* a third template */
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_of(o, "new", true), 10);
    assert_int_equal(count_of(o, NULL, false), 10);
    sim_free(s);
}

static void old_sets_are_kept_to_their_limit(void **state)
{
    char yaml[1024], text[8];
    (void)state;
    struct sim *s = new_sim(room);
    snprintf(yaml, sizeof yaml, deployment, "  revisionHistoryLimit: 2\n");
    load(s, yaml);
    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "%d", i);
        release(s, KIND_DEPLOYMENT, "web", text);
        run_for(s, MS_MINUTE);
    }
    assert_int_equal(sim_cluster_count(sim_cluster(s), KIND_REPLICA_SET), 3);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_rolls),
        cmocka_unit_test(a_rollout_waits_for_who_is_ready),
        cmocka_unit_test(old_sets_are_kept_to_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
