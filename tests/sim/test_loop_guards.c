/* What a partial view of the cluster stops, and what it does not. */
#include <stdio.h>

#include "tests/sim/support_loop.h"

static struct sim *cluster(void)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

/* Two nodes, of which the one with "web" becomes empty while the watch of a kind has been broken for a minute. */
static struct sim *begin_without(struct loop *l, enum kind broken)
{
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(l, s);
    run_for(s, 40 * MS_SECOND);
    sim_client_break_watch(l->api, broken, sim_now(s) + 5 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    scale(s, "web", 0);
    load(s, deployment_yaml("big", 1, "7", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "big"), 1);
    return s;
}

static void a_broken_watch_stops_removals_not_purchases(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin_without(&l, KIND_DISRUPTION_BUDGET);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_string_equal(l.last[DECISION_GUARD],
                        "no empty node is removed: the watch of poddisruptionbudgets has been broken "
                        "for a minute");
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 4 * MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    loop_end(&l);
}

static void a_broken_watch_of_what_no_removal_needs_stops_none(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin_without(&l, KIND_NAMESPACE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(l.decided[DECISION_GUARD], 0);
    loop_end(&l);
}

static void delete_first(struct sim *s, enum kind k)
{
    json_t *all = objects_of(s, k);
    do_request(s, API_DELETE, k, NULL,
               json_string_value(tree_get(json_array_get(all, 0), "metadata.name")), NULL, 200);
    json_decref(all);
}

/* An empty node whose claim is deleted is fenced off, and stays until what its end rests on is seen again. */
static void expect_end_waits_for(enum kind broken, const char *told)
{
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"Never\"}", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 2 * MS_SECOND);
    sim_client_break_watch(l.api, broken, sim_now(s) + 5 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    delete_first(s, KIND_NODE_CLAIM);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], told);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    loop_end(&l);
}

static void no_drain_ends_without_seeing_pods(void **state)
{
    (void)state;
    expect_end_waits_for(KIND_POD,
                         "no node is removed: the watch of pods has been broken for a minute");
}

static void no_drained_node_is_given_up_without_seeing_its_volumes(void **state)
{
    (void)state;
    expect_end_waits_for(KIND_VOLUME_ATTACHMENT,
                         "no drained node is given up: the watch of volumeattachments has been broken "
                         "for a minute");
}

static void who_does_not_see_nodes_gives_no_machine_up(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 20 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    load(s, deployment_yaml("big", 1, "7", "")); /* its Node comes, and is not seen */
    run_for(s, 19 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, MS_MINUTE); /* and is seen now */
    assert_int_equal(count_bound(s, "big"), 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    loop_end(&l);
}

/* A machine whose Node does not come is given up for good, though only by who has looked for so long. */
static void the_time_to_join_counts_anew_after_a_broken_watch(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"5h\"}}");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 20 * MS_MINUTE, false);
    run_for(s, 34 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    loop_end(&l);
}

static void load_own_nodes(struct sim *s, bool there)
{
    for (int i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof(name), "own-%d", i);
        if (there)
            load(s, ready_node_yaml(name, "1", "1Gi"));
        else
            do_request(s, API_DELETE, KIND_NODE, NULL, name, NULL, 200);
    }
}

/* An API server that does not get to list nodes again until the test lets it. */
static const struct api_ops *real_ops;
static uint32_t lists_wanted;

static void relist_later(struct api *api, enum kind k)
{
    (void)api;
    assert_int_equal(k, KIND_NODE);
    lists_wanted++; /* each after 10 s */
}

static void hold_lists(struct loop *l)
{
    static struct api_ops held;
    real_ops = l->api->ops;
    held = *real_ops;
    held.relist = relist_later;
    lists_wanted = 0;
    l->api->ops = &held;
}

static void let_list(struct loop *l)
{
    l->api->ops = real_ops;
    real_ops->relist(l->api, KIND_NODE);
}

/* Eight of nine nodes are not in the list with which the watch begins anew, while the ninth has become
 * empty; the second list is not there yet. */
static struct sim *lose_nodes(struct loop *l)
{
    struct sim *s = cluster();
    load_own_nodes(s, true);
    load(s, deployment_yaml("web", 2, "3", ""));
    loop_begin(l, s);
    hold_lists(l);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 9 * MS_SECOND);
    sim_client_break_watch(l->api, KIND_NODE, sim_now(s) + 1 * MS_SECOND, true);
    load_own_nodes(s, false);
    for (int i = 0; i < 40 && l->decided[DECISION_GUARD] == 0; i++)
        run_for(s, 50);
    assert_string_equal(l->last[DECISION_GUARD],
                        "no node is removed: a list showed 8 of 9 nodes gone; a second list is asked for");
    return s;
}

static void a_list_that_lost_many_nodes_is_not_believed_at_once(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = lose_nodes(&l);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(lists_wanted, 1); /* the watch asks again by itself when that one fails */
    assert_int_equal(l.decided[DECISION_GUARD], 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    let_list(&l); /* it agrees */
    run_for(s, MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

static void nodes_that_were_there_all_the_time_are_seen_again(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = lose_nodes(&l);
    load_own_nodes(s, true);
    let_list(&l);
    run_for(s, MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 8);
    loop_end(&l);
}

static void a_second_list_that_loses_more_is_looked_at_once_more(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = lose_nodes(&l);
    load_own_nodes(s, true);
    run_for(s, 11 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 1 * MS_SECOND, true);
    load_own_nodes(s, false);
    run_for(s, MS_MINUTE);
    assert_int_equal(lists_wanted, 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    loop_end(&l);
}

static void a_termination_that_has_begun_goes_on(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = lose_nodes(&l);
    delete_first(s, KIND_NODE_CLAIM);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_int_equal(l.decided[DECISION_GUARD], 1); /* nothing was taken back */
    loop_end(&l);
}

/* It may stand there, with pods on it, for all that a doubtful list says. */
static void the_machine_of_a_node_that_was_lost_is_not_given_up(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "3", ""));
    loop_begin(&l, s);
    hold_lists(&l);
    run_for(s, 30 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 1 * MS_SECOND, true);
    json_t *nodes = objects_of(s, KIND_NODE);
    const char *name = json_string_value(tree_get(json_array_get(nodes, 0), "metadata.name"));
    do_request(s, API_MERGE, KIND_NODE, NULL, name, "{\"metadata\":{\"finalizers\":null}}", 200);
    do_request(s, API_DELETE, KIND_NODE, NULL, name, NULL, 200);
    json_decref(nodes);
    delete_first(s, KIND_NODE_CLAIM);
    run_for(s, MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD],
                        "no node is removed: a list showed 1 of 1 nodes gone; a second list is asked for");
    assert_int_equal(l.decided[DECISION_GONE], 0);
    let_list(&l);
    run_for(s, MS_MINUTE);
    assert_int_equal(l.decided[DECISION_GONE], 1);
    loop_end(&l);
}

/* An API server that answers a LIST of a kind, after a 410, with nothing. */
struct short_list {
    struct loop l;
    struct sim *s;
    wall_ms lost, asked; /* when it was seen, and when a second list was asked for; 0: not yet */
};

static struct short_list *heard_by;

static void note_relist(struct api *api, enum kind k)
{
    heard_by->asked = sim_now(heard_by->s);
    real_ops->relist(api, k);
}

static void begin_short(struct short_list *x, enum kind k, uint32_t lists)
{
    static struct api_ops noting;
    heard_by = x;
    real_ops = x->l.api->ops;
    noting = *real_ops;
    noting.relist = note_relist;
    x->l.api->ops = &noting;
    sim_client_hide(x->l.api, k, lists);
    sim_client_break_watch(x->l.api, k, sim_now(x->s) + MS_SECOND, true);
    for (int i = 0; i < 40 && x->l.decided[DECISION_GUARD] == 0; i++)
        run_for(x->s, 50);
    x->lost = sim_now(x->s);
    assert_int_equal(x->asked, 0);
}

static void until_confirmed(struct short_list *x)
{
    for (int i = 0; i < 400 && strcmp(x->l.last[DECISION_GUARD], "nodes may be removed again") != 0; i++)
        run_for(x->s, 50);
    assert_string_equal(x->l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(x->l.decided[DECISION_GUARD], 2);
    assert_in_range(x->asked - x->lost, 10 * MS_SECOND - 100, 10 * MS_SECOND + 100);
}

/* Pods run on a node, which is full of them. */
static void begin_with_pods(struct short_list *x, const char *disruption)
{
    *x = (struct short_list){.s = new_sim(node_class_yaml())};
    load(x->s, pool_yaml("general", disruption, ""));
    load(x->s, deployment_yaml("web", 2, "3", ""));
    loop_begin(&x->l, x->s);
    run_for(x->s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(x->s, "web"), 2);
}

static void a_list_without_pods_removes_no_node_that_has_some(void **state)
{
    (void)state;
    struct short_list x;
    begin_with_pods(&x, "");
    size_t nodes = count_objects(x.s, KIND_NODE);
    begin_short(&x, KIND_POD, 1);
    assert_string_equal(x.l.last[DECISION_GUARD],
                        "no node is removed: a list showed 2 of 2 pods gone; a second list is asked for");
    assert_float_equal(x.l.measured[MEASURE_REMOVALS_STOPPED], 1, 0);
    until_confirmed(&x); /* they are there */
    assert_float_equal(x.l.measured[MEASURE_REMOVALS_STOPPED], 0, 0);
    run_for(x.s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(x.s, KIND_NODE), nodes);
    assert_int_equal(count_bound(x.s, "web"), 2);
    assert_int_equal(x.l.decided[DECISION_REMOVE], 0);
    scale(x.s, "web", 0); /* and goes on */
    run_for(x.s, MS_MINUTE);
    assert_int_equal(count_objects(x.s, KIND_NODE), 0);
    loop_end(&x.l);
}

/* The pods have stood there for two minutes: by the times that the API has, the node was empty for longer than
 * consolidateAfter as soon as they were not seen. */
static void a_node_is_empty_since_the_list_that_confirmed_it(void **state)
{
    (void)state;
    struct short_list x;
    begin_with_pods(&x, "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"1m\"}");
    begin_short(&x, KIND_POD, UINT32_MAX);
    until_confirmed(&x);
    run_for(x.s, 70 * MS_SECOND); /* consolidateAfter, and most of the time of validation */
    assert_int_equal(x.l.decided[DECISION_REMOVE], 0);
    run_for(x.s, 20 * MS_SECOND);
    assert_int_not_equal(x.l.decided[DECISION_REMOVE], 0);
    loop_end(&x.l);
}

static void a_list_without_budgets_removes_no_node(void **state)
{
    (void)state;
    struct short_list x = {.s = cluster()};
    load(x.s, "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"web\","
              "\"namespace\":\"default\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}}");
    load(x.s, deployment_yaml("web", 2, "3", ""));
    loop_begin(&x.l, x.s);
    run_for(x.s, 40 * MS_SECOND);
    scale(x.s, "web", 0);
    run_for(x.s, 5 * MS_SECOND); /* the node is looked at a second time before it goes */
    begin_short(&x, KIND_DISRUPTION_BUDGET, 1);
    assert_string_equal(x.l.last[DECISION_GUARD],
                        "no node is removed: a list showed 1 of 1 poddisruptionbudgets gone; a second list is asked for");
    until_confirmed(&x);
    run_for(x.s, 12 * MS_SECOND); /* the second look is 15 s after the first, which what is held is not */
    assert_int_equal(x.l.decided[DECISION_REMOVE], 0);
    run_for(x.s, MS_MINUTE);
    assert_int_equal(count_objects(x.s, KIND_NODE), 0);
    loop_end(&x.l);
}

/* A Job's pods, of which the watch has reported the deletion. */
static void deletions_that_were_seen_are_no_loss(void **state)
{
    (void)state;
    struct short_list x;
    begin_with_pods(&x, "");
    load(x.s, deployment_yaml("job", 20, "100m", ""));
    run_for(x.s, MS_MINUTE);
    assert_int_equal(count_bound(x.s, "job"), 20);
    scale(x.s, "job", 0);
    run_for(x.s, 2 * MS_SECOND);
    begin_short(&x, KIND_POD, 0);
    run_for(x.s, MS_MINUTE);
    assert_int_equal(x.l.decided[DECISION_GUARD], 0);
    assert_int_equal(count_bound(x.s, "web"), 2);
    loop_end(&x.l);
}

/* A node that is drained has pods that run on; its machine does not go for a list without them. */
static void no_drain_ends_by_a_list_without_pods(void **state)
{
    (void)state;
    struct short_list x;
    begin_with_pods(&x, "");
    load(x.s, "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"web\","
              "\"namespace\":\"default\"},\"spec\":{\"minAvailable\":2,\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}}");
    run_for(x.s, 10 * MS_SECOND);
    delete_first(x.s, KIND_NODE_CLAIM);
    run_for(x.s, MS_MINUTE);
    size_t nodes = count_objects(x.s, KIND_NODE);
    begin_short(&x, KIND_POD, 1);
    until_confirmed(&x);
    run_for(x.s, MS_MINUTE);
    assert_int_equal(count_objects(x.s, KIND_NODE), nodes);
    assert_int_equal(count_bound(x.s, "web"), 2);
    loop_end(&x.l);
}

/* What begins of itself waits until the cluster is seen whole, and begins then. */
static void no_claim_expires_unseen(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ",\"expireAfter\":\"2m\""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 5 * MS_MINUTE, false);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 70 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    loop_end(&l);
}

static void no_machine_is_collected_unseen(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE_CLAIM, sim_now(s) + 150 * MS_SECOND, false);
    run_for(s, 70 * MS_SECOND);
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"lost\","
            "\"annotations\":{\"stowage.dev/nodeclaim-uid\":\"no-such-uid\"}},\"spec\":{"
            "\"providerID\":\"kwok://lost\"}}");
    run_for(s, 70 * MS_SECOND); /* several looks at what the provider lists */
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

static void no_pool_with_replicas_shrinks_unseen(void **state)
{
    (void)state;
    struct loop l = {.options = {.static_capacity = true}};
    struct sim *s = cluster();
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", "{\"spec\":{\"replicas\":2}}", 200);
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    sim_client_break_watch(l.api, KIND_POD, sim_now(s) + 3 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", "{\"spec\":{\"replicas\":1}}", 200);
    run_for(s, 100 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    loop_end(&l);
}

struct writes_seen {
    uint32_t deletes[KIND_STORED_COUNT], patches[KIND_STORED_COUNT];
};

/* Lists, which a merge patch replaces as a whole. */
static bool has_list(struct span body)
{
    return span_contains(body, SPAN("\"finalizers\":")) || span_contains(body, SPAN("\"taints\":")) ||
           span_contains(body, SPAN("\"conditions\":"));
}

static enum sim_fate look_at_write(void *user, uint64_t number, const struct api_request *r,
                                   struct sim_refusal *refusal)
{
    struct writes_seen *seen = user;
    bool uid = span_contains(r->body, SPAN("\"uid\":\"")), version = span_contains(r->body, SPAN("\"resourceVersion\":\""));
    (void)number;
    (void)refusal;
    if (r->verb == API_DELETE && (r->kind == KIND_NODE || r->kind == KIND_NODE_CLAIM)) {
        seen->deletes[r->kind]++;
        if (!uid || !version)
            fail_msg("DELETE %s with %.*s", kind_info(r->kind)->plural, SPAN_ARG(r->body));
    } else if (r->verb == API_MERGE && r->is_act) {
        seen->patches[r->kind]++;
        if (has_list(r->body) ? !version : !uid && !version)
            fail_msg("PATCH %s with %.*s", kind_info(r->kind)->plural, SPAN_ARG(r->body));
    }
    return SIM_PASS;
}

/* What a leader that was cut off sent in the end does nothing to what its successor has changed since, and nothing at all
 * to another object that has the name by then. */
static void each_write_is_of_what_was_decided_on(void **state)
{
    (void)state;
    struct writes_seen seen = {0};
    struct loop l = {.faults = {.user = &seen, .before = look_at_write}};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(seen.deletes[KIND_NODE_CLAIM], 1);
    assert_int_equal(seen.deletes[KIND_NODE], 1);
    assert_true(seen.patches[KIND_NODE_CLAIM] != 0 && seen.patches[KIND_NODE] != 0 && seen.patches[KIND_NODE_POOL] != 0);
    loop_end(&l);
}

/* Its create was answered, and no watch shows it: the API is asked now and then whether it is there, and nothing else is
 * done about it meanwhile. */
static void a_claim_that_is_not_seen_is_asked_about_now_and_then(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    loop_begin(&l, s);
    run_for(s, 10 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE_CLAIM, sim_now(s) + 3 * MS_MINUTE, false);
    load(s, deployment_yaml("web", 1, "500m", ""));
    run_for(s, 20 * MS_SECOND);
    double passes = l.measured[MEASURE_RECONCILE_TOTAL];
    run_for(s, 2 * MS_MINUTE); /* comes to rest in every moment of it */
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_true(l.measured[MEASURE_RECONCILE_TOTAL] - passes < 120);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_int_equal(count_bound(s, "web"), 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_watch_stops_removals_not_purchases),
        cmocka_unit_test(a_broken_watch_of_what_no_removal_needs_stops_none),
        cmocka_unit_test(no_claim_expires_unseen),
        cmocka_unit_test(no_machine_is_collected_unseen),
        cmocka_unit_test(no_pool_with_replicas_shrinks_unseen),
        cmocka_unit_test(no_drain_ends_without_seeing_pods),
        cmocka_unit_test(no_drained_node_is_given_up_without_seeing_its_volumes),
        cmocka_unit_test(each_write_is_of_what_was_decided_on),
        cmocka_unit_test(who_does_not_see_nodes_gives_no_machine_up),
        cmocka_unit_test(the_time_to_join_counts_anew_after_a_broken_watch),
        cmocka_unit_test(a_list_that_lost_many_nodes_is_not_believed_at_once),
        cmocka_unit_test(nodes_that_were_there_all_the_time_are_seen_again),
        cmocka_unit_test(a_second_list_that_loses_more_is_looked_at_once_more),
        cmocka_unit_test(a_termination_that_has_begun_goes_on),
        cmocka_unit_test(the_machine_of_a_node_that_was_lost_is_not_given_up),
        cmocka_unit_test(a_list_without_pods_removes_no_node_that_has_some),
        cmocka_unit_test(a_node_is_empty_since_the_list_that_confirmed_it),
        cmocka_unit_test(a_list_without_budgets_removes_no_node),
        cmocka_unit_test(deletions_that_were_seen_are_no_loss),
        cmocka_unit_test(no_drain_ends_by_a_list_without_pods),
        cmocka_unit_test(a_claim_that_is_not_seen_is_asked_about_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
