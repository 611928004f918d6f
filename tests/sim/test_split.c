/* A Deployment that is split between spot and on-demand, through its life: the planner says which pod
 * goes where, the extender holds it. Every node has room for one pod, so that none finds a place that was
 * not made for it. */
#include <stdio.h>
#include <string.h>

#include "sim/stowage.h"
#include "tests/sim/support_sim.h"

enum { BASE = 2, PERCENT = 50, SETTLE_MS = 5 * MS_MINUTE };

static const char *split_yaml(const char *name, int replicas, const char *image)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
             "\"replicas\":%d,\"selector\":{\"matchLabels\":{\"app\":\"%s\"}},\"template\":{\"metadata\":{"
             "\"labels\":{\"app\":\"%s\"},\"annotations\":{\"stowage.dev/on-demand-base\":\"%d\","
             "\"stowage.dev/spot-percent\":\"%d\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\","
             "\"resources\":{\"requests\":{\"cpu\":\"700m\",\"memory\":\"64Mi\"}}}]}}}}",
             name, replicas, name, name, BASE, PERCENT, image);
    return text;
}

struct tally {
    int spot, on_demand, waiting;
};

static bool on_spot(json_t *nodes, struct span name)
{
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node) {
        if (span_eq(tree_string(node, "metadata.name"), name))
            return strcmp(json_string_value(json_object_get(tree_get(node, "metadata.labels"),
                                                            "karpenter.sh/capacity-type")),
                          "spot") == 0;
    }
    fail_msg("there is no Node %.*s", SPAN_ARG(name));
    return false;
}

/* Of the pods that are not on their way out. */
static struct tally tally_of(struct sim *s)
{
    json_t *pods = objects_of(s, KIND_POD), *nodes = objects_of(s, KIND_NODE), *pod;
    struct tally t = {0};
    size_t i;
    json_array_foreach(pods, i, pod) {
        struct span node = tree_string(pod, "spec.nodeName");
        if (tree_get(pod, "metadata.deletionTimestamp") != NULL)
            continue;
        if (node.len == 0)
            t.waiting++;
        else if (on_spot(nodes, node))
            t.spot++;
        else
            t.on_demand++;
    }
    json_decref(pods);
    json_decref(nodes);
    return t;
}

static void settles_at(struct sim *s, const char *when, int spot, int on_demand)
{
    run_for(s, SETTLE_MS);
    struct tally t = tally_of(s);
    if (t.spot != spot || t.on_demand != on_demand || t.waiting != 0)
        fail_msg("%s: %d spot, %d on-demand, %d waiting, not %d and %d", when, t.spot, t.on_demand,
                 t.waiting, spot, on_demand);
    assert_no_overcommit(s);
}

/* So many of the pods that stand on the side are deleted, as a scale-down may choose them. */
static void delete_some(struct sim *s, bool spot, int count)
{
    json_t *pods = objects_of(s, KIND_POD), *nodes = objects_of(s, KIND_NODE), *pod;
    size_t i;
    json_array_foreach(pods, i, pod) {
        struct span node = tree_string(pod, "spec.nodeName");
        if (count == 0 || tree_get(pod, "metadata.deletionTimestamp") != NULL ||
            on_spot(nodes, node) != spot)
            continue;
        char name[256];
        snprintf(name, sizeof(name), "%.*s", SPAN_ARG(tree_string(pod, "metadata.name")));
        do_request(s, API_DELETE, KIND_POD, "default", name, NULL, 200);
        count--;
    }
    assert_int_equal(count, 0);
    json_decref(pods);
    json_decref(nodes);
}

static struct sim_stowage *start(struct sim **s_out, enum search_kind search)
{
    const struct sim_options o = {.cluster = {.apply_delay = 2, .reply_delay = 2, .watch_delay = 5}};
    const struct sim_stowage_options with = {
        .reconciler = {.batch_idle = 200, .batch_max = 2000, .plan = {.search = search}}};
    *s_out = new_sim_with(&o, general_yaml("5s", "1"));
    return start_asked(*s_out, &with);
}

static void end(struct sim *s, struct sim_stowage *w)
{
    stop_asked(s, w);
    sim_free(s);
}

static void a_deployment_keeps_its_split(void **state)
{
    static const enum search_kind searches[] = {SEARCH_GREEDY, SEARCH_CHEAPEST};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct sim *s;
        struct sim_stowage *w = start(&s, searches[i]);
        load(s, split_yaml("web", 10, "first"));
        settles_at(s, "ten pods", 4, 6);
        scale(s, "web", 20);
        settles_at(s, "twenty pods", 9, 11);
        scale(s, "web", 10);
        settles_at(s, "ten again: the youngest went", 4, 6);
        do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web",
                   "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":7}}}}", 200);
        settles_at(s, "a rollout", 4, 6);
        scale(s, "web", 1);
        settles_at(s, "one is on-demand", 0, 1);
        end(s, w);
    }
}

/* Whoever goes, those that come in their place make up for it. */
static void what_deviates_heals_with_the_next_pods(void **state)
{
    (void)state;
    struct sim *s;
    struct sim_stowage *w = start(&s, SEARCH_GREEDY);
    load(s, split_yaml("web", 10, "first"));
    settles_at(s, "ten pods", 4, 6);
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web",
               "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"stowage.dev/spot-percent\":"
               "\"100\"}}}}}",
               200);
    settles_at(s, "other annotations are another template", 8, 2);
    delete_some(s, true, 5);
    delete_some(s, false, 2);
    settles_at(s, "seven come anew", 8, 2);
    scale(s, "web", 3);
    scale(s, "web", 10);
    settles_at(s, "down and up at once", 8, 2);
    end(s, w);
}

static void count_asides(void *user, const struct decision *d)
{
    if (d->kind == DECISION_SET_ASIDE &&
        span_has_prefix(d->sentence, SPAN("Deployment default/web is not split between ")))
        (*(int *)user)++;
}

static void what_cannot_be_read_is_told_once(void **state)
{
    (void)state;
    int told = 0;
    const struct sim_stowage_options o = {.decided = count_asides, .user = &told};
    struct sim *s = new_sim(general_yaml("5s", "1"));
    struct sim_stowage *w = sim_stowage_new(s, &o);
    load(s, split_yaml("web", 3, "first"));
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web",
               "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":{\"stowage.dev/spot-percent\":"
               "\"half\"}}}}}",
               200);
    run_for(s, SETTLE_MS);
    assert_int_equal(told, 1);
    assert_int_equal(tally_of(s).waiting, 0);
    end(s, w);
}

/* The stand-in is a kube-scheduler: without Stowage nobody holds a split. */
static void a_scheduler_alone_knows_nothing_of_it(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("n1", "4", "8Gi"));
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"annotations\":{"
            "\"stowage.dev/spot-percent\":\"100\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}]}}");
    run_for(s, MS_MINUTE);
    json_t *pod = object_of(s, KIND_POD, "default", "p");
    assert_true(tree_is(pod, "spec.nodeName", "n1"));
    json_decref(pod);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_keeps_its_split),
        cmocka_unit_test(what_deviates_heals_with_the_next_pods),
        cmocka_unit_test(what_cannot_be_read_is_told_once),
        cmocka_unit_test(a_scheduler_alone_knows_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
