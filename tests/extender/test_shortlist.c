/* A pod that nothing is planned for, and that may go to many nodes, is told the best of each zone when we do not know
 * how kube-scheduler would spread it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>

#include "support_cluster.h"

/* Of each zone; a00 is the smallest, so that a pod fills it most, a39 the largest. */
enum { NODES = 40, LISTED = 32, SHUNNED = 10 };

#define POD(name, more)                                                                            \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name ", "  \
    "ownerReferences: [{apiVersion: a/v1, kind: CloneSet, name: set, uid: s, controller: true}]}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: '1', memory: 1Gi}}}]\n" more       \
    "status: {phase: Pending}\n"
#define TERM "{matchExpressions: [{key: kubernetes.io/os, operator: Exists}]}"
static const char pods_yaml[] =
    POD("plain", "")
    POD("picky", "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                 "[{weight: 1, preference: " TERM "}]}}\n")
    POD("apart", "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
                 "whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]\n")
    POD("tolerant", "  tolerations: [{key: old, operator: Exists}]\n")
    POD("freed", "");

/* Nodes of zone b are like those of zone a, but that the first ten are to be avoided. */
static void put_nodes(struct buf *yaml)
{
    for (unsigned i = 0; i < 2 * NODES; i++)
        buf_addf(yaml,
                 "---\napiVersion: v1\nkind: Node\nmetadata: {name: %c%02u, labels: "
                 "{topology.kubernetes.io/zone: %c}}\n"
                 "spec: {providerID: 'kwok://%u'%s}\n"
                 "status:\n  allocatable: {cpu: '%u', memory: %uGi, pods: '110'}\n"
                 "  conditions: [{type: Ready, status: 'True'}]\n",
                 i < NODES ? 'a' : 'b', i % NODES, i < NODES ? 'a' : 'b', i,
                 i >= NODES && i % NODES < SHUNNED
                     ? ", taints: [{key: old, effect: PreferNoSchedule}]" : "",
                 4 + i % NODES, 16 + i % NODES);
}

struct offer {
    const char *label, *pod, *more; /* more: of the pod as the scheduler sends it */
    unsigned a, b;                  /* nodes of each zone that are offered, from 00 on */
    const char *stranger;           /* a name that no snapshot has; may be NULL */
    const char *want;               /* ranges of nodes: "a00-31" */
};
static const struct offer offers[] = {
    {"the fullest of each zone", "tolerant", "", NODES, NODES, NULL, "a00-31 b00-31"},
    {"those to be avoided for want of others", "plain", "", NODES, NODES, NULL, "a00-31 b00-01 b10-39"},
    {"all, when they are few", "plain", "", LISTED, 0, NULL, "a00-31"},
    {"one zone is full, the other lists no more for it", "tolerant", "", NODES, 3, NULL, "a00-31 b00-02"},
    {"who prefers nodes is told all", "picky", "", NODES, NODES, NULL, "a00-39 b00-39"},
    {"who is to be apart, too", "apart", "", NODES, NODES, NULL, "a00-39 b00-39"},
    {"who has been made room for, too", "freed", "\"nominatedNodeName\":\"a39\"", NODES, 0, NULL,
     "a00-39"},
    {"what is not in sight stays", "plain", "", NODES, 0, "new", "a00-31 new"},
};

static void add_name(struct buf *b, const char *form, char zone, unsigned number)
{
    if (b->len != 0 && b->ptr[b->len - 1] == '"')
        buf_add_char(b, ',');
    buf_addf(b, form, zone, number);
}

/* "a00-31 new" as names in quotes. */
static void expand(const char *ranges, struct buf *out)
{
    struct span rest = span_of(ranges);
    while (rest.len != 0) {
        struct span range = span_cut(rest, ' ', &rest);
        if (range.len == strlen("a00-31"))
            for (unsigned i = (unsigned)strtoul(range.ptr + 1, NULL, 10);
                 i <= (unsigned)strtoul(range.ptr + 4, NULL, 10); i++)
                add_name(out, "\"%c%02u\"", range.ptr[0], i);
        else
            buf_addf(out, ",\"%.*s\"", SPAN_ARG(range));
    }
}

static void expect_offer(struct cluster *c, const struct offer *o)
{
    struct buf body = {0}, reply = {0}, offered = {0}, want = {0};
    struct extender_verdict verdict;
    struct err err;
    for (unsigned i = 0; i < o->a; i++)
        add_name(&offered, "\"%c%02u\"", 'a', i);
    for (unsigned i = 0; i < o->b; i++)
        add_name(&offered, "\"%c%02u\"", 'b', i);
    if (o->stranger != NULL)
        buf_addf(&offered, ",\"%s\"", o->stranger);
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\"},"
             "\"status\":{%s}},\"NodeNames\":[%.*s]}",
             o->pod, o->pod, o->more, SPAN_ARG(buf_span(&offered)));
    if (!extender_filter(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err))
        fail_msg("%s: %s", o->label, err.msg);
    expand(o->want, &want);
    buf_clear(&offered);
    buf_addf(&offered,
             "{\"Nodes\":null,\"NodeNames\":[%.*s],\"FailedNodes\":{},\"FailedAndUnresolvableNodes\":{},"
             "\"Error\":\"\"}",
             SPAN_ARG(buf_span(&want)));
    if (!span_eq(buf_span(&reply), buf_span(&offered)))
        fail_msg("%s: got %.*s\nwant %.*s", o->label, SPAN_ARG(buf_span(&reply)),
                 SPAN_ARG(buf_span(&offered)));
    assert_int_equal(verdict.answer, EXTENDER_ROOM);
    buf_release(&body);
    buf_release(&reply);
    buf_release(&offered);
    buf_release(&want);
}

static void test_best_of_each_zone(void **state)
{
    (void)state;
    struct cluster c;
    struct buf yaml = {0};
    put_nodes(&yaml);
    buf_addf(&yaml, "%s", pods_yaml);
    cluster_open(&c, yaml.ptr);
    for (size_t i = 0; i < COUNT_OF(offers); i++)
        expect_offer(&c, &offers[i]);
    cluster_close(&c);
    buf_release(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_of_each_zone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
