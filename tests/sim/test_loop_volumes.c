/* A machine does not go while volumes of pods that were drained are attached to it. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static void attach(struct sim *s, const char *name, const char *node, const char *source)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"VolumeAttachment\",\"metadata\":{\"name\":"
             "\"%s\"},\"spec\":{\"attacher\":\"a\",\"nodeName\":\"%s\",\"source\":{%s}}}",
             name, node, source);
    load(s, text);
}

/* A node with a pod, and an attachment that holds it, that is asked to leave; `node_out` has room for 64. */
static struct sim *begin(struct loop *l, const char *template_more, const char *source, char *node_out)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", template_more));
    load(s, deployment_yaml("web", 1, "500m", ""));
    l->keeps = true;
    loop_begin(l, s);
    run_for(s, 40 * MS_SECOND);
    json_t *node = only(s, KIND_NODE);
    snprintf(node_out, 64, "%s", json_string_value(tree_get(node, "metadata.name")));
    json_decref(node);
    attach(s, "csi-1", node_out, source);
    run_for(s, MS_SECOND);
    do_request(s, API_DELETE, KIND_NODE, NULL, node_out, NULL, 200);
    return s;
}

static void expect_detached(struct sim *s, const char *node, const char *status, const char *reason)
{
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, node);
    const json_t *c = tree_condition(claim, "VolumesDetached");
    if (c == NULL || !span_eq(tree_string(c, "status"), span_of(status)) ||
        !span_eq(tree_string(c, "reason"), span_of(reason)))
        fail_msg("%.*s %.*s", SPAN_ARG(tree_string(c, "status")), SPAN_ARG(tree_string(c, "reason")));
    assert_true(tree_condition_is(claim, "Drained", "True"));
    json_decref(claim);
}

/* 220 */
static void a_machine_waits_for_its_volumes(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin(&l, "", "\"persistentVolumeName\":\"pv-1\"", node);
    run_for(s, 10 * MS_MINUTE);
    expect_detached(s, node, "Unknown", "AwaitingVolumeDetachment");
    assert_non_null(strstr(l.last[DECISION_DRAIN], "  1 volume is still attached (VolumeAttachment csi-1)"));
    buf_add_char(&l.history, '\0');
    const char *event = strstr(l.history.ptr, "event AwaitingVolumeDetachment ");
    assert_non_null(event);
    assert_non_null(strstr(event, ": Awaiting deletion of bound volumeattachments (csi-1)"));
    assert_null(strstr(event + 1, "event AwaitingVolumeDetachment ")); /* told once */
    do_request(s, API_DELETE, KIND_VOLUME_ATTACHMENT, NULL, "csi-1", NULL, 200);
    run_for(s, 10 * MS_SECOND);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    assert_string_equal(l.last[DECISION_DRAIN], "");
    assert_no_orphans(s);
    buf_release(&l.history);
    loop_end(&l);
}

struct listener {
    struct sim *sim;
    const char *name; /* of the claim */
    bool told;        /* that it goes though volumes are attached */
};

static wall_ms listen(void *user, wall_ms now)
{
    struct listener *x = user;
    (void)now;
    json_t *claim = object_of(x->sim, KIND_NODE_CLAIM, NULL, x->name);
    const json_t *c = tree_condition(claim, "VolumesDetached");
    x->told = x->told || (tree_is(c, "status", "False") && tree_is(c, "reason", "TerminationGracePeriodElapsed"));
    json_decref(claim);
    return INT64_MAX;
}

/* 220: and it is said that they are attached still. */
static void the_grace_period_ends_the_wait(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin(&l, ",\"terminationGracePeriod\":\"5m\"", "\"persistentVolumeName\":\"pv-1\"", node);
    run_for(s, 4 * MS_MINUTE);
    expect_detached(s, node, "Unknown", "AwaitingVolumeDetachment");
    struct listener x = {.sim = s, .name = node};
    sim_add_actor(s, (struct sim_actor){.user = &x, .step = listen});
    run_for(s, 2 * MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    assert_true(x.told);
    buf_release(&l.history);
    loop_end(&l);
}

static void what_is_inline_is_not_waited_for(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin(&l, "", "\"inlineVolumeSpec\":{}", node);
    run_for(s, MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    buf_release(&l.history);
    loop_end(&l);
}

/* 220: a pod that is not drained keeps its volume for as long as there is a node. */
static void what_a_pod_that_stays_has_attached_is_not_waited_for(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64], text[512];
    struct sim *s = begin(&l, "", "\"persistentVolumeName\":\"pv-1\"", node);
    attach(s, "csi-2", "another-node", "\"persistentVolumeName\":\"pv-2\"");
    load(s, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default}\n"
            "spec: {volumeName: pv-1, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
            "status: {phase: Bound}\n");
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Pod\nmetadata: {name: agent, namespace: default}\n"
             "spec: {nodeName: %s, tolerations: [{operator: Exists}], containers: [{name: c, image: i}],\n"
             "  volumes: [{name: v, persistentVolumeClaim: {claimName: missing}},\n"
             "            {name: d, persistentVolumeClaim: {claimName: data}}]}\n",
             node);
    load(s, text);
    run_for(s, MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    buf_release(&l.history);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_waits_for_its_volumes),
        cmocka_unit_test(the_grace_period_ends_the_wait),
        cmocka_unit_test(what_is_inline_is_not_waited_for),
        cmocka_unit_test(what_a_pod_that_stays_has_attached_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
