/* What a next leader knows of places before it has planned anything itself: what stowage.dev/planned says. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static void add_pod(struct sim *s, const char *name, const char *cpu)
{
    char text[512];
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Pod\nmetadata: {namespace: default, name: %s}\n"
             "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: %s}}}]}\n"
             "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
             "Unschedulable}]}\n",
             name, cpu);
    load(s, text);
}

/* Machines of 16 CPUs whose startup taint nobody takes away, so that they stay on their way. */
static void begin(struct loop *l)
{
    const struct sim_options o = {.no_scheduler = true};
    struct sim *s = new_sim_with(&o, node_class_yaml());
    load(s, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n"
            "spec:\n  template:\n    spec:\n"
            "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
            "      startupTaints: [{key: a/starting, effect: NoSchedule}]\n"
            "      requirements: [{key: karpenter.kwok.sh/instance-cpu, operator: In, values: ['16']}]\n");
    loop_begin(l, s);
}

static struct span member(struct sim *s, json_t **all_out, const char *path)
{
    *all_out = objects_of(s, KIND_NODE_CLAIM);
    assert_int_equal(json_array_size(*all_out), 1);
    return tree_string(json_array_get(*all_out, 0), path);
}

/* How many pods the one claim was planned for, as it says. */
static int64_t planned(struct sim *s)
{
    json_t *all;
    member(s, &all, "metadata.name");
    json_t *annotations = tree_get(json_array_get(all, 0), "metadata.annotations");
    struct span rest = span_of(json_string_value(json_object_get(annotations, "stowage.dev/planned")));
    int64_t sum = 0, n;
    while (rest.len != 0) {
        struct span hash, item = span_cut(rest, ',', &rest);
        assert_true(span_int64(span_cut(item, 'x', &hash), &n));
        sum += n;
    }
    json_decref(all);
    return sum;
}

static uint32_t places_on_it(struct loop *l)
{
    json_t *all;
    struct span name = member(l->sim, &all, "metadata.name");
    struct places *p = (struct places *)share_take(&l->places);
    uint32_t count = 0;
    for (uint32_t i = 0; p != NULL && i < p->count; i++)
        count += span_eq(p->items[i].target, name); /* the Node has the claim's name */
    if (p != NULL)
        shared_unref(&p->shared);
    json_decref(all);
    return count;
}

static void version(struct sim *s, char out[32])
{
    json_t *all;
    struct span text = member(s, &all, "metadata.resourceVersion");
    snprintf(out, 32, "%.*s", SPAN_ARG(text));
    json_decref(all);
}

static void later_pods_too(void **state)
{
    (void)state;
    struct loop l = {.starts = 0};
    char before[32], after[32];
    begin(&l);
    add_pod(l.sim, "a", "700m");
    run_for(l.sim, 30 * MS_SECOND);
    assert_int_equal(planned(l.sim), 1);
    assert_int_equal(count_objects(l.sim, KIND_NODE), 1);
    add_pod(l.sim, "b", "700m");
    add_pod(l.sim, "c", "2");
    run_for(l.sim, 5 * MS_SECOND);
    assert_int_equal(places_on_it(&l), 3);
    assert_int_equal(planned(l.sim), 3);

    version(l.sim, before);
    run_for(l.sim, 2 * MS_MINUTE);
    version(l.sim, after);
    assert_string_equal(after, before); /* written once */

    loop_stop(&l);
    l.options.batch_idle = l.options.batch_max = 10 * MS_MINUTE; /* it does not plan yet */
    loop_start(&l);
    run_for(l.sim, MS_SECOND);
    assert_int_equal(places_on_it(&l), 3);
    loop_end(&l);
}

static void nobody_who_is_gone(void **state)
{
    (void)state;
    struct loop l = {.starts = 0};
    begin(&l);
    add_pod(l.sim, "a", "700m");
    add_pod(l.sim, "b", "700m");
    run_for(l.sim, 30 * MS_SECOND);
    assert_int_equal(planned(l.sim), 2);
    do_request(l.sim, API_DELETE, KIND_POD, "default", "b", "{\"gracePeriodSeconds\":0}", 200);
    run_for(l.sim, 2 * MS_SECOND);
    assert_int_equal(planned(l.sim), 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_pods_too),
        cmocka_unit_test(nobody_who_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
