/* The stand-in scheduler keeps the rules that the plan is made by: a plan that breaks one cannot be bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_sim.h"

/* Nodes a and b in zone-a, c in zone-b. */
#define NODE(name, zone)                                                                                   \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name     \
    ", zone: " zone "}}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}, conditions: [{type: Ready, " \
    "status: 'True'}]}\n"
static const char nodes[] = NODE("a", "zone-a") NODE("b", "zone-a") NODE("c", "zone-b");

#define AFFINE(kind, app, key) \
    ",\"affinity\":{\"" kind "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"" key \
    "\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app "\"}}}]}}"
#define SPREAD(key, more) \
    ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"" key \
    "\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"x\"}}" more "}]"
#define HOST "kubernetes.io/hostname"
#define PORT \
    ",\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"ports\":[{\"containerPort\":80,\"hostPort\":80}]}]"
#define CLAIM ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}]"
#define VOLUME_OF_B                                                                                          \
    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk}\nspec: {capacity: {storage: 1Gi}, "   \
    "claimRef: {namespace: default, name: data}, nodeAffinity: {required: {nodeSelectorTerms: [{"            \
    "matchExpressions: [{key: zone, operator: In, values: [zone-b]}]}]}}}\n---\n"                            \
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default, annotations: "  \
    "{pv.kubernetes.io/bind-completed: 'yes'}}\nspec: {volumeName: disk, storageClassName: s}\n"

struct row {
    const char *label, *more; /* members of the pods' spec */
    int replicas;
    int on[3], waiting; /* on a, b, c */
    const char *why, *also; /* an object more */
};

static const struct row rows[] = {
    {"they go where it is fullest", "", 3, {3, 0, 0}, 0, "", NULL},
    {"anti-affinity to its own kind, one a node", AFFINE("podAntiAffinity", "x", HOST), 4, {1, 1, 1}, 1,
     "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.", NULL},
    {"the same, one a zone", AFFINE("podAntiAffinity", "x", "zone"), 3, {1, 0, 1}, 1,
     "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.", NULL},
    {"affinity to nobody", AFFINE("podAffinity", "none", "zone"), 1, {0, 0, 0}, 1,
     "0/3 nodes are available: 3 node(s) didn't match pod affinity rules.", NULL},
    {"affinity to its own kind: where the first went, until that is full",
     ",\"nodeSelector\":{\"zone\":\"zone-b\"}" AFFINE("podAffinity", "x", HOST), 5, {0, 0, 4}, 1,
     "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector.", NULL},
    {"a spread over zones", SPREAD("zone", ""), 5, {3, 0, 2}, 0, "", NULL},
    {"a spread over nodes, one of which has no room for more", SPREAD(HOST, ""), 12, {4, 4, 4}, 0, "", NULL},
    {"fewer zones than minDomains", SPREAD("zone", ",\"minDomains\":3"), 3, {1, 0, 1}, 1,
     "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.", NULL},
    {"fewer nodes than minDomains", SPREAD(HOST, ",\"minDomains\":4"), 4, {1, 1, 1}, 1,
     "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.", NULL},
    {"one host port a node", PORT, 4, {1, 1, 1}, 1,
     "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.", NULL},
    {"its volume is in another zone", CLAIM, 1, {0, 0, 1}, 0, "", VOLUME_OF_B},
    {"its volume is in a zone to which it may not go", CLAIM ",\"nodeSelector\":{\"zone\":\"zone-a\"}", 1,
     {0, 0, 0}, 1,
     "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't match "
     "PersistentVolume's node affinity.",
     VOLUME_OF_B},
    {"its volume's claim does not exist", CLAIM, 1, {0, 0, 0}, 1,
     "0/3 nodes are available: 3 PersistentVolumeClaim default/data does not exist; create it.", NULL},
};

static void rules_between_pods_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        struct sim *s = new_sim(nodes);
        if (r->also != NULL)
            load(s, r->also);
        load(s, deployment_yaml("x", r->replicas, "1", r->more));
        run_for(s, 5 * MS_SECOND);
        int a = (int)count_pods(s, "x", "a"), b = (int)count_pods(s, "x", "b"),
            c = (int)count_pods(s, "x", "c"), waiting = (int)count_pods(s, "x", "");
        if (a != r->on[0] || b != r->on[1] || c != r->on[2] || waiting != r->waiting)
            fail_msg("%s: %d on a, %d on b, %d on c, %d waiting: %s", r->label, a, b, c, waiting,
                     why_pending(s));
        if (strcmp(why_pending(s), r->why) != 0)
            fail_msg("%s: %s", r->label, why_pending(s));
        sim_free(s);
    }
}

/* Anti-affinity also holds against those who come later and ask for nothing. */
static void who_stands_there_keeps_others_off(void **state)
{
    (void)state;
    struct sim *s = new_sim(nodes);
    load(s, deployment_yaml("guard", 2, "1", AFFINE("podAntiAffinity", "x", "zone")));
    run_for(s, 5 * MS_SECOND);
    load(s, deployment_yaml("x", 1, "1", ",\"nodeSelector\":{\"zone\":\"zone-a\"}"));
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "x", ""), 1);
    assert_string_equal(why_pending(s),
                        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 "
                        "node(s) didn't satisfy existing pods anti-affinity rules.");
    scale(s, "guard", 0);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_pods(s, "x", ""), 0);
    sim_free(s);
}

/* Who was refused in the same pass finds the other a moment later. */
static void who_waits_for_another_follows_it(void **state)
{
    (void)state;
    struct sim *s = new_sim(nodes);
    load(s, deployment_yaml("follower", 3, "1", AFFINE("podAffinity", "x", "zone")));
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "follower", ""), 3);
    load(s, deployment_yaml("x", 1, "1", ",\"nodeSelector\":{\"zone\":\"zone-b\"}"));
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "follower", "c"), 3);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_between_pods_are_kept),
        cmocka_unit_test(who_stands_there_keeps_others_off),
        cmocka_unit_test(who_waits_for_another_follows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
