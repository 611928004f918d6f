/* A scheduler that offers a part of its nodes: from their number it is told, and what is held there is refused so
 * that the next attempt, which sees others, is not given up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_ask.h"

/* m0 is held for the owner, m1 has an agent to come; the others are free. */
static const char pods_yaml[] =
    POD("owner", "4", "", WAITS) POD("thief", "4", "", WAITS) OWNED("another", "other", "4", "", WAITS)
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {namespace: web, name: agent, uid: uid-agent}\n"
    "spec:\n  template:\n    spec:\n      nodeSelector: {agents: here}\n"
    "      containers: [{name: c, resources: {requests: {cpu: 500m}}}]\n";

static void open_with(struct cluster *c, unsigned count, const char *last_spec, const char *last_ready)
{
    struct buf yaml = {0};
    buf_addf(&yaml, "%s", pods_yaml);
    for (unsigned i = 0; i < count; i++) {
        bool last = i + 1 == count;
        buf_addf(&yaml,
                 "---\napiVersion: v1\nkind: Node\nmetadata: {name: m%u, labels: {%s}}\n"
                 "spec: {providerID: 'kwok://m%u'%s}\n"
                 "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"
                 "  conditions: [{type: Ready, status: '%s'}]\n",
                 i, i == 1 ? "agents: here" : "", i, last ? last_spec : "", last ? last_ready : "True");
    }
    buf_add_char(&yaml, '\0');
    cluster_open(c, yaml.ptr);
    cluster_place(c, "owner", "m0");
    buf_release(&yaml);
}

static void open_nodes(struct cluster *c, unsigned count)
{
    open_with(c, count, "", "True");
}

/* The reply; m0 to m<offered - 1> are asked about. */
static json_t *ask(struct cluster *c, const char *pod, unsigned offered, struct extender_verdict *verdict)
{
    struct buf names = {0}, body = {0}, reply = {0};
    struct err err;
    for (unsigned i = 0; i < offered; i++)
        buf_addf(&names, "%sm%u", i != 0 ? " " : "", i);
    buf_add_char(&names, '\0');
    ask_put_args(&body, pod, NULL, names.ptr);
    assert_true(extender_filter(&c->scratch, &c->view, buf_span(&body), &reply, verdict, &err));
    json_t *root = ask_parsed(&reply);
    buf_release(&names);
    buf_release(&body);
    buf_release(&reply);
    return root;
}

/* Who has no place is refused m0, m1 and m2, each by its name when what is not named could not be had by evicting; who
 * has one goes there; both tell of a sample. */
static void expect(struct cluster *c, const char *label, unsigned nodes, unsigned offered, bool sampled)
{
    struct extender_verdict verdict;
    char curable[64], final[64];
    json_t *root = ask(c, "thief", offered, &verdict);
    ask_joined(json_object_get(root, "FailedNodes"), curable, sizeof(curable));
    ask_joined(json_object_get(root, "FailedAndUnresolvableNodes"), final, sizeof(final));
    if (verdict.sampled != sampled || strcmp(curable, sampled ? "m0 m1 m2" : "") != 0 ||
        strcmp(final, sampled ? "" : "m0 m1") != 0)
        fail_msg("%s: %u of %u: sampled %d, FailedNodes \"%s\", unresolvable \"%s\"", label, offered,
                 nodes, verdict.sampled, curable, final);
    json_decref(root);
    root = ask(c, "owner", offered, &verdict);
    if (verdict.answer != EXTENDER_PLANNED || verdict.sampled != sampled)
        fail_msg("%s: %u of %u, who has a place: %s, sampled %d", label, offered, nodes,
                 extender_answer_name(verdict.answer), verdict.sampled);
    json_decref(root);
}

static void test_a_sample_is_told_by_its_size(void **state)
{
    (void)state;
    static const struct {
        unsigned nodes;
        struct {
            const char *label;
            unsigned offered;
            bool sampled;
        } offers[8];
    } rows[] = {
        {99, {{"few nodes are never sampled", 50, false}, {"all", 99, false}}},
        {100, {{"one less than the least sample", 99, false}, {"all are as many as the least", 100, false}}},
        {101, {{"the least sample", 100, true}, {"one less", 99, false}, {"all", 101, false}}},
        {150, {{"the least sample", 100, true}, {"99 %", 148, true}, {"one more is no whole part", 149, false},
               {"all", 150, false}}},
        {5000, {{"its default, 10 %", 500, true}, {"one less", 499, false}, {"one more", 501, false},
                {"half", 2500, true}, {"the least", 100, true}, {"all but one", 4999, false},
                {"all", 5000, false}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        open_nodes(&c, rows[i].nodes);
        cluster_place(&c, "other", "m2");
        for (size_t o = 0; o < COUNT_OF(rows[i].offers) && rows[i].offers[o].label != NULL; o++)
            expect(&c, rows[i].offers[o].label, rows[i].nodes, rows[i].offers[o].offered,
                   rows[i].offers[o].sampled);
        cluster_close(&c);
    }
}

/* Its planned node is not among those that it is offered, which says nothing against the node. */
static void test_a_sample_without_the_planned_node_refuses_none(void **state)
{
    (void)state;
    static const struct {
        unsigned offered;
        bool astray;
    } rows[] = {{100, false}, {101, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct extender_verdict verdict;
        open_nodes(&c, 150);
        cluster_unplan(&c);
        cluster_place(&c, "owner", "m149");
        json_decref(ask(&c, "owner", rows[i].offered, &verdict));
        assert_int_equal(verdict.answer, EXTENDER_REVISED);
        assert_int_equal(verdict.astray, rows[i].astray);
        cluster_close(&c);
    }
}

/* The pod of another workload that has a place among those that are offered gives it, since it gets one that is
 * ready, too. What is not offered although all are, or would not take it yet, is no place to give. */
static void test_a_hidden_place_is_exchanged(void **state)
{
    (void)state;
    static const struct {
        const char *label, *spec, *ready;
        unsigned offered;
        enum extender_answer want;
    } rows[] = {
        {"hidden by a sample", "", "True", 100, EXTENDER_TRADED},
        {"not hidden, but turned down", "", "True", 101, EXTENDER_REVISED},
        {"not ready", "", "False", 100, EXTENDER_REVISED},
        {"cordoned", ", unschedulable: true", "True", 100, EXTENDER_REVISED},
        {"still starting", ", taints: [{key: a/starting, effect: NoSchedule}]", "True", 100, EXTENDER_REVISED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct extender_verdict verdict;
        char passed[64];
        open_with(&c, 150, rows[i].spec, rows[i].ready);
        cluster_unplan(&c);
        cluster_place(&c, "owner", "m149");
        cluster_place(&c, "other", "m5");
        json_t *root = ask(&c, "owner", rows[i].offered, &verdict);
        ask_joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
        bool has_it = strcmp(passed, "m5") == 0;
        if (verdict.answer != rows[i].want || has_it != (rows[i].want == EXTENDER_TRADED))
            fail_msg("%s: %s, %s", rows[i].label, extender_answer_name(verdict.answer), passed);
        json_decref(root);
        cluster_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_is_told_by_its_size),
        cmocka_unit_test(test_a_sample_without_the_planned_node_refuses_none),
        cmocka_unit_test(test_a_hidden_place_is_exchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
