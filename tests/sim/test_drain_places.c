/* Pods of a node that goes have their places before anybody is evicted, and the scheduler's extender keeps these for who
 * comes after them: by claims that somebody deletes, and by the consolidations that only remove. */
#include "tests/sim/support_loop.h"

#include <stdio.h>
#include <string.h>

#include "sim/stowage.h"

struct fleet {
    struct sim *sim;
    struct sim_stowage *stowage;
    json_t *evicted; /* by uid: seen with a deletionTimestamp, of those that stood on a leaving node */
    char thief[16];  /* the Deployment that comes once a pod of "keep" has its place elsewhere; "": nobody */
    uint64_t version;
    uint32_t unplanned;
};

static bool node_leaves(struct fleet *f, const char *name)
{
    json_t *node = name != NULL ? object_of(f->sim, KIND_NODE, NULL, name) : NULL;
    bool leaves = node != NULL && tree_get(node, "metadata.deletionTimestamp") != NULL;
    json_decref(node);
    return leaves;
}

static bool has_place(struct fleet *f, json_t *pod)
{
    const struct places *p = sim_stowage_places(f->stowage);
    return p != NULL && places_find(p, tree_string(pod, "metadata.uid")) != NULL;
}

static void look_at(struct fleet *f, json_t *pod)
{
    const char *uid = json_string_value(tree_get(pod, "metadata.uid"));
    if (!node_leaves(f, json_string_value(tree_get(pod, "spec.nodeName"))))
        return;
    if (f->thief[0] != '\0' && has_place(f, pod)) {
        load(f->sim, deployment_yaml(f->thief, 1, "3", ""));
        f->thief[0] = '\0';
    }
    if (tree_get(pod, "metadata.deletionTimestamp") == NULL || json_object_get(f->evicted, uid) != NULL)
        return;
    json_object_set_new(f->evicted, uid, json_true());
    f->unplanned += !has_place(f, pod);
}

static bool look(void *user)
{
    struct fleet *f = user;
    json_t *pods, *pod;
    size_t i;
    if (sim_cluster_version(sim_cluster(f->sim)) == f->version)
        return false;
    f->version = sim_cluster_version(sim_cluster(f->sim));
    pods = objects_of(f->sim, KIND_POD);
    json_array_foreach(pods, i, pod)
        look_at(f, pod);
    json_decref(pods);
    return false;
}

static void watch_for(struct fleet *f, span_ms d)
{
    struct err err;
    assert_false(sim_run_while(f->sim, look, f, sim_now(f->sim) + d, &err));
}

static void begin(struct fleet *f, const char *pool)
{
    const struct sim_stowage_options o = {.reconciler = {.validation = 2 * MS_SECOND}};
    *f = (struct fleet){.sim = new_sim(pool), .evicted = json_object()};
    f->stowage = start_asked(f->sim, &o);
}

static void end(struct fleet *f)
{
    json_decref(f->evicted);
    stop_asked(f->sim, f->stowage);
    sim_free(f->sim);
}

static void node_of(struct fleet *f, const char *app, char *out, size_t size)
{
    json_t *pods = objects_of(f->sim, KIND_POD), *pod;
    size_t i;
    *out = '\0';
    json_array_foreach(pods, i, pod) {
        const char *node = json_string_value(tree_get(pod, "spec.nodeName"));
        if (span_eq(tree_string(pod, "metadata.labels.app"), span_of(app)) && node != NULL)
            snprintf(out, size, "%s", node);
    }
    json_decref(pods);
}

/* Two nodes of 4 CPUs; one has room for what stands on the other. A pod as large that comes before anybody is evicted
 * does not get that room. */
static void what_is_evicted_has_its_room(void **state)
{
    (void)state;
    struct fleet f;
    char first[64], second[64], now[64], thief[64];
    begin(&f, general_yaml("1h", "4"));
    load(f.sim, deployment_yaml("keep", 1, "3", ""));
    load(f.sim, deployment_yaml("rest", 1, "3", ""));
    watch_for(&f, MS_MINUTE);
    node_of(&f, "keep", first, sizeof(first));
    node_of(&f, "rest", second, sizeof(second));
    assert_string_not_equal(first, second);
    scale(f.sim, "rest", 0);
    watch_for(&f, 30 * MS_SECOND);
    strcpy(f.thief, "thief");
    do_request(f.sim, API_DELETE, KIND_NODE_CLAIM, NULL, first, NULL, 200);
    watch_for(&f, 3 * MS_MINUTE);
    assert_int_equal(json_object_size(f.evicted), 1);
    assert_int_equal(f.unplanned, 0);
    assert_string_equal(f.thief, ""); /* it came in between */
    node_of(&f, "keep", now, sizeof(now));
    node_of(&f, "thief", thief, sizeof(thief));
    assert_string_equal(now, second);
    assert_string_not_equal(thief, second);
    assert_string_not_equal(thief, "");
    assert_int_equal(count_objects(f.sim, KIND_NODE), 2);
    end(&f);
}

/* Consolidations that remove nodes and buy none. */
static void so_has_who_is_consolidated(void **state)
{
    (void)state;
    struct fleet f;
    begin(&f, node_class_yaml());
    load(f.sim, pool_yaml("general", "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]}", ""));
    for (int i = 0; i < 4; i++) {
        char name[] = {'w', (char)('0' + i), '\0'};
        load(f.sim, deployment_yaml(name, 6, "900m", ""));
        watch_for(&f, 30 * MS_SECOND); /* a node each, or so */
    }
    size_t before = count_objects(f.sim, KIND_NODE);
    for (int i = 0; i < 4; i++) {
        char name[] = {'w', (char)('0' + i), '\0'};
        scale(f.sim, name, 2);
    }
    watch_for(&f, 15 * MS_MINUTE);
    assert_true(count_objects(f.sim, KIND_NODE) < before);
    assert_true(json_object_size(f.evicted) != 0);
    assert_int_equal(f.unplanned, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_evicted_has_its_room),
        cmocka_unit_test(so_has_who_is_consolidated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
