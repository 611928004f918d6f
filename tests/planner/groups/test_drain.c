/* What becomes of a pod when its node goes (spec node-groups 4.4, scenarios 124 to 137). */
#include "planner/groups/down/drain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube/kind.h"
#include "kube/workload.h"

#define OWNED(api, kind, name)                                                                     \
    "ownerReferences: [{apiVersion: " api ", kind: " kind ", name: " name ", uid: u, controller: true}], "
#define WEB OWNED("apps/v1", "ReplicaSet", "web") /* one replica */
#define SAFE(value) "annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: '" value "'}, "
#define DISK "volumes: [{name: v, emptyDir: {}}]"
#define SYSTEM "namespace: kube-system, "
#define SYSTEM_WEB SYSTEM "creationTimestamp: '2026-01-01T11:30:00Z', " WEB
#define OLD_SYSTEM SYSTEM "creationTimestamp: '2026-01-01T10:59:59Z', "
#define LABELLED(app) "labels: {app: " app "}, "

enum { DEFAULTS = 0, SYSTEM_TOO = 1, STORAGE_TOO = 2, CUSTOM_TOO = 4, TWO_REPLICAS = 8, UNASKED = 16 };

static const struct {
    const char *label, *meta, *spec;
    unsigned unlike;
    enum drain_outcome outcome;
    enum drain_block block;
} rows[] = {
    {"of a ReplicaSet", WEB, "", DEFAULTS, DRAIN_MOVE, 0},
    {"of a Job", OWNED("batch/v1", "Job", "once"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"of a StatefulSet", OWNED("apps/v1", "StatefulSet", "db"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"of a ReplicationController", OWNED("v1", "ReplicationController", "rc"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"124: naked", "", "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_REPLICATED},
    {"124: owned, not controlled", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u}], ", "",
     DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_REPLICATED},
    {"125: naked, safe to evict", SAFE("true"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"126: a custom controller", OWNED("x.io/v1", "Thing", "t"), "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_REPLICATED},
    {"126: let through", OWNED("x.io/v1", "Thing", "t"), "", CUSTOM_TOO, DRAIN_MOVE, 0},
    {"126: naked all the same", "", "", CUSTOM_TOO, DRAIN_BLOCK, DRAIN_NOT_REPLICATED},
    {"127: of kube-system, half an hour old", SYSTEM_WEB, "", DEFAULTS, DRAIN_BLOCK, DRAIN_SYSTEM_POD},
    {"127: over an hour old", OLD_SYSTEM WEB, "", DEFAULTS, DRAIN_MOVE, 0},
    {"127: an hour old to the second", SYSTEM "creationTimestamp: '2026-01-01T11:00:00Z', " WEB, "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_SYSTEM_POD},
    {"127: nobody knows how old", SYSTEM WEB, "", DEFAULTS, DRAIN_BLOCK, DRAIN_SYSTEM_POD},
    {"127: old, and its storage goes with it", OLD_SYSTEM WEB, DISK, DEFAULTS, DRAIN_MOVE, 0},
    {"127: old and naked", OLD_SYSTEM, "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_REPLICATED},
    {"127: such nodes are not skipped", SYSTEM_WEB, "", SYSTEM_TOO, DRAIN_MOVE, 0},
    {"128: a budget allows one", LABELLED("open") SYSTEM_WEB, "", DEFAULTS, DRAIN_MOVE, 0},
    {"128: a budget allows none", LABELLED("shut") SYSTEM_WEB, "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_ENOUGH_PDB},
    {"129: storage on the node", WEB, DISK, DEFAULTS, DRAIN_BLOCK, DRAIN_LOCAL_STORAGE},
    {"129: that is named as safe",
     "annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: v}, " WEB, DISK, DEFAULTS, DRAIN_MOVE, 0},
    {"129: such nodes are not skipped", WEB, DISK, STORAGE_TOO, DRAIN_MOVE, 0},
    {"130: a closed budget", LABELLED("shut") WEB, "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_ENOUGH_PDB},
    {"130: a closed budget, safe to evict", LABELLED("shut") SAFE("true") WEB, "", DEFAULTS, DRAIN_MOVE, 0},
    {"130: one of two budgets is closed", "labels: {app: open, tier: shut}, " WEB, "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_NOT_ENOUGH_PDB},
    {"130: a budget of another namespace", "namespace: other, " LABELLED("shut") WEB, "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"131: not safe to evict", SAFE("false") WEB, "", DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_SAFE},
    {"131: any other word says nothing", SAFE("False") WEB, "", DEFAULTS, DRAIN_MOVE, 0},
    {"131: told before its storage", SAFE("false") WEB, DISK, DEFAULTS, DRAIN_BLOCK, DRAIN_NOT_SAFE},
    {"129: told before its budget", LABELLED("shut") WEB, DISK, DEFAULTS, DRAIN_BLOCK, DRAIN_LOCAL_STORAGE},
    {"132: goes on until it has ended", SAFE("on-completion"), "", DEFAULTS, DRAIN_WAIT, 0},
    {"133: the ReplicaSet is gone", OWNED("apps/v1", "ReplicaSet", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: gone, and the pod safe to evict", SAFE("true") OWNED("apps/v1", "ReplicaSet", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: gone, of any API group", OWNED("extensions/v1beta1", "ReplicaSet", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: what is no API version is not looked up", OWNED("a/b/c", "ReplicaSet", "gone"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"133: the Job is gone", OWNED("batch/v1", "Job", "gone"), "", DEFAULTS, DRAIN_BLOCK, DRAIN_CONTROLLER_NOT_FOUND},
    {"133: the ReplicationController is gone", OWNED("v1", "ReplicationController", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: the StatefulSet is gone", OWNED("apps/v1", "StatefulSet", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: a StatefulSet of another group is nobody's", OWNED("x.io/v1", "StatefulSet", "gone"), "", DEFAULTS, DRAIN_MOVE, 0},
    {"133: the DaemonSet is gone", OWNED("apps/v1", "DaemonSet", "gone"), "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: of the same name in another namespace", "namespace: other, " WEB, "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_CONTROLLER_NOT_FOUND},
    {"133: where custom controllers are let through nobody asks", OWNED("apps/v1", "ReplicaSet", "gone"), "", CUSTOM_TOO,
     DRAIN_MOVE, 0},
    {"133: nor where emptiness alone is asked for", OWNED("apps/v1", "ReplicaSet", "gone"), "", UNASKED, DRAIN_MOVE, 0},
    {"134: one replica of two", WEB, "", TWO_REPLICAS, DRAIN_BLOCK, DRAIN_MIN_REPLICAS_REACHED},
    {"134: a ReplicationController that does not say how many", OWNED("v1", "ReplicationController", "rc"), "",
     TWO_REPLICAS, DRAIN_MOVE, 0},
    {"134: Jobs are not counted", OWNED("batch/v1", "Job", "once"), "", TWO_REPLICAS, DRAIN_MOVE, 0},
    {"135: a mirror pod", "annotations: {kubernetes.io/config.mirror: x}, " OWNED("v1", "Node", "host"), "", DEFAULTS,
     DRAIN_SKIP, 0},
    {"135: a DaemonSet's", OWNED("apps/v1", "DaemonSet", "agent"), DISK, DEFAULTS, DRAIN_DAEMON, 0},
    {"135: another group's", OWNED("x.io/v1", "DaemonSet", "gone"), "", DEFAULTS, DRAIN_DAEMON, 0},
    {"135: one by annotation", "annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: 'true'}, ", "", DEFAULTS,
     DRAIN_DAEMON, 0},
    {"135: whose ReplicaSet nobody looks up",
     "annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: 'true'}, " OWNED("apps/v1", "ReplicaSet", "gone"), "",
     DEFAULTS, DRAIN_DAEMON, 0},
    {"135: but whose ReplicationController somebody does",
     "annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: 'true'}, " OWNED("v1", "ReplicationController", "gone"),
     "", DEFAULTS, DRAIN_BLOCK, DRAIN_CONTROLLER_NOT_FOUND},
    {"should be gone since a minute and a second", "deletionTimestamp: '2026-01-01T11:58:59Z', ", "", DEFAULTS, DRAIN_SKIP,
     0},
    {"a minute after its end was asked for", "deletionTimestamp: '2026-01-01T11:59:00Z', ", "", DEFAULTS, DRAIN_BLOCK,
     DRAIN_NOT_REPLICATED},
    {"has a longer time to end", "deletionTimestamp: '2026-01-01T11:58:59Z', " WEB, "terminationGracePeriodSeconds: 60",
     DEFAULTS, DRAIN_MOVE, 0},
    {"has longer than anybody waits", "deletionTimestamp: '2026-01-01T11:58:59Z', " WEB,
     "terminationGracePeriodSeconds: 9000000000000000000", DEFAULTS, DRAIN_MOVE, 0},
};

struct fixture {
    struct arena arena;
    struct symtab *syms;
    struct drain_controllers controllers;
    struct evictions evictions;
};

static void index_one(struct fixture *f, struct object_index *x, const void *object)
{
    const void **list = ARENA_NEW(&f->arena, const void *);
    *list = object;
    object_index_init(x, &f->arena, list, 1);
}

static struct meta named(const char *name)
{
    return (struct meta){.name = span_of(name), .ns = SPAN("default")};
}

static void add_controllers(struct fixture *f)
{
    static const struct {
        const char *name, *ns;
        bool says;
    } with_replicas[] = {{"web", "default", true}, {"web", "kube-system", true}};
    const void **sets = ARENA_ARRAY(&f->arena, const void *, 2);
    for (size_t i = 0; i < 2; i++) {
        struct controller *c = ARENA_NEW(&f->arena, struct controller);
        *c = (struct controller){.meta = {.name = span_of(with_replicas[i].name), .ns = span_of(with_replicas[i].ns)},
                                 .has_replicas = true,
                                 .replicas = 1};
        sets[i] = c;
    }
    object_index_init(&f->controllers.replica_sets, &f->arena, sets, 2);
    struct controller *rc = ARENA_NEW(&f->arena, struct controller), *db = ARENA_NEW(&f->arena, struct controller);
    struct job *once = ARENA_NEW(&f->arena, struct job);
    struct daemon_set *agent = ARENA_NEW(&f->arena, struct daemon_set);
    rc->meta = named("rc"), db->meta = named("db"), once->meta = named("once"), agent->meta = named("agent");
    index_one(f, &f->controllers.replication_controllers, rc);
    index_one(f, &f->controllers.stateful_sets, db);
    index_one(f, &f->controllers.jobs, once);
    index_one(f, &f->controllers.daemon_sets, agent);
}

static void add_budgets(struct fixture *f)
{
    static const struct {
        const char *key, *value, *ns;
        int32_t allowed;
    } of[] = {{"app", "open", "default", 1},     {"app", "shut", "default", 0},    {"tier", "shut", "default", 0},
              {"app", "open", "kube-system", 1}, {"app", "shut", "kube-system", 0}};
    const struct disruption_budget **list = ARENA_ARRAY(&f->arena, const struct disruption_budget *, COUNT_OF(of));
    for (size_t i = 0; i < COUNT_OF(of); i++) {
        struct disruption_budget *b = ARENA_NEW(&f->arena, struct disruption_budget);
        struct sym_pair *label = ARENA_NEW(&f->arena, struct sym_pair);
        *label = (struct sym_pair){sym_intern(f->syms, span_of(of[i].key)), sym_intern(f->syms, span_of(of[i].value))};
        *b = (struct disruption_budget){.meta = {.ns = span_of(of[i].ns)},
                                        .has_selector = true,
                                        .selector = {.match_labels = {label, 1}},
                                        .disruptions_allowed = of[i].allowed};
        list[i] = b;
    }
    evictions_init(&f->evictions, &f->arena, list, COUNT_OF(of));
}

static struct pod *pod_of(struct fixture *f, const char *meta, const char *spec)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    struct pod *p = ARENA_NEW(&f->arena, struct pod);
    const char *ns = strstr(meta, "namespace:") != NULL ? "" : "namespace: default, ";
    struct span text =
        arena_printf(&f->arena, "metadata: {%s%sname: p}\nspec: {nodeName: host, containers: [], %s}\n", ns, meta, spec);
    if (!doc_parse_yaml(parser, text, &at, &doc, &err) ||
        !decode_one(&f->arena, f->syms, doc_root(doc), &pod_schema, p, &err))
        fail_msg("%s: %s", text.ptr, err.msg);
    doc_parser_free(parser);
    return p;
}

static void setup(struct fixture *f)
{
    *f = (struct fixture){.syms = kube_symtab_new()};
    arena_init(&f->arena, 0);
    add_controllers(f);
    add_budgets(f);
}

static void teardown(struct fixture *f)
{
    arena_release(&f->arena);
    symtab_unref(f->syms);
}

static wall_ms noon(void)
{
    wall_ms out;
    assert_true(time_parse(SPAN("2026-01-01T12:00:00Z"), &out));
    return out;
}

static void test_rules(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct group_flags flags = {.skip_system_pods = (rows[i].unlike & SYSTEM_TOO) == 0,
                                      .skip_local_storage = (rows[i].unlike & STORAGE_TOO) == 0,
                                      .skip_custom_controller_pods = (rows[i].unlike & CUSTOM_TOO) == 0,
                                      .min_replica_count = (rows[i].unlike & TWO_REPLICAS) != 0 ? 2 : 0,
                                      .system_pod_timeout = 3600 * 1000};
        struct drain d = {.flags = &flags,
                          .syms = f.syms,
                          .controllers = (rows[i].unlike & UNASKED) != 0 ? NULL : &f.controllers,
                          .evictions = &f.evictions,
                          .now = noon()};
        enum drain_block block;
        enum drain_outcome outcome = group_drain_judge(&d, pod_of(&f, rows[i].meta, rows[i].spec), &block);
        if (outcome != rows[i].outcome || block != rows[i].block)
            fail_msg("%s: outcome %d, block %d", rows[i].label, outcome, block);
    }
    teardown(&f);
}

/* 137: an eviction that is taken is gone for the pods that come after; all at once needs more of them. */
static void test_budgets_are_used_up(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    struct group_flags flags = {.skip_custom_controller_pods = true};
    struct drain d = {.flags = &flags, .syms = f.syms, .evictions = &f.evictions};
    const struct pod *p = pod_of(&f, LABELLED("open") WEB, ""), *two[] = {p, p};
    enum drain_block block;
    assert_true(evictions_allow_all(&f.evictions, two, 1));
    assert_false(evictions_allow_all(&f.evictions, two, 2));
    assert_true(evictions_allow_all(&f.evictions, two, 1)); /* asking takes nothing */
    assert_int_equal(group_drain_judge(&d, p, &block), DRAIN_MOVE);
    evictions_take(&f.evictions, two, 1);
    assert_int_equal(group_drain_judge(&d, p, &block), DRAIN_BLOCK);
    assert_int_equal(block, DRAIN_NOT_ENOUGH_PDB);
    assert_false(evictions_allow_all(&f.evictions, two, 1));
    evictions_take(&f.evictions, two, 2); /* of pods that go in spite of it */
    assert_int_equal(group_drain_judge(&d, p, &block), DRAIN_BLOCK);
    teardown(&f);
}

static void test_names(void **state)
{
    (void)state;
    for (enum drain_block b = DRAIN_BLOCK_NOT + 1; b < DRAIN_BLOCK_COUNT; b++)
        assert_non_null(drain_block_name(b));
    assert_string_equal(drain_block_name(DRAIN_SYSTEM_POD), "UnmovableKubeSystemPod");
}

static void test_a_pod_that_stands_for_room_goes_anywhere(void **state)
{
    (void)state;
    struct group_flags flags = group_flags_default();
    struct drain d = {.flags = &flags};
    struct pod p = {.is_virtual = true}; /* nobody controls it */
    enum drain_block block;
    assert_int_equal(group_drain_judge(&d, &p, &block), DRAIN_MOVE);
    assert_int_equal(block, DRAIN_BLOCK_NOT);
    struct owner request = {.controller = true};
    p.meta.owners = (struct owners){&request, 1};
    assert_int_equal(group_drain_judge(&d, &p, &block), DRAIN_BLOCK); /* a ProvisioningRequest's stays where it was found */
    assert_int_equal(block, DRAIN_NOT_REPLICATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_budgets_are_used_up),
                                       cmocka_unit_test(test_a_pod_that_stands_for_room_goes_anywhere), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
