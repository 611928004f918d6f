/* What one pass makes of ProvisioningRequests (spec node-groups 6.1). It is noon; nodes have four CPUs, the template's pods
 * ask for one and a half. */
#include "support_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NOON = 12 * 3600 };
static const wall_ms now = (wall_ms)(1767225600 + NOON) * MS_SECOND; /* 2026-01-01T12:00:00Z */

#define NODE(name)                                                                                                     \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name               \
    "}, creationTimestamp: '2026-01-01T10:00:00Z'}\nspec: {providerID: " name "}\n"                                    \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, conditions: [{type: Ready, status: 'True', "             \
    "lastTransitionTime: '2026-01-01T10:00:00Z'}]}\n"
#define TEMPLATE                                                                                                       \
    "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: t, namespace: w}\n"                                      \
    "template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}\n"
#define POD(name, annotations, spec, status)                                                                           \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: w, uid: " name                              \
    ", creationTimestamp: '2026-01-01T11:50:00Z', annotations: {" annotations "}}\n"                                   \
    "spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}\nstatus: {" status "}\n"
#define WAITS "phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]"
#define WAITING(name) POD(name, "", "", WAITS)
#define CONSUMING(name, of) POD(name, "autoscaling.x-k8s.io/consume-provisioning-request: " of, "", WAITS)
#define RUNNING(name, of, on) POD(name, "autoscaling.x-k8s.io/consume-provisioning-request: " of, "nodeName: " on ", ", "phase: Running")
#define CHECK "check-capacity.autoscaling.x-k8s.io"
#define ATOMIC "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
#define ASKS(name, at, class_, count, more, status)                                                                    \
    "---\napiVersion: autoscaling.x-k8s.io/v1\nkind: ProvisioningRequest\nmetadata: {name: " name                       \
    ", namespace: w, uid: u-" name ", creationTimestamp: '2026-01-01T" at "Z'}\nspec: {provisioningClassName: " class_ \
    ", podSets: [{count: " count ", podTemplateRef: {name: t}}]" more "}\nstatus: {conditions: [" status "]}\n"
#define DELETED_AT(at) at "Z', deletionTimestamp: '2026-01-01T11:59:00" /* as the time of ASKS */
#define IS(type_, value, at) "{type: " type_ ", status: '" value "', reason: R, lastTransitionTime: '" at "Z'}, "
#define ACCEPTED IS("Accepted", "True", "2026-01-01T11:59:00")
#define SINCE(at) IS("Provisioned", "True", "2026-01-01T" at)
#define TRIED(at) IS("Provisioned", "False", "2026-01-01T" at)
#define SHAPE "template: {status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}}}, "
#define GROUP(target, nodes) "groups: [{name: a, minSize: 0, maxSize: 3, targetSize: " target ", " SHAPE "nodes: [" nodes "]}]"
#define NONE GROUP("0", "")
#define TWO "groups: [{name: a, minSize: 0, maxSize: 4, targetSize: 0, " SHAPE "}, {name: b, minSize: 0, maxSize: 5, targetSize: 0, " SHAPE "}]"
#define ONE GROUP("1", "n1")

static const char *const names[] = {
    [REQUEST_LEFT] = "left",           [REQUEST_ACCEPTED] = "accepted",   [REQUEST_FOUND] = "found",
    [REQUEST_GROWS] = "grows",         [REQUEST_PROVISIONED] = "grown",   [REQUEST_NOT_FOUND] = "not found",
    [REQUEST_FAILED] = "failed",       [REQUEST_NO_PODS] = "no pods",     [REQUEST_UNBOOKABLE] = "unbookable",
    [REQUEST_BOOKING_OVER] = "over",   [REQUEST_CONSUMED] = "consumed",   [REQUEST_EXPIRED] = "expired",
    [REQUEST_OLD] = "old",
};

/* "name outcome" in order, then "group+nodes" that it grows by, "turn" when the next is the requests', and pods that wait
 * for a request and did not fit. */
static const struct {
    const char *label, *objects, *groups, *want;
    int32_t batch;
    bool turn, trial;
} rows[] = {
    {"nobody asks", "", NONE, "", 1, false, false},
    {"it fits", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "2", "", ""), ONE, "r found", 1, false, false},
    {"it fits not", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "3", "", ""), ONE, "r not found", 1, false, false},
    {"it fits not, and is not to be tried again",
     NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "3", ", parameters: {noRetry: 'true'}", ""), ONE, "r failed", 1, false, false},
    {"another word is none", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "3", ", parameters: {noRetry: 'yes'}", ""), ONE,
     "r not found", 1, false, false},
    {"another class is nobody's", TEMPLATE ASKS("r", "11:00:00", "x.example.com", "3", "", ""), NONE, "", 1, false, false},
    {"another instance's", TEMPLATE ASKS("r", "11:00:00", CHECK, "1", ", parameters: {processorInstance: x}", ""), NONE, "", 1,
     false, false},
    {"the oldest first", TEMPLATE ASKS("a", "11:00:01", CHECK, "1", "", "") ASKS("b", "11:00:00", CHECK, "1", "", ""), NONE,
     "b not found", 1, false, false},
    {"a batch", NODE("n1") TEMPLATE ASKS("a", "11:00:01", CHECK, "1", "", "") ASKS("b", "11:00:00", CHECK, "2", "", "")
     ASKS("c", "11:00:02", ATOMIC, "1", "", ACCEPTED), ONE, "b found, a not found", 3, false, false},
    {"no more than it holds", TEMPLATE ASKS("a", "11:00:00", CHECK, "1", "", "") ASKS("b", "11:00:01", CHECK, "1", "", "")
     ASKS("c", "11:00:02", CHECK, "1", "", ""), NONE, "a not found, b not found", 2, false, false},
    {"it is too early for another try", TEMPLATE ASKS("r", "11:00:00", CHECK, "1", "", TRIED("11:59:00")), NONE, "", 1, false, false},
    {"it is time", TEMPLATE ASKS("r", "11:00:00", CHECK, "1", "", TRIED("11:58:59")), NONE, "r not found", 1, false, false},
    {"its status comes before a group grows", TEMPLATE ASKS("r", "11:00:00", ATOMIC, "4", "", ""), NONE, "r accepted", 1, false, false},
    {"a group grows", TEMPLATE ASKS("r", "11:00:00", ATOMIC, "4", "", ACCEPTED), NONE, "r grows a+2", 1, false, false},
    {"171: or does not", TEMPLATE ASKS("r", "11:00:00", ATOMIC, "7", "", ACCEPTED), NONE, "r not found", 1, false, false},
    {"191: one that takes all of them does", TEMPLATE ASKS("r", "11:00:00", ATOMIC, "10", "", ACCEPTED), TWO, "r grows b+5", 1,
     false, false},
    {"it grows for the rest alone", NODE("n1") TEMPLATE ASKS("r", "11:00:00", ATOMIC, "3", "", ACCEPTED), ONE, "r grows a+1", 1,
     false, false},
    {"pods have their turn", TEMPLATE WAITING("p") ASKS("r", "11:00:00", ATOMIC, "1", "", ACCEPTED), NONE, "a+1 turn", 1, false, false},
    {"requests have theirs", TEMPLATE WAITING("p") ASKS("r", "11:00:00", ATOMIC, "1", "", ACCEPTED), NONE, "r grows a+1", 1, true, false},
    {"but not where it is only tried whom groups have a place for", TEMPLATE WAITING("p") ASKS("r", "11:00:00", ATOMIC, "1", "", ACCEPTED),
     NONE, "a+1 turn", 1, true, true},
    {"172: who waits for one grows nothing", TEMPLATE CONSUMING("p", "r"), NONE, "p", 1, false, false},
    {"room is kept from ordinary pods",
     NODE("n1") TEMPLATE WAITING("p") WAITING("q") ASKS("r", "11:00:00", CHECK, "1", "", SINCE("11:55:00")), ONE, "a+1 turn", 1,
     false, false},
    {"and there for its own", NODE("n1") TEMPLATE CONSUMING("p", "r") CONSUMING("q", "r")
     ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:55:00")), ONE, "", 1, false, false},
    {"what is kept is not there for another request", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:55:00"))
     ASKS("s", "11:01:00", CHECK, "1", "", ""), ONE, "s not found", 1, false, false},
    {"for ten minutes", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:50:00")), ONE, "", 1, false, false},
    {"and no longer", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:49:59")) ASKS("s", "11:01:00", CHECK,
     "2", "", ""), ONE, "r over, s found", 1, false, false},
    {"until its pods run", NODE("n1") TEMPLATE RUNNING("p", "r", "n1") RUNNING("q", "r", "n1")
     ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:55:00")), ONE, "r consumed", 1, false, false},
    {"all of them", NODE("n1") TEMPLATE RUNNING("p", "r", "n1") RUNNING("q", "s", "n1")
     ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:55:00")), ONE, "", 1, false, false},
    {"no template", ASKS("r", "11:00:00", CHECK, "1", "", ""), NONE, "r no pods", 1, false, false},
    {"it may be on its way", ASKS("r", "11:59:31", CHECK, "1", "", ""), NONE, "", 1, false, false},
    {"it had one", ASKS("r", "11:00:00", CHECK, "1", "", SINCE("11:55:00")), NONE, "r unbookable", 1, false, false},
    {"too many pods", TEMPLATE ASKS("r", "11:00:00", CHECK, "100001", "", ""), NONE, "r no pods", 1, false, false},
    {"too many beside the others'", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "99999", "", SINCE("11:59:00"))
     ASKS("s", "11:01:00", CHECK, "2", "", "") ASKS("t", "11:02:00", CHECK, "1", "", ""), ONE, "t not found", 1, false, false},
    {"what is over asks nothing", TEMPLATE ASKS("r", "11:00:00", CHECK, "1", "", IS("Failed", "True", "2026-01-01T11:30:00"))
     ASKS("s", "11:00:00", CHECK, "1", "", SINCE("11:10:00") IS("BookingExpired", "True", "2026-01-01T11:30:00")), NONE, "", 1,
     false, false},
    {"nor takes pods from the others: that failed", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "99999", "", IS("Failed", "True",
     "2026-01-01T11:30:00")) ASKS("s", "11:01:00", CHECK, "2", "", ""), ONE, "s found", 1, false, false},
    {"nor that expired", NODE("n1") TEMPLATE ASKS("r", "11:00:00", CHECK, "99999", "", SINCE("11:10:00") IS("BookingExpired", "True",
     "2026-01-01T11:30:00")) ASKS("s", "11:01:00", CHECK, "2", "", ""), ONE, "s found", 1, false, false},
    {"what is being deleted is left alone", NODE("n1") TEMPLATE ASKS("r", DELETED_AT("11:00:00"), CHECK, "1", "", "")
     ASKS("s", DELETED_AT("11:00:00"), ATOMIC, "4", "", ACCEPTED), ONE, "", 2, false, false},
    {"and keeps no room", NODE("n1") TEMPLATE ASKS("r", DELETED_AT("11:00:00"), CHECK, "2", "", SINCE("11:55:00"))
     ASKS("s", "11:01:00", CHECK, "2", "", ""), ONE, "s found", 1, false, false},
    {"it goes after a week", TEMPLATE ASKS("r", "11:00:00", CHECK, "1", "", IS("Failed", "True", "2025-12-25T11:59:59"))
     ASKS("s", "11:00:00", CHECK, "1", "", IS("Provisioned", "True", "2025-12-25T12:00:00") IS("BookingExpired", "True",
     "2025-12-26T12:00:00")), NONE, "r old", 1, false, false},
};

static void put(struct buf *out, const char *format, struct span text, const char *word)
{
    if (out->len != 0)
        buf_add(out, SPAN(", "));
    buf_addf(out, format, SPAN_ARG(text), word);
}

static void describe(struct buf *out, const struct group_pass *p)
{
    for (uint32_t i = 0; i < p->request_count; i++)
        put(out, "%.*s %s", p->requests[i].request->object->meta.name, names[p->requests[i].outcome]);
    for (uint32_t i = 0; i < p->decision_count; i++)
        buf_addf(out, "%s%.*s+%d", out->len != 0 ? " " : "", SPAN_ARG(p->model->groups[p->decisions[i].group].spec->name),
                 p->decisions[i].delta);
    if (p->requests_turn)
        buf_addf(out, "%sturn", out->len != 0 ? " " : "");
    for (uint32_t i = 0; i < p->consuming_count; i++)
        put(out, "%.*s%s", p->consuming[i]->meta.name, "");
}

static void one_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct node_groups file = {0};
        struct group_flags flags = group_flags_default();
        struct world *world;
        struct buf got = {0};
        cluster_init(&c);
        cluster_add(&c, rows[i].objects);
        pass_read(&c, rows[i].groups, &node_groups_schema, &file);
        flags.provisioning_requests = true;
        flags.check_batch = rows[i].batch;
        flags.is_trial = rows[i].trial;
        struct group_objects objects = pass_objects(&c);
        const struct cluster_list *asked = &c.kinds[KIND_PROVISIONING_REQUEST], *templates = &c.kinds[KIND_POD_TEMPLATE];
        struct capacity_requests all =
            capacity_requests_resolve(&c.arena, c.syms, &flags, (const void *)asked->items, asked->count,
                                      (const void *)templates->items, templates->count);
        for (uint32_t k = 0; k < all.count; k++)
            all.items[k].back_off = MS_MINUTE;
        all.turn = rows[i].turn;
        objects.requests = &all;
        describe(&got, pass_run(&c, &objects, &file, &flags, now, &c.arena, &world));
        if (!span_eq(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: \"%.*s\", not \"%s\"", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
        buf_release(&got);
        world_free(world);
        cluster_release(&c);
    }
}

/* The pods of a request are of its namespace, named by their set and number, and have it as their controller. */
static void pods_are_the_requests(void **state)
{
    (void)state;
    struct cluster c;
    struct group_flags flags = group_flags_default();
    cluster_init(&c);
    cluster_add(&c, TEMPLATE ASKS("r", "11:00:00", CHECK, "2", "", ""));
    struct capacity_requests all = capacity_requests_resolve(
        &c.arena, c.syms, &flags, (const void *)c.kinds[KIND_PROVISIONING_REQUEST].items, 1,
        (const void *)c.kinds[KIND_POD_TEMPLATE].items, 1);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.items[0].pod_count, 2);
    const struct pod *p = all.items[0].pods[1];
    assert_true(span_eq(p->meta.name, SPAN("r-0-1")) && span_eq(p->meta.ns, SPAN("w")));
    assert_true(span_eq(meta_controller(&p->meta)->uid, SPAN("u-r")));
    assert_true(pod_is_of_request(p));
    assert_int_equal(p->node, SYM_NONE);
    cluster_release(&c);
}

/* "name pods" of each, "crowded" behind those for which too few are left of REQUESTS_PODS_MAX. */
static const struct {
    const char *label, *objects, *want;
} counted[] = {
    {"each has its pods", ASKS("r", "11:00:00", CHECK, "2", "", "") ASKS("s", "11:01:00", ATOMIC, "3", "", ""), "r 2, s 3"},
    {"one that failed has none", ASKS("r", "11:00:00", CHECK, "2", "", IS("Failed", "True", "2026-01-01T11:30:00")), "r 0"},
    {"Failed=False is no failure", ASKS("r", "11:00:00", CHECK, "2", "", IS("Failed", "False", "2026-01-01T11:30:00")), "r 2"},
    {"one that expired has none", ASKS("r", "11:00:00", CHECK, "2", "", SINCE("11:00:00") IS("BookingExpired", "True",
     "2026-01-01T11:30:00")), "r 0"},
    {"exactly as many as there may be", ASKS("r", "11:00:00", CHECK, "99998", "", "") ASKS("s", "11:01:00", CHECK, "2", "", ""),
     "r 99998, s 2"},
    {"one more", ASKS("r", "11:00:00", CHECK, "99998", "", "") ASKS("s", "11:01:00", CHECK, "3", "", ""),
     "r 99998, s 0 crowded"},
    {"a smaller one is not behind one that is crowded", ASKS("r", "11:00:00", CHECK, "99998", "", "")
     ASKS("s", "11:01:00", CHECK, "3", "", "") ASKS("t", "11:02:00", CHECK, "2", "", ""), "r 99998, s 0 crowded, t 2"},
    {"one that is being deleted is not there", ASKS("r", DELETED_AT("11:00:00"), CHECK, "99999", "", "")
     ASKS("s", "11:01:00", CHECK, "3", "", ""), "s 3"},
};

static void pods_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        struct cluster c;
        struct group_flags flags = group_flags_default();
        struct buf got = {0};
        cluster_init(&c);
        cluster_add(&c, TEMPLATE);
        cluster_add(&c, counted[i].objects);
        const struct cluster_list *asked = &c.kinds[KIND_PROVISIONING_REQUEST], *templates = &c.kinds[KIND_POD_TEMPLATE];
        struct capacity_requests all =
            capacity_requests_resolve(&c.arena, c.syms, &flags, (const void *)asked->items, asked->count,
                                      (const void *)templates->items, templates->count);
        for (uint32_t k = 0; k < all.count; k++)
            buf_addf(&got, "%s%.*s %u%s", k != 0 ? ", " : "", SPAN_ARG(all.items[k].object->meta.name),
                     all.items[k].pod_count, all.items[k].crowded ? " crowded" : "");
        if (!span_eq(buf_span(&got), span_of(counted[i].want)))
            fail_msg("%s: \"%.*s\", not \"%s\"", counted[i].label, SPAN_ARG(buf_span(&got)), counted[i].want);
        buf_release(&got);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass),
        cmocka_unit_test(pods_are_the_requests),
        cmocka_unit_test(pods_are_counted),
    };
    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
