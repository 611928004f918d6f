/* The table of a plan: what fits a terminal, and that nothing is lost where there is none. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "planner/plan/plan_table.h"
#include "base/wrap.h"

#define POOL(name_, requirements_)                                                                 \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"              \
    "spec: {template: {spec: {requirements: [" requirements_ "]}}}\n"
#define POD(name_, more_)                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ "}\nspec: {containers: [{name: c, "  \
    "resources: {requests: {cpu: 1, memory: 1Gi}}}]" more_ "}\n"                                   \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n"
#define NODE(name_)                                                                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_                                     \
    "}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 10}, allocatable: {cpu: 4, memory: 8Gi, "   \
    "pods: 10}}\n"
#define ZONES(zones_)                                                                              \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                 \
    "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, "   \
    "values: [" zones_ "]}]}]}}}"
#define LONG "a-node-with-a-name-of-the-length-that-clouds-give-them.example.internal"

struct table_row {
    const char *label;
    uint32_t width;
    const char *objects;
    const char *table; /* its blocks of what to buy and what to use */
};

/* From what to buy or use to the line of the price. */
static struct span blocks(const struct buf *text)
{
    const char *buy = strstr(text->ptr, "\n\nBUY"), *use = strstr(text->ptr, "\n\nUSE");
    const char *from = buy != NULL ? buy : use, *to = strstr(text->ptr, "\n\n$");
    assert_non_null(from);
    assert_non_null(to);
    return (struct span){from + 2, (size_t)(to + 1 - (from + 2))};
}

static uint32_t widest(struct span text)
{
    uint32_t most = 0;
    while (text.len != 0) {
        uint32_t wide = wrap_width(span_cut(text, '\n', &text));
        most = wide > most ? wide : most;
    }
    return most;
}

static void check_row(const struct table_row *row)
{
    struct cluster c;
    struct buf text = {0};
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, row->objects);
    plan_table(&text, cluster_plan(&c), &(struct plan_table_options){.width = row->width});
    if (!span_eq(blocks(&text), span_of(row->table)))
        fail_msg("%s: got:\n%.*swant:\n%s", row->label, SPAN_ARG(blocks(&text)), row->table);
    if (row->width != 0 && widest(buf_span(&text)) > row->width)
        fail_msg("%s: a line has %u columns", row->label, widest(buf_span(&text)));
    buf_release(&text);
    cluster_release(&c);
}

static void widths(void **state)
{
    (void)state;
    static const struct table_row rows[] = {
        {"a wide terminal", 120, POOL("general", "") POD("a", ""),
         "BUY  POOL     PODS  CPU        MEMORY         ZONE  CAPACITY        TYPE                        $/HOUR\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  any   on-demand|spot  small-instance-type (of 6)  0.4147\n"},
        {"no terminal", 0, POOL("general", "") POD("a", "") ,
         "BUY  POOL     PODS  CPU        MEMORY         ZONE  CAPACITY        TYPE                        $/HOUR\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  any   on-demand|spot  small-instance-type (of 6)  0.4147\n"},
        {"80 columns", 80, POOL("general", "") POD("a", ""),
         "BUY  POOL     PODS  CPU        MEMORY         ZONE  CAPACITY        $/HOUR\n"
         "     TYPE\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  any   on-demand|spot  0.4147\n"
         "     small-instance-type (of 6)\n"},
        {"two rows", 80, POOL("general", "") POD("a", ", nodeSelector: {kubernetes.io/arch: amd64}") POD("b", ", nodeSelector: {kubernetes.io/arch: arm64}"),
         "BUY  POOL     PODS  CPU        MEMORY         ZONE  CAPACITY         $/HOUR\n"
         "     TYPE\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  any   on-demand|spot   0.4147\n"
         "     small-instance-type (of 5)\n"
         "+1   general     1  1/16  6%   1Gi/128Gi  1%  any   on-demand|spot  15.3439\n"
         "     arm-instance-type\n"},
        {"several zones", 80, POOL("general", "") POD("a", ZONES("test-zone-1, test-zone-2")),
         "BUY  POOL     PODS  CPU        MEMORY         ZONE           CAPACITY  $/HOUR\n"
         "     TYPE\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  test-zone-1|2  od|spot   0.4147\n"
         "     small-instance-type (of 6)\n"},
        {"several zones, no terminal", 0, POOL("general", "") POD("a", ZONES("test-zone-1, test-zone-2")),
         "BUY  POOL     PODS  CPU        MEMORY         ZONE                     CAPACITY        TYPE                        $/HOUR\n"
         "+1   general     1  1/1.9 53%  1Gi/2.0Gi 50%  test-zone-1|test-zone-2  on-demand|spot  small-instance-type (of 6)  0.4147\n"},
        {"zones of which one begins like another", 80, "---\nkind: InstanceTypes\nitems:\n- {name: a-type-with-a-long-name, resources: {cpu: 4, memory: 8Gi, pods: 9}, offerings: ["
         "{zone: zone-1, capacity: on-demand, price: 0.1}, {zone: zone-1, capacity: spot, price: 0.1}, {zone: zone-10, capacity: spot, price: 0.1}]}\n"
         POOL("general", "") POD("a", ZONES("zone-1, zone-10")),
         "BUY  POOL     PODS  CPU      MEMORY       ZONE            CAPACITY        $/HOUR\n"
         "     TYPE\n"
         "+1   general     1  1/4 25%  1Gi/8Gi 12%  zone-1|zone-10  on-demand|spot  0.1000\n"
         "     a-type-with-a-long-name\n"},
        {"a long name", 80, POOL("a-pool-with-a-name-that-is-rather-long", "") POD("a", ZONES("test-zone-1, test-zone-2")),
         "BUY  POOL        PODS  CPU        MEMORY         ZONE           CAPACITY  $/HOUR\n"
         "     TYPE\n"
         "+1   a-pool-wi…     1  1/1.9 53%  1Gi/2.0Gi 50%  test-zone-1|2  od|spot   0.4147\n"
         "     small-instance-type (of 6)\n"},
        {"a long name, no terminal", 0, POOL("a-pool-with-a-name-that-is-rather-long", "") POD("a", ""),
         "BUY  POOL                                    PODS  CPU        MEMORY         ZONE  CAPACITY        TYPE                        $/HOUR\n"
         "+1   a-pool-with-a-name-that-is-rather-long     1  1/1.9 53%  1Gi/2.0Gi 50%  any   on-demand|spot  small-instance-type (of 6)  0.4147\n"},
        {"a node", 80, POOL("general", "") NODE("n1") POD("a", ""),
         "USE  NODE  PODS  CPU AFTER  MEMORY AFTER\n"
         "     n1       1  1/4 25%    1Gi/8Gi 12%\n"},
        {"a node with a long name", 80, POOL("general", "") NODE(LONG) POD("a", ""),
         "USE  NODE                                          PODS  CPU AFTER  MEMORY AFTER\n"
         "     a-node-with-a-name-of-the-length-that-cloud…     1  1/4 25%    1Gi/8Gi 12%\n"},
        {"a node with a long name, no terminal", 0, POOL("general", "") NODE(LONG) POD("a", ""),
         "USE  NODE                                                                     PODS  CPU AFTER  MEMORY AFTER\n"
         "     a-node-with-a-name-of-the-length-that-clouds-give-them.example.internal     1  1/4 25%    1Gi/8Gi 12%\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_row(&rows[i]);
}

#define SOLD(name_, type_)                                                                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_                                     \
    ", labels: {node.kubernetes.io/instance-type: " type_                                          \
    ", topology.kubernetes.io/zone: test-zone-1, karpenter.sh/capacity-type: spot}}\n"             \
    "status: {capacity: {cpu: 4}, allocatable: {cpu: 4}}\n"

static void nodes_without_a_price(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *want; /* NULL: no warning */
    } rows[] = {
        {"priced", SOLD("n1", "small-instance-type"), NULL},
        {"no labels", NODE("n1"),
         "\nwarning: node n1 has no price and is not in the cost: without labels for\n"
         "  instance type, zone and capacity type the price is not known\n"},
        {"a type that is not there", SOLD("n1", "gone") SOLD("n2", "gone"),
         "\nwarning: nodes n1, n2 have no price and are not in the cost: no offering has\n"
         "  that instance type, zone and capacity type; add it to the instance types\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct buf text = {0};
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, rows[i].objects);
        plan_table(&text, cluster_plan(&c), &(struct plan_table_options){0});
        const char *warning = strstr(text.ptr, "\nwarning: ");
        if (rows[i].want == NULL ? warning != NULL
                                 : warning == NULL || strcmp(warning, rows[i].want) != 0)
            fail_msg("%s: got %s", rows[i].label, text.ptr);
        buf_release(&text);
        cluster_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths),
                                      cmocka_unit_test(nodes_without_a_price)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
