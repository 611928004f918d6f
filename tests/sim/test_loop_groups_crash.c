/* Who keeps node groups dies before each write that he would make, and after each, for every one of a life in which a group
 * grows, one node is drained and the last ends empty. What starts again ends in the same state: everybody has a place, no
 * group is larger than it may be, nothing stays marked or cordoned, no machine is forgotten. */
#include <stdio.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_crash.h"
#include "tests/sim/support_loop.h"

enum { RESTART_MS = 2 * MS_SECOND, NODES = 2, MOST = 3 };

static const char templates[] =
    "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: of-a\n    labels: {pool: a, "
    "kubernetes.io/arch: amd64, kubernetes.io/os: linux}\n    annotations: {cluster-autoscaler.kwok.nodegroup/min-count: '0', "
    "cluster-autoscaler.kwok.nodegroup/max-count: '3'}\n  status: {capacity: {cpu: '4', memory: 16Gi, pods: 110}, allocatable: "
    "{cpu: '4', memory: 16Gi, pods: 110}}\n";

static struct group_provider *open_groups(struct loop *l)
{
    static const struct group_kwok_text config = {
        SPAN_INIT("apiVersion: v1alpha1\nreadNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
                  "nodes: {skipTaint: true}\nconfigmap: {name: t}\n"),
        SPAN_INIT("config.yaml")};
    struct arena a;
    struct err err;
    struct group_provider *p = NULL;
    struct group_kwok_options o = {.api = l->api, .templates = {span_of(templates), SPAN("templates.yaml")}};
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &config, &o.config, &err) || (p = group_kwok_new(&o, &err)) == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

static bool is_untouched(const json_t *node)
{
    const json_t *t;
    size_t i;
    json_array_foreach(tree_get(node, "spec.taints"), i, t) {
        if (strcmp(json_string_value(json_object_get(t, "key")), "ToBeDeletedByClusterAutoscaler") == 0)
            return false;
    }
    return !json_is_true(tree_get(node, "spec.unschedulable"));
}

static void expect(struct sim *s, const char *when, const struct crash *c, size_t nodes, size_t bound)
{
    json_t *all = objects_of(s, KIND_NODE), *n;
    size_t i, marked = 0, web = count_bound(s, "web");
    json_array_foreach(all, i, n) {
        marked += !is_untouched(n);
    }
    if (json_array_size(all) != nodes || marked != 0 || web != bound)
        fail_msg("killed %s write %llu, %s: %zu nodes, %zu of them marked, %zu pods bound", c->after ? "after" : "before",
                 (unsigned long long)c->at, when, json_array_size(all), marked, web);
    json_decref(all);
    assert_no_overcommit(s);
}

/* One life. False: it had no such write. */
static bool dies_at(uint64_t at, bool is_after)
{
    struct crash c = {.at = at, .after = is_after};
    struct loop l = {.restart_after = RESTART_MS, .faults = crash_faults(&c), .groups = group_settings_default(),
                     .open_groups = open_groups};
    l.groups.write_status = false; /* it is written anew in each pass, whoever leads */
    struct sim *s = new_sim(NULL);
    struct census nodes;
    loop_begin(&l, s);
    census_begin(&nodes, s, KIND_NODE);
    load(s, deployment_yaml("big", 2, "2500m", ""));
    run_for(s, 1 * MS_MINUTE);
    load(s, deployment_yaml("web", 2, "900m", "")); /* one beside each */
    run_for(s, 1 * MS_MINUTE);
    expect(s, "grown", &c, NODES, 2);
    assert_true(nodes.most <= MOST);
    scale(s, "big", 0);
    run_for(s, 30 * MS_MINUTE); /* ten, and ten anew where the first leader knew */
    expect(s, "drained", &c, 1, 2);
    scale(s, "web", 0);
    run_for(s, 30 * MS_MINUTE);
    expect(s, "empty", &c, 0, 0);
    census_end(&nodes);
    loop_end(&l);
    return c.done;
}

static void nothing_is_lost_with_a_leader(void **state)
{
    uint32_t places = 0;
    (void)state;
    for (int is_after = 0; is_after <= 1; is_after++)
        for (uint64_t k = 1; dies_at(k, is_after != 0); k++)
            places++;
    printf("%u places to die\n", places);
    assert_true(places > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_with_a_leader)};
    return cmocka_run_group_tests_name("loop_groups_crash", tests, NULL, NULL);
}
