/* No machine for who finds the room of a pod that is about to end. */
#include <stdio.h>

#include "tests/sim/support_loop.h"

#define GRACE(seconds) ",\"terminationGracePeriodSeconds\":" #seconds

static const struct {
    const char *label, *more; /* members of the pods' spec */
    enum search_kind search;
    span_ms stops;   /* after so long */
    bool held;       /* by a finalizer, whatever its grace */
    bool node_goes;
    int also;        /* pods that come beside its successor */
    size_t soon, at_last; /* machines bought after ten seconds, and after three minutes */
} rows[] = {
    {"its room is free in a moment", GRACE(30), SEARCH_CHEAPEST, 8 * MS_SECOND, false, false, 0, 0, 0},
    {"as Karpenter does", GRACE(30), SEARCH_GREEDY, 8 * MS_SECOND, false, false, 0, 1, 1},
    {"it may take longer than a machine", GRACE(90), SEARCH_CHEAPEST, 80 * MS_SECOND, false, false, 0, 1, 1},
    {"it is there after its grace", GRACE(15), SEARCH_CHEAPEST, 15 * MS_SECOND, true, false, 0, 0, 1},
    {"its node goes", GRACE(30), SEARCH_CHEAPEST, 25 * MS_SECOND, false, true, 0, 1, 1},
    {"another comes, for whom there is no such room", GRACE(30), SEARCH_CHEAPEST, 8 * MS_SECOND, false, false, 1, 1, 1},
};

/* The name of a pod, and of its node; good until the next call. */
static const char *some_pod(struct sim *s, char node_out[64])
{
    static char name[64];
    json_t *pods = objects_of(s, KIND_POD);
    snprintf(name, sizeof name, "%.*s", SPAN_ARG(tree_string(json_array_get(pods, 0), "metadata.name")));
    snprintf(node_out, 64, "%.*s", SPAN_ARG(tree_string(json_array_get(pods, 0), "spec.nodeName")));
    json_decref(pods);
    return name;
}

static void no_machine_for_who_finds_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char node[64];
        struct loop l = {.catalogue = two_types, .options.plan.search = rows[i].search};
        struct sim *s = new_sim_with(&(struct sim_options){.delays.pod_stop = rows[i].stops}, node_class_yaml());
        load(s, pool_yaml("general", "", ""));
        load(s, deployment_yaml("web", 3, "14", rows[i].more));
        loop_begin(&l, s);
        run_for(s, 2 * MS_MINUTE);
        assert_int_equal(count_bound(s, "web"), 3);
        struct census claims;
        census_begin(&claims, s, KIND_NODE_CLAIM);
        run_for(s, MS_SECOND);
        size_t before = census_count(&claims);
        const char *pod = some_pod(s, node);
        if (rows[i].held)
            do_request(s, API_MERGE, KIND_POD, "default", pod, "{\"metadata\":{\"finalizers\":[\"x/held\"]}}", 200);
        do_request(s, API_DELETE, KIND_POD, "default", pod, NULL, 200);
        if (rows[i].node_goes)
            do_request(s, API_DELETE, KIND_NODE, NULL, node, NULL, 200);
        scale(s, "web", 3 + rows[i].also);
        run_for(s, 10 * MS_SECOND);
        size_t soon = census_count(&claims) - before;
        run_for(s, 3 * MS_MINUTE);
        size_t at_last = census_count(&claims) - before;
        if ((soon != 0) != (rows[i].soon != 0) || (at_last != 0) != (rows[i].at_last != 0) ||
            count_bound(s, "web") != 3 + (size_t)rows[i].also + rows[i].held)
            fail_msg("%s: %zu machines soon, %zu at last; %zu pods bound", rows[i].label, soon, at_last,
                     count_bound(s, "web"));
        census_end(&claims);
        loop_end(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_machine_for_who_finds_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
